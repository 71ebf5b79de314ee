//! What instructions cost on QingKe V2A, and what the flash makes them wait for.
//!
//! No manual has these figures; they are measurements on silicon:
//! - github jnk0le/random, "pipeline cycle test/doc/ch32v003_(qkv2).md" (commit 3dfc2ab): a load or store takes 2 cycles, a taken
//!   branch or jump 3 without wait states and 1 more to an unaligned 32-bit instruction; with one wait state 4 from the lower half
//!   of a word and 5 from the upper, swapped after an instruction of 2 cycles; the flash has lines of 32 bits.
//! - github cpldcpu/DRAM_exploration, `instruction_timing`: loops at 48 MHz with one wait state, from flash and from SRAM.
//! - github CaiB/CH32V003-Architecture-Exploration, `Data/Alignment.csv`: instructions that are neither loads, stores nor jumps
//!   take 1 cycle.
//!
//! One mechanism gives these figures: the core reads words ahead, one after the other, each for 1 cycle and the wait states, into a
//! buffer of three words; a word can be executed from the second cycle after its last; a jump cannot cut off the read under way.

/// Cycles of an instruction that is neither load, store nor jump; of a jump, before the fetch of its target begins.
pub const BASE: u64 = 1;

/// A load or store to RAM or a register.
pub const ACCESS: u64 = 2;

/// Words that the buffer holds, that which is being executed and that which is being read among them.
const BUFFER: u32 = 3;

/// The instruction fetch. Words are numbered by their address divided by four.
#[derive(Clone, Debug, Default)]
pub struct Fetch {
    wait_states: u64,
    /// Cycles of a read of the memory that is executed from.
    read: u64,
    from_flash: bool,
    /// The first word since the last jump.
    first: u32,
    /// The first word of which not all is executed.
    head: u32,
    /// The next word to be read.
    next: u32,
    /// The cycle from which the memory can be read again.
    free: u64,
    /// The cycle at which the read of a word is done, by the low bits of its number.
    done: [u64; 4],
    /// The cycle at which the last instruction in a word began.
    executed: [u64; 4],
}

impl Fetch {
    /// The core begins at `pc` at cycle `now`, with nothing read and no wait states.
    pub fn reset(&mut self, now: u64, pc: u32, from_flash: bool) {
        *self = Fetch { free: now, ..Fetch::default() };
        self.begin(pc, now, from_flash);
    }

    /// A debugger moves execution to `pc`, with nothing read.
    pub fn restart(&mut self, pc: u32, from_flash: bool) {
        self.begin(pc, self.free, from_flash);
    }

    /// The flash's wait states from now on.
    pub fn set_wait_states(&mut self, wait_states: u8) {
        self.wait_states = wait_states.into();
        self.read = self.read_cycles(self.from_flash);
    }

    fn read_cycles(&self, flash: bool) -> u64 {
        1 + if flash { self.wait_states } else { 0 }
    }

    fn begin(&mut self, pc: u32, at: u64, from_flash: bool) {
        self.from_flash = from_flash;
        self.read = self.read_cycles(from_flash);
        self.first = pc >> 2;
        self.head = self.first;
        self.next = self.first;
        self.free = at;
    }

    /// The cycle at which the read of the next word can begin; `None` while the buffer is full.
    #[inline(always)]
    fn start(&self) -> Option<u64> {
        if self.next.wrapping_sub(self.first) < BUFFER {
            return Some(self.free);
        }
        let replaced = self.next - BUFFER;
        (replaced < self.head).then(|| self.free.max(self.executed[replaced as usize & 3]))
    }

    #[inline(always)]
    fn read_next(&mut self, start: u64) {
        self.free = start + self.read;
        self.done[self.next as usize & 3] = self.free;
        self.next = self.next.wrapping_add(1);
    }

    /// The cycle at which the instruction of `length` bytes at `pc` begins, which the core is ready for at `now`.
    #[inline(always)]
    pub fn issue(&mut self, now: u64, pc: u32, length: u32) -> u64 {
        let last = pc.wrapping_add(length - 1) >> 2;
        while self.next <= last {
            let start = self.start().unwrap_or(now);
            self.read_next(start);
        }
        let begin = now.max(self.done[last as usize & 3] + 1);
        let word = pc >> 2;
        if pc & 2 != 0 || length == 4 {
            self.executed[word as usize & 3] = begin;
            self.head = word + 1;
        }
        begin
    }

    /// The reads that begin before cycle `at` without anything else being executed.
    fn read_ahead(&mut self, at: u64) {
        while let Some(start) = self.start()
            && start < at
        {
            self.read_next(start);
        }
    }

    /// A jump to `target`, whose fetch can begin at cycle `at`: when the instruction there can begin, at the earliest.
    #[inline(always)]
    pub fn jump(&mut self, at: u64, target: u32, to_flash: bool) -> u64 {
        self.read_ahead(at);
        let start = if to_flash == self.from_flash { at.max(self.free) } else { at };
        self.begin(target, start, to_flash);
        start + self.read + 1
    }

    /// A load from flash that begins at cycle `at`: how long it takes. Where the code is in flash, too, it waits for the read under
    /// way, and the next words wait for it.
    #[inline(always)]
    pub fn load_from_flash(&mut self, at: u64) -> u64 {
        if !self.from_flash {
            return self.read_cycles(true) + 1;
        }
        self.read_ahead(at);
        let done = at.max(self.free) + self.read;
        self.free = done;
        done + 1 - at
    }
}

#[cfg(test)]
mod tests {
    use super::{ACCESS, BASE, Fetch};

    /// An instruction of a loop: halfwords and cycles.
    type Instruction = (u32, u64);
    const SHORT: Instruction = (2, BASE);
    const LONG: Instruction = (4, BASE);
    const STORE: Instruction = (2, ACCESS);

    /// Cycles of one turn of a loop at `start`: `count` times `body`, then `c.addi` and `c.bnez` back.
    fn turn(wait_states: u8, start: u32, body: Instruction, count: usize, flash: bool) -> u64 {
        let mut fetch = Fetch::default();
        fetch.reset(0, start, flash);
        fetch.set_wait_states(wait_states);
        let mut now = 0;
        let mut turns = Vec::new();
        for _ in 0..20 {
            let mut pc = start;
            for (length, cycles) in std::iter::repeat_n(body, count).chain([SHORT, SHORT]) {
                now = fetch.issue(now, pc, length) + cycles;
                pc += length;
            }
            now = fetch.jump(now, start, flash);
            turns.push(now);
        }
        turns[19] - turns[18]
    }

    fn turns(wait_states: u8, body: Instruction, flash: bool, counts: &[usize]) -> Vec<u64> {
        counts.iter().map(|&count| turn(wait_states, 0, body, count, flash)).collect()
    }

    #[test]
    fn loops_from_flash_take_what_was_measured_at_48_mhz() {
        // cpldcpu/DRAM_exploration, 16bitnop.png, 32bitnop.png, 16bitstore.png. With 8 stores silicon takes 24, the model 22.
        assert_eq!(turns(1, SHORT, true, &[0, 1, 2, 3, 4, 8]), [6, 6, 8, 8, 10, 14]);
        assert_eq!(turns(1, LONG, true, &[0, 1, 2, 3, 4, 8]), [6, 8, 10, 12, 14, 22]);
        assert_eq!(turns(1, STORE, true, &[0, 1, 2, 3, 4]), [6, 8, 10, 11, 14]);
    }

    #[test]
    fn loops_from_sram_take_what_was_measured() {
        // The same pictures. With 4 and 8 stores silicon takes 13 and 21, the model 12 and 20.
        assert_eq!(turns(1, SHORT, false, &[0, 1, 2, 3, 4, 8]), [4, 5, 6, 7, 8, 12]);
        assert_eq!(turns(1, LONG, false, &[0, 1, 2, 3, 4, 8]), [4, 5, 6, 7, 8, 12]);
        assert_eq!(turns(1, STORE, false, &[0, 1, 2]), [4, 6, 8]);
    }

    #[test]
    fn the_pipeline_test_takes_what_was_measured() {
        // jnk0le/random, ch32v_pipetest_tmpl.S: 20 cycles with 16 nops at no wait state, with 14 at one.
        assert_eq!(turn(0, 8, SHORT, 16, true), 20);
        assert_eq!(turn(1, 8, SHORT, 14, true), 20);
        // From the lower half of a word a branch takes one cycle less than from the upper: 13 nops are 2 cycles less.
        assert_eq!(turn(1, 8, SHORT, 13, true), 18);
        // To an unaligned 32-bit instruction one more.
        assert_eq!(turn(0, 8, LONG, 4, true) + 1, turn(0, 10, LONG, 4, true));
    }
}
