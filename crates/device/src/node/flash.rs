//! Two segments of flash memory whose power can fail within any word that is programmed and any
//! erasure.
//!
//! A bit that is being changed when the power fails is afterwards as it was, as it was to be, or
//! neither: such a bit reads at random, anew at each start, until it is programmed, or erased to
//! the end. A bit that reads 1 and is not being programmed to 0 is not touched.

use fastrand::Rng;

/// Bytes of a segment.
pub const SEGMENT: usize = 128;
pub const SEGMENTS: usize = 2;

/// Interruption of a change.
#[derive(Clone, Copy, Debug)]
enum Torn {
    /// Each bit for itself: as it was, as it was to be, or undecided.
    Unequally,
    /// All bits are undecided, but read now as they were.
    Early,
    /// All bits are undecided, but read now as they were to be.
    Late,
}

#[derive(Clone, Debug)]
pub struct Flash {
    bytes: [[u8; SEGMENT]; SEGMENTS],
    /// Bits that read at random.
    undecided: [[u8; SEGMENT]; SEGMENTS],
    /// Words and erasures until the power fails: at 0 it fails in the midst of the next.
    steps_left: Option<u32>,
    /// True once the power has failed: nothing more happens until the next start.
    off: bool,
    /// True if programming does nothing any more.
    worn_out: bool,
    erasures: [u32; SEGMENTS],
    rng: Rng,
}

impl Flash {
    /// All erased. `seed` decides what an interrupted change leaves.
    #[must_use]
    pub fn new(seed: u64) -> Flash {
        Flash {
            bytes: [[0xff; SEGMENT]; SEGMENTS],
            undecided: [[0; SEGMENT]; SEGMENTS],
            steps_left: None,
            off: false,
            worn_out: false,
            erasures: [0; SEGMENTS],
            rng: Rng::with_seed(seed),
        }
    }

    /// The same contents, with another seed.
    #[must_use]
    pub fn reseeded(mut self, seed: u64) -> Flash {
        self.rng = Rng::with_seed(seed);
        self
    }

    /// The power fails in the midst of the `steps + 1`th word or erasure from here.
    pub fn fail_after(&mut self, steps: u32) {
        self.steps_left = Some(steps);
    }

    /// Returns true if the power has failed.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.off
    }

    /// From here on, programming changes nothing, or does again.
    pub fn wear_out(&mut self, worn_out: bool) {
        self.worn_out = worn_out;
    }

    /// Returns how often each segment's erasure was begun.
    #[must_use]
    pub fn erasures(&self) -> [u32; SEGMENTS] {
        self.erasures
    }

    /// The power comes back: undecided bits read what they will until it fails again.
    pub fn start(&mut self) {
        self.off = false;
        self.steps_left = None;
        for (bytes, undecided) in self.bytes.iter_mut().zip(&self.undecided) {
            for (byte, undecided) in bytes.iter_mut().zip(undecided) {
                *byte = *byte & !undecided | self.rng.u8(..) & undecided;
            }
        }
    }

    /// A step of work begins; how it is cut short, where the power fails in its midst.
    fn step(&mut self) -> Option<Torn> {
        self.off = self.steps_left == Some(0);
        self.steps_left = self.steps_left.map(|steps| steps.saturating_sub(1));
        let how = [Torn::Unequally, Torn::Early, Torn::Late][self.rng.usize(..3)];
        self.off.then_some(how)
    }

    /// Sets a byte to its value after an interrupted change, which was to change the bits of
    /// `changing` to those of `to`.
    fn torn(&mut self, how: Torn, segment: usize, at: usize, changing: u8, to: u8) {
        let (byte, mask) = (&mut self.bytes[segment][at], &mut self.undecided[segment][at]);
        let (done, undecided, reads) = match how {
            Torn::Unequally => (self.rng.u8(..) & changing, self.rng.u8(..) & changing, self.rng.u8(..)),
            Torn::Early => (0, changing, *byte),
            Torn::Late => (0, changing, to),
        };
        *mask = *mask & !done | undecided;
        *byte = *byte & !done | to & done;
        *byte = *byte & !undecided | reads & undecided;
    }

    /// Copies bytes of a segment.
    pub fn read(&self, segment: usize, offset: usize, out: &mut [u8]) {
        out.copy_from_slice(&self.bytes[segment][offset..offset + out.len()]);
    }

    pub fn erase(&mut self, segment: usize) {
        if self.off {
            return;
        }
        self.erasures[segment] += 1;
        if let Some(how) = self.step() {
            for at in 0..SEGMENT {
                self.torn(how, segment, at, 0xff, 0xff);
            }
        } else {
            self.bytes[segment] = [0xff; SEGMENT];
            self.undecided[segment] = [0; SEGMENT];
        }
    }

    /// Programs words.
    pub fn program(&mut self, segment: usize, offset: usize, data: &[u8]) {
        for (word, data) in data.chunks(2).enumerate() {
            if self.off || self.worn_out {
                return;
            }
            let torn = self.step();
            for (byte, &data) in data.iter().enumerate() {
                let at = offset + 2 * word + byte;
                // Bits that read 0 for sure stay so.
                let changing = !data & (self.bytes[segment][at] | self.undecided[segment][at]);
                if let Some(how) = torn {
                    self.torn(how, segment, at, changing, data);
                } else {
                    self.bytes[segment][at] &= data;
                    self.undecided[segment][at] &= data;
                }
            }
        }
    }
}
