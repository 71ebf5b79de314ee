//! Floating-point state at exceptions (DDI 0403E, B1.5.7).
//!
//! The extended frame reserves room, and the state is saved when the handler needs the registers.

use super::super::core_state::CortexM;
use super::super::fault_status::Trap;
use super::super::timing::Timing;
use crate::Fault;
use crate::machine::Machine;

/// CONTROL.FPCA.
pub(in super::super) const FPCA: u8 = 4;
/// Bytes of the frame with floating-point state, and where that begins.
pub(in super::super) const FRAME: u32 = 0x68;
const STATE: u32 = 0x20;
/// Within the state: behind S0 to S15.
const FPSCR: u32 = 0x40;
/// FPCCR.THREAD and FPCCR.USER.
const THREAD: u32 = 1 << 3;
const USER: u32 = 1 << 1;

impl<T: Timing> Machine<CortexM<T>> {
    fn off<V>(&mut self) -> Result<V, Fault> {
        let pc = self.core.state.pc;
        let what = "the floating-point unit is off; enable it in CPACR (0xE000ED88) before";
        Err(self.trap(Trap::Coprocessor, pc, pc, what))
    }

    /// `ExecuteFPCheck`: what comes before each floating-point instruction.
    pub(super) fn check_float(&mut self) -> Result<(), Fault> {
        self.check_access()?;
        if self.core.fpu.is_saving() {
            let frame = self.core.fpu.saved_at;
            self.save_float(frame)?;
            self.core.fpu.end_saving();
        }
        if self.core.fpu.saves_contexts() && self.core.state.control & FPCA == 0 {
            self.core.fpu.begin_context();
            self.core.state.control |= FPCA;
        }
        Ok(())
    }

    fn check_access(&mut self) -> Result<(), Fault> {
        if self.core.fpu.is_enabled(self.core.state.privileged()) { Ok(()) } else { self.off() }
    }

    fn save_float(&mut self, at: u32) -> Result<(), Fault> {
        for (index, value) in (0..16).zip(self.core.fpu.s) {
            self.set_frame_word(at + 4 * index, value)?;
        }
        self.set_frame_word(at + FPSCR, self.core.fpu.fpscr())?;
        self.cycles += u64::from(self.core.timing.float_state());
        Ok(())
    }

    /// At the entry into an exception with an extended frame at `frame`: saves the state, or notes
    /// where it belongs.
    pub(in super::super) fn push_float(&mut self, frame: u32) -> Result<(), Fault> {
        if self.core.fpu.is_lazy() {
            let thread = if self.core.state.ipsr == 0 { THREAD } else { 0 };
            let user = if self.core.state.privileged() { 0 } else { USER };
            self.core.fpu.defer_saving(frame + STATE, thread | user);
            return Ok(());
        }
        self.check_access()?;
        self.save_float(frame + STATE)
    }

    /// At the return through an extended frame: takes the state from it, if it is not still in the
    /// registers.
    pub(in super::super) fn pop_float(&mut self, frame: u32) -> Result<(), Fault> {
        if self.core.fpu.is_saving() {
            self.core.fpu.end_saving();
            return Ok(());
        }
        self.check_access()?;
        let at = frame.wrapping_add(STATE);
        for index in 0..16 {
            self.core.fpu.s[index as usize] = self.frame_word(at.wrapping_add(4 * index))?;
        }
        let fpscr = self.frame_word(at.wrapping_add(FPSCR))?;
        self.core.fpu.set_fpscr(fpscr);
        self.cycles += u64::from(self.core.timing.float_state());
        Ok(())
    }
}
