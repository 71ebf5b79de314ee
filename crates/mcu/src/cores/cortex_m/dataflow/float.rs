//! Data flow of the floating-point instructions.

use super::{CUMULATIVE, FLOAT_NZCV, FPSCR, MODES, NZCV, TEMPORARY, condition, list, r, s};
use crate::cores::cortex_m::fpu::decode::{Operation, core_registers, operation};
use crate::cores::cortex_m::fpu::operands::float_operands;
use crate::cores::cortex_m::op::Op;
use crate::dataflow::{Dataflow, Locations, Propagation};

/// Registers of the unit, a bit each.
fn unit(registers: u32) -> Locations {
    Locations(u64::from(registers) << 32)
}

/// The effects of an [`crate::cores::cortex_m::op::Opcode::Float`].
pub(super) fn effects(flow: &mut Dataflow, op: &Op) {
    use Operation::*;
    let operands = float_operands(op);
    let (reads, writes) = (unit(operands.reads | operands.accumulates), unit(operands.writes));
    let next = op.d.wrapping_add(1);
    match operation(op) {
        Vldr | Vldm | Vstr | Vstm => {
            flow.address(list(core_registers(op).2));
            for number in (0..op.m).map(|word| op.d.wrapping_add(word)) {
                match operation(op) {
                    Vldr | Vldm => flow.reads(s(number), Propagation::Bytes),
                    _ => flow.writes(s(number)),
                }
            }
        }
        VmovToCore => flow.moves(s(op.d), r(op.n), Propagation::Bytes),
        VmovFromCore => flow.moves(r(op.n), s(op.d), Propagation::Bytes),
        VmovToCores => {
            flow.moves(s(op.d), r(op.n), Propagation::Bytes);
            flow.moves(s(next), r(op.m), Propagation::Bytes);
        }
        VmovFromCores => {
            flow.moves(r(op.n), s(op.d), Propagation::Bytes);
            flow.moves(r(op.m), s(next), Propagation::Bytes);
        }
        Vmrs if op.n == 15 => flow.depends_on_all(FLOAT_NZCV, NZCV),
        Vmrs => flow.depends_on_all(FPSCR, r(op.n)),
        Vmsr => flow.depends_on_all(r(op.n), FPSCR),
        Vsel => flow.depends_on_all(reads | condition(op.imm as u8), writes),
        VmovImm => flow.clears(writes),
        Vcmp => {
            flow.depends_on_all(reads | CUMULATIVE, CUMULATIVE);
            flow.depends_on_all(reads, FLOAT_NZCV);
        }
        _ => {
            flow.depends_on_all(reads | MODES, TEMPORARY);
            flow.depends_on_all(TEMPORARY | CUMULATIVE, CUMULATIVE);
            flow.moves(TEMPORARY, writes, Propagation::Bytes);
        }
    }
}
