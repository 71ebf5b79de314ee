//! The limits of one address, or one token: connections, silent ones among them, and streams of
//! events.

use super::stand::{Stand, refused, told};
use reqwest::{Method, Response};
use std::net::{IpAddr, SocketAddr};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

/// docs/how-to/collector/http.md, "HTTP".
const CONNECTIONS_MAX: usize = 512;
const PER_ADDRESS_MAX: usize = 128;
const LISTENERS_MAX: usize = 128;
const ADDRESS_LISTENERS_MAX: usize = 64;
const TOKEN_LISTENERS_MAX: usize = 16;
/// A request's head comes within five seconds; the rest is this machine's.
const SILENT_FOR: Duration = Duration::from_secs(5);
const SILENT_AT_MOST: Duration = Duration::from_secs(9);

/// Connects from another address of loopback: 127.0.0.`from`.
async fn connect(stand: &Stand, from: u8) -> TcpStream {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.bind(SocketAddr::from(([127, 0, 0, from], 0))).expect("loopback");
    socket.connect(stand.address).await.expect("connected")
}

/// Says if a connection is answered.
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

/// Opens silent connections from each address, of which `most` may stay. Returns those that are
/// open once the others were closed; that has to be before silent ones are, and a machine that is
/// too slow for it tries again.
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
    let (begun, silent) = open(&stand, 2..=2, CONNECTIONS_MAX, PER_ADDRESS_MAX).await;
    assert_eq!(silent.len(), PER_ADDRESS_MAX);
    assert!(
        is_answered(connect(&stand, 3).await).await,
        "512 silent connections of one address lock out all others"
    );
    assert!(begun.elapsed() < SILENT_FOR, "silent ones may have been closed by now");
    assert!(is_answered(connect(&stand, 2).await).await, "the oldest silent one of the address stays");
    drop(silent);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connections_are_bounded() {
    let stand = Stand::new().await;
    let (_, held) = open(&stand, 2..=6, PER_ADDRESS_MAX, CONNECTIONS_MAX).await;
    assert_eq!(held.len(), CONNECTIONS_MAX);
}

/// HTTP/2, a frame at a time (RFC 9113).
struct Http2 {
    stream: TcpStream,
    heard: Vec<u8>,
}

/// Kinds of frames.
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;

fn frame(kind: u8, flags: u8, id: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u32).to_be_bytes();
    [&length[1..], &[kind, flags, 0, 0, 0, id], payload].concat()
}

impl Http2 {
    /// settings: pairs of a number in 16 bits and a value in 32.
    async fn open(mut stream: TcpStream, settings: &[u8]) -> Http2 {
        let preface = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", &frame(SETTINGS, 0, 0, settings)[..]].concat();
        stream.write_all(&preface).await.expect("written");
        Http2 { stream, heard: Vec::new() }
    }

    async fn send(&mut self, kind: u8, flags: u8, id: u8, payload: &[u8]) {
        // It may be closed.
        let _ = self.stream.write_all(&frame(kind, flags, id, payload)).await;
    }

    async fn get(&mut self, id: u8, path: &str) {
        // HPACK (RFC 7541): GET and http by their index; path and authority in letters.
        let text = |index: u8, text: &str| [&[index, text.len() as u8], text.as_bytes()].concat();
        let head = [vec![0x82, 0x86], text(4, path), text(1, "localhost")].concat();
        self.send(HEADERS, END_STREAM | END_HEADERS, id, &head).await;
    }

    /// The next frame: its kind, its flags and its bytes. PING and SETTINGS are answered. `None`:
    /// it is closed.
    async fn next(&mut self) -> Option<(u8, u8, Vec<u8>)> {
        loop {
            if let Some(&[a, b, c, kind, flags, ..]) = self.heard.first_chunk::<9>() {
                let end = 9 + u32::from_be_bytes([0, a, b, c]) as usize;
                if self.heard.len() >= end {
                    let payload = self.heard[9..end].to_vec();
                    self.heard.drain(..end);
                    match (kind, flags & ACK) {
                        (PING, 0) => self.send(PING, ACK, 0, &payload).await,
                        (SETTINGS, 0) => self.send(SETTINGS, ACK, 0, &[]).await,
                        _ => {}
                    }
                    return Some((kind, flags, payload));
                }
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes).await {
                Ok(0) | Err(_) => return None,
                Ok(read) => self.heard.extend_from_slice(&bytes[..read]),
            }
        }
    }

    /// Says if a whole answer comes.
    async fn is_answered(&mut self) -> bool {
        while let Some((kind, flags, _)) = self.next().await {
            if [DATA, HEADERS].contains(&kind) && flags & END_STREAM != 0 {
                return true;
            }
        }
        false
    }

    /// Returns the time until the other side closes, while PINGs come and go; `None` after
    /// [`SILENT_AT_MOST`].
    async fn closed_after(mut self) -> Option<Duration> {
        let begun = Instant::now();
        while begun.elapsed() < SILENT_AT_MOST {
            self.send(PING, 0, 0, &[7; 8]).await;
            let heard = async { while self.next().await.is_some() {} };
            if tokio::time::timeout(Duration::from_millis(500), heard).await.is_ok() {
                return Some(begun.elapsed());
            }
        }
        None
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http2_connection_without_a_request_is_closed() {
    let stand = Stand::new().await;
    let silent = Http2::open(connect(&stand, 2).await, &[]).await;
    let mut after_one = Http2::open(connect(&stand, 2).await, &[]).await;
    after_one.get(1, "/api/v1/health").await;
    assert!(after_one.is_answered().await);
    tokio::time::sleep(Duration::from_secs(2)).await;
    after_one.get(3, "/api/v1/health").await;
    assert!(after_one.is_answered().await, "between requests there may be some seconds");
    let (silent, after_one) = tokio::join!(silent.closed_after(), after_one.closed_after());
    for after in [silent.expect("it holds its place"), after_one.expect("it holds its place")] {
        assert!(after > SILENT_FOR / 4, "{after:?}");
    }
}

/// An answer that takes longer to be read than a connection may be silent.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http2_answer_that_is_read_slowly_comes_whole() {
    let stand = Stand::new().await;
    let whole = stand.ask(Method::GET, "/openapi.json").send().await.expect("an answer");
    let whole = whole.bytes().await.expect("a body").len();
    let (first, steps) = (8192_u32, 14);
    let settings = [&[0, 4][..], &first.to_be_bytes()].concat();
    let mut slow = Http2::open(connect(&stand, 2).await, &settings).await;
    slow.send(WINDOW_UPDATE, 0, 0, &(1_u32 << 24).to_be_bytes()).await;
    slow.get(1, "/api/v1/openapi.json").await;
    let step = (whole as u32 - first) / steps + 1;
    let (mut read, mut next) = (0, tokio::time::interval(SILENT_FOR / 10));
    while read < whole {
        tokio::select! {
            frame = slow.next() => match frame {
                Some((DATA, _, payload)) => read += payload.len(),
                Some(_) => {}
                None => panic!("it was closed after {read} of {whole} bytes"),
            },
            _ = next.tick() => slow.send(WINDOW_UPDATE, 0, 1, &step.to_be_bytes()).await,
        }
    }
    assert_eq!(read, whole);
}

/// All places are held by strangers, with HTTP/2 and with HTTP/1.1; holders of tokens keep theirs,
/// and others get in.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_who_hold_all_places_keep_nobody_out() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let mut session = connect(&stand, 2).await;
    let follow = format!(
        "GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\n\r\n",
        tokens.viewer
    );
    session.write_all(follow.as_bytes()).await.expect("written");
    let mut head = [0; 15];
    session.read_exact(&mut head).await.expect("an answer");
    assert_eq!(&head, b"HTTP/1.1 200 OK");
    let mut strangers = Vec::new();
    for _ in 0..PER_ADDRESS_MAX {
        for from in 2..=6 {
            strangers.push(Http2::open(connect(&stand, from).await, &[]).await);
        }
        // So that they are not closed before all are there.
        if let Some(first) = strangers.first_mut() {
            first.get(1, "/api/v1/health").await;
        }
    }
    for from in [2, 7] {
        assert!(is_answered(connect(&stand, from).await).await, "127.0.0.{from} is kept out");
    }
    let asked = stand.ask(Method::GET, "/meters").bearer_auth(&tokens.administrator);
    told(asked, 200).await;
    let mut rest = [0; 4096];
    while let Ok(read) = session.try_read(&mut rest) {
        assert_ne!(read, 0, "the session lost its place");
    }
    assert!(is_open(&session), "the session lost its place");
}

/// Through a reverse proxy each user has bounds of their own.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn users_of_a_proxy_are_told_apart() {
    let few = std::num::NonZeroU32::new(5).expect("not zero");
    let rates =
        collector::api::Rates { requests_per_s: few, requests_burst: few, ..super::stand::no_limits() };
    let stand = Stand::behind(rates, vec![IpAddr::from([127, 0, 0, 9])]).await;
    let client = |from: u8| {
        reqwest::Client::builder().local_address(IpAddr::from([127, 0, 0, from])).build().expect("a client")
    };
    let ask = async |client: &reqwest::Client, user: &str| {
        let asked = client.get(stand.url("/health")).header("X-Forwarded-For", user);
        asked.send().await.expect("an answer").status().as_u16()
    };
    let proxy = client(9);
    let mut flood = Vec::new();
    for _ in 0..20 {
        flood.push(ask(&proxy, "192.0.2.77, 192.0.2.1").await);
    }
    assert!(flood.contains(&429), "{flood:?}");
    assert_eq!(ask(&proxy, "192.0.2.1, 192.0.2.2").await, 200, "another user of the proxy");
    // A client that is no proxy says nothing by the header.
    let stranger = client(3);
    let mut flood = Vec::new();
    for user in 0..20 {
        flood.push(ask(&stranger, &format!("192.0.2.{}", 100 + user)).await);
    }
    assert!(flood.contains(&429), "{flood:?}");
}

/// Returns the time until the other side closes.
async fn closed_after(mut stream: TcpStream) -> Option<Duration> {
    let begun = Instant::now();
    let mut answer = Vec::new();
    let read = tokio::time::timeout(SILENT_AT_MOST, stream.read_to_end(&mut answer)).await;
    read.is_ok().then(|| begun.elapsed())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn connection_without_a_whole_head_is_closed() {
    let stand = Stand::new().await;
    // Nothing; too little to tell HTTP/1 from HTTP/2; HTTP/2's preface but for its end; half a
    // head; another after a whole request.
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

/// Opens `count` listeners and returns those that may listen.
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
    let held = listeners(&stand, 2, &tokens.viewer, TOKEN_LISTENERS_MAX + 4).await;
    assert_eq!(held.len(), TOKEN_LISTENERS_MAX, "of one token");
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
        held.extend(listeners(&stand, 2, secret, TOKEN_LISTENERS_MAX).await);
    }
    assert_eq!(held.len(), ADDRESS_LISTENERS_MAX, "of one address");
    for (from, secret) in (3..).zip(&secrets[4..]) {
        held.extend(listeners(&stand, from, secret, TOKEN_LISTENERS_MAX).await);
    }
    assert_eq!(held.len(), LISTENERS_MAX, "in all");
    let full = stand.ask(Method::GET, "/events").bearer_auth(&tokens.administrator);
    assert_eq!(refused(full, 503).await.0, "listeners");
    told(stand.ask(Method::GET, "/health"), 200).await;
}
