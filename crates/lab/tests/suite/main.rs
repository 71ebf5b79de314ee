//! The integration tests: one program, so that it is linked once.

mod alignment;
mod asleep;
mod avr_drivers;
mod avr_meter;
mod avr_metering;
mod avr_radio;
mod bare;
mod board_files;
mod bootloader;
mod clocks;
mod constant_time;
mod curves;
mod measured;
mod meter_ports;
mod meter_renewal;
mod meter_update;
mod mutated;
mod node;
mod plan;
mod probe;
mod random_module;
mod runtime;
mod traces;
mod unobserved;
mod vectors;
mod wiped;
