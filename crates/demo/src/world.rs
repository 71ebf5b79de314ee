//! Meters, their radio channel, the collector's radio and the collector: all alive, in virtual time.
//!
//! A step is as long as nothing that is sent within it can be heard within it ([`Medium::step_ns`]), as in a street.

use crate::collecting::Collecting;
use crate::household::GROUP;
use crate::ledger::Reading;
use crate::meter::Meter;
use crate::radio::Radio;
use lab::LabError;
use sim::street::air::{Air, Hearing, Inbox, Medium, Traffic};
use sim::street::station::AirByte;
use wire::meter::{MessageKind, Packet};

/// From a sender's antenna to a receiver's: nothing on a radio channel of this size, but it lets all live a step apart. A round
/// trip is two of them longer than it would be.
pub const LATENCY_NS: u64 = 500_000;

/// The air of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Channel {
    /// Where its random numbers begin.
    pub seed: u64,
    /// How long a byte takes, in nanoseconds.
    pub byte_ns: u64,
    /// Share of the packets that a receiver does not get.
    pub loss: f64,
    /// Share of the bits that are wrong.
    pub bit_error_rate: f64,
}

/// The world.
pub struct World {
    /// The meters.
    pub meters: Vec<Meter>,
    collecting: Box<dyn Collecting>,
    radio: Radio,
    air: Air,
    step_ns: u64,
    now_ns: u64,
    inboxes: Vec<Inbox>,
    ears: Vec<Hearing>,
    bytes: Vec<AirByte>,
}

impl World {
    /// A world that begins when its meters, which have each lived alone, meet: one after the other, `apart_ns` between two.
    #[must_use]
    pub fn new(
        mut meters: Vec<Meter>,
        collecting: Box<dyn Collecting>,
        channel: Channel,
        apart_ns: u64,
    ) -> World {
        let now_ns = meters.iter().map(Meter::now_ns).max().unwrap_or_default();
        for (index, meter) in meters.iter_mut().enumerate() {
            meter.join(now_ns + index as u64 * apart_ns);
        }
        let medium = Medium {
            seed: channel.seed,
            group: GROUP,
            latency_ns: LATENCY_NS,
            byte_ns: channel.byte_ns,
            loss: channel.loss,
            bit_error_rate: channel.bit_error_rate,
            duplicate: 0.0,
            reorder: 0.0,
            later_ns: (0, 0),
        };
        let mut ears: Vec<Hearing> =
            meters.iter().map(|meter| Hearing::Bytes(meter.household.setup().address)).collect();
        let radio = Radio::new(channel.byte_ns);
        ears.push(radio.hearing());
        World {
            inboxes: vec![Inbox::default(); ears.len()],
            ears,
            meters,
            collecting,
            radio,
            air: Air::new(medium),
            step_ns: medium.step_ns(),
            now_ns,
            bytes: Vec::new(),
        }
    }

    /// Up to when it has lived, in nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// What has been on the air.
    #[must_use]
    pub fn traffic(&self) -> Traffic {
        self.air.traffic()
    }

    /// The collector's radio.
    #[must_use]
    pub fn radio(&self) -> &Radio {
        &self.radio
    }

    /// The collector.
    pub fn collecting(&mut self) -> &mut dyn Collecting {
        &mut *self.collecting
    }

    /// Lives up to a time, and hands out the readings that were acknowledged meanwhile.
    ///
    /// # Errors
    /// What a model cannot execute.
    pub fn live(&mut self, until_ns: u64) -> Result<Vec<Reading>, LabError> {
        while self.now_ns < until_ns {
            let to_ns = until_ns.min(self.now_ns + self.step_ns);
            self.step(to_ns)?;
        }
        Ok(self.meters.iter_mut().flat_map(|meter| meter.ledger().take_readings()).collect())
    }

    fn step(&mut self, to_ns: u64) -> Result<(), LabError> {
        for (index, meter) in self.meters.iter_mut().enumerate() {
            meter.live(to_ns, &mut self.bytes)?;
            if !self.bytes.is_empty() {
                self.air.send(index, &self.bytes);
                self.bytes.clear();
            }
        }
        let collector = self.meters.len();
        while let Some((heard_ns, packet)) = self.radio.take_heard(to_ns) {
            self.collecting.hear(&packet, heard_ns);
        }
        for packets in self.collecting.take_transmissions(to_ns) {
            self.radio.queue(packets);
        }
        while let Some((start_ns, bytes)) = self.radio.send(self.now_ns, to_ns) {
            self.air.send_all(collector, start_ns, &bytes);
        }
        self.now_ns = to_ns;
        self.air.settle(to_ns, &self.ears, &mut self.inboxes);
        for sent in self.air.overheard() {
            let Some(meter) = self.meters.get_mut(sent.from) else { continue };
            if Packet::parse(&sent.packet).is_ok_and(|packet| packet.kind == MessageKind::Report) {
                meter.ledger().sent(sent.packet[4], sent.air_bytes as u64);
            }
        }
        for (meter, inbox) in self.meters.iter_mut().zip(&mut self.inboxes) {
            for heard in inbox.bytes.drain(..) {
                meter.hear(heard);
            }
        }
        for arrival in self.inboxes[collector].packets.drain(..) {
            self.radio.hear(arrival);
        }
        Ok(())
    }
}
