//! What a concentrator makes of packets, of whatever bytes: of meters that are not known here, and of the other collector. It knows no
//! socket, no clock and no store.

use super::waiting::{Name, Waiting};
use crate::gateway::udp::parse;
use crate::gateway::{HeardPacket, Route};
use crate::store::{NewOutbox, OutboxRecord};
use std::collections::HashMap;
use std::time::SystemTime;
use tokio::time::Instant;
use wire::meter::{Kind, MeterId, Packet, Reassembly};

/// A report that was put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// As it is stored, and sent.
    pub message: NewOutbox,
    /// Where its last piece was heard.
    pub route: Route,
    /// How strong that was, in dBm.
    pub rssi_dbm: Option<i8>,
}

/// What a packet of a meter leads to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing: it is no packet, or none that goes this way.
    Refused,
    /// Nothing yet.
    Piece,
    /// An answer, which goes on as it is: it has one piece, and no acknowledgement. A command is sent again until its answer comes.
    Answer,
    /// A report that waits already, by its id: its meter says it again, and so it goes again.
    Again(i64),
    /// A report that is new.
    Whole(Whole),
}

/// What the other collector says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered<'a> {
    /// To be sent by radio as it is.
    pub packet: &'a [u8],
    /// An acknowledgement or a command.
    pub kind: Kind,
    /// Where to.
    pub routes: Vec<Route>,
    /// The reports that wait no more, by id.
    pub delivered: Vec<i64>,
}

/// What is between meters and the collector that knows them.
#[derive(Default)]
pub struct Exchange {
    waiting: Waiting,
    /// Messages of several pieces, by name; only while there is something of them.
    begun: HashMap<MeterId, Reassembly>,
    /// Where a name was heard last. Anybody may have sent that.
    heard: HashMap<MeterId, Route>,
    /// Where a message came from that was acknowledged later: by who has the key.
    proved: HashMap<MeterId, Route>,
}

impl Exchange {
    /// Takes a packet of a meter that is not known here. Any bytes. at, at_ms: now, and in Unix time.
    pub fn take(&mut self, heard: &HeardPacket, at: Instant, at_ms: i64) -> Taken {
        let Ok(packet) = Packet::parse(&heard.bytes) else { return Taken::Refused };
        let (name, route) = (packet.meter, heard.route);
        match packet.kind {
            Kind::Answer => {
                self.heard.insert(name, route);
                return Taken::Answer;
            }
            Kind::Report => {}
            Kind::Acknowledgement | Kind::Command => return Taken::Refused,
        }
        self.heard.insert(name, route);
        let begun = self.begun.entry(name).or_default();
        let whole = begun.take(&packet);
        if begun.held_bytes() == 0 {
            self.begun.remove(&name);
        }
        let Some(whole) = whole else { return Taken::Piece };
        let message = NewOutbox {
            address: packet.address,
            name,
            kind: whole.kind,
            suite: whole.suite,
            low: whole.low,
            message: whole.bytes,
            heard_ms: at_ms,
        };
        // Again: it is stored already.
        match self.waiting.heard_again(&message, route, heard.rssi_dbm, at) {
            Some(id) => Taken::Again(id),
            None => Taken::Whole(Whole { message, route, rssi_dbm: heard.rssi_dbm }),
        }
    }

    /// Takes what the other collector says. Any bytes. `None`: it is nothing that goes to a meter.
    pub fn answered<'a>(&mut self, datagram: &'a [u8]) -> Option<Answered<'a>> {
        let (bytes, _) = parse(datagram)?;
        let packet = Packet::parse(bytes).ok()?;
        let name = packet.meter;
        let (mut routes, mut delivered) = (Vec::new(), Vec::new());
        match packet.kind {
            Kind::Acknowledgement => {
                delivered = self.waiting.named(Name { name, low: packet.low, suite: packet.suite });
                for id in &delivered {
                    if let Some(Some((route, _))) = self.waiting.remove(*id) {
                        routes.push(route);
                        self.proved.insert(name, route);
                    }
                }
            }
            Kind::Command => {}
            Kind::Report | Kind::Answer => return None,
        }
        if routes.is_empty() {
            routes.extend(self.proved.get(&name).or_else(|| self.heard.get(&name)).copied());
        }
        routes.dedup();
        Some(Answered { packet: bytes, kind: packet.kind, routes, delivered })
    }

    /// Forgets as many of the oldest reports as have to go for one more of this meter, and for `more` in all. Nothing is lost by that:
    /// meters have what was not acknowledged.
    pub fn make_room(&mut self, meter: MeterId, more: usize) -> Vec<i64> {
        self.waiting.make_room(meter, more)
    }

    /// Has a report wait that is stored, and due at `at`. from: where it was heard, and how strong it was in dBm, where that is known.
    pub fn insert(&mut self, record: OutboxRecord, from: Option<(Route, Option<i8>)>, at: Instant) {
        self.waiting.insert(record, from, at);
    }

    /// The report that waits by that id, to be sent now, with the strength it was heard with; it is due later again.
    pub fn sent(&mut self, id: i64, now: Instant) -> Option<(NewOutbox, Option<i8>)> {
        self.waiting.sent(id, now)
    }

    /// When the next report is due.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        self.waiting.next_at()
    }

    /// The next report that is due by now.
    #[must_use]
    pub fn due(&self, now: Instant) -> Option<i64> {
        self.waiting.due(now)
    }

    /// Forgets a report if it waited for too long, and says whether it did.
    pub fn give_up(&mut self, id: i64, now: SystemTime) -> bool {
        let is_over = self.waiting.is_over(id, now);
        if is_over {
            self.waiting.remove(id);
        }
        is_over
    }

    /// Reports that wait.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Bytes of messages that are not whole yet.
    #[must_use]
    pub fn unfinished_bytes(&self) -> usize {
        self.begun.values().map(Reassembly::held_bytes).sum()
    }
}
