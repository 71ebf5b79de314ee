//! UART: the length of a frame, and the receiver.
//!
//! Sources: SLAU208 and SLAU367, "UART Baud-Rate Generation" and "USCI Receive Enable".
//!
//! A character is in UCAxRXBUF when its last stop bit is over; the part has it within that bit,
//! from the vote in its middle on. "When the module's clock source is inactive because the device
//! is in a low-power mode, the module activates it when needed": a start bit is heard in any sleep,
//! and the current of the mode is counted all the same.

use super::registers::{Block, UCLISTEN, UCOE, UCRXERR, UCRXIFG, UCSPB, UCSTTIFG};
use super::{Mode, Usci};
use std::collections::VecDeque;

/// UCOS16 in UCAxMCTL and UCAxMCTLW.
const UCOS16: u32 = 1;

/// SLAU208, "BITCLK Modulation Pattern": which of eight bits, start bit first, are one clock
/// longer, by UCBRSx.
const MODULATION: [u32; 8] =
    [0b0, 0b10, 0b10_0010, 0b10_1010, 0b1010_1010, 0b1010_1110, 0b1110_1110, 0b1111_1110];

/// Clocks of BRCLK that a frame takes: start bit, eight bits, one or two stop bits.
pub fn frame_clocks(block: Block, control: u32, prescaler: u32, modulation: u32) -> u64 {
    let bits = 10 + u32::from(control & UCSPB != 0);
    bits_clocks(bits, block, prescaler, modulation)
}

/// Clocks of BRCLK that the first bits of a frame take.
fn bits_clocks(bits: u32, block: Block, prescaler: u32, modulation: u32) -> u64 {
    // UCBRSx of an eUSCI is the pattern itself, its highest bit for the start bit (which bits are
    // longer is from memory).
    let (pattern, longer16) = if block.enhanced() {
        ((modulation >> 8).reverse_bits() >> 24, modulation >> 4 & 15)
    } else {
        (MODULATION[(modulation >> 1 & 7) as usize], modulation >> 4 & 15)
    };
    (0..bits)
        .map(|bit| {
            let longer = u64::from(pattern >> (bit % 8) & 1);
            if modulation & UCOS16 == 0 {
                u64::from(prescaler) + longer
            } else {
                // UCBRFx of the 16 BITCLK16 periods are one clock longer, and one more in modulated
                // bits.
                16 * u64::from(prescaler) + u64::from(longer16) + longer
            }
        })
        .sum()
}

/// Characters on their way in.
#[derive(Clone, Default)]
pub struct Receiver {
    incoming: VecDeque<u8>,
    /// The cycle at which the start bit of the first of them is over.
    started: Option<u64>,
    /// The cycle at which the first of them is there.
    arrival: Option<u64>,
}

impl Receiver {
    /// The cycle at which something happens.
    pub fn due(&self) -> Option<u64> {
        self.started.or(self.arrival)
    }

    /// Returns true if a character is arriving.
    pub fn is_busy(&self) -> bool {
        self.arrival.is_some()
    }

    /// The cycles at which something happens, to be changed.
    pub fn ends_mut(&mut self) -> impl Iterator<Item = &mut u64> {
        self.started.iter_mut().chain(self.arrival.iter_mut())
    }
}

impl Usci {
    /// Returns true if characters at the pin are received: with UCLISTEN the transmitter is at the
    /// receiver instead.
    pub(super) fn hears(&self) -> bool {
        !self.held() && self.status & UCLISTEN == 0
    }

    pub(super) fn arrive(&mut self, bytes: &[u8], now: u64) {
        self.receiver.incoming.extend(bytes);
        if self.receiver.arrival.is_none() {
            self.begin_character(now);
        }
    }

    fn begin_character(&mut self, at: u64) {
        if self.receiver.incoming.is_empty() {
            return;
        }
        let start = bits_clocks(1, self.block, self.prescaler, self.modulation);
        let frame = frame_clocks(self.block, self.control, self.prescaler, self.modulation);
        self.receiver.started = Some(self.after(start, at));
        // Without a baud rate a character takes a clock, so that time goes on.
        self.receiver.arrival = Some(self.after(frame.max(1), at));
    }

    /// Takes the characters that have arrived by `now`. Those that come while the module is held in
    /// reset, or works in another mode, are lost.
    pub(super) fn receive_arrivals(&mut self, now: u64) {
        while let Some(due) = self.receiver.due().filter(|due| *due <= now) {
            let heard = self.mode() == Mode::Uart && self.hears();
            if self.receiver.started.take().is_some() {
                if heard && self.block == Block::EusciA {
                    self.flags |= UCSTTIFG;
                }
                continue;
            }
            self.receiver.arrival = None;
            let byte = self.receiver.incoming.pop_front().unwrap_or_default();
            if heard {
                self.receive(byte);
            }
            self.begin_character(due);
        }
    }

    /// "An overrun error occurs when a character is loaded into UCAxRXBUF before the prior
    /// character has been read."
    pub(super) fn receive(&mut self, byte: u8) {
        if self.flags & UCRXIFG != 0 {
            self.status |= if self.mode() == Mode::Uart { UCOE | UCRXERR } else { UCOE };
        }
        self.received = byte.into();
        self.flags |= UCRXIFG;
    }
}
