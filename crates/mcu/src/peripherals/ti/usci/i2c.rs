//! I2C mode as the only master on the bus.
//!
//! Manuals: SLAU208, chapter "Universal Serial Communication Interface - I2C Mode"; SLAU367,
//! chapter "eUSCI - I2C Mode". A bit takes UCBRx clocks of BRCLK, a byte with its acknowledgement
//! nine bits; START and STOP, of which the manuals do not say how long they take, are taken as a
//! bit each. A byte that finds UCBxRXBUF full waits in its last bit, and takes that and the
//! acknowledgement when the buffer is read. What answers is on the board
//! ([`crate::TwoWireDevice`]); without that each address is not acknowledged.

use super::Usci;
use super::registers::{
    Block, UCASTP, UCBBUSY, UCBCNTIFG, UCNACKIFG, UCRXIFG, UCSCLLOW, UCSTPIFG, UCTR, UCTXIFG, UCTXSTP,
    UCTXSTT,
};
use crate::Context;

/// Action on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Action {
    Start,
    Address,
    Write(u8),
    Read,
    /// The last bit of a byte that had waited, and its acknowledgement.
    ReadOn,
    Stop,
}

/// The master.
#[derive(Clone, Copy, Default)]
pub struct Master {
    /// Action under way, and the cycle at which it is done.
    action: Option<(Action, u64)>,
    /// Between START and STOP.
    owns_bus: bool,
    /// A byte or an address was not acknowledged: STOP or START comes next.
    refused: bool,
    /// A byte waits in its last bit for UCBxRXBUF.
    full: bool,
    /// Bytes since START.
    bytes: u32,
}

impl Master {
    /// The cycle at which something is done.
    pub fn due(&self) -> Option<u64> {
        self.action.map(|(_, end)| end)
    }

    /// As [`Master::due`], to be changed.
    pub fn end_mut(&mut self) -> Option<&mut u64> {
        self.action.as_mut().map(|(_, end)| end)
    }

    /// Bytes since START, as UCBCNTx.
    pub fn bytes(&self) -> u32 {
        self.bytes & 0xff
    }

    /// UCBBUSY and UCSCLLOW.
    pub fn status(&self) -> u32 {
        match (self.owns_bus, self.action) {
            (false, _) => 0,
            (true, Some(_)) => UCBBUSY,
            (true, None) => UCBBUSY | UCSCLLOW,
        }
    }
}

impl Usci {
    fn begin(&mut self, action: Action, now: u64) {
        let bits = match action {
            Action::Start | Action::Stop => 1,
            Action::ReadOn => 2,
            Action::Address | Action::Write(_) | Action::Read => 9,
        };
        self.master.action = Some((action, self.after(bits * self.divider(), now)));
    }

    /// UCSWRST lets go of the bus.
    pub(super) fn release_bus(&mut self, context: &mut Context<'_, '_>) {
        if std::mem::take(&mut self.master).owns_bus {
            context.board.two_wire_stop(&self.name, context.now);
        }
    }

    /// Something was written or read that the master may have waited for.
    pub(super) fn proceed(&mut self, now: u64) {
        if self.master.action.is_some() {
            return;
        }
        let wants = |bit| self.control & bit != 0;
        if !self.master.owns_bus {
            if wants(UCTXSTT) {
                self.begin(Action::Start, now);
            }
            return;
        }
        if self.master.full {
            if self.flags & UCRXIFG == 0 {
                self.master.full = false;
                self.begin(Action::ReadOn, now);
            }
        } else if wants(UCTXSTP) {
            self.begin(Action::Stop, now);
        } else if wants(UCTXSTT) {
            self.begin(Action::Start, now);
        } else if self.master.refused {
            // The bus is held until the program decides.
        } else if !wants(UCTR) {
            self.begin(Action::Read, now);
        } else if let Some(byte) = self.waiting.take() {
            self.begin(Action::Write(byte), now);
            self.flags |= UCTXIFG;
        }
    }

    /// Finishes the action under way, if its time is over.
    pub(super) fn advance_bus(&mut self, context: &mut Context<'_, '_>) {
        while let Some((action, end)) = self.master.action.filter(|(_, end)| *end <= context.now) {
            self.master.action = None;
            self.finish(action, end, context);
            self.proceed(end);
        }
    }

    fn finish(&mut self, action: Action, at: u64, context: &mut Context<'_, '_>) {
        let board = &mut *context.board;
        match action {
            Action::Start => {
                self.master.owns_bus = true;
                self.master.refused = false;
                self.master.bytes = 0;
                self.flags &= !(UCNACKIFG | UCSTPIFG);
                if self.control & UCTR != 0 && self.waiting.is_none() {
                    self.flags |= UCTXIFG;
                }
                self.begin(Action::Address, at);
            }
            Action::Address => {
                self.control &= !UCTXSTT;
                let (address, read) = ((self.slave & 0x7f) as u8, self.control & UCTR == 0);
                if !board.two_wire_address(&self.name, address, read, at) {
                    self.not_acknowledged();
                }
            }
            Action::Write(byte) => {
                if !board.two_wire_write(&self.name, byte, at) {
                    self.not_acknowledged();
                }
                self.count_byte();
            }
            Action::Read if self.flags & UCRXIFG != 0 => self.master.full = true,
            Action::Read | Action::ReadOn => {
                self.count_byte();
                let acknowledged = self.control & (UCTXSTP | UCTXSTT) == 0;
                self.received = board.two_wire_read(&self.name, acknowledged, at).into();
                self.flags |= UCRXIFG;
            }
            Action::Stop => {
                board.two_wire_stop(&self.name, at);
                self.control &= !UCTXSTP;
                let bytes = self.master.bytes;
                self.master = Master { bytes, ..Master::default() };
                if self.block == Block::EusciB {
                    self.flags |= UCSTPIFG;
                }
            }
        }
    }

    /// "UCNACKIFG = 1, UCTXIFG = 0, UCBxTXBUF discarded."
    fn not_acknowledged(&mut self) {
        self.master.refused = true;
        self.waiting = None;
        self.flags = self.flags & !UCTXIFG | UCNACKIFG;
    }

    /// UCBxTBCNT: UCASTPx = 1 tells of it, 2 makes the STOP, too.
    fn count_byte(&mut self) {
        self.master.bytes += 1;
        let automatic = self.control1 >> UCASTP & 3;
        if self.block == Block::EusciB && automatic != 0 && self.master.bytes == self.threshold & 0xff {
            self.flags |= UCBCNTIFG;
            self.control |= if automatic == 2 { UCTXSTP } else { 0 };
        }
    }
}
