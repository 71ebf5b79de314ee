//! The key of suite 6 is renewed by the meter's firmware on the models of the MSP430F5438A and the
//! STM32F407. The power is cut behind each byte that it writes into its FM25L16B meanwhile: that
//! stores only whole bytes.
//!
//! Behind every byte: `cargo test --release -p wattseal-lab --test suite meter_renewal:: --
//! --ignored --nocapture`

use super::meter_ports::{METER, Rig};
use mcu::Mcu;
use testkit::random::seed_or;
use wire::meter::{Cause, Command, CommandResult, MeterRecord, MeterState, Suite};

const MSP430: &str = "msp430f5438a-cc2500";
const STM32: &str = "stm32f407-cc2500";
/// Range of the key's slots in the memory.
const SLOTS: std::ops::Range<usize> = 1024..1180;
const SLOT: usize = 52;
/// Cycles of a fine step: fewer than the SPI takes for a byte.
const FINE: u64 = 16;

/// The epoch of the collector's key, and whether it has the next one.
fn epoch(rig: &Rig) -> (u32, bool) {
    let keys = &rig.collector.record(METER).expect("it is known").keys;
    (keys.epoch(), keys.has_next())
}

fn begun(board: &str, seed: u64) -> Rig {
    let mut rig = Rig::new(board, Suite::Aes256GcmRekeyed, seed);
    rig.run_until(8.0, "two reports", |rig| rig.accepted.len() >= 2);
    rig
}

/// It is heard, and hears.
fn is_well(rig: &mut Rig) {
    let before = rig.accepted.len();
    rig.run_until(20.0, "two reports", |rig| rig.accepted.len() >= before + 2);
    assert_eq!(rig.command(Command::ReadStatus { page: 0 }).answer.outcome, CommandResult::Done);
}

/// The key is renewed, and outlives the power.
fn renews_its_key(board: &str) {
    let mut rig = begun(board, 20_260_103);
    for renewal in 1..=2 {
        let begun_ns = rig.now_ns();
        assert_eq!(rig.command(Command::RenewKey).answer.outcome, CommandResult::Done);
        rig.run_until(60.0, "the next epoch", |rig| epoch(rig) == (renewal, false));
        println!("{board}: epoch {renewal} after {} ms", (rig.now_ns() - begun_ns) / 1_000_000);
        is_well(&mut rig);
    }
    rig.cut_power();
    rig.began_anew(Cause::PowerOn, 2);
    assert_eq!(epoch(&rig), (2, false));
    is_well(&mut rig);
}

#[test]
fn the_msp430_renews_its_key() {
    renews_its_key(MSP430);
}

#[test]
fn the_stm32_renews_its_key() {
    renews_its_key(STM32);
}

/// A moment before bytes were written, with what the collector had durable.
struct Moment {
    machine: Box<dyn Mcu>,
    record: MeterRecord,
    state: MeterState,
    /// Bytes that had been written, and that had been when it was over.
    writes: (u64, u64),
}

/// A renewal from its order to its end, and the moments in it at which the memory was written.
fn moments(rig: &mut Rig) -> Vec<Moment> {
    rig.collector.command(METER, Command::RenewKey).expect("a command");
    let (before, limit_ns) = (epoch(rig).0, rig.now_ns() + 60_000_000_000);
    let mut moments = Vec::new();
    while epoch(rig) != (before + 1, false) {
        assert!(rig.now_ns() < limit_ns, "the key is not renewed");
        let (machine, writes) = (rig.machine.snapshot(), rig.memory().writes());
        let record = rig.collector.record(METER).expect("known").clone();
        let state = rig.collector.state(METER).expect("known");
        rig.step(&[]);
        let after = rig.memory().writes();
        if after > writes {
            moments.push(Moment { machine, record, state, writes: (writes, after) });
        }
    }
    moments
}

/// The power is cut behind a byte, and comes back; the meter has a key that the collector has, and
/// both come to one. Returns its epoch.
fn cut_behind(rig: &Rig, moment: &Moment, write: u64, seed: u64) -> u32 {
    let mut rig = rig.at(moment.machine.snapshot(), moment.record.clone(), moment.state.clone(), seed);
    rig.run_to_write(write, FINE);
    rig.cut_power();
    is_well(&mut rig);
    rig.run_until(60.0, "one key", |rig| !epoch(rig).1);
    // Bytes of other epochs were overwritten.
    let slots = &rig.memory().memory()[SLOTS];
    let key = rig.collector.record(METER).expect("known").keys.expose_epoch_key();
    let others =
        slots.chunks(SLOT).filter(|slot| slot[16..48] != key[..] && slot.iter().any(|byte| *byte != 0));
    assert_eq!(others.count(), 0, "behind write {write}: {slots:02x?}");
    epoch(&rig).0
}

/// Cuts behind one byte in `one_of`.
fn cuts(board: &str, one_of: u64) {
    let seed = seed_or(1);
    let mut rig = begun(board, seed);
    // From then on there are no slots that were never written.
    for renewal in 1..=2 {
        assert_eq!(rig.command(Command::RenewKey).answer.outcome, CommandResult::Done);
        rig.run_until(60.0, "the next epoch", |rig| epoch(rig) == (renewal, false));
    }
    let moments = moments(&mut rig);
    let (mut cuts, mut epochs) = (0, [0; 2]);
    for moment in &moments {
        for write in moment.writes.0 + 1..=moment.writes.1 {
            if write.wrapping_add(seed).is_multiple_of(one_of) {
                cuts += 1;
                epochs[cut_behind(&rig, moment, write, seed ^ write) as usize - 2] += 1;
            }
        }
    }
    let writes: u64 = moments.iter().map(|moment| moment.writes.1 - moment.writes.0).sum();
    println!("{board}, seed {seed}: {cuts} cuts of {writes} bytes written, epochs {epochs:?}");
    // Settings, two slots of the seed, the key, zeros over the one before.
    assert!(writes >= 32 + 2 * 60 + 52 + 52, "{writes}");
    assert!(cuts > 0 && epochs.iter().all(|count| *count > 0), "{epochs:?}");
}

#[test]
fn the_msp430_may_lose_its_power_while_it_renews_its_key() {
    cuts(MSP430, 30);
}

#[test]
fn the_stm32_may_lose_its_power_while_it_renews_its_key() {
    cuts(STM32, 30);
}

#[test]
#[ignore = "takes minutes: behind every byte that is written"]
fn the_power_may_be_cut_behind_every_byte_of_a_renewal() {
    for board in [MSP430, STM32] {
        cuts(board, 1);
    }
}
