//! The differences of the converters with ISR and CFGR, as tables.

use crate::peripherals::register::Register;

/// The register that says which channels come, in which order.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Sequence {
    /// CHSELR: a bit each, by number.
    Channels,
    /// SQR1 to SQR4: L, and up to sixteen ranks in fields of six bits behind it.
    Ranks,
}

/// The source of the clock.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Clock {
    /// CFGR2.CKMODE: HSI14, or PCLK by two or four.
    Hsi14,
    /// CCR: CKMODE has HCLK by one, two or four, or PRESC divides the clock that RCC selects.
    Common,
}

/// A family's converter.
pub(super) struct Layout {
    pub sequence: Sequence,
    pub clock: Clock,
    /// ISR, and of IER what is refused.
    pub flags: u32,
    pub refused_enables: u32,
    /// CFGR (CFGR1): what may be set, which includes fields that are nothing without another one;
    /// and after a reset.
    pub configuration: u32,
    pub configuration_reset: u32,
    /// CFGR2.
    pub configuration2: u32,
    /// Sampling times by SMP, and what follows them by RES, in halves of a clock.
    pub sampling: [u64; 8],
    pub conversion: [u64; 4],
    /// Clocks of a calibration.
    pub calibration: u64,
    /// Clocks from ADEN to ADRDY, where the data sheet says so and not in time.
    pub start: Option<u64>,
    /// Nanoseconds from ADVREGEN to the first operation, where there is that bit and DEEPPWD.
    pub regulator_ns: Option<u64>,
    /// The channels of the temperature sensor and the internal reference, and the last there is.
    pub inner: [u32; 2],
    pub last_channel: u32,
    /// EXTSEL: the timers whose TRGO it may be.
    pub triggers: &'static [(u32, u8)],
    /// The registers that keep what is written.
    pub registers: &'static [Register],
    /// Bytes from its base on to behind the last of them but CCR.
    pub size: u32,
}

pub(super) const SMPR1: u32 = 0x14;
pub(super) const SMPR2: u32 = 0x18;
pub(super) const CHSELR: u32 = 0x28;
pub(super) const SQR1: u32 = 0x30;
pub(super) const CCR: u32 = 0x308;

/// RM0091, sections 13.4 to 13.12; calibration: DS8668, "ADC characteristics", tCAL.
pub(super) const F0: Layout = Layout {
    sequence: Sequence::Channels,
    clock: Clock::Hsi14,
    flags: 0x1f,
    refused_enables: 1 << 7,
    // DMAEN, DMACFG, SCANDIR, RES, ALIGN, EXTSEL, EXTEN, OVRMOD, CONT, WAIT; AWDSGL and AWDCH.
    configuration: 0x1ff | 3 << 10 | 7 << 12 | 1 << 22 | 0x1f << 26,
    configuration_reset: 0,
    configuration2: 3 << 30,
    sampling: [3, 15, 27, 57, 83, 111, 143, 479],
    conversion: [25, 23, 19, 15],
    calibration: 83,
    start: None,
    regulator_ns: None,
    inner: [16, 17],
    last_channel: 18,
    triggers: &[(0, 1), (2, 2), (3, 3), (4, 15)],
    registers: &[
        Register::new(SMPR1, 7),
        Register::new(0x20, 0x0fff_0fff).with_reset(0x0fff_0000),
        Register::new(CHSELR, 0x7_ffff),
        Register::new(CCR, 7 << 22),
    ],
    size: 0x44,
};

/// RM0432, chapter "Analog-to-digital converters", with the bits of ST's header (stm32l4r5xx.h),
/// the sampling times, triggers and the regulator's 20 us of ST's driver (stm32l4xx_ll_adc.h).
/// Calibration and start: "ADC characteristics" of the STM32L4's data sheets, tCAL and tSTAB (from
/// memory, not yet compared).
pub(super) const L4: Layout = Layout {
    sequence: Sequence::Ranks,
    clock: Clock::Common,
    flags: 0x7ff,
    refused_enables: 7 << 7,
    // DMAEN, DMACFG, RES, ALIGN, EXTSEL, EXTEN, OVRMOD, CONT, AUTDLY; DISCNUM, JQM, AWD1SGL, AWD1CH
    // and JQDIS.
    configuration: 0x0fff & !(1 << 2) | 7 << 12 | 7 << 17 | 3 << 21 | 0x1f << 26 | 1 << 31,
    configuration_reset: 1 << 31,
    // ROVSE, OVSR, OVSS, ROVSM.
    configuration2: 0x1fd | 1 << 10,
    sampling: [5, 13, 25, 49, 95, 185, 495, 1281],
    conversion: [25, 21, 17, 13],
    calibration: 116,
    // One conversion.
    start: Some(15),
    regulator_ns: Some(20_000),
    inner: [17, 0],
    last_channel: 18,
    triggers: &[(4, 3), (7, 8), (9, 1), (11, 2), (12, 4), (13, 6), (14, 15)],
    registers: &[
        Register::new(SMPR1, 0xbfff_ffff),
        Register::new(SMPR2, 0x07ff_ffff),
        Register::new(0x20, 0x0fff_0fff).with_reset(0x0fff_0000),
        Register::new(0x24, 0x00ff_00ff).with_reset(0x00ff_0000),
        Register::new(0x28, 0x00ff_00ff).with_reset(0x00ff_0000),
        Register::new(SQR1, 0x1f7d_f7cf),
        Register::new(0x34, 0x1f7d_f7df),
        Register::new(0x38, 0x1f7d_f7df),
        Register::new(0x3c, 0x7df),
        // JSQR, which without JADSTART is nothing; OFR1 to OFR4; JDR1 to JDR4.
        Register::new(0x4c, u32::MAX),
        offset(0x60),
        offset(0x64),
        offset(0x68),
        offset(0x6c),
        Register::new(0x80, 0),
        Register::new(0x84, 0),
        Register::new(0x88, 0),
        Register::new(0x8c, 0),
        // AWD2CR, AWD3CR.
        Register::new(0xa0, 0).refusing(0x7_ffff, "the watchdogs are not modelled"),
        Register::new(0xa4, 0).refusing(0x7_ffff, "the watchdogs are not modelled"),
        Register::new(0xb0, 0).refusing(0x7_ffff, "differential inputs (DIFSEL) are not modelled"),
        // CALFACT.
        Register::new(0xb4, 0x007f_007f),
        Register::new(CCR, 3 << 16 | 15 << 18 | 7 << 22),
    ],
    size: 0xb8,
};

/// OFR1 to OFR4.
const fn offset(offset: u32) -> Register {
    Register::new(offset, 0x7c00_0fff).refusing(1 << 31, "offsets (OFRx) are not modelled")
}
