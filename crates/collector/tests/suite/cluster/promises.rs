//! Each promise of docs/explanation/security.md, "Promises by credential", is tried with that credential and no
//! other, by NATS, PostgreSQL and HTTP, against the configuration of `operations/`.

use super::accounts::{NOT_ITS_OWN, first_packet, kept};
use super::api::Asked;
use super::roles::{Role, api, figure, gateway, is_ready, servers, worker_of};
use super::shipped::Shipped;
use super::{Radio, WITHIN, until};
use crate::concentrator::process::wattseal;
use crate::meters::station::SimulatedMeter;
use crate::operations::roles::{API, OWNER, give_to_owner, separate_users};
use async_nats::Client;
use collector::cluster::api::ApiServerStarted;
use collector::cluster::gateway::GatewayStarted;
use collector::cluster::worker::WorkerStarted;
use collector::network::NetworkId;
use collector::store::{DatabaseUrl, Options, Role as TokenRole, Store};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use testkit::documents::home;
use testkit::postgres;
use tokio::runtime::Runtime;
use tokio_postgres::NoTls;
use tokio_postgres::error::SqlState;
use tokio_stream::StreamExt;
use wire::meter::Suite;

/// The time in which messages arrive, and refused ones arrive nowhere.
const ARRIVES_WITHIN: Duration = Duration::from_millis(200);
const QUESTION: &str =
    r#"{"version":1,"meter":{"meter":258},"question":{"command":{"request":"reboot","by":"ghost"}}}"#;

/// A row of the page.
struct Attack {
    credential: &'static str,
    tries: &'static str,
    run: fn(&mut Stand),
}

const fn attack(credential: &'static str, tries: &'static str, run: fn(&mut Stand)) -> Attack {
    Attack { credential, tries, run }
}

static ATTACKS: [Attack; 15] = [
    attack("none", "connects to NATS, without a key or with one that is not in the servers' file", |stand| {
        stand.is_not_let_in();
    }),
    attack("none", "asks the API without a token, or with one that it made up", |stand| {
        for token in ["", "wattseal_guessed"] {
            let asked = Asked::new(&stand.api.started.url, token);
            for (method, path, body) in [
                ("GET", "/meters", ""),
                ("GET", "/events", ""),
                ("GET", "/tokens", ""),
                ("POST", "/meters/258/commands", r#"{"command":{"request":"reboot"}}"#),
                ("POST", "/tokens", r#"{"name":"more","role":"administrator"}"#),
            ] {
                let (status, body) = asked.ask(method, path, body);
                // After some guesses it is to wait.
                let is_guess = !token.is_empty();
                assert!(status == 401 || (is_guess && status == 429), "{method} {path}: {status} {body}");
            }
        }
    }),
    attack("none", "asks `--health` by another machine's name", |stand| {
        for health in [stand.worker.started.health, stand.yard.started.health, stand.api.started.health] {
            let health = health.expect("it has one");
            for path in ["/metrics", "/health/ready"] {
                assert!(asked_by(health, "localhost", path).starts_with("HTTP/1.1 200"));
                let answer = asked_by(health, "evil.example", path);
                assert!(!answer.starts_with("HTTP/1.1 200") && !answer.contains("wattseal_"), "{answer}");
            }
        }
    }),
    attack(
        "gateway",
        "publishes as another gateway, in another network, to gateways, or into buckets",
        |stand| {
            stand.reaches_nothing(
                "hall",
                &[],
                &to(&[
                    "wattseal.7.up.0.0.0.0.yard",
                    "wattseal.0.up.0.1.1.1.hall",
                    "wattseal.0.up.0.1.1.1.yard",
                    "wattseal.0.down.yard",
                    "wattseal.7.down.hall",
                    "$KV.wattseal-settings.slices",
                    "$KV.wattseal-leases.0.0",
                    "$KV.wattseal-workers.ghost",
                ]),
            );
        },
    ),
    attack("gateway", "asks workers, tells events, answers apis", |stand| {
        stand.reaches_nothing("hall", &[], &to(&ASKS));
    }),
    attack("gateway", "names another's subject as the place for JetStream's answer", |stand| {
        let own = |reply: &&'static str| ("wattseal.7.up.0.0.0.0.hall", Some(*reply), "something");
        stand.reaches_nothing("hall", &[], &NOT_ITS_OWN.iter().map(own).collect::<Vec<_>>());
    }),
    attack("gateway", "listens to what others publish, or are to send", |stand| {
        let all =
            ["wattseal.0.down.yard", "wattseal.*.up.>", "wattseal.>", "_INBOX.>", "$KV.>", "$JS.>", ">"];
        stand.reaches_nothing("hall", &all, &[]);
    }),
    attack("gateway", "asks JetStream for streams and buckets, or to purge or delete them", |stand| {
        stand.reaches_nothing("hall", &["_INBOX.hall.>"], &of_jetstream("_INBOX.hall.answer"));
    }),
    attack("api", "publishes packets, to gateways, or into buckets, or answers", |stand| {
        stand.reaches_nothing(
            "api",
            &[],
            &to(&[
                "wattseal.0.up.0.1.1.1.yard",
                "wattseal.7.up.0.0.0.0.hall",
                "wattseal.0.down.yard",
                "wattseal.answer.api.0000000000000001",
                "$KV.wattseal-settings.slices",
                "$KV.wattseal-leases.0.0",
                "$KV.wattseal-workers.ghost",
            ]),
        );
    }),
    attack("api", "listens to packets, questions, buckets and others' inboxes", |stand| {
        let all =
            ["wattseal.*.up.*.*.*.*.*", "wattseal.*.down.*", "wattseal.*.ask.>", "_INBOX.>", "$KV.>", ">"];
        stand.reaches_nothing("api", &all, &[]);
    }),
    attack("api", "asks JetStream for streams and buckets, or to purge or delete them", |stand| {
        let inbox = "wattseal.answer.api.00000000000000ff";
        stand.reaches_nothing("api", &[inbox], &of_jetstream(inbox));
    }),
    attack("api", "reads, changes or removes meters' keys in PostgreSQL", |stand| {
        for table in ["sealed_keys", "key_networks", "revoked_keys", "meter_keys", "told", "signed"] {
            stand.is_refused(&format!("SELECT FROM {table}"));
            stand.is_refused(&format!("DELETE FROM {table}"));
            stand.is_refused(&format!("TRUNCATE {table}"));
        }
    }),
    attack("api", "raises a lease, writes readings or commands, or changes tables in PostgreSQL", |stand| {
        for sql in [
            "UPDATE partitions SET fence = fence + 1",
            "SELECT FROM partitions FOR UPDATE",
            "UPDATE writer SET generation = generation + 1",
            "DELETE FROM readings",
            "INSERT INTO readings VALUES (258, 1, 1, 1, 1, 1, 1, 1, 1)",
            "INSERT INTO commands (meter, ticket, \"order\", \"by\", created_ms, state, attempts) VALUES (258, 1, '', '', 1, '', 1)",
            "UPDATE updates SET state = ''",
            "DELETE FROM actions",
            "DROP TABLE readings",
            "COPY readings TO PROGRAM 'true'",
        ] {
            stand.is_refused(sql);
        }
    }),
    attack("worker", "deletes or purges a stream or a bucket", |stand| {
        let inbox = "_INBOX.worker.answer";
        let all = of_jetstream(inbox);
        let harm = |subject: &str| subject.contains("PURGE") || subject.contains("DELETE");
        let all: Vec<_> = all.into_iter().filter(|(subject, ..)| harm(subject)).collect();
        assert!(all.len() > 4);
        stand.reaches_nothing("worker", &[inbox], &all);
    }),
    attack("worker", "publishes packets, or listens to those of gateways", |stand| {
        let all = ["wattseal.*.up.*.*.*.*.*", "wattseal.*.down.*", "wattseal.>", ">"];
        stand.reaches_nothing(
            "worker",
            &all,
            &to(&["wattseal.0.up.0.1.1.1.yard", "wattseal.7.up.0.0.0.0.hall"]),
        );
    }),
];

/// A subject, the place for an answer, and what is sent.
type Sending = (&'static str, Option<&'static str>, &'static str);

const ASKS: [&str; 3] = ["wattseal.0.ask.0.1.1.1", "wattseal.events", "wattseal.answer.api.0000000000000001"];

/// Something to each of these subjects.
fn to(subjects: &[&'static str]) -> Vec<Sending> {
    let body = |subject: &str| if subject.contains(".ask.") { QUESTION } else { "something" };
    subjects.iter().map(|subject| (*subject, None, body(subject))).collect()
}

/// Returns the requests to JetStream.
fn of_jetstream(inbox: &'static str) -> Vec<Sending> {
    [
        "$JS.API.INFO",
        "$JS.API.STREAM.NAMES",
        "$JS.API.STREAM.INFO.wattseal-up",
        "$JS.API.DIRECT.GET.KV_wattseal-settings.$KV.wattseal-settings.slices",
        "$JS.API.STREAM.PURGE.wattseal-up",
        "$JS.API.STREAM.PURGE.KV_wattseal-leases",
        "$JS.API.STREAM.PURGE.KV_wattseal-settings",
        "$JS.API.STREAM.DELETE.wattseal-up",
        "$JS.API.STREAM.DELETE.KV_wattseal-workers",
    ]
    .map(|subject| (subject, Some(inbox), ""))
    .to_vec()
}

/// All roles with their own users, and a meter near the gateway yard.
struct Stand {
    // In this order they end.
    api: Role<ApiServerStarted>,
    yard: Role<GatewayStarted>,
    worker: Role<WorkerStarted>,
    witness: Client,
    shipped: Shipped,
    folder: tempfile::TempDir,
    runtime: Runtime,
    db_of_api: String,
    token: String,
    radio: Radio,
    meter: SimulatedMeter,
}

/// The trace of an attack.
#[derive(Debug, PartialEq)]
struct Trace {
    kept: Vec<String>,
    first_packet: (u64, bool),
    /// Questions and packets that workers heard, packets for a gateway, events.
    figures: Vec<u64>,
}

impl Stand {
    fn new() -> Stand {
        let folder = tempfile::tempdir().expect("a folder");
        let shipped = Shipped::one(folder.path());
        let server = postgres::shared();
        let database = server.database();
        give_to_owner(server, &database);
        let place = |user| DatabaseUrl::named(&server.url_of(user, &database)).expect("a URL");
        // The tables are made as the first worker makes them.
        drop(Store::open(place(OWNER), &Options::default()).expect("the owner makes them"));
        separate_users(server, &database);
        let meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
        let worker = worker_of(shipped.user("worker"), folder.path(), "one", &place(OWNER));
        let (_, token) =
            collector::tokens::add(&place(OWNER), "test", TokenRole::Administrator).expect("a token");
        let yard = gateway(shipped.user("yard"), "yard", &[NetworkId::DEFAULT]);
        let api = api(shipped.user("api"), &place(API));
        let radio = Radio::near(yard.started.udp[0].what);
        let runtime = collector::daemon::runtime().expect("threads");
        let witness = runtime.block_on(shipped.client("worker"));
        let (db_of_api, token) = (server.url_of(API, &database), token.expose().to_owned());
        let mut stand =
            Stand { runtime, folder, shipped, witness, db_of_api, token, worker, yard, api, radio, meter };
        stand.goes_on();
        stand
    }

    /// A report is acknowledged, and a command taken.
    fn goes_on(&mut self) {
        self.radio.report(&mut self.meter);
        let (status, said) = Asked::new(&self.api.started.url, &self.token).command(258);
        assert_eq!(status, 201, "{said}");
    }

    fn trace(&self) -> Trace {
        let (kept, first_packet) =
            self.runtime.block_on(async { (kept(&self.witness).await, first_packet(&self.witness).await) });
        let of_worker = ["questions_total", "packets_total", "malformed_packets_total"]
            .map(|name| figure(self.worker.started.health, &format!("wattseal_worker_{name}")));
        let of_yard =
            figure(self.yard.started.health, "wattseal_gateway_dropped_packets_total{why=\"malformed\"}");
        let of_api = figure(self.api.started.health, "wattseal_api_malformed_events_total");
        Trace { kept, first_packet, figures: [&of_worker[..], &[of_yard, of_api]].concat() }
    }

    /// A client that is this user hears nothing on these subjects, and nobody hears what it sends.
    fn reaches_nothing(&mut self, user: &str, hears: &[&'static str], sends: &[Sending]) {
        let before = self.trace();
        let (client, mut heard) = self.runtime.block_on(async {
            let mut answers = self.witness.subscribe("wattseal.answer.*.*").await.expect("a subject");
            self.witness.flush().await.expect("it is there");
            let (client, mut heard) = (self.shipped.client(user).await, Vec::new());
            for subject in hears {
                heard.push(client.subscribe(*subject).await.expect("a subject"));
            }
            for (subject, reply, body) in sends {
                let sent = match reply {
                    Some(reply) => client.publish_with_reply(*subject, *reply, (*body).into()).await,
                    None => client.publish(*subject, (*body).into()).await,
                };
                sent.expect("a subject");
            }
            client.flush().await.expect("it is there");
            let answer = tokio::time::timeout(ARRIVES_WITHIN, answers.next()).await;
            assert!(answer.is_err(), "{user} answers: {answer:?}");
            (client, heard)
        });
        let mut after = self.trace();
        // Packets of its own it may publish; they come to nobody, as no worker has its network.
        if sends.iter().any(|(subject, ..)| *subject == "wattseal.7.up.0.0.0.0.hall" && user == "hall") {
            assert_eq!(after.first_packet.0, before.first_packet.0, "packets are gone");
            after.first_packet = before.first_packet;
        }
        assert_eq!(after, before, "{user}: {sends:?}");
        self.goes_on();
        self.runtime.block_on(async {
            for (subject, heard) in hears.iter().zip(&mut heard) {
                let message = tokio::time::timeout(Duration::from_millis(50), heard.next()).await;
                assert!(!matches!(message, Ok(Some(_))), "{user} hears {subject}: {message:?}");
            }
        });
        drop(client);
    }

    /// An attack by a user with the permission leaves its trace.
    fn notices(&mut self) {
        for (user, subject, body) in [
            ("worker", "wattseal.0.ask.0.1.1.1", QUESTION),
            ("worker", "wattseal.0.down.yard", "something"),
            ("worker", "wattseal.events", "something"),
            ("worker", "$KV.wattseal-workers.ghost", "something"),
        ] {
            let before = self.trace();
            self.runtime.block_on(async {
                let client = self.shipped.client(user).await;
                client.publish(subject, body.into()).await.expect("a subject");
                client.flush().await.expect("it is there");
            });
            until(subject, || self.trace() != before);
        }
        let before = self.trace();
        self.goes_on();
        assert_ne!(self.trace().figures[1], before.figures[1], "a packet is seen");
    }

    fn is_not_let_in(&self) {
        let made = wattseal(self.folder.path()).args(["nkey", "nobody.nk"]).output().expect("it runs");
        assert!(made.status.success());
        let key = fs::read_to_string(self.folder.path().join("nobody.nk")).expect("a key");
        let url = self.shipped.servers.url_with("tls");
        self.runtime.block_on(async {
            for options in [
                async_nats::ConnectOptions::new(),
                async_nats::ConnectOptions::new().nkey(key.trim().to_owned()),
                async_nats::ConnectOptions::with_user_and_password("wattseal".into(), String::new()),
            ] {
                let options = options.add_root_certificates(self.folder.path().join("ca.pem"));
                let connected = options.connect(servers(&url).servers);
                let connected = tokio::time::timeout(WITHIN, connected).await.expect("it is answered");
                assert!(connected.is_err(), "it is let in");
            }
        });
    }

    /// PostgreSQL does not do that for the user of apis.
    fn is_refused(&self, sql: &str) {
        self.runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(&self.db_of_api, NoTls).await.expect("let in");
            tokio::spawn(connection);
            let error = client.batch_execute(sql).await.expect_err(sql);
            assert_eq!(error.code(), Some(&SqlState::INSUFFICIENT_PRIVILEGE), "{sql}: {error}");
        });
    }
}

/// Returns a role's answer to a request under this name.
fn asked_by(health: SocketAddr, host: &str, path: &str) -> String {
    let mut stream = TcpStream::connect(health).expect("it listens");
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("written");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

/// The rows of the page: credential, and what it tries.
fn promises() -> Vec<(String, String)> {
    let page = fs::read_to_string(home().join("docs/explanation/security.md")).expect("a document");
    let section = page.split("\n## Promises by credential\n").nth(1).expect("a section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let rows = section.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| credential |"));
    let row = |line: &str| {
        let mut cells = line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        (cells.next().expect("a credential"), cells.next().expect("what it tries"))
    };
    rows.map(row).collect()
}

#[test]
fn each_credential_promise_has_an_attack_that_fails() {
    let attacks: Vec<_> =
        ATTACKS.iter().map(|attack| (attack.credential.to_owned(), attack.tries.to_owned())).collect();
    assert_eq!(promises(), attacks, "docs/explanation/security.md, and the attacks here");
    let mut stand = Stand::new();
    for attack in &ATTACKS {
        println!("{}: {}", attack.credential, attack.tries);
        (attack.run)(&mut stand);
    }
    stand.goes_on();
    for health in [stand.worker.started.health, stand.yard.started.health, stand.api.started.health] {
        until("it is well", || is_ready(health));
    }
    stand.notices();
}
