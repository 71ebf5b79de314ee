//! `--mqtt`: where to publish.

use crate::failure::CommandError;
use clap::Args;
use collector::publish::Broker;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct MqttArgs {
    /// Publish for Home Assistant and emonCMS; mqtts is with TLS
    #[arg(long, value_name = "mqtt[s]://[USER@]HOST[:PORT]")]
    mqtt: Option<Broker>,
    /// The broker's password is this file's first line
    #[arg(long, value_name = "FILE", requires = "mqtt")]
    mqtt_password_file: Option<PathBuf>,
    /// Trust the authorities of this PEM file for the broker's certificate [default: those that
    /// this system trusts]
    #[arg(long, value_name = "FILE", requires = "mqtt")]
    mqtt_ca: Option<PathBuf>,
    /// Send the broker's password to another machine without TLS, where others may read it on its
    /// way
    #[arg(long, requires = "mqtt_password_file")]
    mqtt_plain_password: bool,
}

impl MqttArgs {
    /// The broker, with whom it trusts and who it is to it.
    pub(crate) fn broker(self) -> Result<Option<Broker>, CommandError> {
        let Some(broker) = self.mqtt else { return Ok(None) };
        let broker = match &self.mqtt_ca {
            Some(file) => broker.with_ca_file(file),
            None => broker.with_system_authorities(),
        };
        let with_password = |broker: Broker| match &self.mqtt_password_file {
            Some(file) => broker.with_password_file(file, self.mqtt_plain_password),
            None => Ok(broker),
        };
        broker.and_then(with_password).map(Some).map_err(CommandError::Usage)
    }
}
