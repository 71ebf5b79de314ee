//! A concentrator: packets of unknown meters, and messages of the other collector, all of any bytes
//! and in any order. Waiting and unfinished messages keep their bounds. An acknowledgement goes
//! where its meter was heard, and ends only its own reports.
//!
//! The input: datagrams, each behind two bytes. The first has its length in bits 0 to 5, and in bit
//! 7 whether it is the other collector's; the second is who sent it.
#![no_main]

use collector::forward::exchange::{Exchange, Taken};
use collector::gateway::udp::datagram;
use collector::gateway::{GatewayId, HeardPacket, Route};
use collector::store::{METER_OUTBOX_MAX, OutboxRecord};
use libfuzzer_sys::fuzz_target;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;
use wire::meter::{MessageKind, Packet, RenewalPacket, UpdatePacket, pieces};

fuzz_target!(|bytes: &[u8]| {
    let mut exchange = Exchange::new(StdRng::seed_from_u64(0));
    // The reports that are stored.
    let mut stored: BTreeSet<i64> = BTreeSet::new();
    let mut heard: HashMap<u16, HashSet<Route>> = HashMap::new();
    let mut known: HashSet<(u16, Route)> = HashSet::new();
    let mut sent = 0;
    let begun = Instant::now();
    let mut rest = bytes;
    let mut step = 0;
    while let [head, from, behind @ ..] = rest {
        let (packet, behind) = behind.split_at(usize::from(head & 0x3f).min(behind.len()));
        (rest, step) = (behind, step + 1);
        let at = begun + Duration::from_millis(100 * step);
        let parsed = Packet::parse(packet).ok();
        if head & 0x80 == 0 {
            let route = Route { gateway: GatewayId::of(u32::from(*from)), peer: None };
            let taken = exchange.take(&HeardPacket { route, bytes: packet.to_vec(), rssi_dbm: None }, at, 0);
            assert!(parsed.is_some() || taken == Taken::Rejected || (taken == Taken::Answer && part(packet).is_some()));
            if let Some(packet) = parsed.filter(|_| taken != Taken::Rejected) {
                heard.entry(packet.meter).or_default().insert(route);
            }
            match taken {
                Taken::Rejected | Taken::Piece | Taken::Answer | Taken::Duplicate => {}
                Taken::Waits { gone } => stored.retain(|id| !gone.contains(id)),
                Taken::Whole(whole) => {
                    let message = whole.message;
                    assert_eq!(Some(message.name), parsed.map(|packet| packet.meter));
                    assert!(known.contains(&(message.name, whole.route)), "only what was acknowledged is stored");
                    let record = OutboxRecord {
                        id: step as i64,
                        address: message.address,
                        name: message.name,
                        kind: message.kind,
                        suite: message.suite,
                        number_lsb: message.number_lsb,
                        message: message.message,
                        heard_ms: 0,
                    };
                    stored.insert(record.id);
                    for id in exchange.insert(record, Some((whole.route, None)), at) {
                        stored.remove(&id);
                    }
                }
            }
        } else {
            // Of what is no packet the whole datagram is any bytes, too.
            let whole = datagram(packet, None).filter(|_| from & 1 == 0).unwrap_or_else(|| packet.to_vec());
            if let Some(answered) = exchange.answered(&whole, at) {
                let of_message = Packet::parse(answered.packet).map(|packet| (packet.kind, packet.meter));
                let (kind, name) = part(answered.packet).or(of_message.ok()).expect("it is one");
                assert!(matches!(kind, MessageKind::Acknowledgement | MessageKind::Command));
                let of_name = heard.get(&name);
                assert!(answered.routes.iter().all(|route| of_name.is_some_and(|of_name| of_name.contains(route))));
                assert!(answered.delivered.is_empty() || kind == MessageKind::Acknowledgement);
                if !answered.delivered.is_empty() {
                    known.extend(answered.routes.iter().map(|route| (name, *route)));
                }
                for id in answered.delivered {
                    assert!(id < 0 || stored.remove(&id));
                }
            }
        }
        assert!(exchange.waiting() >= stored.len() && exchange.waiting() <= heard.len() * 2 * METER_OUTBOX_MAX);
        assert!(exchange.unfinished_bytes() <= heard.values().map(HashSet::len).sum::<usize>() * 2 * 144);
        while let Some(id) = exchange.due(at) {
            assert!(!exchange.expire(id, SystemTime::UNIX_EPOCH));
            let (message, _) = exchange.sent(id, at).expect("it waits");
            sent += pieces(message.kind, message.suite);
        }
    }
    // The bounds on packets at once, and in a second, of unknown and of known meters.
    let seconds = step.div_ceil(10) as usize;
    assert!(sent <= 203 + 100 * seconds + if known.is_empty() { 0 } else { 503 + 2000 * seconds });
});

/// Of a renewal or an image.
fn part(bytes: &[u8]) -> Option<(MessageKind, u16)> {
    let renewal = RenewalPacket::parse(bytes).map(|packet| (packet.kind, packet.meter));
    renewal.or_else(|| UpdatePacket::parse(bytes).map(|packet| (packet.kind, packet.meter)))
}
