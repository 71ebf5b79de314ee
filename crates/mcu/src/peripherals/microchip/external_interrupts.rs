//! External interrupts of an ATmega328P: INT0 and INT1 by level or edge, and pin changes.
//!
//! ATmega328P data sheet DS40002061, chapter 13. An interrupt sees the level of the pin whoever drives it, the part itself
//! included. A pin that nobody drives reads low. The few cycles for which the part synchronises a pin are left out. In idle all of
//! this goes on; ADC noise reduction stops the clock that edges are found with, so going to sleep in it with an edge enabled
//! is refused.

use super::super::avr_port;
use crate::{Board, Context, Fault, Part, Peripheral, PeripheralSpec};
use std::ops::Range;

/// Registers, in the order of [`External::addresses`]; PCICR lies between EIMSK and EICRA; PCMSK1 and
/// PCMSK2 follow PCMSK0.
const PCIFR: usize = 0;
const EIFR: usize = 1;
const EIMSK: usize = 2;
const EICRA: usize = 4;
const PCMSK0: usize = 5;
/// Which bits each has.
const BITS: [u8; 8] = [0x07, 0x03, 0x03, 0x07, 0x0F, 0xFF, 0x7F, 0xFF];

/// The external interrupts.
#[derive(Clone)]
pub struct External {
    name: String,
    /// PCIFR, EIFR, EIMSK, PCICR, EICRA, PCMSK0, PCMSK1, PCMSK2.
    addresses: [u32; 8],
    /// The vector of INT0; INT1 and the pin changes follow.
    irq: u8,
    /// The ports of PCMSK0 to PCMSK2.
    ports: [String; 3],
    /// The bits of INT0 and INT1 in the last of them.
    pins: [u8; 2],
    registers: [u8; 8],
    /// Levels of INT0 and INT1 when last looked at.
    seen: u8,
    /// Levels of the pins of PCMSK0 to PCMSK2, those that count.
    changing: [u8; 3],
    /// A level interrupt was served: it may be requested again.
    served: bool,
}

impl External {
    /// PCIFR at `spec.base`, EIFR and EIMSK after it; `spec.irq` is the vector of INT0. Settings: `pcicr`, the address of PCICR,
    /// after which EICRA and the PCMSK come as on the ATmega328P; `port0` to `port2`, PINx of the ports of PCMSK0 to PCMSK2;
    /// `int0` and `int1`, bits of the last of those.
    ///
    /// # Errors
    /// What is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<External, String> {
        let setting = |name: &str| {
            let value = spec.settings.get(name).copied();
            value.ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name))
        };
        let bit = |name: &str| setting(name).map(|bit| bit as u8 & 7);
        let (low, high) = (spec.base, setting("pcicr")? as u32);
        Ok(External {
            name: spec.name.clone(),
            addresses: [low, low + 1, low + 2, high, high + 1, high + 3, high + 4, high + 5],
            irq: spec.irq.ok_or_else(|| format!("{}: {} needs irq", part.name, spec.name))?,
            ports: [
                avr_port(part, spec, "port0")?,
                avr_port(part, spec, "port1")?,
                avr_port(part, spec, "port2")?,
            ],
            pins: [bit("int0")?, bit("int1")?],
            registers: [0; 8],
            seen: 0,
            changing: [0; 3],
            served: false,
        })
    }

    /// ISCn1 and ISCn0 of INTn.
    fn sense(&self, number: usize) -> u8 {
        self.registers[EICRA] >> (2 * number) & 3
    }

    fn levels(&self, board: &Board) -> u8 {
        let level = |pin: u8| u8::from(board.pin(&self.ports[2], pin) == Some(true));
        level(self.pins[0]) | level(self.pins[1]) << 1
    }

    /// The pins of a port that PCMSKn lets through.
    fn enabled_levels(&self, number: usize, board: &Board) -> u8 {
        let mut mask = self.registers[PCMSK0 + number];
        let mut levels = 0;
        while mask != 0 {
            let bit = mask.trailing_zeros() as u8;
            mask &= mask - 1;
            levels |= u8::from(board.pin(&self.ports[number], bit) == Some(true)) << bit;
        }
        levels
    }

    /// Sets the flags of what has come about at the pins.
    fn look(&mut self, context: &mut Context<'_, '_>) {
        let levels = self.levels(context.board);
        let changed = levels ^ std::mem::replace(&mut self.seen, levels);
        for number in 0..2 {
            let high = levels >> number & 1 == 1;
            let counts = match self.sense(number) {
                0 => false,
                1 => true,
                2 => !high,
                _ => high,
            };
            if counts && changed >> number & 1 == 1 {
                self.rise(EIFR, number, context);
            }
        }
        for number in 0..3 {
            let levels = self.enabled_levels(number, context.board);
            if levels != std::mem::replace(&mut self.changing[number], levels) {
                self.rise(PCIFR, number, context);
            }
        }
        self.update(context);
    }

    /// Sets a flag of EIFR or PCIFR.
    fn rise(&mut self, register: usize, number: usize, context: &mut Context<'_, '_>) {
        let first = if register == EIFR { self.irq } else { self.irq + 2 };
        if self.registers[register] >> number & 1 == 0 {
            context.events.raise(first + number as u8, context.now);
        }
        self.registers[register] |= 1 << number;
    }

    /// Requests or withdraws the five interrupts.
    fn update(&self, context: &mut Context<'_, '_>) {
        let [change_flags, flags, mask, change_control, ..] = self.registers;
        let mut pending = flags & mask | (change_flags & change_control) << 2;
        for number in 0..2 {
            // A level has no flag: the interrupt is requested as long as the pin is low.
            if self.sense(number) == 0 {
                pending &= !(1 << number);
                pending |= mask & !self.seen & 1 << number;
            }
        }
        for number in 0..5 {
            if pending >> number & 1 == 1 {
                context.request(self.irq + number);
            } else {
                context.withdraw(self.irq + number);
            }
        }
    }

    fn register(&self, address: u32) -> usize {
        self.addresses.iter().position(|at| *at == address).unwrap_or(0)
    }
}

impl Peripheral for External {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        self.addresses.map(|address| address..address + 1).to_vec()
    }

    fn read(&mut self, address: u32, _size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        Ok(self.registers[self.register(address)].into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let register = self.register(address);
        let value = value as u8;
        if value & !BITS[register] != 0 {
            let what = "this bit is reserved".into();
            return Err(Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what });
        }
        if matches!(register, EIFR | PCIFR) {
            self.registers[register] &= !value;
        } else {
            self.registers[register] = value;
        }
        if register >= PCMSK0 {
            // A pin that begins to count has not changed by that.
            let number = register - PCMSK0;
            self.changing[number] = self.enabled_levels(number, context.board);
        }
        self.update(context);
        Ok(())
    }

    fn write_bit(
        &mut self,
        address: u32,
        bit: u8,
        on: bool,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let register = self.register(address);
        // SBI clears that flag alone; CBI writes a zero, which does nothing.
        let others = if matches!(register, EIFR | PCIFR) { 0 } else { self.registers[register] };
        self.write(address, 1, u32::from(others & !(1 << bit) | u8::from(on) << bit), context)
    }

    fn inputs(&mut self, context: &mut Context<'_, '_>) {
        self.look(context);
    }

    fn subscribed(&mut self, vectors: u128, to_set: bool, context: &mut Context<'_, '_>) {
        for number in (0..2).filter(|number| to_set && self.registers[EIFR] >> number & 1 == 1) {
            if vectors >> (self.irq + number) & 1 == 1 {
                context.events.raise(self.irq + number, context.now);
            }
        }
    }

    fn clock_needed(&self) -> Option<&'static str> {
        let edge = (0..2).any(|number| self.registers[EIMSK] >> number & 1 == 1 && self.sense(number) != 0);
        edge.then_some("clkI/O")
    }

    fn due(&self) -> Option<u64> {
        self.served.then_some(0)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        self.update(context);
    }

    fn interrupts(&self) -> u128 {
        0b1_1111 << self.irq
    }

    fn taken(&mut self, irq: u8) {
        let Some(number) = irq.checked_sub(self.irq).filter(|number| *number < 5) else { return };
        match number {
            0 | 1 => {
                self.registers[EIFR] &= !(1 << number);
                self.served |= self.sense(number.into()) == 0;
            }
            _ => self.registers[PCIFR] &= !(1 << (number - 2)),
        }
    }

    fn reset(&mut self) {
        self.registers = [0; 8];
        self.seen = 0;
        self.changing = [0; 3];
        self.served = false;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
