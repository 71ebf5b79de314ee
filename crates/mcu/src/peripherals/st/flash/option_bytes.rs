//! The option bytes of the STM32F0 and F1: bytes with their complements in the flash's information
//! block, which a loader copies into FLASH_OBR and FLASH_WRPR.
//!
//! RM0091 sections 3.3 and 4, 3.5.7 and 3.5.8; PM0075 sections 2.4 and 2.5, 3.7 and 3.8 (PM0063 has
//! the same for the STM32F100).

use super::Family;
use crate::ResetCause;
use std::ops::Range;

/// The first one's address.
pub const START: u32 = 0x1fff_f800;

/// Bytes by their place, each with its complement behind it: RDP, USER, Data0, Data1, WRP0 and on.
const RDP: usize = 0;
const USER: usize = 1;
const DATA: [usize; 2] = [2, 3];
const WRP: usize = 4;
const COUNT: usize = 8;

/// Bytes of flash that a bit of WRP protects: four pages of the F0 and of the F1 of low and medium
/// density.
const PROTECTED_UNIT: u32 = 0x1000;
/// Pages of the F1 that read protection protects from being written, too (PM0075 section 2.4.1, low
/// and medium density).
const PAGES_READ_PROTECTED: u32 = 4;

/// RDP that makes the level 2 of the F0.
const LEVEL_2: u8 = 0xcc;

/// USER's bits that must be 1, because the machine has nothing of what they bring about.
const WATCHDOG: (u8, &str) = (1 << 0, "WDG_SW = 0, the watchdog that hardware starts,");
const STOP: (u8, &str) = (1 << 1, "nRST_STOP = 0, a reset where stop mode would begin,");
const STANDBY: (u8, &str) = (1 << 2, "nRST_STDBY = 0, a reset where standby mode would begin,");
const KEPT_F1: &[(u8, &str)] = &[WATCHDOG, STOP, STANDBY];
const KEPT_F0: &[(u8, &str)] =
    &[WATCHDOG, STOP, STANDBY, (1 << 6, "RAM_PARITY_CHECK = 0, an NMI for a parity error in RAM,")];

/// An operation under way: which cells, what they held before, and when it ends.
#[derive(Clone)]
struct Writing {
    range: Range<usize>,
    before: Vec<u8>,
    until: u64,
}

/// The option bytes, and what of them is in effect.
#[derive(Clone)]
pub struct OptionBytes {
    family: Family,
    /// The information block from [`START`] on. As with the flash itself it holds a result from the
    /// start of an operation on.
    pub cells: Vec<u8>,
    /// As loaded.
    bytes: [u8; COUNT],
    /// OPTERR: a byte and its complement did not match.
    error: bool,
    writing: Option<Writing>,
    /// Operations begun since it was made.
    pub writes: u64,
}

impl OptionBytes {
    /// As delivered, with `obr` in FLASH_OBR and no page protected. The F0 has a byte of WRP for
    /// each 32 kB of flash, the F1 always four.
    pub fn new(family: Family, obr: u32, flash_size: u32) -> OptionBytes {
        let protections = match family {
            Family::F0 => flash_size.div_ceil(8 * PROTECTED_UNIT).clamp(1, 4) as usize,
            _ => COUNT - WRP,
        };
        let (user, data) = shifts(family);
        let mut bytes = [0xff; COUNT];
        bytes[RDP] = unprotected(family);
        bytes[USER] = (obr >> user) as u8;
        for (place, shift) in DATA.into_iter().zip(data) {
            bytes[place] = (obr >> shift) as u8;
        }
        let cells = bytes[..WRP + protections].iter().flat_map(|byte| [*byte, !byte]).collect();
        OptionBytes { family, cells, bytes, error: false, writing: None, writes: 0 }
    }

    /// The loader: a byte that does not match its complement counts as 0xff, as does one that is
    /// erased, which is no error.
    fn load(&mut self) {
        (self.bytes, self.error) = ([0xff; COUNT], false);
        for (byte, pair) in self.bytes.iter_mut().zip(self.cells.chunks_exact(2)) {
            if pair[0] == !pair[1] {
                *byte = pair[0];
            } else {
                self.error |= pair != [0xff, 0xff];
            }
        }
    }

    /// RDPRT: a bit of the F1, the level of the F0.
    fn read_protection(&self) -> u32 {
        match self.bytes[RDP] {
            rdp if rdp == unprotected(self.family) => 0,
            LEVEL_2 if self.family == Family::F0 => 3,
            _ => 1,
        }
    }

    /// FLASH_OBR.
    pub fn obr(&self) -> u32 {
        let (user, data) = shifts(self.family);
        let place = |byte: usize, shift: u32| u32::from(self.bytes[byte]) << shift;
        u32::from(self.error)
            | self.read_protection() << 1
            | place(USER, user)
            | place(DATA[0], data[0])
            | place(DATA[1], data[1])
    }

    /// FLASH_WRPR.
    pub fn wrpr(&self) -> u32 {
        self.bytes[WRP..].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte))
    }

    /// True where a page is protected in what is this far into the flash, whose pages have this
    /// size.
    pub fn protects(&self, offsets: &Range<u32>, page: u32) -> bool {
        let read_protected = self.family == Family::F1 && self.read_protection() != 0;
        let last = offsets.end.max(1) - 1;
        let unit = |offset: u32| (offset / PROTECTED_UNIT).min(31);
        read_protected && offsets.start < PAGES_READ_PROTECTED * page
            || (unit(offsets.start)..=unit(last)).any(|bit| self.wrpr() >> bit & 1 == 0)
    }

    /// Why a byte cannot have this value.
    fn refusal_of(&self, place: usize, value: u8) -> Option<String> {
        let kept = if self.family == Family::F0 { KEPT_F0 } else { KEPT_F1 };
        match place {
            RDP if value == LEVEL_2 && self.family == Family::F0 => {
                Some("RDP = 0xCC, read protection of level 2, is not modelled".into())
            }
            USER => {
                let cleared = kept.iter().find(|(bit, _)| value & bit == 0)?;
                Some(format!("the option byte USER with {} is not modelled", cleared.1))
            }
            _ => None,
        }
    }

    /// Why the part cannot begin with what was loaded.
    pub fn refusal(&self) -> Option<String> {
        [RDP, USER].into_iter().find_map(|place| self.refusal_of(place, self.bytes[place]))
    }

    /// Programs the byte at `offset` into the block, with its complement; false where it is not
    /// erased.
    ///
    /// # Errors
    /// Why that cannot be done.
    pub fn program(&mut self, offset: usize, value: u8, until: u64) -> Result<bool, String> {
        let place = offset / 2;
        if self.cells[2 * place..][..2] != [0xff, 0xff] {
            return Ok(false);
        }
        if place == RDP && value == unprotected(self.family) && self.read_protection() != 0 {
            let what = "RDP takes read protection back, which erases all of the flash: not modelled";
            return Err(what.into());
        }
        if let Some(what) = self.refusal_of(place, value) {
            return Err(what);
        }
        self.begin(2 * place..2 * place + 2, until);
        self.cells[2 * place..][..2].copy_from_slice(&[value, !value]);
        Ok(true)
    }

    /// Erases all of them.
    pub fn erase(&mut self, until: u64) {
        self.begin(0..self.cells.len(), until);
        self.cells.fill(0xff);
    }

    fn begin(&mut self, range: Range<usize>, until: u64) {
        self.writes += 1;
        self.writing = Some(Writing { before: self.cells[range.clone()].to_vec(), range, until });
    }

    /// When the operation under way ends.
    pub fn due(&self) -> Option<u64> {
        self.writing.as_ref().map(|writing| writing.until)
    }

    /// Ends it when its time has come.
    pub fn finish(&mut self, now: u64) {
        self.writing.take_if(|writing| writing.until <= now);
    }

    /// Leaves a write under way half done: `torn` if it is given, else neither the old value nor
    /// the new one.
    pub fn tear(&mut self, torn: Option<u8>) {
        let Some(Writing { range, before, .. }) = self.writing.take() else { return };
        for (cell, before) in self.cells[range].iter_mut().zip(before) {
            *cell = torn.unwrap_or(crate::flash::interrupted_write(before, *cell, crate::flash::CHANGED));
        }
    }

    /// RM0091, section 4: the F0 loads them at power-on and for OBL_LAUNCH; PM0075, section 2.5:
    /// the F1 with every reset.
    pub fn reset(&mut self, cause: ResetCause) {
        self.tear(None);
        let powered = matches!(cause, ResetCause::PowerOn | ResetCause::BrownOut | ResetCause::OptionBytes);
        if self.family == Family::F1 || powered {
            self.load();
        }
    }
}

/// RDP of a part without read protection.
fn unprotected(family: Family) -> u8 {
    if family == Family::F0 { 0xaa } else { 0xa5 }
}

/// Shifts of USER, Data0 and Data1 in FLASH_OBR.
fn shifts(family: Family) -> (u32, [u32; 2]) {
    if family == Family::F0 { (8, [16, 24]) } else { (2, [10, 18]) }
}
