//! A USART of the STM32 as an asynchronous transmitter of 8-bit characters; its receiver hears nothing.
//!
//! RM0041 section 23.6 and RM0090 section 30.6 (`settings.layout = 1`: SR, DR, BRR, CR1..3, GTPR); RM0091 section
//! 27.8 and RM0410 section 34.8 (`settings.layout = 2`: CR1..3, BRR, GTPR, RTOR, RQR, ISR, ICR, RDR, TDR). Its clock is
//! the bus's; other sources (RCC_CFGR3, DCKCFGR2) are not looked at.

use crate::{Context, Fault, Peripheral, PeripheralSpec};
use std::ops::Range;

// The status bits lie at the same places in both layouts.
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
/// CR1's TXEIE and TCIE are at the places of the flags.
const TXEIE_TCIE: u32 = TXE | TC;
/// CR1.TE.
const TE: u32 = 1 << 3;
/// Layout 2, ISR: transmitter and receiver are ready.
const TEACK: u32 = 1 << 21;
const REACK: u32 = 1 << 22;

/// The transmitter.
#[derive(Clone)]
pub struct Usart {
    name: String,
    base: u32,
    irq: Option<u8>,
    new_layout: bool,
    control: [u32; 3],
    baud: u32,
    /// Cycles of the core's clock in one of the bus's.
    bus_divider: u64,
    guard: u32,
    timeout: u32,
    flags: u32,
    /// The character that waits for the shift register.
    waiting: Option<u8>,
    /// The character in the shift register, and when it is out.
    shifting: Option<(u8, u64)>,
}

impl Usart {
    /// The USART at `spec.base`, interrupting with `spec.irq`; `settings.layout` as in the module's text.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Usart {
        Usart {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            new_layout: spec.settings.get("layout") == Some(&2),
            control: [0; 3],
            baud: 0,
            bus_divider: 1,
            guard: 0,
            timeout: 0,
            flags: TXE | TC,
            waiting: None,
            shifting: None,
        }
    }

    /// CR1.UE is bit 13 in the first layout, bit 0 in the second.
    fn on(&self) -> bool {
        let enable = if self.new_layout { 1 } else { 1 << 13 };
        self.control[0] & enable != 0 && self.control[0] & TE != 0
    }

    /// Cycles of a frame: start bit, 8 data bits, 1 or 2 stop bits; BRR cycles of the bus each at 16-fold oversampling.
    fn frame(&self) -> u64 {
        let stops = if self.control[1] >> 12 & 3 == 2 { 2 } else { 1 };
        // CR1.OVER8: BRR[2:0] hold the low bits shifted right by one.
        let bit = if self.control[0] & 1 << 15 != 0 {
            (self.baud & 0xfff0 | (self.baud & 7) << 1) / 2
        } else {
            self.baud
        };
        u64::from(bit) * (9 + stops) * self.bus_divider
    }

    fn send(&mut self, byte: u8, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        if !self.on() || self.baud == 0 {
            let what = "sending while the transmitter is off or without a baud rate".into();
            return Err(Fault::Peripheral {
                pc: context.pc,
                address: self.base,
                device: self.name.clone(),
                what,
            });
        }
        self.flags &= !TC;
        if self.shifting.is_none() {
            self.shifting = Some((byte, context.now + self.frame()));
        } else {
            self.waiting = Some(byte);
            self.flags &= !TXE;
        }
        Ok(())
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        if let Some(irq) = self.irq {
            if self.flags & self.control[0] & TXEIE_TCIE != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    fn fault(&self, address: u32, context: &Context<'_, '_>) -> Fault {
        Fault::Peripheral {
            pc: context.pc,
            address,
            device: self.name.clone(),
            what: "register not modelled".into(),
        }
    }

    /// The offset in the first layout's order: 0 status, 1 data out, 2 data in, 3 baud, 4..6 control, 7 guard,
    /// 8 timeout, 9 clear.
    fn register(&self, offset: u32) -> Option<u8> {
        let table: &[(u32, u8)] = if self.new_layout {
            &[(0, 4), (4, 5), (8, 6), (12, 3), (16, 7), (20, 8), (0x1c, 0), (0x20, 9), (0x24, 2), (0x28, 1)]
        } else {
            &[(0, 0), (4, 1), (8, 3), (12, 4), (16, 5), (20, 6), (24, 7)]
        };
        table.iter().find(|entry| entry.0 == offset).map(|entry| entry.1)
    }
}

impl Peripheral for Usart {
    fn name(&self) -> &str {
        &self.name
    }

    fn ranges(&self) -> Vec<Range<u32>> {
        std::iter::once(self.base..self.base + 0x400).collect()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let word = match self.register(offset & !3) {
            Some(0) => {
                let enabled = if self.new_layout && self.control[0] & 1 != 0 {
                    (self.control[0] & TE) << 18 | (self.control[0] & 1 << 2) << 20
                } else {
                    0
                };
                debug_assert_eq!(enabled & !(TEACK | REACK), 0);
                self.flags | enabled
            }
            // Nothing has been received.
            Some(1 | 2) => 0,
            Some(3) => self.baud,
            Some(index @ 4..=6) => self.control[usize::from(index) - 4],
            Some(7) => self.guard,
            Some(8) => self.timeout,
            Some(9) => 0,
            _ => return Err(self.fault(address, context)),
        };
        Ok(super::register::part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let merge = |old: u32| super::register::merged_word(old, offset, size, value);
        match self.register(offset & !3) {
            // Status flags that are cleared by writing zero.
            Some(0) if !self.new_layout => self.flags &= merge(self.flags) | TXE | RXNE,
            Some(1) => self.send(value as u8, context)?,
            Some(3) => self.baud = merge(self.baud),
            Some(index @ 4..=6) => {
                let index = usize::from(index) - 4;
                self.control[index] = merge(self.control[index]);
            }
            Some(7) => self.guard = merge(self.guard),
            Some(8) => self.timeout = merge(self.timeout),
            Some(9) => self.flags &= !(merge(0) & TC),
            _ => return Err(self.fault(address, context)),
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.shifting.map(|(_, done)| done)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        while let Some((byte, done)) = self.shifting
            && done <= context.now
        {
            if let Some(observer) = &mut context.observer {
                observer.uart(&self.name, byte, done);
            }
            self.shifting = self.waiting.take().map(|byte| (byte, done + self.frame()));
            self.flags |= TXE;
            if self.shifting.is_none() {
                self.flags |= TC;
            }
        }
        self.signal(context);
    }

    fn set_bus_dividers(&mut self, apb1: u64, apb2: u64, _now: u64) {
        self.bus_divider = super::bus::divider(self.base, apb1, apb2);
    }

    fn reset(&mut self) {
        self.bus_divider = 1;
        self.control = [0; 3];
        self.baud = 0;
        self.guard = 0;
        self.timeout = 0;
        self.flags = TXE | TC;
        self.waiting = None;
        self.shifting = None;
    }

    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
