//! How a measurement ends.

use super::{MeasureRow, Recording, Request, Watcher};
use crate::loaded::advice_on;
use crate::target::Target;
use crate::{LabError, rtt};
use mcu::{ControlTransfers, Mcu, Observer, Stop, Until};
use std::sync::atomic::{AtomicBool, Ordering};

/// Cycles between two looks at whether enough calls have returned.
const LOOK_EVERY: u64 = 100_000;
/// The same, where nobody counts calls: a tenth of a second until an interruption is noticed.
const LOOK_SELDOM: u64 = 5_000_000;

/// How a run ended, and what makes that a failure.
pub(super) struct Ending {
    pub what: String,
    pub failure: Option<LabError>,
}

/// Runs until what is asked for has come about, or nothing more can come.
pub(super) fn go(
    machine: &mut dyn Mcu,
    watcher: &mut Watcher<'_, '_>,
    request: &Request,
    target: &Target,
    addresses: Vec<u32>,
    interrupted: &AtomicBool,
) -> Ending {
    let firmware = watcher.profiler.firmware();
    let ended = |what: String| Ending { what, failure: None };
    loop {
        watcher.send(machine);
        let look = match (&watcher.rtt, request.calls) {
            _ if watcher.input.is_some() => rtt::LOOK_EVERY,
            (Some(_), _) => rtt::LOOK_EVERY,
            (None, Some(_)) => LOOK_EVERY,
            (None, None) => LOOK_SELDOM,
        };
        let next_look = machine.cycles().saturating_add(look);
        let until = Until { cycles: Some(next_look.min(request.max_cycles)), addresses: addresses.clone() };
        let stop = match watcher.recorder {
            None => machine.run_observed(&until, &mut ControlTransfers::of(watcher)),
            Some(_) => machine.run_observed(&until, &mut Recording(watcher)),
        };
        watcher.fetch(machine);
        // The last instruction, and what it was: the next run begins anew.
        Recording(watcher).step(&machine.next_step());
        let enough = request.calls.is_some_and(|calls| watcher.profiler.calls().len() as u64 >= calls);
        let place = firmware.place(machine.pc());
        match stop {
            Err(fault @ mcu::Fault::Returned { .. }) => return ended(format!("{fault}{place}")),
            Err(fault) => {
                let what = format!("the model stopped{place}");
                let place = place + &advice_on(machine, &fault, target);
                let fault = LabError::Fault { target: target.name().into(), fault, place };
                return Ending { what, failure: Some(fault) };
            }
            Ok(_) if enough => return ended("the calls asked for have returned".into()),
            Ok(Stop::Address(_)) => return ended(format!("reached{place}")),
            Ok(Stop::Halted) => return ended(format!("the program ended{place}")),
            Ok(Stop::Breakpoint) => return ended(format!("breakpoint{place}")),
            Ok(Stop::Exit(code)) => return ended(format!("the program exited with {code}{place}")),
            Ok(Stop::PowerLost) => return ended(format!("the supply failed{place}")),
            Ok(Stop::Cycles) if machine.cycles() >= request.max_cycles => {
                let cycles = request.max_cycles;
                let failure = request.until.as_ref().map(|name| LabError::Endless {
                    what: format!("{} (last seen{place})", request.setup.elf.display()),
                    cycles,
                    hint: format!(" to {name}; raise --max-cycles or choose another symbol"),
                });
                let what =
                    format!("stopped after --max-cycles {cycles}{place}; raise it if that is too early");
                return Ending { what, failure };
            }
            Ok(Stop::Cycles) if interrupted.load(Ordering::Relaxed) => {
                let said = "interrupted; what was counted until then is in the rows".into();
                return Ending {
                    what: format!("interrupted{place}"),
                    failure: Some(LabError::Unfinished(said)),
                };
            }
            Ok(Stop::Cycles) => {}
        }
    }
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
