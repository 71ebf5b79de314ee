//! A service in memory, and the expected answers of its API to any request. The fuzz target `api`
//! and a short test both take it.

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::ConnectInfo;
use axum::http::{HeaderName, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use collector::api::{Costs, Parts, Rates, on_loopback};
use collector::gateway::{GatewayId, HeardPacket, Route};
use collector::registry::Registry;
use collector::secret::Secret;
use collector::service::{Config, Running};
use collector::store::{NewToken, Role, Write};
use rand::SeedableRng;
use rand::rngs::StdRng;
use serde_json::Value;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::time::Duration;
use tokio::runtime::{Builder, Runtime};
use tokio::sync::watch;
use tokio_stream::StreamExt;
use tower::ServiceExt;
use wire::meter::{Channel, Content, Identity, Measurement, MessageKind, Report, Setup, packets};

/// Bytes of an answer at most: 250,000 figures of consumption, and their times.
const ANSWER_BYTES_MAX: usize = 8 << 20;
/// An answer begins within this, and so does what follows events.
const WITHIN: Duration = Duration::from_secs(8);
/// Changes before all begins anew, so that old ones do not make everything slow.
const CHANGES_MAX: u32 = 1000;
/// The routes that are open without a token.
const OPEN: [&str; 3] = ["/api/v1/health", "/api/v1/openapi.json", "/api/v1/session"];

/// A service without gateways, with two meters that were heard, a token of each role, and the API
/// as it is on loopback.
pub struct Fixture {
    runtime: Runtime,
    /// `None` only while it begins anew.
    service: Option<Service>,
}

struct Service {
    running: Running,
    router: Router,
    administrator: Secret,
    viewer: Secret,
    changes: u32,
    _stop: watch::Sender<bool>,
    _folder: tempfile::TempDir,
}

/// The caller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Who {
    Administrator,
    Viewer,
    Nobody,
}

impl Fixture {
    /// Everything new.
    pub fn new() -> Fixture {
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        let service = runtime.block_on(Service::start());
        Fixture { runtime, service: Some(service) }
    }

    /// Asks what the bytes say, and panics where the answer is not as it has to be. The bytes:
    /// `METHOD TARGET`, lines `name: value`, an empty line, the body. `as: viewer` and `as: nobody`
    /// are no headers, but who asks; else it is the administrator. Where no host is named it is
    /// `localhost`. Returns how it was answered; `None` for what no HTTP request can be.
    pub fn ask(&mut self, bytes: &[u8]) -> Option<StatusCode> {
        let (who, request) = read(bytes)?;
        let mut service = self.service.take().expect("there is one");
        // A fuzzer sees what is compared, and so learns secrets; who knows one already is told
        // nothing by an answer that repeats it.
        let knows = |secret: &Secret| {
            bytes.windows(secret.expose().len()).any(|part| part == secret.expose().as_bytes())
        };
        if knows(&service.administrator) || knows(&service.viewer) {
            self.service = Some(service);
            return None;
        }
        let status = self.runtime.block_on(service.ask(who, request));
        if service.changes > CHANGES_MAX {
            self.runtime.block_on(service.running.stop()).expect("it stops");
            service = self.runtime.block_on(Service::start());
        }
        self.service = Some(service);
        Some(status)
    }
}

/// The request that the bytes say.
fn read(bytes: &[u8]) -> Option<(Who, Request<Body>)> {
    let end = bytes.windows(2).position(|pair| pair == b"\n\n");
    let (head, body) = end.map_or((bytes, &[][..]), |end| (&bytes[..end], &bytes[end + 2..]));
    let mut lines = head.split(|byte| *byte == b'\n');
    let first = lines.next()?;
    let space = first.iter().position(|byte| *byte == b' ')?;
    let mut request = Request::new(Body::from(body.to_vec()));
    *request.method_mut() = Method::from_bytes(&first[..space]).ok()?;
    *request.uri_mut() = Uri::try_from(&first[space + 1..]).ok()?;
    let mut who = Who::Administrator;
    for line in lines {
        let colon = line.iter().position(|byte| *byte == b':')?;
        let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
        match (name, value) {
            (b"as", b"viewer") => who = Who::Viewer,
            (b"as", b"nobody") => who = Who::Nobody,
            _ => {
                let name = HeaderName::from_bytes(name).ok()?;
                request.headers_mut().append(name, HeaderValue::from_bytes(value).ok()?);
            }
        }
    }
    request.headers_mut().entry(header::HOST).or_insert(HeaderValue::from_static("localhost"));
    request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4))));
    Some((who, request))
}

impl Service {
    async fn start() -> Service {
        let memory = std::path::Path::new("/dev/shm");
        let folder = match memory.is_dir() {
            true => tempfile::tempdir_in(memory),
            false => tempfile::tempdir(),
        };
        let folder = folder.expect("a folder");
        let keys = folder.path().join("keys");
        let registry = Registry::open(&keys).expect("a registry");
        let images = folder.path().join("images");
        let meters = [258, 300]
            .map(|meter| registry.provision(Setup::usual(meter), 0, &images).expect("a meter").0.record);
        let running =
            Running::start(Config::new(folder.path().join("wattseal.db"), keys)).await.expect("a service");
        let rng = &mut StdRng::seed_from_u64(1);
        // With AES-GCM no key pair takes part.
        let (own, peer) = (Identity::generate(rng), Identity::generate(rng));
        for (n, record) in (1..=8).flat_map(|n| meters.iter().map(move |record| (n, record))) {
            let Setup { meter, collector_address, suite, .. } = record.setup;
            let content = Content::Measurement(Measurement {
                time_s: 820_000_000 + 900 * n,
                energy_dwh: 10 * n,
                power_w: 400,
            });
            let sealed = Channel { meter, keys: &record.keys, own: &own, peer: peer.public() }.seal(
                MessageKind::Report,
                suite,
                n,
                &Report { n, time_set: true, lost: 0, content }.to_bytes(),
                rng,
            );
            for bytes in packets(collector_address, MessageKind::Report, suite, meter, n, &sealed) {
                let route = Route { gateway: GatewayId::of(0), peer: None };
                assert!(running.meters().hear(HeardPacket { route, bytes, rssi_dbm: Some(-61) }));
            }
        }
        let secrets =
            [Role::Administrator, Role::Viewer].map(|role| (role, Secret::generate(&mut rand::rng())));
        let token = |(role, secret): &(Role, Secret)| {
            Write::Token(NewToken {
                name: format!("{role:?}"),
                role: *role,
                hash: secret.hash().0,
                created_ms: 0,
            })
        };
        running.writer().write(secrets.iter().map(token).collect()).await.expect("two tokens");
        let [(_, administrator), (_, viewer)] = secrets;
        let many = NonZeroU32::MAX;
        let parts = Parts {
            reader: running.reader().clone(),
            writer: running.writer().clone(),
            meters: running.meters().clone(),
            forward: None,
            costs: Costs::default(),
            one_time_link: None,
            rates: Rates { requests_per_s: many, requests_burst: many, failures_per_min: many },
        };
        let (stop, stopping) = watch::channel(false);
        let router = on_loopback(parts, stopping);
        Service { running, router, administrator, viewer, changes: 0, _stop: stop, _folder: folder }
    }

    async fn ask(&mut self, who: Who, mut request: Request<Body>) -> StatusCode {
        let secret = match who {
            Who::Administrator => Some(&self.administrator),
            Who::Viewer => Some(&self.viewer),
            Who::Nobody => None,
        };
        if let Some(secret) = secret {
            let value = HeaderValue::try_from(format!("Bearer {}", secret.expose())).expect("text");
            request.headers_mut().insert(header::AUTHORIZATION, value);
        }
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answer = self.answer(request).await;
        let (status, text) = (answer.status(), String::from_utf8_lossy(answer.body()));
        let is_api = path == "/api" || path.starts_with("/api/");
        let about =
            format!("{who:?} {method} {path}: {status}: {}", text.chars().take(500).collect::<String>());

        // Nothing is wrong with this service: no request is ever its fault.
        assert!(!status.is_server_error(), "{about}");
        assert_eq!(answer.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff", "{about}");
        for secret in [&self.administrator, &self.viewer] {
            assert!(!text.contains(secret.expose()), "a secret: {about}");
        }
        let changes = !matches!(method, Method::GET | Method::HEAD | Method::OPTIONS);
        if status.is_success() && is_api {
            let is_open = OPEN.contains(&path.as_str());
            assert!(who != Who::Nobody || is_open, "{about}");
            assert!(who == Who::Administrator || !changes || is_open, "{about}");
            self.changes += u32::from(changes);
        }
        if !is_api || method == Method::HEAD || text.is_empty() {
            return status;
        }
        let is_json =
            answer.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
        let json: Value = if is_json { serde_json::from_str(&text).expect(&about) } else { Value::Null };
        if !status.is_success() {
            let error = &json["error"];
            assert!(error["code"].is_string() && error["message"].is_string(), "{about}");
            assert!(error["hint"].is_string() || error["hint"].is_null(), "{about}");
        }
        // A token that was made goes, so that the administrator's is always the last one, which is
        // not revoked.
        if json["token"].is_string() {
            let request = Request::delete(format!("/api/v1/tokens/{}", json["id"]));
            let value = format!("Bearer {}", self.administrator.expose());
            let mut request =
                request.header(header::AUTHORIZATION, value).body(Body::empty()).expect("a request");
            request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([127, 0, 0, 1], 4))));
            assert_eq!(self.answer(request).await.status(), 200);
        }
        status
    }

    /// An answer with its body; of one without an end what it begins with.
    async fn answer(&self, request: Request<Body>) -> Response<Vec<u8>> {
        let answer = tokio::time::timeout(WITHIN, self.router.clone().oneshot(request));
        let (head, body) = answer.await.expect("in time").expect("never fails").into_parts();
        let is_endless =
            head.headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == "text/event-stream");
        let bytes = if is_endless {
            let mut frames = body.into_data_stream();
            let first = tokio::time::timeout(WITHIN, frames.next());
            first.await.expect("in time").map_or(Vec::new(), |bytes| bytes.expect("never fails").to_vec())
        } else {
            to_bytes(body, ANSWER_BYTES_MAX).await.expect("within bounds").to_vec()
        };
        Response::from_parts(head, bytes)
    }
}
