//! SPMCSR: how an AVR writes its own flash, and reads fuses, lock bits and signature row.
//!
//! ATmega328P data sheet DS40002061, chapters 26 and 27; ATmega128 data sheet 2467, "Boot Loader
//! Support"; ATtiny85 data sheet 2586Q, chapter 19. Where there is a boot section, the flash below
//! it (RWW) cannot be read while a page there is written: the core goes on, and whoever reads or
//! executes it meets a fault. Everywhere else the core stands still. The data sheets give 3.7 to
//! 4.5 ms for a page. A window counts from the end of the instruction that writes SPMCSR. Boot lock
//! bits are set as a page is written (table 27-8: "Flash write (page erase, page write, and write
//! lock bits by SPM)"), while "the entire Flash can be read"; what they keep apart is the core's
//! business. Not modelled, and faults: LB1 and LB2 set by `SPM`, which some parts have and others
//! not.

use crate::clock::rescaled;
use crate::fuses::LOCK;
use crate::{
    ClockUpdate, Context, Event, Fault, FlashChange, FlashController, FlashStore, FlashView, MemoryKind,
    Part, Peripheral, PeripheralSpec, Spec,
};

/// SPMCSR bits; the ATtiny85 has CTPB, RFLB and RSIG for RWWSRE, BLBSET and SIGRD.
const SPMIE: u8 = 0x80;
const RWWSB: u8 = 0x40;
const SIGRD: u8 = 0x20;
const RWWSRE: u8 = 0x10;
const BLBSET: u8 = 0x08;
const PGWRT: u8 = 0x04;
const PGERS: u8 = 0x02;
const SPMEN: u8 = 0x01;
/// Those that say what `SPM` does.
const COMMAND: u8 = RWWSRE | BLBSET | PGWRT | PGERS | SPMEN;

/// R0 as `SPM` sets lock bits: LB2 and LB1; BLB12 to BLB01.
const LB: u8 = 0x03;
const BLB: u8 = 0x3C;

/// "This bit enables the SPM instruction for the next four clock cycles."
const STORE_WINDOW: u64 = 4;
/// "When an LPM instruction is executed within three CPU cycles".
const LOAD_WINDOW: u64 = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Idle,
    /// SPMCSR is being written; the windows begin with the next instruction.
    Opening,
    /// The windows began at this cycle.
    Open(u64),
    /// A page is erased or written, up to this cycle; the core goes on meanwhile.
    Behind(u64),
    /// So, and the core stands still.
    Held(u64),
}

/// Self-programming.
#[derive(Clone)]
pub struct SelfProgramming {
    name: String,
    address: u32,
    irq: Option<u8>,
    /// Bits of SPMCSR that can be written.
    writable: u8,
    /// First byte of the flash that is never closed; `None` where the core always stands still.
    open_from: Option<u32>,
    flash_size: u32,
    write_us: u64,
    clock_hz: u64,
    /// The temporary page buffer, and its words that were filled.
    buffer: Vec<u8>,
    filled: Vec<bool>,
    control: u8,
    state: State,
    /// RWWSB.
    closed: bool,
    /// The ready interrupt was taken and must be requested anew if it is still so.
    recheck: bool,
}

impl SelfProgramming {
    /// SPMCSR at `spec.base`. Settings: `page`, bytes of a page; `write_us`, the time in which one
    /// is erased or written; `signature_row` = 1 where SPMCSR has SIGRD.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<SelfProgramming, String> {
        let setting = |name: &str| spec.settings.get(name).copied();
        let needed =
            |name: &str| setting(name).ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name));
        let flash = part.memories.iter().find(|memory| memory.kind == MemoryKind::Flash);
        let flash = flash.ok_or_else(|| format!("{}: no memory of kind flash", part.name))?;
        let page = needed("page")? as usize;
        if !page.is_power_of_two() || !(2..=1024).contains(&page) {
            return Err(format!(
                "{}: a page of {} has a power of two of bytes, up to 1024",
                part.name, spec.name
            ));
        }
        let interrupt = if spec.irq.is_some() { SPMIE } else { 0 };
        let signature = if setting("signature_row") == Some(1) { SIGRD } else { 0 };
        Ok(SelfProgramming {
            name: spec.name.clone(),
            address: spec.base,
            irq: spec.irq,
            writable: interrupt | signature | COMMAND,
            // The largest boot section is all of the section that is never closed (DS40002061,
            // tables 27-7 and 27-8).
            open_from: part.fuses.as_ref().and_then(|fuses| fuses.boot_starts.first().copied()),
            flash_size: flash.size,
            write_us: needed("write_us")? as u64,
            clock_hz: 1,
            buffer: vec![0xFF; page],
            filled: vec![false; page / 2],
            control: 0,
            state: State::Idle,
            closed: false,
            recheck: false,
        })
    }

    fn fault(&self, pc: u32, address: u32, what: &str) -> Fault {
        Fault::Peripheral { pc, address, device: self.name.clone(), what: what.into() }
    }

    fn is_busy(&self) -> bool {
        matches!(self.state, State::Behind(_) | State::Held(_))
    }

    fn empty_buffer(&mut self) {
        self.buffer.fill(0xFF);
        self.filled.fill(false);
    }

    /// Whatever was asked for is done, or its window has passed.
    fn end(&mut self) {
        self.control &= SPMIE;
        self.state = State::Idle;
    }

    /// Sets the core's view of the flash, and the interrupt.
    fn update(&self, context: &mut Context<'_, '_>) {
        let loads = matches!(self.state, State::Open(from) if context.now < from + LOAD_WINDOW);
        context.events.flash_view = match (self.control & !SPMIE, self.open_from) {
            (command, _) if loads && command == BLBSET | SPMEN => FlashView::Fuses,
            (command, _) if loads && command == SIGRD | SPMEN => FlashView::SignatureRow,
            (_, Some(start)) if self.closed => FlashView::From(start),
            _ => FlashView::Whole,
        };
        if let Some(irq) = self.irq {
            if self.control & SPMIE != 0 && self.control & SPMEN == 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    /// When what is written from `now` on is written.
    fn after_write(&self, now: u64) -> u64 {
        now + (self.write_us * self.clock_hz).div_ceil(1_000_000)
    }

    /// A page is erased or written from `now` on; says until when.
    fn begin(&mut self, page: u32, now: u64) -> u64 {
        let until = self.after_write(now);
        let behind = self.open_from.is_some_and(|start| page < start);
        self.closed |= behind;
        self.state = if behind { State::Behind(until) } else { State::Held(until) };
        until
    }

    /// `SPM` within its window.
    fn store(&mut self, store: &FlashStore, now: u64) -> Result<FlashChange, Fault> {
        let length = self.buffer.len() as u32;
        let address = store.address & (self.flash_size - 1);
        let (page, offset) = (address & !(length - 1), (address & (length - 1) & !1) as usize);
        match self.control & COMMAND & !SPMEN {
            0 => {
                if std::mem::replace(&mut self.filled[offset / 2], true) {
                    let what = "a word of the page buffer is filled a second time: what it then holds is not specified";
                    return Err(self.fault(store.pc, store.address, what));
                }
                // "The RWWSB bit will automatically be cleared if a page load operation is
                // initiated."
                self.closed = false;
                self.buffer[offset..offset + 2].copy_from_slice(&(store.value as u16).to_le_bytes());
                self.end();
            }
            PGERS => {
                let until = self.begin(page, now);
                return Ok(FlashChange::Erase { range: page..page + length, until });
            }
            PGWRT => {
                let until = self.begin(page, now);
                let bytes = self.buffer.clone();
                self.empty_buffer();
                return Ok(FlashChange::Program { address: page, bytes, until });
            }
            RWWSRE => {
                self.closed = false;
                self.empty_buffer();
                self.end();
            }
            BLBSET if self.open_from.is_none() => {
                return Err(self.fault(
                    store.pc,
                    store.address,
                    "SPM sets no lock bits where there is no boot section",
                ));
            }
            BLBSET if store.value as u8 & LB != LB => {
                let what = "SPM that sets LB1 or LB2 is not modelled: write ones to these bits of R0";
                return Err(self.fault(store.pc, store.address, what));
            }
            BLBSET => {
                let until = self.after_write(now);
                self.state = State::Behind(until);
                // Bits that are 0 in R0 are programmed.
                let bytes = vec![store.value as u8 | !BLB];
                return Ok(FlashChange::Program { address: LOCK, bytes, until });
            }
            // "Writing any other combination [...] will have no effect."
            _ => self.end(),
        }
        Ok(FlashChange::Kept)
    }
}

impl Peripheral for SelfProgramming {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: self.irq.map_or(0, |irq| 1 << irq),
            ..Spec::new(&self.name, self.address..self.address + 1)
        }
    }

    fn read(&mut self, _address: u32, _size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        Ok((self.control | if self.closed { RWWSB } else { 0 }).into())
    }

    fn write(
        &mut self,
        _address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = value as u8 & self.writable;
        if self.is_busy() {
            // The command stays until it is done.
            self.control = self.control & !SPMIE | value & SPMIE;
        } else {
            self.control = value;
            self.state = if value & SPMEN == 0 { State::Idle } else { State::Opening };
            if value & RWWSRE != 0 && self.open_from.is_none() {
                // CTPB needs no `SPM`.
                self.empty_buffer();
            }
        }
        self.update(context);
        Ok(())
    }

    /// The RC oscillator times a page, whatever the core does.
    fn clock_needed(&self) -> Option<&'static str> {
        self.is_busy().then_some("clkI/O")
    }

    /// As long as the flash is not as always, at every instruction: the core asks
    /// [`crate::Events::flash_view`] only where it looks at each.
    fn due(&self) -> Option<u64> {
        match self.state {
            State::Held(until) => Some(until),
            State::Opening | State::Open(_) | State::Behind(_) => Some(0),
            State::Idle => (self.closed || self.recheck).then_some(0),
        }
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.recheck = false;
        match self.state {
            State::Opening => self.state = State::Open(context.now),
            State::Open(from) if context.now >= from + STORE_WINDOW => self.end(),
            State::Behind(until) | State::Held(until) if context.now >= until => self.end(),
            _ => {}
        }
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, _context: &mut Context<'_, '_>) {
        if matches!(event, Event::InterruptAcknowledged(_)) {
            self.recheck = true;
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            if let State::Behind(until) | State::Held(until) = &mut self.state {
                *until = rescaled(*until, now, self.clock_hz, clock_hz);
            }
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.empty_buffer();
        self.control = 0;
        self.state = State::Idle;
        self.closed = false;
        self.recheck = false;
    }

    fn as_flash_controller(&mut self) -> Option<&mut dyn FlashController> {
        Some(self)
    }
}

impl FlashController for SelfProgramming {
    fn begin_store(
        &mut self,
        store: &FlashStore,
        context: &mut Context<'_, '_>,
    ) -> Result<FlashChange, Fault> {
        let change = match self.state {
            State::Open(from) if context.now < from + STORE_WINDOW => self.store(store, context.now),
            State::Behind(_) => {
                Err(self.fault(store.pc, store.address, "SPM while a page is still being erased or written"))
            }
            _ if context.events.tolerate("an SPM not within four cycles of SPMEN") => Ok(FlashChange::Kept),
            _ => {
                let what = "SPM without SPMEN in SPMCSR within four cycles before: the part ignores it";
                Err(self.fault(store.pc, store.address, what))
            }
        };
        self.update(context);
        change
    }
}
