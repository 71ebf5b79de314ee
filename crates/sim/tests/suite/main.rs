//! The integration tests: one program, so that it is linked once.

mod closed_loop;
mod configured;
mod deliveries;
mod firmware;
mod network;
mod oms;
mod power_cuts;
mod scenario;
