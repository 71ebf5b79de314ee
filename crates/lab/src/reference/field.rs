//! The prime fields of the curves, by num-bigint.

use super::Case;
use num_bigint::BigUint;
use rand::{Rng, RngCore, rngs::StdRng};
use std::sync::OnceLock;

/// A prime field, and how the firmware has its elements in memory.
pub struct Field {
    /// The prime.
    pub p: BigUint,
    /// Exclusive bound of operands: the prime, or more where they may be any number of their
    /// residue class.
    pub limit: BigUint,
    /// Bytes of an element.
    pub bytes: usize,
    /// Elements stand as a R mod p, R = 2^(8 bytes).
    pub montgomery: bool,
    /// 1 / R mod p, once it is needed.
    r_inverse: OnceLock<BigUint>,
}

impl Field {
    /// Of `p256`, `p384` or `p224` (SP 800-186 section 3.2.1), `p192` (FIPS 186-4 section D.1.2.1),
    /// `secp160r1` (SEC 2 version 1 section 2.4.2) or `x25519` (RFC 7748 section 4.1).
    #[must_use]
    pub fn named(name: &str) -> Option<Field> {
        let power = |exponent: u32| BigUint::from(1u8) << exponent;
        let (p, limit, montgomery) = match name {
            "p256" => (power(256) - power(224) + power(192) + power(96) - 1u8, None, true),
            "p384" => (power(384) - power(128) - power(96) + power(32) - 1u8, None, true),
            "p192" => (power(192) - power(64) - 1u8, None, false),
            "p224" => (power(224) - power(96) + 1u8, None, true),
            "secp160r1" => (power(160) - power(31) - 1u8, None, false),
            "x25519" => (power(255) - 19u8, Some(power(256)), false),
            _ => return None,
        };
        let bytes = p.bits().div_ceil(8) as usize;
        let limit = limit.unwrap_or_else(|| p.clone());
        Some(Field { limit, p, bytes, montgomery, r_inverse: OnceLock::new() })
    }

    /// As it stands in memory: little-endian.
    #[must_use]
    pub fn in_memory(&self, element: &BigUint) -> Vec<u8> {
        let mut bytes = element.to_bytes_le();
        bytes.resize(self.bytes, 0);
        bytes
    }

    /// The form of the product of two elements, of their forms.
    #[must_use]
    pub fn product(&self, a: &BigUint, b: &BigUint) -> BigUint {
        let product = a * b % &self.p;
        if !self.montgomery {
            return product;
        }
        let r_inverse = self.r_inverse.get_or_init(|| {
            let r = BigUint::from(1u8) << (8 * self.bytes);
            // p is prime, so its elements have inverses: Fermat.
            r.modpow(&(&self.p - 2u8), &self.p)
        });
        product * r_inverse % &self.p
    }

    /// Any operand, as often as not one where carries, borrows and reductions go far.
    #[must_use]
    pub fn operand(&self, rng: &mut StdRng) -> BigUint {
        let one = BigUint::from(1u8);
        let power = BigUint::from(1u8) << rng.random_range(0..8 * self.bytes);
        let value = match rng.random_range(0..16) {
            0 => BigUint::ZERO,
            1 => one,
            2 => &self.limit - one,
            3 => &self.limit - rng.random_range(2..1000u32),
            4 => power,
            5 => power - one,
            6 => &self.limit - (power % &self.limit),
            // Words of all zeros and all ones, of each width that an implementation may have.
            7..=9 => {
                let word = [1, 2, 4][rng.random_range(0..3)];
                let mut bytes = Vec::new();
                while bytes.len() < self.bytes {
                    let fill = match rng.random_range(0..6) {
                        0..=1 => vec![0x00; word],
                        2..=3 => vec![0xff; word],
                        4 => (0..word).map(|_| rng.random()).collect(),
                        _ => (0..word).map(|index| if index == 0 { 1 } else { 0 }).collect(),
                    };
                    bytes.extend(fill);
                }
                BigUint::from_bytes_le(&bytes)
            }
            // As good as uniform: the eight bytes more make the bias 2^-64.
            _ => {
                let mut bytes = vec![0; self.bytes + 8];
                rng.fill_bytes(&mut bytes);
                BigUint::from_bytes_le(&bytes)
            }
        };
        value % &self.limit
    }

    /// A case of a field operation on two elements, given and expected in the firmware's form;
    /// `None` for one that there is not.
    #[must_use]
    pub fn case(&self, operation: &str, a: &BigUint, b: &BigUint) -> Option<Case> {
        let (result, both) = match operation {
            "multiply" => (self.product(a, b), true),
            "square" => (self.product(a, a), false),
            "add" => ((a + b) % &self.p, true),
            "subtract" => ((a + &self.p + &self.p + &self.p - b) % &self.p, true),
            "multiply-121665" => (a * 121_665u32 % &self.p, false),
            _ => return None,
        };
        let mut key = self.in_memory(a);
        if both {
            key.extend(self.in_memory(b));
        }
        Some(Case {
            inputs: vec![("key", key)],
            outputs: vec![("output", self.in_memory(&result))],
            ..Case::default()
        })
    }

    /// A case with random operands; `None` for an operation that there is not.
    #[must_use]
    pub fn random_case(&self, operation: &str, rng: &mut StdRng) -> Option<Case> {
        let a = self.operand(rng);
        // Equal and opposite operands meet by chance hardly ever.
        let b = match rng.random_range(0..16) {
            0 => a.clone(),
            1 => (&self.limit - &a) % &self.limit,
            _ => self.operand(rng),
        };
        self.case(operation, &a, &b)
    }
}

/// As [`Field::random_case`]; `None` also for a field that there is not.
pub(super) fn case(field: &str, operation: &str, rng: &mut StdRng) -> Option<Case> {
    Field::named(field)?.random_case(operation, rng)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 6090 has no field vectors; this is the definition of the Montgomery form: (aR)(bR)/R =
    /// (ab)R.
    #[test]
    fn products_of_forms_are_forms_of_products() {
        for name in ["p192", "p224", "p256", "p384", "secp160r1", "x25519"] {
            let field = Field::named(name).expect("it is known");
            let r = match field.montgomery {
                true => (BigUint::from(1u8) << (8 * field.bytes)) % &field.p,
                false => BigUint::from(1u8),
            };
            let (a, b) = (BigUint::from(123_456_789u32), &field.p - 987_654u32);
            let form = |x: &BigUint| x * &r % &field.p;
            assert_eq!(field.product(&form(&a), &form(&b)), form(&(&a * &b)));
        }
    }
}
