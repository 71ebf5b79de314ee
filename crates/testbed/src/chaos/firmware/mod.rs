//! Meters that run the meter's firmware, beside the client that all is checked with: on the models
//! of their boards, or built for this machine. They talk by a simulated radio to a gateway's radio,
//! and that by UDP to the gateway, in the time of the clock on the wall.
//!
//! - [`record`]: what each had on the air, and what it says of itself; [`live`]: how they live

pub mod live;
pub mod record;

use crate::chaos::ClusterError;
use crate::chaos::meters::register;
use collector::network::NetworkId;
use collector::registry::{MeterFile, Registry};
use lab::LabError;
use lab::board::ChipModel;
use lab::workspace::Workspace;
use sim::network::setup::setup;
use sim::node::meter::MeterFirmware;
use std::path::Path;
use std::sync::Arc;
use std::thread::JoinHandle;
use wire::meter::{Identity, MeterId, Provision, Setup, Suite};

/// The first one's number: above those of the client's.
const FIRST: MeterId = 2001;
/// Maximum of each kind: each meter has an address of its own on the air.
pub const MOST: u16 = 12;
/// The boards of those on models, and how they seal, one after the other; two have one build of the
/// firmware.
const BOARDS: [(&str, Suite); 3] =
    [("emontx", Suite::Aes128Gcm), ("emontx", Suite::Aes256Gcm), ("msp430f5438a-cc2500", Suite::Aes128Gcm)];
/// Suites of the meters that are built for this machine: signatures take no time there.
const HOST: [Suite; 3] = [Suite::AsconAead128, Suite::EciesEcdsa, Suite::Aes128Gcm];
/// Seconds between two of their measurements.
const INTERVAL_S: u16 = 2;

/// Number of meters of each kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FirmwareCounts {
    /// On the models of their boards.
    pub emulated: u16,
    /// Built for this machine.
    pub host: u16,
}

/// A board that a meter is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    pub name: &'static str,
    /// Its microcontroller.
    pub target: String,
}

/// A meter that is to be made.
struct Planned {
    provision: Provision,
    /// None: it is built for this machine.
    board: Option<Board>,
    radio: ChipModel,
}

/// Meters that are registered, while their firmware is built.
pub struct FirmwareMeters {
    workspace: Workspace,
    planned: Vec<Planned>,
    building: JoinHandle<Result<Vec<Option<Arc<MeterFirmware>>>, LabError>>,
    collector: Identity,
    seed: u64,
}

impl FirmwareMeters {
    /// Registers them with the collector whose keys these are, and begins to build their firmware.
    /// folder: for their key files. seed: of what they measure. Returns nothing where there are to
    /// be none.
    ///
    /// # Errors
    /// [`ClusterError`]
    pub fn new(
        counts: FirmwareCounts,
        registry: &Registry,
        folder: &Path,
        seed: u64,
    ) -> Result<Option<FirmwareMeters>, ClusterError> {
        if counts == FirmwareCounts::default() {
            return Ok(None);
        }
        let workspace = Workspace::find()?;
        let on_boards = BOARDS.into_iter().map(|(board, suite)| (Some(board), suite));
        let on_boards = on_boards.cycle().take(counts.emulated.into());
        let on_host = HOST.into_iter().map(|suite| (None, suite)).cycle().take(counts.host.into());
        let mut planned = Vec::new();
        for (index, (board, suite)) in on_boards.chain(on_host).enumerate() {
            planned.push(plan(&workspace, registry, (index, board, suite))?);
        }
        for Planned { provision, .. } in &planned {
            let file = MeterFile { network: NetworkId::DEFAULT, epoch: 1, record: provision.record() };
            register(registry, folder, &file)?;
        }
        let wanted =
            planned.iter().map(|meter| (meter.board.clone(), meter.provision.setup().suite)).collect();
        let own = workspace.clone();
        let building = std::thread::spawn(move || build(&own, wanted));
        let collector = registry.identity().clone();
        Ok(Some(FirmwareMeters { workspace, planned, building, collector, seed }))
    }

    /// The boards that there are, each with how many meters, and how many are built for this
    /// machine.
    #[must_use]
    pub fn kinds(&self) -> Vec<(Option<Board>, usize)> {
        let mut kinds: Vec<(Option<Board>, usize)> = Vec::new();
        for Planned { board, .. } in &self.planned {
            match kinds.iter_mut().find(|(known, _)| known == board) {
                Some((_, count)) => *count += 1,
                None => kinds.push((board.clone(), 1)),
            }
        }
        kinds
    }
}

fn plan(
    workspace: &Workspace,
    registry: &Registry,
    (index, board, suite): (usize, Option<&'static str>, Suite),
) -> Result<Planned, ClusterError> {
    let (mut radio, mut phase, mut known) = (ChipModel::Rfm12b, 0, None);
    if let Some(name) = board {
        let description = workspace.board(name)?;
        radio = description.radio().map_or(radio, |chip| chip.model);
        phase = description.meter.as_ref().map_or(0, |meter| meter.phase);
        known = Some(Board { name, target: description.target });
    }
    let usual = setup(index, radio, (suite, INTERVAL_S), phase);
    let of = Setup { meter: FIRST + index as MeterId, ..usual };
    // Keys are the system's, whatever the seed is.
    let provision = Provision::generate(of, registry.identity().public(), &mut rand::rng());
    Ok(Planned { provision, board: known, radio })
}

/// The firmware of each, in their order; those of a board have the same where it has their suites.
fn build(
    workspace: &Workspace,
    wanted: Vec<(Option<Board>, Suite)>,
) -> Result<Vec<Option<Arc<MeterFirmware>>>, LabError> {
    let mut built: Vec<(&str, Arc<MeterFirmware>)> = Vec::new();
    let mut all = Vec::new();
    for (board, suite) in wanted {
        let Some(Board { name, .. }) = board else {
            all.push(None);
            continue;
        };
        let known = built.iter().find(|(board, firmware)| *board == name && firmware.has(suite));
        let firmware = match known {
            Some((_, firmware)) => Arc::clone(firmware),
            None => {
                let firmware = MeterFirmware::build(workspace, name, suite)?;
                built.push((name, Arc::clone(&firmware)));
                firmware
            }
        };
        all.push(Some(firmware));
    }
    Ok(all)
}
