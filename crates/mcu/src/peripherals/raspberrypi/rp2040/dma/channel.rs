//! A channel of the DMA controller: its registers, and what a transfer changes in them.

/// CTRL.
pub const EN: u32 = 1 << 0;
const HIGH_PRIORITY: u32 = 1 << 1;
const DATA_SIZE: u32 = 2;
const INCR_READ: u32 = 1 << 4;
const INCR_WRITE: u32 = 1 << 5;
const RING_SIZE: u32 = 6;
const RING_SEL: u32 = 1 << 10;
const CHAIN_TO: u32 = 11;
const TREQ_SEL: u32 = 15;
const IRQ_QUIET: u32 = 1 << 21;
const BSWAP: u32 = 1 << 22;
const SNIFF_EN: u32 = 1 << 23;
const BUSY: u32 = 1 << 24;
pub const WRITE_ERROR: u32 = 1 << 29;
pub const READ_ERROR: u32 = 1 << 30;
const AHB_ERROR: u32 = 1 << 31;
/// The bits that keep what is written, and those that a one clears.
const KEPT: u32 = 0x00ff_ffff;
const ERRORS: u32 = READ_ERROR | WRITE_ERROR;

/// A channel.
#[derive(Clone, Copy)]
pub struct Channel {
    pub read_address: u32,
    pub write_address: u32,
    /// Transfers that are left of the sequence, and those of the next one.
    pub left: u32,
    pub reload: u32,
    control: u32,
    pub busy: bool,
    /// Pulses of its pacing timer that it has served, or let pass before its trigger.
    pub paced: u64,
}

impl Channel {
    /// Channel `number` as after a reset, in which CHAIN_TO is the channel itself.
    pub fn new(number: usize) -> Channel {
        Channel {
            read_address: 0,
            write_address: 0,
            left: 0,
            reload: 0,
            control: (number as u32) << CHAIN_TO,
            busy: false,
            paced: 0,
        }
    }

    /// CTRL as it is read.
    pub fn control(&self) -> u32 {
        let busy = if self.busy { BUSY } else { 0 };
        let error = if self.control & ERRORS != 0 { AHB_ERROR } else { 0 };
        self.control | busy | error
    }

    /// Writes CTRL: `written` is its value after the write, whose ones clear the errors.
    ///
    /// # Errors
    /// A size that does not exist.
    pub fn set_control(&mut self, written: u32) -> Result<(), &'static str> {
        if written >> DATA_SIZE & 3 == 3 {
            return Err("DATA_SIZE 3 is reserved");
        }
        self.control = written & KEPT | self.control & !written & ERRORS;
        Ok(())
    }

    pub fn is_enabled(&self) -> bool {
        self.control & EN != 0
    }

    pub fn has_high_priority(&self) -> bool {
        self.control & HIGH_PRIORITY != 0
    }

    pub fn is_quiet(&self) -> bool {
        self.control & IRQ_QUIET != 0
    }

    pub fn is_sniffed(&self) -> bool {
        self.control & SNIFF_EN != 0
    }

    /// Bytes of a transfer.
    pub fn size(&self) -> u8 {
        1 << (self.control >> DATA_SIZE & 3)
    }

    /// The request that paces it.
    pub fn request(&self) -> u32 {
        self.control >> TREQ_SEL & 0x3f
    }

    /// The channel that it triggers at its end.
    pub fn chained(&self) -> usize {
        (self.control >> CHAIN_TO & 0xf) as usize
    }

    /// Data as they go on, after BSWAP.
    pub fn swapped(&self, value: u32) -> u32 {
        match (self.control & BSWAP != 0, self.size()) {
            (true, 2) => u32::from((value as u16).swap_bytes()),
            (true, 4) => value.swap_bytes(),
            _ => value,
        }
    }

    /// An access failed: the sequence ends.
    pub fn failed(&mut self, error: u32) {
        self.control |= error;
        self.busy = false;
    }

    /// A transfer was made: true for the last of the sequence.
    pub fn transferred(&mut self) -> bool {
        let step = u32::from(self.size());
        let ring = self.control >> RING_SIZE & 0xf;
        let wraps_write = self.control & RING_SEL != 0;
        let next = |address: u32, increments: bool, wraps: bool| {
            if !increments {
                return address;
            }
            let moved = address.wrapping_add(step);
            let mask = if wraps && ring != 0 { (1 << ring) - 1 } else { u32::MAX };
            address & !mask | moved & mask
        };
        self.read_address = next(self.read_address, self.control & INCR_READ != 0, !wraps_write);
        self.write_address = next(self.write_address, self.control & INCR_WRITE != 0, wraps_write);
        self.left = self.left.saturating_sub(1);
        let is_last = self.busy && self.left == 0;
        // One that was aborted meanwhile stays idle.
        self.busy &= self.left != 0;
        is_last
    }
}
