//! The I2C interface of the STM32F0, F7 and L4 with 7-bit addresses.
//!
//! RM0091 section 26, RM0410 section 33, RM0432 section 43. TIMINGR gives the period of SCL in
//! clocks of the interface's own clock: SCLL and SCLH, and two clocks with the digital filter's for
//! each edge (tSYNC1, tSYNC2; the analogue filter and the lines' rise and fall are left out). A
//! START and a STOP take a period, a byte with its acknowledgement nine. Who answers is on the
//! board; where none is, an address is not acknowledged. It is a [`slave`] of masters outside.
//! Refused with a fault: DMA where the part's file leads no request there, 10-bit addresses, SMBus,
//! PEC, time-outs, waking up from stop mode.

mod slave;

use super::outside::OutsideMaster;
use crate::peripherals::register::{merged_word, part_of_word};
use crate::peripherals::st::bus::divider;
use crate::{ClockUpdate, Context, Event, Fault, Peripheral, PeripheralSpec, Spec, TransferRequest};

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const OAR1: u32 = 0x08;
const OAR2: u32 = 0x0c;
const TIMINGR: u32 = 0x10;
const TIMEOUTR: u32 = 0x14;
const ISR: u32 = 0x18;
const ICR: u32 = 0x1c;
const PECR: u32 = 0x20;
const RXDR: u32 = 0x24;
const TXDR: u32 = 0x28;

/// CR1. The interrupts' enables of TXIS, RXNE, ADDR, NACKF and STOPF are at the places of their
/// flags.
const PE: u32 = 1 << 0;
const TCIE: u32 = 1 << 6;
const NOSTRETCH: u32 = 1 << 17;
const GCEN: u32 = 1 << 19;
const TXDMAEN: u32 = 1 << 14;
const RXDMAEN: u32 = 1 << 15;
/// SBC, WUPEN, SMBHEN, SMBDEN, ALERTEN, PECEN.
const CR1_REFUSED: u32 = 1 << 16 | 1 << 18 | 0xf << 20;
/// CR2.
const RD_WRN: u32 = 1 << 10;
const ADD10: u32 = 1 << 11;
const START: u32 = 1 << 13;
const STOP: u32 = 1 << 14;
const NACK: u32 = 1 << 15;
const RELOAD: u32 = 1 << 24;
const AUTOEND: u32 = 1 << 25;
const PECBYTE: u32 = 1 << 26;
/// ISR.
const TXE: u32 = 1 << 0;
const TXIS: u32 = 1 << 1;
const RXNE: u32 = 1 << 2;
const ADDR: u32 = 1 << 3;
const NACKF: u32 = 1 << 4;
const STOPF: u32 = 1 << 5;
const TC: u32 = 1 << 6;
const TCR: u32 = 1 << 7;
const BUSY: u32 = 1 << 15;
const DIR: u32 = 1 << 16;
const ADDCODE: u32 = 17;
/// The flags that ICR clears.
const CLEARED: u32 = 0x3f38;

/// The state of the bus; a cycle is the one at which an action is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Idle,
    /// START and the address with its acknowledgement.
    Addressing(u64),
    Sending(u8, u64),
    Receiving(u64),
    /// SCL is held low: for data, or for what comes after all bytes.
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
    /// Index of its clock in [`crate::Events::generic_clocks_hz`]; none for that of its bus.
    clock: Option<usize>,
    clock_hz: u64,
    core_hz: u64,
    bus_divider: u64,
    control: [u32; 2],
    own: [u32; 2],
    timing: u32,
    status: u32,
    phase: Phase,
    /// Bytes of NBYTES that are left.
    left: u32,
    /// The byte in TXDR that waits.
    waiting: Option<u8>,
    received: u8,
    /// A byte that was received and finds RXDR full.
    shifted: Option<u8>,
    requests: [TransferRequest; 2],
    outside: OutsideMaster,
    /// The master outside has addressed it.
    is_addressed: bool,
}

impl I2c {
    /// The interface at `spec.base`; events interrupt with `spec.irq`, errors with
    /// `settings.error_irq` or that, too; `settings.clock` is the number of its clock, where that
    /// can be another than the bus's.
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
            clock: spec.settings.get("clock").and_then(|clock| usize::try_from(*clock).ok()),
            clock_hz: 0,
            core_hz: 1,
            bus_divider: 1,
            control: [0; 2],
            own: [0; 2],
            timing: 0,
            status: TXE,
            phase: Phase::Idle,
            left: 0,
            waiting: None,
            received: 0,
            shifted: None,
            requests: [TransferRequest::new(spec, "tx_dma")?, TransferRequest::new(spec, "rx_dma")?],
            outside: OutsideMaster::default(),
            is_addressed: false,
        })
    }

    /// Cycles of a period of SCL: "I2C initialization", tSCL.
    fn bit(&self) -> u64 {
        let field = |shift: u32, mask: u32| u64::from(self.timing >> shift & mask);
        let filter = u64::from(self.control[0] >> 8 & 15);
        let clocks = (field(28, 15) + 1) * (field(0, 255) + field(8, 255) + 2) + 2 * (2 + filter);
        match self.clock {
            Some(_) if self.clock_hz != 0 => {
                let cycles = u128::from(clocks) * u128::from(self.core_hz);
                u64::try_from(cycles.div_ceil(u128::from(self.clock_hz))).unwrap_or(u64::MAX)
            }
            _ => clocks * self.bus_divider,
        }
    }

    fn reads(&self) -> bool {
        self.control[1] & RD_WRN != 0
    }

    /// All of NBYTES are done, or the address: what comes next.
    fn conclude(&mut self, at: u64) {
        self.phase = Phase::Held;
        if self.control[1] & RELOAD != 0 {
            self.status |= TCR;
        } else if self.control[1] & AUTOEND != 0 {
            self.phase = Phase::Stopping(at + self.bit());
        } else {
            self.status |= TC;
            self.ask(at);
        }
    }

    /// A START or STOP that was asked for begins, where the bus can have it.
    fn ask(&mut self, at: u64) {
        let control = self.control[1];
        let idle = self.phase == Phase::Idle && !self.outside.is_busy();
        let free = idle || self.phase == Phase::Held && self.status & TC != 0;
        if control & START != 0 && free {
            self.status = self.status & !(TC | TCR) | BUSY;
            self.left = control >> 16 & 0xff;
            self.phase = Phase::Addressing(at + 10 * self.bit());
        } else if control & STOP != 0 && self.phase == Phase::Held {
            self.phase = Phase::Stopping(at + self.bit());
        }
    }

    /// The next byte of a transfer, or what comes after the last.
    fn next(&mut self, at: u64) {
        self.phase = Phase::Held;
        if self.left == 0 {
            self.conclude(at);
        } else if self.control[1] & STOP != 0 && !self.reads() {
            self.phase = Phase::Stopping(at + self.bit());
        } else if self.reads() {
            if self.shifted.is_none() {
                self.phase = Phase::Receiving(at + 9 * self.bit());
            }
        } else if let Some(byte) = self.waiting.take() {
            self.phase = Phase::Sending(byte, at + 9 * self.bit());
            self.left -= 1;
            self.status |= TXE | if self.left > 0 { TXIS } else { 0 };
        } else {
            self.status |= TXE | TXIS;
        }
    }

    fn addressed(&mut self, at: u64, context: &mut Context<'_, '_>) {
        self.control[1] &= !START;
        let address = (self.control[1] >> 1 & 0x7f) as u8;
        if context.board.two_wire_address(&self.name, address, self.reads(), at) {
            self.next(at);
        } else {
            self.not_acknowledged(at);
        }
    }

    /// "The STOP is sent automatically" after a byte that is not acknowledged; TXDR is flushed.
    fn not_acknowledged(&mut self, at: u64) {
        self.status = self.status & !TXIS | NACKF | TXE;
        self.waiting = None;
        self.phase = Phase::Stopping(at + self.bit());
    }

    fn received(&mut self, at: u64, context: &mut Context<'_, '_>) {
        self.left -= 1;
        // The last is not acknowledged, unless others follow by RELOAD.
        let ends = self.left == 0 && self.control[1] & RELOAD == 0 || self.control[1] & STOP != 0;
        let byte = context.board.two_wire_read(&self.name, !ends, at);
        if self.status & RXNE == 0 {
            self.received = byte;
            self.status |= RXNE;
        } else {
            self.shifted = Some(byte);
        }
        if ends && self.left > 0 {
            self.phase = Phase::Stopping(at + self.bit());
        } else {
            self.next(at);
        }
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        self.advance_slave(context);
        while let Some(at) = self.phase_end().filter(|at| *at <= context.now) {
            match self.phase {
                Phase::Addressing(_) => self.addressed(at, context),
                Phase::Sending(byte, _) => {
                    if context.board.two_wire_write(&self.name, byte, at) {
                        self.next(at);
                    } else {
                        self.not_acknowledged(at);
                    }
                }
                Phase::Receiving(_) => self.received(at, context),
                Phase::Stopping(_) => {
                    context.board.two_wire_stop(&self.name, at);
                    self.control[1] &= !(STOP | NACK);
                    self.status = self.status & !(BUSY | TC | TCR | TXIS) | STOPF;
                    self.phase = Phase::Idle;
                    self.ask(at);
                }
                Phase::Idle | Phase::Held => {}
            }
        }
        self.begin_slave(context.now, context);
        self.signal(context);
    }

    fn signal(&mut self, context: &mut Context<'_, '_>) {
        let (flags, enables) = (self.status, self.control[0]);
        let complete = enables & TCIE != 0 && flags & (TC | TCR) != 0;
        let event = complete || flags & enables & (TXIS | RXNE | ADDR | NACKF | STOPF) != 0;
        // None of the errors comes about; where both are one interrupt, it is the events'.
        let errors = self.error_irq.filter(|irq| Some(*irq) != self.irq);
        for (irq, wanted) in [(self.irq, event), (errors, false)] {
            match irq {
                Some(irq) if wanted => context.request(irq),
                Some(irq) => context.withdraw(irq),
                None => {}
            }
        }
        let wanted = [(TXDMAEN, TXIS), (RXDMAEN, RXNE)];
        for (request, (enable, flag)) in self.requests.iter_mut().zip(wanted) {
            request.set(enables & enable != 0 && flags & flag != 0, context.now, context);
        }
    }

    fn write_control(&mut self, value: u32, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        if value & CR1_REFUSED != 0 {
            return Err("SMBus, PEC, slave byte control and waking up from stop mode are not modelled");
        }
        let nowhere =
            |enable: u32, request: usize| value & enable != 0 && self.requests[request].lines() == 0;
        if nowhere(TXDMAEN, 0) || nowhere(RXDMAEN, 1) {
            return Err("a request of DMA that leads nowhere on this part");
        }
        self.control[0] = value;
        if value & PE == 0 {
            // The lines are let go of, and the flags are as after a reset.
            if self.status & BUSY != 0 {
                context.board.two_wire_stop(&self.name, context.now);
            }
            self.control[1] &= !(START | STOP | NACK);
            self.status = TXE;
            self.phase = Phase::Idle;
            (self.waiting, self.shifted) = (None, None);
            self.is_addressed = false;
            self.outside.abandon(context.now);
        }
        Ok(())
    }

    fn write_transfer(&mut self, value: u32, now: u64) -> Result<(), &'static str> {
        if value & (ADD10 | PECBYTE) != 0 {
            return Err("10-bit addresses and PEC are not modelled");
        }
        if self.control[0] & PE == 0 {
            self.control[1] = value & !(START | STOP | NACK);
            return Ok(());
        }
        // What was asked for stays asked for.
        self.control[1] = value & 0x03ff_ffff | self.control[1] & (START | STOP | NACK);
        if self.status & TCR != 0 && value >> 16 & 0xff != 0 {
            self.status &= !TCR;
            self.left = value >> 16 & 0xff;
            self.next(now);
        }
        self.ask(now);
        if self.control[1] & STOP != 0 && self.phase == Phase::Idle {
            self.control[1] &= !STOP;
        }
        Ok(())
    }

    fn read_data(&mut self, now: u64) -> u32 {
        let byte = self.received;
        match self.shifted.take() {
            Some(next) => {
                self.received = next;
                // SCL was held until there is room.
                if self.is_addressed {
                    self.outside.release(now);
                }
                if self.phase == Phase::Held && self.left > 0 {
                    self.next(now);
                }
            }
            None => self.status &= !RXNE,
        }
        byte.into()
    }

    fn write_data(&mut self, byte: u8, now: u64) {
        self.waiting = Some(byte);
        self.status &= !(TXE | TXIS);
        if self.is_addressed {
            self.send_slave(now);
        }
        if self.phase == Phase::Held && self.left > 0 && !self.reads() {
            self.next(now);
        }
    }

    /// The end of what it does as a master.
    fn phase_end(&self) -> Option<u64> {
        match self.phase {
            Phase::Addressing(at) | Phase::Sending(_, at) | Phase::Receiving(at) | Phase::Stopping(at) => {
                Some(at)
            }
            Phase::Idle | Phase::Held => None,
        }
    }
}

impl Peripheral for I2c {
    fn spec(&self) -> Spec {
        Spec {
            dma_lines: self.requests.iter().fold(0, |lines, request| lines | request.lines()),
            follows_inputs: true,
            ..Spec::new(&self.name, self.base..self.base + 0x400)
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let offset = address - self.base;
        let word = match offset & !3 {
            CR1 => self.control[0],
            CR2 => self.control[1],
            OAR1 => self.own[0],
            OAR2 => self.own[1],
            TIMINGR => self.timing,
            ISR => self.status,
            TIMEOUTR | ICR | PECR => 0,
            RXDR => self.read_data(context.now),
            TXDR => self.waiting.unwrap_or(0).into(),
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
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            CR1 => {
                let value = merge(self.control[0]);
                self.write_control(value, context)
                    .map_err(|what| context.fault(&self.name, address, what))?;
            }
            CR2 => {
                let value = merge(self.control[1]);
                let written = self.write_transfer(value, context.now);
                written.map_err(|what| context.fault(&self.name, address, what))?;
            }
            OAR1 => self.own[0] = merge(self.own[0]) & 0x87ff,
            OAR2 => self.own[1] = merge(self.own[1]) & 0x87fe,
            TIMINGR => self.timing = merge(self.timing) & 0xf0ff_ffff,
            TIMEOUTR if merge(0) != 0 => {
                return context.refuse(&self.name, address, "time-outs are not modelled");
            }
            // A one in TXE flushes TXDR.
            ISR if merge(0) & TXE != 0 && self.status & TXIS == 0 => {
                self.waiting = None;
                self.status |= TXE;
            }
            ICR => {
                let was_addressed = self.status & ADDR != 0;
                self.status &= !(merge(0) & CLEARED);
                if was_addressed && self.status & ADDR == 0 {
                    self.begin_slave_data(context.now);
                }
            }
            TXDR => self.write_data(merge(0) as u8, context.now),
            ISR | TIMEOUTR | PECR | RXDR => {}
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
        match event {
            Event::ControlsChanged => {
                let clocks = &context.events.generic_clocks_hz;
                self.clock_hz = self.clock.and_then(|clock| clocks.get(clock)).copied().unwrap_or(0);
            }
            Event::InputsChanged => self.begin_slave(context.now, context),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => self.core_hz = clock_hz,
            ClockUpdate::Buses { apb1, apb2 } => self.bus_divider = divider(self.base, apb1, apb2),
            _ => {}
        }
    }

    fn delay(&mut self, cycles: u64) {
        self.outside.delay(cycles);
        match &mut self.phase {
            Phase::Addressing(at) | Phase::Sending(_, at) | Phase::Receiving(at) | Phase::Stopping(at) => {
                *at += cycles;
            }
            Phase::Idle | Phase::Held => {}
        }
    }

    fn reset(&mut self) {
        self.requests.iter_mut().for_each(TransferRequest::reset);
        self.clock_hz = 0;
        self.bus_divider = 1;
        self.control = [0; 2];
        self.own = [0; 2];
        self.timing = 0;
        self.status = TXE;
        self.phase = Phase::Idle;
        self.left = 0;
        self.waiting = None;
        self.received = 0;
        self.shifted = None;
        self.outside = OutsideMaster::default();
        self.is_addressed = false;
    }
}
