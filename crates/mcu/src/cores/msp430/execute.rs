//! Execution of instructions.
//!
//! Source: SLAU208, chapter CPUX, section "Instruction Set Description". Flags that the manual
//! leaves undefined (V of `DADD`, V of `RLAM`) stay as they are.

mod bus;
mod run;

pub(super) use run::NON_MASKABLE;

use super::op::{Op, Opcode, Operand, UNKNOWN, Width, indexed16};
use super::registers::{ADDRESS_MASK, C, CPUOFF, GIE, Msp430, N, PC, SP, SR, SR_BITS, V, Z};
use crate::machine::Machine;
use crate::{Fault, Flow, NoObserver, Observer};

impl Machine<Msp430> {
    /// Executes `op`, which stands at `pc`; the program counter already points behind it.
    #[inline(always)]
    pub fn execute<O: Observer>(&mut self, observer: &mut O, pc: u32, op: Op) -> Result<(), Fault> {
        if op.count | op.count_register != 0 {
            return self.repeat(pc);
        }
        self.execute_once(observer, pc, op)
    }

    /// A register instruction behind an extension word that repeats it: there is nothing in it that
    /// an observer is told. Looks the instruction up once more: the loop keeps its copy in
    /// registers only where nobody else wants it.
    #[cold]
    #[inline(never)]
    fn repeat(&mut self, pc: u32) -> Result<(), Fault> {
        self.core.find(pc, true)?;
        let op = self.core.program.op(pc);
        let mut more = op.count;
        if op.count_register != 0 {
            more = (self.core.registers[usize::from(op.count_register)] & 15) as u8;
            // Table 4-18: n + 1 cycles; the decoded figure is that of a single execution.
            self.cycles += u64::from(more);
        }
        for _ in 0..=more {
            self.execute_once(&mut NoObserver, pc, op)?;
        }
        if op.destination_register == 0 {
            self.flow = branch_flow(&op);
        }
        Ok(())
    }

    /// Executes `op`. What is not inlined here looks it up once more: see [`Machine::repeat`].
    #[inline(always)]
    fn execute_once<O: Observer>(&mut self, observer: &mut O, pc: u32, op: Op) -> Result<(), Fault> {
        let mask = op.width.mask();
        match op.kind {
            Opcode::Mov => {
                let value = self.source(observer, pc, &op)?;
                if op.destination == Operand::Register {
                    self.set_register(usize::from(op.destination_register), value);
                    if O::enabled() && op.destination_register == 0 {
                        self.flow = branch_flow(&op);
                    }
                } else {
                    let address = self.destination_address(&op);
                    self.write(observer, pc, address, op.width, value, op.cycles)?;
                }
            }
            Opcode::Add => self.alu(observer, pc, &op, |state, s, d| state.add(op.width, s, d, 0))?,
            Opcode::Addc => {
                let carry = self.carry(&op);
                self.alu(observer, pc, &op, |state, s, d| state.add(op.width, s, d, carry))?;
            }
            Opcode::Sub => self.alu(observer, pc, &op, |state, s, d| state.add(op.width, !s & mask, d, 1))?,
            Opcode::Subc => {
                let carry = self.carry(&op);
                self.alu(observer, pc, &op, |state, s, d| state.add(op.width, !s & mask, d, carry))?;
            }
            Opcode::Cmp => {
                let (s, d) = self.compared(observer, pc, &op)?;
                self.add(op.width, !s & mask, d, 1);
            }
            Opcode::Bit => {
                let (s, d) = self.compared(observer, pc, &op)?;
                self.logic_flags(op.width, s & d);
            }
            Opcode::Dadd => {
                let carry = self.carry(&op);
                self.alu(observer, pc, &op, |state, s, d| state.decimal_add(op.width, s, d, carry))?;
            }
            Opcode::Bic => self.alu(observer, pc, &op, |_, s, d| d & !s)?,
            Opcode::Bis => self.alu(observer, pc, &op, |_, s, d| d | s)?,
            Opcode::Xor => self.alu(observer, pc, &op, |state, s, d| {
                state.logic_flags(op.width, s ^ d);
                // V: both operands negative before.
                if s & d & op.width.sign() != 0 {
                    state.core.registers[SR] |= V;
                }
                s ^ d
            })?,
            Opcode::And => self.alu(observer, pc, &op, |state, s, d| {
                state.logic_flags(op.width, s & d);
                s & d
            })?,
            Opcode::Jne => self.jump::<O>(&op, self.core.registers[SR] & Z == 0),
            Opcode::Jeq => self.jump::<O>(&op, self.core.registers[SR] & Z != 0),
            Opcode::Jnc => self.jump::<O>(&op, self.core.registers[SR] & C == 0),
            Opcode::Jc => self.jump::<O>(&op, self.core.registers[SR] & C != 0),
            Opcode::Jn => self.jump::<O>(&op, self.core.registers[SR] & N != 0),
            Opcode::Jge => self.jump::<O>(&op, !self.negative_xor_overflow()),
            Opcode::Jl => self.jump::<O>(&op, self.negative_xor_overflow()),
            Opcode::Jmp => self.jump::<O>(&op, true),
            Opcode::Rrc => {
                let carry = self.carry(&op);
                self.in_place(observer, pc, &op, |state, d| {
                    let value = d >> 1 | if carry != 0 { op.width.sign() } else { 0 };
                    state.shift_flags(op.width, value, d & 1 != 0);
                    value
                })?;
            }
            Opcode::Rra => self.in_place(observer, pc, &op, |state, d| {
                let value = d >> 1 | d & op.width.sign();
                state.shift_flags(op.width, value, d & 1 != 0);
                value
            })?,
            Opcode::Swpb => {
                self.in_place(observer, pc, &op, |_, d| d & !0xffff | d >> 8 & 0xff | (d & 0xff) << 8)?
            }
            Opcode::Sxt => self.sign_extend(observer, pc)?,
            Opcode::Push => {
                let value = self.source(observer, pc, &op)?;
                let sp = self.core.registers[SP].wrapping_sub(if op.width == Width::Address { 4 } else { 2 })
                    & ADDRESS_MASK;
                // SP counts down before the operand is copied: PUSH SP stores the new one (section
                // "Stack Pointer").
                let of_sp = op.source == Operand::Register && op.source_register == 1;
                let value = if of_sp { sp & op.width.mask() } else { value };
                self.write(observer, pc, sp, op.width, value, op.cycles)?;
                self.core.registers[SP] = sp;
            }
            Opcode::Call => {
                let target = self.source(observer, pc, &op)?;
                let return_to = self.core.registers[PC];
                self.push_word(observer, pc, return_to & 0xffff, op.cycles)?;
                self.set_register(PC, target);
                if O::enabled() {
                    self.flow = Flow::Call { return_to };
                }
            }
            Opcode::Calla => {
                let target = self.source(observer, pc, &op)?;
                let return_to = self.core.registers[PC];
                let sp = self.core.registers[SP].wrapping_sub(4) & ADDRESS_MASK;
                self.write(observer, pc, sp, Width::Address, return_to, op.cycles)?;
                self.core.registers[SP] = sp;
                self.set_register(PC, target);
                if O::enabled() {
                    self.flow = Flow::Call { return_to };
                }
            }
            Opcode::Reti => {
                if std::mem::take(&mut self.core.in_nmi) {
                    self.recheck();
                }
                let sp = self.core.registers[SP];
                let status = self.read(observer, pc, sp, Width::Word, op.cycles - 2)?;
                let low = self.read(observer, pc, sp.wrapping_add(2), Width::Word, op.cycles - 1)?;
                self.core.registers[SP] = sp.wrapping_add(4) & ADDRESS_MASK;
                self.set_register(PC, low | (status >> 12) << 16);
                self.set_status(status);
                // What was pending is taken at once: only an instruction that enables interrupts
                // has a shadow.
                self.interrupts_from = 0;
                if O::enabled() {
                    self.flow = Flow::InterruptReturn;
                }
            }
            Opcode::Pushm => self.push_multiple(observer, pc)?,
            Opcode::Popm => self.pop_multiple(observer, pc)?,
            Opcode::Rrcm | Opcode::Rram | Opcode::Rlam | Opcode::Rrum => self.rotate_multiple(pc),
            Opcode::Unknown => {
                let what = UNKNOWN[op.source_value as usize].into();
                return Err(Fault::Architecture { pc, address: pc, what });
            }
        }
        Ok(())
    }

    /// The carry going in: 0 behind an extension word with ZC.
    #[inline(always)]
    fn carry(&self, op: &Op) -> u32 {
        if op.zero_carry { 0 } else { self.core.registers[SR] & C }
    }

    fn negative_xor_overflow(&self) -> bool {
        (self.core.registers[SR] & N != 0) != (self.core.registers[SR] & V != 0)
    }

    #[inline(always)]
    fn jump<O: Observer>(&mut self, op: &Op, taken: bool) {
        if taken {
            self.core.registers[PC] = op.source_value;
            if O::enabled() {
                self.flow = Flow::Jump;
            }
        }
    }

    /// The source's value, cut to the width.
    #[inline(always)]
    fn source<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<u32, Fault> {
        let register = usize::from(op.source_register) & 15;
        let address = match op.source {
            Operand::Register => return Ok(self.core.registers[register] & op.width.mask()),
            Operand::Value => return Ok(op.source_value),
            Operand::At => op.source_value,
            Operand::Indexed16 => indexed16(self.core.registers[register], op.source_value),
            Operand::Indexed20 => self.core.registers[register].wrapping_add(op.source_value),
            Operand::Indirect => self.core.registers[register],
            Operand::Increment => {
                let address = self.core.registers[register];
                let value = self.read(observer, pc, address, op.width, op.source_cycle)?;
                let size = match op.width {
                    Width::Byte if register == SP => 2,
                    Width::Byte => 1,
                    Width::Word => 2,
                    Width::Address => 4,
                };
                self.core.registers[register] = address.wrapping_add(size) & ADDRESS_MASK;
                return Ok(value);
            }
        };
        self.read(observer, pc, address, op.width, op.source_cycle)
    }

    /// Address of a source in memory, without reading it.
    #[inline(always)]
    fn source_address(&self, op: &Op) -> u32 {
        let register = self.core.registers[usize::from(op.source_register) & 15];
        match op.source {
            Operand::Register | Operand::Value | Operand::At => op.source_value,
            Operand::Indexed16 => indexed16(register, op.source_value),
            Operand::Indexed20 => register.wrapping_add(op.source_value) & ADDRESS_MASK,
            Operand::Indirect | Operand::Increment => register,
        }
    }

    /// Address of a destination in memory.
    #[inline(always)]
    fn destination_address(&self, op: &Op) -> u32 {
        let register = self.core.registers[usize::from(op.destination_register) & 15];
        match op.destination {
            Operand::Indexed16 => indexed16(register, op.destination_value),
            Operand::Indexed20 => register.wrapping_add(op.destination_value),
            _ => op.destination_value,
        }
    }

    /// Source and destination of an instruction that writes neither.
    #[inline(always)]
    fn compared<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(u32, u32), Fault> {
        let source = self.source(observer, pc, op)?;
        let destination = if op.destination == Operand::Register {
            self.core.registers[usize::from(op.destination_register) & 15] & op.width.mask()
        } else {
            let address = self.destination_address(op);
            let cycle = op.cycles - u8::from(op.width == Width::Address);
            self.read(observer, pc, address, op.width, cycle)?
        };
        Ok((source, destination))
    }

    /// An instruction that reads and writes its destination.
    #[inline(always)]
    fn alu<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        op: &Op,
        compute: impl FnOnce(&mut Self, u32, u32) -> u32,
    ) -> Result<(), Fault> {
        let source = self.source(observer, pc, op)?;
        if op.destination == Operand::Register {
            let register = usize::from(op.destination_register) & 15;
            let value = compute(self, source, self.core.registers[register] & op.width.mask());
            self.set_register(register, value);
            if O::enabled() && register == PC {
                self.flow = Flow::Jump;
            }
        } else {
            let address = self.destination_address(op);
            let before = if op.width == Width::Address { 3 } else { 1 };
            let destination = self.read(observer, pc, address, op.width, op.cycles - before)?;
            let value = compute(self, source, destination);
            self.write(observer, pc, address, op.width, value, op.cycles)?;
        }
        Ok(())
    }

    /// A single-operand instruction that changes its operand where it is.
    #[inline(always)]
    fn in_place<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        op: &Op,
        compute: impl FnOnce(&mut Self, u32) -> u32,
    ) -> Result<(), Fault> {
        if op.source == Operand::Register {
            let register = usize::from(op.source_register) & 15;
            let value = compute(self, self.core.registers[register] & op.width.mask());
            self.set_register(register, value);
            if O::enabled() && register == PC {
                self.flow = Flow::Jump;
            }
        } else {
            let address = self.source_address(op);
            let before = self.source(observer, pc, op)?;
            let value = compute(self, before);
            self.write(observer, pc, address, op.width, value, op.cycles)?;
        }
        Ok(())
    }

    /// `SXT` and `SXTX` extend a register to 20 bits, memory to the width.
    #[inline(never)]
    fn sign_extend<O: Observer>(&mut self, observer: &mut O, pc: u32) -> Result<(), Fault> {
        let op = self.core.program.op(pc);
        let mask = if op.source == Operand::Register { ADDRESS_MASK } else { op.width.mask() };
        self.in_place(observer, pc, &op, |state, d| {
            let value = if d & 0x80 != 0 { d & 0x7f | mask & !0x7f } else { d & 0x7f };
            state.logic_flags(op.width, value & op.width.mask());
            value
        })
    }

    /// Adds with all four flags; subtraction hands in the complement.
    #[inline(always)]
    fn add(&mut self, width: Width, source: u32, destination: u32, carry: u32) -> u32 {
        let sum = source + destination + carry;
        let value = sum & width.mask();
        let overflow = (source ^ value) & (destination ^ value) & width.sign() != 0;
        self.flags(width, value, sum > width.mask(), overflow);
        value
    }

    /// Adds digit by digit. V is undefined and stays.
    fn decimal_add(&mut self, width: Width, source: u32, destination: u32, mut carry: u32) -> u32 {
        let mut value = 0;
        let digits = match width {
            Width::Byte => 2,
            Width::Word => 4,
            Width::Address => 5,
        };
        for shift in (0..digits).map(|digit| digit * 4) {
            let mut digit = (source >> shift & 15) + (destination >> shift & 15) + carry;
            carry = u32::from(digit > 9);
            if carry != 0 {
                digit -= 10;
            }
            value |= (digit & 15) << shift;
        }
        let overflow = self.core.registers[SR] & V != 0;
        self.flags(width, value, carry != 0, overflow);
        value
    }

    #[inline(always)]
    fn flags(&mut self, width: Width, value: u32, carry: bool, overflow: bool) {
        let mut status = self.core.registers[SR] & !(C | Z | N | V);
        status |= u32::from(carry);
        status |= u32::from(value == 0) << 1;
        status |= u32::from(value & width.sign() != 0) << 2;
        status |= u32::from(overflow) << 8;
        self.core.registers[SR] = status;
    }

    /// `AND`, `BIT`, `SXT`: carry is "not zero", no overflow.
    #[inline(always)]
    fn logic_flags(&mut self, width: Width, value: u32) {
        self.flags(width, value, value != 0, false);
    }

    #[inline(always)]
    fn shift_flags(&mut self, width: Width, value: u32, carry: bool) {
        self.flags(width, value, carry, false);
    }

    /// Pushes a word in bus cycle `cycle` of the instruction.
    pub fn push_word<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        value: u32,
        cycle: u8,
    ) -> Result<(), Fault> {
        let sp = self.core.registers[SP].wrapping_sub(2) & ADDRESS_MASK;
        self.write(observer, pc, sp, Width::Word, value, cycle)?;
        self.core.registers[SP] = sp;
        Ok(())
    }

    /// `PUSHM`: from the register named downwards.
    #[inline(never)]
    fn push_multiple<O: Observer>(&mut self, observer: &mut O, pc: u32) -> Result<(), Fault> {
        let op = self.core.program.op(pc);
        let size = if op.width == Width::Address { 4 } else { 2 };
        let mut sp = self.core.registers[SP];
        for step in 0..op.source_value as usize {
            sp = sp.wrapping_sub(size) & ADDRESS_MASK;
            let value = self.core.registers[usize::from(op.destination_register) - step] & op.width.mask();
            let cycle = 2 + (step as u8 + 1) * (size / 2) as u8;
            self.write(observer, pc, sp, op.width, value, cycle)?;
        }
        self.core.registers[SP] = sp;
        Ok(())
    }

    /// `POPM`: from the register encoded, the lowest, upwards.
    #[inline(never)]
    fn pop_multiple<O: Observer>(&mut self, observer: &mut O, pc: u32) -> Result<(), Fault> {
        let op = self.core.program.op(pc);
        let size = if op.width == Width::Address { 4 } else { 2 };
        let mut sp = self.core.registers[SP];
        for step in 0..op.source_value as usize {
            let value = self.read(observer, pc, sp, op.width, 2 + step as u8 * (size / 2) as u8)?;
            self.set_register(usize::from(op.destination_register) + step, value);
            sp = sp.wrapping_add(size) & ADDRESS_MASK;
        }
        self.core.registers[SP] = sp;
        Ok(())
    }

    /// `RRCM`, `RRAM`, `RLAM`, `RRUM`: repeats the single shift.
    #[inline(never)]
    fn rotate_multiple(&mut self, pc: u32) {
        let op = self.core.program.op(pc);
        let register = usize::from(op.destination_register) & 15;
        let mut value = self.core.registers[register] & op.width.mask();
        let mut carry = self.core.registers[SR] & C != 0;
        for _ in 0..op.source_value {
            let out = value & if op.kind == Opcode::Rlam { op.width.sign() } else { 1 } != 0;
            value = match op.kind {
                Opcode::Rrcm => value >> 1 | if carry { op.width.sign() } else { 0 },
                Opcode::Rram => value >> 1 | value & op.width.sign(),
                Opcode::Rlam => value << 1 & op.width.mask(),
                _ => value >> 1,
            };
            carry = out;
        }
        // V: reset by the shifts right, undefined after RLAM.
        let overflow = op.kind == Opcode::Rlam && self.core.registers[SR] & V != 0;
        self.flags(op.width, value, carry, overflow);
        self.set_register(register, value);
    }
}

/// Control flow of a move to the program counter: `RET` and `RETA` are moves from the stack.
#[inline(always)]
fn branch_flow(op: &Op) -> Flow {
    if op.source == Operand::Increment && op.source_register == 1 { Flow::Return } else { Flow::Jump }
}

impl Machine<Msp430> {
    /// Writes a register as an instruction does, `value` already cut to the operand's width.
    #[inline(always)]
    pub fn set_register(&mut self, register: usize, value: u32) {
        if register > 3 {
            self.core.registers[register & 15] = value;
        } else {
            self.set_special(register, value);
        }
    }

    fn set_special(&mut self, register: usize, value: u32) {
        match register {
            // Bit 0 of PC and SP is always 0.
            PC | SP => self.core.registers[register] = value & ADDRESS_MASK & !1,
            SR => self.set_status(value),
            _ => {}
        }
    }

    /// Writes the whole status register.
    pub fn set_status(&mut self, value: u32) {
        let value = value & SR_BITS;
        if value & GIE & !self.core.registers[SR] != 0 && value & CPUOFF == 0 {
            self.interrupts_from = self.instructions + 2;
        }
        self.core.registers[SR] = value;
        self.recheck();
    }
}
