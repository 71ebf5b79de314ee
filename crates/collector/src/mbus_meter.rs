//! Names of other makers' meters: the maker's three letters and the identification number, such as
//! `ELS-12345678`.
//!
//! Version and device type are no part of the name: in profile B no MAC covers the link layer's.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;
use wire::wireless_mbus::{Manufacturer, MeterAddress};

/// A meter of another maker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MbusMeterId {
    maker: [u8; 3],
    /// Eight digits, the highest first.
    identification: u32,
}

/// A text that names no meter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write a meter as its maker's three letters and its eight digits, such as ELS-12345678")]
pub struct NoMbusMeter;

impl MbusMeterId {
    /// Makes a name of a maker's letters and an identification number, as a label shows them.
    ///
    /// # Errors
    /// [`NoMbusMeter`]
    pub fn new(maker: &str, identification: &str) -> Result<MbusMeterId, NoMbusMeter> {
        let maker: [u8; 3] = maker.as_bytes().try_into().map_err(|_| NoMbusMeter)?;
        let is_maker = maker.iter().all(u8::is_ascii_alphabetic);
        let is_number = identification.len() == 8 && identification.bytes().all(|c| c.is_ascii_hexdigit());
        let number = u32::from_str_radix(identification, 16).map_err(|_| NoMbusMeter)?;
        if !is_maker || !is_number {
            return Err(NoMbusMeter);
        }
        Ok(MbusMeterId { maker: maker.map(|letter| letter.to_ascii_uppercase()), identification: number })
    }

    /// The name of an address; `None` if its maker has no letters. The maker's highest bit is no
    /// part of the letters.
    #[must_use]
    pub fn of(address: MeterAddress) -> Option<MbusMeterId> {
        let Manufacturer(code) = address.manufacturer;
        let letters = Manufacturer(code & 0x7fff).letters()?;
        Some(MbusMeterId {
            maker: letters.map(|letter| letter as u8),
            identification: u32::from_le_bytes(address.identification),
        })
    }

    /// Returns the address of a meter of this name.
    #[must_use]
    pub fn address(self, version: u8, device_type: u8) -> MeterAddress {
        let letter = |code: u16, letter: u8| code << 5 | u16::from(letter - b'@');
        let manufacturer = Manufacturer(self.maker.into_iter().fold(0, letter));
        MeterAddress { manufacturer, identification: self.identification.to_le_bytes(), version, device_type }
    }

    /// Returns true if its digits are decimal, as a new meter's have to be.
    #[must_use]
    pub fn is_decimal(self) -> bool {
        (0..8).all(|digit| self.identification >> (4 * digit) & 15 < 10)
    }
}

impl fmt::Display for MbusMeterId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.maker.map(char::from);
        write!(f, "{a}{b}{c}-{:08x}", self.identification)
    }
}

impl FromStr for MbusMeterId {
    type Err = NoMbusMeter;

    fn from_str(text: &str) -> Result<MbusMeterId, NoMbusMeter> {
        let (maker, identification) = text.split_once('-').ok_or(NoMbusMeter)?;
        MbusMeterId::new(maker, identification)
    }
}

impl Serialize for MbusMeterId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for MbusMeterId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<MbusMeterId, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_reads_as_it_is_shown() {
        let meter: MbusMeterId = "ELS-12345678".parse().expect("a name");
        let other: MbusMeterId = "els-1234567A".parse().expect("a name");
        assert_eq!((meter.to_string(), other.to_string()), ("ELS-12345678".into(), "ELS-1234567a".into()));
        for wrong in
            ["", "ELS12345678", "ELS-1234567", "EL-12345678", "E1S-12345678", "ELS-+2345678", "ÄS-12345678"]
        {
            assert_eq!(wrong.parse::<MbusMeterId>(), Err(NoMbusMeter), "{wrong}");
        }
    }

    #[test]
    fn address_of_a_name_has_that_name() {
        for name in ["ELS-12345678", "AAA-00000000", "ZZZ-99999999"] {
            let meter: MbusMeterId = name.parse().expect("a name");
            assert_eq!(MbusMeterId::of(meter.address(1, 2)), Some(meter));
        }
        // OMS volume 2, Annex N: ELS is 0x1593.
        let meter: MbusMeterId = "ELS-12345678".parse().expect("a name");
        assert_eq!(meter.address(1, 2).manufacturer, Manufacturer(0x1593));
    }
}
