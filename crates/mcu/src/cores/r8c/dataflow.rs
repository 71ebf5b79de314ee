//! Data flow of each instruction.
//!
//! Registers of which there are two banks have a place in each: an instruction is described for
//! each bank that it is executed in. `LDCTX` and `STCTX` take from memory which registers they
//! move, and are not described.

use super::decode::{condition, decode};
use super::operation::{A0, A1, FB, Mode, Op, Opcode, Operand, SB, Width};
use super::registers::{self as flg, R8c};
use crate::dataflow::{CoreDataflow, Dataflow, Effect, Locations, Propagation, bank_of};
use crate::memory::Page;

const C: Locations = Locations::one(0);
const Z: Locations = Locations::one(1);
const S: Locations = Locations::one(2);
const O: Locations = Locations::one(3);
const SZ: Locations = S.with(Z);
const FLAGS: Locations = SZ.with(C).with(O);
/// The rest of FLG.
const MODES: Locations = Locations::one(4);
const STATIC_BASE: Locations = Locations::one(8);
/// Both stack pointers: which of them is meant, U says.
const SP: Locations = Locations::one(9);
const INTB: Locations = Locations::one(10);
/// The upper half of a pair on its way.
const UPPER: Locations = Locations::one(13);
const SOURCE: Locations = Locations::one(14);
const TEMPORARY: Locations = Locations::TEMPORARY;

/// Bits of a register, by its index in [`flg::REGISTERS`].
fn locations(register: usize, bits: u32, bank: u8) -> Locations {
    let bank = Bank(bank);
    match register {
        0..8 => bank.r(register as u8),
        8..11 => SP,
        11 => {
            let of = |flag: u16, place| if bits & u32::from(flag) != 0 { place } else { Locations::NONE };
            let modes = flg::FLG_BITS & !(flg::C | flg::Z | flg::S | flg::O);
            of(flg::C, C) | of(flg::Z, Z) | of(flg::S, S) | of(flg::O, O) | of(modes, MODES)
        }
        12 => INTB,
        13 => Locations::NONE,
        _ => Bank((register as u8 - 14) / 7).r((register as u8 - 14) % 7),
    }
}

impl R8c {
    /// The number of the selected register bank.
    pub(super) fn bank(&self) -> u8 {
        u8::from(self.flg & flg::B != 0)
    }

    pub(super) fn dataflow(&self) -> CoreDataflow {
        let memory = self.memory.clone();
        let describe = move |key| {
            let (pc, bank) = bank_of(key);
            let fetch = |address| (memory.page(address) != Page::Other).then(|| memory.byte(address) as u8);
            let flow = decode(pc, fetch).and_then(|decoded| dataflow(&decoded.op, Bank(bank)));
            flow.map(|flow| (key, flow)).into_iter().collect()
        };
        let mut core = CoreDataflow::new(Box::new(describe), locations);
        core.alignment = 0;
        core.banks = 2;
        core.bank = self.bank();
        core
    }
}

/// The effects of an instruction; `None` for what is told nothing of.
fn dataflow(op: &Op, bank: Bank) -> Option<Dataflow> {
    use Opcode::*;
    let mut flow = Dataflow::default();
    let by = &mut flow;
    let (source, destination) = (&op.source, &op.destination);
    let same = source.mode == destination.mode
        && source.register == destination.register
        && matches!(source.mode, Mode::Register | Mode::LowByte | Mode::HighByte);
    match op.kind {
        Ldctx | Stctx => return None,
        Nop | Wait | Jmp | Ldipl => {}
        Mov | Lde | Ste => {
            bank.load(by, source, SOURCE);
            by.depends_on_all(SOURCE, SZ);
            bank.store(by, destination, SOURCE);
        }
        Sub | Xor if same => {
            by.clears(SOURCE | SZ | if op.kind == Sub { C | O } else { Locations::NONE });
            bank.store(by, destination, SOURCE);
        }
        // A register less itself and the borrow is a mask of it.
        Sbb if same => {
            by.depends_on_all(C, SOURCE | FLAGS);
            bank.store(by, destination, SOURCE);
        }
        Add | Adc | Sub | Sbb | Cmp => {
            let carry = if matches!(op.kind, Adc | Sbb) { C } else { Locations::NONE };
            bank.operands(by, op);
            by.moves(SOURCE | TEMPORARY | carry, TEMPORARY, Propagation::Upward);
            cut(by, TEMPORARY, destination.width);
            by.depends_on_all(TEMPORARY, FLAGS);
            if op.kind != Cmp {
                bank.store(by, destination, TEMPORARY);
            }
        }
        And | Or | Xor | Tst => {
            bank.operands(by, op);
            let shape = match (op.kind, source.mode) {
                (And | Tst, Mode::Immediate) => Propagation::Masked(bytes_of(source.value)),
                _ => Propagation::Bytes,
            };
            by.moves(SOURCE | TEMPORARY, TEMPORARY, shape);
            by.depends_on_all(TEMPORARY, SZ);
            if op.kind != Tst {
                bank.store(by, destination, TEMPORARY);
            }
        }
        Inc | Dec => bank.in_place(by, destination, Locations::NONE, Propagation::Upward, SZ),
        Not => bank.in_place(by, destination, Locations::NONE, Propagation::Bytes, SZ),
        Neg => bank.in_place(by, destination, Locations::NONE, Propagation::Upward, FLAGS),
        Adcf => bank.in_place(by, destination, C, Propagation::Upward, FLAGS),
        Abs => bank.in_place(by, destination, Locations::NONE, Propagation::Mixed, SZ | O),
        Rolc | Rorc => bank.in_place(by, destination, C, Propagation::Mixed, SZ | C),
        Dadd | Dadc | Dsub | Dsbb => {
            bank.load(by, source, SOURCE);
            let carry = if matches!(op.kind, Dadc | Dsbb) { C } else { Locations::NONE };
            bank.in_place(by, destination, SOURCE | carry, Propagation::Mixed, SZ | C);
        }
        Rot | Shl | Sha => {
            bank.load(by, source, SOURCE);
            by.takes_time(SOURCE);
            // Shifted by nothing, flags and destination stay.
            let kept = if source.mode == Mode::Immediate { Locations::NONE } else { SZ | C };
            bank.load(by, destination, TEMPORARY);
            by.depends_on_all(TEMPORARY | SOURCE, TEMPORARY);
            bank.store(by, destination, TEMPORARY);
            by.depends_on_all(TEMPORARY | kept, SZ | C);
            by.depends_on_all(TEMPORARY | O, O);
        }
        Adjnz => {
            bank.load(by, destination, TEMPORARY);
            by.moves(TEMPORARY, TEMPORARY, Propagation::Upward);
            cut(by, TEMPORARY, destination.width);
            bank.store(by, destination, TEMPORARY);
            by.branches(TEMPORARY);
        }
        Mul | Mulu | Exts => {
            bank.load(by, source, SOURCE);
            bank.load(by, destination, TEMPORARY);
            by.depends_on_all(SOURCE | TEMPORARY, TEMPORARY);
            if op.kind == Exts {
                by.depends_on_all(TEMPORARY, SZ);
            }
            bank.store_wide(by, destination);
        }
        // Without a quotient the registers stay, and O tells.
        Div | Divu | Divx => {
            bank.load(by, source, SOURCE);
            let pair = bank.r(0) | if op.width == Width::Byte { Locations::NONE } else { bank.r(2) };
            by.depends_on_all(SOURCE | pair, TEMPORARY);
            by.depends_on_all(TEMPORARY, O | pair);
        }
        MovDir => {
            bank.operands(by, op);
            by.moves(SOURCE | TEMPORARY, TEMPORARY, Propagation::Bytes);
            bank.store(by, destination, TEMPORARY);
        }
        Xchg => {
            bank.operands(by, op);
            let mut extended = *destination;
            if destination.mode == Mode::LowByte && destination.register >= A0 {
                extended = Operand::word(destination.register);
            }
            bank.store(by, &extended, SOURCE);
            bank.store(by, source, TEMPORARY);
        }
        // What is stored, or not, is public; whether, is not.
        Stz | Stnz => {
            by.branches(Z);
            match destination.in_memory() {
                true => {
                    by.address(bank.base(destination));
                    by.writes(Z);
                }
                false => {
                    let register = bank.r(destination.register);
                    by.depends_on_all(register | Z, register);
                }
            }
        }
        Stzx => {
            by.depends_on_all(Z, SOURCE);
            bank.store(by, destination, SOURCE);
        }
        Mova => {
            by.depends_on_all(bank.base(source), SOURCE);
            bank.store(by, destination, SOURCE);
        }
        Ldc | Stc => {
            bank.load(by, source, SOURCE);
            bank.store(by, destination, SOURCE);
        }
        Fset | Fclr => {
            let bits = [(flg::C, C), (flg::Z, Z), (flg::S, S), (flg::O, O)];
            for (_, place) in bits.into_iter().filter(|(flag, _)| op.extra & u32::from(*flag) != 0) {
                by.clears(place);
            }
        }
        AddSp => by.depends_on_all(SP, FLAGS),
        BmCarry => {
            by.takes_time(decided_by(op.extra));
            by.depends_on_all(decided_by(op.extra), C);
        }
        Bset | Bclr | Bnot | Btst | Bntst | Btstc | Btsts | Bm | Band | Bnand | Bor | Bnor | Bxor | Bnxor => {
            bank.bit(by, op);
        }
        Smovb | Smovf | Sstr | Rmpa => bank.repeated(by, op),
        Push | Pop | Pushm | Popm | Pusha | Pushc | Popc | Enter => bank.stack(by, op),
        _ => bank.control(by, op),
    }
    Some(flow)
}

/// The bytes that have a bit.
fn bytes_of(value: u32) -> u32 {
    u32::from_le_bytes(value.to_le_bytes().map(|byte| if byte == 0 { 0 } else { 0xff }))
}

/// Makes the bits above the width constant.
fn cut(flow: &mut Dataflow, place: Locations, width: Width) {
    flow.moves(place, place, Propagation::Masked(width.mask()));
}

/// The flags that decide whether a condition holds.
fn decided_by(number: u32) -> Locations {
    match number {
        condition::GEU | condition::LTU => C,
        condition::GTU | condition::LEU => C | Z,
        condition::EQ | condition::NE => Z,
        condition::N | condition::PZ => S,
        condition::LE | condition::GT => S | O | Z,
        condition::O | condition::NO => O,
        _ => S | O,
    }
}

/// The register bank that an instruction is executed in.
#[derive(Clone, Copy)]
struct Bank(u8);

impl Bank {
    /// A register by its index in [`R8c::registers`].
    fn r(self, number: u8) -> Locations {
        match number & 7 {
            SB => STATIC_BASE,
            number => Locations::one(16 + 8 * self.0 + number),
        }
    }

    /// The registers of a pair, the lower one first.
    fn pair(self, register: u8) -> (Locations, Locations) {
        match register {
            0 => (self.r(0), self.r(2)),
            1 => (self.r(1), self.r(3)),
            _ => (self.r(A0), self.r(A1)),
        }
    }

    /// Registers that decide on the address of an operand in memory.
    fn base(self, operand: &Operand) -> Locations {
        match operand.mode {
            Mode::Based | Mode::FarBased | Mode::BasedBit | Mode::IndirectBit => self.r(operand.register),
            Mode::FarIndirect => self.r(A0) | self.r(A1),
            Mode::Stack => SP,
            _ => Locations::NONE,
        }
    }

    /// Brings an operand to a place.
    fn load(self, flow: &mut Dataflow, operand: &Operand, to: Locations) {
        let register = self.r(operand.register);
        match operand.mode {
            Mode::None | Mode::Immediate => flow.clears(to),
            Mode::Register => flow.moves(register, to, Propagation::Masked(0xffff)),
            Mode::LowByte => flow.moves(register, to, Propagation::Masked(0xff)),
            Mode::HighByte => {
                flow.moves(register, to, Propagation::Right(8));
                cut(flow, to, Width::Byte);
            }
            Mode::Pair => {
                let (low, high) = self.pair(operand.register);
                flow.moves(high, UPPER, Propagation::Left(16));
                flow.moves(low, to, Propagation::Masked(0xffff));
                flow.moves(to | UPPER, to, Propagation::Bytes);
            }
            Mode::Control => flow.depends_on_all(self.control_register(operand.register), to),
            _ => {
                flow.address(self.base(operand));
                flow.reads(to, Propagation::Bytes);
            }
        }
    }

    /// Puts what a place holds into an operand.
    fn store(self, flow: &mut Dataflow, operand: &Operand, from: Locations) {
        let register = self.r(operand.register);
        match operand.mode {
            Mode::None | Mode::Immediate => {}
            Mode::Register => flow.moves(from, register, Propagation::Masked(0xffff)),
            Mode::LowByte => {
                flow.moves(from, UPPER, Propagation::Masked(0xff));
                flow.moves(register, register, Propagation::Masked(0xff00));
                flow.moves(register | UPPER, register, Propagation::Bytes);
            }
            Mode::HighByte => {
                flow.moves(from, UPPER, Propagation::Left(8));
                flow.moves(UPPER, UPPER, Propagation::Masked(0xff00));
                flow.moves(register, register, Propagation::Masked(0xff));
                flow.moves(register | UPPER, register, Propagation::Bytes);
            }
            Mode::Pair => {
                let (low, high) = self.pair(operand.register);
                flow.moves(from, UPPER, Propagation::Right(16));
                flow.moves(from, low, Propagation::Masked(0xffff));
                flow.moves(UPPER, high, Propagation::Masked(0xffff));
            }
            Mode::Control => self.to_control_register(flow, operand.register, from),
            _ => {
                flow.address(self.base(operand));
                flow.writes(from);
            }
        }
    }

    /// A control register by its number in instructions.
    fn control_register(self, number: u8) -> Locations {
        match number {
            1 | 2 => INTB,
            3 => FLAGS | MODES,
            4 | 5 => SP,
            6 => STATIC_BASE,
            _ => self.r(FB),
        }
    }

    fn to_control_register(self, flow: &mut Dataflow, number: u8, from: Locations) {
        let to = self.control_register(number);
        match number {
            // A bank or a stack that a secret chooses.
            3 => {
                flow.branches(from);
                flow.depends_on_all(from, to);
                flow.depends_on_all(from | SP, SP);
            }
            // Half of a register, or one of two.
            1 | 2 | 4 | 5 => flow.depends_on_all(from | to, to),
            _ => flow.moves(from, to, Propagation::Masked(0xffff)),
        }
    }

    /// Both operands: the first in [`SOURCE`], the second in [`TEMPORARY`].
    fn operands(self, flow: &mut Dataflow, op: &Op) {
        self.load(flow, &op.source, SOURCE);
        self.load(flow, &op.destination, TEMPORARY);
    }

    /// An operand that is changed where it is, together with `more`.
    fn in_place(
        self,
        flow: &mut Dataflow,
        operand: &Operand,
        more: Locations,
        shape: Propagation,
        flags: Locations,
    ) {
        self.load(flow, operand, TEMPORARY);
        flow.moves(TEMPORARY | more, TEMPORARY, shape);
        cut(flow, TEMPORARY, operand.width);
        flow.depends_on_all(TEMPORARY, flags);
        self.store(flow, operand, TEMPORARY);
    }

    /// A result of twice the width, where an operand of the width is.
    fn store_wide(self, flow: &mut Dataflow, operand: &Operand) {
        match operand.mode {
            Mode::LowByte => self.store(flow, &Operand::word(operand.register), TEMPORARY),
            Mode::Register => self.store(flow, &Operand::pair(operand.register), TEMPORARY),
            _ => {
                flow.address(self.base(operand));
                flow.writes(TEMPORARY);
                flow.writes(TEMPORARY);
            }
        }
    }

    fn bit(self, flow: &mut Dataflow, op: &Op) {
        use Opcode::*;
        let (place, register) = (&op.destination, self.r(op.destination.register));
        let in_register = place.mode == Mode::RegisterBit;
        if in_register {
            flow.moves(register, TEMPORARY, Propagation::Right((place.value & 8) as u8));
            cut(flow, TEMPORARY, Width::Byte);
        } else {
            flow.address(self.base(place));
            flow.reads(TEMPORARY, Propagation::Bytes);
        }
        match op.kind {
            Btst | Btstc | Btsts | Bntst => flow.depends_on_all(TEMPORARY, C | Z),
            Band | Bnand | Bor | Bnor | Bxor | Bnxor => flow.depends_on_all(TEMPORARY | C, C),
            _ => {}
        }
        let by = if op.kind == Bm { decided_by(op.extra) } else { Locations::NONE };
        let writes = matches!(op.kind, Bset | Btsts | Bclr | Btstc | Bnot | Bm);
        if writes && in_register {
            flow.moves(register | by, register, Propagation::Bytes);
        } else if writes {
            flow.writes(TEMPORARY | by);
        }
    }

    /// Adds the effects of an instruction that R3 repeats.
    fn repeated(self, flow: &mut Dataflow, op: &Op) {
        let (a0, a1) = (self.r(A0), self.r(A1));
        flow.takes_time(self.r(3));
        let begin = flow.effects.len();
        match op.kind {
            Opcode::Sstr => {
                flow.address(a1);
                flow.writes(self.r(0));
            }
            Opcode::Rmpa => {
                flow.address(a0);
                flow.reads(SOURCE, Propagation::Bytes);
                flow.address(a1);
                flow.reads(TEMPORARY, Propagation::Bytes);
                let pair = self.r(0) | if op.width == Width::Byte { Locations::NONE } else { self.r(2) };
                flow.depends_on_all(SOURCE | TEMPORARY | pair, pair | O);
                // It ends at an overflow.
                flow.takes_time(O);
                flow.depends_on_all(a0, a0);
            }
            _ => {
                // The upper four bits of the address lie in R1H.
                flow.moves(self.r(1), UPPER, Propagation::Right(8));
                flow.address(a0 | UPPER);
                flow.reads(TEMPORARY, Propagation::Bytes);
                flow.address(a1);
                flow.writes(TEMPORARY);
                flow.depends_on_all(a0 | self.r(1), a0 | self.r(1));
            }
        }
        flow.depends_on_all(a1, a1);
        let back = flow.effects.len() - begin;
        flow.effects.push(Effect::Repeat(back as u8));
    }

    fn stack(self, flow: &mut Dataflow, op: &Op) {
        const PUSHED: [u8; 8] = [FB, SB, A1, A0, 3, 2, 1, 0];
        let listed = |bit: &u8| op.extra >> bit & 1 != 0;
        match op.kind {
            Opcode::Push | Opcode::Pushc => {
                self.load(flow, &op.source, SOURCE);
                flow.address(SP);
                flow.writes(SOURCE);
            }
            Opcode::Pusha => {
                flow.depends_on_all(self.base(&op.source), SOURCE);
                flow.address(SP);
                flow.writes(SOURCE);
            }
            Opcode::Pop | Opcode::Popc => {
                pop(flow);
                self.store(flow, &op.destination, TEMPORARY);
            }
            Opcode::Enter => {
                flow.address(SP);
                flow.writes(self.r(FB));
                flow.moves(SP, self.r(FB), Propagation::Bytes);
            }
            Opcode::Pushm => {
                flow.address(SP);
                for bit in (0..8).filter(listed) {
                    flow.writes(self.r(PUSHED[usize::from(bit)]));
                }
            }
            _ => {
                flow.address(SP);
                for bit in (0..8).filter(listed) {
                    flow.reads(self.r(PUSHED[7 - usize::from(bit)]), Propagation::Bytes);
                }
            }
        }
    }

    /// Adds the decisions on control flow.
    fn control(self, flow: &mut Dataflow, op: &Op) {
        use Opcode::*;
        match op.kind {
            Jcnd => flow.branches(decided_by(op.extra)),
            JmpiA | JsriA if op.source.mode == Mode::Pair => {
                self.load(flow, &op.source, TEMPORARY);
                flow.branches(TEMPORARY);
            }
            JmpiA | JsriA => {
                flow.address(self.base(&op.source));
                far_address(flow);
            }
            JmpiW | JsriW => {
                self.load(flow, &op.source, TEMPORARY);
                flow.branches(TEMPORARY);
            }
            Jmps | Jsrs => {
                flow.reads(TEMPORARY, Propagation::Bytes);
                flow.branches(TEMPORARY);
            }
            Rts => {
                flow.address(SP);
                far_address(flow);
            }
            Exitd => {
                flow.moves(self.r(FB) | SP, SP, Propagation::Bytes);
                flow.address(SP);
                flow.reads(self.r(FB), Propagation::Bytes);
                far_address(flow);
            }
            StcPc if op.destination.in_memory() => {
                flow.address(self.base(&op.destination));
                flow.writes(Locations::NONE);
                flow.writes(Locations::NONE);
            }
            StcPc => {
                flow.clears(SOURCE);
                self.store(flow, &op.destination, SOURCE);
            }
            Int | Into | Und | Brk => {
                flow.branches(if op.kind == Into { O } else { Locations::NONE });
                flow.address(SP);
                flow.writes(FLAGS | MODES);
                flow.writes(Locations::NONE);
                flow.address(if matches!(op.kind, Int | Brk) { INTB } else { Locations::NONE });
                far_address(flow);
            }
            Reit => {
                pop(flow);
                flow.branches(TEMPORARY);
                flow.reads(TEMPORARY, Propagation::Bytes);
                self.to_control_register(flow, 3, TEMPORARY);
            }
            _ => {}
        }
        if matches!(op.kind, Jsr | JsriA | JsriW | Jsrs) {
            flow.address(SP);
            flow.writes(Locations::NONE);
            flow.writes(Locations::NONE);
        }
    }
}

fn pop(flow: &mut Dataflow) {
    flow.address(SP);
    flow.reads(TEMPORARY, Propagation::Bytes);
}

/// A word and a byte say where execution goes on.
fn far_address(flow: &mut Dataflow) {
    for _ in 0..2 {
        flow.reads(TEMPORARY, Propagation::Bytes);
        flow.branches(TEMPORARY);
    }
}
