//! Where the cycles since reset went: which of them the core ran in, and which it slept through.

/// Cycles asleep in one mode at one core voltage level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asleep {
    /// The mode's name as the target file's `[[supply.sleep]]` has it: MSP430 `LPM0` to `LPM4`, AVR `idle`.
    pub mode: &'static str,
    /// The core voltage level meanwhile; 0 on parts without levels.
    pub level: u8,
    /// Cycles of the core clock as [`crate::Mcu::cycles`] counts them, whether or not that clock was running.
    pub cycles: u64,
}

/// All cycles since reset, each counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Residency {
    /// Cycles in which the core ran or was held up, by core voltage level (MSP430: `PMMCOREV`); a single number on
    /// parts without levels. An instruction that changes the level counts for the level before.
    pub active: Vec<u64>,
    /// Cycles asleep, a line for each mode and level that the core has slept in. Waking up counts as active.
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

    /// What came after `before`, an earlier residency of the same machine since the same reset.
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

/// The cycles accounted for so far.
#[derive(Clone, Default)]
pub(crate) struct Usage {
    past: Residency,
    /// The core voltage level since [`Usage::until`].
    level: u8,
    /// The cycle up to which `past` tells.
    until: u64,
}

impl Usage {
    /// Up to `now` the core ran; from here on the level is `level`.
    pub fn ran(&mut self, now: u64, level: u8) {
        self.past.add_active(self.level, now - self.until);
        self.until = now;
        self.level = level;
    }

    /// From `from` to `to` the core slept in `mode`.
    pub fn slept(&mut self, mode: &'static str, from: u64, to: u64) {
        self.ran(from, self.level);
        self.past.add_asleep(mode, self.level, to - from);
        self.until = to;
    }

    /// All cycles up to `now`.
    pub fn residency(&self, now: u64) -> Residency {
        let mut residency = self.past.clone();
        residency.add_active(self.level, now - self.until);
        residency
    }
}
