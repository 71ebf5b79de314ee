//! The unified clock system of the MSP430F5xx.
//!
//! Source: SLAU208, chapter "Unified Clock System (UCS)". MCLK is given from outside, and then a program runs at that clock from the
//! first instruction, whatever it sets; or it is what the program sets, at once: the frequency-locked loop gives what
//! it is told, also while SCG0 holds it. What is seen of its settling then is UCSCTL0, whose taps and modulation ([`fll`]) move by one in each
//! period of the divided reference, and DCOFFG, which is set while the tap is the lowest or the highest. There is no crystal at XT2. What the
//! model needs to hold is that SMCLK equals MCLK and that ACLK has 32,768 Hz; settings that would change either are refused
//! with a fault rather than counted wrongly. The other fault flags are set by power-up and stay clear once cleared; OFIFG stays set while
//! one of them is set and the loop settles.

use super::clocks::Clocks;
use super::fll::{HIGHEST_TAP, LOWEST_TAP, POSITIONS, Ranges, is_outermost};
use super::word::{Word, part_of};
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec, ResetCause};
use std::ops::Range;

const UCSCTL0: u32 = 0x00;
const UCSCTL1: u32 = 0x02;
const UCSCTL2: u32 = 0x04;
const UCSCTL3: u32 = 0x06;
const UCSCTL4: u32 = 0x08;
const UCSCTL5: u32 = 0x0a;
const UCSCTL7: u32 = 0x0e;
/// UCSCTL7: DCOFFG, and all fault flags.
const DCOFFG: u32 = 1;
const FAULTS: u32 = 0x0f;
/// UCSCTL0: DCOx and MODx, which are one number.
const MOD: u32 = 3;
const END: u32 = 0x12;
/// UCSCTL0 to UCSCTL8 after power-up.
const AFTER_RESET: [u32; 9] = [0, 0x20, 0x101f, 0, 0x44, 0, 0xc1cd, 0x0703, 0x0707];
/// Sources of `UCSCTL4`: XT1CLK and REFOCLK have 32,768 Hz; 3 falls back to XT1 or REFO.
const XT1: u32 = 0;
const REFO: u32 = 2;
const VLO: u32 = 1;
const DCO: u32 = 3;
/// REFOCLK, and VLOCLK as SLAS655H's "Internal Very-Low-Power Low-Frequency Oscillator (VLO)" has it, typically.
const REFO_HZ: u64 = 32_768;
const VLO_HZ: u64 = 9_400;

/// The unified clock system.
#[derive(Clone)]
pub struct Ucs {
    name: String,
    base: u32,
    registers: [u32; 9],
    /// XT1's crystal, where the core's clock is what the program sets.
    crystal_hz: Option<u64>,
    clocks: Clocks,
    ranges: Ranges,
    /// Where DCOx and MODx stood after so many edges of ACLK. From there the loop moves them, which nobody sees until they are read.
    position: u32,
    since: u64,
    /// The cycle at which they come to the lowest or the highest tap, or have been there since a reset.
    fault_due: Option<u64>,
}

impl Ucs {
    /// The clock system with its registers from `spec.base` on. Settings: those of [`Ranges::new`].
    ///
    /// # Errors
    /// One of them is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Ucs, String> {
        Ok(Ucs {
            name: spec.name.clone(),
            base: spec.base,
            registers: AFTER_RESET,
            crystal_hz: part.followed_crystal_hz(),
            clocks: Clocks::new(part),
            ranges: Ranges::new(spec)?,
            position: 0,
            since: 0,
            fault_due: None,
        })
    }

    fn register(&self, offset: u32) -> u32 {
        self.registers[(offset >> 1) as usize]
    }

    /// FLLREFDIV: 1, 2, 4, 8, 12, 16.
    fn reference_divider(&self) -> u64 {
        [1, 2, 4, 8, 12, 16, 16, 16][(self.register(UCSCTL3) & 7) as usize]
    }

    /// Where the loop will stand; nowhere else where the core's clock is given.
    fn settled(&self) -> u32 {
        let Some(crystal_hz) = self.crystal_hz else { return self.position };
        self.ranges.position(self.register(UCSCTL1) >> 4 & 7, self.dco_hz(crystal_hz).0)
    }

    /// Lets the loop come to cycle `now`, with the registers as they have been until then.
    fn advance(&mut self, now: u64) {
        let (edges, divider) = (self.clocks.aclk_count(now), self.reference_divider());
        let periods = edges.saturating_sub(self.since) / divider;
        let (from, to) = (self.position, self.settled());
        let steps = u64::from(from.abs_diff(to)).min(periods);
        self.position = if to < from { from - steps as u32 } else { from + steps as u32 };
        // A loop that has settled sets out anew when it is told to.
        self.since = if self.position == to { edges } else { self.since + steps * divider };
    }

    /// Says of the loop's faults, and finds out when the next one comes.
    fn check_faults(&mut self, context: &mut Context<'_, '_>) {
        if self.crystal_hz.is_none() {
            return;
        }
        let flags = &mut self.registers[(UCSCTL7 >> 1) as usize];
        if is_outermost(self.position) {
            *flags |= DCOFFG;
        }
        context.events.oscillator_fault = *flags & FAULTS != 0;
        self.find_fault();
    }

    fn find_fault(&mut self) {
        let (from, to) = (self.position, self.settled());
        let comes = !is_outermost(from) && is_outermost(to);
        // The first position of the tap that it moves to from this side.
        let steps =
            if to < from { from.abs_diff(LOWEST_TAP.end - 1) } else { from.abs_diff(HIGHEST_TAP.start) };
        let edges = self.since + u64::from(steps) * self.reference_divider();
        self.fault_due = comes.then(|| self.clocks.aclk_edge(edges));
    }

    /// DCOCLKDIV: (FLLN + 1) times the reference by its divider; DCOCLK is that times the loop's own divider FLLD.
    fn dco_hz(&self, crystal_hz: u64) -> (u64, u64) {
        // SELREF: 0 XT1CLK, 2 REFOCLK; 5 to 7 XT2CLK, or REFOCLK without it.
        let reference_hz = if self.register(UCSCTL3) >> 4 & 7 == 0 { crystal_hz } else { REFO_HZ };
        let divider = self.reference_divider();
        let factor = u64::from(self.register(UCSCTL2) & 0x3ff) + 1;
        let divided_hz = reference_hz * factor / divider;
        (divided_hz << (self.register(UCSCTL2) >> 12 & 7).min(5), divided_hz)
    }
}

impl Peripheral for Ucs {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + END).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        if self.crystal_hz.is_some() && offset & !1 == UCSCTL0 {
            self.advance(context.now);
            self.registers[(UCSCTL0 >> 1) as usize] = self.position << MOD;
        }
        Ok(part_of(self.register(offset), address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let index = (offset >> 1) as usize;
        let after = Word::new(address, size, value).onto(self.registers[index]);
        let refused = match offset & !1 {
            UCSCTL4 if after & 7 != after >> 4 & 7 => {
                Some("SMCLK from another source than MCLK is not modelled")
            }
            UCSCTL4 if !matches!(after >> 8 & 7, XT1 | REFO) => {
                Some("ACLK from another source than XT1 and REFO is not modelled")
            }
            UCSCTL5 if after & 7 != after >> 4 & 7 => {
                Some("SMCLK divided otherwise than MCLK is not modelled")
            }
            UCSCTL5 if after >> 8 & 7 != 0 => Some("a divided ACLK is not modelled"),
            _ => None,
        };
        if let Some(what) = refused {
            let what = what.to_string();
            return Err(Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what });
        }
        self.advance(context.now);
        self.registers[index] = after;
        if offset & !1 == UCSCTL0 {
            self.position = (after >> MOD) % POSITIONS;
        }
        self.check_faults(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.fault_due
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        if self.fault_due.take_if(|at| *at <= context.now).is_some() {
            self.advance(context.now);
            self.check_faults(context);
        }
    }

    fn reset(&mut self) {
        self.registers = AFTER_RESET;
        (self.position, self.since) = (0, 0);
        // It begins at the lowest tap, which OFIFG is to hear of.
        self.fault_due = self.crystal_hz.map(|_| 0);
    }

    fn reset_by(&mut self, _cause: ResetCause, now: u64) {
        self.reset();
        self.since = self.clocks.aclk_count(now);
        self.fault_due = self.fault_due.map(|_| now);
    }

    fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.clocks.set_clock(clock_hz, now);
        if self.fault_due.is_some() {
            self.find_fault();
        }
    }

    fn core_clock_hz(&self) -> Option<u64> {
        let crystal_hz = self.crystal_hz?;
        let (dco_hz, divided_hz) = self.dco_hz(crystal_hz);
        // SELM: 4 is DCOCLKDIV, and so are 5 to 7 without a crystal at XT2.
        let source_hz = match self.register(UCSCTL4) & 7 {
            XT1 => crystal_hz,
            VLO => VLO_HZ,
            REFO => REFO_HZ,
            DCO => dco_hz,
            _ => divided_hz,
        };
        // DIVM: 1 to 32.
        Some((source_hz >> (self.register(UCSCTL5) & 7).min(5)).max(1))
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
