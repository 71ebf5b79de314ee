//! A service in a folder of its own, its API on a free port of loopback, and two meters that say
//! what the test has them say.

use collector::api::{Bound, Costs, Listen, Parts, Rates, TlsFiles, serve};
use collector::gateway::{GatewayId, HeardPacket, Route};
use collector::network::NetworkId;
use collector::one_time_link::OneTimeLink;
use collector::registry::{MeterFile, Registry};
use collector::service::{Config, Running, ServiceError};
use rand::TryRngCore;
use rand::rngs::OsRng;
use reqwest::header::{AUTHORIZATION, HeaderMap};
use reqwest::{Client, Method, RequestBuilder};
use serde_json::{Value, json};
use std::net::{IpAddr, SocketAddr};
use std::num::NonZeroU32;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use wire::meter::{Channel, Content, Identity, Measurement, MessageKind, Report, Setup, packets};

/// The meters that there are.
pub const METERS: [u16; 2] = [258, 300];
/// 2000-01-01 00:00:00 UTC in Unix time, in s.
pub const EPOCH_S: i64 = 946_684_800;
/// Nothing in these tests takes as long.
pub const LONG: Duration = Duration::from_secs(20);

pub struct Stand {
    pub address: SocketAddr,
    pub client: Client,
    pub running: Stopped,
    pub files: Vec<MeterFile>,
    /// The link for the first token.
    pub link: Arc<OneTimeLink>,
    scheme: &'static str,
    stop: Option<oneshot::Sender<()>>,
    served: JoinHandle<std::io::Result<()>>,
    folder: tempfile::TempDir,
}

/// A service that comes to its end with the test: its threads would go on beside all the others.
pub struct Stopped(Option<Running>);

impl Stopped {
    pub async fn stop(mut self) -> Result<(), ServiceError> {
        self.0.take().expect("stopped once").stop().await
    }
}

impl Deref for Stopped {
    type Target = Running;

    fn deref(&self) -> &Running {
        self.0.as_ref().expect("it runs")
    }
}

impl Drop for Stopped {
    fn drop(&mut self) {
        let Some(running) = self.0.take() else { return };
        // No task waits for another one in a runtime; a thread with its own does.
        let stopping = std::thread::spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
            // The test's end, with any result.
            let _ = runtime.block_on(running.stop());
        });
        let _ = stopping.join();
    }
}

/// Tokens in secret.
pub struct Tokens {
    pub administrator: String,
    pub viewer: String,
    pub revoked: String,
}

/// Returns rates that no test comes near.
pub fn no_limits() -> Rates {
    let many = NonZeroU32::new(1_000_000).expect("not zero");
    Rates { requests_per_s: many, requests_burst: many, failures_per_min: many }
}

impl Stand {
    /// One where nobody has a token yet.
    pub async fn new() -> Stand {
        Stand::with(no_limits(), None).await
    }

    /// One where an administrator makes all requests without another token.
    pub async fn administrated() -> Stand {
        let mut stand = Stand::new().await;
        let token = stand.first_token("administrator").await;
        let headers =
            HeaderMap::from_iter([(AUTHORIZATION, format!("Bearer {token}").parse().expect("text"))]);
        stand.client = Client::builder().timeout(LONG).default_headers(headers).build().expect("a client");
        stand
    }

    pub async fn with(rates: Rates, tls: Option<TlsFiles>) -> Stand {
        Stand::of_networks(rates, tls, &[NetworkId::DEFAULT]).await
    }

    /// One behind reverse proxies.
    pub async fn behind(rates: Rates, proxies: Vec<IpAddr>) -> Stand {
        Stand::made(rates, None, proxies, &[NetworkId::DEFAULT]).await
    }

    /// One with the meters of [`METERS`] in each network.
    pub async fn of_networks(rates: Rates, tls: Option<TlsFiles>, networks: &[NetworkId]) -> Stand {
        Stand::made(rates, tls, Vec::new(), networks).await
    }

    async fn made(
        rates: Rates,
        tls: Option<TlsFiles>,
        proxies: Vec<IpAddr>,
        networks: &[NetworkId],
    ) -> Stand {
        // It may have been done by another test.
        let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
        let folder = tempfile::tempdir().expect("a folder");
        let keys = folder.path().join("keys");
        let images = folder.path().join("images");
        let mut files = Vec::new();
        for network in networks {
            let registry = Registry::open_network(&keys, *network).expect("a registry");
            files.extend(
                METERS.map(|meter| registry.provision(Setup::usual(meter), 0, &images).expect("a meter").0),
            );
        }
        let config = Config::new(folder.path().join("wattseal.db"), keys);
        let running = Stopped(Some(Running::start(config).await.expect("a service")));
        let scheme = if tls.is_some() { "https" } else { "http" };
        let listen = Listen { address: "127.0.0.1:0".parse().expect("an address"), tls, proxies };
        let bound = listen.bind(false).expect("loopback");
        let link = link(&folder.path().join("wattseal.db"), &bound.url());
        let (address, parts) =
            (bound.address(), Parts { one_time_link: Some(link.clone()), ..parts(&running, rates) });
        let (stop, served) = start(bound, parts);
        let client = Client::builder().timeout(LONG).build().expect("a client");
        Stand { address, client, running, files, link, scheme, stop: Some(stop), served, folder }
    }

    /// The database's file.
    pub fn db(&self) -> std::path::PathBuf {
        self.folder.path().join("wattseal.db")
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}://{}/api/v1{path}", self.scheme, self.address)
    }

    pub fn ask(&self, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, self.url(path))
    }

    /// Returns the body of an answer with the expected status.
    pub async fn get(&self, path: &str, token: &str) -> Value {
        told(self.ask(Method::GET, path).bearer_auth(token), 200).await
    }

    /// Returns the secret of the one-time link.
    pub fn link_secret(&self) -> String {
        self.link.url().split_once("#/first/").expect("a link").1.to_owned()
    }

    /// The first token, made as the dashboard makes it for who opens the link.
    pub async fn first_token(&self, name: &str) -> String {
        let first = json!({"secret": self.link_secret(), "name": name});
        secret_of(told(self.ask(Method::POST, "/tokens/first").json(&first), 201).await)
    }

    /// Three tokens, made as an administrator makes them.
    pub async fn tokens(&self) -> Tokens {
        let administrator = self.first_token("anna").await;
        let viewer = self.make("ben", "viewer", &administrator).await;
        let revoked = self.make("cleo", "administrator", &administrator).await;
        let list = self.get("/tokens", &administrator).await;
        let id =
            list.as_array().expect("a list").iter().find(|token| token["name"] == "cleo").expect("it")["id"]
                .clone();
        told(self.ask(Method::DELETE, &format!("/tokens/{id}")).bearer_auth(&administrator), 200).await;
        Tokens { administrator, viewer, revoked }
    }

    pub async fn make(&self, name: &str, role: &str, by: &str) -> String {
        let request = self.ask(Method::POST, "/tokens").json(&json!({"name": name, "role": role}));
        secret_of(told(request.bearer_auth(by), 201).await)
    }

    /// The meter of `files` measured something, and its packet is heard by a gateway of its
    /// network.
    pub fn measure(&self, which: usize, n: u32, at_s: i64, energy_dwh: u32, power_w: i16) {
        let record = &self.files[which].record;
        let (meter, suite) = (record.setup.meter, record.setup.suite);
        let time_s = u32::try_from(at_s - EPOCH_S).expect("after 2000");
        let content = Content::Measurement(Measurement { time_s, energy_dwh, power_w });
        let report = Report { n, time_set: true, lost: 0, content };
        let mut rng = OsRng.unwrap_err();
        // With AES-GCM no key pair takes part.
        let (own, peer) = (Identity::generate(&mut rng), Identity::generate(&mut rng));
        let channel = Channel { meter, keys: &record.keys, own: &own, peer: peer.public() };
        let sealed = channel.seal(MessageKind::Report, suite, n, &report.to_bytes(), &mut rng);
        let address = record.setup.collector_address;
        for bytes in packets(address, MessageKind::Report, suite, meter, n, &sealed) {
            let route = Route { gateway: GatewayId::of(0), peer: None };
            let heard = HeardPacket { route, bytes, rssi_dbm: Some(-61) };
            assert!(self.running.meters().hear_in(self.files[which].network, heard));
        }
    }

    /// Stops the API alone; how long that took.
    pub async fn stop_serving(&mut self) -> Duration {
        let begun = std::time::Instant::now();
        self.stop.take().expect("stopped once").send(()).expect("it runs");
        tokio::time::timeout(LONG, &mut self.served)
            .await
            .expect("in time")
            .expect("no panic")
            .expect("no error");
        begun.elapsed()
    }
}

pub fn parts(running: &Running, rates: Rates) -> Parts {
    Parts {
        reader: running.reader().clone(),
        writer: running.writer().clone(),
        meters: running.meters().clone(),
        forward: None,
        costs: Costs::default(),
        one_time_link: None,
        rates,
    }
}

/// The one-time link of a service that starts where nobody has a token.
pub fn link(db: &Path, dashboard: &str) -> Arc<OneTimeLink> {
    OneTimeLink::where_needed(db, dashboard, &[]).expect("written").expect("nobody has a token").into()
}

/// Of a token that was made.
fn secret_of(made: Value) -> String {
    made["token"].as_str().expect("the secret").to_owned()
}

fn start(bound: Bound, parts: Parts) -> (oneshot::Sender<()>, JoinHandle<std::io::Result<()>>) {
    let (stop, stopped) = oneshot::channel();
    let served = tokio::spawn(serve(bound, parts, async move {
        let _ = stopped.await;
    }));
    (stop, served)
}

/// The JSON of an answer, with the status that is expected.
pub async fn told(request: RequestBuilder, status: u16) -> Value {
    let response = request.send().await.expect("an answer");
    let (found, url) = (response.status().as_u16(), response.url().clone());
    let text = response.text().await.expect("a text");
    assert_eq!(found, status, "{url}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{url}: {error}: {text}"))
}

/// The code and the hint of a refusal, whose form is looked at.
pub async fn refused(request: RequestBuilder, status: u16) -> (String, String) {
    let body = told(request, status).await;
    let error = &body["error"];
    assert!(!error["message"].as_str().expect("a message").is_empty(), "{body}");
    (
        error["code"].as_str().expect("a code").to_owned(),
        error["hint"].as_str().unwrap_or_default().to_owned(),
    )
}

/// Asks until it is as expected.
pub async fn until<T>(mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let begun = std::time::Instant::now();
    loop {
        if let Some(found) = ask().await {
            return found;
        }
        assert!(begun.elapsed() < LONG, "it does not come");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
