//! `bench`: what each operation costs on each target, every output verified.

use crate::LabError;
use crate::harness::OperationRun;
use crate::operations::{Catalogue, Operation, VARIANTS};
use crate::origin::Provenance;
use crate::pipeline;
use crate::progress::{Progress, go_on};
use crate::rank::Rank;
use crate::reference::aes_modes::check_length;
use crate::reference::random_case;
use crate::repetition::Repetition;
use crate::report::{Arrangement, Pair};
use crate::result_cache::{self, Content, Samples};
use crate::row::{BenchRow, Cycles};
use crate::selection::{Choice, Selection, Tables};
use crate::target::{OperatingPoint, Target};
use crate::workspace::Workspace;
use firmware::Build;
use firmware::Firmware;
use firmware::symbols::Footprint;
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Cycles after which one operation counts as endless, where nobody says otherwise.
pub const MAX_CYCLES: u64 = 4_000_000_000;

/// Parameters of a bench.
#[derive(Clone, Debug)]
pub struct Request {
    pub choice: Choice,
    /// Message bytes; each operation's own default where absent.
    pub bytes: Option<u16>,
    /// Random inputs for each row.
    pub runs: Repetition,
    /// Core clock in Hz; each target's default where absent.
    pub clock_hz: Option<u64>,
    /// Supply in volts; each target's default where absent.
    pub supply_v: Option<f64>,
    /// Cycles after which one operation counts as endless.
    pub max_cycles: u64,
    /// Seed of the random inputs.
    pub seed: u64,
    /// Each run starts right after start-up, with cold caches and prefetch buffers; otherwise one
    /// run that does not count goes before the others.
    pub cold: bool,
    /// Use of earlier measurements of the same firmware.
    pub earlier: Earlier,
}

/// Use of earlier measurements of the same firmware under the same request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Earlier {
    /// They are taken, and new ones are kept.
    Taken,
    /// They are measured anew and replaced.
    Replaced,
    /// They are neither taken nor kept.
    Ignored,
}

/// Number of rows that a bench gave.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub rows: usize,
    /// Of them, those of an earlier measurement.
    pub earlier: usize,
    /// Of them, those with a wrong output.
    pub wrong: usize,
}

/// A bench whose rows are known, none of them measured yet.
pub struct Schedule<'a> {
    workspace: &'a Workspace,
    request: &'a Request,
    targets: Vec<(Target, OperatingPoint)>,
    /// In the order in which the rows need them.
    builds: Vec<Wanted>,
    /// In the order of a reader: which build, and what of it.
    rows: Vec<(usize, Operation)>,
}

/// The programs of one target and variant.
struct Wanted {
    target: usize,
    variant: &'static str,
    operations: Vec<String>,
}

/// The same, built.
struct Built {
    build: Build,
    empty: Footprint,
    provenance: Provenance,
    /// Of all that decides its rows but the operation, where rows are kept.
    content: Option<Content>,
}

/// Builds and measures all that is asked for, on all processors of the host.
///
/// # Errors
/// The first error: an unknown name, a refused operating point, a build or a model that failed. A
/// wrong output is no error but a row that is not `verified`.
pub fn run(
    workspace: &Workspace,
    request: &Request,
    progress: &dyn Progress,
) -> Result<Vec<BenchRow>, LabError> {
    let mut rows = Vec::new();
    schedule(workspace, request)?.run(progress, |row| {
        rows.push(row);
        ControlFlow::Continue(())
    })?;
    Ok(rows)
}

/// Finds the rows that are asked for.
///
/// # Errors
/// An unknown name, an operating point that a data sheet refuses, or nothing that is asked for.
pub fn schedule<'a>(workspace: &'a Workspace, request: &'a Request) -> Result<Schedule<'a>, LabError> {
    if request.runs == Repetition::Exactly(0) {
        return Err(LabError::Usage("--runs must be at least 1".into()));
    }
    let catalogue = Catalogue::read(workspace)?;
    let order = catalogue.names();
    let selection = Selection::new(workspace, &request.choice, &catalogue)?;
    let targets = workspace.targets_with_operations(selection.targets())?;
    workspace.calibration_is_of(targets.iter().map(Target::name))?;
    let mut schedule =
        Schedule { workspace, request, targets: Vec::new(), builds: Vec::new(), rows: Vec::new() };
    for target in targets {
        let mut rows: Vec<(usize, Operation)> = Vec::new();
        for variant in VARIANTS {
            let mut operations = catalogue.built_as(&target, variant)?;
            operations.retain(|operation| selection.has(&operation.name, variant));
            if operations.is_empty() {
                continue;
            }
            for operation in operations.iter().filter(|operation| operation.any_length) {
                check_length(operation, usize::from(request.bytes.unwrap_or(operation.bytes)))?;
            }
            let names = operations.iter().map(|operation| operation.name.clone()).collect();
            rows.extend(operations.into_iter().map(|operation| (schedule.builds.len(), operation)));
            schedule.builds.push(Wanted { target: schedule.targets.len(), variant, operations: names });
        }
        if rows.is_empty() {
            continue;
        }
        let point = target.operating_point(request.clock_hz, request.supply_v)?;
        let mut target = target;
        target.set_supply(request.supply_v)?;
        schedule.targets.push((target, point));
        // Builds are in the order of variants.
        rows.sort_by_key(|(build, operation)| {
            (order.iter().position(|known| *known == operation.name), *build)
        });
        schedule.rows.extend(rows);
    }
    if schedule.rows.is_empty() {
        return Err(LabError::Usage(
            "no target has such an operation in such a variant; without --op or --variant, bench shows what it has"
                .into(),
        ));
    }
    Ok(schedule)
}

impl Schedule<'_> {
    /// Returns the arrangement of the rows in tables: ranked or as a pair where that is asked for,
    /// else the one of fewer tables.
    ///
    /// # Errors
    /// [`Tables::read`]'s.
    pub fn arrangement(&self, by: Option<Rank>, pair: Option<Pair>) -> Result<Arrangement, LabError> {
        let operations: BTreeSet<&str> = self.names().map(|(operation, _)| operation).collect();
        Ok(match (by, pair) {
            (Some(by), _) => Arrangement::Operations(Some(by)),
            (None, Some(pair)) => Arrangement::Pair(pair),
            _ if self.request.choice == Choice::Tables => Arrangement::Summary(Tables::read(self.workspace)?),
            _ if self.targets.len() > operations.len() => Arrangement::Operations(None),
            _ => Arrangement::Targets,
        })
    }

    /// Operation and variant of each row.
    pub fn names(&self) -> impl Iterator<Item = (&str, &str)> {
        self.rows.iter().map(|(build, operation)| (operation.name.as_str(), self.builds[*build].variant))
    }

    /// Builds, measures, and hands each row on as it is measured, until no more are wanted. Rows
    /// come by target, then by operation, then by variant.
    ///
    /// # Errors
    /// A build or a model that failed.
    pub fn run(
        &self,
        progress: &dyn Progress,
        mut take: impl FnMut(BenchRow) -> ControlFlow<()>,
    ) -> Result<Count, LabError> {
        let program = match self.request.earlier {
            Earlier::Ignored => None,
            Earlier::Taken | Earlier::Replaced => Some(Content::of_this_program()?),
        };
        let (total, begun) = (self.rows.len(), AtomicUsize::new(0));
        let builds: Vec<usize> = self.rows.iter().map(|(build, _)| *build).collect();
        let mut count = Count::default();
        pipeline::run(
            self.builds.len(),
            &builds,
            |build| {
                go_on(progress)?;
                let Wanted { target, variant, .. } = &self.builds[build];
                let what = format!("building {} {variant}", self.targets[*target].0.name());
                progress.report(begun.load(Ordering::Relaxed), total, &what);
                self.build(&self.builds[build], program.clone())
            },
            |row, built| {
                go_on(progress)?;
                let (build, operation) = &self.rows[row];
                let Wanted { target, variant, .. } = &self.builds[*build];
                let what = format!("{} {} {variant}", self.targets[*target].0.name(), operation.name);
                progress.report(begun.fetch_add(1, Ordering::Relaxed), total, &what);
                self.row(&self.builds[*build], operation, built)
            },
            |(row, earlier)| {
                count.rows += 1;
                count.earlier += usize::from(earlier);
                count.wrong += usize::from(!row.verified);
                take(row)
            },
        )?;
        progress.report(total, total, "");
        Ok(count)
    }

    fn build(&self, wanted: &Wanted, content: Option<Content>) -> Result<Built, LabError> {
        let (target, point) = &self.targets[wanted.target];
        let names: Vec<&str> = wanted.operations.iter().map(String::as_str).collect();
        let source = self.workspace.source(target, point)?;
        let build = firmware::build(&source, wanted.variant, &names)?;
        let compiler = Some(firmware::compiler_version(&source)?);
        let provenance =
            Provenance::new(self.workspace.origin(), &target.text, compiler, Some(self.request.seed));
        let image = build.image(firmware::EMPTY);
        let empty = Firmware::read(&image, target.part.core)?.footprint();
        let content = content.map(|mut content| {
            content.bytes(target.text.as_bytes());
            content.image(&image)?;
            Ok::<_, LabError>(content)
        });
        Ok(Built { build, empty, provenance, content: content.transpose()? })
    }

    /// A row, and whether it is of an earlier measurement.
    fn row(
        &self,
        wanted: &Wanted,
        operation: &Operation,
        built: &Built,
    ) -> Result<(BenchRow, bool), LabError> {
        let (target, point) = &self.targets[wanted.target];
        let bytes = self.request.bytes.filter(|_| operation.any_length).unwrap_or(operation.bytes);
        let row = |samples: Samples, verified| {
            let cycles = Cycles::of(&samples.cycles);
            let time_s = cycles.mean * target.seconds_per_cycle(point);
            let (clock_hz, fetch) = (point.clock_hz as f64, target.fetch_at(samples.address));
            let current_a = target.supply.current_at(clock_hz, point.supply_v, fetch);
            let power_w = current_a.map_or(point.power_w, |current_a| current_a * point.supply_v);
            BenchRow {
                target: target.name().into(),
                op: operation.name.clone(),
                variant: wanted.variant.into(),
                bytes,
                clock_hz: point.clock_hz,
                supply_v: point.supply_v,
                runs: u32::try_from(samples.cycles.len()).unwrap_or(u32::MAX),
                cycles,
                accuracy: target.accuracy_of_computation(samples.address, point).clone(),
                time_s,
                power_w,
                energy_j: power_w * time_s,
                energy_accuracy: target.energy_accuracy_at(clock_hz),
                memory: target.supply.memory_of(fetch).into(),
                flash_bytes: samples.flash_bytes,
                ram_bytes: samples.ram_bytes,
                stack_bytes: samples.stack_bytes,
                verified,
                provenance: built.provenance.clone(),
            }
        };
        let cached =
            built.content.as_ref().map(|content| self.cache_path(content, point, operation, bytes, built));
        let cached = cached.transpose()?;
        if let Some(path) = cached.as_deref().filter(|_| self.request.earlier == Earlier::Taken)
            && let Some(samples) = result_cache::read(path)
        {
            return Ok((row(samples, true), true));
        }
        let (samples, verified) = self.measure(target, point, operation, bytes, built)?;
        if let Some(path) = cached.as_deref().filter(|_| verified) {
            result_cache::keep(path, &samples);
        }
        Ok((row(samples, verified), false))
    }

    /// Returns the path of a row's samples in the cache. It is named by the content of this
    /// program, the target's file and the programs with the operation and without any, and by the
    /// request. The supply is excepted: no cycle depends on it.
    fn cache_path(
        &self,
        content: &Content,
        point: &OperatingPoint,
        operation: &Operation,
        bytes: u16,
        built: &Built,
    ) -> Result<PathBuf, LabError> {
        let Request { runs, max_cycles, seed, cold, .. } = self.request;
        let mut content = content.clone();
        content.image(&built.build.image(&operation.name))?;
        let asked = (operation, bytes, point.clock_hz, runs, max_cycles, seed, cold);
        content.bytes(format!("{asked:?}").as_bytes());
        let name = content.name();
        Ok(self
            .workspace
            .figures_cache()?
            .join("bench")
            .join(&name[..2])
            .join(format!("{}.json", &name[2..])))
    }

    /// Returns the samples of an operation's runs, and whether every output was right.
    fn measure(
        &self,
        target: &Target,
        point: &OperatingPoint,
        operation: &Operation,
        bytes: u16,
        built: &Built,
    ) -> Result<(Samples, bool), LabError> {
        let Request { runs, max_cycles, seed, cold, .. } = *self.request;
        let firmware = Firmware::read(&built.build.image(&operation.name), target.part.core)?;
        let mut bench = OperationRun::start(target, &firmware, operation, point.clock_hz, max_cycles)?;
        if operation.any_length && u32::from(bytes) > bench.capacity()? {
            return Err(LabError::Usage(format!(
                "--bytes {bytes} is too long for {}: its bench firmware has room for {}",
                target.name(),
                bench.capacity()?
            )));
        }
        // The inputs of a run depend on the seed and on how many there were before it, and not on
        // how many follow.
        let mut rng = StdRng::seed_from_u64(seed);
        let started = bench.fork();
        if !cold {
            bench.measure(&random_case(operation, usize::from(bytes), &mut rng)?)?;
        }
        let (mut cycles, mut stack_bytes, mut verified) = (Vec::new(), 0, true);
        while !runs.is_met(&cycles) {
            if cold {
                bench.rewind(&started);
            }
            let measurement = bench.measure(&random_case(operation, usize::from(bytes), &mut rng)?)?;
            cycles.push(measurement.cycles);
            stack_bytes = stack_bytes.max(measurement.stack);
            verified &= measurement.verified;
        }
        let footprint = firmware.footprint();
        let flash_bytes = footprint.flash - built.empty.flash;
        let ram_bytes = footprint.ram - built.empty.ram;
        let address = firmware.functions()[firmware.function(&operation.measure)?].address;
        Ok((Samples { cycles, stack_bytes, flash_bytes, ram_bytes, address }, verified))
    }
}
