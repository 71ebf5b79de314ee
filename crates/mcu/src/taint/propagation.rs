//! Labels of a result's bytes.

use super::all;
use crate::dataflow::Propagation;

impl Propagation {
    /// The labels of a result's bytes, from those of its sources.
    #[inline]
    pub(super) fn apply(self, labels: u32) -> u32 {
        // The bytes from a bit on, those behind the last as the last.
        let right = |labels: u64, by: u8| {
            let whole = labels >> (8 * (by / 8));
            (whole | if by.is_multiple_of(8) { 0 } else { whole >> 8 }) as u32
        };
        let twice = |labels: u32| u64::from(labels) << 32 | u64::from(labels);
        match self {
            Propagation::Bytes => labels,
            Propagation::Masked(mask) => labels & mask,
            Propagation::Upward => labels | labels << 8 | labels << 16 | labels << 24,
            Propagation::Mixed => u32::from(all(labels)) * 0x0101_0101,
            Propagation::Left(by) if by > 31 => 0,
            Propagation::Left(by) => {
                let whole = labels << (8 * (by / 8));
                whole | if by.is_multiple_of(8) { 0 } else { whole << 8 }
            }
            Propagation::Right(by) if by > 31 => 0,
            Propagation::Right(by) => right(labels.into(), by),
            Propagation::SignedRight(by) => {
                let sign = u64::from(labels >> 24) * 0x0101_0101;
                right(sign << 32 | u64::from(labels), by.min(31))
            }
            Propagation::Rotated(by) => right(twice(labels), by & 31),
            Propagation::Reversed => labels.swap_bytes(),
        }
    }
}
