//! The harvested node's server: sends challenges, verifies every signature with an independent
//! library, refuses what it has seen.

use super::{BaseEvent, BaseStation, Outgoing};
use crate::radio::{Arrival, Framing, ReceiveMode};
use crate::time::SECOND_NS;
use lab::LabError;
use lab::reference::curve::Curve;
use rand::{Rng, RngCore, SeedableRng, rngs::StdRng};
use wire::node::{Challenge, Reassembly, Scheme, Trigger};

/// The random bytes of a challenge.
pub type Nonce = [u8; 16];

/// Offset of the piece's number within a packet: `device/node/message.h`.
const PIECE: usize = 2;

/// Server's knowledge of its node, and its way of calling it.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// Signature scheme of the node.
    pub scheme: Scheme,
    /// Its public key, x and y.
    pub public_key: Vec<u8>,
    /// Its number, which is signed.
    pub node_id: u32,
    /// Its radio address.
    pub address: u8,
    /// The server's own.
    pub server_address: u8,
    /// Duration of a byte, in nanoseconds.
    pub byte_ns: u64,
    /// For how long a challenge is repeated without a pause, in nanoseconds; at least once.
    pub repeat_ns: u64,
}

impl Peer {
    fn curve(&self) -> Curve {
        match self.scheme {
            Scheme::Secp160r1 => Curve::Secp160r1,
            Scheme::P256 => Curve::P256,
        }
    }

    /// A challenge as often as it is repeated; each copy says when the last one ends. With them the
    /// end of the last.
    fn challenge(&self, nonce: Nonce, now_ns: u64) -> (Vec<Outgoing>, u64) {
        let challenge = Challenge {
            node_address: self.address,
            node_id: self.node_id,
            challenge: nonce,
            answer_in_ms: 0,
        };
        let packet_ns = Framing::Cc2500.air_bytes(challenge.to_packet().len()) as u64 * self.byte_ns;
        let copies = self.repeat_ns.div_ceil(packet_ns).max(1);
        let copy = |index: u64| {
            let answer_in_ns = (copies - 1 - index) * packet_ns;
            let answer_in_ms = u16::try_from(answer_in_ns.div_ceil(1_000_000)).unwrap_or(u16::MAX);
            let packet = Challenge { answer_in_ms, ..challenge.clone() }.to_packet().to_vec();
            Outgoing { channel: 0, start_ns: now_ns + index * packet_ns, packet, tail_bytes: 0 }
        };
        ((0..copies).map(copy).collect(), now_ns + copies * packet_ns)
    }
}

/// When the server wants an authentication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// The node is to send by itself, an interval after the last time and no later than the
    /// deadline after that.
    Periodic {
        /// The interval, in nanoseconds.
        interval_ns: u64,
    },
    /// The server sends challenges.
    Challenges {
        /// Mean of the exponentially distributed time from the end of one challenge to the next, in
        /// seconds.
        gap_s: f64,
    },
}

/// The server.
pub struct Verifier {
    peer: Peer,
    demand: Demand,
    deadline_ns: u64,
    rng: StdRng,
    reassembly: Reassembly,
    /// When the last packet with the first piece of a message began.
    begun_ns: u64,
    /// Up to here it sends, and hears nothing.
    sending_ns: u64,
    /// The last counter accepted.
    counter: Option<u32>,
    /// Periodic: the time by which the next message must be there. Challenges: when the next one
    /// goes out, or, while one is open, when its time is over.
    next_ns: u64,
    open: Option<Open>,
    /// The challenge whose time was over last.
    missed: Option<Nonce>,
    outgoing: Vec<Outgoing>,
    events: Vec<BaseEvent>,
}

struct Open {
    nonce: Nonce,
    start_ns: u64,
}

impl Verifier {
    /// A server that knows the node's public key.
    #[must_use]
    pub fn new(peer: Peer, demand: Demand, deadline_ns: u64, seed: u64) -> Verifier {
        let mut server = Verifier {
            peer,
            demand,
            deadline_ns,
            rng: StdRng::seed_from_u64(seed),
            reassembly: Reassembly::default(),
            begun_ns: 0,
            sending_ns: 0,
            counter: None,
            next_ns: 0,
            open: None,
            missed: None,
            outgoing: Vec::new(),
            events: Vec::new(),
        };
        server.settle(0);
        server
    }

    /// An authentication is settled, or the first one is still to come.
    fn settle(&mut self, now_ns: u64) {
        self.open = None;
        self.next_ns = now_ns
            + match self.demand {
                Demand::Periodic { interval_ns } => interval_ns + self.deadline_ns,
                Demand::Challenges { gap_s } => {
                    let uniform: f64 = self.rng.random();
                    (-(1.0 - uniform).ln() * gap_s * SECOND_NS as f64) as u64
                }
            };
    }

    /// Does what is to be done at its next time.
    fn act(&mut self, now_ns: u64) {
        match self.demand {
            Demand::Periodic { interval_ns } => {
                self.next_ns += interval_ns;
                self.events.push(BaseEvent::Missed);
            }
            Demand::Challenges { .. } => match self.open.take() {
                Some(open) => {
                    self.missed = Some(open.nonce);
                    self.settle(now_ns);
                    self.events.push(BaseEvent::Missed);
                }
                None => {
                    let mut nonce = [0; 16];
                    self.rng.fill_bytes(&mut nonce);
                    let (packets, end_ns) = self.peer.challenge(nonce, now_ns);
                    self.open = Some(Open { nonce, start_ns: now_ns });
                    self.outgoing.extend(packets);
                    self.sending_ns = end_ns;
                    self.next_ns = now_ns + self.deadline_ns;
                    self.events.push(BaseEvent::Challenge);
                }
            },
        }
    }

    /// Handles a packet that has come whole. Returns none where more is to come, or where the
    /// server was sending itself.
    fn take(&mut self, packet: &[u8], start_ns: u64, end_ns: u64) -> Result<Option<BaseEvent>, LabError> {
        let rejected = |why: &str| Ok(Some(BaseEvent::Rejected(why.into())));
        if start_ns < self.sending_ns {
            return Ok(None);
        }
        if packet.get(PIECE).is_none_or(|piece| piece >> 4 == 0) {
            self.begun_ns = start_ns;
        }
        let message = match self.reassembly.take(packet) {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(None),
            Err(error) => return rejected(&error.to_string()),
        };
        if message.node_id != self.peer.node_id {
            return rejected(&format!("node {:#010x} is not known", message.node_id));
        }
        let nonce = match (self.demand, message.kind) {
            (Demand::Periodic { .. }, Trigger::Reading) => None,
            (Demand::Challenges { .. }, Trigger::Answer(start)) => {
                let open = self.open.as_ref().map(|open| open.nonce);
                match open.into_iter().chain(self.missed).find(|nonce| nonce.starts_with(&start)) {
                    Some(nonce) => Some(nonce),
                    None => return rejected("it answers a challenge that is not open"),
                }
            }
            (_, Trigger::Answer(_)) => return rejected("an answer without a challenge"),
            (_, Trigger::Reading) => return rejected("a reading instead of an answer"),
        };
        let signed = message.signed_bytes(&nonce.unwrap_or_default());
        if message.scheme != self.peer.scheme
            || !self.peer.curve().verifies(&self.peer.public_key, &signed, &message.signature)?
        {
            return rejected("the signature is wrong");
        }
        if self.counter.is_some_and(|last| message.counter <= last) {
            return rejected(&format!("counter {} has been used", message.counter));
        }
        self.counter = Some(message.counter);
        Ok(Some(self.judge(nonce, end_ns)))
    }

    /// Judges a message that verified: it must answer the challenge in time.
    fn judge(&mut self, nonce: Option<Nonce>, end_ns: u64) -> BaseEvent {
        let asked_ns = match (&self.open, nonce) {
            (_, None) => self.begun_ns,
            (Some(open), Some(nonce)) if open.nonce == nonce => open.start_ns,
            _ => return BaseEvent::Late,
        };
        self.settle(end_ns);
        BaseEvent::Authenticated { latency_ns: end_ns - asked_ns }
    }
}

impl BaseStation for Verifier {
    fn receive_mode(&self, _: usize) -> ReceiveMode {
        ReceiveMode::Packets(self.peer.server_address)
    }

    fn next_ns(&self) -> u64 {
        self.next_ns
    }

    fn advance(&mut self, now_ns: u64, until_ns: u64) -> Result<(), LabError> {
        while self.next_ns < until_ns {
            self.act(now_ns);
        }
        Ok(())
    }

    fn receive(&mut self, _: usize, arrival: Arrival) -> Result<(), LabError> {
        if let Arrival::Packet { start_ns, end_ns, packet, .. } = arrival {
            let event = self.take(&packet, start_ns, end_ns)?;
            self.events.extend(event);
        }
        Ok(())
    }

    fn take_outgoing(&mut self) -> Vec<Outgoing> {
        std::mem::take(&mut self.outgoing)
    }

    fn take_events(&mut self) -> Vec<BaseEvent> {
        std::mem::take(&mut self.events)
    }
}
