//! The host's end of the bootloader's protocol on a UART: frames, requests, answers, and an image
//! that is sent piece by piece.
//!
//! It knows no port and no clock: bytes that came go in, bytes that are to go out come out, and
//! whoever drives it says when nothing came for too long.

use crate::UpdateError;
use crate::image::{FIELDS, Header};
use std::fmt::{Display, Formatter};

/// The baud rate of the bootloader's UART.
pub const BAUD: u32 = 115_200;
/// Data of a request, at most.
const PIECE: usize = 256;

const FLAG: u8 = 0x7e;
const ESCAPE: u8 = 0x7d;
/// The longest answer is a status, of 47 bytes.
const MOST_BYTES: usize = 256;
const ANSWER: u8 = 0x80;
/// Of the protocol.
const VERSION: u8 = 1;

const STATUS: u8 = 1;
const BEGIN: u8 = 2;
const DATA: u8 = 3;
const FINISH: u8 = 4;
const RUN: u8 = 5;

/// Why the bootloader rejects a request or an image, as it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Not an image's header.
    NoImage,
    /// For another part.
    OtherTarget,
    /// Linked for another slot.
    OtherAddress,
    /// Older than what runs.
    Old,
    /// Larger than the slot.
    Large,
    /// The signature is not good under its key.
    BadSignature,
    /// The bootloader speaks another version of the protocol, or the answer is none.
    Unknown(u8),
    /// Not the bytes that are next.
    OutOfOrder,
    /// Its flash does not keep what is written.
    NotKept,
    /// Nothing was begun.
    NotBegun,
}

impl Rejection {
    fn of(result: u8) -> Rejection {
        match result {
            1 => Rejection::NoImage,
            2 => Rejection::OtherTarget,
            3 => Rejection::OtherAddress,
            4 => Rejection::Old,
            5 => Rejection::Large,
            6 => Rejection::BadSignature,
            17 => Rejection::OutOfOrder,
            18 => Rejection::NotKept,
            19 => Rejection::NotBegun,
            other => Rejection::Unknown(other),
        }
    }
}

impl Display for Rejection {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let said = match self {
            Rejection::NoImage => "that is no image; make one with wattseal firmware sign",
            Rejection::OtherTarget => {
                "the image is another target's; sign the program that was built for this part"
            }
            Rejection::OtherAddress => {
                "the image is linked for the slot that runs; send the one for the other slot (wattseal firmware status says which)"
            }
            Rejection::Old => {
                "the image's version is below the one that was confirmed, and no version goes back; sign it with a higher one"
            }
            Rejection::Large => "the image is larger than a slot",
            Rejection::BadSignature => {
                "the signature is not good under the bootloader's key; sign with the key that it was built with"
            }
            Rejection::OutOfOrder => "these are not the bytes that are next; send the image anew",
            Rejection::NotKept => {
                "its flash does not keep what is written; send the image anew, and if that does not help change the part"
            }
            Rejection::NotBegun => "nothing was begun; send the image anew",
            Rejection::Unknown(result) => {
                return write!(f, "result {result}, which this program does not know");
            }
        };
        f.write_str(said)
    }
}

/// Status of a bootloader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Status {
    /// The part's name.
    pub target: String,
    /// The slot that an image can be sent into, 0 (A) or 1 (B), where it begins and its bytes.
    pub free: u8,
    pub address: u32,
    /// Its bytes.
    pub bytes: u32,
    /// The slot of the image that runs.
    pub confirmed: Option<u8>,
    /// The slot of the image that is to report in, and how often it may still start.
    pub trial: Option<(u8, u8)>,
    /// The lowest version that is taken and run.
    pub floor: u32,
    /// Bytes of an image that is being received, and of it in all.
    pub received: (u32, u32),
}

impl Status {
    fn read(body: &[u8]) -> Option<Status> {
        let body: &[u8; 45] = body.try_into().ok()?;
        let number = |at: usize| u32::from_be_bytes([body[at], body[at + 1], body[at + 2], body[at + 3]]);
        let slot = |slot: u8| (slot != 0xff).then_some(slot);
        let name = &body[1..17];
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
        let target = std::str::from_utf8(&name[..end]).ok()?.to_owned();
        (body[0] == VERSION).then(|| Status {
            target,
            free: body[17],
            address: number(25),
            bytes: number(29),
            confirmed: slot(body[18]),
            trial: slot(body[19]).map(|slot| (slot, body[20])),
            floor: number(21),
            received: (number(37), number(41)),
        })
    }
}

/// A frame of RFC 1662, section 4, with a CRC-32 at its end.
#[must_use]
pub fn frame(bytes: &[u8]) -> Vec<u8> {
    let mut out = vec![FLAG];
    for &byte in bytes.iter().chain(&crc32fast::hash(bytes).to_be_bytes()) {
        if byte == FLAG || byte == ESCAPE {
            out.extend([ESCAPE, byte ^ 0x20]);
        } else {
            out.push(byte);
        }
    }
    out.push(FLAG);
    out
}

/// Finds frames among bytes. What is no whole frame is dropped.
#[derive(Default)]
pub struct Deframer {
    bytes: Vec<u8>,
    escaped: bool,
    broken: bool,
}

impl Deframer {
    /// Takes a byte; returns the frame that it ends.
    pub fn take(&mut self, byte: u8) -> Option<Vec<u8>> {
        match byte {
            FLAG => {
                let mut bytes = std::mem::take(&mut self.bytes);
                let (broken, escaped) = (std::mem::take(&mut self.broken), std::mem::take(&mut self.escaped));
                let check = bytes.len().checked_sub(4).filter(|end| !broken && !escaped && *end != 0)?;
                let is_good = bytes[check..] == crc32fast::hash(&bytes[..check]).to_be_bytes();
                bytes.truncate(check);
                return is_good.then_some(bytes);
            }
            ESCAPE => {
                self.broken |= self.escaped;
                self.escaped = true;
            }
            _ if self.bytes.len() == MOST_BYTES => self.broken = true,
            _ => self.bytes.push(if std::mem::take(&mut self.escaped) { byte ^ 0x20 } else { byte }),
        }
        None
    }
}

/// The request for a status.
#[must_use]
pub fn status_request() -> Vec<u8> {
    frame(&[STATUS])
}

/// The status in a frame of the bootloader's; `None` where it is another answer.
#[must_use]
pub fn status_of(frame: &[u8]) -> Option<Status> {
    match frame {
        [request, 0, body @ ..] if *request == STATUS | ANSWER => Status::read(body),
        _ => None,
    }
}

/// Next step of an image's transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    Data,
    Finish,
    Run,
    Done,
}

/// An image on its way into a bootloader.
pub struct Transfer<'a> {
    image: &'a [u8],
    step: Step,
    next: usize,
    /// Number of new beginnings.
    restarts: u8,
}

/// Number of times that a transfer begins anew, after resets of the part.
const RESTARTS: u8 = 3;

impl<'a> Transfer<'a> {
    /// Of an image; one that is no image the bootloader rejects.
    ///
    /// # Errors
    /// [`UpdateError::Program`] where it is not even as long as a header.
    pub fn new(image: &'a [u8]) -> Result<Transfer<'a>, UpdateError> {
        if image.len() < FIELDS {
            return Err(UpdateError::Program("no image: shorter than a header".into()));
        }
        Ok(Transfer { image, step: Step::Begin, next: 0, restarts: 0 })
    }

    /// Of a whole, signed image.
    ///
    /// # Errors
    /// [`UpdateError::Program`] where it is none.
    pub fn of_signed(image: &'a [u8]) -> Result<Transfer<'a>, UpdateError> {
        match Header::read(image) {
            Some(_) => Transfer::new(image),
            None => Err(UpdateError::Program(
                "no signed image, or not all of one; make one with wattseal firmware sign".into(),
            )),
        }
    }

    /// The frame that is to be sent now, and again when no answer comes; `None` when the image is
    /// there and runs.
    #[must_use]
    pub fn request(&self) -> Option<Vec<u8>> {
        let bytes = match self.step {
            Step::Begin => [&[BEGIN], &self.image[..FIELDS]].concat(),
            Step::Data => {
                let end = (self.next + PIECE).min(self.image.len());
                [&[DATA], &(self.next as u32).to_be_bytes()[..], &self.image[self.next..end]].concat()
            }
            Step::Finish => vec![FINISH],
            Step::Run => vec![RUN],
            Step::Done => return None,
        };
        Some(frame(&bytes))
    }

    /// Takes a frame of the bootloader's; what answers another request is let go.
    ///
    /// # Errors
    /// [`UpdateError::Rejected`].
    pub fn answer(&mut self, frame: &[u8]) -> Result<(), UpdateError> {
        let (expected, [request, result, body @ ..]) = (self.expected(), frame) else { return Ok(()) };
        if Some(*request) != expected {
            return Ok(());
        }
        let next = body.first_chunk().map(|next| u32::from_be_bytes(*next) as usize);
        match (self.step, Rejection::of(*result), next) {
            (Step::Begin | Step::Data, _, Some(next)) if *result == 0 && next <= self.image.len() => {
                self.next = next;
                self.step = if next == self.image.len() { Step::Finish } else { Step::Data };
            }
            (Step::Finish, ..) if *result == 0 => self.step = Step::Run,
            (Step::Run, ..) if *result == 0 => self.step = Step::Done,
            // It began anew in between.
            (Step::Data | Step::Finish, Rejection::NotBegun | Rejection::OutOfOrder, _)
                if self.restarts < RESTARTS =>
            {
                self.restarts += 1;
                self.step = Step::Begin;
            }
            (_, rejection, _) => return Err(UpdateError::Rejected(rejection)),
        }
        Ok(())
    }

    fn expected(&self) -> Option<u8> {
        let request = match self.step {
            Step::Begin => BEGIN,
            Step::Data => DATA,
            Step::Finish => FINISH,
            Step::Run => RUN,
            Step::Done => return None,
        };
        Some(request | ANSWER)
    }

    /// Bytes that the bootloader has, and all of them.
    #[must_use]
    pub fn progress(&self) -> (usize, usize) {
        (self.next, self.image.len())
    }

    /// Returns true if the bootloader has verified it.
    #[must_use]
    pub fn is_verified(&self) -> bool {
        matches!(self.step, Step::Run | Step::Done)
    }
}
