//! Packets that wait in a queue elsewhere until it is known what became of them.

use crate::gateway::HeardPacket;
use crate::network::NetworkId;
use crate::traces::PacketSpans;
use opentelemetry::trace::TraceId;
use tokio::sync::mpsc::UnboundedSender;

/// A packet as a queue elsewhere hands it over.
#[derive(Debug)]
pub(crate) struct QueuedPacket {
    pub(crate) packet: HeardPacket,
    /// When it was heard, in Unix ms; `None`: now.
    pub(crate) heard_ms: Option<i64>,
    pub(crate) receipt: Option<Receipt>,
}

impl QueuedPacket {
    /// Makes a packet of a gateway of this process: no queue waits for it, but its trace, if it has
    /// one.
    pub(crate) fn heard_here(network: NetworkId, packet: HeardPacket) -> QueuedPacket {
        let receipt = PacketSpans::begin(network, &packet.bytes).map(|spans| {
            let trace = spans.trace();
            Receipt { queue: None, outcome: Outcome::Again, trace, spans: Some(spans) }
        });
        QueuedPacket { packet, heard_ms: None, receipt }
    }
}

/// The result of a packet that waited in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Its effect is durable, or it had none.
    Done,
    /// It could not be stored, and is to come again.
    Again,
}

/// The place of a packet in a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct QueuePlace {
    /// The message's number in the queue.
    pub(crate) message: u64,
    /// Number of packets in it.
    pub(crate) packet: u8,
}

/// A packet's place in the queue, and its trace. [`Receipt::done`] is called when what it led to is
/// durable, or when it led to nothing; dropped without that, the packet is to come again.
#[derive(Debug)]
pub(crate) struct Receipt {
    /// The queue that hears the result; `None`: its gateway is of this process.
    queue: Option<(QueuePlace, UnboundedSender<(QueuePlace, Outcome)>)>,
    outcome: Outcome,
    trace: TraceId,
    /// `None`: it is not sampled.
    spans: Option<Box<PacketSpans>>,
}

impl Receipt {
    /// told: hears what became of this packet.
    pub(crate) fn new(place: QueuePlace, told: UnboundedSender<(QueuePlace, Outcome)>) -> Receipt {
        Receipt { queue: Some((place, told)), outcome: Outcome::Again, trace: TraceId::INVALID, spans: None }
    }

    /// Its place among the packets of its message.
    pub(crate) fn packet(&self) -> u8 {
        self.queue.as_ref().map_or(0, |(place, _)| place.packet)
    }

    pub(crate) fn traced(mut self, trace: TraceId, spans: Option<Box<PacketSpans>>) -> Receipt {
        (self.trace, self.spans) = (trace, spans);
        self
    }

    pub(crate) fn done(mut self) {
        self.outcome = Outcome::Done;
    }
}

impl Drop for Receipt {
    fn drop(&mut self) {
        if let Some((place, told)) = self.queue.take() {
            // The queue may have been left.
            let _ = told.send((place, self.outcome));
        }
    }
}

/// Those of a message's packets; none, where its gateway is of this process and it has no trace.
#[derive(Debug, Default)]
pub(crate) struct Receipts(Vec<Receipt>);

impl Receipts {
    pub(crate) fn of(receipt: Option<Receipt>) -> Receipts {
        Receipts(receipt.into_iter().collect())
    }

    /// The trace of the packet that came last.
    pub(crate) fn trace(&self) -> Option<TraceId> {
        self.0.first().map(|receipt| receipt.trace)
    }

    /// Ends a span of these packets' traces.
    pub(crate) fn span(&mut self, name: &'static str) {
        for spans in self.0.iter_mut().filter_map(|receipt| receipt.spans.as_mut()) {
            spans.next(name);
        }
    }

    /// Reports that the effect of these packets is durable, or that they had none.
    pub(crate) fn done(self) {
        self.0.into_iter().for_each(Receipt::done);
    }

    /// The number of these packets.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Takes the first of these packets' receipts out; there is one.
    pub(crate) fn remove_first(&mut self) -> Receipt {
        self.0.remove(0)
    }

    /// Together with those of packets before.
    pub(crate) fn after(&mut self, before: Option<Receipts>) {
        self.0.extend(before.into_iter().flat_map(|before| before.0));
    }
}
