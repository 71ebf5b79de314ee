//! Random writes to the peripherals of the MSP430F5438A.
//!
//! The model goes on or faults; it does not panic.

use super::programs::part;
use mcu::chips::cc2500::Cc2500;
use mcu::{Mcu, Part, Pin, Until, Wiring, new_machine};
use testkit::random::{self, Random};

const PC: u32 = 0x2000;
const END: u16 = 0x3fff;

fn machine(part: &Part, clock_hz: u64) -> Box<dyn Mcu> {
    let mut machine = new_machine(part, clock_hz).expect("machine");
    let board = machine.board_mut();
    let wiring =
        Wiring { spi: "UCB0".into(), select: Pin::new("P3", 0), outputs: vec![(0, Pin::new("P1", 3))] };
    board.mount(Box::new(Cc2500::new()), wiring);
    board.set_analog(0, 0.7);
    machine
}

#[test]
fn any_writes_are_survived() {
    let part = part();
    let mut random = Random::new(random::seed());
    let mut random = |below: u32| random.below(below);
    let bases: Vec<u32> = part.peripherals.iter().map(|spec| spec.base).collect();
    for _ in 0..1000 {
        let clock_hz = [1_000_000, 8_000_000, 25_000_000][random(3) as usize];
        let mut machine = machine(&part, clock_hz);
        for _ in 0..100 {
            let address = bases[random(bases.len() as u32) as usize] as u16 + random(0x40) as u16;
            let value = match random(4) {
                0 => 0xa500 | random(256) as u16,
                1 => 1 << random(16),
                _ => random(0x1_0000) as u16,
            };
            // MOV #value, &address, as a word or a byte; MOV &address, R5.
            let (write, address) = if random(2) == 0 { (0x40b2, address & !1) } else { (0x40f2, address) };
            let read = if write == 0x40b2 { 0x4215 } else { 0x4255 };
            // The watchdog is held again, then time passes: MOV #turns, R6; SUB #1, R6; JNE -2.
            let turns = 1 + random(3000) as u16;
            let words = [
                write, value, address, read, address, 0x40b2, 0x5a80, 0x15c, 0x4036, turns, 0x8316, 0x23fe,
                END,
            ];
            let bytes: Vec<u8> = words.iter().flat_map(|word: &u16| word.to_le_bytes()).collect();
            assert!(machine.poke(PC, &bytes) && machine.set_register("sp", 0x4000));
            machine.set_pc(PC);
            // A fault is an answer, too; the next program begins anew.
            let _ = machine.run(&Until::default());
        }
    }
}
