//! A concentrator's figures, while the test plays the other collector.

use super::stand::{LONG, no_limits, parts, until};
use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::Request;
use collector::api::{Parts, on_loopback};
use collector::forward::Forwarder;
use collector::gateway::udp::datagram;
use collector::gateway::{GatewayId, HeardPacket, Route};
use collector::secret::Secret;
use collector::service::{Config, Running};
use collector::store::{NewToken, Role, Write};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use tokio::net::UdpSocket;
use tokio::sync::{mpsc, watch};
use tower::ServiceExt;
use wire::meter::{MessageKind, Suite, message_bytes, packets};

/// The one packet of a message of that kind, as meter 7 and its collector send it; what is in it
/// only they know.
fn packet(kind: MessageKind, low: u32) -> Vec<u8> {
    let suite = Suite::Aes128Gcm;
    packets(0x4f, kind, suite, 7, low, &vec![low as u8; message_bytes(kind, suite)]).remove(0)
}

struct Figures {
    router: Router,
    token: String,
}

impl Figures {
    /// All figures of forwarding that are not 0, by the rest of their names.
    async fn read(&self) -> BTreeMap<String, u64> {
        let peer = ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4)));
        let request = Request::get("/api/v1/metrics")
            .header("host", "localhost")
            .header("authorization", format!("Bearer {}", self.token))
            .extension(peer);
        let request = request.body(Body::empty()).expect("a request");
        let answer = self.router.clone().oneshot(request).await.expect("never fails");
        assert_eq!(answer.status(), 200);
        let bytes = to_bytes(answer.into_body(), 1 << 20).await.expect("a body");
        let text = String::from_utf8(bytes.to_vec()).expect("text");
        let lines = text.lines().filter_map(|line| line.strip_prefix("wattseal_forward_")?.split_once(' '));
        let figures = lines.map(|(name, value)| (name.to_owned(), value.parse::<u64>().expect("a number")));
        figures.filter(|(_, value)| *value > 0).collect()
    }

    async fn become_those(&self, expected: &[(&str, u64)]) {
        let expected: BTreeMap<String, u64> =
            expected.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
        let mut last = BTreeMap::new();
        let same = until(async || {
            last = self.read().await;
            (last == expected).then_some(())
        });
        assert!(tokio::time::timeout(LONG / 2, same).await.is_ok(), "{expected:?}, not {last:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_concentrator_counts_what_waits_and_what_went() {
    let folder = tempfile::tempdir().expect("a folder");
    let far = UdpSocket::bind("127.0.0.1:0").await.expect("a port");
    let (unknown_meters, heard) = mpsc::channel(16);
    let mut config = Config::new(folder.path().join("near.db"), folder.path().join("keys"));
    config.unknown_meters = Some(unknown_meters.clone());
    let running = Running::start(config).await.expect("a service");
    let upstream = far.local_addr().expect("an address").to_string();
    let (gateways, writer) = (running.meters().gateways().clone(), running.writer().clone());
    let forwarder = Forwarder::start(upstream, heard, gateways, writer, Vec::new());
    let secret = Secret::generate(&mut rand::rng());
    let token = NewToken { name: "wall".into(), role: Role::Viewer, hash: secret.hash().0, created_ms: 0 };
    running.writer().write_one(Write::Token(token)).await.expect("a token");
    let (_stop, stopping) = watch::channel(false);
    let parts = Parts { forward: Some(forwarder.counts().clone()), ..parts(&running, no_limits()) };
    let router = on_loopback(parts, stopping);
    let of = Figures { router, token: secret.expose().to_owned() };
    let hear = async |bytes: Vec<u8>| {
        let route = Route { gateway: GatewayId::of(0), peer: None };
        unknown_meters.send(HeardPacket { route, bytes, rssi_dbm: None }).await.expect("it listens");
    };
    of.become_those(&[]).await;

    // Two reports that nobody acknowledges, an answer of nobody who is known, and what is none of
    // these.
    hear(packet(MessageKind::Report, 1)).await;
    hear(packet(MessageKind::Report, 2)).await;
    hear(packet(MessageKind::Answer, 3)).await;
    hear(packet(MessageKind::Command, 4)).await;
    hear(vec![0x4f, 1, 2]).await;
    let mut buffer = [0; 100];
    let (_, near) = far.recv_from(&mut buffer).await.expect("the first report");
    // They go again after a second, which is not waited for.
    of.become_those(&[
        ("waiting", 2),
        ("unknown_meters", 2),
        ("reports_total", 2),
        ("messages_total", 2),
        ("refused_total", 3),
    ])
    .await;

    // The other collector acknowledges one of them, twice, gives a command, and says something that
    // is not for meters.
    let acknowledgement = packet(MessageKind::Acknowledgement, 1);
    for bytes in [
        &acknowledgement,
        &acknowledgement,
        &packet(MessageKind::Command, 5),
        &packet(MessageKind::Report, 6),
    ] {
        far.send_to(&datagram(bytes, None).expect("it fits"), near).await.expect("sent");
    }
    // Its meter is known now. Messages are counted at once, what waits a moment later.
    let expected = [
        ("up", 1),
        ("waiting", 1),
        ("unknown_meters", 0),
        ("delivered_total", 1),
        ("acknowledgements_total", 2),
        ("command_packets_total", 1),
        ("refused_total", 4),
    ];
    let mut last = BTreeMap::new();
    let same = until(async || {
        last = of.read().await;
        expected.iter().all(|(name, value)| last.get(*name).unwrap_or(&0) == value).then_some(())
    });
    assert!(tokio::time::timeout(LONG / 2, same).await.is_ok(), "{expected:?}, not {last:?}");
    hear(packet(MessageKind::Answer, 7)).await;
    until(async || (of.read().await.get("answers_total") == Some(&1)).then_some(())).await;

    // Nobody listens there any more.
    drop(far);
    until(async || (!of.read().await.contains_key("up")).then_some(())).await;
    drop(forwarder);
    running.stop().await.expect("it stops");
}
