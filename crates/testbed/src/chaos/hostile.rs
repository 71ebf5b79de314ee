//! A gateway that was taken over: it holds the credential of one gateway, and tries by NATS all
//! that this should not do. Its choices are drawn from a seed. It ends by itself after its time, or
//! after [`MESSAGES_MAX`].

use crate::chaos::ClusterError;
use crate::chaos::parts::{Kind, PartId};
use async_nats::{Client, ConnectOptions, HeaderMap};
use collector::cluster::{MESSAGE_PACKETS_MAX, PacketUp, join_packets};
use collector::network::NetworkId;
use collector::partition::finest_slice;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, RngCore, SeedableRng};
use std::net::Ipv4Addr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use wire::meter::{Content, Measurement, MessageKind, MeterId, Report, Suite, message_bytes, packets};
use zeroize::Zeroizing;

/// The networks of its user: that of all meters, and one without a meter.
pub const NETWORKS: [NetworkId; 2] = [NetworkId::DEFAULT, NetworkId(7)];
/// One message after the other.
const EVERY: Duration = Duration::from_millis(10);
/// Of one attack.
const MESSAGES_MAX: u64 = 1000;
/// Inputs that it names, one after the other.
const INPUTS: u16 = 4096;
/// A server that is away is asked again.
const AGAIN_AFTER: Duration = Duration::from_millis(200);
/// Forged packets in a message; each may cost a worker an operation on a curve.
const FORGED_MAX: usize = 8;

/// Subjects that are no gateway's of its name. It publishes there, and names them as the places for
/// JetStream's answers.
const NOT_ITS_OWN: [&str; 22] = [
    "$KV.wattseal-settings.slices",
    "$KV.wattseal-settings.{number}",
    "$KV.wattseal-leases.{network}.{slice}",
    "$KV.wattseal-workers.ghost{number}",
    "$KV.wattseal-workers.worker-1",
    "$JS.API.STREAM.PURGE.{stream}",
    "$JS.API.STREAM.DELETE.{stream}",
    "$JS.API.STREAM.UPDATE.{stream}",
    "$JS.API.STREAM.MSG.DELETE.{stream}",
    "$JS.API.STREAM.LEADER.STEPDOWN.{stream}",
    "$JS.API.CONSUMER.DELETE.wattseal-up.{network}-{slice}-{number}",
    "$JS.API.CONSUMER.MSG.NEXT.wattseal-up.{network}-{slice}-{number}",
    "$JS.ACK.wattseal-up.{network}-{slice}-{number}.1.{number}.1.1.0",
    "$SYS.REQ.SERVER.PING",
    "wattseal.{network}.up.{bits}.{gateway}",
    "wattseal.9.up.{bits}.{own}",
    "wattseal.{network}.ask.{bits}",
    "wattseal.events",
    "wattseal.answer.api-1.000000000000000{slice}",
    "wattseal.{network}.down.{gateway}",
    "_INBOX.worker-1.{number}",
    "_INBOX.{gateway}.{number}",
];

/// The streams, buckets among them.
const STREAMS: [&str; 4] =
    ["wattseal-up", "KV_wattseal-leases", "KV_wattseal-settings", "KV_wattseal-workers"];

/// Headers that JetStream obeys.
const HEADERS: [(&str, &str); 6] = [
    ("Nats-Expected-Stream", "another"),
    ("Nats-Expected-Last-Sequence", "0"),
    ("Nats-Rollup", "all"),
    ("Nats-Rollup", "sub"),
    ("Nats-Msg-Id", "1"),
    ("KV-Operation", "PURGE"),
];

/// Contents that mean something to who hears them.
const BODIES: [&str; 8] = [
    "",
    "1",
    "16",
    "here",
    r#"{"worker":"ghost","fence":18446744073709551615,"renewed":1}"#,
    r#"{"version":1,"from":"api-1","n":1,"events":[{"event":"resync"}]}"#,
    r#"{"version":1,"meter":{"meter":1001},"question":{"command":{"request":"reboot","by":"ghost"}}}"#,
    r#"{"stream":"wattseal-up","seq":7}"#,
];

/// Targets of the attack, by name.
#[derive(Clone, Debug)]
pub struct Targets {
    pub own: PartId,
    /// In whose names it forges packets.
    pub meters: Vec<MeterId>,
}

/// A message that it sends.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sending {
    subject: String,
    /// Subject for JetStream's answer.
    reply: Option<String>,
    header: Option<(&'static str, &'static str)>,
    bytes: Vec<u8>,
}

/// Draws what is tried next.
struct Attacker {
    rng: StdRng,
    targets: Targets,
    input: u16,
}

impl Attacker {
    fn new(targets: Targets, seed: u64) -> Attacker {
        Attacker { rng: StdRng::seed_from_u64(seed), targets, input: 0 }
    }

    fn next(&mut self) -> Sending {
        let (network, meter) = (self.network(), self.meter());
        let own = format!("wattseal.{network}.up.{}.{}", bits(finest_slice(meter)), self.targets.own);
        let sending = |bytes| Sending { subject: own.clone(), reply: None, header: None, bytes };
        // At first among all that it tries.
        if self.input < INPUTS && self.rng.random_bool(0.6) {
            return sending(self.inputs(meter));
        }
        match self.rng.random_range(0..6) {
            // Another's subject for the answer, of a message that JetStream takes, or refuses.
            0 | 1 => {
                let (header, bytes) = (self.header(), self.body(meter));
                Sending { reply: Some(self.not_its_own()), header, ..sending(bytes) }
            }
            // The same subject without a detour.
            2 => {
                let (header, bytes) = (self.header(), self.body(meter));
                Sending { subject: self.not_its_own(), header, ..sending(bytes) }
            }
            // Halves of messages.
            3 => {
                let forged = self.forged(meter, &[Suite::Ecies, Suite::EciesEcdsa]);
                let half = forged.into_iter().take(1).map(|packet| self.up(0, packet));
                sending(join_packets(&half.collect::<Vec<_>>()))
            }
            4 => {
                let mut ups = Vec::new();
                while ups.len() < FORGED_MAX {
                    let forged = self.forged(meter, &Suite::ALL);
                    ups.extend(forged.into_iter().map(|packet| self.up(0, packet)));
                }
                sending(join_packets(&ups))
            }
            _ => sending(self.random()),
        }
    }

    /// The next inputs.
    fn inputs(&mut self, meter: MeterId) -> Vec<u8> {
        let first = self.input;
        self.input += MESSAGE_PACKETS_MAX as u16;
        let [high, low] = meter.to_be_bytes();
        let ups = (first..self.input).map(|input| self.up(input, vec![0x4f, 8, high, low, 0]));
        join_packets(&ups.collect::<Vec<_>>())
    }

    fn network(&mut self) -> NetworkId {
        // Most of it where meters are.
        NETWORKS[usize::from(self.rng.random_bool(0.2))]
    }

    fn meter(&mut self) -> MeterId {
        let any = self.rng.random_range(1..MeterId::MAX);
        let known = self.targets.meters.choose(&mut self.rng).copied();
        known.filter(|_| self.rng.random_bool(0.9)).unwrap_or(any)
    }

    fn not_its_own(&mut self) -> String {
        let gateways = Kind::Gateway.rule().count;
        let gateway = PartId { kind: Kind::Gateway, index: self.rng.random_range(0..gateways) };
        let mut subject = NOT_ITS_OWN[self.rng.random_range(0..NOT_ITS_OWN.len())].to_owned();
        for (place, text) in [
            ("{network}", self.network().to_string()),
            ("{slice}", self.rng.random_range(0..4).to_string()),
            ("{number}", self.rng.random_range(0..20).to_string()),
            ("{bits}", bits(self.rng.random_range(0..16))),
            ("{stream}", STREAMS[self.rng.random_range(0..STREAMS.len())].to_owned()),
            ("{gateway}", gateway.to_string()),
            ("{own}", self.targets.own.to_string()),
        ] {
            subject = subject.replace(place, &text);
        }
        subject
    }

    fn header(&mut self) -> Option<(&'static str, &'static str)> {
        HEADERS.choose(&mut self.rng).copied().filter(|_| self.rng.random_bool(0.5))
    }

    /// An envelope with a forged packet, what means something elsewhere, or nothing that is known.
    fn body(&mut self, meter: MeterId) -> Vec<u8> {
        match self.rng.random_range(0..3) {
            0 => {
                let forged = self.forged(meter, &Suite::ALL);
                let ups: Vec<_> = forged.into_iter().map(|packet| self.up(0, packet)).collect();
                join_packets(&ups)
            }
            1 => BODIES[self.rng.random_range(0..BODIES.len())].into(),
            _ => self.random(),
        }
    }

    fn random(&mut self) -> Vec<u8> {
        let mut bytes = vec![0; self.rng.random_range(0..1000)];
        self.rng.fill_bytes(&mut bytes);
        // Half of them begin as envelopes.
        if let Some(first) = bytes.first_mut().filter(|_| self.rng.random_bool(0.5)) {
            *first = 2;
        }
        bytes
    }

    /// A message that nobody sealed, in the name of a meter.
    fn forged(&mut self, meter: MeterId, suites: &[Suite]) -> Vec<Vec<u8>> {
        let suite = suites[self.rng.random_range(0..suites.len())];
        let kind = [MessageKind::Report, MessageKind::Answer][usize::from(self.rng.random_bool(0.2))];
        let n = self.rng.random_range(1..1000);
        let mut message = vec![0; message_bytes(kind, suite)];
        self.rng.fill_bytes(&mut message);
        if (kind, suite) == (MessageKind::Report, Suite::None) {
            let content = Content::Measurement(Measurement { time_s: 1, energy_dwh: 1, power_w: 1 });
            message = Report { n, time_set: true, lost: 0, content }.to_bytes().to_vec();
        }
        packets(self.rng.random(), kind, suite, meter, n, &message)
    }

    fn up(&mut self, input: u16, packet: Vec<u8>) -> Vec<u8> {
        let peer = self.rng.random_bool(0.5).then(|| (Ipv4Addr::LOCALHOST, self.rng.random()).into());
        let (trace, heard_ms) = (self.rng.random(), self.rng.random());
        PacketUp { trace, heard_ms, rssi_dbm: Some(-60), input, peer, packet }.to_bytes()
    }
}

/// The four tokens of a finest slice.
fn bits(slice: u8) -> String {
    let bits = (0..4).rev().map(|bit| (slice >> bit & 1).to_string());
    bits.collect::<Vec<_>>().join(".")
}

/// An attack that goes on. Dropped, it ends.
pub struct Attack {
    _runtime: Runtime,
    sent: Arc<AtomicU64>,
}

impl Attack {
    /// Begins one that lasts so long. servers: ports of the NATS servers on this machine.
    /// credentials: the file with its user's key.
    ///
    /// # Errors
    /// The key cannot be read, or the system gives no thread.
    pub fn start(
        servers: &[u16],
        credentials: &Path,
        targets: Targets,
        (seed, lasts): (u64, Duration),
    ) -> Result<Attack, ClusterError> {
        let key = std::fs::read_to_string(credentials).map(Zeroizing::new);
        let key = key.map_err(|error| ClusterError::File { path: credentials.into(), error })?;
        let runtime =
            Builder::new_multi_thread().worker_threads(1).thread_name("hostile").enable_all().build();
        let runtime = runtime.map_err(|error| ClusterError::Socket { error })?;
        let servers: Vec<String> =
            servers.iter().map(|port| format!("nats://{}:{port}", Ipv4Addr::LOCALHOST)).collect();
        let sent = Arc::new(AtomicU64::new(0));
        let counted = Arc::clone(&sent);
        let attacks = async move {
            let client = connect(&servers, key.trim(), &targets).await;
            let mut attacker = Attacker::new(targets, seed);
            while counted.load(Ordering::Relaxed) < MESSAGES_MAX {
                if send(&client, attacker.next()).await.is_ok() {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
                tokio::time::sleep(EVERY).await;
            }
        };
        runtime.spawn(async move { tokio::time::timeout(lasts, attacks).await });
        Ok(Attack { _runtime: runtime, sent })
    }

    /// Returns the number of messages that it has sent.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }
}

async fn connect(servers: &[String], key: &str, targets: &Targets) -> Client {
    loop {
        let options = ConnectOptions::new().nkey(key.to_owned());
        let options = options.custom_inbox_prefix(format!("_INBOX.{}", targets.own));
        match options.connect(servers).await {
            Ok(client) => return client,
            // Servers may be away for as long as the attack lasts.
            Err(_) => tokio::time::sleep(AGAIN_AFTER).await,
        }
    }
}

/// Sends a message, and sees it off to the server. What the server refuses it tells later.
async fn send(
    client: &Client,
    Sending { subject, reply, header, bytes }: Sending,
) -> Result<(), async_nats::Error> {
    let mut headers = HeaderMap::new();
    if let Some((name, value)) = header {
        headers.insert(name, value);
    }
    match reply {
        Some(reply) => client.publish_with_reply_and_headers(subject, reply, headers, bytes.into()).await?,
        None => client.publish_with_headers(subject, headers, bytes.into()).await?,
    }
    client.flush().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use collector::cluster::split_packets;
    use std::collections::BTreeSet;

    const OWN: PartId = PartId { kind: Kind::HostileGateway, index: 0 };

    fn drawn(seed: u64) -> Vec<Sending> {
        let mut attacker = Attacker::new(Targets { own: OWN, meters: vec![1001, 1002] }, seed);
        (0..MESSAGES_MAX).map(|_| attacker.next()).collect()
    }

    #[test]
    fn hostile_gateway_draws_the_same_messages_with_the_same_seed() {
        assert_eq!(drawn(3), drawn(3));
        assert_ne!(drawn(3), drawn(4));
    }

    #[test]
    fn hostile_gateway_covers_all_subjects_inputs_and_halves() {
        let all: Vec<Sending> = (1..=8).flat_map(drawn).collect();
        let is_of = |subject: &str, place: &str| {
            let (before, behind) = place.split_once('{').unwrap_or((place, ""));
            let behind = behind.rsplit_once('}').map_or("", |(_, behind)| behind);
            subject.starts_with(before) && subject.ends_with(behind)
        };
        for place in NOT_ITS_OWN {
            assert!(all.iter().any(|sent| is_of(&sent.subject, place)), "published to {place}");
            let reply = |sent: &&Sending| sent.reply.as_deref().is_some_and(|reply| is_of(reply, place));
            assert!(all.iter().any(|sent| reply(&sent)), "named {place}");
        }
        for header in HEADERS {
            assert!(all.iter().any(|sent| sent.header == Some(header)), "{header:?}");
        }
        let ups = |sent: &Sending| -> Vec<PacketUp> {
            let apart = split_packets(&sent.bytes).unwrap_or_default();
            apart.into_iter().filter_map(PacketUp::from_bytes).collect()
        };
        let inputs: BTreeSet<u16> = drawn(1).iter().take(300).flat_map(ups).map(|up| up.input).collect();
        assert_eq!(inputs.len(), usize::from(INPUTS), "within 3 s");
        let of_meters = |name: u16| {
            let name = name.to_be_bytes();
            all.iter().flat_map(ups).filter(|up| up.packet.get(2..4) == Some(&name)).count()
        };
        assert!(of_meters(1001) > 1000 && of_meters(1002) > 1000);
        let own = OWN.to_string();
        let of_own =
            |sent: &&Sending| sent.subject.starts_with("wattseal.0.up.") && sent.subject.ends_with(&own);
        assert!(all.iter().filter(of_own).count() > all.len() / 2);
    }
}
