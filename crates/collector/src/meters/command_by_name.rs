//! A command by its name, as the API and the processes of a cluster have it in JSON.
//!
//! A command of the user's is written as `wire::meter::Command`. One without arguments of the
//! user's is its name only: `set-time` has the time of its sending, and the collector gives
//! `look-at-time` and `update-firmware` itself.

use crate::store::RecordedCommand;
use serde::de::value::EnumAccessDeserializer;
use serde::de::{DeserializeSeed, EnumAccess, Error, IntoDeserializer, VariantAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use wire::meter::{Command, QueuedCommand};

/// The commands that a user gives.
const GIVEN: [&str; 7] =
    ["configure", "calibrate", "register", SET_TIME, "read-status", "reboot", "renew-key"];

const SET_TIME: &str = "set-time";

/// Returns true for a command that a user may give. The collector gives the others itself.
pub(crate) fn is_given(command: &QueuedCommand) -> bool {
    let is_own = matches!(
        command,
        QueuedCommand::ReadClock
            | QueuedCommand::Command(Command::SetTime { .. } | Command::UpdateFirmware { .. })
    );
    !is_own
}

pub(crate) fn serialize<S: Serializer>(command: &QueuedCommand, serializer: S) -> Result<S::Ok, S::Error> {
    match command {
        QueuedCommand::TimeNow | QueuedCommand::Command(Command::SetTime { .. }) => {
            serializer.serialize_str(SET_TIME)
        }
        QueuedCommand::ReadClock => serializer.serialize_str("look-at-time"),
        QueuedCommand::Command(Command::UpdateFirmware { .. }) => serializer.serialize_str("update-firmware"),
        QueuedCommand::Command(command) => command.serialize(serializer),
    }
}

/// Writes a stored command; one of a later version is its name only.
pub(crate) fn serialize_recorded<S: Serializer>(
    command: &RecordedCommand,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match command {
        RecordedCommand::Known(command) => serialize(command, serializer),
        RecordedCommand::Later(name) => serializer.serialize_str(name),
    }
}

/// Returns a command as JSON.
pub(crate) fn to_json(command: &QueuedCommand) -> String {
    let mut json = Vec::new();
    // Names and numbers can be written.
    let _ = serialize(command, &mut serde_json::Serializer::new(&mut json));
    String::from_utf8(json).unwrap_or_default()
}

/// Reads a command that a user gives.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<QueuedCommand, D::Error> {
    deserializer.deserialize_enum("CommandRequest", &GIVEN, GivenCommand)
}

struct GivenCommand;

impl<'de> Visitor<'de> for GivenCommand {
    type Value = QueuedCommand;

    fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("enum CommandRequest")
    }

    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<QueuedCommand, A::Error> {
        let (name, arguments) = data.variant::<String>()?;
        if name == SET_TIME {
            arguments.unit_variant()?;
            return Ok(QueuedCommand::TimeNow);
        }
        if !GIVEN.contains(&name.as_str()) {
            return Err(A::Error::unknown_variant(&name, &GIVEN));
        }
        let command = EnumAccessDeserializer::new(NamedArguments { name, arguments });
        Command::deserialize(command).map(QueuedCommand::Command)
    }
}

/// The arguments of a command whose name was read.
struct NamedArguments<A> {
    name: String,
    arguments: A,
}

impl<'de, A: VariantAccess<'de>> EnumAccess<'de> for NamedArguments<A> {
    type Error = A::Error;
    type Variant = A;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, A), A::Error> {
        Ok((seed.deserialize(self.name.into_deserializer())?, self.arguments))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::meter::Suite;

    fn read(text: &str) -> Result<QueuedCommand, String> {
        let mut json = serde_json::Deserializer::from_str(text);
        deserialize(&mut json).map_err(|error| error.to_string())
    }

    #[test]
    fn given_command_reads_as_it_is_written() {
        let commands = [
            (r#"{"configure":{"interval_s":10,"suite":"aes128-gcm"}}"#, GIVEN[0]),
            (r#"{"calibrate":{"voltage_uv":1,"current_ua":2,"phase":-3}}"#, GIVEN[1]),
            (r#"{"register":{"meter":7,"address":8,"collector_address":9}}"#, GIVEN[2]),
            (r#""set-time""#, GIVEN[3]),
            (r#"{"read-status":{"page":1}}"#, GIVEN[4]),
            (r#""reboot""#, GIVEN[5]),
            (r#""renew-key""#, GIVEN[6]),
        ];
        for (text, name) in commands {
            assert!(text.contains(name), "{text}");
            let command = read(text).expect(text);
            assert_eq!(to_json(&command), text);
        }
        let configure = Command::Configure { interval_s: 10, suite: Suite::Aes128Gcm };
        assert_eq!(read(commands[0].0), Ok(configure.into()));
        assert_eq!(read(r#"{"set-time":null}"#), Ok(QueuedCommand::TimeNow));
    }

    #[test]
    fn commands_of_the_collector_are_written_only() {
        let update = Command::UpdateFirmware { bytes: 1, version: 2, header: 3 };
        for (command, name) in [
            (QueuedCommand::ReadClock, "look-at-time"),
            (update.into(), "update-firmware"),
            (Command::SetTime { time_s: 1 }.into(), SET_TIME),
        ] {
            assert_eq!(to_json(&command), format!("{name:?}"));
        }
        for text in [
            r#""look-at-time""#,
            r#"{"update-firmware":{"bytes":1,"version":2,"header":3}}"#,
            r#"{"set-time":{"time_s":1}}"#,
            r#"{"configure":{"interval_s":10,"suite":"aes128-gcm","more":1}}"#,
            r#"{"configure":{"interval_s":10}}"#,
            r#""configure""#,
            r#"{"reboot":null,"renew-key":null}"#,
            "7",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        let unknown = read(r#""explode""#).expect_err("there is none");
        let names = GIVEN.map(|name| format!("`{name}`")).join(", ");
        assert!(
            unknown.starts_with(&format!("unknown variant `explode`, expected one of {names}")),
            "{unknown}"
        );
    }
}
