//! A machine whose program goes through a list of steps.
//!
//! It serves tests of peripherals that act on the machine around them.

use super::stm32_peripherals::Seen;
use crate::clock_gates::enables;
use mcu::{Mcu, MemoryKind, Part, Until, new_clocked_machine, new_machine};
use std::path::Path;

/// First address at which steps may keep words.
pub const KEPT: u32 = 0x2000_0000;

pub enum Step {
    /// A word is stored at an address.
    Write(u32, u32),
    /// The word at the second address is stored at the first.
    Copy(u32, u32),
    /// A halfword is stored.
    WriteHalf(u32, u16),
    /// A loop of this many turns, more than two.
    Wait(u32),
}

/// Three words a step; r0, the address, is zero behind the last one.
const PROGRAM: [u16; 18] = [
    0x4a08, //        ldr r2, table
    0xca0b, // next:  ldmia r2!, {r0, r1, r3}
    0x2800, //        cmp r0, #0
    0xd00c, //        beq end
    0x2b02, //        cmp r3, #2
    0xd807, //        bhi wait
    0xd004, //        beq half
    0x2b01, //        cmp r3, #1
    0xd100, //        bne store
    0x6809, //        ldr r1, [r1]
    0x6001, // store: str r1, [r0]
    0xe7f4, //        b next
    0x8001, // half:  strh r1, [r0]
    0xe7f2, //        b next
    0x3b01, // wait:  subs r3, #1
    0xd1fd, //        bne wait
    0xe7ef, //        b next
    0xe7fe, // end:   b end
];

/// A machine that is about to go through these steps, at the clock of its target file, once all
/// peripherals have their clocks.
pub fn machine(target: &str, steps: &[Step]) -> Box<dyn Mcu> {
    let part = part(target);
    let machine = new_machine(&part, part.default_clock_hz).expect("a machine");
    loaded(machine, &part, &enables(target), steps)
}

/// The same with the clocks that the steps themselves enable.
pub fn machine_at_reset(target: &str, steps: &[Step]) -> Box<dyn Mcu> {
    let part = part(target);
    let machine = new_machine(&part, part.default_clock_hz).expect("a machine");
    loaded(machine, &part, &[], steps)
}

/// As [`machine`], at the clock that the steps set.
pub fn clocked_machine(target: &str, steps: &[Step]) -> Box<dyn Mcu> {
    let part = part(target);
    loaded(new_clocked_machine(&part, None).expect("a machine"), &part, &enables(target), steps)
}

fn part(target: &str) -> Part {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../../targets/{target}.toml"));
    Part::from_toml(&std::fs::read_to_string(file).expect("a text")).expect("a part")
}

fn loaded(mut machine: Box<dyn Mcu>, part: &Part, enables: &[(u32, u32)], steps: &[Step]) -> Box<dyn Mcu> {
    let flash = part.memories.iter().find(|memory| memory.kind == MemoryKind::Flash).expect("a flash").start;
    let table = flash + 8 + 2 * PROGRAM.len() as u32 + 4;
    let mut words = vec![0x2000_1000, flash + 9];
    words.extend(PROGRAM.chunks(2).map(|pair| u32::from(pair[0]) | u32::from(pair[1]) << 16));
    words.push(table);
    words.extend(enables.iter().flat_map(|(address, value)| [*address, *value, 0]));
    for step in steps {
        words.extend(match *step {
            Step::Write(address, value) => [address, value, 0],
            Step::Copy(to, from) => [to, from, 1],
            Step::WriteHalf(address, value) => [address, value.into(), 2],
            Step::Wait(turns) => [1, 0, turns],
        });
    }
    words.extend([0; 3]);
    let bytes: Vec<u8> = words.iter().flat_map(|word: &u32| word.to_le_bytes()).collect();
    assert!(machine.poke(flash, &bytes));
    machine.reset();
    machine
}

/// Runs it up to a cycle; what was seen.
pub fn run(machine: &mut dyn Mcu, cycles: u64) -> Seen {
    let mut seen = Seen::default();
    machine
        .run_observed(&Until { cycles: Some(cycles), ..Until::default() }, &mut seen)
        .expect("a run without a fault");
    seen
}

/// A word of memory.
pub fn word(machine: &dyn Mcu, address: u32) -> u32 {
    let mut bytes = [0; 4];
    assert!(machine.peek(address, &mut bytes));
    u32::from_le_bytes(bytes)
}
