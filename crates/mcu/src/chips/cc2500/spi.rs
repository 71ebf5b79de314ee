//! Accesses: header byte, status byte, registers, FIFOs.
//!
//! Source: SWRS040, "4-wire Serial Configuration and Data Interface".

use super::pins;
use super::radio::{QUALITY, RSSI_SILENT, RSSI_STRONG, State};
use super::registers::*;
use super::{Cc2500, FIFO_BYTES};

const READ: u8 = 0x80;
const BURST: u8 = 0x40;

/// Meaning of the next byte.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Access {
    /// A header.
    Header,
    /// Data at an address, one byte or until the select line goes high.
    Data {
        /// The header without its address.
        flags: u8,
        address: u8,
    },
}

impl Cc2500 {
    /// A byte over SPI, and the byte that comes back.
    pub(super) fn exchange(&mut self, byte: u8) -> Result<u8, String> {
        if !self.ready() {
            return Err(
                "a byte while CHIP_RDYn is high; wait for SO (its output 1, to be wired) to go low".into()
            );
        }
        let Access::Data { flags, address } = self.access else { return self.header(byte) };
        if flags & BURST == 0 || (SRES..=SNOP).contains(&address) {
            self.access = Access::Header;
        } else if usize::from(address) < CONFIGURATION {
            self.access = Access::Data { flags, address: address + 1 };
        }
        if flags & READ != 0 {
            return self.read(address);
        }
        let status = self.status(flags);
        self.write(address, byte)?;
        Ok(status)
    }

    fn header(&mut self, byte: u8) -> Result<u8, String> {
        let (flags, address) = (byte & (READ | BURST), byte & 0x3f);
        let status = self.status(flags);
        if (SRES..=SNOP).contains(&address) && flags & BURST == 0 {
            self.strobe(address)?;
        } else {
            self.access = Access::Data { flags, address };
        }
        Ok(status)
    }

    /// "Chip Status Byte": CHIP_RDYn, the state, and what is in the FIFO that is read, or free in
    /// the other.
    fn status(&self, flags: u8) -> u8 {
        let state = match self.state {
            State::Rx => 1,
            State::Tx => 2,
            State::Fstxon => 3,
            State::Calibrate => 4,
            State::Settling => 5,
            State::RxOverflow => 6,
            State::TxUnderflow => 7,
            State::Idle | State::Sleep | State::Xoff | State::Crystal => 0,
        };
        let bytes = if flags & READ != 0 { self.rx.len() } else { FIFO_BYTES - self.tx.len() };
        u8::from(!self.ready()) << 7 | state << 4 | bytes.min(15) as u8
    }

    fn read(&mut self, address: u8) -> Result<u8, String> {
        match address {
            FIFO => {
                self.packet_ok = false;
                self.rx.pop_front().ok_or_else(|| "the receive FIFO is read while empty".into())
            }
            PATABLE => {
                let value = self.power_table[self.power_index];
                self.power_index = (self.power_index + 1) % self.power_table.len();
                Ok(value)
            }
            _ => match self.config.get(usize::from(address)) {
                Some(value) => Ok(*value),
                None => self.status_register(address),
            },
        }
    }

    fn status_register(&self, address: u8) -> Result<u8, String> {
        Ok(match address {
            // SWRS040, "Status Registers": PARTNUM 0x80, VERSION 0x03.
            PARTNUM => 0x80,
            VERSION => 0x03,
            FREQEST => 0,
            LQI => u8::from(self.check_ok) << 7 | QUALITY,
            RSSI => self.strength(),
            MARCSTATE => self.machine_state(),
            PKTSTATUS => {
                let level = |index, bit| u8::from(self.pin(index) == Some(true)) << bit;
                u8::from(self.check_ok) << 7
                    | u8::from(self.carrier()) << 6
                    | u8::from(self.carrier()) << 5
                    | u8::from(self.channel_clear()) << 4
                    | u8::from(self.in_packet()) << 3
                    | level(2, 2)
                    | level(0, 0)
            }
            VCO_VC_DAC => 0x94,
            TXBYTES => u8::from(self.tx_underflown) << 7 | self.tx.len() as u8,
            RXBYTES => u8::from(self.rx_overflown) << 7 | self.rx.len() as u8,
            _ => return Err(format!("there is no register {address:#04x}, or it is not modelled")),
        })
    }

    /// `RSSI` now.
    fn strength(&self) -> u8 {
        if self.carrier() { RSSI_STRONG } else { RSSI_SILENT }
    }

    /// `MARCSTATE`: SWRS040, "Main Radio Control State Machine State".
    fn machine_state(&self) -> u8 {
        match self.state {
            State::Sleep => 0,
            State::Idle | State::Crystal => 1,
            State::Xoff => 2,
            State::Calibrate => 8,
            State::Settling => 9,
            State::Rx => 13,
            State::RxOverflow => 17,
            State::Fstxon => 18,
            State::Tx => 19,
            State::TxUnderflow => 22,
        }
    }

    fn write(&mut self, address: u8, value: u8) -> Result<(), String> {
        match (usize::from(address), address) {
            (_, FIFO) => {
                if self.tx.len() >= FIFO_BYTES {
                    return Err("a byte more than the 64 of the transmit FIFO".into());
                }
                self.tx.push_back(value);
            }
            (_, PATABLE) => {
                self.power_table[self.power_index] = value;
                self.power_index = (self.power_index + 1) % self.power_table.len();
            }
            (IOCFG2 | IOCFG1 | IOCFG0, _) if !pins::known(value & 0x3f) => {
                return Err(format!("the GDO signal {:#04x} is not modelled", value & 0x3f));
            }
            (register @ 0..CONFIGURATION, _) => self.config[register] = value,
            _ => return Err(format!("register {address:#04x} cannot be written")),
        }
        Ok(())
    }
}
