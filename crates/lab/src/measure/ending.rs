//! Ends of a measurement.

use super::bench_inputs::BenchInputs;
use super::{MeasureRow, Recording, Request, Watcher};
use crate::program::IN_VAIN;
use crate::target::Target;
use crate::user_firmware::advice_on;
use crate::{LabError, rtt};
use firmware::Firmware;
use mcu::{ControlTransfers, Mcu, Observer, Stop, Until};
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicBool, Ordering};

/// Cycles between two looks at whether enough calls have returned.
const LOOK_EVERY: u64 = 100_000;
/// The same, where nobody counts calls: a tenth of a second until an interruption is noticed.
const LOOK_SELDOM: u64 = 5_000_000;

/// By what a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The program did: by a loop to itself, by a sleep with its interrupts off, or by the return
    /// of its reset handler.
    Ended,
    /// The program sleeps, waits for an interrupt, and none can come.
    Asleep,
    /// The program did, with an exit code.
    Exited,
    /// The calls that were asked for have returned.
    Calls,
    /// The symbol of `--until` was reached.
    Reached,
    /// A breakpoint instruction was reached.
    Breakpoint,
    /// The most cycles that were allowed have gone by.
    MaxCycles,
    /// Somebody ended it.
    Interrupted,
    /// The model stopped.
    Fault,
    /// The supply became too low.
    PowerLost,
    /// It did not begin; there are no figures.
    NotBegun,
}

/// End of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ended {
    /// By what.
    pub how: How,
    /// The address of the instruction that comes next, or that failed, with its function and source
    /// line as far as the file tells.
    #[serde(rename = "where")]
    pub place: Option<String>,
    /// Reason for an end that is not as it should be; absent where it is. The figures are then only
    /// of a part of the run.
    pub why: Option<String>,
}

impl Ended {
    /// Of a run that did not begin.
    pub(crate) fn not_begun(why: &LabError) -> Ended {
        Ended { how: How::NotBegun, place: None, why: Some(why.to_string()) }
    }
}

/// The same, as columns of CSV.
#[derive(Serialize)]
pub(crate) struct EndedColumns<'a> {
    ended_how: Option<How>,
    ended_where: Option<&'a str>,
    ended_why: Option<&'a str>,
}

impl<'a> From<Option<&'a Ended>> for EndedColumns<'a> {
    fn from(ended: Option<&'a Ended>) -> EndedColumns<'a> {
        EndedColumns {
            ended_how: ended.map(|ended| ended.how),
            ended_where: ended.and_then(|ended| ended.place.as_deref()),
            ended_why: ended.and_then(|ended| ended.why.as_deref()),
        }
    }
}

/// End of a run, and the reason for which it is a failure.
pub(super) struct Ending {
    pub how: How,
    /// The instruction that comes next, or that failed.
    pub pc: u32,
    pub what: String,
    pub failure: Option<LabError>,
}

impl Ending {
    /// The place of the end, with its address.
    pub fn place(&self, firmware: &Firmware) -> String {
        format!("{:#x}{}", self.pc, firmware.place(self.pc))
    }
}

/// Runs until what is asked for has come about, or nothing more can come.
pub(super) fn go(
    machine: &mut dyn Mcu,
    watcher: &mut Watcher<'_, '_>,
    request: &Request,
    target: &Target,
    mut addresses: Vec<u32>,
    bench: Option<&BenchInputs<'_>>,
    interrupted: &AtomicBool,
) -> Ending {
    let mut waiting = bench;
    addresses.extend(bench.map(|bench| bench.ready));
    let firmware = watcher.profiler.firmware();
    loop {
        watcher.send(machine);
        let next_look = machine.cycles().saturating_add(look_every(watcher, request));
        let until = Until { cycles: Some(next_look.min(request.max_cycles)), addresses: addresses.clone() };
        let stop = match watcher.recorder {
            None => machine.run_observed(&until, &mut ControlTransfers::of(watcher)),
            Some(_) => machine.run_observed(&until, &mut Recording(watcher)),
        };
        watcher.fetch(machine);
        // The last instruction, and what it was: the next run begins anew.
        Recording(watcher).step(&machine.next_step());
        let enough = request.calls.is_some_and(|calls| watcher.profiler.calls().len() as u64 >= calls);
        let pc = machine.pc();
        let place = firmware.place(pc);
        let ended = |how, what: String| Ending { how, pc, what, failure: None };
        match stop {
            Err(fault @ mcu::Fault::Returned { .. }) => {
                return ended(How::Ended, format!("{fault}{place}"));
            }
            Err(fault) => {
                let what = format!("the model stopped{place}");
                let place = place + &advice_on(machine, &fault, target, firmware);
                let pc = fault.pc().unwrap_or(pc);
                let fault = LabError::Fault { target: target.name().into(), fault, place };
                return Ending { how: How::Fault, pc, what, failure: Some(fault) };
            }
            Ok(Stop::Address(address)) if waiting.is_some_and(|bench| bench.ready == address) => {
                let written = waiting.take().map_or(Ok(()), |bench| bench.write(machine));
                // Nobody asked for this address: it stops no more.
                addresses.pop();
                if let Err(failure) = written {
                    let what = format!("the inputs could not be written{place}");
                    return Ending { how: How::Fault, pc, what, failure: Some(failure) };
                }
                if addresses.contains(&address) {
                    return ended(How::Reached, format!("reached{place}"));
                }
            }
            Ok(_) if enough => return ended(How::Calls, "the calls asked for have returned".into()),
            Ok(Stop::Address(_)) => return ended(How::Reached, format!("reached{place}")),
            Ok(Stop::Halted) if machine.waits_in_vain() => {
                return ended(How::Asleep, format!("the program {IN_VAIN}{place}"));
            }
            Ok(Stop::Halted) => return ended(How::Ended, format!("the program ended{place}")),
            Ok(Stop::Breakpoint) => return ended(How::Breakpoint, format!("breakpoint{place}")),
            Ok(Stop::Exit(code)) => {
                return ended(How::Exited, format!("the program exited with {code}{place}"));
            }
            Ok(Stop::PowerLost) => {
                let said = format!("the supply is too low for the part{place}");
                let failure = Some(LabError::Unfinished(said));
                return Ending { failure, ..ended(How::PowerLost, format!("the supply failed{place}")) };
            }
            Ok(Stop::Cycles) if machine.cycles() >= request.max_cycles => {
                return out_of_cycles(request, pc, &place);
            }
            Ok(Stop::Cycles) if interrupted.load(Ordering::Relaxed) => {
                let said = "interrupted; what was counted until then is in the rows".into();
                let failure = Some(LabError::Unfinished(said));
                return Ending { failure, ..ended(How::Interrupted, format!("interrupted{place}")) };
            }
            Ok(Stop::Cycles) => {}
        }
    }
}

/// Cycles between two looks at what comes and goes.
fn look_every(watcher: &Watcher<'_, '_>, request: &Request) -> u64 {
    match (&watcher.rtt, request.calls) {
        _ if watcher.input.is_some() => rtt::LOOK_EVERY,
        (Some(_), _) => rtt::LOOK_EVERY,
        (None, Some(_)) => LOOK_EVERY,
        (None, None) => LOOK_SELDOM,
    }
}

fn out_of_cycles(request: &Request, pc: u32, place: &str) -> Ending {
    let cycles = request.max_cycles;
    let failure = request.until.as_ref().map(|name| LabError::Endless {
        what: format!("{} (last seen{place})", request.setup.elf.display()),
        cycles,
        hint: format!(" to {name}; raise --max-cycles or choose another symbol"),
    });
    let what = format!("stopped after --max-cycles {cycles}{place}; raise it if that is too early");
    Ending { how: How::MaxCycles, pc, what, failure }
}

/// The functions asked for of which there is no call, or not as many as were asked for.
pub(super) fn missing_calls(
    request: &Request,
    watcher: &Watcher<'_, '_>,
    watched: &[usize],
    rows: &[MeasureRow],
    cycles: u64,
) -> Option<LabError> {
    let open = watcher.profiler.open_calls();
    let is_called = |function: usize| {
        watcher.profiler.totals()[function].calls > 0
            || open.iter().any(|call| call.whole && call.function == function)
    };
    let named = watched.iter().zip(&request.functions);
    let never: Vec<&str> =
        named.filter(|(function, _)| !is_called(**function)).map(|(_, name)| name.as_str()).collect();
    if !never.is_empty() {
        return Some(LabError::Unfinished(format!(
            "{} was not called within {cycles} cycles; raise --max-cycles, or look at the functions that were (without --function)",
            never.join(", ")
        )));
    }
    let seen = rows.iter().filter(|row| row.kind == "call").count() as u64;
    let wanted = request.calls.filter(|wanted| seen < *wanted)?;
    Some(LabError::Unfinished(format!(
        "{seen} of the {wanted} calls asked for came about within {cycles} cycles; how the run ended is said above"
    )))
}

/// The pin or the marker of which there is no interval.
pub(super) fn missing_region(request: &Request, watcher: &Watcher<'_, '_>, cycles: u64) -> Option<LabError> {
    let timer = &watcher.region.as_ref()?.timer;
    if !timer.finished().is_empty() {
        return None;
    }
    let is_open = timer.opened().is_some();
    Some(LabError::Unfinished(match (&request.pin, &request.marker) {
        (Some(pin), _) if is_open => format!("{pin} rose, but did not fall within {cycles} cycles"),
        (Some(pin), _) => format!("{pin} did not rise within {cycles} cycles; is it an output by then?"),
        (None, marker) => {
            let marker = marker.as_deref().unwrap_or_default();
            let times = if is_open {
                "written only once, and a region is from one write to the next"
            } else {
                "not written"
            };
            format!(
                "{marker} was {times}, within {cycles} cycles; raise --max-cycles or choose another marker"
            )
        }
    }))
}
