//! Flash with a bootloader's journal and its two slots, whose power can fail within any erasure of
//! a sector and any word that is programmed: then some of the bits that were to change have
//! changed, and the others have not.
//!
//! Images here have a check sum in the place of a signature: what signatures are worth, the tests
//! of the bootloader see.

/// Bytes of a sector.
pub const SECTOR: usize = 0x1000;
/// Offsets of the slots.
pub const SLOTS: [usize; 2] = [0x2000, 0x6000];
/// Bytes of a slot.
pub const SLOT_BYTES: usize = 0x4000;
/// Nanoseconds that the erasure of a sector takes, in which the processor stands still.
pub const ERASE_NS: u64 = 250_000_000;

const HEADER: usize = 512;
const SIGNATURE: usize = 44;
/// `ws_boot_journal`'s record, and its mark.
const RECORD: usize = 24;

#[derive(Clone, Debug)]
pub struct Flash {
    bytes: Vec<u8>,
    /// Erasures and words so far.
    operations: u64,
    /// Until the power fails in the next; and the bits that have changed then.
    left: Option<(u64, u8)>,
    off: bool,
}

impl Flash {
    /// A part whose first slot has this image, which has reported in.
    ///
    /// # Panics
    /// Panics where the image is longer than a slot.
    #[must_use]
    pub fn with(image: &[u8]) -> Flash {
        let mut bytes = vec![0xff; SLOTS[1] + SLOT_BYTES];
        bytes[SLOTS[0]..SLOTS[0] + image.len()].copy_from_slice(image);
        let mut record =
            [0, 0, 0, 1, image[20], image[21], image[22], image[23], 0, 0xff, 0, 0xff, 0, 0, 0, 0].to_vec();
        let check = crc32fast::hash(&[b"WSB1", &record[..]].concat());
        record.extend(check.to_be_bytes());
        record.extend([0; 4]);
        bytes[..RECORD].copy_from_slice(&record);
        Flash { bytes, operations: 0, left: None, off: false }
    }

    /// An image of this version for a slot, with a program that nobody runs.
    #[must_use]
    pub fn image(slot: usize, version: u32, program: &[u8]) -> Vec<u8> {
        let mut image = b"WSI1host".to_vec();
        image.resize(20, 0);
        let length = HEADER + program.len().next_multiple_of(4);
        for number in [version, SLOTS[slot] as u32, HEADER as u32, length as u32, SIGNATURE as u32] {
            image.extend(number.to_be_bytes());
        }
        image.resize(HEADER, 0);
        image.extend_from_slice(program);
        image.resize(length, 0xff);
        image.extend(signature(&image));
        image
    }

    /// Returns true if a slot's contents are whole, by its header's sizes.
    #[must_use]
    pub(crate) fn is_good(&self, slot: usize, length: usize) -> bool {
        let slot = &self.bytes[SLOTS[slot]..][..SLOT_BYTES];
        slot.get(length..length + SIGNATURE).is_some_and(|there| there == signature(&slot[..length]))
    }

    /// Returns the contents of a slot.
    #[must_use]
    pub fn slot(&self, slot: usize) -> &[u8] {
        &self.bytes[SLOTS[slot]..][..SLOT_BYTES]
    }

    /// Erasures and words that were programmed.
    #[must_use]
    pub fn operations(&self) -> u64 {
        self.operations
    }

    /// The power fails within the `operations + 1`th from here, of which these bits have changed.
    pub fn cut_after(&mut self, operations: u64, torn: u8) {
        self.left = Some((operations, torn));
    }

    /// The power does not fail so, where it has not yet.
    pub fn keep_power(&mut self) {
        self.left = None;
    }

    /// Returns true if the power has failed during a write.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// The part starts: where its power had failed, that is over.
    pub(crate) fn start(&mut self) {
        if self.off {
            (self.off, self.left) = (false, None);
        }
    }

    pub(crate) fn read(&self, at: usize, out: &mut [u8]) {
        out.copy_from_slice(&self.bytes[at..at + out.len()]);
    }

    /// Erases a sector. Returns whether there is power.
    pub(crate) fn erase(&mut self, at: usize) -> bool {
        self.change(at / SECTOR * SECTOR, &[0xff; SECTOR])
    }

    /// Programs a word. Returns whether there is power.
    pub(crate) fn program(&mut self, at: usize, word: [u8; 4]) -> bool {
        let there = self.bytes[at..at + 4].iter();
        let programmed: Vec<u8> = there.zip(word).map(|(there, byte)| there & byte).collect();
        self.change(at, &programmed)
    }

    fn change(&mut self, at: usize, to: &[u8]) -> bool {
        if self.off {
            return false;
        }
        self.operations += 1;
        let torn = match &mut self.left {
            Some((0, torn)) => {
                self.off = true;
                *torn
            }
            Some((left, _)) => {
                *left -= 1;
                0xff
            }
            None => 0xff,
        };
        for (there, to) in self.bytes[at..].iter_mut().zip(to) {
            *there ^= (*there ^ to) & torn;
        }
        !self.off
    }
}

fn signature(signed: &[u8]) -> Vec<u8> {
    let check = crc32fast::hash(signed).to_be_bytes();
    check.repeat(SIGNATURE / check.len())
}
