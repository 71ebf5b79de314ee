//! One discrete-event simulator: boards that run their firmware on processor models, or firmware
//! built for the host; their supplies and loads; radio channels; the station that they talk to;
//! faults and an attacker; and what must hold and what it costs.
//!
//! - [`simulation`]: the loop; [`time`], [`real_time`]: its clock, virtual and beside the one on
//!   the wall; [`chance`]: random numbers by seed and purpose
//! - [`site`]: a node where it is; [`node`]: the nodes; [`supply`]: mains or harvest; [`load`]:
//!   what meters measure
//! - [`radio`]: channels and framing; [`station`]: its stations; [`attacker`]: somebody without
//!   keys
//! - [`invariants`]: what must hold; [`energy_account`]: where every joule went;
//!   [`reading_account`]: what each reading took
//!
//! These are built of it:
//!
//! - [`harvest`]: a harvested node and its server; [`network`]: meters and their collector;
//!   [`link`]: one meter and its collector, to the cycle. [`scenario`] finds their files. The
//!   demonstration is `wattseal-demo`'s.

pub mod attacker;
pub mod chance;
pub mod energy_account;
pub mod harvest;
pub mod invariants;
pub mod link;
pub mod load;
pub mod network;
pub mod node;
pub mod radio;
pub mod reading_account;
pub mod real_time;
pub mod scenario;
pub mod simulation;
pub mod site;
pub mod station;
pub mod supply;
pub mod time;
