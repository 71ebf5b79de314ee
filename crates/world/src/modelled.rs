//! The meter of `device/meter` as a board: its firmware on the ATmega328P's model, the RFM12B's model on its SPI, mains voltage and
//! current at its converter.

use lab::LabError;
use lab::bench::place_fault;
use lab::elf::Firmware;
use lab::target::Target;
use mcu::chips::rfm12b::Rfm12b;
use mcu::{Board, Core, Machine, Pin, Signal, Stop, Until, Wiring, new_machine};
use meter::Status;
use std::f64::consts::SQRT_2;
use wire::meter::{PROVISION_SYMBOL, Provision};

/// The firmware's program, and the variant that fits the part.
pub const APP: &str = "meter";
/// The chip's name on the board.
const CHIP: &str = "RFM12B";
/// The symbol of `struct ws_meter_status` (`device/meter/meter.h`).
const STATUS_SYMBOL: &str = "ws_meter_status";
/// Where the EEPROM lies in images and for a debugger.
const EEPROM: u32 = 0x81_0000;
/// Channels of the converter: `device/ports/avr/drivers/sampler.c`.
const VOLTAGE_CHANNEL: u8 = 0;
const CURRENT_CHANNEL: u8 = 1;
/// Mains voltage and current that one volt at the converter stands for: the emonTx's 230 V from a 9 V adapter behind 10 : 1, and its
/// 100 A : 50 mA transformer over 33 ohms. Chosen; the calibration that is provisioned is made from them.
pub const MAINS_V_PER_V: f64 = 268.97;
/// As [`MAINS_V_PER_V`], in amperes.
pub const MAINS_A_PER_V: f64 = 60.6;
/// The converter's steps: 10 bits.
const STEPS: f64 = 1024.0;
/// Mains.
const MAINS_HZ: f64 = 50.0;
/// Its RMS voltage.
pub const MAINS_V: f64 = 230.0;

/// Nanoseconds in a second.
const SECOND_NS: u64 = 1_000_000_000;

/// The calibration to provision a meter with at a supply, which is the converter's reference: microvolts and microamperes of a step.
#[must_use]
pub fn calibration(supply_v: f64) -> (u32, u32) {
    let step_v = supply_v / STEPS;
    ((MAINS_V_PER_V * step_v * 1e6).round() as u32, (MAINS_A_PER_V * step_v * 1e6).round() as u32)
}

/// The meter.
pub struct Modelled<'a> {
    target: &'a Target,
    firmware: &'a Firmware,
    machine: Box<dyn Machine>,
    clock_hz: u64,
    supply_v: f64,
    status: u32,
    /// When the machine's cycle 0 was, in nanoseconds of the world.
    started_ns: u64,
}

impl<'a> Modelled<'a> {
    /// A meter that was provisioned and has just been given power, at time 0. Its household draws nothing yet.
    ///
    /// # Errors
    /// Firmware without the meter's symbols, or a target that the meter's board is not made of.
    pub fn new(
        target: &'a Target,
        firmware: &'a Firmware,
        clock_hz: u64,
        supply_v: f64,
        provision: &Provision,
    ) -> Result<Modelled<'a>, LabError> {
        let wrong =
            |problem: String| LabError::Protocol { what: format!("{} meter", target.name()), problem };
        if target.part.core != Core::Avr5 {
            return Err(LabError::Usage(format!(
                "{} has no model of the meter's board; there is one of atmega328p",
                target.name()
            )));
        }
        let mut machine = new_machine(&target.part, clock_hz).map_err(wrong)?;
        machine.load(firmware.image()).map_err(|fault| place_fault(target, firmware, fault))?;
        let place = firmware.symbol(PROVISION_SYMBOL)?.address;
        if !machine.poke(place, &provision.flash()[..]) || !machine.poke(EEPROM, &provision.eeprom()[..]) {
            return Err(wrong("what is provisioned lies in no memory".into()));
        }
        let wiring = Wiring {
            spi: "SPI".into(),
            select: Pin::new("PORTB", 2),
            outputs: vec![(Rfm12b::NIRQ, Pin::new("PORTD", 2))],
        };
        let board = machine.board_mut().ok_or_else(|| wrong("its model has no board".into()))?;
        board.attended = true;
        board.supply_v = supply_v;
        board.mount(Box::new(Rfm12b::new()), wiring);
        machine.reset();
        let status = firmware.symbol(STATUS_SYMBOL)?.address;
        let mut meter = Modelled { target, firmware, machine, clock_hz, supply_v, status, started_ns: 0 };
        meter.set_load(0.0, 0)?;
        Ok(meter)
    }

    fn board(&mut self) -> Result<&mut Board, LabError> {
        let missing = LabError::Protocol { what: "meter".into(), problem: "its model has no board".into() };
        self.machine.board_mut().ok_or(missing)
    }

    /// What the household draws from now on, in watts, at a power factor of 1; `seed` decides on the converter's noise.
    ///
    /// # Errors
    /// A machine without a board.
    pub fn set_load(&mut self, power_w: f64, seed: u64) -> Result<(), LabError> {
        let bias_v = self.supply_v / 2.0;
        let mains = |rms: f64, per_v: f64, seed| Signal::Mains {
            offset_v: bias_v,
            amplitude_v: rms * SQRT_2 / per_v,
            hz: MAINS_HZ,
            phase_rad: 0.0,
            harmonics: Vec::new(),
            // A step of a converter at 5 V, as RMS: what an emonTx's inputs show beside their signal. Chosen.
            noise_v: 5e-3,
            seed,
        };
        let board = self.board()?;
        board.set_signal(VOLTAGE_CHANNEL, mains(MAINS_V, MAINS_V_PER_V, seed));
        board.set_signal(CURRENT_CHANNEL, mains(power_w / MAINS_V, MAINS_A_PER_V, !seed));
        Ok(())
    }

    /// The time that it has lived to, in nanoseconds of the world.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.time_ns(self.machine.cycles())
    }

    /// The time at a cycle since its last reset.
    #[must_use]
    pub fn time_ns(&self, cycle: u64) -> u64 {
        let seconds = cycle / self.clock_hz * SECOND_NS;
        self.started_ns + seconds + cycle % self.clock_hz * SECOND_NS / self.clock_hz
    }

    /// Lives up to a time, or to one of the addresses. It may end some cycles after that time.
    ///
    /// # Errors
    /// What the model cannot execute.
    pub fn run(&mut self, until_ns: u64, addresses: &[u32]) -> Result<Stop, LabError> {
        let ahead_ns = u128::from(until_ns.saturating_sub(self.started_ns));
        let cycles = (ahead_ns * u128::from(self.clock_hz)).div_ceil(u128::from(SECOND_NS)) as u64;
        let until = Until { cycles: Some(cycles), addresses: addresses.to_vec() };
        self.machine.run(&until).map_err(|fault| place_fault(self.target, self.firmware, fault))
    }

    /// Its radio. Times of the chip are those since the last reset: [`Modelled::started_ns`] is 0 for it.
    ///
    /// # Errors
    /// A board without it.
    pub fn radio(&mut self) -> Result<&mut Rfm12b, LabError> {
        let missing =
            || LabError::Protocol { what: "meter".into(), problem: "no RFM12B on its board".into() };
        self.board()?.chip_mut(CHIP).and_then(|chip| chip.downcast_mut()).ok_or_else(missing)
    }

    /// When its last reset was, in nanoseconds of the world.
    #[must_use]
    pub fn started_ns(&self) -> u64 {
        self.started_ns
    }

    /// Its power is cut now and comes back at `back_ns`: a byte of the EEPROM that is being written becomes `torn`.
    pub fn cut_power(&mut self, torn: u8, back_ns: u64) {
        self.started_ns = back_ns.max(self.now_ns());
        self.machine.cut_power(torn);
    }

    /// The microcontroller.
    #[must_use]
    pub fn machine(&self) -> &dyn Machine {
        &*self.machine
    }

    /// Its firmware.
    #[must_use]
    pub fn firmware(&self) -> &'a Firmware {
        self.firmware
    }

    /// What the firmware says of itself.
    ///
    /// # Errors
    /// A symbol that lies in no memory.
    pub fn status(&self) -> Result<Status, LabError> {
        let mut bytes = [0; Status::BYTES];
        match self.machine.peek(self.status, &mut bytes) {
            true => Ok(Status::read(&bytes)),
            false => Err(LabError::Protocol {
                what: "meter".into(),
                problem: format!("{STATUS_SYMBOL} lies in no memory"),
            }),
        }
    }
}
