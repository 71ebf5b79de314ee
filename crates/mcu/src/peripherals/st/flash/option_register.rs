//! The option bytes of the STM32F4 and F7, which a program sees as FLASH_OPTCR: RM0090 sections 3.7
//! and 3.9 (RM0383 has the same for the STM32F411), RM0410 sections 3.4, 3.5 and 3.7.
//!
//! OPTSTRT stores the register. From section 3.7.4, "when the non-write protection nWRPi bit in the
//! FLASH_OPTCR register is low, the corresponding sector cannot be erased or programmed", nWRP is
//! taken to be in effect as the register has it; between a write of nWRP and OPTSTRT, of which the
//! manual says nothing, the sectors that differ are refused.

use super::Family;
use super::registers::take_key;

const OPTLOCK: u32 = 1 << 0;
const OPTSTRT: u32 = 1 << 1;
/// F411; reserved in the F407.
const SPRMOD: u32 = 1 << 31;
const RDP_SHIFT: u32 = 8;
const NWRP_SHIFT: u32 = 16;
/// Stored bits: BOR_LEV, WDG_SW, nRST_STOP, nRST_STDBY, RDP, nWRP of twelve sectors; of the F7
/// all but OPTLOCK and OPTSTRT.
const STORED_F4: u32 = 0x0fff_ffec;
const STORED_F7: u32 = 0xffff_fffc;

const KEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

/// RDP of levels 0 and 2; all else is level 1.
const LEVEL_0: u8 = 0xaa;
const LEVEL_2: u8 = 0xcc;

/// Bits that must stay as delivered, because the machine has nothing of what they bring about.
const BROWN_OUT: (u32, &str) = (3 << 2, "BOR_LEV: another brown-out reset than the delivered one");
const STOP: (u32, &str) = (1 << 6, "nRST_STOP = 0: a reset where stop mode would begin");
const STANDBY: (u32, &str) = (1 << 7, "nRST_STDBY = 0: a reset where standby mode would begin");
const KEPT_F4: &[(u32, &str)] = &[
    BROWN_OUT,
    (1 << 5, "WDG_SW = 0: the watchdog that hardware starts"),
    STOP,
    STANDBY,
    (SPRMOD, "SPRMOD: sectors that cannot be read"),
];
const KEPT_F7: &[(u32, &str)] = &[
    BROWN_OUT,
    (1 << 4, "WWDG_SW = 0: the window watchdog that hardware starts"),
    (1 << 5, "IWDG_SW = 0: the watchdog that hardware starts"),
    STOP,
    STANDBY,
    (3 << 28, "nDBANK or nDBOOT = 0: two banks"),
    (3 << 30, "IWDG_STDBY or IWDG_STOP = 0: a watchdog that stands still in standby or stop"),
];

/// The register, and what is stored.
#[derive(Clone)]
pub struct OptionRegister {
    family: Family,
    delivered: u32,
    stored: u32,
    /// OPTCR, in which OPTSTRT never stays.
    pub register: u32,
    /// Keys that have been written in their order.
    keys: usize,
    /// When the operation under way ends.
    writing: Option<u64>,
    /// Operations begun since it was made.
    pub writes: u64,
}

impl OptionRegister {
    /// As delivered, with `optcr` in the register.
    pub fn new(family: Family, optcr: u32) -> OptionRegister {
        let delivered = optcr & stored_bits(family);
        OptionRegister {
            family,
            delivered,
            stored: delivered,
            register: delivered | OPTLOCK,
            keys: 0,
            writing: None,
            writes: 0,
        }
    }

    /// OPTKEYR.
    ///
    /// # Errors
    /// A wrong key.
    pub fn write_key(&mut self, value: u32) -> Result<(), String> {
        if self.register & OPTLOCK == 0 {
            return Ok(());
        }
        take_key(&mut self.keys, KEYS, value)?;
        if self.keys == KEYS.len() {
            self.register &= !OPTLOCK;
        }
        Ok(())
    }

    /// OPTCR; true where it starts storing.
    ///
    /// # Errors
    /// A setting that is not modelled.
    pub fn write(&mut self, value: u32) -> Result<bool, String> {
        if self.register & OPTLOCK != 0 {
            return Ok(false);
        }
        let register = value & (stored_bits(self.family) | SPRMOD);
        let start = value & OPTSTRT != 0;
        if start && let Some(what) = self.refusal(register) {
            return Err(what);
        }
        self.register = register | value & OPTLOCK;
        if value & OPTLOCK != 0 {
            self.keys = 0;
        }
        Ok(start)
    }

    /// Stores the register, which is done at cycle `until`.
    pub fn store(&mut self, until: u64) {
        self.stored = self.register & stored_bits(self.family);
        self.writing = Some(until);
        self.writes += 1;
    }

    /// Why this cannot be stored.
    fn refusal(&self, register: u32) -> Option<String> {
        let rdp = |word: u32| (word >> RDP_SHIFT) as u8;
        let changed = register ^ self.delivered;
        let kept = if self.family == Family::F7 { KEPT_F7 } else { KEPT_F4 };
        if let Some((_, what)) = kept.iter().find(|(bits, _)| changed & bits != 0) {
            return Some(format!("the option {what} is not modelled"));
        }
        match rdp(register) {
            LEVEL_2 => Some("RDP = 0xCC, read protection of level 2, is not modelled".into()),
            LEVEL_0 if rdp(self.stored) != LEVEL_0 => {
                Some("RDP takes read protection back, which erases all of the flash: not modelled".into())
            }
            _ => None,
        }
    }

    /// True where the sector of this number is protected.
    ///
    /// # Errors
    /// The protection is not known.
    pub fn protects(&self, sector: u32) -> Result<bool, &'static str> {
        let bit = 1 << (NWRP_SHIFT + sector.min(11));
        if (self.register ^ self.stored) & bit != 0 {
            return Err(
                "nWRP of this sector was written without OPTSTRT: whether it is in effect is not known",
            );
        }
        Ok(self.register & bit == 0)
    }

    /// When the operation under way ends.
    pub fn due(&self) -> Option<u64> {
        self.writing
    }

    /// Ends it when its time has come.
    pub fn finish(&mut self, now: u64) {
        self.writing.take_if(|until| *until <= now);
    }

    /// An operation under way stops. They are erased before they are programmed, which takes most
    /// of the time: what is left is taken to be erased, which is level 1 (section 3.7.3), all else
    /// without effect.
    pub fn tear(&mut self) {
        if self.writing.take().is_some() {
            self.stored = stored_bits(self.family);
        }
    }

    /// Every reset loads them.
    pub fn reset(&mut self) {
        self.tear();
        self.register = self.stored | OPTLOCK;
        self.keys = 0;
    }
}

/// The bits of OPTCR that OPTSTRT stores.
fn stored_bits(family: Family) -> u32 {
    if family == Family::F7 { STORED_F7 } else { STORED_F4 }
}
