//! An image: header, program, signature. Numbers are big-endian; the signature is LMS's over header
//! and program.

use crate::UpdateError;
use crate::key::PublicKey;

/// First bytes of an image.
const MAGIC: [u8; 4] = *b"WSI1";
/// Bytes of the target's name.
const TARGET: usize = 16;
/// Bytes of the header that say anything; the rest, up to the program, is zero.
pub const FIELDS: usize = 40;
/// Bytes before the program, on the targets that there is a bootloader for: its vectors lie at a
/// multiple of 512.
pub const HEADER_BYTES: u32 = 512;
/// Of a program: more than any slot.
const MOST_BYTES: usize = 1 << 24;

/// Header of an image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// The part's name, as its file in `targets/` has it.
    pub target: String,
    /// Higher than that of the image before it.
    pub version: u32,
    /// Address in flash: that of the slot for which it is linked.
    pub address: u32,
    /// Bytes up to the program.
    pub header: u32,
    /// Bytes that are signed: header and program.
    pub length: u32,
    /// Bytes of the signature.
    pub signature: u32,
}

impl Header {
    /// The first bytes of the image.
    fn fields(&self) -> Result<[u8; FIELDS], UpdateError> {
        let name = self.target.as_bytes();
        if name.is_empty() || name.len() > TARGET || !name.iter().all(u8::is_ascii_graphic) {
            let said = format!("'{}' is no target's name: 1 to {TARGET} letters and digits", self.target);
            return Err(UpdateError::Usage(said));
        }
        let mut fields = [0; FIELDS];
        fields[..4].copy_from_slice(&MAGIC);
        fields[4..4 + name.len()].copy_from_slice(name);
        let numbers = [self.version, self.address, self.header, self.length, self.signature];
        for (place, number) in fields[4 + TARGET..].chunks_exact_mut(4).zip(numbers) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        Ok(fields)
    }

    /// Reads it out of an image, whatever that holds. `None` where it is none, or its sizes are not
    /// the image's.
    #[must_use]
    pub fn read(image: &[u8]) -> Option<Header> {
        let fields = image.first_chunk::<FIELDS>()?;
        let number = |index: usize| {
            let at = 4 + TARGET + 4 * index;
            u32::from_be_bytes([fields[at], fields[at + 1], fields[at + 2], fields[at + 3]])
        };
        let name = &fields[4..4 + TARGET];
        let end = name.iter().position(|byte| *byte == 0).unwrap_or(TARGET);
        let target = std::str::from_utf8(&name[..end]).ok()?.to_owned();
        let header = Header {
            target,
            version: number(0),
            address: number(1),
            header: number(2),
            length: number(3),
            signature: number(4),
        };
        let sizes_fit = header.length as usize + header.signature as usize == image.len()
            && header.header as usize >= FIELDS
            && header.header < header.length
            && header.length.is_multiple_of(4);
        (fields[..4] == MAGIC && sizes_fit).then_some(header)
    }
}

/// A program as a linker puts it: its first address, and its bytes, what lies between its pieces as
/// in erased flash.
///
/// # Errors
/// Nothing in it, or pieces too far apart for one flash.
pub fn program<'a>(pieces: impl IntoIterator<Item = (u32, &'a [u8])>) -> Result<(u32, Vec<u8>), UpdateError> {
    let mut pieces: Vec<_> = pieces.into_iter().filter(|(_, bytes)| !bytes.is_empty()).collect();
    pieces.sort_by_key(|(address, _)| *address);
    let Some(&(start, _)) = pieces.first() else {
        return Err(UpdateError::Program("nothing to load in it; give the linked program".into()));
    };
    let mut bytes = Vec::new();
    for (address, piece) in pieces {
        let at = (address - start) as usize;
        if at < bytes.len() || at + piece.len() > MOST_BYTES {
            let said = format!(
                "a piece at {address:#x} does not lie behind the others, from {start:#x} on; link the program for one slot"
            );
            return Err(UpdateError::Program(said));
        }
        bytes.resize(at, 0xff);
        bytes.extend_from_slice(piece);
    }
    Ok((start, bytes))
}

/// Returns the bytes to be signed: header and program. `start` is the program's first address.
///
/// # Errors
/// A target that is no name; a program too near the beginning of memory for a header.
pub fn pack(
    target: &str,
    version: u32,
    start: u32,
    program: &[u8],
    signature: u32,
) -> Result<Vec<u8>, UpdateError> {
    let Some(address) = start.checked_sub(HEADER_BYTES) else {
        let said = format!(
            "the program begins at {start:#x}, and {HEADER_BYTES} bytes of header go before it; link it for a slot (make … SLOT=a)"
        );
        return Err(UpdateError::Program(said));
    };
    if program.is_empty() || program.len() > MOST_BYTES {
        return Err(UpdateError::Program(format!("a program of {} bytes fits no slot", program.len())));
    }
    let padded = program.len().next_multiple_of(4);
    let length = HEADER_BYTES + padded as u32;
    let header = Header { target: target.into(), version, address, header: HEADER_BYTES, length, signature };
    let mut image = header.fields()?.to_vec();
    image.resize(HEADER_BYTES as usize, 0);
    image.extend_from_slice(program);
    image.resize(length as usize, 0xff);
    Ok(image)
}

/// Verifies an image's signature under a key; returns its header.
///
/// # Errors
/// [`UpdateError::Program`] where it is no image, [`UpdateError::Signature`].
pub fn verify(image: &[u8], key: &PublicKey) -> Result<Header, UpdateError> {
    let header = Header::read(image).ok_or_else(|| {
        UpdateError::Program(
            "no signed image, or not all of one; make one with wattseal firmware sign".into(),
        )
    })?;
    let (signed, signature) = image.split_at(header.length as usize);
    if key.verifies(signed, signature) { Ok(header) } else { Err(UpdateError::Signature) }
}
