//! Speed of the host.

use super::world::{SECOND_NS, World, load, setup};
use wire::meter::Suite;

/// `cargo test -p wattseal-device --test meter -- --ignored --nocapture week`: a meter's week, with
/// a third of the packets lost.
#[test]
#[ignore = "a simulated week"]
fn a_week_of_one_meter() {
    let mut world = World::new(setup(Suite::Aes128Gcm, 60), 1);
    world.set_load(load(450.0));
    (world.lost, world.doubled) = (0.3, 0.1);
    let begun = std::time::Instant::now();
    world.run(7 * 86_400 * SECOND_NS);
    (world.lost, world.doubled) = (0.0, 0.0);
    world.run(30 * SECOND_NS);
    println!("{:?}, {:?}", begun.elapsed(), world.meter.status());
    let times: Vec<u32> = world.measurements().iter().map(|(_, measurement)| measurement.time_s).collect();
    let expected: Vec<u32> = (1..=7 * 24 * 60).map(|minute| 60 * minute).collect();
    assert_eq!(times, expected);
}
