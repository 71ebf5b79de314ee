//! The permissions of the servers' users, with the documented configuration and with wrong ones.

use super::api::Asked;
use super::roles::{Role, api, ask, figure, gateway, loopback, servers, worker, worker_of};
use super::shipped::Shipped;
use super::{Radio, WITHIN, until};
use crate::concentrator::process::wattseal;
use crate::meters::station::SimulatedMeter;
use collector::cluster::gateway::Gateway;
use collector::cluster::{ClusterError, Nats, PacketDown, join_packets};
use collector::network::{NetworkId, OfNetwork};
use collector::store::{DatabaseUrl, Role as TokenRole};
use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};
use testkit::ports::free_address;
use testkit::{nats, postgres};
use tokio_stream::StreamExt;
use wire::meter::Suite;

const SEVEN: NetworkId = NetworkId(7);

#[test]
fn a_gateway_publishes_and_hears_its_own_network_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let documented = Shipped::one(folder.path());
    let keys = folder.path().join("keys");
    let mut of_seven = SimulatedMeter::register_in(&keys, SEVEN.meter(258), Suite::Aes128Gcm, 1);
    let mut of_zero = SimulatedMeter::register(&keys, 258, Suite::Aes128Gcm, 1);
    let worker = worker(documented.user("worker"), folder.path(), "one", None);
    let hall = gateway(documented.user("hall"), "hall", &[SEVEN, NetworkId::DEFAULT]);
    let yard = gateway(documented.user("yard"), "yard", &[NetworkId::DEFAULT]);
    let seven = Radio::near(hall.started.udp[0].what);
    seven.report(&mut of_seven);
    Radio::near(yard.started.udp[0].what).report(&mut of_zero);
    // The server does not take what hall hears in a network that is not its user's.
    let refused = "wattseal_gateway_dropped_packets_total{why=\"not-stored\"}";
    let (stored, before) = (
        figure(worker.started.health, "wattseal_worker_packets_total"),
        figure(hall.started.health, refused),
    );
    let zero = Radio::near(hall.started.udp[1].what);
    let report = of_zero.report();
    zero.send(&report);
    assert!(!zero.is_acknowledged(&of_zero, of_zero.n, Duration::from_secs(1)));
    assert_eq!(figure(worker.started.health, "wattseal_worker_packets_total"), stored);
    until("it is counted", || figure(hall.started.health, refused) > before);

    let runtime = collector::daemon::runtime().expect("threads");
    runtime.block_on(async {
        let client = documented.client("hall").await;
        let mut others = Vec::new();
        for subject in ["wattseal.0.down.yard", "wattseal.7.down.*", "wattseal.>", "_INBOX.yard.>", ">"] {
            others.push(client.subscribe(subject).await.expect("a subject"));
        }
        for subject in ["wattseal.7.up.0.0.0.0.yard", "wattseal.0.up.0.0.0.0.hall", "wattseal.7.down.hall"] {
            client.publish(subject, "something".into()).await.expect("a subject");
        }
        let jetstream = async_nats::jetstream::new(client.clone());
        assert!(jetstream.delete_stream("wattseal-up").await.is_err(), "it may not");
        client.flush().await.expect("it is there");
        // Packets to the yard, and packets to the hall by a foreign subscription, do not arrive.
        Radio::near(yard.started.udp[0].what).deliver(&of_zero, &report);
        seven.report(&mut of_seven);
        for other in &mut others {
            let heard = tokio::time::timeout(Duration::from_millis(100), other.next()).await;
            assert!(!matches!(heard, Ok(Some(_))), "{heard:?}");
        }
    });
    let malformed = figure(worker.started.health, "wattseal_worker_malformed_packets_total");
    assert_eq!(malformed, 0, "what hall published under another name came");
    hall.stop().expect("it stops well");
    worker.stop().expect("it stops well");
}

/// With the users of the documentation a question comes to its worker and an event to the api; a
/// gateway asks, answers and tells nothing, and an api has no part in packets.
#[test]
fn an_api_asks_workers_and_a_gateway_does_not() {
    let folder = tempfile::tempdir().expect("a folder");
    let documented = Shipped::one(folder.path());
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    let server = postgres::shared();
    let db = DatabaseUrl::named(&server.url(&server.database())).expect("a URL");
    let (_, token) = collector::tokens::add(&db, "test", TokenRole::Administrator).expect("a token");
    let worker = worker_of(documented.user("worker"), folder.path(), "one", &db);
    let yard = gateway(documented.user("yard"), "yard", &[NetworkId::DEFAULT]);
    let api = api(documented.user("api"), &db);
    Radio::near(yard.started.udp[0].what).report(&mut meter);
    until("an event comes", || figure(api.started.health, "wattseal_api_heard_events_total") > 0);
    let asked = Asked::new(&api.started.url, token.expose());
    let (status, given) = asked.command(258);
    assert_eq!(status, 201, "{given}");

    let of = |name: &str| figure(worker.started.health, name);
    let (questions, heard) = (
        of("wattseal_worker_questions_total"),
        figure(api.started.health, "wattseal_api_heard_events_total"),
    );
    let runtime = collector::daemon::runtime().expect("threads");
    runtime.block_on(async {
        let hall = documented.client("hall").await;
        let of_api = documented.client("api").await;
        let mut heard = Vec::new();
        for subject in ["wattseal.events", "wattseal.*.ask.>", "wattseal.answer.>", "wattseal.0.ask.0.1.1.1"]
        {
            heard.push(hall.subscribe(subject).await.expect("a subject"));
        }
        for subject in [
            "wattseal.0.up.*.*.*.*.*",
            "wattseal.0.down.*",
            "wattseal.*.ask.*.*.*.*",
            "_INBOX.>",
            "$KV.>",
            ">",
        ] {
            heard.push(of_api.subscribe(subject).await.expect("a subject"));
        }
        let event = r#"{"version":1,"from":"hall","n":1,"events":[{"event":"resync"}]}"#;
        let question =
            r#"{"version":1,"meter":{"meter":258},"question":{"command":{"request":"reboot","by":"hall"}}}"#;
        hall.publish("wattseal.events", event.into()).await.expect("a subject");
        hall.publish_with_reply("wattseal.0.ask.0.1.1.1", "wattseal.answer.hall.1", question.into())
            .await
            .expect("a subject");
        hall.publish("wattseal.answer.api.1", r#"{"version":1,"done":1}"#.into()).await.expect("a subject");
        for subject in ["wattseal.0.up.0.1.1.1.api", "wattseal.0.down.yard", "$KV.wattseal-leases.0.0"] {
            of_api.publish(subject, "something".into()).await.expect("a subject");
        }
        let jetstream = async_nats::jetstream::new(of_api.clone());
        assert!(jetstream.get_stream("wattseal-up").await.is_err(), "it may not");
        for client in [&hall, &of_api] {
            client.flush().await.expect("it is there");
        }
        // All of it would be heard while this is.
        Radio::near(yard.started.udp[0].what).report(&mut meter);
        assert_eq!(tokio::task::block_in_place(|| asked.command(258)).0, 201);
        for heard in &mut heard {
            let heard = tokio::time::timeout(Duration::from_millis(50), heard.next()).await;
            assert!(!matches!(heard, Ok(Some(_))), "{heard:?}");
        }
    });
    assert_eq!(of("wattseal_worker_questions_total"), questions + 1, "what the hall asked came");
    assert_eq!(of("wattseal_worker_malformed_packets_total"), 0, "what the api published came");
    until("the reading comes", || figure(api.started.health, "wattseal_api_heard_events_total") > heard);
    assert_eq!(figure(api.started.health, "wattseal_api_missed_events_total"), 0, "what the hall told came");
    api.stop().expect("it stops well");
    worker.stop().expect("it stops well");
}

/// A message in one network makes a gateway send nothing in another.
#[test]
fn a_gateway_sends_in_the_network_that_it_hears() {
    let server = nats::Nats::start();
    let hall = gateway(servers(&server.url()), "hall", &[SEVEN, NetworkId::DEFAULT]);
    let [seven, zero] = [0, 1].map(|input: usize| Radio::near(hall.started.udp[input].what));
    let at = |radio: &Radio| Some(radio.socket.local_addr().expect("an address"));
    // An acknowledgement of the suite none.
    let packets = vec![vec![0x41, 0x80, 1, 2, 1, 0, 0, 0, 1]];
    let down = |input, peer| join_packets(&[PacketDown { input, peer, packets: packets.clone() }.to_bytes()]);
    let health = hall.started.health;
    let runtime = collector::daemon::runtime().expect("threads");
    runtime.block_on(async {
        let client = async_nats::connect(server.url()).await.expect("it is there");
        let publish = async |subject: &'static str, down: Vec<u8>| {
            client.publish(subject, down.into()).await.expect("published");
            client.flush().await.expect("it is there");
        };
        // Its subscription may come a little later.
        let begun = Instant::now();
        while seven.hear(Duration::from_millis(50)).is_none() {
            publish("wattseal.7.down.hall", down(0, at(&seven))).await;
            assert!(begun.elapsed() < WITHIN, "nothing is sent");
        }
        let bad = "wattseal_gateway_dropped_packets_total{why=\"malformed\"}";
        for (subject, down) in [
            ("wattseal.0.down.hall", down(0, at(&zero))),
            ("wattseal.7.down.hall", down(1, at(&zero))),
            ("wattseal.7.down.hall", down(2, at(&zero))),
            ("wattseal.7.down.hall", b"nothing".to_vec()),
        ] {
            let before = figure(health, bad);
            publish(subject, down).await;
            until("it is counted", || figure(health, bad) == before + 1);
        }
    });
    assert!(zero.hear(Duration::from_millis(100)).is_none(), "it was sent");
}

fn refused(nats: Nats) -> ClusterError {
    let udp = vec![OfNetwork::from(loopback())];
    let (name, most_packets) = ("hall".parse().expect("a name"), 100.try_into().expect("not 0"));
    let gateway = Gateway { nats, name, udp, serial: Vec::new(), most_packets, health: None };
    let role = Role::run(async |ready, stop| gateway.serve(ready, async { drop(stop.await) }).await);
    role.ended().expect_err("refused")
}

#[test]
fn permanent_failure_ends_with_the_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    let documented = Shipped::one(folder.path());
    let made = wattseal(folder.path()).args(["nkey", "stranger.nk"]).output().expect("it runs");
    assert!(made.status.success());
    let again = wattseal(folder.path()).args(["nkey", "stranger.nk"]).output().expect("it runs");
    assert_eq!(again.status.code(), Some(2), "a key that is there is not replaced");
    let error = refused(documented.user("stranger"));
    assert!(matches!(error, ClusterError::NotLetIn { .. }), "{error:?}");
    assert!(error.to_string().contains("--nats-creds"), "{error}");
    // The certificate of another.
    let other = rcgen::generate_simple_self_signed(["127.0.0.1".to_owned()]).expect("a certificate");
    fs::write(folder.path().join("other.pem"), other.cert.pem()).expect("a file");
    let error = refused(Nats { ca: Some(folder.path().join("other.pem")), ..documented.user("hall") });
    assert!(matches!(error, ClusterError::Tls { .. }), "{error:?}");
    // A seed that others may read, and what is none.
    let file = folder.path().join("open.nk");
    let with = |text: &str, mode| {
        fs::write(&file, text).expect("a file");
        fs::set_permissions(&file, PermissionsExt::from_mode(mode)).expect("ours");
        refused(Nats { credentials: Some(file.clone()), ..documented.user("hall") })
    };
    let error = with("SU", 0o644);
    assert!(error.to_string().contains("chmod 600"), "{error}");
    for nonsense in ["", "SU nonsense\n", "nonsense"] {
        let error = with(nonsense, 0o600);
        assert!(error.to_string().contains("--nats-creds"), "{nonsense}: {error}");
    }
    let error = refused(servers("nats://user:password@127.0.0.1:1"));
    assert!(error.is_usage() && !error.to_string().contains("password@"), "{error}");
    let error = refused(Nats { ca: Some(folder.path().join("ca.pem")), ..servers("nats://127.0.0.1:1") });
    assert!(error.is_usage(), "{error}");
}

/// The lines that are printed for a user are those of the shipped file, with the user's key.
#[test]
fn nkey_prints_the_lines_of_the_shipped_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = testkit::documents::home().join("operations/nats/nats-server.conf");
    let shipped = fs::read_to_string(file).expect("a text");
    for (name, options, places) in [
        ("hall", &["--gateway", "hall", "--network", "7"][..], 2),
        ("worker", &["--role", "worker"], 1),
        ("api", &["--role", "api"], 1),
    ] {
        let seed = format!("{name}.nk");
        let made = wattseal(folder.path()).args(["nkey", &seed]).args(options).output().expect("it runs");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let printed = String::from_utf8(made.stdout).expect("text");
        let key = printed.split("nkey: ").nth(1).and_then(|rest| rest.lines().next()).expect("a key");
        let printed = printed.replace(key, &format!("U_PUBLIC_KEY_OF_THE_{}", name.to_uppercase()));
        let parts: Vec<&str> = printed.split("# Into ").skip(1).collect();
        assert_eq!(parts.len(), places, "{printed}");
        for part in parts {
            let (_, lines) = part.split_once('\n').expect("lines");
            assert!(shipped.contains(lines.trim_end()), "{name}: the file does not have\n{lines}");
        }
    }
    for wrong in [&["--gateway", "hall"][..], &["--network", "7"], &["--gateway", "a.b", "--network", "7"]] {
        let made = wattseal(folder.path()).args(["nkey", "no.nk"]).args(wrong).output().expect("it runs");
        assert_eq!(made.status.code(), Some(2), "{wrong:?}");
    }
    assert!(!folder.path().join("no.nk").exists());
}

#[test]
fn without_a_server_a_role_waits_and_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    let nowhere = format!("nats://{}", free_address());
    let hall = gateway(servers(&nowhere), "hall", &[NetworkId::DEFAULT]);
    let worker = worker(servers(&nowhere), folder.path(), "one", None);
    for health in [hall.started.health, worker.started.health] {
        until("it says why", || ask(health, "/health/ready").contains("no connection to NATS"));
        assert!(ask(health, "/health/live").starts_with("HTTP/1.1 200"));
    }
    hall.stop().expect("it stops well");
    worker.stop().expect("it stops well");
}

/// The commands of docs/how-to/cluster.md, with servers that are there.
#[test]
fn the_commands_of_the_documentation_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let (plain, documented) = (nats::Nats::start(), Shipped::one(folder.path()));
    let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-to/cluster.md");
    let text = fs::read_to_string(text).expect("a text");
    let (tls, mut count) = (documented.servers.url_with("tls"), 0);
    // Of one server there is one copy.
    let server = postgres::shared();
    let database = server.url(&server.database());
    let replaced = [
        ("postgres://wattseal@localhost/wattseal", database.as_str()),
        ("nats://127.0.0.1:4222", plain.url().as_str()),
        ("tls://nats1.lan,tls://nats2.lan,tls://nats3.lan", &tls),
        ("--replicas 3", "--replicas 1"),
        (":7878", ":0"),
        (":8081", ":0"),
        (":8082", ":0"),
        (":8083", ":0"),
        (":8080", ":0"),
        ("nkey hall.nk", "nkey another.nk"),
    ]
    .map(|(from, to)| (from.to_owned(), to.to_owned()));
    for line in text.lines().filter_map(|line| line.strip_prefix("wattseal-collector ")) {
        let line = replaced.iter().fold(line.to_owned(), |line, (from, to)| line.replace(from, to));
        let arguments: Vec<&str> = line.split(' ').collect();
        count += 1;
        if !["gateway", "worker", "api"].contains(&arguments[0]) {
            let ran = wattseal(folder.path()).args(&arguments).output().expect("it runs");
            assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
            continue;
        }
        let mut command = wattseal(folder.path());
        let mut child = command.args(&arguments).stderr(Stdio::piped()).spawn().expect("it runs");
        let mut log = BufReader::new(child.stderr.take().expect("a pipe")).lines().map_while(Result::ok);
        let connected = log.by_ref().find(|line| line.contains("connected to NATS"));
        let told = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(told.expect("kill").success());
        let rest: Vec<String> = log.collect();
        let ended = child.wait().expect("it ran");
        assert!(connected.is_some() && ended.code() == Some(0), "{line}: {connected:?} {rest:?}");
    }
    assert!(count >= 9, "only {count} commands were found");
}
