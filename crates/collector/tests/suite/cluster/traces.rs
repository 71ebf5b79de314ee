//! Traces of packets, as somebody receives them who takes OTLP: roles as processes, because traces
//! are begun once in each.

use super::{Radio, WITHIN, until};
use crate::concentrator::process::wattseal;
use crate::meters::station::SimulatedMeter;
use axum::Router;
use axum::body::Bytes;
use axum::routing::post;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::KeyValue;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use testkit::nats;
use testkit::ports::free_address;
use wire::meter::Suite;

/// A receiver of traces, on a thread that ends with the process.
struct Receiver {
    address: SocketAddr,
    /// With the service that each is of.
    spans: Arc<Mutex<Vec<(String, Span)>>>,
    /// All bytes that came.
    bytes: Arc<Mutex<Vec<u8>>>,
}

fn text_of(attributes: &[KeyValue], key: &str) -> Option<String> {
    let value = attributes.iter().find(|attribute| attribute.key == key)?.value.clone()?.value?;
    Some(match value {
        Value::StringValue(text) => text,
        Value::IntValue(number) => number.to_string(),
        other => panic!("{key} is {other:?}"),
    })
}

impl Receiver {
    fn start() -> Receiver {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
        listener.set_nonblocking(true).expect("a listener");
        let address = listener.local_addr().expect("bound");
        let receiver = Receiver { address, spans: Arc::default(), bytes: Arc::default() };
        let (spans, bytes) = (receiver.spans.clone(), receiver.bytes.clone());
        let take = async move |body: Bytes| {
            bytes.lock().expect("nobody panics").extend(&body);
            let request = ExportTraceServiceRequest::decode(body).expect("OTLP's protobuf");
            for of in request.resource_spans {
                let service = text_of(&of.resource.expect("whose they are").attributes, "service.name");
                let found = of.scope_spans.into_iter().flat_map(|scope| scope.spans);
                let found = found.map(|span| (service.clone().expect("a service"), span));
                spans.lock().expect("nobody panics").extend(found);
            }
        };
        std::thread::spawn(move || {
            collector::daemon::runtime().expect("threads").block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).expect("a listener");
                axum::serve(listener, Router::new().route("/v1/traces", post(take))).await
            })
        });
        receiver
    }

    fn spans(&self) -> Vec<(String, Span)> {
        self.spans.lock().expect("nobody panics").clone()
    }

    /// The traces that a worker has committed something of.
    fn committed(&self) -> BTreeSet<Vec<u8>> {
        let spans = self.spans();
        spans.into_iter().filter(|(_, span)| span.name == "commit").map(|(_, span)| span.trace_id).collect()
    }
}

/// A role's process. It is killed with this.
struct Process(Child);

impl Process {
    fn start(folder: &Path, log: &str, arguments: &[&str]) -> (Process, Option<SocketAddr>) {
        let log = File::create(folder.join(log)).expect("a log");
        let mut child =
            wattseal(folder).args(arguments).stdout(Stdio::piped()).stderr(log).spawn().expect("it runs");
        let mut said = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut said).expect("text");
        (Process(child), said.trim().strip_prefix("udp ").map(|address| address.parse().expect("an address")))
    }

    /// As by SIGTERM. Returns how long it took.
    fn stop(mut self) -> Duration {
        let begun = Instant::now();
        let told = std::process::Command::new("kill").arg(self.0.id().to_string()).status().expect("kill");
        assert!(told.success() && self.0.wait().expect("it ran").success());
        begun.elapsed()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Both roles, with these options more, and the gateway's address.
fn roles(folder: &Path, nats: &str, more: &[&str]) -> (Process, Process, Radio) {
    let of =
        |role: &[&'static str]| [role, &["--nats", nats, "--log", "json", "--log-level", "debug"]].concat();
    let worker =
        [&of(&["worker", "--keys", "keys", "--verifiers", "1", "--health", "127.0.0.1:0"]), more].concat();
    let (worker, _) = Process::start(folder, "worker.log", &worker);
    let gateway = [&of(&["gateway", "--name", "hall", "--udp", "127.0.0.1:0"]), more].concat();
    let (gateway, udp) = Process::start(folder, "gateway.log", &gateway);
    (worker, gateway, Radio::near(udp.expect("a UDP gateway")))
}

/// The log lines of a trace, by what they say.
fn lines(folder: &Path, log: &str, trace: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder.join(log)).expect("a log");
    let lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"));
    lines
        .filter(|line| line["trace_id"] == trace)
        .map(|line| line["message"].as_str().expect("text").to_owned())
        .collect()
}

#[test]
fn trace_spans_gateway_to_commit_and_stands_in_the_log() {
    let (folder, server, receiver) =
        (tempfile::tempdir().expect("a folder"), nats::Nats::start(), Receiver::start());
    let mut meters = [(258, Suite::Aes128Gcm), (259, Suite::EciesEcdsa)]
        .map(|(meter, suite)| SimulatedMeter::register(&folder.path().join("keys"), meter, suite, 1));
    let otlp = format!("http://{}", receiver.address);
    let (worker, gateway, radio) = roles(folder.path(), &server.url(), &["--otlp", &otlp]);
    let unknown = vec![vec![0x4f, 8, 3, 3, 1, 2, 3]];
    radio.send(&unknown);
    for meter in &mut meters {
        radio.report(meter);
    }
    until("traces of both meters' commits arrive", || {
        let spans = receiver.spans();
        let of = |meter| {
            spans.iter().any(|(_, span)| {
                span.name == "acknowledge"
                    && text_of(&span.attributes, "wattseal.meter").as_deref() == Some(meter)
            })
        };
        of("258") && of("259")
    });
    gateway.stop();
    worker.stop();
    let mut traces: BTreeMap<Vec<u8>, Vec<(String, Span)>> = BTreeMap::new();
    for (service, span) in receiver.spans() {
        traces.entry(span.trace_id.clone()).or_default().push((service, span));
    }
    let committed = receiver.committed();
    for trace in &committed {
        let mut spans = traces.remove(trace).expect("it is there");
        spans.sort_by_key(|(_, span)| span.end_time_unix_nano);
        let (gateway, of_worker): (Vec<_>, Vec<_>) =
            spans.into_iter().partition(|(service, _)| service == "wattseal-gateway");
        let [(_, hear)] = &gateway[..] else { panic!("{gateway:?}") };
        assert!(hear.name == "hear" && hear.parent_span_id.is_empty(), "{hear:?}");
        let names: Vec<&str> = of_worker.iter().map(|(_, span)| span.name.as_str()).collect();
        // A packet that comes again is stored already, and acknowledged when it is verified.
        assert_eq!(names, ["queue", "verify", "commit", "acknowledge"], "{of_worker:?}");
        for (service, span) in &of_worker {
            assert!(service == "wattseal-worker" && span.parent_span_id == hear.span_id, "{span:?}");
            assert_eq!(text_of(&span.attributes, "wattseal.partition").as_deref(), Some("0.0"));
            assert_eq!(text_of(&span.attributes, "wattseal.network").as_deref(), Some("0"));
            assert!(span.start_time_unix_nano <= span.end_time_unix_nano);
        }
        let id: String = trace.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(lines(folder.path(), "gateway.log", &id), ["a packet is heard"]);
        let of_worker = lines(folder.path(), "worker.log", &id);
        assert!(of_worker.first().is_some_and(|line| line == "a packet"), "{of_worker:?}");
    }
    // A packet without effect is verified, and that is all.
    let of_unknown = traces.values().find(|spans| {
        spans.iter().any(|(_, span)| text_of(&span.attributes, "wattseal.meter").as_deref() == Some("771"))
    });
    let names: BTreeSet<String> =
        of_unknown.expect("it is traced").iter().map(|(_, span)| span.name.clone()).collect();
    assert_eq!(names, ["hear", "queue", "verify"].map(str::to_owned).into());
    // Of keys and readings there is nothing.
    let bytes = receiver.bytes.lock().expect("nobody panics").clone();
    for meter in &meters {
        let record = meter.provision.record();
        let (key128, key256) = record.keys.expose();
        for secret in [&key128[..8], &key256[..8]] {
            assert!(!bytes.windows(8).any(|window| window == secret), "a key is in a trace");
        }
    }
}

/// Of half of the packets both roles have a trace, of the others none has, and both agree.
#[test]
fn gateway_and_worker_trace_the_same_share() {
    let (folder, server, receiver) =
        (tempfile::tempdir().expect("a folder"), nats::Nats::start(), Receiver::start());
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    let otlp = format!("http://{}", receiver.address);
    let (worker, gateway, radio) =
        roles(folder.path(), &server.url(), &["--otlp", &otlp, "--otlp-sample", "0.5"]);
    for _ in 0..60 {
        radio.report(&mut meter);
    }
    gateway.stop();
    worker.stop();
    let heard =
        receiver.spans().into_iter().filter(|(_, span)| span.name == "hear").map(|(_, span)| span.trace_id);
    let (heard, committed): (BTreeSet<_>, _) = (heard.collect(), receiver.committed());
    // 2^-60 and a little more that none or all are.
    assert!((5..56).contains(&committed.len()), "{} of 60", committed.len());
    assert!(committed.is_subset(&heard), "{committed:?} {heard:?}");
}

/// Nobody takes them, or somebody takes them and never answers: readings are acknowledged as they
/// are without traces.
#[test]
fn absent_trace_collector_does_no_harm() {
    let silent = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let nobody = free_address();
    for address in [nobody, silent.local_addr().expect("bound")] {
        let (folder, server) = (tempfile::tempdir().expect("a folder"), nats::Nats::start());
        let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
        let otlp = format!("http://{address}");
        let (worker, gateway, radio) = roles(folder.path(), &server.url(), &["--otlp", &otlp]);
        for _ in 0..100 {
            radio.report(&mut meter);
        }
        let told = || {
            let log = std::fs::read_to_string(folder.path().join("worker.log")).expect("a log");
            log.matches("traces do not arrive").count()
        };
        if address == nobody {
            until("it is told of", || told() > 0);
            assert_eq!(told(), 1, "once");
        }
        assert!(gateway.stop() + worker.stop() < WITHIN);
    }
}
