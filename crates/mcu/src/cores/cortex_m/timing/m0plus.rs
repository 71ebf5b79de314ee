//! Cycles of the Cortex-M0+: DDI 0484C table 3-1, with the single-cycle multiplier.
//!
//! One bus carries instructions and data, and the table counts it in; it holds at no wait states.
//! With wait states [`LineCache`] is followed, before a serial flash [`XipCache`].

use super::super::line_cache::LineCache;
use super::super::op::{Op, Opcode};
use super::super::xip_cache::XipCache;
use super::{Exception, Retired, Timing};
use crate::{FlashSettings, Part};

/// The single-cycle I/O port: DS40001882F section 10.2, IOBUS; RP2040 datasheet section 2.3.1, SIO.
const SAMD21_PORT: std::ops::Range<u32> = 0x6000_0000..0x6000_0200;
const RP2040_PORT: std::ops::Range<u32> = 0xd000_0000..0xe000_0000;

/// The timing of a Cortex-M0+ behind the flash controller of a SAM D21, or the serial flash of an
/// RP2040.
#[derive(Clone)]
pub struct M0Plus {
    cache: LineCache,
    serial: Option<XipCache>,
    io_port: std::ops::Range<u32>,
    /// The flash has wait states: accesses can wait.
    waits: bool,
}

impl M0Plus {
    /// Ends an instruction of `cycles` that accesses `count` words from `data` up.
    #[inline(always)]
    fn end(&mut self, op: &Op, address: u32, cycles: u32, data: u32, count: u32) -> u32 {
        if let Some(serial) = &mut self.serial {
            return cycles.saturating_add(serial.execute(address, op.length, data, count));
        }
        if self.waits { cycles + self.cache.execute(address, op.length, data, count) } else { cycles }
    }

    /// Cycles that a branch to `target` waits.
    #[inline(always)]
    fn branch(&mut self, target: u32) -> u32 {
        if let Some(serial) = &mut self.serial {
            return serial.branch(target);
        }
        if self.waits { self.cache.branch(target) } else { 0 }
    }

    /// A load or a store.
    #[inline(always)]
    fn access(&mut self, op: &Op, address: u32, data: u32, count: u8) -> u32 {
        let count = u32::from(count);
        let cycles = if self.io_port.contains(&data) { count } else { 1 + count };
        self.end(op, address, cycles, data, count)
    }
}

impl Timing for M0Plus {
    type Note = ();

    const FETCHES: bool = false;

    fn new(part: &Part, clock_hz: u64) -> Result<Self, String> {
        let flash = part.flash.as_ref().ok_or_else(|| format!("{}: no [flash] table", part.name))?;
        let (serial, io_port) = match flash.interface.as_str() {
            "samd21" => (None, SAMD21_PORT),
            "rp2040" => (Some(XipCache::new()), RP2040_PORT),
            other => return Err(format!("{}: no model of flash interface {other}", part.name)),
        };
        if part.wait_states(clock_hz, f64::MAX).is_none() {
            return Err(format!("{}: {clock_hz} Hz is above its limit ({})", part.name, flash.source));
        }
        Ok(M0Plus { cache: LineCache::default(), serial, io_port, waits: false })
    }

    fn reset(&mut self) {
        self.cache = LineCache::default();
        self.serial = self.serial.is_some().then(XipCache::new);
        self.waits = false;
    }

    fn classify(&self, op: &mut Op, _address: u32) -> Self::Note {
        op.cycles = match op.inner {
            Opcode::Mrs | Opcode::Msr | Opcode::Dmb | Opcode::Dsb | Opcode::Isb => 3,
            Opcode::Wfi | Opcode::Wfe => 2,
            _ => 1,
        };
    }

    #[inline(always)]
    fn retire(&mut self, op: &Op, _note: &(), address: u32, outcome: Retired) -> u32 {
        match outcome {
            Retired::Plain
            | Retired::Skipped
            | Retired::NotTaken
            | Retired::Multiply { .. }
            | Retired::Divide { .. } => self.end(op, address, 1, 0, 0),
            Retired::System => self.end(op, address, u32::from(op.cycles), 0, 0),
            Retired::Branch { target } => {
                let cycles = if op.inner == Opcode::Bl { 3 } else { 2 };
                self.end(op, address, cycles, 0, 0).saturating_add(self.branch(target))
            }
            Retired::Load { address: data, count, .. } | Retired::Store { address: data, count, .. } => {
                self.access(op, address, data, count)
            }
            Retired::LoadBranch { address: data, count, target, .. } => self
                .end(op, address, 3 + u32::from(count), data, u32::from(count))
                .saturating_add(self.branch(target)),
        }
    }

    /// DDI 0484C section 3.3: an interrupt's latency is 15 cycles, of which the handler's first
    /// instruction is none. The manual gives no figure for the way back; it loads the same eight
    /// words and is taken to last as long, tail-chaining to save both transfers of the frame.
    fn exception(&mut self, step: Exception, _sp: u32, target: u32) -> u32 {
        let cycles = match step {
            Exception::Entry | Exception::Return => 15,
            Exception::TailChain => 5,
        };
        self.branch(target).saturating_add(cycles)
    }

    fn apply_flash(&mut self, settings: FlashSettings) {
        if let Some(serial) = &mut self.serial {
            serial.apply(settings);
            return;
        }
        self.cache.apply(settings);
        self.waits = settings.wait_states != 0;
    }
}
