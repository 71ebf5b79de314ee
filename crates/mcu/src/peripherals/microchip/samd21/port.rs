//! A group of 32 pins of PORT, at its address on the bus and at that of the single-cycle I/O port.
//! DS40001882F section 23.8.
//!
//! A pin that a module has taken (PINCFG.PMUXEN) is driven by no output of the port; what a TCC
//! drives is seen. Only pins whose input buffer is on read.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Board, Context, Fault, Part, Peripheral, PeripheralSpec, Spec};

const DIR: u32 = 0x00;
const OUT: u32 = 0x10;
const IN: u32 = 0x20;
const CTRL: u32 = 0x24;
const WRCONFIG: u32 = 0x28;
const PMUX: u32 = 0x30;
const PINCFG: u32 = 0x40;
const SIZE: u32 = 0x60;

/// PINCFG.
const PMUXEN: u8 = 1 << 0;
const INEN: u8 = 1 << 1;
const PULLEN: u8 = 1 << 2;
const PINCFG_MASK: u8 = 0x47;

/// The group.
#[derive(Clone)]
pub struct Port {
    name: String,
    base: u32,
    io_port: u32,
    direction: u32,
    output: u32,
    /// CTRL.SAMPLING is kept and does nothing.
    sampling: u32,
    multiplexers: [u8; 16],
    pins: [u8; 32],
    /// The pins that modules have, and which (PMUX), as the board was told.
    given: (u32, u128),
}

impl Port {
    /// The group at `spec.base` and at `settings.io_port`.
    ///
    /// # Errors
    /// No second base.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Port, String> {
        let io_port = spec.settings.get("io_port").and_then(|base| u32::try_from(*base).ok());
        let io_port = io_port.filter(|base| *base < 0xffff_0000);
        Ok(Port {
            name: spec.name.clone(),
            base: spec.base,
            io_port: io_port.ok_or_else(|| format!("{}: {} needs io_port", part.name, spec.name))?,
            direction: 0,
            output: 0,
            sampling: 0,
            multiplexers: [0; 16],
            pins: [0; 32],
            given: (0, 0),
        })
    }

    /// The pins of which this bit of PINCFG is set.
    fn pins_with(&self, bit: u8) -> u32 {
        (0..32).filter(|&pin| self.pins[pin] & bit != 0).fold(0, |mask, pin| mask | 1 << pin)
    }

    fn driven(&self) -> u32 {
        self.direction & !self.pins_with(PMUXEN)
    }

    /// The pins that modules have, and the function of each, four bits a pin.
    fn given(&self) -> (u32, u128) {
        let pins = self.pins_with(PMUXEN);
        let function = |pin: usize| u128::from(self.multiplexers[pin / 2] >> (pin % 2 * 4) & 15);
        let given = (0..32).filter(|pin| pins >> pin & 1 == 1);
        (pins, given.fold(0, |functions, pin| functions | function(pin) << (4 * pin)))
    }

    fn levels(&self) -> u32 {
        self.output & self.driven()
    }

    /// IN: a pulled pin that nothing drives has the level of OUT (section 23.6.3.1).
    fn input(&self, board: &Board) -> u32 {
        let driven = self.driven();
        let pulled = self.output & self.pins_with(PULLEN);
        let high = |pin: u8| {
            let bit = 1u32 << pin;
            if driven & bit != 0 {
                self.output & bit != 0
            } else {
                board.level(&self.name, pin).unwrap_or(pulled & bit != 0)
            }
        };
        (0..32).filter(|&pin| high(pin)).fold(0, |mask, pin| mask | 1 << pin) & self.pins_with(INEN)
    }

    fn offset(&self, address: u32) -> u32 {
        let offset = address.wrapping_sub(self.base);
        if offset < SIZE { offset } else { address.wrapping_sub(self.io_port) }
    }

    /// WRCONFIG: sets 16 pins at once.
    fn configure(&mut self, word: u32) {
        let first = if word >> 31 != 0 { 16 } else { 0 };
        for pin in (first..first + 16).filter(|pin| word >> (pin - first) & 1 != 0) {
            if word >> 30 & 1 != 0 {
                self.pins[pin] = (word >> 16) as u8 & PINCFG_MASK;
            }
            if word >> 28 & 1 != 0 {
                self.set_multiplexer(pin, (word >> 24) as u8 & 15);
            }
        }
    }

    fn set_multiplexer(&mut self, pin: usize, function: u8) {
        let shift = pin % 2 * 4;
        let register = &mut self.multiplexers[pin / 2];
        *register = *register & !(15 << shift) | function << shift;
    }
}

impl Peripheral for Port {
    fn spec(&self) -> Spec {
        Spec::with_ranges(&self.name, [self.base..self.base + SIZE, self.io_port..self.io_port + SIZE])
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = self.offset(address);
        let bytes = |registers: &[u8], first: usize| {
            let word = registers[first..first + 4].try_into().expect("four bytes");
            u32::from_le_bytes(word)
        };
        let word = match offset & !3 {
            DIR..OUT => self.direction,
            OUT..IN => self.output,
            IN => self.input(context.board),
            CTRL => self.sampling,
            // Write-only.
            WRCONFIG => 0,
            at @ PMUX..PINCFG => bytes(&self.multiplexers, (at - PMUX) as usize),
            at @ PINCFG..SIZE => bytes(&self.pins, (at - PINCFG) as usize),
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
        let offset = self.offset(address);
        let (driven, before) = (self.driven(), self.levels());
        let bits = merged_word(0, offset, size, value);
        match offset & !3 {
            at @ DIR..IN => {
                let register = if at < OUT { &mut self.direction } else { &mut self.output };
                // The register itself, then clear, set and toggle.
                *register = match at & 0xc {
                    0x0 => merged_word(*register, offset, size, value),
                    0x4 => *register & !bits,
                    0x8 => *register | bits,
                    _ => *register ^ bits,
                };
            }
            // Writes to the input register have no effect.
            IN => {}
            CTRL => self.sampling = merged_word(self.sampling, offset, size, value),
            WRCONFIG if size == 4 => self.configure(value),
            WRCONFIG => return context.refuse(&self.name, address, "WRCONFIG takes words"),
            PMUX..SIZE => {
                for (at, byte) in (offset..).zip(value.to_le_bytes()).take(size.into()) {
                    if at < PINCFG {
                        self.multiplexers[(at - PMUX) as usize] = byte;
                    } else {
                        self.pins[(at - PINCFG) as usize] = byte & PINCFG_MASK;
                    }
                }
            }
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        let after = self.levels();
        if before != after {
            context.pins(&self.name, before, after);
        }
        if (driven, before) != (self.driven(), after) {
            context.drive(&self.name, self.driven(), after);
        }
        let given = self.given();
        if std::mem::replace(&mut self.given, given) != given {
            context.alternates(&self.name, given.0, given.1);
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.direction = 0;
        self.output = 0;
        self.sampling = 0;
        self.multiplexers = [0; 16];
        self.pins = [0; 32];
        self.given = (0, 0);
    }
}
