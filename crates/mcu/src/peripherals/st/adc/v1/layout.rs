//! The differences of the converters with SR and CR1, as tables.

use super::{
    ADON, ALIGN, CCR, CONT, CR1, DMA, EOCIE, HTR, JDISCEN, JEOCIE, JOFR1, JSQR, LTR, SCAN, SMPR1, SMPR2,
    SQR1, SQR2, SQR3,
};
use crate::peripherals::register::Register;

/// CR1 and CR2 of the STM32F4.
pub(super) const OVRIE: u32 = 1 << 26;
pub(super) const DDS: u32 = 1 << 9;
pub(super) const EOCS: u32 = 1 << 10;
const RES: u32 = 3 << 24;
/// CR2 of the STM32F1.
pub(super) const CAL: u32 = 1 << 2;
pub(super) const RSTCAL: u32 = 1 << 3;
/// Of CR2 (F1) or CCR (F4).
pub(super) const TSVREFE: u32 = 1 << 23;
/// CCR.
pub(super) const ADCPRE: u32 = 3 << 16;

/// The start of a group, by CR2.
pub(super) struct Start {
    /// SWSTART, JSWSTART.
    pub software: u32,
    /// EXTTRIG or EXTEN, and what of it stands for rising edges.
    pub enable: u32,
    pub rising: u32,
    /// EXTSEL: its lowest bit and its width as a mask, and the value with which software starts it,
    /// where that needs one.
    pub shift: u32,
    pub mask: u32,
    pub by_software: Option<u32>,
    /// The timers whose TRGO it may be.
    pub timers: &'static [(u32, u8)],
}

impl Start {
    /// Bits of CR2 that this takes.
    pub const fn bits(&self) -> u32 {
        self.software | self.enable | self.mask << self.shift
    }

    pub fn selection(&self, control: u32) -> u32 {
        control >> self.shift & self.mask
    }

    /// The timer that starts it.
    pub fn timer(&self, control: u32) -> Option<u8> {
        let chosen = self.timers.iter().find(|(selection, _)| *selection == self.selection(control));
        chosen.filter(|_| control & self.enable == self.rising).map(|(_, timer)| *timer)
    }

    /// True where a start from outside is asked for.
    pub fn is_outside(&self, control: u32) -> bool {
        control & self.enable != 0 && Some(self.selection(control)) != self.by_software
    }

    /// True where this write of CR2 starts it.
    pub fn starts(&self, control: u32) -> bool {
        let allowed = self
            .by_software
            .is_none_or(|selection| control & self.enable != 0 && self.selection(control) == selection);
        control & self.software != 0 && allowed
    }
}

/// A family's converter.
pub(super) struct Layout {
    /// The registers that keep what is written.
    pub registers: &'static [Register],
    /// Modelled bits of CR2.
    pub control2: u32,
    /// True where there is CCR; else RCC makes the clock.
    pub has_common: bool,
    /// Regular and injected groups.
    pub starts: [Start; 2],
    /// Sampling times by SMP, and what follows them by RES, in halves of a clock.
    pub sampling: [u64; 8],
    pub conversion: [u64; 4],
    /// Clocks of a calibration, where there is one.
    pub calibration: Option<u64>,
    /// A write of CR2 that only repeats ADON is a start, too.
    pub adon_starts: bool,
    /// EOC comes with injected groups, too.
    pub eoc_with_injected: bool,
    /// EOCS, OVR and DDS.
    pub overruns: bool,
}

/// The registers that keep what is written, with the modelled bits of CR1, SMPR1 and CCR. HTR and
/// LTR are nothing without the watchdog.
const fn registers(
    control1: u32,
    control1_words: &'static str,
    sampling1: u32,
    common: u32,
) -> [Register; 14] {
    [
        Register::new(CR1, control1).refusing(!control1, control1_words),
        Register::new(SMPR1, sampling1),
        Register::new(SMPR2, 0x3fff_ffff),
        Register::new(JOFR1, 0xfff),
        Register::new(JOFR1 + 4, 0xfff),
        Register::new(JOFR1 + 8, 0xfff),
        Register::new(JOFR1 + 12, 0xfff),
        Register::new(HTR, 0xfff).with_reset(0xfff),
        Register::new(LTR, 0xfff),
        Register::new(SQR1, 0x00ff_ffff),
        Register::new(SQR2, 0x3fff_ffff),
        Register::new(SQR3, 0x3fff_ffff),
        Register::new(JSQR, 0x003f_ffff),
        Register::new(CCR, common).refusing(!common, "of CCR only ADCPRE and TSVREFE are modelled"),
    ]
}

const F1_STARTS: [Start; 2] = [
    Start {
        software: 1 << 22,
        enable: 1 << 20,
        rising: 1 << 20,
        shift: 17,
        mask: 7,
        by_software: Some(7),
        timers: &[(4, 3)],
    },
    Start {
        software: 1 << 21,
        enable: 1 << 15,
        rising: 1 << 15,
        shift: 12,
        mask: 7,
        by_software: Some(7),
        timers: &[(0, 1), (2, 2), (5, 4)],
    },
];

/// RM0041 chapter 10, RM0008 chapter 11 (triggers: tables 69 and 70 for ADC1 and ADC2);
/// calibration: tCAL of the data sheets.
pub(super) const F1: Layout = Layout {
    registers: &registers(
        EOCIE | JEOCIE | SCAN | JDISCEN,
        "of CR1 only EOCIE, JEOCIE, SCAN and JDISCEN are modelled",
        0x00ff_ffff,
        0,
    ),
    control2: ADON | CONT | CAL | RSTCAL | DMA | ALIGN | TSVREFE | F1_STARTS[0].bits() | F1_STARTS[1].bits(),
    has_common: false,
    starts: F1_STARTS,
    sampling: [3, 15, 27, 57, 83, 111, 143, 479],
    conversion: [25; 4],
    calibration: Some(83),
    adon_starts: true,
    eoc_with_injected: true,
    overruns: false,
};

const F4_STARTS: [Start; 2] = [
    Start {
        software: 1 << 30,
        enable: 3 << 28,
        rising: 1 << 28,
        shift: 24,
        mask: 15,
        by_software: None,
        timers: &[(6, 2), (8, 3), (14, 8)],
    },
    Start {
        software: 1 << 22,
        enable: 3 << 20,
        rising: 1 << 20,
        shift: 16,
        mask: 15,
        by_software: None,
        timers: &[(1, 1), (3, 2), (9, 4), (11, 5)],
    },
];

/// RM0090 sections 13.3 to 13.13 (triggers: tables 69 and 70); RM0410 section 15.3 has the same but
/// for the triggers.
pub(super) const F4: Layout = Layout {
    registers: &registers(
        EOCIE | JEOCIE | SCAN | JDISCEN | RES | OVRIE,
        "of CR1 only EOCIE, JEOCIE, OVRIE, SCAN, JDISCEN and RES are modelled",
        0x07ff_ffff,
        ADCPRE | TSVREFE,
    ),
    control2: ADON | CONT | DMA | DDS | EOCS | ALIGN | F4_STARTS[0].bits() | F4_STARTS[1].bits(),
    has_common: true,
    starts: F4_STARTS,
    sampling: [6, 30, 56, 112, 168, 224, 288, 960],
    conversion: [24, 20, 16, 12],
    calibration: None,
    adon_starts: false,
    eoc_with_injected: false,
    overruns: true,
};
