//! The interface as a slave of a master outside.
//!
//! RM0008 section 25.3.2, RM0090 section 28.3.2, RM0091 section 28.5 (from memory, not yet
//! compared). SSI, or NSS without SSM, selects it while low. It sends what waits when a byte
//! begins; where nothing does, the manual does not say what the master gets. The master keeps its
//! mode and at most half of PCLK. Refused: another mode, a faster clock, an NSS that floats
//! or that rises within a byte.

use super::{CPHA, CPOL, MSTR, OVR, SPE, SSI, SSM, Spi};
use crate::{Board, Context, FinishedTransfer, MasterData};
use std::collections::VecDeque;

/// A byte in both directions.
#[derive(Clone, Copy)]
struct Byte {
    from_master: u8,
    /// None where nothing waited.
    answer: Option<u8>,
    is_selected: bool,
    end: u64,
}

/// The master.
#[derive(Clone, Default)]
pub(super) struct OutsideMaster {
    bytes: VecDeque<u8>,
    mode: u8,
    hz: u64,
    byte: Option<Byte>,
    received: Vec<Option<u8>>,
}

impl OutsideMaster {
    pub fn due(&self) -> Option<u64> {
        self.byte.map(|byte| byte.end)
    }

    pub fn delay(&mut self, cycles: u64) {
        self.byte.iter_mut().for_each(|byte| byte.end += cycles);
    }

    /// True while it exchanges a byte with this slave.
    pub fn is_exchanging(&self) -> bool {
        self.byte.is_some_and(|byte| byte.is_selected)
    }
}

impl Spi {
    /// True where its line selects it as a slave; none where the line floats.
    fn is_selected(&self, board: &Board) -> Option<bool> {
        let control = self.control[0];
        if control & (SPE | MSTR) != SPE {
            return Some(false);
        }
        if control & SSM != 0 {
            return Some(control & SSI == 0);
        }
        let pin = self.nss.at(true, board)?;
        board.pin(&pin.port, pin.bit).map(|high| !high)
    }

    /// The next transfer that is due begins, from cycle `from` on.
    pub(super) fn begin_slave(&mut self, from: u64, context: &mut Context<'_, '_>) {
        if self.outside.byte.is_some() {
            return;
        }
        let Some(transfer) = context.board.take_master_transfer(&self.name, context.now) else { return };
        let MasterData::Spi { mode, bytes } = transfer.data else {
            return context.stop(&self.name, "a master outside does not speak SPI");
        };
        let at = context.board.cycle_at(transfer.at_ns).max(from);
        (self.outside.mode, self.outside.hz) = (mode, transfer.clock_hz.max(1));
        self.outside.bytes = bytes.into();
        self.next_from_outside(at, context);
    }

    /// The master's next byte begins, or its transfer has ended.
    fn next_from_outside(&mut self, at: u64, context: &mut Context<'_, '_>) {
        let Some(from_master) = self.outside.bytes.pop_front() else {
            let received = std::mem::take(&mut self.outside.received);
            let bus = self.name.clone();
            context.board.finish_master_transfer(FinishedTransfer {
                bus,
                cycles: at,
                acknowledged: 0,
                received,
            });
            return self.begin_slave(at, context);
        };
        let is_selected = self.is_selected(context.board).unwrap_or_else(|| {
            context.stop(&self.name, "NSS is its input (SSM is clear), and it floats");
            false
        });
        let answer = if is_selected { self.answer(context) } else { None };
        let end = at + (8 * self.clock_hz).div_ceil(self.outside.hz);
        self.outside.byte = Some(Byte { from_master, answer, is_selected, end });
    }

    /// The byte that it sends, if one waits.
    fn answer(&mut self, context: &mut Context<'_, '_>) -> Option<u8> {
        let (mode, own) = (self.outside.mode, (self.control[0] & (CPOL | CPHA)) as u8);
        if mode != own {
            let what = format!("a master outside clocks it in SPI mode {mode}, and CR1 has mode {own}");
            context.stop(&self.name, &what);
        }
        if self.outside.hz * 2 * self.bus_divider > self.clock_hz {
            context.stop(&self.name, "a master outside clocks it faster than half of PCLK");
        }
        self.waiting.pop_front()
    }

    pub(super) fn advance_slave(&mut self, context: &mut Context<'_, '_>) {
        while let Some(byte) = self.outside.byte.filter(|byte| byte.end <= context.now) {
            if byte.is_selected {
                if self.is_selected(context.board) != Some(true) {
                    context.stop(&self.name, "NSS rises within a byte of a master outside");
                }
                if self.received.len() == self.depth {
                    self.status |= OVR;
                } else {
                    self.received.push_back(byte.from_master);
                }
                if let Some(answer) = byte.answer {
                    context.sent(&self.name, answer, byte.end);
                }
            }
            self.outside.received.push(byte.answer);
            self.outside.byte = None;
            self.next_from_outside(byte.end, context);
        }
    }
}
