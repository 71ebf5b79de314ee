//! Replacement of the RP2040's boot ROM: a reset's start of the program, and the functions that
//! programs call.
//!
//! Source: RP2040 datasheet, section 2.8. The code and the tables here are our own, so the time of
//! a function is an estimate of the ROM's.
//!
//! A reset begins where the ROM has found a second stage in the flash: its 256 bytes are at the end
//! of the RAM, and run. Where the flash is empty, a program in RAM begins as the ROM's USB loader
//! would begin it.

mod checksum;

use super::memory::Memory;
use crate::{MemoryKind, Part};
use checksum::checksum;

/// Bytes of the second stage, and where in it the checksum of the others is. The ROM's stack begins
/// below it.
const STAGE_2: u32 = 256;
const CHECKSUM: usize = 252;

/// Bytes before the tables: vectors, and what section 2.8.2 says of the first words.
const FUNCTION_TABLE: u32 = 0x400;
const DATA_TABLE: u32 = 0x480;
const CODE: u32 = 0x20;
/// Tables of 256 bytes: bits set, bits reversed, leading zeros, trailing zeros of a byte.
const BYTE_TABLES: u32 = 0x1000;
/// Function tables of single and of double precision. The byte two before each is its number of
/// words (section 2.8.2.2).
const FLOAT_TABLE: u32 = 0x1500;
const DOUBLE_TABLE: u32 = 0x1600;
const FLOAT_FUNCTIONS: u32 = 32;
/// Breakpoints in place of functions that are not here.
const REFUSED: u32 = 0x2000;
const BREAKPOINT: u16 = 0xbe00;
/// The ROM of version B2, as SYSINFO.CHIP_ID says it.
const VERSION: u8 = 3;

/// Looks a code up in a table of codes and pointers: R0 the table, R1 the code.
const LOOKUP: &[u16] = &[0x8802, 0x2a00, 0xd004, 0x428a, 0xd001, 0x3004, 0xe7f8, 0x8842, 0x0010, 0x4770];
/// By bytes through the tables; R0 the word.
const POPCOUNT32: &[u16] = &[
    0x2310, 0x021b, 0xb2c1, 0x5c5a, 0x0a00, 0xb2c1, 0x5c59, 0x1852, 0x0a00, 0xb2c1, 0x5c59, 0x1852, 0x0a00,
    0x5c18, 0x1880, 0x4770,
];
const REVERSE32: &[u16] = &[
    0x2311, 0x021b, 0xb2c1, 0x5c5a, 0x0212, 0x0a00, 0xb2c1, 0x5c59, 0x430a, 0x0212, 0x0a00, 0xb2c1, 0x5c59,
    0x430a, 0x0212, 0x0a00, 0x5c18, 0x4310, 0x4770,
];
const CLZ32: &[u16] = &[
    0x2312, 0x021b, 0x2218, 0x0c01, 0xd001, 0x3a10, 0x0008, 0x0a01, 0xd001, 0x3a08, 0x0008, 0x5c18, 0x1880,
    0x4770,
];
const CTZ32: &[u16] = &[
    0x2313, 0x021b, 0x2200, 0x0401, 0xd101, 0x3210, 0x0c00, 0x0601, 0xd101, 0x3208, 0x0a00, 0xb2c0, 0x5c18,
    0x1880, 0x4770,
];
/// R0 where to, R1 the byte, R2 how many; up to a word's boundary by bytes, then four words and one
/// word at a time, then by bytes.
const MEMSET: &[u16] = &[
    0xb571, 0xb2c9, 0x020b, 0x4319, 0x040b, 0x4319, 0x2a00, 0xd017, 0x0783, 0xd003, 0x7001, 0x3001, 0x3a01,
    0xe7f7, 0x000b, 0x000c, 0x000d, 0x3a10, 0xd301, 0xc03a, 0xe7fb, 0x3210, 0x3a04, 0xd301, 0xc002, 0xe7fb,
    0x3204, 0xd003, 0x7001, 0x3001, 0x3a01, 0xd1fb, 0xbd71,
];
/// R0 where to, R1 where from, R2 how many; in the same way where both are equally far from a
/// word's boundary, else by bytes.
const MEMCPY: &[u16] = &[
    0xb571, 0x0003, 0x404b, 0x079b, 0xd115, 0x2a00, 0xd01b, 0x0783, 0xd005, 0x780b, 0x7003, 0x3001, 0x3101,
    0x3a01, 0xe7f5, 0x3a10, 0xd302, 0xc978, 0xc078, 0xe7fa, 0x3210, 0x3a04, 0xd302, 0xc908, 0xc008, 0xe7fa,
    0x3204, 0x2a00, 0xd005, 0x780b, 0x7003, 0x3001, 0x3101, 0x3a01, 0xd1f9, 0xbd71,
];

/// Sets SSI up for commands: eight bits both ways, clk_sys divided by six. The ROM resets the pins
/// beside, and sends the flash what ends its continuous reads, whose time is left out.
const CONNECT_FLASH: &[u16] =
    &[0x2018, 0x0600, 0x2100, 0x6081, 0x2106, 0x6141, 0x2107, 0x0409, 0x6001, 0x2101, 0x6101, 0x6081, 0x4770];
/// Empties the cache, and switches it on; the chip select is SSI's again.
const FLUSH_CACHE: &[u16] = &[
    0x2014, 0x0600, 0x2101, 0x6041, 0x6842, 0x6802, 0x430a, 0x6002, 0x2040, 0x0200, 0x3001, 0x0400, 0x2180,
    0x0209, 0x1840, 0x2100, 0x60c1, 0x4770,
];
/// Sets SSI up for reads in place by the command 03h.
const ENTER_XIP: &[u16] = &[
    0x2018, 0x0600, 0x2100, 0x6081, 0x6041, 0x211f, 0x0209, 0x3103, 0x0209, 0x6001, 0x2103, 0x0409, 0x3102,
    0x0209, 0x3118, 0x22f4, 0x5081, 0x2101, 0x6081, 0x4770,
];

/// Functions that exist: the codes of each, and its instructions (section 2.8.3).
const FUNCTIONS: [(&[&[u8; 2]], &[u16]); 9] = [
    (&[b"P3"], POPCOUNT32),
    (&[b"R3"], REVERSE32),
    (&[b"L3"], CLZ32),
    (&[b"T3"], CTZ32),
    (&[b"MS", b"S4"], MEMSET),
    (&[b"MC", b"C4"], MEMCPY),
    (&[b"IF", b"EX"], CONNECT_FLASH),
    (&[b"FC"], FLUSH_CACHE),
    (&[b"CX"], ENTER_XIP),
];

/// Functions that are refused, by code and name.
const ABSENT: [(&[u8; 2], &str); 7] = [
    (b"UB", "reset_to_usb_boot"),
    (b"WV", "wait_for_vector"),
    (b"RE", "flash_range_erase"),
    (b"RP", "flash_range_program"),
    (b"DT", "debug_trampoline"),
    (b"DE", "debug_trampoline_end"),
    (b"EC", "enable_clocks"),
];

/// The entries of the tables for single and double precision, in their order (section 2.8.3.2).
const FLOATING: [&str; FLOAT_FUNCTIONS as usize] = [
    "add",
    "sub",
    "mul",
    "div",
    "cmp_fast",
    "cmp_fast_flags",
    "sqrt",
    "2int",
    "2fix",
    "2uint",
    "2ufix",
    "int2",
    "fix2",
    "uint2",
    "ufix2",
    "cos",
    "sin",
    "tan",
    "sincos",
    "exp",
    "ln",
    "cmp",
    "atan2",
    "int642",
    "fix642",
    "uint642",
    "ufix642",
    "2int64",
    "2fix64",
    "2uint64",
    "2ufix64",
    "2other",
];

/// With what the program begins.
pub(super) struct Start {
    pub sp: u32,
    /// The entry, a Thumb address.
    pub entry: u32,
    pub lr: u32,
    /// VTOR.
    pub vectors: u32,
}

/// The ROM's part in the machine.
#[derive(Clone)]
pub(super) struct BootRom {
    flash: u32,
    ram: u32,
    ram_end: u32,
}

impl BootRom {
    /// Fills the part's ROM, if it has one.
    ///
    /// # Errors
    /// A ROM that is not the RP2040's.
    pub fn new(part: &Part, memory: &mut Memory) -> Result<Option<BootRom>, String> {
        let Some(rom) = part.memories.iter().find(|memory| memory.kind == MemoryKind::Rom) else {
            return Ok(None);
        };
        if rom.start != 0 || rom.size != 0x4000 || !memory.poke(0, &contents()) {
            return Err(format!("{}: no model of a ROM but that of 16 kB at 0", part.name));
        }
        let (flash, ram) = (memory.flash.start, memory.ram);
        Ok(Some(BootRom { flash, ram: ram.start, ram_end: ram.start + ram.size }))
    }

    /// Returns the name of the refused function at an address in ROM.
    pub fn refused(&self, pc: u32) -> Option<String> {
        let index = (pc.checked_sub(REFUSED)? / 2) as usize;
        let single = index.checked_sub(ABSENT.len());
        let name = match (single, ABSENT.get(index)) {
            (_, Some((_, name))) => (*name).to_string(),
            (Some(at), _) if at < FLOATING.len() => format!("float {}", FLOATING[at]),
            (Some(at), _) => format!("double {}", FLOATING.get(at - FLOATING.len())?),
            _ => return None,
        };
        Some(format!("the boot ROM's function {name} is not modelled"))
    }

    /// Returns the program's start, and the bytes that the ROM copies to the end of the RAM for it.
    ///
    /// # Errors
    /// The ROM would find nothing to run, for the stated reason.
    pub fn start(&self, memory: &Memory) -> Result<(Start, Vec<u8>), &'static str> {
        let mut stage = [0; STAGE_2 as usize];
        memory.peek(self.flash, &mut stage);
        let below = self.ram_end - STAGE_2;
        if stage.iter().any(|byte| *byte != 0xff) {
            let [.., a, b, c, d] = stage;
            // Where the linker has but filled its place, the tool that makes the image for the
            // flash writes the checksum.
            let filled = [a, b, c] == [b, c, d];
            if !filled && u32::from_le_bytes([a, b, c, d]) != checksum(&stage[..CHECKSUM]) {
                return Err(
                    "the boot ROM finds no second stage: the checksum of the flash's first 256 bytes is wrong",
                );
            }
            return Ok((Start { sp: below, entry: below | 1, lr: 0, vectors: 0 }, stage.to_vec()));
        }
        let [sp, entry] = memory.words(self.ram);
        let inside = |address: u32| (self.ram..=self.ram_end).contains(&address);
        if inside(sp) && inside(entry) && entry & 1 == 1 {
            return Ok((Start { sp, entry, lr: u32::MAX, vectors: self.ram }, Vec::new()));
        }
        if sp == 0 {
            return Err("nothing to begin with, neither in flash nor at the start of the RAM");
        }
        // Code, not vectors.
        Ok((Start { sp: self.ram_end, entry: self.ram | 1, lr: u32::MAX, vectors: 0 }, Vec::new()))
    }
}

/// The bytes of the ROM.
fn contents() -> Vec<u8> {
    let mut rom = vec![0; 0x4000];
    let mut put = |at: u32, halves: &[u16]| {
        for (at, half) in (at as usize..).step_by(2).zip(halves) {
            rom[at..at + 2].copy_from_slice(&half.to_le_bytes());
        }
    };
    let mut code = CODE;
    let mut next = |halves: &[u16], put: &mut dyn FnMut(u32, &[u16])| {
        let at = code;
        put(at, halves);
        code += halves.len() as u32 * 2;
        at as u16 | 1
    };
    let magic = [u16::from_le_bytes(*b"Mu"), 1 | u16::from(VERSION) << 8];
    put(0x10, &[magic[0], magic[1], FUNCTION_TABLE as u16, DATA_TABLE as u16]);
    let lookup = next(LOOKUP, &mut put);
    put(0x18, &[lookup]);
    let mut table = Vec::new();
    for (codes, halves) in FUNCTIONS {
        let at = next(halves, &mut put);
        table.extend(codes.iter().flat_map(|code| [u16::from_le_bytes(**code), at]));
    }
    let refused = |index: usize| (REFUSED + 2 * index as u32) as u16 | 1;
    table.extend(
        ABSENT.iter().enumerate().flat_map(|(at, (code, _))| [u16::from_le_bytes(**code), refused(at)]),
    );
    put(FUNCTION_TABLE, &table);
    let floating = FLOATING.len();
    for index in 0..ABSENT.len() + 2 * floating {
        put(REFUSED + 2 * index as u32, &[BREAKPOINT]);
    }
    for (base, first) in [(FLOAT_TABLE, ABSENT.len()), (DOUBLE_TABLE, ABSENT.len() + floating)] {
        put(base - 2, &[FLOAT_FUNCTIONS as u16]);
        for entry in 0..floating {
            put(base + 4 * entry as u32, &[refused(first + entry), 0]);
        }
    }
    let tables = [*b"P8", *b"R8", *b"L8", *b"T8"].into_iter().zip((BYTE_TABLES as u16..).step_by(0x100));
    let data = tables.chain([(*b"SF", FLOAT_TABLE as u16), (*b"SD", DOUBLE_TABLE as u16)]);
    let data: Vec<u16> = data.flat_map(|(code, at)| [u16::from_le_bytes(code), at]).collect();
    put(DATA_TABLE, &data);
    for byte in 0..=u8::MAX {
        let of = [
            byte.count_ones() as u8,
            byte.reverse_bits(),
            byte.leading_zeros() as u8,
            byte.trailing_zeros() as u8,
        ];
        for (table, value) in of.into_iter().enumerate() {
            rom[BYTE_TABLES as usize + 0x100 * table + usize::from(byte)] = value;
        }
    }
    rom
}
