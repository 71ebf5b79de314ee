//! LCKR: freezes the configuration of pins until the next reset.

/// LCKK.
const KEY: u32 = 1 << 16;

/// Progress of the key's sequence; its bits for the pins have to be the same all the while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Step {
    #[default]
    None,
    /// Written with the key; then without it; then with it again. A read is what ends it.
    First,
    Second,
    Third,
    Locked,
}

/// The register. RM0090 section 8.4.8, RM0041 section 7.2.7: any error in the sequence aborts it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lock {
    pins: u32,
    step: Step,
}

impl Lock {
    /// The pins that are frozen.
    pub(super) fn locked(self) -> u32 {
        if self.step == Step::Locked { self.pins } else { 0 }
    }

    pub(super) fn read(&mut self) -> u32 {
        match self.step {
            Step::Locked => return self.pins | KEY,
            // It still reads 0 here (RM0041).
            Step::Third => self.step = Step::Locked,
            _ => {}
        }
        self.pins
    }

    /// Of a whole word: the key's bit has to come with those of the pins.
    pub(super) fn write(&mut self, word: u32) {
        let (pins, with_key) = (word & 0xffff, word & KEY != 0);
        if self.step == Step::Locked {
            return;
        }
        self.step = match (self.step, with_key) {
            (Step::First, false) if pins == self.pins => Step::Second,
            (Step::Second, true) if pins == self.pins => Step::Third,
            (_, true) => Step::First,
            (_, false) => Step::None,
        };
        self.pins = pins;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the writes and the reads (`None`) those that lock the pins.
    fn locked(accesses: &[Option<u32>]) -> u32 {
        let mut lock = Lock::default();
        for access in accesses {
            match access {
                Some(word) => lock.write(*word),
                None => drop(lock.read()),
            }
        }
        lock.locked()
    }

    #[test]
    fn only_the_whole_sequence_locks() {
        let (key, pins) = (Some(KEY | 0x8001), Some(0x8001));
        assert_eq!(locked(&[key, pins, key, None]), 0x8001);
        assert_eq!(locked(&[pins, Some(0), key, pins, key, None]), 0x8001, "begun anew");
        for aborted in [
            &[Some(0)][..],
            &[key, pins, key],
            &[key, key, pins, None],
            &[key, pins, Some(KEY | 1), None],
            &[key, Some(1), key, None],
            &[key, pins, key, pins, None],
            &[pins, key, None],
        ] {
            assert_eq!(locked(aborted), 0, "{aborted:x?}");
        }
    }

    #[test]
    fn what_is_locked_stays_so() {
        let mut lock = Lock::default();
        for word in [KEY | 6, 6, KEY | 6] {
            lock.write(word);
        }
        assert_eq!((lock.read(), lock.read()), (6, KEY | 6));
        for word in [0, KEY | 1, 1, KEY | 1] {
            lock.write(word);
            assert_eq!((lock.read(), lock.locked()), (KEY | 6, 6));
        }
    }
}
