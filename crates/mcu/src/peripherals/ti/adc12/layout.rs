//! Registers of the two converters, and what else sets them apart.
//!
//! ADC12_A: SLAU208, table "ADC12_A Registers". ADC12_B: SLAU367, table "ADC12_B Registers"; its
//! clocks and the numbers in its ADC12IV are from memory, not yet compared.

/// Converter of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// ADC12_A of the MSP430F5xx.
    A,
    /// ADC12_B of the MSP430FR5xx.
    B,
}

/// A register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// ADC12CTL0 to ADC12CTL3.
    Control(usize),
    /// ADC12LO, ADC12HI.
    Window(usize),
    /// ADC12IFG, or ADC12IFGR0 and ADC12IFGR1, by the lowest of its flags.
    Flags(u32),
    /// ADC12IFGR2.
    OtherFlags,
    /// ADC12IE, or ADC12IER0 and ADC12IER1.
    Enables(u32),
    /// ADC12IER2.
    OtherEnables,
    /// ADC12IV.
    Vector,
    /// ADC12MCTLx, of ADC12_A that and the next.
    MemoryControl(usize),
    /// ADC12MEMx.
    Memory(usize),
}

/// Sampling clocks by `ADC12SHTx`.
const SAMPLING: [u64; 16] = [4, 8, 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1024, 1024, 1024];

impl Kind {
    /// The register at an even offset.
    pub(super) fn place(self, offset: u32) -> Option<Place> {
        let number = |from: u32| ((offset - from) / 2) as usize;
        Some(match (self, offset) {
            (Kind::A, 0x00..0x06) | (Kind::B, 0x00..0x08) => Place::Control(number(0)),
            (Kind::A, 0x0a) => Place::Flags(0),
            (Kind::A, 0x0c) => Place::Enables(0),
            (Kind::A, 0x0e) | (Kind::B, 0x18) => Place::Vector,
            (Kind::A, 0x10..0x20) => Place::MemoryControl(2 * number(0x10)),
            (Kind::A, 0x20..0x40) => Place::Memory(number(0x20)),
            (Kind::B, 0x08..0x0c) => Place::Window(number(0x08)),
            (Kind::B, 0x0c | 0x0e) => Place::Flags(16 * number(0x0c) as u32),
            (Kind::B, 0x10) => Place::OtherFlags,
            (Kind::B, 0x12 | 0x14) => Place::Enables(16 * number(0x12) as u32),
            (Kind::B, 0x16) => Place::OtherEnables,
            (Kind::B, 0x20..0x60) => Place::MemoryControl(number(0x20)),
            (Kind::B, 0x60..0xa0) => Place::Memory(number(0x60)),
            _ => return None,
        })
    }

    /// Bits that keep what is written; of ADC12_A all.
    pub(super) fn writable(self, place: Place) -> u32 {
        match (self, place) {
            (Kind::A, _) => 0xffff,
            (Kind::B, Place::Control(index)) => [0xff93, 0x7ffe, 0x0039, 0x0fdf][index],
            (Kind::B, Place::OtherFlags | Place::OtherEnables) => 0x7e,
            (Kind::B, Place::MemoryControl(_)) => 0x6f9f,
            (Kind::B, _) => 0xffff,
        }
    }

    /// Bytes of all registers.
    pub(super) fn size(self) -> u32 {
        if self == Kind::A { 0x40 } else { 0xa0 }
    }

    /// Number of conversion memories.
    pub(super) fn memories(self) -> usize {
        if self == Kind::A { 16 } else { 32 }
    }

    /// The memory of the first conversion: ADC12CSTARTADDx.
    pub(super) fn first(self, control: &[u32; 4]) -> usize {
        let field = if self == Kind::A { control[1] >> 12 } else { control[3] & 31 };
        field as usize
    }

    /// Bits of ADC12CTL1 that choose another start than ADC12SC: ADC12ISSH, ADC12SHSx.
    pub(super) fn other_starts(self) -> u32 {
        if self == Kind::A { 0xd00 } else { 0x1d00 }
    }

    /// ADC12PDIV and ADC12DIVx.
    pub(super) fn divider(self, control: &[u32; 4]) -> u64 {
        let first = match self {
            Kind::A if control[2] & 0x100 != 0 => 4,
            Kind::A => 1,
            Kind::B => [1, 4, 32, 64][(control[1] >> 13 & 3) as usize],
        };
        first * (u64::from(control[1] >> 5 & 7) + 1)
    }

    /// Clocks for which the input of a memory is sampled; none for a reserved ADC12SHTx.
    pub(super) fn sampling(self, control: &[u32; 4], index: usize) -> Option<u64> {
        let shift = if matches!(index, 0..8 | 24..32) { 8 } else { 12 };
        let select = (control[0] >> shift & 15) as usize;
        (self == Kind::A || select <= 10).then_some(SAMPLING[select])
    }

    /// Clocks from the end of the sampling to the result.
    pub(super) fn conversion(self, bits: u32, has_window: bool) -> u64 {
        let more = if self == Kind::A { 1 } else { 2 };
        u64::from(bits) + more + u64::from(has_window)
    }

    /// ADC12IV for the first memory's flag.
    pub(super) fn first_vector(self) -> u32 {
        if self == Kind::A { 6 } else { 12 }
    }
}
