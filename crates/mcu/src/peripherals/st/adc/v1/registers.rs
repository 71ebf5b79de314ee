//! Writes of the registers.

use super::layout::{CAL, RSTCAL};
use super::{ADON, Adc, CR1, CR2, DMA, DR, Group, JDR1, JDR4, SR};
use crate::Context;

impl Adc {
    fn write_control2(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), String> {
        let (before, now, layout) = (self.control2, context.now, self.layout);
        if value & !layout.control2 != 0 {
            return Err("a bit of CR2 that is reserved".into());
        }
        for start in &layout.starts {
            if start.is_outside(value) && self.software_only {
                return Err("starts from outside (EXTEN) are not modelled on this part".into());
            }
            if start.is_outside(value) && start.timer(value).is_none() {
                return Err("of the starts from outside only the TRGO of timers are modelled".into());
            }
        }
        if value & DMA != 0 && self.transfer.lines() == 0 {
            return Err("a request of DMA that leads nowhere on this part".into());
        }
        if value & DMA == 0 {
            self.transferred = false;
            self.transfer.set(false, now, context);
        }
        // The starts, the calibration and its reset fall back by themselves.
        let calibrates = if layout.calibration.is_some() { CAL | RSTCAL } else { 0 };
        self.control2 = value & !(layout.starts[0].software | layout.starts[1].software | calibrates);
        if value & ADON == 0 {
            self.converting = None;
        } else if before & ADON == 0 {
            self.on_since = now;
        }
        if let Some(clocks) = layout.calibration.filter(|_| value & (CAL | ADON) == CAL | ADON) {
            self.calibrated = now + clocks * self.clock_cycles(context)?;
        }
        // "If any other bit in this register apart from ADON is changed at the same time, then
        // conversion is not triggered."
        let again = layout.adon_starts && value == before && value & ADON != 0;
        if again || layout.starts[0].starts(value) {
            self.start(Group::Regular(0), now, context)?;
        }
        if layout.starts[1].starts(value) {
            self.start(self.injected(), now, context)?;
        }
        Ok(())
    }

    pub(super) fn write_register(
        &mut self,
        register: u32,
        merge: impl Fn(u32) -> u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), String> {
        if self.converting.is_some() && !matches!(register, SR | CR1 | CR2) {
            return Err("settings change during a conversion".into());
        }
        match register {
            // Flags are cleared by writing zero.
            SR => self.status &= merge(u32::MAX),
            CR2 => self.write_control2(merge(self.control2), context)?,
            // Results are read-only.
            JDR1..=JDR4 | DR => {}
            _ => self.registers.write(register, merge)?,
        }
        Ok(())
    }
}
