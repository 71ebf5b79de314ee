//! Fetch unit of the Cortex-M3 and M4 before a flash interface.
//!
//! It counts the cycles that instructions come too late.
//!
//! The processor reads a word a cycle ahead of decoding, into a buffer of three words ("3-word
//! prefetch buffer": ARM knowledge article 103488664; DDI 0337, section 1.2.2). At no wait states
//! and with nobody else reading the flash the buffer never runs dry, and nothing is kept. Two
//! things make it run dry: wait states, and data read from the flash, which goes before
//! instructions (RM0090 section 3.5.2: "accesses through the D-code bus have priority over accesses
//! through the I-code bus"; RM0041 section 2.3.3 says the same). Then every cycle is followed.
//!
//! An access to the second bank of an STM32F4's RAM (SRAM2) waits a cycle, unless the instruction
//! before it had that bank. ST does not say so. "SRAM2 seems to slow down memory accesses" (pqm4,
//! pull request 73); by how much is taken from issue 180 there: X25519 is about 10 % faster in CCM
//! than in SRAM. The issue has SRAM1 for it, but the counts of Schwabe and Stoffelen, whose RAM was
//! SRAM1 alone, leave no room for a cycle there. Of the STM32L4R5 its pull request 193 says that
//! SRAM1 "has slightly faster load timings", and with loads alone the counts of ML-KEM and ML-DSA
//! come out (docs/reference/accuracy.md).
//!
//! The flash answers with whole lines. A line that has been read serves its words without the
//! flash. Reading ahead, where it is on, begins in the cycle after a line has come into use, if the
//! flash is free then: a flash without wait states that serves data in that cycle has lost the
//! opportunity, one with wait states takes it later.

use super::flash::{Changed, Settings};
use super::lines::Lines;
use super::write_buffer::WriteBuffer;
use std::ops::Range;

const NONE: u32 = u32::MAX;

/// First address of the system bus: instructions from there come over the bus that the data uses,
/// and a cycle later, because their addresses are registered (DDI 0337, "System bus").
const SYSTEM_BUS: u32 = 0x2000_0000;

/// First address of the private peripheral bus, which the system bus does not lead to.
const PRIVATE_BUS: u32 = 0xe000_0000;

/// End of the flash on ICode and DCode; above is RAM without wait states (CCM).
pub(super) const FLASH_END: u32 = 0x1000_0000;

/// Activity of the data side in a cycle.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Data {
    /// Nothing that concerns instruction fetches.
    Idle,
    /// Reads the flash array.
    Flash,
    /// Uses the bus that instructions come over.
    Bus,
}

/// The data that an instruction reads or writes.
#[derive(Clone, Copy)]
pub(super) struct Transfer {
    pub address: u32,
    /// 0 for none.
    pub words: u8,
    pub store: bool,
}

impl Transfer {
    pub const NONE: Transfer = Transfer::load(0, 0);

    pub const fn load(address: u32, words: u8) -> Transfer {
        Transfer { address, words, store: false }
    }

    pub const fn store(address: u32, words: u8) -> Transfer {
        Transfer { address, words, store: true }
    }
}

/// The fetch unit with its view of the flash.
#[derive(Clone)]
pub(super) struct FetchUnit {
    /// Halfwords in the buffer when full.
    capacity: u32,
    line_shift: u32,
    /// RAM whose data waits a cycle; empty for none.
    pub second_bank: Range<u32>,
    /// Its loads alone.
    pub stores_pass: bool,
    /// Address of the instruction after one that had that bank.
    granted: u32,
    settings: Settings,
    instruction_lines: Lines,
    data_lines: Lines,

    /// Stores that the system bus has not done with.
    buffer: WriteBuffer,
    /// [`FetchUnit::follow`] must be called for the next instruction; otherwise only if it lies
    /// across two words or reads the flash.
    pub attention: bool,
    /// Halfwords fetched and not yet decoded.
    level: u32,
    /// Each cycle is followed.
    followed: bool,
    /// The next instruction is the first after a branch, or some instruction after one that came in
    /// time.
    pub branched: bool,
    /// Target of the last branch; `NONE` after reset, whose target is in the vector table.
    target: u32,
    /// Address of the next word to fetch, while followed.
    next: u32,
    /// The line in use and the line read ahead: line numbers.
    line: u32,
    ahead: u32,
    /// A line has just come into use: the next one is to be read ahead.
    armed: bool,
    /// A read of the flash under way for instructions: its line and the cycles left.
    reading: u32,
    reading_left: u32,
    /// True if that read is for the line that is waited for, false if it is ahead.
    reading_wanted: bool,
    /// True if a line that is read ahead has been waited for.
    missed: bool,
}

/// Number of lines in each cache; the least recently used one is replaced.
#[derive(Clone, Copy)]
pub(super) struct KeptLines {
    pub instructions: usize,
    pub data: usize,
}

impl FetchUnit {
    /// `lines`: of `line_bits` each, for where they are kept.
    pub fn new(capacity: u32, line_bits: u16, lines: KeptLines, settings: Settings) -> FetchUnit {
        let line_bytes = u32::from(line_bits) / 8;
        FetchUnit {
            capacity,
            line_shift: line_bytes.trailing_zeros(),
            second_bank: NONE..NONE,
            stores_pass: false,
            granted: NONE,
            settings,
            instruction_lines: Lines::new(lines.instructions),
            data_lines: Lines::new(lines.data),
            buffer: WriteBuffer::default(),
            attention: true,
            level: 0,
            followed: false,
            branched: true,
            target: NONE,
            next: 0,
            line: NONE,
            ahead: NONE,
            armed: false,
            reading: NONE,
            reading_left: 0,
            reading_wanted: false,
            missed: false,
        }
    }

    /// As after reset.
    pub fn reset(&mut self, settings: Settings) {
        self.instruction_lines.clear();
        self.data_lines.clear();
        self.settings = settings;
        self.buffer = WriteBuffer::default();
        self.attention = true;
        self.level = 0;
        self.followed = false;
        self.branched = true;
        self.target = NONE;
        self.line = NONE;
        self.ahead = NONE;
        self.armed = false;
        self.reading = NONE;
    }

    /// Returns true if instruction lines are kept.
    pub fn keeps_lines(&self) -> bool {
        self.settings.instruction_lines
    }

    /// The system bus waits in an access of the instruction that comes next to
    /// [`FetchUnit::follow`].
    pub fn wait_on_bus(&mut self, waits: u32, store: bool) {
        self.buffer.wait(waits, store);
        self.attention = true;
    }

    /// That instruction stores through a bit-band alias.
    pub fn store_bit(&mut self) {
        self.buffer.store_bit();
        self.attention = true;
    }

    /// Cycles until the system bus is free.
    pub fn bus_busy(&self) -> u32 {
        self.buffer.busy
    }

    /// Waits until the system bus is free, and returns the cycles of the wait.
    pub fn drain(&mut self) -> u32 {
        std::mem::take(&mut self.buffer.busy)
    }

    /// Takes over what the program has set.
    pub fn apply(&mut self, changed: Changed, settings: Settings) {
        if changed.instruction_reset {
            self.instruction_lines.clear();
        }
        if changed.data_reset {
            self.data_lines.clear();
        }
        if changed.settings {
            self.settings = settings;
            self.attention = true;
        }
    }

    /// The next instruction is the branch target at `target`.
    #[inline(always)]
    pub fn branch(&mut self, target: u32) {
        self.target = target;
        self.branched = true;
        // While nothing is followed, only a target that lies across two words comes late:
        // `run_instruction` is called for those in any case.
        let system = target >= SYSTEM_BUS;
        self.attention |= self.settings.wait_states != 0 || system;
    }

    /// The instruction at `address` of `length` bytes that takes `cycles` is to execute: cycles
    /// that it comes too late, and too late after it for its data.
    #[inline(never)]
    pub fn run_instruction(&mut self, address: u32, length: u32, cycles: u32, transfer: Transfer) -> u32 {
        let (data, count) = (transfer.address, u32::from(transfer.words));
        let idle = self.buffer.is_idle();
        if idle
            && self.followed
            && !self.branched
            && count == 0
            && self.stays_in_line(address, length >> 1, cycles)
        {
            return 0;
        }
        // A target that needed no attention was passed over.
        self.branched &= address == self.target || self.target == NONE;
        let system = address >= SYSTEM_BUS;
        let waits = self.settings.wait_states != 0 && !system;
        let reads_flash = count != 0 && data < FLASH_END;
        let halves = length >> 1;
        let in_bank = data >= self.second_bank.start
            && count != 0
            && data < self.second_bank.end
            && !(transfer.store && self.stores_pass);
        let mut wait = 0;
        if in_bank {
            wait = u32::from(self.granted != address);
            self.granted = address.wrapping_add(length);
        }
        if !idle {
            let on_bus = count != 0 && (SYSTEM_BUS..PRIVATE_BUS).contains(&data) || system;
            wait += self.buffer.end_instruction(cycles, on_bus);
        }
        let draining = !self.buffer.is_idle();
        let mut late = 0;

        if !self.followed && (waits || system || reads_flash) {
            self.begin_following(address);
        }
        if !self.followed {
            // The first fetch is part of the branch's refill; half a word of it may be before the
            // target.
            let half = self.branched && address & 2 != 0 && halves == 2;
            self.branched = false;
            self.attention = in_bank || draining;
            return u32::from(half) + wait;
        }
        if self.branched {
            self.branched = false;
            self.level = 0;
            self.next = address;
            if system {
                late += 1;
            }
            self.clock(Data::Idle);
            while self.level < halves {
                self.clock(Data::Idle);
                late += 1;
            }
            self.level -= halves;
            self.clock(Data::Idle);
        } else {
            while self.level < halves {
                self.clock(Data::Idle);
                late += 1;
            }
            self.level -= halves;
        }

        late += wait;
        for _ in 0..wait {
            self.clock(Data::Idle);
        }
        late += self.pass_cycles(cycles, data, count, system);

        if !waits && !system && !reads_flash && self.is_settled() {
            self.followed = false;
        }
        self.attention = self.followed || self.branched || in_bank || draining;
        late
    }

    /// Begins to follow each cycle, at the instruction at `address`.
    fn begin_following(&mut self, address: u32) {
        self.followed = true;
        // A branch leaves a word or two in the buffer; it fills up wherever an instruction is
        // short or slow. It is not watched while nothing can make it run dry, but taken to have
        // gained a halfword with each word.
        self.level = (2 + (address.wrapping_sub(self.target) >> 2)).min(self.capacity);
        self.next = address.wrapping_add(2 * self.level) & !1;
        self.line = self.next.wrapping_sub(2) >> self.line_shift;
        // A full buffer whose last word was the first of its line: the line has just come into
        // use, and reading ahead is for the cycle that now begins. Otherwise it has been done.
        let first_word = self.next & ((1 << self.line_shift) - 1) == 4;
        self.armed = self.settings.prefetch && first_word && self.level == self.capacity;
        self.ahead = if self.settings.prefetch && !self.armed { self.line + 1 } else { NONE };
    }

    /// Passes the cycles of an instruction with `count` words of data from `data` on. Returns the
    /// cycles that it waits for them.
    #[inline(always)]
    fn pass_cycles(&mut self, cycles: u32, data: u32, count: u32, system: bool) -> u32 {
        let mut late = 0;
        let mut remaining = cycles;
        let mut served = 0;
        while served < count {
            let at = data.wrapping_add(4 * served);
            if at < FLASH_END {
                late += self.read_data(at);
            } else if system && at >= SYSTEM_BUS {
                self.clock(Data::Bus);
            } else {
                self.clock(Data::Idle);
            }
            served += 1;
            remaining = remaining.saturating_sub(1);
        }
        for _ in 0..remaining {
            self.clock(Data::Idle);
        }
        late
    }

    /// Returns true once the buffer is full and the next line read ahead: nothing is left of what
    /// data has delayed.
    #[inline(always)]
    fn is_settled(&self) -> bool {
        let read_ahead = !self.settings.prefetch || self.ahead == self.line.wrapping_add(1);
        read_ahead && self.level + 2 > self.capacity
    }

    /// The ordinary case while cycles are followed: all that is fetched during the instruction
    /// comes out of the line in use, and no read of the flash is under way. Takes the instruction
    /// if so.
    #[inline(always)]
    fn stays_in_line(&mut self, address: u32, halves: u32, cycles: u32) -> bool {
        let waits = self.settings.wait_states != 0;
        if !waits && address >= SYSTEM_BUS
            || self.level < halves
            || self.armed
            || self.reading != NONE
            || self.next & 2 != 0
        {
            return false;
        }
        let left = self.level - halves;
        let words = cycles.min((self.capacity - left) >> 1);
        let next = self.next.wrapping_add(4 * words);
        if next.wrapping_sub(1) >> self.line_shift != self.line {
            return false;
        }
        self.level = left + 2 * words;
        self.next = next;
        if !waits && self.is_settled() {
            (self.followed, self.attention) = (false, false);
        }
        true
    }

    /// A word of data from the flash: cycles beyond one.
    fn read_data(&mut self, address: u32) -> u32 {
        if self.settings.data_lines && self.data_lines.hit(address >> self.line_shift) {
            self.clock(Data::Idle);
            return 0;
        }
        let mut late = 0;
        // A read that has begun is finished first.
        while self.reading != NONE {
            if self.next >= SYSTEM_BUS {
                // `clock` does not look at a read for instructions that now come from RAM.
                late += std::mem::take(&mut self.reading_left);
                self.reading = NONE;
                break;
            }
            self.clock(Data::Idle);
            late += 1;
        }
        for _ in 0..self.settings.wait_states {
            self.clock(Data::Flash);
            late += 1;
        }
        self.clock(Data::Flash);
        if self.settings.data_lines {
            self.data_lines.fill(address >> self.line_shift);
        }
        late
    }

    /// One cycle of the fetch unit.
    #[inline(always)]
    fn clock(&mut self, data: Data) {
        // Nothing to be read: the buffer is full, or the word comes out of the line in use.
        let step = if self.next & 2 != 0 { 1 } else { 2 };
        if self.reading == NONE && !self.armed && self.next < SYSTEM_BUS {
            if self.level + step > self.capacity || data == Data::Bus {
                return;
            }
            if self.next >> self.line_shift == self.line {
                return self.take(step);
            }
        }
        self.clock_flash(data);
    }

    /// As [`FetchUnit::clock`], whatever there is to do.
    #[inline(never)]
    fn clock_flash(&mut self, data: Data) {
        let mut flash_busy = data == Data::Flash;
        let half = self.next & 2 != 0;
        let step = if half { 1 } else { 2 };
        let wants = self.level + step <= self.capacity && data != Data::Bus;
        if self.next >= SYSTEM_BUS {
            if wants {
                self.take(step);
            }
            return;
        }
        if self.reading != NONE {
            flash_busy = true;
            self.reading_left -= 1;
            if self.reading_left == 0 {
                // "Each time a miss occurs, the line read is copied into the instruction cache":
                // what was read ahead in time is not.
                if (self.reading_wanted || self.missed) && self.settings.instruction_lines {
                    self.instruction_lines.fill(self.reading);
                }
                if self.reading_wanted && self.next >> self.line_shift == self.reading {
                    self.line = self.reading;
                    self.armed = self.settings.prefetch;
                } else {
                    self.ahead = self.reading;
                }
                self.reading = NONE;
            }
        }
        let mut fresh = false;
        if wants {
            let wanted = self.next >> self.line_shift;
            if wanted == self.line {
                self.take(step);
            } else if wanted == self.ahead {
                self.ahead = NONE;
                fresh = true;
            } else if self.settings.instruction_lines && self.instruction_lines.hit(wanted) {
                fresh = true;
            } else if wanted == self.reading {
                self.missed = true;
            } else if !flash_busy {
                flash_busy = true;
                if self.settings.wait_states == 0 {
                    fresh = true;
                    if self.settings.instruction_lines {
                        self.instruction_lines.fill(wanted);
                    }
                } else {
                    self.reading = wanted;
                    self.reading_left = u32::from(self.settings.wait_states);
                    self.reading_wanted = true;
                    self.missed = false;
                }
            }
            if fresh {
                self.line = wanted;
                self.armed = self.settings.prefetch;
                self.take(step);
                return;
            }
        }
        if self.armed {
            self.read_ahead(flash_busy);
        }
    }

    /// Begins to read the line after the one in use, if the flash is free and the line absent.
    #[inline(always)]
    fn read_ahead(&mut self, flash_busy: bool) {
        let next_line = self.line + 1;
        if next_line == self.ahead
            || (self.settings.instruction_lines && self.instruction_lines.contains(next_line))
        {
            self.armed = false;
        } else if self.settings.wait_states == 0 {
            self.armed = false;
            if !flash_busy {
                self.ahead = next_line;
            }
        } else if !flash_busy && self.reading == NONE {
            self.armed = false;
            self.reading = next_line;
            self.reading_left = u32::from(self.settings.wait_states);
            self.reading_wanted = false;
            self.missed = false;
        }
    }

    fn take(&mut self, step: u32) {
        self.level += step;
        self.next = self.next.wrapping_add(2 * step);
    }
}
