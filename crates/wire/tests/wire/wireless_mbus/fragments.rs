//! Messages in fragments: order, length, MAC, and memory.

use super::fixture::{ADDRESS, KEY, cmac, datagram, derived_key, transport_b};
use wire::wireless_mbus::{
    Datagram, Frame, FrameFormat, MESSAGE_BYTES_MAX, Message, MeterKey, OpenError, Reassembly,
    ReassemblyError,
};

const COUNTER: u32 = 7;

/// A message of mode 7 in fragments of `size` bytes.
fn fragments(plaintext: &[u8], size: usize) -> Vec<Vec<u8>> {
    let transport = transport_b(COUNTER, plaintext);
    let length = (transport.len() as u16).to_le_bytes();
    let fields = [&[0x65], &COUNTER.to_le_bytes()[..]].concat();
    let mac = cmac(&derived_key(1, COUNTER), &[&*fields, &length, &transport].concat());
    let pieces: Vec<&[u8]> = transport.chunks(size).collect();
    let last = pieces.len();
    let header = |number: usize| match number {
        1 => [&[0x90, 9, 1, 0x78], &*fields, &length].concat(),
        number if number == last => [&[0x90, 10, number as u8, 0x04], &mac[..8]].concat(),
        number => vec![0x90, 2, number as u8, 0x40],
    };
    pieces.iter().enumerate().map(|(at, piece)| [&header(at + 1), *piece].concat()).collect()
}

fn plaintext() -> Vec<u8> {
    [&[0x2f, 0x2f, 0x0c, 0x13, 0x78, 0x56, 0x34, 0x12], &[0x2f; 56][..]].concat()
}

fn take(reassembly: &mut Reassembly, body: &[u8]) -> Result<Option<Message>, ReassemblyError> {
    reassembly.take(&datagram(body))
}

#[test]
fn fragments_in_order_are_a_message_with_its_mac() {
    let mut reassembly = Reassembly::default();
    let cut = fragments(&plaintext(), 20);
    assert_eq!(cut.len(), 4);
    for body in &cut[..3] {
        assert_eq!(take(&mut reassembly, body), Ok(None));
        // A receiver may hear one twice.
        assert_eq!(take(&mut reassembly, body), Ok(None));
    }
    assert_eq!(reassembly.held_bytes(), 60);
    let message = take(&mut reassembly, &cut[3]).expect("in order").expect("whole");
    assert_eq!(reassembly.held_bytes(), 0);
    let opened = message.open(Some(&MeterKey::new(KEY))).expect("its key");
    assert_eq!((opened.authenticated, &*opened.payload), (true, &plaintext()[2..]));
}

#[test]
fn altered_fragment_is_no_message() {
    for (number, at) in [(0, 12), (1, 8), (3, 6), (3, 13)] {
        let mut reassembly = Reassembly::default();
        let mut cut = fragments(&plaintext(), 20);
        cut[number][at] ^= 1;
        let taken = cut.iter().map(|body| take(&mut reassembly, body)).last().expect("the last one");
        let opened = taken.expect("in order").expect("whole").open(Some(&MeterKey::new(KEY)));
        assert!(opened.is_err(), "fragment {number}, byte {at}");
    }
}

#[test]
fn fragments_out_of_order_are_refused() {
    let cut = fragments(&plaintext(), 20);
    let mut reassembly = Reassembly::default();
    let error = take(&mut reassembly, &cut[1]);
    assert!(matches!(error, Err(ReassemblyError::OutOfOrder { expected: 1, found: 2, .. })));
    assert_eq!(take(&mut reassembly, &cut[0]), Ok(None));
    let error = take(&mut reassembly, &cut[2]);
    assert!(matches!(error, Err(ReassemblyError::OutOfOrder { expected: 2, found: 3, .. })));
    assert_eq!(reassembly.held_bytes(), 0);
}

#[test]
fn length_of_the_first_fragment_has_to_be_kept() {
    let mut reassembly = Reassembly::default();
    let cut = fragments(&plaintext(), 40);
    assert_eq!(take(&mut reassembly, &cut[0]), Ok(None));
    let error = take(&mut reassembly, &cut[1][..cut[1].len() - 1]);
    assert!(matches!(error, Err(ReassemblyError::MessageLength { expected: 70, found: 69, .. })));
}

#[test]
fn mac_that_is_taken_off_is_missed() {
    let mut reassembly = Reassembly::default();
    let cut = fragments(&plaintext(), 40);
    assert_eq!(take(&mut reassembly, &cut[0]), Ok(None));
    let without = [&[0x90, 2, 2, 0], &cut[1][12..]].concat();
    assert!(matches!(take(&mut reassembly, &without), Err(ReassemblyError::Fields(_))));
}

#[test]
fn later_fragment_has_no_fields_of_the_first() {
    let mut reassembly = Reassembly::default();
    let cut = fragments(&plaintext(), 40);
    assert_eq!(take(&mut reassembly, &cut[0]), Ok(None));
    let counter = [&[0x90, 14, 2, 0x0c, 9, 0, 0, 0], &cut[1][4..]].concat();
    assert!(matches!(take(&mut reassembly, &counter), Err(ReassemblyError::Fields(_))));
}

#[test]
fn headers_of_a_wrong_length_are_refused() {
    for body in
        [&[0x90][..], &[0x90, 1, 0], &[0x90, 2, 0, 0x2c, 0x78], &[0x90, 3, 0, 0, 9, 0x78], &[0x90, 40, 0, 0]]
    {
        assert!(
            matches!(take(&mut Reassembly::default(), body), Err(ReassemblyError::Header(_))),
            "{body:02x?}"
        );
    }
    let reserved = [0x90, 3, 0, 0x20, 0x0f, 0x78];
    assert!(matches!(take(&mut Reassembly::default(), &reserved), Err(ReassemblyError::Fields(_))));
}

/// A first fragment of a meter with this number.
fn first_of(number: u8) -> Datagram {
    let mut bytes = super::fixture::frame(&[&[0x90, 3, 1, 0x60, 0], &[0x78; 200][..]].concat());
    bytes[4] = number;
    Datagram::parse(Frame::parse(&bytes, FrameFormat::WithoutCrc).expect("a frame")).expect("a datagram")
}

#[test]
fn incomplete_messages_are_bounded_and_the_oldest_goes() {
    let mut reassembly = Reassembly::default();
    for number in 0..100 {
        assert_eq!(reassembly.take(&first_of(number)), Ok(None));
    }
    assert_eq!(reassembly.held_bytes(), 32 * 200);
    let mut second = super::fixture::frame(&[0x90, 2, 2, 0, 0x78]);
    second[4] = 67;
    let frame = Frame::parse(&second, FrameFormat::WithoutCrc).expect("a frame");
    let gone = reassembly.take(&Datagram::parse(frame.clone()).expect("a datagram"));
    assert!(matches!(gone, Err(ReassemblyError::OutOfOrder { .. })));
    second[4] = 99;
    let frame = Frame::parse(&second, FrameFormat::WithoutCrc).expect("a frame");
    let kept =
        reassembly.take(&Datagram::parse(frame).expect("a datagram")).expect("in order").expect("whole");
    assert!(!kept.open(None).expect("clear").authenticated);
}

#[test]
fn message_of_more_than_16_kib_is_refused() {
    let mut reassembly = Reassembly::default();
    let piece = [0x78; 230];
    assert_eq!(take(&mut reassembly, &[&[0x90, 3, 1, 0x60, 0], &piece[..]].concat()), Ok(None));
    let error = (2..=u8::MAX).find_map(|number| {
        let body = [&[0x90, 2, number, 0x40], &piece[..]].concat();
        assert!(reassembly.held_bytes() <= MESSAGE_BYTES_MAX);
        take(&mut reassembly, &body).err()
    });
    assert!(matches!(error, Some(ReassemblyError::TooLong(_))));
}

#[test]
fn one_unchecked_fragment_leaves_its_message_unchecked() {
    let mut reassembly = Reassembly::default();
    let cut = fragments(&plaintext(), 40);
    let bytes = super::fixture::frame(&cut[0]);
    assert_eq!(bytes[2..10], ADDRESS);
    let unchecked = Frame::parse(&bytes, FrameFormat::WithoutCrc).expect("a frame");
    assert_eq!(reassembly.take(&Datagram::parse(unchecked).expect("a datagram")), Ok(None));
    let message = take(&mut reassembly, &cut[1]).expect("in order").expect("whole");
    let opened = message.open(Some(&MeterKey::new([9; 16])));
    assert!(matches!(opened, Err(OpenError::WrongKeyOrCorrupted(_))));
}
