//! The integration tests: one program, so that it is linked once.

mod autonomy;
mod calibration;
mod instrument;
mod mane2014;
mod plan;
mod radio;
mod storage;
mod sun;
mod targets;

#[path = "../../examples/coin_cell.rs"]
mod coin_cell;

#[test]
fn the_example_runs() {
    coin_cell::main().expect("it does what it says");
}
