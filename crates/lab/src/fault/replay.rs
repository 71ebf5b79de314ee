//! One fault, told step by step.

use super::campaign::{Campaign, Changed};
use super::change::{Change, Made};
use super::reference::{Step, ended};
use super::results::Outcome;
use super::{Model, Prepared, Request};
use crate::program::{self, Ending, Outside, Program};
use crate::traces::TraceFiles;
use crate::user_firmware::UserFirmware;
use crate::{LabError, debug};
use ::firmware::Firmware;
use mcu::{Mcu, Observer, Stop, Until};
use std::fmt::Write as _;
use std::net::TcpListener;

/// Instructions that are shown from where the way differs.
const SHOWN: usize = 8;
/// The most instructions that are compared.
const COMPARED_MAX: u64 = 200_000;

/// Runs the fault of an ID, and says what happens.
pub(super) fn replay(prepared: &Prepared, id: &str) -> Result<String, LabError> {
    let campaign = prepared.campaign(&[Model::Skip(1)]);
    let steps = &prepared.reference.steps;
    let (step, change) = named(&campaign, id)?;
    let firmware = &prepared.user.firmware;
    let mut changed = campaign.changed(step, change)?;
    let way =
        addresses_after(&mut *campaign.changed(step, change)?.machine, &prepared.markers.addresses, &changed);
    let (outcome, end) = campaign.judge(&mut changed);
    let mut text = format!("fault {id}, at instruction {step} of the window\n");
    for pc in campaign.space.layout.concerned(&*prepared.reference.start(), steps[step].pc, change) {
        let _ = writeln!(text, "  {}", instruction(firmware, pc));
    }
    let _ = writeln!(text, "outcome: {}", outcome.name());
    let Some(end) = end else {
        text.push_str("the fault changes nothing: the bit or register is so already\n");
        return Ok(text);
    };
    let after = match (&end.met, &end.stop) {
        (Some(met), _) => format!("met {}", prepared.markers.name(*met)),
        (None, Err(fault)) => format!("stopped: {fault}"),
        (None, Ok(stop)) => ended(*stop, prepared.hang_cycles),
    };
    let cycles = end.cycles.saturating_sub(steps[step].cycles);
    let _ = writeln!(text, "it {after}, {cycles} cycles after the fault{}", firmware.place(end.pc));
    if outcome != Outcome::NoEffect {
        text += &difference(firmware, &way, &steps[step..]);
    }
    for (port, sent) in changed.sent.text() {
        let _ = writeln!(text, "sent by {port}: {sent:?}");
    }
    Ok(text)
}

/// The fault of an ID.
fn named(campaign: &Campaign<'_>, id: &str) -> Result<(usize, Change), LabError> {
    campaign.space.named(id).ok_or_else(|| {
        LabError::Usage(format!(
            "there is no fault '{id}' in the window of {} instructions: an ID is a row's example, such as 12:skip or 12:r3.5",
            campaign.space.reference.steps.len()
        ))
    })
}

/// Makes the fault of an ID, and hands the program over to a gdb. Returns how it ended.
pub(super) fn debug(
    prepared: &Prepared,
    request: &Request,
    (id, listener): (&str, &TcpListener),
    outside: Outside<'_>,
) -> Result<String, LabError> {
    let campaign = prepared.campaign(&[Model::Skip(1)]);
    let (step, change) = named(&campaign, id)?;
    let Changed { machine, .. } = campaign.changed(step, change)?;
    let run = program::Request {
        setup: request.setup.clone(),
        ports: Vec::new(),
        uart: None,
        exit: request.exit.clone(),
        ends_asleep: true,
        is_paced: false,
        max_cycles: None,
        max_time_s: None,
        traces: TraceFiles::default(),
        arguments: Vec::new(),
    };
    let UserFirmware { target, firmware, .. } = &prepared.user;
    let at = instruction(firmware, campaign.space.reference.steps[step].pc);
    (outside.say)(&format!("fault {id} has been made at {at}"));
    let mut program = Program::new(target, firmware, machine, &run, outside)?;
    let Ending { text, failure, .. } = debug::serve(&mut program, listener)?;
    program.finish();
    match failure {
        Some(failure) => Err(failure),
        None => Ok(text),
    }
}

/// Instructions after a change.
fn addresses_after(machine: &mut dyn Mcu, stops: &[u32], changed: &Changed) -> Vec<u32> {
    let mut seen = Seen(Vec::new());
    let goes_on = matches!(changed.made, Made::Changed { .. } | Made::Ran(Ok(Stop::Cycles)));
    if goes_on && !stops.contains(&machine.pc()) {
        let until = Until { cycles: Some(machine.cycles() + COMPARED_MAX), addresses: stops.into() };
        // However it ends, the outcome says so.
        let _ = machine.run_observed(&until, &mut seen);
    }
    seen.0
}

struct Seen(Vec<u32>);

impl Observer for Seen {
    fn step(&mut self, step: &mcu::Step) {
        self.0.push(step.pc);
    }
}

/// The first difference of the way from that of the run without the fault, from the fault on.
fn difference(firmware: &Firmware, way: &[u32], steps: &[Step]) -> String {
    // A skipped or executed instruction is not among those that follow.
    let begin = way.first().and_then(|first| steps.iter().position(|step| step.pc == *first));
    let Some(begin) = begin else {
        let shown: Vec<String> =
            way.iter().take(SHOWN).map(|pc| format!("  {}\n", instruction(firmware, *pc))).collect();
        return match shown.is_empty() {
            true => String::new(),
            false => format!("it goes on where the run without the fault does not come:\n{}", shown.concat()),
        };
    };
    let mut pairs = way.iter().zip(steps[begin..].iter().map(|step| step.pc));
    let Some(first) = pairs.position(|(pc, reference)| *pc != reference) else {
        return "its way in the window is that of the run without the fault\n".into();
    };
    let shown: Vec<String> = way[first.saturating_sub(1)..]
        .iter()
        .take(SHOWN)
        .map(|pc| format!("  {}\n", instruction(firmware, *pc)))
        .collect();
    format!(
        "its way differs {first} instructions later; without the fault {} came there:\n{}",
        instruction(firmware, steps[begin + first].pc),
        shown.concat()
    )
}

/// Address, place and text of an instruction.
fn instruction(firmware: &Firmware, pc: u32) -> String {
    // The longest instruction has eight bytes.
    let text = firmware.disassemble(pc..pc.saturating_add(8)).ok();
    let text = text.and_then(|found| found.into_iter().find(|found| found.address == pc));
    let text = text.map(|found| format!(": {}", found.text)).unwrap_or_default();
    format!("{pc:#x}{}{text}", firmware.place(pc))
}
