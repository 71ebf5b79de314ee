//! Programs for an MSP430F5438A, word by word.

use mcu::{Mcu, Part};

pub fn part() -> Part {
    Part::from_toml(include_str!("../../../../../targets/msp430f5438a.toml")).expect("target file")
}

/// `MOV #value, &register`.
pub fn mov(value: u16, register: u16) -> Vec<u16> {
    vec![0x40b2, value, register]
}

/// `MOV #WDTPW | WDTHOLD, &WDTCTL`: the watchdog rests.
pub const HOLD: [u16; 3] = [0x40b2, 0x5a80, 0x015c];

/// `MOV.B #value, &register`.
pub fn mov_byte(value: u16, register: u16) -> Vec<u16> {
    vec![0x40f2, value, register]
}

pub fn poke(machine: &mut dyn Mcu, address: u32, words: &[u16]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.poke(address, &bytes));
}

pub fn word(machine: &dyn Mcu, address: u32) -> u16 {
    let mut bytes = [0; 2];
    assert!(machine.peek(address, &mut bytes));
    u16::from_le_bytes(bytes)
}

pub fn register(machine: &dyn Mcu, wanted: &str) -> u32 {
    machine.registers().into_iter().find(|(name, _)| name == wanted).expect("a register").1
}
