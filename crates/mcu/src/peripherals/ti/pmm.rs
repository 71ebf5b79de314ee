//! Power management module of the MSP430F5xx.
//!
//! It has a password, the core voltage, and supervisors and monitors of the supply.
//!
//! Source: SLAU208, chapter "Power Management Module and Supply Voltage Supervisor"; bits compared
//! with TI's header for the part, levels and times in the target file. The core's own regulator
//! never fails, so the low-side supervisor does nothing but slow the wake-up. The high-side
//! supervisor is on or off in all modes alike, as with `SVSHMD` set. What the program waits for
//! (`SVSMLDLYIFG`, `SVSMHDLYIFG`, `SVMLVLRIFG`) is there at once; the real delays, below 150 µs a
//! step, are not modelled. `SVMHIFG` says that the supply is below the high-side monitor's level;
//! it is to be polled, as its interrupt is not modelled. After a reset no flag tells its cause. A
//! write without the password resets the part. A core voltage raised by more than one step at a
//! time and LPM4.5 stop with a fault.

use crate::{
    ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Power, PowerManagement, Protected,
    ResetCause, Roles, Spec,
};

const PMMCTL0: u32 = 0x00;
const SVSMHCTL: u32 = 0x04;
const SVSMLCTL: u32 = 0x06;
const PMMIFG: u32 = 0x0c;
const PMMRIE: u32 = 0x0e;
const END: u32 = 0x12;
const PASSWORD_READ: u32 = 0x9600;
const PASSWORD_WRITE: u32 = 0xa5;
/// `PMMSWBOR`, `PMMSWPOR`.
const PMMSWBOR_PMMSWPOR: u32 = 0x0c;
/// `PMMREGOFF`.
const PMMREGOFF: u32 = 0x10;
const PMMCOREV: u32 = 3;
const SVSMLDLYIFG: u32 = 0x01;
const SVMLVLRIFG: u32 = 0x04;
const SVSMHDLYIFG: u32 = 0x10;
/// `SVMHIFG`, `SVMHVLRIFG`: the supply is below the monitor's level, or above.
const SVMHIFG: u32 = 0x20;
const SVMHVLRIFG: u32 = 0x40;
/// `SVSLE` in `SVSMLCTL`, `SVSHE` in `SVSMHCTL`; `SVMHE` there.
const SVSHE_SVSLE: u32 = 0x0400;
const SVMHE: u32 = 0x4000;
/// The low-side supervisor is ready for a fast wake-up.
const SVSLFP: u32 = 0x0800;
/// `SVSHPE` in `PMMRIE`: the high-side supervisor resets the part.
const SVSHPE: u32 = 0x1000;
/// The interrupts of `PMMRIE`, which are not maskable.
const PMMRIE_INTERRUPTS: u32 = 0x77;
/// From LPM2, LPM3, LPM4 to active mode, typical: SLAS655H, "Wake-up Times From Low-Power Modes and
/// Reset", tWAKE-UP-SLOW, and tWAKE-UP-FAST from 4 MHz up and below. With the low-side supervisor
/// off the wake-up is fast (SLAU208, PMM; from memory, not yet compared).
const SLOW_WAKE_NS: u64 = 150_000;
const FAST_WAKE_NS: u64 = 3_500;
const FAST_WAKE_AT_SLOW_CLOCK_NS: u64 = 4_500;
const FAST_CLOCK_HZ: u64 = 4_000_000;
/// Registers after power-up, by word: SVSMHCTL and SVSMLCTL have the supervisors on, PMMRIE the
/// resets enabled.
const AFTER_RESET: [u32; 9] = [0, 0, 0x4400, 0x4400, 0x20, 0, 0, 0x1100, 0];

/// Voltage levels of the supply in the data sheet.
#[derive(Clone)]
struct Levels {
    /// The supervisor's reset level, by `SVSHRVL`.
    falling_v: Vec<f64>,
    /// Its release level and the monitor's level, by `SVSMHRRL`.
    rising_v: Vec<f64>,
    brown_out_v: f64,
    brown_out_over_v: f64,
    /// The lowest supply that is allowed, by core voltage level.
    allowed_v: Vec<f64>,
    /// The fastest clock at all core voltage levels but the highest.
    fastest_hz: [u64; 3],
}

/// The power management module.
#[derive(Clone)]
pub struct Pmm {
    name: String,
    base: u32,
    registers: [u32; 9],
    unlocked: bool,
    clock_hz: u64,
    levels: Levels,
}

impl Pmm {
    /// The module with its registers from `spec.base` on, on a part whose core runs at
    /// `part.default_clock_hz`. Settings: `svsh_0_mv` to `svsh_3_mv`, the supervisor's falling
    /// levels by `SVSHRVL`; `svsh_off_0_mv` to `svsh_off_7_mv`, its rising levels by `SVSMHRRL`,
    /// which are the monitor's, too; `bor_mv` and `bor_off_mv`, the brown-out circuit's levels;
    /// `vcc_0_mv` to `vcc_3_mv` and `clock_0_khz` to `clock_3_khz`, the lowest supply and the
    /// fastest clock by core voltage level.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Pmm, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().filter(|value| *value > 0);
            value.map(|value| value as u64).ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let volts = |key: &str| setting(key).map(|mv| mv as f64 / 1000.0);
        let row = |key: &str, count: usize| -> Result<Vec<f64>, String> {
            (0..count).map(|level| volts(&format!("{key}_{level}_mv"))).collect()
        };
        let clock_hz = part.default_clock_hz;
        let mut fastest_hz = [0; 3];
        for (level, fastest_hz) in fastest_hz.iter_mut().enumerate() {
            *fastest_hz = setting(&format!("clock_{level}_khz"))? * 1000;
        }
        let levels = Levels {
            falling_v: row("svsh", 4)?,
            rising_v: row("svsh_off", 8)?,
            brown_out_v: volts("bor_mv")?,
            brown_out_over_v: volts("bor_off_mv")?,
            allowed_v: row("vcc", 4)?,
            fastest_hz,
        };
        let (name, base) = (spec.name.clone(), spec.base);
        Ok(Pmm { name, base, registers: AFTER_RESET, unlocked: false, clock_hz, levels })
    }

    fn register(&self, offset: u32) -> u32 {
        self.registers[(offset >> 1) as usize]
    }

    fn raise_flags(&mut self, flags: u32) {
        self.registers[(PMMIFG >> 1) as usize] |= flags;
    }

    fn wake_cycles(&self) -> u64 {
        let wake_ns = if self.register(SVSMLCTL) & (SVSHE_SVSLE | SVSLFP) == SVSHE_SVSLE {
            SLOW_WAKE_NS
        } else if self.clock_hz >= FAST_CLOCK_HZ {
            FAST_WAKE_NS
        } else {
            FAST_WAKE_AT_SLOW_CLOCK_NS
        };
        (wake_ns * self.clock_hz).div_ceil(1_000_000_000)
    }

    /// The monitor compares the supply with its level.
    fn monitor(&mut self, supply_v: f64) -> u32 {
        let control = self.register(SVSMHCTL);
        match control & SVMHE {
            0 => 0,
            _ if supply_v < self.levels.rising_v[(control & 7) as usize] => SVMHIFG,
            _ => SVMHVLRIFG,
        }
    }
}

impl Peripheral for Pmm {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + END)
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let mut word = self.register(offset);
        if offset & !1 == PMMCTL0 {
            word |= PASSWORD_READ;
        }
        Ok(if size == 2 { word } else { word >> (8 * (offset & 1)) & 0xff })
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let index = (offset >> 1) as usize;
        if offset & !1 == PMMCTL0 && (size == 2 || offset & 1 == 1) {
            let password = if size == 2 { value >> 8 } else { value };
            if size == 2 && password != PASSWORD_WRITE {
                context.events.request_reset(ResetCause::Password(Protected::Power));
                return Ok(());
            }
            // Any other value in the upper byte alone locks the registers.
            self.unlocked = password == PASSWORD_WRITE;
            if size == 1 {
                return Ok(());
            }
        }
        if !self.unlocked {
            return context.refuse(&self.name, address, "the registers are locked: PMMCTL0_H must hold 0xa5");
        }
        let shift = 8 * (offset & 1);
        let before = self.registers[index];
        let after = if size == 2 { value } else { before & !(0xff << shift) | value << shift };
        match offset & !1 {
            PMMCTL0 => {
                let (from, to) = (before & PMMCOREV, after & PMMCOREV);
                let refused = match after {
                    _ if after & PMMREGOFF != 0 => Some("LPM4.5 (PMMREGOFF) is not modelled"),
                    _ if to > from + 1 => Some("the core voltage must be raised one step at a time"),
                    _ => None,
                };
                if let Some(what) = refused {
                    return context.refuse(&self.name, address, what);
                }
                if after & PMMSWBOR_PMMSWPOR != 0 {
                    context.events.request_reset(ResetCause::Software);
                }
                if to > from {
                    self.raise_flags(SVMLVLRIFG);
                }
                self.registers[index] = after & 0xff;
            }
            SVSMHCTL => {
                self.registers[index] = after;
                let flags = self.monitor(context.board.supply_v);
                self.raise_flags(SVSMHDLYIFG | flags);
            }
            SVSMLCTL => {
                self.registers[index] = after;
                self.raise_flags(SVSMLDLYIFG);
            }
            PMMRIE if after & PMMRIE_INTERRUPTS != 0 => {
                let what = "the interrupts of the monitors are not modelled: poll PMMIFG";
                return context.refuse(&self.name, address, what);
            }
            _ => self.registers[index] = after,
        }
        Ok(())
    }

    fn on_event(&mut self, event: Event<'_>, _context: &mut Context<'_, '_>) {
        if let Event::SupplyApplied(supply_v) = event {
            let low = self.monitor(supply_v) & SVMHIFG;
            self.raise_flags(low);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.registers = AFTER_RESET;
        self.unlocked = false;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { power_management: Some(self), ..Roles::default() }
    }
}

impl PowerManagement for Pmm {
    fn power(&self) -> Power {
        let high_side = self.register(SVSMHCTL);
        let core_level = self.register(PMMCTL0) & PMMCOREV;
        let (reset_level, release_level) = (high_side >> 8 & 3, high_side & 7);
        let levels = &self.levels;
        let supervised = high_side & SVSHE_SVSLE != 0 && self.register(PMMRIE) & SVSHPE != 0;
        let brown_out_v = levels.brown_out_v;
        let (falling_v, rising_v) = if supervised {
            (levels.falling_v[reset_level as usize], levels.rising_v[release_level as usize])
        } else {
            (brown_out_v, levels.brown_out_over_v)
        };
        // SLAS655, recommended operating conditions: the supervisor's level is the lowest supply
        // where it is on (from memory, not yet compared); a level for a lower core voltage does not
        // guard a higher one.
        let allowed_v = if supervised && reset_level >= core_level {
            0.0
        } else {
            // The core voltage level that the clock needs.
            let clock_level =
                levels.fastest_hz.iter().filter(|fastest_hz| self.clock_hz > **fastest_hz).count();
            levels.allowed_v[clock_level.max(core_level as usize)]
        };
        Power {
            core_level: core_level as u8,
            wake_cycles: self.wake_cycles(),
            falling_v: falling_v.max(brown_out_v),
            rising_v: rising_v.max(falling_v),
            brown_out_v,
            cold_v: levels.brown_out_over_v.max(levels.rising_v[0]),
            allowed_v,
        }
    }
}
