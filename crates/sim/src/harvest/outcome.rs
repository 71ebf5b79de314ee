//! Outcome of a simulation.

use crate::energy_account::EnergyAccount;
use serde::Serialize;

/// Why an authentication that was due did not come about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// The firmware found too little stored energy and did not sign.
    NoEnergy,
    /// The node had no power for some of the time in which it should have answered.
    NodeOff,
    /// A packet was lost on the air, or nobody was listening.
    Radio,
    /// An answer came, after the deadline.
    Late,
}

/// Missed authentications, by reason.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Misses {
    /// The firmware found too little stored energy and did not sign.
    pub no_energy: u64,
    /// The node had no power for some of the time in which it should have answered.
    pub node_off: u64,
    /// A packet was lost on the air, or nobody was listening.
    pub radio: u64,
    /// An answer came, after the deadline.
    pub late: u64,
}

impl Misses {
    /// Of all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.no_energy + self.node_off + self.radio + self.late
    }

    /// Returns the count of a reason.
    #[must_use]
    pub fn count_of(mut self, reason: Reason) -> u64 {
        *self.count(reason)
    }

    /// The count of one reason.
    pub fn count(&mut self, reason: Reason) -> &mut u64 {
        match reason {
            Reason::NoEnergy => &mut self.no_energy,
            Reason::NodeOff => &mut self.node_off,
            Reason::Radio => &mut self.radio,
            Reason::Late => &mut self.late,
        }
    }
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Event {
    /// When, in seconds since the simulation began.
    pub time_s: f64,
    /// Kind of the event.
    pub kind: EventKind,
}

/// Kind of an event.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EventKind {
    /// A signature verified, its counter new.
    Authenticated,
    /// An authentication was due and did not come.
    Missed(Reason),
    /// The server refused what came.
    Rejected(String),
    /// The node's supply has come.
    PowerUp,
    /// The node's supply is gone.
    PowerLost,
}

/// The state of the world at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sample {
    /// Seconds since the simulation began.
    pub time_s: f64,
    /// Irradiance on the panel, in W/m².
    pub sun_w_per_m2: f64,
    /// Stored voltage, in volts.
    pub stored_v: f64,
    /// Rail, in volts; 0 where it is off.
    pub rail_v: f64,
    /// Authentications up to here.
    pub authentications: u64,
    /// Misses up to here.
    pub misses: u64,
}

/// Outcome of a simulation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outcome {
    /// The scenario's title.
    pub title: String,
    /// Seed of its random numbers.
    pub seed: u64,
    /// Simulated time, in days.
    pub days: f64,
    /// The stored voltage from which the firmware signs, in volts.
    pub threshold_v: f64,
    /// Signatures that verified, with new counters and in time.
    pub authentications: u64,
    /// Those that were due and did not come.
    pub misses: Misses,
    /// Messages that the server refused.
    pub rejected: u64,
    /// Times at which the node lost its supply.
    pub resets: u64,
    /// Time for which it had none, in seconds.
    pub off_s: f64,
    /// Signatures that the node made; it counts them itself.
    pub signed: u64,
    /// Times at which it did not sign for lack of energy.
    pub refused: u64,
    /// From the challenge, or the start of the message, to its last bit, in seconds: the mean; none
    /// without an authentication.
    pub mean_latency_s: Option<f64>,
    /// The longest of them.
    pub max_latency_s: Option<f64>,
    /// Energy that the parts drew from the rail for each authentication, sleep included, in joules.
    pub rail_j_per_authentication: Option<f64>,
    /// Energy that the running processor drew for each signature, in joules.
    pub active_j_per_signature: Option<f64>,
    /// Lowest stored voltage, in volts.
    pub min_v: f64,
    /// Highest stored voltage, in volts.
    pub max_v: f64,
    /// Source and use of the energy.
    pub energy: EnergyAccount,
    /// Events in order.
    pub events: Vec<Event>,
    /// The world against time.
    pub trace: Vec<Sample>,
}
