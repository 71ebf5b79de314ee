//! The registers of the DMA controller. Section 2.5.7.
//!
//! Programs set up interrupts and channels at their start, whether or not they move data. Channels
//! keep what is written; what would start one is refused. Its two interrupts come where a program
//! forces them (INTF).

use super::{BLOCK, Write, register};
use crate::peripherals::register::part_of_word;
use crate::{Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

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

/// CTRL: what can be written, the channel's own number in CHAIN_TO after a reset, EN.
const CTRL_MASK: u32 = 0x00ff_ffff;
const CHAIN_TO: u32 = 11;
const EN: u32 = 1;
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

#[derive(Clone, Copy, Default)]
struct Channel {
    read_address: u32,
    write_address: u32,
    control: u32,
}

/// The controller.
#[derive(Clone)]
pub struct Dma {
    name: String,
    base: u32,
    irq: u8,
    held: bool,
    channels: [Channel; CHANNELS],
    enabled: [u32; 2],
    forced: [u32; 2],
    timers: [u32; 4],
    sniffer: [u32; 2],
}

impl Dma {
    /// The registers at `spec.base`; `spec.irq` is DMA_IRQ_0, and DMA_IRQ_1 follows it.
    ///
    /// # Errors
    /// `irq` is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Dma, String> {
        let irq = spec.irq.ok_or_else(|| format!("{}: irq is missing", spec.name))?;
        let mut dma = Dma {
            name: spec.name.clone(),
            base: spec.base,
            irq,
            held: true,
            channels: [Channel::default(); CHANNELS],
            enabled: [0; 2],
            forced: [0; 2],
            timers: [0; 4],
            sniffer: [0; 2],
        };
        dma.clear();
        Ok(dma)
    }

    /// As after a reset.
    fn clear(&mut self) {
        for (number, channel) in (0..).zip(&mut self.channels) {
            *channel = Channel { control: number << CHAIN_TO, ..Channel::default() };
        }
        self.enabled = [0; 2];
        self.forced = [0; 2];
        self.timers = [0; 4];
        self.sniffer = [0; 2];
    }

    fn read_register(&self, offset: u32) -> Option<u32> {
        if offset < CHANNELS_END {
            let channel = &self.channels[(offset / CHANNEL) as usize];
            let index = (offset % CHANNEL / 4) as usize;
            return Some(match ORDER[index / 4][index % 4] {
                Kind::ReadAddress => channel.read_address,
                Kind::WriteAddress => channel.write_address,
                // The transfers that are left of those under way: the reload value cannot be read.
                Kind::Count => 0,
                Kind::Control => channel.control,
            });
        }
        Some(match offset {
            INTR => 0,
            INTE..=INTS => self.interrupt(0, offset),
            0x414..=0x41c => self.interrupt(1, offset - SECOND),
            TIMER0..=TIMER3 => self.timers[((offset - TIMER0) / 4) as usize],
            SNIFF_CTRL | SNIFF_DATA => self.sniffer[((offset - SNIFF_CTRL) / 4) as usize],
            MULTI_CHAN_TRIGGER | FIFO_LEVELS | CHAN_ABORT => 0,
            N_CHANNELS => CHANNELS as u32,
            _ => return None,
        })
    }

    fn interrupt(&self, index: usize, offset: u32) -> u32 {
        match offset {
            INTE => self.enabled[index],
            INTF => self.forced[index],
            _ => self.forced[index] & self.enabled[index],
        }
    }

    fn write_channel(&mut self, offset: u32, write: Write) -> Result<(), &'static str> {
        let channel = &mut self.channels[(offset / CHANNEL) as usize];
        let index = (offset % CHANNEL / 4) as usize;
        let mut written = write.value;
        match ORDER[index / 4][index % 4] {
            Kind::ReadAddress => channel.read_address = write.onto(channel.read_address),
            Kind::WriteAddress => channel.write_address = write.onto(channel.write_address),
            Kind::Count => {}
            Kind::Control => {
                channel.control = write.onto(channel.control) & CTRL_MASK;
                written = channel.control;
            }
        }
        // The last register of each order triggers the channel, but by a zero.
        if index % 4 == 3 && written != 0 && channel.control & EN != 0 {
            return Err("the transfers of its channels are not modelled");
        }
        Ok(())
    }

    fn write_register(&mut self, offset: u32, write: Write) -> Result<(), &'static str> {
        if offset < CHANNELS_END {
            return self.write_channel(offset, write);
        }
        let (index, register) =
            if (0x414..=0x41c).contains(&offset) { (1, offset - SECOND) } else { (0, offset) };
        match register {
            // No channel has ended or is under way.
            INTR | INTS | CHAN_ABORT | N_CHANNELS | FIFO_LEVELS => {}
            INTE => self.enabled[index] = write.onto(self.enabled[index]) & ALL,
            INTF => self.forced[index] = write.onto(self.forced[index]) & ALL,
            TIMER0..=TIMER3 => {
                let timer = &mut self.timers[((offset - TIMER0) / 4) as usize];
                *timer = write.onto(*timer);
            }
            SNIFF_CTRL | SNIFF_DATA => {
                let sniffer = &mut self.sniffer[((offset - SNIFF_CTRL) / 4) as usize];
                *sniffer = write.onto(*sniffer);
            }
            MULTI_CHAN_TRIGGER if write.onto(0) & ALL == 0 => {}
            MULTI_CHAN_TRIGGER => return Err("the transfers of its channels are not modelled"),
            _ => return Err("a register that is not modelled"),
        }
        Ok(())
    }

    fn request(&self, context: &mut Context<'_, '_>) {
        for (irq, (enabled, forced)) in (self.irq..).zip(self.enabled.iter().zip(&self.forced)) {
            if enabled & forced != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
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
        let written = self.write_register(register(address), Write::new(address, size, value));
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.request(context);
        Ok(())
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.held = context.events.held & RESET != 0;
            if self.held {
                self.clear();
                self.request(context);
            }
        }
    }

    fn reset(&mut self) {
        self.held = true;
        self.clear();
    }
}
