//! The integration tests: one program, so that it is linked once.

mod any_accesses;
mod avr;
mod chips;
mod clock;
mod clock_gates;
mod clock_registers;
mod cortex_m;
mod hc08;
mod i2c_bus;
mod mcs51;
mod msp430;
mod ordinary;
mod r8c;
mod registers_at_rest;
mod restored;
mod riscv;
mod settings;
mod taint;

#[path = "../../examples/count.rs"]
mod count;

#[test]
fn the_example_runs() {
    count::main().expect("it does what it says");
}
