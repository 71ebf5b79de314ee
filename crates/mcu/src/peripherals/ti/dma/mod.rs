//! The DMA controller of the MSP430F5xx and MSP430FR5xx.
//!
//! Source: SLAU208 and SLAU367, chapters "DMA Controller"; registers and bits compared with TI's
//! headers msp430f5438a.h and msp430fr5994.h. All six transfer modes. A byte or word takes two
//! cycles of MCLK, for which the core stands still; synchronising before a single transfer or a
//! block and waiting after it takes two more ("Maximum Single-Transfer DMA Cycle Time": 4 in active
//! mode). The core is held between two instructions, never within one, as DMARMWDIS has it for
//! some. Triggers are DMAREQ, the flags that the other peripherals' settings `dma_…` lead here
//! ([`Trigger`]), and the flag of the channel before; others are refused by number. There is no NMI
//! that would stop a transfer.

mod channel;
mod trigger;

pub use trigger::Trigger;

use super::word::{Word, part_of};
use crate::{
    Accessed, BusAccess, Context, DmaController, Event, Fault, Part, Peripheral, PeripheralSpec, Roles, Spec,
};
use channel::{BURST, Channel, DMAABORT, DMAIE, DMAIFG, DMALEVEL, DMAREQ, Mode};
use trigger::GROUP;

const DMACTL4: u32 = 0x08;
const DMAIV: u32 = 0x0e;
const CHANNELS: u32 = 0x10;
/// Registers of a channel.
const SIZE: u32 = 0x10;
/// DMACTL4: priorities go round. ENNMI and DMARMWDIS are kept.
const ROUNDROBIN: u32 = 1 << 1;
/// DMAxTSEL: DMAREQ; the flag of the channel before.
const SOFTWARE: u32 = 0;
const CHANNEL_BEFORE: u32 = 30;
/// Cycles of a byte or word; of synchronising and waiting; for which the core has the bus between
/// bursts.
const TRANSFER_CYCLES: u64 = 2;
const OVERHEAD_CYCLES: u64 = 2;
const BETWEEN_BURSTS: u64 = 2;
const MOST_CHANNELS: usize = 6;

/// The controller.
#[derive(Clone)]
pub struct Dma {
    name: String,
    base: u32,
    irq: u8,
    channels: Vec<Channel>,
    /// DMACTL0 and so on, and DMACTL4.
    selections: [u32; MOST_CHANNELS / 2],
    control: u32,
    /// The triggers that modelled peripherals make.
    known: u128,
    wanted: u128,
    /// The channel of the highest priority.
    first: usize,
    /// The channel whose byte or word is under way.
    active: Option<usize>,
    /// From this cycle on the next transfer may begin.
    due: Option<u64>,
    served: bool,
}

impl Dma {
    /// The controller at `spec.base` with `settings.channels` channels; `spec.irq` is its vector.
    ///
    /// # Errors
    /// A number of channels that no part has.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Dma, String> {
        let channels = spec.settings.get("channels").copied().unwrap_or(3);
        if !matches!(channels, 3 | 6) {
            return Err(format!("{}: {channels} channels; there are 3 or 6", spec.name));
        }
        let settings = part.peripherals.iter().flat_map(|spec| &spec.settings);
        let triggers = settings.filter(|(key, _)| key.starts_with("dma_"));
        let known = triggers.filter_map(|(_, number)| 1u128.checked_shl(u32::try_from(*number).ok()?));
        Ok(Dma {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.unwrap_or(0),
            channels: vec![Channel::default(); channels as usize],
            selections: [0; MOST_CHANNELS / 2],
            control: 0,
            known: known.fold(0, |known, line| known | line),
            wanted: 0,
            first: 0,
            active: None,
            due: None,
            served: false,
        })
    }

    /// DMAxTSEL.
    fn selected(&self, number: usize) -> u32 {
        self.selections[number / 2] >> (8 * (number % 2)) & 31
    }

    /// The line that a channel waits for; 0 for none.
    fn line(&self, number: usize) -> u128 {
        match self.selected(number) {
            SOFTWARE | CHANNEL_BEFORE => 0,
            selected => 1 << (number as u32 / 3 * GROUP + selected),
        }
    }

    /// A register of a channel, by their numbers.
    fn channel(&self, offset: u32) -> Option<(usize, u32)> {
        let number = (offset.checked_sub(CHANNELS)? / SIZE) as usize;
        (number < self.channels.len()).then_some((number, offset % SIZE))
    }

    /// Tells the other peripherals which triggers are waited for.
    fn want(&mut self, context: &mut Context<'_, '_>) {
        let on = (0..self.channels.len()).filter(|number| self.channels[*number].on());
        let wanted = on.fold(0, |wanted, number| wanted | self.line(number));
        if wanted != self.wanted {
            self.wanted = wanted;
            context.events.want_transfers(wanted);
        }
    }

    /// Names a trigger for which a channel waits in vain.
    fn refusal(&self) -> Option<String> {
        let waits = |number: &usize| self.channels[*number].on() && self.line(*number) & !self.known != 0;
        let number = (0..self.channels.len()).find(waits)?;
        let selected = self.selected(number);
        Some(format!("DMA{number}TSEL is {selected}, a trigger of something that is not modelled"))
    }

    /// Returns true if a channel has data to move.
    fn waits(&self, number: usize, requests: u128) -> bool {
        let channel = &self.channels[number];
        if !channel.on() || channel.size == 0 {
            return false;
        }
        let line = self.line(number);
        if channel.control & DMALEVEL != 0 && line != 0 {
            return requests & line != 0;
        }
        channel.triggered || channel.running
    }

    /// The channel that comes next.
    fn next(&self, requests: u128) -> Option<usize> {
        let count = self.channels.len();
        // "Transfers in progress are not halted if a higher-priority channel is triggered."
        let running =
            (0..count).find(|number| self.channels[*number].running && self.waits(*number, requests));
        running.or_else(|| {
            (0..count).map(|place| (self.first + place) % count).find(|number| self.waits(*number, requests))
        })
    }

    fn schedule(&mut self, at: u64, context: &Context<'_, '_>) {
        if self.active.is_none() {
            let waits = self.next(context.events.transfer_requests()).is_some();
            self.due = waits.then(|| self.due.unwrap_or(at).max(at));
        }
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let asks = |channel: &Channel| channel.control & (DMAIE | DMAIFG) == DMAIE | DMAIFG;
        if self.channels.iter().any(asks) {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }

    fn take_vector(&mut self) -> u32 {
        let asks = |channel: &Channel| channel.control & (DMAIE | DMAIFG) == DMAIE | DMAIFG;
        let Some(number) = self.channels.iter().position(asks) else { return 0 };
        self.channels[number].control &= !DMAIFG;
        2 * number as u32 + 2
    }

    /// Asks for the read of a channel's next byte or word.
    fn fetch(&mut self, number: usize, context: &mut Context<'_, '_>) {
        let (address, size) = self.channels[number].reads();
        self.active = Some(number);
        self.due = None;
        // The flag is reset "when the transfer starts".
        let serves = self.line(number);
        let access = BusAccess { controller: 1, address, size, value: None, serves, last: false };
        context.events.access(access);
    }

    /// A channel's flag rose, which may start another channel.
    fn chain(&mut self, number: usize) {
        let after = if number % 3 == 2 { number - 2 } else { number + 1 };
        let follows = self.selected(after) == CHANNEL_BEFORE;
        let channel = &mut self.channels[after];
        channel.triggered |= channel.on() && follows;
    }

    /// A byte or word of a channel was written at `context.now`.
    fn transferred(&mut self, number: usize, context: &mut Context<'_, '_>) {
        let set_before = self.channels[number].control & DMAIFG != 0;
        let channel = &mut self.channels[number];
        let last = channel.transferred();
        let mode = channel.mode();
        *context.stall += TRANSFER_CYCLES;
        if last {
            self.want(context);
        }
        if last && !set_before {
            self.chain(number);
        }
        let Channel { burst, running, .. } = self.channels[number];
        let now = context.now + TRANSFER_CYCLES;
        let goes_on = self.waits(number, context.events.transfer_requests());
        if goes_on && (mode == Mode::Block && !last || mode == Mode::BurstBlock && burst % BURST != 0) {
            self.fetch(number, context);
            return;
        }
        if mode == Mode::BurstBlock && (!last || running) {
            self.active = None;
            self.schedule(now + BETWEEN_BURSTS, context);
            return;
        }
        *context.stall += OVERHEAD_CYCLES;
        self.active = None;
        if self.control & ROUNDROBIN != 0 {
            self.first = (number + 1) % self.channels.len();
        }
        self.schedule(now + OVERHEAD_CYCLES, context);
    }

    fn on_bus_accessed(&mut self, access: &BusAccess, accessed: Accessed, context: &mut Context<'_, '_>) {
        let Some(number) = self.active else { return };
        *context.stall += accessed.waited;
        match (access.value, accessed.value) {
            (None, Some(value)) => {
                let (address, size) = self.channels[number].writes();
                let value = value & (0xffff >> (16 - 8 * u32::from(size)));
                let last = self.channels[number].size == 1;
                let access = BusAccess { controller: 1, address, size, value: Some(value), serves: 0, last };
                context.events.access(access);
            }
            _ => self.transferred(number, context),
        }
        self.signal(context);
    }
}

impl Peripheral for Dma {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 1 << self.irq,
            follows_triggers: true,
            ..Spec::new(&self.name, self.base..self.base + CHANNELS + SIZE * self.channels.len() as u32)
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.base) & !1;
        let word = match (self.channel(offset), offset) {
            (Some((number, register)), _) => {
                let channel = &self.channels[number];
                match register {
                    0x0 => channel.control,
                    0x2 => channel.source & 0xffff,
                    0x4 => channel.source >> 16,
                    0x6 => channel.destination & 0xffff,
                    0x8 => channel.destination >> 16,
                    0xa => channel.size,
                    _ => 0,
                }
            }
            (None, DMACTL4) => self.control,
            (None, DMAIV) => self.take_vector(),
            (None, _) => self.selections.get((offset / 2) as usize).copied().unwrap_or(0),
        };
        self.signal(context);
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let write = Word::new(address, size, value);
        let offset = (address - self.base) & !1;
        match (self.channel(offset), offset) {
            (Some((number, register)), _) => {
                let selected = self.selected(number);
                let channel = &mut self.channels[number];
                match register {
                    0x0 => {
                        let control = write.onto(channel.control);
                        channel.write_control(control & !DMAABORT);
                        channel.triggered |= control & DMAREQ != 0 && channel.on() && selected == SOFTWARE;
                    }
                    // A word clears the bits above it.
                    0x2 => channel.source = write.onto(channel.source) & 0xffff,
                    0x4 => channel.source = channel.source & 0xffff | (write.bits & 15) << 16,
                    0x6 => channel.destination = write.onto(channel.destination) & 0xffff,
                    0x8 => channel.destination = channel.destination & 0xffff | (write.bits & 15) << 16,
                    0xa => channel.write_size(write.onto(channel.size)),
                    _ => {}
                }
            }
            (None, DMACTL4) => self.control = write.onto(self.control) & 7,
            (None, DMAIV) => {
                self.take_vector();
            }
            (None, _) => {
                if let Some(selection) = self.selections.get_mut((offset / 2) as usize) {
                    *selection = write.onto(*selection) & 0x1f1f;
                }
            }
        }
        if let Some(what) = self.refusal() {
            return context.refuse(&self.name, address, what);
        }
        self.want(context);
        if self.control & ROUNDROBIN == 0 {
            self.first = 0;
        }
        self.schedule(context.now, context);
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        if self.served { Some(0) } else { self.due }
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        let due = self.active.is_none() && self.due.is_some_and(|due| due <= context.now);
        if due && let Some(number) = self.next(context.events.transfer_requests()) {
            let channel = &mut self.channels[number];
            channel.triggered = false;
            channel.burst = 0;
            channel.running = channel.mode() != Mode::Single;
            self.fetch(number, context);
        } else if due {
            self.due = None;
        }
        self.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            // The flags stay until software or DMAIV clears them.
            Event::InterruptAcknowledged(_) => self.served = true,
            Event::DmaRequestsChanged { at } => self.schedule(at, context),
            Event::BusAccessed { access, accessed } => self.on_bus_accessed(access, accessed, context),
            Event::TriggerRose { number, at } => {
                for channel in 0..self.channels.len() {
                    let hit = self.line(channel) >> number & 1 == 1 && self.channels[channel].on();
                    self.channels[channel].triggered |= hit && self.channels[channel].control & DMALEVEL == 0;
                }
                self.schedule(at, context);
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.channels.iter_mut().for_each(|channel| *channel = Channel::default());
        self.selections = [0; MOST_CHANNELS / 2];
        (self.control, self.wanted, self.first) = (0, 0, 0);
        (self.active, self.due, self.served) = (None, None, false);
    }

    fn roles(&self) -> Roles<'_> {
        Roles { dma_controller: Some(self), ..Roles::default() }
    }
}

impl DmaController for Dma {
    fn has_data(&self) -> bool {
        let moves = |channel: &Channel| channel.on() && channel.size != 0;
        self.due.is_some() || self.wanted != 0 && self.channels.iter().any(moves)
    }
}
