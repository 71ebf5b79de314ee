//! Somebody within reach who hears all that is sent, and sends and jams what they like; they know
//! the protocol, but no key.

use crate::chance::{Chance, Purpose};
use crate::radio::{SentPacket, framing};
use crate::time::SECOND_NS;
use serde::{Deserialize, Serialize};
use wire::meter::{RenewalPacket, UpdatePacket};

/// Number of packets that they remember; then one at random makes room for a new one.
const MEMORY: usize = 4096;

/// Attacker's behaviour, as a scenario states it.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AttackerSettings {
    /// Packets an hour, of all kinds, at random times. Half of them are sent right behind a meter's
    /// report or a piece of a renewal, in the place of what is waited for. Once they have heard
    /// pieces, half of them are made of those.
    #[serde(default)]
    pub packets_per_hour: f64,
    /// Share of the time for which noise is on the air.
    #[serde(default)]
    pub jam_share: f64,
    /// Mean length of a stretch of noise, in seconds.
    #[serde(default = "one")]
    pub jam_s: f64,
}

fn one() -> f64 {
    1.0
}

/// Attack on a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Attack {
    /// A packet that was heard, as it was.
    Replay,
    /// One whose bits they changed, its check sum made anew.
    Alter,
    /// One that is shorter.
    Truncate,
    /// Random bytes for somebody's address.
    Random,
    /// A packet of the right form with random contents.
    Forge,
    /// A piece of a renewal in the place of another one.
    Splice,
}

impl Attack {
    /// All.
    pub const ALL: [Attack; 6] =
        [Attack::Replay, Attack::Alter, Attack::Truncate, Attack::Random, Attack::Forge, Attack::Splice];
    /// Attacks on any packet.
    const TO_ANY: [Attack; 5] =
        [Attack::Replay, Attack::Alter, Attack::Truncate, Attack::Random, Attack::Forge];

    /// As a table has it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Attack::Replay => "replayed",
            Attack::Alter => "altered",
            Attack::Truncate => "truncated",
            Attack::Random => "random",
            Attack::Forge => "forged",
            Attack::Splice => "spliced",
        }
    }
}

/// Next packet of the attacker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// A packet.
    Packet {
        /// Attack that was made on it.
        attack: Attack,
        /// The channel that it goes out on: an index.
        channel: usize,
        /// Its bytes, the address first.
        packet: Vec<u8>,
    },
    /// Noise for so long, in nanoseconds.
    Noise(u64),
}

/// The attacker.
pub struct Attacker {
    settings: AttackerSettings,
    chance: Chance,
    /// Packets, and the channel of each.
    heard: Vec<(usize, Vec<u8>)>,
    /// Pieces of renewals and images among them, and what is done with those; the one that was sent
    /// last.
    pieces: Vec<(usize, Vec<u8>)>,
    of_pieces: Chance,
    last_piece: Option<(usize, Vec<u8>)>,
    packet_ns: u64,
    /// The next packet waits for a report, or a piece, to answer.
    waits: bool,
    noise_ns: u64,
    /// Packets sent of each kind, in the order of [`Attack::ALL`].
    pub sent: [u64; Attack::ALL.len()],
}

impl Attacker {
    /// An attacker who has heard nothing yet.
    #[must_use]
    pub fn new(settings: AttackerSettings, seed: u64) -> Attacker {
        let mut attacker = Attacker {
            settings,
            chance: Chance::new(seed, Purpose::Attack, 0, 0),
            heard: Vec::new(),
            pieces: Vec::new(),
            of_pieces: Chance::new(seed, Purpose::Attack, 1, 0),
            last_piece: None,
            packet_ns: u64::MAX,
            waits: false,
            noise_ns: u64::MAX,
            sent: [0; Attack::ALL.len()],
        };
        attacker.plan_packet(0);
        attacker.plan_noise(0);
        attacker
    }

    /// They go away.
    pub fn stop(&mut self) {
        (self.packet_ns, self.noise_ns, self.waits) = (u64::MAX, u64::MAX, false);
    }

    /// When they act next.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        self.packet_ns.min(self.noise_ns)
    }

    fn plan_packet(&mut self, now_ns: u64) {
        if self.settings.packets_per_hour > 0.0 {
            let gap_s = self.chance.exponential(3600.0 / self.settings.packets_per_hour);
            self.packet_ns = now_ns + (gap_s * SECOND_NS as f64) as u64 + 1;
            self.waits = self.chance.happens(0.5);
        }
    }

    fn plan_noise(&mut self, now_ns: u64) {
        let share = self.settings.jam_share;
        if share > 0.0 {
            let gap_s = self.chance.exponential(self.settings.jam_s * (1.0 - share) / share);
            self.noise_ns = now_ns + (gap_s * SECOND_NS as f64) as u64 + 1;
        }
    }

    /// They hear a packet that somebody has sent. `report`: a meter's, that waits for its
    /// acknowledgement.
    pub fn hear(&mut self, channel: usize, packet: &SentPacket, report: bool, now_ns: u64) {
        if self.heard.len() < MEMORY {
            self.heard.push((channel, packet.packet.clone()));
        } else {
            let at = self.chance.below(MEMORY as u64) as usize;
            self.heard[at] = (channel, packet.packet.clone());
        }
        let is_piece = RenewalPacket::parse(&packet.packet).is_some() || is_of_image(&packet.packet);
        if is_piece {
            if self.pieces.len() < MEMORY {
                self.pieces.push((channel, packet.packet.clone()));
            } else {
                let at = self.of_pieces.below(MEMORY as u64) as usize;
                self.pieces[at] = (channel, packet.packet.clone());
            }
            self.last_piece = Some((channel, packet.packet.clone()));
        }
        if self.waits && (report || is_piece) && self.packet_ns <= now_ns + SECOND_NS {
            // A turnaround, and up to the time for which the meter waits.
            self.packet_ns = now_ns + 1_000_000 + self.chance.below(40_000_000);
            self.waits = false;
        }
    }

    /// Acts at `now_ns`, if it is time to.
    pub fn act(&mut self, now_ns: u64) -> Option<Act> {
        if self.noise_ns <= now_ns {
            let for_ns = (self.chance.exponential(self.settings.jam_s) * SECOND_NS as f64) as u64 + 1;
            self.plan_noise(now_ns + for_ns);
            return Some(Act::Noise(for_ns));
        }
        if self.packet_ns > now_ns {
            return None;
        }
        let spliced = if self.of_pieces.happens(0.5) { self.splice() } else { None };
        let (attack, channel, packet) = match spliced {
            Some((channel, packet)) => (Attack::Splice, channel, packet),
            None => self.make(),
        };
        self.plan_packet(now_ns);
        self.sent[attack as usize] += 1;
        Some(Act::Packet { attack, channel, packet })
    }

    fn make(&mut self) -> (Attack, usize, Vec<u8>) {
        let chance = &mut self.chance;
        let attack = Attack::TO_ANY[chance.below(Attack::TO_ANY.len() as u64) as usize];
        let Some(at) = self.heard.len().checked_sub(1).map(|last| chance.below(last as u64 + 1) as usize)
        else {
            let mut packet = vec![0; 1 + chance.below(framing::LONGEST as u64) as usize];
            chance.fill(&mut packet);
            return (Attack::Random, 0, packet);
        };
        let (channel, mut packet) = self.heard[at].clone();
        match attack {
            Attack::Replay => {}
            Attack::Alter => {
                for _ in 0..1 + chance.below(3) {
                    // The address stays: they want to be heard.
                    let bit = 8 + chance.below(8 * packet.len().max(2) as u64 - 8) as usize;
                    if let Some(byte) = packet.get_mut(bit / 8) {
                        *byte ^= 1 << (bit % 8);
                    }
                }
            }
            Attack::Truncate => packet.truncate(1 + chance.below(packet.len() as u64) as usize),
            Attack::Random => {
                let length = 1 + chance.below(framing::LONGEST as u64) as usize;
                packet.resize(length, 0);
                chance.fill(&mut packet[1..]);
            }
            // Behind address, kind and name: the number, and all that is sealed.
            Attack::Forge | Attack::Splice => {
                if let Some(sealed) = packet.get_mut(4..) {
                    chance.fill(sealed);
                }
            }
        }
        (attack, channel, packet)
    }

    /// A piece in the place of another; none where they have heard none.
    fn splice(&mut self) -> Option<(usize, Vec<u8>)> {
        // Address, kind, name, the lowest byte of the command's number, index.
        const NUMBER: usize = 4;
        let chance = &mut self.of_pieces;
        let at = chance.below(self.pieces.len() as u64) as usize;
        let (channel, piece) = self.pieces.get(at)?.clone();
        let (last_channel, last) = self.last_piece.clone()?;
        let header_bytes = |from: &[u8]| if is_of_image(from) { 7 } else { 6 };
        let sealed = |from: &[u8]| from.get(header_bytes(from)..).unwrap_or_default().to_vec();
        let header = |from: &[u8]| from.get(..header_bytes(from)).unwrap_or_default().to_vec();
        Some(match chance.below(5) {
            // Of an older renewal, or from elsewhere in this one, as it was.
            0 => (channel, piece),
            // Its contents where the last one is waited for.
            1 => (last_channel, [header(&last), sealed(&piece)].concat()),
            // The last one under another index, and under another command's number.
            2 => {
                let index = header_bytes(&last) - 1;
                let mut moved = last;
                moved[index] = chance.below(53) as u8;
                (last_channel, moved)
            }
            3 => {
                let mut moved = last;
                moved[NUMBER] = piece[NUMBER];
                (last_channel, moved)
            }
            // What one side sent, to itself: the contents of the one behind the other one's header.
            _ => (channel, [header(&piece), sealed(&last)].concat()),
        })
    }
}

/// A piece of an image, or the reply to one.
fn is_of_image(packet: &[u8]) -> bool {
    UpdatePacket::parse(packet).is_some()
}
