//! A USCI of the MSP430F5xx as an SPI master.
//!
//! Source: SLAU208, chapter "Universal Serial Communication Interface – SPI Mode". Three-pin master, eight bits, the
//! most significant first, any polarity and phase; a byte takes eight bit clocks of BRCLK / UCBRx. What comes in is
//! from the chip on the board that is selected, ones if none is. Slave and four-pin modes, seven bits and the other
//! order of the bits are refused with a fault.

use super::clocks::Clocks;
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec, SpiClock};
use std::ops::Range;

const CTL1: u32 = 0x00;
const CTL0: u32 = 0x01;
const BR0: u32 = 0x06;
const BR1: u32 = 0x07;
/// `UCAxMCTL` must be 0 in SPI mode; a USCI_B has nothing there.
const MCTL: u32 = 0x08;
const STAT: u32 = 0x0a;
const RXBUF: u32 = 0x0c;
const TXBUF: u32 = 0x0e;
const IE: u32 = 0x1c;
const IFG: u32 = 0x1d;
const IV: u32 = 0x1e;
const SIZE: usize = 0x20;

/// `UCSWRST` in `UCxCTL1`: held in reset.
const UCSWRST: u8 = 0x01;
/// `UCCKPH`, `UCCKPL` in `UCxCTL0`.
const UCCKPH: u8 = 0x80;
const UCCKPL: u8 = 0x40;
/// `UCMSB`, eight bits, `UCMST`, three pins, `UCSYNC`: the modes that are modelled.
const UCMSB_UCMST_UCSYNC: u8 = 0x29;
/// `UCLISTEN`, `UCOE`, `UCBUSY` in `UCxSTAT`.
const UCLISTEN: u8 = 0x80;
const UCOE: u8 = 0x20;
const UCBUSY: u8 = 0x01;
const UCRXIFG: u8 = 1;
const UCTXIFG: u8 = 2;

/// An SPI master.
#[derive(Clone)]
pub struct Spi {
    name: String,
    base: u32,
    irq: u8,
    clocks: Clocks,
    mclk_hz: u64,
    registers: [u8; SIZE],
    /// The byte being sent and the cycle at which its last bit clock ends.
    shifting: Option<(u8, u64)>,
    /// A byte waiting in `TXBUF`.
    waiting: Option<u8>,
    /// What the selected chip did not understand, until the program looks.
    refused: Option<String>,
    /// The interrupt was served with a flag still set: request it again.
    served: bool,
}

impl Spi {
    /// The interface with its registers from `spec.base` on; `spec.irq` is its vector.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Spi {
        let mut spi = Spi {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.unwrap_or(0),
            clocks: Clocks::new(part),
            mclk_hz: part.default_clock_hz,
            registers: [0; SIZE],
            shifting: None,
            waiting: None,
            refused: None,
            served: false,
        };
        spi.reset();
        spi
    }

    fn fault(&self, offset: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        let address = self.base + offset;
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    fn register(&mut self, offset: u32) -> &mut u8 {
        &mut self.registers[offset as usize]
    }

    fn counts_aclk(&self) -> bool {
        self.registers[CTL1 as usize] >> 6 == 1
    }

    /// "fBitClock = fBRCLK / UCBRx. If UCBRx = 0, fBitClock = fBRCLK."
    fn divider(&self) -> u64 {
        let low = self.registers[BR0 as usize];
        u64::from(u16::from_le_bytes([low, self.registers[BR1 as usize]])).max(1)
    }

    fn clock(&self) -> SpiClock {
        let control = self.registers[CTL0 as usize];
        // UCCKPH set: data is captured on the first edge, which is CPHA = 0.
        let mode = 2 * u8::from(control & UCCKPL != 0) + u8::from(control & UCCKPH == 0);
        let source_hz = if self.counts_aclk() { 32_768 } else { self.mclk_hz };
        SpiClock { mode, hz: source_hz / self.divider() }
    }

    fn start(&mut self, byte: u8, now: u64) {
        let clocks = 8 * self.divider();
        let end = match self.counts_aclk() {
            true => self.clocks.aclk_edge(self.clocks.aclk_count(now) + clocks),
            false => now + clocks,
        };
        self.shifting = Some((byte, end));
        *self.register(IFG) |= UCTXIFG;
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.registers[IE as usize] & self.registers[IFG as usize] & (UCRXIFG | UCTXIFG) != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }

    fn read_byte(&mut self, offset: u32, context: &mut Context<'_, '_>) -> Result<u8, Fault> {
        if let Some(what) = &self.refused {
            return Err(self.fault(offset, context, what));
        }
        let value = match offset {
            CTL1 | CTL0 | BR0 | BR1 | MCTL | TXBUF | IE | IFG => self.registers[offset as usize],
            STAT => self.registers[STAT as usize] | if self.shifting.is_some() { UCBUSY } else { 0 },
            RXBUF => {
                *self.register(IFG) &= !UCRXIFG;
                *self.register(STAT) &= !UCOE;
                self.registers[RXBUF as usize]
            }
            IV => {
                let (vector, flag) = match self.registers[IE as usize] & self.registers[IFG as usize] {
                    pending if pending & UCRXIFG != 0 => (2, UCRXIFG),
                    pending if pending & UCTXIFG != 0 => (4, UCTXIFG),
                    _ => (0, 0),
                };
                *self.register(IFG) &= !flag;
                vector
            }
            _ if offset == IV + 1 => 0,
            _ => return Err(self.fault(offset, context, "this register is not modelled")),
        };
        self.update(context);
        Ok(value)
    }

    fn write_byte(&mut self, offset: u32, value: u8, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        let held = self.registers[CTL1 as usize] & UCSWRST != 0;
        let refused = match offset {
            CTL0 if value & !(UCCKPH | UCCKPL) != UCMSB_UCMST_UCSYNC => {
                Some("only the three-pin master with eight bits, the most significant first, is modelled")
            }
            CTL0 | BR0 | BR1 if !held => Some("this register is written while UCSWRST is clear"),
            CTL1 if value & 0x3e != 0 => Some("of UCxCTL1 only the clock and the reset are modelled"),
            CTL1 if value >> 6 == 0 && value & UCSWRST == 0 => Some("no clock is selected: UCSSELx is 0"),
            CTL1 if value & UCSWRST == 0
                && self.registers[CTL0 as usize] & !(UCCKPH | UCCKPL) != UCMSB_UCMST_UCSYNC =>
            {
                Some("it begins to work before UCxCTL0 makes it an SPI master")
            }
            MCTL if value != 0 => Some("modulation must be 0 in SPI mode"),
            TXBUF if held => Some("a byte is sent while UCSWRST is set"),
            CTL0 | CTL1 | BR0 | BR1 | MCTL | STAT | TXBUF | IE | IFG => None,
            _ => Some("this register is not modelled"),
        };
        if let Some(what) = refused {
            return Err(self.fault(offset, context, what));
        }
        match offset {
            CTL1 => {
                *self.register(CTL1) = value;
                if value & UCSWRST != 0 {
                    self.shifting = None;
                    self.waiting = None;
                    *self.register(IE) = 0;
                    *self.register(IFG) = UCTXIFG;
                    *self.register(STAT) &= UCLISTEN;
                }
            }
            STAT => *self.register(STAT) = value & UCLISTEN | self.registers[STAT as usize] & UCOE,
            TXBUF => {
                *self.register(TXBUF) = value;
                *self.register(IFG) &= !UCTXIFG;
                if self.shifting.is_none() {
                    self.start(value, context.now);
                } else {
                    self.waiting = Some(value);
                }
            }
            _ => *self.register(offset) = value,
        }
        self.update(context);
        Ok(())
    }
}

impl Peripheral for Spi {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + SIZE as u32).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let low = u32::from(self.read_byte(offset, context)?);
        // The data registers are bytes; a word access reads 0 above them.
        if size == 1 || matches!(offset, RXBUF | TXBUF | MCTL | STAT) {
            return Ok(low);
        }
        Ok(low | u32::from(self.read_byte(offset + 1, context)?) << 8)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        self.write_byte(offset, value as u8, context)?;
        if size == 2 && !matches!(offset, RXBUF | TXBUF | MCTL | STAT) {
            self.write_byte(offset + 1, (value >> 8) as u8, context)?;
        }
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        if self.served { Some(0) } else { self.shifting.map(|(_, end)| end) }
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        if let Some((byte, end)) = self.shifting.filter(|(_, end)| *end <= context.now) {
            let answer = match context.board.transfer(&self.name, self.clock(), byte, end) {
                Ok(answer) => answer,
                Err(what) => {
                    self.refused = Some(what);
                    0xff
                }
            };
            if self.registers[IFG as usize] & UCRXIFG != 0 {
                *self.register(STAT) |= UCOE;
            }
            let looped = self.registers[STAT as usize] & UCLISTEN != 0;
            *self.register(RXBUF) = if looped { byte } else { answer };
            *self.register(IFG) |= UCRXIFG;
            self.shifting = None;
            if let Some(next) = self.waiting.take() {
                self.start(next, end);
            }
        }
        self.update(context);
    }

    fn taken(&mut self, irq: u8) {
        self.served |= irq == self.irq;
    }

    fn reset(&mut self) {
        self.registers = [0; SIZE];
        *self.register(CTL1) = UCSWRST;
        // UCSYNC: a USCI_B is synchronous always.
        *self.register(CTL0) = 0x01;
        *self.register(IFG) = UCTXIFG;
        self.shifting = None;
        self.waiting = None;
        self.refused = None;
        self.served = false;
    }

    fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.clocks.set_clock(clock_hz, now);
        self.mclk_hz = clock_hz;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
