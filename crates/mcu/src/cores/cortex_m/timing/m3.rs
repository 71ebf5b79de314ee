//! Cycles of the Cortex-M3 (r1p1 and later) and Cortex-M4.
//!
//! Tables: DDI 0337I table 3-1 (M3), DDI 0439 table 3-1 (M4). Rules between neighbours: DDI 0337I section 3.3.3,
//! "Load/store timings", repeated in TI's SWCU185, section 2.7.3. What the manuals leave open is decided thus:
//!
//! - Pipeline refill P ("1 to 3 depending on the alignment and width of the target instruction, and whether the
//!   processor manages to speculate the address early"): 1 for branches whose target is known in decode (B, BL, CBZ,
//!   and BX LR: with 2 the fixsliced AES of Adomnicai and Peyrin, TCHES 2021/1, comes out 1 % above its measured
//!   cycles), 2 for targets out of other registers, 3 after a load; one more where a 32-bit target straddles two
//!   words.
//! - The third of three or more 32-bit instructions in a row that lie across two words takes a cycle more: measured
//!   on an M4 (compendium.i-0.nl, "Alignment rules"), and X25519 of Emil Lenngren comes out 2 % short without it.
//! - IT is folded into a preceding 16-bit instruction and then costs nothing; otherwise one cycle.
//! - Long multiplies of the M3 (3 to 5, 4 to 7 cycles, "terminate early for inputs below 64K in magnitude"): one
//!   cycle for each operand that is not; the signed accumulating ones one more.
//! - Divides (2 to 12, by the leading zeros of the operands): three quotient bits a cycle.

use super::super::fetch::FetchUnit;
use super::super::flash::FlashRegisters;
use super::super::op::{Op, Opcode};
use super::{Exception, Retired, Timing};
use crate::{CoreName, Fault, Part, ResetCause};
use std::ops::Range;

/// What the instruction before did, beside the registers it wrote (bits 0 to 15).
mod after {
    /// Data processing: a result that an address must wait a cycle for.
    pub const DATA: u32 = 1 << 16;
    /// A single load, whose data phase the next load or store can overlap.
    pub const LOAD: u32 = 2 << 16;
    /// A single store with an immediate offset, likewise.
    pub const STORE: u32 = 3 << 16;
    /// Anything that nothing overlaps.
    pub const OTHER: u32 = 0;
    pub const KIND: u32 = 3 << 16;
    pub const REGISTERS: u32 = 0xffff;
    /// A 16-bit encoding: a following IT is folded into it.
    pub const NARROW: u32 = 1 << 18;
    /// A 32-bit encoding across two words; of the instruction before: how many in a row, in units of this.
    pub const ACROSS: u32 = 1 << 19;
    /// Where counting ends.
    pub const ACROSS_MOST: u32 = 4 * ACROSS;
    pub const ACROSS_COUNT: u32 = 7 * ACROSS;
}

/// [`Op::class`] of loads and stores.
mod class {
    pub const PLAIN: u8 = 0;
    /// The base register is written back: not pipelined.
    pub const WRITEBACK: u8 = 1;
    /// A store with register offset: two cycles unless a load precedes.
    pub const REGISTER_OFFSET: u8 = 2;
    /// LDRD, STRD, LDM, STM: never pipelined.
    pub const MULTIPLE: u8 = 3;
}

/// The halfwords of the prefetch buffer: three words.
const BUFFER: u32 = 6;

/// The timing of a Cortex-M3 or Cortex-M4 behind an STM32 flash interface.
#[derive(Clone)]
pub struct M3 {
    /// Any multiplication takes a cycle: a Cortex-M4.
    fast_multiplier: bool,
    /// What the instruction before did: [`after`].
    after: u32,
    fetch: FetchUnit,
    registers: FlashRegisters,
}

/// Extra accesses of a load or store that is not aligned: it is split into aligned bytes and halfwords (DDI 0337I
/// section 3.4.2, "Unaligned data accesses").
#[inline(always)]
fn split(address: u32, size: u8) -> u32 {
    if address & (u32::from(size) - 1) == 0 {
        0
    } else if size == 4 && address & 1 != 0 {
        2
    } else {
        1
    }
}

impl M3 {
    #[inline(always)]
    fn branch(&mut self, target: u32) {
        self.after = after::OTHER;
        self.fetch.branch(target);
    }

    /// Notes what an instruction leaves in `after`, and adds to `cycles` the one that the third instruction across two
    /// words takes more. The flag says whether the fetch unit must be asked.
    #[inline(always)]
    fn retire_cycles(&mut self, note: u32, after: u32, cycles: u32) -> (u32, bool) {
        if note & after::ACROSS == 0 {
            self.after = after;
            return (cycles, self.fetch.attention);
        }
        let row = ((self.after & after::ACROSS_COUNT) + after::ACROSS).min(after::ACROSS_MOST);
        self.after = after & !after::ACROSS_COUNT | row;
        (cycles + u32::from(row == 3 * after::ACROSS), self.fetch.attention | self.fetch.branched)
    }

    /// Ends an instruction without data: its cycles and what the fetch unit adds. `after` is what it leaves.
    #[inline(always)]
    fn end(&mut self, op: &Op, note: u32, after: u32, address: u32, cycles: u32) -> u32 {
        let (cycles, asks) = self.retire_cycles(note, after, cycles);
        if asks { cycles + self.fetch.ask(address, u32::from(op.length), cycles) } else { cycles }
    }

    /// Ends a load of `count` words from `data`.
    #[inline(always)]
    fn end_load(
        &mut self,
        op: &Op,
        note: u32,
        after: u32,
        address: u32,
        cycles: u32,
        data: (u32, u8),
    ) -> u32 {
        let (cycles, asks) = self.retire_cycles(note, after, cycles);
        let (data, count) = (data.0, u32::from(data.1));
        // Below 0x10000000 is the flash, which serves instructions, too.
        if data < 0x1000_0000 {
            cycles + self.fetch.follow(address, u32::from(op.length), cycles, data, count)
        } else if asks {
            cycles + self.fetch.ask_load(address, u32::from(op.length), cycles, data, count)
        } else {
            cycles
        }
    }

    #[inline(always)]
    fn single_load(&self, op: &Op) -> u32 {
        let addresses = u32::from(op.extra);
        match self.after & after::KIND {
            after::LOAD | after::STORE
                if op.class == class::PLAIN && self.after & addresses & after::REGISTERS == 0 =>
            {
                1
            }
            after::DATA if self.after & addresses & after::REGISTERS != 0 => 3,
            _ => 2,
        }
    }

    #[inline(always)]
    fn single_store(&self, op: &Op) -> u32 {
        let addresses = u32::from(op.extra);
        let waits = self.after & after::KIND == after::DATA && self.after & addresses & after::REGISTERS != 0;
        let own =
            if op.class == class::REGISTER_OFFSET && self.after & after::KIND != after::LOAD { 2 } else { 1 };
        own + u32::from(waits)
    }

    /// A multiplication of the Cortex-M3.
    fn multiply(op: &Op, n: u32, m: u32) -> u32 {
        let large = |value: u32| u32::from(value >= 1 << 16);
        let large_signed = |value: u32| u32::from((value as i32).unsigned_abs() >= 1 << 16);
        match op.inner {
            Opcode::Mla | Opcode::Mls => 2,
            Opcode::Umull => 3 + large(n) + large(m),
            Opcode::Smull => 3 + large_signed(n) + large_signed(m),
            Opcode::Umlal => 4 + large(n) + large(m),
            Opcode::Smlal => 5 + large_signed(n) + large_signed(m),
            _ => 1,
        }
    }

    fn divide(op: &Op, n: u32, m: u32) -> u32 {
        let (n, m) = if op.inner == Opcode::Sdiv {
            ((n as i32).unsigned_abs(), (m as i32).unsigned_abs())
        } else {
            (n, m)
        };
        if m == 0 || n < m {
            return 2;
        }
        let quotient_bits = m.leading_zeros() - n.leading_zeros() + 1;
        1 + quotient_bits.div_ceil(3)
    }
}

impl Timing for M3 {
    type Note = u32;

    const FETCHES: bool = false;

    fn new(part: &Part, clock_hz: u64) -> Result<Self, String> {
        let registers = FlashRegisters::new(part, clock_hz)?;
        let line_bits = part.flash.as_ref().map_or(32, |flash| flash.line_bits);
        let fetch = FetchUnit::new(BUFFER, line_bits, registers.settings());
        Ok(M3 { fast_multiplier: part.core == CoreName::CortexM4, after: after::OTHER, fetch, registers })
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.after = after::OTHER;
        self.fetch.reset(self.registers.settings());
    }

    fn classify(&self, op: &mut Op, address: u32) -> u32 {
        use Opcode::*;
        let operands = op.operands();
        op.extra = operands.addresses;
        let (class, kind) = match op.inner {
            LdrImm | LdrReg | LdrLit | LdrbImm | LdrbReg | LdrbLit | LdrhImm | LdrhReg | LdrhLit
            | LdrsbImm | LdrsbReg | LdrsbLit | LdrshImm | LdrshReg | LdrshLit | Ldrex | Ldrexb | Ldrexh
            | Strex | Strexb | Strexh => (class::PLAIN, after::LOAD),
            LdrPre | LdrPost | LdrbPre | LdrbPost | LdrhPre | LdrhPost | LdrsbPre | LdrsbPost | LdrshPre
            | LdrshPost => (class::WRITEBACK, after::OTHER),
            StrImm | StrbImm | StrhImm => (class::PLAIN, after::STORE),
            StrPre | StrPost | StrbPre | StrbPost | StrhPre | StrhPost => (class::WRITEBACK, after::OTHER),
            StrReg | StrbReg | StrhReg => (class::REGISTER_OFFSET, after::OTHER),
            Ldrd | Strd | Ldm | Ldmdb | Stm | Stmdb | LdmPc => (class::MULTIPLE, after::OTHER),
            _ => (class::PLAIN, after::DATA),
        };
        op.class = class;
        let narrow = if op.length == 2 { after::NARROW } else { 0 };
        let across = if op.length == 4 && address & 2 != 0 { after::ACROSS } else { 0 };
        kind | narrow | across | u32::from(operands.writes)
    }

    #[inline(always)]
    fn retire(&mut self, op: &Op, note: &u32, address: u32, outcome: Retired) -> u32 {
        let note = *note;
        match outcome {
            Retired::Plain => self.end(op, note, note, address, 1),
            Retired::Skipped | Retired::NotTaken => {
                self.end(op, note, after::OTHER | note & after::NARROW, address, 1)
            }
            Retired::Branch { target } => {
                let refill = match op.inner {
                    Opcode::Bx if op.m == 14 => 1,
                    Opcode::Bx | Opcode::Blx | Opcode::MovPc | Opcode::AddPc => 2,
                    _ => 1,
                };
                let cycles = self.end(op, note, after::OTHER, address, 1 + refill);
                self.branch(target);
                cycles
            }
            Retired::Multiply { n, m } => {
                let cycles = if self.fast_multiplier { 1 } else { Self::multiply(op, n, m) };
                self.end(op, note, note, address, cycles)
            }
            Retired::Divide { n, m } => {
                let cycles = Self::divide(op, n, m);
                self.end(op, note, note, address, cycles)
            }
            Retired::Load { address: data, size, count } => {
                let cycles = if op.class == class::MULTIPLE {
                    1 + u32::from(count)
                } else {
                    self.single_load(op) + split(data, size)
                };
                self.end_load(op, note, note, address, cycles, (data, count))
            }
            Retired::Store { address: data, size, count } => {
                let cycles = if op.class == class::MULTIPLE {
                    1 + u32::from(count)
                } else if note & after::KIND == after::LOAD {
                    // STREX, which is pipelined as loads are.
                    self.single_load(op)
                } else {
                    self.single_store(op) + split(data, size)
                };
                self.end(op, note, note, address, cycles)
            }
            Retired::LoadBranch { address: data, count, target, .. } => {
                let loads = match op.inner {
                    // Load, add to the program counter, reload.
                    Opcode::Tbb | Opcode::Tbh => 3,
                    _ => 1 + u32::from(count),
                };
                let cycles = self.end_load(op, note, after::OTHER, address, loads + 3, (data, count));
                self.branch(target);
                cycles
            }
            Retired::System => {
                let cycles = match op.inner {
                    Opcode::It => u32::from(self.after & after::NARROW == 0),
                    // The flags of MRS and MSR are at hand; other special registers take a second cycle.
                    Opcode::Mrs | Opcode::Msr => 1 + u32::from(op.imm & 0xff > 3),
                    Opcode::Isb => 4,
                    _ => 1,
                };
                let after = if op.inner == Opcode::It {
                    after::OTHER
                } else {
                    note & (after::REGISTERS | after::NARROW)
                };
                self.end(op, note, after, address, cycles)
            }
        }
    }

    /// DDI 0337I and DDI 0439, "Exception handling": 12 cycles to the first instruction of the handler, 6 from one
    /// handler into the next, 12 back (stacking and fetching run side by side over two buses).
    fn exception(&mut self, step: Exception, _sp: u32, target: u32) -> u32 {
        self.after = after::OTHER;
        self.branch(target);
        match step {
            Exception::Entry | Exception::Return => 12,
            Exception::TailChain => 6,
        }
    }

    fn registers(&self) -> Range<u32> {
        self.registers.range()
    }

    fn read_register(&mut self, address: u32, size: u8, pc: u32) -> Result<u32, Fault> {
        self.registers.read(address, size, pc)
    }

    fn set_reset_cause(&mut self, cause: ResetCause) {
        self.registers.set_reset_cause(cause);
    }

    fn core_clock_hz(&self) -> Option<u64> {
        self.registers.core_clock_hz()
    }

    fn bus_dividers(&self) -> (u64, u64) {
        self.registers.bus_dividers()
    }

    fn write_register(&mut self, address: u32, size: u8, value: u32, pc: u32) -> Result<(), Fault> {
        let changed = self.registers.write(address, size, value, pc)?;
        self.fetch.apply(changed, self.registers.settings());
        Ok(())
    }
}
