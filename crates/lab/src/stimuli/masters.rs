//! Transfers by masters outside, of which the part's serial interfaces are slaves.

use crate::serial_buses::{check_i2c_slave, check_spi_slave};
use crate::units;
use mcu::{MasterData, MasterTransfer, Part};
use serde::Deserialize;

/// Highest I2C address of seven bits.
const ADDRESS_MAX: u8 = 0x7f;

/// A transfer: over I2C with `address`, over SPI with `send`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Transfer {
    /// The interface's name.
    pub bus: String,
    /// The time at which it begins.
    at: String,
    /// The bit clock.
    clock: String,
    address: Option<u8>,
    /// Bytes to be written.
    #[serde(default)]
    write: Vec<u8>,
    /// Number of bytes to be read.
    #[serde(default)]
    read: usize,
    send: Option<Vec<u8>>,
    /// The SPI mode; 0 where absent.
    mode: Option<u8>,
}

impl Transfer {
    /// The transfer, if the part has its interface.
    pub(super) fn transfer(&self, part: &Part) -> Result<MasterTransfer, String> {
        let data = match (self.address, &self.send) {
            (Some(address), None) if self.mode.is_none() => {
                check_i2c_slave(part, &self.bus)?;
                if address > ADDRESS_MAX {
                    return Err(format!("{address:#04x} is no I2C address of seven bits, up to 0x7f"));
                }
                MasterData::I2c { address, write: self.write.clone(), read: self.read }
            }
            (None, Some(send)) if self.write.is_empty() && self.read == 0 => {
                check_spi_slave(part, &self.bus)?;
                let mode = self.mode.unwrap_or(0);
                if mode > 3 {
                    return Err(format!("there is no SPI mode {mode}; they are 0 to 3"));
                }
                MasterData::Spi { mode, bytes: send.clone() }
            }
            _ => {
                return Err(
                    "give it address, with write and read, for I2C, or send, with mode, for SPI".into()
                );
            }
        };
        let clock_hz = units::frequency(&self.clock)?;
        Ok(MasterTransfer { bus: self.bus.clone(), at_ns: units::time_ns(&self.at)?, clock_hz, data })
    }
}

#[cfg(test)]
mod tests {
    use super::{MasterData, Transfer};
    use mcu::{MasterTransfer, Part};

    fn transfer(text: &str) -> Result<MasterTransfer, String> {
        let part =
            Part::from_toml(include_str!("../../../../targets/stm32f103.toml")).expect("a target file");
        toml::from_str::<Transfer>(text).expect("a transfer").transfer(&part)
    }

    #[test]
    fn transfer_is_i2c_by_its_address_and_spi_by_what_it_sends() {
        let i2c =
            transfer("bus = 'I2C1'\nat = '2ms'\nclock = '100kHz'\naddress = 0x3c\nwrite = [7]\nread = 2");
        let data = MasterData::I2c { address: 0x3c, write: vec![7], read: 2 };
        assert_eq!(i2c, Ok(MasterTransfer { bus: "I2C1".into(), at_ns: 2_000_000, clock_hz: 100_000, data }));
        let spi = transfer("bus = 'SPI2'\nat = '0s'\nclock = '1MHz'\nsend = [0x9f, 0]\nmode = 3");
        let data = MasterData::Spi { mode: 3, bytes: vec![0x9f, 0] };
        assert_eq!(spi, Ok(MasterTransfer { bus: "SPI2".into(), at_ns: 0, clock_hz: 1_000_000, data }));
    }

    #[test]
    fn transfers_that_cannot_be_are_refused() {
        for (bus, rest, wanted) in [
            ("I2C1", "", "give it address"),
            ("I2C1", "address = 1\nsend = [1]", "give it address"),
            ("I2C1", "address = 1\nmode = 1", "give it address"),
            ("SPI1", "send = [1]\nwrite = [1]", "give it address"),
            ("SPI1", "send = [1]\nread = 1", "give it address"),
            ("I2C1", "address = 0x80", "0x80 is no I2C address"),
            ("SPI1", "send = [1]\nmode = 4", "no SPI mode 4"),
            ("SPI1", "address = 1", "has no I2C slave 'SPI1'"),
            ("I2C1", "send = [1]", "has no SPI slave 'I2C1'"),
        ] {
            let said = transfer(&format!("bus = '{bus}'\nat = '0s'\nclock = '1MHz'\n{rest}")).unwrap_err();
            assert!(said.contains(wanted), "{rest}: {said}");
        }
    }
}
