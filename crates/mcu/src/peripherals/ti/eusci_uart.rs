//! An eUSCI_A of the MSP430FR5xx as a UART.
//!
//! Source: SLAU367, chapter "Enhanced Universal Serial Communication Interface (eUSCI) – UART Mode"; registers and bits compared with TI's header
//! msp430fr5994.h. Eight data bits without parity, least significant first, one or two stop bits; the length of each bit follows the prescaler
//! and the modulation (`UCBRSx` is the pattern itself, its highest bit for the start bit; which of the bits are longer is from memory). Bytes
//! written are told to the observer when complete. Nothing is connected to the receiver, except the transmitter with `UCLISTEN`. Other
//! modes are refused.

use super::clocks::Clocks;
use super::word::{Word, part_of};
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec};
use std::ops::Range;

const CTLW0: u32 = 0x00;
const CTLW1: u32 = 0x02;
const BRW: u32 = 0x06;
const MCTLW: u32 = 0x08;
const STATW: u32 = 0x0a;
const RXBUF: u32 = 0x0c;
const TXBUF: u32 = 0x0e;
const ABCTL: u32 = 0x10;
const IRCTL: u32 = 0x12;
const IE: u32 = 0x1a;
const IFG: u32 = 0x1c;
const IV: u32 = 0x1e;
const END: u32 = 0x20;

/// CTLW0: UCSWRST; UCSSELx; UCSPB; what stands for another format or mode.
const UCSWRST: u32 = 1 << 0;
const UCSSEL: u32 = 6;
const UCSPB: u32 = 1 << 11;
const OTHER_FORMATS: u32 = 0xf700 | 0x06;
/// MCTLW.UCOS16.
const UCOS16: u32 = 1 << 0;
/// STATW: UCLISTEN, UCOE, UCBUSY.
const UCLISTEN: u32 = 1 << 7;
const UCOE: u32 = 1 << 5;
const UCBUSY: u32 = 1 << 0;
/// IE and IFG: UCRXIFG, UCTXIFG, UCTXCPTIFG. UCSTTIFG does not rise.
const UCRXIFG: u32 = 1 << 0;
const UCTXIFG: u32 = 1 << 1;
const UCTXCPTIFG: u32 = 1 << 3;

/// A UART.
#[derive(Clone)]
pub struct Uart {
    name: String,
    base: u32,
    irq: u8,
    clocks: Clocks,
    control: u32,
    deglitch: u32,
    prescaler: u32,
    modulation: u32,
    status: u32,
    received: u32,
    sent: u32,
    enables: u32,
    flags: u32,
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
        Uart {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.unwrap_or(0),
            clocks: Clocks::new(part),
            control: UCSWRST,
            deglitch: 3,
            prescaler: 0,
            modulation: 0,
            status: 0,
            received: 0,
            sent: 0,
            enables: 0,
            flags: UCTXIFG,
            shifting: None,
            waiting: None,
            served: false,
        }
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
        Fault::Peripheral { pc: context.pc, address, device: self.name.clone(), what: what.into() }
    }

    /// Clocks of BRCLK that a frame takes.
    fn frame_clocks(&self) -> u64 {
        let divider = u64::from(self.prescaler);
        let bits = 10 + u32::from(self.control & UCSPB != 0);
        let pattern = (self.modulation >> 8).reverse_bits() >> 24;
        (0..bits)
            .map(|bit| {
                let longer = u64::from(pattern >> (bit % 8) & 1);
                if self.modulation & UCOS16 == 0 {
                    divider + longer
                } else {
                    // UCBRFx of the 16 BITCLK16 periods are one clock longer, and one more in modulated bits.
                    16 * divider + u64::from(self.modulation >> 4 & 15) + longer
                }
            })
            .sum()
    }

    fn start(&mut self, byte: u8, now: u64) {
        let clocks = self.frame_clocks();
        let end = match self.control >> UCSSEL & 3 {
            1 => self.clocks.aclk_edge(self.clocks.aclk_count(now) + clocks),
            _ => now + clocks,
        };
        self.shifting = Some((byte, end));
        self.flags |= UCTXIFG;
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.enables & self.flags != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }

    /// Reads the vector register, which clears the flag that it names.
    fn take_vector(&mut self) -> u32 {
        let pending = self.enables & self.flags;
        let vectors = [(UCRXIFG, 2), (UCTXIFG, 4), (UCTXCPTIFG, 8)];
        let (flag, vector) = vectors.into_iter().find(|(flag, _)| pending & flag != 0).unwrap_or_default();
        self.flags &= !flag;
        vector
    }

    fn write_control(&mut self, address: u32, control: u32, context: &Context<'_, '_>) -> Result<(), Fault> {
        if control & OTHER_FORMATS != 0 {
            return Err(self.fault(address, context, "only eight data bits without parity are modelled"));
        }
        if control >> UCSSEL & 3 == 0 && control & UCSWRST == 0 {
            return Err(self.fault(address, context, "an external clock is not modelled"));
        }
        self.control = control;
        if control & UCSWRST != 0 {
            self.shifting = None;
            self.waiting = None;
            self.enables = 0;
            self.flags = UCTXIFG;
        }
        Ok(())
    }

    fn send(&mut self, address: u32, byte: u8, context: &Context<'_, '_>) -> Result<(), Fault> {
        if self.control & UCSWRST != 0 {
            return Err(self.fault(address, context, "a byte is sent while UCSWRST is set"));
        }
        self.sent = byte.into();
        self.flags &= !(UCTXIFG | UCTXCPTIFG);
        if self.shifting.is_none() {
            self.start(byte, context.now);
        } else {
            self.waiting = Some(byte);
        }
        Ok(())
    }
}

impl Peripheral for Uart {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + END).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = match (address - self.base) & !1 {
            CTLW0 => self.control,
            CTLW1 => self.deglitch,
            BRW => self.prescaler,
            MCTLW => self.modulation,
            STATW => self.status | if self.shifting.is_some() { UCBUSY } else { 0 },
            RXBUF => {
                self.flags &= !UCRXIFG;
                self.status &= !UCOE;
                self.received
            }
            TXBUF => self.sent,
            ABCTL | IRCTL => 0,
            IE => self.enables,
            IFG => self.flags,
            IV => self.take_vector(),
            _ => return Err(self.fault(address, context, "this register is not modelled")),
        };
        self.update(context);
        Ok(part_of(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let write = Word::new(address, size, value);
        match (address - self.base) & !1 {
            CTLW0 => self.write_control(address, write.onto(self.control), context)?,
            CTLW1 => self.deglitch = write.onto(self.deglitch) & 3,
            BRW => self.prescaler = write.onto(self.prescaler),
            MCTLW => self.modulation = write.onto(self.modulation) & 0xfff1,
            STATW => self.status = write.onto(self.status) & UCLISTEN,
            TXBUF => self.send(address, write.bits as u8, context)?,
            ABCTL | IRCTL if write.bits == 0 => {}
            ABCTL | IRCTL => {
                let what = "detecting the baud rate and infrared coding are not modelled";
                return Err(self.fault(address, context, what));
            }
            IE => self.enables = write.onto(self.enables) & 0xf,
            IFG => self.flags = write.onto(self.flags) & 0xf,
            IV => self.flags = 0,
            RXBUF => {}
            _ => return Err(self.fault(address, context, "this register is not modelled")),
        }
        self.update(context);
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
            if self.status & UCLISTEN != 0 {
                if self.flags & UCRXIFG != 0 {
                    self.status |= UCOE;
                }
                self.received = byte.into();
                self.flags |= UCRXIFG;
            }
            self.shifting = None;
            match self.waiting.take() {
                Some(next) => self.start(next, end),
                None => self.flags |= UCTXCPTIFG,
            }
        }
        self.update(context);
    }

    fn taken(&mut self, irq: u8) {
        self.served |= irq == self.irq;
    }

    fn reset(&mut self) {
        let clocks = self.clocks;
        let (name, base, irq) = (std::mem::take(&mut self.name), self.base, self.irq);
        *self = Uart {
            name,
            base,
            irq,
            clocks,
            control: UCSWRST,
            deglitch: 3,
            prescaler: 0,
            modulation: 0,
            status: 0,
            received: 0,
            sent: 0,
            enables: 0,
            flags: UCTXIFG,
            shifting: None,
            waiting: None,
            served: false,
        };
    }

    fn set_clock(&mut self, clock_hz: u64, now: u64) {
        self.clocks.set_clock(clock_hz, now);
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
