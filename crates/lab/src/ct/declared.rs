//! Secret and public bytes of a user's firmware: in memory, registers and arguments at a call, and
//! as the program marks them by `device/ct/ws_ct.h`.

use super::convention::{self, Place};
use super::reads::{MARK, Reads};
use crate::target::Target;
use crate::user_firmware::Setup;
use crate::{LabError, names};
use ::firmware::Firmware;
use ::firmware::c_types::{Parameter, parameters};
use mcu::{CoreName, Labels, Mcu, Taint};
use std::ops::Range;

/// As many secrets as have a label of their own.
const SECRETS: usize = Labels::BITS as usize;
/// The function that makes bytes public.
const PUBLIC: &str = "ws_ct_public";

/// Parameters of the check.
#[derive(Clone, Debug)]
pub struct Request {
    pub setup: Setup,
    /// The function whose calls are followed.
    pub function: String,
    /// Secrets at each call: `SYMBOL`, `SYMBOL:LEN`, `ADDRESS:LEN`.
    pub secrets: Vec<String>,
    /// Secret registers at each call, by their names.
    pub secret_registers: Vec<String>,
    /// Secret arguments: `NUMBER` or `NAME` for its value, `NUMBER:LEN` for what it points to.
    pub secret_arguments: Vec<String>,
    /// Public bytes within the secrets.
    pub public: Vec<String>,
    /// Bytes that stay public whatever is written to them; behind `@`, a place in the program where
    /// bytes or a register become public.
    pub declassified: Vec<String>,
    /// Calls after which the run ends.
    pub calls: u64,
    /// Cycles after which the run ends.
    pub max_cycles: u64,
}

/// A secret at each call of the function.
enum Secret {
    Memory(Range<u32>),
    /// A register, by its index in [`Mcu::register_names`].
    Register {
        index: usize,
        bytes: u32,
    },
    /// An argument's value, or as many bytes as it points to.
    Argument {
        index: usize,
        bytes: Option<u32>,
    },
    /// Bytes that the program marks.
    Marked,
}

/// Something that becomes public.
enum Public {
    Memory(Range<u32>),
    Register(usize),
}

/// All that is secret or public.
pub(super) struct Declared<'a> {
    firmware: &'a Firmware,
    core: CoreName,
    /// The function's name in the file.
    function: &'a str,
    /// Names and places of the secrets, a label each.
    secrets: Vec<(String, Secret)>,
    public: Vec<Range<u32>>,
    /// Public whatever is written there.
    declassified: Vec<Range<u32>>,
    /// Public when the program comes to an address.
    places: Vec<(u32, Public)>,
    /// Addresses of the marks' functions, and whether they make secret.
    marks: Vec<(u32, bool)>,
    /// Bytes that were marked between the calls, in order.
    marked: Vec<(Range<u32>, bool)>,
    /// Bytes of each argument.
    sizes: Vec<u32>,
}

impl<'a> Declared<'a> {
    /// Reads what the user has named.
    ///
    /// # Errors
    /// Names that the firmware does not have, with the nearest; a symbol whose size is not known,
    /// or that is in no memory; more secrets than can be told apart; none at all.
    pub(super) fn read(
        request: &Request,
        target: &Target,
        firmware: &'a Firmware,
        machine: &dyn Mcu,
    ) -> Result<Declared<'a>, LabError> {
        let function = firmware.functions()[firmware.function(&request.function)?].name.as_str();
        let core = target.part.core;
        let known = parameters(&request.setup.elf, function).unwrap_or_default();
        let memory = |names: &[String]| -> Result<Vec<(String, Range<u32>)>, LabError> {
            names.iter().map(|name| bytes_of(firmware, machine, name)).collect()
        };
        let ranges = |names: &[String]| Ok::<_, LabError>(memory(names)?.into_iter().map(|(_, range)| range));
        let mut secrets: Vec<(String, Secret)> = Vec::new();
        secrets
            .extend(memory(&request.secrets)?.into_iter().map(|(name, range)| (name, Secret::Memory(range))));
        for name in &request.secret_registers {
            let index = register(machine, name)?;
            let bytes = u32::from(machine.register_names()[index].bits).div_ceil(8);
            secrets.push((name.clone(), Secret::Register { index, bytes }));
        }
        let mut last = 0;
        if !request.secret_arguments.is_empty()
            && (function.contains(".constprop.") || function.contains(".isra."))
        {
            return Err(LabError::Usage(format!(
                "{function} is a copy of GCC's that may lack arguments; name a --secret-register, or build it with -fno-ipa-cp -fno-ipa-sra"
            )));
        }
        for given in &request.secret_arguments {
            let (index, secret) = argument(&known, function, given)?;
            last = last.max(index);
            secrets.push((format!("argument {given}"), secret));
        }
        // GCC's names for the R8C have an underscore in front.
        let symbol =
            |name: &str| firmware.symbols().get(name).or(firmware.symbols().get(&format!("_{name}")));
        let mark = |name: &str, is_secret| Some((symbol(name)?.address, is_secret));
        let marks: Vec<(u32, bool)> = [mark(MARK, true), mark(PUBLIC, false)].into_iter().flatten().collect();
        if marks.iter().any(|(_, is_secret)| *is_secret) {
            secrets.push((MARK.into(), Secret::Marked));
        }
        let count = secrets.len();
        if count == 0 || count > SECRETS {
            return Err(LabError::Usage(match count {
                0 => format!(
                    "nothing is secret: give a --secret, --secret-register or --secret-arg, or mark it by {MARK}"
                ),
                _ => format!(
                    "at most {SECRETS} secrets can be told apart; give those that belong together one length"
                ),
            }));
        }
        let (placed, whole): (Vec<String>, Vec<String>) =
            request.declassified.iter().cloned().partition(|name| name.contains('@'));
        let places = placed.iter().map(|given| place(firmware, machine, given));
        Ok(Declared {
            firmware,
            core,
            function,
            public: ranges(&request.public)?.collect(),
            declassified: ranges(&whole)?.collect(),
            places: places.collect::<Result<_, _>>()?,
            marks,
            marked: Vec::new(),
            sizes: convention::sizes(core, &known, last),
            secrets,
        })
    }

    pub(super) fn names(&self) -> Vec<&str> {
        self.secrets.iter().map(|(name, _)| name.as_str()).collect()
    }

    /// Addresses at which the run stops, besides where the function returns.
    pub(super) fn stops(&self) -> Vec<u32> {
        let places = self.places.iter().map(|(address, _)| *address);
        places.chain(self.marks()).collect()
    }

    /// Addresses of the marks.
    pub(super) fn marks(&self) -> impl Iterator<Item = u32> {
        self.marks.iter().map(|(address, _)| *address)
    }

    /// Labels all at a call of the function, whose first instruction comes next.
    ///
    /// # Errors
    /// An argument that cannot be found, or points to no memory.
    pub(super) fn label(&self, machine: &dyn Mcu, taint: &mut Taint) -> Result<(), LabError> {
        let arguments = match self.secrets.iter().any(|(_, secret)| matches!(secret, Secret::Argument { .. }))
        {
            true => convention::arguments(machine, self.core, self.firmware, self.function, &self.sizes)?,
            false => Vec::new(),
        };
        if let Some(label) = self.label_of_marks() {
            for (range, is_secret) in &self.marked {
                taint.label(range.clone(), if *is_secret { label } else { 0 });
            }
        }
        for ((name, secret), label) in self.secrets.iter().zip((0..).map(|index| 1 << index)) {
            match secret {
                Secret::Memory(range) => taint.label(range.clone(), label),
                Secret::Register { index, .. } => taint.label_register(*index, !0, label),
                Secret::Argument { index, bytes: None } => {
                    for place in &arguments[*index] {
                        match place {
                            Place::Register { index, bits } => taint.label_register(*index, *bits, label),
                            Place::Memory(range) => taint.label(range.clone(), label),
                        }
                    }
                }
                Secret::Argument { index, bytes: Some(bytes) } => {
                    let pointer = convention::value(machine, self.core, &arguments[*index]);
                    let range = range_of(self.core, pointer, *bytes);
                    if !machine.peek(range.start, &mut vec![0; *bytes as usize]) {
                        return Err(LabError::Usage(format!(
                            "{name}: at {:#x} are not {bytes} bytes of memory",
                            range.start
                        )));
                    }
                    taint.label(range, label);
                }
                Secret::Marked => {}
            }
        }
        self.public.iter().for_each(|public| taint.label(public.clone(), 0));
        self.declassified.iter().for_each(|public| taint.declassify(public.clone()));
        Ok(())
    }

    /// Counts secrets in registers as read: whoever put them there has read them.
    pub(super) fn count_registers(&self, reads: &mut Reads) {
        for (index, (_, secret)) in self.secrets.iter().enumerate() {
            match secret {
                Secret::Register { bytes, .. } => reads.count(index, *bytes),
                Secret::Argument { index: argument, bytes: None } => {
                    reads.count(index, self.sizes[*argument])
                }
                _ => {}
            }
        }
    }

    /// Notes the mark that the program has come to; false where it is none.
    ///
    /// # Errors
    /// Marked bytes that are no memory.
    pub(super) fn on_mark(&mut self, address: u32, machine: &dyn Mcu) -> Result<bool, LabError> {
        let Some(marked) = self.marked_at(address, machine)? else { return Ok(false) };
        // A program that runs in circles marks the same again.
        self.marked.retain(|(range, _)| *range != marked.0);
        self.marked.push(marked);
        Ok(true)
    }

    /// Applies, within the function, what the program has come to; true where bytes became secret.
    ///
    /// # Errors
    /// Marked bytes that are no memory.
    pub(super) fn on_stop(
        &self,
        address: u32,
        machine: &dyn Mcu,
        taint: &mut Taint,
    ) -> Result<bool, LabError> {
        for (_, public) in self.places.iter().filter(|(at, _)| *at == address) {
            match public {
                Public::Memory(range) => taint.label(range.clone(), 0),
                Public::Register(index) => taint.label_register(*index, !0, 0),
            }
        }
        let Some((range, is_secret)) = self.marked_at(address, machine)? else { return Ok(false) };
        taint.label(range, self.label_of_marks().filter(|_| is_secret).unwrap_or(0));
        Ok(is_secret)
    }

    /// The label of what the program marks.
    fn label_of_marks(&self) -> Option<Labels> {
        let marked = self.secrets.iter().position(|(_, secret)| matches!(secret, Secret::Marked));
        marked.map(|index| 1 << index)
    }

    /// The bytes that the mark at an address is about.
    fn marked_at(&self, address: u32, machine: &dyn Mcu) -> Result<Option<(Range<u32>, bool)>, LabError> {
        let Some((_, is_secret)) = self.marks.iter().find(|(at, _)| *at == address) else { return Ok(None) };
        let name = if *is_secret { MARK } else { PUBLIC };
        let pointer = Parameter { name: String::new(), bytes: None, is_pointer: true };
        let sizes = convention::sizes(self.core, &[pointer], 1);
        let arguments = convention::arguments(machine, self.core, self.firmware, name, &sizes)?;
        let [start, size] = [0, 1].map(|index| convention::value(machine, self.core, &arguments[index]));
        let range = range_of(self.core, start, u32::try_from(size).unwrap_or(u32::MAX));
        // A whole memory of the largest part has fewer.
        let is_memory = size <= 1 << 24 && machine.peek(range.start, &mut vec![0; size as usize]);
        if !is_memory {
            let place = self.firmware.place(address);
            return Err(LabError::Usage(format!(
                "{name}: at {:#x} are not {size} bytes of memory{place}",
                range.start
            )));
        }
        Ok(Some((range, *is_secret)))
    }
}

fn range_of(core: CoreName, pointer: u64, bytes: u32) -> Range<u32> {
    let start = convention::pointed_to(core, pointer);
    start..start.saturating_add(bytes)
}

fn register(machine: &dyn Mcu, name: &str) -> Result<usize, LabError> {
    convention::register(machine, name).ok_or_else(|| LabError::UnknownName {
        what: "register",
        name: name.into(),
        suggestion: names::suggestion(name, machine.register_names().iter().map(|register| register.name)),
    })
}

/// The argument that `NAME`, `NUMBER` or either with `:LEN` names.
fn argument(known: &[Parameter], function: &str, given: &str) -> Result<(usize, Secret), LabError> {
    let length = given.rsplit_once(':').map(|(name, length)| (name, length.parse::<u32>()));
    let (name, bytes) = match length {
        Some((name, Ok(length))) if length > 0 => (name, Some(length)),
        Some(_) => return Err(LabError::Usage(format!("{given}: how many bytes? Give them as in 0:16"))),
        None => (given, None),
    };
    let named = known.iter().position(|parameter| parameter.name == name);
    let index =
        named.or(name.parse().ok()).filter(|index| *index < 32).ok_or_else(|| LabError::UnknownName {
            what: "argument",
            name: name.into(),
            suggestion: names::suggestion(name, known.iter().map(|parameter| parameter.name.as_str())),
        })?;
    if !known.is_empty() && index >= known.len() {
        return Err(LabError::Usage(format!(
            "{function} has no argument {index}: they are 0 to {}",
            known.len() - 1
        )));
    }
    if bytes.is_none() && known.get(index).is_some_and(|parameter| parameter.is_pointer) {
        return Err(LabError::Usage(format!(
            "argument {name} of {function} is a pointer: give the bytes that are secret, as in {name}:16"
        )));
    }
    Ok((index, Secret::Argument { index, bytes }))
}

/// `SYMBOL:LEN@PLACE` or `REGISTER@PLACE`.
fn place(firmware: &Firmware, machine: &dyn Mcu, given: &str) -> Result<(u32, Public), LabError> {
    let (what, at) = given.rsplit_once('@').unwrap_or((given, ""));
    let address = firmware.symbol(at)?.address;
    let public = match convention::register(machine, what) {
        Some(register) => Public::Register(register),
        None => Public::Memory(bytes_of(firmware, machine, what)?.1),
    };
    Ok((address, public))
}

/// The bytes that `SYMBOL`, `SYMBOL:LEN` or `ADDRESS:LEN` names, with the name.
fn bytes_of(firmware: &Firmware, machine: &dyn Mcu, given: &str) -> Result<(String, Range<u32>), LabError> {
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
    Ok((name.into(), symbol.address..symbol.address + size))
}
