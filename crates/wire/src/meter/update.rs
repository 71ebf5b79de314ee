//! An image of a meter's firmware by radio, both sides' bytes: docs/reference/protocol.md, "Firmware by
//! radio".

use super::{Channel, Fields, MessageKind, MeterId, NotAuthentic, Record, Suite};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::sync::Arc;

/// The lowest three bits of byte 1 of a packet.
const PIECE: u8 = 7;
/// Bytes of an image in a piece.
pub(super) const DATA: usize = 36;
const TAG: usize = 16;
/// Bytes of a packet before what is sealed: as others, and the index or state.
const HEADER: usize = 7;
/// The first number that is no index.
const INDICES: u16 = 0xf000;
/// The first state that is a result, and the last.
const RESULTS: u16 = 0xfc00;
const LAST_RESULT: u16 = 0xfcff;
/// The lowest number in the nonce of pieces and replies: above those of renewals.
const PIECES_FROM: u16 = 0x0200;
/// Bytes of an image that name it.
const FIELDS: usize = 40;
/// The largest size that a command can give.
const BYTES_MAX: usize = (1 << 24) - 1;

/// A signed image of a meter's firmware: docs/how-to/firmware-update.md, "Image". The meter's bootloader
/// verifies the signature.
#[derive(Clone, PartialEq, Eq)]
pub struct Image {
    bytes: Arc<[u8]>,
    digest: [u8; 32],
}

impl Image {
    /// `None` for what is none, or not all of one: any bytes.
    #[must_use]
    pub fn new(bytes: impl Into<Arc<[u8]>>) -> Option<Image> {
        let bytes = bytes.into();
        let mut sizes = Fields(bytes.get(32..FIELDS)?);
        let (length, signature) = (sizes.u32() as usize, sizes.u32() as usize);
        let is_one = bytes.starts_with(b"WSI1")
            && length.checked_add(signature) == Some(bytes.len())
            && bytes.len().is_multiple_of(4)
            && bytes.len() <= BYTES_MAX
            && bytes.len().div_ceil(DATA) < usize::from(INDICES);
        let digest = Sha256::digest(&bytes).into();
        is_one.then_some(Image { bytes, digest })
    }

    /// Header, program, signature.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The SHA-256 of all its bytes.
    #[must_use]
    pub fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// Its version: a meter that has confirmed one takes no lower one.
    #[must_use]
    pub fn version(&self) -> u32 {
        self.field(20)
    }

    /// The address of the slot that it is linked for.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.field(24)
    }

    /// The name of the target that it is built for; `None`: it has none that is one, up to 16
    /// letters, digits and hyphens, and zeros behind.
    #[must_use]
    pub fn target(&self) -> Option<&str> {
        let field = &self.bytes[4..20];
        let end = field.iter().position(|byte| *byte == 0).unwrap_or(field.len());
        let (name, rest) = field.split_at(end);
        let is_name = name.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'-');
        str::from_utf8(name)
            .ok()
            .filter(|name| !name.is_empty() && is_name && rest.iter().all(|byte| *byte == 0))
    }

    fn field(&self, at: usize) -> u32 {
        Fields(&self.bytes[at..]).u32()
    }

    /// Returns the meter's name for the image: the CRC-32 of its header (ISO 3309).
    #[must_use]
    pub fn check(&self) -> u32 {
        crc32fast::hash(&self.bytes[..FIELDS])
    }

    /// Returns the number of pieces that it is sent in.
    #[must_use]
    pub fn pieces(&self) -> u16 {
        self.bytes.len().div_ceil(DATA) as u16
    }

    /// A piece, behind the end zeros.
    pub(super) fn piece(&self, index: u16) -> [u8; DATA] {
        let mut data = [0; DATA];
        if let Some(piece) = self.bytes.chunks(DATA).nth(index.into()) {
            data[..piece.len()].copy_from_slice(piece);
        }
        data
    }
}

impl std::fmt::Debug for Image {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Image(version {}, {} bytes)", self.version(), self.bytes.len())
    }
}

/// Why a meter refuses an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageRefusal {
    /// Its header is not the one that was told of, or none.
    NoImage,
    /// It is another target's.
    OtherTarget,
    /// It is linked for the slot that runs.
    OtherSlot,
    /// Its version is below the one that was confirmed.
    Old,
    /// It is larger than a slot.
    Large,
    /// The meter's flash does not keep it.
    NotKept,
    /// The image that runs is on trial itself.
    OnTrial,
    /// A refusal that this version does not know.
    Other(u8),
}

impl ImageRefusal {
    /// Returns the reason of this number: that of the bootloader's results, and 20.
    #[must_use]
    pub fn from_code(code: u8) -> ImageRefusal {
        match code {
            1 => ImageRefusal::NoImage,
            2 => ImageRefusal::OtherTarget,
            3 => ImageRefusal::OtherSlot,
            4 => ImageRefusal::Old,
            5 => ImageRefusal::Large,
            18 => ImageRefusal::NotKept,
            20 => ImageRefusal::OnTrial,
            code => ImageRefusal::Other(code),
        }
    }

    /// Returns its number.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            ImageRefusal::NoImage => 1,
            ImageRefusal::OtherTarget => 2,
            ImageRefusal::OtherSlot => 3,
            ImageRefusal::Old => 4,
            ImageRefusal::Large => 5,
            ImageRefusal::NotKept => 18,
            ImageRefusal::OnTrial => 20,
            ImageRefusal::Other(code) => code,
        }
    }
}

/// A meter's reply to a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PieceReply {
    /// The piece with this index is wanted next; as many as there are: all is there.
    Wants(u16),
    /// It is over.
    Refuses(ImageRefusal),
}

/// A piece of an image, or the reply to one. Nothing of it is true before it has been opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UpdatePacket<'a> {
    /// Radio address of who is to hear it.
    pub address: u8,
    /// A command, the collector's, or an answer, the meter's.
    pub kind: MessageKind,
    /// The meter's.
    pub suite: Suite,
    /// The meter that sent it or is to hear it, as it was registered last.
    pub meter: MeterId,
    /// The lowest byte of the m of the command that began it.
    pub number_lsb: u8,
    /// A piece's index; a reply's state.
    pub number: u16,
    sealed: &'a [u8],
}

impl<'a> UpdatePacket<'a> {
    /// `None` for what is none: any bytes.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<UpdatePacket<'a>> {
        let (header, sealed) = bytes.split_first_chunk::<HEADER>()?;
        let mut fields = Fields(header);
        let (address, what, meter) = (fields.u8(), fields.u8(), fields.u16());
        let (number_lsb, number) = (fields.u8(), fields.u16());
        let kind = MessageKind::from_code(what >> 6);
        let suite = Suite::from_code(what >> 3 & 7).filter(|suite| suite.has_pieces())?;
        let is_one = match kind {
            MessageKind::Command => sealed.len() == DATA + TAG && number < INDICES,
            MessageKind::Answer => {
                sealed.len() == TAG && (number < INDICES || (RESULTS..=LAST_RESULT).contains(&number))
            }
            _ => false,
        };
        (is_one && what & 7 == PIECE && meter != 0).then_some(UpdatePacket {
            address,
            kind,
            suite,
            meter,
            number_lsb,
            number,
            sealed,
        })
    }
}

fn nonce(kind: MessageKind, suite: Suite, meter: MeterId, m: u32, number: u16) -> [u8; 12] {
    let record = Record::<12>::new().with(&[kind.code(), suite.code()]).with(&meter.to_be_bytes());
    record.with(&[0, 0]).with(&(PIECES_FROM + number).to_be_bytes()).with(&m.to_be_bytes()).bytes
}

/// Returns the bytes of a packet before its number.
fn header(kind: MessageKind, suite: Suite, (address, name): (u8, MeterId), m: u32, number: u16) -> Vec<u8> {
    let what = kind.code() << 6 | suite.code() << 3 | PIECE;
    let ([high, low], [first, second]) = (name.to_be_bytes(), number.to_be_bytes());
    vec![address, what, high, low, m as u8, first, second]
}

impl Channel<'_> {
    /// The packet of a piece of the image that goes with m: the collector's side. to: the meter's
    /// address and name.
    #[must_use]
    pub fn update_piece(
        &self,
        suite: Suite,
        to: (u8, MeterId),
        m: u32,
        index: u16,
        data: &[u8; DATA],
    ) -> Vec<u8> {
        let kind = MessageKind::Command;
        let mut text = *data;
        let tag = self.aead_seal(suite, &nonce(kind, suite, self.meter, m, index), &mut text);
        [&header(kind, suite, to, m, index)[..], &text, &tag].concat()
    }

    /// The bytes of an image that a packet carries: the meter's side.
    ///
    /// # Errors
    /// [`NotAuthentic`]: not a piece of the image that goes with m, or changed.
    pub fn open_update_piece(&self, packet: &UpdatePacket<'_>, m: u32) -> Result<[u8; DATA], NotAuthentic> {
        let (text, tag) = packet.sealed.split_first_chunk::<DATA>().ok_or(NotAuthentic)?;
        let mut data = *text;
        let nonce = nonce(packet.kind, packet.suite, self.meter, m, packet.number);
        self.aead_open(packet.suite, &nonce, &mut data, tag)?;
        Ok(data)
    }

    /// The packet of a reply: the meter's side. state: the index that is wanted, or 0xfc00 and a
    /// result.
    #[must_use]
    pub fn update_reply(&self, suite: Suite, to: (u8, MeterId), m: u32, state: u16) -> Vec<u8> {
        let kind = MessageKind::Answer;
        let tag = self.aead_seal(suite, &nonce(kind, suite, self.meter, m, state), &mut []);
        [&header(kind, suite, to, m, state)[..], &tag].concat()
    }

    /// Opens a reply to a piece.
    ///
    /// # Errors
    /// [`NotAuthentic`]: not to a piece of the image that goes with m, or changed.
    pub fn open_update_reply(&self, packet: &UpdatePacket<'_>, m: u32) -> Result<PieceReply, NotAuthentic> {
        if packet.kind != MessageKind::Answer {
            return Err(NotAuthentic);
        }
        let nonce = nonce(packet.kind, packet.suite, self.meter, m, packet.number);
        self.aead_open(packet.suite, &nonce, &mut [], packet.sealed)?;
        Ok(match packet.number {
            result @ RESULTS.. => PieceReply::Refuses(ImageRefusal::from_code(result as u8)),
            index => PieceReply::Wants(index),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Identity, MeterKeys, PublicKey};
    use super::*;
    use testkit::vectors::meter_protocol;

    fn bytes(hex: &str) -> Vec<u8> {
        let digits = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).expect("hexadecimal");
        (0..hex.len()).step_by(2).map(digits).collect()
    }

    /// `crates/testkit/vectors/meter-update.txt`, which an independent program made.
    #[test]
    fn pieces_and_replies_match_the_independent_program() {
        let (case, _) = meter_protocol();
        let keys = MeterKeys::new(case.key128, case.key256);
        let own = Identity::from_private_bytes(&case.collector_private).expect("a key");
        let peer = PublicKey::from_bytes(&case.meter_public).expect("a point");
        let channel = Channel { meter: case.provisioned, keys: &keys, own: &own, peer: &peer };
        let file = include_str!("../../../testkit/vectors/meter-update.txt");
        let (mut image, mut m, mut seen) = (None, 0, 0);
        for line in file.lines() {
            let Some((name, hex)) = line.split_once(" = ") else { continue };
            let given = bytes(hex);
            match name {
                "bytes" => image = Image::new(given),
                "command" => {
                    let image = image.as_ref().expect("an image");
                    let (number, command) =
                        super::super::Command::from_bytes(&given[..].try_into().expect("16 bytes"))
                            .expect("a command");
                    m = number;
                    let expected = super::super::Command::UpdateFirmware {
                        bytes: image.bytes().len() as u32,
                        version: image.version(),
                        header: image.check(),
                    };
                    assert_eq!((command, image.version(), image.address()), (expected, 7, 0x0808_0000));
                }
                _ => {
                    let image = image.as_ref().expect("an image");
                    let packet = UpdatePacket::parse(&given).expect("a packet");
                    let (suite, number) = (packet.suite, packet.number);
                    assert_eq!((packet.meter, packet.number_lsb), (case.name, m as u8));
                    let made = if name == "piece" {
                        let data = image.piece(number);
                        assert_eq!(channel.open_update_piece(&packet, m), Ok(data));
                        assert!(channel.open_update_reply(&packet, m).is_err());
                        channel.update_piece(suite, (case.meter_address, case.name), m, number, &data)
                    } else {
                        let said = match number {
                            0xfc03 => PieceReply::Refuses(ImageRefusal::OtherSlot),
                            index => PieceReply::Wants(index),
                        };
                        assert_eq!(channel.open_update_reply(&packet, m), Ok(said));
                        channel.update_reply(suite, (case.collector_address, case.name), m, number)
                    };
                    assert_eq!(made, given);
                    is_bound(&channel, &given, m);
                    seen += 1;
                }
            }
        }
        assert_eq!((seen, image.expect("an image").pieces()), (4 * 7, 19));
    }

    /// Index, state, suite, kind, m and each byte of what is sealed are part of what is authentic;
    /// name and addresses are not.
    fn is_bound(channel: &Channel<'_>, packet: &[u8], m: u32) {
        let opens = |packet: &[u8], m: u32| {
            UpdatePacket::parse(packet).is_some_and(|packet| match packet.kind {
                MessageKind::Command => channel.open_update_piece(&packet, m).is_ok(),
                _ => channel.open_update_reply(&packet, m).is_ok(),
            })
        };
        assert!(opens(packet, m) && !opens(packet, m ^ 1));
        for bit in (8..16).chain(40..8 * packet.len()) {
            let mut changed = packet.to_vec();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!opens(&changed, m), "bit {bit}");
        }
    }

    #[test]
    fn malformed_update_packet_is_refused() {
        let piece = |what: u8, number: u16, len: usize| {
            let [first, second] = number.to_be_bytes();
            let mut packet = vec![1, what, 0, 9, 0, first, second];
            packet.resize(len, 0);
            packet
        };
        let is_one = |packet: &[u8]| UpdatePacket::parse(packet).is_some();
        assert!(
            is_one(&piece(3 << 6 | 1 << 3 | 7, 0xefff, 59)) && is_one(&piece(1 << 6 | 1 << 3 | 7, 0, 23))
        );
        assert!(is_one(&piece(1 << 6 | 1 << 3 | 7, 0xfcff, 23)));
        // Numbers that would be another message's nonce, kinds, suites and lengths that there are
        // not.
        for (what, number, len) in [
            (3 << 6 | 1 << 3 | 7, 0xf000, 59),
            (3 << 6 | 1 << 3 | 7, 0xfe00, 59),
            (1 << 6 | 1 << 3 | 7, 0xfe00, 23),
            (1 << 6 | 1 << 3 | 7, 0xf000, 23),
            (2 << 6 | 1 << 3 | 7, 0, 23),
            (1 << 3 | 7, 0, 59),
            (3 << 6 | 7, 0, 59),
            (3 << 6 | 3 << 3 | 7, 0, 59),
            (3 << 6 | 7 << 3 | 7, 0, 59),
            (3 << 6 | 1 << 3 | 6, 0, 59),
            (3 << 6 | 1 << 3 | 7, 0, 58),
            (3 << 6 | 1 << 3 | 7, 0, 23),
            (1 << 6 | 1 << 3 | 7, 0, 59),
        ] {
            assert!(!is_one(&piece(what, number, len)), "{what:#x} {number:#x} {len}");
        }
        assert!(!is_one(&[]) && !is_one(&[0; 6]));
        let mut nobody = piece(3 << 6 | 1 << 3 | 7, 0, 59);
        nobody[3] = 0;
        assert!(!is_one(&nobody));
    }

    #[test]
    fn a_target_has_a_name_of_letters_and_digits() {
        let image = |target: &[u8]| {
            let mut image = b"WSI1".to_vec();
            image.extend(target);
            image.resize(644, 0);
            (image[32..36]).copy_from_slice(&600u32.to_be_bytes());
            (image[36..40]).copy_from_slice(&44u32.to_be_bytes());
            Image::new(image).expect("an image")
        };
        let name = |target: &[u8]| image(target).target().map(str::to_owned);
        assert_eq!(name(b"stm32f407").as_deref(), Some("stm32f407"));
        assert_eq!(name(b"sixteen-letters0").as_deref(), Some("sixteen-letters0"));
        for none in [&b""[..], b"stm 32", b"stm\n", b"a\0b", b"\0a", b"caf\xc3\xa9", b"\xff"] {
            assert_eq!(name(none), None, "{none:?}");
        }
    }

    #[test]
    fn malformed_image_is_refused() {
        let image = |length: u32, signature: u32, bytes: usize| {
            let mut image = b"WSI1".to_vec();
            image.resize(bytes, 0);
            if bytes >= FIELDS {
                image[32..36].copy_from_slice(&length.to_be_bytes());
                image[36..40].copy_from_slice(&signature.to_be_bytes());
            }
            Image::new(image).is_some()
        };
        assert!(image(600, 44, 644));
        assert!(!image(600, 44, 643) && !image(600, 44, 0) && !image(600, 44, 39) && !image(600, 43, 643));
        assert!(!image(u32::MAX, 645, 644) && !image(1 << 24, 0, 1 << 24));
        assert!(Image::new(vec![0; 644]).is_none());
    }
}
