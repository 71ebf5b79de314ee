//! Changes that a fault makes to a machine.

use super::length;
use super::reference::Read;
use crate::LabError;
use mcu::{CoreName, Mcu, Observer, Register, Role, Stop, Until};
use std::str::FromStr;

/// A kind of fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// This number of instructions in a row is not executed.
    Skip(u8),
    /// A bit of a register changes before an instruction.
    Register,
    /// A register is zero before an instruction.
    Zero,
    /// A flag changes before an instruction.
    Flags,
    /// A bit of an instruction changes as it is fetched.
    Opcode,
    /// A bit of what an instruction reads from memory changes as it is read.
    Load,
}

/// The most instructions that are skipped in a row.
const SKIPPED_MAX: u8 = 16;

impl FromStr for Model {
    type Err = String;

    fn from_str(text: &str) -> Result<Model, String> {
        let skipped = |count: &str| count.parse().ok().filter(|count| (1..=SKIPPED_MAX).contains(count));
        Ok(match text {
            "skip" => Model::Skip(1),
            "register" => Model::Register,
            "zero" => Model::Zero,
            "flags" => Model::Flags,
            "opcode" => Model::Opcode,
            "load" => Model::Load,
            other => match other.strip_prefix("skip:").and_then(skipped) {
                Some(count) => Model::Skip(count),
                None => {
                    return Err(format!(
                        "'{text}' is no model of a fault: skip, skip:2 to skip:{SKIPPED_MAX}, register, zero, flags, \
                         opcode or load"
                    ));
                }
            },
        })
    }
}

/// A change by a fault at one instruction. Registers are numbered as [`Layout`] has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Change {
    Skip(u8),
    Register { register: u8, bit: u8 },
    Zero { register: u8 },
    Flag { flag: u8 },
    Opcode { bit: u8 },
    Load { read: u8, bit: u8 },
}

/// The registers of a core that faults change.
pub(super) struct Layout {
    core: CoreName,
    registers: Vec<Register>,
    /// The status register and its flags: names and bits.
    status: &'static str,
    flags: &'static [(&'static str, u8)],
}

/// Registers of a debugger, of the system and of the other stacks: no place of data.
const SYSTEM: [&str; 7] = ["mtvec", "mscratch", "mepc", "mcause", "usp", "isp", "intb"];
/// R0 to R12, SP and LR come first.
const CORTEX_M: usize = 15;

impl Layout {
    pub fn of(machine: &dyn Mcu, core: CoreName) -> Layout {
        let most = if core.is_cortex_m() { CORTEX_M } else { usize::MAX };
        let holds_data = |register: &&Register| {
            matches!(register.role, Role::General | Role::StackPointer | Role::Link)
                && !SYSTEM.contains(&register.name)
                && !register.name.contains('.')
        };
        let registers = machine.register_names().iter().take(most).filter(holds_data).copied().collect();
        // The flags' bits are those of `mcu`'s cores.
        let (status, flags): (_, &[(&str, u8)]) = match core {
            CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6 => {
                ("sreg", &[("c", 0), ("z", 1), ("n", 2), ("v", 3), ("s", 4), ("h", 5), ("t", 6)])
            }
            CoreName::Msp430x => ("sr", &[("c", 0), ("z", 1), ("n", 2), ("v", 8)]),
            CoreName::Mcs51 => ("psw", &[("cy", 7), ("ac", 6), ("f0", 5), ("ov", 2)]),
            CoreName::Hc08 => ("ccr", &[("c", 0), ("z", 1), ("n", 2), ("h", 4), ("v", 7)]),
            CoreName::R8c => ("flg", &[("c", 0), ("z", 2), ("s", 3), ("o", 5)]),
            CoreName::QingkeV2 => ("", &[]),
            _ => ("xpsr", &[("n", 31), ("z", 30), ("c", 29), ("v", 28)]),
        };
        Layout { core, registers, status, flags }
    }

    /// Refuses a model that this core cannot have.
    ///
    /// # Errors
    /// [`LabError::Usage`].
    pub fn check(&self, model: Model) -> Result<(), LabError> {
        if model == Model::Flags && self.flags.is_empty() {
            let said = "--model flags: this core has none; give --model register";
            return Err(LabError::Usage(said.into()));
        }
        Ok(())
    }

    /// The changes of a model at an instruction of `length` bytes with these reads.
    pub fn changes(&self, model: Model, length: Option<u32>, reads: &[Read], found: &mut Vec<Change>) {
        let registers = || (0u8..).zip(&self.registers);
        match model {
            Model::Skip(count) => found.extend(length.map(|_| Change::Skip(count))),
            Model::Register => found.extend(registers().flat_map(|(register, known)| {
                (0..known.bits).map(move |bit| Change::Register { register, bit })
            })),
            Model::Zero => found.extend(registers().map(|(register, _)| Change::Zero { register })),
            Model::Flags => {
                found.extend((0u8..).zip(self.flags).map(|(flag, _)| Change::Flag { flag }));
            }
            Model::Opcode => {
                found.extend((0..8 * length.unwrap_or(0) as u8).map(|bit| Change::Opcode { bit }));
            }
            Model::Load => found.extend((0u8..).zip(reads).flat_map(|(number, read)| {
                (0..8 * read.size).map(move |bit| Change::Load { read: number, bit })
            })),
        }
    }

    /// The change's name in an ID.
    pub fn name(&self, change: Change) -> String {
        let register = |number: u8| self.registers[usize::from(number)].name;
        match change {
            Change::Skip(1) => "skip".into(),
            Change::Skip(count) => format!("skip{count}"),
            Change::Register { register: number, bit } => format!("{}.{bit}", register(number)),
            Change::Zero { register: number } => format!("{}.zero", register(number)),
            Change::Flag { flag } => format!("flag.{}", self.flags[usize::from(flag)].0),
            Change::Opcode { bit } => format!("opcode.{bit}"),
            Change::Load { read, bit } => format!("load{read}.{bit}"),
        }
    }

    /// The change of a name, at an instruction of `length` bytes with these reads.
    pub fn named(&self, name: &str, length: Option<u32>, reads: &[Read]) -> Option<Change> {
        let others = [Model::Register, Model::Zero, Model::Flags, Model::Opcode, Model::Load];
        let mut all = Vec::new();
        for model in (1..=SKIPPED_MAX).map(Model::Skip).chain(others) {
            self.changes(model, length, reads, &mut all);
        }
        all.into_iter().find(|change| self.name(*change) == name)
    }

    /// Number of registers.
    pub fn register_count(&self) -> usize {
        self.registers.len()
    }

    /// Returns true if it is known of this core which registers its instructions use.
    pub fn tells_uses(&self) -> bool {
        self.core.is_cortex_m()
    }

    /// The registers and then the flags: an index into [`Mcu::register_names`], and bits.
    pub fn places(&self, machine: &dyn Mcu) -> Vec<(usize, u32)> {
        let index = |name: &str| machine.register_names().iter().position(|register| register.name == name);
        let registers = self.registers.iter().map(|register| (register.name, !0));
        let flags = self.flags.iter().map(|(_, bit)| (self.status, 1 << bit));
        // A name that is not there would be used by no instruction.
        registers.chain(flags).map(|(name, bits)| (index(name).unwrap_or(usize::MAX), bits)).collect()
    }

    /// Returns true for an instruction of which more is read than its own registers: BKPT, by which
    /// semihosting is called, and SVC (DDI 0403E, A7.7.17 and A7.7.175).
    pub fn reads_all(&self, machine: &dyn Mcu, pc: u32) -> bool {
        let mut halfword = [0; 2];
        machine.peek(pc, &mut halfword) && matches!(halfword[1], 0xbe | 0xdf)
    }

    /// Addresses of the instructions that a change concerns, of which the first is at `pc`.
    pub fn concerned(&self, machine: &dyn Mcu, pc: u32, change: Change) -> Vec<u32> {
        let Change::Skip(count) = change else { return vec![pc] };
        let mut next = Some(pc);
        let mut skipped = || {
            let at = next?;
            next = length::length(machine, self.core, at).map(|length| at.wrapping_add(length));
            Some(at)
        };
        (0..count).map_while(|_| skipped()).collect()
    }

    /// Makes the change at the instruction that comes next.
    ///
    /// # Errors
    /// Memory that cannot be written.
    pub fn make(
        &self,
        machine: &mut dyn Mcu,
        change: Change,
        reads: &[Read],
        stops: &[u32],
        observer: &mut dyn Observer,
    ) -> Result<Made, LabError> {
        let pc = machine.pc();
        let once = Until { cycles: Some(machine.cycles() + 1), addresses: stops.into() };
        match change {
            Change::Skip(count) => self.skip(machine, count),
            Change::Register { register, bit } => {
                let name = self.registers[usize::from(register)].name;
                Ok(set(machine, name, |value| value ^ 1 << bit))
            }
            Change::Zero { register } => Ok(set(machine, self.registers[usize::from(register)].name, |_| 0)),
            Change::Flag { flag } => {
                let bit = self.flags[usize::from(flag)].1;
                Ok(set(machine, self.status, |value| value ^ 1 << bit))
            }
            Change::Opcode { bit } => {
                let (byte, address) = flip(machine, pc, bit)?;
                let stop = machine.run_observed(&once, observer);
                machine.poke(address, &[byte]);
                Ok(Made::Ran(stop))
            }
            Change::Load { read, bit } => {
                let read = reads[usize::from(read)];
                let (byte, address) = flip(machine, read.address, bit)?;
                let stop = machine.run_observed(&once, observer);
                if !read.is_written {
                    machine.poke(address, &[byte]);
                }
                Ok(Made::Ran(stop))
            }
        }
    }

    fn skip(&self, machine: &mut dyn Mcu, count: u8) -> Result<Made, LabError> {
        let mut status = value(machine, "xpsr");
        let mut pc = machine.pc();
        for _ in 0..count {
            // Beyond the memory's end there is nothing to be skipped.
            let Some(length) = length::length(machine, self.core, pc) else { break };
            pc = pc.wrapping_add(length);
            status = status.map(after_skipped);
        }
        machine.set_pc(pc);
        if let Some(status) = status {
            machine.set_register("xpsr", status);
        }
        Ok(Made::Changed { skipped: count.into() })
    }
}

/// State of the machine after a change.
pub(super) enum Made {
    /// The change changes nothing.
    Nothing,
    /// The next instruction has not been executed, and this number was skipped.
    Changed { skipped: u64 },
    /// It has been executed, and the run ended so.
    Ran(Result<Stop, mcu::Fault>),
}

impl Made {
    /// Instructions that were skipped, and the end of the run if it has come; nothing where nothing
    /// was changed.
    pub fn progress(&self) -> Option<(u64, Option<Result<Stop, mcu::Fault>>)> {
        match self {
            Made::Nothing => None,
            Made::Changed { skipped } => Some((*skipped, None)),
            Made::Ran(stop) => Some((0, Some(stop.clone()).filter(|stop| *stop != Ok(Stop::Cycles)))),
        }
    }
}

fn value(machine: &dyn Mcu, name: &str) -> Option<u32> {
    machine.registers().into_iter().find(|(known, _)| known == name).map(|(_, value)| value)
}

/// Sets a register, told by its value before.
fn set(machine: &mut dyn Mcu, name: &str, changed: impl FnOnce(u32) -> u32) -> Made {
    let before = value(machine, name);
    machine.set_register(name, changed(before.unwrap_or_default()));
    if value(machine, name) == before { Made::Nothing } else { Made::Changed { skipped: 0 } }
}

/// Flips a bit of memory; the byte before, and its address.
fn flip(machine: &mut dyn Mcu, address: u32, bit: u8) -> Result<(u8, u32), LabError> {
    let address = address.wrapping_add(u32::from(bit / 8));
    let mut byte = [0];
    if machine.peek(address, &mut byte) && machine.poke(address, &[byte[0] ^ 1 << (bit % 8)]) {
        return Ok((byte[0], address));
    }
    Err(LabError::Unfinished(format!("memory at {address:#x} cannot be changed by a fault")))
}

/// The program status after an instruction that was skipped: an IT block goes on (DDI 0403E,
/// ITAdvance()).
fn after_skipped(status: u32) -> u32 {
    let state = status >> 25 & 3 | status >> 8 & 0xfc;
    let next = if state & 7 == 0 { 0 } else { state & 0xe0 | state << 1 & 0x1f };
    status & !(3 << 25 | 0x3f << 10) | (next & 3) << 25 | (next >> 2) << 10
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn model_is_read_by_its_name() {
        assert_eq!("skip".parse(), Ok(Model::Skip(1)));
        assert_eq!("skip:3".parse(), Ok(Model::Skip(3)));
        for text in ["", "skip:0", "skip:17", "skip:x", "flip"] {
            assert!(text.parse::<Model>().is_err_and(|said| said.contains("skip:16")), "{text}");
        }
    }

    #[test]
    fn skipped_instruction_advances_its_it_block() {
        let status = |state: u32| (state & 3) << 25 | (state >> 2) << 10 | 1 << 24 | 3;
        // ITTE EQ: 0x06, then 0x0c, then 0x18, then none.
        for (state, next) in [(0x06, 0x0c), (0x0c, 0x18), (0x18, 0), (0, 0)] {
            assert_eq!(after_skipped(status(state)), status(next), "{state:#x}");
        }
    }
}
