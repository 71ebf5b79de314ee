//! A function of the program, called from outside with arguments of one's own.

use super::convention::{Convention, Placement, Value, number_of, value_of};
use super::{Look, Probe};
use crate::LabError;
use firmware::{CType, Prototype};
use mcu::{Flow, Mcu, Observer, Role, Step, Stop, Until};

/// Argument of a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A number, of this type or of the one that the debug information says.
    Number { number: i128, kind: Option<CType> },
    /// The address of a symbol, or one that is written as a number.
    Address(String),
    /// Bytes that are written to a symbol or an address, which is handed over.
    Bytes { place: String, bytes: Vec<u8> },
}

/// Type of a function's result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// As in the debug information.
    AsBuilt,
    /// Nothing that is of interest.
    Nothing,
    /// This.
    Type(CType),
}

/// A call that has returned.
#[derive(Clone, Debug, PartialEq)]
pub struct CallResult {
    /// None of a function that gives nothing.
    pub result: Option<i128>,
    /// From the function's first instruction to the end of its return; the call instruction, which
    /// there is none of, is not in it.
    pub cycles: u64,
    pub instructions: u64,
    /// Deepest stack use, its return address with it, in bytes.
    pub stack_bytes: u32,
    pub time_s: f64,
    /// At the active current, in joules.
    pub energy_j: f64,
}

/// A call that has begun.
pub struct CallUnderWay {
    /// Index into [`firmware::Firmware::functions`].
    function: usize,
    name: String,
    convention: Convention,
    /// Bytes and sign of what comes back.
    returns: Option<(u8, bool)>,
    /// Registers as the program had them.
    registers: Vec<(String, u32)>,
    /// Address of the program's next instruction.
    stands_at: u32,
    return_to: u32,
    /// The stack pointer that the function leaves behind.
    sp: u32,
    /// Cycles and instructions at its first instruction.
    begun: (u64, u64),
    /// Cycle after which it counts as endless.
    limit: u64,
}

/// Arguments as numbers.
struct Prepared<'a> {
    values: Vec<Value>,
    /// Bytes to be written before, by address.
    writes: Vec<(u32, &'a [u8])>,
}

/// Infixes that compilers put behind the name of a copy of a function with other arguments.
const COPIES: [&str; 3] = [".isra.", ".constprop.", ".part."];

impl Probe {
    /// Calls a function where the program stands, and leaves the program where it stood, with its
    /// registers as they were. Interrupts that are enabled come in between, as on the part. A core
    /// that sleeps is awake afterwards.
    ///
    /// # Errors
    /// An unknown function or symbol, with the nearest names. Arguments that are not the
    /// function's. A type for which this core's convention is not known. A program that has not
    /// started. A fault, or no return within `max_cycles`: after these the program stands where
    /// that came about.
    pub fn call(
        &mut self,
        function: &str,
        arguments: &[Argument],
        returns: Returns,
        max_cycles: u64,
        look: Look<'_>,
    ) -> Result<CallResult, LabError> {
        let call = self.begin_call(function, arguments, returns, max_cycles)?;
        loop {
            if let Some(result) = self.continue_call(&call, look)? {
                return Ok(result);
            }
        }
    }

    /// The first half of [`Probe::call`]: the function's first instruction comes next.
    ///
    /// # Errors
    /// As [`Probe::call`], before the function runs.
    pub fn begin_call(
        &mut self,
        function: &str,
        arguments: &[Argument],
        returns: Returns,
        max_cycles: u64,
    ) -> Result<CallUnderWay, LabError> {
        let core = self.machine.part().core;
        let Some(convention) = Convention::of(core) else {
            return Err(LabError::Usage(format!(
                "{}: how compilers of this core pass arguments is not modelled; AVR, Cortex-M, MSP430 and RISC-V are",
                self.target().name()
            )));
        };
        if self.machine.instructions() == 0 {
            return Err(LabError::Usage(
                "the program has not started: run it to main first, so that start-up has set up stack and variables"
                    .into(),
            ));
        }
        let index = self.firmware().function(function)?;
        let known = &self.firmware().functions()[index];
        let (name, entry) = (known.name.clone(), known.address);
        if let Some(copy) = COPIES.iter().find(|copy| name.contains(**copy)) {
            return Err(LabError::Usage(format!(
                "{name}: '{copy}' says that the compiler has changed its arguments; declare it __attribute__((noipa))"
            )));
        }
        let prototype = self.firmware().prototype(index)?;
        let returns = returned(&name, returns, prototype.as_ref(), &convention)?;
        let prepared = self.prepare(&name, arguments, prototype.as_ref(), &convention)?;
        let placement = convention
            .place(&prepared.values)
            .map_err(|problem| LabError::Usage(format!("{name}: {problem}")))?;
        for (address, bytes) in prepared.writes {
            self.poke(address, bytes)?;
        }

        let registers = self.machine.registers();
        let stands_at = self.machine.pc();
        let return_to = self.place_to_return_to();
        let sp = self.enter((&name, entry), return_to, placement, &convention)?;

        let cycles = self.machine.cycles();
        let begun = (cycles, self.machine.instructions());
        self.followed.with_dependent_mut(|_, profiler| {
            profiler.step(&Step { pc: stands_at, sp, cycles, flow: Flow::Next });
            profiler.watch(index, true);
            profiler.step(&Step { pc: entry, sp, cycles, flow: Flow::Call { return_to } });
        });
        let limit = cycles.saturating_add(max_cycles);
        Ok(CallUnderWay {
            function: index,
            name,
            convention,
            returns,
            registers,
            stands_at,
            return_to,
            sp,
            begun,
            limit,
        })
    }

    /// Runs on until the function has returned, or to a place of [`Probe::stop_at`], where it
    /// returns `None`.
    ///
    /// # Errors
    /// As [`Probe::call`].
    pub fn continue_call(
        &mut self,
        under_way: &CallUnderWay,
        look: Look<'_>,
    ) -> Result<Option<CallResult>, LabError> {
        let ended = self.run_to_return(under_way, look);
        if let Ok(false) = ended {
            return Ok(None);
        }
        let CallUnderWay { name, convention, registers, begun: (cycles, instructions), .. } = under_way;
        let calls = self.followed.with_dependent_mut(|_, profiler| profiler.watch(under_way.function, false));
        ended?;
        // Of a recursive function the outermost call returns last.
        let Some(call) = calls.last() else {
            return Err(LabError::Unfinished(format!("{name} came back in a way that is not a return")));
        };
        let result = under_way.returns.map(|(bytes, signed)| {
            let (registers, word) = convention.result(bytes);
            let word = 8 * u32::from(word);
            let bits = registers.iter().rev().fold(0_u64, |bits, name| {
                bits << word | u64::from(register(&*self.machine, name)) & ((1 << word) - 1)
            });
            number_of(bits, bytes, signed)
        });
        let taken = CallResult {
            result,
            cycles: self.machine.cycles() - *cycles,
            instructions: self.machine.instructions() - *instructions,
            stack_bytes: call.stack,
            time_s: call.spent.time_s,
            energy_j: call.spent.energy_j,
        };
        self.restore_registers(registers, convention);
        if under_way.stands_at != under_way.return_to {
            self.machine.set_pc(under_way.stands_at);
        }
        let next = Step { flow: Flow::Next, ..self.machine.next_step() };
        self.followed.with_dependent_mut(|_, profiler| profiler.step(&next));
        Ok(Some(taken))
    }

    /// The place to which a function returns: where the program stands in main; elsewhere the
    /// function, or one that it calls, may come by there. Then it is where the program begins after
    /// a reset.
    fn place_to_return_to(&self) -> u32 {
        let stands_at = self.machine.pc();
        let stands_in =
            self.firmware().function_at(stands_at).map(|index| &self.firmware().functions()[index]);
        if stands_in.is_some_and(|known| known.name == "main") { stands_at } else { self.first_pc }
    }

    /// Puts arguments and return address where the function expects them. Returns the stack pointer
    /// that it has to leave behind.
    fn enter(
        &mut self,
        (name, entry): (&str, u32),
        return_to: u32,
        placement: Placement,
        convention: &Convention,
    ) -> Result<u32, LabError> {
        let core = self.machine.part().core;
        let found_sp = register(&*self.machine, "sp");
        let below = found_sp.wrapping_sub(placement.stack.len() as u32);
        let sp = below - below % convention.stack_alignment;
        self.push(sp, &placement.stack)?;
        let pushed = if core.is_avr() {
            let words = (return_to / 2).to_be_bytes();
            if core == mcu::CoreName::Avr6 { words[1..].to_vec() } else { words[2..].to_vec() }
        } else if core == mcu::CoreName::Msp430x {
            let Ok(word) = u16::try_from(return_to) else {
                return Err(LabError::Usage(format!(
                    "{name}: the program stands at {return_to:#x}, where CALL cannot return to; run it to a place below 0x10000"
                )));
            };
            word.to_le_bytes().to_vec()
        } else {
            Vec::new()
        };
        let entry_sp = sp.wrapping_sub(pushed.len() as u32);
        self.push(entry_sp, &pushed)?;
        for (register, value) in placement.registers {
            self.machine.set_register(register, value);
        }
        self.machine.set_register("sp", entry_sp);
        if let Some(link) = self.machine.register_names().iter().find(|register| register.role == Role::Link)
        {
            let thumb = if convention.pointer_to(0, true) == Some(1) { 1 } else { 0 };
            self.machine.set_register(link.name, return_to | thumb);
        }
        self.machine.set_pc(entry);
        Ok(sp)
    }

    /// Runs on until the function has returned, true, or to a place to stop at on its way, false.
    fn run_to_return(&mut self, under_way: &CallUnderWay, look: Look<'_>) -> Result<bool, LabError> {
        let CallUnderWay { name, return_to, sp, begun: (begun, _), limit, .. } = under_way;
        let addresses = [*return_to].iter().chain(&self.stops).copied().collect();
        let until = Until { cycles: Some(*limit), addresses };
        loop {
            let place = match self.piece(&until, look)? {
                Stop::Address(address) if address == *return_to && self.machine.sp() == *sp => {
                    return Ok(true);
                }
                Stop::Address(address) if self.stops.contains(&address) => return Ok(false),
                // Within a call of the same place, or in an interrupt.
                Stop::Address(_) => continue,
                Stop::Cycles if self.machine.cycles() >= *limit => {
                    return Err(LabError::Endless {
                        what: format!("{name} (last seen{})", self.place()),
                        cycles: limit - begun,
                        hint: "; raise max_cycles if it is only slow".into(),
                    });
                }
                Stop::Cycles => continue,
                Stop::Breakpoint => format!("a breakpoint instruction was reached{}", self.place()),
                Stop::Exit(code) => format!("the program exited with {code}{}", self.place()),
                Stop::Halted => format!("the program ended{}", self.place()),
                Stop::PowerLost => format!("the supply failed{}", self.place()),
            };
            return Err(LabError::Unfinished(format!("{name} did not return: {place}")));
        }
    }

    /// The registers as the program had them, but for what belongs to the machine.
    fn restore_registers(&mut self, found: &[(String, u32)], convention: &Convention) {
        let (status, free) = convention.status;
        let now = self.machine.registers();
        for ((name, value), (_, now)) in found.iter().zip(now) {
            let value = if name == status { value & !free | now & free } else { *value };
            if !convention.machine_registers.contains(&name.as_str()) {
                self.machine.set_register(name, value);
            }
        }
    }

    /// Writes to the stack, from where the stack pointer will be on.
    fn push(&mut self, sp: u32, bytes: &[u8]) -> Result<(), LabError> {
        // An AVR's points below what was pushed last.
        let address = if self.machine.part().core.is_avr() { super::AVR_DATA + sp + 1 } else { sp };
        if bytes.is_empty() || self.machine.poke(address, bytes) {
            return Ok(());
        }
        Err(LabError::Unfinished(format!(
            "there is no stack at {address:#x}{}: run the program to main first",
            self.place()
        )))
    }

    /// Checks the arguments, and makes numbers of them.
    fn prepare<'a>(
        &self,
        function: &str,
        arguments: &'a [Argument],
        prototype: Option<&Prototype>,
        convention: &Convention,
    ) -> Result<Prepared<'a>, LabError> {
        if let Some(prototype) = prototype {
            check_count(function, arguments.len(), prototype)?;
        }
        let mut prepared = Prepared { values: Vec::new(), writes: Vec::new() };
        for (at, argument) in arguments.iter().enumerate() {
            let parameter = prototype.and_then(|prototype| prototype.parameters.get(at));
            let refused = |problem: String| {
                let name = parameter.map_or("", |(name, _)| name.as_str());
                let name = if name.is_empty() { String::new() } else { format!(" ({name})") };
                LabError::Usage(format!("{function}, argument {}{name}: {problem}", at + 1))
            };
            let built = parameter.map(|(_, kind)| *kind);
            if let Some(CType::Pointer { bytes }) = built.filter(|kind| is_other_pointer(*kind, convention)) {
                return Err(refused(format!(
                    "a pointer of {bytes} bytes, where those of {} are passed (another memory model, or a named address space)",
                    convention.pointer
                )));
            }
            let (number, kind) = match argument {
                Argument::Number { number, kind } => (*number, *kind),
                Argument::Address(place) | Argument::Bytes { place, .. } => {
                    let symbol = self.firmware().symbol(place)?;
                    if let Argument::Bytes { bytes, .. } = argument {
                        if symbol.size != 0 && bytes.len() > symbol.size as usize {
                            return Err(refused(format!(
                                "{} bytes do not fit: {place} has {}",
                                bytes.len(),
                                symbol.size
                            )));
                        }
                        prepared.writes.push((symbol.address, bytes.as_slice()));
                    }
                    let functions = self.firmware().functions();
                    let code = functions.binary_search_by_key(&symbol.address, |known| known.address).is_ok();
                    let pointer = convention.pointer_to(symbol.address, code).ok_or_else(|| {
                        refused(format!("{place} lies at {:#x}, where no pointer reaches", symbol.address))
                    })?;
                    (pointer.into(), Some(CType::Pointer { bytes: convention.pointer }))
                }
            };
            let kind = match (kind, built) {
                (None, None) => {
                    return Err(refused(format!(
                        "how wide {number} is passed is not in the file: build with -gdwarf-4, or say it, as with u16({number})"
                    )));
                }
                (Some(kind), None) | (None, Some(kind)) => kind,
                (Some(kind), Some(built)) if width(kind) == width(built) => kind,
                (Some(kind), Some(built)) => {
                    return Err(refused(format!("it was built with a {built}, and given a {kind}")));
                }
            };
            let value = value_of(number, kind).map_err(refused)?;
            prepared.values.push(value.converted(built));
        }
        Ok(prepared)
    }
}

fn width(kind: CType) -> Option<u8> {
    match kind {
        CType::Integer { bytes, .. } | CType::Pointer { bytes } => Some(bytes),
        CType::Other(_) => None,
    }
}

fn is_other_pointer(kind: CType, convention: &Convention) -> bool {
    matches!(kind, CType::Pointer { bytes } if bytes != convention.pointer)
}

fn check_count(function: &str, given: usize, prototype: &Prototype) -> Result<(), LabError> {
    let parameters = &prototype.parameters;
    let listed = || {
        let listed: Vec<String> = parameters.iter().map(|(name, kind)| format!("{kind} {name}")).collect();
        format!("{function}({})", listed.join(", "))
    };
    if prototype.variadic {
        return Err(LabError::Usage(format!(
            "{function} takes any number of arguments, which is not modelled"
        )));
    }
    if given != parameters.len() {
        return Err(LabError::Usage(format!(
            "{} takes {} arguments, and {given} were given",
            listed(),
            parameters.len()
        )));
    }
    Ok(())
}

/// Bytes and sign of what comes back; `None` for nothing.
fn returned(
    function: &str,
    asked: Returns,
    prototype: Option<&Prototype>,
    convention: &Convention,
) -> Result<Option<(u8, bool)>, LabError> {
    let kind = match (asked, prototype) {
        (Returns::AsBuilt, Some(prototype)) => prototype.result,
        (Returns::AsBuilt, None) => {
            return Err(LabError::Usage(format!(
                "what {function} returns is not in the file: build with -gdwarf-4, or say it, as with returns='u16' or returns=None"
            )));
        }
        (Returns::Nothing, Some(Prototype { result: Some(CType::Other(_)), .. })) => {
            prototype.and_then(|known| known.result)
        }
        (Returns::Nothing, _) => None,
        (Returns::Type(kind), Some(prototype)) if prototype.result.and_then(width) != width(kind) => {
            let built = prototype.result.map_or("nothing".into(), |built| format!("a {built}"));
            return Err(LabError::Usage(format!("{function} returns {built}, and a {kind} is asked for")));
        }
        (Returns::Type(kind), _) => Some(kind),
    };
    match kind {
        None => Ok(None),
        Some(CType::Integer { bytes, signed }) => Ok(Some((bytes, signed))),
        Some(kind @ CType::Pointer { bytes }) if !is_other_pointer(kind, convention) => {
            Ok(Some((bytes, false)))
        }
        Some(kind) => Err(LabError::Usage(format!(
            "{function} returns a {kind}, which is not modelled: give back a number, or write to memory"
        ))),
    }
}

/// Value of a register of the machine, by its name; 0 where it has none.
fn register(machine: &dyn Mcu, name: &str) -> u32 {
    machine.registers().iter().find(|(known, _)| known == name).map_or(0, |(_, value)| *value)
}
