//! Data space and program memory as instructions see them.

use super::execute::{Eye, Place};
use super::state::{Flags, unmapped};
use super::{Avr, timing};
use crate::peripherals::avr_watchdog::WATCHDOG_RESET;
use crate::{Access, AccessKind, Fault, Observer, PinEdge};

/// Data-space addresses of the core's own registers.
const RAMPZ: u16 = 0x5B;
const SPL: u16 = 0x5D;
const SPH: u16 = 0x5E;
const SREG: u16 = 0x5F;

/// The instruction cannot be executed here: the fault lies in `Avr::fault`, or, racing, it is not one for the race.
pub(super) struct Leave;

/// Reports pins at the end of the instruction that moved them; the bus knows only when it began.
struct AtEnd<'a> {
    observer: &'a mut dyn Observer,
    end: u64,
}

impl Observer for AtEnd<'_> {
    fn pin(&mut self, edge: &PinEdge<'_>) {
        self.observer.pin(&PinEdge { cycles: self.end, ..*edge });
    }
    fn uart(&mut self, port: &str, byte: u8, cycles: u64) {
        self.observer.uart(port, byte, cycles);
    }
}

impl Avr {
    /// The horizon is the cycle count at which the loop looks up from the instructions.
    pub(super) fn look_up(&mut self) {
        self.horizon = 0;
    }

    fn report<E: Eye>(&self, eye: &mut E, at: Place, address: u32, value: u64, kind: AccessKind, size: u8) {
        let pc = u32::from(at.pc) * 2;
        eye.access(&Access { pc, address, size, kind, value, cycles: at.cycles });
    }

    /// Keeps a fault for the end of the run.
    #[cold]
    pub(super) fn give_up<T>(&mut self, fault: Fault) -> Result<T, Leave> {
        self.fault = Some(fault);
        Err(Leave)
    }

    pub(super) fn kept<T>(&mut self, result: Result<T, Fault>) -> Result<T, Leave> {
        result.or_else(|fault| self.give_up(fault))
    }

    #[inline(always)]
    pub(super) fn load<E: Eye>(&mut self, address: u16, at: Place, eye: &mut E) -> Result<u8, Leave> {
        let value = if self.state.is_ram(address) {
            self.state.data[usize::from(address)]
        } else if E::FAST {
            return Err(Leave);
        } else {
            let value = self.load_register(address, at, eye);
            self.kept(value)?
        };
        if E::OPEN {
            self.report(eye, at, 0x80_0000 + u32::from(address), value.into(), AccessKind::Read, 1);
        }
        Ok(value)
    }

    #[inline(always)]
    pub(super) fn store<E: Eye>(
        &mut self,
        address: u16,
        value: u8,
        at: Place,
        length: u64,
        eye: &mut E,
    ) -> Result<(), Leave> {
        if self.state.is_ram(address) {
            self.state.data[usize::from(address)] = value;
        } else if E::FAST {
            return Err(Leave);
        } else {
            let done = self.store_register(address, value, at, length, eye);
            self.kept(done)?;
        }
        if E::OPEN {
            self.report(eye, at, 0x80_0000 + u32::from(address), value.into(), AccessKind::Write, 1);
        }
        Ok(())
    }

    /// A read below the RAM: working registers, the core's registers, peripherals.
    #[inline(never)]
    fn load_register<E: Eye>(&mut self, address: u16, at: Place, eye: &mut E) -> Result<u8, Fault> {
        match address {
            0..0x20 => Ok(self.state.data[usize::from(address)]),
            SREG => Ok(self.state.flags.to_byte()),
            SPL => Ok(self.state.sp as u8),
            SPH => Ok((self.state.sp >> 8) as u8),
            RAMPZ if self.extended => Ok(self.state.rampz),
            _ if address >= self.state.ram_start => Err(unmapped(at.pc, address, "read")),
            _ => {
                self.look_up();
                let pc = u32::from(at.pc) * 2;
                let value = self.bus.read(address.into(), 1, at.cycles, pc, eye.observer())?;
                Ok(value as u8)
            }
        }
    }

    /// A write below the RAM; `length` is the instruction's cycles.
    #[inline(never)]
    fn store_register<E: Eye>(
        &mut self,
        address: u16,
        value: u8,
        at: Place,
        length: u64,
        eye: &mut E,
    ) -> Result<(), Fault> {
        match address {
            0..0x20 => self.state.data[usize::from(address)] = value,
            SREG => {
                let before = self.state.flags.i;
                self.state.flags = Flags::from_byte(value);
                self.interrupts_changed(before);
            }
            SPL => self.state.sp = self.state.sp & 0xFF00 | u16::from(value),
            SPH => self.state.sp = self.state.sp & 0x00FF | u16::from(value) << 8,
            // ATmega128 data sheet 2467, "RAM Page Z Select Register": bit 0 alone exists.
            RAMPZ if self.extended => self.state.rampz = value & 1,
            _ if address >= self.state.ram_start => return Err(unmapped(at.pc, address, "write")),
            _ => {
                self.look_up();
                let pc = u32::from(at.pc) * 2;
                let end = at.cycles + length;
                let value = value.into();
                match eye.observer() {
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

    /// `SBI` and `CBI`, to whom flags that are cleared by writing ones are something else than to a store.
    pub(super) fn write_bit<E: Eye>(
        &mut self,
        address: u16,
        bit: u8,
        on: bool,
        at: Place,
        eye: &mut E,
    ) -> Result<(), Leave> {
        if E::FAST {
            return Err(Leave);
        }
        self.look_up();
        let pc = u32::from(at.pc) * 2;
        let address32 = u32::from(address);
        let done = match eye.observer() {
            None => self.bus.write_bit(address32, bit, on, at.cycles, pc, None),
            Some(observer) => {
                let mut at_end = AtEnd { observer, end: at.cycles + timing::IO_BIT };
                self.bus.write_bit(address32, bit, on, at.cycles, pc, Some(&mut at_end))
            }
        };
        self.kept(done)?;
        if E::OPEN {
            self.report(eye, at, 0x80_0000 + address32, on.into(), AccessKind::Write, 1);
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn push<E: Eye>(
        &mut self,
        value: u8,
        at: Place,
        length: u64,
        eye: &mut E,
    ) -> Result<(), Leave> {
        self.store(self.state.sp, value, at, length, eye)?;
        self.state.sp = self.state.sp.wrapping_sub(1);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn push_address<E: Eye>(
        &mut self,
        address: u16,
        at: Place,
        length: u64,
        eye: &mut E,
    ) -> Result<(), Leave> {
        let [low, high] = address.to_le_bytes();
        let sp = self.state.sp;
        self.store(sp, low, at, length, eye)?;
        self.store(sp.wrapping_sub(1), high, at, length, eye)?;
        self.state.sp = sp.wrapping_sub(2);
        Ok(())
    }

    #[inline(always)]
    pub(super) fn pop_address<E: Eye>(&mut self, at: Place, eye: &mut E) -> Result<u16, Leave> {
        let sp = self.state.sp;
        let high = self.load(sp.wrapping_add(1), at, eye)?;
        let low = self.load(sp.wrapping_add(2), at, eye)?;
        self.state.sp = sp.wrapping_add(2);
        Ok(u16::from_le_bytes([low, high]))
    }

    #[inline(always)]
    pub(super) fn load_program<E: Eye>(&mut self, address: u32, at: Place, eye: &mut E) -> Result<u8, Leave> {
        let Some(&value) = self.flash.get(address as usize) else {
            if E::FAST {
                return Err(Leave);
            }
            return self.give_up(Fault::Unmapped {
                pc: u32::from(at.pc) * 2,
                address,
                size: 1,
                kind: "read",
            });
        };
        if E::OPEN {
            self.report(eye, at, address, value.into(), AccessKind::Read, 1);
        }
        Ok(value)
    }

    /// The I flag may have changed. Where it was set, one more instruction comes before any interrupt (DS40002198,
    /// `SEI`).
    pub(super) fn interrupts_changed(&mut self, before: bool) {
        if self.state.flags.i && !before {
            self.delay = true;
        }
        self.look_up();
    }

    /// The word at `pc` is no instruction of this part.
    pub(super) fn no_such_instruction<T>(&mut self, pc: u16) -> Result<T, Leave> {
        let at = usize::from(pc) * 2;
        let bytes = self.flash[at..at + 2].to_vec();
        self.give_up(Fault::Opcode { pc: at as u32, bytes })
    }

    /// `WDR` reaches the watchdog as a write to an address beyond the data space.
    pub(super) fn reset_watchdog<E: Eye>(&mut self, at: Place, eye: &mut E) -> Result<(), Leave> {
        if self.bus.claims(WATCHDOG_RESET) {
            let pc = u32::from(at.pc) * 2;
            let done = self.bus.write(WATCHDOG_RESET, 1, 0, at.cycles, pc, eye.observer());
            self.kept(done)?;
            self.look_up();
        }
        Ok(())
    }
}
