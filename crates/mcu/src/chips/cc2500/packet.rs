//! Packets: framing of the FIFO's bytes, and selection of received packets.
//!
//! Source: SWRS040, "Packet Handling Hardware Support".

use super::registers::{ADDR, MDMCFG1, MDMCFG2, PKTCTRL0, PKTCTRL1, PKTLEN};

/// A packet on the air.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// When its preamble begins, in nanoseconds since the chip's power-up.
    pub start_ns: u64,
    /// When its last bit ends.
    pub end_ns: u64,
    /// Payload: neither preamble, sync word, length byte nor check sum.
    pub bytes: Vec<u8>,
}

/// The check sum over the length byte and the bytes behind it: x^16 + x^15 + x^2 + 1, begun with
/// ones, the most significant bit first ("CRC Check"; TI's design note DN502).
#[must_use]
pub fn check_sum(bytes: impl IntoIterator<Item = u8>) -> u16 {
    bytes.into_iter().fold(0xffff, |sum, byte| {
        (0..8)
            .fold(sum ^ u16::from(byte) << 8, |sum, _| sum << 1 ^ if sum & 0x8000 != 0 { 0x8005 } else { 0 })
    })
}

/// The packet format that the registers ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bytes of the preamble.
    pub preamble: u64,
    /// Bytes of the sync word.
    pub sync: u64,
    /// The length comes first; else it is `PKTLEN`.
    pub length_byte: bool,
    /// Bytes of the check sum: 2 or 0.
    pub check: u64,
    /// `PKTLEN`: the length, or the longest one received.
    pub length: u8,
    address: u8,
    address_check: u8,
    /// Two bytes of status follow each packet in the FIFO.
    pub append_status: bool,
    /// A packet with a wrong check sum is flushed.
    pub auto_flush: bool,
}

impl Format {
    /// Reads the format out of the registers.
    ///
    /// # Errors
    /// A setting is not modelled.
    pub fn new(config: &[u8]) -> Result<Format, String> {
        let control = config[PKTCTRL0];
        let refused = [
            (control & 0x30 != 0, "PKTCTRL0: only packets through the FIFOs are modelled (PKT_FORMAT = 0)"),
            (control & 0x08 != 0, "PKTCTRL0: packets as of the CC2400 are not modelled"),
            (control & 0x03 > 1, "PKTCTRL0: only fixed and variable lengths are modelled"),
            (config[MDMCFG1] & 0x80 != 0, "MDMCFG1: error correction is not modelled"),
            (config[MDMCFG2] & 0x08 != 0, "MDMCFG2: Manchester coding is not modelled"),
            (config[MDMCFG2] & 0x03 == 0, "MDMCFG2: packets without a sync word are not modelled"),
            (control & 0x03 == 0 && config[PKTLEN] == 0, "PKTLEN: a fixed length of 0"),
        ];
        if let Some((_, what)) = refused.iter().find(|(refused, _)| *refused) {
            return Err((*what).into());
        }
        Ok(Format {
            preamble: [2, 3, 4, 6, 8, 12, 16, 24][usize::from(config[MDMCFG1] >> 4 & 7)],
            sync: if config[MDMCFG2] & 3 == 3 { 4 } else { 2 },
            length_byte: control & 0x03 == 1,
            check: if control & 0x04 != 0 { 2 } else { 0 },
            length: config[PKTLEN],
            address: config[ADDR],
            address_check: config[PKTCTRL1] & 3,
            append_status: config[PKTCTRL1] & 0x04 != 0,
            auto_flush: config[PKTCTRL1] & 0x08 != 0,
        })
    }

    /// Bytes on the air of a packet that carries `bytes`.
    pub fn on_air(&self, bytes: u64) -> u64 {
        self.preamble + self.sync + u64::from(self.length_byte) + bytes + self.check
    }

    /// Returns true if a packet to this address is received: `PKTCTRL1.ADR_CHK`.
    pub fn hears(&self, address: u8) -> bool {
        match self.address_check {
            0 => true,
            1 => address == self.address,
            2 => address == self.address || address == 0,
            _ => address == self.address || address == 0 || address == 0xff,
        }
    }
}
