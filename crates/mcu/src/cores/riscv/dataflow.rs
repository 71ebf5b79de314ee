//! Data flow of each instruction.

use super::NUMBERED;
use super::decode::{Op, Opcode, decode};
use super::registers::{RiscV, fold};
use crate::dataflow::{CoreDataflow, Dataflow, Locations, Propagation};
use crate::memory::Page;

/// The control and status registers.
const SPECIAL: Locations = Locations::one(0);

/// A register; `x0` is zero.
fn x(number: u8) -> Locations {
    if number & 15 == 0 { Locations::NONE } else { Locations::one(16 + (number & 15)) }
}

/// A register, by its index in [`super::registers::REGISTERS`].
fn locations(register: usize, _bits: u32, _bank: u8) -> Locations {
    match register {
        0..NUMBERED => x(register as u8 + 1),
        NUMBERED => Locations::NONE,
        _ => SPECIAL,
    }
}

impl RiscV {
    pub(super) fn dataflow(&self) -> CoreDataflow {
        let memory = self.memory.clone();
        let describe = move |pc| {
            let half = |address: u32| {
                let address = fold(address);
                (memory.page(address) != Page::Other).then(|| memory.word(address) as u16)
            };
            let op = half(pc).and_then(|low| decode(pc, low, half(pc.wrapping_add(2))));
            op.map(|op| (pc, dataflow(&op))).into_iter().collect()
        };
        CoreDataflow::new(Box::new(describe), locations)
    }
}

/// The bytes of a constant that are not `neutral`.
fn bytes_other_than(constant: u32, neutral: u8) -> Propagation {
    Propagation::Masked(u32::from_le_bytes(
        constant.to_le_bytes().map(|byte| if byte == neutral { 0 } else { 0xff }),
    ))
}

fn dataflow(op: &Op) -> Dataflow {
    use Opcode::*;
    let mut flow = Dataflow::default();
    let (d, a, b) = (x(op.rd), x(op.rs1), x(op.rs2));
    let same = op.rs1 == op.rs2;
    let by = op.imm as u8 & 31;
    match op.kind {
        Constant => flow.clears(d),
        // `mv` is an addition of zero.
        Addi => flow.moves(a, d, if op.imm == 0 { Propagation::Bytes } else { Propagation::Upward }),
        Add if op.rs1 == 0 || op.rs2 == 0 => flow.moves(a | b, d, Propagation::Bytes),
        Sub | Xor | Slt | Sltu if same => flow.clears(d),
        Add | Sub => flow.moves(a | b, d, Propagation::Upward),
        Xor | Or | And => flow.moves(a | b, d, Propagation::Bytes),
        Xori => flow.moves(a, d, Propagation::Bytes),
        Ori => flow.moves(a, d, bytes_other_than(op.imm, 0xff)),
        Andi => flow.moves(a, d, bytes_other_than(op.imm, 0)),
        Slli => flow.moves(a, d, Propagation::Left(by)),
        Srli => flow.moves(a, d, Propagation::Right(by)),
        Srai => flow.moves(a, d, Propagation::SignedRight(by)),
        Slti | Sltiu => flow.depends_on_all(a, d),
        Sll | Srl | Sra | Slt | Sltu => flow.depends_on_all(a | b, d),
        Lb | Lh | Lw | Lbu | Lhu => {
            flow.address(a);
            // Without a register to take it, a load reads all the same.
            let to = if d.is_empty() { Locations::TEMPORARY } else { d };
            flow.reads(to, if matches!(op.kind, Lb | Lh) { Propagation::Mixed } else { Propagation::Bytes });
        }
        Sb | Sh | Sw => {
            flow.address(a);
            flow.writes(b);
        }
        Beq | Bne | Blt | Bge | Bltu | Bgeu if same => {}
        Beq | Bne | Blt | Bge | Bltu | Bgeu => flow.branches(a | b),
        Jal | JalSelf => flow.clears(d),
        Jalr => {
            flow.branches(a);
            flow.clears(d);
        }
        Csrrw | Csrrs | Csrrc => {
            flow.depends_on_all(a, Locations::TEMPORARY);
            flow.moves(SPECIAL, d, Propagation::Bytes);
            flow.moves(SPECIAL | Locations::TEMPORARY, SPECIAL, Propagation::Bytes);
        }
        Csrrwi | Csrrsi | Csrrci => flow.moves(SPECIAL, d, Propagation::Bytes),
        Fence | FenceI | Ecall | Ebreak | Mret | Wfi => {}
    }
    flow
}
