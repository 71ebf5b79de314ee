//! One discrete-event simulator of nodes, radio channels and the stations that they talk to.
//!
//! Boards run their firmware on processor models, or firmware is built for the host. They have
//! supplies and loads. Faults and an attacker disturb them; invariants and costs are checked.
//!
//! - [`simulation`]: the loop; [`time`], [`real_time`]: its clock, virtual and beside the one on
//!   the wall; [`chance`]: random numbers by seed and purpose
//! - [`site`]: a node in its place; [`node`]: the nodes; [`supply`]: mains or harvest; [`load`]:
//!   the loads that meters measure
//! - [`radio`]: channels and framing; [`station`]: the stations; [`attacker`]: an attacker without
//!   keys
//! - [`invariants`]: the invariants; [`energy_account`]: source and use of every joule;
//!   [`reading_account`]: the cost of each reading
//!
//! These are built of it:
//!
//! - [`harvest`]: a harvested node and its server; [`network`]: meters and their collector;
//!   [`link`]: one meter and its collector, to the cycle. [`scenario`] finds their files. The
//!   demonstration is `wattseal-demo`'s.

pub mod attacker;
pub mod chance;
pub mod configured;
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
