//! The integration tests: one program, so that it is linked once.

mod claims;
mod reproduce;
mod texts;
