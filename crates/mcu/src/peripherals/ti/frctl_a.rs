//! The FRAM controller FRCTL_A of the MSP430FR5xx: wait states.
//!
//! Source: SLAU367, chapter "FRAM Controller A (FRCTL_A)"; registers and bits compared with TI's
//! header msp430fr5994.h. Refused are automatic wait states (AUTO), the write protection (WPROT)
//! and the detection of bit errors. A write without the password resets the part. The FRAM is on as
//! long as the core runs: FRPWR is kept.

use super::word::{Word, part_of};
use crate::{Context, Fault, Peripheral, PeripheralSpec, Protected, ResetCause, Spec};

const FRCTL0: u32 = 0x00;
const GCCTL0: u32 = 0x04;
const END: u32 = 0x10;
const FRCTLPW_READ: u32 = 0x9600;
const FRCTLPW_WRITE: u32 = 0xa5;
/// FRCTL0: WPROT, AUTO, NWAITS.
const WPROT: u32 = 1 << 0;
const AUTO: u32 = 1 << 3;
const NWAITS: u32 = 4;
/// GCCTL0: FRPWR, which is on after a reset, and with FRLPMPWR all that can be kept.
const FRPWR: u32 = 1 << 2;
const FRLPMPWR: u32 = 1 << 1;
/// GCCTL0: UBDRSTEN, UBDIE, CBDIE, ACCTEIE.
const DETECTION: u32 = 0xe8;

/// The registers.
#[derive(Clone)]
pub struct FrctlA {
    name: String,
    base: u32,
    unlocked: bool,
    wait_states: u32,
    control: u32,
}

impl FrctlA {
    /// The controller with its registers from `spec.base` on.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> FrctlA {
        let (name, base) = (spec.name.clone(), spec.base);
        FrctlA { name, base, unlocked: false, wait_states: 0, control: FRPWR }
    }

    fn refuse(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Result<(), Fault> {
        context.refuse(&self.name, address, what)
    }
}

impl Peripheral for FrctlA {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + END)
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = match (address - self.base) & !1 {
            FRCTL0 => FRCTLPW_READ | self.wait_states << NWAITS,
            GCCTL0 => self.control,
            _ => 0,
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
        if offset == FRCTL0 && write.mask & 0xff00 != 0 {
            // Any other value in the upper byte alone locks the registers.
            self.unlocked = write.bits >> 8 == FRCTLPW_WRITE;
            if size == 2 && !self.unlocked {
                context.events.request_reset(ResetCause::Password(Protected::Flash));
                return Ok(());
            }
        }
        if offset == FRCTL0 && write.mask & 0xff == 0 {
            return Ok(());
        }
        if !self.unlocked {
            return self.refuse(address, context, "the registers are locked: FRCTL0_H must hold 0xa5");
        }
        match offset {
            FRCTL0 if write.bits & (WPROT | AUTO) != 0 => {
                return self.refuse(
                    address,
                    context,
                    "FRCTL0: automatic wait states and the write protection are not modelled",
                );
            }
            FRCTL0 => {
                self.wait_states = write.bits >> NWAITS & 15;
                context.events.flash.wait_states = self.wait_states as u8;
            }
            GCCTL0 if write.onto(self.control) & DETECTION != 0 => {
                return self.refuse(address, context, "GCCTL0: the detection of bit errors is not modelled");
            }
            GCCTL0 => self.control = write.onto(self.control) & (FRPWR | FRLPMPWR),
            // GCCTL1 has flags, none of which is ever set.
            _ => {}
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.unlocked = false;
        self.wait_states = 0;
        self.control = FRPWR;
    }
}
