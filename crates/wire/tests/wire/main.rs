//! The integration tests: one program, so that it is linked once.

mod collector;
mod edges;
mod vectors;
mod wireless_mbus;

#[path = "../../examples/report.rs"]
mod report;

#[test]
fn the_example_runs() {
    report::main().expect("it does what it says");
}
