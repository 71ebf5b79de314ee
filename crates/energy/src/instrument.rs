//! A sampled-current meter, as mane2014 built one (section 3.1): a shunt in the supply line, a
//! converter, an accumulator that a trigger opens and closes; over a current that is known exactly,
//! so that its error shows.

use crate::range::{self, OutOfRange};
use serde::Deserialize;

/// A stretch of constant current.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// Duration, in seconds.
    pub duration_s: f64,
    /// Current, in amperes.
    pub current_a: f64,
}

/// The current of a part from the trigger's rise to its fall.
#[derive(Clone, Debug, PartialEq)]
pub struct Waveform {
    /// Supply before the shunt, in volts; constant.
    pub supply_v: f64,
    /// Current of the part, one stretch after the other.
    pub segments: Vec<Segment>,
}

impl Waveform {
    /// One current all the time.
    #[must_use]
    pub fn constant(supply_v: f64, current_a: f64, duration_s: f64) -> Waveform {
        Waveform { supply_v, segments: vec![Segment { duration_s, current_a }] }
    }

    /// Its length, in seconds.
    #[must_use]
    pub fn duration_s(&self) -> f64 {
        self.segments.iter().map(|segment| segment.duration_s).sum()
    }

    /// The charge that flows, in coulombs.
    #[must_use]
    pub fn charge_c(&self) -> f64 {
        self.segments.iter().map(|segment| segment.current_a * segment.duration_s).sum()
    }

    /// Returns the energy that the supply gives, in joules: charge times `supply_v`. Without a
    /// shunt it is what the part takes.
    #[must_use]
    pub fn energy_j(&self) -> f64 {
        self.charge_c() * self.supply_v
    }

    /// Its highest current, in amperes.
    #[must_use]
    pub fn peak_a(&self) -> f64 {
        self.segments.iter().map(|segment| segment.current_a).fold(0.0, f64::max)
    }
}

/// The meter.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Instrument {
    /// Shunt in the supply line, in ohms.
    pub shunt_ohm: f64,
    /// Resolution of the converter, in bits: 1 to 24.
    pub bits: u32,
    /// Reference of the converter, in volts: the voltage over the shunt at which it is at its end.
    pub reference_v: f64,
    /// Samples a second.
    pub sample_hz: f64,
    /// From the trigger to the first sample, in seconds: 0 to below one sample's time.
    #[serde(default)]
    pub phase_s: f64,
}

/// Reading of the meter, and its differences from the truth: `energy_j` = `part_j` + `shunt_j` +
/// `sampling_j` + `saturation_j` + `quantisation_j`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Sum of the samples' codes.
    pub accumulator: u64,
    /// Number of samples.
    pub samples: u64,
    /// Those among them that stood at the converter's end although the current was higher.
    pub saturated: u64,
    /// Energy by equation (3.1), in joules.
    pub energy_j: f64,
    /// Cycles by equation (3.2).
    pub cycles: f64,
    /// Energy of the part itself, in joules: its current times the supply less the shunt's drop.
    pub part_j: f64,
    /// Heat in the shunt, which (3.1) charges to the part, in joules.
    pub shunt_j: f64,
    /// Too much or too little because the samples stand for the time between them, in joules.
    pub sampling_j: f64,
    /// Missing because the converter stood at its end, in joules; zero or negative.
    pub saturation_j: f64,
    /// Missing because the converter rounds down, in joules; zero or negative.
    pub quantisation_j: f64,
    /// The lowest supply that the part saw behind the shunt, in volts.
    pub lowest_v: f64,
}

impl Reading {
    /// Returns the relative error of the reading.
    #[must_use]
    pub fn error(&self) -> f64 {
        self.energy_j / self.part_j - 1.0
    }
}

/// Oscilloscope over a shunt, as ledwaba2018 read its currents (section V.B): a reading is a whole
/// number of steps.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oscilloscope {
    /// Shunt in the supply line, in ohms.
    pub shunt_ohm: f64,
    /// Step of a reading, in volts.
    pub step_v: f64,
}

impl Oscilloscope {
    /// Refuses what no oscilloscope has.
    ///
    /// # Errors
    /// [`OutOfRange`] with the field.
    pub fn check(&self) -> Result<(), OutOfRange> {
        range::positive("shunt_ohm", self.shunt_ohm)?;
        range::positive("step_v", self.step_v)
    }

    /// Returns the reading of a current, in amperes: the nearest step.
    #[must_use]
    pub fn read_a(&self, current_a: f64) -> f64 {
        (current_a * self.shunt_ohm / self.step_v).round() * self.step_v / self.shunt_ohm
    }

    /// Returns the standard deviation of a reading that the steps alone cause, in amperes: that of
    /// an error spread evenly over one step.
    #[must_use]
    pub fn deviation_a(&self) -> f64 {
        self.step_v / 12.0_f64.sqrt() / self.shunt_ohm
    }
}

impl Instrument {
    /// Refuses what no meter has.
    ///
    /// # Errors
    /// [`OutOfRange`] with the field.
    pub fn check(&self) -> Result<(), OutOfRange> {
        range::positive("shunt_ohm", self.shunt_ohm)?;
        range::require("bits", f64::from(self.bits), (1..=24).contains(&self.bits), "from 1 to 24")?;
        range::positive("reference_v", self.reference_v)?;
        range::positive("sample_hz", self.sample_hz)?;
        let within = (0.0..1.0 / self.sample_hz).contains(&self.phase_s);
        range::require("phase_s", self.phase_s, within, "from 0 to below the time of a sample")
    }

    /// The current at which the converter is at its end, in amperes.
    #[must_use]
    pub fn full_scale_a(&self) -> f64 {
        self.reference_v / self.shunt_ohm
    }

    /// The current of one step of the converter, in amperes.
    #[must_use]
    pub fn step_a(&self) -> f64 {
        self.full_scale_a() / f64::from(1_u32 << self.bits)
    }

    /// Returns the converter's code for a current: the steps in it, rounded down, at most 2ⁿ - 1.
    #[must_use]
    pub fn code(&self, current_a: f64) -> u64 {
        let steps = (current_a * self.shunt_ohm / self.reference_v * f64::from(1_u32 << self.bits)).floor();
        (steps.max(0.0) as u64).min((1 << self.bits) - 1)
    }

    /// Measures a current at a core clock: samples at `phase_s` + k / `sample_hz` from the
    /// trigger's rise to before its fall; energy = Vcc · Accm · Vref / (2ⁿ · R) · Ts (3.1),
    /// cycles = Ns · Ts · Fcpu (3.2).
    ///
    /// # Errors
    /// [`OutOfRange`] as [`Instrument::check`], and for a supply or a clock that is not above zero,
    /// a stretch that is negative, or a current that leaves no supply behind the shunt.
    pub fn read(&self, waveform: &Waveform, clock_hz: f64) -> Result<Reading, OutOfRange> {
        self.check()?;
        range::positive("supply_v", waveform.supply_v)?;
        range::positive("clock_hz", clock_hz)?;
        for segment in &waveform.segments {
            range::not_negative("duration_s", segment.duration_s)?;
            range::not_negative("current_a", segment.current_a)?;
            let left_v = waveform.supply_v - segment.current_a * self.shunt_ohm;
            range::require(
                "supply behind the shunt",
                left_v,
                left_v > 0.0,
                "above 0 V: take a smaller shunt",
            )?;
        }
        let sample_s = 1.0 / self.sample_hz;
        let full_scale_a = self.full_scale_a();
        // Samples before a time: those with phase + k·Ts < t, a millionth of Ts being nothing but
        // rounding.
        let samples_before = |t_s: f64| ((t_s - self.phase_s) * self.sample_hz - 1e-6).ceil().max(0.0) as u64;

        let (mut accumulator, mut samples, mut saturated) = (0, 0, 0);
        let (mut end_s, mut shunt_j) = (0.0, 0.0);
        let (mut seen_as, mut clipped_as) = (0.0, 0.0);
        for segment in &waveform.segments {
            end_s += segment.duration_s;
            let count = samples_before(end_s) - samples;
            let current_a = segment.current_a;
            samples += count;
            accumulator += count * self.code(current_a);
            if current_a >= full_scale_a {
                saturated += count;
            }
            shunt_j += current_a * current_a * self.shunt_ohm * segment.duration_s;
            seen_as += count as f64 * current_a * sample_s;
            clipped_as += count as f64 * current_a.min(full_scale_a) * sample_s;
        }
        let supply_v = waveform.supply_v;
        let energy_j = supply_v * accumulator as f64 * self.reference_v
            / (f64::from(1_u32 << self.bits) * self.shunt_ohm)
            * sample_s;
        Ok(Reading {
            accumulator,
            samples,
            saturated,
            energy_j,
            cycles: samples as f64 * sample_s * clock_hz,
            part_j: waveform.energy_j() - shunt_j,
            shunt_j,
            sampling_j: supply_v * seen_as - waveform.energy_j(),
            saturation_j: supply_v * (clipped_as - seen_as),
            quantisation_j: energy_j - supply_v * clipped_as,
            lowest_v: supply_v - waveform.peak_a() * self.shunt_ohm,
        })
    }
}
