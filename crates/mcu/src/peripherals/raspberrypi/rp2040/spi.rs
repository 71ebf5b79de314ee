//! A synchronous serial port, Arm's PL022 with queues of eight frames, as a master of SPI. Section
//! 4.4.
//!
//! A frame of 8 or 16 bits takes as many periods of clk_peri / (CPSDVSR * (1 + SCR)); its chip is
//! who is selected on the board. With SPH = 0 the frame signal rises between two frames. Estimate:
//! that takes 1.5 periods (raspberrypi/pico-examples issue 285 has about two, pico-feedback issue
//! 39 8.5 periods a byte with SPH = 1); with SPH = 1 frames follow each other without a gap.
//! Refused: frames of other lengths, the formats of TI and Microwire, loopback, the port as a
//! slave, and the interrupt of the receive timeout, which SSPRIS does not have either.

use super::{BLOCK, CLK_PERI, Write, register};
use crate::clock::rescaled;
use crate::peripherals::register::{Register, Registers, part_of_word};
use crate::{ClockUpdate, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec, SpiClock};
use std::collections::VecDeque;

const SSPCR0: u32 = 0x00;
const SSPCR1: u32 = 0x04;
const SSPDR: u32 = 0x08;
const SSPSR: u32 = 0x0c;
const SSPCPSR: u32 = 0x10;
const SSPIMSC: u32 = 0x14;
const SSPRIS: u32 = 0x18;
const SSPMIS: u32 = 0x1c;
const SSPICR: u32 = 0x20;
const SSPDMACR: u32 = 0x24;
const PERIPHID0: u32 = 0xfe0;

/// SSPCR0.
const FRF: u32 = 3 << 4;
const SPO: u32 = 1 << 6;
const SPH: u32 = 1 << 7;
const SCR: u32 = 8;
/// SSPCR1: on; a slave, loopback, and a slave's output.
const SSE: u32 = 1 << 1;
const REFUSED_CONTROL: u32 = 1 << 3 | 1 << 2 | 1 << 0;
/// SSPSR.
const TFE: u32 = 1 << 0;
const TNF: u32 = 1 << 1;
const RNE: u32 = 1 << 2;
const RFF: u32 = 1 << 3;
const BSY: u32 = 1 << 4;
/// Interrupts: overrun, receive timeout, queues half full and half empty.
const ROR: u32 = 1 << 0;
const RT: u32 = 1 << 1;
const RX: u32 = 1 << 2;
const TX: u32 = 1 << 3;
/// SSPDMACR.
const RXDMAE: u32 = 1 << 0;
const TXDMAE: u32 = 1 << 1;
const DEPTH: usize = 8;
/// SSPPeriphID and SSPPCellID.
const IDENTIFICATION: [u32; 8] = [0x22, 0x10, 0x34, 0x00, 0x0d, 0xf0, 0x05, 0xb1];

/// The registers that keep what is written.
const MAP: &[Register] = &[
    Register::new(SSPCR0, 0xffff).refusing(FRF, "the formats of TI and Microwire are not modelled"),
    Register::new(SSPCR1, 0xf).refusing(REFUSED_CONTROL, "loopback and the port as a slave are not modelled"),
    Register::new(SSPCPSR, 0xfe),
    Register::new(SSPIMSC, 0xf).refusing(RT, "the interrupt of the receive timeout is not modelled"),
    Register::new(SSPDMACR, 3),
];

/// The port.
#[derive(Clone)]
pub struct Spi {
    name: String,
    base: u32,
    irq: u8,
    dreq: u8,
    reset_bit: u32,
    held: bool,
    clock_hz: u64,
    peripheral_hz: u64,
    registers: Registers,
    queue: VecDeque<u16>,
    received: VecDeque<u16>,
    /// The frame in the shift register, and when it is out.
    shifting: Option<(u16, u64)>,
    /// The cycle from which on the next frame can begin.
    free: u64,
    overrun: bool,
    requests: u128,
}

impl Spi {
    /// The port at `spec.base`, interrupting with `spec.irq`; `settings.reset` is its bit's number
    /// in RESETS.RESET, `settings.dreq` the number of its first request of DMA.
    ///
    /// # Errors
    /// One of them that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Spi, String> {
        let needs = |what: &str| format!("{}: {} needs {what}", part.name, spec.name);
        Ok(Spi {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.ok_or_else(|| needs("irq"))?,
            dreq: super::number(spec, "dreq", 63).ok_or_else(|| needs("dreq"))?,
            reset_bit: 1 << super::number(spec, "reset", 25).ok_or_else(|| needs("reset"))?,
            held: true,
            clock_hz: part.default_clock_hz,
            peripheral_hz: 0,
            registers: Registers::new(MAP),
            queue: VecDeque::new(),
            received: VecDeque::new(),
            shifting: None,
            free: 0,
            overrun: false,
            requests: 0,
        })
    }

    fn divisor(&self) -> u64 {
        let scale = u64::from(self.registers[SSPCPSR]);
        scale * (1 + u64::from(self.registers[SSPCR0] >> SCR & 0xff))
    }

    /// Bytes of a frame.
    fn bytes(&self) -> Result<u64, &'static str> {
        match self.registers[SSPCR0] & 0xf {
            7 => Ok(1),
            15 => Ok(2),
            _ => Err("frames of other than 8 or 16 bits (SSPCR0.DSS) are not modelled"),
        }
    }

    /// Core cycles of a frame; none without a clock.
    fn frame(&self) -> Option<u64> {
        self.cycles(8 * self.bytes().ok()? * self.divisor()).filter(|cycles| *cycles != 0)
    }

    /// Core cycles of a number of cycles of clk_peri; none without a clock.
    fn cycles(&self, periods: u64) -> Option<u64> {
        let cycles = u128::from(periods) * u128::from(self.clock_hz);
        Some(cycles.checked_div(self.peripheral_hz.into())? as u64)
    }

    /// Core cycles of the frame signal between two frames.
    fn gap(&self) -> u64 {
        let has_gap = self.registers[SSPCR0] & SPH == 0;
        let periods = (3 * self.divisor()).div_ceil(2);
        self.cycles(periods).filter(|_| has_gap).unwrap_or(0)
    }

    fn clock(&self) -> SpiClock {
        let control = self.registers[SSPCR0];
        let mode = u8::from(control & SPO != 0) << 1 | u8::from(control & SPH != 0);
        SpiClock { mode, hz: self.peripheral_hz / self.divisor().max(1) }
    }

    fn send(&mut self, frame: u16, now: u64) -> Result<(), &'static str> {
        self.bytes()?;
        if self.queue.len() < DEPTH {
            self.queue.push_back(frame);
        }
        self.begin(now)
    }

    /// The next frame goes out where the port is on and free.
    fn begin(&mut self, at: u64) -> Result<(), &'static str> {
        if self.registers[SSPCR1] & SSE == 0 || self.shifting.is_some() || self.queue.is_empty() {
            return Ok(());
        }
        let cycles = self.frame().ok_or("sending without clk_peri, or with CPSDVSR 0")?;
        self.shifting = self.queue.pop_front().map(|frame| (frame, at.max(self.free) + cycles));
        Ok(())
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some((frame, end)) = self.shifting.filter(|(_, end)| *end <= context.now) {
            self.shifting = None;
            let bytes = frame.to_be_bytes();
            let bytes = if self.bytes() == Ok(2) { &bytes[..] } else { &bytes[1..] };
            let mut answer = 0;
            for byte in bytes {
                match context.board.transfer(&self.name, self.clock(), *byte, end) {
                    Ok(received) => answer = answer << 8 | u16::from(received),
                    Err(what) => context.stop(&self.name, &what),
                }
            }
            if self.received.len() < DEPTH {
                self.received.push_back(answer);
            } else {
                self.overrun = true;
            }
            self.free = end + self.gap();
            // It has had a clock so far.
            let _ = self.begin(end);
        }
        self.request(context);
    }

    fn raw(&self) -> u32 {
        let flag = |condition: bool, bit: u32| if condition { bit } else { 0 };
        flag(self.overrun, ROR)
            | flag(self.received.len() >= DEPTH / 2, RX)
            | flag(self.queue.len() <= DEPTH / 2, TX)
    }

    fn request(&mut self, context: &mut Context<'_, '_>) {
        if self.raw() & self.registers[SSPIMSC] != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
        let control = self.registers[SSPDMACR];
        let sends = control & TXDMAE != 0 && self.queue.len() < DEPTH;
        let receives = control & RXDMAE != 0 && !self.received.is_empty();
        super::request_transfers(self.dreq, [sends, receives], &mut self.requests, context);
    }

    fn read_register(&mut self, offset: u32) -> Option<u32> {
        let flag = |condition: bool, bit: u32| if condition { bit } else { 0 };
        Some(match offset {
            SSPDR => self.received.pop_front().unwrap_or(0).into(),
            SSPSR => {
                flag(self.queue.is_empty(), TFE)
                    | flag(self.queue.len() < DEPTH, TNF)
                    | flag(!self.received.is_empty(), RNE)
                    | flag(self.received.len() == DEPTH, RFF)
                    | flag(self.shifting.is_some() || !self.queue.is_empty(), BSY)
            }
            SSPRIS => self.raw(),
            SSPMIS => self.raw() & self.registers[SSPIMSC],
            SSPICR => 0,
            PERIPHID0.. => IDENTIFICATION[((offset - PERIPHID0) / 4) as usize],
            _ => return self.registers.get(offset),
        })
    }

    fn write_register(&mut self, offset: u32, write: Write, now: u64) -> Result<(), &'static str> {
        match offset {
            SSPDR => self.send(write.value as u16, now)?,
            SSPSR | SSPRIS | SSPMIS => {}
            SSPICR => self.overrun &= write.value & ROR == 0,
            _ => {
                self.registers.write(offset, |before| write.onto(before))?;
                if offset == SSPCR1 {
                    self.begin(now)?;
                }
            }
        }
        Ok(())
    }

    /// As after its own reset.
    fn clear(&mut self) {
        self.registers.reset();
        self.queue.clear();
        self.received.clear();
        self.shifting = None;
        self.free = 0;
        self.overrun = false;
    }
}

impl Peripheral for Spi {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + BLOCK)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.advance(context);
        let word = self.read_register(register(address));
        let word = word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?;
        self.request(context);
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
        self.advance(context);
        let written = self.write_register(register(address), Write::new(address, size, value), context.now);
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.request(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.peripheral_hz = context.events.generic_clocks_hz.get(CLK_PERI).copied().unwrap_or(0);
            self.held = context.events.held & self.reset_bit != 0;
            if self.held {
                self.clear();
                self.request(context);
            }
        }
    }

    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        if let ClockUpdate::Core(clock_hz) = update {
            let before = self.clock_hz;
            let moved = |(frame, end): (u16, u64)| (frame, rescaled(end, now, before, clock_hz));
            self.shifting = self.shifting.map(moved);
            self.free = rescaled(self.free, now, before, clock_hz);
            self.clock_hz = clock_hz;
        }
    }

    fn reset(&mut self) {
        self.held = true;
        self.peripheral_hz = 0;
        self.requests = 0;
        self.clear();
    }
}
