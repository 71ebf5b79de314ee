//! AVR cores of ATmega and ATtiny parts with up to 256 kB of flash.
//!
//! The model has the whole instruction set, to the cycle.
//!
//! Sources: AVR Instruction Set Manual, DS40002198; ATmega328P data sheet, DS40002061; ATmega128
//! data sheet, 2467; ATmega2560 data sheet, 2549Q; ATtiny85 data sheet, 2586Q. The flash is decoded
//! once, when it is written ([`decode`]); [`execute`] runs the decoded operations on the registers
//! and memories of [`registers`], with the cycles of [`timing`]. Everything below the RAM that is
//! not a register of the core belongs to the peripherals.

mod dataflow;
mod decode;
mod execute;
mod fuses;
mod memory;
mod opcode;
mod registers;
mod run;
mod self_programming;
mod sleep;
mod sleep_modes;
mod timing;

use crate::dataflow::CoreDataflow;
use crate::machine::{Core, Machine, new_peripherals};
use crate::peripherals::microchip::system::LOW_FUSE;
use crate::peripherals::microchip::watchdog::WATCHDOG_ALWAYS_ON;
use crate::{
    CoreName, Fault, Mcu, MemoryKind, NoObserver, Observer, Part, PeripheralSpec, Register, ResetCause, Stop,
};
use decode::InstructionSet;
use fuses::Programmed;
use memory::InstructionStart;
use opcode::Op;
use registers::{Avr, DATA, Flags, registers};
use sleep_modes::{MODE_SETTINGS, SLEEP_MODES, SleepRegister};
use std::sync::Arc;

/// Builds a machine of this family.
///
/// # Errors
/// The peripheral that no model exists for, or the memory that is missing.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    match part.core {
        CoreName::Avr6 => build::<0x2_0000>(part, clock_hz),
        _ => build::<0x1_0000>(part, clock_hz),
    }
}

fn instruction_set(core: CoreName) -> InstructionSet {
    InstructionSet {
        multiplier: core != CoreName::Avr25,
        long_jumps: core != CoreName::Avr25,
        extended_load: matches!(core, CoreName::Avr51 | CoreName::Avr6),
        extended_jumps: core == CoreName::Avr6,
    }
}

/// Builds a machine whose program counter reaches `WORDS` words.
fn build<const WORDS: usize>(part: &Part, clock_hz: u64) -> Result<Box<dyn Mcu>, String> {
    let memory = |kind| {
        let mut found = part.memories.iter().filter(move |memory| memory.kind == kind);
        match (found.next(), found.next()) {
            (Some(memory), None) => Ok(memory),
            _ => Err(format!("{}: an AVR has one memory of kind {kind:?}", part.name)),
        }
    };
    let flash = memory(MemoryKind::Flash)?;
    let ram = memory(MemoryKind::Ram)?;
    if !flash.size.is_power_of_two() || flash.size as usize > 2 * WORDS || flash.start != 0 {
        let kilobytes = WORDS / 512;
        return Err(format!("{}: the flash must be a power of two up to {kilobytes} kB, from 0", part.name));
    }
    let ram_start = ram.start.checked_sub(DATA).filter(|start| (0x60..0x1_0000).contains(start));
    let Some(ram_start) = ram_start.filter(|start| start + ram.size <= 0x1_0000) else {
        return Err(format!("{}: the RAM must lie in the data space above the registers", part.name));
    };
    let system = part.peripherals.iter().find(|spec| spec.model == "avr-system");
    let setting = |name: &str| system.and_then(|spec| spec.settings.get(name)).copied();
    let sleep_register = setting("sleep_register").map(|address| SleepRegister {
        address: address as u32,
        enable: setting("sleep_enable").unwrap_or(0) as u32,
        mode: setting("sleep_mode").unwrap_or(0) as u32,
        modes: MODE_SETTINGS.map(|name| setting(name).map(|bits| bits as u32)),
    });
    let program: Arc<[Op]> = vec![Op::OUTSIDE; WORDS].into();
    let Ok(program) = program.try_into() else { unreachable!("it has WORDS operations") };
    let core = Avr::<WORDS> {
        flags: Flags::from_byte(0),
        sp: 0,
        rampz: 0,
        eind: 0,
        data: [0; 0x1_0000],
        ram_start: ram_start as u16,
        ram_size: ram.size as u16,
        instruction_set: instruction_set(part.core),
        // One jump: RJMP on parts with up to 8 kB of flash.
        vector_words: if part.core == CoreName::Avr25 { 1 } else { 2 },
        sleep_register,
        reset_sp: setting("reset_sp").unwrap_or(0) as u16,
        flash: vec![0xFF; flash.size as usize].into(),
        program,
        breakpoints: Vec::new(),
        replaced: Vec::new(),
        pc: 0,
        programmed: Programmed::new(part),
        sleep_mode: 0,
        sleeping: false,
        delay: false,
    };
    let mut bus = new_peripherals(part, clock_hz)?;
    let reduction = |spec: &PeripheralSpec| spec.settings.get("prr").map_or(0, |bits| *bits as u16);
    bus.set_reductions(&part.peripherals.iter().map(reduction).collect::<Vec<_>>());
    let mut machine = Machine::new(part, core, bus);
    machine.core.decode_flash(0, flash.size as usize);
    Ok(Box::new(machine))
}

impl<const WORDS: usize> Core for Avr<WORDS> {
    const REGISTERS: &'static [Register] = &registers(WORDS);
    const WIDTH: u8 = 1;

    /// "The write operation will be completed provided that the power supply voltage is sufficient"
    /// (DS40002061, 27.8.11).
    const RESET_STOPS_FLASH: bool = false;

    fn register(&self, index: usize) -> u32 {
        match index {
            0..32 => self.data[index].into(),
            32 => self.flags.to_byte().into(),
            33 => self.sp.into(),
            _ => self.pc * 2,
        }
    }

    fn set_register(&mut self, index: usize, value: u32) {
        match index {
            0..32 => self.data[index] = value as u8,
            32 => self.flags = Flags::from_byte(value as u8),
            33 => self.sp = value as u16,
            _ => {
                self.pc = value / 2 % WORDS as u32;
                self.sleeping = false;
            }
        }
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        let start = address as usize;
        let source = if let Some(flash) = self.flash.get(start..start.saturating_add(bytes.len())) {
            flash
        } else if let Some(range) = self.ram_range(address, bytes.len()) {
            &self.data[range]
        } else if let Some(programmed) = self.programmed.peek(address, bytes.len()) {
            programmed
        } else {
            return false;
        };
        bytes.copy_from_slice(source);
        true
    }

    fn read_register(machine: &mut Machine<Self>, address: u32, _size: u8) -> Option<u32> {
        let address = u16::try_from(address.checked_sub(DATA)?).ok()?;
        let at = InstructionStart { pc: machine.core.pc, cycles: machine.cycles };
        machine.load_register(address, at, &mut NoObserver).ok().map(u32::from)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        let start = address as usize;
        let end = start.saturating_add(bytes.len());
        if end <= self.flash.len() {
            Arc::make_mut(&mut self.flash)[start..end].copy_from_slice(bytes);
            // What they replaced is not to come back.
            let breakpoints = self.breakpoints.clone();
            self.place_breakpoints(Vec::new());
            self.decode_flash(start, end);
            self.place_breakpoints(breakpoints);
            return true;
        }
        let Some(range) = self.ram_range(address, bytes.len()) else {
            return self.programmed.poke(address, bytes);
        };
        self.data[range].copy_from_slice(bytes);
        true
    }

    fn is_ram(&self, address: u32) -> bool {
        self.ram_range(address, 1).is_some()
    }

    /// The working registers, too.
    fn clear_ram(&mut self) {
        self.data.fill(0);
    }

    fn check_image(&self) -> Result<(), Fault> {
        self.programmed.check()
    }

    fn reset(machine: &mut Machine<Avr<WORDS>>, _cause: ResetCause) -> Result<(), Fault> {
        let core = &mut machine.core;
        core.flags = Flags::from_byte(0);
        core.sp = core.reset_sp;
        core.rampz = 0;
        core.eind = 0;
        core.sleeping = false;
        core.delay = false;
        machine.apply_fuses()
    }

    fn set_breakpoints(&mut self, addresses: &[u32]) {
        let words = self.words();
        let word = |address: &u32| (address & 1 == 0 && address / 2 < words).then_some(address / 2);
        self.place_breakpoints(addresses.iter().filter_map(word).collect());
    }

    fn execute<O: Observer>(machine: &mut Machine<Avr<WORDS>>, observer: &mut O) -> Result<Stop, Fault> {
        machine.run_loop(observer)
    }

    fn finish_instruction(machine: &mut Machine<Avr<WORDS>>) {
        machine.settle_delay();
    }

    fn interrupt_mask(&self) -> u128 {
        if self.flags.i { !0 } else { 0 }
    }

    fn dataflow(&self) -> CoreDataflow {
        Avr::dataflow(self)
    }

    fn interrupt<O: Observer>(machine: &mut Machine<Avr<WORDS>>, observer: &mut O) -> Result<bool, Fault> {
        machine.take_interrupt(observer)
    }

    fn is_asleep(&self) -> bool {
        self.sleeping
    }

    fn sleeping(machine: &mut Machine<Avr<WORDS>>) -> Result<Option<&'static str>, Fault> {
        let core = &machine.core;
        if !core.sleeping && machine.bus.is_asleep() {
            // Woken by a debugger, who has set the program counter.
            machine.bus.wake(machine.cycles, core.pc * 2);
        }
        let core = &machine.core;
        Ok(core.is_asleep().then_some(SLEEP_MODES[core.sleep_mode]))
    }
}

impl<const WORDS: usize> Machine<Avr<WORDS>> {
    /// Applies the fuses at a reset: oscillator and prescaler, watchdog, start of the program.
    fn apply_fuses(&mut self) -> Result<(), Fault> {
        let programmed = &self.core.programmed;
        let (low, always_on, start) = (programmed.low(), programmed.watchdog_always_on(), programmed.start());
        if let Some(low) = low
            && self.bus.claims(LOW_FUSE)
        {
            self.bus.write(LOW_FUSE, 1, low.into(), self.cycles, 0, None)?;
        }
        if self.bus.claims(WATCHDOG_ALWAYS_ON) {
            self.bus.write(WATCHDOG_ALWAYS_ON, 1, always_on.into(), self.cycles, 0, None)?;
        }
        self.core.pc = start / 2;
        Ok(())
    }
}
