//! Numbers of a call: drawn, and as the bytes of a part.

use super::arguments::{Content, Value};
use super::slots::{Scalar, Slot};
use rand::Rng;
use rand::rngs::StdRng;
use sha2::{Digest, Sha256};
use std::fmt;

/// A number of a variable, the same on all parts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Number {
    Integer(i128),
    Float(f64),
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Integer(number) => number.fmt(f),
            Number::Float(number) => write!(f, "{number:?}"),
        }
    }
}

impl Number {
    /// Returns true if both are the same, floating-point numbers within a share of the larger.
    pub(super) fn is(self, other: Number, tolerance: f64) -> bool {
        match (self, other) {
            (Number::Float(one), Number::Float(two)) => {
                let within = (one - two).abs() <= tolerance * one.abs().max(two.abs());
                one == two || (one.is_nan() && two.is_nan()) || within
            }
            _ => self == other,
        }
    }

    /// Adds it to a hash of outputs.
    pub(super) fn hash(self, digest: &mut Sha256) {
        match self {
            Number::Integer(number) => digest.update(number.to_le_bytes()),
            Number::Float(number) if number.is_nan() => digest.update(f64::NAN.to_bits().to_le_bytes()),
            Number::Float(number) => digest.update(number.to_bits().to_le_bytes()),
        }
    }
}

/// Draws the content of a slot.
pub(super) fn draw(slot: &Slot, rng: &mut StdRng) -> Vec<Number> {
    let Some(content) = &slot.content else { return Vec::new() };
    let value = |at: usize| match content {
        Content::Each(value) => *value,
        Content::List(list) => list.get(at).copied().unwrap_or(Value::Integer(0)),
    };
    (0..slot.count).map(|at| draw_one(value(at), slot.scalar, rng)).collect()
}

fn draw_one(value: Value, scalar: Scalar, rng: &mut StdRng) -> Number {
    let number = match (value, scalar) {
        (Value::Integer(number), _) => Number::Integer(number),
        (Value::Float(number), _) => Number::Float(number),
        (Value::Between(from, to), _) => Number::Integer(rng.random_range(from..=to)),
        (Value::Random, Scalar::Integer { signed, bits, .. }) => {
            let all = 1_i128 << bits;
            // A char is of one sign on one part and of the other on the next.
            let least = if signed && bits != 7 { -all / 2 } else { 0 };
            Number::Integer(rng.random_range(least..least + all))
        }
        // Multiples of 2^-23 from -1 up to 1, which a float holds as a double does.
        (Value::Random, Scalar::Float { .. }) => {
            Number::Float(f64::from(rng.random_range(-0x80_0000_i32..0x80_0000)) / f64::from(0x80_0000))
        }
    };
    match (number, scalar) {
        (Number::Integer(number), Scalar::Float { .. }) => Number::Float(number as f64),
        _ => number,
    }
}

/// The bytes of a number of `size` bytes; none where it does not fit.
pub(super) fn encoded(number: Number, size: usize, big_endian: bool) -> Option<Vec<u8>> {
    let mut bytes = match number {
        Number::Float(number) if size == 4 => (number as f32).to_le_bytes().to_vec(),
        Number::Float(number) if size == 8 => number.to_le_bytes().to_vec(),
        Number::Float(_) => return None,
        Number::Integer(number) => {
            let bits = 8 * size as u32;
            // Of one sign or of the other.
            let fits = size <= 8 && number >= -(1_i128 << (bits - 1)) && number < 1_i128 << bits;
            fits.then(|| number.to_le_bytes()[..size].to_vec())?
        }
    };
    if big_endian {
        bytes.reverse();
    }
    Some(bytes)
}

/// The number that bytes are.
pub(super) fn decoded(bytes: &[u8], scalar: Scalar, big_endian: bool) -> Number {
    let mut little = [0; 8];
    let size = bytes.len().min(8);
    little[..size].copy_from_slice(&bytes[..size]);
    if big_endian {
        little[..size].reverse();
    }
    let bits = u64::from_le_bytes(little);
    match scalar {
        Scalar::Float { .. } if size == 4 => Number::Float(f64::from(f32::from_bits(bits as u32))),
        Scalar::Float { .. } => Number::Float(f64::from_bits(bits)),
        Scalar::Integer { signed, bits: drawn, .. } if signed && drawn != 7 && size > 0 => {
            let unused = 64 - 8 * size as u32;
            Number::Integer(i128::from((bits << unused) as i64 >> unused))
        }
        Scalar::Integer { .. } => Number::Integer(i128::from(bits)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_same_in_the_bytes_of_every_part() {
        let signed = Scalar::Integer { bytes: 4, signed: true, bits: 16 };
        let unsigned = Scalar::Integer { bytes: 4, signed: false, bits: 32 };
        let char = Scalar::Integer { bytes: 1, signed: true, bits: 7 };
        let float = Scalar::Float { bytes: 8 };
        for (number, scalar, size) in [
            (Number::Integer(-2), signed, 2),
            (Number::Integer(-2), signed, 4),
            (Number::Integer(0xffff_fffe), unsigned, 4),
            (Number::Integer(200), char, 1),
            (Number::Float(-0.5), float, 4),
            (Number::Float(0.1), float, 8),
        ] {
            for big_endian in [false, true] {
                let bytes = encoded(number, size, big_endian).expect("it fits");
                assert_eq!(bytes.len(), size);
                assert_eq!(decoded(&bytes, scalar, big_endian), number);
            }
        }
        assert_eq!(encoded(Number::Integer(1), 2, true), Some(vec![0, 1]));
        assert_eq!(encoded(Number::Integer(70_000), 2, false), None);
        assert_eq!(encoded(Number::Integer(-40_000), 2, false), None);
    }

    #[test]
    fn numbers_are_equal_unless_a_tolerance_is_given() {
        let (one, near) = (Number::Float(1.0), Number::Float(1.0 + 1e-9));
        assert!(!one.is(near, 0.0) && one.is(near, 1e-8) && one.is(one, 0.0));
        assert!(Number::Float(f64::NAN).is(Number::Float(f64::NAN), 0.0));
        assert!(!Number::Integer(1).is(Number::Integer(2), 1.0));
    }
}
