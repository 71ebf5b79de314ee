//! The meter of `device/meter` as a board: its firmware on the ATmega328P's model, the RFM12B's beside it, wired as an emonTx is, and
//! the sensors' signals at its converter.

use crate::street::station::AirByte;
use lab::LabError;
use lab::harness::place_fault;
use lab::target::{Target, Workspace};
use mcu::chips::rfm12b::{self, Rfm12b};
use mcu::{Mcu, Pin, Signal, Stop, Until, Wiring, new_machine};
use meter::Status;
use std::f64::consts::SQRT_2;
use std::sync::Arc;
use wire::meter::{PROVISION_SYMBOL, Provision, Setup};

const TARGET: &str = "atmega328p";
/// Its core clock, in Hz.
pub const CLOCK_HZ: u64 = 16_000_000;
/// The emonTx's supply, which the radio can take; the converter's reference.
pub const SUPPLY_V: f64 = 3.3;
/// How the meter is built for that part.
const VARIANT: &str = "small";
const CHIP: &str = "RFM12B";
/// Where the model has the EEPROM: `mcu::Segment`.
const EEPROM: u32 = 0x81_0000;
/// The paint of `device/ports/avr/drivers/paint.h`.
const PAINT: u8 = 0xa5;
/// The converter has 10 bits.
const STEPS: f64 = 1024.0;
/// What the sensors see: RMS and frequency.
const VOLTAGE_V: f64 = 230.0;
const MAINS_HZ: f64 = 50.0;
/// Noise of either sensor, a step of the converter: chosen.
const NOISE_V: f64 = SUPPLY_V / STEPS;
/// The current is sampled behind the voltage: 13 clocks of the converter at 125 kHz and what the interrupt takes, some 110 µs
/// (`device/ports/avr/drivers/sampler.c`), in 1/256 of 800 µs.
pub const PHASE: i16 = 35;

/// The meter's firmware, built.
pub struct Firmware {
    target: Target,
    image: firmware::Firmware,
    status: u32,
    provision: u32,
    stack: std::ops::RangeInclusive<u32>,
}

impl Firmware {
    /// Builds it.
    ///
    /// # Errors
    /// What building can bring; firmware without the meter's symbols.
    pub fn build(workspace: &Workspace) -> Result<Arc<Firmware>, LabError> {
        let target = workspace.target(TARGET)?;
        let point = target.operating_point(Some(CLOCK_HZ), None)?;
        let path = firmware::build_app(&workspace.source(&target, &point), VARIANT, "meter")?;
        let image = firmware::Firmware::read(&path, target.part.core)?;
        let address = |symbol| image.symbol(symbol).map(|symbol| symbol.address);
        Ok(Arc::new(Firmware {
            status: address("ws_meter_status")?,
            provision: address(PROVISION_SYMBOL)?,
            stack: address("ws_noinit_end")?..=address("ws_stack_top")?,
            image,
            target,
        }))
    }

    /// A meter with this firmware, provisioned, without power. `noise_seed` decides what its converter reads beside the signals.
    ///
    /// # Errors
    /// A target without a model of what the meter needs.
    pub fn meter(self: &Arc<Firmware>, provision: &Provision, noise_seed: u64) -> Result<Modelled, LabError> {
        let wrong = |problem: String| LabError::Protocol { what: format!("{TARGET} meter"), problem };
        let mut machine = new_machine(&self.target.part, CLOCK_HZ).map_err(wrong)?;
        machine.load(self.image.image()).map_err(|fault| self.fault(fault))?;
        if !machine.poke(self.provision, &provision.flash()[..])
            || !machine.poke(EEPROM, &provision.eeprom()[..])
        {
            return Err(wrong("its memories have no room for what it is provisioned with".into()));
        }
        let wiring = Wiring {
            spi: "SPI".into(),
            select: Pin::new("PORTB", 2),
            outputs: vec![(Rfm12b::NIRQ, Pin::new("PORTD", 2))],
        };
        let board = machine.board_mut();
        board.externally_wakeable = true;
        board.supply_v = SUPPLY_V;
        board.mount(Box::new(Rfm12b::new()), wiring);
        machine.reset();
        let (firmware, setup) = (Arc::clone(self), *provision.setup());
        let mut meter = Modelled { firmware, setup, machine, started_ns: None, noise_seed };
        meter.set_load(0.0);
        Ok(meter)
    }

    fn fault(&self, fault: mcu::Fault) -> LabError {
        place_fault(&self.target, &self.image, fault)
    }

    /// What its target file says.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.target
    }

    /// The linked program.
    #[must_use]
    pub fn image(&self) -> &firmware::Firmware {
        &self.image
    }
}

/// The meter.
pub struct Modelled {
    firmware: Arc<Firmware>,
    setup: Setup,
    machine: Box<dyn Mcu>,
    /// When the machine's cycle 0 was; none without power.
    started_ns: Option<u64>,
    noise_seed: u64,
}

impl Modelled {
    /// What was chosen for it.
    #[must_use]
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// The microcontroller.
    #[must_use]
    pub fn machine(&self) -> &dyn Mcu {
        &*self.machine
    }

    /// Its radio. Times are nanoseconds since its power came.
    ///
    /// # Errors
    /// A board without it.
    pub fn radio(&mut self) -> Result<&mut Rfm12b, LabError> {
        let chip = self.machine.board_mut().chip_mut(CHIP).and_then(|chip| chip.downcast_mut());
        chip.ok_or_else(|| LabError::Protocol {
            what: "meter".into(),
            problem: "no RFM12B on its board".into(),
        })
    }

    /// When its power came, in nanoseconds of the world; none without.
    #[must_use]
    pub fn started_ns(&self) -> Option<u64> {
        self.started_ns
    }

    /// Its power comes.
    pub fn power_up(&mut self, now_ns: u64) {
        self.started_ns = Some(now_ns);
    }

    /// What it has lived through alone is taken to have ended at `now_ns`, which is not below the time that it took: so meters that
    /// have been on for different times meet.
    pub fn join(&mut self, now_ns: u64) {
        if let Some(started_ns) = self.started_ns {
            self.started_ns = Some(now_ns.saturating_sub(self.now_ns() - started_ns));
        }
    }

    /// Its power is cut: a byte of the EEPROM that is being written becomes `torn`.
    pub fn cut_power(&mut self, torn: u8) {
        self.machine.cut_power(torn);
        self.started_ns = None;
    }

    /// The time that it has lived to, in nanoseconds of the world; 0 without power.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        let since_ns = self.machine.board().time_ns(self.machine.cycles());
        self.started_ns.map_or(0, |started_ns| started_ns + since_ns)
    }

    /// Lives up to a time, or to one of the addresses; it may end some cycles after that time. Nothing goes on without power.
    ///
    /// # Errors
    /// What the model cannot execute; a program that ends.
    pub fn run(&mut self, until_ns: u64, addresses: &[u32]) -> Result<(), LabError> {
        let Some(started_ns) = self.started_ns else { return Ok(()) };
        let cycles = Some(self.machine.board().cycle_at(until_ns.saturating_sub(started_ns)));
        let until = Until { cycles, addresses: addresses.to_vec() };
        match self.machine.run(&until).map_err(|fault| self.firmware.fault(fault))? {
            Stop::Cycles | Stop::Address(_) => Ok(()),
            stop => Err(LabError::Protocol {
                what: format!("{TARGET} meter {}", self.setup.meter),
                problem: format!("its program ended: {stop:?}"),
            }),
        }
    }

    /// Appends the bytes that it has put on the air since the last call, in nanoseconds of the world: all that begin before the
    /// time that it has lived to.
    pub fn take_on_air(&mut self, bytes: &mut Vec<AirByte>) {
        // Asking costs the machine nothing, while a radio that may have been told something makes it look at all its pins.
        let radio = self.machine.board().chip(CHIP).and_then(|chip| chip.downcast_ref());
        let Some(started_ns) = self.started_ns.filter(|_| radio.is_some_and(Rfm12b::has_sent)) else {
            return;
        };
        let taken = self.radio().map(Rfm12b::take_on_air).unwrap_or_default();
        bytes.extend(taken.into_iter().map(|at| AirByte {
            start_ns: started_ns + at.start_ns,
            end_ns: started_ns + at.end_ns,
            byte: at.byte,
        }));
    }

    /// A byte goes through the air around it, in nanoseconds of the world: as [`Rfm12b::hear`]. One that begins before its power
    /// came is lost.
    pub fn hear(&mut self, at: AirByte, readable: bool) {
        let Some(started_ns) = self.started_ns.filter(|&started_ns| at.start_ns >= started_ns) else {
            return;
        };
        let at = rfm12b::AirByte {
            start_ns: at.start_ns - started_ns,
            end_ns: at.end_ns - started_ns,
            byte: at.byte,
        };
        if let Ok(radio) = self.radio() {
            radio.hear(at, readable);
        }
    }

    /// What its household draws from now on, in watts, at a power factor of 1.
    pub fn set_load(&mut self, power_w: f64) {
        let seed = self.noise_seed;
        let peak = |rms: f64, per_step: u32| rms * SQRT_2 / (f64::from(per_step) / 1e6) * SUPPLY_V / STEPS;
        let signals =
            [peak(VOLTAGE_V, self.setup.voltage_uv), peak(power_w / VOLTAGE_V, self.setup.current_ua)];
        let board = self.machine.board_mut();
        for (channel, amplitude_v) in signals.into_iter().enumerate() {
            let signal = Signal::Mains {
                offset_v: SUPPLY_V / 2.0,
                amplitude_v,
                hz: MAINS_HZ,
                phase_rad: 0.0,
                harmonics: Vec::new(),
                noise_v: NOISE_V,
                seed: seed.wrapping_add(channel as u64),
            };
            board.set_signal(channel as u8, signal);
        }
    }

    /// What the firmware says of itself; all 0 without power.
    #[must_use]
    pub fn status(&self) -> Status {
        if self.started_ns.is_none() {
            return Status::default();
        }
        let mut bytes = [0; Status::BYTES];
        self.machine.peek(self.firmware.status, &mut bytes);
        Status::read(&bytes)
    }

    /// Bytes of the stack's room that were never touched; none without power.
    #[must_use]
    pub fn stack_untouched(&self) -> Option<u32> {
        let (first, last) = (*self.firmware.stack.start(), *self.firmware.stack.end());
        let mut room = vec![0; (last - first + 1) as usize];
        self.machine.peek(first, &mut room);
        self.started_ns?;
        Some(room.iter().take_while(|&&byte| byte == PAINT).count() as u32)
    }
}
