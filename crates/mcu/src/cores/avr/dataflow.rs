//! Data flow of each instruction.

use super::opcode::{Op, Opcode, is_wide};
use super::registers::{Avr, DATA};
use crate::dataflow::{CoreDataflow, Dataflow, Locations, Propagation};
use std::sync::Arc;

/// The flags have the places of their numbers in SREG.
const C: Locations = Locations::one(0);
const Z: Locations = Locations::one(1);
/// N, V and S, which nearly all instructions set together.
const NVS: Locations = Locations(0b1_1100);
const H: Locations = Locations::one(5);
const T: Locations = Locations::one(6);
const SREG: Locations = Locations(0xff);
const SP: Locations = Locations::one(8);
const RAMPZ: Locations = Locations::one(9);
const EIND: Locations = Locations::one(10);
const TEMPORARY: Locations = Locations::TEMPORARY;

/// The core's registers among those of the peripherals, by their data-space addresses.
const CORE_REGISTERS: [(u32, Locations); 5] =
    [(0x5b, RAMPZ), (0x5c, EIND), (0x5d, SP), (0x5e, SP), (0x5f, SREG)];

/// A working register.
fn r(number: u8) -> Locations {
    Locations::one(32 + (number & 31))
}

/// The pair whose low register this is.
fn pair(low: u8) -> Locations {
    r(low) | r(low + 1)
}

/// The part of a place's labels that is about all bits of a register. Without it the others are
/// about bit 0 alone, as `BLD` leaves it in `__ashrdi3` of libgcc's `lib1funcs.S`: `LSR` clears
/// that register, R1, which the program takes for 0 afterwards.
const WHOLE: u32 = 0xff;

/// Bits of a register, by its index in [`super::registers::registers`].
fn locations(register: usize, bits: u32, _bank: u8) -> Locations {
    match register {
        0..32 => r(register as u8),
        32 => Locations(bits.into()).without(Locations(!0xff)),
        33 => SP,
        _ => Locations::NONE,
    }
}

impl<const WORDS: usize> Avr<WORDS> {
    pub(super) fn dataflow(&self) -> CoreDataflow {
        let program = Arc::clone(&self.program);
        let replaced = self.replaced.clone();
        let describe = move |pc: u32| {
            let index = pc as usize / 2 % WORDS;
            let original = replaced.iter().find(|(at, _)| *at == index);
            let op = original.map_or(program[index], |(_, op)| *op);
            dataflow(op, is_wide(WORDS)).map(|flow| (pc, flow)).into_iter().collect()
        };
        let mut core = CoreDataflow::new(Box::new(describe), locations);
        core.data_space = DATA;
        core.locations_are_bytes = true;
        core.mapped = (0..32).map(|number| (DATA + u32::from(number), r(number))).collect();
        let has = |locations| match locations {
            RAMPZ => self.instruction_set.extended_load,
            EIND => self.instruction_set.extended_jumps,
            _ => true,
        };
        let registers = CORE_REGISTERS.iter().filter(|(_, locations)| has(*locations));
        core.mapped.extend(registers.map(|(address, locations)| (DATA + address, *locations)));
        core.interrupt = returning(is_wide(WORDS));
        core
    }
}

/// Return addresses are public: they come from the program.
fn returning(wide: bool) -> Dataflow {
    let mut flow = Dataflow::default();
    (0..if wide { 3 } else { 2 }).for_each(|_| flow.writes(Locations::NONE));
    flow
}

/// The effects of an instruction; `None` for what is none.
fn dataflow(op: Op, wide: bool) -> Option<Dataflow> {
    use Opcode::*;
    let kind = op.kind.alone();
    let mut flow = Dataflow::default();
    let (d, s, low) = (r(op.a), r(op.b as u8), (op.b >> 8) as u8);
    let same = op.a == op.b as u8;
    match kind {
        Nop | Wdr | Sleep | Break | Rjmp | Jmp | Spm => {}
        Undefined | Outside | Stop => return None,
        Add | Sub => arithmetic(&mut flow, if same && kind == Sub { Locations::NONE } else { d | s }, d),
        Adc => arithmetic(&mut flow, d | s | C, d),
        Cp => arithmetic(&mut flow, if same { Locations::NONE } else { d | s }, Locations::NONE),
        // Z stays clear once it is clear. A register less itself and the carry is a mask of the
        // carry.
        Sbc => with_borrow(&mut flow, if same { C } else { d | s | C }, d),
        Cpc => with_borrow(&mut flow, if same { C } else { d | s | C }, Locations::NONE),
        Sbci => with_borrow(&mut flow, d | C, d),
        Subi | Neg => arithmetic(&mut flow, d, d),
        Cpi => arithmetic(&mut flow, d, Locations::NONE),
        And | Or => logic(&mut flow, d | s, d),
        Eor => logic(&mut flow, if same { Locations::NONE } else { d | s }, d),
        Andi if op.b == 0 => logic(&mut flow, Locations::NONE, d),
        Ori if op.b == 0xff => logic(&mut flow, Locations::NONE, d),
        Ori | Andi | Inc | Dec => logic(&mut flow, d, d),
        Com => {
            logic(&mut flow, d, d);
            flow.clears(C);
        }
        Swap => flow.depends_on_all(d, d),
        Asr => shift(&mut flow, d, d),
        Lsr => {
            flow.depends_on_all(d, C | NVS);
            // Bit 0 goes to the carry.
            flow.moves(d, d | Z, Propagation::Masked(WHOLE));
        }
        Ror => shift(&mut flow, d | C, d),
        Mov => flow.moves(s, d, Propagation::Bytes),
        Movw => {
            flow.moves(s, d, Propagation::Bytes);
            flow.moves(r(op.b as u8 + 1), r(op.a + 1), Propagation::Bytes);
        }
        Ldi => flow.clears(d),
        Mul | Muls | Mulsu | Fmul | Fmuls | Fmulsu => {
            flow.depends_on_all(d | s, C | Z | TEMPORARY);
            flow.depends_on_all(TEMPORARY, pair(0));
        }
        Adiw | Sbiw => {
            flow.depends_on_all(pair(op.a), C | Z | NVS);
            increment(&mut flow, op.a);
        }
        Bset | Bclr => flow.clears(Locations::one(op.a & 7)),
        Bld if op.b == 1 => {
            flow.depends_on_all(T, TEMPORARY);
            flow.moves(TEMPORARY, TEMPORARY, Propagation::Masked(!WHOLE));
            flow.moves(d | TEMPORARY, d, Propagation::Bytes);
        }
        Bld => flow.depends_on_all(d | T, d),
        Bst => flow.depends_on_all(d, T),
        _ if access(&mut flow, kind, op, d, low) => {}
        _ => control(&mut flow, kind, op, wide),
    }
    Some(flow)
}

/// A pair of registers that is counted up or down: the low one carries.
fn increment(flow: &mut Dataflow, low: u8) {
    flow.depends_on_all(pair(low), r(low + 1));
    flow.depends_on_all(r(low), r(low));
}

fn arithmetic(flow: &mut Dataflow, from: Locations, to: Locations) {
    flow.depends_on_all(from, C | Z | NVS | H | TEMPORARY);
    flow.depends_on_all(TEMPORARY, to);
}

fn with_borrow(flow: &mut Dataflow, from: Locations, to: Locations) {
    flow.depends_on_all(from, TEMPORARY);
    flow.depends_on_all(TEMPORARY | Z, Z);
    flow.depends_on_all(TEMPORARY, C | NVS | H | to);
}

fn logic(flow: &mut Dataflow, from: Locations, to: Locations) {
    flow.depends_on_all(from, Z | NVS | to);
}

fn shift(flow: &mut Dataflow, from: Locations, to: Locations) {
    flow.depends_on_all(from, TEMPORARY);
    flow.depends_on_all(TEMPORARY, C | Z | NVS | to);
}

/// Loads and stores: whether it is one.
fn access(flow: &mut Dataflow, kind: Opcode, op: Op, d: Locations, low: u8) -> bool {
    use Opcode::*;
    let extended = if matches!(kind, Elpm | ElpmInc) { RAMPZ } else { Locations::NONE };
    let (pointer, moved) = match kind {
        Ldd | Std => (pair(low), None),
        LdInc | LdDec | StInc | StDec => (pair(low), Some(low)),
        Lpm | Elpm => (pair(op.b as u8) | extended, None),
        LpmInc | ElpmInc => (pair(op.b as u8) | extended, Some(op.b as u8)),
        Pop | Push => (SP, None),
        Lds | Sts | In | Out | Sbi | Cbi => (Locations::NONE, None),
        _ => return false,
    };
    flow.address(pointer);
    match kind {
        Ldd | LdInc | LdDec | Lds | Pop | In | Lpm | LpmInc | Elpm | ElpmInc => {
            flow.reads(d, Propagation::Mixed)
        }
        Sbi | Cbi => flow.writes(Locations::NONE),
        _ => {
            flow.depends_on_all(d, TEMPORARY);
            flow.writes(TEMPORARY);
        }
    }
    if let Some(low) = moved {
        flow.depends_on_all(pointer, extended);
        increment(flow, low);
    }
    true
}

/// Adds the decisions on control flow.
fn control(flow: &mut Dataflow, kind: Opcode, op: Op, wide: bool) {
    use Opcode::*;
    let (d, s) = (r(op.a), r(op.b as u8));
    let bytes = if wide { 3 } else { 2 };
    match kind {
        Cpse if op.a == op.b as u8 => {}
        Cpse => flow.branches(d | s),
        Sbrc | Sbrs => flow.branches(d),
        Sbic | Sbis => {
            flow.reads(TEMPORARY, Propagation::Mixed);
            flow.branches(TEMPORARY);
        }
        Ijmp => flow.branches(pair(30)),
        Eijmp => flow.branches(pair(30) | EIND),
        Icall | Eicall => {
            flow.branches(pair(30) | if kind == Eicall { EIND } else { Locations::NONE });
            flow.effects.extend(returning(wide).effects);
        }
        Rcall | Call => *flow = returning(wide),
        Ret | Reti => {
            for _ in 0..bytes {
                flow.reads(TEMPORARY, Propagation::Mixed);
                flow.branches(TEMPORARY);
            }
        }
        Brcs | Brcc => flow.branches(C),
        Breq | Brne => flow.branches(Z),
        Brmi | Brpl => flow.branches(Locations::one(2)),
        Brvs | Brvc => flow.branches(Locations::one(3)),
        Brlt | Brge => flow.branches(Locations::one(4)),
        Brhs | Brhc => flow.branches(H),
        Brts | Brtc => flow.branches(T),
        Brie | Brid => flow.branches(Locations::one(7)),
        _ => {}
    }
}
