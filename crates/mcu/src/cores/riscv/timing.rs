//! Cycles of instructions on QingKe V2A, and their waits for the flash.
//!
//! No manual has these figures; they are measurements on silicon:
//! - github jnk0le/random, "pipeline cycle test/doc/ch32v003_(qkv2).md" (commit 3dfc2ab): a load or
//!   store takes 2 cycles, a taken branch or jump 3 without wait states and 1 more to an unaligned
//!   32-bit instruction; with one wait state 4 from the lower half of a word and 5 from the upper,
//!   swapped after an instruction of 2 cycles; the flash has lines of 32 bits.
//! - github cpldcpu/DRAM_exploration, `instruction_timing`: loops at 48 MHz with one wait state,
//!   from flash and from SRAM.
//! - github CaiB/CH32V003-Architecture-Exploration, `Data/Alignment.csv`: instructions that are
//!   neither loads, stores nor jumps take 1 cycle.
//!
//! One mechanism gives these figures: the core reads words ahead, one after the other, each for 1
//! cycle and the wait states, into a buffer of three words; a word can be executed from the second
//! cycle after its last; a jump cannot cut off the read under way.

use bytemuck::Zeroable;
use std::collections::HashMap;

/// Cycles of an instruction that is neither load, store nor jump; of a jump, before the fetch of
/// its target begins.
const BASE: u32 = 1;

/// A load or store to RAM or a register.
const ACCESS: u32 = 2;

/// Words that the buffer holds, that which is being executed and that which is being read among
/// them.
const BUFFER: usize = 3;

/// Position of an instruction in the words that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Zeroable)]
#[repr(u8)]
pub enum Place {
    /// The lower half of a word.
    Lower,
    /// The upper half.
    Upper,
    /// A whole word.
    Whole,
    /// The upper half of a word and the lower of the next.
    Across,
}

impl Place {
    /// That of an instruction of `length` bytes, 2 or 4.
    #[must_use]
    pub const fn of(pc: u32, length: u8) -> Place {
        match (pc & 2, length) {
            (0, 2) => Place::Lower,
            (0, _) => Place::Whole,
            (_, 2) => Place::Upper,
            _ => Place::Across,
        }
    }
}

/// Course of an instruction that has begun, as far as it takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Course {
    /// Neither load, store nor jump.
    Base,
    /// A load or store to RAM or a register.
    Access,
    /// A load from flash.
    FlashLoad,
    /// A jump to RAM.
    JumpToRam,
    /// A jump to flash.
    JumpToFlash,
}

/// The cycle that is now in a [`Fetch`]. What was longer ago decides on nothing any more: the
/// buffer is full by then.
const NOW: u32 = 64;

/// The instruction fetch at the moment at which the core is ready for an instruction. Words are
/// numbered from the one in which that begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
struct Fetch {
    wait_states: u8,
    from_flash: bool,
    /// Number of words that are read or being read.
    words: usize,
    /// The cycle at which the read of each of them is done.
    done: [u32; BUFFER],
    /// The cycle at which the last instruction in each of the words before began, the last word
    /// first; 0 for words before the last jump, for which no read waits.
    executed: [u32; BUFFER],
    /// The cycle from which the memory can be read again.
    free: u32,
}

impl Fetch {
    /// Cycles of a read.
    fn read_cycles(&self, flash: bool) -> u32 {
        1 + if flash { self.wait_states.into() } else { 0 }
    }

    /// Nothing is read; the first read can begin at cycle `at`.
    fn begin(&mut self, at: u32, from_flash: bool) {
        *self = Fetch { wait_states: self.wait_states, from_flash, free: at, ..Fetch::default() };
    }

    /// The cycle at which the read of the next word can begin, once the word that it replaces is
    /// executed.
    fn start(&self) -> u32 {
        self.free.max(self.executed[BUFFER - 1 - self.words])
    }

    fn read_next(&mut self) {
        self.free = self.start() + self.read_cycles(self.from_flash);
        self.done[self.words] = self.free;
        self.words += 1;
    }

    /// The cycle at which the instruction begins.
    fn issue(&mut self, place: Place) -> u32 {
        let last = usize::from(place == Place::Across);
        while self.words <= last {
            self.read_next();
        }
        let begin = NOW.max(self.done[last] + 1);
        if place != Place::Lower {
            self.executed = [begin, self.executed[0], self.executed[1]];
            self.done = [self.done[1], self.done[2], 0];
            self.words -= 1;
        }
        begin
    }

    /// The reads that begin before cycle `at` without anything else being executed.
    fn read_ahead(&mut self, at: u32) {
        while self.words < BUFFER && self.start() < at {
            self.read_next();
        }
    }

    /// A jump whose fetch can begin at cycle `at`: when the instruction there can begin, at the
    /// earliest.
    fn jump(&mut self, at: u32, to_flash: bool) -> u32 {
        self.read_ahead(at);
        let start = if to_flash == self.from_flash { at.max(self.free) } else { at };
        self.begin(start, to_flash);
        start + self.read_cycles(to_flash) + 1
    }

    /// A load from flash that begins at cycle `at`: when it is done. Where the code is in flash,
    /// too, it waits for the read under way, and the next words wait for it.
    fn load_from_flash(&mut self, at: u32) -> u32 {
        if !self.from_flash {
            return at + self.read_cycles(true) + 1;
        }
        self.read_ahead(at);
        self.free = at.max(self.free) + self.read_cycles(true);
        self.free + 1
    }

    /// An instruction is executed: when the core is ready for the next.
    fn execute(&mut self, place: Place, course: Course) -> u32 {
        let begin = self.issue(place);
        match course {
            Course::Base => begin + BASE,
            Course::Access => begin + ACCESS,
            Course::FlashLoad => self.load_from_flash(begin),
            Course::JumpToRam => self.jump(begin + BASE, false),
            Course::JumpToFlash => self.jump(begin + BASE, true),
        }
    }

    /// The same when now is `cycles` later.
    fn later(mut self, cycles: u64) -> Fetch {
        let past = u32::try_from(cycles).unwrap_or(u32::MAX);
        let times = self.done.iter_mut().chain(&mut self.executed).chain([&mut self.free]);
        times.for_each(|time| *time = time.saturating_sub(past));
        self
    }
}

/// Next moment and cycles after an instruction.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transition {
    /// The moment after it.
    pub moment: u16,
    /// Its cycles; 0: not worked out yet.
    pub cycles: u16,
}

/// Transitions from a moment, by course and place.
type Transitions = [Transition; 32];

/// The instruction fetch. How things stand recurs, and little else decides on how long an
/// instruction takes: each such moment is kept, and what follows on it is worked out once.
#[derive(Clone, Debug, Default)]
pub struct Moments {
    fetches: Vec<Fetch>,
    numbers: HashMap<Fetch, u16>,
    transitions: Vec<Transitions>,
    /// The moment at cycle `ready`, but for the wait states.
    moment: u16,
    ready: u64,
    wait_states: u8,
}

impl Moments {
    fn number(&mut self, fetch: Fetch) -> u16 {
        if let Some(&number) = self.numbers.get(&fetch) {
            return number;
        }
        if self.fetches.len() > usize::from(u16::MAX) {
            *self = Moments { ready: self.ready, wait_states: self.wait_states, ..Moments::default() };
        }
        let number = self.fetches.len() as u16;
        self.fetches.push(fetch);
        self.transitions.push(Transitions::default());
        self.numbers.insert(fetch, number);
        number
    }

    /// The core begins at cycle `now`, with nothing read and no wait states.
    pub fn reset(&mut self, now: u64, from_flash: bool) {
        self.wait_states = 0;
        let mut fetch = Fetch::default();
        fetch.begin(NOW, from_flash);
        let moment = self.number(fetch);
        self.leave(moment, now);
    }

    /// A debugger moves execution, with nothing read.
    pub fn restart(&mut self, from_flash: bool) {
        let mut fetch = self.fetches[usize::from(self.moment)];
        fetch.begin(fetch.free, from_flash);
        self.moment = self.number(fetch);
    }

    /// The flash's wait states from the next instruction on.
    pub fn set_wait_states(&mut self, wait_states: u8) {
        self.wait_states = wait_states;
    }

    /// The moment at which the core is ready at cycle `now`.
    pub fn enter(&mut self, now: u64) -> u16 {
        let before = self.fetches[usize::from(self.moment)];
        let fetch = Fetch { wait_states: self.wait_states, ..before.later(now - self.ready) };
        if fetch != before {
            self.moment = self.number(fetch);
        }
        self.ready = now;
        self.moment
    }

    /// The core is ready for another instruction at cycle `now`, which is this moment.
    pub fn leave(&mut self, moment: u16, now: u64) {
        self.moment = moment;
        self.ready = now;
    }

    /// Returns the transition by an instruction in this place.
    #[inline(always)]
    pub fn after(&mut self, moment: u16, place: Place, course: Course) -> Transition {
        let transition = self.transitions[usize::from(moment)][Self::index(place, course)];
        if transition.cycles == 0 { self.work_out(moment, place, course) } else { transition }
    }

    fn index(place: Place, course: Course) -> usize {
        4 * course as usize + place as usize
    }

    #[cold]
    #[inline(never)]
    fn work_out(&mut self, moment: u16, place: Place, course: Course) -> Transition {
        let before = self.fetches[usize::from(moment)];
        let mut fetch = before;
        let cycles = (fetch.execute(place, course) - NOW) as u16;
        let transition = Transition { moment: self.number(fetch.later(cycles.into())), cycles };
        // All may have been forgotten meanwhile.
        if self.fetches.get(usize::from(moment)) == Some(&before) {
            self.transitions[usize::from(moment)][Self::index(place, course)] = transition;
        }
        transition
    }

    /// Returns the cycles that an instruction in this place waits before it begins.
    pub fn wait(&self, moment: u16, place: Place) -> u64 {
        let mut fetch = self.fetches[usize::from(moment)];
        (fetch.issue(place) - NOW).into()
    }

    /// An interrupt at cycle `now` leads away from here: when its handler begins.
    pub fn interrupt(&mut self, now: u64, to_flash: bool) -> u64 {
        let here = self.enter(now);
        let mut fetch = self.fetches[usize::from(here)];
        let cycles = u64::from(fetch.jump(NOW + BASE, to_flash) - NOW);
        let moment = self.number(fetch.later(cycles));
        self.leave(moment, now + cycles);
        self.ready
    }
}

#[cfg(test)]
mod tests {
    use super::{Course, Moments, Place};

    /// An instruction of a loop: bytes and course.
    type Instruction = (u8, Course);
    const SHORT: Instruction = (2, Course::Base);
    const LONG: Instruction = (4, Course::Base);
    const STORE: Instruction = (2, Course::Access);

    /// Cycles of one turn of a loop at `start`: `count` times `body`, then `c.addi` and `c.bnez`
    /// back.
    fn turn(wait_states: u8, start: u32, body: Instruction, count: usize, flash: bool) -> u64 {
        let mut moments = Moments::default();
        moments.reset(0, flash);
        moments.set_wait_states(wait_states);
        let mut moment = moments.enter(0);
        let back = (2, if flash { Course::JumpToFlash } else { Course::JumpToRam });
        let mut cycles = 0;
        for _ in 0..20 {
            let mut pc = start;
            cycles = 0;
            for (length, course) in std::iter::repeat_n(body, count).chain([SHORT, back]) {
                let transition = moments.after(moment, Place::of(pc, length), course);
                moment = transition.moment;
                cycles += u64::from(transition.cycles);
                pc += u32::from(length);
            }
        }
        cycles
    }

    fn turns(wait_states: u8, body: Instruction, flash: bool, counts: &[usize]) -> Vec<u64> {
        counts.iter().map(|&count| turn(wait_states, 0, body, count, flash)).collect()
    }

    #[test]
    fn loops_from_flash_take_the_measured_cycles_at_48_mhz() {
        // cpldcpu/DRAM_exploration, 16bitnop.png, 32bitnop.png, 16bitstore.png. With 8 stores
        // silicon takes 24, the model 22.
        assert_eq!(turns(1, SHORT, true, &[0, 1, 2, 3, 4, 8]), [6, 6, 8, 8, 10, 14]);
        assert_eq!(turns(1, LONG, true, &[0, 1, 2, 3, 4, 8]), [6, 8, 10, 12, 14, 22]);
        assert_eq!(turns(1, STORE, true, &[0, 1, 2, 3, 4]), [6, 8, 10, 11, 14]);
    }

    #[test]
    fn loops_from_sram_take_the_measured_cycles() {
        // The same pictures. With 4 and 8 stores silicon takes 13 and 21, the model 12 and 20.
        assert_eq!(turns(1, SHORT, false, &[0, 1, 2, 3, 4, 8]), [4, 5, 6, 7, 8, 12]);
        assert_eq!(turns(1, LONG, false, &[0, 1, 2, 3, 4, 8]), [4, 5, 6, 7, 8, 12]);
        assert_eq!(turns(1, STORE, false, &[0, 1, 2]), [4, 6, 8]);
    }

    #[test]
    fn pipeline_test_takes_the_measured_cycles() {
        // jnk0le/random, ch32v_pipetest_tmpl.S: 20 cycles with 16 nops at no wait state, with 14 at
        // one.
        assert_eq!(turn(0, 8, SHORT, 16, true), 20);
        assert_eq!(turn(1, 8, SHORT, 14, true), 20);
        // From the lower half of a word a branch takes one cycle less than from the upper: 13 nops
        // are 2 cycles less.
        assert_eq!(turn(1, 8, SHORT, 13, true), 18);
        // To an unaligned 32-bit instruction one more.
        assert_eq!(turn(0, 8, LONG, 4, true) + 1, turn(0, 10, LONG, 4, true));
    }
}
