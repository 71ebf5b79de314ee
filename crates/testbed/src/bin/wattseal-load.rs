//! The `wattseal-load` command: a collector of its own under load, or killed under it.

use clap::Parser;
use output::commands::{COLLECT, LOAD};
use output::{Answer, Failure, Format};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};
use testbed::load::{self, Kills, LoadError, Options, Program, kills, run as run_load};
use wire::meter::Suite;

#[derive(Parser)]
#[command(
    name = LOAD.binary,
    about = LOAD.about,
    version,
    max_term_width = 110,
    after_help = "Goals on two cores: 20,000 readings a second with aes128-gcm, 4,000 with ecies-ecdsa, below 200 MB.\n\n\
                  Examples: wattseal load --suite aes128-gcm --seconds 20\n          \
                  wattseal load --kills 200"
)]
struct LoadArgs {
    /// Suite of the reports: none, aes128-gcm, aes256-gcm, ecies, ecies-ecdsa or ascon-aead128; may
    /// be repeated [default: aes128-gcm, ecies-ecdsa]
    #[arg(long, value_name = "SUITE", value_parser = suite)]
    suite: Vec<Suite>,
    /// Send telegrams of other makers' meters (wireless M-Bus, OMS's profile D) in place of reports
    #[arg(long, conflicts_with_all = ["suite", "kills"])]
    telegrams: bool,
    /// Meters, each with one report under way [default: as suits the suite]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    meters: Option<u16>,
    /// For how long
    #[arg(long, value_name = "S", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=3600))]
    seconds: u64,
    /// New reports a second [default: as many as are acknowledged: each meter sends its next one
    /// then]
    #[arg(long, value_name = "N", conflicts_with = "kills")]
    rate: Option<NonZeroU32>,
    /// Kill the collector under load this many times (SIGKILL), and compare its database with what
    /// was acknowledged each time
    #[arg(long, value_name = "N", conflicts_with = "seconds", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    kills: Option<u32>,
    /// Seed of the times of the kills [default: a new one, which is shown]
    #[arg(long, value_name = "N", requires = "kills")]
    seed: Option<u64>,
    /// Folder for the collector's files, where they stay [default: a temporary folder]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Format of the rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

fn suite(name: &str) -> Result<Suite, String> {
    // The collector that it is for takes no other.
    Suite::named(name).filter(|suite| Suite::WITH_FIXED_KEYS.contains(suite)).ok_or_else(|| {
        "it has to be none, aes128-gcm, aes256-gcm, ecies, ecies-ecdsa or ascon-aead128".into()
    })
}

/// The collector's binary, which is built into the same folder.
fn program(telegrams: bool) -> Result<Program, LoadError> {
    let path = std::env::current_exe()
        .map_err(|error| LoadError::Io { what: "where this program is".into(), error })?
        .with_file_name(COLLECT.binary);
    let arguments =
        "collect --db {folder}/load.db --keys {folder}/keys --listen 127.0.0.1:0 --log-level warn";
    let hears = [if telegrams { "--telegrams" } else { "--udp" }, "{udp}"];
    Ok(Program { path, arguments: arguments.split(' ').chain(hears).map(str::to_owned).collect() })
}

fn main() -> ExitCode {
    let outcome = run(output::commands::parse("wattseal load"));
    output::end(outcome.map_err(|error| Failure::new(&error, error.is_usage())))
}

fn run(args: LoadArgs) -> Result<Answer, LoadError> {
    let program = program(args.telegrams)?;
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
        let data = load::kills_table(&outcome, args.format);
        return Ok(Answer { data, remark: String::new(), success: true });
    }
    if args.telegrams {
        let (meters, seconds) = (args.meters.unwrap_or(0), args.seconds);
        let suite = Suite::None;
        let options = Options { suite, meters, seconds, rate: args.rate, program, folder: args.folder };
        let outcome = load::run_telegrams(&options, &say)?;
        let data = load::table(&[outcome], args.format);
        return Ok(Answer { data, remark: String::new(), success: true });
    }
    if suites.is_empty() {
        suites = vec![Suite::Aes128Gcm, Suite::EciesEcdsa];
    }
    if args.folder.is_some() && suites.len() > 1 {
        return Err(LoadError::Usage(
            "--folder takes the files of one collector: give one --suite with it".into(),
        ));
    }
    let mut outcomes = Vec::new();
    for suite in suites {
        let options = Options {
            suite,
            meters: args.meters.unwrap_or(0),
            seconds: args.seconds,
            rate: args.rate,
            program: program.clone(),
            folder: args.folder.clone(),
        };
        say(&format!("{suite}:"));
        outcomes.push(run_load(&options, &say)?);
    }
    Ok(Answer { data: load::table(&outcomes, args.format), remark: String::new(), success: true })
}
