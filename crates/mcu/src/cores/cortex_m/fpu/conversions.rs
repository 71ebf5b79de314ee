//! Conversions: to integers, fixed point and other precisions (DDI 0403E, appendix D6).

use super::arithmetic::{Class, Environment, Exact, split};
use super::formats::{Format, HALF, Rounding, flag};

impl Environment {
    /// `FPRoundInt`: to an integer of the same format. `exact`: a change raises the inexact flag.
    pub fn round_to_integer(&mut self, format: Format, a: u64, rounding: Rounding, exact: bool) -> u64 {
        let a = self.unpack(format, a);
        if let Some(nan) = self.nans(format, &[&a]) {
            return nan;
        }
        if a.is_infinite() || a.is_zero() || a.exponent >= 0 {
            return a.bits;
        }
        let (mut kept, half, sticky) = split(u128::from(a.mantissa), a.exponent.unsigned_abs());
        if rounding.increments(a.sign, kept & 1 != 0, half, sticky) {
            kept += 1;
        }
        if exact && (half || sticky) {
            self.flags |= flag::INEXACT;
        }
        if kept == 0 {
            return format.zero(a.sign);
        }
        self.round(format, Exact { sign: a.sign, mantissa: kept, exponent: 0 })
    }

    /// `FPToFixed`: the low `size` bits of the result, extended to 64.
    pub fn convert_to_fixed(&mut self, format: Format, a: u64, to: Fixed, rounding: Rounding) -> u64 {
        let a = self.unpack(format, a);
        let (lowest, highest): (i128, i128) =
            if to.signed { (-1 << (to.size - 1), (1 << (to.size - 1)) - 1) } else { (0, (1 << to.size) - 1) };
        let (value, inexact) = match a.class {
            Class::Quiet | Class::Signalling => {
                self.flags |= flag::INVALID;
                return 0;
            }
            Class::Infinity => (i128::MAX, false),
            Class::Finite => match a.exponent + to.fraction as i32 {
                // At least 2^63, more than any size holds.
                0.. if a.mantissa != 0 => (i128::MAX, false),
                scale => {
                    let (mut kept, half, sticky) = split(u128::from(a.mantissa), scale.unsigned_abs());
                    if rounding.increments(a.sign, kept & 1 != 0, half, sticky) {
                        kept += 1;
                    }
                    (kept as i128, half || sticky)
                }
            },
        };
        let value = if a.sign { -value } else { value };
        if value < lowest || value > highest {
            self.flags |= flag::INVALID;
        } else if inexact {
            self.flags |= flag::INEXACT;
        }
        value.clamp(lowest, highest) as u64
    }

    /// `FixedToFP`: of the low `from.size` bits.
    pub fn convert_from_fixed(&mut self, format: Format, bits: u64, from: Fixed) -> u64 {
        let unused = 64 - from.size;
        let value = bits << unused;
        let sign = from.signed && value >> 63 != 0;
        let magnitude = if from.signed { ((value as i64) >> unused).unsigned_abs() } else { value >> unused };
        if magnitude == 0 {
            return format.zero(false);
        }
        let exponent = -(from.fraction as i32);
        self.round(format, Exact { sign, mantissa: u128::from(magnitude), exponent })
    }

    /// Conversion between formats (`FPSingleToHalf` and its kin).
    pub fn convert(&mut self, from: Format, to: Format, a: u64) -> u64 {
        let a = self.unpack(from, a);
        let alternative = to == HALF && self.alternative_half;
        match a.class {
            Class::Quiet | Class::Signalling => {
                if alternative || a.class == Class::Signalling {
                    self.flags |= flag::INVALID;
                }
                if alternative {
                    return to.zero(a.sign);
                }
                if self.default_nan {
                    return to.default_nan();
                }
                let fraction = (a.bits & from.fraction_mask()) << (64 - from.fraction) >> (64 - to.fraction);
                to.infinity(a.sign) | to.quiet_bit() | fraction
            }
            Class::Infinity if alternative => {
                self.flags |= flag::INVALID;
                to.infinity(a.sign) | to.fraction_mask()
            }
            Class::Infinity => to.infinity(a.sign),
            Class::Finite if a.mantissa == 0 => to.zero(a.sign),
            Class::Finite => self.round(to, a.exact()),
        }
    }
}

/// A fixed-point format; an integer where `fraction` is 0.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    /// Bits in all: 16 or 32.
    pub size: u32,
    /// Bits of the fraction.
    pub fraction: u32,
    /// True if the number is in two's complement.
    pub signed: bool,
}
