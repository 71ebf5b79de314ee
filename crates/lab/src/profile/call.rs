//! Calls as a profile has them: finished, open, and their sums.

use crate::timeline::Spent;

/// One finished call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Call {
    /// Index into [`firmware::Firmware::functions`].
    pub function: usize,
    /// Cycles since reset when the call instruction began.
    pub start: u64,
    /// Cycles with everything that it called, and interrupts that came meanwhile.
    pub inclusive: u64,
    /// Cycles of its own.
    pub exclusive: u64,
    /// Deepest stack use below the stack pointer at the call instruction, in bytes.
    pub stack: u32,
    /// Time and energy of the inclusive cycles.
    pub spent: Spent,
    /// The call instruction, about to execute; of a tail call the function's first.
    pub from: ExecutionPoint,
    /// The instruction returned to, about to execute.
    pub to: ExecutionPoint,
}

/// A call that has not returned, as it stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenCall {
    /// Index into [`firmware::Firmware::functions`].
    pub function: usize,
    /// Cycles since reset when the call instruction began.
    pub start: u64,
    /// Cycles so far, as in [`Call::inclusive`].
    pub inclusive: u64,
    /// Cycles of its own so far.
    pub exclusive: u64,
    /// Deepest stack use so far, as in [`Call::stack`].
    pub stack: u32,
    /// Time and energy of the inclusive cycles.
    pub spent: Spent,
    /// It began at the function's first instruction; otherwise it is of something within, which the
    /// file does not name.
    pub whole: bool,
    /// No other open call of the same function is around it.
    pub outermost: bool,
}

/// Point of execution, recognisable in another run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionPoint {
    /// Address of the next instruction.
    pub pc: u32,
    /// The stack pointer, as the machine has it.
    pub sp: u32,
}

/// Sums over all calls of one function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Total {
    /// Calls that returned.
    pub calls: u64,
    /// Cycles with everything called, of what in it is called for itself, too; of a recursive
    /// function only the outermost call counts.
    pub inclusive: u64,
    /// Cycles of its own, also in calls that have not returned.
    pub exclusive: u64,
    /// Deepest stack use of any call, in bytes.
    pub stack: u32,
    /// Time and energy of the inclusive cycles.
    pub spent: Spent,
}
