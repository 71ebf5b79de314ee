//! The constants of a peripheral: name, addresses and lines.

use std::ops::Range;

/// The constants of a peripheral, which the bus asks for once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Spec {
    /// Its name in the target file.
    pub name: String,
    /// The addresses that it answers at (AVR: without 0x800000).
    pub ranges: Vec<Range<u32>>,
    /// Those of its addresses where other devices have bits, too (AVR: TIMSK and TIFR). It reads
    /// their bits as 0 and ignores writes to them.
    pub shared: Vec<u32>,
    /// Blocks among its addresses that have a clock and a reset of their own, by their names in the
    /// manual (STM32: SYSCFG beside EXTI).
    pub blocks: Vec<(&'static str, Range<u32>)>,
    /// The interrupts, a bit each, whose acknowledgement the bus tells it of.
    pub interrupts: u128,
    /// The lines of the DMA requests that it may make.
    pub dma_lines: u128,
    /// Levels at input pins start or stop something in it.
    pub follows_inputs: bool,
    /// Triggers start or stop something in it.
    pub follows_triggers: bool,
}

impl Spec {
    /// A device of this name at one range of addresses.
    #[must_use]
    pub fn new(name: &str, range: Range<u32>) -> Spec {
        Spec::with_ranges(name, std::iter::once(range))
    }

    /// A device of this name at several ranges of addresses.
    #[must_use]
    pub fn with_ranges(name: &str, ranges: impl IntoIterator<Item = Range<u32>>) -> Spec {
        Spec { name: name.into(), ranges: ranges.into_iter().collect(), ..Spec::default() }
    }
}
