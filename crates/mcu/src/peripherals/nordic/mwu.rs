//! The memory watch unit (MWU), which watches nothing: what start-up code reads and clears of it.
//! PS, "MWU". Regions and interrupts that a program switches on are refused.

use super::block::Block;
use crate::peripherals::register::Register;
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// NMIEN, NMIENSET, NMIENCLR, REGIONEN, REGIONENSET, REGIONENCLR: nothing is on.
const OFF: [u32; 6] = [0x320, 0x324, 0x328, 0x510, 0x514, 0x518];
/// Those that switch something off.
const CLEARING: [u32; 2] = [0x328, 0x518];

/// The registers of which nothing is kept.
const MAP: &[Register] = &[];

/// The unit.
#[derive(Clone)]
pub struct Mwu(Block);

impl Mwu {
    /// The unit at `spec.base`.
    pub fn new(spec: &PeripheralSpec) -> Mwu {
        Mwu(Block::new(spec, 0, MAP))
    }
}

impl Peripheral for Mwu {
    fn spec(&self) -> Spec {
        self.0.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let own = OFF.contains(&((address - self.0.base) & !3)).then_some(0);
        self.0.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.0.base;
        let is_off = OFF.contains(&offset) && value == 0;
        if self.0.write(address, size, value, context)? || CLEARING.contains(&offset) || is_off {
            return Ok(());
        }
        context.refuse(&self.0.name, address, "watching memory is not modelled")
    }

    fn reset(&mut self) {
        self.0.reset();
    }
}
