//! The option bytes of the STM32L4+: RM0432 sections 3.4 and 3.7, from memory; RM0444, section 3.4
//! (STM32G0), has the same sequences.
//!
//! A program writes them into registers, and OPTSTRT stores these. What was stored counts once it
//! is loaded: at power-on, or for OBL_LAUNCH. Any other reset brings back into the registers what
//! was loaded.

use crate::ResetCause;
use std::ops::RangeInclusive;

/// Offsets from FLASH_ACR: OPTR; WRP1AR, WRP1BR, WRP2AR, WRP2BR.
const OPTR: u32 = 0x20;
const OFFSETS: [u32; 5] = [OPTR, 0x2c, 0x30, 0x4c, 0x50];
/// The protection from reading of code (PCROP), of which there is none: offset, value as delivered.
const PCROP: [(u32, u32); 4] = [(0x24, u32::MAX), (0x28, 0x7ffe_0000), (0x44, u32::MAX), (0x48, 0x7ffe_0000)];
/// Their bits; the others read as one.
const OPTR_BITS: u32 = 0x0fff_77ff;
const WRP_BITS: u32 = 0x00ff_00ff;
/// WRP as delivered: the first page that is protected behind the last, so none is.
const NO_PAGE: u32 = 0xff00_ffff;
const END_SHIFT: u32 = 16;
const PAGE: u32 = 0xff;

/// RDP of levels 0 and 2; all else is level 1, which keeps nothing from a program that was started
/// from flash.
const LEVEL_0: u8 = 0xaa;
const LEVEL_2: u8 = 0xcc;

/// Bits that must stay as delivered, because the machine has nothing of what they bring about.
const KEPT: &[(u32, &str)] = &[
    (7 << 8, "BOR_LEV: another brown-out reset than the delivered one"),
    (7 << 12, "nRST_STOP, nRST_STDBY or nRST_SHDW: a reset where a low-power mode would begin"),
    (1 << 16, "IWDG_SW: the watchdog that hardware starts"),
    (3 << 17, "IWDG_STOP or IWDG_STDBY: a watchdog that stands still in stop or standby"),
    (1 << 19, "WWDG_SW: the window watchdog that hardware starts"),
    (1 << 20, "BFB2: a start from bank 2"),
    (3 << 21, "DB1M or DBANK: other banks"),
    (3 << 24, "SRAM2_PE or SRAM2_RST: parity and resets of SRAM2"),
    (1 << 23 | 3 << 26, "nBOOT1, nSWBOOT0 or nBOOT0: another memory to start from"),
];

/// The registers, and what is behind them.
#[derive(Clone)]
pub struct OptionWords {
    delivered: u32,
    stored: [u32; 5],
    loaded: [u32; 5],
    registers: [u32; 5],
    /// The cycle at which the operation under way ends.
    writing: Option<u64>,
    /// One was stopped.
    torn: bool,
    /// Operations begun since it was made.
    pub writes: u64,
}

impl OptionWords {
    /// As delivered, with `optr` in OPTR.
    pub fn new(optr: u32) -> OptionWords {
        let words = [optr | !OPTR_BITS, NO_PAGE, NO_PAGE, NO_PAGE, NO_PAGE];
        OptionWords {
            delivered: words[0],
            stored: words,
            loaded: words,
            registers: words,
            writing: None,
            torn: false,
            writes: 0,
        }
    }

    fn index(offset: u32) -> Option<usize> {
        OFFSETS.iter().position(|known| *known == offset)
    }

    /// True for a register that cannot be written here: PCROP.
    pub fn is_fixed(offset: u32) -> bool {
        Self::index(offset).is_none()
    }

    /// The register at an offset, if it is one of these.
    pub fn register(&self, offset: u32) -> Option<u32> {
        let pcrop = PCROP.iter().find(|(known, _)| *known == offset).map(|(_, value)| *value);
        Self::index(offset).map(|index| self.registers[index]).or(pcrop)
    }

    /// Writes the register at an offset, if it is one of these.
    ///
    /// # Errors
    /// A protection that is not modelled.
    pub fn write(&mut self, offset: u32, value: u32) -> Result<(), &'static str> {
        match Self::index(offset) {
            Some(index) => {
                let bits = if offset == OPTR { OPTR_BITS } else { WRP_BITS };
                self.registers[index] = value | !bits;
                Ok(())
            }
            None if self.register(offset) == Some(value) => Ok(()),
            None => Err("the protection from reading of code (PCROP) is not modelled"),
        }
    }

    /// OPTSTRT: stores the registers, which is done at cycle `until`.
    ///
    /// # Errors
    /// Stores the options; an error names one whose effect the machine does not have.
    pub fn store(&mut self, until: u64) -> Result<(), &'static str> {
        let changed = self.registers[0] ^ self.delivered;
        if let Some((_, what)) = KEPT.iter().find(|(bits, _)| changed & bits != 0) {
            return Err(what);
        }
        let (rdp, before) = (self.registers[0] as u8, self.stored[0] as u8);
        if rdp == LEVEL_2 {
            return Err("RDP = 0xCC: read protection of level 2");
        }
        if rdp == LEVEL_0 && before != LEVEL_0 {
            return Err("RDP = 0xAA: taking read protection back, which erases all of the flash,");
        }
        self.stored = self.registers;
        self.writing = Some(until);
        self.writes += 1;
        Ok(())
    }

    /// True where one of these pages of bank 1 or, with `second`, of bank 2 is protected.
    pub fn protects(&self, second: bool, pages: RangeInclusive<u32>) -> bool {
        let areas = if second { &self.loaded[3..] } else { &self.loaded[1..3] };
        areas.iter().any(|area| {
            let (first, last) = (area & PAGE, area >> END_SHIFT & PAGE);
            first <= last && first <= *pages.end() && *pages.start() <= last
        })
    }

    /// Ends the operation under way when its time has come.
    pub fn finish(&mut self, now: u64) {
        self.writing.take_if(|until| *until <= now);
    }

    /// An operation under way stops.
    pub fn tear(&mut self) {
        self.torn |= self.writing.take().is_some();
    }

    /// A reset at cycle `now`.
    pub fn reset(&mut self, cause: ResetCause, now: u64) {
        if cause != ResetCause::PowerOn {
            self.finish(now);
        }
        self.tear();
        if matches!(cause, ResetCause::PowerOn | ResetCause::BrownOut | ResetCause::OptionBytes) {
            self.loaded = self.stored;
        }
        self.registers = self.loaded;
    }

    /// The reason that the part cannot begin.
    pub fn refusal(&self) -> Option<String> {
        let what = "the option bytes were stored while the supply failed or a reset came: the part then loads a configuration that may lock \
                    it for ever (RM0444, section 3.4.2, of the STM32G0), which is not modelled";
        self.torn.then(|| what.into())
    }
}
