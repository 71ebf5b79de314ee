//! The API over a whole service: a database, keys, sessions; meters are played, gateways are not
//! needed.

mod authorisation;
mod commands;
mod connections;
mod described;
mod description;
mod events;
mod forwarding;
mod hostile;
mod log;
mod mistakes;
mod networks;
mod pages;
mod sessions;
pub mod stand;
mod tls;
mod updates;
