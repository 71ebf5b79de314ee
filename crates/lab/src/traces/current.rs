//! The current as samples, in the format that Nordic's Power Profiler exports: a line
//! `Timestamp(ms),Current(uA)` for each sample, with the mean of its interval.

use std::fs::File;
use std::io::{self, BufWriter, Write};

/// Picoseconds in a second.
const PS_PER_S: u128 = 1_000_000_000_000;

/// Samples that are being written. Times are in picoseconds and never go back.
pub(super) struct CurrentSamples {
    out: BufWriter<File>,
    rate_hz: u64,
    /// Number of the sample under way.
    number: u64,
    /// The time up to which the charge is counted.
    counted_ps: u64,
    /// Charge of the sample under way, in microamperes times picoseconds.
    charge: f64,
    current_ua: f64,
    error: Option<io::Error>,
}

impl CurrentSamples {
    /// Begins to write into `file`.
    pub fn new(file: File, rate_hz: u64, current_ua: f64) -> CurrentSamples {
        let mut out = BufWriter::new(file);
        let error = writeln!(out, "Timestamp(ms),Current(uA)").err();
        CurrentSamples { out, rate_hz, number: 0, counted_ps: 0, charge: 0.0, current_ua, error }
    }

    /// Beginning of a sample.
    fn begin_ps(&self, number: u64) -> u64 {
        (u128::from(number) * PS_PER_S / u128::from(self.rate_hz)) as u64
    }

    /// Counts the charge up to a time, and writes the samples that end by then.
    fn count_to(&mut self, at_ps: u64) {
        while self.error.is_none() {
            let end_ps = self.begin_ps(self.number + 1);
            let to_ps = end_ps.min(at_ps);
            self.charge += self.current_ua * (to_ps - self.counted_ps) as f64;
            self.counted_ps = to_ps;
            if end_ps > at_ps {
                break;
            }
            self.write();
        }
    }

    /// Writes the sample under way: its mean over the time that is counted of it.
    fn write(&mut self) {
        let begin_ps = self.begin_ps(self.number);
        let mean_ua = self.charge / (self.counted_ps - begin_ps) as f64;
        let written = writeln!(self.out, "{},{mean_ua:.3}", begin_ps as f64 / 1e9);
        self.error = self.error.take().or(written.err());
        self.number += 1;
        self.charge = 0.0;
    }

    /// The current is another one from now on.
    pub fn change(&mut self, at_ps: u64, current_ua: f64) {
        self.count_to(at_ps);
        self.current_ua = current_ua;
    }

    /// Completes the file; a last interval that the run did not fill has the mean of its part.
    pub fn finish(mut self, end_ps: u64) -> io::Result<()> {
        self.count_to(end_ps);
        if self.counted_ps > self.begin_ps(self.number) {
            self.write();
        }
        self.error.map_or_else(|| self.out.flush(), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, SeekFrom};

    #[test]
    fn samples_have_the_mean_of_their_interval() {
        let mut file = tempfile::tempfile().expect("a file");
        let mut samples = CurrentSamples::new(file.try_clone().expect("the same"), 1_000, 10_000.0);
        // A quarter of the second millisecond at 2 mA, then 1 uA up to 3.5 ms.
        samples.change(1_250_000_000, 2_000.0);
        samples.change(1_500_000_000, 1.0);
        samples.finish(3_500_000_000).expect("written");
        let mut text = String::new();
        file.seek(SeekFrom::Start(0)).expect("a file");
        file.read_to_string(&mut text).expect("text");
        let wanted = "Timestamp(ms),Current(uA)\n0,10000.000\n1,3000.500\n2,1.000\n3,1.000\n";
        assert_eq!(text, wanted);
    }
}
