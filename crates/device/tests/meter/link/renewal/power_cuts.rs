//! Losses of power within a renewal: in each byte write, torn in each way.

use super::{SUITE, is_well, keys, order, until_epoch};
use crate::link::world::{SECOND_NS, World, setup};
use device::meter::Cause;
use device::meter::eeprom::Torn;

const TORN: [Torn; 4] = [Torn::Old, Torn::New, Torn::Value(0x5a), Torn::Unstable];
/// Byte writes from the order of a renewal on: of settings, of two slots of the seed, of the key,
/// and of zeros over the one before; and of two reports whose acknowledgements come late, because
/// the meter replies meanwhile.
const WRITES: u64 = 32 + 2 * 60 + 52 + 52 + 2 * 45;

/// The power fails in a byte write of a renewal, and then in one of the start after it; the meter
/// has a key that the collector has, and the next renewal comes to its end. Returns the epoch that
/// it was in after the first cut, and whether that came.
fn cut_within(write: u64, torn: Torn) -> (u8, bool) {
    let what = format!("byte write {write}, {torn:?}");
    let mut world = World::new(setup(SUITE, 2), 1000 + write);
    world.watch(what.clone());
    world.run(3 * SECOND_NS);
    // With the first one the generator is seeded.
    order(&mut world);
    until_epoch(&mut world, 1, &what);
    world.meter.eeprom_mut().cut_after(write, torn);
    order(&mut world);
    let limit = world.now_ns + 20 * SECOND_NS;
    while world.now_ns < limit && !world.meter.eeprom().is_off() {
        world.step(limit);
    }
    let came = world.meter.eeprom().is_off();
    world.cut_power(torn, SECOND_NS, Cause::PowerOn);
    world.until_it_listens();
    let epoch = world.meter.status().epoch;
    is_well(&mut world, &what);
    // Again, and within the record that the start writes.
    world.cut_power(torn, SECOND_NS, Cause::PowerOn);
    world.meter.eeprom_mut().cut_after(write % 200, torn);
    let limit = world.now_ns + 3 * SECOND_NS;
    while world.now_ns < limit && !world.meter.eeprom().is_off() {
        world.step(limit);
    }
    world.cut_power(torn, SECOND_NS, Cause::PowerOn);
    is_well(&mut world, &what);
    order(&mut world);
    let limit = world.now_ns + 300 * SECOND_NS;
    while keys(&world).epoch() < 2 || keys(&world).has_next() {
        assert!(world.now_ns < limit, "{what}: {:?}", world.meter.status());
        world.step(limit);
    }
    is_well(&mut world, &what);
    assert_eq!(u32::from(world.meter.status().epoch), keys(&world).epoch(), "{what}");
    (epoch, came)
}

/// Every third byte write, from one by chance on, each torn in one way;
/// `the_power_may_fail_within_every_byte_write` has all of them.
#[test]
fn the_power_may_fail_in_any_byte_write() {
    let seed = testkit::random::seed();
    let (mut cut, mut epochs) = (0, [0; 3]);
    for write in (seed % 3..WRITES).step_by(3) {
        let (epoch, came) = cut_within(write, TORN[(seed / 3 + write) as usize % 4]);
        epochs[usize::from(epoch)] += 1;
        cut += u64::from(came);
    }
    // By then there is nothing more to write in some.
    let all = [epochs[1] > 26, epochs[2] > 16, cut > 45, epochs[0] == 0];
    assert_eq!(all, [true; 4], "seed {seed}: {cut} cuts, {epochs:?}");
}

/// `cargo test --release -p wattseal-device --test meter renewal:: -- --ignored
/// --nocapture`
#[test]
#[ignore = "takes minutes: every byte write of a renewal, torn in each way"]
fn the_power_may_fail_within_every_byte_write() {
    let (mut cut, mut epochs) = (0, [0; 3]);
    for write in 0..WRITES {
        for torn in TORN {
            let (epoch, came) = cut_within(write, torn);
            epochs[usize::from(epoch)] += 1;
            cut += u64::from(came);
        }
    }
    println!("{cut} cuts, epochs {epochs:?}");
    assert!(cut > 4 * 136 && epochs[0] == 0 && epochs[1] > 4 * 80 && epochs[2] > 4 * 50, "{cut}, {epochs:?}");
}
