//! FM25L16B, a ferroelectric memory of 2048 bytes on SPI, at the level of its commands.
//!
//! Source: data sheet 001-84485 Rev. *J (Cypress, now Infineon): 2K × 8, SPI modes 0 and 3, up to
//! 20 MHz, 2.7 V to 3.6 V, and no write delay: a byte is kept as soon as its last bit has been
//! clocked in. The commands' codes were compared with several public drivers; the bits of the
//! status register, what clears the write enable latch, the wrap of the address behind the last
//! byte and the blocks that are protected are from memory, not yet compared. The pins WP and HOLD
//! are taken to be tied high. Not modelled: the millisecond from power-up to the first access,
//! through which a microcontroller is held in reset itself.
//!
//! Power that is lost in the midst of a write leaves the bytes that were clocked in whole, and no
//! other one changed.

use crate::Chip;

/// Bytes of the memory.
pub const BYTES: usize = 2048;
/// The fastest clock, in Hz.
pub const LIMIT_HZ: u64 = 20_000_000;

const WRSR: u8 = 0x01;
const WRITE: u8 = 0x02;
const READ: u8 = 0x03;
const WRDI: u8 = 0x04;
const RDSR: u8 = 0x05;
const WREN: u8 = 0x06;

/// Status register: write protect enable, the protected blocks, the write enable latch.
const WPEN: u8 = 0x80;
const BLOCKS: u8 = 0x0c;
const LATCH: u8 = 0x02;

/// Meaning of the next byte.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// A command.
    Command,
    /// The upper byte of the address that `READ` or `WRITE` begins at.
    AddressHigh { write: bool },
    /// The lower byte.
    AddressLow { write: bool, high: u8 },
    /// Data out of the memory, from here on.
    Out(u16),
    /// Data into it.
    In(u16),
    /// The status register, again and again.
    StatusOut,
    /// A new status.
    StatusIn,
    /// Nothing more: the command is complete.
    Done,
}

/// The memory. Its contents and the status register's bits outlive [`Chip::power_up`].
#[derive(Clone)]
pub struct Fm25 {
    memory: Vec<u8>,
    /// `WPEN`, `BP1`, `BP0`.
    status: u8,
    enabled: bool,
    access: Access,
    writes: u64,
}

impl Default for Fm25 {
    fn default() -> Fm25 {
        Fm25::new()
    }
}

impl Fm25 {
    /// A memory whose bytes are all 0xff and unprotected.
    #[must_use]
    pub fn new() -> Fm25 {
        Fm25 { memory: vec![0xff; BYTES], status: 0, enabled: false, access: Access::Command, writes: 0 }
    }

    /// Its bytes, [`BYTES`] of them.
    #[must_use]
    pub fn memory(&self) -> &[u8] {
        &self.memory
    }

    /// As [`Fm25::memory`], for a programmer to write.
    pub fn memory_mut(&mut self) -> &mut [u8] {
        &mut self.memory
    }

    /// Returns the number of bytes written since the chip was made.
    #[must_use]
    pub fn writes(&self) -> u64 {
        self.writes
    }

    /// Returns true if the bits `BP1` and `BP0` protect an address: nothing, the upper quarter, the
    /// upper half, all.
    fn protected(&self, address: u16) -> bool {
        let first = [BYTES, BYTES / 4 * 3, BYTES / 2, 0][usize::from((self.status & BLOCKS) >> 2)];
        usize::from(address) >= first
    }

    fn command(&mut self, byte: u8) -> Result<(), String> {
        self.access = match byte {
            WREN | WRDI => {
                self.enabled = byte == WREN;
                Access::Done
            }
            RDSR => Access::StatusOut,
            WRSR => Access::StatusIn,
            READ | WRITE => Access::AddressHigh { write: byte == WRITE },
            _ => return Err(format!("there is no command {byte:#04x}")),
        };
        Ok(())
    }

    /// The address behind this one; behind the last byte comes the first.
    fn next(address: u16) -> u16 {
        (address + 1) % BYTES as u16
    }

    fn store(&mut self, address: u16, byte: u8) {
        if self.enabled && !self.protected(address) {
            self.memory[usize::from(address)] = byte;
            self.writes += 1;
        }
    }
}

impl Chip for Fm25 {
    fn name(&self) -> &str {
        "FM25L16B"
    }

    fn power_up(&mut self) {
        self.enabled = false;
        self.access = Access::Command;
    }

    fn select(&mut self, selected: bool, _now_ns: u64) {
        if !selected && matches!(self.access, Access::In(_) | Access::StatusIn) {
            // A write has ended.
            self.enabled = false;
        }
        self.access = Access::Command;
    }

    fn transfer(&mut self, byte: u8, _now_ns: u64) -> Result<u8, String> {
        let mut answer = 0xff;
        match self.access {
            Access::Command => self.command(byte)?,
            // Of the upper byte the three lowest bits count.
            Access::AddressHigh { write } => self.access = Access::AddressLow { write, high: byte & 7 },
            Access::AddressLow { write, high } => {
                let address = u16::from_be_bytes([high, byte]);
                self.access = if write { Access::In(address) } else { Access::Out(address) };
            }
            Access::Out(address) => {
                answer = self.memory[usize::from(address)];
                self.access = Access::Out(Fm25::next(address));
            }
            Access::In(address) => {
                self.store(address, byte);
                self.access = Access::In(Fm25::next(address));
            }
            Access::StatusOut => answer = self.status | u8::from(self.enabled) * LATCH,
            Access::StatusIn => {
                if self.enabled {
                    self.status = byte & (WPEN | BLOCKS);
                }
            }
            Access::Done => return Err(format!("the byte {byte:#04x} behind a command that takes none")),
        }
        Ok(answer)
    }

    fn spi_limit_hz(&self) -> u64 {
        LIMIT_HZ
    }

    fn output(&self, _index: u8) -> Option<bool> {
        None
    }

    fn due(&self) -> Option<u64> {
        None
    }

    fn tick(&mut self, _now_ns: u64) {}

    fn boxed_clone(&self) -> Box<dyn Chip> {
        Box::new(self.clone())
    }
}
