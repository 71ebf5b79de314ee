//! `fault`: campaigns of fault injection over a user's own firmware.

use crate::firmware::FirmwareArgs;
use crate::run::{gdb_address, listen};
use crate::{Interruptible, interruption, lines};
use clap::Args;
use lab::fault::{self, Counts, Injected, Marker, Model, Outcome, Window};
use lab::run::Outside;
use lab::workspace::Workspace;
use lab::{LabError, report, units};
use output::{Answer, Bar, ReportFormat, grouped};
use std::net::SocketAddr;
use std::ops::{ControlFlow, Range};
use std::path::PathBuf;

/// For the end of the help.
pub(crate) const EXAMPLES: &str = "Each fault begins at an instruction of the window, once; the run then goes on to a marker, to its end or to a limit. \
     The program must end at a good marker without a fault. Exit code 1 where more faults are bypassed than --limit.\n\n\
     Example: wattseal fault firmware.elf --target stm32f407 --function check_pin --good reach:denied --bad reach:unlocked\n\n\
     Two skipped instructions, and any flipped bit of a register, a thousand of them drawn: \
     wattseal fault firmware.elf --target stm32f407 --from verify --to boot --good exit:1 --bad output:booting \
     --model skip:2,register --sample 1000\n\n\
     What one of them does: wattseal fault firmware.elf --target stm32f407 --function check_pin --good reach:denied --bad reach:unlocked \
     --replay 12:skip";

#[derive(Args)]
pub(crate) struct FaultArgs {
    #[command(flatten)]
    firmware: FirmwareArgs,
    /// Window: the first call of this function, to its return
    #[arg(long, value_name = "NAME", required_unless_present_any = ["from", "window"])]
    function: Option<String>,
    /// Window: from the first time at this symbol or address
    #[arg(long, value_name = "SYMBOL", requires = "to", conflicts_with_all = ["function", "window"])]
    from: Option<String>,
    /// Window: to the next time at this symbol or address
    #[arg(long, value_name = "SYMBOL", requires = "from")]
    to: Option<String>,
    /// Window: these cycles since reset
    #[arg(long, value_name = "CYCLES..CYCLES", value_parser = cycles, conflicts_with = "function")]
    window: Option<Range<u64>>,
    /// Sign that the program withstood: reach:SYMBOL, exit:N or output:TEXT; may be repeated. The
    /// first marker that a run meets counts
    #[arg(long, value_name = "MARKER", required = true)]
    good: Vec<Marker>,
    /// Sign that the attack succeeded; may be repeated
    #[arg(long, value_name = "MARKER", required = true)]
    bad: Vec<Marker>,
    /// Faults: skip (an instruction), skip:N (N in a row), register (each bit), zero (a register),
    /// flags (each), opcode (each bit of the fetched instruction), load (each bit that is read from
    /// memory); several with commas
    #[arg(long, value_name = "MODEL", value_delimiter = ',', default_value = "skip")]
    model: Vec<Model>,
    /// Faults at the first N and the last N times that each instruction is executed [default: each
    /// time]
    #[arg(long, value_name = "N", value_parser = units::count)]
    occurrences: Option<u64>,
    /// Draw this many of all faults
    #[arg(long, value_name = "N", value_parser = units::count)]
    sample: Option<u64>,
    /// Seed of the draw
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = units::whole::<u64>)]
    seed: u64,
    /// The function that ends the program, whose first argument is its exit code [default: _exit,
    /// if there is one]
    #[arg(long, value_name = "SYMBOL|ADDRESS")]
    exit: Option<String>,
    /// A run with a fault hangs this many cycles after the window's start [default: twice those of
    /// the run without one, and 50000]
    #[arg(long, value_name = "CYCLES", value_parser = units::count)]
    hang: Option<u64>,
    /// Give up the run without a fault after this many cycles
    #[arg(long, value_name = "N", default_value = "1e9", value_parser = units::count)]
    max_cycles: u64,
    /// Bypassed faults that are accepted: more are exit code 1
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = units::whole::<u64>)]
    limit: u64,
    /// Keep what is found in this file, and go on from it: after an interruption the same command
    /// runs the rest
    #[arg(long, value_name = "FILE", conflicts_with = "replay")]
    state: Option<PathBuf>,
    /// Run each fault to its end, also where its outcome is known before: registers that are
    /// overwritten, states that are those of the run without a fault
    #[arg(long)]
    no_pruning: bool,
    /// Run one fault, by the ID of a row, and say what happens
    #[arg(long, value_name = "ID", conflicts_with_all = ["sample", "limit", "format"])]
    replay: Option<String>,
    /// With --replay: make the fault, then wait for gdb at this address of the machine, as run
    /// --gdb does
    #[arg(long, value_name = "[HOST:]PORT", num_args = 0..=1, default_missing_value = "3333", value_parser = gdb_address,
          requires = "replay")]
    gdb: Option<SocketAddr>,
    /// Format of the rows
    #[arg(long, default_value = "table", value_parser = ReportFormat::parser(&ReportFormat::FINDINGS))]
    format: ReportFormat,
    /// Tables of all columns, however wide they are
    #[arg(long)]
    wide: bool,
}

/// A range of cycles: `1000..2000`.
fn cycles(text: &str) -> Result<Range<u64>, String> {
    let wrong = || format!("'{text}' is no range of cycles, such as 1000..2e4");
    let (from, to) = text.split_once("..").ok_or_else(wrong)?;
    let from = if from == "0" { 0 } else { units::count(from)? };
    let to = units::count(to)?;
    if from < to { Ok(from..to) } else { Err(wrong()) }
}

/// Blocks from this size on are given back to the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const LARGE: libc::c_int = 4 << 20;

/// Makes each copy of a machine begin with memory that the system has zeroed. glibc would keep the
/// large tables of the last copy, and clear them by itself: that takes eight times a fault's run.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn give_back_large_blocks() {
    // SAFETY: the call changes a number of the allocator, and takes no pointer.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn give_back_large_blocks() {}

/// Runs a campaign, or one fault of it.
pub(crate) fn command(workspace: &Workspace, args: FaultArgs) -> Result<Answer, LabError> {
    let window = match (args.function, args.from, args.to, args.window) {
        (Some(name), ..) => Window::Function(name),
        (_, Some(from), Some(to), _) => Window::Between { from, to },
        (.., Some(cycles)) => Window::Cycles(cycles),
        _ => return Err(LabError::Usage("give a window: --function, --from and --to, or --window".into())),
    };
    let subject = match &window {
        Window::Function(name) => name.clone(),
        Window::Between { from, to } => format!("{from} to {to}"),
        Window::Cycles(range) => format!("cycles {} to {}", range.start, range.end),
    };
    let mut models = args.model;
    let mut known = Vec::new();
    models.retain(|model| {
        !known.contains(model) && {
            known.push(*model);
            true
        }
    });
    let request = fault::Request {
        setup: args.firmware.into_setup(),
        window,
        models,
        good: args.good,
        bad: args.bad,
        exit: args.exit,
        occurrences: args.occurrences,
        sample: args.sample,
        seed: args.seed,
        max_cycles: args.max_cycles,
        hang_cycles: args.hang,
        prunes: !args.no_pruning,
        state: args.state,
    };
    give_back_large_blocks();
    if let (Some(id), Some(address)) = (&args.replay, args.gdb) {
        let remark = under_gdb(workspace, &request, id, address)?;
        return Ok(Answer { data: String::new(), remark, success: true });
    }
    if let Some(id) = args.replay {
        let data = fault::replay(workspace, &request, &id)?;
        return Ok(Answer { data, remark: String::new(), success: true });
    }
    if args.format != ReportFormat::Table {
        workspace.origin().look_up();
    }
    let (bar, interrupted) = (Bar::new(), interruption()?);
    let watched = Interruptible { bar: &bar, interrupted: &interrupted };
    let say = |text: &str| bar.aside(|| output::say(&format!("wattseal: {text}")));
    let injected = fault::run(workspace, &request, &watched, &say)?;
    let bypassed = injected.counts.of(Outcome::Bypassed);
    let elf = &request.setup.elf;
    Ok(Answer {
        data: report::faults(&injected, &subject, elf, args.limit, args.format, args.wide)?,
        remark: remark(&injected, &request, &subject),
        success: injected.is_complete() && injected.unkept.is_none() && bypassed <= args.limit,
    })
}

/// Makes one fault, and waits for a gdb. Returns how the program ended.
fn under_gdb(
    workspace: &Workspace,
    request: &fault::Request,
    id: &str,
    address: SocketAddr,
) -> Result<String, LabError> {
    let interrupted = interruption()?;
    let listener = listen(address)?;
    let mut out = |_: &str, bytes: &[u8]| match output::write(&String::from_utf8_lossy(bytes)) {
        Ok(_) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let mut say = |text: &str| output::say(&format!("wattseal: {text}"));
    let outside = Outside { interrupted: &interrupted, input: None, gdb: None, out: &mut out, say: &mut say };
    let ended = fault::debug(workspace, request, id, &listener, outside)?;
    Ok(format!("wattseal: {ended}"))
}

/// Result and circumstances, a line each.
fn remark(injected: &Injected, request: &fault::Request, subject: &str) -> String {
    let count = |count: u64| grouped(i64::try_from(count).unwrap_or(i64::MAX));
    let Injected { counts, planned, total, to_protect, .. } = injected;
    let drawn = match planned < total {
        true => format!(", drawn from {} with seed {}", count(*total), request.seed),
        false => String::new(),
    };
    let incomplete = (!injected.is_complete()).then(|| {
        let missing = planned - counts.total();
        format!("wattseal: incomplete: interrupted before {} of {} faults", count(missing), count(*planned))
    });
    let result = format!(
        "wattseal: {} faults{drawn} at {} instructions of {subject} ({} cycles): {}",
        count(counts.total()),
        count(injected.instructions as u64),
        count(injected.cycles),
        outcomes(counts)
    );
    let protect: Vec<String> = to_protect.iter().map(|pc| format!("{pc:#x}")).collect();
    let protect = (!protect.is_empty()).then(|| {
        let several = if protect.len() == 1 { "" } else { "s" };
        format!("wattseal: {} instruction{several} to protect: {}", protect.len(), protect.join(" "))
    });
    let limit = format!(
        "wattseal: {}; with one it hangs {} cycles after the window's start",
        injected.reference,
        count(injected.hang_cycles)
    );
    let unkept = injected.unkept.iter().map(|said| format!("wattseal: not all is kept: {said}"));
    let reservations = injected.reservations.iter().map(|said| format!("wattseal: {said}"));
    lines(
        incomplete
            .into_iter()
            .chain([result])
            .chain(protect)
            .chain([limit])
            .chain(unkept)
            .chain(reservations),
    )
}

/// Counts of all outcomes, those that nothing had left out but for bypasses.
fn outcomes(counts: &Counts) -> String {
    let shown =
        Outcome::ALL.iter().filter(|outcome| **outcome == Outcome::Bypassed || counts.of(**outcome) > 0);
    let shown = shown.map(|outcome| {
        format!("{} {}", grouped(i64::try_from(counts.of(*outcome)).unwrap_or(i64::MAX)), outcome.name())
    });
    shown.collect::<Vec<_>>().join(", ")
}
