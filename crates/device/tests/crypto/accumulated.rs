//! Thousands of keys, ciphertexts and signatures from one seed, of which one hash is published:
//! C2SP/CCTV. Inputs are read from SHAKE128 of nothing; outputs are hashed with SHAKE128. Both are
//! RustCrypto's.

use device::crypto::{ml_dsa::MlDsa, ml_kem::MlKem};
use sha3_of_rustcrypto::Shake128;
use sha3_of_rustcrypto::digest::{ExtendableOutput, Update, XofReader};

fn read<const N: usize>(inputs: &mut impl XofReader) -> [u8; N] {
    let mut bytes = [0; N];
    inputs.read(&mut bytes);
    bytes
}

fn digest(outputs: Shake128) -> String {
    let bytes: [u8; 32] = read(&mut outputs.finalize_xof());
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The vectors of pq-crystals. Each has a ciphertext that nobody made, too. The hashes are those of
/// C2SP/CCTV's pull request 13, for the final standard: CCTV's page has those of the draft.
fn ml_kem(set: MlKem, count: usize) -> String {
    let mut inputs = Shake128::default().finalize_xof();
    let mut outputs = Shake128::default();
    for _ in 0..count {
        let [d, z, m]: [[u8; 32]; 3] = std::array::from_fn(|_| read(&mut inputs));
        let mut random = vec![0; set.sizes()[2]];
        inputs.read(&mut random);
        let (public_key, private_key) = set.keygen(&d, &z);
        let (ciphertext, shared) = set.encapsulate(&public_key, &m).expect("an own key");
        assert_eq!(set.decapsulate(&private_key, &ciphertext), shared);
        let rejected = set.decapsulate(&private_key, &random);
        for output in [&public_key, &private_key, &ciphertext, &shared[..], &rejected] {
            outputs.update(output);
        }
    }
    digest(outputs)
}

/// Public keys, and deterministic signatures of the empty message.
fn ml_dsa(set: MlDsa, count: usize) -> String {
    let mut inputs = Shake128::default().finalize_xof();
    let mut outputs = Shake128::default();
    for _ in 0..count {
        let (public_key, private_key) = set.keygen(&read(&mut inputs));
        let signature = set.sign(&private_key, b"", b"", &[0; 32]).expect("an own key signs");
        assert!(set.verify(&public_key, b"", b"", &signature));
        outputs.update(&public_key);
        outputs.update(&signature);
    }
    digest(outputs)
}

#[test]
fn ten_thousand_exchanges_with_ml_kem_512() {
    let expected = "705dcffc87f4e67e35a09dcaa31772e86f3341bd3ccf1e78a5fef99ae6a35a13";
    assert_eq!(ml_kem(MlKem::MlKem512, 10_000), expected);
}

#[test]
fn ten_thousand_exchanges_with_ml_kem_768() {
    let expected = "f959d18d3d1180121433bf0e05f11e7908cf9d03edc150b2b07cb90bef5bc1c1";
    assert_eq!(ml_kem(MlKem::MlKem768, 10_000), expected);
}

#[test]
#[ignore = "minutes: docs/how-to/adding.md"]
fn a_million_exchanges_with_ml_kem_512() {
    let expected = "21dd330d4355f2ae2876b9fa2b9de62ecaf76aca1d598de8db2b467d36e36a6a";
    assert_eq!(ml_kem(MlKem::MlKem512, 1_000_000), expected);
}

#[test]
#[ignore = "minutes: docs/how-to/adding.md"]
fn a_million_exchanges_with_ml_kem_768() {
    let expected = "3b108396a277f2952ff3243a985c9709bcb95788c39b7b36a2c4e19d1a41e51e";
    assert_eq!(ml_kem(MlKem::MlKem768, 1_000_000), expected);
}

#[test]
fn a_hundred_signatures_with_ml_dsa_44() {
    let expected = "d51148e1f9f4fa1a723a6cf42e25f2a99eb5c1b378b3d2dbbd561b1203beeae4";
    assert_eq!(ml_dsa(MlDsa::MlDsa44, 100), expected);
}

#[test]
fn a_hundred_signatures_with_ml_dsa_65() {
    let expected = "8358a1843220194417cadbc2651295cd8fc65125b5a5c1a239a16dc8b57ca199";
    assert_eq!(ml_dsa(MlDsa::MlDsa65, 100), expected);
}

#[test]
#[ignore = "12 s of a processor: docs/how-to/adding.md"]
fn ten_thousand_signatures_with_ml_dsa_44() {
    let expected = "e7fd21f6a59bcba60d65adc44404bb29a7c00e5d8d3ec06a732c00a306a7d143";
    assert_eq!(ml_dsa(MlDsa::MlDsa44, 10_000), expected);
}

#[test]
#[ignore = "23 s of a processor: docs/how-to/adding.md"]
fn ten_thousand_signatures_with_ml_dsa_65() {
    let expected = "5ff5e196f0b830c3b10a9eb5358e7c98a3a20136cb677f3ae3b90175c3ace329";
    assert_eq!(ml_dsa(MlDsa::MlDsa65, 10_000), expected);
}
