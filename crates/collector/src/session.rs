//! The session of a partition (of a network, if it has one slice): a thread that owns the
//! partition's state, its uplink and its downlink, between the gateways and the store.

mod begin;
mod clock;
mod end;
mod monitor;
mod registration;
mod results;

pub(crate) use begin::{Beginning, Parts, start, verifiers};
pub(crate) use end::End;

use crate::clock::now;
use crate::downlink::{Downlink, KeyRenewal, Rollout, give_command, withdraw_command};
use crate::meters::{
    Inputs, MeterTable, MetersHandle, PartitionLease, PartitionState, Request, Snapshot, StoreQueue,
};
use crate::uplink::{Uplink, Verifiers};
use crossbeam_channel::select;
use monitor::Monitor;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// Inputs of each kind that are taken before the others have their turn.
const TURN: usize = 1024;
/// The period of the checks of silence, clock and store.
const TICK: Duration = Duration::from_secs(1);
/// The longest wait of a stop for the store.
const STOP: Duration = Duration::from_secs(20);

/// The session of a partition.
pub(crate) struct PartitionSession {
    pub(crate) state: PartitionState,
    uplink: Uplink,
    pub(crate) downlink: Downlink,
    monitor: Monitor,
    /// When silence, clock and store are checked next.
    tick_at: Instant,
}

impl PartitionSession {
    /// Makes a session, to be run.
    ///
    /// # Errors
    /// The system gives no thread to a verifier.
    pub(crate) fn new(
        beginning: Beginning,
        parts: Parts,
        handle: &MetersHandle,
    ) -> std::io::Result<PartitionSession> {
        let verifiers = Verifiers::start(parts.verifiers)?;
        let keys = KeyRenewal::new(parts.registry, (handle.slices, parts.fence.clone()));
        let network = beginning.partition.network;
        let meters = MeterTable::new(
            network,
            beginning.engine,
            beginning.meters,
            beginning.retired_epochs,
            parts.auto_require_sealed,
        );
        let mut state = PartitionState::new(
            PartitionLease::new(beginning.partition, handle.slices, parts.fence),
            meters,
            StoreQueue::new(parts.jobs, parts.done),
            handle.outlets.clone(),
        );
        state.on_newest(beginning.newest_ms);
        let mut rollout = Rollout::new(parts.images);
        rollout.resume(&mut state, beginning.updates, &beginning.with_new_keys);
        begin::withdraw_lost(&mut state, beginning.lost);
        begin::alert_forgotten(&mut state, &beginning.forgotten);
        Ok(PartitionSession {
            state,
            uplink: Uplink::new(verifiers, parts.unknown_meters),
            downlink: Downlink::new(parts.rng, rollout, keys),
            monitor: Monitor::new(beginning.newest_ms),
            tick_at: now(),
        })
    }

    /// Runs until it is told to stop.
    pub(crate) fn run(mut self, inputs: Inputs) {
        loop {
            let timeout = self.wait();
            let mut first = None;
            let PartitionSession { state, uplink, downlink, .. } = &mut self;
            select! {
                recv(state.store_queue.done) -> done => if let Ok(done) = done {
                    state.update_time();
                    results::on_done(state, downlink, done);
                },
                recv(downlink.keys.kept) -> kept => match kept {
                    Ok(kept) => {
                        state.update_time();
                        downlink.keys.on_kept(state, kept);
                    }
                    Err(_) => {
                        tracing::error!("the keys' thread has ended; no renewed key can be kept");
                        state.lease.end();
                    }
                },
                recv(downlink.rollout.found) -> found => if let Ok(found) = found {
                    state.update_time();
                    downlink.rollout.on_image(state, found);
                },
                recv(uplink.verifiers.opened) -> opened => if let Ok(opened) = opened {
                    state.update_time();
                    uplink.on_verified(state, opened);
                },
                recv(inputs.requests) -> request => match request {
                    Ok(request) => first = Some(request),
                    // Nobody is left who could tell it to stop.
                    Err(_) => break,
                },
                recv(inputs.packets) -> packet => if let Ok(packet) = packet {
                    state.update_time();
                    uplink.on_packet(state, packet);
                },
                default(timeout) => {}
            }
            if self.step(first, &inputs) {
                break;
            }
        }
        if self.state.lease.holds() {
            self.finish();
        } else {
            self.uplink.verifiers.stop();
        }
    }

    /// Returns the time until something is due, if no input comes.
    pub(crate) fn wait(&self) -> Duration {
        let until_due = self.downlink.until_due(&self.state, TICK);
        until_due.min(self.tick_at.saturating_duration_since(now()))
    }

    /// Does all that is due now. Returns whether that is the end.
    pub(crate) fn step(&mut self, first: Option<Request>, inputs: &Inputs) -> bool {
        self.state.update_time();
        if self.take_inputs(first, inputs) || self.state.lease.is_over() {
            return true;
        }
        self.state.trace = None;
        let now = now();
        if now >= self.tick_at {
            self.tick_at = now + TICK;
            self.tick(now);
        }
        self.downlink.send_due(&mut self.state);
        self.downlink.rollout.check(&mut self.state);
        self.state.flush();
        false
    }

    fn tick(&mut self, now: Instant) {
        self.state.retry_due(now);
        self.uplink.tidy(now);
        self.monitor.check(&mut self.state, now);
        self.downlink.rollout.advance(&mut self.state, now);
        self.monitor.tick(&mut self.state, now);
    }

    /// Takes the inputs that are there. Returns whether that is the end.
    fn take_inputs(&mut self, first: Option<Request>, inputs: &Inputs) -> bool {
        self.take_done();
        let PartitionSession { state, uplink, downlink, .. } = self;
        while let Ok(kept) = downlink.keys.kept.try_recv() {
            downlink.keys.on_kept(state, kept);
        }
        while let Ok(found) = downlink.rollout.found.try_recv() {
            downlink.rollout.on_image(state, found);
        }
        for _ in 0..TURN {
            let Ok(opened) = uplink.verifiers.opened.try_recv() else { break };
            uplink.on_verified(state, opened);
        }
        state.trace = None;
        for request in first.into_iter().chain(inputs.requests.try_iter().take(TURN)) {
            if self.answer(request, inputs) {
                return true;
            }
        }
        for packet in inputs.packets.try_iter().take(TURN) {
            self.uplink.on_packet(&mut self.state, packet);
        }
        false
    }

    /// Goes on with the results of the store.
    pub(crate) fn take_done(&mut self) {
        for _ in 0..TURN {
            let Ok(done) = self.state.store_queue.done.try_recv() else { break };
            results::on_done(&mut self.state, &mut self.downlink, done);
        }
    }

    /// Answers a request. Returns whether that is the end. An answer that nobody waits for any more
    /// is dropped.
    fn answer(&mut self, request: Request, inputs: &Inputs) -> bool {
        let PartitionSession { state, downlink, monitor, .. } = self;
        match request {
            Request::Command { meter, request, by, answer } => {
                give_command(state, (meter, request), by, monitor.is_clock_behind(), answer);
            }
            Request::Withdraw { meter, id, answer } => withdraw_command(state, meter, id, answer),
            Request::Update { meter, image, by, answer } => {
                downlink.rollout.begin(state, meter, image, by, answer);
            }
            Request::ForgetUpdate { meter, answer } => downlink.rollout.withdraw(state, meter, Some(answer)),
            Request::SetMeter { epoch, record, answer } => {
                registration::set_meter(state, downlink, (epoch, record), answer);
            }
            Request::Revoke { meter, answer } => registration::revoke(state, downlink, meter, answer),
            Request::Meters { answer } => drop(answer.send(state.meters.statuses())),
            Request::Meter { meter, answer } => drop(answer.send(state.meters.status(meter))),
            Request::Snapshot { answer } => drop(answer.send(self.snapshot(inputs))),
            Request::Stop => return true,
        }
        false
    }

    fn snapshot(&self, inputs: &Inputs) -> Snapshot {
        let PartitionState { meters, store_queue, counted, .. } = &self.state;
        let (now, counts) = (now(), store_queue.counts());
        Snapshot {
            dropped_packets: inputs.dropped_packets.load(Ordering::Relaxed),
            refused: *meters.engine.counters(),
            meters: meters.known.len(),
            online: meters.known.values().filter(|known| known.is_online(now)).count(),
            waiting_commands: meters.engine.busy().map(|meter| meters.engine.commands(meter).len()).sum(),
            unfinished_bytes: meters.engine.held_bytes(),
            queued_packets: inputs.packets.len(),
            opening: self.uplink.verifiers.opening(),
            commits: counts.commits.load(Ordering::Relaxed),
            commits_s: counts.commits_us.load(Ordering::Relaxed) as f64 / 1e6,
            failed_commits: counts.failed.load(Ordering::Relaxed),
            clock_behind: self.monitor.is_clock_behind(),
            ..counted.clone()
        }
    }

    /// Lets all that is under way come to its end.
    fn finish(mut self) {
        let until = now() + STOP;
        while self.uplink.verifiers.opening() > 0 && now() < until {
            let Ok(opened) = self.uplink.verifiers.opened.recv_timeout(TICK) else { break };
            self.uplink.on_verified(&mut self.state, opened);
        }
        self.downlink.keys.stop(&mut self.state);
        self.begin_finish();
        while !self.is_finished() {
            let Some(left) = until.checked_duration_since(now()) else {
                tracing::error!("the store did not come to its end in {} s", STOP.as_secs());
                break;
            };
            match self.state.store_queue.done.recv_timeout(left) {
                Ok(done) => results::on_done(&mut self.state, &mut self.downlink, done),
                Err(_) => break,
            }
            self.state.flush();
        }
        self.uplink.verifiers.stop();
    }

    /// Submits all that is left: no more inputs come.
    pub(crate) fn begin_finish(&mut self) {
        self.state.store_counts();
        self.state.store_queue.end_pause(now());
        self.state.retry_due(now());
        self.state.flush();
    }

    /// Says if nothing is under way.
    pub(crate) fn is_finished(&self) -> bool {
        self.state.store_queue.is_idle() || self.state.lease.is_over()
    }
}
