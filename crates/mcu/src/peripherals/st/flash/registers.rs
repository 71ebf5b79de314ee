//! The registers of the controllers and their bits: RM0091 section 3.5, PM0075 section 3, RM0090
//! section 3.9, RM0410 section 3.7. Those that only the STM32L4+ has are in [`super::l4`].

use crate::Context;

// Offsets from FLASH_ACR.
pub const KEYR: u32 = 0x04;
pub const OPTKEYR: u32 = 0x08;
pub const SR: u32 = 0x0c;
pub const CR: u32 = 0x10;
/// F0, F1: AR; F4, F7: OPTCR.
pub const AR: u32 = 0x14;
/// F7.
pub const OPTCR1: u32 = 0x18;
pub const OBR: u32 = 0x1c;
pub const WRPR: u32 = 0x20;

pub const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

/// A key is written, of which `taken` have been in their order.
pub fn take_key(taken: &mut usize, keys: [u32; 2], value: u32) -> Result<(), String> {
    if keys.get(*taken) != Some(&value) {
        return Err("KEYR or OPTKEYR: a wrong key, after which it stays locked (a bus fault)".into());
    }
    *taken += 1;
    Ok(())
}

/// CR: PG; PER or SER; MER.
pub const PG: u32 = 1 << 0;
pub const ER: u32 = 1 << 1;
pub const MER: u32 = 1 << 2;
/// CR of F7: with MER all of the flash is erased, alone the second of two banks.
pub const MER2: u32 = 1 << 15;
/// CR of F0 and F1; OBL_LAUNCH, which RM0091 calls FORCE_OPTLOAD, too, is the F0's alone.
pub const OPTPG: u32 = 1 << 4;
pub const OPTER: u32 = 1 << 5;
pub const OPTWRE: u32 = 1 << 9;
pub const OBL_LAUNCH: u32 = 1 << 13;
/// SR: WRPRTERR of F0 and F1, WRPERR of F4 and F7.
pub const WRPERR: u32 = 1 << 4;
/// SR: PGERR of F0 and F1; PGPERR of F4 and F7; PGSERR of F4, where F7 has ERSERR.
pub const PGERR: u32 = 1 << 2;
pub const PGPERR: u32 = 1 << 6;
pub const PGSERR: u32 = 1 << 7;
pub const ERSERR: u32 = 1 << 7;

/// Bits that the families have at different places.
#[derive(Clone, Copy)]
pub struct Bits {
    pub start: u32,
    pub lock: u32,
    /// Interrupt enables, the end's and the errors', and the flags.
    pub eopie: u32,
    pub errie: u32,
    pub eop: u32,
    pub errors: u32,
}

pub const PAGES: Bits =
    Bits { start: 1 << 6, lock: 1 << 7, eopie: 1 << 12, errie: 1 << 10, eop: 1 << 5, errors: 0x14 };
pub const SECTORS: Bits =
    Bits { start: 1 << 16, lock: 1 << 31, eopie: 1 << 24, errie: 1 << 25, eop: 1 << 0, errors: 0xf2 };
pub const L4: Bits =
    Bits { start: 1 << 16, lock: 1 << 31, eopie: 1 << 24, errie: 1 << 25, eop: 1 << 0, errors: OPERR };

/// SR of the L4: an error while ERRIE was set, which alone interrupts.
pub const OPERR: u32 = 1 << 1;

impl Bits {
    /// Asks for the controller's interrupt `irq`, or takes that back, as CR and SR say.
    pub fn signal(&self, irq: Option<u8>, control: u32, status: u32, context: &mut Context<'_, '_>) {
        let Some(irq) = irq else { return };
        let ended = control & self.eopie != 0 && status & self.eop != 0;
        if ended || control & self.errie != 0 && status & self.errors != 0 {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }
}

/// The cycle at which what begins at `now` and takes so many nanoseconds is done.
pub fn done_at(now: u64, nanoseconds: u64, context: &Context<'_, '_>) -> u64 {
    let cycles = u128::from(nanoseconds) * u128::from(context.board.clock_hz()) / 1_000_000_000;
    now.saturating_add(u64::try_from(cycles).unwrap_or(u64::MAX))
}
