//! The core with its memories and peripherals: one [`Machine`].

use super::code::Code;
use super::decode::Architecture;
use super::memory::Memory;
use super::state::{Sleep, State};
use super::system::System;
use super::timing::Timing;
use crate::{
    Board, Core, Fault, Flow, Image, Machine, NoObserver, Observer, Part, PeripheralBus, ResetCause, Stop,
    Trace, Until, peripherals,
};

/// A microcontroller with a Cortex-M core, its cycles counted by `T`.
pub struct Cpu<T: Timing> {
    pub(super) part: Part,
    pub(super) architecture: Architecture,
    /// Regions 0x20000000 and 0x40000000 have bit-band aliases (Cortex-M3, M4).
    pub(super) bit_band: bool,
    pub(super) state: State,
    pub(super) memory: Memory,
    pub(super) code: Code<T>,
    pub(super) timing: T,
    pub(super) system: System,
    pub(super) bus: PeripheralBus,
    /// All ones where misaligned words and halfwords fault, else zero.
    pub(super) strict: u32,
    /// The cycle at which the loop must look up from its instructions.
    pub(super) due: u64,
    /// The cycle at which the run ends.
    pub(super) limit: u64,
    /// Cycles that a register access of the instruction under way has cost beyond the access.
    pub(super) extra: u32,
    /// Why the instruction under way cannot be finished.
    pub(super) fault: Option<Fault>,
    /// The vector table had no entry to start from.
    pub(super) reset_fault: Option<Fault>,
    /// How the last exception return or interworking branch is to be reported.
    pub(super) return_flow: Flow,
    /// Return addresses of the calls that an observer has seen.
    calls: Vec<u32>,
}

impl<T: Timing> Cpu<T> {
    /// The machine of a part at a clock, reset, with empty memories.
    ///
    /// # Errors
    /// A sentence: what the target file lacks, or asks of the timing model or the peripherals in vain.
    pub fn new(part: &Part, clock_hz: u64) -> Result<Cpu<T>, String> {
        let architecture = match part.core {
            Core::CortexM0 => Architecture::V6M,
            Core::CortexM3 => Architecture::V7M,
            Core::CortexM4 | Core::CortexM7 => Architecture::V7EM,
            _ => return Err(format!("{}: not a Cortex-M", part.name)),
        };
        let memory = Memory::new(part)?;
        let devices: Result<Vec<_>, _> =
            part.peripherals.iter().map(|spec| peripherals::new_peripheral(part, spec)).collect();
        let mut devices = devices?;
        devices.iter_mut().for_each(|device| device.set_clock(clock_hz));
        let mut cpu = Cpu {
            part: part.clone(),
            architecture,
            bit_band: matches!(part.core, Core::CortexM3 | Core::CortexM4),
            state: State::new(),
            code: Code::new(&memory, architecture),
            timing: T::new(part, clock_hz)?,
            system: System::new(part.core, memory.boot_address()),
            memory,
            bus: PeripheralBus::new(devices)?,
            strict: 0,
            due: 0,
            limit: u64::MAX,
            extra: 0,
            fault: None,
            reset_fault: None,
            return_flow: Flow::Next,
            calls: Vec::new(),
        };
        cpu.bus.board = Board::new(clock_hz);
        cpu.bus.board.supply_v = super::flash::SUPPLY_V;
        cpu.reset();
        Ok(cpu)
    }

    /// A call, as an observer is told.
    pub(super) fn call(&mut self, return_to: u32) -> Flow {
        // Programs that leave functions by longjmp must not make this grow for ever.
        if self.calls.len() >= 4096 {
            self.calls.drain(..2048);
        }
        self.calls.push(return_to);
        Flow::Call { return_to }
    }

    /// A jump to an address from a register or from memory: a return where `flow` says so, or where it goes where a
    /// call that has been seen must return (Thumb-1 code returns with POP {r3}; BX r3).
    pub(super) fn indirect(&mut self, flow: Flow, target: u32) -> Flow {
        if let Some(index) = self.calls.iter().rposition(|&address| address == target) {
            self.calls.truncate(index);
            return Flow::Return;
        }
        flow
    }

    /// A fault for a rule of the architecture.
    pub(super) fn architecture(&self, pc: u32, address: u32, what: &str) -> Fault {
        Fault::Architecture { pc, address, what: what.to_string() }
    }

    /// The fault of an instruction that the core does not have, at `state.pc`.
    pub(super) fn undefined(&self, length: u8) -> Fault {
        let mut bytes = vec![0; usize::from(length)];
        self.memory.peek(self.state.pc, &mut bytes);
        Fault::Opcode { pc: self.state.pc, bytes }
    }
}

impl<T: Timing> Machine for Cpu<T> {
    fn part(&self) -> &Part {
        &self.part
    }

    fn load(&mut self, image: &Image) -> Result<(), Fault> {
        self.code.clear();
        self.memory.load(image)
    }

    fn reset(&mut self) {
        self.memory.reset();
        self.code.clear();
        self.bus.reset();
        self.state = State::new();
        self.begin(ResetCause::PowerOn);
    }

    fn reset_by(&mut self, cause: ResetCause) {
        if cause == ResetCause::PowerOn {
            self.reset();
        } else {
            self.reset_running(cause);
        }
    }

    fn run(&mut self, until: &Until) -> Result<Stop, Fault> {
        self.run_loop(until, &mut NoObserver)
    }

    fn run_observed(&mut self, until: &Until, observer: &mut dyn Observer) -> Result<Stop, Fault> {
        self.run_loop(until, &mut { observer })
    }

    fn run_traced(&mut self, until: &Until, trace: &mut Trace) -> Result<Stop, Fault> {
        self.run_loop(until, trace)
    }

    fn cycles(&self) -> u64 {
        self.state.cycles
    }

    fn instructions(&self) -> u64 {
        self.state.instructions
    }

    fn pc(&self) -> u32 {
        self.state.pc
    }

    fn set_pc(&mut self, pc: u32) {
        self.state.pc = pc & !1;
        self.state.it = 0;
        self.state.sleep = Sleep::Awake;
        self.reset_fault = None;
    }

    fn sp(&self) -> u32 {
        self.state.r[13]
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let mut registers: Vec<_> = (0..13).map(|n| (format!("r{n}"), self.state.r[n])).collect();
        registers.push(("sp".into(), self.state.r[13]));
        registers.push(("lr".into(), self.state.r[14]));
        registers.push(("pc".into(), self.state.pc));
        registers.push(("xpsr".into(), self.state.xpsr()));
        registers
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        match name {
            "sp" | "r13" => self.state.r[13] = value & !3,
            "lr" | "r14" => self.state.r[14] = value,
            "pc" | "r15" => self.set_pc(value),
            "xpsr" => self.state.set_xpsr(value),
            _ => {
                let number = name.strip_prefix('r').and_then(|number| number.parse::<usize>().ok());
                let Some(number) = number.filter(|number| *number < 13) else { return false };
                self.state.r[number] = value;
            }
        }
        true
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        self.memory.peek(address, bytes)
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

    fn board(&self) -> Option<&Board> {
        Some(&self.bus.board)
    }

    fn board_mut(&mut self) -> Option<&mut Board> {
        Some(&mut self.bus.board)
    }

    fn snapshot(&self) -> Box<dyn Machine> {
        Box::new(Cpu {
            part: self.part.clone(),
            architecture: self.architecture,
            bit_band: self.bit_band,
            state: self.state.clone(),
            memory: self.memory.clone(),
            code: self.code.fresh(),
            timing: self.timing.clone(),
            system: self.system.clone(),
            bus: self.bus.clone(),
            strict: self.strict,
            due: self.due,
            limit: self.limit,
            extra: self.extra,
            fault: self.fault.clone(),
            reset_fault: self.reset_fault.clone(),
            return_flow: self.return_flow,
            calls: self.calls.clone(),
        })
    }
}

impl<T: Timing> Cpu<T> {
    /// The core and what is private to it as after a reset of this cause; it starts from the vector table.
    fn begin(&mut self, cause: ResetCause) {
        self.timing.reset();
        self.timing.set_reset_cause(cause);
        self.system.reset();
        self.fault = None;
        self.calls.clear();
        self.alignment_changed();
        let mut words = [0; 8];
        self.memory.peek(self.system.vtor, &mut words);
        let word = |at: usize| u32::from_le_bytes([words[at], words[at + 1], words[at + 2], words[at + 3]]);
        self.state.r[13] = word(0) & !3;
        self.state.r[14] = 0xffff_ffff;
        self.state.pc = word(4) & !1;
        self.reset_fault = (word(4) & 1 == 0)
            .then(|| self.architecture(self.state.pc, word(4), "the reset vector is not a Thumb address"));
    }

    /// A reset while the supply stays: memory is kept, the board goes on, and cycles count on.
    pub(super) fn reset_running(&mut self, cause: ResetCause) {
        let (cycles, instructions) = (self.state.cycles, self.state.instructions);
        self.bus.reset_by(cause, cycles, self.state.pc);
        self.state = State::new();
        self.state.cycles = cycles;
        self.state.instructions = instructions;
        self.begin(cause);
    }

    /// CCR.UNALIGN_TRP may have changed; ARMv6-M has no misaligned accesses at all.
    pub(super) fn alignment_changed(&mut self) {
        let strict = self.architecture == Architecture::V6M || self.system.unaligned_traps();
        self.strict = if strict { !0 } else { 0 };
    }
}
