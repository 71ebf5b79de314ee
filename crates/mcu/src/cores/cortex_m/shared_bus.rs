//! Wait states of the Cortex-M0's one bus before the flash of an STM32F0.
//!
//! The core has a single AHB-Lite interface (DDI 0432C section 1.1): instructions and data take
//! turns on it, and the whole core stands while an access waits. It asks for the next word of
//! instructions in the cycle in which the first halfword of a word executes; a branch asks for its
//! target two cycles before that executes, and for the next word right after where the target is
//! the second halfword.
//!
//! The flash reads one word at a time, in `wait_states` + 1 cycles. Where the prefetch buffer is
//! on, it reads the next words whenever there is room for one: three words (RM0091 section 3.2.1).
//! If both could begin, the core's read comes first. A read for the buffer that has begun is
//! finished before data are read, which makes a literal load cheaper as the first of a pair of
//! instructions (jnk0le/random, "pipeline cycle test", doc/cortex_m0.md); a branch gives it up. The
//! latter is told by jnk0le/cortexm-AES with its key schedule on the fly, a branch in every 24
//! cycles: 2,650 and 3,736 cycles, measured 2,648 and 3,735; 2,726 and 3,841 if the read were
//! finished.

use super::flash::Settings;

/// First address that is not the flash.
const FLASH_END: u32 = 0x2000_0000;

/// Words that the prefetch buffer holds.
const BLOCKS: u8 = 3;

/// The bus and the flash behind it.
#[derive(Clone, Default)]
pub(super) struct SharedBus {
    /// The cycle in which the next instruction executes, by the bus's own count.
    now: u64,
    /// The first cycle in which the flash can begin a read.
    free: u64,
    wait_states: u64,
    prefetch: bool,
    /// Words in the prefetch buffer, one perhaps still being read.
    ahead: u8,
}

impl SharedBus {
    /// As after reset.
    pub fn reset(&mut self, settings: Settings) {
        // A branch looks two cycles back.
        *self = SharedBus { now: 2, ..SharedBus::default() };
        self.apply(settings);
    }

    /// Takes over what the program has set.
    pub fn apply(&mut self, settings: Settings) {
        self.wait_states = u64::from(settings.wait_states);
        self.prefetch = settings.prefetch;
        self.ahead = 0;
    }

    /// Nothing is executed for so long.
    pub fn idle(&mut self, cycles: u64) {
        self.now += cycles;
    }

    /// The reads for the prefetch buffer that begin before a cycle.
    #[inline(always)]
    fn read_ahead(&mut self, before: u64) {
        if !self.prefetch {
            return;
        }
        let (mut ahead, mut free) = (self.ahead, self.free);
        while ahead < BLOCKS && free < before {
            ahead += 1;
            free += self.wait_states + 1;
        }
        (self.ahead, self.free) = (ahead, free);
    }

    /// A read of the flash for the core, from a cycle on: how long it waits.
    #[inline(always)]
    fn read(&mut self, from: u64) -> u64 {
        let end = self.free.max(from) + self.wait_states;
        self.free = end + 1;
        end - from
    }

    /// The next word of instructions, asked for in a cycle.
    #[inline(always)]
    fn fetch(&mut self, from: u64) -> u64 {
        self.read_ahead(from);
        match self.ahead {
            0 => self.read(from),
            // The only one may still be on its way; of several the first is there.
            1 => {
                self.ahead = 0;
                self.free.saturating_sub(from + 1)
            }
            full => {
                if full == BLOCKS {
                    self.free = self.free.max(from + 1);
                }
                self.ahead -= 1;
                0
            }
        }
    }

    /// The instruction at `address` takes `cycles` and reads or writes `count` words from `data`
    /// up: cycles that it waits beyond them. Not inlined, so that programs without wait states do
    /// not carry it.
    #[inline(never)]
    pub fn execute(&mut self, address: u32, length: u8, cycles: u32, data: u32, count: u32) -> u32 {
        // The second halfword of a word is there with the first.
        if count == 0 && length == 2 && address & 2 != 0 {
            self.now += u64::from(cycles);
            return 0;
        }
        let mut waits = 0;
        // RAM has no wait states (RM0091 section 2.3); what its code reads from the flash has.
        let from_flash = address < FLASH_END;
        if from_flash && address & 2 == 0 {
            waits = self.fetch(self.now);
        } else if from_flash && length == 4 {
            waits = self.fetch(self.now + 1);
        }
        if count != 0 && data < FLASH_END {
            for word in 1..=u64::from(count) {
                let from = self.now + word + waits;
                self.read_ahead(from);
                waits += self.read(from);
            }
        }
        self.now += u64::from(cycles) + waits;
        waits as u32
    }

    /// The instruction just executed goes on at `target`: cycles that this waits.
    #[inline(never)]
    pub fn branch(&mut self, target: u32) -> u32 {
        if target >= FLASH_END {
            return 0;
        }
        let from = self.now - 2;
        self.read_ahead(from);
        if std::mem::take(&mut self.ahead) != 0 {
            self.free = self.free.min(from);
        }
        let mut waits = self.read(from);
        if target & 2 != 0 {
            waits += self.fetch(from + 1 + waits);
        }
        self.now += waits;
        waits as u32
    }
}
