//! The integration tests: one program, so that it is linked once.

mod claims;
mod formats;
mod notebooks;
mod reproduce;
mod texts;
