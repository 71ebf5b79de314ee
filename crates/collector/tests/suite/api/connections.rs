//! What one address, or one token, may hold: connections, silent ones among them, and streams of events.

use super::stand::{Stand, refused, told};
use reqwest::{Method, Response};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// docs/collector.md, "HTTP".
const MOST_CONNECTIONS: usize = 512;
const MOST_OF_AN_ADDRESS: usize = 128;
const MOST_LISTENERS: usize = 128;
const MOST_LISTENERS_OF_AN_ADDRESS: usize = 64;
const MOST_LISTENERS_OF_A_TOKEN: usize = 16;
/// A request's head comes within five seconds; the rest is this machine's.
const SILENT_FOR: Duration = Duration::from_secs(5);
const SILENT_AT_MOST: Duration = Duration::from_secs(9);

/// Connects from another address of loopback: 127.0.0.`from`.
async fn connect(stand: &Stand, from: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, from], 0))).expect("loopback");
    socket.connect(stand.address).await.expect("connected")
}

/// Whether a connection is answered.
async fn is_answered(mut stream: TcpStream) -> bool {
    let _ = stream
        .write_all(b"GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .await;
    let mut answer = Vec::new();
    // A connection without a place is closed, or reset.
    let _ = tokio::time::timeout(SILENT_FOR / 2, stream.read_to_end(&mut answer)).await;
    answer.starts_with(b"HTTP/1.1 200")
}

fn is_open(stream: &TcpStream) -> bool {
    matches!(stream.try_read(&mut [0; 1]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
}

/// New silent connections, so many from each address, of which `most` may stay. Returns those that are open once the others were closed;
/// that has to be before silent ones are, and a machine that is too slow for it tries again.
async fn open(
    stand: &Stand,
    from: RangeInclusive<u8>,
    count: usize,
    most: usize,
) -> (Instant, Vec<TcpStream>) {
    let mut left = 0;
    for _ in 0..5 {
        let (begun, mut streams) = (Instant::now(), Vec::new());
        for from in from.clone() {
            for _ in 0..count {
                streams.push(connect(stand, from).await);
            }
        }
        while begun.elapsed() < SILENT_FOR {
            streams.retain(is_open);
            left = streams.len();
            if left <= most {
                // Those that are too many would go on to be closed.
                tokio::time::sleep(Duration::from_millis(300)).await;
                streams.retain(is_open);
                if begun.elapsed() < SILENT_FOR {
                    return (begun, streams);
                }
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        drop(streams);
        tokio::time::sleep(SILENT_FOR).await;
    }
    panic!("{left} connections were open, and {most} may be");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_of_one_address_leave_room_for_others() {
    let stand = Stand::new().await;
    let (begun, silent) = open(&stand, 2..=2, MOST_CONNECTIONS, MOST_OF_AN_ADDRESS).await;
    assert_eq!(silent.len(), MOST_OF_AN_ADDRESS);
    assert!(
        is_answered(connect(&stand, 3).await).await,
        "512 silent connections of one address lock out all others"
    );
    let is_more = is_answered(connect(&stand, 2).await).await;
    // By then silent ones may have been closed.
    assert!(!is_more || begun.elapsed() > SILENT_FOR, "an address has more than its share");
    drop(silent);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert!(is_answered(connect(&stand, 2).await).await, "places do not come back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_bounded() {
    let stand = Stand::new().await;
    let (_, held) = open(&stand, 2..=6, MOST_OF_AN_ADDRESS, MOST_CONNECTIONS).await;
    assert_eq!(held.len(), MOST_CONNECTIONS);
}

/// How long until the other side closes.
async fn closed_after(mut stream: TcpStream) -> Option<Duration> {
    let begun = Instant::now();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(SILENT_AT_MOST, stream.read_to_end(&mut answer)).await;
    read.is_ok().then(|| begun.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_does_not_send_a_whole_head_is_let_go() {
    let stand = Stand::new().await;
    // Nothing; too little to tell HTTP/1 from HTTP/2; HTTP/2's preface but for its end; half a head; another after a whole request.
    let whole = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let said = ["", "P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r", "GET /api/v1/health HTTP/1.1\r\nHost: loc", whole];
    let waiting = said.map(|said| {
        let address = stand.address;
        tokio::spawn(async move {
            let mut stream = TcpStream::connect(address).await.expect("connected");
            stream.write_all(said.as_bytes()).await.expect("written");
            closed_after(stream).await
        })
    });
    for (said, waiting) in said.into_iter().zip(waiting) {
        let after = waiting.await.expect("no panic");
        let after = after.unwrap_or_else(|| panic!("{said:?} holds a connection for {SILENT_AT_MOST:?}"));
        assert!(after > SILENT_FOR / 2, "{said:?}: {after:?}");
    }
}

/// One who listens, from an address of loopback.
async fn listen(stand: &Stand, from: u8, token: &str) -> Response {
    let client =
        reqwest::Client::builder().local_address(IpAddr::from([127, 0, 0, from])).build().expect("a client");
    client.get(stand.url("/events")).bearer_auth(token).send().await.expect("an answer")
}

/// So many who listen; those that may.
async fn listeners(stand: &Stand, from: u8, token: &str, count: usize) -> Vec<Response> {
    let mut listening = Vec::new();
    for _ in 0..count {
        let response = listen(stand, from, token).await;
        match response.status().as_u16() {
            200 => listening.push(response),
            status => assert!([429, 503].contains(&status), "{response:?}"),
        }
    }
    listening
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_viewer_does_not_hold_all_streams_of_events() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let held = listeners(&stand, 2, &tokens.viewer, MOST_LISTENERS_OF_A_TOKEN + 4).await;
    assert_eq!(held.len(), MOST_LISTENERS_OF_A_TOKEN, "of one token");
    // From wherever: it is the token's. Somebody else's token has its own share.
    assert_eq!(listeners(&stand, 3, &tokens.viewer, 1).await.len(), 0);
    assert_eq!(listeners(&stand, 2, &tokens.administrator, 1).await.len(), 1);
    drop(held);
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(listeners(&stand, 2, &tokens.viewer, 1).await.len(), 1, "places do not come back");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn streams_of_events_are_bounded_by_address_and_in_all() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let mut secrets = Vec::new();
    for which in 0..10 {
        secrets.push(stand.make(&format!("display {which}"), "viewer", &tokens.administrator).await);
    }
    let mut held = Vec::new();
    for secret in &secrets[..5] {
        held.extend(listeners(&stand, 2, secret, MOST_LISTENERS_OF_A_TOKEN).await);
    }
    assert_eq!(held.len(), MOST_LISTENERS_OF_AN_ADDRESS, "of one address");
    for (from, secret) in (3..).zip(&secrets[4..]) {
        held.extend(listeners(&stand, from, secret, MOST_LISTENERS_OF_A_TOKEN).await);
    }
    assert_eq!(held.len(), MOST_LISTENERS, "in all");
    let full = stand.ask(Method::GET, "/events").bearer_auth(&tokens.administrator);
    assert_eq!(refused(full, 503).await.0, "listeners");
    told(stand.ask(Method::GET, "/health"), 200).await;
}
