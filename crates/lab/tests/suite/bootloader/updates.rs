//! Updates that the bootloader accepts.

use super::part::{BootPart, on_each_part};
use super::rig::{Behaviour, Rig, Running, built, key, signed};
use mcu::{Stop, Until};
use testkit::random::Random;

on_each_part! {
    an_image_is_installed_tried_and_confirmed,
    former_image_runs_again_if_the_new_one_does_not_report,
    an_image_that_hangs_goes_back_by_the_watchdog,
    a_transfer_goes_on_where_the_power_was_cut,
    it_takes_what_the_page_says,
}

/// Installs the first image: the part ran nothing before.
fn an_image_is_installed_tried_and_confirmed(part: &'static BootPart) {
    let (private, public) = key(part, "installed", &mut Random::new(1));
    let mut rig = Rig::new(part, Some(&public));
    assert_eq!(rig.start(), Running::Loader, "there is nothing to run");
    let status = rig.status();
    assert_eq!((status.target.as_str(), status.free, status.floor), (part.target, 0, 0));
    assert_eq!((status.confirmed, status.trial), (None, None));
    rig.send(&signed(part, &private, 0, 1, Behaviour::Confirms)).expect("it is taken");
    assert_eq!(rig.says(), "<1+>");
    rig.cut(0);
    let status = rig.status();
    assert_eq!((status.free, status.confirmed, status.trial, status.floor), (1, Some(0), None, 1));

    // The next one goes into the other slot, and takes over.
    rig.cut(0);
    rig.send(&signed(part, &private, 1, 2, Behaviour::Confirms)).expect("it is taken");
    assert_eq!(rig.says(), "<2+>");
    for _ in 0..5 {
        rig.cut(0);
        assert_eq!(rig.start(), Running::Slot(1));
    }
    assert_eq!(rig.says(), "<2+>", "what is confirmed may say so again");
    rig.cut(0);
    let status = rig.status();
    assert_eq!((status.free, status.confirmed, status.trial, status.floor), (0, Some(1), None, 2));
}

/// A part on which version 1 is confirmed, in the first slot, and version 2 is in its first start,
/// which follows the transfer; it never reports in.
fn on_trial(part: &'static BootPart, name: &str) -> Rig {
    let (private, public) = key(part, name, &mut Random::new(1));
    let mut rig = Rig::new(part, Some(&public));
    rig.send(&signed(part, &private, 0, 1, Behaviour::Confirms)).expect("it is taken");
    assert_eq!(rig.says(), "<1+>");
    rig.cut(0);
    rig.send(&signed(part, &private, 1, 2, Behaviour::Silent)).expect("it is taken");
    assert_eq!(rig.says(), "<2>");
    rig
}

fn former_image_runs_again_if_the_new_one_does_not_report(part: &'static BootPart) {
    let mut rig = on_trial(part, "silent");
    for start in 2..=3 {
        rig.cut(0);
        assert_eq!(rig.start(), Running::Slot(1), "start {start}");
    }
    rig.cut(0);
    assert_eq!(rig.start(), Running::Slot(0), "the fourth start is the former one's");
    assert_eq!(rig.says(), "<1+>");
    rig.cut(0);
    let status = rig.status();
    assert_eq!((status.confirmed, status.trial, status.floor), (Some(0), None, 1));
}

/// A new image that stands still: the watchdog starts the part anew, and it goes back without
/// anybody there.
fn an_image_that_hangs_goes_back_by_the_watchdog(part: &'static BootPart) {
    let mut rig = on_trial(part, "hangs");
    let main = rig.main_of(0);
    let until = Until {
        cycles: Some(rig.machine.cycles() + 5 * part.watchdog_s * part.clock_hz),
        addresses: vec![main],
    };
    let stop = rig.machine.run(&until);
    assert_eq!(stop, Ok(Stop::Address(main)), "the former image runs: {:?}", rig.record());
    assert!(rig.machine.cycles() > 28 * part.watchdog_s * part.clock_hz / 10, "three times, all but");
}

fn a_transfer_goes_on_where_the_power_was_cut(part: &'static BootPart) {
    let (private, public) = key(part, "resumed", &mut Random::new(1));
    let image = signed(part, &private, 0, 1, Behaviour::Confirms);
    let mut rig = Rig::new(part, Some(&public));
    rig.await_listening();
    let mut transfer = update::loader::Transfer::new(&image).expect("an image");
    while transfer.progress().0 < image.len() / 2 {
        let request = transfer.request().expect("more");
        let answer = rig.ask(&request).expect("an answer");
        transfer.answer(&answer).expect("it is taken");
    }
    let there = transfer.progress().0;
    rig.cut(0x5a);
    rig.await_listening();
    let begun = rig.machine.cycles();
    let mut again = update::loader::Transfer::new(&image).expect("an image");
    let answer = rig.ask(&again.request().expect("a request")).expect("an answer");
    again.answer(&answer).expect("it is taken");
    let (next, _) = again.progress();
    assert!(next + 256 >= there && next <= there, "{next} of {there} bytes are there");
    assert!(rig.machine.cycles() - begun < part.clock_hz / 4, "nothing was erased");
    rig.send(&image).expect("the rest is taken");
    assert_eq!(rig.says(), "<1+>");
}

/// docs/how-to/firmware-update.md, "What it takes": sizes in whole KiB, as flash is given out, and
/// cycles to within a twentieth. Each is printed as it is, and the page is not written anew for a
/// change that moves none of them.
fn it_takes_what_the_page_says(part: &'static BootPart) {
    let page = include_str!("../../../../../docs/how-to/firmware-update.md");
    let section = page.split("## What it takes").nth(1).expect("a section");
    let cells = |begin: &str| -> Vec<String> {
        let row = section.lines().find(|line| line.starts_with(begin)).expect(begin);
        row.split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let column = cells("| |").iter().position(|cell| cell.to_lowercase() == part.target).expect("a column");
    let said = |name: &str| -> u64 {
        let digits = cells(&format!("| {name} |"))[column].replace(',', "");
        digits.parse().expect("a number")
    };
    let takes_kib = |name: &str, bytes: usize| {
        println!("{}: {bytes} bytes, {name}", part.target);
        assert_eq!(bytes.div_ceil(1024) as u64, said(&format!("KiB of {name}")), "{bytes} bytes");
    };
    let boot = &built(part).boot;
    takes_kib("the bootloader", boot.image().segments.iter().map(|segment| segment.bytes.len()).sum());
    let (private, public) = key(part, "figures", &mut Random::new(1));
    let mut rig = Rig::new(part, Some(&public));
    rig.send(&signed(part, &private, 0, 1, Behaviour::Confirms)).expect("it is taken");
    assert_eq!(rig.says(), "<1+>");
    let [verify, run] =
        ["ws_image_verify", "ws_boot_run"].map(|name| boot.symbol(name).expect("a function").address);
    // The number of hashes depends on a signature's digits: so the mean of some.
    let mut cycles = Vec::new();
    for version in 1..=24 {
        let image = signed(part, &private, 0, version, Behaviour::Confirms);
        assert!(rig.machine.poke(part.slots[0], &image));
        rig.cut(0);
        let mut at = |address| {
            let until = Until { cycles: Some(4 * part.clock_hz), addresses: vec![address] };
            assert_eq!(rig.machine.run(&until), Ok(Stop::Address(address)));
            rig.machine.cycles()
        };
        let begun = at(verify);
        cycles.push(at(run) - begun);
    }
    let mean = cycles.iter().sum::<u64>() / cycles.len() as u64;
    let range = (cycles.iter().min(), cycles.iter().max());
    println!("{}: verified in {mean} cycles on average, {range:?}", part.target);
    let told = said("cycles in which that image is verified, on average");
    assert!(mean.abs_diff(told) < told / 20, "{mean} cycles, and the page says {told}");
    takes_kib("an image", signed(part, &private, 0, 1, Behaviour::Confirms).len());
}
