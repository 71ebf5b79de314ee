//! A packet's way from a gateway to its acknowledgement, one file a step:
//!
//! 1. `receive`: a packet comes in, and its origin is noted.
//! 2. `reassemble`: the engine joins packets to a message.
//! 3. `verify`: AES and Ascon are opened at once, messages with curves by the verifiers' threads.
//! 4. `accept`: the engine accepts the message, and its outcome decides what follows.
//! 5. `store`: an accepted report goes to the store's thread.
//! 6. `acknowledge`: a durable report is confirmed, acknowledged and published.

mod accept;
mod acknowledge;
mod numbers;
mod reassemble;
mod receive;
mod store;
mod verify;

pub(crate) use acknowledge::{SubmittedReport, on_report_failed, on_report_stored};
pub(crate) use receive::Origin;
pub(crate) use verify::Verifiers;

use crate::gateway::HeardPacket;
use crate::meters::{PartitionState, QueuedPacket};
use std::time::Instant;
use tokio::sync::mpsc::Sender;
use wire::meter::OpenedMessage;

/// The steps that keep packets and messages for a time.
pub(crate) struct Uplink {
    reassembly: reassemble::Reassembly,
    pub(crate) verifiers: Verifiers,
}

impl Uplink {
    /// unknown_meters: the destination of packets of unknown meters.
    pub(crate) fn new(verifiers: Verifiers, unknown_meters: Option<Sender<HeardPacket>>) -> Uplink {
        Uplink { reassembly: reassemble::Reassembly::new(unknown_meters), verifiers }
    }

    /// Takes a packet as far as it goes at once.
    pub(crate) fn on_packet(&mut self, state: &mut PartitionState, packet: QueuedPacket) {
        let (packet, origin) = receive::receive(state, packet);
        let Some((message, origin)) = self.reassembly.reassemble(state, packet, origin) else { return };
        if message.takes_curves() {
            self.verifiers.verify(state, message, origin);
        } else {
            accept::accept(state, message.open(), origin);
        }
    }

    /// Goes on with a message that the verifiers opened.
    pub(crate) fn on_verified(
        &mut self,
        state: &mut PartitionState,
        (message, origin): (OpenedMessage, Origin),
    ) {
        self.verifiers.on_opened(state, &message, &origin);
        accept::accept(state, message, origin);
    }

    /// Gives up messages that stay unfinished.
    pub(crate) fn tidy(&mut self, now: Instant) {
        self.reassembly.tidy(now);
    }
}
