//! A timer/counter for control (TCC) that counts up: overflow and compare flags, their interrupt,
//! buffered period and compare values, and single-slope PWM at its outputs. DS40001882F sections
//! 31.6 and 31.8; registers compared with the device's header.
//!
//! An output of a channel is high while COUNT is below CCx (WAVE.POLx turns that round), and output
//! n is that of channel n modulo their number (WEXCTRL.OTMX = 0). As in the timer/counters
//! ([`super::timer`]) a flag is set with the count after the value that it stands for. Refused:
//! other waveforms (in normal frequency mode it counts and drives nothing), ramps, dead times,
//! patterns, inverted outputs, faults, events, capture, counting down, dithering. What is written
//! holds at once: SYNCBUSY is 0.

use super::outputs::Outputs;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};

const CTRLA: u32 = 0x00;
/// CTRLBCLR and CTRLBSET.
const CTRLB: u32 = 0x04;
const SYNCBUSY: u32 = 0x08;
const WEXCTRL: u32 = 0x14;
const DBGCTRL: u32 = 0x1c;
const INTENCLR: u32 = 0x24;
const INTENSET: u32 = 0x28;
const INTFLAG: u32 = 0x2c;
const STATUS: u32 = 0x30;
const COUNT: u32 = 0x34;
const PATT: u32 = 0x38;
const WAVE: u32 = 0x3c;
const PER: u32 = 0x40;
const CC0: u32 = 0x44;
const PATTB: u32 = 0x64;
const WAVEB: u32 = 0x68;
const PERB: u32 = 0x6c;
const CCB0: u32 = 0x70;
const SIZE: u32 = 0x80;

/// CTRLA.
const SWRST: u32 = 1 << 0;
const ENABLE: u32 = 1 << 1;
const RESOLUTION: u32 = 3 << 5;
const CAPTURE: u32 = 0xf << 24;
const CTRLA_MASK: u32 = 0x0f00_7f63;
/// Clocks of a count, by CTRLA.PRESCALER.
const PRESCALERS: [u64; 8] = [1, 2, 4, 8, 16, 64, 256, 1024];
/// CTRLB.
const DIR: u32 = 1 << 0;
const LUPD: u32 = 1 << 1;
const ONESHOT: u32 = 1 << 2;
const RETRIGGER: u32 = 1;
const STOP_COMMAND: u32 = 2;
const UPDATE: u32 = 3;
/// INTFLAG: overflow, and MC0 on.
const OVF: u32 = 1 << 0;
const MC: u32 = 16;
const FLAGS: u32 = 0x000f_f80f;
/// STATUS.
const STOP: u32 = 1 << 0;
const PERBV: u32 = 1 << 7;
const CCBV: u32 = 16;
/// WAVE: the waveform, and POL0 on.
const WAVEGEN: u32 = 7;
const NPWM: u32 = 2;
const POL: u32 = 16;
const POLARITIES: u32 = 0xf << POL;

/// The timer.
#[derive(Clone)]
pub struct Tcc {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_id: usize,
    channels: usize,
    mask: u32,
    outputs: Outputs,
    control_a: u32,
    /// LUPD and ONESHOT.
    control_b: u32,
    stopped: bool,
    debug: u32,
    enables: u32,
    flags: u32,
    wave: u32,
    period: u32,
    compare: [u32; 4],
    period_buffer: Option<u32>,
    compare_buffers: [Option<u32>; 4],
    /// COUNT at the cycle `since`, and the part of a count that has passed: core cycles times the
    /// source's frequency.
    count: u32,
    since: u64,
    carry: u128,
    /// The generic clock that it counts, and the core's, in Hz.
    source_hz: u64,
    clock_hz: u64,
}

impl Tcc {
    /// The timer at `spec.base`, interrupting with `spec.irq`; `settings.clock` is its clock's
    /// GCLK_CLKCTRL.ID, `settings.bits` and `settings.channels` how many it has. `spec.pins`: `WO0`
    /// to `WO7`, each a pin and its function, as in `PA8 E`.
    ///
    /// # Errors
    /// A setting that is missing, or no pin.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Tcc, String> {
        let setting = |key: &str, limit: usize| {
            let value = spec.settings.get(key).and_then(|value| usize::try_from(*value).ok());
            let value = value.filter(|value| *value <= limit);
            value.ok_or_else(|| format!("{}: {} needs {key}, up to {limit}", part.name, spec.name))
        };
        let channels = setting("channels", 4)?.max(1);
        Ok(Tcc {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_id: setting("clock", 36)?,
            channels,
            mask: u32::MAX >> (32 - setting("bits", 24)?.max(8)),
            outputs: Outputs::new(spec, channels)?,
            control_a: 0,
            control_b: 0,
            stopped: true,
            debug: 0,
            enables: 0,
            flags: 0,
            wave: 0,
            period: u32::MAX,
            compare: [0; 4],
            period_buffer: None,
            compare_buffers: [None; 4],
            count: 0,
            since: 0,
            carry: 0,
            source_hz: 0,
            clock_hz: part.default_clock_hz,
        })
    }

    fn running(&self) -> bool {
        self.control_a & ENABLE != 0 && !self.stopped && self.source_hz != 0
    }

    fn top(&self) -> u32 {
        // Beyond its top it goes on to the highest value.
        if self.count > self.period & self.mask { self.mask } else { self.period & self.mask }
    }

    /// A count as `carry` has it.
    fn count_length(&self) -> u128 {
        let prescaler = PRESCALERS[(self.control_a >> 8 & 7) as usize];
        u128::from(self.clock_hz.max(1)) * u128::from(prescaler)
    }

    /// The cycle of the count that comes after so many.
    fn cycle_of(&self, counts: u64) -> u64 {
        let parts = (u128::from(counts) * self.count_length()).saturating_sub(self.carry);
        self.since + parts.div_ceil(self.source_hz.max(1).into()) as u64
    }

    fn compare(&self, channel: usize) -> u32 {
        self.compare[channel] & self.mask
    }

    /// The level of a channel's outputs, while it makes them.
    fn level(&self, channel: usize) -> Option<bool> {
        let makes = self.control_a & ENABLE != 0 && self.wave & WAVEGEN == NPWM;
        makes.then(|| (self.count < self.compare(channel)) != (self.wave >> (POL + channel as u32) & 1 == 1))
    }

    /// Counts until an output or a flag changes: at a compare value, with the count behind it, and
    /// where the period ends.
    fn until_event(&self) -> u64 {
        let end = u64::from(self.top()) + 1;
        let compares = (0..self.channels).map(|channel| u64::from(self.compare(channel)));
        let events = compares.flat_map(|at| [at, at + 1]).filter(|at| *at > self.count.into() && *at < end);
        events.min().unwrap_or(end) - u64::from(self.count)
    }

    /// So many counts go by, no more than to the end of the period.
    fn pass(&mut self, counts: u64) {
        let (from, to) = (u64::from(self.count), u64::from(self.count) + counts);
        for channel in 0..self.channels {
            if (from..to).contains(&self.compare(channel).into()) {
                self.flags |= 1 << (MC + channel as u32);
            }
        }
        if to <= self.top().into() {
            self.count = to as u32;
            return;
        }
        self.count = 0;
        self.flags |= OVF;
        if self.control_b & LUPD == 0 {
            self.update();
        }
        if self.control_b & ONESHOT != 0 {
            self.stopped = true;
            self.carry = 0;
        }
    }

    /// The buffered values become valid.
    fn update(&mut self) {
        self.period = self.period_buffer.take().unwrap_or(self.period);
        for (compare, buffer) in self.compare.iter_mut().zip(&mut self.compare_buffers) {
            *compare = buffer.take().unwrap_or(*compare);
        }
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        self.outputs.look(context.board);
        let now = context.now;
        while self.running() && self.since < now {
            let event = self.until_event();
            let passed = self.carry + u128::from(now - self.since) * u128::from(self.source_hz);
            let counts = passed / self.count_length();
            if counts < u128::from(event) {
                self.carry = passed % self.count_length();
                self.since = now;
                self.pass(counts as u64);
                return;
            }
            let at = self.cycle_of(event);
            let over = u128::from(at - self.since) * u128::from(self.source_hz) + self.carry;
            self.carry = over.saturating_sub(u128::from(event) * self.count_length());
            self.since = at;
            self.pass(event);
            if self.outputs.are_seen() {
                self.drive(at, context);
            } else if self.running() && self.count == 0 {
                // Of many whole periods that nobody sees one sets what all set.
                let whole = (u128::from(self.top()) + 1) * self.count_length();
                let left = u128::from(now - self.since) * u128::from(self.source_hz);
                let skipped = (left / whole).saturating_sub(2) * whole;
                let cycles = skipped.div_ceil(self.source_hz.into());
                self.since += cycles as u64;
                self.carry += cycles * u128::from(self.source_hz) - skipped;
            }
        }
        self.since = self.since.max(now);
    }

    /// The outputs have the levels of their channels from cycle `at` on.
    fn drive(&mut self, at: u64, context: &mut Context<'_, '_>) {
        let levels = std::array::from_fn(|channel| self.level(channel));
        self.outputs.drive(levels, at, context);
    }

    fn settle(&mut self, context: &mut Context<'_, '_>) {
        if self.outputs.are_seen() {
            self.drive(context.now, context);
        }
        let Some(irq) = self.irq else { return };
        if self.flags & self.enables != 0 { context.request(irq) } else { context.withdraw(irq) }
    }

    /// Comes to the present; the generic clock must be what it was while it counted.
    fn come(&mut self, address: u32, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        let source_hz = context.events.generic_clocks_hz.get(self.clock_id).copied().unwrap_or(0);
        if self.running() && source_hz != self.source_hz {
            let what = "its clock changed while it counted: this is not modelled";
            return context.refuse(&self.name, address, what);
        }
        self.advance(context);
        self.source_hz = source_hz;
        Ok(())
    }

    fn write_control_a(&mut self, value: u32) -> Result<(), &'static str> {
        if value & SWRST != 0 {
            let (since, outputs) = (self.since, self.outputs.clone());
            self.reset();
            (self.since, self.outputs) = (since, outputs);
            return Ok(());
        }
        if value & (RESOLUTION | CAPTURE) != 0 {
            return Err("dithering and capture are not modelled");
        }
        if value & ENABLE != 0 && self.control_a & ENABLE == 0 {
            if self.source_hz == 0 {
                return Err("it is enabled without a generic clock");
            }
            (self.stopped, self.carry) = (false, 0);
        } else if value & ENABLE == 0 {
            self.stopped = true;
        }
        self.control_a = value & CTRLA_MASK;
        Ok(())
    }

    /// CTRLBCLR and CTRLBSET.
    fn write_control_b(&mut self, bits: u32) -> Result<(), &'static str> {
        let (clear, set) = (bits & 0xff, bits >> 8 & 0xff);
        if set & DIR != 0 {
            return Err("counting down is not modelled");
        }
        self.control_b = self.control_b & !clear | set & (LUPD | ONESHOT);
        match set >> 5 {
            RETRIGGER => {
                (self.count, self.carry) = (0, 0);
                self.stopped = self.control_a & ENABLE == 0;
            }
            STOP_COMMAND => self.stopped = true,
            UPDATE => self.update(),
            _ => {}
        }
        Ok(())
    }

    fn write_register(&mut self, offset: u32, size: u8, value: u32) -> Result<(), &'static str> {
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            CTRLA => return self.write_control_a(merge(self.control_a)),
            CTRLB => return self.write_control_b(merge(0)),
            DBGCTRL => self.debug = merge(self.debug) & 5 << 16,
            INTENCLR => self.enables &= !merge(0),
            INTENSET => self.enables |= merge(0) & FLAGS,
            INTFLAG => self.flags &= !merge(0),
            SYNCBUSY | STATUS => {}
            COUNT => (self.count, self.carry) = (merge(self.count) & self.mask, 0),
            WAVE | WAVEB
                if merge(0) & !(WAVEGEN | POLARITIES) != 0 || !matches!(merge(0) & WAVEGEN, 0 | NPWM) =>
            {
                return Err("of the waveforms (WAVE) only normal frequency and normal PWM are modelled");
            }
            WAVE | WAVEB => self.wave = merge(self.wave),
            PER => (self.period, self.period_buffer) = (merge(self.period), None),
            PERB => self.period_buffer = Some(merge(self.period_buffer.unwrap_or(self.period))),
            // FCTRLA, FCTRLB, WEXCTRL, DRVCTRL, EVCTRL, PATT, PATTB.
            0x0c..=0x18 | 0x20 | PATT | PATTB if merge(0) == 0 => {}
            WEXCTRL => {
                return Err("dead times and other distributions of the outputs (WEXCTRL) are not modelled");
            }
            0x0c..=0x18 | 0x20 | PATT | PATTB => {
                return Err("faults, inverted outputs, events and patterns are not modelled");
            }
            register => {
                let (buffered, first) = (register >= CCB0, if register >= CCB0 { CCB0 } else { CC0 });
                let channel = register.checked_sub(first).map(|offset| offset as usize / 4);
                let channel = channel.filter(|channel| *channel < self.channels);
                let channel = channel.ok_or("register not modelled")?;
                let (own, buffer) = (&mut self.compare[channel], &mut self.compare_buffers[channel]);
                if buffered {
                    *buffer = Some(merge(buffer.unwrap_or(*own)));
                } else {
                    (*own, *buffer) = (merge(*own), None);
                }
            }
        }
        Ok(())
    }

    fn status(&self) -> u32 {
        let buffers = self.compare_buffers.iter().enumerate().filter(|(_, buffer)| buffer.is_some());
        let valid = buffers.fold(0, |valid, (channel, _)| valid | 1 << (CCBV + channel as u32));
        let stopped = if self.stopped { STOP } else { 0 };
        valid | stopped | if self.period_buffer.is_some() { PERBV } else { 0 }
    }
}

impl Peripheral for Tcc {
    fn spec(&self) -> Spec {
        Spec { follows_inputs: true, ..Spec::new(&self.name, self.base..self.base + SIZE) }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.come(address, context)?;
        let offset = address - self.base;
        let word = match offset & !3 {
            CTRLA => self.control_a,
            CTRLB => self.control_b | self.control_b << 8,
            DBGCTRL => self.debug,
            INTENCLR | INTENSET => self.enables,
            INTFLAG => self.flags,
            STATUS => self.status(),
            COUNT => self.count,
            WAVE | WAVEB => self.wave,
            PER => self.period & self.mask,
            PERB => self.period_buffer.unwrap_or(self.period) & self.mask,
            SYNCBUSY | 0x0c..=0x20 | PATT | PATTB => 0,
            register => {
                let first = if register >= CCB0 { CCB0 } else { CC0 };
                let channel = register.checked_sub(first).map_or(4, |offset| offset as usize / 4);
                if channel >= self.channels {
                    return context.refuse(&self.name, address, "register not modelled");
                }
                let own = self.compare[channel];
                let buffered = self.compare_buffers[channel].filter(|_| register >= CCB0);
                buffered.unwrap_or(own) & self.mask
            }
        };
        self.settle(context);
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.come(address, context)?;
        let written = self.write_register(address - self.base, size, value);
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.settle(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let seen = self.outputs.are_seen() && self.wave & WAVEGEN == NPWM || self.enables != 0;
        (self.running() && seen).then(|| self.cycle_of(self.until_event()))
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
        self.settle(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::InputsChanged) {
            self.advance(context);
            self.settle(context);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            // What has gone by of a count, as a part of it, stays; flags of counts since the last
            // look come with the next.
            let passed = u128::from(now.saturating_sub(self.since)) * u128::from(self.source_hz) + self.carry;
            self.carry = passed * u128::from(clock_hz) / u128::from(self.clock_hz.max(1));
            self.since = self.since.max(now);
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        (self.control_a, self.control_b, self.debug, self.wave) = (0, 0, 0, 0);
        self.stopped = true;
        (self.enables, self.flags) = (0, 0);
        (self.period, self.compare) = (u32::MAX, [0; 4]);
        (self.period_buffer, self.compare_buffers) = (None, [None; 4]);
        (self.count, self.since, self.carry) = (0, 0, 0);
        self.outputs.reset();
    }
}
