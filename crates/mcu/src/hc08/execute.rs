//! What each instruction does.
//!
//! Source: CPU08RM, "Instruction Set". What the manual calls undefined stays as it was (V after `DAA`).

use super::decode::{Kind, Mode, Op};
use super::state::{C, H, I, N, ONES, Sleep, State, V, Z};
use crate::observe::dynamic;
use crate::{Fault, Flow, Observer};

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

impl State {
    /// Executes `op`, which stands at `pc`; the program counter already points behind it.
    #[inline(always)]
    pub fn execute<O: Observer>(&mut self, observer: &mut O, pc: u16, op: Op) -> Result<(), Fault> {
        match op.kind {
            Kind::Unknown => unreachable!("only decoded instructions are executed"),
            Kind::Lda => {
                self.a = self.operand(observer, pc, op)?;
                self.moved(self.a);
            }
            Kind::Ldx => {
                let value = self.operand(observer, pc, op)?;
                self.set_x(value);
                self.moved(value);
            }
            Kind::Sta => self.store(observer, pc, op, self.a)?,
            Kind::Stx => self.store(observer, pc, op, self.x())?,
            Kind::Eor => {
                self.a ^= self.operand(observer, pc, op)?;
                self.moved(self.a);
            }
            Kind::And => {
                self.a &= self.operand(observer, pc, op)?;
                self.moved(self.a);
            }
            Kind::Ora => {
                self.a |= self.operand(observer, pc, op)?;
                self.moved(self.a);
            }
            Kind::Bit => {
                let value = self.a & self.operand(observer, pc, op)?;
                self.moved(value);
            }
            Kind::Add => {
                let value = self.operand(observer, pc, op)?;
                self.add(value, 0);
            }
            Kind::Adc => {
                let value = self.operand(observer, pc, op)?;
                self.add(value, self.ccr & C);
            }
            Kind::Sub => {
                let value = self.operand(observer, pc, op)?;
                self.a = self.subtract(self.a, value, 0);
            }
            Kind::Sbc => {
                let value = self.operand(observer, pc, op)?;
                self.a = self.subtract(self.a, value, self.ccr & C);
            }
            Kind::Cmp => {
                let value = self.operand(observer, pc, op)?;
                self.subtract(self.a, value, 0);
            }
            Kind::Cpx => {
                let value = self.operand(observer, pc, op)?;
                self.subtract(self.x(), value, 0);
            }
            Kind::Ldhx => {
                self.hx = self.word_operand(observer, pc, op)?;
                self.moved_word(self.hx);
            }
            Kind::Sthx => {
                self.write_word(observer, pc, op.operand, self.hx)?;
                self.moved_word(self.hx);
            }
            Kind::Cphx => {
                let value = self.word_operand(observer, pc, op)?;
                let difference = self.hx.wrapping_sub(value);
                let overflow = (self.hx ^ value) & (self.hx ^ difference) & 0x8000 != 0;
                self.set_flags(
                    V | N | Z | C,
                    flag(V, overflow) | nz_word(difference) | flag(C, value > self.hx),
                );
            }
            Kind::Aix => self.hx = self.hx.wrapping_add(op.operand),
            Kind::Ais => self.sp = self.sp.wrapping_add(op.operand),

            Kind::Inc => self.modify(observer, pc, op, |state, value| {
                let result = value.wrapping_add(1);
                state.set_flags(V | N | Z, flag(V, value == 0x7f) | nz(result));
                result
            })?,
            Kind::Dec => self.modify(observer, pc, op, |state, value| {
                let result = value.wrapping_sub(1);
                state.set_flags(V | N | Z, flag(V, value == 0x80) | nz(result));
                result
            })?,
            Kind::Neg => self.modify(observer, pc, op, |state, value| state.subtract(0, value, 0))?,
            Kind::Com => self.modify(observer, pc, op, |state, value| {
                state.set_flags(V | N | Z | C, nz(!value) | C);
                !value
            })?,
            Kind::Lsl => {
                self.modify(observer, pc, op, |state, value| state.shifted(value << 1, value & 0x80))?
            }
            Kind::Lsr => {
                self.modify(observer, pc, op, |state, value| state.shifted(value >> 1, value & 1))?
            }
            Kind::Asr => self.modify(observer, pc, op, |state, value| {
                state.shifted(value & 0x80 | value >> 1, value & 1)
            })?,
            Kind::Rol => self.modify(observer, pc, op, |state, value| {
                state.shifted(value << 1 | state.ccr & C, value & 0x80)
            })?,
            Kind::Ror => self.modify(observer, pc, op, |state, value| {
                state.shifted(value >> 1 | (state.ccr & C) << 7, value & 1)
            })?,
            Kind::Clr => {
                match op.mode {
                    Mode::A => self.a = 0,
                    Mode::X => self.set_x(0),
                    _ => {
                        let address = self.address(op);
                        self.write(observer, pc, address, 0)?;
                    }
                }
                self.moved(0);
            }
            Kind::Tst => {
                let value = self.operand(observer, pc, op)?;
                self.moved(value);
            }
            Kind::Clrh => {
                self.hx &= 0xff;
                self.moved(0);
            }

            Kind::Brset => {
                let value = self.read(observer, pc, op.operand & 0xff)?;
                let set = value & (op.operand >> 8) as u8 != 0;
                self.set_flags(C, flag(C, set));
                self.branch::<O>(op, set);
            }
            Kind::Brclr => {
                let value = self.read(observer, pc, op.operand & 0xff)?;
                let set = value & (op.operand >> 8) as u8 != 0;
                self.set_flags(C, flag(C, set));
                self.branch::<O>(op, !set);
            }
            Kind::Bset => {
                let value = self.read(observer, pc, op.operand & 0xff)?;
                self.write(observer, pc, op.operand & 0xff, value | (op.operand >> 8) as u8)?;
            }
            Kind::Bclr => {
                let value = self.read(observer, pc, op.operand & 0xff)?;
                self.write(observer, pc, op.operand & 0xff, value & !((op.operand >> 8) as u8))?;
            }
            Kind::Cbeq => {
                let value = self.operand(observer, pc, op)?;
                self.branch::<O>(op, self.a == value);
            }
            Kind::CbeqX => self.branch::<O>(op, u16::from(self.x()) == op.operand),
            Kind::CbeqIncrement => {
                let value = self.operand(observer, pc, op)?;
                self.hx = self.hx.wrapping_add(1);
                self.branch::<O>(op, self.a == value);
            }
            Kind::Dbnz => {
                let mut left = 0;
                self.modify(observer, pc, op, |_, value| {
                    left = value.wrapping_sub(1);
                    left
                })?;
                self.branch::<O>(op, left != 0);
            }

            Kind::Bcc => self.branch::<O>(op, self.ccr & C == 0),
            Kind::Bcs => self.branch::<O>(op, self.ccr & C != 0),
            Kind::Beq => self.branch::<O>(op, self.ccr & Z != 0),
            Kind::Bne => self.branch::<O>(op, self.ccr & Z == 0),
            Kind::Bhi => self.branch::<O>(op, self.ccr & (C | Z) == 0),
            Kind::Bls => self.branch::<O>(op, self.ccr & (C | Z) != 0),
            Kind::Bpl => self.branch::<O>(op, self.ccr & N == 0),
            Kind::Bmi => self.branch::<O>(op, self.ccr & N != 0),
            Kind::Bge => self.branch::<O>(op, !self.less()),
            Kind::Blt => self.branch::<O>(op, self.less()),
            Kind::Bgt => self.branch::<O>(op, !self.less() && self.ccr & Z == 0),
            Kind::Ble => self.branch::<O>(op, self.less() || self.ccr & Z != 0),
            Kind::Bhcc => self.branch::<O>(op, self.ccr & H == 0),
            Kind::Bhcs => self.branch::<O>(op, self.ccr & H != 0),
            Kind::Bmc => self.branch::<O>(op, self.ccr & I == 0),
            Kind::Bms => self.branch::<O>(op, self.ccr & I != 0),
            // The IRQ pin is high: nothing asserts it.
            Kind::Bih => self.branch::<O>(op, true),
            Kind::Bil | Kind::Brn => {}
            Kind::Jump | Kind::JumpToSelf => self.branch::<O>(op, true),
            Kind::JumpIndexed => {
                self.pc = self.hx.wrapping_add(op.operand);
                if O::enabled() {
                    self.flow = Flow::Jump;
                }
            }
            Kind::Call => self.call(observer, pc, op.target)?,
            Kind::CallIndexed => self.call(observer, pc, self.hx.wrapping_add(op.operand))?,
            Kind::Rts => {
                self.pc = self.pull_word(observer, pc)?;
                if O::enabled() {
                    self.flow = Flow::Return;
                }
            }

            Kind::Mov => {
                let value = self.read(observer, pc, op.operand)?;
                self.write(observer, pc, op.target, value)?;
                self.moved(value);
            }
            Kind::MovImmediate => {
                self.write(observer, pc, op.target, op.operand as u8)?;
                self.moved(op.operand as u8);
            }
            Kind::MovToIndexed => {
                let value = self.read(observer, pc, op.operand)?;
                self.write(observer, pc, self.hx, value)?;
                self.hx = self.hx.wrapping_add(1);
                self.moved(value);
            }
            Kind::MovFromIndexed => {
                let value = self.read(observer, pc, self.hx)?;
                self.write(observer, pc, op.target, value)?;
                self.hx = self.hx.wrapping_add(1);
                self.moved(value);
            }

            Kind::Mul => {
                let [high, low] = (u16::from(self.x()) * u16::from(self.a)).to_be_bytes();
                self.set_x(high);
                self.a = low;
                self.set_flags(H | C, 0);
            }
            Kind::Div => self.divide(pc)?,
            Kind::Nsa => self.a = self.a.rotate_left(4),
            Kind::Daa => self.decimal_adjust(pc)?,
            Kind::Tax => self.set_x(self.a),
            Kind::Txa => self.a = self.x(),
            Kind::Tap => self.ccr = self.a | ONES,
            Kind::Tpa => self.a = self.ccr,
            Kind::Tsx => self.hx = self.sp.wrapping_add(1),
            Kind::Txs => self.sp = self.hx.wrapping_sub(1),
            // The low byte alone, for programs of the M68HC05.
            Kind::Rsp => self.sp |= 0xff,
            Kind::Clc => self.ccr &= !C,
            Kind::Sec => self.ccr |= C,
            Kind::Cli => self.ccr &= !I,
            Kind::Sei => self.ccr |= I,
            Kind::Nop => {}
            Kind::Psha => self.push(observer, pc, self.a)?,
            Kind::Pshh => self.push(observer, pc, (self.hx >> 8) as u8)?,
            Kind::Pshx => self.push(observer, pc, self.x())?,
            Kind::Pula => self.a = self.pull(observer, pc)?,
            Kind::Pulh => self.hx = u16::from(self.pull(observer, pc)?) << 8 | self.hx & 0xff,
            Kind::Pulx => {
                let value = self.pull(observer, pc)?;
                self.set_x(value);
            }
            Kind::Swi => self.software_interrupt(observer, pc)?,
            Kind::Rti => self.return_from_interrupt(observer, pc)?,
            Kind::Wait => self.fall_asleep(Sleep::Wait),
            Kind::Stop => self.stop(observer, pc)?,
        }
        Ok(())
    }

    #[inline(always)]
    fn x(&self) -> u8 {
        self.hx as u8
    }

    #[inline(always)]
    fn set_x(&mut self, value: u8) {
        self.hx = self.hx & 0xff00 | u16::from(value);
    }

    /// Sets the flags of `mask` as `value` has them.
    #[inline(always)]
    fn set_flags(&mut self, mask: u8, value: u8) {
        self.ccr = self.ccr & !mask | value;
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
            Mode::Indexed => self.hx.wrapping_add(op.operand),
            Mode::Stack => self.sp.wrapping_add(op.operand),
            _ => op.operand,
        }
    }

    #[inline(always)]
    fn operand<O: Observer>(&mut self, observer: &mut O, pc: u16, op: Op) -> Result<u8, Fault> {
        match op.mode {
            Mode::Immediate => Ok(op.operand as u8),
            Mode::A => Ok(self.a),
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
            Mode::A => self.a = compute(self, self.a),
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
        let sum = u16::from(self.a) + u16::from(value) + u16::from(carry);
        let result = sum as u8;
        let overflow = (self.a ^ result) & (value ^ result) & 0x80;
        let half = (self.a ^ value ^ result) & 0x10;
        self.set_flags(V | H | N | Z | C, overflow | half | nz(result) | (sum >> 8) as u8);
        self.a = result;
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
        (self.ccr & N != 0) != (self.ccr & V != 0)
    }

    #[inline(always)]
    fn branch<O: Observer>(&mut self, op: Op, taken: bool) {
        if taken {
            self.pc = op.target;
            if O::enabled() {
                self.flow = Flow::Jump;
            }
        }
    }

    fn call<O: Observer>(&mut self, observer: &mut O, pc: u16, target: u16) -> Result<(), Fault> {
        let return_to = self.pc;
        self.push_word(observer, pc, return_to)?;
        self.pc = target;
        if O::enabled() {
            self.flow = Flow::Call { return_to: return_to.into() };
        }
        Ok(())
    }

    /// H:A divided by X: quotient to A, remainder to H.
    fn divide(&mut self, pc: u16) -> Result<(), Fault> {
        let dividend = self.hx & 0xff00 | u16::from(self.a);
        let divisor = u16::from(self.x());
        let quotient = dividend.checked_div(divisor).filter(|quotient| *quotient <= 0xff);
        let Some(quotient) = quotient else {
            let what =
                "DIV by zero or with a quotient of more than eight bits: the result is indeterminate".into();
            return Err(Fault::Architecture { pc: pc.into(), address: dividend.into(), what });
        };
        self.a = quotient as u8;
        self.hx = (dividend % divisor) << 8 | divisor;
        self.set_flags(Z | C, flag(Z, quotient == 0));
        Ok(())
    }

    /// CPU08RM, `DAA`, table "DAA Function Summary".
    fn decimal_adjust(&mut self, pc: u16) -> Result<(), Fault> {
        let (high, low) = (self.a >> 4, self.a & 15);
        let correction = match (self.ccr & C != 0, high, self.ccr & H != 0, low) {
            (false, 0..=9, false, 0..=9) => 0x00,
            (false, 0..=8, false, 10..) | (false, 0..=9, true, 0..=3) => 0x06,
            (false, 10.., false, 0..=9) | (true, 0..=2, false, 0..=9) => 0x60,
            (false, 9.., false, 10..) | (false, 10.., true, 0..=3) => 0x66,
            (true, 0..=2, false, 10..) | (true, 0..=3, true, 0..=3) => 0x66,
            _ => {
                let what = "DAA of what is no sum of two bytes of decimal digits".into();
                return Err(Fault::Architecture { pc: pc.into(), address: self.a.into(), what });
            }
        };
        self.a = self.a.wrapping_add(correction);
        self.set_flags(N | Z | C, nz(self.a) | flag(C, correction >= 0x60));
        Ok(())
    }

    fn software_interrupt<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<(), Fault> {
        let return_to = self.pc;
        let sp = self.sp;
        let stacked = self.stack_registers(observer, pc);
        if let Err(fault) = stacked {
            self.sp = sp;
            return Err(fault);
        }
        self.ccr |= I;
        self.pc = self.memory.word(SWI_VECTOR);
        if O::enabled() {
            self.flow = Flow::Interrupt { return_to: return_to.into() };
        }
        Ok(())
    }

    /// All but H, which programs of the M68HC05 do not expect on the stack.
    fn stack_registers<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<(), Fault> {
        self.push_word(observer, pc, self.pc)?;
        self.push(observer, pc, self.x())?;
        self.push(observer, pc, self.a)?;
        self.push(observer, pc, self.ccr)
    }

    fn return_from_interrupt<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<(), Fault> {
        let sp = self.sp;
        let byte = |state: &mut State, observer: &mut O, offset: u16| {
            state.read(observer, pc, sp.wrapping_add(offset))
        };
        let ccr = byte(self, observer, 1)?;
        let a = byte(self, observer, 2)?;
        let x = byte(self, observer, 3)?;
        self.pc = self.read_word(observer, pc, sp.wrapping_add(4))?;
        self.ccr = ccr | ONES;
        self.a = a;
        self.set_x(x);
        self.sp = sp.wrapping_add(5);
        if O::enabled() {
            self.flow = Flow::InterruptReturn;
        }
        Ok(())
    }

    fn fall_asleep(&mut self, sleep: Sleep) {
        self.ccr &= !I;
        self.sleep = sleep;
        self.horizon = 0;
    }

    /// `STOP`, which resets the part as an illegal opcode does unless CONFIG1 enables it.
    fn stop<O: Observer>(&mut self, observer: &mut O, pc: u16) -> Result<(), Fault> {
        let enabled = match self.config {
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
