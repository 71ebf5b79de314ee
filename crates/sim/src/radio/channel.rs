//! A radio channel: everything that is sent on it, what overlaps, and what becomes of it on its way
//! to each receiver.
//!
//! All participants are as far from each other as from the collector: what one sends all others
//! receive, [`ChannelModel::latency_ns`] later. Two that send at once make each other's overlapping
//! bytes unreadable, for everyone. Beside that, each packet has an impairment of its own for each
//! receiver: it is lost, or late, or comes twice, and some of its bits are wrong.
//!
//! The latency is what lets participants live apart: where all have lived up to a time, all that
//! was sent before it is known, and none of it is received before [`ChannelModel::step_ns`] more
//! have passed. A channel without latency is for two that take turns: what one sends is handed to
//! the other as soon as it is known, with the times at which it is on the air.

use super::framing::{self, Frame};
use super::model::{Arrival, ChannelModel, Participant, ReceiveMode, SentPacket, Traffic};
use super::{AirByte, Emission, Framing};
use crate::chance::{Chance, Purpose};

/// A byte, or a whole packet, as it is sent.
#[derive(Clone, Copy, Debug)]
struct Sent {
    at: AirByte,
    clear: bool,
}

/// Bytes on the air without a pause.
#[derive(Clone, Debug)]
struct Transmission {
    id: u64,
    from: Participant,
    /// The one receiver that gets it: a packet that comes late, or once more.
    only: Option<Participant>,
    /// Bytes one by one, or a packet as one.
    sent: Vec<Sent>,
    /// The bytes on the air, or the packet's own.
    bytes: Vec<u8>,
    frame: Option<Frame>,
    announced: bool,
    /// The packet has been handed on.
    handed: bool,
    /// Nothing follows.
    closed: bool,
    /// Of `sent`, what has been handed on.
    passed: usize,
}

impl Transmission {
    fn end_ns(&self) -> u64 {
        self.sent.last().map_or(0, |last| last.at.end_ns)
    }
}

/// Impairment of one packet on its way to one receiver.
#[derive(Clone, Copy)]
struct Impairment {
    lost: bool,
    later_ns: Option<u64>,
    again_ns: Option<u64>,
}

/// A transmission that one receiver gets later.
struct DelayedCopy {
    at_ns: u64,
    from: Participant,
    to: Participant,
    bytes: Vec<u8>,
}

/// The channel.
pub struct RadioChannel {
    model: ChannelModel,
    live: Vec<Transmission>,
    noise: Vec<(u64, u64)>,
    next_id: u64,
    traffic: Traffic,
    delayed_copies: Vec<DelayedCopy>,
    sent_packets: Vec<SentPacket>,
    impairs: bool,
}

impl RadioChannel {
    /// A channel on which nothing has been sent.
    #[must_use]
    pub fn new(model: ChannelModel) -> RadioChannel {
        RadioChannel {
            model,
            live: Vec::new(),
            noise: Vec::new(),
            next_id: 0,
            traffic: Traffic::default(),
            delayed_copies: Vec::new(),
            sent_packets: Vec::new(),
            impairs: true,
        }
    }

    /// From now on no packet is lost, late, doubled or spoilt but by another one.
    pub fn stop_impairments(&mut self) {
        self.impairs = false;
    }

    /// Changes the share of the packets that a receiver does not get, from now on.
    pub fn set_loss(&mut self, loss: f64) {
        self.model.loss = loss;
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &ChannelModel {
        &self.model
    }

    /// Returns the channel's traffic.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.traffic
    }

    /// Packets whose sending is over, since the last call.
    pub fn take_sent_packets(&mut self) -> Vec<SentPacket> {
        std::mem::take(&mut self.sent_packets)
    }

    /// When [`RadioChannel::settle`] has something to do next; [`u64::MAX`] for never.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        let hold_ns = self.model.hold_ns();
        let ends = self
            .live
            .iter()
            .filter(|sending| sending.passed < sending.sent.len())
            .map(|sending| sending.end_ns() + hold_ns);
        let begins = self.delayed_copies.iter().map(|copy| copy.at_ns);
        ends.chain(begins).min().unwrap_or(u64::MAX)
    }

    /// Somebody sends this, behind all that it has sent before.
    pub fn send(&mut self, from: Participant, emission: Emission) {
        match emission {
            Emission::Byte(byte) => self.send_unit(from, None, byte, &[byte.byte]),
            Emission::Packet { start_ns, end_ns, packet } => {
                self.send_unit(from, None, AirByte { start_ns, end_ns, byte: 0 }, &packet);
            }
        }
    }

    /// Somebody sends a packet from a time on. tail_bytes: of preamble behind it, for which an
    /// RFM12B's transmitter stays on. Returns how long all that is on the air, in nanoseconds.
    pub fn send_packet(&mut self, from: Participant, start_ns: u64, packet: &[u8], tail_bytes: usize) -> u64 {
        let mut bytes = self.model.framing.encode(packet);
        if let Framing::Rfm12b { .. } = self.model.framing {
            bytes.resize(bytes.len() + tail_bytes, framing::PREAMBLE_BYTE);
        }
        self.send_copy(from, None, start_ns, &bytes);
        (self.model.framing.air_bytes(packet.len()) + tail_bytes) as u64 * self.model.byte_ns
    }

    /// bytes: as they lie in a [`Transmission`].
    fn send_copy(&mut self, from: Participant, only: Option<Participant>, start_ns: u64, bytes: &[u8]) {
        let byte_ns = self.model.byte_ns;
        match self.model.framing {
            Framing::Rfm12b { .. } => {
                for (index, &byte) in bytes.iter().enumerate() {
                    let start_ns = start_ns + index as u64 * byte_ns;
                    self.send_unit(
                        from,
                        only,
                        AirByte { start_ns, end_ns: start_ns + byte_ns, byte },
                        &[byte],
                    );
                }
            }
            Framing::Cc2500 => {
                let end_ns = start_ns + self.model.framing.air_bytes(bytes.len()) as u64 * byte_ns;
                self.send_unit(from, only, AirByte { start_ns, end_ns, byte: 0 }, bytes);
            }
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

    /// A byte, or a packet whole, goes out.
    fn send_unit(&mut self, from: Participant, only: Option<Participant>, at: AirByte, bytes: &[u8]) {
        let times = (at.start_ns, at.end_ns);
        let whole = self.model.framing == Framing::Cc2500;
        let mut clear = !self.noise.iter().any(|&noise| overlap(noise, times));
        let follows = |sending: &Transmission| {
            sending.from == from
                && sending.only == only
                && !sending.closed
                && at.start_ns <= sending.end_ns() + self.model.byte_ns / 2
        };
        let own = if whole { None } else { self.live.iter().rposition(follows) };
        for (index, other) in self.live.iter_mut().enumerate() {
            if Some(index) == own || whole && other.from == from && other.only == only {
                continue;
            }
            let span = (other.sent[0].at.start_ns, other.end_ns());
            if !overlap(span, times) {
                continue;
            }
            for sent in &mut other.sent {
                if overlap((sent.at.start_ns, sent.at.end_ns), times) {
                    // A delayed copy is the weaker one, and nobody else receives it.
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
                sent: Vec::with_capacity(if whole { 1 } else { 80 }),
                bytes: Vec::with_capacity(80),
                frame: None,
                announced: false,
                handed: false,
                closed: whole,
                passed: 0,
            });
            self.next_id += 1;
            self.live.len() - 1
        });
        let sending = &mut self.live[index];
        sending.sent.push(Sent { at, clear });
        sending.bytes.extend(bytes);
        if only.is_none() {
            self.traffic.bytes += match self.model.framing {
                Framing::Rfm12b { .. } => 1,
                Framing::Cc2500 => self.model.framing.air_bytes(bytes.len()) as u64,
            };
            self.traffic.sending_ns += at.end_ns - at.start_ns;
        }
        if sending.frame.is_none() {
            sending.frame = self.model.framing.find(&sending.bytes);
        }
    }

    /// Everybody has lived up to `now_ns`, and all that they sent has been handed in: what that
    /// brings to whom. `modes` says of each participant how it receives.
    pub fn settle(&mut self, now_ns: u64, modes: &[ReceiveMode], into: &mut [Vec<Arrival>]) {
        self.begin_delayed_copies(now_ns);
        let at_once = self.model.latency_ns == 0;
        let hold_ns = self.model.hold_ns();
        for index in 0..self.live.len() {
            self.announce(index, modes, into);
            let sending = &self.live[index];
            let ripe = match at_once {
                true => sending.sent.len(),
                false => sending.sent.partition_point(|sent| sent.at.end_ns + hold_ns <= now_ns),
            };
            if ripe > sending.passed {
                self.pass_bytes(index, ripe, modes, into);
                self.live[index].passed = ripe;
            }
            self.hand_packet(index, modes, into);
        }
        let latency_ns = self.model.latency_ns + hold_ns;
        // What is over cannot meet with anything that is yet to be sent.
        self.live
            .retain(|sending| sending.passed < sending.sent.len() || sending.end_ns() + latency_ns > now_ns);
        self.noise.retain(|&(_, end_ns)| end_ns + latency_ns > now_ns);
        for inbox in into {
            if inbox.iter().any(|arrival| matches!(arrival, Arrival::Byte(..))) {
                inbox.sort_by_key(Arrival::start_ns);
            }
        }
    }

    fn begin_delayed_copies(&mut self, now_ns: u64) {
        while let Some(due) = self.delayed_copies.iter().position(|copy| copy.at_ns <= now_ns) {
            let copy = self.delayed_copies.swap_remove(due);
            self.send_copy(copy.from, Some(copy.to), now_ns, &copy.bytes);
        }
    }

    fn impairment(&self, sending: &Transmission, to: Participant) -> Impairment {
        if !self.impairs || sending.only.is_some() {
            return Impairment { lost: false, later_ns: None, again_ns: None };
        }
        let model = &self.model;
        let mut chance = Chance::new(model.seed, Purpose::Impairment, sending.id, to as u64);
        let (least_ns, most_ns) = model.later_ns;
        let lost = chance.happens(model.loss);
        let late = chance.happens(model.reorder);
        let twice = chance.happens(model.duplicate);
        let delay_ns = least_ns + chance.below(most_ns - least_ns + 1);
        Impairment {
            lost,
            later_ns: (late && !lost).then_some(delay_ns),
            again_ns: (twice && !late && !lost).then_some(delay_ns),
        }
    }

    /// Bits that are wrong at a receiver, counted from the transmission's first.
    fn wrong_bits(&self, sending: &Transmission, to: Participant) -> Vec<usize> {
        let rate = self.model.bit_error_rate;
        if !self.impairs || rate <= 0.0 {
            return Vec::new();
        }
        let mut chance = Chance::new(self.model.seed, Purpose::Impairment, sending.id, !(to as u64));
        let bits = 8 * self.model.framing.air_bytes(framing::LONGEST);
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

    fn announce(&mut self, index: usize, modes: &[ReceiveMode], into: &mut [Vec<Arrival>]) {
        let sending = &self.live[index];
        let Some(frame) = sending.frame.filter(|_| !sending.announced) else { return };
        let address = frame.address(&sending.bytes);
        let (byte_ns, latency_ns) = (self.model.byte_ns, self.model.latency_ns);
        let first = &sending.sent[self.unit(frame.first())].at;
        let start_ns = first.start_ns + latency_ns;
        let end_ns = match self.model.framing {
            Framing::Rfm12b { .. } => start_ns + (frame.end() - frame.first()) as u64 * byte_ns,
            Framing::Cc2500 => first.end_ns + latency_ns,
        };
        for (to, mode) in modes.iter().enumerate() {
            let meant = sending.from != to && sending.only.is_none_or(|only| only == to);
            if meant && mode.is_whole() && mode.is_meant(address) {
                let impairment = self.impairment(sending, to);
                if !impairment.lost && impairment.later_ns.is_none() {
                    into[to].push(Arrival::Coming { start_ns, end_ns });
                }
            }
        }
        self.live[index].announced = true;
    }

    /// Returns the index of a byte of a transmission in [`Transmission::sent`].
    fn unit(&self, byte: usize) -> usize {
        match self.model.framing {
            Framing::Rfm12b { .. } => byte,
            Framing::Cc2500 => 0,
        }
    }

    fn pass_bytes(&self, index: usize, ripe: usize, modes: &[ReceiveMode], into: &mut [Vec<Arrival>]) {
        let sending = &self.live[index];
        for (to, mode) in modes.iter().enumerate() {
            let meant = sending.from != to && sending.only.is_none_or(|only| only == to);
            if !matches!(mode, ReceiveMode::Bytes(_)) || !meant {
                continue;
            }
            let impairment = self.impairment(sending, to);
            let lost = impairment.lost || impairment.later_ns.is_some();
            // Where nothing else is on the air, a byte that is lost is one that cannot be read: the
            // receiver's time passes with it.
            if lost && self.model.latency_ns > 0 {
                continue;
            }
            let wrong = self.wrong_bits(sending, to);
            for (at, sent) in sending.sent.iter().enumerate().take(ripe).skip(sending.passed) {
                // Of a delayed copy that something stronger covers, nothing is received.
                if sending.only.is_some() && !sent.clear {
                    continue;
                }
                let flips = wrong.iter().filter(|&&bit| bit / 8 == at);
                let byte = flips.fold(sent.at.byte, |byte, bit| byte ^ 0x80 >> (bit % 8));
                let received = AirByte {
                    start_ns: sent.at.start_ns + self.model.latency_ns,
                    end_ns: sent.at.end_ns + self.model.latency_ns,
                    byte,
                };
                into[to].push(Arrival::Byte(received, sent.clear && !lost));
            }
        }
    }

    /// Hands a packet on whose last byte is ripe.
    fn hand_packet(&mut self, index: usize, modes: &[ReceiveMode], into: &mut [Vec<Arrival>]) {
        let sending = &self.live[index];
        let Some(frame) =
            sending.frame.filter(|frame| !sending.handed && sending.passed > self.unit(frame.end() - 1))
        else {
            return;
        };
        let within = &sending.sent[self.unit(frame.first())..=self.unit(frame.end() - 1)];
        let collided = within.iter().any(|sent| !sent.clear);
        let address = frame.address(&sending.bytes);
        let first = &sending.sent[0].at;
        let (start_ns, end_ns) = (first.start_ns, within[within.len() - 1].at.end_ns);
        let original = sending.only.is_none();
        let mut lost = 0;
        let mut spoilt = 0;
        let mut later = Vec::new();
        let mut again = Vec::new();
        for (to, mode) in modes.iter().enumerate() {
            let meant = sending.from != to && sending.only.is_none_or(|only| only == to);
            if !meant || !mode.is_meant(address) {
                continue;
            }
            let impairment = self.impairment(sending, to);
            if impairment.lost {
                lost += 1;
                continue;
            }
            if !collided {
                later.extend(impairment.later_ns.map(|delay_ns| (end_ns + delay_ns, to)));
                again.extend(impairment.again_ns.map(|delay_ns| (end_ns + delay_ns, to)));
            }
            if impairment.later_ns.is_some() || !mode.is_whole() || collided {
                continue;
            }
            let wrong = self.wrong_bits(sending, to);
            let received = self.model.framing.receive(&frame, &sending.bytes, &wrong);
            match received.filter(|packet| mode.is_meant(packet[0])) {
                None => spoilt += 1,
                Some(packet) => into[to].push(Arrival::Packet {
                    from: sending.from,
                    start_ns: start_ns + self.model.latency_ns,
                    end_ns: end_ns + self.model.latency_ns,
                    packet,
                }),
            }
        }
        if original && let Some(packet) = self.model.framing.receive(&frame, &sending.bytes, &[]) {
            self.traffic.packets += 1;
            self.traffic.collided += u64::from(collided);
            let air_bytes = match self.model.framing {
                Framing::Rfm12b { .. } => frame.end(),
                Framing::Cc2500 => self.model.framing.air_bytes(packet.len()),
            };
            self.sent_packets.push(SentPacket {
                from: sending.from,
                start_ns,
                end_ns,
                air_bytes,
                packet,
                collided,
            });
        }
        self.traffic.lost += lost;
        self.traffic.spoilt += spoilt;
        self.traffic.delayed += later.len() as u64;
        self.traffic.duplicated += again.len() as u64;
        let (from, bytes) = (sending.from, sending.bytes.clone());
        let copies = later.into_iter().chain(again);
        self.delayed_copies.extend(copies.map(|(at_ns, to)| DelayedCopy {
            at_ns,
            from,
            to,
            bytes: bytes.clone(),
        }));
        self.live[index].handed = true;
    }
}

fn overlap(one: (u64, u64), other: (u64, u64)) -> bool {
    one.0 < other.1 && other.0 < one.1
}

#[cfg(test)]
mod tests;
