//! The registers and the buses of one microcontroller of the family.

use super::decode::Width;
use super::flash::Torn;
use super::memory::{Memory, Page};
use super::power::{Supply, Usage};
use super::program::Program;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, FlashStore, Flow, Observer, PeripheralBus};

/// Index of the program counter.
pub const PC: usize = 0;
/// Index of the stack pointer.
pub const SP: usize = 1;
/// Index of the status register.
pub const SR: usize = 2;

/// Carry.
pub const C: u32 = 0x001;
/// Zero.
pub const Z: u32 = 0x002;
/// Negative.
pub const N: u32 = 0x004;
/// General interrupt enable.
pub const GIE: u32 = 0x008;
/// The core sleeps.
pub const CPUOFF: u32 = 0x010;
/// The oscillators are off.
pub const OSCOFF: u32 = 0x020;
/// System clock generator 0 off.
pub const SCG0: u32 = 0x040;
/// System clock generator 1 off.
pub const SCG1: u32 = 0x080;
/// Overflow.
pub const V: u32 = 0x100;
/// Bits of the status register; 15:9 are reserved.
pub const SR_BITS: u32 = 0x1ff;

/// All ones of an address.
pub const ADDRESS_MASK: u32 = 0xf_ffff;

/// Core, memories, peripherals.
pub struct State {
    /// `R0` to `R15`; `R3` stays 0.
    pub registers: [u32; 16],
    /// Cycles since reset, at the start of the instruction.
    pub cycles: u64,
    /// Where the cycles went.
    pub usage: Usage,
    /// Instructions since reset.
    pub instructions: u64,
    /// The cycle from which an instruction boundary must be looked at more closely: limit, interrupts, sleep.
    pub horizon: u64,
    /// The instruction that set GIE has just executed: the next one does, too, before an interrupt.
    pub interrupt_shadow: bool,
    /// How execution came to the next instruction, kept for observers.
    pub flow: Flow,
    /// Memories.
    pub memory: Memory,
    /// Decoded instructions.
    pub program: Program,
    /// Peripherals.
    pub bus: PeripheralBus,
    /// The core stands still up to this cycle: the flash is busy.
    pub held_until: u64,
    /// What the flash holds if the power fails before that cycle.
    pub torn: Option<Torn>,
    /// What the supply allows.
    pub supply: Supply,
}

impl State {
    /// Writes a register as an instruction does, `value` already cut to the operand's width.
    #[inline(always)]
    pub fn set_register(&mut self, register: usize, value: u32) {
        if register > 3 {
            self.registers[register & 15] = value;
        } else {
            self.set_special(register, value);
        }
    }

    fn set_special(&mut self, register: usize, value: u32) {
        match register {
            // Bit 0 of PC and SP is always 0.
            PC | SP => self.registers[register] = value & ADDRESS_MASK & !1,
            SR => self.set_status(value),
            _ => {}
        }
    }

    /// Writes the whole status register.
    pub fn set_status(&mut self, value: u32) {
        let value = value & SR_BITS;
        if value & GIE & !self.registers[SR] != 0 && value & CPUOFF == 0 {
            self.interrupt_shadow = true;
        }
        self.registers[SR] = value;
        self.horizon = 0;
    }

    /// Reads an operand at `address`, the first of its words in bus cycle `cycle` (from 1) of the instruction.
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

    /// Writes an operand at `address`, the last of its words in bus cycle `cycle` (from 1) of the instruction.
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
        if size == 2 && address & 1 != 0 {
            return Err(misaligned(pc, address));
        }
        if self.memory.page(address) == Page::Other {
            return self.read_peripheral(observer, pc, address, size, cycle);
        }
        Ok(if size == 1 { self.memory.byte(address) } else { self.memory.word(address) })
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
        if size == 2 && address & 1 != 0 {
            return Err(misaligned(pc, address));
        }
        if self.memory.page(address) != Page::Ram {
            return self.write_elsewhere(observer, pc, address, size, value, cycle);
        }
        self.program.written(address);
        if size == 1 {
            self.memory.set_byte(address, value);
        } else {
            self.memory.set_word(address, value);
        }
        Ok(())
    }

    #[inline(never)]
    fn read_peripheral<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        cycle: u8,
    ) -> Result<u32, Fault> {
        let now = self.cycles + u64::from(cycle);
        // A read may change what is requested.
        self.horizon = 0;
        self.bus.read(address, size, now, pc, dynamic(observer))
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
        let now = self.cycles + u64::from(cycle);
        self.horizon = 0;
        if self.memory.page(address) == Page::Flash {
            let from_flash = self.memory.page(pc) == Page::Flash;
            let store = FlashStore { pc, from_flash, address, size, value };
            let change = self.bus.flash_store(&store, now, dynamic(observer))?;
            self.change_flash(change);
            return Ok(());
        }
        self.bus.write(address, size, value, now, pc, dynamic(observer))
    }
}

#[cold]
fn misaligned(pc: u32, address: u32) -> Fault {
    Fault::Architecture { pc, address, what: "a word access at an odd address".into() }
}
