//! Taking exceptions, returning from them, sleeping, stopping: what happens between instructions.

use super::code::At;
use super::core_state::CortexM;
use super::decode::Architecture;
use super::fault_status::Trap;
use super::float::stacking::{FPCA, FRAME};
use super::fpu::registers::Unit;
use super::mpu::Wanted;
use super::nvic::NMI;
use super::registers::{Sleep, State};
use super::timing::{Exception, Timing};
use crate::machine::{Core as _, Machine};
use crate::observe::dynamic;
use crate::{Fault, Flow, Observer};

/// Link register out of reset (DDI 0403E, B1.5.5); on ARMv6-M it is unknown.
pub(super) const LR_AT_RESET: u32 = 0xffff_ffff;
/// In EXC_RETURN: the frame has no floating-point state.
const STANDARD_FRAME: u32 = 1 << 4;

/// The stack pointer after a frame is unstacked; xPSR in it says whether it was aligned.
fn unstacked(frame: u32, float: bool, xpsr: u32) -> u32 {
    let padding = (xpsr >> 9 & 1) << 2;
    frame.wrapping_add(if float { FRAME } else { 32 }).wrapping_add(padding)
}

impl<T: Timing> Machine<CortexM<T>> {
    /// Brings peripherals, SysTick and interrupt lines up to now.
    fn refresh<O: Observer>(&mut self, observer: &mut O) {
        if self.bus.due <= self.cycles {
            self.bus.tick(self.cycles, self.core.state.pc, dynamic(observer));
        }
        self.core.sample(self.cycles, self.bus.requests);
    }

    /// Returns true if sleep ends now.
    fn wakes(&mut self) -> bool {
        let state = &mut self.core.state;
        if state.sleep == Sleep::Event && std::mem::take(&mut state.event) {
            return true;
        }
        // WFI wakes for what would be taken were PRIMASK clear; WFE for what is taken.
        let masks = state.sleep == Sleep::Event;
        self.core.system.nvic.preempts(&self.core.state, masks).is_some()
    }

    /// Takes the most urgent exception, if one is to be taken now.
    pub(super) fn take_exception(&mut self) -> Result<bool, Fault> {
        if self.core.state.sleep != Sleep::Awake && !self.wakes() {
            return Ok(false);
        }
        self.core.state.sleep = Sleep::Awake;
        let Some(exception) = self.core.system.nvic.preempts(&self.core.state, true) else {
            return Ok(false);
        };
        let return_to = self.core.state.pc;
        self.take(exception)?;
        self.flow = Flow::Interrupt { return_to };
        Ok(true)
    }

    /// Swaps the stack pointers so that `r[13]` is the process one or the main one.
    fn use_stack(&mut self, process: bool) {
        if (self.core.state.control & 2 != 0) != process {
            std::mem::swap(&mut self.core.state.r[13], &mut self.core.state.other_sp);
            self.core.state.control ^= 2;
        }
    }

    pub(super) fn frame_word(&mut self, address: u32) -> Result<u32, Fault> {
        let missing = Fault::Unmapped { pc: self.core.state.pc, address, size: 4, kind: "read" };
        let (_, offset) = self.core.memory.find(address, 4).ok_or(missing)?;
        Ok(self.core.memory.word(offset))
    }

    pub(super) fn set_frame_word(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        if let Some(fault) = self.protected(address, Wanted::Write) {
            return Err(fault);
        }
        let missing = Fault::Unmapped { pc: self.core.state.pc, address, size: 4, kind: "write" };
        let (_, offset) =
            self.core.memory.find(address, 4).filter(|(view, _)| view.writable).ok_or(missing)?;
        self.core.memory.set_word(offset, value);
        if self.core.code.covers(offset) {
            self.core.code.invalidate(offset, 4);
        }
        Ok(())
    }

    /// Exception entry (DDI 0403E, B1.5.6): stacks, and goes to the handler.
    pub(super) fn take(&mut self, exception: u16) -> Result<(), Fault> {
        let thread = self.core.state.ipsr == 0;
        let process = self.core.state.control & 2 != 0;
        let float = self.core.state.control & FPCA != 0;
        let align = float || self.core.architecture == Architecture::V6M || self.core.system.stack_aligned();
        let sp = self.core.state.r[13];
        let mut frame = sp.wrapping_sub(if float { FRAME } else { 32 });
        let pad = align && frame & 4 != 0;
        if pad {
            frame = frame.wrapping_sub(4);
        }
        let xpsr = self.core.state.xpsr() | u32::from(pad) << 9;
        let r = self.core.state.r;
        for (index, value) in (0..).zip([r[0], r[1], r[2], r[3], r[12], r[14], self.core.state.pc, xpsr]) {
            self.set_frame_word(frame + 4 * index, value)?;
        }
        self.core.state.r[13] = frame;
        if float {
            self.push_float(frame)?;
        }
        let link = match (thread, process) {
            (false, _) => 0xffff_fff1,
            (true, false) => 0xffff_fff9,
            (true, true) => 0xffff_fffd,
        };
        let link = if float { link & !STANDARD_FRAME } else { link };
        self.handler(exception, link, Exception::Entry, frame)
    }

    /// Goes to an exception's handler; everything is on the stack.
    fn handler(&mut self, exception: u16, link: u32, step: Exception, frame: u32) -> Result<(), Fault> {
        let vector = self.core.system.vtor.wrapping_add(4 * u32::from(exception));
        self.wait_for_bank(vector);
        let target = self.frame_word(vector)?;
        if target & 1 == 0 {
            return Err(self.architecture(
                self.core.state.pc,
                vector,
                "an exception vector is not a Thumb address",
            ));
        }
        self.use_stack(false);
        self.core.state.control &= !FPCA;
        self.core.state.r[14] = link;
        self.core.state.ipsr = exception;
        self.core.state.it = 0;
        self.core.state.exclusive = None;
        self.core.state.event = true;
        self.core.system.nvic.activate(exception);
        self.core.state.pc = target & !1;
        let cycles = self.core.timing.exception(step, frame, target & !1);
        self.cycles += u64::from(cycles);
        Ok(())
    }

    /// A branch to an address that is no Thumb code address: exception return, or a fault left in
    /// `fault`. The state is published; the branch itself is in `cycles`, but not in
    /// `instructions`.
    pub(super) fn special_branch<O: Observer>(
        &mut self,
        value: u32,
        observer: &mut O,
    ) -> Result<Option<At<T::Note>>, Fault> {
        let pc = self.core.state.pc;
        if value >> 28 != 15 || self.core.state.ipsr == 0 {
            self.fault = Some(if value == LR_AT_RESET {
                Fault::Returned { pc }
            } else if value & 1 == 0 {
                self.trap(Trap::State(value), pc, value, "branch to ARM state")
            } else {
                Fault::Unmapped { pc, address: value & !1, size: 2, kind: "fetch" }
            });
            return Ok(None);
        }
        self.instructions += 1;
        self.exception_return(value, observer)?;
        self.deadline = 0;
        self.enter().map(Some)
    }

    /// Exception return (DDI 0403E, B1.5.8), or the next handler without unstacking.
    fn exception_return<O: Observer>(&mut self, link: u32, observer: &mut O) -> Result<(), Fault> {
        let pc = self.core.state.pc;
        let nested = self.core.system.nvic.active.len() > 1;
        let float = link & STANDARD_FRAME == 0;
        let fits = match link | STANDARD_FRAME {
            0xffff_fff1 => nested,
            0xffff_fff9 | 0xffff_fffd => !nested,
            _ => false,
        } && !(float && self.core.fpu.unit == Unit::None);
        let exception = self.core.state.ipsr;
        if !fits || !self.core.system.nvic.deactivate(exception) {
            return Err(self.architecture(
                pc,
                link,
                "exception return that does not fit the exceptions under way",
            ));
        }
        if exception != NMI {
            self.core.state.faultmask = false;
        }
        // The handler's own writes are seen: a line that was let go does not come back.
        self.refresh(observer);
        let process = link | STANDARD_FRAME == 0xffff_fffd;
        // Tail-chaining: what would be taken right after unstacking is taken instead of it.
        if let Some(next) = self.core.system.nvic.preempts(&self.core.state, true) {
            let frame = if process { self.core.state.other_sp } else { self.core.state.r[13] };
            self.handler(next, link, Exception::TailChain, frame)?;
            let return_to = self.frame_word(frame.wrapping_add(24))?;
            observer.interrupt(unstacked(frame, float, self.frame_word(frame.wrapping_add(28))?));
            self.core.return_flow = Flow::Interrupt { return_to };
            return Ok(());
        }
        self.use_stack(process);
        let frame = self.core.state.r[13];
        let mut words = [0; 8];
        for (index, word) in (0..).zip(&mut words) {
            *word = self.frame_word(frame.wrapping_add(4 * index))?;
        }
        let xpsr = words[7];
        self.core.state.r[..4].copy_from_slice(&words[..4]);
        self.core.state.r[12] = words[4];
        self.core.state.r[14] = words[5];
        if float {
            self.pop_float(frame)?;
            self.core.state.control |= FPCA;
        } else {
            self.core.state.control &= !FPCA;
        }
        self.core.state.r[13] = unstacked(frame, float, xpsr);
        self.core.state.set_xpsr(xpsr);
        if self.core.architecture == Architecture::V6M {
            self.core.state.it = 0;
        }
        if (self.core.state.ipsr != 0) != nested || xpsr >> 24 & 1 == 0 {
            return Err(self.architecture(pc, xpsr, "the stacked xPSR does not fit the exception return"));
        }
        self.core.state.pc = words[6] & !1;
        self.core.state.exclusive = None;
        self.core.state.event = true;
        let cycles = self.core.timing.exception(Exception::Return, frame, self.core.state.pc);
        self.cycles += u64::from(cycles);
        if self.core.state.ipsr == 0 && self.core.system.sleep_on_exit() {
            self.core.state.sleep = Sleep::Interrupt;
        }
        self.core.return_flow = Flow::InterruptReturn;
        Ok(())
    }

    /// MSR: `mask` bit 1 the flags, bit 0 GE.
    pub(super) fn write_special(&mut self, register: u32, mask: u8, value: u32) {
        let privileged = self.core.state.privileged();
        match register {
            0..=3 => {
                if mask & 2 != 0 {
                    self.core.state.set_nzcv(value);
                    if self.core.architecture >= Architecture::V7M {
                        self.core.state.q = value >> 27 & 1 != 0;
                    }
                }
                if mask & 1 != 0 {
                    self.core.state.ge = (value >> 16 & 15) as u8;
                }
            }
            _ if !privileged => {}
            8 | 9 => {
                let in_use = (register == 9) == (self.core.state.control & 2 != 0);
                *(if in_use { &mut self.core.state.r[13] } else { &mut self.core.state.other_sp }) =
                    value & !3;
            }
            16 => self.core.state.primask = value & 1 != 0,
            17 => self.core.state.basepri = value as u8 & self.core.system.nvic.implemented,
            18 => {
                let value = value as u8 & self.core.system.nvic.implemented;
                if value != 0 && (self.core.state.basepri == 0 || value < self.core.state.basepri) {
                    self.core.state.basepri = value;
                }
            }
            19 => self.set_faultmask(value & 1 != 0),
            20 => {
                if self.core.state.ipsr == 0 {
                    self.use_stack(value & 2 != 0);
                }
                if self.core.fpu.unit != Unit::None {
                    self.core.state.control = self.core.state.control & !FPCA | value as u8 & FPCA;
                }
                // The Cortex-M0 has no unprivileged mode, nor has the M0+ of a SAM D21.
                if self.core.architecture >= Architecture::V7M {
                    self.core.state.control = self.core.state.control & !1 | value as u8 & 1;
                }
            }
            // IPSR and EPSR cannot be written.
            _ => {}
        }
    }

    /// FAULTMASK cannot be set at the priority of HardFault or above.
    pub(super) fn set_faultmask(&mut self, value: bool) {
        if !value || self.core.system.nvic.execution_priority(&self.core.state, true) > -1 {
            self.core.state.faultmask = value;
        }
    }
}

impl State {
    /// MRS.
    pub(super) fn read_special(&self, register: u32) -> u32 {
        let process = self.control & 2 != 0;
        match register {
            0 | 2 => self.apsr(),
            1 | 3 => self.apsr() | u32::from(self.ipsr),
            5 | 7 => u32::from(self.ipsr),
            // EPSR reads as zero.
            6 => 0,
            _ if !self.privileged() && register != 20 => 0,
            8 | 9 if (register == 9) == process => self.r[13],
            8 | 9 => self.other_sp,
            16 => u32::from(self.primask),
            17 | 18 => u32::from(self.basepri),
            19 => u32::from(self.faultmask),
            _ => u32::from(self.control),
        }
    }
}
