//! An EEPROM whose power can fail within any byte that is being written.
//!
//! The byte that the failure cuts short reads anything afterwards: as it was, as it was to be, or
//! otherwise; for good, or anew at each start, until it is written to its end
//! (`device/meter/numbers.h` says what the firmware assumes). No other byte changes.
//!
//! Time is counted in byte writes: the owner says with [`Eeprom::advance`] how many of the
//! background's have passed, and learns from what waits how many that took.

use fastrand::Rng;
use std::collections::VecDeque;

/// Bytes that every meter uses: `WS_EEPROM_BYTES`.
pub const BYTES: usize = 1024;
/// Bytes with those of suite 6's key behind them: `WS_EEPROM_BYTES_WITH_KEY`.
pub const WITH_KEY: usize = 1180;

/// Fate of the byte that a power failure cuts short.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Torn {
    /// One of the others.
    Any,
    /// Stays as it was.
    Old,
    /// Is what it was to be.
    New,
    /// Reads this.
    Value(u8),
    /// Reads as it was, as it was to be, or anything, anew at each start.
    Unstable,
}

/// A byte that reads something else at each start.
#[derive(Clone, Copy, Debug)]
struct Undecided {
    old: u8,
    new: u8,
}

#[derive(Clone, Debug)]
pub struct Eeprom {
    bytes: Box<[u8; WITH_KEY]>,
    undecided: Vec<(usize, Undecided)>,
    /// Bytes that are written in the background; the first one is under way.
    queue: VecDeque<(usize, u8)>,
    /// Byte writes to their end until the power fails in the next.
    writes_left: Option<u64>,
    torn: Torn,
    off: bool,
    worn_out: bool,
    writes: Vec<u32>,
    rng: Rng,
}

impl Eeprom {
    /// All 0xff. `seed` decides what is left to chance.
    #[must_use]
    pub fn new(seed: u64) -> Eeprom {
        Eeprom::with_image(&[0xff; BYTES], seed)
    }

    /// Makes a memory with these contents, and 0xff behind them.
    #[must_use]
    pub fn with_image(image: &[u8; BYTES], seed: u64) -> Eeprom {
        let mut bytes = Box::new([0xff; WITH_KEY]);
        bytes[..BYTES].copy_from_slice(image);
        Eeprom {
            bytes,
            undecided: Vec::new(),
            queue: VecDeque::new(),
            writes_left: None,
            torn: Torn::Any,
            off: false,
            worn_out: false,
            writes: vec![0; WITH_KEY],
            rng: Rng::with_seed(seed),
        }
    }

    /// Returns its contents, but for those of suite 6's key.
    ///
    /// # Panics
    /// Never: the memory has `BYTES` bytes.
    #[must_use]
    pub fn image(&self) -> &[u8; BYTES] {
        self.bytes.first_chunk().expect("it is longer")
    }

    /// Returns the rest of its contents: the slots of suite 6's key.
    #[must_use]
    pub fn keys(&self) -> &[u8] {
        &self.bytes[BYTES..]
    }

    /// The power fails within the `writes + 1`th byte write from here, which becomes `torn`.
    pub fn cut_after(&mut self, writes: u64, torn: Torn) {
        self.writes_left = Some(writes);
        self.torn = torn;
    }

    /// The power fails now: within the byte under way, where there is one, which becomes `torn`.
    pub fn cut(&mut self, torn: Torn) {
        self.cut_after(0, torn);
        self.advance(1);
        self.off = true;
    }

    /// Returns true if the power has failed. Nothing is written any more, and read values do not
    /// count.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// From here on, writes change nothing, or do again.
    pub fn wear_out(&mut self, worn_out: bool) {
        self.worn_out = worn_out;
    }

    /// Returns how often the writing of each byte was begun.
    #[must_use]
    pub fn writes(&self) -> &[u32] {
        &self.writes
    }

    /// The power comes back, after it has failed or the part was reset: nothing is being written,
    /// and undecided bytes read what they will until it fails again.
    pub fn start(&mut self) {
        self.off = false;
        self.writes_left = None;
        self.queue.clear();
        for (at, Undecided { old, new }) in &self.undecided {
            self.bytes[*at] = [*old, *new, self.rng.u8(..)][self.rng.usize(..3)];
        }
    }

    /// Copies bytes; the byte under way is written to its end before. Returns how many byte writes
    /// that took.
    pub fn read(&mut self, at: usize, out: &mut [u8]) -> u64 {
        let waited = self.advance(1);
        out.copy_from_slice(&self.bytes[at..at + out.len()]);
        waited
    }

    /// Writes bytes, after those of the background. Returns how many byte writes that took.
    pub fn write(&mut self, at: usize, data: &[u8]) -> u64 {
        let waited = self.begin(at, data);
        waited + self.advance(data.len() as u64)
    }

    /// Begins to write bytes in the background, after those that are being written. Returns how
    /// many byte writes that took.
    pub fn begin(&mut self, at: usize, data: &[u8]) -> u64 {
        assert!(at + data.len() <= WITH_KEY, "{} bytes at {at} are not all in the memory", data.len());
        let waited = self.advance(u64::MAX);
        if !self.off {
            self.queue.extend(data.iter().enumerate().map(|(offset, &byte)| (at + offset, byte)));
        }
        waited
    }

    /// Returns true while bytes of the background are still to be written.
    #[must_use]
    pub fn busy(&self) -> bool {
        !self.queue.is_empty()
    }

    /// The bytes of the background that are still to be kept, and where they go.
    pub fn pending(&self) -> impl Iterator<Item = (usize, u8)> + '_ {
        self.queue.iter().copied()
    }

    /// Copies bytes as they are, the one under way as it was.
    pub fn peek(&self, at: usize, out: &mut [u8]) {
        out.copy_from_slice(&self.bytes[at..at + out.len()]);
    }

    /// Gives up the bytes of the background that were not begun; the one that was is still under
    /// way.
    pub fn keep_one(&mut self) {
        self.queue.truncate(1);
    }

    /// Gives up the bytes of the background that were not begun, and writes the one that was to its
    /// end. Returns how many byte writes that took.
    pub fn abandon(&mut self) -> u64 {
        self.keep_one();
        self.advance(1)
    }

    /// Lets the time pass in which the background writes `writes` bytes. Returns the number that
    /// there was to write.
    pub fn advance(&mut self, writes: u64) -> u64 {
        let mut done = 0;
        while done < writes
            && !self.off
            && let Some((at, byte)) = self.queue.pop_front()
        {
            self.write_byte(at, byte);
            done += 1;
        }
        done
    }

    fn write_byte(&mut self, at: usize, byte: u8) {
        self.writes[at] += 1;
        let old = self.bytes[at];
        if self.writes_left == Some(0) {
            self.off = true;
            self.queue.clear();
            self.tear(at, old, byte);
            return;
        }
        self.writes_left = self.writes_left.map(|left| left - 1);
        if !self.worn_out {
            self.bytes[at] = byte;
            self.undecided.retain(|(undecided, _)| *undecided != at);
        }
    }

    fn tear(&mut self, at: usize, old: u8, new: u8) {
        self.undecided.retain(|(undecided, _)| *undecided != at);
        let torn = match self.torn {
            Torn::Any => {
                let value = Torn::Value(self.rng.u8(..));
                [Torn::Old, Torn::New, value, Torn::Unstable, Torn::Unstable][self.rng.usize(..5)]
            }
            torn => torn,
        };
        match torn {
            Torn::Old | Torn::Any => {}
            Torn::New => self.bytes[at] = new,
            Torn::Value(value) => self.bytes[at] = value,
            Torn::Unstable => self.undecided.push((at, Undecided { old, new })),
        }
    }
}
