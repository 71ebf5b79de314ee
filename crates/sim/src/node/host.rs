//! A meter's firmware built for the host, event by event: it computes in no time, and its EEPROM
//! and its radio take theirs.

use super::{Advance, Node, Written};
use crate::radio::{AirByte, Arrival, Emission, Framing, ReceiveMode};
use crate::supply::Voltages;
use device::meter::eeprom::{Eeprom, Torn};
use device::meter::flash::Flash;
use device::meter::{Call, Cause, Load, Meter, Packet, Reply, Status};
use lab::LabError;
use std::collections::VecDeque;
use wire::meter::{Provision, Setup};

/// From a packet's order to its first bit: the transmitter's start (`radios/rfm12b.toml`, idle to
/// tx).
const START_NS: u64 = 250_000;
/// RMS voltage at the sensors.
const VOLTAGE_V: f64 = 230.0;

/// Wait of the meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Off,
    Stopped,
    Sending { until_ns: u64 },
    Listening { since_ns: u64, until_ns: u64 },
    Sleeping { until_ns: u64 },
}

/// Packet on its way to the meter.
struct Coming {
    start_ns: u64,
    end_ns: u64,
    packet: Option<Vec<u8>>,
}

/// The meter, with an RFM12B.
pub struct HostMeter {
    provision: [u8; wire::meter::FLASH_BYTES],
    setup: Setup,
    byte_ns: u64,
    meter: Option<Meter>,
    /// While there is no power.
    eeprom: Option<Eeprom>,
    /// While there is no power, of a meter that a bootloader runs.
    flash: Option<Flash>,
    /// Last status before the power of its flash failed.
    status: Status,
    doing: Doing,
    now_ns: u64,
    noise_seed: u64,
    power_w: f64,
    coming: VecDeque<Coming>,
    emissions: Vec<AirByte>,
}

impl HostMeter {
    /// A meter without power, provisioned. `noise_seed` decides what its noise source reads and how
    /// bytes are torn.
    #[must_use]
    pub fn new(provision: &Provision, byte_ns: u64, noise_seed: u64) -> HostMeter {
        HostMeter {
            provision: *provision.flash(),
            setup: *provision.setup(),
            byte_ns,
            meter: None,
            eeprom: Some(Eeprom::with_image(&provision.eeprom(), noise_seed)),
            flash: None,
            status: Status::default(),
            doing: Doing::Off,
            now_ns: 0,
            noise_seed,
            power_w: 0.0,
            coming: VecDeque::new(),
            emissions: Vec::new(),
        }
    }

    /// The same, run by a bootloader, with an image in its first slot.
    #[must_use]
    pub fn with_image(self, image: &[u8]) -> HostMeter {
        HostMeter { flash: Some(Flash::with(image)), ..self }
    }

    fn start(&mut self, cause: Cause) {
        let Some(eeprom) = self.eeprom.take() else { return };
        self.noise_seed = self.noise_seed.wrapping_add(1);
        let (provision, seed, now_ns) = (&self.provision, self.noise_seed, self.now_ns);
        let mut meter = match self.flash.take() {
            Some(flash) => Meter::start_from(flash, provision, eeprom, cause, seed, now_ns),
            None => Meter::start(provision, eeprom, cause, seed, now_ns),
        };
        meter.set_load(self.now_ns, self.load());
        self.meter = Some(meter);
        self.resume(Reply::Done);
    }

    fn load(&self) -> Load {
        Load {
            power_w: self.power_w,
            voltage_v: VOLTAGE_V,
            current_a: self.power_w / VOLTAGE_V,
            volts_per_step: f64::from(self.setup.voltage_uv) / 1e6,
            amperes_per_step: f64::from(self.setup.current_ua) / 1e6,
        }
    }

    fn resume(&mut self, reply: Reply) {
        let now_ns = self.now_ns;
        let Some(meter) = &mut self.meter else { return };
        let call = meter.resume(now_ns, reply);
        if meter.flash().is_some_and(Flash::is_off) {
            // What it did behind that, it did not.
            self.doing = Doing::Stopped;
            return;
        }
        self.status = meter.status();
        self.doing = match call {
            Call::Send(packet) => {
                let mut start_ns = now_ns + START_NS;
                for byte in (Framing::Rfm12b { group: self.setup.channel }).encode(packet.bytes()) {
                    self.emissions.push(AirByte { start_ns, end_ns: start_ns + self.byte_ns, byte });
                    start_ns += self.byte_ns;
                }
                Doing::Sending { until_ns: start_ns }
            }
            Call::Listen { until_ns } => match self.doing {
                // From one listening to the next at once: what is coming goes on.
                Doing::Listening { since_ns, .. } => Doing::Listening { since_ns, until_ns },
                _ => Doing::Listening { since_ns: now_ns, until_ns },
            },
            Call::Sleep { until_ns } => Doing::Sleeping { until_ns },
            Call::Stopped => Doing::Stopped,
            Call::Reset => {
                // A reset does not stop the byte that is being written.
                self.turn_off(Torn::New);
                return self.start(Cause::Commanded);
            }
        };
    }

    /// Turns it off; non-volatile state is left.
    fn turn_off(&mut self, torn: Torn) {
        if let Some(meter) = self.meter.take() {
            self.flash = meter.flash().cloned();
            self.eeprom = Some(meter.cut_power(self.now_ns, torn));
        }
        self.doing = Doing::Off;
    }

    fn flash_is_off(&self) -> bool {
        self.meter.as_ref().and_then(Meter::flash).is_some_and(Flash::is_off)
    }

    /// When what it does is over.
    fn over_ns(&self) -> u64 {
        match self.doing {
            Doing::Off | Doing::Stopped => u64::MAX,
            Doing::Sending { until_ns } | Doing::Sleeping { until_ns } => until_ns,
            Doing::Listening { since_ns, until_ns } => {
                let Some(first) = self.coming.iter().find(|coming| coming.start_ns >= since_ns) else {
                    return until_ns;
                };
                // A packet that has begun is waited for.
                if first.start_ns <= until_ns { first.end_ns } else { until_ns }
            }
        }
    }

    /// The packet that ends now, if it was heard from its beginning.
    fn heard(&mut self) -> Option<Packet> {
        let Doing::Listening { since_ns, .. } = self.doing else { return None };
        let now_ns = self.now_ns;
        let at =
            self.coming.iter().position(|coming| coming.end_ns <= now_ns && coming.start_ns >= since_ns)?;
        self.coming.remove(at)?.packet.as_deref().and_then(Packet::new)
    }
}

impl Node for HostMeter {
    fn receive_mode(&self) -> ReceiveMode {
        ReceiveMode::Packets(self.setup.address)
    }

    fn next_ns(&self) -> u64 {
        self.over_ns()
    }

    fn advance(&mut self, until_ns: u64) -> Result<Advance, LabError> {
        loop {
            let over_ns = self.over_ns();
            if over_ns > until_ns {
                break;
            }
            self.now_ns = self.now_ns.max(over_ns);
            let reply = self.heard().map_or(Reply::Done, Reply::Heard);
            let now_ns = self.now_ns;
            self.coming.retain(|coming| coming.end_ns > now_ns);
            self.resume(reply);
        }
        self.now_ns = self.now_ns.max(until_ns);
        Ok(Advance { now_ns: self.now_ns, ..Advance::default() })
    }

    fn take_emissions(&mut self, into: &mut Vec<Emission>) {
        into.extend(self.emissions.drain(..).map(Emission::Byte));
    }

    fn receive(&mut self, arrival: Arrival) {
        match arrival {
            Arrival::Byte(..) => {}
            Arrival::Coming { start_ns, end_ns } => {
                self.coming.push_back(Coming { start_ns, end_ns, packet: None });
            }
            Arrival::Packet { start_ns, end_ns, packet, .. } => {
                let known = self.coming.iter_mut().find(|coming| coming.end_ns == end_ns);
                match known {
                    Some(known) => known.packet = Some(packet),
                    None => self.coming.push_back(Coming { start_ns, end_ns, packet: Some(packet) }),
                }
            }
        }
    }

    fn set_load(&mut self, power_w: f64) {
        self.power_w = power_w;
        let load = self.load();
        let now_ns = self.now_ns;
        if let Some(meter) = &mut self.meter {
            meter.set_load(now_ns, load);
        }
    }

    fn cut_power(&mut self, _: u8) {
        self.turn_off(Torn::Any);
        self.arm(None);
        // What has not begun does not go out.
        let now_ns = self.now_ns;
        self.emissions.retain(|byte| byte.start_ns < now_ns);
        self.coming.clear();
    }

    fn power_up(&mut self, now_ns: u64, _: Voltages) -> Result<(), LabError> {
        self.now_ns = self.now_ns.max(now_ns);
        self.start(Cause::PowerOn);
        Ok(())
    }

    fn writes(&mut self) -> Option<Written> {
        let is_byte = || self.meter.as_ref().is_some_and(|meter| meter.eeprom().busy());
        if self.flash_is_off() { Some(Written::Flash) } else { is_byte().then_some(Written::Byte) }
    }

    fn arm(&mut self, cut: Option<(u64, u8)>) {
        let of_meter = self.meter.as_mut().and_then(Meter::flash_mut);
        match (of_meter.or(self.flash.as_mut()), cut) {
            (Some(flash), Some((operations, torn))) => flash.cut_after(operations, torn),
            (Some(flash), None) => flash.keep_power(),
            (None, _) => {}
        }
    }

    fn image(&self) -> Option<&[u8]> {
        let meter = self.meter.as_ref()?;
        Some(meter.flash()?.slot(meter.running()?))
    }

    fn meter_status(&self) -> Status {
        match &self.meter {
            Some(_) if self.flash_is_off() => self.status,
            Some(meter) => meter.status(),
            None => Status::default(),
        }
    }
}
