//! The length of a frame of the UART: SLAU208 and SLAU367, "UART Baud-Rate Generation".

use super::registers::{Block, UCSPB};

/// UCOS16 in UCAxMCTL and UCAxMCTLW.
const UCOS16: u32 = 1;

/// SLAU208, "BITCLK Modulation Pattern": which of eight bits, start bit first, are one clock longer, by UCBRSx.
const MODULATION: [u32; 8] =
    [0b0, 0b10, 0b10_0010, 0b10_1010, 0b1010_1010, 0b1010_1110, 0b1110_1110, 0b1111_1110];

/// Clocks of BRCLK that a frame takes: start bit, eight bits, one or two stop bits.
pub fn frame_clocks(block: Block, control: u32, prescaler: u32, modulation: u32) -> u64 {
    // UCBRSx of an eUSCI is the pattern itself, its highest bit for the start bit (which bits are longer is from memory).
    let (pattern, longer16) = if block.enhanced() {
        ((modulation >> 8).reverse_bits() >> 24, modulation >> 4 & 15)
    } else {
        (MODULATION[(modulation >> 1 & 7) as usize], modulation >> 4 & 15)
    };
    let bits = 10 + u32::from(control & UCSPB != 0);
    (0..bits)
        .map(|bit| {
            let longer = u64::from(pattern >> (bit % 8) & 1);
            if modulation & UCOS16 == 0 {
                u64::from(prescaler) + longer
            } else {
                // UCBRFx of the 16 BITCLK16 periods are one clock longer, and one more in modulated bits.
                16 * u64::from(prescaler) + u64::from(longer16) + longer
            }
        })
        .sum()
}
