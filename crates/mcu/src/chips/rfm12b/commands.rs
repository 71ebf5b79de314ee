//! Command words, and the registers that they set.
//!
//! Source: the data sheet, "Control Commands" and the numbered sections after it. The bits that it
//! fixes in a word are compared with its value after power-on.

use super::Rfm12b;
use super::radio::{FIFO_BYTES, State};

/// The first byte of the Receiver FIFO Read Command.
pub(super) const FIFO_READ: u8 = 0xb0;

/// Fields of the command words that have an effect here.
#[derive(Clone)]
pub(super) struct Registers {
    /// Configuration Setting Command: the TX register and the FIFO are used.
    pub el: bool,
    pub ef: bool,
    /// Power Management Command.
    pub receiver: bool,
    pub transmitter: bool,
    pub synthesizer: bool,
    pub crystal: bool,
    /// Data Rate Command: time of a bit in nanoseconds.
    pub bit_ns: u64,
    /// FIFO and Reset Mode Command: one byte of pattern alone; the FIFO is filled.
    pub short_pattern: bool,
    pub fill: bool,
    /// Synchron Pattern Command: the pattern's last byte.
    pub pattern: u8,
}

impl Default for Registers {
    /// After power-on: 8008h, 8208h, C623h, CA80h, CED4h.
    fn default() -> Registers {
        Registers {
            el: false,
            ef: false,
            receiver: false,
            transmitter: false,
            synthesizer: false,
            crystal: true,
            bit_ns: bit_ns(0x23),
            short_pattern: false,
            fill: false,
            pattern: 0xd4,
        }
    }
}

/// Data Rate Command: BR = 10 MHz / 29 / (R + 1) / (1 + 7 cs), so a bit takes whole hundreds of
/// nanoseconds.
fn bit_ns(rate: u8) -> u64 {
    100 * 29 * (u64::from(rate & 0x7f) + 1) * if rate & 0x80 != 0 { 8 } else { 1 }
}

/// Refuses with the first text whose condition holds.
fn refuse(cases: &[(bool, &str)]) -> Result<(), String> {
    match cases.iter().find(|(refused, _)| *refused) {
        Some((_, what)) => Err((*what).to_string()),
        None => Ok(()),
    }
}

impl Rfm12b {
    /// A byte over SPI: the first or the second one of a command.
    pub(super) fn exchange(&mut self, byte: u8) -> Result<u8, String> {
        if self.complete {
            return Err(
                "a byte more than the two of a command: the FIFO can only be read with its command".into()
            );
        }
        let Some(first) = self.command else {
            self.command = Some(byte);
            self.status = self.status();
            return Ok(if byte & 0x80 == 0 { (self.status >> 8) as u8 } else { 0 });
        };
        self.complete = true;
        if first & 0x80 == 0 {
            // Status Read Command: what it has told of is cleared.
            self.power_on_reset &= self.status & 1 << 14 == 0;
            if self.status & 1 << 13 != 0 {
                (self.register_missed, self.fifo_overflow) = (false, false);
            }
            return Ok(self.status as u8);
        }
        if self.state == State::Reset {
            return Err("a command during the power-on reset, which takes 100 ms".into());
        }
        if first == FIFO_READ {
            return self.fifo.pop_front().ok_or_else(|| "the FIFO is read without a byte in it".into());
        }
        self.execute(u16::from(first) << 8 | u16::from(byte))?;
        Ok(0)
    }

    /// The status word (Status Read Command). Bits 15 and 13 are the FIFO's while the receiver is
    /// on, the TX register's else.
    fn status(&self) -> u16 {
        if self.state == State::Reset {
            return 0;
        }
        let receiver = self.registers.receiver;
        let (ready, missed) = match receiver {
            true => (self.fifo_ready(), self.fifo_overflow),
            false => (self.register_ready, self.register_missed),
        };
        let signal = self.signal();
        [
            (15, ready),
            (14, self.power_on_reset),
            (13, missed),
            (9, self.fifo.is_empty()),
            // RSSI; while sending ATS, that the antenna is tuned.
            (8, if receiver { signal } else { self.state == State::Tx }),
            (7, signal),
            (6, signal && self.run.is_some()),
        ]
        .iter()
        .fold(0, |word, (bit, set)| word | u16::from(*set) << bit)
    }

    fn execute(&mut self, word: u16) -> Result<(), String> {
        let low = word as u8;
        let bit = |index: u8| word & 1 << index != 0;
        match word >> 8 {
            0x80 => {
                refuse(&[(word & 0x30 == 0, "Configuration Setting: the band 315 MHz does not exist")])?;
                (self.registers.el, self.registers.ef) = (bit(7), bit(6));
                self.buffered()
            }
            0x82 => self.manage_power(word),
            // Frequency: out of 96 to 3903 the previous value is kept.
            0xa0..=0xaf => Ok(()),
            0xc6 => {
                self.registers.bit_ns = bit_ns(low);
                Ok(())
            }
            0x90..=0x97 => refuse(&[
                (!bit(10), "Receiver Control: the interrupt input (p16 = 0) is not modelled"),
                (
                    matches!(word >> 8 & 3, 1 | 2),
                    "Receiver Control: the medium or slow valid data indicator is not modelled",
                ),
                (matches!(word >> 5 & 7, 0 | 7), "Receiver Control: a bandwidth that does not exist"),
                (matches!(word & 7, 6 | 7), "Receiver Control: a threshold that is reserved"),
            ]),
            0xc2 => refuse(&[
                (bit(4), "Data Filter: the analogue filter (s = 1) is not modelled"),
                (low & 0x28 != 0x28, "Data Filter: bits 5 and 3 are 1"),
            ]),
            0xca => {
                refuse(&[
                    (
                        bit(2),
                        "FIFO and Reset Mode: filling without a synchron pattern (al = 1) is not modelled",
                    ),
                    (
                        low >> 4 != 8 && bit(1),
                        "FIFO and Reset Mode: an interrupt level other than 8 bits is not modelled",
                    ),
                ])?;
                self.registers.short_pattern = bit(3);
                if !bit(1) || !self.registers.fill {
                    self.search();
                }
                self.registers.fill = bit(1);
                Ok(())
            }
            0xce => {
                self.registers.pattern = low;
                Ok(())
            }
            // AFC: with stations that are all alike it finds nothing to correct.
            0xc4 => Ok(()),
            0x98 | 0x99 => refuse(&[(bit(3), "TX Configuration Control: bit 3 is 0")]),
            0xcc => refuse(&[(low & 0x92 != 0x12, "PLL Setting: bits 7, 4 and 1 are 0, 1 and 1")]),
            0xb8 => self.write_register(low),
            0xe0..=0xff => refuse(&[(
                word >> 8 & 31 > 29,
                "Wake-Up Timer: R above 29, of which the software reset is one, is not modelled",
            )]),
            0xc8 => refuse(&[(bit(0), "Low Duty-Cycle: it is not modelled")]),
            // Without the detector and the clock output it sets nothing.
            0xc0 => refuse(&[(bit(4), "Low Battery Detector and Microcontroller Clock Divider: bit 4 is 0")]),
            _ => Err(format!("there is no command {word:04x}h")),
        }
    }

    /// Power Management Command.
    fn manage_power(&mut self, word: u16) -> Result<(), String> {
        let bit = |index: u8| word & 1 << index != 0;
        refuse(&[
            (bit(2), "Power Management: the low battery detector (eb) is not modelled"),
            (bit(1), "Power Management: the wake-up timer (ew) is not modelled"),
            (!bit(0), "Power Management: the clock output (dc = 0) is not modelled"),
        ])?;
        let (before, received) = (self.goal(), self.registers.receiver);
        // "If both et and er bits are set the chip goes to receive mode"; each turns on
        // what it needs.
        self.registers.receiver = bit(7);
        self.registers.transmitter = bit(5) && !bit(7);
        self.registers.crystal = bit(3) || bit(7) || bit(5);
        self.registers.synthesizer = bit(7) || bit(5) || bit(4) && bit(3);
        self.buffered()?;
        if self.registers.receiver && !received {
            // JeeLib relies on it: it never touches ff between packets.
            self.search();
        }
        self.power_changed(before);
        Ok(())
    }

    /// Checks that the transmitter is used with its register, and the receiver with its FIFO.
    fn buffered(&self) -> Result<(), String> {
        let registers = &self.registers;
        refuse(&[
            (
                registers.transmitter && !registers.el,
                "sending without the TX register (el = 0) is not modelled",
            ),
            (registers.receiver && !registers.ef, "receiving without the FIFO (ef = 0) is not modelled"),
        ])
    }

    /// An interrupt at nIRQ (Interrupt Handling); those of the TX register and the FIFO are "valid
    /// only when" the transmitter or the receiver is enabled.
    pub(super) fn interrupt(&self) -> bool {
        self.register_ready
            || self.fifo_ready()
            || self.power_on_reset
            || self.register_missed && self.registers.transmitter
            || self.fifo_overflow && self.registers.receiver
    }

    /// FFIT: "valid only when the ef bit is set and the receiver is enabled".
    fn fifo_ready(&self) -> bool {
        debug_assert!(self.fifo.len() <= FIFO_BYTES);
        self.registers.receiver && !self.fifo.is_empty()
    }
}
