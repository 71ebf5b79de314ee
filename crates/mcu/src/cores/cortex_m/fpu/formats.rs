//! Binary formats, rounding modes and flags (DDI 0403E, A2.5).

/// A binary interchange format of IEEE 754.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    /// Bits of the fraction.
    pub(super) fraction: u32,
    /// Bits of the exponent.
    pub(super) exponent: u32,
}

/// Half precision.
pub const HALF: Format = Format { fraction: 10, exponent: 5 };
/// Single precision.
pub const SINGLE: Format = Format { fraction: 23, exponent: 8 };
/// Double precision.
pub const DOUBLE: Format = Format { fraction: 52, exponent: 11 };

impl Format {
    pub(super) fn bias(self) -> i32 {
        (1 << (self.exponent - 1)) - 1
    }

    pub(super) fn zero(self, sign: bool) -> u64 {
        u64::from(sign) << (self.fraction + self.exponent)
    }

    pub(super) fn fraction_mask(self) -> u64 {
        (1 << self.fraction) - 1
    }

    /// The exponent field with all bits set, in its place.
    pub(super) fn exponent_mask(self) -> u64 {
        ((1 << self.exponent) - 1) << self.fraction
    }

    pub(super) fn infinity(self, sign: bool) -> u64 {
        self.zero(sign) | self.exponent_mask()
    }

    pub(super) fn quiet_bit(self) -> u64 {
        1 << (self.fraction - 1)
    }

    pub(super) fn default_nan(self) -> u64 {
        self.exponent_mask() | self.quiet_bit()
    }

    pub(super) fn is_negative(self, bits: u64) -> bool {
        bits >> (self.fraction + self.exponent) & 1 != 0
    }

    /// The number with its sign changed, a NaN too.
    #[must_use]
    pub fn negated(self, bits: u64) -> u64 {
        bits ^ self.zero(true)
    }

    /// The number without its sign, a NaN too.
    #[must_use]
    pub fn absolute(self, bits: u64) -> u64 {
        bits & !self.zero(true)
    }
}

/// Rounding of an inexact result; the first four as in FPSCR.RMode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest, ties to even.
    Nearest,
    /// Towards plus infinity.
    Up,
    /// Towards minus infinity.
    Down,
    /// Towards zero.
    Zero,
    /// To the nearest, ties away from zero.
    Away,
}

impl Rounding {
    /// Of FPSCR.RMode.
    #[must_use]
    pub fn from_mode(mode: u32) -> Rounding {
        [Rounding::Nearest, Rounding::Up, Rounding::Down, Rounding::Zero][(mode & 3) as usize]
    }

    /// Returns true if the magnitude goes up by one: `half` is the first bit left out, `sticky` is
    /// true if any other is set.
    pub(super) fn increments(self, sign: bool, odd: bool, half: bool, sticky: bool) -> bool {
        match self {
            Rounding::Nearest => half && (sticky || odd),
            Rounding::Away => half,
            Rounding::Up => !sign && (half || sticky),
            Rounding::Down => sign && (half || sticky),
            Rounding::Zero => false,
        }
    }
}

/// The cumulative flags at their places in FPSCR.
pub mod flag {
    /// IOC.
    pub const INVALID: u32 = 1 << 0;
    /// DZC.
    pub const DIVIDE_BY_ZERO: u32 = 1 << 1;
    /// OFC.
    pub const OVERFLOW: u32 = 1 << 2;
    /// UFC.
    pub const UNDERFLOW: u32 = 1 << 3;
    /// IXC.
    pub const INEXACT: u32 = 1 << 4;
    /// IDC.
    pub const INPUT_DENORMAL: u32 = 1 << 7;
}
