//! Executions and cycles of each instruction.

use mcu::Step;
use std::collections::BTreeMap;
use std::ops::Range;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub executions: u64,
    /// From its beginning to that of the next one, in all: with waiting, sleep, and the entry into
    /// an interrupt behind it.
    pub cycles: u64,
}

/// Addresses that are counted together: most steps stay within.
const PAGE: usize = 256;

/// Counts by address.
#[derive(Default)]
pub(crate) struct InstructionCounts {
    pages: Vec<Box<[Count; PAGE]>>,
    /// By the address's upper bits an index into `pages`.
    index: BTreeMap<u32, usize>,
    /// The last one that was looked for.
    recent: Option<(u32, usize)>,
    last: Option<(u32, u64)>,
}

impl InstructionCounts {
    /// An instruction is about to execute; the one before it has been.
    pub fn step(&mut self, step: &Step) {
        let Some((pc, cycles)) = self.last.replace((step.pc, step.cycles)) else { return };
        // A run that goes on tells of the instruction again that the last one ended before, and so
        // does one that ends in a fault.
        if (pc, cycles) == (step.pc, step.cycles) {
            return;
        }
        let count = self.at(pc);
        count.executions += 1;
        count.cycles += step.cycles - cycles;
    }

    fn at(&mut self, pc: u32) -> &mut Count {
        let (number, offset) = (pc / PAGE as u32, pc as usize % PAGE);
        let page = match self.recent {
            Some((recent, page)) if recent == number => page,
            _ => {
                let page = *self.index.entry(number).or_insert(self.pages.len());
                if page == self.pages.len() {
                    self.pages.push(Box::new([Count::default(); PAGE]));
                }
                self.recent = Some((number, page));
                page
            }
        };
        &mut self.pages[page][offset]
    }

    /// Returns the count of the instruction at an address.
    pub fn get(&self, pc: u32) -> Count {
        let page = self.index.get(&(pc / PAGE as u32));
        page.map_or(Count::default(), |page| self.pages[*page][pc as usize % PAGE])
    }

    /// The instructions of a range that were executed, by address.
    pub fn within(&self, range: Range<u32>) -> impl Iterator<Item = (u32, Count)> + '_ {
        range.map(|pc| (pc, self.get(pc))).filter(|(_, count)| count.executions > 0)
    }
}
