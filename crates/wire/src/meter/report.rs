//! The contents of a report: a measurement, an alert, or bytes of a later firmware. Every 16 bytes
//! are a report, and every report gives its 16 bytes again. An authentic report is never lost
//! because this version does not know it.

use super::{Fields, Record};
use serde::{Deserialize, Serialize};

/// Added to a report's type while the meter's time is not set.
const TIME_NOT_SET: u8 = 0x80;

/// A report of a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Its number, higher than those of all reports and answers that the meter made before.
    pub n: u32,
    /// Says if the meter's time was set when the report was made. Before that, times are seconds
    /// since the start.
    pub time_set: bool,
    /// Measurements lost for want of room since the meter's start; 255 is 255 or more.
    pub lost: u8,
    /// The measurement or alert.
    pub content: Content,
}

/// The content of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Type 1.
    Measurement(Measurement),
    /// Type 2.
    Alert(Alert),
    /// Content that this version does not know: its type, below 128, and its bytes.
    Other(u8, [u8; 10]),
}

/// The state of the energy register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Measurement {
    /// Seconds since 2000-01-01 00:00:00 UTC, without leap seconds.
    pub time_s: u32,
    /// Energy taken in since the meter's start, in 0.1 Wh; around at 2^32.
    pub energy_dwh: u32,
    /// Mean real power since the last measurement, in W; less than 0 where energy was given out.
    pub power_w: i16,
}

/// Something that the owner has to know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Alert {
    /// Seconds since 2000-01-01 00:00:00 UTC, without leap seconds.
    pub time_s: u32,
    /// The reason of the alert.
    pub cause: Cause,
    /// Starts of the meter so far.
    pub starts: u16,
    /// The details of the cause; 0 without any.
    pub detail: [u8; 3],
}

/// Why a meter alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// Started: power came.
    PowerOn,
    /// Started: the reset pin.
    ExternalReset,
    /// Started: the supply fell too low.
    BrownOut,
    /// Started: the watchdog.
    Watchdog,
    /// Started: a command to reboot.
    Commanded,
    /// Started, and nothing says why.
    Unknown,
    /// The noise source did not pass its tests.
    NoiseSource,
    /// The journal was found damaged.
    Journal,
    /// A cause that this version does not know.
    Other(u8),
}

impl Cause {
    /// Says if it is the cause of a start.
    #[must_use]
    pub fn is_start(self) -> bool {
        (1..=6).contains(&self.code())
    }

    /// Returns its number in reports.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Cause::PowerOn => 1,
            Cause::ExternalReset => 2,
            Cause::BrownOut => 3,
            Cause::Watchdog => 4,
            Cause::Commanded => 5,
            Cause::Unknown => 6,
            Cause::NoiseSource => 16,
            Cause::Journal => 17,
            Cause::Other(code) => code,
        }
    }

    /// Returns the cause of this number.
    #[must_use]
    pub fn from_code(code: u8) -> Cause {
        match code {
            1 => Cause::PowerOn,
            2 => Cause::ExternalReset,
            3 => Cause::BrownOut,
            4 => Cause::Watchdog,
            5 => Cause::Commanded,
            6 => Cause::Unknown,
            16 => Cause::NoiseSource,
            17 => Cause::Journal,
            code => Cause::Other(code),
        }
    }
}

impl Report {
    /// Returns the plaintext.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 16] {
        let (code, content) = match self.content {
            Content::Measurement(Measurement { time_s, energy_dwh, power_w }) => {
                let record = Record::<10>::new().with(&time_s.to_be_bytes()).with(&energy_dwh.to_be_bytes());
                (1, record.with(&power_w.to_be_bytes()).bytes)
            }
            Content::Alert(Alert { time_s, cause, starts, detail }) => {
                let record = Record::<10>::new().with(&time_s.to_be_bytes()).with(&[cause.code()]);
                (2, record.with(&starts.to_be_bytes()).with(&detail).bytes)
            }
            Content::Other(code, bytes) => (code & !TIME_NOT_SET, bytes),
        };
        let code = if self.time_set { code } else { code | TIME_NOT_SET };
        Record::new().with(&self.n.to_be_bytes()).with(&[code, self.lost]).with(&content).bytes
    }

    /// Parses a plaintext.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 16]) -> Report {
        let mut fields = Fields(bytes);
        let (n, code, lost) = (fields.u32(), fields.u8(), fields.u8());
        let content = match code & !TIME_NOT_SET {
            1 => Content::Measurement(Measurement {
                time_s: fields.u32(),
                energy_dwh: fields.u32(),
                power_w: fields.i16(),
            }),
            2 => Content::Alert(Alert {
                time_s: fields.u32(),
                cause: Cause::from_code(fields.u8()),
                starts: fields.u16(),
                detail: fields.bytes(),
            }),
            code => Content::Other(code, fields.bytes()),
        };
        Report { n, time_set: code & TIME_NOT_SET == 0, lost, content }
    }

    /// The time that it carries, where this version knows where that is.
    #[must_use]
    pub fn time_s(&self) -> Option<u32> {
        match self.content {
            Content::Measurement(measurement) => Some(measurement.time_s),
            Content::Alert(alert) => Some(alert.time_s),
            Content::Other(..) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measurement_and_an_alert_byte_by_byte() {
        let measurement = Measurement { time_s: 0x0102_0304, energy_dwh: 0x0506_0708, power_w: -2 };
        let report =
            Report { n: 0x0a0b_0c0d, time_set: true, lost: 3, content: Content::Measurement(measurement) };
        assert_eq!(report.to_bytes(), *b"\x0a\x0b\x0c\x0d\x01\x03\x01\x02\x03\x04\x05\x06\x07\x08\xff\xfe");
        let alert = Alert { time_s: 1, cause: Cause::Watchdog, starts: 0x0203, detail: [7, 8, 9] };
        let report = Report { n: 5, time_set: false, lost: 0, content: Content::Alert(alert) };
        assert_eq!(report.to_bytes(), *b"\0\0\0\x05\x82\0\0\0\0\x01\x04\x02\x03\x07\x08\x09");
    }

    #[test]
    fn all_bytes_are_a_report_and_come_back() {
        for code in 0..=255 {
            for cause in 0..=255 {
                let bytes = [1, 2, 3, 4, code, 6, 7, 8, 9, 10, cause, 12, 13, 14, 15, 16];
                assert_eq!(Report::from_bytes(&bytes).to_bytes(), bytes);
            }
        }
    }
}
