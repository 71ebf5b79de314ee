//! `ct FIRMWARE.elf`: where a function of anybody's firmware takes another time or way because of
//! its secrets, by taint tracking.
//!
//! The firmware starts up as on a board. At each call of the function the secrets are labelled and
//! followed through every instruction until it returns ([`mcu::Taint`]). One run is enough: what
//! depends on a secret is found whatever its value is, as far as the run comes by it.

use super::declared::Declared;
pub use super::declared::Request;
use super::{Difference, Reads, row_of};
use crate::LabError;
use crate::harness::place_fault;
use crate::target::Target;
use crate::user_firmware::{UserFirmware, advice};
use crate::workspace::Workspace;
use ::firmware::Firmware;
use mcu::{CoreName, Leak, LeakKind, Mcu, Role, Stop, Taint, Until};
use serde::Serialize;

/// Offset at which ELF files put an AVR's data space.
const AVR_DATA: u32 = 0x80_0000;

/// An instruction through which secrets show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeakRow {
    /// Behaviour that depends on the secrets.
    pub kind: Difference,
    /// Function and source line, as far as the file tells.
    pub place: String,
    /// Functions that the compiler inlined there, the innermost first, separated by blanks.
    pub inlined: String,
    /// Address of the instruction.
    pub pc: u32,
    /// The secrets, as they were named, separated by blanks.
    pub secrets: String,
    /// Number of executions that depended on secrets.
    pub times: u64,
}

impl LeakRow {
    /// Its place for a person, with what was inlined there.
    pub(crate) fn place_with_inlined(&self) -> String {
        if self.inlined.is_empty() {
            return self.place.clone();
        }
        format!("{}, of {} inlined", self.place, self.inlined.replace(' ', " in "))
    }
}

#[derive(Debug)]
pub struct Checked {
    /// The leaks, by address.
    pub leaks: Vec<LeakRow>,
    /// Calls that were followed to their returns.
    pub calls: u64,
    /// Instructions in them.
    pub instructions: u64,
    /// Bytes read of the secrets, in the call that read most of them.
    pub reads: Reads,
    /// End of the run, for a person.
    pub ending: String,
    /// Why it ended before the calls that were asked for.
    pub failure: Option<LabError>,
}

impl Checked {
    /// Returns true if all secrets were read, nothing depends on one, and the run ended as it
    /// should.
    #[must_use]
    pub fn is_clear(&self) -> bool {
        self.leaks.is_empty() && self.reads.unread().is_empty() && self.failure.is_none()
    }
}

/// Runs the firmware from reset and follows the secrets through each call of the function.
///
/// # Errors
/// An unknown target, function or symbol, with the nearest names; a symbol whose size is not known,
/// or that is in no memory; a fault; no call.
pub fn run(workspace: &Workspace, request: &Request) -> Result<Checked, LabError> {
    let UserFirmware { target, mut firmware, mut machine, .. } = request.setup.load(workspace)?;
    firmware.name_functions(std::slice::from_ref(&request.function));
    let function = &firmware.functions()[firmware.function(&request.function)?];
    let mut declared = Declared::read(request, &target, &firmware, &*machine)?;
    let mut checked = Checked {
        leaks: Vec::new(),
        calls: 0,
        instructions: 0,
        reads: Reads::default(),
        ending: String::new(),
        failure: None,
    };
    let mut leaks: Vec<Leak> = Vec::new();
    let addresses = declared.marks().chain([function.address]).collect();
    let until = Until { cycles: Some(request.max_cycles), addresses };
    loop {
        let stop = machine.run(&until);
        let place = firmware.place(machine.pc());
        let ended = match stop {
            Ok(Stop::Address(address)) if declared.on_mark(address, &*machine)? => continue,
            Ok(Stop::Address(_)) => None,
            Ok(Stop::Cycles) => Some(format!("stopped after --max-cycles {}{place}", request.max_cycles)),
            Ok(Stop::Exit(code)) => Some(format!("the program exited with {code}{place}")),
            Ok(_) => Some(format!("the program ended{place}")),
            Err(fault) if checked.calls == 0 => return Err(helpful(&target, &firmware, fault)),
            Err(fault) => {
                checked.failure = Some(helpful(&target, &firmware, fault));
                Some(format!("the model stopped{place}"))
            }
        };
        if let Some(ended) = ended {
            checked.ending = ended;
            break;
        }
        let mut taint = machine.taint();
        declared.label(&*machine, &mut taint)?;
        taint.watch();
        let before = machine.instructions();
        let mut call = Followed { machine: &mut *machine, taint: &mut taint, declared: &declared };
        checked.reads.merge(call.follow(&target, &firmware, request)?);
        checked.instructions += machine.instructions() - before;
        checked.calls += 1;
        merge(&mut leaks, taint.leaks());
        if checked.calls >= request.calls {
            checked.ending = "the calls asked for have returned".into();
            break;
        }
    }
    if checked.calls == 0 {
        return Err(LabError::Unfinished(format!(
            "{} was not called: {}; raise --max-cycles, or look with measure at the functions that are",
            request.function, checked.ending
        )));
    }
    leaks.sort_by_key(|leak| (leak.pc, leak.kind));
    checked.reads.without_unused_marks();
    checked.leaks = leaks.iter().map(|leak| row_of(&firmware, &declared.names(), leak)).collect();
    Ok(checked)
}

impl From<LeakKind> for Difference {
    fn from(kind: LeakKind) -> Difference {
        match kind {
            LeakKind::Branch => Difference::Branch,
            LeakKind::Address => Difference::Address,
            LeakKind::Time => Difference::Time,
        }
    }
}

/// Adds the leaks of a call to those of the calls before.
fn merge(leaks: &mut Vec<Leak>, found: &[Leak]) {
    for leak in found {
        match leaks.iter_mut().find(|known| (known.pc, known.kind) == (leak.pc, leak.kind)) {
            Some(known) => {
                known.labels |= leak.labels;
                known.count += leak.count;
            }
            None => leaks.push(*leak),
        }
    }
}

fn helpful(target: &Target, firmware: &Firmware, fault: mcu::Fault) -> LabError {
    let place =
        fault.pc().map(|pc| firmware.place(pc)).unwrap_or_default() + &advice(&fault, target, firmware);
    LabError::Fault { target: target.name().into(), fault, place }
}

/// A call of the function under way, whose first instruction comes next.
struct Followed<'a> {
    machine: &'a mut dyn Mcu,
    taint: &'a mut Taint,
    declared: &'a Declared<'a>,
}

impl Followed<'_> {
    /// Runs on to the return of the function, and returns the reads of the secrets.
    fn follow(&mut self, target: &Target, firmware: &Firmware, request: &Request) -> Result<Reads, LabError> {
        let endless = || LabError::Endless {
            what: request.function.clone(),
            cycles: request.max_cycles,
            hint: "; raise --max-cycles if it is only slow".into(),
        };
        let entry_sp = self.machine.sp();
        let linked = self.machine.register_names().iter().position(|register| register.role == Role::Link);
        let return_to = match linked {
            Some(register) => vec![self.machine.registers()[register].1 & !1],
            None => return_addresses(&*self.machine, target.part.core),
        };
        let returned = |sp: u32| match target.part.core {
            CoreName::Mcs51 => sp < entry_sp,
            _ if linked.is_some() => sp >= entry_sp,
            _ => sp > entry_sp,
        };
        let addresses = [return_to.clone(), self.declared.stops()].concat();
        let until = Until { cycles: Some(request.max_cycles), addresses };
        let mut reads = Reads::default();
        loop {
            let stop = self
                .machine
                .run_tainted(&until, self.taint)
                .map_err(|fault| place_fault(target, firmware, fault))?;
            self.taint.finish();
            if let Some(pc) = self.taint.unknown_instruction() {
                let place = firmware.place(pc);
                return Err(LabError::Unfinished(format!(
                    "the instruction at {pc:#x}{place} was written while {} ran, or is LDCTX or STCTX, and cannot be followed",
                    request.function
                )));
            }
            match stop {
                Stop::Address(address) if return_to.contains(&address) && returned(self.machine.sp()) => {
                    reads.merge(self.reads());
                    return Ok(reads);
                }
                Stop::Address(address) => {
                    let before = self.reads();
                    if self.declared.on_stop(address, &*self.machine, self.taint)? {
                        reads.merge(before);
                        self.taint.watch();
                    }
                }
                Stop::Cycles => return Err(endless()),
                _ => {
                    let place = firmware.place(self.machine.pc());
                    let said = format!("{} did not return: the program ended{place}", request.function);
                    return Err(LabError::Unfinished(said));
                }
            }
        }
    }

    /// Reads since they were watched last.
    fn reads(&self) -> Reads {
        let mut reads = Reads::of(self.taint, &self.declared.names());
        self.declared.count_registers(&mut reads);
        reads
    }
}

/// Returns the possible return addresses of a call whose first instruction comes next, where they
/// are on the stack. An address has two possible lengths; both are returned.
pub(crate) fn return_addresses(machine: &dyn Mcu, core: CoreName) -> Vec<u32> {
    // Four bytes from an address on.
    let at = |from: u32| {
        let mut bytes = [0; 4];
        machine.peek(from, &mut bytes);
        bytes.map(u32::from)
    };
    let sp = machine.sp();
    match core {
        // The more significant byte first, above what the stack pointer points to; in words.
        core if core.is_avr() => {
            let mut bytes = [0; 3];
            machine.peek(AVR_DATA + sp + 1, &mut bytes);
            let [a, b, c] = bytes.map(u32::from);
            vec![2 * (a << 8 | b), 2 * (a << 16 | b << 8 | c)]
        }
        CoreName::Hc08 => {
            let [_, high, low, _] = at(sp);
            vec![high << 8 | low]
        }
        // The stack grows upward: the last byte pushed is the higher one.
        CoreName::Mcs51 => {
            let mut bytes = [0; 2];
            machine.peek(sp - 1, &mut bytes);
            vec![u16::from_le_bytes(bytes).into()]
        }
        CoreName::R8c => {
            let [low, middle, high, _] = at(sp);
            vec![(high & 15) << 16 | middle << 8 | low]
        }
        // CALL pushes 16 bits, CALLA 20.
        _ => {
            let [a, b, c, d] = at(sp);
            let word = b << 8 | a;
            vec![word, ((d << 8 | c) & 15) << 16 | word]
        }
    }
}
