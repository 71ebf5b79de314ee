//! Commands as a user gives them. They go between the processes of a cluster, too.

use serde::{Deserialize, Serialize};
use wire::meter::{Command, MeterId, Suite};

/// A command to a meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum CommandRequest {
    /// The interval of measurements, and the suite.
    Configure {
        /// Seconds between measurements, at least 1.
        interval_s: u16,
        /// For all messages from then on.
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
    /// The time that it is when the command is sent.
    SetTime,
    /// A page of its state.
    ReadStatus {
        /// 0 or 1.
        page: u8,
    },
    /// Begin anew.
    Reboot,
    /// Renew the key of the suite `aes256-gcm-rekeyed`.
    RenewKey,
}

impl CommandRequest {
    /// Returns the command for the meter; `None`: the time of its sending.
    pub(crate) fn command(self) -> Option<Command> {
        Some(match self {
            CommandRequest::Configure { interval_s, suite } => Command::Configure { interval_s, suite },
            CommandRequest::Calibrate { voltage_uv, current_ua, phase } => {
                Command::Calibrate { voltage_uv, current_ua, phase }
            }
            CommandRequest::Register { meter, address, collector_address } => {
                Command::Register { meter, address, collector_address }
            }
            CommandRequest::SetTime => return None,
            CommandRequest::ReadStatus { page } => Command::ReadStatus { page },
            CommandRequest::Reboot => Command::Reboot,
            CommandRequest::RenewKey => Command::RenewKey,
        })
    }
}
