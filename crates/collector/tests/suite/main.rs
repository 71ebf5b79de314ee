//! The integration tests: one program, so that it is linked once.

mod api;
mod attacks;
mod cluster;
mod command_line;
mod concentrator;
mod documentation;
mod keys;
mod meters;
mod modules;
mod mqtt;
mod operations;
mod registry;
mod relocation;
mod serial;
mod store;
mod traces;
mod wireless_mbus;
