//! The output units: SLAU208, section "Output Unit", table "Output Modes".

use super::{CAP, CHANNELS, MC_UP, Timer};
use crate::Context;

/// `OUT` of `TAxCCTLn`.
const OUT: u32 = 0x04;

/// Action on an output unit's level.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Stays,
    Set,
    Reset,
    Toggle,
}

impl Action {
    fn on(self, level: bool) -> bool {
        match self {
            Action::Stays => level,
            Action::Set => true,
            Action::Reset => false,
            Action::Toggle => !level,
        }
    }
}

/// By OUTMOD: what EQUn does, and what EQU0 does.
const ACTIONS: [[Action; 2]; 8] = {
    use Action::{Reset, Set, Stays, Toggle};
    [
        [Stays, Stays],
        [Set, Stays],
        [Toggle, Reset],
        [Set, Reset],
        [Toggle, Stays],
        [Reset, Stays],
        [Toggle, Set],
        [Reset, Set],
    ]
};

/// The levels of the output units, and what has become of them since somebody was told.
#[derive(Clone, Default)]
pub(super) struct OutputUnits {
    levels: [bool; CHANNELS],
    /// Channel, level, and the cycle from which on it is that.
    edges: Vec<(usize, bool, u64)>,
}

impl OutputUnits {
    fn set(&mut self, channel: usize, level: bool, at: u64) {
        if self.levels[channel] != level {
            self.levels[channel] = level;
            self.edges.push((channel, level, at));
        }
    }
}

impl Timer {
    fn output_mode(&self, channel: usize) -> usize {
        (self.capture_control[channel] >> 5 & 7) as usize
    }

    /// Actions of EQUn and EQU0 on a channel's output unit: "In capture mode" there is none.
    fn actions(&self, channel: usize) -> [Action; 2] {
        if self.capture_control[channel] & CAP != 0 { ACTIONS[0] } else { ACTIONS[self.output_mode(channel)] }
    }

    /// Returns true if a value of `TAxCCTLn` chooses a mode in which EQU0 acts, which is of no use
    /// in channel 0.
    pub(super) fn acts_by_equ0(value: u32) -> bool {
        ACTIONS[(value >> 5 & 7) as usize][1] != Action::Stays
    }

    /// The first clock after `clock` with EQU0: in up mode "when the timer .. rolls from TAxCCR0 to
    /// zero", else at CCR0.
    fn next_equ0(&self, clock: u64) -> Option<u64> {
        let value = if self.mode() == MC_UP { 0 } else { self.compare[0] };
        self.next(value, clock)
    }

    /// The first clock after `clock` at which an output unit may change.
    pub(super) fn next_output(&self, clock: u64) -> Option<u64> {
        let changes = |channel: usize| {
            let level = self.outputs.levels[channel];
            let [own, equ0] = self.actions(channel).map(|action| {
                // A level that is set or reset for good does not change any more.
                let alone = self.actions(channel)[1] == Action::Stays;
                action == Action::Stays || alone && action.on(level) == level
            });
            let own = if own { None } else { self.next(self.compare[channel], clock) };
            let equ0 = if equ0 { None } else { self.next_equ0(clock) };
            own.into_iter().chain(equ0).min()
        };
        (0..self.channels).filter_map(changes).min()
    }

    /// The output units do what comes up to a clock. Of both at once EQUn has the last word: CCRn =
    /// 0 in mode 7 is never high.
    pub(super) fn run_outputs(&mut self, clock: u64) {
        let mut from = self.seen;
        while let Some(at) = self.next_output(from).filter(|at| *at <= clock) {
            let cycle = self.cycle_of(at);
            let equ0 = self.next_equ0(at - 1) == Some(at);
            for channel in 0..self.channels {
                let [on_own, on_equ0] = self.actions(channel);
                let mut level = self.outputs.levels[channel];
                if equ0 {
                    level = on_equ0.on(level);
                }
                if self.next(self.compare[channel], at - 1) == Some(at) {
                    level = on_own.on(level);
                }
                self.outputs.set(channel, level, cycle);
            }
            from = at;
        }
    }

    /// `TAxCCTLn` was written: in mode 0 the level is OUT.
    pub(super) fn output_written(&mut self, channel: usize, cycle: u64) {
        if self.output_mode(channel) == 0 {
            self.outputs.set(channel, self.capture_control[channel] & OUT != 0, cycle);
        }
    }

    /// The pins follow the output units.
    pub(super) fn drive_edges(&mut self, context: &mut Context<'_, '_>) {
        for (channel, level, at) in self.outputs.edges.drain(..) {
            self.signals.drive(channel, level, at, context);
        }
    }

    /// Pins may have come to the timer or left it.
    pub(super) fn drive_all(&mut self, context: &mut Context<'_, '_>) {
        for channel in 0..self.channels {
            self.signals.drive(channel, self.outputs.levels[channel], context.now, context);
        }
    }
}
