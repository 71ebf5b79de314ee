//! The temperature sensor (TEMP): it is always 25 degrees. PS, "TEMP".

use super::block::Block;
use super::core_clock::{CORE_HZ, cycles_of_us};
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

const START: u32 = 0x000;
const STOP: u32 = 0x004;
/// Event, by its bit.
const DATARDY: u32 = 1 << 0;
/// The offset that Nordic's drivers load by hand, which the PS does not name: it keeps what is
/// written.
const OFFSET: u32 = 0x504;
const TEMP: u32 = 0x508;
/// Slopes, intercepts and ends of its segments: they keep what is written.
const A0: u32 = 0x520;
const END: u32 = 0x574;

/// 25 degrees, in quarters.
const TEMPERATURE: u32 = 100;
/// tTEMP, typically: PS, TEMP's electrical specification (from memory, not yet compared).
const MEASUREMENT_US: u64 = 36;

/// A0 to A5, B0 to B5, T0 to T4 after a reset, with what is between them.
const RESET: [u32; ((END - A0) / 4) as usize] = [
    0x326, 0x348, 0x3aa, 0x40e, 0x4bd, 0x5a3, 0, 0, 0x3fef, 0x3fbe, 0x3fbe, 0x12, 0x124, 0x27c, 0, 0, 0xe2,
    0, 0x19, 0x3c, 0x50,
];

/// The sensor.
#[derive(Clone)]
pub struct Temp {
    block: Block,
    calibration: [u32; RESET.len()],
    offset: u32,
    value: u32,
    ready_at: Option<u64>,
    clock_hz: u64,
}

impl Temp {
    /// The sensor at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Temp {
        Temp {
            block: Block::new(spec, DATARDY, &[]),
            calibration: RESET,
            offset: 0,
            value: 0,
            ready_at: None,
            clock_hz: CORE_HZ,
        }
    }

    fn settle(&mut self, now: u64) {
        if self.ready_at.is_some_and(|at| at <= now) {
            self.ready_at = None;
            self.value = TEMPERATURE;
            self.block.raise(DATARDY);
        }
    }
}

impl Peripheral for Temp {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context.now);
        self.block.signal(context);
        let own = match (address - self.block.base) & !3 {
            START | STOP => Some(0),
            OFFSET => Some(self.offset),
            TEMP => Some(self.value),
            offset @ A0..END => Some(self.calibration[((offset - A0) / 4) as usize]),
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
            START if value & 1 != 0 => {
                self.ready_at = Some(context.now + cycles_of_us(MEASUREMENT_US, self.clock_hz));
            }
            START => {}
            STOP if value & 1 != 0 => self.ready_at = None,
            STOP => {}
            OFFSET => self.offset = value,
            offset @ A0..END => self.calibration[((offset - A0) / 4) as usize] = value & 0x3fff,
            _ => return context.refuse(&self.block.name, address, "register not modelled"),
        }
        self.block.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.ready_at.filter(|_| self.block.awaited() & DATARDY != 0)
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
        self.calibration = RESET;
        self.offset = 0;
        self.value = 0;
        self.ready_at = None;
    }
}
