//! The power management module of the MSP430F5xx: password, core voltage, supervisors' ready flags.
//!
//! Source: SLAU208, chapter "Power Management Module and Supply Voltage Supervisor". The supply is steady: no
//! supervisor ever trips, and what the program waits for (`SVSMLDLYIFG`, `SVSMHDLYIFG`, `SVMLVLRIFG`) is there at once;
//! the real delays, below 150 µs a step, are not modelled. A core voltage raised by more than one step at a time, a
//! write without the password and a software reset stop with a fault.

use crate::{Context, Fault, Part, Peripheral, PeripheralSpec, Power};
use std::ops::Range;

const PMMCTL0: u32 = 0x00;
const SVSMHCTL: u32 = 0x04;
const SVSMLCTL: u32 = 0x06;
const PMMIFG: u32 = 0x0c;
const END: u32 = 0x12;
const PASSWORD_READ: u32 = 0x9600;
const PASSWORD_WRITE: u32 = 0xa5;
/// `PMMSWBOR`, `PMMSWPOR`.
const SOFTWARE_RESET: u32 = 0x0c;
const COREV: u32 = 3;
const SVSML_READY: u32 = 0x01;
const VCORE_REACHED: u32 = 0x04;
const SVSMH_READY: u32 = 0x10;
/// `SVSLE` in `SVSMLCTL`, `SVSHE` in `SVSMHCTL`.
const SVS_ON: u32 = 0x0400;
/// The low-side supervisor is ready for a fast wake-up.
const SVSLFP: u32 = 0x0800;
/// From LPM2, LPM3, LPM4 to active mode, typical: SLAS655H, "Wake-up Times From Low-Power Modes and Reset",
/// tWAKE-UP-SLOW, and tWAKE-UP-FAST from 4 MHz up and below. With the low-side supervisor off the wake-up is fast
/// (SLAU208, PMM; from memory, not yet compared).
const SLOW_WAKE_NS: u64 = 150_000;
const FAST_WAKE_NS: u64 = 3_500;
const FAST_WAKE_AT_SLOW_CLOCK_NS: u64 = 4_500;
const FAST_CLOCK_HZ: u64 = 4_000_000;
/// Registers after power-up, by word: SVSMHCTL and SVSMLCTL have the supervisors on, PMMRIE the resets enabled.
const AFTER_RESET: [u32; 9] = [0, 0, 0x4400, 0x4400, 0x20, 0, 0, 0x1100, 0];

/// The power management module.
#[derive(Clone)]
pub struct Pmm {
    name: String,
    base: u32,
    registers: [u32; 9],
    unlocked: bool,
    clock_hz: u64,
}

impl Pmm {
    /// The module with its registers from `spec.base` on, on a part whose core runs at `part.default_clock_hz`.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Pmm {
        Pmm {
            name: spec.name.clone(),
            base: spec.base,
            registers: AFTER_RESET,
            unlocked: false,
            clock_hz: part.default_clock_hz,
        }
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }
}

impl Peripheral for Pmm {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + END).collect()
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let mut word = self.registers[(offset >> 1) as usize];
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
                return Err(self.fault(
                    address,
                    context,
                    "a write to PMMCTL0 without its password resets the part",
                ));
            }
            // Any other value in the upper byte alone locks the registers.
            self.unlocked = password == PASSWORD_WRITE;
            if size == 1 {
                return Ok(());
            }
        }
        if !self.unlocked {
            return Err(self.fault(address, context, "the registers are locked: PMMCTL0_H must hold 0xa5"));
        }
        let shift = 8 * (offset & 1);
        let before = self.registers[index];
        let after = if size == 2 { value } else { before & !(0xff << shift) | value << shift };
        match offset & !1 {
            PMMCTL0 => {
                if after & SOFTWARE_RESET != 0 {
                    return Err(self.fault(address, context, "a software reset: the part is reset here"));
                }
                let (from, to) = (before & COREV, after & COREV);
                if to > from + 1 {
                    let what = "the core voltage must be raised one step at a time";
                    return Err(self.fault(address, context, what));
                }
                if to > from {
                    self.registers[(PMMIFG >> 1) as usize] |= VCORE_REACHED;
                }
                self.registers[index] = after & 0xff;
            }
            SVSMHCTL => {
                self.registers[index] = after;
                self.registers[(PMMIFG >> 1) as usize] |= SVSMH_READY;
            }
            SVSMLCTL => {
                self.registers[index] = after;
                self.registers[(PMMIFG >> 1) as usize] |= SVSML_READY;
            }
            _ => self.registers[index] = after,
        }
        Ok(())
    }

    fn power(&self) -> Option<Power> {
        let low_side = self.registers[(SVSMLCTL >> 1) as usize];
        let wake_ns = if low_side & (SVS_ON | SVSLFP) == SVS_ON {
            SLOW_WAKE_NS
        } else if self.clock_hz >= FAST_CLOCK_HZ {
            FAST_WAKE_NS
        } else {
            FAST_WAKE_AT_SLOW_CLOCK_NS
        };
        Some(Power {
            core_level: (self.registers[(PMMCTL0 >> 1) as usize] & COREV) as u8,
            wake_cycles: (wake_ns * self.clock_hz).div_ceil(1_000_000_000),
        })
    }

    fn reset(&mut self) {
        self.registers = AFTER_RESET;
        self.unlocked = false;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
