//! A USART of the STM32 as a UART of 8-bit characters, by itself or with DMA.
//!
//! RM0041 section 23.6 and RM0090 section 30.6 (`settings.layout = 1`: SR, DR, BRR, CR1..3, GTPR);
//! RM0091 section 27.8 and RM0410 section 34.8 (`settings.layout = 2`: CR1..3, BRR, GTPR, RTOR,
//! RQR, ISR, ICR, RDR, TDR). Its clock is the bus's, or where `settings.clock` is given what RCC
//! makes for it. An LPUART is the same with a bit of BRR / 256 clocks (RM0432 section 51.7,
//! `settings.layout = 3`). The STM32L4+ divides the clock further (RM0432, USART_PRESC;
//! `settings.prescaler = 1`).

use super::USART_CLOCKS;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{
    ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Roles, SerialPort, Spec, TransferRequest,
};
use std::collections::VecDeque;

// The status bits lie at the same places in both layouts.
const ORE: u32 = 1 << 3;
const IDLE: u32 = 1 << 4;
const RXNE: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
/// CR1's TXEIE and TCIE are at the places of the flags.
const TXEIE_TCIE: u32 = TXE | TC;
/// CR1; IDLEIE and RXNEIE are at the places of the flags, too.
const RE: u32 = 1 << 2;
const TE: u32 = 1 << 3;
const M: u32 = 1 << 12;
/// M1 of layout 2.
const M1: u32 = 1 << 28;
/// CR3.
const EIE: u32 = 1 << 0;
const DMAR: u32 = 1 << 6;
const DMAT: u32 = 1 << 7;
/// Layout 2, ICR: what it clears; RQR: received data and data to be sent are dropped.
const CLEARED: u32 = 0x5f;
const RXFRQ: u32 = 1 << 3;
const TXFRQ: u32 = 1 << 4;
/// Layout 2, ISR: transmitter and receiver are ready.
const TEACK: u32 = 1 << 21;
const REACK: u32 = 1 << 22;

/// PRESC: what the clock is divided by; what lies behind is the last.
const PRESCALERS: [u64; 12] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256];

/// Transmitter and receiver.
#[derive(Clone)]
pub struct Usart {
    name: String,
    base: u32,
    irq: Option<u8>,
    new_layout: bool,
    /// An LPUART: a bit takes `baud` / 256 clocks.
    low_power: bool,
    has_prescaler: bool,
    control: [u32; 3],
    baud: u32,
    prescaler: u32,
    /// Index of its clock in [`crate::Events::generic_clocks_hz`], if the program can choose it,
    /// and that clock, 0 for the bus's.
    clock: Option<usize>,
    clock_hz: u64,
    core_hz: u64,
    /// Cycles of the core's clock in one of the bus's.
    bus_divider: u64,
    guard: u32,
    timeout: u32,
    flags: u32,
    /// The character that waits for the shift register.
    waiting: Option<u8>,
    /// The character in the shift register, and when it is out.
    shifting: Option<(u8, u64)>,
    received: u8,
    /// Bytes on their way in, and when the first of them has arrived.
    incoming: VecDeque<u8>,
    arrival: Option<u64>,
    /// When the line will have been idle for a frame after the last byte.
    idle: Option<u64>,
    /// Layout 1: SR was read, so that reading DR clears what stands there.
    status_read: bool,
    /// The requests of DMA of transmitter and receiver.
    transfers: [TransferRequest; 2],
}

impl Usart {
    /// The USART at `spec.base`, interrupting with `spec.irq`; `settings.layout` as in the module's
    /// text, `tx_dma_1` and `rx_dma_1` where its requests lead; `settings.clock` is its number
    /// among those whose clock can be another than the bus's.
    ///
    /// # Errors
    /// A request of DMA that leads nowhere.
    pub fn new(spec: &PeripheralSpec) -> Result<Usart, String> {
        Ok(Usart {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            new_layout: matches!(spec.settings.get("layout"), Some(2 | 3)),
            low_power: spec.settings.get("layout") == Some(&3),
            has_prescaler: spec.settings.get("prescaler") == Some(&1),
            control: [0; 3],
            baud: 0,
            prescaler: 0,
            clock: spec
                .settings
                .get("clock")
                .and_then(|clock| usize::try_from(*clock).ok())
                .map(|clock| USART_CLOCKS + clock),
            clock_hz: 0,
            core_hz: 1,
            bus_divider: 1,
            guard: 0,
            timeout: 0,
            flags: TXE | TC,
            waiting: None,
            shifting: None,
            received: 0,
            incoming: VecDeque::new(),
            arrival: None,
            idle: None,
            status_read: false,
            transfers: [TransferRequest::new(spec, "tx_dma")?, TransferRequest::new(spec, "rx_dma")?],
        })
    }

    /// CR1.UE is bit 13 in the first layout, bit 0 in the second.
    fn on(&self, part: u32) -> bool {
        let enable = if self.new_layout { 1 } else { 1 << 13 };
        self.control[0] & enable != 0 && self.control[0] & part != 0
    }

    /// Cycles of the core in a frame: start bit, 7 to 9 bits with the parity, 1 or 2 stop bits; BRR
    /// cycles of the USART's clock each at 16-fold oversampling.
    fn frame(&self) -> u64 {
        let stops = if self.control[1] >> 12 & 3 == 2 { 2 } else { 1 };
        let stops = match self.control[0] & (M | if self.new_layout { M1 } else { 0 }) {
            M => stops + 1,
            M1 => stops - 1,
            _ => stops,
        };
        let prescaler = PRESCALERS[(self.prescaler as usize).min(PRESCALERS.len() - 1)];
        // CR1.OVER8: BRR[2:0] hold the low bits shifted right by one.
        let bit = if !self.low_power && self.control[0] & 1 << 15 != 0 {
            (self.baud & 0xfff0 | (self.baud & 7) << 1) / 2
        } else {
            self.baud
        };
        let clocks = u64::from(bit) * (9 + stops) * prescaler;
        let parts = if self.low_power { 256 } else { 1 };
        match self.clock_hz {
            0 => clocks * self.bus_divider / parts,
            hz => (u128::from(clocks) * u128::from(self.core_hz) / (u128::from(hz) * parts as u128)) as u64,
        }
    }

    fn send(&mut self, byte: u8, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        if !self.on(TE) || self.baud == 0 {
            let what = "sending while the transmitter is off or without a baud rate";
            return context.refuse(&self.name, self.base, what);
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

    fn signal(&mut self, context: &mut Context<'_, '_>) {
        let [control, _, control3] = self.control;
        let (flags, now) = (self.flags, context.now);
        let asks = [flags & TXE != 0 && self.on(TE), flags & RXNE != 0];
        for (index, enable) in [DMAT, DMAR].into_iter().enumerate() {
            self.transfers[index].set(asks[index] && control3 & enable != 0, now, context);
        }
        let Some(irq) = self.irq else { return };
        let received = if flags & (RXNE | ORE) != 0 { RXNE } else { 0 };
        if (flags & (TXEIE_TCIE | IDLE) | received) & control != 0 || flags & ORE != 0 && control3 & EIE != 0
        {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }

    /// The bytes that have arrived by now, of which one is lost while the one before it has not
    /// been read.
    fn receive(&mut self, now: u64) {
        while let Some(end) = self.arrival.filter(|end| *end <= now) {
            let byte = self.incoming.pop_front().unwrap_or_default();
            if self.on(RE) && self.flags & RXNE != 0 {
                self.flags |= ORE;
            } else if self.on(RE) {
                self.received = byte;
                self.flags |= RXNE;
            }
            let next = end + self.frame();
            (self.arrival, self.idle) =
                if self.incoming.is_empty() { (None, Some(next)) } else { (Some(next), None) };
        }
        if self.idle.is_some_and(|idle| idle <= now) {
            self.idle = None;
            self.flags |= if self.on(RE) { IDLE } else { 0 };
        }
    }

    /// The data register is read.
    fn take(&mut self) -> u32 {
        self.flags &= !RXNE;
        if std::mem::take(&mut self.status_read) {
            self.flags &= !(ORE | IDLE);
        }
        u32::from(self.received)
    }

    /// The offset in the first layout's order: 0 status, 1 data out, 2 data in, 3 baud, 4..6
    /// control, 7 guard, 8 timeout, 9 clear, 10 request, 11 prescaler.
    fn register(&self, offset: u32) -> Option<u8> {
        let table: &[(u32, u8)] = if self.new_layout {
            &[
                (0, 4),
                (4, 5),
                (8, 6),
                (12, 3),
                (16, 7),
                (20, 8),
                (0x18, 10),
                (0x1c, 0),
                (0x20, 9),
                (0x24, 2),
                (0x28, 1),
                (0x2c, 11),
            ]
        } else {
            &[(0, 0), (4, 1), (8, 3), (12, 4), (16, 5), (20, 6), (24, 7)]
        };
        let known = table.iter().find(|entry| entry.0 == offset).map(|entry| entry.1);
        known.filter(|register| *register != 11 || self.has_prescaler)
    }

    fn on_bytes_arrive(&mut self, bytes: &[u8], context: &mut Context<'_, '_>) {
        self.incoming.extend(bytes);
        if self.arrival.is_none() && !self.incoming.is_empty() {
            self.arrival = Some(context.now + self.frame());
            self.idle = None;
        }
    }
}

impl Peripheral for Usart {
    fn spec(&self) -> Spec {
        Spec {
            dma_lines: self.transfers[0].lines() | self.transfers[1].lines(),
            ..Spec::new(&self.name, self.base..self.base + 0x400)
        }
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
                self.status_read = !self.new_layout;
                self.flags | enabled
            }
            Some(1) if self.new_layout => 0,
            Some(1 | 2) => self.take(),
            Some(3) => self.baud,
            Some(index @ 4..=6) => self.control[usize::from(index) - 4],
            Some(7) => self.guard,
            Some(8) => self.timeout,
            Some(9 | 10) => 0,
            Some(11) => self.prescaler,
            _ => return context.refuse(&self.name, address, "register not modelled"),
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
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        match self.register(offset & !3) {
            // Status flags that are cleared by writing zero.
            Some(0) if !self.new_layout => self.flags &= merge(self.flags) | !(TC | RXNE),
            Some(1) => self.send(value as u8, context)?,
            Some(3) => self.baud = merge(self.baud),
            Some(index @ 4..=6) => {
                let index = usize::from(index) - 4;
                self.control[index] = merge(self.control[index]);
            }
            Some(7) => self.guard = merge(self.guard),
            Some(8) => self.timeout = merge(self.timeout),
            Some(9) => self.flags &= !(merge(0) & CLEARED),
            Some(11) => self.prescaler = merge(self.prescaler) & 15,
            Some(10) if merge(0) & !(RXFRQ | TXFRQ) == 0 => {
                self.flags &= if merge(0) & RXFRQ != 0 { !RXNE } else { !0 };
                if merge(0) & TXFRQ != 0 {
                    self.waiting = None;
                    self.flags |= TXE;
                }
            }
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let sent = self.shifting.map(|(_, done)| done);
        [sent, self.arrival, self.idle].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        while let Some((byte, done)) = self.shifting
            && done <= context.now
        {
            context.sent(&self.name, byte, done);
            self.shifting = self.waiting.take().map(|byte| (byte, done + self.frame()));
            self.flags |= TXE;
            if self.shifting.is_none() {
                self.flags |= TC;
            }
        }
        self.receive(context.now);
        self.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::ControlsChanged => {
                let clocks = &context.events.generic_clocks_hz;
                self.clock_hz = self.clock.and_then(|clock| clocks.get(clock)).copied().unwrap_or(0);
            }
            Event::BytesArrive(bytes) => self.on_bytes_arrive(bytes, context),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => self.core_hz = clock_hz,
            ClockUpdate::Buses { apb1, apb2 } => {
                self.bus_divider = super::bus::divider(self.base, apb1, apb2)
            }
            _ => {}
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.shifting.iter_mut().for_each(|(_, done)| *done += cycles);
        self.arrival.iter_mut().chain(&mut self.idle).for_each(|at| *at += cycles);
    }

    fn reset(&mut self) {
        self.bus_divider = 1;
        self.clock_hz = 0;
        self.control = [0; 3];
        self.baud = 0;
        self.prescaler = 0;
        self.guard = 0;
        self.timeout = 0;
        self.flags = TXE | TC;
        self.waiting = None;
        self.shifting = None;
        self.received = 0;
        self.incoming.clear();
        self.arrival = None;
        self.idle = None;
        self.status_read = false;
        self.transfers.iter_mut().for_each(TransferRequest::reset);
    }

    fn roles(&self) -> Roles<'_> {
        Roles { serial_port: Some(self), ..Roles::default() }
    }
}

impl SerialPort for Usart {
    fn transmit_end(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end)
    }

    fn is_receiving(&self) -> Option<bool> {
        Some(self.on(RE))
    }

    fn has_receiver(&self) -> bool {
        true
    }
}
