//! `ct`: operations and functions of a user's own with random secrets and by taint tracking, a
//! function of any firmware by taint tracking.

use crate::CacheArgs;
use crate::call::CompilingArgs;
use crate::compare::CompareArgs;
use crate::firmware::LoadingArgs;
use crate::{Interruptible, interruption, lines, write_row};
use clap::Args;
use lab::call::secrets::{self, Matrix, SecretCall, Variant};
use lab::compare::CONSTANT_TIME;
use lab::report::constant_time::RowWriter;
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use lab::{LabError, ct, report, units};
use output::{Answer, Bar, ReportFormat};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// For the end of the help.
pub(crate) const EXAMPLES: &str = "Operations run with random secrets, and once with their secrets followed through every instruction. What depends on one and is fine \
     stands in constant-time.toml.\n\n\
     With --call or --matrix the function is compiled for each target; its secret arguments are random, and followed once.\n\n\
     With FIRMWARE.elf the secrets are labelled in memory at each call of the function and followed through \
     every instruction until it returns; each branch, address and time that depends on one is listed.\n\n\
     Example: wattseal ct --target atmega328p --op 'aes128-*' --variant fast\n\n\
     For code scanning: wattseal ct --target atmega328p --op 'aes128-*' --format sarif >ct.sarif\n\n\
     A function of C: wattseal ct compare.c --call 'compare([16], [16])' --secret-arg 0 --target 'stm32*'\n\n\
     With FIRMWARE.elf: wattseal ct firmware.elf --target stm32f407 --function aes_encrypt --secret key:16 --declassify ciphertext";

#[derive(Args)]
pub(crate) struct CtArgs {
    #[command(flatten)]
    firmware: TracedArgs,
    #[command(flatten)]
    call: SecretCallArgs,
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

/// A function of a user's own, compiled for each target.
#[derive(Args)]
struct SecretCallArgs {
    /// Compile the files for each target, and check this call as measure --call makes it
    #[arg(long, value_name = "CALL", requires_all = ["files", "secret_arg"], conflicts_with_all = ["op", "variant", "strict", "public", "function", "matrix"])]
    call: Option<String>,
    /// This argument is secret: its name, or its place from 0 on; with FIRMWARE.elf :LEN makes the
    /// bytes secret that it points to; may be repeated
    #[arg(long, value_name = "ARGUMENT[:LEN]")]
    secret_arg: Vec<String>,
    #[command(flatten)]
    compiling: CompilingArgs,
    /// Check each call of this file in each of its builds on each target
    #[arg(long, value_name = "FILE.toml", conflicts_with_all = ["files", "op", "variant", "strict", "public"])]
    matrix: Option<PathBuf>,
}

impl SecretCallArgs {
    /// Returns the matrix of `--matrix`, or that of one call in one build; none where neither is
    /// given.
    fn matrix(&self, files: &[PathBuf], targets: &[String]) -> Result<Option<Matrix>, LabError> {
        if let Some(path) = &self.matrix {
            let mut matrix = Matrix::read(path)?;
            if !targets.is_empty() {
                matrix.targets = targets.to_vec();
            }
            return Ok(Some(matrix));
        }
        let Some(call) = &self.call else { return Ok(None) };
        let flags = self.compiling.flags();
        let name = if flags.is_empty() { "default".to_owned() } else { flags.join(" ") };
        Ok(Some(Matrix {
            files: files.to_vec(),
            options: self.compiling.options(),
            targets: targets.to_vec(),
            calls: vec![SecretCall { call: call.clone(), secret: self.secret_arg.clone() }],
            builds: vec![Variant { name, compiler: None, flags }],
        }))
    }
}

/// A user's own firmware, and what is secret in it.
#[derive(Args)]
struct TracedArgs {
    /// An ELF file of your own; with --call the sources of a function, objects and libraries
    /// [default: the operations of this project]
    #[arg(value_name = "FIRMWARE.elf")]
    files: Vec<PathBuf>,
    #[command(flatten)]
    loading: LoadingArgs,
    /// The function whose calls are followed, by its name or an address
    #[arg(long, value_name = "NAME", requires = "files", conflicts_with_all = ["op", "variant", "runs", "seed", "strict", "save", "against"])]
    function: Option<String>,
    /// These bytes are secret when the function is called; may be repeated, up to eight times
    #[arg(long, value_name = "SYMBOL[:LEN]", requires = "function")]
    secret: Vec<String>,
    /// This register of the core is secret when the function is called; may be repeated
    #[arg(long, value_name = "NAME", requires = "function")]
    secret_register: Vec<String>,
    /// These bytes are public from then on, whatever is written to them, such as a ciphertext;
    /// behind @ a function or an address at which they, or a register, become public; may be
    /// repeated
    #[arg(long, value_name = "SYMBOL[:LEN][@PLACE]", requires = "function")]
    declassify: Vec<String>,
    /// End after this many calls of the function [default: 10]
    #[arg(long, value_name = "N", requires = "function", value_parser = units::count)]
    calls: Option<u64>,
    /// Back this peripheral, by its name in the target's file, or these addresses with plain
    /// storage so that the program can continue; may be repeated
    #[arg(long, value_name = "NAME", requires = "function")]
    stub: Vec<String>,
    /// Run at this core clock, such as 16MHz, whatever the program sets [default: as the program
    /// sets it]
    #[arg(long, value_name = "HZ", requires = "function", value_parser = units::frequency)]
    clock: Option<u64>,
}

/// Does what was asked for.
pub(crate) fn run(workspace: &Workspace, args: CtArgs) -> Result<Answer, LabError> {
    if let Some(matrix) = args.call.matrix(&args.firmware.files, &args.target)? {
        return calls(workspace, &args, &matrix);
    }
    match (args.firmware.files.as_slice(), args.firmware.function.clone()) {
        ([], _) if !args.call.secret_arg.is_empty() => Err(LabError::Usage(
            "--secret-arg is for --call 'function(arguments)', or for --function of a FIRMWARE.elf".into(),
        )),
        ([], _) => match args.public.iter().flatten().next() {
            Some(symbol) => Err(LabError::Usage(format!(
                "--public {symbol} is for a FIRMWARE.elf; for operations it stands alone"
            ))),
            None => operations(workspace, args),
        },
        ([elf], Some(function)) => {
            let elf = elf.clone();
            firmware(workspace, args, elf, function)
        }
        ([file], None) if lab::call::is_source(file) => Err(LabError::Usage(format!(
            "{} is a source file: give --call 'function(arguments)' and --secret-arg",
            file.display()
        ))),
        ([file], None) => Err(LabError::Usage(format!(
            "{}: give the --function to follow and its --secret",
            file.display()
        ))),
        (files, _) => Err(LabError::Usage(format!(
            "{} files: give --call 'function(arguments)' and --secret-arg, or one FIRMWARE.elf",
            files.len()
        ))),
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
        secret_registers: traced.secret_register,
        secret_arguments: args.call.secret_arg,
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

/// Makes rows and hands each on; returns them with remarks.
type RowsOf<'a> = &'a mut dyn FnMut(
    &Interruptible<'_>,
    &mut dyn FnMut(&ct::ConstantTimeRow) -> ControlFlow<()>,
) -> Result<(Vec<ct::ConstantTimeRow>, Vec<String>), LabError>;

/// Operations, checked with random secrets and by following them.
fn operations(workspace: &Workspace, args: CtArgs) -> Result<Answer, LabError> {
    let request = args.request();
    checked(workspace, &args, &mut |watched, take| {
        ct::run_each(workspace, &request, watched, take).map(|rows| (rows, Vec::new()))
    })
}

/// Functions of a user's own, checked alike.
fn calls(workspace: &Workspace, args: &CtArgs, matrix: &Matrix) -> Result<Answer, LabError> {
    // Tables of others are no exception.
    let request = ct::Request { strict: true, ..args.request() };
    checked(workspace, args, &mut |watched, take| {
        secrets::run_each(workspace, matrix, &request, watched, take)
    })
}

impl CtArgs {
    fn request(&self) -> ct::Request {
        ct::Request {
            targets: self.target.clone(),
            operations: self.op.clone(),
            variants: self.variant.clone(),
            runs: self.runs,
            seed: self.seed,
            max_cycles: self.max_cycles.unwrap_or(10_000_000_000),
            public: self.public.is_some(),
            strict: self.strict,
        }
    }
}

/// Writes rows as they are made, and what is said of all.
fn checked(workspace: &Workspace, args: &CtArgs, make: RowsOf<'_>) -> Result<Answer, LabError> {
    let destination = args.compare.prepare(&CONSTANT_TIME)?;
    if args.format != ReportFormat::Table {
        workspace.origin().look_up();
    }
    let mut writer = RowWriter::new(args.format, args.wide);
    let (bar, mut failed) = (Bar::new(), None);
    let interrupted = interruption()?;
    let watched = Interruptible { bar: &bar, interrupted: &interrupted };
    let rows = make(&watched, &mut |row| {
        let text = if destination.is_comparison() { Ok(String::new()) } else { writer.row(row) };
        write_row(text, &bar, &mut failed)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let (rows, said) = match rows {
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
    let without = count(ct::Verdict::Failed);
    let mut remarks = Vec::new();
    if without > 0 {
        remarks.push(format!(
            "wattseal: {without} of {} rows were not built or did not return, so nothing is known of them",
            rows.len()
        ));
    }
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
    remarks.extend(said.iter().map(|said| format!("wattseal: {said}")));
    let answer = Answer { data: writer.end(None)?, remark: remarks.join("\n"), success };
    destination.finish(&rows, answer, args.format, args.wide)
}
