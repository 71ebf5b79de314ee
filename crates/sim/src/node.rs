//! What the simulation asks of a node: to live through some time at some supply, to send and to hear.

use lab::LabError;

/// Nanoseconds in a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// A packet on the air, without what the radio adds to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// When its first bit was on the air, in nanoseconds of the simulation.
    pub start_ns: u64,
    /// When its last bit was.
    pub end_ns: u64,
    /// What it carries, the length byte left out.
    pub bytes: Vec<u8>,
}

/// The voltages that a node sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Voltages {
    /// Supply of processor and radio, in volts.
    pub rail_v: f64,
    /// The storage, as the node's converter can read it, in volts.
    pub stored_v: f64,
}

/// A part of a node in one of its states, as the energy is put down for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    /// `cpu` or `radio`.
    pub part: &'static str,
    /// The state's name.
    pub name: String,
}

/// What was drawn from the rail in one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Draw {
    /// Index into [`Node::states`].
    pub state: usize,
    /// Time in this state, in seconds.
    pub time_s: f64,
    /// Charge drawn in it, in coulombs.
    pub charge_c: f64,
}

/// How a stretch of a node's life went.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Advance {
    /// Where it ended, in nanoseconds of the simulation; past the limit by an instruction at most.
    pub now_ns: u64,
    /// What was drawn.
    pub draws: Vec<Draw>,
    /// The processor slept all the time and sleeps on.
    pub asleep: bool,
    /// The supply fell below what the part needs.
    pub power_lost: bool,
}

/// What the firmware counts of itself since it has had power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
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

/// A node with a processor and a radio.
pub trait Node {
    /// The states that energy is put down for; always the same.
    fn states(&self) -> &[State];

    /// The supply has come: a power-on reset.
    ///
    /// # Errors
    /// What the model cannot execute.
    fn power_up(&mut self, now_ns: u64, voltages: Voltages) -> Result<(), LabError>;

    /// The supply is gone, and with it all that is not kept in flash.
    fn power_down(&mut self);

    /// Lives from where it is up to `limit_ns` or, where it slept, to where it wakes up.
    ///
    /// # Errors
    /// What the model cannot execute.
    fn advance(&mut self, limit_ns: u64, voltages: Voltages) -> Result<Advance, LabError>;

    /// The packets that have been sent since the last call.
    fn sent(&mut self) -> Vec<Packet>;

    /// A packet is on the air; whether the node is listening is its own affair.
    fn hear(&mut self, packet: &Packet);

    /// What the firmware counts.
    ///
    /// # Errors
    /// Firmware without these counters.
    fn counts(&self) -> Result<Counts, LabError>;
}
