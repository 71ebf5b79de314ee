//! The I2C interface of the STM32F1 and F4 with 7-bit addresses.
//!
//! RM0090 sections 27.3.2, 27.3.3 and 27.6, RM0008 section 26. A START and a STOP take a period of
//! SCL, a byte with its acknowledgement nine; rise times are not looked at. The board has the
//! devices that answer; an address of none is not acknowledged (AF). It is a [`slave`] of masters
//! outside. Refused with a fault: SMBus, PEC, DMA.

mod slave;

use super::outside::OutsideMaster;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const OAR1: u32 = 0x08;
const OAR2: u32 = 0x0c;
const DR: u32 = 0x10;
const SR1: u32 = 0x14;
const SR2: u32 = 0x18;
const CCR: u32 = 0x1c;
const TRISE: u32 = 0x20;

/// CR1.
const PE: u32 = 1 << 0;
const ENGC: u32 = 1 << 6;
const NOSTRETCH: u32 = 1 << 7;
const START: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
const ACK: u32 = 1 << 10;
const POS: u32 = 1 << 11;
const SWRST: u32 = 1 << 15;
/// SMBUS, SMBTYPE, ENARP, ENPEC, PEC, ALERT.
const CR1_REFUSED: u32 = 0x303a;
/// CR2.
const ITERREN: u32 = 1 << 8;
const ITEVTEN: u32 = 1 << 9;
const ITBUFEN: u32 = 1 << 10;
/// DMAEN, LAST.
const CR2_REFUSED: u32 = 3 << 11;
/// SR1.
const SB: u32 = 1 << 0;
const ADDR: u32 = 1 << 1;
const BTF: u32 = 1 << 2;
const STOPF: u32 = 1 << 4;
const RXNE: u32 = 1 << 6;
const TXE: u32 = 1 << 7;
const AF: u32 = 1 << 10;
/// The flags that are cleared by writing zero.
const ERRORS: u32 = 0xdf00;
/// SR2.
const MSL: u32 = 1 << 0;
const BUSY: u32 = 1 << 1;
const TRA: u32 = 1 << 2;
const GENCALL: u32 = 1 << 4;
const DUALF: u32 = 1 << 7;
/// CCR.
const DUTY: u32 = 1 << 14;
const FAST: u32 = 1 << 15;

/// The state of the bus; a cycle is the one at which an action is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    Starting(u64),
    /// SB waits for the address.
    Started,
    Addressing(u8, u64),
    /// ADDR waits to be cleared.
    Addressed,
    Sending(u8, u64),
    Receiving(u64),
    /// The clock is held: for the next byte, or for a START or STOP.
    Held,
    Stopping(u64),
}

/// The interface.
#[derive(Clone)]
pub struct I2c {
    name: String,
    base: u32,
    irq: Option<u8>,
    error_irq: Option<u8>,
    bus_divider: u64,
    control: [u32; 2],
    own: [u32; 2],
    clock: u32,
    rise: u32,
    status: [u32; 2],
    phase: Phase,
    /// A byte in DR that waits for the shift register.
    waiting: Option<u8>,
    received: u8,
    /// A byte in the shift register that waits for DR.
    shifted: Option<u8>,
    /// The byte that is received is the first after the address: POS is about the second.
    first: bool,
    /// The last byte was acknowledged, so that another follows.
    acknowledged: bool,
    /// SR1 was read: ADDR is cleared by SR2.
    status_read: bool,
    outside: OutsideMaster,
    /// The master outside has addressed it.
    is_addressed: bool,
    /// SR1 was read while STOPF was set: a write of CR1 clears that then.
    stop_read: bool,
}

impl I2c {
    /// The interface at `spec.base`; events interrupt with `spec.irq`, errors with
    /// `settings.error_irq`.
    ///
    /// # Errors
    /// No such interrupt.
    pub fn new(spec: &PeripheralSpec) -> Result<I2c, String> {
        let error_irq = spec.settings.get("error_irq").map(|irq| u8::try_from(*irq)).transpose();
        let error_irq = error_irq.ok().filter(|irq| irq.is_none_or(|irq| irq < 128));
        Ok(I2c {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            error_irq: error_irq.ok_or_else(|| format!("{}: no such error_irq", spec.name))?,
            bus_divider: 1,
            control: [0; 2],
            own: [0; 2],
            clock: 0,
            rise: 2,
            status: [0; 2],
            phase: Phase::Idle,
            waiting: None,
            received: 0,
            shifted: None,
            first: false,
            acknowledged: false,
            status_read: false,
            outside: OutsideMaster::default(),
            is_addressed: false,
            stop_read: false,
        })
    }

    /// Cycles of a period of SCL: CCR's times high and low, in clocks of the bus.
    fn bit(&self) -> u64 {
        let parts = match self.clock & (FAST | DUTY) {
            0 | DUTY => 2,
            FAST => 3,
            _ => 25,
        };
        u64::from(self.clock & 0xfff).max(1) * parts * self.bus_divider
    }

    fn byte(&self) -> u64 {
        9 * self.bit()
    }

    /// Nothing is on its way any more: a START or STOP that was asked for begins.
    fn conclude(&mut self, at: u64) {
        let control = self.control[0];
        if control & STOP != 0 && self.status[1] & MSL != 0 {
            self.phase = Phase::Stopping(at + self.bit());
        } else if control & START != 0 && !self.outside.is_busy() {
            self.phase = Phase::Starting(at + self.bit());
        }
    }

    /// A START or STOP need not wait.
    fn is_free(&self) -> bool {
        matches!(self.phase, Phase::Idle | Phase::Held)
    }

    /// Section 27.3.3, "Master receiver": a byte is there; it is acknowledged as ACK says, with POS
    /// as it will say for the next.
    fn received(&mut self, at: u64, context: &mut Context<'_, '_>) {
        self.acknowledged = self.control[0] & ACK != 0 || self.control[0] & POS != 0 && self.first;
        self.first = false;
        let byte = context.board.two_wire_read(&self.name, self.acknowledged, at);
        self.phase = Phase::Held;
        if self.status[0] & RXNE != 0 {
            self.shifted = Some(byte);
            self.status[0] |= BTF;
        } else {
            self.received = byte;
            self.status[0] |= RXNE;
            if self.acknowledged && self.control[0] & (START | STOP) == 0 {
                self.phase = Phase::Receiving(at + self.byte());
            }
        }
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        self.advance_slave(context);
        while let Some(at) = self.phase_end().filter(|at| *at <= context.now) {
            match self.phase {
                Phase::Starting(_) => {
                    self.control[0] &= !START;
                    self.status = [self.status[0] & ERRORS | SB, MSL | BUSY];
                    (self.waiting, self.shifted) = (None, None);
                    self.phase = Phase::Started;
                }
                Phase::Addressing(byte, _) => {
                    let read = byte & 1 == 1;
                    if context.board.two_wire_address(&self.name, byte >> 1, read, at) {
                        self.status[0] |= ADDR;
                        self.status[1] |= if read { 0 } else { TRA };
                        self.phase = Phase::Addressed;
                    } else {
                        self.status[0] |= AF;
                        self.phase = Phase::Held;
                    }
                }
                Phase::Sending(byte, _) => {
                    let acknowledged = context.board.two_wire_write(&self.name, byte, at);
                    self.phase = Phase::Held;
                    match self.waiting.filter(|_| acknowledged) {
                        Some(next) => {
                            self.waiting = None;
                            self.status[0] |= TXE;
                            self.phase = Phase::Sending(next, at + self.byte());
                        }
                        None => self.status[0] |= if acknowledged { BTF } else { AF },
                    }
                }
                Phase::Receiving(_) => self.received(at, context),
                Phase::Stopping(_) => {
                    context.board.two_wire_stop(&self.name, at);
                    self.control[0] &= !STOP;
                    self.status[0] &= ERRORS | RXNE | if self.shifted.is_some() { BTF } else { 0 };
                    self.status[1] = 0;
                    self.phase = Phase::Idle;
                }
                Phase::Idle | Phase::Started | Phase::Addressed | Phase::Held => {}
            }
            if self.is_free() {
                self.conclude(at);
            }
        }
        self.begin_slave(context.now, context);
        self.signal(context);
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        let (flags, enables) = (self.status[0], self.control[1]);
        let buffer = if enables & ITBUFEN != 0 { TXE | RXNE } else { 0 };
        let event = enables & ITEVTEN != 0 && flags & (SB | ADDR | BTF | STOPF | buffer) != 0;
        let error = enables & ITERREN != 0 && flags & ERRORS != 0;
        for (irq, wanted) in [(self.irq, event), (self.error_irq, error)] {
            match irq {
                Some(irq) if wanted => context.request(irq),
                Some(irq) => context.withdraw(irq),
                None => {}
            }
        }
    }

    fn write_control(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        if value & CR1_REFUSED != 0 {
            return Err("SMBus and PEC are not modelled");
        }
        if value & SWRST != 0 {
            self.reset_registers();
            self.outside.abandon(context.now);
            self.control[0] = SWRST;
            return Ok(());
        }
        if value & STOP != 0 && self.is_addressed {
            return Err("a STOP that lets go of the lines as a slave (CR1) is not modelled");
        }
        if std::mem::take(&mut self.stop_read) {
            self.status[0] &= !STOPF;
        }
        self.control[0] = value;
        if value & PE == 0 {
            // The bus is let go of, and the flags are cleared.
            if self.status[1] & MSL != 0 {
                context.board.two_wire_stop(&self.name, context.now);
            }
            self.control[0] &= !(START | STOP);
            self.status = [0; 2];
            self.phase = Phase::Idle;
            self.waiting = None;
            self.shifted = None;
            self.is_addressed = false;
            self.outside.abandon(context.now);
        } else if self.is_free() {
            self.conclude(context.now);
        }
        Ok(())
    }

    /// ADDR is cleared: data follow.
    fn begin_data(&mut self, now: u64) {
        self.status[0] &= !ADDR;
        self.phase = Phase::Held;
        if self.status[1] & TRA != 0 {
            self.status[0] |= TXE;
            self.conclude(now);
        } else {
            self.first = true;
            self.phase = Phase::Receiving(now + self.byte());
        }
    }

    fn read_data(&mut self, now: u64) -> u32 {
        let byte = self.received;
        match self.shifted.take() {
            Some(next) => {
                self.received = next;
                self.status[0] &= !BTF;
                if self.is_addressed {
                    self.outside.release(now);
                }
                let goes_on = self.phase == Phase::Held && self.acknowledged;
                if goes_on && self.control[0] & (START | STOP) == 0 {
                    self.phase = Phase::Receiving(now + self.byte());
                }
            }
            None => self.status[0] &= !RXNE,
        }
        byte.into()
    }

    fn write_data(&mut self, byte: u8, now: u64) {
        match self.phase {
            _ if self.is_addressed => self.write_slave(byte, now),
            Phase::Started => {
                self.status[0] &= !SB;
                self.phase = Phase::Addressing(byte, now + self.byte());
            }
            Phase::Held if self.status[1] & TRA != 0 && self.status[0] & AF == 0 => {
                self.status[0] &= !BTF;
                self.phase = Phase::Sending(byte, now + self.byte());
            }
            Phase::Sending(..) => {
                self.waiting = Some(byte);
                self.status[0] &= !TXE;
            }
            _ => {}
        }
    }

    fn reset_registers(&mut self) {
        self.control = [0; 2];
        self.own = [0; 2];
        self.clock = 0;
        self.rise = 2;
        self.status = [0; 2];
        self.phase = Phase::Idle;
        self.waiting = None;
        self.received = 0;
        self.shifted = None;
        self.first = false;
        self.acknowledged = false;
        self.status_read = false;
        self.is_addressed = false;
        self.stop_read = false;
    }

    /// The end of what it does as a master.
    fn phase_end(&self) -> Option<u64> {
        match self.phase {
            Phase::Starting(at)
            | Phase::Addressing(_, at)
            | Phase::Sending(_, at)
            | Phase::Receiving(at)
            | Phase::Stopping(at) => Some(at),
            Phase::Idle | Phase::Started | Phase::Addressed | Phase::Held => None,
        }
    }
}

impl Peripheral for I2c {
    fn spec(&self) -> Spec {
        Spec { follows_inputs: true, ..Spec::new(&self.name, self.base..self.base + 0x400) }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let offset = address - self.base;
        let word = match offset & !3 {
            CR1 => self.control[0],
            CR2 => self.control[1],
            OAR1 => self.own[0],
            OAR2 => self.own[1],
            DR => self.read_data(context.now),
            SR1 => {
                self.status_read = true;
                self.stop_read |= self.status[0] & STOPF != 0;
                self.status[0]
            }
            SR2 => {
                let word = self.status[1];
                if std::mem::take(&mut self.status_read) {
                    if self.phase == Phase::Addressed {
                        self.begin_data(context.now);
                    } else if self.is_addressed {
                        self.begin_slave_data(context.now);
                    }
                }
                word
            }
            CCR => self.clock,
            TRISE => self.rise,
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
        self.advance(context);
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value) & 0xffff;
        match offset & !3 {
            CR1 => {
                let value = merge(self.control[0]);
                self.write_control(value, context)
                    .map_err(|what| context.fault(&self.name, address, what))?;
            }
            CR2 if merge(self.control[1]) & CR2_REFUSED != 0 => {
                return context.refuse(&self.name, address, "DMA is not modelled");
            }
            CR2 => self.control[1] = merge(self.control[1]),
            OAR1 => self.own[0] = merge(self.own[0]),
            OAR2 => self.own[1] = merge(self.own[1]),
            DR => self.write_data(merge(0) as u8, context.now),
            SR1 => self.status[0] &= merge(self.status[0]) | !ERRORS,
            SR2 => {}
            CCR => self.clock = merge(self.clock),
            TRISE => self.rise = merge(self.rise),
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        [self.phase_end(), self.outside.due()].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::InputsChanged) {
            self.begin_slave(context.now, context);
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Buses { apb1, apb2 } = update {
            self.bus_divider = crate::peripherals::st::bus::divider(self.base, apb1, apb2);
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.outside.delay(cycles);
        match &mut self.phase {
            Phase::Starting(at)
            | Phase::Addressing(_, at)
            | Phase::Sending(_, at)
            | Phase::Receiving(at)
            | Phase::Stopping(at) => *at += cycles,
            Phase::Idle | Phase::Started | Phase::Addressed | Phase::Held => {}
        }
    }

    fn reset(&mut self) {
        self.bus_divider = 1;
        self.outside = OutsideMaster::default();
        self.reset_registers();
    }
}
