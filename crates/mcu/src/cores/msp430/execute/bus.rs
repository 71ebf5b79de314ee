//! Reads and writes of memory and registers: by instructions, and by the DMA controller.

use super::super::op::Width;
use super::super::registers::{ADDRESS_MASK, Msp430, PC};
use crate::machine::Machine;
use crate::memory::Page;
use crate::observe::dynamic;
use crate::{Access, AccessKind, BusAccess, Fault, FlashStore, Observer, ProtectedMemory};

/// Name of an access to a word at an odd address, as a tolerated mistake.
const ODD_WORD: &str = "a word access at an odd address";

impl Machine<Msp430> {
    /// Reads an operand at `address`, the first of its words in bus cycle `cycle` (from 1) of the
    /// instruction.
    #[inline(always)]
    pub fn read<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        width: Width,
        cycle: u8,
    ) -> Result<u32, Fault> {
        let address = address & ADDRESS_MASK;
        let value = match width {
            Width::Byte => self.read_bus(observer, pc, address, 1, cycle)?,
            Width::Word => self.read_bus(observer, pc, address, 2, cycle)?,
            Width::Address => {
                let low = self.read_bus(observer, pc, address, 2, cycle)?;
                let high = self.read_bus(observer, pc, (address + 2) & ADDRESS_MASK, 2, cycle + 1)?;
                low | (high & 15) << 16
            }
        };
        if O::enabled() {
            self.tell(observer, pc, address, width, AccessKind::Read, value);
        }
        Ok(value)
    }

    /// Writes an operand at `address`, the last of its words in bus cycle `cycle` (from 1) of the
    /// instruction.
    #[inline(always)]
    pub fn write<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        width: Width,
        value: u32,
        cycle: u8,
    ) -> Result<(), Fault> {
        let address = address & ADDRESS_MASK;
        match width {
            Width::Byte => self.write_bus(observer, pc, address, 1, value & 0xff, cycle)?,
            Width::Word => self.write_bus(observer, pc, address, 2, value & 0xffff, cycle)?,
            Width::Address => {
                self.write_bus(observer, pc, address, 2, value & 0xffff, cycle - 1)?;
                self.write_bus(observer, pc, (address + 2) & ADDRESS_MASK, 2, value >> 16 & 15, cycle)?;
            }
        }
        if O::enabled() {
            self.tell(observer, pc, address, width, AccessKind::Write, value);
        }
        Ok(())
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
        if O::enabled() {
            let size = 1 << width as u8;
            observer.access(&Access {
                pc,
                address,
                size,
                kind,
                value: u64::from(value),
                cycles: self.cycles,
            });
        }
    }

    #[inline(always)]
    fn read_bus<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        cycle: u8,
    ) -> Result<u32, Fault> {
        let address = if size == 2 && address & 1 != 0 { self.rounded_down(pc, address)? } else { address };
        if self.core.memory.page(address) < Page::Ram {
            return self.read_elsewhere(observer, pc, address, size, cycle);
        }
        Ok(if size == 1 { self.core.memory.byte(address) } else { self.core.memory.word(address) })
    }

    #[inline(always)]
    fn write_bus<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        value: u32,
        cycle: u8,
    ) -> Result<(), Fault> {
        let address = if size == 2 && address & 1 != 0 { self.rounded_down(pc, address)? } else { address };
        if self.core.memory.page(address) != Page::Ram {
            return self.write_elsewhere(observer, pc, address, size, value, cycle);
        }
        self.core.program.written(address);
        if size == 1 {
            self.core.memory.set_byte(address, value);
        } else {
            self.core.memory.set_word(address, value);
        }
        Ok(())
    }

    /// A word at an odd address: the part takes the even one below (tried on an MSP430FR5994,
    /// Ghidra's pull request 4120).
    #[cold]
    #[inline(never)]
    fn rounded_down(&mut self, pc: u32, address: u32) -> Result<u32, Fault> {
        if self.bus.events.tolerate(ODD_WORD) {
            return Ok(address & !1);
        }
        Err(Fault::Architecture { pc, address, what: ODD_WORD.into() })
    }

    #[inline(never)]
    fn read_elsewhere<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        cycle: u8,
    ) -> Result<u32, Fault> {
        if self.core.memory.page(address) == Page::Fram {
            self.cycles += u64::from(self.core.fram.read(address, self.bus.events.flash.wait_states));
            let memory = &self.core.memory;
            return Ok(if size == 1 { memory.byte(address) } else { memory.word(address) });
        }
        let now = self.cycles + u64::from(cycle);
        let value = self.bus.read(address, size, now, pc, dynamic(observer))?;
        // A read may change what is requested.
        self.recheck_peripherals();
        Ok(value)
    }

    /// Returns true if a write into FRAM is left out; the unit that protects it is told.
    #[cold]
    fn is_protected(&mut self, address: u32, pc: u32, cycle: u8) -> Result<bool, Fault> {
        let protected = self.bus.events.protected.iter().find(|memory| memory.range.contains(&address));
        let Some(&ProtectedMemory { segment, resets, .. }) = protected else { return Ok(false) };
        if resets {
            let what =
                "a write into protected memory (MPUSEGxVS) resets the part, which is not modelled".into();
            return Err(Fault::Architecture { pc, address, what });
        }
        self.bus.violate(segment, self.cycles + u64::from(cycle), pc);
        self.recheck_peripherals();
        Ok(true)
    }

    #[inline(never)]
    fn write_elsewhere<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        value: u32,
        cycle: u8,
    ) -> Result<(), Fault> {
        if self.core.memory.page(address) == Page::Fram {
            self.cycles += u64::from(self.bus.events.flash.wait_states);
            if !self.bus.events.protected.is_empty() && self.is_protected(address, pc, cycle)? {
                return Ok(());
            }
            self.core.program.changed(address, size.into());
            if size == 1 {
                self.core.memory.set_byte(address, value);
            } else {
                self.core.memory.set_word(address, value);
            }
            return Ok(());
        }
        let now = self.cycles + u64::from(cycle);
        if self.core.memory.page(address) == Page::Flash {
            self.recheck();
            let from_flash = self.core.memory.page(pc) == Page::Flash;
            let before = self.held(address, size);
            let store = FlashStore { pc, from_flash, address, size, value, before };
            let change = self.bus.flash_store(&store, now, dynamic(observer))?;
            self.change_flash(change);
            return Ok(());
        }
        self.bus.write(address, size, value, now, pc, dynamic(observer))?;
        self.recheck_peripherals();
        Ok(())
    }
}

impl Machine<Msp430> {
    /// An access by the DMA controller. FRAM waits for it as for the core.
    #[cold]
    pub fn access_memory(&mut self, access: &BusAccess) -> Result<Option<u32>, Fault> {
        let &BusAccess { address, size, value, .. } = access;
        let pc = self.core.registers[PC];
        let page = self.core.memory.page(address);
        let kind = if value.is_some() { "write" } else { "read" };
        match (page, value) {
            (Page::Other, _) => return Err(Fault::Unmapped { pc, address, size, kind }),
            (Page::Flash, Some(_)) => {
                let what = "a write to flash by the DMA controller is not modelled".into();
                return Err(Fault::Architecture { pc, address, what });
            }
            (Page::Fram, Some(_))
                if self.bus.events.protected.iter().any(|memory| memory.range.contains(&address)) =>
            {
                let what = "a write into protected memory by the DMA controller is not modelled".into();
                return Err(Fault::Architecture { pc, address, what });
            }
            (Page::Fram, Some(_)) => self.bus.stall += u64::from(self.bus.events.flash.wait_states),
            (Page::Fram, None) => {
                self.bus.stall += u64::from(self.core.fram.read(address, self.bus.events.flash.wait_states));
            }
            _ => {}
        }
        let memory = &mut self.core.memory;
        let Some(value) = value else {
            return Ok(Some(if size == 1 { memory.byte(address) } else { memory.word(address) }));
        };
        if size == 1 {
            memory.set_byte(address, value);
        } else {
            memory.set_word(address, value);
        }
        self.core.program.changed(address, size.into());
        Ok(Some(value))
    }
}
