//! Taking exceptions, returning from them, sleeping, stopping: what happens between instructions.

use super::code::Region;
use super::cpu::Cpu;
use super::decode::Architecture;
use super::nvic::SYSTICK;
use super::state::Sleep;
use super::timing::{Exception, Timing};
use crate::observe::dynamic;
use crate::{Fault, Flow, Observer, ResetCause, Stop};

/// How the loop goes on.
pub(super) enum Next {
    /// With the same instruction.
    Same,
    /// With an exception's handler, at `state.pc`.
    Exception { return_to: u32 },
    /// Not.
    Stop(Stop),
}

impl<T: Timing> Cpu<T> {
    /// Called between instructions when `due` has come, with the state published.
    pub(super) fn service<O: Observer>(&mut self, observer: &mut O) -> Result<Next, Fault> {
        self.code.settle();
        loop {
            if self.state.cycles >= self.limit {
                return Ok(Next::Stop(Stop::Cycles));
            }
            self.refresh(observer);
            let requested = std::mem::take(&mut self.system.reset_requested);
            if requested || self.bus.events.take_expiry() {
                let return_to = self.state.pc;
                self.reset_running(if requested { ResetCause::Software } else { ResetCause::Watchdog });
                if let Some(fault) = &self.reset_fault {
                    return Err(fault.clone());
                }
                self.due = 0;
                return Ok(Next::Exception { return_to });
            }
            if self.state.sleep != Sleep::Awake && !self.wakes() {
                let next = self.next_event();
                let attended = self.bus.board.attended && self.limit != u64::MAX;
                if next == u64::MAX && !attended {
                    return Ok(Next::Stop(Stop::Halted));
                }
                let until = next.min(self.limit).max(self.state.cycles + 1);
                self.timing.idle(until - self.state.cycles);
                self.state.cycles = until;
                continue;
            }
            self.state.sleep = Sleep::Awake;
            if let Some(exception) = self.system.nvic.preempts(&self.state, true) {
                let return_to = self.state.pc;
                self.take(exception)?;
                self.due = 0;
                // An even more urgent one is looked for before the handler's first instruction.
                return Ok(Next::Exception { return_to });
            }
            self.due = self.next_event().min(self.limit);
            return Ok(Next::Same);
        }
    }

    /// Brings peripherals, SysTick and interrupt lines up to now.
    fn refresh<O: Observer>(&mut self, observer: &mut O) {
        let now = self.state.cycles;
        if self.bus.due <= now {
            self.bus.tick(now, self.state.pc, dynamic(observer));
        }
        if self.system.systick.advance(now) {
            self.system.nvic.system_pending |= 1 << SYSTICK;
        }
        let before = self.system.nvic.pending;
        self.system.nvic.sample(self.bus.requests);
        // SCR.SEVONPEND: an interrupt that becomes pending is an event, enabled or not.
        if self.system.nvic.pending & !before != 0 && self.system.sev_on_pend() {
            self.state.event = true;
        }
    }

    /// The cycle at which something can happen by itself.
    fn next_event(&self) -> u64 {
        self.bus.due.min(self.system.systick.due().unwrap_or(u64::MAX))
    }

    /// Whether sleep ends now.
    fn wakes(&mut self) -> bool {
        if self.state.sleep == Sleep::Event && std::mem::take(&mut self.state.event) {
            return true;
        }
        // WFI wakes for what would be taken were PRIMASK clear; WFE for what is taken.
        let masks = self.state.sleep == Sleep::Event;
        self.system.nvic.preempts(&self.state, masks).is_some()
    }

    /// Whether a jump to itself will go on for ever.
    pub(super) fn nothing_can_come(&self) -> bool {
        let masked = self.state.primask || self.state.faultmask;
        if self.bus.will_reset() {
            return false;
        }
        masked || self.next_event() == u64::MAX || !self.interrupts_possible()
    }

    /// Whether any event in the future could become an exception or wake the core.
    fn interrupts_possible(&self) -> bool {
        self.system.nvic.enabled != 0 || self.system.systick.due().is_some() || self.system.sev_on_pend()
    }

    /// Swaps the stack pointers so that `r[13]` is the process one or the main one.
    fn use_stack(&mut self, process: bool) {
        if (self.state.control & 2 != 0) != process {
            std::mem::swap(&mut self.state.r[13], &mut self.state.other_sp);
            self.state.control ^= 2;
        }
    }

    fn frame_word(&mut self, address: u32) -> Result<u32, Fault> {
        let missing = Fault::Unmapped { pc: self.state.pc, address, size: 4, kind: "read" };
        let (_, offset) = self.memory.find(address, 4).ok_or(missing)?;
        Ok(self.memory.word(offset))
    }

    fn set_frame_word(&mut self, address: u32, value: u32) -> Result<(), Fault> {
        let missing = Fault::Unmapped { pc: self.state.pc, address, size: 4, kind: "write" };
        let (_, offset) = self.memory.find(address, 4).filter(|(view, _)| view.writable).ok_or(missing)?;
        self.memory.set_word(offset, value);
        if self.code.covers(offset) {
            self.code.invalidate(offset, 4);
        }
        Ok(())
    }

    /// Exception entry (DDI 0403E, B1.5.6): stacks, and goes to the handler.
    fn take(&mut self, exception: u16) -> Result<(), Fault> {
        let thread = self.state.ipsr == 0;
        let process = self.state.control & 2 != 0;
        let align = self.architecture == Architecture::V6M || self.system.stack_aligned();
        let sp = self.state.r[13];
        let mut frame = sp.wrapping_sub(32);
        let pad = align && frame & 4 != 0;
        if pad {
            frame = frame.wrapping_sub(4);
        }
        let xpsr = self.state.xpsr() | u32::from(pad) << 9;
        let r = self.state.r;
        for (index, value) in (0..).zip([r[0], r[1], r[2], r[3], r[12], r[14], self.state.pc, xpsr]) {
            self.set_frame_word(frame + 4 * index, value)?;
        }
        self.state.r[13] = frame;
        let link = match (thread, process) {
            (false, _) => 0xffff_fff1,
            (true, false) => 0xffff_fff9,
            (true, true) => 0xffff_fffd,
        };
        self.handler(exception, link, Exception::Entry, frame)
    }

    /// Goes to an exception's handler; everything is on the stack.
    fn handler(&mut self, exception: u16, link: u32, step: Exception, frame: u32) -> Result<(), Fault> {
        let vector = self.system.vtor.wrapping_add(4 * u32::from(exception));
        let target = self.frame_word(vector)?;
        if target & 1 == 0 {
            return Err(self.architecture(
                self.state.pc,
                vector,
                "an exception vector is not a Thumb address",
            ));
        }
        self.use_stack(false);
        self.state.r[14] = link;
        self.state.ipsr = exception;
        self.state.it = 0;
        self.state.exclusive = None;
        self.state.event = true;
        self.system.nvic.activate(exception);
        self.state.pc = target & !1;
        let cycles = self.timing.exception(step, frame, target & !1);
        self.state.cycles += u64::from(cycles);
        Ok(())
    }

    /// A branch to an address that is no Thumb code address: exception return, or a fault left in `fault`. The state
    /// is published; the branch itself is in `cycles`, but not in `instructions`.
    pub(super) fn special_branch<O: Observer>(
        &mut self,
        value: u32,
        observer: &mut O,
        cycles: &mut u64,
        instructions: &mut u64,
    ) -> Result<Option<(Region, usize)>, Fault> {
        let pc = self.state.pc;
        if value >> 28 != 15 || self.state.ipsr == 0 {
            self.fault = Some(if value & 1 == 0 {
                self.architecture(pc, value, "branch to ARM state")
            } else {
                Fault::Unmapped { pc, address: value & !1, size: 2, kind: "fetch" }
            });
            return Ok(None);
        }
        self.state.cycles = *cycles;
        *instructions += 1;
        self.state.instructions = *instructions;
        self.exception_return(value, observer)?;
        *cycles = self.state.cycles;
        self.due = 0;
        self.enter().map(Some)
    }

    /// Exception return (DDI 0403E, B1.5.8), or the next handler without unstacking.
    fn exception_return<O: Observer>(&mut self, link: u32, observer: &mut O) -> Result<(), Fault> {
        let pc = self.state.pc;
        let nested = self.system.nvic.active.len() > 1;
        let fits = match link {
            0xffff_fff1 => nested,
            0xffff_fff9 | 0xffff_fffd => !nested,
            _ => false,
        };
        let exception = self.state.ipsr;
        if !fits || !self.system.nvic.deactivate(exception) {
            return Err(self.architecture(
                pc,
                link,
                "exception return that does not fit the exceptions under way",
            ));
        }
        if exception != super::nvic::NMI {
            self.state.faultmask = false;
        }
        // The handler's own writes are seen: a line that was let go does not come back.
        self.refresh(observer);
        let process = link == 0xffff_fffd;
        // Tail-chaining: what would be taken right after unstacking is taken instead of it.
        if let Some(next) = self.system.nvic.preempts(&self.state, true) {
            let frame = if process { self.state.other_sp } else { self.state.r[13] };
            self.handler(next, link, Exception::TailChain, frame)?;
            let return_to = self.frame_word(frame.wrapping_add(24))?;
            self.return_flow = Flow::Interrupt { return_to };
            return Ok(());
        }
        self.use_stack(process);
        let frame = self.state.r[13];
        let mut words = [0; 8];
        for (index, word) in (0..).zip(&mut words) {
            *word = self.frame_word(frame.wrapping_add(4 * index))?;
        }
        let xpsr = words[7];
        let pad = (xpsr >> 9 & 1) << 2;
        self.state.r[..4].copy_from_slice(&words[..4]);
        self.state.r[12] = words[4];
        self.state.r[14] = words[5];
        self.state.r[13] = frame.wrapping_add(32).wrapping_add(pad);
        self.state.set_xpsr(xpsr);
        if self.architecture == Architecture::V6M {
            self.state.it = 0;
        }
        if (self.state.ipsr != 0) != nested || xpsr >> 24 & 1 == 0 {
            return Err(self.architecture(pc, xpsr, "the stacked xPSR does not fit the exception return"));
        }
        self.state.pc = words[6] & !1;
        self.state.exclusive = None;
        self.state.event = true;
        let cycles = self.timing.exception(Exception::Return, frame, self.state.pc);
        self.state.cycles += u64::from(cycles);
        if self.state.ipsr == 0 && self.system.sleep_on_exit() {
            self.state.sleep = Sleep::Interrupt;
        }
        self.return_flow = Flow::InterruptReturn;
        Ok(())
    }

    /// MSR: `mask` bit 1 the flags, bit 0 GE.
    pub(super) fn write_special(&mut self, register: u32, mask: u8, value: u32) {
        let privileged = self.state.privileged();
        match register {
            0..=3 => {
                if mask & 2 != 0 {
                    self.state.set_nzcv(value);
                    if self.architecture >= Architecture::V7M {
                        self.state.q = value >> 27 & 1 != 0;
                    }
                }
                if mask & 1 != 0 {
                    self.state.ge = (value >> 16 & 15) as u8;
                }
            }
            _ if !privileged => {}
            8 | 9 => {
                let in_use = (register == 9) == (self.state.control & 2 != 0);
                *(if in_use { &mut self.state.r[13] } else { &mut self.state.other_sp }) = value & !3;
            }
            16 => self.state.primask = value & 1 != 0,
            17 => self.state.basepri = value as u8 & self.system.nvic.implemented,
            18 => {
                let value = value as u8 & self.system.nvic.implemented;
                if value != 0 && (self.state.basepri == 0 || value < self.state.basepri) {
                    self.state.basepri = value;
                }
            }
            19 => self.set_faultmask(value & 1 != 0),
            20 => {
                if self.state.ipsr == 0 {
                    self.use_stack(value & 2 != 0);
                }
                // The Cortex-M0 has no unprivileged mode.
                if self.architecture >= Architecture::V7M {
                    self.state.control = self.state.control & !1 | value as u8 & 1;
                }
            }
            // IPSR and EPSR cannot be written.
            _ => {}
        }
    }

    /// FAULTMASK cannot be set at the priority of HardFault or above.
    pub(super) fn set_faultmask(&mut self, value: bool) {
        if !value || self.system.nvic.execution_priority(&self.state, true) > -1 {
            self.state.faultmask = value;
        }
    }
}

impl super::state::State {
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
