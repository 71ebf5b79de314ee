//! No secret is in the log, at any level.

use super::stand::{METERS, Stand};
use std::io::{Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex};
use testkit::alone;
use tracing_subscriber::fmt::MakeWriter;

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().expect("a log").extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Log;

    fn make_writer(&self) -> Log {
        self.clone()
    }
}

/// Sent by hand, because a client of a library writes into the same log.
fn send(stand: &Stand, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(stand.address).expect("connected");
    let request = format!(
        "{head}\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        stand.address,
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("an answer");
    let _ = stream.shutdown(Shutdown::Both);
    String::from_utf8_lossy(&answer).into_owned()
}

fn made(answer: &str) -> String {
    let secret = answer.split("\"token\":\"").nth(1).unwrap_or_else(|| panic!("no token: {answer}"));
    secret.split('"').next().expect("its end").to_owned()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn no_secret_is_in_the_log() {
    // A process has one log.
    let test = "api::log::no_secret_is_in_the_log";
    if !alone::is_here(test) {
        return alone::run(test);
    }
    let log = Log::default();
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .init();
    let mut stand = Stand::new().await;
    let link = stand.link_secret();
    let first = format!(r#"{{"secret":"{link}","name":"anna"}}"#);
    let admin = made(&send(&stand, "POST /api/v1/tokens/first HTTP/1.1", &first));
    let make = format!("POST /api/v1/tokens HTTP/1.1\r\nAuthorization: Bearer {admin}");
    let viewer = made(&send(&stand, &make, r#"{"name":"ben","role":"viewer"}"#));
    let wrong = collector::secret::Secret::generate(&mut rand::rng()).expose().to_owned();
    let mut answers = String::new();
    for token in [&admin, &viewer, &wrong, &link] {
        let body = format!(r#"{{"token":"{token}"}}"#);
        let first = format!(r#"{{"secret":"{token}"}}"#);
        for (head, body) in [
            (format!("GET /api/v1/meters HTTP/1.1\r\nAuthorization: Bearer {token}"), ""),
            (format!("GET /api/v1/meters HTTP/1.1\r\nAuthorization: Basic {token}"), ""),
            (format!("GET /api/v1/meters HTTP/1.1\r\nCookie: wattseal={token}"), ""),
            (format!("GET /api/v1/session HTTP/1.1\r\nCookie: a=b; wattseal={token}"), ""),
            ("POST /api/v1/session HTTP/1.1".to_owned(), body.as_str()),
            ("POST /api/v1/session HTTP/1.1".to_owned(), &body[..body.len() - 1]),
            ("POST /api/v1/tokens HTTP/1.1".to_owned(), body.as_str()),
            ("POST /api/v1/tokens/first HTTP/1.1".to_owned(), first.as_str()),
            ("POST /api/v1/tokens/first HTTP/1.1".to_owned(), &first[..first.len() - 1]),
            (format!("GET /first/{token} HTTP/1.1"), ""),
            // In the wrong places.
            (format!("GET /api/v1/meters?token={token} HTTP/1.1\r\nAuthorization: Bearer {admin}"), ""),
            (format!("GET /api/v1/meters/{token} HTTP/1.1\r\nAuthorization: Bearer {admin}"), ""),
            (format!("GET /api/v1/{token} HTTP/1.1"), ""),
            (format!("GET /{token} HTTP/1.1"), ""),
            (format!("DELETE /api/v1/tokens/{token} HTTP/1.1\r\nAuthorization: Bearer {admin}"), ""),
            (format!("{token} /api/v1/meters HTTP/1.1"), ""),
        ] {
            answers.push_str(&send(&stand, &head, body));
        }
    }
    assert!(answers.contains("200 OK") && answers.contains("401 Unauthorized"), "{answers}");
    for which in 0..METERS.len() {
        stand.measure(which, 1, 1_772_323_200, 10, 5);
    }
    tokio::time::sleep(std::time::Duration::from_millis(300)).await;
    stand.stop_serving().await;
    let files = std::mem::take(&mut stand.files);
    stand.running.stop().await.expect("stopped");

    let log = String::from_utf8_lossy(&log.0.lock().expect("a log")).into_owned();
    // The log is whole: who was refused, and what was done, is in it.
    for words in ["made the token \\\"ben\\\"", "refused", "token-wrong", "TRACE"] {
        assert!(log.contains(words), "{words} is not in the log");
    }
    let lower = log.to_lowercase();
    for (name, token) in
        [("administrator's", &admin), ("viewer's", &viewer), ("wrong", &wrong), ("link's", &link)]
    {
        assert!(!log.contains(&token[4..]), "the {name} token: {:?}", around(&log, &token[4..]));
        assert!(!log.contains(&token[4..24]), "the first half of the {name} token");
    }
    for file in &files {
        let (key128, key256) = file.record.keys.expose();
        for key in [&key128[..], &key256[..]] {
            let hex: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
            assert!(!lower.contains(&hex), "a key of meter {} in hexadecimal", file.record.setup.meter);
            let list = format!("{key:?}");
            assert!(
                !log.contains(list.trim_matches(['[', ']'])),
                "a key of meter {} in bytes",
                file.record.setup.meter
            );
        }
    }
}

fn around<'a>(log: &'a str, found: &str) -> Option<&'a str> {
    log.lines().find(|line| line.contains(found))
}
