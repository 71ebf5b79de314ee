//! Faults on the bootloader's way from a refusal to the jump.

use super::part::{BootPart, on_each_part};
use super::rig::{Behaviour, Rig, built, key, record_bytes, signed};
use crate::decisions::Silent;
use lab::fault::{self, Injected, Marker, Model, Outcome, Request, Window};
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use std::path::PathBuf;
use testkit::random::Random;

on_each_part! {
    no_skip_runs_an_image_with_a_wrong_bit,
    no_skip_runs_an_older_image,
}

/// Faults from a function on, on a part whose confirmed slot has an image that must not run.
fn injected(
    part: &'static BootPart,
    (from, models): (&str, &[Model]),
    (floor, wrong_bit): (u32, u8),
    hang_cycles: u64,
) -> Injected {
    let (private, public) = key(part, &format!("faults-{from}"), &mut Random::new(1));
    let mut image = signed(part, &private, 0, 1, Behaviour::Confirms);
    image[700] ^= wrong_bit;
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, bytes: &[u8], address: u32| -> (PathBuf, u32) {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("a file");
        (path, address)
    };
    let boot = &built(part).boot;
    let key_at = boot.symbol("ws_boot_public_key").expect("the bootloader has it").address;
    let beside = vec![
        file("key", public.bytes(), key_at),
        file("record", &record_bytes(floor, 0), part.journal),
        file("image", &image, part.slots[0]),
    ];
    let clock_hz = Some(part.clock_hz);
    let main = Rig::new(part, None).main_of(0);
    let request = Request {
        setup: Setup { beside, clock_hz, ..Setup::new(boot.path().into(), part.target) },
        window: Window::Between { from: from.into(), to: "wait_for_image".into() },
        models: models.into(),
        good: vec![Marker::Reach("wait_for_image".into())],
        bad: vec![Marker::Reach(format!("{main:#x}"))],
        exit: None,
        occurrences: (models.len() == 1).then_some(1),
        sample: None,
        seed: 1,
        max_cycles: 100_000_000,
        hang_cycles: Some(hang_cycles),
        prunes: true,
        state: None,
    };
    let workspace = Workspace::find().expect("the project's folder");
    fault::run(&workspace, &request, &Silent, &|_| {}).expect("a campaign")
}

/// The decision and the jump that follows it.
fn no_skip_runs_an_image_with_a_wrong_bit(part: &'static BootPart) {
    let injected = injected(
        part,
        ("ws_lms_verify_end", &[Model::Skip(1), Model::Skip(2), Model::Flags]),
        (1, 1),
        100_000,
    );
    assert!(injected.counts.total() > 200, "{:?}", injected.counts);
    assert_eq!(injected.counts.of(Outcome::Bypassed), 0, "{:?}", injected.rows);
}

/// A version below the floor, with a good signature: a fault that passes the header's check is
/// noticed before the jump, once the signature has been verified.
fn no_skip_runs_an_older_image(part: &'static BootPart) {
    let injected = injected(part, ("ws_image_header", &[Model::Skip(1)]), (2, 0), 16_000_000);
    assert!(injected.counts.total() > 50, "{:?}", injected.counts);
    assert_eq!(injected.counts.of(Outcome::Bypassed), 0, "{:?}", injected.rows);
}
