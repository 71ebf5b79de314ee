//! Data flow of the core: its registers, its memory's views and the code in it.

use super::code;
use super::core_state::CortexM;
use super::dataflow::{C, CUMULATIVE, FLOAT_NZCV, FPSCR, GE, LR, MODES, NZ, NZCV, Q, V, dataflow, r, s};
use super::decode::{self, Architecture};
use super::memory::Memory;
use super::op::Opcode;
use super::registers::FIRST_FLOAT;
use super::timing::Timing;
use crate::dataflow::{Alias, CoreDataflow, Dataflow, Locations};

/// Bits of a register, by its index in [`super::registers::REGISTERS`].
fn locations(register: usize, bits: u32, _bank: u8) -> Locations {
    let of = |mask: u32, locations: Locations| if bits & mask != 0 { locations } else { Locations::NONE };
    match register {
        0..15 => r(register as u8),
        15 => Locations::NONE,
        16 => {
            let nzcv = of(0xc000_0000, NZ) | of(1 << 29, C) | of(1 << 28, V);
            nzcv | of(1 << 27, Q) | of(0xf << 16, GE)
        }
        // Stack pointers and masks.
        17..FIRST_FLOAT => Locations::NONE,
        _ if register - FIRST_FLOAT < 32 => s((register - FIRST_FLOAT) as u8),
        _ => of(0xf000_0000, FLOAT_NZCV) | of(0x9f, CUMULATIVE) | of(0x07c0_0000, MODES),
    }
}

impl<T: Timing> CortexM<T> {
    pub(super) fn dataflow(&self) -> CoreDataflow {
        let (memory, timing, architecture) = (self.memory.clone(), self.timing.clone(), self.architecture);
        let mut aliases: Vec<Alias> = Vec::new();
        for (index, view) in memory.views.iter().enumerate() {
            let first = memory.views[..index].iter().find_map(|first| {
                let inside = view.offset.checked_sub(first.offset)? as u32;
                (inside < first.size).then_some(first.start + inside)
            });
            if let Some(of) = first.filter(|_| view.writable) {
                let range = view.start..view.start.saturating_add(view.size);
                aliases.push(Alias { range, of, shift: 0 });
            }
        }
        if self.bit_band {
            aliases.push(Alias { range: 0x2200_0000..0x2400_0000, of: 0x2000_0000, shift: 5 });
        }
        let describe = move |pc| describe(&memory, &timing, architecture, pc);
        let mut core = CoreDataflow::new(Box::new(describe), locations);
        core.stacked = vec![r(0), r(1), r(2), r(3), r(12), r(LR), Locations::NONE, NZCV | Q | GE];
        core.saved = (0..16).fold(NZCV | Q | GE | FPSCR, |all, number| all | s(number));
        core.aliases = aliases;
        core
    }
}

/// The instruction at `pc`; of IT with those of its block, whose conditions it holds.
fn describe<T: Timing>(
    memory: &Memory,
    timing: &T,
    architecture: Architecture,
    mut pc: u32,
) -> Vec<(u32, Dataflow)> {
    let mut described = Vec::new();
    let mut it = 0;
    while let Some(op) = code::decode_at(memory, architecture, pc, it) {
        let Some(flow) = dataflow(&op, timing.depends_on_operands(&op)) else { break };
        described.push((pc, flow));
        pc = pc.wrapping_add(op.length.into());
        it = if op.inner == Opcode::It { op.imm as u8 } else { decode::advance(it) };
        if it == 0 {
            break;
        }
    }
    described
}
