//! Data flow of each instruction.

use super::decode::decode;
use super::op::{Op, Opcode, Operand, Width};
use super::registers::{Msp430, PC, SP, SR};
use crate::dataflow::{CoreDataflow, Dataflow, Locations, Propagation};
use crate::memory::Page;

const C: Locations = Locations::one(0);
const Z: Locations = Locations::one(1);
const N: Locations = Locations::one(2);
const V: Locations = Locations::one(3);
const FLAGS: Locations = C.with(Z).with(N).with(V);
/// The rest of the status register.
const MODES: Locations = Locations::one(4);
/// Value of the source operand.
const SOURCE: Locations = Locations::one(5);
const TEMPORARY: Locations = Locations::TEMPORARY;

/// A register as an operand. The program counter and the constant generator are public.
fn r(number: u8) -> Locations {
    match usize::from(number & 15) {
        PC | 3 => Locations::NONE,
        SR => FLAGS | MODES,
        number => Locations::one(16 + number as u8),
    }
}

/// Bits of a register, by its index in [`super::registers::REGISTERS`].
fn locations(register: usize, bits: u32, _bank: u8) -> Locations {
    let number = Msp430::number(register);
    if number != SR {
        return r(number as u8);
    }
    status(bits)
}

/// Bits of the status register.
fn status(bits: u32) -> Locations {
    let of = |mask: u32, locations: Locations| if bits & mask != 0 { locations } else { Locations::NONE };
    of(1, C) | of(2, Z) | of(4, N) | of(0x100, V) | of(0xf8, MODES)
}

/// The bytes of a width.
fn bytes(width: Width) -> Propagation {
    Propagation::Masked(match width {
        Width::Byte => 0xff,
        Width::Word => 0xffff,
        Width::Address => 0xff_ffff,
    })
}

impl Msp430 {
    pub(super) fn dataflow(&self) -> CoreDataflow {
        let memory = self.memory.clone();
        let describe = move |pc| {
            let fetch = |address| (memory.page(address) != Page::Other).then(|| memory.word(address) as u16);
            let op = decode(pc, fetch).filter(|op| op.kind != Opcode::Unknown);
            op.map(|op| (pc, dataflow(&op))).into_iter().collect()
        };
        let mut core = CoreDataflow::new(Box::new(describe), locations);
        core.interrupt.writes(Locations::NONE);
        core.interrupt.writes(FLAGS | MODES);
        core
    }
}

fn dataflow(op: &Op) -> Dataflow {
    use Opcode::*;
    let mut flow = Dataflow::default();
    if op.count_register != 0 {
        flow.takes_time(r(op.count_register));
    }
    let carry = if op.zero_carry { Locations::NONE } else { C };
    let same = op.source == Operand::Register
        && op.destination == Operand::Register
        && op.source_register == op.destination_register;
    match op.kind {
        Unknown | Jmp => {}
        Jne | Jeq => flow.branches(Z),
        Jnc | Jc => flow.branches(C),
        Jn => flow.branches(N),
        Jge | Jl => flow.branches(N | V),
        Mov => {
            source(&mut flow, op);
            match op.destination {
                Operand::Register => to_register(&mut flow, op.destination_register, SOURCE),
                _ => {
                    flow.address(base(op.destination, op.destination_register));
                    flow.writes(SOURCE);
                }
            }
        }
        Sub if same => two_operands(&mut flow, op, Propagation::Bytes, FLAGS, |_| Locations::NONE),
        Xor if same => {
            two_operands(&mut flow, op, Propagation::Bytes, C | Z | N, |_| Locations::NONE);
            // Whether both operands were negative.
            flow.depends_on_all(SOURCE, V);
        }
        // A register less itself and the carry is a mask of the carry.
        Subc if same => two_operands(&mut flow, op, Propagation::Mixed, FLAGS, |_| carry),
        // CLRC, SETC and their like, DINT, EINT, the low-power modes: the other flags stay what
        // they are.
        Bic | Bis if changes_status(op) => flow.clears(status(op.source_value & !0xf8)),
        Bic | Bis => logic(&mut flow, op, Locations::NONE),
        Xor | And | Bit => logic(&mut flow, op, FLAGS),
        Add | Sub | Cmp => two_operands(&mut flow, op, Propagation::Upward, FLAGS, |all| all),
        Addc | Subc => two_operands(&mut flow, op, Propagation::Upward, FLAGS, |all| all | carry),
        // V is undefined and stays.
        Dadd => two_operands(&mut flow, op, Propagation::Mixed, C | Z | N, |all| all | carry),
        Rrc | Rra | Sxt | Swpb => in_place(&mut flow, op, carry),
        Push | Call | Calla => {
            source(&mut flow, op);
            let called = op.kind != Push;
            if called {
                flow.branches(SOURCE);
            }
            flow.address(r(SP as u8));
            flow.writes(if called { Locations::NONE } else { SOURCE });
        }
        Reti => {
            flow.address(r(SP as u8));
            flow.reads(FLAGS | MODES, Propagation::Mixed);
            flow.reads(TEMPORARY, Propagation::Mixed);
            flow.branches(TEMPORARY);
        }
        Pushm | Popm => {
            flow.address(r(SP as u8));
            for step in 0..op.source_value as u8 {
                match op.kind {
                    Pushm => flow.writes(r(op.destination_register.wrapping_sub(step))),
                    _ => flow.reads(r(op.destination_register + step), Propagation::Bytes),
                }
            }
        }
        Rrcm | Rram | Rlam | Rrum => {
            let rotated = if op.kind == Rrcm { C } else { Locations::NONE };
            flow.depends_on_all(r(op.destination_register) | rotated, TEMPORARY);
            flow.depends_on_all(TEMPORARY | V, V);
            flow.moves(TEMPORARY, C | Z | N | r(op.destination_register), Propagation::Bytes);
        }
    }
    flow
}

/// Returns true if a constant changes some bits of the status register.
fn changes_status(op: &Op) -> bool {
    let is_status = op.destination == Operand::Register && usize::from(op.destination_register) == SR;
    is_status && op.source == Operand::Value && op.width != Width::Byte
}

/// Register that decides on the address of an operand in memory.
fn base(operand: Operand, register: u8) -> Locations {
    match operand {
        Operand::Indexed16 | Operand::Indexed20 | Operand::Indirect | Operand::Increment => r(register),
        Operand::Register | Operand::Value | Operand::At => Locations::NONE,
    }
}

/// The source operand comes to [`SOURCE`].
fn source(flow: &mut Dataflow, op: &Op) {
    match op.source {
        Operand::Register => flow.moves(r(op.source_register), SOURCE, bytes(op.width)),
        Operand::Value => flow.clears(SOURCE),
        operand => {
            flow.address(base(operand, op.source_register));
            flow.reads(SOURCE, Propagation::Bytes);
        }
    }
}

/// A result comes to a register: of the program counter it decides where execution goes on.
fn to_register(flow: &mut Dataflow, number: u8, from: Locations) {
    match usize::from(number) {
        PC => flow.branches(from),
        SR => flow.depends_on_all(from, FLAGS | MODES),
        _ => flow.moves(from, r(number), Propagation::Bytes),
    }
}

/// The sources of an instruction with two operands, both read: [`SOURCE`] and the other.
fn operands(flow: &mut Dataflow, op: &Op) -> Locations {
    source(flow, op);
    if op.destination != Operand::Register {
        flow.address(base(op.destination, op.destination_register));
        flow.reads(TEMPORARY, Propagation::Bytes);
        return SOURCE | TEMPORARY;
    }
    flow.moves(r(op.destination_register), TEMPORARY, bytes(op.width));
    SOURCE | TEMPORARY
}

/// The result is in [`TEMPORARY`].
fn result(flow: &mut Dataflow, op: &Op) {
    match (op.kind, op.destination) {
        (Opcode::Cmp | Opcode::Bit, _) => {}
        (_, Operand::Register) => to_register(flow, op.destination_register, TEMPORARY),
        _ => flow.writes(TEMPORARY),
    }
}

/// Instructions with two operands, whose result and `flags` are made of what `from` makes of both.
fn two_operands(
    flow: &mut Dataflow,
    op: &Op,
    shape: Propagation,
    flags: Locations,
    from: impl FnOnce(Locations) -> Locations,
) {
    let all = operands(flow, op);
    let repeated = op.count != 0 || op.count_register != 0;
    flow.moves(from(all), TEMPORARY, if repeated { Propagation::Mixed } else { shape });
    flow.depends_on_all(TEMPORARY, flags);
    flow.moves(TEMPORARY, TEMPORARY, bytes(op.width));
    result(flow, op);
}

/// AND, BIT, BIS, BIC, XOR: bytes that a constant decides are constant.
fn logic(flow: &mut Dataflow, op: &Op, flags: Locations) {
    let all = operands(flow, op);
    let neutral = match (op.source, op.kind) {
        (Operand::Value, Opcode::And | Opcode::Bit) => Some(0),
        (Operand::Value, Opcode::Bis | Opcode::Bic) => Some(0xff),
        _ => None,
    };
    let shape = neutral.map_or(Propagation::Bytes, |neutral: u8| {
        let kept = op.source_value.to_le_bytes().map(|byte| if byte == neutral { 0 } else { 0xff });
        Propagation::Masked(u32::from_le_bytes(kept))
    });
    flow.moves(all, TEMPORARY, shape);
    flow.depends_on_all(TEMPORARY, flags);
    flow.moves(TEMPORARY, TEMPORARY, bytes(op.width));
    result(flow, op);
}

/// RRC, RRA, SXT, SWPB.
fn in_place(flow: &mut Dataflow, op: &Op, carry: Locations) {
    let register = op.source == Operand::Register;
    if register {
        let shape = if op.kind == Opcode::Sxt { bytes(Width::Byte) } else { Propagation::Bytes };
        flow.moves(r(op.source_register), TEMPORARY, shape);
    } else {
        flow.address(base(op.source, op.source_register));
        flow.reads(TEMPORARY, Propagation::Bytes);
    }
    match op.kind {
        Opcode::Swpb => {
            flow.moves(TEMPORARY, SOURCE, Propagation::Right(8));
            flow.moves(SOURCE, SOURCE, Propagation::Masked(0xff));
            // Bits 19:16 of an address stay. A repeated swap gives one order or the other.
            let mixed = op.width == Width::Address || op.count != 0 || op.count_register != 0;
            flow.moves(TEMPORARY, TEMPORARY, if mixed { Propagation::Mixed } else { Propagation::Left(8) });
            flow.moves(TEMPORARY | SOURCE, TEMPORARY, Propagation::Bytes);
        }
        Opcode::Rrc => flow.depends_on_all(TEMPORARY | carry, TEMPORARY | FLAGS),
        _ => flow.depends_on_all(TEMPORARY, TEMPORARY | FLAGS),
    }
    match register {
        true => to_register(flow, op.source_register, TEMPORARY),
        false => flow.writes(TEMPORARY),
    }
}
