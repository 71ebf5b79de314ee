//! Telegrams of the meter that others read: opened by `wire`'s receiver, and by OpenSSL with
//! offsets of our own; and the register, which never goes back.

use device::meter::eeprom::{BYTES, Eeprom, Torn};
use device::meter::oms::{Reading, Register, Sealing, has_profile, telegram};
use device::meter::store::eeprom;
use openssl::cipher::Cipher as CcmCipher;
use openssl::cipher_ctx::CipherCtx;
use openssl::pkey::PKey;
use openssl::sign::Signer;
use openssl::symm::{Cipher, Crypter, Mode};
use wire::wireless_mbus::{
    Application, Datagram, FormatCache, Frame, FrameFormat, Integrity, LinkMode, MeterKey, OpenError,
    Quantity, Reassembly, ReceivedFrame, Value,
};

/// Link layer address of Annex N's meter, of another device type.
const ADDRESS: [u8; 8] = [0x93, 0x15, 0x78, 0x56, 0x34, 0x12, 0x01, 0x02];
const PROFILES: [u8; 3] = [5, 7, 10];

fn sealing(rng: &mut fastrand::Rng, profile: u8, format: u8) -> Sealing {
    let mut key = [0; 16];
    rng.fill(&mut key);
    Sealing { profile, format, address: ADDRESS, key }
}

fn reading(rng: &mut fastrand::Rng) -> Reading {
    Reading {
        counter: rng.u32(..),
        energy: rng.u32(..1 << 31),
        power: rng.i16(..),
        hours: rng.u16(..1 << 15),
        status: if rng.bool() { 8 } else { 0 },
    }
}

/// Opens a frame by `wire`'s receiver.
fn heard(frame: &[u8], sealing: &Sealing) -> Result<Reading, OpenError> {
    let format = if sealing.format == 0 { FrameFormat::A } else { FrameFormat::B };
    let parsed = Frame::parse(frame, format).expect("a frame");
    assert_eq!(parsed.integrity, Integrity::Checked);
    assert_eq!(Frame::detect(frame).as_ref(), Ok(&parsed));
    let datagram = Datagram::parse(parsed).expect("a datagram");
    let message = Reassembly::default().take(&datagram).expect("a message").expect("one piece");
    let opened = message.open(Some(&MeterKey::new(sealing.key)))?;
    assert_eq!(opened.meter.to_string(), "ELS 12345678 01 02");
    assert_eq!(opened.authenticated, sealing.profile != 5);
    let access_number = opened.header.access_number.expect("a short header");
    let counter = opened.counter.unwrap_or(access_number.into());
    assert_eq!(counter as u8, access_number);
    let decoded = FormatCache::default().decode(&opened).expect("an application");
    let Application::Records { records, .. } = decoded else { panic!("{decoded:?}") };
    assert!(records.unread.is_none());
    let value = |quantity, unit: &str| {
        let found = records.records.iter().find(|record| record.quantity == Some(quantity));
        let record = found.expect("a record of it");
        assert_eq!(record.unit.to_string(), unit);
        match &record.value {
            Value::Number(value) => (value.mantissa, value.exponent),
            value => panic!("{value:?}"),
        }
    };
    let (energy, exponent) = value(Quantity::Energy, "Wh");
    assert_eq!(exponent, -1);
    Ok(Reading {
        counter,
        energy: energy as u32,
        power: value(Quantity::Power, "W").0 as i16,
        hours: value(Quantity::OnTime, "h").0 as u16,
        status: opened.header.status.expect("a short header").0,
    })
}

/// The CRC of the link layer bit by bit, as a remainder: 16 zeros behind the message, by long
/// division.
fn crc(bytes: &[u8]) -> [u8; 2] {
    let bits = bytes.iter().chain(&[0, 0]).flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1));
    let rest = bits.fold(0_u32, |rest, bit| {
        let rest = rest << 1 | u32::from(bit);
        if rest & 0x1_0000 != 0 { rest ^ 0x1_3d65 } else { rest }
    });
    (!rest as u16).to_be_bytes()
}

fn cmac(key: &[u8], bytes: &[u8]) -> Vec<u8> {
    let key = PKey::cmac(&Cipher::aes_128_cbc(), key).expect("a key");
    let mut signer = Signer::new_without_digest(&key).expect("a signer");
    signer.sign_oneshot_to_vec(bytes).expect("a code")
}

fn decrypt_cbc(key: &[u8], vector: &[u8], block: &[u8]) -> Vec<u8> {
    let mut crypter = Crypter::new(Cipher::aes_128_cbc(), Mode::Decrypt, key, Some(vector)).expect("a key");
    crypter.pad(false);
    let mut out = vec![0; 32];
    let len = crypter.update(block, &mut out).expect("a block");
    out.truncate(len);
    out
}

/// Opens AES-CCM; OpenSSL wants the tag's length before the key.
fn open_ccm(key: &[u8], nonce: &[u8], associated: &[u8], sealed: &[u8], tag: &[u8]) -> Vec<u8> {
    let mut context = CipherCtx::new().expect("a context");
    context.decrypt_init(Some(CcmCipher::aes_128_ccm()), None, None).expect("a cipher");
    context.set_iv_length(nonce.len()).expect("a length");
    context.set_tag(tag).expect("a tag");
    context.decrypt_init(None, Some(key), Some(nonce)).expect("a key");
    context.set_data_len(sealed.len()).expect("a length");
    context.cipher_update(associated, None).expect("associated data");
    let mut out = vec![0; sealed.len()];
    context.cipher_update(sealed, Some(&mut out)).expect("authentic");
    out
}

/// The same by OpenSSL, at the offsets where the fields stand: OMS volume 2, sections 6, 7 and 9.
fn by_offsets(frame: &[u8], sealing: &Sealing) -> Reading {
    let (first, further) = if sealing.format == 0 { (10, 16) } else { (126, 126) };
    let (head, rest) = frame.split_at(frame.len().min(first + 2));
    let mut content = Vec::new();
    for block in std::iter::once(head).chain(rest.chunks(further + 2)) {
        let (bytes, sum) = block.split_at(block.len() - 2);
        assert_eq!(crc(bytes), sum);
        content.extend_from_slice(bytes);
    }
    assert_eq!(content[1..10], [&[0x44], &ADDRESS[..]].concat());
    let derived = |constant: u8, counter: &[u8]| {
        cmac(&sealing.key, &[&[constant], counter, &ADDRESS[2..6], &[7; 7]].concat())
    };
    let (header, counter, plain) = match sealing.profile {
        5 => {
            assert_eq!((content[10], &content[13..15]), (0x7a, &[0x10, 0x05][..]));
            let vector = [&ADDRESS[..], &[content[11]; 8]].concat();
            let plain = decrypt_cbc(&sealing.key, &vector, &content[15..]);
            assert_eq!(plain[..2], [0x2f, 0x2f]);
            (10, u32::from(content[11]).to_le_bytes().to_vec(), plain[2..].to_vec())
        }
        7 => {
            let counter = content[18..22].to_vec();
            assert_eq!(content[10..12], [0x8c, 0]);
            assert_eq!(content[13..18], [0x90, 15, 0, 0x2c, 0x25]);
            assert_eq!((content[30], &content[33..36]), (0x7a, &[0x10, 0x07, 0x10][..]));
            let code = cmac(&derived(1, &counter), &[&content[17..22], &content[30..]].concat());
            assert_eq!(code[..8], content[22..30]);
            let plain = decrypt_cbc(&derived(0, &counter), &[0; 16], &content[36..]);
            assert_eq!(plain[..2], [0x2f, 0x2f]);
            (30, counter, plain[2..].to_vec())
        }
        _ => {
            let counter = content[20..24].to_vec();
            assert_eq!((content[13], &content[16..20]), (0x7a, &[0xff, 0x2a, 0x10, 1][..]));
            let high_first: Vec<u8> = counter.iter().rev().copied().collect();
            let nonce = [&ADDRESS[..], &[0], &high_first].concat();
            let (sealed, tag) = content[24..].split_at(14);
            let key = derived(0, &counter);
            let plain = open_ccm(&key, &nonce, &content[13..20], sealed, tag);
            (13, counter, plain)
        }
    };
    assert_eq!(content[header + 1], counter[0]);
    let number = |at: usize, len: usize| {
        plain[at..at + len].iter().rev().fold(0_u32, |number, byte| number << 8 | u32::from(*byte))
    };
    assert_eq!((&plain[..2], &plain[6..8], &plain[10..12]), (&[4, 2][..], &[2, 0x2b][..], &[2, 0x22][..]));
    Reading {
        counter: u32::from_le_bytes(counter.try_into().expect("four bytes")),
        energy: number(2, 4),
        power: number(8, 2) as i16,
        hours: number(12, 2) as u16,
        status: content[header + 2],
    }
}

#[test]
fn telegrams_say_the_same_to_both_receivers() {
    let mut rng = fastrand::Rng::with_seed(49);
    for round in 0..600 {
        let sealing = sealing(&mut rng, PROFILES[round % 3], (round / 3 % 2) as u8);
        let mut reading = reading(&mut rng);
        let frame = telegram(&sealing, &reading);
        if sealing.profile == 5 {
            // Eight bits of it are sent.
            reading.counter &= 0xff;
        }
        assert_eq!(heard(&frame, &sealing), Ok(reading), "{sealing:?}");
        assert_eq!(by_offsets(&frame, &sealing), reading, "{sealing:?}");
    }
}

#[test]
fn telegrams_are_as_short_as_the_page_says() {
    let lengths = PROFILES.map(|profile| {
        [0, 1].map(|format| {
            let sealing = sealing(&mut fastrand::Rng::with_seed(1), profile, format);
            telegram(&sealing, &Reading::default()).len()
        })
    });
    assert_eq!(lengths, [[37, 33], [60, 54], [54, 48]]);
}

#[test]
fn line_of_a_receiver_is_read() {
    let sealing = sealing(&mut fastrand::Rng::with_seed(2), 7, 1);
    let digits: String =
        telegram(&sealing, &Reading::default()).iter().map(|byte| format!("{byte:02x}")).collect();
    let received = ReceivedFrame::from_line(&digits).expect("a frame");
    assert_eq!(received.frame.integrity, Integrity::Checked);
    assert_eq!(received.mode, None::<LinkMode>);
}

#[test]
fn wrong_key_and_altered_bytes_open_nothing() {
    let mut rng = fastrand::Rng::with_seed(3);
    for profile in [7, 10] {
        let sealing = sealing(&mut rng, profile, 1);
        let frame = telegram(&sealing, &reading(&mut rng));
        let wrong = Sealing { key: [9; 16], ..sealing };
        assert!(heard(&frame, &wrong).is_err());
        // Behind the extended link layer, whose access number is not authenticated.
        for at in 30..frame.len() - 2 {
            let mut altered = frame[..frame.len() - 2].to_vec();
            altered[at] ^= 1;
            altered.extend(crc(&altered));
            let parsed = Frame::parse(&altered, FrameFormat::B).expect("its CRC fits");
            let datagram = Datagram::parse(parsed).expect("a datagram");
            let message = Reassembly::default().take(&datagram).ok().flatten();
            let opened = message.map(|message| message.open(Some(&MeterKey::new(sealing.key))));
            assert!(!matches!(opened, Some(Ok(_))), "{profile}: byte {at}");
        }
    }
}

#[test]
fn energy_beyond_31_bits_begins_anew_and_is_never_negative() {
    let sealing = sealing(&mut fastrand::Rng::with_seed(4), 10, 0);
    let last = Reading { energy: u32::MAX, ..Reading::default() };
    assert_eq!(heard(&telegram(&sealing, &last), &sealing).map(|read| read.energy), Ok(0x7fff_ffff));
    let first = Reading { energy: 1 << 31, ..last };
    assert_eq!(heard(&telegram(&sealing, &first), &sealing).map(|read| read.energy), Ok(0));
}

#[test]
fn profiles_are_three() {
    let profiles: Vec<u8> = (0..=u8::MAX).filter(|profile| has_profile(*profile)).collect();
    assert_eq!(profiles, PROFILES);
}

const TORN: [Torn; 5] = [Torn::Old, Torn::New, Torn::Value(0x00), Torn::Value(0xff), Torn::Unstable];

/// A start, and telegrams until the power goes; `newest` is the one that was sent last.
fn live(newest: &mut Register, telegrams: u32, what: &str) {
    let mut kept = Register::start();
    if eeprom(|eeprom| eeprom.is_off()) {
        return;
    }
    assert!((kept.n, kept.energy) >= (newest.n, newest.energy), "{what}: {kept:?} below {newest:?}");
    for _ in 0..telegrams {
        let (n, energy) = (kept.n + 1, kept.energy + 7);
        let stands = kept.keep(n, energy);
        if eeprom(|eeprom| eeprom.is_off()) {
            return;
        }
        assert!(stands, "{what}");
        // It is on the air.
        *newest = kept;
    }
}

#[test]
fn register_never_goes_back_from_two_cuts_in_a_row() {
    const WRITES: u64 = 2 * 12;
    let mut cuts = 0;
    // The second time round, in a memory that is full of older records.
    for before in [0, 3, 63, 64, 130] {
        for first in 0..WRITES {
            for torn in TORN {
                for second in 0..=WRITES {
                    let what = format!("{before} before, cuts within {first} ({torn:?}) and {second}");
                    eeprom(|eeprom| *eeprom = Eeprom::with_image(&[0xff; BYTES], first * 100 + second));
                    let mut newest = Register::default();
                    eeprom(Eeprom::start);
                    live(&mut newest, before, &what);
                    for writes in [first, second] {
                        eeprom(Eeprom::start);
                        eeprom(|eeprom| eeprom.cut_after(writes, torn));
                        live(&mut newest, 2, &what);
                        cuts += u32::from(eeprom(|eeprom| eeprom.is_off()));
                    }
                    for _ in 0..3 {
                        eeprom(Eeprom::start);
                        live(&mut newest, 1, &what);
                    }
                }
            }
        }
    }
    assert!(cuts > 20_000, "{cuts}");
}
