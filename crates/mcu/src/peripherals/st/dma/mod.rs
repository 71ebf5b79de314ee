//! The DMA controllers of the STM32: up to seven channels (STM32F0, F1: RM0008 section 13, RM0041
//! section 9, RM0091 section 10) or eight streams (STM32F4: RM0090 section 10; STM32F7: RM0410
//! section 8), each access an access to the bus. On the STM32L4+ (RM0432 section 11) [`mux`] gives
//! channels their requests.
//!
//! One access at a time and controller: the stream of the highest priority, of these the first,
//! that waits. Times, in cycles of HCLK: arbitration and address 2; memory or AHB 2, APB two cycles
//! of its clock and 1; a channel acknowledges in 1 (AN2548, AN4031: from memory, not yet compared).
//! An access comes about between two instructions of the core, which it does not hold up, nor is it
//! held up by the core: contention is not modelled, nor are bursts in their time. Refused with a
//! fault: the FIFO but for memory to memory, peripherals as flow controllers.

pub mod mux;
mod stream;

use crate::peripherals::register::{merged_word, part_of_word};
use crate::transfer::{line, multiplexed_line};
use crate::{
    Accessed, BusAccess, ClockUpdate, Context, DmaController, Event, Events, Fault, Peripheral,
    PeripheralSpec, Roles, Spec,
};
use stream::{FCR_RESET, HTIF, Layout, Stream, TCIF, TEIF};

/// Streams and channels have the numbers 0 to 7, of which the first is no channel.
const COUNT: usize = 8;

/// The access that comes next, at which cycle.
#[derive(Clone, Copy)]
struct Step {
    stream: usize,
    write: bool,
    at: u64,
}

/// A controller.
#[derive(Clone)]
pub struct Dma {
    name: String,
    base: u32,
    number: u8,
    layout: Layout,
    /// Its channels get their requests from a multiplexer.
    multiplexed: bool,
    /// The number of its last stream or channel.
    last: usize,
    irqs: [Option<u8>; COUNT],
    streams: [Stream; COUNT],
    bus_dividers: [u64; 2],
    step: Option<Step>,
    /// The step's access is being made.
    under_way: bool,
    /// From this cycle on the next may begin.
    free: u64,
}

/// The kinds of registers.
enum Register {
    /// Flags of the streams from this one on, and the register that clears them.
    Status(usize),
    Clear(usize),
    /// Of a stream: control, count, peripheral address, two memory addresses, FIFO.
    Of(usize, u32),
}

impl Dma {
    /// The controller at `spec.base`, `settings.controller` 1 or 2, of `settings.channels` channels
    /// or, where that is not set, streams; `settings.irq0` to `irq7` are their interrupts;
    /// `settings.selections` is how many requests a stream chooses among (8 where it is not set),
    /// `settings.multiplexed = 1` where a multiplexer does that for channels.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(spec: &PeripheralSpec) -> Result<Dma, String> {
        let setting = |name: &str| spec.settings.get(name).copied();
        let number = setting("controller").filter(|number| matches!(number, 1 | 2));
        let (layout, last) = match setting("channels") {
            None => (Layout::Streams, 7),
            Some(channels @ 1..=7) => (Layout::Channels, channels as usize),
            Some(channels) => return Err(format!("{}: {channels} channels", spec.name)),
        };
        let selections = match setting("selections") {
            None => 8,
            Some(selections @ (8 | 16)) => selections as u32,
            Some(selections) => return Err(format!("{}: {selections} selections", spec.name)),
        };
        let irq = |stream| setting(&format!("irq{stream}")).filter(|irq| (0..128).contains(irq));
        Ok(Dma {
            name: spec.name.clone(),
            base: spec.base,
            number: number.ok_or_else(|| format!("{} needs controller, 1 or 2", spec.name))? as u8,
            layout,
            multiplexed: setting("multiplexed") == Some(1),
            last,
            irqs: std::array::from_fn(|stream| irq(stream).map(|irq| irq as u8)),
            streams: std::array::from_fn(|_| Stream::new(layout, selections)),
            bus_dividers: [1; 2],
            step: None,
            under_way: false,
            free: 0,
        })
    }

    fn find(&self, offset: u32) -> Option<Register> {
        let (first, status) = if self.layout == Layout::Channels { (0x08, 0x04) } else { (0x10, 0x08) };
        if offset < status {
            return Some(Register::Status(offset as usize));
        }
        if offset < first {
            return Some(Register::Clear((offset - status) as usize));
        }
        let (size, number) = if self.layout == Layout::Channels { (20, 1) } else { (24, 0) };
        let stream = ((offset - first) / size) as usize + number;
        let word = (offset - first) % size / 4;
        // A channel has one memory address, and no FIFO.
        let exists = stream <= self.last && (self.layout == Layout::Streams || word < 4);
        exists.then_some(Register::Of(stream, word))
    }

    /// The streams whose flags are in a status register, each with the place of its flags.
    fn places(&self, register: usize) -> impl Iterator<Item = (usize, u32)> {
        let (layout, last) = (self.layout, self.last);
        (0..=last).filter_map(move |stream| match layout {
            Layout::Channels => (stream > 0).then(|| (stream, 4 * (stream as u32 - 1))),
            Layout::Streams => {
                let place = [0, 6, 16, 22][stream % 4];
                (stream / 4 == register / 4).then_some((stream, place))
            }
        })
    }

    /// A stream's flags as a status register has them.
    fn shown(&self, flags: u32) -> u32 {
        if self.layout == Layout::Streams {
            return flags;
        }
        let [te, ht, tc] = [TEIF, HTIF, TCIF].map(|flag| u32::from(flags & flag != 0));
        te << 3 | ht << 2 | tc << 1 | u32::from(flags != 0)
    }

    /// Clears the flags that a field of the clearing register says.
    fn clear(&mut self, stream: usize, field: u32) {
        let cleared = if self.layout == Layout::Streams {
            field
        } else if field & 1 != 0 {
            u32::MAX
        } else {
            (field >> 3 & 1) * TEIF | (field >> 2 & 1) * HTIF | (field >> 1 & 1) * TCIF
        };
        self.streams[stream].flags &= !cleared;
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let (mut all, mut wanted) = (0u128, 0u128);
        for (stream, irq) in self.streams.iter().zip(self.irqs) {
            let bit = irq.map_or(0, |irq| 1 << irq);
            all |= bit;
            wanted |= if stream.flags & stream.setup().interrupts != 0 { bit } else { 0 };
        }
        *context.requests = *context.requests & !all | wanted;
    }

    /// Cycles of an access.
    fn cycles(&self, address: u32) -> u64 {
        match address {
            0x4000_0000..0x4001_0000 => 2 * self.bus_dividers[0] + 1,
            0x4001_0000..0x4002_0000 => 2 * self.bus_dividers[1] + 1,
            _ => 2,
        }
    }

    /// The line of the request that a stream or channel serves.
    fn line(&self, number: usize, events: &Events) -> u128 {
        let found = if self.multiplexed {
            // Seven channels of each controller, which have the numbers 1 to 7.
            let channel = usize::from(self.number - 1) * 7 + number.saturating_sub(1);
            multiplexed_line(events.selected_request(channel).into())
        } else {
            line(self.number.into(), number as u32, self.streams[number].selected())
        };
        found.unwrap_or_default()
    }

    /// True where a stream waits for an access: for a write or for a read.
    fn waits(&self, number: usize, events: &Events) -> Option<bool> {
        let stream = &self.streams[number];
        if !stream.on() || stream.count == 0 {
            return None;
        }
        let asked =
            stream.setup().memory_to_memory || events.transfer_requests() & self.line(number, events) != 0;
        let write = stream.held.is_some();
        // What was read for a stream that reads ahead waits for the request; what was read on
        // request is written at once.
        let ready = if stream.reads_ahead() { !write || asked } else { write || asked };
        ready.then_some(write)
    }

    /// Finds the access that comes next, from cycle `from` on.
    fn choose(&mut self, from: u64, events: &Events) {
        if self.step.is_some() {
            return;
        }
        let waiting = (0..=self.last).filter_map(|number| Some((number, self.waits(number, events)?)));
        // An item that was read on request is written before anything else.
        let chosen = waiting.min_by_key(|(number, write)| {
            let stream = &self.streams[*number];
            let finishes = *write && !stream.reads_ahead();
            (!finishes, 3 - stream.setup().priority, *number)
        });
        let Some((stream, write)) = chosen else { return };
        let (address, _) = self.streams[stream].place(write);
        let arbitration = if write && self.layout == Layout::Channels { 1 } else { 2 };
        let at = from.max(self.free) + arbitration + self.cycles(address);
        self.step = Some(Step { stream, write, at });
    }

    /// A stream was set up anew: what was to come may not come.
    fn choose_again(&mut self, context: &Context<'_, '_>) {
        if !self.under_way {
            let events = &*context.events;
            self.step = self.step.filter(|step| self.waits(step.stream, events) == Some(step.write));
            self.choose(context.now, events);
        }
    }

    fn on_bus_accessed(&mut self, access: &BusAccess, accessed: Accessed, context: &mut Context<'_, '_>) {
        if access.controller != self.number {
            return;
        }
        let Some(step) = self.step.take() else { return };
        self.under_way = false;
        let stream = &mut self.streams[step.stream];
        match accessed.value {
            None => stream.failed(),
            Some(value) if !step.write => stream.read(value),
            Some(_) => stream.written(),
        }
        let acknowledged = u64::from(step.write && self.layout == Layout::Channels);
        self.free = step.at + accessed.waited + acknowledged;
        self.choose(self.free, context.events);
        self.signal(context);
    }
}

impl Peripheral for Dma {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match self.find(offset & !3) {
            Some(Register::Status(register)) => {
                let shown = |(stream, place): (usize, u32)| self.shown(self.streams[stream].flags) << place;
                self.places(register).map(shown).fold(0, |word, flags| word | flags)
            }
            Some(Register::Clear(_)) => 0,
            Some(Register::Of(number, register)) => {
                let stream = &self.streams[number];
                match register {
                    0 => stream.control,
                    1 => stream.count,
                    2 => stream.peripheral,
                    3 | 4 => stream.memory[register as usize - 3],
                    _ => stream.fifo_control,
                }
            }
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
        let merge = |old: u32| merged_word(old, offset, size, value);
        match self.find(offset & !3) {
            Some(Register::Status(_)) => {}
            Some(Register::Clear(register)) => {
                let word = merge(0);
                let places: Vec<_> = self.places(register).collect();
                places.iter().for_each(|(stream, place)| self.clear(*stream, word >> place & 0x3f));
            }
            Some(Register::Of(number, register)) => {
                let stream = &mut self.streams[number];
                let on = stream.on();
                match register {
                    0 => {
                        let written = stream.write_control(merge(stream.control));
                        written.map_err(|what| context.fault(&self.name, address, what))?;
                        self.choose_again(context);
                    }
                    // The other memory address of a double buffer can be changed while it is on.
                    3 | 4 if !on || stream.control >> 19 & 1 != register - 3 => {
                        let memory = &mut stream.memory[register as usize - 3];
                        *memory = merge(*memory);
                    }
                    5 => stream.fifo_control = merge(stream.fifo_control) & 0x87 | FCR_RESET & 0x38,
                    // While it is on, these keep what they are.
                    1 if !on => stream.count = merge(stream.count) & 0xffff,
                    2 if !on => stream.peripheral = merge(stream.peripheral),
                    _ => {}
                }
            }
            None => return context.refuse(&self.name, address, "register not modelled"),
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.step.filter(|_| !self.under_way).map(|step| step.at)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        let Some(step) = self.step.filter(|step| !self.under_way && step.at <= context.now) else { return };
        self.under_way = true;
        let stream = &self.streams[step.stream];
        let (address, size) = stream.place(step.write);
        let to_peripheral = step.write == stream.setup().to_peripheral;
        let line = self.line(step.stream, context.events);
        let serves = if to_peripheral && !stream.setup().memory_to_memory { line } else { 0 };
        let value = stream.held.filter(|_| step.write);
        let last = stream.count == 1;
        context.events.access(BusAccess { controller: self.number, address, size, value, serves, last });
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::DmaRequestsChanged { at } => self.choose(at, context.events),
            Event::BusAccessed { access, accessed } => self.on_bus_accessed(access, accessed, context),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Buses { apb1, apb2 } = update {
            self.bus_dividers = [apb1, apb2];
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.step.iter_mut().for_each(|step| step.at += cycles);
    }

    fn reset(&mut self) {
        self.streams.iter_mut().for_each(Stream::reset);
        self.bus_dividers = [1; 2];
        self.step = None;
        self.under_way = false;
        self.free = 0;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { dma_controller: Some(self), ..Roles::default() }
    }
}

impl DmaController for Dma {
    fn has_data(&self) -> bool {
        self.streams.iter().any(|stream| stream.on() && stream.count != 0)
    }
}
