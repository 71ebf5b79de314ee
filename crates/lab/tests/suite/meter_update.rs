//! The meter's firmware takes an image of itself by radio, on the model of the STM32F407 with its
//! bootloader, and the power is cut meanwhile: within words that are programmed, within erasures,
//! and between them. docs/reference/protocol.md, "Firmware by radio"
//!
//! More cuts: `cargo test --release -p wattseal-lab --test suite meter_update:: -- --ignored
//! --nocapture`, with WATTSEAL_SEED=n for others.

use super::bootloader::part::STM32F407;
use super::bootloader::rig::{built, key, record_bytes};
use super::meter_ports::{METER, Rig, Slots, built_for_slot};
use firmware::{Firmware, Slot};
use mcu::{Access, AccessKind, Mcu, Observer, Until};
use std::sync::OnceLock;
use testkit::random::{Random, seed_or};
use update::image;
use update::key::PrivateKey;
use wire::meter::{
    Cause, Command, CommandResult, Image, ImageRefusal, MeterRecord, MeterState, PROVISION_SYMBOL, Status,
    Suite, UpdateEnd,
};

const BOARD: &str = "stm32f407-cc2500";
/// Few suites: the image is smaller.
const SUITES: [&str; 2] = ["aes128-gcm", "aes256-gcm"];
const SUITE: Suite = Suite::Aes128Gcm;

fn programs() -> &'static [Firmware; 2] {
    static BUILT: OnceLock<[Firmware; 2]> = OnceLock::new();
    BUILT.get_or_init(|| [Slot::A, Slot::B].map(|slot| built_for_slot(BOARD, &SUITES, slot)))
}

/// The meter for a slot, packed and signed.
fn signed(key: &PrivateKey, slot: usize, version: u32) -> Image {
    let segments = &programs()[slot].image().segments;
    let (start, program) =
        image::program(segments.iter().map(|segment| (segment.address, segment.bytes.as_slice())))
            .expect("a program");
    let signature = key.signature_bytes().expect("a key");
    let packed = image::pack(STM32F407.target, version, start, &program, signature).expect("an image");
    let (signature, _) = key.sign(&packed).expect("a leaf");
    Image::new([packed, signature].concat()).expect("an image")
}

struct History {
    rig: Rig,
    key: PrivateKey,
    images: [Image; 2],
}

/// A meter that reports, version 1 in its first slot, and version 2 for the second.
fn history(name: &str, seed: u64) -> History {
    let mut random = Random::new(seed);
    let (private, public) = key(&STM32F407, name, &mut random);
    let images = [signed(&private, 0, 1), signed(&private, 1, 2)];
    let boot = &built(&STM32F407).boot;
    let provision =
        programs().each_ref().map(|program| program.symbol(PROVISION_SYMBOL).expect("it has it").address);
    assert_eq!(provision, [0x0800_c000; 2], "both programs have what was provisioned at the same place");
    let slots = Slots {
        boot,
        flash: &[
            (boot.symbol("ws_boot_public_key").expect("it has it").address, public.bytes().to_vec()),
            (STM32F407.slots[0], images[0].bytes().to_vec()),
            (STM32F407.journal, record_bytes(1, 0)),
        ],
        provision: provision[0],
    };
    let mut rig = Rig::with(BOARD, SUITE, seed, Some(&slots));
    rig.run_until(20.0, "two reports", |rig| rig.accepted.len() >= 2);
    History { rig, key: private, images }
}

fn give(rig: &mut Rig, image: &Image) {
    rig.collector.update(METER, image.clone()).expect("known");
}

fn end(rig: &Rig) -> Option<UpdateEnd> {
    rig.collector.update_progress(METER)?.update.end
}

fn until_end(rig: &mut Rig, what: &str) -> UpdateEnd {
    rig.run_until(300.0, what, |rig| end(rig).is_some());
    end(rig).expect("it has one")
}

/// The slot whose program runs, which is as it was signed.
fn runs(rig: &Rig, images: &[&Image], what: &str) -> usize {
    let pc = rig.machine.pc();
    let slot = STM32F407.slots.iter().position(|slot| pc.wrapping_sub(*slot) < STM32F407.slot_bytes);
    let slot = slot.unwrap_or_else(|| panic!("{what}: no program runs, at {pc:#x}"));
    let is_whole = images.iter().any(|image| {
        let mut held = vec![0; image.bytes().len()];
        assert!(rig.machine.peek(STM32F407.slots[slot], &mut held));
        held == image.bytes()
    });
    assert!(is_whole, "{what}: what runs was never signed");
    slot
}

fn status(rig: &mut Rig, page: u8) -> Status {
    let answer = rig.command(Command::ReadStatus { page }).answer;
    answer.status(page).unwrap_or_else(|| panic!("{answer:?}"))
}

/// No number comes twice, over all images.
fn numbers_go_on(rig: &Rig, what: &str) {
    for pair in rig.accepted.windows(2) {
        assert!(pair[0].report.n < pair[1].report.n, "{what}: {:?}", pair[1].report);
    }
}

#[test]
fn stm32_takes_an_image_by_radio_and_keeps_its_state() {
    let History { mut rig, key, images } = history("radio", 20_260_104);
    let configure = Command::Configure { interval_s: 2, suite: SUITE };
    assert_eq!(rig.command(configure).answer.outcome, CommandResult::Done);
    assert_eq!(runs(&rig, &[&images[0]], "before"), 0);
    let begun_ns = rig.now_ns();
    give(&mut rig, &images[1]);
    assert_eq!(until_end(&mut rig, "the second"), UpdateEnd::Runs);
    println!("{} bytes in {} s", images[1].bytes().len(), (rig.now_ns() - begun_ns) / 1_000_000_000);
    assert_eq!(runs(&rig, &[&images[1]], "the second"), 1);
    assert_eq!(
        status(&mut rig, 2),
        Status::Firmware { version: 2, slot: 0, on_trial: false, trial_next: false, received: 0, bytes: 0 }
    );
    let Status::Settings { interval_s, starts, suite, .. } = status(&mut rig, 0) else { panic!("page 0") };
    assert_eq!((interval_s, starts, suite), (2, 2, Some(SUITE)));

    // No version goes back; what was tampered with never runs.
    give(&mut rig, &signed(&key, 0, 1));
    assert_eq!(until_end(&mut rig, "an older one"), UpdateEnd::Refused(ImageRefusal::Old));
    let third = signed(&key, 0, 3);
    let mut tampered = third.bytes().to_vec();
    tampered[0x1000] ^= 4;
    give(&mut rig, &Image::new(tampered).expect("an image"));
    assert_eq!(until_end(&mut rig, "a tampered one"), UpdateEnd::WentBack);
    assert_eq!(runs(&rig, &[&images[1]], "after the tampered one"), 1);
    rig.cut_power();
    rig.began_anew(Cause::PowerOn, 4);
    assert_eq!(runs(&rig, &[&images[1]], "in the end"), 1);
    numbers_go_on(&rig, "in the end");
}

/// Observer of a step: the cycles at which flash is changed.
#[derive(Default)]
struct Changes(Vec<u64>);

impl Observer for Changes {
    fn access(&mut self, access: &Access) {
        // FLASH_CR's STRT begins an erasure.
        let begins = access.address == 0x4002_3c10 && access.value & 1 << 16 != 0;
        if access.kind == AccessKind::Write
            && (begins || access.address.wrapping_sub(STM32F407.flash) < STM32F407.flash_bytes as u32)
        {
            self.0.push(access.cycles);
        }
    }
}

/// A moment in an update, with what the collector had durable.
struct Moment {
    machine: Box<dyn Mcu>,
    record: MeterRecord,
    state: MeterState,
    /// The reports that the collector had.
    reports: usize,
    cycle: u64,
}

/// An update from its order to its end, and moments in it: within one in `one_of` changes of flash,
/// and some between.
fn moments(history: &mut History, one_of: u32, random: &mut Random) -> (Vec<Moment>, usize) {
    let rig = &mut history.rig;
    give(rig, &history.images[1]);
    let (mut moments, mut operations) = (Vec::new(), 0);
    let limit_ns = rig.now_ns() + 300_000_000_000;
    while end(rig).is_none() {
        assert!(rig.now_ns() < limit_ns, "it does not end");
        let (machine, begun) = (rig.machine.snapshot(), rig.machine.cycles());
        let record = rig.collector.record(METER).expect("known").clone();
        let state = rig.collector.state(METER).expect("known");
        let reports = rig.accepted.len();
        let mut changes = Changes::default();
        rig.step_observed(&mut changes);
        operations += changes.0.len();
        let mut cycles = Vec::new();
        for cycle in changes.0 {
            if random.below(one_of) == 0 {
                // Of a word 16 us, of an erasure a second; some behind it.
                let longest = [2_700, 100_000_000][random.below(2) as usize];
                cycles.push(cycle + 1 + u64::from(random.below(longest)));
            }
        }
        if random.below(40 * one_of) == 0 {
            cycles.push(begun + 1 + u64::from(random.below(300_000)));
        }
        for cycle in cycles {
            let (machine, record, state) = (machine.snapshot(), record.clone(), state.clone());
            moments.push(Moment { machine, record, state, reports, cycle });
        }
    }
    (moments, operations)
}

/// The power is cut at that moment, within what is being written, and comes back: an image runs
/// that was signed, and the update comes to its end. Returns which one ran.
fn cut(history: &History, moment: &Moment, random: &mut Random) -> usize {
    let what = format!("cut at cycle {}", moment.cycle);
    let images = [&history.images[0], &history.images[1]];
    let mut rig = history.rig.at(
        moment.machine.snapshot(),
        moment.record.clone(),
        moment.state.clone(),
        u64::from(random.word()),
    );
    rig.accepted = history.rig.accepted[..moment.reports].to_vec();
    // Nobody answers up to there.
    let until = Until { cycles: Some(moment.cycle), ..Until::default() };
    rig.machine.run(&until).expect("it runs");
    rig.cut_power_within(random.byte());
    let before = rig.accepted.len();
    rig.run_until(60.0, &what, |rig| rig.accepted.len() >= before + 2);
    let slot = runs(&rig, &images, &what);
    give(&mut rig, images[1]);
    let mut ended = until_end(&mut rig, &what);
    if ended == UpdateEnd::WentBack {
        // Its starts on trial were used up.
        give(&mut rig, images[1]);
        ended = until_end(&mut rig, &what);
    }
    assert_eq!(ended, UpdateEnd::Runs, "{what}");
    assert_eq!(runs(&rig, &images, &what), 1, "{what}");
    numbers_go_on(&rig, &what);
    slot
}

fn cuts(one_of: u32) {
    let mut random = Random::new(seed_or(1));
    let mut history = history("radio-cuts", 20_260_105);
    let (moments, operations) = moments(&mut history, one_of, &mut random);
    let mut ran = [0; 2];
    for moment in &moments {
        ran[cut(&history, moment, &mut random)] += 1;
    }
    println!("{} cuts, {operations} changes of flash: the images ran {ran:?} times after one", moments.len());
    assert!(!moments.is_empty(), "{operations} changes of flash");
}

#[test]
fn the_stm32_may_lose_its_power_while_it_takes_an_image() {
    cuts(800);
}

#[test]
#[ignore = "some hundred power cuts: the command is in the module's text"]
fn the_stm32_may_lose_its_power_at_many_moments() {
    cuts(20);
}
