//! Step 1: a packet comes in, from a gateway of this process or from a queue elsewhere.

use crate::gateway::{HeardPacket, Route};
use crate::meters::{PartitionState, QueuedPacket, Receipts};

/// The route and time of a message's last packet, with the receipts of all its packets.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) route: Route,
    pub(crate) rssi_dbm: Option<i8>,
    /// Unix ms.
    pub(crate) heard_ms: i64,
    /// The lowest byte of the message's number, as the packet says it.
    pub(crate) number_lsb: u8,
    pub(crate) receipts: Receipts,
}

/// Counts a packet, and notes its origin.
pub(super) fn receive(
    state: &mut PartitionState,
    QueuedPacket { packet, heard_ms, receipt }: QueuedPacket,
) -> (HeardPacket, Origin) {
    state.counted.packets += 1;
    let mut origin = Origin {
        route: packet.route,
        rssi_dbm: packet.rssi_dbm,
        heard_ms: heard_ms.unwrap_or(state.now_ms),
        number_lsb: packet.bytes.get(4).copied().unwrap_or(0),
        receipts: Receipts::of(receipt),
    };
    origin.receipts.span("queue");
    state.trace = origin.receipts.trace();
    (packet, origin)
}
