//! Images that the bootloader refuses.

use super::part::{BootPart, on_each_part};
use super::rig::{Behaviour, Rig, Running, key, signed, unsigned};
use testkit::random::{Random, seed};
use update::UpdateError;
use update::key::PrivateKey;
use update::loader::{Rejection, frame};

on_each_part! {
    unsigned_foreign_or_old_images_are_refused,
    a_part_of_an_image_is_not_run,
    an_image_with_a_wrong_bit_does_not_run_wherever_it_is,
    a_bootloader_without_a_key_runs_nothing,
    an_older_image_does_not_run_from_its_slot,
    any_bytes_at_the_uart_do_no_harm,
}

/// A part on which version 5 runs in the first slot.
fn installed(part: &'static BootPart, name: &str) -> (Rig, PrivateKey) {
    let (private, public) = key(part, name, &mut Random::new(1));
    let mut rig = Rig::new(part, Some(&public));
    rig.send(&signed(part, &private, 0, 5, Behaviour::Confirms)).expect("it is taken");
    assert_eq!(rig.says(), "<5+>");
    (rig, private)
}

/// Sends an image, which is refused for this reason, and the former one runs as before.
fn is_refused(rig: &mut Rig, image: &[u8], reason: Rejection) {
    rig.cut(0);
    match rig.send(image) {
        Err(UpdateError::Rejected(rejection)) => assert_eq!(rejection, reason),
        other => panic!("{other:?} instead of {reason:?}"),
    }
    assert_eq!(rig.record().expect("a record").trial, 0xff, "it is not on trial");
    rig.cut(0);
    assert_eq!(rig.start(), Running::Slot(0));
    assert_eq!(rig.says(), "<5+>");
}

fn unsigned_foreign_or_old_images_are_refused(part: &'static BootPart) {
    let (mut rig, private) = installed(part, "refused");
    let (other, _) = key(part, "other", &mut Random::new(2));
    let good = signed(part, &private, 1, 6, Behaviour::Confirms);
    is_refused(&mut rig, &signed(part, &other, 1, 6, Behaviour::Confirms), Rejection::BadSignature);
    is_refused(&mut rig, &signed(part, &private, 1, 4, Behaviour::Confirms), Rejection::Old);
    is_refused(&mut rig, &signed(part, &private, 0, 6, Behaviour::Confirms), Rejection::OtherAddress);
    let with = |at: usize, bytes: &[u8]| {
        let mut changed = good.clone();
        changed[at..at + bytes.len()].copy_from_slice(bytes);
        changed
    };
    is_refused(&mut rig, &with(0, b"WSI2"), Rejection::NoImage);
    is_refused(&mut rig, &with(4, b"atmega328p"), Rejection::OtherTarget);
    // A version that only the header says.
    is_refused(&mut rig, &with(20, &7u32.to_be_bytes()), Rejection::BadSignature);
    // Another image's signature.
    let length = unsigned(part, 1, 6, Behaviour::Confirms, 0).len();
    let of_another = signed(part, &private, 1, 7, Behaviour::Confirms);
    is_refused(&mut rig, &[&good[..length], &of_another[length..]].concat(), Rejection::BadSignature);
    // Sizes at the limits of what a number holds.
    for (length, signature) in
        [(u32::MAX - 3, 44), (0x200, 2_348), (part.slot_bytes, 44), (0x204, u32::MAX - 3), (0x204, 40)]
    {
        let sizes = [length.to_be_bytes(), signature.to_be_bytes()].concat();
        let is_none = length == 0x200 || signature == 40;
        is_refused(&mut rig, &with(32, &sizes), if is_none { Rejection::NoImage } else { Rejection::Large });
    }
    // The good one is taken all the same.
    rig.cut(0);
    rig.send(&good).expect("it is taken");
    assert_eq!(rig.says(), "<6+>");
}

fn a_part_of_an_image_is_not_run(part: &'static BootPart) {
    let (mut rig, private) = installed(part, "truncated");
    let good = signed(part, &private, 1, 6, Behaviour::Confirms);
    // It ends in the midst.
    rig.cut(0);
    rig.await_listening();
    assert_eq!(rig.result(&[&[2], &good[..40]].concat()), 0);
    assert_eq!(rig.result(&[&[3, 0, 0, 0, 0], &good[..256]].concat()), 0);
    assert_eq!(rig.result(&[4]), 17, "it is not all there");
    rig.cut(0);
    assert_eq!(rig.start(), Running::Slot(0));
    // Its header says that it is shorter.
    let length = unsigned(part, 1, 6, Behaviour::Confirms, 0).len() as u32;
    let mut shorter = good[..good.len() - 4].to_vec();
    shorter[36..40].copy_from_slice(&(good.len() as u32 - length - 4).to_be_bytes());
    is_refused(&mut rig, &shorter, Rejection::BadSignature);
}

/// Each in a copy of the installed part.
fn an_image_with_a_wrong_bit_does_not_run_wherever_it_is(part: &'static BootPart) {
    let mut random = Random::new(seed());
    let (mut rig, private) = installed(part, "bits");
    let good = signed(part, &private, 1, 6, Behaviour::Silent);
    rig.cut(0);
    rig.send(&good).expect("it is taken");
    assert_eq!(rig.start(), Running::Slot(1));
    for _ in 0..24 {
        let mut copy = Rig::of(part, rig.machine.snapshot());
        // Every byte is signed, also those that the header does not use.
        let at = random.below(good.len() as u32);
        let held = copy.flash(part.slots[1] + at, 1)[0] ^ 1 << random.below(8);
        assert!(copy.machine.poke(part.slots[1] + at, &[held]));
        copy.cut(0);
        assert_eq!(copy.start(), Running::Slot(0), "a wrong bit in byte {at}");
    }
    // Of the confirmed one as well: then there is nothing to run.
    rig.cut(0);
    for slot in part.slots {
        let held = rig.flash(slot + 700, 1)[0];
        assert!(rig.machine.poke(slot + 700, &[held ^ 1]));
    }
    assert_eq!(rig.start(), Running::Loader);
}

fn a_bootloader_without_a_key_runs_nothing(part: &'static BootPart) {
    let (private, _) = key(part, "no-key", &mut Random::new(1));
    let mut rig = Rig::new(part, None);
    let refused = rig.send(&signed(part, &private, 0, 1, Behaviour::Confirms));
    assert!(matches!(refused, Err(UpdateError::Rejected(Rejection::BadSignature))), "{refused:?}");
    rig.cut(0);
    assert_eq!(rig.start(), Running::Loader);
}

/// The slot of the older image may have any contents, from a programmer or from flash that lost
/// them.
fn an_older_image_does_not_run_from_its_slot(part: &'static BootPart) {
    let (mut rig, private) = installed(part, "older");
    let old = signed(part, &private, 1, 4, Behaviour::Confirms);
    rig.cut(0);
    rig.send(&signed(part, &private, 1, 6, Behaviour::Silent)).expect("it is taken");
    // In place of the one on trial.
    assert!(rig.machine.poke(part.slots[1], &old));
    rig.cut(0);
    assert_eq!(rig.start(), Running::Slot(0));
}

/// Any bytes: no hang, no fault, nothing written but the free slot and the journal; the image runs
/// afterwards.
fn any_bytes_at_the_uart_do_no_harm(part: &'static BootPart) {
    let mut random = Random::new(seed());
    let (mut rig, private) = installed(part, "any");
    let good = signed(part, &private, 1, 6, Behaviour::Confirms);
    rig.cut(0);
    let before = rig.flash(part.flash, part.flash_bytes);
    rig.await_listening();
    for _ in 0..120 {
        let mut bytes = match random.below(6) {
            0 => (0..random.below(600)).map(|_| random.byte()).collect(),
            1 => frame(&(0..1 + random.below(270)).map(|_| random.byte()).collect::<Vec<_>>()),
            2 => frame(&[&[2], &good[..40]].concat()),
            3 => frame(&[&[3], &random.word().to_be_bytes()[..], &good[..256]].concat()),
            4 => {
                let at = 4 * random.below(70);
                let len = 1 + random.below(256) as usize;
                frame(&[&[3], &at.to_be_bytes()[..], &good[at as usize..at as usize + len]].concat())
            }
            _ => frame(&[1 + random.byte() % 4]),
        };
        if random.below(3) == 0 && !bytes.is_empty() {
            let at = random.below(bytes.len() as u32) as usize;
            bytes[at] ^= 1 << random.below(8);
        }
        assert!(rig.machine.uart_receive(part.uart, &bytes));
        let now = rig.machine.cycles();
        // A byte takes 1 / 11,520 of a second.
        rig.advance(now + part.clock_hz / 11_400 * bytes.len() as u64 + u64::from(random.below(40_000)));
    }
    let after = rig.flash(part.flash, part.flash_bytes);
    let may_change = |at: u32| {
        let in_journal = (part.journal..part.journal + 2 * part.journal_sector).contains(&at);
        in_journal || (part.slots[1]..part.slots[1] + part.slot_bytes).contains(&at)
    };
    let changed = before.iter().zip(&after).zip(part.flash..).filter(|((before, after), _)| before != after);
    let wrong: Vec<u32> = changed.map(|(_, at)| at).filter(|at| !may_change(*at)).collect();
    assert!(wrong.is_empty(), "changed: {:#x?}", wrong.first());
    // Without frames it goes on by itself after ten seconds.
    let now = rig.machine.cycles();
    assert_eq!(rig.start(), Running::Slot(0));
    assert!(rig.machine.cycles() - now < 14 * part.clock_hz);
    assert_eq!(rig.says(), "<5+>");
    rig.cut(0);
    rig.send(&good).expect("it is taken");
    assert_eq!(rig.says(), "<6+>");
}
