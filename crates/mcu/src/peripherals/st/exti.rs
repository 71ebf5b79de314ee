//! The external interrupts (EXTI) of the STM32F4 and F7, with the registers of SYSCFG that choose their pins.
//!
//! RM0090 sections 12.3 and 9.3. Lines 0 to 15 follow the pins as the board drives them: an edge of a line sets its
//! pending bit, a pending bit that is not masked its interrupt. Lines 16 to 22 and events are not modelled.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

const IMR: u32 = 0x00;
const EMR: u32 = 0x04;
const RTSR: u32 = 0x08;
const FTSR: u32 = 0x0c;
const SWIER: u32 = 0x10;
const PR: u32 = 0x14;

/// Interrupt numbers of the lines 0 to 4, of 5 to 9, and of 10 to 15: RM0090, "Vector table for STM32F405xx/07xx".
const FIRST_IRQ: u8 = 6;
const IRQ_5_TO_9: u8 = 23;
const IRQ_10_TO_15: u8 = 40;

/// EXTI and SYSCFG.
#[derive(Clone)]
pub struct Exti {
    name: String,
    base: u32,
    syscfg: u32,
    mask: u32,
    rising: u32,
    falling: u32,
    pending: u32,
    /// EXTICR1 to EXTICR4.
    ports: [u32; 4],
    /// Levels of the lines when they were last looked at.
    levels: u32,
}

impl Exti {
    /// EXTI at `spec.base`, SYSCFG at `settings.syscfg_base`.
    ///
    /// # Errors
    /// The setting is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Exti, String> {
        let syscfg = spec.settings.get("syscfg_base").copied().and_then(|base| u32::try_from(base).ok());
        Ok(Exti {
            name: spec.name.clone(),
            base: spec.base,
            syscfg: syscfg.ok_or_else(|| format!("{} needs syscfg_base", spec.name))?,
            mask: 0,
            rising: 0,
            falling: 0,
            pending: 0,
            ports: [0; 4],
            levels: 0,
        })
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    /// The levels of the lines now; of pins that nobody drives 0.
    fn look(&self, context: &Context<'_, '_>) -> u32 {
        let high = |line: u8| {
            let port = self.ports[usize::from(line) / 4] >> (line % 4 * 4) & 15;
            let name = format!("GPIO{}", char::from(b'A' + port as u8));
            context.board.level(&name, line).unwrap_or(false)
        };
        (0..16)
            .filter(|line| (self.rising | self.falling) >> line & 1 == 1 && high(*line))
            .fold(0, |levels, line| levels | 1 << line)
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let wanted = self.pending & self.mask;
        let groups = (0..5).map(|line| (FIRST_IRQ + line, 1u32 << line));
        for (irq, lines) in groups.chain([(IRQ_5_TO_9, 0x03e0), (IRQ_10_TO_15, 0xfc00)]) {
            if wanted & lines != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }
}

impl Peripheral for Exti {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        vec![self.base..self.base + 0x18, self.syscfg..self.syscfg + 0x24]
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = if address >= self.base && address < self.base + 0x18 {
            match (address - self.base) & !3 {
                IMR => self.mask,
                RTSR => self.rising,
                FTSR => self.falling,
                EMR | SWIER => 0,
                _ => self.pending,
            }
        } else {
            match (address - self.syscfg) & !3 {
                register @ 0x08..=0x14 => self.ports[(register as usize - 8) / 4],
                _ => return Err(self.fault(address, context, "register not modelled")),
            }
        };
        Ok(super::register::part_of_word(word, address & 3, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let merge = |old: u32| super::register::merged_word(old, address & 3, size, value);
        if address >= self.base && address < self.base + 0x18 {
            let register = (address - self.base) & !3;
            let old = match register {
                IMR => self.mask,
                RTSR => self.rising,
                FTSR => self.falling,
                _ => 0,
            };
            let new = merge(old);
            if new & !0xffff != 0 || matches!(register, EMR | SWIER) && new != 0 {
                return Err(self.fault(
                    address,
                    context,
                    "of EXTI only lines 0 to 15 and their edges are modelled",
                ));
            }
            match register {
                IMR => self.mask = new,
                RTSR => self.rising = new,
                FTSR => self.falling = new,
                // Ones clear.
                PR => self.pending &= !new,
                _ => {}
            }
        } else {
            match (address - self.syscfg) & !3 {
                register @ 0x08..=0x14 => {
                    let index = (register as usize - 8) / 4;
                    self.ports[index] = merge(self.ports[index]) & 0xffff;
                }
                _ => return Err(self.fault(address, context, "register not modelled")),
            }
        }
        // A line that goes to another pin, or is looked at from now on, has no edge by that.
        self.levels = self.look(context);
        self.signal(context);
        Ok(())
    }

    fn inputs(&mut self, context: &mut Context<'_, '_>) {
        let levels = self.look(context);
        let (rose, fell) = (levels & !self.levels, self.levels & !levels);
        self.levels = levels;
        let edges = rose & self.rising | fell & self.falling;
        if edges != 0 {
            self.pending |= edges;
            self.signal(context);
        }
    }

    fn reset(&mut self) {
        self.mask = 0;
        self.rising = 0;
        self.falling = 0;
        self.pending = 0;
        self.ports = [0; 4];
        self.levels = 0;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
