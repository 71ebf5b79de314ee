//! The independent watchdog (IWDG) of the STM32.
//!
//! RM0090 section 21.4; the other families' are the same (F0 and F7 with a window besides, which is not modelled). It counts the
//! internal low-speed oscillator, [`LSI_HZ`] here, of which the part's may differ by half; new settings count at once.

use crate::clock::rescaled;
use crate::{Context, Fault, Peripheral, PeripheralSpec, ResetCause};
use std::ops::Range;

/// Keys of IWDG_KR.
const KEY_UNLOCK: u32 = 0x5555;
const KEY_RELOAD: u32 = 0xaaaa;
const KEY_START: u32 = 0xcccc;

/// The internal low-speed oscillator, typically: DS8626, "LSI oscillator characteristics" (17 to 47 kHz; from memory, not yet
/// compared). The STM32F0's and F1's have 40 kHz.
pub const LSI_HZ: u64 = 32_000;

/// The registers.
#[derive(Clone)]
pub struct Iwdg {
    name: String,
    base: u32,
    unlocked: bool,
    prescaler: u32,
    reload: u32,
    clock_hz: u64,
    /// The cycle at which it expires, once it is started.
    expiry: Option<u64>,
}

impl Iwdg {
    /// IWDG at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Iwdg {
        Iwdg {
            name: spec.name.clone(),
            base: spec.base,
            unlocked: false,
            prescaler: 0,
            reload: 0xfff,
            clock_hz: 1_000_000,
            expiry: None,
        }
    }

    /// The counter begins anew: prescaler 4 to 256, reload value to 0.
    fn feed(&mut self, now: u64) {
        let clocks = (u64::from(self.reload) + 1) << (2 + self.prescaler.min(6));
        self.expiry = Some(now + clocks * self.clock_hz / LSI_HZ);
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }
}

impl Peripheral for Iwdg {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + 0x400).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match offset & !3 {
            0x0 => 0,
            0x4 => self.prescaler,
            0x8 => self.reload,
            // No update is ever under way.
            0xc => 0,
            _ => return Err(self.fault(address, context, "register not modelled")),
        };
        Ok(super::register::part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let value = super::register::merged_word(0, offset, size, value);
        match offset & !3 {
            0x0 => match value & 0xffff {
                KEY_UNLOCK => self.unlocked = true,
                key => {
                    self.unlocked = false;
                    if key == KEY_START || key == KEY_RELOAD && self.expiry.is_some() {
                        self.feed(context.now);
                    }
                }
            },
            0x4 | 0x8 if self.unlocked => {
                if offset & !3 == 4 {
                    self.prescaler = value & 7;
                } else {
                    self.reload = value & 0xfff;
                }
                if self.expiry.is_some() {
                    self.feed(context.now);
                }
            }
            0x4 | 0x8 => return Err(self.fault(address, context, "written without the key 0x5555")),
            _ => return Err(self.fault(address, context, "register not modelled")),
        }
        Ok(())
    }

    fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.expiry = self.expiry.map(|expiry| rescaled(expiry, now, self.clock_hz, clock_hz));
        self.clock_hz = clock_hz;
    }

    fn due(&self) -> Option<u64> {
        self.expiry
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        if self.expiry.is_some_and(|expiry| expiry <= context.now) {
            context.events.request_reset(ResetCause::Watchdog);
            self.expiry = None;
        }
    }

    fn will_reset(&self) -> bool {
        self.expiry.is_some()
    }

    fn reset(&mut self) {
        self.expiry = None;
        self.unlocked = false;
        self.prescaler = 0;
        self.reload = 0xfff;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
