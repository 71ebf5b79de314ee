//! Interface between the simulator and a node: to live through some time at some supply, to send
//! and to receive.
//!
//! - [`emulated`]: a board on its models; [`meter`]: the meter's firmware on it; [`harvested`]: the
//!   harvested node's
//! - [`host`]: the meter's firmware built for the host
//!
//! A test's node follows a script.

mod calls;
pub mod emulated;
pub mod harvested;
pub mod host;
pub mod meter;

pub use calls::{Call, CallObserver, CounterSnapshot, RADIO_STATES};

use crate::radio::{Arrival, Emission, ReceiveMode};
use crate::supply::{Draw, State, Voltages};
use device::meter::Status;
use lab::LabError;

/// Progress of a node.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advance {
    /// End of the step, in nanoseconds of the simulation; past the limit by an instruction at most.
    pub now_ns: u64,
    /// Draws from the rail, where its energy is accounted for.
    pub draws: Vec<Draw>,
    /// The processor slept all the time and sleeps on.
    pub asleep: bool,
    /// The supply fell below what the part needs.
    pub power_lost: bool,
}

/// Part of its non-volatile memory that a node writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    /// A byte of what keeps its numbers, settings and reports.
    Byte,
    /// A sector or a word of its flash, for an image.
    Flash,
}

/// Counts of the harvested node's firmware since it has had power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SignerCounts {
    /// Times that it woke up for its work.
    pub wakes: u64,
    /// Of these, times that it did not listen because the storage held too little.
    pub closed: u64,
    /// Messages signed.
    pub signed: u64,
    /// Messages sent.
    pub sent: u64,
    /// Messages not made because the storage held too little.
    pub refused: u64,
}

/// A node with a processor and a radio. Times are nanoseconds of the simulation.
pub trait Node: std::any::Any + Send {
    /// Returns the receive mode while it has power.
    fn receive_mode(&self) -> ReceiveMode;

    /// When it next does something by itself: no later than its next emission. A node that does not
    /// know says the time that it has lived to; [`u64::MAX`] is never.
    fn next_ns(&self) -> u64;

    /// Lives up to `until_ns`. A node with states may end earlier, where its processor wakes up.
    ///
    /// # Errors
    /// An instruction or access that its model cannot execute, or firmware that does what it must
    /// not.
    fn advance(&mut self, until_ns: u64) -> Result<Advance, LabError>;

    /// Appends what it has put on the air since the last call, in its order: all that begins before
    /// the time that it has lived to, and packets at their end. Bytes yet to come may be among
    /// them.
    fn take_emissions(&mut self, into: &mut Vec<Emission>);

    /// Something arrives, at or after the time that it has lived to. Whether it listens is its own
    /// affair.
    fn receive(&mut self, arrival: Arrival);

    /// Its power comes.
    ///
    /// # Errors
    /// An instruction or access that its model cannot execute.
    fn power_up(&mut self, now_ns: u64, voltages: Voltages) -> Result<(), LabError>;

    /// Its power is cut at the time that it has lived to. A byte of non-volatile memory that is
    /// being written may become `torn`.
    fn cut_power(&mut self, torn: u8);

    /// The voltages from now on: where the supply is not the mains.
    fn set_voltages(&mut self, _: Voltages) {}

    /// Sets the load that a meter measures from now on, in watts.
    fn set_load(&mut self, _: f64) {}

    /// The states that energy is put down for; always the same, none where nobody accounts for it.
    fn states(&self) -> &[State] {
        &[]
    }

    /// Returns the part of its non-volatile memory that is being written, or was begun since the
    /// last call.
    fn writes(&mut self) -> Option<Written> {
        None
    }

    /// Its power fails within the change of its flash that comes after a number of others, where it
    /// has one that can fail so. Then some bits, those of the mask, have changed, [`Node::writes`]
    /// says so, and it does nothing more. `None`: it does not fail so.
    fn arm(&mut self, _: Option<(u64, u8)>) {}

    /// The slot whose image it runs, to its end; `None` where no bootloader has chosen one.
    fn image(&self) -> Option<&[u8]> {
        None
    }

    /// Returns a meter's status: `struct ws_meter_status`, all 0 without power.
    fn meter_status(&self) -> Status {
        Status::default()
    }

    /// Returns the counts of the harvested node.
    ///
    /// # Errors
    /// Firmware without these counters.
    fn signer_counts(&self) -> Result<SignerCounts, LabError> {
        Ok(SignerCounts::default())
    }

    /// The calls of observed functions that have returned since this was last asked.
    fn take_calls(&mut self) -> Vec<Call> {
        Vec::new()
    }

    /// Bytes of its stack that were never touched since its power came; `None` where it has no such
    /// stack.
    fn stack_untouched(&self) -> Option<u32> {
        None
    }
}
