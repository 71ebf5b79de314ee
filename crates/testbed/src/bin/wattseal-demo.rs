//! The `wattseal-demo` command: meters on their models, their radio channel, a collector and its
//! dashboard, live.

use clap::Parser;
use lab::LabError;
use lab::workspace::Workspace;
use output::commands::DEMO;
use output::stop::{Stop, seconds};
use output::{Answer, Failure, Format, OutputError};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;
use testbed::demo::live::{self, DemoError, Request};
use testbed::demo::report::report;
use testbed::demo::terminal::{Terminal, state, stdout_width};

#[derive(Parser)]
#[command(
    name = DEMO.binary,
    about = DEMO.about,
    version,
    max_term_width = 110,
    after_help = "The dashboard's address is printed; the costs of a reading come at the end.\n\n\
                  Examples: wattseal demo --for 60 --format json\n          \
                  ./wattseal demo --cluster --help (in a clone: several of each part, which are killed)"
)]
struct DemoArgs {
    /// End after so long [default: with Ctrl-C]
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    lasts: Option<Duration>,
    /// Address of the dashboard [default: 127.0.0.1:8080, or where that is taken, a free port]
    #[arg(long, value_name = "ADDR")]
    listen: Option<SocketAddr>,
    /// Seed of the random numbers: noise, losses, loads; keys are drawn anew each time
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Keep database and keys in this folder [default: they are removed at the end]
    #[arg(long, value_name = "DIR")]
    keep: Option<PathBuf>,
    /// Format of the costs at the end
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Debug, thiserror::Error)]
enum CommandError {
    #[error("the system gives no signals: {0}")]
    Signals(std::io::Error),
    #[error(transparent)]
    Lab(#[from] LabError),
    #[error(transparent)]
    Demo(#[from] DemoError),
    #[error(transparent)]
    Output(#[from] OutputError),
}

impl CommandError {
    /// Returns true if the request is impossible: exit code 2, else 1.
    fn is_usage(&self) -> bool {
        match self {
            CommandError::Signals(_) => false,
            CommandError::Lab(error) => error.is_usage(),
            CommandError::Demo(error) => error.is_usage(),
            // Rows that cannot be written as they were asked for.
            CommandError::Output(_) => true,
        }
    }
}

fn main() -> ExitCode {
    let outcome = run(output::commands::parse("wattseal demo"));
    output::end(outcome.map_err(|error| Failure::new(&error, error.is_usage())))
}

fn run(args: DemoArgs) -> Result<Answer, CommandError> {
    let workspace = Workspace::find()?;
    let stop = Stop::on_signals().map_err(CommandError::Signals)?;
    let request = Request { lasts: args.lasts, listen: args.listen, seed: args.seed, keep: args.keep };
    let mut terminal = Terminal::new();
    let ended = live::run(&workspace, &request, &stop, &mut terminal);
    terminal.clear();
    let Some(status) = ended? else {
        return Ok(Answer {
            data: String::new(),
            remark: "wattseal: ended before it began".into(),
            success: true,
        });
    };
    let mut remark = state(&status);
    if let Some(kept) = request.keep {
        remark += &format!("\nDatabase and keys are in {}", kept.display());
    }
    Ok(Answer { data: report(&status.rows, args.format, stdout_width())?, remark, success: true })
}
