//! The random number generator (RNG) of the STM32F4 and F7.
//!
//! RM0090 section 24, RM0410 section 20: a word at most 40 periods of PLL48CLK after the generator
//! was switched on or the word before was read; taken to be 40 each time. The words are a fixed
//! sequence that begins at power-up, so that a run can be repeated: never what the part's noise
//! would give. Its errors of the seed do not come about.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{ClockUpdate, Context, Fault, Peripheral, PeripheralSpec, ResetCause, Spec};

/// CR.
const RNGEN: u32 = 1 << 2;
const IE: u32 = 1 << 3;
/// SR.
const DRDY: u32 = 1 << 0;
const CECS: u32 = 1 << 1;
const CEIS: u32 = 1 << 5;

/// Periods of PLL48CLK from one word to the next.
const PERIODS: u128 = 40;
/// The clock is an error where it is slower than HCLK by more than this.
const SLOWEST: u64 = 16;

/// The first state of the sequence.
const SEED: u64 = 0x5745_5453_4541_4c21;

/// The registers.
#[derive(Clone)]
pub struct Rng {
    name: String,
    base: u32,
    irq: Option<u8>,
    control: u32,
    /// CEIS.
    clock_failed: bool,
    state: u64,
    word: Option<u32>,
    /// The cycle at which the next word is there.
    ready_at: Option<u64>,
    /// HCLK and PLL48CLK, in Hz.
    clocks: (u64, u64),
}

impl Rng {
    /// The generator at `spec.base`, interrupting with `spec.irq`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Rng {
        Rng {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            control: 0,
            clock_failed: false,
            state: SEED,
            word: None,
            ready_at: None,
            clocks: (1, 0),
        }
    }

    fn works(&self) -> bool {
        self.control & RNGEN != 0 && !self.clock_fails()
    }

    fn clock_fails(&self) -> bool {
        let (hclk, clock) = self.clocks;
        clock < hclk.div_ceil(SLOWEST)
    }

    /// Begins the next word, or stops, as the settings now ask for it.
    fn follow(&mut self, now: u64) {
        self.clock_failed |= self.control & RNGEN != 0 && self.clock_fails();
        if !self.works() {
            self.ready_at = None;
        } else if self.word.is_none() && self.ready_at.is_none() {
            let (hclk, clock) = self.clocks;
            self.ready_at = Some(now + (PERIODS * u128::from(hclk)).div_ceil(clock.into()) as u64);
        }
    }

    fn settle(&mut self, now: u64) {
        if self.ready_at.is_some_and(|at| at <= now) {
            self.ready_at = None;
            self.word = Some(self.next());
        }
    }

    /// Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014 (SplitMix64);
    /// never zero, which software takes for an error.
    fn next(&mut self) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        (((mixed ^ mixed >> 31) >> 32) as u32).max(1)
    }

    fn status(&self) -> u32 {
        let failing = self.control & RNGEN != 0 && self.clock_fails();
        u32::from(self.word.is_some()) * DRDY
            | u32::from(failing) * CECS
            | u32::from(self.clock_failed) * CEIS
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        if let Some(irq) = self.irq {
            if self.control & IE != 0 && self.status() & (DRDY | CEIS) != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }
}

impl Peripheral for Rng {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context.now);
        let offset = address - self.base;
        let word = match offset & !3 {
            0 => self.control,
            4 => self.status(),
            // Nothing is there before DRDY: zero.
            8 => {
                let word = self.word.take().unwrap_or(0);
                self.follow(context.now);
                word
            }
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        self.signal(context);
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.settle(context.now);
        let offset = address - self.base;
        match offset & !3 {
            0 => {
                let control = merged_word(self.control, offset, size, value);
                if control & !(RNGEN | IE) != 0 {
                    return context.refuse(&self.name, address, "a reserved bit of RNG_CR is set");
                }
                self.control = control;
            }
            // CEIS and SEIS are cleared by writing zero; the rest is read-only.
            4 => self.clock_failed &= merged_word(u32::MAX, offset, size, value) & CEIS != 0,
            8 => {}
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        if offset & !3 == 0 {
            self.follow(context.now);
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        // A program that waits looks itself; one that sleeps asks for the interrupt.
        self.ready_at.filter(|_| self.control & IE != 0)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.settle(context.now);
        self.signal(context);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Usb { hclk_hz, usb_hz } = update
            && (hclk_hz, usb_hz) != self.clocks
        {
            self.settle(now);
            self.clocks = (hclk_hz, usb_hz);
            // A word under way begins anew: when the clock changes is nothing that a program can
            // tell from 40 periods at most.
            self.ready_at = None;
            self.follow(now);
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.ready_at.iter_mut().for_each(|at| *at += cycles);
    }

    fn reset(&mut self) {
        self.control = 0;
        self.clock_failed = false;
        self.state = SEED;
        self.word = None;
        self.ready_at = None;
        self.clocks = (1, 0);
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        let state = self.state;
        self.reset();
        if cause != ResetCause::PowerOn {
            self.state = state;
        }
    }
}
