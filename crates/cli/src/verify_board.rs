//! `wattseal verify-board`: cycles that a board counted itself, beside the model's.

use crate::firmware::FirmwareArgs;
use crate::{interruption, lines};
use ::update::serial;
use clap::Args;
use lab::verify_board::{self, Received, Request};
use lab::workspace::Workspace;
use lab::{LabError, report, units};
use output::{Answer, Format};
use std::fs::File;
use std::io::{ErrorKind, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// For the end of the help.
pub(crate) const EXAMPLES: &str = "The program times work by its part's own counter and sends the cycles by a UART; device/verify is one \
     for ATmega, STM32F0, F1, F4 and CH32V003. Exit code 1 where a row differs by more than the target's accuracy says, or than --fail-over.\n\n\
     Example: make -C device TARGET=stm32f401 APP=verify VARIANT=fast\n         \
     wattseal verify-board device/build/stm32f401/fast/verify.elf --target stm32f401 --board /dev/ttyACM0 --save nucleo.toml";

#[derive(Args)]
pub(crate) struct VerifyBoardArgs {
    #[command(flatten)]
    firmware: FirmwareArgs,
    /// The board's serial port, such as /dev/ttyACM0, or a file with what came from it
    #[arg(long, value_name = "PORT|FILE")]
    board: PathBuf,
    /// Baud rate of the serial port
    #[arg(long, value_name = "N", default_value_t = 115_200, value_parser = clap::value_parser!(u32).range(50..=4_000_000))]
    baud: u32,
    /// Rounds of the program that are awaited; the last one is compared
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// Time to wait for the board
    #[arg(long, value_name = "TIME", default_value = "30s", value_parser = units::seconds)]
    wait: f64,
    /// Cycles after which the model's run is given up
    #[arg(long, value_name = "N", default_value = "4e9", value_parser = units::count)]
    max_cycles: u64,
    /// Write the rows into this file, which the accuracy of a target can cite
    #[arg(long, value_name = "FILE.toml")]
    save: Option<PathBuf>,
    /// The board, in words for that file: name, revision, supply
    #[arg(long, value_name = "TEXT", default_value = "a board")]
    name: String,
    /// Fail where a row differs by more, such as 2% [default: the target's accuracy]
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    fail_over: Option<f64>,
    /// Format of the rows
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

/// Does what was asked for.
pub(crate) fn command(workspace: &Workspace, args: VerifyBoardArgs) -> Result<Answer, LabError> {
    let request = Request {
        setup: args.firmware.into_run_setup(),
        rounds: args.rounds as usize,
        wait: Duration::from_secs_f64(args.wait),
        max_cycles: args.max_cycles,
    };
    let mut board = Board::open(&args.board, args.baud)?;
    let interrupted = interruption()?;
    let verified = verify_board::run(workspace, &request, &mut || board.hear(), &interrupted)?;
    let largest = verified.largest_percent();
    let mut remarks = vec![format!(
        "wattseal: the model's {} rows differ from the board's by {largest:.2} % at most; the target file of {} says {}",
        verified.rows.len(),
        verified.target,
        verified.stated
    )];
    if let Some(path) = &args.save {
        verified.save(path, &args.name)?;
        let citation = verified.citation(path, &args.name);
        remarks.push(format!("wattseal: written to {}, for the target file:\n{citation}", path.display()));
    }
    let allowed = args.fail_over.or(verified.allowed_percent());
    let beyond = allowed.map(|most| verified.rows_beyond(most)).unwrap_or_default();
    let success = beyond.is_empty();
    if !success {
        let limit = args.fail_over.map_or("the target file".into(), |most| format!("--fail-over {most}%"));
        remarks.push(format!("wattseal: beyond what {limit} allows: {}", beyond.join(", ")));
    }
    Ok(Answer { data: report::board(&verified.rows, args.format)?, remark: lines(remarks), success })
}

/// A serial port, or a recording.
struct Board {
    path: PathBuf,
    file: File,
    /// At a serial port a read without bytes is no end.
    is_port: bool,
}

impl Board {
    fn open(path: &Path, baud: u32) -> Result<Board, LabError> {
        let failed = |error| LabError::File { path: path.into(), error };
        let file = File::open(path).map_err(failed)?;
        let is_port = file.is_terminal();
        let file = if is_port { serial::open(path, baud).map_err(failed)? } else { file };
        Ok(Board { path: path.into(), file, is_port })
    }

    fn hear(&mut self) -> Result<Received, LabError> {
        let mut piece = [0; 4096];
        match self.file.read(&mut piece) {
            Ok(0) if !self.is_port => Ok(Received::End),
            Ok(length) => Ok(Received::Bytes(piece[..length].to_vec())),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Received::Bytes(Vec::new())),
            Err(error) => Err(LabError::File { path: self.path.clone(), error }),
        }
    }
}

/// Reads `2%` or `2`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim_end();
    let percent: Option<f64> =
        number.parse().ok().filter(|percent: &f64| *percent >= 0.0 && percent.is_finite());
    percent.ok_or_else(|| format!("'{text}' is no share: write it as 2%"))
}
