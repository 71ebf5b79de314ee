//! The timers of the STM32: counting up, down and both ways, auto-reload and compare registers with
//! preload, one-pulse mode, repetition counter, capture and compare with their interrupts and pins,
//! slave and encoder modes, triggers for other peripherals, requests of DMA.
//!
//! RM0090 sections 17.4 (TIM1, TIM8), 18.4 (TIM2 to TIM5), 19.4 and 19.5 (TIM9 to TIM14), 20.4
//! (TIM6, TIM7); the other families' are the same as far as they are modelled. Refused with a
//! fault: combined modes, DMA bursts, the break input and the lock of BDTR. A trigger
//! that comes of a trigger comes a clock later.
//!
//! The timer's clock is the bus's, or twice that where the bus is slower than the core (RM0090,
//! section 7.2, and the clock trees of the others); RCC_DCKCFGR.TIMPRE is taken to be zero.

mod complementary;
mod counter;
mod inputs;
mod outputs;
mod pins;
mod slave;

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec, TransferRequest};
use complementary::{CCPC, COMIF, Complementary};
use counter::Counter;
use inputs::Inputs;
use pins::Pins;
use slave::{Change, TIF};

/// CR1; CEN, UDIS, OPM, DIR, CMS are the counter's.
const URS: u32 = 1 << 2;
const ARPE: u32 = 1 << 7;
const CKD: u32 = 3 << 8;
/// CR2.CCDS: requests of the channels come with the update; CR2.TI1S.
const CCDS: u32 = 1 << 3;
const TI1S: u32 = 1 << 7;
/// CCMRx of an output: OCxCE, and OCxM[3] of newer timers.
const OCCE: u32 = 1 << 7;
const OCM_3: u32 = 1 << 16;
/// DIER: the requests of DMA are so far above the interrupts.
const DMA_ENABLES: u32 = 8;
/// SR.UIF; DIER.UIE and EGR.UG are at the same place, those of the channels behind them.
const UIF: u32 = 1;
/// SR, EGR: break.
const BIF: u32 = 1 << 7;
/// BDTR; BK2E is the STM32F7's.
const DTG: u32 = 0xff;
const LOCK: u32 = 3 << 8;
const BKE: u32 = 1 << 12 | 1 << 24;
const AOE: u32 = 1 << 14;
const MOE: u32 = 1 << 15;
/// The triggers of the timers have the numbers below this.
const TRIGGERS: u8 = 32;

/// The timer.
#[derive(Clone)]
pub struct Timer {
    name: String,
    base: u32,
    irq: Option<u8>,
    /// The interrupt of the channels where it is one of its own: TIM1, TIM8.
    compare_irq: Option<u8>,
    /// The same of the trigger.
    trigger_irq: Option<u8>,
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
    complementary: Complementary,
    /// BDTR.
    breaks: u32,
    /// Its number, which is that of its trigger.
    number: u8,
    /// Timers whose triggers ITR0 to ITR3 are.
    internal: [Option<u8>; 4],
    /// The triggers of timers that are there now, a bit each.
    trigger_levels: u32,
    pins: Pins,
    inputs: Inputs,
    /// Edges since the last that came through: of the capture prescalers, of ETPS.
    capture_edges: [u32; 4],
    external_edges: u32,
    /// Its trigger, where that has a level.
    trigger: bool,
    /// Cycles at which a trigger began the counter anew.
    resets: Vec<u64>,
    /// Changes of its trigger that come of another trigger, a clock later.
    late: Vec<(bool, u64)>,
    is_triggered: bool,
    /// The requests of DMA of updates and the channels.
    transfers: [TransferRequest; 5],
    /// The interrupts that it asks for now: of two timers at one vector, one must not take back
    /// what the other asks for.
    requested: u128,
}

impl Timer {
    /// The timer at `spec.base`, interrupting with `spec.irq`, of `settings.bits` (16 where absent)
    /// and `settings.channels` (4 where absent); `settings.compare_irq` is for the channels,
    /// `settings.trigger_irq` for the trigger, `settings.repetition = 1` where it has RCR and BDTR;
    /// `settings.itr0` to `itr3` are the numbers of the timers whose triggers these are.
    /// `spec.pins`: see [`Pins::new`].
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(spec: &PeripheralSpec) -> Result<Timer, String> {
        let setting = |name: &str| spec.settings.get(name).copied();
        let channels = setting("channels").unwrap_or(4);
        let small = |name: &str, limit: u8| {
            let value = setting(name).map(u8::try_from).transpose();
            let value = value.ok().filter(|value| value.is_none_or(|value| value < limit));
            value.ok_or_else(|| format!("{}: no such {name}", spec.name))
        };
        Ok(Timer {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            compare_irq: small("compare_irq", 128)?,
            trigger_irq: small("trigger_irq", 128)?,
            internal: [
                small("itr0", TRIGGERS)?,
                small("itr1", TRIGGERS)?,
                small("itr2", TRIGGERS)?,
                small("itr3", TRIGGERS)?,
            ],
            trigger_levels: 0,
            pins: Pins::new(spec)?,
            inputs: Inputs::default(),
            capture_edges: [0; 4],
            external_edges: 0,
            trigger: false,
            resets: Vec::new(),
            late: Vec::new(),
            is_triggered: false,
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
            complementary: Complementary::default(),
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

    /// The bits of DIER that are modelled.
    fn modelled_enables(&self) -> u32 {
        let commutation = if self.repeats { COMIF } else { 0 };
        (UIF | self.channel_flags()) * (1 | 1 << DMA_ENABLES) | TIF | commutation
    }

    /// Those of the channels that are outputs.
    fn output_flags(&self) -> u32 {
        let outputs = (0..self.channels).filter(|channel| self.selection(*channel) == 0);
        outputs.fold(0, |flags, channel| flags | 2 << channel)
    }

    /// The channels whose compare registers are preloaded: OCxPE.
    fn preloaded(&self) -> [bool; 4] {
        std::array::from_fn(|channel| self.modes[channel / 2] >> (channel % 2 * 8 + 3) & 1 == 1)
    }

    fn settle(&mut self, now: u64) {
        let channels = self.output_flags();
        self.counter.settle(now, channels);
    }

    /// Time passes up to `now`, with the edges that come through the inputs' filters.
    fn advance(&mut self, now: u64) {
        while let Some((at, index, level)) = self.inputs.edge(now) {
            self.settle(at);
            self.edge(index, level, at);
        }
        self.settle(now);
    }

    fn signal(&mut self, context: &mut Context<'_, '_>) {
        self.pass_on(context);
        self.drive_commutated(context);
        let wanted = self.counter.status & self.enables;
        let mut requests = 0;
        let compare_irq = self.compare_irq.or(self.irq);
        let trigger_irq = self.trigger_irq.or(self.irq);
        for (flags, irq) in [(UIF, self.irq), (self.channel_flags(), compare_irq), (TIF | COMIF, trigger_irq)]
        {
            if wanted & flags != 0 {
                requests |= irq.map_or(0, |irq| 1u128 << irq);
            }
        }
        // Some timers share a vector with another, or with the DAC.
        let mut changed = self.requested ^ requests;
        while changed != 0 {
            let irq = changed.trailing_zeros() as u8;
            context.share_request(irq, self.base, requests >> irq & 1 == 1);
            changed &= changed - 1;
        }
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
        for channel in (0..self.channels).filter(|channel| events >> (channel + 1) & 1 == 1) {
            match self.selection(channel) {
                0 => self.counter.status |= 2 << channel,
                _ => self.capture_now(channel, now),
            }
        }
        let trigger = if self.channels >= 2 { TIF } else { 0 };
        self.counter.status |= events & (trigger | if self.repeats { BIF } else { 0 });
        if events & COMIF != 0 && self.repeats {
            self.commutate(now);
        }
        if events & BIF != 0 && self.repeats {
            self.breaks &= !MOE;
        }
        if events & UIF != 0 {
            self.counter.generate_update(now, self.control & URS == 0);
            if self.is_output_awaited() && self.counter.control() & counter::UDIS == 0 {
                self.breaks |= MOE;
            }
        }
    }

    /// Number of the channel whose register is at an offset, if it is one's.
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

    /// True where another timer of the series has a register at an offset, and this one has none:
    /// it reads as zero, and only zero may be written. DCR and OR are among them, which no timer
    /// has here (RM0090, register maps of sections 17 to 20).
    fn is_absent(&self, offset: u32) -> bool {
        let elsewhere = matches!(offset & !3, 0x08 | 0x18..=0x20 | 0x30..=0x48 | 0x50);
        elsewhere && self.register(offset).is_none()
    }

    fn write_register(&mut self, offset: u32, value: u32, now: u64) -> Result<(), &'static str> {
        match offset & !3 {
            0x00 => self.write_control(value, now)?,
            0x04 if value & CCPC != 0 && !self.repeats => {
                return Err("preloaded control bits (CCPC), which this timer does not have");
            }
            0x04 if value & CCDS != 0 => {
                return Err("requests of DMA with the update (CCDS) are not modelled");
            }
            0x04 => self.control2 = value,
            0x08 => {
                self.check_slave(value)?;
                self.slave = value;
            }
            0x0c if value & !self.modelled_enables() != 0 => {
                return Err(
                    "of the timer's interrupts all but the break's are modelled, of its requests those of update, capture and compare",
                );
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
            register @ (0x18 | 0x1c) => self.write_modes((register as usize - 0x18) / 4, value)?,
            0x20 => {
                self.outputs = value;
                // A capture that is switched off begins its prescaler anew.
                for channel in (0..4).filter(|channel| value >> (4 * channel) & 1 == 0) {
                    self.capture_edges[channel] = 0;
                }
            }
            0x24 => self.counter.count = value & self.counter.mask,
            0x28 => self.counter.prescaler_next = value & 0xffff,
            0x2c => self.counter.reload_next = value & self.counter.mask,
            0x30 => self.counter.repetition_next = value & 0xff,
            0x44 if value & LOCK != 0 => return Err("the lock of BDTR is not modelled"),
            0x44 if value & BKE != 0 => {
                return Err("the break inputs (BDTR: BKE, BK2E) are not modelled");
            }
            0x44 => self.breaks = value,
            register => {
                let channel = self.channel(register).ok_or("register not modelled")?;
                // A captured value cannot be written.
                if self.selection(channel) == 0 {
                    self.counter.compare_next[channel] = value & self.counter.mask;
                }
            }
        }
        self.follow_controls(false);
        self.counter.follow_preload(self.control & ARPE != 0, self.preloaded());
        self.watch();
        self.counter.refresh_references(now);
        Ok(())
    }

    /// CCMR1, CCMR2.
    fn write_modes(&mut self, index: usize, value: u32) -> Result<(), &'static str> {
        let outputs = [0, 8].into_iter().filter(|shift| value >> shift & 3 == 0);
        if outputs.fold(0, |refused, shift| refused | (OCCE | OCM_3) << shift) & value != 0 {
            return Err(
                "outputs that ETRF clears (OCxCE) and the modes beyond PWM mode 2 (OCxM[3]) are not modelled",
            );
        }
        self.modes[index] = value;
        Ok(())
    }

    fn on_inputs_changed(&mut self, context: &mut Context<'_, '_>) {
        let moved = self.pins.look(context.board);
        if moved {
            self.advance(context.now);
            self.pass_on(context);
            self.watch();
            self.drive(context.now, context);
        }
        if self.inputs.used != 0 {
            self.advance(context.now);
            self.look_at_inputs(context.board, context.now);
            self.tick(context);
        }
    }
}

impl Peripheral for Timer {
    fn spec(&self) -> Spec {
        Spec {
            dma_lines: self.transfers.iter().fold(0, |lines, request| lines | request.lines()),
            follows_triggers: true,
            follows_inputs: true,
            ..Spec::new(&self.name, self.base..self.base + 0x400)
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now);
        let offset = address - self.base;
        let word = self.register(offset).or(self.is_absent(offset).then_some(0));
        let word = word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?;
        self.pass_on(context);
        // Reading what was captured clears its flag.
        if let Some(channel) = self.channel(offset).filter(|channel| self.selection(*channel) != 0) {
            self.counter.status &= !(2 << channel);
            self.signal(context);
        }
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context.now);
        let offset = address - self.base;
        if value == 0 && self.is_absent(offset) {
            return Ok(());
        }
        let old = self
            .register(offset)
            .ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?;
        // Of SR the bytes that are not written keep their flags.
        let old = if offset & !3 == 0x10 { u32::MAX } else { old };
        let value = merged_word(old, offset, size, value);
        let resets = offset & !3 == 0x14 && value & UIF != 0;
        self.pass_on(context);
        self.write_register(offset, value, context.now)
            .map_err(|what| context.fault(&self.name, address, what))?;
        if resets && self.master_mode() == 0 {
            self.send_pulse(context.now, context);
        }
        if matches!(offset & !3, 0x04 | 0x08 | 0x18 | 0x1c | 0x20) {
            self.listen(context.board, context.now);
        }
        self.pass_on(context);
        self.drive(context.now, context);
        self.set_trigger(self.master_level(), context.now, context);
        for (index, request) in self.transfers.iter_mut().enumerate() {
            if self.enables >> DMA_ENABLES >> index & 1 == 0 {
                request.set(false, context.now, context);
            }
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let counter = self.counter.due(self.enables & (UIF | self.output_flags()));
        let late = self.late.iter().map(|(_, at)| *at).min();
        [counter, self.inputs.due(), late, self.complementary.due()].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.send_late(context);
        self.advance(context.now);
        self.signal(context);
        self.set_trigger(self.master_level(), context.now, context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.on_inputs_changed(context),
            Event::DmaAcknowledged { lines, .. } => {
                for request in self.transfers.iter_mut().filter(|request| request.lines() & lines != 0) {
                    request.set(false, context.now, context);
                }
            }
            Event::TriggerRose { number, at } => self.follow_trigger(number, Change::Rise, at, context),
            Event::TriggerFell { number, at } => self.follow_trigger(number, Change::Fall, at, context),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Buses { apb1, apb2 } = update {
            self.settle(now);
            let divider = match super::bus::divider(self.base, apb1, apb2) {
                1 => 1,
                divider => divider / 2,
            };
            self.counter.set_clock_divider(divider, now);
        }
    }

    fn reset_block(&mut self, _base: u32, context: &mut Context<'_, '_>) {
        let levels = self.trigger_levels;
        self.complementary = Complementary::default();
        self.drive(context.now, context);
        self.set_trigger(false, context.now, context);
        self.reset();
        self.trigger_levels = levels;
    }

    fn delay(&mut self, cycles: u64) {
        self.counter.delay(cycles);
        self.inputs.delay(cycles);
        self.complementary.delay(cycles);
        self.late.iter_mut().for_each(|(_, at)| *at += cycles);
    }

    fn reset(&mut self) {
        self.trigger_levels = 0;
        self.pins.reset();
        self.inputs = Inputs::default();
        self.capture_edges = [0; 4];
        self.external_edges = 0;
        self.trigger = false;
        self.resets.clear();
        self.late.clear();
        self.transfers.iter_mut().for_each(TransferRequest::reset);
        self.counter = Counter::new(self.counter.mask);
        self.control = 0;
        self.control2 = 0;
        self.slave = 0;
        self.enables = 0;
        self.modes = [0; 2];
        self.outputs = 0;
        self.complementary = Complementary::default();
        self.breaks = 0;
        self.requested = 0;
    }
}
