//! The store: what was committed is there, once, and its sums are right.

mod consumption;
mod damage;
mod disk;
mod evidence;
mod files;
mod firmware;
mod in_place;
mod kills;
mod landing;
pub mod place;
mod power;
mod readings;
mod retention;
mod rows;
mod server;
mod sums;
mod totals;
