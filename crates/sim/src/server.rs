//! The server: sends challenges, verifies every signature with an independent library, refuses what it has seen.

use crate::node::{Packet, SECOND_NS};
use lab::LabError;
use lab::reference::curve::Curve;
use rand::{Rng, RngCore, SeedableRng, rngs::StdRng};
use wire::node::{Challenge, Reassembly, Scheme, Trigger};

/// The random bytes of a challenge.
pub type Nonce = [u8; 16];

/// Where a packet says which piece of its message it is: `device/node/message.h`.
const PIECE: usize = 2;

/// What the server knows of its node, and how it calls it.
#[derive(Clone, Debug, PartialEq)]
pub struct Peer {
    /// What it signs with.
    pub scheme: Scheme,
    /// Its public key, x and y.
    pub public_key: Vec<u8>,
    /// Its number, which is signed.
    pub node_id: u32,
    /// Its radio address.
    pub address: u8,
    /// Time on the air of a packet, in nanoseconds: what is beside the bytes, and each byte.
    pub air_ns: (u64, u64),
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

    /// A challenge as often as it is repeated; each copy says when the last one ends.
    fn challenge(&self, nonce: Nonce, now_ns: u64) -> Vec<Packet> {
        let challenge = Challenge {
            node_address: self.address,
            node_id: self.node_id,
            challenge: nonce,
            answer_in_ms: 0,
        };
        let packet_ns = self.air_ns.0 + self.air_ns.1 * challenge.to_packet().len() as u64;
        let copies = self.repeat_ns.div_ceil(packet_ns).max(1);
        let copy = |index: u64| {
            let answer_in_ns = (copies - 1 - index) * packet_ns;
            let answer_in_ms = u16::try_from(answer_in_ns.div_ceil(1_000_000)).unwrap_or(u16::MAX);
            let start_ns = now_ns + index * packet_ns;
            let bytes = Challenge { answer_in_ms, ..challenge.clone() }.to_packet().to_vec();
            Packet { start_ns, end_ns: start_ns + packet_ns, bytes }
        };
        (0..copies).map(copy).collect()
    }
}

/// When the server wants an authentication.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Demand {
    /// The node is to send by itself, an interval after the last time and no later than the deadline after that.
    Periodic {
        /// The interval, in nanoseconds.
        interval_ns: u64,
    },
    /// The server sends challenges.
    Challenges {
        /// Mean of the exponentially distributed time from the end of one challenge to the next, in seconds.
        gap_s: f64,
    },
}

/// What the server made of a packet.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Nothing: it was sending itself.
    Unheard,
    /// A part of a message; more is to come.
    Partial,
    /// The signature is right, the counter new, the challenge the one that is open.
    Accepted {
        /// From the challenge's first bit, or the message's, to its last bit, in nanoseconds.
        latency_ns: u64,
    },
    /// As accepted, but after the deadline: counted as a miss already.
    Late,
    /// Refused, and why.
    Rejected(String),
}

/// The server's side of the radio.
pub struct Server {
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
    /// Periodic: the time by which the next message must be there. Challenges: when the next one goes out, or, while
    /// one is open, when its time is over.
    next_ns: u64,
    open: Option<Open>,
    /// The challenge whose time was over last.
    missed: Option<Nonce>,
}

struct Open {
    nonce: Nonce,
    start_ns: u64,
}

/// What is on the server's mind at a moment.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// It sends a challenge, in all these copies.
    Challenge(Vec<Packet>),
    /// An authentication has not come in time.
    Missed,
}

impl Server {
    /// A server that knows the node's public key.
    #[must_use]
    pub fn new(peer: Peer, demand: Demand, deadline_ns: u64, seed: u64) -> Server {
        let mut server = Server {
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
        };
        server.settle(0);
        server
    }

    /// When it wants to act next, in nanoseconds.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        self.next_ns
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

    /// Does what is to be done at [`Server::next_ns`].
    pub fn act(&mut self, now_ns: u64) -> Action {
        match self.demand {
            Demand::Periodic { interval_ns } => {
                self.next_ns += interval_ns;
                Action::Missed
            }
            Demand::Challenges { .. } => match self.open.take() {
                Some(open) => {
                    self.missed = Some(open.nonce);
                    self.settle(now_ns);
                    Action::Missed
                }
                None => {
                    let mut nonce = [0; 16];
                    self.rng.fill_bytes(&mut nonce);
                    let packets = self.peer.challenge(nonce, now_ns);
                    self.open = Some(Open { nonce, start_ns: now_ns });
                    self.sending_ns = packets.last().map_or(now_ns, |packet| packet.end_ns);
                    self.next_ns = now_ns + self.deadline_ns;
                    Action::Challenge(packets)
                }
            },
        }
    }

    /// A packet has come whole.
    ///
    /// # Errors
    /// [`LabError::Reference`] where the independent library fails.
    pub fn receive(&mut self, packet: &Packet) -> Result<Verdict, LabError> {
        if packet.start_ns < self.sending_ns {
            return Ok(Verdict::Unheard);
        }
        if packet.bytes.get(PIECE).is_none_or(|piece| piece >> 4 == 0) {
            self.begun_ns = packet.start_ns;
        }
        let message = match self.reassembly.take(&packet.bytes) {
            Ok(Some(message)) => message,
            Ok(None) => return Ok(Verdict::Partial),
            Err(error) => return Ok(Verdict::Rejected(error.to_string())),
        };
        if message.node_id != self.peer.node_id {
            return Ok(Verdict::Rejected(format!("node {:#010x} is not known", message.node_id)));
        }
        let nonce = match (self.demand, message.kind) {
            (Demand::Periodic { .. }, Trigger::Reading) => None,
            (Demand::Challenges { .. }, Trigger::Answer(start)) => {
                let open = self.open.as_ref().map(|open| open.nonce);
                match open.into_iter().chain(self.missed).find(|nonce| nonce.starts_with(&start)) {
                    Some(nonce) => Some(nonce),
                    None => return Ok(Verdict::Rejected("it answers a challenge that is not open".into())),
                }
            }
            (_, Trigger::Answer(_)) => return Ok(Verdict::Rejected("an answer without a challenge".into())),
            (_, Trigger::Reading) => return Ok(Verdict::Rejected("a reading instead of an answer".into())),
        };
        let signed = message.signed_bytes(&nonce.unwrap_or_default());
        if message.scheme != self.peer.scheme
            || !self.peer.curve().verifies(&self.peer.public_key, &signed, &message.signature)?
        {
            return Ok(Verdict::Rejected("the signature is wrong".into()));
        }
        if self.counter.is_some_and(|last| message.counter <= last) {
            return Ok(Verdict::Rejected(format!("counter {} has been used", message.counter)));
        }
        self.counter = Some(message.counter);
        Ok(self.judge(nonce, packet.end_ns))
    }

    /// Whether the message that verified came in time for what was asked.
    fn judge(&mut self, nonce: Option<Nonce>, end_ns: u64) -> Verdict {
        let asked_ns = match (&self.open, nonce) {
            (_, None) => self.begun_ns,
            (Some(open), Some(nonce)) if open.nonce == nonce => open.start_ns,
            _ => return Verdict::Late,
        };
        self.settle(end_ns);
        Verdict::Accepted { latency_ns: end_ns - asked_ns }
    }
}
