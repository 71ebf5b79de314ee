//! `SPM`, and loads and fetches while the flash is not as always.

use super::memory::{BailOut, InstructionStart};
use super::registers::Avr;
use crate::fuses::LOCK;
use crate::machine::Machine;
use crate::observe::dynamic;
use crate::{Fault, FlashChange, FlashStore, FlashView, Observer};

impl<const WORDS: usize> Machine<Avr<WORDS>> {
    fn flash_fault<T>(&mut self, pc: u32, address: u32, what: &str) -> Result<T, BailOut> {
        self.raise(Fault::Peripheral { pc: pc * 2, address, device: "flash".into(), what: what.into() })
    }

    /// `SPM`: what SPMCSR says, with the address in RAMPZ and Z and the data in R1 and R0.
    pub(super) fn store_program<O: Observer>(
        &mut self,
        at: InstructionStart,
        observer: &mut O,
    ) -> Result<(), BailOut> {
        let page = if self.core.instruction_set.extended_load { self.core.rampz } else { 0 };
        let address = u32::from(page) << 16 | u32::from(self.core.pair(30));
        // Where there is a boot section, "the SPM instruction can only be executed from there"
        // (DS40002061, 27.3.2).
        if self.core.programmed.boot_section().is_some_and(|start| at.pc * 2 < start) {
            let what = "SPM outside the boot section has no effect: the fuses BOOTSZ say where that begins";
            return self.flash_fault(at.pc, address, what);
        }
        let value = self.core.pair(0).into();
        let before = self.held(address, 2);
        let store = FlashStore { pc: at.pc * 2, from_flash: true, address, size: 2, value, before };
        let change = self.bus.flash_store(&store, at.cycles, dynamic(observer));
        let change = self.kept(change)?;
        let written = match &change {
            FlashChange::Erase { range, .. } => Some(range.start),
            FlashChange::Program { address, .. } if *address != LOCK => Some(*address),
            _ => None,
        };
        if written.is_some_and(|page| self.core.programmed.keeps_store(page)) {
            let what = "SPM writes to a section that its lock bits (BLB01, BLB11) keep from it";
            return self.flash_fault(at.pc, address, what);
        }
        if matches!(change, FlashChange::Program { address: LOCK, .. }) {
            // "The entire Flash can be read during the operation."
            self.change_flash_behind(change);
        } else if matches!(self.bus.events.flash_view, FlashView::From(start) if address < start) {
            self.change_flash_behind(change);
        } else {
            self.change_flash(change);
        }
        self.recheck();
        Ok(())
    }

    /// `LPM` and `ELPM` where lock bits may keep them from a section.
    #[cold]
    pub(super) fn check_load(&mut self, address: u32, at: InstructionStart) -> Result<(), BailOut> {
        if !self.core.programmed.keeps_load(at.pc * 2, address) {
            return Ok(());
        }
        let what =
            "LPM reads a section that its lock bits (BLB02, BLB12) keep from the section that it stands in";
        self.flash_fault(at.pc, address, what)
    }

    /// `LPM` and `ELPM` while there is something else to be seen than the whole flash.
    #[cold]
    pub(super) fn load_in_view(&mut self, address: u32, at: InstructionStart) -> Result<u8, BailOut> {
        let z = address as u16;
        let (value, what) = match self.bus.events.flash_view {
            FlashView::Fuses => (self.core.programmed.fuse_at(z), "there is no fuse or lock byte here"),
            FlashView::SignatureRow => {
                (self.core.programmed.signature_at(z), "this byte of the signature row is not modelled")
            }
            FlashView::From(start) if address < start => (None, CLOSED),
            _ => (self.core.flash.get(address as usize).copied(), "there is no flash here"),
        };
        value.map_or_else(|| self.flash_fault(at.pc, address, what), Ok)
    }

    /// Returns true if the instruction at a word address is in flash that cannot be read now; the
    /// fault is then kept.
    #[inline(always)]
    pub(super) fn fetches_closed_flash(&mut self, pc: u32) -> bool {
        match self.bus.events.flash_view {
            FlashView::From(start) if pc * 2 < start => self.flash_fault::<()>(pc, pc * 2, CLOSED).is_err(),
            _ => false,
        }
    }
}

const CLOSED: &str = "the RWW section is read or executed while RWWSB is set: a page of it is or was being written, and RWWSRE has not \
                      opened it again";
