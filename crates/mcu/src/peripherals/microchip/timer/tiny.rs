//! Timer 1 of an ATtiny85: 8 bits, up to OCR1C, from the core's clock or the fast peripheral clock
//! PCK of the PLL.
//!
//! ATtiny25/45/85 data sheet 2586Q, chapter 12. PWM1A and PWM1B make pulses of (OCR1x + 1) of
//! (OCR1C + 1) ticks, or none where OCR1x is 0; COM1x = 1 gives the complementary output, too. A
//! write takes effect in the cycle after the instruction began; the delays of figure 12-2, two
//! cycles of either clock at most, are left out. The PLL locks 100 us after PLLE, and PCK is
//! exactly 64 MHz, or 32 MHz with LSM. Where the fuses make the core's clock of the PLL, PLLE reads
//! as written. Not modelled, and faults: dead times, TSM and PSR0 (they hold or reset timer 0's
//! prescaler), PCK before the PLL has locked, and ATtiny15 mode (a core's clock of 6.4 MHz).

use super::super::avr_port;
use super::counter::{CHANNELS, Counter, OCFA, TOV};
use super::waveform::{Kind, Top, Waveform};
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Pin, ResetCause, Spec};

/// Registers from DTPS1 on: DT1B, DT1A, PLLCSR; OCR1B, GTCCR, OCR1C, OCR1A, TCNT1, TCCR1.
const DT1A: u32 = 2;
const PLLCSR: u32 = 4;
const OCR1B: u32 = 8;
const GTCCR: u32 = 9;
const OCR1C: u32 = 10;
const OCR1A: u32 = 11;
const TCNT1: u32 = 12;
const TCCR1: u32 = 13;

/// TCCR1; COM1A and CS1 below them.
const CTC1: u8 = 0x80;
const PWM1A: u8 = 0x40;
/// GTCCR.
const TSM: u8 = 0x80;
const PWM1B: u8 = 0x40;
const COM1B: u8 = 0x30;
const FOC1B: u8 = 0x08;
const FOC1A: u8 = 0x04;
const PSR1: u8 = 0x02;
const PSR0: u8 = 0x01;
/// PLLCSR.
const LSM: u8 = 0x80;
const PCKE: u8 = 0x04;
const PLLE: u8 = 0x02;
const PLOCK: u8 = 0x01;

const PCK_HZ: u64 = 64_000_000;
/// "Wait for 100 us" (12.3.9).
const LOCKS_PER_SECOND: u64 = 10_000;
/// The clock of ATtiny15 mode (6.2.3), divided by up to 256.
const TINY15_HZ: u64 = 6_400_000;

/// Bits of TIMSK and TIFR: flag, bit.
const FLAGS: [(u8, u8); 3] = [(TOV, 0x04), (OCFA, 0x40), (OCFA << 1, 0x20)];

/// The timer.
#[derive(Clone)]
pub struct TinyTimer {
    name: String,
    base: u32,
    mask_address: u32,
    flags_address: u32,
    /// The vectors of overflow, compare A and compare B.
    irqs: [u8; 3],
    /// OC1A and OC1B, and the complementary ones.
    pins: [[Option<Pin>; 2]; 2],
    connected: [[bool; 2]; 2],
    clock_hz: u64,
    counter: Counter,
    /// TCCR1, GTCCR and PLLCSR, as far as they keep what is written.
    control: u8,
    general: u8,
    pll: u8,
    /// The cycle at which the PLL has locked.
    locked_at: u64,
    mask: u8,
    flags: u8,
    /// Flags that the converter listens to.
    subscribed: u8,
    /// The prescaler's count at the cycle `origin`, and that up to which ticks are counted.
    base_count: u64,
    origin: u64,
    counted: u64,
    /// The core sleeps without the I/O clock since this cycle.
    stopped: Option<u64>,
    due: Option<u64>,
}

impl TinyTimer {
    /// DTPS1 at `spec.base`, the other registers behind it as on the ATtiny85. Settings `timsk`,
    /// `tifr`: addresses; `port`: PINx of its port; `oca`, `noca`, `ocb`, `nocb`: the bits of OC1A,
    /// its complement, and so for B; `overflow`, `compare_a`, `compare_b`: vectors.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<TinyTimer, String> {
        let setting = |name: &str| {
            let value = spec.settings.get(name).copied();
            value.ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name))
        };
        let port = avr_port(part, spec, "port")?;
        let pin = |name: &str| Ok::<_, String>(Some(Pin::new(&port, setting(name)? as u8 & 7)));
        let irq = |name: &str| Ok::<_, String>(setting(name)? as u8 & 0x7F);
        let mut timer = TinyTimer {
            name: spec.name.clone(),
            base: spec.base,
            mask_address: setting("timsk")? as u32,
            flags_address: setting("tifr")? as u32,
            irqs: [irq("overflow")?, irq("compare_a")?, irq("compare_b")?],
            pins: [[pin("oca")?, pin("noca")?], [pin("ocb")?, pin("nocb")?]],
            connected: [[false; 2]; 2],
            clock_hz: 1,
            counter: Counter::new(0xFF, 2),
            control: 0,
            general: 0,
            pll: 0,
            locked_at: 0,
            mask: 0,
            flags: 0,
            subscribed: 0,
            base_count: 0,
            origin: 0,
            counted: 0,
            stopped: None,
            due: None,
        };
        timer.reset();
        Ok(timer)
    }

    /// Pulses of the prescaler's clock in so many cycles, as a fraction.
    fn rate(&self) -> [u128; 2] {
        if self.pll & PCKE == 0 {
            return [1, 1];
        }
        let hz = if self.pll & LSM == 0 { PCK_HZ } else { PCK_HZ / 2 };
        [hz.into(), self.clock_hz.into()]
    }

    /// The prescaler's count.
    fn prescaler(&self, now: u64) -> u64 {
        let [pulses, cycles] = self.rate();
        let gone = u128::from(now.saturating_sub(self.origin));
        self.base_count + (gone * pulses / cycles) as u64
    }

    /// The first cycle with that count of the prescaler.
    fn cycle(&self, count: u64) -> u64 {
        let [pulses, cycles] = self.rate();
        let ahead = u128::from(count.saturating_sub(self.base_count));
        self.origin + (ahead * cycles).div_ceil(pulses) as u64
    }

    /// From now on the prescaler may count at another rate.
    fn rebase(&mut self, now: u64) {
        self.base_count = self.prescaler(now);
        self.origin = now;
    }

    /// The prescaler's divisor as a power of two (table 12-5).
    fn divisor(&self) -> Option<u32> {
        u32::from(self.control & 0xF).checked_sub(1)
    }

    /// Counts up to `now` and does what is to be done on the way.
    fn advance(&mut self, now: u64, context: &mut Context<'_, '_>) {
        if self.stopped.is_some() {
            return;
        }
        let count = self.prescaler(now).max(self.counted);
        let before = std::mem::replace(&mut self.counted, count);
        let Some(divisor) = self.divisor() else { return };
        let until = count >> divisor;
        let mut ticks = until - (before >> divisor);
        let mut happened = false;
        while ticks > 0 {
            let outputs = self.counter.outputs;
            let steps = self.counter.distance().min(ticks);
            let event = self.counter.run(steps);
            ticks -= steps;
            let cycle = self.cycle((until - ticks) << divisor);
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
        let flags = flags & (TOV | OCFA | OCFA << 1);
        let new = flags & !self.flags;
        self.flags |= flags;
        for ((flag, _), irq) in FLAGS.iter().zip(self.irqs) {
            if self.subscribed & new & flag != 0 {
                context.events.raise(irq, cycle);
            }
        }
        new != 0
    }

    /// COM1A and COM1B.
    fn com(&self) -> [u8; 2] {
        [self.control >> 4 & 3, self.general >> 4 & 3]
    }

    /// Gives the pins the levels of their compare outputs, as of a cycle.
    fn drive(&mut self, cycle: u64, context: &mut Context<'_, '_>) {
        for (channel, com) in self.com().into_iter().enumerate() {
            let complementary = self.counter.pulsed[channel] && com == 1;
            let wanted = [com != 0, complementary];
            for (inverted, connected) in wanted.into_iter().enumerate() {
                let Some(pin) = &self.pins[channel][inverted] else { continue };
                // Timer 0 may have an output at the same pin: who has none there must not let go of
                // the other's.
                if connected || self.connected[channel][inverted] {
                    let level = self.counter.outputs[channel] != (inverted == 1);
                    context.module_output(pin, connected.then_some(level), cycle);
                }
                self.connected[channel][inverted] = connected;
            }
        }
    }

    /// A write of TCCR1 or GTCCR: the mode, the outputs, the clock.
    fn configure(&mut self, context: &mut Context<'_, '_>) {
        let pulsed = [self.control & PWM1A != 0, self.general & PWM1B != 0];
        let pwm = pulsed[0] || pulsed[1];
        let top = if pwm || self.control & CTC1 != 0 { Top::Capture } else { Top::Fixed(0xFF) };
        self.counter.pulsed[..2].copy_from_slice(&pulsed);
        self.counter.set_waveform(Waveform { top, kind: if pwm { Kind::Fast } else { Kind::Plain } });
        for (channel, com) in self.com().into_iter().enumerate() {
            // The pulses of COM1x = 1 are those of 2 (table 12-1).
            self.counter.com[channel] = if pulsed[channel] && com == 1 { 2 } else { com };
        }
        self.drive(context.now + 1, context);
    }

    /// Says what is wrong.
    fn write_register(
        &mut self,
        offset: u32,
        value: u8,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        let now = context.now + 1;
        match offset {
            OCR1A => self.counter.set_compare(0, value.into()),
            OCR1B => self.counter.set_compare(1, value.into()),
            OCR1C => self.counter.capture = value.into(),
            TCNT1 => self.counter.set_count(value.into()),
            TCCR1 => {
                let tiny15 = (0..=8).any(|shift| TINY15_HZ >> shift == self.clock_hz);
                if tiny15 && value & 0xF != 0 {
                    return Err("ATtiny15 mode, which the fuses CKSEL choose, is not modelled");
                }
                self.control = value;
                self.configure(context);
            }
            GTCCR => {
                if value & (TSM | PSR0) != 0 {
                    return Err("TSM and PSR0, which hold or reset timer 0's prescaler, are not modelled");
                }
                self.general = value & (PWM1B | COM1B);
                self.configure(context);
                if value & PSR1 != 0 {
                    (self.base_count, self.origin, self.counted) = (0, now, 0);
                }
                for (bit, channel) in [(FOC1A, 0), (FOC1B, 1)] {
                    if value & bit != 0 {
                        self.counter.force(channel);
                    }
                }
                self.drive(now, context);
            }
            PLLCSR => {
                if value & PLLE != 0 && self.pll & PLLE == 0 {
                    self.locked_at = now + self.clock_hz.div_ceil(LOCKS_PER_SECOND);
                }
                if value & PCKE != 0 && (value & PLLE == 0 || now < self.locked_at) {
                    return Err("PCKE before the PLL has locked (PLOCK)");
                }
                self.rebase(now);
                self.pll = value & (LSM | PCKE | PLLE);
            }
            _ if value != 0 => return Err("dead times (DT1A, DT1B, DTPS1) are not modelled"),
            _ => {}
        }
        Ok(())
    }

    /// Finds anew when it is due, after anything but counting.
    fn plan(&mut self) {
        let wanted = (self.mask | self.subscribed) & !self.flags;
        self.due = self.divisor().filter(|_| self.stopped.is_none()).and_then(|divisor| {
            let ticks = self.counter.ticks_until(wanted)?;
            Some(self.cycle(((self.counted >> divisor) + ticks) << divisor))
        });
    }

    fn request(&self, context: &mut Context<'_, '_>) {
        for ((flag, _), irq) in FLAGS.iter().zip(self.irqs) {
            if self.flags & self.mask & flag != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    fn on_interrupt_acknowledged(&mut self, irq: u8) {
        for ((flag, _), own) in FLAGS.iter().zip(self.irqs) {
            if own == irq {
                self.flags &= !flag;
            }
        }
        self.plan();
    }

    fn on_flags_subscribed(&mut self, vectors: u128, includes_set: bool, context: &mut Context<'_, '_>) {
        self.subscribed = 0;
        for ((flag, _), irq) in FLAGS.iter().zip(self.irqs) {
            if vectors >> irq & 1 == 1 {
                self.subscribed |= flag;
                if includes_set && self.flags & flag != 0 {
                    context.events.raise(irq, context.now);
                }
            }
        }
        self.plan();
    }
}

/// Flags as bits of TIMSK and TIFR.
fn bits_of(flags: u8) -> u8 {
    FLAGS.iter().filter(|(flag, _)| flags & flag != 0).fold(0, |bits, (_, bit)| bits | bit)
}

/// Bits of TIMSK and TIFR as flags.
fn flags_of(bits: u8) -> u8 {
    FLAGS.iter().filter(|(_, bit)| bits & bit != 0).fold(0, |flags, (flag, _)| flags | flag)
}

impl Peripheral for TinyTimer {
    fn spec(&self) -> Spec {
        let base = self.base;
        let single = |address: u32| address..address + 1;
        Spec {
            shared: vec![self.mask_address, self.flags_address],
            interrupts: self.irqs.iter().fold(0, |all, irq| all | 1 << irq),
            ..Spec::with_ranges(
                &self.name,
                [
                    base..base + DT1A + 1,
                    single(base + PLLCSR),
                    base + OCR1B..base + TCCR1 + 1,
                    single(self.mask_address),
                    single(self.flags_address),
                ],
            )
        }
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now, context);
        let value = if address == self.mask_address {
            bits_of(self.mask)
        } else if address == self.flags_address {
            bits_of(self.flags)
        } else {
            match address - self.base {
                OCR1A => self.counter.buffer[0] as u8,
                OCR1B => self.counter.buffer[1] as u8,
                OCR1C => self.counter.capture as u8,
                TCNT1 => self.counter.count as u8,
                TCCR1 => self.control,
                GTCCR => self.general,
                PLLCSR => {
                    let locked = self.pll & PLLE != 0 && context.now >= self.locked_at;
                    self.pll | if locked { PLOCK } else { 0 }
                }
                _ => 0,
            }
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
        if address == self.mask_address {
            self.mask = flags_of(value);
        } else if address == self.flags_address {
            self.flags &= !flags_of(value);
        } else {
            let done = self.write_register(address - self.base, value, context);
            done.map_err(|what| context.fault(&self.name, address, what))?;
        }
        self.plan();
        self.request(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.due
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context.now, context);
        self.request(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InterruptAcknowledged(irq) => self.on_interrupt_acknowledged(irq),
            Event::FlagsSubscribed { vectors, includes_set } => {
                self.on_flags_subscribed(vectors, includes_set, context)
            }
            Event::Sleep(_) => {
                self.advance(context.now, context);
                self.stopped = Some(context.now);
                self.plan();
                self.request(context);
            }
            Event::Wake => {
                if let Some(since) = self.stopped.take() {
                    // The prescaler stood still, too.
                    self.origin += context.now - since;
                    self.plan();
                }
            }
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.rebase(now);
            self.locked_at =
                crate::clock::rescaled(self.locked_at, now.min(self.locked_at), self.clock_hz, clock_hz);
            self.clock_hz = clock_hz;
            self.plan();
        }
    }

    fn clock_needed(&self) -> Option<&'static str> {
        // A sleep stops the PLL, which the data sheet does not say how long it takes to lock again.
        (self.pll & PCKE != 0 && self.divisor().is_some()).then_some("clkI/O")
    }

    fn reset(&mut self) {
        self.counter = Counter::new(0xFF, 2);
        self.counter.zero_is_none = true;
        self.counter.pulsed = [false; CHANNELS];
        self.counter.capture = 0xFF;
        self.connected = [[false; 2]; 2];
        self.control = 0;
        self.general = 0;
        self.pll = 0;
        self.locked_at = 0;
        self.mask = 0;
        self.flags = 0;
        self.subscribed = 0;
        self.base_count = 0;
        self.origin = 0;
        self.counted = 0;
        self.stopped = None;
        self.due = None;
    }

    fn reset_by(&mut self, _cause: ResetCause, now: u64) {
        self.reset();
        self.origin = now;
    }
}
