//! Execution of instructions.
//!
//! Source: REJ09B0001, chapter 3, "Functions". Flags that the manual leaves undefined (C of `ABS`)
//! stay as they are.

mod arithmetic;
mod bits;
mod bus;
mod flow;
mod shifts;
mod strings;

use super::operation::{A0, Mode, Op, Opcode, Operand, Width};
use super::registers::{ADDRESS_MASK, C, O, R8c, S, Z};
use crate::machine::Machine;
use crate::{Fault, Flow, Observer, Step, Stop};

impl Machine<R8c> {
    /// Executes `op`, which stands at `pc`; the program counter already points behind it.
    #[inline(always)]
    pub fn execute<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        match op.kind {
            Opcode::Mov | Opcode::Lde => {
                let value = self.load(observer, pc, &op.source)?;
                self.set_sz(op.destination.width, value);
                self.store(observer, pc, &op.destination, value)?;
            }
            Opcode::Add => self.alu(observer, pc, op, |state, w, s, d| state.add(w, s, d, 0))?,
            Opcode::Adc => {
                let carry = self.carry();
                self.alu(observer, pc, op, |state, w, s, d| state.add(w, s, d, carry))?;
            }
            Opcode::Sub => self.alu(observer, pc, op, |state, w, s, d| state.add(w, !s & w.mask(), d, 1))?,
            Opcode::Sbb => {
                let carry = self.carry();
                self.alu(observer, pc, op, |state, w, s, d| state.add(w, !s & w.mask(), d, carry))?;
            }
            Opcode::Cmp => {
                let (s, d) = self.both(observer, pc, op)?;
                let width = op.destination.width;
                self.add(width, !s & width.mask(), d, 1);
            }
            Opcode::And => self.alu(observer, pc, op, |state, w, s, d| state.logic(w, s & d))?,
            Opcode::Or => self.alu(observer, pc, op, |state, w, s, d| state.logic(w, s | d))?,
            Opcode::Xor => self.alu(observer, pc, op, |state, w, s, d| state.logic(w, s ^ d))?,
            Opcode::Tst => {
                let (s, d) = self.both(observer, pc, op)?;
                self.set_sz(op.destination.width, s & d);
            }
            Opcode::Inc => {
                self.in_place(observer, pc, op, |state, w, d| state.logic(w, (d + 1) & w.mask()))?
            }
            Opcode::Dec => {
                self.in_place(observer, pc, op, |state, w, d| state.logic(w, d.wrapping_sub(1) & w.mask()))?;
            }
            Opcode::Not => self.in_place(observer, pc, op, |state, w, d| state.logic(w, !d & w.mask()))?,
            Opcode::Adcf => {
                let carry = self.carry();
                self.in_place(observer, pc, op, |state, w, d| state.add(w, 0, d, carry))?;
            }
            // C is set where the result is 0: no borrow.
            Opcode::Neg => {
                self.in_place(observer, pc, op, |state, w, d| state.add(w, !d & w.mask(), 0, 1))?
            }
            Opcode::Abs => self.in_place(observer, pc, op, Machine::<R8c>::absolute)?,
            Opcode::Rolc => self.in_place(observer, pc, op, Machine::<R8c>::rotate_left_carry)?,
            Opcode::Rorc => self.in_place(observer, pc, op, Machine::<R8c>::rotate_right_carry)?,
            Opcode::Rot | Opcode::Shl | Opcode::Sha => self.shift(observer, pc, op)?,
            Opcode::Adjnz => {
                let d = self.load(observer, pc, &op.destination)?;
                let value = (d + op.source.value) & op.width.mask();
                self.store(observer, pc, &op.destination, value)?;
                if value != 0 {
                    self.branch::<O>(op, op.extra);
                }
            }
            Opcode::Jcnd => {
                if self.holds(op.extra) {
                    self.branch::<O>(op, op.source.value);
                }
            }
            Opcode::Jmp => self.go::<O>(op.source.value, Flow::Jump),
            Opcode::Jsr => self.call(observer, pc, op.source.value)?,
            Opcode::Rts => {
                let target = self.pop_return(observer, pc)?;
                self.go::<O>(target, Flow::Return);
            }
            Opcode::Nop => {}
            Opcode::Push => {
                let value = self.load(observer, pc, &op.source)?;
                self.push(observer, pc, op.width, value)?;
            }
            Opcode::Pop => {
                let value = self.pop(observer, pc, op.width)?;
                self.store(observer, pc, &op.destination, value)?;
            }
            Opcode::Pushm => {
                for bit in 0..8 {
                    if op.extra >> bit & 1 != 0 {
                        let value = self.core.registers[[6, 7, 5, 4, 3, 2, 1, 0][bit]];
                        self.push(observer, pc, Width::Word, value.into())?;
                    }
                }
                self.count_registers(op);
            }
            Opcode::Popm => {
                for bit in 0..8 {
                    if op.extra >> bit & 1 != 0 {
                        let value = self.pop(observer, pc, Width::Word)?;
                        self.core.registers[[0, 1, 2, 3, 4, 5, 7, 6][bit]] = value as u16;
                    }
                }
                self.count_registers(op);
            }
            Opcode::Mova => {
                let address = self.address(&op.source);
                self.store(observer, pc, &op.destination, address)?;
            }
            Opcode::Pusha => {
                let address = self.address(&op.source);
                self.push(observer, pc, Width::Word, address)?;
            }
            Opcode::Xchg => {
                let s = self.load(observer, pc, &op.source)?;
                let d = self.load(observer, pc, &op.destination)?;
                // A byte into A0 or A1 is extended by zeros.
                let mut destination = op.destination;
                if destination.mode == Mode::LowByte && destination.register >= A0 {
                    destination = Operand::word(destination.register);
                }
                self.store(observer, pc, &destination, s)?;
                self.store(observer, pc, &op.source, d)?;
            }
            Opcode::MovDir => self.move_nibble(observer, pc, op)?,
            Opcode::Ste => {
                let value = self.load(observer, pc, &op.source)?;
                // Of A0 and A1 the flags tell all 16 bits, even where a byte is stored.
                if op.source.mode == Mode::LowByte && op.source.register >= A0 {
                    self.set_sz(Width::Word, self.core.registers[usize::from(op.source.register & 7)].into());
                } else {
                    self.set_sz(op.width, value);
                }
                self.store(observer, pc, &op.destination, value)?;
            }
            Opcode::Stz | Opcode::Stnz => {
                if (self.core.flg & Z != 0) == (op.kind == Opcode::Stz) {
                    self.cycles += u64::from(op.further);
                    self.store(observer, pc, &op.destination, op.source.value)?;
                }
            }
            Opcode::Stzx => {
                let value = if self.core.flg & Z != 0 { op.source.value } else { op.extra };
                self.store(observer, pc, &op.destination, value)?;
            }
            Opcode::Ldc | Opcode::Stc => {
                let value = self.load(observer, pc, &op.source)?;
                self.store(observer, pc, &op.destination, value)?;
            }
            Opcode::Pushc => {
                let value = self.load(observer, pc, &op.source)?;
                self.push(observer, pc, Width::Word, value)?;
            }
            Opcode::Popc => {
                let value = self.pop(observer, pc, Width::Word)?;
                self.store(observer, pc, &op.destination, value)?;
            }
            Opcode::Fset => self.set_flg(self.core.flg | op.extra as u16),
            Opcode::Fclr => self.set_flg(self.core.flg & !(op.extra as u16)),
            Opcode::AddSp => {
                let sp = self.add(Width::Word, op.source.value, self.core.sp().into(), 0);
                self.core.set_sp(sp as u16);
            }
            Opcode::Bset
            | Opcode::Bclr
            | Opcode::Bnot
            | Opcode::Btst
            | Opcode::Bntst
            | Opcode::Btstc
            | Opcode::Btsts
            | Opcode::Bm
            | Opcode::Band
            | Opcode::Bnand
            | Opcode::Bor
            | Opcode::Bnor
            | Opcode::Bxor
            | Opcode::Bnxor => self.bit(observer, pc, op)?,
            Opcode::BmCarry => {
                let holds = self.holds(op.extra);
                self.cycles += u64::from(if holds { op.further } else { 0 });
                self.set_flag(C, holds);
            }
            Opcode::Mul | Opcode::Mulu => self.multiply(observer, pc, op)?,
            _ => self.rare(observer, pc, op)?,
        }
        Ok(())
    }

    /// Returns C as a number.
    #[inline(always)]
    fn carry(&self) -> u32 {
        u32::from(self.core.flg & C)
    }

    /// Address of an operand in memory.
    #[inline(always)]
    fn address(&self, operand: &Operand) -> u32 {
        let register = u32::from(self.core.registers[usize::from(operand.register & 7)]);
        match operand.mode {
            Mode::Based => register.wrapping_add(operand.value) & 0xffff,
            Mode::FarBased => register.wrapping_add(operand.value) & ADDRESS_MASK,
            Mode::FarIndirect => self.pair(A0) & ADDRESS_MASK,
            Mode::Stack => u32::from(self.core.sp()).wrapping_add(operand.value) & 0xffff,
            _ => operand.value,
        }
    }

    /// The 32 bits of a pair by its lower register.
    #[inline(always)]
    fn pair(&self, register: u8) -> u32 {
        let (low, high) = pair_registers(register);
        u32::from(self.core.registers[low]) | u32::from(self.core.registers[high]) << 16
    }

    fn set_pair(&mut self, register: u8, value: u32) {
        let (low, high) = pair_registers(register);
        self.core.registers[low] = value as u16;
        self.core.registers[high] = (value >> 16) as u16;
    }

    /// The value of an operand.
    #[inline(always)]
    fn load<O: Observer>(&mut self, observer: &mut O, pc: u32, operand: &Operand) -> Result<u32, Fault> {
        let register = u32::from(self.core.registers[usize::from(operand.register & 7)]);
        Ok(match operand.mode {
            Mode::Immediate => operand.value,
            Mode::Register => register,
            Mode::LowByte => register & 0xff,
            Mode::HighByte => register >> 8,
            Mode::Pair => self.pair(operand.register),
            Mode::Control => self.control(operand.register),
            _ => {
                let address = self.address(operand);
                self.read(observer, pc, address, operand.width)?
            }
        })
    }

    /// Sets an operand.
    #[inline(always)]
    fn store<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        operand: &Operand,
        value: u32,
    ) -> Result<(), Fault> {
        let register = &mut self.core.registers[usize::from(operand.register & 7)];
        match operand.mode {
            Mode::Register => *register = value as u16,
            Mode::LowByte => *register = *register & 0xff00 | value as u16 & 0xff,
            Mode::HighByte => *register = *register & 0xff | (value << 8) as u16,
            Mode::Pair => self.set_pair(operand.register, value),
            Mode::Control => self.set_control(operand.register, value),
            _ => {
                let address = self.address(operand);
                self.write(observer, pc, address, operand.width, value)?;
            }
        }
        Ok(())
    }

    /// A control register by its number in instructions.
    fn control(&self, number: u8) -> u32 {
        match number {
            1 => self.core.intb & 0xffff,
            2 => self.core.intb >> 16,
            3 => self.core.flg.into(),
            4 => self.core.isp.into(),
            5 => self.core.sp().into(),
            6 => self.core.registers[7].into(),
            _ => self.core.registers[6].into(),
        }
    }

    fn set_control(&mut self, number: u8, value: u32) {
        let word = value as u16;
        match number {
            1 => self.core.intb = self.core.intb & 0xf_0000 | value & 0xffff,
            2 => self.core.intb = self.core.intb & 0xffff | (value & 15) << 16,
            3 => self.set_flg(word),
            4 => self.core.isp = word,
            5 => self.core.set_sp(word),
            6 => self.core.registers[7] = word,
            _ => self.core.registers[6] = word,
        }
    }

    /// Source and destination of an instruction that writes neither.
    #[inline(always)]
    fn both<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(u32, u32), Fault> {
        let source = self.load(observer, pc, &op.source)?;
        let destination = self.load(observer, pc, &op.destination)?;
        Ok((source, destination))
    }

    /// An instruction that changes its destination by its source.
    #[inline(always)]
    fn alu<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        op: &Op,
        compute: impl FnOnce(&mut Self, Width, u32, u32) -> u32,
    ) -> Result<(), Fault> {
        let (source, destination) = self.both(observer, pc, op)?;
        let value = compute(self, op.destination.width, source, destination);
        self.store(observer, pc, &op.destination, value)
    }

    /// An instruction that changes its destination.
    #[inline(always)]
    fn in_place<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        op: &Op,
        compute: impl FnOnce(&mut Self, Width, u32) -> u32,
    ) -> Result<(), Fault> {
        let before = self.load(observer, pc, &op.destination)?;
        let value = compute(self, op.destination.width, before);
        self.store(observer, pc, &op.destination, value)
    }

    /// Adds with all four flags; subtraction hands in the complement.
    #[inline(always)]
    fn add(&mut self, width: Width, source: u32, destination: u32, carry: u32) -> u32 {
        let sum = source + destination + carry;
        let value = sum & width.mask();
        let overflow = (source ^ value) & (destination ^ value) & width.sign() != 0;
        let mut flags = if sum > width.mask() { C } else { 0 };
        flags |= if overflow { O } else { 0 };
        flags |= if value == 0 { Z } else { 0 };
        flags |= if value & width.sign() != 0 { S } else { 0 };
        self.core.flg = self.core.flg & !(C | O | Z | S) | flags;
        value
    }

    /// S and Z of a result, and the result.
    #[inline(always)]
    fn logic(&mut self, width: Width, value: u32) -> u32 {
        self.set_sz(width, value);
        value
    }

    /// The further cycles of a list of registers.
    #[inline(always)]
    fn count_registers(&mut self, op: &Op) {
        let further = u64::from(op.further) * u64::from(op.extra.count_ones());
        self.cycles += further.max(u64::from(op.least.saturating_sub(op.cycles)));
    }

    fn move_nibble<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        let (source, destination) = self.both(observer, pc, op)?;
        let nibble = if op.extra & 1 == 0 { source & 15 } else { source >> 4 };
        let value =
            if op.extra & 2 == 0 { destination & 0xf0 | nibble } else { destination & 15 | nibble << 4 };
        self.store(observer, pc, &op.destination, value)
    }

    /// Executes the instructions that are rare in inner loops.
    #[inline(never)]
    fn rare<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        match op.kind {
            Opcode::Div | Opcode::Divu | Opcode::Divx => self.divide(observer, pc, op),
            Opcode::Dadd | Opcode::Dadc | Opcode::Dsub | Opcode::Dsbb => self.decimal(observer, pc, op),
            Opcode::Exts => self.sign_extend(observer, pc, op),
            Opcode::Rmpa => self.sum_of_products(observer, pc, op),
            Opcode::Smovf | Opcode::Smovb => self.copy(observer, pc, op),
            Opcode::Sstr => self.fill(observer, pc, op),
            _ => self.control_flow(observer, pc, op),
        }
    }
}

/// The low and the high register of a pair: `R2R0`, `R3R1`, `A1A0`.
#[inline(always)]
fn pair_registers(register: u8) -> (usize, usize) {
    match register {
        0 => (0, 2),
        1 => (1, 3),
        _ => (4, 5),
    }
}

impl Machine<R8c> {
    /// The loop over the instructions.
    pub fn run_loop<O: Observer>(&mut self, observer: &mut O) -> Result<Stop, Fault> {
        let mut first = true;
        let mut bank = None;
        loop {
            if self.cycles >= self.deadline
                && let Some(stop) = self.service(observer)?
            {
                return Ok(stop);
            }
            let pc = self.core.pc;
            if !self.core.program.knows(pc) && !self.core.find(pc, first)? {
                return Ok(Stop::Address(pc));
            }
            let op = self.core.program.op(pc);
            first = false;
            // Nothing here requests an interrupt that could end a loop or a sleep.
            if op.kind == Opcode::Jmp && op.source.value == pc || op.kind == Opcode::Wait {
                return Ok(Stop::Halted);
            }
            if O::enabled() {
                if bank != Some(self.core.bank()) {
                    bank = Some(self.core.bank());
                    observer.bank(self.core.bank());
                }
                let step = Step { pc, sp: self.core.sp().into(), cycles: self.cycles, flow: self.flow };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            self.step(observer, pc, op)?;
        }
    }

    /// Writes FLG as a whole.
    pub fn set_flg(&mut self, value: u16) {
        self.core.set_flg(value);
        // Single-step interrupts are looked at there.
        self.recheck();
    }

    /// Sets or clears one of the arithmetic flags.
    #[inline(always)]
    pub fn set_flag(&mut self, flag: u16, on: bool) {
        self.core.flg = self.core.flg & !flag | if on { flag } else { 0 };
    }

    /// S and Z of a result that is cut to the width.
    #[inline(always)]
    pub fn set_sz(&mut self, width: Width, value: u32) {
        let sign = if value & width.sign() != 0 { S } else { 0 };
        let zero = if value == 0 { Z } else { 0 };
        self.core.flg = self.core.flg & !(S | Z) | sign | zero;
    }

    /// Executes `op`, which stands at `pc`.
    #[inline(always)]
    pub fn step<O: Observer>(&mut self, observer: &mut O, pc: u32, op: Op) -> Result<(), Fault> {
        self.core.pc = (pc + u32::from(op.length)) & ADDRESS_MASK;
        if let Err(fault) = self.execute(observer, pc, &op) {
            self.core.pc = pc;
            return Err(fault);
        }
        self.cycles += u64::from(op.cycles);
        self.instructions += 1;
        Ok(())
    }
}
