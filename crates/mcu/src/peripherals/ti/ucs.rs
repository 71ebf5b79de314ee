//! The unified clock system of the MSP430F5xx.
//!
//! Source: SLAU208, chapter "Unified Clock System (UCS)". MCLK is given from outside, and then a
//! program runs at that clock from the first instruction, whatever it sets; or it is what the
//! program sets, at once: the frequency-locked loop gives what it is told, also while SCG0 holds
//! it. What is seen of its settling then is UCSCTL0, whose taps and modulation ([`fll`]) move by
//! one in each period of the divided reference, and DCOFFG, which is set while the tap is the
//! lowest or the highest. There is no crystal at XT2. SMCLK and ACLK are what the program sets,
//! SMCLK beside an MCLK of the same oscillator by both dividers ([`super::clocks`]); an ACLK from
//! the DCO is refused, because then the low-power modes would not have the data sheet's currents.
//! SMCLKOFF does nothing to a clock that a peripheral requests, which SMCLKREQEN allows; without
//! that it is refused. The other fault flags are set by power-up and stay clear once cleared; OFIFG
//! stays set while one of them is set and the loop settles.

use super::clocks::{Edges, Oscillator, Tap, UNREQUESTED, divider_shift};
use super::fll::{HIGHEST_TAP, LOWEST_TAP, POSITIONS, Ranges, is_outermost};
use super::word::{Word, part_of};
use crate::{
    ClockControl, ClockUpdate, Context, Fault, Part, Peripheral, PeripheralSpec, ResetCause, Roles, Spec,
    SubsystemClocks,
};

const UCSCTL0: u32 = 0x00;
const UCSCTL1: u32 = 0x02;
const UCSCTL2: u32 = 0x04;
const UCSCTL3: u32 = 0x06;
const UCSCTL4: u32 = 0x08;
const UCSCTL5: u32 = 0x0a;
const UCSCTL6: u32 = 0x0c;
const UCSCTL7: u32 = 0x0e;
const UCSCTL8: u32 = 0x10;
/// UCSCTL7: DCOFFG, and all fault flags.
const DCOFFG: u32 = 1;
const FAULTS: u32 = 0x0f;
/// UCSCTL0: DCOx and MODx, which are one number.
const MOD: u32 = 3;
const END: u32 = 0x20;
/// UCSCTL0 to UCSCTL8 after power-up, and the bits that can be written; the others stay.
const AFTER_RESET: [u32; 9] = [0, 0x20, 0x101f, 0, 0x44, 0, 0xc1cd, 0x0703, 0x0707];
const MASKS: [u32; 9] = [0x1ff8, 0x71, 0x73ff, 0x77, 0x777, 0x7777, 0xd1ff, 0x70f, 0x70f];
/// UCSCTL4.SELx; all above are DCOCLKDIV, also where XT2CLK is meant, because there is no crystal
/// at XT2.
const XT1CLK: u32 = 0;
const VLOCLK: u32 = 1;
const REFOCLK: u32 = 2;
const DCOCLK: u32 = 3;
/// UCSCTL6.SMCLKOFF, and UCSCTL8.SMCLKREQEN.
const SMCLKOFF: u32 = 1 << 1;
const SMCLKREQEN: u32 = 1 << 2;
/// Lowest bits of the fields for MCLK, SMCLK and ACLK in UCSCTL4 and UCSCTL5.
const MCLK: u32 = 0;
const SMCLK: u32 = 4;
const ACLK: u32 = 8;
/// REFOCLK, and VLOCLK as SLAS655H's "Internal Very-Low-Power Low-Frequency Oscillator (VLO)" has
/// it, typically.
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
    /// The edges of FLLREFCLK.
    reference: Edges,
    ranges: Ranges,
    /// DCOx and MODx as one number, after `since` edges of FLLREFCLK. The loop moves them from
    /// there, unseen until they are read.
    position: u32,
    since: u64,
    /// The cycle at which they come to the lowest or the highest tap, or have been there since a
    /// reset.
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
            reference: Edges::of_watch_crystal(part.default_clock_hz),
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

    /// Position after the loop has locked; unchanged where the core's clock is given.
    fn settled(&self) -> u32 {
        let Some(crystal_hz) = self.crystal_hz else { return self.position };
        self.ranges.position(self.register(UCSCTL1) >> 4 & 7, self.dco_hz(crystal_hz).0)
    }

    /// Lets the loop come to cycle `now`, with the registers as they have been until then.
    fn advance(&mut self, now: u64) {
        let (edges, divider) = (self.reference.count(now), self.reference_divider());
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
        context.events.set_oscillator_fault(*flags & FAULTS != 0);
        self.find_fault();
    }

    fn find_fault(&mut self) {
        let (from, to) = (self.position, self.settled());
        let comes = !is_outermost(from) && is_outermost(to);
        // The first position of the tap that it moves to from this side.
        let steps =
            if to < from { from.abs_diff(LOWEST_TAP.end - 1) } else { from.abs_diff(HIGHEST_TAP.start) };
        let edges = self.since + u64::from(steps) * self.reference_divider();
        self.fault_due = comes.then(|| self.reference.edge(edges));
    }

    /// DCOCLKDIV: (FLLN + 1) times the reference by its divider; DCOCLK is that times the loop's
    /// own divider FLLD.
    fn dco_hz(&self, crystal_hz: u64) -> (u64, u64) {
        // SELREF: 0 XT1CLK, 2 REFOCLK; 5 to 7 XT2CLK, or REFOCLK without it.
        let reference_hz = if self.register(UCSCTL3) >> 4 & 7 == 0 { crystal_hz } else { REFO_HZ };
        let divider = self.reference_divider();
        let factor = u64::from(self.register(UCSCTL2) & 0x3ff) + 1;
        let divided_hz = reference_hz * factor / divider;
        (divided_hz << self.loop_shift(), divided_hz)
    }

    /// FLLD, as a power of two.
    fn loop_shift(&self) -> u32 {
        divider_shift(self.register(UCSCTL2) >> 12)
    }

    /// UCSCTL4 and UCSCTL5 for one of the clocks.
    fn tap(&self, clock: u32) -> Tap {
        let (oscillator, shift) = match self.register(UCSCTL4) >> clock & 7 {
            XT1CLK => (Oscillator::Crystal, 0),
            VLOCLK => (Oscillator::Vlo, 0),
            REFOCLK => (Oscillator::Refo, 0),
            DCOCLK => (Oscillator::Dco, 0),
            _ => (Oscillator::Dco, self.loop_shift()),
        };
        Tap { oscillator, shift }.divided(self.register(UCSCTL5) >> clock)
    }

    fn oscillator_hz(&self, oscillator: Oscillator) -> u64 {
        let crystal_hz = self.crystal_hz.unwrap_or(REFO_HZ);
        match oscillator {
            Oscillator::Crystal => crystal_hz,
            Oscillator::Vlo => VLO_HZ,
            Oscillator::Refo | Oscillator::Modosc => REFO_HZ,
            Oscillator::Dco => self.dco_hz(crystal_hz).0,
        }
    }

    /// A sentence where a register cannot hold this.
    fn refusal(&self, offset: u32, after: u32) -> Option<&'static str> {
        let off = |ucsctl6: u32, ucsctl8: u32| ucsctl6 & SMCLKOFF != 0 && ucsctl8 & SMCLKREQEN == 0;
        match offset {
            UCSCTL4 if after >> ACLK & 7 > REFOCLK => Some("an ACLK from the DCO is not modelled"),
            UCSCTL6 if off(after, self.register(UCSCTL8)) => Some(UNREQUESTED),
            UCSCTL8 if off(self.register(UCSCTL6), after) => Some(UNREQUESTED),
            _ => None,
        }
    }
}

impl Peripheral for Ucs {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + END)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        if self.crystal_hz.is_some() && offset & !1 == UCSCTL0 {
            self.advance(context.now);
            self.registers[(UCSCTL0 >> 1) as usize] = self.position << MOD;
        }
        // Behind UCSCTL8 nothing is there.
        let word = self.registers.get((offset >> 1) as usize).copied().unwrap_or(0);
        Ok(part_of(word, address, size))
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
        let Some(before) = self.registers.get(index) else { return Ok(()) };
        let after = Word::new(address, size, value).onto(*before) & MASKS[index] | before & !MASKS[index];
        if let Some(what) = self.refusal(offset & !1, after) {
            let what = what.to_string();
            return context.refuse(&self.name, address, what);
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

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.reference.set_clock(clock_hz, now);
            // At an outermost tap the fault is there, and only has to be told of.
            if self.fault_due.is_some() && !is_outermost(self.position) {
                self.find_fault();
            }
        }
    }

    fn reset(&mut self) {
        self.registers = AFTER_RESET;
        (self.position, self.since) = (0, 0);
        // It begins at the lowest tap, which OFIFG is to hear of.
        self.fault_due = self.crystal_hz.map(|_| 0);
    }

    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        self.reset();
        if cause != ResetCause::PowerOn {
            self.since = self.reference.count(now);
        }
        self.fault_due = self.fault_due.map(|_| now);
    }

    fn roles(&self) -> Roles<'_> {
        Roles { clock_control: Some(self), ..Roles::default() }
    }
}

impl ClockControl for Ucs {
    fn core_clock_hz(&self) -> Option<u64> {
        self.crystal_hz?;
        let mclk = self.tap(MCLK);
        Some(mclk.hz(self.oscillator_hz(mclk.oscillator)))
    }

    fn subsystem_clocks(&self) -> Option<SubsystemClocks> {
        let [mclk, smclk, aclk] = [MCLK, SMCLK, ACLK].map(|clock| self.tap(clock));
        Some(SubsystemClocks {
            smclk: smclk.beside(mclk, self.oscillator_hz(smclk.oscillator)),
            aclk: aclk.alone(self.oscillator_hz(aclk.oscillator)),
        })
    }
}
