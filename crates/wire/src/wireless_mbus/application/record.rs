//! Records: their headers, and their data. EN 13757-3, 6.2 to 6.5; not compared.

use super::modifier::{Effect, Modifier};
use super::quantity::{self, Meaning};
use super::value::{self, Data};
use super::{ApplicationError, Coding, Quantity, Unit, Value};

/// Bytes that may extend a DIF, and a VIF. EN 13757-3, 6.3.5 and 6.4.1; not compared.
const EXTENSIONS_MAX: usize = 10;

/// The function of a value. EN 13757-3, Table 3; not compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Function {
    /// The value now, or at the time of its storage number.
    Instantaneous,
    /// The highest.
    Maximum,
    /// The lowest.
    Minimum,
    /// The value during an error.
    DuringError,
}

/// A record of an application's data.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The place where it begins in the application's data.
    pub offset: usize,
    /// The function.
    pub function: Function,
    /// The storage number: 0 now, higher ones for the past.
    pub storage: u64,
    /// The tariff.
    pub tariff: u32,
    /// The subunit of the meter.
    pub subunit: u16,
    /// The quantity; `None` of a code that is not known.
    pub quantity: Option<Quantity>,
    /// The unit.
    pub unit: Unit,
    /// The unit or quantity that the record writes out.
    pub plain_text: Option<String>,
    /// The codes that change what the record says.
    pub modifiers: Vec<Modifier>,
    /// The value.
    pub value: Value,
    /// The header as sent.
    pub header: Vec<u8>,
    /// The data as sent.
    pub data: Vec<u8>,
}

impl Record {
    /// True if all of the record is known: only then its value is a reading.
    #[must_use]
    pub fn is_understood(&self) -> bool {
        let is_known = |quantity| {
            !matches!(quantity, Quantity::ManufacturerSpecific | Quantity::AnyQuantity | Quantity::PlainText)
        };
        self.quantity.is_some_and(is_known)
            && self.modifiers.iter().all(|modifier| modifier.effect() != Effect::Unknown)
            && !matches!(
                self.value,
                Value::None
                    | Value::Bytes(_)
                    | Value::InvalidBcd(_)
                    | Value::NotAvailable
                    | Value::Erroneous(_)
            )
    }
}

/// A header that is read, with its length in bytes.
pub(super) struct RecordHeader {
    function: Function,
    storage: u64,
    tariff: u32,
    subunit: u16,
    meaning: Option<Meaning>,
    plain_text: Option<String>,
    modifiers: Vec<Modifier>,
    pub(super) data: Data,
    pub(super) bytes: usize,
}

/// Reads the bytes of a header one after the other.
struct HeaderBytes<'a> {
    bytes: &'a [u8],
    start: usize,
    at: usize,
}

impl HeaderBytes<'_> {
    fn next(&mut self) -> Result<u8, ApplicationError> {
        let byte = self.bytes.get(self.at).copied();
        self.at += 1;
        byte.ok_or(ApplicationError::Truncated { offset: self.start })
    }
}

impl RecordHeader {
    /// Reads a header that begins at an offset, where no special function stands.
    pub(super) fn parse(bytes: &[u8], offset: usize) -> Result<Self, ApplicationError> {
        let mut next = HeaderBytes { bytes, start: offset, at: offset };
        let dif = next.next()?;
        let data = Data::of_dif(dif).ok_or(ApplicationError::Truncated { offset })?;
        let function = match dif >> 4 & 3 {
            0 => Function::Instantaneous,
            1 => Function::Maximum,
            2 => Function::Minimum,
            _ => Function::DuringError,
        };
        let (mut storage, mut tariff, mut subunit) = (u64::from(dif >> 6 & 1), 0, 0);
        let (mut last, mut extensions) = (dif, 0);
        while last & 0x80 != 0 {
            if extensions == EXTENSIONS_MAX {
                return Err(ApplicationError::TooManyExtensions { offset });
            }
            last = next.next()?;
            storage |= u64::from(last & 0x0f) << (1 + 4 * extensions);
            tariff |= u32::from(last >> 4 & 3) << (2 * extensions);
            subunit |= u16::from(last >> 6 & 1) << extensions;
            extensions += 1;
        }
        let mut header = Self {
            function,
            storage,
            tariff,
            subunit,
            meaning: None,
            plain_text: None,
            modifiers: Vec::new(),
            data,
            bytes: 0,
        };
        header.parse_value_information(&mut next)?;
        header.bytes = next.at - offset;
        Ok(header)
    }

    /// Reads VIF and VIFEs.
    fn parse_value_information(&mut self, next: &mut HeaderBytes<'_>) -> Result<(), ApplicationError> {
        let vif = next.next()?;
        let (meaning, last) = match vif {
            0xfb | 0xfd => {
                let code = next.next()?;
                let table = if vif == 0xfb { quantity::extension_fb } else { quantity::extension_fd };
                (table(code & 0x7f), code)
            }
            // Its extension bit is no table of its own.
            0xef => (None, vif),
            _ => (quantity::primary(vif & 0x7f), vif),
        };
        self.meaning = meaning;
        // The text stands in front of the VIFEs, its last character first. libmbus' test frames.
        if vif & 0x7f == 0x7c {
            let length = usize::from(next.next()?);
            let text = (0..length).map(|_| next.next()).collect::<Result<Vec<u8>, _>>()?;
            self.plain_text = Some(text.iter().rev().map(|&byte| char::from(byte)).collect());
        }
        let is_own = meaning.is_none_or(|meaning| meaning.quantity == Quantity::ManufacturerSpecific);
        self.parse_modifiers(next, last, is_own)
    }

    /// Reads the VIFEs behind a code. Behind a maker's own code all are the maker's.
    fn parse_modifiers(
        &mut self,
        next: &mut HeaderBytes<'_>,
        mut last: u8,
        mut is_own: bool,
    ) -> Result<(), ApplicationError> {
        let (mut count, mut is_extension, mut own) = (0, false, Vec::new());
        while last & 0x80 != 0 {
            if count == EXTENSIONS_MAX {
                return Err(ApplicationError::TooManyExtensions { offset: next.start });
            }
            last = next.next()?;
            count += 1;
            match last & 0x7f {
                _ if is_own => own.push(last),
                0x7f => {
                    is_own = true;
                    own.push(last);
                }
                code if is_extension => {
                    self.modifiers.push(Modifier::Extension(code));
                    is_extension = false;
                }
                0x7c => is_extension = true,
                code => self.modifiers.push(Modifier::Combinable(code)),
            }
        }
        if !own.is_empty() {
            self.modifiers.push(Modifier::Manufacturer(own));
        }
        Ok(())
    }

    /// Makes the record of a header and its data.
    pub(super) fn record(self, offset: usize, header: &[u8], data: &[u8]) -> Record {
        let unknown = (Unit::One, Coding::Bytes, 0);
        let read = self.meaning.map_or(unknown, |known| (known.unit, known.coding, known.exponent));
        let effects = || self.modifiers.iter().map(Modifier::effect);
        let (unit, coding, exponent) =
            effects().fold(read, |(unit, coding, exponent), effect| effect.apply(unit, coding, exponent));
        let error = effects().find_map(|effect| match effect {
            Effect::Error(code) => Some(code),
            _ => None,
        });
        let is_profile = effects().any(|effect| effect == Effect::Profile);
        let coding = if is_profile { Coding::Bytes } else { coding };
        let value = match error {
            Some(code) => Value::Erroneous(code),
            None => value::read(self.data, data, coding, exponent),
        };
        Record {
            offset,
            function: self.function,
            storage: self.storage,
            tariff: self.tariff,
            subunit: self.subunit,
            quantity: self.meaning.map(|meaning| meaning.quantity),
            unit,
            plain_text: self.plain_text,
            modifiers: self.modifiers,
            value,
            header: header.to_vec(),
            data: data.to_vec(),
        }
    }
}
