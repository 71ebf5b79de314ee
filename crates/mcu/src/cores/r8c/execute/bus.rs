//! Reads and writes of memory and registers, and the stack.

use super::super::operation::Width;
use super::super::registers::{ADDRESS_MASK, R8c};
use crate::machine::Machine;
use crate::memory::Page;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, Observer};

impl Machine<R8c> {
    /// Reads one byte or word at `address`, 20 bits.
    #[inline(always)]
    pub fn read<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        width: Width,
    ) -> Result<u32, Fault> {
        let mut value = self.read_byte(observer, pc, address)?;
        if width != Width::Byte {
            value |= self.read_byte(observer, pc, address.wrapping_add(1) & ADDRESS_MASK)? << 8;
        }
        if O::enabled() {
            self.tell(observer, pc, address, width, AccessKind::Read, value);
        }
        Ok(value)
    }

    /// Writes one byte or word at `address`, 20 bits.
    #[inline(always)]
    pub fn write<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        width: Width,
        value: u32,
    ) -> Result<(), Fault> {
        self.write_byte(observer, pc, address, value & 0xff)?;
        if width != Width::Byte {
            self.write_byte(observer, pc, address.wrapping_add(1) & ADDRESS_MASK, value >> 8 & 0xff)?;
        }
        if O::enabled() {
            self.tell(observer, pc, address, width, AccessKind::Write, value & width.mask());
        }
        Ok(())
    }

    /// Pushes a byte or a word.
    #[inline(always)]
    pub fn push<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        width: Width,
        value: u32,
    ) -> Result<(), Fault> {
        let sp = self.core.sp().wrapping_sub(width.bytes() as u16);
        self.write(observer, pc, sp.into(), width, value)?;
        self.core.set_sp(sp);
        Ok(())
    }

    /// Pops a byte or a word.
    #[inline(always)]
    pub fn pop<O: Observer>(&mut self, observer: &mut O, pc: u32, width: Width) -> Result<u32, Fault> {
        let sp = self.core.sp();
        let value = self.read(observer, pc, sp.into(), width)?;
        self.core.set_sp(sp.wrapping_add(width.bytes() as u16));
        Ok(value)
    }

    /// Pushes a return address: three bytes.
    #[inline(always)]
    pub fn push_return<O: Observer>(&mut self, observer: &mut O, pc: u32) -> Result<(), Fault> {
        let return_to = self.core.pc;
        self.push(observer, pc, Width::Byte, return_to >> 16)?;
        self.push(observer, pc, Width::Word, return_to & 0xffff)
    }

    /// Pops a return address.
    #[inline(always)]
    pub fn pop_return<O: Observer>(&mut self, observer: &mut O, pc: u32) -> Result<u32, Fault> {
        let low = self.pop(observer, pc, Width::Word)?;
        let high = self.pop(observer, pc, Width::Byte)?;
        Ok((low | high << 16) & ADDRESS_MASK)
    }

    fn tell<O: Observer>(
        &self,
        observer: &mut O,
        pc: u32,
        address: u32,
        width: Width,
        kind: AccessKind,
        value: u32,
    ) {
        if let Some(observer) = dynamic(observer) {
            observer.access(&Access {
                pc,
                address,
                size: width.bytes() as u8,
                kind,
                value: u64::from(value),
                cycles: self.cycles,
            });
        }
    }

    #[inline(always)]
    fn read_byte<O: Observer>(&mut self, observer: &mut O, pc: u32, address: u32) -> Result<u32, Fault> {
        if self.core.memory.page(address) == Page::Other {
            return self.read_peripheral(observer, pc, address);
        }
        Ok(self.core.memory.byte(address))
    }

    #[inline(always)]
    fn write_byte<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        value: u32,
    ) -> Result<(), Fault> {
        if self.core.memory.page(address) != Page::Ram {
            return self.write_elsewhere(observer, pc, address, value);
        }
        self.core.program.written(address);
        self.core.memory.set_byte(address, value);
        Ok(())
    }

    #[inline(never)]
    fn read_peripheral<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
    ) -> Result<u32, Fault> {
        self.recheck();
        self.bus.read(address, 1, self.cycles, pc, dynamic(observer))
    }

    #[inline(never)]
    fn write_elsewhere<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        value: u32,
    ) -> Result<(), Fault> {
        if self.core.memory.page(address) == Page::Flash {
            let what = "a write to flash, whose controller is not modelled".into();
            return Err(Fault::Architecture { pc, address, what });
        }
        self.recheck();
        self.bus.write(address, 1, value, self.cycles, pc, dynamic(observer))
    }
}
