//! A pair of digital I/O ports of the MSP430F5xx or MSP430FR5xx, such as P1 and P2.
//!
//! Source: SLAU208 and SLAU367, chapters "Digital I/O Module". On the MSP430FR5xx two registers
//! choose a pin's function, and until the power management lets go of the pins they are inputs
//! without a pull resistor, whatever the registers hold. An input reads what the board drives the
//! pin to, else its pull resistor, or 0 without one. P1 and P2 have interrupts by edges of their
//! inputs; of the others the registers for that are refused. A change of the edge's direction sets
//! the flag where the manual says that it may ("PxIES").

use super::timer_a::OUTPUT;
use crate::{Board, Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

/// Registers of a pair, by offset; even bytes are the first port's, odd bytes the second's.
const IN: usize = 0x00;
const OUT: usize = 0x02;
const DIR: usize = 0x04;
const REN: usize = 0x06;
/// MSP430F5xx: DS, PxSEL. MSP430FR5xx: PxSEL0, PxSEL1, and what inverts the bits of both that are
/// written as 1.
const SEL: usize = 0x0a;
const SEL1: usize = 0x0c;
const SELC: usize = 0x16;
/// The vector registers are words: the first port's, and the second's.
const IV: [usize; 2] = [0x0e, 0x1e];
const IES: usize = 0x18;
const IE: usize = 0x1a;
const IFG: usize = 0x1c;
const SIZE: usize = 0x20;

/// A pair of ports.
#[derive(Clone)]
pub struct Ports {
    /// Names of the two ports.
    names: [String; 2],
    base: u32,
    /// The vectors of the two ports, where they have interrupts.
    irqs: [Option<u8>; 2],
    /// The part is an MSP430FR5xx; the pins are still held as after a reset.
    fr: bool,
    held: bool,
    registers: [u8; SIZE],
    /// Levels of the pins when last looked at.
    seen: [u8; 2],
    /// The pins of each port that were left to modules, and their functions, as the board was told.
    modules: [(u32, u128); 2],
    /// An interrupt was served, perhaps with a flag still set, which requests it again; or the pins
    /// are released.
    to_look: bool,
}

impl Ports {
    /// The pair with its registers from `spec.base` on. The setting `first` is the number of the
    /// first port, to which the second is the next; without it there is one, named as the block.
    /// `spec.irq` is the vector of the first, the setting `second_irq` that of the second; `fr` is
    /// 1 on an MSP430FR5xx.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Ports {
        let names = match spec.settings.get("first") {
            Some(first) => [format!("P{first}"), format!("P{}", first + 1)],
            None => [spec.name.clone(), format!("{} above", spec.name)],
        };
        let fr = spec.settings.get("fr").is_some_and(|fr| *fr != 0);
        Ports {
            names,
            fr,
            held: fr,
            base: spec.base,
            irqs: [spec.irq, spec.settings.get("second_irq").and_then(|irq| u8::try_from(*irq).ok())],
            registers: [0; SIZE],
            seen: [0; 2],
            modules: [(0, 0); 2],
            to_look: false,
        }
    }

    /// The pins that a port leaves to modules, and the function of each: PxSEL1:PxSEL0, and whether
    /// PxDIR makes it an output.
    fn modules(&self, port: usize) -> (u32, u128) {
        let [first, second, outputs] = [SEL, SEL1, DIR].map(|register| self.registers[register + port]);
        let pins = if self.held { 0 } else { first | second };
        let function = |pin: u32| {
            let bit = |register: u8| register >> pin & 1;
            u128::from(bit(first) | bit(second) << 1 | bit(outputs) * OUTPUT)
        };
        let functions = (0..8).filter(|pin| pins >> pin & 1 == 1).map(|pin| function(pin) << (4 * pin));
        (pins.into(), functions.sum())
    }

    /// Levels that a port drives.
    fn driven(&self, port: usize) -> u32 {
        u32::from(self.registers[OUT + port] & self.outputs(port))
    }

    /// The pins that a port drives.
    fn outputs(&self, port: usize) -> u8 {
        let functions = self.registers[SEL + port] | self.registers[SEL1 + port];
        if self.held { 0 } else { self.registers[DIR + port] & !functions }
    }

    /// Tells of the pins that the ports drive, after they have changed from these levels.
    fn drive(&mut self, before: [u32; 2], context: &mut Context<'_, '_>) {
        for (port, before) in before.into_iter().enumerate() {
            let after = self.driven(port);
            context.pins(&self.names[port], before, after);
            context.drive(&self.names[port], self.outputs(port).into(), after);
            let modules = self.modules(port);
            if modules != std::mem::replace(&mut self.modules[port], modules) {
                context.alternates(&self.names[port], modules.0, modules.1);
            }
        }
        self.look(context);
    }

    /// Levels of a port's pins: what the port drives, else the board, else the pull resistor.
    fn levels(&self, port: usize, board: &Board) -> u8 {
        let out = self.registers[OUT + port];
        let outputs = self.outputs(port);
        let pulled = if self.held { 0 } else { self.registers[REN + port] };
        let mut levels = out & (outputs | pulled);
        for bit in (0..8).filter(|bit| outputs >> bit & 1 == 0) {
            match board.level(&self.names[port], bit) {
                Some(true) => levels |= 1 << bit,
                Some(false) => levels &= !(1 << bit),
                None => {}
            }
        }
        levels
    }

    /// Sets the flags of the edges that have come, and requests or withdraws the interrupts.
    fn look(&mut self, context: &mut Context<'_, '_>) {
        for port in 0..2 {
            let Some(irq) = self.irqs[port] else { continue };
            let levels = self.levels(port, context.board);
            let changed = levels ^ std::mem::replace(&mut self.seen[port], levels);
            // The edge that counts ends at 0 where PxIES is set.
            self.registers[IFG + port] |= changed & (levels ^ self.registers[IES + port]);
            if self.pending(port) != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    fn pending(&self, port: usize) -> u8 {
        self.registers[IE + port] & self.registers[IFG + port]
    }

    /// Reads a vector register, which clears the flag that it names; `None` where there is none.
    fn take_vector(&mut self, offset: usize) -> Option<u32> {
        let port = IV.iter().position(|iv| *iv == offset & !1).filter(|port| self.irqs[*port].is_some())?;
        let pending = self.pending(port);
        if pending == 0 {
            return Some(0);
        }
        self.registers[IFG + port] &= !(pending & pending.wrapping_neg());
        Some(2 * pending.trailing_zeros() + 2)
    }

    fn fault(&self, offset: usize, context: &Context<'_, '_>, what: &str) -> Fault {
        let address = self.base + offset as u32;
        Fault::Peripheral {
            pc: context.pc,
            address,
            device: self.names[offset & 1].clone(),
            what: what.into(),
        }
    }

    fn read_byte(&self, offset: usize, context: &Context<'_, '_>) -> Result<u8, Fault> {
        let port = offset & 1;
        match offset - port {
            IN => Ok(self.levels(port, context.board)),
            OUT..=SEL => Ok(self.registers[offset]),
            SEL1 if self.fr => Ok(self.registers[offset]),
            SELC if self.fr => Ok(0),
            IES | IE | IFG if self.irqs[port].is_some() => Ok(self.registers[offset]),
            IES | IE | IFG => Err(self.fault(offset, context, "this port has no interrupts")),
            _ => Err(self.fault(offset, context, "this register is not modelled")),
        }
    }

    fn write_byte(&mut self, offset: usize, value: u8, context: &Context<'_, '_>) -> Result<(), Fault> {
        let port = offset & 1;
        match offset - port {
            // Writes to a read-only register do nothing.
            IN => {}
            OUT..=SEL => self.registers[offset] = value,
            SEL1 if self.fr => self.registers[offset] = value,
            SELC if self.fr => {
                self.registers[SEL + port] ^= value;
                self.registers[SEL1 + port] ^= value;
            }
            IES | IE | IFG if self.irqs[port].is_none() => {
                return Err(self.fault(offset, context, "this port has no interrupts"));
            }
            IES => {
                // "May be set": from rising to falling where the pin is low, and the other way
                // round.
                let changed = self.registers[offset] ^ value;
                self.registers[IFG + port] |= changed & (value ^ self.levels(port, context.board));
                self.registers[offset] = value;
            }
            IE | IFG => self.registers[offset] = value,
            _ => return Err(self.fault(offset, context, "this register is not modelled")),
        }
        Ok(())
    }
}

impl Peripheral for Ports {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: self.irqs.iter().flatten().fold(0, |all, irq| all | 1 << irq),
            follows_inputs: true,
            ..Spec::new(&self.names[0], self.base..self.base + SIZE as u32)
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.base) as usize;
        if let Some(vector) = self.take_vector(offset) {
            self.look(context);
            return Ok(if size == 1 && offset & 1 == 1 { 0 } else { vector });
        }
        let low = u32::from(self.read_byte(offset, context)?);
        if size == 1 {
            return Ok(low);
        }
        Ok(low | u32::from(self.read_byte(offset + 1, context)?) << 8)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = (address - self.base) as usize;
        let before = [self.driven(0), self.driven(1)];
        self.write_byte(offset, value as u8, context)?;
        if size == 2 {
            self.write_byte(offset + 1, (value >> 8) as u8, context)?;
        }
        self.drive(before, context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.to_look.then_some(0)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.to_look = false;
        let before = [self.driven(0), self.driven(1)];
        self.held = self.fr && !context.events.pins_released;
        self.drive(before, context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.look(context),
            Event::ControlsChanged => self.to_look |= self.held == context.events.pins_released,
            // The flags stay until software clears them.
            Event::InterruptAcknowledged(_) => self.to_look = true,
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.held = self.fr;
        self.registers = [0; SIZE];
        self.seen = [0; 2];
        self.modules = [(0, 0); 2];
        self.to_look = false;
    }
}
