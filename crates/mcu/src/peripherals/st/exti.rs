//! The external interrupts (EXTI) of the STM32 and the CH32V003, with the registers of SYSCFG (F1,
//! CH32V003: AFIO) that choose their pins.
//!
//! RM0091 section 11.2, RM0041 section 8.2, RM0090 sections 12.3 and 9.3, RM0410 section 11. Lines
//! 0 to 15 follow the pins as the board drives them: an edge of a line sets its pending bit, a
//! pending bit that is not masked its interrupt, and an edge of a line in EMR is an event, for
//! which WFE waits. Of the lines above, which are other peripherals', those of the RTC are modelled
//! but for the STM32F1. The CH32V003 has the same registers for eight lines, with one interrupt
//! (CH32V003RM V1.4, chapter 6; ch32v003hw.h).

use super::syscfg::{Family, Syscfg};
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

const IMR: u32 = 0x00;
const EMR: u32 = 0x04;
const RTSR: u32 = 0x08;
const FTSR: u32 = 0x0c;
const SWIER: u32 = 0x10;
const PR: u32 = 0x14;

/// Interrupts of the lines, a set of bits each: vector tables of RM0091 and of RM0041, RM0090 and
/// RM0410.
const F0_GROUPS: &[(u8, u32)] = &[(5, 0x3), (6, 0xc), (7, 0xfff0)];
const GROUPS: &[(u8, u32)] = &[(6, 1), (7, 2), (8, 4), (9, 8), (10, 16), (23, 0x03e0), (40, 0xfc00)];

const CH32V003_GROUPS: &[(u8, u32)] = &[(20, 0xff)];

/// The lines of the RTC, alarms and wake-up timer: RM0090, table 62, and RM0410; RM0091 and RM0432,
/// tables of EXTI's lines and of vectors.
const RTC_GROUPS: &[(u8, u32)] = &[(41, 1 << 17), (3, 1 << 22)];
const F0_RTC_GROUPS: &[(u8, u32)] = &[(2, 1 << 17)];
const L4_RTC_GROUPS: &[(u8, u32)] = &[(41, 1 << 18), (3, 1 << 20)];

/// The number of the trigger by which a peripheral makes a rising edge of an inner line.
pub(super) fn line_trigger(line: u8) -> u8 {
    FIRST_LINE_TRIGGER + line
}

const FIRST_LINE_TRIGGER: u8 = 100;

/// IMR of the STM32F05x after reset: the lines of peripherals within (RM0091, section 11.3.1; from
/// memory, not yet compared).
const F0_INTERNAL: u32 = 0x0f94_0000;
/// IMR1 of the STM32L4 after reset (RM0432, section 17.6.1; from memory, not yet compared).
const L4_INTERNAL: u32 = 0xff82_0000;

/// EXTI and SYSCFG.
#[derive(Clone)]
pub struct Exti {
    name: String,
    base: u32,
    syscfg_base: u32,
    syscfg: Syscfg,
    /// Its interrupts, and the lines of each.
    groups: &'static [(u8, u32)],
    /// The interrupts of inner lines that are modelled, and their lines.
    inner_groups: &'static [(u8, u32)],
    /// IMR's bits above line 15, which change nothing.
    internal: u32,
    mask: u32,
    /// EMR.
    event_mask: u32,
    rising: u32,
    falling: u32,
    pending: u32,
    /// SWIER.
    software: u32,
    /// Levels of the lines when they were last looked at.
    levels: u32,
}

impl Exti {
    /// EXTI at `spec.base`, SYSCFG or AFIO at `settings.syscfg_base`, both of the family
    /// `settings.layout` (0, 1, 4, 7, for the STM32L4 8, for the CH32V003 3).
    ///
    /// # Errors
    /// A setting is missing or wrong.
    pub fn new(spec: &PeripheralSpec) -> Result<Exti, String> {
        let syscfg_base = spec.settings.get("syscfg_base").copied().and_then(|base| u32::try_from(base).ok());
        let family = match spec.settings.get("layout").copied() {
            Some(0) => Family::F0,
            Some(1) => Family::F1,
            Some(3) => Family::Ch32V003,
            Some(4) => Family::F4,
            Some(7) => Family::F7,
            Some(8) => Family::L4,
            _ => return Err(format!("{} needs layout: 0, 1, 3, 4, 7 or 8", spec.name)),
        };
        let internal = match family {
            Family::F0 => F0_INTERNAL,
            Family::L4 => L4_INTERNAL,
            Family::F1 | Family::F4 | Family::F7 | Family::Ch32V003 => 0,
        };
        Ok(Exti {
            name: spec.name.clone(),
            base: spec.base,
            syscfg_base: syscfg_base.ok_or_else(|| format!("{} needs syscfg_base", spec.name))?,
            syscfg: Syscfg::new(family),
            groups: match family {
                Family::F0 => F0_GROUPS,
                Family::Ch32V003 => CH32V003_GROUPS,
                Family::F1 | Family::F4 | Family::F7 | Family::L4 => GROUPS,
            },
            inner_groups: match family {
                Family::F0 => F0_RTC_GROUPS,
                Family::F1 | Family::Ch32V003 => &[],
                Family::F4 | Family::F7 => RTC_GROUPS,
                Family::L4 => L4_RTC_GROUPS,
            },
            internal,
            mask: internal,
            event_mask: 0,
            rising: 0,
            falling: 0,
            pending: 0,
            software: 0,
            levels: 0,
        })
    }

    /// The levels of the lines now; of pins that nobody drives 0.
    fn look(&self, context: &Context<'_, '_>) -> u32 {
        let high = |line: u8| {
            let name = format!("GPIO{}", char::from(b'A' + self.syscfg.port(line)));
            context.board.level(&name, line).unwrap_or(false)
        };
        (0..16)
            .filter(|line| (self.rising | self.falling) >> line & 1 == 1 && high(*line))
            .fold(0, |levels, line| levels | 1 << line)
    }

    /// The lines of pins.
    fn pins(&self) -> u32 {
        self.groups.iter().fold(0, |all, (_, lines)| all | lines)
    }

    /// The inner lines that are modelled.
    fn inner(&self) -> u32 {
        self.inner_groups.iter().fold(0, |all, (_, lines)| all | lines)
    }

    /// Edges of these lines, or their bits in SWIER: those in EMR are events.
    fn event(&self, lines: u32, context: &mut Context<'_, '_>) {
        if lines & self.event_mask != 0 {
            context.events.signal_core();
        }
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let wanted = self.pending & self.mask & (self.pins() | self.inner());
        for &(irq, lines) in self.groups.iter().chain(self.inner_groups) {
            if wanted & lines != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    /// Makes known what SYSCFG says of pins and memory.
    fn show_syscfg(&self, context: &mut Context<'_, '_>) {
        context.board.set_remaps(self.syscfg.remaps());
        context.events.ram_at_zero = self.syscfg.shows_ram_at_zero();
    }

    fn on_inputs_changed(&mut self, context: &mut Context<'_, '_>) {
        let levels = self.look(context);
        let (rose, fell) = (levels & !self.levels, self.levels & !levels);
        self.levels = levels;
        let edges = rose & self.rising | fell & self.falling;
        if edges != 0 {
            self.event(edges, context);
            self.pending |= edges;
            self.signal(context);
        }
    }
}

impl Peripheral for Exti {
    fn spec(&self) -> Spec {
        Spec {
            follows_triggers: self.inner() != 0,
            follows_inputs: true,
            blocks: vec![(self.syscfg.name(), self.syscfg_base..self.syscfg_base + Syscfg::SIZE)],
            ..Spec::with_ranges(
                &self.name,
                [self.base..self.base + 0x18, self.syscfg_base..self.syscfg_base + Syscfg::SIZE],
            )
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = if address >= self.base && address < self.base + 0x18 {
            match (address - self.base) & !3 {
                IMR => self.mask,
                RTSR => self.rising,
                FTSR => self.falling,
                SWIER => self.software,
                EMR => self.event_mask,
                _ => self.pending,
            }
        } else {
            let word = self.syscfg.read((address - self.syscfg_base) & !3);
            word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?
        };
        Ok(part_of_word(word, address & 3, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let merge = |old: u32| merged_word(old, address & 3, size, value);
        if address >= self.base && address < self.base + 0x18 {
            let register = (address - self.base) & !3;
            let old = match register {
                IMR => self.mask,
                EMR => self.event_mask,
                RTSR => self.rising,
                FTSR => self.falling,
                _ => 0,
            };
            let new = merge(old);
            let internal = if register == IMR { self.internal } else { 0 };
            if new & !(self.pins() | self.inner() | internal) != 0 {
                return context.refuse(
                    &self.name,
                    address,
                    "of EXTI only the pins' lines and, but for the STM32F1, the RTC's are modelled",
                );
            }
            match register {
                IMR => self.mask = new,
                EMR => self.event_mask = new,
                RTSR => self.rising = new,
                FTSR => self.falling = new,
                // A bit that rises sets its pending bit where the line is not masked.
                SWIER => {
                    self.event(new & !self.software, context);
                    self.pending |= new & !self.software & self.mask;
                    self.software |= new;
                }
                // Ones clear, SWIER's too.
                PR => {
                    self.pending &= !new;
                    self.software &= !new;
                }
                _ => {}
            }
        } else {
            let offset = (address - self.syscfg_base) & !3;
            let word = merge(self.syscfg.read(offset).unwrap_or(0));
            self.syscfg.write(offset, word).map_err(|what| context.fault(&self.name, address, what))?;
            self.show_syscfg(context);
        }
        // A line that goes to another pin, or is looked at from now on, has no edge by that.
        self.levels = self.look(context);
        self.signal(context);
        Ok(())
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.on_inputs_changed(context),
            Event::TriggerRose { number, .. } => {
                let line = number.checked_sub(FIRST_LINE_TRIGGER).map_or(0, |line| 1 << line);
                let edges = line & self.rising & self.inner();
                self.event(edges, context);
                self.pending |= edges;
                self.signal(context);
            }
            _ => {}
        }
    }

    /// The bus resets SYSCFG or AFIO alone: EXTI has no bit for that.
    fn reset_block(&mut self, _base: u32, context: &mut Context<'_, '_>) {
        self.syscfg.reset();
        self.show_syscfg(context);
        self.levels = self.look(context);
    }

    fn reset(&mut self) {
        self.mask = self.internal;
        self.event_mask = 0;
        self.rising = 0;
        self.falling = 0;
        self.pending = 0;
        self.software = 0;
        self.syscfg.reset();
        self.levels = 0;
    }
}
