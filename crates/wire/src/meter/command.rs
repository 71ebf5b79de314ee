//! Commands to a meter.

use super::{Fields, MeterId, Record, Suite};
use serde::{Deserialize, Serialize};

/// A command to a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Command {
    /// The interval of measurements, and the suite.
    Configure {
        /// Seconds between measurements, at least 1.
        interval_s: u16,
        /// For all messages from now on.
        suite: Suite,
    },
    /// The units of the converter's steps.
    Calibrate {
        /// Voltage of a step, in microvolts: 1 to 4,000,000.
        voltage_uv: u32,
        /// Current of a step, in microamperes: 1 to 4,000,000, and with the voltage's a product of
        /// at least 110,000,000.
        current_ua: u32,
        /// By how much later the voltage is to be taken, in 1/256 of a sampling interval: -256 to
        /// 256.
        phase: i16,
    },
    /// Its name and the radio addresses.
    Register {
        /// The name; not 0.
        meter: MeterId,
        /// Radio address of the meter; not 0.
        address: u8,
        /// Radio address of the collector; not 0.
        collector_address: u8,
    },
    /// The time at the end of the command's last piece.
    SetTime {
        /// Seconds since 2000-01-01 00:00:00 UTC, without leap seconds.
        time_s: u32,
    },
    /// [`super::Status`].
    ReadStatus {
        /// 0 to 2; 2 is of meters that a bootloader runs alone.
        page: u8,
    },
    /// Begin anew.
    Reboot,
    /// Begin a renewal of the key of [`Suite::Aes256GcmRekeyed`].
    RenewKey,
    /// Begin to take an image of its firmware: [`super::Collector::update`] gives it.
    UpdateFirmware {
        /// Of the image, with its signature; below 2^24.
        bytes: u32,
        /// The image's.
        version: u32,
        /// CRC-32 of its header.
        header: u32,
    },
}

/// Bytes that are no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// A code that there is not.
    #[error("command {0}, which there is not; they are 1 to 8")]
    Code(u8),
    /// Arguments that the command does not take.
    #[error("a command's arguments are out of range")]
    Arguments,
}

impl Command {
    /// The plaintext, with the command's number.
    #[must_use]
    pub fn to_bytes(&self, m: u32) -> [u8; 16] {
        let record = Record::new().with(&m.to_be_bytes());
        match *self {
            Command::Configure { interval_s, suite } => {
                record.with(&[1]).with(&interval_s.to_be_bytes()).with(&[suite.code()])
            }
            Command::Calibrate { voltage_uv, current_ua, phase } => {
                let record = record.with(&[2]).with(&voltage_uv.to_be_bytes());
                record.with(&current_ua.to_be_bytes()).with(&phase.to_be_bytes())
            }
            Command::Register { meter, address, collector_address } => {
                record.with(&[3]).with(&meter.to_be_bytes()).with(&[address, collector_address])
            }
            Command::SetTime { time_s } => record.with(&[4]).with(&time_s.to_be_bytes()),
            Command::ReadStatus { page } => record.with(&[5, page]),
            Command::Reboot => record.with(&[6]),
            Command::RenewKey => record.with(&[7]),
            Command::UpdateFirmware { bytes, version, header } => {
                let record = record.with(&[8]).with(&bytes.to_be_bytes()[1..]);
                record.with(&version.to_be_bytes()).with(&header.to_be_bytes())
            }
        }
        .bytes
    }

    /// Number and command of a plaintext.
    ///
    /// # Errors
    /// [`CommandError`] for bytes that no command gives.
    pub fn from_bytes(bytes: &[u8; 16]) -> Result<(u32, Command), CommandError> {
        let mut fields = Fields(bytes);
        let (m, code) = (fields.u32(), fields.u8());
        let command = match code {
            1 => Command::Configure {
                interval_s: fields.u16(),
                suite: Suite::from_code(fields.u8()).ok_or(CommandError::Arguments)?,
            },
            2 => {
                Command::Calibrate { voltage_uv: fields.u32(), current_ua: fields.u32(), phase: fields.i16() }
            }
            3 => Command::Register {
                meter: fields.u16(),
                address: fields.u8(),
                collector_address: fields.u8(),
            },
            4 => Command::SetTime { time_s: fields.u32() },
            5 => Command::ReadStatus { page: fields.u8() },
            6 => Command::Reboot,
            7 => Command::RenewKey,
            8 => Command::UpdateFirmware {
                bytes: u32::from(fields.u8()) << 16 | u32::from(fields.u16()),
                version: fields.u32(),
                header: fields.u32(),
            },
            code => return Err(CommandError::Code(code)),
        };
        if !command.is_valid() || command.to_bytes(m) != *bytes {
            return Err(CommandError::Arguments);
        }
        Ok((m, command))
    }

    /// Says if each argument is in range. A meter may still refuse them: steps whose product is too
    /// small.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        match *self {
            Command::Configure { interval_s, .. } => interval_s > 0,
            Command::Calibrate { voltage_uv, current_ua, phase } => {
                let steps = 1..=4_000_000;
                steps.contains(&voltage_uv) && steps.contains(&current_ua) && (-256..=256).contains(&phase)
            }
            Command::Register { meter, address, collector_address } => {
                meter > 0 && address > 0 && collector_address > 0
            }
            Command::ReadStatus { page } => page <= 2,
            Command::UpdateFirmware { bytes, .. } => bytes < 1 << 24,
            Command::SetTime { .. } | Command::Reboot | Command::RenewKey => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_byte_by_byte() {
        let cases: [(Command, &[u8]); 8] = [
            (Command::Configure { interval_s: 0x0102, suite: Suite::Ecies }, b"\x01\x01\x02\x03"),
            (
                Command::Calibrate { voltage_uv: 0x0001_0203, current_ua: 0x0004_0506, phase: -1 },
                b"\x02\x00\x01\x02\x03\x00\x04\x05\x06\xff\xff",
            ),
            (Command::Register { meter: 0x0102, address: 3, collector_address: 4 }, b"\x03\x01\x02\x03\x04"),
            (Command::SetTime { time_s: 0x0102_0304 }, b"\x04\x01\x02\x03\x04"),
            (Command::ReadStatus { page: 1 }, b"\x05\x01"),
            (Command::Reboot, b"\x06"),
            (Command::RenewKey, b"\x07"),
            (
                Command::UpdateFirmware { bytes: 0x0001_0203, version: 0x0405_0607, header: 0x0809_0a0b },
                b"\x08\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b",
            ),
        ];
        for (command, bytes) in cases {
            let mut expected = [0; 16];
            expected[..4].copy_from_slice(&[0xa, 0xb, 0xc, 0xd]);
            expected[4..4 + bytes.len()].copy_from_slice(bytes);
            assert_eq!(command.to_bytes(0x0a0b_0c0d), expected);
            assert_eq!(Command::from_bytes(&expected), Ok((0x0a0b_0c0d, command)));
            // Behind the arguments there are zeros.
            if bytes.len() < 12 {
                expected[15] = 1;
                assert_eq!(Command::from_bytes(&expected), Err(CommandError::Arguments));
            }
        }
        assert_eq!(Command::from_bytes(&[9; 16]), Err(CommandError::Code(9)));
        assert_eq!(
            Command::from_bytes(&Command::ReadStatus { page: 3 }.to_bytes(1)),
            Err(CommandError::Arguments)
        );
    }
}
