//! `wattseal calibrate`: its arguments, and what it prints.

use clap::Args;
use lab::calibration_point::PointRequest;
use lab::workspace::Workspace;
use lab::{LabError, units};
use output::Answer;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CalibrateArgs {
    /// Recording of the board's current while its program runs from flash: a CSV file with times
    /// and currents in its first two columns, units in the headings, such as
    /// Timestamp(ms),Current(uA) of Nordic's Power Profiler
    #[arg(value_name = "RECORDING.csv")]
    recording: PathBuf,
    /// The target that was measured
    #[arg(long, value_name = "TARGET")]
    target: String,
    /// Its clock meanwhile, such as 16MHz
    #[arg(long, value_name = "HZ", value_parser = units::frequency)]
    clock: u64,
    /// Supply at the part, such as 3.3V
    #[arg(long, value_name = "V", value_parser = units::volts)]
    supply: f64,
    /// Samples before this time do not count, such as 10ms
    #[arg(long, value_name = "TIME", value_parser = units::time_ns, default_value = "0s")]
    from: u64,
    /// Nor do those from this time on [default: the recording's end]
    #[arg(long, value_name = "TIME", value_parser = units::time_ns)]
    until: Option<u64>,
    /// The calibration file: a new one, or one that gets a further point
    #[arg(long, value_name = "FILE.toml")]
    out: PathBuf,
    /// Author and method of the measurement: for a new file
    #[arg(long, value_name = "TEXT")]
    source: Option<String>,
}

/// Adds the recording's point, and says what it is.
pub(crate) fn command(workspace: &Workspace, args: CalibrateArgs) -> Result<Answer, LabError> {
    let target = workspace.target(&args.target)?.name().to_owned();
    let request = PointRequest {
        recording: args.recording,
        target,
        clock_hz: args.clock,
        supply_v: args.supply,
        from_ns: args.from,
        until_ns: args.until,
        file: args.out,
        source: args.source,
    };
    let point = request.add(workspace)?;
    Ok(Answer { data: point.describe() + "\n", remark: String::new(), success: true })
}
