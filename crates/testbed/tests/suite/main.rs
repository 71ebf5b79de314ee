//! The integration tests: one program, so that it is linked once.

mod chaos;
mod costs;
mod demo;
mod load;
mod load_cluster;
