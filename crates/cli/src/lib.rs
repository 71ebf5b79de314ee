//! The `wattseal` command: arguments in, tables or JSON out.

mod bench;
mod calibrate;
mod call;
mod check;
mod compare;
mod constant_time;
mod fault;
mod firmware;
mod list;
mod measure;
mod page;
mod plan;
#[cfg(feature = "simulator")]
mod reproduce;
mod run;
mod serial_port;
mod shell;
#[cfg(feature = "simulator")]
mod simulate;
mod traces;
mod update;
mod verify_board;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use lab::progress::Progress;
use lab::workspace::Workspace;
use lab::{LabError, units};
use output::commands::{hand_over, with_all_listed};
use output::{Bar, Failure, Written};
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::ffi::OsString;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Says to the cycle, the byte and the microjoule what cryptography costs on a microcontroller.
///
/// Exit codes: 0 success, 1 failure, 2 wrong usage. Data goes to standard output, all else to
/// standard error.
#[derive(Parser)]
#[command(
    name = "wattseal",
    version = env!("WATTSEAL_VERSION"),
    max_term_width = 110,
    after_help = "In a clone of the project, ./wattseal test runs its tests, ./wattseal test-python the Python package's, \
                  ./wattseal book builds its documents.\n\n\
                  Example: wattseal bench --target atmega328p --op 'aes128-*'"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    #[command(flatten)]
    Project(Box<ProjectCommand>),
    /// Firmware images for a bootloader: make keys, sign, verify, send
    #[command(
        subcommand,
        after_help = "docs/how-to/firmware-update.md says what the bootloader does.\n\n\
                      Example: wattseal firmware keygen maker.key"
    )]
    Firmware(update::FirmwareCommand),
    #[command(flatten)]
    Shell(shell::ShellCommand),
}

/// Summary of `reproduce`, also where it is not in this build.
const REPRODUCE: &str =
    "A paper's tables: each published figure beside the one measured here, and what does not add up";
/// The same of `simulate`.
const SIMULATE: &str = "In virtual time: a harvested node with sun, storage and server, or a network of meters with radio channel, \
                        attacker, losses of power and collector";

/// Commands that need the project's targets and firmware.
#[derive(Subcommand)]
enum ProjectCommand {
    /// Measure the cost of each operation on each target: cycles, time, energy, flash, RAM, stack;
    /// every output verified
    #[command(
        after_help = "Without a choice of targets, operations and variants it measures the tables of docs/reference/costs.md (bench.toml).\n\n\
                      Example: wattseal bench --target 'atmega*' --op 'aes128-*' --variant fast\n\n\
                      Parts by their energy, and as a picture: wattseal bench --op sha256 --variant fast --by energy --plot sha256.svg\n\n\
                      As a page of HTML: wattseal bench --op sha256 --variant fast --report sha256.html\n\n\
                      Two parts side by side: wattseal bench --op 'aes128-*' --compare atmega328p stm32f407\n\n\
                      Two variants: wattseal bench --target atmega328p --op 'aes128-*' --compare small fast"
    )]
    Bench(Box<bench::BenchArgs>),
    /// Run any firmware, or a C function without a board, on a target's model: cycles and stack of
    /// its functions, or of a region
    #[command(
        after_help = "Example: wattseal measure firmware.elf --target stm32f407 --function sha256_update --calls 10\n\n\
                      A C function without a board, on several parts (docs/how-to/own-function.md): \
                      wattseal measure fir.c --call 'fir(i16[64], 64)' --target 'stm32*' --target uno\n\n\
                      What a change costs: wattseal measure old.elf --target stm32f407 --save old.json\n                     \
                      wattseal measure new.elf --target stm32f407 --against old.json --fail-over 1%\n\n\
                      On a board with a crystal of 25 MHz: wattseal measure firmware.elf --target stm32f407 --crystal 25MHz\n\n\
                      Where a function's time goes, line by line: wattseal measure firmware.elf --target stm32f407 --listing sha256_update\n\n\
                      As a page of HTML: wattseal measure firmware.elf --target stm32f407 --report firmware.html\n\n\
                      For GTKWave and Perfetto: wattseal measure firmware.elf --target stm32f407 --vcd pins.vcd --trace calls.json"
    )]
    Measure(Box<measure::MeasureArgs>),
    /// Builds a project, measures its firmware and compares it with its limits, as its
    /// wattseal.toml says
    #[command(
        after_help = "docs/how-to/ci.md says what stands in wattseal.toml. Exit code 1 where a limit is passed, with which.\n\n\
                      Example: wattseal check\n\n\
                      The figures of now as what later ones may not exceed: wattseal check --save"
    )]
    Check(check::CheckArgs),
    /// Run any ELF file as on a board: what it sends comes out, its exit code is the command's
    #[command(
        after_help = "What leaves by UARTs, ITM, RTT and semihosting goes to standard output as it comes. Exit codes: the program's own \
                      (semihosting's, or the argument of _exit), 0 where it ends without one, 1 where it fails or does not end, 2 wrong \
                      usage.\n\n\
                      Example: wattseal run tests.elf --target stm32f407 --time 10s\n\n\
                      With input: echo hello | wattseal run echo.elf --target atmega328p --input -\n\n\
                      With gdb: wattseal run firmware.elf --target atmega328p --gdb, then in another terminal what it says\n\n\
                      Coverage of the program's lines: wattseal run tests.elf --target stm32f407 --lcov tests.info"
    )]
    Run(Box<run::RunArgs>),
    /// Cycles that a board counted itself, beside the model's of the same program, row by row
    #[command(after_help = verify_board::EXAMPLES)]
    VerifyBoard(Box<verify_board::VerifyBoardArgs>),
    /// Check that neither time nor path of operations, or of a function of any ELF file, depends on
    /// their secrets
    #[command(after_help = constant_time::EXAMPLES)]
    Ct(Box<constant_time::CtArgs>),
    /// Inject faults into any ELF file at each instruction of a window, and count those that pass
    /// its checks
    #[command(after_help = fault::EXAMPLES)]
    Fault(Box<fault::FaultArgs>),
    /// Names that other commands take: targets, operations, variants, schemes, papers, boards
    #[command(after_help = "Example: wattseal list targets\n\n\
                            For a program: wattseal list ops --format json")]
    List(list::ListArgs),
    #[cfg(feature = "simulator")]
    #[command(about = REPRODUCE, after_help = "Example: wattseal reproduce fujdiak2015\n\n\
                      As a page: wattseal reproduce fujdiak2015 --report fujdiak2015.html\n\n\
                      All papers as a site: wattseal reproduce all --report target/papers\n\n\
                      For a paper of one's own: wattseal reproduce fujdiak2015 --format latex > tables.tex")]
    Reproduce(reproduce::ReproduceArgs),
    /// The right clock, supply, microcontroller and scheme for a requirement, and battery,
    /// capacitor and panel for it
    #[command(
        after_help = "Example: wattseal plan --target msp430f5438a --scheme ecdsa-secp160r1 --energy 2mJ --supply 2.0"
    )]
    Plan(Box<plan::PlanArgs>),
    /// A point of a calibration file out of a recording of a board's current
    #[command(
        after_help = "The file corrects a target's current in all commands that take --calibration. Points at several clocks give a \
                      gain and an offset.\n\n\
                      Example: wattseal calibrate busy.csv --target stm32f407 --clock 168MHz --supply 3.3V --from 100ms \
                      --out my-board.toml --source 'Ada, PPK2, 2026-11-29'\n\n\
                      A second point: wattseal calibrate slow.csv --target stm32f407 --clock 16MHz --supply 3.3V --out my-board.toml"
    )]
    Calibrate(calibrate::CalibrateArgs),
    #[cfg(feature = "simulator")]
    #[command(about = SIMULATE, after_help = "The scenario says which it is.\n\n\
                      Examples: wattseal simulate scenarios/harvest-solar.toml --seed 1 --plot day.svg\n          \
                      wattseal simulate scenarios/network.toml --seed 1")]
    Simulate(simulate::SimulateArgs),
}

impl ProjectCommand {
    /// Returns the folder for built firmware and measurements, if the command has any and one was
    /// asked for.
    fn cache(&self) -> Option<PathBuf> {
        match self {
            ProjectCommand::Bench(args) => args.cache.cache.clone(),
            ProjectCommand::Ct(args) => args.cache.cache.clone(),
            ProjectCommand::Plan(args) => args.cache.cache.clone(),
            #[cfg(feature = "simulator")]
            ProjectCommand::Reproduce(args) => args.cache.cache.clone(),
            #[cfg(feature = "simulator")]
            ProjectCommand::Simulate(args) => args.cache.cache.clone(),
            ProjectCommand::Measure(_)
            | ProjectCommand::Check(_)
            | ProjectCommand::Run(_)
            | ProjectCommand::Fault(_)
            | ProjectCommand::Calibrate(_)
            | ProjectCommand::VerifyBoard(_)
            | ProjectCommand::List(_) => None,
        }
    }
}

#[derive(Args)]
struct CacheArgs {
    /// Keep what is built and measured in this folder [default: target/ of a clone that can be
    /// written, else wattseal/ in XDG_CACHE_HOME or in ~/.cache]
    #[arg(long, value_name = "FOLDER")]
    cache: Option<PathBuf>,
}

#[derive(Args)]
struct OperatingPoint {
    /// Core clock, such as 16MHz [default: the target's]
    #[arg(long, value_name = "HZ", value_parser = units::frequency)]
    clock: Option<u64>,
    /// Supply, such as 3.3V [default: the target's]
    #[arg(long, value_name = "V", value_parser = units::volts)]
    supply: Option<f64>,
    /// Measurements of one's own that correct the target's current, such as
    /// calibrations/mane2014.toml
    #[arg(long, value_name = "FILE.toml")]
    calibration: Option<PathBuf>,
}

impl OperatingPoint {
    /// The workspace with its target calibrated, where that is asked for, and what to say of it.
    fn workspace(&self, workspace: Workspace) -> Result<(Workspace, String), LabError> {
        calibrated(workspace, self.calibration.as_deref())
    }
}

/// The workspace with a target calibrated by a file, where there is one, and what to say of it.
fn calibrated(workspace: Workspace, path: Option<&Path>) -> Result<(Workspace, String), LabError> {
    let Some(path) = path else { return Ok((workspace, String::new())) };
    let workspace = workspace.calibrated(path)?;
    let remark = workspace.calibration().map_or(String::new(), |calibration| calibration.remark());
    Ok((workspace, remark))
}

/// Returns the remarks on the figures and on the run, a line each.
fn lines(remarks: impl IntoIterator<Item = String>) -> String {
    remarks.into_iter().filter(|remark| !remark.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Does what a command line says, of which the first argument is what the command is called by, and
/// returns its exit code. Ends the process where the line is wrong, or asks for help.
#[must_use]
pub fn run(line: Vec<OsString>) -> ExitCode {
    let arguments = line.get(1..).unwrap_or_default();
    if let Some(failure) = hand_over(arguments) {
        return output::end(Err(failure));
    }
    #[cfg(not(feature = "simulator"))]
    if let Some(name) = arguments.first().filter(|name| *name == "simulate" || *name == "reproduce") {
        let name = name.to_string_lossy();
        let said = format!("{name} is not in this build; in a clone run ./wattseal {name}, which builds it");
        return output::end(Err(Failure::new(said, false)));
    }
    let line = without_unknown_help(line);
    // What is below zero is a value that its option refuses, and no option itself.
    let own = all_commands().mut_subcommands(|command| command.allow_negative_numbers(true));
    let matches = with_all_listed(own).get_matches_from(line);
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let ended = match cli.command {
        Command::Project(command) => {
            project().and_then(|workspace| perform(workspace.cached_in(command.cache()), *command))
        }
        Command::Firmware(command) => return output::end(update::perform(command, project)),
        Command::Shell(command) => {
            shell::perform(command, with_all_listed(all_commands())).map(|answer| output::end(Ok(answer)))
        }
    };
    ended.unwrap_or_else(|error| output::end(Err(Failure::new(&error, error.is_usage()))))
}

/// The commands of this program, and those of a build with more features.
fn all_commands() -> clap::Command {
    let own = Cli::command();
    #[cfg(not(feature = "simulator"))]
    let own = own.subcommands(
        [("reproduce", REPRODUCE), ("simulate", SIMULATE)]
            .map(|(name, about)| clap::Command::new(name).about(about)),
    );
    own
}

/// The line without `help` before a name that is no command: the error of the name alone has the
/// nearest one.
fn without_unknown_help(mut line: Vec<OsString>) -> Vec<OsString> {
    let is_known = |name: &OsString| {
        let commands = with_all_listed(Cli::command());
        name == "help" || commands.get_subcommands().any(|known| name == known.get_name())
    };
    if line.get(1).is_some_and(|first| first == "help") && line.get(2).is_some_and(|name| !is_known(name)) {
        line.remove(1);
    }
    line
}

/// The project around here, or the one in this program.
///
/// # Errors
/// [`Workspace::find_or`]'s.
#[cfg(feature = "embedded")]
pub fn project() -> Result<Workspace, LabError> {
    Workspace::find_or(lab::Embedded(embedded::FILES))
}

/// The project around here.
///
/// # Errors
/// [`Workspace::find`]'s.
#[cfg(not(feature = "embedded"))]
pub fn project() -> Result<Workspace, LabError> {
    Workspace::find()
}

/// Does what was asked for, and returns the exit code.
fn perform(workspace: Workspace, command: ProjectCommand) -> Result<ExitCode, LabError> {
    let answer = match command {
        ProjectCommand::Check(args) => check::command(&workspace, args),
        ProjectCommand::Run(args) => return run::command(&workspace, *args),
        ProjectCommand::VerifyBoard(args) => verify_board::command(&workspace, *args),
        ProjectCommand::Bench(args) => bench::command(workspace, *args),
        ProjectCommand::Ct(args) => constant_time::run(&workspace, *args),
        ProjectCommand::Fault(args) => fault::command(&workspace, *args),
        ProjectCommand::Measure(args) => measure::command(workspace, *args),
        #[cfg(feature = "simulator")]
        ProjectCommand::Reproduce(args) => reproduce::run(&workspace, &args),
        ProjectCommand::List(args) => list::command(&workspace, &args),
        ProjectCommand::Plan(args) => plan::run(workspace, *args),
        ProjectCommand::Calibrate(args) => calibrate::command(&workspace, args),
        #[cfg(feature = "simulator")]
        ProjectCommand::Simulate(args) => simulate::run(workspace, args),
    };
    answer.map(|answer| output::end(Ok(answer)))
}

/// The progress of what ends at Ctrl-C, once the pieces under way are done.
struct Interruptible<'a> {
    bar: &'a Bar,
    interrupted: &'a AtomicBool,
}

impl Progress for Interruptible<'_> {
    fn report(&self, done: usize, total: usize, what: &str) {
        Progress::report(self.bar, done, total, what);
    }

    fn is_cancelled(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Writes a row's text beside the progress, and tells whether another one is wanted; where it is
/// not because this one could not be written, `failed` says why.
fn write_row(text: Result<String, LabError>, bar: &Bar, failed: &mut Option<LabError>) -> ControlFlow<()> {
    match text.and_then(|text| Ok(bar.aside(|| output::write(&text))?)) {
        Ok(Written::All) => ControlFlow::Continue(()),
        Ok(Written::Unread) => ControlFlow::Break(()),
        Err(error) => {
            *failed = Some(error);
            ControlFlow::Break(())
        }
    }
}

/// Becomes true at the first Ctrl-C; the second one ends the program at once.
fn interruption() -> Result<Arc<AtomicBool>, LabError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    flag::register_conditional_shutdown(SIGINT, 1, interrupted.clone())
        .and_then(|_| flag::register(SIGINT, interrupted.clone()))
        .map_err(|error| LabError::Unfinished(format!("Ctrl-C cannot be caught: {error}")))?;
    Ok(interrupted)
}
