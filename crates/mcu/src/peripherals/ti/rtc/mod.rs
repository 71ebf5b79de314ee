//! The real-time clocks RTC_A of the MSP430F5xx and RTC_C of the MSP430FR5xx.
//!
//! Source: SLAU208, chapter "Real-Time Clock A (RTC_A)", and SLAU367, chapter "Real-Time Clock C
//! (RTC_C)"; registers, bits and vector numbers compared with TI's headers msp430f5438a.h and
//! msp430fr5994.h. RTC_A counts or is a calendar, RTC_C of these parts is a calendar and behind a
//! key. Calendar registers change at once, and RTCRDY is clear from 64 periods of the crystal
//! before that to 64 after it. Calibration and the output RTCCLK are refused with a fault, and so
//! is a write to RTC_C while it is locked, which the part ignores. The crystal never fails. A reset
//! by the watchdog leaves the clock as it is, others do not.

mod calendar;
mod counters;

use super::clocks::{self, Clocks};
use super::word::{Word, part_of};
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, ResetCause, Spec};
use calendar::{Calendar, from_bcd, to_bcd};
use counters::{Counters, Source, Stage};

/// RTC_A: RTCCTL01 and RTCCTL23. RTC_C: RTCCTL0, RTCCTL13, RTCOCAL and RTCTCMP.
const CTL0: u32 = 0x00;
const CTL1: u32 = 0x02;
const OCAL: u32 = 0x04;
const TCMP: u32 = 0x06;
const PS0CTL: u32 = 0x08;
const PS1CTL: u32 = 0x0a;
const PS: u32 = 0x0c;
const IV: u32 = 0x0e;
const TIM0: u32 = 0x10;
const AMINHR: u32 = 0x18;
const ADOWDAY: u32 = 0x1a;
const BIN2BCD: u32 = 0x1c;
const BCD2BIN: u32 = 0x1e;

/// RTCCTL01: RTCRDYIFG, RTCAIFG, RTCTEVIFG, RTCOFIFG, which are enabled by the bits four above.
const RTCRDYIFG: u32 = 1 << 0;
const RTCAIFG: u32 = 1 << 1;
const RTCTEVIFG: u32 = 1 << 2;
const FLAGS: u32 = 0x0f;
const ENABLES: u32 = 4;
/// RTCTEVx; RTCSSELx; RTCRDY; RTCMODE; RTCHOLD; RTCBCD.
const RTCTEV: u32 = 8;
const RTCSSEL: u32 = 10;
const RTCRDY: u32 = 1 << 12;
const RTCMODE: u32 = 1 << 13;
const RTCHOLD: u32 = 1 << 14;
const RTCBCD: u32 = 1 << 15;
/// RTCPSxCTL: RTxPSIFG, RTxPSIE, RTxIPx, RTxPSHOLD, RTxPSDIVx, RTxSSELx.
const RTPSIFG: u32 = 1 << 0;
const RTPSIE: u32 = 1 << 1;
const RTIP: u32 = 2;
const RTPSHOLD: u32 = 1 << 8;
const RTPSDIV: u32 = 11;
const RTSSEL: u32 = 14;
/// RTC_C, RTCCTL0_H.
const KEY_WRITE: u32 = 0xa5;
const KEY_READ: u32 = 0x9600;
/// Periods of the crystal in a second, and from a change of the calendar to RTCRDY.
const SECOND: u64 = 32_768;
const KEEP_OUT: u64 = 64;
const ACLK: Source = Source::Clock(clocks::Source::Aclk);
const SMCLK: Source = Source::Clock(clocks::Source::Smclk);

/// Module: one of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// RTC_A.
    A,
    /// RTC_C.
    C,
}

/// A real-time clock.
#[derive(Clone)]
pub struct Rtc {
    name: String,
    kind: Kind,
    base: u32,
    irq: u8,
    unlocked: bool,
    /// As RTCCTL01 of RTC_A has it.
    control: u32,
    prescalers: [u32; 2],
    counters: Counters,
    calendar: Calendar,
    /// RTCAMIN, RTCAHOUR, RTCADOW, RTCADAY.
    alarm: [u32; 4],
    converted: [u32; 2],
    served: bool,
}

impl Rtc {
    /// The clock with its registers from `spec.base` on; `spec.irq` is its vector.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec, kind: Kind) -> Rtc {
        let mut rtc = Rtc {
            name: spec.name.clone(),
            kind,
            base: spec.base,
            irq: spec.irq.unwrap_or(0),
            unlocked: false,
            control: 0,
            prescalers: [0; 2],
            counters: Counters::new(Clocks::new(part)),
            calendar: Calendar::default(),
            alarm: [0; 4],
            converted: [0; 2],
            served: false,
        };
        rtc.reset();
        rtc
    }

    fn is_calendar(&self) -> bool {
        self.control & RTCMODE != 0
    }

    fn bcd(&self) -> bool {
        self.control & RTCBCD != 0
    }

    /// Connects the counters to their clock sources, as the registers select them.
    fn connect(&mut self) {
        let held = self.control & RTCHOLD != 0;
        if self.is_calendar() {
            // "RT0PS and RT1PS are automatically configured": 128 Hz and 1 Hz.
            let sources = [ACLK, Source::Before(8), Source::Before(7)];
            self.counters.stages = sources.map(|source| Stage { source, held });
            return;
        }
        let divided = |prescaler: u32| Source::Before((prescaler >> RTPSDIV & 7) + 1);
        let clock = |select: u32, before: Source| match select {
            0 => ACLK,
            1 => SMCLK,
            _ => before,
        };
        let [first, second] = self.prescalers;
        let stage = |source, held| Stage { source, held };
        self.counters.stages = [
            stage(clock(first >> RTSSEL & 1, ACLK), first & RTPSHOLD != 0),
            stage(clock(second >> RTSSEL & 3, divided(first)), second & RTPSHOLD != 0),
            stage(clock(self.control >> RTCSSEL & 3, divided(second)), held),
        ];
    }

    /// Position of the calendar in its second, in periods of the crystal.
    fn position(&self) -> u64 {
        let [first, second, _] = self.counters.values;
        (second & 0x7f) << 8 | first & 0xff
    }

    /// Periods of the crystal up to RTCRDYIFG.
    fn to_ready(&self) -> u64 {
        (KEEP_OUT + SECOND - self.position() - 1) % SECOND + 1
    }

    /// The bits of the counter behind which RTCTEVx has an overflow.
    fn event_bits(&self) -> u32 {
        8 * ((self.control >> RTCTEV & 3) + 1)
    }

    /// Sets the flags of all that came up to `cycle`.
    fn advance(&mut self, cycle: u64) {
        let (before, to_ready) = (self.counters.values, self.to_ready());
        let after = self.counters.advance(cycle);
        let passed = |number: usize, shift: u32| before[number] >> shift != after[number] >> shift;
        for number in 0..2 {
            let interval = (self.prescalers[number] >> RTIP & 7) + 1;
            self.prescalers[number] |= u32::from(passed(number, interval)) * RTPSIFG;
        }
        if !self.is_calendar() {
            self.control |= u32::from(passed(2, self.event_bits())) * RTCTEVIFG;
            return;
        }
        if after[0] - before[0] >= to_ready {
            self.control |= RTCRDYIFG;
        }
        for _ in before[2]..after[2] {
            let passed = self.calendar.tick();
            let events = [passed.minute, passed.hour, passed.midnight, passed.noon];
            if events[(self.control >> RTCTEV & 3) as usize] {
                self.control |= RTCTEVIFG;
            }
            if passed.minute && self.calendar.matches(self.alarm, self.bcd()) {
                self.control |= RTCAIFG;
            }
        }
    }

    /// The flags whose interrupts are enabled: those of RTCCTL01, and of the prescalers above them.
    fn pending(&self) -> u32 {
        let asks = |prescaler: u32| u32::from(prescaler & (RTPSIE | RTPSIFG) == RTPSIE | RTPSIFG);
        let prescalers = asks(self.prescalers[0]) << 4 | asks(self.prescalers[1]) << 5;
        self.control & self.control >> ENABLES & FLAGS | prescalers
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.pending() == 0 {
            context.withdraw(self.irq);
        } else {
            context.request(self.irq);
        }
    }

    /// Reads RTCIV, which clears the flag that it names: RTC_C's RTCOFIFG, then RTCRDYIFG,
    /// RTCTEVIFG, RTCAIFG, RT0PSIFG, RT1PSIFG.
    fn take_vector(&mut self) -> u32 {
        let pending = self.pending();
        let order: &[u32] = if self.kind == Kind::C { &[3, 0, 2, 1, 4, 5] } else { &[0, 2, 1, 4, 5] };
        let Some(place) = order.iter().position(|bit| pending >> bit & 1 == 1) else { return 0 };
        match order[place] {
            bit @ 0..4 => self.control &= !(1 << bit),
            bit => self.prescalers[bit as usize - 4] &= !RTPSIFG,
        }
        2 * place as u32 + 2
    }

    /// Writes RTCCTL01, or what stands for it.
    fn write_control(&mut self, value: u32) {
        let value = value & !RTCRDY | if self.kind == Kind::C { RTCMODE } else { 0 };
        let changed = self.control ^ value;
        self.control = value;
        if changed & (RTCMODE | RTCBCD) != 0 {
            // "In addition, RT0PS and RT1PS are cleared."
            self.calendar = Calendar::default();
            self.counters.values = [0; 3];
        }
    }

    /// Writes a register that RTC_C locks.
    fn write_locked(&mut self, offset: u32, write: Word) -> Result<(), &'static str> {
        match (offset, self.kind) {
            (CTL0, Kind::A) => self.write_control(write.onto(self.control & !RTCRDY)),
            (CTL0, Kind::C) => self.control = self.control & !0xff | write.onto(self.control & 0xff) & 0xff,
            (CTL1, Kind::C) => {
                if write.bits & 0xff00 != 0 {
                    return Err("the output RTCCLK is not modelled");
                }
                self.write_control(self.control & 0xff | write.onto(self.control >> 8) << 8 & 0xff00);
            }
            (CTL1, Kind::A) | (OCAL | TCMP, Kind::C) => {
                if write.bits & 0x037f != 0 {
                    return Err("calibration and the output RTCCLK are not modelled");
                }
            }
            (PS0CTL | PS1CTL, _) => {
                let number = ((offset - PS0CTL) / 2) as usize;
                let sources = if self.kind == Kind::C { 0 } else { 0xc000 };
                self.prescalers[number] = write.onto(self.prescalers[number]) & (0x391f | sources);
            }
            (PS, _) => {
                let word = write.onto(self.prescaler_values());
                for (number, byte) in [word & 0xff, word >> 8].into_iter().enumerate() {
                    self.counters.values[number] = self.counters.values[number] & !0xff | u64::from(byte);
                }
            }
            (TIM0..AMINHR, _) => {
                let number = ((offset - TIM0) / 2) as usize;
                let word = write.onto(self.time_word(number));
                if self.is_calendar() {
                    self.calendar.set_word(number, word, self.bcd());
                } else if number < 2 {
                    let shift = 16 * number as u32;
                    let kept = self.counters.values[2] & 0xffff_ffff & !(0xffff << shift);
                    self.counters.values[2] = kept | u64::from(word) << shift;
                }
            }
            _ => return Err("this register is not modelled"),
        }
        self.connect();
        Ok(())
    }

    /// RTCPS.
    fn prescaler_values(&self) -> u32 {
        let [first, second, _] = self.counters.values;
        (first & 0xff | (second & 0xff) << 8) as u32
    }

    /// RTCTIM0, RTCTIM1, RTCDATE, RTCYEAR, or the counter.
    fn time_word(&self, number: usize) -> u32 {
        match (self.is_calendar(), number) {
            (true, _) => self.calendar.word(number, self.bcd()),
            (false, 0 | 1) => (self.counters.values[2] >> (16 * number) & 0xffff) as u32,
            _ => 0,
        }
    }

    fn shown_control(&self) -> u32 {
        let ready = (KEEP_OUT..SECOND - KEEP_OUT).contains(&self.position());
        self.control | if self.is_calendar() && ready { RTCRDY } else { 0 }
    }
}

impl Peripheral for Rtc {
    fn spec(&self) -> Spec {
        let size = if self.kind == Kind::C { 0x20 } else { 0x1c };
        Spec { interrupts: 1 << self.irq, ..Spec::new(&self.name, self.base..self.base + size) }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now);
        let offset = (address - self.base) & !1;
        let word = match (offset, self.kind) {
            (CTL0, Kind::A) => self.shown_control(),
            (CTL0, Kind::C) => KEY_READ | self.control & 0xff,
            (CTL1, Kind::C) => self.shown_control() >> 8,
            // RTCTCRDY: a compensation could be written.
            (TCMP, Kind::C) => 0x4000,
            (CTL1, Kind::A) | (OCAL, Kind::C) => 0,
            (PS0CTL | PS1CTL, _) => self.prescalers[((offset - PS0CTL) / 2) as usize],
            (PS, _) => self.prescaler_values(),
            (IV, _) => self.take_vector(),
            (TIM0..AMINHR, _) => self.time_word(((offset - TIM0) / 2) as usize),
            (AMINHR, _) => self.alarm[0] | self.alarm[1] << 8,
            (ADOWDAY, _) => self.alarm[2] | self.alarm[3] << 8,
            (BIN2BCD, _) => to_bcd(self.converted[0]),
            (BCD2BIN, _) => from_bcd(self.converted[1]),
            _ => return context.refuse(&self.name, address, "this register is not modelled"),
        };
        self.update(context);
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context.now);
        let write = Word::new(address, size, value);
        let offset = (address - self.base) & !1;
        match offset {
            CTL0 if self.kind == Kind::C => {
                if write.mask & 0xff00 != 0 {
                    // Any other key locks the registers.
                    self.unlocked = write.bits >> 8 == KEY_WRITE;
                } else if !self.unlocked {
                    return context.refuse(&self.name, address, LOCKED);
                }
                if self.unlocked && write.mask & 0xff != 0 {
                    let low = Word { bits: write.bits & 0xff, mask: 0xff };
                    self.write_locked(CTL0, low).map_err(|what| context.fault(&self.name, address, what))?;
                }
            }
            IV => {
                self.take_vector();
            }
            AMINHR | ADOWDAY => {
                let first = (offset - AMINHR) as usize;
                let word = write.onto(self.alarm[first] | self.alarm[first + 1] << 8);
                (self.alarm[first], self.alarm[first + 1]) = (word & 0xff, word >> 8);
            }
            BIN2BCD | BCD2BIN if self.kind == Kind::C => {
                let number = ((offset - BIN2BCD) / 2) as usize;
                let bits = if number == 0 { 0xfff } else { 0xffff };
                self.converted[number] = write.onto(self.converted[number]) & bits;
            }
            _ if self.kind == Kind::C && !self.unlocked => {
                return context.refuse(&self.name, address, LOCKED);
            }
            _ => self.write_locked(offset, write).map_err(|what| context.fault(&self.name, address, what))?,
        }
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        self.counters.clock_needed()
    }

    fn due(&self) -> Option<u64> {
        if self.served {
            return Some(0);
        }
        let counters = &self.counters;
        let enabled = |flag: u32| self.control >> ENABLES & flag != 0;
        let prescaler = |number: usize| {
            let control = self.prescalers[number];
            let when = counters.when_multiple(number, (control >> RTIP & 7) + 1);
            when.filter(|_| control & RTPSIE != 0)
        };
        let rest = if !self.is_calendar() {
            [counters.when_multiple(2, self.event_bits()).filter(|_| enabled(RTCTEVIFG)), None]
        } else {
            let minute = counters.values[2] + u64::from(60 - self.calendar.second.min(59));
            let ready = counters.values[0] + self.to_ready();
            [
                counters.when(2, minute).filter(|_| enabled(RTCTEVIFG | RTCAIFG)),
                counters.when(0, ready).filter(|_| enabled(RTCRDYIFG)),
            ]
        };
        [prescaler(0), prescaler(1)].into_iter().chain(rest).flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        self.advance(context.now);
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, _context: &mut Context<'_, '_>) {
        if matches!(event, Event::InterruptAcknowledged(_)) {
            // The flags stay until software or RTCIV clears them.
            self.served = true;
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => {
                if now != 0 {
                    self.advance(now);
                }
                self.counters.clocks.set_clock(clock_hz, now);
            }
            // RTC_C counts LFXTCLK itself, whatever ACLK is.
            ClockUpdate::Subsystem(clocks) if self.kind == Kind::A => {
                if now != 0 {
                    self.advance(now);
                }
                self.counters.clocks.set(&clocks, now);
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.unlocked = false;
        self.control = RTCHOLD | if self.kind == Kind::C { RTCMODE } else { 0 };
        self.prescalers = [RTPSHOLD; 2];
        self.counters = Counters::new(self.counters.clocks);
        self.calendar = Calendar::default();
        self.alarm = [0; 4];
        self.converted = [0; 2];
        self.served = false;
        self.connect();
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        if !matches!(cause, ResetCause::Watchdog | ResetCause::Password(_)) {
            self.reset();
        }
    }
}

/// Refusal of a write to a locked register.
const LOCKED: &str = "the registers are locked: RTCCTL0_H must hold 0xa5";
