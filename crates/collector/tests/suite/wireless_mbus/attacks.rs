//! Attacks in the name of a meter: recorded, altered and forged telegrams, and floods.

use super::fixture::{KAW, NEW_YEAR_MS, forged, litres, receive, receiver, registered, telegram};
use crate::store::place::{Engine, on_each_engine};
use collector::mbus::{Refusal, TelegramReceiver};
use collector::registry::MbusMeter;
use collector::store::{TelegramQuery, Write, Written};
use wire::wireless_mbus::{OpenError, crc16};

on_each_engine!(store_takes_a_counter_once, refused_telegrams_are_counted);

const MINUTE_MS: i64 = 60_000;

fn kaw(unauthenticated: bool) -> MbusMeter {
    telegram("kamstrup-profile-d-1").registered(unauthenticated)
}

/// The later telegram of the meter KAW, and the earlier one.
fn both() -> [String; 2] {
    ["kamstrup-profile-d-1", "kamstrup-profile-d-2"].map(|name| telegram(name).line)
}

/// Takes the CRCs out of a frame of format A.
fn without_crcs(line: &str) -> String {
    let (first, rest) = line.split_at(24);
    let (whole, last) = (rest.as_bytes().chunks(36), |block: &[u8]| block.len() - 4);
    let block = |block: &[u8]| String::from_utf8(block[..last(block)].to_vec()).expect("digits");
    format!("{}{}", &first[..20], whole.map(block).collect::<String>())
}

fn refused(receiver: &mut TelegramReceiver, line: &str) -> Refusal {
    receive(receiver, line, NEW_YEAR_MS).expect_err(line)
}

#[test]
fn recorded_telegram_is_refused_also_after_a_restart() {
    let [later, earlier] = both();
    let mut first = receiver(&[kaw(false)], false);
    let telegram = receive(&mut first, &later, NEW_YEAR_MS).expect("authentic");
    assert!(telegram.authenticated && telegram.counter.is_some_and(|(_, counter)| counter == 939_916));
    let (key, counter) = telegram.counter.expect("a counter");
    let mut restarted = receiver(&[kaw(false)], false);
    restarted.set_counters([(telegram.meter, key, counter)]);
    for receiver in [&mut first, &mut restarted] {
        assert!(matches!(refused(receiver, &later), Refusal::Repeated { counter: 939_916, .. }));
        let replayed = refused(receiver, &earlier);
        assert!(matches!(replayed, Refusal::Replayed { highest: 939_916, .. }), "{replayed}");
    }
    // In their order both are taken.
    let mut receiver = receiver(&[kaw(false)], false);
    for line in [&earlier, &later] {
        receive(&mut receiver, line, NEW_YEAR_MS).expect("the counter rises");
    }
}

/// Profile D with counter 21,832, whose MAC ends as the CRC of all before it. Sealed by Python's
/// cryptography.
#[test]
fn mac_that_ends_as_a_crc_is_no_crc() {
    let line = "244493157856341233037a2a00ff2a10014855000056dd66b12726f56834a36e49462f5252";
    let mut receiver =
        receiver(&[registered("ELS-12345678", "000102030405060708090a0b0c0d0e0f", false)], false);
    let telegram = receive(&mut receiver, line, NEW_YEAR_MS).expect("authentic");
    assert!(telegram.authenticated && telegram.counter.is_some_and(|(_, counter)| counter == 21_832));
    let altered = line.replace("726f5683", "726f5684");
    let refusal = refused(&mut receiver, &altered);
    assert!(matches!(refusal, Refusal::Open(_)), "{refusal:?}");
}

/// The CRC of this volume is two fillers, which records may have at their end.
#[test]
fn repetition_with_its_crc_is_no_other_telegram() {
    let line = forged(1, &litres(45_237));
    let mut bytes: Vec<u8> =
        (0..line.len() / 2).map(|at| u8::from_str_radix(&line[2 * at..][..2], 16).expect("digits")).collect();
    bytes[0] += 2;
    let crc = crc16(&bytes).to_be_bytes();
    assert_eq!(crc, [0x2f; 2]);
    let line: String = bytes.iter().chain(&crc).map(|byte| format!("{byte:02x}")).collect();
    let mut receiver = receiver(&[kaw(true)], false);
    receive(&mut receiver, &line, NEW_YEAR_MS).expect("allowed");
    assert!(matches!(refused(&mut receiver, &line), Refusal::Same(_)));
}

#[test]
fn refused_telegram_raises_no_counter() {
    let [later, earlier] = both();
    let mut receiver = receiver(&[kaw(false)], false);
    let altered = format!("{}B", &later[..later.len() - 1]);
    assert!(matches!(refused(&mut receiver, &altered), Refusal::Open(OpenError::NotAuthentic(_))));
    receive(&mut receiver, &earlier, NEW_YEAR_MS).expect("the first counter");
}

#[test]
fn wrong_key_corruption_and_alteration_are_told_apart() {
    let profile_b = telegram("annex-n-profile-b");
    let other = registered(&profile_b.meter, "000102030405060708090a0b0c0d0e10", false);
    let (mut right, mut wrong) = (receiver(&[profile_b.registered(false)], false), receiver(&[other], false));
    let bare = without_crcs(&profile_b.line);
    let checked = format!("T1;1;1;2026-01-01 00:00:00.000;90;100;12345678;0x{bare}");
    let refusal = refused(&mut wrong, &checked);
    assert!(matches!(refusal, Refusal::Open(OpenError::WrongKey(_))), "{refusal}");
    assert!(matches!(refused(&mut wrong, &bare), Refusal::Open(OpenError::WrongKeyOrCorrupted(_))));
    // The last byte is ciphertext behind the first block.
    let altered = format!("{}0", &checked[..checked.len() - 1]);
    assert_ne!(altered, checked);
    assert!(matches!(refused(&mut right, &altered), Refusal::Open(OpenError::Altered(_))));
    let failed = checked.replace("T1;1;1", "T1;0;1");
    assert!(matches!(refused(&mut right, &failed), Refusal::Receiver(_)));
    receive(&mut right, &checked, NEW_YEAR_MS).expect("the telegram itself");
    // A frame with CRCs, of which one bit changed.
    let crcs = both()[1].replace("2e138d", "2e138c");
    assert!(matches!(refused(&mut receiver(&[kaw(false)], false), &crcs), Refusal::Receiver(_)));
}

#[test]
fn unauthenticated_telegram_needs_its_setting() {
    let profile_a = telegram("annex-n-profile-a");
    let line = forged(1, &litres(5));
    for (meters_own, collectors) in [(false, false), (true, false), (false, true)] {
        let mut receiver = receiver(&[kaw(meters_own), profile_a.registered(meters_own)], collectors);
        // The second one says 2008-05-31 23:50.
        for (line, at_ms) in [(&line, NEW_YEAR_MS), (&profile_a.line, NEW_YEAR_MS - 554_947_800_000)] {
            let received = receive(&mut receiver, line, at_ms);
            match meters_own || collectors {
                true => assert!(!received.expect("allowed").authenticated),
                false => assert!(matches!(received, Err(Refusal::NotAuthenticated(_))), "{received:?}"),
            }
        }
    }
}

#[test]
fn collectors_setting_does_not_downgrade_an_authentic_meter() {
    let mut all = receiver(&[kaw(false)], true);
    receive(&mut all, &both()[0], NEW_YEAR_MS).expect("authentic");
    assert!(matches!(refused(&mut all, &forged(1, &litres(5))), Refusal::Downgraded(_)));
    // The meter's own setting is meant for it.
    all.set_meters([kaw(true)].map(|meter| (meter.meter, meter)).into());
    assert!(!receive(&mut all, &forged(1, &litres(5)), NEW_YEAR_MS).expect("allowed").authenticated);
}

#[test]
fn unregistered_and_other_devices_are_refused() {
    let mut nobody = receiver(&[], true);
    let error = nobody.receive(super::fixture::GATEWAY, &both()[0], NEW_YEAR_MS).expect_err("unregistered");
    assert!(matches!(error, (Refusal::Unregistered(_), None)), "{error:?}");
    let other = MbusMeter { version: Some(0x3d), ..kaw(true) };
    assert!(matches!(refused(&mut receiver(&[other], true), &both()[0]), Refusal::OtherDevice(_)));
    let same = MbusMeter { version: Some(0x3c), device_type: Some(0x16), ..kaw(false) };
    receive(&mut receiver(&[same], false), &both()[0], NEW_YEAR_MS).expect("the same");
}

#[test]
fn recorded_telegram_with_an_old_time_is_refused() {
    let mut receiver = receiver(&[kaw(true)], false);
    // Type F: 2025-12-30 00:00 and 2025-12-31 12:00.
    let (old, recent) = (forged(1, "046d00003e3c"), forged(1, "046d000c3f3c"));
    let refusal = refused(&mut receiver, &old);
    assert!(matches!(refusal, Refusal::Clock { off_s: -172_800, .. }), "{refusal}");
    let telegram = receive(&mut receiver, &recent, NEW_YEAR_MS).expect("half a day");
    assert_eq!(telegram.clock_off_s, Some(-43_200));
    // An authentic telegram shows its clock, and its counter is its order.
    let mut authentic = super::fixture::receiver(&[kaw(false)], false);
    let telegram = receive(&mut authentic, &both()[0], NEW_YEAR_MS).expect("authentic");
    assert!(telegram.clock_off_s.is_some_and(|off_s| off_s < -86_400), "{telegram:?}");
}

#[test]
fn flood_in_a_meters_name_stores_ten_and_one_a_minute() {
    let mut receiver = receiver(&[kaw(true)], false);
    let mut stored = 0;
    for number in 0..10_000 {
        match receive(&mut receiver, &forged(number as u8, &litres(number)), NEW_YEAR_MS) {
            Ok(_) => stored += 1,
            Err(refusal) => assert!(matches!(refusal, Refusal::TooOften(_)), "{refusal}"),
        }
    }
    assert_eq!(stored, 10);
    let later = NEW_YEAR_MS + MINUTE_MS;
    let line = forged(7, &litres(20_000));
    receive(&mut receiver, &line, later).expect("a minute later");
    let again = receive(&mut receiver, &line, later);
    assert!(matches!(again, Err(Refusal::Same(_))), "{again:?}");
}

#[test]
fn unknown_record_is_shown_as_bytes() {
    let mut receiver = receiver(&[kaw(true)], false);
    // A maker's own code, a code that is reserved, and one without data.
    let telegram = receive(&mut receiver, &forged(1, "04ff010100000004fdff0002000000"), NEW_YEAR_MS);
    for record in telegram.expect("records").contents.records {
        assert!(!record.understood && record.mantissa.is_none() && record.exponent.is_none(), "{record:?}");
        assert_eq!(record.value, record.data);
    }
}

/// The store decides, whoever wrote before.
fn store_takes_a_counter_once(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    let [later, earlier] = both().map(|line| {
        let telegram = receive(&mut receiver(&[kaw(false)], false), &line, NEW_YEAR_MS);
        Write::Telegram(Box::new(telegram.expect("authentic")))
    });
    let written = store.commit(vec![later.clone(), later.clone(), earlier.clone()]).expect("there is room");
    assert_eq!(written, [Written::Done, Written::Repeated, Written::Repeated]);
    assert_eq!(store.commit(vec![later]).expect("again"), [Written::Repeated]);
    let query = TelegramQuery { meter: None, from_ms: 0, to_ms: i64::MAX, after: 0, limit: 9 };
    assert_eq!(store.reader().telegrams(&query).expect("telegrams").len(), 1);
    assert_eq!(store.reader().mbus_meters().expect("meters")[0].telegrams, 1);
}

fn refused_telegrams_are_counted(engine: Engine) {
    let place = engine.place();
    let mut store = place.open();
    let meter = KAW.parse().expect("a meter");
    for count in [3, 4] {
        let reason = format!("reason {count}");
        let write = Write::TelegramsRefused { meter, count, at_ms: NEW_YEAR_MS, reason };
        assert_eq!(store.commit(vec![write]).expect("there is room"), [Written::Done]);
    }
    let meters = store.reader().mbus_meters().expect("meters");
    let shown =
        (meters[0].refused, meters[0].telegrams, meters[0].refusal.as_deref(), meters[0].last_heard_ms);
    assert_eq!(shown, (7, 0, Some("reason 4"), None));
}
