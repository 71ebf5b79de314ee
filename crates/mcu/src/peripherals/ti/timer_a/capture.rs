//! Capture: SLAU208, section "Capture Mode".
//!
//! A capture is that of the count at which the edge comes, with SCS as without, which on silicon
//! takes up to a clock of the timer longer.

use super::{CAP, CCIFG, Timer};
use crate::Board;

/// `CMx`, `CCISx`, `CCI` and `COV` of `TAxCCTLn`.
const CM_RISING: u32 = 0x4000;
const CM_FALLING: u32 = 0x8000;
const CCI: u32 = 0x08;
const COV: u32 = 0x02;

impl Timer {
    /// Returns true if edges of a channel's input are captured.
    pub(super) fn captures(&self, channel: usize) -> bool {
        let control = self.capture_control[channel];
        control & CAP != 0 && control & (CM_RISING | CM_FALLING) != 0
    }

    /// The level of the input that CCIS chooses; `None` where it is a signal within the part.
    pub(super) fn capture_input(&self, channel: usize, board: &Board) -> Option<bool> {
        match self.capture_control[channel] >> 12 & 3 {
            2 => Some(false),
            3 => Some(true),
            input => self.signals.level(channel, input as usize, board),
        }
    }

    /// A channel's input may have changed: an edge that CM chooses takes the count.
    pub(super) fn look_at_input(&mut self, channel: usize, board: &Board) {
        let level = self.capture_input(channel, board).unwrap_or(false);
        let before = self.capture_control[channel] & CCI != 0;
        if level == before {
            return;
        }
        self.capture_control[channel] ^= CCI;
        let edge = if level { CM_RISING } else { CM_FALLING };
        if !self.captures(channel) || self.capture_control[channel] & edge == 0 {
            return;
        }
        self.compare[channel] = self.counter(self.seen);
        // "If a second capture is performed before the value from the first capture is read".
        let lost = std::mem::replace(&mut self.unread[channel], true);
        self.capture_control[channel] |= CCIFG | if lost { COV } else { 0 };
    }

    /// `TAxCCTLn` is written; CCI is read-only. Where captures were on before, another input may be
    /// an edge: "capture initiated by software".
    pub(super) fn write_capture_control(&mut self, channel: usize, value: u32, board: &Board) {
        let (captured, before) = (self.captures(channel), self.capture_control[channel] & CCI);
        self.capture_control[channel] = value & !CCI | before;
        if !(captured && self.captures(channel)) {
            let level = self.capture_input(channel, board).unwrap_or(false);
            self.capture_control[channel] = value & !CCI | if level { CCI } else { 0 };
        }
        self.look_at_input(channel, board);
    }
}
