//! `load`: a collector of its own under load, or killed under it.

use crate::failure::Failure;
use crate::{Answer, Format};
use clap::Args;
use load::{Kills, LoadError, Options, Program, kills, run as run_load};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};
use wire::meter::Suite;

#[derive(Args)]
pub(crate) struct LoadArgs {
    /// How reports are sealed: none, aes128-gcm, aes256-gcm, ecies or ecies-ecdsa; may be repeated [default: aes128-gcm, ecies-ecdsa]
    #[arg(long, value_name = "SUITE", value_parser = suite)]
    suite: Vec<Suite>,
    /// Meters, each with one report under way [default: as suits the suite]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    meters: Option<u16>,
    /// For how long
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// Kill the collector under load so often (SIGKILL), and compare its database with what was acknowledged each time
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    kills: Option<u32>,
    /// Where chance begins: when the kills come [default: a new one, which is shown]
    #[arg(long, value_name = "N", requires = "kills")]
    seed: Option<u64>,
    /// Where the collector's files go, and stay [default: a temporary folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// How the rows are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

fn suite(name: &str) -> Result<Suite, String> {
    Suite::named(name).ok_or_else(|| "it has to be none, aes128-gcm, aes256-gcm, ecies or ecies-ecdsa".into())
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        Failure { is_usage: error.is_usage(), message: error.to_string() }
    }
}

impl From<Format> for load::Format {
    fn from(format: Format) -> Self {
        match format {
            Format::Table => load::Format::Table,
            Format::Json => load::Format::Json,
            Format::Csv => load::Format::Csv,
        }
    }
}

/// This program as a collector.
fn program() -> Result<Program, Failure> {
    let path = std::env::current_exe().map_err(|error| Failure {
        is_usage: false,
        message: format!("this program does not find itself: {error}"),
    })?;
    let arguments = "collect --db {folder}/load.db --keys {folder}/keys --udp {udp} --listen 127.0.0.1:0 --log-level warn";
    Ok(Program { path, arguments: arguments.split(' ').map(str::to_owned).collect() })
}

pub(crate) fn run(args: LoadArgs) -> Result<Answer, Failure> {
    let program = program()?;
    let say = |what: &str| eprintln!("{what}");
    let mut suites = args.suite;
    if let Some(count) = args.kills {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(1, |now| now.as_secs());
        let request = Kills {
            suite: suites.first().copied().unwrap_or(Suite::Aes128Gcm),
            meters: args.meters.unwrap_or(200),
            count,
            seed: args.seed.unwrap_or(now),
            program,
            folder: args.folder,
        };
        let outcome = kills(&request, &say)?;
        let data = load::kills_table(&outcome, args.format.into());
        return Ok(Answer { data, remark: String::new(), success: true });
    }
    if suites.is_empty() {
        suites = vec![Suite::Aes128Gcm, Suite::EciesEcdsa];
    }
    if args.folder.is_some() && suites.len() > 1 {
        return Err(Failure::usage("--folder takes the files of one collector: give one --suite with it"));
    }
    let mut outcomes = Vec::new();
    for suite in suites {
        let options = Options {
            suite,
            meters: args.meters.unwrap_or(0),
            seconds: args.seconds,
            program: program.clone(),
            folder: args.folder.clone(),
        };
        say(&format!("{suite}:"));
        outcomes.push(run_load(&options, &say)?);
    }
    Ok(Answer { data: load::table(&outcomes, args.format.into()), remark: String::new(), success: true })
}
