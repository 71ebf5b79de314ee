//! The backup SRAM of the STM32F4 and F7: RAM on AHB1 that a system reset leaves as it is.
//!
//! RM0090 section 5.1.2, RM0410 section 4.1.3: PWR_CR.DBP (F7: PWR_CR1.DBP) lets writes through.
//! Without it a write is lost, which is a mistake of the program. After power-up it is all zeros:
//! the board has no battery at VBAT. Nothing is executed from it.

use crate::peripherals::register::part_of_word;
use crate::{Context, Fault, Nonvolatile, Peripheral, PeripheralSpec, ResetCause, Roles, Spec};

/// Both families have 4 KiB.
const SIZE: usize = 0x1000;

const PROTECTED: &str = "a write to the backup SRAM that PWR_CR.DBP protects";

/// The memory.
#[derive(Clone)]
pub struct BackupSram {
    name: String,
    base: u32,
    cells: Vec<u8>,
}

impl BackupSram {
    /// The memory at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> BackupSram {
        BackupSram { name: spec.name.clone(), base: spec.base, cells: vec![0; SIZE] }
    }

    /// Goes on after a mistake where that is asked for.
    fn mistake(&self, what: &'static str, address: u32, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        if context.events.tolerate(what) {
            return Ok(());
        }
        context.refuse(&self.name, address, what)
    }
}

impl Peripheral for BackupSram {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE as u32)
    }

    fn read(&mut self, address: u32, size: u8, _: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.base) as usize;
        let word = self.cells.iter().skip(offset & !3).take(4);
        let word = word.rev().fold(0, |word, cell| word << 8 | u32::from(*cell));
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if !context.events.backup_writable {
            return self.mistake(PROTECTED, address, context);
        }
        let cells = self.cells.iter_mut().skip((address - self.base) as usize);
        for (cell, byte) in cells.zip(value.to_le_bytes()).take(size.into()) {
            *cell = byte;
        }
        Ok(())
    }

    fn reset(&mut self) {
        self.cells.fill(0);
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        if cause == ResetCause::PowerOn {
            self.reset();
        }
    }

    fn roles(&self) -> Roles<'_> {
        Roles { nonvolatile: Some(self), ..Roles::default() }
    }

    fn as_nonvolatile(&mut self) -> Option<&mut dyn Nonvolatile> {
        Some(self)
    }
}

impl Nonvolatile for BackupSram {
    fn memory(&self) -> Option<(u32, &[u8])> {
        Some((self.base, &self.cells))
    }

    fn memory_mut(&mut self) -> Option<(u32, &mut [u8])> {
        Some((self.base, &mut self.cells))
    }
}
