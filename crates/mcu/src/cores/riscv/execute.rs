//! Execution of instructions, and the loop over them.

use super::decode::{Op, Opcode};
use super::registers::{HWSTKEN, INESTEN, MIE, MPIE, MPP, RA, RiscV, SP, T0, fold};
use super::timing::{Course, Place};
use crate::machine::Machine;
use crate::memory::Page;
use crate::observe::dynamic;
use crate::{Access, AccessKind, Fault, FlashStore, Flow, Observer, Step, Stop};

/// Reason for which the loop over the instructions was left.
enum Exit {
    Stop(Stop),
    Fault(Fault),
}

impl From<Fault> for Box<Exit> {
    fn from(fault: Fault) -> Box<Exit> {
        Box::new(Exit::Fault(fault))
    }
}

/// Course of an executed instruction. The rare exits are in a box, so that the loop passes little
/// on.
type Executed = Result<Course, Box<Exit>>;

/// Position of the loop over the instructions, kept apart so that the host holds it in registers.
struct Position {
    /// The instruction.
    pc: u32,
    /// The cycle at which the core is ready for it.
    cycles: u64,
    /// The moment of the instruction fetch then.
    moment: u16,
    /// Instructions before.
    instructions: u64,
    /// The address of the next instruction, and the same folded.
    next: u32,
    at: u32,
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
            let mut position = Position {
                pc: self.core.pc,
                cycles: self.cycles,
                moment: self.core.fetch.enter(self.cycles),
                instructions: self.instructions,
                next: self.core.pc,
                at: fold(self.core.pc),
            };
            let exit = self.run_to_deadline(observer, &mut position, first);
            self.core.pc = position.pc;
            self.cycles = position.cycles;
            self.instructions = position.instructions;
            self.core.fetch.leave(position.moment, position.cycles);
            match exit.map_err(|exit| *exit) {
                Ok(()) => first = false,
                Err(Exit::Stop(stop)) => return Ok(stop),
                Err(Exit::Fault(fault)) => return Err(fault),
            }
        }
    }

    /// Executes instructions, at least one, up to the deadline.
    #[inline(always)]
    fn run_to_deadline<O: Observer>(
        &mut self,
        observer: &mut O,
        position: &mut Position,
        mut first: bool,
    ) -> Result<(), Box<Exit>> {
        loop {
            let pc = position.pc;
            if !self.core.program.knows(position.at) && !self.core.find(pc, first)? {
                return Err(stop(Stop::Address(pc)));
            }
            let op = self.core.program.op(position.at);
            first = false;
            if O::enabled() && !(op.kind == Opcode::JalSelf && self.nothing_can_come()) {
                let step = Step { pc, sp: self.core.x[SP], cycles: position.cycles, flow: self.flow };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            position.next = pc.wrapping_add(op.length.into());
            position.at += u32::from(op.length);
            let course = self.execute(observer, position, op)?;
            let transition = self.core.fetch.after(position.moment, op.place, course);
            position.pc = position.next;
            position.cycles += u64::from(transition.cycles);
            position.moment = transition.moment;
            position.instructions += 1;
            if position.cycles >= self.deadline {
                return Ok(());
            }
        }
    }

    #[inline(always)]
    fn execute<O: Observer>(&mut self, observer: &mut O, position: &mut Position, op: Op) -> Executed {
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
                let (value, course) = self.load(observer, position, op.place, a.wrapping_add(imm), size)?;
                let value = match op.kind {
                    Lb => value as i8 as u32,
                    Lh => value as i16 as u32,
                    _ => value,
                };
                self.set(op.rd, value);
                return Ok(course);
            }
            Sb => return self.store(observer, position, op.place, a.wrapping_add(imm), 1, b & 0xff),
            Sh => return self.store(observer, position, op.place, a.wrapping_add(imm), 2, b & 0xffff),
            Sw => return self.store(observer, position, op.place, a.wrapping_add(imm), 4, b),
            Beq => return Ok(self.branch::<O>(position, a == b, imm)),
            Bne => return Ok(self.branch::<O>(position, a != b, imm)),
            Blt => return Ok(self.branch::<O>(position, (a as i32) < b as i32, imm)),
            Bge => return Ok(self.branch::<O>(position, a as i32 >= b as i32, imm)),
            Bltu => return Ok(self.branch::<O>(position, a < b, imm)),
            Bgeu => return Ok(self.branch::<O>(position, a >= b, imm)),
            Jal => return Ok(self.call::<O>(position, op, imm, false)),
            JalSelf if self.nothing_can_come() => return Err(stop(Stop::Halted)),
            JalSelf => return Ok(self.jump::<O>(position, imm, Flow::Jump)),
            Jalr => return Ok(self.call::<O>(position, op, a.wrapping_add(imm) & !1, true)),
            Fence => return Ok(Course::Base),
            FenceI => return Ok(self.jump::<O>(position, position.next, Flow::Next)),
            Ecall => {
                let return_to = position.pc;
                let handler = self.trap(return_to, ECALL_FROM_M, EXCEPTION_VECTOR)?;
                return Ok(self.jump::<O>(position, handler, Flow::Interrupt { return_to }));
            }
            Ebreak => return Err(stop(Stop::Breakpoint)),
            Mret => {
                let (target, flow) = self.return_from_trap();
                return Ok(self.jump::<O>(position, target, flow));
            }
            Wfi => {
                self.core.sleeping = true;
                self.recheck();
                return Ok(Course::Base);
            }
            Csrrw | Csrrs | Csrrc | Csrrwi | Csrrsi | Csrrci => {
                let Op { kind, rd, rs1, .. } = op;
                let before = self.exchange(position.pc, kind, rs1, imm, a)?;
                self.set(rd, before);
                return Ok(Course::Base);
            }
        };
        self.set(op.rd, value);
        Ok(Course::Base)
    }

    #[inline(always)]
    fn set(&mut self, register: u8, value: u32) {
        self.core.x[usize::from(register & 15)] = value;
        self.core.x[0] = 0;
    }

    /// Goes on at `target`.
    #[inline(always)]
    fn jump<O: Observer>(&mut self, position: &mut Position, target: u32, flow: Flow) -> Course {
        if O::enabled() {
            self.flow = flow;
        }
        position.next = target;
        position.at = fold(target);
        let to_flash = self.core.memory.page(position.at) == Page::Flash;
        if to_flash { Course::JumpToFlash } else { Course::JumpToRam }
    }

    #[inline(always)]
    fn branch<O: Observer>(&mut self, position: &mut Position, taken: bool, target: u32) -> Course {
        if taken { self.jump::<O>(position, target, Flow::Jump) } else { Course::Base }
    }

    /// `jal` and `jalr`: by the calling convention, `ra` and `t0` hold return addresses (Volume I,
    /// table 2.1).
    #[inline(always)]
    fn call<O: Observer>(&mut self, position: &mut Position, op: Op, target: u32, indirect: bool) -> Course {
        let links = |register: u8| [RA, T0].contains(&usize::from(register));
        let return_to = position.next;
        let flow = if links(op.rd) {
            Flow::Call { return_to }
        } else if indirect && op.rd == 0 && links(op.rs1) {
            Flow::Return
        } else {
            Flow::Jump
        };
        self.set(op.rd, return_to);
        self.jump::<O>(position, target, flow)
    }

    /// The cycle at which an instruction begins.
    #[inline(always)]
    fn beginning(&self, position: &Position, place: Place) -> u64 {
        position.cycles + self.core.fetch.wait(position.moment, place)
    }

    /// Reads memory; the value, and how the instruction goes on.
    #[inline(always)]
    fn load<O: Observer>(
        &mut self,
        observer: &mut O,
        position: &Position,
        place: Place,
        address: u32,
        size: u8,
    ) -> Result<(u32, Course), Box<Exit>> {
        let pc = position.pc;
        if address & (u32::from(size) - 1) != 0 {
            return Err(misaligned(pc, address, size, "load").into());
        }
        let at = fold(address);
        let memory = &self.core.memory;
        let page = memory.page(at);
        let mut course = Course::Access;
        let value = if page == Page::Other {
            // A read may change what is requested.
            self.recheck();
            let begin = self.beginning(position, place);
            self.bus.read(address, size, begin, pc, dynamic(observer))?
        } else {
            let value = match size {
                1 => memory.byte(at),
                2 => memory.word(at),
                _ => memory.word(at) | memory.word(at + 2) << 16,
            };
            if page == Page::Flash {
                course = Course::FlashLoad;
            }
            value
        };
        tell(observer, position, address, size, AccessKind::Read, value);
        Ok((value, course))
    }

    /// Writes memory.
    #[inline(always)]
    fn store<O: Observer>(
        &mut self,
        observer: &mut O,
        position: &Position,
        place: Place,
        address: u32,
        size: u8,
        value: u32,
    ) -> Executed {
        let pc = position.pc;
        if address & (u32::from(size) - 1) != 0 {
            return Err(misaligned(pc, address, size, "store").into());
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
            let begin = self.beginning(position, place);
            self.store_elsewhere(observer, pc, begin, address, size, value)?;
        }
        tell(observer, position, address, size, AccessKind::Write, value);
        Ok(Course::Access)
    }

    #[inline(never)]
    fn store_elsewhere<O: Observer>(
        &mut self,
        observer: &mut O,
        pc: u32,
        begin: u64,
        address: u32,
        size: u8,
        value: u32,
    ) -> Result<(), Fault> {
        self.recheck();
        if self.core.in_flash(address) {
            let from_flash = self.core.in_flash(pc);
            let before = self.held(address, size);
            let store = FlashStore { pc, from_flash, address, size, value, before };
            let change = self.bus.flash_store(&store, begin, dynamic(observer))?;
            self.change_flash(change);
            return Ok(());
        }
        self.bus.write(address, size, value, begin, pc, dynamic(observer))?;
        self.core.fetch.set_wait_states(self.bus.events.flash.wait_states);
        self.core.enabled = self.bus.events.enabled;
        Ok(())
    }

    /// The address of the handler of an exception or an interrupt, which returns to `return_to`
    /// (CH32V003RM, section 6.5.3.2, MTVEC); it is under way from here on.
    fn trap(&mut self, return_to: u32, cause: u32, vector: u32) -> Result<u32, Fault> {
        let core = &mut self.core;
        core.mepc = return_to;
        core.mcause = cause;
        core.mstatus = if core.mstatus & MIE != 0 { MPIE } else { 0 };
        let base = core.mtvec & !3;
        let entry = base + 4 * vector;
        let handler = match core.mtvec & 3 {
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
        self.recheck();
        Ok(handler)
    }

    /// Returns from the handler: the address, and the control flow for observers.
    fn return_from_trap(&mut self) -> (u32, Flow) {
        let core = &mut self.core;
        core.mstatus = MPIE | if core.mstatus & MPIE != 0 { MIE } else { 0 };
        let flow = if core.handlers.pop().is_some() { Flow::InterruptReturn } else { Flow::Jump };
        let target = core.mepc;
        self.recheck();
        (target, flow)
    }

    /// Takes the enabled interrupt with the lowest number: priorities other than those of the
    /// numbers are refused by the PFIC.
    pub fn take_interrupt(&mut self) -> Result<bool, Fault> {
        let core = &mut self.core;
        let ready = self.bus.requests & core.enabled;
        if ready == 0 {
            return Ok(false);
        }
        // Any enabled interrupt ends WFI, taken or not (Volume II, section 3.3.3).
        core.sleeping = false;
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
        let handler = self.trap(return_to, MCAUSE_INTERRUPT | number, number)?;
        self.core.pc = handler;
        let to_flash = self.core.in_flash(handler);
        self.cycles = self.core.fetch.interrupt(self.cycles, to_flash);
        self.flow = Flow::Interrupt { return_to };
        Ok(true)
    }

    /// An instruction on a control and status register: what was in it.
    #[inline(never)]
    fn exchange(&mut self, pc: u32, kind: Opcode, rs1: u8, number: u32, register: u32) -> Result<u32, Fault> {
        use Opcode::*;
        let before = self.csr(pc, number)?;
        let operand = if matches!(kind, Csrrwi | Csrrsi | Csrrci) { u32::from(rs1) } else { register };
        let after = match kind {
            Csrrw | Csrrwi => Some(operand),
            // With x0 or 0 nothing is written (Volume I, section 9.1).
            _ if rs1 == 0 => None,
            Csrrs | Csrrsi => Some(before | operand),
            _ => Some(before & !operand),
        };
        if let Some(after) = after {
            self.set_csr(pc, number, after)?;
        }
        Ok(before)
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
fn stop(stop: Stop) -> Box<Exit> {
    Box::new(Exit::Stop(stop))
}

#[inline(always)]
fn tell<O: Observer>(
    observer: &mut O,
    position: &Position,
    address: u32,
    size: u8,
    kind: AccessKind,
    value: u32,
) {
    if O::enabled() {
        let Position { pc, cycles, .. } = *position;
        observer.access(&Access { pc, address, size, kind, value: value.into(), cycles });
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
