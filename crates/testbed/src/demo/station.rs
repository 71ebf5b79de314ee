//! A collector's service behind the radio: its simulated-radio gateway.

use collector::gateway::{HeardPacket, Route, Transmit};
use collector::meters::MetersHandle;
use sim::link::TURNAROUND_NS;
use sim::radio::Framing;
use sim::station::gateway::{GatewayStation, Uplink};
use sim::station::radio::RadioSettings;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Transmissions that wait for the radio at most; more are lost, as a radio loses them.
const WAITING_MAX: usize = 64;

/// Returns the settings of the collector's radio.
#[must_use]
pub fn radio_settings(framing: Framing, byte_ns: u64, address: u8) -> RadioSettings {
    RadioSettings {
        framing,
        byte_ns,
        address,
        turnaround_ns: TURNAROUND_NS,
        tail_bytes: 0,
        most_waiting: WAITING_MAX,
    }
}

/// The meters of a service.
pub struct ServiceUplink {
    meters: MetersHandle,
    route: Route,
    to_send: Receiver<Vec<Vec<u8>>>,
    /// Packets that came while somebody waited for them.
    came: Option<Vec<Vec<u8>>>,
}

/// The radio that a service has.
pub type ServiceStation = GatewayStation<ServiceUplink>;

/// The end that the service holds.
struct Gateway(SyncSender<Vec<Vec<u8>>>);

impl Transmit for Gateway {
    fn transmit(&self, _: Route, packets: &[Vec<u8>]) {
        let _ = self.0.try_send(packets.to_vec());
    }
}

/// Attaches a gateway to a service.
#[must_use]
pub fn station(meters: MetersHandle, settings: RadioSettings) -> ServiceStation {
    let (sender, to_send) = sync_channel(WAITING_MAX);
    let gateway = meters.gateways().attach(Arc::new(Gateway(sender)));
    let route = Route { gateway, peer: None };
    GatewayStation::new(vec![(ServiceUplink { meters, route, to_send, came: None }, settings)])
}

impl ServiceUplink {
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

impl Uplink for ServiceUplink {
    fn hear(&mut self, packet: Vec<u8>) {
        // An RFM12B does not tell how strong a packet was. One that is dropped comes again.
        self.meters.hear(HeardPacket { route: self.route, bytes: packet, rssi_dbm: None });
    }

    fn next(&mut self) -> Option<Vec<Vec<u8>>> {
        self.came.take().or_else(|| self.to_send.try_recv().ok())
    }
}
