//! Values of records: integers, BCD, real numbers, flags, texts. EN 13757-3, 6.3.3 and Annex A; not
//! compared.

use super::{Coding, Date, DateTime, Time};
use std::fmt;

/// A number without rounding: the integer times ten to the exponent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The integer.
    pub mantissa: i128,
    /// The power of ten.
    pub exponent: i8,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let places = usize::from(self.exponent.unsigned_abs());
        if self.exponent >= 0 {
            let zeros = if self.mantissa == 0 { 0 } else { places };
            return write!(f, "{}{}", self.mantissa, "0".repeat(zeros));
        }
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let digits = format!("{:0>width$}", self.mantissa.unsigned_abs(), width = places + 1);
        let (whole, fraction) = digits.split_at(digits.len() - places);
        write!(f, "{sign}{whole}.{fraction}")
    }
}

/// The value of a record.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// No data, as of a record that only asks.
    None,
    /// An exact number.
    Number(Decimal),
    /// A real number of 32 bits, times ten to the exponent.
    Real {
        /// The number as sent.
        value: f32,
        /// The power of ten.
        exponent: i8,
    },
    /// Bits, the lowest first.
    Flags(u64),
    /// A date.
    Date(Date),
    /// A date with a time.
    DateTime(DateTime),
    /// A time.
    Time(Time),
    /// A text.
    Text(String),
    /// Bytes that are a maker's own, a profile, a container, or of an unknown record.
    Bytes(Vec<u8>),
    /// A BCD number with digits above 9, which are what a display shows; highest first.
    InvalidBcd(String),
    /// The code of the value's type that says that it is invalid.
    NotAvailable,
    /// A value that its record calls an error.
    Erroneous(u8),
}

/// The form of the data behind a record's header, by its DIF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Data {
    None,
    Integer(usize),
    Real,
    Bcd(usize),
    Variable,
}

impl Data {
    /// The form by the lower half of a DIF; `None` of a special function. EN 13757-3, Table 4.
    pub(super) fn of_dif(dif: u8) -> Option<Self> {
        Some(match dif & 0x0f {
            0 | 8 => Self::None,
            length @ 1..=4 => Self::Integer(usize::from(length)),
            5 => Self::Real,
            6 => Self::Integer(6),
            7 => Self::Integer(8),
            length @ 9..=12 => Self::Bcd(usize::from(length - 8)),
            13 => Self::Variable,
            14 => Self::Bcd(6),
            _ => return None,
        })
    }

    /// Bytes of the data, with the length byte of a variable length; `None` if they are not all
    /// there or the length is reserved. EN 13757-3, Table 5.
    pub(super) fn length(self, bytes: &[u8]) -> Option<usize> {
        let length = match self {
            Self::None => 0,
            Self::Integer(length) | Self::Bcd(length) => length,
            Self::Real => 4,
            Self::Variable => 1 + variable_length(*bytes.first()?)?,
        };
        (length <= bytes.len()).then_some(length)
    }
}

/// Bytes behind the length byte of a variable length.
fn variable_length(code: u8) -> Option<usize> {
    Some(match code {
        0x00..=0xbf => usize::from(code),
        0xc0..=0xc9 | 0xd0..=0xd9 => usize::from(code & 0x0f),
        0xe0..=0xef => usize::from(code - 0xe0),
        0xf0..=0xf4 => 4 * usize::from(code - 0xec),
        0xf5 => 48,
        0xf6 => 64,
        _ => return None,
    })
}

/// Reads a record's data by their form and by what the record is.
pub(super) fn read(data: Data, bytes: &[u8], coding: Coding, exponent: i8) -> Value {
    match (data, coding) {
        (Data::None, _) => Value::None,
        (Data::Variable, Coding::Bytes) => Value::Bytes(bytes[1..].to_vec()),
        (_, Coding::Bytes) => Value::Bytes(bytes.to_vec()),
        (Data::Integer(_), Coding::Date) => read_date(bytes),
        (_, Coding::Date) => Value::Bytes(bytes.to_vec()),
        (Data::Integer(_), Coding::Flags) => Value::Flags(unsigned(bytes) as u64),
        (Data::Integer(length), Coding::Unsigned) => match unsigned(bytes) {
            value if value == (1 << (8 * length)) - 1 => Value::NotAvailable,
            mantissa => Value::Number(Decimal { mantissa, exponent }),
        },
        (Data::Integer(length), Coding::Signed) => match signed(bytes) {
            value if value == -1 << (8 * length - 1) => Value::NotAvailable,
            mantissa => Value::Number(Decimal { mantissa, exponent }),
        },
        (Data::Real, _) => {
            let value = f32::from_le_bytes(bytes.try_into().expect("four of them"));
            if value.is_finite() { Value::Real { value, exponent } } else { Value::NotAvailable }
        }
        (Data::Bcd(_), _) => read_bcd(bytes, exponent, false),
        (Data::Variable, _) => read_variable(bytes, coding, exponent),
    }
}

/// Reads a date or a time by its length; other lengths stay bytes.
fn read_date(bytes: &[u8]) -> Value {
    let read = match *bytes {
        [low, high] => Date::from_type_g(low, high, 0).map(Value::Date),
        [a, b, c] => Time::from_type_j([a, b, c]).map(Value::Time),
        [a, b, c, d] => DateTime::from_type_f([a, b, c, d]).map(Value::DateTime),
        [a, b, c, d, e, f] => DateTime::from_type_i([a, b, c, d, e, f]).map(Value::DateTime),
        _ => return Value::Bytes(bytes.to_vec()),
    };
    read.unwrap_or(Value::NotAvailable)
}

/// Reads data of a variable length. A text's last character is sent first.
fn read_variable(bytes: &[u8], coding: Coding, exponent: i8) -> Value {
    let Some((&code, bytes)) = bytes.split_first() else { return Value::None };
    match code {
        0x00..=0xbf => Value::Text(bytes.iter().rev().map(|&byte| char::from(byte)).collect()),
        0xc0..=0xc9 => read_bcd(bytes, exponent, false),
        0xd0..=0xd9 => read_bcd(bytes, exponent, true),
        // Longer numbers do not fit; their bytes stand for themselves.
        0xe1..=0xef if coding == Coding::Signed => {
            Value::Number(Decimal { mantissa: signed(bytes), exponent })
        }
        0xe1..=0xef => Value::Number(Decimal { mantissa: unsigned(bytes), exponent }),
        _ => Value::Bytes(bytes.to_vec()),
    }
}

/// Reads BCD, lowest digits first. The highest half byte may be Fh, a minus; any other digit above
/// 9 makes it no number.
fn read_bcd(bytes: &[u8], exponent: i8, is_negative: bool) -> Value {
    let digits = || bytes.iter().rev().flat_map(|byte| [byte >> 4, byte & 0x0f]);
    let has_minus = !is_negative && digits().next() == Some(0x0f);
    let mut mantissa: i128 = 0;
    for digit in digits().skip(usize::from(has_minus)) {
        if digit > 9 {
            return Value::InvalidBcd(digits().map(|digit| format!("{digit:X}")).collect());
        }
        mantissa = mantissa * 10 + i128::from(digit);
    }
    let mantissa = if has_minus || is_negative { -mantissa } else { mantissa };
    Value::Number(Decimal { mantissa, exponent })
}

/// Reads an unsigned integer of up to 15 bytes, lowest first.
fn unsigned(bytes: &[u8]) -> i128 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | i128::from(byte))
}

/// Reads a signed integer of 1 to 15 bytes, lowest first.
fn signed(bytes: &[u8]) -> i128 {
    let shift = 128 - 8 * bytes.len();
    unsigned(bytes) << shift >> shift
}
