//! The registers.

use super::memory::Memory;
use crate::{Register, Role};

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
pub const SP: u8 = 0x81;
pub const DPL: u8 = 0x82;
pub const DPH: u8 = 0x83;
pub const PSW: u8 = 0xd0;
pub const ACC: u8 = 0xe0;
pub const B: u8 = 0xf0;
/// The port that puts out the high half of the address of `MOVX @Ri`.
pub const P2: u8 = 0xa0;

/// Source of an instruction's read of a port ("Read-Modify-Write Feature").
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Port {
    /// The levels of its pins.
    Pins,
    /// Its latch: the instruction will write it back.
    Latch,
}

/// The core with its memories.
#[derive(Clone)]
pub struct Mcs51 {
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
    /// Memories.
    pub memory: Memory,
}

/// The registers by their names; `r0` to `r7` are those of the current bank.
pub(crate) const REGISTERS: &[Register] = &[
    Register::new("a", 8),
    Register::new("b", 8),
    Register::new("dptr", 16),
    Register::with("psw", 8, Role::Status),
    Register::with("sp", 8, Role::StackPointer),
    Register::new("r0", 8),
    Register::new("r1", 8),
    Register::new("r2", 8),
    Register::new("r3", 8),
    Register::new("r4", 8),
    Register::new("r5", 8),
    Register::new("r6", 8),
    Register::new("r7", 8),
    Register::with("pc", 16, Role::ProgramCounter),
];

impl Mcs51 {
    pub(crate) fn new(memory: Memory) -> Mcs51 {
        Mcs51 { a: 0, b: 0, psw: 0, sp: 0, dptr: 0, pc: 0, memory }
    }

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
    pub fn bank_register(&self, number: u8) -> u8 {
        self.memory.internal(self.psw & BANK | number)
    }

    /// Writes `R0` to `R7` of the current bank.
    #[inline(always)]
    pub fn set_bank_register(&mut self, number: u8, value: u8) {
        self.memory.set_internal(self.psw & BANK | number, value);
    }

    /// A register of the core, if there is one at that direct address.
    pub fn read_core(&self, address: u8) -> Option<u8> {
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
    pub fn write_core(&mut self, address: u8, value: u8) -> bool {
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

    /// Registers of the core as a debugger sees them, from a direct address on; false where one is
    /// none.
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
}
