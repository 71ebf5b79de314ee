//! The registers, and the memories that the core reads and writes.

use super::decode::{Op, decode};
use super::timing::Moments;
use crate::decode_cache::DecodeCache;
use crate::memory::{Memory, Page};
use crate::{Fault, Part, Register, Role};

/// The return address.
pub const RA: usize = 1;
/// The stack pointer.
pub const SP: usize = 2;
/// The other register that the calling convention has for return addresses.
pub const T0: usize = 5;

/// mstatus: interrupts are taken.
pub const MIE: u32 = 1 << 3;
/// mstatus: MIE before the trap.
pub const MPIE: u32 = 1 << 7;
/// mstatus: the mode before the trap, which is always machine mode.
pub const MPP: u32 = 3 << 11;

/// INTSYSCR: hardware prologue and epilogue.
pub const HWSTKEN: u32 = 1 << 0;
/// INTSYSCR: interrupts may interrupt handlers.
pub const INESTEN: u32 = 1 << 1;

/// The longest instruction in halfwords.
const LONGEST: u32 = 2;

/// Bits of an address as [`fold`] makes it.
const FOLDED_BITS: u32 = 18;
/// Result of [`fold`] for addresses without memory.
const OUTSIDE: u32 = 0x3_0000;
/// First address of RAM, and the largest size of code and of RAM in the address space.
const SRAM: u32 = 0x2000_0000;
const REGION: u32 = 0x1_0000;

/// Code and RAM in one small table, with nothing behind each: the loop over the instructions goes
/// on in folded addresses.
#[inline(always)]
pub fn fold(address: u32) -> u32 {
    if address < REGION {
        address
    } else if address.wrapping_sub(SRAM) < REGION {
        address - SRAM + 2 * REGION
    } else {
        OUTSIDE
    }
}

/// The core with its memories.
#[derive(Clone)]
pub struct RiscV {
    /// `x0` to `x15`; `x0` stays 0.
    pub x: [u32; 16],
    /// Program counter.
    pub pc: u32,
    /// MIE and MPIE.
    pub mstatus: u32,
    /// Base of the trap vectors, and MODE1 and MODE0.
    pub mtvec: u32,
    /// mscratch.
    pub mscratch: u32,
    /// Address to which the trap returns.
    pub mepc: u32,
    /// Cause of the trap.
    pub mcause: u32,
    /// WCH's register for nesting and hardware stacking.
    pub intsyscr: u32,
    /// WFI was executed.
    pub sleeping: bool,
    /// Interrupts that the PFIC lets through.
    pub enabled: u128,
    /// The handlers under way, the innermost last: their numbers.
    pub handlers: Vec<u8>,
    pub(crate) fetch: Moments,
    pub(crate) memory: Memory<FOLDED_BITS, 6>,
    pub(crate) program: DecodeCache<Op, { 1 << (FOLDED_BITS - 1) }, 1>,
}

/// The registers by the names of the calling convention; `x0` holds nothing.
pub(crate) const REGISTERS: &[Register] = &[
    Register::with("ra", 32, Role::Link),
    Register::with("sp", 32, Role::StackPointer),
    Register::new("gp", 32),
    Register::new("tp", 32),
    Register::new("t0", 32),
    Register::new("t1", 32),
    Register::new("t2", 32),
    Register::new("s0", 32),
    Register::new("s1", 32),
    Register::new("a0", 32),
    Register::new("a1", 32),
    Register::new("a2", 32),
    Register::new("a3", 32),
    Register::new("a4", 32),
    Register::new("a5", 32),
    Register::with("pc", 32, Role::ProgramCounter),
    Register::with("mstatus", 32, Role::Status),
    Register::new("mtvec", 32),
    Register::new("mscratch", 32),
    Register::new("mepc", 32),
    Register::new("mcause", 32),
];

impl RiscV {
    /// The core with the memories of `part`, empty.
    ///
    /// # Errors
    /// A sentence about a memory that cannot be here.
    pub(crate) fn new(part: &Part) -> Result<RiscV, String> {
        let mut folded = part.clone();
        for memory in &mut folded.memories {
            memory.start = fold(memory.start);
            if memory.start == OUTSIDE || memory.size > REGION {
                return Err(format!(
                    "{}: memory {} must lie in the 64 kB from 0 or from {SRAM:#x}",
                    part.name, memory.name
                ));
            }
        }
        Ok(RiscV {
            x: [0; 16],
            pc: 0,
            mstatus: 0,
            mtvec: 0,
            mscratch: 0,
            mepc: 0,
            mcause: 0,
            intsyscr: 0,
            sleeping: false,
            enabled: 0,
            handlers: Vec::new(),
            fetch: Moments::default(),
            memory: Memory::new(&folded)?,
            program: DecodeCache::new(LONGEST),
        })
    }

    /// Returns true if the code at an address is in flash.
    #[inline(always)]
    pub(crate) fn in_flash(&self, address: u32) -> bool {
        self.memory.page(fold(address)) == Page::Flash
    }

    /// Sees to it that the instruction at `pc` is decoded; false for a breakpoint, which
    /// `ignore_breakpoint` passes.
    #[cold]
    pub(crate) fn find(&mut self, pc: u32, ignore_breakpoint: bool) -> Result<bool, Fault> {
        let memory = &self.memory;
        self.program.find(fold(pc), ignore_breakpoint, || {
            let fetch = |address| {
                let at = fold(address);
                (memory.page(at) != Page::Other).then(|| memory.word(at) as u16)
            };
            let Some(low) = fetch(pc) else {
                return Err(Fault::Unmapped { pc, address: pc, size: 2, kind: "fetch" });
            };
            let high = if low & 3 == 3 { fetch(pc.wrapping_add(2)) } else { None };
            let Some(op) = decode(pc, low, high) else {
                let mut bytes = low.to_le_bytes().to_vec();
                bytes.extend(high.into_iter().flat_map(u16::to_le_bytes));
                return Err(Fault::Opcode { pc, bytes });
            };
            Ok((op, memory.page(fold(pc)) == Page::Ram))
        })
    }
}
