//! The registers, and the memories that the core reads and writes.

use super::decode::decode;
use super::operation::Op;
use super::timing;
use crate::decode_cache::DecodeCache;
use crate::memory::{Memory, Page};
use crate::{Fault, Register, Role};

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

/// The longest instruction in bytes: two opcode bytes, two operands of two bytes, an immediate of
/// two; `LDCTX` has seven.
const LONGEST: u32 = 8;

/// The core with its memories.
#[derive(Clone)]
pub struct R8c {
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
    pub(crate) memory: Memory<20, 8>,
    pub(crate) program: DecodeCache<Op, { 1 << 20 }, 0>,
}

/// The registers by their names: those of the selected bank first, in the order of
/// [`R8c::registers`], then what there is once, then both banks.
pub(crate) const REGISTERS: &[Register] = &[
    Register::new("r0", 16),
    Register::new("r1", 16),
    Register::new("r2", 16),
    Register::new("r3", 16),
    Register::new("a0", 16),
    Register::new("a1", 16),
    Register::new("fb", 16),
    Register::new("sb", 16),
    Register::new("usp", 16),
    Register::new("isp", 16),
    Register::with("sp", 16, Role::StackPointer),
    Register::with("flg", 16, Role::Status),
    Register::new("intb", 20),
    Register::with("pc", 20, Role::ProgramCounter),
    Register::new("bank0.r0", 16),
    Register::new("bank0.r1", 16),
    Register::new("bank0.r2", 16),
    Register::new("bank0.r3", 16),
    Register::new("bank0.a0", 16),
    Register::new("bank0.a1", 16),
    Register::new("bank0.fb", 16),
    Register::new("bank1.r0", 16),
    Register::new("bank1.r1", 16),
    Register::new("bank1.r2", 16),
    Register::new("bank1.r3", 16),
    Register::new("bank1.a0", 16),
    Register::new("bank1.a1", 16),
    Register::new("bank1.fb", 16),
];

impl R8c {
    pub(crate) fn new(memory: Memory<20, 8>) -> R8c {
        R8c {
            registers: [0; 8],
            other: [0; 7],
            usp: 0,
            isp: 0,
            flg: 0,
            intb: 0,
            pc: 0,
            memory,
            program: DecodeCache::new(LONGEST),
        }
    }

    /// One of the registers that both banks have: by the index in [`REGISTERS`] of that of bank 0.
    pub(crate) fn banked(&mut self, index: usize) -> &mut u16 {
        let (bank, number) = (index / 7, index % 7);
        if (bank == 1) == (self.flg & B != 0) { &mut self.registers[number] } else { &mut self.other[number] }
    }

    /// The address that a vector holds: 20 bits.
    pub(crate) fn vector(&self, address: u32) -> u32 {
        let byte = |offset| self.memory.byte(address + offset);
        (byte(0) | byte(1) << 8 | byte(2) << 16) & ADDRESS_MASK
    }

    /// Returns the bytes of the instruction at an address.
    pub(crate) fn instruction_length(&self, address: u32) -> Option<u32> {
        let memory = &self.memory;
        let fetch = |address| (memory.page(address) != Page::Other).then(|| memory.byte(address) as u8);
        Some(decode(address & ADDRESS_MASK, fetch)?.op.length.into())
    }

    /// Sees to it that the instruction at `pc` is decoded; false for a breakpoint, which
    /// `ignore_breakpoint` passes.
    #[cold]
    pub(crate) fn find(&mut self, pc: u32, ignore_breakpoint: bool) -> Result<bool, Fault> {
        let memory = &self.memory;
        self.program.find(pc, ignore_breakpoint, || {
            let fetch = |address| (memory.page(address) != Page::Other).then(|| memory.byte(address) as u8);
            if fetch(pc).is_none() {
                return Err(Fault::Unmapped { pc, address: pc, size: 1, kind: "fetch" });
            }
            let Some(decoded) = decode(pc, fetch) else {
                let bytes = (0..4).map(|offset| memory.byte(pc + offset) as u8).collect();
                return Err(Fault::Opcode { pc, bytes });
            };
            let mut op = decoded.op;
            let Some(time) = timing::of(&decoded.form, &op) else {
                let what = format!("the cycles of {} are not known", decoded.form);
                return Err(Fault::Architecture { pc, address: pc, what });
            };
            (op.cycles, op.further, op.least) = (time.cycles, time.further, time.least);
            let in_ram = (0..u32::from(op.length)).any(|offset| memory.page(pc + offset) == Page::Ram);
            Ok((op, in_ram))
        })
    }

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
    }
}
