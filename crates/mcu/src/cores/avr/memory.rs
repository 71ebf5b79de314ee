//! Data space and program memory as instructions see them.

use super::opcode::is_wide;
use super::registers::Avr;
use super::registers::{Flags, unmapped};
use super::timing;
use crate::machine::Machine;
use crate::observe::dynamic;
use crate::peripherals::microchip::watchdog::WATCHDOG_RESET;
use crate::{Access, AccessKind, ClockChange, Fault, FlashView, Observer, PinDirections, PinEdge};

/// Data-space addresses of the core's own registers.
const RAMPZ: u16 = 0x5B;
const EIND: u16 = 0x5C;
const SPL: u16 = 0x5D;
const SPH: u16 = 0x5E;
const SREG: u16 = 0x5F;

/// Start of an instruction: its word address, and the cycles before it.
#[derive(Clone, Copy)]
pub(super) struct InstructionStart {
    pub pc: u32,
    pub cycles: u64,
}

/// The instruction cannot be executed here: the fault lies in `Avr::fault`, or it is none for the
/// fast path.
pub(super) struct BailOut;

/// Reports pins at the end of the instruction that moved them; the bus knows only when it began.
struct AtEnd<'a> {
    observer: &'a mut dyn Observer,
    end: u64,
}

impl Observer for AtEnd<'_> {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.observer.pin(&PinEdge { cycles: self.end, ..*edge });
    }
    fn directions(&mut self, directions: &PinDirections<'_>) {
        self.observer.directions(&PinDirections { cycles: self.end, ..*directions });
    }
    fn clock(&mut self, change: &ClockChange) {
        self.observer.clock(&ClockChange { cycles: self.end, ..*change });
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.observer.uart(port, byte, cycles);
    }
}

/// Bytes of a return address.
const fn address_bytes(words: usize) -> u16 {
    if is_wide(words) { 3 } else { 2 }
}

impl<const WORDS: usize> Machine<Avr<WORDS>> {
    fn report<O: Observer>(
        &self,
        observer: &mut O,
        at: InstructionStart,
        address: u32,
        value: u64,
        kind: AccessKind,
        size: u8,
    ) {
        let pc = at.pc * 2;
        observer.access(&Access { pc, address, size, kind, value, cycles: at.cycles });
    }

    /// Keeps a fault for the end of the run.
    #[cold]
    pub(super) fn raise<T>(&mut self, fault: Fault) -> Result<T, BailOut> {
        self.fault = Some(fault);
        Err(BailOut)
    }

    pub(super) fn kept<T>(&mut self, result: Result<T, Fault>) -> Result<T, BailOut> {
        result.or_else(|fault| self.raise(fault))
    }

    #[inline(always)]
    pub(super) fn load<O: Observer, const FAST: bool>(
        &mut self,
        address: u16,
        at: InstructionStart,
        observer: &mut O,
    ) -> Result<u8, BailOut> {
        let value = if self.core.is_ram(address) {
            self.core.data[usize::from(address)]
        } else if FAST {
            return Err(BailOut);
        } else {
            let value = self.load_register(address, at, observer);
            self.kept(value)?
        };
        if O::enabled() {
            self.report(observer, at, 0x80_0000 + u32::from(address), value.into(), AccessKind::Read, 1);
        }
        Ok(value)
    }

    #[inline(always)]
    pub(super) fn store<O: Observer, const FAST: bool>(
        &mut self,
        address: u16,
        value: u8,
        at: InstructionStart,
        length: u64,
        observer: &mut O,
    ) -> Result<(), BailOut> {
        if self.core.is_ram(address) {
            self.core.data[usize::from(address)] = value;
        } else if FAST {
            return Err(BailOut);
        } else {
            let done = self.store_register(address, value, at, length, observer);
            self.kept(done)?;
        }
        if O::enabled() {
            self.report(observer, at, 0x80_0000 + u32::from(address), value.into(), AccessKind::Write, 1);
        }
        Ok(())
    }

    /// A read below the RAM: working registers, the core's registers, peripherals.
    #[inline(never)]
    pub(super) fn load_register<O: Observer>(
        &mut self,
        address: u16,
        at: InstructionStart,
        observer: &mut O,
    ) -> Result<u8, Fault> {
        match address {
            0..0x20 => Ok(self.core.data[usize::from(address)]),
            SREG => Ok(self.core.flags.to_byte()),
            SPL => Ok(self.core.sp as u8),
            SPH => Ok((self.core.sp >> 8) as u8),
            RAMPZ if self.core.instruction_set.extended_load => Ok(self.core.rampz),
            EIND if self.core.instruction_set.extended_jumps => Ok(self.core.eind),
            _ if address >= self.core.ram_start => Err(unmapped(at.pc, address, "read")),
            _ => {
                self.recheck();
                let pc = at.pc * 2;
                let value = self.bus.read(address.into(), 1, at.cycles, pc, dynamic(observer))?;
                Ok(value as u8)
            }
        }
    }

    /// A write below the RAM; `length` is the instruction's cycles.
    #[inline(never)]
    fn store_register<O: Observer>(
        &mut self,
        address: u16,
        value: u8,
        at: InstructionStart,
        length: u64,
        observer: &mut O,
    ) -> Result<(), Fault> {
        match address {
            0..0x20 => self.core.data[usize::from(address)] = value,
            SREG => {
                let before = self.core.flags.i;
                self.core.flags = Flags::from_byte(value);
                self.interrupts_changed(before);
            }
            SPL => self.core.sp = self.core.sp & 0xFF00 | u16::from(value),
            SPH => self.core.sp = self.core.sp & 0x00FF | u16::from(value) << 8,
            // Only the bits that the flash needs exist: ATmega128 data sheet 2467, "RAM Page Z
            // Select Register"; ATmega2560 data sheet 2549Q, 7.6.1 and 7.6.2.
            RAMPZ if self.core.instruction_set.extended_load => {
                self.core.rampz = value & self.core.rampz_bits();
            }
            EIND if self.core.instruction_set.extended_jumps => {
                self.core.eind = value & ((self.core.words() - 1) >> 16) as u8;
            }
            _ if address >= self.core.ram_start => return Err(unmapped(at.pc, address, "write")),
            _ => {
                self.recheck();
                let pc = at.pc * 2;
                let end = at.cycles + length;
                let value = value.into();
                match dynamic(observer) {
                    None => self.bus.write(address.into(), 1, value, at.cycles, pc, None)?,
                    Some(observer) => {
                        let mut at_end = AtEnd { observer, end };
                        self.bus.write(address.into(), 1, value, at.cycles, pc, Some(&mut at_end))?;
                    }
                }
            }
        }
        Ok(())
    }

    /// `SBI` and `CBI`, to whom flags that are cleared by writing ones are something else than to a
    /// store.
    pub(super) fn write_bit<O: Observer, const FAST: bool>(
        &mut self,
        address: u16,
        bit: u8,
        on: bool,
        at: InstructionStart,
        observer: &mut O,
    ) -> Result<(), BailOut> {
        if FAST {
            return Err(BailOut);
        }
        self.recheck();
        let pc = at.pc * 2;
        let address32 = u32::from(address);
        let done = match dynamic(observer) {
            None => self.bus.write_bit(address32, bit, on, at.cycles, pc, None),
            Some(observer) => {
                let mut at_end = AtEnd { observer, end: at.cycles + timing::IO_BIT };
                self.bus.write_bit(address32, bit, on, at.cycles, pc, Some(&mut at_end))
            }
        };
        self.kept(done)?;
        if O::enabled() {
            self.report(observer, at, 0x80_0000 + address32, on.into(), AccessKind::Write, 1);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn push<O: Observer, const FAST: bool>(
        &mut self,
        value: u8,
        at: InstructionStart,
        length: u64,
        observer: &mut O,
    ) -> Result<(), BailOut> {
        self.store::<O, FAST>(self.core.sp, value, at, length, observer)?;
        self.core.sp = self.core.sp.wrapping_sub(1);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn push_address<O: Observer, const FAST: bool>(
        &mut self,
        address: u32,
        at: InstructionStart,
        length: u64,
        observer: &mut O,
    ) -> Result<(), BailOut> {
        let [low, high, third, _] = address.to_le_bytes();
        let sp = self.core.sp;
        self.store::<O, FAST>(sp, low, at, length, observer)?;
        self.store::<O, FAST>(sp.wrapping_sub(1), high, at, length, observer)?;
        if is_wide(WORDS) {
            self.store::<O, FAST>(sp.wrapping_sub(2), third, at, length, observer)?;
        }
        self.core.sp = sp.wrapping_sub(address_bytes(WORDS));
        Ok(())
    }

    #[inline(always)]
    pub(super) fn pop_address<O: Observer, const FAST: bool>(
        &mut self,
        at: InstructionStart,
        observer: &mut O,
    ) -> Result<u32, BailOut> {
        let size = address_bytes(WORDS);
        let sp = self.core.sp;
        let third = if is_wide(WORDS) { self.load::<O, FAST>(sp.wrapping_add(1), at, observer)? } else { 0 };
        let high = self.load::<O, FAST>(sp.wrapping_add(size - 1), at, observer)?;
        let low = self.load::<O, FAST>(sp.wrapping_add(size), at, observer)?;
        self.core.sp = sp.wrapping_add(size);
        // No more bits than the program counter has.
        Ok(u32::from_le_bytes([low, high, third, 0]) & (WORDS as u32 - 1))
    }

    #[inline(always)]
    pub(super) fn load_program<O: Observer, const FAST: bool>(
        &mut self,
        address: u32,
        at: InstructionStart,
        observer: &mut O,
    ) -> Result<u8, BailOut> {
        if !FAST && self.bus.events.flash_view != FlashView::Whole {
            return self.load_in_view(address, at);
        }
        if self.core.programmed.keeps_loads() {
            if FAST {
                return Err(BailOut);
            }
            self.check_load(address, at)?;
        }
        let Some(&value) = self.core.flash.get(address as usize) else {
            if FAST {
                return Err(BailOut);
            }
            return self.raise(Fault::Unmapped { pc: at.pc * 2, address, size: 1, kind: "read" });
        };
        if O::enabled() {
            self.report(observer, at, address, value.into(), AccessKind::Read, 1);
        }
        Ok(value)
    }

    /// The I flag may have changed. Where it was set, one more instruction comes before any
    /// interrupt (DS40002198, `SEI`).
    pub(super) fn interrupts_changed(&mut self, before: bool) {
        if self.core.flags.i && !before {
            self.core.delay = true;
        }
        self.recheck();
    }

    /// The word at `pc` is no instruction of this part.
    pub(super) fn no_such_instruction<T>(&mut self, pc: u32) -> Result<T, BailOut> {
        let at = pc as usize * 2;
        let bytes = self.core.flash[at..at + 2].to_vec();
        self.raise(Fault::Opcode { pc: at as u32, bytes })
    }

    /// `WDR` reaches the watchdog as a write to an address beyond the data space.
    pub(super) fn reset_watchdog<O: Observer>(
        &mut self,
        at: InstructionStart,
        observer: &mut O,
    ) -> Result<(), BailOut> {
        if self.bus.claims(WATCHDOG_RESET) {
            let pc = at.pc * 2;
            let done = self.bus.write(WATCHDOG_RESET, 1, 0, at.cycles, pc, dynamic(observer));
            self.kept(done)?;
            self.recheck();
        }
        Ok(())
    }
}
