//! Counts the cycles of a loop on an ATmega328P, down to the last turn's branch that is not taken.

use mcu::{Image, Part, Segment, Stop, Until, new_machine};
use std::error::Error;

/// `ldi r24, 10`, then `dec r24` and `brne` back to it, then a jump to itself.
const PROGRAM: [u16; 4] = [0xe08a, 0x958a, 0xf7f1, 0xcfff];
/// Address at which the loop is left.
const END: u32 = 6;

/// Runs the program to its end.
pub fn main() -> Result<(), Box<dyn Error>> {
    let part = Part::from_toml(include_str!("atmega328p.toml"))?;
    let mut machine = new_machine(&part, 16_000_000)?;
    let bytes = PROGRAM.iter().flat_map(|word| word.to_le_bytes()).collect();
    machine.load(&Image { segments: vec![Segment { address: 0, bytes }] })?;
    machine.reset();
    let stop = machine.run(&Until { cycles: Some(1_000), addresses: vec![END] })?;
    let (cycles, instructions) = (machine.cycles(), machine.instructions());
    println!(
        "{instructions} instructions, {cycles} cycles, {} ns",
        cycles * 1_000_000_000 / machine.clock_hz()
    );
    // One for LDI, ten of one for DEC, nine of two and one of one for BRNE.
    assert_eq!((stop, cycles), (Stop::Address(END), 1 + 10 + 9 * 2 + 1));
    Ok(())
}
