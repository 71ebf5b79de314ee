//! `wattseal measure`.

use crate::call::{self, CallArgs, Shared};
use crate::compare::CompareArgs;
use crate::firmware::MachineArgs;
use crate::traces::TraceArgs;
use crate::{calibrated, interruption, lines};
use clap::Args;
use lab::accuracy::Accuracy;
use lab::compare::MEASURE;
use lab::energy_accuracy::EnergyAccuracy;
use lab::measure::{self, MeasureResult, MeasureRow};
use lab::traces::{Listing, TraceFiles};
use lab::workspace::Workspace;
use lab::{LabError, report, units};
use output::{Answer, ReportFormat};
use std::io::Write;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct MeasureArgs {
    /// The ELF file, or several; or Intel HEX, S-records, UF2 or a raw binary; with --call the
    /// sources of a function, objects and libraries
    #[arg(value_name = "FIRMWARE.elf", required = true)]
    elf: Vec<PathBuf>,
    /// The target it is built for, a sister part of one such as stm32f103rb, or a target file of
    /// your own such as ./part.toml; with --call several, and patterns such as 'stm32*' [default
    /// with --call: all]
    #[arg(long, value_name = "TARGET", required_unless_present = "call")]
    target: Vec<String>,
    #[command(flatten)]
    call: CallArgs,
    #[command(flatten)]
    machine: MachineArgs,
    /// Report each call of this function; may be repeated [default: the sums of all functions]
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Stop when execution first comes to this symbol
    #[arg(long, value_name = "SYMBOL")]
    until: Option<String>,
    /// Stop when the functions asked for have returned this often in all
    #[arg(long, value_name = "N", value_parser = units::count)]
    calls: Option<u64>,
    /// Report each time this output pin is high, such as PORTB.5 or GPIOD.12
    #[arg(long, value_name = "PORT.BIT")]
    pin: Option<String>,
    /// Report the time from one write to this symbol or address to the next
    #[arg(long, value_name = "SYMBOL|ADDRESS")]
    marker: Option<String>,
    /// Give up after this many cycles
    #[arg(long, value_name = "N", default_value = "1e9", value_parser = units::count)]
    max_cycles: u64,
    /// Send this file to the program's UART, once it has switched on its receiver
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// The UART that the input goes to [default: the only one]
    #[arg(long, value_name = "UART")]
    uart: Option<String>,
    /// Show on standard error, line by line, what the program writes to its UARTs, the trace port
    /// (ITM), RTT and semihosting
    #[arg(long)]
    console: bool,
    /// Write a flame graph of the cycles
    #[arg(long, value_name = "OUT.svg")]
    flamegraph: Option<PathBuf>,
    #[command(flatten)]
    traces: TraceArgs,
    /// List this function's instructions beneath their source lines, with how often each was
    /// executed and in how many cycles, in place of the rows of calls
    #[arg(long, value_name = "NAME", conflicts_with = "against")]
    listing: Option<String>,
    /// Measurements of one's own that correct the target's current, such as
    /// calibrations/mane2014.toml
    #[arg(long, value_name = "FILE.toml")]
    calibration: Option<PathBuf>,
    #[command(flatten)]
    compare: CompareArgs,
    /// Format of the rows
    #[arg(long, value_enum, default_value_t = ReportFormat::Table)]
    format: ReportFormat,
    /// Tables of all columns, however wide they are
    #[arg(long)]
    wide: bool,
}

impl MeasureArgs {
    /// Options of a call.
    fn into_call(self, calibrated: String) -> (CallArgs, Shared) {
        let shared = Shared {
            files: self.elf,
            targets: self.target,
            clock_hz: self.machine.clock,
            supply_v: self.machine.supply,
            max_cycles: self.max_cycles,
            compare: self.compare,
            format: self.format,
            wide: self.wide,
            calibrated,
        };
        (self.call, shared)
    }
}

/// Measures a call, or each ELF file, and gives the rows of all of them.
pub(crate) fn command(workspace: Workspace, args: MeasureArgs) -> Result<Answer, LabError> {
    let (workspace, calibrated) = calibrated(workspace, args.calibration.as_deref())?;
    if args.call.is_given() {
        let (call, shared) = args.into_call(calibrated);
        return call::command(&workspace, call, shared);
    }
    if let Some(source) = args.elf.iter().find(|file| lab::call::is_source(file)) {
        return Err(LabError::Usage(format!(
            "{} is no firmware; to measure a function of it, write the call: --call 'name(i16[64], 64)'",
            source.display()
        )));
    }
    let [target] = args.target.as_slice() else {
        return Err(LabError::Usage("give one --target, which the ELF file is built for".into()));
    };
    let plain = args.format.plain();
    if args.listing.is_some() && plain.is_none() {
        return Err(LabError::Usage("--listing is written as a table, as json or as csv".into()));
    }
    let traces = TraceFiles::from(args.traces);
    if args.elf.len() > 1
        && (args.flamegraph.is_some() || args.listing.is_some() || traces != TraceFiles::default())
    {
        let said = "--flamegraph, --listing, --vcd, --trace and --lcov are of one ELF file; give one";
        return Err(LabError::Usage(said.into()));
    }
    let destination = args.compare.prepare(&MEASURE)?;
    let interrupted = interruption()?;
    let (mut rows, mut remarks, mut success) = (Vec::new(), vec![calibrated], true);
    let mut listing: Option<Listing> = None;
    for elf in &args.elf {
        let request = measure::Request {
            setup: args.machine.setup(elf.clone(), target.clone()),
            functions: args.function.clone(),
            until: args.until.clone(),
            calls: args.calls,
            pin: args.pin.clone(),
            marker: args.marker.clone(),
            max_cycles: args.max_cycles,
            flamegraph: args.flamegraph.clone(),
            traces: traces.clone(),
            listing: args.listing.clone(),
            input: args.input.clone(),
            uart: args.uart.clone(),
        };
        let mut stderr = std::io::stderr();
        let console = args.console.then_some(&mut stderr as &mut dyn Write);
        let mut result = match measure::run(&workspace, &request, &interrupted, console) {
            // The rows of the others are still to be had, and a report for a server says what is
            // not.
            Err(error) if !error.is_usage() && (args.elf.len() > 1 || plain.is_none()) => {
                rows.push(MeasureRow::not_begun(elf, &request.setup.target, &error));
                remarks.push(format!("wattseal: {error}"));
                success = false;
                continue;
            }
            result => result?,
        };
        success &= result.failure.is_none();
        listing = result.listing.take();
        if let Some(problem) = listing.as_ref().and_then(|listing| listing.without_names.as_ref()) {
            remarks.push(format!("wattseal: the listing has opcodes without their names: {problem}"));
        }
        let (of_elf, remark) = told(result);
        if args.elf.len() > 1 {
            remarks.push(format!("wattseal: {}:", elf.display()));
        }
        rows.extend(of_elf);
        remarks.push(remark);
    }
    let data = match (&listing, plain) {
        (Some(listing), Some(format)) => report::listing(listing, format)?,
        _ => report::measure(&rows, args.format, args.wide)?,
    };
    let answer = Answer { data, remark: lines(remarks), success };
    destination.finish(&rows, answer, args.format, args.wide)
}

/// The rows of a measurement, those of the states and the program's last, and what to say of it.
fn told(result: MeasureResult) -> (Vec<MeasureRow>, String) {
    let remark = format!(
        "{}; {} cycles, {} instructions in all; {}",
        result.ending,
        result.cycles,
        result.instructions,
        result.clock_remark()
    );
    let reservations = result.reservations.iter().map(|said| format!("wattseal: {said}"));
    let beginning = result.beginning.iter().map(|beginning| format!("wattseal: {beginning}"));
    let feet = result.accuracies.iter().map(Accuracy::foot);
    let feet = feet.chain(result.energy_accuracies.iter().map(EnergyAccuracy::foot));
    let failure = result.failure.iter().map(|failure| format!("wattseal: {failure}"));
    let remarks: Vec<String> =
        beginning.chain(reservations).chain(feet).chain([remark]).chain(failure).collect();
    let mut rows = result.rows;
    rows.extend(result.state_rows);
    rows.push(result.program);
    (rows, lines(remarks))
}
