//! Serial interfaces as UART, as SPI master and as I2C master.
//!
//! They are USCI_A and USCI_B in the MSP430F5xx, eUSCI_A and eUSCI_B in the MSP430FR5xx.
//!
//! Source: SLAU208, chapters "Universal Serial Communication Interface", and SLAU367, chapters
//! "Enhanced Universal Serial Communication Interface". UART: eight data bits without parity, least
//! significant first; bytes written are told to the observer when complete, and what arrives is as
//! the board gives it, without errors but an overrun, or the transmitter's with UCLISTEN. SPI:
//! three-pin master, eight bits, the most significant first, any polarity and phase; a byte takes
//! eight bit clocks of BRCLK / UCBRx, and what comes in is from the chip on the board that is
//! selected, ones if none is. I2C: the only master on the bus, addresses of seven bits. Other modes
//! are refused with a fault when UCSWRST is cleared.

mod i2c;
mod registers;
mod uart;

pub use registers::Block;

use super::clocks::{Clocks, Source};
use super::dma::Trigger;
use super::word::{Word, part_of};
use crate::{
    ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Roles, SerialPort, Spec, SpiClock,
};
use i2c::Master;
use registers::{
    CONTROL1_OTHERS, CTL0, CTL1_MODES, Register, UART_MODES, UCBUSY, UCCKPH, UCCKPL, UCLISTEN, UCMODE,
    UCMODE_3, UCMSB, UCMST, UCOE, UCRXERR, UCRXIFG, UCSPB, UCSSEL, UCSWRST, UCSYNC, UCTXCPTIFG, UCTXIFG,
    UCTXNACK,
};
use uart::Receiver;

/// Mode that UCxCTLW0 gives to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Uart,
    Spi,
    I2c,
}

/// A serial interface.
#[derive(Clone)]
pub struct Usci {
    name: String,
    block: Block,
    base: u32,
    irq: u8,
    clocks: Clocks,
    control: u32,
    control1: u32,
    prescaler: u32,
    modulation: u32,
    status: u32,
    threshold: u32,
    own: [u32; 5],
    slave: u32,
    received: u32,
    sent: u32,
    enables: u32,
    flags: u32,
    /// UART and SPI: the byte being sent, and the cycle at which it is complete.
    shifting: Option<(u8, u64)>,
    /// A byte waiting in UCxTXBUF.
    waiting: Option<u8>,
    receiver: Receiver,
    master: Master,
    /// Message of the selected chip about a byte that it did not understand, until the program
    /// looks.
    refused: Option<String>,
    /// The interrupt was served with a flag still set: request it again.
    served: bool,
    /// UCRXIFG and UCTXIFG as triggers of the DMA controller.
    triggers: [Trigger; 2],
}

impl Usci {
    /// The interface with its registers from `spec.base` on; `spec.irq` is its vector. Settings:
    /// `dma_rx_#` and `dma_tx_#`, the triggers of the DMA controller that it makes ([`Trigger`]).
    ///
    /// # Errors
    /// A trigger that does not exist.
    pub fn new(part: &Part, spec: &PeripheralSpec, block: Block) -> Result<Usci, String> {
        let mut usci = Usci {
            name: spec.name.clone(),
            block,
            base: spec.base,
            irq: spec.irq.unwrap_or(0),
            clocks: Clocks::new(part),
            control: 0,
            control1: 0,
            prescaler: 0,
            modulation: 0,
            status: 0,
            threshold: 0,
            own: [0; 5],
            slave: 0,
            received: 0,
            sent: 0,
            enables: 0,
            flags: 0,
            shifting: None,
            waiting: None,
            receiver: Receiver::default(),
            master: Master::default(),
            refused: None,
            served: false,
            triggers: [Trigger::new(spec, "dma_rx")?, Trigger::new(spec, "dma_tx")?],
        };
        usci.reset();
        Ok(usci)
    }

    fn mode(&self) -> Mode {
        match (self.block.is_b(), self.control & (UCSYNC | UCMODE)) {
            (true, bits) if bits & UCMODE == UCMODE_3 => Mode::I2c,
            (false, bits) if bits & UCSYNC == 0 => Mode::Uart,
            _ => Mode::Spi,
        }
    }

    fn held(&self) -> bool {
        self.control & UCSWRST != 0
    }

    /// BRCLK.
    fn source(&self) -> Source {
        if self.control >> UCSSEL & 3 == 1 { Source::Aclk } else { Source::Smclk }
    }

    /// The cycle that is `clocks` clocks of BRCLK after `now`.
    fn after(&self, clocks: u64, now: u64) -> u64 {
        self.clocks.after(self.source(), clocks, now)
    }

    /// The clocks become others at cycle `now`: what is under way goes on with as many of them.
    fn change_clocks(&mut self, change: impl FnOnce(&mut Clocks), now: u64) {
        let (before, source) = (self.clocks, self.source());
        change(&mut self.clocks);
        let clocks = self.clocks;
        let ends = self.shifting.iter_mut().map(|(_, end)| end).chain(self.master.end_mut());
        let ends = ends.chain(self.receiver.ends_mut());
        ends.for_each(|end| *end = clocks.moved(&before, source, *end, now));
    }

    /// "fBitClock = fBRCLK / UCBRx. If UCBRx = 0, fBitClock = fBRCLK."
    fn divider(&self) -> u64 {
        u64::from(self.prescaler).max(1)
    }

    fn spi_clock(&self) -> SpiClock {
        // UCCKPH set: data is captured on the first edge, which is CPHA = 0.
        let mode = 2 * u8::from(self.control & UCCKPL != 0) + u8::from(self.control & UCCKPH == 0);
        SpiClock { mode, hz: self.clocks.hz(self.source()) / self.divider() }
    }

    /// Why it cannot work as UCxCTLW0 says.
    fn refusal(&self) -> Option<&'static str> {
        let high = self.control & CTL0;
        match self.mode() {
            Mode::Uart if high & !UCSPB != 0 => Some("only eight data bits without parity are modelled"),
            Mode::Uart if self.control & UART_MODES != 0 => {
                Some("a dormant receiver (UCDORM), addresses and breaks are not modelled")
            }
            Mode::Uart if self.control >> UCSSEL == 0 => Some("an external clock is not modelled"),
            Mode::Spi if high & !(UCCKPH | UCCKPL) != UCMSB | UCMST | UCSYNC => {
                Some("only the three-pin master with eight bits, the most significant first, is modelled")
            }
            Mode::Spi if self.control & CTL1_MODES != 0 => {
                Some("of UCxCTL1 only the clock and the reset are modelled")
            }
            Mode::Spi if self.modulation != 0 => Some("modulation must be 0 in SPI mode"),
            Mode::I2c if high & UCMST == 0 => Some("an I2C slave is not modelled"),
            Mode::I2c if high != UCMST | UCMODE_3 | UCSYNC => {
                Some("several masters and addresses of ten bits are not modelled")
            }
            Mode::I2c if self.control & UCTXNACK != 0 => Some("UCTXNACK is a slave's"),
            Mode::I2c if self.control1 & CONTROL1_OTHERS != 0 => {
                Some("of UCBxCTLW1 only UCASTPx and the deglitch time are modelled")
            }
            Mode::Spi | Mode::I2c if self.control >> UCSSEL & 3 == 0 => {
                Some("no clock is selected: UCSSELx is 0")
            }
            _ => None,
        }
    }

    fn write_control(&mut self, after: u32, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        let (before, was_held) = (self.control, self.held());
        self.control = after;
        if self.held() {
            self.shifting = None;
            self.waiting = None;
            self.release_bus(context);
            self.enables = 0;
            self.flags = if self.mode() == Mode::I2c { 0 } else { UCTXIFG };
            self.status &= UCLISTEN;
            return Ok(());
        }
        if !was_held && self.mode() != Mode::Uart && (before ^ after) & CTL0 != 0 {
            return Err("this register is written while UCSWRST is clear");
        }
        if let Some(what) = self.refusal() {
            return Err(what);
        }
        if self.mode() == Mode::I2c {
            self.proceed(context.now);
        }
        Ok(())
    }

    /// The byte in the transmitter begins.
    fn start(&mut self, byte: u8, now: u64) {
        let clocks = match self.mode() {
            Mode::Uart => uart::frame_clocks(self.block, self.control, self.prescaler, self.modulation),
            _ => 8 * self.divider(),
        };
        self.shifting = Some((byte, self.after(clocks, now)));
        self.flags |= UCTXIFG;
    }

    fn send(&mut self, byte: u8, context: &mut Context<'_, '_>) {
        self.sent = byte.into();
        self.flags &= !UCTXIFG;
        if self.block == Block::EusciA {
            self.flags &= !UCTXCPTIFG;
        }
        // The flag falls also where it is set again at once.
        self.triggers[1].set(false, context);
        if self.mode() == Mode::I2c {
            self.waiting = Some(byte);
            self.proceed(context.now);
        } else if self.shifting.is_none() {
            self.start(byte, context.now);
        } else {
            self.waiting = Some(byte);
        }
    }

    /// A byte was complete at cycle `end`.
    fn complete(&mut self, byte: u8, end: u64, context: &mut Context<'_, '_>) {
        let listens = self.status & UCLISTEN != 0;
        let answer = if self.mode() == Mode::Uart {
            context.sent(&self.name, byte, end);
            listens.then_some(byte)
        } else {
            let answer = context.board.transfer(&self.name, self.spi_clock(), byte, end);
            let answer = answer.unwrap_or_else(|what| {
                self.refused = Some(what);
                0xff
            });
            Some(if listens { byte } else { answer })
        };
        if let Some(answer) = answer {
            self.receive(answer);
        }
        self.shifting = None;
        match self.waiting.take() {
            Some(next) => self.start(next, end),
            None if self.block == Block::EusciA && self.mode() == Mode::Uart => self.flags |= UCTXCPTIFG,
            None => {}
        }
    }

    fn update(&mut self, context: &mut Context<'_, '_>) {
        if self.enables & self.flags != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
        self.set_triggers(context);
    }

    /// "If UCRXIE is set, UCRXIFG does not trigger a transfer."
    fn set_triggers(&mut self, context: &mut Context<'_, '_>) {
        let open = self.flags & !self.enables;
        for (trigger, flag) in self.triggers.iter_mut().zip([UCRXIFG, UCTXIFG]) {
            trigger.set(open & flag != 0, context);
        }
    }

    /// Reads the vector register, which clears the flag that it names.
    fn take_vector(&mut self) -> u32 {
        let pending = self.enables & self.flags;
        let vectors = self.block.vectors(self.mode() == Mode::I2c);
        let (flag, vector) =
            vectors.iter().find(|(flag, _)| pending & flag != 0).copied().unwrap_or_default();
        self.flags &= !flag;
        vector
    }
}

impl Peripheral for Usci {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 1 << self.irq,
            dma_lines: self.triggers[0].lines() | self.triggers[1].lines(),
            ..Spec::new(&self.name, self.base..self.base + self.block.size())
        }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        if let Some(what) = &self.refused {
            return context.refuse(&self.name, address, what);
        }
        let word = match self.block.register((address - self.base) & !1) {
            Some(Register::Control) => self.control,
            Some(Register::Control1) => self.control1,
            Some(Register::Prescaler) => self.prescaler,
            Some(Register::Modulation) => self.modulation,
            Some(Register::Status) if self.mode() == Mode::I2c => {
                let bytes = if self.block.enhanced() { self.master.bytes() << 8 } else { 0 };
                bytes | self.master.status() | self.status
            }
            Some(Register::Status) => {
                let busy = self.shifting.is_some() || self.receiver.is_busy() && self.hears();
                self.status | if busy { UCBUSY } else { 0 }
            }
            Some(Register::Threshold) => self.threshold,
            Some(Register::Received) => {
                self.flags &= !UCRXIFG;
                self.status &= !(UCOE | UCRXERR);
                let received = self.received;
                if self.mode() == Mode::I2c && !self.held() {
                    self.proceed(context.now);
                }
                received
            }
            Some(Register::Transmit) => self.sent,
            Some(Register::OtherModes | Register::AddressReceived) => 0,
            Some(Register::Own(number)) => self.own[number],
            Some(Register::Slave) => self.slave,
            Some(Register::EnablesAndFlags) => self.flags << 8 | self.enables,
            Some(Register::Enables) => self.enables,
            Some(Register::Flags) => self.flags,
            Some(Register::Vector) => self.take_vector(),
            None => return context.refuse(&self.name, address, "this register is not modelled"),
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
        let (held, uart) = (self.held(), self.mode() == Mode::Uart);
        match self.block.register((address - self.base) & !1) {
            Some(Register::Control) => {
                let written = self.write_control(write.onto(self.control), context);
                written.map_err(|what| context.fault(&self.name, address, what))?;
            }
            Some(Register::Control1 | Register::Prescaler) if !held && !uart => {
                return context.refuse(
                    &self.name,
                    address,
                    "this register is written while UCSWRST is clear",
                );
            }
            Some(Register::Control1) => self.control1 = write.onto(self.control1) & 0x1ff,
            Some(Register::Prescaler) => self.prescaler = write.onto(self.prescaler),
            Some(Register::Modulation) if !uart && write.bits != 0 => {
                return context.refuse(&self.name, address, "modulation must be 0 in SPI mode");
            }
            Some(Register::Modulation) => {
                let bits = if self.block.enhanced() { 0xfff1 } else { 0xff };
                self.modulation = write.onto(self.modulation) & bits;
            }
            Some(Register::Status) => {
                self.status = write.onto(self.status) & UCLISTEN | self.status & (UCOE | UCRXERR);
            }
            Some(Register::Threshold) if held => self.threshold = write.onto(self.threshold) & 0xff,
            Some(Register::Transmit) if held => {
                return context.refuse(&self.name, address, "a byte is sent while UCSWRST is set");
            }
            Some(Register::Transmit) if write.mask & 0xff != 0 => self.send(write.bits as u8, context),
            Some(Register::OtherModes) if write.bits != 0 => {
                let what = "detecting the baud rate and infrared coding are not modelled";
                return context.refuse(&self.name, address, what);
            }
            Some(Register::Own(number)) => self.own[number] = write.onto(self.own[number]),
            Some(Register::Slave) => self.slave = write.onto(self.slave) & 0x3ff,
            Some(Register::EnablesAndFlags) => {
                let word = write.onto(self.flags << 8 | self.enables);
                self.enables = word & self.block.interrupts();
                self.flags = word >> 8 & self.block.interrupts();
            }
            Some(Register::Enables) => self.enables = write.onto(self.enables) & self.block.interrupts(),
            Some(Register::Flags) => self.flags = write.onto(self.flags) & self.block.interrupts(),
            // A write clears all flags of an eUSCI, the most urgent one of a USCI.
            Some(Register::Vector) if self.block.enhanced() => self.flags = 0,
            Some(Register::Vector) => {
                self.take_vector();
            }
            Some(
                Register::Threshold
                | Register::Received
                | Register::Transmit
                | Register::OtherModes
                | Register::AddressReceived,
            ) => {}
            None => return context.refuse(&self.name, address, "this register is not modelled"),
        }
        self.update(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        if self.served {
            return Some(0);
        }
        let sent = self.shifting.map(|(_, end)| end).or_else(|| self.master.due());
        [sent, self.receiver.due()].into_iter().flatten().min()
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        if let Some((byte, end)) = self.shifting.filter(|(_, end)| *end <= context.now) {
            self.complete(byte, end, context);
        }
        self.advance_bus(context);
        self.receive_arrivals(context.now);
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InterruptAcknowledged(_) => self.served = true,
            Event::DmaRequestsWanted(lines) => {
                let open = self.flags & !self.enables;
                for (trigger, flag) in self.triggers.iter_mut().zip([UCRXIFG, UCTXIFG]) {
                    trigger.want(lines, open & flag != 0, context);
                }
            }
            Event::DmaAcknowledged { lines, .. } => {
                for (trigger, flag) in self.triggers.iter().zip([UCRXIFG, UCTXIFG]) {
                    self.flags &= if trigger.lines() & lines != 0 { !flag } else { !0 };
                }
                self.update(context);
            }
            Event::BytesArrive(bytes) => self.arrive(bytes, context.now),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        match update {
            ClockUpdate::Core(clock_hz) => self.change_clocks(|own| own.set_clock(clock_hz, now), now),
            ClockUpdate::Subsystem(clocks) => self.change_clocks(|own| own.set(&clocks, now), now),
            _ => {}
        }
    }

    fn reset(&mut self) {
        // UCSYNC: a USCI_B is synchronous always.
        self.control = UCSWRST | if self.block.is_b() { UCSYNC } else { 0 };
        self.control1 = 3;
        (self.prescaler, self.modulation, self.status, self.threshold) = (0, 0, 0, 0);
        (self.own, self.slave, self.received, self.sent) = ([0; 5], 0, 0, 0);
        self.enables = 0;
        self.flags = UCTXIFG;
        self.shifting = None;
        self.waiting = None;
        self.receiver = Receiver::default();
        self.master = Master::default();
        self.refused = None;
        self.served = false;
        self.triggers.iter_mut().for_each(Trigger::reset);
    }

    fn roles(&self) -> Roles<'_> {
        Roles { serial_port: Some(self), ..Roles::default() }
    }
}

impl SerialPort for Usci {
    fn transmit_end(&self) -> Option<u64> {
        self.shifting.filter(|_| self.mode() == Mode::Uart).map(|(_, end)| end)
    }

    fn is_receiving(&self) -> Option<bool> {
        (!self.block.is_b()).then(|| self.mode() == Mode::Uart && self.hears())
    }

    fn has_receiver(&self) -> bool {
        !self.block.is_b()
    }
}
