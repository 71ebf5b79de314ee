//! Messages of each security mode: their keys, and their authenticity.

use super::fixture::{
    KEY, datagram, fragmentation, message_of, open, profile_a, profile_b, profile_d, telegram, transport_b,
};
use wire::wireless_mbus::{
    Datagram, Frame, FrameFormat, MeterKey, OpenError, Reassembly, ReassemblyError, SecurityMode,
    TransportError,
};

const PLAINTEXT: [u8; 16] =
    [0x2f, 0x2f, 0x0c, 0x13, 0x78, 0x56, 0x34, 0x12, 0x02, 0xfd, 0x17, 0, 0, 0x2f, 0x2f, 0x2f];

#[test]
fn profile_a_and_clear_messages_are_not_authenticated() {
    let encrypted = open(&profile_a(0x0510, &PLAINTEXT)).expect("its key");
    assert_eq!((encrypted.authenticated, &*encrypted.payload), (false, &PLAINTEXT[2..]));
    let clear = open(&[&[0x7a, 1, 0, 0, 0], &PLAINTEXT[2..]].concat()).expect("clear");
    assert_eq!((clear.authenticated, &*clear.payload), (false, &PLAINTEXT[2..]));
}

#[test]
fn wrong_key_of_profile_a_is_told_from_corruption() {
    let body = profile_a(0x0510, &PLAINTEXT);
    let wrong = MeterKey::new([9; 16]);
    let checked = message_of(&datagram(&body)).open(Some(&wrong));
    assert!(matches!(checked, Err(OpenError::WrongKey(_))));
    let frame = Frame::parse(&super::fixture::frame(&body), FrameFormat::WithoutCrc).expect("a frame");
    let unchecked = message_of(&Datagram::parse(frame).expect("a datagram")).open(Some(&wrong));
    assert!(matches!(unchecked, Err(OpenError::WrongKeyOrCorrupted(_))));
}

#[test]
fn encrypted_message_without_a_key_is_not_opened() {
    for body in [profile_a(0x0510, &PLAINTEXT), profile_b(5, &PLAINTEXT), profile_d(5, 0xff, 1, &PLAINTEXT)] {
        assert!(matches!(message_of(&datagram(&body)).open(None), Err(OpenError::NoKey(_))));
    }
}

#[test]
fn count_of_encrypted_blocks_has_to_be_the_messages() {
    assert!(matches!(open(&profile_a(0x0500, &PLAINTEXT)), Err(OpenError::NothingEncrypted(_))));
    let more = open(&profile_a(0x0520, &PLAINTEXT));
    assert!(matches!(more, Err(OpenError::EncryptedLength { expected: 32, found: 16, .. })));
    let mut long = vec![0x2f; 15 * 16];
    assert!(open(&profile_a(0x05f0, &long)).is_ok());
    long.truncate(14 * 16);
    let fifteen = [profile_a(0x05f0, &[&*long, &[0x2f; 16]].concat()), vec![0x2f]].concat();
    let message = frame_of_any_length(&fifteen);
    assert!(matches!(message.open(Some(&MeterKey::new(KEY))), Err(OpenError::EncryptedLength { .. })));
}

/// A message in two fragments without a MAC, which may be longer than a frame.
fn frame_of_any_length(transport: &[u8]) -> wire::wireless_mbus::Message {
    let mut reassembly = Reassembly::default();
    let (first, second) = transport.split_at(transport.len() / 2);
    let first = [&[0x90, 3, 1, 0x60, 0], first].concat();
    assert_eq!(reassembly.take(&datagram(&first)), Ok(None));
    let second = [&[0x90, 2, 2, 0], second].concat();
    reassembly.take(&datagram(&second)).expect("in order").expect("whole")
}

#[test]
fn bytes_behind_the_encrypted_ones_stay_clear() {
    let body = [profile_a(0x0510, &PLAINTEXT), vec![0x04, 0x13, 1, 0, 0, 0]].concat();
    assert!(open(&body).expect("its key").payload.ends_with(&[0x2f, 0x04, 0x13, 1, 0, 0, 0]));
}

#[test]
fn altered_message_of_profile_b_is_not_opened() {
    let sound = profile_b(5, &PLAINTEXT);
    let opened = open(&sound).expect("its key");
    assert_eq!((opened.authenticated, opened.counter), (true, Some(5)));
    for bit in 0..sound.len() * 8 {
        let mut altered = sound.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        let taken = Reassembly::default().take(&datagram_or_skip(&altered));
        let Ok(Some(message)) = taken else { continue };
        // The MAC leaves out fragmentation control, whose number and reserved bits change nothing.
        let Ok(forged) = message.open(Some(&MeterKey::new(KEY))) else { continue };
        assert!(!forged.authenticated || matches!(bit / 8, 2 | 3) && forged == opened, "bit {bit}");
    }
}

/// A datagram of a body, or an empty one if its extended link layer cannot be read.
fn datagram_or_skip(body: &[u8]) -> Datagram {
    let frame = Frame::parse(&super::fixture::frame(body), FrameFormat::WithoutCrc).expect("a frame");
    Datagram::parse(frame).unwrap_or_else(|_| datagram(&[0x90, 2, 9, 0]))
}

#[test]
fn altered_message_of_profile_b_is_told_from_a_wrong_key() {
    let mut altered = profile_b(5, &[PLAINTEXT, [0x2f; 16]].concat());
    *altered.last_mut().expect("a byte") ^= 1;
    assert!(matches!(open(&altered), Err(OpenError::Altered(_))));
    let wrong = message_of(&datagram(&profile_b(5, &PLAINTEXT))).open(Some(&MeterKey::new([9; 16])));
    assert!(matches!(wrong, Err(OpenError::WrongKey(_))));
}

#[test]
fn profile_b_needs_a_cmac_of_at_least_8_bytes() {
    let transport = transport_b(5, &PLAINTEXT);
    for (code, length) in [(5, 8), (6, 12), (7, 16)] {
        let body = [fragmentation(0x20 | code, 5, length, &transport), transport.clone()].concat();
        assert!(open(&body).expect("its key").authenticated);
    }
    for (code, length) in [(0, 0), (3, 2), (4, 4), (8, 12)] {
        let body = [fragmentation(0x20 | code, 5, length, &transport), transport.clone()].concat();
        assert!(matches!(open(&body), Err(OpenError::Option { .. })), "type {code}");
    }
    assert!(matches!(open(&transport), Err(OpenError::Option { what: "no MAC", .. })));
    let shorter = [fragmentation(0x25, 5, 4, &transport), transport].concat();
    let taken = Reassembly::default().take(&datagram(&shorter));
    assert!(matches!(taken, Err(ReassemblyError::Fields(_))));
}

#[test]
fn mac_beside_a_mode_without_one_is_refused() {
    for transport in [profile_a(0x0510, &PLAINTEXT), [&[0x7a, 1, 0, 0, 0], &PLAINTEXT[..]].concat()] {
        let body = [fragmentation(0x25, 5, 8, &transport), transport].concat();
        assert!(matches!(open(&body), Err(OpenError::Option { .. })));
    }
}

#[test]
fn key_of_profiles_b_and_d_has_to_be_derived() {
    let mut transport = transport_b(5, &PLAINTEXT);
    transport[5] = 0x00;
    let body = [fragmentation(0x25, 5, 8, &transport), transport].concat();
    assert!(matches!(open(&body), Err(OpenError::Option { what: "no derived key", .. })));
    let mut body = profile_d(5, 0xff, 1, &PLAINTEXT);
    body[5] = 0x00;
    assert!(matches!(open(&body), Err(OpenError::Option { what: "no derived key", .. })));
}

#[test]
fn altered_message_of_profile_d_is_not_opened() {
    let sound = profile_d(5, 0xff, 1, &PLAINTEXT);
    let opened = open(&sound).expect("its key");
    assert_eq!((opened.authenticated, &*opened.payload), (true, &PLAINTEXT[..]));
    for bit in 8..sound.len() * 8 {
        let mut altered = sound.clone();
        altered[bit / 8] ^= 1 << (bit % 8);
        let Ok(Some(message)) = Reassembly::default().take(&datagram(&altered)) else { continue };
        let opened = message.open(Some(&MeterKey::new(KEY)));
        assert!(opened.is_err() || !opened.expect("opened").authenticated, "bit {bit}");
    }
}

#[test]
fn options_of_profile_d_that_oms_lacks_are_refused() {
    assert!(matches!(open(&profile_d(5, 0xff, 0, &PLAINTEXT)), Err(OpenError::Option { .. })));
    assert!(matches!(open(&profile_d(5, 16, 1, &PLAINTEXT)), Err(OpenError::Option { .. })));
    let mut without_counter = profile_d(5, 0xff, 1, &PLAINTEXT);
    without_counter[4] = 0x0a;
    assert!(matches!(open(&without_counter), Err(OpenError::Option { what: "no message counter", .. })));
}

#[test]
fn key_version_beside_a_counter_is_refused() {
    let mut body = profile_d(5, 0xff, 1, &PLAINTEXT);
    body[5] |= 0x40;
    let taken = Reassembly::default().take(&datagram(&body));
    let refused = ReassemblyError::Transport(TransportError::KeyVersionAndCounter(datagram(&body).address));
    assert_eq!(taken, Err(refused));
}

#[test]
fn other_modes_are_refused_by_name() {
    for (code, name) in
        [(1, "mode 1"), (3, "DES"), (4, "mode 4"), (8, "mode 8"), (9, "GCM"), (13, "TLS"), (30, "30")]
    {
        let error = open(&[0x7a, 1, 0, 0x10, code, 0, 0, 0]).expect_err("refused");
        assert!(matches!(error, OpenError::Refused { .. }) && error.to_string().contains(name), "{error}");
    }
    assert_eq!(SecurityMode::Tls.profile(), Some('C'));
}

#[test]
fn long_header_names_the_meter_beside_its_radio() {
    let message = telegram("annex-n-profile-b-adapter").open();
    assert_eq!(message.meter.to_string(), "ELS 12345678 33 03");
    assert!(message.header.address.is_some());
}

#[test]
fn unknown_ci_field_and_cut_header_are_refused() {
    for body in [&[0x01, 2, 3][..], &[0x7a, 1, 0, 0], &[0x72; 12], &[0x7a, 1, 0, 0x10, 0x07]] {
        let taken = Reassembly::default().take(&datagram(body));
        assert!(matches!(taken, Err(ReassemblyError::Transport(_))), "{body:02x?}");
    }
}

#[test]
fn status_byte_tells_its_bits() {
    let header = open(&[0x7a, 1, 0x1d, 0, 0, 0x2f]).expect("clear").header;
    let status = header.status.expect("a status");
    assert!(status.is_busy() && status.has_low_power() && status.has_permanent_error());
    assert!(status.has_temporary_error() && !status.is_abnormal() && !status.has_application_error());
}

#[test]
fn keys_are_not_printed() {
    assert_eq!(format!("{:?}", MeterKey::new(KEY)), "MeterKey(..)");
}
