//! The commands that wait for a meter, and the one under way, as they are stored.

use crate::meter::{Address, Command, Suite};
use serde::de::IgnoredAny;
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::VecDeque;

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

/// Something stored, which a later version may have written.
#[derive(Deserialize)]
#[serde(untagged)]
enum Stored<T> {
    Known(T),
    Later(IgnoredAny),
}

impl<T> Stored<T> {
    fn known(self) -> Option<T> {
        match self {
            Stored::Known(known) => Some(known),
            Stored::Later(_) => None,
        }
    }
}

/// Reads the commands that wait, without those of a later version.
pub(super) fn read_waiting<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<VecDeque<Waiting>, D::Error> {
    let stored = Vec::<Stored<Waiting>>::deserialize(deserializer)?;
    Ok(stored.into_iter().filter_map(Stored::known).collect())
}

/// Reads the command under way; one of a later version is none.
pub(super) fn read_under_way<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<UnderWay>, D::Error> {
    Ok(Option::<Stored<UnderWay>>::deserialize(deserializer)?.and_then(Stored::known))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::MeterState;
    use serde_json::{Value, json};

    /// A newer collector wrote the state, and this one goes on with it.
    #[test]
    fn state_with_commands_of_a_later_version_is_read_without_them() {
        let configure = json!({ "command": { "configure": { "interval_s": 10, "suite": "aes128-gcm" } } });
        let with_field =
            json!({ "command": { "configure": { "interval_s": 10, "suite": "aes128-gcm", "jitter_s": 1 } } });
        let with_suite = json!({ "command": { "configure": { "interval_s": 10, "suite": "aes512-gcm" } } });
        let state = |under_way: Value| {
            json!({
                "meter": 7, "revision": 3, "last_n": 9, "next_m": 5, "next_ticket": 8, "suites": ["aes128-gcm"],
                "settled_n": null, "places": [], "time_set_n": 0,
                "waiting": [
                    { "ticket": 4, "order": with_field },
                    { "ticket": 5, "order": configure },
                    { "ticket": 6, "order": { "command": "explode" } },
                    { "ticket": 7, "order": with_suite },
                ],
                "under_way": under_way,
            })
        };
        let read =
            |under_way: Value| serde_json::from_value::<MeterState>(state(under_way)).expect("a state");
        let under_way = |order: &Value| json!({ "ticket": 3, "order": order, "m": 4, "brought": false });
        for later in [&with_field, &with_suite] {
            let state = read(under_way(later));
            assert_eq!(state.waiting.iter().map(|waiting| waiting.ticket).collect::<Vec<_>>(), [5]);
            assert_eq!((state.under_way, state.next_m()), (None, 5));
        }
        assert_eq!(read(under_way(&configure)).under_way.expect("known").ticket, 3);
        assert_eq!(read(Value::Null).under_way, None);
    }

    #[test]
    fn renamed_command_keeps_its_stored_name() {
        let text = serde_json::to_string(&QueuedCommand::ReadClock).expect("JSON");
        assert_eq!(text, r#""look-at-time""#);
    }
}
