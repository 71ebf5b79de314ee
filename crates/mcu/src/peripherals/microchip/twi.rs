//! The two-wire serial interface of an ATmega as a master: TWBR, TWSR, TWAR, TWDR, TWCR, TWAMR.
//!
//! ATmega328P data sheet DS40002061, chapter 22; ATmega128 data sheet 2467, "Two-wire Serial
//! Interface". A bit takes 16 + 2 TWBR 4^TWPS cycles (22.5.2), a byte with its acknowledgement nine
//! bits; START and STOP, of which the data sheet does not say how long they take, are taken as a
//! bit each. The lines are pulled up, and no other master is on them: what answers is on the board
//! ([`crate::TwoWireDevice`]), and without that each address is not acknowledged. As a slave it
//! waits for ever.

use crate::{Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};

/// TWCR.
const TWINT: u8 = 0x80;
const TWEA: u8 = 0x40;
const TWSTA: u8 = 0x20;
const TWSTO: u8 = 0x10;
const TWWC: u8 = 0x08;
const TWEN: u8 = 0x04;
const TWIE: u8 = 0x01;
/// The program's settings.
const CONTROL: u8 = TWEA | TWSTA | TWSTO | TWEN | TWIE;
/// TWSR: the prescaler.
const TWPS: u8 = 0x03;

/// Status codes: tables 22-2, 22-3, 22-6.
const START: u8 = 0x08;
const REPEATED_START: u8 = 0x10;
const SLA_W_ACK: u8 = 0x18;
const SLA_W_NACK: u8 = 0x20;
const WRITTEN_ACK: u8 = 0x28;
const WRITTEN_NACK: u8 = 0x30;
const SLA_R_ACK: u8 = 0x40;
const SLA_R_NACK: u8 = 0x48;
const READ_ACK: u8 = 0x50;
const READ_NACK: u8 = 0x58;
const NOTHING: u8 = 0xF8;

/// Bits of a byte with its acknowledgement.
const BYTE_BITS: u64 = 9;

/// The state of the bus.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Action {
    Start,
    Stop,
    Address,
    Write,
    Read,
}

/// The interface.
#[derive(Clone)]
pub struct Twi {
    name: String,
    base: u32,
    irq: u8,
    has_mask: bool,
    bit_rate: u8,
    prescaler: u8,
    status: u8,
    own_address: u8,
    own_mask: u8,
    data: u8,
    control: u8,
    /// TWINT and TWWC.
    flags: u8,
    /// Between START and STOP.
    owns_bus: bool,
    /// The action under way, and the cycle at which it is done.
    action: Option<(Action, u64)>,
    /// The interrupt was taken, which leaves TWINT set: it is to be requested again.
    taken: bool,
}

impl Twi {
    /// TWBR at `spec.base`, the others behind it; `spec.irq` is its vector. Setting `mask` = 1:
    /// there is TWAMR.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Twi, String> {
        Ok(Twi {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.ok_or_else(|| format!("{}: {} needs irq", part.name, spec.name))?,
            has_mask: spec.settings.get("mask") == Some(&1),
            bit_rate: 0,
            prescaler: 0,
            status: NOTHING,
            own_address: 0xFE,
            own_mask: 0,
            data: 0xFF,
            control: 0,
            flags: 0,
            owns_bus: false,
            action: None,
            taken: false,
        })
    }

    /// Cycles of a bit: 22.5.2.
    fn bit_cycles(&self) -> u64 {
        16 + (u64::from(self.bit_rate) << (1 + 2 * self.prescaler))
    }

    fn begin(&mut self, action: Action, now: u64) {
        let bits = if matches!(action, Action::Start | Action::Stop) { 1 } else { BYTE_BITS };
        self.action = Some((action, now + bits * self.bit_cycles()));
    }

    /// TWCR is written; says what is not possible.
    fn control(&mut self, value: u8, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        let now = context.now + 1;
        self.control = value & CONTROL | self.control & TWSTO;
        if value & TWEN == 0 {
            // "All TWI transmissions are terminated, regardless of any ongoing operation".
            if std::mem::take(&mut self.owns_bus) {
                context.board.two_wire_stop(&self.name, now);
            }
            self.action = None;
            self.status = NOTHING;
            self.control &= !TWSTO;
            self.flags &= !(value & TWINT);
            return Ok(());
        }
        self.flags &= !(value & TWINT);
        if self.flags & TWINT != 0 || self.action.is_some() {
            return Ok(());
        }
        self.proceed(now)
    }

    /// TWINT is clear and nothing is under way: what comes next.
    fn proceed(&mut self, now: u64) -> Result<(), &'static str> {
        if !self.owns_bus {
            // "In slave mode" a STOP "will not generate a STOP condition" (22.9.2).
            self.control &= !TWSTO;
            if self.control & TWSTA != 0 {
                self.begin(Action::Start, now);
            }
            return Ok(());
        }
        let next = match self.status {
            _ if self.control & TWSTO != 0 => Action::Stop,
            _ if self.control & TWSTA != 0 => Action::Start,
            START | REPEATED_START => Action::Address,
            SLA_W_ACK | SLA_W_NACK | WRITTEN_ACK | WRITTEN_NACK => Action::Write,
            SLA_R_ACK | READ_ACK => Action::Read,
            _ => return Err("neither START nor STOP follows a NACK to a receiver (table 22-3)"),
        };
        self.begin(next, now);
        Ok(())
    }

    /// Ends the action that was under way.
    fn finish(&mut self, action: Action, at: u64, context: &mut Context<'_, '_>) {
        let board = &mut *context.board;
        match action {
            Action::Start => {
                self.status = if self.owns_bus { REPEATED_START } else { START };
                self.owns_bus = true;
            }
            Action::Stop => {
                board.two_wire_stop(&self.name, at);
                self.owns_bus = false;
                self.control &= !TWSTO;
                self.status = NOTHING;
                if self.control & TWSTA != 0 {
                    self.begin(Action::Start, at);
                }
                return;
            }
            Action::Address => {
                let read = self.data & 1 == 1;
                let answers = board.two_wire_address(&self.name, self.data >> 1, read, at);
                self.status = match (read, answers) {
                    (false, true) => SLA_W_ACK,
                    (false, false) => SLA_W_NACK,
                    (true, true) => SLA_R_ACK,
                    (true, false) => SLA_R_NACK,
                };
            }
            Action::Write => {
                let answers = board.two_wire_write(&self.name, self.data, at);
                self.status = if answers { WRITTEN_ACK } else { WRITTEN_NACK };
            }
            Action::Read => {
                let acknowledged = self.control & TWEA != 0;
                self.data = board.two_wire_read(&self.name, acknowledged, at);
                self.status = if acknowledged { READ_ACK } else { READ_NACK };
            }
        }
        self.flags |= TWINT;
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.flags & TWINT != 0 && self.control & TWIE != 0 && self.control & TWEN != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }
}

impl Peripheral for Twi {
    fn spec(&self) -> Spec {
        let registers = if self.has_mask { 6 } else { 5 };
        Spec { interrupts: 1 << self.irq, ..Spec::new(&self.name, self.base..self.base + registers) }
    }

    fn read(&mut self, address: u32, _size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        Ok(match address - self.base {
            0 => self.bit_rate,
            1 => self.status | self.prescaler,
            2 => self.own_address,
            3 => self.data,
            4 => self.control | self.flags,
            _ => self.own_mask,
        }
        .into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = value as u8;
        match address - self.base {
            0 | 1 if self.action.is_some() => {
                return context.refuse(&self.name, address, "the bit rate is changed while the bus is busy");
            }
            0 => self.bit_rate = value,
            1 => self.prescaler = value & TWPS,
            2 => self.own_address = value,
            3 if self.flags & TWINT == 0 => self.flags |= TWWC,
            3 => {
                self.flags &= !TWWC;
                self.data = value;
            }
            4 => {
                if let Err(what) = self.control(value, context) {
                    return context.refuse(&self.name, address, what);
                }
            }
            _ => self.own_mask = value & 0xFE,
        }
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        self.action.map(|_| "clkI/O")
    }

    fn due(&self) -> Option<u64> {
        if self.taken { Some(0) } else { self.action.map(|(_, end)| end) }
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.taken = false;
        if let Some((action, end)) = self.action.filter(|(_, end)| *end <= context.now) {
            self.action = None;
            self.finish(action, end, context);
        }
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, _context: &mut Context<'_, '_>) {
        if matches!(event, Event::InterruptAcknowledged(_)) {
            self.taken = true;
        }
    }

    fn reset(&mut self) {
        self.bit_rate = 0;
        self.prescaler = 0;
        self.status = NOTHING;
        self.own_address = 0xFE;
        self.own_mask = 0;
        self.data = 0xFF;
        self.control = 0;
        self.flags = 0;
        self.owns_bus = false;
        self.action = None;
        self.taken = false;
    }
}
