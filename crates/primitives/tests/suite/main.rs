//! The integration tests: one program, so that it is linked once.

mod curves;
mod derivation;
mod ecies;
mod entropy;
mod firmware_build;
mod msp430_runtime;
mod one_time;
mod published;
mod random;
mod randomness;
