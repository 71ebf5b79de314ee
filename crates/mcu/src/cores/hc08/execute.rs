//! Execution of instructions.
//!
//! Source: CPU08RM, "Instruction Set". What the manual calls undefined stays as it was (V after
//! `DAA`).

mod bus;

use super::decode::{Mode, Op, Opcode};
use super::registers::{C, H, Hc08, I, N, ONES, Sleep, V, Z};
use crate::machine::Machine;
use crate::observe::dynamic;
use crate::{Fault, Flow, Observer, Step, Stop};

/// The vector of `SWI`.
const SWI_VECTOR: u16 = 0xfffc;
/// `STOP` of CONFIG1: the `STOP` instruction is enabled.
const STOP_ENABLE: u32 = 0x02;

/// N and Z of a byte.
#[inline(always)]
fn nz(value: u8) -> u8 {
    value >> 5 & N | if value == 0 { Z } else { 0 }
}

/// N and Z of a word.
fn nz_word(value: u16) -> u8 {
    (value >> 13) as u8 & N | if value == 0 { Z } else { 0 }
}

/// `on` as the flag's bit.
#[inline(always)]
fn flag(bit: u8, on: bool) -> u8 {
    if on { bit } else { 0 }
}

impl Machine<Hc08> {
    /// Executes `op`, which stands at `pc`; the program counter already points behind it.
    #[inline(always)]
    pub fn execute<O: Observer>(&mut self, observer: &mut O, pc: u16, op: Op) -> Result<(), Fault> {
        match op.kind {
            Opcode::Unknown => unreachable!("only decoded instructions are executed"),
            Opcode::Lda => {
                self.core.a = self.operand(observer, pc, op)?;
                self.moved(self.core.a);
            }
            Opcode::Ldx => {
                let value = self.operand(observer, pc, op)?;
                self.set_x(value);
                self.moved(value);
            }
            Opcode::Sta => self.store(observer, pc, op, self.core.a)?,
            Opcode::Stx => self.store(observer, pc, op, self.x())?,
            Opcode::Eor => {
                self.core.a ^= self.operand(observer, pc, op)?;
                self.moved(self.core.a);
            }
            Opcode::And => {
                self.core.a &= self.operand(observer, pc, op)?;
                self.moved(self.core.a);
            }
            Opcode::Ora => {
                self.core.a |= self.operand(observer, pc, op)?;
                self.moved(self.core.a);
            }
            Opcode::Bit => {
                let value = self.core.a & self.operand(observer, pc, op)?;
                self.moved(value);
            }
            Opcode::Add => {
                let value = self.operand(observer, pc, op)?;
                self.add(value, 0);
            }
            Opcode::Adc => {
                let value = self.operand(observer, pc, op)?;
                self.add(value, self.core.ccr & C);
            }
            Opcode::Sub => {
                let value = self.operand(observer, pc, op)?;
                self.core.a = self.subtract(self.core.a, value, 0);
            }
            Opcode::Sbc => {
                let value = self.operand(observer, pc, op)?;
                self.core.a = self.subtract(self.core.a, value, self.core.ccr & C);
            }
            Opcode::Cmp => {
                let value = self.operand(observer, pc, op)?;
                self.subtract(self.core.a, value, 0);
            }
            Opcode::Cpx => {
                let value = self.operand(observer, pc, op)?;
                self.subtract(self.x(), value, 0);
            }
            Opcode::Ldhx => {
                self.core.hx = self.word_operand(observer, pc, op)?;
                self.moved_word(self.core.hx);
            }
            Opcode::Sthx => {
                self.write_word(observer, pc, op.operand, self.core.hx)?;
                self.moved_word(self.core.hx);
            }
            Opcode::Cphx => {
                let value = self.word_operand(observer, pc, op)?;
                let difference = self.core.hx.wrapping_sub(value);
                let overflow = (self.core.hx ^ value) & (self.core.hx ^ difference) & 0x8000 != 0;
                self.set_flags(
                    V | N | Z | C,
                    flag(V, overflow) | nz_word(difference) | flag(C, value > self.core.hx),
                );
            }
            Opcode::Aix => self.core.hx = self.core.hx.wrapping_add(op.operand),
            Opcode::Ais => self.core.sp = self.core.sp.wrapping_add(op.operand),

            Opcode::Inc => self.modify(observer, pc, op, |state, value| {
                let result = value.wrapping_add(1);
                state.set_flags(V | N | Z, flag(V, value == 0x7f) | nz(result));
                result
            })?,
            Opcode::Dec => self.modify(observer, pc, op, |state, value| {
                let result = value.wrapping_sub(1);
                state.set_flags(V | N | Z, flag(V, value == 0x80) | nz(result));
                result
            })?,
            Opcode::Neg => self.modify(observer, pc, op, |state, value| state.subtract(0, value, 0))?,
            Opcode::Com => self.modify(observer, pc, op, |state, value| {
                state.set_flags(V | N | Z | C, nz(!value) | C);
                !value
            })?,
            Opcode::Lsl => {
                self.modify(observer, pc, op, |state, value| state.shifted(value << 1, value & 0x80))?
            }
            Opcode::Lsr => {
                self.modify(observer, pc, op, |state, value| state.shifted(value >> 1, value & 1))?
            }
            Opcode::Asr => self.modify(observer, pc, op, |state, value| {
                state.shifted(value & 0x80 | value >> 1, value & 1)
            })?,
            Opcode::Rol => self.modify(observer, pc, op, |state, value| {
                state.shifted(value << 1 | state.core.ccr & C, value & 0x80)
            })?,
            Opcode::Ror => self.modify(observer, pc, op, |state, value| {
                state.shifted(value >> 1 | (state.core.ccr & C) << 7, value & 1)
            })?,
            Opcode::Clr => {
                match op.mode {
                    Mode::A => self.core.a = 0,
                    Mode::X => self.set_x(0),
                    _ => {
                        let address = self.address(op);
                        self.write(observer, pc, address, 0)?;
                    }
                }
                self.moved(0);
            }
            Opcode::Tst => {
                let value = self.operand(observer, pc, op)?;
                self.moved(value);
            }
            Opcode::Clrh => {
                self.core.hx &= 0xff;
                self.moved(0);
            }

            Opcode::Brset => {
                let value = self.read(observer, pc, op.operand & 0xff)?;
                let set = value & (op.operand >> 8) as u8 != 0;
                self.set_flags(C, flag(C, set));
                self.branch::<O>(op, set);
            }
            Opcode::Brclr => {
                let value = self.read(observer, pc, op.operand & 0xff)?;
                let set = value & (op.operand >> 8) as u8 != 0;
                self.set_flags(C, flag(C, set));
                self.branch::<O>(op, !set);
            }
            Opcode::Bset => {
                let value = self.read(observer, pc, op.operand & 0xff)?;
                self.write(observer, pc, op.operand & 0xff, value | (op.operand >> 8) as u8)?;
            }
            Opcode::Bclr => {
                let value = self.read(observer, pc, op.operand & 0xff)?;
                self.write(observer, pc, op.operand & 0xff, value & !((op.operand >> 8) as u8))?;
            }
            Opcode::Cbeq => {
                let value = self.operand(observer, pc, op)?;
                self.branch::<O>(op, self.core.a == value);
            }
            Opcode::CbeqX => self.branch::<O>(op, u16::from(self.x()) == op.operand),
            Opcode::CbeqIncrement => {
                let value = self.operand(observer, pc, op)?;
                self.core.hx = self.core.hx.wrapping_add(1);
                self.branch::<O>(op, self.core.a == value);
            }
            Opcode::Dbnz => {
                let mut left = 0;
                self.modify(observer, pc, op, |_, value| {
                    left = value.wrapping_sub(1);
                    left
                })?;
                self.branch::<O>(op, left != 0);
            }

            Opcode::Bcc => self.branch::<O>(op, self.core.ccr & C == 0),
            Opcode::Bcs => self.branch::<O>(op, self.core.ccr & C != 0),
            Opcode::Beq => self.branch::<O>(op, self.core.ccr & Z != 0),
            Opcode::Bne => self.branch::<O>(op, self.core.ccr & Z == 0),
            Opcode::Bhi => self.branch::<O>(op, self.core.ccr & (C | Z) == 0),
            Opcode::Bls => self.branch::<O>(op, self.core.ccr & (C | Z) != 0),
            Opcode::Bpl => self.branch::<O>(op, self.core.ccr & N == 0),
            Opcode::Bmi => self.branch::<O>(op, self.core.ccr & N != 0),
            Opcode::Bge => self.branch::<O>(op, !self.less()),
            Opcode::Blt => self.branch::<O>(op, self.less()),
            Opcode::Bgt => self.branch::<O>(op, !self.less() && self.core.ccr & Z == 0),
            Opcode::Ble => self.branch::<O>(op, self.less() || self.core.ccr & Z != 0),
            Opcode::Bhcc => self.branch::<O>(op, self.core.ccr & H == 0),
            Opcode::Bhcs => self.branch::<O>(op, self.core.ccr & H != 0),
            Opcode::Bmc => self.branch::<O>(op, self.core.ccr & I == 0),
            Opcode::Bms => self.branch::<O>(op, self.core.ccr & I != 0),
            // The IRQ pin is high: nothing asserts it.
            Opcode::Bih => self.branch::<O>(op, true),
            Opcode::Bil | Opcode::Brn => {}
            Opcode::Jump | Opcode::JumpToSelf => self.branch::<O>(op, true),
            Opcode::JumpIndexed => {
                self.core.pc = self.core.hx.wrapping_add(op.operand);
                if O::enabled() {
                    self.flow = Flow::Jump;
                }
            }
            Opcode::Call => self.call(observer, pc, op.target)?,
            Opcode::CallIndexed => self.call(observer, pc, self.core.hx.wrapping_add(op.operand))?,
            Opcode::Rts => {
                self.core.pc = self.pull_word(observer, pc)?;
                if O::enabled() {
                    self.flow = Flow::Return;
                }
            }

            Opcode::Mov => {
                let value = self.read(observer, pc, op.operand)?;
                self.write(observer, pc, op.target, value)?;
                self.moved(value);
            }
            Opcode::MovImmediate => {
                self.write(observer, pc, op.target, op.operand as u8)?;
                self.moved(op.operand as u8);
            }
            Opcode::MovToIndexed => {
                let value = self.read(observer, pc, op.operand)?;
                self.write(observer, pc, self.core.hx, value)?;
                self.core.hx = self.core.hx.wrapping_add(1);
                self.moved(value);
            }
            Opcode::MovFromIndexed => {
                let value = self.read(observer, pc, self.core.hx)?;
                self.write(observer, pc, op.target, value)?;
                self.core.hx = self.core.hx.wrapping_add(1);
                self.moved(value);
            }

            Opcode::Mul => {
                let [high, low] = (u16::from(self.x()) * u16::from(self.core.a)).to_be_bytes();
                self.set_x(high);
                self.core.a = low;
                self.set_flags(H | C, 0);
            }
            Opcode::Div => self.divide(pc)?,
            Opcode::Nsa => self.core.a = self.core.a.rotate_left(4),
            Opcode::Daa => self.decimal_adjust(pc)?,
            Opcode::Tax => self.set_x(self.core.a),
            Opcode::Txa => self.core.a = self.x(),
            Opcode::Tap => self.core.ccr = self.core.a | ONES,
            Opcode::Tpa => self.core.a = self.core.ccr,
            Opcode::Tsx => self.core.hx = self.core.sp.wrapping_add(1),
            Opcode::Txs => self.core.sp = self.core.hx.wrapping_sub(1),
            // The low byte alone, for programs of the M68HC05.
            Opcode::Rsp => self.core.sp |= 0xff,
            Opcode::Clc => self.core.ccr &= !C,
            Opcode::Sec => self.core.ccr |= C,
            Opcode::Cli => self.core.ccr &= !I,
            Opcode::Sei => self.core.ccr |= I,
            Opcode::Nop => {}
            Opcode::Psha => self.push(observer, pc, self.core.a)?,
            Opcode::Pshh => self.push(observer, pc, (self.core.hx >> 8) as u8)?,
            Opcode::Pshx => self.push(observer, pc, self.x())?,
            Opcode::Pula => self.core.a = self.pull(observer, pc)?,
            Opcode::Pulh => self.core.hx = u16::from(self.pull(observer, pc)?) << 8 | self.core.hx & 0xff,
            Opcode::Pulx => {
                let value = self.pull(observer, pc)?;
                self.set_x(value);
            }
            Opcode::Swi => self.software_interrupt(observer, pc)?,
            Opcode::Rti => self.return_from_interrupt(observer, pc)?,
            Opcode::Wait => self.fall_asleep(Sleep::Wait),
            Opcode::Stop => self.stop(observer, pc)?,
        }
        Ok(())
    }

    #[inline(always)]
    fn x(&self) -> u8 {
        self.core.hx as u8
    }

    #[inline(always)]
    fn set_x(&mut self, value: u8) {
        self.core.hx = self.core.hx & 0xff00 | u16::from(value);
    }

    /// Sets the flags of `mask` as `value` has them.
    #[inline(always)]
    fn set_flags(&mut self, mask: u8, value: u8) {
        self.core.ccr = self.core.ccr & !mask | value;
    }

    /// The flags after a value was loaded, stored or combined bit by bit.
    #[inline(always)]
    fn moved(&mut self, value: u8) {
        self.set_flags(V | N | Z, nz(value));
    }

    fn moved_word(&mut self, value: u16) {
        self.set_flags(V | N | Z, nz_word(value));
    }

    /// The address of an operand in memory.
    #[inline(always)]
    fn address(&self, op: Op) -> u16 {
        match op.mode {
            Mode::Indexed => self.core.hx.wrapping_add(op.operand),
            Mode::Stack => self.core.sp.wrapping_add(op.operand),
            _ => op.operand,
        }
    }

    #[inline(always)]
    fn operand<O: Observer>(&mut self, observer: &mut O, pc: u16, op: Op) -> Result<u8, Fault> {
        match op.mode {
            Mode::Immediate => Ok(op.operand as u8),
            Mode::A => Ok(self.core.a),
            Mode::X => Ok(self.x()),
            _ => {
                let address = self.address(op);
                self.read(observer, pc, address)
            }
        }
    }

    fn word_operand<O: Observer>(&mut self, observer: &mut O, pc: u16, op: Op) -> Result<u16, Fault> {
        if op.mode == Mode::Immediate { Ok(op.operand) } else { self.read_word(observer, pc, op.operand) }
    }

    #[inline(always)]
    fn store<O: Observer>(&mut self, observer: &mut O, pc: u16, op: Op, value: u8) -> Result<(), Fault> {
        let address = self.address(op);
        self.write(observer, pc, address, value)?;
        self.moved(value);
        Ok(())
    }

    /// An instruction that changes its operand where it is.
    #[inline(always)]
    fn modify<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u16,
        op: Op,
        compute: impl FnOnce(&mut Self, u8) -> u8,
    ) -> Result<(), Fault> {
        match op.mode {
            Mode::A => self.core.a = compute(self, self.core.a),
            Mode::X => {
                let value = compute(self, self.x());
                self.set_x(value);
            }
            _ => {
                let address = self.address(op);
                let before = self.read(observer, pc, address)?;
                let value = compute(self, before);
                self.write(observer, pc, address, value)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn add(&mut self, value: u8, carry: u8) {
        let sum = u16::from(self.core.a) + u16::from(value) + u16::from(carry);
        let result = sum as u8;
        let overflow = (self.core.a ^ result) & (value ^ result) & 0x80;
        let half = (self.core.a ^ value ^ result) & 0x10;
        self.set_flags(V | H | N | Z | C, overflow | half | nz(result) | (sum >> 8) as u8);
        self.core.a = result;
    }

    /// `from` less `value` less `borrow`, with the flags; half carry stays.
    #[inline(always)]
    fn subtract(&mut self, from: u8, value: u8, borrow: u8) -> u8 {
        let difference = u16::from(from).wrapping_sub(value.into()).wrapping_sub(borrow.into());
        let result = difference as u8;
        let overflow = (from ^ value) & (from ^ result) & 0x80;
        self.set_flags(V | N | Z | C, overflow | nz(result) | flag(C, difference > 0xff));
        result
    }

    /// The flags after a shift to `result` that moved the bit `out` out: V is N different from C.
    #[inline(always)]
    fn shifted(&mut self, result: u8, out: u8) -> u8 {
        let carry = out != 0;
        let overflow = (result & 0x80 != 0) != carry;
        self.set_flags(V | N | Z | C, flag(V, overflow) | nz(result) | flag(C, carry));
        result
    }

    /// N different from V.
    fn less(&self) -> bool {
        (self.core.ccr & N != 0) != (self.core.ccr & V != 0)
    }

    #[inline(always)]
    fn branch<O: Observer>(&mut self, op: Op, taken: bool) {
        if taken {
            self.core.pc = op.target;
            if O::enabled() {
                self.flow = Flow::Jump;
            }
        }
    }

    fn call<O: Observer>(&mut self, observer: &mut O, pc: u16, target: u16) -> Result<(), Fault> {
        let return_to = self.core.pc;
        self.push_word(observer, pc, return_to)?;
        self.core.pc = target;
        if O::enabled() {
            self.flow = Flow::Call { return_to: return_to.into() };
        }
        Ok(())
    }

    /// H:A divided by X: quotient to A, remainder to H.
    fn divide(&mut self, pc: u16) -> Result<(), Fault> {
        let dividend = self.core.hx & 0xff00 | u16::from(self.core.a);
        let divisor = u16::from(self.x());
        let quotient = dividend.checked_div(divisor).filter(|quotient| *quotient <= 0xff);
        let Some(quotient) = quotient else {
            let what =
                "DIV by zero or with a quotient of more than eight bits: the result is indeterminate".into();
            return Err(Fault::Architecture { pc: pc.into(), address: dividend.into(), what });
        };
        self.core.a = quotient as u8;
        self.core.hx = (dividend % divisor) << 8 | divisor;
        self.set_flags(Z | C, flag(Z, quotient == 0));
        Ok(())
    }

    /// CPU08RM, `DAA`, table "DAA Function Summary".
    fn decimal_adjust(&mut self, pc: u16) -> Result<(), Fault> {
        let (high, low) = (self.core.a >> 4, self.core.a & 15);
        let correction = match (self.core.ccr & C != 0, high, self.core.ccr & H != 0, low) {
            (false, 0..=9, false, 0..=9) => 0x00,
            (false, 0..=8, false, 10..) | (false, 0..=9, true, 0..=3) => 0x06,
            (false, 10.., false, 0..=9) | (true, 0..=2, false, 0..=9) => 0x60,
            (false, 9.., false, 10..) | (false, 10.., true, 0..=3) => 0x66,
            (true, 0..=2, false, 10..) | (true, 0..=3, true, 0..=3) => 0x66,
            _ => {
                let what = "DAA of what is no sum of two bytes of decimal digits".into();
                return Err(Fault::Architecture { pc: pc.into(), address: self.core.a.into(), what });
            }
        };
        self.core.a = self.core.a.wrapping_add(correction);
        self.set_flags(N | Z | C, nz(self.core.a) | flag(C, correction >= 0x60));
        Ok(())
    }

    fn software_interrupt<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<(), Fault> {
        let return_to = self.core.pc;
        let sp = self.core.sp;
        let stacked = self.stack_registers(observer, pc);
        if let Err(fault) = stacked {
            self.core.sp = sp;
            return Err(fault);
        }
        self.core.ccr |= I;
        self.core.pc = self.core.word(SWI_VECTOR);
        if O::enabled() {
            self.flow = Flow::Interrupt { return_to: return_to.into() };
        }
        Ok(())
    }

    /// All but H, which programs of the M68HC05 do not expect on the stack.
    fn stack_registers<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<(), Fault> {
        self.push_word(observer, pc, self.core.pc)?;
        self.push(observer, pc, self.x())?;
        self.push(observer, pc, self.core.a)?;
        self.push(observer, pc, self.core.ccr)
    }

    fn return_from_interrupt<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<(), Fault> {
        let sp = self.core.sp;
        let byte = |state: &mut Machine<Hc08>, observer: &mut O, offset: u16| {
            state.read(observer, pc, sp.wrapping_add(offset))
        };
        let ccr = byte(self, observer, 1)?;
        let a = byte(self, observer, 2)?;
        let x = byte(self, observer, 3)?;
        self.core.pc = self.read_word(observer, pc, sp.wrapping_add(4))?;
        self.core.ccr = ccr | ONES;
        self.core.a = a;
        self.set_x(x);
        self.core.sp = sp.wrapping_add(5);
        if O::enabled() {
            self.flow = Flow::InterruptReturn;
        }
        Ok(())
    }

    fn fall_asleep(&mut self, sleep: Sleep) {
        self.core.ccr &= !I;
        self.core.sleep = sleep;
        self.recheck();
    }

    /// `STOP`, which resets the part as an illegal opcode does unless CONFIG1 enables it.
    fn stop<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<(), Fault> {
        let enabled = match self.core.config {
            Some(address) => {
                self.bus.read(address.into(), 1, self.cycles, pc.into(), dynamic(observer))? & STOP_ENABLE
                    != 0
            }
            None => false,
        };
        if !enabled {
            let what = "STOP is not enabled in CONFIG1: the part is reset here".into();
            return Err(Fault::Architecture { pc: pc.into(), address: pc.into(), what });
        }
        self.fall_asleep(Sleep::Stop);
        Ok(())
    }
}

impl Machine<Hc08> {
    /// The loop over the instructions.
    pub fn run_loop<O: Observer>(&mut self, observer: &mut O) -> Result<Stop, Fault> {
        let mut first = true;
        loop {
            if self.cycles >= self.deadline
                && let Some(stop) = self.service(observer)?
            {
                return Ok(stop);
            }
            let pc = self.core.pc;
            if !self.core.program.knows(pc.into()) && !self.core.find(pc, first)? {
                return Ok(Stop::Address(pc.into()));
            }
            let op = self.core.program.op(pc.into());
            first = false;
            if op.kind == Opcode::JumpToSelf && self.nothing_can_come() {
                return Ok(Stop::Halted);
            }
            if O::enabled() {
                let step =
                    Step { pc: pc.into(), sp: self.core.sp.into(), cycles: self.cycles, flow: self.flow };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            self.step(observer, pc, op)?;
        }
    }

    #[inline(always)]
    fn step<O: Observer>(&mut self, observer: &mut O, pc: u16, op: Op) -> Result<(), Fault> {
        self.core.pc = pc.wrapping_add(op.length.into());
        if let Err(fault) = self.execute(observer, pc, op) {
            self.core.pc = pc;
            return Err(fault);
        }
        self.cycles += u64::from(op.cycles);
        self.instructions += 1;
        Ok(())
    }
}
