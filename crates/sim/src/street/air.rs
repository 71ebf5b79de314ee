//! The air of a street: everything that is sent, what overlaps, and what becomes of it on its way to each receiver.
//!
//! All stations are as far from each other as from the collector: what is sent is heard by all, [`Medium::latency_ns`] later.
//! Two that send at once spoil the bytes that overlap, for everyone. Beside that, each packet has a fate of its own for each
//! receiver: it is lost, or late, or comes twice, and some of its bits are wrong.
//!
//! The latency is what lets stations live apart: a world whose stations have all lived up to a time knows all that is sent
//! before it, and none of it is heard before [`Medium::step_ns`] more have passed.

use super::chance::{Chance, For};
use super::framing::Frame;
use super::station::AirByte;
use crate::node::SECOND_NS;

/// Who is on the air: a meter by its index, or one of these.
pub type Participant = usize;

/// What the air does to packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Medium {
    /// Where its random numbers begin.
    pub seed: u64,
    /// The stations' group: the second byte of the synchronisation.
    pub group: u8,
    /// From the sender's antenna to a receiver's.
    pub latency_ns: u64,
    /// How long a byte takes, in nanoseconds.
    pub byte_ns: u64,
    /// Share of the packets that a receiver does not get.
    pub loss: f64,
    /// Share of the bits that are wrong.
    pub bit_error_rate: f64,
    /// Share of the packets that a receiver gets once more, later.
    pub duplicate: f64,
    /// Share of the packets that a receiver gets later, behind others.
    pub reorder: f64,
    /// How much later: least and most, in nanoseconds.
    pub later_ns: (u64, u64),
}

impl Medium {
    /// How far stations may live on from a time up to which all have lived: the latency, less the byte that may have begun
    /// before that time and is not over.
    #[must_use]
    pub fn step_ns(&self) -> u64 {
        self.latency_ns.saturating_sub(self.byte_ns).max(1)
    }
}

/// A byte as it is sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: AirByte,
    clear: bool,
}

/// Bytes without a pause between them.
#[derive(Clone, Debug)]
struct Transmission {
    id: u64,
    from: Participant,
    /// The one receiver that hears it: a packet that comes late, or once more.
    only: Option<Participant>,
    sent: Vec<Sent>,
    bytes: Vec<u8>,
    frame: Option<Frame>,
    announced: bool,
    /// The packet has been handed on.
    handed: bool,
    /// Nothing follows.
    closed: bool,
    /// Bytes that have been handed on.
    passed: usize,
}

/// A packet as it was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Overheard {
    /// Who sent it.
    pub from: Participant,
    /// When its first bit was sent.
    pub start_ns: u64,
    /// When its last bit was.
    pub end_ns: u64,
    /// Bytes on the air, all that belongs to its frame.
    pub air_bytes: usize,
    /// The packet, its address first.
    pub packet: Vec<u8>,
    /// Some of it met with something else on the air.
    pub collided: bool,
}

/// How a participant hears, and its radio address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hearing {
    /// Not at all: it has no power, or learns of packets in another way.
    Nothing,
    /// Each byte that is on the air: its radio chip finds packets in them.
    Bytes(u8),
    /// Whole packets for its address.
    Packets(u8),
}

impl Hearing {
    fn is_meant(self, address: u8) -> bool {
        match self {
            Hearing::Nothing => false,
            Hearing::Bytes(own) | Hearing::Packets(own) => address == own,
        }
    }

    fn is_whole(self) -> bool {
        matches!(self, Hearing::Packets(_))
    }
}

/// What a receiver of whole packets gets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A packet begins.
    Coming {
        /// Its first bit.
        start_ns: u64,
        /// Its last bit.
        end_ns: u64,
    },
    /// A packet has come.
    Packet {
        /// Who sent it.
        from: Participant,
        /// Its first bit.
        start_ns: u64,
        /// Its last bit.
        end_ns: u64,
        /// The packet, its address first.
        packet: Vec<u8>,
    },
}

/// A byte at a receiver of bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeardByte {
    /// The byte, its times those of its arrival.
    pub at: AirByte,
    /// Nothing else came with it.
    pub readable: bool,
}

/// What has been on the air in all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Traffic {
    /// Packets sent.
    pub packets: u64,
    /// Of these, packets that overlapped with another transmission.
    pub collided: u64,
    /// Bytes sent, with preambles and check sums.
    pub bytes: u64,
    /// Time for which somebody was sending a packet, each sender's counted.
    pub sending_ns: u64,
    /// Time for which the attacker's noise was on the air.
    pub jammed_ns: u64,
    /// Packets lost on their way to somebody who was to hear them.
    pub lost: u64,
    /// Packets with wrong bits at somebody who was to hear them.
    pub spoilt: u64,
    /// Packets that came once more.
    pub duplicated: u64,
    /// Packets that came late.
    pub delayed: u64,
}

#[derive(Clone, Copy)]
struct Fate {
    lost: bool,
    later_ns: Option<u64>,
    again_ns: Option<u64>,
}

/// The air.
pub struct Air {
    medium: Medium,
    live: Vec<Transmission>,
    noise: Vec<(u64, u64)>,
    next_id: u64,
    traffic: Traffic,
    /// Transmissions that are heard later, by one receiver: sorted when they begin.
    echoes: Vec<(u64, Participant, Participant, Vec<u8>)>,
    overheard: Vec<Overheard>,
    quiet: bool,
}

impl Air {
    /// An air on which nothing has been sent.
    #[must_use]
    pub fn new(medium: Medium) -> Air {
        Air {
            medium,
            live: Vec::new(),
            noise: Vec::new(),
            next_id: 0,
            traffic: Traffic::default(),
            echoes: Vec::new(),
            overheard: Vec::new(),
            quiet: false,
        }
    }

    /// From now on no packet is lost, late, doubled or spoilt but by another one.
    pub fn calm(&mut self) {
        self.quiet = true;
    }

    /// What has been on the air.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Packets whose sending is over, since the last call.
    pub fn overheard(&mut self) -> Vec<Overheard> {
        std::mem::take(&mut self.overheard)
    }

    /// When [`Air::settle`] has something to do next; [`u64::MAX`] for never.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        let ends = self.live.iter().filter_map(|sending| {
            let ripe = sending.sent.last().map(|last| last.at.end_ns);
            ripe.filter(|_| sending.passed < sending.sent.len())
        });
        let begins = self.echoes.iter().map(|(at_ns, ..)| *at_ns);
        ends.chain(begins).min().unwrap_or(u64::MAX)
    }

    /// Somebody sends these bytes, in their order, behind all that it has sent before.
    pub fn send(&mut self, from: Participant, bytes: &[AirByte]) {
        for &byte in bytes {
            self.send_byte(from, None, byte);
        }
    }

    /// Somebody sends a packet's bytes from a time on.
    pub fn send_all(&mut self, from: Participant, start_ns: u64, bytes: &[u8]) {
        let byte_ns = self.medium.byte_ns;
        for (index, &byte) in bytes.iter().enumerate() {
            let start_ns = start_ns + index as u64 * byte_ns;
            self.send_byte(from, None, AirByte { start_ns, end_ns: start_ns + byte_ns, byte });
        }
    }

    /// The attacker's noise, from a time to another: whatever is sent meanwhile cannot be read.
    pub fn jam(&mut self, start_ns: u64, end_ns: u64) {
        self.traffic.jammed_ns += end_ns - start_ns;
        self.noise.push((start_ns, end_ns));
        for sending in &mut self.live {
            for sent in &mut sending.sent {
                sent.clear &= !overlap((sent.at.start_ns, sent.at.end_ns), (start_ns, end_ns));
            }
        }
    }

    fn send_byte(&mut self, from: Participant, only: Option<Participant>, at: AirByte) {
        let times = (at.start_ns, at.end_ns);
        let mut clear = !self.noise.iter().any(|&noise| overlap(noise, times));
        let follows = |sending: &Transmission| {
            let last_ns = sending.sent.last().map_or(0, |last| last.at.end_ns);
            sending.from == from
                && sending.only == only
                && !sending.closed
                && at.start_ns <= last_ns + self.medium.byte_ns / 2
        };
        let own = self.live.iter().rposition(follows);
        for (index, other) in self.live.iter_mut().enumerate() {
            if Some(index) == own {
                continue;
            }
            let span = (other.sent[0].at.start_ns, other.sent[other.sent.len() - 1].at.end_ns);
            if !overlap(span, times) {
                continue;
            }
            for sent in &mut other.sent {
                if overlap((sent.at.start_ns, sent.at.end_ns), times) {
                    // An echo is the weaker one, and is heard by nobody else.
                    sent.clear &= only.is_some() && other.only.is_none();
                    clear &= only.is_none() && other.only.is_some();
                }
            }
        }
        let index = own.unwrap_or_else(|| {
            for sending in self.live.iter_mut().filter(|sending| sending.from == from && sending.only == only)
            {
                sending.closed = true;
            }
            self.live.push(Transmission {
                id: self.next_id,
                from,
                only,
                sent: Vec::with_capacity(80),
                bytes: Vec::with_capacity(80),
                frame: None,
                announced: false,
                handed: false,
                closed: false,
                passed: 0,
            });
            self.next_id += 1;
            self.live.len() - 1
        });
        let sending = &mut self.live[index];
        sending.sent.push(Sent { at, clear });
        sending.bytes.push(at.byte);
        if only.is_none() {
            self.traffic.bytes += 1;
            self.traffic.sending_ns += at.end_ns - at.start_ns;
        }
        if sending.frame.is_none() {
            sending.frame = Frame::find(self.medium.group, &sending.bytes);
        }
    }

    /// Everybody has lived up to `now_ns`, and all that they sent has been handed in: what that brings to whom. `ears` says of each
    /// participant how it hears.
    pub fn settle(&mut self, now_ns: u64, ears: &[Hearing], into: &mut [Inbox]) {
        self.begin_echoes(now_ns);
        for index in 0..self.live.len() {
            self.announce(index, ears, into);
            let sending = &self.live[index];
            let ripe = sending.sent.partition_point(|sent| sent.at.end_ns <= now_ns);
            if ripe > sending.passed {
                self.pass_bytes(index, ripe, ears, into);
                self.live[index].passed = ripe;
            }
            self.hand_packet(index, ears, into);
        }
        let latency_ns = self.medium.latency_ns;
        // What is over cannot meet with anything that is yet to be sent.
        self.live.retain(|sending| {
            let last_ns = sending.sent.last().map_or(0, |last| last.at.end_ns);
            sending.passed < sending.sent.len() || last_ns + latency_ns > now_ns
        });
        self.noise.retain(|&(_, end_ns)| end_ns + latency_ns > now_ns);
        for inbox in into {
            inbox.bytes.sort_by_key(|heard| heard.at.start_ns);
        }
    }

    fn begin_echoes(&mut self, now_ns: u64) {
        while let Some(due) = self.echoes.iter().position(|(at_ns, ..)| *at_ns <= now_ns) {
            let (_, from, to, bytes) = self.echoes.swap_remove(due);
            for (index, &byte) in bytes.iter().enumerate() {
                let start_ns = now_ns + index as u64 * self.medium.byte_ns;
                let at = AirByte { start_ns, end_ns: start_ns + self.medium.byte_ns, byte };
                self.send_byte(from, Some(to), at);
            }
        }
    }

    fn fate(&self, sending: &Transmission, to: Participant) -> Fate {
        if self.quiet || sending.only.is_some() {
            return Fate { lost: false, later_ns: None, again_ns: None };
        }
        let medium = &self.medium;
        let mut chance = Chance::new(medium.seed, For::Fate, sending.id, to as u64);
        let (least_ns, most_ns) = medium.later_ns;
        let lost = chance.happens(medium.loss);
        let late = chance.happens(medium.reorder);
        let twice = chance.happens(medium.duplicate);
        let delay_ns = least_ns + chance.below(most_ns - least_ns + 1);
        Fate {
            lost,
            later_ns: (late && !lost).then_some(delay_ns),
            again_ns: (twice && !late && !lost).then_some(delay_ns),
        }
    }

    /// Bits that are wrong at a receiver, within the bytes of a transmission from an index on.
    fn wrong_bits(&self, sending: &Transmission, to: Participant) -> Vec<usize> {
        let rate = self.medium.bit_error_rate;
        if self.quiet || rate <= 0.0 {
            return Vec::new();
        }
        let mut chance = Chance::new(self.medium.seed, For::Fate, sending.id, !(to as u64));
        let bits = 8 * (super::framing::BEFORE + super::framing::LONGEST + super::framing::BEHIND);
        let mut wrong = Vec::new();
        let mut at = 0;
        loop {
            // From one wrong bit to the next: geometrically distributed.
            let skip = ((1.0 - chance.unit()).ln() / (1.0 - rate).ln()).min(1e9) as usize;
            at += skip;
            if at >= bits {
                return wrong;
            }
            wrong.push(at);
            at += 1;
        }
    }

    fn announce(&mut self, index: usize, ears: &[Hearing], into: &mut [Inbox]) {
        let sending = &self.live[index];
        let Some(frame) = sending.frame.filter(|_| !sending.announced) else { return };
        let address = frame.address(&sending.bytes);
        let (byte_ns, latency_ns) = (self.medium.byte_ns, self.medium.latency_ns);
        let start_ns = sending.sent[frame.first()].at.start_ns;
        let coming = Arrival::Coming {
            start_ns: start_ns + latency_ns,
            end_ns: start_ns + latency_ns + (frame.end() - frame.first()) as u64 * byte_ns,
        };
        for (to, hearing) in ears.iter().enumerate() {
            let meant = sending.from != to && sending.only.is_none_or(|only| only == to);
            if meant && hearing.is_whole() && hearing.is_meant(address) {
                let fate = self.fate(sending, to);
                if !fate.lost && fate.later_ns.is_none() {
                    into[to].packets.push(coming.clone());
                }
            }
        }
        self.live[index].announced = true;
    }

    fn pass_bytes(&self, index: usize, ripe: usize, ears: &[Hearing], into: &mut [Inbox]) {
        let sending = &self.live[index];
        for (to, hearing) in ears.iter().enumerate() {
            let meant = sending.from != to && sending.only.is_none_or(|only| only == to);
            if !matches!(hearing, Hearing::Bytes(_)) || !meant {
                continue;
            }
            let fate = self.fate(sending, to);
            if fate.lost || fate.later_ns.is_some() {
                continue;
            }
            let wrong = self.wrong_bits(sending, to);
            for (at, sent) in sending.sent.iter().enumerate().take(ripe).skip(sending.passed) {
                // Of an echo that something stronger covers, nothing is heard.
                if sending.only.is_some() && !sent.clear {
                    continue;
                }
                let flips = wrong.iter().filter(|&&bit| bit / 8 == at);
                let byte = flips.fold(sent.at.byte, |byte, bit| byte ^ 0x80 >> (bit % 8));
                let heard = AirByte {
                    start_ns: sent.at.start_ns + self.medium.latency_ns,
                    end_ns: sent.at.end_ns + self.medium.latency_ns,
                    byte,
                };
                into[to].bytes.push(HeardByte { at: heard, readable: sent.clear });
            }
        }
    }

    /// Hands a packet on whose last byte is ripe.
    fn hand_packet(&mut self, index: usize, ears: &[Hearing], into: &mut [Inbox]) {
        let sending = &self.live[index];
        let Some(frame) = sending.frame.filter(|frame| !sending.handed && sending.passed >= frame.end())
        else {
            return;
        };
        let within = &sending.sent[frame.first()..frame.end()];
        let collided = within.iter().any(|sent| !sent.clear);
        let address = frame.address(&sending.bytes);
        let first = &sending.sent[0].at;
        let (start_ns, end_ns) = (first.start_ns, within[within.len() - 1].at.end_ns);
        let original = sending.only.is_none();
        let mut lost = 0;
        let mut spoilt = 0;
        let mut later = Vec::new();
        let mut again = Vec::new();
        for (to, hearing) in ears.iter().enumerate() {
            let meant = sending.from != to && sending.only.is_none_or(|only| only == to);
            if !meant || !hearing.is_meant(address) {
                continue;
            }
            let fate = self.fate(sending, to);
            if fate.lost {
                lost += 1;
                continue;
            }
            if !collided {
                later.extend(fate.later_ns.map(|delay_ns| (end_ns + delay_ns, to)));
                again.extend(fate.again_ns.map(|delay_ns| (end_ns + delay_ns, to)));
            }
            if fate.later_ns.is_some() || !hearing.is_whole() || collided {
                continue;
            }
            let mut bytes = sending.bytes.clone();
            let wrong = self.wrong_bits(sending, to);
            for bit in wrong.iter().filter(|&&bit| bit / 8 >= frame.first() && bit / 8 < frame.end()) {
                bytes[bit / 8] ^= 0x80 >> (bit % 8);
            }
            let heard = Frame::find(self.medium.group, &bytes[frame.first()..]);
            let heard = heard.and_then(|found| found.packet(&bytes[frame.first()..]));
            match heard.filter(|packet| hearing.is_meant(packet[0])) {
                None => spoilt += 1,
                Some(packet) => into[to].packets.push(Arrival::Packet {
                    from: sending.from,
                    start_ns: start_ns + self.medium.latency_ns,
                    end_ns: end_ns + self.medium.latency_ns,
                    packet,
                }),
            }
        }
        if original && let Some(packet) = frame.packet(&sending.bytes) {
            self.traffic.packets += 1;
            self.traffic.collided += u64::from(collided);
            let from = sending.from;
            self.overheard.push(Overheard {
                from,
                start_ns,
                end_ns,
                air_bytes: frame.end(),
                packet,
                collided,
            });
        }
        self.traffic.lost += lost;
        self.traffic.spoilt += spoilt;
        self.traffic.delayed += later.len() as u64;
        self.traffic.duplicated += again.len() as u64;
        let (from, bytes) = (sending.from, sending.bytes.clone());
        self.echoes
            .extend(later.into_iter().chain(again).map(|(at_ns, to)| (at_ns, from, to, bytes.clone())));
        self.live[index].handed = true;
    }
}

/// What has come to a participant and waits to be handed over.
#[derive(Clone, Debug, Default)]
pub struct Inbox {
    /// Bytes, by time.
    pub bytes: Vec<HeardByte>,
    /// Packets and their announcements, by time of their sending.
    pub packets: Vec<Arrival>,
}

fn overlap(one: (u64, u64), other: (u64, u64)) -> bool {
    one.0 < other.1 && other.0 < one.1
}

/// How long a byte takes at a bit rate, in nanoseconds.
#[must_use]
pub fn byte_ns(bit_rate_hz: f64) -> u64 {
    (8.0 * SECOND_NS as f64 / bit_rate_hz).round() as u64
}

#[cfg(test)]
mod tests {
    use super::super::framing::encode;
    use super::*;

    const BYTE_NS: u64 = 162_400;
    const EARS: [Hearing; 3] = [Hearing::Packets(2), Hearing::Bytes(3), Hearing::Packets(1)];

    fn medium() -> Medium {
        Medium {
            seed: 1,
            group: 212,
            latency_ns: 1_000_000,
            byte_ns: BYTE_NS,
            loss: 0.0,
            bit_error_rate: 0.0,
            duplicate: 0.0,
            reorder: 0.0,
            later_ns: (5_000_000, 50_000_000),
        }
    }

    /// Lets time pass in steps, and gathers what each hears.
    fn heard(air: &mut Air, until_ns: u64) -> Vec<Inbox> {
        let mut all = vec![Inbox::default(); 3];
        let mut now_ns = 0;
        while now_ns < until_ns {
            now_ns += air.medium.step_ns();
            let mut inboxes = vec![Inbox::default(); 3];
            air.settle(now_ns, &EARS, &mut inboxes);
            for (all, inbox) in all.iter_mut().zip(inboxes) {
                for byte in &inbox.bytes {
                    assert!(byte.at.start_ns >= now_ns, "heard in the past");
                }
                all.bytes.extend(inbox.bytes);
                all.packets.extend(inbox.packets);
            }
        }
        all
    }

    fn packets(inbox: &Inbox) -> Vec<&[u8]> {
        fn packet(arrival: &Arrival) -> Option<&[u8]> {
            match arrival {
                Arrival::Packet { packet, .. } => Some(packet),
                Arrival::Coming { .. } => None,
            }
        }
        inbox.packets.iter().filter_map(packet).collect()
    }

    #[test]
    fn a_packet_comes_to_whom_it_is_for_a_latency_later_and_its_bytes_to_all() {
        let mut air = Air::new(medium());
        let bytes = encode(212, &[1, 10, 11, 12]);
        air.send_all(0, 500_000, &bytes);
        let heard = heard(&mut air, 20_000_000);
        assert_eq!(packets(&heard[2]), [[1, 10, 11, 12]]);
        assert_eq!(packets(&heard[0]), [[0u8; 0]; 0], "its own packet");
        let end_ns = 500_000 + bytes.len() as u64 * BYTE_NS + 1_000_000;
        assert!(matches!(heard[2].packets[1], Arrival::Packet { end_ns: end, from: 0, .. } if end == end_ns));
        let at = |byte: &HeardByte| (byte.at.byte, byte.readable);
        assert_eq!(
            heard[1].bytes.iter().map(at).collect::<Vec<_>>(),
            bytes.iter().map(|&byte| (byte, true)).collect::<Vec<_>>()
        );
        assert_eq!(heard[1].bytes[0].at.start_ns, 1_500_000);
        let traffic = air.traffic();
        assert_eq!((traffic.packets, traffic.collided, traffic.bytes), (1, 0, bytes.len() as u64));
    }

    #[test]
    fn two_at_once_spoil_what_overlaps_and_noise_spoils_all() {
        let mut air = Air::new(medium());
        let bytes = encode(212, &[1, 10, 11, 12]);
        air.send_all(0, 500_000, &bytes);
        // The last byte meets with the first of another packet.
        let later_ns = 500_000 + bytes.len() as u64 * BYTE_NS - 10;
        air.send_all(2, later_ns, &encode(212, &[3, 1, 2]));
        let heard = heard(&mut air, 20_000_000);
        assert_eq!(packets(&heard[2]), [[0u8; 0]; 0]);
        let unreadable: Vec<usize> =
            (0..heard[1].bytes.len()).filter(|&at| !heard[1].bytes[at].readable).collect();
        assert_eq!(unreadable, [bytes.len() - 1, bytes.len()]);
        // The other's preamble is all that was hit.
        let traffic = air.traffic();
        assert_eq!((traffic.packets, traffic.collided), (2, 1));

        let mut air = Air::new(medium());
        air.jam(0, 3_000_000);
        air.send_all(0, 500_000, &bytes);
        assert_eq!(packets(&self::heard(&mut air, 20_000_000)[2]), [[0u8; 0]; 0]);
    }

    #[test]
    fn packets_get_lost_come_twice_and_late_as_often_as_asked_for() {
        let medium = Medium { loss: 0.3, duplicate: 0.1, reorder: 0.2, ..medium() };
        let mut air = Air::new(medium);
        let mut came = vec![0u32; 5000];
        let mut late = 0;
        let mut now_ns = 0;
        let mut highest = 0;
        for number in 0..5000u16 {
            let [high, low] = number.to_be_bytes();
            air.send_all(0, now_ns, &encode(212, &[1, high, low]));
            let mut inboxes = vec![Inbox::default(); 3];
            for _ in 0..10 {
                now_ns += medium.step_ns();
                air.settle(now_ns, &EARS, &mut inboxes);
            }
            for packet in packets(&inboxes[2]) {
                let number = u16::from_be_bytes([packet[1], packet[2]]);
                came[usize::from(number)] += 1;
                late += u32::from(number < highest);
                highest = highest.max(number);
            }
        }
        let of = |times| came.iter().filter(|&&count| count == times).count() as f64;
        // 5000 trials: three deviations of a share p are 3 (p (1 - p) / 5000)^(1/2), below 0.02. What comes late may meet with
        // something else, and be lost, too.
        assert!((of(0) / 5000.0 - 0.3).abs() < 0.08, "{}", of(0));
        assert!((of(2) / 5000.0 - 0.7 * 0.8 * 0.1).abs() < 0.04, "{}", of(2));
        assert!(late > 200, "{late}");
    }

    #[test]
    fn wrong_bits_are_as_many_as_asked_for_and_no_packet_with_one_is_taken() {
        let medium = Medium { bit_error_rate: 1e-3, ..medium() };
        let mut air = Air::new(medium);
        let mut now_ns = 0;
        let (mut came, mut wrong, mut bits) = (0, 0, 0);
        let bytes = encode(212, &[1; 40]);
        for _ in 0..1000 {
            air.send_all(0, now_ns, &bytes);
            let mut inboxes = vec![Inbox::default(); 3];
            for _ in 0..15 {
                now_ns += medium.step_ns();
                air.settle(now_ns, &EARS, &mut inboxes);
            }
            came += packets(&inboxes[2]).len();
            for (heard, sent) in inboxes[1].bytes.iter().zip(&bytes) {
                wrong += (heard.at.byte ^ sent).count_ones();
                bits += 8;
            }
            assert!(packets(&inboxes[2]).iter().all(|packet| *packet == [1; 40]));
        }
        let rate = f64::from(wrong) / f64::from(bits);
        assert!((rate - 1e-3).abs() < 2e-4, "{rate}");
        // (1 - 10^-3)^(8 x 45) of the packets: from the synchronisation to the CRC.
        assert!((f64::from(came as u32) / 1000.0 - 0.697).abs() < 0.05, "{came}");
    }

    #[test]
    fn bytes_that_are_handed_in_one_by_one_are_one_packet() {
        let mut air = Air::new(medium());
        let bytes = encode(212, &[1, 2, 3]);
        let mut inboxes = vec![Inbox::default(); 3];
        let mut now_ns = 0;
        let mut next = 0;
        while now_ns < 20_000_000 {
            now_ns += medium().step_ns();
            while next < bytes.len() && 100_000 + next as u64 * BYTE_NS < now_ns {
                let start_ns = 100_000 + next as u64 * BYTE_NS;
                air.send(1, &[AirByte { start_ns, end_ns: start_ns + BYTE_NS, byte: bytes[next] }]);
                next += 1;
            }
            air.settle(now_ns, &EARS, &mut inboxes);
        }
        assert_eq!(packets(&inboxes[2]), [[1, 2, 3]]);
        assert_eq!(air.overheard().len(), 1);
    }
}
