//! The integration tests: one program, so that it is linked once.

mod formats;
mod reproduce;
