//! The counter of a timer with its compare units, in ticks of its clock.
//!
//! Flags, outputs and buffered compare values change with the tick that leaves the count in
//! question (DS40002061, figures 15-8 to 15-11 and 16-10 to 16-13).

use super::waveform::{Kind, Top, Waveform};

/// Bits of TIFRn; those of TIMSKn are at the same places.
pub const TOV: u8 = 1;
/// OCFnA; OCFnB and OCFnC are the next.
pub const OCFA: u8 = 2;
/// ICFn.
pub const ICF: u8 = 0x20;

/// Compare channels of a timer, at most.
pub const CHANNELS: usize = 3;

/// Eventful ticks within which each event comes about that ever does: 8 are the most in a period
/// (TOP, BOTTOM, three channels on two slopes), and after two periods everything repeats.
const EVENTFUL: usize = 24;

/// The effects of a tick.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Happened {
    /// Flags that it sets, in bits of TIFRn.
    pub flags: u8,
    /// It begins a period: up from BOTTOM.
    pub begins: bool,
}

/// The counter.
#[derive(Clone, Copy)]
pub struct Counter {
    /// The highest count.
    pub max: u16,
    /// Compare channels that there are.
    pub channels: usize,
    /// The mode.
    pub waveform: Waveform,
    /// TCNTn.
    pub count: u16,
    /// It runs down.
    down: bool,
    /// TCNTn was written: what compares equal in the next tick does not count (15.6.2, 16.7.3).
    blocked: bool,
    /// OCRnx as they are compared.
    compare: [u16; CHANNELS],
    /// OCRnx as they are written and read.
    pub buffer: [u16; CHANNELS],
    /// ICRn.
    pub capture: u16,
    /// COMnx.
    pub com: [u8; CHANNELS],
    /// Channels that make pulses where the mode is PWM; the others go on as in normal mode (PWMnx
    /// of the high-speed timers).
    pub pulsed: [bool; CHANNELS],
    /// A compare value of 0 gives no pulse at all, where others give (OCRnx + 1) ticks (2586Q,
    /// table 12-3).
    pub zero_is_none: bool,
    /// Levels of the compare outputs.
    pub outputs: [bool; CHANNELS],
}

impl Counter {
    /// As after a reset.
    #[must_use]
    pub fn new(max: u16, channels: usize) -> Counter {
        Counter {
            max,
            channels,
            waveform: Waveform { top: Top::Fixed(max), kind: Kind::Plain },
            count: 0,
            down: false,
            blocked: false,
            compare: [0; CHANNELS],
            buffer: [0; CHANNELS],
            capture: 0,
            com: [0; CHANNELS],
            pulsed: [true; CHANNELS],
            zero_is_none: false,
            outputs: [false; CHANNELS],
        }
    }

    fn top(&self) -> u16 {
        match self.waveform.top {
            Top::Fixed(top) => top,
            Top::CompareA => self.compare[0],
            Top::Capture => self.capture,
        }
    }

    /// Sets the mode.
    pub fn set_waveform(&mut self, waveform: Waveform) {
        self.waveform = waveform;
        self.down &= waveform.is_dual_slope();
        for channel in 0..CHANNELS {
            if self.is_plain(channel) {
                self.compare[channel] = self.buffer[channel];
            }
        }
    }

    /// True where a channel does as in normal mode.
    fn is_plain(&self, channel: usize) -> bool {
        self.waveform.kind == Kind::Plain || !self.pulsed[channel]
    }

    /// Writes OCRnx.
    pub fn set_compare(&mut self, channel: usize, value: u16) {
        self.buffer[channel] = value;
        if self.is_plain(channel) {
            self.compare[channel] = value;
        }
    }

    /// Writes TCNTn.
    pub fn set_count(&mut self, count: u16) {
        self.count = count;
        self.blocked = true;
    }

    /// True where the output of a channel is connected to its pin.
    #[must_use]
    pub fn is_connected(&self, channel: usize) -> bool {
        if self.is_plain(channel) {
            self.com[channel] != 0
        } else {
            self.waveform.connects(channel, self.com[channel])
        }
    }

    /// FOCnx: what a match would do to the output, without its flag; nothing in PWM modes.
    pub fn force(&mut self, channel: usize) {
        if self.is_plain(channel) {
            self.match_plain(channel);
        }
    }

    /// True where no compare value waits in its buffer.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.compare == self.buffer
    }

    /// Ticks of a period, when it has begun at BOTTOM.
    #[must_use]
    pub fn period(&self) -> u64 {
        let top = u64::from(self.top());
        if self.waveform.is_dual_slope() { (2 * top).max(1) } else { top + 1 }
    }

    /// Ticks up to the next one that may do more than count, that one included.
    #[must_use]
    pub fn distance(&self) -> u64 {
        if self.blocked {
            return 1;
        }
        let compares = self.compare.iter().take(self.channels).copied();
        let steps = if self.down {
            let nearest = compares.filter(|value| *value <= self.count).max();
            self.count - nearest.unwrap_or(0)
        } else {
            let top = self.top();
            let turn = if self.count <= top { top } else { self.max };
            let nearest = compares.filter(|value| *value >= self.count).min();
            nearest.map_or(turn, |nearest| nearest.min(turn)) - self.count
        };
        u64::from(steps) + 1
    }

    /// So many ticks go by: no more than [`Counter::distance`], of which the last does what there
    /// is to do.
    pub fn run(&mut self, ticks: u64) -> Happened {
        if ticks < self.distance() {
            self.count = self.moved(ticks);
            return Happened::default();
        }
        self.count = self.moved(ticks - 1);
        self.leave()
    }

    /// The count so many ticks further on the same slope.
    fn moved(&self, ticks: u64) -> u16 {
        if self.down { self.count - ticks as u16 } else { self.count + ticks as u16 }
    }

    /// The tick that leaves the count.
    fn leave(&mut self) -> Happened {
        let at = self.count;
        let top = self.top();
        let blocked = std::mem::take(&mut self.blocked);
        // A TOP that is compared is missed after a write to TCNTn (16.7.3); the counter then runs
        // on to MAX.
        let counts = !blocked || matches!(self.waveform.top, Top::Fixed(_));
        let at_top = !self.down && at == top && counts;
        let mut flags = 0;
        let mut matched = [false; CHANNELS];
        for (channel, matched) in matched.iter_mut().enumerate().take(self.channels) {
            *matched = at == self.compare[channel] && !blocked;
            flags |= if *matched { OCFA << channel } else { 0 };
        }
        if at_top && self.waveform.top == Top::Capture {
            flags |= ICF;
        }
        let at_bottom = self.down && at == 0;
        let wraps = !self.down && (at == self.max || at_top);
        if !self.waveform.is_dual_slope() {
            self.count = if wraps { 0 } else { at + 1 };
        } else if at_top {
            self.down = true;
            self.count = at.saturating_sub(1);
        } else if at_bottom {
            self.down = top == 0;
            self.count = u16::from(top != 0);
        } else if self.down {
            self.count = at - 1;
        } else {
            self.count = if wraps { 0 } else { at + 1 };
        }
        let (overflows, updates) = match self.waveform.kind {
            Kind::Plain => (at == self.max, false),
            Kind::Fast => (at_top, wraps),
            Kind::PhaseCorrect => (at_bottom, at_top),
            Kind::PhaseAndFrequencyCorrect => (at_bottom, at_bottom),
        };
        flags |= if overflows { TOV } else { 0 };
        if updates {
            self.compare = self.buffer;
        }
        for (channel, matched) in matched.into_iter().enumerate().take(self.channels) {
            match self.waveform.kind {
                _ if self.is_plain(channel) => {
                    if matched {
                        self.match_plain(channel);
                    }
                }
                Kind::Fast => self.match_fast(channel, matched, wraps),
                _ => self.match_dual(channel, matched, at_top.then_some(top)),
            }
        }
        Happened { flags, begins: if self.waveform.is_dual_slope() { at_bottom } else { wraps } }
    }

    /// Tables 15-2 and 16-1.
    fn match_plain(&mut self, channel: usize) {
        let output = &mut self.outputs[channel];
        match self.com[channel] {
            1 => *output = !*output,
            2 => *output = false,
            3 => *output = true,
            _ => {}
        }
    }

    /// Tables 15-3 and 16-2: 2 clears on a match and sets at BOTTOM, 3 the other way round. Where
    /// both fall together the output stays as at BOTTOM: "constantly high or low".
    fn match_fast(&mut self, channel: usize, matched: bool, begins: bool) {
        let com = self.com[channel];
        if com == 1 && matched && self.is_connected(channel) {
            self.outputs[channel] = !self.outputs[channel];
        } else if com >= 2 && (matched || begins) {
            let pulse = begins && !(self.zero_is_none && self.compare[channel] == 0);
            self.outputs[channel] = pulse == (com == 2);
        }
    }

    /// Tables 15-4 and 16-3: 2 clears on a match on the way up and sets on one on the way down, 3
    /// the other way round. At TOP the output is as after a match on the way up, also without one,
    /// unless OCRnx is TOP (15.7.4: "a transition without Compare Match").
    fn match_dual(&mut self, channel: usize, matched: bool, at_top: Option<u16>) {
        let com = self.com[channel];
        if com == 1 && matched && self.is_connected(channel) {
            self.outputs[channel] = !self.outputs[channel];
        } else if com >= 2 {
            let down = match at_top {
                Some(top) if self.compare[channel] < top => Some(false),
                Some(top) if self.compare[channel] == top => Some(true),
                _ => matched.then_some(self.down),
            };
            if let Some(down) = down {
                self.outputs[channel] = down == (com == 2);
            }
        }
    }

    /// Ticks until one of the `wanted` flags is set, or a connected output changes; `None` for
    /// never.
    #[must_use]
    pub fn ticks_until(&self, wanted: u8) -> Option<u64> {
        let connected = (0..self.channels).any(|channel| self.is_connected(channel));
        if wanted == 0 && !connected {
            return None;
        }
        let mut ahead = *self;
        let mut ticks = 0;
        for _ in 0..EVENTFUL {
            let steps = ahead.distance();
            ticks += steps;
            let happened = ahead.run(steps);
            let changed = (0..self.channels)
                .any(|channel| self.is_connected(channel) && ahead.outputs[channel] != self.outputs[channel]);
            if happened.flags & wanted != 0 || changed {
                return Some(ticks);
            }
        }
        None
    }
}
