//! Programming and erasing the flash of the STM32F0 (`settings.layout = 0`), F1 (`1`: pages,
//! halfwords), F4 (`4`: sectors, bytes to words) and F7 (`7`: the same, in one bank), and their
//! option bytes: [`option_bytes`] of the F0 and F1, [`option_register`] of the others. [`l4`] is
//! the STM32L4+'s.
//!
//! PM0075 section 2.3 (STM32F103; RM0041 goes with PM0063), RM0091 section 3.2.2, RM0090 section
//! 3.6, RM0410 section 3.3. FLASH_ACR is the core's. The core stands still until an operation is
//! over, as it does where its code lies in flash: BSY is never seen, which a program in RAM would
//! see for as long. The times are the data sheets' typical ones. Of option bytes they have none:
//! one with its complement is taken to need what a halfword needs, erasing them what a page or the
//! smallest sector needs.
//!
//! Write protection: what is protected stays as it is, and WRPRTERR or WRPERR is set; everything
//! cannot be erased while something is protected (RM0402, section 3.6.4, says so of the F4; of the
//! F0 and F1 it is taken). Read protection of level 1 keeps nothing from a program that was started
//! from flash, but that it protects the first pages of the F1 from being written. Option bytes
//! whose effect the machine does not have are refused with a fault.

pub mod l4;
mod option_bytes;
mod option_register;
mod options;
mod registers;

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{
    Context, Fault, FlashChange, FlashController, FlashStore, MemoryKind, Nonvolatile, Part, Peripheral,
    PeripheralSpec, ResetCause, Roles, Spec,
};
use option_bytes::OptionBytes;
use option_register::OptionRegister;
use options::Options;
use registers::{
    AR, Bits, CR, ER, ERSERR, KEYR, KEYS, MER, MER2, OBL_LAUNCH, OBR, OPTCR1, OPTER, OPTKEYR, OPTPG, OPTWRE,
    PAGES, PG, PGERR, PGPERR, PGSERR, SECTORS, SR, WRPERR, WRPR, done_at, take_key,
};
use std::ops::Range;

/// The families whose controllers these are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Family {
    F0,
    F1,
    F4,
    F7,
}

/// The controller.
#[derive(Clone)]
pub struct Flash {
    name: String,
    base: u32,
    irq: Option<u8>,
    family: Family,
    memory: Range<u32>,
    page: u32,
    program_us: u64,
    /// Times of a page, or of sectors of 16, 64 and 128 kB, of the F7 twice these; of everything:
    /// in milliseconds by the parallelism of 8, 16 and 32 bits.
    erase_ms: [[u64; 3]; 3],
    mass_ms: [u64; 3],
    options: Options,
    control: u32,
    status: u32,
    address: u32,
    /// Keys that have been written in their order.
    keys: usize,
    /// The same for OPTKEYR of the F0 and F1.
    option_keys: usize,
    /// OPTCR1 of the F7.
    boot_addresses: u32,
}

impl Flash {
    /// The controller whose FLASH_ACR is at `spec.base`, interrupting with `spec.irq`. Settings:
    /// `program_us`; with layouts 0 and 1 `page_size`, `erase_ms` and `mass_ms`; with 4
    /// `erase_16k_x8_ms` and so on, with 7 `erase_32k_x8_ms` and so on, with both `mass_x8_ms` and
    /// so on; `option_bytes`, what OBR or OPTCR reads as delivered; with 7 `boot_addresses`, what
    /// OPTCR1 reads.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Flash, String> {
        let setting = |name: &str| {
            let value = spec.settings.get(name).and_then(|value| u64::try_from(*value).ok());
            value.ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name))
        };
        let memory = part.memories.iter().find(|memory| memory.kind == MemoryKind::Flash);
        let memory = memory.ok_or_else(|| format!("{}: no flash", part.name))?;
        let family = match setting("layout")? {
            0 => Family::F0,
            1 => Family::F1,
            4 => Family::F4,
            7 => Family::F7,
            layout => return Err(format!("{}: {} has no layout {layout}", part.name, spec.name)),
        };
        let sectors = matches!(family, Family::F4 | Family::F7);
        let delivered = setting("option_bytes")? as u32;
        let (mut erase_ms, mut mass_ms) = ([[0; 3]; 3], [0; 3]);
        for (width, bits) in [8, 16, 32].into_iter().enumerate() {
            let sizes = if family == Family::F7 { [32, 128, 256] } else { [16, 64, 128] };
            for (size, kilobytes) in sizes.into_iter().enumerate() {
                erase_ms[size][width] = setting(&if sectors {
                    format!("erase_{kilobytes}k_x{bits}_ms")
                } else {
                    "erase_ms".into()
                })?;
            }
            mass_ms[width] = setting(&if sectors { format!("mass_x{bits}_ms") } else { "mass_ms".into() })?;
        }
        let mut flash = Flash {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            family,
            memory: memory.start..memory.start + memory.size,
            page: if sectors { 0 } else { setting("page_size")?.clamp(1, 1 << 20) as u32 },
            program_us: setting("program_us")?,
            erase_ms,
            mass_ms,
            options: if sectors {
                Options::Register(OptionRegister::new(family, delivered))
            } else {
                Options::Bytes(OptionBytes::new(family, delivered, memory.size))
            },
            control: 0,
            status: 0,
            address: 0,
            keys: 0,
            option_keys: 0,
            boot_addresses: if family == Family::F7 { setting("boot_addresses")? as u32 } else { 0 },
        };
        flash.reset();
        Ok(flash)
    }

    fn sectors(&self) -> bool {
        matches!(self.family, Family::F4 | Family::F7)
    }

    fn bits(&self) -> Bits {
        if self.sectors() { SECTORS } else { PAGES }
    }

    fn fault(&self, address: u32, pc: u32, what: &str) -> Fault {
        Fault::Peripheral { pc, address, device: self.name.clone(), what: what.into() }
    }

    /// PSIZE: 0 to 2 for 8, 16 and 32 bits; 3, for 64, needs a second supply.
    fn width(&self) -> usize {
        if self.sectors() { (self.control >> 8 & 3) as usize } else { 1 }
    }

    /// The sector of a number, and which of the three sizes it has: RM0090, table 5; RM0410,
    /// section 3.3.1, where each is twice as large.
    fn sector(&self, number: u32) -> Option<(Range<u32>, usize)> {
        let kb = if self.family == Family::F7 { 2048 } else { 1024 };
        let (offset, length, size) = match number {
            0..4 => (number * 16 * kb, 16 * kb, 0),
            4 => (64 * kb, 64 * kb, 1),
            _ => ((number - 4) * 128 * kb, 128 * kb, 2),
        };
        let start = self.memory.start + offset;
        (start + length <= self.memory.end).then_some((start..start + length, size))
    }

    /// The range that STRT erases, and the time that it takes.
    fn erased(&self) -> Option<(Range<u32>, u64)> {
        let width = self.width().min(2);
        if self.control & MER != 0 {
            Some((self.memory.clone(), self.mass_ms[width]))
        } else if self.control & ER == 0 {
            None
        } else if self.sectors() {
            let numbers = if self.family == Family::F7 { 31 } else { 15 };
            let (range, size) = self.sector(self.control >> 3 & numbers)?;
            Some((range, self.erase_ms[size][width]))
        } else {
            let start = self.memory.start + (self.address.checked_sub(self.memory.start)? & !(self.page - 1));
            self.memory.contains(&start).then(|| (start..start + self.page, self.erase_ms[0][0]))
        }
    }

    /// An operation has come to its end: section 3.8.4 of RM0090: the flag rises where its
    /// interrupt is on.
    fn ended(&mut self, context: &mut Context<'_, '_>) {
        let bits = self.bits();
        if !self.sectors() || self.control & bits.eopie != 0 {
            self.status |= bits.eop;
        }
        self.signal(context);
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        self.bits().signal(self.irq, self.control, self.status, context);
    }

    /// True where some of these addresses are protected from being written.
    fn protects(&self, range: &Range<u32>) -> Result<bool, &'static str> {
        match &self.options {
            Options::Bytes(bytes) => {
                let offsets = range.start - self.memory.start..range.end - self.memory.start;
                Ok(bytes.protects(&offsets, self.page))
            }
            Options::Register(register) => {
                let within = |number: &u32| {
                    self.sector(*number)
                        .is_some_and(|(sector, _)| sector.start < range.end && range.start < sector.end)
                };
                (0..12).filter(within).try_fold(false, |any, number| Ok(any || register.protects(number)?))
            }
        }
    }

    /// The cycle at which what takes so many microseconds is done.
    fn until(&self, microseconds: u64, context: &Context<'_, '_>) -> u64 {
        done_at(context.now, microseconds.saturating_mul(1000), context)
    }

    fn write_control(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), String> {
        let bits = self.bits();
        if self.control & bits.lock != 0 {
            // Locked: nothing can be written.
            return Ok(());
        }
        let launch = !self.sectors() && value & OBL_LAUNCH != 0;
        if launch && self.family == Family::F1 {
            return Err("bit 13 of FLASH_CR is reserved".into());
        }
        // OPTWRE is set by keys alone.
        let unset = if self.sectors() { 0 } else { OBL_LAUNCH | OPTWRE & !self.control };
        self.control = value & !(bits.start | unset);
        if value & bits.lock != 0 {
            self.keys = 0;
        }
        if !self.sectors() && self.control & OPTWRE == 0 {
            self.option_keys = 0;
        }
        if self.sectors() && self.control >> 8 & 3 == 3 && self.control & (PG | ER | MER) != 0 {
            return Err("programming 64 bits at once needs a second supply, which is not modelled".into());
        }
        if value & bits.start != 0 {
            self.start(context)?;
        }
        if launch {
            context.events.request_reset(ResetCause::OptionBytes);
        }
        Ok(())
    }

    /// STRT.
    fn start(&mut self, context: &mut Context<'_, '_>) -> Result<(), String> {
        let until = self.until(self.erase_ms[0][0] * 1000, context);
        let change = if let Options::Bytes(bytes) = &mut self.options
            && self.control & OPTER != 0
        {
            if self.control & OPTWRE == 0 || self.control & (ER | MER) != 0 {
                return Err("OPTER and STRT with OPTWRE clear, or with PER or MER".into());
            }
            bytes.erase(until);
            FlashChange::Elsewhere { until }
        } else {
            if self.family == Family::F7 && self.control & (ER | MER | MER2) == 0 {
                // "An erase operation is performed while the control register has not been
                // correctly configured."
                self.status |= ERSERR;
                return Ok(());
            }
            let (range, milliseconds) = self.erased().ok_or("STRT, and nothing that could be erased")?;
            if self.protects(&range)? {
                self.status |= WRPERR;
                return Ok(());
            }
            FlashChange::Erase { range, until: self.until(milliseconds * 1000, context) }
        };
        context.events.change_flash(change);
        self.ended(context);
        Ok(())
    }

    /// OPTKEYR.
    fn write_option_key(&mut self, value: u32) -> Result<(), String> {
        match &mut self.options {
            Options::Register(register) => register.write_key(value),
            Options::Bytes(_) if self.control & PAGES.lock != 0 => {
                Err("a key for the option bytes while FLASH_CR is locked: KEYR comes first".into())
            }
            Options::Bytes(_) if self.control & OPTWRE != 0 => Ok(()),
            Options::Bytes(_) => {
                take_key(&mut self.option_keys, KEYS, value)?;
                if self.option_keys == KEYS.len() {
                    self.control |= OPTWRE;
                }
                Ok(())
            }
        }
    }

    /// OPTCR of the F4 and F7, a store to an option byte of the F0 and F1.
    fn write_option(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), String> {
        let microseconds =
            if self.sectors() { self.erase_ms[0][self.width().min(2)] * 1000 } else { self.program_us };
        let until = self.until(microseconds, context);
        match &mut self.options {
            Options::Register(register) => {
                if !register.write(merged_word(register.register, address, size, value))? {
                    return Ok(());
                }
                register.store(until);
            }
            Options::Bytes(bytes) => {
                if self.control & (PAGES.lock | OPTPG | OPTWRE) != OPTPG | OPTWRE || size != 2 {
                    let what = "an option byte is written by a halfword while OPTPG and OPTWRE are set";
                    return Err(what.into());
                }
                // The complement in the upper half is the controller's to make.
                if !bytes.program((address - option_bytes::START) as usize, value as u8, until)? {
                    self.status |= PGERR;
                    return Ok(());
                }
            }
        }
        context.events.change_flash(FlashChange::Elsewhere { until });
        self.ended(context);
        Ok(())
    }
}

impl Peripheral for Flash {
    fn spec(&self) -> Spec {
        let registers = self.base + KEYR..self.base + 0x400;
        Spec::with_ranges(&self.name, std::iter::once(registers).chain(self.options.addresses()))
    }

    fn read(&mut self, address: u32, size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        if let Some(cells) = self.options.cells(address) {
            let cells = cells.iter().take(size.into());
            return Ok(cells.rev().fold(0, |word, cell| word << 8 | u32::from(*cell)));
        }
        let offset = address - self.base;
        let word = match (offset & !3, &self.options) {
            (SR, _) => self.status,
            (CR, _) => self.control,
            (AR, Options::Register(register)) => register.register,
            (OPTCR1, Options::Register(_)) if self.family == Family::F7 => self.boot_addresses,
            (OBR, Options::Bytes(bytes)) => bytes.obr(),
            (WRPR, Options::Bytes(bytes)) => bytes.wrpr(),
            // What is only written, and reserved places.
            _ => 0,
        };
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address.wrapping_sub(self.base);
        let merge = |old: u32| merged_word(old, offset, size, value);
        let written = match offset & !3 {
            _ if self.options.cells(address).is_some() => self.write_option(address, size, value, context),
            KEYR if self.control & self.bits().lock != 0 => {
                let taken = take_key(&mut self.keys, KEYS, value);
                if self.keys == KEYS.len() {
                    self.control &= !self.bits().lock;
                }
                taken
            }
            KEYR => Ok(()),
            OPTKEYR => self.write_option_key(value),
            // Flags are cleared by writing ones.
            SR => {
                self.status &= !merge(0);
                Ok(())
            }
            CR => self.write_control(merge(self.control), context),
            AR if !self.sectors() => {
                self.address = merge(self.address);
                Ok(())
            }
            AR => self.write_option(address, size, value, context),
            OPTCR1 if self.family == Family::F7 && merge(self.boot_addresses) == self.boot_addresses => {
                Ok(())
            }
            OPTCR1 if self.family == Family::F7 => {
                Err("BOOT_ADD0 and BOOT_ADD1 cannot be changed in the model".into())
            }
            // Read-only.
            OBR | WRPR if !self.sectors() => Ok(()),
            _ if value == 0 => Ok(()),
            _ => Err("a reserved place".into()),
        };
        written.map_err(|what| self.fault(address, context.pc, &what))?;
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.options.due()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.options.finish(context.now);
    }

    fn reset(&mut self) {
        self.reset_by(ResetCause::PowerOn, 0);
    }

    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        self.control = self.bits().lock;
        self.status = 0;
        self.address = 0;
        self.keys = 0;
        self.option_keys = 0;
        self.options.reset(cause, now);
    }

    fn roles(&self) -> Roles<'_> {
        Roles { nonvolatile: Some(self), ..Roles::default() }
    }

    fn as_nonvolatile(&mut self) -> Option<&mut dyn Nonvolatile> {
        Some(self)
    }

    fn as_flash_controller(&mut self) -> Option<&mut dyn FlashController> {
        Some(self)
    }
}

impl Nonvolatile for Flash {
    fn memory(&self) -> Option<(u32, &[u8])> {
        self.options.memory()
    }

    fn memory_mut(&mut self) -> Option<(u32, &mut [u8])> {
        self.options.memory_mut()
    }

    fn writes(&self) -> u64 {
        self.options.writes()
    }

    fn pending_fault(&self) -> Option<String> {
        self.options.refusal()
    }

    fn cut_power(&mut self, torn: u8) {
        self.options.cut_power(torn);
    }
}

impl FlashController for Flash {
    fn begin_store(
        &mut self,
        store: &FlashStore,
        context: &mut Context<'_, '_>,
    ) -> Result<FlashChange, Fault> {
        let &FlashStore { pc, address, size, value, .. } = store;
        if self.family == Family::F7 && address < self.memory.start {
            let what = "the flash can be written at the AXI bus alone, not at the ITCM bus".into();
            return Err(Fault::Architecture { pc, address, what });
        }
        let unlocked = self.control & self.bits().lock == 0;
        if self.control & PG == 0 || !unlocked {
            if self.family == Family::F4 && unlocked {
                self.status |= PGSERR;
                self.signal(context);
                return Ok(FlashChange::Kept);
            }
            let what = "a write to flash while PG is clear (a bus fault)".into();
            return Err(Fault::Architecture { pc, address, what });
        }
        if usize::from(size) != 1 << self.width() {
            if self.sectors() {
                self.status |= PGPERR;
                self.signal(context);
                return Ok(FlashChange::Kept);
            }
            let what = "flash is written by halfwords only (a bus fault)".into();
            return Err(Fault::Architecture { pc, address, what });
        }
        // The flash and its aliases lie at multiples of its size.
        let place = self.memory.start + address % (self.memory.end - self.memory.start).max(1);
        match self.protects(&(place..place + u32::from(size))) {
            Ok(false) => {}
            Ok(true) => {
                self.status |= WRPERR;
                self.signal(context);
                return Ok(FlashChange::Kept);
            }
            Err(what) => return Err(self.fault(address, pc, what)),
        }
        if !self.sectors() && store.before != 0xffff && value != 0 {
            // Only what is erased can be programmed, but for zero.
            self.status |= PGERR;
            self.signal(context);
            return Ok(FlashChange::Kept);
        }
        let bytes = value.to_le_bytes()[..usize::from(size)].to_vec();
        let until = self.until(self.program_us, context);
        self.ended(context);
        Ok(FlashChange::Program { address, bytes, until })
    }
}
