//! Ends of calls, as they happen.

/// A call begins or ends, told as it happens: see [`super::Profiler::telling`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallEvent {
    /// Index into [`firmware::Firmware::functions`]; none for code that the file does not name.
    pub function: Option<usize>,
    /// Cycles since reset. Events come in the order of time.
    pub cycles: u64,
    /// The stack that the call is on: 0 the first one, then one for each task that an operating
    /// system resumes.
    pub task: usize,
    /// It is an interrupt's handler or below one.
    pub in_interrupt: bool,
    pub edge: CallEdge,
}

/// An end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallEdge {
    /// A function is called.
    Call,
    /// A function is jumped to, and returns for the one that jumped.
    TailCall,
    /// An interrupt begins with the instruction at `pc`.
    Interrupt {
        /// Address of the handler's first instruction.
        pc: u32,
    },
    /// It returned.
    Return,
    /// The interrupt returned.
    InterruptReturn,
}
