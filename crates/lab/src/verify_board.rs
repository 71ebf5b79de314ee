//! `verify-board`: cycles that a board counted itself, beside the model's, row by row.
//!
//! The same program runs on both. It times work by its part's own counter and says so by a UART
//! ([`rounds`]); `device/verify` is such a program.

mod record;
mod rounds;

pub use rounds::{Counted, Rounds};

use crate::LabError;
use crate::accuracy::Bound;
use crate::target::Target;
use crate::user_firmware::{Setup, UserFirmware, advice_on};
use crate::workspace::Workspace;
use firmware::Firmware;
use mcu::{Mcu, Stop, Until};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Cycles of the model between two looks at what was sent.
const LOOK_EVERY: u64 = 1_000_000;

/// Parameters of a comparison.
#[derive(Clone, Debug)]
pub struct Request {
    pub setup: Setup,
    /// Rounds that are awaited of each; the last one is compared.
    pub rounds: usize,
    /// Time to wait for the board.
    pub wait: Duration,
    /// Give up the model's run after this many cycles.
    pub max_cycles: u64,
}

/// Bytes that a board has sent.
pub enum Received {
    /// These; none yet where empty.
    Bytes(Vec<u8>),
    /// Nothing more will come.
    End,
}

/// A row of both.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoardRow {
    /// The program's name for it.
    pub name: String,
    /// Cycles that the board counted in its last round.
    pub board_cycles: u64,
    /// Difference between the most and the fewest that it counted in any round.
    pub board_spread: u64,
    /// Cycles that the program counts on the model, in as many rounds.
    pub model_cycles: u64,
    /// The model's cycles over the board's, less 1, in percent.
    pub difference_percent: f64,
}

/// A comparison that was made.
#[derive(Debug)]
pub struct Verified {
    pub rows: Vec<BoardRow>,
    /// The target's name.
    pub target: String,
    /// Clock that the program runs at on the model, in Hz.
    pub clock_hz: u64,
    /// Rounds of each.
    pub rounds: usize,
    firmware: PathBuf,
    firmware_sha256: String,
    /// Bound of the target file for such a program.
    pub stated: Bound,
}

impl Verified {
    /// The largest difference of a row, in percent.
    #[must_use]
    pub fn largest_percent(&self) -> f64 {
        self.rows.iter().map(|row| row.difference_percent.abs()).fold(0.0, f64::max)
    }

    /// The bound that these rows allow: the largest difference, rounded up to a tenth of a percent.
    #[must_use]
    pub fn bound(&self) -> Bound {
        Bound::Percent(((self.largest_percent() * 10.0).ceil() / 10.0).max(0.1))
    }

    /// The largest difference in percent that the target file's bound allows; none for an estimate.
    #[must_use]
    pub fn allowed_percent(&self) -> Option<f64> {
        match self.stated {
            Bound::Exact => Some(0.0),
            Bound::Percent(percent) => Some(percent),
            Bound::Estimate => None,
        }
    }

    /// The names of the rows that differ by more than a share, in percent.
    #[must_use]
    pub fn rows_beyond(&self, percent: f64) -> Vec<&str> {
        let beyond = self.rows.iter().filter(|row| row.difference_percent.abs() > percent);
        beyond.map(|row| row.name.as_str()).collect()
    }
}

/// Compares the program on its model with what a board says that runs it.
///
/// # Errors
/// Those of [`Setup::load`]. A program that says no rows, on the model or on the board, with what
/// to look at. Rows that one of them does not have.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    board: &mut dyn FnMut() -> Result<Received, LabError>,
    interrupted: &AtomicBool,
) -> Result<Verified, LabError> {
    let UserFirmware { target, firmware, mut machine, .. } = request.setup.load(workspace)?;
    let model = on_model(&mut *machine, &target, &firmware, request)?;
    let board = on_board(board, request, interrupted)?;
    let path = &request.setup.elf;
    let bytes = std::fs::read(path).map_err(|error| LabError::File { path: path.clone(), error })?;
    Ok(Verified {
        rows: rows(&board, &model)?,
        stated: target.accuracy_at(firmware.functions().first().map_or(0, |first| first.address)).cycles,
        target: target.name().into(),
        clock_hz: machine.clock_hz(),
        rounds: request.rounds,
        firmware: path.clone(),
        firmware_sha256: Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect(),
    })
}

/// The model's rounds.
fn on_model(
    machine: &mut dyn Mcu,
    target: &Target,
    firmware: &Firmware,
    request: &Request,
) -> Result<Vec<Counted>, LabError> {
    let mut by_port: BTreeMap<String, Rounds> = BTreeMap::new();
    machine.board_mut().take_sent();
    loop {
        let end = (machine.cycles() + LOOK_EVERY).min(request.max_cycles);
        let until = Until { cycles: Some(end), addresses: Vec::new() };
        let stop = machine.run(&until);
        for sent in machine.board_mut().take_sent() {
            by_port.entry(sent.port).or_default().take(&[sent.byte]);
        }
        if let Some(rounds) = by_port.values().find(|rounds| rounds.complete().len() >= request.rounds) {
            return rounds.counted(request.rounds);
        }
        let place = firmware.place(machine.pc());
        let why = match stop {
            Ok(Stop::Cycles) if machine.cycles() < request.max_cycles => continue,
            Ok(Stop::Cycles) => format!("within --max-cycles {}", request.max_cycles),
            Ok(_) => format!("before it ended{place}"),
            Err(fault) => {
                let place = place + &advice_on(machine, &fault, target, firmware);
                return Err(LabError::Fault { target: target.name().into(), fault, place });
            }
        };
        let most = by_port.values().map(|rounds| rounds.complete().len()).max().unwrap_or(0);
        return Err(LabError::Unfinished(format!(
            "the program said {most} of {} rounds on the model, {why}; it has to send ws-begin, ws-row NAME CYCLES and ws-end ROWS by a \
             UART, as device/verify does",
            request.rounds
        )));
    }
}

/// The board's rounds.
fn on_board(
    board: &mut dyn FnMut() -> Result<Received, LabError>,
    request: &Request,
    interrupted: &AtomicBool,
) -> Result<Vec<Counted>, LabError> {
    let end = Instant::now() + request.wait;
    let mut rounds = Rounds::default();
    let why = loop {
        match board()? {
            Received::Bytes(bytes) => rounds.take(&bytes),
            Received::End => break "and nothing more comes".to_owned(),
        }
        if rounds.complete().len() >= request.rounds {
            return rounds.counted(request.rounds);
        }
        if interrupted.load(Ordering::Relaxed) {
            break "when it was interrupted".into();
        }
        if Instant::now() >= end {
            break format!("within {} s", request.wait.as_secs());
        }
    };
    Err(LabError::Unfinished(rounds.shortage(request.rounds, &why)))
}

/// The rows of both, in the board's order.
fn rows(board: &[Counted], model: &[Counted]) -> Result<Vec<BoardRow>, LabError> {
    let names = |counted: &[Counted]| counted.iter().map(|row| row.name.clone()).collect::<Vec<_>>();
    if names(board) != names(model) {
        return Err(LabError::Unfinished(format!(
            "the board's rows are {}, the model's {}: they run different programs; flash the ELF file that is given here",
            names(board).join(", "),
            names(model).join(", ")
        )));
    }
    let row = |(board, model): (&Counted, &Counted)| {
        let difference = model.cycles as f64 / board.cycles.max(1) as f64 - 1.0;
        BoardRow {
            name: board.name.clone(),
            board_cycles: board.cycles,
            board_spread: board.spread,
            model_cycles: model.cycles,
            difference_percent: 100.0 * difference,
        }
    };
    Ok(board.iter().zip(model).map(row).collect())
}
