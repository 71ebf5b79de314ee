//! The core and a DMA controller at the bus matrix of an STM32, when both want the same RAM.
//!
//! RM0090 section 2.1 (RM0008 section 3.1, RM0091 section 2.1, RM0432 section 2.1): masters that
//! want one slave are served round robin, and the other waits for a cycle. What the core wants is
//! taken from the instruction that is next when the controller makes its access: its data, or the
//! instruction itself where that lies in RAM. That is an estimate, because the access falls between
//! two instructions; the flash, the bridges to the peripherals and the Cortex-M7's RAMs are left
//! out.

use super::code::decode_at;
use super::core_state::CortexM;
use super::op::{Op, Opcode};
use super::timing::Timing;
use crate::machine::Machine;
use crate::{BusAccess, Contention, CoreName, MemoryKind};

impl<T: Timing> Machine<CortexM<T>> {
    /// The cycles for which one of both waits.
    #[cold]
    pub(super) fn contend(&mut self, access: &BusAccess) -> Contention {
        let Some(slave) = self.slave(access.address) else { return Contention::default() };
        if self.slave(self.core.state.pc) != Some(slave)
            && self.next_data().and_then(|address| self.slave(address)) != Some(slave)
        {
            return Contention::default();
        }
        self.core.had_priority = !self.core.had_priority;
        let core_first = self.core.had_priority;
        Contention { core: u64::from(!core_first), controller: u64::from(core_first) }
    }

    /// The RAM at the bus matrix that an address lies in, and whether in its second bank, which is
    /// a slave of its own.
    fn slave(&self, address: u32) -> Option<(u32, bool)> {
        if self.part.core == CoreName::CortexM7 {
            return None;
        }
        let memory = self.part.memory_at(address).filter(|memory| memory.kind == MemoryKind::Ram)?;
        let second = memory.second_bank.as_ref().is_some_and(|bank| address >= bank.start);
        Some((memory.start, second))
    }

    /// Returns the data address of the next instruction, if it has one.
    fn next_data(&self) -> Option<u32> {
        let core = &self.core;
        let op = decode_at(&core.memory, core.architecture, core.state.pc, 0)?;
        if op.operands().addresses == 0 {
            return None;
        }
        let base = core.state.r[usize::from(op.n & 15)];
        Some(base.wrapping_add(self.offset(&op)))
    }

    /// Returns the offset that an instruction adds to its base register.
    fn offset(&self, op: &Op) -> u32 {
        use Opcode::*;
        match op.inner {
            LdrImm | LdrPre | LdrbImm | LdrbPre | LdrhImm | LdrhPre | LdrsbImm | LdrsbPre | LdrshImm
            | LdrshPre | StrImm | StrPre | StrbImm | StrbPre | StrhImm | StrhPre => op.imm,
            LdrReg | LdrbReg | LdrhReg | LdrsbReg | LdrshReg | StrReg | StrbReg | StrhReg => {
                self.core.state.r[usize::from(op.m & 15)].wrapping_shl(op.imm)
            }
            _ => 0,
        }
    }
}
