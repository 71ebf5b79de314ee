//! Step 3: messages with curves go to the verifiers, which are threads. The session opens AES at
//! once.

use super::receive::Origin;
use crate::meters::PartitionState;
use crossbeam_channel::{Receiver, Sender, TrySendError, bounded, unbounded};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::thread::JoinHandle;
use wire::meter::{OpenedMessage, SealedMessage};

/// Messages that wait for a verifier at most; others are dropped, and come again.
const MESSAGES_MAX: usize = 4096;

/// Messages of one gateway among them, at most.
const GATEWAY_MESSAGES_MAX: usize = MESSAGES_MAX / 4;

/// Messages of one meter that are with the verifiers at most: the rest of them are others'.
const OPENING_MAX: u8 = 2;

/// The threads, one a core, and the queues to them and back. They end when the queue to them is
/// gone.
pub(crate) struct Verifiers {
    sealed: Sender<(SealedMessage, Origin)>,
    pub(crate) opened: Receiver<(OpenedMessage, Origin)>,
    threads: Vec<JoinHandle<()>>,
    /// The number of messages that wait or are being opened.
    opening: usize,
    /// The same of each gateway, by its number.
    by_gateway: HashMap<u32, usize>,
}

impl Verifiers {
    pub(crate) fn start(count: usize) -> std::io::Result<Verifiers> {
        let (sealed, sealed_in) = bounded::<(SealedMessage, Origin)>(MESSAGES_MAX);
        let (opened_out, opened) = unbounded();
        let start = |number| {
            let (sealed, opened) = (sealed_in.clone(), opened_out.clone());
            std::thread::Builder::new().name(format!("verify {number}")).spawn(move || {
                for (message, origin) in sealed {
                    if opened.send((message.open(), origin)).is_err() {
                        return;
                    }
                }
            })
        };
        let threads = (0..count).map(start).collect::<Result<_, _>>()?;
        Ok(Verifiers { sealed, opened, threads, opening: 0, by_gateway: HashMap::new() })
    }

    /// Gives a message to the verifiers, or drops it. The meter sends a dropped one again. If a
    /// queue delivered it again, too, the flood would grow.
    pub(super) fn verify(&mut self, state: &mut PartitionState, message: SealedMessage, origin: Origin) {
        let Some(known) = state.meters.get_mut(message.meter()) else { return origin.receipts.done() };
        let known = known.active();
        if known.opening >= OPENING_MAX {
            state.counted.dropped_messages += 1;
            return origin.receipts.done();
        }
        if let Err(origin) = self.open(message, origin) {
            state.counted.dropped_messages += 1;
            return origin.receipts.done();
        }
        known.opening += 1;
        self.opening += 1;
    }

    /// Records that a message came back.
    pub(super) fn on_opened(&mut self, state: &mut PartitionState, message: &OpenedMessage, origin: &Origin) {
        self.opening -= 1;
        self.release(origin);
        if let Some(known) = state.meters.get_mut(message.meter()) {
            let opening = &mut known.active().opening;
            *opening = opening.saturating_sub(1);
        }
    }

    /// Returns the number of messages that wait or are being opened.
    pub(crate) fn opening(&self) -> usize {
        self.opening
    }

    /// Queues a message; returns its origin if there is no room.
    fn open(&mut self, message: SealedMessage, origin: Origin) -> Result<(), Origin> {
        let of_gateway = self.by_gateway.entry(origin.route.gateway.number).or_default();
        if *of_gateway >= GATEWAY_MESSAGES_MAX {
            return Err(origin);
        }
        *of_gateway += 1;
        self.sealed.try_send((message, origin)).map_err(|refused| {
            let (TrySendError::Full((_, origin)) | TrySendError::Disconnected((_, origin))) = refused;
            self.release(&origin);
            origin
        })
    }

    /// Frees the room of a message.
    fn release(&mut self, origin: &Origin) {
        if let Entry::Occupied(mut of_gateway) = self.by_gateway.entry(origin.route.gateway.number) {
            *of_gateway.get_mut() -= 1;
            if *of_gateway.get() == 0 {
                of_gateway.remove();
            }
        }
    }

    pub(crate) fn stop(self) {
        drop(self.sealed);
        for thread in self.threads {
            // One that panicked has said so.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gateway::{GatewayId, Route};
    use crate::meters::Receipts;
    use rand::SeedableRng;
    use rand::rngs::StdRng;
    use wire::meter::{
        Channel, Collector, Identity, MessageKind, MeterState, Policy, Provision, ReassemblyOutcome, Setup,
        Suite, packets,
    };

    #[test]
    fn verifier_queue_is_bounded() {
        let mut rng = StdRng::seed_from_u64(1);
        let identity = Identity::generate(&mut rng);
        let setup = Setup { suite: Suite::Ecies, ..Setup::usual(7) };
        let provision = Provision::generate(setup, identity.public(), &mut rng);
        let record = provision.record();
        let channel =
            Channel { meter: 7, keys: &record.keys, own: provision.identity(), peer: identity.public() };
        let sealed = channel.seal(MessageKind::Report, Suite::Ecies, 1, &[0; 16], &mut rng);
        let cut = packets(0x4f, MessageKind::Report, Suite::Ecies, 7, 1, &sealed);
        let mut collector = Collector::new(identity.clone(), Policy::default());
        let state = MeterState::new(&record);
        collector.add(record.clone(), state).expect("a meter");
        let mut message = || {
            let mut whole = cut.iter().filter_map(|packet| match collector.reassemble(packet) {
                ReassemblyOutcome::Sealed(message) => Some(message),
                ReassemblyOutcome::Done(_) => None,
            });
            whole.next().expect("all pieces are there")
        };
        let origin = |gateway| {
            let route = Route { gateway: GatewayId::of(gateway), peer: None };
            Origin { route, rssi_dbm: None, heard_ms: 0, number_lsb: 1, receipts: Receipts::default() }
        };
        // One verifier opens much slower than messages come.
        let mut verifiers = Verifiers::start(1).expect("a thread");
        let mut taken = |gateway, count| {
            (0..count).filter(|_| verifiers.open(message(), origin(gateway)).is_ok()).count()
        };
        assert_eq!(taken(0, 2 * GATEWAY_MESSAGES_MAX), GATEWAY_MESSAGES_MAX, "of one gateway");
        let others: usize = (1..8).map(|gateway| taken(gateway, GATEWAY_MESSAGES_MAX)).sum();
        let in_all = GATEWAY_MESSAGES_MAX + others;
        assert!((MESSAGES_MAX..2 * MESSAGES_MAX).contains(&in_all), "{in_all} were taken");
        verifiers.stop();
    }
}
