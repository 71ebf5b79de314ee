//! The independent watchdog (IWDG) of the STM32.
//!
//! RM0090 section 21.4; the other families' are the same, those of F0, F7 and L4 with a window
//! besides (RM0091 section 24.3.2). It counts the internal low-speed oscillator at its typical
//! frequency, of which the part's may differ by half; new settings count at once.

use crate::clock::rescaled;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{
    ClockUpdate, Context, Fault, Peripheral, PeripheralSpec, ResetCause, Roles, Spec, WatchdogTimer,
};

/// Keys of IWDG_KR.
const KEY_UNLOCK: u32 = 0x5555;
const KEY_RELOAD: u32 = 0xaaaa;
const KEY_START: u32 = 0xcccc;
/// The kind of mistake by which a program writes a protected register.
const WITHOUT_KEY: &str = "a write to a register of the IWDG without the key 0x5555";

/// IWDG_RLR and IWDG_WINR.
const LIMIT: u32 = 0xfff;

/// The registers.
#[derive(Clone)]
pub struct Iwdg {
    name: String,
    base: u32,
    lsi_hz: u64,
    windowed: bool,
    unlocked: bool,
    prescaler: u32,
    reload: u32,
    window: u32,
    clock_hz: u64,
    /// The cycle at which it expires, once it is started.
    expiry: Option<u64>,
}

impl Iwdg {
    /// IWDG at `spec.base`; `settings.lsi_hz` is what it counts, `settings.window = 1` where it has
    /// IWDG_WINR.
    ///
    /// # Errors
    /// No `lsi_hz`.
    pub fn new(spec: &PeripheralSpec) -> Result<Iwdg, String> {
        let lsi_hz = spec.settings.get("lsi_hz").copied().filter(|hz| *hz > 0);
        Ok(Iwdg {
            name: spec.name.clone(),
            base: spec.base,
            lsi_hz: lsi_hz.ok_or_else(|| format!("{} needs lsi_hz", spec.name))? as u64,
            windowed: spec.settings.get("window") == Some(&1),
            unlocked: false,
            prescaler: 0,
            reload: LIMIT,
            window: LIMIT,
            clock_hz: 1_000_000,
            expiry: None,
        })
    }

    /// IWDG_PR: 4 to 256.
    fn divider(&self) -> u64 {
        4 << self.prescaler.min(6)
    }

    /// The counter begins anew: from the reload value to 0.
    fn feed(&mut self, now: u64) {
        let clocks = (u64::from(self.reload) + 1) * self.divider();
        self.expiry = Some(now + clocks * self.clock_hz / self.lsi_hz);
    }

    /// The program feeds it, which resets the part where the counter is still above the window.
    fn reload(&mut self, context: &mut Context<'_, '_>) {
        let Some(expiry) = self.expiry else { return };
        let clocks = u128::from(expiry.saturating_sub(context.now)) * u128::from(self.lsi_hz);
        let counts = clocks.div_ceil(u128::from(self.clock_hz) * u128::from(self.divider()));
        if counts > u128::from(self.window) + 1 {
            context.events.request_reset(ResetCause::Watchdog);
            self.expiry = None;
        } else {
            self.feed(context.now);
        }
    }
}

impl Peripheral for Iwdg {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match offset & !3 {
            0x0 => 0,
            0x4 => self.prescaler,
            0x8 => self.reload,
            // No update is ever under way.
            0xc => 0,
            0x10 if self.windowed => self.window,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let value = merged_word(0, offset, size, value);
        match offset & !3 {
            0x0 => match value & 0xffff {
                KEY_UNLOCK => self.unlocked = true,
                key => {
                    self.unlocked = false;
                    match key {
                        KEY_START if self.expiry.is_none() => self.feed(context.now),
                        KEY_RELOAD => self.reload(context),
                        _ => {}
                    }
                }
            },
            // It reloads the counter, too.
            0x10 if self.windowed && self.unlocked => {
                self.window = value & LIMIT;
                if self.expiry.is_some() {
                    self.feed(context.now);
                }
            }
            0x4 | 0x8 if self.unlocked => {
                if offset & !3 == 4 {
                    self.prescaler = value & 7;
                } else {
                    self.reload = value & LIMIT;
                }
                if self.expiry.is_some() {
                    self.feed(context.now);
                }
            }
            // Without the key the registers are protected, and the write is lost (RM0090, 21.3.2).
            0x4 | 0x8 if context.events.tolerate(WITHOUT_KEY) => {}
            0x10 if self.windowed && context.events.tolerate(WITHOUT_KEY) => {}
            0x4 | 0x8 | 0x10 => {
                return context.refuse(&self.name, address, "written without the key 0x5555");
            }
            // SR is read-only.
            0xc => {}
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        Ok(())
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

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.expiry = self.expiry.map(|expiry| rescaled(expiry, now, self.clock_hz, clock_hz));
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.expiry = None;
        self.unlocked = false;
        self.prescaler = 0;
        self.reload = LIMIT;
        self.window = LIMIT;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { watchdog: Some(self), ..Roles::default() }
    }
}

impl WatchdogTimer for Iwdg {
    fn is_running(&self) -> bool {
        self.expiry.is_some()
    }
}
