//! The interface of the STM32F1 and F4 as a slave of a master outside.
//!
//! RM0090 section 27.3.2 (from memory, not yet compared). It acknowledges its addresses and bytes
//! while ACK is set, and holds SCL until ADDR is cleared, until DR has a byte to be sent, and while
//! a second byte waits in the shift register (BTF). STOPF comes after an acknowledgement and with
//! ACK alone. Refused: NOSTRETCH and a STOP of the slave.

use super::super::outside::Symbol;
use super::{
    ACK, ADDR, AF, BTF, BUSY, DUALF, ENGC, GENCALL, I2c, NOSTRETCH, PE, Phase, RXNE, STOPF, TRA, TXE,
};
use crate::Context;

/// OAR1.
const ADDMODE: u32 = 1 << 15;
/// OAR2.
const ENDUAL: u32 = 1 << 0;

impl I2c {
    /// A master outside begins from cycle `from` on, where this one is none itself.
    pub(super) fn begin_slave(&mut self, from: u64, context: &mut Context<'_, '_>) {
        if self.phase == Phase::Idle
            && self.outside.begin(&self.name, from, context)
            && self.control[0] & PE != 0
        {
            self.status[1] |= BUSY;
        }
    }

    /// Returns SR2's bits for an address that it answers to.
    fn own_address(&self, address: u8, read: bool) -> Option<u32> {
        let is = |own: u32| own >> 1 & 0x7f == u32::from(address);
        if self.control[0] & (PE | ACK) != PE | ACK {
            None
        } else if self.own[0] & ADDMODE == 0 && is(self.own[0]) {
            Some(0)
        } else if self.own[1] & ENDUAL != 0 && is(self.own[1]) {
            Some(DUALF)
        } else {
            (self.control[0] & ENGC != 0 && address == 0 && !read).then_some(GENCALL)
        }
    }

    pub(super) fn advance_slave(&mut self, context: &mut Context<'_, '_>) {
        while let Some((symbol, at)) = self.outside.complete(context.now) {
            match symbol {
                Symbol::Address { address, read } => self.on_address(address, read, at, context),
                Symbol::Written(byte) => self.on_written(byte, at),
                Symbol::Read { acknowledged } => {
                    if self.is_addressed {
                        context.sent(&self.name, self.outside.last_read(), at);
                    }
                    self.on_read(acknowledged, at);
                }
                Symbol::Stop => {
                    if self.is_addressed && self.acknowledged && self.control[0] & ACK != 0 {
                        self.status[0] |= STOPF;
                    }
                    self.is_addressed = false;
                    self.status[0] &= !(TXE | BTF);
                    self.status[1] = 0;
                    self.outside.finish(at, context);
                    self.conclude(at);
                    self.begin_slave(at, context);
                }
            }
        }
    }

    fn on_address(&mut self, address: u8, read: bool, at: u64, context: &mut Context<'_, '_>) {
        let own = self.own_address(address, read);
        self.outside.acknowledge(own.is_some());
        (self.is_addressed, self.acknowledged) = (own.is_some(), own.is_some());
        let Some(flags) = own else { return self.outside.release(at) };
        if self.control[0] & NOSTRETCH != 0 {
            context.stop(&self.name, "a slave that does not hold SCL (CR1.NOSTRETCH) is not modelled");
        }
        self.status[0] = self.status[0] & !(TXE | BTF) | ADDR;
        self.status[1] = BUSY | flags | if read { TRA } else { 0 };
    }

    /// ADDR is cleared by reading SR1 and SR2: data follow.
    pub(super) fn begin_slave_data(&mut self, now: u64) {
        if self.status[0] & ADDR == 0 {
            return;
        }
        self.status[0] &= !ADDR;
        if !self.outside.wants_byte() {
            self.outside.release(now);
        } else {
            self.status[0] |= TXE;
            if let Some(byte) = self.waiting.take() {
                self.outside.send(byte, now);
            }
        }
    }

    fn on_written(&mut self, byte: u8, at: u64) {
        self.acknowledged = self.is_addressed && self.control[0] & ACK != 0;
        self.outside.acknowledge(self.acknowledged);
        if self.is_addressed && self.status[0] & RXNE != 0 {
            self.shifted = Some(byte);
            self.status[0] |= BTF;
            return;
        }
        if self.is_addressed {
            self.received = byte;
            self.status[0] |= RXNE;
        }
        self.outside.release(at);
    }

    fn on_read(&mut self, acknowledged: bool, at: u64) {
        self.acknowledged = acknowledged;
        self.outside.acknowledge(acknowledged);
        if !self.is_addressed {
            self.outside.abandon(at);
        } else if !acknowledged {
            self.status[0] |= AF;
            self.outside.release(at);
        } else if let Some(byte) = self.waiting.take() {
            self.status[0] |= TXE;
            self.outside.send(byte, at);
        } else {
            self.status[0] |= BTF;
        }
    }

    /// A byte for the master outside is written to DR.
    pub(super) fn write_slave(&mut self, byte: u8, now: u64) {
        if self.outside.wants_byte() && self.status[0] & ADDR == 0 {
            self.status[0] &= !BTF;
            self.outside.send(byte, now);
        } else {
            self.waiting = Some(byte);
            self.status[0] &= !TXE;
        }
    }
}
