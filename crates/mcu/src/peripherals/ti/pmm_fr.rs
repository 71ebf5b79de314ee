//! Power management module of the MSP430FR5xx.
//!
//! It has a password, resets by software, and the lock of the pins.
//!
//! Source: SLAU367, chapter "Power Management Module (PMM) and Supply Voltage Supervisor (SVS)";
//! bits compared with TI's header msp430fr5994.h, levels in the target file. There is one core
//! voltage. The supervisor stays as `SVSHE` has it, which is on after a reset. Until a program
//! clears `LOCKLPM5` the pins are as a reset leaves them. A write without the password resets the
//! part. LPM3.5 and LPM4.5 stop with a fault.

use super::word::{Word, part_of};
use crate::{
    ClockUpdate, Context, Fault, Part, Peripheral, PeripheralSpec, Power, PowerManagement, Protected,
    ResetCause, Roles, Spec,
};

const PMMCTL0: u32 = 0x00;
const PMMIFG: u32 = 0x0a;
const PM5CTL0: u32 = 0x10;
const END: u32 = 0x12;
const PMMPW_READ: u32 = 0x9600;
const PMMPW_WRITE: u32 = 0xa5;
/// PMMCTL0: PMMSWBOR and PMMSWPOR, PMMREGOFF, SVSHE.
const PMMSWBOR_PMMSWPOR: u32 = 0x0c;
const PMMREGOFF: u32 = 0x10;
const SVSHE: u32 = 0x40;
/// PMMIFG: PMMBORIFG, PMMRSTIFG, PMMPORIFG, SVSHIFG.
const PMMBORIFG: u32 = 0x0100;
const PMMRSTIFG: u32 = 0x0200;
const SVSHIFG: u32 = 0x2000;
/// PM5CTL0.LOCKLPM5.
const LOCKLPM5: u32 = 0x01;

/// The power management module.
#[derive(Clone)]
pub struct PmmFr {
    name: String,
    base: u32,
    unlocked: bool,
    control: u32,
    flags: u32,
    locked_pins: bool,
    clock_hz: u64,
    wake_us: u64,
    /// The supervisor's levels, falling and rising; those of the brown-out circuit; the lowest
    /// supply that is allowed.
    supervisor_v: (f64, f64),
    brown_out_v: (f64, f64),
    allowed_v: f64,
}

impl PmmFr {
    /// The module with its registers from `spec.base` on. Settings: `svsh_mv` and `svsh_off_mv`,
    /// `bor_mv` and `bor_off_mv`, the falling and rising levels of supervisor and brown-out
    /// circuit; `vcc_mv`, the lowest supply; `wake_us`, from a low-power mode without MCLK.
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<PmmFr, String> {
        let setting = |key: &str| {
            let value = spec.settings.get(key).copied().filter(|value| *value > 0);
            value.map(|value| value as u64).ok_or_else(|| format!("{}: {} needs {key}", part.name, spec.name))
        };
        let volts = |key: &str| setting(key).map(|mv| mv as f64 / 1000.0);
        Ok(PmmFr {
            name: spec.name.clone(),
            base: spec.base,
            unlocked: false,
            control: SVSHE,
            flags: 0,
            locked_pins: true,
            clock_hz: part.default_clock_hz,
            wake_us: setting("wake_us")?,
            supervisor_v: (volts("svsh_mv")?, volts("svsh_off_mv")?),
            brown_out_v: (volts("bor_mv")?, volts("bor_off_mv")?),
            allowed_v: volts("vcc_mv")?,
        })
    }

    fn refuse(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Result<(), Fault> {
        context.refuse(&self.name, address, what)
    }
}

impl Peripheral for PmmFr {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + END)
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = match (address - self.base) & !1 {
            PMMCTL0 => PMMPW_READ | self.control,
            PMMIFG => self.flags,
            PM5CTL0 => u32::from(self.locked_pins),
            _ => 0,
        };
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let write = Word::new(address, size, value);
        match (address - self.base) & !1 {
            PMMCTL0 => {
                if write.mask & 0xff00 != 0 {
                    // Any other value in the upper byte alone locks the registers.
                    self.unlocked = write.bits >> 8 == PMMPW_WRITE;
                    if size == 2 && !self.unlocked {
                        context.events.request_reset(ResetCause::Password(Protected::Power));
                        return Ok(());
                    }
                }
                if write.mask & 0xff == 0 {
                    return Ok(());
                }
                if !self.unlocked {
                    return self.refuse(
                        address,
                        context,
                        "the registers are locked: PMMCTL0_H must hold 0xa5",
                    );
                }
                if write.bits & PMMREGOFF != 0 {
                    return self.refuse(address, context, "LPM3.5 and LPM4.5 (PMMREGOFF) are not modelled");
                }
                if write.bits & PMMSWBOR_PMMSWPOR != 0 {
                    context.events.request_reset(ResetCause::Software);
                }
                self.control = write.bits & SVSHE;
            }
            PMMIFG => self.flags = write.onto(self.flags) & self.flags,
            // Writing 1 has no effect but after LPMx.5.
            PM5CTL0 => {
                self.locked_pins &= write.onto(LOCKLPM5) & LOCKLPM5 != 0;
                context.events.release_pins(!self.locked_pins);
            }
            _ => return self.refuse(address, context, "this register is not modelled"),
        }
        Ok(())
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.unlocked = false;
        self.control = SVSHE;
        self.flags = 0;
        self.locked_pins = true;
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        self.reset();
        self.flags = match cause {
            ResetCause::External => PMMRSTIFG,
            ResetCause::Software => PMMBORIFG,
            ResetCause::BrownOut => SVSHIFG,
            _ => 0,
        };
    }

    fn roles(&self) -> Roles<'_> {
        Roles { power_management: Some(self), ..Roles::default() }
    }
}

impl PowerManagement for PmmFr {
    fn power(&self) -> Power {
        let (brown_out_v, cold_v) = self.brown_out_v;
        let supervised = self.control & SVSHE != 0;
        let (falling_v, rising_v) = if supervised { self.supervisor_v } else { self.brown_out_v };
        Power {
            core_level: 0,
            wake_cycles: (self.wake_us * self.clock_hz).div_ceil(1_000_000),
            falling_v,
            rising_v,
            brown_out_v,
            cold_v: cold_v.max(self.supervisor_v.1),
            allowed_v: if supervised { 0.0 } else { self.allowed_v },
        }
    }
}
