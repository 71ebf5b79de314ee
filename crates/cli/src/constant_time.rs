//! `ct`: operations with random secrets and by taint tracking, a function of any firmware by taint
//! tracking.

use crate::CacheArgs;
use crate::compare::CompareArgs;
use crate::firmware::LoadingArgs;
use crate::{Interruptible, interruption, lines, write_row};
use clap::Args;
use lab::compare::CONSTANT_TIME;
use lab::report::constant_time::RowWriter;
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use lab::{LabError, ct, report, units};
use output::{Answer, Bar, ReportFormat};
use std::path::PathBuf;

/// For the end of the help.
pub(crate) const EXAMPLES: &str = "Operations run with random secrets, and once with their secrets followed through every instruction. What depends on one and is fine \
     stands in constant-time.toml.\n\n\
     With FIRMWARE.elf the secrets are labelled in memory at each call of the function and followed through \
     every instruction until it returns; each branch, address and time that depends on one is listed.\n\n\
     Example: wattseal ct --target atmega328p --op 'aes128-*' --variant fast\n\n\
     For code scanning: wattseal ct --target atmega328p --op 'aes128-*' --format sarif >ct.sarif\n\n\
     With FIRMWARE.elf: wattseal ct firmware.elf --target stm32f407 --function aes_encrypt --secret key:16 --declassify ciphertext";

#[derive(Args)]
pub(crate) struct CtArgs {
    #[command(flatten)]
    firmware: TracedArgs,
    /// Target, a pattern such as 'stm32*', a target file of your own such as ./part.toml, or a
    /// folder of such; may be repeated [default: all]
    #[arg(long, value_name = "TARGET")]
    target: Vec<String>,
    /// Operation, or a pattern such as 'aes128-*'; may be repeated [default: all]
    #[arg(long, value_name = "GLOB")]
    op: Vec<String>,
    /// Variant of the build: O0, portable, small or fast, some targets have others; may be repeated
    /// [default: all]
    #[arg(long, value_name = "VARIANT")]
    variant: Vec<String>,
    /// Random secrets for each row, of which the first are also followed through every instruction;
    /// with 1 nothing else is done [default: 200, or as many as take 2e8 cycles, but at least 3]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    runs: Option<u32>,
    /// Seed of the random secrets
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = units::whole::<u64>)]
    seed: u64,
    /// Check operations on public data, too, which may take their time from it; with FIRMWARE.elf:
    /// these bytes are public although they lie in a secret; may be repeated
    #[arg(long, value_name = "SYMBOL[:LEN]", num_args = 0..=1, action = clap::ArgAction::Append)]
    public: Option<Vec<String>>,
    /// Compare which entries of AES's tables are read, too; they lie where each takes the same time
    #[arg(long)]
    strict: bool,
    /// Cycles after which one operation counts as endless, or with FIRMWARE.elf the run ends
    /// [default: 1e10; 1e9]
    #[arg(long, value_name = "N", value_parser = units::count)]
    max_cycles: Option<u64>,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
    #[command(flatten)]
    compare: CompareArgs,
    /// Format of the rows
    #[arg(long, default_value = "table", value_parser = ReportFormat::parser(&ReportFormat::FINDINGS))]
    format: ReportFormat,
    /// Tables of all columns, however wide they are
    #[arg(long)]
    wide: bool,
}

/// A user's own firmware, and what is secret in it.
#[derive(Args)]
struct TracedArgs {
    /// An ELF file of your own [default: the operations of this project]
    #[arg(value_name = "FIRMWARE.elf", requires_all = ["function", "secret"], conflicts_with_all = ["op", "variant", "runs", "seed", "strict", "save", "against"])]
    elf: Option<PathBuf>,
    #[command(flatten)]
    loading: LoadingArgs,
    /// The function whose calls are followed, by its name or an address
    #[arg(long, value_name = "NAME", requires = "elf")]
    function: Option<String>,
    /// These bytes are secret when the function is called; may be repeated, up to eight times
    #[arg(long, value_name = "SYMBOL[:LEN]", requires = "elf")]
    secret: Vec<String>,
    /// These bytes are public from then on, whatever is written to them, such as a ciphertext; may
    /// be repeated
    #[arg(long, value_name = "SYMBOL[:LEN]", requires = "elf")]
    declassify: Vec<String>,
    /// End after this many calls of the function [default: 10]
    #[arg(long, value_name = "N", requires = "elf", value_parser = units::count)]
    calls: Option<u64>,
    /// Back this peripheral, by its name in the target's file, or these addresses with plain
    /// storage so that the program can continue; may be repeated
    #[arg(long, value_name = "NAME", requires = "elf")]
    stub: Vec<String>,
    /// Run at this core clock, such as 16MHz, whatever the program sets [default: as the program
    /// sets it]
    #[arg(long, value_name = "HZ", requires = "elf", value_parser = units::frequency)]
    clock: Option<u64>,
}

/// Does what was asked for.
pub(crate) fn run(workspace: &Workspace, args: CtArgs) -> Result<Answer, LabError> {
    match (args.firmware.elf.clone(), args.firmware.function.clone()) {
        (Some(elf), Some(function)) => firmware(workspace, args, elf, function),
        _ => match args.public.iter().flatten().next() {
            Some(symbol) => Err(LabError::Usage(format!(
                "--public {symbol} is for a FIRMWARE.elf; for operations it stands alone"
            ))),
            None => operations(workspace, args),
        },
    }
}

/// A function of any firmware, by taint tracking.
fn firmware(workspace: &Workspace, args: CtArgs, elf: PathBuf, function: String) -> Result<Answer, LabError> {
    let [target] = args.target.as_slice() else {
        return Err(LabError::Usage("give one --target, which the ELF file is built for".into()));
    };
    let traced = args.firmware;
    let request = ct::firmware::Request {
        setup: Setup {
            loading: traced.loading.loading(),
            clock_hz: traced.clock,
            stubs: traced.stub,
            ..Setup::new(elf, target)
        },
        function,
        secrets: traced.secret,
        public: args.public.unwrap_or_default(),
        declassified: traced.declassify,
        calls: traced.calls.unwrap_or(10),
        max_cycles: args.max_cycles.unwrap_or(1_000_000_000),
    };
    let checked = ct::firmware::run(workspace, &request)?;
    let unread = checked.reads.unread();
    let found = match checked.leaks.len() {
        0 if !unread.is_empty() || checked.failure.is_some() => "nothing is known of all secrets".to_owned(),
        0 => "no branch, address or time depends on a secret".to_owned(),
        1 => "1 instruction depends on a secret".to_owned(),
        count => format!("{count} instructions depend on a secret"),
    };
    let (read, bytes, readers) = (checked.reads.read, checked.reads.bytes, checked.reads.readers());
    let remark = format!(
        "wattseal: {found}; calls of {1} followed: {0}, {2} instructions, of which {readers} read {read} of {bytes} secret bytes; {3}",
        checked.calls, request.function, checked.instructions, checked.ending
    );
    let unread = unread.into_iter().map(|said| format!("wattseal: {said}"));
    let failure = checked.failure.iter().map(|failure| format!("wattseal: {failure}"));
    Ok(Answer {
        data: report::leaks(&checked, &request.function, &request.setup.elf, args.format, args.wide)?,
        remark: lines([remark].into_iter().chain(unread).chain(failure)),
        success: checked.is_clear(),
    })
}

/// Operations, checked with random secrets and by following them.
fn operations(workspace: &Workspace, args: CtArgs) -> Result<Answer, LabError> {
    let request = ct::Request {
        targets: args.target,
        operations: args.op,
        variants: args.variant,
        runs: args.runs,
        seed: args.seed,
        max_cycles: args.max_cycles.unwrap_or(10_000_000_000),
        public: args.public.is_some(),
        strict: args.strict,
    };
    let destination = args.compare.prepare(&CONSTANT_TIME)?;
    if args.format != ReportFormat::Table {
        workspace.origin().look_up();
    }
    let mut writer = RowWriter::new(args.format, args.wide);
    let (bar, mut failed) = (Bar::new(), None);
    let interrupted = interruption()?;
    let watched = Interruptible { bar: &bar, interrupted: &interrupted };
    let rows = ct::run_each(workspace, &request, &watched, |row| {
        let text = if destination.is_comparison() { Ok(String::new()) } else { writer.row(row) };
        write_row(text, &bar, &mut failed)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let rows = match rows {
        Err(error) if !destination.is_comparison() => {
            // The rows of the target under way, whatever ended the run.
            output::write(&writer.end(Some(&error))?)?;
            return Err(error);
        }
        rows => rows?,
    };
    let count = |verdict| rows.iter().filter(|row| row.verdict == verdict).count();
    let variable = count(ct::Verdict::Variable) + count(ct::Verdict::Dependent);
    let wrong = count(ct::Verdict::Wrong);
    let unread = count(ct::Verdict::Unread);
    let mut remarks = Vec::new();
    if unread > 0 {
        remarks.push(format!(
            "wattseal: of {unread} of {} rows a secret was not read, so nothing is known of it",
            rows.len()
        ));
    }
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
    let answer = Answer { data: writer.end(None)?, remark: remarks.join("\n"), success };
    destination.finish(&rows, answer, args.format, args.wide)
}
