//! The registers and the data spaces of one microcontroller of the family.

use super::memory::{EXTERNAL, INTERNAL, Memory, SPECIAL};
use super::timing::CYCLES;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, Flow, Observer, PeripheralBus};

/// Carry, PSW.7.
pub const CY: u8 = 0x80;
/// Auxiliary carry, PSW.6.
pub const AC: u8 = 0x40;
/// Register bank, PSW.4 and PSW.3; as a number it is the address of the bank's R0.
pub const BANK: u8 = 0x18;
/// Overflow, PSW.2.
pub const OV: u8 = 0x04;
/// Parity of the accumulator, PSW.0: follows it always, whatever is written.
pub const P: u8 = 0x01;

/// Direct addresses of the registers that belong to the core.
const SP: u8 = 0x81;
const DPL: u8 = 0x82;
const DPH: u8 = 0x83;
const PSW: u8 = 0xd0;
const ACC: u8 = 0xe0;
const B: u8 = 0xf0;
/// The port that puts out the high half of the address of `MOVX @Ri`.
const P2: u8 = 0xa0;

/// What of a port an instruction reads ("Read-Modify-Write Feature").
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// The levels of its pins.
    Pins,
    /// Its latch: the instruction will write it back.
    Latch,
}

/// Core, memories, peripherals.
#[derive(Clone)]
pub struct State {
    /// The accumulator.
    pub a: u8,
    /// The B register.
    pub b: u8,
    /// The program status word without [`P`].
    pub psw: u8,
    /// The stack pointer: the last byte pushed.
    pub sp: u8,
    /// The data pointer.
    pub dptr: u16,
    /// The program counter.
    pub pc: u16,
    /// Machine cycles since reset.
    pub cycles: u64,
    /// Instructions since reset.
    pub instructions: u64,
    /// How execution came to the next instruction, kept for observers.
    pub flow: Flow,
    /// Memories.
    pub memory: Memory,
    /// Peripherals.
    pub bus: PeripheralBus,
}

impl State {
    /// The program status word with the parity.
    #[inline(always)]
    pub fn psw(&self) -> u8 {
        self.psw | (self.a.count_ones() & 1) as u8
    }

    /// The carry as 0 or 1.
    #[inline(always)]
    pub fn carry(&self) -> u8 {
        self.psw >> 7
    }

    /// Sets a flag of the program status word.
    #[inline(always)]
    pub fn flag(&mut self, mask: u8, on: bool) {
        self.psw = self.psw & !mask | if on { mask } else { 0 };
    }

    /// `R0` to `R7` of the current bank.
    #[inline(always)]
    pub fn register(&self, number: u8) -> u8 {
        self.memory.internal(self.psw & BANK | number)
    }

    /// Writes `R0` to `R7` of the current bank.
    #[inline(always)]
    pub fn set_register(&mut self, number: u8, value: u8) {
        self.memory.set_internal(self.psw & BANK | number, value);
    }

    /// Tells the observer of an access of one byte.
    #[inline(always)]
    pub fn tell<O: Observer>(&self, observer: &mut O, pc: u16, address: u32, kind: AccessKind, value: u8) {
        if O::enabled()
            && let Some(observer) = dynamic(observer)
        {
            let access =
                Access { pc: pc.into(), address, size: 1, kind, value: value.into(), cycles: self.cycles };
            observer.access(&access);
        }
    }

    /// A read of the internal RAM by an indirect address.
    #[inline(always)]
    pub fn read_indirect<O: Observer>(&self, observer: &mut O, pc: u16, address: u8) -> Result<u8, Fault> {
        if !self.memory.has_internal(address) {
            return Err(beyond(pc, address, "read"));
        }
        let value = self.memory.internal(address);
        self.tell(observer, pc, INTERNAL + u32::from(address), AccessKind::Read, value);
        Ok(value)
    }

    /// A write of the internal RAM by an indirect address.
    #[inline(always)]
    pub fn write_indirect<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u8,
        value: u8,
    ) -> Result<(), Fault> {
        if !self.memory.has_internal(address) {
            return Err(beyond(pc, address, "write"));
        }
        self.memory.set_internal(address, value);
        self.tell(observer, pc, INTERNAL + u32::from(address), AccessKind::Write, value);
        Ok(())
    }

    /// A read by a direct address: internal RAM below 0x80, special function registers above.
    #[inline(always)]
    pub fn read_direct<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u8,
        port: Port,
    ) -> Result<u8, Fault> {
        if address < 0x80 {
            let value = self.memory.internal(address);
            self.tell(observer, pc, INTERNAL + u32::from(address), AccessKind::Read, value);
            return Ok(value);
        }
        self.read_special(observer, pc, address, port)
    }

    fn read_special<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u8,
        port: Port,
    ) -> Result<u8, Fault> {
        let value = match self.read_core(address) {
            Some(value) => value,
            None => self.read_peripheral(observer, pc, address, port)?,
        };
        self.tell(observer, pc, SPECIAL + u32::from(address), AccessKind::Read, value);
        Ok(value)
    }

    /// A write by a direct address.
    #[inline(always)]
    pub fn write_direct<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u8,
        value: u8,
    ) -> Result<(), Fault> {
        if address < 0x80 {
            self.memory.set_internal(address, value);
            self.tell(observer, pc, INTERNAL + u32::from(address), AccessKind::Write, value);
            return Ok(());
        }
        self.write_special(observer, pc, address, value)
    }

    fn write_special<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u8,
        value: u8,
    ) -> Result<(), Fault> {
        if !self.write_core(address, value) {
            let now = self.end(pc);
            let register = SPECIAL + u32::from(address);
            self.bus.write(register, 1, value.into(), now, pc.into(), dynamic(observer))?;
        }
        self.tell(observer, pc, SPECIAL + u32::from(address), AccessKind::Write, value);
        Ok(())
    }

    /// A register of the core, if there is one at that direct address.
    fn read_core(&self, address: u8) -> Option<u8> {
        Some(match address {
            ACC => self.a,
            B => self.b,
            PSW => self.psw(),
            SP => self.sp,
            DPL => self.dptr as u8,
            DPH => (self.dptr >> 8) as u8,
            _ => return None,
        })
    }

    /// Writes a register of the core; false where there is none at that direct address.
    fn write_core(&mut self, address: u8, value: u8) -> bool {
        match address {
            ACC => self.a = value,
            B => self.b = value,
            PSW => self.psw = value & !P,
            SP => self.sp = value,
            DPL => self.dptr = self.dptr & 0xff00 | u16::from(value),
            DPH => self.dptr = self.dptr & 0x00ff | u16::from(value) << 8,
            _ => return false,
        }
        true
    }

    /// Registers of the core as a debugger sees them, from a direct address on; false where one is none.
    pub fn peek_special(&self, address: u32, bytes: &mut [u8]) -> bool {
        let core = |address: u32| u8::try_from(address).ok().and_then(|address| self.read_core(address));
        let there = (0..bytes.len() as u32).all(|offset| core(address + offset).is_some());
        for (offset, byte) in bytes.iter_mut().enumerate().filter(|_| there) {
            *byte = core(address + offset as u32).unwrap_or_default();
        }
        there
    }

    /// As [`State::peek_special`], to be written.
    pub fn poke_special(&mut self, address: u32, bytes: &[u8]) -> bool {
        let mut before = vec![0; bytes.len()];
        let there = self.peek_special(address, &mut before);
        for (offset, byte) in bytes.iter().enumerate().filter(|_| there) {
            self.write_core((address + offset as u32) as u8, *byte);
        }
        there
    }

    /// A bit by its bit address; the access is that of its byte.
    #[inline(always)]
    pub fn read_bit<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        bit: u8,
        port: Port,
    ) -> Result<bool, Fault> {
        let byte = self.read_direct(observer, pc, byte_of_bit(bit), port)?;
        Ok(byte >> (bit & 7) & 1 != 0)
    }

    /// Writes a bit by its bit address: its byte is read and written.
    #[inline(always)]
    pub fn write_bit<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        bit: u8,
        on: bool,
    ) -> Result<(), Fault> {
        let address = byte_of_bit(bit);
        let byte = self.read_direct(observer, pc, address, Port::Latch)?;
        let byte = byte & !(1 << (bit & 7)) | u8::from(on) << (bit & 7);
        self.write_direct(observer, pc, address, byte)
    }

    #[inline(never)]
    fn read_peripheral<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u8,
        port: Port,
    ) -> Result<u8, Fault> {
        let (now, register) = (self.end(pc), SPECIAL + u32::from(address));
        let value = match port {
            Port::Pins => self.bus.read(register, 1, now, pc.into(), dynamic(observer))?,
            Port::Latch => self.bus.read_latch(register, 1, now, pc.into(), dynamic(observer))?,
        };
        Ok(value as u8)
    }

    /// The cycle at which the instruction at `pc` ends.
    fn end(&self, pc: u16) -> u64 {
        self.cycles + u64::from(CYCLES[usize::from(self.memory.code(pc))])
    }

    /// A read of the external RAM.
    #[inline(always)]
    pub fn read_external<O: Observer>(&self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        let Some(value) = self.memory.external(address) else {
            return Err(unmapped(pc, EXTERNAL + u32::from(address), "read"));
        };
        self.tell(observer, pc, EXTERNAL + u32::from(address), AccessKind::Read, value);
        Ok(value)
    }

    /// A write of the external RAM.
    #[inline(always)]
    pub fn write_external<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u8,
    ) -> Result<(), Fault> {
        let Some(byte) = self.memory.external_mut(address) else {
            return Err(unmapped(pc, EXTERNAL + u32::from(address), "write"));
        };
        *byte = value;
        self.tell(observer, pc, EXTERNAL + u32::from(address), AccessKind::Write, value);
        Ok(())
    }

    /// The address of `MOVX @Ri`: port 2's latch above, the register below ("Accessing External Memory").
    pub fn paged<O: Observer>(&mut self, observer: &mut O, pc: u16, low: u8) -> Result<u16, Fault> {
        let high = self.read_peripheral(observer, pc, P2, Port::Latch)?;
        Ok(u16::from_be_bytes([high, low]))
    }

    /// A read of the program memory as data.
    #[inline(always)]
    pub fn read_code<O: Observer>(&self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        if !self.memory.has_code(address) {
            return Err(unmapped(pc, address.into(), "read"));
        }
        let value = self.memory.code(address);
        self.tell(observer, pc, address.into(), AccessKind::Read, value);
        Ok(value)
    }

    /// A fault where the internal RAM does not reach up to an address to be written.
    #[inline(always)]
    pub fn require_internal(&self, pc: u16, address: u8) -> Result<(), Fault> {
        if self.memory.has_internal(address) { Ok(()) } else { Err(beyond(pc, address, "write")) }
    }

    /// Pushes a byte: the stack grows upward, its pointer counts first.
    #[inline(always)]
    pub fn push<O: Observer>(&mut self, observer: &mut O, pc: u16, value: u8) -> Result<(), Fault> {
        let sp = self.sp.wrapping_add(1);
        self.write_indirect(observer, pc, sp, value)?;
        self.sp = sp;
        Ok(())
    }

    /// Pops a byte.
    #[inline(always)]
    pub fn pop<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<u8, Fault> {
        let value = self.read_indirect(observer, pc, self.sp)?;
        self.sp = self.sp.wrapping_sub(1);
        Ok(value)
    }
}

/// The direct address of the byte that a bit address lies in: 0x20 to 0x2f, then every eighth special function register.
#[inline(always)]
fn byte_of_bit(bit: u8) -> u8 {
    if bit < 0x80 { 0x20 + (bit >> 3) } else { bit & 0xf8 }
}

#[cold]
fn unmapped(pc: u16, address: u32, kind: &'static str) -> Fault {
    Fault::Unmapped { pc: pc.into(), address, size: 1, kind }
}

#[cold]
fn beyond(pc: u16, address: u8, kind: &'static str) -> Fault {
    unmapped(pc, INTERNAL + u32::from(address), kind)
}
