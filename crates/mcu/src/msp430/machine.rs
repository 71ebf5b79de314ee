//! The machine around the core: running, stopping, interrupts, sleep.

use super::decode::{Kind, Op};
use super::memory::Memory;
use super::power::{self, Mode, Supply, Usage};
use super::program::{Next, Program};
use super::state::{ADDRESS_MASK, CPUOFF, GIE, PC, SCG0, SP, SR, State};
use super::timing;
use crate::observe::dynamic;
use crate::{
    Board, Fault, Flow, Image, Machine, NoObserver, Observer, Part, PeripheralBus, ResetCause, Residency,
    Step, Stop, SupplyLimits, Trace, Until, peripherals,
};

/// Where the interrupt vectors start; vector `n` stands at twice `n` further. The reset vector is the last.
const VECTORS: u32 = 0xff80;
const RESET_VECTOR: u32 = 0xfffe;
/// The number of the reset vector; a peripheral that requests it resets the part.
const RESET: u32 = 63;

/// Builds a machine of this family.
///
/// # Errors
/// The memory or the peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    // Peripherals count other clocks in cycles of this one.
    let clocked = Part { default_clock_hz: clock_hz, ..part.clone() };
    let devices = part
        .peripherals
        .iter()
        .map(|spec| peripherals::new_peripheral(&clocked, spec))
        .collect::<Result<Vec<_>, _>>()?;
    let mut machine = Msp430 {
        part: part.clone(),
        state: State {
            registers: [0; 16],
            cycles: 0,
            usage: Usage::default(),
            instructions: 0,
            horizon: 0,
            interrupt_shadow: false,
            flow: Flow::Start,
            memory: Memory::new(part)?,
            program: Program::new(),
            bus: PeripheralBus::new(devices)?,
            held_until: 0,
            torn: None,
            supply: Supply::default(),
        },
    };
    machine.state.bus.board = Board::new(clock_hz);
    machine.reset();
    Ok(Box::new(machine))
}

struct Msp430 {
    part: Part,
    state: State,
}

impl Msp430 {
    fn run_with<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Result<Stop, Fault> {
        self.state.program.mark(&until.addresses, true);
        self.state.bus.resume(self.state.cycles, self.state.registers[PC]);
        // The supply may be another one by now.
        self.state.bus.power_changed = true;
        let stop = self.state.run(until.cycles.unwrap_or(u64::MAX), observer);
        self.state.program.mark(&until.addresses, false);
        stop
    }
}

impl State {
    fn run<O: Observer>(&mut self, limit: u64, observer: &mut O) -> Result<Stop, Fault> {
        self.flow = Flow::Start;
        self.horizon = 0;
        let mut first = true;
        loop {
            if self.cycles >= self.horizon
                && let Some(stop) = self.boundary(limit, observer)?
            {
                return Ok(stop);
            }
            let pc = self.registers[PC];
            let op = match self.program.known(pc) {
                Some(op) => op,
                None => match self.program.find(pc, first, &self.memory)? {
                    Next::Op(op) => op,
                    Next::Stop => return Ok(Stop::Address(pc)),
                },
            };
            first = false;
            if op.kind == Kind::Jmp && op.source_value == pc && self.nothing_can_interrupt() {
                return Ok(Stop::Halted);
            }
            if O::enabled() {
                let step = Step { pc, sp: self.registers[SP], cycles: self.cycles, flow: self.flow };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            self.step(observer, pc, op)?;
        }
    }

    #[inline(always)]
    fn step<O: Observer>(&mut self, observer: &mut O, pc: u32, op: Op) -> Result<(), Fault> {
        self.registers[PC] = (pc + u32::from(op.length)) & ADDRESS_MASK;
        if let Err(fault) = self.execute(observer, pc, op) {
            self.registers[PC] = pc;
            return Err(fault);
        }
        self.cycles += u64::from(op.cycles);
        self.instructions += 1;
        Ok(())
    }

    /// What may come between two instructions: the limit, peripherals' time, interrupts, sleep. Sets the horizon up
    /// to which nothing of this can come again by itself.
    #[cold]
    #[inline(never)]
    fn boundary<O: Observer>(&mut self, limit: u64, observer: &mut O) -> Result<Option<Stop>, Fault> {
        if std::mem::take(&mut self.bus.power_changed) {
            self.usage.ran(self.cycles, self.bus.power.core_level);
            if let Some(stop) = self.look_at_supply()? {
                return Ok(Some(stop));
            }
        }
        loop {
            if self.cycles >= limit {
                return Ok(Some(Stop::Cycles));
            }
            if self.bus.due <= self.cycles {
                self.bus.tick(self.cycles, self.registers[PC], dynamic(observer));
            }
            if self.bus.requests >> RESET & 1 != 0 {
                let requested = self.bus.events.take_request();
                self.reset_running(if requested { ResetCause::Software } else { ResetCause::Watchdog });
            }
            if self.cycles < self.held_until {
                // The flash is busy; peripherals go on.
                let next = self.bus.due.max(self.cycles + 1);
                self.cycles = next.min(self.held_until).min(limit);
                continue;
            }
            if std::mem::take(&mut self.interrupt_shadow) {
                // The instruction after the one that enabled interrupts always executes (SLAU208, section
                // "Interrupt Acceptance"); then look again.
                self.horizon = 0;
                return Ok(None);
            }
            if self.registers[SR] & GIE != 0 && self.bus.requests != 0 {
                self.interrupt(observer)?;
                continue;
            }
            if self.registers[SR] & CPUOFF == 0 {
                self.horizon = limit.min(self.bus.due);
                return Ok(None);
            }
            // Asleep: time passes up to what may wake the core.
            if self.nothing_can_interrupt() {
                return Ok(Some(Stop::Halted));
            }
            let mode = self.sleep_mode()?;
            let awake = self.bus.due.min(limit).max(self.cycles);
            if awake == u64::MAX {
                // Attended, but this run has no limit at which somebody could act.
                return Ok(Some(Stop::Halted));
            }
            self.usage.slept(mode.name, self.cycles, awake);
            self.cycles = awake;
        }
    }

    /// Whether the supply lets the part run.
    fn look_at_supply(&mut self) -> Result<Option<Stop>, Fault> {
        let (power, supply_v) = (self.bus.power, self.bus.board.supply_v);
        if !self.supply.suffices(&power, supply_v) {
            return Ok(Some(Stop::PowerLost));
        }
        if supply_v < power.allowed_v {
            let what = format!(
                "the supply of {supply_v} V is below the {} V that the data sheet asks for at core voltage level {} and \
                 this clock, and no supervisor for that level is on",
                power.allowed_v, power.core_level
            );
            return Err(Fault::Architecture { pc: self.registers[PC], address: self.registers[PC], what });
        }
        Ok(None)
    }

    /// The low-power mode that the core is in, if it is one of which the current is known.
    fn sleep_mode(&self) -> Result<&'static Mode, Fault> {
        let (pc, status) = (self.registers[PC], self.registers[SR]);
        let fault = |what: String| Err(Fault::Architecture { pc, address: status, what });
        let Some(mode) = power::mode(status) else {
            return fault("OSCOFF without SCG0 and SCG1 is no low-power mode of SLAU208's table".into());
        };
        for clock in mode.stops {
            if let Some(name) = self.bus.clock_needed(clock) {
                return fault(format!(
                    "{name} counts {clock} and keeps it running in {}, whose current is then not the data sheet's: \
                     stop it, give it a clock that this mode keeps, or sleep less deeply",
                    mode.name
                ));
            }
        }
        Ok(mode)
    }

    /// No interrupt is possible any more: disabled, or none requested, no peripheral waiting for its time and nobody
    /// outside who might do something.
    fn nothing_can_interrupt(&self) -> bool {
        let nothing_comes = self.bus.requests == 0 && self.bus.due == u64::MAX && !self.bus.board.attended;
        self.registers[SR] & GIE == 0 || nothing_comes
    }

    /// A reset while the supply stays: memory is kept, the board goes on, and cycles count on. What the part needs to begin is
    /// left out.
    fn reset_running(&mut self, cause: ResetCause) {
        self.usage.ran(self.cycles, self.bus.power.core_level);
        self.tear_flash();
        self.bus.reset_by(cause, self.cycles, self.registers[PC]);
        self.begin();
    }

    /// The core as after a reset.
    fn begin(&mut self) {
        self.registers = [0; 16];
        self.registers[PC] = self.memory.word(RESET_VECTOR) & !1;
        self.interrupt_shadow = false;
        self.flow = Flow::Start;
    }

    /// Takes the request with the highest priority (SLAU208, section "Interrupt Acceptance").
    fn interrupt<O: Observer>(&mut self, observer: &mut O) -> Result<(), Fault> {
        if self.registers[SR] & CPUOFF != 0 && self.sleep_mode()?.wakes_slowly {
            self.cycles += self.bus.power.wake_cycles;
        }
        let irq = (127 - self.bus.requests.leading_zeros()) as u8;
        let return_to = self.registers[PC];
        let status = self.registers[SR] | return_to >> 16 << 12;
        self.push_word(observer, return_to, return_to & 0xffff, timing::INTERRUPT - 3)?;
        self.push_word(observer, return_to, status, timing::INTERRUPT - 2)?;
        self.registers[SR] &= SCG0;
        self.registers[PC] = self.memory.word(VECTORS + 2 * u32::from(irq)) & !1;
        self.cycles += u64::from(timing::INTERRUPT);
        self.bus.taken(irq);
        self.bus.tick(self.cycles, self.registers[PC], dynamic(observer));
        self.flow = Flow::Interrupt { return_to };
        Ok(())
    }
}

impl Machine for Msp430 {
    fn part(&self) -> &Part {
        &self.part
    }

    fn load(&mut self, image: &Image) -> Result<(), Fault> {
        self.state.program.clear();
        self.state.memory.load(&self.part, image)
    }

    fn reset(&mut self) {
        let state = &mut self.state;
        state.tear_flash();
        state.memory.reset();
        state.program.clear();
        state.bus.reset();
        state.begin();
        state.cycles = 0;
        state.supply.reset();
        state.usage = Usage::default();
        state.instructions = 0;
    }

    fn reset_by(&mut self, cause: ResetCause) {
        if cause == ResetCause::PowerOn {
            self.reset();
        } else {
            self.state.reset_running(cause);
        }
    }

    fn run(&mut self, until: &Until) -> Result<Stop, Fault> {
        self.run_with(until, &mut NoObserver)
    }

    fn run_observed(&mut self, until: &Until, observer: &mut dyn Observer) -> Result<Stop, Fault> {
        self.run_with(until, &mut { observer })
    }

    fn run_traced(&mut self, until: &Until, trace: &mut Trace) -> Result<Stop, Fault> {
        self.run_with(until, trace)
    }

    fn cycles(&self) -> u64 {
        self.state.cycles
    }

    fn residency(&self) -> Residency {
        self.state.usage.residency(self.state.cycles)
    }

    fn supply_limits(&self) -> Option<SupplyLimits> {
        let (falling_v, rising_v) = self.state.supply.limits(&self.state.bus.power);
        Some(SupplyLimits { falling_v, rising_v })
    }

    fn instructions(&self) -> u64 {
        self.state.instructions
    }

    fn pc(&self) -> u32 {
        self.state.registers[PC]
    }

    fn set_pc(&mut self, pc: u32) {
        self.state.set_register(PC, pc);
    }

    fn sp(&self) -> u32 {
        self.state.registers[SP]
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let name = |register| match register {
            PC => "pc".to_string(),
            SP => "sp".to_string(),
            SR => "sr".to_string(),
            number => format!("r{number}"),
        };
        // R3 is the constant generator: it holds nothing.
        self.state
            .registers
            .iter()
            .enumerate()
            .filter(|(register, _)| *register != 3)
            .map(|(register, value)| (name(register), *value))
            .collect()
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        let register = match name {
            "pc" => Some(PC),
            "sp" => Some(SP),
            "sr" => Some(SR),
            _ => {
                name.strip_prefix('r').and_then(|number| number.parse().ok()).filter(|n| (4..16).contains(n))
            }
        };
        if let Some(register) = register {
            self.state.set_register(register, value & ADDRESS_MASK);
            self.state.interrupt_shadow = false;
        }
        register.is_some()
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        self.state.memory.peek(address, bytes)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        let there = self.state.memory.poke(address, bytes);
        if there {
            for offset in 0..bytes.len() as u32 {
                self.state.program.changed(address + offset);
            }
        }
        there
    }

    fn board(&self) -> Option<&Board> {
        Some(&self.state.bus.board)
    }

    fn board_mut(&mut self) -> Option<&mut Board> {
        Some(&mut self.state.bus.board)
    }

    fn snapshot(&self) -> Box<dyn Machine> {
        Box::new(Msp430 {
            part: self.part.clone(),
            state: State {
                memory: self.state.memory.clone(),
                program: Program::new(),
                bus: self.state.bus.clone(),
                usage: self.state.usage.clone(),
                torn: self.state.torn.clone(),
                ..self.state
            },
        })
    }
}
