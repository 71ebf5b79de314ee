//! The power is cut while an image is received, verified, tried and confirmed: within every kind of
//! flash operation, at random moments between them, and again while the part starts from that.
//!
//! Ten thousand cuts, within each flash operation at least once: `cargo test --release -p
//! wattseal-lab --test suite bootloader::cuts:: -- --ignored --nocapture`, with WATTSEAL_SEED=n for
//! others.

use super::part::{BootPart, on_each_part};
use super::rig::{Behaviour, Rig, Running, Stops, key, signed};
use mcu::Mcu;
use testkit::random::{Random, seed_or};

on_each_part! {
    signed_image_that_is_not_old_runs_after_any_power_cut,
    cuts_while_an_image_is_on_trial_that_never_reports_in,
    #[ignore = "10,000 power cuts: the command is in the module's text"]
    ten_thousand_cuts,
}

/// The history that is cut: version 1 runs in the first slot, and version 2 comes, in the second.
struct History {
    rig: Rig,
    images: [Vec<u8>; 2],
}

impl History {
    fn new(part: &'static BootPart, name: &str, behaviour: Behaviour, random: &mut Random) -> History {
        let (private, public) = key(part, name, random);
        let images =
            [signed(part, &private, 0, 1, Behaviour::Confirms), signed(part, &private, 1, 2, behaviour)];
        let mut rig = Rig::new(part, Some(&public));
        rig.send(&images[0]).expect("it is taken");
        assert_eq!(rig.says(), "<1+>");
        rig.cut(0);
        History { rig, images }
    }

    /// From the start on: the same each time, to the cycle. Returns the cycle at which the new
    /// image has been confirmed, if it ever is.
    fn run(&self, stops: Stops, then: &mut dyn FnMut(u64, Box<dyn Mcu>)) -> (Rig, Option<u64>) {
        let mut rig = Rig::of(self.rig.part, self.rig.machine.snapshot());
        rig.stops = stops;
        rig.await_listening();
        let mut transfer = update::loader::Transfer::new(&self.images[1]).expect("an image");
        let mut hand_over = |rig: &mut Rig| {
            rig.stops.copies.drain(..).for_each(|(cycle, copy)| then(cycle, copy));
        };
        while let Some(request) = transfer.request() {
            let answer = rig.ask(&request).expect("an answer");
            transfer.answer(&answer).expect("it is taken");
            hand_over(&mut rig);
        }
        let said = rig.says();
        hand_over(&mut rig);
        let confirmed = said.contains('+').then(|| rig.machine.cycles());
        (rig, confirmed)
    }
}

/// Checks that the running image is as it was signed.
fn is_whole(rig: &Rig, slot: usize, history: &History, told: &str) {
    let image = &history.images[slot];
    assert!(
        rig.flash(rig.part.slots[slot], image.len()) == *image,
        "{told}: what runs is not what was signed"
    );
}

/// Cuts a copy off, once or a few times, and starts it: an image runs. Returns which.
fn cut_and_start(
    copy: Box<dyn Mcu>,
    history: &History,
    random: &mut Random,
    was_confirmed: bool,
    told: &str,
) -> (Rig, usize) {
    let mut rig = Rig::of(history.rig.part, copy);
    let floor = if was_confirmed { 2 } else { 1 };
    rig.cut(random.byte());
    // Again while it starts: up to the first record and behind it.
    while random.below(3) == 0 {
        let cycles = u64::from(random.below(rig.part.start_cycles));
        rig.advance(cycles);
        rig.cut(random.byte());
    }
    let Running::Slot(slot) = rig.start() else { panic!("{told}: nothing runs: {:?}", rig.record()) };
    is_whole(&rig, slot, history, told);
    assert!(slot + 1 >= floor, "{told}: version {} runs, and {floor} was confirmed", slot + 1);
    (rig, slot)
}

/// Cuts as often within each flash operation as `choose` says of its index among all, and at `more`
/// moments between.
fn cuts(
    part: &'static BootPart,
    name: &str,
    behaviour: Behaviour,
    more: usize,
    choose: &mut dyn FnMut(usize, usize, &mut Random) -> usize,
) {
    let mut random = Random::new(seed_or(1));
    let history = History::new(part, name, behaviour, &mut random);
    let (reference, confirmed) = history.run(Stops::default(), &mut |_, _| {});
    assert_eq!(confirmed.is_some(), behaviour == Behaviour::Confirms);
    let changes = &reference.changes;
    let mut cycles = Vec::new();
    for (index, &(at, is_erasure)) in changes.iter().enumerate() {
        for _ in 0..choose(index, changes.len(), &mut random) {
            // One in four close behind it.
            let longest = if is_erasure { part.erase_cycles } else { part.program_cycles };
            cycles.push(at + 1 + u64::from(random.below(longest + longest / 4)));
        }
    }
    let end = reference.machine.cycles() as u32;
    cycles.extend((0..more).map(|_| u64::from(random.below(end))));
    cycles.sort_unstable_by(|a, b| b.cmp(a));
    let count = cycles.len();
    let (mut old, mut new, mut sent_again) = (0, 0, 0);
    let stops = Stops { cycles, ..Stops::default() };
    history.run(stops, &mut |cycle, copy| {
        let told = format!("{} {name}: cut at cycle {cycle}", part.target);
        let was_confirmed = confirmed.is_some_and(|confirmed| cycle >= confirmed);
        let (mut rig, slot) = cut_and_start(copy, &history, &mut random, was_confirmed, &told);
        if slot == 0 {
            old += 1
        } else {
            new += 1
        }
        // The running image goes on, and some parts are sent the image again: then it runs, however
        // far it had come.
        if random.below(10) == 0 {
            sent_again += 1;
            rig.says();
            rig.cut(random.byte());
            if rig.status().free == 1 {
                rig.cut(0);
                rig.send(&history.images[1]).unwrap_or_else(|error| panic!("{told}: {error}"));
                rig.says();
                rig.cut(0);
                assert_eq!(rig.start(), Running::Slot(1), "{told}");
                is_whole(&rig, 1, &history, &told);
            }
        }
    });
    println!(
        "{} {name}: {} flash operations, {count} cuts: the former image ran after {old}, the new one after {new}; {sent_again} went on to the end",
        part.target,
        changes.len()
    );
    assert!(old > 0 && new > 0, "cuts are spread over all of it");
}

/// One in a hundred of the image's operations, half of the journal's before them, all at the end:
/// there the new image is on trial, or confirmed.
fn short(part: &'static BootPart, name: &str, behaviour: Behaviour) {
    cuts(part, name, behaviour, 12, &mut |index, operations, random| {
        let record = 24 / part.word_bytes;
        // As many on each part, however small its words.
        let words = 4 / part.word_bytes as u32;
        let one_in = match index {
            _ if index + 5 * record > operations => words,
            _ if index < 3 * record => 2 * words,
            _ => 100 * words,
        };
        usize::from(random.below(one_in) == 0)
    });
}

fn signed_image_that_is_not_old_runs_after_any_power_cut(part: &'static BootPart) {
    short(part, "cuts-confirm", Behaviour::Confirms);
}

fn cuts_while_an_image_is_on_trial_that_never_reports_in(part: &'static BootPart) {
    short(part, "cuts-silent", Behaviour::Silent);
}

fn ten_thousand_cuts(part: &'static BootPart) {
    cuts(part, "cuts-10000-confirm", Behaviour::Confirms, 1_000, &mut |_, _, _| 5);
    cuts(part, "cuts-10000-silent", Behaviour::Silent, 1_000, &mut |_, _, _| 3);
}
