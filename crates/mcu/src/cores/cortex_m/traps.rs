//! The way of a fault to its handler.
//!
//! DDI 0403E, B1.5.14 (fault behaviour) and B3.2.15 to B3.2.18 (CFSR, HFSR, MMFAR, BFAR); DDI
//! 0419E, B1.5.6: on ARMv6-M all are HardFault. The model enters a handler where the part is known
//! to fault. What it does not know itself (registers without a model, the manufacturer's program)
//! ends the run, as does what the architecture calls a lockup, and a handler that jumps to itself.

use super::core_state::CortexM;
use super::decode::Architecture;
use super::execute::Execute;
use super::fault_status::Trap;
use super::nvic::{BUS_FAULT, HARD_FAULT, MEM_MANAGE, USAGE_FAULT};
use super::timing::Timing;
use crate::machine::Machine;
use crate::{EnteredFault, Fault, Flow, Observer, Stop};
use std::ops::Range;

/// CFSR: IACCVIOL, DACCVIOL, MMARVALID; IBUSERR, PRECISERR, IMPRECISERR, BFARVALID; UNDEFINSTR,
/// INVSTATE, NOCP, UNALIGNED, DIVBYZERO.
const IACCVIOL: u32 = 1;
const DACCVIOL: u32 = 1 << 1;
const MMARVALID: u32 = 1 << 7;
const IBUSERR: u32 = 1 << 8;
const PRECISERR: u32 = 1 << 9;
const IMPRECISERR: u32 = 1 << 10;
const BFARVALID: u32 = 1 << 15;
const UNDEFINSTR: u32 = 1 << 16;
const INVSTATE: u32 = 1 << 17;
const NOCP: u32 = 1 << 19;
const UNALIGNED: u32 = 1 << 24;
const DIVBYZERO: u32 = 1 << 25;
/// HFSR.FORCED: a fault that was not enabled, or not urgent enough.
const FORCED: u32 = 1 << 30;

/// `B .`: a handler that says nothing.
const BRANCH_TO_ITSELF: [u8; 2] = [0xfe, 0xe7];

/// The most entries that are remembered: a handler may return to the fault for ever.
const REMEMBERED: usize = 16;

/// Registers of the part and of the core, from which no instruction is fetched (DDI 0403E, B3.1).
const EXECUTE_NEVER: [Range<u32>; 2] = [0x4000_0000..0x6000_0000, 0xa000_0000..0xffff_ffff];

/// Addresses at which a target file names all that there is: RAM, external memory, code but for
/// what a manufacturer keeps there (STM32: the system memory; nRF52: FICR and UICR; SAM D21: the
/// rows of its NVM).
fn is_known(address: u32) -> bool {
    match address {
        0x0080_0000..0x0081_0000 | 0x1000_0000..0x2000_0000 => false,
        0x4000_0000..0x6000_0000 => false,
        _ => address < 0xe000_0000,
    }
}

impl<T: Timing> Machine<CortexM<T>> {
    /// Executes until the run ends; faults that the part takes itself are entered where that is
    /// wanted.
    pub(super) fn execute_with_traps<O: Observer>(&mut self, observer: &mut O) -> Result<Stop, Fault> {
        loop {
            self.core.traps.cause = None;
            let fault = match T::run_loop(self, observer) {
                // A handler that goes nowhere has taken the fault's place.
                Ok(Stop::Halted) if matches!(self.core.state.ipsr, HARD_FAULT..=USAGE_FAULT) => {
                    return self.core.traps.last.clone().map_or(Ok(Stop::Halted), Err);
                }
                Ok(stop) => return Ok(stop),
                Err(fault) => fault,
            };
            let sp = self.core.state.r[13];
            if !self.enter_fault(&fault) {
                return Err(fault);
            }
            if O::enabled() {
                observer.interrupt(sp);
            }
            let pc = self.core.state.pc;
            if self.core.code.is_marked(pc) {
                return Ok(Stop::Address(pc));
            }
        }
    }

    /// The trap that a fault is, where the part takes it.
    fn trap_of(&self, fault: &Fault) -> Option<Trap> {
        if let Some(cause) = self.core.traps.cause {
            return Some(cause);
        }
        match fault {
            Fault::Opcode { .. } => Some(Trap::Undefined),
            Fault::Unmapped { address, kind: "fetch", .. } => {
                let never = EXECUTE_NEVER.iter().any(|range| range.contains(address));
                Some(if never { Trap::ForbiddenFetch(*address) } else { Trap::Fetch(*address) })
            }
            Fault::Unmapped { address, .. } if self.part.unmodelled_at(*address).is_some() => None,
            Fault::Unmapped { address, kind: "read", .. } if is_known(*address) => Some(Trap::Read(*address)),
            Fault::Unmapped { address, kind: "write", .. } if is_known(*address) => Some(Trap::Write),
            _ => None,
        }
    }

    /// The exception of a trap, its status, and the address that goes with it.
    fn status_of(trap: Trap) -> (u16, u32, Option<u32>) {
        match trap {
            Trap::Undefined => (USAGE_FAULT, UNDEFINSTR, None),
            Trap::State(_) => (USAGE_FAULT, INVSTATE, None),
            Trap::Coprocessor => (USAGE_FAULT, NOCP, None),
            Trap::Unaligned => (USAGE_FAULT, UNALIGNED, None),
            Trap::DivideByZero => (USAGE_FAULT, DIVBYZERO, None),
            Trap::Read(address) => (BUS_FAULT, PRECISERR | BFARVALID, Some(address)),
            Trap::Write => (BUS_FAULT, IMPRECISERR, None),
            Trap::Fetch(_) => (BUS_FAULT, IBUSERR, None),
            Trap::Forbidden(address) => (MEM_MANAGE, DACCVIOL | MMARVALID, Some(address)),
            Trap::ForbiddenFetch(_) => (MEM_MANAGE, IACCVIOL, None),
            Trap::Blocked => (HARD_FAULT, 0, None),
        }
    }

    /// Enters the handler of a fault; false where the run ends instead.
    fn enter_fault(&mut self, fault: &Fault) -> bool {
        if !self.core.traps.enter {
            return false;
        }
        let Some(trap) = self.trap_of(fault) else { return false };
        let v7 = self.core.architecture >= Architecture::V7M;
        let (wanted, status, address) = Self::status_of(trap);
        let enabled = v7 && self.core.system.takes_fault(wanted, &self.core.state);
        let exception = if enabled { wanted } else { HARD_FAULT };
        // At the priority of HardFault or above a second fault locks the core up.
        if self.core.system.nvic.execution_priority(&self.core.state, false) < 0 {
            return false;
        }
        let vector = self.core.system.vtor.wrapping_add(4 * u32::from(exception));
        let Ok(handler) = self.frame_word(vector) else { return false };
        let mut first = [0; 2];
        let there = handler & 1 == 1 && self.core.memory.peek(handler & !1, &mut first);
        if !there || first == BRANCH_TO_ITSELF {
            return false;
        }
        let before = self.core.state.clone();
        // The instruction itself; after a branch, its target; after a store that was not waited
        // for, what follows.
        match trap {
            Trap::State(target) | Trap::Fetch(target) | Trap::ForbiddenFetch(target) => {
                self.core.state.pc = target & !1;
            }
            Trap::Write if v7 => self.core.state.pc += self.length_at(before.pc),
            _ => {}
        }
        let return_to = self.core.state.pc;
        if self.take(exception).is_err() {
            self.core.state = before;
            return false;
        }
        if v7 {
            let registers = &mut self.core.system.faults;
            registers.configurable |= status;
            if exception == HARD_FAULT {
                registers.hard |= FORCED;
            }
            match (wanted, address) {
                (MEM_MANAGE, Some(address)) => registers.memory_address = address,
                (_, Some(address)) => registers.bus_address = address,
                _ => {}
            }
        }
        let name = match exception {
            MEM_MANAGE => "MemManage",
            BUS_FAULT => "BusFault",
            USAGE_FAULT => "UsageFault",
            _ => "HardFault",
        };
        let traps = &mut self.core.traps;
        if traps.entered.len() < REMEMBERED {
            traps.entered.push(EnteredFault { exception: name, fault: fault.clone(), cycles: self.cycles });
        }
        traps.last = Some(fault.clone());
        self.fault = None;
        self.flow = Flow::Interrupt { return_to };
        self.recheck();
        true
    }

    /// Bytes of the instruction at an address.
    fn length_at(&self, pc: u32) -> u32 {
        let mut bytes = [0; 2];
        self.core.memory.peek(pc, &mut bytes);
        if bytes[1] >> 3 >= 0x1d { 4 } else { 2 }
    }
}
