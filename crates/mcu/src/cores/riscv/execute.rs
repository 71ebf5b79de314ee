//! What instructions do, and the loop over them.

use super::decode::{Op, Opcode};
use super::registers::{HWSTKEN, INESTEN, MIE, MPIE, MPP, RA, RiscV, SP, T0, fold};
use super::timing::{ACCESS, BASE};
use crate::machine::Machine;
use crate::memory::Page;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, FlashStore, Flow, Observer, Step, Stop};

/// What comes after an instruction.
enum Continuation {
    /// The next one in memory, after so many cycles.
    Next(u64),
    /// The one at the program counter, fetched anew.
    Jump,
    /// Nothing: `ebreak`.
    Break,
}

/// mcause of `ecall` in machine mode.
const ECALL_FROM_M: u32 = 11;
/// mcause: it is an interrupt.
const MCAUSE_INTERRUPT: u32 = 1 << 31;
/// The vector of all exceptions (CH32V003RM, table 6-1: HardFault).
const EXCEPTION_VECTOR: u32 = 3;

impl Machine<RiscV> {
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
            if !self.core.program.knows(fold(pc)) && !self.core.find(pc, first)? {
                return Ok(Stop::Address(pc));
            }
            let op = self.core.program.op(fold(pc));
            first = false;
            if op.kind == Opcode::Jal && op.imm == pc && op.rd == 0 && self.nothing_can_come() {
                return Ok(Stop::Halted);
            }
            if O::enabled() {
                let step = Step { pc, sp: self.core.x[SP], cycles: self.cycles, flow: self.flow };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            if self.step(observer, pc, op)? {
                return Ok(Stop::Breakpoint);
            }
        }
    }

    /// Executes an instruction; says whether it is a breakpoint.
    #[inline(always)]
    fn step<O: Observer>(&mut self, observer: &mut O, pc: u32, op: Op) -> Result<bool, Fault> {
        let begin = self.core.fetch.issue(self.cycles, pc, op.length.into());
        self.core.pc = pc.wrapping_add(op.length.into());
        match self.execute(observer, pc, op, begin) {
            Ok(Continuation::Next(cycles)) => self.cycles = begin + cycles,
            Ok(Continuation::Jump) => self.jump(begin + BASE),
            Ok(Continuation::Break) => {
                self.core.pc = pc;
                return Ok(true);
            }
            Err(fault) => {
                self.core.pc = pc;
                return Err(fault);
            }
        }
        self.instructions += 1;
        Ok(false)
    }

    /// Fetches from the program counter, beginning at cycle `at`.
    #[inline(always)]
    fn jump(&mut self, at: u64) {
        let core = &mut self.core;
        let to_flash = core.in_flash(core.pc);
        self.cycles = core.fetch.jump(at, core.pc, to_flash);
    }

    #[inline(always)]
    fn execute<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        op: Op,
        begin: u64,
    ) -> Result<Continuation, Fault> {
        use Opcode::*;
        let (a, b) = (self.core.x[usize::from(op.rs1 & 15)], self.core.x[usize::from(op.rs2 & 15)]);
        let imm = op.imm;
        let value = match op.kind {
            Constant => imm,
            Addi => a.wrapping_add(imm),
            Slti => u32::from((a as i32) < imm as i32),
            Sltiu => u32::from(a < imm),
            Xori => a ^ imm,
            Ori => a | imm,
            Andi => a & imm,
            Slli => a << (imm & 31),
            Srli => a >> (imm & 31),
            Srai => (a as i32 >> (imm & 31)) as u32,
            Add => a.wrapping_add(b),
            Sub => a.wrapping_sub(b),
            Sll => a << (b & 31),
            Slt => u32::from((a as i32) < b as i32),
            Sltu => u32::from(a < b),
            Xor => a ^ b,
            Srl => a >> (b & 31),
            Sra => (a as i32 >> (b & 31)) as u32,
            Or => a | b,
            And => a & b,
            Lb | Lh | Lw | Lbu | Lhu => {
                let size = match op.kind {
                    Lw => 4,
                    Lh | Lhu => 2,
                    _ => 1,
                };
                let (value, cycles) = self.load(observer, pc, a.wrapping_add(imm), size, begin)?;
                let value = match op.kind {
                    Lb => value as i8 as u32,
                    Lh => value as i16 as u32,
                    _ => value,
                };
                self.set(op.rd, value);
                return Ok(Continuation::Next(cycles));
            }
            Sb => return self.store(observer, pc, a.wrapping_add(imm), 1, b & 0xff, begin),
            Sh => return self.store(observer, pc, a.wrapping_add(imm), 2, b & 0xffff, begin),
            Sw => return self.store(observer, pc, a.wrapping_add(imm), 4, b, begin),
            Beq => return Ok(self.branch(a == b, imm)),
            Bne => return Ok(self.branch(a != b, imm)),
            Blt => return Ok(self.branch((a as i32) < b as i32, imm)),
            Bge => return Ok(self.branch(a as i32 >= b as i32, imm)),
            Bltu => return Ok(self.branch(a < b, imm)),
            Bgeu => return Ok(self.branch(a >= b, imm)),
            Jal => return Ok(self.call(op, imm, false)),
            Jalr => return Ok(self.call(op, a.wrapping_add(imm) & !1, true)),
            Fence => return Ok(Continuation::Next(BASE)),
            FenceI => return Ok(Continuation::Jump),
            Ecall => {
                self.trap(pc, ECALL_FROM_M, EXCEPTION_VECTOR)?;
                return Ok(Continuation::Jump);
            }
            Ebreak => return Ok(Continuation::Break),
            Mret => {
                self.return_from_trap();
                return Ok(Continuation::Jump);
            }
            Wfi => {
                self.core.asleep = true;
                self.recheck();
                return Ok(Continuation::Next(BASE));
            }
            Csrrw | Csrrs | Csrrc | Csrrwi | Csrrsi | Csrrci => {
                self.exchange(pc, op, a)?;
                return Ok(Continuation::Next(BASE));
            }
        };
        self.set(op.rd, value);
        Ok(Continuation::Next(BASE))
    }

    #[inline(always)]
    fn set(&mut self, register: u8, value: u32) {
        self.core.x[usize::from(register & 15)] = value;
        self.core.x[0] = 0;
    }

    #[inline(always)]
    fn branch(&mut self, taken: bool, target: u32) -> Continuation {
        if !taken {
            return Continuation::Next(BASE);
        }
        self.core.pc = target;
        self.flow = Flow::Jump;
        Continuation::Jump
    }

    /// `jal` and `jalr`: by the calling convention, `ra` and `t0` hold return addresses (Volume I, table 2.1).
    #[inline(always)]
    fn call(&mut self, op: Op, target: u32, indirect: bool) -> Continuation {
        let links = |register: u8| [RA, T0].contains(&usize::from(register));
        let return_to = self.core.pc;
        self.flow = if links(op.rd) {
            Flow::Call { return_to }
        } else if indirect && op.rd == 0 && links(op.rs1) {
            Flow::Return
        } else {
            Flow::Jump
        };
        self.set(op.rd, return_to);
        self.core.pc = target;
        Continuation::Jump
    }

    /// Reads memory; the value, and how long it takes.
    #[inline(always)]
    fn load<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        begin: u64,
    ) -> Result<(u32, u64), Fault> {
        if address & (u32::from(size) - 1) != 0 {
            return Err(misaligned(pc, address, size, "load"));
        }
        let at = fold(address);
        let memory = &self.core.memory;
        let page = memory.page(at);
        let mut cycles = ACCESS;
        let value = if page == Page::Other {
            // A read may change what is requested.
            self.recheck();
            self.bus.read(address, size, begin, pc, dynamic(observer))?
        } else {
            let value = match size {
                1 => memory.byte(at),
                2 => memory.word(at),
                _ => memory.word(at) | memory.word(at + 2) << 16,
            };
            if page == Page::Flash {
                cycles = self.core.fetch.load_from_flash(begin);
            }
            value
        };
        self.tell::<O>(observer, pc, address, size, AccessKind::Read, value);
        Ok((value, cycles))
    }

    /// Writes memory.
    #[inline(always)]
    fn store<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        value: u32,
        begin: u64,
    ) -> Result<Continuation, Fault> {
        if address & (u32::from(size) - 1) != 0 {
            return Err(misaligned(pc, address, size, "store"));
        }
        let at = fold(address);
        let core = &mut self.core;
        if core.memory.page(at) == Page::Ram {
            core.program.written(at);
            match size {
                1 => core.memory.set_byte(at, value),
                2 => core.memory.set_word(at, value),
                _ => {
                    core.memory.set_word(at, value);
                    core.memory.set_word(at + 2, value >> 16);
                    core.program.written(at + 2);
                }
            }
        } else {
            self.store_elsewhere(observer, pc, address, size, value, begin)?;
        }
        self.tell::<O>(observer, pc, address, size, AccessKind::Write, value);
        Ok(Continuation::Next(ACCESS))
    }

    #[inline(never)]
    fn store_elsewhere<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        value: u32,
        begin: u64,
    ) -> Result<(), Fault> {
        self.recheck();
        if self.core.in_flash(address) {
            let from_flash = self.core.in_flash(pc);
            let store = FlashStore { pc, from_flash, address, size, value };
            let change = self.bus.flash_store(&store, begin, dynamic(observer))?;
            self.change_flash(change);
            return Ok(());
        }
        self.bus.write(address, size, value, begin, pc, dynamic(observer))?;
        self.core.fetch.set_wait_states(self.bus.events.wait_states);
        self.core.enabled = self.bus.events.enabled;
        Ok(())
    }

    #[inline(always)]
    fn tell<O: Observer>(
        &self,
        observer: &mut O,
        pc: u32,
        address: u32,
        size: u8,
        kind: AccessKind,
        value: u32,
    ) {
        if O::enabled() {
            let value = u64::from(value);
            observer.access(&Access { pc, address, size, kind, value, cycles: self.cycles });
        }
    }

    /// Enters the handler of an exception or an interrupt, which returns to `return_to` (CH32V003RM, section 6.5.3.2, MTVEC).
    fn trap(&mut self, return_to: u32, cause: u32, vector: u32) -> Result<(), Fault> {
        let core = &mut self.core;
        core.mepc = return_to;
        core.mcause = cause;
        core.mstatus = if core.mstatus & MIE != 0 { MPIE } else { 0 };
        let base = core.mtvec & !3;
        let entry = base + 4 * vector;
        core.pc = match core.mtvec & 3 {
            0 | 2 => base,
            1 => entry,
            _ => {
                let mut word = [0; 4];
                if !core.memory.peek(fold(entry), &mut word) {
                    return Err(Fault::Unmapped { pc: return_to, address: entry, size: 4, kind: "fetch" });
                }
                u32::from_le_bytes(word) & !1
            }
        };
        core.handlers.push(vector as u8);
        self.flow = Flow::Interrupt { return_to };
        self.recheck();
        Ok(())
    }

    fn return_from_trap(&mut self) {
        let core = &mut self.core;
        core.pc = core.mepc;
        core.mstatus = MPIE | if core.mstatus & MPIE != 0 { MIE } else { 0 };
        self.flow = if core.handlers.pop().is_some() { Flow::InterruptReturn } else { Flow::Jump };
        self.recheck();
    }

    /// Takes the enabled interrupt with the lowest number: priorities other than those of the numbers are refused by the PFIC.
    pub fn take_interrupt(&mut self) -> Result<bool, Fault> {
        let core = &mut self.core;
        let ready = self.bus.requests & core.enabled;
        if ready == 0 {
            return Ok(false);
        }
        // Any enabled interrupt ends WFI, taken or not (Volume II, section 3.3.3).
        core.asleep = false;
        let active = core.handlers.iter().fold(0u128, |active, number| active | 1 << number);
        let ready = ready & !active;
        if core.mstatus & MIE == 0 || ready == 0 {
            return Ok(false);
        }
        if core.intsyscr & HWSTKEN != 0 || !core.handlers.is_empty() {
            let what = "an interrupt with hardware stacking (INTSYSCR.HWSTKEN), or within a handler, which is not modelled: \
                        clear HWSTKEN, and leave mstatus.MIE clear in handlers";
            let (pc, address) = (core.pc, core.intsyscr);
            return Err(Fault::Architecture { pc, address, what: what.into() });
        }
        let number = ready.trailing_zeros();
        let return_to = core.pc;
        self.trap(return_to, MCAUSE_INTERRUPT | number, number)?;
        self.jump(self.cycles + BASE);
        Ok(true)
    }

    /// An instruction on a control and status register.
    #[inline(never)]
    fn exchange(&mut self, pc: u32, op: Op, register: u32) -> Result<(), Fault> {
        use Opcode::*;
        let number = op.imm;
        let before = self.csr(pc, number)?;
        let operand = if matches!(op.kind, Csrrwi | Csrrsi | Csrrci) { u32::from(op.rs1) } else { register };
        let after = match op.kind {
            Csrrw | Csrrwi => Some(operand),
            // With x0 or 0 nothing is written (Volume I, section 9.1).
            _ if op.rs1 == 0 => None,
            Csrrs | Csrrsi => Some(before | operand),
            _ => Some(before & !operand),
        };
        if let Some(after) = after {
            self.set_csr(pc, number, after)?;
        }
        self.set(op.rd, before);
        Ok(())
    }

    fn csr(&self, pc: u32, number: u32) -> Result<u32, Fault> {
        let core = &self.core;
        Ok(match number {
            0x300 => core.mstatus | MPP,
            0x305 => core.mtvec,
            0x340 => core.mscratch,
            0x341 => core.mepc,
            0x342 => core.mcause,
            0x804 => core.intsyscr,
            _ => return Err(no_csr(pc, number)),
        })
    }

    fn set_csr(&mut self, pc: u32, number: u32, value: u32) -> Result<(), Fault> {
        let core = &mut self.core;
        match number {
            0x300 => {
                // MIE is set together with MPIE alone: jnk0le/random, "ch32v003_(qkv2).md".
                let mask = if value & MPIE != 0 || core.mstatus & MIE != 0 { MIE | MPIE } else { MPIE };
                core.mstatus = value & mask;
                self.recheck();
            }
            // Bits 9 to 2 are zero: the same source.
            0x305 => core.mtvec = value & !0x3fc,
            0x340 => core.mscratch = value,
            0x341 => core.mepc = value & !1,
            0x342 => core.mcause = value,
            0x804 => core.intsyscr = value & (HWSTKEN | INESTEN),
            _ => return Err(no_csr(pc, number)),
        }
        Ok(())
    }
}

#[cold]
fn no_csr(pc: u32, number: u32) -> Fault {
    let what = format!(
        "control and status register {number:#05x}, which is not modelled; there are mstatus, mtvec, mscratch, mepc, mcause and \
         INTSYSCR (0x804)"
    );
    Fault::Architecture { pc, address: number, what }
}

#[cold]
fn misaligned(pc: u32, address: u32, size: u8, kind: &str) -> Fault {
    let what = format!(
        "a {kind} of {size} bytes at an address that is no multiple of {size}: the core takes an exception there"
    );
    Fault::Architecture { pc, address, what }
}
