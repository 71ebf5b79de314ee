//! The link's thread: what it waits for, and what it does with packets.

use super::handle::{Inputs, Request};
use super::meter_state::LastHeard;
use super::pending::PendingCommit;
use super::receipt::{QueuedPacket, Receipts};
use super::state::{Link, since_2000_ms};
use super::verify::Origin;
use crate::clock;
use crate::gateway::Route;
use crate::store::{NewReport, Write};
use crossbeam_channel::select;
use std::time::Duration;
use wire::meter::{
    MeterId, OpenedMessage, ReassemblyOutcome, ReceivedReport, Rejection, SealedMessage, Transmission,
    UplinkOutcome,
};

/// Messages of one meter that are with the verifiers at most: the rest of them are others'.
const OPENING_MAX: u8 = 2;
/// Inputs of each kind that are taken before the others have their turn.
const TURN: usize = 1024;
/// The period of the checks of silence, clock and store.
const TICK: Duration = Duration::from_secs(1);
/// The longest wait of a stop for the store.
const STOP: Duration = Duration::from_secs(20);

impl Link {
    /// Goes on until it is told to stop.
    pub(crate) fn run(mut self, inputs: Inputs) {
        loop {
            let timeout = self.wait();
            let mut first = None;
            select! {
                recv(self.done) -> done => if let Ok(done) = done { self.now(); self.done(done) },
                recv(self.key_keeper.kept) -> kept => match kept {
                    Ok(kept) => { self.now(); self.on_keys_kept(kept) }
                    Err(_) => {
                        tracing::error!("the keys' thread has ended; no renewed key can be kept");
                        self.ended = true;
                    }
                },
                recv(self.updates.found) -> found => if let Ok(found) = found { self.now(); self.on_image(found) },
                recv(self.verifiers.opened) -> opened => if let Ok(opened) = opened { self.now(); self.on_verified(opened) },
                recv(inputs.requests) -> ask => match ask {
                    Ok(ask) => first = Some(ask),
                    // Nobody is left who could tell it to stop.
                    Err(_) => break,
                },
                recv(inputs.packets) -> packet => if let Ok(packet) = packet { self.now(); self.on_packet(packet) },
                default(timeout) => {}
            }
            if self.step(first, &inputs) {
                break;
            }
        }
        if self.fence.as_ref().is_none_or(|fence| fence.holds()) {
            self.finish();
        } else {
            self.verifiers.stop();
        }
    }

    /// Returns the time until something is due, if no input comes.
    pub(crate) fn wait(&self) -> Duration {
        self.until_due().min(self.tick_at.saturating_duration_since(clock::now()))
    }

    /// Does what is to be done now. Returns whether that is the end.
    pub(crate) fn step(&mut self, first: Option<Request>, inputs: &Inputs) -> bool {
        self.now();
        if self.turn(first, inputs) || self.ended {
            return true;
        }
        self.trace = None;
        let now = clock::now();
        if now >= self.tick_at {
            self.tick_at = now + TICK;
            self.tick(now);
        }
        self.send_due();
        self.check_updates();
        self.flush();
        false
    }

    fn now(&mut self) {
        self.now_ms = clock::unix_ms();
    }

    /// Takes what is there. Returns whether that is the end.
    fn turn(&mut self, first: Option<Request>, inputs: &Inputs) -> bool {
        self.take_done();
        while let Ok(kept) = self.key_keeper.kept.try_recv() {
            self.on_keys_kept(kept);
        }
        while let Ok(found) = self.updates.found.try_recv() {
            self.on_image(found);
        }
        for _ in 0..TURN {
            let Ok(opened) = self.verifiers.opened.try_recv() else { break };
            self.on_verified(opened);
        }
        self.trace = None;
        for ask in first.into_iter().chain(inputs.requests.try_iter().take(TURN)) {
            if self.answer(ask, inputs) {
                return true;
            }
        }
        for packet in inputs.packets.try_iter().take(TURN) {
            self.on_packet(packet);
        }
        false
    }

    /// Goes on with what the store has done.
    pub(crate) fn take_done(&mut self) {
        for _ in 0..TURN {
            let Ok(done) = self.done.try_recv() else { break };
            self.done(done);
        }
    }

    fn until_due(&self) -> Duration {
        if self.check_due {
            return Duration::ZERO;
        }
        let now_ms = since_2000_ms(clock::unix_ms());
        self.next_due_ms.map_or(TICK, |due_ms| Duration::from_millis(due_ms.saturating_sub(now_ms)))
    }

    /// Lets what is under way come to its end.
    fn finish(mut self) {
        let until = clock::now() + STOP;
        while self.opening > 0 && clock::now() < until {
            let Ok(opened) = self.verifiers.opened.recv_timeout(TICK) else { break };
            self.on_verified(opened);
        }
        self.stop_keeping_keys();
        self.begin_finish();
        while !self.is_finished() {
            let Some(left) = until.checked_duration_since(clock::now()) else {
                tracing::error!("the store did not come to its end in {} s", STOP.as_secs());
                break;
            };
            match self.done.recv_timeout(left) {
                Ok(done) => self.done(done),
                Err(_) => break,
            }
            self.flush();
        }
        self.verifiers.stop();
    }

    /// Nothing comes any more: what there is goes to the store.
    pub(crate) fn begin_finish(&mut self) {
        self.store_counts();
        self.retry.until = self.retry.until.map(|_| clock::now());
        self.retry_due(clock::now());
        self.flush();
    }

    /// Says if nothing is under way.
    pub(crate) fn is_finished(&self) -> bool {
        self.is_idle() || self.ended
    }

    fn on_packet(&mut self, QueuedPacket { packet, heard_ms, receipt }: QueuedPacket) {
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

    fn on_verified(&mut self, (message, origin): (OpenedMessage, Origin)) {
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
                self.answered(*answered);
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
        if self.retry.until.is_some() {
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

    pub(super) fn transmit(&mut self, route: Route, sent: &Transmission) {
        if self.fence.as_ref().is_some_and(|fence| !fence.holds()) {
            return self.fenced();
        }
        self.counted.sent_packets += sent.packets.len() as u64;
        self.gateways.transmit(route, &sent.packets);
    }
}
