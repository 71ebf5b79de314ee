//! Images of meters' firmware, and updates.

use super::place::{Engine, NEW_YEAR_S, add, on_each_engine, provisioned};
use collector::event::UpdateState;
use collector::image_digest::ImageDigest;
use collector::network::{GlobalMeterId, NetworkId};
use collector::store::{
    IMAGES_MAX, ImageAdded, MeterFilter, NewImage, NewUpdate, UpdateProgress, UpdateRecord, Write, Written,
};
use device::meter::flash::Flash;
use wire::meter::{Image, ImageRefusal};

on_each_engine!(
    images_are_kept_whole_and_once,
    there_are_so_many_images_and_no_more,
    an_image_stays_while_an_update_needs_it,
    an_update_goes_its_way_and_ends_once,
    a_later_update_takes_the_place_of_the_one_before,
    an_older_database_has_none,
);

const NOW_MS: i64 = NEW_YEAR_S * 1000;

fn image(slot: usize, version: u32) -> Image {
    Image::new(Flash::image(slot, version, &version.to_be_bytes().repeat(9))).expect("an image")
}

fn digest(image: &Image) -> ImageDigest {
    ImageDigest(*image.digest())
}

fn new_image(image: &Image, seconds: i64) -> Write {
    Write::Image(NewImage { image: image.clone(), by: "Ada".to_owned(), added_ms: NOW_MS + seconds * 1000 })
}

fn new_update(meter: impl Into<GlobalMeterId>, image: &Image, ms: i64) -> Write {
    let (meter, image, by) = (meter.into(), digest(image), "Bob".to_owned());
    Write::Update(NewUpdate { meter, image, by, created_ms: NOW_MS + ms })
}

fn progress(meter: u16, created_ms: i64, image: &Image, state: UpdateState, pieces: u16) -> UpdateProgress {
    let (meter, created_ms, image) = (meter.into(), NOW_MS + created_ms, digest(image));
    let at_ms = created_ms + 1000 * i64::from(pieces);
    UpdateProgress { meter, created_ms, image, state, refusal: None, pieces, of: 17, at_ms }
}

fn images_are_kept_whole_and_once(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    let (first, second, later) = (image(0, 2), image(1, 2), image(1, u32::MAX));
    let batch = vec![new_image(&first, 0), new_image(&second, 1), new_image(&first, 2), new_image(&later, 3)];
    let added = store.commit(batch).expect("there is room");
    let [new, known] = [ImageAdded::New, ImageAdded::Known].map(Written::Image);
    assert_eq!(added, [new.clone(), new.clone(), known, new]);
    drop(store);
    let reader = place.open().reader();
    let images = reader.images().expect("images");
    assert_eq!(
        images.iter().map(|image| image.digest).collect::<Vec<_>>(),
        [&later, &second, &first].map(digest)
    );
    let shown = &images[2];
    assert_eq!((shown.target.as_str(), shown.version, shown.address), ("host", 2, 0x2000));
    assert_eq!((shown.bytes as usize, shown.pieces), (first.bytes().len(), first.pieces()));
    assert_eq!((shown.by.as_str(), shown.added_ms), ("Ada", NOW_MS));
    assert_eq!(images[0].version, u32::MAX);
    assert_eq!(reader.image(&digest(&first)).expect("readable").as_ref(), Some(shown));
    assert_eq!(reader.image_content(&digest(&second)).expect("readable"), Some(second.clone()));
    let none = ImageDigest([7; 32]);
    assert_eq!(reader.image(&none).expect("readable"), None);
    assert_eq!(reader.image_content(&none).expect("readable"), None);
    // The same target and version, and another slot.
    let other = |image: &Image| reader.image_of_other_slot(&digest(image)).expect("readable");
    assert_eq!([&first, &second, &later].map(other), [Some(digest(&second)), Some(digest(&first)), None]);
}

fn there_are_so_many_images_and_no_more(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    let all = (1..=IMAGES_MAX as u32 + 1).map(|version| new_image(&image(0, version), 0)).collect();
    let added = store.commit(all).expect("there is room");
    assert!(added[..IMAGES_MAX].iter().all(|added| *added == Written::Image(ImageAdded::New)));
    assert_eq!(added[IMAGES_MAX], Written::Image(ImageAdded::NoRoom));
    let again = vec![
        new_image(&image(0, 1), 0),
        Write::ImageRemoved { digest: digest(&image(0, 1)) },
        new_image(&image(1, 1), 0),
    ];
    let written = store.commit(again).expect("there is room");
    let [known, new] = [ImageAdded::Known, ImageAdded::New].map(Written::Image);
    assert_eq!(written, [known, Written::Done, new]);
}

fn an_image_stays_while_an_update_needs_it(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    let (image, other) = (image(0, 2), image(1, 2));
    let remove = |image: &Image| Write::ImageRemoved { digest: digest(image) };
    let batch = vec![new_image(&image, 0), new_update(1, &image, 0), remove(&image), remove(&other)];
    let written = store.commit(batch).expect("there is room");
    assert_eq!(written[2..], [Written::ImageInUse, Written::Unknown]);
    let over = Write::UpdateProgress(progress(1, 0, &image, UpdateState::Runs, 17));
    let written = store.commit(vec![over, remove(&image), remove(&image)]).expect("there is room");
    assert_eq!(written, [Written::Done, Written::Done, Written::Unknown]);
    // The record of its update stays.
    let update = store.reader().update(1.into()).expect("readable").expect("there");
    assert_eq!((update.image, update.state), (digest(&image), UpdateState::Runs));
    let gone = store.commit(vec![new_update(1, &image, 1)]).expect("there is room");
    assert_eq!(gone, [Written::Unknown]);
    assert_eq!(store.reader().update(1.into()).expect("readable"), Some(update));
}

fn an_update_goes_its_way_and_ends_once(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    let of_seven = NetworkId(7).meter(1);
    add(&mut store, [GlobalMeterId::from(1), 2.into(), of_seven]);
    let (asked, sent) = (image(0, 2), image(1, 2));
    let batch = vec![
        new_image(&asked, 0),
        new_image(&sent, 0),
        new_update(of_seven, &asked, 1),
        new_update(2, &sent, 2),
        new_update(1, &asked, 3),
    ];
    let written = store.commit(batch).expect("there is room");
    let begun = UpdateRecord {
        meter: 1.into(),
        image: digest(&asked),
        asked: digest(&asked),
        version: 2,
        state: UpdateState::Waiting,
        refusal: None,
        pieces: 0,
        of: asked.pieces(),
        by: "Bob".to_owned(),
        created_ms: NOW_MS + 3,
        changed_ms: NOW_MS + 3,
    };
    assert_eq!(written[4], Written::Update(Box::new(begun.clone())));
    let refused = UpdateProgress {
        refusal: Some(ImageRefusal::Other(200)),
        ..progress(1, 3, &sent, UpdateState::Refused, 5)
    };
    let steps = vec![
        Write::UpdateProgress(progress(1, 3, &asked, UpdateState::Asking, 0)),
        Write::UpdateProgress(progress(1, 3, &sent, UpdateState::Sending, 4)),
        Write::UpdateProgress(refused.clone()),
        // It is over.
        Write::UpdateProgress(progress(1, 3, &sent, UpdateState::Runs, 17)),
        Write::UpdateNotBegun { meter: 1.into(), created_ms: NOW_MS + 3, at_ms: NOW_MS },
        // Another update's, and of no update.
        Write::UpdateProgress(progress(2, 3, &sent, UpdateState::Runs, 17)),
        Write::UpdateProgress(progress(3, 3, &sent, UpdateState::Runs, 17)),
    ];
    let (unknown, done) = (Written::Unknown, Written::Done);
    let written = store.commit(steps).expect("there is room");
    assert_eq!(written[..3], [done.clone(), done.clone(), done.clone()]);
    assert_eq!(written[3..], [unknown.clone(), unknown.clone(), unknown.clone(), unknown]);
    let reader = store.reader();
    let ended = UpdateRecord {
        image: digest(&sent),
        state: UpdateState::Refused,
        refusal: Some(ImageRefusal::Other(200)),
        pieces: 5,
        of: 17,
        changed_ms: refused.at_ms,
        ..begun
    };
    assert_eq!(reader.update(1.into()).expect("readable"), Some(ended));
    let meters = |whose| -> Vec<String> {
        reader.updates(whose).expect("readable").iter().map(|update| update.meter.to_string()).collect()
    };
    assert_eq!(meters(MeterFilter::All), ["1", "2", "7-1"]);
    assert_eq!(meters(MeterFilter::Network(NetworkId::DEFAULT)), ["1", "2"]);
    assert_eq!(meters(MeterFilter::Network(NetworkId(7))), ["7-1"]);
    let some = reader.updates_of(&[of_seven, 9.into(), 1.into()]).expect("readable");
    assert_eq!(some.iter().map(|update| update.meter).collect::<Vec<_>>(), [of_seven, 1.into()]);
}

fn a_later_update_takes_the_place_of_the_one_before(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1, 2]);
    let (second, third) = (image(0, 2), image(1, 3));
    let refused = UpdateProgress {
        refusal: Some(ImageRefusal::OtherSlot),
        ..progress(1, 0, &second, UpdateState::Refused, 3)
    };
    let batch = vec![
        new_image(&second, 0),
        new_image(&third, 0),
        new_update(1, &second, 0),
        Write::UpdateProgress(refused),
        new_update(1, &third, 5),
        // Late progress of the one before.
        Write::UpdateProgress(progress(1, 0, &second, UpdateState::Runs, 17)),
        new_update(2, &second, 5),
        Write::UpdateNotBegun { meter: 2.into(), created_ms: NOW_MS + 5, at_ms: NOW_MS + 9 },
        Write::UpdateNotBegun { meter: 2.into(), created_ms: NOW_MS + 5, at_ms: NOW_MS + 9 },
        Write::Provisioned(Box::new(provisioned(1, 2))),
    ];
    let written = store.commit(batch).expect("there is room");
    assert_eq!(written[5], Written::Unknown);
    assert_eq!(written[7..9], [Written::Done, Written::Unknown]);
    let reader = store.reader();
    let update = |meter: u16| reader.update(meter.into()).expect("readable").expect("there");
    let one = update(1);
    assert_eq!((one.image, one.asked, one.version), (digest(&third), digest(&third), 3));
    assert_eq!((one.state, one.refusal, one.pieces), (UpdateState::Waiting, None, 0));
    assert_eq!((one.created_ms, one.changed_ms), (NOW_MS + 5, NOW_MS + 5));
    assert_eq!((update(2).state, update(2).changed_ms), (UpdateState::Withdrawn, NOW_MS + 9));
}

fn an_older_database_has_none(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    add(&mut store, [1]);
    drop(store);
    place.set_back(5);
    let mut store = place.open();
    let reader = store.reader();
    assert_eq!(
        (reader.images().expect("images"), reader.updates(MeterFilter::All).expect("updates")),
        (vec![], vec![])
    );
    let image = image(0, 2);
    store.commit(vec![new_image(&image, 0), new_update(1, &image, 0)]).expect("there is room");
    assert_eq!(reader.updates(MeterFilter::All).expect("updates").len(), 1);
}
