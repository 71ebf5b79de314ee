//! A concentrator: packets of meters that are not its own, and what the other collector says, all of any bytes and in any order. What waits
//! and what is begun keep their bounds; an acknowledgement goes where its meter was heard, and ends its own reports alone.
//!
//! The input: datagrams, each behind two bytes. The first has its length in bits 0 to 5, and in bit 7 whether it is the other
//! collector's; the second is who sent it.
#![no_main]

use collector::forward::exchange::{Exchange, Taken};
use collector::gateway::udp::datagram;
use collector::gateway::{GatewayId, HeardPacket, Route};
use collector::store::{MOST_OUTBOX_OF_A_METER, OutboxRecord};
use libfuzzer_sys::fuzz_target;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::{Duration, SystemTime};
use tokio::time::Instant;
use wire::meter::{Kind, Packet};

fuzz_target!(|bytes: &[u8]| {
    let mut exchange = Exchange::default();
    let mut waiting: BTreeMap<i64, OutboxRecord> = BTreeMap::new();
    let mut heard: HashMap<u16, HashSet<Route>> = HashMap::new();
    let begun = Instant::now();
    let mut rest = bytes;
    let mut step = 0;
    while let [head, from, behind @ ..] = rest {
        let (packet, behind) = behind.split_at(usize::from(head & 0x3f).min(behind.len()));
        (rest, step) = (behind, step + 1);
        let at = begun + Duration::from_millis(100 * step);
        let parsed = Packet::parse(packet).ok();
        if head & 0x80 == 0 {
            let route = Route { gateway: GatewayId(u16::from(*from)), peer: None };
            let taken = exchange.take(&HeardPacket { route, bytes: packet.to_vec(), rssi_dbm: None }, at, 0);
            assert!(parsed.is_some() || taken == Taken::Refused);
            if let Some(packet) = parsed.filter(|_| taken != Taken::Refused) {
                heard.entry(packet.meter).or_default().insert(route);
            }
            match taken {
                Taken::Refused | Taken::Piece | Taken::Answer => {}
                Taken::Again(id) => assert!(waiting.contains_key(&id)),
                Taken::Whole(whole) => {
                    for id in exchange.make_room(whole.message.name, 1) {
                        assert!(waiting.remove(&id).is_some());
                    }
                    let message = whole.message;
                    assert_eq!(Some(message.name), parsed.map(|packet| packet.meter));
                    let record = OutboxRecord {
                        id: step as i64,
                        address: message.address,
                        name: message.name,
                        kind: message.kind,
                        suite: message.suite,
                        low: message.low,
                        message: message.message,
                        heard_ms: 0,
                    };
                    exchange.insert(record.clone(), Some((whole.route, None)), at);
                    waiting.insert(record.id, record);
                }
            }
        } else {
            // Of what is no packet the whole datagram is any bytes, too.
            let whole = datagram(packet, None).filter(|_| from & 1 == 0).unwrap_or_else(|| packet.to_vec());
            if let Some(answered) = exchange.answered(&whole) {
                let packet = Packet::parse(answered.packet).expect("it is one");
                assert!(matches!(packet.kind, Kind::Acknowledgement | Kind::Command));
                let known = heard.get(&packet.meter);
                assert!(answered.routes.iter().all(|route| known.is_some_and(|known| known.contains(route))));
                assert!(answered.delivered.is_empty() || packet.kind == Kind::Acknowledgement);
                for id in answered.delivered {
                    let of = waiting.remove(&id).expect("it waited");
                    assert_eq!((of.name, of.suite, of.low), (packet.meter, packet.suite, packet.low));
                }
            }
        }
        assert_eq!(exchange.waiting(), waiting.len());
        assert!(exchange.unfinished_bytes() <= heard.len() * 2 * 144);
        if let Some(id) = exchange.due(at) {
            assert!(exchange.sent(id, at).is_some() && waiting.contains_key(&id));
            assert!(!exchange.give_up(id, SystemTime::UNIX_EPOCH));
        }
    }
    let mut of_meter: HashMap<u16, usize> = HashMap::new();
    for record in waiting.values() {
        *of_meter.entry(record.name).or_default() += 1;
    }
    assert!(of_meter.values().all(|count| *count <= MOST_OUTBOX_OF_A_METER));
});
