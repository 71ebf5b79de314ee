//! Masters outside of the microcontroller, of which its serial interfaces are slaves: transfers
//! that they begin at set times.

use super::Board;

/// A transfer by a master outside of the microcontroller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MasterTransfer {
    /// The interface that the master is wired to, by its name in the target file.
    pub bus: String,
    /// The time at which it begins; where the one before has not ended by then, behind that.
    pub at_ns: u64,
    /// The bit clock, in Hz; above 0.
    pub clock_hz: u64,
    /// The bytes in both directions.
    pub data: MasterData,
}

/// Bytes that a master sends and wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MasterData {
    /// I2C: bytes are written, then read behind a repeated START. Without either, the address alone
    /// is sent for writing.
    I2c {
        /// The slave's address, of seven bits.
        address: u8,
        /// The bytes to be written.
        write: Vec<u8>,
        /// Number of bytes to be read; the last is not acknowledged.
        read: usize,
    },
    /// SPI: bytes in both directions, one behind the other. The select line is a pin of its own.
    Spi {
        /// 2 * CPOL + CPHA.
        mode: u8,
        /// The bytes to be sent.
        bytes: Vec<u8>,
    },
}

/// Outcome of a transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FinishedTransfer {
    /// The interface.
    pub bus: String,
    /// The cycle at which it ended.
    pub cycles: u64,
    /// I2C: addresses and bytes of the master that were acknowledged.
    pub acknowledged: usize,
    /// The bytes that the master got; none for one that the manual does not define.
    pub received: Vec<Option<u8>>,
}

/// The transfers of all masters of a board.
#[derive(Clone, Debug, Default)]
pub(super) struct Masters {
    /// In the order of their times, and whether the interface has taken each.
    transfers: Vec<(MasterTransfer, bool)>,
    /// The time up to which they are due.
    reached_ns: u64,
    finished: Vec<FinishedTransfer>,
}

impl Masters {
    pub fn add(&mut self, transfer: MasterTransfer) {
        let place = self.transfers.partition_point(|(other, _)| other.at_ns <= transfer.at_ns);
        self.transfers.insert(place, (transfer, false));
    }

    pub fn is_empty(&self) -> bool {
        self.transfers.is_empty()
    }

    /// The time of the next one that is not due yet.
    pub fn due(&self) -> Option<u64> {
        let next = self.transfers.iter().find(|(transfer, taken)| !taken && transfer.at_ns > self.reached_ns);
        next.map(|(transfer, _)| transfer.at_ns)
    }

    pub fn tick(&mut self, now_ns: u64) {
        self.reached_ns = self.reached_ns.max(now_ns);
    }

    pub fn power_up(&mut self) {
        self.reached_ns = 0;
        self.transfers.iter_mut().for_each(|(_, taken)| *taken = false);
        self.finished.clear();
    }
}

impl Board {
    /// Has a master outside transfer something. Transfers of one interface follow each other.
    pub fn add_master_transfer(&mut self, transfer: MasterTransfer) {
        self.masters.add(transfer);
        self.reschedule();
    }

    /// The outcomes of transfers that have ended since the last call, in that order.
    pub fn take_finished_transfers(&mut self) -> Vec<FinishedTransfer> {
        std::mem::take(&mut self.masters.finished)
    }

    /// The interface of this name takes the next transfer that is due by a cycle.
    pub(crate) fn take_master_transfer(&mut self, bus: &str, cycle: u64) -> Option<MasterTransfer> {
        if self.masters.is_empty() {
            return None;
        }
        let now_ns = self.time_ns(cycle);
        let due = |(transfer, taken): &&mut (MasterTransfer, bool)| {
            !*taken && transfer.bus == bus && transfer.at_ns <= now_ns
        };
        let (transfer, taken) = self.masters.transfers.iter_mut().find(due)?;
        *taken = true;
        Some(transfer.clone())
    }

    /// A transfer has ended.
    pub(crate) fn finish_master_transfer(&mut self, finished: FinishedTransfer) {
        self.masters.finished.push(finished);
    }
}
