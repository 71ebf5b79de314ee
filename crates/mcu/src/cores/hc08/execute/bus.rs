//! Reads and writes of memory and registers, and the stack.

use super::super::registers::Hc08;
use crate::machine::Machine;
use crate::memory::Page;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, Observer};

impl Machine<Hc08> {
    /// Reads the byte at `address`.
    #[inline(always)]
    pub fn read<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        let value = self.read_bus(observer, pc, address)?;
        if O::enabled() {
            self.tell(observer, pc, address, 1, AccessKind::Read, value.into());
        }
        Ok(value)
    }

    /// Reads the word at `address`, high byte first.
    #[inline(always)]
    pub fn read_word<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u16) -> Result<u16, Fault> {
        let high = self.read_bus(observer, pc, address)?;
        let low = self.read_bus(observer, pc, address.wrapping_add(1))?;
        let value = u16::from_be_bytes([high, low]);
        if O::enabled() {
            self.tell(observer, pc, address, 2, AccessKind::Read, value);
        }
        Ok(value)
    }

    /// Writes the byte at `address`.
    #[inline(always)]
    pub fn write<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u8,
    ) -> Result<(), Fault> {
        self.write_bus(observer, pc, address, value)?;
        if O::enabled() {
            self.tell(observer, pc, address, 1, AccessKind::Write, value.into());
        }
        Ok(())
    }

    /// Writes the word at `address`, high byte first.
    pub fn write_word<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u16,
    ) -> Result<(), Fault> {
        let [high, low] = value.to_be_bytes();
        self.write_bus(observer, pc, address, high)?;
        self.write_bus(observer, pc, address.wrapping_add(1), low)?;
        if O::enabled() {
            self.tell(observer, pc, address, 2, AccessKind::Write, value);
        }
        Ok(())
    }

    /// Pushes a byte.
    #[inline(always)]
    pub fn push<O: Observer>(&mut self, observer: &mut O, pc: u16, value: u8) -> Result<(), Fault> {
        self.write(observer, pc, self.core.sp, value)?;
        self.core.sp = self.core.sp.wrapping_sub(1);
        Ok(())
    }

    /// Pushes a word, low byte first, so that it stands in memory high byte first.
    pub fn push_word<O: Observer>(&mut self, observer: &mut O, pc: u16, value: u16) -> Result<(), Fault> {
        self.write_word(observer, pc, self.core.sp.wrapping_sub(1), value)?;
        self.core.sp = self.core.sp.wrapping_sub(2);
        Ok(())
    }

    /// Pulls a byte.
    pub fn pull<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<u8, Fault> {
        let value = self.read(observer, pc, self.core.sp.wrapping_add(1))?;
        self.core.sp = self.core.sp.wrapping_add(1);
        Ok(value)
    }

    /// Pulls a word.
    pub fn pull_word<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<u16, Fault> {
        let value = self.read_word(observer, pc, self.core.sp.wrapping_add(1))?;
        self.core.sp = self.core.sp.wrapping_add(2);
        Ok(value)
    }

    fn tell<O: Observer>(
        &self,
        observer: &mut O,
        pc: u16,
        address: u16,
        size: u8,
        kind: AccessKind,
        value: u16,
    ) {
        if let Some(observer) = dynamic(observer) {
            observer.access(&Access {
                pc: pc.into(),
                address: address.into(),
                size,
                kind,
                value: value.into(),
                cycles: self.cycles,
            });
        }
    }

    #[inline(always)]
    fn read_bus<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        if self.core.memory.page(address.into()) == Page::Other {
            return self.read_peripheral(observer, pc, address);
        }
        Ok(self.core.memory.byte(address.into()) as u8)
    }

    #[inline(always)]
    fn write_bus<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u8,
    ) -> Result<(), Fault> {
        if self.core.memory.page(address.into()) != Page::Ram {
            return self.write_elsewhere(observer, pc, address, value);
        }
        self.core.program.written(address.into());
        self.core.memory.set_byte(address.into(), value.into());
        Ok(())
    }

    #[inline(never)]
    fn read_peripheral<O: Observer>(&mut self, observer: &mut O, pc: u16, address: u16) -> Result<u8, Fault> {
        self.recheck();
        Ok(self.bus.read(address.into(), 1, self.cycles, pc.into(), dynamic(observer))? as u8)
    }

    #[inline(never)]
    fn write_elsewhere<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        address: u16,
        value: u8,
    ) -> Result<(), Fault> {
        if self.core.memory.page(address.into()) == Page::Flash {
            let what = "a write to flash, whose controller is not modelled".into();
            return Err(Fault::Architecture { pc: pc.into(), address: address.into(), what });
        }
        self.recheck();
        self.bus.write(address.into(), 1, value.into(), self.cycles, pc.into(), dynamic(observer))
    }
}
