//! A meter of the firmware itself, compiled for the host, and somebody who hears what it hears.

use super::station::Gateway;
use collector::meters::MetersHandle;
use collector::registry::Registry;
use device::meter::eeprom::{Eeprom, Torn};
use device::meter::flash::Flash;
use device::meter::{Call, Cause, Meter, Reply};
use std::collections::VecDeque;
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::random::Random;
use wire::meter::{Setup, Suite, UpdatePacket};

/// The time of a packet on the air.
const PACKET_NS: u64 = 4_000_000;
/// The silence after which no packet comes until the meter stops listening.
const QUIET: Duration = Duration::from_millis(20);
/// However busy the machine is.
pub const LONG: Duration = Duration::from_secs(120);

/// The time of a start.
const START_NS: u64 = 1_000_000;

/// A piece of a renewal, by its header.
pub fn is_renewal(packet: &[u8]) -> bool {
    packet[1] & 0x3f == Suite::Aes256GcmRekeyed.code() << 3 | 6
}

/// The firmware. Its packets take time; its sleep, and its vain listening, hardly any.
pub struct Firmware {
    pub meter: Meter,
    provision: [u8; 176],
    seed: u64,
    now_ns: u64,
    reply: Reply,
    /// The packets that it receives next.
    to_meter: VecDeque<Vec<u8>>,
    pub attacker: Option<Attacker>,
    /// Those that were sent, in both directions.
    pub renewal_packets: usize,
    /// Pieces of images that came.
    pub pieces: usize,
}

impl Firmware {
    /// A new one, of the images that are written into it.
    pub fn provision(registry: &Registry, setup: Setup, images: &Path, seed: u64) -> Firmware {
        Firmware::provision_with(None, registry, setup, images, seed)
    }

    /// A new one; with flash it is one that a bootloader runs.
    pub fn provision_with(
        flash: Option<Flash>,
        registry: &Registry,
        setup: Setup,
        images: &Path,
        seed: u64,
    ) -> Firmware {
        let (_, images) = registry.provision(setup, 0, images).expect("a meter");
        let read = |path: &Path| std::fs::read(path).expect("an image");
        let provision = read(&images.flash).try_into().expect("176 bytes");
        let eeprom: [u8; 1024] = read(&images.eeprom).try_into().expect("1024 bytes");
        let eeprom = Eeprom::with_image(&eeprom, seed);
        let meter = match flash {
            Some(flash) => Meter::start_from(flash, &provision, eeprom, Cause::PowerOn, seed, 0),
            None => Meter::start(&provision, eeprom, Cause::PowerOn, seed, 0),
        };
        Firmware {
            meter,
            provision,
            seed,
            now_ns: 0,
            reply: Reply::Done,
            to_meter: VecDeque::new(),
            attacker: None,
            renewal_packets: 0,
            pieces: 0,
        }
    }

    pub fn step(&mut self, handle: &MetersHandle, gateway: &Gateway) {
        let call = self.meter.resume(self.now_ns, self.reply);
        self.reply = Reply::Done;
        match call {
            Call::Send(packet) => {
                let packet = packet.bytes().to_vec();
                self.renewal_packets += usize::from(is_renewal(&packet));
                let wrong = self.attacker.as_mut().map(|attacker| attacker.on_its_way(&packet));
                gateway.hear(handle, 1, &wrong.unwrap_or_default());
                gateway.hear(handle, 1, &[packet]);
                self.now_ns += PACKET_NS;
            }
            Call::Listen { until_ns } => {
                let began = Instant::now();
                let within = Duration::from_nanos(until_ns.saturating_sub(self.now_ns)).min(QUIET);
                if self.to_meter.is_empty()
                    && let Some(packet) = gateway.next_packet(within)
                {
                    self.renewal_packets += usize::from(is_renewal(&packet));
                    self.pieces += usize::from(UpdatePacket::parse(&packet).is_some());
                    let wrong = self.attacker.as_mut().map(|attacker| attacker.on_its_way(&packet));
                    self.to_meter.extend(wrong.unwrap_or_default());
                    self.to_meter.push_back(packet);
                }
                match self.to_meter.pop_front().map(|packet| device::meter::Packet::new(&packet)) {
                    Some(packet) => {
                        self.reply = packet.map_or(Reply::Done, Reply::Heard);
                        self.now_ns += began.elapsed().as_nanos() as u64;
                        self.now_ns = self.now_ns.min(until_ns);
                    }
                    None => self.now_ns = until_ns,
                }
            }
            Call::Sleep { until_ns } => self.now_ns = until_ns,
            Call::Reset => self.start_again(),
            Call::Stopped => panic!("nobody asks for that"),
        }
    }

    /// The bootloader chooses what runs.
    fn start_again(&mut self) {
        let flash = self.meter.flash().cloned().expect("nobody asks for that without a bootloader");
        let fresh = Meter::start(&self.provision, Eeprom::new(0), Cause::Commanded, self.seed, self.now_ns);
        let eeprom = std::mem::replace(&mut self.meter, fresh).cut_power(self.now_ns, Torn::Old);
        (self.now_ns, self.seed) = (self.now_ns + START_NS, self.seed + 1);
        let cause = Cause::Commanded;
        self.meter = Meter::start_from(flash, &self.provision, eeprom, cause, self.seed, self.now_ns);
    }

    pub fn epoch(&self) -> u32 {
        self.meter.status().epoch.into()
    }

    /// Reports are acknowledged with the key that it has now.
    pub fn is_well(&mut self, handle: &MetersHandle, gateway: &Gateway) {
        let (before, until) = (self.meter.status().acknowledged, Instant::now() + LONG);
        while self.meter.status().acknowledged < before + 3 {
            assert!(Instant::now() < until, "{:?}", self.meter.status());
            self.step(handle, gateway);
        }
    }
}

/// Hears all packets of renewals, and makes others of them.
pub struct Attacker {
    random: Random,
    heard: Vec<Vec<u8>>,
    /// The number of packets.
    pub made: usize,
}

impl Attacker {
    pub fn new(seed: u64) -> Attacker {
        Attacker { random: Random::new(seed), heard: Vec::new(), made: 0 }
    }

    /// Returns the packets that come before this one: pieces that are cut short, changed, of other
    /// positions, and of earlier renewals.
    fn on_its_way(&mut self, packet: &[u8]) -> Vec<Vec<u8>> {
        if !is_renewal(packet) {
            return Vec::new();
        }
        let mut any = |below: usize| self.random.below(below as u32) as usize;
        let mut flipped = packet.to_vec();
        flipped[4 + any(packet.len() - 4)] ^= 1 << any(8);
        let mut elsewhere = packet.to_vec();
        elsewhere[5] = (packet[5] + 1 + any(52) as u8) % 53;
        let mut wrong = vec![packet[..1 + any(packet.len() - 1)].to_vec(), flipped, elsewhere];
        let same_way: Vec<&Vec<u8>> = self.heard.iter().filter(|heard| heard[1] == packet[1]).collect();
        if !same_way.is_empty() {
            let old = same_way[any(same_way.len())];
            wrong.extend([old.clone(), [&packet[..6], &old[6..]].concat()]);
        }
        self.made += wrong.len();
        self.heard.push(packet.to_vec());
        wrong
    }
}
