//! The FM25L16B against its data sheet (001-84485), driven over SPI as firmware drives it.

use mcu::Chip;
use mcu::chips::fm25::{BYTES, Fm25};

/// One access: selected, the bytes, deselected. What comes back.
fn access(chip: &mut Fm25, bytes: &[u8]) -> Vec<u8> {
    chip.select(true, 0);
    let answers = bytes.iter().map(|byte| chip.transfer(*byte, 0).expect("a command")).collect();
    chip.select(false, 0);
    answers
}

fn status(chip: &mut Fm25) -> u8 {
    access(chip, &[0x05, 0])[1]
}

#[test]
fn a_write_needs_the_latch_and_clears_it() {
    let mut chip = Fm25::new();
    access(&mut chip, &[0x02, 0x01, 0x23, 0x55]);
    assert_eq!((chip.memory()[0x123], chip.writes()), (0xff, 0), "not enabled");

    access(&mut chip, &[0x06]);
    assert_eq!(status(&mut chip), 0x02);
    access(&mut chip, &[0x02, 0x01, 0x23, 0x55, 0x66]);
    assert_eq!(chip.memory()[0x122..0x126], [0xff, 0x55, 0x66, 0xff]);
    assert_eq!((status(&mut chip), chip.writes()), (0, 2));
    access(&mut chip, &[0x02, 0x01, 0x23, 0x77]);
    assert_eq!(chip.memory()[0x123], 0x55, "enabled for one write only");

    access(&mut chip, &[0x06]);
    access(&mut chip, &[0x04]);
    access(&mut chip, &[0x02, 0x01, 0x23, 0x77]);
    assert_eq!(chip.memory()[0x123], 0x55, "disabled again");
}

#[test]
fn address_counts_up_and_wraps_after_the_last_byte() {
    let mut chip = Fm25::new();
    access(&mut chip, &[0x06]);
    // The five highest bits of the address do not count.
    access(&mut chip, &[0x02, 0xff, 0xfe, 1, 2, 3]);
    assert_eq!((&chip.memory()[BYTES - 2..], chip.memory()[0]), (&[1, 2][..], 3));
    assert_eq!(access(&mut chip, &[0x03, 0x07, 0xfe, 0, 0, 0, 0])[3..], [1, 2, 3, 0xff]);
}

#[test]
fn power_that_is_lost_leaves_the_bytes_that_were_clocked_in() {
    let mut chip = Fm25::new();
    access(&mut chip, &[0x06]);
    chip.select(true, 0);
    for byte in [0x02, 0, 0x10, 1, 2] {
        chip.transfer(byte, 0).expect("a command");
    }
    chip.power_up();
    assert_eq!(chip.memory()[0x10..0x14], [1, 2, 0xff, 0xff]);
    assert_eq!(status(&mut chip), 0, "the latch is clear after power-up");
}

#[test]
fn blocks_are_protected_as_the_status_says_also_after_power_up() {
    for (bits, first) in [(0x00, 2048), (0x04, 1536), (0x08, 1024), (0x0c, 0)] {
        let mut chip = Fm25::new();
        access(&mut chip, &[0x06]);
        access(&mut chip, &[0x01, bits]);
        chip.power_up();
        assert_eq!(status(&mut chip), bits);
        for address in [0u16, 1023, 1024, 1535, 1536, 2047] {
            access(&mut chip, &[0x06]);
            let [high, low] = address.to_be_bytes();
            access(&mut chip, &[0x02, high, low, 0]);
            let written = chip.memory()[usize::from(address)] == 0;
            assert_eq!(written, address < first, "{address} with {bits:#04x}");
        }
    }
}

#[test]
fn unknown_command_is_refused() {
    let mut chip = Fm25::new();
    chip.select(true, 0);
    assert!(chip.transfer(0x9f, 0).is_err(), "this one has no device ID");
    chip.select(false, 0);
    chip.select(true, 0);
    assert!(chip.transfer(0x06, 0).is_ok());
    assert!(chip.transfer(0x00, 0).is_err());
}
