//! Timer_A of the MSP430F5xx: up and continuous mode, compare.
//!
//! Source: SLAU208, chapter "Timer_A". The counter runs from SMCLK or ACLK through both dividers. Capture, the
//! up/down mode, external clocks and the output units are not modelled and refused with a fault. A counter is not
//! stepped: its value is computed from the cycle, and the machine is woken only for interrupts that are enabled.

use super::clocks::Clocks;
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec};
use std::ops::Range;

const CTL: u32 = 0x00;
const CCTL0: u32 = 0x02;
const R: u32 = 0x10;
const CCR0: u32 = 0x12;
const EX0: u32 = 0x20;
const IV: u32 = 0x2e;
const END: u32 = 0x30;

/// Bits of `TAxCTL`.
const TACLR: u32 = 0x04;
const TAIE: u32 = 0x02;
const TAIFG: u32 = 0x01;
/// Bits of `TAxCCTLn`: capture, output mode, enable, flag.
const CAP: u32 = 0x100;
const OUTMOD: u32 = 0xe0;
const CCIE: u32 = 0x10;
const CCIFG: u32 = 0x01;
/// `MCx`: stopped, up, continuous.
const MC_STOP: u32 = 0;
const MC_UP: u32 = 1;
const MC_CONTINUOUS: u32 = 2;
/// The longest Timer_A has seven channels.
const CHANNELS: usize = 7;

/// Timer_A.
#[derive(Clone)]
pub struct TimerA {
    name: String,
    base: u32,
    /// Vector of `CCR0`; the one below serves all other flags.
    irq: u8,
    clocks: Clocks,
    channels: usize,
    control: u32,
    expansion: u32,
    capture_control: [u32; CHANNELS],
    compare: [u32; CHANNELS],
    /// The counter at its last change of settings, and the count of the source clock then.
    value: u32,
    since: u64,
    /// Counter clocks since then whose flags are set already.
    seen: u64,
    served: bool,
}

impl TimerA {
    /// The timer with its registers from `spec.base` on; `spec.irq` is the vector of `CCR0`, and the setting
    /// `channels` says how many capture/compare registers it has.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> TimerA {
        let channels = spec.settings.get("channels").copied().unwrap_or(3);
        TimerA {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.unwrap_or(1),
            clocks: Clocks::new(part),
            channels: (channels.max(1) as usize).min(CHANNELS),
            control: 0,
            expansion: 0,
            capture_control: [0; CHANNELS],
            compare: [0; CHANNELS],
            value: 0,
            since: 0,
            seen: 0,
            served: false,
        }
    }

    fn mode(&self) -> u32 {
        // Up mode with CCR0 = 0 stops the timer.
        match self.control >> 4 & 3 {
            MC_UP if self.compare[0] == 0 => MC_STOP,
            mode => mode,
        }
    }

    fn divider(&self) -> u64 {
        (1 << (self.control >> 6 & 3)) * (u64::from(self.expansion & 7) + 1)
    }

    fn counts_aclk(&self) -> bool {
        self.control >> 8 & 3 == 1
    }

    fn source_count(&self, cycle: u64) -> u64 {
        if self.counts_aclk() { self.clocks.aclk_count(cycle) } else { cycle }
    }

    /// Counter clocks since the last change of settings.
    fn clocks_at(&self, cycle: u64) -> u64 {
        if self.mode() == MC_STOP { 0 } else { (self.source_count(cycle) - self.since) / self.divider() }
    }

    /// The cycle of a counter clock.
    fn cycle_of(&self, clock: u64) -> u64 {
        let count = self.since + clock * self.divider();
        if self.counts_aclk() { self.clocks.aclk_edge(count) } else { count }
    }

    fn period(&self) -> u64 {
        if self.mode() == MC_UP { u64::from(self.compare[0]) + 1 } else { 0x1_0000 }
    }

    /// The clock, counted from 0, at which the counter stands at 0 for the first time, where it starts beyond `CCR0`;
    /// else the clock at which it would have stood there.
    fn phase(&self) -> u64 {
        let (value, period) = (u64::from(self.value), self.period());
        // Beyond the period the next clock goes to 0.
        if value >= period { period - 1 } else { value }
    }

    fn counter(&self, clock: u64) -> u32 {
        if clock == 0 { self.value } else { ((self.phase() + clock) % self.period()) as u32 }
    }

    /// The first clock after `clock` at which the counter gets to `value`.
    fn next(&self, value: u32, clock: u64) -> Option<u64> {
        let (value, period) = (u64::from(value), self.period());
        if self.mode() == MC_STOP || value >= period {
            return None;
        }
        let now = (self.phase() + clock) % period;
        let ahead = (value + period - now) % period;
        Some(clock + if ahead == 0 { period } else { ahead })
    }

    /// Sets the flags of all that came up to `cycle`.
    fn advance(&mut self, cycle: u64) {
        let clock = self.clocks_at(cycle);
        let came = |value, from| self.next(value, from).is_some_and(|at| at <= clock);
        let overflow = came(0, self.seen);
        let compares: Vec<bool> = (0..self.channels).map(|n| came(self.compare[n], self.seen)).collect();
        self.control |= u32::from(overflow) * TAIFG;
        for (n, matched) in compares.into_iter().enumerate() {
            self.capture_control[n] |= u32::from(matched) * CCIFG;
        }
        self.seen = clock;
    }

    /// Starts counting anew from here, where settings are about to change.
    fn rebase(&mut self, cycle: u64) {
        self.advance(cycle);
        self.value = self.counter(self.seen);
        self.since = self.source_count(cycle);
        self.seen = 0;
    }

    fn pending(&self, channel: usize) -> bool {
        self.capture_control[channel] & (CCIE | CCIFG) == CCIE | CCIFG
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        let overflow = self.control & (TAIE | TAIFG) == TAIE | TAIFG;
        let others = overflow || (1..self.channels).any(|channel| self.pending(channel));
        for (irq, requested) in [(self.irq, self.pending(0)), (self.irq - 1, others)] {
            if requested {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    /// Reads and clears the interrupt of the highest priority but that of `CCR0`.
    fn take_vector(&mut self) -> u32 {
        for channel in 1..self.channels {
            if self.pending(channel) {
                self.capture_control[channel] &= !CCIFG;
                return 2 * channel as u32;
            }
        }
        if self.control & (TAIE | TAIFG) == TAIE | TAIFG {
            self.control &= !TAIFG;
            return 0x0e;
        }
        0
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }
}

impl Peripheral for TimerA {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + END).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context.now);
        let offset = (address - self.base) & !1;
        let channels = self.channels as u32;
        let word = match offset {
            CTL => self.control,
            R => self.counter(self.seen),
            EX0 => self.expansion,
            IV => self.take_vector(),
            _ if (CCTL0..CCTL0 + 2 * channels).contains(&offset) => {
                self.capture_control[((offset - CCTL0) / 2) as usize]
            }
            _ if (CCR0..CCR0 + 2 * channels).contains(&offset) => {
                self.compare[((offset - CCR0) / 2) as usize]
            }
            _ => return Err(self.fault(address, context, "there is no such register")),
        };
        self.update(context);
        Ok(if size == 2 { word } else { word >> (8 * (address & 1)) & 0xff })
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if size != 2 {
            return Err(self.fault(address, context, "the registers are written in words"));
        }
        self.rebase(context.now);
        let offset = address - self.base;
        let channels = self.channels as u32;
        match offset {
            CTL => {
                if value >> 4 & 3 > MC_CONTINUOUS {
                    return Err(self.fault(address, context, "the up/down mode is not modelled"));
                }
                if value >> 4 & 3 != MC_STOP && !matches!(value >> 8 & 3, 1 | 2) {
                    return Err(self.fault(address, context, "an external clock is not modelled"));
                }
                self.control = value & 0x3ff & !TACLR;
                self.since = self.source_count(context.now);
                if value & TACLR != 0 {
                    self.value = 0;
                }
            }
            R => self.value = value,
            EX0 => self.expansion = value & 7,
            IV => {
                self.take_vector();
            }
            _ if (CCTL0..CCTL0 + 2 * channels).contains(&offset) => {
                if value & (CAP | OUTMOD) != 0 {
                    return Err(self.fault(address, context, "capture and output units are not modelled"));
                }
                self.capture_control[((offset - CCTL0) / 2) as usize] = value;
            }
            _ if (CCR0..CCR0 + 2 * channels).contains(&offset) => {
                self.compare[((offset - CCR0) / 2) as usize] = value;
            }
            _ => return Err(self.fault(address, context, "there is no such register")),
        }
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        (self.mode() != MC_STOP).then_some(if self.counts_aclk() { "ACLK" } else { "SMCLK" })
    }

    fn due(&self) -> Option<u64> {
        if self.served {
            return Some(0);
        }
        let overflow = (self.control & TAIE != 0).then_some(0);
        let enabled =
            (0..self.channels).filter(|n| self.capture_control[*n] & CCIE != 0).map(|n| self.compare[n]);
        overflow
            .into_iter()
            .chain(enabled)
            .filter_map(|value| self.next(value, self.seen))
            .min()
            .map(|clock| self.cycle_of(clock))
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        self.advance(context.now);
        self.update(context);
    }

    fn taken(&mut self, irq: u8) {
        if irq == self.irq {
            self.capture_control[0] &= !CCIFG;
        }
        // The flags behind the other vector stay until software clears them.
        self.served |= irq == self.irq - 1;
    }

    fn reset(&mut self) {
        self.control = 0;
        self.expansion = 0;
        self.capture_control = [0; CHANNELS];
        self.compare = [0; CHANNELS];
        self.value = 0;
        self.since = 0;
        self.seen = 0;
        self.served = false;
    }

    fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.clocks.set_clock(clock_hz, now);
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
