//! Answers of a meter to commands.

use super::{Fields, ImageRefusal, Record, Suite};
use serde::{Deserialize, Serialize};

/// The number of [`CommandResult::ImageRefused`] before the reason's, and the last one with a
/// reason.
const IMAGE: u8 = 16;
const LAST_IMAGE: u8 = IMAGE + 31;

/// The result of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandResult {
    /// The meter did it.
    Done,
    /// The meter does not know the command.
    UnknownCommand,
    /// Its arguments are out of range.
    OutOfRange,
    /// Its number is not above the last one that the meter took: nothing was done.
    NumberTooLow,
    /// The image is not taken: nothing was done.
    ImageRefused(ImageRefusal),
    /// A result that this version does not know.
    Other(u8),
}

impl CommandResult {
    /// Returns its number in answers.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            CommandResult::Done => 0,
            CommandResult::UnknownCommand => 1,
            CommandResult::OutOfRange => 2,
            CommandResult::NumberTooLow => 3,
            CommandResult::ImageRefused(refusal) => IMAGE + refusal.code(),
            CommandResult::Other(code) => code,
        }
    }

    /// Returns the result of this number.
    #[must_use]
    pub fn from_code(code: u8) -> CommandResult {
        match code {
            0 => CommandResult::Done,
            1 => CommandResult::UnknownCommand,
            2 => CommandResult::OutOfRange,
            3 => CommandResult::NumberTooLow,
            code @ IMAGE..=LAST_IMAGE => CommandResult::ImageRefused(ImageRefusal::from_code(code - IMAGE)),
            code => CommandResult::Other(code),
        }
    }
}

/// A meter's answer. Every 16 bytes are one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answer {
    /// The number of the command.
    pub m: u32,
    /// The result of the command.
    pub outcome: CommandResult,
    /// The bytes that the command asked for, then zeros.
    pub body: [u8; 11],
}

impl Answer {
    /// Returns the plaintext.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 16] {
        Record::new().with(&self.m.to_be_bytes()).with(&[self.outcome.code()]).with(&self.body).bytes
    }

    /// Parses a plaintext.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 16]) -> Answer {
        let mut fields = Fields(bytes);
        Answer { m: fields.u32(), outcome: CommandResult::from_code(fields.u8()), body: fields.bytes() }
    }

    /// The meter's last m, where it says [`CommandResult::NumberTooLow`].
    #[must_use]
    pub fn last_m(&self) -> Option<u32> {
        (self.outcome == CommandResult::NumberTooLow).then(|| Fields(&self.body).u32())
    }

    /// Returns the status in an answer to [`super::Command::ReadStatus`] for that page; `None` for
    /// a command that was not done, and for a page that does not exist.
    #[must_use]
    pub fn status(&self, page: u8) -> Option<Status> {
        if self.outcome == CommandResult::Done { Status::from_bytes(page, &self.body) } else { None }
    }
}

/// A page of a meter's state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// Page 0.
    Settings {
        /// Seconds since 2000-01-01 00:00:00 UTC; while the meter's time is not set, since its
        /// start.
        time_s: u32,
        /// The suite that it seals in; `None` for what this version does not know.
        suite: Option<Suite>,
        /// Seconds between measurements.
        interval_s: u16,
        /// Reports in the journal that are not acknowledged.
        waiting: u8,
        /// Starts so far.
        starts: u16,
        /// Bytes of the stack's room that were never touched, in steps of 4.
        stack_untouched_quads: u8,
    },
    /// Page 1.
    Metering {
        /// Energy taken in, in 0.1 Wh; around at 2^32.
        energy_dwh: u32,
        /// Voltage, root mean square, in 0.1 V.
        voltage_dv: u16,
        /// Current, root mean square, in 0.01 A.
        current_ca: u16,
        /// Packets refused since the start.
        refused: u16,
        /// Measurements lost for want of room since the start; 255 is 255 or more.
        lost: u8,
    },
    /// Page 2, of a meter that a bootloader runs.
    Firmware {
        /// Of the image that runs.
        version: u32,
        /// The slot that takes the next image, 0 or 1.
        slot: u8,
        /// The image that runs is on trial.
        on_trial: bool,
        /// Another one is whole, and on trial from the next start on.
        trial_next: bool,
        /// Bytes of an image that is being received.
        received: u32,
        /// Bytes of the whole image.
        bytes: u32,
    },
}

impl Status {
    /// The page's bytes in an answer.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 11] {
        let record = Record::new();
        match *self {
            Status::Settings { time_s, suite, interval_s, waiting, starts, stack_untouched_quads } => {
                let suite = suite.map_or(0xff, Suite::code);
                let record =
                    record.with(&time_s.to_be_bytes()).with(&[suite]).with(&interval_s.to_be_bytes());
                record.with(&[waiting]).with(&starts.to_be_bytes()).with(&[stack_untouched_quads])
            }
            Status::Metering { energy_dwh, voltage_dv, current_ca, refused, lost } => {
                let record = record.with(&energy_dwh.to_be_bytes()).with(&voltage_dv.to_be_bytes());
                record.with(&current_ca.to_be_bytes()).with(&refused.to_be_bytes()).with(&[lost])
            }
            Status::Firmware { version, slot, on_trial, trial_next, received, bytes } => {
                let flags = slot & 1 | u8::from(on_trial) << 1 | u8::from(trial_next) << 2;
                let record = record.with(&version.to_be_bytes()).with(&[flags]);
                record.with(&received.to_be_bytes()[1..]).with(&bytes.to_be_bytes()[1..])
            }
        }
        .bytes
    }

    /// Parses an answer's bytes; `None` for a page that there is not.
    #[must_use]
    pub fn from_bytes(page: u8, bytes: &[u8; 11]) -> Option<Status> {
        let mut fields = Fields(bytes);
        match page {
            0 => Some(Status::Settings {
                time_s: fields.u32(),
                suite: Suite::from_code(fields.u8()),
                interval_s: fields.u16(),
                waiting: fields.u8(),
                starts: fields.u16(),
                stack_untouched_quads: fields.u8(),
            }),
            1 => Some(Status::Metering {
                energy_dwh: fields.u32(),
                voltage_dv: fields.u16(),
                current_ca: fields.u16(),
                refused: fields.u16(),
                lost: fields.u8(),
            }),
            2 => {
                let (version, flags) = (fields.u32(), fields.u8());
                let mut three = || u32::from(fields.u8()) << 16 | u32::from(fields.u16());
                Some(Status::Firmware {
                    version,
                    slot: flags & 1,
                    on_trial: flags & 2 != 0,
                    trial_next: flags & 4 != 0,
                    received: three(),
                    bytes: three(),
                })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_pages_byte_by_byte() {
        let settings = Status::Settings {
            time_s: 0x0102_0304,
            suite: Some(Suite::EciesEcdsa),
            interval_s: 0x0506,
            waiting: 7,
            starts: 0x0809,
            stack_untouched_quads: 10,
        };
        let body = *b"\x01\x02\x03\x04\x04\x05\x06\x07\x08\x09\x0a";
        assert_eq!((settings.to_bytes(), Status::from_bytes(0, &body)), (body, Some(settings)));
        let metering = Status::Metering {
            energy_dwh: 0x0102_0304,
            voltage_dv: 0x0506,
            current_ca: 0x0708,
            refused: 0x090a,
            lost: 11,
        };
        let body = *b"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b";
        assert_eq!((metering.to_bytes(), Status::from_bytes(1, &body)), (body, Some(metering)));
        let answer = Answer { m: 0x0a0b_0c0d, outcome: CommandResult::Done, body };
        assert_eq!(answer.to_bytes()[..6], [0xa, 0xb, 0xc, 0xd, 0, 1]);
        assert_eq!((answer.status(1), answer.status(3)), (Some(metering), None));
        let firmware = Status::Firmware {
            version: 0x0102_0304,
            slot: 1,
            on_trial: false,
            trial_next: true,
            received: 0x0006_0708,
            bytes: 0x0009_0a0b,
        };
        let body = *b"\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b";
        assert_eq!((firmware.to_bytes(), Status::from_bytes(2, &body)), (body, Some(firmware)));
        for code in 0..=255 {
            assert_eq!(CommandResult::from_code(code).code(), code);
        }
        assert_eq!(Answer { outcome: CommandResult::OutOfRange, ..answer }.status(1), None);
        assert_eq!(Answer::from_bytes(&answer.to_bytes()), answer);
    }
}
