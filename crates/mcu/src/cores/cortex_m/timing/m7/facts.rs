//! Pipeline behaviour of each instruction on the Cortex-M7.
//!
//! Sources: jnk0le/random, "pipeline cycle test", doc/cortex_m7.md (measured on an STM32H743),
//! called the page below; what it leaves open is LLVM's ARMScheduleM7.td. Facts of the page one by
//! one: `crates/mcu/tests/suite/cortex_m/m7.toml`.

mod float;

use super::super::super::op::{Op, Opcode, Operands};
use super::super::Note;

/// Units of an instruction, which decide on its neighbour in the same cycle. An instruction joins
/// the one before it if that one blocks none of its units.
pub mod unit {
    /// Every instruction.
    pub const ANY: u16 = 1 << 0;
    /// Only as the older of two.
    pub const OLDER: u16 = 1 << 1;
    /// The shifter of the early ALU: inline shifts, shifted constants, bit fields.
    pub const SHIFTER: u16 = 1 << 2;
    /// Stores and multiplications: one of all these in a cycle.
    pub const STORE_OR_MULTIPLY: u16 = 1 << 3;
    pub const BRANCH: u16 = 1 << 4;
    /// A load from an even word; [`EVEN`] << 1 from an odd one. Known at execution.
    pub const EVEN: u16 = 1 << 5;
    /// Never together with another.
    pub const ALONE: u16 = 1 << 7;
    /// Writes [`super::Facts::second`].
    pub const SECOND: u16 = 1 << 8;
    /// Loads more than one register.
    pub const LIST: u16 = 1 << 9;
    /// A misaligned load. Known at execution.
    pub const MISALIGNED: u16 = 1 << 10;
    /// Floating-point arithmetic: one in a cycle, not with a multiply-accumulate either.
    pub const FLOAT: u16 = 1 << 11;
    /// A load, store or move of a floating-point register, which does not go with a
    /// multiply-accumulate.
    pub const FLOAT_MOVE: u16 = 1 << 12;
    pub const FLOAT_ACCUMULATE: u16 = 1 << 13;
    /// Nothing joins.
    pub const CLOSED: u16 = u16::MAX;
}

/// In which stage an operand is consumed: a column of [`DELAYS`].
mod stage {
    /// The late ALU.
    pub const LATE: u8 = 0;
    /// The late ALU, by an instruction that also has an early operand, and the factors of a
    /// product.
    pub const LATE_OF_MIXED: u8 = 1;
    /// Address generation, the early shifter, REV.
    pub const EARLY: u8 = 2;
    /// ADD, SUB and MOV in the early ALU.
    pub const EARLY_ALU: u8 = 3;
}

/// The kinds of results: rows of [`DELAYS`].
pub mod delay {
    pub const LATE_ALU: u8 = 0;
    pub const EARLY_ALU: u8 = 1;
    pub const REVERSED: u8 = 2;
    pub const BASE: u8 = 3;
    pub const WORD: u8 = 4;
    /// Bytes and halfwords loaded, products, saturated sums.
    pub const LATER: u8 = 5;
    /// Results of floating-point instructions: sums and products, fused and chained
    /// multiply-accumulates, words loaded, moves.
    pub const FLOAT: u8 = 6;
    pub const FUSED: u8 = 7;
    pub const CHAINED: u8 = 8;
    pub const FLOAT_LOADED: u8 = 9;
    pub const FLOAT_MOVED: u8 = 10;
}

/// Cycles from the issue of an instruction until one that consumes its result in each stage can be
/// issued. Of floating-point results the stages are those of [`float`], which has their rows.
///
/// The early ALU comes a cycle before the late one, so that its result reaches the late ALU of the
/// same cycle (page, "overall"). A word loaded reaches the late ALU in the next cycle, but not that
/// of an instruction which also has an early operand (page, "loads"). REV's result is late for
/// addresses and shifts, a base written back for ADD, SUB and MOV alone.
pub const DELAYS: [[u64; 4]; 16] = [
    [1, 1, 2, 2],
    [0, 0, 1, 1],
    [0, 0, 2, 1],
    [0, 0, 1, 2],
    [1, 2, 2, 2],
    [2, 2, 3, 3],
    [3, 3, 2, 1],
    [5, 3, 3, 3],
    [6, 3, 3, 4],
    [1, 3, 2, 1],
    [3, 3, 3, 3],
    [0; 4],
    [0; 4],
    [0; 4],
    [0; 4],
    [0; 4],
];

/// Rows of the table of results beyond r0 to r15: the flags; what is ready for ever; where results
/// go that nobody asks for.
pub const FLAGS: u8 = 16;
const READY: u8 = 17;
const NOBODY: u8 = 18;
/// When what a multiply-accumulate keeps out may be issued; when a fused one may be after a chained
/// one; FPSCR.
pub const AFTER_ACCUMULATE: u8 = 19;
pub const AFTER_CHAINED: u8 = 20;
const FPSCR: u8 = 21;
/// S0, and S1 to S31 after it.
pub const S0: u8 = 32;
/// An operand that is not there.
const NO_NEED: u8 = READY * 4;

/// Timing facts of a decoded instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// The operands: row times four plus stage in the table of results. The last two are consumed
    /// `accumulate` cycles later.
    pub needs: [u8; 4],
    /// 1: the last two operands are accumulated, a stage after the late ALU.
    pub accumulate: u8,
    /// The register written, its kind of result, and a second one.
    pub result: u8,
    pub delay: u8,
    pub second: u8,
    pub second_delay: u8,
    /// [`FLAGS`] if it writes them.
    pub flags: u8,
    /// The stage in which it must find its operands to execute in the early ALU; 0 if it cannot.
    pub early: u8,
    /// Cycles of a floating-point instruction that keeps the pipeline for more than one.
    pub cycles: u8,
    pub units: u16,
    /// Of the next instruction's units, those that may not be there.
    pub blocks: u16,
}

// SAFETY: numbers: all bytes zero is a valid value.
unsafe impl Note for Facts {}

/// Fills in the facts of one instruction.
struct Builder {
    facts: Facts,
    used: usize,
}

impl Builder {
    fn new() -> Builder {
        let facts = Facts {
            needs: [NO_NEED; 4],
            result: NOBODY,
            second: NOBODY,
            flags: NOBODY,
            units: unit::ANY,
            blocks: unit::OLDER | unit::ALONE,
            ..Facts::default()
        };
        Builder { facts, used: 0 }
    }

    fn need(&mut self, register: u8, stage: u8) {
        // PC and what is more than four: ready.
        if register != 15 && self.used < 4 {
            self.facts.needs[self.used] = register * 4 + stage;
            self.used += 1;
        }
    }

    fn need_all(&mut self, mut registers: u16, stage: u8) {
        while registers != 0 {
            self.need(registers.trailing_zeros() as u8, stage);
            registers &= registers - 1;
        }
    }

    /// Operands that are added to a product.
    fn accumulates(&mut self, mut registers: u16) {
        self.facts.accumulate = 1;
        self.used = 2;
        while registers != 0 {
            self.need(registers.trailing_zeros() as u8, stage::LATE);
            registers &= registers - 1;
        }
    }

    /// A unit of which there is one.
    fn single(&mut self, unit: u16) {
        self.facts.units |= unit;
        self.facts.blocks |= unit;
    }

    fn alone(&mut self) {
        self.facts.units |= unit::ALONE;
        self.facts.blocks = unit::CLOSED;
    }

    fn writes(&mut self, register: u8, delay: u8) {
        if register < 15 {
            self.facts.result = register;
            self.facts.delay = delay;
        }
    }

    fn also_writes(&mut self, register: u8, delay: u8) {
        self.facts.units |= unit::SECOND;
        self.facts.second = register & 15;
        self.facts.second_delay = delay;
    }
}

/// An immediate that the early shifter makes: eight bits shifted, neither small nor a repeated byte
/// (page, "operand2").
fn is_shifted_constant(value: u32) -> bool {
    let [low, second, ..] = value.to_le_bytes();
    let repeated = [
        u32::from_le_bytes([low, 0, low, 0]),
        u32::from_le_bytes([0, second, 0, second]),
        u32::from_le_bytes([low; 4]),
    ];
    value > 0xff && !repeated.contains(&value) && value >> value.trailing_zeros() <= 0xff
}

fn has_immediate(op: &Op) -> bool {
    use Opcode::*;
    matches!(
        op.inner,
        AndImm
            | AndImmS
            | BicImm
            | BicImmS
            | OrrImm
            | OrrImmS
            | OrnImm
            | OrnImmS
            | EorImm
            | EorImmS
            | AddImm
            | AddImmS
            | AdcImm
            | AdcImmS
            | SbcImm
            | SbcImmS
            | SubImm
            | SubImmS
            | RsbImm
            | RsbImmS
            | TstImm
            | TeqImm
            | CmpImm
            | CmnImm
            | MovImm
            | MovImmS
            | MvnImm
            | MvnImmS
    )
}

/// The facts of an instruction.
pub fn facts(op: &Op) -> Facts {
    use Opcode::*;
    let o = op.operands();
    let mut b = Builder::new();
    if o.writes_flags {
        b.facts.flags = FLAGS;
    }
    let conditional_branch =
        matches!(op.inner, Beq | Bne | Bcs | Bcc | Bmi | Bpl | Bvs | Bvc | Bhi | Bls | Bge | Blt | Bgt | Ble);
    if op.inner == Float {
        float::facts(op, &o, &mut b);
    } else if !memory(op, &o, &mut b) && !arithmetic(op, &o, &mut b) {
        control(op, &o, &mut b);
    }
    // A branch is issued on its prediction. Flags are set in the late ALU, and what depends on them
    // is late.
    if o.reads_flags && !(conditional_branch && op.it == 0) {
        b.facts.early = 0;
        if b.facts.accumulate == 0 {
            b.need(FLAGS, stage::LATE);
        }
    }
    b.facts
}

/// Loads and stores. A store's data are there in any case: "can store any result in same cycle"
/// (page, "stores").
fn memory(op: &Op, o: &Operands, b: &mut Builder) -> bool {
    use Opcode::*;
    match op.inner {
        LdrImm | LdrReg | LdrLit | LdrPre | LdrPost | LdrSp => b.writes(op.d, delay::WORD),
        LdrbImm | LdrbReg | LdrbLit | LdrhImm | LdrhReg | LdrhLit | LdrsbImm | LdrsbReg | LdrsbLit
        | LdrshImm | LdrshReg | LdrshLit | LdrbPre | LdrbPost | LdrhPre | LdrhPost | LdrsbPre | LdrsbPost
        | LdrshPre | LdrshPost => b.writes(op.d, delay::LATER),
        StrImm | StrReg | StrbImm | StrbReg | StrhImm | StrhReg | StrPre | StrPost | StrbPre | StrbPost
        | StrhPre | StrhPost => b.single(unit::STORE_OR_MULTIPLY),
        Ldrd | Ldm | Ldmdb | LdmPc => {
            b.alone();
            b.facts.units |= unit::LIST;
        }
        Ldrex | Ldrexb | Ldrexh | Strex | Strexb | Strexh => {
            b.alone();
            b.writes(op.d, delay::LATER);
        }
        Strd | Stm | Stmdb | Tbb | Tbh => b.alone(),
        LdrPc => b.single(unit::BRANCH),
        _ => return false,
    }
    b.need_all(o.addresses, stage::EARLY);
    let base = o.addresses & o.writes & !(1 << b.facts.result.min(15));
    let exclusive = matches!(op.inner, Strex | Strexb | Strexh);
    if base != 0 && !exclusive {
        b.also_writes(base.trailing_zeros() as u8, delay::BASE);
    }
    true
}

/// Data processing and multiplication.
fn arithmetic(op: &Op, o: &Operands, b: &mut Builder) -> bool {
    use Opcode::*;
    let bit = |register: u8| 1u16 << (register & 15);
    if op.is_shifted() || matches!(op.inner, AddSpShift | SubSpShift if op.imm != 0) {
        b.need(op.m, stage::EARLY);
        b.need_all(o.reads & !bit(op.m), stage::LATE_OF_MIXED);
        b.single(unit::SHIFTER);
        b.writes(op.d, delay::LATE_ALU);
        if matches!(op.inner, CmpShift | CmnShift | TstShift | TeqShift) {
            b.facts.result = NOBODY;
        }
        return true;
    }
    if !(by_shifter(op, o, b) || by_alu(op, o, b)) {
        return false;
    }
    if has_immediate(op) && is_shifted_constant(op.imm) {
        b.facts.early = 0;
        b.single(unit::SHIFTER);
    }
    true
}

/// Instructions that need the shifter; false for others.
fn by_shifter(op: &Op, o: &Operands, b: &mut Builder) -> bool {
    use Opcode::*;
    match op.inner {
        Rrx | RrxS => {
            b.need(op.m, stage::EARLY);
            b.writes(op.d, delay::LATE_ALU);
            b.single(unit::SHIFTER);
        }
        Rbit | Rev | Rev16 | Revsh => {
            b.need(op.m, stage::EARLY);
            b.writes(op.d, delay::REVERSED);
            b.facts.units |= unit::OLDER;
            b.single(unit::SHIFTER);
        }
        Sbfx | Ubfx => {
            b.need(op.n, stage::EARLY);
            b.writes(op.d, delay::LATE_ALU);
            b.facts.units |= unit::OLDER;
            b.single(unit::SHIFTER);
        }
        Bfi | Bfc => {
            if op.inner == Bfi {
                b.need(op.n, stage::EARLY);
            }
            b.need(op.d, stage::LATE_OF_MIXED);
            b.writes(op.d, delay::LATE_ALU);
            b.facts.units |= unit::OLDER;
            b.single(unit::SHIFTER);
        }
        Sxtab | Sxtah | Uxtab | Uxtah | Sxtab16 | Uxtab16 | Pkhbt | Pkhtb => {
            b.need(op.m, stage::EARLY);
            b.need(op.n, if op.inner == Pkhtb { stage::EARLY } else { stage::LATE_OF_MIXED });
            b.writes(op.d, delay::LATE_ALU);
            b.facts.units |= unit::OLDER;
            b.single(unit::SHIFTER);
        }
        Ssat | Usat | Sat16 | Qdadd | Qdsub => {
            b.need_all(o.reads, stage::EARLY);
            b.writes(op.d, delay::LATER);
            b.facts.units |= unit::OLDER;
            b.single(unit::SHIFTER);
        }
        _ => return false,
    }
    true
}

/// Instructions of the ALU, the multiplier and the divider; false for others.
fn by_alu(op: &Op, o: &Operands, b: &mut Builder) -> bool {
    use Opcode::*;
    let bit = |register: u8| 1u16 << (register & 15);
    match op.inner {
        CmpReg | CmpImm | CmnReg | CmnImm | TstReg | TstImm | TeqImm => b.need_all(o.reads, stage::LATE),
        AddReg | AddRegS | SubReg | SubRegS | AddImm | AddImmS | SubImm | SubImmS | MovReg | MovRegS
        | MovImm | MovImmS | MovSp | AddSpShift | SubSpShift => {
            b.need_all(o.reads, stage::LATE);
            b.writes(op.d, delay::LATE_ALU);
            b.facts.early = stage::EARLY_ALU;
        }
        LslImm | LslImmS | LsrImm | LsrImmS | AsrImm | AsrImmS | RorImm | RorImmS | LslReg | LslRegS
        | LsrReg | LsrRegS | AsrReg | AsrRegS | RorReg | RorRegS => {
            b.need_all(o.reads, stage::LATE);
            b.writes(op.d, delay::LATE_ALU);
            b.facts.early = stage::EARLY;
            // Page, "operand2": a shift before an inline shift does not pair, after it it does.
            b.facts.blocks |= unit::SHIFTER;
        }
        Clz | Sxtb | Sxth | Uxtb | Uxth | Sxtb16 | Uxtb16 | Sel | Qadd | Qsub | Usad8 | Usada8 | Parallel => {
            // Saturation and sums of differences come a stage later (LLVM).
            let saturates = op.inner == Parallel && matches!(op.a, 1 | 4);
            let later = saturates || matches!(op.inner, Qadd | Qsub | Usad8 | Usada8);
            b.need_all(o.reads, stage::LATE);
            b.writes(op.d, if later { delay::LATER } else { delay::LATE_ALU });
            b.facts.units |= unit::OLDER;
        }
        Mul | MulS | Umull | Smull | Smulxy | Smulwy | Smuad | Smusd | Smmul | Mla | Mls | Umlal | Smlal
        | Umaal | Smlaxy | Smlalxy | Smlawy | Smlad | Smlsd | Smlald | Smlsld | Smmla | Smmls => {
            let factors = bit(op.n) | bit(op.m);
            b.need_all(o.reads & factors, stage::LATE_OF_MIXED);
            b.accumulates(o.reads & !factors);
            b.single(unit::STORE_OR_MULTIPLY);
            b.writes(op.d, delay::LATER);
            let high = o.writes & !bit(op.d);
            if high != 0 {
                b.also_writes(high.trailing_zeros() as u8, delay::LATER);
            }
        }
        Sdiv | Udiv => {
            b.need_all(o.reads, stage::LATE);
            b.writes(op.d, delay::LATE_ALU);
            b.alone();
        }
        _ if has_immediate(op) || matches!(op.inner, Movt) || o.writes & 0x7fff != 0 && !is_control(op) => {
            b.need_all(o.reads, stage::LATE);
            b.writes(op.d, delay::LATE_ALU);
        }
        _ => return false,
    }
    true
}

fn is_control(op: &Op) -> bool {
    use Opcode::*;
    matches!(op.inner, Bl | Blx | Mrs)
}

/// Branches and system instructions.
fn control(op: &Op, o: &Operands, b: &mut Builder) {
    use Opcode::*;
    match op.inner {
        Bl | Blx => {
            b.single(unit::BRANCH);
            b.writes(14, delay::LATE_ALU);
        }
        B | Loop | Beq | Bne | Bcs | Bcc | Bmi | Bpl | Bvs | Bvc | Bhi | Bls | Bge | Blt | Bgt | Ble | Bx
        | Cbz | Cbnz | MovPc | AddPc => b.single(unit::BRANCH),
        Mrs | Msr | Cps | Dmb | Dsb | Isb | Svc | Bkpt | Wfi | Wfe | Sev | Clrex => {
            b.need_all(o.reads, stage::LATE);
            if op.inner == Mrs {
                b.writes(op.d, delay::LATE_ALU);
            }
            b.alone();
        }
        _ => {}
    }
}
