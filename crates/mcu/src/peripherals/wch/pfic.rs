//! The fast programmable interrupt controller (PFIC) of QingKe V2: which interrupts come through,
//! and the software reset.
//!
//! CH32V003RM V1.4, section 6.5.2. Not modelled, and faults where they are set: priorities other
//! than those of the numbers, pending set and cleared by software, interrupts without a vector
//! table (VTF), deep sleep and the events that end WFE.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, ResetCause, Spec};
use std::ops::Range;

/// Two words each: status of the enables and of what is pending; enables set, cleared.
const ISR: u32 = 0x000;
const IPR: u32 = 0x020;
const IENR: u32 = 0x100;
const IRER: u32 = 0x180;
/// Sets and clears what is pending.
const IPSR: u32 = 0x200;
const IPRR: u32 = 0x280;
/// ITHRESDR, VTFIDR, VTFADDRR0 and VTFADDRR1, IPRIOR: zero after a reset, which is all that is
/// modelled.
const ITHRESDR: u32 = 0x040;
const VTFIDR: u32 = 0x050;
const VTFADDRR: Range<u32> = 0x060..0x068;
const IPRIOR: Range<u32> = 0x400..0x500;
const CFGR: u32 = 0x048;
const SCTLR: u32 = 0xd10;
const SIZE: u32 = 0xd14;

/// PFIC_ISR1: NMI and exceptions are always enabled.
const ALWAYS: u64 = 0xc;

/// PFIC_CFGR: KEY3 and the bit that resets the part.
const CFGR_RESET: u32 = 0xbeef_0080;
/// PFIC_SCTLR: the bit that resets the part.
const SYSRST: u32 = 1 << 31;

/// The controller.
#[derive(Clone)]
pub struct Pfic {
    name: String,
    base: u32,
    enabled: u64,
}

impl Pfic {
    /// The controller at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Pfic {
        Pfic { name: spec.name.clone(), base: spec.base, enabled: ALWAYS }
    }
}

/// True where a register holds zero as long as a program does not ask for what is not modelled.
fn holds_zero(offset: u32) -> bool {
    let register = offset & !3;
    matches!(register, ITHRESDR | VTFIDR | CFGR | SCTLR)
        || matches!(offset & !7, IPSR | IPRR)
        || VTFADDRR.contains(&register)
        || IPRIOR.contains(&register)
}

/// The word of a pair at `offset`.
fn word(pair: u64, offset: u32) -> u32 {
    (pair >> (offset & 4) * 8) as u32
}

impl Peripheral for Pfic {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let value = match offset & !7 {
            ISR | IENR => word(self.enabled, offset),
            IPR => word(*context.requests as u64, offset),
            _ if holds_zero(offset) => 0,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        Ok(part_of_word(value, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let value = merged_word(0, offset, size, value);
        let bits = u64::from(value) << (offset & 4) * 8;
        match offset & !7 {
            IENR => self.enabled |= bits,
            IRER => self.enabled &= !bits | ALWAYS,
            // Who clears what does not pend changes nothing.
            IPRR if bits & *context.requests as u64 == 0 => {}
            _ => match (offset & !3, value) {
                (CFGR, CFGR_RESET) | (SCTLR, SYSRST) => context.events.request_reset(ResetCause::Software),
                (_, 0) if holds_zero(offset) => {}
                _ => {
                    let what = "this setting of the interrupt controller is not modelled; enables, the software reset \
                                and sleep by WFI are";
                    return context.refuse(&self.name, address, what);
                }
            },
        }
        context.events.enabled = (self.enabled & !ALWAYS).into();
        Ok(())
    }

    fn reset(&mut self) {
        self.enabled = ALWAYS;
    }
}
