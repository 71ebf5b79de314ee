//! Data flow of each instruction. No instruction's time depends on data.
//!
//! R0 to R7 lie in the internal RAM, at addresses that the register bank decides: an instruction is
//! described for each bank that it is executed in.

use super::memory::{INTERNAL, SPECIAL};
use super::registers::{
    self as psw, ACC, B as B_REGISTER, DPH as HIGH, DPL as LOW, Mcs51, P2, PSW, SP as POINTER,
};
use super::timing::BYTES;
use crate::dataflow::{CoreDataflow, Dataflow, Locations, Propagation, bank_of};

const ACCUMULATOR: Locations = Locations::one(0);
const B: Locations = Locations::one(1);
const SP: Locations = Locations::one(2);
const DPL: Locations = Locations::one(3);
const DPH: Locations = Locations::one(4);
const DPTR: Locations = DPL.with(DPH);
const CY: Locations = Locations::one(5);
const AC: Locations = Locations::one(6);
const OV: Locations = Locations::one(7);
/// The rest of the status word, and with it the bank.
const MODES: Locations = Locations::one(8);
/// P, which follows the accumulator.
const PARITY: Locations = Locations::one(9);
/// The accumulator as what an instruction changes.
const A: Locations = ACCUMULATOR.with(PARITY);
const STATUS: Locations = CY.with(AC).with(OV).with(MODES).with(PARITY);
/// Port 2, the upper half of the address of `MOVX @Ri`.
const PAGE: Locations = Locations::one(10);
const TEMPORARY: Locations = Locations::TEMPORARY;

/// A byte of the register banks.
fn internal(address: u8) -> Locations {
    Locations::one(32 + (address & 31))
}

/// Bits of a register, by its index in [`psw::REGISTERS`].
fn locations(register: usize, bits: u32, bank: u8) -> Locations {
    let of = |mask: u32, locations: Locations| if bits & mask != 0 { locations } else { Locations::NONE };
    let [carry, auxiliary, overflow] = [psw::CY, psw::AC, psw::OV].map(u32::from);
    match register {
        0 => A,
        1 => B,
        2 => of(0xff, DPL) | of(0xff00, DPH),
        3 => {
            let modes = !(carry | auxiliary | overflow | u32::from(psw::P));
            of(carry, CY)
                | of(auxiliary, AC)
                | of(overflow, OV)
                | of(modes, MODES)
                | of(psw::P.into(), PARITY)
        }
        4 => SP,
        5..13 => internal(8 * bank + register as u8 - 5),
        _ => Locations::NONE,
    }
}

impl Mcs51 {
    /// The number of the selected register bank.
    pub(super) fn bank(&self) -> u8 {
        (self.psw & psw::BANK) >> 3
    }

    pub(super) fn dataflow(&self) -> CoreDataflow {
        let memory = self.memory.clone();
        let describe = move |key: u32| {
            let (pc, bank) = bank_of(key);
            let bytes = [0, 1, 2].map(|offset| memory.code((pc as u16).wrapping_add(offset)));
            let length = u16::from(BYTES[usize::from(bytes[0])]);
            let whole = (0..length).all(|offset| memory.has_code((pc as u16).wrapping_add(offset)));
            let flow = if whole { dataflow(bytes, bank) } else { None };
            flow.map(|flow| (key, flow)).into_iter().collect()
        };
        let mut core = CoreDataflow::new(Box::new(describe), locations);
        core.alignment = 0;
        core.banks = 4;
        core.bank = self.bank();
        core.locations_are_bytes = true;
        core.mapped = (0..32).map(|address| (INTERNAL + u32::from(address), internal(address))).collect();
        let special =
            [(POINTER, SP), (LOW, DPL), (HIGH, DPH), (P2, PAGE), (PSW, STATUS), (ACC, A), (B_REGISTER, B)];
        core.mapped.extend(special.map(|(address, locations)| (SPECIAL + u32::from(address), locations)));
        core
    }
}

/// The effects of an instruction; `None` for what is none.
fn dataflow(bytes: [u8; 3], bank: u8) -> Option<Dataflow> {
    let [opcode, first, _] = bytes;
    let mut flow = Dataflow::default();
    if opcode == 0xa5 || opcode == 0xe5 && first == ACC {
        return None;
    }
    match opcode {
        0x73 => flow.branches(ACCUMULATOR | DPTR),
        0x22 | 0x32 => {
            for _ in 0..2 {
                pop(&mut flow);
                flow.branches(TEMPORARY);
            }
        }
        0xc0 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.address(SP);
            flow.writes(TEMPORARY);
        }
        0xd0 => {
            pop(&mut flow);
            flow.address(Locations::NONE);
            to_direct(&mut flow, first, TEMPORARY);
        }
        _ if opcode & 0x1f == 0x11 || opcode == 0x12 => {
            flow.address(SP);
            flow.writes(Locations::NONE);
            flow.writes(Locations::NONE);
        }
        _ if arithmetic(&mut flow, bytes, bank) => {}
        _ if moving(&mut flow, bytes, bank) => {}
        _ if bits(&mut flow, opcode, first) => {}
        _ => branches(&mut flow, bytes, bank),
    }
    Some(flow)
}

fn pop(flow: &mut Dataflow) {
    flow.address(SP);
    flow.reads(TEMPORARY, Propagation::Bytes);
}

/// The register that the lower three bits of an opcode name.
fn r(opcode: u8, bank: u8) -> Locations {
    internal(8 * bank + (opcode & 7))
}

/// R0 or R1 as an address.
fn pointer(opcode: u8, bank: u8) -> Locations {
    r(opcode & 1, bank)
}

/// A write by a direct address. P follows the accumulator whatever is written to it.
fn to_direct(flow: &mut Dataflow, address: u8, from: Locations) {
    flow.writes(from);
    match address {
        ACC => flow.moves(ACCUMULATOR, PARITY, Propagation::Bytes),
        PSW => {
            flow.moves(ACCUMULATOR, PARITY, Propagation::Bytes);
            // A bank that a secret chooses.
            flow.branches(MODES);
        }
        _ => {}
    }
}

/// The operand that the lower half of an opcode names: where it is, or comes to.
fn operand(flow: &mut Dataflow, opcode: u8, bank: u8) -> Locations {
    match opcode & 15 {
        4 => Locations::NONE,
        5 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            TEMPORARY
        }
        6 | 7 => {
            flow.address(pointer(opcode, bank));
            flow.reads(TEMPORARY, Propagation::Bytes);
            TEMPORARY
        }
        _ => r(opcode, bank),
    }
}

/// Arithmetic and logic: whether it is that.
fn arithmetic(flow: &mut Dataflow, [opcode, first, _]: [u8; 3], bank: u8) -> bool {
    let flags = CY | AC | OV;
    match opcode {
        // The accumulator less itself and the carry is a mask of the carry.
        0x95 if first == ACC => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.moves(CY, flags | A, Propagation::Bytes);
        }
        0x24..=0x2f | 0x34..=0x3f | 0x94..=0x9f => {
            let carry = if opcode < 0x30 { Locations::NONE } else { CY };
            let value = operand(flow, opcode, bank);
            flow.moves(ACCUMULATOR | value | carry, TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, flags | A, Propagation::Bytes);
        }
        // INC, DEC of the accumulator; CPL, RL, RR, SWAP.
        0x04 | 0x14 | 0xf4 | 0x23 | 0x03 | 0xc4 => {}
        0x05..=0x0f | 0x15..=0x1f => {
            let value = operand(flow, opcode, bank);
            match opcode & 15 {
                5 => to_direct(flow, first, value),
                6 | 7 => flow.writes(value),
                _ => {}
            }
        }
        0xa3 => flow.moves(DPTR, DPH, Propagation::Bytes),
        0xa4 | 0x84 => {
            flow.moves(ACCUMULATOR | B, TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, A | B, Propagation::Bytes);
            flow.clears(CY);
            flow.moves(if opcode == 0xa4 { TEMPORARY } else { Locations::NONE }, OV, Propagation::Bytes);
        }
        0xd4 => {
            flow.moves(ACCUMULATOR | CY | AC, TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, A | CY, Propagation::Bytes);
        }
        0x42 | 0x43 | 0x52 | 0x53 | 0x62 | 0x63 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            let by = if opcode & 1 == 0 { ACCUMULATOR } else { Locations::NONE };
            to_direct(flow, first, TEMPORARY | by);
        }
        0x54 if first == 0 => flow.clears(A),
        0x44 if first == 0xff => flow.clears(A),
        0x44..=0x4f | 0x54..=0x5f | 0x64..=0x6f => {
            let value = operand(flow, opcode, bank);
            flow.moves(ACCUMULATOR | value, A, Propagation::Bytes);
        }
        0xe4 => flow.clears(A),
        0x33 | 0x13 => {
            flow.moves(ACCUMULATOR | CY, TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY, A | CY, Propagation::Bytes);
        }
        _ => return false,
    }
    true
}

/// Moves and exchanges: whether it is one.
fn moving(flow: &mut Dataflow, [opcode, first, second]: [u8; 3], bank: u8) -> bool {
    match opcode {
        0xe5..=0xef => {
            let value = operand(flow, opcode, bank);
            flow.moves(value, A, Propagation::Bytes);
        }
        0x74 => flow.clears(A),
        0xf5 => to_direct(flow, first, ACCUMULATOR),
        0x75 => to_direct(flow, first, Locations::NONE),
        0xf6 | 0xf7 | 0x76 | 0x77 => {
            flow.address(pointer(opcode, bank));
            flow.writes(if opcode < 0x80 { Locations::NONE } else { ACCUMULATOR });
        }
        0xf8..=0xff => flow.moves(ACCUMULATOR, r(opcode, bank), Propagation::Bytes),
        0x78..=0x7f => flow.clears(r(opcode, bank)),
        0x85 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            to_direct(flow, second, TEMPORARY);
        }
        0x86..=0x8f => {
            let value = operand(flow, opcode, bank);
            flow.address(Locations::NONE);
            to_direct(flow, first, value);
        }
        0xa6 | 0xa7 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.address(pointer(opcode, bank));
            flow.writes(TEMPORARY);
        }
        0xa8..=0xaf => flow.reads(r(opcode, bank), Propagation::Bytes),
        0x90 => flow.clears(DPTR),
        0x93 | 0x83 => {
            flow.address(ACCUMULATOR | if opcode == 0x93 { DPTR } else { Locations::NONE });
            flow.reads(A, Propagation::Bytes);
        }
        0xe0 | 0xe2 | 0xe3 | 0xf0 | 0xf2 | 0xf3 => {
            flow.address(if opcode & 2 == 0 { DPTR } else { pointer(opcode, bank) | PAGE });
            if opcode < 0xf0 { flow.reads(A, Propagation::Bytes) } else { flow.writes(ACCUMULATOR) }
        }
        0xc5 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            to_direct(flow, first, ACCUMULATOR);
            flow.moves(TEMPORARY, A, Propagation::Bytes);
        }
        0xc6 | 0xc7 => {
            flow.address(pointer(opcode, bank));
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.writes(ACCUMULATOR);
            flow.moves(TEMPORARY, A, Propagation::Bytes);
        }
        0xc8..=0xcf => {
            flow.moves(ACCUMULATOR, TEMPORARY, Propagation::Bytes);
            flow.moves(r(opcode, bank), A, Propagation::Bytes);
            flow.moves(TEMPORARY, r(opcode, bank), Propagation::Bytes);
        }
        0xd6 | 0xd7 => {
            flow.address(pointer(opcode, bank));
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.writes(TEMPORARY | ACCUMULATOR);
            flow.moves(TEMPORARY | ACCUMULATOR, A, Propagation::Bytes);
        }
        _ => return false,
    }
    true
}

/// Single bits, whose accesses are those of their bytes: whether it is one.
fn bits(flow: &mut Dataflow, opcode: u8, bit: u8) -> bool {
    let byte = if bit < 0x80 { 0x20 + (bit >> 3) } else { bit & 0xf8 };
    match opcode {
        0xc3 | 0xd3 => flow.clears(CY),
        0xb3 => {}
        0xc2 | 0xd2 | 0x92 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            to_direct(flow, byte, TEMPORARY | if opcode == 0x92 { CY } else { Locations::NONE });
        }
        0xb2 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.reads(TEMPORARY, Propagation::Bytes);
            to_direct(flow, byte, TEMPORARY);
        }
        0x82 | 0xb0 | 0x72 | 0xa0 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.moves(TEMPORARY | CY, CY, Propagation::Bytes);
        }
        0xa2 => flow.reads(CY, Propagation::Bytes),
        0x20 | 0x30 | 0x10 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            flow.branches(TEMPORARY);
            if opcode == 0x10 {
                flow.reads(TEMPORARY, Propagation::Bytes);
                to_direct(flow, byte, TEMPORARY);
            }
        }
        _ => return false,
    }
    true
}

/// Adds the decisions on control flow.
fn branches(flow: &mut Dataflow, [opcode, first, _]: [u8; 3], bank: u8) {
    match opcode {
        0x40 | 0x50 => flow.branches(CY),
        0x60 | 0x70 => flow.branches(ACCUMULATOR),
        // CJNE, of the accumulator but for a register or what one points to.
        0xb4..=0xbf => {
            let value = operand(flow, opcode, bank);
            let value = value | if matches!(opcode, 0xb4 | 0xb5) { ACCUMULATOR } else { Locations::NONE };
            flow.moves(value, CY, Propagation::Bytes);
            flow.branches(value);
        }
        0xd5 => {
            flow.reads(TEMPORARY, Propagation::Bytes);
            to_direct(flow, first, TEMPORARY);
            flow.branches(TEMPORARY);
        }
        0xd8..=0xdf => flow.branches(r(opcode, bank)),
        _ => {}
    }
}
