//! External interrupts of an ATmega: INT0 to INT7, as far as the part has them, by level or edge,
//! and pin changes.
//!
//! ATmega328P data sheet DS40002061, chapter 13; ATmega2560 data sheet 2549Q, chapter 15;
//! ATmega32U4 data sheet 7766J, chapter 11; ATmega324PA data sheet 8272E, chapter 13, which has a
//! fourth port of pin changes. An interrupt sees the level of the pin whoever drives it, the part
//! itself included. A pin that nobody drives reads low. The few cycles for which the part
//! synchronises a pin are left out. In idle all of this goes on; ADC noise reduction stops the
//! clock that edges are found with, but for those that are found without, so going to sleep in it
//! with such an edge enabled is refused.

use super::avr_port;
use crate::{Board, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};

/// Registers, in the order of [`External::addresses`]; PCICR lies between EIMSK and EICRA; PCMSK1
/// to PCMSK3 follow PCMSK0.
const PCIFR: usize = 0;
const EIFR: usize = 1;
const EIMSK: usize = 2;
const PCICR: usize = 3;
const EICRA: usize = 4;
const PCMSK0: usize = 6;
const COUNT: usize = 10;
/// PCMSK0 to PCMSK3.
const PORTS: usize = 4;
/// PCMSK3 lies behind the TIMSK: 0x73, PCICR at 0x68 (8272E, register summary).
const PCMSK3_FROM_PCICR: u32 = 11;

/// A pin of a port.
#[derive(Clone)]
struct Pin {
    port: String,
    bit: u8,
}

impl Pin {
    fn is_high(&self, board: &Board) -> bool {
        board.pin(&self.port, self.bit) == Some(true)
    }
}

/// The external interrupts.
#[derive(Clone)]
pub struct External {
    name: String,
    /// PCIFR, EIFR, EIMSK, PCICR, EICRA, EICRB, PCMSK0 to PCMSK3.
    addresses: [u32; COUNT],
    /// The bits of each; a register without any is not there.
    bits: [u8; COUNT],
    /// The vectors of INT0 and of PCINT0; the others follow.
    irqs: [u8; 2],
    /// INT0 to INT7.
    pins: [Option<Pin>; 8],
    /// INTn whose edges are found without a clock.
    asynchronous: u8,
    /// The pins of PCMSK0 to PCMSK3.
    change_pins: [[Option<Pin>; 8]; PORTS],
    registers: [u8; COUNT],
    /// Levels of INT0 to INT7 when last looked at.
    seen: u8,
    /// Levels of the pins of PCMSK0 to PCMSK3, those that count.
    changing: [u8; PORTS],
    /// A level interrupt was served: it may be requested again.
    served: bool,
}

impl External {
    /// PCIFR at `spec.base`, EIFR and EIMSK after it; `spec.irq` is the vector of INT0. Settings:
    /// `pcicr`, the address of PCICR, after which EICRA, EICRB and the PCMSK come, the fourth of
    /// them further on; `int#` and `int#_port`, the bit of INTn and PINx of its port;
    /// `asynchronous`, the INTn whose edges are found without a clock; `change_irq`, the vector of
    /// PCINT0; `port#`, PINx of the port of PCMSKn; `port#_first`, that of its first pin where this
    /// is another port, after which the port's own begin.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<External, String> {
        let setting = |name: &str| spec.settings.get(name).copied();
        let needed =
            |name: &str| setting(name).ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name));
        let mut pins = [const { None }; 8];
        let mut bits = [0; COUNT];
        for (number, pin) in pins.iter_mut().enumerate() {
            let Some(bit) = setting(&format!("int{number}")) else { continue };
            let port = avr_port(part, spec, &format!("int{number}_port"))?;
            *pin = Some(Pin { port, bit: bit as u8 & 7 });
            bits[EIFR] |= 1 << number;
            bits[EICRA + number / 4] |= 3 << (2 * (number % 4));
        }
        bits[EIMSK] = bits[EIFR];
        let mut change_pins = [const { [const { None }; 8] }; PORTS];
        for (number, row) in change_pins.iter_mut().enumerate() {
            if setting(&format!("port{number}")).is_none() {
                continue;
            }
            let port = avr_port(part, spec, &format!("port{number}"))?;
            let first = setting(&format!("port{number}_first"))
                .map(|_| avr_port(part, spec, &format!("port{number}_first")));
            let mut own = (0..8).map(|bit| Pin { port: port.clone(), bit });
            let all = first.transpose()?.map(|port| Pin { port, bit: 0 }).into_iter().chain(&mut own);
            let there = part.peripherals.iter().find(|spec| spec.name == port);
            let there = there.and_then(|spec| spec.settings.get("pins")).map_or(0xFF, |pins| *pins as u8);
            for (bit, (slot, pin)) in row.iter_mut().zip(all).enumerate() {
                if pin.port != port || there >> pin.bit & 1 == 1 {
                    *slot = Some(pin);
                    bits[PCMSK0 + number] |= 1 << bit;
                }
            }
            bits[PCIFR] |= 1 << number;
        }
        bits[PCICR] = bits[PCIFR];
        let (low, high) = (spec.base, needed("pcicr")? as u32);
        Ok(External {
            name: spec.name.clone(),
            addresses: [
                low,
                low + 1,
                low + 2,
                high,
                high + 1,
                high + 2,
                high + 3,
                high + 4,
                high + 5,
                high + PCMSK3_FROM_PCICR,
            ],
            bits,
            irqs: [
                spec.irq.ok_or_else(|| format!("{}: {} needs irq", part.name, spec.name))?,
                needed("change_irq")? as u8 & 0x7F,
            ],
            pins,
            asynchronous: setting("asynchronous").unwrap_or(0) as u8,
            change_pins,
            registers: [0; COUNT],
            seen: 0,
            changing: [0; PORTS],
            served: false,
        })
    }

    /// ISCn1 and ISCn0 of INTn.
    fn sense(&self, number: usize) -> u8 {
        self.registers[EICRA + number / 4] >> (2 * (number % 4)) & 3
    }

    /// The levels of those pins that a mask lets through.
    fn levels(pins: &[Option<Pin>; 8], mask: u8, board: &Board) -> u8 {
        let high = |(bit, pin): (usize, &Option<Pin>)| {
            let counts = mask >> bit & 1 == 1;
            u8::from(counts && pin.as_ref().is_some_and(|pin| pin.is_high(board))) << bit
        };
        pins.iter().enumerate().map(high).fold(0, |all, bit| all | bit)
    }

    /// The pins of a port that PCMSKn lets through.
    fn enabled_levels(&self, number: usize, board: &Board) -> u8 {
        External::levels(&self.change_pins[number], self.registers[PCMSK0 + number], board)
    }

    /// Sets the flags of what has come about at the pins.
    fn look(&mut self, context: &mut Context<'_, '_>) {
        let levels = External::levels(&self.pins, self.bits[EIFR], context.board);
        let changed = levels ^ std::mem::replace(&mut self.seen, levels);
        for number in 0..8 {
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
        for number in 0..PORTS {
            let levels = self.enabled_levels(number, context.board);
            if levels != std::mem::replace(&mut self.changing[number], levels) {
                self.rise(PCIFR, number, context);
            }
        }
        self.update(context);
    }

    /// Sets a flag of EIFR or PCIFR.
    fn rise(&mut self, register: usize, number: usize, context: &mut Context<'_, '_>) {
        let first = self.irqs[usize::from(register == PCIFR)];
        if self.registers[register] >> number & 1 == 0 {
            context.events.raise(first + number as u8, context.now);
        }
        self.registers[register] |= 1 << number;
    }

    /// Requests or withdraws the interrupts.
    fn update(&self, context: &mut Context<'_, '_>) {
        let mut pending = self.registers[EIFR] & self.registers[EIMSK];
        for number in 0..8 {
            // A level has no flag: the interrupt is requested as long as the pin is low.
            if self.sense(number) == 0 {
                pending &= !(1 << number);
                pending |= self.registers[EIMSK] & !self.seen & 1 << number;
            }
        }
        let changes = self.registers[PCIFR] & self.registers[PCICR];
        for (first, pending, there) in
            [(self.irqs[0], pending, self.bits[EIFR]), (self.irqs[1], changes, self.bits[PCIFR])]
        {
            for number in (0..8).filter(|number| there >> number & 1 == 1) {
                if pending >> number & 1 == 1 {
                    context.request(first + number);
                } else {
                    context.withdraw(first + number);
                }
            }
        }
    }

    fn register(&self, address: u32) -> usize {
        self.addresses.iter().position(|at| *at == address).unwrap_or(0)
    }

    /// Number of a vector among INT0 to INT7, or the pin changes, and the register with its flag.
    fn flag_of(&self, irq: u8) -> Option<(usize, u8)> {
        [PCIFR, EIFR].into_iter().find_map(|register| {
            let number = irq.checked_sub(self.irqs[usize::from(register == PCIFR)])?;
            (number < 8 && self.bits[register] >> number & 1 == 1).then_some((register, number))
        })
    }
}

impl Peripheral for External {
    fn spec(&self) -> Spec {
        let there = self.addresses.iter().zip(self.bits).filter(|(_, bits)| *bits != 0);
        Spec {
            interrupts: u128::from(self.bits[EIFR]) << self.irqs[0]
                | u128::from(self.bits[PCIFR]) << self.irqs[1],
            follows_inputs: true,
            ..Spec::with_ranges(&self.name, there.map(|(address, _)| *address..address + 1))
        }
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
        if value & !self.bits[register] != 0 {
            return context.refuse(&self.name, address, "this bit is reserved");
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

    fn clock_needed(&self) -> Option<&'static str> {
        let clocked = self.registers[EIMSK] & !self.asynchronous;
        let edge = (0..8).any(|number| clocked >> number & 1 == 1 && self.sense(number) != 0);
        edge.then_some("clkI/O")
    }

    fn due(&self) -> Option<u64> {
        self.served.then_some(0)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.look(context),
            Event::InterruptAcknowledged(irq) => {
                let Some((register, number)) = self.flag_of(irq) else { return };
                self.registers[register] &= !(1 << number);
                self.served |= register == EIFR && self.sense(number.into()) == 0;
            }
            Event::FlagsSubscribed { vectors, includes_set: true } => {
                for number in (0..8).filter(|number| self.registers[EIFR] >> number & 1 == 1) {
                    if vectors >> (self.irqs[0] + number) & 1 == 1 {
                        context.events.raise(self.irqs[0] + number, context.now);
                    }
                }
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.registers = [0; COUNT];
        self.seen = 0;
        self.changing = [0; PORTS];
        self.served = false;
    }
}
