//! The meter of `device/meter` on a board's models, with the sensors' signals at its converter.

use super::emulated::{BoardFirmware, EmulatedBoard};
use super::{Advance, Call, CallObserver, CounterSnapshot, Node, Written};
use crate::radio::{Arrival, Emission, ReceiveMode};
use crate::supply::Voltages;
use device::meter::Status;
use lab::LabError;
use lab::board::{ChipModel, Quantity};
use lab::workspace::Workspace;
use mcu::chips::fm25::Fm25;
use mcu::{Mcu, Signal, Stop};
use std::f64::consts::SQRT_2;
use std::sync::Arc;
use wire::meter::{PROVISION_SYMBOL, Provision, SUITES_SYMBOL, Setup, Suite};

const STATUS_SYMBOL: &str = "ws_meter_status";
/// Symbols at which the stack's room begins, by port: `device/ports/avr/device.ld.in`,
/// `device/ports/shared/stack.c`.
const STACK_SYMBOLS: [&str; 2] = ["ws_noinit_end", "ws_bss_end"];
/// Fill of the room: `device/ports/avr/drivers/paint.h`, `device/ports/shared/stack.c`.
const PAINT: u8 = 0xa5;
/// Address of the EEPROM in the ATmega328P's model: `mcu::Segment`.
const EEPROM: u32 = 0x81_0000;
/// The samplers read 10 bits.
const STEPS: f64 = 1024.0;
/// RMS voltage and frequency at the sensors.
const VOLTAGE_V: f64 = 230.0;
const MAINS_HZ: f64 = 50.0;

/// The meter's firmware for a board.
pub struct MeterFirmware {
    board: Arc<BoardFirmware>,
    status: u32,
    provision: u32,
    stack: Option<u32>,
    channels: [u8; 2],
    suites: Vec<Suite>,
}

impl MeterFirmware {
    /// Builds it for a board, by its name: the first of its builds that has the suite.
    ///
    /// # Errors
    /// Errors of building; firmware without the meter's symbols; a board that is not a meter's, or
    /// has no build with the suite.
    pub fn build(workspace: &Workspace, board: &str, suite: Suite) -> Result<Arc<MeterFirmware>, LabError> {
        let board = workspace.board(board)?;
        let meter = board.meter.clone().ok_or_else(|| {
            LabError::Usage(format!("boards/{}.toml has no [meter]: it is no meter's board", board.name))
        })?;
        let channel = |quantity| {
            board.channel_of(quantity).ok_or_else(|| {
                LabError::Usage(format!("boards/{}.toml has no sensor for {quantity}", board.name))
            })
        };
        let channels = [channel(Quantity::MainsVoltage)?, channel(Quantity::MainsCurrent)?];
        let choice = meter.with_suite(suite.name()).map_err(|builds| {
            LabError::Usage(format!(
                "boards/{}.toml has no build of the meter with {suite}; its builds have {builds}",
                board.name
            ))
        })?;
        let firmware = BoardFirmware::build_meter(workspace, board, &meter.variant, choice)?;
        Ok(Arc::new(MeterFirmware {
            suites: Suite::of_build(firmware.address(SUITES_SYMBOL)?),
            status: firmware.address(STATUS_SYMBOL)?,
            provision: firmware.address(PROVISION_SYMBOL)?,
            stack: STACK_SYMBOLS.iter().find_map(|symbol| firmware.address(symbol).ok()),
            channels,
            board: Arc::new(firmware),
        }))
    }

    /// The program, its board and its target.
    #[must_use]
    pub fn board(&self) -> &BoardFirmware {
        &self.board
    }

    /// The board's radio.
    #[must_use]
    pub fn radio(&self) -> Option<ChipModel> {
        self.board.board.radio().map(|chip| chip.model)
    }

    /// Returns true if this build has a suite.
    #[must_use]
    pub fn has(&self, suite: Suite) -> bool {
        self.suites.contains(&suite)
    }

    /// By how much the current is sampled behind the voltage: what a meter on this board is
    /// provisioned with.
    #[must_use]
    pub fn phase(&self) -> i16 {
        self.board.board.meter.as_ref().map_or(0, |meter| meter.phase)
    }

    /// A meter with this firmware, provisioned, without power. `noise_seed` decides what its
    /// converter reads beside the signals.
    ///
    /// # Errors
    /// A suite that this build does not have; a target without a model of what the meter needs.
    pub fn meter(
        self: &Arc<MeterFirmware>,
        provision: &Provision,
        noise_seed: u64,
    ) -> Result<EmulatedMeter, LabError> {
        let suite = provision.setup().suite;
        if !self.has(suite) {
            let names: Vec<&str> = self.suites.iter().map(|suite| suite.name()).collect();
            return Err(LabError::Usage(format!(
                "a meter for {} is built with {}, and cannot be provisioned with {suite}",
                self.board.board.name,
                names.join(", ")
            )));
        }
        let mut board = EmulatedBoard::new(&self.board, Some(&provision.eeprom()[..]))?;
        if !board.machine_mut().poke(self.provision, &provision.flash()[..]) {
            return Err(self.board.protocol("its flash has no room for what it is provisioned with".into()));
        }
        let (firmware, setup) = (Arc::clone(self), *provision.setup());
        let mut meter =
            EmulatedMeter { firmware, setup, board, noise_seed, writes: 0, calls: CallObserver::default() };
        meter.writes = meter.nonvolatile_writes();
        meter.set_load(0.0);
        Ok(meter)
    }
}

/// The meter.
pub struct EmulatedMeter {
    firmware: Arc<MeterFirmware>,
    setup: Setup,
    board: EmulatedBoard,
    noise_seed: u64,
    /// Byte writes when that was asked last.
    writes: u64,
    calls: CallObserver,
}

impl EmulatedMeter {
    /// Returns the setup that was chosen for it.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Its board.
    #[must_use]
    pub fn board(&self) -> &EmulatedBoard {
        &self.board
    }

    /// The microcontroller.
    #[must_use]
    pub fn machine(&self) -> &dyn Mcu {
        self.board.machine()
    }

    /// Observes the calls of these functions from now on.
    ///
    /// # Errors
    /// A function that the firmware does not have; a processor that is no AVR.
    pub fn observe(&mut self, functions: &[&str]) -> Result<(), LabError> {
        if !self.firmware.board.target.part.core.is_avr() {
            return Err(self.firmware.board.protocol("calls are observed on AVR alone".into()));
        }
        self.calls = CallObserver::new(&self.firmware.board.image, functions)?;
        Ok(())
    }

    /// The time that it has lived to; 0 without power.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.board.now_ns()
    }

    /// As [`EmulatedBoard::join`].
    pub fn join(&mut self, now_ns: u64) {
        self.board.join(now_ns);
    }

    /// Returns its counters.
    pub fn snapshot(&mut self) -> CounterSnapshot {
        let writes = self.nonvolatile_writes();
        CounterSnapshot::of(&mut self.board, writes)
    }

    /// Bytes of non-volatile memory whose writing has begun since it was made.
    #[must_use]
    pub fn nonvolatile_writes(&self) -> u64 {
        self.memory().map_or_else(|| self.machine().nonvolatile_writes(), Fm25::writes)
    }

    fn memory(&self) -> Option<&Fm25> {
        self.machine().board().chip(ChipModel::Fm25l16b.chip_name()).and_then(|chip| chip.downcast_ref())
    }

    /// Reads its non-volatile memory from the first byte on; false where that is too short.
    #[must_use]
    pub fn read_memory(&self, into: &mut [u8]) -> bool {
        match self.memory() {
            Some(memory) => {
                memory.memory().get(..into.len()).map(|bytes| into.copy_from_slice(bytes)).is_some()
            }
            None => self.machine().peek(EEPROM, into),
        }
    }

    fn run(&mut self, until_ns: u64) -> Result<(), LabError> {
        while self.board.started_ns().is_some() && self.board.now_ns() < until_ns {
            match self.board.run(until_ns, self.calls.addresses())? {
                Stop::Cycles | Stop::Address(_) => {}
                stop => {
                    let problem = format!("the program of meter {} ended: {stop:?}", self.setup.meter);
                    return Err(self.firmware.board.protocol(problem));
                }
            }
            // Also where it was the time that ended the run: a run does not stop where it begins.
            if self.calls.is_at(self.board.machine().pc()) {
                let now = self.snapshot();
                self.calls.reached(self.board.machine(), now);
            }
        }
        Ok(())
    }
}

impl Node for EmulatedMeter {
    fn receive_mode(&self) -> ReceiveMode {
        match self.board.radio() {
            ChipModel::Rfm12b => ReceiveMode::Bytes(self.setup.address),
            ChipModel::Cc2500 | ChipModel::Fm25l16b => ReceiveMode::Packets(self.setup.address),
        }
    }

    fn next_ns(&self) -> u64 {
        self.board.now_ns()
    }

    fn advance(&mut self, until_ns: u64) -> Result<Advance, LabError> {
        self.run(until_ns)?;
        Ok(Advance { now_ns: self.board.now_ns(), ..Advance::default() })
    }

    fn take_emissions(&mut self, into: &mut Vec<Emission>) {
        self.board.take_emissions(into);
    }

    fn receive(&mut self, arrival: Arrival) {
        self.board.receive(arrival);
    }

    fn power_up(&mut self, now_ns: u64, _: Voltages) -> Result<(), LabError> {
        self.board.power_up(now_ns);
        Ok(())
    }

    fn cut_power(&mut self, torn: u8) {
        self.board.cut_power(torn);
        self.calls.forget();
    }

    /// At a power factor of 1.
    fn set_load(&mut self, power_w: f64) {
        let supply_v = self.firmware.board.board.supply_v;
        let peak = |rms: f64, per_step: u32| rms * SQRT_2 / (f64::from(per_step) / 1e6) * supply_v / STEPS;
        let signals =
            [peak(VOLTAGE_V, self.setup.voltage_uv), peak(power_w / VOLTAGE_V, self.setup.current_ua)];
        for (index, amplitude_v) in signals.into_iter().enumerate() {
            let signal = Signal::Mains {
                offset_v: supply_v / 2.0,
                amplitude_v,
                hz: MAINS_HZ,
                phase_rad: 0.0,
                harmonics: Vec::new(),
                // Noise of either sensor, a step of the converter: chosen.
                noise_v: supply_v / STEPS,
                seed: self.noise_seed.wrapping_add(index as u64),
            };
            let channel = self.firmware.channels[index];
            self.board.machine_mut().board_mut().set_signal(channel, signal);
        }
    }

    fn writes(&mut self) -> Option<Written> {
        let writes = self.nonvolatile_writes();
        (writes != std::mem::replace(&mut self.writes, writes)).then_some(Written::Byte)
    }

    fn meter_status(&self) -> Status {
        if self.board.started_ns().is_none() {
            return Status::default();
        }
        let mut bytes = [0; Status::BYTES];
        self.machine().peek(self.firmware.status, &mut bytes);
        Status::read(&bytes)
    }

    fn take_calls(&mut self) -> Vec<Call> {
        self.calls.take_calls()
    }

    fn stack_untouched(&self) -> Option<u32> {
        self.board.started_ns()?;
        let mut at = self.firmware.stack?;
        let mut untouched = 0;
        let mut byte = [0];
        while self.machine().peek(at, &mut byte) && byte[0] == PAINT {
            (at, untouched) = (at + 1, untouched + 1);
        }
        Some(untouched)
    }
}
