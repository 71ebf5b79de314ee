//! `wattseal measure`.

use crate::call::{self, CallArgs, Shared};
use crate::compare::CompareArgs;
use crate::firmware::MachineArgs;
use crate::page::PageArgs;
use crate::traces::TraceArgs;
use crate::{calibrated, interruption, lines};
use clap::Args;
use lab::accuracy::Accuracy;
use lab::compare::MEASURE;
use lab::energy_accuracy::EnergyAccuracy;
use lab::measure::{self, MeasureResult, MeasureRow};
use lab::power_states::StateSpent;
use lab::report::MeasuredRun;
use lab::traces::{Listing, TraceFiles};
use lab::workspace::Workspace;
use lab::{LabError, report, units};
use output::{Answer, ReportFormat};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

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
    #[command(flatten)]
    page: PageArgs,
    /// Format of the rows
    #[arg(long, default_value = "table", value_parser = ReportFormat::parser(&ReportFormat::COSTS))]
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
            page: self.page,
            format: self.format,
            wide: self.wide,
            calibrated,
        };
        (self.call, shared)
    }

    /// The target, once the options are found to go together.
    fn target(&self) -> Result<&str, LabError> {
        if let Some(source) = self.elf.iter().find(|file| lab::call::is_source(file)) {
            return Err(LabError::Usage(format!(
                "{} is no firmware; to measure a function of it, write the call: --call 'name(i16[64], 64)'",
                source.display()
            )));
        }
        let [target] = self.target.as_slice() else {
            return Err(LabError::Usage("give one --target, which the ELF file is built for".into()));
        };
        if self.listing.is_some() && self.format.plain().is_none() {
            return Err(LabError::Usage("--listing is written as a table, as json or as csv".into()));
        }
        let is_of_one = self.flamegraph.is_some()
            || self.listing.is_some()
            || self.page.is_given()
            || TraceFiles::from(&self.traces) != TraceFiles::default();
        if self.elf.len() > 1 && is_of_one {
            let said =
                "--flamegraph, --listing, --report, --vcd, --trace and --lcov are of one ELF file; give one";
            return Err(LabError::Usage(said.into()));
        }
        Ok(target)
    }

    /// The measurement of an ELF file; a page lists the first function that was asked for.
    fn request(&self, elf: &Path, target: &str, for_page: bool) -> measure::Request {
        let listed = || self.function.first().filter(|_| for_page).cloned();
        measure::Request {
            setup: self.machine.setup(elf.to_path_buf(), target.to_owned()),
            functions: self.function.clone(),
            until: self.until.clone(),
            calls: self.calls,
            pin: self.pin.clone(),
            marker: self.marker.clone(),
            max_cycles: self.max_cycles,
            flamegraph: self.flamegraph.clone(),
            traces: TraceFiles::from(&self.traces),
            listing: self.listing.clone().or_else(listed),
            input: self.input.clone(),
            uart: self.uart.clone(),
        }
    }
}

/// Measures a call, or each ELF file, and gives the rows of all of them.
pub(crate) fn command(workspace: Workspace, args: MeasureArgs) -> Result<Answer, LabError> {
    let (workspace, calibrated) = calibrated(workspace, args.calibration.as_deref())?;
    if args.call.is_given() {
        let (call, shared) = args.into_call(calibrated);
        return call::command(&workspace, call, shared);
    }
    let target = args.target()?.to_owned();
    let plain = args.format.plain();
    let page = args.page.open()?;
    let interrupted = interruption()?;
    let (mut rows, mut remarks, mut success) = (Vec::new(), vec![calibrated], true);
    let mut listing: Option<Listing> = None;
    let mut of_page: Option<OfPage> = None;
    let destination = args.compare.prepare(&MEASURE)?;
    for elf in &args.elf {
        let request = args.request(elf, &target, page.is_wanted());
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
        if page.is_wanted() {
            of_page = Some(OfPage::of(&workspace, &request, &result, &interrupted));
        }
        listing = result.listing.take().filter(|_| args.listing.is_some());
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
    let mut answer = Answer { data, remark: lines(remarks), success };
    if let Some(of_page) = of_page {
        let remarks = answer.remark.clone();
        page.write(&mut answer, |line| report::measured_page(&rows, of_page.run(&remarks), line));
    }
    destination.finish(&rows, answer, args.format, args.wide)
}

/// Parts of a run that a page shows beside its rows.
struct OfPage {
    folded: Vec<String>,
    states: Vec<StateSpent>,
    listing: Option<Listing>,
}

impl OfPage {
    /// Takes them from a run. Where no function was listed, the run is repeated for the one with
    /// the most cycles of its own.
    fn of(
        workspace: &Workspace,
        request: &measure::Request,
        result: &MeasureResult,
        interrupted: &AtomicBool,
    ) -> OfPage {
        let again = |name: &str| {
            let listing = Some(name.to_owned());
            let (flamegraph, traces) = (None, TraceFiles::default());
            let request = measure::Request { listing, flamegraph, traces, ..request.clone() };
            measure::run(workspace, &request, interrupted, None).ok()?.listing
        };
        let hottest = result.rows.iter().find(|row| row.kind == "function");
        OfPage {
            folded: result.folded.clone(),
            states: result.states.clone(),
            listing: result.listing.clone().or_else(|| again(&hottest?.name)),
        }
    }

    fn run<'a>(&'a self, remarks: &'a str) -> MeasuredRun<'a> {
        let OfPage { folded, states, listing } = self;
        MeasuredRun { folded, states, listing: listing.as_ref(), remarks }
    }
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
