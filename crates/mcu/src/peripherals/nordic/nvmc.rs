//! Non-volatile memory controller (NVMC): words written, pages and UICR erased, the instruction
//! cache switched. PS, "NVMC".
//!
//! The core is halted while the flash is busy and it executes from there, so the controller is
//! always found ready; code in RAM, which would go on meanwhile, is refused. A partial erase, the
//! erase of everything and the counts of hits and misses are refused, too; without profiling these
//! counts are zero. Offsets without a register read as zero and take zero.

use super::block::Block;
use super::core_clock::{CORE_HZ, cycles_of_us};
use crate::peripherals::register::Register;
use crate::{
    ClockUpdate, Context, Fault, FlashChange, FlashController, FlashStore, Part, Peripheral, PeripheralSpec,
    Spec,
};
use std::ops::Range;

const READY: u32 = 0x400;
const READYNEXT: u32 = 0x408;
const CONFIG: u32 = 0x504;
const ERASEPAGE: u32 = 0x508;
const ERASEALL: u32 = 0x50c;
const ERASEUICR: u32 = 0x514;
const ERASEPAGEPARTIALCFG: u32 = 0x51c;
const ICACHECNF: u32 = 0x540;

/// CONFIG.WEN.
const WEN: u32 = 1;
const EEN: u32 = 2;
/// ICACHECNF.
const CACHEEN: u32 = 1 << 0;
const CACHEPROFEN: u32 = 1 << 8;
const IHIT: u32 = 0x548;
const IMISS: u32 = 0x54c;

/// The registers that keep what is written.
const MAP: &[Register] = &[
    Register::new(CONFIG, 3),
    Register::new(ERASEPAGEPARTIALCFG, 0x7f).with_reset(10),
    Register::new(ICACHECNF, CACHEEN)
        .refusing(CACHEPROFEN, "profiling of the cache (ICACHECNF.CACHEPROFEN) is not modelled"),
];

/// FICR.CODEPAGESIZE.
const PAGE: u32 = 0x1000;
/// PS v1.1, NVMC's electrical specification, largest: tWRITE and tERASEPAGE (from memory, not yet
/// compared; the nRF5340's are 43 us and 87.5 ms).
const WRITE_US: u64 = 41;
const ERASE_US: u64 = 85_000;

/// The registers.
#[derive(Clone)]
pub struct Nvmc {
    block: Block,
    flash: Range<u32>,
    uicr: Range<u32>,
    clock_hz: u64,
}

impl Nvmc {
    /// NVMC at `spec.base`, of the memories `flash` and `uicr`.
    ///
    /// # Errors
    /// A memory is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Nvmc, String> {
        let memory = |name: &str| {
            let found = part.memories.iter().find(|memory| memory.name == name);
            found
                .map(|memory| memory.start..memory.start.saturating_add(memory.size))
                .ok_or_else(|| format!("{}: {} needs a memory {name}", part.name, spec.name))
        };
        Ok(Nvmc {
            block: Block::new(spec, 0, MAP),
            flash: memory("flash")?,
            uicr: memory("uicr")?,
            clock_hz: CORE_HZ,
        })
    }

    fn erase(&self, range: Range<u32>, address: u32, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        if self.block.registers[CONFIG] != EEN {
            return context.refuse(&self.block.name, address, "an erase without CONFIG.WEN = Een");
        }
        if !self.flash.contains(&context.pc) {
            return context.refuse(
                &self.block.name,
                address,
                "an erase by code outside of flash is not modelled",
            );
        }
        let until = context.now + cycles_of_us(ERASE_US, self.clock_hz);
        context.events.change_flash(FlashChange::Erase { range, until });
        Ok(())
    }
}

impl Peripheral for Nvmc {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let own = match (address - self.block.base) & !3 {
            READY | READYNEXT => Some(1),
            offset if self.block.has(offset) => None,
            // IHIT, IMISS, what is only written, and the rest.
            _ => Some(0),
        };
        self.block.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.block.base;
        if offset == CONFIG && value & 3 > EEN {
            return context.refuse(&self.block.name, address, "a reserved value of CONFIG.WEN");
        }
        if self.block.write(address, size, value, context)? {
            if offset == ICACHECNF {
                context.events.flash.cached = value & CACHEEN != 0;
            }
            return Ok(());
        }
        let fault = |what: &str| context.refuse(&self.block.name, address, what);
        match offset {
            ERASEPAGE if !self.flash.contains(&value) => return fault("ERASEPAGE beyond the flash"),
            ERASEPAGE => {
                let start = value & !(PAGE - 1);
                self.erase(start..start + PAGE, address, context)?;
            }
            ERASEUICR if value & 1 == 0 => {}
            ERASEUICR => self.erase(self.uicr.clone(), address, context)?,
            ERASEALL if value & 1 != 0 => return fault("ERASEALL erases the program itself"),
            ERASEALL => {}
            READY | READYNEXT | IHIT | IMISS => {}
            _ if value == 0 => {}
            _ => return fault("ERASEPAGEPARTIAL or a register that is not modelled"),
        }
        Ok(())
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.block.reset();
    }

    fn as_flash_controller(&mut self) -> Option<&mut dyn FlashController> {
        Some(self)
    }
}

impl FlashController for Nvmc {
    fn begin_store(
        &mut self,
        store: &FlashStore,
        context: &mut Context<'_, '_>,
    ) -> Result<FlashChange, Fault> {
        let what = if self.block.registers[CONFIG] != WEN {
            "a write to flash without NVMC's CONFIG.WEN = Wen"
        } else if store.size != 4 || !store.address.is_multiple_of(4) {
            "flash is written in whole words"
        } else if !store.from_flash {
            "a write to flash by code outside of flash is not modelled"
        } else {
            let until = context.now + cycles_of_us(WRITE_US, self.clock_hz);
            let (address, bytes) = (store.address, store.value.to_le_bytes().to_vec());
            return Ok(FlashChange::Program { address, bytes, until });
        };
        context.refuse(&self.block.name, store.address, what)
    }
}
