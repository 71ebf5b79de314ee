//! The collector killed under load, again and again.

use crate::load::drive::free_address;
use crate::load::{Child, Drive, Fleet, LoadError, Program, WorkFolder, check};
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde::Serialize;
use std::path::PathBuf;
use std::time::Duration;
use wire::meter::{MeterId, Suite};

/// Parameters of a trial.
#[derive(Clone, Debug)]
pub struct Kills {
    /// Suite of the reports.
    pub suite: Suite,
    pub meters: MeterId,
    /// Number of kills.
    pub count: u32,
    /// Seed of the times of the kills.
    pub seed: u64,
    /// Start of a collector.
    pub program: Program,
    /// Folder for its files; `None`: a temporary folder, which goes with the run.
    pub folder: Option<PathBuf>,
}

/// Result of a trial.
#[derive(Clone, Debug, Serialize)]
pub struct KillsResult {
    /// Number of kills.
    pub kills: u32,
    /// Reports that were acknowledged.
    pub acknowledged: u64,
    /// Rows in the database at the end.
    pub stored: u64,
    /// Readings that were stored when a kill kept their acknowledgement back, in all.
    pub stored_unacknowledged: u64,
    /// Seed of the times of the kills.
    pub seed: u64,
}

/// Kills a collector under load, reads its database, starts it again, and so on.
///
/// # Errors
/// [`LoadError::Wrong`] where an acknowledged reading was not there, or twice, or with other
/// figures.
pub fn kills(request: &Kills, say: &dyn Fn(&str)) -> Result<KillsResult, LoadError> {
    let place = WorkFolder::new(request.folder.clone())?;
    let mut rng = StdRng::seed_from_u64(request.seed);
    let fleet = Fleet::make(place.path(), request.suite, request.meters)?;
    let address = free_address()?;
    let mut drive = Drive::new(fleet, address)?;
    let (mut stored, mut unacknowledged) = (0, 0);
    for number in 1..=request.count {
        let mut child = Child::start(&request.program, place.path(), address)?;
        drive.until_heard(&mut child, Duration::from_secs(60))?;
        drive.run(Duration::from_millis(rng.random_range(0..600)), &mut child)?;
        child.kill()?;
        let checked = check(&child.database(), drive.fleet())?;
        (stored, unacknowledged) = (checked.rows, unacknowledged + checked.not_acknowledged);
        say(&format!("{number} of {} kills: {stored} readings, all as acknowledged", request.count));
    }
    // And one more start, which ends well.
    let mut child = Child::start(&request.program, place.path(), address)?;
    drive.until_heard(&mut child, Duration::from_secs(60))?;
    drive.run(Duration::from_millis(200), &mut child)?;
    child.stop()?;
    let checked = check(&child.database(), drive.fleet())?;
    stored = stored.max(checked.rows);
    Ok(KillsResult {
        kills: request.count,
        acknowledged: drive.acknowledged(),
        stored,
        stored_unacknowledged: unacknowledged,
        seed: request.seed,
    })
}
