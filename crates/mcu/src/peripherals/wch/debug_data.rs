//! The data registers of the debug module (DMDATA0, DMDATA1), by which ch32fun's programs print to
//! whoever debugs them.
//!
//! RISC-V External Debug Support 0.13, section 3.12: the registers by which core and debugger pass
//! data. That the core has them at 0xe00000f4 is how ch32fun's programs use them; it was not
//! compared with a manual. A program sets bit 7 of DMDATA0 with what it says, 4 and the number of
//! bytes in bits 0 to 3, up to three bytes in DMDATA0 and four in DMDATA1; the debugger clears
//! DMDATA0 when it has taken them (the protocol that minichlink's terminal speaks). Here a debugger
//! listens, takes each message at once and sends nothing: how long a real one would keep a program
//! waiting is not modelled.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

/// DMDATA0: the debugger is to take what is there; bytes and 4.
const WAITING: u32 = 1 << 7;
const LENGTH: u32 = 0xf;

/// The two registers.
#[derive(Clone)]
pub struct DebugData {
    name: String,
    base: u32,
    data: [u32; 2],
}

impl DebugData {
    /// DMDATA0 at `spec.base`, DMDATA1 behind it.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> DebugData {
        DebugData { name: spec.name.clone(), base: spec.base, data: [0; 2] }
    }
}

impl Peripheral for DebugData {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 8)
    }

    fn read(&mut self, address: u32, size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        Ok(part_of_word(self.data[offset as usize / 4], offset & 3, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let word = &mut self.data[offset as usize / 4];
        *word = merged_word(*word, offset & 3, size, value);
        let [first, second] = self.data;
        if offset < 4 && first & WAITING != 0 {
            let bytes = first.to_le_bytes().into_iter().skip(1).chain(second.to_le_bytes());
            let length = (first & LENGTH).saturating_sub(4) as usize;
            bytes.take(length).for_each(|byte| context.sent(&self.name, byte, context.now));
            self.data[0] = 0;
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.data = [0; 2];
    }
}
