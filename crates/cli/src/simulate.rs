//! `simulate`: a harvested node, one that configures itself, or a network of meters.

use crate::{CacheArgs, calibrated, lines};
use clap::Args;
use lab::LabError;
use lab::units;
use lab::workspace::Workspace;
use output::{Answer, Format, duration};
use sim::configured::scenario::ConfiguredScenario;
use sim::network::scenario::NetworkScenario;
use std::fs::OpenOptions;
use std::path::PathBuf;
use std::time::Instant;

#[derive(Args)]
pub(crate) struct SimulateArgs {
    /// The scenario's file, or the name of one in scenarios/
    #[arg(value_name = "SCENARIO.toml")]
    scenario: PathBuf,
    /// Seed of the random numbers: keys, challenges, loads, packets lost, attacks, losses of power
    /// [default: the scenario's]
    #[arg(long, value_name = "N", value_parser = units::whole::<u64>)]
    seed: Option<u64>,
    /// Duration of the simulation [default: the scenario's]
    #[arg(long, value_name = "N")]
    days: Option<f64>,
    /// Harvested node: measurements of one's own that correct the processor's active current, such
    /// as calibrations/mane2014.toml
    #[arg(long, value_name = "FILE.toml")]
    calibration: Option<PathBuf>,
    /// Harvested node: write a plot of voltage, sun and events against time
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) cache: CacheArgs,
    /// Format of the outcome; CSV is the node's voltages against time, or a line for each meter
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

struct Bar(output::Bar);

impl sim::simulation::Progress for Bar {
    fn report(&self, done_s: f64, total_s: f64) {
        let hour = done_s / 3600.0;
        self.0.report(done_s as u64, total_s as u64, &format!("hour {hour:.1}"));
    }
}

pub(crate) fn run(workspace: Workspace, args: SimulateArgs) -> Result<Answer, LabError> {
    if let Some(scenario) = NetworkScenario::read(&workspace, &args.scenario)? {
        return run_network(&workspace, scenario, &args);
    }
    if let Some(scenario) = ConfiguredScenario::read(&workspace, &args.scenario)? {
        return run_configured(&workspace, scenario, &args);
    }
    let (workspace, calibration) = calibrated(workspace, args.calibration.as_deref())?;
    // Before the days pass, not after them.
    if let Some(path) = &args.plot {
        let opened = OpenOptions::new().create(true).append(true).open(path);
        opened.map_err(|error| LabError::File { path: path.clone(), error })?;
    }
    let begun = Instant::now();
    let request = sim::harvest::setup::Request { scenario: args.scenario, seed: args.seed, days: args.days };
    let outcome = sim::harvest::setup::run(&workspace, &request, &Bar(output::Bar::new()))?;
    let wall_s = begun.elapsed().as_secs_f64();
    let written = args.plot.map_or(Ok(()), |path| {
        let plot = sim::harvest::plot::plot(&outcome)?;
        std::fs::write(&path, plot).map_err(|error| LabError::File { path, error })
    });
    // What the days came to is still to be had.
    let unwritten = written.err().map_or(String::new(), |error| format!("wattseal: {error}"));
    let mut remark = format!("wattseal: {} days in {wall_s:.1} s", outcome.days);
    if outcome.rejected > 0 {
        remark += &format!("; the server refused {} messages", outcome.rejected);
    }
    Ok(Answer {
        data: sim::harvest::report::report(&outcome, args.format)?,
        success: outcome.rejected == 0 && unwritten.is_empty(),
        remark: lines([calibration, remark, unwritten]),
    })
}

/// A node that configures itself, beside nodes of one configuration.
fn run_configured(
    workspace: &Workspace,
    mut scenario: ConfiguredScenario,
    args: &SimulateArgs,
) -> Result<Answer, LabError> {
    let given = [
        (args.seed.is_some(), "seed"),
        (args.calibration.is_some(), "calibration"),
        (args.plot.is_some(), "plot"),
    ];
    if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
        return Err(LabError::Usage(format!("--{option} does nothing for a node that configures itself")));
    }
    scenario.days = args.days.unwrap_or(scenario.days);
    scenario.check().map_err(LabError::Usage)?;
    let outcomes = sim::configured::simulation::run(workspace, &scenario, &Bar(output::Bar::new()))?;
    let data = sim::configured::report::report(&scenario.title, &outcomes, args.format)?;
    Ok(Answer { data, remark: String::new(), success: true })
}

fn run_network(
    workspace: &Workspace,
    mut scenario: NetworkScenario,
    args: &SimulateArgs,
) -> Result<Answer, LabError> {
    for (given, option) in [(args.calibration.is_some(), "calibration"), (args.plot.is_some(), "plot")] {
        if given {
            return Err(LabError::Usage(format!("--{option} is for a harvested node; a network has none")));
        }
    }
    scenario.seed = args.seed.unwrap_or(scenario.seed);
    scenario.hours = args.days.map_or(scenario.hours, |days| 24.0 * days);
    scenario.check().map_err(LabError::Usage)?;
    let outcome = sim::network::setup::run(workspace, &scenario, &Bar(output::Bar::new()))?;
    let simulated = duration(3600.0 * outcome.hours);
    let remark = format!("wattseal: {simulated} in {:.1} s; all that must hold held", outcome.wall_s);
    Ok(Answer { data: sim::network::report::report(&outcome, args.format)?, remark, success: true })
}
