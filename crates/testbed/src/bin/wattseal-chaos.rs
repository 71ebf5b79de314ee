//! The `wattseal-chaos` command, which `./wattseal demo --cluster` is: a whole cluster on this
//! machine, whose parts are killed.

use clap::Parser;
use output::stop::{Stop, seconds};
use output::{Answer, Failure, Format, OutputError};
use std::process::ExitCode;
use std::time::Duration;
use testbed::chaos::ClusterError;
use testbed::chaos::firmware::{FirmwareCounts, MOST};
use testbed::chaos::report::report;
use testbed::chaos::run::{ClusterRequest, collector_program, run as run_cluster};
use testbed::chaos::terminal::ClusterTerminal;

#[derive(Parser)]
#[command(
    name = "wattseal-chaos",
    about = "Gateways, workers, an API, three NATS servers and PostgreSQL with a standby on this machine, meters that keep what they sent and heard, and meters on processor models",
    version,
    max_term_width = 110,
    after_help = "The dashboard's address and a token are printed; what meters noticed comes at the end, and whether every reading that was \
                  acknowledged is stored once and as it was sent (exit code 1 where not).\n\n\
                  Example: wattseal demo --cluster --chaos --for 120 --seed 1"
)]
struct ClusterArgs {
    /// This demonstration, and not that of one collector
    #[arg(long = "cluster")]
    _cluster: bool,
    /// Kill or pause a part every few seconds
    #[arg(long)]
    chaos: bool,
    /// End after so long [default: with Ctrl-C]
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    lasts: Option<Duration>,
    /// End after this many kills, pauses and cuts
    #[arg(long, value_name = "N", requires = "chaos", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    kills: Option<u32>,
    /// Seed of the random numbers: kills, loads; keys are drawn anew each time
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Meters that keep what they sent and heard
    #[arg(long, value_name = "N", default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..=1000))]
    meters: u16,
    /// Meters beside them whose firmware runs on the models of their boards
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=MOST.into()))]
    emulated: u16,
    /// Meters beside them whose firmware is built for this machine
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(0..=MOST.into()))]
    host: u16,
    /// Format of the figures at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("the system gives no signals: {0}")]
    Signals(std::io::Error),
    #[error(transparent)]
    Cluster(#[from] ClusterError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl CommandError {
    /// Returns true if the request is impossible: exit code 2, else 1.
    fn is_usage(&self) -> bool {
        matches!(self, CommandError::Cluster(ClusterError::Firmware(error)) if error.is_usage())
    }
}

fn main() -> ExitCode {
    let outcome = run(output::commands::parse("wattseal demo"));
    output::end(outcome.map_err(|error| Failure::new(&error, error.is_usage())))
}

fn run(args: ClusterArgs) -> Result<Answer, CommandError> {
    let stop = Stop::on_signals().map_err(CommandError::Signals)?;
    let request = ClusterRequest {
        lasts: args.lasts,
        kills: args.kills.map(|kills| kills as usize),
        chaos: args.chaos,
        seed: args.seed,
        meters: args.meters,
        firmware: FirmwareCounts { emulated: args.emulated, host: args.host },
        collector: collector_program()?,
    };
    let mut terminal = ClusterTerminal::new();
    let ended = run_cluster(&request, &|| stop.is_wanted(), &mut terminal);
    terminal.clear();
    Ok(match ended? {
        Some(result) => {
            Answer { data: report(&result, args.format)?, remark: String::new(), success: result.is_good() }
        }
        None => {
            Answer { data: String::new(), remark: "wattseal: ended before it began".into(), success: true }
        }
    })
}
