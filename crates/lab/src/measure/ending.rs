//! How a measurement ends.

use super::{MeasureRow, Request, Watcher};
use crate::LabError;
use crate::target::Target;
use mcu::{Mcu, Stop, Until};
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
        let look = if request.calls.is_some() { LOOK_EVERY } else { LOOK_SELDOM };
        let next_look = machine.cycles().saturating_add(look);
        let until = Until { cycles: Some(next_look.min(request.max_cycles)), addresses: addresses.clone() };
        let stop = machine.run_observed(&until, watcher);
        // The last instruction, and what it was: the next run begins anew.
        watcher.profiler.step(&machine.next_step());
        let enough = request.calls.is_some_and(|calls| watcher.profiler.calls().len() as u64 >= calls);
        let place = firmware.place(machine.pc());
        match stop {
            Err(fault @ mcu::Fault::Returned { .. }) => return ended(format!("{fault}{place}")),
            Err(fault) => {
                let what = format!("the model stopped{place}");
                let place = place + &advice(&fault, target);
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
                    what: format!("{} (last seen{place})", request.elf.display()),
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

/// What helps over a fault, as the end of its sentence.
fn advice(fault: &mcu::Fault, target: &Target) -> String {
    let gives = "registers that remember what is written, which lets a program go on that only passes by";
    match fault {
        mcu::Fault::Unmapped { kind: "fetch", .. } => String::new(),
        mcu::Fault::Unmapped { address, .. } => match target.part.unmodelled_at(*address) {
            Some(block) => {
                let name = &block.name;
                format!("; this is a register of {name}, which has no model: --stub {name} gives it {gives}")
            }
            None => {
                // Of a 32-bit part a block of 1 kB, else a few registers; what has a model in it keeps it.
                let within = if *address >= 0x4000_0000 { 0x3ff } else { 0xf };
                let (first, last) = (address & !within, address | within);
                format!("; if there are registers, --stub {first:#010x}-{last:#010x} gives {gives}")
            }
        },
        mcu::Fault::Peripheral { device, .. }
            if target.part.peripherals.iter().any(|spec| spec.name == *device) =>
        {
            format!("; --stub {device} gives {gives}, in place of its model")
        }
        _ => String::new(),
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
