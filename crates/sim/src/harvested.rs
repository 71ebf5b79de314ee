//! The node of `device/node`: its firmware on the microcontroller's model, the CC2500's model beside it, and what both
//! draw.

use crate::node::{Advance, Counts, Draw, Node, Packet, SECOND_NS, State, Voltages};
use energy::radio::Radio;
use firmware::Firmware;
use lab::LabError;
use lab::target::Target;
use mcu::chips::cc2500::{Cc2500, Frame};
use mcu::{CoreName, Mcu, Pin, Residency, Stop, Until, Wiring, new_machine};
use std::collections::VecDeque;
use wire::node::{CONFIG_SYMBOL, Config, STATUS_SYMBOL, Status};

/// The radio that the firmware drives.
pub const RADIO: &str = "cc2500";
/// Its name on the board.
const CHIP: &str = "CC2500";
/// The converter's channel that the stored voltage is on, and what it is divided by: `device/ports/msp430/drivers/board.c`.
const STORED_CHANNEL: u8 = 0;
const STORED_DIVIDER: f64 = 4.0;
/// For how long ahead the chip is told of packets.
const TELLING_NS: u64 = 20_000_000;
/// Where the interrupt vectors stand (SLAU208, "Interrupt Vectors"); the last one is the reset's.
const VECTORS: std::ops::Range<u32> = 0xff80..0xfffe;

/// What a node is made of.
#[derive(Clone, Copy)]
pub struct Hardware<'a> {
    /// The microcontroller.
    pub target: &'a Target,
    /// Its core clock, in Hz.
    pub clock_hz: u64,
    /// The radio.
    pub radio: &'a Radio,
}

/// The node of `device/node`.
pub struct Harvested<'a> {
    hardware: Hardware<'a>,
    firmware: &'a Firmware,
    machine: Box<dyn Mcu>,
    status: u32,
    /// First instructions of the interrupts: where a sleeping processor wakes up.
    wakes: Vec<u32>,
    states: Vec<State>,
    /// The radio's currents, by its states; behind those of the processor in `states`.
    radio_a: Vec<f64>,
    cpu_states: usize,
    /// When the machine's cycle 0 was, in nanoseconds of the simulation.
    started_ns: u64,
    residency: Residency,
    radio_ns: Vec<u64>,
    asleep: bool,
    /// Packets on the air that the chip has not been told of yet.
    coming: VecDeque<Packet>,
    /// The active current at the last supply that it was asked for.
    active: (f64, f64),
}

impl<'a> Harvested<'a> {
    /// A node with its firmware written and configured, without power.
    ///
    /// # Errors
    /// Firmware without the node's symbols, a target without a board, or a radio's file without a state of the chip's.
    pub fn new(
        hardware: Hardware<'a>,
        firmware: &'a Firmware,
        config: &Config,
    ) -> Result<Harvested<'a>, LabError> {
        let target = hardware.target;
        let name = target.name().to_owned();
        let wrong = |problem: String| LabError::Protocol { what: format!("{name} node"), problem };
        if target.part.core != CoreName::Msp430x {
            return Err(LabError::Usage(format!(
                "node.target is {name}, but the node's drivers are for msp430f5438a"
            )));
        }
        let mut machine = new_machine(&target.part, hardware.clock_hz).map_err(wrong)?;
        machine.load(firmware.image()).map_err(|fault| place(target, firmware, fault))?;
        let symbol = firmware.symbol(CONFIG_SYMBOL)?;
        if !machine.poke(symbol.address, &config.to_bytes()) {
            return Err(wrong(format!("{CONFIG_SYMBOL} at {:#x} is in no memory", symbol.address)));
        }
        let wiring = Wiring {
            spi: "UCB0".into(),
            select: Pin::new("P3", 0),
            outputs: vec![(0, Pin::new("P1", 3)), (1, Pin::new("P3", 2)), (2, Pin::new("P1", 5))],
        };
        let board = machine.board_mut();
        board.externally_wakeable = true;
        board.mount(Box::new(Cc2500::new()), wiring);

        let mut wakes: Vec<u32> = VECTORS
            .step_by(2)
            .filter_map(|vector| {
                let mut bytes = [0; 2];
                machine.peek(vector, &mut bytes).then(|| u32::from(u16::from_le_bytes(bytes)))
            })
            .filter(|&address| address != 0xffff)
            .collect();
        wakes.sort_unstable();
        wakes.dedup();

        let cpu = ["active"].into_iter().chain(SLEEPS);
        let mut states: Vec<State> = cpu.map(|name| State { part: "cpu", name: name.into() }).collect();
        let cpu_states = states.len();
        let mut radio_a = Vec::new();
        for &name in Cc2500::STATES {
            radio_a.push(hardware.radio.state_a(name).map_err(|error| wrong(error.to_string()))?);
            states.push(State { part: "radio", name: name.into() });
        }
        Ok(Harvested {
            hardware,
            firmware,
            status: firmware.symbol(STATUS_SYMBOL)?.address,
            radio_ns: vec![0; radio_a.len()],
            machine,
            wakes,
            states,
            radio_a,
            cpu_states,
            started_ns: 0,
            residency: Residency::default(),
            asleep: false,
            coming: VecDeque::new(),
            active: (0.0, 0.0),
        })
    }

    fn fault(&self, fault: mcu::Fault) -> LabError {
        place(self.hardware.target, self.firmware, fault)
    }

    fn protocol(&self, problem: String) -> LabError {
        LabError::Protocol { what: format!("{} node", self.hardware.target.name()), problem }
    }

    fn seconds(&self, cycles: u64) -> f64 {
        cycles as f64 / self.hardware.clock_hz as f64
    }

    fn chip(&mut self) -> Result<&mut Cc2500, LabError> {
        let missing = "the CC2500 is not on its board";
        let chip = self.machine.board_mut().chip_mut(CHIP).and_then(|chip| chip.downcast_mut());
        chip.ok_or_else(|| LabError::Protocol { what: "node".into(), problem: missing.into() })
    }

    fn see(&mut self, voltages: Voltages) {
        let board = self.machine.board_mut();
        board.supply_v = voltages.rail_v;
        board.set_analog(STORED_CHANNEL, voltages.stored_v / STORED_DIVIDER);
    }

    /// The active current at a supply, in amperes; below what the data sheet allows at this clock, that of its lowest.
    fn active_a(&mut self, rail_v: f64) -> Result<f64, LabError> {
        let (at_v, current_a) = self.active;
        if at_v == rail_v {
            return Ok(current_a);
        }
        let (supply, clock_hz) = (&self.hardware.target.supply, self.hardware.clock_hz as f64);
        let lowest_v = supply.needed_v(clock_hz).unwrap_or(supply.min_v());
        let current_a = supply
            .current_a(clock_hz, rail_v.clamp(lowest_v, supply.max_v))
            .map_err(|error| LabError::Supply { target: self.hardware.target.name().into(), error })?;
        self.active = (rail_v, current_a);
        Ok(current_a)
    }

    /// The current of a sleep mode, in amperes.
    fn asleep_a(&self, mode: &str, level: u8) -> Result<f64, LabError> {
        let supply = &self.hardware.target.supply;
        let of = |name: &str| supply.sleep(name).map(|mode| mode.current_at_level(usize::from(level)));
        // The firmware's ACLK is REFO and not the crystal that the data sheet's LPM3 is for: LPM4's current and REFO's.
        let current_a = match mode {
            "LPM3" => of("LPM4").zip(supply.module("REFO")).map(|(sleep_a, refo)| sleep_a + refo.current_a),
            _ => of(mode),
        };
        current_a.ok_or_else(|| {
            self.protocol(format!("it sleeps in {mode}, for which its target file has no current"))
        })
    }

    fn cpu_draws(&mut self, rail_v: f64, draws: &mut Vec<Draw>) -> Result<u64, LabError> {
        let residency = self.machine.residency();
        let spent = residency.since(&self.residency);
        self.residency = residency;
        let active_cycles = spent.active_cycles();
        if active_cycles > 0 {
            let time_s = self.seconds(active_cycles);
            draws.push(Draw { state: 0, time_s, charge_c: self.active_a(rail_v)? * time_s });
        }
        for line in &spent.asleep {
            let time_s = self.seconds(line.cycles);
            let state = self.states[..self.cpu_states].iter().position(|state| state.name == line.mode);
            let state = state
                .ok_or_else(|| self.protocol(format!("{} is no sleep mode that is known", line.mode)))?;
            draws.push(Draw { state, time_s, charge_c: self.asleep_a(line.mode, line.level)? * time_s });
        }
        Ok(active_cycles)
    }

    fn radio_draws(&mut self, draws: &mut Vec<Draw>) -> Result<(), LabError> {
        let now_ns = self.since_start_ns();
        let spent = self.chip()?.spent_ns(now_ns);
        for (index, (&ns, before)) in spent.iter().zip(&mut self.radio_ns).enumerate() {
            let time_s = (ns - std::mem::replace(before, ns)) as f64 / SECOND_NS as f64;
            if time_s > 0.0 {
                let charge_c = self.radio_a[index] * time_s;
                draws.push(Draw { state: self.cpu_states + index, time_s, charge_c });
            }
        }
        Ok(())
    }

    /// Tells the chip of the packets that begin before `limit_ns`, or before an earlier time that is returned: it looks
    /// at all that it knows of at each of its steps, so it knows of few at once.
    fn tell(&mut self, limit_ns: u64) -> Result<u64, LabError> {
        if self.coming.is_empty() {
            return Ok(limit_ns);
        }
        let limit_ns = limit_ns.min(self.started_ns + self.since_start_ns() + TELLING_NS);
        while self.coming.front().is_some_and(|packet| packet.start_ns < limit_ns) {
            let Some(packet) = self.coming.pop_front() else { break };
            let start_ns = packet.start_ns.saturating_sub(self.started_ns);
            let end_ns = packet.end_ns.saturating_sub(self.started_ns);
            self.chip()?.hear(Frame { start_ns, end_ns, bytes: packet.bytes });
        }
        Ok(limit_ns)
    }

    fn since_start_ns(&self) -> u64 {
        self.machine.board().time_ns(self.machine.cycles())
    }
}

/// The low-power modes: SLAU208, "Operating Modes".
const SLEEPS: [&str; 5] = ["LPM0", "LPM1", "LPM2", "LPM3", "LPM4"];

fn place(target: &Target, firmware: &Firmware, fault: mcu::Fault) -> LabError {
    let place = fault.pc().map_or_else(String::new, |pc| firmware.place(pc));
    LabError::Fault { target: target.name().into(), fault, place }
}

impl Node for Harvested<'_> {
    fn states(&self) -> &[State] {
        &self.states
    }

    fn power_up(&mut self, now_ns: u64, voltages: Voltages) -> Result<(), LabError> {
        self.see(voltages);
        self.machine.reset();
        self.started_ns = now_ns;
        self.residency = self.machine.residency();
        self.radio_ns.fill(0);
        self.asleep = false;
        self.coming.clear();
        Ok(())
    }

    fn power_down(&mut self) {
        self.see(Voltages { rail_v: 0.0, stored_v: 0.0 });
        // It stops at once, and what was under way in the flash is cut short.
        let _ = self.machine.run(&Until::default());
    }

    fn advance(&mut self, limit_ns: u64, voltages: Voltages) -> Result<Advance, LabError> {
        self.see(voltages);
        let limit_ns = self.tell(limit_ns)?;
        let since_ns = limit_ns.saturating_sub(self.started_ns);
        let cycles = Some(self.machine.board().cycle_at(since_ns));
        let addresses = if self.asleep { self.wakes.clone() } else { Vec::new() };
        let stop = self.machine.run(&Until { cycles, addresses }).map_err(|fault| self.fault(fault))?;
        let mut draws = Vec::new();
        let active_cycles = self.cpu_draws(voltages.rail_v, &mut draws)?;
        self.radio_draws(&mut draws)?;
        self.asleep = active_cycles == 0 && stop == Stop::Cycles;
        if !matches!(stop, Stop::Cycles | Stop::Address(_) | Stop::PowerLost) {
            return Err(self.protocol(format!("its firmware stopped: {stop:?}")));
        }
        let now_ns = self.started_ns + self.since_start_ns();
        Ok(Advance { now_ns, draws, asleep: self.asleep, power_lost: stop == Stop::PowerLost })
    }

    fn sent(&mut self) -> Vec<Packet> {
        let started_ns = self.started_ns;
        let Ok(chip) = self.chip() else { return Vec::new() };
        let frames = chip.take_sent();
        let packet = |frame: Frame| Packet {
            start_ns: started_ns + frame.start_ns,
            end_ns: started_ns + frame.end_ns,
            bytes: frame.bytes,
        };
        frames.into_iter().map(packet).collect()
    }

    fn hear(&mut self, packet: &Packet) {
        self.coming.push_back(packet.clone());
    }

    fn counts(&self) -> Result<Counts, LabError> {
        let mut bytes = [0; Status::BYTES];
        let there = self.machine.peek(self.status, &mut bytes);
        let status = Status::from_bytes(&bytes).filter(|_| there);
        let status = status.ok_or_else(|| self.protocol(format!("{STATUS_SYMBOL} makes no sense")))?;
        Ok(Counts {
            wakes: status.wakes.into(),
            closed: status.closed.into(),
            signed: status.signatures.into(),
            sent: status.sent.into(),
            refused: status.refused.into(),
        })
    }
}
