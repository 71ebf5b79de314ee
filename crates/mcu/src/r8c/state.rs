//! The registers and the bus of one microcontroller of the family.

use super::memory::{Memory, Page};
use super::operation::{Op, Width};
use super::program::Program;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, Flow, Observer, PeripheralBus};

/// Carry.
pub const C: u16 = 0x0001;
/// Debug: single-step interrupts.
pub const D: u16 = 0x0002;
/// Zero.
pub const Z: u16 = 0x0004;
/// Sign.
pub const S: u16 = 0x0008;
/// Register bank 1 is selected.
pub const B: u16 = 0x0010;
/// Overflow.
pub const O: u16 = 0x0020;
/// Interrupts enabled.
pub const I: u16 = 0x0040;
/// The stack pointer is USP.
pub const U: u16 = 0x0080;
/// Processor interrupt priority level.
pub const IPL: u16 = 0x7000;
/// The bits of FLG that exist.
pub const FLG_BITS: u16 = 0x70ff;

/// All ones of an address.
pub const ADDRESS_MASK: u32 = 0xf_ffff;

/// Core, memories, peripherals.
pub struct State {
    /// `R0` to `R3`, `A0`, `A1`, `FB` of the selected bank, and `SB`.
    pub registers: [u16; 8],
    /// `R0` to `R3`, `A0`, `A1`, `FB` of the other bank.
    pub other: [u16; 7],
    /// User stack pointer.
    pub usp: u16,
    /// Interrupt stack pointer.
    pub isp: u16,
    /// Flag register.
    pub flg: u16,
    /// Start of the relocatable vector table, 20 bits.
    pub intb: u32,
    /// Program counter, 20 bits.
    pub pc: u32,
    /// Cycles since reset, at the start of the instruction.
    pub cycles: u64,
    /// Instructions since reset.
    pub instructions: u64,
    /// The cycle from which an instruction boundary must be looked at more closely.
    pub horizon: u64,
    /// How execution came to the next instruction, kept for observers.
    pub flow: Flow,
    /// Memories.
    pub memory: Memory,
    /// Decoded instructions.
    pub program: Program,
    /// Peripherals.
    pub bus: PeripheralBus,
}

impl State {
    /// The selected stack pointer.
    #[inline(always)]
    pub fn sp(&self) -> u16 {
        if self.flg & U != 0 { self.usp } else { self.isp }
    }

    /// Sets the selected stack pointer.
    #[inline(always)]
    pub fn set_sp(&mut self, value: u16) {
        if self.flg & U != 0 {
            self.usp = value;
        } else {
            self.isp = value;
        }
    }

    /// Writes FLG as a whole.
    pub fn set_flg(&mut self, value: u16) {
        let value = value & FLG_BITS;
        if (value ^ self.flg) & B != 0 {
            let selected: [u16; 7] = std::array::from_fn(|register| self.registers[register]);
            self.registers[..7].copy_from_slice(&self.other);
            self.other = selected;
        }
        self.flg = value;
        // Single-step interrupts are looked at there.
        self.horizon = 0;
    }

    /// Sets or clears one of the arithmetic flags.
    #[inline(always)]
    pub fn set_flag(&mut self, flag: u16, on: bool) {
        self.flg = self.flg & !flag | if on { flag } else { 0 };
    }

    /// S and Z of a result that is cut to the width.
    #[inline(always)]
    pub fn set_sz(&mut self, width: Width, value: u32) {
        let sign = if value & width.sign() != 0 { S } else { 0 };
        let zero = if value == 0 { Z } else { 0 };
        self.flg = self.flg & !(S | Z) | sign | zero;
    }

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
        let sp = self.sp().wrapping_sub(width.bytes() as u16);
        self.write(observer, pc, sp.into(), width, value)?;
        self.set_sp(sp);
        Ok(())
    }

    /// Pops a byte or a word.
    #[inline(always)]
    pub fn pop<O: Observer>(&mut self, observer: &mut O, pc: u32, width: Width) -> Result<u32, Fault> {
        let sp = self.sp();
        let value = self.read(observer, pc, sp.into(), width)?;
        self.set_sp(sp.wrapping_add(width.bytes() as u16));
        Ok(value)
    }

    /// Pushes a return address: three bytes.
    #[inline(always)]
    pub fn push_return<O: Observer>(&mut self, observer: &mut O, pc: u32) -> Result<(), Fault> {
        let return_to = self.pc;
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
        if self.memory.page(address) == Page::Other {
            return self.read_peripheral(observer, pc, address);
        }
        Ok(self.memory.byte(address))
    }

    #[inline(always)]
    fn write_byte<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        value: u32,
    ) -> Result<(), Fault> {
        if self.memory.page(address) != Page::Ram {
            return self.write_elsewhere(observer, pc, address, value);
        }
        self.program.written(address);
        self.memory.set_byte(address, value);
        Ok(())
    }

    #[inline(never)]
    fn read_peripheral<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
    ) -> Result<u32, Fault> {
        self.horizon = 0;
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
        if self.memory.page(address) == Page::Flash {
            let what = "a write to flash, whose controller is not modelled".into();
            return Err(Fault::Architecture { pc, address, what });
        }
        self.horizon = 0;
        self.bus.write(address, 1, value, self.cycles, pc, dynamic(observer))
    }

    /// Executes `op`, which stands at `pc`.
    #[inline(always)]
    pub fn step<O: Observer>(&mut self, observer: &mut O, pc: u32, op: Op) -> Result<(), Fault> {
        self.pc = (pc + u32::from(op.length)) & ADDRESS_MASK;
        if let Err(fault) = self.execute(observer, pc, &op) {
            self.pc = pc;
            return Err(fault);
        }
        self.cycles += u64::from(op.cycles);
        self.instructions += 1;
        Ok(())
    }
}
