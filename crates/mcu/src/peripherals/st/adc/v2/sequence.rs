//! The order of the channels, and the time for which each is sampled.

use super::Adc;
use super::layout::{CHSELR, SMPR1, SMPR2, SQR1, Sequence};

/// CFGR1 of the F0.
const SCANDIR: u32 = 1 << 2;
/// SMPR1: 2.5 clocks are 3.5.
const SMPPLUS: u32 = 1 << 31;
const SMPPLUS_HALVES: u64 = 7;

impl Adc {
    /// The position of the sequence that comes after this one, or first.
    pub(super) fn next(&self, after: Option<u32>) -> Option<u32> {
        if self.layout.sequence == Sequence::Ranks {
            let rank = after.map_or(0, |after| after + 1);
            return (rank <= self.registers[SQR1] & 15).then_some(rank);
        }
        let chosen = self.registers[CHSELR];
        let mut chosen = (0..=self.layout.last_channel).filter(|channel| {
            let comes = match after {
                Some(after) if self.is(SCANDIR) => *channel < after,
                Some(after) => *channel > after,
                None => true,
            };
            comes && chosen >> channel & 1 == 1
        });
        if self.is(SCANDIR) { chosen.next_back() } else { chosen.next() }
    }

    /// The channel at a position. SQR1 has L in its first field, four ranks behind it, the others
    /// five each.
    pub(super) fn channel(&self, position: u32) -> u32 {
        match self.layout.sequence {
            Sequence::Channels => position,
            Sequence::Ranks => {
                let field = position + 1;
                self.registers[SQR1 + 4 * (field / 5)] >> (6 * (field % 5)) & 31
            }
        }
    }

    pub(super) fn sampling_halves(&self, channel: u32) -> u64 {
        let first = self.registers[SMPR1];
        let chosen = match self.layout.sequence {
            Sequence::Channels => first,
            Sequence::Ranks if channel < 10 => first >> (3 * channel),
            Sequence::Ranks => self.registers[SMPR2] >> (3 * (channel - 10)),
        } & 7;
        if chosen == 0 && self.layout.sequence == Sequence::Ranks && first & SMPPLUS != 0 {
            return SMPPLUS_HALVES;
        }
        self.layout.sampling[chosen as usize]
    }
}
