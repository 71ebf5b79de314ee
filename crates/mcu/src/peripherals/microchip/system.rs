//! The registers of an ATmega that set up the core and its clock: sleep, reset cause, prescaler, power reduction,
//! oscillator calibration, general purpose bytes.
//!
//! ATmega328P data sheet DS40002061, chapters 9 to 11; ATmega128 data sheet 2467, "System Clock", "Power Management"
//! and "MCU Control Register". Which registers there are is data: each setting `NAME_register` of the target file
//! is an address. The core itself reads `sleep_register`, `sleep_enable`, `sleep_mode` and `reset_sp`.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::collections::BTreeMap;
use std::ops::Range;

/// What a register does when written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Keeps what is written.
    Plain,
    /// Keeps only the bits that are not written as zero (MCUSR: reset flags).
    ResetFlags,
    /// CLKPR: the clock of the machine is fixed when it is built.
    ClockPrescaler,
    /// OSCCAL: readable; a write would change the clock.
    Calibration,
    /// PRR: modules without a clock can no longer be accessed (DS40002061, 10.9).
    PowerReduction,
}

#[derive(Clone)]
struct Register {
    name: &'static str,
    role: Role,
    /// Bits that may be set; others are not modelled.
    modelled: u8,
    after_reset: u8,
    value: u8,
}

/// All these registers of one part.
#[derive(Clone)]
pub struct System {
    name: String,
    registers: BTreeMap<u32, Register>,
}

/// Power-on reset flag, PORF.
const PORF: u8 = 1;

impl System {
    /// The registers that `spec` gives an address.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> System {
        let kinds: [(&str, &'static str, Role, u8, u8); 12] = [
            ("smcr_register", "SMCR", Role::Plain, 0x0F, 0),
            // 328P: BODS and BODSE change nothing here; PUD would switch the pull-ups off, IVSEL and IVCE move the vectors.
            ("mcucr_register", "MCUCR", Role::Plain, 0x60, 0),
            // 128: SE and SM2..SM0; SRE and SRW10 would switch on external memory.
            ("mcucr_128_register", "MCUCR", Role::Plain, 0x3C, 0),
            ("mcusr_register", "MCUSR", Role::ResetFlags, 0xFF, PORF),
            ("clkpr_register", "CLKPR", Role::ClockPrescaler, 0x80, 0),
            ("osccal_register", "OSCCAL", Role::Calibration, 0xFF, 0x80),
            ("prr_register", "PRR", Role::PowerReduction, 0xFF, 0),
            // The comparator switched off (ACD), or on and its output never read.
            ("acsr_register", "ACSR", Role::Plain, 0x80, 0),
            ("didr1_register", "DIDR1", Role::Plain, 0x03, 0),
            ("gpior0_register", "GPIOR0", Role::Plain, 0xFF, 0),
            ("gpior1_register", "GPIOR1", Role::Plain, 0xFF, 0),
            ("gpior2_register", "GPIOR2", Role::Plain, 0xFF, 0),
        ];
        let mut registers = BTreeMap::new();
        for (setting, name, role, modelled, after_reset) in kinds {
            if let Some(&address) = spec.settings.get(setting) {
                let register = Register { name, role, modelled, after_reset, value: after_reset };
                registers.insert(address as u32, register);
            }
        }
        System { name: spec.name.clone(), registers }
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: String) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what }
    }
}

impl Peripheral for System {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        self.registers.keys().map(|&address| address..address + 1).collect()
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        match self.registers.get(&address) {
            Some(register) => Ok(register.value.into()),
            None => Err(self.fault(address, context, "no such register".into())),
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
        let Some(register) = self.registers.get_mut(&address) else {
            return Err(self.fault(address, context, "no such register".into()));
        };
        let name = register.name;
        if value & !register.modelled != 0 {
            return Err(self.fault(address, context, format!("{name} = {value:#04x} is not modelled")));
        }
        match register.role {
            Role::Plain => register.value = value,
            Role::PowerReduction => {
                register.value = value;
                context.events.reduce(value);
            }
            Role::ResetFlags => register.value &= value,
            // CLKPCE, and then the division by one that the part already runs at.
            Role::ClockPrescaler => register.value = 0,
            Role::Calibration if value == register.value => {}
            Role::Calibration => {
                return Err(self.fault(address, context, "a new calibration would change the clock".into()));
            }
        }
        Ok(())
    }

    fn interrupts(&self) -> u128 {
        0
    }

    fn reset(&mut self) {
        for register in self.registers.values_mut() {
            register.value = register.after_reset;
        }
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
