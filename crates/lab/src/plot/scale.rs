//! Range of an axis, and its labels.

use super::{Axis, Chart};
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    X,
    Y,
}

/// Range of an axis, and its labels.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Scale {
    log: bool,
    pub(super) low: f64,
    high: f64,
    pub(super) ticks: Vec<f64>,
}

impl Ranged for Scale {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let along = |value: f64| if self.log { value.log10() } else { value };
        let share = (along(*value) - along(self.low)) / (along(self.high) - along(self.low));
        first + (share * f64::from(last - first)).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _hint: Hint) -> Vec<f64> {
        self.ticks.clone()
    }

    fn range(&self) -> std::ops::Range<f64> {
        self.low..self.high
    }
}

impl ValueFormatter<f64> for Scale {
    fn format_ext(&self, value: &f64) -> String {
        self.label(*value)
    }
}

impl Scale {
    /// # Errors
    /// A sentence, if there is no point.
    pub(super) fn of(chart: &Chart, side: Side) -> Result<Scale, String> {
        let axis = if side == Side::X { &chart.x } else { &chart.y };
        let points = chart.series.iter().flat_map(|series| &series.points);
        let shown = points.filter(|(x, y)| x.is_finite() && y.is_finite());
        let values: Vec<f64> = shown.map(|&(x, y)| if side == Side::X { x } else { y }).collect();
        let lowest = values.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if values.is_empty() {
            return Err("it has no points".into());
        }
        if side == Side::X && !axis.names.is_empty() {
            let count = axis.names.len();
            let ticks = (0..count).map(|index| index as f64).collect();
            return Ok(Scale { log: false, low: -0.5, high: count as f64 - 0.5, ticks });
        }
        Ok(if axis.log { Scale::logarithmic(lowest, highest) } else { Scale::linear(axis, lowest, highest) })
    }

    fn linear(axis: &Axis, lowest: f64, highest: f64) -> Scale {
        let lowest = if axis.from_zero { lowest.min(0.0) } else { lowest };
        let highest = if axis.from_zero { highest.max(0.0) } else { highest };
        // A single value gets room of its own size around it.
        let (lowest, highest) = match highest - lowest {
            0.0 if lowest == 0.0 => (-1.0, 1.0),
            0.0 => (lowest - lowest.abs() / 2.0, highest + highest.abs() / 2.0),
            _ => (lowest, highest),
        };
        let step = nice_step((highest - lowest) / 7.0);
        let (first, last) = ((lowest / step).floor(), (highest / step).ceil());
        let ticks = (0..=(last - first) as u32).map(|index| (first + f64::from(index)) * step).collect();
        Scale { low: first * step, high: last * step, ticks, ..Scale::default() }
    }

    fn logarithmic(lowest: f64, highest: f64) -> Scale {
        // Some room on both sides, so that marks do not lie on the frame.
        let (low, high) = (lowest / 1.15, highest * 1.15);
        let decades = (high / low).log10();
        let within: &[f64] = match decades {
            ..0.7 => &[1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0],
            0.7..1.5 => &[1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0],
            1.5..3.5 => &[1.0, 2.0, 5.0],
            _ => &[1.0],
        };
        let every = (decades / 12.0).ceil().max(1.0) as i32;
        let ticks = (low.log10().floor() as i32..=high.log10().ceil() as i32)
            .filter(|decade| decade.rem_euclid(every) == 0)
            .flat_map(|decade| within.iter().map(move |digit| digit * 10f64.powi(decade)))
            .filter(|tick| (low..=high).contains(tick))
            .collect();
        Scale { log: true, low, high, ticks }
    }

    /// The number at a tick, without the digits that arithmetic in base 2 leaves behind.
    fn label(&self, tick: f64) -> String {
        let step = (self.high - self.low) / 20.0;
        if !self.log && tick.abs() < step {
            return "0".into();
        }
        let size = tick.abs().log10().floor() as i32;
        if !(-5..7).contains(&size) {
            return format!("{tick:.1e}").replace(".0e", "e");
        }
        let digits = if self.log { 1 - size } else { 1 - step.log10().floor() as i32 };
        let text = format!("{tick:.*}", digits.clamp(0, 8) as usize);
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    }
}

/// The least of 1, 2 and 5 times a power of ten that is not below `least`.
fn nice_step(least: f64) -> f64 {
    let decade = 10f64.powf(least.log10().floor());
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|digit| digit * decade)
        .find(|step| *step >= least)
        .unwrap_or(10.0 * decade)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_round_numbers() {
        let labels = |scale: &Scale| scale.ticks.iter().map(|&tick| scale.label(tick)).collect::<Vec<_>>();
        let axis = Axis::linear("", "");
        assert_eq!(
            labels(&Scale::linear(&axis, 0.03, 0.31)),
            ["0", "0.05", "0.1", "0.15", "0.2", "0.25", "0.3", "0.35"]
        );
        assert_eq!(labels(&Scale::linear(&axis, -3.0, 2.0)), ["-3", "-2", "-1", "0", "1", "2"]);
        assert_eq!(
            labels(&Scale::linear(&axis, 0.0, 86_400.0)),
            ["0", "20000", "40000", "60000", "80000", "100000"]
        );
        assert_eq!(labels(&Scale::logarithmic(1.0, 40.0)), ["1", "2", "5", "10", "20"]);
        assert_eq!(labels(&Scale::logarithmic(1.0, 2.0)), ["0.9", "1", "1.2", "1.5", "2"]);
        assert_eq!(labels(&Scale::logarithmic(1e-3, 1e2)), ["0.001", "0.01", "0.1", "1", "10", "100"]);
    }

    #[test]
    fn one_value_alone_has_room_around_it() {
        let scale = Scale::linear(&Axis::linear("", ""), 3.0, 3.0);
        assert!(scale.low < 3.0 && scale.high > 3.0);
    }
}
