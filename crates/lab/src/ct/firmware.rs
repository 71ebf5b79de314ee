//! `ct FIRMWARE.elf`: where a function of anybody's firmware takes another time or way because of
//! its secrets, by taint tracking.
//!
//! The firmware starts up as on a board. At each call of the function the secrets are labelled in
//! memory and followed through every instruction until it returns ([`mcu::Taint`]). One run is
//! enough: what depends on a secret is found whatever its value is, as far as the run comes by it.

use super::{Difference, Reads, row_of};
use crate::LabError;
use crate::harness::place_fault;
use crate::target::Target;
use crate::user_firmware::{Setup, UserFirmware, advice};
use crate::workspace::Workspace;
use ::firmware::Firmware;
use mcu::{CoreName, Labels, Leak, LeakKind, Mcu, Role, Stop, Taint, Until};
use serde::Serialize;
use std::ops::Range;

/// As many secrets as have a label of their own.
const SECRETS: usize = Labels::BITS as usize;
/// Offset at which ELF files put an AVR's data space.
const AVR_DATA: u32 = 0x80_0000;

/// Parameters of the check.
#[derive(Clone, Debug)]
pub struct Request {
    pub setup: Setup,
    /// The function whose calls are followed.
    pub function: String,
    /// Secrets at each call: `SYMBOL`, `SYMBOL:LEN`, `ADDRESS:LEN`.
    pub secrets: Vec<String>,
    /// Public bytes within the secrets.
    pub public: Vec<String>,
    /// Bytes that stay public whatever is written to them.
    pub declassified: Vec<String>,
    /// Calls after which the run ends.
    pub calls: u64,
    /// Cycles after which the run ends.
    pub max_cycles: u64,
}

/// An instruction through which secrets show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeakRow {
    /// Behaviour that depends on the secrets.
    pub kind: Difference,
    /// Function and source line, as far as the file tells.
    pub place: String,
    /// Address of the instruction.
    pub pc: u32,
    /// The secrets, as they were named, separated by blanks.
    pub secrets: String,
    /// Number of executions that depended on secrets.
    pub times: u64,
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

/// Bytes of memory by the name that they were given.
struct Named {
    name: String,
    range: Range<u32>,
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
    let named = |names: &[String]| -> Result<Vec<Named>, LabError> {
        names.iter().map(|name| bytes_of(&firmware, &*machine, name)).collect()
    };
    let (secrets, public) = (named(&request.secrets)?, named(&request.public)?);
    let declassified = named(&request.declassified)?;
    if secrets.len() > SECRETS {
        let said = format!(
            "at most {SECRETS} secrets can be told apart; give those that belong together one length"
        );
        return Err(LabError::Usage(said));
    }
    let mut checked = Checked {
        leaks: Vec::new(),
        calls: 0,
        instructions: 0,
        reads: Reads::default(),
        ending: String::new(),
        failure: None,
    };
    let names: Vec<&str> = secrets.iter().map(|secret| secret.name.as_str()).collect();
    let mut leaks: Vec<Leak> = Vec::new();
    loop {
        let until = Until { cycles: Some(request.max_cycles), addresses: vec![function.address] };
        let stop = machine.run(&until);
        let place = firmware.place(machine.pc());
        let ended = match stop {
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
        for (index, secret) in secrets.iter().enumerate() {
            taint.label(secret.range.clone(), 1 << index);
        }
        public.iter().for_each(|public| taint.label(public.range.clone(), 0));
        declassified.iter().for_each(|public| taint.declassify(public.range.clone()));
        taint.watch();
        let before = machine.instructions();
        follow(&mut *machine, &mut taint, &target, &firmware, request)?;
        checked.instructions += machine.instructions() - before;
        checked.calls += 1;
        merge(&mut leaks, taint.leaks());
        checked.reads.merge(Reads::of(&taint, &names));
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
    checked.leaks = leaks.iter().map(|leak| row_of(&firmware, &names, leak)).collect();
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

/// The bytes that `SYMBOL`, `SYMBOL:LEN` or `ADDRESS:LEN` names.
fn bytes_of(firmware: &Firmware, machine: &dyn Mcu, given: &str) -> Result<Named, LabError> {
    let length = given.rsplit_once(':').and_then(|(name, length)| Some((name, length.parse::<u32>().ok()?)));
    let (name, length) = length.map_or((given, None), |(name, length)| (name, Some(length)));
    let symbol = firmware.symbol(name)?;
    let size = match length.unwrap_or(symbol.size) {
        0 => {
            let said = format!("how long is {name}? The file does not tell: give its bytes, as in {name}:16");
            return Err(LabError::Usage(said));
        }
        size if symbol.size != 0 && size > symbol.size => {
            let said = format!("{given}: {name} has only {} bytes", symbol.size);
            return Err(LabError::Usage(said));
        }
        size => size,
    };
    if !machine.peek(symbol.address, &mut vec![0; size as usize]) {
        return Err(LabError::Usage(format!(
            "{given}: at {:#x} are not {size} bytes of memory",
            symbol.address
        )));
    }
    Ok(Named { name: name.into(), range: symbol.address..symbol.address + size })
}

/// Runs on from the first instruction of a call to its return.
fn follow(
    machine: &mut dyn Mcu,
    taint: &mut Taint,
    target: &Target,
    firmware: &Firmware,
    request: &Request,
) -> Result<(), LabError> {
    let endless = || LabError::Endless {
        what: request.function.clone(),
        cycles: request.max_cycles,
        hint: "; raise --max-cycles if it is only slow".into(),
    };
    let entry_sp = machine.sp();
    let linked = machine.register_names().iter().position(|register| register.role == Role::Link);
    let return_to = match linked {
        Some(register) => vec![machine.registers()[register].1 & !1],
        None => return_addresses(machine, target.part.core),
    };
    let returned = |sp: u32| match target.part.core {
        CoreName::Mcs51 => sp < entry_sp,
        _ if linked.is_some() => sp >= entry_sp,
        _ => sp > entry_sp,
    };
    let until = Until { cycles: Some(request.max_cycles), addresses: return_to };
    loop {
        let stop =
            machine.run_tainted(&until, taint).map_err(|fault| place_fault(target, firmware, fault))?;
        taint.finish();
        if let Some(pc) = taint.unknown_instruction() {
            let place = firmware.place(pc);
            return Err(LabError::Unfinished(format!(
                "the instruction at {pc:#x}{place} was written while {} ran, or is LDCTX or STCTX, and cannot be followed",
                request.function
            )));
        }
        match stop {
            Stop::Address(_) if returned(machine.sp()) => return Ok(()),
            Stop::Address(_) => {}
            Stop::Cycles => return Err(endless()),
            _ => {
                let place = firmware.place(machine.pc());
                let said = format!("{} did not return: the program ended{place}", request.function);
                return Err(LabError::Unfinished(said));
            }
        }
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
