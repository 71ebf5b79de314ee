//! A USART of an ATmega as a UART: asynchronous, 5 to 8 data bits.
//!
//! ATmega328P data sheet DS40002061, chapter 20; ATmega128 data sheet 2467, "USART". A frame begins
//! with the write that starts it; the real one waits for the next tick of the baud rate generator,
//! up to one sixteenth of a bit. Not modelled, and faults: synchronous and SPI modes, nine data
//! bits, multi-processor mode, and the ATmega32U4's flow control (data sheet 7766, 18.9).

use crate::{Context, Event, Fault, Peripheral, PeripheralSpec, Roles, SerialPort, Spec};
use std::collections::VecDeque;

/// UCSRnA.
const RXC: u8 = 0x80;
const TXC: u8 = 0x40;
const UDRE: u8 = 0x20;
const DOR: u8 = 0x08;
const U2X: u8 = 0x02;
const MPCM: u8 = 0x01;
/// UCSRnB.
const RXCIE: u8 = 0x80;
const TXCIE: u8 = 0x40;
const UDRIE: u8 = 0x20;
const RXEN: u8 = 0x10;
const TXEN: u8 = 0x08;
const UCSZ2: u8 = 0x04;
/// UCSRnC: 8 data bits, no parity, 1 stop bit.
const UCSRC_RESET: u8 = 0x06;
/// UMSELn1..0 (ATmega128: bit 7 reserved, UMSEL is bit 6) and UCPOLn.
const UMSEL_UCPOL: u8 = 0xC1;

/// Bytes that the receiver keeps.
const FIFO: usize = 2;

/// One USART.
#[derive(Clone)]
pub struct Usart {
    name: String,
    /// UDR, UCSRA, UCSRB, UCSRC, UBRRL, UBRRH; UCSRD where there is one.
    addresses: Vec<u32>,
    /// The receive interrupt; data register empty and transmit complete are the next two.
    irq: u8,
    flags: u8,
    control: u8,
    format: u8,
    rate: u16,
    /// The byte in the shift register and when it has left.
    sending: Option<(u8, u64)>,
    waiting: Option<u8>,
    /// Bytes on their way in, and when the first of them has arrived.
    incoming: VecDeque<u8>,
    arrival: Option<u64>,
    received: VecDeque<u8>,
    recheck: bool,
    /// The core sleeps without the I/O clock.
    asleep: bool,
}

impl Usart {
    /// UDR at `spec.base`; settings `a`, `b`, `c`, `ubrrl`, `ubrrh`: the addresses of the other
    /// registers, and `d` where the part has UCSRD. `spec.irq` is the receive vector.
    ///
    /// # Errors
    /// The setting that is missing.
    pub fn new(spec: &PeripheralSpec) -> Result<Usart, String> {
        let mut addresses = vec![spec.base];
        for name in ["a", "b", "c", "ubrrl", "ubrrh"] {
            let address = spec.settings.get(name);
            addresses
                .push(*address.ok_or_else(|| format!("{}: setting {name} is missing", spec.name))? as u32);
        }
        addresses.extend(spec.settings.get("d").map(|address| *address as u32));
        let irq = spec.irq.ok_or_else(|| format!("{}: irq is missing", spec.name))?;
        Ok(Usart {
            name: spec.name.clone(),
            addresses,
            irq,
            flags: 0,
            control: 0,
            format: UCSRC_RESET,
            rate: 0,
            sending: None,
            waiting: None,
            incoming: VecDeque::new(),
            arrival: None,
            received: VecDeque::new(),
            recheck: false,
            asleep: false,
        })
    }

    /// Cycles of one frame: DS40002061, 20.3.1 (a bit is 16 or 8 times UBRR + 1) and 20.4 (start,
    /// data, parity and stop bits).
    fn frame(&self) -> u64 {
        let bit = (u64::from(self.rate) + 1) * if self.flags & U2X == 0 { 16 } else { 8 };
        let data = 5 + u64::from(self.format >> 1 & 3);
        let parity = u64::from(self.format & 0x20 != 0);
        let stop = 1 + u64::from(self.format >> 3 & 1);
        bit * (1 + data + parity + stop)
    }

    fn is_empty(&self) -> bool {
        self.waiting.is_none()
    }

    /// Brings the state up to `now`.
    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some((byte, end)) = self.sending
            && context.now >= end
        {
            context.sent(&self.name, byte, end);
            self.sending = self.waiting.take().map(|next| (next, end + self.frame()));
            if self.sending.is_none() {
                self.flags |= TXC;
            }
        }
        while let Some(end) = self.arrival
            && context.now >= end
        {
            let byte = self.incoming.pop_front().unwrap_or_default();
            if self.control & RXEN != 0 {
                if self.received.len() < FIFO {
                    self.received.push_back(byte);
                } else {
                    self.flags |= DOR;
                }
            }
            self.arrival = (!self.incoming.is_empty()).then(|| end + self.frame());
        }
        let levels = [
            (0, self.control & RXCIE != 0 && !self.received.is_empty()),
            (1, self.control & UDRIE != 0 && self.is_empty()),
            (2, self.control & TXCIE != 0 && self.flags & TXC != 0),
        ];
        for (offset, on) in levels {
            if on {
                context.request(self.irq + offset);
            } else {
                context.withdraw(self.irq + offset);
            }
        }
    }

    fn write_register(
        &mut self,
        register: usize,
        value: u8,
        address: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        match register {
            0 => {
                if self.control & TXEN == 0 {
                    return context.refuse(&self.name, address, "a byte written with the transmitter off");
                }
                if self.sending.is_none() {
                    self.sending = Some((value, context.now + self.frame()));
                } else if self.waiting.is_none() {
                    self.waiting = Some(value);
                } else {
                    return context.refuse(
                        &self.name,
                        address,
                        "a byte written before UDRE: it would be lost",
                    );
                }
            }
            1 if value & MPCM != 0 => {
                return context.refuse(&self.name, address, "multi-processor mode is not modelled");
            }
            1 => {
                if value & TXC != 0 {
                    self.flags &= !TXC;
                }
                self.flags = self.flags & !U2X | value & U2X;
            }
            2 if value & UCSZ2 != 0 => {
                return context.refuse(&self.name, address, "nine data bits are not modelled");
            }
            2 => {
                self.control = value;
                if value & RXEN == 0 {
                    self.received.clear();
                }
            }
            3 if value & UMSEL_UCPOL != 0 => {
                return context.refuse(&self.name, address, "synchronous modes are not modelled");
            }
            3 => self.format = value,
            4 => self.rate = self.rate & 0x0F00 | u16::from(value),
            5 if value > 0x0F => {
                return context.refuse(&self.name, address, "UBRR has twelve bits");
            }
            6 if value != 0 => {
                return context.refuse(&self.name, address, "flow control by RTS and CTS is not modelled");
            }
            6 => {}
            _ => self.rate = self.rate & 0x00FF | u16::from(value) << 8,
        }
        Ok(())
    }

    fn on_bytes_arrive(&mut self, bytes: &[u8], context: &mut Context<'_, '_>) {
        if self.asleep {
            // Nothing samples the line: the bytes are lost.
            return;
        }
        self.incoming.extend(bytes);
        if self.arrival.is_none() && !self.incoming.is_empty() {
            self.arrival = Some(context.now + self.frame());
        }
    }
}

impl Peripheral for Usart {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 0b111 << self.irq,
            ..Spec::with_ranges(&self.name, self.addresses.iter().map(|&address| address..address + 1))
        }
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let register = self.addresses.iter().position(|&at| at == address).unwrap_or(0);
        let value = match register {
            0 => {
                let byte = self.received.pop_front().unwrap_or_default();
                self.flags &= !DOR;
                self.advance(context);
                byte
            }
            1 => {
                self.flags
                    | if self.received.is_empty() { 0 } else { RXC }
                    | if self.is_empty() { UDRE } else { 0 }
            }
            2 => self.control,
            3 => self.format,
            4 => self.rate as u8,
            6 => 0,
            _ => (self.rate >> 8) as u8,
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
        self.advance(context);
        let register = self.addresses.iter().position(|&at| at == address).unwrap_or(0);
        self.write_register(register, value as u8, address, context)?;
        self.advance(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        (self.sending.is_some() || self.arrival.is_some()).then_some("clkI/O")
    }

    fn due(&self) -> Option<u64> {
        if self.recheck {
            return Some(0);
        }
        let sent = self.sending.map(|(_, end)| end);
        [sent, self.arrival].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.recheck = false;
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InterruptAcknowledged(irq) => {
                if irq == self.irq + 2 {
                    self.flags &= !TXC;
                }
                self.recheck = true;
            }
            Event::Sleep(_) => self.asleep = true,
            Event::Wake => self.asleep = false,
            Event::BytesArrive(bytes) => self.on_bytes_arrive(bytes, context),
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.flags = 0;
        self.control = 0;
        self.format = UCSRC_RESET;
        self.rate = 0;
        self.sending = None;
        self.waiting = None;
        self.incoming.clear();
        self.arrival = None;
        self.received.clear();
        self.recheck = false;
        self.asleep = false;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { serial_port: Some(self), ..Roles::default() }
    }
}

impl SerialPort for Usart {
    fn transmit_end(&self) -> Option<u64> {
        self.sending.map(|(_, end)| end)
    }

    fn is_receiving(&self) -> Option<bool> {
        Some(self.control & RXEN != 0 && !self.asleep)
    }

    fn has_receiver(&self) -> bool {
        true
    }
}
