//! ARM's floating-point arithmetic.
//!
//! Source: DDI 0403E, A2.5 and the functions `FPAdd` to `FPRound` of appendix D6.
//!
//! Every operation forms its exact result, or one with a sticky lowest bit, and rounds it once.
//! IEEE 754 leaves open what ARM fixes: tininess is detected before rounding; a NaN operand is
//! handed on, a signalling one first; flushing to zero replaces denormal operands and results, of
//! all formats but half precision.

use super::formats::{Format, HALF, Rounding, flag};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    Finite,
    Infinity,
    Quiet,
    Signalling,
}

/// An operand: `mantissa` × 2^`exponent` where it is finite, normalised to bit 63 or zero.
#[derive(Clone, Copy)]
pub(super) struct Number {
    pub bits: u64,
    pub class: Class,
    pub sign: bool,
    pub mantissa: u64,
    pub exponent: i32,
}

impl Number {
    pub fn is_zero(&self) -> bool {
        self.class == Class::Finite && self.mantissa == 0
    }

    pub fn is_infinite(&self) -> bool {
        self.class == Class::Infinity
    }

    pub fn exact(&self) -> Exact {
        Exact { sign: self.sign, mantissa: u128::from(self.mantissa), exponent: self.exponent }
    }
}

/// `mantissa` × 2^`exponent`.
#[derive(Clone, Copy)]
pub(super) struct Exact {
    pub sign: bool,
    pub mantissa: u128,
    pub exponent: i32,
}

impl Exact {
    /// The same with the highest bit at 125, so that two can be added. No operand or product has
    /// more than 106 bits.
    fn normalised(self) -> Exact {
        let up = self.mantissa.leading_zeros() as i32 - 2;
        let mantissa = if up >= 0 { self.mantissa << up } else { self.mantissa >> -up };
        Exact { mantissa, exponent: self.exponent - up, ..self }
    }
}

/// `mantissa` without its lowest `shift` bits, the highest of these, and whether any other of these
/// is set.
pub(super) fn split(mantissa: u128, shift: u32) -> (u128, bool, bool) {
    match shift {
        0 => (mantissa, false, false),
        1..=127 => {
            let half = mantissa >> (shift - 1) & 1 != 0;
            (mantissa >> shift, half, mantissa & ((1 << (shift - 1)) - 1) != 0)
        }
        128 => (0, mantissa >> 127 != 0, mantissa << 1 != 0),
        _ => (0, false, mantissa != 0),
    }
}

/// The modes of FPSCR, and the flags that operations have raised.
#[derive(Clone, Copy, Debug)]
pub struct Environment {
    /// Rounding of results.
    pub rounding: Rounding,
    /// FZ.
    flush_to_zero: bool,
    /// DN.
    pub(super) default_nan: bool,
    /// AHP.
    pub(super) alternative_half: bool,
    /// The flags raised, at their places in FPSCR.
    pub flags: u32,
}

impl Environment {
    /// The modes of an FPSCR, no flag raised.
    #[must_use]
    pub fn new(fpscr: u32) -> Environment {
        Environment {
            rounding: Rounding::from_mode(fpscr >> 22),
            flush_to_zero: fpscr >> 24 & 1 != 0,
            default_nan: fpscr >> 25 & 1 != 0,
            alternative_half: fpscr >> 26 & 1 != 0,
            flags: 0,
        }
    }

    fn invalid(&mut self, format: Format) -> u64 {
        self.flags |= flag::INVALID;
        format.default_nan()
    }

    /// `FPUnpack`.
    pub(super) fn unpack(&mut self, format: Format, bits: u64) -> Number {
        let sign = format.is_negative(bits);
        let fraction = bits & format.fraction_mask();
        let field = (bits & format.exponent_mask()) >> format.fraction;
        let mut number = Number { bits, class: Class::Finite, sign, mantissa: 0, exponent: 0 };
        let all = format.exponent_mask() >> format.fraction;
        if field == all && !(format == HALF && self.alternative_half) {
            number.class = match fraction {
                0 => Class::Infinity,
                _ if fraction & format.quiet_bit() != 0 => Class::Quiet,
                _ => Class::Signalling,
            };
            return number;
        }
        if field == 0 && fraction != 0 && self.flush_to_zero && format != HALF {
            self.flags |= flag::INPUT_DENORMAL;
            number.bits = format.zero(sign);
            return number;
        }
        let mantissa = if field == 0 { fraction } else { fraction | 1 << format.fraction };
        if mantissa != 0 {
            let up = mantissa.leading_zeros();
            number.mantissa = mantissa << up;
            number.exponent = (field as i32).max(1) - format.bias() - format.fraction as i32 - up as i32;
        }
        number
    }

    /// `FPProcessNaN`.
    pub(super) fn nan(&mut self, format: Format, number: &Number) -> u64 {
        if number.class == Class::Signalling {
            self.flags |= flag::INVALID;
        }
        if self.default_nan { format.default_nan() } else { number.bits | format.quiet_bit() }
    }

    /// `FPProcessNaNs`: the result where an operand is a NaN.
    pub(super) fn nans(&mut self, format: Format, numbers: &[&Number]) -> Option<u64> {
        let first = |class: Class| numbers.iter().find(|number| number.class == class);
        let found = first(Class::Signalling).or_else(|| first(Class::Quiet))?;
        Some(self.nan(format, found))
    }

    /// `FPRound` of a number that is not zero; its lowest bit may be sticky.
    pub(super) fn round(&mut self, format: Format, number: Exact) -> u64 {
        let Exact { sign, mantissa, exponent } = number;
        let scale = exponent + 127 - mantissa.leading_zeros() as i32;
        let minimum = 1 - format.bias();
        if scale < minimum && self.flush_to_zero && format != HALF {
            self.flags |= flag::UNDERFLOW;
            return format.zero(sign);
        }
        let unit = scale.max(minimum) - format.fraction as i32;
        let (mut kept, half, sticky) = match unit - exponent {
            down @ 0.. => split(mantissa, down as u32),
            up => (mantissa << -up, false, false),
        };
        let inexact = half || sticky;
        if self.rounding.increments(sign, kept & 1 != 0, half, sticky) {
            kept += 1;
        }
        // The leading bit of a normal number adds one to the exponent, and so does a carry into it.
        let field = (scale.max(minimum) - minimum) as u64;
        let alternative = format == HALF && self.alternative_half;
        let limit = format.exponent_mask() + if alternative { 1 << format.fraction } else { 0 };
        let magnitude = (u128::from(field) << format.fraction) + kept;
        if magnitude < u128::from(limit) {
            if inexact {
                self.flags |= flag::INEXACT | if scale < minimum { flag::UNDERFLOW } else { 0 };
            }
            return format.zero(sign) | magnitude as u64;
        }
        if alternative {
            self.flags |= flag::INVALID;
            return format.zero(sign) | (limit - 1);
        }
        self.flags |= flag::OVERFLOW | flag::INEXACT;
        let infinite = self.rounding.increments(sign, true, true, true);
        format.zero(sign) | (limit - u64::from(!infinite))
    }

    /// A sum, rounded.
    fn sum(&mut self, format: Format, one: Exact, other: Exact) -> u64 {
        let down = self.rounding == Rounding::Down;
        match (one.mantissa, other.mantissa) {
            (0, 0) => return format.zero(if one.sign == other.sign { one.sign } else { down }),
            (0, _) => return self.round(format, other),
            (_, 0) => return self.round(format, one),
            _ => {}
        }
        let (mut large, mut small) = (one.normalised(), other.normalised());
        if (small.exponent, small.mantissa) > (large.exponent, large.mantissa) {
            std::mem::swap(&mut large, &mut small);
        }
        let (kept, half, sticky) = split(small.mantissa, large.exponent.abs_diff(small.exponent));
        // Bits are lost only beyond what cancellation can bring back: the distance is then more
        // than one.
        let addend = kept | u128::from(half || sticky);
        if large.sign == small.sign {
            large.mantissa += addend;
        } else {
            large.mantissa -= addend;
        }
        if large.mantissa == 0 { format.zero(down) } else { self.round(format, large) }
    }

    /// `FPAdd`.
    pub fn add(&mut self, format: Format, a: u64, b: u64) -> u64 {
        self.add_or_subtract(format, a, b, false)
    }

    /// `FPSub`: unlike the sum with the operand negated, it keeps the sign of a NaN.
    pub fn subtract(&mut self, format: Format, a: u64, b: u64) -> u64 {
        self.add_or_subtract(format, a, b, true)
    }

    fn add_or_subtract(&mut self, format: Format, a: u64, b: u64, subtract: bool) -> u64 {
        let (a, mut b) = (self.unpack(format, a), self.unpack(format, b));
        if let Some(nan) = self.nans(format, &[&a, &b]) {
            return nan;
        }
        b.sign ^= subtract;
        match (a.is_infinite(), b.is_infinite()) {
            (true, true) if a.sign != b.sign => self.invalid(format),
            (true, _) => format.infinity(a.sign),
            (_, true) => format.infinity(b.sign),
            _ => self.sum(format, a.exact(), b.exact()),
        }
    }

    fn product(a: &Number, b: &Number) -> Exact {
        Exact {
            sign: a.sign != b.sign,
            mantissa: u128::from(a.mantissa) * u128::from(b.mantissa),
            exponent: a.exponent + b.exponent,
        }
    }

    /// `FPMul`.
    pub fn multiply(&mut self, format: Format, a: u64, b: u64) -> u64 {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        if let Some(nan) = self.nans(format, &[&a, &b]) {
            return nan;
        }
        let sign = a.sign != b.sign;
        if (a.is_infinite() && b.is_zero()) || (a.is_zero() && b.is_infinite()) {
            return self.invalid(format);
        }
        if a.is_infinite() || b.is_infinite() {
            return format.infinity(sign);
        }
        if a.is_zero() || b.is_zero() {
            return format.zero(sign);
        }
        self.round(format, Self::product(&a, &b))
    }

    /// `FPMulAdd`: `addend` + `a` × `b`, rounded once.
    pub fn multiply_add(&mut self, format: Format, addend: u64, a: u64, b: u64) -> u64 {
        let c = self.unpack(format, addend);
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        let undefined = (a.is_infinite() && b.is_zero()) || (a.is_zero() && b.is_infinite());
        if let Some(nan) = self.nans(format, &[&c, &a, &b]) {
            return if undefined && c.class == Class::Quiet { self.invalid(format) } else { nan };
        }
        let sign = a.sign != b.sign;
        let infinite = a.is_infinite() || b.is_infinite();
        if undefined || (infinite && c.is_infinite() && c.sign != sign) {
            return self.invalid(format);
        }
        if infinite || c.is_infinite() {
            return format.infinity(if infinite { sign } else { c.sign });
        }
        self.sum(format, c.exact(), Self::product(&a, &b))
    }

    /// `FPDiv`.
    pub fn divide(&mut self, format: Format, a: u64, b: u64) -> u64 {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        if let Some(nan) = self.nans(format, &[&a, &b]) {
            return nan;
        }
        let sign = a.sign != b.sign;
        if (a.is_infinite() && b.is_infinite()) || (a.is_zero() && b.is_zero()) {
            return self.invalid(format);
        }
        if a.is_infinite() || b.is_zero() {
            if !a.is_infinite() {
                self.flags |= flag::DIVIDE_BY_ZERO;
            }
            return format.infinity(sign);
        }
        if a.is_zero() || b.is_infinite() {
            return format.zero(sign);
        }
        // Both lie between 2^63 and 2^64, the quotient between 2^63 and 2^65.
        let (dividend, divisor) = (u128::from(a.mantissa) << 64, u128::from(b.mantissa));
        let sticky = u128::from(dividend % divisor != 0);
        let mantissa = (dividend / divisor) << 1 | sticky;
        self.round(format, Exact { sign, mantissa, exponent: a.exponent - b.exponent - 65 })
    }

    /// `FPSqrt`.
    pub fn square_root(&mut self, format: Format, a: u64) -> u64 {
        let a = self.unpack(format, a);
        if let Some(nan) = self.nans(format, &[&a]) {
            return nan;
        }
        if a.is_zero() {
            return format.zero(a.sign);
        }
        if a.sign {
            return self.invalid(format);
        }
        if a.is_infinite() {
            return format.infinity(false);
        }
        // An even exponent; the root has 63 or 64 bits.
        let up = 62 + (a.exponent & 1);
        let square = u128::from(a.mantissa) << up;
        let root = square.isqrt();
        let mantissa = root << 1 | u128::from(root * root != square);
        self.round(format, Exact { sign: false, mantissa, exponent: (a.exponent - up) / 2 - 1 })
    }

    /// Position of the number in the order of all numbers that are no NaNs.
    fn order(format: Format, number: &Number) -> i64 {
        let magnitude = format.absolute(number.bits) as i64;
        if number.sign { -magnitude } else { magnitude }
    }

    /// `FPCompare`: N, Z, C, V in bits 31 to 28. `signals`: also a quiet NaN is an invalid operand.
    pub fn compare(&mut self, format: Format, a: u64, b: u64, signals: bool) -> u32 {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        let is = |class: Class| a.class == class || b.class == class;
        if is(Class::Signalling) || is(Class::Quiet) {
            if signals || is(Class::Signalling) {
                self.flags |= flag::INVALID;
            }
            return 0x3000_0000;
        }
        match Self::order(format, &a).cmp(&Self::order(format, &b)) {
            std::cmp::Ordering::Less => 0x8000_0000,
            std::cmp::Ordering::Equal => 0x6000_0000,
            std::cmp::Ordering::Greater => 0x2000_0000,
        }
    }

    /// `FPMaxNum`, or `FPMinNum` where `minimum`: a number goes before a quiet NaN.
    pub fn extremum(&mut self, format: Format, a: u64, b: u64, minimum: bool) -> u64 {
        let (a, b) = (self.unpack(format, a), self.unpack(format, b));
        let is_nan = |number: &Number| matches!(number.class, Class::Quiet | Class::Signalling);
        match (a.class, b.class) {
            (Class::Quiet, _) if !is_nan(&b) => return b.bits,
            (_, Class::Quiet) if !is_nan(&a) => return a.bits,
            _ => {}
        }
        if let Some(nan) = self.nans(format, &[&a, &b]) {
            return nan;
        }
        if a.is_zero() && b.is_zero() {
            return format.zero(if minimum { a.sign || b.sign } else { a.sign && b.sign });
        }
        let first = (Self::order(format, &a) > Self::order(format, &b)) != minimum;
        if first { a.bits } else { b.bits }
    }
}
