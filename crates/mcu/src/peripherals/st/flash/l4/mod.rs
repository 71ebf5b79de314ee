//! Programming and erasing the flash of the STM32L4+ in its two banks (DBANK = 1, as delivered),
//! and its option bytes ([`options`]).
//!
//! RM0432 section 3, from memory: the manual was not at hand. Registers and bits are those of ST's
//! CMSIS header stm32l4r5xx.h, keys and sequences those of ST's HAL. RM0453, sections 4.3 and 4.4
//! (STM32WL5x), and RM0444, section 3.4 (STM32G0), which were, say the same of what they share.
//! FLASH_ACR is the core's.
//!
//! A double word is two stores of a word, of which the second begins the operation. While it goes
//! on, the core goes on, too, but stands still from where it reads or executes the bank at work
//! (section 3.3.6): [`FlashChange::Beside`]. That of option bytes holds it up in any case, because
//! which banks it makes wait is not known. A write of FLASH_CR waits for BSY. Flags of errors that
//! are still set keep the next operation from being done, and set PGSERR. Refused with a fault:
//! fast programming (FSTPG), power-down (PDKEYR), reading protection of code (PCROP), a store into
//! flash while BSY is set, a clock that changes while it is, and STRT with nothing to erase, which
//! the manual forbids. Whether the voltage range allows programming (1 alone does) is not looked
//! at. There are no errors that ECC would find.

mod options;

use super::registers::{KEYS, L4, OPERR, PG, WRPERR, done_at, take_key};
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{
    ClockUpdate, Context, Fault, FlashChange, FlashController, FlashStore, MemoryKind, Nonvolatile, Part,
    Peripheral, PeripheralSpec, ResetCause, Roles, Spec,
};
use options::OptionWords;
use std::ops::Range;

const PDKEYR: u32 = 0x04;
const KEYR: u32 = 0x08;
const OPTKEYR: u32 = 0x0c;
const SR: u32 = 0x10;
const CR: u32 = 0x14;
const ECCR: u32 = 0x18;

/// SR, but for EOP, OPERR and WRPERR, which others have, too. MISERR and FASTERR are fast
/// programming's.
const PROGERR: u32 = 1 << 3;
const PGAERR: u32 = 1 << 5;
const SIZERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;
const BSY: u32 = 1 << 16;
/// The flags of errors that must be cleared before the next operation.
const ERRORS: u32 = PROGERR | WRPERR | PGAERR | SIZERR | PGSERR;

/// CR, but for PG, STRT, EOPIE, ERRIE and LOCK.
const PER: u32 = 1 << 1;
const MER1: u32 = 1 << 2;
const PNB_SHIFT: u32 = 3;
const PNB: u32 = 0xff;
const BKER: u32 = 1 << 11;
const MER2: u32 = 1 << 15;
const OPTSTRT: u32 = 1 << 17;
const FSTPG: u32 = 1 << 18;
const OBL_LAUNCH: u32 = 1 << 27;
const OPTLOCK: u32 = 1 << 30;

/// ECCR: an interrupt for what there never is.
const ECCIE: u32 = 1 << 24;

const OPTION_KEYS: [u32; 2] = [0x0819_2a3b, 0x4c5d_6e7f];

/// The first word of a double word, which waits for the second.
#[derive(Clone, Copy)]
struct FirstWord {
    address: u32,
    value: u32,
    before: u32,
}

/// The controller.
#[derive(Clone)]
pub struct FlashL4 {
    name: String,
    base: u32,
    irq: Option<u8>,
    memory: Range<u32>,
    page: u32,
    /// Times of a double word; of a page; of a bank or both.
    program_ns: u64,
    erase_ns: u64,
    mass_ns: u64,
    options: OptionWords,
    control: u32,
    status: u32,
    ecc_control: u32,
    /// Keys that have been written in their order: to KEYR, to OPTKEYR.
    keys: usize,
    option_keys: usize,
    first: Option<FirstWord>,
    /// The cycle at which the operation under way ends.
    busy_until: Option<u64>,
    /// The write of FLASH_CR that waits for that: place, size and value.
    waiting: Option<(u32, u8, u32)>,
    /// The reason that the next access is a fault.
    refused: Option<String>,
}

impl FlashL4 {
    /// The controller whose FLASH_ACR is at `spec.base`, interrupting with `spec.irq`. Settings:
    /// `page_size`, `program_ns` of a double word, `erase_us` of a page, `mass_us` of a bank or
    /// both; `option_bytes`, what OPTR reads as delivered.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<FlashL4, String> {
        let setting = |name: &str| {
            let value = spec.settings.get(name).and_then(|value| u32::try_from(*value).ok());
            value.ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name))
        };
        let memory = part.memories.iter().find(|memory| memory.kind == MemoryKind::Flash);
        let memory = memory.ok_or_else(|| format!("{}: no flash", part.name))?;
        let page = setting("page_size")?;
        if page < 8 || !page.is_power_of_two() {
            return Err(format!("{}: {}: no page has {page} bytes", part.name, spec.name));
        }
        let mut flash = FlashL4 {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            memory: memory.start..memory.start + memory.size,
            page,
            program_ns: setting("program_ns")?.into(),
            erase_ns: u64::from(setting("erase_us")?) * 1000,
            mass_ns: u64::from(setting("mass_us")?) * 1000,
            options: OptionWords::new(setting("option_bytes")?),
            control: 0,
            status: 0,
            ecc_control: 0,
            keys: 0,
            option_keys: 0,
            first: None,
            busy_until: None,
            waiting: None,
            refused: None,
        };
        flash.reset();
        Ok(flash)
    }

    fn fault(&self, address: u32, pc: u32, what: &str) -> Fault {
        Fault::Peripheral { pc, address, device: self.name.clone(), what: what.into() }
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        L4.signal(self.irq, self.control, self.status, context);
    }

    /// Bank 1 or, with `second`, bank 2.
    fn bank(&self, second: bool) -> Range<u32> {
        let middle = self.memory.start + (self.memory.end - self.memory.start) / 2;
        if second { middle..self.memory.end } else { self.memory.start..middle }
    }

    /// True where something in this range, of one bank or of both, is protected from being written.
    fn protects(&self, range: &Range<u32>) -> bool {
        [false, true].into_iter().any(|second| {
            let bank = self.bank(second);
            let (start, end) = (range.start.max(bank.start), range.end.min(bank.end));
            start < end
                && self
                    .options
                    .protects(second, (start - bank.start) / self.page..=(end - 1 - bank.start) / self.page)
        })
    }

    /// An operation that is not done. OPERR is there for its interrupt alone.
    fn fail(&mut self, flag: u32, context: &mut Context<'_, '_>) {
        self.status |= flag;
        if self.control & L4.errie != 0 {
            self.status |= OPERR;
        }
        self.signal(context);
    }

    /// The operation under way is over, if its time has come by `now`. EOP, too, is there for its
    /// interrupt alone.
    fn finish(&mut self, now: u64, context: &mut Context<'_, '_>) {
        let Some(now) = self.busy_until.take_if(|until| *until <= now) else { return };
        self.options.finish(now);
        self.control &= !(L4.start | OPTSTRT);
        if self.control & L4.eopie != 0 {
            self.status |= L4.eop;
        }
        if let Some((offset, size, value)) = self.waiting.take() {
            let value = merged_word(self.control, offset, size, value);
            if let Err(what) = self.write_control(value, now, context) {
                self.refused = Some(what);
            }
        }
        self.signal(context);
    }

    /// FLASH_CR is written at cycle `now`, in which it is not busy.
    fn write_control(&mut self, value: u32, now: u64, context: &mut Context<'_, '_>) -> Result<(), String> {
        if self.control & L4.lock != 0 {
            // Locked: nothing can be written.
            return Ok(());
        }
        if value & FSTPG != 0 {
            return Err("fast programming (FSTPG) is not modelled".into());
        }
        if self.first.is_some() && value & PG == 0 {
            return Err("PG is cleared between the two words of a double word: not modelled".into());
        }
        let options_open = self.control & OPTLOCK == 0;
        self.control = value & !(L4.start | OPTSTRT | OBL_LAUNCH) | self.control & OPTLOCK;
        if value & L4.lock != 0 {
            self.control |= OPTLOCK;
            self.keys = 0;
        }
        if self.control & OPTLOCK != 0 {
            self.option_keys = 0;
        }
        if value & L4.start != 0 {
            self.erase(now, context)?;
        }
        if value & OPTSTRT != 0 && options_open {
            if self.busy_until.is_some() {
                return Err("STRT and OPTSTRT at once are not modelled".into());
            }
            let until = done_at(now, self.erase_ns, context);
            self.options.store(until).map_err(|what| format!("the option {what} is not modelled"))?;
            self.control |= OPTSTRT;
            self.busy_until = Some(until);
            context.events.change_flash(FlashChange::Elsewhere { until });
        }
        if value & OBL_LAUNCH != 0 && options_open {
            context.events.request_reset(ResetCause::OptionBytes);
        }
        Ok(())
    }

    /// STRT.
    fn erase(&mut self, now: u64, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        let (page, banks) = (self.control & PER != 0, self.control & (MER1 | MER2));
        if !page && banks == 0 {
            return Err("STRT with PER, MER1 and MER2 clear, which the manual forbids");
        }
        if self.status & ERRORS != 0 || self.control & PG != 0 || page && banks != 0 {
            self.fail(PGSERR, context);
            return Ok(());
        }
        let (bank, range, nanoseconds) = if page {
            let bank = self.bank(self.control & BKER != 0);
            let start = bank.start + (self.control >> PNB_SHIFT & PNB) * self.page;
            if start >= bank.end {
                return Err("PNB is beyond the bank's last page");
            }
            (bank, start..start + self.page, self.erase_ns)
        } else {
            let bank = match banks {
                MER1 => self.bank(false),
                MER2 => self.bank(true),
                _ => self.memory.clone(),
            };
            (bank.clone(), bank, self.mass_ns)
        };
        if self.protects(&range) {
            self.fail(WRPERR, context);
            return Ok(());
        }
        let until = done_at(now, nanoseconds, context);
        self.control |= L4.start;
        self.busy_until = Some(until);
        let change = Box::new(FlashChange::Erase { range, until });
        context.events.change_flash(FlashChange::Beside { bank, change });
        Ok(())
    }

    /// A word is stored at `place`: the flag of what is wrong, or what becomes of the flash.
    fn store(
        &mut self,
        store: &FlashStore,
        place: u32,
        context: &Context<'_, '_>,
    ) -> Result<FlashChange, u32> {
        let erasing = self.control & (PER | MER1 | MER2) != 0;
        if self.status & ERRORS != 0 || self.control & PG == 0 || erasing {
            return Err(PGSERR);
        }
        if store.size != 4 {
            return Err(SIZERR);
        }
        if self.protects(&(place..place + 4)) {
            return Err(WRPERR);
        }
        let &FlashStore { value, before, .. } = store;
        let Some(first) = self.first.take() else {
            if place & 7 != 0 {
                return Err(PGAERR);
            }
            self.first = Some(FirstWord { address: place, value, before });
            return Ok(FlashChange::Kept);
        };
        if place != first.address + 4 {
            return Err(PGAERR);
        }
        let erased = first.before & before == u32::MAX;
        if !erased && first.value | value != 0 {
            return Err(PROGERR);
        }
        let until = done_at(context.now, self.program_ns, context);
        self.busy_until = Some(until);
        let bytes = [first.value, value].into_iter().flat_map(u32::to_le_bytes).collect();
        let bank = self.bank(self.bank(true).contains(&place));
        let change = Box::new(FlashChange::Program { address: first.address, bytes, until });
        Ok(FlashChange::Beside { bank, change })
    }

    /// OPTKEYR.
    fn write_option_key(&mut self, value: u32) -> Result<(), String> {
        if self.control & L4.lock != 0 {
            return Err("a key for the option bytes while FLASH_CR is locked: KEYR comes first".into());
        }
        if self.control & OPTLOCK != 0 {
            take_key(&mut self.option_keys, OPTION_KEYS, value)?;
            if self.option_keys == OPTION_KEYS.len() {
                self.control &= !OPTLOCK;
            }
        }
        Ok(())
    }

    fn write_register(
        &mut self,
        offset: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), String> {
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            PDKEYR => return Err("FLASH_PDKEYR: the flash's power-down is not modelled".into()),
            KEYR if self.control & L4.lock != 0 => {
                take_key(&mut self.keys, KEYS, value)?;
                if self.keys == KEYS.len() {
                    self.control &= !L4.lock;
                }
            }
            KEYR => {}
            OPTKEYR => self.write_option_key(value)?,
            // Flags are cleared by writing ones.
            SR => self.status &= !merge(0),
            CR => match self.busy_until {
                Some(until) => {
                    self.waiting = Some((offset, size, value));
                    context.events.change_flash(FlashChange::Wait { until });
                }
                None => self.write_control(merge(self.control), context.now, context)?,
            },
            ECCR => self.ecc_control = merge(self.ecc_control) & ECCIE,
            register => {
                let Some(old) = self.options.register(register) else {
                    return if value == 0 { Ok(()) } else { Err("a reserved place".into()) };
                };
                if self.busy_until.is_some() {
                    return Err("an option register is written while BSY is set: not modelled".into());
                }
                if self.control & OPTLOCK == 0 || OptionWords::is_fixed(register) {
                    self.options.write(register, merge(old))?;
                }
            }
        }
        Ok(())
    }
}

/// The reason that the end of the operation under way is unknown.
const CLOCK_CHANGED: &str =
    "the core's clock was changed while the flash was busy, whose time is told in its cycles: not modelled";

impl Peripheral for FlashL4 {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base + PDKEYR..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.finish(context.now, context);
        if let Some(what) = &self.refused {
            return Err(self.fault(address, context.pc, what));
        }
        let offset = address - self.base;
        let word = match offset & !3 {
            SR => self.status | if self.busy_until.is_some() { BSY } else { 0 },
            CR => self.control,
            ECCR => self.ecc_control,
            // What is only written and reserved places read as zero.
            register => self.options.register(register).unwrap_or(0),
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
        self.finish(context.now, context);
        if let Some(what) = &self.refused {
            return Err(self.fault(address, context.pc, what));
        }
        let written = self.write_register(address - self.base, size, value, context);
        written.map_err(|what| self.fault(address, context.pc, &what))?;
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.busy_until
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.finish(context.now, context);
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if matches!(update, ClockUpdate::Core(_)) && self.busy_until.is_some() {
            self.refused = Some(CLOCK_CHANGED.into());
        }
    }

    fn reset(&mut self) {
        self.reset_by(ResetCause::PowerOn, 0);
    }

    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        self.control = L4.lock | OPTLOCK;
        self.status = 0;
        self.ecc_control = 0;
        self.keys = 0;
        self.option_keys = 0;
        self.first = None;
        self.busy_until = None;
        self.waiting = None;
        self.refused = None;
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

impl Nonvolatile for FlashL4 {
    fn writes(&self) -> u64 {
        self.options.writes
    }

    fn pending_fault(&self) -> Option<String> {
        self.options.refusal()
    }

    fn cut_power(&mut self, _torn: u8) {
        self.options.tear();
    }
}

impl FlashController for FlashL4 {
    fn begin_store(
        &mut self,
        store: &FlashStore,
        context: &mut Context<'_, '_>,
    ) -> Result<FlashChange, Fault> {
        let &FlashStore { pc, address, .. } = store;
        self.finish(context.now, context);
        if let Some(what) = &self.refused {
            return Err(self.fault(address, pc, what));
        }
        if self.busy_until.is_some() {
            let what = "a store into flash while BSY is set: not modelled";
            return Err(self.fault(address, pc, what));
        }
        // The flash and its alias lie at multiples of its size.
        let place = self.memory.start + address % (self.memory.end - self.memory.start).max(1);
        let change = self.store(store, place, context).unwrap_or_else(|flag| {
            self.first = None;
            self.fail(flag, context);
            FlashChange::Kept
        });
        Ok(change)
    }
}
