//! Random inputs of each operation, and its outputs by independent implementations.

pub mod aes_modes;
pub mod ascon;
mod chacha20_poly1305;
pub mod curve;
pub mod drbg;
pub mod ed25519;
pub mod field;
pub mod hybrid;
mod jacobian;
pub mod lms;
pub mod ml_dsa;
pub mod ml_kem;
mod oms;
mod one_time;
pub mod sealing;
pub mod slh_dsa;

pub mod symmetric;
mod weierstrass;

use crate::LabError;
use crate::operations::Operation;
use num_bigint::BigUint;
use rand::{Rng, RngCore, rngs::StdRng};

/// One run of an operation: what the host writes before it and must find after it, by the names
/// that `device/ops.toml` uses (`key`, `nonce`, `aad`, `message`, `stored`, `tag`, `output`), and
/// the call's result where it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Case {
    /// Buffers to be written.
    pub inputs: Vec<(&'static str, Vec<u8>)>,
    /// Buffers to be found.
    pub outputs: Vec<(&'static str, Vec<u8>)>,
    /// Buffers that must stay as they were, with how many bytes are looked at.
    pub untouched: Vec<(&'static str, usize)>,
    /// The call's result, where it returns one.
    pub result: Option<i16>,
}

/// A case with random inputs for an operation on `bytes` of message.
///
/// # Errors
/// [`LabError::Usage`] for an operation that has no reference here.
pub fn random_case(operation: &Operation, bytes: usize, rng: &mut StdRng) -> Result<Case, LabError> {
    let name = operation.name.as_str();
    let no_reference = || {
        LabError::Usage(format!("the operation '{name}' has no independent reference to check it against"))
    };
    if let Some((curve, rest)) = name.split_once("-field-") {
        return field::case(curve, rest, rng).ok_or_else(no_reference);
    }
    if let Some(case) = curve::case(name, bytes, rng)? {
        return Ok(case);
    }
    if let Some(case) = ed25519::case(name, bytes, rng)? {
        return Ok(case);
    }
    if let Some(case) = aes_modes::case(operation, bytes, rng)? {
        return Ok(case);
    }
    if let Some(case) = oms::case(name, rng) {
        return Ok(case);
    }
    if let Some(case) = sealing::case(name, bytes, rng)? {
        return Ok(case);
    }
    if let Some(case) = one_time::case(name, bytes, rng) {
        return Ok(case);
    }
    if let Some(case) = lms::case(name, bytes, rng) {
        return Ok(case);
    }
    if let Some(case) = slh_dsa::case(name, bytes, rng) {
        return Ok(case);
    }
    if let Some(case) = ascon::case(name, bytes, rng)? {
        return Ok(case);
    }
    if let Some(case) = chacha20_poly1305::case(name, bytes, rng)? {
        return Ok(case);
    }
    if let Some(case) = ml_dsa::case(name, bytes, rng)? {
        return Ok(case);
    }
    if let Some(case) = hybrid::case(name, rng)? {
        return Ok(case);
    }
    if let Some(case) = ml_kem::case(name, rng) {
        return Ok(case);
    }
    let case = match name {
        // Noise has no expected value.
        "random-module-generate" => {
            Ok(Some(Case { inputs: vec![("message", vec![0; bytes])], result: Some(0), ..Case::default() }))
        }
        "drbg-generate" => drbg::generate_case(&bytes_of(drbg::SEED_BYTES, rng), bytes),
        _ => symmetric::case(operation, bytes, rng),
    };
    case?.ok_or_else(no_reference)
}

/// Big-endian octets, `bytes` of them.
fn octets(number: &BigUint, bytes: usize) -> Vec<u8> {
    let digits = number.to_bytes_be();
    let mut octets = vec![0; bytes.saturating_sub(digits.len())];
    octets.extend(digits);
    octets
}

/// Random bytes.
fn bytes_of(bytes: usize, rng: &mut StdRng) -> Vec<u8> {
    let mut buffer = vec![0; bytes];
    rng.fill_bytes(&mut buffer);
    // Long runs of one bit reach carries and early endings that uniform bytes hardly ever do.
    match rng.random_range(0..16) {
        0 => buffer.fill(0),
        1 => buffer.fill(0xff),
        _ => {}
    }
    buffer
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operations::Key;
    use rand::SeedableRng;
    use std::collections::BTreeMap;

    #[test]
    fn an_operation_without_reference_is_refused() {
        let mut rng = StdRng::seed_from_u64(1);
        for name in ["aes129-encrypt", "aes192-gcm-seal", "rot13"] {
            let operation = Operation {
                name: name.into(),
                set: String::new(),
                measure: String::new(),
                bytes: 16,
                any_length: false,
                key: Key::Raw,
                fixed: Vec::new(),
                secret: BTreeMap::new(),
                public: false,
                rejects: false,
                by_value: false,
            };
            assert!(random_case(&operation, 16, &mut rng).is_err(), "{name}");
        }
    }
}
