//! The memories that only a programmer writes: fuses, lock bits, signature.

use crate::fuses::{FUSES, Fuses, LOCK, SIGNATURE, Signature, USER_SIGNATURES, in_order};
use crate::peripherals::microchip::system::CALIBRATION;
use crate::{Fault, Part};

/// The lock bits BLB12, BLB11, BLB02 and BLB01: programmed, which is 0, the first of each two keeps
/// `LPM` in the other section from reading the boot section (BLB1) or the application section
/// (BLB0), the second `SPM` from writing there (DS40002061, tables 27-2 and 27-3).
const BLB12: u8 = 1 << 5;
const BLB11: u8 = 1 << 4;
const BLB02: u8 = 1 << 3;
const BLB01: u8 = 1 << 2;
/// Bytes of the largest row of user signatures.
const USER_ROW: usize = 0x400;

/// Fuses, lock bits and signature as they are programmed.
#[derive(Clone)]
pub(crate) struct Programmed {
    layout: Option<Fuses>,
    fuses: Vec<u8>,
    lock: [u8; 1],
    signature: [u8; 3],
    user_signatures: Vec<u8>,
    /// The signature of the part that the image was built for.
    image_signature: Option<[u8; 3]>,
}

/// Start-up time of the clock after power-down and power-save.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StartUp {
    /// Cycles of the oscillator.
    Cycles(u64),
    /// The fuses choose an oscillator whose times are not modelled.
    Unknown,
}

/// Cycles by SUT1..0 and CKSEL0 of a crystal or resonator: DS40002061, "Start-up Times for the Low
/// Power Crystal Oscillator Clock Selection", and so for the full swing one.
const CRYSTAL_CYCLES: [u64; 8] = [258, 258, 1024, 1024, 1024, 16_384, 16_384, 16_384];

impl Programmed {
    /// By CKSEL and SUT in the low fuse byte.
    pub(super) fn start_up(&self) -> StartUp {
        let low = self.low().unwrap_or(0xFF);
        match low & 0x0F {
            // External clock, calibrated oscillator, 128 kHz oscillator.
            0 | 2 | 3 => StartUp::Cycles(6),
            8.. => StartUp::Cycles(CRYSTAL_CYCLES[usize::from((low & 1) << 2 | low >> 4 & 3)]),
            _ => StartUp::Unknown,
        }
    }

    pub fn new(part: &Part) -> Programmed {
        let layout = part.fuses.clone();
        let mut fuses = vec![0xFF; layout.as_ref().map_or(0, |layout| layout.bytes)];
        if let (Some(low), Some(value)) =
            (fuses.first_mut(), part.clock.as_ref().and_then(|clock| clock.low_fuse))
        {
            *low = value;
        }
        let signature = layout.as_ref().map_or([0; 3], |layout| layout.signature);
        let user_signatures = vec![0xFF; if layout.is_some() { USER_ROW } else { 0 }];
        Programmed { layout, fuses, lock: [0xFF], signature, user_signatures, image_signature: None }
    }

    /// The bytes from an ELF address on.
    pub fn peek(&self, address: u32, size: usize) -> Option<&[u8]> {
        self.layout.as_ref()?;
        let (start, memory): (u32, &[u8]) = match address & 0xFF_0000 {
            FUSES => (FUSES, &self.fuses),
            LOCK => (LOCK, &self.lock),
            SIGNATURE => (SIGNATURE, &self.signature),
            USER_SIGNATURES => (USER_SIGNATURES, &self.user_signatures),
            _ => return None,
        };
        let offset = address.checked_sub(start)? as usize;
        memory.get(offset..offset.checked_add(size)?)
    }

    /// Programs the bytes from an ELF address on. A signature is only compared.
    pub fn poke(&mut self, address: u32, bytes: &[u8]) -> bool {
        if self.peek(address, bytes.len()).is_none() {
            return false;
        }
        let offset = (address & 0xFFFF) as usize;
        let memory: &mut [u8] = match address & 0xFF_0000 {
            FUSES => &mut self.fuses,
            LOCK => &mut self.lock,
            SIGNATURE => self.image_signature.get_or_insert(self.signature),
            _ => &mut self.user_signatures,
        };
        memory[offset..offset + bytes.len()].copy_from_slice(bytes);
        true
    }

    /// Checks that the programmed values are for this part and modelled.
    pub fn check(&self) -> Result<(), Fault> {
        let Some(layout) = &self.layout else { return Ok(()) };
        let own = Signature(layout.signature);
        if let Some(image) = self.image_signature.map(in_order).filter(|image| *image != own) {
            let what = format!("the image is for a part with the signature {image}; this one's is {own}");
            return Err(Fault::Architecture { pc: 0, address: SIGNATURE, what });
        }
        match layout.refused.iter().find(|refused| refused.field.of(&self.fuses) == 0) {
            None => Ok(()),
            Some(refused) => {
                let what = format!("the fuse {} is programmed, which is not modelled", refused.what);
                Err(Fault::Architecture { pc: 0, address: FUSES + refused.field.byte as u32, what })
            }
        }
    }

    /// The low fuse byte: CKDIV8, CKSEL and SUT.
    pub(super) fn low(&self) -> Option<u8> {
        self.fuses.first().copied()
    }

    /// Address of the first instruction after a reset, in bytes.
    pub(super) fn start(&self) -> u32 {
        let field = self.layout.as_ref().and_then(|layout| layout.boot_reset);
        let programmed = field.is_some_and(|field| field.of(&self.fuses) == 0);
        self.boot_section().filter(|_| programmed).unwrap_or(0)
    }

    /// Address of the boot section, if the part has one.
    pub(super) fn boot_section(&self) -> Option<u32> {
        let layout = self.layout.as_ref()?;
        let size = usize::from(layout.boot_size?.of(&self.fuses));
        layout.boot_starts.get(size).copied()
    }

    /// Returns true if a lock bit keeps `LPM` from any address.
    #[inline(always)]
    pub(super) fn keeps_loads(&self) -> bool {
        self.lock[0] & (BLB12 | BLB02) != BLB12 | BLB02
    }

    /// Returns true if a lock bit keeps `LPM` at one address from reading another.
    pub(super) fn keeps_load(&self, pc: u32, address: u32) -> bool {
        let Some(start) = self.boot_section() else { return false };
        let bit = match (pc < start, address < start) {
            (true, false) => BLB12,
            (false, true) => BLB02,
            _ => return false,
        };
        self.lock[0] & bit == 0
    }

    /// Returns true if a lock bit keeps `SPM` from writing an address.
    pub(super) fn keeps_store(&self, address: u32) -> bool {
        let Some(start) = self.boot_section() else { return false };
        self.lock[0] & if address < start { BLB01 } else { BLB11 } == 0
    }

    /// Returns true if interrupts wait while the program is at an address. "If Interrupt Vectors
    /// are placed in the Application section", as they are in this model, "interrupts are disabled
    /// while executing from the Boot Loader section".
    #[inline(always)]
    pub(super) fn keeps_interrupts(&self, pc: u32) -> bool {
        self.lock[0] & BLB12 == 0 && self.boot_section().is_some_and(|start| pc >= start)
    }

    /// Value that a load gets from fuses and lock bits at this value of Z (27.8.9).
    pub(super) fn fuse_at(&self, z: u16) -> Option<u8> {
        match z {
            0 => self.low(),
            1 => Some(self.lock[0]),
            2 => self.fuses.get(2).copied(),
            3 => self.fuses.get(1).copied(),
            _ => None,
        }
    }

    /// Value that a load gets from the signature row at this value of Z (27.8.10).
    pub(super) fn signature_at(&self, z: u16) -> Option<u8> {
        match z {
            0 | 2 | 4 => Some(self.signature[usize::from(z / 2)]),
            1 => Some(CALIBRATION),
            _ => None,
        }
    }

    pub(super) fn watchdog_always_on(&self) -> bool {
        let field = self.layout.as_ref().and_then(|layout| layout.watchdog_on);
        field.is_some_and(|field| field.of(&self.fuses) == 0)
    }
}
