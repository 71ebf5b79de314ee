//! Images without names: Intel HEX, S-records, UF2, raw binaries.

use super::{Firmware, elf_machine, sdld};
use crate::map::MapSymbol;
use crate::symbols::{Footprint, Function, Symbol};
use crate::{FirmwareError, map, names};
use mcu::{CoreName, Image, Segment};
use object::elf;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Bytes that no part's memories together have.
const MOST_BYTES: usize = 64 << 20;

/// Address and names of a file that does not say them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loading {
    /// Address of a raw binary's first byte.
    pub base: Option<u32>,
    /// GNU ld's map of the program.
    pub map: Option<PathBuf>,
}

/// Bytes and where they go.
pub(super) struct Bare {
    pub image: Image,
    /// The format, as a noun.
    pub format: &'static str,
    /// The part that a UF2 file is for.
    pub family: Option<&'static str>,
}

/// Families of UF2 files by their numbers, and the beginnings of the names of their targets
/// (github.com/microsoft/uf2, utils/uf2families.json).
const FAMILIES: [(u32, &str); 10] = [
    (0xe48b_ff56, "rp2040"),
    (0x68ed_2b88, "samd21"),
    (0xada5_2840, "nrf52840"),
    (0x6478_24b6, "stm32f0"),
    (0x5ee2_1072, "stm32f1"),
    (0x5775_5a57, "stm32f4"),
    (0x6d09_22fa, "stm32f407"),
    (0x8fb0_60fe, "stm32f407"),
    (0x53b8_0f00, "stm32f7"),
    (0x00ff_6919, "stm32l4"),
];

/// Reads a file by its first bytes; none where no format has these and no address is given.
///
/// # Errors
/// A sentence with what is wrong, and where.
pub(super) fn read(bytes: &[u8], base: Option<u32>) -> Result<Option<Bare>, String> {
    let bare = |format, image| Ok(Some(Bare { image, format, family: None }));
    match (bytes, base) {
        ([], _) => Ok(None),
        (bytes, Some(address)) => {
            if is_known(bytes) {
                return Err(
                    "--base is for a raw binary, and this file says its addresses itself; leave it out"
                        .into(),
                );
            }
            if address.checked_add(u32::try_from(bytes.len()).unwrap_or(u32::MAX)).is_none() {
                return Err(format!("{} bytes at {address:#x} are past the last address", bytes.len()));
            }
            bare("a raw binary", Image { segments: vec![Segment { address, bytes: bytes.to_vec() }] })
        }
        ([b':', ..], None) => bare("an Intel hex file", sdld::image(text(bytes)?)?),
        ([b'S', b'0'..=b'9', ..], None) => bare("a file of S-records", s_records(text(bytes)?)?),
        ([b'U', b'F', b'2', b'\n', ..], None) => {
            let (image, family) = uf2(bytes)?;
            Ok(Some(Bare { image, format: "a UF2 file", family }))
        }
        _ => Ok(None),
    }
}

/// Returns true if a file begins as those do that say their addresses.
fn is_known(bytes: &[u8]) -> bool {
    let is_hex = bytes.starts_with(b":") && text(bytes).is_ok_and(|text| sdld::image(text).is_ok());
    let is_s =
        matches!(bytes, [b'S', b'0'..=b'9', ..]) && text(bytes).is_ok_and(|text| s_records(text).is_ok());
    is_hex || is_s || bytes.starts_with(b"\x7fELF") || bytes.starts_with(b"UF2\n")
}

fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|error| format!("byte {}: no text", error.valid_up_to()))
}

/// Adds bytes behind the last segment, or as a segment of their own.
fn add(segments: &mut Vec<Segment>, address: u32, bytes: &[u8]) -> Result<(), String> {
    if segments.iter().map(|segment| segment.bytes.len()).sum::<usize>() + bytes.len() > MOST_BYTES {
        return Err("more bytes than any part has".into());
    }
    match segments.last_mut() {
        Some(last) if last.address.wrapping_add(last.bytes.len() as u32) == address => {
            last.bytes.extend(bytes);
        }
        _ => segments.push(Segment { address, bytes: bytes.to_vec() }),
    }
    Ok(())
}

/// Motorola's S-records: S1, S2 and S3 have data behind addresses of two, three and four bytes; the
/// last byte makes the sum 0xff.
fn s_records(text: &str) -> Result<Image, String> {
    let mut segments = Vec::new();
    for (number, line) in text.lines().enumerate().map(|(number, line)| (number + 1, line.trim())) {
        if line.is_empty() {
            continue;
        }
        let wrong = |what: &str| format!("line {number}: {what}");
        let digits = line.strip_prefix('S').filter(|rest| rest.is_ascii() && !rest.len().is_multiple_of(2));
        let digits = digits.ok_or_else(|| wrong("no S-record"))?;
        let (kind, digits) = digits.split_at(1);
        let pair = |at: usize| u8::from_str_radix(&digits[at..at + 2], 16);
        let bytes: Result<Vec<u8>, _> = (0..digits.len()).step_by(2).map(pair).collect();
        let bytes = bytes.map_err(|_| wrong("a digit that is none of a hexadecimal number"))?;
        let [count, record @ .., sum] = bytes.as_slice() else { return Err(wrong("too short")) };
        if usize::from(*count) != record.len() + 1 {
            return Err(wrong("another length than it says; the file is cut short or damaged"));
        }
        let total = record.iter().fold(*count, |total, byte| total.wrapping_add(*byte)).wrapping_add(*sum);
        if total != 0xff {
            return Err(wrong("a wrong checksum; the file is damaged"));
        }
        let width = match kind {
            "1" => 2,
            "2" => 3,
            "3" => 4,
            "0" | "5" | "6" | "7" | "8" | "9" => continue,
            _ => return Err(wrong("no S-record")),
        };
        let (address, data) = record.split_at_checked(width).ok_or_else(|| wrong("too short"))?;
        let address = address.iter().fold(0, |address, byte| address << 8 | u32::from(*byte));
        add(&mut segments, address, data)?;
    }
    loaded(segments)
}

fn loaded(mut segments: Vec<Segment>) -> Result<Image, String> {
    segments.retain(|segment| !segment.bytes.is_empty());
    if segments.is_empty() {
        return Err("nothing to load in it".into());
    }
    Ok(Image { segments })
}

/// UF2, blocks of 512 bytes (github.com/microsoft/uf2): magic numbers, flags, address, bytes,
/// number and count of blocks, family.
fn uf2(bytes: &[u8]) -> Result<(Image, Option<&'static str>), String> {
    const BLOCK: usize = 512;
    const MAGIC: [(usize, u32); 3] = [(0, 0x0a32_4655), (4, 0x9e5d_5157), (508, 0x0ab1_6f30)];
    const NOT_MAIN_FLASH: u32 = 0x1;
    const FILE_CONTAINER: u32 = 0x1000;
    const FAMILY_ID: u32 = 0x2000;
    const MOST_PAYLOAD: u32 = 476;
    if !bytes.len().is_multiple_of(BLOCK) {
        return Err(format!(
            "{} bytes, and a UF2 file has blocks of {BLOCK}; the file is cut short",
            bytes.len()
        ));
    }
    let (mut segments, mut family, mut blocks) = (Vec::new(), None, 0);
    let mut announced = 0;
    for (number, block) in bytes.chunks_exact(BLOCK).enumerate() {
        let word = |at: usize| u32::from_le_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
        if MAGIC.iter().any(|(at, magic)| word(*at) != *magic) {
            return Err(format!("block {number}: no block of a UF2 file"));
        }
        let (flags, address, payload) = (word(8), word(12), word(16));
        if flags & (NOT_MAIN_FLASH | FILE_CONTAINER) != 0 {
            continue;
        }
        if payload > MOST_PAYLOAD {
            return Err(format!("block {number}: {payload} bytes, and a block has {MOST_PAYLOAD} at most"));
        }
        if flags & FAMILY_ID != 0 {
            let of_block = word(28);
            // A block of another family, such as a workaround's of a boot ROM, is not for this
            // part.
            if family.is_some_and(|family| family != of_block) {
                continue;
            }
            family = Some(of_block);
        }
        announced = announced.max(word(24));
        blocks += 1;
        add(&mut segments, address, &block[32..32 + payload as usize])?;
    }
    if announced > blocks {
        return Err(format!("{blocks} of {announced} blocks; the file is cut short"));
    }
    let family = family.and_then(|family| FAMILIES.iter().find(|(number, _)| *number == family));
    Ok((loaded(segments)?, family.map(|(_, name)| *name)))
}

impl Firmware {
    /// Firmware of bytes alone.
    pub(super) fn of_bare(path: &Path, core: CoreName, bare: Bare) -> Firmware {
        let flash = bare.image.segments.iter().map(|segment| segment.bytes.len() as i64).sum();
        let code = bare.image.segments.iter();
        let code =
            code.map(|segment| segment.address..segment.address.saturating_add(segment.bytes.len() as u32));
        Firmware {
            path: path.into(),
            core,
            symbols: BTreeMap::new(),
            functions: Vec::new(),
            marks: Vec::new(),
            footprint: Footprint { flash, ram: 0 },
            pieces: Vec::new(),
            code: code.collect(),
            device: bare.family.map(str::to_owned),
            is_device_certain: bare.family.is_some(),
            has_sections: false,
            format: bare.format,
            lines: None,
            image: bare.image,
        }
    }

    /// Takes the names of a linker's map.
    ///
    /// # Errors
    /// [`FirmwareError::File`], [`FirmwareError::BadFile`] for what is no such map.
    pub(super) fn take_map(&mut self, path: &Path) -> Result<(), FirmwareError> {
        let bytes = std::fs::read(path).map_err(|error| FirmwareError::File { path: path.into(), error })?;
        let bad = |problem| FirmwareError::BadFile { path: path.into(), problem };
        let mask = self.address_mask();
        for MapSymbol { name, address, size, is_code } in
            map::read(&String::from_utf8_lossy(&bytes)).map_err(bad)?
        {
            let address = if is_code { address & mask } else { address };
            if is_code && self.is_code(address) {
                self.add_function(Function { name: name.clone(), address, size });
            }
            self.symbols.entry(name).or_insert(Symbol { address, size });
        }
        Ok(())
    }

    /// Thumb's addresses of functions are odd, and their instructions are not.
    fn address_mask(&self) -> u32 {
        if elf_machine(self.core) == elf::EM_ARM { !1 } else { !0 }
    }

    /// Makes functions of addresses that are asked for, where none is known to be there.
    pub fn name_functions(&mut self, asked: &[String]) {
        for name in asked {
            let Some(address) = names::address(name) else { continue };
            let address = address & self.address_mask();
            if self.is_code(address)
                && self.function_at(address).is_none_or(|index| self.functions[index].size == 0)
            {
                self.add_function(Function { name: name.clone(), address, size: 0 });
            }
        }
    }

    fn add_function(&mut self, function: Function) {
        if let Err(index) = self.functions.binary_search_by_key(&function.address, |known| known.address) {
            self.functions.insert(index, function);
        }
    }

    /// Remark on what the file cannot say, where there is anything.
    #[must_use]
    pub fn lacks(&self) -> Option<String> {
        let path = self.path.display();
        let format = self.format;
        let what = match (self.functions.is_empty(), self.has_sections) {
            (false, true) => return None,
            (false, false) => "no sizes of RAM and no source lines",
            (true, false) => "no names, no source lines and no sizes of RAM",
            (true, true) => "no names",
        };
        let map =
            if self.functions.is_empty() { "; name functions by their addresses, or give --map" } else { "" };
        Some(format!("{path} is {format}, which has {what}{map}"))
    }

    /// Returns true if the file says how much RAM its variables take.
    #[must_use]
    pub fn has_sections(&self) -> bool {
        self.has_sections
    }

    /// The part that the file is for without a doubt, as the beginning of its target's name.
    #[must_use]
    pub fn certain_device(&self) -> Option<&str> {
        self.device.as_deref().filter(|_| self.is_device_certain)
    }
}

#[cfg(test)]
mod tests;
