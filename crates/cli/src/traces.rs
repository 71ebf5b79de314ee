//! The files that `measure` and `run` write of a run beside what they print.

use clap::Args;
use lab::traces::TraceFiles;
use lab::units;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct TraceArgs {
    /// Write pins, interrupts, sleep, core clock and current as a value change dump, for GTKWave or
    /// Surfer
    #[arg(long, value_name = "OUT.vcd")]
    vcd: Option<PathBuf>,
    /// Write calls, interrupts, sleep and current as a trace, for ui.perfetto.dev or
    /// chrome://tracing
    #[arg(long, value_name = "OUT.json")]
    trace: Option<PathBuf>,
    /// Write how often each source line was executed as a tracefile, for genhtml and other readers
    /// of lcov's
    #[arg(long, value_name = "OUT.info")]
    lcov: Option<PathBuf>,
    /// Write the current as samples, each the mean of its interval, as Nordic's Power Profiler
    /// exports them (OUT.csv: Timestamp(ms),Current(uA)) or saves them (OUT.ppk2)
    #[arg(long, value_name = "OUT.csv|ppk2")]
    current: Option<PathBuf>,
    /// Rate of these samples
    #[arg(long, value_name = "HZ", value_parser = units::frequency, default_value = "100kHz", requires = "current")]
    current_rate: u64,
}

impl From<&TraceArgs> for TraceFiles {
    fn from(args: &TraceArgs) -> TraceFiles {
        let TraceArgs { vcd, trace, lcov, current, current_rate } = args;
        let current = current.clone().map(|path| (path, *current_rate));
        TraceFiles { vcd: vcd.clone(), events: trace.clone(), lcov: lcov.clone(), current }
    }
}
