//! A timer/counter (TC) that counts up, with 8 or 16 bits, or with 32 and the next one as its
//! slave: overflow and compare flags, their interrupt. Its outputs, capture, events and counting
//! down are refused. DS40001882F sections 30.6 and 30.8. Its state is worked out when somebody
//! looks. A slave is not told that it is one, and programs leave it alone.
//!
//! What is written holds at once: STATUS.SYNCBUSY is never set. A read of COUNT that READREQ has
//! not asked for holds up the bus until it is synchronised (section 14.3.1); one that READREQ asked
//! for is taken to come after that.

use super::SYNCHRONISED;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{ClockUpdate, Context, Fault, Part, Peripheral, PeripheralSpec, Spec};

/// CTRLA, in a word with READREQ.
const CTRLA: u32 = 0x00;
/// CTRLBCLR, CTRLBSET, CTRLC.
const CTRLB: u32 = 0x04;
/// DBGCTRL and EVCTRL.
const DBGCTRL: u32 = 0x08;
/// INTENCLR, INTENSET, INTFLAG, STATUS.
const INTEN: u32 = 0x0c;
const COUNT: u32 = 0x10;
const PER: u32 = 0x14;
const CC: u32 = 0x18;
/// With 32 bits.
const CC1: u32 = 0x1c;
const SIZE: u32 = 0x20;
/// Its bus, in [`crate::Events::bridge_shifts`].
const BRIDGE_C: usize = 2;

/// CTRLA.
const SWRST: u32 = 1 << 0;
const ENABLE: u32 = 1 << 1;
const MODE_SHIFT: u32 = 2;
const MODE_8: u32 = 1;
const MODE_32: u32 = 2;
const MODE_RESERVED: u32 = 3;
const WAVEGEN_SHIFT: u32 = 5;
const PRESCALER_SHIFT: u32 = 8;
const CTRLA_MASK: u32 = 0x3f6f;
/// READREQ, in a word with CTRLA.
const RCONT: u32 = 1 << 30;
const RREQ: u32 = 1 << 31;
const ADDR_SHIFT: u32 = 16;
/// Section 30.8.1: clocks of a count, by CTRLA.PRESCALER.
const PRESCALERS: [u64; 8] = [1, 2, 4, 8, 16, 64, 256, 1024];

/// CTRLB: one period; commands.
const DIR: u32 = 1 << 0;
const ONESHOT: u32 = 1 << 2;
const CMD_SHIFT: u32 = 6;
const RETRIGGER: u32 = 1;
const STOP_COMMAND: u32 = 2;

/// INTFLAG.
const OVF: u8 = 1 << 0;
const SYNCRDY: u8 = 1 << 3;
const MC: [u8; 2] = [1 << 4, 1 << 5];
const INTFLAG_MASK: u8 = 0x3b;

/// STATUS.STOP, where INTFLAG's word has it.
const STOP: u32 = 1 << (3 + 24);

/// The timer.
#[derive(Clone)]
pub struct Timer {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_id: usize,
    /// It has a slave for 32 bits.
    paired: bool,
    control_a: u32,
    /// READREQ: its own bits, and the register that it asks for.
    read_request: u32,
    one_shot: bool,
    stopped: bool,
    debug: u32,
    enables: u8,
    flags: u8,
    period: u32,
    compare: [u32; 2],
    /// The counter's value at the cycle `since`, and the part of a count that has passed since it
    /// came to it.
    count: u32,
    since: u64,
    carry: u128,
    /// The generic clock that it counts, and the core's, in Hz.
    source_hz: u64,
    clock_hz: u64,
}

impl Timer {
    /// The timer at `spec.base`, interrupting with `spec.irq`; `settings.clock` is its clock's
    /// GCLK_CLKCTRL.ID, and with `settings.paired` it counts with 32 bits, too.
    ///
    /// # Errors
    /// No clock.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Timer, String> {
        let clock = spec.settings.get("clock").and_then(|clock| usize::try_from(*clock).ok());
        Ok(Timer {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_id: clock.ok_or_else(|| format!("{}: {} needs clock", part.name, spec.name))?,
            paired: spec.settings.get("paired").is_some_and(|paired| *paired != 0),
            control_a: 0,
            read_request: 0,
            one_shot: false,
            stopped: true,
            debug: 0,
            enables: 0,
            flags: 0,
            period: 0xff,
            compare: [0; 2],
            count: 0,
            since: 0,
            carry: 0,
            source_hz: 0,
            clock_hz: part.default_clock_hz,
        })
    }

    fn mode(&self) -> u32 {
        self.control_a >> MODE_SHIFT & 3
    }

    fn eight(&self) -> bool {
        self.mode() == MODE_8
    }

    /// The highest value that it counts to.
    fn highest(&self) -> u32 {
        match self.mode() {
            MODE_8 => 0xff,
            MODE_32 => u32::MAX,
            _ => 0xffff,
        }
    }

    fn running(&self) -> bool {
        self.control_a & ENABLE != 0 && !self.stopped && self.source_hz != 0
    }

    /// The value after which it goes to 0. Table 30-3: CC0 in MFRQ and MPWM; PER with 8 bits, all
    /// ones with more.
    fn top(&self) -> u32 {
        let highest = self.highest();
        let top = match (self.control_a >> WAVEGEN_SHIFT & 1 != 0, self.eight()) {
            (true, _) => self.compare[0],
            (false, true) => self.period,
            (false, false) => highest,
        };
        // Beyond its top it goes on to the highest value.
        if self.count > top { highest } else { top }
    }

    /// A count as `carry` has it: core cycles times the source's frequency.
    fn count_length(&self) -> u128 {
        let prescaler = PRESCALERS[(self.control_a >> PRESCALER_SHIFT & 7) as usize];
        u128::from(self.clock_hz.max(1)) * u128::from(prescaler)
    }

    /// Counts until a flag is set: with the count after the value that it stands for (section
    /// 30.8.8).
    fn counts_until(&self, flag: u8) -> Option<u64> {
        let top = self.top();
        let value = match flag {
            OVF => top,
            _ if flag == MC[0] => self.compare[0],
            _ => self.compare[1],
        };
        let [top, value, count] = [top, value, self.count].map(u64::from);
        let ahead = if value >= count { value - count } else { top - count + 1 + value };
        (value <= top).then_some(ahead + 1)
    }

    fn advance(&mut self, now: u64) {
        let elapsed = u128::from(now.saturating_sub(self.since)) * u128::from(self.source_hz);
        self.since = now;
        if !self.running() {
            self.carry = 0;
            return;
        }
        let passed = self.carry + elapsed;
        self.carry = passed % self.count_length();
        let mut counts = (passed / self.count_length()) as u64;
        while counts != 0 {
            let whole = u64::from(self.top()) + 1;
            let to_end = whole - u64::from(self.count);
            let step = counts.min(to_end);
            let met = |flag: &u8| self.counts_until(*flag).is_some_and(|ahead| ahead <= step);
            self.flags |= [OVF, MC[0], MC[1]].into_iter().filter(met).fold(0, |flags, flag| flags | flag);
            counts -= step;
            self.count = if step == to_end { 0 } else { self.count + step as u32 };
            if step == to_end && self.one_shot {
                self.stopped = true;
                self.carry = 0;
                return;
            }
            // Of many whole periods from 0 on one sets what all set.
            if self.count == 0 {
                let whole = u64::from(self.top()) + 1;
                counts -= (counts / whole).saturating_sub(1) * whole;
            }
        }
    }

    /// Cycles for which a read of COUNT holds up the bus. One that is asked for once serves a
    /// single read.
    fn synchronise_count(&mut self, context: &Context<'_, '_>) -> u64 {
        let asked =
            self.read_request >> ADDR_SHIFT & 0x1f == COUNT && self.read_request & (RREQ | RCONT) != 0;
        if self.read_request & RCONT == 0 {
            self.read_request = 0;
        }
        if asked || !self.running() {
            return 0;
        }
        let (source, bus) = SYNCHRONISED;
        (source * self.clock_hz).div_ceil(self.source_hz) + (bus << context.events.bridge_shifts[BRIDGE_C])
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        if let Some(irq) = self.irq {
            if self.flags & self.enables != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    /// Comes to the present; the generic clock must be what it was while it counted.
    fn look(&mut self, address: u32, context: &Context<'_, '_>) -> Result<(), Fault> {
        let source_hz = context.events.generic_clocks_hz.get(self.clock_id).copied().unwrap_or(0);
        if self.running() && source_hz != self.source_hz {
            return context.refuse(
                &self.name,
                address,
                "its clock changed while it counted: this is not modelled",
            );
        }
        self.advance(context.now);
        self.source_hz = source_hz;
        Ok(())
    }

    fn write_control_a(&mut self, value: u32) -> Result<(), &'static str> {
        if value & SWRST != 0 {
            self.reset();
            return Ok(());
        }
        let value = value & CTRLA_MASK;
        if value & ENABLE != 0 {
            match value >> MODE_SHIFT & 3 {
                MODE_32 if !self.paired => return Err("it cannot count with 32 bits: it has no slave"),
                MODE_RESERVED => return Err("CTRLA.MODE 3 is reserved"),
                _ => {}
            }
            if self.source_hz == 0 {
                return Err("it is enabled without a generic clock");
            }
            if self.control_a & ENABLE == 0 {
                self.stopped = false;
            }
        } else {
            self.stopped = true;
        }
        self.control_a = value;
        Ok(())
    }

    /// CTRLBCLR, CTRLBSET and CTRLC as one word of the bits that are written.
    fn write_control_b(&mut self, bits: u32) -> Result<(), &'static str> {
        let (clear, set, capture) = (bits & 0xff, bits >> 8 & 0xff, bits >> 16 & 0xff);
        if set & DIR != 0 {
            return Err("counting down is not modelled");
        }
        if capture != 0 {
            return Err("capture and inverted outputs (CTRLC) are not modelled");
        }
        self.one_shot = self.one_shot && clear & ONESHOT == 0 || set & ONESHOT != 0;
        match set >> CMD_SHIFT {
            RETRIGGER => {
                self.count = 0;
                self.stopped = self.control_a & ENABLE == 0;
            }
            STOP_COMMAND => self.stopped = true,
            _ => {}
        }
        Ok(())
    }
}

impl Peripheral for Timer {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.look(address, context)?;
        let offset = address - self.base;
        let one_shot = if self.one_shot { ONESHOT } else { 0 };
        let word = match offset & !3 {
            CTRLA => self.control_a,
            CTRLB => one_shot | one_shot << 8,
            DBGCTRL => self.debug,
            INTEN => {
                let enables = u32::from(self.enables);
                let flags = u32::from(self.flags | SYNCRDY) << 16;
                enables | enables << 8 | flags | if self.stopped { STOP } else { 0 }
            }
            COUNT => {
                *context.stall += self.synchronise_count(context);
                self.count
            }
            PER => self.period,
            CC if self.mode() == MODE_32 => self.compare[0],
            CC1 if self.mode() == MODE_32 => self.compare[1],
            CC if self.eight() => self.compare[0] | self.compare[1] << 8,
            CC => self.compare[0] | self.compare[1] << 16,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        self.signal(context);
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.look(address, context)?;
        let offset = address - self.base;
        let bits = merged_word(0, offset, size, value);
        let merge = |old: u32| merged_word(old, offset, size, value);
        let written = match offset & !3 {
            CTRLA if offset & 2 != 0 => {
                self.read_request = bits;
                Ok(())
            }
            CTRLA => self.write_control_a(merge(self.control_a)),
            CTRLB => self.write_control_b(bits),
            DBGCTRL if bits >> 16 != 0 => Err("its events are not modelled"),
            DBGCTRL => {
                self.debug = bits & 1;
                Ok(())
            }
            INTEN => {
                self.enables &= !(bits as u8);
                self.enables |= (bits >> 8) as u8 & INTFLAG_MASK;
                self.flags &= !((bits >> 16) as u8);
                Ok(())
            }
            COUNT => {
                self.count = merge(self.count) & self.highest();
                self.carry = 0;
                Ok(())
            }
            PER if self.eight() => {
                self.period = merge(self.period) & 0xff;
                Ok(())
            }
            at @ (CC | CC1) if self.mode() == MODE_32 => {
                let compare = &mut self.compare[((at - CC) / 4) as usize];
                *compare = merge(*compare);
                Ok(())
            }
            CC if self.eight() => {
                let word = merge(self.compare[0] | self.compare[1] << 8);
                self.compare = [word & 0xff, word >> 8 & 0xff];
                Ok(())
            }
            CC => {
                let word = merge(self.compare[0] | self.compare[1] << 16);
                self.compare = [word & 0xffff, word >> 16];
                Ok(())
            }
            _ => Err("register not modelled"),
        };
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.signal(context);
        Ok(())
    }

    /// The next flag that would interrupt.
    fn due(&self) -> Option<u64> {
        if !self.running() {
            return None;
        }
        let wanted = [OVF, MC[0], MC[1]].into_iter().filter(|flag| self.enables & !self.flags & flag != 0);
        let counts = wanted.filter_map(|flag| self.counts_until(flag)).min()?;
        let left = u128::from(counts) * self.count_length() - self.carry;
        Some(self.since + left.div_ceil(self.source_hz.into()) as u64)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context.now);
        self.signal(context);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.advance(now);
            // The part of a count that has passed keeps its time.
            self.carry = self.carry * u128::from(clock_hz) / u128::from(self.clock_hz.max(1));
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.control_a = 0;
        self.one_shot = false;
        self.stopped = true;
        self.debug = 0;
        self.enables = 0;
        self.flags = 0;
        self.period = 0xff;
        self.compare = [0; 2];
        self.count = 0;
        self.since = 0;
        self.carry = 0;
        self.source_hz = 0;
    }
}
