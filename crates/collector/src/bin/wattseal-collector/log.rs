//! The log's content and format, and the receiver of traces.

use crate::failure::CommandError;
use clap::{Args, ValueEnum};
use collector::traces::{Endpoint, Otlp, Share, Traces};
use std::io::IsTerminal;

#[derive(Args)]
pub(crate) struct LogArgs {
    /// Format of the log
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    /// Least level that is logged: error, warn, info, debug or trace
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: tracing::Level,
}

#[derive(Args)]
pub(crate) struct TracesArgs {
    /// Send traces of packets by OTLP (HTTP with protobuf) to this collector of traces; one that is
    /// away costs spans alone
    #[arg(long, value_name = "http[s]://HOST:PORT")]
    otlp: Option<Endpoint>,
    /// The share of packets that are traced: the same for gateways and workers
    #[arg(long, value_name = "SHARE", default_value = "1", requires = "otlp")]
    otlp_sample: Share,
    /// Trust the authorities of this PEM file for the certificate of who takes traces [default:
    /// those that this system trusts]
    #[arg(long, value_name = "FILE", requires = "otlp")]
    otlp_ca: Option<std::path::PathBuf>,
}

impl TracesArgs {
    /// Traces packets for as long as what is returned is there. instance: what tells this process
    /// from others of its role.
    pub(crate) fn begin(self, role: &'static str, instance: String) -> Result<Option<Traces>, CommandError> {
        let Some(endpoint) = self.otlp else { return Ok(None) };
        let otlp = Otlp { endpoint, ca: self.otlp_ca, share: self.otlp_sample, role, instance };
        Traces::begin(otlp).map(Some).map_err(CommandError::Usage)
    }
}

#[derive(Clone, Copy, ValueEnum)]
enum Log {
    /// A line for a person
    Text,
    /// An object a line
    Json,
}

impl LogArgs {
    /// Logs to standard error from now on.
    pub(crate) fn start(&self) {
        let log = tracing_subscriber::fmt()
            .with_max_level(self.log_level)
            .with_writer(std::io::stderr)
            .with_target(false);
        match self.log {
            Log::Text => log.with_ansi(std::io::stderr().is_terminal()).init(),
            Log::Json => log.json().flatten_event(true).init(),
        }
    }
}
