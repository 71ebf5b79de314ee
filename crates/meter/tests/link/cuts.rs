//! Power that fails at any time, within any byte write.

use crate::world::{METER, SECOND_NS, World, load, setup};
use meter::eeprom::Torn;
use meter::{Cause, Status};
use wire::meter::{Command, Suite};

/// How often the power fails: `WATTSEAL_CUTS=20000` for many.
fn rounds(short: u32) -> u32 {
    std::env::var("WATTSEAL_CUTS").ok().and_then(|text| text.parse().ok()).unwrap_or(short)
}

/// Power fails at any time, and bytes are torn: what the journal had is delivered once, in order.
#[test]
fn power_cuts_at_any_time_lose_nothing_that_was_kept() {
    for suite in [Suite::None, Suite::Aes128Gcm, Suite::Aes256Gcm, Suite::EciesEcdsa] {
        let seed = fastrand::u64(..);
        let mut world = World::new(setup(suite, 1), seed);
        let rounds = if suite == Suite::EciesEcdsa { 20 } else { rounds(150) };
        let mut kept = Vec::new();
        let mut lost = 0;
        for _ in 0..rounds {
            (world.lost, world.doubled) = (*world.chance.choice(&[0.0, 0.5, 1.0]).expect("some"), 0.2);
            let for_ns = world.chance.u64(1..6 * SECOND_NS);
            let until_ns = world.now_ns + for_ns;
            while world.now_ns < until_ns {
                world.step(until_ns);
                // An alert is lost without a count where there are alerts alone; it comes before the measurements.
                let Status { kept_number, measurements, .. } = world.meter.status();
                if kept_number != 0 && measurements > 1 && kept.last() != Some(&kept_number) {
                    kept.push(kept_number);
                }
            }
            lost += usize::from(world.meter.status().lost);
            let off_ns = world.chance.u64(..SECOND_NS);
            world.cut_power(Torn::Any, off_ns, Cause::PowerOn);
            // Commands go on over all that.
            if world.collector.commands(METER).is_empty() {
                let interval_s = world.chance.u16(1..3);
                let command = Command::Configure { interval_s, suite };
                world.collector.command(METER, command).expect("in range");
            }
        }
        (world.lost, world.doubled) = (0.0, 0.0);
        world.run(30 * SECOND_NS + SECOND_NS / 2);
        let status = world.meter.status();
        assert_eq!(
            (status.faults, status.waiting),
            (0, 0),
            "{suite}, seed {seed}: {status:?} mixed {}",
            world.mixed
        );
        // A start that ends before it is counted is none.
        let starts = u32::from(status.starts);
        assert!((rounds * 9 / 10..=rounds + 1).contains(&starts), "{suite}, seed {seed}: {starts}");
        let numbers: Vec<u32> = world.reports.iter().map(|accepted| accepted.report.n).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{suite}, seed {seed}");
        let missing = kept.iter().filter(|n| !numbers.contains(n)).count();
        assert!(
            missing <= lost,
            "{suite}, seed {seed}: {missing} of {} are missing, {lost} were lost",
            kept.len()
        );
        assert!(kept.len() > rounds as usize / 4, "{suite}, seed {seed}: {}", kept.len());
    }
}

/// A start, an alert, measurements that the journal has to the end and that are acknowledged then, a command: the power fails in
/// each byte write of that, which is torn in every way.
#[test]
fn every_byte_write_can_be_the_last() {
    for (suite, writes) in [(Suite::Aes128Gcm, 260), (Suite::EciesEcdsa, 480)] {
        let mut world = World::new(setup(suite, 2), 21);
        world.set_load(load(700.0));
        world.run(5 * SECOND_NS);
        let mut happened = 0;
        for cut in 0..writes {
            // By turns; all of them where cuts are many. With curves there are many writes of the same kind.
            let all = [Torn::Old, Torn::New, Torn::Value(0x5a), Torn::Unstable];
            let torn = match suite {
                _ if rounds(0) != 0 => &all[..],
                Suite::Aes128Gcm => &all[cut as usize % 2 * 2..][..2],
                _ if cut % 4 == 0 => &all[cut as usize / 4 % 4..][..1],
                _ => &[],
            };
            for &torn in torn {
                let (faults, off) = one_cut(&mut world, suite, cut, torn);
                assert_eq!(faults, 0, "{suite}: cut in write {cut}, {torn:?}");
                happened += u64::from(off);
            }
        }
        assert!(happened >= writes / 5, "{suite}: only {happened} cuts came");
        let numbers: Vec<u32> = world.reports.iter().map(|accepted| accepted.report.n).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b), "{suite}");
    }
}

/// Cuts the power once in the given byte write after a restart, and sees that all is well after the next. Returns the faults, and
/// whether it came to that write.
fn one_cut(world: &mut World, suite: Suite, cut: u64, torn: Torn) -> (u8, bool) {
    world.cut_power(Torn::Old, SECOND_NS, Cause::PowerOn);
    world.meter.eeprom_mut().cut_after(cut, torn);
    let until_ns = world.now_ns + 8 * SECOND_NS;
    let mut last_kept = 0;
    world.deaf = true;
    let hears_ns = world.now_ns + 3 * SECOND_NS;
    while world.now_ns < until_ns && !world.meter.eeprom().is_off() {
        if world.now_ns >= hears_ns && world.deaf {
            world.deaf = false;
            if world.collector.commands(METER).is_empty() {
                let command = Command::Configure { interval_s: 2, suite };
                world.collector.command(METER, command).expect("in range");
            }
        }
        world.step(until_ns.min(world.now_ns + SECOND_NS / 20));
        if !world.meter.eeprom().is_off() {
            last_kept = last_kept.max(world.meter.status().kept_number);
        }
    }
    world.deaf = false;
    let off = world.meter.eeprom().is_off();
    world.cut_power(torn, SECOND_NS / 10, Cause::BrownOut);
    world.run(6 * SECOND_NS + SECOND_NS / 2);
    let numbers = world.reports.iter().rev().map(|accepted| accepted.report.n);
    let delivered = last_kept == 0 || numbers.take(30).any(|n| n == last_kept);
    assert!(delivered, "{suite}: cut in write {cut}, {torn:?}: {last_kept} is lost");
    let answered = world.command(Command::ReadStatus { page: 0 });
    assert!(answered.answer.status(0).is_some());
    (world.meter.status().faults, off)
}
