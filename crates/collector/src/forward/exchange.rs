//! The exchange of a concentrator: packets, of any bytes, of meters that are not known here, and of
//! the other collector. It knows no socket, no clock and no store.

use super::acknowledged::Acknowledged;
use super::begun::Begun;
use super::source::Source;
use super::waiting::{Name, Origin, Standing, Waiting};
use crate::gateway::udp::parse;
use crate::gateway::{HeardPacket, Route};
use crate::store::{NewOutbox, OutboxRecord};
use rand::rngs::StdRng;
use std::collections::HashMap;
use std::time::SystemTime;
use tokio::time::Instant;
use wire::meter::{MessageKind, MeterId, Packet, RenewalPacket, UpdatePacket};

/// Routes that a packet of the other collector goes by at most.
const ROUTES_MAX: usize = 8;

/// A report that was put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Whole {
    /// As it is stored, and sent.
    pub message: NewOutbox,
    /// The route of its last piece.
    pub route: Route,
    /// The signal strength of its last piece, in dBm.
    pub rssi_dbm: Option<i8>,
}

/// The result of a meter's packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Taken {
    /// Nothing: it is no packet, or none that goes this way.
    Rejected,
    /// Nothing yet.
    Piece,
    /// An answer, which goes on as it is: it has one piece, and no acknowledgement. A command is
    /// sent again until its answer comes, and so is a piece of a renewal or an image until its
    /// reply comes.
    Answer,
    /// A report that waits already.
    Duplicate,
    /// A report that is new, and waits in memory alone. `gone`: what made room for it.
    Waits {
        /// By id.
        gone: Vec<i64>,
    },
    /// A report that is new, to be stored, and then to be inserted: of a meter that is known by
    /// this source.
    Whole(Whole),
}

/// An answer of the other collector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RoutedAnswer<'a> {
    /// To be sent by radio as it is.
    pub packet: &'a [u8],
    /// An acknowledgement or a command, also a piece of a renewal or an image.
    pub kind: MessageKind,
    pub routes: Vec<Route>,
    /// The reports that wait no more, by id.
    pub delivered: Vec<i64>,
}

/// The exchange between meters and the collector that knows them.
pub struct Exchange {
    waiting: Waiting,
    acknowledged: Acknowledged,
    /// Of known meters and sources, and of unknown ones.
    begun: [Begun; 2],
    /// The last route of each name. Anybody may have sent that packet.
    heard: HashMap<MeterId, Route>,
}

impl Exchange {
    /// rng: chooses what goes where room is short.
    #[must_use]
    pub fn new(rng: StdRng) -> Exchange {
        Exchange {
            waiting: Waiting::new(rng),
            acknowledged: Acknowledged::default(),
            begun: Default::default(),
            heard: HashMap::new(),
        }
    }

    /// Takes a packet of a meter that is not known here. Any bytes. at, at_ms: now, and in Unix
    /// time.
    pub fn take(&mut self, heard: &HeardPacket, at: Instant, at_ms: i64) -> Taken {
        let (route, source) = (heard.route, Source::from(heard.route));
        if let Some((kind, name)) = part(&heard.bytes) {
            let may = kind == MessageKind::Answer && self.acknowledged.may_reply(name, source, at);
            return if may { Taken::Answer } else { Taken::Rejected };
        }
        let Ok(packet) = Packet::parse(&heard.bytes) else { return Taken::Rejected };
        let name = packet.meter;
        if matches!(packet.kind, MessageKind::Acknowledgement | MessageKind::Command) {
            return Taken::Rejected;
        }
        if packet.kind == MessageKind::Answer {
            let may = self.acknowledged.may_answer(name, source, at);
            return if may { Taken::Answer } else { Taken::Rejected };
        }
        self.heard.insert(name, route);
        let standing = self.standing(name, source);
        let begun = &mut self.begun[usize::from(standing == Standing::Unknown)];
        let Some(whole) = begun.take(&packet, source) else { return Taken::Piece };
        let message = NewOutbox {
            address: packet.address,
            name,
            kind: whole.kind,
            suite: whole.suite,
            number_lsb: whole.number_lsb,
            message: whole.bytes,
            heard_ms: at_ms,
        };
        let origin = Origin { route, rssi_dbm: heard.rssi_dbm, standing };
        if self.waiting.heard_again(&message, origin, at) {
            return Taken::Duplicate;
        }
        if self.acknowledged.may_store(name, source, at) {
            return Taken::Whole(Whole { message, route, rssi_dbm: heard.rssi_dbm });
        }
        Taken::Waits { gone: self.waiting.insert_unstored(message, origin, at) }
    }

    fn standing(&self, name: MeterId, source: Source) -> Standing {
        if self.acknowledged.contains(name, source) { Standing::Acknowledged } else { Standing::Unknown }
    }

    /// Takes what the other collector says. Any bytes. `None`: it is nothing that goes to a meter.
    pub fn answered<'a>(&mut self, datagram: &'a [u8], at: Instant) -> Option<RoutedAnswer<'a>> {
        let (bytes, _) = parse(datagram)?;
        let (mut routes, mut delivered) = (Vec::new(), Vec::new());
        let (kind, name) = match part(bytes) {
            Some(part) => part,
            None => {
                let packet = Packet::parse(bytes).ok()?;
                if packet.kind == MessageKind::Acknowledgement {
                    (routes, delivered) = self.deliver(&packet, at);
                }
                (packet.kind, packet.meter)
            }
        };
        if !matches!(kind, MessageKind::Acknowledgement | MessageKind::Command) {
            return None;
        }
        if routes.is_empty() {
            routes.extend(self.acknowledged.route(name).or_else(|| self.heard.get(&name).copied()));
        }
        Some(RoutedAnswer { packet: bytes, kind, routes, delivered })
    }

    /// Ends the reports that an acknowledgement may be of. Where that is one alone, its meter is
    /// known where it was heard; of several all but one may be forged.
    fn deliver(&mut self, packet: &Packet<'_>, at: Instant) -> (Vec<Route>, Vec<i64>) {
        let name = packet.meter;
        let delivered = self.waiting.named(Name { name, number_lsb: packet.number_lsb, suite: packet.suite });
        let mut origins: Vec<Origin> =
            delivered.iter().filter_map(|id| self.waiting.remove(*id)).flatten().collect();
        for origin in &mut origins {
            let source = Source::from(origin.route);
            origin.standing = self.standing(name, source);
            let is_its = delivered.len() == 1 || origin.standing == Standing::Acknowledged;
            if is_its && self.acknowledged.insert(name, origin.route, at) {
                self.waiting.acknowledged(name, source, at);
            }
        }
        origins.sort_by_key(|origin| origin.standing == Standing::Unknown);
        let mut routes: Vec<Route> = origins.iter().map(|origin| origin.route).collect();
        routes.dedup();
        routes.truncate(ROUTES_MAX);
        (routes, delivered)
    }

    /// Has a report wait that is stored, and due at `at`. from: where it was heard, and how strong
    /// it was in dBm, where that is known. Returns what made room for it. Nothing is lost by that:
    /// meters have what was not acknowledged.
    pub fn insert(
        &mut self,
        record: OutboxRecord,
        from: Option<(Route, Option<i8>)>,
        at: Instant,
    ) -> Vec<i64> {
        let standing = Standing::Acknowledged;
        let origin = from.map(|(route, rssi_dbm)| Origin { route, rssi_dbm, standing });
        self.waiting.insert(record, origin, at)
    }

    /// Has a report wait that could not be stored.
    pub fn insert_unstored(&mut self, whole: Whole, at: Instant) -> Vec<i64> {
        let Whole { message, route, rssi_dbm } = whole;
        let standing = self.standing(message.name, route.into());
        self.waiting.insert_unstored(message, Origin { route, rssi_dbm, standing }, at)
    }

    /// The report that waits by that id, to be sent now, with the strength it was heard with; it is
    /// due later again.
    pub fn sent(&mut self, id: i64, now: Instant) -> Option<(NewOutbox, Option<i8>)> {
        self.waiting.sent(id, now)
    }

    /// When the next report may be sent.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        self.waiting.next_at()
    }

    /// The next report that may be sent by now: as often as its sender and all of them together may
    /// send.
    #[must_use]
    pub fn due(&self, now: Instant) -> Option<i64> {
        self.waiting.due(now)
    }

    /// Forgets a report if it waited for too long, and says whether it did.
    pub fn expire(&mut self, id: i64, now: SystemTime) -> bool {
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

    /// Those of them of which nobody knows whose they are.
    #[must_use]
    pub fn unknown_meters(&self) -> usize {
        self.waiting.unknown_meters()
    }

    /// Bytes of messages that are not whole yet.
    #[must_use]
    pub fn unfinished_bytes(&self) -> usize {
        self.begun.iter().map(Begun::bytes).sum()
    }
}

/// Returns the name and the direction of a packet of a renewal or an image. It is no piece of a
/// message, and is passed on by itself.
fn part(bytes: &[u8]) -> Option<(MessageKind, MeterId)> {
    let renewal = RenewalPacket::parse(bytes).map(|packet| (packet.kind, packet.meter));
    renewal.or_else(|| UpdatePacket::parse(bytes).map(|packet| (packet.kind, packet.meter)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forward::begun::BEGUN_MAX;
    use crate::gateway::GatewayId;
    use crate::gateway::udp::datagram;
    use rand::SeedableRng;
    use std::time::{Duration, UNIX_EPOCH};
    use wire::meter::{Suite, message_bytes, packets, pieces};

    const SUITE: Suite = Suite::Aes128Gcm;

    fn exchange() -> Exchange {
        Exchange::new(StdRng::seed_from_u64(1))
    }

    fn heard(gateway: u16, bytes: Vec<u8>) -> HeardPacket {
        HeardPacket { route: route(gateway), bytes, rssi_dbm: None }
    }

    fn route(gateway: u16) -> Route {
        Route { gateway: GatewayId::of(gateway.into()), peer: None }
    }

    fn cut(kind: MessageKind, suite: Suite, name: MeterId, number_lsb: u8, byte: u8) -> Vec<Vec<u8>> {
        packets(0x4f, kind, suite, name, u32::from(number_lsb), &vec![byte; message_bytes(kind, suite)])
    }

    /// A report of one piece.
    fn report(gateway: u16, name: MeterId, number_lsb: u8, byte: u8) -> HeardPacket {
        heard(gateway, cut(MessageKind::Report, SUITE, name, number_lsb, byte).remove(0))
    }

    fn acknowledge(exchange: &mut Exchange, name: MeterId, number_lsb: u8, at: Instant) -> Vec<Route> {
        let packet = cut(MessageKind::Acknowledgement, SUITE, name, number_lsb, 0).remove(0);
        let datagram = datagram(&packet, None).expect("it fits");
        exchange.answered(&datagram, at).expect("it is an acknowledgement").routes
    }

    /// Makes a meter known by a gateway.
    fn introduce(exchange: &mut Exchange, gateway: u16, name: MeterId, at: Instant) {
        assert_eq!(exchange.take(&report(gateway, name, 1, 1), at, 0), Taken::Waits { gone: vec![] });
        assert_eq!(acknowledge(exchange, name, 1, at), [route(gateway)]);
    }

    /// Sends what is due, and returns of how many datagrams that is.
    fn send(exchange: &mut Exchange, now: Instant, since: Duration) -> usize {
        let mut sent = 0;
        while let Some(id) = exchange.due(now) {
            if !exchange.expire(id, UNIX_EPOCH + since) {
                let (message, _) = exchange.sent(id, now).expect("it waits");
                sent += pieces(message.kind, message.suite);
            }
        }
        sent
    }

    #[test]
    fn flood_of_many_sources_and_names_becomes_a_trickle() {
        let begun = Instant::now();
        let (mut exchange, mut by_second) = (exchange(), Vec::new());
        let mut number = 0u16;
        for second in 0..7200u64 {
            let (mut sent, flooded) = (0, second < 10);
            for tick in 0..if flooded { 10 } else { 1 } {
                let since = Duration::from_millis(1000 * second + 100 * tick);
                for _ in 0..if flooded { 500 } else { 0 } {
                    number += 1;
                    let forged = report(number % 50, number, number as u8, 7);
                    let taken = exchange.take(&forged, begun + since, since.as_millis() as i64);
                    assert!(matches!(taken, Taken::Waits { .. }), "reports of unknown meters are not stored");
                }
                sent += send(&mut exchange, begun + since, since);
            }
            by_second.push(sent);
        }
        assert!(by_second.iter().all(|sent| *sent <= 300), "{by_second:?}");
        assert!(by_second[..60].iter().sum::<usize>() <= 200 + 60 * 100);
        // Ever less, and after an hour nothing.
        let minute = |minute: usize| by_second[60 * minute..60 * (minute + 1)].iter().sum::<usize>();
        let later = (20..60).map(minute).sum::<usize>();
        assert!((1..=3 * 4096).contains(&later), "{later}");
        assert!((90..120).all(|at| minute(at) == 0) && exchange.waiting() == 0);
    }

    #[test]
    fn one_source_has_a_rate_of_its_own_and_the_next_has_another() {
        let now = Instant::now();
        let mut exchange = exchange();
        for name in 1..=1000 {
            exchange.take(&report(1, name, 1, 7), now, 0);
        }
        assert_eq!(send(&mut exchange, now, Duration::ZERO), 60);
        exchange.take(&report(2, 2000, 1, 7), now, 0);
        assert_eq!(send(&mut exchange, now, Duration::ZERO), 1);
        assert_eq!(send(&mut exchange, now + Duration::from_millis(500), Duration::ZERO), 10);
    }

    #[test]
    fn a_meter_that_is_known_waits_for_no_unknown_one() {
        let now = Instant::now();
        let mut exchange = exchange();
        introduce(&mut exchange, 1, 7, now);
        for gateway in 2..100 {
            for name in 100..110 {
                exchange.take(&report(gateway, name, gateway as u8, 7), now, 0);
            }
            exchange.take(&report(gateway, 7, gateway as u8, 7), now, 0);
        }
        send(&mut exchange, now, Duration::ZERO);
        assert!(
            exchange.next_at().is_some_and(|next_at| next_at > now),
            "the rate of unknown meters is used up"
        );
        let Taken::Whole(whole) = exchange.take(&report(1, 7, 2, 2), now, 0) else { panic!("it is stored") };
        exchange.insert_unstored(whole, now);
        assert_eq!(send(&mut exchange, now, Duration::ZERO), 1);
        assert!(acknowledge(&mut exchange, 7, 2, now).contains(&route(1)));
    }

    #[test]
    fn a_known_meter_has_a_rate_too() {
        let begun = Instant::now();
        let mut exchange = exchange();
        introduce(&mut exchange, 1, 7, begun);
        let (mut stored, mut sent) = (0, 0);
        // Somebody beside it, by radio, in its name: 100 a second for a minute.
        for number in 0..6000u64 {
            let now = begun + Duration::from_millis(10 * number);
            let forged = report(1, 7, number as u8, (number >> 8) as u8);
            if let Taken::Whole(whole) = exchange.take(&forged, now, 0) {
                exchange.insert_unstored(whole, now);
                stored += 1;
            }
            sent += send(&mut exchange, now, Duration::ZERO);
        }
        assert!((200..=32 + 60 * 4).contains(&stored), "{stored} stored");
        assert!((200..=96 + 60 * 12).contains(&sent), "{sent} sent");
        assert!(exchange.waiting() <= 8);
    }

    #[test]
    fn foreign_pieces_never_enter_a_message() {
        let now = Instant::now();
        let mut exchange = exchange();
        let genuine = cut(MessageKind::Report, Suite::EciesEcdsa, 7, 9, 1);
        let forged = cut(MessageKind::Report, Suite::EciesEcdsa, 7, 9, 2);
        for (of_genuine, of_forged) in genuine.iter().zip(&forged).take(2) {
            assert_eq!(exchange.take(&heard(1, of_genuine.clone()), now, 0), Taken::Piece);
            assert_eq!(exchange.take(&heard(2, of_forged.clone()), now, 0), Taken::Piece);
        }
        assert!(matches!(exchange.take(&heard(1, genuine[2].clone()), now, 0), Taken::Waits { .. }));
        let id = exchange.due(now).expect("whole");
        assert_eq!(exchange.sent(id, now).expect("it waits").0.message, [1; 144]);
    }

    #[test]
    fn begun_messages_are_bounded() {
        let mut exchange = exchange();
        for name in 1..=3 * BEGUN_MAX as u16 {
            let piece = cut(MessageKind::Report, Suite::EciesEcdsa, name, 9, 1).remove(0);
            exchange.take(&heard(1, piece), Instant::now(), 0);
        }
        assert_eq!(exchange.unfinished_bytes(), BEGUN_MAX * 144);
    }

    #[test]
    fn an_acknowledgement_that_may_be_of_two_makes_neither_known() {
        let now = Instant::now();
        let mut exchange = exchange();
        let is_known = |exchange: &mut Exchange, gateway, number_lsb| {
            matches!(exchange.take(&report(gateway, 7, number_lsb, 99), now, 0), Taken::Whole(_))
        };
        exchange.take(&report(1, 7, 1, 1), now, 0);
        exchange.take(&report(2, 7, 1, 2), now, 0);
        assert_eq!(acknowledge(&mut exchange, 7, 1, now).len(), 2);
        assert!(!is_known(&mut exchange, 1, 3) && !is_known(&mut exchange, 2, 4));
        // One that came alone; then the same again beside a forged one.
        exchange.take(&report(1, 7, 5, 1), now, 0);
        acknowledge(&mut exchange, 7, 5, now);
        exchange.take(&report(2, 7, 6, 2), now, 0);
        let Taken::Whole(whole) = exchange.take(&report(1, 7, 6, 1), now, 0) else { panic!("it is known") };
        exchange.insert_unstored(whole, now);
        assert_eq!(acknowledge(&mut exchange, 7, 6, now), [route(1), route(2)]);
        assert!(is_known(&mut exchange, 1, 7) && !is_known(&mut exchange, 2, 8));
    }

    #[test]
    fn waiting_messages_become_known_with_their_meter() {
        let now = Instant::now();
        let mut exchange = exchange();
        exchange.take(&report(1, 7, 1, 1), now, 0);
        exchange.take(&report(1, 7, 2, 2), now, 0);
        exchange.take(&report(2, 7, 3, 3), now, 0);
        acknowledge(&mut exchange, 7, 1, now);
        assert_eq!((exchange.waiting(), exchange.unknown_meters()), (2, 1));
    }

    #[test]
    fn answers_pass_where_their_meter_is_known_and_within_its_rate() {
        let now = Instant::now();
        let mut exchange = exchange();
        let answer =
            |gateway, number_lsb| heard(gateway, cut(MessageKind::Answer, SUITE, 7, number_lsb, 1).remove(0));
        assert_eq!(exchange.take(&answer(1, 1), now, 0), Taken::Rejected);
        introduce(&mut exchange, 1, 7, now);
        assert_eq!(exchange.take(&answer(2, 1), now, 0), Taken::Rejected);
        let passed = (0..100)
            .filter(|number_lsb| exchange.take(&answer(1, *number_lsb), now, 0) == Taken::Answer)
            .count();
        assert_eq!(passed, 32);
    }

    /// Pieces of kinds 6 and 7: docs/reference/protocol.md, "Packets".
    #[test]
    fn renewal_and_image_pieces_of_known_meters_pass_both_ways() {
        let now = Instant::now();
        let what = |kind: MessageKind, piece| kind.code() << 6 | Suite::Aes256GcmRekeyed.code() << 3 | piece;
        let packet = |kind, piece, rest| [vec![0x4f, what(kind, piece), 0, 7], vec![0; rest]].concat();
        let (renewal, image) = (|kind| packet(kind, 6, 50), |kind, rest| packet(kind, 7, rest));
        let replies = [renewal(MessageKind::Answer), image(MessageKind::Answer, 19)];
        let pieces = [renewal(MessageKind::Command), image(MessageKind::Command, 55)];
        let mut exchange = exchange();
        for reply in &replies {
            assert_eq!(exchange.take(&heard(1, reply.clone()), now, 0), Taken::Rejected, "{reply:?}");
        }
        introduce(&mut exchange, 1, 7, now);
        for reply in &replies {
            assert_eq!(exchange.take(&heard(2, reply.clone()), now, 0), Taken::Rejected, "{reply:?}");
            assert_eq!(exchange.take(&heard(1, reply.clone()), now, 0), Taken::Answer, "{reply:?}");
            assert_eq!(exchange.answered(&datagram(reply, None).expect("it fits"), now), None, "{reply:?}");
        }
        for piece in &pieces {
            let datagram = datagram(piece, None).expect("it fits");
            let answered = exchange.answered(&datagram, now).expect("it goes to a meter");
            let kind = MessageKind::Command;
            let (routes, delivered) = (vec![route(1)], vec![]);
            assert_eq!(answered, RoutedAnswer { packet: piece, kind, routes, delivered });
            assert_eq!(exchange.take(&heard(1, piece.clone()), now, 0), Taken::Rejected, "{piece:?}");
        }
        let passed =
            (0..100).filter(|_| exchange.take(&heard(1, replies[1].clone()), now, 0) == Taken::Answer);
        assert_eq!(passed.count(), 62);
    }
}
