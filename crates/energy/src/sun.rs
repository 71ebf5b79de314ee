//! Energy of the sun: irradiance on a horizontal plane, from a file or from a clear-sky model, and
//! the panel there.

use crate::range::{self, OutOfRange};
use serde::Deserialize;
use thiserror::Error;

const DAY_S: f64 = 86_400.0;

/// Global horizontal irradiance over a time that repeats: a year, or some days. Each figure is the
/// mean of its step; time 0 is midnight at the start of the first day.
#[derive(Clone, Debug, PartialEq)]
pub struct Irradiance {
    /// Length of a step, in seconds.
    pub step_s: f64,
    /// Mean of each step, in W/m².
    pub w_per_m2: Vec<f64>,
    /// Source of the figures.
    pub source: String,
}

/// A file of irradiance, or a request for a clear sky, that makes no sense.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SunError {
    /// A line of the file.
    #[error("line {line} of the irradiance: {problem}")]
    Line {
        /// Counted from 1.
        line: usize,
        /// Fault of the line.
        problem: String,
    },
    /// No line has figures.
    #[error("the irradiance has no day: each line is one day, its figures in W/m² between commas")]
    Empty,
    /// A figure of the clear sky's.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
}

impl Irradiance {
    /// Reads days from text: a line is a day, its figures (means of equal parts of the day from
    /// midnight on, in W/m²) stand between commas, every day has as many. Lines that begin with `#`
    /// are for the reader; the first of them is the source.
    ///
    /// # Errors
    /// [`SunError::Line`] with the line and what is wrong; [`SunError::Empty`].
    pub fn from_csv(text: &str) -> Result<Irradiance, SunError> {
        let mut source = None;
        let mut per_day = 0;
        let mut w_per_m2 = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let wrong = |problem| SunError::Line { line: index + 1, problem };
            if let Some(comment) = line.strip_prefix('#') {
                source.get_or_insert_with(|| comment.trim().to_owned());
                continue;
            }
            if line.trim().is_empty() {
                continue;
            }
            let before = w_per_m2.len();
            for field in line.split(',').map(str::trim) {
                let value: f64 = field.parse().map_err(|_| wrong(format!("'{field}' is not a number")))?;
                if !(0.0..=MOST_W_PER_M2).contains(&value) {
                    return Err(wrong(format!("{value} W/m² is not between 0 and {MOST_W_PER_M2}")));
                }
                w_per_m2.push(value);
            }
            let figures = w_per_m2.len() - before;
            if per_day != 0 && figures != per_day {
                return Err(wrong(format!("{figures} figures, where the days before have {per_day}")));
            }
            per_day = figures;
        }
        if per_day == 0 {
            return Err(SunError::Empty);
        }
        let source = source.unwrap_or_else(|| "a file without a source".into());
        Ok(Irradiance { step_s: DAY_S / per_day as f64, w_per_m2, source })
    }

    /// A cloudless sky for `days` from `day_of_year` (1 is 1 January; a leap year's last day
    /// is 366) at a latitude (north positive), in true solar time: noon is when the sun is highest.
    /// Global irradiance after Haurwitz (Journal of Meteorology 2 (1945) 154 and 3 (1946) 123, in
    /// the form of SAND2012-2389, section 3.1): 1098 cos z exp(-0.059 / cos z) W/m²; declination
    /// after Spencer (Search 2 (1971) 172). A step's figure is the mean over the step, taken at a
    /// point a minute.
    ///
    /// # Errors
    /// [`OutOfRange`] for a latitude beyond the poles, a day that no year has, no days or more than
    /// a year's, or a step that does not divide a day.
    pub fn clear_sky(
        latitude_deg: f64,
        day_of_year: u32,
        days: u32,
        step_s: f64,
    ) -> Result<Irradiance, SunError> {
        range::require("latitude_deg", latitude_deg, latitude_deg.abs() <= 90.0, "from -90 to 90")?;
        let day = f64::from(day_of_year);
        range::require("day_of_year", day, (1..=366).contains(&day_of_year), "from 1 to 366")?;
        range::require("days", f64::from(days), (1..=366).contains(&days), "from 1 to 366")?;
        let per_day = DAY_S / step_s;
        let divides = step_s >= 1.0 && per_day >= 1.0 && (per_day - per_day.round()).abs() < 1e-9;
        range::require(
            "step_s",
            step_s,
            divides,
            "a second or more, and a part of the day's 86,400 seconds",
        )?;
        let per_day = per_day.round() as u32;

        let latitude = latitude_deg.to_radians();
        let points = (step_s / 60.0).ceil() as u32;
        let point_s = step_s / f64::from(points);
        let mut w_per_m2 = Vec::with_capacity((days * per_day) as usize);
        for passed in 0..days {
            let declination = declination_rad(f64::from((day_of_year - 1 + passed) % 365 + 1));
            let across = declination.sin() * latitude.sin();
            let along = declination.cos() * latitude.cos();
            for step in 0..per_day {
                let sum: f64 = (0..points)
                    .map(|point| {
                        let since_s = (f64::from(step * points + point) + 0.5) * point_s;
                        let hour_angle = (since_s / DAY_S - 0.5) * std::f64::consts::TAU;
                        haurwitz_w_per_m2(across + along * hour_angle.cos())
                    })
                    .sum();
                w_per_m2.push(sum / f64::from(points));
            }
        }
        let source =
            format!("clear sky after Haurwitz, latitude {latitude_deg}°, {days} days from day {day_of_year}");
        Ok(Irradiance { step_s, w_per_m2, source })
    }

    /// The time after which it repeats, in seconds.
    #[must_use]
    pub fn period_s(&self) -> f64 {
        self.step_s * self.w_per_m2.len() as f64
    }

    /// The irradiance at a time, in W/m²: a straight line between the middles of two steps, so that
    /// a whole period has the energy of its steps. Time goes round: after the last step comes the
    /// first.
    #[must_use]
    pub fn at(&self, t_s: f64) -> f64 {
        let steps = self.w_per_m2.len();
        let place = (t_s / self.step_s - 0.5).rem_euclid(steps as f64);
        let left = (place as usize).min(steps - 1);
        let share = place - left as f64;
        let (from, to) = (self.w_per_m2[left], self.w_per_m2[(left + 1) % steps]);
        from + share * (to - from)
    }

    /// Returns the energy that falls on a square metre in a period, in joules.
    #[must_use]
    pub fn insolation_j_per_m2(&self) -> f64 {
        self.w_per_m2.iter().sum::<f64>() * self.step_s
    }

    /// Some of its days, at least one: `first` counts from 0, and the days go round as time does.
    #[must_use]
    pub fn of_days(&self, first: usize, days: usize) -> Irradiance {
        let per_day = (DAY_S / self.step_s).round() as usize;
        let steps = self.w_per_m2.len();
        let w_per_m2 = (first * per_day..(first + days.max(1)) * per_day)
            .map(|step| self.w_per_m2[step % steps])
            .collect();
        Irradiance { step_s: self.step_s, w_per_m2, source: self.source.clone() }
    }
}

/// More than falls on a horizontal plane anywhere: the sun outside the atmosphere gives 1,361 W/m²
/// (mean), clouds can add to a clear sky for minutes.
const MOST_W_PER_M2: f64 = 1_800.0;

/// The sun's declination on a day of the year (from 1), in radians: Spencer 1971.
fn declination_rad(day_of_year: f64) -> f64 {
    let angle = std::f64::consts::TAU * (day_of_year - 1.0) / 365.0;
    0.006_918 - 0.399_912 * angle.cos() + 0.070_257 * angle.sin() - 0.006_758 * (2.0 * angle).cos()
        + 0.000_907 * (2.0 * angle).sin()
        - 0.002_697 * (3.0 * angle).cos()
        + 0.001_48 * (3.0 * angle).sin()
}

/// Global irradiance of a cloudless sky by the cosine of the sun's zenith angle, in W/m²:
/// Haurwitz 1945.
fn haurwitz_w_per_m2(cos_zenith: f64) -> f64 {
    if cos_zenith > 0.0 { 1098.0 * cos_zenith * (-0.059 / cos_zenith).exp() } else { 0.0 }
}

/// A solar panel that lies flat, and the charger between it and the store. Its power follows the
/// irradiance in proportion: no temperature, no angle of incidence, and a charger that keeps to the
/// panel's best point.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Power at 1,000 W/m², in watts: rated voltage times rated current.
    pub rated_w: f64,
    /// Share of it that the charger brings into the store: above 0, at most 1.
    #[serde(default = "whole")]
    pub charger_efficiency: f64,
}

fn whole() -> f64 {
    1.0
}

impl Panel {
    /// Refuses what no panel has.
    ///
    /// # Errors
    /// [`OutOfRange`] with the field.
    pub fn check(&self) -> Result<(), OutOfRange> {
        range::positive("rated_w", self.rated_w)?;
        range::share("charger_efficiency", self.charger_efficiency)
    }

    /// Returns the power that reaches the store at an irradiance, in watts.
    #[must_use]
    pub fn power_w(&self, w_per_m2: f64) -> f64 {
        self.rated_w * self.charger_efficiency * w_per_m2 / RATED_AT_W_PER_M2
    }
}

/// Standard test conditions: IEC 61215 rates panels at 1,000 W/m².
const RATED_AT_W_PER_M2: f64 = 1_000.0;
