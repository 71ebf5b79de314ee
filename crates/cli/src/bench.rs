//! `wattseal bench`.

use crate::compare::CompareArgs;
use crate::page::PageArgs;
use crate::{CacheArgs, Interruptible, OperatingPoint, interruption, lines, write_row};
use clap::Args;
use clap::builder::PossibleValuesParser;
use lab::compare::{BENCH, SaveFile};
use lab::rank::Rank;
use lab::repetition::Repetition;
use lab::report::stream::RowWriter;
use lab::report::{self, Pair};
use lab::row::BenchRow;
use lab::selection::Choice;
use lab::workspace::Workspace;
use lab::{LabError, bench, units};
use output::{Answer, Bar, ReportFormat};
use std::path::PathBuf;
use std::sync::atomic::Ordering;

#[derive(Args)]
pub(crate) struct BenchArgs {
    /// Every operation on every target in every variant
    #[arg(long)]
    all: bool,
    /// Target, a pattern such as 'stm32*', a target file of your own such as ./part.toml, or a
    /// folder of such; may be repeated [default: all, once anything is chosen]
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Operation, or a pattern such as 'aes128-*'; may be repeated [default: all, once anything is
    /// chosen]
    #[arg(long, value_name = "GLOB")]
    op: Vec<String>,
    /// Variant of the build: O0, portable, small or fast, some targets have others; may be repeated
    /// [default: all, once anything is chosen]
    #[arg(long, value_name = "VARIANT")]
    variant: Vec<String>,
    /// Message length [default: the operation's]
    #[arg(long, value_name = "N", value_parser = units::whole::<u16>)]
    bytes: Option<u16>,
    /// Random inputs for each row [default: 3 where the cycles do not vary; else from 5 to 100,
    /// until the 95 % confidence interval of the mean is within 2 % of it, or the runs have taken
    /// 1e9 cycles]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    #[command(flatten)]
    point: OperatingPoint,
    /// Cycles after which an operation counts as endless
    #[arg(long, value_name = "N", default_value = "4e9", value_parser = units::count)]
    max_cycles: u64,
    /// Seed of the random inputs
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = units::whole::<u64>)]
    seed: u64,
    /// Start each run right after start-up, with cold caches [default: after a run that does not
    /// count]
    #[arg(long)]
    cold: bool,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
    /// Measure anew what was measured before [default: rows whose firmware, target, request and
    /// program are those of an earlier measurement are taken from there]
    #[arg(long)]
    fresh: bool,
    #[command(flatten)]
    against: CompareArgs,
    /// One table for each operation, the targets with the least of this first, in every format
    #[arg(long, value_name = "FIGURE", value_parser = PossibleValuesParser::new(Rank::ALL.map(|(name, _)| name)))]
    by: Option<String>,
    /// Put two targets or two variants side by side [targets: in the variant fast, unless --variant
    /// names another]
    #[arg(long = "compare", num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["by", "all"])]
    pair: Option<Vec<String>>,
    /// Draw the rows as bars, by the figure of --by [default: energy]
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    page: PageArgs,
    /// Format of the rows
    #[arg(long, default_value = "table", value_parser = ReportFormat::parser(&ReportFormat::COSTS))]
    format: ReportFormat,
    /// Tables of all columns, however wide they are
    #[arg(long)]
    wide: bool,
}

/// Remark on a bench that was interrupted.
const KEPT: &str = "interrupted: not all rows were measured; those that were are kept, and the same command goes on from there";

impl BenchArgs {
    /// The two that are compared, at the bench's clock and supply.
    fn pair(&self, workspace: &Workspace) -> Result<Option<Pair>, LabError> {
        let Some([one, other]) = self.pair.as_deref() else { return Ok(None) };
        let names = [one.clone(), other.clone()];
        Pair::find(workspace, names, self.point.clock, self.point.supply).map(Some)
    }

    fn choice(&self, pair: Option<&Pair>) -> Result<Choice, LabError> {
        let BenchArgs { target, op, variant, .. } = self;
        let (targets, operations, variants) = (target.clone(), op.clone(), variant.clone());
        if let Some(pair) = pair {
            return pair.choice(targets, operations, variants);
        }
        let is_open = !self.all && targets.is_empty() && operations.is_empty() && variants.is_empty();
        Ok(if is_open { Choice::Tables } else { Choice::Matching { targets, operations, variants } })
    }

    fn request(&self, pair: Option<&Pair>) -> Result<bench::Request, LabError> {
        Ok(bench::Request {
            choice: self.choice(pair)?,
            bytes: self.bytes,
            runs: self.runs.map_or(Repetition::Enough, Repetition::Exactly),
            clock_hz: self.point.clock,
            supply_v: self.point.supply,
            max_cycles: self.max_cycles,
            seed: self.seed,
            cold: self.cold,
            earlier: if self.fresh { bench::Earlier::Replaced } else { bench::Earlier::Taken },
        })
    }
}

/// Measures all that is asked for.
pub(crate) fn command(workspace: Workspace, args: BenchArgs) -> Result<Answer, LabError> {
    let (workspace, calibrated) = args.point.workspace(workspace)?;
    let pair = args.pair(&workspace)?;
    let request = args.request(pair.as_ref())?;
    let by = args.by.as_deref().and_then(Rank::named);
    let schedule = bench::schedule(&workspace, &request)?;
    let arrangement = schedule.arrangement(by, pair)?;
    let destination = args.against.prepare(&BENCH)?;
    let picture = args.plot.as_deref().map(SaveFile::open).transpose()?;
    let page = args.page.open()?;
    if args.format != ReportFormat::Table || page.is_wanted() {
        workspace.origin().look_up();
    }
    let mut writer = RowWriter::new(args.format, args.wide, arrangement.clone(), schedule.names());
    let mut rows = Vec::new();
    let bar = Bar::new();
    let interrupted = interruption()?;
    let watched = Interruptible { bar: &bar, interrupted: &interrupted };
    let mut failed = None;
    let count = schedule.run(&watched, |row| {
        let text = if destination.is_comparison() { Ok(String::new()) } else { writer.row(&row) };
        if destination.wants_rows() || picture.is_some() || page.is_wanted() {
            rows.push(row);
        }
        write_row(text, &bar, &mut failed)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let count = match count {
        Err(error) => {
            // The end of the rows that are there, whatever ended the run.
            let error = match interrupted.load(Ordering::Relaxed) {
                true => LabError::Unfinished(KEPT.into()),
                false => error,
            };
            if !destination.is_comparison() {
                output::write(&writer.end(Some(&error))?)?;
            }
            return Err(error);
        }
        Ok(count) => count,
    };
    let remark = lines([calibrated, remark(count)]);
    let mut answer = Answer { data: writer.end(None)?, remark, success: count.wrong == 0 };
    if let Some(Err(error)) = picture.map(|file| draw(file, &rows, by)) {
        answer.remark = lines([answer.remark, format!("wattseal: {error}")]);
        answer.success = false;
    }
    page.write(&mut answer, |line| report::bench_page(&rows, &arrangement, line));
    destination.finish(&rows, answer, args.format, args.wide)
}

fn remark(count: bench::Count) -> String {
    let bench::Count { rows, earlier, wrong } = count;
    let earlier = match earlier {
        0 => String::new(),
        _ => format!(
            "wattseal: {earlier} of {rows} rows are of an earlier measurement of the same firmware; --fresh measures anew"
        ),
    };
    let wrong = match wrong {
        0 => String::new(),
        _ => format!("wattseal: {wrong} of {rows} rows gave wrong outputs; their costs mean nothing"),
    };
    lines([earlier, wrong])
}

/// Draws rows into a file.
fn draw(file: SaveFile, rows: &[BenchRow], by: Option<Rank>) -> Result<(), LabError> {
    file.write_text(&report::picture(rows, by.unwrap_or(Rank::Energy))?)
}
