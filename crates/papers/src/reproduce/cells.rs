//! The figures of a cell.

use super::PaperRow;
use super::deliveries;
use super::quantile::quantile;
use super::runs::{self, Measured, Sample, Subject};
use crate::modules::Cost;
use crate::paper::{Column, FigureKind, Line, Over, Paper, Part, Table, What, Within};
use energy::instrument::{Reading, Waveform};
use energy::radio::Transmission;
use energy::sizing;
use lab::LabError;
use lab::accuracy::Bound;
use lab::delivery;
use lab::energy_accuracy::{EnergyAccuracy, ProgramCurrent};

/// Steps of [`What::LeastClock`], in Hz.
const CLOCK_STEP_HZ: f64 = 100e3;

/// Note of a cell without a figure in an interrupted run.
const INTERRUPTED: &str = "Not measured: the run was interrupted.";

/// A cell with what was published and what was measured, or why nothing could be.
pub(super) fn cell(paper: &Paper, table: &Table, line: &Line, column: &Column, all: &Measured) -> PaperRow {
    let is_empty = line.without.contains(&column.name);
    let published = table
        .published_column(column)
        .and_then(|index| line.published.get(index))
        .copied()
        .filter(|figure| !figure.is_nan() && !is_empty);
    let corroboration = line.corroboration.get(&column.name);
    let source = corroboration.and_then(|figure| paper.sources.get(&figure.source));
    let mut notes: Vec<String> = [&table.note, &column.note, &line.note]
        .into_iter()
        .chain(line.notes.get(&column.name))
        .chain(source)
        .filter(|note| !note.is_empty())
        .cloned()
        .collect();
    let figure = figure_of(paper, line, column, all).unwrap_or_else(|why_not| {
        notes.push(why_not);
        None
    });
    notes.extend(program_note(paper, line, column, all));
    if figure.is_none() && is_missing(paper, line, column, all) {
        notes.push(INTERRUPTED.into());
    }
    let whole = scale(&column.unit) * column.share_of.unwrap_or(1.0);
    let quoted = line.quoted.get(&column.name).copied();
    let measured = quoted.or(figure.map(|figure| figure / whole));
    let (kind, accuracy) = match measured {
        None => (None, None),
        Some(_) if quoted.is_some() => (Some(FigureKind::Quoted), None),
        Some(_) if line.delivery.is_some() => (column.what.map(What::kind), None),
        Some(_) => Figures::of(paper, line, column, None, all)
            .ok()
            .flatten()
            .map_or((None, None), |figures| (Some(figures.kind()), figures.bound())),
    };
    if kind == Some(FigureKind::Native) {
        notes.extend(all.native.values().next().map(|times| times.machine.clone()));
    }
    let reproduces = kind.is_some_and(FigureKind::reproduces);
    let compiler = match all.subject(paper, line, column, None) {
        _ if line.delivery.is_some() => all.compilers_of(all.delivery_targets.iter()),
        Ok(Some(subject)) => all.compilers_of(subject.runs.iter().map(runs::Run::target)),
        _ => None,
    };
    let seed = if line.delivery.is_some() { delivery::SEED } else { runs::SEED };
    PaperRow {
        paper: paper.id.clone(),
        table: table.name.clone(),
        row: line.name.clone(),
        column: column.name.clone(),
        unit: column.unit.clone(),
        published,
        corroboration: corroboration.map(|figure| figure.value),
        corroboration_source: source.cloned(),
        measured,
        ratio: ratio(measured, published),
        kind,
        accuracy,
        seed: reproduces.then_some(seed),
        note: notes.join(" "),
        notes,
        is_cost: line.over.is_none() && column.unit != "%" && column.what.is_some_and(is_cost),
        compares: table.compares(line, column),
        compiler: compiler.filter(|_| reproduces),
        version: all.origin.version.clone(),
        commit: all.origin.commit.as_str().to_owned(),
    }
}

/// The note on a cell of power about what runs; nothing for other figures.
fn program_note(paper: &Paper, line: &Line, column: &Column, all: &Measured) -> Option<String> {
    let is_power = matches!(column.what, Some(What::Power | What::LeastPower | What::MostPower));
    let figures = is_power.then(|| Figures::of(paper, line, column, None, all).ok().flatten()).flatten()?;
    let target = figures.subject.target.name();
    Some(match figures.energy_accuracy().program_range() {
        Some(range) => format!("{target}: one current for all programs; {range}."),
        None => format!("{target}: one current for all programs."),
    })
}

/// The figure of a cell in SI units, or the sentence why there cannot be one.
fn figure_of(paper: &Paper, line: &Line, column: &Column, all: &Measured) -> Result<Option<f64>, String> {
    if line.without.contains(&column.name) {
        return Ok(None);
    }
    if line.delivery.is_some() {
        return Ok(match column.what {
            Some(what) if what.is_native() => deliveries::native_figure(&all.native, line, what),
            what => deliveries::figure(&all.delivered, line, what),
        });
    }
    let of = |over| match Figures::of(paper, line, column, over, all)? {
        Some(figures) => figures.figure(),
        None => Ok(None),
    };
    let figure = of(None)?;
    match &line.over {
        None => Ok(figure),
        Some(over) => Ok(figure.zip(of(Some(over))?).map(|(figure, over)| figure / over)),
    }
}

/// True if a cell is about a run that an interruption has left out.
fn is_missing(paper: &Paper, line: &Line, column: &Column, all: &Measured) -> bool {
    let has_own = line.without.contains(&column.name) || line.quoted.contains_key(&column.name);
    all.is_interrupted && !has_own && (line.delivery.is_some() || all.lacks_run(paper, line, column))
}

/// Returns true for a figure of which less is better.
fn is_cost(what: What) -> bool {
    !matches!(
        what,
        What::Deviation
            | What::Error
            | What::EnergyDeviation
            | What::EnergyError
            | What::ScopeDeviation
            | What::ScopeError
            | What::LeastClock
            | What::AirShare
            | What::MeterPart
            | What::MeterShunt
            | What::MeterError
            | What::MeterSaturated
            | What::MeterSupply
            | What::Voltage
            | What::Output
            | What::Executions
            | What::Copies
            | What::PreparingDeviation
            | What::UnpackingDeviation
            | What::RoundTripDeviation
            | What::NativeDeviation
            | What::DarkTime
            | What::Throughput
    )
}

/// Measured over published, where there are both and the latter is not nothing.
fn ratio(measured: Option<f64>, published: Option<f64>) -> Option<f64> {
    let (measured, published) = measured.zip(published).filter(|(_, published)| *published != 0.0)?;
    Some(measured / published)
}

/// Returns a column's unit in SI units.
fn scale(unit: &str) -> f64 {
    match unit {
        "MHz" => 1e6,
        "kB" => 1e3,
        "KiB" => 1024.0,
        "%" => 1e-2,
        "ms" | "mJ" | "mW" => 1e-3,
        "µs" | "µJ" | "µW" => 1e-6,
        "h" => 3600.0,
        _ => 1.0,
    }
}

/// All that the figure of a cell follows from.
struct Figures<'a> {
    paper: &'a Paper,
    line: &'a Line,
    column: &'a Column,
    measured: &'a Measured,
    subject: Subject<'a>,
    /// One of each of the subject's runs.
    samples: Vec<&'a Sample>,
}

impl<'a> Figures<'a> {
    /// Nothing where the cell is about no run, or about one that went wrong.
    fn of(
        paper: &'a Paper,
        line: &'a Line,
        column: &'a Column,
        over: Option<&Over>,
        measured: &'a Measured,
    ) -> Result<Option<Figures<'a>>, String> {
        let subject = measured.subject(paper, line, column, over).map_err(|error| format!("{error}."))?;
        Ok(subject.and_then(|subject| {
            let samples = measured.samples(&subject.runs)?;
            Some(Figures { paper, line, column, measured, subject, samples })
        }))
    }

    /// The kind of number that the figure is.
    fn kind(&self) -> FigureKind {
        let kind = self.column.what.map_or(FigureKind::Quoted, What::kind);
        // Of the same runs at another supply, the counts cancel.
        let cancels = |over: &Over| over.variant.is_none() && over.ops.is_empty();
        if kind == FigureKind::Quoted
            || self.line.sent_bytes.is_some() && self.column.what == Some(What::Output)
        {
            return FigureKind::Quoted;
        }
        if self.column.theirs || self.line.over.as_ref().is_some_and(cancels) {
            return FigureKind::Derived;
        }
        let by_energy = matches!(self.line.within, Some(Within::EnergyJ(_)));
        match self.column.what {
            Some(What::LeastClock) if by_energy => FigureKind::Modelled,
            Some(What::Packets) if self.line.sent_bytes.is_some() => FigureKind::Derived,
            _ => kind,
        }
    }

    /// The bound of the cycles behind a figure; none if no count of ours is behind it.
    fn bound(&self) -> Option<Bound> {
        let Subject { target, point, .. } = &self.subject;
        let counts = !matches!(
            self.column.what,
            Some(
                What::Flash
                    | What::Ram
                    | What::Output
                    | What::Packets
                    | What::AirEnergy
                    | What::RadioEnergy
                    | What::Copies
                    | What::Executions
            )
        );
        let address = self.samples.first()?.address;
        (counts && self.kind().reproduces()).then(|| target.accuracy_of_computation(address, point).cycles)
    }

    /// The figure in SI units; nothing where the runs do not tell, or the sentence why there cannot
    /// be one.
    fn figure(&self) -> Result<Option<f64>, String> {
        let deviation_s = || deviation(&self.samples).map(|cycles| cycles * self.seconds_per_cycle());
        let error_s = || deviation_s().map(|deviation| deviation / f64::from(self.paper.runs).sqrt());
        let modules = &self.samples[0].modules;
        let copies = |name: &str, cost: &Cost| cost.copies(self.paper.module.get(name)?.executions);
        Ok(match self.column.what {
            Some(What::Cycles) => self.cycles(),
            Some(What::Time) => self.time_s(),
            Some(What::Deviation) => deviation_s(),
            Some(What::Error) => error_s(),
            Some(What::Power) => Some(self.power_w()),
            Some(what) if what.is_of_program() => self.of_program(what)?,
            Some(what @ (What::ScopePower | What::ScopeDeviation | What::ScopeError)) => self.read_w(what),
            Some(What::Energy) => self.energy_j(),
            Some(What::EnergyDeviation) => deviation_s().map(|deviation| deviation * self.power_w()),
            Some(What::EnergyError) => error_s().map(|error| error * self.power_w()),
            Some(What::LeastClock) => self.least_clock_hz(),
            Some(What::Output) => Some(f64::from(self.output())),
            Some(What::Packets) => self.send(self.output())?.map(|sent| f64::from(sent.packets)),
            Some(What::AirEnergy) => self.air_j()?,
            Some(What::RadioEnergy) => self.send(self.output())?.map(|sent| sent.energy_j),
            Some(What::TotalEnergy) => {
                self.energy_j().zip(self.air_j()?).map(|(energy_j, air_j)| energy_j + air_j)
            }
            Some(What::AirShare) => {
                self.energy_j().zip(self.air_j()?).map(|(energy_j, air_j)| air_j / energy_j)
            }
            Some(What::MeterEnergy) => self.reading()?.map(|reading| reading.energy_j),
            Some(What::MeterPart) => self.reading()?.map(|reading| reading.part_j),
            Some(What::MeterShunt) => self.reading()?.map(|reading| reading.shunt_j),
            Some(What::MeterError) => self.reading()?.map(|reading| reading.error()),
            Some(What::MeterSaturated) => {
                self.reading()?.map(|reading| reading.saturated as f64 / reading.samples as f64)
            }
            Some(What::MeterSupply) => self.reading()?.map(|reading| reading.lowest_v),
            Some(What::Voltage) => {
                let energies = self.energy_j().zip(self.air_j()?).zip(self.line.capacitance_f);
                energies.map(|((compute_j, air_j), capacitance_f)| {
                    sizing::required_v(compute_j, air_j, sizing::HARVESTER_OVERHEAD_J, capacitance_f)
                })
            }
            Some(What::SourcePower) => self.source_w()?,
            Some(What::DarkTime) => {
                let store = self.line.capacitance_f.zip(self.line.full_v);
                let stored_j = store.map(|(farads, volts)| sizing::stored_j(farads, volts));
                stored_j.zip(self.source_w()?).map(|(stored_j, mean_w)| stored_j / mean_w)
            }
            Some(What::Throughput) => {
                let air_s = self.send(self.output())?.map(|sent| sent.time_s);
                self.time_s().zip(air_s).map(|(time_s, air_s)| 1.0 / (time_s + air_s))
            }
            Some(What::LeastTime) => self.time_quantile_s(0.0),
            Some(What::LowerQuartile) => self.time_quantile_s(0.25),
            Some(What::Median) => self.time_quantile_s(0.5),
            Some(What::UpperQuartile) => self.time_quantile_s(0.75),
            Some(What::MostTime) => self.time_quantile_s(1.0),
            Some(What::Ram) => self.samples.iter().map(|sample| sample.ram).max().map(|bytes| bytes as f64),
            Some(What::Flash) => match &self.line.of {
                Part::Operation => Some(runs::flash(&self.samples) as f64),
                Part::Modules => {
                    let bytes: u32 = modules.values().map(|cost| cost.bytes).sum();
                    (bytes > 0).then_some(f64::from(bytes))
                }
                Part::Module(name) => {
                    modules.get(name).and_then(|cost| Some(f64::from(cost.bytes) / copies(name, cost)?))
                }
                _ => None,
            },
            Some(What::Executions) => match &self.line.of {
                Part::Module(name) => modules.get(name).map(|cost| f64::from(cost.entries)),
                _ => None,
            },
            Some(What::Copies) => match &self.line.of {
                Part::Module(name) => modules.get(name).and_then(|cost| copies(name, cost)),
                _ => None,
            },
            // Of a delivery, or native.
            _ => None,
        })
    }

    /// Of all runs one after the other, or those that the paper counted for them.
    fn cycles(&self) -> Option<f64> {
        if self.column.theirs {
            let counted = |run: &runs::Run| self.paper.cycles.get(run.variant())?.get(run.op()).copied();
            return self.subject.runs.iter().map(counted).sum();
        }
        self.samples.iter().map(|sample| self.cycles_of(sample)).sum()
    }

    /// Of the part of a run that the row is about.
    fn cycles_of(&self, sample: &Sample) -> Option<f64> {
        let modules: u64 = sample.modules.values().map(|cost| cost.cycles).sum();
        match &self.line.of {
            Part::Nothing => None,
            Part::Operation => Some(sample.cycles()),
            Part::Iteration => sample.rounds.map(|rounds| rounds.0),
            Part::LastIteration => sample.rounds.map(|rounds| rounds.1),
            Part::Others => (modules > 0).then_some(sample.cycles() - modules as f64),
            Part::Modules => (modules > 0).then_some(modules as f64),
            Part::Module(name) => {
                let executions = self.paper.module.get(name)?.executions;
                sample.modules.get(name).map(|cost| cost.cycles as f64 / f64::from(executions))
            }
        }
    }

    fn seconds_per_cycle(&self) -> f64 {
        self.subject.target.seconds_per_cycle(&self.subject.point)
    }

    fn time_s(&self) -> Option<f64> {
        Some(self.cycles()? * self.seconds_per_cycle())
    }

    /// The time that this share of the runs does not exceed.
    fn time_quantile_s(&self, share: f64) -> Option<f64> {
        let runs = self.samples.iter().map(|sample| sample.cycles.len()).min()?;
        let of_run = |run: usize| self.samples.iter().map(|sample| sample.cycles[run] as f64).sum();
        let cycles: Vec<f64> = (0..runs).map(of_run).collect();
        quantile(&cycles, share).map(|cycles| cycles * self.seconds_per_cycle())
    }

    /// Right side of (6.2): the node and its radio asleep, and a signature sent every `every_s`.
    fn source_w(&self) -> Result<Option<f64>, String> {
        let Subject { target, point, .. } = &self.subject;
        let radio_a = self.measured.radio.as_ref().and_then(|radio| radio.state_a("sleep").ok());
        let asleep_a = target.waiting_a(point.clock_hz as f64, point.supply_v).zip(radio_a);
        let sleep_w = asleep_a.map(|(target_a, radio_a)| (target_a + radio_a) * point.supply_v);
        let message_j = self.energy_j().zip(self.air_j()?).map(|(compute_j, air_j)| compute_j + air_j);
        let inputs = sleep_w.zip(message_j).zip(self.line.every_s);
        Ok(inputs.map(|((sleep_w, message_j), every_s)| sizing::mean_w(sleep_w, message_j, 1.0 / every_s)))
    }

    fn power_w(&self) -> f64 {
        self.current_a() * self.times_v()
    }

    fn current_a(&self) -> f64 {
        self.subject.point.power_w / self.subject.point.supply_v
    }

    /// A figure that depends on what runs.
    fn of_program(&self, what: What) -> Result<Option<f64>, String> {
        let accuracy = self.energy_accuracy();
        let program_w = |program: &ProgramCurrent| program.times * self.power_w();
        Ok(match what {
            What::LeastPower => accuracy.least_program().map(program_w),
            What::MostPower => accuracy.most_program().map(program_w),
            What::CacheMisses => self.misses_per_cycle()?,
            What::CachePower => self.cache_w()?,
            _ => self.cache_w()?.zip(self.time_s()).map(|(watts, time_s)| watts * time_s),
        })
    }

    /// The accuracy of the energies at the cell's clock, with the currents of published programs.
    fn energy_accuracy(&self) -> EnergyAccuracy {
        self.subject.target.energy_accuracy_at(self.subject.point.clock_hz as f64)
    }

    /// Misses of the part's read cache in a cycle: what the runs wait more at the wait states of
    /// the target's own clock than at the cell's, which must have none.
    fn misses_per_cycle(&self) -> Result<Option<f64>, String> {
        let refuse = |error: LabError| format!("{error}.");
        let Some((waiting, point)) = self.measured.waiting(&self.subject).map_err(refuse)? else {
            return Ok(None);
        };
        let samples = self.measured.samples(&waiting);
        let waited: Option<f64> =
            samples.and_then(|samples| samples.iter().map(|sample| self.cycles_of(sample)).sum());
        let own = self.cycles().filter(|_| self.subject.point.wait_states == 0);
        Ok(waited.zip(own).map(|(waited, own)| (waited - own) / f64::from(point.wait_states) / own))
    }

    /// Power by the misses of the part's read cache.
    fn cache_w(&self) -> Result<Option<f64>, String> {
        let (target, point) = (self.subject.target, &self.subject.point);
        let Some(cache) = &target.supply.cache else {
            return Err(format!("{}: no charges of cycles by its cache are known.", target.name()));
        };
        let current_a =
            self.misses_per_cycle()?.and_then(|misses| cache.current_a(point.clock_hz as f64, misses));
        Ok(current_a.map(|current_a| current_a * self.times_v()))
    }

    /// The volts by which a current is multiplied.
    fn times_v(&self) -> f64 {
        self.column.times_v.unwrap_or(self.subject.point.supply_v)
    }

    /// A figure of the paper's oscilloscope for the runs' current, as power.
    fn read_w(&self, what: What) -> Option<f64> {
        let scope = self.paper.oscilloscope.as_ref()?;
        let current_a = match what {
            What::ScopeDeviation => scope.deviation_a(),
            What::ScopeError => scope.deviation_a() / f64::from(self.paper.runs).sqrt(),
            _ => scope.read_a(self.current_a()),
        };
        Some(current_a * self.times_v())
    }

    fn energy_j(&self) -> Option<f64> {
        Some(self.time_s()? * self.power_w())
    }

    /// The lowest clock at the cell's supply that keeps to the row's budget.
    fn least_clock_hz(&self) -> Option<f64> {
        let Subject { target, point, .. } = &self.subject;
        let (cycles, within) = (self.cycles()?, self.line.within?);
        let kept = |clock_hz: f64| {
            let time_s = cycles * f64::from(target.part.clocks_per_cycle) / clock_hz;
            match within {
                Within::TimeS(limit_s) => time_s <= limit_s,
                Within::EnergyJ(limit_j) => {
                    let power_w = target.supply.power_w(clock_hz, point.supply_v);
                    power_w.is_ok_and(|power_w| power_w * time_s <= limit_j)
                }
            }
        };
        let steps = (target.supply.max_clock_hz(point.supply_v) / CLOCK_STEP_HZ) as u32;
        (1..=steps).map(|step| f64::from(step) * CLOCK_STEP_HZ).find(|&clock_hz| kept(clock_hz))
    }

    /// Bytes that the operations put out, or that are sent instead.
    fn output(&self) -> u32 {
        let bytes: usize = self.samples.iter().map(|sample| sample.output).sum();
        self.line.sent_bytes.unwrap_or(u32::try_from(bytes).unwrap_or(u32::MAX))
    }

    /// Sends `bytes` bytes over the paper's radio.
    fn send(&self, bytes: u32) -> Result<Option<Transmission>, String> {
        let radio = self.measured.radio.as_ref();
        radio
            .map(|radio| radio.send(bytes, self.subject.point.supply_v))
            .transpose()
            .map_err(|error| format!("{error}."))
    }

    /// As papers count: every packet filled, and the time on the air alone.
    fn air_j(&self) -> Result<Option<f64>, String> {
        let Some(sent) = self.send(self.output())? else { return Ok(None) };
        let largest = self.measured.radio.as_ref().map_or(0, |radio| radio.packet.largest_bytes);
        Ok(self.send(sent.packets * largest)?.map(|sent| sent.air_j))
    }

    /// Returns the reading of the paper's meter for the runs.
    fn reading(&self) -> Result<Option<Reading>, String> {
        let point = &self.subject.point;
        let clock_hz = point.clock_hz as f64;
        let meter = self.paper.meter.iter().find(|meter| clock_hz <= meter.max_hz);
        let (Some(meter), Some(time_s)) = (meter, self.time_s()) else { return Ok(None) };
        let current_a = point.power_w / point.supply_v;
        let waveform = Waveform::constant(point.supply_v, current_a, time_s);
        meter.instrument.read(&waveform, clock_hz).map(Some).map_err(|error| format!("{error}."))
    }
}

/// Standard deviation of the cycles of operations one after the other, as that of a population.
fn deviation(samples: &[&Sample]) -> Option<f64> {
    let runs = samples.iter().map(|sample| sample.cycles.len()).min().filter(|&runs| runs > 0)?;
    // Whole cycles, so that no rounding passes for a deviation.
    let totals: Vec<u64> =
        (0..runs).map(|run| samples.iter().map(|sample| sample.cycles[run]).sum()).collect();
    let mean = totals.iter().sum::<u64>() as f64 / runs as f64;
    let squares: f64 = totals.iter().map(|&total| (total as f64 - mean).powi(2)).sum();
    Some((squares / runs as f64).sqrt())
}
