//! The store: what was committed is there, once, and its sums are right.

mod place;
mod readings;
