//! The link's thread: its inputs, its turns, and its end.

use super::handle::{Inputs, Request};
use super::state::{Link, since_2000_ms};
use crate::clock;
use crossbeam_channel::select;
use std::time::Duration;

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
                recv(self.store_queue.done) -> done => if let Ok(done) = done { self.now(); self.done(done) },
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
            let Ok(done) = self.store_queue.done.try_recv() else { break };
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
            match self.store_queue.done.recv_timeout(left) {
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
        self.store_queue.end_pause(clock::now());
        self.retry_due(clock::now());
        self.flush();
    }

    /// Says if nothing is under way.
    pub(crate) fn is_finished(&self) -> bool {
        self.store_queue.is_idle() || self.ended
    }
}
