//! Data flow of each instruction. No instruction's time depends on data.

use super::decode::{Mode, Op, Opcode, decode};
use super::registers::{self as ccr, Hc08};
use crate::dataflow::{CoreDataflow, Dataflow, Places, Shape};
use crate::memory::Page;

const A: Places = Places::one(0);
const H: Places = Places::one(1);
const X: Places = Places::one(2);
const HX: Places = H.with(X);
const SP: Places = Places::one(3);
const C: Places = Places::one(4);
const Z: Places = Places::one(5);
const N: Places = Places::one(6);
const V: Places = Places::one(7);
const HALF: Places = Places::one(8);
const MASK: Places = Places::one(9);
/// Flags that nearly all instructions set together.
const VNZ: Places = V.with(N).with(Z);
const CCR: Places = VNZ.with(C).with(HALF).with(MASK);
/// The second byte of a word in memory.
const LOW: Places = Places::one(14);
/// An operand or a result; of a word in memory both bytes, the one at the lower address in the
/// lowest.
const TEMPORARY: Places = Places::TEMPORARY;

/// Bits of a register, by its index in [`super::registers::REGISTERS`].
fn places(register: usize, bits: u32, _bank: u8) -> Places {
    let flags = [(ccr::C, C), (ccr::Z, Z), (ccr::N, N), (ccr::I, MASK), (ccr::H, HALF), (ccr::V, V)];
    match register {
        0 => A,
        1 => H,
        2 => X,
        3 => SP,
        5 => flags
            .into_iter()
            .filter(|(flag, _)| bits & u32::from(*flag) != 0)
            .fold(Places::NONE, |all, (_, place)| all | place),
        _ => Places::NONE,
    }
}

impl Hc08 {
    pub(super) fn dataflow(&self) -> CoreDataflow {
        let memory = self.memory.clone();
        let describe = move |pc: u32| {
            let at = |offset: usize| u32::from((pc as u16).wrapping_add(offset as u16));
            let op = decode(pc as u16, std::array::from_fn(|offset| memory.byte(at(offset)) as u8));
            let whole =
                |op: &Op| (0..usize::from(op.length)).all(|offset| memory.page(at(offset)) != Page::Other);
            op.filter(whole).map(|op| (pc, dataflow(op))).into_iter().collect()
        };
        let mut core = CoreDataflow::new(Box::new(describe), places);
        core.alignment = 0;
        core.places_are_bytes = true;
        core
    }
}

fn dataflow(op: Op) -> Dataflow {
    use Opcode::*;
    let mut flow = Dataflow::default();
    match op.kind {
        Unknown | JumpToSelf | Bih | Bil | Brn | Jump | Nop | Wait | Stop | Nsa => {}
        Lda | Ldx => {
            let to = if op.kind == Lda { A } else { X };
            let value = operand(&mut flow, op);
            flow.moves(value, VNZ | to, Shape::Bytes);
        }
        Sta | Stx => {
            let from = if op.kind == Sta { A } else { X };
            flow.address(base(op));
            flow.writes(from);
            flow.moves(from, VNZ, Shape::Bytes);
        }
        And | Bit if op.mode == Mode::Immediate && op.operand == 0 => {
            flow.clears(VNZ | if op.kind == And { A } else { Places::NONE });
        }
        Ora if op.mode == Mode::Immediate && op.operand == 0xff => flow.clears(VNZ | A),
        Eor | And | Ora | Bit => {
            let value = operand(&mut flow, op);
            flow.moves(A | value, VNZ | TEMPORARY, Shape::Bytes);
            flow.moves(TEMPORARY, if op.kind == Bit { Places::NONE } else { A }, Shape::Bytes);
        }
        Add | Adc | Sub | Sbc | Cmp | Cpx => {
            let value = operand(&mut flow, op);
            let carry = if matches!(op.kind, Adc | Sbc) { C } else { Places::NONE };
            let half = if matches!(op.kind, Add | Adc) { HALF } else { Places::NONE };
            let to = if matches!(op.kind, Cmp | Cpx) { Places::NONE } else { A };
            let register = if op.kind == Cpx { X } else { A };
            flow.moves(register | value | carry, TEMPORARY, Shape::Bytes);
            flow.moves(TEMPORARY, VNZ | C | half | to, Shape::Bytes);
        }
        Ldhx => {
            word_operand(&mut flow, op);
            flow.moves(TEMPORARY, H, Shape::Masked(0xff));
            flow.moves(TEMPORARY, X, Shape::Right(8));
            flow.mixes(TEMPORARY, VNZ);
        }
        Sthx => {
            flow.moves(H, TEMPORARY, Shape::Masked(0xff));
            flow.moves(X, LOW, Shape::Left(8));
            flow.writes(TEMPORARY | LOW);
            flow.mixes(HX, VNZ);
        }
        Cphx => {
            word_operand(&mut flow, op);
            flow.mixes(HX | TEMPORARY, VNZ | C);
        }
        Aix => flow.moves(HX, H, Shape::Bytes),
        Inc | Dec | Tst => modify(&mut flow, op, Places::NONE, VNZ),
        Neg | Lsl | Lsr | Asr => modify(&mut flow, op, Places::NONE, VNZ | C),
        Rol | Ror => modify(&mut flow, op, C, VNZ | C),
        Com => {
            modify(&mut flow, op, Places::NONE, VNZ);
            flow.clears(C);
        }
        Clr => {
            match op.mode {
                Mode::A => flow.clears(A),
                Mode::X => flow.clears(X),
                _ => {
                    flow.address(base(op));
                    flow.writes(Places::NONE);
                }
            }
            flow.clears(VNZ);
        }
        Clrh => flow.clears(H | VNZ),
        Mov | MovImmediate | MovToIndexed | MovFromIndexed => copy(&mut flow, op.kind),
        Mul => {
            flow.moves(X | A, TEMPORARY, Shape::Bytes);
            flow.moves(TEMPORARY, X | A, Shape::Bytes);
            flow.clears(HALF | C);
        }
        Div => {
            flow.moves(HX | A, TEMPORARY, Shape::Bytes);
            flow.moves(TEMPORARY, A | H | Z | C, Shape::Bytes);
        }
        Daa => {
            flow.moves(A | C | HALF, TEMPORARY, Shape::Bytes);
            flow.moves(TEMPORARY, A | N | Z | C, Shape::Bytes);
        }
        Tax => flow.moves(A, X, Shape::Bytes),
        Txa => flow.moves(X, A, Shape::Bytes),
        Tap => flow.moves(A, CCR, Shape::Bytes),
        Tpa => flow.moves(CCR, A, Shape::Bytes),
        Tsx => {
            flow.moves(SP, X, Shape::Bytes);
            flow.moves(SP, H, Shape::Mixed);
        }
        Txs => flow.mixes(HX, SP),
        Ais | Rsp => {}
        Clc | Sec => flow.clears(C),
        Cli | Sei => flow.clears(MASK),
        _ => control(&mut flow, op),
    }
    flow
}

/// Register that decides on the address of an operand in memory.
fn base(op: Op) -> Places {
    match op.mode {
        Mode::Indexed => HX,
        Mode::Stack => SP,
        _ => Places::NONE,
    }
}

/// Location of the operand, or of the result.
fn operand(flow: &mut Dataflow, op: Op) -> Places {
    match op.mode {
        Mode::Immediate => Places::NONE,
        Mode::A => A,
        Mode::X => X,
        _ => {
            flow.address(base(op));
            flow.reads(TEMPORARY, Shape::Bytes);
            TEMPORARY
        }
    }
}

fn word_operand(flow: &mut Dataflow, op: Op) {
    match op.mode {
        Mode::Immediate => flow.clears(TEMPORARY),
        _ => flow.reads(TEMPORARY, Shape::Bytes),
    }
}

/// An operand that is changed where it is, together with `more`; `TST` only looks at it.
fn modify(flow: &mut Dataflow, op: Op, more: Places, flags: Places) {
    let value = operand(flow, op);
    flow.moves(value | more, TEMPORARY, Shape::Bytes);
    match op.mode {
        _ if op.kind == Opcode::Tst => {}
        Mode::A | Mode::X => flow.moves(TEMPORARY, value, Shape::Bytes),
        _ => flow.writes(TEMPORARY),
    }
    flow.moves(TEMPORARY, flags, Shape::Bytes);
}

fn copy(flow: &mut Dataflow, kind: Opcode) {
    if kind == Opcode::MovFromIndexed {
        flow.address(HX);
    }
    match kind {
        Opcode::MovImmediate => flow.clears(TEMPORARY),
        _ => flow.reads(TEMPORARY, Shape::Bytes),
    }
    flow.address(if kind == Opcode::MovToIndexed { HX } else { Places::NONE });
    flow.writes(TEMPORARY);
    if matches!(kind, Opcode::MovToIndexed | Opcode::MovFromIndexed) {
        flow.moves(HX, H, Shape::Bytes);
    }
    flow.moves(TEMPORARY, VNZ, Shape::Bytes);
}

/// Bits, the stack, and what decides on where execution goes on.
fn control(flow: &mut Dataflow, op: Op) {
    use Opcode::*;
    match op.kind {
        Brset | Brclr => {
            flow.reads(TEMPORARY, Shape::Bytes);
            flow.moves(TEMPORARY, C, Shape::Bytes);
            flow.branches(TEMPORARY);
        }
        Bset | Bclr => {
            flow.reads(TEMPORARY, Shape::Bytes);
            flow.writes(TEMPORARY);
        }
        Cbeq | CbeqIncrement => {
            let value = operand(flow, op);
            if op.kind == CbeqIncrement {
                flow.moves(HX, H, Shape::Bytes);
            }
            flow.branches(A | value);
        }
        CbeqX => flow.branches(X),
        Dbnz => {
            modify(flow, op, Places::NONE, Places::NONE);
            flow.branches(TEMPORARY);
        }
        Bcc | Bcs => flow.branches(C),
        Beq | Bne => flow.branches(Z),
        Bhi | Bls => flow.branches(C | Z),
        Bpl | Bmi => flow.branches(N),
        Bge | Blt => flow.branches(N | V),
        Bgt | Ble => flow.branches(N | V | Z),
        Bhcc | Bhcs => flow.branches(HALF),
        Bmc | Bms => flow.branches(MASK),
        JumpIndexed => flow.branches(HX),
        Call | CallIndexed => {
            flow.branches(if op.kind == CallIndexed { HX } else { Places::NONE });
            push(flow, Places::NONE);
        }
        Psha => push(flow, A),
        Pshh => push(flow, H),
        Pshx => push(flow, X),
        Pula => pull(flow, A),
        Pulh => pull(flow, H),
        Pulx => pull(flow, X),
        Rts => {
            pull(flow, TEMPORARY);
            flow.branches(TEMPORARY);
        }
        // The return address, X, A and the flags, and back.
        Swi => {
            [Places::NONE, X, A, CCR].into_iter().for_each(|from| push(flow, from));
            flow.clears(MASK);
        }
        Rti => {
            [CCR, A, X, TEMPORARY].into_iter().for_each(|to| pull(flow, to));
            flow.branches(TEMPORARY);
        }
        _ => {}
    }
}

fn push(flow: &mut Dataflow, from: Places) {
    flow.address(SP);
    flow.writes(from);
}

fn pull(flow: &mut Dataflow, to: Places) {
    flow.address(SP);
    flow.reads(to, Shape::Bytes);
}
