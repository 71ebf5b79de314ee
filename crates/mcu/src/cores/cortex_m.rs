//! ARM Cortex-M0, M0+, M3, M4 and M7.
//!
//! They are ARMv6-M, ARMv7-M and ARMv7E-M with their floating-point extensions.

mod arithmetic;
mod boot_rom;
mod bus;
mod cache;
mod code;
mod contention;
mod core_dataflow;
mod core_state;
mod dataflow;
pub mod decode;
mod dsp;
mod exceptions;
mod execute;
mod fault_status;
mod fetch;
mod flash;
mod flash_interface;
mod float;
pub mod fpu;
mod line_cache;
mod lines;
mod memory;
mod mpu;
mod nvic;
pub mod op;
mod operands;
mod private_bus;
mod rcc;
mod read_while_write;
pub mod registers;
mod semihosting;
mod shared_bus;
mod system;
mod systick;
mod tcm;
pub mod timing;
mod traps;
mod write_buffer;
mod xip_cache;

use crate::dataflow::CoreDataflow;
use crate::machine::{BusyBank, Core, Machine, new_peripherals};
use crate::{
    BusAccess, Contention, CoreName, EnteredFault, Fault, Flow, Mcu, NoObserver, Observer, Part, Register,
    ResetCause, Stop,
};
use boot_rom::{BootRom, Start};
use code::Code;
use core_state::CortexM;
use decode::Architecture;
use fault_status::{Trap, Traps};
use float::stacking::FPCA;
use fpu::registers::{Fpu, Unit};
use memory::Memory;
use nvic::SYSTICK;
use registers::{FIRST_FLOAT, INTEGER_REGISTERS, REGISTERS, SPSEL, Sleep, State, V6M_REGISTERS};
use std::ops::Range;
use system::System;
use timing::Timing;

/// Builds a machine of this family.
///
/// # Errors
/// A sentence: what the target file lacks, or asks of the timing model or the peripherals in vain.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    match part.core {
        CoreName::CortexM3 | CoreName::CortexM4 => new::<timing::m3::M3>(part, clock_hz),
        CoreName::CortexM7 => new::<timing::m7::M7>(part, clock_hz),
        CoreName::CortexM0Plus => new::<timing::m0plus::M0Plus>(part, clock_hz),
        _ => new::<timing::m0::M0>(part, clock_hz),
    }
}

fn new<T: Timing>(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    // Without a VTOR the vectors stay where a reset finds them, whoever has handed over.
    let vectors = part.vectors.filter(|_| part.core != CoreName::CortexM0);
    let architecture = match part.core {
        CoreName::CortexM0 | CoreName::CortexM0Plus => Architecture::V6M,
        CoreName::CortexM3 => Architecture::V7M,
        CoreName::CortexM4 | CoreName::CortexM7 => Architecture::V7EM,
        _ => return Err(format!("{}: not a Cortex-M", part.name)),
    };
    let mut memory = Memory::new(part)?;
    let boot_rom = BootRom::new(part, &mut memory)?;
    let mut bus = new_peripherals(part, clock_hz)?;
    let timing = T::new(part, clock_hz)?;
    if !timing.gates().is_empty() {
        bus.set_gates(timing.gates(), |offset| timing.gate_register(offset));
    }
    let core = CortexM {
        architecture,
        bit_band: matches!(part.core, CoreName::CortexM3 | CoreName::CortexM4),
        state: State::new(),
        code: Code::new(&memory, architecture).map_err(|error| format!("{}: {error}", part.name))?,
        timing,
        system: System::new(part.core, part.core_options(), vectors.unwrap_or_else(|| memory.boot_address())),
        fpu: Fpu::new(part.core),
        memory,
        boot_rom,
        handed_over: part.vectors,
        strict: 0,
        had_priority: false,
        traps: Traps::default(),
        occupied: None,
        extra: 0,
        return_flow: Flow::Next,
        calls: Vec::new(),
    };
    Ok(Box::new(Machine::new(part, core, bus)))
}

impl<T: Timing> Core for CortexM<T> {
    const REGISTERS: &'static [Register] = V6M_REGISTERS;
    const WIDTH: u8 = 4;

    fn all_registers(&self) -> &'static [Register] {
        match self.fpu.unit {
            Unit::None if self.architecture == Architecture::V6M => V6M_REGISTERS,
            Unit::None => INTEGER_REGISTERS,
            _ => REGISTERS,
        }
    }

    fn register(&self, index: usize) -> u32 {
        match index {
            0..15 => self.state.r[index],
            15 => self.state.pc,
            16 => self.state.xpsr(),
            17 | 18 if (index == 18) == (self.state.control & SPSEL != 0) => self.state.r[13],
            17 | 18 => self.state.other_sp,
            19 => self.state.primask.into(),
            20 => self.state.control.into(),
            21 => self.state.basepri.into(),
            22 => self.state.faultmask.into(),
            _ => self.fpu.s.get(index - FIRST_FLOAT).copied().unwrap_or(self.fpu.fpscr()),
        }
    }

    fn set_register(&mut self, index: usize, value: u32) {
        match index {
            13 => self.state.r[13] = value & !3,
            0..15 => self.state.r[index] = value,
            15 => {
                self.state.pc = value & !1;
                self.state.it = 0;
                self.state.sleep = Sleep::Awake;
            }
            16 => self.state.set_xpsr(value),
            17 | 18 if (index == 18) == (self.state.control & SPSEL != 0) => self.state.r[13] = value & !3,
            17 | 18 => self.state.other_sp = value & !3,
            19 => self.state.primask = value & 1 != 0,
            20 => {
                let floating = if self.fpu.unit == Unit::None { 0 } else { FPCA };
                let unprivileged = if self.architecture == Architecture::V6M { 0 } else { 1 };
                let control = value as u8 & (floating | SPSEL | unprivileged);
                if (control ^ self.state.control) & SPSEL != 0 {
                    std::mem::swap(&mut self.state.r[13], &mut self.state.other_sp);
                }
                self.state.control = control;
            }
            21 => self.state.basepri = value as u8 & self.system.nvic.implemented,
            22 => self.state.faultmask = value & 1 != 0,
            _ => match self.fpu.s.get_mut(index - FIRST_FLOAT) {
                Some(register) => *register = value,
                None => self.fpu.set_fpscr(value),
            },
        }
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        self.memory.peek(address, bytes)
    }

    fn read_register(machine: &mut Machine<Self>, address: u32, size: u8) -> Option<u32> {
        machine.read_slow(address, size.into(), 0, &mut NoObserver)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        if !self.memory.poke(address, bytes) {
            return false;
        }
        if let Some((view, offset)) = self.memory.find(address, 1)
            && !bytes.is_empty()
            && (!view.writable || self.code.overlaps(offset, bytes.len()))
        {
            self.code.invalidate(offset, bytes.len() as u32);
        }
        true
    }

    fn restore(&mut self, from: &Self) {
        CortexM::restore(self, from);
    }

    fn is_ram(&self, address: u32) -> bool {
        self.memory.find(address, 1).is_some_and(|(view, _)| view.writable)
    }

    fn clear_ram(&mut self) {
        self.memory.clear_ram();
        self.code.clear();
    }

    /// The core starts from the vector table.
    fn reset(machine: &mut Machine<Self>, cause: ResetCause) -> Result<(), Fault> {
        let core = &mut machine.core;
        core.state = State::new();
        core.timing.reset();
        core.timing.set_reset_cause(cause);
        if let Some(clock_hz) = core.timing.core_clock_hz() {
            machine.bus.change_clock(clock_hz, machine.cycles, None);
        }
        let core = &mut machine.core;
        core.system.reset();
        core.occupied = None;
        core.memory.set_watched(false);
        core.memory.show_ram_at_zero(false);
        core.code.bar(Vec::new());
        core.fpu.reset();
        core.calls.clear();
        let rom = core.boot_rom.as_ref().filter(|_| core.handed_over.is_none());
        let start = match rom {
            Some(rom) => rom.start(&core.memory).map(|(start, stage)| {
                core.poke(start.sp, &stage);
                start
            }),
            None => {
                let [sp, entry] = core.memory.words(core.handed_over.unwrap_or(core.system.vtor));
                Ok(Start { sp, entry, lr: exceptions::LR_AT_RESET, vectors: core.system.vtor })
            }
        };
        let start = start.map_err(|what| machine.architecture(0, 0, what))?;
        let core = &mut machine.core;
        core.system.vtor = start.vectors;
        core.state.r[13] = start.sp & !3;
        core.state.r[14] = start.lr;
        core.state.pc = start.entry & !1;
        let (pc, entry) = (core.state.pc, start.entry);
        machine.alignment_changed();
        if entry & 1 == 0 {
            return Err(machine.architecture(pc, entry, "the reset vector is not a Thumb address"));
        }
        Ok(())
    }

    fn set_breakpoints(&mut self, addresses: &[u32]) {
        self.code.unmark();
        self.code.mark(addresses);
    }

    fn execute<O: Observer>(machine: &mut Machine<Self>, observer: &mut O) -> Result<Stop, Fault> {
        machine.execute_with_traps(observer)
    }

    fn set_stop_on_fault(&mut self, stop: bool) {
        self.traps.enter = !stop;
    }

    fn faults_entered(&self) -> &[EnteredFault] {
        &self.traps.entered
    }

    fn finish_instruction(machine: &mut Machine<Self>) {
        machine.core.code.invalidate_changed();
    }

    fn due(&self) -> u64 {
        self.system.systick.due().unwrap_or(u64::MAX)
    }

    fn sample(&mut self, now: u64, requests: u128) {
        let system = &mut self.system;
        let before = system.nvic.all_pending();
        if system.systick.update_until(now) {
            system.nvic.system_pending |= 1 << SYSTICK;
        }
        system.nvic.sample(requests);
        self.state.event |= system.signals_pending(before);
    }

    fn signalled(&mut self) {
        self.state.event = true;
    }

    fn interrupt_mask(&self) -> u128 {
        let masked = (self.state.primask || self.state.faultmask) && self.state.sleep == Sleep::Awake;
        let system = &self.system;
        let possible = system.nvic.enabled != 0 || system.systick.due().is_some() || system.sev_on_pend();
        // Of the requests that are there, the core has taken what it can: none of them counts.
        if !masked && possible { 1 << 127 } else { 0 }
    }

    fn interrupt<O: Observer>(machine: &mut Machine<Self>, _observer: &mut O) -> Result<bool, Fault> {
        machine.take_exception()
    }

    fn dataflow(&self) -> CoreDataflow {
        CortexM::dataflow(self)
    }

    fn is_asleep(&self) -> bool {
        self.state.sleep != Sleep::Awake
    }

    fn sleeping(machine: &mut Machine<Self>) -> Result<Option<&'static str>, Fault> {
        let name = if machine.core.system.sleep_deep() { "deep sleep" } else { "sleep" };
        Ok(machine.core.is_asleep().then_some(name))
    }

    fn access(machine: &mut Machine<Self>, access: &BusAccess) -> Result<Option<u32>, Fault> {
        machine.access_memory(access)
    }

    fn contention(machine: &mut Machine<Self>, access: &BusAccess) -> Contention {
        machine.contend(access)
    }

    fn occupy(machine: &mut Machine<Self>, bank: Range<u32>, until: u64) {
        machine.occupy_bank(bank, until);
    }

    fn busy_bank(machine: &mut Machine<Self>) -> Option<BusyBank> {
        machine.busy_bank()
    }

    fn idle(&mut self, cycles: u64) {
        self.timing.idle(cycles);
    }

    fn computed_in_float(&self) -> bool {
        self.fpu.computed
    }

    fn is_uncached(&self) -> bool {
        self.timing.is_uncached()
    }
}

impl<T: Timing> Machine<CortexM<T>> {
    /// A call, as an observer is told.
    pub(super) fn call(&mut self, return_to: u32) -> Flow {
        // Programs that leave functions by longjmp must not make this grow for ever.
        if self.core.calls.len() >= 4096 {
            self.core.calls.drain(..2048);
        }
        self.core.calls.push(return_to);
        Flow::Call { return_to }
    }

    /// A jump to an address out of a register or of memory: a return where `flow` says so, or where
    /// it goes where a call that has been seen must return (Thumb-1 code returns with POP {r3}; BX
    /// r3).
    pub(super) fn indirect(&mut self, flow: Flow, target: u32) -> Flow {
        if let Some(index) = self.core.calls.iter().rposition(|&address| address == target) {
            self.core.calls.truncate(index);
            return Flow::Return;
        }
        flow
    }

    /// A fault for a rule of the architecture.
    pub(super) fn architecture(&self, pc: u32, address: u32, what: &str) -> Fault {
        Fault::Architecture { pc, address, what: what.to_string() }
    }

    /// A fault that the core takes itself as this trap.
    fn trap(&mut self, trap: Trap, pc: u32, address: u32, what: &str) -> Fault {
        self.core.traps.cause = Some(trap);
        self.architecture(pc, address, what)
    }

    /// The fault of an instruction that the core does not have, at `state.pc`.
    pub(super) fn undefined(&self, length: u8) -> Fault {
        let mut bytes = vec![0; usize::from(length)];
        self.core.memory.peek(self.core.state.pc, &mut bytes);
        Fault::Opcode { pc: self.core.state.pc, bytes }
    }

    /// The fault of an instruction that cannot be fetched from `pc`.
    pub(super) fn not_executable(&mut self, pc: u32) -> Fault {
        if self.core.code.barred(pc) {
            self.core.traps.cause = Some(Trap::ForbiddenFetch(pc));
            self.architecture(pc, pc, "the MPU forbids execution there (MemManage)")
        } else {
            Fault::Unmapped { pc, address: pc, size: 2, kind: "fetch" }
        }
    }

    /// CCR.UNALIGN_TRP may have changed; ARMv6-M has no misaligned accesses at all.
    pub(super) fn alignment_changed(&mut self) {
        let strict = self.core.architecture == Architecture::V6M || self.core.system.unaligned_traps();
        self.core.strict = if strict { !0 } else { 0 };
    }
}
