//! Channels with a complementary output: control bits with preload, which a commutation event puts
//! in use, and the dead time between the two.
//!
//! RM0090 sections 17.3.11 (dead time), 17.3.14 (6-step PWM), 17.4.2 (CCPC, CCUS), 17.4.18 (DTG). A
//! dead time begins with an edge of the channel's reference; what registers change acts at once.

use super::{DTG, MOE, Timer};
use crate::Context;

/// CR2: the control bits have preload, which the rising edge of the trigger input puts in use, too.
pub(super) const CCPC: u32 = 1 << 0;
pub(super) const CCUS: u32 = 1 << 2;
/// SR; COMIE and COMG are at the same place.
pub(super) const COMIF: u32 = 1 << 5;
/// CCER: CCxE and CCxNE.
const ENABLES: u32 = 5;

/// The parts of those channels that are in use.
#[derive(Clone, Default)]
pub(super) struct Complementary {
    /// CCER; OCxM in use are the counter's.
    pub outputs: u32,
    /// The cycle at which a dead time ends, and the reference at that time.
    dead: [Option<(u64, bool)>; 4],
    /// The cycle of a commutation that the pins do not know yet.
    commutated: Option<u64>,
}

impl Complementary {
    /// The cycle at which the next dead time ends.
    pub fn due(&self) -> Option<u64> {
        self.dead.iter().flatten().map(|(end, _)| *end).min()
    }

    /// The timer's clock stood still for these cycles.
    pub fn delay(&mut self, cycles: u64) {
        self.dead.iter_mut().flatten().for_each(|(end, _)| *end += cycles);
        self.commutated.iter_mut().for_each(|at| *at += cycles);
    }

    /// True where a channel is in its dead time.
    pub fn is_dead(&self, channel: usize) -> bool {
        self.dead[channel].is_some()
    }
}

impl Timer {
    /// True where a channel has OCxN: all but the fourth of four, and the first of fewer.
    fn has_complement(&self, channel: usize) -> bool {
        self.repeats && channel < if self.channels == 4 { 3 } else { 1 }
    }

    /// CCxE, CCxNE and OCxM come in use, but where they wait for a commutation event.
    pub(super) fn follow_controls(&mut self, commutates: bool) {
        for channel in 0..self.channels {
            let waits = self.control2 & CCPC != 0 && !commutates && self.has_complement(channel);
            let followed = if waits { 0xf & !ENABLES } else { 0xf } << (4 * channel);
            self.complementary.outputs = self.complementary.outputs & !followed | self.outputs & followed;
            self.counter.modes[channel] = match self.selection(channel) {
                0 if waits => self.counter.modes[channel],
                0 => self.modes[channel / 2] >> (channel % 2 * 8 + 4) & 7,
                // An input leaves its reference alone.
                _ => 0,
            };
        }
    }

    /// The commutation event.
    pub(super) fn commutate(&mut self, at: u64) {
        self.counter.status |= COMIF;
        self.complementary.commutated = Some(at);
        self.follow_controls(true);
        self.watch();
        self.counter.refresh_references(at);
    }

    /// The pins follow a commutation.
    pub(super) fn drive_commutated(&mut self, context: &mut Context<'_, '_>) {
        if let Some(at) = self.complementary.commutated.take() {
            self.drive(at, context);
        }
    }

    /// Cycles of the core's clock between an edge of a channel's reference and the output that
    /// becomes active by it.
    fn dead_time(&self, channel: usize) -> Option<u64> {
        let both = self.complementary.outputs >> (4 * channel) & ENABLES == ENABLES;
        let setting = u64::from(self.breaks & DTG);
        let steps = match setting >> 5 {
            0..=3 => setting,
            4 | 5 => (64 + (setting & 0x3f)) * 2,
            6 => (32 + (setting & 0x1f)) * 8,
            _ => (32 + (setting & 0x1f)) * 16,
        };
        let used = self.has_complement(channel) && both && self.breaks & MOE != 0 && setting != 0;
        used.then(|| steps * self.dts_cycles())
    }

    /// A channel's reference changes.
    pub(super) fn begin_dead_time(&mut self, channel: usize, reference: bool, at: u64) {
        self.complementary.dead[channel] = self.dead_time(channel).map(|cycles| (at + cycles, reference));
    }

    /// The dead times that are over at cycle `now`.
    pub(super) fn end_dead_times(&mut self, now: u64, context: &mut Context<'_, '_>) {
        for channel in 0..self.channels {
            let over = self.complementary.dead[channel].filter(|(end, _)| *end <= now);
            if let Some((end, reference)) = over {
                self.complementary.dead[channel] = None;
                let levels = self.output(channel, reference);
                self.pins.drive(channel, levels, end, context);
            }
        }
    }
}
