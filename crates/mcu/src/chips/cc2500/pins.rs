//! The GDO pins: SWRS040, table "GDOx Signal Selection".

use super::radio::State;
use super::registers::{FIFOTHR, IOCFG0, IOCFG1, IOCFG2, MCSM1};
use super::{Cc2500, FIFO_BYTES};

/// Returns true if a signal is modelled. The clocks (0x27, 0x30 and up) are modelled as a low
/// level: nothing here is clocked by them.
pub(super) fn known(signal: u8) -> bool {
    matches!(signal, 0x00..=0x07 | 0x09 | 0x0e | 0x0f | 0x27 | 0x29 | 0x2b | 0x2e..=0x3f)
}

impl Cc2500 {
    /// The level of GDO0, GDO1 or GDO2. GDO1 is SO while the chip is selected: high until the chip
    /// is ready.
    pub(super) fn pin(&self, index: u8) -> Option<bool> {
        if index == 1 && self.selected {
            return Some(!self.ready());
        }
        let setting = match index {
            0 => self.config[IOCFG0],
            1 => self.config[IOCFG1],
            2 => self.config[IOCFG2],
            _ => return None,
        };
        let level = self.signal(setting & 0x3f)?;
        Some(level ^ (setting & 0x40 != 0))
    }

    /// A signal's level; `None` for high impedance.
    fn signal(&self, signal: u8) -> Option<bool> {
        let rx_full = self.rx.len() >= self.rx_threshold();
        Some(match signal {
            0x00 => rx_full,
            0x01 => rx_full || !self.rx.is_empty() && self.reception.is_none(),
            0x02 => self.tx.len() >= self.tx_threshold(),
            0x03 => self.tx.len() >= FIFO_BYTES,
            0x04 => self.rx_overflown,
            0x05 => self.tx_underflown,
            0x06 => self.in_packet(),
            0x07 => self.packet_ok,
            0x09 => self.channel_clear(),
            0x0e => self.carrier(),
            0x0f => self.check_ok,
            0x29 => !self.ready(),
            0x2b => self.ready(),
            0x2e => return None,
            _ => false,
        })
    }

    /// `FIFO_THR`: 4, 8, .. 64 bytes.
    fn rx_threshold(&self) -> usize {
        4 * (usize::from(self.config[FIFOTHR] & 15) + 1)
    }

    /// `FIFO_THR`: 61, 57, .. 1 bytes.
    fn tx_threshold(&self) -> usize {
        61 - 4 * usize::from(self.config[FIFOTHR] & 15)
    }

    /// `CHIP_RDYn` is low: the crystal runs, steady.
    pub(super) fn ready(&self) -> bool {
        !matches!(self.state, State::Sleep | State::Xoff | State::Crystal)
    }

    /// Between the sync word and the end of a packet, sent or received.
    pub(super) fn in_packet(&self) -> bool {
        self.reception.is_some() || self.sending.as_ref().is_some_and(|sending| sending.synced)
    }

    /// Somebody else sends while the chip listens.
    pub(super) fn carrier(&self) -> bool {
        let on_air = |start_ns, end_ns| (start_ns..end_ns).contains(&self.now_ns);
        self.state == State::Rx
            && self.air.iter().any(|heard| on_air(heard.frame.start_ns, heard.frame.end_ns))
    }

    /// Clear channel assessment: `MCSM1.CCA_MODE`.
    pub(super) fn channel_clear(&self) -> bool {
        let mode = self.config[MCSM1] >> 4 & 3;
        let strong = mode & 1 != 0 && self.carrier();
        let receiving = mode & 2 != 0 && self.reception.is_some();
        self.state == State::Rx && !strong && !receiving
    }
}
