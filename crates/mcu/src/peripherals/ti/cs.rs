//! The clock system (CS) of the MSP430FR5xx.
//!
//! Source: SLAU367, chapter "Clock System (CS)"; registers, bits and the DCO's frequencies compared
//! with TI's header msp430fr5994.h, 3.5, 7 and 21 MHz as SLASE54 has them. MCLK is given from
//! outside, and then a program runs at that clock from the first instruction, whatever it sets; or
//! it is what the program sets, at once and settled. SMCLK and ACLK are what it sets, SMCLK beside
//! an MCLK of the same oscillator by both dividers ([`super::clocks`]). There is a watch crystal at
//! LFXT and none at HFXT. LFXT's fault flag is set by power-up and stays clear once cleared.
//! SMCLKOFF does nothing to a clock that a peripheral requests, which SMCLKREQEN allows; without
//! that it is refused.

use super::clocks::{Oscillator, Tap, UNREQUESTED};
use super::word::{Word, part_of};
use crate::{
    ClockControl, Context, Fault, Part, Peripheral, PeripheralSpec, Protected, ResetCause, Roles, Spec,
    SubsystemClocks,
};

const CSCTL0: u32 = 0x00;
const CSCTL1: u32 = 0x02;
const CSCTL2: u32 = 0x04;
const CSCTL3: u32 = 0x06;
const CSCTL4: u32 = 0x08;
const CSCTL6: u32 = 0x0c;
const CSCTL6_END: u32 = 0x0e;
const END: u32 = 0x10;
const CSKEY_READ: u32 = 0x9600;
const CSKEY_WRITE: u32 = 0xa5;
/// CSCTL0 to CSCTL6 after power-up: the DCO with 8 MHz, SMCLK and MCLK an eighth of it, ACLK from
/// LFXT, flags of both crystals.
const AFTER_RESET: [u32; 7] = [0, 0x000c, 0x0033, 0x0033, 0xcdc9, 0x00c1, 0x000f];
/// Writable bits of the registers.
const MASKS: [u32; 7] = [0, 0x004e, 0x0777, 0x0777, 0xfddb, 0x00c3, 0x000f];
/// CSCTL1.DCORSEL.
const DCORSEL: u32 = 1 << 6;
/// CSCTL2.SELx.
const LFXTCLK: u32 = 0;
const VLOCLK: u32 = 1;
const LFMODCLK: u32 = 2;
const DCOCLK: u32 = 3;
const MODCLK: u32 = 4;
/// CSCTL4.SMCLKOFF, and CSCTL6.SMCLKREQEN.
const SMCLKOFF: u32 = 1 << 1;
const SMCLKREQEN: u32 = 1 << 2;
/// Lowest bits of the fields for MCLK, SMCLK and ACLK in CSCTL2 and CSCTL3.
const MCLK: u32 = 0;
const SMCLK: u32 = 4;
const ACLK: u32 = 8;
/// By CSCTL1.DCOFSEL, for DCORSEL 0 and 1, in kHz.
const DCO_KHZ: [[u64; 8]; 2] = [
    [1_000, 2_667, 3_500, 4_000, 5_333, 7_000, 8_000, 8_000],
    [1_000, 5_333, 7_000, 8_000, 16_000, 21_000, 24_000, 24_000],
];
/// SLASE54, "Internal Very-Low-Power Low-Frequency Oscillator (VLO)" and "Module Oscillator
/// (MODOSC)", typical (from memory, not yet compared).
const VLO_HZ: u64 = 9_400;
const MODOSC_HZ: u64 = 4_800_000;
/// The watch crystal.
const LFXT_HZ: u64 = 32_768;

/// The clock system.
#[derive(Clone)]
pub struct Cs {
    name: String,
    base: u32,
    registers: [u32; 7],
    unlocked: bool,
    /// LFXT's crystal, where the core's clock is what the program sets.
    crystal_hz: Option<u64>,
}

impl Cs {
    /// The clock system with its registers from `spec.base` on.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Cs {
        let (name, base) = (spec.name.clone(), spec.base);
        Cs { name, base, registers: AFTER_RESET, unlocked: false, crystal_hz: part.followed_crystal_hz() }
    }

    fn register(&self, offset: u32) -> u32 {
        self.registers[(offset / 2) as usize]
    }

    /// CSCTL2 and CSCTL3 for one of the clocks.
    fn tap(&self, clock: u32) -> Tap {
        let (oscillator, shift) = match self.register(CSCTL2) >> clock & 7 {
            LFXTCLK => (Oscillator::Crystal, 0),
            VLOCLK => (Oscillator::Vlo, 0),
            LFMODCLK => (Oscillator::Modosc, 7),
            DCOCLK => (Oscillator::Dco, 0),
            _ => (Oscillator::Modosc, 0),
        };
        Tap { oscillator, shift }.divided(self.register(CSCTL3) >> clock)
    }

    fn oscillator_hz(&self, oscillator: Oscillator) -> u64 {
        let control = self.register(CSCTL1);
        match oscillator {
            Oscillator::Crystal | Oscillator::Refo => self.crystal_hz.unwrap_or(LFXT_HZ),
            Oscillator::Vlo => VLO_HZ,
            Oscillator::Modosc => MODOSC_HZ,
            Oscillator::Dco => {
                DCO_KHZ[usize::from(control & DCORSEL != 0)][(control >> 1 & 7) as usize] * 1000
            }
        }
    }

    /// A sentence where a register cannot hold this.
    fn refusal(&self, offset: u32, after: u32) -> Option<&'static str> {
        let selects = |clock: u32| after >> clock & 7;
        let off = |csctl4: u32, csctl6: u32| csctl4 & SMCLKOFF != 0 && csctl6 & SMCLKREQEN == 0;
        match offset {
            CSCTL2 if selects(MCLK) > MODCLK || selects(SMCLK) > MODCLK => {
                Some("there is no crystal at HFXT in this model")
            }
            CSCTL2 if selects(ACLK) > LFMODCLK => Some("this SELA is reserved"),
            CSCTL4 if off(after, self.register(CSCTL6)) => Some(UNREQUESTED),
            CSCTL6 if off(self.register(CSCTL4), after) => Some(UNREQUESTED),
            _ => None,
        }
    }

    fn refuse(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Result<(), Fault> {
        context.refuse(&self.name, address, what)
    }
}

impl Peripheral for Cs {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + END)
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.base) & !1;
        let word = match offset {
            CSCTL0 => CSKEY_READ,
            CSCTL6_END.. => 0,
            _ => self.register(offset),
        };
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let write = Word::new(address, size, value);
        let offset = (address - self.base) & !1;
        if offset == CSCTL0 {
            if write.mask & 0xff00 != 0 {
                // Any other value in the upper byte alone locks the registers.
                self.unlocked = write.bits >> 8 == CSKEY_WRITE;
                if size == 2 && !self.unlocked {
                    context.events.request_reset(ResetCause::Password(Protected::Clocks));
                }
            }
            return Ok(());
        }
        if !self.unlocked {
            return self.refuse(address, context, "the registers are locked: CSCTL0_H must hold 0xa5");
        }
        let index = (offset / 2) as usize;
        if index >= MASKS.len() {
            return Ok(());
        }
        let after = write.onto(self.registers[index]) & MASKS[index];
        if let Some(what) = self.refusal(offset, after) {
            return self.refuse(address, context, what);
        }
        self.registers[index] = after;
        Ok(())
    }

    fn reset(&mut self) {
        self.registers = AFTER_RESET;
        self.unlocked = false;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { clock_control: Some(self), ..Roles::default() }
    }
}

impl ClockControl for Cs {
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
