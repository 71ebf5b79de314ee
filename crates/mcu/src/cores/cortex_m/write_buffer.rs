//! Write buffer of the Cortex-M3 and M4.
//!
//! A store to a slow peripheral delays the accesses behind it.
//!
//! ARM 100165 (Cortex-M3 TRM r2p1), section 3.5: a store goes through a buffer of one entry if the
//! bus waits in its data phase; accesses that follow on that bus wait until it has drained, as DMB
//! and DSB do. Section 3.7: a store through a bit-band alias is a read, then a write on the bus,
//! and the core goes on unless it accesses the system bus meanwhile. The address of that write is
//! taken to go out in the last cycle of the read.

/// Work that the system bus still has to do.
#[derive(Clone, Default)]
pub(super) struct WriteBuffer {
    /// Cycles until the bus is free.
    pub busy: u32,
    /// The instruction under way: cycles that the bus waits in its reads.
    reads: u32,
    /// The instruction under way: cycles that the bus waits in its last write.
    posted: u32,
    /// The instruction under way stores through a bit-band alias.
    bit: bool,
    /// One of these is to be followed.
    active: bool,
}

impl WriteBuffer {
    /// The bus waits in an access of the instruction under way.
    pub fn wait(&mut self, waits: u32, store: bool) {
        self.active = true;
        if store {
            // Of several stores each waits for the one before.
            self.reads += std::mem::replace(&mut self.posted, waits);
        } else {
            self.reads += waits;
        }
    }

    /// The instruction under way stores through a bit-band alias.
    pub fn store_bit(&mut self) {
        self.bit = true;
        self.active = true;
    }

    /// Returns true if no instruction is to be followed.
    #[inline(always)]
    pub fn is_idle(&self) -> bool {
        !self.active
    }

    /// Ends the instruction under way, which takes `cycles` and may access the system bus: cycles
    /// that it waits.
    pub fn end_instruction(&mut self, cycles: u32, on_bus: bool) -> u32 {
        let mut waits = if on_bus { std::mem::take(&mut self.busy) } else { 0 };
        let (reads, posted) = (std::mem::take(&mut self.reads), std::mem::take(&mut self.posted));
        if std::mem::take(&mut self.bit) {
            self.busy = 1 + reads + posted;
            return waits;
        }
        waits += reads;
        self.busy = if posted != 0 { posted } else { self.busy.saturating_sub(cycles + waits) };
        self.active = self.busy != 0;
        waits
    }
}
