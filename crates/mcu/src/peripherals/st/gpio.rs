//! A general-purpose port of the STM32: outputs with pin events, inputs that read what is driven or
//! pulled.
//!
//! RM0091 section 8.4, RM0090 section 8.4, RM0410 section 6.4 (MODER layout); RM0041 section 7.2
//! (CRL/CRH layout, `settings.layout = 1`). A pin of an alternate function is driven by a module
//! that has it there (timers), else by nobody; an input reads what the board drives, and else its
//! pull-up.

mod lock;

use self::lock::Lock;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Board, Context, Fault, Peripheral, PeripheralSpec, Spec};

/// One port of 16 pins.
#[derive(Clone)]
pub struct Gpio {
    name: String,
    base: u32,
    /// The STM32F1's registers.
    old: bool,
    /// MODER, OTYPER, OSPEEDR, PUPDR; old: CRL, CRH.
    setup: [u32; 4],
    alternate: [u32; 2],
    lock: Lock,
    output: u32,
}

impl Gpio {
    /// The port at `spec.base`; `settings.layout` 1 for the STM32F1's registers.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Gpio {
        let mut gpio = Gpio {
            name: spec.name.clone(),
            base: spec.base,
            old: spec.settings.get("layout") == Some(&1),
            setup: [0; 4],
            alternate: [0; 2],
            lock: Lock::default(),
            output: 0,
        };
        gpio.reset();
        gpio
    }

    /// The pins that are general-purpose outputs.
    fn outputs(&self) -> u32 {
        (0..16).filter(|&pin| self.is_output(pin)).fold(0, |mask, pin| mask | 1 << pin)
    }

    fn is_output(&self, pin: usize) -> bool {
        if self.old {
            // CNF1:CNF0:MODE1:MODE0; an output mode that is not alternate.
            let field = self.setup[pin / 8] >> (pin % 8 * 4) & 15;
            field & 3 != 0 && field & 8 == 0
        } else {
            self.setup[0] >> (pin * 2) & 3 == 1
        }
    }

    fn is_pulled_up(&self, pin: usize) -> bool {
        if self.old {
            self.setup[pin / 8] >> (pin % 8 * 4) & 15 == 8 && self.output >> pin & 1 == 1
        } else {
            self.setup[3] >> (pin * 2) & 3 == 1
        }
    }

    /// The pins of an alternate function: on the STM32F1 those at which a module may drive, because
    /// an input there has no function.
    fn alternates(&self) -> u32 {
        (0..16).filter(|&pin| self.is_alternate(pin)).fold(0, |mask, pin| mask | 1 << pin)
    }

    fn is_alternate(&self, pin: usize) -> bool {
        if self.old {
            let field = self.setup[pin / 8] >> (pin % 8 * 4) & 15;
            field & 3 != 0 && field & 8 != 0
        } else {
            self.setup[0] >> (pin * 2) & 3 == 2
        }
    }

    /// AFRL and AFRH.
    fn functions(&self) -> u128 {
        u128::from(self.alternate[1]) << 32 | u128::from(self.alternate[0])
    }

    /// The pins that are pulled up, if nobody drives them.
    fn pull_ups(&self) -> u32 {
        (0..16).filter(|&pin| self.is_pulled_up(pin)).fold(0, |mask, pin| mask | 1 << pin)
    }

    /// Returns the levels of the output pins.
    fn levels(&self) -> u32 {
        self.output & self.outputs()
    }

    /// Tells the board of the outputs, which looks whether that is new to it.
    fn drive(&self, context: &mut Context<'_, '_>) {
        context.drive(&self.name, self.outputs(), self.levels() | self.pull_ups() & !self.outputs());
    }

    /// IDR: outputs read back, others what a module or something around drives them to, or their
    /// pull-up.
    fn input(&self, board: &Board) -> u32 {
        let high = |pin: usize| {
            let driven = if self.is_alternate(pin) {
                board.pin(&self.name, pin as u8)
            } else {
                board.level(&self.name, pin as u8)
            };
            driven.unwrap_or_else(|| self.is_pulled_up(pin))
        };
        let others =
            (0..16).filter(|&pin| !self.is_output(pin) && high(pin)).fold(0, |mask, pin| mask | 1 << pin);
        self.levels() | others
    }

    /// The bits of a register that LCKR keeps as they are.
    fn frozen(&self, register: Register) -> u32 {
        let pins = self.lock.locked();
        if pins == 0 {
            return 0;
        }
        let (first, bits) = match register {
            Register::Setup(index) if self.old => (index * 8, 4),
            // OTYPER.
            Register::Setup(1) => (0, 1),
            Register::Setup(_) => (0, 2),
            Register::Alternate(index) => (index * 8, 4),
            _ => return 0,
        };
        let field = |place: usize| ((1 << bits) - 1) << (place * bits);
        (0..32 / bits)
            .filter(|place| pins >> (first + place) & 1 == 1)
            .fold(0, |mask, place| mask | field(place))
    }

    /// The register's name by its offset.
    fn register(&self, offset: u32) -> Option<Register> {
        use Register::*;
        Some(match (self.old, offset) {
            (false, 0x00..=0x0c) => Setup(offset as usize / 4),
            (false, 0x10) | (true, 0x08) => Input,
            (false, 0x14) | (true, 0x0c) => Output,
            (false, 0x18) | (true, 0x10) => SetReset,
            (false, 0x1c) | (true, 0x18) => Lock,
            (false, 0x20 | 0x24) => Alternate((offset as usize - 0x20) / 4),
            (false, 0x28) | (true, 0x14) => Reset,
            (true, 0x00 | 0x04) => Setup(offset as usize / 4),
            _ => return None,
        })
    }
}

#[derive(Clone, Copy)]
enum Register {
    Setup(usize),
    Input,
    Output,
    SetReset,
    Reset,
    Lock,
    Alternate(usize),
}

impl Peripheral for Gpio {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match self.register(offset & !3) {
            Some(Register::Setup(index)) => self.setup[index],
            Some(Register::Input) => self.input(context.board),
            Some(Register::Output) => self.output,
            // Write-only: they read as zero.
            Some(Register::SetReset | Register::Reset) => 0,
            Some(Register::Lock) => self.lock.read(),
            Some(Register::Alternate(index)) => self.alternate[index],
            None => return context.refuse(&self.name, address, "register not modelled"),
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
        let register = self.register(offset & !3);
        let configures = matches!(register, Some(Register::Setup(_) | Register::Alternate(_)));
        let (driven, before) = (self.outputs(), self.levels());
        let merge = |old: u32| merged_word(old, offset, size, value);
        let frozen = register.map_or(0, |register| self.frozen(register));
        let thawed = |old: u32| old & frozen | merge(old) & !frozen;
        match register {
            // OTYPER has a bit for each pin, the upper half reads 0 (RM0090 section 8.4.2).
            Some(Register::Setup(1)) if !self.old => self.setup[1] = thawed(self.setup[1]) & 0xffff,
            Some(Register::Setup(index)) => self.setup[index] = thawed(self.setup[index]),
            Some(Register::Output) => self.output = merge(self.output) & 0xffff,
            Some(Register::SetReset) => {
                let word = merge(0);
                // Set goes before reset (RM0090 section 8.4.7, BSRR).
                self.output = self.output & !(word >> 16) | word & 0xffff;
            }
            Some(Register::Reset) => self.output &= !(merge(0) & 0xffff),
            Some(Register::Alternate(index)) => self.alternate[index] = thawed(self.alternate[index]),
            Some(Register::Lock) if size == 4 => self.lock.write(value),
            Some(Register::Lock) => {
                let what = "pins are locked by words of 32 bits (RM0090 section 8.4.8)";
                return context.refuse(&self.name, address, what);
            }
            Some(Register::Input)
                if context.events.tolerate("a write to IDR of a port, which is read-only") => {}
            Some(Register::Input) => {
                return context.refuse(&self.name, address, "the input register is read-only");
            }
            // Drivers for several families write the reset value of registers that this one does
            // not have (ASCR of the STM32L4).
            None if value == 0 => {}
            None => return context.refuse(&self.name, address, "register not modelled"),
        }
        let after = self.levels();
        if before != after {
            context.pins(&self.name, before, after);
        }
        if configures || self.old || (driven, before) != (self.outputs(), after) {
            self.drive(context);
        }
        if configures {
            context.alternates(&self.name, self.alternates(), self.functions());
        }
        Ok(())
    }

    fn reset_block(&mut self, _base: u32, context: &mut Context<'_, '_>) {
        let before = self.levels();
        self.reset();
        context.pins(&self.name, before, self.levels());
        self.drive(context);
        context.alternates(&self.name, self.alternates(), self.functions());
    }

    fn reset(&mut self) {
        self.alternate = [0; 2];
        self.lock = Lock::default();
        self.output = 0;
        self.setup = if self.old {
            // All pins floating inputs.
            [0x4444_4444, 0x4444_4444, 0, 0]
        } else {
            // The debug pins of ports A and B (RM0090 section 8.4.1, 8.4.3, 8.4.4).
            match self.name.as_str() {
                "GPIOA" if self.base < 0x4800_0000 => [0xa800_0000, 0, 0x0c00_0000, 0x6400_0000],
                "GPIOA" => [0x2800_0000, 0, 0, 0x2400_0000],
                "GPIOB" if self.base < 0x4800_0000 => [0x0000_0280, 0, 0x0000_00c0, 0x0000_0100],
                _ => [0; 4],
            }
        };
    }
}
