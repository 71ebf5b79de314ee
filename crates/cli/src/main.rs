//! The `wattseal` command: arguments in, tables or JSON out.

mod plan;
#[cfg(feature = "simulator")]
mod simulate;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use lab::accuracy::Accuracy;
use lab::repetition::Repetition;
use lab::report::stream::RowWriter;
use lab::selection::Choice;
use lab::target::Workspace;
use lab::{LabError, bench, ct, measure, report};
use mcu::StubUse;
use output::commands::{hand_over, with_all_listed};
use output::{Answer, Bar, Failure, Format, Written};
#[cfg(feature = "simulator")]
use papers::reproduce;
use signal_hook::consts::SIGINT;
use signal_hook::flag;
use std::ffi::OsString;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Says to the cycle, the byte and the microjoule what cryptography costs on a microcontroller.
///
/// Exit codes: 0 success, 1 failure, 2 wrong usage. Data goes to standard output, all else to standard error.
#[derive(Parser)]
#[command(
    name = "wattseal",
    version,
    max_term_width = 110,
    after_help = "In a clone of the project, ./wattseal test runs all its tests.\n\n\
                  Example: wattseal bench --target atmega328p --op 'aes128-*'"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What each operation costs on each target: cycles, time, energy, flash, RAM, stack; every output verified
    #[command(
        after_help = "Without a choice of targets, operations and variants it measures the README's tables (bench.toml).\n\n\
                      Example: wattseal bench --target 'atmega*' --op 'aes128-*' --variant fast"
    )]
    Bench(BenchArgs),
    /// Run any ELF file on a target's model: cycles and stack of its functions, or of a region
    #[command(
        after_help = "Example: wattseal measure firmware.elf --target stm32f407 --function sha256_update --calls 10\n\n\
                      On a board with a crystal of 25 MHz: wattseal measure firmware.elf --target stm32f407 --crystal 25M"
    )]
    Measure(MeasureArgs),
    /// Whether operations take the same time and the same way whatever their secrets are
    #[command(after_help = "Example: wattseal ct --target atmega328p --op 'aes128-*' --variant fast")]
    Ct(CtArgs),
    #[cfg(feature = "simulator")]
    /// A paper's tables: each published figure beside the one measured here, and what does not add up
    #[command(after_help = "Example: wattseal reproduce fujdiak2015")]
    Reproduce(ReproduceArgs),
    /// The right clock, supply, microcontroller and scheme for a requirement, and battery, capacitor and panel for it
    #[command(
        after_help = "Example: wattseal plan --target msp430f5438a --scheme ecdsa-secp160r1 --energy 2mJ --supply 2.0"
    )]
    Plan(Box<plan::PlanArgs>),
    #[cfg(feature = "simulator")]
    /// In virtual time: a harvested node with sun, storage and server, or a network of meters with radio channel,
    /// attacker, losses of power and collector
    #[command(after_help = "The scenario says which it is.\n\n\
                      Examples: wattseal simulate scenarios/harvest-solar.toml --seed 1 --plot day.svg\n          \
                      wattseal simulate scenarios/network.toml --seed 1")]
    Simulate(simulate::SimulateArgs),
}

#[derive(Args)]
struct OperatingPoint {
    /// Core clock in Hz [default: the target's]
    #[arg(long, value_name = "HZ", value_parser = hertz)]
    clock: Option<u64>,
    /// Supply in volts [default: the target's]
    #[arg(long, value_name = "V")]
    supply: Option<f64>,
    /// Measurements of one's own that correct the target's current, such as calibrations/mane2014.toml
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

/// What is to be said of the figures and of the run, a line each.
fn lines<const N: usize>(remarks: [String; N]) -> String {
    remarks.into_iter().filter(|remark| !remark.is_empty()).collect::<Vec<_>>().join("\n")
}

/// Hertz as a plain number, or with an exponent or a suffix: 16000000, 16e6, 16M.
fn hertz(text: &str) -> Result<u64, String> {
    let (digits, scale) = match text.char_indices().next_back() {
        Some((at, 'k')) => (&text[..at], 1e3),
        Some((at, 'M')) => (&text[..at], 1e6),
        _ => (text, 1.0),
    };
    let hertz = digits.parse::<f64>().map_err(|_| "write hertz as 16000000, 16e6 or 16M".to_owned())? * scale;
    if !(1.0..=1e12).contains(&hertz) {
        return Err("a clock must be at least 1 Hz".into());
    }
    Ok(hertz.round() as u64)
}

#[derive(Args)]
struct BenchArgs {
    /// Every operation on every target in every variant
    #[arg(long)]
    all: bool,
    /// Target, or a pattern such as 'stm32*'; may be repeated [default: all, once anything is chosen]
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Operation, or a pattern such as 'aes128-*'; may be repeated [default: all, once anything is chosen]
    #[arg(long, value_name = "GLOB")]
    op: Vec<String>,
    /// How it is built: O0, portable, small or fast, some targets have others; may be repeated [default: all, once
    /// anything is chosen]
    #[arg(long, value_name = "VARIANT")]
    variant: Vec<String>,
    /// Message length [default: the operation's]
    #[arg(long, value_name = "N")]
    bytes: Option<u16>,
    /// Random inputs for each row [default: 3 where the cycles do not vary; else from 10 to 100, until the standard error is
    /// at most 1 % of the mean]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    #[command(flatten)]
    point: OperatingPoint,
    /// Cycles after which an operation counts as endless
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    max_cycles: u64,
    /// Where the random inputs begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Start each run right after start-up, with cold caches [default: after a run that does not count]
    #[arg(long)]
    cold: bool,
    /// Measure anew what was measured before [default: rows whose firmware, target, request and program are those of an
    /// earlier measurement are taken from there]
    #[arg(long)]
    fresh: bool,
    /// How the rows are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Args)]
struct MeasureArgs {
    /// The ELF file
    #[arg(value_name = "FIRMWARE.elf")]
    elf: PathBuf,
    /// The target it is built for
    #[arg(long, value_name = "TARGET")]
    target: String,
    /// Report each call of this function; may be repeated [default: the sums of all functions]
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Stop when execution first comes to this symbol
    #[arg(long, value_name = "SYMBOL")]
    until: Option<String>,
    /// Stop when the functions asked for have returned this often in all
    #[arg(long, value_name = "N")]
    calls: Option<u64>,
    /// Report each time this output pin is high, such as PORTB.5 or GPIOD.12
    #[arg(long, value_name = "PORT.BIT")]
    pin: Option<String>,
    /// Report the time from one write to this symbol or address to the next
    #[arg(long, value_name = "SYMBOL|ADDRESS")]
    marker: Option<String>,
    /// Give up after this many cycles
    #[arg(long, value_name = "N", default_value_t = 1_000_000_000)]
    max_cycles: u64,
    /// Show on standard error, line by line, what the program writes to its UARTs, the trace port (ITM) and semihosting
    #[arg(long)]
    console: bool,
    /// Write a flame graph of the cycles
    #[arg(long, value_name = "OUT.svg")]
    flamegraph: Option<PathBuf>,
    /// Go on, as the part does, where the program does what is a mistake, but of which it is known what the part makes of it (a
    /// word at an odd address on the MSP430, a write to a protected register on the R8C, to CLKPR out of time on the AVR); each
    /// kind is counted and reported at the end [default: stop]
    #[arg(long)]
    lenient: bool,
    /// Give this peripheral, by its name in the target's file, or these addresses, such as 0x50050000-0x500503ff, registers that
    /// remember what is written, so that a program goes on that only passes by; may be repeated. Each use is counted and reported
    /// at the end, and the figures are then estimates [default: what has no model stops the run]
    #[arg(long, value_name = "NAME")]
    stub: Vec<String>,
    /// The crystal's or external clock's frequency in Hz, from which the program makes its clock [default: the target's]
    #[arg(long, value_name = "HZ", value_parser = hertz)]
    crystal: Option<u64>,
    /// Run at this core clock in Hz, whatever the program sets [default: time and energy follow the clock that the program
    /// sets, from the first instruction on and wherever it changes]
    #[arg(long, value_name = "HZ", value_parser = hertz)]
    clock: Option<u64>,
    /// Supply in volts [default: the target's]
    #[arg(long, value_name = "V")]
    supply: Option<f64>,
    /// Measurements of one's own that correct the target's current, such as calibrations/mane2014.toml
    #[arg(long, value_name = "FILE.toml")]
    calibration: Option<PathBuf>,
    /// How the rows are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[derive(Args)]
struct CtArgs {
    /// Target, or a pattern such as 'stm32*'; may be repeated [default: all]
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Operation, or a pattern such as 'aes128-*'; may be repeated [default: all]
    #[arg(long, value_name = "GLOB")]
    op: Vec<String>,
    /// How it is built: O0, portable, small or fast, some targets have others; may be repeated [default: all]
    #[arg(long, value_name = "VARIANT")]
    variant: Vec<String>,
    /// Random secrets for each row
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    runs: u32,
    /// Where the random secrets begin
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Check operations on public data, too, which may take their time from it
    #[arg(long)]
    public: bool,
    /// Compare which entries of AES's tables are read, too; they lie where each takes the same time
    #[arg(long)]
    strict: bool,
    /// Cycles after which one operation counts as endless
    #[arg(long, value_name = "N", default_value_t = 10_000_000_000)]
    max_cycles: u64,
    /// How the rows are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

#[cfg(feature = "simulator")]
#[derive(Args)]
struct ReproduceArgs {
    /// The paper, by first author and year, or all
    #[arg(value_name = "PAPER|all")]
    paper: String,
    /// Draw the tables that are figures into this folder, as SVG
    #[arg(long, value_name = "FOLDER")]
    plots: Option<PathBuf>,
    /// How the rows are written
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    if let Some(failure) = hand_over(&arguments) {
        return output::end(Err(failure));
    }
    #[cfg(not(feature = "simulator"))]
    if let Some(name) = arguments.first().filter(|name| *name == "simulate" || *name == "reproduce") {
        let name = name.to_string_lossy();
        let said = format!("{name} is not in this build; in a clone run ./wattseal {name}, which builds it");
        return output::end(Err(Failure::new(said, false)));
    }
    let matches = with_all_listed(Cli::command()).get_matches();
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    let answer = Workspace::find().and_then(|workspace| run(workspace, cli.command));
    output::end(answer.map_err(|error| Failure::new(&error, error.is_usage())))
}

fn run(workspace: Workspace, command: Command) -> Result<Answer, LabError> {
    match command {
        Command::Bench(args) => run_bench(workspace, args),
        Command::Ct(args) => run_ct(&workspace, args),
        Command::Measure(args) => run_measure(workspace, args),
        #[cfg(feature = "simulator")]
        Command::Reproduce(args) => run_reproduce(&workspace, &args),
        Command::Plan(args) => plan::run(workspace, *args),
        #[cfg(feature = "simulator")]
        Command::Simulate(args) => simulate::run(workspace, args),
    }
}

fn run_bench(workspace: Workspace, args: BenchArgs) -> Result<Answer, LabError> {
    let (workspace, calibrated) = args.point.workspace(workspace)?;
    let unchosen = !args.all && args.target.is_empty() && args.op.is_empty() && args.variant.is_empty();
    let request = bench::Request {
        choice: match unchosen {
            true => Choice::Tables,
            false => Choice::Matching { targets: args.target, operations: args.op, variants: args.variant },
        },
        bytes: args.bytes,
        runs: args.runs.map_or(Repetition::Enough, Repetition::Exactly),
        clock_hz: args.point.clock,
        supply_v: args.point.supply,
        max_cycles: args.max_cycles,
        seed: args.seed,
        cold: args.cold,
        earlier: if args.fresh { bench::Earlier::Replaced } else { bench::Earlier::Taken },
    };
    let plan = bench::plan(&workspace, &request)?;
    let mut writer = RowWriter::new(args.format, plan.names());
    let bar = Bar::new();
    let mut failed = None;
    let count = plan.run(&bar, |row| {
        let written = writer.row(&row).and_then(|text| Ok(bar.aside(|| output::write(&text))?));
        match written {
            Ok(Written::All) => ControlFlow::Continue(()),
            Ok(Written::Unread) => ControlFlow::Break(()),
            Err(error) => {
                failed = Some(error);
                ControlFlow::Break(())
            }
        }
    })?;
    if let Some(error) = failed {
        return Err(error);
    }
    let bench::Count { rows, earlier, wrong } = count;
    let earlier = match earlier {
        0 => String::new(),
        _ => format!(
            "wattseal: {earlier} of {rows} rows are of an earlier measurement of the same firmware; --fresh measures anew"
        ),
    };
    let remark = match wrong {
        0 => String::new(),
        _ => format!("wattseal: {wrong} of {rows} rows gave wrong outputs; their costs mean nothing"),
    };
    let remark = lines([calibrated, earlier, remark]);
    Ok(Answer { data: writer.end(), remark, success: wrong == 0 })
}

fn run_ct(workspace: &Workspace, args: CtArgs) -> Result<Answer, LabError> {
    let request = ct::Request {
        targets: args.target,
        operations: args.op,
        variants: args.variant,
        runs: args.runs,
        seed: args.seed,
        max_cycles: args.max_cycles,
        public: args.public,
        strict: args.strict,
    };
    let rows = ct::run(workspace, &request, &Bar::new())?;
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let (variable, wrong) = (count(ct::Verdict::Variable), count(ct::Verdict::Wrong));
    let mut remarks = Vec::new();
    if variable > 0 {
        remarks.push(format!("wattseal: {variable} of {} rows depend on their secrets", rows.len()));
    }
    if wrong > 0 {
        remarks.push(format!(
            "wattseal: {wrong} of {} rows gave wrong outputs and were not checked",
            rows.len()
        ));
    }
    let success = remarks.is_empty();
    Ok(Answer { data: report::ct(&rows, args.format)?, remark: remarks.join("\n"), success })
}

fn run_measure(workspace: Workspace, args: MeasureArgs) -> Result<Answer, LabError> {
    let (workspace, calibrated) = calibrated(workspace, args.calibration.as_deref())?;
    let request = measure::Request {
        elf: args.elf,
        target: args.target,
        functions: args.function,
        until: args.until,
        calls: args.calls,
        pin: args.pin,
        marker: args.marker,
        max_cycles: args.max_cycles,
        clock_hz: args.clock,
        crystal_hz: args.crystal,
        lenient: args.lenient,
        stubs: args.stub,
        supply_v: args.supply,
        flamegraph: args.flamegraph,
    };
    let mut stderr = std::io::stderr();
    let console = args.console.then_some(&mut stderr as &mut dyn Write);
    let outcome = measure::run(&workspace, &request, interruption()?.as_ref(), console)?;
    let remark = format!(
        "{}; {} cycles, {} instructions in all; {}",
        outcome.ending,
        outcome.cycles,
        outcome.instructions,
        outcome.clock_remark()
    );
    let tolerated: Vec<String> = outcome
        .rows
        .iter()
        .filter(|row| row.kind == "tolerated")
        .map(|row| format!("wattseal: passed over {} times: {}", row.calls, row.name))
        .collect();
    let stubs: Vec<String> = outcome
        .stubs
        .iter()
        .map(|used| {
            let StubUse { name, reads, writes } = used;
            format!("wattseal: {name} only remembered what was written: {reads} reads, {writes} writes")
        })
        .collect();
    let feet: Vec<String> =
        outcome.accuracies.iter().map(Accuracy::foot).filter(|foot| !foot.is_empty()).collect();
    let success = outcome.failure.is_none();
    let failure = outcome.failure.map_or_else(String::new, |failure| format!("wattseal: {failure}"));
    let remark =
        lines([calibrated, tolerated.join("\n"), stubs.join("\n"), feet.join("\n"), remark, failure]);
    Ok(Answer { data: report::measure(&outcome.rows, args.format)?, remark, success })
}

/// Becomes true at the first Ctrl-C; the second one ends the program at once.
fn interruption() -> Result<Arc<AtomicBool>, LabError> {
    let interrupted = Arc::new(AtomicBool::new(false));
    flag::register_conditional_shutdown(SIGINT, 1, interrupted.clone())
        .and_then(|_| flag::register(SIGINT, interrupted.clone()))
        .map_err(|error| LabError::Unfinished(format!("Ctrl-C cannot be caught: {error}")))?;
    Ok(interrupted)
}

#[cfg(feature = "simulator")]
fn run_reproduce(workspace: &Workspace, args: &ReproduceArgs) -> Result<Answer, LabError> {
    let folder = args.plots.as_deref().map(reproduce::ChartFolder::make).transpose()?;
    let outcomes = reproduce::run_named(workspace, &args.paper, &sim::link::LinkBenchmark, &Bar::new())?;
    let mut remarks: Vec<String> = outcomes.iter().flat_map(|outcome| &outcome.wrong).cloned().collect();
    let success = remarks.is_empty();
    if let Some(folder) = folder {
        remarks.push(folder.write(&outcomes)?);
    }
    Ok(Answer {
        data: papers::report::reproduce(&outcomes, args.format)?,
        remark: remarks.join("\n"),
        success,
    })
}
