//! Use of the cycles since reset: running, and asleep in each mode.

/// Cycles asleep in one mode at one core voltage level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asleep {
    /// The mode's name as the target file's `[[supply.sleep]]` has it: MSP430 `LPM0` to `LPM4`, AVR
    /// `idle`, Cortex-M `sleep` and, with SLEEPDEEP, `deep sleep`.
    pub mode: &'static str,
    /// The core voltage level meanwhile; 0 on parts without levels.
    pub level: u8,
    /// Cycles of the core clock as [`crate::Mcu::cycles`] counts them, whether or not that clock
    /// was running.
    pub cycles: u64,
}

/// All cycles since reset, each counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Cycles in which the core ran or was held up, by core voltage level (MSP430: `PMMCOREV`); a
    /// single number on parts without levels. An instruction that changes the level counts for the
    /// level before.
    pub active: Vec<u64>,
    /// Cycles asleep, a line for each mode and level that the core has slept in. Waking up counts
    /// as active.
    pub asleep: Vec<Asleep>,
}

impl Residency {
    /// A part that has done nothing but run for this long.
    #[must_use]
    pub fn all_active(cycles: u64) -> Residency {
        Residency { active: vec![cycles], asleep: Vec::new() }
    }

    /// Cycles in which the core ran, at any level.
    #[must_use]
    pub fn active_cycles(&self) -> u64 {
        self.active.iter().sum()
    }

    /// Cycles asleep in the mode of this name, at any level.
    #[must_use]
    pub fn asleep_in(&self, mode: &str) -> u64 {
        self.asleep.iter().filter(|line| line.mode == mode).map(|line| line.cycles).sum()
    }

    /// The sum of all parts: [`crate::Mcu::cycles`].
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.active_cycles() + self.asleep.iter().map(|line| line.cycles).sum::<u64>()
    }

    /// Returns the cycles after `before`, an earlier residency of the same machine since the same
    /// reset.
    #[must_use]
    pub fn since(&self, before: &Residency) -> Residency {
        let active = self.active.iter().enumerate();
        let active = active
            .map(|(level, cycles)| cycles - before.active.get(level).unwrap_or(&0).min(cycles))
            .collect();
        let earlier = |line: &Asleep| {
            let same = |other: &&Asleep| (other.mode, other.level) == (line.mode, line.level);
            before.asleep.iter().find(same).map_or(0, |other| other.cycles)
        };
        let asleep = self.asleep.iter().map(|line| Asleep { cycles: line.cycles - earlier(line), ..*line });
        Residency { active, asleep: asleep.filter(|line| line.cycles != 0).collect() }
    }

    /// Adds `cycles` of running at `level`.
    pub(crate) fn add_active(&mut self, level: u8, cycles: u64) {
        let level = usize::from(level);
        if self.active.len() <= level {
            self.active.resize(level + 1, 0);
        }
        self.active[level] += cycles;
    }

    /// Adds `cycles` of sleep in `mode` at `level`.
    pub(crate) fn add_asleep(&mut self, mode: &'static str, level: u8, cycles: u64) {
        match self.asleep.iter_mut().find(|line| (line.mode, line.level) == (mode, level)) {
            Some(line) => line.cycles += cycles,
            None => self.asleep.push(Asleep { mode, level, cycles }),
        }
    }
}

/// Cycles in one state, at one core voltage level and one clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The sleep mode as [`Asleep::mode`] has it; `None` while the core ran or was held up.
    pub mode: Option<&'static str>,
    /// The core voltage level meanwhile; 0 on parts without levels.
    pub level: u8,
    /// The core's clock meanwhile, in Hz.
    pub clock_hz: u64,
    /// Cycles as [`crate::Mcu::cycles`] counts them.
    pub cycles: u64,
}

/// The cycles accounted for so far.
#[derive(Clone, Default)]
pub(crate) struct Usage {
    /// One for each state, level and clock, in the order of their first cycles.
    past: Vec<Span>,
    /// The core voltage level since [`Usage::until`].
    level: u8,
    /// The clock since then.
    clock_hz: u64,
    /// The cycle up to which `past` tells.
    until: u64,
}

impl Usage {
    /// Nothing went by yet, and the clock is this one.
    pub fn new(clock_hz: u64) -> Usage {
        Usage { clock_hz, ..Usage::default() }
    }

    /// Up to `now` the core ran; from here on the level is `level`.
    pub fn ran(&mut self, now: u64, level: u8) {
        self.add(None, now);
        self.level = level;
    }

    /// Up to `now` the core ran; from here on its clock is `clock_hz`.
    pub fn change_clock(&mut self, now: u64, clock_hz: u64) {
        self.add(None, now);
        self.clock_hz = clock_hz;
    }

    /// From `from` to `to` the core slept in `mode`.
    pub fn slept(&mut self, mode: &'static str, from: u64, to: u64) {
        self.add(None, from);
        self.add(Some(mode), to);
    }

    fn add(&mut self, mode: Option<&'static str>, to: u64) {
        let cycles = to.saturating_sub(self.until);
        self.until = self.until.max(to);
        if cycles == 0 {
            return;
        }
        let state = (mode, self.level, self.clock_hz);
        match self.past.iter_mut().find(|span| (span.mode, span.level, span.clock_hz) == state) {
            Some(span) => span.cycles += cycles,
            None => {
                let (level, clock_hz) = (self.level, self.clock_hz);
                self.past.push(Span { mode, level, clock_hz, cycles });
            }
        }
    }

    /// All cycles up to `now`, by state, level and clock.
    pub fn spans(&self, now: u64) -> Vec<Span> {
        let mut all = self.clone();
        all.add(None, now);
        all.past
    }

    /// All cycles up to `now`, whatever the clock.
    pub fn residency(&self, now: u64) -> Residency {
        let mut residency = Residency { active: vec![0], asleep: Vec::new() };
        for Span { mode, level, cycles, .. } in self.spans(now) {
            match mode {
                None => residency.add_active(level, cycles),
                Some(mode) => residency.add_asleep(mode, level, cycles),
            }
        }
        // The levels that the part has been at, the present one included.
        residency.add_active(self.level, 0);
        residency
    }
}
