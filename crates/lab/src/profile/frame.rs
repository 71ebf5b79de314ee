//! Frames of the calls that have not returned, and the tree of calls.

use crate::timeline::Timestamp;

#[derive(Clone)]
pub(super) struct Frame {
    pub(super) function: Option<usize>,
    /// Index of its node in the call tree.
    pub(super) node: usize,
    pub(super) start: u64,
    pub(super) begun: Timestamp,
    pub(super) exclusive: u64,
    pub(super) return_to: u32,
    /// Address of the call instruction, or of the function's first where no call led there.
    pub(super) from: u32,
    pub(super) sp: u32,
    pub(super) lowest_sp: u32,
    /// Entered by a jump: returns together with the frame below.
    pub(super) tail: bool,
    /// Entered at the function's first instruction; otherwise a subroutine within it, which the
    /// file does not name.
    pub(super) whole: bool,
    /// Of an interrupt the stack pointer that it found.
    pub(super) interrupted: Option<u32>,
    /// It is of an interrupt, or called by one.
    pub(super) in_interrupt: bool,
    /// Of an interrupt whose handler moved the stack pointer far at once: how deep it was before.
    pub(super) before_move: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Entry {
    Call,
    /// By a jump to a function's first instruction.
    Jump,
    /// With the stack pointer that was found.
    Interrupt {
        interrupted: u32,
    },
}

impl Frame {
    /// An interrupt that has a stack of its own: a handler's first stack pointer is else what was
    /// stacked, some 100 bytes at most, below what it found.
    pub(super) fn on_another_stack(&self) -> bool {
        const STACKED: u32 = 128;
        self.interrupted.is_some_and(|found| found.wrapping_sub(self.sp) > STACKED)
    }
}

/// The calls of a task that waits.
#[derive(Clone)]
pub(super) struct Waiting {
    pub(super) frames: Vec<Frame>,
    pub(super) pc: u32,
    pub(super) sp: u32,
    /// Its number.
    pub(super) task: usize,
}

/// Stored part of a [`Step`]: small, and each field by itself. A processor that has just stored
/// them one by one waits for them when they are copied together.
#[derive(Clone, Copy)]
pub(super) struct StepRecord {
    pub(super) pc: u32,
    /// The stack pointer, of a stack that grows up upside down.
    pub(super) sp: u32,
    pub(super) cycles: u64,
}

/// A place in the call tree: a function under one chain of callers.
#[derive(Clone)]
pub(super) struct Node {
    pub(super) function: Option<usize>,
    pub(super) parent: Option<usize>,
    pub(super) exclusive: u64,
    pub(super) children: Vec<usize>,
}
