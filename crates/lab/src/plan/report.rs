//! A plan as rows, as a table, or as the reason why there is none.

use super::Plan;
use crate::energy_accuracy::EnergyBound;
use energy::plan::{Candidate, Limiting, Point, Quantity, Requirement};
use output::{Column, Format, NARROW, OutputError, Sheet, duration, grouped, scaled, wrapped};
use serde::Serialize;
use std::collections::BTreeSet;

/// A feasible point.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanRow {
    /// Target name.
    pub target: String,
    /// Scheme name.
    pub scheme: String,
    /// Sort of scheme; "encryption" alone is not authentic.
    pub kind: String,
    /// Variant of its operations.
    pub variant: String,
    /// Core clock, in Hz.
    pub clock_hz: u64,
    /// Supply, in volts.
    pub supply_v: f64,
    /// Security level, in bits.
    pub security_bits: u32,
    /// Cycles of computation.
    pub cycles: f64,
    /// Computation and sending, in seconds.
    pub latency_s: f64,
    /// Time of sending, in seconds.
    pub radio_s: f64,
    /// Computation, sending and sleep until the next message, in joules.
    pub energy_j: f64,
    /// Bound on the energy of computing against the part's, beside that of its cycles.
    pub energy_accuracy: EnergyBound,
    /// Energy of computing, in joules.
    pub compute_j: f64,
    /// Energy of sending, in joules.
    pub radio_j: f64,
    /// Sleep until the next message, in joules.
    pub sleep_j: f64,
    /// Bytes on the air, those of the packets' frames included.
    pub radio_bytes: u32,
    /// Packets on the air.
    pub radio_packets: u32,
    /// Program memory, in bytes.
    pub flash_bytes: u64,
    /// Static RAM and stack, in bytes.
    pub ram_bytes: u64,
    /// Mean power at the rate of messages, in watts.
    pub mean_w: Option<f64>,
    /// Life of the battery, in seconds.
    pub life_s: Option<f64>,
    /// To what the capacitor must be charged before a message, (6.1), in volts.
    pub stored_v: Option<f64>,
    /// The requirement with the least slack.
    pub limit: Option<&'static str>,
    /// Its slack, as a share of the limit.
    pub slack: Option<f64>,
    /// True if it is of the Pareto front over energy, latency, flash and RAM.
    pub front: bool,
}

impl PlanRow {
    fn of(plan: &Plan, point: &Point) -> PlanRow {
        let candidate = &plan.candidates[point.index];
        PlanRow {
            target: candidate.target.to_string(),
            scheme: candidate.scheme.to_string(),
            kind: plan.kinds.get(&*candidate.scheme).cloned().unwrap_or_default(),
            variant: candidate.variant.to_string(),
            clock_hz: candidate.clock_hz,
            supply_v: candidate.supply_v,
            security_bits: candidate.security_bits,
            cycles: candidate.cycles,
            latency_s: candidate.latency_s(),
            radio_s: candidate.radio_s,
            energy_j: candidate.energy_j(),
            energy_accuracy: plan.energy_accuracy(candidate).energy,
            compute_j: candidate.compute_j,
            radio_j: candidate.radio_j,
            sleep_j: candidate.sleep_j,
            radio_bytes: candidate.radio_bytes,
            radio_packets: candidate.radio_packets,
            flash_bytes: candidate.flash_bytes,
            ram_bytes: candidate.ram_bytes,
            mean_w: candidate.mean_w,
            life_s: candidate.life_s,
            stored_v: candidate.stored_v,
            limit: point.limiting.map(|limiting| limiting.quantity.name()),
            slack: point.limiting.map(|limiting| limiting.slack),
            front: point.front,
        }
    }
}

/// Rows of the front that a table shows where not all are asked for.
const SHOWN: usize = 20;

/// Writes the feasible points. A table has the best by each measure, then the front, marked, or
/// all; JSON and CSV have all of them.
///
/// # Errors
/// None in practice: rows can always be written.
pub fn table(plan: &Plan, format: Format, all: bool, wide: bool) -> Result<String, OutputError> {
    if format != Format::Table {
        let rows: Vec<PlanRow> = plan.outcome.points.iter().map(|point| PlanRow::of(plan, point)).collect();
        return if format == Format::Csv { output::csv(&rows) } else { output::json(&rows) };
    }
    let points = &plan.outcome.points;
    let front = points.iter().filter(|point| point.front).count();
    let summary = format!(
        "{} of {} points meet {}; {} on the Pareto front over energy, latency, flash and RAM",
        grouped(points.len() as i64),
        grouped(plan.candidates.len() as i64),
        requirements(plan),
        grouped(front as i64),
    );
    let mut text = prose(&summary, wide) + "\n";
    let common = common(plan);
    if !common.is_empty() {
        text += &format!("{common}\n");
    }
    text += &block(plan, "best", &best(plan), wide);
    let shown = if all { points.len() } else { front.min(SHOWN) };
    let mark = |point: &Point| if point.front { "*" } else { "" };
    let listed: Vec<(&str, &Point)> = points[..shown].iter().map(|point| (mark(point), point)).collect();
    text += &block(plan, "front", &listed, wide);
    if shown < points.len() {
        text += &format!("{} more points; --all shows every one\n", grouped((points.len() - shown) as i64));
    }
    for scheme in unauthenticated(plan) {
        text += &prose(&format!("{scheme} encrypts alone: anybody can alter its messages"), wide);
    }
    text += &feet(plan, &points[..shown], wide);
    if let Some(sizing) = &plan.sizing {
        text += "\nFor the point of least energy:\n";
        let width = sizing.lines.iter().map(|(label, _)| label.chars().count()).max().unwrap_or(0);
        for (label, sentence) in &sizing.lines {
            text += &format!("  {label:<width$}  {sentence}\n");
        }
    }
    Ok(text)
}

/// A sentence in lines, broken where they are not to be `wide`.
fn prose(sentence: &str, wide: bool) -> String {
    let most = if wide { usize::MAX } else { NARROW };
    wrapped(sentence, most).into_iter().map(|line| line + "\n").collect()
}

/// Schemes of feasible points that authenticate nothing.
fn unauthenticated(plan: &Plan) -> BTreeSet<&str> {
    let schemes = plan.outcome.points.iter().map(|point| &*plan.candidates[point.index].scheme);
    schemes.filter(|scheme| plan.kinds.get(*scheme).is_some_and(|kind| kind == "encryption")).collect()
}

/// Bounds on the energies of some points, each once, with its target where there are several.
fn feet(plan: &Plan, points: &[Point], wide: bool) -> String {
    let several = plan.energy_accuracies.len() > 1;
    let mut feet: Vec<String> = Vec::new();
    for point in points {
        let one = &plan.candidates[point.index];
        let target = if several { format!("{}: ", one.target) } else { String::new() };
        let foot = prose(&format!("{target}{}", plan.energy_accuracy(one).foot()), wide);
        if !feet.contains(&foot) {
            feet.push(foot);
        }
    }
    feet.concat()
}

pub(super) fn requirements(plan: &Plan) -> String {
    if plan.requirements.is_empty() {
        return "no requirement but the data sheets'".into();
    }
    plan.requirements.iter().map(required).collect::<Vec<_>>().join(", ")
}

/// `energy at most 2.00 mJ`.
fn required(requirement: &Requirement) -> String {
    let bound = if requirement.quantity.at_least() { "at least" } else { "at most" };
    format!("{} {bound} {}", requirement.quantity.name(), amount(requirement.quantity, requirement.limit))
}

fn amount(quantity: Quantity, value: f64) -> String {
    match quantity {
        Quantity::Life => duration(value),
        Quantity::Security => format!("{value} bits"),
        Quantity::Flash | Quantity::Ram => format!("{} B", grouped(value as i64)),
        _ => scaled(value, quantity.unit()),
    }
}

/// The best feasible point by each measure.
fn best(plan: &Plan) -> Vec<(&'static str, &Point)> {
    type Measure = fn(&Candidate) -> f64;
    let measures: [(&str, Measure); 5] = [
        ("least energy", Candidate::energy_j),
        ("least latency", Candidate::latency_s),
        ("lowest clock", |one| one.clock_hz as f64),
        ("least flash", |one| one.flash_bytes as f64),
        ("least RAM", |one| one.ram_bytes as f64),
    ];
    let of = |point: &Point| &plan.candidates[point.index];
    measures
        .into_iter()
        .filter_map(|(what, measure)| {
            let least = plan.outcome.points.iter().min_by(|a, b| {
                let by_energy = || of(a).energy_j().total_cmp(&of(b).energy_j());
                measure(of(a)).total_cmp(&measure(of(b))).then_with(by_energy)
            })?;
            Some((what, least))
        })
        .collect()
}

/// Common parts of all points, once, in words: `msp430f5438a, ecdsa-secp160r1`.
pub(super) fn common(plan: &Plan) -> String {
    let first = &plan.candidates[plan.outcome.points[0].index];
    NAMED
        .iter()
        .filter(|column| !differs(plan, column))
        .map(|column| (column.value)(first))
        .collect::<Vec<_>>()
        .join(", ")
}

/// A column that a table has only where points differ in it.
struct Named {
    name: &'static str,
    value: fn(&Candidate) -> String,
    same: fn(&Candidate, &Candidate) -> bool,
}

const NAMED: [Named; 5] = [
    Named { name: "target", value: |one| one.target.to_string(), same: |a, b| a.target == b.target },
    Named { name: "scheme", value: |one| one.scheme.to_string(), same: |a, b| a.scheme == b.scheme },
    Named { name: "variant", value: |one| one.variant.to_string(), same: |a, b| a.variant == b.variant },
    Named {
        name: "supply",
        value: |one| format!("{} V", one.supply_v),
        same: |a, b| a.supply_v == b.supply_v,
    },
    Named {
        name: "security",
        value: |one| format!("{} bits", one.security_bits),
        same: |a, b| a.security_bits == b.security_bits,
    },
];

fn differs(plan: &Plan, column: &Named) -> bool {
    let mut points = plan.outcome.points.iter().map(|point| &plan.candidates[point.index]);
    points.next().is_some_and(|first| points.any(|one| !(column.same)(first, one)))
}

/// A table of some points, each with a word before it.
pub(super) fn cells(plan: &Plan, first: &str, points: &[(&str, &Point)]) -> (Vec<String>, Vec<Vec<String>>) {
    type Value = Box<dyn Fn(&Candidate) -> String>;
    let mut columns: Vec<(&str, Value)> = Vec::new();
    for column in &NAMED {
        if differs(plan, column) {
            columns.push((column.name, Box::new(column.value)));
        }
    }
    columns.push(("clock", Box::new(|one| format!("{} MHz", one.clock_hz as f64 / 1e6))));
    columns.push(("cycles", Box::new(|one| grouped(one.cycles.round() as i64))));
    columns.push(("latency", Box::new(|one| scaled(one.latency_s(), "s"))));
    columns.push(("energy", Box::new(|one| scaled(one.energy_j(), "J"))));
    let any = |known: fn(&Candidate) -> bool| plan.candidates.iter().any(known);
    if any(|one| one.radio_packets > 0) {
        columns.push(("of it radio", Box::new(|one| scaled(one.radio_j, "J"))));
    }
    if any(|one| one.sleep_j > 0.0) {
        columns.push(("of it sleep", Box::new(|one| scaled(one.sleep_j, "J"))));
    }
    if any(|one| one.life_s.is_some()) {
        columns.push(("battery", Box::new(|one| one.life_s.map_or_else(String::new, duration))));
    }
    columns.push(("flash B", Box::new(|one| grouped(one.flash_bytes as i64))));
    columns.push(("RAM B", Box::new(|one| grouped(one.ram_bytes as i64))));
    let limits = !plan.requirements.is_empty();
    let header = [first]
        .into_iter()
        .chain(columns.iter().map(|(name, _)| *name))
        .chain(limits.then_some("limited by"))
        .map(str::to_owned)
        .collect();
    let line = |&(word, point): &(&str, &Point)| -> Vec<String> {
        let one = &plan.candidates[point.index];
        let limit = limits.then(|| point.limiting.map_or_else(String::new, |limiting| limited_by(&limiting)));
        [word.to_owned()]
            .into_iter()
            .chain(columns.iter().map(|(_, value)| value(one)))
            .chain(limit)
            .collect()
    };
    (header, points.iter().map(line).collect())
}

/// The columns that a table leaves out where it is too wide, the first one first.
const SPARE: [&str; 6] = ["cycles", "limited by", "of it sleep", "of it radio", "RAM B", "flash B"];

/// The same as text.
fn block(plan: &Plan, first: &str, points: &[(&str, &Point)], wide: bool) -> String {
    let (header, lines) = cells(plan, first, points);
    let named = NAMED.iter().take(3).filter(|column| differs(plan, column)).count();
    let columns: Vec<Column<'_>> = header
        .iter()
        .enumerate()
        .map(|(index, name)| {
            let column = if index <= named { Column::left(name) } else { Column::right(name) };
            let spare = SPARE.iter().rev().position(|spare| spare == name);
            column.spare(spare.map_or(0, |order| order as u8 + 1))
        })
        .collect();
    let mut sheet = Sheet::new(&columns);
    lines.into_iter().for_each(|line| sheet.row(line));
    sheet.table(wide)
}

fn limited_by(limiting: &Limiting) -> String {
    format!("{} ({} left)", limiting.quantity.name(), percent(limiting.slack))
}

/// `16 %`, `0.5 %`; beyond ten times the factor instead.
fn percent(share: f64) -> String {
    match share * 100.0 {
        many if many >= 1000.0 => format!("{:.0} times", share + 1.0),
        whole if whole >= 10.0 => format!("{whole:.0} %"),
        part => format!("{part:.1} %"),
    }
}

/// Why nothing is feasible: what each requirement excludes, and how far the nearest point is.
#[must_use]
pub fn impossible(plan: &Plan) -> String {
    let mut text = format!("none of {} points meets all requirements", grouped(plan.candidates.len() as i64));
    for exclusion in plan.outcome.exclusions.iter().filter(|exclusion| exclusion.excluded > 0) {
        text += &format!(
            "\n  {} excludes {}, {} of them alone",
            required(&exclusion.requirement),
            grouped(exclusion.excluded as i64),
            grouped(exclusion.alone as i64)
        );
        match exclusion.nearest {
            Some(nearest) => {
                let which = if exclusion.alone > 0 { "closest" } else { "closest, failing elsewhere too" };
                let one = &plan.candidates[nearest.index];
                text += &format!("; {which}: {}", beyond(one, &exclusion.requirement, nearest.excess));
            }
            None => text += "; the target files have no figure for it",
        }
    }
    if let Some(closest) = plan.outcome.closest
        && plan.outcome.exclusions.iter().all(|exclusion| exclusion.alone == 0)
    {
        let one = &plan.candidates[closest.index];
        let over: Vec<String> = plan
            .requirements
            .iter()
            .filter(|requirement| requirement.excess(one) > 0.0)
            .map(|requirement| needs(one, requirement, requirement.excess(one)))
            .collect();
        text += &format!("\n  closest to all at once: {} {}", name(one), over.join(" and "));
    }
    text
}

fn name(one: &Candidate) -> String {
    format!(
        "{} {} {} at {} MHz, {} V",
        one.target,
        one.scheme,
        one.variant,
        one.clock_hz as f64 / 1e6,
        one.supply_v
    )
}

fn beyond(one: &Candidate, requirement: &Requirement, excess: f64) -> String {
    format!("{} {}", name(one), needs(one, requirement, excess))
}

/// `needs 2.31 mJ, 16 % above 2.00 mJ`.
fn needs(one: &Candidate, requirement: &Requirement, excess: f64) -> String {
    let Requirement { quantity, limit } = *requirement;
    let value = quantity.of(one).map_or_else(String::new, |value| amount(quantity, value));
    let (verb, side) = if quantity.at_least() { ("gives", "below") } else { ("needs", "above") };
    format!("{verb} {value}, {} {side} {}", percent(excess), amount(quantity, limit))
}
