//! The interface of the STM32F0, F7 and L4 as a slave of a master outside.
//!
//! RM0091 section 26.4.7 (from memory, not yet compared). It holds SCL while ADDR is set, until
//! TXDR has a byte to be sent, and while a received byte finds RXDR full. NACK answers the next
//! byte. Refused: NOSTRETCH, slave byte control (SBC).

use super::super::outside::Symbol;
use super::{ADDCODE, ADDR, BUSY, DIR, GCEN, I2c, NACK, NACKF, NOSTRETCH, PE, Phase, RXNE, STOPF, TXE, TXIS};
use crate::Context;

/// OAR1.
const OA1MODE: u32 = 1 << 10;
const OA1EN: u32 = 1 << 15;
/// OAR2.
const OA2MSK: u32 = 8;
const OA2EN: u32 = 1 << 15;

impl I2c {
    /// A master outside begins from cycle `from` on, where this one is none itself.
    pub(super) fn begin_slave(&mut self, from: u64, context: &mut Context<'_, '_>) {
        if self.phase == Phase::Idle
            && self.outside.begin(&self.name, from, context)
            && self.control[0] & PE != 0
        {
            self.status |= BUSY;
        }
    }

    /// It answers to this address. OA2MSK masks the lowest bits of OA2, and then the reserved
    /// addresses do not match.
    fn is_own(&self, address: u8, read: bool) -> bool {
        let address = u32::from(address);
        let [first, second] = self.own.map(|own| own >> 1 & 0x7f);
        let mask = self.own[1] >> OA2MSK & 7;
        let is_reserved = matches!(address >> 3, 0 | 15);
        let is_first = self.own[0] & (OA1EN | OA1MODE) == OA1EN && first == address;
        let is_second =
            self.own[1] & OA2EN != 0 && (second ^ address) >> mask == 0 && !(mask != 0 && is_reserved);
        let is_call = self.control[0] & GCEN != 0 && address == 0 && !read;
        self.control[0] & PE != 0 && (is_first || is_second || is_call)
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
                    if std::mem::take(&mut self.is_addressed) {
                        self.status |= STOPF;
                        self.control[1] &= !NACK;
                    }
                    self.status &= !(BUSY | TXIS);
                    self.outside.finish(at, context);
                    self.ask(at);
                    self.begin_slave(at, context);
                }
            }
        }
    }

    fn on_address(&mut self, address: u8, read: bool, at: u64, context: &mut Context<'_, '_>) {
        self.is_addressed = self.is_own(address, read);
        self.outside.acknowledge(self.is_addressed);
        self.status &= !TXIS;
        if !self.is_addressed {
            return self.outside.release(at);
        }
        if self.control[0] & NOSTRETCH != 0 {
            context.stop(&self.name, "a slave that does not hold SCL (CR1.NOSTRETCH) is not modelled");
        }
        self.control[1] &= !NACK;
        self.status &= !(0x7f << ADDCODE | DIR);
        self.status |= ADDR | u32::from(address) << ADDCODE | if read { DIR } else { 0 };
    }

    /// ADDR is cleared: data follow.
    pub(super) fn begin_slave_data(&mut self, now: u64) {
        if !self.outside.wants_byte() {
            self.outside.release(now);
        } else if self.waiting.is_some() {
            self.send_slave(now);
        } else {
            self.status |= TXE | TXIS;
        }
    }

    fn on_written(&mut self, byte: u8, at: u64) {
        self.outside.acknowledge(self.is_addressed && self.control[1] & NACK == 0);
        if self.is_addressed {
            self.control[1] &= !NACK;
            if self.status & RXNE != 0 {
                self.shifted = Some(byte);
                return;
            }
            self.received = byte;
            self.status |= RXNE;
        }
        self.outside.release(at);
    }

    fn on_read(&mut self, acknowledged: bool, at: u64) {
        self.outside.acknowledge(acknowledged);
        if !self.is_addressed {
            self.outside.abandon(at);
        } else if acknowledged {
            self.send_slave(at);
        } else {
            self.status = self.status & !TXIS | NACKF;
            self.outside.release(at);
        }
    }

    /// The byte in TXDR goes out, where the master waits for one and ADDR is clear.
    pub(super) fn send_slave(&mut self, at: u64) {
        if self.outside.wants_byte()
            && self.status & ADDR == 0
            && let Some(byte) = self.waiting.take()
        {
            self.status |= TXE | TXIS;
            self.outside.send(byte, at);
        }
    }
}
