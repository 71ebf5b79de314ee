//! Each peripheral of the parts with an RCC: without its clock, with it, and after its reset.

use super::clock_registers::{Device, part_with_registers};
use mcu::{Fault, Part, PeripheralBus, Stop, Until};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    part: Vec<Table>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    /// The block of the clock control in `clock_registers.toml`, and its base.
    #[serde(default = "rcc")]
    unit: String,
    rcc: u32,
    rows: String,
}

fn rcc() -> String {
    "RCC".into()
}

/// A peripheral's bits.
struct Row {
    peripheral: String,
    bit: u8,
    /// Register and name of the bit.
    enable: (String, String),
    reset: Option<(String, String)>,
    in_sleep: Option<String>,
}

impl Table {
    fn rows(&self) -> Vec<Row> {
        let end = if self.unit == "RCC" { "EN" } else { "" };
        self.rows.lines().flat_map(|line| rows_of_line(line, end)).collect()
    }
}

/// The rows of a line; names of enables end so.
fn rows_of_line(line: &str, end: &str) -> Vec<Row> {
    let (registers, fields) = line.split_once(": ").expect("registers and bits");
    let registers: Vec<&str> = registers.split(' ').collect();
    let known = |register: &str| (register != "-").then(|| register.to_string());
    let row = |word: &str| {
        let (bit, names) = word.split_once(' ').expect("a bit and a name");
        let (peripheral, stems) = names.split_once('=').unwrap_or((names, ""));
        let (enable, reset) = stems.split_once('/').unwrap_or((peripheral, peripheral));
        Row {
            peripheral: peripheral.into(),
            bit: bit.parse().expect("a number"),
            enable: (registers[0].into(), format!("{enable}{end}")),
            reset: known(registers[1]).filter(|_| reset != "-").map(|name| (name, format!("{reset}RST"))),
            in_sleep: known(registers[2]),
        }
    };
    fields.split(", ").map(row).collect()
}

/// A register that keeps what is written, by the model: offset, value.
fn sample(part: &Part, row: &Row) -> (u32, u32) {
    let Some(spec) = part.peripherals.iter().find(|spec| spec.name == row.peripheral) else {
        // EXTICR1 of SYSCFG or AFIO.
        let exti = part.peripherals.iter().find(|spec| spec.name == "EXTI").expect("EXTI");
        return (exti.settings["syscfg_base"] as u32 + 0x08, 1);
    };
    let old_port = part.name.starts_with("stm32f1") || part.name.starts_with("ch32");
    let streams = part.name.starts_with("stm32f4") || part.name.starts_with("stm32f7");
    let (offset, value) = match spec.model.as_str() {
        "stm32-gpio" => (if old_port { 0x0c } else { 0x14 }, 1),
        "stm32-usart" => (if spec.settings["layout"] == 1 { 0x08 } else { 0x0c }, 0x45),
        "stm32-timer" => (0x2c, 0x1234),
        "stm32-spi" => (0x00, 0x0300),
        "stm32-i2c" => (0x08, 0x4050),
        "stm32-i2c-v2" | "stm32-adc" | "stm32f1-adc" => (0x10, 1),
        "stm32f0-adc" => (0x28, 1),
        "stm32l4-adc" => (0x30, 0x40),
        "stm32-dac" => (0x08, 0x123),
        "stm32-dma" => (if streams { 0x18 } else { 0x14 }, 0x2000_0000),
        "stm32-dmamux" => (0x00, 5),
        "stm32-crc" => (0x04, 0x5a),
        "stm32-rng" => (0x00, 4),
        "stm32-wwdg" => (0x04, 0x5f),
        "stm32-pwr" | "stm32-pwr-l4" => (0x00, 0x4300),
        "stm32-dbgmcu" => (0x08, 1),
        // Written it is protected.
        // CTRLA, PER, DIR, INPUTCTRL, CTRL.
        "samd21-sercom" => (0x00, 1 << 7),
        "samd21-timer" => (0x00, 1 << 11),
        "samd21-tcc" => (0x40, 0x1234),
        "samd21-port" => (0x00, 1 << 4),
        "samd21-adc" => (0x10, 1),
        "samd21-watchdog" => (0x00, 0),
        "stm32-backup-sram" => return (spec.base, 0),
        model => panic!("no register of {model}"),
    };
    (spec.base + offset, value)
}

/// The registers of a part's clock control, by the names of `clock_registers.toml`.
struct Rcc {
    unit: String,
    base: u32,
    offsets: Vec<(String, u32)>,
}

impl Rcc {
    fn at(&self, register: &str) -> u32 {
        let (_, offset) = self.offsets.iter().find(|(name, _)| name == register).expect("a register");
        self.base + offset
    }

    fn set(&self, device: &mut Device, register: &str, bit: u8, on: bool) {
        let before = device.read(self.at(register), 4).expect("a register of RCC");
        let value = before & !(1 << bit) | u32::from(on) << bit;
        device.write(self.at(register), 4, value).expect("a register of RCC");
    }
}

/// Writes that let every peripheral of a part have its clock: address, value. None on a part
/// without an RCC.
pub fn enables(target: &str) -> Vec<(u32, u32)> {
    let tables = tables();
    let Some((_, rcc, rows)) = tables.iter().find(|(part, ..)| part.name == target) else {
        return Vec::new();
    };
    let mut enables: Vec<(u32, u32)> = Vec::new();
    for row in rows {
        let (address, bit) = (rcc.at(&row.enable.0), 1 << row.bit);
        match enables.iter_mut().find(|(known, _)| *known == address) {
            Some((_, bits)) => *bits |= bit,
            None => enables.push((address, bit)),
        }
    }
    enables
}

/// Lets the peripherals of a bus have their clocks, where it has the clock control, too.
pub fn enable_all(bus: &mut PeripheralBus, target: &str) {
    for (address, value) in enables(target) {
        if !bus.claims(address) {
            continue;
        }
        bus.write(address, 4, value, 0, 0, None).expect("a register of RCC");
    }
}

/// The same as instructions of a Cortex-M, by r0 and r1.
pub fn enabling(target: &str) -> String {
    let write = |(address, value)| format!("ldr r0, ={address:#x}\nldr r1, ={value:#x}\nstr r1, [r0]\n");
    enables(target).into_iter().map(write).collect()
}

fn told(result: Result<u32, Fault>) -> String {
    result.map_or_else(|fault| fault.to_string(), |value| format!("reads {value:#x}"))
}

/// The tables with their parts and the machines' clock controls.
fn tables() -> Vec<(Part, Rcc, Vec<Row>)> {
    let file: File = toml::from_str(include_str!("clock_gates.toml")).expect("a table");
    let read = |table: Table| {
        let (part, offsets) = part_with_registers(&table.name, &table.unit);
        (part, Rcc { unit: table.unit.clone(), base: table.rcc, offsets }, table.rows())
    };
    file.part.into_iter().map(read).collect()
}

#[test]
fn peripheral_needs_its_clock_and_is_reset_by_the_rcc() {
    let mut wrong = Vec::new();
    for (part, rcc, rows) in tables() {
        let (fresh, unit) = (Device::new(&part, rcc.base), &rcc.unit);
        for row in &rows {
            let mut check = |what: &str, found: String, expected: &str| {
                if !found.contains(expected) {
                    wrong.push(format!(
                        "{} {}, {what}: {found}, and not {expected}",
                        part.name, row.peripheral
                    ));
                }
            };
            let ((address, value), bit) = (sample(&part, row), row.bit);
            let (enable, name) = (&row.enable.0, &row.enable.1);
            let off = format!(
                "{}: its clock is off: set {name}, bit {bit} of {unit}_{enable}, first",
                row.peripheral
            );
            let mut device = fresh.copy();
            rcc.set(&mut device, enable, bit, false);
            check("no clock, read", told(device.read(address, 4)), &off);
            check("no clock, write", told(device.write(address, 4, value).map(|()| 0)), &off);
            if let Some(register) = &row.in_sleep {
                let enables = device.read(rcc.at(register), 4).expect("a register of RCC");
                check("clock in sleep", format!("{}", enables >> bit & 1), "1");
            }
            rcc.set(&mut device, enable, bit, true);
            let at_reset = device.read(address, 4);
            check("clock", told(at_reset.clone()), "reads");
            if matches!(&*row.peripheral, "BKPSRAM" | "WDT") {
                continue;
            }
            device.write(address, 4, value).expect("a write with a clock");
            check("written", told(device.read(address, 4)), &format!("reads {value:#x}"));
            let Some((register, name)) = &row.reset else { continue };
            rcc.set(&mut device, register, bit, true);
            let held = format!(
                "{}: it is held in reset: clear {name}, bit {bit} of {unit}_{register}, first",
                row.peripheral
            );
            check("held", told(device.read(address, 4)), &held);
            rcc.set(&mut device, register, bit, false);
            check("released", told(device.read(address, 4)), &told(at_reset));
            rcc.set(&mut device, enable, bit, false);
            check("clock off again", told(device.read(address, 4)), &off);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An access that goes on with `set_lenient` reads 0 and changes nothing, and is counted once a
/// kind.
#[test]
fn lenient_access_without_clock_reads_0_and_changes_nothing() {
    for (part, rcc, rows) in tables().into_iter().filter(|(part, ..)| part.name.starts_with("stm32")) {
        let Device::Core(machine, ram) = Device::new(&part, rcc.base) else {
            panic!("{} has a core", part.name)
        };
        for row in rows {
            let mut machine = machine.snapshot();
            machine.set_lenient(true);
            let mut device = Device::Core(machine, ram);
            let (address, value) = sample(&part, &row);
            device.write(address, 4, value).expect("goes on");
            assert_eq!(device.read(address, 4), Ok(0), "{} {}", part.name, row.peripheral);
            rcc.set(&mut device, &row.enable.0, row.bit, true);
            let found = device.read(address, 4).expect("a register");
            assert!(
                found != value || value == 0,
                "{} {}: written without a clock",
                part.name,
                row.peripheral
            );
            let Device::Core(machine, _) = &device else { panic!("it stays one") };
            let tolerated = machine.tolerated();
            assert!(
                matches!(tolerated[..], [(kind, 2)] if kind.contains("without a clock")),
                "{tolerated:?}"
            );
        }
    }
}

/// Peripherals that the manuals give no clock enable, or that keep one of another kind.
#[test]
fn every_peripheral_has_its_clock_enable_or_needs_none() {
    const NEED_NONE: [&str; 6] = ["IWDG", "EXTI", "signature", "FLASH", "RTC", "DBGMCU"];
    const CH32_NEED_NONE: [&str; 5] = ["RCC", "PFIC", "DM", "STK", "EXTI"];
    const SAMD21_NEED_NONE: [&str; 1] = ["PM"];
    for (part, _, rows) in tables() {
        let free: &[&str] = match &part.name[..4] {
            "ch32" => &CH32_NEED_NONE,
            "samd" => &SAMD21_NEED_NONE,
            _ => &NEED_NONE,
        };
        let gated = |name: &str| rows.iter().any(|row| row.peripheral == name);
        let loose = part.peripherals.iter().filter(|spec| !gated(&spec.name) && !free.contains(&&*spec.name));
        assert_eq!(loose.map(|spec| &*spec.name).collect::<Vec<_>>(), [""; 0], "{}", part.name);
    }
}

const TIM2: u32 = 0x4000_0000;
const TIM2_IRQ: u8 = 28;

/// An STM32F407 whose TIM2 counts up to 1,000 and then interrupts.
fn counting() -> (Rcc, Device) {
    let (part, offsets) = part_with_registers("stm32f407", "RCC");
    let rcc = Rcc { unit: "RCC".into(), base: 0x4002_3800, offsets };
    let mut device = Device::new(&part, rcc.base);
    rcc.set(&mut device, "APB1ENR", 0, true);
    for (address, value) in [(TIM2 + 0x2c, 1_000), (TIM2 + 0x0c, 1), (TIM2, 1), (0xe000_e100, 1 << TIM2_IRQ)]
    {
        device.write(address, 4, value).expect("a register");
    }
    (rcc, device)
}

#[test]
fn timer_without_its_clock_stands_still() {
    let (rcc, mut device) = counting();
    let count = |device: &mut Device| device.read(TIM2 + 0x24, 4).expect("TIM2_CNT");
    let passes = |rcc: &Rcc, mut device: Device, stops: bool| {
        let before = count(&mut device);
        rcc.set(&mut device, "APB1ENR", 0, !stops);
        for _ in 0..20 {
            rcc.set(&mut device, "APB1ENR", 1, true);
        }
        rcc.set(&mut device, "APB1ENR", 0, true);
        count(&mut device) - before
    };
    let (goes, stands) = (passes(&rcc, device.copy(), false), passes(&rcc, device.copy(), true));
    let without = {
        let before = count(&mut device);
        rcc.set(&mut device, "APB1ENR", 0, true);
        rcc.set(&mut device, "APB1ENR", 0, true);
        count(&mut device) - before
    };
    assert!(goes > 60, "{goes}");
    assert!(stands < without && stands > 0, "{stands} counts around the stop, {without} without one");
}

/// RM0090, section 7.3.18: a bit that is clear takes the clock away during sleep.
#[test]
fn timer_wakes_no_core_that_sleeps_without_its_clock() {
    for in_sleep in [true, false] {
        let (rcc, mut device) = counting();
        rcc.set(&mut device, "APB1LPENR", 0, in_sleep);
        let Device::Core(machine, ram) = &mut device else { panic!("a core") };
        // WFI, then a place to stop at.
        assert!(machine.poke(*ram, &[0xbf30u16, 0xe7fe].map(u16::to_le_bytes).concat()));
        assert!(machine.set_register("primask", 1));
        machine.set_pc(*ram);
        let until = Until { addresses: vec![*ram + 2], cycles: Some(1_000_000) };
        let stop = machine.run(&until).expect("a run");
        assert_eq!(stop, if in_sleep { Stop::Address(*ram + 2) } else { Stop::Halted });
    }
}
