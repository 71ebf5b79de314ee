//! A simulation as a plot: what is stored, the sun, and what happened, against time.

use super::outcome::{EventKind, Outcome};
use lab::LabError;
use lab::plot::{Axis, Chart, Series, Style, svg};

/// Points of a line that a reader can tell apart.
const POINTS: usize = 2_000;

/// An outcome against time, as SVG.
///
/// # Errors
/// [`LabError::Chart`] where nothing was simulated.
pub fn plot(outcome: &Outcome) -> Result<String, LabError> {
    let hours = |time_s: f64| time_s / 3600.0;
    let every = outcome.trace.len().div_ceil(POINTS).max(1);
    let samples = || outcome.trace.iter().step_by(every);
    let line = |label: String, points: Vec<(f64, f64)>| Series { label, points, style: Style::Trace };
    let top_v = outcome.max_v.max(outcome.threshold_v);
    // The sun has an axis of its own in words: its peak as high as the highest voltage.
    let peak = outcome.trace.iter().map(|sample| sample.sun_w_per_m2).fold(0.0, f64::max);
    let scale = if peak > 0.0 { top_v / peak } else { 0.0 };
    let mut series = vec![
        line("stored".into(), samples().map(|sample| (hours(sample.time_s), sample.stored_v)).collect()),
        line("rail".into(), samples().map(|sample| (hours(sample.time_s), sample.rail_v)).collect()),
        line(
            format!("sun on the panel, {peak:.0} W/m² at its height"),
            samples().map(|sample| (hours(sample.time_s), sample.sun_w_per_m2 * scale)).collect(),
        ),
        line(
            format!("threshold, {:.2} V", outcome.threshold_v),
            vec![(0.0, outcome.threshold_v), (24.0 * outcome.days, outcome.threshold_v)],
        ),
    ];
    for (label, share) in [(AUTHENTICATED, 0.06), (MISSED, 0.12), (RESET, 0.18)] {
        let events = outcome.events.iter().filter(|event| label_of(&event.kind) == Some(label));
        let points: Vec<(f64, f64)> = events.map(|event| (hours(event.time_s), share * top_v)).collect();
        if !points.is_empty() {
            series.push(Series { label: label.into(), points, style: Style::Marks });
        }
    }
    let chart = Chart {
        title: outcome.title.clone(),
        x: Axis { from_zero: true, ..Axis::linear("time", "h") },
        y: Axis { from_zero: true, ..Axis::linear("voltage", "V") },
        series,
        notes: vec![format!(
            "Seed {}. {} authentications, {} missed, power lost {} times; {} signatures made. Marks stand at heights of their own.",
            outcome.seed,
            outcome.authentications,
            outcome.misses.total(),
            outcome.resets,
            outcome.signed
        )],
    };
    svg(&chart)
}

const AUTHENTICATED: &str = "authenticated";
const MISSED: &str = "missed";
const RESET: &str = "power lost";

/// Label of an event in the legend, for events that the picture shows.
fn label_of(kind: &EventKind) -> Option<&'static str> {
    match kind {
        EventKind::Authenticated => Some(AUTHENTICATED),
        EventKind::Missed(_) => Some(MISSED),
        EventKind::PowerLost => Some(RESET),
        EventKind::Rejected(_) | EventKind::PowerUp => None,
    }
}
