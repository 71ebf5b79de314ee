//! The digital-to-analog converter (DAC) of the STM32: one or two channels of 12 bits, written or
//! triggered by software, timers and DMA.
//!
//! RM0090 section 14; RM0041 section 11, RM0091 section 14 and RM0410 section 16 have the same
//! registers. A channel's output is VREF+ * DOR / 4096, VREF+ being the board's supply, from the
//! cycle in which DOR is loaded: the settling time is not modelled. PA4 and PA5, where the outputs
//! are, are inputs 4 and 5 of the converters on all these parts. A start by pin (EXTI line 9) and
//! the generators of noise and triangles are refused with a fault.
//!
//! RM0432 (STM32L4+; fields and triggers: ST's CMSIS header stm32l4r5xx.h and HAL) has other fields
//! in CR, and MCR: of its modes those of the normal mode with the output at the pin are modelled.
//! Sample and hold, an output on the chip alone, and the calibration are refused.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec, TransferRequest};

const CR: u32 = 0x00;
const SWTRIGR: u32 = 0x04;
/// DHR12R1; those of a channel are 12 bits to the right, 12 bits to the left, 8 bits.
const DHR: u32 = 0x08;
/// DHR12RD, DHR12LD, DHR8RD: both channels.
const DHRD: u32 = 0x20;
const DOR1: u32 = 0x2c;
const DOR2: u32 = 0x30;
const SR: u32 = 0x34;

/// STM32L4+: MODE1, and MODE2 16 bits further. The settings of sample and hold behind it are not
/// modelled.
const MCR: u32 = 0x3c;
/// MODEx: the output is not at the pin; sample and hold.
const MODE: u32 = 7;
const ON_CHIP: u32 = 3;
const SAMPLE_AND_HOLD: u32 = 1 << 2;

/// CR, of channel 1; those of channel 2 are 16 bits further.
const EN: u32 = 1 << 0;
const WAVE: u32 = 3 << 6;
const DMAEN: u32 = 1 << 12;
const DMAUDRIE: u32 = 1 << 13;
/// STM32L4+: the calibration.
const CEN: u32 = 1 << 14;
/// SR, at the place of its enable.
const DMAUDR: u32 = DMAUDRIE;

/// Registers that families have at different places.
struct Layout {
    /// CR: TEN; TSEL, and its value for the software's trigger; the bits that each channel has.
    ten: u32,
    tsel_shift: u32,
    tsel: u32,
    software: usize,
    bits: [u32; 2],
    /// True where it has MCR.
    modes: bool,
    /// The analog inputs at the pins of the outputs.
    inputs: [u8; 2],
}

const F4: Layout = Layout {
    ten: 1 << 2,
    tsel_shift: 3,
    tsel: 7,
    software: 7,
    // EN, BOFF, TEN, TSEL, WAVE, MAMP, DMAEN, DMAUDRIE.
    bits: [0x3fff; 2],
    modes: false,
    inputs: [4, 5],
};

const L4_PLUS: Layout = Layout {
    ten: 1 << 1,
    tsel_shift: 2,
    tsel: 15,
    software: 0,
    // EN, TEN, TSEL, WAVE, MAMP, DMAEN, DMAUDRIE, CEN, and HFSEL for both.
    bits: [0xffff, 0x7fff],
    modes: true,
    inputs: [9, 10],
};

/// A channel.
#[derive(Clone, Copy, Default)]
struct Channel {
    /// CR and SR, at the places of channel 1.
    control: u32,
    status: u32,
    /// The written value, right-aligned, and the one that is put out.
    holding: u32,
    output: u32,
    /// The cycle at which DOR takes the holding register over.
    load: Option<u64>,
    /// SWTRIG: a software trigger has not been served yet.
    software: bool,
    request: TransferRequest,
    /// The request has not been served.
    requesting: bool,
}

/// The converter.
#[derive(Clone)]
pub struct Dac {
    name: String,
    base: u32,
    irq: Option<u8>,
    layout: &'static Layout,
    channels: Vec<Channel>,
    /// By TSEL: the timer of that number in its name.
    triggers: [Option<u8>; 16],
    /// MCR.
    modes: u32,
    bus_divider: u64,
    /// It asks for its interrupt: a timer may have the same.
    interrupting: bool,
}

impl Dac {
    /// The converter at `spec.base` of `settings.channels`, interrupting with `spec.irq`;
    /// `settings.trigger0` to `trigger15` are the numbers of the timers that TSEL chooses,
    /// `dma_c1_1` and `dma_c2_1` where its requests lead; `settings.layout` is 8 for the STM32L4+.
    ///
    /// # Errors
    /// A setting out of range.
    pub fn new(spec: &PeripheralSpec) -> Result<Dac, String> {
        let setting = |name: &str| spec.settings.get(name).copied();
        let count = setting("channels").filter(|count| (1..=2).contains(count));
        let count = count.ok_or_else(|| format!("{} needs channels, 1 or 2", spec.name))?;
        let channels = (1..=count).map(|number| {
            let request = TransferRequest::new(spec, &format!("dma_c{number}"))?;
            Ok(Channel { request, ..Channel::default() })
        });
        let layout = match setting("layout") {
            None => &F4,
            Some(8) => &L4_PLUS,
            Some(layout) => return Err(format!("{}: no layout {layout}; 8, or none", spec.name)),
        };
        Ok(Dac {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            layout,
            modes: 0,
            channels: channels.collect::<Result<_, String>>()?,
            triggers: std::array::from_fn(|tsel| u8::try_from(setting(&format!("trigger{tsel}"))?).ok()),
            bus_divider: 1,
            interrupting: false,
        })
    }

    /// The word of the fields that `of` gives of each channel.
    fn both(&self, of: impl Fn(&Channel) -> u32) -> u32 {
        self.channels.iter().rev().fold(0, |word, channel| word << 16 | of(channel))
    }

    /// The holding register of a channel (none for both) and how it is aligned: 0 right, 1 left, 2
    /// eight bits.
    fn holding(&self, register: u32) -> Option<(Option<usize>, u32)> {
        let index = (register.checked_sub(DHR)? / 4) as usize;
        match register {
            DHRD..DOR1 if self.channels.len() == 2 => Some((None, (register - DHRD) / 4)),
            DHR..DHRD if index / 3 < self.channels.len() => Some((Some(index / 3), index as u32 % 3)),
            _ => None,
        }
    }

    fn register(&self, register: u32) -> Option<u32> {
        let aligned = |holding: u32, alignment: u32| match alignment {
            0 => holding,
            1 => holding << 4,
            _ => holding >> 4,
        };
        Some(match register {
            CR => self.both(|channel| channel.control),
            SWTRIGR => {
                let bits = self.channels.iter().rev();
                bits.fold(0, |word, channel| word << 1 | u32::from(channel.software))
            }
            SR => self.both(|channel| channel.status),
            MCR if self.layout.modes => self.modes,
            DOR1 => self.channels[0].output,
            DOR2 => self.channels.get(1)?.output,
            _ => match self.holding(register)? {
                (Some(channel), alignment) => aligned(self.channels[channel].holding, alignment),
                (None, alignment) => {
                    let [first, second] = [0, 1].map(|at| aligned(self.channels[at].holding, alignment));
                    first | second << if alignment == 2 { 8 } else { 16 }
                }
            },
        })
    }

    /// Section 14.3.4: without a trigger DOR is loaded one clock of APB1 after the write.
    fn hold(&mut self, channel: usize, value: u32, alignment: u32, now: u64) {
        let holding = match alignment {
            0 => value & 0xfff,
            1 => value >> 4 & 0xfff,
            _ => value << 4 & 0xff0,
        };
        let ten = self.layout.ten;
        let channel = &mut self.channels[channel];
        channel.holding = holding;
        if channel.control & ten == 0 {
            channel.load = Some(now + self.bus_divider);
        }
    }

    fn write_control(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        for index in 0..self.channels.len() {
            let control = value >> (16 * index) & self.layout.bits[index];
            if control & WAVE != 0 {
                return Err("the generators of noise and triangles are not modelled");
            }
            if control & CEN != 0 {
                return Err("the calibration is not modelled");
            }
            if control & DMAEN != 0 && self.channels[index].request.lines() == 0 {
                return Err("a request of DMA that leads nowhere on this part");
            }
            let listens = control & EN != 0 && control & self.layout.ten != 0;
            let tsel = self.tsel(control);
            if listens && tsel != self.layout.software && self.triggers[tsel].is_none() {
                return Err("a trigger that is not modelled, or that this part does not have");
            }
            let channel = &mut self.channels[index];
            let was_on = channel.control & EN != 0;
            channel.control = control;
            if control & DMAEN == 0 {
                channel.requesting = false;
                channel.request.set(false, context.now, context);
            }
            if was_on != (control & EN != 0) {
                self.put_out(index, context.now, context);
            }
        }
        Ok(())
    }

    /// TSEL of a channel.
    fn tsel(&self, control: u32) -> usize {
        (control >> self.layout.tsel_shift & self.layout.tsel) as usize
    }

    /// MCR, whose fields can be written while their channel is off.
    fn write_modes(&mut self, value: u32) -> Result<(), &'static str> {
        for (index, channel) in self.channels.iter().enumerate() {
            let mode = value >> (16 * index) & MODE;
            if mode & SAMPLE_AND_HOLD != 0 {
                return Err("sample and hold is not modelled");
            }
            if mode == ON_CHIP {
                return Err("an output on the chip alone is not modelled");
            }
            if channel.control & EN != 0 && mode != self.modes >> (16 * index) & MODE {
                return Err("a mode that changes while its channel is on");
            }
        }
        self.modes = value & (MODE | MODE << 16);
        Ok(())
    }

    fn put_out(&self, index: usize, at: u64, context: &mut Context<'_, '_>) {
        let channel = &self.channels[index];
        let code = (channel.control & EN != 0).then_some(channel.output);
        context.analog_output(&self.name, index as u8 + 1, self.layout.inputs[index], code, at);
    }

    /// A trigger at cycle `at`: DOR is loaded `clocks` clocks of APB1 later (section 14.3.6), and
    /// DMA is asked for the next value, which is an underrun where the last request has not been
    /// served (section 14.3.7).
    fn start(&mut self, index: usize, at: u64, clocks: u64, context: &mut Context<'_, '_>) {
        let load = at + clocks * self.bus_divider;
        let channel = &mut self.channels[index];
        channel.load = Some(load);
        if channel.control & DMAEN != 0 && channel.status & DMAUDR == 0 {
            if channel.requesting {
                channel.status |= DMAUDR;
            } else {
                channel.requesting = true;
                channel.request.set(true, at, context);
            }
        }
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        for index in 0..self.channels.len() {
            let channel = &mut self.channels[index];
            if let Some(load) = channel.load.filter(|load| *load <= context.now) {
                channel.load = None;
                channel.software = false;
                if channel.output != channel.holding {
                    channel.output = channel.holding;
                    if channel.control & EN != 0 {
                        self.put_out(index, load, context);
                    }
                }
            }
        }
        self.signal(context);
    }

    fn signal(&mut self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        let wanted = self.channels.iter().any(|channel| channel.status & channel.control & DMAUDRIE != 0);
        // TIM6 has the vector, too.
        if wanted != self.interrupting {
            context.share_request(irq, self.base, wanted);
        }
        self.interrupting = wanted;
    }

    fn on_dma_acknowledged(&mut self, lines: u128, context: &mut Context<'_, '_>) {
        for channel in &mut self.channels {
            if channel.requesting && channel.request.lines() & lines != 0 {
                channel.requesting = false;
                channel.request.set(false, context.now, context);
            }
        }
    }

    fn on_trigger_rose(&mut self, number: u8, at: u64, context: &mut Context<'_, '_>) {
        self.advance(context);
        for index in 0..self.channels.len() {
            let control = self.channels[index].control;
            let listens = control & EN != 0 && control & self.layout.ten != 0;
            if listens && self.triggers[self.tsel(control)] == Some(number) {
                self.start(index, at, 3, context);
            }
        }
        self.signal(context);
    }
}

impl Peripheral for Dac {
    fn spec(&self) -> Spec {
        Spec {
            dma_lines: self.channels.iter().fold(0, |lines, channel| lines | channel.request.lines()),
            follows_triggers: true,
            ..Spec::new(&self.name, self.base..self.base + 0x400)
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let offset = address - self.base;
        let word = self.register(offset & !3);
        let word = word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?;
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        let register = offset & !3;
        match register {
            CR => {
                let value = merge(self.both(|channel| channel.control));
                self.write_control(value, context)
                    .map_err(|what| context.fault(&self.name, address, what))?;
            }
            SWTRIGR => {
                let bits = merge(0);
                for index in 0..self.channels.len() {
                    let control = self.channels[index].control;
                    let listens =
                        control & self.layout.ten != 0 && self.tsel(control) == self.layout.software;
                    if bits >> index & 1 == 1 && listens {
                        self.channels[index].software = true;
                        self.start(index, context.now, 1, context);
                    }
                }
            }
            SR => {
                let cleared = merge(0);
                for (index, channel) in self.channels.iter_mut().enumerate() {
                    channel.status &= !(cleared >> (16 * index));
                }
            }
            DOR1 | DOR2 => {}
            MCR if self.layout.modes => {
                self.write_modes(merge(self.modes))
                    .map_err(|what| context.fault(&self.name, address, what))?;
            }
            _ => match self.holding(register) {
                Some((Some(channel), alignment)) => {
                    let value = merge(self.register(register).unwrap_or_default());
                    self.hold(channel, value, alignment, context.now);
                }
                Some((None, alignment)) => {
                    let value = merge(self.register(register).unwrap_or_default());
                    let second = if alignment == 2 { value >> 8 } else { value >> 16 };
                    self.hold(0, value & 0xffff, alignment, context.now);
                    self.hold(1, second & 0xffff, alignment, context.now);
                }
                None => return context.refuse(&self.name, address, "register not modelled"),
            },
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.channels.iter().filter_map(|channel| channel.load).min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::DmaAcknowledged { lines, .. } => self.on_dma_acknowledged(lines, context),
            Event::TriggerRose { number, at } => self.on_trigger_rose(number, at, context),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Buses { apb1, apb2 } = update {
            self.bus_divider = super::bus::divider(self.base, apb1, apb2);
        }
    }

    fn reset_block(&mut self, _base: u32, context: &mut Context<'_, '_>) {
        self.reset();
        for index in 0..self.channels.len() {
            self.put_out(index, context.now, context);
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.channels.iter_mut().filter_map(|channel| channel.load.as_mut()).for_each(|at| *at += cycles);
    }

    fn reset(&mut self) {
        self.bus_divider = 1;
        self.interrupting = false;
        self.modes = 0;
        for channel in &mut self.channels {
            let mut request = channel.request;
            request.reset();
            *channel = Channel { request, ..Channel::default() };
        }
    }
}
