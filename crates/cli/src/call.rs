//! `wattseal measure --call`: a function of a user's own, without a board.

use crate::compare::CompareArgs;
use crate::page::PageArgs;
use crate::{Interruptible, interruption, lines};
use clap::Args;
use clap::builder::PossibleValuesParser;
use lab::call::{self, CallRow, Request};
use lab::compare::{CALL, SaveFile};
use lab::rank::Rank;
use lab::repetition::Repetition;
use lab::units;
use lab::workspace::Workspace;
use lab::{LabError, report};
use output::{Answer, Bar, ReportFormat};
use std::path::PathBuf;

/// Options that follow a program, and none that is made here.
const OF_FIRMWARE: [&str; 20] = [
    "lenient",
    "fuse",
    "stop_on_fault",
    "stub",
    "base",
    "map",
    "function",
    "until",
    "calls",
    "pin",
    "marker",
    "input",
    "uart",
    "console",
    "flamegraph",
    "vcd",
    "trace",
    "lcov",
    "listing",
    "crystal",
];

#[derive(Args)]
pub(crate) struct CallArgs {
    /// Compile the files for each target, and call this function of theirs. Types come from the
    /// prototype. An argument is a number (64, -1.5), ? for a random one, 0..9 for one of these, an
    /// array ([64], i16[64], [4]={1,2,3,4}, u8[16]=0, "text"), members of a structure ({1, 2}) or
    /// a name of the program's. Arrays without content are random
    #[arg(long, value_name = "CALL", conflicts_with_all = OF_FIRMWARE)]
    call: Option<String>,
    /// Calls that count, with other random arguments each time [default: as many as bench makes]
    #[arg(long, value_name = "N", requires = "call", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    /// Seed of the random arguments [default: 1]
    #[arg(long, value_name = "N", requires = "call", value_parser = units::whole::<u64>)]
    seed: Option<u64>,
    #[command(flatten)]
    compiling: CompilingArgs,
    /// Put the targets with the least of this first [default: in the order of their names]
    #[arg(long, value_name = "FIGURE", requires = "call", value_parser = PossibleValuesParser::new(Rank::ALL.map(|(name, _)| name)))]
    by: Option<String>,
    /// Draw the targets as bars, by the figure of --by [default: energy]
    #[arg(long, value_name = "OUT.svg", requires = "call")]
    plot: Option<PathBuf>,
    /// Let floating-point outputs differ by this share, such as 1e-6 [default: by nothing]
    #[arg(long, value_name = "SHARE", requires = "call", value_parser = share)]
    tolerance: Option<f64>,
}

/// Options of the compilers of a call's files.
#[derive(Args)]
pub(crate) struct CompilingArgs {
    /// Look for headers in this folder, too; may be repeated
    #[arg(short = 'I', value_name = "FOLDER", requires = "call")]
    include: Vec<String>,
    /// Define this name, as NAME or NAME=VALUE; may be repeated
    #[arg(short = 'D', value_name = "NAME", requires = "call")]
    define: Vec<String>,
    /// Further flags of the targets' compilers, such as '-Os -std=c99'; the host's has none of them
    #[arg(long, value_name = "FLAGS", requires = "call", allow_hyphen_values = true)]
    cflags: Vec<String>,
}

impl CompilingArgs {
    /// `-I` and `-D`, for the host's compiler, too.
    pub(crate) fn options(&self) -> Vec<String> {
        let options = self.include.iter().map(|folder| format!("-I{folder}"));
        options.chain(self.define.iter().map(|name| format!("-D{name}"))).collect()
    }

    /// Further flags of the targets' compilers.
    pub(crate) fn flags(&self) -> Vec<String> {
        let flags = self.cflags.iter().flat_map(|flags| flags.split_whitespace());
        flags.map(str::to_owned).collect()
    }
}

fn share(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|share| (0.0..1.0).contains(share));
    number.ok_or_else(|| "a share is a number from 0 up to 1, such as 1e-6".into())
}

impl CallArgs {
    pub(crate) fn is_given(&self) -> bool {
        self.call.is_some()
    }
}

/// Options that a call shares with firmware.
pub(crate) struct Shared {
    pub files: Vec<PathBuf>,
    pub targets: Vec<String>,
    pub clock_hz: Option<u64>,
    pub supply_v: Option<f64>,
    pub max_cycles: u64,
    pub compare: CompareArgs,
    pub page: PageArgs,
    pub format: ReportFormat,
    pub wide: bool,
    /// Remark on the calibration.
    pub calibrated: String,
}

/// Measures a call on each target.
pub(crate) fn command(workspace: &Workspace, args: CallArgs, shared: Shared) -> Result<Answer, LabError> {
    let Shared { files, targets, clock_hz, supply_v, max_cycles, compare, page, format, wide, calibrated } =
        shared;
    let destination = compare.prepare(&CALL)?;
    let page = page.open()?;
    let picture = args.plot.as_deref().map(SaveFile::open).transpose()?;
    let request = Request {
        files,
        call: args.call.unwrap_or_default(),
        targets,
        options: args.compiling.options(),
        flags: args.compiling.flags(),
        runs: args.runs.map_or(Repetition::Enough, Repetition::Exactly),
        seed: args.seed.unwrap_or(1),
        tolerance: args.tolerance.unwrap_or(0.0),
        clock_hz,
        supply_v,
        max_cycles,
    };
    let bar = Bar::new();
    let interrupted = interruption()?;
    let rank = args.by.as_deref().and_then(Rank::named);
    let mut called = call::run(workspace, &request, &Interruptible { bar: &bar, interrupted: &interrupted })?;
    drop(bar);
    if let Some(rank) = rank {
        rank.sort(&mut called.rows);
    }
    if let Some(failure) = called.failure.as_ref().filter(|_| format == ReportFormat::Table) {
        let remarks = called.remarks.iter().chain([failure]).map(|remark| format!("wattseal: {remark}"));
        return Ok(Answer { data: String::new(), remark: lines(remarks), success: false });
    }
    let problem = |row: &CallRow| Some(format!("{}: {}", row.target, row.problem.as_ref()?));
    let of_parts = called.rows.iter().filter(|_| called.failure.is_none()).filter_map(problem);
    let remarks = called.remarks.iter().chain(&called.failure).cloned().chain(of_parts);
    let remarks = remarks.map(|remark| format!("wattseal: {remark}"));
    let mut answer = Answer {
        data: report::called(&called.rows, format, rank, wide)?,
        remark: lines(std::iter::once(calibrated).chain(remarks)),
        success: called.is_good(),
    };
    let drawn = picture
        .map(|file| file.write_text(&report::call_picture(&called.rows, rank.unwrap_or(Rank::Energy))?));
    if let Some(Err(error)) = drawn {
        answer.remark = lines([answer.remark, format!("wattseal: {error}")]);
        answer.success = false;
    }
    page.write(&mut answer, |line| report::call_page(&called.rows, rank, line));
    destination.finish(&called.rows, answer, format, wide)
}
