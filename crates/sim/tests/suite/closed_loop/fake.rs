//! A node that follows a script instead of running firmware: what is done to it can be worked out
//! by hand.

use lab::LabError;
use lab::reference::curve::Curve;
use sim::node::{Advance, Node, SignerCounts};
use sim::radio::{Arrival, Emission, ReceiveMode};
use sim::station::verifier::Peer;
use sim::supply::{Draw, State, Voltages};
use sim::time::SECOND_NS;
use wire::node::Scheme;

/// Awake for so long before it sends.
pub const SIGNING_NS: u64 = 200_000_000;
/// On the air for so long.
pub const SENDING_NS: u64 = 3_000_000;
pub const ASLEEP_A: f64 = 10e-6;
pub const AWAKE_A: f64 = 5e-3;
pub const SENDING_A: f64 = 21.2e-3;

#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Off,
    Sleeping { until_ns: u64 },
    Signing { until_ns: u64 },
    Sending { until_ns: u64 },
}

pub struct Fake {
    states: Vec<State>,
    key: Vec<u8>,
    /// Periodic where there is one.
    pub interval_ns: Option<u64>,
    pub threshold_v: f64,
    /// It needs this supply.
    pub lowest_v: f64,
    /// Its counter stays as it is.
    pub repeats: bool,
    /// It signs with a wrong key.
    pub forges: bool,
    /// It dawdles this long before it signs.
    pub dawdles_ns: u64,
    doing: Doing,
    now_ns: u64,
    counter: u32,
    challenge: Option<[u8; 16]>,
    heard: Option<(u64, [u8; 16])>,
    counts: SignerCounts,
    sent: Vec<Emission>,
    voltages: Voltages,
}

impl Fake {
    pub fn new(interval_s: Option<u64>) -> Fake {
        let state = |part, name: &str| State { part, name: name.into() };
        Fake {
            states: vec![state("cpu", "active"), state("cpu", "sleep"), state("radio", "tx")],
            key: [&[0; 18][..], &[3, 5, 9]].concat(),
            interval_ns: interval_s.map(|s| s * SECOND_NS),
            threshold_v: 0.0,
            lowest_v: 1.8,
            repeats: false,
            forges: false,
            dawdles_ns: 0,
            doing: Doing::Off,
            now_ns: 0,
            counter: 0,
            challenge: None,
            heard: None,
            counts: SignerCounts::default(),
            sent: Vec::new(),
            voltages: Voltages { rail_v: 0.0, stored_v: 0.0 },
        }
    }

    /// Returns the server's knowledge of it.
    pub fn peer(&self) -> Peer {
        Peer {
            scheme: Scheme::Secp160r1,
            public_key: Curve::Secp160r1.public(&self.key).expect("a key"),
            node_id: 0x0102_0304,
            address: 7,
            server_address: 1,
            // 250 kbit/s.
            byte_ns: 32_000,
            repeat_ns: 0,
        }
    }

    fn sleep(&mut self) -> Doing {
        Doing::Sleeping {
            until_ns: self.interval_ns.map_or(u64::MAX, |interval_ns| self.now_ns + interval_ns),
        }
    }

    fn next(&mut self, stored_v: f64) -> Doing {
        match self.doing {
            Doing::Off => Doing::Off,
            Doing::Sleeping { .. } if stored_v < self.threshold_v => {
                self.counts.refused += 1;
                self.sleep()
            }
            Doing::Sleeping { .. } => Doing::Signing { until_ns: self.now_ns + self.dawdles_ns + SIGNING_NS },
            Doing::Signing { .. } => {
                self.counts.signed += 1;
                Doing::Sending { until_ns: self.now_ns + SENDING_NS }
            }
            Doing::Sending { .. } => {
                self.send(stored_v);
                self.counts.sent += 1;
                self.sleep()
            }
        }
    }

    fn send(&mut self, stored_v: f64) {
        if !self.repeats {
            self.counter += 1;
        }
        let challenge = self.challenge.take();
        let kind = if challenge.is_some() { 3 } else { 2 };
        let said = [&((stored_v * 1e3) as u16).to_be_bytes()[..], &[0; 4]].concat();
        let counter = self.counter.to_be_bytes();
        // Byte by byte as message.h has it.
        let mut signed = [&b"WSN1"[..], &[kind, 0, 1, 2, 3, 4], &counter, &said].concat();
        signed.extend(challenge.iter().flatten());
        let mut key = self.key.clone();
        key[20] ^= u8::from(self.forges);
        let signature = Curve::Secp160r1.sign(&key, &signed).expect("a signature");
        let mut bytes = [&[1, kind, 0x01, 1, 2, 3, 4][..], &counter, &said].concat();
        bytes.extend(challenge.map_or([0; 4], |c| [c[0], c[1], c[2], c[3]]));
        bytes.extend(signature);
        self.sent.push(Emission::Packet {
            start_ns: self.now_ns - SENDING_NS,
            end_ns: self.now_ns,
            packet: bytes,
        });
    }
}

impl Node for Fake {
    fn states(&self) -> &[State] {
        &self.states
    }

    fn receive_mode(&self) -> ReceiveMode {
        ReceiveMode::Packets(7)
    }

    fn next_ns(&self) -> u64 {
        self.now_ns
    }

    fn power_up(&mut self, now_ns: u64, voltages: Voltages) -> Result<(), LabError> {
        self.voltages = voltages;
        self.now_ns = now_ns;
        self.doing = self.sleep();
        Ok(())
    }

    fn set_voltages(&mut self, voltages: Voltages) {
        self.voltages = voltages;
    }

    fn cut_power(&mut self, _: u8) {
        self.doing = Doing::Off;
        self.counts = SignerCounts::default();
        (self.challenge, self.heard) = (None, None);
    }

    fn advance(&mut self, limit_ns: u64) -> Result<Advance, LabError> {
        if let (Some((end_ns, challenge)), Doing::Sleeping { until_ns }) = (self.heard, &mut self.doing) {
            *until_ns = (*until_ns).min(end_ns);
            self.challenge = Some(challenge);
            self.heard = None;
        }
        let (state, current_a, until_ns) = match self.doing {
            Doing::Off => panic!("it has no power"),
            Doing::Sleeping { until_ns } => (1, ASLEEP_A, until_ns),
            Doing::Signing { until_ns } => (0, AWAKE_A, until_ns),
            Doing::Sending { until_ns } => (2, SENDING_A, until_ns),
        };
        let end_ns = limit_ns.min(until_ns);
        let time_s = (end_ns - self.now_ns) as f64 / SECOND_NS as f64;
        self.now_ns = end_ns;
        let power_lost = self.voltages.rail_v < self.lowest_v;
        if end_ns == until_ns && !power_lost {
            self.doing = self.next(self.voltages.stored_v);
        }
        let asleep = state == 1 && end_ns < until_ns;
        Ok(Advance {
            now_ns: end_ns,
            draws: vec![Draw { state, time_s, charge_c: current_a * time_s }],
            asleep,
            power_lost,
        })
    }

    fn take_emissions(&mut self, into: &mut Vec<Emission>) {
        into.append(&mut self.sent);
    }

    fn receive(&mut self, arrival: Arrival) {
        let Arrival::Packet { end_ns, packet, .. } = arrival else { return };
        let mut challenge = [0; 16];
        challenge.copy_from_slice(&packet[6..22]);
        assert_eq!(packet[..6], [7, 1, 1, 2, 3, 4]);
        assert_eq!(packet[22..], [0, 0]);
        self.heard = Some((end_ns, challenge));
    }

    fn signer_counts(&self) -> Result<SignerCounts, LabError> {
        Ok(self.counts)
    }
}
