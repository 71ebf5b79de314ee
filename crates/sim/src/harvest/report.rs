//! An outcome as a table for a person, JSON for a program, CSV for a spreadsheet.

use super::outcome::Outcome;
use output::{Format, OutputError, csv, grouped, json, scaled, table};

/// Writes an outcome: a table of sums; JSON with everything, an array of one; CSV of the world
/// against time.
///
/// # Errors
/// None in practice: an outcome can always be written.
pub fn report(outcome: &Outcome, format: Format) -> Result<String, OutputError> {
    match format {
        Format::Json => json(std::slice::from_ref(outcome)),
        Format::Csv => csv(&outcome.trace),
        Format::Table => Ok(tables(outcome)),
    }
}

fn tables(outcome: &Outcome) -> String {
    let mut sums = table(&["what", "value"], 1);
    let count = |number: u64| grouped(i64::try_from(number).unwrap_or(i64::MAX));
    let optional = |value: Option<f64>, unit: &str| value.map_or("–".into(), |value| scaled(value, unit));
    let misses = &outcome.misses;
    let rows = [
        ("authentications", count(outcome.authentications)),
        ("missed", count(misses.total())),
        ("  too little energy stored", count(misses.no_energy)),
        ("  node without power", count(misses.node_off)),
        ("  lost or not heard on the air", count(misses.radio)),
        ("  after the deadline", count(misses.late)),
        ("refused by the server", count(outcome.rejected)),
        ("losses of power", count(outcome.resets)),
        ("without power", scaled(outcome.off_s, "s")),
        ("signatures made", count(outcome.signed)),
        ("not signed for lack of energy", count(outcome.refused)),
        ("latency, mean", optional(outcome.mean_latency_s, "s")),
        ("latency, longest", optional(outcome.max_latency_s, "s")),
        ("from the rail for each authentication", optional(outcome.rail_j_per_authentication, "J")),
        ("running processor for each signature", optional(outcome.active_j_per_signature, "J")),
        ("stored, lowest", format!("{:.3} V", outcome.min_v)),
        ("stored, highest", format!("{:.3} V", outcome.max_v)),
        ("threshold to sign", format!("{:.3} V", outcome.threshold_v)),
    ];
    for (what, value) in rows {
        sums.add_row([what.to_owned(), value]);
    }

    let energy = &outcome.energy;
    let mut account = table(&["energy", "time", "joules", "of harvested and drawn"], 1);
    // What the storage gave counts as income, what it took as expense.
    let from_storage_j = energy.stored_start_j - energy.stored_end_j;
    let income_j = energy.harvested_j() + from_storage_j.max(0.0);
    let share = |joules: f64| {
        if income_j > 0.0 { format!("{:.1} %", 100.0 * joules / income_j) } else { "–".into() }
    };
    let mut row = |what: &str, time_s: Option<f64>, joules: f64, counts: bool| {
        let time = time_s.map_or_else(String::new, |time_s| scaled(time_s, "s"));
        let share = if counts { share(joules) } else { String::new() };
        account.add_row([what.to_owned(), time, scaled(joules, "J"), share]);
    };
    row("offered by the panel", None, energy.offered_j, false);
    row("  not taken: storage full", None, energy.curtailed_j, false);
    row("  lost in the charger", None, energy.charger_j, false);
    row("harvested", None, energy.harvested_j(), true);
    if from_storage_j >= 0.0 {
        row("drawn from the storage", None, from_storage_j, true);
    } else {
        row("added to the storage", None, -from_storage_j, true);
    }
    for load in energy.loads.iter().filter(|load| load.time_s > 0.0) {
        row(&format!("{}: {}", load.part, load.state), Some(load.time_s), load.energy_j, true);
    }
    row("harvester's overhead", None, energy.overhead_j, true);
    row("regulator", None, energy.regulator_j, true);
    row("leakage of the storage", None, energy.leakage_j, true);
    row("resistance of the storage", None, energy.esr_j, true);
    let days = if outcome.days == 1.0 { "1 day".to_owned() } else { format!("{} days", outcome.days) };
    format!("{}  {days}, seed {}\n{sums}\n\n{account}\n", outcome.title, outcome.seed)
}
