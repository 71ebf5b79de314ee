//! The flash controller of the MSP430F5xx: erasing a segment, writing bytes, words and long words.
//!
//! Source: SLAU208, chapter "Flash Memory Controller"; bits and addresses compared with TI's header
//! for the part. The core stands still while flash is erased or written by an instruction that
//! itself stands in flash; interrupts wait. A write to its registers with a wrong password resets
//! the part. What else the manual calls a violation stops with a fault: a store while the memory is
//! locked or no mode is chosen, one while another is under way. Not modelled and refused: erasing a
//! whole bank or all of it, block writes, smart writes, marginal reads, the emergency exit, and any
//! store by code in RAM. The cumulative program time of a row is not checked.

use crate::{
    ClockUpdate, Context, Fault, FlashChange, FlashController, FlashStore, MemoryKind, Part, Peripheral,
    PeripheralSpec, Protected, ResetCause, Spec,
};
use std::ops::Range;

const FCTL1: u32 = 0x0;
const FCTL3: u32 = 0x4;
const FCTL4: u32 = 0x6;
const END: u32 = 0x8;
const PASSWORD_READ: u32 = 0x9600;
const PASSWORD_WRITE: u32 = 0xa5;
/// Bits of `FCTL1`.
const ERASE: u32 = 0x02;
const WRT: u32 = 0x40;
const BLKWRT: u32 = 0x80;
/// Bits of `FCTL3`.
const BUSY: u32 = 0x01;
const WAIT: u32 = 0x08;
const LOCK: u32 = 0x10;
const EMEX: u32 = 0x20;
const LOCKA: u32 = 0x40;
/// Bits of `FCTL4`.
const VPE: u32 = 0x01;
const LOCKINFO: u32 = 0x80;
/// SLAS655H, "Flash Memory", DVCC(PGM/ERASE).
const LOWEST_SUPPLY_V: f64 = 1.8;
/// Bytes of a segment of main memory and of information memory.
const SEGMENT: u32 = 512;
const INFO_SEGMENT: u32 = 128;

/// The flash controller.
#[derive(Clone)]
pub struct Flash {
    name: String,
    base: u32,
    clock_hz: u64,
    word_us: u64,
    erase_us: u64,
    /// The memory called `info`.
    info: Range<u32>,
    mode: u32,
    locks: u32,
    busy_until: u64,
    /// The first half of a long word, and its address.
    half: Option<(u32, u32)>,
}

impl Flash {
    /// The controller with its registers from `spec.base` on. Settings: `word_us` and `erase_us`,
    /// the times that a byte, word or long word and a segment take. The part's flash memory called
    /// `info` is the information memory; its last segment is segment A.
    ///
    /// # Errors
    /// A time is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Flash, String> {
        let time = |key: &str| {
            let value = spec.settings.get(key).copied().filter(|value| *value > 0);
            value.map(|value| value as u64).ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let info =
            part.memories.iter().find(|memory| memory.kind == MemoryKind::Flash && memory.name == "info");
        let mut flash = Flash {
            name: spec.name.clone(),
            base: spec.base,
            clock_hz: part.default_clock_hz,
            word_us: time("word_us")?,
            erase_us: time("erase_us")?,
            info: info.map_or(0..0, |memory| memory.start..memory.start + memory.size),
            mode: 0,
            locks: 0,
            busy_until: 0,
            half: None,
        };
        flash.reset();
        Ok(flash)
    }

    fn fault(&self, address: u32, pc: u32, what: &str) -> Fault {
        Fault::Peripheral { pc, address, device: self.name.clone(), what: what.into() }
    }

    fn until(&self, now: u64, us: u64) -> u64 {
        now + (us * self.clock_hz).div_ceil(1_000_000)
    }

    /// Returns the reason why a store is not allowed, if there is one.
    fn rejection(&self, store: &FlashStore, now: u64, supply_v: f64) -> Option<&'static str> {
        let in_info = self.info.contains(&store.address);
        let in_a = in_info && store.address >= self.info.end - INFO_SEGMENT;
        let first_half = self.half.is_some_and(|(address, _)| address ^ 2 != store.address);
        if !store.from_flash {
            return Some("flash written by code in RAM is not modelled: call a function in flash");
        }
        if supply_v < LOWEST_SUPPLY_V {
            return Some("flash is erased or written below the 1.8 V that it needs");
        }
        if now < self.busy_until {
            return Some("a store into flash while it is busy");
        }
        if self.locks & LOCK != 0 {
            return Some("a store into flash while it is locked: clear LOCK in FCTL3");
        }
        if in_info && self.locks & LOCKINFO != 0 {
            return Some("a store into information memory while LOCKINFO is set");
        }
        if in_a && self.locks & LOCKA != 0 {
            return Some("a store into information segment A while LOCKA is set");
        }
        match self.mode {
            ERASE | WRT => None,
            BLKWRT if store.size != 2 => Some("a byte is stored in the long-word mode"),
            BLKWRT if first_half => Some("the second word of a long word must be its other half"),
            BLKWRT => None,
            0 => Some("a store into flash with neither ERASE nor WRT nor BLKWRT set in FCTL1"),
            _ => Some("this mode of FCTL1 is not modelled"),
        }
    }

    fn change(&mut self, store: &FlashStore, now: u64) -> FlashChange {
        let bytes = store.value.to_le_bytes()[..usize::from(store.size)].to_vec();
        match (self.mode, self.half.take()) {
            (ERASE, _) => {
                self.busy_until = self.until(now, self.erase_us);
                let size = if self.info.contains(&store.address) { INFO_SEGMENT } else { SEGMENT };
                let start = store.address & !(size - 1);
                FlashChange::Erase { range: start..start + size, until: self.busy_until }
            }
            (BLKWRT, None) => {
                self.half = Some((store.address, store.value));
                FlashChange::Kept
            }
            (BLKWRT, Some((first, value))) => {
                self.busy_until = self.until(now, self.word_us);
                let (low, high) = if first & 2 == 0 { (value, store.value) } else { (store.value, value) };
                let bytes = (low | high << 16).to_le_bytes().to_vec();
                FlashChange::Program { address: first & !3, bytes, until: self.busy_until }
            }
            _ => {
                self.busy_until = self.until(now, self.word_us);
                FlashChange::Program { address: store.address, bytes, until: self.busy_until }
            }
        }
    }
}

impl Peripheral for Flash {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + END)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = match (address - self.base) & !1 {
            FCTL1 => self.mode,
            FCTL3 => {
                self.locks & (LOCK | LOCKA) | WAIT | if context.now < self.busy_until { BUSY } else { 0 }
            }
            FCTL4 => self.locks & LOCKINFO,
            _ => return Err(self.fault(address, context.pc, "there is no such register")),
        };
        let word = word | PASSWORD_READ;
        Ok(if size == 2 { word } else { word >> (8 * (address & 1)) & 0xff })
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let pc = context.pc;
        if size != 2 {
            return Err(self.fault(
                address,
                pc,
                "its registers are written in words only, with the password 0xa5",
            ));
        }
        if value >> 8 != PASSWORD_WRITE {
            context.events.request_reset(ResetCause::Password(Protected::Flash));
            return Ok(());
        }
        if context.now < self.busy_until {
            return Err(self.fault(address, pc, "a write to the controller while flash is busy"));
        }
        let value = value & 0xff;
        match address - self.base {
            FCTL1 if matches!(value, 0 | ERASE | WRT | BLKWRT) => {
                self.mode = value;
                self.half = None;
            }
            FCTL1 => {
                let what = "of FCTL1's modes only ERASE, WRT and BLKWRT, each alone, are modelled";
                return Err(self.fault(address, pc, what));
            }
            FCTL3 if value & EMEX != 0 => {
                return Err(self.fault(address, pc, "the emergency exit is not modelled"));
            }
            FCTL3 => {
                // A 1 changes LOCKA to its other state, a 0 leaves it.
                self.locks = self.locks & LOCKINFO | value & LOCK | (self.locks ^ value) & LOCKA;
            }
            FCTL4 if value & !(LOCKINFO | VPE) != 0 => {
                return Err(self.fault(address, pc, "marginal reads are not modelled"));
            }
            FCTL4 => self.locks = self.locks & !LOCKINFO | value & LOCKINFO,
            _ => return Err(self.fault(address, pc, "there is no such register")),
        }
        Ok(())
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.mode = 0;
        self.locks = LOCK | LOCKA;
        self.busy_until = 0;
        self.half = None;
    }

    fn as_flash_controller(&mut self) -> Option<&mut dyn FlashController> {
        Some(self)
    }
}

impl FlashController for Flash {
    fn begin_store(
        &mut self,
        store: &FlashStore,
        context: &mut Context<'_, '_>,
    ) -> Result<FlashChange, Fault> {
        match self.rejection(store, context.now, context.board.supply_v) {
            Some(what) => Err(self.fault(store.address, store.pc, what)),
            None => Ok(self.change(store, context.now)),
        }
    }
}
