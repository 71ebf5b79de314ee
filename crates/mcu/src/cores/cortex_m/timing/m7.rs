//! Cycles of the Cortex-M7, approximately: two instructions a cycle in order, with the latencies and pairing rules
//! that have been published.
//!
//! ARM publishes no table. The pipeline is the one of LLVM's scheduling model (ARMScheduleM7.td, by Arm's compiler
//! group): addresses and shifted operands are read in EX1, the arithmetic units work in EX2, where words loaded
//! arrive, too; bytes, halfwords and products arrive in EX3; stores read their data in EX3. There are two arithmetic
//! units, two load ports, one store port, one early shifter, one multiplier, one SIMD unit and one branch unit. Mark
//! Owen's measurements ("Cortex-M7 instruction cycle counts, timings, and dual-issue combinations") are the better
//! source; only their beginning could be had, so the model has not been held against his table. The length of LDM
//! and STM, of a divide, and of the branch predictor's mistakes is taken as two registers a cycle and one more, LLVM's
//! 7, and LLVM's penalties.

use super::super::flash::FlashRegisters;
use super::super::op::{Op, Opcode};
use super::super::tightly::Caches;
use super::{CacheControl, Exception, Note, Retired, Timing};
use crate::{Fault, Part, ResetCause};
use std::ops::Range;

/// What an instruction occupies in the cycle in which it is issued, a bit each, and how it may share that cycle.
mod unit {
    pub const SHIFT: u16 = 1 << 0;
    pub const MULTIPLY: u16 = 1 << 1;
    pub const SIMD: u16 = 1 << 2;
    pub const STORE: u16 = 1 << 3;
    pub const LOAD: u16 = 1 << 4;
    pub const BRANCH: u16 = 1 << 5;
    /// Only as the first of a pair.
    pub const FIRST: u16 = 1 << 6;
    /// Never as one of a pair.
    pub const ALONE: u16 = 1 << 7;
    /// Of these there is one; two loads are possible.
    pub const SINGLE: u16 = SHIFT | MULTIPLY | SIMD | STORE | BRANCH;
}

/// What the model knows of a decoded instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// Registers read in EX1, EX2 and EX3.
    reads: [u16; 3],
    writes: u16,
    /// The base register, if it is written back: there after EX1.
    base: u16,
    units: u16,
    /// Cycles from issue to the result's use in EX2.
    latency: u8,
    reads_flags: bool,
    writes_flags: bool,
}

// SAFETY: numbers and truth values: all bytes zero is a valid value of each.
unsafe impl Note for Facts {}

/// A direct-mapped branch target cache of 64 entries (DDI 0489 section 1.2: "branch target address cache"; its size
/// is that of ARM's presentations of the core).
const PREDICTIONS: usize = 64;

/// Cycles lost when a conditional or indirect branch was not foreseen (LLVM, MispredictPenalty).
const MISPREDICTED: u32 = 6;
/// Cycles lost when a direct, unconditional branch is met for the first time: its target is known in decode.
const UNKNOWN_TARGET: u32 = 3;
/// A divide (LLVM, WriteDIV).
const DIVIDE: u32 = 7;

#[derive(Clone, Copy, Default)]
struct Prediction {
    branch: u32,
    target: u32,
    /// 0, 1: not taken; 2, 3: taken.
    counter: u8,
}

/// The timing of a Cortex-M7 in an STM32F7.
#[derive(Clone)]
pub struct M7 {
    /// The cycle in which the last instruction was issued.
    now: u32,
    /// From when on a register can be read in EX2; the last is for the flags.
    ready: [u32; 17],
    /// Units taken in this cycle, and whether one more instruction may be issued in it.
    units: u16,
    open: bool,
    /// Registers that instructions of this cycle write.
    written: u16,
    /// Bit 2 of the address of this cycle's load: which half of the memory it came from.
    bank: u32,
    predictions: Vec<Prediction>,
    caches: Caches,
    registers: FlashRegisters,
}

impl M7 {
    /// The earliest cycle at which the operands allow the issue.
    #[inline]
    fn operands_at(&self, note: &Facts) -> u32 {
        let mut at = self.now;
        for (stage, mask) in note.reads.iter().enumerate() {
            let mut mask = *mask;
            while mask != 0 {
                let register = mask.trailing_zeros() as usize;
                mask &= mask - 1;
                // EX1 is one cycle before EX2, EX3 one after.
                let needed = self.ready[register].wrapping_add(1).wrapping_sub(stage as u32);
                if needed.wrapping_sub(at) as i32 > 0 {
                    at = needed;
                }
            }
        }
        if note.reads_flags && self.ready[16].wrapping_sub(at) as i32 > 0 {
            at = self.ready[16];
        }
        at
    }

    /// Issues an instruction: the cycles until then since the one before. `late` cycles come first, for its bytes.
    #[inline]
    fn issue(&mut self, note: &Facts, late: u32, bank: u32) -> u32 {
        let at = self.operands_at(note);
        let pairs = self.open
            && late == 0
            && at == self.now
            && note.units & (unit::FIRST | unit::ALONE) == 0
            && self.units & note.units & unit::SINGLE == 0
            && !(self.units & note.units & unit::LOAD != 0 && bank == self.bank)
            && self.written & note.writes == 0;
        let before = self.now;
        if pairs {
            self.units |= note.units;
            self.open = false;
        } else {
            let next = self.now.wrapping_add(1);
            self.now = if next.wrapping_sub(at) as i32 > 0 { next } else { at };
            self.now = self.now.wrapping_add(late);
            self.units = note.units;
            self.open = note.units & unit::ALONE == 0;
            self.written = 0;
        }
        self.bank = bank;
        self.written |= note.writes;
        let mut writes = note.writes;
        while writes != 0 {
            let register = writes.trailing_zeros() as usize;
            writes &= writes - 1;
            self.ready[register] = self.now.wrapping_add(u32::from(note.latency));
        }
        if note.base != 0 {
            self.ready[note.base.trailing_zeros() as usize] = self.now;
        }
        if note.writes_flags {
            self.ready[16] = self.now.wrapping_add(u32::from(note.latency.max(1)));
        }
        self.now.wrapping_sub(before)
    }

    /// Lets cycles pass in which nothing is issued.
    #[inline]
    fn stall(&mut self, cycles: u32) -> u32 {
        self.now = self.now.wrapping_add(cycles);
        if cycles != 0 {
            self.open = false;
        }
        cycles
    }

    /// Cycles lost by a branch at `address` that goes to `target`, or does not go.
    fn predict(&mut self, op: &Op, address: u32, target: Option<u32>) -> u32 {
        let slot = (address >> 1) as usize % PREDICTIONS;
        let known = self.predictions[slot];
        let hit = known.branch == address;
        let conditional = !matches!(op.inner, Opcode::B | Opcode::Bl);
        let foreseen = if hit {
            (known.counter >= 2).then_some(known.target)
        } else if matches!(
            op.inner,
            Opcode::Bx | Opcode::Blx | Opcode::LdmPc | Opcode::LdrPc | Opcode::Tbb | Opcode::Tbh
        ) {
            None
        } else {
            // Unknown: backward is taken, forward is not.
            target.filter(|&target| target < address && conditional)
        };
        let counter = match (hit, target.is_some()) {
            (true, true) => (known.counter + 1).min(3),
            (true, false) => known.counter.saturating_sub(1),
            (false, true) => 2,
            (false, false) => return 0,
        };
        self.predictions[slot] =
            Prediction { branch: address, target: target.unwrap_or(known.target), counter };
        if foreseen == target {
            0
        } else if !hit && !conditional {
            UNKNOWN_TARGET
        } else {
            MISPREDICTED
        }
    }

    /// After a taken branch the rest of the cycle is empty, and the first fetch brings eight bytes with the target.
    fn redirect(&mut self) {
        self.open = false;
        self.caches.redirect();
    }
}

impl Timing for M7 {
    type Note = Facts;

    const FETCHES: bool = false;

    fn new(part: &Part, clock_hz: u64) -> Result<Self, String> {
        let registers = FlashRegisters::new(part, clock_hz)?;
        let caches = Caches::new(part, registers.settings());
        Ok(M7 {
            now: 0,
            ready: [0; 17],
            units: 0,
            open: false,
            written: 0,
            bank: 0,
            predictions: vec![Prediction::default(); PREDICTIONS],
            caches,
            registers,
        })
    }

    fn reset(&mut self) {
        self.registers.reset();
        self.caches.reset(self.registers.settings());
        self.now = 0;
        self.ready = [0; 17];
        self.open = false;
        self.predictions.fill(Prediction::default());
    }

    fn classify(&self, op: &mut Op, _address: u32) -> Facts {
        use Opcode::*;
        let o = op.operands();
        let mut note = Facts {
            reads: [o.addresses, o.reads & !o.addresses, 0],
            writes: o.writes & 0x7fff,
            base: 0,
            units: 0,
            latency: 1,
            reads_flags: o.reads_flags,
            writes_flags: o.writes_flags,
        };
        let register = |number: u8| 1u16 << (number & 15);
        let early = |note: &mut Facts, mask: u16| {
            note.reads[0] |= mask;
            note.reads[1] &= !mask;
        };
        match op.inner {
            _ if op.is_shifted() => {
                early(&mut note, register(op.m));
                note.units = unit::SHIFT;
                if matches!(op.inner, CmpShift | CmnShift | TstShift | TeqShift) {
                    note.latency = 2;
                }
            }
            LslImm | LslImmS | LsrImm | LsrImmS | AsrImm | AsrImmS | RorImm | RorImmS | LslReg | LslRegS
            | LsrReg | LsrRegS | AsrReg | AsrRegS | RorReg | RorRegS => note.units = unit::SHIFT,
            Rrx | RrxS => {
                early(&mut note, register(op.m));
                note.units = unit::SHIFT;
            }
            Bfi | Bfc => note.units = unit::SHIFT | unit::FIRST,
            Clz => note.units = unit::FIRST,
            Sxtb | Sxth | Uxtb | Uxth | Sxtb16 | Uxtb16 => note.units = unit::SIMD | unit::FIRST,
            Sbfx | Ubfx => {
                early(&mut note, o.reads);
                note.units = unit::SIMD | unit::SHIFT | unit::FIRST;
            }
            Sxtab | Sxtah | Uxtab | Uxtah | Sxtab16 | Uxtab16 | Pkhbt | Pkhtb => {
                early(&mut note, register(op.m));
                note.units = unit::SIMD | unit::SHIFT | unit::FIRST;
            }
            Rbit | Rev | Rev16 | Revsh => {
                early(&mut note, o.reads);
                note.units = unit::SIMD | unit::SHIFT | unit::FIRST;
                note.latency = 0;
            }
            Ssat | Usat | Ssat16 | Usat16 | Qdadd | Qdsub => {
                early(&mut note, o.reads);
                note.units = unit::SIMD | unit::SHIFT | unit::FIRST;
                note.latency = 2;
            }
            Qadd | Qsub | Usad8 | Usada8 => {
                note.units = unit::SIMD | unit::FIRST;
                note.latency = 2;
            }
            Parallel | Sel => {
                note.units = unit::SIMD | unit::FIRST;
                // The saturating ones: Q and UQ.
                note.latency = if op.inner == Parallel && matches!(op.a, 1 | 5) { 2 } else { 1 };
            }
            Mul | MulS | Umull | Smull | Smulxy | Smulwy | Smuad | Smusd | Smmul => {
                note.units = unit::MULTIPLY;
                note.latency = 2;
            }
            Mla | Mls | Umlal | Smlal | Umaal | Smlaxy | Smlalxy | Smlawy | Smlad | Smlsd | Smlald
            | Smlsld | Smmla | Smmls => {
                note.units = unit::MULTIPLY;
                note.latency = 2;
                // The accumulator is added a stage later.
                let factors = register(op.n) | register(op.m);
                note.reads = [0, o.reads & factors, o.reads & !factors];
            }
            Sdiv | Udiv => note.units = unit::ALONE,
            LdrImm | LdrReg | LdrLit => note.units = unit::LOAD,
            LdrPre | LdrPost => {
                note.units = unit::LOAD;
                note.base = register(op.n);
            }
            LdrbImm | LdrbReg | LdrbLit | LdrhImm | LdrhReg | LdrhLit | LdrsbImm | LdrsbReg | LdrsbLit
            | LdrshImm | LdrshReg | LdrshLit => {
                note.units = unit::LOAD;
                note.latency = 2;
            }
            LdrbPre | LdrbPost | LdrhPre | LdrhPost | LdrsbPre | LdrsbPost | LdrshPre | LdrshPost => {
                note.units = unit::LOAD;
                note.latency = 2;
                note.base = register(op.n);
            }
            StrImm | StrReg | StrbImm | StrbReg | StrhImm | StrhReg => {
                note.units = unit::STORE;
                note.reads = [o.addresses, 0, o.reads & !o.addresses];
            }
            StrPre | StrPost | StrbPre | StrbPost | StrhPre | StrhPost => {
                note.units = unit::STORE;
                note.reads = [o.addresses, 0, o.reads & !o.addresses];
                note.base = register(op.n);
            }
            Ldrd | Strd | Ldm | Ldmdb | LdmPc | Stm | Stmdb | Ldrex | Ldrexb | Ldrexh | Strex | Strexb
            | Strexh | Tbb | Tbh => {
                note.units = unit::ALONE;
                if matches!(op.inner, Strd | Stm | Stmdb) {
                    note.reads = [o.addresses, 0, o.reads & !o.addresses];
                }
                let base = register(op.n) & o.writes;
                if base != 0 && !matches!(op.inner, Strex | Strexb | Strexh) {
                    note.base = base;
                }
            }
            B | Beq | Bne | Bcs | Bcc | Bmi | Bpl | Bvs | Bvc | Bhi | Bls | Bge | Blt | Bgt | Ble | Bl
            | Bx | Blx | Cbz | Cbnz | LdrPc | MovPc | AddPc => note.units = unit::BRANCH,
            Mrs | Msr | Cps | Dmb | Dsb | Isb | Svc | Bkpt | Wfi | Wfe | Sev | Clrex => {
                note.units = unit::ALONE;
            }
            _ => {}
        }
        note.writes &= !note.base;
        note
    }

    fn retire(&mut self, op: &Op, note: &Facts, address: u32, outcome: Retired) -> u32 {
        let late = self.caches.fetch(address, u32::from(op.length));
        match outcome {
            Retired::Plain | Retired::Skipped | Retired::Multiply { .. } => self.issue(note, late, 0),
            Retired::NotTaken => {
                let cycles = self.issue(note, late, 0);
                let lost = self.predict(op, address, None);
                cycles + self.stall(lost)
            }
            Retired::Branch { target } => {
                let cycles = self.issue(note, late, 0);
                let lost = self.predict(op, address, Some(target));
                self.redirect();
                cycles + self.stall(lost)
            }
            Retired::Divide { .. } => {
                let cycles = self.issue(note, late, 0);
                cycles + self.stall(DIVIDE - 1)
            }
            Retired::Load { address: data, size, count } => {
                let bank = data >> 2 & 1;
                let cycles = self.issue(note, late, bank);
                let more = if count > 2 { u32::from(count).div_ceil(2) } else { 0 };
                let split = u32::from(data & (u32::from(size) - 1) != 0);
                let waits = self.caches.read(data, u32::from(size) * u32::from(count));
                cycles + self.stall(more + split + waits)
            }
            Retired::Store { address: data, size, count } => {
                let cycles = self.issue(note, late, 0);
                let more = if count > 2 { u32::from(count).div_ceil(2) } else { 0 };
                let split = u32::from(data & (u32::from(size) - 1) != 0);
                let waits = self.caches.write(data, u32::from(size) * u32::from(count));
                cycles + self.stall(more + split + waits)
            }
            Retired::LoadBranch { address: data, size, count, target } => {
                let cycles = self.issue(note, late, 0);
                let more = if count > 2 { u32::from(count).div_ceil(2) } else { 1 };
                let waits = self.caches.read(data, u32::from(size) * u32::from(count));
                let lost = self.predict(op, address, Some(target));
                self.redirect();
                cycles + self.stall(more + waits + lost)
            }
            Retired::System => {
                let cycles = self.issue(note, late, 0);
                let more = match op.inner {
                    // The pipeline is emptied and filled again.
                    Opcode::Isb => {
                        self.redirect();
                        MISPREDICTED
                    }
                    Opcode::Mrs | Opcode::Msr | Opcode::Cps | Opcode::Dsb | Opcode::Dmb => 2,
                    _ => 0,
                };
                cycles + self.stall(more)
            }
        }
    }

    /// DDI 0489 gives 12 cycles for the entry at no wait states, as for the Cortex-M3; the way back is taken alike.
    fn exception(&mut self, step: Exception, _sp: u32, _target: u32) -> u32 {
        self.redirect();
        self.stall(match step {
            Exception::Entry | Exception::Return => 12,
            Exception::TailChain => 6,
        })
    }

    fn idle(&mut self, _cycles: u64) {
        self.ready = [self.now; 17];
        self.open = false;
    }

    fn cache(&mut self, control: CacheControl) -> u32 {
        if control == CacheControl::InvalidateBranches {
            self.predictions.fill(Prediction::default());
            return 0;
        }
        let cycles = self.caches.control(control);
        self.stall(cycles)
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
        self.caches.apply(changed, self.registers.settings());
        Ok(())
    }
}
