//! The integration tests: one program, so that it is linked once.

mod claims;
mod formats;
mod reproduce;
mod texts;
