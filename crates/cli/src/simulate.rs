//! `simulate`: a harvested node in its world.

use crate::{Answer, Format};
use clap::Args;
use lab::bench::Progress as _;
use lab::target::House;
use lab::{LabError, progress};
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
pub(crate) struct SimulateArgs {
    /// The scenario's file, or the name of one in scenarios/
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// Where the random numbers begin: keys, challenges, packets lost [default: the scenario's]
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// How long it lasts [default: the scenario's]
    #[arg(long, value_name = "N")]
    days: Option<f64>,
    /// Write a picture of voltage, sun and events against time
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    /// How the outcome is written; CSV is the world against time
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

struct Bar(progress::Bar);

impl world::simulation::Progress for Bar {
    fn report(&self, done_s: f64, total_s: f64) {
        let hour = done_s / 3600.0;
        self.0.report(done_s as usize, total_s as usize, &format!("hour {hour:.1}"));
    }
}

pub(crate) fn run(house: &House, args: SimulateArgs) -> Result<Answer, LabError> {
    let begun = Instant::now();
    let request = world::setup::Request { scenario: args.scenario, seed: args.seed, days: args.days };
    let outcome = world::setup::run(house, &request, &Bar(progress::Bar::new()))?;
    let wall_s = begun.elapsed().as_secs_f64();
    if let Some(path) = args.plot {
        let picture = world::picture::picture(&outcome)?;
        std::fs::write(&path, picture).map_err(|error| LabError::File { path, error })?;
    }
    let mut remark = format!("wattseal: {} days in {wall_s:.1} s", outcome.days);
    if outcome.rejected > 0 {
        remark += &format!("; the server refused {} messages", outcome.rejected);
    }
    Ok(Answer {
        data: world::report::report(&outcome, args.format.into())?,
        remark,
        success: outcome.rejected == 0,
    })
}
