//! Data flow of each instruction.

mod float;

use super::op::{Op, Opcode};
use crate::dataflow::{Dataflow, Locations, Propagation};

/// N and Z, which all instructions set together.
pub(super) const NZ: Locations = Locations::one(16);
pub(super) const C: Locations = Locations::one(17);
pub(super) const V: Locations = Locations::one(18);
pub(super) const Q: Locations = Locations::one(19);
pub(super) const GE: Locations = Locations::one(20);
pub(super) const NZCV: Locations = NZ.with(C).with(V);
/// FPSCR: N, Z, C, V; the cumulative flags; the modes.
pub(super) const FLOAT_NZCV: Locations = Locations::one(21);
pub(super) const CUMULATIVE: Locations = Locations::one(22);
pub(super) const MODES: Locations = Locations::one(23);
pub(super) const FPSCR: Locations = FLOAT_NZCV.with(CUMULATIVE).with(MODES);
/// The other special registers.
const SPECIAL: Locations = Locations::one(24);
const TEMPORARY: Locations = Locations::TEMPORARY;
pub(super) const LR: u8 = 14;

/// A core register; the program counter is public.
pub(super) fn r(number: u8) -> Locations {
    if number < 15 { Locations::one(number) } else { Locations::NONE }
}

/// A register of the floating-point unit.
pub(super) fn s(number: u8) -> Locations {
    Locations::one(32 + (number & 31))
}

/// Core registers, a bit each.
fn list(registers: u16) -> Locations {
    Locations(u64::from(registers & 0x7fff))
}

/// Flags that a condition code tests.
fn condition(code: u8) -> Locations {
    match code >> 1 {
        0 | 2 => NZ,
        1 => C,
        3 => V,
        4 => C | NZ,
        5 | 6 => NZ | V,
        _ => Locations::NONE,
    }
}

/// The effects of an instruction; `None` for an encoding without one. `takes_time`: its time
/// depends on its operands.
pub(super) fn dataflow(op: &Op, takes_time: bool) -> Option<Dataflow> {
    use Opcode::*;
    let mut flow = Dataflow::default();
    if op.it != 0 {
        flow.condition = condition(op.it >> 4);
        if !takes_as_long_skipped(op) {
            flow.branches(flow.condition);
        }
    }
    if takes_time {
        flow.takes_time(r(op.n) | r(op.m));
    }
    match op.inner {
        Undecoded | Marked | Conditional | Undefined => return None,
        Float => float::effects(&mut flow, op),
        _ if data_processing(&mut flow, op) || access(&mut flow, op) || control(&mut flow, op) => {}
        _ => others(&mut flow, op),
    }
    Some(flow)
}

/// Returns true if only the result shows that the condition failed: data processing in one cycle. A
/// load or store shows it by its access, too.
fn takes_as_long_skipped(op: &Op) -> bool {
    use Opcode::*;
    let operands = op.operands();
    let longer =
        matches!(op.inner, Umull | Smull | Umlal | Smlal | Mla | Mls | Sdiv | Udiv | Float | Msr | Mrs);
    let access = operands.addresses != 0
        || matches!(op.inner, LdrLit | LdrbLit | LdrhLit | LdrsbLit | LdrshLit | Ldrd);
    operands.writes & 1 << 15 == 0
        && !longer
        && !access
        && !matches!(op.inner, B | Loop | Bl | LdmPc | LdrPc | LdrSp)
}

/// Shift of a second operand, as it moves the operand's bytes.
fn shifted(kind: u8, amount: u32) -> Propagation {
    let amount = amount.min(255) as u8;
    match kind {
        0 => Propagation::Left(amount),
        1 => Propagation::Right(amount),
        2 => Propagation::SignedRight(amount),
        3 => Propagation::Rotated(amount),
        _ => Propagation::Mixed,
    }
}

/// The bytes of a constant that are not `neutral`.
fn bytes_other_than(constant: u32, neutral: u8) -> Propagation {
    Propagation::Masked(u32::from_le_bytes(
        constant.to_le_bytes().map(|byte| if byte == neutral { 0 } else { 0xff }),
    ))
}

/// The result is in [`TEMPORARY`]: flags and destination get it.
fn result(flow: &mut Dataflow, to: Locations, nz: bool) {
    if nz {
        flow.depends_on_all(TEMPORARY, NZ);
    }
    flow.moves(TEMPORARY, to, Propagation::Bytes);
}

/// AND to SBC, moves and shifts: whether it is one.
fn data_processing(flow: &mut Dataflow, op: &Op) -> bool {
    use Opcode::*;
    let sets = op.operands().writes_flags;
    let d = list(op.operands().writes);
    let (n, m) = (r(op.n), r(op.m));
    let same = op.n == op.m;
    match op.inner {
        AndImm | AndImmS | TstImm => logic(flow, n, bytes_other_than(op.imm, 0), constant_carry(op), d, sets),
        BicImm | BicImmS => logic(flow, n, bytes_other_than(op.imm, 0xff), constant_carry(op), d, sets),
        OrrImm | OrrImmS => logic(flow, n, bytes_other_than(op.imm, 0xff), constant_carry(op), d, sets),
        OrnImm | OrnImmS => logic(flow, n, bytes_other_than(op.imm, 0), constant_carry(op), d, sets),
        EorImm | EorImmS | TeqImm => logic(flow, n, Propagation::Bytes, constant_carry(op), d, sets),
        MovImm | MovImmS | MvnImm | MvnImmS => {
            logic(flow, Locations::NONE, Propagation::Bytes, constant_carry(op), d, sets);
        }
        EorReg | EorRegS | BicReg | BicRegS if same => {
            logic(flow, Locations::NONE, Propagation::Bytes, None, d, sets);
        }
        AndReg | AndRegS | TstReg | BicReg | BicRegS | OrrReg | OrrRegS | EorReg | EorRegS => {
            logic(flow, n | m, Propagation::Bytes, None, d, sets);
        }
        MovReg | MovRegS | MovSp | MvnReg | MvnRegS => logic(flow, m, Propagation::Bytes, None, d, sets),
        AndShift | AndShiftS | TstShift | BicShift | BicShiftS | OrrShift | OrrShiftS | OrnShift
        | OrnShiftS | EorShift | EorShiftS | TeqShift => shifted_logic(flow, op, n, d, sets),
        MvnShift | MvnShiftS => shifted_logic(flow, op, Locations::NONE, d, sets),
        AddImm | AddImmS | SubImm | SubImmS | RsbImm | RsbImmS | CmpImm | CmnImm => sum(flow, n, d, sets),
        SubReg | SubRegS | RsbReg | RsbRegS | CmpReg if same => sum(flow, Locations::NONE, d, sets),
        AddReg | AddRegS | SubReg | SubRegS | RsbReg | RsbRegS | CmpReg | CmnReg => {
            sum(flow, n | m, d, sets);
        }
        AdcImm | AdcImmS | SbcImm | SbcImmS => sum(flow, n | C, d, sets),
        // A register less itself and the carry is a mask of the carry.
        SbcReg | SbcRegS if same => sum(flow, C, d, sets),
        AdcReg | AdcRegS | SbcReg | SbcRegS => sum(flow, n | m | C, d, sets),
        AddShift | AddShiftS | SubShift | SubShiftS | RsbShift | RsbShiftS | CmpShift | CmnShift => {
            shift_operand(flow, op);
            sum(flow, n | TEMPORARY, d, sets);
        }
        AdcShift | AdcShiftS | SbcShift | SbcShiftS => {
            shift_operand(flow, op);
            sum(flow, n | TEMPORARY | C, d, sets);
        }
        AddSpShift | SubSpShift => sum_of_any(flow, r(13) | m, r(13), sets),
        LslImm | LslImmS => shift(flow, op, 0, d, sets),
        LsrImm | LsrImmS => shift(flow, op, 1, d, sets),
        AsrImm | AsrImmS => shift(flow, op, 2, d, sets),
        RorImm | RorImmS => shift(flow, op, 3, d, sets),
        Rrx | RrxS => shift(flow, op, 4, d, sets),
        LslReg | LslRegS | LsrReg | LsrRegS | AsrReg | AsrRegS | RorReg | RorRegS => {
            flow.depends_on_all(n | m, TEMPORARY);
            if sets {
                // Without a shift C stays.
                flow.depends_on_all(TEMPORARY | C, C);
            }
            result(flow, d, sets);
        }
        _ => return extraction(flow, op, d),
    }
    true
}

/// Source of C after an immediate; `None` where C is kept.
fn constant_carry(op: &Op) -> Option<Locations> {
    (op.a != 0).then_some(Locations::NONE)
}

fn logic(
    flow: &mut Dataflow,
    from: Locations,
    shape: Propagation,
    carry: Option<Locations>,
    d: Locations,
    sets: bool,
) {
    flow.moves(from, TEMPORARY, shape);
    if let Some(carry) = carry.filter(|_| sets) {
        flow.depends_on_all(carry, C);
    }
    result(flow, d, sets);
}

fn shift_operand(flow: &mut Dataflow, op: &Op) {
    let carry = if op.a == 4 { C } else { Locations::NONE };
    flow.moves(r(op.m) | carry, TEMPORARY, shifted(op.a, op.imm));
}

/// The carry out of a shift by a constant.
fn shifted_carry(flow: &mut Dataflow, op: &Op, kind: u8) {
    let kept = kind == 0 && op.imm == 0;
    if !kept {
        flow.depends_on_all(r(op.m), C);
    }
}

fn shifted_logic(flow: &mut Dataflow, op: &Op, n: Locations, d: Locations, sets: bool) {
    shift_operand(flow, op);
    if sets {
        shifted_carry(flow, op, op.a);
    }
    flow.moves(n | TEMPORARY, TEMPORARY, Propagation::Bytes);
    result(flow, d, sets);
}

fn shift(flow: &mut Dataflow, op: &Op, kind: u8, d: Locations, sets: bool) {
    let carry = if kind == 4 { C } else { Locations::NONE };
    flow.moves(r(op.m) | carry, TEMPORARY, shifted(kind, op.imm));
    if sets {
        shifted_carry(flow, op, kind);
    }
    result(flow, d, sets);
}

fn sum(flow: &mut Dataflow, from: Locations, d: Locations, sets: bool) {
    flow.moves(from, TEMPORARY, Propagation::Upward);
    if sets {
        flow.depends_on_all(from | TEMPORARY, NZCV);
    }
    flow.moves(TEMPORARY, d, Propagation::Bytes);
}

fn sum_of_any(flow: &mut Dataflow, from: Locations, d: Locations, sets: bool) {
    flow.depends_on_all(from, TEMPORARY);
    if sets {
        flow.depends_on_all(TEMPORARY, NZCV);
    }
    flow.moves(TEMPORARY, d, Propagation::Bytes);
}

/// Fields, extensions, the order of bytes and bits, products: whether it is one.
fn extraction(flow: &mut Dataflow, op: &Op, d: Locations) -> bool {
    use Opcode::*;
    let (n, m, a) = (r(op.n), r(op.m), r(op.a));
    let low = |bytes: u32| Propagation::Masked((1u64 << (8 * bytes)).wrapping_sub(1) as u32);
    let rotation = Propagation::Rotated(op.imm as u8 & 31);
    match op.inner {
        Movt => flow.moves(d, d, low(2)),
        // The field is cleared, the rest stays; under a secret condition all of it is secret.
        Bfc => flow.moves(d, d, Propagation::Bytes),
        Bfi => {
            flow.moves(n, TEMPORARY, Propagation::Left(op.imm as u8));
            flow.moves(d | TEMPORARY, d, Propagation::Bytes);
        }
        Ubfx => {
            flow.moves(n, TEMPORARY, Propagation::Right(op.imm as u8));
            flow.moves(TEMPORARY, d, low(u32::from(op.a).div_ceil(8)));
        }
        Uxtb | Sxtb | Uxth | Sxth => {
            let bytes = if matches!(op.inner, Uxtb | Sxtb) { 1 } else { 2 };
            flow.moves(m, TEMPORARY, rotation);
            flow.moves(TEMPORARY, TEMPORARY, low(bytes));
            let signed = matches!(op.inner, Sxtb | Sxth);
            flow.moves(TEMPORARY, d, if signed { Propagation::Mixed } else { Propagation::Bytes });
        }
        Rev => flow.moves(m, d, Propagation::Reversed),
        Rev16 => {
            flow.moves(m, TEMPORARY, Propagation::Reversed);
            flow.moves(TEMPORARY, d, Propagation::Rotated(16));
        }
        Mul | Mla | Mls => {
            flow.moves(if op.inner == Mul { n | m } else { n | m | a }, d, Propagation::Upward)
        }
        MulS => {
            flow.moves(n | m, TEMPORARY, Propagation::Upward);
            result(flow, d, true);
        }
        Umull | Smull | Umlal | Smlal | Umaal => {
            let added = match op.inner {
                Umlal | Smlal | Umaal => r(op.d) | a,
                _ => Locations::NONE,
            };
            flow.depends_on_all(n | m | added, TEMPORARY);
            let low = if op.inner == Umaal { added } else { added.without(a) };
            flow.moves(n | m | low, r(op.d), Propagation::Upward);
            flow.moves(TEMPORARY, a, Propagation::Bytes);
        }
        _ => return false,
    }
    true
}

/// Loads and stores: whether it is one.
fn access(flow: &mut Dataflow, op: &Op) -> bool {
    use Opcode::*;
    let d = r(op.d);
    let addresses = list(op.operands().addresses);
    flow.address(addresses);
    match op.inner {
        LdrImm | LdrReg | LdrPre | LdrPost | LdrLit | LdrbImm | LdrbReg | LdrbPre | LdrbPost | LdrbLit
        | LdrhImm | LdrhReg | LdrhPre | LdrhPost | LdrhLit | Ldrex | Ldrexb | Ldrexh | LdrSp => {
            flow.reads(d, Propagation::Bytes);
        }
        LdrsbImm | LdrsbReg | LdrsbPre | LdrsbPost | LdrsbLit | LdrshImm | LdrshReg | LdrshPre
        | LdrshPost | LdrshLit => flow.reads(d, Propagation::Mixed),
        StrImm | StrReg | StrPre | StrPost | StrbImm | StrbReg | StrbPre | StrbPost | StrhImm | StrhReg
        | StrhPre | StrhPost => flow.writes(d),
        LdrPc => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.branches(TEMPORARY);
        }
        Ldrd => {
            flow.reads(d, Propagation::Bytes);
            flow.reads(r(op.a), Propagation::Bytes);
        }
        Strd => {
            flow.writes(d);
            flow.writes(r(op.a));
        }
        Ldm | Ldmdb | LdmPc => {
            for number in list(op.imm as u16).numbers() {
                flow.reads(r(number as u8), Propagation::Bytes);
            }
            if op.inner == LdmPc {
                flow.reads(TEMPORARY, Propagation::Bytes);
                flow.branches(TEMPORARY);
            }
        }
        Stm | Stmdb => {
            for number in list(op.imm as u16).numbers() {
                flow.writes(r(number as u8));
            }
        }
        Strex | Strexb | Strexh => {
            flow.writes(r(op.a));
            flow.clears(d);
        }
        Tbb | Tbh => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.branches(TEMPORARY);
        }
        _ => {
            flow.effects.pop();
            return false;
        }
    }
    true
}

/// Adds the decisions on control flow, and returns true if the instruction makes some.
fn control(flow: &mut Dataflow, op: &Op) -> bool {
    use Opcode::*;
    let m = r(op.m);
    match op.inner {
        B | Loop | It | Nop | Wfi | Wfe | Sev | Dmb | Dsb | Isb | Cps | Svc | Bkpt | Clrex => {}
        Beq | Bne | Bmi | Bpl => flow.branches(NZ),
        Bcs | Bcc => flow.branches(C),
        Bvs | Bvc => flow.branches(V),
        Bhi | Bls => flow.branches(C | NZ),
        Bge | Blt | Bgt | Ble => flow.branches(NZ | V),
        Cbz | Cbnz => flow.branches(r(op.n)),
        Bx | MovPc | AddPc => flow.branches(m),
        Bl => flow.clears(r(LR)),
        Blx => {
            flow.branches(m);
            flow.clears(r(LR));
        }
        _ => return false,
    }
    true
}

/// Special registers, and what depends_on_all all of its operands.
fn others(flow: &mut Dataflow, op: &Op) {
    use Opcode::*;
    let operands = op.operands();
    let (reads, d) = (list(operands.reads), list(operands.writes));
    match op.inner {
        Mrs if op.imm <= 3 => flow.depends_on_all(NZCV | Q | GE, d),
        Mrs => flow.depends_on_all(SPECIAL, d),
        Msr if op.imm <= 3 => {
            let flags = if op.a & 2 != 0 { NZCV | Q } else { Locations::NONE };
            flow.depends_on_all(r(op.n), flags | if op.a & 1 != 0 { GE } else { Locations::NONE });
        }
        // A stack pointer, a mask of interrupts: what follows depends on it.
        Msr => {
            flow.branches(r(op.n));
            flow.depends_on_all(r(op.n) | SPECIAL, SPECIAL);
        }
        _ => {
            let carried = if op.inner == Sel { reads | GE } else { reads };
            flow.depends_on_all(carried, TEMPORARY);
            // Those that saturate, and products that may overflow.
            flow.depends_on_all(reads | Q, Q);
            if op.inner == Parallel && matches!(op.a, 0 | 3) {
                flow.depends_on_all(reads, GE);
            }
            flow.moves(TEMPORARY, d, Propagation::Bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::cortex_m::decode::{self, Architecture};
    use crate::dataflow::Effect;
    use testkit::random::{Random, seed};

    /// Under a secret condition a register keeps its value or gets another. An instruction that
    /// names no effect on a register that it writes would leave it public.
    #[test]
    fn conditional_data_processing_affects_each_written_register() {
        let mut random = Random::new(seed());
        let mut met = 0;
        for first in (0..=u16::MAX).flat_map(|first| [first; 8]) {
            let second = random.word() as u16;
            let op = decode::decode(first, second, 0x0800_0000, 0x78, Architecture::V7EM);
            let Some(flow) = dataflow(&op, false).filter(|_| takes_as_long_skipped(&op)) else { continue };
            let written = flow.effects.iter().fold(Locations::NONE, |all, effect| match effect {
                Effect::Move { to, .. } | Effect::Read { to, .. } => all | *to,
                _ => all,
            });
            let flags = match op.inner {
                _ if !op.operands().writes_flags => Locations::NONE,
                Opcode::Parallel => GE,
                _ => NZ,
            };
            let missing = (list(op.operands().writes) | flags).without(written | r(13));
            assert!(missing.is_empty(), "{first:04x} {second:04x}, {:?}: {missing:?}", op.inner);
            met += 1;
        }
        assert!(met > 100_000, "{met} instructions");
    }
}
