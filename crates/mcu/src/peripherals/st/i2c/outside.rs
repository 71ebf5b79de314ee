//! A master outside, of which the interface is a slave: what it does on the bus, and when.
//!
//! A START with an address takes ten periods of the master's SCL, a byte nine, a STOP one. Behind a
//! byte the slave may hold SCL low; the master waits until it lets go.

use crate::{Context, FinishedTransfer, MasterData, MasterTransfer};

/// Symbol on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    /// A START, or a repeated one, and an address with the direction.
    Address {
        address: u8,
        read: bool,
    },
    /// A byte from the master.
    Written(u8),
    /// A byte for the master, and whether it acknowledges.
    Read {
        acknowledged: bool,
    },
    Stop,
}

/// The master.
#[derive(Clone, Debug, Default)]
pub(super) struct OutsideMaster {
    transfer: Option<MasterTransfer>,
    /// Cycles of a period of SCL.
    bit: u64,
    /// The symbol on the bus or the next one, and the cycle at which it is complete; none while
    /// the slave holds SCL.
    symbol: Option<Symbol>,
    end: Option<u64>,
    /// Bytes that were written.
    written: usize,
    acknowledged: usize,
    received: Vec<Option<u8>>,
    /// The cycle from which on the bus is free, a period of SCL behind its last STOP.
    free: u64,
}

impl OutsideMaster {
    /// True from a START to the STOP.
    pub fn is_busy(&self) -> bool {
        self.transfer.is_some()
    }

    pub fn due(&self) -> Option<u64> {
        self.end
    }

    pub fn delay(&mut self, cycles: u64) {
        self.end.iter_mut().for_each(|end| *end += cycles);
    }

    /// The bus is free from cycle `from` on: the next transfer that is due begins. Returns whether
    /// one did.
    pub fn begin(&mut self, bus: &str, from: u64, context: &mut Context<'_, '_>) -> bool {
        if self.is_busy() {
            return false;
        }
        let Some(transfer) = context.board.take_master_transfer(bus, context.now) else { return false };
        let MasterData::I2c { address, ref write, read } = transfer.data else {
            context.stop(bus, "a master outside does not speak I2C");
            return false;
        };
        self.bit = context.board.clock_hz().div_ceil(transfer.clock_hz.max(1));
        let at = context.board.cycle_at(transfer.at_ns).max(self.free).max(from);
        self.symbol = Some(Symbol::Address { address, read: write.is_empty() && read > 0 });
        self.transfer = Some(transfer);
        (self.written, self.acknowledged) = (0, 0);
        self.received.clear();
        self.release(at);
        true
    }

    /// Returns the symbol that is complete by a cycle, and its end. SCL is held then.
    pub fn complete(&mut self, now: u64) -> Option<(Symbol, u64)> {
        let at = self.end.filter(|end| *end <= now)?;
        self.end = None;
        Some((self.symbol?, at))
    }

    /// The slave acknowledges what was complete, or not; a master that reads asks for no answer.
    pub fn acknowledge(&mut self, acknowledged: bool) {
        let Some(MasterTransfer { data: MasterData::I2c { address, write, read }, .. }) = &self.transfer
        else {
            return;
        };
        let is_from_master = !matches!(self.symbol, Some(Symbol::Read { .. }));
        self.acknowledged += usize::from(acknowledged && is_from_master);
        let reads = matches!(self.symbol, Some(Symbol::Read { .. } | Symbol::Address { read: true, .. }));
        let left = read - self.received.len();
        self.symbol = Some(match write.get(self.written) {
            _ if !acknowledged => Symbol::Stop,
            Some(byte) if !reads => {
                self.written += 1;
                Symbol::Written(*byte)
            }
            _ if left == 0 => Symbol::Stop,
            _ if reads => Symbol::Read { acknowledged: left > 1 },
            _ => Symbol::Address { address: *address, read: true },
        });
    }

    /// The byte that it read last.
    pub fn last_read(&self) -> u8 {
        self.received.last().copied().flatten().unwrap_or(0xff)
    }

    /// True while it waits for a byte of the slave.
    pub fn wants_byte(&self) -> bool {
        self.end.is_none() && matches!(self.symbol, Some(Symbol::Read { .. }))
    }

    /// The slave sends a byte from cycle `at` on.
    pub fn send(&mut self, byte: u8, at: u64) {
        self.received.push(Some(byte));
        self.end = Some(at + 9 * self.bit);
    }

    /// True while the slave holds SCL.
    pub fn is_held(&self) -> bool {
        self.is_busy() && self.end.is_none()
    }

    /// The slave lets go of SCL at cycle `at`.
    pub fn release(&mut self, at: u64) {
        let bits = match self.symbol {
            Some(Symbol::Address { .. }) => 10,
            Some(Symbol::Written(_) | Symbol::Read { .. }) => 9,
            _ => 1,
        };
        self.end = self.symbol.map(|_| at + bits * self.bit);
    }

    /// The slave is switched off and lets go of both lines: SDA is high, nothing is acknowledged.
    pub fn abandon(&mut self, at: u64) {
        if self.is_held() {
            if self.wants_byte() {
                self.received.push(Some(0xff));
            }
            self.release(at);
        }
    }

    /// Its STOP was complete at cycle `at`.
    pub fn finish(&mut self, at: u64, context: &mut Context<'_, '_>) {
        (self.symbol, self.free) = (None, at + self.bit);
        if let Some(MasterTransfer { bus, .. }) = self.transfer.take() {
            let received = std::mem::take(&mut self.received);
            let acknowledged = self.acknowledged;
            context.board.finish_master_transfer(FinishedTransfer {
                bus,
                cycles: at,
                acknowledged,
                received,
            });
        }
    }
}
