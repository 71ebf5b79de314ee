//! The role `api` beside two workers that write one database: all meters are seen and commanded by
//! either.

use super::shared::{Stand, figure, held};
use super::stops::Process;
use super::{WITHIN, until};
use crate::concentrator::process::wattseal;
use crate::mqtt::{self, Mosquitto};
use collector::gateway::{GatewayId, Route};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};
use tokio_stream::StreamExt;
use wire::meter::{Command, CommandResult, MessageKind};

/// An API, for an administrator.
pub struct Asked<'s> {
    address: SocketAddr,
    token: &'s str,
}

impl<'s> Asked<'s> {
    /// Of a dashboard.
    pub fn new(url: &str, token: &'s str) -> Asked<'s> {
        let address = url.strip_prefix("http://").expect("a URL").trim_end_matches('/');
        Asked { address: address.parse().expect("an address"), token }
    }

    fn open(&self, method: &str, path: &str, (kind, body): (&str, &[u8])) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).expect("it listens");
        write!(
            stream,
            "{method} /api/v1{path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\
             Content-Type: application/{kind}\r\nContent-Length: {}\r\n\r\n",
            self.address,
            self.token,
            body.len()
        )
        .expect("it listens");
        stream.write_all(body).expect("it listens");
        stream
    }

    /// Asks with a JSON body; returns status and body.
    pub fn ask(&self, method: &str, path: &str, body: &str) -> (u16, Value) {
        answered(self.open(method, path, ("json", body.as_bytes())))
    }

    pub fn add_image(&self, image: &[u8]) -> (u16, Value) {
        answered(self.open("POST", "/images", ("octet-stream", image)))
    }

    pub fn get(&self, path: &str) -> Value {
        let (status, body) = self.ask("GET", path, "");
        assert_eq!(status, 200, "{path}: {body}");
        body
    }

    /// Gives the meter a command; returns status and body.
    pub fn command(&self, meter: u16) -> (u16, Value) {
        self.ask("POST", &format!("/meters/{meter}/commands"), r#"{"command":{"read-status":{"page":1}}}"#)
    }

    /// Follows the events from now on.
    pub fn follow(&self) -> Receiver<Value> {
        let (tell, told) = channel();
        let stream = self.open("GET", "/events?network=all", ("json", b""));
        let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
        // It is heard from the first comment on.
        assert!(lines.any(|line| line.starts_with(':')), "no events");
        std::thread::spawn(move || {
            for line in lines {
                if let Some(event) = line.strip_prefix("data:")
                    && tell.send(serde_json::from_str(event.trim()).expect("JSON")).is_err()
                {
                    return;
                }
            }
        });
        told
    }
}

/// Status and body.
fn answered(mut stream: TcpStream) -> (u16, Value) {
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let status = answer.split(' ').nth(1).and_then(|status| status.parse().ok()).expect("a status");
    let body = answer.split_once("\r\n\r\n").expect("a body").1;
    (status, serde_json::from_str(body).unwrap_or_else(|_| panic!("{answer}")))
}

/// The next event that has all of these fields.
pub fn next(events: &Receiver<Value>, wanted: Value) -> Value {
    let begun = Instant::now();
    loop {
        let left = WITHIN.saturating_sub(begun.elapsed());
        let event = events.recv_timeout(left).unwrap_or_else(|_| panic!("no event {wanted}"));
        if wanted.as_object().expect("fields").iter().all(|(name, value)| &event[name] == value) {
            return event;
        }
    }
}

impl Stand {
    /// A token, made while workers run.
    pub fn token(&self) -> String {
        let add = ["tokens", "add", "test", "--role", "administrator", "--db", &self.db()];
        let made = wattseal(self.folder.path()).args(add).output().expect("it runs");
        let token = String::from_utf8(made.stdout).expect("text").trim().to_owned();
        assert!(token.starts_with("wst_"), "{}", String::from_utf8_lossy(&made.stderr));
        token
    }

    pub fn api(&self, more: &[&str]) -> Process {
        let fixed = ["--listen", "127.0.0.1:0", "--health", "127.0.0.1:0"];
        let db = self.db_of_api();
        let arguments = [&["api", "--nats", &self.url, "--db", &db][..], &fixed, more].concat();
        Process::start(self.folder.path(), "api", 2, &arguments)
    }

    /// Returns the address of a worker's dashboard, by its log.
    fn listens(&self, worker: &str) -> SocketAddr {
        let mut address = None;
        until("it listens", || {
            let log = self.log(worker);
            let said = log.split_once("listening address=").map(|(_, rest)| rest.split_whitespace().next());
            address = said.flatten().map(|address| address.parse().expect("an address"));
            address.is_some()
        });
        address.expect("it is there")
    }

    pub fn name(&self, slice: usize) -> u16 {
        self.meters[slice].provision.setup().meter
    }

    /// The meter of a slice does the command that it hears.
    fn obey(&mut self, slice: usize) {
        let begun = Instant::now();
        let (m, command) = loop {
            assert!(begun.elapsed() < WITHIN, "no command comes");
            if let Some((MessageKind::Command, suite, bytes)) = self.radio.hear(Duration::from_secs(1)) {
                let route = Route { gateway: GatewayId::of(0), peer: None };
                break self.meters[slice].command(&(route, MessageKind::Command, suite, bytes));
            }
        };
        assert!(matches!(command, Command::ReadStatus { page: 1 }), "{command:?}");
        let answer = self.meters[slice].answer(m, CommandResult::Done);
        self.radio.send(&answer);
    }
}

/// Reads all that is shown, as the user of PostgreSQL that is an api's.
fn check_reads(of_api: &Asked<'_>, meter: u16) {
    let of_first = format!("/meters/{}/readings", meter);
    for resolution in ["raw", "quarter", "hour", "day"] {
        of_api.get(&format!("{of_first}?resolution={resolution}"));
    }
    for resolution in ["quarter", "hour", "day", "week", "month"] {
        of_api.get(&format!("/consumption?network=all&resolution={resolution}"));
    }
    for path in [
        "/meters?network=all",
        "/alerts?network=all",
        "/updates?network=all",
        "/images",
        "/tokens",
        "/actions",
    ] {
        of_api.get(path);
    }
}

/// Administrators' changes go to the database, and to all subscribers.
fn check_changes(stand: &Stand, [of_api, of_one]: [&Asked<'_>; 2], at_one: &Receiver<Value>, meter: u16) {
    let (status, _) = of_api.ask("PATCH", &format!("/meters/{meter}"), r#"{"label":"Flat 3"}"#);
    assert_eq!(status, 200);
    next(at_one, json!({ "event": "meter", "meter": meter }));
    assert_eq!(of_one.get(&format!("/meters/{meter}"))["label"], "Flat 3");
    let (status, made) = of_api.ask("POST", "/tokens", r#"{"name":"hall","role":"viewer"}"#);
    assert_eq!(status, 201, "{made}");
    let (status, _) = of_api.ask("DELETE", &format!("/tokens/{}", made["id"]), "");
    assert_eq!(status, 200);
    stand.sql(
        "INSERT INTO alerts (meter, at_s, heard_ms, cause, detail) VALUES (NULL, 1, 1000, 'clock', 'a test')",
    );
    let id = stand.sql("SELECT max(id) FROM alerts");
    let (status, alert) = of_api.ask("POST", &format!("/alerts/{id}/acknowledge"), "");
    assert_eq!((status, &alert["acknowledged_by"]), (200, &json!("test")), "{alert}");
    let actions = of_api.get("/actions");
    assert!(actions.to_string().contains("acknowledged alert"), "{actions}");
}

#[test]
fn all_meters_are_seen_and_commanded_whichever_worker_has_them() {
    let mut stand = Stand::new();
    let broker = Mosquitto::start("allow_anonymous true");
    let listen = ["--listen", "127.0.0.1:0"];
    let one = stand.worker_with("one", &listen);
    let two = stand.worker_with("two", &[]);
    until("they share", || held(&one).len() == 2 && held(&two).len() == 2);
    let token = stand.token();
    let api = stand.api(&["--mqtt", &format!("mqtt://127.0.0.1:{}", broker.port)]);
    until("it works", || api.asked("/health/ready").starts_with("HTTP/1.1 200"));
    let of_api = Asked { address: api.address("dashboard"), token: &token };
    let of_one = Asked { address: stand.listens("one"), token: &token };
    let [at_api, at_one] = [of_api.follow(), of_one.follow()];
    let (_process, published) = broker.listen(&[]);

    stand.report_all();
    for slice in 0..4 {
        let meter = stand.name(slice);
        for events in [&at_api, &at_one] {
            let reading = next(events, json!({ "event": "reading", "meter": meter }));
            assert_eq!((&reading["n"], &reading["power_w"]), (&json!(1), &json!(412)));
        }
        assert_eq!(of_api.get(&format!("/meters/{meter}"))["last"]["power_w"], 412);
    }
    // Before, discovery and what was retained.
    let begun = Instant::now();
    while !published.recv_timeout(WITHIN).expect("a message").2.contains("412") {
        assert!(begun.elapsed() < WITHIN);
    }
    // Both by the api, and the other's by worker one.
    let [its, others] = [held(&one)[0], held(&two)[0]];
    for (asked, slice) in [(&of_api, its), (&of_api, others), (&of_one, others)] {
        let meter = stand.name(slice);
        let (status, given) = asked.command(meter);
        assert_eq!((status, &given["by"]), (201, &json!("test")), "{given}");
        // It is sent when its meter is heard.
        stand.obey(slice);
        for events in [&at_api, &at_one] {
            next(events, json!({ "event": "command", "id": given["id"], "state": "done" }));
        }
        let commands = of_api.get(&format!("/meters/{meter}/commands"));
        assert_eq!((&commands[0]["id"], &commands[0]["state"]), (&given["id"], &json!("done")), "{commands}");
    }
    // Taken back by a worker that has no session of it.
    let meter = stand.name(others);
    let (_, given) = of_api.command(meter);
    let path = format!("/meters/{meter}/commands/{}", given["id"]);
    let (status, withdrawn) = of_one.ask("DELETE", &path, "");
    assert_eq!((status, &withdrawn["state"]), (200, &json!("withdrawn")), "{withdrawn}");
    // A refusal of the session is that of `collect`.
    let body = r#"{"command":{"register":{"meter":1,"address":3,"collector_address":15}}}"#;
    let taken = [1u16, 2, 3, 4, 5, 6].map(|name| body.replace(":1,", &format!(":{name},")));
    let refused = taken.iter().map(|body| of_api.ask("POST", &format!("/meters/{meter}/commands"), body));
    let codes: Vec<Value> = refused.map(|(_, refused)| refused["error"]["code"].clone()).collect();
    assert!(codes.contains(&json!("meter-name-slice")), "{codes:?}");

    check_reads(&of_api, stand.name(0));
    check_changes(&stand, [&of_api, &of_one], &at_one, meter);

    // A process without keys reports no meter without a worker as unheard.
    assert!(!stand.folder.path().join("wattseal.keys").exists(), "the api made a folder of keys");
    one.stop();
    two.kill();
    let before = stand.sql("SELECT count(*) FROM commands");
    let (status, nobody) = of_api.command(meter);
    assert_eq!((status, &nobody["error"]["code"]), (503, &json!("no-worker")), "{nobody}");
    assert!(nobody["error"]["message"].as_str().expect("text").contains("nothing was done"), "{nobody}");
    assert_eq!(stand.sql("SELECT count(*) FROM commands"), before);
    assert_eq!(figure(&api, "wattseal_api_unanswered_questions_total{why=\"nobody\"}"), 1);
    let (_, offline) = mqtt_status(&broker, api);
    assert_eq!(offline, "offline");
}

/// Returns the broker's retained status of the service after its stop.
fn mqtt_status(broker: &Mosquitto, api: Process) -> (bool, String) {
    api.stop();
    let (_process, published) = broker.listen(&[]);
    mqtt::next(&published, "wattseal/status")
}

/// A question that its worker could not read in time is not answered, and whether it was done is
/// said to be not known; it is not done later.
#[test]
fn request_to_a_stopped_worker_is_not_done_later() {
    let mut stand = Stand::new();
    let one = stand.worker_with("one", &[]);
    until("it has all", || held(&one).len() == 4);
    let token = stand.token();
    let api = stand.api(&[]);
    stand.report_all();
    let of_api = Asked { address: api.address("dashboard"), token: &token };
    let (meter, events) = (stand.name(0), of_api.follow());
    one.pause();
    let (status, silent) = of_api.command(meter);
    one.signal("-CONT");
    assert_eq!((status, &silent["error"]["code"]), (503, &json!("worker-silent")), "{silent}");
    let hint = silent["error"]["hint"].as_str().expect("a hint");
    assert!(hint.contains(&format!("/meters/{meter}/commands")), "{hint}");
    // Of what fails when it goes on, a partition's packets or its lease, either may be seen first.
    let over = || {
        figure(&one, "wattseal_worker_leases_lost_total")
            + figure(&one, "wattseal_worker_leases_given_up_total")
    };
    until("it knows that its leases were over", || over() == 4);
    until("it has all again", || held(&one).len() == 4);
    // The previous holder of the partitions may have reported less than it stored.
    next(&events, json!({ "event": "resync" }));
    assert!(figure(&one, "wattseal_worker_questions_total") <= 1, "it read the question, or left it");
    assert_eq!(of_api.get(&format!("/meters/{meter}/commands")), json!([]));
    let (status, given) = of_api.command(meter);
    assert_eq!(status, 201, "{given}");
    one.stop();
}

/// Hostile messages on the subjects of questions and events.
#[test]
fn malformed_request_or_event_does_no_harm() {
    let mut stand = Stand::new();
    let one = stand.worker_with("one", &[]);
    until("it has all", || held(&one).len() == 4);
    let token = stand.token();
    let api = stand.api(&[]);
    let of_api = Asked { address: api.address("dashboard"), token: &token };
    let events = of_api.follow();
    let [meter, other] = [stand.name(0), stand.name(1)];
    let subject = |slice: usize| format!("wattseal.0.ask.{}.{}.0.0", slice >> 1, slice & 1);
    let question = |meter: u16| {
        json!({ "version": 1, "meter": { "meter": meter }, "question": { "command": { "request": "reboot", "by": "x" } } })
            .to_string()
    };
    let payloads = [
        Vec::new(),
        b"nothing".to_vec(),
        vec![0xff; 1000],
        vec![b'['; 100_000],
        question(meter).replace("reboot", "explode").into_bytes(),
        question(meter).replace("\"version\":1", "\"version\":9").into_bytes(),
        question(meter).replace("\"x\"", &format!("\"{}\"", "x".repeat(5000))).into_bytes(),
        // A meter that is asked for where another worker may answer.
        question(other).into_bytes(),
    ];
    let count = payloads.len() as u64;
    let runtime = collector::daemon::runtime().expect("threads");
    runtime.block_on(async {
        let client = async_nats::connect(&stand.url).await.expect("it is there");
        let mut answers = client.subscribe("wattseal.answer.test.>").await.expect("a subject");
        let mut elsewhere = client.subscribe("wattseal.0.down.*").await.expect("a subject");
        let until = Instant::now() + WITHIN;
        for (number, payload) in payloads.into_iter().enumerate() {
            client.publish("wattseal.events", payload.clone().into()).await.expect("published");
            let answer = loop {
                let question = payload.clone().into();
                client.publish_with_reply(subject(0), "wattseal.answer.test.1", question).await.expect("published");
                let answer = tokio::time::timeout(WITHIN, answers.next()).await.expect("in time").expect("an answer");
                // The server itself answers, with nothing, until the worker has subscribed.
                if number > 0 || !answer.payload.is_empty() || Instant::now() >= until {
                    break answer.payload;
                }
            };
            let answer: Value = serde_json::from_slice(&answer).unwrap_or_else(|error| panic!("{number}: {error}"));
            assert!(answer["not-read"].is_string(), "{answer}");
        }
        // Nothing is published where somebody wants it, nor done without an answer.
        client.publish_with_reply(subject(0), "wattseal.0.down.hall", question(meter).into()).await.expect("published");
        client.publish(subject(0), question(meter).into()).await.expect("published");
        // A meter that is not there.
        let unknown = (1..u16::MAX).find(|name| collector::partition::finest_slice(*name) >> 2 == 0 && *name != meter);
        let unknown = question(unknown.expect("there is one"));
        client.publish_with_reply(subject(0), "wattseal.answer.test.2", unknown.into()).await.expect("published");
        let answer = tokio::time::timeout(WITHIN, answers.next()).await.expect("in time").expect("an answer");
        let answer: Value = serde_json::from_slice(&answer.payload).expect("JSON");
        assert!(answer["refused"]["unknown-meter"].is_object(), "{answer}");
        let nothing = tokio::time::timeout(Duration::from_millis(200), elsewhere.next()).await;
        assert!(nothing.is_err(), "{nothing:?}");
        // A number that does not follow says that some were missed.
        let told = |n: u64| json!({ "version": 1, "from": "x", "n": n, "events": [{ "event": "meter", "meter": 9 }] });
        client.publish("wattseal.events", told(7).to_string().into()).await.expect("published");
        client.flush().await.expect("it is there");
    });
    next(&events, json!({ "event": "resync" }));
    next(&events, json!({ "event": "meter", "meter": 9 }));
    assert_eq!(figure(&one, "wattseal_worker_malformed_questions_total"), count + 2);
    assert_eq!(figure(&api, "wattseal_api_malformed_events_total"), count);
    assert_eq!(stand.sql("SELECT count(*) FROM commands"), "0");
    // All goes on.
    let (status, given) = of_api.command(meter);
    assert_eq!(status, 201, "{given}");
    stand.report_all();
    next(&events, json!({ "event": "reading", "meter": meter }));
}

/// It waits, says why in its health, and goes on by itself.
#[test]
fn without_nats_it_says_so_and_commands_nothing() {
    let mut stand = Stand::new();
    let one = stand.worker_with("one", &[]);
    until("it has all", || held(&one).len() == 4);
    let token = stand.token();
    let api = stand.api(&[]);
    let of_api = Asked { address: api.address("dashboard"), token: &token };
    // A partition that is held may be about to begin.
    let known = || of_api.get("/meters").as_array().map(Vec::len);
    until("all meters are known", || known() == Some(4));
    let events = of_api.follow();
    stand.nats.kill(0);
    until("it says so", || api.asked("/health/ready").contains("the connection to NATS is lost"));
    let (status, refused) = of_api.command(stand.name(0));
    assert_eq!((status, &refused["error"]["code"]), (503, &json!("nats")), "{refused}");
    // Stored readings are shown.
    assert_eq!(known(), Some(4));
    stand.nats.run(0);
    until("all is well again", || api.asked("/health/ready").starts_with("HTTP/1.1 200"));
    // Subscribers may have missed some.
    next(&events, json!({ "event": "resync" }));
    until("the worker has all again", || held(&one).len() == 4);
    stand.report_all();
    next(&events, json!({ "event": "reading", "meter": stand.name(3) }));
    assert_eq!(stand.sql("SELECT count(*) FROM commands"), "0", "what was refused was given later");
}

#[test]
fn api_requires_a_server_database_and_waits_for_its_tables() {
    let (folder, server) = (tempfile::tempdir().expect("a folder"), testkit::nats::Nats::start());
    let arguments = ["api", "--nats", &server.url(), "--listen", "127.0.0.1:0"];
    let ran = wattseal(folder.path()).args(arguments).output().expect("it runs");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.code(), Some(2), "{said}");
    assert!(said.contains("wattseal.db is a file") && said.contains("--db postgres://"), "{said}");

    let postgres = testkit::postgres::shared();
    let db = postgres.url(&postgres.database());
    let arguments = [&arguments[..], &["--db", &db]].concat();
    let log = std::fs::File::create(folder.path().join("api.log")).expect("a log");
    let mut api = wattseal(folder.path()).args(&arguments).stderr(log).spawn().expect("it runs");
    let said = || std::fs::read_to_string(folder.path().join("api.log")).expect("a log");
    until("it says what it waits for", || said().contains("Waiting until a worker has it"));
    // The first token makes the tables, too.
    let add = ["tokens", "add", "test", "--role", "administrator", "--db", &db];
    assert!(wattseal(folder.path()).args(add).output().expect("it runs").status.success());
    until("it listens", || said().contains("listening address="));
    let told = std::process::Command::new("kill").args(["-TERM", &api.id().to_string()]).status();
    assert!(told.expect("kill").success());
    assert_eq!(api.wait().expect("it ran").code(), Some(0), "{}", said());
}
