//! A gateway's radio on each channel: what it hears goes on to a collector, and what that has to
//! say goes on the air whenever it comes.

use super::radio::{BaseRadio, RadioSettings};
use super::{BaseEvent, BaseStation, Outgoing};
use crate::radio::{Arrival, ReceiveMode};
use lab::LabError;
use std::collections::VecDeque;

/// Connection behind a gateway's radio.
pub trait Uplink: Send {
    /// A packet was received.
    fn hear(&mut self, packet: Vec<u8>);

    /// Returns the packets to send since the last call, which follow each other. Does not wait.
    fn next(&mut self) -> Option<Vec<Vec<u8>>>;
}

/// A radio with its uplink.
pub struct Gateway<U> {
    /// Connection behind the radio.
    pub uplink: U,
    radio: BaseRadio,
    /// Packets that were received, or will have been at that time.
    received: VecDeque<(u64, Vec<u8>)>,
}

/// The gateways, in the order of their channels.
pub struct GatewayStation<U> {
    /// One on each channel.
    pub gateways: Vec<Gateway<U>>,
    outgoing: Vec<Outgoing>,
}

impl<U: Uplink> GatewayStation<U> {
    /// A station of these uplinks, each with its radio, in the order of their channels.
    #[must_use]
    pub fn new(uplinks: Vec<(U, RadioSettings)>) -> GatewayStation<U> {
        let gateway = |(uplink, settings)| Gateway {
            uplink,
            radio: BaseRadio::new(settings),
            received: VecDeque::new(),
        };
        GatewayStation { gateways: uplinks.into_iter().map(gateway).collect(), outgoing: Vec::new() }
    }
}

impl<U: Uplink> Gateway<U> {
    fn advance(&mut self, channel: usize, (now_ns, until_ns): (u64, u64), outgoing: &mut Vec<Outgoing>) {
        while self.received.front().is_some_and(|(end_ns, _)| *end_ns < until_ns) {
            if let Some((_, packet)) = self.received.pop_front() {
                self.uplink.hear(packet);
            }
        }
        while let Some(packets) = self.uplink.next() {
            self.radio.queue(packets, now_ns);
        }
        while self.radio.next_ns().max(now_ns) < until_ns {
            let start_ns = self.radio.next_ns().max(now_ns);
            if let Some(packet) = self.radio.send(start_ns) {
                outgoing.push(Outgoing { channel, start_ns, packet, tail_bytes: 0 });
            }
        }
        self.radio.passed(now_ns);
    }
}

impl<U: Uplink> BaseStation for GatewayStation<U> {
    fn receive_mode(&self, channel: usize) -> ReceiveMode {
        ReceiveMode::Packets(self.gateways[channel].radio.settings.address)
    }

    /// Returns 0: the collector's next action is not known beforehand.
    fn next_ns(&self) -> u64 {
        0
    }

    fn advance(&mut self, now_ns: u64, until_ns: u64) -> Result<(), LabError> {
        for (channel, gateway) in self.gateways.iter_mut().enumerate() {
            gateway.advance(channel, (now_ns, until_ns), &mut self.outgoing);
        }
        Ok(())
    }

    fn receive(&mut self, channel: usize, arrival: Arrival) -> Result<(), LabError> {
        let gateway = &mut self.gateways[channel];
        gateway.radio.coming(&arrival);
        match arrival {
            Arrival::Packet { start_ns, end_ns, packet, .. }
                if !gateway.radio.is_deaf_to(start_ns, end_ns) =>
            {
                gateway.received.push_back((end_ns, packet));
            }
            Arrival::Packet { .. } | Arrival::Byte(..) | Arrival::Coming { .. } => {}
        }
        Ok(())
    }

    fn take_outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    fn take_events(&mut self) -> Vec<BaseEvent> {
        Vec::new()
    }
}
