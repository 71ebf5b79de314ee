//! Commands of each binary. `wattseal --help` lists all of them, and `wattseal` hands those that
//! are not its own to the binary beside it. Each binary is built only of the code that its commands
//! need.

use crate::Failure;
use clap::{Arg, ArgAction, Command, Parser};
use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};

/// A command that is not `wattseal`'s own.
pub struct Elsewhere {
    /// Word behind `wattseal`.
    pub name: &'static str,
    /// Earlier name, which still works.
    pub alias: Option<&'static str>,
    /// Summary, in a line.
    pub about: &'static str,
    /// The binary that has it.
    pub binary: &'static str,
    /// The package that has the binary.
    pub package: &'static str,
}

const COLLECTOR: &str = "wattseal-collector";
const TESTBED: &str = "wattseal-testbed";

/// `wattseal collect`.
pub const COLLECT: Elsewhere = Elsewhere {
    name: "collect",
    alias: None,
    about: "The collector: takes meters' reports from gateways, stores, acknowledges and shows them, until it is stopped",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal gateway`.
pub const GATEWAY: Elsewhere = Elsewhere {
    name: "gateway",
    alias: None,
    about: "The collector's role at the radio, without keys: packets into NATS JetStream, and what is to be sent out of it",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal worker`.
pub const WORKER: Elsewhere = Elsewhere {
    name: "worker",
    alias: None,
    about: "The collector's role behind the radio: takes its share of the meters from NATS JetStream, verifies, stores, acknowledges",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal api`.
pub const API: Elsewhere = Elsewhere {
    name: "api",
    alias: None,
    about: "The collector's role for people and programs: dashboard, API, events and MQTT of all workers' meters, without keys",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal nkey`.
pub const NKEY: Elsewhere = Elsewhere {
    name: "nkey",
    alias: None,
    about: "Make the key of a user of the NATS servers, and show its public key",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal load`.
pub const LOAD: Elsewhere = Elsewhere {
    name: "load",
    alias: None,
    about: "A collector of its own under load: readings acknowledged a second, latency, processor time, memory; every one compared",
    binary: "wattseal-load",
    package: TESTBED,
};
/// `wattseal meters`.
pub const METERS: Elsewhere = Elsewhere {
    name: "meters",
    alias: None,
    about: "The meters that a collector has keys of: list, provision, add, rotate, revoke",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal tokens`.
pub const TOKENS: Elsewhere = Elsewhere {
    name: "tokens",
    alias: None,
    about: "Who may use a collector's API: list, add, revoke",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal audit`.
pub const AUDIT: Elsewhere = Elsewhere {
    name: "audit",
    alias: None,
    about: "Who reported what: whether each signed message is its meter's, in order, and says what is stored",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal export`.
pub const EXPORT: Elsewhere = Elsewhere {
    name: "export",
    alias: None,
    about: "A collector's readings as CSV or Parquet",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal backup`.
pub const BACKUP: Elsewhere = Elsewhere {
    name: "backup",
    alias: None,
    about: "A copy of a collector's database and keys, made while its service goes on",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal migrate`.
pub const MIGRATE: Elsewhere = Elsewhere {
    name: "migrate",
    alias: Some("move"),
    about: "Move a collector's database from a file to PostgreSQL, or back, while its meters send",
    binary: COLLECTOR,
    package: COLLECTOR,
};
/// `wattseal demo`.
pub const DEMO: Elsewhere = Elsewhere {
    name: "demo",
    alias: None,
    about: "Six meters on their models, each sealing in another way, their radio channel, a collector and its dashboard: live",
    binary: "wattseal-demo",
    package: TESTBED,
};

/// All of them, as they are listed.
pub const ELSEWHERE: [&Elsewhere; 13] = [
    &COLLECT, &GATEWAY, &WORKER, &API, &NKEY, &LOAD, &METERS, &TOKENS, &AUDIT, &EXPORT, &BACKUP, &MIGRATE,
    &DEMO,
];

impl Elsewhere {
    /// Returns true if this is the command's name or its earlier one.
    fn is_called(&self, name: &OsString) -> bool {
        name == self.name || self.alias.is_some_and(|alias| name == alias)
    }

    /// Returns true if its binary has only this command, and takes the options right away.
    fn is_alone(&self) -> bool {
        ELSEWHERE.iter().filter(|other| other.binary == self.binary).count() == 1
    }

    /// The name that its binary is called by from `wattseal`, so that help and errors say what was
    /// typed.
    fn called(&self) -> String {
        if self.is_alone() { format!("wattseal {}", self.name) } else { "wattseal".into() }
    }
}

/// `wattseal`'s own commands and all others, for its help and for what it suggests.
#[must_use]
pub fn with_all_listed(wattseal: Command) -> Command {
    wattseal.subcommands(ELSEWHERE.map(|elsewhere| {
        let rest =
            Arg::new("rest").action(ArgAction::Append).trailing_var_arg(true).allow_hyphen_values(true);
        Command::new(elsewhere.name).about(elsewhere.about).disable_help_flag(true).arg(rest)
    }))
}

/// Becomes the binary that has the command of these arguments, which follow `wattseal`. Returns
/// `None` where the command is `wattseal`'s own, and the failure where that binary is not there.
#[must_use]
pub fn hand_over(arguments: &[OsString]) -> Option<Failure> {
    let named = |at: usize| {
        ELSEWHERE
            .into_iter()
            .find(|elsewhere| arguments.get(at).is_some_and(|name| elsewhere.is_called(name)))
    };
    let (elsewhere, rest) = match named(0) {
        Some(elsewhere) => (elsewhere, arguments[1..].to_vec()),
        None if arguments.first().is_some_and(|first| first == "help") => {
            (named(1)?, [&arguments[2..], &["--help".into()]].concat())
        }
        None => return None,
    };
    let Elsewhere { name, binary, package, .. } = elsewhere;
    let beside =
        std::env::current_exe().map_or_else(|_| PathBuf::from(binary), |path| path.with_file_name(binary));
    let mut command = std::process::Command::new(&beside);
    command.arg0(elsewhere.called());
    if !elsewhere.is_alone() {
        command.arg(name);
    }
    // Returns only where it fails.
    let error = command.args(rest).exec();
    Some(Failure::new(
        format!(
            "{name} is {binary}'s: {}: {error}; in a clone run ./wattseal {name}, which builds it, or: \
             cargo build --release --package {package} --bin {binary}",
            beside.display()
        ),
        false,
    ))
}

/// Reads the arguments of a binary that `wattseal` calls by `name`. Its examples are written with
/// that name, and shown with the one it was called by.
#[must_use]
pub fn parse<P: Parser>(name: &str) -> P {
    let first = std::env::args_os().next().unwrap_or_default();
    let called = Path::new(&first).file_name().map_or(name.into(), |called| called.to_string_lossy());
    let matches = with_name(P::command(), &format!("{name} "), &format!("{called} ")).get_matches();
    P::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

fn with_name(mut command: Command, name: &str, called: &str) -> Command {
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string().replace(name, called);
        command = command.after_help(examples);
    }
    command.mut_subcommands(|command| with_name(command, name, called))
}
