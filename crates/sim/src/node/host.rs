//! A meter's firmware built for the host, event by event: it computes in no time, and its EEPROM and its radio take theirs.

use super::{Advance, Node, Voltages};
use crate::radio::{AirByte, Arrival, Emission, Framing, ReceiveMode};
use ::meter::eeprom::{Eeprom, Torn};
use ::meter::{Call, Cause, Load, Meter, Packet, Reply, Status};
use lab::LabError;
use std::collections::VecDeque;
use wire::meter::{Provision, Setup};

/// From a packet's order to its first bit: the transmitter's start (`radios/rfm12b.toml`, idle to tx).
const START_NS: u64 = 250_000;
/// What the sensors see, RMS.
const VOLTAGE_V: f64 = 230.0;

/// What the meter waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Doing {
    Off,
    Stopped,
    Sending { until_ns: u64 },
    Listening { since_ns: u64, until_ns: u64 },
    Sleeping { until_ns: u64 },
}

/// What waits to be heard.
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
    doing: Doing,
    now_ns: u64,
    noise_seed: u64,
    power_w: f64,
    coming: VecDeque<Coming>,
    emissions: Vec<AirByte>,
}

impl HostMeter {
    /// A meter without power, provisioned. `noise_seed` decides what its noise source reads and how bytes are torn.
    #[must_use]
    pub fn new(provision: &Provision, byte_ns: u64, noise_seed: u64) -> HostMeter {
        HostMeter {
            provision: *provision.flash(),
            setup: *provision.setup(),
            byte_ns,
            meter: None,
            eeprom: Some(Eeprom::with_image(&provision.eeprom(), noise_seed)),
            doing: Doing::Off,
            now_ns: 0,
            noise_seed,
            power_w: 0.0,
            coming: VecDeque::new(),
            emissions: Vec::new(),
        }
    }

    fn start(&mut self, cause: Cause) {
        let Some(eeprom) = self.eeprom.take() else { return };
        self.noise_seed = self.noise_seed.wrapping_add(1);
        let mut meter = Meter::start(&self.provision, eeprom, cause, self.noise_seed, self.now_ns);
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
        self.doing = match meter.resume(now_ns, reply) {
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
                self.eeprom = self.meter.take().map(|meter| meter.cut_power(now_ns, Torn::New));
                self.doing = Doing::Off;
                return self.start(Cause::Commanded);
            }
        };
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
        let now_ns = self.now_ns;
        if let Some(meter) = self.meter.take() {
            self.eeprom = Some(meter.cut_power(now_ns, Torn::Any));
        }
        // What has not begun does not go out.
        self.emissions.retain(|byte| byte.start_ns < now_ns);
        self.coming.clear();
        self.doing = Doing::Off;
    }

    fn power_up(&mut self, now_ns: u64, _: Voltages) -> Result<(), LabError> {
        self.now_ns = self.now_ns.max(now_ns);
        self.start(Cause::PowerOn);
        Ok(())
    }

    fn is_writing(&mut self) -> bool {
        self.meter.as_ref().is_some_and(|meter| meter.eeprom().busy())
    }

    fn meter_status(&self) -> Status {
        self.meter.as_ref().map(Meter::status).unwrap_or_default()
    }
}
