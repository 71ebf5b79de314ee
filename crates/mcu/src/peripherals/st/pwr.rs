//! Power control (PWR) of the STM32: regulator and over-drive are ready as soon as they are asked
//! for.
//!
//! RM0090 section 5.4 (`settings.layout = 4`), RM0383 section 5.4 (5: VOS has two bits), RM0410
//! section 4.4 (`settings.layout = 7`), RM0091 section 5.4 and RM0041 section 4.4 (0). Stop and
//! Standby are not modelled: their bits are kept.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// STM32F4: CSR.VOSRDY and STM32F7: CSR1.VOSRDY.
const VOSRDY: u32 = 1 << 14;
/// CR.DBP, CR1.DBP.
const DBP: u32 = 1 << 8;
/// STM32F7: CR1.ODEN and CSR1.ODRDY, CR1.ODSWEN and CSR1.ODSWRDY lie at the same places.
const ODEN_ODSWEN: u32 = 3 << 16;
/// CSR.BRR follows CSR.BRE.
const BRE: u32 = 1 << 9;
const BRR: u32 = 1 << 3;

/// The registers.
#[derive(Clone)]
pub struct Pwr {
    name: String,
    base: u32,
    layout: i64,
    control: u32,
    status: u32,
}

impl Pwr {
    /// PWR at `spec.base`; `settings.layout` as in the module's text.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Pwr {
        let layout = spec.settings.get("layout").copied().unwrap_or(0);
        let mut pwr = Pwr { name: spec.name.clone(), base: spec.base, layout, control: 0, status: 0 };
        pwr.reset();
        pwr
    }
}

impl Peripheral for Pwr {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match offset & !3 {
            0 => self.control,
            4 => {
                let ready = match self.layout {
                    4 | 5 => VOSRDY,
                    7 => VOSRDY | self.control & ODEN_ODSWEN,
                    _ => 0,
                };
                self.status | ready | if self.status & BRE != 0 { BRR } else { 0 }
            }
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
        match offset & !3 {
            // CWUF and CSBF (bits 2 and 3) clear flags that never rise, and read as zero.
            0 => {
                self.control = merged_word(self.control, offset, size, value) & !0xc;
                context.events.backup_writable = self.control & DBP != 0;
            }
            4 => self.status = merged_word(self.status, offset, size, value) & !(VOSRDY | ODEN_ODSWEN | BRR),
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        Ok(())
    }

    fn reset_block(&mut self, _base: u32, context: &mut Context<'_, '_>) {
        self.reset();
        context.events.backup_writable = false;
    }

    fn reset(&mut self) {
        self.control = match self.layout {
            4 => 0x4000,
            // Scale 2.
            5 => 0x8000,
            7 => 0xc000,
            _ => 0,
        };
        self.status = 0;
    }
}
