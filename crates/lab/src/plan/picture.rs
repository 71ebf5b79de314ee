//! A plan as a chart, and as a page with the chart and the table.

use super::Plan;
use super::report::{cells, common, requirements};
use crate::LabError;
use crate::plot::{self, Axis, Chart, Series, Style};
use energy::plan::{Candidate, Point, Quantity};
use output::{grouped, scaled};
use std::collections::BTreeMap;

/// Series beyond these are not told apart.
const MOST_SERIES: usize = 10;
/// A series of more points is drawn by those that no other of it beats in latency and energy.
const MOST_POINTS: usize = 60;

/// Energy against latency of all points where they are few, else of the feasible ones, with the
/// limits; as SVG.
///
/// # Errors
/// None in practice: there is a point to draw.
pub fn picture(plan: &Plan) -> Result<String, LabError> {
    let few = plan.candidates.len() <= MOST_SERIES * MOST_POINTS;
    let drawn: Vec<&Candidate> = if few {
        plan.candidates.iter().collect()
    } else {
        plan.outcome.points.iter().map(|point| &plan.candidates[point.index]).collect()
    };
    let mut series: Vec<Series> = split(&drawn)
        .into_iter()
        .map(|(label, members)| Series { label, points: envelope(&members), style: Style::Line })
        .collect();
    let front = plan.outcome.points.iter().filter(|point| point.front).map(|point| {
        let one = &plan.candidates[point.index];
        (one.latency_s(), one.energy_j())
    });
    series.push(Series { label: "Pareto front".into(), points: front.collect(), style: Style::Marks });
    let bounds = |axis: fn(&Candidate) -> f64| {
        drawn
            .iter()
            .map(|one| axis(one))
            .fold((f64::INFINITY, 0.0f64), |(low, high), value| (low.min(value), high.max(value)))
    };
    let (fast, slow) = bounds(Candidate::latency_s);
    let (thrifty, costly) = bounds(Candidate::energy_j);
    let limit = |quantity: Quantity| {
        plan.requirements.iter().find(|requirement| requirement.quantity == quantity).map(|found| found.limit)
    };
    if let Some(limit_j) = limit(Quantity::Energy) {
        let points = vec![(fast, limit_j), (slow, limit_j)];
        series.push(Series { label: format!("limit {}", scaled(limit_j, "J")), points, style: Style::Trace });
    }
    if let Some(limit_s) = limit(Quantity::Latency) {
        let points = vec![(limit_s, thrifty), (limit_s, costly)];
        series.push(Series { label: format!("limit {}", scaled(limit_s, "s")), points, style: Style::Trace });
    }
    let mut notes = vec![format!(
        "{} of {} points meet {}.",
        grouped(plan.outcome.points.len() as i64),
        grouped(plan.candidates.len() as i64),
        requirements(plan)
    )];
    if !few {
        notes.push("Of each series the points that no other of it beats in both; the front is over flash and RAM, too.".into());
    }
    for point in series.iter_mut().flat_map(|one| &mut one.points) {
        point.1 *= 1e3;
    }
    plot::svg(&Chart {
        title: "Energy of a message against its latency".into(),
        x: Axis::log("latency", "s"),
        y: Axis::log("energy", "mJ"),
        series,
        notes,
    })
}

/// By the first of target, scheme, variant and supply in which the points differ, as far as there
/// are few of them.
fn split<'a>(drawn: &[&'a Candidate]) -> BTreeMap<String, Vec<&'a Candidate>> {
    let keys: [fn(&Candidate) -> String; 4] = [
        |one| one.target.to_string(),
        |one| one.scheme.to_string(),
        |one| one.variant.to_string(),
        |one| format!("{:.1} V", one.supply_v),
    ];
    let mut groups: BTreeMap<String, Vec<&Candidate>> = BTreeMap::new();
    for key in keys {
        groups.clear();
        for one in drawn {
            groups.entry(key(one)).or_default().push(one);
        }
        if groups.len() > 1 {
            break;
        }
    }
    if groups.len() <= MOST_SERIES {
        return groups;
    }
    // Too many to tell apart: the first, the last, and as many in between at even distances.
    let labels: Vec<String> = groups.keys().cloned().collect();
    let kept: Vec<&String> =
        (0..MOST_SERIES).map(|at| &labels[at * (labels.len() - 1) / (MOST_SERIES - 1)]).collect();
    groups.retain(|label, _| kept.contains(&label));
    groups
}

/// Latency and energy of some points, by rising latency.
fn envelope(members: &[&Candidate]) -> Vec<(f64, f64)> {
    let mut points: Vec<(f64, f64)> = members.iter().map(|one| (one.latency_s(), one.energy_j())).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    if points.len() > MOST_POINTS {
        let mut least = f64::INFINITY;
        points.retain(|&(_, energy_j)| {
            let better = energy_j < least;
            least = least.min(energy_j);
            better
        });
    }
    points
}

/// The chart and the table in one page that needs nothing else.
///
/// # Errors
/// As [`picture`].
pub fn page(plan: &Plan) -> Result<String, LabError> {
    let front: Vec<(&str, &Point)> =
        plan.outcome.points.iter().filter(|point| point.front).map(|point| ("*", point)).collect();
    let (header, lines) = cells(plan, "front", &front);
    let row = |tag: &str, cells: &[String]| -> String {
        cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escaped(cell))).collect()
    };
    let header = row("th", &header);
    let body: String = lines.iter().map(|line| format!("<tr>{}</tr>\n", row("td", line))).collect();
    let sizing: String =
        plan.sizing.iter().flat_map(|sizing| &sizing.lines).fold(String::new(), |all, (a, b)| {
            all + &format!("<tr><td>{}</td><td>{}</td></tr>\n", escaped(a), escaped(b))
        });
    let sizing = match sizing.as_str() {
        "" => String::new(),
        lines => format!("<h2>For the point of least energy</h2>\n<table>\n{lines}</table>\n"),
    };
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>WattSeal plan</title>\n<style>\n\
         body {{ font: 15px/1.4 system-ui, sans-serif; margin: 2em; color: #222; background: #fff }}\n\
         table {{ border-collapse: collapse }}\n\
         th, td {{ padding: .2em .7em; border-bottom: 1px solid #ddd; text-align: left; white-space: nowrap }}\n\
         svg {{ max-width: 100%; height: auto }}\n</style>\n</head>\n<body>\n\
         {}\n<h2>Pareto front</h2>\n<p>{}</p>\n<table>\n<tr>{header}</tr>\n{body}</table>\n{sizing}</body>\n</html>\n",
        picture(plan)?,
        escaped(&common(plan))
    ))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
