//! The spans of one packet, one behind the other.

use super::{RECORDER, Recorder, first_span, new_trace};
use crate::network::NetworkId;
use crate::partition::Partition;
use opentelemetry::KeyValue;
use opentelemetry::trace::{SpanContext, SpanId, SpanKind, Status, TraceFlags, TraceId, TraceState};
use opentelemetry_sdk::trace::{SpanData, SpanEvents, SpanLinks, SpanProcessor};
use std::time::SystemTime;

/// A packet that is sampled. Its attributes are those that a gateway sees, too: its network and the
/// meter's name.
#[derive(Debug)]
pub(crate) struct PacketSpans {
    recorder: &'static Recorder,
    trace: TraceId,
    /// When the span began that is not over.
    since: SystemTime,
    attributes: Vec<KeyValue>,
}

impl PacketSpans {
    /// Of a packet that was heard at a time; `None`: it is not sampled, or nobody asked for traces.
    pub(crate) fn of(
        trace: TraceId,
        network: NetworkId,
        packet: &[u8],
        since: SystemTime,
    ) -> Option<Box<PacketSpans>> {
        let recorder = Recorder::of(trace)?;
        let mut attributes = vec![KeyValue::new("wattseal.network", i64::from(network.0))];
        // docs/reference/protocol.md, "Packets".
        if let [_, _, high, low, ..] = packet {
            let meter = network.meter(u16::from_be_bytes([*high, *low]));
            attributes.push(KeyValue::new("wattseal.meter", meter.to_string()));
        }
        Some(Box::new(PacketSpans { recorder, trace, since, attributes }))
    }

    /// Of a packet that this process heard just now, and takes itself; `None` as above.
    pub(crate) fn begin(network: NetworkId, packet: &[u8]) -> Option<Box<PacketSpans>> {
        // Without it there is nothing to draw.
        RECORDER.get()?;
        let spans = PacketSpans::of(new_trace(), network, packet, SystemTime::now())?;
        spans.first("hear");
        Some(spans)
    }

    pub(crate) fn trace(&self) -> TraceId {
        self.trace
    }

    pub(crate) fn in_partition(mut self: Box<Self>, partition: Partition) -> Box<PacketSpans> {
        self.attributes.push(KeyValue::new("wattseal.partition", partition.to_string()));
        self
    }

    /// The trace's first span is over: it goes from `since` until now, and is the others' parent.
    pub(crate) fn first(&self, name: &'static str) {
        self.record(name, first_span(self.trace), SpanId::INVALID, SpanKind::Producer);
    }

    /// A span is over; the next one begins.
    pub(crate) fn next(&mut self, name: &'static str) {
        let id = SpanId::from_bytes(rand::random());
        self.since = self.record(name, id, first_span(self.trace), SpanKind::Internal);
    }

    fn record(&self, name: &'static str, id: SpanId, parent: SpanId, kind: SpanKind) -> SystemTime {
        let end_time = SystemTime::now();
        self.recorder.processor.on_end(SpanData {
            span_context: SpanContext::new(self.trace, id, TraceFlags::SAMPLED, false, TraceState::default()),
            parent_span_id: parent,
            parent_span_is_remote: parent != SpanId::INVALID,
            span_kind: kind,
            name: name.into(),
            // Another machine's clock may be ahead.
            start_time: self.since.min(end_time),
            end_time,
            attributes: self.attributes.clone(),
            dropped_attributes_count: 0,
            events: SpanEvents::default(),
            links: SpanLinks::default(),
            status: Status::Unset,
            instrumentation_scope: self.recorder.scope.clone(),
        });
        end_time
    }
}
