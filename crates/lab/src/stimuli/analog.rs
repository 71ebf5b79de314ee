//! Voltages at the inputs of a converter.

use crate::recorded::{self, Column, TIMES};
use crate::units;
use mcu::{Harmonic, Samples, Signal};
use serde::Deserialize;
use std::path::{Path, PathBuf};

/// Signal at an input of the converter.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnalogSignal {
    /// The converter's channel.
    pub channel: u8,
    /// A voltage for ever.
    volts: Option<String>,
    mains: Option<Mains>,
    csv: Option<Table>,
}

/// A sine with its harmonics, such as a sensor makes of the mains' voltage or current.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Mains {
    /// Peak at the input.
    amplitude: String,
    /// Middle between the peaks.
    offset: String,
    /// 50 Hz where absent.
    frequency: Option<String>,
    /// At the beginning, in degrees.
    #[serde(default)]
    phase_deg: f64,
    #[serde(default)]
    harmonics: Vec<Overtone>,
    /// Standard deviation of its noise.
    noise: Option<String>,
    /// Seed of its noise.
    #[serde(default)]
    seed: u64,
}

/// A harmonic of the mains.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Overtone {
    order: u8,
    amplitude: String,
    #[serde(default)]
    phase_deg: f64,
}

/// A table of voltages over time, with a line of headings.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    file: PathBuf,
    /// Heading of the times; the first column where absent.
    time: Option<String>,
    /// Heading of the values; the second column where absent.
    column: Option<String>,
    /// Factor of the values.
    #[serde(default = "one")]
    scale: f64,
    /// Voltage that is added, in volts.
    #[serde(default)]
    offset_v: f64,
    /// A value holds until the next one.
    #[serde(default)]
    steps: bool,
    /// The table begins anew at its end.
    #[serde(default)]
    repeat: bool,
}

fn one() -> f64 {
    1.0
}

impl AnalogSignal {
    pub(super) fn signal(&self, folder: &Path) -> Result<Signal, String> {
        match (&self.volts, &self.mains, &self.csv) {
            (Some(volts), None, None) => Ok(Signal::Level(units::signed_volts(volts)?)),
            (None, Some(mains), None) => mains.signal(),
            (None, None, Some(table)) => table.signal(folder),
            _ => Err("give it one of volts, mains and csv".into()),
        }
    }
}

impl Mains {
    fn signal(&self) -> Result<Signal, String> {
        let harmonics: Result<Vec<Harmonic>, String> = self
            .harmonics
            .iter()
            .map(|Overtone { order, amplitude, phase_deg }| {
                let amplitude_v = units::volts(amplitude)?;
                Ok(Harmonic { order: *order, amplitude_v, phase_rad: phase_deg.to_radians() })
            })
            .collect();
        Ok(Signal::Mains {
            offset_v: units::signed_volts(&self.offset)?,
            amplitude_v: units::volts(&self.amplitude)?,
            hz: self.frequency.as_deref().map_or(Ok(50.0), units::signal_hertz)?,
            phase_rad: self.phase_deg.to_radians(),
            harmonics: harmonics?,
            noise_v: self.noise.as_deref().map_or(Ok(0.0), units::volts)?,
            seed: self.seed,
        })
    }
}

impl Table {
    fn signal(&self, folder: &Path) -> Result<Signal, String> {
        let path = folder.join(&self.file);
        let time = Column { heading: self.time.as_deref(), place: 0, units: &TIMES };
        let units = &[("V", 1.0), ("mV", 1e-3)];
        let value = Column { heading: self.column.as_deref(), place: 1, units };
        let rows = recorded::columns(&path, time, value)?;
        let points: Vec<(u64, f64)> =
            rows.into_iter().map(|(at_ns, value)| (at_ns, value * self.scale + self.offset_v)).collect();
        if self.repeat && points.len() < 2 {
            return Err(format!("{}: a table that repeats has at least two rows", path.display()));
        }
        Ok(Signal::Samples(Samples { points, steps: self.steps, repeats: self.repeat }.into()))
    }
}
