//! The figures of what is delivered between a meter and its collector.

use super::quantile::quantile;
use crate::paper::{Line, Paper, Table, What};
use lab::LabError;
use lab::delivery::{Deliveries, Delivery, DeliveryKind, NativeTimes};
use lab::progress::{Progress, go_on};
use lab::workspace::Workspace;
use std::collections::{BTreeMap, BTreeSet};

/// All deliveries that the cells of a paper are about.
pub(super) type Delivered = BTreeMap<DeliveryKind, Vec<Delivery>>;

/// Delivers each kind that the paper's rows name, or those that were delivered when somebody ended
/// the work: then the answer's second half is true.
///
/// # Errors
/// As [`Deliveries::deliver`].
pub(super) fn deliver(
    workspace: &Workspace,
    paper: &Paper,
    deliveries: &dyn Deliveries,
    progress: &dyn Progress,
) -> Result<(Delivered, bool), LabError> {
    let Some(ends) = &paper.ends else { return Ok((Delivered::new(), false)) };
    let lines = paper.table.iter().flat_map(|table| &table.rows);
    let kinds = lines.flat_map(|line| {
        line.delivery.iter().chain(line.over.iter().filter_map(|over| over.delivery.as_ref()))
    });
    let mut delivered = Delivered::new();
    for kind in kinds {
        if delivered.contains_key(kind) {
            continue;
        }
        let outcome = go_on(progress).and_then(|()| deliveries.deliver(workspace, ends, kind, progress));
        match outcome {
            Ok(runs) => drop(delivered.insert(kind.clone(), runs)),
            Err(_) if progress.is_cancelled() => return Ok((delivered, true)),
            Err(error) => return Err(error),
        }
    }
    Ok((delivered, false))
}

/// Times of the collector's own code on this machine, by suite.
pub(super) type Native = BTreeMap<String, NativeTimes>;

/// Times each suite of the tables with native figures. If somebody ends the work, the rest is left
/// out: then the answer's second half is true. Nothing else of this program runs meanwhile.
///
/// # Errors
/// As [`Deliveries::open_natively`].
pub(super) fn time_natively(
    paper: &Paper,
    deliveries: &dyn Deliveries,
    progress: &dyn Progress,
) -> Result<(Native, bool), LabError> {
    let is_native =
        |table: &&Table| table.columns.iter().any(|column| column.what.is_some_and(What::is_native));
    let rows = paper.table.iter().filter(is_native).flat_map(|table| &table.rows);
    let suites: BTreeSet<&String> = rows.flat_map(suites).collect();
    let mut native = Native::new();
    for suite in suites {
        if progress.is_cancelled() {
            return Ok((native, true));
        }
        native.insert(suite.clone(), deliveries.open_natively(suite)?);
    }
    Ok((native, false))
}

/// Suites of a row and of its divisor.
fn suites(line: &Line) -> impl Iterator<Item = &String> {
    let over = line.over.iter().filter_map(|over| over.delivery.as_ref());
    line.delivery.iter().chain(over).map(|kind| &kind.suite)
}

/// A native figure of a row, divided by that of the suite which the row is over.
pub(super) fn native_figure(native: &Native, line: &Line, what: What) -> Option<f64> {
    let figures: Vec<f64> =
        suites(line).map(|suite| statistic(&native.get(suite)?.times_s, what)).collect::<Option<_>>()?;
    match figures[..] {
        [figure] => Some(figure),
        [figure, over] => Some(figure / over),
        _ => None,
    }
}

/// A figure of times; none of no times.
fn statistic(times: &[f64], what: What) -> Option<f64> {
    let quantile = |share| quantile(times, share);
    let mean = times.iter().sum::<f64>() / times.len().max(1) as f64;
    let squares = || times.iter().map(|time| (time - mean).powi(2)).sum::<f64>();
    match what {
        What::NativeMedian => quantile(0.5),
        What::NativeLowerQuartile => quantile(0.25),
        What::NativeUpperQuartile => quantile(0.75),
        What::NativeLeast => quantile(0.0),
        What::NativeMost => quantile(1.0),
        _ if times.is_empty() => None,
        What::NativeMean => Some(mean),
        What::NativeDeviation => Some((squares() / times.len() as f64).sqrt()),
        _ => None,
    }
}

/// Names of the microcontrollers of meter and collector, each once; none where the paper has no
/// deliveries.
pub(super) fn targets(
    workspace: &Workspace,
    paper: &Paper,
    deliveries: &dyn Deliveries,
) -> Result<Vec<String>, LabError> {
    let Some(ends) = &paper.ends else { return Ok(Vec::new()) };
    let mut names = vec![deliveries.meter(workspace)?, ends.collector.clone()];
    names.dedup();
    Ok(names)
}

/// The figure of a cell, divided by that of the kind which its row is over, where it is over one;
/// in SI units.
pub(super) fn figure(delivered: &Delivered, line: &Line, what: Option<What>) -> Option<f64> {
    let of = |kind: &DeliveryKind| one(delivered.get(kind)?, what?);
    let figure = of(line.delivery.as_ref()?)?;
    match line.over.as_ref().and_then(|over| over.delivery.as_ref()) {
        Some(over) => of(over).filter(|&over| over > 0.0).map(|over| figure / over),
        None => Some(figure),
    }
}

fn one(runs: &[Delivery], what: What) -> Option<f64> {
    let (time, deviation): (fn(&Delivery) -> Option<f64>, bool) = match what {
        What::Preparing => (|run| run.prepare_s, false),
        What::PreparingDeviation => (|run| run.prepare_s, true),
        What::Unpacking => (|run| run.unpack_s, false),
        What::UnpackingDeviation => (|run| run.unpack_s, true),
        What::RoundTrip => (|run| Some(run.round_trip_s), false),
        What::RoundTripDeviation => (|run| Some(run.round_trip_s), true),
        What::RoundTripComputation => (|run| Some(run.computation_s), false),
        What::RoundTripRadio => (|run| Some(run.radio_s), false),
        What::RoundTripNonvolatile => (|run| Some(run.nonvolatile_s), false),
        What::MessageBytes => (|run| Some(run.message_bytes.into()), false),
        What::MessagePackets => (|run| Some(run.packets.into()), false),
        _ => return None,
    };
    let times: Vec<f64> = runs.iter().map(time).collect::<Option<_>>()?;
    let count = times.len() as f64;
    if times.is_empty() {
        return None;
    }
    let mean = times.iter().sum::<f64>() / count;
    if !deviation {
        return Some(mean);
    }
    let squares: f64 = times.iter().map(|time| (time - mean).powi(2)).sum();
    (mean > 0.0).then(|| (squares / count).sqrt() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Five times, of which one is far off: it moves mean and deviation, and no quartile.
    #[test]
    fn quartiles_do_not_follow_an_outlier() {
        let times = [3.0, 1.0, 2.0, 100.0, 4.0];
        let of = |what| statistic(&times, what).unwrap_or(f64::NAN);
        let quartiles = [What::NativeLowerQuartile, What::NativeMedian, What::NativeUpperQuartile];
        assert_eq!(quartiles.map(of), [2.0, 3.0, 4.0]);
        assert_eq!([What::NativeLeast, What::NativeMost, What::NativeMean].map(of), [1.0, 100.0, 22.0]);
        // Squares 361 + 441 + 400 + 6084 + 324 over five.
        assert!((of(What::NativeDeviation) - 1522f64.sqrt()).abs() < 1e-9);
        assert_eq!(statistic(&[1.0, 2.0], What::NativeLowerQuartile), Some(1.25));
        assert_eq!(statistic(&[], What::NativeMedian), None);
        assert_eq!(statistic(&[], What::NativeMean), None);
    }

    fn run(prepare_s: f64, round_trip_s: f64) -> Delivery {
        Delivery { prepare_s: Some(prepare_s), round_trip_s, ..Delivery::default() }
    }

    #[test]
    fn mean_and_deviation_are_those_of_a_population() {
        let runs = [run(2.0, 1.0), run(4.0, 1.0), run(4.0, 1.0), run(6.0, 1.0)];
        assert_eq!(one(&runs, What::Preparing), Some(4.0));
        // Squares 4 + 0 + 0 + 4 over 4 runs: a deviation of the root of 2.
        let deviation = one(&runs, What::PreparingDeviation).unwrap_or(f64::NAN);
        assert!((deviation - 2f64.sqrt() / 4.0).abs() < 1e-12, "{deviation}");
        assert_eq!(one(&runs, What::RoundTripDeviation), Some(0.0));
        assert_eq!(one(&runs, What::Cycles), None);
        assert_eq!(one(&[], What::Preparing), None);
        // Nobody measured it: no figure, not zero.
        assert_eq!(one(&runs, What::Unpacking), None);
    }
}
