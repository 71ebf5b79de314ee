//! Registers without a model that remember what was written: a program that only passes by goes on.

use crate::{Context, Fault, Peripheral, Roles, Spec, StubUse};
use std::collections::BTreeMap;
use std::ops::Range;

/// A range of such registers. It sets no flag and asks for no interrupt: a program that waits for
/// either waits for ever.
#[derive(Clone)]
pub struct Stub {
    used: StubUse,
    ranges: Vec<Range<u32>>,
    /// Bytes written since the last reset; all else is zero.
    bytes: BTreeMap<u32, u8>,
}

impl Stub {
    /// Registers at these addresses.
    pub fn new(name: &str, ranges: Vec<Range<u32>>) -> Stub {
        Stub { used: StubUse { name: name.into(), reads: 0, writes: 0 }, ranges, bytes: BTreeMap::new() }
    }
}

impl Peripheral for Stub {
    fn spec(&self) -> Spec {
        Spec::with_ranges(&self.used.name, self.ranges.clone())
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.used.reads += 1;
        let byte = |at| u32::from(self.bytes.get(&(address + at)).copied().unwrap_or(0)) << (8 * at);
        Ok((0..u32::from(size)).map(byte).sum())
    }

    fn write(&mut self, address: u32, size: u8, value: u32, _: &mut Context<'_, '_>) -> Result<(), Fault> {
        self.used.writes += 1;
        let bytes = value.to_le_bytes().into_iter().take(size.into());
        self.bytes.extend((address..).zip(bytes));
        Ok(())
    }

    fn reset(&mut self) {
        self.bytes.clear();
    }

    fn roles(&self) -> Roles<'_> {
        Roles { stub: Some(&self.used), ..Roles::default() }
    }
}

/// The pieces of a range that are in none of the others.
#[must_use]
pub fn without(range: Range<u32>, mut others: Vec<Range<u32>>) -> Vec<Range<u32>> {
    others.sort_by_key(|other| other.start);
    let mut left = Vec::new();
    let mut start = range.start;
    for other in others.into_iter().filter(|other| other.end > range.start && other.start < range.end) {
        left.push(start..other.start);
        start = start.max(other.end);
    }
    left.push(start..range.end);
    left.retain(|piece| piece.start < piece.end);
    left
}
