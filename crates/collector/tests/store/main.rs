//! The store: what was committed is there, once, and its sums are right.

mod consumption;
mod evidence;
mod files;
mod in_place;
mod kills;
mod landing;
mod place;
mod readings;
mod rows;
mod sums;
