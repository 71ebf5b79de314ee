//! The integration tests: one program, so that it is linked once.

mod counter;
mod lms_signer;
mod node;
