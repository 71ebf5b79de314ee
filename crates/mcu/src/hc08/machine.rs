//! The machine around the core: running, stopping, sleep.

use super::decode::{Kind, Op};
use super::memory::Memory;
use super::program::Program;
use super::state::{I, ONES, Sleep, State};
use crate::observe::dynamic;
use crate::peripherals::{hc08_config, new_peripheral};
use crate::{Fault, Flow, Image, Machine, NoObserver, Observer, Part, PeripheralBus, Step, Stop, Until};

const RESET_VECTOR: u16 = 0xfffe;
/// The stack pointer after a reset.
const RESET_SP: u16 = 0x00ff;

/// Builds a machine of this family.
///
/// # Errors
/// The memory or the peripheral that no model exists for.
pub fn new_machine(part: &Part, clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    let mut devices = Vec::new();
    for spec in &part.peripherals {
        let mut device = new_peripheral(part, spec)?;
        device.set_clock(clock_hz);
        devices.push(device);
    }
    let config = part.peripherals.iter().find(|spec| spec.model == "hc08-config");
    let mut machine = Hc08 {
        part: part.clone(),
        state: State {
            a: 0,
            hx: 0,
            sp: 0,
            pc: 0,
            ccr: 0,
            cycles: 0,
            instructions: 0,
            horizon: 0,
            sleep: Sleep::Awake,
            flow: Flow::Start,
            config: config.map(|spec| spec.base as u16),
            memory: Memory::new(part)?,
            program: Program::new(),
            bus: PeripheralBus::new(devices)?,
        },
    };
    machine.reset();
    Ok(Box::new(machine))
}

struct Hc08 {
    part: Part,
    state: State,
}

impl Hc08 {
    fn run_with<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Result<Stop, Fault> {
        self.state.program.stop_at(&until.addresses);
        let stop = self.state.run(until.cycles.unwrap_or(u64::MAX), observer);
        self.state.program.stop_at(&[]);
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
            let pc = self.pc;
            let mut op = self.program.known(pc);
            if op.kind <= Kind::JumpToSelf {
                match self.program.find(pc, first, &self.memory)? {
                    Some(found) => op = found,
                    None => return Ok(Stop::Address(pc.into())),
                }
                if op.kind == Kind::JumpToSelf && self.bus.due == u64::MAX {
                    return Ok(Stop::Halted);
                }
            }
            first = false;
            if O::enabled() {
                let step = Step { pc: pc.into(), sp: self.sp.into(), cycles: self.cycles, flow: self.flow };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            self.step(observer, pc, op)?;
        }
    }

    #[inline(always)]
    fn step<O: Observer>(&mut self, observer: &mut O, pc: u16, op: Op) -> Result<(), Fault> {
        self.pc = pc.wrapping_add(op.length.into());
        if let Err(fault) = self.execute(observer, pc, op) {
            self.pc = pc;
            return Err(fault);
        }
        self.cycles += u64::from(op.cycles);
        self.instructions += 1;
        Ok(())
    }

    /// What may come between two instructions: the limit, peripherals' time, sleep. Sets the horizon up to which
    /// nothing of this can come again by itself.
    #[cold]
    #[inline(never)]
    fn boundary<O: Observer>(&mut self, limit: u64, observer: &mut O) -> Result<Option<Stop>, Fault> {
        loop {
            if self.cycles >= limit {
                return Ok(Some(Stop::Cycles));
            }
            if self.bus.due <= self.cycles {
                self.bus.tick(self.cycles, self.pc.into(), dynamic(observer));
            }
            if self.bus.requests >> hc08_config::RESET & 1 != 0 {
                let what = "the COP (COPD in CONFIG1 is clear) resets the part".into();
                return Err(Fault::Architecture { pc: self.pc.into(), address: RESET_VECTOR.into(), what });
            }
            match self.sleep {
                Sleep::Awake => {
                    self.horizon = limit.min(self.bus.due);
                    return Ok(None);
                }
                // The clocks run on, up to what they bring about.
                Sleep::Wait if self.bus.due != u64::MAX => {
                    self.cycles = self.bus.due.min(limit).max(self.cycles);
                }
                Sleep::Wait | Sleep::Stop => return Ok(Some(Stop::Halted)),
            }
        }
    }
}

impl Machine for Hc08 {
    fn part(&self) -> &Part {
        &self.part
    }

    fn load(&mut self, image: &Image) -> Result<(), Fault> {
        self.state.program.clear();
        self.state.memory.load(&self.part, image)
    }

    fn reset(&mut self) {
        let state = &mut self.state;
        state.memory.reset();
        state.program.clear();
        state.bus.reset();
        // CPU08RM, "CPU Registers": H is cleared; A, X and the flags but I are indeterminate.
        state.a = 0;
        state.hx = 0;
        state.sp = RESET_SP;
        state.ccr = ONES | I;
        state.pc = state.memory.word(RESET_VECTOR);
        state.sleep = Sleep::Awake;
        state.cycles = 0;
        state.instructions = 0;
    }

    fn run(&mut self, until: &Until) -> Result<Stop, Fault> {
        self.run_with(until, &mut NoObserver)
    }

    fn run_observed(&mut self, until: &Until, observer: &mut dyn Observer) -> Result<Stop, Fault> {
        self.run_with(until, &mut { observer })
    }

    fn cycles(&self) -> u64 {
        self.state.cycles
    }

    fn instructions(&self) -> u64 {
        self.state.instructions
    }

    fn pc(&self) -> u32 {
        self.state.pc.into()
    }

    fn set_pc(&mut self, pc: u32) {
        self.state.pc = pc as u16;
        self.state.sleep = Sleep::Awake;
    }

    fn sp(&self) -> u32 {
        self.state.sp.into()
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let state = &self.state;
        let registers: [(&str, u32); 6] = [
            ("a", state.a.into()),
            ("h", (state.hx >> 8).into()),
            ("x", (state.hx & 0xff).into()),
            ("sp", state.sp.into()),
            ("pc", state.pc.into()),
            ("ccr", state.ccr.into()),
        ];
        registers.map(|(name, value)| (name.to_string(), value)).to_vec()
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        let state = &mut self.state;
        match name {
            "a" => state.a = value as u8,
            "h" => state.hx = (value as u16) << 8 | state.hx & 0xff,
            "x" => state.hx = state.hx & 0xff00 | value as u16 & 0xff,
            "sp" => state.sp = value as u16,
            "pc" => self.set_pc(value),
            "ccr" => state.ccr = value as u8 | ONES,
            _ => return false,
        }
        true
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        self.state.memory.peek(address, bytes)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        let there = self.state.memory.poke(address, bytes);
        if there {
            for offset in 0..bytes.len() as u32 {
                self.state.program.changed((address + offset) as u16);
            }
        }
        there
    }

    fn snapshot(&self) -> Box<dyn Machine> {
        Box::new(Hc08 {
            part: self.part.clone(),
            state: State {
                memory: self.state.memory.clone(),
                program: Program::new(),
                bus: self.state.bus.clone(),
                ..self.state
            },
        })
    }
}
