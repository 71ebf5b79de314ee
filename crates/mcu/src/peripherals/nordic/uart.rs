//! UART and UARTE, which share addresses and an interrupt: transmitters of 8-bit characters; the
//! receivers hear nothing. PS, "UART" and "UARTE".
//!
//! UARTE reads all that it sends when it is started: a program that changes it before ENDTX goes
//! against the manual. A receiver that is stopped says so at once. With HWFC on, the other side is
//! taken to be always ready.

use super::block::{Block, OwnRegisters};
use super::core_clock::CORE_HZ;
use crate::peripherals::register::Register;
use crate::{ClockUpdate, Context, Dma, Event, Fault, Peripheral, PeripheralSpec, Roles, SerialPort, Spec};
use std::collections::VecDeque;

// Tasks.
const STARTRX: u32 = 0x000;
const STOPRX: u32 = 0x004;
const STARTTX: u32 = 0x008;
const STOPTX: u32 = 0x00c;
const SUSPEND: u32 = 0x01c;
const FLUSHRX: u32 = 0x02c;

// Events, by their bits.
const ENDRX: u32 = 1 << 4;
const TXDRDY: u32 = 1 << 7;
const ENDTX: u32 = 1 << 8;
const RXTO: u32 = 1 << 17;
const RXSTARTED: u32 = 1 << 19;
const TXSTARTED: u32 = 1 << 20;
const TXSTOPPED: u32 = 1 << 22;
/// CTS, NCTS, RXDRDY, ERROR: these never come.
const NEVER: u32 = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 9;

const SHORTS: u32 = 0x200;
const ERRORSRC: u32 = 0x480;
const ENABLE: u32 = 0x500;
const PSEL_RTS: u32 = 0x508;
const PSEL_CTS: u32 = 0x510;
const PSEL_RXD: u32 = 0x514;
const RXD: u32 = 0x518;
const TXD: u32 = 0x51c;
const BAUDRATE: u32 = 0x524;
const RXD_PTR: u32 = 0x534;
const RXD_MAXCNT: u32 = 0x538;
const RXD_AMOUNT: u32 = 0x53c;
const TXD_PTR: u32 = 0x544;
const TXD_MAXCNT: u32 = 0x548;
const TXD_AMOUNT: u32 = 0x54c;
const CONFIG: u32 = 0x56c;

/// ENABLE.
const UART: u32 = 4;
const UARTE: u32 = 8;
/// CONFIG.
const PARITY: u32 = 7 << 1;
const STOP_TWO: u32 = 1 << 4;
const PSEL_MASK: u32 = 0x8000_003f;
/// Without a pin nobody sees what is sent.
const PSEL_TXD: u32 = 0x50c;
/// PSEL.x.CONNECT.
const DISCONNECTED: u32 = 1 << 31;
const MAXCNT_MASK: u32 = 0xffff;

/// The registers that keep what is written.
const MAP: &[Register] = &[
    Register::new(SHORTS, u32::MAX),
    Register::new(PSEL_RTS, PSEL_MASK).with_reset(u32::MAX),
    Register::new(PSEL_TXD, PSEL_MASK).with_reset(u32::MAX),
    Register::new(PSEL_CTS, PSEL_MASK).with_reset(u32::MAX),
    Register::new(PSEL_RXD, PSEL_MASK).with_reset(u32::MAX),
    Register::new(BAUDRATE, u32::MAX).with_reset(0x0400_0000),
    Register::new(RXD_PTR, u32::MAX),
    Register::new(RXD_MAXCNT, MAXCNT_MASK),
    Register::new(TXD_PTR, u32::MAX),
    Register::new(TXD_MAXCNT, MAXCNT_MASK),
    Register::new(CONFIG, PARITY | STOP_TWO | 1),
];

/// The counter of the bits.
const PCLK16M_HZ: u64 = 16_000_000;

/// The registers.
#[derive(Clone)]
pub struct Uart {
    block: Block,
    /// UART is there beside UARTE.
    old: bool,
    enable: u32,
    amount: u32,
    /// The transmitter is started.
    started: bool,
    /// Bytes that wait to be sent.
    waiting: VecDeque<u8>,
    /// The character that is being sent, and when it is out.
    shifting: Option<(u8, u64)>,
    clock_hz: u64,
}

impl Uart {
    /// The two at `spec.base`; with `settings.uarte_only` no UART.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Uart {
        let known = ENDRX | TXDRDY | ENDTX | RXTO | RXSTARTED | TXSTARTED | TXSTOPPED | NEVER;
        Uart {
            block: Block::new(spec, known, MAP).with_inten(),
            old: spec.settings.get("uarte_only") != Some(&1),
            enable: 0,
            amount: 0,
            started: false,
            waiting: VecDeque::new(),
            shifting: None,
            clock_hz: CORE_HZ,
        }
    }

    /// Cycles of a frame: start bit, 8 data bits, parity, 1 or 2 stop bits. A bit has as many whole
    /// periods of 16 MHz as 2^32 / BAUDRATE: that gives all the actual rates that the SVD names
    /// beside the values of BAUDRATE (115200: 139 periods, 115108 baud).
    fn frame(&self) -> u64 {
        let configuration = self.block.registers[CONFIG];
        let parity = u64::from(configuration & PARITY != 0);
        let stops = 1 + u64::from(configuration & STOP_TWO != 0);
        let bit = (1 << 32) / u64::from(self.block.registers[BAUDRATE].max(1));
        (bit * (9 + parity + stops) * self.clock_hz).div_ceil(PCLK16M_HZ)
    }

    fn send(&mut self, now: u64) {
        if self.shifting.is_none()
            && let Some(byte) = self.waiting.pop_front()
        {
            self.shifting = Some((byte, now + self.frame()));
        }
    }

    /// Nothing is left to be sent; or it was stopped, which `started` says while a character is
    /// still under way.
    fn end(&mut self, stopped: bool) {
        if self.enable == UARTE {
            self.block.raise(ENDTX);
            if stopped {
                self.block.raise(TXSTOPPED);
            }
        }
        self.started &= self.enable == UART && !stopped;
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        let uarte = self.enable == UARTE;
        if self.enable != UART && !uarte {
            return Err("a task while it is not enabled");
        }
        match offset {
            STARTRX if uarte => self.block.raise(RXSTARTED),
            STARTRX => {}
            // A buffer that is not full ends, too.
            STOPRX if uarte => self.block.raise(ENDRX | RXTO),
            STOPRX => self.block.raise(RXTO),
            FLUSHRX if uarte => self.block.raise(ENDRX),
            STARTTX if uarte => {
                if self.started {
                    return Err("STARTTX before the last transmission has ended");
                }
                (self.started, self.amount) = (true, 0);
                self.block.raise(TXSTARTED);
                let [address, size] = [TXD_PTR, TXD_MAXCNT].map(|offset| self.block.registers[offset]);
                if size == 0 {
                    self.end(false);
                } else {
                    context.events.request_dma(Dma::Fetch { device: self.block.base, address, size });
                }
            }
            STARTTX => self.started = true,
            // Idle already.
            STOPTX if uarte && !self.started => self.block.raise(TXSTOPPED),
            // A character under way is sent to its end.
            STOPTX | SUSPEND => {
                self.waiting.clear();
                self.started = false;
                if self.shifting.is_none() {
                    self.end(true);
                }
            }
            _ => return Err("this task is not modelled"),
        }
        Ok(())
    }
}

impl OwnRegisters for Uart {
    fn block(&mut self) -> &mut Block {
        &mut self.block
    }

    fn write_own(
        &mut self,
        offset: u32,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        match offset {
            0..0x100 if value & 1 == 0 => {}
            0..0x100 => self.task(offset, context)?,
            ERRORSRC => {}
            ENABLE if value == 0 || value == UARTE || value == UART && self.old => {
                self.enable = value;
                if value == 0 {
                    (self.started, self.shifting) = (false, None);
                    self.waiting.clear();
                }
            }
            ENABLE => return Err("a reserved value of ENABLE"),
            TXD if self.enable != UART || !self.started => return Err("TXD is written before STARTTX"),
            TXD if self.shifting.is_some() => return Err("TXD is written before TXDRDY"),
            TXD => {
                self.waiting.push_back(value as u8);
                self.send(context.now);
            }
            _ => return Err("register not modelled"),
        }
        Ok(())
    }
}

impl Peripheral for Uart {
    fn spec(&self) -> Spec {
        self.block.spec()
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = (address - self.block.base) & !3;
        let own = match offset {
            0..0x100 | ERRORSRC | RXD | RXD_AMOUNT => Some(0),
            ENABLE => Some(self.enable),
            TXD_AMOUNT => Some(self.amount),
            _ => None,
        };
        self.block.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        self.write_register(address, size, value, context).map(|_| ())
    }

    fn due(&self) -> Option<u64> {
        self.shifting.map(|(_, done)| done)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        while let Some((byte, done)) = self.shifting
            && done <= context.now
        {
            if self.block.registers[PSEL_TXD] & DISCONNECTED == 0 {
                context.sent(&self.block.name, byte, done);
            }
            self.shifting = None;
            self.amount += 1;
            self.block.raise(TXDRDY);
            self.send(done);
            if self.shifting.is_none() {
                self.end(!self.started);
            }
        }
        self.block.signal(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::MemoryFetched(bytes) => {
                self.waiting.extend(bytes);
                self.send(context.now);
            }
            Event::ControlsChanged => self.block.connect(context),
            _ => {}
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, _now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.enable = 0;
        self.amount = 0;
        self.started = false;
        self.waiting.clear();
        self.shifting = None;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { serial_port: Some(self), ..Roles::default() }
    }
}

impl SerialPort for Uart {
    fn transmit_end(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end)
    }
}
