//! Reads and writes of the memories and the special function registers, and the stack.

use super::super::memory::{EXTERNAL, INTERNAL, SPECIAL};
use super::super::registers::{Mcs51, P2, Port};
use super::super::timing::CYCLES;
use crate::machine::Machine;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, Observer};

impl Machine<Mcs51> {
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
        if !self.core.memory.has_internal(address) {
            return Err(beyond(pc, address, "read"));
        }
        let value = self.core.memory.internal(address);
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
        if !self.core.memory.has_internal(address) {
            return Err(beyond(pc, address, "write"));
        }
        self.core.memory.set_internal(address, value);
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
            let value = self.core.memory.internal(address);
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
        let value = match self.core.read_core(address) {
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
            self.core.memory.set_internal(address, value);
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
        if !self.core.write_core(address, value) {
            let now = self.end(pc);
            let register = SPECIAL + u32::from(address);
            self.bus.write(register, 1, value.into(), now, pc.into(), dynamic(observer))?;
        }
        self.tell(observer, pc, SPECIAL + u32::from(address), AccessKind::Write, value);
        Ok(())
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
        self.cycles + u64::from(CYCLES[usize::from(self.core.memory.code(pc))])
    }

    /// A read of the external RAM.
    #[inline(always)]
    pub fn read_external<O: Observer>(&self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        let Some(value) = self.core.memory.external(address) else {
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
        let Some(byte) = self.core.memory.external_mut(address) else {
            return Err(unmapped(pc, EXTERNAL + u32::from(address), "write"));
        };
        *byte = value;
        self.tell(observer, pc, EXTERNAL + u32::from(address), AccessKind::Write, value);
        Ok(())
    }

    /// The address of `MOVX @Ri`: port 2's latch above, the register below ("Accessing External
    /// Memory").
    pub fn paged<O: Observer>(&mut self, observer: &mut O, pc: u16, low: u8) -> Result<u16, Fault> {
        let high = self.read_peripheral(observer, pc, P2, Port::Latch)?;
        Ok(u16::from_be_bytes([high, low]))
    }

    /// A read of the program memory as data.
    #[inline(always)]
    pub fn read_code<O: Observer>(&self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        if !self.core.memory.has_code(address) {
            return Err(unmapped(pc, address.into(), "read"));
        }
        let value = self.core.memory.code(address);
        self.tell(observer, pc, address.into(), AccessKind::Read, value);
        Ok(value)
    }

    /// A fault where the internal RAM does not reach up to an address to be written.
    #[inline(always)]
    pub fn require_internal(&self, pc: u16, address: u8) -> Result<(), Fault> {
        if self.core.memory.has_internal(address) { Ok(()) } else { Err(beyond(pc, address, "write")) }
    }

    /// Pushes a byte: the stack grows upward, its pointer counts first.
    #[inline(always)]
    pub fn push<O: Observer>(&mut self, observer: &mut O, pc: u16, value: u8) -> Result<(), Fault> {
        let sp = self.core.sp.wrapping_add(1);
        self.write_indirect(observer, pc, sp, value)?;
        self.core.sp = sp;
        Ok(())
    }

    /// Pops a byte.
    #[inline(always)]
    pub fn pop<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<u8, Fault> {
        let value = self.read_indirect(observer, pc, self.core.sp)?;
        self.core.sp = self.core.sp.wrapping_sub(1);
        Ok(value)
    }
}

/// The direct address of the byte that a bit address lies in: 0x20 to 0x2f, then every eighth
/// special function register.
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
