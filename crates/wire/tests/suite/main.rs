//! The integration tests: one program, so that it is linked once.

mod collector;
mod edges;
mod vectors;
