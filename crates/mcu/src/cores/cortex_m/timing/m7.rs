//! Cycles of the Cortex-M7.
//!
//! It issues two instructions a cycle in order, with the latencies and pairing rules that have been
//! measured.
//!
//! ARM publishes no table. The rules are those of jnk0le/random, "pipeline cycle test",
//! doc/cortex_m7.md, measured on an STM32H743; [`facts`] has them by instruction. The pipeline
//! behind them: addresses are made and the early ALU and its one shifter work in the first stage,
//! the two late ALUs in the second, where words loaded arrive, too; bytes, halfwords and products
//! arrive in the third. What the page leaves open is taken from LLVM's ARMScheduleM7.td.
//!
//! Instructions come in packets of eight bytes, one a cycle, into a queue of four (DDI 0489 section
//! 1.2: "4x64-bit prefetch queue"). A predicted branch goes on with the packet of its target in the
//! next cycle. That alone makes two of the page's findings: loops of 32-bit instructions must begin
//! at a multiple of eight, and a branch shares its cycle with the instruction at its target only
//! where shorter instructions have let the queue get ahead.

mod branches;
mod facts;
mod float;

use self::branches::Branches;
use self::facts::{DELAYS, FLAGS, Facts, delay, unit};
use super::super::cache::CacheControl;
use super::super::flash::FlashRegisters;
use super::super::fpu::decode::{Operation, operation};
use super::super::mpu::Mpu;
use super::super::op::{Op, Opcode};
use super::super::tcm::Caches;
use super::{Exception, FLOAT_STATE, Retired, Timing};
use crate::{Fault, GateRegister, Part, ResetCause};
use std::ops::Range;

/// Cycles by which the queue can be ahead: its four packets less the one in use.
const AHEAD: u64 = 3;
/// Cycles lost by ISB: the pipeline is emptied and filled again, as after a branch that was not
/// foreseen.
const REFILL: u32 = 4;
/// A divide (LLVM, WriteDIV).
const DIVIDE: u32 = 7;
/// Cycles of a misaligned load as the older of two, and as the younger (page, "loads").
const MISALIGNED_OLDER: u32 = 3;
const MISALIGNED_YOUNGER: u32 = 4;
/// Cycles that the store buffer takes for a misaligned store, and how many of those it holds (page,
/// "stores").
const MISALIGNED_STORE: u64 = 4;
const MISALIGNED_STORES: u64 = 5;

/// The timing of a Cortex-M7 in an STM32F7.
#[derive(Clone)]
pub struct M7 {
    /// The cycle in which the last instruction was issued.
    now: u64,
    /// When instructions may be issued that consume a register in each stage; [`FLAGS`] and others
    /// after r15. The rest is there so that no index of a note can be out of it.
    ready: [[u64; 4]; 64],
    /// Units that may not join this cycle.
    blocked: u16,
    /// Units of the older instruction of this cycle.
    older: u16,
    /// The packet of eight bytes that instructions are coming from, and when it was there.
    packet: u32,
    arrival: u64,
    /// When the store buffer has done with its misaligned stores.
    stored: u64,
    branches: Branches,
    caches: Caches,
    registers: FlashRegisters,
}

impl M7 {
    /// Issues an instruction whose bytes are there at `self.arrival`.
    #[inline(always)]
    fn issue(&mut self, note: &Facts, units: u16) {
        let ready = self.ready.as_flattened();
        let need = |index: usize| ready[usize::from(note.needs[index])];
        let accumulated = need(2).max(need(3)) - u64::from(note.accumulate);
        let at = need(0).max(need(1)).max(accumulated).max(self.arrival);
        let joins = at <= self.now && units & self.blocked == 0;
        // The early shifter is free for a plain shift where the older instruction has no use for
        // it; ADD, SUB and MOV are early only as the older.
        let mut early = note.early;
        if joins {
            if early != 2 || self.older & unit::SHIFTER != 0 {
                early = 0;
            }
            self.blocked = unit::CLOSED;
        } else {
            self.now = at.max(self.now + 1);
            self.blocked = note.blocks | units & (unit::EVEN | unit::EVEN << 1);
            self.older = units;
        }
        let now = self.now;
        let mut kind = usize::from(note.delay);
        if early != 0 {
            let ready = self.ready.as_flattened();
            let there = |index: usize| ready[usize::from(note.needs[index] + early)] <= now;
            if there(0) && there(1) {
                kind = usize::from(delay::EARLY_ALU);
            }
        }
        let delays = &DELAYS[kind & 15];
        self.ready[usize::from(note.result) & 63] = std::array::from_fn(|stage| now + delays[stage]);
        self.ready[usize::from(note.flags) & 63][0] = now + 1;
        if units & unit::SECOND != 0 {
            self.write(note.second, note.second_delay);
        }
    }

    #[inline(always)]
    fn write(&mut self, register: u8, delay: u8) {
        let delays = &DELAYS[usize::from(delay & 15)];
        let now = self.now;
        self.ready[usize::from(register) & 63] = std::array::from_fn(|stage| now + delays[stage]);
    }

    /// Lets cycles pass in which nothing is issued.
    #[inline(always)]
    fn stall(&mut self, cycles: u32) {
        if cycles != 0 {
            self.now += u64::from(cycles);
            self.blocked = unit::CLOSED;
        }
    }

    /// The packet with `address` comes out of the queue, if not the one before it is still in use.
    #[inline]
    fn next_packet(&mut self, address: u32) {
        self.packet = address >> 3;
        let late = self.caches.fetch(address);
        self.arrival = (self.arrival + 1).max(self.now.saturating_sub(AHEAD)) + u64::from(late);
    }

    /// The instruction at `address` is the next.
    #[inline(always)]
    fn fetch(&mut self, address: u32, length: u8) {
        let last = address.wrapping_add(u32::from(length)) - 1;
        if last >> 3 != self.packet {
            self.next_packet(last);
        }
    }

    /// After a branch to `target` that lost `lost` cycles.
    #[inline]
    fn branch(&mut self, target: u32, lost: u32) {
        if lost != 0 {
            self.stall(lost);
            // The target's packet arrives with the cycle that comes now.
            self.arrival = self.now;
        }
        self.next_packet(target);
    }

    /// Returns true if the value of this row that an instruction issued now reads was there three
    /// cycles before.
    fn decided(&self, row: u8) -> bool {
        self.ready[usize::from(row) & 63][0] + 2 <= self.now
    }

    /// Cycles lost by a branch, taken or not.
    #[inline]
    fn lost(&mut self, op: &Op, address: u32, target: Option<u32>) -> u32 {
        let early = match op.inner {
            Opcode::Cbz | Opcode::Cbnz => self.decided(op.n),
            Opcode::B | Opcode::Bl => true,
            Opcode::Bx | Opcode::Blx | Opcode::MovPc | Opcode::AddPc => self.decided(op.m),
            Opcode::LdmPc | Opcode::LdrPc | Opcode::Tbb | Opcode::Tbh => false,
            _ => self.decided(FLAGS),
        };
        self.branches.lost(address, target, early)
    }

    /// Issues a load, with the extra cycles of lists, misaligned accesses and the memory.
    #[inline]
    fn load(&mut self, op: &Op, note: &Facts, data: u32, size: u8, count: u8) {
        let units = note.units | unit::EVEN << (data >> 2 & 1);
        let joined = self.now;
        self.issue(note, units);
        if data & (u32::from(size) - 1) != 0 {
            self.misaligned_load(note, joined == self.now);
        }
        if note.units & unit::LIST != 0 {
            self.load_list(op, count);
        }
        let waits = self.caches.read(data, u32::from(size) * u32::from(count));
        self.stall(waits);
    }

    #[inline(never)]
    fn misaligned_load(&mut self, note: &Facts, younger: bool) {
        let cost = match (younger, self.older & unit::MISALIGNED != 0) {
            (true, true) => MISALIGNED_YOUNGER - MISALIGNED_OLDER,
            (true, false) => MISALIGNED_YOUNGER,
            (false, _) => MISALIGNED_OLDER,
        };
        // The younger one goes with it, late.
        self.now += u64::from(cost);
        self.older |= unit::MISALIGNED;
        self.blocked = if younger { unit::CLOSED } else { self.blocked & !(unit::EVEN | unit::EVEN << 1) };
        self.write(note.result, note.delay);
        if note.units & unit::SECOND != 0 {
            self.write(note.second, note.second_delay);
        }
    }

    /// Two registers a cycle (page, "load/store pair/multiple").
    #[inline(never)]
    fn load_list(&mut self, op: &Op, count: u8) {
        self.now += u64::from(count.div_ceil(2)) - 1;
        let mut list = if op.inner == Opcode::Ldrd { 1 << op.d | 1 << op.a } else { op.imm as u16 & 0x7fff };
        while list != 0 {
            self.write(list.trailing_zeros() as u8, delay::WORD);
            list &= list - 1;
        }
    }

    #[inline]
    fn store(&mut self, op: &Op, note: &Facts, data: u32, size: u8, count: u8) {
        self.issue(note, note.units);
        if count > 1 {
            // An even number of registers to half of a pair of words takes a cycle more (page).
            let split = op.inner != Opcode::Strd && data & 4 != 0 && count & 1 == 0;
            self.stall(u32::from(count.div_ceil(2)) - 1 + u32::from(split));
        }
        if data & (u32::from(size) - 1) != 0 {
            self.stored = self.stored.max(self.now) + MISALIGNED_STORE;
            let full = self.now + MISALIGNED_STORE * MISALIGNED_STORES;
            self.stall(self.stored.saturating_sub(full) as u32);
        }
        let waits = self.caches.write(data, u32::from(size) * u32::from(count));
        self.stall(waits);
    }
}

/// Cycles beyond the first of an instruction of several cycles whose condition failed: "the same
/// number of cycles as if their results were committed" (page, "predication").
fn skipped(op: &Op) -> u32 {
    match op.inner {
        Opcode::Ldm | Opcode::Ldmdb | Opcode::LdmPc | Opcode::Stm | Opcode::Stmdb => {
            (op.imm & 0xffff).count_ones().div_ceil(2) - 1
        }
        Opcode::Sdiv | Opcode::Udiv => DIVIDE - 1,
        Opcode::Float if matches!(operation(op), Operation::Vldm | Operation::Vstm) => {
            u32::from(op.m).div_ceil(2) - 1
        }
        _ => 0,
    }
}

impl Timing for M7 {
    type Note = Facts;

    const FETCHES: bool = false;

    fn new(part: &Part, clock_hz: u64) -> Result<Self, String> {
        let registers = FlashRegisters::new(part, clock_hz)?;
        let caches = Caches::new(part, registers.settings());
        Ok(M7 {
            now: 1,
            ready: [[1; 4]; 64],
            blocked: unit::CLOSED,
            older: 0,
            packet: u32::MAX,
            arrival: 0,
            stored: 0,
            branches: Branches::new(),
            caches,
            registers,
        })
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.caches.reset(self.registers.settings());
        self.now = 1;
        self.ready = [[1; 4]; 64];
        self.blocked = unit::CLOSED;
        self.packet = u32::MAX;
        self.arrival = 0;
        self.stored = 0;
        self.branches.clear();
    }

    fn classify(&self, op: &mut Op, _address: u32) -> Facts {
        facts::facts(op)
    }

    /// ARM publishes no cycles of a divide, and the model has a mean: on the part, as on the
    /// Cortex-M4, they may depend on the operands.
    fn depends_on_operands(&self, op: &Op) -> bool {
        matches!(op.inner, Opcode::Sdiv | Opcode::Udiv)
    }

    fn retire(&mut self, op: &Op, note: &Facts, address: u32, outcome: Retired) -> u32 {
        let before = self.now;
        self.fetch(address, op.length);
        match outcome {
            Retired::Plain | Retired::Multiply { .. } => self.issue(note, note.units),
            Retired::Skipped => {
                self.issue(note, note.units);
                if note.units & unit::ALONE != 0 {
                    self.stall(skipped(op));
                } else if note.cycles > 1 {
                    self.stall(u32::from(note.cycles) - 1);
                }
            }
            Retired::NotTaken => {
                self.issue(note, note.units);
                let lost = self.lost(op, address, None);
                if lost != 0 {
                    self.branch(address.wrapping_add(u32::from(op.length)), lost);
                }
            }
            Retired::Branch { target } => {
                self.issue(note, note.units);
                let lost = self.lost(op, address, Some(target));
                self.branch(target, lost);
            }
            Retired::Divide { .. } => {
                self.issue(note, note.units);
                self.stall(DIVIDE - 1);
                self.write(note.result, note.delay);
            }
            Retired::Load { address: data, size, count } => self.load(op, note, data, size, count),
            Retired::Store { address: data, size, count } => self.store(op, note, data, size, count),
            Retired::LoadBranch { address: data, size, count, target } => {
                self.load(op, note, data, size, count);
                if matches!(op.inner, Opcode::Tbb | Opcode::Tbh) {
                    self.stall(1);
                }
                let lost = self.lost(op, address, Some(target));
                self.branch(target, lost);
            }
            Retired::System => {
                self.issue(note, note.units);
                match op.inner {
                    Opcode::Isb => self.branch(address.wrapping_add(u32::from(op.length)), REFILL),
                    Opcode::Mrs | Opcode::Msr | Opcode::Cps | Opcode::Dsb | Opcode::Dmb => self.stall(2),
                    _ => {}
                }
            }
        }
        (self.now - before) as u32
    }

    fn float(&mut self, op: &Op, note: &Facts, address: u32, outcome: Retired, _now: u64) -> u32 {
        let before = self.now;
        self.fetch(address, op.length);
        self.float_outcome(op, note, outcome);
        (self.now - before) as u32
    }

    fn float_state(&mut self) -> u32 {
        self.stall(FLOAT_STATE);
        FLOAT_STATE
    }

    /// DDI 0489 gives 12 cycles for the entry at no wait states, as for the Cortex-M3; the way back
    /// is taken alike.
    fn exception(&mut self, step: Exception, _sp: u32, target: u32) -> u32 {
        let cycles = match step {
            Exception::Entry | Exception::Return => 12,
            Exception::TailChain => 6,
        };
        self.branch(target, cycles);
        cycles
    }

    fn idle(&mut self, cycles: u64) {
        self.now += cycles;
        self.blocked = unit::CLOSED;
    }

    fn protect(&mut self, mpu: &Mpu) {
        self.caches.protect(mpu);
    }

    fn cache(&mut self, control: CacheControl) -> u32 {
        if control == CacheControl::InvalidateBranches {
            self.branches.clear();
            return 0;
        }
        let cycles = self.caches.control(control);
        self.stall(cycles);
        cycles
    }

    fn registers(&self) -> Range<u32> {
        self.registers.range()
    }

    fn read_register(&mut self, address: u32, size: u8, pc: u32) -> Result<u32, Fault> {
        self.registers.read(address, size, pc)
    }

    fn rtc_clock(&self) -> (u64, bool) {
        self.registers.rtc_clock()
    }

    fn module_clocks(&self) -> Vec<u64> {
        self.registers.module_clocks()
    }

    fn gates(&self) -> &'static [GateRegister] {
        self.registers.rcc.gates()
    }

    fn gate_register(&self, offset: u32) -> u32 {
        self.registers.rcc.read(offset)
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

    fn usb_clock(&self) -> (u64, u64) {
        self.registers.usb_clock()
    }

    fn write_register(&mut self, address: u32, size: u8, value: u32, pc: u32) -> Result<(), Fault> {
        let changed = self.registers.write(address, size, value, pc)?;
        self.caches.apply(changed, self.registers.settings());
        Ok(())
    }
}
