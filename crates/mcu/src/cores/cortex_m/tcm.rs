//! Memories of an STM32F7 as its Cortex-M7 reaches them.
//!
//! They are tightly coupled RAM, the flash behind the accelerator of the ITCM bus or behind AXI and
//! the caches, and RAM behind AXI.
//!
//! RM0410 sections 2.1 and 3.3.2, DDI 0489 section 5: 16 kB instruction cache in two ways and 16 kB
//! data cache in four, lines of 32 bytes; the flash in lines of 256 bits with an accelerator of 64
//! lines on the ITCM view. Default attributes (DDI 0403, B3.1): the flash is write-through, RAM
//! write-back with write allocation, the rest uncached; regions of the MPU have their own. How long
//! AXI and its bridge take is not published; six cycles stand for it.

use super::cache::{Cache, CacheControl};
use super::flash::{Changed, Settings};
use super::mpu::{Caching, Mpu};
use crate::{MemoryKind, Part};
use std::ops::Range;

/// Cycles of an access over AXI beyond the memory's own wait states.
const AXI: u32 = 6;

const LINE: u32 = 32;

/// First address of the private peripheral bus.
const PRIVATE: u32 = 0xe000_0000;

/// Path on which an address is reached.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Path {
    /// No wait states.
    Tight,
    /// The flash over the ITCM bus and its accelerator.
    FlashItcm,
    /// The flash over AXI.
    FlashAxi,
    /// RAM over AXI.
    RamAxi,
    /// Peripherals.
    Device,
}

/// Caches and memories.
#[derive(Clone)]
pub(super) struct Caches {
    regions: Vec<(Range<u32>, Path)>,
    settings: Settings,
    instruction: Cache,
    data: Cache,
    instruction_on: bool,
    data_on: bool,
    accelerator: Cache,
    /// The line of the flash that was read last: what is in it needs no new read.
    flash_line: u32,
    /// The 32 bytes that instructions are coming from.
    fetch_line: u32,
    fetch_path: Path,
    mpu: Mpu,
}

impl Caches {
    pub fn new(part: &Part, settings: Settings) -> Caches {
        let mut regions = Vec::new();
        for memory in &part.memories {
            let range = |start: u32| start..start + memory.size;
            match memory.kind {
                MemoryKind::Flash => {
                    regions.push((range(memory.start), Path::FlashAxi));
                    regions.extend(memory.aliases.iter().map(|&start| (range(start), Path::FlashItcm)));
                }
                MemoryKind::Tcm => regions.push((range(memory.start), Path::Tight)),
                MemoryKind::Ram | MemoryKind::Eeprom | MemoryKind::Fram | MemoryKind::Rom => {
                    regions.push((range(memory.start), Path::RamAxi))
                }
            }
        }
        // Most accesses go to tightly coupled memory: it is looked for first.
        regions.sort_by_key(|(_, path)| *path != Path::Tight);
        Caches {
            regions,
            settings,
            instruction: Cache::new(256, 2, LINE),
            data: Cache::new(128, 4, LINE),
            instruction_on: false,
            data_on: false,
            accelerator: Cache::new(1, 64, LINE),
            flash_line: u32::MAX,
            fetch_line: u32::MAX,
            fetch_path: Path::Tight,
            mpu: Mpu::new(0),
        }
    }

    /// Takes over the MPU's attributes.
    pub fn protect(&mut self, mpu: &Mpu) {
        self.mpu = mpu.clone();
    }

    /// Treatment by the data cache of an address on this path.
    fn caching(&self, path: Path, address: u32) -> Caching {
        if !self.data_on {
            return Caching::None;
        }
        let default = if path == Path::RamAxi { Caching::WriteAllocate } else { Caching::WriteThrough };
        self.mpu.caching(address).unwrap_or(default)
    }

    pub fn reset(&mut self, settings: Settings) {
        self.settings = settings;
        self.instruction.clear();
        self.data.clear();
        self.accelerator.clear();
        self.instruction_on = false;
        self.data_on = false;
        self.flash_line = u32::MAX;
        self.fetch_line = u32::MAX;
        self.mpu = Mpu::new(0);
    }

    pub fn apply(&mut self, changed: Changed, settings: Settings) {
        if changed.instruction_reset {
            self.accelerator.clear();
        }
        self.settings = settings;
    }

    fn path(&self, address: u32) -> Path {
        self.regions
            .iter()
            .find(|(range, _)| range.contains(&address))
            .map_or(Path::Device, |(_, path)| *path)
    }

    /// Cycles that the packet of eight bytes with `address` comes too late.
    #[inline]
    pub fn fetch(&mut self, address: u32) -> u32 {
        if address / LINE == self.fetch_line {
            // Without a cache every eight bytes are an access of their own over AXI.
            let bare = self.fetch_path == Path::FlashAxi && !self.instruction_on;
            return if bare { AXI / 2 } else { 0 };
        }
        self.fetch_line(address)
    }

    #[inline(never)]
    fn fetch_line(&mut self, address: u32) -> u32 {
        self.fetch_line = address / LINE;
        self.fetch_path = self.path(address);
        match self.fetch_path {
            Path::Tight | Path::Device => 0,
            Path::FlashItcm => self.accelerated(address),
            Path::FlashAxi | Path::RamAxi => {
                if self.instruction_on && self.instruction.hit(address) {
                    return 0;
                }
                if self.instruction_on {
                    self.instruction.fill(address);
                }
                let array = if self.fetch_path == Path::FlashAxi { self.flash(address) } else { 0 };
                AXI + array
            }
        }
    }

    /// A read of the flash array, unless the line is at hand.
    fn flash(&mut self, address: u32) -> u32 {
        let line = address % 0x0020_0000 / LINE;
        if line == self.flash_line {
            return 0;
        }
        let ahead = self.settings.prefetch && line == self.flash_line.wrapping_add(1);
        self.flash_line = line;
        // The next line has been read ahead while this one was in use.
        if ahead { 0 } else { u32::from(self.settings.wait_states) }
    }

    fn accelerated(&mut self, address: u32) -> u32 {
        if self.settings.instruction_lines {
            if self.accelerator.hit(address) {
                return 0;
            }
            self.accelerator.fill(address);
        }
        self.flash(address)
    }

    /// Cycles beyond the issue of a load of `bytes` from `address` up.
    #[inline]
    pub fn read(&mut self, address: u32, bytes: u32) -> u32 {
        match self.path(address) {
            Path::Tight => 0,
            path => self.read_behind(path, address, bytes),
        }
    }

    fn read_behind(&mut self, path: Path, address: u32, bytes: u32) -> u32 {
        let mut cycles = 0;
        for line in address / LINE..=(address + bytes - 1) / LINE {
            let at = (line * LINE).max(address);
            cycles += match path {
                Path::Tight => 0,
                Path::FlashItcm => self.accelerated(at),
                Path::FlashAxi | Path::RamAxi => {
                    let cached = self.caching(path, at) != Caching::None;
                    if cached && self.data.hit(at) {
                        continue;
                    }
                    let evicted = cached && self.data.fill(at);
                    let array = if path == Path::FlashAxi { self.flash(at) } else { 0 };
                    AXI + array + if evicted { 4 } else { 0 }
                }
                // The private peripheral bus is within the core: template of the page, CYCCNT read
                // in one cycle.
                Path::Device if address >= PRIVATE => 0,
                Path::Device => AXI,
            };
        }
        cycles
    }

    /// Cycles beyond the issue of a store of `bytes` from `address` up. The store buffer hides all
    /// but allocation.
    #[inline]
    pub fn write(&mut self, address: u32, bytes: u32) -> u32 {
        if self.path(address) != Path::RamAxi {
            return 0;
        }
        let caching = self.caching(Path::RamAxi, address);
        if !matches!(caching, Caching::WriteBack | Caching::WriteAllocate) {
            return 0;
        }
        let mut cycles = 0;
        for line in address / LINE..=(address + bytes - 1) / LINE {
            let at = line * LINE;
            if !self.data.hit(at) {
                if caching == Caching::WriteBack {
                    continue;
                }
                if self.data.fill(at) {
                    cycles += 4;
                }
            }
            self.data.mark_dirty(at);
        }
        cycles
    }

    /// A maintenance operation: the cycles that cleaning costs.
    pub fn control(&mut self, control: CacheControl) -> u32 {
        match control {
            CacheControl::Enable { instruction, data } => {
                self.instruction_on = instruction;
                self.data_on = data;
                self.fetch_line = u32::MAX;
                0
            }
            CacheControl::InvalidateInstruction => {
                self.instruction.clear();
                0
            }
            CacheControl::InvalidateInstructionLine(address) => {
                self.instruction.maintain(address, false, true);
                0
            }
            CacheControl::DataLine { address, clean, invalidate } => {
                let dirty = self.data.maintain(address, clean, invalidate);
                if dirty && clean { AXI } else { 0 }
            }
            CacheControl::DataSetWay { value, clean, invalidate } => {
                let dirty =
                    self.data.maintain_set_way(value >> 5 & 127, (value >> 30) as usize, clean, invalidate);
                if dirty && clean { AXI } else { 0 }
            }
            CacheControl::InvalidateBranches => 0,
        }
    }
}
