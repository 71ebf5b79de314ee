//! Pins: the single-cycle I/O block (SIO) with a core's divider, IO_BANK0, and the pads, in one.
//! Sections 2.3.1 and 2.19.
//!
//! SIO drives a pin while IO_BANK0 gives it the pin, and so do PWM ([`super::pwm`]) and PIO
//! ([`super::pio`]); what other blocks drive is not seen. Edges of pins that PWM or PIO drive raise
//! no interrupt. The QSPI pins keep what is written.

use super::divider::{self, Divider};
use super::second_core::SecondCore;
use super::{BLOCK, HELD_PROC1, HELD_SIO, Write, pio, pwm, register};
use crate::peripherals::register::part_of_word;
use crate::{Board, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};

const PINS: usize = 30;
const PIN_MASK: u32 = (1 << PINS) - 1;
const QSPI_MASK: u32 = 0x3f;

// SIO.
const CPUID: u32 = 0x00;
const GPIO_IN: u32 = 0x04;
const GPIO_HI_IN: u32 = 0x08;
const GPIO_OUT: u32 = 0x10;
const GPIO_OE: u32 = 0x20;
const GPIO_HI_OUT: u32 = 0x30;
const GPIO_HI_OE: u32 = 0x40;
const FIFO_ST: u32 = 0x50;
const FIFO_WR: u32 = 0x54;
const FIFO_RD: u32 = 0x58;
const SPINLOCK_ST: u32 = 0x5c;
const SPINLOCK0: u32 = 0x100;
const SIO_SIZE: u32 = 0x180;
/// SIO's interrupt of the first core, behind that of IO_BANK0.
const SIO_IRQ: u8 = 2;

// IO_BANK0.
const CTRL_END: u32 = 8 * PINS as u32;
const INTR0: u32 = 0xf0;
const PROC0_INTE0: u32 = 0x100;
const PROC0_INTF0: u32 = 0x110;
const PROC0_INTS0: u32 = 0x120;
const PROC0_END: u32 = 0x130;
/// GPIO_CTRL.
const CTRL_MASK: u32 = 0x3003_331f;
const FUNCSEL: u32 = 0x1f;
const OVERRIDES: u32 = CTRL_MASK & !FUNCSEL;
const SIO_FUNCTION: u32 = 5;
/// FUNCSEL of the blocks that drive pins, beside SIO.
const GIVEN: [u32; 3] = [pwm::FUNCTION as u32, pio::FUNCTION as u32, pio::FUNCTION as u32 + 1];
/// GPIO_STATUS.
const OUT_BITS: u32 = 1 << 8 | 1 << 9;
const OE_BITS: u32 = 1 << 12 | 1 << 13;
const IN_BITS: u32 = 1 << 17 | 1 << 19;
/// In the four bits that a pin has in INTR and the like: level low, level high, edge low, edge
/// high.
const LEVEL_LOW: u32 = 1;
const LEVEL_HIGH: u32 = 2;
const EDGE_LOW: u32 = 4;
const EDGE_HIGH: u32 = 8;
const EDGES: u32 = 0xcccc_cccc;

// Pads: VOLTAGE_SELECT, then a word for each pin, SWCLK and SWD.
const PADS: usize = 33;
const PAD_RESET: u32 = 0x56;
const OUTPUT_DISABLE: u32 = 1 << 7;
const INPUT_ENABLE: u32 = 1 << 6;
const PULL_UP: u32 = 1 << 3;
/// PADS_QSPI: SCLK, SD0 to SD3, SS.
const QSPI_PADS: [u32; 7] = [0, 0x56, 0x52, 0x52, 0x52, 0x52, 0x5a];

/// The bits in RESETS.RESET.
const RESET_IO_BANK0: u32 = 1 << 5;
const RESET_IO_QSPI: u32 = 1 << 6;
const RESET_PADS_BANK0: u32 = 1 << 8;
const RESET_PADS_QSPI: u32 = 1 << 9;
/// Those that the boot ROM leaves in reset.
const HELD_AT_START: u32 = RESET_IO_BANK0 | RESET_PADS_BANK0;

/// The registers.
#[derive(Clone)]
pub struct Pins {
    name: String,
    sio: u32,
    io_bank0: u32,
    io_qspi: u32,
    pads_bank0: u32,
    pads_qspi: u32,
    irq: u8,
    held: u32,
    output: u32,
    enable: u32,
    qspi_output: u32,
    qspi_enable: u32,
    divider: Divider,
    spinlocks: u32,
    second_core: SecondCore,
    controls: [u32; PINS],
    qspi_controls: [u32; 6],
    pads: [u32; PADS],
    qspi_pads: [u32; 7],
    /// The edges that came, and which interrupts are enabled and forced, in words of eight pins.
    edges: [u32; 4],
    enabled: [u32; 4],
    forced: [u32; 4],
    /// The input levels as they were last.
    levels: u32,
    /// The pins that are PWM's or PIO's with their functions, and those that are pulled up, as the
    /// board was told.
    given: (u32, u128),
    pulled: u32,
}

impl Pins {
    /// SIO at `spec.base`, the other blocks at the settings of their names; interrupting with
    /// `spec.irq`.
    ///
    /// # Errors
    /// A base or the interrupt that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Pins, String> {
        let base = |setting: &str| {
            let base = spec.settings.get(setting).and_then(|base| u32::try_from(*base).ok());
            base.filter(|base| base % BLOCK == 0 && *base < 0xf000_0000)
                .ok_or_else(|| format!("{}: {} needs {setting}", part.name, spec.name))
        };
        let irq = spec.irq.filter(|irq| *irq < 128 - SIO_IRQ);
        Ok(Pins {
            name: spec.name.clone(),
            sio: spec.base,
            io_bank0: base("io_bank0")?,
            io_qspi: base("io_qspi")?,
            pads_bank0: base("pads_bank0")?,
            pads_qspi: base("pads_qspi")?,
            irq: irq.ok_or_else(|| format!("{}: {} needs irq", part.name, spec.name))?,
            held: HELD_AT_START,
            output: 0,
            enable: 0,
            qspi_output: 0,
            qspi_enable: 0,
            divider: Divider::default(),
            spinlocks: 0,
            second_core: SecondCore::new(),
            controls: [FUNCSEL; PINS],
            qspi_controls: [FUNCSEL; 6],
            pads: pads_after_reset(),
            qspi_pads: QSPI_PADS,
            edges: [0; 4],
            enabled: [0; 4],
            forced: [0; 4],
            levels: 0,
            given: (0, 0),
            pulled: 0,
        })
    }

    /// The pins of which a pad has this bit.
    fn pads_with(&self, bit: u32) -> u32 {
        (0..PINS).filter(|&pin| self.pads[pin + 1] & bit != 0).fold(0, |mask, pin| mask | 1 << pin)
    }

    /// The pins that SIO drives.
    fn driven(&self) -> u32 {
        let given = (0..PINS).filter(|&pin| self.controls[pin] & FUNCSEL == SIO_FUNCTION);
        given.fold(0, |mask, pin| mask | 1 << pin) & self.enable & !self.pads_with(OUTPUT_DISABLE)
    }

    /// The pins that PWM and PIO drive, and which does: FUNCSEL of each.
    fn given(&self) -> (u32, u128) {
        let is_given = |&pin: &usize| {
            let enabled = self.pads[pin + 1] & OUTPUT_DISABLE == 0;
            enabled && GIVEN.contains(&(self.controls[pin] & FUNCSEL))
        };
        (0..PINS).filter(is_given).fold((0, 0), |(mask, functions), pin| {
            let function = u128::from(self.controls[pin] & FUNCSEL);
            (mask | 1 << pin, functions | function << (4 * pin))
        })
    }

    /// The levels at the inputs.
    fn input(&self, board: &Board) -> u32 {
        let (driven, pulled) = (self.driven(), self.pads_with(PULL_UP));
        // PWM and PIO drive pins that are given to them.
        let (modules, levels) = (board.driven(&self.name) & self.given.0, board.outputs(&self.name));
        let high = |pin: u8| {
            let bit = 1u32 << pin;
            if driven & bit != 0 {
                self.output & bit != 0
            } else if modules & bit != 0 {
                levels & bit != 0
            } else {
                board.level(&self.name, pin).unwrap_or(pulled & bit != 0)
            }
        };
        (0..PINS as u8).filter(|&pin| high(pin)).fold(0, |mask, pin| mask | 1 << pin)
            & self.pads_with(INPUT_ENABLE)
    }

    /// INTR of eight pins.
    fn raw(&self, word: usize) -> u32 {
        let pins = (self.levels >> (8 * word)) & 0xff;
        let present = (PIN_MASK >> (8 * word)) & 0xff;
        let levels = (0..8).filter(|pin| present >> pin & 1 != 0).fold(0, |bits, pin| {
            bits | if pins >> pin & 1 != 0 { LEVEL_HIGH } else { LEVEL_LOW } << (4 * pin)
        });
        levels | self.edges[word]
    }

    fn status(&self, word: usize) -> u32 {
        self.raw(word) & self.enabled[word] | self.forced[word]
    }

    /// Takes the input levels over, and asks for the interrupt where they want it.
    fn look(&mut self, context: &mut Context<'_, '_>) {
        let levels = self.input(context.board);
        let changed = levels ^ std::mem::replace(&mut self.levels, levels);
        for pin in (0..PINS).filter(|pin| changed >> pin & 1 != 0) {
            let edge = if levels >> pin & 1 != 0 { EDGE_HIGH } else { EDGE_LOW };
            self.edges[pin / 8] |= edge << (4 * (pin % 8));
        }
        if (0..4).any(|word| self.status(word) != 0) {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }

    fn read_sio(&mut self, register: u32, context: &Context<'_, '_>) -> Result<u32, &'static str> {
        Ok(match register {
            // The first core.
            CPUID => 0,
            GPIO_IN => self.input(context.board),
            GPIO_HI_IN => return Err("the QSPI pins as inputs are not modelled"),
            GPIO_OUT => self.output,
            GPIO_OE => self.enable,
            GPIO_HI_OUT => self.qspi_output,
            GPIO_HI_OE => self.qspi_enable,
            // Write-only.
            0x14..=0x4c => 0,
            FIFO_ST => self.second_core.status(),
            FIFO_RD => self.second_core.read(),
            SPINLOCK_ST => self.spinlocks,
            divider::UDIVIDEND..=divider::CSR => return self.divider.read(register, context.now),
            SPINLOCK0..SIO_SIZE => {
                // A read claims it: not zero where it was free.
                let lock = 1 << ((register - SPINLOCK0) / 4);
                let free = self.spinlocks & lock == 0;
                self.spinlocks |= lock;
                if free { lock } else { 0 }
            }
            _ => return Err("the interpolators are not modelled"),
        })
    }

    fn write_sio(
        &mut self,
        register: u32,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        match register {
            GPIO_OUT..=0x4c => {
                let (target, mask) = match register & 0x70 {
                    GPIO_OUT => (&mut self.output, PIN_MASK),
                    GPIO_OE => (&mut self.enable, PIN_MASK),
                    GPIO_HI_OUT => (&mut self.qspi_output, QSPI_MASK),
                    _ => (&mut self.qspi_enable, QSPI_MASK),
                };
                *target = mask
                    & match register & 0xc {
                        0x0 => value,
                        0x4 => *target | value,
                        0x8 => *target & !value,
                        _ => *target ^ value,
                    };
            }
            FIFO_ST => self.second_core.clear_flags(),
            FIFO_WR => self.second_core.write(value, context.events),
            CPUID | GPIO_IN | GPIO_HI_IN | FIFO_RD | SPINLOCK_ST => {}
            divider::UDIVIDEND..=divider::CSR => self.divider.write(register, value, context.now),
            SPINLOCK0..SIO_SIZE => self.spinlocks &= !(1 << ((register - SPINLOCK0) / 4)),
            _ => return Err("the interpolators are not modelled"),
        }
        Ok(())
    }

    fn read_io(&self, register: u32) -> Result<u32, &'static str> {
        let word = (register >> 2 & 3) as usize;
        Ok(match register {
            0..CTRL_END => {
                let pin = (register / 8) as usize;
                if register & 4 != 0 {
                    self.controls[pin]
                } else {
                    let given = self.controls[pin] & FUNCSEL == SIO_FUNCTION;
                    let bits = |levels: u32, bits: u32| if levels >> pin & 1 != 0 { bits } else { 0 };
                    let (output, enable) = if given { (self.output, self.enable) } else { (0, 0) };
                    bits(output, OUT_BITS) | bits(enable, OE_BITS) | bits(self.levels, IN_BITS)
                }
            }
            INTR0..PROC0_INTE0 => self.raw(word),
            PROC0_INTE0..PROC0_INTF0 => self.enabled[word],
            PROC0_INTF0..PROC0_INTS0 => self.forced[word],
            PROC0_INTS0..PROC0_END => self.status(word),
            _ => return Err("interrupts of the second core and of dormant mode are not modelled"),
        })
    }

    fn write_io(&mut self, register: u32, write: Write) -> Result<(), &'static str> {
        let word = (register >> 2 & 3) as usize;
        match register {
            0..CTRL_END if register & 4 != 0 => {
                let control = &mut self.controls[(register / 8) as usize];
                *control = write.onto(*control) & CTRL_MASK;
                if *control & OVERRIDES != 0 {
                    return Err("its overrides are not modelled");
                }
            }
            // GPIO_STATUS is read only.
            0..CTRL_END => {}
            INTR0..PROC0_INTE0 => self.edges[word] &= !(write.value & EDGES),
            PROC0_INTE0..PROC0_INTF0 => self.enabled[word] = write.onto(self.enabled[word]),
            PROC0_INTF0..PROC0_INTS0 => self.forced[word] = write.onto(self.forced[word]),
            PROC0_INTS0..PROC0_END => {}
            _ if write.onto(0) == 0 => {}
            _ => return Err("interrupts of the second core and of dormant mode are not modelled"),
        }
        Ok(())
    }

    /// Reads a register of the block at `base`.
    fn read_block(&self, base: u32, register: u32) -> Result<u32, &'static str> {
        let word = (register / 4) as usize;
        let known = if base == self.io_bank0 {
            return self.read_io(register);
        } else if base == self.io_qspi {
            let control = self.qspi_controls.get(word / 2).copied();
            if word.is_multiple_of(2) { control.map(|_| 0) } else { control }
        } else if base == self.pads_bank0 {
            self.pads.get(word).copied()
        } else {
            self.qspi_pads.get(word).copied()
        };
        known.ok_or("register not modelled")
    }

    fn write_block(&mut self, base: u32, register: u32, write: Write) -> Result<(), &'static str> {
        let word = (register / 4) as usize;
        let (known, mask) = if base == self.io_bank0 {
            return self.write_io(register, write);
        } else if base == self.io_qspi {
            if word.is_multiple_of(2) && word < 12 {
                return Ok(());
            }
            (self.qspi_controls.get_mut(word / 2), CTRL_MASK)
        } else {
            let pads = if base == self.pads_bank0 { &mut self.pads[..] } else { &mut self.qspi_pads[..] };
            (pads.get_mut(word), if word == 0 { 1 } else { 0xff })
        };
        let known = known.ok_or("register not modelled")?;
        *known = write.onto(*known) & mask;
        Ok(())
    }

    fn reset_sio(&mut self) {
        self.output = 0;
        self.enable = 0;
        self.qspi_output = 0;
        self.qspi_enable = 0;
        self.divider = Divider::default();
        self.spinlocks = 0;
        self.second_core = SecondCore::new();
    }

    /// Why SIO cannot be accessed: the core is held with it.
    fn check_sio(&self) -> Result<(), &'static str> {
        if self.held & HELD_SIO != 0 { Err("SIO is held in reset (PSM.FRCE_OFF)") } else { Ok(()) }
    }

    /// The name of the block at `base` where RESETS holds it in reset.
    fn held_block(&self, base: u32) -> Option<&'static str> {
        let blocks = [
            (self.io_bank0, RESET_IO_BANK0, "IO_BANK0"),
            (self.io_qspi, RESET_IO_QSPI, "IO_QSPI"),
            (self.pads_bank0, RESET_PADS_BANK0, "PADS_BANK0"),
            (self.pads_qspi, RESET_PADS_QSPI, "PADS_QSPI"),
        ];
        let held = blocks.iter().find(|(at, bit, _)| *at == base && self.held & bit != 0);
        held.map(|(_, _, name)| *name)
    }

    /// After something that may have changed what the pins drive, from what they drove before.
    fn driven_changed(&mut self, before: (u32, u32), context: &mut Context<'_, '_>) {
        let (driven, levels) = before;
        let now_driven = self.driven();
        let now_levels = self.output & now_driven;
        if levels != now_levels {
            context.pins(&self.name, levels, now_levels);
        }
        let pulled = self.pads_with(PULL_UP);
        let before = (driven, levels, std::mem::replace(&mut self.pulled, pulled));
        if before != (now_driven, now_levels, pulled) {
            context.drive(&self.name, now_driven, now_levels | pulled & !now_driven);
        }
        let given = self.given();
        let others = std::mem::replace(&mut self.given, given) != given;
        if others {
            context.alternates(&self.name, given.0, given.1);
        }
        // PIO looks at all pins.
        context.board.changed |= others || (driven, before.2) != (now_driven, pulled);
        self.look(context);
    }

    fn driving(&self) -> (u32, u32) {
        let driven = self.driven();
        (driven, self.output & driven)
    }

    fn on_controls_changed(&mut self, context: &mut Context<'_, '_>) {
        let held = context.events.held;
        let fallen = held & !self.held;
        let risen = std::mem::replace(&mut self.held, held) & !held;
        let before = self.driving();
        if fallen & HELD_SIO != 0 {
            self.reset_sio();
        }
        if risen & HELD_PROC1 != 0 {
            self.second_core.restart();
        }
        if (fallen | risen) & (HELD_SIO | HELD_PROC1) != 0 {
            self.second_core.request(self.irq + SIO_IRQ, context);
        }
        if fallen & RESET_IO_BANK0 != 0 {
            self.controls = [FUNCSEL; PINS];
            self.edges = [0; 4];
            self.enabled = [0; 4];
            self.forced = [0; 4];
        }
        if fallen & RESET_IO_QSPI != 0 {
            self.qspi_controls = [FUNCSEL; 6];
        }
        if fallen & RESET_PADS_BANK0 != 0 {
            self.pads = pads_after_reset();
        }
        if fallen & RESET_PADS_QSPI != 0 {
            self.qspi_pads = QSPI_PADS;
        }
        if fallen != 0 {
            self.driven_changed(before, context);
        }
    }
}

fn pads_after_reset() -> [u32; PADS] {
    let mut pads = [PAD_RESET; PADS];
    // VOLTAGE_SELECT, SWCLK, SWD.
    pads[0] = 0;
    pads[31] = 0xda;
    pads[32] = 0x5a;
    pads
}

impl Peripheral for Pins {
    fn spec(&self) -> Spec {
        let blocks = [self.io_bank0, self.io_qspi, self.pads_bank0, self.pads_qspi];
        let blocks = blocks.into_iter().map(|base| base..base + BLOCK);
        Spec {
            follows_inputs: true,
            ..Spec::with_ranges(&self.name, std::iter::once(self.sio..self.sio + SIO_SIZE).chain(blocks))
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        if (self.sio..self.sio + SIO_SIZE).contains(&address) {
            let word = self.check_sio().and_then(|()| self.read_sio((address - self.sio) & !3, context));
            let word = word.map_err(|what| context.fault(&self.name, address, what))?;
            self.second_core.request(self.irq + SIO_IRQ, context);
            return Ok(part_of_word(word, address, size));
        }
        let base = address & !(BLOCK - 1);
        let word = self.read_block(base, register(address));
        let word = word.map_err(|what| context.fault(&self.name, address, what))?;
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let before = self.driving();
        let written = if (self.sio..self.sio + SIO_SIZE).contains(&address) {
            let value = Write::new(0, size, value).value;
            let offset = (address - self.sio) & !3;
            let written = self.check_sio().and_then(|()| self.write_sio(offset, value, context));
            self.second_core.request(self.irq + SIO_IRQ, context);
            if written.is_ok() && !(GPIO_OUT..FIFO_ST).contains(&offset) {
                return Ok(());
            }
            written
        } else {
            let base = address & !(BLOCK - 1);
            if let Some(block) = self.held_block(base) {
                return super::written_in_reset(block, address, context);
            }
            let write = Write::new(address, size, value);
            self.write_block(base, register(address), write)
        };
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.driven_changed(before, context);
        Ok(())
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.look(context),
            Event::ControlsChanged => self.on_controls_changed(context),
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.held = HELD_AT_START;
        self.reset_sio();
        self.controls = [FUNCSEL; PINS];
        self.qspi_controls = [FUNCSEL; 6];
        self.pads = pads_after_reset();
        self.qspi_pads = QSPI_PADS;
        self.edges = [0; 4];
        self.enabled = [0; 4];
        self.forced = [0; 4];
        self.levels = 0;
        self.given = (0, 0);
        self.pulled = 0;
    }
}
