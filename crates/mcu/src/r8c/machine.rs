//! The machine around the core: running and stopping.

use super::memory::{Memory, Page};
use super::operation::Kind;
use super::program::{Next, Program};
use super::state::{ADDRESS_MASK, B, D, State};
use crate::observe::dynamic;
use crate::{
    Fault, Flow, Image, Machine, NoObserver, Observer, Part, PeripheralBus, Step, Stop, Until, peripherals,
};

const RESET_VECTOR: u32 = 0xfffc;
/// The option function select register, in flash.
const OPTION_BYTE: u32 = 0xffff;
/// Its bit that keeps the watchdog stopped after reset.
const WDTON: u32 = 0x01;

/// Builds a machine of this family. Nothing depends on the clock: neither memories nor peripherals know of time.
///
/// # Errors
/// The memory or the peripheral that no model exists for.
pub fn new_machine(part: &Part, _clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    let devices = part
        .peripherals
        .iter()
        .map(|spec| peripherals::new_peripheral(part, spec))
        .collect::<Result<Vec<_>, _>>()?;
    let mut machine = R8c {
        part: part.clone(),
        state: State {
            registers: [0; 8],
            other: [0; 7],
            usp: 0,
            isp: 0,
            flg: 0,
            intb: 0,
            pc: 0,
            cycles: 0,
            instructions: 0,
            horizon: 0,
            flow: Flow::Start,
            memory: Memory::new(part)?,
            program: Program::new(),
            bus: PeripheralBus::new(devices)?,
        },
    };
    machine.reset();
    Ok(Box::new(machine))
}

struct R8c {
    part: Part,
    state: State,
}

impl R8c {
    fn run_with<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Result<Stop, Fault> {
        self.state.program.mark(&until.addresses, true);
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
            let pc = self.pc;
            let op = match self.program.known(pc) {
                Some(op) => op,
                None => match self.program.find(pc, first, &self.memory)? {
                    Next::Op(op) => op,
                    Next::Stop => return Ok(Stop::Address(pc)),
                },
            };
            first = false;
            // Nothing here requests an interrupt that could end a loop or a sleep.
            if op.kind == Kind::Jmp && op.source.value == pc || op.kind == Kind::Wait {
                return Ok(Stop::Halted);
            }
            if O::enabled() {
                let step = Step { pc, sp: self.sp().into(), cycles: self.cycles, flow: self.flow };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            self.step(observer, pc, op)?;
        }
    }

    /// What may come between two instructions: the limit, peripherals' time, a flag that is not modelled. Sets the
    /// horizon up to which nothing of this can come again by itself.
    #[cold]
    #[inline(never)]
    fn boundary<O: Observer>(&mut self, limit: u64, observer: &mut O) -> Result<Option<Stop>, Fault> {
        if self.cycles >= limit {
            return Ok(Some(Stop::Cycles));
        }
        if self.flg & D != 0 {
            let what = "flag D is set: a single-step interrupt comes here, which is not modelled".into();
            return Err(Fault::Architecture { pc: self.pc, address: self.flg.into(), what });
        }
        if self.bus.due <= self.cycles {
            self.bus.tick(self.cycles, self.pc, dynamic(observer));
        }
        self.horizon = limit.min(self.bus.due);
        Ok(None)
    }
}

/// The registers of a bank, in the order of [`State::registers`] and [`State::other`].
const BANKED: [&str; 7] = ["r0", "r1", "r2", "r3", "a0", "a1", "fb"];

impl Machine for R8c {
    fn part(&self) -> &Part {
        &self.part
    }

    fn load(&mut self, image: &Image) -> Result<(), Fault> {
        let memory = &mut self.state.memory;
        self.state.program.clear();
        memory.load(&self.part, image)?;
        if memory.page(OPTION_BYTE) == Page::Flash && memory.byte(OPTION_BYTE) & WDTON == 0 {
            let what = "WDTON is 0: the watchdog runs after reset, which is not modelled".into();
            return Err(Fault::Peripheral { pc: 0, address: OPTION_BYTE, device: "OFS".into(), what });
        }
        Ok(())
    }

    fn reset(&mut self) {
        let state = &mut self.state;
        state.memory.reset();
        state.program.clear();
        state.bus.reset();
        state.registers = [0; 8];
        state.other = [0; 7];
        (state.usp, state.isp, state.flg, state.intb) = (0, 0, 0, 0);
        state.pc = state.memory.vector(RESET_VECTOR);
        (state.cycles, state.instructions) = (0, 0);
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
        self.state.pc
    }

    fn set_pc(&mut self, pc: u32) {
        self.state.pc = pc & ADDRESS_MASK;
    }

    fn sp(&self) -> u32 {
        self.state.sp().into()
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let state = &self.state;
        let mut all: Vec<(String, u32)> = BANKED
            .iter()
            .zip(state.registers)
            .map(|(name, value)| (name.to_string(), value.into()))
            .collect();
        all.push(("sb".into(), state.registers[7].into()));
        for (name, value) in [("usp", state.usp), ("isp", state.isp), ("flg", state.flg)] {
            all.push((name.into(), value.into()));
        }
        all.push(("intb".into(), state.intb));
        all.push(("pc".into(), state.pc));
        let other = if state.flg & B != 0 { "bank0" } else { "bank1" };
        all.extend(
            BANKED.iter().zip(state.other).map(|(name, value)| (format!("{other}.{name}"), value.into())),
        );
        all
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        let state = &mut self.state;
        let selected = if state.flg & B != 0 { "bank1" } else { "bank0" };
        let (bank, banked) = name.split_once('.').unwrap_or((selected, name));
        if let Some(register) = BANKED.iter().position(|known| *known == banked) {
            match bank {
                "bank0" | "bank1" if bank == selected => state.registers[register] = value as u16,
                "bank0" | "bank1" => state.other[register] = value as u16,
                _ => return false,
            }
            return true;
        }
        match name {
            "sb" => state.registers[7] = value as u16,
            "usp" => state.usp = value as u16,
            "isp" => state.isp = value as u16,
            "sp" => state.set_sp(value as u16),
            "flg" => state.set_flg(value as u16),
            "intb" => state.intb = value & ADDRESS_MASK,
            "pc" => state.pc = value & ADDRESS_MASK,
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
                self.state.program.changed(address + offset);
            }
        }
        there
    }

    fn snapshot(&self) -> Box<dyn Machine> {
        Box::new(R8c {
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
