//! The state of a Cortex-M core with its memories.

use super::boot_rom::BootRom;
use super::code::Code;
use super::decode::Architecture;
use super::fault_status::Traps;
use super::fpu::registers::Fpu;
use super::memory::{Memory, Occupied};
use super::registers::State;
use super::system::System;
use super::timing::Timing;
use crate::Flow;

/// A Cortex-M core with its memories, its cycles counted by `T`.
pub struct CortexM<T: Timing> {
    pub(super) architecture: Architecture,
    /// Regions 0x20000000 and 0x40000000 have bit-band aliases (Cortex-M3, M4).
    pub(super) bit_band: bool,
    pub(super) state: State,
    pub(super) memory: Memory,
    /// Replacement of the boot ROM (RP2040).
    pub(super) boot_rom: Option<BootRom>,
    /// The vector table by which a bootloader hands over, whatever there is of a boot ROM.
    pub(super) handed_over: Option<u32>,
    pub(super) code: Code<T>,
    pub(super) timing: T,
    pub(super) system: System,
    pub(super) fpu: Fpu,
    /// Faults that enter their handlers.
    pub(super) traps: Traps,
    /// All ones where misaligned words and halfwords fault, else zero.
    pub(super) strict: u32,
    /// True if the core was first when it and a DMA controller last wanted the same memory at once.
    pub(super) had_priority: bool,
    /// The bank of the flash that is being written while the core goes on.
    pub(super) occupied: Option<Occupied>,
    /// Cycles that a register access of the instruction under way has cost beyond the access.
    pub(super) extra: u32,
    /// Control flow that observers get for the last exception return or interworking branch.
    pub(super) return_flow: Flow,
    /// Return addresses of the calls that an observer has seen.
    pub(super) calls: Vec<u32>,
}

impl<T: Timing> Clone for CortexM<T> {
    fn clone(&self) -> CortexM<T> {
        CortexM {
            architecture: self.architecture,
            bit_band: self.bit_band,
            state: self.state.clone(),
            memory: self.memory.clone(),
            boot_rom: self.boot_rom.clone(),
            handed_over: self.handed_over,
            code: self.code.fresh(),
            timing: self.timing.clone(),
            system: self.system.clone(),
            fpu: self.fpu.clone(),
            strict: self.strict,
            traps: self.traps.clone(),
            had_priority: self.had_priority,
            occupied: self.occupied.clone(),
            extra: self.extra,
            return_flow: self.return_flow,
            calls: self.calls.clone(),
        }
    }
}

impl<T: Timing> CortexM<T> {
    /// Becomes what a copy of `from` would be, a core of the same part. What is decoded of flash
    /// that is the same in both stays.
    pub(super) fn restore(&mut self, from: &CortexM<T>) {
        // All fields, so that none is forgotten.
        let CortexM {
            architecture: _,
            bit_band: _,
            state,
            memory,
            boot_rom,
            handed_over,
            code,
            timing,
            system,
            fpu,
            traps,
            strict,
            had_priority,
            occupied,
            extra,
            return_flow,
            calls,
        } = from;
        if self.memory.restore(memory) {
            self.code.restart(code);
        } else {
            self.code = code.fresh();
        }
        self.state.clone_from(state);
        self.boot_rom.clone_from(boot_rom);
        self.timing.clone_from(timing);
        self.system.clone_from(system);
        self.fpu.clone_from(fpu);
        self.traps.clone_from(traps);
        self.occupied.clone_from(occupied);
        self.calls.clone_from(calls);
        (self.handed_over, self.strict, self.had_priority) = (*handed_over, *strict, *had_priority);
        (self.extra, self.return_flow) = (*extra, *return_flow);
    }
}
