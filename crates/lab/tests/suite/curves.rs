//! Curves on every emulated target: published vectors of ECDSA, Ed25519 and ECDH, right and wrong
//! ones, and the prime fields with operands at their edges. All vectors run on the host build
//! (`crates/device`); each target takes others of them, because a call takes millions of cycles.
//! The full tier has the kernels of all targets, and the C of two.

use crate::operations::each_operation;
use crate::samples::{seed, two_of};
use hex_literal::hex;
use lab::operations::{Operation, VARIANTS};
use lab::reference::Case;
use lab::reference::curve::Curve;
use lab::reference::field::Field;
use lab::target::Target;
use lab::workspace::Workspace;
use num_bigint::BigUint;
use testkit::vectors::{self, AgreementCase, SignatureCase};

/// Room for a message on the smallest target.
const ROOM: usize = 144;
/// Above what the slowest operation takes.
const CYCLES: u64 = 3_000_000_000;

/// RFC 6979 appendix A.2.5 with SHA-256: the private key; messages and their signatures. The first
/// message is C2SP/CCTV's: its first nonce is n or above, and drawn again, which one in 2^32 is.
const RFC_6979_KEY: [u8; 32] = hex!("c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721");
const RFC_6979: [(&str, [u8; 64]); 3] = [
    (
        "wv[vnX",
        hex!(
            "efd9073b652e76da1b5a019c0e4a2e3fa529b035a6abb91ef67f0ed7a1f21234"
            "3db4706c9d9f4a4fe13bb5e08ef0fab53a57dbab2061c83a35fa411c68d2ba33"
        ),
    ),
    (
        "sample",
        hex!(
            "efd48b2aacb6a8fd1140dd9cd45e81d69d2c877b56aaf991c34d0ea84eaf3716"
            "f7cb1c942d657c41d436c7a1b6e29f65f3e900dbb9aff4064dc4ab2f843acda8"
        ),
    ),
    (
        "test",
        hex!(
            "f1abb023518351cd71d881567b1ea663ed3efcf6c5132b354f28d3b0b7d38367"
            "019f4113742a2b14bd25926b49c649155f267e60d3814b4c0cc84250e46f0083"
        ),
    ),
];

/// RFC 6979 appendix A.2.6 with SHA-384: the private key; messages and their signatures.
const RFC_6979_P384_KEY: [u8; 48] = hex!(
    "6b9d3dad2e1b8c1c05b19875b6659f4de23c3b667bf297ba9aa47740787137d8"
    "96d5724e4c70a825f872c9ea60d2edf5"
);
const RFC_6979_P384: [(&str, [u8; 96]); 2] = [
    (
        "sample",
        hex!(
            "94edbb92a5ecb8aad4736e56c691916b3f88140666ce9fa73d64c4ea95ad133c"
            "81a648152e44acf96e36dd1e80fabe46"
            "99ef4aeb15f178cea1fe40db2603138f130e740a19624526203b6351d0a3a94f"
            "a329c145786e679e7b82c71a38628ac8"
        ),
    ),
    (
        "test",
        hex!(
            "8203b63d3c853e8d77227fb377bcf7b7b772e97892a80f36ab775d509d7a5feb"
            "0542a7f0812998da8f1dd3ca3cf023db"
            "ddd0760448d42d8a43af45af836fce4de8be06b485e9b61b827c2f13173923e0"
            "6a739f040649a667bf3b828246baa5a5"
        ),
    ),
];

/// GEC 2 (Test Vectors for SEC 1) version 0.3, sections 2.1.2 to 2.1.4 and 3.1: the signer's public
/// key and a signature of "abc".
const GEC2_KEY: [u8; 40] = hex!(
    "51b4496fecc406ed0e75a24a3c03206251419dc0"
    "c28dcb4b73a514b468d793894f381ccc1756aa6c"
);
const GEC2_SIGNATURE: [u8; 40] = hex!(
    "ce2873e5be449563391feb47ddcba2dc16379191"
    "3480ec1371a091a464b31ce47df0cb8aa2d98b54"
);
/// Sections 4.1.2 to 4.1.4: one side's private key, the other's public key, what they share.
const GEC2_PRIVATE: [u8; 21] = hex!("00aa374ffc3ce144e6b073307972cb6d57b2a4e982");
const GEC2_PEER: [u8; 40] = hex!(
    "49b41e0e9c0369c2328739d90f63d56707c6e5bc"
    "26e008b567015ed96d232a03111c3edc0e9c8f83"
);
const GEC2_SHARED: [u8; 20] = hex!("ca7c0f8c3ffa87a96e1b74ac8e6af594347bb40a");

/// NIST CAVP, ECC CDH Primitive, the first case of P-192 and of P-224: dIUT, QCAVS, ZIUT.
const CDH_P192: ([u8; 24], [u8; 48], [u8; 24]) = (
    hex!("f17d3fea367b74d340851ca4270dcb24c271f445bed9d527"),
    hex!(
        "42ea6dd9969dd2a61fea1aac7f8e98edcc896c6e55857cc0"
        "dfbe5d7c61fac88b11811bde328e8a0d12bf01a9d204b523"
    ),
    hex!("803d8ab2e5b6e6fca715737c3a82f7ce3c783124f6d51cd0"),
);
const CDH_P224: ([u8; 28], [u8; 56], [u8; 28]) = (
    hex!("8346a60fc6f293ca5a0d2af68ba71d1dd389e5e40837942df3e43cbd"),
    hex!(
        "af33cd0629bc7e996320a3f40368f74de8704fa37b8fab69abaae280"
        "882092ccbba7930f419a8a4f9bb16978bbc3838729992559a6f2e2d7"
    ),
    hex!("7d96f9a3bd3c05cf5cc37feb8b9d5209d5c2597464dec3e9983743e8"),
);

fn verification(key: &[u8], message: &[u8], signature: &[u8], valid: bool) -> Case {
    Case {
        inputs: vec![("key", [key, signature].concat()), ("message", message.to_vec())],
        result: Some(if valid { 0 } else { -1 }),
        ..Case::default()
    }
}

/// Agreement on a shared secret, or on zeros where the public key is refused.
fn agreement(private: &[u8], public: &[u8], shared: Option<&[u8]>) -> Case {
    let refused = vec![0; public.len() / 2];
    Case {
        inputs: vec![("key", [private, public].concat())],
        outputs: vec![("output", shared.map_or(refused, <[u8]>::to_vec))],
        result: Some(if shared.is_some() { 0 } else { -1 }),
        ..Case::default()
    }
}

/// A published agreement; and refused ones, with a point beside the curve and with private keys of
/// 0 and of the order. A private key of the order less 1 gives the peer's own x.
fn agreements(curve: Curve, private: &[u8], peer: &[u8], shared: &[u8]) -> Vec<Case> {
    let mut beside = peer.to_vec();
    beside[peer.len() - 1] ^= 1;
    let number = |number: BigUint| {
        let digits = number.to_bytes_be();
        [vec![0; private.len() - digits.len()], digits].concat()
    };
    vec![
        agreement(private, peer, Some(shared)),
        agreement(private, &beside, None),
        agreement(&vec![0; private.len()], peer, None),
        agreement(&number(curve.order()), peer, None),
        agreement(&number(curve.order() - 1u8), peer, Some(&peer[..peer.len() / 2])),
    ]
}

/// Some of Wycheproof's points on P-256 or P-384, `all`, right and wrong ones.
fn wycheproof_agreements(all: &[AgreementCase], coordinate: usize, turn: usize, few: usize) -> Vec<Case> {
    let of = |valid: bool| {
        let cases: Vec<Case> = all
            .iter()
            .filter(|case| case.shared.is_some() == valid && !case.may_be_refused)
            .filter(|case| case.public_key.len() == 2 * coordinate + 1 && case.public_key[0] == 4)
            .map(|case| {
                let digits = &case.private_key[case.private_key.len().saturating_sub(coordinate)..];
                let private = [&vec![0; coordinate - digits.len()], digits].concat();
                agreement(&private, &case.public_key[1..], case.shared.as_deref())
            })
            .collect();
        let count = cases.len();
        assert!(count > 1, "Wycheproof has such cases");
        (0..few).map(move |index| cases[(7 * turn + 23 * index) % count].clone())
    };
    of(true).chain(of(false)).collect()
}

/// Some signatures of Ed25519.
fn ed25519_signatures(turn: usize, few: usize) -> Vec<Case> {
    let all = vectors::ed25519_signatures().into_iter().filter(|case| case.message.len() <= ROOM);
    let cases: Vec<Case> = all
        .map(|case| Case {
            inputs: vec![("key", [case.seed, case.public_key].concat()), ("message", case.message)],
            outputs: vec![("output", case.signature.to_vec())],
            ..Case::default()
        })
        .collect();
    let count = cases.len();
    cases.into_iter().cycle().skip(turn % count).take(few).collect()
}

/// Some of Wycheproof's signatures of Ed25519, right and wrong ones.
fn ed25519_verifications(turn: usize, few: usize) -> Vec<Case> {
    let of = |valid: bool| {
        let cases: Vec<Case> = vectors::ed25519()
            .into_iter()
            .filter(|case| case.valid == valid)
            .filter(|case| case.signature.len() == 64 && case.message.len() <= ROOM)
            .map(|case| verification(&case.key, &case.message, &case.signature, valid))
            .collect();
        let count = cases.len();
        assert!(count > 1, "Wycheproof has such cases");
        (0..few).map(move |index| cases[(7 * turn + 23 * index) % count].clone())
    };
    of(true).chain(of(false)).collect()
}

/// Signatures to make.
fn signatures<const N: usize>(key: &[u8], all: &[(&str, [u8; N])], few: usize) -> Vec<Case> {
    let cases = all.iter().take(few).map(|(message, signature)| Case {
        inputs: vec![("key", key.to_vec()), ("message", message.as_bytes().to_vec())],
        outputs: vec![("output", signature.to_vec())],
        result: Some(0),
        ..Case::default()
    });
    cases.collect()
}

/// Some of Wycheproof's signatures of ECDSA, right and wrong ones.
fn verifications(all: &[SignatureCase], turn: usize, few: usize) -> Vec<Case> {
    let of = |valid| {
        let fits =
            |case: &&SignatureCase| case.signature.len() == case.key.len() - 1 && case.message.len() <= ROOM;
        let cases: Vec<Case> = all
            .iter()
            .filter(|case| case.valid == valid)
            .filter(fits)
            .map(|case| verification(&case.key[1..], &case.message, &case.signature, valid))
            .collect();
        cases.into_iter().skip(7 * turn).step_by(23).take(few)
    };
    of(true).chain(of(false)).collect()
}

/// The cases of an operation; `turn` says which of Wycheproof's, and `many` whether more than one
/// right and one wrong.
fn cases(operation: &str, turn: usize, many: bool) -> Vec<Case> {
    let few = if many { 4 } else { 1 };
    match operation {
        "ecdsa-p256-sign" => signatures(&RFC_6979_KEY, &RFC_6979, few),
        "ecdsa-p384-sign" => signatures(&RFC_6979_P384_KEY, &RFC_6979_P384, few),
        "ecdsa-p256-verify" => verifications(&vectors::ecdsa_p256_sha256(), turn, few),
        "ecdsa-p384-verify" => verifications(&vectors::ecdsa_p384_sha384(), turn, few),
        "p256-ecdh" => wycheproof_agreements(&vectors::ecdh_p256_points(), 32, turn, few),
        "p384-ecdh" => wycheproof_agreements(&vectors::ecdh_p384_points(), 48, turn, few),
        "x25519-ecdh" => {
            // Only one, because it is C.
            let cases = vectors::x25519().into_iter().skip(7 * turn).take(1);
            cases
                .map(|case| {
                    let shared = case.shared.expect("X25519 takes every key");
                    Case {
                        inputs: vec![("key", [case.private_key, case.public_key].concat())],
                        result: Some(if shared == [0; 32] { -1 } else { 0 }),
                        outputs: vec![("output", shared)],
                        ..Case::default()
                    }
                })
                .collect()
        }
        "ed25519-sign" => ed25519_signatures(turn, few.min(2)),
        "ed25519-verify" => ed25519_verifications(turn, few.min(2)),
        "ecdsa-secp160r1-verify" => {
            let mut wrong = GEC2_SIGNATURE;
            wrong[8 + turn] ^= 4;
            let none = [GEC2_SIGNATURE[..20].to_vec(), vec![0; 20]].concat();
            vec![
                verification(&GEC2_KEY, b"abc", &GEC2_SIGNATURE, true),
                verification(&GEC2_KEY, b"abc", &wrong, false),
                verification(&GEC2_KEY, b"abc", &none, false),
            ]
        }
        "secp160r1-ecdh" => agreements(Curve::Secp160r1, &GEC2_PRIVATE, &GEC2_PEER, &GEC2_SHARED),
        "p192-ecdh" => agreements(Curve::P192, &CDH_P192.0, &CDH_P192.1, &CDH_P192.2),
        "p224-ecdh" => agreements(Curve::P224, &CDH_P224.0, &CDH_P224.1, &CDH_P224.2),
        _ => Vec::new(),
    }
}

/// Operands at which carries, borrows and reductions go as far as they can, or just not.
fn edges(field: &Field) -> Vec<BigUint> {
    let one = BigUint::from(1u8);
    let power = |exponent: usize| &one << exponent;
    let bits = 8 * field.bytes;
    let mut edges = vec![
        BigUint::ZERO,
        one.clone(),
        BigUint::from(2u8),
        &field.p - 1u8,
        &field.p - 2u8,
        power(bits) % &field.p,
        power(bits) - &field.p - 1u8,
        (&field.p - 1u8) / 2u8,
        (&field.p + 1u8) / 2u8,
        power(bits - 1),
        power(bits - 1) - 1u8,
        &field.limit - 1u8,
        &field.limit - 2u8,
    ];
    if field.limit != field.p {
        // Around the multiples of p, and where a sum or a product has a carry behind its first
        // reduction.
        edges.extend([
            &field.p + 1u8,
            &field.p + 18u8,
            &field.p * 2u8 - 1u8,
            &field.p * 2u8,
            &field.p * 2u8 + 1u8,
        ]);
    }
    for exponent in [8, 16, 31, 32, 64, 96, 128] {
        edges.extend([power(exponent), power(exponent) - 1u8, &field.p - power(exponent)]);
    }
    edges
}

fn field_cases(operation: &str) -> Vec<Case> {
    let Some((field, what)) = operation.split_once("-field-") else { return Vec::new() };
    let field = Field::named(field).expect("a field");
    let edges = edges(&field);
    let pairs = edges.iter().enumerate().flat_map(|(index, a)| {
        // Of a square the second does not count.
        let one = what == "square" || what == "multiply-121665";
        let others = if one { &edges[index..=index] } else { &edges[..] };
        others.iter().map(move |b| (a, b))
    });
    pairs.map(|(a, b)| field.case(what, a, b).expect("an operation")).collect()
}

fn check(target: &Target, variant: &str, turn: usize, of: &dyn Fn(&Operation) -> Vec<Case>) {
    let wanted = |operation: &Operation| !of(operation).is_empty();
    each_operation(target, variant, CYCLES, &wanted, &mut |operation, bench| {
        for (index, case) in of(operation).iter().enumerate() {
            let is_right = bench.run_case(case).expect("the operation returns");
            let what = format!("{} {} {variant}, turn {turn}, case {index}", target.name(), operation.name);
            assert!(is_right, "{what}");
        }
    });
}

/// Checks a target in these variants.
fn check_target(name: &str, turn: usize, variants: &[&str]) {
    let workspace = Workspace::find().expect("the tests run inside the project");
    let target = workspace.target(name).expect("a target");
    for &variant in variants {
        check(&target, variant, turn, &|operation| field_cases(&operation.name));
        // The curves above the fields are the same C in small as in portable.
        if variant != "small" {
            check(&target, variant, turn, &|operation| cases(&operation.name, turn, variant == "fast"));
        }
    }
}

/// The variants in C: the same sources on every target, by other compilers.
fn c_variants() -> Vec<&'static str> {
    VARIANTS.into_iter().filter(|variant| *variant != "fast").collect()
}

/// The kernels of a target, and the C where the sample has it: it takes five times as long.
fn check_sample(name: &str, turn: usize) {
    check_target(name, turn, &["fast"]);
    if two_of(TARGETS, seed()).contains(&&name) {
        check_target(name, turn, &c_variants());
    }
}

#[test]
#[ignore = "minutes: the C variants of the other targets"]
fn c_variants_of_all_targets() {
    TARGETS.iter().enumerate().for_each(|(turn, name)| check_target(name, turn, &c_variants()));
}

#[test]
fn the_vectors_are_there() {
    for operation in [
        "ecdsa-p256-sign",
        "ecdsa-p256-verify",
        "p256-ecdh",
        "ecdsa-p384-sign",
        "ecdsa-p384-verify",
        "p384-ecdh",
        "ecdsa-secp160r1-verify",
        "secp160r1-ecdh",
        "p192-ecdh",
        "p224-ecdh",
        "ed25519-sign",
        "ed25519-verify",
    ] {
        for turn in 0..TARGETS.len() {
            let cases = cases(operation, turn, true);
            assert!(cases.len() >= 2, "{operation}");
            let refused = |case: &Case| case.result == Some(-1);
            assert!(operation.ends_with("sign") || cases.iter().any(refused), "{operation}");
            assert!(!cases.iter().all(refused), "{operation}");
        }
    }
    assert!(field_cases("p256-field-multiply").len() > 900);
    assert!(field_cases("x25519-field-multiply").len() > 1_300);
    assert!(field_cases("secp160r1-field-square").len() > 30);
    assert!(field_cases("p192-field-multiply").len() > 900);
    assert!(field_cases("p224-field-multiply").len() > 900);
    assert!(field_cases("p384-field-multiply").len() > 900);
}

macro_rules! targets {
    ($($name:ident $turn:literal)*) => {
        /// By their turns.
        const TARGETS: &[&str] = &[$(stringify!($name)),*];

        $(
            #[test]
            fn $name() {
                assert_eq!(TARGETS[$turn], stringify!($name));
                check_sample(stringify!($name), $turn);
            }
        )*
    };
}

targets! {
    atmega328p 0 atmega128l 1 msp430f5438a 2 stm32f051 3 stm32f100 4 stm32f407 5 stm32f767 6 i8051 7 mc68hc08 8 ch32v003 9
}
