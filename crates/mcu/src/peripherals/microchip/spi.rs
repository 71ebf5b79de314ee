//! The serial peripheral interface of an ATmega, as a master: SPCR, SPSR, SPDR.
//!
//! ATmega328P data sheet DS40002061, chapter 19; ATmega128 data sheet 2467, "Serial Peripheral
//! Interface". A byte takes eight periods of SCK from the cycle after the write on; the data sheet
//! does not say how far the first edge is from the write. Modes, clocks and whether two chips are
//! selected are checked by [`crate::Board::transfer`]. Not modelled, and faults: slaves, and what
//! would make a master silent: MOSI or SCK that are inputs, a select pin that is a low input (which
//! would make it a slave, 19.3.2).

use super::avr_port;
use crate::{Board, ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec, SpiClock};

/// SPCR.
const SPIE: u8 = 0x80;
const SPE: u8 = 0x40;
const DORD: u8 = 0x20;
const MSTR: u8 = 0x10;
/// SPSR.
const SPIF: u8 = 0x80;
const WCOL: u8 = 0x40;
const SPI2X: u8 = 0x01;

/// A byte on its way.
#[derive(Clone, Copy)]
struct Transfer {
    byte: u8,
    clock: SpiClock,
    low_bit_first: bool,
    end: u64,
}

/// The interface.
#[derive(Clone)]
pub struct Spi {
    name: String,
    base: u32,
    irq: u8,
    clock_hz: u64,
    /// The port that its pins are on, and their bits: select, MOSI, SCK.
    port: String,
    pins: [u8; 3],
    control: u8,
    flags: u8,
    /// Flags that were read while they were set: an access to SPDR clears them.
    seen: u8,
    received: u8,
    transfer: Option<Transfer>,
    /// A chip's refusal, until the program hears of it.
    refused: Option<String>,
}

impl Spi {
    /// SPCR at `spec.base`, SPSR and SPDR after it; `spec.irq` is its vector. Settings: `port`, the
    /// address of PINx of the port that its pins are on, and their bits `ss`, `mosi` and `sck`.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Spi, String> {
        let mut pins = [0; 3];
        for (slot, name) in pins.iter_mut().zip(["ss", "mosi", "sck"]) {
            let bit = spec.settings.get(name).and_then(|bit| u8::try_from(*bit).ok());
            let bit = bit.filter(|bit| *bit < 8);
            *slot = bit.ok_or_else(|| format!("{}: {} needs {name}, a bit", part.name, spec.name))?;
        }
        let irq = spec.irq.ok_or_else(|| format!("{}: {} needs irq", part.name, spec.name))?;
        Ok(Spi {
            name: spec.name.clone(),
            base: spec.base,
            irq,
            clock_hz: part.default_clock_hz,
            port: avr_port(part, spec, "port")?,
            pins,
            control: 0,
            flags: 0,
            seen: 0,
            received: 0,
            transfer: None,
            refused: None,
        })
    }

    /// Core clocks of one of SCK: table 19-5.
    fn divider(&self) -> u64 {
        let divider = [4, 16, 64, 128][usize::from(self.control & 3)];
        // The fastest rate but one of the slow ones is there twice: 64, and 128 doubled.
        if self.flags & SPI2X != 0 { divider / 2 } else { divider }
    }

    /// Returns the reason why a transfer is not modelled.
    fn obstacle(&self, board: &Board) -> Option<&'static str> {
        let [select, mosi, sck] = self.pins;
        match () {
            () if self.control & SPE == 0 => Some("a byte is sent while SPE is clear"),
            () if self.control & MSTR == 0 => Some("slaves are not modelled"),
            () if !board.is_driven(&self.port, mosi) => Some("a byte is sent while MOSI is an input"),
            () if !board.is_driven(&self.port, sck) => Some("a byte is sent while SCK is an input"),
            () if !board.is_driven(&self.port, select) && board.pin(&self.port, select) != Some(true) => {
                Some("the select pin is an input and low: that makes the interface a slave")
            }
            () => None,
        }
    }

    fn send(&mut self, byte: u8, now: u64) {
        let divider = self.divider();
        let mode = self.control >> 2 & 3;
        self.transfer = Some(Transfer {
            byte,
            clock: SpiClock { mode, hz: self.clock_hz / divider },
            low_bit_first: self.control & DORD != 0,
            end: now + 1 + 8 * divider,
        });
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.control & SPIE != 0 && self.flags & SPIF != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }
}

impl Peripheral for Spi {
    fn spec(&self) -> Spec {
        Spec { interrupts: 1 << self.irq, ..Spec::new(&self.name, self.base..self.base + 3) }
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        if let Some(what) = &self.refused {
            return context.refuse(&self.name, address, what);
        }
        let value = match address - self.base {
            0 => self.control,
            1 => {
                self.seen = self.flags & (SPIF | WCOL);
                self.flags
            }
            _ => {
                self.flags &= !std::mem::take(&mut self.seen);
                self.received
            }
        };
        self.update(context);
        Ok(value.into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if let Some(what) = &self.refused {
            return context.refuse(&self.name, address, what);
        }
        let value = value as u8;
        match address - self.base {
            0 => {
                if self.transfer.is_some() && (self.control ^ value) & !SPIE != 0 {
                    return context.refuse(&self.name, address, "SPCR is changed while a byte is under way");
                }
                self.control = value;
            }
            1 => self.flags = self.flags & !SPI2X | value & SPI2X,
            _ => {
                self.flags &= !std::mem::take(&mut self.seen);
                if self.transfer.is_some() {
                    self.flags |= WCOL;
                } else if let Some(what) = self.obstacle(context.board) {
                    return context.refuse(&self.name, address, what);
                } else {
                    self.send(value, context.now);
                }
            }
        }
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        self.transfer.map(|_| "clkI/O")
    }

    fn due(&self) -> Option<u64> {
        self.transfer.map(|transfer| transfer.end)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        let Some(Transfer { byte, clock, low_bit_first, end }) = self.transfer.take() else { return };
        let turned = |byte: u8| if low_bit_first { byte.reverse_bits() } else { byte };
        match context.board.transfer(&self.name, clock, turned(byte), end) {
            Ok(answer) => self.received = turned(answer),
            Err(what) => self.refused = Some(what),
        }
        self.flags |= SPIF;
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, _context: &mut Context<'_, '_>) {
        if matches!(event, Event::InterruptAcknowledged(_)) {
            self.flags &= !SPIF;
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.control = 0;
        self.flags = 0;
        self.seen = 0;
        self.received = 0;
        self.transfer = None;
        self.refused = None;
    }
}
