//! An I2C interface, Synopsys' DW_apb_i2c with queues of sixteen, as a master with 7-bit addresses.
//! Section 4.3.
//!
//! A period of SCL is HCNT + SPKLEN + 7 and LCNT + 1 clocks of clk_sys (section 4.3.14, from
//! memory), rise and fall left out. A START and a STOP take one, a byte and its acknowledgement
//! nine. Without a further command the clock is held. Who answers is on the board; where nobody is,
//! an address is not acknowledged. Its own address is kept, but no other master is there to use it.
//! Estimate: an interface that is switched off while it holds the clock goes on holding it, so that
//! the next command begins with a RESTART. An abort counts the commands that are left in the queue,
//! with that whose address nobody acknowledged. Refused: 10-bit addresses, general call, START
//! byte, a RESTART without IC_RESTART_EN, RX_FIFO_FULL_HLD_CTRL, and other speeds than two.

use super::{BLOCK, Write, register};
use crate::peripherals::register::{Register, Registers, part_of_word};
use crate::{Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};
use std::collections::VecDeque;

const IC_CON: u32 = 0x00;
const IC_TAR: u32 = 0x04;
const IC_DATA_CMD: u32 = 0x10;
const IC_SS_SCL_HCNT: u32 = 0x14;
const IC_SS_SCL_LCNT: u32 = 0x18;
const IC_FS_SCL_HCNT: u32 = 0x1c;
const IC_FS_SCL_LCNT: u32 = 0x20;
const IC_INTR_STAT: u32 = 0x2c;
const IC_INTR_MASK: u32 = 0x30;
const IC_RAW_INTR_STAT: u32 = 0x34;
const IC_RX_TL: u32 = 0x38;
const IC_TX_TL: u32 = 0x3c;
const IC_CLR_INTR: u32 = 0x40;
const IC_CLR_TX_ABRT: u32 = 0x54;
const IC_ENABLE: u32 = 0x6c;
const IC_STATUS: u32 = 0x70;
const IC_TXFLR: u32 = 0x74;
const IC_RXFLR: u32 = 0x78;
const IC_TX_ABRT_SOURCE: u32 = 0x80;
const IC_DMA_CR: u32 = 0x88;
const IC_DMA_TDLR: u32 = 0x8c;
const IC_DMA_RDLR: u32 = 0x90;
const IC_ENABLE_STATUS: u32 = 0x9c;
const IC_FS_SPKLEN: u32 = 0xa0;
const IC_COMP_PARAM_1: u32 = 0xf4;
const IC_COMP_VERSION: u32 = 0xf8;
const IC_COMP_TYPE: u32 = 0xfc;

/// IC_CON: SPEED and its fast mode, 10-bit addresses as a master, RESTARTs, TX_EMPTY when the byte
/// is out, a clock that is held while the queue is full.
const SPEED: u32 = 3 << 1;
const SPEED_FAST: u32 = 2 << 1;
const ADDR10_MASTER: u32 = 1 << 4;
const RESTART_EN: u32 = 1 << 5;
const TX_EMPTY_CTRL: u32 = 1 << 8;
const RX_FIFO_FULL_HLD_CTRL: u32 = 1 << 9;
/// IC_DATA_CMD.
const READ: u32 = 1 << 8;
const STOP: u32 = 1 << 9;
const RESTART: u32 = 1 << 10;
/// IC_RAW_INTR_STAT.
const RX_UNDER: u32 = 1 << 0;
const RX_OVER: u32 = 1 << 1;
const RX_FULL: u32 = 1 << 2;
const TX_OVER: u32 = 1 << 3;
const TX_EMPTY: u32 = 1 << 4;
const TX_ABRT: u32 = 1 << 6;
const ACTIVITY: u32 = 1 << 8;
const STOP_DET: u32 = 1 << 9;
const START_DET: u32 = 1 << 10;
const RESTART_DET: u32 = 1 << 12;
/// Those that follow the queues, and are not kept.
const LEVELS: u32 = RX_FULL | TX_EMPTY;
/// IC_TX_ABRT_SOURCE, whose high bits are TX_FLUSH_CNT.
const TX_FLUSH_CNT: u32 = 23;
const ABRT_7B_ADDR_NOACK: u32 = 1 << 0;
const ABRT_TXDATA_NOACK: u32 = 1 << 3;
/// IC_ENABLE.
const ENABLE: u32 = 1 << 0;
/// The registers of IC_CLR_ in their order, and the interrupts that each clears.
const CLEARS: [(u32, u32); 12] = [
    (IC_CLR_INTR, u32::MAX),
    (0x44, RX_UNDER),
    (0x48, RX_OVER),
    (0x4c, TX_OVER),
    (0x50, 1 << 5),
    (IC_CLR_TX_ABRT, TX_ABRT),
    (0x58, 1 << 7),
    (0x5c, ACTIVITY),
    (0x60, STOP_DET),
    (0x64, START_DET),
    (0x68, 1 << 11),
    (0xa8, RESTART_DET),
];

/// The registers that keep what is written.
const MAP: &[Register] = &[
    Register::new(IC_CON, 0x3ff).with_reset(0x65).refusing(
        ADDR10_MASTER | RX_FIFO_FULL_HLD_CTRL,
        "10-bit addresses as a master and RX_FIFO_FULL_HLD_CTRL are not modelled",
    ),
    Register::new(IC_TAR, 0xfff)
        .with_reset(0x55)
        .refusing(1 << 11, "general calls and START bytes (SPECIAL) are not modelled"),
    Register::new(0x08, 0x3ff).with_reset(0x55),
    Register::new(IC_SS_SCL_HCNT, 0xffff).with_reset(0x28),
    Register::new(IC_SS_SCL_LCNT, 0xffff).with_reset(0x2f),
    Register::new(IC_FS_SCL_HCNT, 0xffff).with_reset(0x06),
    Register::new(IC_FS_SCL_LCNT, 0xffff).with_reset(0x0d),
    Register::new(IC_INTR_MASK, 0x1fff).with_reset(0x8ff),
    Register::new(IC_RX_TL, 0xff),
    Register::new(IC_TX_TL, 0xff),
    Register::new(IC_ENABLE, 7).refusing(6, "IC_ENABLE.ABORT and TX_CMD_BLOCK are not modelled"),
    Register::new(0x7c, 0x00ff_ffff).with_reset(1),
    Register::new(0x84, 1),
    Register::new(IC_DMA_CR, 3),
    Register::new(IC_DMA_TDLR, 0xf),
    Register::new(IC_DMA_RDLR, 0xf),
    Register::new(0x94, 0xff).with_reset(0x64),
    Register::new(0x98, 1).with_reset(1),
    Register::new(IC_FS_SPKLEN, 0xff).with_reset(7),
    Register::new(IC_COMP_PARAM_1, 0),
    Register::new(IC_COMP_VERSION, 0).with_reset(0x3230_312a),
    Register::new(IC_COMP_TYPE, 0).with_reset(0x4457_0140),
];
/// Commands and bytes of the queues.
const DEPTH: usize = 16;

/// The state of the bus; a cycle is the one at which an action is done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    Free,
    /// START or RESTART, and the address.
    Addressing(u64),
    /// The byte of this command.
    Data(u32, u64),
    /// The clock is held for the next command.
    Held,
    Stopping(u64),
}

/// The interface.
#[derive(Clone)]
pub struct I2c {
    name: String,
    base: u32,
    irq: u8,
    dreq: u8,
    reset_bit: u32,
    held: bool,
    registers: Registers,
    commands: VecDeque<u32>,
    received: VecDeque<u8>,
    raised: u32,
    abort: u32,
    phase: Phase,
    /// The direction of the last address.
    reads: bool,
    /// A RESTART that is not allowed.
    refused: bool,
    requests: u128,
}

impl I2c {
    /// The interface at `spec.base`, interrupting with `spec.irq`; `settings.reset` is its bit's
    /// number in RESETS.RESET, `settings.dreq` the number of its first request of DMA.
    ///
    /// # Errors
    /// One of them that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<I2c, String> {
        let needs = |what: &str| format!("{}: {} needs {what}", part.name, spec.name);
        Ok(I2c {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.ok_or_else(|| needs("irq"))?,
            dreq: super::number(spec, "dreq", 63).ok_or_else(|| needs("dreq"))?,
            reset_bit: 1 << super::number(spec, "reset", 25).ok_or_else(|| needs("reset"))?,
            held: true,
            registers: Registers::new(MAP),
            commands: VecDeque::new(),
            received: VecDeque::new(),
            raised: 0,
            abort: 0,
            phase: Phase::Free,
            reads: false,
            refused: false,
            requests: 0,
        })
    }

    /// Cycles of a period of SCL.
    fn period(&self) -> u64 {
        let fast = self.registers[IC_CON] & 6 == SPEED_FAST;
        let [high, low] =
            if fast { [IC_FS_SCL_HCNT, IC_FS_SCL_LCNT] } else { [IC_SS_SCL_HCNT, IC_SS_SCL_LCNT] };
        let clocks = self.registers[high] + self.registers[IC_FS_SPKLEN] + 7 + self.registers[low] + 1;
        clocks.into()
    }

    fn is_enabled(&self) -> bool {
        self.registers[IC_ENABLE] & ENABLE != 0
    }

    /// The next command begins, if there is one and the bus is free for it.
    fn proceed(&mut self, at: u64) {
        let Some(&command) = self.commands.front().filter(|_| self.is_enabled()) else { return };
        let reads = command & READ != 0;
        let continues = self.phase == Phase::Held && self.reads == reads && command & RESTART == 0;
        match self.phase {
            Phase::Held if continues => {
                self.commands.pop_front();
                self.phase = Phase::Data(command, at + 9 * self.period());
            }
            Phase::Held if self.registers[IC_CON] & RESTART_EN == 0 => self.refused = true,
            Phase::Free | Phase::Held => {
                self.raised |= ACTIVITY;
                self.raised |= if self.phase == Phase::Free { START_DET } else { RESTART_DET };
                self.reads = reads;
                self.phase = Phase::Addressing(at + 10 * self.period());
            }
            _ => {}
        }
    }

    /// Nobody acknowledged: the queues are emptied, and the bus let go of.
    fn abort_transfer(&mut self, source: u32, at: u64) {
        self.abort |= source | (self.commands.len() as u32) << TX_FLUSH_CNT;
        self.raised |= TX_ABRT;
        self.commands.clear();
        self.received.clear();
        self.phase = Phase::Stopping(at + self.period());
    }

    fn finish_data(&mut self, command: u32, at: u64, context: &mut Context<'_, '_>) {
        if command & READ != 0 {
            let next = self.commands.front();
            // With an empty queue it waits for the next command behind the acknowledgement.
            let goes_on = next.is_none_or(|next| next & (READ | RESTART) == READ);
            let acknowledged = command & STOP == 0 && goes_on;
            let byte = context.board.two_wire_read(&self.name, acknowledged, at);
            if self.received.len() < DEPTH {
                self.received.push_back(byte);
            } else {
                self.raised |= RX_OVER;
            }
        } else if !context.board.two_wire_write(&self.name, command as u8, at) {
            self.abort_transfer(ABRT_TXDATA_NOACK, at);
            return;
        }
        let stops = command & STOP != 0;
        self.phase = if stops { Phase::Stopping(at + self.period()) } else { Phase::Held };
    }

    fn advance(&mut self, context: &mut Context<'_, '_>) {
        while let Some(at) = self.due().filter(|at| *at <= context.now) {
            match self.phase {
                Phase::Addressing(_) => {
                    let address = (self.registers[IC_TAR] & 0x7f) as u8;
                    if context.board.two_wire_address(&self.name, address, self.reads, at) {
                        let command = self.commands.pop_front();
                        let end = at + 9 * self.period();
                        self.phase = command.map_or(Phase::Held, |command| Phase::Data(command, end));
                    } else {
                        self.abort_transfer(ABRT_7B_ADDR_NOACK, at);
                    }
                }
                Phase::Data(command, _) => self.finish_data(command, at, context),
                Phase::Stopping(_) => {
                    context.board.two_wire_stop(&self.name, at);
                    self.raised |= STOP_DET;
                    self.phase = Phase::Free;
                }
                Phase::Free | Phase::Held => {}
            }
            self.proceed(at);
        }
        self.request(context);
    }

    fn raw(&self) -> u32 {
        let is_full = self.received.len() > self.registers[IC_RX_TL] as usize;
        let waits = matches!(self.phase, Phase::Addressing(_) | Phase::Data(..));
        let is_out = self.registers[IC_CON] & TX_EMPTY_CTRL == 0 || !waits;
        let is_low = self.commands.len() <= self.registers[IC_TX_TL] as usize;
        let is_empty = self.is_enabled() && is_low && is_out;
        self.raised | if is_full { RX_FULL } else { 0 } | if is_empty { TX_EMPTY } else { 0 }
    }

    fn request(&mut self, context: &mut Context<'_, '_>) {
        if std::mem::take(&mut self.refused) {
            context.stop(&self.name, "a RESTART while IC_CON.IC_RESTART_EN is 0 is not modelled");
        }
        if self.raw() & self.registers[IC_INTR_MASK] != 0 && self.is_enabled() {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
        let control = if self.is_enabled() { self.registers[IC_DMA_CR] } else { 0 };
        let sends = control & 2 != 0 && self.commands.len() <= self.registers[IC_DMA_TDLR] as usize;
        let receives = control & 1 != 0 && self.received.len() > self.registers[IC_DMA_RDLR] as usize;
        super::request_transfers(self.dreq, [sends, receives], &mut self.requests, context);
    }

    fn read_register(&mut self, offset: u32) -> Option<u32> {
        if let Some((_, cleared)) = CLEARS.iter().find(|(clear, _)| *clear == offset) {
            let was = self.raised & cleared != 0;
            self.raised &= !cleared | LEVELS;
            if cleared & TX_ABRT != 0 {
                self.abort = 0;
            }
            return Some(was.into());
        }
        Some(match offset {
            IC_DATA_CMD => {
                self.raised |= if self.received.is_empty() { RX_UNDER } else { 0 };
                self.received.pop_front().unwrap_or(0).into()
            }
            IC_INTR_STAT => self.raw() & self.registers[IC_INTR_MASK],
            IC_RAW_INTR_STAT => self.raw(),
            IC_STATUS => {
                let active = self.phase != Phase::Free;
                let flags = [
                    active,
                    self.commands.len() < DEPTH,
                    self.commands.is_empty(),
                    !self.received.is_empty(),
                    self.received.len() == DEPTH,
                    active,
                ];
                flags.iter().rev().fold(0, |word, flag| word << 1 | u32::from(*flag))
            }
            IC_TXFLR => self.commands.len() as u32,
            IC_RXFLR => self.received.len() as u32,
            IC_TX_ABRT_SOURCE => self.abort,
            IC_ENABLE_STATUS => self.registers[IC_ENABLE] & ENABLE,
            _ => return self.registers.get(offset),
        })
    }

    fn write_register(&mut self, offset: u32, write: Write, now: u64) -> Result<(), &'static str> {
        match offset {
            IC_DATA_CMD => self.queue(write.value & 0x7ff, now)?,
            // Read only.
            IC_INTR_STAT | IC_RAW_INTR_STAT | IC_STATUS..=IC_RXFLR | IC_TX_ABRT_SOURCE | IC_ENABLE_STATUS => {
            }
            _ if CLEARS.iter().any(|(clear, _)| *clear == offset) => {}
            IC_ENABLE => {
                self.registers.write(offset, |before| write.onto(before))?;
                if !self.is_enabled() {
                    self.commands.clear();
                    self.received.clear();
                    (self.raised, self.abort) = (0, 0);
                }
            }
            // These can be set while the interface is off alone (their descriptions).
            IC_CON | 0x08 | IC_SS_SCL_HCNT..=IC_FS_SCL_LCNT | IC_FS_SPKLEN if self.is_enabled() => {}
            IC_CON if matches!(write.onto(self.registers[IC_CON]) & SPEED, 0 | SPEED) => {
                return Err("IC_CON.SPEED 0 and 3 do not exist");
            }
            // They take no less.
            IC_SS_SCL_HCNT | IC_FS_SCL_HCNT => self.write_bounded(offset, write, 6)?,
            IC_SS_SCL_LCNT | IC_FS_SCL_LCNT => self.write_bounded(offset, write, 8)?,
            IC_FS_SPKLEN => self.write_bounded(offset, write, 1)?,
            _ => self.registers.write(offset, |before| write.onto(before))?,
        }
        Ok(())
    }

    fn write_bounded(&mut self, offset: u32, write: Write, least: u32) -> Result<(), &'static str> {
        self.registers.write(offset, |before| write.onto(before))?;
        self.registers.set(offset, self.registers[offset].max(least));
        Ok(())
    }

    fn queue(&mut self, command: u32, now: u64) -> Result<(), &'static str> {
        if self.registers[IC_CON] & 1 == 0 {
            return Err("a command to an interface that is no master is not modelled");
        }
        // An abort keeps the queue empty until it is cleared.
        if !self.is_enabled() || self.raised & TX_ABRT != 0 {
            return Ok(());
        }
        if self.commands.len() < DEPTH {
            self.commands.push_back(command);
        } else {
            self.raised |= TX_OVER;
        }
        self.proceed(now);
        Ok(())
    }

    /// As after its own reset.
    fn clear(&mut self) {
        self.registers.reset();
        self.commands.clear();
        self.received.clear();
        (self.raised, self.abort) = (0, 0);
        self.phase = Phase::Free;
        (self.reads, self.refused) = (false, false);
    }
}

impl Peripheral for I2c {
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
        match self.phase {
            Phase::Addressing(at) | Phase::Data(_, at) | Phase::Stopping(at) => Some(at),
            Phase::Free | Phase::Held => None,
        }
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.advance(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.held = context.events.held & self.reset_bit != 0;
            if self.held {
                if self.phase != Phase::Free {
                    context.board.two_wire_stop(&self.name, context.now);
                }
                self.clear();
                self.request(context);
            }
        }
    }

    fn reset(&mut self) {
        self.held = true;
        self.requests = 0;
        self.clear();
    }
}
