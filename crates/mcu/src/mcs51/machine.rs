//! The machine around the core: running and stopping.

use super::memory::{INTERNAL, Memory, SPECIAL, TRAP, Trapped};
use super::state::{P, State};
use super::timing::{BYTES, CYCLES};
use crate::{
    Fault, Flow, Image, Machine, NoObserver, Observer, Part, PeripheralBus, Step, Stop, Until, peripherals,
};

/// Builds a machine of this family. Nothing depends on the clock: neither memories nor peripherals know of time.
///
/// # Errors
/// The memory or the peripheral that this family cannot have.
pub fn new_machine(part: &Part, _clock_hz: u64) -> Result<Box<dyn Machine>, String> {
    let devices = part
        .peripherals
        .iter()
        .map(|spec| {
            if !spec.model.starts_with("mcs51-") {
                return Err(format!(
                    "{}: {}: {} is no model for an MCS-51",
                    part.name, spec.name, spec.model
                ));
            }
            peripherals::new_peripheral(part, spec)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let mut machine = Mcs51 {
        part: part.clone(),
        state: State {
            a: 0,
            b: 0,
            psw: 0,
            sp: 0,
            dptr: 0,
            pc: 0,
            cycles: 0,
            instructions: 0,
            flow: Flow::Start,
            memory: Memory::new(part)?,
            bus: PeripheralBus::new(devices)?,
        },
    };
    machine.reset();
    Ok(Box::new(machine))
}

#[derive(Clone)]
struct Mcs51 {
    part: Part,
    state: State,
}

impl Mcs51 {
    fn run_with<O: Observer>(&mut self, until: &Until, observer: &mut O) -> Result<Stop, Fault> {
        self.state.memory.mark(&until.addresses);
        let stop = self.state.run(until.cycles.unwrap_or(u64::MAX), observer);
        self.state.memory.mark(&[]);
        stop
    }
}

impl State {
    fn run<O: Observer>(&mut self, limit: u64, observer: &mut O) -> Result<Stop, Fault> {
        self.flow = Flow::Start;
        let mut first = true;
        while self.cycles < limit {
            let pc = self.pc;
            let mut opcode = self.memory.planned(pc);
            if opcode == TRAP {
                match self.memory.trapped(pc, first)? {
                    Trapped::Stop => return Ok(Stop::Address(pc.into())),
                    Trapped::Halt => return Ok(Stop::Halted),
                    Trapped::Opcode(there) => opcode = there,
                }
            }
            first = false;
            if O::enabled() {
                let step = Step {
                    pc: pc.into(),
                    sp: INTERNAL + u32::from(self.sp),
                    cycles: self.cycles,
                    flow: self.flow,
                };
                observer.step(&step);
                self.flow = Flow::Next;
            }
            self.pc = pc.wrapping_add(BYTES[usize::from(opcode)].into());
            if let Err(fault) = self.execute(observer, pc, opcode) {
                self.pc = pc;
                return Err(fault);
            }
            self.cycles += u64::from(CYCLES[usize::from(opcode)]);
            self.instructions += 1;
        }
        Ok(Stop::Cycles)
    }
}

impl Machine for Mcs51 {
    fn part(&self) -> &Part {
        &self.part
    }

    fn load(&mut self, image: &Image) -> Result<(), Fault> {
        self.state.memory.load(&self.part, image)
    }

    /// Registers as in table "Reset Values of the SFRs".
    fn reset(&mut self) {
        let state = &mut self.state;
        state.memory.reset();
        state.bus.reset();
        (state.a, state.b, state.psw, state.sp, state.dptr, state.pc) = (0, 0, 0, 7, 0, 0);
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
        self.state.pc.into()
    }

    fn set_pc(&mut self, pc: u32) {
        self.state.pc = pc as u16;
    }

    fn sp(&self) -> u32 {
        INTERNAL + u32::from(self.state.sp)
    }

    fn registers(&self) -> Vec<(String, u32)> {
        let state = &self.state;
        let mut registers: Vec<(String, u32)> = [
            ("a", u32::from(state.a)),
            ("b", state.b.into()),
            ("dptr", state.dptr.into()),
            ("psw", state.psw().into()),
            ("sp", state.sp.into()),
        ]
        .map(|(name, value)| (name.to_string(), value))
        .to_vec();
        registers.extend((0..8).map(|number| (format!("r{number}"), state.register(number).into())));
        registers.push(("pc".to_string(), state.pc.into()));
        registers
    }

    fn set_register(&mut self, name: &str, value: u32) -> bool {
        let state = &mut self.state;
        match name {
            "a" => state.a = value as u8,
            "b" => state.b = value as u8,
            "dptr" => state.dptr = value as u16,
            "psw" => state.psw = value as u8 & !P,
            "sp" => state.sp = value as u8,
            "pc" => state.pc = value as u16,
            _ => {
                let number = name.strip_prefix('r').and_then(|number| number.parse().ok());
                let Some(number) = number.filter(|number| *number < 8) else { return false };
                state.set_register(number, value as u8);
            }
        }
        true
    }

    fn peek(&self, address: u32, bytes: &mut [u8]) -> bool {
        if address >= SPECIAL {
            return self.state.peek_special(address - SPECIAL, bytes);
        }
        self.state.memory.peek(address, bytes)
    }

    fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        if address >= SPECIAL {
            return self.state.poke_special(address - SPECIAL, bytes);
        }
        self.state.memory.poke(address, bytes)
    }

    fn snapshot(&self) -> Box<dyn Machine> {
        Box::new(self.clone())
    }
}
