//! Telegrams of wireless M-Bus sealed by OMS's profiles, by RustCrypto and the catalogue of CRCs:
//! OMS volume 2, issue 5.0.1, sections 6, 7 and 9.

use super::aes_modes::{cbc_case, cmac_case, oms_kdf_case};
use super::{Case, bytes_of};
use crate::operations::Key;
use aes::Aes128;
use ccm::aead::{Aead, KeyInit, Payload};
use crc::{CRC_16_EN_13757, Crc};
use rand::rngs::StdRng;

type Ccm = ccm::Ccm<Aes128, ccm::consts::U8, ccm::consts::U13>;

const CRC: Crc<u16> = Crc::<u16>::new(&CRC_16_EN_13757);

/// A case for an operation on telegrams; `None` for another.
pub(super) fn case(name: &str, rng: &mut StdRng) -> Option<Case> {
    let seal = match name {
        "oms-a-telegram" => profile_a,
        "oms-b-telegram" => profile_b,
        "oms-d-telegram" => profile_d,
        _ => return None,
    };
    let key = bytes_of(16, rng);
    let address = bytes_of(8, rng);
    // `ws_oms_reading`, as all its targets have it: counter, energy, power, hours, status.
    let reading = bytes_of(16, rng);
    let mut content = [&[0x44], &address[..]].concat();
    content.extend(seal(&key, &address, &reading));
    // Format B, of one block: L counts all that follows.
    content.insert(0, u8::try_from(content.len() + 2).expect("it is short"));
    let sum = CRC.checksum(&content).to_be_bytes();
    content.extend(sum);
    let result = i16::try_from(content.len()).ok();
    Some(Case {
        inputs: vec![("key", key), ("nonce", address), ("message", reading)],
        outputs: vec![("output", content)],
        result,
        ..Case::default()
    })
}

/// Energy, power and hours as records of EN 13757-3.
fn records(reading: &[u8]) -> Vec<u8> {
    let mut energy = reading[4..8].to_vec();
    energy[3] &= 0x7f;
    [&[0x04, 0x02][..], &energy, &[0x02, 0x2b], &reading[8..10], &[0x02, 0x22], &reading[10..12]].concat()
}

/// An output of a case.
fn output(case: Case) -> Vec<u8> {
    case.outputs.into_iter().next().map(|(_, bytes)| bytes).expect("it has one")
}

/// The key of a message: for encryption 0, for its MAC 1.
fn derived(key: &[u8], constant: u8, reading: &[u8], address: &[u8]) -> Vec<u8> {
    output(oms_kdf_case(key.to_vec(), [&[constant], &reading[..4], &address[2..6]].concat()))
}

fn encrypted(key: &[u8], vector: Vec<u8>, reading: &[u8]) -> Vec<u8> {
    let plain = [&[0x2f, 0x2f][..], &records(reading)].concat();
    output(cbc_case(true, Key::Raw, key, vector, plain))
}

/// A short header, up to the first byte of its configuration.
fn header(reading: &[u8]) -> Vec<u8> {
    vec![0x7a, reading[0], reading[12]]
}

/// Mode 5: AES-CBC with the meter's key.
fn profile_a(key: &[u8], address: &[u8], reading: &[u8]) -> Vec<u8> {
    let vector = [address, &[reading[0]; 8]].concat();
    [header(reading), vec![0x10, 5], encrypted(key, vector, reading)].concat()
}

/// Mode 7 behind an authentication layer: AES-CBC and AES-CMAC with derived keys.
fn profile_b(key: &[u8], address: &[u8], reading: &[u8]) -> Vec<u8> {
    let sealed = encrypted(&derived(key, 0, reading, address), vec![0; 16], reading);
    let message = [header(reading), vec![0x10, 7, 0x10], sealed].concat();
    let fields = [&[0x25], &reading[..4]].concat();
    let authenticated = [&fields[..], &message].concat();
    let code = output(cmac_case(derived(key, 1, reading, address), authenticated));
    let link = [0x8c, 0, reading[0], 0x90, 15, 0, 0x2c];
    [&link[..], &fields, &code[..8], &message].concat()
}

/// Mode 10: AES-CCM with a derived key.
fn profile_d(key: &[u8], address: &[u8], reading: &[u8]) -> Vec<u8> {
    let aad = [header(reading), vec![0xff, 0x2a, 0x10, 1]].concat();
    let counter = [reading[3], reading[2], reading[1], reading[0]];
    let nonce = [address, &[0], &counter].concat();
    let cipher = Ccm::new(derived(key, 0, reading, address).as_slice().into());
    let payload = Payload { msg: &records(reading), aad: &aad };
    let sealed = cipher.encrypt(nonce.as_slice().into(), payload).expect("it is short");
    [&[0x8c, 0, reading[0]], &aad[..], &reading[..4], &sealed].concat()
}
