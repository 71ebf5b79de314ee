//! A collector's service behind the radio: its simulated-radio gateway.

use collector::gateway::{HeardPacket, Route, Transmit};
use collector::link::LinkHandle;
use lab::LabError;
use sim::base::radio::{BaseRadio, RadioSettings};
use sim::base::{BaseEvent, BaseStation, Outgoing};
use sim::link::TURNAROUND_NS;
use sim::radio::{Arrival, Framing, ReceiveMode};
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Transmissions that wait for the radio at most; more are lost, as a radio loses them.
const MOST_WAITING: usize = 64;

/// How the collector's radio sends.
#[must_use]
pub fn radio_settings(framing: Framing, byte_ns: u64, address: u8) -> RadioSettings {
    RadioSettings {
        framing,
        byte_ns,
        address,
        turnaround_ns: TURNAROUND_NS,
        tail_bytes: 0,
        most_waiting: MOST_WAITING,
    }
}

/// A service's link, and the radio that it has.
pub struct ServiceStation {
    link: LinkHandle,
    route: Route,
    radio: BaseRadio,
    to_send: Receiver<Vec<Vec<u8>>>,
    /// What came while somebody waited for it.
    came: Option<Vec<Vec<u8>>>,
    /// Packets that were received, or will have been at that time.
    received: VecDeque<(u64, Vec<u8>)>,
    outgoing: Vec<Outgoing>,
}

/// The end that the service holds.
struct Gateway(SyncSender<Vec<Vec<u8>>>);

impl Transmit for Gateway {
    fn transmit(&self, _: Route, packets: &[Vec<u8>]) {
        let _ = self.0.try_send(packets.to_vec());
    }
}

impl ServiceStation {
    /// Attaches a gateway to a service.
    #[must_use]
    pub fn new(link: LinkHandle, settings: RadioSettings) -> ServiceStation {
        let (sender, to_send) = sync_channel(MOST_WAITING);
        let gateway = link.gateways().attach(Arc::new(Gateway(sender)));
        ServiceStation {
            route: Route { gateway, peer: None },
            link,
            radio: BaseRadio::new(settings),
            to_send,
            came: None,
            received: VecDeque::new(),
            outgoing: Vec::new(),
        }
    }

    /// Waits for a transmission of the service, for so long at most.
    pub fn wait(&mut self, most: Duration) {
        if self.came.is_none() {
            match self.to_send.recv_timeout(most) {
                Ok(packets) => self.came = Some(packets),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(most),
            }
        }
    }
}

impl BaseStation for ServiceStation {
    fn receive_mode(&self, _: usize) -> ReceiveMode {
        ReceiveMode::Packets(self.radio.settings.address)
    }

    /// What the service does, and when, is not known beforehand.
    fn next_ns(&self) -> u64 {
        0
    }

    fn advance(&mut self, now_ns: u64, until_ns: u64) -> Result<(), LabError> {
        while self.received.front().is_some_and(|(end_ns, _)| *end_ns < until_ns) {
            if let Some((_, bytes)) = self.received.pop_front() {
                // An RFM12B does not tell how strong a packet was. One that is dropped comes again.
                self.link.hear(HeardPacket { route: self.route, bytes, rssi_dbm: None });
            }
        }
        for packets in self.came.take().into_iter().chain(self.to_send.try_iter()) {
            self.radio.queue(packets, now_ns);
        }
        while self.radio.next_ns().max(now_ns) < until_ns {
            let start_ns = self.radio.next_ns().max(now_ns);
            if let Some(packet) = self.radio.send(start_ns) {
                self.outgoing.push(Outgoing { channel: 0, start_ns, packet, tail_bytes: 0 });
            }
        }
        self.radio.passed(now_ns);
        Ok(())
    }

    fn receive(&mut self, _: usize, arrival: Arrival) -> Result<(), LabError> {
        self.radio.coming(&arrival);
        match arrival {
            Arrival::Packet { start_ns, end_ns, packet, .. } if !self.radio.is_deaf_to(start_ns, end_ns) => {
                self.received.push_back((end_ns, packet));
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
