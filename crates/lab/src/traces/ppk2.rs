//! A recording in the format of Nordic's Power Profiler from version 4 on (`.ppk2`): a ZIP archive
//! of `session.raw`, `minimap.raw` and `metadata.json`, as the application's source writes and
//! reads it (NordicSemiconductor/pc-nrfconnect-ppk, `src/utils/saveFileHandler.ts` and
//! `foldingBuffer.ts`).

use serde_json::{Value, json};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

/// `formatVersion` of a ZIP archive.
const VERSION: u8 = 2;
/// States of eight digital inputs, two bits each: nobody has looked at them.
const NO_INPUTS: u16 = 0;
/// Most intervals of the overview.
const INTERVALS_MAX: usize = 10_000;
/// Lowest current of the overview, whose axis may be logarithmic.
const OVERVIEW_NA_MIN: f64 = 200.0;

/// A recording that is being written.
pub(super) struct Ppk2 {
    archive: ZipWriter<BufWriter<File>>,
    rate_hz: u64,
    overview: Overview,
}

impl Ppk2 {
    pub fn new(file: File, rate_hz: u64) -> io::Result<Ppk2> {
        let mut archive = ZipWriter::new(BufWriter::new(file));
        // Two hours of 100 kHz fill four gigabytes.
        archive.start_file("session.raw", SimpleFileOptions::default().large_file(true))?;
        Ok(Ppk2 { archive, rate_hz, overview: Overview::new() })
    }

    /// Writes a sample: the current, and the digital inputs.
    pub fn write(&mut self, current_ua: f64) -> io::Result<()> {
        let mut frame = [0; 6];
        frame[..4].copy_from_slice(&(current_ua as f32).to_le_bytes());
        frame[4..].copy_from_slice(&NO_INPUTS.to_le_bytes());
        self.archive.write_all(&frame)?;
        self.overview.add(current_ua);
        Ok(())
    }

    pub fn finish(mut self) -> io::Result<()> {
        let overview = self.overview.to_json(self.rate_hz);
        let metadata = json!({"metadata": {"samplesPerSecond": self.rate_hz}, "formatVersion": VERSION});
        for (name, contents) in [("minimap.raw", overview), ("metadata.json", metadata)] {
            self.archive.start_file(name, SimpleFileOptions::default())?;
            self.archive.write_all(contents.to_string().as_bytes())?;
        }
        self.archive.finish()?.flush()
    }
}

/// Lowest and highest current of some samples in a row.
#[derive(Clone, Copy)]
struct Interval {
    first: u64,
    last: u64,
    low_na: f64,
    high_na: f64,
}

/// The whole recording in at most [`INTERVALS_MAX`] intervals, which double as it gets longer.
struct Overview {
    intervals: Vec<Interval>,
    samples: u64,
    /// Samples of a whole interval.
    interval_samples: u64,
}

impl Overview {
    fn new() -> Overview {
        Overview { intervals: Vec::new(), samples: 0, interval_samples: 1 }
    }

    fn add(&mut self, current_ua: f64) {
        let current_na = (current_ua * 1e3).max(OVERVIEW_NA_MIN);
        let one =
            Interval { first: self.samples, last: self.samples, low_na: current_na, high_na: current_na };
        let begins = self.samples.is_multiple_of(self.interval_samples);
        match self.intervals.last_mut() {
            Some(last) if !begins => *last = last.joined(&one),
            _ => self.intervals.push(one),
        }
        self.samples += 1;
        if self.intervals.len() == INTERVALS_MAX && self.samples.is_multiple_of(self.interval_samples) {
            self.intervals =
                self.intervals.chunks(2).map(|pair| pair[0].joined(&pair[pair.len() - 1])).collect();
            self.interval_samples *= 2;
        }
    }

    fn to_json(&self, rate_hz: u64) -> Value {
        let points = |current_na: fn(&Interval) -> f64| -> Vec<Value> {
            let point = |interval: &Interval| {
                let middle_us = (interval.first + interval.last) as f64 / 2.0 * 1e6 / rate_hz as f64;
                json!({"x": middle_us, "y": current_na(interval)})
            };
            self.intervals.iter().map(point).collect()
        };
        json!({
            "lastElementFoldCount": self.samples % self.interval_samples,
            "data": {
                "length": self.intervals.len(),
                "min": points(|interval| interval.low_na),
                "max": points(|interval| interval.high_na),
            },
            "maxNumberOfElements": INTERVALS_MAX,
            "numberOfTimesToFold": self.interval_samples,
        })
    }
}

impl Interval {
    /// Both in one, `later` being the later one.
    fn joined(&self, later: &Interval) -> Interval {
        Interval {
            first: self.first,
            last: later.last,
            low_na: self.low_na.min(later.low_na),
            high_na: self.high_na.max(later.high_na),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overview_has_extremes_of_every_sample_within_its_bound() {
        let mut overview = Overview::new();
        let count = 25_000;
        for number in 0..count {
            overview.add(if number == 12_345 { 5_000.0 } else { f64::from(number % 7) });
        }
        let shown = overview.to_json(100_000);
        let length = shown["data"]["length"].as_u64().expect("a number") as usize;
        assert!((INTERVALS_MAX / 2..INTERVALS_MAX).contains(&length), "{length}");
        let (low, high) = (&shown["data"]["min"], &shown["data"]["max"]);
        let spike = 12_345 / 4;
        assert_eq!((&low[spike]["y"], &high[spike]["y"]), (&json!(3000.0), &json!(5e6)));
        // Samples 12,344 to 12,347, 10 us apart.
        assert_eq!(low[spike]["x"], json!(123_455.0));
        assert_eq!((&shown["numberOfTimesToFold"], &shown["lastElementFoldCount"]), (&json!(4), &json!(0)));
    }
}
