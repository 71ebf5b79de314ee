//! `wattseal run`: its arguments, standard input and output, and its exit code.

use crate::firmware::FirmwareArgs;
use crate::interruption;
use crate::serial_port::{Peer, SerialPort};
use crate::traces::TraceArgs;
use clap::Args;
use lab::run::{self, Outside};
use lab::workspace::Workspace;
use lab::{LabError, units};
use output::Unwritten;
use std::cell::RefCell;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, ToSocketAddrs};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::mpsc::{self, Receiver};

/// Cycles of a run whose end nobody has said anything of.
const MOST_CYCLES: u64 = 1_000_000_000;

#[derive(Args)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    firmware: FirmwareArgs,
    /// Show only what leaves by this port: a UART by its name in the target's file, such as USART2,
    /// ITM.0, RTT.0 or semihosting; may be repeated [default: all]
    #[arg(long, value_name = "PORT")]
    port: Vec<String>,
    /// Send this file, or standard input (-), to the program's UART, once it has switched on its
    /// receiver
    #[arg(long, value_name = "FILE|-")]
    input: Option<PathBuf>,
    /// The UART that the input goes to [default: the only one]. USART0=pty makes it a serial port
    /// of this machine, USART0=tcp:4000 a port of 127.0.0.1; the program then runs at the part's
    /// own speed, behind tcp from the first connection on
    #[arg(long, value_name = "UART[=pty|tcp:PORT]")]
    uart: Option<String>,
    /// The program ends where it comes to this function, whose first argument is its exit code;
    /// none: at no function, where _exit ends a task alone [default: _exit, if there is one]
    #[arg(long, value_name = "SYMBOL|ADDRESS")]
    exit: Option<String>,
    /// The program ends where it sleeps and no interrupt that it listens to can come [default: that
    /// is a lost wake-up, and exit code 1; sleep with interrupts off is an end]
    #[arg(long)]
    ends_asleep: bool,
    /// Wait for gdb at this address of the machine, and let it run the program; behind the
    /// firmware, or with =
    #[arg(long, value_name = "[HOST:]PORT", num_args = 0..=1, default_missing_value = "3333", value_parser = gdb_address,
        conflicts_with_all = ["vcd", "trace", "lcov"])]
    gdb: Option<SocketAddr>,
    /// Give up after this many cycles, such as 2e9 [default: 1e9, but with --time, --gdb or
    /// --input - none]
    #[arg(long, value_name = "N", value_parser = units::count)]
    max_cycles: Option<u64>,
    /// Give up after this much of the program's own time, such as 500ms
    #[arg(long, value_name = "TIME", value_parser = units::seconds)]
    time: Option<f64>,
    #[command(flatten)]
    traces: TraceArgs,
    /// Arguments that the program finds by semihosting; of a program with tests of embedded-test
    /// those of Rust's test programs, such as --list or a part of a name. Behind -- they may begin
    /// with a hyphen
    #[arg(value_name = "ARGUMENT")]
    arguments: Vec<String>,
}

/// Runs the firmware; its exit code is the command's.
pub(crate) fn command(workspace: &Workspace, args: RunArgs) -> Result<ExitCode, LabError> {
    let interrupted = interruption()?;
    let (uart, peer) = uart_and_peer(args.uart.as_deref(), args.input.is_some())?;
    let forever = peer.is_some() || args.input.as_deref() == Some(Path::new("-"));
    let endless = forever || args.time.is_some() || args.gdb.is_some();
    let mut ports = args.port;
    if peer.is_some() && !ports.is_empty() {
        ports.extend(uart.clone());
    }
    let request = run::Request {
        setup: args.firmware.into_run_setup(),
        ports,
        uart: uart.clone(),
        exit: args.exit,
        ends_asleep: args.ends_asleep,
        is_paced: peer.is_some(),
        max_cycles: args.max_cycles.or((!endless).then_some(MOST_CYCLES)),
        max_time_s: args.time,
        traces: (&args.traces).into(),
        arguments: args.arguments,
    };
    // A debugger looks at one run.
    if args.gdb.is_none()
        && let Some(ended) = tests(workspace, &request, &interrupted)?
    {
        return Ok(ended);
    }
    let serial = RefCell::new(None);
    let input: Option<run::OpenInput<'_>> = match (&args.input, peer, &uart) {
        (Some(path), ..) => Some(Box::new(|| open(path))),
        (None, Some(peer), Some(uart)) => Some(Box::new({
            let (serial, interrupted) = (&serial, &interrupted);
            move || {
                let (port, input) = SerialPort::open(uart, peer, interrupted)?;
                serial.replace(Some(port));
                Ok(input)
            }
        })),
        _ => None,
    };
    let gdb = args.gdb.map(listen).transpose()?;
    let mut stdout = std::io::stdout().lock();
    let mut unwritten = None;
    let mut out = |from: &str, bytes: &[u8]| {
        if let Some(port) = serial.borrow_mut().as_mut()
            && uart.as_deref() == Some(from)
        {
            port.send(bytes);
            return ControlFlow::Continue(());
        }
        match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                // A reader that has seen enough is no failure.
                unwritten = (error.kind() != ErrorKind::BrokenPipe).then_some(error);
                ControlFlow::Break(())
            }
        }
    };
    let mut say = |text: &str| output::say(&format!("wattseal: {text}"));
    let outside = Outside { interrupted: &interrupted, input, gdb, out: &mut out, say: &mut say };
    let result = run::run(workspace, &request, outside)?;
    if let Some(error) = unwritten {
        return Err(LabError::from(Unwritten::from(error)));
    }
    if let Some(failure) = result.failure {
        return Err(failure);
    }
    let energy = result.energy_remark();
    let energy = energy.map(|energy| format!("; {energy}")).unwrap_or_default();
    say(&format!("{}; {} cycles, {:.6} s{energy}", result.ending, result.cycles, result.time_s));
    // A shell has eight bits for it; no failure may become a success by that.
    let shown = if result.code == 0 { 0 } else { (result.code as u8).max(1) };
    Ok(ExitCode::from(shown))
}

/// The UART of `--uart`, and its connection where it has one.
fn uart_and_peer(asked: Option<&str>, has_input: bool) -> Result<(Option<String>, Option<Peer>), LabError> {
    let Some(asked) = asked else { return Ok((None, None)) };
    match asked.split_once('=') {
        None => Ok((Some(asked.into()), None)),
        Some(_) if has_input => {
            Err(LabError::Usage("give --input, or --uart with a connection, not both".into()))
        }
        Some((uart, peer)) => Ok((Some(uart.into()), Some(Peer::read(peer)?))),
    }
}

/// Runs the tests that the program has in itself, if it has any.
fn tests(
    workspace: &Workspace,
    request: &run::Request,
    interrupted: &AtomicBool,
) -> Result<Option<ExitCode>, LabError> {
    let mut say = |text: &str| {
        let mut stdout = std::io::stdout().lock();
        stdout
            .write_all(text.as_bytes())
            .and_then(|()| stdout.flush())
            .map_err(|error| Unwritten::from(error).into())
    };
    let passed = run::run_tests(workspace, &request.setup, &request.arguments, interrupted, &mut say)?;
    // As Rust's own test programs end.
    Ok(passed.map(|passed| if passed { ExitCode::SUCCESS } else { ExitCode::from(101) }))
}

/// An address of this machine, unless one says another: `3333`, `127.0.0.1:3333`, `[::1]:3333`.
pub(crate) fn gdb_address(text: &str) -> Result<SocketAddr, String> {
    let text = text.trim_start_matches(':');
    let known = match text.parse() {
        Ok(port) => Some(SocketAddr::from((Ipv4Addr::LOCALHOST, port))),
        Err(_) => text.to_socket_addrs().ok().and_then(|mut found| found.next()),
    };
    known.ok_or_else(|| {
        format!("'{text}' is no address: write a port, 3333, or a host and a port, 127.0.0.1:3333; --gdb alone is written last")
    })
}

pub(crate) fn listen(address: SocketAddr) -> Result<TcpListener, LabError> {
    TcpListener::bind(address).map_err(|error| {
        LabError::Unfinished(format!(
            "gdb cannot be waited for at {address}: {error}; --gdb takes another port"
        ))
    })
}

/// Pieces of a file, or of standard input as they come.
fn open(path: &Path) -> Result<Receiver<Vec<u8>>, LabError> {
    let (sender, receiver) = mpsc::channel();
    if path == Path::new("-") {
        std::thread::spawn(move || {
            let mut piece = [0; 256];
            let mut input = std::io::stdin().lock();
            while let Ok(length @ 1..) = input.read(&mut piece) {
                if sender.send(piece[..length].to_vec()).is_err() {
                    break;
                }
            }
        });
    } else {
        let bytes = std::fs::read(path).map_err(|error| LabError::File { path: path.into(), error })?;
        // The receiver is here.
        let _ = sender.send(bytes);
    }
    Ok(receiver)
}
