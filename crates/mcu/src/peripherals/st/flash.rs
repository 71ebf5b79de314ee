//! Programming and erasing the flash of the STM32F0, F1 (`settings.layout = 1`: pages, halfwords) and F4 (`4`: sectors, bytes to words).
//!
//! PM0075 section 2.3 (STM32F103; RM0041 goes with PM0063), RM0091 section 3.2.2, RM0090 section 3.6. FLASH_ACR is the core's. The core stands still until
//! an operation is over, as it does where its code lies in flash: BSY is never seen, which a program in RAM would see for as long. The
//! times are the data sheets' typical ones. Option bytes read as delivered; to change them is refused with a fault.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, FlashChange, FlashStore, MemoryKind, Part, Peripheral, PeripheralSpec};
use std::ops::Range;

// Offsets from FLASH_ACR.
const KEYR: u32 = 0x04;
const OPTKEYR: u32 = 0x08;
const SR: u32 = 0x0c;
const CR: u32 = 0x10;
/// F0, F1: AR; F4: OPTCR.
const AR: u32 = 0x14;
const OBR: u32 = 0x1c;
const WRPR: u32 = 0x20;

const KEYS: [u32; 2] = [0x4567_0123, 0xcdef_89ab];

/// CR: PG; PER or SER; MER.
const PG: u32 = 1 << 0;
const ER: u32 = 1 << 1;
const MER: u32 = 1 << 2;
/// SR: PGERR of F0 and F1; PGPERR and PGSERR of F4.
const PGERR: u32 = 1 << 2;
const PGPERR: u32 = 1 << 6;
const PGSERR: u32 = 1 << 7;

/// Where the families have the same bit.
#[derive(Clone, Copy)]
struct Bits {
    start: u32,
    lock: u32,
    /// Interrupt enables, the end's and the errors', and the flags.
    eopie: u32,
    errie: u32,
    eop: u32,
    errors: u32,
    /// Bits of CR that do something which is not modelled: option bytes.
    refused: u32,
}

const PAGES: Bits = Bits {
    start: 1 << 6,
    lock: 1 << 7,
    eopie: 1 << 12,
    errie: 1 << 10,
    eop: 1 << 5,
    errors: 0x14,
    refused: 0x2230,
};
const SECTORS: Bits = Bits {
    start: 1 << 16,
    lock: 1 << 31,
    eopie: 1 << 24,
    errie: 1 << 25,
    eop: 1 << 0,
    errors: 0xf2,
    refused: 0,
};

/// The controller.
#[derive(Clone)]
pub struct Flash {
    name: String,
    base: u32,
    irq: Option<u8>,
    sectors: bool,
    memory: Range<u32>,
    page: u32,
    program_us: u64,
    /// Of a page, or of sectors of 16, 64 and 128 kB; of everything: in milliseconds by the parallelism of 8, 16 and 32 bits.
    erase_ms: [[u64; 3]; 3],
    mass_ms: [u64; 3],
    option_bytes: u32,
    control: u32,
    status: u32,
    address: u32,
    /// Keys that have been written in their order.
    keys: usize,
}

impl Flash {
    /// The controller whose FLASH_ACR is at `spec.base`, interrupting with `spec.irq`. Settings: `program_us`; with layout 1 `page_size`,
    /// `erase_ms` and `mass_ms`, with layout 4 `erase_16k_x8_ms` and so on, and `mass_x8_ms`; `option_bytes`, what OBR or OPTCR reads.
    ///
    /// # Errors
    /// What is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Flash, String> {
        let setting = |name: &str| {
            let value = spec.settings.get(name).and_then(|value| u64::try_from(*value).ok());
            value.ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name))
        };
        let memory = part.memories.iter().find(|memory| memory.kind == MemoryKind::Flash);
        let memory = memory.ok_or_else(|| format!("{}: no flash", part.name))?;
        let sectors = setting("layout")? == 4;
        let (mut erase_ms, mut mass_ms) = ([[0; 3]; 3], [0; 3]);
        for (width, bits) in [8, 16, 32].into_iter().enumerate() {
            for (size, kilobytes) in [16, 64, 128].into_iter().enumerate() {
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
            sectors,
            memory: memory.start..memory.start + memory.size,
            page: if sectors { 0 } else { setting("page_size")?.clamp(1, 1 << 20) as u32 },
            program_us: setting("program_us")?,
            erase_ms,
            mass_ms,
            option_bytes: setting("option_bytes")? as u32,
            control: 0,
            status: 0,
            address: 0,
            keys: 0,
        };
        flash.reset();
        Ok(flash)
    }

    fn bits(&self) -> Bits {
        if self.sectors { SECTORS } else { PAGES }
    }

    fn fault(&self, address: u32, pc: u32, what: &str) -> Fault {
        Fault::Peripheral { pc, address, device: self.name.clone(), what: what.into() }
    }

    /// PSIZE: 0 to 2 for 8, 16 and 32 bits; 3, for 64, needs a second supply.
    fn width(&self) -> usize {
        if self.sectors { (self.control >> 8 & 3) as usize } else { 1 }
    }

    /// The sector of a number, and which of the three sizes it has: RM0090, table 5.
    fn sector(&self, number: u32) -> Option<(Range<u32>, usize)> {
        const KB: u32 = 1024;
        let (offset, length, size) = match number {
            0..4 => (number * 16 * KB, 16 * KB, 0),
            4 => (64 * KB, 64 * KB, 1),
            _ => ((number - 4) * 128 * KB, 128 * KB, 2),
        };
        let start = self.memory.start + offset;
        (start + length <= self.memory.end).then_some((start..start + length, size))
    }

    /// What STRT erases, and how long that takes.
    fn erased(&self) -> Option<(Range<u32>, u64)> {
        let width = self.width().min(2);
        if self.control & MER != 0 {
            Some((self.memory.clone(), self.mass_ms[width]))
        } else if self.control & ER == 0 {
            None
        } else if self.sectors {
            let (range, size) = self.sector(self.control >> 3 & 15)?;
            Some((range, self.erase_ms[size][width]))
        } else {
            let start = self.memory.start + (self.address.checked_sub(self.memory.start)? & !(self.page - 1));
            self.memory.contains(&start).then(|| (start..start + self.page, self.erase_ms[0][0]))
        }
    }

    /// An operation has come to its end: section 3.8.4 of RM0090: the flag rises where its interrupt is on.
    fn ended(&mut self, context: &mut Context<'_, '_>) {
        let bits = self.bits();
        if !self.sectors || self.control & bits.eopie != 0 {
            self.status |= bits.eop;
        }
        self.signal(context);
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        let bits = self.bits();
        let ended = self.control & bits.eopie != 0 && self.status & bits.eop != 0;
        if ended || self.control & bits.errie != 0 && self.status & bits.errors != 0 {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    fn write_control(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        let bits = self.bits();
        if self.control & bits.lock != 0 {
            // Locked: nothing can be written.
            return Ok(());
        }
        if value & bits.refused != 0 {
            return Err("option bytes cannot be changed in the model");
        }
        self.control = value & !bits.start;
        if value & bits.lock != 0 {
            self.keys = 0;
        }
        if self.sectors && self.control >> 8 & 3 == 3 && self.control & (PG | ER | MER) != 0 {
            return Err("programming 64 bits at once needs a second supply, which is not modelled");
        }
        if value & bits.start != 0 {
            let (range, milliseconds) = self.erased().ok_or("STRT, and nothing that could be erased")?;
            let cycles = milliseconds * context.board.clock_hz() / 1000;
            context.events.change_flash(FlashChange::Erase { range, until: context.now + cycles });
            self.ended(context);
        }
        Ok(())
    }
}

impl Peripheral for Flash {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base + KEYR..self.base + 0x400).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match offset & !3 {
            KEYR | OPTKEYR => 0,
            SR => self.status,
            CR => self.control,
            AR if self.sectors => self.option_bytes,
            OBR if !self.sectors => self.option_bytes,
            WRPR if !self.sectors => u32::MAX,
            _ => return Err(self.fault(address, context.pc, "register not modelled")),
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
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            KEYR if self.control & self.bits().lock != 0 => {
                if KEYS.get(self.keys) != Some(&value) {
                    let what = "a wrong key, after which it stays locked (a bus fault)";
                    return Err(self.fault(address, context.pc, what));
                }
                self.keys += 1;
                if self.keys == KEYS.len() {
                    self.control &= !self.bits().lock;
                }
            }
            KEYR => {}
            // Flags are cleared by writing ones.
            SR => self.status &= !merge(0),
            CR => {
                let value = merge(self.control);
                self.write_control(value, context).map_err(|what| self.fault(address, context.pc, what))?;
            }
            AR if !self.sectors => self.address = merge(self.address),
            OPTKEYR | AR => {
                let what = "option bytes cannot be changed in the model";
                return Err(self.fault(address, context.pc, what));
            }
            _ => return Err(self.fault(address, context.pc, "register not modelled")),
        }
        self.signal(context);
        Ok(())
    }

    fn flash_store(
        &mut self,
        store: &FlashStore,
        context: &mut Context<'_, '_>,
    ) -> Option<Result<FlashChange, Fault>> {
        let &FlashStore { pc, address, size, value, .. } = store;
        let unlocked = self.control & self.bits().lock == 0;
        if self.control & PG == 0 || !unlocked {
            if self.sectors && unlocked {
                self.status |= PGSERR;
                self.signal(context);
                return Some(Ok(FlashChange::Kept));
            }
            let what = "a write to flash while PG is clear (a bus fault)".into();
            return Some(Err(Fault::Architecture { pc, address, what }));
        }
        if usize::from(size) != 1 << self.width() {
            if self.sectors {
                self.status |= PGPERR;
                self.signal(context);
                return Some(Ok(FlashChange::Kept));
            }
            let what = "flash is written by halfwords only (a bus fault)".into();
            return Some(Err(Fault::Architecture { pc, address, what }));
        }
        if !self.sectors && store.before != 0xffff && value != 0 {
            // Only what is erased can be programmed, but for zero.
            self.status |= PGERR;
            self.signal(context);
            return Some(Ok(FlashChange::Kept));
        }
        let bytes = value.to_le_bytes()[..usize::from(size)].to_vec();
        let until = context.now + self.program_us * context.board.clock_hz() / 1_000_000;
        self.ended(context);
        Some(Ok(FlashChange::Program { address, bytes, until }))
    }

    fn reset(&mut self) {
        self.control = self.bits().lock;
        self.status = 0;
        self.address = 0;
        self.keys = 0;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
