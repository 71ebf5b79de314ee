//! Contents of a meter's EEPROM, read as `docs/reference/protocol.md` ("Provisioning") and the
//! headers of `device/meter` lay it out. It shares no code with the firmware.

use std::ops::Range;

/// Bytes of the memory.
pub const BYTES: usize = 1024;
/// Numbers that a meter reserves at once: `device/meter/numbers.h`.
pub const BLOCK: u32 = 256;

const NUMBERS: (usize, usize) = (120, 12);
const SETTINGS: (usize, usize) = (156, 32);
const JOURNAL: usize = 256;
/// A record of a key of suite 6, behind [`BYTES`].
const EPOCH_KEY: usize = 52;
/// Bytes at whose multiples records of the journal begin.
const CELL: usize = 9;
/// Number of cells, and the fewest that a record takes.
pub const CELLS: usize = 85;
const CELLS_LEAST: usize = 5;
/// Bytes of a report's message, by suite.
const MESSAGE: [usize; 7] = [16, 36, 36, 112, 144, 36, 36];
/// Before the message: what the record is, and n.
const BEFORE: usize = 5;
const CHECK: usize = 4;

/// Reserved numbers n.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Numbers {
    /// The first that is not.
    pub limit: u32,
    pub starts: u32,
}

/// Settings that commands have made, with the last command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    pub m: u32,
    pub result: u8,
    pub values: Values,
}

/// Values that commands set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Values {
    pub suite: u8,
    pub interval_s: u16,
    pub meter: u16,
    pub address: u8,
    pub collector_address: u8,
    pub voltage_uv: u32,
    pub current_ua: u32,
    pub phase: i16,
}

/// A key of suite 6, and whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochKey {
    pub epoch: u32,
    pub key: [u8; 32],
}

/// A report in the journal, whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    pub n: u32,
    pub alert: bool,
    pub cells: Range<usize>,
    pub message: Vec<u8>,
}

fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn half(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Difference of a record's check from the right one: 0 where it is whole.
fn difference(letters: &[u8; 4], record: &[u8]) -> u32 {
    let (text, check) = record.split_at(record.len() - CHECK);
    let mut found = crc32fast::Hasher::new();
    found.update(letters);
    found.update(text);
    found.finalize() ^ word(check, 0)
}

/// Of three slots, the record that begins with the highest number. One counts also where only its
/// last byte is not as it has to be (`device/meter/record.h`), but for a reader that asks for whole
/// ones.
fn newest<'a>(
    image: &'a [u8; BYTES],
    (at, len): (usize, usize),
    letters: &[u8; 4],
    whole: bool,
) -> Option<&'a [u8]> {
    let most = if whole { 0 } else { 0xff };
    let slots = image[at..at + 3 * len].chunks(len);
    // The first of those with the same number, as in the firmware.
    slots.filter(|slot| difference(letters, slot) <= most).rev().max_by_key(|slot| word(slot, 0))
}

/// The numbers that a start finds; with `whole` those that are reserved for certain.
pub fn numbers(image: &[u8; BYTES], whole: bool) -> Option<Numbers> {
    let record = newest(image, NUMBERS, b"WSN1", whole)?;
    Some(Numbers { limit: word(record, 0), starts: word(record, 4) })
}

/// The settings that a start finds; with `whole` those that stand for certain.
pub fn settings(image: &[u8; BYTES], whole: bool) -> Option<Settings> {
    let record = newest(image, SETTINGS, b"WSS1", whole)?;
    let values = Values {
        suite: record[9],
        interval_s: half(record, 10),
        meter: half(record, 12),
        address: record[14],
        collector_address: record[15],
        voltage_uv: word(record, 16),
        current_ua: word(record, 20),
        phase: half(record, 24) as i16,
    };
    Some(Settings { m: word(record, 4), result: record[8], values })
}

/// The key of suite 6 that a start finds in what the memory has behind all else; with `whole` the
/// one that stands for certain. `None`: that of the provisioning, epoch 0.
pub fn epoch_key(slots: &[u8], whole: bool) -> Option<EpochKey> {
    let most = if whole { 0 } else { 0xff };
    let slots = slots.chunks_exact(EPOCH_KEY);
    let standing = slots.filter(|slot| difference(b"WSK1", slot) <= most);
    let record = standing.rev().max_by_key(|slot| word(slot, 0))?;
    Some(EpochKey { epoch: word(record, 8), key: record[16..48].try_into().ok()? })
}

/// Cells that a report of a suite takes.
pub fn cells(suite: u8) -> usize {
    (BEFORE + MESSAGE[usize::from(suite)] + CHECK).div_ceil(CELL).max(CELLS_LEAST)
}

/// The reports that are whole, in the order of their n.
pub fn journal(image: &[u8; BYTES]) -> Vec<Record> {
    let mut records: Vec<Record> = (0..CELLS).filter_map(|cell| record_at(image, cell)).collect();
    records.sort_by_key(|record| record.n);
    records
}

fn record_at(image: &[u8; BYTES], cell: usize) -> Option<Record> {
    let from = &image[JOURNAL + cell * CELL..];
    let (info, suite) = (from[0], from[0] & 7);
    let len = *MESSAGE.get(usize::from(suite)).filter(|_| info & 0xf0 == 0x50)?;
    let cells = cell..cell + cells(suite);
    let record = from.get(..BEFORE + len + CHECK).filter(|_| cells.end <= CELLS)?;
    (difference(b"WSJ1", record) == 0).then(|| Record {
        n: word(record, 1),
        alert: info & 8 != 0,
        cells,
        message: record[BEFORE..BEFORE + len].to_vec(),
    })
}
