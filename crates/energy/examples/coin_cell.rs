//! Life of a coin cell that feeds a node on an ATmega328P, which seals 16 bytes every ten minutes.

use energy::storage::Battery;
use energy::{Supply, sizing};
use std::error::Error;

/// AES-128-GCM of 16 bytes, as `wattseal bench` has it.
const CYCLES: f64 = 21_174.0;
const CLOCK_HZ: f64 = 8e6;
const SUPPLY_V: f64 = 3.0;
const YEAR_S: f64 = 365.25 * 86_400.0;

/// Computes and prints.
pub fn main() -> Result<(), Box<dyn Error>> {
    let supply = Supply::from_toml(include_str!("atmega328p.toml"))?;
    let message_j = CYCLES / CLOCK_HZ * supply.power_w(CLOCK_HZ, SUPPLY_V)?;
    let sleep_a = supply.sleep_a("power-save").ok_or("the data sheet has that mode")?;
    let mean_w = sizing::mean_w(sleep_a * SUPPLY_V, message_j, 1.0 / 600.0);
    let cell = Battery { capacity_ah: 0.22, voltage_v: 3.0, self_discharge_per_year: 0.01, usable: 1.0 };
    cell.check()?;
    let years = cell.life_s(mean_w) / YEAR_S;
    println!("{:.1} µJ a message, {:.2} µW on average, {years:.1} years", message_j * 1e6, mean_w * 1e6);
    assert!(message_j > 10e-6 && message_j < 100e-6 && years > 5.0);
    Ok(())
}
