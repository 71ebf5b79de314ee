//! Jumps, calls, interrupts, frames, contexts.

use super::super::decode::condition;
use super::super::operation::{Mode, Op, Opcode, Width};
use super::super::registers::{ADDRESS_MASK, C, D, I, IPL, O, R8c, S, U, Z};
use crate::machine::Machine;
use crate::{Fault, Flow, Observer};

/// Fixed vectors of the R8C/Tiny (REJ09B0001, section 1.10, "Vector Tables").
const UNDEFINED_VECTOR: u32 = 0xffdc;
const OVERFLOW_VECTOR: u32 = 0xffe0;
const BREAK_VECTOR: u32 = 0xffe4;

impl Machine<R8c> {
    /// Returns true if a condition holds.
    #[inline(always)]
    pub fn holds(&self, number: u32) -> bool {
        let flag = |bit| self.core.flg & bit != 0;
        match number {
            condition::GEU => flag(C),
            condition::GTU => flag(C) && !flag(Z),
            condition::EQ => flag(Z),
            condition::N => flag(S),
            condition::LTU => !flag(C),
            condition::LEU => !flag(C) || flag(Z),
            condition::NE => !flag(Z),
            condition::PZ => !flag(S),
            condition::LE => flag(S) != flag(O) || flag(Z),
            condition::O => flag(O),
            condition::GE => flag(S) == flag(O),
            condition::GT => flag(S) == flag(O) && !flag(Z),
            condition::NO => !flag(O),
            _ => flag(S) != flag(O),
        }
    }

    /// Goes on at `target`.
    #[inline(always)]
    pub fn go<O: Observer>(&mut self, target: u32, flow: Flow) {
        self.core.pc = target & ADDRESS_MASK;
        if O::enabled() {
            self.flow = flow;
        }
    }

    /// Takes a branch, which costs its further cycles.
    #[inline(always)]
    pub fn branch<O: Observer>(&mut self, op: &Op, target: u32) {
        self.cycles += u64::from(op.further);
        self.go::<O>(target, Flow::Jump);
    }

    /// Calls a subroutine.
    #[inline(always)]
    pub fn call<O: Observer>(&mut self, observer: &mut O, pc: u32, target: u32) -> Result<(), Fault> {
        let return_to = self.core.pc;
        self.push_return(observer, pc)?;
        self.go::<O>(target, Flow::Call { return_to });
        Ok(())
    }

    /// The target of an indirect jump or call.
    fn indirect<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<u32, Fault> {
        if matches!(op.kind, Opcode::JmpiW | Opcode::JsriW) {
            let distance = self.load(observer, pc, &op.source)? as u16 as i16;
            return Ok(pc.wrapping_add_signed(distance.into()));
        }
        if op.source.mode == Mode::Pair {
            return Ok(self.pair(op.source.register));
        }
        let address = self.address(&op.source);
        let low = self.read(observer, pc, address, Width::Word)?;
        let high = self.read(observer, pc, (address + 2) & ADDRESS_MASK, Width::Byte)?;
        Ok(low | high << 16)
    }

    /// The target of a jump through the special page vector table.
    fn special<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<u32, Fault> {
        Ok(0xf_0000 | self.read(observer, pc, op.source.value, Width::Word)?)
    }

    /// Takes a software interrupt whose vector stands at `vector`; `user_stack` keeps U.
    fn interrupt<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        vector: u32,
        user_stack: bool,
    ) -> Result<(), Fault> {
        let (flg, return_to) = (self.core.flg, self.core.pc);
        self.set_flg(flg & !(I | D | if user_stack { 0 } else { U }));
        // FLG's upper four bits share a byte with those of the program counter.
        let high = u32::from(flg & IPL) >> 8 | return_to >> 16;
        self.push(observer, pc, Width::Word, u32::from(flg & 0xff) | high << 8)?;
        self.push(observer, pc, Width::Word, return_to & 0xffff)?;
        let low = self.read(observer, pc, vector & ADDRESS_MASK, Width::Word)?;
        let high = self.read(observer, pc, (vector + 2) & ADDRESS_MASK, Width::Byte)?;
        self.go::<O>(low | high << 16, Flow::Interrupt { return_to });
        Ok(())
    }

    /// Executes the instructions that change the flow of control or the frame, and the rest.
    pub fn control_flow<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        match op.kind {
            Opcode::JmpiA | Opcode::JmpiW => {
                let target = self.indirect(observer, pc, op)?;
                self.go::<O>(target, Flow::Jump);
            }
            Opcode::JsriA | Opcode::JsriW => {
                let target = self.indirect(observer, pc, op)?;
                self.call(observer, pc, target)?;
            }
            Opcode::Jmps => {
                let target = self.special(observer, pc, op)?;
                self.go::<O>(target, Flow::Jump);
            }
            Opcode::Jsrs => {
                let target = self.special(observer, pc, op)?;
                self.call(observer, pc, target)?;
            }
            Opcode::Int => self.interrupt(observer, pc, self.core.intb + 4 * op.extra, op.extra > 31)?,
            Opcode::Into if self.core.flg & O != 0 => {
                self.cycles += u64::from(op.further);
                self.interrupt(observer, pc, OVERFLOW_VECTOR, false)?;
            }
            Opcode::Und => self.interrupt(observer, pc, UNDEFINED_VECTOR, false)?,
            Opcode::Brk => {
                // An erased fixed vector hands over to number 0 of the relocatable table.
                let fixed = self.core.memory.byte(BREAK_VECTOR + 3) != 0xff;
                let vector = if fixed { BREAK_VECTOR } else { self.core.intb };
                self.cycles += u64::from(if fixed { 0 } else { op.further });
                self.interrupt(observer, pc, vector, false)?;
            }
            Opcode::Reit => {
                let low = self.pop(observer, pc, Width::Word)?;
                let flg = self.pop(observer, pc, Width::Word)?;
                self.set_flg((flg & 0xff | flg & 0xf000) as u16);
                self.go::<O>(low | (flg >> 8 & 15) << 16, Flow::InterruptReturn);
            }
            Opcode::Enter => {
                self.push(observer, pc, Width::Word, self.core.registers[6].into())?;
                self.core.registers[6] = self.core.sp();
                self.core.set_sp(self.core.sp().wrapping_sub(op.extra as u16));
            }
            Opcode::Exitd => {
                self.core.set_sp(self.core.registers[6]);
                self.core.registers[6] = self.pop(observer, pc, Width::Word)? as u16;
                let target = self.pop_return(observer, pc)?;
                self.go::<O>(target, Flow::Return);
            }
            Opcode::Ldipl => self.set_flg(self.core.flg & !IPL | (op.extra as u16) << 12),
            Opcode::StcPc => {
                let value = self.core.pc;
                if op.destination.in_memory() {
                    let address = self.address(&op.destination);
                    self.write(observer, pc, address, Width::Word, value & 0xffff)?;
                    self.write(observer, pc, (address + 2) & ADDRESS_MASK, Width::Byte, value >> 16)?;
                } else {
                    self.store(observer, pc, &op.destination, value)?;
                }
            }
            Opcode::Ldctx | Opcode::Stctx => self.context(observer, pc, op)?,
            // INTO without O; WAIT, which ends the run before it executes.
            _ => {}
        }
        Ok(())
    }

    /// `LDCTX`, `STCTX`: the task's entry in the table has a byte that says which registers, in
    /// `POPM`'s order, and one that says what is to be added to the stack pointer.
    fn context<O: Observer>(&mut self, observer: &mut O, pc: u32, op: &Op) -> Result<(), Fault> {
        const ORDER: [usize; 8] = [0, 1, 2, 3, 4, 5, 7, 6];
        let task = self.read(observer, pc, op.source.value, Width::Byte)?;
        let entry = self.read(observer, pc, (op.extra + 2 * task) & ADDRESS_MASK, Width::Word)?;
        let correction = (entry >> 8) as u16;
        let sp = self.core.sp();
        if op.kind == Opcode::Ldctx {
            let mut address = sp;
            for bit in (0..8).filter(|bit| entry >> bit & 1 != 0) {
                self.core.registers[ORDER[bit]] =
                    self.read(observer, pc, address.into(), Width::Word)? as u16;
                address = address.wrapping_add(2);
                self.cycles += u64::from(op.further);
            }
            self.core.set_sp(sp.wrapping_add(correction));
        } else {
            let mut address = sp;
            for bit in (0..8).rev().filter(|bit| entry >> bit & 1 != 0) {
                address = address.wrapping_sub(2);
                let value = self.core.registers[ORDER[bit]];
                self.write(observer, pc, address.into(), Width::Word, value.into())?;
                self.cycles += u64::from(op.further);
            }
            self.core.set_sp(sp.wrapping_sub(correction));
        }
        Ok(())
    }
}
