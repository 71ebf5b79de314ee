//! Routes between NATS servers: one that has not all that lets a server in joins none of the
//! configurations, hears nothing there, and says nothing.

use crate::cluster::shipped::{Shipped, Source, make_routes, routes_of};
use crate::cluster::until;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;
use testkit::nats::Nats;
use testkit::ports::free_address;
use tokio_stream::StreamExt;

/// A server's id, and the ids of those that it has routes to.
fn routes(monitor: u16) -> (String, Vec<String>) {
    let mut stream = TcpStream::connect(("127.0.0.1", monitor)).expect("it listens");
    write!(stream, "GET /routez HTTP/1.0\r\n\r\n").expect("it listens");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer");
    let (_, json) = text.split_once("\r\n\r\n").expect("a body");
    let said: serde_json::Value = serde_json::from_str(json).expect("JSON");
    let text = |value: &serde_json::Value| value.as_str().expect("an id").to_owned();
    let routes = said["routes"].as_array().into_iter().flatten().map(|route| text(&route["remote_id"]));
    (text(&said["server_id"]), routes.collect())
}

/// A server that would join, by all that it has.
struct Rogue<'a> {
    what: &'static str,
    /// A folder with its certificate.
    certificate: Option<&'a Path>,
    /// `authorization` and `routes`.
    routes: String,
}

impl Rogue<'_> {
    /// Everybody may use it, and it believes every certificate.
    fn start(&self, monitor: u16) -> Nats {
        let tls = self.certificate.map_or(String::new(), |folder| {
            let file = |name: &str| format!("\"{}\"", folder.join(name).display());
            let (certificate, key, ca) = (file("routes.crt"), file("routes.key"), file("routes-ca.crt"));
            format!("tls {{ cert_file: {certificate}, key_file: {key}, ca_file: {ca}, insecure: true, timeout: 5 }}\n")
        });
        let listen = free_address();
        Nats::start_from(1, |_, _, port| {
            format!(
                "server_name: rogue\nlisten: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\n\
                 cluster {{\nname: wattseal\nlisten: {listen}\n{tls}{}\n}}\n",
                self.routes
            )
        })
    }
}

async fn joins_nothing(shipped: &Shipped, rogues: &[Rogue<'_>]) {
    let worker = shipped.client("worker").await;
    let mut asked = worker.subscribe("wattseal.*.ask.*.*.*.*").await.expect("a subject");
    let mut events = worker.subscribe("wattseal.events").await.expect("a subject");
    worker.flush().await.expect("it is there");
    let api = shipped.client("api").await;
    let (mut servers, mut strangers) = (Vec::new(), Vec::new());
    for rogue in rogues {
        let monitor = free_address().port();
        let server = rogue.start(monitor);
        let stranger = async_nats::connect(server.url()).await.expect("everybody may use it");
        let all = stranger.subscribe(">").await.expect("a subject");
        stranger.flush().await.expect("it is there");
        strangers.push((rogue.what, routes(monitor).0, stranger, all));
        servers.push(server);
    }
    // A server that is let in is there at once; one that is not tries again each second.
    let begun = tokio::time::Instant::now();
    while begun.elapsed() < Duration::from_millis(2500) {
        for (_, _, stranger, _) in &strangers {
            stranger.publish("wattseal.0.ask.0.1.1.1", "reboot".into()).await.expect("a subject");
        }
        api.publish("wattseal.events", "of the api".into()).await.expect("a subject");
        let heard = tokio::time::timeout(Duration::from_secs(10), events.next()).await;
        assert!(matches!(heard, Ok(Some(_))), "the api's own event is heard");
        let inside: Vec<String> = shipped.monitors.iter().flat_map(|monitor| routes(*monitor).1).collect();
        for (what, id, _, _) in &strangers {
            assert!(!inside.contains(id), "a server is let in: {what}");
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let heard = tokio::time::timeout(Duration::from_millis(100), asked.next()).await;
    assert!(heard.is_err(), "what a stranger published came");
    for (what, _, _, all) in &mut strangers {
        while let Ok(Some(message)) = tokio::time::timeout(Duration::from_millis(50), all.next()).await {
            assert_eq!(message.payload, "reboot", "{what}: it heard {}", message.subject);
        }
    }
}

#[test]
fn server_without_password_and_certificate_joins_no_cluster() {
    for source in Source::ALL {
        let folder = tempfile::tempdir().expect("a folder");
        let other = tempfile::tempdir().expect("a folder");
        make_routes(other.path());
        let shipped = Shipped::start(folder.path(), source, 2);
        // Those that belong there are let in.
        until("both servers are one cluster", || {
            routes(shipped.monitors[0]).1.contains(&routes(shipped.monitors[1]).0)
        });
        let to = |text: String| text.replace("authorization", "# authorization");
        let without: Vec<String> =
            shipped.routes.iter().map(|port| format!("nats-route://localhost:{port}")).collect();
        let without = format!("routes: [{}]", without.join(", "));
        let right = routes_of(folder.path(), &shipped.routes);
        let wrong = routes_of(other.path(), &shipped.routes);
        let rogues = [
            Rogue { what: "no certificate, no password", certificate: None, routes: without.clone() },
            Rogue { what: "no certificate", certificate: None, routes: to(right.clone()) },
            Rogue { what: "another authority", certificate: Some(other.path()), routes: to(right) },
            Rogue { what: "no password", certificate: Some(folder.path()), routes: without },
            Rogue { what: "another password", certificate: Some(folder.path()), routes: to(wrong) },
        ];
        let runtime = collector::daemon::runtime().expect("threads");
        runtime.block_on(joins_nothing(&shipped, &rogues));
        for file in ["routes.crt", "routes.key", "routes-ca.crt", "routes.conf"] {
            let mode = std::os::unix::fs::PermissionsExt::mode(
                &fs::metadata(folder.path().join(file)).expect("there").permissions(),
            );
            assert_eq!(mode & 0o077, 0, "others read {file}");
        }
    }
}
