//! The registers, and the memories that the core reads and writes.

use super::decode::{LONGEST, Op, decode};
use crate::decode_cache::DecodeCache;
use crate::memory::{Memory, Page};
use crate::{Fault, Register, Role};

/// Carry or borrow.
pub const C: u8 = 0x01;
/// Zero.
pub const Z: u8 = 0x02;
/// Negative.
pub const N: u8 = 0x04;
/// Interrupt mask.
pub const I: u8 = 0x08;
/// Half carry.
pub const H: u8 = 0x10;
/// Bits 6 and 5, always 1.
pub const ONES: u8 = 0x60;
/// Overflow.
pub const V: u8 = 0x80;

/// Sleep of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sleep {
    /// It does.
    Awake,
    /// `WAIT`: the core stands, the clocks run.
    Wait,
    /// `STOP`: the clocks stand, too.
    Stop,
}

/// The core with its memories.
#[derive(Clone)]
pub struct Hc08 {
    /// Accumulator.
    pub a: u8,
    /// Index register, H in its high byte.
    pub hx: u16,
    /// Stack pointer: the next free byte.
    pub sp: u16,
    /// Program counter.
    pub pc: u16,
    /// Condition codes; [`ONES`] are set.
    pub ccr: u8,
    /// Its sleep.
    pub sleep: Sleep,
    /// The address of the register whose bit 1 enables `STOP`, where the part has it.
    pub config: Option<u16>,
    pub(crate) memory: Memory<16, 0>,
    pub(crate) program: DecodeCache<Op, { 1 << 16 }, 0>,
}

/// The registers by their names.
pub(crate) const REGISTERS: &[Register] = &[
    Register::new("a", 8),
    Register::new("h", 8),
    Register::new("x", 8),
    Register::with("sp", 16, Role::StackPointer),
    Register::with("pc", 16, Role::ProgramCounter),
    Register::with("ccr", 8, Role::Status),
];

impl Hc08 {
    pub(crate) fn new(memory: Memory<16, 0>, config: Option<u16>) -> Hc08 {
        let program = DecodeCache::new(LONGEST as u32);
        Hc08 { a: 0, hx: 0, sp: 0, pc: 0, ccr: 0, sleep: Sleep::Awake, config, memory, program }
    }

    /// A word, high byte first, whatever stands there.
    pub(crate) fn word(&self, address: u16) -> u16 {
        let byte = |address: u16| self.memory.byte(address.into()) as u8;
        u16::from_be_bytes([byte(address), byte(address.wrapping_add(1))])
    }

    /// Returns the bytes of the instruction at an address.
    pub(crate) fn instruction_length(&self, address: u32) -> Option<u32> {
        let at = |offset: usize| u32::from((address as u16).wrapping_add(offset as u16));
        let bytes: [u8; LONGEST] = std::array::from_fn(|offset| self.memory.byte(at(offset)) as u8);
        let length = decode(address as u16, bytes)?.length;
        let is_there = (0..usize::from(length)).all(|offset| self.memory.page(at(offset)) != Page::Other);
        is_there.then_some(length.into())
    }

    /// Sees to it that the instruction at `pc` is decoded; false for a breakpoint, which
    /// `ignore_breakpoint` passes.
    #[cold]
    pub(crate) fn find(&mut self, pc: u16, ignore_breakpoint: bool) -> Result<bool, Fault> {
        let memory = &self.memory;
        self.program.find(pc.into(), ignore_breakpoint, || {
            let address = |offset: usize| u32::from(pc.wrapping_add(offset as u16));
            let bytes: [u8; LONGEST] = std::array::from_fn(|offset| memory.byte(address(offset)) as u8);
            let op = decode(pc, bytes);
            let length = op.map_or(1, |op| usize::from(op.length));
            if let Some(missing) = (0..length).find(|offset| memory.page(address(*offset)) == Page::Other) {
                return Err(Fault::Unmapped {
                    pc: pc.into(),
                    address: address(missing),
                    size: 1,
                    kind: "fetch",
                });
            }
            let Some(op) = op else {
                let length = if bytes[0] == 0x9e { 2 } else { 1 };
                return Err(Fault::Opcode { pc: pc.into(), bytes: bytes[..length].to_vec() });
            };
            let in_ram = (0..length).any(|offset| memory.page(address(offset)) == Page::Ram);
            Ok((op, in_ram))
        })
    }
}
