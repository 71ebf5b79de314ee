//! The mailboxes between the cores (section 2.3.1.4), and the second core behind them.
//!
//! The second core comes as far as the boot ROM brings it (section 2.8.2). It waits for the
//! addresses of its program, answers, and never runs it.

use crate::{Context, Events};
use std::collections::VecDeque;

/// Words of a mailbox.
const DEPTH: usize = 8;
/// FIFO_ST.
const VLD: u32 = 1 << 0;
const RDY: u32 = 1 << 1;
const WOF: u32 = 1 << 2;
const ROE: u32 = 1 << 3;
/// The words that start the core: 0, 1, then VTOR, stack pointer and first instruction.
const LAUNCH: usize = 5;

/// The mailboxes as the first core has them.
#[derive(Clone)]
pub(super) struct SecondCore {
    /// The words that the first core reads, and those that it wrote and nobody took.
    answers: VecDeque<u32>,
    unread: VecDeque<u32>,
    overflow: bool,
    underflow: bool,
    /// Words of the sequence that have come.
    position: usize,
}

impl SecondCore {
    /// As behind a reset: the boot ROM empties its mailbox, and says so with a 0.
    pub fn new() -> SecondCore {
        SecondCore {
            answers: VecDeque::from([0]),
            unread: VecDeque::new(),
            overflow: false,
            underflow: false,
            position: 0,
        }
    }

    /// The core is reset by itself; the first one's mailbox keeps its words.
    pub fn restart(&mut self) {
        self.unread.clear();
        self.position = 0;
        self.answer(0);
    }

    /// FIFO_ST.
    pub fn status(&self) -> u32 {
        let flag = |condition: bool, bit: u32| if condition { bit } else { 0 };
        flag(!self.answers.is_empty(), VLD)
            | flag(self.unread.len() < DEPTH, RDY)
            | flag(self.overflow, WOF)
            | flag(self.underflow, ROE)
    }

    /// A write of FIFO_ST clears its flags.
    pub fn clear_flags(&mut self) {
        (self.overflow, self.underflow) = (false, false);
    }

    /// FIFO_RD.
    pub fn read(&mut self) -> u32 {
        self.underflow |= self.answers.is_empty();
        self.answers.pop_front().unwrap_or(0)
    }

    /// FIFO_WR.
    pub fn write(&mut self, word: u32, events: &mut Events) {
        if self.position == LAUNCH {
            if self.unread.len() < DEPTH {
                self.unread.push_back(word);
            } else {
                self.overflow = true;
            }
            return;
        }
        self.position = match (self.position, word) {
            (2.., _) => self.position + 1,
            (1, 1) => 2,
            (_, 0) => 1,
            _ => 0,
        };
        self.answer(word);
        events.signal_core();
        if self.position == LAUNCH {
            events.pass_over(
                "the program started the second core, which does not run here: what it would do is missing"
                    .into(),
            );
        }
    }

    fn answer(&mut self, word: u32) {
        if self.answers.len() < DEPTH {
            self.answers.push_back(word);
        }
    }

    /// Asks for SIO's interrupt while there is a word or an error.
    pub fn request(&self, irq: u8, context: &mut Context<'_, '_>) {
        if self.status() & (VLD | WOF | ROE) != 0 {
            context.request(irq);
        } else {
            context.withdraw(irq);
        }
    }
}
