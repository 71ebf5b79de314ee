//! A USCI_A of the MSP430F5xx as a UART.
//!
//! Source: SLAU208, chapter "Universal Serial Communication Interface – UART Mode". Eight data bits without parity,
//! one or two stop bits; the length of each bit follows the prescaler and the modulation. Bytes written are told to
//! the observer when complete. Nothing is connected to the receiver, except the transmitter with `UCLISTEN`.

use super::clocks::Clocks;
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec};
use std::ops::Range;

const CTL1: u32 = 0x00;
const CTL0: u32 = 0x01;
const BR0: u32 = 0x06;
const BR1: u32 = 0x07;
const MCTL: u32 = 0x08;
const STAT: u32 = 0x0a;
const RXBUF: u32 = 0x0c;
const TXBUF: u32 = 0x0e;
const IE: u32 = 0x1c;
const IFG: u32 = 0x1d;
const IV: u32 = 0x1e;
const SIZE: usize = 0x20;

/// `UCSWRST` in `UCAxCTL1`: held in reset.
const UCSWRST: u8 = 1;
/// `UCSPB` in `UCAxCTL0`: two stop bits.
const UCSPB: u8 = 0x08;
/// The bits of `UCAxCTL0` that stand for other than eight bits without parity, LSB first, UART, asynchronous.
const OTHER_FORMATS: u8 = 0xf7;
/// `UCOS16` in `UCAxMCTL`.
const UCOS16: u8 = 1;
/// `UCLISTEN`, `UCOE`, `UCBUSY` in `UCAxSTAT`.
const UCLISTEN: u8 = 0x80;
const UCOE: u8 = 0x20;
const UCBUSY: u8 = 1;
const UCRXIFG: u8 = 1;
const UCTXIFG: u8 = 2;

/// "BITCLK Modulation Pattern": which of eight bits, start bit first, are one clock longer, by `UCBRSx`.
const MODULATION: [u8; 8] =
    [0b0, 0b10, 0b10_0010, 0b10_1010, 0b1010_1010, 0b1010_1110, 0b1110_1110, 0b1111_1110];

/// A UART.
#[derive(Clone)]
pub struct Uart {
    name: String,
    base: u32,
    irq: u8,
    clocks: Clocks,
    registers: [u8; SIZE],
    /// The byte being sent and the cycle at which its last stop bit ends.
    shifting: Option<(u8, u64)>,
    /// A byte waiting in `TXBUF`.
    waiting: Option<u8>,
    /// The interrupt was served with a flag still set: request it again.
    served: bool,
}

impl Uart {
    /// The interface with its registers from `spec.base` on; `spec.irq` is its vector.
    #[must_use]
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Uart {
        let mut uart = Uart {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.unwrap_or(0),
            clocks: Clocks::new(part),
            registers: [0; SIZE],
            shifting: None,
            waiting: None,
            served: false,
        };
        uart.reset();
        uart
    }

    fn fault(&self, offset: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        let address = self.base + offset;
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    fn register(&mut self, offset: u32) -> &mut u8 {
        &mut self.registers[offset as usize]
    }

    /// Clocks of BRCLK that a frame takes.
    fn frame_clocks(&self) -> u64 {
        let divider =
            u64::from(u16::from_le_bytes([self.registers[BR0 as usize], self.registers[BR1 as usize]]));
        let control = self.registers[MCTL as usize];
        let pattern = MODULATION[usize::from(control >> 1 & 7)];
        let bits = 10 + u32::from(self.registers[CTL0 as usize] & UCSPB != 0);
        (0..bits)
            .map(|bit| {
                let longer = u64::from(pattern >> (bit % 8) & 1);
                if control & UCOS16 == 0 {
                    divider + longer
                } else {
                    // UCBRFx of the 16 BITCLK16 periods are one clock longer, and one more in modulated bits.
                    16 * divider + u64::from(control >> 4) + longer
                }
            })
            .sum()
    }

    fn start(&mut self, byte: u8, now: u64) {
        let clocks = self.frame_clocks();
        let end = match self.registers[CTL1 as usize] >> 6 {
            1 => self.clocks.aclk_edge(self.clocks.aclk_count(now) + clocks),
            _ => now + clocks,
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
        let value = match offset {
            CTL1 | CTL0 | BR0 | BR1 | MCTL | TXBUF | IE | IFG => self.registers[offset as usize],
            STAT => self.registers[STAT as usize] | if self.shifting.is_some() { UCBUSY } else { 0 },
            RXBUF => {
                *self.register(IFG) &= !UCRXIFG;
                *self.register(STAT) &= !UCOE;
                self.registers[RXBUF as usize]
            }
            IV => {
                let pending = self.registers[IE as usize] & self.registers[IFG as usize];
                let (vector, flag) = match pending {
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
        match offset {
            CTL0 if value & OTHER_FORMATS != 0 => {
                return Err(self.fault(offset, context, "only eight data bits without parity are modelled"));
            }
            CTL1 if value & 0x3e != 0 => {
                return Err(self.fault(
                    offset,
                    context,
                    "of UCAxCTL1 only the clock and the reset are modelled",
                ));
            }
            CTL1 if value >> 6 == 0 && value & UCSWRST == 0 => {
                return Err(self.fault(offset, context, "an external clock is not modelled"));
            }
            CTL1 => {
                *self.register(CTL1) = value;
                if value & UCSWRST != 0 {
                    self.shifting = None;
                    self.waiting = None;
                    *self.register(IE) = 0;
                    *self.register(IFG) = UCTXIFG;
                }
            }
            CTL0 | BR0 | BR1 | MCTL => *self.register(offset) = value,
            STAT => *self.register(STAT) = value & UCLISTEN,
            TXBUF => {
                if self.registers[CTL1 as usize] & UCSWRST != 0 {
                    return Err(self.fault(offset, context, "a byte is sent while UCSWRST is set"));
                }
                *self.register(TXBUF) = value;
                *self.register(IFG) &= !UCTXIFG;
                if self.shifting.is_none() {
                    self.start(value, context.now);
                } else {
                    self.waiting = Some(value);
                }
            }
            IE | IFG => *self.register(offset) = value,
            _ => return Err(self.fault(offset, context, "this register is not modelled")),
        }
        self.update(context);
        Ok(())
    }
}

impl Peripheral for Uart {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + SIZE as u32).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let low = u32::from(self.read_byte(offset, context)?);
        if size == 1 {
            return Ok(low);
        }
        // The data registers are bytes; a word access reads 0 above them.
        let high = if matches!(offset, RXBUF | TXBUF | MCTL | STAT) {
            0
        } else {
            self.read_byte(offset + 1, context)?
        };
        Ok(low | u32::from(high) << 8)
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

    fn sending(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end)
    }

    fn due(&self) -> Option<u64> {
        if self.served { Some(0) } else { self.shifting.map(|(_, end)| end) }
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        if let Some((byte, end)) = self.shifting.filter(|(_, end)| *end <= context.now) {
            context.sent(&self.name, byte, end);
            if self.registers[STAT as usize] & UCLISTEN != 0 {
                if self.registers[IFG as usize] & UCRXIFG != 0 {
                    *self.register(STAT) |= UCOE;
                }
                *self.register(RXBUF) = byte;
                *self.register(IFG) |= UCRXIFG;
            }
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
        *self.register(IFG) = UCTXIFG;
        self.shifting = None;
        self.waiting = None;
        self.served = false;
    }

    fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.clocks.set_clock(clock_hz, now);
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
