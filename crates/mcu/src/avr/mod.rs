//! The AVR cores of the ATmega parts with up to 128 kB of flash: the whole instruction set, cycle by cycle.
//!
//! Sources: AVR Instruction Set Manual, DS40002198; ATmega328P data sheet, DS40002061; ATmega128 data sheet, 2467.
//! The flash is decoded once, when it is written ([`decode`]); [`execute`] runs the decoded operations on the
//! registers and memories of [`state`], with the cycles of [`timing`]. Everything below the RAM that is not a
//! register of the core belongs to the peripherals.

mod boundary;
mod decode;
mod execute;
mod memory;
mod state;
mod timing;

use crate::peripherals::new_peripheral;
use crate::{
    Board, Core, Fault, Flow, Image, Machine, MemoryKind, NoObserver, Observer, Part, PeripheralBus,
    PeripheralSpec, ResetCause, Residency, Segment, Stop, Trace, Until,
};
use decode::{Kind, Op, TOGETHER, decode, link};
use state::{Flags, State};
use std::sync::Arc;

/// Where ELF files put the data space.
const DATA: u32 = 0x80_0000;

/// The register that decides what `SLEEP` does (SMCR, MCUCR).
#[derive(Clone, Copy)]
struct SleepRegister {
    address: u32,
    /// The bit SE.
    enable: u32,
    /// The bits SM2..SM0; all clear means idle.
    mode: u32,
    /// Those bits for ADC noise reduction, where the part has it.
    adc: Option<u32>,
}

/// The sleep modes that are modelled, by their names in target files.
const SLEEP_MODES: [&str; 2] = ["idle", "adc-noise-reduction"];

/// A microcontroller with an AVR core.
#[derive(Clone)]
struct Avr {
    part: Part,
    /// Whether the part has RAMPZ and ELPM.
    extended: bool,
    sleep_register: Option<SleepRegister>,
    reset_sp: u16,
    flash: Arc<[u8]>,
    program: Arc<[Op; 0x1_0000]>,
    /// What the image put into RAM, for each reset.
    ram_image: Vec<Segment>,
    state: State,
    bus: PeripheralBus,
    /// Word address of the next instruction.
    pc: u16,
    cycles: u64,
    /// Those of them slept through, by the number of the mode in [`SLEEP_MODES`].
    asleep: [u64; 2],
    /// The number of the mode that it sleeps in, or last did.
    sleep_mode: usize,
    instructions: u64,
    /// Somebody may have told the board something since the last run: worlds run machines in very short steps.
    board_touched: bool,
    /// The cycle count at which the run must look at limits, peripherals and interrupts.
    horizon: u64,
    sleeping: bool,
    /// Why the run could not go on, until it is told.
    fault: Option<Fault>,
    /// The instruction just executed lets one more go first before any interrupt.
    delay: bool,
    /// The instruction count from which on interrupts may be taken.
    blocked_until: u64,
}

/// Builds a machine of this family.
///
/// # Errors
/// The peripheral that no model exists for, or the memory that is missing.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    let memory = |kind| {
        let mut found = part.memories.iter().filter(move |memory| memory.kind == kind);
        match (found.next(), found.next()) {
            (Some(memory), None) => Ok(memory),
            _ => Err(format!("{}: an AVR has one memory of kind {kind:?}", part.name)),
        }
    };
    let flash = memory(MemoryKind::Flash)?;
    let ram = memory(MemoryKind::Ram)?;
    if !flash.size.is_power_of_two() || flash.size > 0x2_0000 || flash.start != 0 {
        return Err(format!("{}: the flash must be a power of two up to 128 kB, from 0", part.name));
    }
    let ram_start = ram.start.checked_sub(DATA).filter(|start| (0x60..0x1_0000).contains(start));
    let Some(ram_start) = ram_start.filter(|start| start + ram.size <= 0x1_0000) else {
        return Err(format!("{}: the RAM must lie in the data space above the registers", part.name));
    };
    let mut devices = Vec::new();
    for spec in &part.peripherals {
        let mut device = new_peripheral(part, spec)?;
        device.set_clock(clock_hz);
        devices.push(device);
    }
    let system = part.peripherals.iter().find(|spec| spec.model == "avr-system");
    let setting = |name: &str| system.and_then(|spec| spec.settings.get(name)).copied();
    let sleep_register = setting("sleep_register").map(|address| SleepRegister {
        address: address as u32,
        enable: setting("sleep_enable").unwrap_or(0) as u32,
        mode: setting("sleep_mode").unwrap_or(0) as u32,
        adc: setting("sleep_adc").map(|bits| bits as u32),
    });
    let mut machine = Avr {
        part: part.clone(),
        extended: part.core == Core::Avr51,
        sleep_register,
        reset_sp: setting("reset_sp").unwrap_or(0) as u16,
        flash: vec![0xFF; flash.size as usize].into(),
        program: Arc::new([Op::OUTSIDE; 0x1_0000]),
        ram_image: Vec::new(),
        state: State {
            flags: Flags::from_byte(0),
            sp: 0,
            rampz: 0,
            data: [0; 0x1_0000],
            ram_start: ram_start as u16,
            ram_size: ram.size as u16,
        },
        bus: PeripheralBus::new(devices)?,
        pc: 0,
        cycles: 0,
        asleep: [0; 2],
        sleep_mode: 0,
        instructions: 0,
        board_touched: true,
        horizon: 0,
        sleeping: false,
        fault: None,
        delay: false,
        blocked_until: 0,
    };
    machine.bus.board = Board::new(clock_hz);
    let reduction = |spec: &PeripheralSpec| spec.settings.get("prr").map_or(0, |bits| *bits as u8);
    machine.bus.set_reductions(&part.peripherals.iter().map(reduction).collect::<Vec<_>>());
    machine.decode_flash(0, flash.size as usize);
    machine.reset();
    Ok(Box::new(machine))
}

impl Avr {
    /// The core as after any reset.
    fn begin(&mut self) {
        self.state.flags = Flags::from_byte(0);
        self.state.sp = self.reset_sp;
        self.state.rampz = 0;
        self.pc = 0;
        self.sleeping = false;
        self.delay = false;
        self.blocked_until = 0;
        self.board_touched = true;
    }

    /// A reset that leaves RAM and the working registers as they are, and time going on.
    fn reset_running(&mut self, cause: ResetCause) {
        self.bus.reset_by(cause, self.cycles, 0);
        self.begin();
    }

    fn words(&self) -> u32 {
        self.flash.len() as u32 / 2
    }

    /// Decodes anew the flash bytes from `start` to `end`, and the word before, whose operand may have changed.
    fn decode_flash(&mut self, start: usize, end: usize) {
        let words = self.words();
        let flash = Arc::clone(&self.flash);
        let word = |index: usize| match flash.get(index * 2..index * 2 + 2) {
            Some(bytes) => u16::from_le_bytes([bytes[0], bytes[1]]),
            None => 0,
        };
        let program = Arc::make_mut(&mut self.program);
        let first = (start / 2).saturating_sub(1);
        for (index, op) in program.iter_mut().enumerate().take(end.div_ceil(2)).skip(first) {
            *op = decode(word(index), word(index + 1), index as u16, words, self.extended);
        }
        link(program, end.div_ceil(2));
    }

    /// Writes `bytes` wherever the part has memory for them.
    fn write_memory(&mut self, address: u32, bytes: &[u8]) -> bool {
        let start = address as usize;
        let end = start.saturating_add(bytes.len());
        if end <= self.flash.len() {
            Arc::make_mut(&mut self.flash)[start..end].copy_from_slice(bytes);
            self.decode_flash(start, end);
            return true;
        }
        if let Some(range) = self.ram_range(address, bytes.len()) {
            self.state.data[range].copy_from_slice(bytes);
            return true;
        }
        match self.bus.memory_mut(address, bytes.len()) {
            Some(memory) => {
                memory.copy_from_slice(bytes);
                true
            }
            None => false,
        }
    }

    /// The part of the data array that `size` bytes at an ELF address are, if they are RAM.
    fn ram_range(&self, address: u32, size: usize) -> Option<std::ops::Range<usize>> {
        let start = address.checked_sub(DATA)? as usize;
        let end = start.checked_add(size)?;
        let ram_start = usize::from(self.state.ram_start);
        let ram_end = ram_start + usize::from(self.state.ram_size);
        (start >= ram_start && end <= ram_end).then_some(start..end)
    }

    /// Runs with the stop addresses put into the program in place of their operations.
    fn run_until<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Result<Stop, Fault> {
        if std::mem::take(&mut self.board_touched) {
            self.bus.resume(self.cycles, u32::from(self.pc) * 2);
        }
        let limit = until.cycles.unwrap_or(u64::MAX);
        let words = self.words();
        let stops: Vec<u16> = until
            .addresses
            .iter()
            .filter(|&&address| address & 1 == 0 && address / 2 < words)
            .map(|&address| (address / 2) as u16)
            .collect();
        let mut flow = Flow::Start;
        if stops.contains(&self.pc) {
            let here = self.pc;
            let others: Vec<u16> = stops.iter().copied().filter(|&stop| stop != here).collect();
            let budget = self.instructions + 1;
            if let Some(stop) = self.run_with(&others, limit, budget, &mut flow, observer)? {
                return Ok(stop);
            }
        }
        match self.run_with(&stops, limit, u64::MAX, &mut flow, observer)? {
            Some(stop) => Ok(stop),
            None => Ok(Stop::Cycles),
        }
    }

    fn run_with<O: Observer>(
        &mut self,
        stops: &[u16],
        limit: u64,
        budget: u64,
        flow: &mut Flow,
        observer: &mut O,
    ) -> Result<Option<Stop>, Fault> {
        let mut stops = stops.to_vec();
        stops.sort_unstable();
        stops.dedup();
        if stops.is_empty() {
            return self.run_loop(limit, budget, flow, observer);
        }
        let program = Arc::make_mut(&mut self.program);
        // What lies before a stop must not run into it.
        let mut aside = Vec::new();
        for &stop in &stops {
            for index in (0..=TOGETHER).map(|before| usize::from(stop.wrapping_sub(before))) {
                aside.push((index, program[index]));
                program[index].kind = program[index].kind.alone();
            }
        }
        for &stop in &stops {
            program[usize::from(stop)].kind = Kind::Stop;
        }
        let result = self.run_loop(limit, budget, flow, observer);
        let program = Arc::make_mut(&mut self.program);
        for (index, op) in aside.into_iter().rev() {
            program[index] = op;
        }
        result
    }
}

impl Machine for Avr {
    fn part(&self) -> &Part {
        &self.part
    }

    fn load(&mut self, image: &Image) -> Result<(), Fault> {
        self.ram_image.clear();
        for segment in &image.segments {
            if !self.write_memory(segment.address, &segment.bytes) {
                return Err(Fault::Load {
                    address: segment.address,
                    size: segment.bytes.len() as u32,
                    part: self.part.name.clone(),
                });
            }
            if self.ram_range(segment.address, segment.bytes.len()).is_some() {
                self.ram_image.push(segment.clone());
            }
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.state.data.fill(0);
        for segment in &self.ram_image {
            let start = (segment.address - DATA) as usize;
            self.state.data[start..start + segment.bytes.len()].copy_from_slice(&segment.bytes);
        }
        self.bus.reset();
        self.cycles = 0;
        self.asleep = [0; 2];
        self.instructions = 0;
        self.begin();
    }

    fn reset_by(&mut self, cause: ResetCause) {
        if cause == ResetCause::PowerOn {
            self.reset();
        } else {
            self.reset_running(cause);
        }
    }

    fn cut_power(&mut self, torn: u8) {
        self.bus.cut_power(torn);
        self.reset();
    }

    fn nonvolatile_writes(&self) -> u64 {
        self.bus.nonvolatile_writes()
    }

    fn run(&mut self, until: &Until) -> Result<Stop, Fault> {
        self.run_until(until, &mut NoObserver)
    }

    fn run_observed(&mut self, until: &Until, observer: &mut dyn Observer) -> Result<Stop, Fault> {
        self.run_until(until, &mut { observer })
    }

    fn run_traced(&mut self, until: &Until, trace: &mut Trace) -> Result<Stop, Fault> {
        self.run_until(until, trace)
    }

    fn cycles(&self) -> u64 {
        self.cycles
    }

    fn residency(&self) -> Residency {
        let mut residency = Residency::all_active(self.cycles - self.asleep.iter().sum::<u64>());
        for (mode, cycles) in SLEEP_MODES.into_iter().zip(self.asleep).filter(|(_, cycles)| *cycles != 0) {
            residency.add_asleep(mode, 0, cycles);
        }
        residency
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }

    fn pc(&self) -> u32 {
        u32::from(self.pc) * 2
    }

    fn set_pc(&mut self, pc: u32) {
        self.pc = (pc / 2) as u16;
        self.sleeping = false;
    }

    fn sp(&self) -> u32 {
        self.state.sp.into()
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let mut registers: Vec<(String, u32)> =
            (0..32).map(|n| (format!("r{n}"), u32::from(self.state.data[n]))).collect();
        registers.push(("sreg".into(), self.state.flags.to_byte().into()));
        registers.push(("sp".into(), self.state.sp.into()));
        registers.push(("pc".into(), self.pc()));
        registers
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        match name {
            "sreg" => self.state.flags = Flags::from_byte(value as u8),
            "sp" => self.state.sp = value as u16,
            "pc" => self.set_pc(value),
            _ => {
                let number = name.strip_prefix('r').and_then(|number| number.parse::<usize>().ok());
                let Some(register) = number.and_then(|number| self.state.data[..32].get_mut(number)) else {
                    return false;
                };
                *register = value as u8;
            }
        }
        true
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        let start = address as usize;
        let source = if let Some(flash) = self.flash.get(start..start.saturating_add(bytes.len())) {
            flash
        } else if let Some(range) = self.ram_range(address, bytes.len()) {
            &self.state.data[range]
        } else if let Some(memory) = self.bus.memory(address, bytes.len()) {
            memory
        } else {
            return false;
        };
        bytes.copy_from_slice(source);
        true
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        self.write_memory(address, bytes)
    }

    fn uart_receive(&mut self, port: &str, bytes: &[u8]) -> bool {
        self.bus.uart_receive(port, bytes, self.cycles)
    }

    fn board(&self) -> Option<&Board> {
        Some(&self.bus.board)
    }

    fn board_mut(&mut self) -> Option<&mut Board> {
        self.board_touched = true;
        Some(&mut self.bus.board)
    }

    fn snapshot(&self) -> Box<dyn Machine> {
        Box::new(self.clone())
    }
}
