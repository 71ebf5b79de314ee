//! The clock system (CS) of the MSP430FR5xx.
//!
//! Source: SLAU367, chapter "Clock System (CS)"; registers, bits and the DCO's frequencies compared with TI's header msp430fr5994.h, 3.5, 7 and
//! 21 MHz as SLASE54 has them. MCLK is given from outside, and then a program runs at that clock from the first instruction, whatever
//! it sets; or it is what the program sets, at once and settled. There is a watch crystal at LFXT and none at HFXT. What the model needs to
//! hold is that SMCLK equals MCLK and that ACLK has 32,768 Hz ([`super::clocks`]); settings that would change either are refused with a fault
//! rather than counted wrongly. LFXT's fault flag is set by power-up and stays clear once cleared.

use super::word::{Word, part_of};
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec};
use std::ops::Range;

const CSCTL0: u32 = 0x00;
const CSCTL1: u32 = 0x02;
const CSCTL2: u32 = 0x04;
const CSCTL3: u32 = 0x06;
const END: u32 = 0x0e;
const CSKEY_READ: u32 = 0x9600;
const CSKEY_WRITE: u32 = 0xa5;
/// CSCTL0 to CSCTL6 after power-up: the DCO with 8 MHz, SMCLK and MCLK an eighth of it, ACLK from LFXT, flags of both crystals.
const AFTER_RESET: [u32; 7] = [0, 0x000c, 0x0033, 0x0033, 0xcdc9, 0x00c1, 0x000f];
/// What can be written of them.
const MASKS: [u32; 7] = [0, 0x004e, 0x0777, 0x0777, 0xfddb, 0x00c3, 0x000f];
/// CSCTL1.DCORSEL.
const DCORSEL: u32 = 1 << 6;
/// CSCTL2.SELx.
const LFXTCLK: u32 = 0;
const VLOCLK: u32 = 1;
const LFMODCLK: u32 = 2;
const DCOCLK: u32 = 3;
const MODCLK: u32 = 4;
/// By CSCTL1.DCOFSEL, for DCORSEL 0 and 1, in kHz.
const DCO_KHZ: [[u64; 8]; 2] = [
    [1_000, 2_667, 3_500, 4_000, 5_333, 7_000, 8_000, 8_000],
    [1_000, 5_333, 7_000, 8_000, 16_000, 21_000, 24_000, 24_000],
];
/// SLASE54, "Internal Very-Low-Power Low-Frequency Oscillator (VLO)" and "Module Oscillator (MODOSC)", typical (from memory, not yet
/// compared).
const VLO_HZ: u64 = 9_400;
const MODOSC_HZ: u64 = 4_800_000;

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

    fn refuse(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Result<(), Fault> {
        Err(Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() })
    }
}

impl Peripheral for Cs {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + END).collect()
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.base) & !1;
        let word = if offset == CSCTL0 { CSKEY_READ } else { self.register(offset) };
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
                    return self.refuse(address, context, "a write without the password resets the part");
                }
            }
            return Ok(());
        }
        if !self.unlocked {
            return self.refuse(address, context, "the registers are locked: CSCTL0_H must hold 0xa5");
        }
        let index = (offset / 2) as usize;
        let after = write.onto(self.registers[index]) & MASKS[index];
        let refused = match offset {
            CSCTL2 if after & 7 > MODCLK || after >> 4 & 7 > MODCLK => {
                Some("there is no crystal at HFXT in this model")
            }
            CSCTL2 if after & 7 != after >> 4 & 7 => {
                Some("SMCLK from another source than MCLK is not modelled")
            }
            CSCTL3 if after & 7 != after >> 4 & 7 => {
                Some("SMCLK divided otherwise than MCLK is not modelled")
            }
            CSCTL2 if after >> 8 & 7 != LFXTCLK => Some("ACLK from another source than LFXT is not modelled"),
            CSCTL3 if after >> 8 & 7 != 0 => Some("a divided ACLK is not modelled"),
            _ => None,
        };
        if let Some(what) = refused {
            return self.refuse(address, context, what);
        }
        self.registers[index] = after;
        Ok(())
    }

    fn reset(&mut self) {
        self.registers = AFTER_RESET;
        self.unlocked = false;
    }

    fn core_clock_hz(&self) -> Option<u64> {
        let crystal_hz = self.crystal_hz?;
        let control = self.register(CSCTL1);
        let source_hz = match self.register(CSCTL2) & 7 {
            LFXTCLK => crystal_hz,
            VLOCLK => VLO_HZ,
            LFMODCLK => MODOSC_HZ / 128,
            DCOCLK => DCO_KHZ[usize::from(control & DCORSEL != 0)][(control >> 1 & 7) as usize] * 1000,
            _ => MODOSC_HZ,
        };
        // DIVM: 1 to 32.
        Some((source_hz >> (self.register(CSCTL3) & 7).min(5)).max(1))
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
