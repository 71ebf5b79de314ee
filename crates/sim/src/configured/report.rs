//! Outcomes as a table for a person, JSON for a program, CSV for a spreadsheet.

use super::simulation::PolicyOutcome;
use output::{Format, OutputError, csv, grouped, json, scaled, table};

/// Writes outcomes, a row for each policy.
///
/// # Errors
/// None in practice: outcomes can always be written.
pub fn report(title: &str, outcomes: &[PolicyOutcome], format: Format) -> Result<String, OutputError> {
    match format {
        Format::Json => json(outcomes),
        Format::Csv => csv(outcomes),
        Format::Table => Ok(text(title, outcomes)),
    }
}

fn text(title: &str, outcomes: &[PolicyOutcome]) -> String {
    let header = ["node", "128 bits", "80 bits", "missed", "latency", "of store", "at rail"];
    let mut rows = table(&header, 1);
    let count = |number: u64| grouped(i64::try_from(number).unwrap_or(i64::MAX));
    let optional = |value: Option<f64>, unit: &str| value.map_or("–".into(), |value| scaled(value, unit));
    for outcome in outcomes {
        rows.add_row([
            outcome.policy.clone(),
            count(outcome.signed_128_bits),
            count(outcome.signed_80_bits),
            count(outcome.refused + outcome.without_power),
            optional(outcome.mean_latency_s, "s"),
            optional(outcome.stored_j_per_signature, "J"),
            optional(outcome.rail_j_per_signature, "J"),
        ]);
    }
    let first = outcomes.first().map_or(String::new(), |outcome| {
        format!("\n{} days, {} signatures due", outcome.days, count(outcome.due))
    });
    format!("{title}{first}\n{rows}\n")
}
