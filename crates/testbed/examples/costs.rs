//! Writes `crates/collector/data/costs.toml`, what a reading costs a meter where nothing is lost:
//! `cargo run --release -p wattseal-testbed --example costs > crates/collector/data/costs.toml`

use lab::LabError;
use lab::workspace::Workspace;
use testbed::demo::measure;

/// Readings of each suite.
const READINGS: u64 = 20;
const SEED: u64 = 1;

fn main() -> Result<(), LabError> {
    let costs = measure::costs(&Workspace::find()?, READINGS, SEED)?;
    println!(
        "# What a reading costs a meter, suite by suite, where nothing is lost: means of {READINGS} readings, the round trip's median.\n\
         # Written by `cargo run --release -p wattseal-testbed --example costs > crates/collector/data/costs.toml`; a test of that package\n\
         # measures it again. Times and energy are from the beginning of sealing, the round trip's and the energy's up to the accepted\n\
         # acknowledgement; a collector that computes in no time, and a radio channel with 0.5 ms each way. Energy: processor (its target's\n\
         # file, straight lines continued to 16 MHz at 3.3 V) and radio (radios/rfm12b.toml). Bytes: what the meter has on the air."
    );
    for cost in costs {
        println!("\n[[cost]]");
        println!("suite = \"{}\"", cost.suite);
        println!("prepare_ms = {:.4}", cost.prepare_ms);
        println!("energy_uj = {:.1}", cost.processor_uj + cost.radio_uj);
        println!("air_bytes = {:.1}", cost.air_bytes);
        println!("round_trip_ms = {:.2}", cost.round_trip_ms);
        println!("source = \"ATmega328P at 16 MHz and 3.3 V, RFM12B, on their models; nothing lost\"");
    }
    Ok(())
}
