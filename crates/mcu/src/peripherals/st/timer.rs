//! The timers of the STM32: counting up, down and both ways, auto-reload and compare registers with preload, one-pulse mode, repetition
//! counter, update and compare flags with their interrupts.
//!
//! RM0090 sections 17.4 (TIM1, TIM8), 18.4 (TIM2 to TIM5), 19.4 and 19.5 (TIM9 to TIM14), 20.4 (TIM6, TIM7); the other families' are the
//! same as far as they are modelled. The outputs' settings are kept, the pins do not follow them, but triggers for other peripherals and
//! requests of DMA for updates and matches go out. Capture, slave modes, DMA bursts, the break input and the lock of BDTR are not modelled.
//!
//! The timer's clock is the bus's, or twice that where the bus is slower than the core (RM0090, section 7.2, and the clock trees of the
//! others); RCC_DCKCFGR.TIMPRE is taken to be zero.

mod counter;

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, TransferRequest};
use counter::{Counter, Event};
use std::ops::Range;

/// CR1; CEN, UDIS, OPM, DIR, CMS are the counter's.
const URS: u32 = 1 << 2;
const ARPE: u32 = 1 << 7;
const CKD: u32 = 3 << 8;
/// CR2.CCPC.
const CCPC: u32 = 1;
/// SMCR: SMS (with SMS[3] of the STM32F7) and ECE.
const SLAVE: u32 = 1 << 16 | 1 << 14 | 7;
/// CR2.CCDS: requests of the channels come with the update; CR2.MMS: what goes out as trigger.
const CCDS: u32 = 1 << 3;
const MMS: u32 = 7 << 4;
/// DIER: the requests of DMA are so far above the interrupts.
const DMA_ENABLES: u32 = 8;
/// SR.UIF; DIER.UIE and EGR.UG are at the same place, those of the channels behind them.
const UIF: u32 = 1;
/// SR, EGR: commutation, trigger, break.
const OTHERS: u32 = 7 << 5;
const BIF: u32 = 1 << 7;
/// BDTR.
const LOCK: u32 = 3 << 8;
const MOE: u32 = 1 << 15;

/// The timer.
#[derive(Clone)]
pub struct Timer {
    name: String,
    base: u32,
    irq: Option<u8>,
    /// The interrupt of the channels where it is one of its own: TIM1, TIM8.
    compare_irq: Option<u8>,
    channels: usize,
    repeats: bool,
    counter: Counter,
    control: u32,
    control2: u32,
    slave: u32,
    enables: u32,
    /// CCMR1, CCMR2.
    modes: [u32; 2],
    /// CCER.
    outputs: u32,
    /// BDTR.
    breaks: u32,
    /// Its number, which is that of its trigger.
    number: u8,
    /// The requests of DMA of updates and the channels.
    transfers: [TransferRequest; 5],
    /// The interrupts that it asks for now: of two timers at one vector, one must not take back what the other asks for.
    requested: u128,
}

impl Timer {
    /// The timer at `spec.base`, interrupting with `spec.irq`, of `settings.bits` (16 where absent) and `settings.channels` (4 where
    /// absent); `settings.compare_irq` is for the channels, `settings.repetition = 1` where it has RCR and BDTR.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(spec: &PeripheralSpec) -> Result<Timer, String> {
        let setting = |name: &str| spec.settings.get(name).copied();
        let channels = setting("channels").unwrap_or(4);
        let compare_irq = setting("compare_irq").map(u8::try_from).transpose();
        let compare_irq = compare_irq.ok().filter(|irq| irq.is_none_or(|irq| irq < 128));
        Ok(Timer {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            compare_irq: compare_irq.ok_or_else(|| format!("{}: no such compare_irq", spec.name))?,
            channels: usize::try_from(channels)
                .ok()
                .filter(|channels| *channels <= 4)
                .ok_or_else(|| format!("{}: {channels} channels", spec.name))?,
            repeats: setting("repetition") == Some(1),
            counter: Counter::new(if setting("bits") == Some(32) { u32::MAX } else { 0xffff }),
            control: 0,
            control2: 0,
            slave: 0,
            enables: 0,
            modes: [0; 2],
            outputs: 0,
            breaks: 0,
            number: spec.name.trim_start_matches("TIM").parse().unwrap_or_default(),
            transfers: [
                TransferRequest::new(spec, "dma_up")?,
                TransferRequest::new(spec, "dma_c1")?,
                TransferRequest::new(spec, "dma_c2")?,
                TransferRequest::new(spec, "dma_c3")?,
                TransferRequest::new(spec, "dma_c4")?,
            ],
            requested: 0,
        })
    }

    /// SR and DIER: the flags of the channels that it has.
    fn channel_flags(&self) -> u32 {
        ((1 << self.channels) - 1) << 1
    }

    /// Which channels' compare registers are preloaded: OCxPE.
    fn preloaded(&self) -> [bool; 4] {
        std::array::from_fn(|channel| self.modes[channel / 2] >> (channel % 2 * 8 + 3) & 1 == 1)
    }

    fn settle(&mut self, now: u64) {
        let channels = self.channel_flags();
        self.counter.settle(now, channels);
    }

    /// MMS: 0 to 3 are reset, enable, update and a match of channel 1; 4 to 7 the references of the channels.
    fn master_mode(&self) -> usize {
        ((self.control2 & MMS) >> 4) as usize
    }

    /// Which events somebody beside the program may want: see [`Counter::watched`].
    fn watch(&mut self) {
        let transfers = self.enables >> DMA_ENABLES;
        let trigger = match self.master_mode() {
            0 | 1 => 0,
            2 => UIF,
            3 => 2,
            reference => 2 << (reference - 4),
        };
        self.counter.watched = (transfers | trigger) & (UIF | self.channel_flags());
    }

    /// Passes on what came about: triggers and requests of DMA.
    fn pass_on(&mut self, context: &mut Context<'_, '_>) {
        if self.counter.events.is_empty() {
            return;
        }
        let mut events = std::mem::take(&mut self.counter.events);
        events.sort_by_key(|(at, _)| *at);
        for (at, event) in events.drain(..) {
            let mode = self.master_mode();
            let triggers = match event {
                Event::Update => mode == 2,
                Event::Compare(channel) => mode == 3 && channel == 0,
                Event::Reference(channel, high) => high && mode == channel + 4,
            };
            if triggers {
                context.events.trigger(self.number, at);
            }
            let request = match event {
                Event::Update => Some(0),
                Event::Compare(channel) => Some(channel + 1),
                Event::Reference(..) => None,
            };
            if let Some(index) = request.filter(|index| self.enables >> DMA_ENABLES >> index & 1 == 1) {
                self.transfers[index].set(true, at, context);
            }
        }
        // Keeps its room.
        self.counter.events = events;
    }

    fn signal(&mut self, context: &mut Context<'_, '_>) {
        self.pass_on(context);
        let wanted = self.counter.status & self.enables;
        let mut requests = 0;
        for (flags, irq) in [(UIF, self.irq), (self.channel_flags(), self.compare_irq.or(self.irq))] {
            if wanted & flags != 0 {
                requests |= irq.map_or(0, |irq| 1u128 << irq);
            }
        }
        *context.requests = *context.requests & !self.requested | requests;
        self.requested = requests;
    }

    fn write_control(&mut self, control: u32, now: u64) -> Result<(), &'static str> {
        let ways = if self.channels == 4 { counter::DIR | counter::CMS } else { 0 };
        let counting = counter::CEN | counter::UDIS | counter::OPM | ways;
        if control & !(counting | URS | ARPE | CKD) != 0 {
            return Err("a bit of TIMx_CR1 that is not modelled, or that this timer does not have");
        }
        self.control = control & (URS | ARPE | CKD);
        self.counter.set_control(control & counting, now);
        Ok(())
    }

    fn generate(&mut self, events: u32, now: u64) {
        self.counter.status |= events & (self.channel_flags() | if self.repeats { OTHERS } else { 0 });
        if events & BIF != 0 && self.repeats {
            self.breaks &= !MOE;
        }
        if events & UIF != 0 {
            self.counter.generate_update(now, self.control & URS == 0);
        }
    }

    /// Where the register at an offset is one of a channel's: its number.
    fn channel(&self, offset: u32) -> Option<usize> {
        let channel = (offset & !3).checked_sub(0x34)? as usize / 4;
        (channel < self.channels).then_some(channel)
    }

    fn register(&self, offset: u32) -> Option<u32> {
        Some(match offset & !3 {
            0x00 => self.control | self.counter.control(),
            0x04 => self.control2,
            0x08 if self.channels >= 2 => self.slave,
            0x0c => self.enables,
            0x10 => self.counter.status,
            0x14 => 0,
            0x18 if self.channels >= 1 => self.modes[0],
            0x1c if self.channels >= 3 => self.modes[1],
            0x20 if self.channels >= 1 => self.outputs,
            0x24 => self.counter.count,
            0x28 => self.counter.prescaler_next,
            0x2c => self.counter.reload_next,
            0x30 if self.repeats => self.counter.repetition_next,
            0x44 if self.repeats => self.breaks,
            register => self.counter.compare_next[self.channel(register)?],
        })
    }

    fn write_register(&mut self, offset: u32, value: u32, now: u64) -> Result<(), &'static str> {
        match offset & !3 {
            0x00 => self.write_control(value, now)?,
            0x04 if value & CCPC != 0 => {
                return Err("preloaded control bits of the channels are not modelled");
            }
            0x04 if value & CCDS != 0 => {
                return Err("requests of DMA with the update (CCDS) are not modelled");
            }
            0x04 => self.control2 = value,
            0x08 if value & SLAVE != 0 => return Err("slave modes and external clocks are not modelled"),
            0x08 => self.slave = value,
            0x0c if value & !((UIF | self.channel_flags()) * (1 | 1 << DMA_ENABLES)) != 0 => {
                return Err("of the timer's interrupts and requests only update and compare are modelled");
            }
            0x0c if (0..5).any(|index| {
                value >> DMA_ENABLES >> index & 1 == 1 && self.transfers[index].lines() == 0
            }) =>
            {
                return Err("a request of DMA that leads nowhere on this part");
            }
            0x0c => self.enables = value,
            // Flags are cleared by writing zero.
            0x10 => self.counter.status &= value,
            0x14 => self.generate(value, now),
            // CCxS: the channel is an input.
            0x18 | 0x1c if value & 0x0303 != 0 => return Err("capture is not modelled"),
            register @ (0x18 | 0x1c) => {
                self.modes[(register as usize - 0x18) / 4] = value;
                for channel in 0..4 {
                    self.counter.modes[channel] = self.modes[channel / 2] >> (channel % 2 * 8 + 4) & 7;
                }
                self.counter.follow_preload(self.control & ARPE != 0, self.preloaded());
            }
            0x20 => self.outputs = value,
            0x24 => self.counter.count = value & self.counter.mask,
            0x28 => self.counter.prescaler_next = value & 0xffff,
            0x2c => self.counter.reload_next = value & self.counter.mask,
            0x30 => self.counter.repetition_next = value & 0xff,
            0x44 if value & LOCK != 0 => return Err("the lock of BDTR is not modelled"),
            0x44 => self.breaks = value,
            register => {
                let channel = self.channel(register).ok_or("register not modelled")?;
                self.counter.compare_next[channel] = value & self.counter.mask;
            }
        }
        self.counter.follow_preload(self.control & ARPE != 0, self.preloaded());
        self.watch();
        self.counter.refresh_references(now);
        Ok(())
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }
}

impl Peripheral for Timer {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + 0x400).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.settle(context.now);
        let offset = address - self.base;
        let word =
            self.register(offset).ok_or_else(|| self.fault(address, context, "register not modelled"))?;
        self.pass_on(context);
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.settle(context.now);
        let offset = address - self.base;
        let old =
            self.register(offset).ok_or_else(|| self.fault(address, context, "register not modelled"))?;
        // Of SR the bytes that are not written keep their flags.
        let old = if offset & !3 == 0x10 { u32::MAX } else { old };
        let value = merged_word(old, offset, size, value);
        let starts = offset & !3 == 0 && value & !self.counter.control() & counter::CEN != 0;
        let resets = offset & !3 == 0x14 && value & UIF != 0;
        self.write_register(offset, value, context.now).map_err(|what| self.fault(address, context, what))?;
        if starts && self.master_mode() == 1 || resets && self.master_mode() == 0 {
            context.events.trigger(self.number, context.now);
        }
        for (index, request) in self.transfers.iter_mut().enumerate() {
            if self.enables >> DMA_ENABLES >> index & 1 == 0 {
                request.set(false, context.now, context);
            }
        }
        self.signal(context);
        Ok(())
    }

    fn set_bus_dividers(&mut self, apb1: u64, apb2: u64, now: u64) {
        self.settle(now);
        let divider = match super::bus::divider(self.base, apb1, apb2) {
            1 => 1,
            divider => divider / 2,
        };
        self.counter.set_clock_divider(divider, now);
    }

    fn due(&self) -> Option<u64> {
        self.counter.due(self.enables)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.settle(context.now);
        self.signal(context);
    }

    fn transfer_lines(&self) -> u128 {
        self.transfers.iter().fold(0, |lines, request| lines | request.lines())
    }

    fn transfer_served(&mut self, lines: u128, _last: bool, context: &mut Context<'_, '_>) {
        for request in self.transfers.iter_mut().filter(|request| request.lines() & lines != 0) {
            request.set(false, context.now, context);
        }
    }

    fn reset(&mut self) {
        self.transfers.iter_mut().for_each(TransferRequest::reset);
        self.counter = Counter::new(self.counter.mask);
        self.control = 0;
        self.control2 = 0;
        self.slave = 0;
        self.enables = 0;
        self.modes = [0; 2];
        self.outputs = 0;
        self.breaks = 0;
        self.requested = 0;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
