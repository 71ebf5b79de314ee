//! The clock that a part starts with, by its fuses and oscillators.

use mcu::{Part, new_clocked_machine, new_machine};

fn start_hz(text: &str, crystal_hz: Option<u64>) -> u64 {
    let part = Part::from_toml(text).expect("a target file");
    new_clocked_machine(&part, crystal_hz).expect("a machine").clock_hz()
}

#[test]
fn fuses_choose_an_avr_s_oscillator() {
    let text = include_str!("../../../../targets/atmega328p.toml");
    let with = |fuse: &str| text.replace("low_fuse = 0xFF", &format!("low_fuse = {fuse}"));
    assert_eq!(start_hz(text, None), 16_000_000);
    assert_eq!(start_hz(text, Some(12_000_000)), 12_000_000);
    // The factory's: RC oscillator by 8; without CKDIV8; 128 kHz; crystal by 8.
    for (fuse, hz) in [("0x62", 1_000_000), ("0xE2", 8_000_000), ("0xE3", 128_000), ("0x7F", 2_000_000)] {
        assert_eq!(start_hz(&with(fuse), None), hz, "{fuse}");
    }
    let text = include_str!("../../../../targets/atmega128l.toml");
    assert_eq!(start_hz(&text.replace("low_fuse = 0xFF", "low_fuse = 0xE1"), None), 1_000_000);
}

#[test]
fn other_parts_start_on_their_own_oscillators() {
    for (text, hz) in [
        (include_str!("../../../../targets/msp430f5438a.toml"), 1_048_576),
        (include_str!("../../../../targets/msp430fr5994.toml"), 1_000_000),
        (include_str!("../../../../targets/r8c.toml"), 15_625),
        (include_str!("../../../../targets/stm32f051.toml"), 8_000_000),
        (include_str!("../../../../targets/stm32f100.toml"), 8_000_000),
        (include_str!("../../../../targets/stm32f401.toml"), 16_000_000),
        (include_str!("../../../../targets/stm32f407.toml"), 16_000_000),
        (include_str!("../../../../targets/stm32f411.toml"), 16_000_000),
        (include_str!("../../../../targets/stm32f767.toml"), 16_000_000),
        (include_str!("../../../../targets/ch32v003.toml"), 8_000_000),
    ] {
        assert_eq!(start_hz(text, None), hz);
    }
    let part = Part::from_toml(include_str!("../../../../targets/i8051.toml")).expect("a target file");
    assert!(new_clocked_machine(&part, None).err().expect("refused").contains("[clock]"));
    assert_eq!(new_machine(&part, 11_059_200).expect("a machine").clock_hz(), 11_059_200);
}
