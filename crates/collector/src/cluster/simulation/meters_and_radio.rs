//! Meters, which are the very C files of `device/meter` built for the host, their radio, and
//! gateways.

use super::jetstream::Request;
use super::world::{Context, Event, Us};
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use device::meter::eeprom::{Eeprom, Torn};
use device::meter::{Call, Cause, Load, Meter, Packet, Reply};
use std::collections::BTreeMap;
use wire::meter::{Command, MeterId, Provision, QueuedCommand, Suite};

/// 49.2 kbit/s, with preamble, sync, length and check sum (`radios/rfm12b.toml`).
fn air_time(packet: &[u8]) -> Us {
    (packet.len() as Us + 9) * 163
}

struct Site {
    provision: Provision,
    meter: Option<Meter>,
    listens: bool,
    /// The message that it sends until it is acknowledged.
    sends: Option<Vec<u8>>,
    /// The call that it waits for.
    call: u64,
    starts: u64,
    /// Measurements that it lost for want of room before it started last.
    lost: u64,
}

pub(super) struct MetersAndRadio {
    sites: Vec<Site>,
    slices: Slices,
    /// Until when each gateway is not there.
    gateways: Vec<Us>,
    /// The packets that a gateway heard for a partition, and publishes together.
    heard: BTreeMap<(usize, Partition), Vec<Vec<u8>>>,
    seed: u64,
}

impl MetersAndRadio {
    pub(super) fn new(
        provisions: Vec<Provision>,
        slices: Slices,
        gateways: usize,
        seed: u64,
    ) -> MetersAndRadio {
        let site = |provision| Site {
            provision,
            meter: None,
            listens: false,
            sends: None,
            call: 0,
            starts: 0,
            lost: 0,
        };
        MetersAndRadio {
            sites: provisions.into_iter().map(site).collect(),
            slices,
            gateways: vec![0; gateways],
            heard: BTreeMap::new(),
            seed,
        }
    }

    pub(super) fn power_up(&mut self, context: &mut Context) {
        for number in 0..self.sites.len() {
            let seed = self.seed ^ number as u64;
            let eeprom = Eeprom::with_image(&self.sites[number].provision.eeprom(), seed);
            self.start(context, number, eeprom, Cause::PowerOn);
        }
    }

    fn start(&mut self, context: &mut Context, number: usize, eeprom: Eeprom, cause: Cause) {
        let site = &mut self.sites[number];
        site.starts += 1;
        let seed = self.seed ^ (number as u64) << 32 ^ site.starts;
        let now_ns = context.now * 1000;
        let mut meter = Meter::start(&site.provision.flash(), eeprom, cause, seed, now_ns);
        let setup = site.provision.setup();
        let power_w = 100.0 + 300.0 * number as f64;
        meter.set_load(
            now_ns,
            Load {
                power_w,
                voltage_v: 230.0,
                current_a: power_w / 230.0,
                volts_per_step: f64::from(setup.voltage_uv) / 1e6,
                amperes_per_step: f64::from(setup.current_ua) / 1e6,
            },
        );
        site.meter = Some(meter);
        self.resume(context, number, Reply::Done);
    }

    fn resume(&mut self, context: &mut Context, number: usize, reply: Reply) {
        let now_ns = context.now * 1000;
        let site = &mut self.sites[number];
        let Some(meter) = &mut site.meter else { return };
        site.call += 1;
        (site.listens, site.sends) = (false, None);
        let over = match meter.resume(now_ns, reply) {
            Call::Send(packet) => {
                let bytes = packet.bytes().to_vec();
                let time = air_time(&bytes);
                context.checks.on_air(context.now, &bytes);
                site.sends = Some(bytes);
                context.now + time
            }
            Call::Listen { until_ns } => {
                site.listens = true;
                until_ns.div_ceil(1000)
            }
            Call::Sleep { until_ns } => until_ns.div_ceil(1000),
            Call::Stopped => return,
            Call::Reset => {
                context.checks.rebooted(site.provision.setup().meter);
                site.lost += u64::from(meter.status().lost);
                let eeprom = site.meter.take().map(|meter| meter.cut_power(now_ns, Torn::New));
                if let Some(eeprom) = eeprom {
                    self.start(context, number, eeprom, Cause::Commanded);
                }
                return;
            }
        };
        let time = over.saturating_sub(context.now);
        context.after(time, Event::Meter(number, site.call));
    }

    pub(super) fn call_over(&mut self, context: &mut Context, number: usize, call: u64) {
        let site = &mut self.sites[number];
        if site.call != call {
            return;
        }
        if let Some(packet) = site.sends.take() {
            for gateway in 0..self.gateways.len() {
                if !context.chance(context.faults.lost_packets) {
                    context.after(0, Event::GatewayHears(gateway, packet.clone()));
                }
            }
        }
        self.resume(context, number, Reply::Done);
    }

    pub(super) fn meter_hears(&mut self, context: &mut Context, number: usize, packet: &[u8]) {
        if let (true, Some(packet)) = (self.sites[number].listens, Packet::new(packet)) {
            self.resume(context, number, Reply::Heard(packet));
        }
    }

    fn is_there(&self, context: &Context, gateway: usize) -> bool {
        context.now >= self.gateways[gateway]
    }

    pub(super) fn gateway_down(&mut self, context: &Context, gateway: usize, time: Us) {
        self.gateways[gateway] = context.now + time;
        self.heard.retain(|(of, _), _| *of != gateway);
    }

    pub(super) fn gateway_hears(&mut self, context: &mut Context, gateway: usize, packet: Vec<u8>) {
        if self.is_there(context, gateway) {
            let partition = self.slices.partition_of_packet(NetworkId::DEFAULT, &packet);
            self.heard.entry((gateway, partition)).or_default().push(packet);
            // Longer than `gateway` waits, so that more messages have several.
            let time = context.between(0, 50_000);
            context.after(time, Event::GatewayPublishes(gateway, partition));
        }
    }

    pub(super) fn publish(&mut self, context: &mut Context, gateway: usize, partition: Partition) {
        if let Some(packets) = self.heard.remove(&(gateway, partition)) {
            let request = Request::Publish { partition, gateway, packets };
            context.publish(None, Event::ToJetStream { from: None, number: 0, request });
        }
    }

    pub(super) fn send(&mut self, context: &mut Context, gateway: usize, packets: &[Vec<u8>]) {
        if !self.is_there(context, gateway) {
            return;
        }
        let mut time = 0;
        for packet in packets {
            time += air_time(packet);
            for number in 0..self.sites.len() {
                if !context.chance(context.faults.lost_packets) {
                    context.after(time, Event::MeterHears(number, packet.clone()));
                }
            }
        }
    }

    /// A command for any of the meters.
    pub(super) fn some_command(&self, context: &mut Context) -> (MeterId, QueuedCommand) {
        let number = context.between(0, self.sites.len() as u64 - 1) as usize;
        let setup = self.sites[number].provision.setup();
        let command = match context.between(0, 5) {
            0 | 1 => Command::Reboot.into(),
            2 => QueuedCommand::TimeNow,
            3 => Command::Configure { interval_s: setup.interval_s, suite: Suite::Aes256Gcm }.into(),
            page => Command::ReadStatus { page: page as u8 % 2 }.into(),
        };
        (setup.meter, command)
    }

    /// Meters whose reports of before this time wait still, and how many.
    pub(super) fn waiting(&self) -> impl Iterator<Item = (MeterId, u8)> {
        self.sites.iter().filter_map(|site| {
            let waiting = site.meter.as_ref()?.status().waiting;
            Some((site.provision.setup().meter, waiting))
        })
    }

    /// Measurements that meters say they lost for want of room.
    pub(super) fn lost(&self) -> u64 {
        let lost = |site: &Site| site.meter.as_ref().map_or(0, |meter| u64::from(meter.status().lost));
        self.sites.iter().map(|site| site.lost + lost(site)).sum()
    }
}
