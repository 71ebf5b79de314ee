//! Processor mode, clocks, protection and watchdog of an R8C/24 or R8C/25.
//!
//! Source: REJ09B0244, "R8C/24 Group, R8C/25 Group Hardware Manual", chapters "Processor Mode",
//! "Clock Generation Circuit", "Protection" and "Watchdog Timer"; addresses and values after reset
//! from memory. Time is counted in cycles of the CPU clock. That is given from outside, and then
//! these registers decide only whether the part would run at all; or it is what they make of the
//! crystal and of the low-speed on-chip oscillator. A selection that would stop it, and whatever
//! sets something going that is not modelled, is a fault; so is a write to a register that PRCR
//! protects, which the part would ignore.

use crate::{ClockControl, Context, Fault, Part, Peripheral, PeripheralSpec, Roles, Spec};

const PM0: usize = 0x04;
const PM1: usize = 0x05;
const CM0: usize = 0x06;
const CM1: usize = 0x07;
const PRCR: usize = 0x0a;
const OCD: usize = 0x0c;
const WDTR: usize = 0x0d;
const WDTS: usize = 0x0e;
const WDC: usize = 0x0f;
/// The high-speed on-chip oscillator: control, trimming, division.
const FRA0: usize = 0x23;
const FRA1: usize = 0x24;
const FRA2: usize = 0x25;
const SIZE: usize = 0x26;
/// FRA0: it is on, and the on-chip oscillator that is chosen.
const FRA0_ON: u8 = 0x03;

/// PRCR: CM0, CM1, OCD and FRA0 to FRA2 can be written.
const PRC0: u8 = 0x01;
/// PRCR: PM0 and PM1 can be written.
const PRC1: u8 = 0x02;
/// End of the message about a write that the part ignores.
const PROTECTED: &str = "protects this register";
/// CM0: the XIN clock is stopped.
const CM05: u8 = 0x20;
/// CM0: the system clock is divided by 8; else as CM17 and CM16 say: by 1, 2, 4 or 16.
const CM06: u8 = 0x40;
const CM16_SHIFT: u8 = 6;
/// fOCO-S, typical ("Low-Speed On-Chip Oscillator").
const LOW_SPEED_OSCILLATOR_HZ: u64 = 125_000;
/// CM0: the XCIN clock is the system clock.
const CM07: u8 = 0x80;
/// CM1: all clocks are stopped.
const CM10: u8 = 0x01;
/// CM1: the pins are the crystal's.
const CM13: u8 = 0x08;
/// OCD: detection of a stopped oscillator.
const OCD_DETECTION: u8 = 0x03;
/// OCD: an on-chip oscillator is the system clock, else XIN.
const OCD2: u8 = 0x04;
/// PM0: software reset.
const PM03: u8 = 0x08;

/// The registers, and the bits of each that keep what is written; the others stay.
const REGISTERS: [(usize, &str, u8); 12] = [
    (PM0, "PM0", 0x00),
    (PM1, "PM1", 0x04),
    (CM0, "CM0", 0x7c),
    (CM1, "CM1", 0xfe),
    (PRCR, "PRCR", 0x0f),
    (OCD, "OCD", 0x07),
    (WDTR, "WDTR", 0xff),
    (WDTS, "WDTS", 0xff),
    (WDC, "WDC", 0x80),
    (FRA0, "FRA0", 0x03),
    (FRA1, "FRA1", 0xff),
    (FRA2, "FRA2", 0x07),
];

/// The registers.
#[derive(Clone)]
pub struct System {
    name: String,
    base: u32,
    values: [u8; SIZE],
    /// The crystal at XIN, where the core's clock is what the program sets.
    crystal_hz: Option<u64>,
}

fn after_reset() -> [u8; SIZE] {
    let mut values = [0; SIZE];
    (values[CM0], values[CM1], values[OCD], values[WDC]) = (0x68, 0x20, 0x04, 0x1f);
    values
}

impl System {
    /// The registers, address 0 of the special function registers being at `spec.base`.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> System {
        let crystal_hz = part.followed_crystal_hz();
        System { name: spec.name.clone(), base: spec.base, values: after_reset(), crystal_hz }
    }

    /// Returns the reason why a write is refused; empty where it is allowed.
    fn rejection(&self, offset: usize, value: u8) -> &'static str {
        let mut after = self.values;
        after[offset] = value;
        match offset {
            CM0 | CM1 | OCD | FRA0 | FRA1 | FRA2 if self.values[PRCR] & PRC0 == 0 => {
                "PRC0 of PRCR protects this register"
            }
            PM0 | PM1 if self.values[PRCR] & PRC1 == 0 => "PRC1 of PRCR protects this register",
            CM0 if value & CM07 != 0 => "no sub-clock is modelled",
            CM1 if value & CM10 != 0 => "stop mode is not modelled: no interrupt would end it",
            OCD if value & OCD_DETECTION != 0 => "the detection of a stopped oscillator is not modelled",
            CM0 | CM1 | OCD
                if after[OCD] & OCD2 == 0 && (after[CM0] & CM05 != 0 || after[CM1] & CM13 == 0) =>
            {
                "the crystal would be the system clock, but is off (CM05, CM13)"
            }
            PM0 if value & PM03 != 0 => "software reset is not modelled",
            FRA0 if value & FRA0_ON != 0 => "the high-speed on-chip oscillator is not modelled",
            WDTS => "the watchdog is not modelled: this starts it",
            _ => "",
        }
    }
}

impl Peripheral for System {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            REGISTERS
                .iter()
                .map(|(offset, ..)| self.base + *offset as u32)
                .map(|address| address..address + 1),
        )
    }

    fn read(&mut self, address: u32, _size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        Ok(self.values[(address - self.base) as usize].into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let (offset, value) = ((address - self.base) as usize, value as u8);
        let rejection = self.rejection(offset, value);
        if rejection.ends_with(PROTECTED)
            && context.events.tolerate("a write to a register that PRCR protects")
        {
            return Ok(());
        }
        if !rejection.is_empty() {
            let register =
                REGISTERS.iter().find(|(known, ..)| *known == offset).map_or("", |(_, name, _)| name);
            let what = format!("{register}: {rejection}");
            return context.refuse(&self.name, address, what);
        }
        let kept = REGISTERS.iter().find(|(known, ..)| *known == offset).map_or(0, |(.., kept)| *kept);
        self.values[offset] = value & kept | self.values[offset] & !kept;
        Ok(())
    }

    fn reset(&mut self) {
        self.values = after_reset();
    }

    fn roles(&self) -> Roles<'_> {
        Roles { clock_control: Some(self), ..Roles::default() }
    }
}

impl ClockControl for System {
    fn core_clock_hz(&self) -> Option<u64> {
        let crystal_hz = self.crystal_hz?;
        let source_hz = if self.values[OCD] & OCD2 != 0 { LOW_SPEED_OSCILLATOR_HZ } else { crystal_hz };
        let divider = match self.values[CM0] & CM06 {
            0 => [1, 2, 4, 16][usize::from(self.values[CM1] >> CM16_SHIFT)],
            _ => 8,
        };
        Some(source_hz / divider)
    }
}
