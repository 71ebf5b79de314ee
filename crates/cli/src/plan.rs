//! `wattseal plan`: its arguments, and what it writes.

use crate::{CacheArgs, calibrated, lines};
use clap::Args;
use energy::storage::{Battery, Capacitor};
use energy::sun::Panel;
use lab::workspace::Workspace;
use lab::{LabError, plan, units};
use output::{Answer, Format};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub struct PlanArgs {
    /// Target, a pattern such as 'stm32*', a target file of your own such as ./part.toml, or a
    /// folder of such; may be repeated [default: all]
    #[arg(long, value_name = "TARGET", help_heading = "What to search")]
    target: Vec<String>,
    /// Scheme of schemes.toml, or a pattern such as 'ecdsa-*'; may be repeated [default: all but
    /// the telegrams oms-a, oms-b and oms-d]
    #[arg(long, value_name = "SCHEME", help_heading = "What to search")]
    scheme: Vec<String>,
    /// Variant of its operations; may be repeated [default: all but O0]
    #[arg(long, value_name = "VARIANT", help_heading = "What to search")]
    variant: Vec<String>,
    /// Core clock, such as 8MHz; may be repeated [default: those of the target file]
    #[arg(long, value_name = "HZ", value_parser = units::frequency, help_heading = "What to search")]
    clock: Vec<u64>,
    /// Supply, such as 2.7; may be repeated [default: all that the data sheet allows, in steps of
    /// 0.1 V]
    #[arg(long, value_name = "V", value_parser = units::volts, help_heading = "What to search")]
    supply: Vec<f64>,
    /// Bytes of message [default: 16; a telegram has its own]
    #[arg(long, value_name = "N", help_heading = "What to search", value_parser = units::whole::<u16>)]
    bytes: Option<u16>,
    /// Assume this many cycles per message instead of measuring
    #[arg(long, value_name = "N", value_parser = units::count, help_heading = "What to search")]
    cycles: Option<u64>,
    /// Send the message and what the scheme adds with this radio of radios/, such as cc2500
    /// [default: do not send]
    #[arg(long, value_name = "RADIO", help_heading = "What to search")]
    radio: Option<String>,
    /// Measurements of one's own that correct the target's current, such as
    /// calibrations/mane2014.toml
    #[arg(long, value_name = "FILE.toml", help_heading = "What to search")]
    calibration: Option<PathBuf>,

    /// Most energy a message, such as 2mJ
    #[arg(long, value_name = "ENERGY", value_parser = units::joules, help_heading = "Requirements")]
    energy: Option<f64>,
    /// Longest computation and sending, such as 167ms or 1/6s
    #[arg(long, value_name = "TIME", value_parser = units::seconds, help_heading = "Requirements")]
    latency: Option<f64>,
    /// Least security level in bits, such as 128
    #[arg(long, value_name = "BITS", help_heading = "Requirements", value_parser = units::whole::<u32>)]
    security: Option<u32>,
    /// Rate of messages, such as 4/h or 1/15min
    #[arg(long, value_name = "RATE", value_parser = units::hertz, help_heading = "Requirements")]
    rate: Option<f64>,
    /// Most program memory, such as 24kB
    #[arg(long, value_name = "BYTES", value_parser = units::bytes, help_heading = "Requirements")]
    flash: Option<f64>,
    /// Most static RAM and stack, such as 2KiB
    #[arg(long, value_name = "BYTES", value_parser = units::bytes, help_heading = "Requirements")]
    ram: Option<f64>,
    /// Least life of the battery, such as 5y; with --battery and --rate
    #[arg(long, value_name = "TIME", value_parser = units::seconds, help_heading = "Requirements")]
    life: Option<f64>,

    /// A battery, such as 220mAh@3V, or 220mAh@3V,1%/y with its self-discharge: how long it lasts
    #[arg(long, value_name = "CHARGE@V", value_parser = units::battery, help_heading = "Supply")]
    battery: Option<Battery>,
    /// A capacitor, such as 0.1F or 0.1F@5V: what must be stored, and how long it lasts without
    /// sun; with --rate the smallest panel for it
    #[arg(long, value_name = "F[@V]", value_parser = units::capacitor, help_heading = "Supply")]
    capacitor: Option<Capacitor>,
    /// A panel by its power at 1000 W/m², such as 50mW, or with its charger's efficiency 50mW@85%:
    /// how often a message can be sent; with --rate the smallest capacitor for it
    #[arg(long, value_name = "W[@%]", value_parser = units::panel, help_heading = "Supply")]
    panel: Option<Panel>,
    /// Find pairs of panel and capacitor that never miss a message; with --rate
    #[arg(long, help_heading = "Supply")]
    harvest: bool,
    /// Irradiance for capacitor and panel, a file as scenarios/sun/greensboro.csv, which is the
    /// default
    #[arg(long, value_name = "FILE", help_heading = "Supply")]
    sun: Option<PathBuf>,
    /// Energy that a harvester needs for itself before a message, E_ov of the sizing equations
    #[arg(long, value_name = "ENERGY", value_parser = units::joules, default_value = "125mJ", help_heading = "Supply")]
    overhead: f64,

    #[command(flatten)]
    pub(crate) cache: CacheArgs,
    /// Show every feasible point, not only the Pareto front
    #[arg(long)]
    all: bool,
    /// Draw energy against latency: an SVG, or a page with chart and table
    #[arg(long, value_name = "OUT.svg|OUT.html", value_parser = picture)]
    plot: Option<PathBuf>,
    /// Tables of all columns, however wide they are
    #[arg(long)]
    wide: bool,
    /// Format of the points; JSON and CSV have all of them
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
}

fn is(path: &Path, extension: &str) -> bool {
    path.extension().is_some_and(|own| own.eq_ignore_ascii_case(extension))
}

/// A file whose name says what is to be drawn.
fn picture(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    if is(&path, "svg") || is(&path, "html") {
        return Ok(path);
    }
    Err(format!(
        "'{text}' ends neither in .svg nor in .html; did you mean {}?",
        path.with_extension("svg").display()
    ))
}

/// Plans and writes.
pub fn run(workspace: Workspace, args: PlanArgs) -> Result<Answer, LabError> {
    let (workspace, remark) = calibrated(workspace, args.calibration.as_deref())?;
    let request = plan::Request {
        targets: args.target,
        schemes: args.scheme,
        variants: args.variant,
        clocks_hz: args.clock,
        supplies_v: args.supply,
        bytes: args.bytes,
        cycles: args.cycles.map(|cycles| cycles as f64),
        energy_j: args.energy,
        latency_s: args.latency,
        security_bits: args.security,
        rate_hz: args.rate,
        flash_bytes: args.flash,
        ram_bytes: args.ram,
        life_s: args.life,
        battery: args.battery,
        capacitor: args.capacitor,
        panel: args.panel,
        overhead_j: args.overhead,
        radio: args.radio,
        harvest: args.harvest,
        sun: args.sun,
    };
    let found = plan::run(&workspace, &request, &output::Bar::new())?;
    let left_out = match found.left_out.as_slice() {
        [] => String::new(),
        targets => format!("left out, because their files have no current asleep: {}", targets.join(", ")),
    };
    if found.outcome.points.is_empty() {
        return Err(LabError::Impossible(plan::impossible(&found)));
    }
    if let Some(path) = args.plot {
        let text = if is(&path, "svg") { plan::picture(&found)? } else { plan::page(&found)? };
        std::fs::write(&path, text).map_err(|error| LabError::File { path, error })?;
    }
    Ok(Answer {
        data: plan::table(&found, args.format, args.all, args.wide)?,
        remark: lines([remark, left_out]),
        success: true,
    })
}
