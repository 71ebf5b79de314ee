//! Execution in place: the cache's control registers (XIP_CTRL) and the serial interface to the
//! flash (SSI). Sections 2.6.3 and 4.10.
//!
//! The flash answers what boot code asks it: its status (quad mode is on), and who it is. Reading,
//! erasing and programming it by commands are refused, and so are streaming and the cache's
//! counters.

use super::{BLOCK, Write, register};
use crate::peripherals::register::{Register, Registers, part_of_word};
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec, Spec};
use std::collections::VecDeque;
use std::ops::Range;

// XIP_CTRL.
const CTRL: u32 = 0x00;
const FLUSH: u32 = 0x04;
const STAT: u32 = 0x08;
const CTRL_MASK: u32 = 0xb;
const CTRL_RESET: u32 = 3;
const CACHE_ENABLE: u32 = 1;
/// STAT: the stream's queue is empty; no flush is under way.
const FIFO_EMPTY: u32 = 1 << 1;
const FLUSH_READY: u32 = 1 << 0;
/// Section 2.6.3.2: "just over 1024 clock cycles".
const FLUSH_CYCLES: u64 = 1024;
/// The flash.
const XIP: Range<u32> = 0x1000_0000..0x1400_0000;

// SSI.
const CTRLR0: u32 = 0x00;
const CTRLR1: u32 = 0x04;
const SSIENR: u32 = 0x08;
const BAUDR: u32 = 0x14;
const TXFLR: u32 = 0x20;
const RXFLR: u32 = 0x24;
const SR: u32 = 0x28;
const IDR: u32 = 0x58;
const VERSION: u32 = 0x5c;
const DR0: u32 = 0x60;
const DR_END: u32 = 0xf0;
const SPI_CTRLR0: u32 = 0xf4;

/// The registers of SSI that keep what is written.
const MAP: &[Register] = &[
    Register::new(CTRLR0, 0x017f_ffff),
    Register::new(CTRLR1, 0xffff),
    Register::new(SSIENR, 1),
    Register::new(0x0c, 7),
    Register::new(0x10, 1),
    Register::new(BAUDR, 0xffff),
    Register::new(0x18, 0xff),
    Register::new(0x1c, 0xff),
    Register::new(0x2c, 0x3f),
    Register::new(0x4c, 3),
    Register::new(0x50, 0xff),
    Register::new(0x54, 0xff),
    Register::new(0xf0, 0xff),
    Register::new(SPI_CTRLR0, 0xff07_fb3f).with_reset(0x0300_0000),
];
/// SR: receive queue not empty, transmit queue empty and not full, a transfer is under way.
const RFNE: u32 = 1 << 3;
const TFE: u32 = 1 << 2;
const TFNF: u32 = 1 << 1;
const BUSY: u32 = 1 << 0;

// Commands of the flash, and its answers: Winbond W25Q16JV, the flash of the Raspberry Pi Pico.
const READ_STATUS_1: u8 = 0x05;
const READ_STATUS_2: u8 = 0x35;
const WRITE_ENABLE: u8 = 0x06;
const WRITE_DISABLE: u8 = 0x04;
const WRITE_STATUS_1: u8 = 0x01;
const WRITE_STATUS_2: u8 = 0x31;
const READ_ID: u8 = 0x9f;
/// Four bytes without meaning follow, then the unique number; here it is the bytes of its places.
const READ_UNIQUE_ID: u8 = 0x4b;
const UNIQUE_ID_AT: usize = 5;
const QUAD_ENABLE: u8 = 1 << 1;
const ID: [u8; 3] = [0xef, 0x40, 0x15];

/// The registers.
#[derive(Clone)]
pub struct Xip {
    name: String,
    control_base: u32,
    ssi_base: u32,
    control: u32,
    flushes: u32,
    flushed: u64,
    ssi: Registers,
    /// The bytes of the command that is being sent, and what came back.
    command: Vec<u8>,
    received: VecDeque<u8>,
    /// The words of a read in memory's way (EEPROM mode).
    pushed: u32,
    /// When the serial interface is done.
    done: u64,
}

impl Xip {
    /// XIP_CTRL at `spec.base`, SSI at `settings.ssi`.
    ///
    /// # Errors
    /// A base that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Xip, String> {
        let ssi = spec.settings.get("ssi").and_then(|base| u32::try_from(*base).ok());
        let ssi = ssi.filter(|base| base % BLOCK == 0 && *base < 0xf000_0000);
        let mut xip = Xip {
            name: spec.name.clone(),
            control_base: spec.base,
            ssi_base: ssi.ok_or_else(|| format!("{}: {} needs ssi", part.name, spec.name))?,
            control: CTRL_RESET,
            flushes: 0,
            flushed: 0,
            ssi: Registers::new(MAP),
            command: Vec::new(),
            received: VecDeque::new(),
            pushed: 0,
            done: 0,
        };
        xip.reset();
        Ok(xip)
    }

    /// Core cycles of a clock of the serial interface: clk_sys divided by SCKDV, an even number.
    fn period(&self) -> u64 {
        u64::from(self.ssi[BAUDR] & 0xfffe).max(2)
    }

    /// Core cycles of the read of a word: command, address with mode bits, wait cycles, 32 bits of
    /// data. Section 4.10.13, CTRLR0.SPI_FRF, SPI_CTRLR0.INST_L, TRANS_TYPE, ADDR_L, WAIT_CYCLES.
    fn word_cycles(&self) -> u64 {
        let lanes = match self.ssi[CTRLR0] >> 21 & 3 {
            0 => 1,
            1 => 2,
            _ => 4,
        };
        let settings = self.ssi[SPI_CTRLR0];
        let (command_lanes, address_lanes) = match settings & 3 {
            0 => (1, 1),
            1 => (1, lanes),
            _ => (lanes, lanes),
        };
        let command = [0, 4, 8, 16][(settings >> 8 & 3) as usize];
        let address = u64::from(settings >> 2 & 15) * 4;
        let wait = if lanes == 1 { 0 } else { u64::from(settings >> 11 & 31) };
        (command / command_lanes + address / address_lanes + wait + 32 / lanes) * self.period()
    }

    /// The flash's answer to the next byte of a command.
    fn exchange(&mut self, byte: u8) -> Result<u8, &'static str> {
        let at = self.command.len();
        self.command.push(byte);
        let Some(&command) = self.command.first().filter(|_| at > 0) else { return Ok(0xff) };
        Ok(match command {
            READ_STATUS_1 => 0,
            READ_STATUS_2 => QUAD_ENABLE,
            READ_ID => ID[(at - 1) % ID.len()],
            READ_UNIQUE_ID if at >= UNIQUE_ID_AT => ((at - UNIQUE_ID_AT) % 8) as u8,
            READ_UNIQUE_ID => 0xff,
            WRITE_ENABLE | WRITE_DISABLE | WRITE_STATUS_1 | WRITE_STATUS_2 => 0xff,
            _ => return Err("of the flash's commands, only those of its status and identity are modelled"),
        })
    }

    fn push(&mut self, value: u32, now: u64) -> Result<(), &'static str> {
        if self.ssi[SSIENR] == 0 {
            return Err("the serial interface is written to while it is off");
        }
        match self.ssi[CTRLR0] >> 8 & 3 {
            // Transmit and receive: frames of eight bits.
            0 if self.ssi[CTRLR0] >> 16 & 31 == 7 => {
                if now >= self.done {
                    // The flash was deselected.
                    self.command.clear();
                }
                let answer = self.exchange(value as u8)?;
                self.received.push_back(answer);
                self.done = self.done.max(now) + 8 * self.period();
            }
            // A read as from an EEPROM begins with the second word where there is a command, else
            // with the first. Its data is not looked at.
            3 => {
                self.pushed += 1;
                let words = if self.ssi[SPI_CTRLR0] >> 8 & 3 == 0 { 1 } else { 2 };
                if self.pushed == words {
                    self.pushed = 0;
                    let data = u64::from(self.ssi[CTRLR1]) + 1;
                    self.done = now + self.word_cycles() * data;
                }
            }
            _ => {
                return Err(
                    "of its transfers, those of boot code are modelled: eight bits both ways, reads with EEPROM_READ",
                );
            }
        }
        Ok(())
    }

    fn read_ssi(&mut self, register: u32, now: u64) -> Result<u32, &'static str> {
        Ok(match register {
            TXFLR => 0,
            RXFLR if now < self.done => 0,
            RXFLR => self.received.len() as u32,
            SR if now < self.done => TFNF | BUSY,
            SR => TFNF | TFE | if self.received.is_empty() { 0 } else { RFNE },
            IDR => 0x5153_5049,
            VERSION => 0x3430_312a,
            DR0..DR_END => {
                let answer = self.received.pop_front();
                u32::from(answer.ok_or("data of a read by command is not modelled")?)
            }
            0x30..=0x48 | 0xf8 => 0,
            _ => return self.ssi.get(register).ok_or("register not modelled"),
        })
    }

    fn write_ssi(&mut self, register: u32, write: Write, now: u64) -> Result<(), &'static str> {
        if (DR0..DR_END).contains(&register) {
            return self.push(write.value, now);
        }
        if self.ssi.get(register).is_none() {
            return Ok(());
        }
        let configures = matches!(register, CTRLR0 | CTRLR1 | BAUDR | SPI_CTRLR0);
        if configures && self.ssi[SSIENR] != 0 {
            return Err("the serial interface is set up while it is on: it ignores that");
        }
        self.ssi.write(register, |before| write.onto(before))?;
        if register == SSIENR && self.ssi[SSIENR] == 0 {
            self.command.clear();
            self.received.clear();
            self.pushed = 0;
            self.done = now;
        }
        Ok(())
    }

    fn write_control(
        &mut self,
        register: u32,
        write: Write,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        match register {
            CTRL => {
                self.control = write.onto(self.control) & CTRL_MASK;
                if self.control & 8 != 0 {
                    return Err("powering the cache down is not modelled");
                }
            }
            FLUSH if write.value & 1 != 0 => {
                self.flushes = self.flushes.wrapping_add(1);
                self.flushed = context.now + FLUSH_CYCLES;
                if XIP.contains(&context.pc) {
                    *context.stall += FLUSH_CYCLES;
                }
            }
            FLUSH | STAT => {}
            _ => return Err("its counters and streaming are not modelled"),
        }
        Ok(())
    }
}

impl Peripheral for Xip {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            [self.control_base, self.ssi_base].into_iter().map(|base| base..base + BLOCK),
        )
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let at = register(address);
        if address & !(BLOCK - 1) == self.ssi_base {
            let word = self.read_ssi(at, context.now);
            let word = word.map_err(|what| context.fault(&self.name, address, what))?;
            return Ok(part_of_word(word, address, size));
        }
        let word = match at {
            CTRL => self.control,
            // Waits until it is done.
            FLUSH => {
                *context.stall += self.flushed.saturating_sub(context.now);
                0
            }
            STAT => FIFO_EMPTY | if context.now >= self.flushed { FLUSH_READY } else { 0 },
            _ => {
                return context.refuse(&self.name, address, "its counters and streaming are not modelled");
            }
        };
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let write = Write::new(address, size, value);
        let at = register(address);
        let written = if address & !(BLOCK - 1) == self.ssi_base {
            self.write_ssi(at, write, context.now)
        } else {
            self.write_control(at, write, context)
        };
        written.map_err(|what| context.fault(&self.name, address, what))?;
        let flash = &mut context.events.flash;
        flash.word_cycles = u32::try_from(self.word_cycles()).unwrap_or(u32::MAX);
        flash.cached = self.control & CACHE_ENABLE != 0;
        flash.invalidations = self.flushes;
        Ok(())
    }

    fn reset(&mut self) {
        self.control = CTRL_RESET;
        self.flushes = 0;
        self.flushed = 0;
        self.ssi.reset();
        self.command.clear();
        self.received.clear();
        self.pushed = 0;
        self.done = 0;
    }
}
