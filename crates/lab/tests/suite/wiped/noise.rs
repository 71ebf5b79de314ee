//! Sources and values of ML-KEM's noise, on RustCrypto's SHA-3: FIPS 203 sections 4.1 to 4.3.

use sha3::digest::{ExtendableOutput, Update, XofReader};
use sha3::{Digest, Sha3_256, Sha3_512, Shake256};

pub const Q: i16 = 3329;

/// Of a parameter set, FIPS 203 table 2: k and eta_1.
pub struct Set {
    pub k: u8,
    eta: usize,
}

pub fn set(name: &str) -> Set {
    match name {
        "512" => Set { k: 2, eta: 3 },
        _ => Set { k: 3, eta: 2 },
    }
}

/// G.
pub fn seeds(pieces: &[&[u8]]) -> Vec<u8> {
    Sha3_512::digest(pieces.concat()).to_vec()
}

/// H.
pub fn hash(public_key: &[u8]) -> Vec<u8> {
    Sha3_256::digest(public_key).to_vec()
}

/// PRF of eta_1; of a smaller eta_2 it gives the beginning of that.
pub fn sampled_bytes(set: &Set, seed: &[u8], number: u8) -> Vec<u8> {
    let mut bytes = vec![0; 64 * set.eta];
    Shake256::default().chain(seed).chain([number]).finalize_xof().read(&mut bytes);
    bytes
}

/// SamplePolyCBD and NTT, algorithms 8 and 9: residues from 0 on.
pub fn transformed(set: &Set, sampled: &[u8]) -> Vec<i16> {
    let eta = set.eta;
    let bit = |place: usize| i32::from(sampled[place / 8] >> (place % 8) & 1);
    let sum = |from: usize| (from..from + eta).map(bit).sum::<i32>();
    let q = i32::from(Q);
    let mut f: Vec<i32> =
        (0..256).map(|i| (sum(2 * eta * i) - sum(2 * eta * i + eta)).rem_euclid(q)).collect();
    let mut factor = 1u8;
    for len in [128, 64, 32, 16, 8, 4, 2] {
        for start in (0..256).step_by(2 * len) {
            // 17 to the power of the seven bits of the number in reverse order.
            let power = factor.reverse_bits() >> 1;
            let zeta = (0..power).fold(1, |zeta, _| zeta * 17 % q);
            factor += 1;
            for j in start..start + len {
                let t = zeta * f[j + len] % q;
                f[j + len] = (f[j] - t).rem_euclid(q);
                f[j] = (f[j] + t) % q;
            }
        }
    }
    f.into_iter().map(|residue| residue as i16).collect()
}

/// ByteEncode_12, algorithm 5.
pub fn encoded(residues: &[i16]) -> Vec<u8> {
    let pair = |pair: &[i16]| {
        let bits = u32::from(pair[0] as u16) | u32::from(pair[1] as u16) << 12;
        bits.to_le_bytes()[..3].to_vec()
    };
    residues.chunks(2).flat_map(pair).collect()
}

/// The reference is right: a private key begins with s, transformed and encoded.
#[test]
fn a_private_key_is_what_the_noise_makes() {
    use testkit::vectors::MlKem;

    for (kind, name) in [(MlKem::MlKem512, "512"), (MlKem::MlKem768, "768")] {
        let set = set(name);
        for case in testkit::vectors::ml_kem(kind).keys {
            let sigma = &seeds(&[&case.d[..], &[set.k]])[32..];
            let s: Vec<u8> = (0..set.k)
                .flat_map(|number| encoded(&transformed(&set, &sampled_bytes(&set, sigma, number))))
                .collect();
            assert_eq!(s, case.private_key[..384 * usize::from(set.k)]);
        }
    }
}
