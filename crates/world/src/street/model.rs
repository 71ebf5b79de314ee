//! A meter's firmware on the ATmega328P's model with the RFM12B's beside it, wired as an emonTx is, and the sensors' signals at
//! its converter.

use super::air::{Arrival, HeardByte, Hearing};
use super::station::{AirByte, Station};
use lab::target::{House, Target};
use lab::{LabError, elf, firmware};
use mcu::chips::rfm12b::{self, Rfm12b};
use mcu::{Machine, Pin, Signal, Stop, Until, Wiring, new_machine};
use meter::Status;
use std::f64::consts::SQRT_2;
use std::sync::Arc;
use wire::meter::{PROVISION_SYMBOL, Provision, Setup};

const TARGET: &str = "atmega328p";
const CLOCK_HZ: u64 = 16_000_000;
/// The emonTx's supply, which the radio can take; the converter's reference.
const SUPPLY_V: f64 = 3.3;
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
    image: elf::Firmware,
    status: u32,
    provision: u32,
    stack: std::ops::RangeInclusive<u32>,
}

impl Firmware {
    /// Builds it.
    ///
    /// # Errors
    /// What building can bring; firmware without the meter's symbols.
    pub fn build(house: &House) -> Result<Arc<Firmware>, LabError> {
        let target = house.target(TARGET)?;
        let point = target.operating_point(Some(CLOCK_HZ), None)?;
        let path = firmware::build_app(house, &target, &point, VARIANT, "meter")?;
        let image = elf::Firmware::read(&path, target.part.core)?;
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
        let board = machine.board_mut().ok_or_else(|| wrong("its model has no board".into()))?;
        board.attended = true;
        board.supply_v = SUPPLY_V;
        board.mount(Box::new(Rfm12b::new()), wiring);
        machine.reset();
        let writes = machine.nonvolatile_writes();
        Ok(Modelled {
            firmware: Arc::clone(self),
            setup: *provision.setup(),
            machine,
            started_ns: None,
            now_ns: 0,
            noise_seed,
            writes,
        })
    }

    fn fault(&self, fault: mcu::Fault) -> LabError {
        let place = fault.pc().map_or_else(String::new, |pc| self.image.place(pc));
        LabError::Fault { target: TARGET.into(), fault, place }
    }
}

/// The meter.
pub struct Modelled {
    firmware: Arc<Firmware>,
    setup: Setup,
    machine: Box<dyn Machine>,
    /// When the machine's cycle 0 was; none without power.
    started_ns: Option<u64>,
    now_ns: u64,
    noise_seed: u64,
    /// Byte writes when that was asked last.
    writes: u64,
}

impl Modelled {
    fn chip(&mut self) -> Option<&mut Rfm12b> {
        self.machine.board_mut()?.chip_mut(CHIP)?.downcast_mut()
    }
}

impl Station for Modelled {
    fn hearing(&self) -> Hearing {
        Hearing::Bytes(self.setup.address)
    }

    fn next_ns(&self) -> u64 {
        self.now_ns
    }

    fn advance(&mut self, until_ns: u64) -> Result<(), LabError> {
        if let Some(started_ns) = self.started_ns {
            let cycles = self.machine.board().map(|board| board.cycle_at(until_ns - started_ns));
            let until = Until { cycles, addresses: Vec::new() };
            let stop = self.machine.run(&until).map_err(|fault| self.firmware.fault(fault))?;
            if stop != Stop::Cycles {
                return Err(LabError::Protocol {
                    what: format!("{TARGET} meter {}", self.setup.meter),
                    problem: format!("its program ended: {stop:?}"),
                });
            }
        }
        self.now_ns = until_ns;
        Ok(())
    }

    fn take_on_air(&mut self, bytes: &mut Vec<AirByte>) {
        let Some(started_ns) = self.started_ns else { return };
        let taken = self.chip().map(Rfm12b::take_on_air).unwrap_or_default();
        bytes.extend(taken.into_iter().map(|at| AirByte {
            start_ns: started_ns + at.start_ns,
            end_ns: started_ns + at.end_ns,
            byte: at.byte,
        }));
    }

    fn hear_byte(&mut self, heard: HeardByte) {
        let Some(started_ns) = self.started_ns.filter(|&started_ns| heard.at.start_ns >= started_ns) else {
            return;
        };
        let at = rfm12b::AirByte {
            start_ns: heard.at.start_ns - started_ns,
            end_ns: heard.at.end_ns - started_ns,
            byte: heard.at.byte,
        };
        if let Some(chip) = self.chip() {
            chip.hear(at, heard.readable);
        }
    }

    fn hear_packet(&mut self, _: Arrival) {}

    fn set_load(&mut self, power_w: f64) {
        let seed = self.noise_seed;
        let peak = |rms: f64, per_step: u32| rms * SQRT_2 / (f64::from(per_step) / 1e6) * SUPPLY_V / STEPS;
        let signals =
            [peak(VOLTAGE_V, self.setup.voltage_uv), peak(power_w / VOLTAGE_V, self.setup.current_ua)];
        let Some(board) = self.machine.board_mut() else { return };
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

    fn cut_power(&mut self, torn: u8) {
        self.machine.cut_power(torn);
        self.started_ns = None;
    }

    fn power_up(&mut self, now_ns: u64) -> Result<(), LabError> {
        self.started_ns = Some(now_ns);
        self.now_ns = now_ns;
        Ok(())
    }

    fn is_writing(&mut self) -> bool {
        let writes = self.machine.nonvolatile_writes();
        writes != std::mem::replace(&mut self.writes, writes)
    }

    fn status(&self) -> Result<Status, LabError> {
        if self.started_ns.is_none() {
            return Ok(Status::default());
        }
        let mut bytes = [0; Status::BYTES];
        self.machine.peek(self.firmware.status, &mut bytes);
        Ok(Status::read(&bytes))
    }

    fn stack_untouched(&self) -> Option<u32> {
        let (first, last) = (*self.firmware.stack.start(), *self.firmware.stack.end());
        let mut room = vec![0; (last - first + 1) as usize];
        self.machine.peek(first, &mut room);
        self.started_ns?;
        Some(room.iter().take_while(|&&byte| byte == PAINT).count() as u32)
    }
}
