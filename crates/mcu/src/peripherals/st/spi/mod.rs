//! An SPI of the STM32: full duplex, eight bits, the most significant first, polled, by interrupt
//! or with DMA.
//!
//! RM0090 section 28.5, registers; the other families' with this layout are STM32F1's. Those of the
//! F0, F7 and L4 (RM0091 section 28.9, RM0410, RM0432) have two FIFOs of four bytes: a halfword at
//! the data register is two bytes of them, RXNE and TXE tell of their levels. The select line is
//! software's (`SSM`, `SSI`), or a pin: see [`nss`]. A byte takes eight bit clocks of PCLK /
//! 2^(BR + 1); the bus clock is the core's through the prescaler of its bus. What comes in is from
//! the chip on the board that is selected, ones if none is. It may be a [`slave`] of a master
//! outside. One-wire modes, 16 bits, check sums, I2S and the other order of the bits are refused
//! with a fault.

mod nss;
mod slave;

use crate::peripherals::register::{Register, Registers, merged_word, part_of_word};
use crate::{
    ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec, SpiClock, TransferRequest,
};
use nss::Nss;
use slave::OutsideMaster;
use std::collections::VecDeque;

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const SR: u32 = 0x08;
const DR: u32 = 0x0c;
const CRCPR: u32 = 0x10;
const I2SCFGR: u32 = 0x1c;
const I2SPR: u32 = 0x20;

/// The registers that keep what is written, of functions that nobody has switched on here.
const MAP: &[Register] = &[
    Register::new(CRCPR, 0xffff).with_reset(7),
    // I2SE, I2SMOD.
    Register::new(I2SCFGR, 0x1fff).refusing(3 << 10, "I2S is not modelled"),
    Register::new(I2SPR, 0x3ff).with_reset(2),
];

/// CR1.
const CPHA: u32 = 1 << 0;
const CPOL: u32 = 1 << 1;
const MSTR: u32 = 1 << 2;
const SPE: u32 = 1 << 6;
const SSI: u32 = 1 << 8;
const SSM: u32 = 1 << 9;
/// LSBFIRST, RXONLY, DFF (CRCL where there are FIFOs), CRCNEXT, CRCEN, BIDIOE, BIDIMODE.
const NOT_MODELLED: u32 = 0xfc80;
/// Bits that change only while SPE is clear: BR, MSTR, CPOL, CPHA.
const FIXED_WHILE_SPE: u32 = 0x3f;
/// SR, and the enables of CR2.
const RXNE: u32 = 1 << 0;
const TXE: u32 = 1 << 1;
const MODF: u32 = 1 << 5;
const OVR: u32 = 1 << 6;
const BSY: u32 = 1 << 7;
const RXDMAEN: u32 = 1 << 0;
const TXDMAEN: u32 = 1 << 1;
const SSOE: u32 = 1 << 2;
const ERRIE: u32 = 1 << 5;
const RXNEIE: u32 = 1 << 6;
const TXEIE: u32 = 1 << 7;
/// CR2 where there are FIFOs. NSSP changes nothing while SSM is set (RM0091, section 28.5.5).
const NSSP: u32 = 1 << 3;
const FRXTH: u32 = 1 << 12;
const DS_SHIFT: u32 = 8;
const DS_8: u32 = 7;
/// Values of DS below are taken as eight bits (RM0091, section 28.9.2).
const DS_LEAST: u32 = 3;
/// SR: levels of the FIFOs.
const FRLVL_SHIFT: u32 = 9;
const FTLVL_SHIFT: u32 = 11;

/// Bytes of a FIFO.
const FIFO: usize = 4;

/// CR2 after a reset.
fn reset_cr2(depth: usize) -> u32 {
    if depth == FIFO { DS_8 << DS_SHIFT } else { 0 }
}

/// The level of a FIFO as SR has it: empty, a quarter, half, more.
fn level(bytes: &VecDeque<u8>) -> u32 {
    bytes.len().min(3) as u32
}

/// An SPI.
#[derive(Clone)]
pub struct Spi {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_hz: u64,
    /// Core cycles of a cycle of the bus clock.
    bus_divider: u64,
    control: [u32; 2],
    others: Registers,
    /// The byte being sent and the cycle at which its last bit clock ends.
    shifting: Option<(u8, u64)>,
    /// Bytes of the data register in each direction: one, or those of a FIFO.
    depth: usize,
    /// Bytes that wait to be sent, and that have come.
    waiting: VecDeque<u8>,
    received: VecDeque<u8>,
    /// The last word that was read.
    last: u16,
    /// OVR, MODF.
    status: u32,
    /// SR was read while MODF was set: a write of CR1 clears it then.
    fault_read: bool,
    nss: Nss,
    /// The data register was read while OVR was set; reading SR clears that then.
    data_read: bool,
    /// The selected chip's refusal, until the program looks.
    refused: Option<String>,
    /// The requests of DMA of transmitter and receiver.
    transfers: [TransferRequest; 2],
    outside: OutsideMaster,
}

impl Spi {
    /// The interface at `spec.base`, interrupting with `spec.irq`; `settings.layout` is 2 where it
    /// has FIFOs; `settings.tx_dma_1` and `rx_dma_1` are where its requests lead; `spec.pins` has
    /// `NSS`.
    ///
    /// # Errors
    /// A request of DMA that leads nowhere, a pin that is none.
    pub fn new(spec: &PeripheralSpec) -> Result<Spi, String> {
        let depth = if spec.settings.get("layout") == Some(&2) { FIFO } else { 1 };
        Ok(Spi {
            depth,
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_hz: 1_000_000,
            bus_divider: 1,
            control: [0, reset_cr2(depth)],
            others: Registers::new(MAP),
            shifting: None,
            waiting: VecDeque::new(),
            received: VecDeque::new(),
            last: 0,
            status: 0,
            fault_read: false,
            nss: Nss::new(spec)?,
            data_read: false,
            refused: None,
            transfers: [TransferRequest::new(spec, "tx_dma")?, TransferRequest::new(spec, "rx_dma")?],
            outside: OutsideMaster::default(),
        })
    }

    /// Core cycles of a bit clock.
    fn bit_cycles(&self) -> u64 {
        self.bus_divider << ((self.control[0] >> 3 & 7) + 1)
    }

    fn clock(&self) -> SpiClock {
        // POLARITY and PHASE stand as the mode's two bits do.
        let mode = (self.control[0] & (CPOL | CPHA)) as u8;
        SpiClock { mode, hz: self.clock_hz / self.bit_cycles() }
    }

    fn has_fifo(&self) -> bool {
        self.depth == FIFO
    }

    /// Bytes of an access to the data register.
    fn bytes(&self, size: u8) -> usize {
        if self.has_fifo() && size > 1 { 2 } else { 1 }
    }

    /// Puts bytes, the first one lowest, where they wait to be sent.
    fn send(&mut self, bytes: &[u8], now: u64) -> Result<(), &'static str> {
        if self.control[0] & SPE == 0 {
            return Err("a byte is sent while SPE is clear");
        }
        for byte in bytes {
            if self.shifting.is_none() && self.control[0] & MSTR != 0 {
                self.start(*byte, now);
            } else if self.waiting.len() < self.depth {
                self.waiting.push_back(*byte);
            } else {
                return Err("a byte is written over one that waits (TXE)");
            }
        }
        Ok(())
    }

    /// Takes what has come, as an access of this size finds it.
    fn receive(&mut self, size: u8) -> Result<u32, &'static str> {
        self.data_read = self.status & OVR != 0;
        match (self.bytes(size), self.received.len()) {
            (2, 1) => return Err("a halfword is read where one byte has come"),
            (_, 0) => {}
            (2, _) => {
                let low = self.received.pop_front().map_or(0, u16::from);
                self.last = low | self.received.pop_front().map_or(0, u16::from) << 8;
            }
            _ => self.last = self.received.pop_front().map_or(0, u16::from),
        }
        Ok(self.last.into())
    }

    fn start(&mut self, byte: u8, now: u64) {
        self.shifting = Some((byte, now + 8 * self.bit_cycles()));
    }

    fn flags(&self) -> u32 {
        // RM0091, 28.5.9: TXE up to half of the FIFO, RXNE from half of it on, with FRXTH from a
        // quarter.
        let enough = if self.has_fifo() && self.control[1] & FRXTH == 0 { 2 } else { 1 };
        let empty = if self.waiting.len() <= self.depth / 2 { TXE } else { 0 };
        let full = if self.received.len() >= enough { RXNE } else { 0 };
        let busy = if self.is_busy() { BSY } else { 0 };
        let levels = level(&self.received) << FRLVL_SHIFT | level(&self.waiting) << FTLVL_SHIFT;
        self.status | empty | full | busy | if self.has_fifo() { levels } else { 0 }
    }

    fn is_busy(&self) -> bool {
        self.shifting.is_some() || self.outside.is_exchanging()
    }

    /// Ends the byte whose time is over.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some((byte, end)) = self.shifting.filter(|(_, end)| *end <= context.now) {
            let answer = context.board.transfer(&self.name, self.clock(), byte, end);
            let answer = answer.unwrap_or_else(|what| {
                self.refused = Some(what);
                0xff
            });
            if self.received.len() == self.depth {
                // What comes is lost.
                self.status |= OVR;
            } else {
                self.received.push_back(answer);
            }
            self.shifting = None;
            if let Some(next) = self.waiting.pop_front() {
                self.start(next, end);
            }
        }
        self.advance_slave(context);
        self.begin_slave(context.now, context);
        self.signal(context);
    }

    fn signal(&mut self, context: &mut Context<'_, '_>) {
        let (flags, enables, now) = (self.flags(), self.control[1], context.now);
        let sends = flags & TXE != 0 && self.control[0] & SPE != 0;
        self.transfers[0].set(sends && enables & TXDMAEN != 0, now, context);
        self.transfers[1].set(flags & RXNE != 0 && enables & RXDMAEN != 0, now, context);
        let Some(irq) = self.irq else { return };
        let wanted = enables & RXNEIE != 0 && flags & RXNE != 0
            || enables & TXEIE != 0 && flags & TXE != 0
            || enables & ERRIE != 0 && flags & (OVR | MODF) != 0;
        if wanted {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    fn write_control(&mut self, value: u32) -> Result<(), &'static str> {
        let before = self.control[0];
        let value = self.clear_mode_fault(value);
        if value & NOT_MODELLED != 0 {
            return Err("only full duplex with eight bits, the most significant first, is modelled");
        }
        if before & SPE != 0 && (before ^ value) & FIXED_WHILE_SPE != 0 {
            return Err("BR, MSTR, CPOL and CPHA change only while SPE is clear");
        }
        self.check_select(value, self.control[1])?;
        if value & SPE == 0 && self.is_busy() {
            return Err("it is disabled in the midst of a byte (BSY)");
        }
        self.control[0] = value & 0xffff;
        Ok(())
    }

    fn write_control_2(&mut self, value: u32) -> Result<(), &'static str> {
        let (fifo, bits) =
            if self.has_fifo() { (NSSP | FRXTH | 15 << DS_SHIFT, value >> DS_SHIFT & 15) } else { (0, DS_8) };
        if value & !(RXDMAEN | TXDMAEN | SSOE | ERRIE | RXNEIE | TXEIE | fifo) != 0 {
            return Err("of CR2 only interrupts, DMA and the width of data are modelled");
        }
        if bits >= DS_LEAST && bits != DS_8 {
            return Err("only full duplex with eight bits, the most significant first, is modelled");
        }
        self.check_select(self.control[0], value)?;
        self.control[1] = if self.has_fifo() { value & !(15 << DS_SHIFT) | DS_8 << DS_SHIFT } else { value };
        Ok(())
    }
}

impl Peripheral for Spi {
    fn spec(&self) -> Spec {
        Spec {
            dma_lines: self.transfers[0].lines() | self.transfers[1].lines(),
            follows_inputs: true,
            ..Spec::new(&self.name, self.base..self.base + 0x400)
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        if let Some(what) = &self.refused {
            return context.refuse(&self.name, address, what);
        }
        let offset = address - self.base;
        let word = match offset & !3 {
            CR1 => self.control[0],
            CR2 => self.control[1],
            SR => {
                let flags = self.flags();
                self.fault_read |= flags & MODF != 0;
                if std::mem::take(&mut self.data_read) {
                    self.status &= !OVR;
                }
                flags
            }
            DR => self.receive(size).map_err(|what| context.fault(&self.name, address, what))?,
            register => match self.others.get(register) {
                Some(word) => word,
                None => return context.refuse(&self.name, address, "register not modelled"),
            },
        };
        self.signal(context);
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.advance(context);
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            CR1 => {
                let value = merge(self.control[0]);
                self.write_control(value).map_err(|what| context.fault(&self.name, address, what))?;
            }
            CR2 => {
                let value = merge(self.control[1]);
                self.write_control_2(value).map_err(|what| context.fault(&self.name, address, what))?;
            }
            DR => {
                let bytes = (merge(0) as u16).to_le_bytes();
                let sent = self.send(&bytes[..self.bytes(size)], context.now);
                sent.map_err(|what| context.fault(&self.name, address, what))?;
            }
            register => {
                let written = self.others.write(register, merge);
                written.map_err(|what| context.fault(&self.name, address, what))?;
            }
        }
        self.follow_select(context);
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let own = self.shifting.map(|(_, end)| end);
        [own, self.outside.due()].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::InputsChanged) {
            self.advance(context);
            if !self.nss.is_nowhere() {
                self.follow_select(context);
            }
            self.signal(context);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => self.clock_hz = clock_hz,
            ClockUpdate::Buses { apb1, apb2 } => {
                self.bus_divider = super::bus::divider(self.base, apb1, apb2)
            }
            _ => {}
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.shifting.iter_mut().for_each(|(_, end)| *end += cycles);
        self.outside.delay(cycles);
    }

    fn reset(&mut self) {
        self.nss.reset();
        self.fault_read = false;
        self.bus_divider = 1;
        self.control = [0, reset_cr2(self.depth)];
        self.shifting = None;
        self.waiting.clear();
        self.received.clear();
        self.last = 0;
        self.status = 0;
        self.data_read = false;
        self.refused = None;
        self.outside = OutsideMaster::default();
        self.others.reset();
        self.transfers.iter_mut().for_each(TransferRequest::reset);
    }
}
