//! The registers in the order, and of the widths, in which a gdb expects them.

use mcu::{CoreName, Mcu};
use std::fmt::Write;

/// Source of a register in gdb's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// The register of this name.
    Register(&'static str),
    /// A double register, of two single ones.
    Pair(&'static str, &'static str),
    ProgramCounter,
    /// The cycles since reset; read only.
    Cycles,
    /// A register that the core does not have: 0.
    None,
}

/// One register of a gdb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    source: Source,
    bytes: usize,
}

/// Register layout that a gdb expects of a core.
pub(super) struct Layout {
    /// The gdb that knows it.
    pub gdb: &'static str,
    /// Registers in a target description (GDB manual, "Target Descriptions"); empty for a gdb that
    /// knows them.
    pub description: String,
    /// True if gdb expects a watchpoint to stop the program before the access, over which it then
    /// steps by itself.
    pub stops_before_access: bool,
    slots: Vec<Slot>,
}

const GENERAL: [&str; 32] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
    "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25", "r26", "r27", "r28", "r29", "r30",
    "r31",
];

const SINGLE: [&str; 32] = [
    "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12", "s13", "s14", "s15",
    "s16", "s17", "s18", "s19", "s20", "s21", "s22", "s23", "s24", "s25", "s26", "s27", "s28", "s29", "s30",
    "s31",
];

const DOUBLE: [&str; 16] =
    ["d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "d8", "d9", "d10", "d11", "d12", "d13", "d14", "d15"];

const RISC_V: [&str; 16] =
    ["zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1", "a0", "a1", "a2", "a3", "a4", "a5"];

impl Layout {
    /// Returns the layout for the gdb of a machine's core; `None` where there is no gdb.
    pub fn of(machine: &dyn Mcu) -> Option<Layout> {
        match machine.part().core {
            CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6 => Some(avr()),
            CoreName::CortexM0
            | CoreName::CortexM0Plus
            | CoreName::CortexM3
            | CoreName::CortexM4
            | CoreName::CortexM7 => Some(arm(machine)),
            CoreName::Msp430x => Some(msp430()),
            CoreName::QingkeV2 => Some(risc_v()),
            CoreName::R8c => Some(m32c()),
            CoreName::Mcs51 | CoreName::Hc08 => None,
        }
    }

    /// All registers, little endian.
    pub fn read(&self, machine: &dyn Mcu) -> Vec<u8> {
        let registers = machine.registers();
        let named = |name: &str| {
            registers.iter().find(|(known, _)| known == name).map_or(0, |(_, value)| u64::from(*value))
        };
        let value = |source| match source {
            Source::Register(name) => named(name),
            Source::Pair(low, high) => named(high) << 32 | named(low),
            Source::ProgramCounter => machine.pc().into(),
            Source::Cycles => machine.cycles(),
            Source::None => 0,
        };
        let bytes = |slot: &Slot| value(slot.source).to_le_bytes()[..slot.bytes].to_vec();
        self.slots.iter().flat_map(bytes).collect()
    }

    /// Sets those registers that are to have another value.
    pub fn write(&self, machine: &mut dyn Mcu, bytes: &[u8]) {
        let old = self.read(machine);
        let mut at = 0;
        for slot in &self.slots {
            let range = at..at + slot.bytes;
            at = range.end;
            let Some(new) = bytes.get(range.clone()).filter(|new| **new != old[range.clone()]) else {
                continue;
            };
            let mut value = [0; 8];
            value[..slot.bytes].copy_from_slice(new);
            let value = u64::from_le_bytes(value);
            match slot.source {
                Source::Register(name) => drop(machine.set_register(name, value as u32)),
                Source::Pair(low, high) => {
                    machine.set_register(low, value as u32);
                    machine.set_register(high, (value >> 32) as u32);
                }
                Source::ProgramCounter => machine.set_pc(value as u32),
                Source::Cycles | Source::None => {}
            }
        }
    }
}

fn has_float(machine: &dyn Mcu) -> bool {
    machine.register_names().iter().any(|register| register.name == "fpscr")
}

fn register(name: &'static str, bytes: usize) -> Slot {
    Slot { source: Source::Register(name), bytes }
}

/// gdb/avr-tdep.c: 32 registers, SREG, SP, and the program counter in bytes.
fn avr() -> Layout {
    let mut slots: Vec<Slot> = GENERAL.map(|name| register(name, 1)).to_vec();
    slots.extend([register("sreg", 1), register("sp", 2)]);
    slots.push(Slot { source: Source::ProgramCounter, bytes: 4 });
    Layout { gdb: "avr-gdb", description: String::new(), stops_before_access: false, slots }
}

/// gdb/msp430-tdep.c: R0 to R15, 32 bits each whatever the core has.
fn msp430() -> Layout {
    let mut slots = vec![Slot { source: Source::ProgramCounter, bytes: 4 }];
    slots.extend(["sp", "sr"].map(|name| register(name, 4)));
    slots.push(Slot { source: Source::None, bytes: 4 });
    let general = ["r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"];
    slots.extend(general.map(|name| register(name, 4)));
    Layout { gdb: "msp430-elf-gdb", description: String::new(), stops_before_access: false, slots }
}

/// gdb/m32c-tdep.c: the registers of both banks side by side, SB twice, then those that there is
/// one of.
fn m32c() -> Layout {
    let banked = [
        ("bank0.r0", "bank1.r0"),
        ("bank0.r1", "bank1.r1"),
        ("bank0.r2", "bank1.r2"),
        ("bank0.r3", "bank1.r3"),
        ("bank0.a0", "bank1.a0"),
        ("bank0.a1", "bank1.a1"),
        ("bank0.fb", "bank1.fb"),
        ("sb", "sb"),
    ];
    let mut slots: Vec<Slot> =
        banked.iter().flat_map(|(zero, one)| [register(zero, 2), register(one, 2)]).collect();
    slots.extend([register("usp", 2), register("isp", 2), register("intb", 3)]);
    slots.extend([Slot { source: Source::ProgramCounter, bytes: 3 }, register("flg", 2)]);
    Layout { gdb: "m32c-elf-gdb", description: String::new(), stops_before_access: false, slots }
}

/// A target description that is being written, with what it describes.
struct Description {
    text: String,
    slots: Vec<Slot>,
}

impl Description {
    fn new(architecture: &str) -> Description {
        let text = format!(
            "<?xml version=\"1.0\"?>\n<!DOCTYPE target SYSTEM \"gdb-target.dtd\">\n<target version=\"1.0\">\n\
             <architecture>{architecture}</architecture>\n"
        );
        Description { text, slots: Vec::new() }
    }

    fn feature(&mut self, name: &str, registers: &[(&str, Source, usize, &str)]) {
        let _ = writeln!(self.text, "<feature name=\"{name}\">");
        for (name, source, bytes, kind) in registers {
            let bits = bytes * 8;
            let _ = writeln!(self.text, "<reg name=\"{name}\" bitsize=\"{bits}\" type=\"{kind}\"/>");
            self.slots.push(Slot { source: *source, bytes: *bytes });
        }
        self.text.push_str("</feature>\n");
    }

    /// The cycles since reset are a register of every core that can have more than its gdb knows.
    /// The gdbs of these have `gdbarch_have_nonsteppable_watchpoint` set.
    fn layout(mut self, gdb: &'static str) -> Layout {
        self.feature("wattseal", &[("cycles", Source::Cycles, 8, "uint64")]);
        self.text.push_str("</target>\n");
        Layout { gdb, description: self.text, stops_before_access: true, slots: self.slots }
    }
}

/// The registers of the system's feature: name, bytes and type.
const SYSTEM: [(&str, usize, &str); 6] = [
    ("msp", 4, "data_ptr"),
    ("psp", 4, "data_ptr"),
    ("primask", 1, "int8"),
    ("basepri", 1, "int8"),
    ("faultmask", 1, "int8"),
    ("control", 1, "int8"),
];

/// GDB manual, "ARM Features": org.gnu.gdb.arm.m-profile, .m-system and .vfp.
fn arm(machine: &dyn Mcu) -> Layout {
    let mut description = Description::new("arm");
    let mut core: Vec<(&str, Source, usize, &str)> =
        GENERAL[..13].iter().map(|name| (*name, Source::Register(name), 4, "uint32")).collect();
    core.extend([
        ("sp", Source::Register("sp"), 4, "data_ptr"),
        ("lr", Source::Register("lr"), 4, "code_ptr"),
        ("pc", Source::ProgramCounter, 4, "code_ptr"),
        ("xpsr", Source::Register("xpsr"), 4, "uint32"),
    ]);
    description.feature("org.gnu.gdb.arm.m-profile", &core);
    // OpenOCD describes the masks there, too.
    let known = machine.register_names();
    let system: Vec<(&str, Source, usize, &str)> = SYSTEM
        .iter()
        .filter(|(name, ..)| known.iter().any(|register| register.name == *name))
        .map(|(name, bytes, kind)| (*name, Source::Register(name), *bytes, *kind))
        .collect();
    description.feature("org.gnu.gdb.arm.m-system", &system);
    if has_float(machine) {
        let pairs = DOUBLE.iter().zip(SINGLE.chunks_exact(2));
        let mut vfp: Vec<_> =
            pairs.map(|(name, pair)| (*name, Source::Pair(pair[0], pair[1]), 8, "ieee_double")).collect();
        vfp.push(("fpscr", Source::Register("fpscr"), 4, "uint32"));
        description.feature("org.gnu.gdb.arm.vfp", &vfp);
    }
    description.layout("gdb-multiarch")
}

/// GDB manual, "RISC-V Features": org.gnu.gdb.riscv.cpu, with 16 registers for RV32E, and .csr.
fn risc_v() -> Layout {
    let mut description = Description::new("riscv:rv32");
    let mut core: Vec<_> = RISC_V
        .iter()
        .map(|name| match *name {
            "zero" => ("zero", Source::None, 4, "uint32"),
            name => (name, Source::Register(name), 4, "uint32"),
        })
        .collect();
    core.push(("pc", Source::ProgramCounter, 4, "code_ptr"));
    description.feature("org.gnu.gdb.riscv.cpu", &core);
    let csrs = ["mstatus", "mtvec", "mscratch", "mepc", "mcause"]
        .map(|name| (name, Source::Register(name), 4, "uint32"));
    description.feature("org.gnu.gdb.riscv.csr", &csrs);
    description.layout("gdb-multiarch")
}
