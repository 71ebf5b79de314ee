//! Memory protection unit (DDI 0403E, B3.5).
//!
//! It forbids accesses, and decides what the data cache may keep.
//!
//! A forbidden access ends the run, as every fault does. Instructions are checked when they are
//! decoded: one that was executed before its region forbade it is executed again. The private
//! peripheral bus always has the default map's attributes.

use std::ops::Range;

/// The most regions of a part (DDI 0403E, B3.5.6: ARMv7-M allows more, no part here has them).
const REGIONS: usize = 8;

/// MPU_TYPE; the others follow it.
pub const TYPE: u32 = 0xe000_ed90;
/// Behind MPU_RASR_A3, the last alias.
pub const END: u32 = 0xe000_edbc;

/// MPU_CTRL.
const ENABLE: u32 = 1;
const HFNMIENA: u32 = 1 << 1;
const PRIVDEFENA: u32 = 1 << 2;

/// MPU_RBAR.
const VALID: u32 = 1 << 4;

/// Writable bits of MPU_RASR.
const WRITABLE: u32 = 0x173f_ff3f;

/// MPU_RASR.XN.
const EXECUTE_NEVER: u32 = 1 << 28;

/// Kind of a data access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    Read,
    Write,
}

/// Treatment of an address by the data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Caching {
    /// It keeps nothing.
    None,
    /// Stores go to memory at once, and get no line.
    WriteThrough,
    /// Stores to lines that are there stay in the cache; others get none.
    WriteBack,
    /// A store that finds no line gets one.
    WriteAllocate,
}

/// The registers.
#[derive(Clone, Debug)]
pub struct Mpu {
    /// Regions that the part has; 0 where it has no unit.
    regions: usize,
    control: u32,
    number: usize,
    /// MPU_RBAR's address and MPU_RASR of each region.
    base: [u32; REGIONS],
    attributes: [u32; REGIONS],
}

impl Mpu {
    /// As after reset: off.
    pub fn new(regions: u8) -> Mpu {
        Mpu { regions: regions.into(), control: 0, number: 0, base: [0; REGIONS], attributes: [0; REGIONS] }
    }

    /// MPU_CTRL.ENABLE.
    pub fn enabled(&self) -> bool {
        self.control & ENABLE != 0
    }

    /// A register. Without a unit all are zero.
    pub fn read(&self, address: u32) -> u32 {
        match address - TYPE {
            _ if self.regions == 0 => 0,
            0x00 => (self.regions as u32) << 8,
            0x04 => self.control,
            0x08 => self.number as u32,
            offset if offset & 4 != 0 => self.base[self.number] | self.number as u32,
            _ => self.attributes[self.number],
        }
    }

    /// Writes a register; without a unit, nowhere.
    pub fn write(&mut self, address: u32, value: u32) {
        match address - TYPE {
            _ if self.regions == 0 => {}
            0x00 => {}
            0x04 => self.control = value & (ENABLE | HFNMIENA | PRIVDEFENA),
            0x08 => self.number = value as usize % self.regions,
            offset if offset & 4 != 0 => {
                if value & VALID != 0 {
                    self.number = value as usize % self.regions;
                }
                self.base[self.number] = value & !0x1f;
            }
            _ => self.attributes[self.number] = value & WRITABLE,
        }
    }

    /// The bytes of a region; `None` where it is off. Its size is a power of two from 32 bytes up,
    /// its base a multiple of that.
    fn span(&self, region: usize) -> Option<(u32, u64)> {
        let attributes = self.attributes[region];
        let exponent = (attributes >> 1 & 0x1f).max(4) + 1;
        let size = 1u64 << exponent;
        (attributes & 1 != 0).then_some((self.base[region] & !((size - 1) as u32), size))
    }

    /// The region that decides about an address: the highest that holds it and has not switched its
    /// eighth off.
    fn region(&self, address: u32) -> Option<usize> {
        (0..self.regions).rev().find(|&region| {
            let Some((start, size)) = self.span(region) else { return false };
            let inside = u64::from(address.wrapping_sub(start));
            // Regions below 256 bytes have no eighths.
            let eighth = if size < 256 { 0 } else { inside / (size / 8) };
            let off = size >= 256 && self.attributes[region] >> (8 + eighth.min(7)) & 1 != 0;
            inside < size && !off
        })
    }

    /// Reason for which a data access is forbidden; `None` where it is allowed. `negative` is true
    /// at a priority below zero: HardFault, NMI, FAULTMASK.
    pub fn forbids(&self, address: u32, wanted: Wanted, privileged: bool, negative: bool) -> Option<String> {
        if !self.enabled() || negative && self.control & HFNMIENA == 0 {
            return None;
        }
        let Some(region) = self.region(address) else {
            let background = privileged && self.control & PRIVDEFENA != 0;
            return (!background).then(|| "the MPU has no region there (MemManage)".to_string());
        };
        let (privileged_may, user_may) = match self.attributes[region] >> 24 & 7 {
            1 => (2, 0),
            2 => (2, 1),
            3 => (2, 2),
            5 => (1, 0),
            6 | 7 => (1, 1),
            _ => (0, 0),
        };
        let may = if privileged { privileged_may } else { user_may };
        let needs = if wanted == Wanted::Write { 2 } else { 1 };
        let verb = if wanted == Wanted::Write { "writing" } else { "reading" };
        (may < needs).then(|| format!("region {region} of the MPU forbids {verb} (MemManage)"))
    }

    /// Address ranges in which a region forbids execution.
    pub fn execute_never(&self) -> Vec<Range<u32>> {
        let mut barred = Vec::new();
        for region in (0..self.regions).filter(|_| self.enabled()) {
            let Some((start, size)) = self.span(region) else { continue };
            let never =
                self.attributes[region] & EXECUTE_NEVER != 0 || self.attributes[region] >> 24 & 7 == 0;
            let piece = (size / 8).max(32);
            for at in (0..size).step_by(piece as usize) {
                let first = start.wrapping_add(at as u32);
                if never && self.region(first) == Some(region) {
                    barred.push(first..first.saturating_add((piece - 1) as u32).saturating_add(1));
                }
            }
        }
        barred
    }

    /// Treatment of an address by the data cache (DDI 0403E, table B3-15); `None` where the default
    /// map decides. Shareable memory is not cached (DDI 0489, 5.2.1).
    pub fn caching(&self, address: u32) -> Option<Caching> {
        if !self.enabled() {
            return None;
        }
        let attributes = self.attributes[self.region(address)?];
        let (tex, c, b) = (attributes >> 19 & 7, attributes >> 17 & 1, attributes >> 16 & 1);
        let shareable = attributes >> 18 & 1 != 0;
        Some(match (tex, c, b) {
            _ if shareable => Caching::None,
            (0, 1, 0) | (4..=7, 1, 0) => Caching::WriteThrough,
            (0, 1, 1) | (4..=7, 1, 1) => Caching::WriteBack,
            (1, 1, 1) | (4..=7, 0, 1) => Caching::WriteAllocate,
            _ => Caching::None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Caching, Mpu, TYPE, Wanted};

    const CTRL: u32 = TYPE + 0x4;
    const RNR: u32 = TYPE + 0x8;
    const RBAR: u32 = TYPE + 0xc;
    const RASR: u32 = TYPE + 0x10;

    /// Region 0: 64 KB at 0x20000000, read and write for all, its highest eighth off; region 7 over
    /// it: 32 bytes, read only.
    fn guarded() -> Mpu {
        let mut mpu = Mpu::new(8);
        mpu.write(RBAR, 0x2000_0000 | 1 << 4);
        mpu.write(RASR, 3 << 24 | 0x80 << 8 | 15 << 1 | 1);
        mpu.write(RBAR, 0x2000_0100 | 1 << 4 | 7);
        mpu.write(RASR, 1 << 28 | 6 << 24 | 4 << 1 | 1);
        mpu.write(CTRL, 5);
        mpu
    }

    #[test]
    fn the_highest_region_decides_and_an_eighth_may_be_off() {
        let mpu = guarded();
        let forbids = |address, wanted, privileged| mpu.forbids(address, wanted, privileged, false);
        assert_eq!(forbids(0x2000_0000, Wanted::Write, false), None);
        assert_eq!(forbids(0x2000_011f, Wanted::Read, false), None);
        let said = forbids(0x2000_011f, Wanted::Write, true).unwrap_or_default();
        assert_eq!(said, "region 7 of the MPU forbids writing (MemManage)");
        assert_eq!(forbids(0x2000_0120, Wanted::Write, true), None);
        // Where no region is, PRIVDEFENA lets privileged code go on and no other.
        assert_eq!(forbids(0x2000_e000, Wanted::Write, true), None);
        assert!(forbids(0x2000_e000, Wanted::Read, false).is_some());
        // HFNMIENA is clear: handlers of HardFault and NMI go past the unit.
        assert_eq!(mpu.forbids(0x2000_0100, Wanted::Write, true, true), None);
    }

    #[test]
    fn registers_read_as_written_and_aliases_are_the_same() {
        let mut mpu = guarded();
        assert_eq!(mpu.read(TYPE), 0x800);
        mpu.write(RNR, 0);
        assert_eq!((mpu.read(RBAR), mpu.read(RASR)), (0x2000_0000, 0x0300_801f));
        mpu.write(RBAR + 0x18, 0x0800_0000 | 1 << 4 | 3);
        assert_eq!((mpu.read(RNR), mpu.read(RBAR)), (3, 0x0800_0003));
        let mut none = Mpu::new(0);
        none.write(CTRL, 1);
        assert_eq!((none.read(TYPE), none.read(CTRL)), (0, 0));
    }

    #[test]
    fn execution_is_barred_where_the_deciding_region_says_so() {
        let never = guarded().execute_never();
        assert_eq!((never.len(), &never[0]), (1, &(0x2000_0100..0x2000_0120)));
    }

    #[test]
    fn memory_types_are_those_of_the_table() {
        let mut mpu = Mpu::new(8);
        mpu.write(CTRL, 5);
        let mut of = |tex: u32, scb: u32| {
            mpu.write(RASR, 3 << 24 | tex << 19 | scb << 16 | 31 << 1 | 1);
            mpu.caching(0x2000_0000)
        };
        assert_eq!(of(0, 0b000), Some(Caching::None));
        assert_eq!(of(0, 0b010), Some(Caching::WriteThrough));
        assert_eq!(of(0, 0b011), Some(Caching::WriteBack));
        assert_eq!(of(1, 0b000), Some(Caching::None));
        assert_eq!(of(1, 0b011), Some(Caching::WriteAllocate));
        assert_eq!(of(1, 0b111), Some(Caching::None));
        assert_eq!(of(5, 0b001), Some(Caching::WriteAllocate));
        mpu.write(CTRL, 0);
        assert_eq!(mpu.caching(0x2000_0000), None);
    }
}
