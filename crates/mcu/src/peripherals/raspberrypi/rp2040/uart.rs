//! A UART, Arm's PL011 with queues of 32 characters: section 4.2.
//!
//! DMA is asked for while there is room in the queue, or a character (DREQ, section 2.5.3.1).
//! Refused: loopback, flow control, IrDA, breaks, and DMACR.DMAONERR.

use super::{BLOCK, CLK_PERI, Write, register};
use crate::clock::rescaled;
use crate::peripherals::register::{Register, Registers, part_of_word};
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Roles, SerialPort, Spec};
use std::collections::VecDeque;

const DR: u32 = 0x00;
const RSR: u32 = 0x04;
const FR: u32 = 0x18;
const ILPR: u32 = 0x20;
const IBRD: u32 = 0x24;
const FBRD: u32 = 0x28;
const LCR_H: u32 = 0x2c;
const CR: u32 = 0x30;
const IFLS: u32 = 0x34;
const IMSC: u32 = 0x38;
const RIS: u32 = 0x3c;
const MIS: u32 = 0x40;
const ICR: u32 = 0x44;
const DMACR: u32 = 0x48;
const PERIPHID0: u32 = 0xfe0;

/// FR.
const TXFE: u32 = 1 << 7;
const RXFF: u32 = 1 << 6;
const TXFF: u32 = 1 << 5;
const RXFE: u32 = 1 << 4;
const BUSY: u32 = 1 << 3;
/// LCR_H.
const BRK: u32 = 1 << 0;
const PEN: u32 = 1 << 1;
const STP2: u32 = 1 << 3;
const FEN: u32 = 1 << 4;
/// CR.
const UARTEN: u32 = 1 << 0;
const TXE: u32 = 1 << 8;
const RXE: u32 = 1 << 9;
/// DMACR.
const RXDMAE: u32 = 1 << 0;
const TXDMAE: u32 = 1 << 1;
const DMAONERR: u32 = 1 << 2;
/// Interrupts: overrun, receive timeout, transmit, receive.
const OE: u32 = 1 << 10;
const RT: u32 = 1 << 6;
const TX: u32 = 1 << 5;
const RX: u32 = 1 << 4;
/// DR and RSR: overrun.
const DR_OE: u32 = 1 << 11;
const RSR_OE: u32 = 1 << 3;
/// Words of the queues (section 4.2: 32 rows).
const DEPTH: usize = 32;
/// The receive timeout: so many bits without a character (section 4.2.6.4).
const TIMEOUT_BITS: u64 = 32;
/// Atomic aliases are a read, then a write: section 2.1.2.
const INTERPOSER: u64 = 2;
/// UARTPeriphID and UARTPCellID (section 4.2.8).
const IDENTIFICATION: [u32; 8] = [0x11, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1];

/// The registers that keep what is written. CR's RTS and the like are outputs that nobody sees.
const MAP: &[Register] = &[
    Register::new(ILPR, 0xff),
    Register::new(IBRD, 0xffff),
    Register::new(FBRD, 0x3f),
    Register::new(LCR_H, 0xff).refusing(BRK, "breaks are not modelled"),
    Register::new(CR, 0xff87)
        .with_reset(TXE | RXE)
        .refusing(0xc086, "loopback, flow control and IrDA are not modelled"),
    Register::new(IFLS, 0x3f).with_reset(0x12),
    Register::new(IMSC, 0x7ff),
    Register::new(DMACR, 3).refusing(DMAONERR, "DMACR.DMAONERR is not modelled"),
];

/// The registers.
#[derive(Clone)]
pub struct Uart {
    name: String,
    base: u32,
    irq: u8,
    /// The number of its request of DMA for the transmitter, which the receiver's follows.
    dreq: u8,
    requests: u128,
    reset_bit: u32,
    held: bool,
    clock_hz: u64,
    peripheral_hz: u64,
    registers: Registers,
    raised: u32,
    queue: VecDeque<u8>,
    /// The character in the shift register, and when it is out.
    shifting: Option<(u8, u64)>,
    received: VecDeque<u8>,
    overrun: bool,
    /// Characters on their way in, and when the next one is here.
    arriving: VecDeque<u8>,
    arrives: Option<u64>,
    /// When the receive timeout strikes.
    timeout: Option<u64>,
}

impl Uart {
    /// The UART at `spec.base`, interrupting with `spec.irq`; `settings.reset` is its bit's number
    /// in RESETS.RESET, `settings.dreq` the number of its first request of DMA.
    ///
    /// # Errors
    /// One of them that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Uart, String> {
        let needs = |what: &str| format!("{}: {} needs {what}", part.name, spec.name);
        Ok(Uart {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.ok_or_else(|| needs("irq"))?,
            dreq: super::number(spec, "dreq", 63).ok_or_else(|| needs("dreq"))?,
            requests: 0,
            reset_bit: 1 << super::number(spec, "reset", 25).ok_or_else(|| needs("reset"))?,
            held: true,
            clock_hz: part.default_clock_hz,
            peripheral_hz: 0,
            registers: Registers::new(MAP),
            raised: 0,
            queue: VecDeque::new(),
            shifting: None,
            received: VecDeque::new(),
            overrun: false,
            arriving: VecDeque::new(),
            arrives: None,
            timeout: None,
        })
    }

    fn depth(&self) -> usize {
        if self.registers[LCR_H] & FEN != 0 { DEPTH } else { 1 }
    }

    /// Characters in the queue at which its interrupt is asked for; without queues none are to
    /// wait.
    fn transmit_level(&self) -> usize {
        if self.registers[LCR_H] & FEN == 0 { 0 } else { level(self.registers[IFLS] & 7) }
    }

    fn receive_level(&self) -> usize {
        if self.registers[LCR_H] & FEN == 0 { 1 } else { level(self.registers[IFLS] >> 3 & 7) }
    }

    /// Core cycles of so many bits; none without a clock or a divisor. Section 4.2.3.2: 16 times
    /// (IBRD + FBRD / 64) of clk_peri.
    fn bits(&self, bits: u64) -> Option<u64> {
        let divisor = u128::from(self.registers[IBRD] * 64 + self.registers[FBRD]);
        let cycles = (u128::from(bits) * divisor * u128::from(self.clock_hz))
            .checked_div(4 * u128::from(self.peripheral_hz))?;
        (cycles != 0).then_some(cycles as u64)
    }

    fn frame(&self) -> Option<u64> {
        let data = 5 + u64::from(self.registers[LCR_H] >> 5 & 3);
        self.bits(
            1 + data
                + u64::from(self.registers[LCR_H] & PEN != 0)
                + 1
                + u64::from(self.registers[LCR_H] & STP2 != 0),
        )
    }

    fn signal(&mut self, context: &mut Context<'_, '_>) {
        if self.raised & self.registers[IMSC] != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
        let control = self.registers[DMACR];
        let transmits = !self.held && control & TXDMAE != 0 && self.queue.len() < self.depth();
        let receives = control & RXDMAE != 0 && !self.received.is_empty();
        super::request_transfers(self.dreq, [transmits, receives], &mut self.requests, context);
    }

    fn send(&mut self, byte: u8, now: u64) -> Result<(), &'static str> {
        if self.registers[CR] & (UARTEN | TXE) != UARTEN | TXE {
            return Err("sending while the transmitter is off");
        }
        let Some(frame) = self.frame() else {
            return Err("sending without clk_peri or a baud rate");
        };
        // What is too much for the queue is lost.
        if self.shifting.is_none() {
            self.shifting = Some((byte, now + frame));
            if self.registers[LCR_H] & FEN == 0 {
                self.raised |= TX;
                return Ok(());
            }
        } else if self.queue.len() < self.depth() {
            self.queue.push_back(byte);
        }
        if self.queue.len() > self.transmit_level() {
            self.raised &= !TX;
        }
        Ok(())
    }

    fn take(&mut self, now: u64) -> u32 {
        let byte = self.received.pop_front().unwrap_or(0);
        if self.received.len() < self.receive_level() {
            self.raised &= !RX;
        }
        if self.received.is_empty() {
            self.raised &= !RT;
            self.timeout = None;
        } else {
            self.timeout = self.bits(TIMEOUT_BITS).map(|bits| now + bits);
        }
        let overrun = if std::mem::take(&mut self.overrun) { DR_OE } else { 0 };
        u32::from(byte) | overrun
    }

    fn flags(&self) -> u32 {
        let flag = |condition: bool, bit: u32| if condition { bit } else { 0 };
        flag(self.queue.is_empty(), TXFE)
            | flag(self.received.len() >= self.depth(), RXFF)
            | flag(self.queue.len() >= self.depth(), TXFF)
            | flag(self.received.is_empty(), RXFE)
            | flag(self.shifting.is_some(), BUSY)
    }

    fn read_register(&mut self, register: u32, now: u64) -> Option<u32> {
        Some(match register {
            DR => self.take(now),
            RSR => {
                if self.overrun {
                    RSR_OE
                } else {
                    0
                }
            }
            FR => self.flags(),
            RIS => self.raised,
            MIS => self.raised & self.registers[IMSC],
            ICR => 0,
            PERIPHID0.. => IDENTIFICATION[((register - PERIPHID0) / 4) as usize],
            _ => return self.registers.get(register),
        })
    }

    fn write_register(&mut self, register: u32, value: u32, now: u64) -> Result<(), &'static str> {
        match register {
            DR => self.send(value as u8, now)?,
            RSR => self.overrun = false,
            ICR => self.raised &= !value,
            FR | RIS | MIS => {}
            _ => self.registers.write(register, |_| value)?,
        }
        Ok(())
    }

    fn on_controls_changed(&mut self, context: &mut Context<'_, '_>) {
        self.peripheral_hz = context.events.generic_clocks_hz.get(CLK_PERI).copied().unwrap_or(0);
        self.held = context.events.held & self.reset_bit != 0;
        if self.held {
            let kept = (self.peripheral_hz, self.requests);
            self.reset();
            (self.peripheral_hz, self.requests) = kept;
            self.signal(context);
        }
    }

    fn on_bytes_arrive(&mut self, bytes: &[u8], context: &mut Context<'_, '_>) {
        self.arriving.extend(bytes);
        // Without a baud rate nothing can be heard.
        let on = self.registers[CR] & (UARTEN | RXE) == UARTEN | RXE;
        if self.arrives.is_none() {
            self.arrives = self.frame().filter(|_| on).map(|frame| context.now + frame);
        }
        if self.arrives.is_none() {
            self.arriving.clear();
        }
    }
}

/// IFLS: 1/8, 1/4, 1/2, 3/4, 7/8 of a queue.
fn level(field: u32) -> usize {
    [4, 8, 16, 24, 28].get(field as usize).copied().unwrap_or(DEPTH)
}

impl Peripheral for Uart {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + BLOCK)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let word = self.read_register(register(address), context.now);
        let word = word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?;
        self.signal(context);
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if self.held {
            return super::written_in_reset(&self.name, address, context);
        }
        let write = Write::new(address, size, value);
        let at = register(address);
        let mut value = write.value;
        if write.is_atomic() {
            *context.stall += INTERPOSER;
            let old = self.read_register(at, context.now).unwrap_or(0);
            value = write.onto(old);
        }
        let written = self.write_register(at, value, context.now);
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        let shifted = self.shifting.map(|(_, end)| end);
        [shifted, self.arrives, self.timeout].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        while let Some((byte, end)) = self.shifting
            && end <= context.now
        {
            context.sent(&self.name, byte, end);
            let next = self.queue.pop_front().zip(self.frame());
            self.shifting = next.map(|(byte, frame)| (byte, end + frame));
            if self.queue.len() <= self.transmit_level() {
                self.raised |= TX;
            }
        }
        while let Some(at) = self.arrives
            && at <= context.now
        {
            if let Some(byte) = self.arriving.pop_front() {
                if self.received.len() < self.depth() {
                    self.received.push_back(byte);
                } else {
                    self.overrun = true;
                    self.raised |= OE;
                }
                if self.received.len() >= self.receive_level() {
                    self.raised |= RX;
                }
                self.timeout = self.bits(TIMEOUT_BITS).map(|bits| at + bits);
            }
            self.arrives = self.frame().filter(|_| !self.arriving.is_empty()).map(|frame| at + frame);
        }
        if self.timeout.is_some_and(|at| at <= context.now) {
            self.timeout = None;
            self.raised |= RT;
        }
        self.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::ControlsChanged => self.on_controls_changed(context),
            Event::BytesArrive(bytes) => self.on_bytes_arrive(bytes, context),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            let before = self.clock_hz;
            let moved = |end: u64| rescaled(end, now, before, clock_hz);
            self.shifting = self.shifting.map(|(byte, end)| (byte, moved(end)));
            self.arrives = self.arrives.map(moved);
            self.timeout = self.timeout.map(moved);
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.held = true;
        self.peripheral_hz = 0;
        self.registers.reset();
        self.requests = 0;
        self.raised = 0;
        self.queue.clear();
        self.shifting = None;
        self.received.clear();
        self.overrun = false;
        self.arriving.clear();
        self.arrives = None;
        self.timeout = None;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { serial_port: Some(self), ..Roles::default() }
    }
}

impl SerialPort for Uart {
    fn transmit_end(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end)
    }

    fn has_receiver(&self) -> bool {
        true
    }
}
