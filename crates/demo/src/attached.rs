//! A collector's service behind the radio: its simulated-radio gateway.

use crate::collecting::Collecting;
use collector::gateway::{HeardPacket, Route, Transmit};
use collector::link::LinkHandle;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// Transmissions that wait for the radio at most; more are lost, as a radio loses them.
const MOST_WAITING: usize = 256;

/// A service's link, and what it wants sent by this radio.
pub struct Attached {
    link: LinkHandle,
    route: Route,
    to_send: Receiver<Vec<Vec<u8>>>,
    /// What came while somebody waited for it.
    came: Option<Vec<Vec<u8>>>,
}

/// The end that the service holds.
struct Gateway(SyncSender<Vec<Vec<u8>>>);

impl Transmit for Gateway {
    fn transmit(&self, _: Route, packets: &[Vec<u8>]) {
        let _ = self.0.try_send(packets.to_vec());
    }
}

impl Attached {
    /// Attaches a gateway to a service.
    #[must_use]
    pub fn new(link: LinkHandle) -> Attached {
        let (sender, to_send) = sync_channel(MOST_WAITING);
        let gateway = link.gateways().attach(Arc::new(Gateway(sender)));
        Attached { route: Route { gateway, peer: None }, link, to_send, came: None }
    }
}

impl Collecting for Attached {
    fn hear(&mut self, packet: &[u8], _: u64) {
        // An RFM12B does not tell how strong a packet was. One that is dropped comes again.
        self.link.hear(HeardPacket { route: self.route, bytes: packet.to_vec(), rssi_dbm: None });
    }

    fn take_transmissions(&mut self, _: u64) -> Vec<Vec<Vec<u8>>> {
        self.came.take().into_iter().chain(self.to_send.try_iter()).collect()
    }

    fn wait(&mut self, most: Duration) {
        if self.came.is_none() {
            match self.to_send.recv_timeout(most) {
                Ok(packets) => self.came = Some(packets),
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => std::thread::sleep(most),
            }
        }
    }
}
