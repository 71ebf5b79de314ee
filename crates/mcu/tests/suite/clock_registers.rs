//! Registers of clock and system control: `clock_registers.toml`. Start-up code reads them, writes
//! them back whole and clears them, and a model must not stop there.

use mcu::{Fault, Mcu, MemoryKind, Part, PeripheralBus, Until, new_machine, peripherals::new_peripheral};
use serde::Deserialize;
use std::fmt::Write as _;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    block: Vec<Block>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Block {
    parts: Vec<String>,
    name: String,
    /// The manual's section and the vendor's file.
    source: String,
    base: u32,
    size: u32,
    #[serde(default = "word")]
    step: u32,
    /// Writes that unlock the block or take it out of reset: address, value, bytes.
    #[serde(default)]
    prepare: Vec<(u32, u32, u8)>,
    rows: String,
}

fn word() -> u32 {
    4
}

/// A line of the table.
struct Row {
    name: String,
    offset: u32,
    size: u8,
    /// After a reset, kept, refused; none for a register that is only read.
    bits: Option<[u32; 3]>,
}

impl Block {
    fn rows(&self) -> Vec<Row> {
        let hex = |text: &str| u32::from_str_radix(text, 16).expect("a number");
        let row = |line: &str| {
            let words: Vec<&str> = line.split_whitespace().collect();
            let bits = (words[3] != "-").then(|| [hex(words[3]), hex(words[4]), hex(words[5])]);
            Row { name: words[0].into(), offset: hex(words[1]), size: words[2].parse().expect("bytes"), bits }
        };
        self.rows.lines().map(row).collect()
    }
}

/// A part's registers: those on the bus, or those that only the core's instructions reach.
pub enum Device {
    Bus(Box<PeripheralBus>, u64),
    Core(Box<dyn Mcu>, u32),
}

impl Device {
    pub fn new(part: &Part, address: u32) -> Device {
        let devices = part.peripherals.iter().map(|spec| new_peripheral(part, spec).expect("a model"));
        let bus = PeripheralBus::new(devices.collect()).expect("a bus");
        if bus.claims(address) {
            return Device::Bus(Box::new(bus), 1);
        }
        let ram = part.memories.iter().find(|memory| memory.kind == MemoryKind::Ram).expect("RAM");
        let machine = new_machine(part, part.default_clock_hz).expect("a machine");
        Device::Core(machine, ram.start)
    }

    pub fn copy(&self) -> Device {
        match self {
            Device::Bus(bus, now) => Device::Bus(bus.clone(), *now),
            Device::Core(machine, ram) => Device::Core(machine.snapshot(), *ram),
        }
    }

    pub fn read(&mut self, address: u32, size: u8) -> Result<u32, Fault> {
        match self {
            Device::Bus(bus, now) => bus.read(address, size, *now, 0, None),
            Device::Core(machine, ram) => {
                // LDRB, LDRH, LDR r1, [r0].
                let load = [0x7801, 0x8801, 0, 0x6801][usize::from(size) - 1];
                execute(&mut **machine, *ram, load, address, 0)?;
                Ok(machine.registers()[1].1)
            }
        }
    }

    pub fn write(&mut self, address: u32, size: u8, value: u32) -> Result<(), Fault> {
        match self {
            Device::Bus(bus, now) => bus.write(address, size, value, *now, 0, None),
            Device::Core(machine, ram) => {
                // STRB, STRH, STR r1, [r0].
                let store = [0x7001, 0x8001, 0, 0x6001][usize::from(size) - 1];
                execute(&mut **machine, *ram, store, address, value)
            }
        }
    }
}

impl Device {
    /// Lets a peripheral on the bus come a second further, at most.
    fn wait(&mut self) {
        if let Device::Bus(bus, now) = self {
            *now += 50_000_000;
            bus.tick(*now, 0, None);
        }
    }
}

/// Executes one instruction in RAM, with `address` in r0 and `value` in r1.
fn execute(machine: &mut dyn Mcu, ram: u32, opcode: u16, address: u32, value: u32) -> Result<(), Fault> {
    assert!(machine.poke(ram, &[opcode, 0xe7fe].map(u16::to_le_bytes).concat()));
    assert!(machine.set_register("r0", address) && machine.set_register("r1", value));
    machine.set_pc(ram);
    machine.run(&Until { addresses: vec![ram + 2], ..Until::default() }).map(|_| ())
}

/// Differences between a part and the table.
struct Check<'a> {
    device: &'a Device,
    what: String,
    wrong: String,
    count: usize,
}

impl Check<'_> {
    fn report(&mut self, what: &str) {
        let _ = writeln!(self.wrong, "{}: {what}", self.what);
    }

    /// The register reads as `expected`, by any access that is no longer than it.
    fn check_reads(&mut self, address: u32, size: u8, expected: u32) {
        for (offset, part) in [(0, size), (0, 1), (u32::from(size) - 1, 1), (u32::from(size) / 2, size / 2)] {
            if part == 0 {
                continue;
            }
            self.count += 1;
            let mask = u32::MAX >> (32 - 8 * u32::from(part));
            match self.device.copy().read(address + offset, part) {
                Ok(found) if found == expected >> (8 * offset) & mask => {}
                Ok(found) => {
                    self.report(&format!("reads {found:#x} and not {expected:#x} ({offset}, {part})"))
                }
                Err(fault) => self.report(&format!("read of {part}: {fault}")),
            }
        }
    }

    /// It takes back what it reads.
    fn check_write_back(&mut self, address: u32, size: u8, reset: u32) {
        let mut device = self.device.copy();
        self.count += 1;
        match device.write(address, size, reset).and_then(|()| device.read(address, size)) {
            Ok(found) if found == reset => {}
            Ok(found) => self.report(&format!("{reset:#x} written back reads {found:#x}")),
            Err(fault) => self.report(&format!("{reset:#x} written back: {fault}")),
        }
    }

    /// Each bit alone is kept, refused by name, or changes nothing.
    fn check_bits(&mut self, address: u32, size: u8, [reset, kept, refused]: [u32; 3]) {
        for bit in (0..8 * u32::from(size)).map(|number| 1 << number) {
            let mut device = self.device.copy();
            self.count += 1;
            match device.write(address, size, reset ^ bit) {
                Err(Fault::Peripheral { what, .. }) if refused & bit == 0 => {
                    self.report(&format!("bit {bit:#x} is refused: {what}"));
                }
                Err(Fault::Peripheral { what, .. }) if !has_name(&what) => {
                    self.report(&format!("bit {bit:#x} is refused without a name: {what}"));
                }
                Err(Fault::Peripheral { .. }) => {}
                Err(fault) => self.report(&format!("bit {bit:#x}: {fault}")),
                Ok(()) if refused & bit != 0 => self.report(&format!("bit {bit:#x} is taken")),
                Ok(()) => match device.read(address, size) {
                    Ok(found) if (found ^ reset) & bit == kept & bit => {}
                    Ok(found) => self.report(&format!("bit {bit:#x} written: reads {found:#x}")),
                    Err(fault) => self.report(&format!("bit {bit:#x} written, read: {fault}")),
                },
            }
        }
    }
}

/// Returns true if a message has the name of a register or field, which the manuals write in
/// capitals, or of a clock (`clk_sys`).
fn has_name(message: &str) -> bool {
    let mut words = message.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_');
    words.any(|word| {
        let capitals = word.chars().filter(char::is_ascii_uppercase).count();
        let is_name =
            capitals >= 2 && word.len() >= 3 && !word.contains(|letter: char| letter.is_ascii_lowercase());
        is_name || word.contains('_')
    })
}

fn part(name: &str) -> Part {
    crate::cortex_m::programs::part(name)
}

/// A part, and the registers of one of its blocks with their offsets.
pub fn part_with_registers(name: &str, unit: &str) -> (Part, Vec<(String, u32)>) {
    let file: File = toml::from_str(include_str!("clock_registers.toml")).expect("clock_registers.toml");
    let is_wanted = |block: &&Block| block.name == unit && block.parts.iter().any(|part| part == name);
    let block = file.block.iter().find(is_wanted).expect("a block");
    (part(name), block.rows().into_iter().map(|row| (row.name, row.offset)).collect())
}

/// Compares a block of a part with its table; what is wrong, and how many accesses were made.
fn differences(block: &Block, name: &str) -> (String, usize) {
    let part = part(name);
    let rows = block.rows();
    let mut device = Device::new(&part, block.base + rows[0].offset);
    for (address, value, size) in &block.prepare {
        device.write(*address, *size, *value).expect("it is taken");
    }
    let (mut wrong, mut count) = (String::new(), 0);
    let check = |register: &str| Check {
        device: &device,
        what: format!("{name} {} {register}", block.name),
        wrong: String::new(),
        count: 0,
    };
    for row in &rows {
        let (address, mut check) = (block.base + row.offset, check(&row.name));
        match row.bits {
            None => {
                check.count += 1;
                if let Err(fault) = check.device.copy().read(address, row.size) {
                    check.report(&fault.to_string());
                }
            }
            Some(bits) => {
                check.check_reads(address, row.size, bits[0]);
                if bits[2] != u32::MAX >> (32 - 8 * u32::from(row.size)) {
                    check.check_write_back(address, row.size, bits[0]);
                }
                check.check_bits(address, row.size, bits);
            }
        }
        wrong += &check.wrong;
        count += check.count;
    }
    let free = |offset: &u32| {
        rows.iter()
            .all(|row| *offset + block.step <= row.offset || *offset >= row.offset + u32::from(row.size))
    };
    for offset in (rows[0].offset & !3..block.size).step_by(block.step as usize).filter(free) {
        let mut check = check(&format!("{offset:#05x}"));
        check.check_reads(block.base + offset, block.step as u8, 0);
        check.check_write_back(block.base + offset, block.step as u8, 0);
        wrong += &check.wrong;
        count += check.count;
    }
    (wrong, count)
}

/// The table's blocks of parts whose names begin so.
fn compare(family: &str, accesses_min: usize) {
    let file: File = toml::from_str(include_str!("clock_registers.toml")).expect("clock_registers.toml");
    let (mut wrong, mut count) = (String::new(), 0);
    for block in &file.block {
        for name in block.parts.iter().filter(|name| name.starts_with(family)) {
            assert!(!block.source.is_empty(), "{} has no source", block.name);
            let (of_block, accesses) = differences(block, name);
            wrong += &of_block;
            count += accesses;
        }
    }
    assert!(wrong.is_empty(), "{} of {count} accesses differ:\n{wrong}", wrong.lines().count());
    assert!(count >= accesses_min, "{family}: {count} accesses");
}

#[test]
fn rcc_registers_of_the_stm32_are_the_manuals() {
    compare("stm32", 10_000);
}

#[test]
fn clock_registers_of_the_samd21_are_the_data_sheets() {
    compare("samd21", 5_000);
}

#[test]
fn clock_registers_of_the_nrf52840_are_the_specifications() {
    compare("nrf52840", 5_000);
}

#[test]
fn clock_registers_of_the_rp2040_are_the_data_sheets() {
    compare("rp2040", 10_000);
}

#[test]
fn rcc_registers_of_the_ch32v003_are_the_manuals() {
    compare("ch32v003", 1_000);
}

#[test]
fn clock_registers_of_the_msp430_are_the_guides() {
    compare("msp430", 300);
}

#[test]
fn system_registers_of_the_avr_are_the_data_sheets() {
    compare("at", 300);
}

#[test]
fn system_registers_of_the_r8c_are_the_manuals() {
    compare("r8c", 50);
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sequences {
    sequence: Vec<Sequence>,
}

/// Start-up code: `clock_sequences.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Sequence {
    part: String,
    what: String,
    source: String,
    steps: String,
}

/// Makes one access; what is wrong with it.
fn step(device: &mut Device, verb: &str, numbers: &[u32]) -> Result<(), String> {
    let expects = matches!(verb, "wait" | "read");
    let size = numbers.get(if expects { 3 } else { 2 }).map_or(4, |size| *size as u8);
    let (address, bits) = (numbers[0], numbers[1]);
    let read = |device: &mut Device| device.read(address, size).map_err(|fault| fault.to_string());
    let value = match verb {
        "write" => bits,
        "set" => read(device)? | bits,
        "clear" => read(device)? & !bits,
        _ => {
            let mut found = read(device)?;
            for _ in 0..10 {
                if verb == "wait" && found & bits != numbers[2] {
                    device.wait();
                    found = read(device)?;
                }
            }
            return if found & bits == numbers[2] { Ok(()) } else { Err(format!("it is {found:#x}")) };
        }
    };
    device.write(address, size, value).map_err(|fault| fault.to_string())
}

#[test]
fn start_up_code_of_the_vendors_goes_through() {
    let file: Sequences = toml::from_str(include_str!("clock_sequences.toml")).expect("clock_sequences.toml");
    for sequence in &file.sequence {
        assert!(!sequence.source.is_empty(), "{} has no source", sequence.what);
        let mut steps = sequence.steps.lines().map(|line| {
            let mut words = line.split_whitespace();
            let verb = words.next().expect("a verb");
            let numbers: Vec<u32> =
                words.map(|word| u32::from_str_radix(word, 16).expect("a number")).collect();
            (line, verb, numbers)
        });
        let part = part(&sequence.part);
        let first = steps.clone().next().expect("a step").2[0];
        let mut device = Device::new(&part, first);
        if let Some((line, wrong)) = steps.find_map(|(line, verb, numbers)| {
            step(&mut device, verb, &numbers).err().map(|wrong| (line, wrong))
        }) {
            panic!("{} {}: {line}: {wrong}", sequence.part, sequence.what);
        }
    }
}
