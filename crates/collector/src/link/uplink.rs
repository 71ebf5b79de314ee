//! A packet's way from a gateway to its acknowledgement, step by step:
//!
//! 1. [`Link::on_packet`] takes it, and has the engine reassemble its message.
//! 2. `verify` gives a message with curves to the verifiers (`verify.rs`); `on_verified` takes it
//!    back.
//! 3. `dispatch` has the engine accept it, and chooses by the outcome.
//! 4. `on_accepted` updates the meter's route; `store_accepted` submits the report
//!    (`store_queue.rs`).
//! 5. `on_report_durable` (`durable.rs`) confirms it, and the acknowledgement goes out
//!    (`downlink.rs`).

use super::meter_state::LastHeard;
use super::pending::PendingCommit;
use super::receipt::{QueuedPacket, Receipts};
use super::state::{Link, since_2000_ms};
use super::verify::Origin;
use crate::clock;
use crate::store::{NewReport, Write};
use wire::meter::{
    MeterId, OpenedMessage, ReassemblyOutcome, ReceivedReport, Rejection, SealedMessage, Transmission,
    UplinkOutcome,
};

/// Messages of one meter that are with the verifiers at most: the rest of them are others'.
const OPENING_MAX: u8 = 2;

impl Link {
    pub(super) fn on_packet(&mut self, QueuedPacket { packet, heard_ms, receipt }: QueuedPacket) {
        self.counted.packets += 1;
        let mut origin = Origin {
            route: packet.route,
            rssi_dbm: packet.rssi_dbm,
            heard_ms: heard_ms.unwrap_or(self.now_ms),
            number_lsb: packet.bytes.get(4).copied().unwrap_or(0),
            receipts: Receipts::of(receipt),
        };
        origin.receipts.span("queue");
        self.trace = origin.receipts.trace();
        match self.collector.reassemble(&packet.bytes) {
            ReassemblyOutcome::Done(UplinkOutcome::Piece) => {
                // It may be a meter's reply, and the next piece is due.
                self.check_due |= self.collector.busy().next().is_some();
                self.partial_messages.keep(&packet.bytes, packet.route.gateway, origin.receipts);
            }
            ReassemblyOutcome::Done(heard) => {
                origin.receipts.span("verify");
                origin.receipts.done();
                if let (UplinkOutcome::Rejected(Rejection::UnknownMeter), Some(unknown_meters)) =
                    (heard, &self.unknown_meters)
                {
                    // A full queue loses packets, which come again.
                    let _ = unknown_meters.try_send(packet);
                }
            }
            ReassemblyOutcome::Sealed(message) => {
                origin.receipts.after(self.partial_messages.take(&packet.bytes));
                if message.takes_curves() {
                    self.verify(message, origin);
                } else {
                    self.dispatch(message.open(), origin);
                }
            }
        }
    }

    /// Gives a message to the verifiers, or drops it. The meter sends a dropped one again. If a
    /// queue delivered it again, too, the flood would grow.
    fn verify(&mut self, message: SealedMessage, origin: Origin) {
        let Some(known) = self.meters.get_mut(&message.meter()) else { return origin.receipts.done() };
        let known = known.active();
        if known.opening >= OPENING_MAX {
            self.counted.dropped_messages += 1;
            return origin.receipts.done();
        }
        if let Err(origin) = self.verifiers.open(message, origin) {
            self.counted.dropped_messages += 1;
            return origin.receipts.done();
        }
        known.opening += 1;
        self.opening += 1;
    }

    pub(super) fn on_verified(&mut self, (message, origin): (OpenedMessage, Origin)) {
        self.opening -= 1;
        self.verifiers.is_opened(&origin);
        if let Some(known) = self.meters.get_mut(&message.meter()) {
            let opening = &mut known.active().opening;
            *opening = opening.saturating_sub(1);
        }
        self.dispatch(message, origin);
    }

    fn dispatch(&mut self, message: OpenedMessage, mut origin: Origin) {
        origin.receipts.span("verify");
        self.trace = origin.receipts.trace();
        let meter = message.meter();
        match self.collector.accept(message, since_2000_ms(origin.heard_ms)) {
            UplinkOutcome::Report(accepted) => return self.on_accepted(*accepted, origin),
            UplinkOutcome::OldNumber(accepted) => return self.on_old_number(*accepted, origin),
            // Where it is reached with what shows how it seals.
            UplinkOutcome::OtherSuite => self.update_route(meter, &origin),
            UplinkOutcome::Duplicate(sent) => self.acknowledge_duplicate(&sent, &origin),
            UplinkOutcome::NumberReused(accepted) => self.number_reused(meter, accepted.report.n),
            UplinkOutcome::NumberTooLow { last_m, .. } => {
                self.update_route(meter, &origin);
                self.check_due = true;
                self.on_number_too_low(meter, last_m);
            }
            // Before it is durable: a command whose answer is lost is sent again, and answered
            // again.
            UplinkOutcome::Answer(answered) => {
                self.update_route(meter, &origin);
                self.on_answer(*answered);
            }
            UplinkOutcome::Busy => {
                let Some(known) = self.meters.get_mut(&meter) else { return origin.receipts.done() };
                let known = known.active();
                known.repeats += 1;
                // Another report is being stored: a queue delivers this one again.
                if known.handed_out.is_some_and(|n| n as u8 != origin.number_lsb) {
                    return;
                }
            }
            UplinkOutcome::Piece | UplinkOutcome::Rejected(_) => {}
        }
        origin.receipts.done();
    }

    /// Something came that nobody had before, so that it is the meter itself that is heard there.
    fn update_route(&mut self, meter: MeterId, origin: &Origin) {
        let Some(known) = self.meters.get_mut(&meter) else { return };
        known.heard = Some(LastHeard { at_ms: origin.heard_ms, silence_from: clock::now() });
        known.silent = false;
        let known = known.active();
        // It can be reached now.
        self.check_due |= known.route.is_none();
        (known.route, known.rssi_dbm) = (Some(origin.route), origin.rssi_dbm);
    }

    fn on_accepted(&mut self, accepted: ReceivedReport, origin: Origin) {
        let meter = accepted.meter;
        self.update_route(meter, &origin);
        self.check_due |= self.collector.busy().next().is_some();
        if let Some(known) = self.meters.get_mut(&meter) {
            known.active().lost = accepted.report.lost;
        }
        if accepted.counter_rollback {
            self.counter_rollback(meter, "it counts its starts from the beginning again");
        }
        self.store_accepted(accepted, origin);
    }

    /// A report with a number that was taken before the service began: the store compares them. It
    /// may be an attacker who sends it again.
    fn on_old_number(&mut self, accepted: ReceivedReport, origin: Origin) {
        if let Some(known) = self.meters.get_mut(&accepted.meter) {
            known.active().repeats += 1;
            self.counted.repeats += 1;
        }
        self.store_accepted(accepted, origin);
    }

    fn store_accepted(&mut self, accepted: ReceivedReport, origin: Origin) {
        let ReceivedReport { meter, suite, report, sealed, .. } = accepted;
        let Some(known) = self.meters.get_mut(&meter) else { return origin.receipts.done() };
        known.active().handed_out = Some(report.n);
        if self.store_queue.is_paused() {
            // It was handed out just now. A queue has its packets come again.
            let _ = self.collector.reject_report(meter, report.n);
            return;
        }
        let epoch = known.epoch;
        let Origin { route, rssi_dbm, heard_ms, receipts, .. } = origin;
        let pending = PendingCommit::Report { meter, epoch, n: report.n, heard_ms, route, receipts };
        let write = NewReport { meter: self.global(meter), epoch, heard_ms, suite, report, sealed, rssi_dbm };
        self.store_report(Write::Report(write), pending);
    }

    /// A report that is stored. It may be an attacker who sends it again: only the acknowledgement
    /// goes there.
    fn acknowledge_duplicate(&mut self, sent: &Transmission, origin: &Origin) {
        let Some(known) = self.meters.get_mut(&sent.meter) else { return };
        known.active().repeats += 1;
        self.counted.repeats += 1;
        self.transmit(origin.route, sent);
    }
}
