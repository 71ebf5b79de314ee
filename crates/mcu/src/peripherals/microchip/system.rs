//! The registers of an ATmega that set up the core and its clock: sleep, reset cause, prescaler,
//! power reduction, oscillator calibration, general purpose bytes.
//!
//! ATmega328P data sheet DS40002061, chapters 9 to 11; ATmega128 data sheet 2467, "System Clock",
//! "Power Management" and "MCU Control Register". Which registers there are is data: each setting
//! `NAME_register` of the target file is an address. The core itself reads `sleep_register`,
//! `sleep_enable`, `sleep_mode` and `reset_sp`.

use crate::{
    ClockControl, ClockSources, Context, Events, Fault, Part, Peripheral, PeripheralSpec, Roles, Spec,
};
use std::collections::BTreeMap;

/// The effect of a write of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// Keeps what is written.
    Plain,
    /// Keeps only the bits that are not written as zero (MCUSR: reset flags).
    ResetFlags,
    /// CLKPR: divides the clock by up to 256; where the clock is given from outside, it stays.
    ClockPrescaler,
    /// OSCCAL: readable; a write would change the clock.
    Calibration,
    /// PRR, PRR0: modules without a clock can no longer be accessed (DS40002061, 10.9).
    PowerReduction,
    /// PRR1, alike (2549Q, 11.10.3).
    PowerReduction1,
}

#[derive(Clone)]
struct Register {
    name: &'static str,
    role: Role,
    /// Bits that keep what is written.
    modelled: u8,
    /// Bits that are not modelled. The others are reserved or read-only: they read as zero.
    refused: u8,
    after_reset: u8,
    value: u8,
}

/// All these registers of one part.
#[derive(Clone)]
pub struct System {
    name: String,
    registers: BTreeMap<u32, Register>,
    /// The fuses' choice, where the core's clock is what the program sets.
    sources: Option<ClockSources>,
    /// The oscillator that they choose.
    oscillator_hz: Option<u64>,
    /// Up to this cycle CLKPS can be written.
    window_end: u64,
}

/// The address at which the core tells the low fuse byte after a reset: beyond the data space.
pub const LOW_FUSE: u32 = 0x1_0001;

/// OSCCAL after a reset, from the signature row: each chip has its own; this is the middle of the
/// range.
pub const CALIBRATION: u8 = 0x80;

/// The bits of PRR (PRR0) and PRR1 that a part has, from its header; of another part all.
const POWER_REDUCTION: [(&str, [u8; 2]); 4] = [
    ("atmega328p", [0xEF, 0]),
    ("atmega2560", [0xEF, 0x3F]),
    ("atmega32u4", [0xAD, 0x99]),
    ("attiny85", [0x0F, 0]),
];

/// Power-on reset flag, PORF.
const PORF: u8 = 1;
/// CLKPR: CLKPS can be written within four cycles.
const CLKPCE: u8 = 0x80;
const WINDOW: u64 = 4;
const OUTSIDE_WINDOW: &str =
    "CLKPS is written without CLKPCE alone within four cycles before: the part ignores it";
/// CLKPS: division by 2^CLKPS; higher values are reserved (DS40002061, table 9-17).
const LAST_PRESCALER: u8 = 8;
/// The low fuse byte: CKDIV8, 0 where it is programmed, and the field CKSEL. CLKPR then begins with
/// a division by 8.
const CKDIV8: u8 = 0x80;
const CKSEL: u8 = 0x0F;
const CKDIV8_PRESCALER: u8 = 3;

impl System {
    /// The registers that `spec` gives an address.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> System {
        let sources = part.clock.as_ref().filter(|_| part.follows_clock()).cloned();
        let fuse = sources.as_ref().and_then(|clock| clock.low_fuse).unwrap_or(0xFF);
        let prescalers = if sources.is_some() { 0x8F } else { CLKPCE };
        let power = |register: usize| {
            let row = POWER_REDUCTION.iter().find(|(name, _)| part.name.starts_with(name));
            row.map_or(0xFF, |(_, bits)| bits[register])
        };
        let kinds: [(&str, &'static str, Role, u8, u8, u8); 16] = [
            ("smcr_register", "SMCR", Role::Plain, 0x0F, 0, 0),
            // 328P: BODS and BODSE change nothing here; PUD would switch the pull-ups off, IVSEL
            // move the vectors. IVCE, which the part clears by itself, never stays.
            ("mcucr_register", "MCUCR", Role::Plain, 0x60, 0x12, 0),
            // 128: SE and SM2..SM0; SRE and SRW10 would switch on external memory.
            ("mcucr_128_register", "MCUCR", Role::Plain, 0x3C, 0xC2, 0),
            // 2560, 32U4: JTD, which frees pins that the debugger has; PUD and IVSEL as above.
            ("mcucr_2560_register", "MCUCR", Role::Plain, 0x80, 0x12, 0),
            // 324PA: JTD, BODS and BODSE.
            ("mcucr_324_register", "MCUCR", Role::Plain, 0xE0, 0x12, 0),
            ("mcusr_register", "MCUSR", Role::ResetFlags, 0xFF, 0, PORF),
            ("clkpr_register", "CLKPR", Role::ClockPrescaler, prescalers, 0x0F, 0),
            ("osccal_register", "OSCCAL", Role::Calibration, 0xFF, 0, CALIBRATION),
            ("prr_register", "PRR", Role::PowerReduction, power(0), 0, 0),
            ("prr1_register", "PRR1", Role::PowerReduction1, power(1), 0, 0),
            // The comparator switched off (ACD), or on and its output never read.
            ("acsr_register", "ACSR", Role::Plain, 0x83, 0x4C, 0),
            ("didr1_register", "DIDR1", Role::Plain, 0x03, 0, 0),
            ("didr2_register", "DIDR2", Role::Plain, 0xFF, 0, 0),
            ("gpior0_register", "GPIOR0", Role::Plain, 0xFF, 0, 0),
            ("gpior1_register", "GPIOR1", Role::Plain, 0xFF, 0, 0),
            ("gpior2_register", "GPIOR2", Role::Plain, 0xFF, 0, 0),
        ];
        let mut registers = BTreeMap::new();
        for (setting, name, role, modelled, refused, after_reset) in kinds {
            if let Some(&address) = spec.settings.get(setting) {
                let refused = refused & !modelled;
                let register = Register { name, role, modelled, refused, after_reset, value: after_reset };
                registers.insert(address as u32, register);
            }
        }
        let name = spec.name.clone();
        let mut system = System { name, registers, sources, oscillator_hz: None, window_end: 0 };
        system.set_low_fuse(fuse);
        system.reset();
        system
    }

    /// The fuses CKSEL choose the oscillator, CKDIV8 the prescaler to begin with.
    fn set_low_fuse(&mut self, fuse: u8) {
        let Some(clock) = &self.sources else { return };
        let chosen = clock.oscillators.iter().find(|oscillator| oscillator.cksel == fuse & CKSEL);
        self.oscillator_hz = Some(chosen.map_or(clock.crystal_hz.unwrap_or(0), |oscillator| oscillator.hz));
        let prescaler = if fuse & CKDIV8 == 0 { CKDIV8_PRESCALER } else { 0 };
        for register in self.registers.values_mut().filter(|register| register.role == Role::ClockPrescaler) {
            register.after_reset = prescaler;
            register.value = prescaler;
        }
    }

    /// Writes CLKPR where the core follows it; says what is wrong.
    fn write_prescaler(
        &mut self,
        address: u32,
        value: u8,
        now: u64,
        events: &mut Events,
    ) -> Result<(), &'static str> {
        if value == CLKPCE {
            self.window_end = now + WINDOW;
            return Ok(());
        }
        if value & CLKPCE != 0 || now > self.window_end {
            let ignored = events.tolerate("a write to CLKPR more than four cycles after CLKPCE");
            return if ignored { Ok(()) } else { Err(OUTSIDE_WINDOW) };
        }
        if value > LAST_PRESCALER {
            return Err("this setting of CLKPS is reserved");
        }
        if let Some(register) = self.registers.get_mut(&address) {
            register.value = value;
        }
        self.window_end = 0;
        Ok(())
    }
}

impl Peripheral for System {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            self.registers.keys().copied().chain([LOW_FUSE]).map(|address| address..address + 1),
        )
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        match self.registers.get(&address) {
            Some(register) => Ok(register.value.into()),
            None => context.refuse(&self.name, address, "no such register"),
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
        if address == LOW_FUSE {
            self.set_low_fuse(value);
            return Ok(());
        }
        let Some(register) = self.registers.get_mut(&address) else {
            return context.refuse(&self.name, address, "no such register");
        };
        let name = register.name;
        if value & register.refused != 0 {
            return context.refuse(&self.name, address, format!("{name} = {value:#04x} is not modelled"));
        }
        let value = value & register.modelled;
        match register.role {
            Role::Plain => register.value = value,
            Role::PowerReduction => {
                register.value = value;
                context.events.reduce(0, value);
            }
            Role::PowerReduction1 => {
                register.value = value;
                context.events.reduce(1, value);
            }
            Role::ResetFlags => register.value &= value,
            Role::ClockPrescaler if self.oscillator_hz.is_some() => {
                return self
                    .write_prescaler(address, value, context.now, context.events)
                    .map_err(|what| context.fault(&self.name, address, what));
            }
            // CLKPCE, and then the division by one that the part already runs at.
            Role::ClockPrescaler => register.value = 0,
            Role::Calibration if value == register.value => {}
            Role::Calibration => {
                return context.refuse(
                    &self.name,
                    address,
                    "OSCCAL: a new calibration would change the clock",
                );
            }
        }
        Ok(())
    }

    fn reset(&mut self) {
        for register in self.registers.values_mut() {
            register.value = register.after_reset;
        }
    }

    fn roles(&self) -> Roles<'_> {
        Roles { clock_control: Some(self), ..Roles::default() }
    }
}

impl ClockControl for System {
    fn core_clock_hz(&self) -> Option<u64> {
        let prescaler = self.registers.values().find(|register| register.role == Role::ClockPrescaler);
        self.oscillator_hz.map(|hz| (hz >> prescaler.map_or(0, |register| register.value)).max(1))
    }
}
