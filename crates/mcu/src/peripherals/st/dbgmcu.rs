//! DBGMCU of the STM32: the device's identity, and what goes on while a debugger holds the core
//! (RM0090 section 38.16; RM0041 25.16, RM0091 32.9, RM0410 40.16, RM0432). There is no debugger:
//! the switches are kept.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, ResetCause, Spec};

/// DBGMCU_IDCODE, and DBGMCU_CR, APB1_FZ and APB2_FZ (STM32L4: APB1FZR1, APB1FZR2 and APB2FZR)
/// behind it.
#[derive(Clone)]
pub struct Dbgmcu {
    name: String,
    base: u32,
    identity: u32,
    /// CR and the registers that freeze peripherals.
    switches: Vec<u32>,
}

impl Dbgmcu {
    /// DBGMCU at `spec.base`; the settings `dev_id` and `rev_id` are the fields of IDCODE,
    /// `freeze_registers` says how many there are (2 where absent).
    ///
    /// # Errors
    /// An identity that is missing or too long, or a number of registers that no part has.
    pub fn new(spec: &PeripheralSpec) -> Result<Dbgmcu, String> {
        let field = |name: &str, most: i64| {
            let value = spec.settings.get(name).copied().filter(|value| (0..=most).contains(value));
            value.ok_or_else(|| format!("{}: needs {name}, up to {most:#x}", spec.name))
        };
        let identity = field("rev_id", 0xffff)? << 16 | field("dev_id", 0xfff)?;
        let freezes = spec.settings.get("freeze_registers").copied().unwrap_or(2);
        if !(2..=3).contains(&freezes) {
            return Err(format!("{}: freeze_registers: 2 or 3, not {freezes}", spec.name));
        }
        let switches = vec![0; 1 + freezes as usize];
        Ok(Dbgmcu { name: spec.name.clone(), base: spec.base, identity: identity as u32, switches })
    }
}

impl Peripheral for Dbgmcu {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 4 * (1 + self.switches.len() as u32))
    }

    fn read(&mut self, address: u32, size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match offset >> 2 {
            0 => self.identity,
            register => self.switches[register as usize - 1],
        };
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        _context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        if let Some(register) = (offset >> 2).checked_sub(1) {
            let switches = &mut self.switches[register as usize];
            *switches = merged_word(*switches, offset, size, value);
        }
        Ok(())
    }

    /// The clock control's reset is for it alone; one of the part leaves it as it is.
    fn reset_block(&mut self, _base: u32, _context: &mut Context<'_, '_>) {
        self.reset();
    }

    fn reset(&mut self) {
        self.switches.fill(0);
    }

    // Other resets leave a debugger its settings.
    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        if cause == ResetCause::PowerOn {
            self.reset();
        }
    }
}
