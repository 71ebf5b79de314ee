//! Published vectors: RFC 6979 and Wycheproof.

use super::reference::{Reference, bytes, number};
use device::crypto::{p256, p384, secp160r1};
use openssl::bn::BigNum;
use openssl::nid::Nid;
use testkit::vectors;

/// RFC 6979 appendix A.2.5, with SHA-256, and C2SP/CCTV's message with the same key, whose first
/// nonce is n or above.
#[test]
fn rfc_6979() {
    let key = bytes(&hex("C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721"));
    let public_key = p256::public_key(&key).expect("in range");
    assert_eq!(
        public_key,
        bytes(&hex(concat!(
            "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6",
            "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299",
        )))
    );
    let cases = [
        (
            "wv[vnX",
            concat!(
                "EFD9073B652E76DA1B5A019C0E4A2E3FA529B035A6ABB91EF67F0ED7A1F21234",
                "3DB4706C9D9F4A4FE13BB5E08EF0FAB53A57DBAB2061C83A35FA411C68D2BA33",
            ),
        ),
        (
            "sample",
            concat!(
                "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716",
                "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
            ),
        ),
        (
            "test",
            concat!(
                "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367",
                "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083",
            ),
        ),
    ];
    for (message, expected) in cases {
        let signature = p256::sign(&key, message.as_bytes(), &[]).expect("in range");
        assert_eq!(signature, bytes(&hex(expected)));
        assert!(p256::verify(&public_key, message.as_bytes(), &signature));
    }
}

/// RFC 6979 appendix A.2.6, with SHA-384.
#[test]
fn rfc_6979_on_p384() {
    let key = bytes(&hex(concat!(
        "6B9D3DAD2E1B8C1C05B19875B6659F4DE23C3B667BF297BA9AA47740787137D8",
        "96D5724E4C70A825F872C9EA60D2EDF5",
    )));
    let public_key = p384::public_key(&key).expect("in range");
    assert_eq!(
        public_key,
        bytes(&hex(concat!(
            "EC3A4E415B4E19A4568618029F427FA5DA9A8BC4AE92E02E06AAE5286B300C64",
            "DEF8F0EA9055866064A254515480BC13",
            "8015D9B72D7D57244EA8EF9AC0C621896708A59367F9DFB9F54CA84B3F1C9DB1",
            "288B231C3AE0D4FE7344FD2533264720",
        )))
    );
    let cases = [
        (
            "sample",
            concat!(
                "94EDBB92A5ECB8AAD4736E56C691916B3F88140666CE9FA73D64C4EA95AD133C",
                "81A648152E44ACF96E36DD1E80FABE46",
                "99EF4AEB15F178CEA1FE40DB2603138F130E740A19624526203B6351D0A3A94F",
                "A329C145786E679E7B82C71A38628AC8",
            ),
        ),
        (
            "test",
            concat!(
                "8203B63D3C853E8D77227FB377BCF7B7B772E97892A80F36AB775D509D7A5FEB",
                "0542A7F0812998DA8F1DD3CA3CF023DB",
                "DDD0760448D42D8A43AF45AF836FCE4DE8BE06B485E9B61B827C2F13173923E0",
                "6A739F040649A667BF3B828246BAA5A5",
            ),
        ),
    ];
    for (message, expected) in cases {
        let signature = p384::sign(&key, message.as_bytes(), &[]).expect("in range");
        assert_eq!(signature, bytes(&hex(expected)));
        assert!(p384::verify(&public_key, message.as_bytes(), &signature));
    }
}

#[test]
fn wycheproof_ecdsa_p384() {
    for case in vectors::ecdsa_p384_sha384() {
        let key = p384::decode(&case.key).expect("a good key");
        let accepted = <&p384::Signature>::try_from(case.signature.as_slice())
            .is_ok_and(|signature| p384::verify(&key, &case.message, signature));
        assert_eq!(accepted, case.valid, "{case:?}");
    }
}

#[test]
fn wycheproof_ecdh_p384() {
    for case in vectors::ecdh_p384_points() {
        let number = number(&case.private_key);
        let key = (number.num_bits() <= 384).then(|| bytes(&number)).expect("a private key");
        let shared = p384::decode(&case.public_key).and_then(|public_key| p384::ecdh(&key, &public_key));
        match (&shared, &case.shared) {
            (None, None) => {}
            (None, Some(_)) => assert!(case.may_be_refused, "{case:?}"),
            (Some(shared), Some(expected)) => assert_eq!(shared.as_slice(), expected, "{case:?}"),
            (Some(_), None) => panic!("accepted: {case:?}"),
        }
    }
}

fn hex(digits: &str) -> BigNum {
    BigNum::from_hex_str(digits).expect("hexadecimal digits")
}

/// One number of a DER signature, 32 bytes, and what follows it; `None` where it is not in the one
/// form that DER allows (X.690 sections 8.3 and 10), is negative, or has more than 256 bits.
fn der_integer(der: &[u8]) -> Option<([u8; 32], &[u8])> {
    let (&[2, len], rest) = der.split_first_chunk()? else {
        return None;
    };
    let (value, rest) = rest.split_at_checked(usize::from(len))?;
    let magnitude = match value {
        [0, second, ..] if *second >= 0x80 => &value[1..],
        [0] => value,
        [first, ..] if (1..0x80).contains(first) => value,
        _ => return None,
    };
    let mut number = [0; 32];
    number[32_usize.checked_sub(magnitude.len())?..].copy_from_slice(magnitude);
    Some((number, rest))
}

/// r and s of a DER signature; `None` where it is none.
fn from_der(der: &[u8]) -> Option<p256::Signature> {
    let (&[0x30, len], rest) = der.split_first_chunk()? else {
        return None;
    };
    let (r, rest) = der_integer(rest.get(..usize::from(len)).filter(|inner| inner.len() == rest.len())?)?;
    let (s, rest) = der_integer(rest)?;
    rest.is_empty().then(|| [r, s].concat().try_into().expect("two numbers"))
}

#[test]
fn wycheproof_ecdsa() {
    use sha2::Digest;
    for case in vectors::ecdsa_p256_sha256() {
        let key = p256::decode(&case.key).expect("a good key");
        let accepted = <&p256::Signature>::try_from(case.signature.as_slice())
            .is_ok_and(|signature| p256::verify(&key, &case.message, signature));
        assert_eq!(accepted, case.valid, "{case:?}");
    }
    for case in vectors::ecdsa_p256_sha256_der() {
        let key = p256::decode(&case.key).expect("a good key");
        let accepted = from_der(&case.signature).is_some_and(|it| p256::verify(&key, &case.message, &it));
        assert_eq!(accepted, case.valid, "{case:?}");
    }
    for case in vectors::ecdsa_p256_sha512() {
        let key = p256::decode(&case.key).expect("a good key");
        let digest = sha2::Sha512::digest(&case.message);
        let digest = digest[..32].try_into().expect("32 bytes");
        let accepted = <&p256::Signature>::try_from(case.signature.as_slice())
            .is_ok_and(|signature| p256::verify_digest(&key, digest, signature));
        assert_eq!(accepted, case.valid, "{case:?}");
    }
}

/// With SHA-256, of which 161 bits count: one more than we take, but modulo the order nearly all
/// fit. Of r and s in 21 bytes the first must be 0 to be ours.
#[test]
fn wycheproof_ecdsa_secp160r1() {
    use sha2::Digest;
    let mut reference = Reference::new(Nid::SECP160R1);
    let mut checked = [0, 0];
    for case in vectors::ecdsa_secp160r1_sha256() {
        let key = secp160r1::decode(&case.key).expect("a good key");
        let leftmost = &number(&sha2::Sha256::digest(&case.message)) >> (256 - 161);
        let e = reference.reduced(&leftmost);
        let joined = match case.signature.as_slice() {
            [0, rest @ ..] if rest.len() == 41 && rest[20] == 0 => [&rest[..20], &rest[21..]].concat(),
            _ => Vec::new(),
        };
        if let (true, Ok(signature)) = (e.num_bits() <= 160, joined.as_slice().try_into()) {
            assert_eq!(secp160r1::verify_digest(&key, &bytes(&e), signature), case.valid, "{case:?}");
            checked[usize::from(case.valid)] += 1;
        } else {
            println!("not in our form: {}", case.comment);
        }
    }
    assert!(checked[0] >= 10 && checked[1] >= 130, "{checked:?}");
}

/// The last 32 of the bytes, zeros before them; `None` where others are not 0.
fn private(bytes: &[u8]) -> Option<p256::Private> {
    let number = number(bytes);
    (number.num_bits() <= 256).then(|| self::bytes(&number))
}

/// Of the keys' set, those that name the curve and hold a point in full: 26 bytes as RFC 5480
/// section 2 has them, and the point. The others are tests of who reads such structures.
const PUBLIC_KEY_INFO: [u8; 26] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06, 0x08, 0x2a, 0x86,
    0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
];

#[test]
fn wycheproof_ecdh() {
    let mut cases = vectors::ecdh_p256_points();
    let all = cases.len();
    cases.extend(vectors::ecdh_p256_keys().into_iter().filter_map(|mut case| {
        case.public_key = case.public_key.strip_prefix(&PUBLIC_KEY_INFO)?.to_vec();
        Some(case)
    }));
    assert!(cases.len() > all + 330);
    for case in cases {
        let key = private(&case.private_key).expect("a private key");
        let shared = p256::decode(&case.public_key).and_then(|public_key| p256::ecdh(&key, &public_key));
        match (&shared, &case.shared) {
            (None, None) => {}
            (None, Some(_)) => assert!(case.may_be_refused, "{case:?}"),
            (Some(shared), Some(expected)) => assert_eq!(shared.as_slice(), expected, "{case:?}"),
            (Some(_), None) => panic!("accepted: {case:?}"),
        }
    }
}
