//! Images of meters' firmware that the service brings to meters: the firmware itself, whose images
//! are no programs (`device::meter::flash`): whichever runs, it is the same meter. Where the
//! database is a file, and where it is a server's.

use super::firmware::{Firmware, LONG};
use super::station::{Gateway, SimulatedMeter, WITHIN, start_with};
use crate::keys::{Kind, Stand, place, ring};
use collector::event::{Event, UpdateState};
use collector::image_digest::ImageDigest;
use collector::meters::{MetersHandle, RequestError};
use collector::network::NetworkId;
use collector::registry::Registry;
use collector::service::{Config, Running};
use collector::store::{ImageAdded, NewImage, UpdateRecord, Write, Written};
use device::meter::flash::Flash;
use std::time::{Duration, Instant};
use testkit::random::{Random, seed};
use tokio::sync::broadcast::Receiver;
use wire::meter::{Image, ImageRefusal, Setup, Suite};

const METER: u16 = 7;

on_each_kind![
    an_update_survives_a_service_that_begins_anew_at_any_moment,
    the_image_for_the_other_slot_is_taken_instead,
];

fn registry(stand: &Stand) -> Registry {
    stand.store.open_network(NetworkId::DEFAULT).expect("a network")
}

async fn start(stand: &Stand) -> Running {
    start_with(stand.folder.path(), |config: &mut Config| {
        // The firmware's clock is not the one on the wall.
        config.policy.set_time = false;
        config.policy.update_piece_every_ms = 1;
        if !stand.database.is_empty() {
            config.db = place(&stand.database);
            config.keks = Some(ring(&[&stand.folder.path().join("kek")]));
        }
    })
    .await
}

/// An image of a program of that size.
fn image(slot: usize, version: u32, bytes: usize) -> Image {
    Image::new(Flash::image(slot, version, &vec![version as u8; bytes])).expect("an image")
}

fn digest(image: &Image) -> ImageDigest {
    ImageDigest(*image.digest())
}

/// A meter whose first slot has version 1.
fn firmware(stand: &Stand, meter: u16, suite: Suite) -> Firmware {
    let flash = Flash::with(&Flash::image(0, 1, b"the first"));
    let setup = Setup { suite, interval_s: 1, ..Setup::usual(meter) };
    Firmware::provision_with(Some(flash), &registry(stand), setup, &stand.images(), meter.into())
}

async fn add(running: &Running, image: &Image) {
    let new = NewImage { image: image.clone(), by: "me".to_owned(), added_ms: 1 };
    let written = running.writer().write_one(Write::Image(new)).await.expect("written");
    assert!(matches!(written, Written::Image(ImageAdded::New | ImageAdded::Known)), "{written:?}");
}

fn update(running: &Running, meter: u16) -> UpdateRecord {
    running.reader().update(meter.into()).expect("readable").expect("there is one")
}

/// Goes on until it is in this state.
fn until(
    running: &Running,
    gateway: &Gateway,
    firmware: &mut Firmware,
    what: &str,
    is: impl Fn(&UpdateRecord) -> bool,
) {
    let until = Instant::now() + LONG;
    loop {
        let update = update(running, METER);
        if is(&update) {
            return;
        }
        assert!(Instant::now() < until, "{what}: {update:?}, {:?}", firmware.meter.status());
        for _ in 0..4 {
            firmware.step(running.meters(), gateway);
        }
    }
}

/// Returns the number of events of a meter's update.
fn events_of_update(events: &mut Receiver<Event>) -> usize {
    std::iter::from_fn(|| events.try_recv().ok())
        .filter(|event| *event == Event::Update { meter: METER.into() })
        .count()
}

async fn an_update_survives_a_service_that_begins_anew_at_any_moment(kind: Kind) {
    let seed = seed();
    let mut random = Random::new(seed);
    let stand = Stand::new(kind);
    let suites = [Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::AsconAead128];
    let suite = suites[random.below(3) as usize];
    let mut firmware = firmware(&stand, METER, suite);
    let second = image(1, 2, 9_000);
    let what = format!("seed {seed}, {suite}");
    let some = 1 + random.below(u32::from(second.pieces()) - 1) as u16;
    let (mut had, mut events) = (0, 0);
    for moment in ["asked for", "asking", "sending", "some of it", "trying", "runs"] {
        let what = format!("{what}: {moment}");
        let running = start(&stand).await;
        let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
        let mut told = handle.events();
        if moment == "asked for" {
            add(&running, &second).await;
            handle.update(METER.into(), digest(&second), "me").await.expect("begun");
            assert_eq!(update(&running, METER).state, UpdateState::Waiting, "it was never heard");
        }
        // The meter's flash goes on where it was, and not from the beginning.
        let erased = firmware.meter.flash().expect("flash").operations();
        let is_there = |update: &UpdateRecord| match moment {
            "asked for" => true,
            "asking" => update.state != UpdateState::Waiting,
            "sending" => matches!(update.state, UpdateState::Sending | UpdateState::Trying),
            "some of it" => update.state == UpdateState::Trying || update.pieces >= some,
            "trying" => matches!(update.state, UpdateState::Trying | UpdateState::Runs),
            _ => update.state == UpdateState::Runs,
        };
        until(&running, &gateway, &mut firmware, &what, is_there);
        let operations = firmware.meter.flash().expect("flash").operations();
        had += operations - erased;
        running.stop().await.expect("it stops well");
        events += events_of_update(&mut told);
    }
    // Each state, and pieces now and then.
    assert!((5..100).contains(&events), "{what}: {events} events");
    assert_eq!(firmware.meter.running(), Some(1), "{what}");
    let held = firmware.meter.flash().expect("flash").slot(1);
    assert!(held.starts_with(second.bytes()), "{what}: another image");
    // Its words once, the sectors, and the journal's records.
    let words = second.bytes().len() as u64 / 4;
    assert!((words..words + 200).contains(&had), "{what}: {had} operations for {words} words");
    let running = start(&stand).await;
    let gateway = Gateway::attach(running.meters());
    firmware.is_well(running.meters(), &gateway);
    let ended = update(&running, METER);
    assert_eq!((ended.state, ended.pieces, ended.of), (UpdateState::Runs, second.pieces(), second.pieces()));
    assert_eq!((ended.by.as_str(), ended.version, ended.refusal), ("me", 2, None));
    assert_eq!(running.meters().forget_update(METER.into()).await, Err(RequestError::NoUpdate(METER.into())));
    running.stop().await.expect("it stops well");
    // Nothing of it is kept with the meter.
    let running = start(&stand).await;
    let meters = running.reader().kept_meters().expect("meters");
    assert!(meters[0].state.update().is_none(), "{what}");
    running.stop().await.expect("it stops well");
}

async fn the_image_for_the_other_slot_is_taken_instead(kind: Kind) {
    let stand = Stand::new(kind);
    let mut firmware = firmware(&stand, METER, Suite::Aes128Gcm);
    let running = start(&stand).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let over = |update: &UpdateRecord| update.state.is_over();
    // For the slot that runs, and none for the other: of another version is no use.
    let [of_first, of_second] = [image(0, 2, 300), image(1, 2, 300)];
    add(&running, &of_first).await;
    add(&running, &image(1, 3, 300)).await;
    handle.update(METER.into(), digest(&of_first), "me").await.expect("begun");
    until(&running, &gateway, &mut firmware, "refused", over);
    let refused = update(&running, METER);
    assert_eq!((refused.state, refused.refusal), (UpdateState::Refused, Some(ImageRefusal::OtherSlot)));
    assert_eq!(refused.image, digest(&of_first));
    // With it.
    add(&running, &of_second).await;
    handle.update(METER.into(), digest(&of_first), "me").await.expect("begun");
    until(&running, &gateway, &mut firmware, "taken", over);
    let taken = update(&running, METER);
    assert_eq!((taken.state, taken.refusal), (UpdateState::Runs, None));
    assert_eq!((taken.image, taken.asked), (digest(&of_second), digest(&of_first)));
    assert_eq!(firmware.meter.running(), Some(1));
    // A version below is refused as it is, in either slot.
    let old = image(0, 1, 300);
    add(&running, &old).await;
    handle.update(METER.into(), digest(&old), "me").await.expect("begun");
    until(&running, &gateway, &mut firmware, "old", over);
    assert_eq!(update(&running, METER).refusal, Some(ImageRefusal::Old));
    running.stop().await.expect("it stops well");
}

/// The channel is for all meters: pieces go out one at a time, to each of those that are sent an
/// image by turns.
#[tokio::test(flavor = "multi_thread")]
async fn meters_that_are_sent_an_image_have_their_pieces_by_turns() {
    const EVERY: Duration = Duration::from_millis(100);
    let stand = Stand::new(Kind::Files);
    let mut meters = [7, 8, 9].map(|meter| firmware(&stand, meter, Suite::Aes128Gcm));
    let running = start_with(stand.folder.path(), |config: &mut Config| {
        config.policy.set_time = false;
        config.policy.update_piece_every_ms = EVERY.as_millis() as u64;
    })
    .await;
    let handle = running.meters();
    let gateways = [0; 3].map(|_| Gateway::attach(handle));
    let second = image(1, 2, 9_000);
    add(&running, &second).await;
    for meter in [7, 8, 9] {
        handle.update(meter.into(), digest(&second), "me").await.expect("begun");
    }
    let until = Instant::now() + LONG;
    let mut sent = |from: [usize; 3], count: usize| -> [usize; 3] {
        loop {
            assert!(Instant::now() < until, "no pieces are sent");
            for (firmware, gateway) in meters.iter_mut().zip(&gateways) {
                firmware.step(handle, gateway);
            }
            let now: Vec<usize> = meters.iter().zip(from).map(|(meter, from)| meter.pieces - from).collect();
            if now.iter().sum::<usize>() >= count && (count > 3 || now.iter().all(|pieces| *pieces > 0)) {
                return [now[0], now[1], now[2]];
            }
        }
    };
    // From when each of them has some.
    let from = sent([0; 3], 3);
    let began = Instant::now();
    let pieces = sent(from, 30);
    // No faster than one each 100 ms, but for what was under way.
    assert!(began.elapsed() >= 25 * EVERY, "{pieces:?} in {:?}", began.elapsed());
    assert!(pieces.iter().all(|count| *count >= 6), "{pieces:?}");
    running.stop().await.expect("it stops well");
}

/// A meter without a bootloader says so.
#[tokio::test(flavor = "multi_thread")]
async fn a_meter_that_cannot_says_so() {
    let stand = Stand::new(Kind::Files);
    let setup = Setup { suite: Suite::Aes128Gcm, interval_s: 1, ..Setup::usual(METER) };
    let mut firmware = Firmware::provision(&registry(&stand), setup, &stand.images(), 3);
    let running = start(&stand).await;
    let gateway = Gateway::attach(running.meters());
    let second = image(1, 2, 300);
    add(&running, &second).await;
    running.meters().update(METER.into(), digest(&second), "me").await.expect("begun");
    until(&running, &gateway, &mut firmware, "not possible", |update| update.state.is_over());
    assert_eq!(update(&running, METER).state, UpdateState::NotPossible);
    running.stop().await.expect("it stops well");
}

/// Makes a meter heard that never answers.
fn hear(handle: &MetersHandle, gateway: &Gateway, meter: &mut SimulatedMeter) {
    let report = meter.report();
    gateway.hear(handle, 1, &report);
    assert_eq!(meter.acknowledged(&gateway.next_acknowledgement(WITHIN).expect("stored")), meter.n);
}

async fn until_state(running: &Running, meter: u16, state: UpdateState) {
    let until = Instant::now() + WITHIN;
    while update(running, meter).state != state {
        assert!(Instant::now() < until, "{:?} is not {state:?}", update(running, meter));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A meter that gets other keys, or is revoked, loses its update, whether the service is there or
/// not.
#[tokio::test(flavor = "multi_thread")]
async fn meter_with_new_keys_loses_the_update() {
    let stand = Stand::new(Kind::Files);
    let keys = stand.folder.path().join("keys");
    let [mut rotated, mut revoked, mut later] =
        [1, 2, 3].map(|meter| SimulatedMeter::register(&keys, meter, Suite::Aes128Gcm, 1));
    let running = start(&stand).await;
    let (handle, gateway) = (running.meters(), Gateway::attach(running.meters()));
    let second = image(1, 2, 300);
    let unknown = handle.update(1.into(), digest(&second), "me").await;
    assert_eq!(unknown, Err(RequestError::UnknownImage(digest(&second))));
    add(&running, &second).await;
    for meter in 1..=3 {
        handle.update(meter.into(), digest(&second), "me").await.expect("begun");
    }
    assert_eq!(
        handle.update(9.into(), digest(&second), "me").await,
        Err(RequestError::UnknownMeter(9.into()))
    );
    for meter in [&mut rotated, &mut revoked, &mut later] {
        hear(handle, &gateway, meter);
    }
    for meter in 1..=3 {
        until_state(&running, meter, UpdateState::Asking).await;
    }
    let record = SimulatedMeter::register(&stand.folder.path().join("others"), 1, Suite::Aes128Gcm, 2);
    handle.set_meter(NetworkId::DEFAULT, 2, record.provision.record()).await.expect("other keys");
    handle.revoke(2.into()).await.expect("it was there");
    for meter in [1, 2] {
        assert_eq!(update(&running, meter).state, UpdateState::Withdrawn, "{meter}");
    }
    assert_eq!(update(&running, 3).state, UpdateState::Asking);
    running.stop().await.expect("it stops well");
    // While the service is not there.
    SimulatedMeter::register(&keys, 1, Suite::Aes128Gcm, 2);
    SimulatedMeter::register(&keys, 3, Suite::Aes128Gcm, 2);
    let running = start(&stand).await;
    until_state(&running, 3, UpdateState::Withdrawn).await;
    assert!(running.reader().kept_meters().expect("meters").iter().all(|kept| kept.state.update().is_none()));
    running.stop().await.expect("it stops well");
}
