//! The EEPROM of an ATmega behind EECR, EEDR, EEARL and EEARH.
//!
//! ATmega328P data sheet DS40002061, 8.4 and 8.6; ATmega128 data sheet 2467, "EEPROM Data Memory".
//! From the start of a write until its end the byte reads as erased (0xFF) to a debugger, and as
//! before where it is programmed alone. When the supply is cut meanwhile it becomes what
//! [`Peripheral::cut_power`] is told: what the cell really holds then is not specified. Every other
//! reset lets the write end (8.4.2: "If a reset occurs while a write operation is in progress, the
//! write operation will be completed provided that the power supply voltage is sufficient").

use crate::clock::rescaled;
use crate::{
    ClockUpdate, Context, Event, Fault, MemoryKind, Nonvolatile, Part, Peripheral, PeripheralSpec,
    ResetCause, Roles, Spec,
};

/// EECR bits.
const EEPM: u8 = 0x30;
/// EEPM: the cell is erased alone, or programmed alone, which clears bits only (DS40002061, table
/// 8-1).
const ERASE: u8 = 0x10;
const PROGRAM: u8 = 0x20;
const EERIE: u8 = 0x08;
const EEMPE: u8 = 0x04;
const EEPE: u8 = 0x02;
const EERE: u8 = 0x01;

/// Cycles for which EEMPE allows EEPE (DS40002061, 8.6.3).
const WINDOW: u64 = 4;
/// "When the EEPROM is read, the CPU is halted for four cycles before the next instruction is
/// executed."
const HALT_AFTER_READ: u64 = 4;
/// "When EEPE has been set, the CPU is halted for two cycles before the next instruction is
/// executed."
const HALT_AFTER_WRITE: u64 = 2;

/// The EEPROM.
#[derive(Clone)]
pub struct Eeprom {
    name: String,
    base: u32,
    irq: Option<u8>,
    memory_start: u32,
    cells: Vec<u8>,
    clock_hz: u64,
    write_us: u64,
    /// The time of an erasure or a programming alone; none where the part has no EEPM.
    split_us: Option<u64>,
    control: u8,
    data: u8,
    address: u16,
    window_end: u64,
    /// The write under way: cell, value, when it ends.
    writing: Option<(usize, u8, u64)>,
    /// The ready interrupt was taken and must be requested anew if it is still so.
    recheck: bool,
    /// Writes begun since it was made.
    writes: u64,
}

impl Eeprom {
    /// EECR at `spec.base`, EEDR, EEARL and EEARH after it. Setting `write_us`: the time of a write
    /// (erase and program) in microseconds; `split_us`: that of either alone, where the part has
    /// EEPM. The size is that of the part's EEPROM memory.
    ///
    /// # Errors
    /// The part has no EEPROM memory, or `write_us` is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Eeprom, String> {
        let memory = part.memories.iter().find(|memory| memory.kind == MemoryKind::Eeprom);
        let memory = memory.ok_or_else(|| format!("{}: no memory of kind eeprom", part.name))?;
        let write_us = spec.settings.get("write_us");
        let write_us = write_us.ok_or_else(|| format!("{}: {} needs write_us", part.name, spec.name))?;
        Ok(Eeprom {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            memory_start: memory.start,
            cells: vec![0xFF; memory.size as usize],
            clock_hz: 1,
            write_us: *write_us as u64,
            split_us: spec.settings.get("split_us").map(|us| *us as u64),
            control: 0,
            data: 0,
            address: 0,
            window_end: 0,
            writing: None,
            recheck: false,
            writes: 0,
        })
    }

    fn finish(&mut self, now: u64) {
        if let Some((cell, value, end)) = self.writing
            && now >= end
        {
            self.cells[cell] = value;
            self.writing = None;
        }
    }

    fn request(&mut self, context: &mut Context<'_, '_>) {
        let Some(irq) = self.irq else { return };
        if self.control & EERIE != 0 && self.writing.is_none() {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    fn command(&mut self, address: u32, value: u8, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        let cell = usize::from(self.address);
        if value & (EEPE | EERE) != 0 && cell >= self.cells.len() {
            return context.refuse(&self.name, address, "EEAR is beyond the end of the EEPROM");
        }
        // "While EEPE is set, any write to EEPMn will be ignored."
        let modes = if self.split_us.is_some() { EEPM } else { 0 };
        let mode = if self.writing.is_some() { self.control & EEPM } else { value & modes };
        self.control = value & EERIE | mode;
        if value & EEPE != 0 && self.writing.is_none() && context.now <= self.window_end {
            let held = self.cells[cell];
            let (whole, after, during) = match mode {
                0 => (true, self.data, 0xFF),
                ERASE => (false, 0xFF, 0xFF),
                PROGRAM => (false, held & self.data, held),
                _ => return context.refuse(&self.name, address, "this mode (EEPM) is reserved"),
            };
            let us = self.split_us.filter(|_| !whole).unwrap_or(self.write_us);
            let end = context.now + (us * self.clock_hz).div_ceil(1_000_000);
            self.writing = Some((cell, after, end));
            self.cells[cell] = during;
            self.writes += 1;
            *context.stall += HALT_AFTER_WRITE;
        } else if value & EEMPE != 0 {
            self.window_end = context.now + WINDOW;
        }
        if value & EERE != 0 {
            if self.writing.is_some() {
                return context.refuse(&self.name, address, "a read while a write is under way");
            }
            self.data = self.cells[cell];
            *context.stall += HALT_AFTER_READ;
        }
        self.request(context);
        Ok(())
    }
}

impl Peripheral for Eeprom {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: self.irq.map_or(0, |irq| 1 << irq),
            ..Spec::new(&self.name, self.base..self.base + 4)
        }
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.finish(context.now);
        let value = match address - self.base {
            0 => {
                let enabled = if context.now <= self.window_end { EEMPE } else { 0 };
                let busy = if self.writing.is_some() { EEPE } else { 0 };
                self.control | enabled | busy
            }
            1 => self.data,
            2 => self.address as u8,
            _ => (self.address >> 8) as u8,
        };
        Ok(value.into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.finish(context.now);
        let value = value as u8;
        let offset = address - self.base;
        if offset != 0 && self.writing.is_some() {
            // "It is neither possible to read the EEPROM, nor to change the EEAR register" (8.6.3).
            if offset > 1 && context.events.tolerate("EEAR was written during a write of the EEPROM") {
                return Ok(());
            }
            return context.refuse(&self.name, address, "EEAR and EEDR must not change during a write");
        }
        match offset {
            0 => self.command(address, value, context)?,
            1 => self.data = value,
            2 => self.address = self.address & 0xFF00 | u16::from(value),
            _ => self.address = self.address & 0x00FF | u16::from(value) << 8,
        }
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        if self.recheck {
            return Some(0);
        }
        self.writing.map(|(_, _, end)| end)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.recheck = false;
        self.finish(context.now);
        self.request(context);
    }

    fn on_event(&mut self, event: Event<'_>, _context: &mut Context<'_, '_>) {
        if matches!(event, Event::InterruptAcknowledged(_)) {
            self.recheck = true;
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            if let Some((_, _, end)) = &mut self.writing {
                *end = rescaled(*end, now, self.clock_hz, clock_hz);
            }
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.control = 0;
        self.data = 0;
        self.address = 0;
        self.window_end = 0;
        self.writing = None;
        self.recheck = false;
    }

    fn reset_by(&mut self, cause: ResetCause, _now: u64) {
        let (writing, mode) = (self.writing, self.control & EEPM);
        self.reset();
        if cause != ResetCause::PowerOn {
            self.writing = writing;
            self.control = if writing.is_some() { mode } else { 0 };
        }
    }

    fn roles(&self) -> Roles<'_> {
        Roles { nonvolatile: Some(self), ..Roles::default() }
    }

    fn as_nonvolatile(&mut self) -> Option<&mut dyn Nonvolatile> {
        Some(self)
    }
}

impl Nonvolatile for Eeprom {
    fn memory(&self) -> Option<(u32, &[u8])> {
        Some((self.memory_start, &self.cells))
    }

    fn memory_mut(&mut self) -> Option<(u32, &mut [u8])> {
        Some((self.memory_start, &mut self.cells))
    }

    fn writes(&self) -> u64 {
        self.writes
    }

    fn cut_power(&mut self, torn: u8) {
        if let Some((cell, _, _)) = self.writing {
            self.cells[cell] = torn;
        }
    }
}
