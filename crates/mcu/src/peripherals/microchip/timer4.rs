//! Timer 4 of an ATmega32U4, 10 bits: its registers, without what they do.
//!
//! ATmega32U4 data sheet 7766J, chapter 15. A program can set it up, as start-up code does that
//! makes all timers ready for PWM. Its count is not modelled: whoever reads TCNT4 or TIFR4, lets an
//! interrupt come or puts a comparator at a pin meets a fault.

use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// Registers from TCNT4 on: TC4H, TCCR4A to TCCR4E; OCR4A to OCR4D; DT4.
const TCNT4: u32 = 0;
const TCCR4A: u32 = 2;
const TCCR4C: u32 = 4;
const TCCR4E: u32 = 6;
const OCR4A: u32 = 17;
const OCR4C: u32 = 19;
const OCR4D: u32 = 20;
const DT4: u32 = 22;
const LENGTH: usize = 23;
/// Compare outputs in TCCR4A (COM4A, COM4B) and TCCR4C (COM4A and COM4B again, COM4D).
const COM_A: u8 = 0xF0;
const COM_C: u8 = 0xFC;

/// The timer.
#[derive(Clone)]
pub struct Timer4 {
    name: String,
    base: u32,
    mask_address: u32,
    flags_address: u32,
    registers: [u8; LENGTH],
}

impl Timer4 {
    /// TCNT4 at `spec.base`. Settings `timsk`, `tifr`: addresses.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Timer4, String> {
        let setting = |name: &str| {
            let value = spec.settings.get(name).map(|address| *address as u32);
            value.ok_or_else(|| format!("{}: {name} is missing", spec.name))
        };
        let mut timer = Timer4 {
            name: spec.name.clone(),
            base: spec.base,
            mask_address: setting("timsk")?,
            flags_address: setting("tifr")?,
            registers: [0; LENGTH],
        };
        timer.reset();
        Ok(timer)
    }
}

impl Peripheral for Timer4 {
    fn spec(&self) -> Spec {
        let base = self.base;
        Spec::with_ranges(
            &self.name,
            [
                base..base + TCCR4E + 1,
                base + OCR4A..base + OCR4D + 1,
                base + DT4..base + DT4 + 1,
                self.mask_address..self.mask_address + 1,
                self.flags_address..self.flags_address + 1,
            ],
        )
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        if address == self.mask_address {
            return Ok(0);
        }
        let offset = address.wrapping_sub(self.base);
        match self.registers.get(offset as usize) {
            Some(value) if offset != TCNT4 => Ok((*value).into()),
            _ => context.refuse(&self.name, address, "its count and its flags are not modelled"),
        }
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = value as u8;
        if address == self.mask_address && value != 0 {
            return context.refuse(&self.name, address, "its interrupts are not modelled");
        }
        let offset = address.wrapping_sub(self.base);
        let outputs = match offset {
            TCCR4A => COM_A,
            TCCR4C => COM_C,
            _ => 0,
        };
        if value & outputs != 0 {
            return context.refuse(&self.name, address, "compare outputs (COM) are not modelled");
        }
        // TIMSK4 stays zero, TIFR4 cannot be read.
        if let Some(register) = self.registers.get_mut(offset as usize) {
            *register = value;
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.registers = [0; LENGTH];
        self.registers[OCR4C as usize] = 0xFF;
    }
}
