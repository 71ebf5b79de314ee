//! The costs of a telegram on each board by profile, its constant time, and what it leaves in RAM.

use super::{BOARDS, Meter, PROFILES, SECOND_NS, firmware, read, sealing};
use device::crypto::oms_kdf;
use device::meter::oms::{Reading, Sealing, telegram};
use mcu::{LeakKind, Mcu, MemoryKind, Until};
use rand::SeedableRng;
use rand::rngs::StdRng;
use sim::node::emulated::BoardFirmware;

/// Symbols at which the stack's room begins, by port.
const ROOM: [&str; 2] = ["ws_noinit_end", "ws_bss_end"];
const PAINT: u8 = 0xa5;

fn register(machine: &dyn Mcu, name: &str) -> Option<u32> {
    machine.registers().into_iter().find(|(register, _)| register == name).map(|(_, value)| value)
}

fn peek(machine: &dyn Mcu, address: u32, bytes: usize) -> Vec<u8> {
    let mut buffer = vec![0; bytes];
    assert!(machine.peek(address, &mut buffer), "{address:#x} can be read");
    buffer
}

/// The addresses to which a function returns where it begins, and of its fourth argument.
fn back_and_key(machine: &dyn Mcu) -> (u32, u32) {
    let sp = machine.sp();
    let half = |bytes: Vec<u8>| <[u8; 2]>::try_from(bytes).expect("two bytes");
    if let Some(link) = register(machine, "lr") {
        return (link & !1, register(machine, "r3").expect("a register"));
    }
    if let Some(low) = register(machine, "r18") {
        let high = register(machine, "r19").expect("a register");
        let back = u16::from_be_bytes(half(peek(machine, 0x80_0001 + sp, 2)));
        return (2 * u32::from(back), 0x80_0000 | high << 8 | low);
    }
    let back = u16::from_le_bytes(half(peek(machine, sp, 2)));
    (back.into(), register(machine, "r15").expect("a register"))
}

/// Goes on to an address.
fn run_to(meter: &mut Meter, address: u32) {
    let machine = meter.board.machine_mut();
    let until = Until { cycles: Some(machine.cycles() + 200_000_000), addresses: vec![address] };
    machine.run(&until).expect("the firmware runs");
    assert_eq!(machine.pc(), address, "it is never come to");
}

/// The least cycles of five telegrams, with the sampler's interrupts that come meanwhile.
fn cycles(meter: &mut Meter, firmware: &BoardFirmware) -> u64 {
    let begin = firmware.address("ws_oms_telegram").expect("a function");
    let of_one = |meter: &mut Meter| {
        run_to(meter, begin);
        let (back, _) = back_and_key(meter.board.machine());
        let from = meter.board.machine().cycles();
        run_to(meter, back);
        meter.board.machine().cycles() - from
    };
    (0..5).map(|_| of_one(meter)).min().expect("five")
}

/// The stack's room: its first address, and its bytes.
fn room(firmware: &BoardFirmware, machine: &dyn Mcu) -> (u32, usize) {
    let symbol = |name: &str| firmware.address(name).ok();
    let from = ROOM.iter().find_map(|name| symbol(name)).expect("the room's begin");
    let top = symbol("ws_stack_top").expect("the linker has it");
    // The linker's symbols of an AVR may be without the offset of its data space.
    let data_space = if register(machine, "r31").is_some() { 0x80_0000 } else { 0 };
    (from | data_space, ((top | data_space) - (from | data_space)) as usize)
}

/// Bytes of the stack's room that were touched.
fn stack(meter: &Meter, firmware: &BoardFirmware) -> usize {
    let machine = meter.board.machine();
    let (from, bytes) = room(firmware, machine);
    bytes - peek(machine, from, bytes).iter().take_while(|byte| **byte == PAINT).count()
}

#[derive(Debug, PartialEq, Eq)]
struct Costs {
    board: &'static str,
    flash: i64,
    ram: i64,
    /// By profile: cycles, stack.
    profiles: [(u64, usize); 3],
}

fn costs(board: &'static str) -> Costs {
    let firmware = firmware(board);
    let profiles = PROFILES.map(|profile| {
        let mut rng = StdRng::seed_from_u64(49);
        let mut meter = Meter::new(&firmware, &sealing(profile, 1, &mut rng), 1, 1);
        let (from, bytes) = room(&firmware, meter.board.machine());
        assert!(meter.board.machine_mut().poke(from, &vec![PAINT; bytes]));
        let cycles = cycles(&mut meter, &firmware);
        (cycles, stack(&meter, &firmware))
    });
    let footprint = firmware.image.footprint();
    Costs { board, flash: footprint.flash, ram: footprint.ram, profiles }
}

/// The tables of docs/reference/meter.md, "As a meter that others read".
#[test]
fn costs_are_as_the_page_says() {
    let found = BOARDS.map(costs);
    let of = |board, flash, ram, profiles| Costs { board, flash, ram, profiles };
    assert_eq!(
        found,
        [
            of("emontx", 10_912, 177, [(20_451, 396), (115_034, 522), (92_318, 594)]),
            of("msp430f5438a-cc2500", 17_580, 164, [(6_001, 478), (27_829, 586), (23_419, 612)]),
            of("stm32f407-cc2500", 12_752, 1_388, [(2_571, 504), (10_706, 720), (9_356, 784)]),
        ]
    );
    let lengths = PROFILES.map(|profile| {
        [0, 1].map(|format| {
            let sealing = sealing(profile, format, &mut StdRng::seed_from_u64(49));
            telegram(&sealing, &Reading::default()).len()
        })
    });
    assert_eq!(lengths, [[37, 33], [60, 54], [54, 48]]);
}

/// Follows the key from the beginning of a telegram to its end. Returns what depends on it, but for
/// the tables that AES reads.
fn leaks(board: &str, profile: u8) -> Vec<String> {
    let firmware = firmware(board);
    let mut rng = StdRng::seed_from_u64(50);
    let mut meter = Meter::new(&firmware, &sealing(profile, 0, &mut rng), 1, 1);
    run_to(&mut meter, firmware.address("ws_oms_telegram").expect("a function"));
    let (back, key) = back_and_key(meter.board.machine());
    let machine = meter.board.machine_mut();
    if board == "emontx" {
        // Without interrupts, which save and restore all flags as one byte.
        assert!(machine.set_register("sreg", 0));
    }
    let mut taint = machine.taint();
    taint.label(key..key + 16, 1);
    let until = Until { cycles: Some(machine.cycles() + 100_000_000), addresses: vec![back] };
    machine.run_tainted(&until, &mut taint).expect("the firmware runs");
    taint.finish();
    assert_eq!((machine.pc(), taint.unknown_instruction()), (back, None));
    let functions = firmware.image.functions();
    let name = |pc| firmware.image.function_at(pc).map_or("?", |index| &functions[index].name);
    let leaks = taint.leaks().iter();
    assert!(leaks.len() > 0 || board.starts_with("stm32"), "the key is followed to AES's tables");
    leaks
        .filter(|leak| leak.kind != LeakKind::Address || !name(leak.pc).contains("aes"))
        .map(|leak| format!("{board}, profile {profile}: {leak:?} in {}", name(leak.pc)))
        .collect()
}

#[test]
fn time_of_a_telegram_depends_on_no_key() {
    let found: Vec<String> =
        BOARDS.iter().flat_map(|board| PROFILES.iter().flat_map(|profile| leaks(board, *profile))).collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The part's RAM, by its first address.
fn ram(meter: &Meter, firmware: &BoardFirmware) -> Vec<(u32, Vec<u8>)> {
    let memories = firmware.target.part.memories.iter();
    memories
        .filter(|memory| matches!(memory.kind, MemoryKind::Ram | MemoryKind::Tcm))
        .map(|memory| (memory.start, peek(meter.board.machine(), memory.start, memory.size as usize)))
        .collect()
}

/// Finds halves of keys in RAM: of the message's once it is sealed, of the meter's before it is
/// sent.
fn keys_left(board: &str, profile: u8) -> Vec<String> {
    let firmware = firmware(board);
    let sealing: Sealing = sealing(profile, 1, &mut StdRng::seed_from_u64(51));
    let mut meter = Meter::new(&firmware, &sealing, 1, 1);
    run_to(&mut meter, firmware.address("ws_oms_telegram").expect("a function"));
    let (back, _) = back_and_key(meter.board.machine());
    run_to(&mut meter, back);
    let sealed = ram(&meter, &firmware);
    run_to(&mut meter, firmware.address("ws_radio_send").expect("a driver has it"));
    let sending = ram(&meter, &firmware);
    let frames = meter.run(3 * SECOND_NS);
    let counter = read(frames.first().expect("a telegram"), &sealing).counter.to_le_bytes();
    let number = sealing.address[2..6].try_into().expect("four bytes");
    let derived = [0, 1].map(|constant| oms_kdf(&sealing.key, constant, counter, number));
    let mut found = Vec::new();
    for (name, key, memory) in
        [("the key", sealing.key, &sending), ("Kenc", derived[0], &sealed), ("Kmac", derived[1], &sealed)]
    {
        for (start, bytes) in memory {
            for half in key.chunks(8) {
                if let Some(at) = bytes.windows(8).position(|window| window == half) {
                    found.push(format!("{board}, profile {profile}: {name} at {:#x}", start + at as u32));
                }
            }
        }
    }
    found
}

#[test]
fn no_key_stays_in_ram() {
    let found: Vec<String> = BOARDS
        .iter()
        .flat_map(|board| PROFILES.iter().flat_map(|profile| keys_left(board, *profile)))
        .collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
}
