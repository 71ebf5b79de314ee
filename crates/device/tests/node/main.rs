//! The integration tests: one program, so that it is linked once.

mod counter;
mod hss_signer;
mod lms_signer;
mod node;
mod signers;
