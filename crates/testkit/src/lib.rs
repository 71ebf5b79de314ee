//! What the tests of several crates share.

pub mod alone;
pub mod documents;
