//! An outcome as a table for a person, JSON for a program, CSV for a spreadsheet.

use super::outcome::{NetworkOutcome, Spread};
use output::{Format, OutputError, csv, duration, grouped, json, scaled, table};
use std::collections::{BTreeMap, BTreeSet};

/// Writes an outcome: tables of sums; JSON with everything, an array of one; CSV with a line for
/// each meter.
///
/// # Errors
/// None in practice: an outcome can always be written.
pub fn report(outcome: &NetworkOutcome, format: Format) -> Result<String, OutputError> {
    match format {
        Format::Json => json(std::slice::from_ref(outcome)),
        Format::Csv => csv(&outcome.meters),
        Format::Table => Ok(tables(outcome)),
    }
}

fn count(number: u64) -> String {
    grouped(i64::try_from(number).unwrap_or(i64::MAX))
}

fn tables(outcome: &NetworkOutcome) -> String {
    let mut text = format!(
        "{}  {}, seed {}; {} in {} ({:.0} meter-seconds a second)\n{}\n",
        outcome.title,
        duration(3600.0 * outcome.hours),
        outcome.seed,
        if outcome.settled_s > 0.0 {
            format!("and {:.0} s for what was still to come,", outcome.settled_s)
        } else {
            String::from("all came")
        },
        scaled(outcome.wall_s, "s"),
        outcome.meter_seconds_per_second,
        sums(outcome),
    );
    for part in [Some(trips(outcome)), refusals(outcome), attacks(outcome)].into_iter().flatten() {
        text += &format!("\n{part}\n");
    }
    text
}

fn sums(outcome: &NetworkOutcome) -> String {
    let (traffic, collector) = (&outcome.traffic, &outcome.collector);
    let delivered = outcome.sum(|meter| meter.delivered_measurements);
    let share = |part: u64, whole: u64| {
        if whole == 0 { "–".into() } else { format!("{:.2} %", 100.0 * part as f64 / whole as f64) }
    };
    let per_measurement =
        if delivered == 0 { "–".into() } else { format!("{:.1}", traffic.bytes as f64 / delivered as f64) };
    let energy_wh: f64 = outcome.meters.iter().map(|meter| meter.energy_wh).sum();
    let load_wh: f64 = outcome.meters.iter().map(|meter| meter.load_wh).sum();
    let back_s = outcome.meters.iter().map(|meter| meter.back_s).fold(0.0, f64::max);
    let mut rows = vec![
        ("meters", count(outcome.meters.len() as u64)),
        ("measurements made", count(outcome.sum(|meter| meter.measurements))),
        ("alerts made", count(outcome.sum(|meter| meter.made - meter.measurements))),
        ("reports kept by a journal to the end", count(outcome.sum(|meter| meter.kept))),
        ("reports delivered, each once, in order", count(outcome.sum(|meter| meter.delivered))),
        ("  measurements", count(delivered)),
        ("measurements lost for want of room", count(outcome.sum(|meter| meter.lost))),
        ("reports sent", count(outcome.sum(|meter| meter.sent))),
        ("  again", count(outcome.sum(|meter| meter.resent))),
        ("reports that came again", count(collector.repeated)),
        ("commands given, beside the collector's own", count(collector.commands)),
        ("commands answered, all", count(collector.answered)),
        (
            "energy told, and error",
            format!("{}, {:+.3} %", scaled(energy_wh, "Wh"), error(energy_wh, load_wh)),
        ),
        ("packets on the air", count(traffic.packets)),
        ("  collided", share(traffic.collided, traffic.packets)),
        ("  lost on the way", count(traffic.lost)),
        ("  with wrong bits", count(traffic.spoilt)),
        ("  come twice", count(traffic.duplicated)),
        ("  come late", count(traffic.delayed)),
        ("bytes on the air for each measurement", per_measurement),
        ("air in use", format!("{:.2} %", 100.0 * outcome.air_utilisation)),
        ("losses of power", count(outcome.sum(|meter| meter.cuts))),
        ("  while a byte was written", count(outcome.sum(|meter| meter.cuts_while_writing))),
        ("other restarts", count(outcome.sum(|meter| meter.restarts))),
        ("longest from power-up to the first bit", scaled(back_s, "s")),
        ("packets refused by meters", count(outcome.sum(|meter| meter.refused))),
        ("packets missed by the collector while it sent or was down", count(collector.deaf)),
        ("crashes of the collector", count(collector.crashes)),
        ("  before it acknowledged", count(collector.crashes_before_acknowledging)),
    ];
    if collector.renewals > 0 {
        rows.push(("renewals of keys ordered", count(collector.renewals)));
        rows.push(("keys renewed", count(outcome.sum(|meter| meter.keys_renewed))));
        rows.push(("crashes of the collector while it stored keys", count(collector.crashes_storing_keys)));
    }
    if collector.updates > 0 {
        rows.push(("images given", count(collector.updates)));
        rows.push(("  run, and have reported in", count(collector.updates_run)));
        rows.push(("  gone back", count(collector.updates_gone_back)));
        rows.push((
            "losses of power within a change of flash",
            count(outcome.sum(|meter| meter.cuts_within_flash)),
        ));
    }
    if let Some(untouched) = outcome.meters.iter().filter_map(|meter| meter.stack_untouched).min() {
        rows.push(("stack never touched, at least", format!("{untouched} bytes")));
    }
    let mut sums = table(&["what", "value"], 1);
    for (what, value) in rows {
        sums.add_row([what.to_owned(), value]);
    }
    sums.to_string()
}

/// Times between meters and collector, by suite.
fn trips(outcome: &NetworkOutcome) -> String {
    let mut trips = table(&["time", "suite", "count", "mean", "median", "p99"], 2);
    for (what, spreads) in
        [("round trip of a report", &outcome.round_trips), ("command to answer", &outcome.commands)]
    {
        for (suite, spread) in spreads {
            let Spread { count: times, mean_s, p50_s, p99_s } = *spread;
            let row = [count(times), scaled(mean_s, "s"), scaled(p50_s, "s"), scaled(p99_s, "s")];
            trips.add_row([what.to_owned(), (*suite).to_owned()].into_iter().chain(row));
        }
    }
    trips.to_string()
}

/// Packets that the collector refused, by reason; none where it refused none.
fn refusals(outcome: &NetworkOutcome) -> Option<String> {
    let collector = &outcome.collector;
    let mut refusals = table(&["refused by the collector", "of meters", "of the attacker"], 1);
    let reasons: BTreeSet<_> = collector.refused.keys().chain(collector.attacks_refused.keys()).collect();
    for reason in &reasons {
        let of = |counts: &BTreeMap<&str, u64>| count(counts.get(**reason).copied().unwrap_or(0));
        refusals.add_row([(**reason).to_owned(), of(&collector.refused), of(&collector.attacks_refused)]);
    }
    (!reasons.is_empty()).then(|| refusals.to_string())
}

/// The attacker's packets, and what they came to; none where it sent none.
fn attacks(outcome: &NetworkOutcome) -> Option<String> {
    let (traffic, collector, attacks) = (&outcome.traffic, &outcome.collector, &outcome.attacks);
    let mut table = table(&["attacker's packets", "count"], 1);
    for (attack, sent) in &attacks.sent {
        table.add_row([format!("sent, {attack}"), count(*sent)]);
    }
    let rows = [
        ("heard by the collector and nothing new", collector.attacks_ignored),
        ("delivered as its maker had sent them", collector.attacks_delivered),
        ("accepted with suite none", attacks.accepted_unprotected),
        ("measurements whose time was made late", attacks.times_late),
    ];
    for (what, number) in rows {
        table.add_row([what.to_owned(), count(number)]);
    }
    table.add_row(["noise on the air".to_owned(), scaled(traffic.jammed_ns as f64 / 1e9, "s")]);
    (!attacks.sent.is_empty()).then(|| table.to_string())
}

fn error(told_wh: f64, load_wh: f64) -> f64 {
    if load_wh == 0.0 { 0.0 } else { 100.0 * (told_wh / load_wh - 1.0) }
}
