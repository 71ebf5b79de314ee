//! Addresses of meters: maker, identification number, version, device type.

use std::fmt;

/// A maker's three letters, as FLAG registers them. EN 13757-3, 5.6; not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Manufacturer(pub u16);

impl Manufacturer {
    /// The letters; `None` unless all three are letters.
    #[must_use]
    pub fn letters(self) -> Option<[char; 3]> {
        let letter = |shift: u16| match (self.0 >> shift & 0x1f) as u8 {
            code @ 1..=26 => Some(char::from(b'@' + code)),
            _ => None,
        };
        Some([letter(10)?, letter(5)?, letter(0)?])
    }
}

impl fmt::Display for Manufacturer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.letters() {
            // The highest bit says that the address is unique only where it is installed.
            Some([a, b, c]) => write!(f, "{a}{b}{c}"),
            None => write!(f, "{:04X}h", self.0),
        }
    }
}

/// The address of a meter or of its radio, which names it among all makers' meters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MeterAddress {
    /// The maker.
    pub manufacturer: Manufacturer,
    /// The identification number: eight digits, lowest first.
    pub identification: [u8; 4],
    /// The maker's version.
    pub version: u8,
    /// The device type, see [`device_type_name`].
    pub device_type: u8,
}

impl MeterAddress {
    /// Reads M and A fields of the link layer: maker, identification number, version, type.
    #[must_use]
    pub(super) fn from_link(bytes: &[u8; 8]) -> Self {
        let [m0, m1, i0, i1, i2, i3, version, device_type] = *bytes;
        let manufacturer = Manufacturer(u16::from_le_bytes([m0, m1]));
        Self { manufacturer, identification: [i0, i1, i2, i3], version, device_type }
    }

    /// Reads the address of a long header: identification number, maker, version, type.
    #[must_use]
    pub(super) fn from_long_header(bytes: &[u8; 8]) -> Self {
        let [i0, i1, i2, i3, m0, m1, version, device_type] = *bytes;
        Self::from_link(&[m0, m1, i0, i1, i2, i3, version, device_type])
    }

    /// Returns the bytes as the link layer has them, with which initialization vectors begin.
    #[must_use]
    pub(super) fn to_link(self) -> [u8; 8] {
        let [m0, m1] = self.manufacturer.0.to_le_bytes();
        let [i0, i1, i2, i3] = self.identification;
        [m0, m1, i0, i1, i2, i3, self.version, self.device_type]
    }
}

impl fmt::Display for MeterAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = self.identification;
        let (manufacturer, version, device_type) = (self.manufacturer, self.version, self.device_type);
        write!(f, "{manufacturer} {d:02x}{c:02x}{b:02x}{a:02x} {version:02x} {device_type:02x}")
    }
}

/// Returns the name of a device type, `None` of one that is reserved or a maker's own. OMS volume
/// 2, Tables 2 to 4.
#[must_use]
pub fn device_type_name(device_type: u8) -> Option<&'static str> {
    Some(match device_type {
        0x00 => "other",
        0x01 => "oil",
        0x02 => "electricity",
        0x03 => "gas",
        0x04 => "heat",
        0x05 => "steam",
        0x06 => "warm water",
        0x07 => "water",
        0x08 => "heat cost allocator",
        0x09 => "compressed air",
        0x0a => "cooling, at outlet",
        0x0b => "cooling, at inlet",
        0x0c => "heat, at inlet",
        0x0d => "heat and cooling",
        0x0e => "bus or system component",
        0x14 => "calorific value",
        0x15 => "hot water",
        0x16 => "cold water",
        0x17 => "hot and cold water",
        0x18 => "pressure",
        0x19 => "A/D converter",
        0x1a => "smoke alarm",
        0x1b => "room sensor",
        0x1c => "gas alarm",
        0x20 => "breaker",
        0x21 => "valve",
        0x25 => "customer unit",
        0x28 => "waste water",
        0x29 => "garbage",
        0x31 => "communication controller",
        0x32 => "unidirectional repeater",
        0x33 => "bidirectional repeater",
        0x36 => "radio converter, system side",
        0x37 => "radio converter, meter side",
        _ => return None,
    })
}
