//! The DMA controller: twelve channels that share one read and one write port. Section 2.5.
//!
//! Each cycle one read and one write can be made. A sequence of RAM takes a cycle a transfer, one
//! at an APB peripheral as long as its bridge takes (section 2.1.3). Channels that have a request
//! are served round robin, a single one of low priority after all of high priority. A request is
//! looked at before each transfer, so that a FIFO neither overflows nor underflows. A transfer
//! comes about between two instructions of the core, when its write is done. Estimates: the first
//! read begins in the cycle after a trigger, and a pacing timer begins with the write of its
//! register. The waits of reads of flash for the XIP cache are left out. Refused: requests of
//! blocks that make none here (PWM, XIP), addresses of SIO and of the core's own registers, a
//! trigger with TRANS_COUNT 0, and CHx_DBG_CTDREQ.

mod channel;
mod sniffer;

use super::interrupts::Interrupts;
use super::{BLOCK, Write, register};
use crate::peripherals::register::part_of_word;
use crate::{
    Accessed, BusAccess, Context, DmaController, Event, Events, Fault, Peripheral, PeripheralSpec, Roles,
    Spec,
};
use channel::{Channel, READ_ERROR, WRITE_ERROR};
use sniffer::Sniffer;

const CHANNELS: usize = 12;
/// A bit for each channel.
const ALL: u32 = (1 << CHANNELS) - 1;
/// Bytes of a channel's registers, in four orders of which the last register of each starts it.
const CHANNEL: u32 = 0x40;
const CHANNELS_END: u32 = CHANNELS as u32 * CHANNEL;

const INTR: u32 = 0x400;
/// INTE0, INTF0 and INTS0; those of the other interrupt are `SECOND` bytes behind.
const INTE: u32 = 0x404;
const INTF: u32 = 0x408;
const INTS: u32 = 0x40c;
const SECOND: u32 = 0x10;
const TIMER0: u32 = 0x420;
const TIMER3: u32 = 0x42c;
const MULTI_CHAN_TRIGGER: u32 = 0x430;
const SNIFF_CTRL: u32 = 0x434;
const SNIFF_DATA: u32 = 0x438;
const FIFO_LEVELS: u32 = 0x440;
const CHAN_ABORT: u32 = 0x444;
const N_CHANNELS: u32 = 0x448;
/// CH0_DBG_CTDREQ, before CH0_DBG_TCR; each channel's are `CHANNEL` bytes behind.
const DEBUG: u32 = 0x800;
const DEBUG_END: u32 = DEBUG + CHANNELS_END;
const DBG_TCR: u32 = 4;

/// TREQ_SEL: the timers, and no pacing.
const TREQ_TIMER0: u32 = 0x3b;
const TREQ_TIMER3: u32 = 0x3e;
const PERMANENT: u32 = 0x3f;
/// The requests of blocks that make them here: PIO, SPI, UART, I2C, ADC (table 120).
const KNOWN_REQUESTS: u64 = 0x1f_00ff_ffff;

/// The first address that the DMA's bus does not reach: SIO, and the core's registers behind it.
const SIO: u32 = 0xd000_0000;
/// Pulses that a pacing timer keeps for a channel (the counter of requests has six bits).
const BACKLOG: u64 = 63;
/// Its bit in RESETS.RESET.
const RESET: u32 = 1 << 2;

/// A channel's registers.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    ReadAddress,
    WriteAddress,
    Count,
    Control,
}

/// The registers of a channel in their four orders.
const ORDER: [[Kind; 4]; 4] = [
    [Kind::ReadAddress, Kind::WriteAddress, Kind::Count, Kind::Control],
    [Kind::Control, Kind::ReadAddress, Kind::WriteAddress, Kind::Count],
    [Kind::Control, Kind::Count, Kind::ReadAddress, Kind::WriteAddress],
    [Kind::Control, Kind::WriteAddress, Kind::Count, Kind::ReadAddress],
];

/// A pacing timer: X / Y pulses a cycle, at most one.
#[derive(Clone, Copy, Default)]
struct Timer {
    value: u32,
    since: u64,
}

impl Timer {
    fn ratio(&self) -> (u64, u64) {
        let (x, y) = (u64::from(self.value >> 16), u64::from(self.value & 0xffff));
        (x.min(y), y)
    }

    /// Pulses up to a cycle.
    fn pulses(&self, now: u64) -> u64 {
        let (x, y) = self.ratio();
        let pulses = u128::from(now.saturating_sub(self.since)) * u128::from(x);
        pulses.checked_div(y.into()).unwrap_or(0) as u64
    }

    /// The cycle of the pulse after `count` others.
    fn cycle_after(&self, pulses: u64) -> Option<u64> {
        let (x, y) = self.ratio();
        let cycles = (u128::from(pulses + 1) * u128::from(y)).div_ceil(u128::from(x.max(1)));
        (x != 0).then_some(self.since + cycles as u64)
    }
}

/// The transfer that comes next: when its read and its write are done.
#[derive(Clone, Copy)]
struct Transfer {
    channel: usize,
    read: u64,
    written: u64,
    /// Its accesses are being made.
    under_way: bool,
}

/// The controller.
#[derive(Clone)]
pub struct Dma {
    name: String,
    base: u32,
    irq: u8,
    held: bool,
    channels: [Channel; CHANNELS],
    /// INTR.
    raised: u32,
    interrupts: [Interrupts; 2],
    timers: [Timer; 4],
    sniffer: Sniffer,
    next: Option<Transfer>,
    /// The cycles from which on the ports are free.
    read_free: u64,
    write_free: u64,
    /// The channel that was served last, and those of high priority since one of low.
    last: usize,
    round: u32,
    /// Refusal of what no access of the program was there for.
    refused: Option<&'static str>,
}

impl Dma {
    /// The registers at `spec.base`; `spec.irq` is DMA_IRQ_0, and DMA_IRQ_1 follows it.
    ///
    /// # Errors
    /// `irq` is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Dma, String> {
        let irq = spec.irq.filter(|irq| *irq < 127);
        Ok(Dma {
            name: spec.name.clone(),
            base: spec.base,
            irq: irq.ok_or_else(|| format!("{}: irq is missing", spec.name))?,
            held: true,
            channels: std::array::from_fn(Channel::new),
            raised: 0,
            interrupts: [Interrupts::new(ALL); 2],
            timers: [Timer::default(); 4],
            sniffer: Sniffer::default(),
            next: None,
            read_free: 0,
            write_free: 0,
            last: CHANNELS - 1,
            round: 0,
            refused: None,
        })
    }

    /// As after a reset.
    fn clear(&mut self) {
        self.channels = std::array::from_fn(Channel::new);
        self.raised = 0;
        self.interrupts = [Interrupts::new(ALL); 2];
        self.timers = [Timer::default(); 4];
        self.sniffer = Sniffer::default();
        self.next = None;
        (self.last, self.round) = (CHANNELS - 1, 0);
        self.refused = None;
    }

    fn read_register(&self, offset: u32) -> Option<u32> {
        if offset < CHANNELS_END {
            let channel = &self.channels[(offset / CHANNEL) as usize];
            let index = (offset % CHANNEL / 4) as usize;
            return Some(match ORDER[index / 4][index % 4] {
                Kind::ReadAddress => channel.read_address,
                Kind::WriteAddress => channel.write_address,
                Kind::Count => channel.left,
                Kind::Control => channel.control(),
            });
        }
        Some(match offset {
            INTR => self.raised,
            INTE..=INTS => self.interrupt(0, offset),
            0x414..=0x41c => self.interrupt(1, offset - SECOND),
            TIMER0..=TIMER3 => self.timers[((offset - TIMER0) / 4) as usize].value,
            SNIFF_CTRL => self.sniffer.control(),
            SNIFF_DATA => self.sniffer.data(),
            MULTI_CHAN_TRIGGER | FIFO_LEVELS | CHAN_ABORT => 0,
            N_CHANNELS => CHANNELS as u32,
            DEBUG..DEBUG_END if offset % CHANNEL == DBG_TCR => {
                self.channels[((offset - DEBUG) / CHANNEL) as usize].reload
            }
            _ => return None,
        })
    }

    /// INTE, INTF or INTS of an interrupt. What is forced needs its enable here.
    fn interrupt(&self, index: usize, offset: u32) -> u32 {
        let interrupts = self.interrupts[index];
        match offset {
            INTS => (self.raised | interrupts.forced()) & interrupts.enabled(),
            _ => interrupts.read(offset - INTE, 0),
        }
    }

    fn write_channel(&mut self, offset: u32, write: Write, now: u64) -> Result<(), &'static str> {
        let number = (offset / CHANNEL) as usize;
        let channel = &mut self.channels[number];
        let index = (offset % CHANNEL / 4) as usize;
        let written = match ORDER[index / 4][index % 4] {
            Kind::ReadAddress => {
                channel.read_address = write.onto(channel.read_address);
                channel.read_address
            }
            Kind::WriteAddress => {
                channel.write_address = write.onto(channel.write_address);
                channel.write_address
            }
            Kind::Count => {
                channel.reload = write.onto(channel.reload);
                channel.reload
            }
            Kind::Control => {
                let control = write.onto(channel.control());
                let before = channel.request();
                channel.set_control(control)?;
                if channel.busy && channel.request() != before {
                    self.pace(number, now)?;
                }
                control
            }
        };
        // The last register of each order triggers the channel, but by a zero (section 2.5.2.3).
        if index % 4 != 3 {
            return Ok(());
        }
        if written == 0 {
            self.raised |= u32::from(self.channels[number].is_quiet()) << number;
            return Ok(());
        }
        self.trigger(number, now)
    }

    /// Starts a channel that is enabled and idle.
    fn trigger(&mut self, number: usize, now: u64) -> Result<(), &'static str> {
        let Some(channel) = self.channels.get_mut(number) else { return Ok(()) };
        if !channel.is_enabled() || channel.busy {
            return Ok(());
        }
        if channel.reload == 0 {
            return Err("a channel that is triggered with TRANS_COUNT 0 is not modelled");
        }
        self.pace(number, now)?;
        let channel = &mut self.channels[number];
        (channel.busy, channel.left) = (true, channel.reload);
        Ok(())
    }

    /// A channel begins to follow its request.
    fn pace(&mut self, number: usize, now: u64) -> Result<(), &'static str> {
        let channel = &mut self.channels[number];
        match channel.request() {
            request @ TREQ_TIMER0..=TREQ_TIMER3 => {
                channel.paced = self.timers[(request - TREQ_TIMER0) as usize].pulses(now);
            }
            PERMANENT => {}
            request if KNOWN_REQUESTS >> request & 1 == 0 => {
                return Err("TREQ_SEL: requests of PWM and of XIP are not modelled");
            }
            _ => {}
        }
        Ok(())
    }

    /// A timer's pulses that a channel did not serve are kept up to a number.
    fn drop_backlog(&mut self, now: u64) {
        for channel in self.channels.iter_mut().filter(|channel| channel.busy) {
            let timer = channel.request().checked_sub(TREQ_TIMER0);
            if let Some(timer) = timer.and_then(|number| self.timers.get(number as usize)) {
                channel.paced = channel.paced.max(timer.pulses(now).saturating_sub(BACKLOG));
            }
        }
    }

    fn write_register(&mut self, offset: u32, write: Write, now: u64) -> Result<(), &'static str> {
        if offset < CHANNELS_END {
            return self.write_channel(offset, write, now);
        }
        let (index, register) =
            if (0x414..=0x41c).contains(&offset) { (1, offset - SECOND) } else { (0, offset) };
        match register {
            // A one clears, by whatever alias it comes.
            INTR | INTS => self.raised &= !write.value,
            N_CHANNELS | FIFO_LEVELS => {}
            INTE | INTF => self.interrupts[index].write(register - INTE, write),
            TIMER0..=TIMER3 => {
                let number = (offset - TIMER0) / 4;
                let timer = &mut self.timers[number as usize];
                *timer = Timer { value: write.onto(timer.value), since: now };
                let paced = self.channels.iter_mut();
                paced.filter(|it| it.request() == TREQ_TIMER0 + number).for_each(|it| it.paced = 0);
            }
            SNIFF_CTRL => self.sniffer.set_control(write.onto(self.sniffer.control()))?,
            SNIFF_DATA => self.sniffer.set_data(write.onto(self.sniffer.data())),
            MULTI_CHAN_TRIGGER => {
                let triggered = write.onto(0);
                for number in (0..CHANNELS).filter(|number| triggered >> number & 1 != 0) {
                    self.trigger(number, now)?;
                }
            }
            CHAN_ABORT => {
                let aborted = write.onto(0);
                for (number, channel) in self.channels.iter_mut().enumerate() {
                    channel.busy &= aborted >> number & 1 == 0;
                }
            }
            DEBUG..DEBUG_END if register % CHANNEL == DBG_TCR => {}
            _ => return Err("a register that is not modelled"),
        }
        Ok(())
    }

    fn request(&mut self, context: &mut Context<'_, '_>) {
        if let Some(what) = self.refused.take() {
            context.stop(&self.name, what);
        }
        for (index, irq) in (self.irq..).take(2).enumerate() {
            if self.interrupt(index, INTS) != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    /// Returns true if a channel has something to transfer and is asked for it.
    fn is_ready(&self, number: usize, now: u64, events: &Events) -> bool {
        let channel = &self.channels[number];
        channel.busy
            && channel.is_enabled()
            && match channel.request() {
                PERMANENT => true,
                request @ TREQ_TIMER0..=TREQ_TIMER3 => {
                    self.timers[(request - TREQ_TIMER0) as usize].pulses(now) > channel.paced
                }
                request => events.transfer_requests() >> request & 1 != 0,
            }
    }

    /// Finds the transfer that comes next, from cycle `now` on.
    fn choose(&mut self, now: u64, events: &Events) {
        if self.next.is_some() {
            return;
        }
        self.drop_backlog(now);
        let ready = (0..CHANNELS).filter(|number| self.is_ready(*number, now, events));
        let ready: u32 = ready.fold(0, |mask, number| mask | 1 << number);
        let high = (0..CHANNELS).filter(|number| self.channels[*number].has_high_priority());
        let high = ready & high.fold(0, |mask, number| mask | 1 << number);
        let first = [high & !self.round, ready & !high, high].into_iter().find(|group| *group != 0);
        let Some(group) = first else { return };
        let mut rotated = (1..=CHANNELS).map(|step| (self.last + step) % CHANNELS);
        let Some(channel) = rotated.find(|number| group >> number & 1 != 0) else { return };
        let Channel { read_address, write_address, .. } = self.channels[channel];
        if read_address.max(write_address) >= SIO {
            self.channels[channel].busy = false;
            self.refused = Some("SIO is not on the bus that DMA reaches");
            return;
        }
        let read = now.max(self.read_free) + cycles(read_address, false);
        let written = read.max(self.write_free) + cycles(write_address, true);
        self.next = Some(Transfer { channel, read, written, under_way: false });
    }

    /// The registers were written: a transfer that was to come may not come.
    fn choose_again(&mut self, now: u64, events: &Events) {
        if self.next.is_none_or(|next| !next.under_way) {
            self.next = self.next.filter(|next| self.is_ready(next.channel, now, events));
            self.choose(now, events);
        }
    }

    /// A sequence ended, or failed.
    fn finish(&mut self, number: usize, failed: bool, now: u64) {
        let channel = self.channels[number];
        if failed || !channel.is_quiet() {
            self.raised |= 1 << number;
        }
        if !failed && channel.chained() != number {
            let triggered = self.trigger(channel.chained(), now);
            self.refused = self.refused.or(triggered.err());
        }
    }

    fn on_bus_accessed(&mut self, access: &BusAccess, accessed: Accessed, context: &mut Context<'_, '_>) {
        let Some(Transfer { channel: number, read, written, .. }) = self.next else { return };
        let channel = &mut self.channels[number];
        match (access.value, accessed.value) {
            (None, Some(value)) => {
                let (value, size) = (channel.swapped(value), channel.size());
                if channel.is_sniffed() && self.sniffer.observes(number) {
                    self.sniffer.pass(value, size);
                }
                let address = channel.write_address;
                let last = channel.left == 1;
                let access = BusAccess { controller: 1, address, size, value: Some(value), serves: 0, last };
                context.events.access(access);
                self.read_free = read + accessed.waited;
                return;
            }
            (Some(_), Some(_)) => {
                if matches!(channel.request(), TREQ_TIMER0..=TREQ_TIMER3) {
                    channel.paced += 1;
                }
                if channel.transferred() {
                    self.finish(number, false, written);
                }
            }
            (value, None) => {
                channel.failed(if value.is_some() { WRITE_ERROR } else { READ_ERROR });
                self.finish(number, true, written);
            }
        }
        self.write_free = written + accessed.waited;
        self.last = number;
        let high = self.channels[number].has_high_priority();
        self.round = if high { self.round | 1 << number } else { 0 };
        self.next = None;
        self.choose(self.read_free, context.events);
        self.request(context);
    }
}

/// Cycles of an access: of a bridge's peripheral as its bridge takes (section 2.1.3), else one.
fn cycles(address: u32, write: bool) -> u64 {
    match address {
        0x1800_0000..0x1800_4000 | 0x4000_0000..0x5000_0000 => 3 + u64::from(write),
        _ => 1,
    }
}

impl Peripheral for Dma {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + BLOCK)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = self.read_register(register(address));
        let word =
            word.ok_or_else(|| context.fault(&self.name, address, "a register that is not modelled"))?;
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if self.held {
            return super::written_in_reset(&self.name, address, context);
        }
        let write = Write::new(address, size, value);
        let written = self.write_register(register(address), write, context.now);
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.choose_again(context.now + 1, context.events);
        self.request(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        if let Some(next) = self.next {
            return (!next.under_way).then_some(next.written);
        }
        let paced = self.channels.iter().filter(|channel| channel.busy && channel.is_enabled());
        let pulses = paced.filter_map(|channel| {
            let number = channel.request().checked_sub(TREQ_TIMER0)?;
            self.timers.get(number as usize)?.cycle_after(channel.paced)
        });
        pulses.min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        if self.next.is_none() {
            self.choose(context.now, context.events);
            self.request(context);
        }
        let Some(next) = &mut self.next else { return };
        if next.under_way || next.written > context.now {
            return;
        }
        next.under_way = true;
        let channel = &self.channels[next.channel];
        let (address, size) = (channel.read_address, channel.size());
        context.events.access(BusAccess {
            controller: 1,
            address,
            size,
            value: None,
            serves: 0,
            last: false,
        });
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::ControlsChanged => {
                self.held = context.events.held & RESET != 0;
                if self.held {
                    self.clear();
                    self.request(context);
                }
            }
            Event::DmaRequestsChanged { at } => {
                self.choose_again(at, context.events);
                self.request(context);
            }
            Event::BusAccessed { access, accessed } => self.on_bus_accessed(access, accessed, context),
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.held = true;
        self.clear();
        (self.read_free, self.write_free) = (0, 0);
    }

    fn roles(&self) -> Roles<'_> {
        Roles { dma_controller: Some(self), ..Roles::default() }
    }
}

impl DmaController for Dma {
    fn has_data(&self) -> bool {
        self.channels.iter().any(|channel| channel.busy && channel.is_enabled())
    }
}
