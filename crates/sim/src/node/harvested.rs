//! The node of `device/node` on a board's models: processor and CC2500, and what both draw.

use super::emulated::{BoardFirmware, EmulatedBoard, radio_states};
use super::{Advance, Node, SignerCounts};
use crate::radio::{Arrival, Emission, ReceiveMode};
use crate::supply::{Draw, State, Voltages};
use crate::time::SECOND_NS;
use energy::radio::Radio;
use lab::LabError;
use lab::board::Quantity;
use mcu::{CoreName, Residency, Stop, Until};
use std::sync::Arc;
use wire::node::{CONFIG_SYMBOL, Config, STATUS_SYMBOL, Status};

/// Addresses of the interrupt vectors (SLAU208, "Interrupt Vectors"); the last one is the reset's.
const VECTORS: std::ops::Range<u32> = 0xff80..0xfffe;
/// The low-power modes: SLAU208, "Operating Modes".
const SLEEPS: [&str; 5] = ["LPM0", "LPM1", "LPM2", "LPM3", "LPM4"];

/// The node.
pub struct HarvestedNode {
    board: EmulatedBoard,
    address: u8,
    status: u32,
    /// The converter's channel that the stored voltage is on, and what it is divided by.
    stored: (u8, f64),
    /// First instructions of the interrupts: where a sleeping processor wakes up.
    wakes: Vec<u32>,
    states: Vec<State>,
    /// The radio's currents, by its states; behind those of the processor in `states`.
    radio_a: Vec<f64>,
    cpu_states: usize,
    residency: Residency,
    radio_ns: Vec<u64>,
    asleep: bool,
    rail_v: f64,
    /// The active current at the last supply that it was asked for.
    active: (f64, f64),
}

impl HarvestedNode {
    /// A node with its firmware written and configured, without power. radio: what the board's
    /// radio draws.
    ///
    /// # Errors
    /// Firmware without the node's symbols, a board without a stored voltage, or a radio's file
    /// without a state of the chip's.
    pub fn new(
        firmware: &Arc<BoardFirmware>,
        radio: &Radio,
        config: &Config,
    ) -> Result<HarvestedNode, LabError> {
        let wrong = |problem: String| firmware.protocol(problem);
        if firmware.target.part.core != CoreName::Msp430x {
            let problem = "the node's drivers are for the MSP430F5438A";
            return Err(wrong(problem.into()));
        }
        let stored = firmware.board.sensor(Quantity::StoredVoltage);
        let stored = stored.ok_or_else(|| wrong("it has no sensor for the stored voltage".into()))?;
        let mut board = EmulatedBoard::new(firmware, None)?;
        let address = firmware.address(CONFIG_SYMBOL)?;
        if !board.machine_mut().poke(address, &config.to_bytes()) {
            return Err(wrong(format!("{CONFIG_SYMBOL} at {address:#x} is in no memory")));
        }
        let mut wakes: Vec<u32> = VECTORS
            .step_by(2)
            .filter_map(|vector| {
                let mut bytes = [0; 2];
                board.machine().peek(vector, &mut bytes).then(|| u32::from(u16::from_le_bytes(bytes)))
            })
            .filter(|&address| address != 0xffff)
            .collect();
        wakes.sort_unstable();
        wakes.dedup();

        let cpu = ["active"].into_iter().chain(SLEEPS);
        let mut states: Vec<State> = cpu.map(|name| State { part: "cpu", name: name.into() }).collect();
        let cpu_states = states.len();
        let mut radio_a = Vec::new();
        for &name in radio_states(board.radio()) {
            radio_a.push(radio.state_a(name).map_err(|error| wrong(error.to_string()))?);
            states.push(State { part: "radio", name: name.into() });
        }
        Ok(HarvestedNode {
            address: config.node_address,
            status: firmware.address(STATUS_SYMBOL)?,
            stored: (stored.channel, f64::from(stored.divider)),
            radio_ns: vec![0; radio_a.len()],
            board,
            wakes,
            states,
            radio_a,
            cpu_states,
            residency: Residency::default(),
            asleep: false,
            rail_v: 0.0,
            active: (0.0, 0.0),
        })
    }

    fn protocol(&self, problem: String) -> LabError {
        self.board.firmware.protocol(problem)
    }

    fn seconds(&self, cycles: u64) -> f64 {
        cycles as f64 / self.board.firmware.board.clock_hz as f64
    }

    /// The active current at a supply, in amperes; below what the data sheet allows at this clock,
    /// that of its lowest.
    fn active_a(&mut self, rail_v: f64) -> Result<f64, LabError> {
        let (at_v, current_a) = self.active;
        if at_v == rail_v {
            return Ok(current_a);
        }
        let target = &self.board.firmware.target;
        let (supply, clock_hz) = (&target.supply, self.board.firmware.board.clock_hz as f64);
        let lowest_v = supply.needed_v(clock_hz).unwrap_or(supply.min_v());
        let current_a = supply
            .current_a(clock_hz, rail_v.clamp(lowest_v, supply.max_v))
            .map_err(|error| LabError::Supply { target: target.name().into(), error })?;
        self.active = (rail_v, current_a);
        Ok(current_a)
    }

    /// The current of a sleep mode, in amperes.
    fn asleep_a(&self, mode: &str, level: u8) -> Result<f64, LabError> {
        let supply = &self.board.firmware.target.supply;
        let of = |name: &str| supply.sleep(name).map(|mode| mode.current_at_level(usize::from(level)));
        // The firmware's ACLK is REFO and not the crystal that the data sheet's LPM3 is for: LPM4's
        // current and REFO's.
        let current_a = match mode {
            "LPM3" => of("LPM4").zip(supply.module("REFO")).map(|(sleep_a, refo)| sleep_a + refo.current_a),
            _ => of(mode),
        };
        current_a.ok_or_else(|| {
            self.protocol(format!("it sleeps in {mode}, for which its target file has no current"))
        })
    }

    fn cpu_draws(&mut self, draws: &mut Vec<Draw>) -> Result<u64, LabError> {
        let residency = self.board.machine().residency();
        let spent = residency.since(&self.residency);
        self.residency = residency;
        let active_cycles = spent.active_cycles();
        if active_cycles > 0 {
            let time_s = self.seconds(active_cycles);
            draws.push(Draw { state: 0, time_s, charge_c: self.active_a(self.rail_v)? * time_s });
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

    fn radio_draws(&mut self, draws: &mut Vec<Draw>) {
        let spent = self.board.radio_ns();
        for (index, (&ns, before)) in spent.iter().zip(&mut self.radio_ns).enumerate() {
            let time_s = (ns - std::mem::replace(before, ns)) as f64 / SECOND_NS as f64;
            if time_s > 0.0 {
                let charge_c = self.radio_a[index] * time_s;
                draws.push(Draw { state: self.cpu_states + index, time_s, charge_c });
            }
        }
    }
}

impl Node for HarvestedNode {
    fn receive_mode(&self) -> ReceiveMode {
        ReceiveMode::Packets(self.address)
    }

    fn next_ns(&self) -> u64 {
        self.board.now_ns()
    }

    fn advance(&mut self, until_ns: u64) -> Result<Advance, LabError> {
        let addresses = if self.asleep { self.wakes.clone() } else { Vec::new() };
        let stop = self.board.run(until_ns, &addresses)?;
        let mut draws = Vec::new();
        let active_cycles = self.cpu_draws(&mut draws)?;
        self.radio_draws(&mut draws);
        self.asleep = active_cycles == 0 && stop == Stop::Cycles;
        if !matches!(stop, Stop::Cycles | Stop::Address(_) | Stop::PowerLost) {
            return Err(self.protocol(format!("its firmware stopped: {stop:?}")));
        }
        let now_ns = self.board.now_ns();
        Ok(Advance { now_ns, draws, asleep: self.asleep, power_lost: stop == Stop::PowerLost })
    }

    fn take_emissions(&mut self, into: &mut Vec<Emission>) {
        self.board.take_emissions(into);
    }

    fn receive(&mut self, arrival: Arrival) {
        self.board.receive(arrival);
    }

    fn power_up(&mut self, now_ns: u64, voltages: Voltages) -> Result<(), LabError> {
        self.set_voltages(voltages);
        self.board.machine_mut().reset();
        self.board.power_up(now_ns);
        self.residency = self.board.machine().residency();
        self.radio_ns.fill(0);
        self.asleep = false;
        Ok(())
    }

    fn cut_power(&mut self, _: u8) {
        self.set_voltages(Voltages { rail_v: 0.0, stored_v: 0.0 });
        // It stops at once, and what was under way in the flash is cut short.
        let _ = self.board.machine_mut().run(&Until::default());
    }

    fn set_voltages(&mut self, voltages: Voltages) {
        self.rail_v = voltages.rail_v;
        let (channel, divider) = self.stored;
        let board = self.board.machine_mut().board_mut();
        board.supply_v = voltages.rail_v;
        board.set_analog(channel, voltages.stored_v / divider);
    }

    fn states(&self) -> &[State] {
        &self.states
    }

    fn signer_counts(&self) -> Result<SignerCounts, LabError> {
        let mut bytes = [0; Status::BYTES];
        let there = self.board.machine().peek(self.status, &mut bytes);
        let status = Status::from_bytes(&bytes).filter(|_| there);
        let status = status.ok_or_else(|| self.protocol(format!("{STATUS_SYMBOL} makes no sense")))?;
        Ok(SignerCounts {
            wakes: status.wakes.into(),
            closed: status.closed.into(),
            signed: status.signatures.into(),
            sent: status.sent.into(),
            refused: status.refused.into(),
        })
    }
}
