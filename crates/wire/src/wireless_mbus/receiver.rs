//! Telegrams as receivers give them: lines of text, and the frames of two makers' radio modules.

use super::{Frame, FrameError, FrameFormat, Integrity, LinkMode};

/// The longest line that is read.
pub const LINE_BYTES_MAX: usize = 4096;
/// The longest frame, with L and all CRCs of format A.
const FRAME_BYTES_MAX: usize = 290;

/// Bytes of a receiver that hold no telegram.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReceiverError {
    /// A line that is too long.
    #[error("a line of {0} bytes; receivers' lines have up to 4,096")]
    LineTooLong(usize),
    /// A line of no known form.
    #[error("the line is none of a known receiver: no hexadecimal digits, rtl_wmbus, rtl_433 or culfw")]
    UnknownLine,
    /// The receiver says that the telegram is corrupted.
    #[error("the receiver says that the CRC or the code of this telegram fails")]
    FailedAtReceiver,
    /// The line has two fields that could be the telegram.
    #[error("the line has two fields of hexadecimal digits that could be the telegram")]
    Ambiguous,
    /// Digits that are no bytes.
    #[error("the telegram is no even number of hexadecimal digits, at most 580")]
    NoHexadecimal,
    /// A frame of a radio module that is cut, or that carries no telegram.
    #[error("the frame of the {module} carries no telegram: {what}")]
    Module {
        /// The module's maker.
        module: &'static str,
        /// The reason.
        what: &'static str,
    },
    /// The link layer refuses it.
    #[error("{0}")]
    Frame(#[from] FrameError),
}

/// A telegram that a receiver gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReceivedFrame {
    /// The frame without CRCs.
    pub frame: Frame,
    /// The radio's mode, if the receiver says it.
    pub mode: Option<LinkMode>,
    /// The frame that it is if its last two bytes are no CRC. A line of digits does not say, and
    /// one frame in 65,536 without CRCs ends as one of format B.
    pub without_crc: Option<Frame>,
}

impl ReceivedFrame {
    /// Reads a line of text: hexadecimal digits, or a line of rtl_wmbus, rtl_433 (JSON or CSV) or
    /// culfw.
    pub fn from_line(line: &str) -> Result<Self, ReceiverError> {
        if line.len() > LINE_BYTES_MAX {
            return Err(ReceiverError::LineTooLong(line.len()));
        }
        let line = line.trim();
        if line.starts_with('{') {
            return from_rtl_433_json(line);
        }
        if line.contains(';') {
            return from_rtl_wmbus(line);
        }
        if line.contains(',') {
            return from_rtl_433_csv(line);
        }
        if let Some(digits) = line.strip_prefix("bY") {
            return from_culfw(digits, FrameFormat::B);
        }
        match line.strip_prefix('b') {
            // A line of bytes has an even number of digits, and then "b" is one of them.
            Some(digits) if digits.len().is_multiple_of(2) => from_culfw(digits, FrameFormat::A),
            _ => {
                let bytes = hexadecimal(line)?;
                let frame = Frame::detect(&bytes)?;
                let without_crc = Frame::parse(&bytes, FrameFormat::WithoutCrc).ok();
                let without_crc = without_crc.filter(|_| frame.integrity == Integrity::Checked);
                Ok(Self { frame, mode: None, without_crc })
            }
        }
    }

    /// Reads a frame of IMST's iM871A and iM170A: A5h, control and endpoint, message, length,
    /// telegram without L, then time, level and CRC by the control's bits. By wmbusmeters'
    /// `wmbus_im871a.cc`.
    pub fn from_imst(bytes: &[u8]) -> Result<Self, ReceiverError> {
        let error = |what| ReceiverError::Module { module: "iM871A", what };
        let &[0xa5, control, message, length, ref rest @ ..] = bytes else {
            return Err(error("no start byte, or no header"));
        };
        if (control & 0x0f, message) != (2, 3) {
            return Err(error("no received telegram"));
        }
        let length = usize::from(length);
        if rest.len() != length + imst_trailer_bytes(control) {
            return Err(error("another length than its header says"));
        }
        if control & 0x80 != 0 {
            let (covered, crc) = bytes[1..].split_last_chunk::<2>().ok_or(error("no CRC"))?;
            if crc16_x25(covered) != u16::from_le_bytes(*crc) {
                return Err(error("its CRC fails on the serial line"));
            }
        }
        Self::of_checked(&[&[length as u8], &rest[..length]].concat())
    }

    /// Reads a frame of Amber's AMB8425, AMB8426 and AMB8465 in command mode: FFh, 03h, length,
    /// telegram without L, a level where that is configured, and the exclusive or of all. AMB8426-M
    /// manual 2.4, section 2.2; the level by wmbusmeters' `wmbus_amb8465.cc`.
    pub fn from_amber(bytes: &[u8], has_level: bool) -> Result<Self, ReceiverError> {
        let error = |what| ReceiverError::Module { module: "AMB8465", what };
        let [0xff, 3, length, rest @ .., sum] = bytes else {
            return Err(error("no start byte, or no received telegram"));
        };
        if rest.len() != usize::from(*length) {
            return Err(error("another length than its header says"));
        }
        if bytes.iter().fold(0, |sum, byte| sum ^ byte) != 0 {
            return Err(error(if *sum == 0 {
                "no checksum"
            } else {
                "its checksum fails on the serial line"
            }));
        }
        let Some(length) = length.checked_sub(u8::from(has_level)) else { return Err(error("no telegram")) };
        Self::of_checked(&[&[length], &rest[..usize::from(length)]].concat())
    }

    /// A telegram whose CRCs a receiver checked and removed.
    fn of_checked(bytes: &[u8]) -> Result<Self, ReceiverError> {
        let frame = Frame::parse(bytes, FrameFormat::WithoutCrc)?.checked_by_receiver();
        Ok(Self { frame, mode: None, without_crc: None })
    }
}

/// A line of rtl_wmbus: mode, CRC, 3-out-of-6 code, time, two levels, identification number,
/// telegram. README.md of xaelsouth/rtl-wmbus.
fn from_rtl_wmbus(line: &str) -> Result<ReceivedFrame, ReceiverError> {
    let mut fields = line.split(';').map(str::trim);
    let mode = fields.next().and_then(LinkMode::from_name).ok_or(ReceiverError::UnknownLine)?;
    if (fields.next(), fields.next()) != (Some("1"), Some("1")) {
        return Err(ReceiverError::FailedAtReceiver);
    }
    let mut telegrams = fields.filter_map(|field| field.strip_prefix("0x"));
    let telegram = telegrams.next().ok_or(ReceiverError::UnknownLine)?;
    if telegrams.next().is_some() {
        return Err(ReceiverError::Ambiguous);
    }
    Ok(ReceivedFrame { mode: Some(mode), ..ReceivedFrame::of_checked(&hexadecimal(telegram)?)? })
}

/// The members of rtl_433's JSON that are read.
#[derive(serde::Deserialize)]
struct Rtl433 {
    model: String,
    data: String,
    mic: Option<String>,
}

/// A line of rtl_433's JSON output, with the telegram in its member "data".
fn from_rtl_433_json(line: &str) -> Result<ReceivedFrame, ReceiverError> {
    let Rtl433 { model, data, mic } = serde_json::from_str(line).map_err(|_| ReceiverError::UnknownLine)?;
    if model != "Wireless-MBus" {
        return Err(ReceiverError::UnknownLine);
    }
    if mic.as_deref() != Some("CRC") {
        return Err(ReceiverError::FailedAtReceiver);
    }
    ReceivedFrame::of_checked(&hexadecimal(&data)?)
}

/// A line of rtl_433's CSV output, whose columns depend on its options: the one field that is a
/// telegram by its L.
fn from_rtl_433_csv(line: &str) -> Result<ReceivedFrame, ReceiverError> {
    let fields = || line.split(',').map(str::trim);
    if !fields().any(|field| field == "Wireless-MBus") {
        return Err(ReceiverError::UnknownLine);
    }
    if !fields().any(|field| field == "CRC") {
        return Err(ReceiverError::FailedAtReceiver);
    }
    let mut telegrams = fields()
        .filter(|field| field.len() >= 22)
        .filter_map(|field| ReceivedFrame::of_checked(&hexadecimal(field).ok()?).ok());
    let telegram = telegrams.next().ok_or(ReceiverError::UnknownLine)?;
    if telegrams.next().is_some() { Err(ReceiverError::Ambiguous) } else { Ok(telegram) }
}

/// A line of culfw: the frame with its CRCs, and two bytes of quality and level where that is
/// configured. By wmbusmeters' `wmbus_cul.cc`.
fn from_culfw(digits: &str, format: FrameFormat) -> Result<ReceivedFrame, ReceiverError> {
    let bytes = hexadecimal(digits)?;
    let frame = match Frame::parse(&bytes, format) {
        Err(FrameError::Length { .. }) => Frame::parse(&bytes[..bytes.len().saturating_sub(2)], format)?,
        parsed => parsed?,
    };
    Ok(ReceivedFrame { frame, mode: None, without_crc: None })
}

/// Reads hexadecimal digits, behind "0x" or not, with spaces between bytes or not.
fn hexadecimal(text: &str) -> Result<Vec<u8>, ReceiverError> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let digits: Vec<u8> = digits.bytes().filter(|&byte| byte != b' ').collect();
    if digits.is_empty() || !digits.len().is_multiple_of(2) || digits.len() > 2 * FRAME_BYTES_MAX {
        return Err(ReceiverError::NoHexadecimal);
    }
    let digit = |byte: u8| char::from(byte).to_digit(16).ok_or(ReceiverError::NoHexadecimal);
    digits.chunks(2).map(|pair| Ok((digit(pair[0])? << 4 | digit(pair[1])?) as u8)).collect()
}

/// Length of time, level and CRC behind a telegram of IMST, by its control's bits, in bytes.
pub(super) fn imst_trailer_bytes(control: u8) -> usize {
    let has = |bit: u8| usize::from(control & bit != 0);
    4 * has(0x20) + has(0x40) + 2 * has(0x80)
}

/// The CRC of IMST's serial frames: CRC-16/IBM-SDLC.
fn crc16_x25(bytes: &[u8]) -> u16 {
    let crc = bytes.iter().fold(0xffff_u16, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte), |crc, _| crc >> 1 ^ if crc & 1 == 1 { 0x8408 } else { 0 })
    });
    !crc
}
