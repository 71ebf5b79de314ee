//! A register that is read after a reset and written back as it was read stops no program, whether
//! the peripheral has it or not.
//!
//! Manuals call an unused place of a block "reserved" or "read as zero": drivers for a whole family
//! read and write those, too.

use crate::clock_gates::enable_all;
use mcu::{Part, PeripheralBus, peripherals::new_peripheral};
use std::path::Path;

/// The registers of a model's family: offsets in bytes from and to, and how far one is from the
/// next.
struct Map {
    model: &'static str,
    registers: &'static [(u32, u32)],
    step: u32,
}

/// The unions of the families' register maps, without what cannot be read without an effect.
const MAPS: [Map; 5] = [
    // RM0090, tables of the register maps of sections 17 to 20: CR1 to BDTR, DCR, OR. DMAR reads
    // what DCR points to.
    Map { model: "stm32-timer", registers: &[(0x00, 0x48), (0x50, 0x50)], step: 4 },
    // nRF52840 PS, TIMER: tasks, events, SHORTS, INTENSET, INTENCLR, MODE, BITMODE, PRESCALER, CC.
    Map {
        model: "nrf-timer",
        registers: &[
            (0x000, 0x010),
            (0x040, 0x054),
            (0x140, 0x154),
            (0x200, 0x200),
            (0x304, 0x308),
            (0x504, 0x508),
            (0x510, 0x510),
            (0x540, 0x54c),
        ],
        step: 4,
    },
    // nRF52840 PS, SAADC: tasks, events, INTEN, INTENSET, INTENCLR, STATUS, ENABLE, CH, RESOLUTION,
    // OVERSAMPLE, SAMPLERATE, RESULT.
    Map {
        model: "nrf-saadc",
        registers: &[
            (0x000, 0x00c),
            (0x100, 0x154),
            (0x300, 0x308),
            (0x400, 0x400),
            (0x500, 0x500),
            (0x510, 0x58c),
            (0x5f0, 0x5f8),
            (0x62c, 0x634),
        ],
        step: 4,
    },
    // nRF52840 PS, RTC: tasks, events, INTENSET, INTENCLR, EVTEN, EVTENSET, EVTENCLR, PRESCALER,
    // CC.
    Map {
        model: "nrf-rtc",
        registers: &[
            (0x000, 0x00c),
            (0x100, 0x104),
            (0x140, 0x14c),
            (0x304, 0x308),
            (0x340, 0x348),
            (0x508, 0x508),
            (0x540, 0x548),
        ],
        step: 4,
    },
    // DS40001882F, table 30-4 and the summaries of 8, 16 and 32 bits: CTRLA to DBGCTRL, EVCTRL,
    // INTENCLR to STATUS, COUNT, CC.
    Map {
        model: "samd21-timer",
        registers: &[(0x00, 0x00), (0x04, 0x06), (0x08, 0x08), (0x0a, 0x0f)],
        step: 1,
    },
];

fn parts() -> Vec<Part> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../targets");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let read = |path| Part::from_toml(&std::fs::read_to_string(path).expect("a text")).expect("a part");
    files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml")).map(read).collect()
}

#[test]
fn register_accepts_its_reset_value() {
    let (mut stops, mut count) = (Vec::new(), 0);
    for part in parts() {
        let devices: Vec<_> =
            part.peripherals.iter().map(|spec| new_peripheral(&part, spec).expect("a model")).collect();
        let mut bus = PeripheralBus::new(devices).expect("a bus");
        enable_all(&mut bus, &part.name);
        for spec in &part.peripherals {
            let Some(map) = MAPS.iter().find(|map| map.model == spec.model) else { continue };
            for (first, last) in map.registers {
                for offset in (*first..=*last).step_by(map.step as usize) {
                    let (address, size) = (spec.base + offset, map.step as u8);
                    let at = format!("{} {} at {offset:#x}", part.name, spec.name);
                    count += 1;
                    match bus.read(address, size, 1, 0, None) {
                        Err(fault) => stops.push(format!("{at}, read: {fault}")),
                        Ok(value) => {
                            if let Err(fault) = bus.write(address, size, value, 1, 0, None) {
                                stops.push(format!("{at}, {value:#x} written: {fault}"));
                            }
                        }
                    }
                }
            }
        }
    }
    assert!(stops.is_empty(), "{} accesses stop:\n{}", stops.len(), stops.join("\n"));
    assert!(count > 1_000, "{count}");
}
