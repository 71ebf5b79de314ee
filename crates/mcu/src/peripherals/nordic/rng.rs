//! The random number generator (RNG). PS, "RNG".
//!
//! The bytes are a fixed sequence that begins at power-up, so that a run can be repeated: never
//! what the part's noise would give.

use super::block::Block;
use super::core_clock::{CORE_HZ, cycles_of_us};
use crate::peripherals::register::Register;
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, ResetCause, Spec};

const START: u32 = 0x000;
const STOP: u32 = 0x004;
/// Event, by its bit.
const VALRDY: u32 = 1 << 0;
const SHORTS: u32 = 0x200;
const CONFIG: u32 = 0x504;
const VALUE: u32 = 0x508;

/// SHORTS.VALRDY_STOP.
const VALRDY_STOP: u32 = 1 << 0;
/// CONFIG.DERCEN: bias correction.
const DERCEN: u32 = 1 << 0;

/// The registers that keep what is written.
const MAP: &[Register] = &[Register::new(SHORTS, VALRDY_STOP), Register::new(CONFIG, DERCEN)];

/// tRNG,START, tRNG,RAW and tRNG,BC, typically: PS, RNG's electrical specification (from memory,
/// not yet compared).
const START_US: u64 = 128;
const RAW_US: u64 = 30;
const CORRECTED_US: u64 = 120;

/// The first state of the sequence.
const SEED: u64 = 0x5745_5453_4541_4c21;

/// The generator.
#[derive(Clone)]
pub struct Rng {
    block: Block,
    state: u64,
    value: u32,
    /// The cycle at which the next byte is there, while it is started.
    ready_at: Option<u64>,
    clock_hz: u64,
}

impl Rng {
    /// The generator at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Rng {
        Rng { block: Block::new(spec, VALRDY, MAP), state: SEED, value: 0, ready_at: None, clock_hz: CORE_HZ }
    }

    /// Cycles from one byte to the next.
    fn period(&self) -> u64 {
        let us = if self.block.registers[CONFIG] & DERCEN != 0 { CORRECTED_US } else { RAW_US };
        cycles_of_us(us, self.clock_hz)
    }

    fn settle(&mut self, now: u64) {
        while let Some(at) = self.ready_at.filter(|at| *at <= now) {
            self.value = self.next();
            self.block.raise(VALRDY);
            let stops = self.block.registers[SHORTS] & VALRDY_STOP != 0;
            self.ready_at = (!stops).then_some(at + self.period());
        }
    }

    /// Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014 (SplitMix64).
    fn next(&mut self) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ mixed >> 31) >> 56) as u32
    }
}

impl Peripheral for Rng {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context.now);
        self.block.signal(context);
        let own = match (address - self.block.base) & !3 {
            START | STOP => Some(0),
            VALUE => Some(self.value),
            _ => None,
        };
        self.block.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.settle(context.now);
        if self.block.write(address, size, value, context)? {
            return Ok(());
        }
        match address - self.block.base {
            START if value & 1 != 0 && self.ready_at.is_none() => {
                let first = cycles_of_us(START_US, self.clock_hz) + self.period();
                self.ready_at = Some(context.now + first);
            }
            START => {}
            STOP if value & 1 != 0 => self.ready_at = None,
            STOP => {}
            _ => return context.refuse(&self.block.name, address, "register not modelled"),
        }
        self.block.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        // A program that waits looks itself. Bytes that nobody asks for are not counted out one by
        // one: see `settle`.
        self.ready_at.filter(|_| self.block.awaited() & VALRDY != 0)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.settle(context.now);
        self.block.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.settle(context.now);
            self.block.connect(context);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.state = SEED;
        self.value = 0;
        self.ready_at = None;
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        let state = self.state;
        self.reset();
        if cause != ResetCause::PowerOn {
            self.state = state;
        }
    }
}
