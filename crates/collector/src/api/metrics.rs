//! Figures for Prometheus, in its text format 0.0.4.

use super::error::ApiError;
use super::state::{Api, now_ms};
use crate::forward::ForwardCounts;
use crate::meters::Snapshot;
use crate::store::{CommitTimes, Health, Meter, MeterFilter};
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use std::fmt::{Display, Write};
use std::sync::atomic::{AtomicU64, Ordering};

/// Figures of service and meters, for Prometheus.
#[utoipa::path(get, path = "/metrics", tag = "service",
    responses((status = OK, description = "Prometheus text format", content_type = "text/plain", body = String)))]
pub(super) async fn metrics(State(api): State<Api>) -> Result<Response, ApiError> {
    let meters = api.read(|reader| reader.meters(MeterFilter::All, now_ms())).await?;
    let health = api.parts.reader.health();
    // A session with too much to do is a figure, too.
    let snapshot = api.parts.meters.snapshot().await.ok();
    let mut text = Text::default();
    text.head("wattseal_build_info", "gauge", "The version, as a label");
    text.labelled("wattseal_build_info", &[("version", env!("CARGO_PKG_VERSION"))], 1);
    // Of a process without a session the workers tell, each by itself.
    if !api.parts.meters.networks().is_empty() {
        store(&mut text, &health, api.parts.meters.store_ok(), snapshot.is_some());
        if let Some(snapshot) = &snapshot {
            sessions(&mut text, snapshot);
        }
    }
    if let Some(counts) = &api.parts.forward {
        forward(&mut text, counts);
    }
    by_meter(&mut text, &meters);
    Ok(([(header::CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], text.0).into_response())
}

pub(crate) fn store(text: &mut Text, health: &Health, store_ok: bool, link_ok: bool) {
    text.one("wattseal_link_up", "gauge", "Whether the link answers", u8::from(link_ok));
    let stores = store_ok && health.trouble.is_none();
    text.one(
        "wattseal_store_up",
        "gauge",
        "Whether readings are stored, and so acknowledged",
        u8::from(stores),
    );
    text.one("wattseal_store_batches_total", "counter", "Transactions since the start", health.batches);
    text.one(
        "wattseal_store_failed_batches_total",
        "counter",
        "Transactions that failed since the start",
        health.failed,
    );
    text.one(
        "wattseal_store_compared_readings_total",
        "counter",
        "Readings since the start that were compared with their sums",
        health.compared,
    );
    text.one(
        "wattseal_store_damaged",
        "gauge",
        "Whether one of them is not as it was stored",
        u8::from(health.damage.is_some()),
    );
    let last_s = health.last_commit_us as f64 * 1e-6;
    text.one("wattseal_store_last_commit_seconds", "gauge", "What the last transaction took", last_s);
    text.commit_times("wattseal_commit_seconds", "What transactions took", &health.commit_times);
    text.one("wattseal_store_database_bytes", "gauge", "Size of the database", health.database_bytes);
    text.one("wattseal_store_log_bytes", "gauge", "Size of its write-ahead log", health.log_bytes);
}

pub(crate) fn sessions(text: &mut Text, counted: &Snapshot) {
    text.one("wattseal_packets_total", "counter", "Packets that gateways heard", counted.packets);
    text.head("wattseal_dropped_total", "counter", "What was dropped for want of room, and comes again");
    text.labelled("wattseal_dropped_total", &[("what", "packets")], counted.dropped_packets);
    text.labelled("wattseal_dropped_total", &[("what", "messages")], counted.dropped_messages);
    text.one(
        "wattseal_reports_total",
        "counter",
        "Reports that were stored and acknowledged",
        counted.reports,
    );
    text.one("wattseal_repeats_total", "counter", "Reports that came again", counted.repeats);
    text.one("wattseal_answers_total", "counter", "Answers to commands", counted.answers);
    text.one("wattseal_sent_packets_total", "counter", "Packets that were sent", counted.sent_packets);
    text.head("wattseal_refused_total", "counter", "Packets that were refused, by reason");
    for (reason, count) in counted.refused.iter() {
        text.labelled("wattseal_refused_total", &[("reason", reason)], count);
    }
    text.one("wattseal_meters", "gauge", "Meters that there are", counted.meters);
    text.one(
        "wattseal_meters_online",
        "gauge",
        "Meters that were heard within three intervals",
        counted.online,
    );
    text.one(
        "wattseal_waiting_commands",
        "gauge",
        "Commands that are not answered",
        counted.waiting_commands,
    );
    text.one(
        "wattseal_unfinished_bytes",
        "gauge",
        "Bytes of messages that are not whole yet",
        counted.unfinished_bytes,
    );
    text.one("wattseal_queued_packets", "gauge", "Packets that wait for the link", counted.queued_packets);
    text.one("wattseal_opening", "gauge", "Messages that are being opened, or wait for it", counted.opening);
    text.one("wattseal_commits_total", "counter", "Transactions of the link", counted.commits);
    text.one("wattseal_commits_seconds_total", "counter", "What they took", counted.commits_s);
    let behind = u8::from(counted.clock_behind);
    text.one("wattseal_clock_behind", "gauge", "Whether the clock is behind what was stored before", behind);
}

/// Of a concentrator alone.
fn forward(text: &mut Text, counts: &ForwardCounts) {
    let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
    let up = u8::from(counts.answers_us.load(Ordering::Relaxed));
    text.one(
        "wattseal_forward_up",
        "gauge",
        "Whether the other collector answered what was sent to it last",
        up,
    );
    let waiting = counts.waiting.load(Ordering::Relaxed);
    text.one(
        "wattseal_forward_waiting",
        "gauge",
        "Reports that the other collector has not acknowledged",
        waiting,
    );
    text.one(
        "wattseal_forward_unknown_meters",
        "gauge",
        "Those of them that came from where nothing of their meter was acknowledged",
        counts.unknown_meters.load(Ordering::Relaxed),
    );
    for (name, help, count) in [
        ("reports", "Reports of its meters that were put together", &counts.reports),
        ("delivered", "Reports that it acknowledged", &counts.delivered),
        (
            "given_up",
            "Reports that went unacknowledged, for want of room or because of their age",
            &counts.given_up,
        ),
        ("answers", "Answers to its commands that were passed on", &counts.answers),
        ("messages", "Times that a report or an answer was sent to it", &counts.forwarded),
        ("acknowledgements", "Acknowledgements of it that were passed on", &counts.acknowledged),
        ("command_packets", "Packets of its commands that were passed on", &counts.command_packets),
        (
            "refused",
            "Packets and datagrams that are none, or go no such way, and answers that are no known meter's",
            &counts.refused,
        ),
    ] {
        text.one(&format!("wattseal_forward_{name}_total"), "counter", help, read(count));
    }
}

fn by_meter(text: &mut Text, meters: &[Meter]) {
    text.each(meters, "wattseal_meter_info", "gauge", "Name and suite, as labels", |meter| {
        let label = escaped(&meter.label);
        Some((format!(",label=\"{label}\",suite=\"{}\",revoked=\"{}\"", meter.suite, meter.revoked), 1.0))
    });
    let plain = |value: f64| (String::new(), value);
    text.each(
        meters,
        "wattseal_meter_online",
        "gauge",
        "Whether it was heard within three intervals",
        |meter| Some(plain(f64::from(u8::from(meter.online)))),
    );
    text.each(
        meters,
        "wattseal_meter_power_watts",
        "gauge",
        "Mean real power of its last reading",
        |meter| Some(plain(meter.last?.power_w.into())),
    );
    text.each(meters, "wattseal_meter_energy_watt_hours_total", "counter", "Its register", |meter| {
        Some(plain(meter.last?.energy_wh))
    });
    text.each(
        meters,
        "wattseal_meter_reading_timestamp_seconds",
        "gauge",
        "When its last reading was taken",
        |meter| Some(plain(meter.last?.at_s as f64)),
    );
    text.each(meters, "wattseal_meter_heard_timestamp_seconds", "gauge", "When it was heard last", |meter| {
        Some(plain(meter.heard_s? as f64))
    });
    text.each(meters, "wattseal_meter_rssi_dbm", "gauge", "How strong its last packet was", |meter| {
        Some(plain(meter.link.rssi_dbm?.into()))
    });
    text.each(meters, "wattseal_meter_reports_total", "counter", "Reports that were stored", |meter| {
        Some(plain(meter.link.reports as f64))
    });
    text.each(meters, "wattseal_meter_repeats_total", "counter", "Reports that came again", |meter| {
        Some(plain(meter.link.repeats as f64))
    });
    text.each(meters, "wattseal_meter_refused_total", "counter", "Packets refused in its name", |meter| {
        Some(plain(meter.link.refused as f64))
    });
    text.each(
        meters,
        "wattseal_meter_lost_total",
        "counter",
        "Measurements that it lost for want of room",
        |meter| Some(plain(meter.link.lost as f64)),
    );
    text.each(meters, "wattseal_meter_open_alerts", "gauge", "Alerts that nobody acknowledged", |meter| {
        Some(plain(meter.open_alerts.into()))
    });
    text.each(
        meters,
        "wattseal_meter_waiting_commands",
        "gauge",
        "Commands that are not answered",
        |meter| Some(plain(meter.waiting_commands.into())),
    );
}

/// Figures as they are written down.
#[derive(Default)]
pub(crate) struct Text(pub(crate) String);

// Writing into a string does not fail.
impl Text {
    pub(crate) fn head(&mut self, name: &str, kind: &str, help: &str) {
        let _ = writeln!(self.0, "# HELP {name} {help}.\n# TYPE {name} {kind}");
    }

    pub(crate) fn one(&mut self, name: &str, kind: &str, help: &str, value: impl Display) {
        self.head(name, kind, help);
        let _ = writeln!(self.0, "{name} {value}");
    }

    pub(crate) fn labelled(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) {
        let labels: Vec<String> =
            labels.iter().map(|(label, text)| format!("{label}=\"{}\"", escaped(text))).collect();
        let _ = writeln!(self.0, "{name}{{{}}} {value}", labels.join(","));
    }

    fn commit_times(&mut self, name: &str, help: &str, times: &CommitTimes) {
        self.head(name, "histogram", help);
        let mut all = 0;
        for (up_to_us, count) in times.up_to() {
            let le = up_to_us.map_or("+Inf".to_owned(), |us| (us as f64 * 1e-6).to_string());
            self.labelled(&format!("{name}_bucket"), &[("le", &le)], count);
            all = count;
        }
        let _ = writeln!(self.0, "{name}_sum {}\n{name}_count {all}", times.sum_us() as f64 * 1e-6);
    }

    /// A line for each meter that has such a figure; what is asked for gives more labels, and the
    /// figure.
    fn each(
        &mut self,
        meters: &[Meter],
        name: &str,
        kind: &str,
        help: &str,
        ask: impl Fn(&Meter) -> Option<(String, f64)>,
    ) {
        self.head(name, kind, help);
        for meter in meters {
            if let Some((labels, value)) = ask(meter) {
                let (id, network) = (meter.meter.meter, meter.meter.network.named());
                let network = network.map_or_else(String::new, |network| format!(",network=\"{network}\""));
                let _ = writeln!(self.0, "{name}{{meter=\"{id}\"{network}{labels}}} {value}");
            }
        }
    }
}

/// A label's text as the format wants it.
fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}
