//! Lines and serial frames of receivers.

use super::fixture::{frame, hex, unhex, with_crcs};
use wire::wireless_mbus::{
    Frame, FrameFormat, Integrity, LINE_BYTES_MAX, LinkMode, ModuleFrames, RadioModule, ReceivedFrame,
    ReceiverError,
};

const BODY: [u8; 8] = [0x7a, 1, 0, 0, 0, 1, 0x5b, 5];

fn sound() -> Vec<u8> {
    frame(&BODY)
}

fn read(line: &str) -> Result<ReceivedFrame, ReceiverError> {
    ReceivedFrame::from_line(line)
}

#[test]
fn lines_of_digits_are_read_with_and_without_crcs() {
    let bare = read(&format!(" 0x{}\r\n", hex(&sound()))).expect("a frame");
    assert_eq!((bare.frame.integrity, bare.mode), (Integrity::Unknown, None));
    for format in [FrameFormat::A, FrameFormat::B] {
        let digits = hex(&with_crcs(&sound(), format)).to_uppercase();
        let checked = read(&digits).expect("a frame");
        assert_eq!((checked.frame.body, checked.frame.integrity), (BODY.to_vec(), Integrity::Checked));
    }
}

#[test]
fn rtl_wmbus_line_says_mode_and_checks() {
    // The form of the lines of rtl_wmbus' README.
    let line = |head: &str| format!("{head};2019-04-03 19:00:42.000;97;148;88888888;0x{}", hex(&sound()));
    let received = read(&line("T1;1;1")).expect("a frame");
    assert_eq!((received.frame.integrity, received.mode), (Integrity::Checked, Some(LinkMode::T1)));
    assert_eq!(read(&line("C1;0;1")), Err(ReceiverError::FailedAtReceiver));
    assert_eq!(read(&line("T1;1;0")), Err(ReceiverError::FailedAtReceiver));
    assert_eq!(read(&line("N1;1;1")), Err(ReceiverError::UnknownLine));
    assert_eq!(read("T1;1;1;2019"), Err(ReceiverError::UnknownLine));
    assert_eq!(read(&format!("{};0x{}", line("T1;1;1"), hex(&sound()))), Err(ReceiverError::Ambiguous));
}

#[test]
fn rtl_433_lines_are_read_if_their_crc_holds() {
    let digits = hex(&sound());
    let json = |model: &str, mic: &str| {
        format!(
            r#"{{"time":"2025-01-01","model":"{model}","mode":"T","C":68,"data":"{digits}","mic":"{mic}"}}"#
        )
    };
    assert_eq!(read(&json("Wireless-MBus", "CRC")).expect("a frame").frame.integrity, Integrity::Checked);
    assert_eq!(read(&json("Wireless-MBus", "none")), Err(ReceiverError::FailedAtReceiver));
    assert_eq!(read(&json("Bresser-6in1", "CRC")), Err(ReceiverError::UnknownLine));
    assert_eq!(read("{"), Err(ReceiverError::UnknownLine));
    let csv = |mic: &str| {
        format!("2020-08-10 20:40:47,,,Wireless-MBus,,00010203,,{mic},,{digits},,22,C,27,Cold Water,,")
    };
    assert_eq!(read(&csv("CRC")).expect("a frame").frame.body, BODY);
    assert_eq!(read(&csv("")), Err(ReceiverError::FailedAtReceiver));
    assert_eq!(read(&format!("{}{digits}", csv("CRC"))), Err(ReceiverError::Ambiguous));
    assert_eq!(read("time,msg,codes,model"), Err(ReceiverError::UnknownLine));
}

#[test]
fn culfw_lines_carry_both_formats() {
    let line = |prefix: &str, format, level: &str| {
        read(&format!("{prefix}{}{level}", hex(&with_crcs(&sound(), format)).to_uppercase()))
    };
    for level in ["", "8045"] {
        assert_eq!(line("b", FrameFormat::A, level).expect("a frame").frame.body, BODY);
        assert_eq!(line("bY", FrameFormat::B, level).expect("a frame").frame.body, BODY);
    }
    assert!(matches!(line("bY", FrameFormat::A, ""), Err(ReceiverError::Frame(_))));
    assert!(matches!(read("bY"), Err(ReceiverError::NoHexadecimal)));
}

/// A frame of an iM871A: wmbusmeters' issue 1517.
fn imst() -> Vec<u8> {
    unhex(
        "A5C2034144C5140124065070068C20E97A260030258AA4FA4EEABB7FF16A3D4D4D195F6905291547F08E0DCAD6D16B6730F3\
         366256ADD4362B3642294B7F6D2B703EC1291E8CA7F4",
    )
}

/// A frame of an AMB8465 with these bytes of level.
fn amber(level: &[u8]) -> Vec<u8> {
    let telegram = sound();
    let length = telegram.len() - 1 + level.len();
    let mut bytes = [&[0xff, 3, length as u8], &telegram[1..], level].concat();
    bytes.push(bytes.iter().fold(0, |sum, byte| sum ^ byte));
    bytes
}

#[test]
fn imst_frame_is_read_with_its_crc() {
    let bytes = imst();
    let received = ReceivedFrame::from_imst(&bytes).expect("a frame");
    assert_eq!(received.frame.address.to_string(), "EFE 50062401 70 06");
    assert_eq!((received.frame.body.len(), received.frame.integrity), (0x41 - 9, Integrity::Checked));
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        // Without the bit that says that there is a CRC, the length is another one.
        assert!(ReceivedFrame::from_imst(&flipped).is_err(), "bit {bit}");
    }
    for length in 0..bytes.len() {
        assert!(ReceivedFrame::from_imst(&bytes[..length]).is_err());
    }
}

#[test]
fn amber_frame_is_read_with_its_checksum() {
    let telegram = sound();
    for level in [&[][..], &[0x50]] {
        let bytes = amber(level);
        let received = ReceivedFrame::from_amber(&bytes, !level.is_empty()).expect("a frame");
        let same = Frame::parse(&telegram, FrameFormat::WithoutCrc).expect("a frame").checked_by_receiver();
        assert_eq!(received.frame, same);
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(ReceivedFrame::from_amber(&flipped, !level.is_empty()).is_err(), "bit {bit}");
        }
    }
    assert!(ReceivedFrame::from_amber(&[0xff, 3, 0, 0xfc], true).is_err());
}

/// Frames of a module in a stream, given in pieces of this many bytes, and those after a silence.
fn frames_of(module: RadioModule, stream: &[u8], piece: usize) -> (Vec<ReceivedFrame>, Vec<ReceivedFrame>) {
    let (mut found, mut late) = (Vec::new(), Vec::new());
    let mut frames = ModuleFrames::new(module);
    for bytes in stream.chunks(piece) {
        frames.take(bytes, |frame| found.push(frame));
    }
    frames.take_silence(|frame| late.push(frame));
    (found, late)
}

#[test]
fn module_frames_are_found_in_any_stream() {
    let level = RadioModule::Amber { has_level: true };
    for (module, frame, start) in [
        (RadioModule::Imst, imst(), 0xa5),
        (RadioModule::Amber { has_level: false }, amber(&[]), 0xff),
        (level, amber(&[0x50]), 0xff),
    ] {
        // An answer to a command, half a frame, start bytes and other bytes between the frames.
        let noise = [&[start, 0x01, 0x82, 0x00][..], &frame[..9], &[start; 5], &[0, 1, 2]].concat();
        let stream = [&noise[..], &frame, &frame, &noise, &frame].concat();
        for piece in 1..=stream.len() {
            let (mut found, late) = frames_of(module, &stream, piece);
            // A start byte that is none may announce more than there is: the silence tells.
            found.extend(late);
            assert_eq!(found.len(), 3, "{module:?} in pieces of {piece}");
            assert!(found.iter().all(|frame| frame.frame == found[0].frame), "{module:?}");
        }
        let clean = [&frame[..], &frame].concat();
        assert_eq!(frames_of(module, &clean, 7).0.len(), 2, "no silence is waited for");
        let cut = &frame[..frame.len() - 1];
        assert_eq!(frames_of(module, cut, 7), (Vec::new(), Vec::new()));
        // The announced length is beyond the stream, and the whole frame behind it is found.
        let announced = [&[start, 0xc2, 0xff, 0xff][..], &frame].concat();
        assert_eq!(frames_of(module, &announced, 3).1.len(), 1, "{module:?}");
    }
}

#[test]
fn lines_that_are_none_are_refused() {
    assert_eq!(read(&"0".repeat(LINE_BYTES_MAX + 1)), Err(ReceiverError::LineTooLong(LINE_BYTES_MAX + 1)));
    assert_eq!(read(&"0".repeat(582)), Err(ReceiverError::NoHexadecimal));
    for line in ["", "0x", "123", "zz", "élan", "b", "\u{0}\u{1}"] {
        assert!(read(line).is_err(), "{line}");
    }
}
