//! Frame formats, CRCs, C fields, and the extended link layer.

use super::fixture::{KEY, datagram, frame, message_of, telegram, with_crcs};
use ctr::cipher::{KeyIvInit, StreamCipher};
use wire::wireless_mbus::{
    AccessWindow, Control, Datagram, DatagramError, Frame, FrameError, FrameFormat, Integrity, LinkMode,
    Manufacturer, MeterKey, OpenError, ReassemblyError, crc16, device_type_name,
};

#[test]
fn frames_of_each_length_survive_both_formats() {
    for length in 1..=240_u8 {
        let content = frame(&(0..length).collect::<Vec<u8>>());
        let stripped = Frame::parse(&content, FrameFormat::WithoutCrc).expect("a frame");
        assert_eq!(stripped.integrity, Integrity::Unknown);
        for format in [FrameFormat::A, FrameFormat::B] {
            let parsed = Frame::parse(&with_crcs(&content, format), format).expect("a frame");
            assert_eq!(parsed.body, stripped.body);
            assert_eq!(parsed.integrity, Integrity::Checked);
            assert_eq!(Frame::detect(&with_crcs(&content, format)), Ok(parsed));
        }
    }
}

#[test]
fn each_flipped_bit_of_a_frame_is_refused() {
    for format in [FrameFormat::A, FrameFormat::B] {
        let sound = with_crcs(&frame(&[0x78; 40]), format);
        for bit in 0..sound.len() * 8 {
            let mut flipped = sound.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Frame::parse(&flipped, format).is_err(), "{format:?} bit {bit}");
        }
    }
}

#[test]
fn cut_and_joined_frames_are_refused() {
    for format in [FrameFormat::A, FrameFormat::B, FrameFormat::WithoutCrc] {
        let content = frame(&[0x78; 40]);
        let sound = if format == FrameFormat::WithoutCrc { content } else { with_crcs(&content, format) };
        for length in 0..sound.len() {
            assert!(Frame::parse(&sound[..length], format).is_err(), "{format:?} of {length} bytes");
        }
        assert!(Frame::parse(&[&*sound, &[0]].concat(), format).is_err());
    }
    assert_eq!(Frame::parse(&[2, 0x44, 1], FrameFormat::WithoutCrc), Err(FrameError::TooShort(3)));
}

#[test]
fn crc_error_names_the_block() {
    let mut bytes = with_crcs(&frame(&[0x78; 40]), FrameFormat::A);
    bytes[12] ^= 1;
    assert!(matches!(Frame::detect(&bytes), Err(FrameError::Crc { block: 2, .. })));
}

#[test]
fn c_fields_of_meters_are_told_from_requests() {
    for control in [0x44, 0x46, 0x47, 0x48, 0x08, 0x18, 0x28, 0x38, 0x00, 0x31] {
        assert!(Control(control).is_from_meter() && Control(control).name().is_some(), "{control:02x}");
    }
    for control in [0x40, 0x43, 0x53, 0x73, 0x5a, 0x7b, 0x06] {
        assert!(!Control(control).is_from_meter() && Control(control).name().is_some(), "{control:02x}");
    }
    assert_eq!(Control(0xff).name(), None);
}

#[test]
fn requests_are_not_opened() {
    let mut bytes = frame(&[0x7a, 1, 0, 0, 0, 0x2f]);
    bytes[1] = 0x53;
    let frame = Frame::parse(&bytes, FrameFormat::WithoutCrc).expect("a frame");
    let opened = message_of(&Datagram::parse(frame).expect("a datagram")).open(None);
    assert!(matches!(opened, Err(OpenError::NotFromMeter { control: 0x53, .. })));
}

#[test]
fn names_of_modes_makers_and_devices_are_known() {
    assert_eq!(
        LinkMode::ALL.map(|(_, name)| LinkMode::from_name(name)),
        LinkMode::ALL.map(|(mode, _)| Some(mode))
    );
    assert_eq!(LinkMode::from_name("N1"), None);
    assert_eq!(Manufacturer(0x2c2d).to_string(), "KAM");
    assert_eq!(Manufacturer(0).to_string(), "0000h");
    assert_eq!(device_type_name(0x16), Some("cold water"));
    assert_eq!(device_type_name(0xf0), None);
}

#[test]
fn extended_link_layer_gives_access_and_receiver() {
    let short = datagram(&[0x8c, 0xa0, 0x75, 0x78]);
    let communication = short.communication.expect("the field");
    assert_eq!(communication.access(), AccessWindow::Short);
    assert!(communication.is_synchronous() && !communication.is_repeated());
    assert_eq!((short.access_number, short.body()), (Some(0x75), &[0x78][..]));
    let long = datagram(&[0x8e, 0x80, 0x75, 0x3a, 0x63, 0x66, 0x55, 0x44, 0x33, 0x0a, 0x31, 0x78]);
    assert_eq!(long.receiver.expect("an address").to_string(), "XYZ 33445566 0a 31");
}

#[test]
fn extended_link_layer_that_is_cut_is_refused() {
    for body in
        [&[0x8c, 0xa0][..], &[0x8c, 0xa0, 0x75], &[0x8d, 0, 0, 0, 0, 0, 0, 1], &[0x8e; 11], &[0x8f; 15]]
    {
        let bytes = frame(body);
        let parsed = Datagram::parse(Frame::parse(&bytes, FrameFormat::WithoutCrc).expect("a frame"));
        assert!(parsed.is_err(), "{body:02x?}");
    }
}

#[test]
fn layers_that_are_not_read_are_refused_by_name() {
    for ci in [0x81, 0x86] {
        let frame = Frame::parse(&frame(&[ci; 20]), FrameFormat::WithoutCrc).expect("a frame");
        assert!(matches!(Datagram::parse(frame), Err(DatagramError::Unsupported { .. })));
    }
}

/// An extended link layer with a session, encrypted if its number says so.
fn session(encryption: u8, payload: &[u8]) -> Vec<u8> {
    let number = [0x70, 0x03, 0x2f, encryption << 5 | 1];
    let mut sealed = [&crc16(payload).to_le_bytes(), payload].concat();
    if encryption == 1 {
        let mut counter = [0; 16];
        counter[..8].copy_from_slice(&super::fixture::ADDRESS);
        counter[8] = 0x20;
        counter[9..13].copy_from_slice(&number);
        ctr::Ctr128BE::<aes::Aes128>::new((&KEY).into(), (&counter).into()).apply_keystream(&mut sealed);
    }
    // A repeater sets two bits of the CC field, which the counter leaves out.
    [&[0x8d, 0x32, 0x7b], &number[..], &sealed].concat()
}

#[test]
fn session_is_decrypted_with_its_key_alone() {
    let payload = [0x78, 0x0c, 0x13, 1, 2, 3, 4];
    let encrypted = datagram(&session(1, &payload));
    assert!(encrypted.is_encrypted() && encrypted.body().is_empty());
    assert!(matches!(
        wire::wireless_mbus::Reassembly::default().take(&encrypted),
        Err(ReassemblyError::Encrypted(_))
    ));
    let opened = encrypted.clone().decrypt(&MeterKey::new(KEY)).expect("its key");
    assert_eq!(opened.body(), payload);
    assert!(!message_of(&opened).open(None).expect("a message").authenticated);
    assert!(matches!(encrypted.decrypt(&MeterKey::new([9; 16])), Err(DatagramError::WrongKey(_))));
}

#[test]
fn wrong_key_of_an_unchecked_frame_may_be_corruption() {
    let telegram = telegram("kamstrup-link-encryption");
    let frame = Frame::detect(&telegram.bytes).expect("a frame");
    let decrypted = Datagram::parse(frame).expect("a datagram").decrypt(&MeterKey::new([9; 16]));
    assert!(matches!(decrypted, Err(DatagramError::WrongKeyOrCorrupted(_))));
}

#[test]
fn clear_session_with_a_wrong_crc_is_refused() {
    let mut body = session(0, &[0x78, 1, 0x13, 5]);
    assert_eq!(datagram(&body).body(), [0x78, 1, 0x13, 5]);
    body[10] ^= 1;
    let frame = Frame::parse(&frame(&body), FrameFormat::WithoutCrc).expect("a frame");
    assert!(matches!(Datagram::parse(frame), Err(DatagramError::Corrupted { .. })));
    let frame = Frame::parse(&super::fixture::frame(&session(2, &[0x78])), FrameFormat::WithoutCrc);
    let reserved = Datagram::parse(frame.expect("a frame"));
    assert!(matches!(reserved, Err(DatagramError::ReservedEncryption { mode: 2, .. })));
}
