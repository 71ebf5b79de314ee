//! Random reads and writes of registers on every part.
//!
//! The model goes on or faults; it neither panics nor hangs.

use mcu::{
    ClockUpdate, CoreName, MemoryKind, Part, PeripheralBus, ResetCause, Until, new_machine,
    peripherals::new_peripheral,
};
use std::path::Path;
use testkit::random::{Random, seed};

/// All parts that have a target file.
fn parts() -> Vec<Part> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../targets");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    files.sort();
    let read = |path| Part::from_toml(&std::fs::read_to_string(path).expect("a text")).expect("a part");
    files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml")).map(read).collect()
}

fn is_cortex_m(core: CoreName) -> bool {
    use CoreName::{CortexM0, CortexM0Plus, CortexM3, CortexM4, CortexM7};
    matches!(core, CortexM0 | CortexM0Plus | CortexM3 | CortexM4 | CortexM7)
}

/// Bytes that the part's instructions access at once.
fn sizes(core: CoreName) -> &'static [u8] {
    match core {
        CoreName::Hc08 | CoreName::Mcs51 => &[1],
        CoreName::Msp430x | CoreName::R8c => &[1, 2],
        _ if is_cortex_m(core) || core == CoreName::QingkeV2 => &[1, 2, 4],
        _ => &[1],
    }
}

/// All bits, one bit, a small number, or what the dice say.
fn value(random: &mut Random) -> u32 {
    match random.below(4) {
        0 => u32::MAX,
        1 => 1 << random.below(32),
        2 => random.below(16),
        _ => random.word64() as u32,
    }
}

#[test]
fn registers_on_the_bus_survive_any_access() {
    let mut random = Random::new(seed());
    for part in parts() {
        for _ in 0..8 {
            let mut devices: Vec<_> =
                part.peripherals.iter().map(|spec| new_peripheral(&part, spec).expect("a model")).collect();
            devices
                .iter_mut()
                .for_each(|device| device.clocks_changed(ClockUpdate::Core(part.default_clock_hz), 0));
            let ranges: Vec<_> = devices.iter().flat_map(|device| device.spec().ranges).collect();
            let mut bus = PeripheralBus::new(devices).expect("a bus");
            let mut now = 0;
            for _ in 0..if ranges.is_empty() { 0 } else { 1_000 } {
                let range = &ranges[random.below(ranges.len() as u32) as usize];
                let size = sizes(part.core)[random.below(sizes(part.core).len() as u32) as usize];
                // The first registers of a block are those that do the most.
                let reach = [0x40, u32::MAX][random.below(2) as usize].min(range.end - range.start);
                let address = (range.start + random.below(reach)) & !(u32::from(size) - 1);
                // A fault is an answer, too.
                let _ = match random.below(3) {
                    0 => bus.read(address, size, now, 0, None).map(|_| ()),
                    1 => bus.write_bit(address, random.below(8) as u8, random.below(2) == 0, now, 0, None),
                    _ => {
                        let value = value(&mut random) & (u32::MAX >> (32 - 8 * u32::from(size)));
                        bus.write(address, size, value, now, 0, None)
                    }
                };
                now += 1 << random.below(24);
                // Whoever wants a tick gets on by it; a converter that runs freely wants millions.
                let mut still = 0;
                for _ in 0..200 {
                    let due = bus.due;
                    if due > now {
                        break;
                    }
                    // With every instruction, of which the next is the next access.
                    if due == 0 {
                        bus.tick(now, 0, None);
                        break;
                    }
                    bus.tick(due, 0, None);
                    still = if bus.due == due { still + 1 } else { 0 };
                    // A watchdog waits for the core to begin anew.
                    if still > 0 && bus.has_running_watchdog() {
                        bus.reset_by(ResetCause::Watchdog, now, 0);
                        still = 0;
                    }
                    assert!(still < 100, "{}: time stands still after {address:#x}", part.name);
                }
            }
        }
    }
}

/// The same by instructions, which also come to the registers within the core: clocks, flash,
/// interrupts, SysTick.
#[test]
fn registers_of_the_cortex_m_survive_any_access() {
    // STR, STRB, STRH, LDR, LDRB, LDRH of r1 at r0; then a jump to itself.
    const ACCESSES: [u16; 6] = [0x6001, 0x7001, 0x8001, 0x6801, 0x7801, 0x8801];
    const BLOCKS: [u32; 6] = [0xe000_1000, 0xe000_e000, 0xe000_ed00, 0x4002_1000, 0x4002_3800, 0x4002_3c00];
    let mut random = Random::new(seed());
    for part in parts().into_iter().filter(|part| is_cortex_m(part.core)) {
        let ram = part.memories.iter().find(|memory| memory.kind == MemoryKind::Ram).expect("RAM").start;
        let known: Vec<u32> = part.peripherals.iter().map(|spec| spec.base).chain(BLOCKS).collect();
        for _ in 0..300 {
            let mut machine = new_machine(&part, part.default_clock_hz).expect("a machine");
            for _ in 0..30 {
                let access = ACCESSES[random.below(6) as usize];
                let bytes = [access, 0xe7fe].map(u16::to_le_bytes).concat();
                assert!(machine.poke(ram, &bytes));
                let base = known[random.below(known.len() as u32) as usize];
                let set = machine.set_register("r0", (base + random.below(0x100)) & !3)
                    && machine.set_register("r1", value(&mut random))
                    && machine.set_register("sp", ram + 0x1000);
                assert!(set);
                machine.set_pc(ram);
                let cycles = machine.cycles() + 1 + u64::from(random.below(1000));
                let _ = machine.run(&Until { cycles: Some(cycles), addresses: Vec::new() });
            }
        }
    }
}
