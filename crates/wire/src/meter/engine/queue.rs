//! The commands that wait for a meter, and the one under way, as they are stored.

use crate::meter::{Address, Command, Suite};
use serde::{Deserialize, Serialize};

/// A command before it has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueuedCommand {
    /// This.
    Command(Command),
    /// To set the time to what it is when the command is sent: each attempt is a new command.
    TimeNow,
    /// To say what time it has: the collector's own, as [`QueuedCommand::TimeNow`] may be.
    #[serde(rename = "look-at-time")]
    ReadClock,
}

impl From<Command> for QueuedCommand {
    fn from(command: Command) -> QueuedCommand {
        QueuedCommand::Command(command)
    }
}

impl QueuedCommand {
    /// The address that the meter is to get.
    pub(super) fn address(self) -> Option<Address> {
        match self {
            QueuedCommand::Command(Command::Register { meter, address, collector_address }) => {
                Some(Address { name: meter, radio: address, collector: collector_address })
            }
            _ => None,
        }
    }

    /// Says if the collector gives this command by itself, too.
    pub(super) fn is_about_time(self) -> bool {
        matches!(self, QueuedCommand::TimeNow | QueuedCommand::ReadClock)
    }

    /// Says if the command announces an image.
    pub(super) fn is_about_image(self) -> bool {
        matches!(self, QueuedCommand::Command(Command::UpdateFirmware { .. }))
    }

    /// The suite that the meter is to get.
    pub(super) fn suite(self) -> Option<Suite> {
        match self {
            QueuedCommand::Command(Command::Configure { suite, .. }) => Some(suite),
            _ => None,
        }
    }

    pub(super) fn command(self, now_ms: u64) -> Command {
        match self {
            QueuedCommand::Command(command) => command,
            QueuedCommand::TimeNow => Command::SetTime { time_s: (now_ms / 1000) as u32 },
            QueuedCommand::ReadClock => Command::ReadStatus { page: 0 },
        }
    }
}

/// The progress of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Others are before it.
    Waiting,
    /// It has a number.
    UnderWay {
        /// The number.
        m: u32,
        /// The number of times that it was sent.
        attempts: u32,
    },
}

/// A command that others are before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) ticket: u32,
    pub(super) order: QueuedCommand,
}

/// A command that has a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct UnderWay {
    pub(super) ticket: u32,
    pub(super) order: QueuedCommand,
    pub(super) m: u32,
    /// It brought a suite or an address that was not among those that the meter may have.
    pub(super) brought: bool,
}

impl UnderWay {
    /// Returns the command without the number it had.
    pub(super) fn again(self) -> Waiting {
        Waiting { ticket: self.ticket, order: self.order }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renamed_command_keeps_its_stored_name() {
        let text = serde_json::to_string(&QueuedCommand::ReadClock).expect("JSON");
        assert_eq!(text, r#""look-at-time""#);
    }
}
