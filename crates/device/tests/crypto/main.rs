//! The integration tests: one program, so that it is linked once.

mod accumulated;
mod aes_modes;
mod ascon;
mod chacha20_poly1305;
mod curves;
mod derivation;
mod ecies;
mod ed25519;
mod entropy;
mod firmware_build;
mod hss;
mod hybrid;
mod lms;
mod ml_dsa;
mod ml_kem;
mod msp430_runtime;
mod one_time;
mod pieces;
mod prehash;
mod published;
mod random;
mod randomness;
mod sha3;
mod slh_dsa;
mod x25519;
