//! Server-sent events: after they are durable, until somebody goes.

use super::stand::{LONG, Stand, told};
use collector::event::Event;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Events as they come.
pub struct Listener {
    response: Response,
    text: String,
}

impl Listener {
    pub async fn new(stand: &Stand, token: &str, path: &str) -> Listener {
        let response = stand
            .ask(Method::GET, path)
            .bearer_auth(token)
            .timeout(3 * LONG)
            .send()
            .await
            .expect("an answer");
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Listener { response, text: String::new() }
    }

    /// Name and JSON of the next one; `None` where it was the end.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.text.split_once("\n\n") {
                let line = |name: &str| {
                    event.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).map(str::to_owned)
                };
                let (name, data) = (line("event:"), line("data:"));
                self.text = rest.to_owned();
                match (name, data) {
                    (Some(name), Some(data)) => {
                        return Some((name, serde_json::from_str(&data).expect("JSON")));
                    }
                    // A comment.
                    _ => continue,
                }
            }
            let chunk = tokio::time::timeout(LONG, self.response.chunk()).await.expect("in time");
            match chunk {
                Ok(Some(chunk)) => self.text.push_str(std::str::from_utf8(&chunk).expect("UTF-8")),
                Ok(None) | Err(_) => return None,
            }
        }
    }

    pub async fn named(&mut self, wanted: &str) -> Value {
        loop {
            let (name, data) = self.next().await.expect("an event");
            if name == wanted {
                return data;
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reading_is_told_when_it_is_stored() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let mut listener = Listener::new(&stand, &tokens.viewer, "/events").await;
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() as i64;
    for n in 1..=20 {
        let (at_s, energy_dwh, power_w) = (now_s - 30 + i64::from(n), 100 * n, 10 * n as i16);
        stand.measure(0, n, at_s, energy_dwh, power_w);
        let reading = listener.named("reading").await;
        assert_eq!(reading["event"], "reading");
        assert_eq!(
            (&reading["meter"], &reading["n"], &reading["power_w"]),
            (&json!(258), &json!(n), &json!(power_w))
        );
        assert_eq!((&reading["energy_dwh"], &reading["rssi_dbm"]), (&json!(energy_dwh), &json!(-61)));
        // A request now finds it there already.
        let meter = stand.get("/meters/258", &tokens.viewer).await;
        let last = json!({"at_s": at_s, "power_w": power_w, "energy_wh": f64::from(energy_dwh) / 10.0});
        assert_eq!(meter["last"], last);
    }
    let label = json!({"label": "Flat 3"});
    told(stand.ask(Method::PATCH, "/meters/300").bearer_auth(&tokens.administrator).json(&label), 200).await;
    assert_eq!(listener.named("meter").await, json!({"event": "meter", "meter": 300}));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_subscriber_is_told_to_reload() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let mut listener = Listener::new(&stand, &tokens.viewer, "/events").await;
    // More than sockets and queues hold.
    for _ in 0..300 {
        for _ in 0..1000 {
            stand.running.meters().publish(Event::Meter { meter: 258.into() });
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(listener.named("resync").await, json!({"event": "resync"}));
    stand.running.meters().publish(Event::Meter { meter: 300.into() });
    while listener.named("meter").await["meter"] != 300 {}
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoked_token_hears_no_more() {
    let stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let (mut viewer, mut administrator) = (
        Listener::new(&stand, &tokens.viewer, "/events").await,
        Listener::new(&stand, &tokens.administrator, "/events").await,
    );
    let list = stand.get("/tokens", &tokens.administrator).await;
    let ben =
        list.as_array().expect("a list").iter().find(|token| token["name"] == "ben").expect("him")["id"]
            .clone();
    told(stand.ask(Method::DELETE, &format!("/tokens/{ben}")).bearer_auth(&tokens.administrator), 200).await;
    while viewer.next().await.is_some() {}
    stand.running.meters().publish(Event::Meter { meter: 300.into() });
    assert_eq!(administrator.named("meter").await["meter"], 300);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn it_stops_in_time_with_listeners_and_idle_connections() {
    let mut stand = Stand::new().await;
    let tokens = stand.tokens().await;
    let mut listeners = Vec::new();
    for _ in 0..10 {
        listeners.push(Listener::new(&stand, &tokens.viewer, "/events").await);
    }
    // Clients that connect and say nothing, or half of a request.
    let _silent = tokio::net::TcpStream::connect(stand.address).await.expect("connected");
    let mut half = tokio::net::TcpStream::connect(stand.address).await.expect("connected");
    tokio::io::AsyncWriteExt::write_all(&mut half, b"GET /api/v1/hea").await.expect("written");
    let took = stand.stop_serving().await;
    assert!(took < Duration::from_secs(6), "{took:?}");
    for mut listener in listeners {
        assert_eq!(listener.next().await, None);
    }
    assert!(tokio::net::TcpStream::connect(stand.address).await.is_err(), "it listens still");
    stand.running.stop().await.expect("all is stored");
}
