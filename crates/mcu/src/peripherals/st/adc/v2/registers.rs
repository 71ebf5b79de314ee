//! Writes of the registers.

use super::layout::Sequence;
use super::{
    ADCAL, ADDIS, ADEN, ADSTART, ADSTP, ADVREGEN, Adc, CFGR, CFGR2, CR, DEEPPWD, DMAEN, DR, EXTEN, IER, ISR,
    JADSTART, POWER, RISING,
};
use crate::Context;

impl Adc {
    /// DEEPPWD and ADVREGEN.
    fn write_power(&mut self, power: u32, context: &Context<'_, '_>) -> Result<(), String> {
        let Some(start_ns) = self.layout.regulator_ns else { return Ok(()) };
        if self.on && power != self.power {
            return Err("ADVREGEN, DEEPPWD or ADCALDIF is written while ADEN is set".into());
        }
        let rises = power & (ADVREGEN | DEEPPWD) == ADVREGEN && self.power & (ADVREGEN | DEEPPWD) != ADVREGEN;
        if rises {
            self.regulated = context.now + (start_ns * self.clock_hz).div_ceil(1_000_000_000);
        }
        self.power = power;
        Ok(())
    }

    /// True where an operation may begin.
    fn check_power(&self, context: &Context<'_, '_>) -> Result<(), String> {
        let Some(start_ns) = self.layout.regulator_ns else { return Ok(()) };
        if self.power & (ADVREGEN | DEEPPWD) != ADVREGEN {
            return Err("it is used while its regulator is off (DEEPPWD, ADVREGEN)".into());
        }
        if context.now < self.regulated {
            return Err(format!("it is used before the {start_ns} ns that its regulator needs"));
        }
        Ok(())
    }

    fn write_control(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), String> {
        self.write_power(value & POWER, context)?;
        if value & JADSTART != 0 && self.layout.sequence == Sequence::Ranks {
            return Err("injected groups are not modelled".into());
        }
        if value & ADCAL != 0 {
            if self.on {
                return Err("a calibration is started while ADEN is set".into());
            }
            self.check_power(context)?;
            self.clock = self.read_clock(context)?;
            self.calibrated = Some(context.now + self.cycles(2 * self.layout.calibration));
        }
        if value & ADSTP != 0 {
            self.stop();
        }
        if value & ADDIS != 0 {
            self.stop();
            (self.on, self.ready) = (false, None);
            return Ok(());
        }
        if value & ADEN != 0 && !self.on {
            if self.calibrated.is_some() {
                return Err("ADEN is set during a calibration".into());
            }
            self.check_power(context)?;
            self.on = true;
            let time = match self.layout.start {
                Some(clocks) => {
                    self.clock = self.read_clock(context)?;
                    self.cycles(2 * clocks)
                }
                None => (self.start_ns * self.clock_hz).div_ceil(1_000_000_000),
            };
            self.ready = Some(context.now + time);
        }
        if value & ADSTART != 0 && self.control() & ADSTART == 0 {
            if !self.on || self.ready.is_some() {
                return Err("a conversion is started before ADRDY".into());
            }
            self.armed = self.is(EXTEN);
            if !self.armed {
                self.start(context.now, context)?;
            }
        }
        Ok(())
    }

    pub(super) fn control(&self) -> u32 {
        let busy = self.converting.is_some() || self.waiting.is_some() || self.armed;
        let bit = |on: bool, bit: u32| if on { bit } else { 0 };
        self.power | bit(self.on, ADEN) | bit(busy, ADSTART) | bit(self.calibrated.is_some(), ADCAL)
    }

    fn write_configuration(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), String> {
        if value & !self.layout.configuration != 0 {
            return Err("of CFGR discontinuous and automatic modes and the watchdog are not modelled".into());
        }
        if value & EXTEN != 0 && (value & EXTEN != RISING || self.trigger(value).is_none()) {
            return Err(
                "of the starts from outside (EXTEN) only rising edges of timers' TRGO are modelled".into()
            );
        }
        if value & DMAEN != 0 && self.transfer.lines() == 0 {
            return Err("a request of DMA that leads nowhere on this part".into());
        }
        self.configuration[0] = value;
        if value & DMAEN == 0 {
            self.transfer.set(false, context.now, context);
        }
        Ok(())
    }

    pub(super) fn write_register(
        &mut self,
        register: u32,
        merge: impl Fn(u32) -> u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), String> {
        let started = self.control() & ADSTART != 0;
        match register {
            // A one clears.
            ISR => self.flags &= !merge(0),
            IER if merge(self.enables) & self.layout.refused_enables != 0 => {
                return Err("the watchdog is not modelled".into());
            }
            IER => self.enables = merge(self.enables) & self.layout.flags,
            CR => self.write_control(merge(self.power), context)?,
            DR => {}
            _ if started => return Err("settings change during a conversion".into()),
            CFGR => self.write_configuration(merge(self.configuration[0]), context)?,
            CFGR2 => {
                let value = merge(self.configuration[1]);
                if value & !self.layout.configuration2 != 0 && self.layout.sequence == Sequence::Ranks {
                    return Err("oversampling of injected groups and by triggers is not modelled".into());
                }
                self.configuration[1] = value & self.layout.configuration2;
            }
            register => self.registers.write(register, merge)?,
        }
        Ok(())
    }
}
