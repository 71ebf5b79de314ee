//! What is logged, and how.

use clap::{Args, ValueEnum};
use std::io::IsTerminal;

#[derive(Args)]
pub(crate) struct LogArgs {
    /// How the log is written
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    /// What is logged: error, warn, info, debug or trace, and all before it
    #[arg(long, value_name = "LEVEL", default_value = "info")]
    log_level: tracing::Level,
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
