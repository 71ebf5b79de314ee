//! An 8-bit or 16-bit timer of an ATmega: all waveform generation modes, compare outputs, input
//! capture, external clock.
//!
//! ATmega328P data sheet DS40002061, chapters 15 (timer 0), 16 (timer 1), 17 (prescaler), 18 (timer
//! 2). The prescaler runs from reset on. A write takes effect in the cycle after the instruction
//! began, a read sees the count as it was then. The few cycles for which the part synchronises the
//! pins Tn and ICPn are left out. Not modelled, and faults: the asynchronous clock of timer 2,
//! reserved modes.

mod counter;
pub mod tiny;
mod waveform;

use super::avr_port;
use crate::peripheral::POWER_REDUCTION;
use crate::{Context, Event, Fault, Part, Peripheral, PeripheralSpec, Pin, ResetCause, Spec};
use counter::{CHANNELS, Counter, ICF, OCFA, TOV};
use waveform::{MODES_8, MODES_16, Waveform};

/// Width of the counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// Timers 0 and 2: TCCRA, TCCRB, TCNT, OCRA, OCRB in a row, where the settings say nothing
    /// else.
    Eight,
    /// Timers 1, 3, 4, 5: TCCRA, TCCRB, TCCRC, -, TCNTL, TCNTH, ICRL, ICRH, OCRAL, OCRAH, OCRBL,
    /// OCRBH, OCRCL, OCRCH in a row.
    Sixteen,
}

/// Registers, however wide.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Register {
    ControlA,
    ControlB,
    ControlC,
    Count,
    Capture,
    Compare(usize),
    Mask,
    Flags,
}

/// TCCRnB of a 16-bit timer: input capture noise canceler and edge select.
const ICNC: u8 = 0x80;
const ICES: u8 = 0x40;
/// "The noise canceler introduces additional four system clock cycles of delay" (16.6.2).
const NOISE_CYCLES: u64 = 4;
/// The highest clock selects of timers 0 and 1: the pin Tn, falling and rising.
const FALLING: u8 = 6;
const RISING: u8 = 7;

/// One timer.
#[derive(Clone)]
pub struct Timer {
    name: String,
    width: Width,
    /// Addresses of the registers, and which byte of it is there.
    addresses: Vec<(u32, Register, usize)>,
    /// Flags of TIFRn that there are, their bits in TIFR and TIMSK, and their vectors.
    flag_bits: Vec<(u8, u8, u8)>,
    /// The pins of the compare outputs, ICPn and Tn, where the part has them.
    output_pins: [Option<Pin>; CHANNELS],
    capture_pin: Option<Pin>,
    /// The comparator may stand in for that pin.
    by_comparator: bool,
    clock_pin: Option<Pin>,
    /// TIMSK and TIFR, where they have bits of other timers, too.
    shared: Vec<u32>,
    /// Divisors by clock select, as powers of two; 0 stops.
    divisors: &'static [Option<u32>],
    control_a: u8,
    control_b: u8,
    counter: Counter,
    mask: u8,
    flags: u8,
    /// Flags that the converter listens to.
    subscribed: u8,
    /// High byte in transit (16-bit registers).
    temporary: u8,
    /// All ticks up to this cycle are counted.
    at: u64,
    /// The cycle of the reset that the prescaler counts from.
    origin: u64,
    /// Levels of ICPn, after the noise canceler, and Tn when last looked at.
    capture_level: bool,
    clock_level: bool,
    /// The cycle at which the noise canceler lets ICPn's new level through.
    capture_due: Option<u64>,
    /// The core sleeps without the I/O clock since this cycle.
    stopped: Option<u64>,
    /// It is PRR that stopped it.
    is_reduced: bool,
    /// Outputs that have taken their pins over.
    connected: [bool; CHANNELS],
    /// Cycle of the counter's next event, but for the noise canceler; counting alone does not move
    /// it.
    due: Option<u64>,
}

/// Clock select of timers 0 and 1: tables 15-9 and 16-5. Off, and 1 to 1024 as powers of two; the
/// others are the pin Tn.
const PRESCALER: [Option<u32>; 8] = [None, Some(0), Some(3), Some(6), Some(8), Some(10), None, None];
/// Clock select of timer 2: table 18-9.
const PRESCALER_2: [Option<u32>; 8] = [None, Some(0), Some(3), Some(5), Some(6), Some(7), Some(8), Some(10)];

impl Timer {
    /// TCCRA at `spec.base`; `spec.irq` is the vector of compare A, followed by the other compares
    /// and overflow; that of capture comes before it. Settings `timsk`, `tifr`: addresses;
    /// `timer2` = 1: the clock select of timer 2; `channels`: of a 16-bit timer, 2 where it is
    /// missing. `oca_port`, PINx, and `oca`, the bit, are the pin of OCnA; so for `ocb`, `occ`,
    /// `icp` and `t`. Where an 8-bit timer has its registers and flags elsewhere: addresses
    /// `tccrb`, `tcnt`, `ocra`, `ocrb`, bits `tov`, `ocfa`, `ocfb`. `overflow` is its vector where
    /// it does not follow the compares.
    ///
    /// # Errors
    /// A pin whose port there is not.
    pub fn new(part: &Part, spec: &PeripheralSpec, width: Width) -> Result<Timer, String> {
        let setting = |name: &str| spec.settings.get(name).copied();
        let byte = |name: &str, otherwise: u8| setting(name).map_or(otherwise, |value| value as u8);
        let pin = |name: &str| -> Result<Option<Pin>, String> {
            let Some(bit) = setting(name) else { return Ok(None) };
            Ok(Some(Pin::new(&avr_port(part, spec, &format!("{name}_port"))?, bit as u8 & 7)))
        };
        let irq = spec.irq.unwrap_or(0);
        let channels = if width == Width::Eight { 2 } else { byte("channels", 2).clamp(2, CHANNELS as u8) };
        let at = |name: &str, offset: u32| setting(name).map_or(spec.base + offset, |address| address as u32);
        let mut addresses = vec![(spec.base, Register::ControlA, 0), (at("tccrb", 1), Register::ControlB, 0)];
        if width == Width::Eight {
            let registers =
                [("tcnt", Register::Count), ("ocra", Register::Compare(0)), ("ocrb", Register::Compare(1))];
            addresses.extend(
                (2..).zip(registers).map(|(offset, (name, register))| (at(name, offset), register, 0)),
            );
        } else {
            addresses.push((spec.base + 2, Register::ControlC, 0));
            let mut words = vec![(4, Register::Count), (6, Register::Capture)];
            words.extend(
                (0..u32::from(channels))
                    .map(|channel| (8 + 2 * channel, Register::Compare(channel as usize))),
            );
            for (offset, register) in words {
                addresses.extend([0, 1].map(|byte| (spec.base + offset + byte as u32, register, byte)));
            }
        }
        addresses.push((at("timsk", 0), Register::Mask, 0));
        addresses.push((at("tifr", 0), Register::Flags, 0));
        let bits = [byte("ocfa", 1), byte("ocfb", 2), 3];
        let mut flag_bits = vec![(TOV, 1 << (byte("tov", 0) & 7), byte("overflow", irq + channels))];
        flag_bits.extend(
            (0..channels)
                .map(|channel| (OCFA << channel, 1 << (bits[usize::from(channel)] & 7), irq + channel)),
        );
        if width == Width::Sixteen {
            flag_bits.push((ICF, ICF, irq.saturating_sub(1)));
        }
        Ok(Timer {
            name: spec.name.clone(),
            width,
            addresses,
            flag_bits,
            output_pins: [pin("oca")?, pin("ocb")?, pin("occ")?],
            capture_pin: pin("icp")?,
            by_comparator: setting("comparator") == Some(1),
            clock_pin: pin("t")?,
            shared: if setting("tov").is_some() { vec![at("timsk", 0), at("tifr", 0)] } else { Vec::new() },
            divisors: if setting("timer2") == Some(1) { &PRESCALER_2 } else { &PRESCALER },
            control_a: 0,
            control_b: 0,
            counter: Counter::new(if width == Width::Eight { 0xFF } else { 0xFFFF }, channels.into()),
            mask: 0,
            flags: 0,
            subscribed: 0,
            temporary: 0,
            at: 0,
            origin: 0,
            capture_level: false,
            clock_level: false,
            capture_due: None,
            stopped: None,
            is_reduced: false,
            connected: [false; CHANNELS],
            due: None,
        })
    }

    /// The register at an address, and which byte of it.
    fn register(&self, address: u32) -> (Register, usize) {
        let found = self.addresses.iter().find(|(at, ..)| *at == address);
        found.map_or((Register::Flags, 0), |(_, register, byte)| (*register, *byte))
    }

    /// The mode that WGM chooses; `None` where it is reserved.
    fn waveform(&self) -> Option<Waveform> {
        let low = usize::from(self.control_a & 3);
        match self.width {
            Width::Eight => MODES_8[low | usize::from(self.control_b >> 1 & 4)],
            Width::Sixteen => MODES_16[low | usize::from(self.control_b >> 1 & 0xC)],
        }
    }

    fn is_timer2(&self) -> bool {
        self.divisors[6].is_some()
    }

    fn clock_select(&self) -> u8 {
        self.control_b & 7
    }

    /// The prescaler's divisor as a power of two; none while the timer stands still or counts a
    /// pin.
    fn divisor(&self) -> Option<u32> {
        self.divisors[usize::from(self.clock_select())]
    }

    /// True where it counts edges of Tn.
    fn counts_pin(&self) -> bool {
        self.clock_select() >= FALLING && self.divisor().is_none()
    }

    /// Counts up to `now` and does what is to be done on the way.
    fn advance(&mut self, now: u64, context: &mut Context<'_, '_>) {
        if self.stopped.is_some() {
            return;
        }
        let now = now.max(self.at);
        let before = self.at;
        self.at = now;
        let Some(divisor) = self.divisor() else { return };
        let until = (now - self.origin) >> divisor;
        let mut ticks = until - ((before - self.origin) >> divisor);
        let mut happened = false;
        while ticks > 0 {
            let steps = self.counter.distance().min(ticks);
            let outputs = self.counter.outputs;
            let event = self.counter.run(steps);
            ticks -= steps;
            let cycle = self.origin + ((until - ticks) << divisor);
            happened |= self.rise(event.flags, cycle, context);
            if self.counter.outputs != outputs {
                happened = true;
                self.drive(cycle, context);
            }
            // From BOTTOM every two periods are like the next two: the first ones set what there is
            // to set.
            let periods = 2 * self.counter.period();
            if event.begins && self.counter.is_settled() && ticks >= 2 * periods {
                ticks = ticks % periods + periods;
            }
        }
        if happened {
            self.plan();
        }
    }

    /// Sets flags; whether one of them was clear.
    fn rise(&mut self, flags: u8, cycle: u64, context: &mut Context<'_, '_>) -> bool {
        let new = flags & !self.flags;
        self.flags |= flags;
        for (flag, _, irq) in &self.flag_bits {
            if self.subscribed & new & flag != 0 {
                context.events.raise(*irq, cycle);
            }
        }
        new != 0
    }

    /// Gives the pins the levels of their compare outputs, as of a cycle.
    fn drive(&mut self, cycle: u64, context: &mut Context<'_, '_>) {
        for (channel, pin) in self.output_pins.iter().enumerate() {
            let Some(pin) = pin else { continue };
            let connected = self.counter.is_connected(channel);
            // Two timers may have an output at one pin; who has none there must not let go of the
            // other's.
            if connected || self.connected[channel] {
                context.module_output(pin, connected.then_some(self.counter.outputs[channel]), cycle);
            }
            self.connected[channel] = connected;
        }
    }

    /// One tick by the pin Tn.
    fn count_edge(&mut self, context: &mut Context<'_, '_>) {
        let event = self.counter.run(1);
        self.rise(event.flags, context.now, context);
        self.drive(context.now, context);
    }

    /// The edge that ICES chooses has come to ICPn.
    fn take_capture(&mut self, context: &mut Context<'_, '_>) {
        // The pin is disconnected where ICRn is TOP (16.6.1).
        if self.counter.waveform.top != waveform::Top::Capture {
            self.counter.capture = self.counter.count;
            self.rise(ICF, context.now, context);
        }
    }

    /// The level at ICPn, which counts from now on.
    fn see_capture(&mut self, level: bool, context: &mut Context<'_, '_>) {
        self.capture_due = None;
        if level != std::mem::replace(&mut self.capture_level, level) && level == (self.control_b & ICES != 0)
        {
            self.take_capture(context);
        }
    }

    /// Finds anew when it is due, after anything but counting.
    fn plan(&mut self) {
        let wanted = (self.mask | self.subscribed) & !self.flags;
        self.due = self.divisor().filter(|_| self.stopped.is_none()).and_then(|divisor| {
            let ticks = self.counter.ticks_until(wanted)?;
            Some(self.origin + ((((self.at - self.origin) >> divisor) + ticks) << divisor))
        });
    }

    fn request(&self, context: &mut Context<'_, '_>) {
        for (flag, _, irq) in &self.flag_bits {
            if self.flags & self.mask & flag != 0 {
                context.request(*irq);
            } else {
                context.withdraw(*irq);
            }
        }
    }

    /// The bits of flags in TIFR and TIMSK.
    fn register_bits(&self, flags: u8) -> u8 {
        self.flag_bits.iter().filter(|(flag, ..)| flags & flag != 0).fold(0, |bits, (_, bit, _)| bits | bit)
    }

    /// The flags of bits in TIFR and TIMSK.
    fn flags_of(&self, value: u8) -> u8 {
        self.flag_bits.iter().filter(|(_, bit, _)| value & bit != 0).fold(0, |flags, (flag, ..)| flags | flag)
    }

    /// A write of TCCRnA or TCCRnB: the mode, the outputs, the clock.
    fn configure(&mut self, address: u32, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        // Also where this is refused, the clock may be another one.
        self.plan();
        match self.waveform() {
            Some(waveform) => self.counter.set_waveform(waveform),
            None if self.clock_select() == 0 => {}
            None => {
                return context.refuse(&self.name, address, "this waveform generation mode is reserved");
            }
        }
        if self.counts_pin() && self.clock_pin.is_none() {
            return context.refuse(&self.name, address, "an external clock without a pin");
        }
        for channel in 0..self.counter.channels {
            self.counter.com[channel] = self.control_a >> (6 - 2 * channel) & 3;
        }
        self.drive(context.now + 1, context);
        Ok(())
    }

    /// FOCnx: bits 7, 6, 5 of TCCRnC, or 7 and 6 of an 8-bit timer's TCCRnB.
    fn force(&mut self, value: u8, context: &mut Context<'_, '_>) {
        for channel in (0..self.counter.channels).filter(|channel| value << channel & 0x80 != 0) {
            self.counter.force(channel);
        }
        self.drive(context.now + 1, context);
    }

    fn set_byte(&mut self, which: Register, byte: usize, value: u8) {
        let value = match (self.width, byte) {
            (Width::Eight, _) => value.into(),
            (Width::Sixteen, 0) => u16::from(self.temporary) << 8 | u16::from(value),
            (Width::Sixteen, _) => {
                self.temporary = value;
                return;
            }
        };
        match which {
            Register::Compare(channel) => self.counter.set_compare(channel, value),
            // "Can only be written when using a mode that utilizes ICRn for defining the counter's
            // TOP value" (16.6).
            Register::Capture if self.counter.waveform.top == waveform::Top::Capture => {
                self.counter.capture = value;
            }
            Register::Capture => {}
            _ => self.counter.set_count(value),
        }
    }

    fn on_inputs_changed(&mut self, context: &mut Context<'_, '_>) {
        if let Some(pin) = &self.capture_pin {
            let level = context.board.capture_level(pin, self.by_comparator);
            if self.stopped.is_some() || level == self.capture_level {
                self.capture_due = None;
            } else if self.control_b & ICNC == 0 {
                self.advance(context.now, context);
                self.see_capture(level, context);
                self.plan();
                self.request(context);
            } else if self.capture_due.is_none() {
                self.capture_due = Some(context.now + NOISE_CYCLES);
            }
        }
        if let Some(pin) = &self.clock_pin {
            let level = context.board.pin(&pin.port, pin.bit) == Some(true);
            let changed = level != std::mem::replace(&mut self.clock_level, level) && self.stopped.is_none();
            if changed && self.counts_pin() && level == (self.clock_select() == RISING) {
                self.count_edge(context);
                self.request(context);
            }
        }
    }

    fn on_interrupt_acknowledged(&mut self, irq: u8) {
        for (flag, _, own) in &self.flag_bits {
            if *own == irq {
                self.flags &= !flag;
            }
        }
        self.plan();
    }

    fn on_flags_subscribed(&mut self, vectors: u128, includes_set: bool, context: &mut Context<'_, '_>) {
        self.subscribed = 0;
        for (flag, _, irq) in &self.flag_bits {
            if vectors >> irq & 1 == 1 {
                self.subscribed |= flag;
                if includes_set && self.flags & flag != 0 {
                    context.events.raise(*irq, context.now);
                }
            }
        }
        self.plan();
    }

    fn on_wake(&mut self, context: &mut Context<'_, '_>) {
        if let Some(since) = self.stopped.take() {
            // The prescaler stood still, too, but where PRR stopped the timer alone (10.11.3).
            if !std::mem::take(&mut self.is_reduced) {
                self.origin += context.now - since;
            }
            self.at = context.now;
            self.plan();
        }
    }
}

impl Peripheral for Timer {
    fn spec(&self) -> Spec {
        Spec {
            shared: self.shared.clone(),
            interrupts: self.flag_bits.iter().fold(0, |all, (_, _, irq)| all | 1 << irq),
            follows_inputs: true,
            ..Spec::with_ranges(&self.name, self.addresses.iter().map(|(address, ..)| *address..*address + 1))
        }
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now, context);
        let (register, byte) = self.register(address);
        let value = match register {
            Register::ControlA => self.control_a,
            Register::ControlB => self.control_b,
            // FOCnx read as zero.
            Register::ControlC => 0,
            Register::Mask => self.register_bits(self.mask),
            Register::Flags => self.register_bits(self.flags),
            Register::Count | Register::Capture if byte == 1 => self.temporary,
            Register::Count | Register::Capture => {
                let value =
                    if register == Register::Count { self.counter.count } else { self.counter.capture };
                self.temporary = (value >> 8) as u8;
                value as u8
            }
            Register::Compare(channel) => (self.counter.buffer[channel] >> (8 * byte)) as u8,
        };
        self.request(context);
        Ok(value.into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context.now + 1, context);
        let value = value as u8;
        let (register, byte) = self.register(address);
        let eight = self.width == Width::Eight;
        match register {
            Register::ControlA => {
                self.control_a = value & if self.counter.channels == CHANNELS { 0xFF } else { 0xF3 };
                self.configure(address, context)?;
            }
            Register::ControlB => {
                self.control_b = value & if eight { 0x0F } else { 0xDF };
                self.configure(address, context)?;
                if eight {
                    self.force(value, context);
                }
            }
            Register::ControlC => self.force(value, context),
            Register::Mask => self.mask = self.flags_of(value),
            Register::Flags => self.flags &= !self.flags_of(value),
            Register::Count | Register::Capture | Register::Compare(_) => {
                self.set_byte(register, byte, value)
            }
        }
        self.plan();
        self.request(context);
        Ok(())
    }

    fn write_bit(
        &mut self,
        address: u32,
        bit: u8,
        on: bool,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        // SBI clears that flag alone (DS40002061, "About Code Examples"); CBI writes a zero, which
        // does nothing.
        if self.register(address).0 == Register::Flags {
            return self.write(address, 1, u32::from(on) << bit, context);
        }
        let value = self.read(address, 1, context)? & !(1 << bit) | u32::from(on) << bit;
        self.write(address, 1, value, context)
    }

    fn due(&self) -> Option<u64> {
        self.due.into_iter().chain(self.capture_due).min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context.now, context);
        if self.capture_due.is_some_and(|due| due <= context.now) {
            self.see_capture(!self.capture_level, context);
            self.plan();
        }
        self.request(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.on_inputs_changed(context),
            Event::InterruptAcknowledged(irq) => self.on_interrupt_acknowledged(irq),
            Event::FlagsSubscribed { vectors, includes_set } => {
                self.on_flags_subscribed(vectors, includes_set, context)
            }
            Event::Sleep(mode) => {
                self.advance(context.now, context);
                self.is_reduced = mode == POWER_REDUCTION;
                self.stopped = Some(context.now);
                self.plan();
                self.request(context);
            }
            Event::Wake => self.on_wake(context),
            _ => {}
        }
    }

    fn clock_needed(&self) -> Option<&'static str> {
        // The others keep their counts while the clock stands still.
        (self.is_timer2() && self.divisor().is_some()).then_some("clkT2")
    }

    fn reset(&mut self) {
        self.control_a = 0;
        self.control_b = 0;
        self.counter = Counter::new(self.counter.max, self.counter.channels);
        self.mask = 0;
        self.flags = 0;
        self.subscribed = 0;
        self.temporary = 0;
        self.at = 0;
        self.origin = 0;
        self.capture_level = false;
        self.clock_level = false;
        self.capture_due = None;
        self.stopped = None;
        self.is_reduced = false;
        self.connected = [false; CHANNELS];
        self.due = None;
    }

    fn reset_by(&mut self, _cause: ResetCause, now: u64) {
        self.reset();
        self.at = now;
        self.origin = now;
    }
}
