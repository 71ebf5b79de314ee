//! Traces of packets, from the gateway that hears one to the acknowledgement of its report, sent by
//! OTLP (OpenTelemetry Protocol, HTTP with protobuf). docs/how-to/operations.md, "Traces". Off unless a
//! process begins them. Then spans go into a queue, and nothing waits: a span that does not fit, or
//! does not arrive, is dropped and counted.
//!
//! A packet's trace id comes from its gateway, and says by itself whether the packet is sampled:
//! gateway and worker agree without a word.

mod packet;

pub(crate) use packet::PacketSpans;

use crate::trust::{authorities, nobody};
use opentelemetry::trace::{SpanId, SpanKind, TraceId};
use opentelemetry::{InstrumentationScope, KeyValue};
use opentelemetry_otlp::{WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Sampler, SamplingDecision, ShouldSample, SpanData, SpanExporter,
    SpanProcessor,
};
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// Spans that wait to be sent at most.
const WAITING_MAX: usize = 8192;
const BATCH: usize = 512;
/// The longest wait of a span for others.
const BATCH_WITHIN: Duration = Duration::from_secs(1);
/// The longest wait for an answer, after which the receiver counts as away.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
/// At the process's end.
const LAST_WITHIN: Duration = Duration::from_secs(2);

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// The receiver of traces: `http://HOST:4318`, or https. A path of its own stands before
/// `/v1/traces`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(reqwest::Url);

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Endpoint, String> {
        let wrong = "write it as http://HOST:4318, or with https";
        let mut url: reqwest::Url = text.parse().map_err(|_| wrong.to_owned())?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(
                "no password here: OTEL_EXPORTER_OTLP_HEADERS in the environment has what is to be told"
                    .into(),
            );
        }
        if !matches!(url.scheme(), "http" | "https")
            || !url.has_host()
            || url.query().is_some()
            || url.fragment().is_some()
        {
            return Err(wrong.into());
        }
        let path = format!("{}/v1/traces", url.path().trim_end_matches('/'));
        url.set_path(&path);
        Ok(Endpoint(url))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The share of packets that are traced, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Share(f64);

impl FromStr for Share {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Share, &'static str> {
        let share: Option<f64> = text.parse().ok();
        share
            .filter(|share| (0.0..=1.0).contains(share))
            .map(Share)
            .ok_or("write a number from 0 to 1, such as 0.01")
    }
}

/// The configuration of traces.
#[derive(Clone, Debug)]
pub struct Otlp {
    pub endpoint: Endpoint,
    /// The authorities that are trusted with https; `None`: those that this system trusts.
    pub ca: Option<PathBuf>,
    pub share: Share,
    /// `gateway`, `worker` or `collect`.
    pub role: &'static str,
    /// The name of this process among others of its role.
    pub instance: String,
}

/// Takes spans, for the process's life.
#[derive(Debug)]
struct Recorder {
    processor: BatchSpanProcessor,
    sampler: Sampler,
    scope: InstrumentationScope,
}

/// Traces are sent while it is there; dropped, it sends what waits, within two seconds.
#[derive(Debug)]
pub struct Traces(&'static Recorder);

impl Traces {
    /// Begins to trace packets, once in a process, outside of any runtime: the sender has a thread
    /// of its own.
    ///
    /// # Errors
    /// A sentence: what is wrong with the authorities, or that it was begun already.
    pub fn begin(otlp: Otlp) -> Result<Traces, String> {
        let Otlp { endpoint, ca, share, role, instance } = otlp;
        let trusted = match endpoint.0.scheme() {
            "https" => authorities(ca.as_deref(), "--otlp-ca")?,
            _ => nobody()?,
        };
        let client = reqwest::blocking::Client::builder()
            .timeout(ANSWER_WITHIN)
            .redirect(reqwest::redirect::Policy::none())
            .tls_backend_preconfigured((*trusted).clone());
        let client = client.build().map_err(|error| format!("--otlp: {error}"))?;
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(client)
            .with_endpoint(endpoint.to_string())
            .with_timeout(ANSWER_WITHIN)
            .build()
            .map_err(|error| format!("--otlp {endpoint}: {error}"))?;
        let exporter =
            Told { exporter, endpoint, away: AtomicBool::default(), dropped: AtomicU64::default() };
        let config = BatchConfigBuilder::default()
            .with_max_queue_size(WAITING_MAX)
            .with_max_export_batch_size(BATCH)
            .with_scheduled_delay(BATCH_WITHIN)
            .build();
        let mut processor = BatchSpanProcessor::builder(exporter).with_batch_config(config).build();
        let version = env!("CARGO_PKG_VERSION");
        let resource = Resource::builder_empty().with_attributes([
            KeyValue::new("service.namespace", "wattseal"),
            KeyValue::new("service.name", format!("wattseal-{role}")),
            KeyValue::new("service.instance.id", instance),
            KeyValue::new("service.version", version),
        ]);
        processor.set_resource(&resource.build());
        let scope = InstrumentationScope::builder("wattseal-collector").with_version(version).build();
        let recorder = Recorder { processor, sampler: Sampler::TraceIdRatioBased(share.0), scope };
        RECORDER.set(recorder).map_err(|_| "traces were begun already".to_owned())?;
        RECORDER.get().map(Traces).ok_or_else(|| "traces cannot be begun".to_owned())
    }
}

impl Drop for Traces {
    fn drop(&mut self) {
        // A receiver that is away misses the last ones; that was logged.
        let _ = self.0.processor.shutdown_with_timeout(LAST_WITHIN);
    }
}

impl Recorder {
    /// Of this process, if it traces the packets of this id.
    fn of(trace: TraceId) -> Option<&'static Recorder> {
        let recorder = RECORDER.get()?;
        let sampled = recorder.sampler.should_sample(None, trace, "", &SpanKind::Internal, &[], &[]);
        matches!(sampled.decision, SamplingDecision::RecordAndSample).then_some(recorder)
    }
}

pub(crate) fn new_trace() -> TraceId {
    TraceId::from_bytes(rand::random())
}

/// The id of a trace's first span, which is made of the trace's, so that it need not be told.
fn first_span(trace: TraceId) -> SpanId {
    let [high @ .., _, _, _, _, _, _, _, _] = trace.to_bytes();
    SpanId::from_bytes(high)
}

/// Says when traces do not arrive, and when they do again, once each.
#[derive(Debug)]
struct Told {
    exporter: opentelemetry_otlp::SpanExporter,
    endpoint: Endpoint,
    away: AtomicBool,
    dropped: AtomicU64,
}

impl SpanExporter for Told {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len() as u64;
        let exported = self.exporter.export(batch).await;
        let endpoint = &self.endpoint;
        match &exported {
            Ok(()) if self.away.swap(false, Ordering::Relaxed) => {
                let dropped = self.dropped.swap(0, Ordering::Relaxed);
                tracing::info!(%endpoint, dropped, "traces arrive again");
            }
            Ok(()) => {}
            Err(error) => {
                self.dropped.fetch_add(spans, Ordering::Relaxed);
                if !self.away.swap(true, Ordering::Relaxed) {
                    tracing::warn!(%endpoint, %error, "traces do not arrive; spans are dropped, and nothing else");
                }
            }
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trace_destination_is_read() {
        for (text, url) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318/v1/traces"),
            ("https://otel.lan/tenant/", "https://otel.lan/tenant/v1/traces"),
        ] {
            assert_eq!(text.parse::<Endpoint>().expect(text).to_string(), url);
        }
        for wrong in
            ["", "127.0.0.1:4318", "grpc://a", "http://a:b@c", "http://a?b", "http://a#b", "file:///a"]
        {
            wrong.parse::<Endpoint>().expect_err(wrong);
        }
        for wrong in ["", "-0.1", "1.1", "NaN", "inf"] {
            wrong.parse::<Share>().expect_err(wrong);
        }
    }

    #[test]
    fn a_trace_s_first_span_is_known_from_its_id() {
        let trace = TraceId::from_bytes(*b"0123456789abcdef");
        assert_eq!(first_span(trace).to_bytes(), *b"01234567");
    }
}
