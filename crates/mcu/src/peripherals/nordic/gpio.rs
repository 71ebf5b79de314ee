//! A port of general-purpose pins (P0, P1). PS, "GPIO".
//!
//! Pins that other blocks drive or sample (PSEL) are not told apart here. DETECT goes to GPIOTE as
//! a flag that rises, by GPIOTE's interrupt.

use crate::peripherals::register::part_of_word;
use crate::{Board, Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

const OUT: u32 = 0x504;
const OUTSET: u32 = 0x508;
const OUTCLR: u32 = 0x50c;
const IN: u32 = 0x510;
const DIR: u32 = 0x514;
const DIRSET: u32 = 0x518;
const DIRCLR: u32 = 0x51c;
const LATCH: u32 = 0x520;
const DETECTMODE: u32 = 0x524;
const PIN_CNF: u32 = 0x700;
const PIN_CNF_END: u32 = 0x780;

/// PIN_CNF: direction; the input buffer is disconnected; PULL; SENSE.
const PIN_DIR: u32 = 1 << 0;
const PIN_INPUT: u32 = 1 << 1;
const PIN_PULL_SHIFT: u32 = 2;
const PULL_UP: u32 = 3;
const SENSE_SHIFT: u32 = 16;
/// SENSE: for high, for low.
const SENSE_HIGH: u32 = 2;
const SENSE_LOW: u32 = 3;
const PIN_MASK: u32 = 0x0003_070f;

/// The port.
#[derive(Clone)]
pub struct Gpio {
    name: String,
    base: u32,
    /// Pins that the port has.
    pins: u32,
    output: u32,
    configuration: [u32; 32],
    detect_mode: u32,
    latch: u32,
    /// DETECT.
    detect: bool,
    /// Whom DETECT goes to.
    gpiote_irq: Option<u8>,
}

impl Gpio {
    /// The port at `spec.base` with `settings.pins` pins, 32 where it says nothing;
    /// `settings.gpiote_irq` is GPIOTE's interrupt.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Gpio {
        let pins = spec.settings.get("pins").copied().unwrap_or(32).clamp(1, 32);
        Gpio {
            name: spec.name.clone(),
            base: spec.base,
            pins: u32::MAX >> (32 - pins),
            output: 0,
            configuration: [PIN_INPUT; 32],
            detect_mode: 0,
            latch: 0,
            detect: false,
            gpiote_irq: spec.settings.get("gpiote_irq").and_then(|irq| u8::try_from(*irq).ok()),
        }
    }

    fn pins_where(&self, holds: impl Fn(usize) -> bool) -> u32 {
        (0..32).filter(|&pin| holds(pin)).fold(0, |mask, pin| mask | 1 << pin) & self.pins
    }

    fn direction(&self) -> u32 {
        self.pins_where(|pin| self.configuration[pin] & PIN_DIR != 0)
    }

    fn set_direction(&mut self, direction: u32) {
        for (pin, configuration) in self.configuration.iter_mut().enumerate() {
            *configuration = *configuration & !PIN_DIR | direction >> pin & 1;
        }
    }

    fn levels(&self) -> u32 {
        self.output & self.direction()
    }

    fn pulled_up(&self) -> u32 {
        self.pins_where(|pin| self.configuration[pin] >> PIN_PULL_SHIFT & 3 == PULL_UP) & !self.direction()
    }

    /// IN: zero for a pin whose input buffer is disconnected.
    fn input(&self, board: &Board) -> u32 {
        let high = |pin: usize| board.pin(&self.name, pin as u8).unwrap_or(false);
        self.pins_where(|pin| self.configuration[pin] & PIN_INPUT == 0 && high(pin))
    }

    /// The pins' levels have changed, or what is sensed has. PS, "GPIO": LATCH keeps the pins that
    /// met their SENSE; DETECT is of those that meet it now, or with DETECTMODE of those in LATCH.
    fn sense(&mut self, context: &mut Context<'_, '_>) {
        let input = self.input(context.board);
        let met = self.pins_where(|pin| match self.configuration[pin] >> SENSE_SHIFT & 3 {
            SENSE_HIGH => input >> pin & 1 == 1,
            SENSE_LOW => input >> pin & 1 == 0,
            _ => false,
        });
        self.latch |= met;
        let detect = if self.detect_mode == 0 { met } else { self.latch } != 0;
        if detect
            && !self.detect
            && let Some(irq) = self.gpiote_irq
        {
            context.events.raise(irq, context.now);
        }
        self.detect = detect;
    }
}

impl Peripheral for Gpio {
    fn spec(&self) -> Spec {
        Spec {
            follows_inputs: true,
            ..Spec::with_ranges(
                &self.name,
                [self.base + OUT..self.base + DETECTMODE + 4, self.base + PIN_CNF..self.base + PIN_CNF_END],
            )
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = match (address - self.base) & !3 {
            OUT | OUTSET | OUTCLR => self.output,
            IN => self.input(context.board),
            DIR | DIRSET | DIRCLR => self.direction(),
            LATCH => self.latch,
            DETECTMODE => self.detect_mode,
            offset => self.configuration[(offset - PIN_CNF) as usize / 4],
        };
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if size != 4 {
            return context.refuse(&self.name, address, "its registers take whole words");
        }
        let (driven, before, pulled) = (self.direction(), self.levels(), self.pulled_up());
        match address - self.base {
            OUT => self.output = value & self.pins,
            OUTSET => self.output |= value & self.pins,
            OUTCLR => self.output &= !value,
            IN if context.events.tolerate("a write to IN of a port, which is read-only") => {}
            IN => return context.refuse(&self.name, address, "IN is read-only"),
            DIR => self.set_direction(value),
            DIRSET => self.set_direction(driven | value),
            DIRCLR => self.set_direction(driven & !value),
            LATCH => {
                self.latch &= !value;
                // What is still met rises once more.
                self.detect &= self.detect_mode == 0;
            }
            DETECTMODE => self.detect_mode = value & 1,
            offset => {
                let pin = (offset - PIN_CNF) as usize / 4;
                if value >> SENSE_SHIFT & 3 == 1 {
                    return context.refuse(&self.name, address, "a reserved value of PIN_CNF.SENSE");
                }
                self.configuration[pin] = value & PIN_MASK;
            }
        }
        let after = self.levels();
        if before != after {
            context.pins(&self.name, before, after);
        }
        if (driven, before, pulled) != (self.direction(), after, self.pulled_up()) {
            context.drive(&self.name, self.direction(), after | self.pulled_up());
        }
        self.sense(context);
        Ok(())
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::InputsChanged) {
            self.sense(context);
        }
    }

    fn reset(&mut self) {
        self.output = 0;
        self.configuration = [PIN_INPUT; 32];
        self.detect_mode = 0;
        self.latch = 0;
        self.detect = false;
    }
}
