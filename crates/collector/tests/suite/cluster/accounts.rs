//! Accounts of the NATS servers: a gateway that names another's subject as the place for an answer
//! of JetStream reaches nothing, and all that it needs it has.

use super::roles::{figure, gateway, is_ready, servers, worker};
use super::shipped::{Shipped, Source};
use super::{Radio, WITHIN, until};
use crate::meters::station::SimulatedMeter;
use async_nats::{Client, HeaderMap};
use collector::cluster::{Nats, NatsUser, accounts};
use collector::network::NetworkId;
use nkeys::KeyPair;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;
use testkit::nats;
use tokio_stream::StreamExt;
use wire::meter::Suite;

/// Subjects that are no gateway's, as the places for answers.
pub const NOT_ITS_OWN: [&str; 16] = [
    "$KV.wattseal-settings.slices",
    "$KV.wattseal-leases.0.0",
    "$KV.wattseal-workers.ghost",
    "$JS.API.STREAM.PURGE.KV_wattseal-leases",
    "$JS.API.STREAM.PURGE.KV_wattseal-settings",
    "$JS.API.STREAM.PURGE.wattseal-up",
    "$JS.API.STREAM.DELETE.wattseal-up",
    "$JS.API.CONSUMER.DELETE.wattseal-up.0-0-1",
    "wattseal.0.up.0.0.0.0.yard",
    "wattseal.7.up.0.0.0.0.yard",
    "wattseal.0.ask.0.1.1.1",
    "wattseal.events",
    "wattseal.answer.api.0000000000000001",
    "wattseal.0.down.yard",
    "wattseal.7.down.yard",
    "_INBOX.yard.answer",
];

/// Reads the buckets and the stream of packets.
pub async fn kept(worker: &Client) -> Vec<String> {
    let jetstream = async_nats::jetstream::new(worker.clone());
    let mut kept = Vec::new();
    for (stream, subject) in [
        ("KV_wattseal-settings", "$KV.wattseal-settings.slices"),
        ("KV_wattseal-leases", "$KV.wattseal-leases.0.0"),
        ("KV_wattseal-workers", "$KV.wattseal-workers.ghost"),
        ("wattseal-up", "wattseal.0.up.0.0.0.0.yard"),
        ("wattseal-up", "wattseal.7.up.0.0.0.0.yard"),
    ] {
        let stream = jetstream.get_stream_no_info(stream).await.expect("a stream");
        let last = stream.get_last_raw_message_by_subject(subject).await;
        let text = last.map(|last| String::from_utf8_lossy(&last.payload).into_owned());
        // A lease is renewed all the time; it has the same worker and number.
        let text = text.map(|text| text.split("\"renewed\"").next().unwrap_or_default().to_owned());
        kept.push(format!("{subject}: {}", text.unwrap_or_else(|error| error.to_string())));
    }
    kept
}

/// A stream of packets that was purged has none that were there before.
pub async fn first_packet(worker: &Client) -> (u64, bool) {
    let jetstream = async_nats::jetstream::new(worker.clone());
    let mut stream = jetstream.get_stream("wattseal-up").await.expect("a stream");
    let state = &stream.info().await.expect("an answer").state;
    (state.first_sequence, state.messages > 0)
}

/// The gateway hall sends packets of its own and names other subjects for JetStream's answers.
fn names_others_subjects(shipped: &Shipped, folder: &Path, network: NetworkId) {
    let mut meter =
        SimulatedMeter::register_in(&folder.join("keys"), network.meter(258), Suite::Aes128Gcm, 1);
    let worker = worker(shipped.user("worker"), folder, "one", None);
    let hall = gateway(shipped.user("hall"), "hall", &[network]);
    let radio = Radio::near(hall.started.udp[0].what);
    radio.report(&mut meter);
    let runtime = collector::daemon::runtime().expect("threads");
    runtime.block_on(async {
        let (attacker, of_worker) = (shipped.client("hall").await, shipped.client("worker").await);
        let mut heard = Vec::new();
        for subject in ["wattseal.events", "wattseal.*.ask.*.*.*.*", "wattseal.answer.*.*", "_INBOX.>"] {
            heard.push(of_worker.subscribe(subject).await.expect("a subject"));
        }
        of_worker.flush().await.expect("it is there");
        let (before, first) = (kept(&of_worker).await, first_packet(&of_worker).await);
        let own = format!("wattseal.{network}.up.0.0.0.0.hall");
        // Its own answers come.
        let inbox = attacker.new_inbox();
        let mut answers = attacker.subscribe(inbox.clone()).await.expect("a subject");
        attacker.publish_with_reply(own.clone(), inbox, "\u{2}".into()).await.expect("a subject");
        let answer =
            tokio::time::timeout(WITHIN, answers.next()).await.expect("it comes").expect("an answer");
        assert!(String::from_utf8_lossy(&answer.payload).contains("\"stream\":\"wattseal-up\""));
        for reply in NOT_ITS_OWN {
            attacker.publish_with_reply(own.clone(), reply, "\u{2}".into()).await.expect("a subject");
            // One that JetStream refuses is answered as well.
            let mut headers = HeaderMap::new();
            headers.insert("Nats-Expected-Stream", "another");
            let refused =
                attacker.publish_with_reply_and_headers(own.clone(), reply, headers, "\u{2}".into());
            refused.await.expect("a subject");
        }
        // Behind all of them.
        let inbox = attacker.new_inbox();
        let mut answers = attacker.subscribe(inbox.clone()).await.expect("a subject");
        attacker.publish_with_reply(own, inbox, "\u{2}".into()).await.expect("a subject");
        tokio::time::timeout(WITHIN, answers.next()).await.expect("it comes").expect("an answer");
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert_eq!(kept(&of_worker).await, before);
        assert_eq!(first_packet(&of_worker).await, first, "the stream was purged");
        for heard in &mut heard {
            while let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(50), heard.next()).await
            {
                let text = String::from_utf8_lossy(&message.payload).into_owned();
                // A subscriber of all inboxes hears what is asked with these.
                let of_jetstream =
                    message.subject.starts_with("_INBOX.worker") || message.subject.starts_with("_INBOX.one");
                assert!(of_jetstream || !text.contains("\"stream\""), "{}: {text}", message.subject);
            }
        }
    });
    // The worker still does its work.
    radio.report(&mut meter);
    hall.stop().expect("it stops well");
    worker.stop().expect("it stops well");
}

#[test]
fn gateway_naming_foreign_reply_subject_reaches_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let shipped = Shipped::one(folder.path());
    let yard = gateway(shipped.user("yard"), "yard", &[NetworkId::DEFAULT]);
    names_others_subjects(&shipped, folder.path(), NetworkId(7));
    let malformed = "wattseal_gateway_dropped_packets_total{why=\"malformed\"}";
    assert_eq!(figure(yard.started.health, malformed), 0, "an answer went to another gateway");
}

#[test]
fn gateway_in_containers_reaches_nothing_by_an_answer() {
    for source in [Source::Compose, Source::Kubernetes] {
        let folder = tempfile::tempdir().expect("a folder");
        let shipped = Shipped::start(folder.path(), source, 3);
        names_others_subjects(&shipped, folder.path(), NetworkId::DEFAULT);
    }
}

/// A gateway hears in the networks of its user. Its account has the lines of each of them.
#[test]
fn gateway_of_two_networks_works_in_both() {
    let folder = tempfile::tempdir().expect("a folder");
    let networks = vec![NetworkId::DEFAULT, NetworkId(7)];
    let hall = NatsUser::Gateway { name: "hall".parse().expect("a name"), networks: networks.clone() };
    let users = [("worker", NatsUser::Worker), ("hall", hall)].map(|(name, user)| {
        let pair = KeyPair::new_user();
        let file = folder.path().join(format!("{name}.nk"));
        fs::write(&file, pair.seed().expect("a seed")).expect("a file");
        fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("ours");
        (user, pair.public_key())
    });
    let server = nats::Nats::start_with(&accounts(&users));
    let user = |name: &str| {
        let credentials = Some(folder.path().join(format!("{name}.nk")));
        Nats { credentials, ..servers(&server.url()) }
    };
    let keys = folder.path().join("keys");
    let mut meters = networks
        .clone()
        .into_iter()
        .map(|network| SimulatedMeter::register_in(&keys, network.meter(258), Suite::Aes128Gcm, 1));
    let mut meters: [SimulatedMeter; 2] = [(); 2].map(|()| meters.next().expect("two"));
    let worker = worker(user("worker"), folder.path(), "one", None);
    let hall = gateway(user("hall"), "hall", &networks);
    for (meter, udp) in meters.iter_mut().zip(&hall.started.udp) {
        Radio::near(udp.what).report(meter);
    }
    until("both are well", || is_ready(hall.started.health) && is_ready(worker.started.health));
    hall.stop().expect("it stops well");
    worker.stop().expect("it stops well");
}
