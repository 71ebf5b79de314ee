//! Data flow of each instruction. No instruction's time depends on data.

use super::decode::{Mode, Op, Opcode, decode};
use super::registers::{self as ccr, Hc08};
use crate::dataflow::{CoreDataflow, Dataflow, Locations, Propagation};
use crate::memory::Page;

const A: Locations = Locations::one(0);
const H: Locations = Locations::one(1);
const X: Locations = Locations::one(2);
const HX: Locations = H.with(X);
const SP: Locations = Locations::one(3);
const C: Locations = Locations::one(4);
const Z: Locations = Locations::one(5);
const N: Locations = Locations::one(6);
const V: Locations = Locations::one(7);
const HALF: Locations = Locations::one(8);
const MASK: Locations = Locations::one(9);
/// Flags that nearly all instructions set together.
const VNZ: Locations = V.with(N).with(Z);
const CCR: Locations = VNZ.with(C).with(HALF).with(MASK);
/// The second byte of a word in memory.
const LOW: Locations = Locations::one(14);
/// An operand or a result; of a word in memory both bytes, the one at the lower address in the
/// lowest.
const TEMPORARY: Locations = Locations::TEMPORARY;

/// Bits of a register, by its index in [`super::registers::REGISTERS`].
fn locations(register: usize, bits: u32, _bank: u8) -> Locations {
    let flags = [(ccr::C, C), (ccr::Z, Z), (ccr::N, N), (ccr::I, MASK), (ccr::H, HALF), (ccr::V, V)];
    match register {
        0 => A,
        1 => H,
        2 => X,
        3 => SP,
        5 => flags
            .into_iter()
            .filter(|(flag, _)| bits & u32::from(*flag) != 0)
            .fold(Locations::NONE, |all, (_, place)| all | place),
        _ => Locations::NONE,
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
        let mut core = CoreDataflow::new(Box::new(describe), locations);
        core.alignment = 0;
        core.locations_are_bytes = true;
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
            flow.moves(value, VNZ | to, Propagation::Bytes);
        }
        Sta | Stx => {
            let from = if op.kind == Sta { A } else { X };
            flow.address(base(op));
            flow.writes(from);
            flow.moves(from, VNZ, Propagation::Bytes);
        }
        And | Bit if op.mode == Mode::Immediate && op.operand == 0 => {
            flow.clears(VNZ | if op.kind == And { A } else { Locations::NONE });
        }
        Ora if op.mode == Mode::Immediate && op.operand == 0xff => flow.clears(VNZ | A),
        Eor | And | Ora | Bit => {
            let value = operand(&mut flow, op);
            flow.moves(A | value, VNZ | TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, if op.kind == Bit { Locations::NONE } else { A }, Propagation::Bytes);
        }
        Add | Adc | Sub | Sbc | Cmp | Cpx => {
            let value = operand(&mut flow, op);
            let carry = if matches!(op.kind, Adc | Sbc) { C } else { Locations::NONE };
            let half = if matches!(op.kind, Add | Adc) { HALF } else { Locations::NONE };
            let to = if matches!(op.kind, Cmp | Cpx) { Locations::NONE } else { A };
            let register = if op.kind == Cpx { X } else { A };
            flow.moves(register | value | carry, TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, VNZ | C | half | to, Propagation::Bytes);
        }
        Ldhx => {
            word_operand(&mut flow, op);
            flow.moves(TEMPORARY, H, Propagation::Masked(0xff));
            flow.moves(TEMPORARY, X, Propagation::Right(8));
            flow.depends_on_all(TEMPORARY, VNZ);
        }
        Sthx => {
            flow.moves(H, TEMPORARY, Propagation::Masked(0xff));
            flow.moves(X, LOW, Propagation::Left(8));
            flow.writes(TEMPORARY | LOW);
            flow.depends_on_all(HX, VNZ);
        }
        Cphx => {
            word_operand(&mut flow, op);
            flow.depends_on_all(HX | TEMPORARY, VNZ | C);
        }
        Aix => flow.moves(HX, H, Propagation::Bytes),
        Inc | Dec | Tst => modify(&mut flow, op, Locations::NONE, VNZ),
        Neg | Lsl | Lsr | Asr => modify(&mut flow, op, Locations::NONE, VNZ | C),
        Rol | Ror => modify(&mut flow, op, C, VNZ | C),
        Com => {
            modify(&mut flow, op, Locations::NONE, VNZ);
            flow.clears(C);
        }
        Clr => {
            match op.mode {
                Mode::A => flow.clears(A),
                Mode::X => flow.clears(X),
                _ => {
                    flow.address(base(op));
                    flow.writes(Locations::NONE);
                }
            }
            flow.clears(VNZ);
        }
        Clrh => flow.clears(H | VNZ),
        Mov | MovImmediate | MovToIndexed | MovFromIndexed => copy(&mut flow, op.kind),
        Mul => {
            flow.moves(X | A, TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, X | A, Propagation::Bytes);
            flow.clears(HALF | C);
        }
        Div => {
            flow.moves(HX | A, TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, A | H | Z | C, Propagation::Bytes);
        }
        Daa => {
            flow.moves(A | C | HALF, TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, A | N | Z | C, Propagation::Bytes);
        }
        Tax => flow.moves(A, X, Propagation::Bytes),
        Txa => flow.moves(X, A, Propagation::Bytes),
        Tap => flow.moves(A, CCR, Propagation::Bytes),
        Tpa => flow.moves(CCR, A, Propagation::Bytes),
        Tsx => {
            flow.moves(SP, X, Propagation::Bytes);
            flow.moves(SP, H, Propagation::Mixed);
        }
        Txs => flow.depends_on_all(HX, SP),
        Ais | Rsp => {}
        Clc | Sec => flow.clears(C),
        Cli | Sei => flow.clears(MASK),
        _ => control(&mut flow, op),
    }
    flow
}

/// Register that decides on the address of an operand in memory.
fn base(op: Op) -> Locations {
    match op.mode {
        Mode::Indexed => HX,
        Mode::Stack => SP,
        _ => Locations::NONE,
    }
}

/// Location of the operand, or of the result.
fn operand(flow: &mut Dataflow, op: Op) -> Locations {
    match op.mode {
        Mode::Immediate => Locations::NONE,
        Mode::A => A,
        Mode::X => X,
        _ => {
            flow.address(base(op));
            flow.reads(TEMPORARY, Propagation::Bytes);
            TEMPORARY
        }
    }
}

fn word_operand(flow: &mut Dataflow, op: Op) {
    match op.mode {
        Mode::Immediate => flow.clears(TEMPORARY),
        _ => flow.reads(TEMPORARY, Propagation::Bytes),
    }
}

/// An operand that is changed where it is, together with `more`; `TST` only looks at it.
fn modify(flow: &mut Dataflow, op: Op, more: Locations, flags: Locations) {
    let value = operand(flow, op);
    flow.moves(value | more, TEMPORARY, Propagation::Bytes);
    match op.mode {
        _ if op.kind == Opcode::Tst => {}
        Mode::A | Mode::X => flow.moves(TEMPORARY, value, Propagation::Bytes),
        _ => flow.writes(TEMPORARY),
    }
    flow.moves(TEMPORARY, flags, Propagation::Bytes);
}

fn copy(flow: &mut Dataflow, kind: Opcode) {
    if kind == Opcode::MovFromIndexed {
        flow.address(HX);
    }
    match kind {
        Opcode::MovImmediate => flow.clears(TEMPORARY),
        _ => flow.reads(TEMPORARY, Propagation::Bytes),
    }
    flow.address(if kind == Opcode::MovToIndexed { HX } else { Locations::NONE });
    flow.writes(TEMPORARY);
    if matches!(kind, Opcode::MovToIndexed | Opcode::MovFromIndexed) {
        flow.moves(HX, H, Propagation::Bytes);
    }
    flow.moves(TEMPORARY, VNZ, Propagation::Bytes);
}

/// Bits, the stack, and what decides on where execution goes on.
fn control(flow: &mut Dataflow, op: Op) {
    use Opcode::*;
    match op.kind {
        Brset | Brclr => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, C, Propagation::Bytes);
            flow.branches(TEMPORARY);
        }
        Bset | Bclr => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.writes(TEMPORARY);
        }
        Cbeq | CbeqIncrement => {
            let value = operand(flow, op);
            if op.kind == CbeqIncrement {
                flow.moves(HX, H, Propagation::Bytes);
            }
            flow.branches(A | value);
        }
        CbeqX => flow.branches(X),
        Dbnz => {
            modify(flow, op, Locations::NONE, Locations::NONE);
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
            flow.branches(if op.kind == CallIndexed { HX } else { Locations::NONE });
            push(flow, Locations::NONE);
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
            [Locations::NONE, X, A, CCR].into_iter().for_each(|from| push(flow, from));
            flow.clears(MASK);
        }
        Rti => {
            [CCR, A, X, TEMPORARY].into_iter().for_each(|to| pull(flow, to));
            flow.branches(TEMPORARY);
        }
        _ => {}
    }
}

fn push(flow: &mut Dataflow, from: Locations) {
    flow.address(SP);
    flow.writes(from);
}

fn pull(flow: &mut Dataflow, to: Locations) {
    flow.address(SP);
    flow.reads(to, Propagation::Bytes);
}
