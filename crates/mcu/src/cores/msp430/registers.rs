//! The registers, and the memories that the core reads and writes.

use super::decode::decode;
use super::fram::Fram;
use super::op::Op;
use crate::decode_cache::DecodeCache;
use crate::memory::{Memory, Page};
use crate::{Fault, Register, Role};

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

/// The low-power mode that a status register stands for (SLAU208, chapter "System Resets,
/// Interrupts, and Operating Modes", table "Operating Modes"); `None` for the settings that the
/// table does not have.
pub fn mode(status: u32) -> Option<&'static Mode> {
    MODES.iter().find(|mode| mode.bits == status & (CPUOFF | OSCOFF | SCG0 | SCG1))
}

/// One of the low-power modes.
pub struct Mode {
    /// As the manual calls it.
    pub name: &'static str,
    bits: u32,
    /// The clocks that it stops.
    pub stops: &'static [&'static str],
    /// True if the main clock's source has to start again.
    pub wakes_slowly: bool,
}

const MODES: [Mode; 5] = [
    Mode { name: "LPM0", bits: CPUOFF, stops: &[], wakes_slowly: false },
    Mode { name: "LPM1", bits: CPUOFF | SCG0, stops: &[], wakes_slowly: false },
    Mode { name: "LPM2", bits: CPUOFF | SCG1, stops: &["SMCLK"], wakes_slowly: true },
    Mode { name: "LPM3", bits: CPUOFF | SCG0 | SCG1, stops: &["SMCLK"], wakes_slowly: true },
    Mode { name: "LPM4", bits: CPUOFF | OSCOFF | SCG0 | SCG1, stops: &["SMCLK", "ACLK"], wakes_slowly: true },
];

/// The longest instruction in words: extension word, instruction, two operand words.
const LONGEST: u32 = 4;

/// The core with its memories.
#[derive(Clone)]
pub struct Msp430 {
    /// `R0` to `R15`; `R3` stays 0.
    pub registers: [u32; 16],
    pub(crate) memory: Memory<20, 8>,
    pub(crate) program: DecodeCache<Op, { 1 << 19 }, 1>,
    pub(crate) fram: Fram,
    /// A non-maskable interrupt is being served: no other is taken until RETI.
    pub(crate) in_nmi: bool,
}

/// The registers by their names. R3 is the constant generator: it holds nothing.
pub(crate) const REGISTERS: &[Register] = &[
    Register::with("pc", 20, Role::ProgramCounter),
    Register::with("sp", 20, Role::StackPointer),
    Register::with("sr", 16, Role::Status),
    Register::new("r4", 20),
    Register::new("r5", 20),
    Register::new("r6", 20),
    Register::new("r7", 20),
    Register::new("r8", 20),
    Register::new("r9", 20),
    Register::new("r10", 20),
    Register::new("r11", 20),
    Register::new("r12", 20),
    Register::new("r13", 20),
    Register::new("r14", 20),
    Register::new("r15", 20),
];

impl Msp430 {
    pub(crate) fn new(memory: Memory<20, 8>, fram: Fram) -> Msp430 {
        Msp430 { registers: [0; 16], memory, program: DecodeCache::new(LONGEST), fram, in_nmi: false }
    }

    /// The number of a register by its index in [`REGISTERS`].
    pub(crate) fn number(index: usize) -> usize {
        if index > SR { index + 1 } else { index }
    }

    /// Sees to it that the instruction at `pc` is decoded; false for a breakpoint, which
    /// `ignore_breakpoint` passes.
    #[cold]
    pub(crate) fn find(&mut self, pc: u32, ignore_breakpoint: bool) -> Result<bool, Fault> {
        let memory = &self.memory;
        self.program.find(pc, ignore_breakpoint, || {
            let fetch = |address| (memory.page(address) != Page::Other).then(|| memory.word(address) as u16);
            if fetch(pc).is_none() {
                return Err(Fault::Unmapped { pc, address: pc, size: 2, kind: "fetch" });
            }
            let Some(op) = decode(pc, fetch) else {
                let mut bytes: Vec<u8> = (0..8).map(|offset| memory.byte(pc + offset) as u8).collect();
                bytes.truncate(if bytes[1] & 0xf8 == 0x18 { 4 } else { 2 });
                return Err(Fault::Opcode { pc, bytes });
            };
            let in_ram = (0..u32::from(op.length)).any(|offset| memory.page(pc + offset) == Page::Ram);
            Ok((op, in_ram))
        })
    }
}
