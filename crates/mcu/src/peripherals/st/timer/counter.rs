//! The counter of a timer: from one turn, where it overflows, underflows or changes its direction,
//! to the next.

/// CR1, as far as it is the counter's.
pub(super) const CEN: u32 = 1 << 0;
pub(super) const UDIS: u32 = 1 << 1;
pub(super) const OPM: u32 = 1 << 3;
pub(super) const DIR: u32 = 1 << 4;
pub(super) const CMS: u32 = 3 << 5;

/// SR.
const UIF: u32 = 1;

/// Turns until an update event is certain to have been, whatever RCR says (8 bits), and one period
/// more.
const TURNS: u32 = 256 + 2;

/// Of a channel: what becomes of OCxREF (CCMR, OCxM).
const ACTIVE_ON_MATCH: u32 = 1;
const INACTIVE_ON_MATCH: u32 = 2;
const TOGGLE: u32 = 3;
const FORCE_INACTIVE: u32 = 4;
const FORCE_ACTIVE: u32 = 5;
const PWM1: u32 = 6;
const PWM2: u32 = 7;

/// In [`Counter::watched`]: that one-pulse mode stops the counter.
pub(super) const STOP: u32 = 1 << 31;

/// Events besides flags, for those that watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Update,
    /// A match that sets the channel's flag.
    Compare(usize),
    /// OCxREF of a channel changes.
    Reference(usize, bool),
    /// One-pulse mode has stopped the counter.
    Stop,
}

/// The counter with its flags.
#[derive(Clone)]
pub(super) struct Counter {
    pub mask: u32,
    control: u32,
    /// SR.
    pub status: u32,
    /// The value that is written, and the one in use.
    pub prescaler_next: u32,
    prescaler: u32,
    pub reload_next: u32,
    reload: u32,
    pub compare_next: [u32; 4],
    compare: [u32; 4],
    pub repetition_next: u32,
    /// OCxM of each channel, and OCxREF.
    pub modes: [u32; 4],
    pub references: [bool; 4],
    /// The events that are watched, at the places of their flags in SR, and those that came, each
    /// with its cycle.
    pub watched: u32,
    pub events: Vec<(u64, Event)>,
    /// Turns that are left before one is an update event.
    repetition: u32,
    /// The count at `since`.
    pub count: u32,
    /// The cycle at which the count became `count`.
    since: u64,
    /// Cycles of the core's clock in one of the timer's.
    clock_divider: u64,
    /// With an external clock, its pulses so far, which then are the time in which the counter
    /// lives.
    pulses: Option<u64>,
    /// A closed gate holds the counter, here with the time since its last count.
    held: Option<u64>,
}

impl Counter {
    pub fn new(mask: u32) -> Counter {
        Counter {
            mask,
            control: 0,
            status: 0,
            prescaler_next: 0,
            prescaler: 0,
            reload_next: mask,
            reload: mask,
            compare_next: [0; 4],
            compare: [0; 4],
            repetition_next: 0,
            modes: [0; 4],
            references: [false; 4],
            watched: 0,
            events: Vec::new(),
            repetition: 0,
            count: 0,
            since: 0,
            clock_divider: 1,
            pulses: None,
            held: None,
        }
    }

    /// The time in which the counter lives.
    fn time(&self, now: u64) -> u64 {
        self.pulses.unwrap_or(now)
    }

    /// The timer's clock, in cycles of the core's.
    pub fn clock_divider(&self) -> u64 {
        self.clock_divider
    }

    /// Begins to count pulses, or cycles, at `now`, up to which it is settled.
    pub fn set_external_clock(&mut self, external: bool, now: u64) {
        if external != self.pulses.is_some() {
            self.pulses = external.then_some(0);
            self.since = self.time(now);
        }
    }

    /// A pulse of the external clock at cycle `at`.
    pub fn pulse(&mut self, at: u64, channels: u32) {
        let Some(pulses) = self.pulses.as_mut() else { return };
        *pulses += 1;
        let earlier = self.events.len();
        self.settle(at, channels);
        self.events.iter_mut().skip(earlier).for_each(|(cycle, _)| *cycle = at);
    }

    /// The gate opens or closes at `now`, up to which the counter is settled.
    pub fn set_gate(&mut self, open: bool, now: u64) {
        let now = self.time(now);
        match (open, self.held) {
            (false, None) => self.held = Some(now.saturating_sub(self.since)),
            (true, Some(held)) => {
                self.held = None;
                self.since = now.saturating_sub(held);
            }
            _ => {}
        }
    }

    /// The timer's clock stood still for these cycles.
    pub fn delay(&mut self, cycles: u64) {
        if self.pulses.is_none() {
            self.since += cycles;
        }
        self.events.iter_mut().for_each(|(at, _)| *at += cycles);
    }

    pub fn control(&self) -> u32 {
        self.control
    }

    pub fn set_control(&mut self, control: u32, now: u64) {
        let starts = control & !self.control & CEN != 0;
        // DIR says the direction, and cannot be written, where the counter changes it itself.
        let dir = if control & CMS != 0 && self.control & CMS != 0 { self.control } else { control } & DIR;
        self.control = control & !DIR | dir;
        if starts {
            self.since = self.time(now);
        }
    }

    /// An encoder says the direction: DIR.
    pub fn set_direction(&mut self, down: bool) {
        self.control = self.control & !DIR | if down { DIR } else { 0 };
    }

    pub fn set_clock_divider(&mut self, divider: u64, now: u64) {
        if divider != self.clock_divider {
            self.clock_divider = divider;
            self.since = self.time(now);
        }
    }

    /// Registers without preload are in use as soon as they are written.
    pub fn follow_preload(&mut self, reload: bool, compare: [bool; 4]) {
        if !reload {
            self.reload = self.reload_next;
        }
        for channel in (0..4).filter(|channel| !compare[*channel]) {
            self.compare[channel] = self.compare_next[channel];
        }
    }

    fn running(&self) -> bool {
        self.control & CEN != 0 && self.reload != 0 && self.held.is_none()
    }

    fn centre_aligned(&self) -> bool {
        self.control & CMS != 0
    }

    fn down(&self) -> bool {
        self.control & DIR != 0
    }

    fn step(&self) -> u64 {
        (u64::from(self.prescaler) + 1) * if self.pulses.is_some() { 1 } else { self.clock_divider }
    }

    /// Counts up to the next turn, that one included.
    fn counts_to_turn(&self) -> u64 {
        let (count, reload) = (u64::from(self.count), u64::from(self.reload));
        match (self.centre_aligned(), self.down()) {
            (false, false) if count <= reload => reload - count + 1,
            // It runs to its end before it meets the reload value.
            (false, false) => u64::from(self.mask) - count + 1,
            (false, true) => count + 1,
            (true, false) => reload.saturating_sub(count).max(1),
            (true, true) => count.max(1),
        }
    }

    /// Counts up to the one that is `value`, if it comes before the next turn.
    fn counts_to(&self, value: u32) -> Option<u64> {
        let distance =
            if self.down() { self.count.checked_sub(value) } else { value.checked_sub(self.count) };
        distance.map(u64::from).filter(|counts| *counts > 0 && *counts < self.counts_to_turn())
    }

    /// True where a match in this direction sets its flag: "Center-aligned mode selection".
    fn flags_matches(&self, down: bool) -> bool {
        match self.control & CMS {
            0 => true,
            0x20 => down,
            0x40 => !down,
            _ => true,
        }
    }

    /// Brings count, flags and registers with preload up to `now`; `channels` are the flags of
    /// those that there are.
    pub fn settle(&mut self, now: u64, channels: u32) {
        let now = self.time(now);
        let mut turns = 0;
        while self.running() {
            let counts = now.saturating_sub(self.since) / self.step();
            let to_turn = self.counts_to_turn();
            for channel in 0..4 {
                if let Some(to_match) = self.counts_to(self.compare[channel]).filter(|to| *to <= counts) {
                    let at = self.since + to_match * self.step();
                    self.matched(channel, self.flags_matches(self.down()), channels, at);
                    self.compare_level(channel, self.compare[channel], at);
                }
            }
            if counts < to_turn {
                let counts = counts as u32;
                self.count = if self.down() { self.count - counts } else { self.count + counts };
                self.since += u64::from(counts) * self.step();
                return;
            }
            self.since += to_turn * self.step();
            self.turn(channels);
            turns += 1;
            if turns > TURNS {
                self.skip_periods(now);
            }
        }
        self.since = now;
    }

    /// After [`TURNS`] an update event has been, and each flag has risen that can: further ones
    /// change nothing but the time.
    fn skip_periods(&mut self, now: u64) {
        let counts =
            if self.centre_aligned() { 2 * u64::from(self.reload) } else { u64::from(self.reload) + 1 };
        let period = counts * (u64::from(self.repetition_next) + 1) * self.step();
        self.since += now.saturating_sub(self.since) / period * period;
    }

    /// The counter is at its turn.
    fn turn(&mut self, channels: u32) {
        let down = self.down();
        // An edge-aligned counter past the reload value begins anew without an event.
        let event = self.centre_aligned() || down || self.count <= self.reload;
        if event {
            self.update();
        }
        let at = self.since;
        self.count = match (self.centre_aligned(), down) {
            (true, false) | (false, true) => self.reload,
            _ => 0,
        };
        if self.centre_aligned() {
            self.control ^= DIR;
        }
        for channel in 0..4 {
            let compare = self.compare[channel];
            // The flag of a value past the reload value rises at the overflow, or where the counter
            // counts down, at the underflow.
            let past = event && compare > self.reload && !(self.centre_aligned() && down);
            let matches = compare == self.count;
            if past || matches {
                self.matched(channel, past || self.flags_matches(down), channels, at);
            }
            self.compare_level(channel, self.count, at);
        }
    }

    /// The counter meets a channel's compare value.
    fn matched(&mut self, channel: usize, flagged: bool, channels: u32, at: u64) {
        let flag = 2 << channel & channels;
        if flagged {
            self.status |= flag;
            if self.watched & flag != 0 {
                self.events.push((at, Event::Compare(channel)));
            }
        }
        let reference = match self.modes[channel] {
            ACTIVE_ON_MATCH => true,
            INACTIVE_ON_MATCH => false,
            TOGGLE => !self.references[channel],
            _ => return,
        };
        self.set_reference(channel, reference, at);
    }

    /// Sets OCxREF in the modes in which it follows the comparison with the counter, or is forced.
    fn compare_level(&mut self, channel: usize, count: u32, at: u64) {
        let compare = self.compare[channel];
        let active = if self.down() { count <= compare } else { count < compare };
        let reference = match self.modes[channel] {
            FORCE_INACTIVE => false,
            FORCE_ACTIVE => true,
            PWM1 => active,
            PWM2 => !active,
            _ => return,
        };
        self.set_reference(channel, reference, at);
    }

    fn set_reference(&mut self, channel: usize, reference: bool, at: u64) {
        if self.references[channel] != reference {
            self.references[channel] = reference;
            if self.watched & 2 << channel != 0 {
                self.events.push((at, Event::Reference(channel, reference)));
            }
        }
    }

    /// A register was written: OCxREF follows where it can.
    pub fn refresh_references(&mut self, now: u64) {
        for channel in 0..4 {
            self.compare_level(channel, self.count, now);
        }
    }

    /// An overflow or underflow: an update event where the repetition counter is at zero.
    fn update(&mut self) {
        if let Some(left) = self.repetition.checked_sub(1) {
            self.repetition = left;
            return;
        }
        if self.control & UDIS == 0 {
            self.status |= UIF;
            self.take_over();
            if self.watched & UIF != 0 {
                self.events.push((self.since, Event::Update));
            }
        }
        if self.control & OPM != 0 {
            self.control &= !CEN;
            if self.watched & STOP != 0 {
                self.events.push((self.since, Event::Stop));
            }
        }
    }

    fn take_over(&mut self) {
        self.prescaler = self.prescaler_next;
        self.reload = self.reload_next;
        self.compare = self.compare_next;
        self.repetition = self.repetition_next;
    }

    /// EGR.UG: the counter begins anew; `flag` where that sets UIF.
    pub fn generate_update(&mut self, now: u64, flag: bool) {
        if self.control & UDIS == 0 {
            self.take_over();
            self.status |= if flag { UIF } else { 0 };
            if flag && self.watched & UIF != 0 {
                self.events.push((now, Event::Update));
            }
        }
        if self.centre_aligned() {
            self.control &= !DIR;
        }
        self.count = if self.down() { self.reload } else { 0 };
        self.since = self.time(now);
    }

    /// The cycle at which one of the flags `enables` may rise next, or a watched event come; once a
    /// flag is up, nothing changes until the program looks.
    pub fn due(&self, enables: u32) -> Option<u64> {
        let possible = if self.control & UDIS != 0 { !UIF } else { !0 };
        let waited = (enables & !self.status | self.watched) & possible;
        if waited == 0 || !self.running() || self.pulses.is_some() {
            return None;
        }
        let matches = (0..4).filter(|channel| waited & 2 << channel != 0);
        let counts = matches.filter_map(|channel| self.counts_to(self.compare[channel])).min();
        Some(self.since + counts.unwrap_or_else(|| self.counts_to_turn()) * self.step())
    }
}
