//! The arithmetic of the instructions, as the pseudocode of DDI 0403E (A2.2, chapter A7) has it.

/// Shifts by an immediate: `kind` 0 LSL, 1 LSR, 2 ASR, 3 ROR, 4 RRX (`amount` as decoded: 32 where
/// the encoding means it).
#[inline(always)]
pub(super) fn shift(value: u32, kind: u8, amount: u32, carry: bool) -> u32 {
    // All are one shift to the right of two words: a choice without a jump, which the host would
    // foresee badly.
    let sign = (value as i32 >> 31) as u32;
    let high = if kind == 4 { carry.into() } else { value };
    let high = if kind == 2 { sign } else { high };
    let high = if kind == 1 { 0 } else { high };
    let low = if kind == 0 { 0 } else { value };
    let by = if kind == 4 { 1 } else { amount & 63 };
    let by = if kind == 0 { 32 - (amount & 31) } else { by };
    ((u64::from(high) << 32 | u64::from(low)) >> by) as u32
}

/// As [`shift`], with the carry out.
#[inline(always)]
pub(super) fn shift_c(value: u32, kind: u8, amount: u32, carry: bool) -> (u32, bool) {
    let result = shift(value, kind, amount, carry);
    let out = match kind {
        0 if amount == 0 => carry,
        0 => value >> ((32 - amount) & 31) & 1 != 0,
        1 => (u64::from(value) << 1 >> (amount & 63)) & 1 != 0,
        2 => ((i64::from(value as i32) << 1) >> (amount & 63)) & 1 != 0,
        3 => result >> 31 != 0,
        _ => value & 1 != 0,
    };
    (result, out)
}

/// LSL, LSR, ASR, ROR by the low byte of a register, with the carry out.
#[inline(always)]
pub(super) fn shift_register(value: u32, kind: u8, by: u32, carry: bool) -> (u32, bool) {
    let by = by & 255;
    if by == 0 {
        return (value, carry);
    }
    match kind {
        0 => match by {
            1..=31 => (value << by, value >> (32 - by) & 1 != 0),
            32 => (0, value & 1 != 0),
            _ => (0, false),
        },
        1 => match by {
            1..=31 => (value >> by, value >> (by - 1) & 1 != 0),
            32 => (0, value >> 31 != 0),
            _ => (0, false),
        },
        2 => {
            let by = by.min(32);
            let out = (i64::from(value as i32) >> (by - 1)) & 1 != 0;
            ((i64::from(value as i32) >> by) as u32, out)
        }
        _ => {
            let result = value.rotate_right(by & 31);
            (result, result >> 31 != 0)
        }
    }
}

/// AddWithCarry: the sum, C, V.
#[inline(always)]
pub(super) fn add_with_carry(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let wide = u64::from(a) + u64::from(b) + u64::from(carry);
    let sum = wide as u32;
    (sum, wide >> 32 != 0, ((a ^ sum) & (b ^ sum)) >> 31 != 0)
}

/// SignedSatQ: the value within `width` bits, and whether it had to be changed.
#[inline]
pub(super) fn saturate_signed(value: i64, width: u32) -> (i32, bool) {
    let limit = 1i64 << (width - 1);
    let result = value.clamp(-limit, limit - 1);
    (result as i32, result != value)
}

/// UnsignedSatQ.
#[inline]
pub(super) fn saturate_unsigned(value: i64, width: u32) -> (u32, bool) {
    let result = value.clamp(0, (1i64 << width) - 1);
    (result as u32, result != value)
}

/// A halfword of a register, signed: the top one or the bottom one.
#[inline(always)]
pub(super) fn half(value: u32, top: bool) -> i32 {
    if top { value as i32 >> 16 } else { i32::from(value as i16) }
}

/// The parallel additions and subtractions (A7.7: SADD8 and its kin): result and, for the plain
/// signed and unsigned ones, GE. `operation`: 0 ADD8, 1 ADD16, 2 ASX, 4 SUB8, 5 SUB16, 6 SAX;
/// `prefix`: 0 S, 1 Q, 2 SH, 3 U, 4 UQ, 5 UH.
pub(super) fn parallel(operation: u32, prefix: u8, n: u32, m: u32) -> (u32, Option<u8>) {
    let signed = prefix < 3;
    let lane = |value: u32, index: u32, width: u32| -> i32 {
        let raw = value >> (index * width);
        match (width, signed) {
            (8, true) => i32::from(raw as i8),
            (8, false) => i32::from(raw as u8),
            (_, true) => i32::from(raw as i16),
            (_, false) => i32::from(raw as u16),
        }
    };
    let (width, lanes) = if operation & 3 == 0 { (8, 4) } else { (16, 2) };
    let (mut result, mut ge) = (0u32, 0u8);
    for index in 0..lanes {
        // ASX adds in the top half and subtracts in the bottom one, SAX the other way round; both
        // cross over m.
        let cross = operation & 3 == 2;
        let subtract = if cross { (index == 0) == (operation == 2) } else { operation & 4 != 0 };
        let a = lane(n, index, width);
        let b = lane(m, if cross { 1 - index } else { index }, width);
        let value = if subtract { a - b } else { a + b };
        let bits = match prefix {
            0 | 3 => value,
            1 => saturate_signed(i64::from(value), width).0,
            4 => saturate_unsigned(i64::from(value), width).0 as i32,
            _ => value >> 1,
        };
        result |= (bits as u32 & ((1 << width) - 1)) << (index * width);
        // Unsigned additions set GE on carry, everything else on a result that is not negative.
        let holds = if signed || subtract { value >= 0 } else { value >= 1 << width };
        if holds {
            ge |= if width == 8 { 1 << index } else { 3 << (index * 2) };
        }
    }
    (result, matches!(prefix, 0 | 3).then_some(ge))
}

/// USAD8: the sum of the absolute differences of the bytes.
#[inline]
pub(super) fn absolute_differences(n: u32, m: u32) -> u32 {
    let (n, m) = (n.to_le_bytes(), m.to_le_bytes());
    n.iter().zip(m).map(|(a, b)| u32::from(a.abs_diff(b))).sum()
}
