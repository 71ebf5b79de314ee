//! The current as samples with the mean of their interval, as Nordic's Power Profiler exports them
//! (a line `Timestamp(ms),Current(uA)` for each) or saves them ([`Ppk2`]).

use super::ppk2::Ppk2;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

/// Picoseconds in a second.
const PS_PER_S: u128 = 1_000_000_000_000;

/// A file of samples.
enum SampleFile {
    Csv(BufWriter<File>),
    Ppk2(Box<Ppk2>),
}

impl SampleFile {
    /// The format is the one of the path's ending.
    fn new(path: &Path, file: File, rate_hz: u64) -> io::Result<SampleFile> {
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ppk2")) {
            return Ok(SampleFile::Ppk2(Box::new(Ppk2::new(file, rate_hz)?)));
        }
        let mut out = BufWriter::new(file);
        writeln!(out, "Timestamp(ms),Current(uA)")?;
        Ok(SampleFile::Csv(out))
    }

    fn write(&mut self, begin_ps: u64, mean_ua: f64) -> io::Result<()> {
        match self {
            SampleFile::Csv(out) => writeln!(out, "{},{mean_ua:.3}", begin_ps as f64 / 1e9),
            SampleFile::Ppk2(recording) => recording.write(mean_ua),
        }
    }

    fn finish(self) -> io::Result<()> {
        match self {
            SampleFile::Csv(mut out) => out.flush(),
            SampleFile::Ppk2(recording) => recording.finish(),
        }
    }
}

/// Samples that are being written. Times are in picoseconds and never go back.
pub(super) struct CurrentSamples {
    out: SampleFile,
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
    /// Begins to write into the file of a path.
    pub fn new(path: &Path, file: File, rate_hz: u64, current_ua: f64) -> io::Result<CurrentSamples> {
        let out = SampleFile::new(path, file, rate_hz)?;
        Ok(CurrentSamples { out, rate_hz, number: 0, counted_ps: 0, charge: 0.0, current_ua, error: None })
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
        self.error = self.error.take().or(self.out.write(begin_ps, mean_ua).err());
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
        self.error.map_or_else(|| self.out.finish(), Err)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Seek, SeekFrom};

    #[test]
    fn samples_have_the_mean_of_their_interval() {
        let mut file = tempfile::tempfile().expect("a file");
        let path = Path::new("current.csv");
        let same = file.try_clone().expect("the same");
        let mut samples = CurrentSamples::new(path, same, 1_000, 10_000.0).expect("written");
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
