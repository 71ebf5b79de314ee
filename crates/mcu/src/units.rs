//! Unit tests of the models, as a program of their own: the files that have some, each with what it
//! needs. With the library's tests the whole library would be compiled a second time.

#![allow(dead_code, reason = "the tests use a part of what the library does")]

use mcu::{
    ClockChange, ControlRegister, Frequency, GateRegister, MemoryKind, Part, Pin, ResetCause, SubsystemClocks,
};
use observe::{Access, AccessKind, Flow, Observer, Step};
use std::process::Command;
use taint::Taint;
use trace::{Tables, Trace};

mod board {
    use mcu::Pin;

    mod pin_signal;
}
mod cores {
    mod cortex_m {
        mod boot_rom {
            mod checksum;
        }
        mod cache;
        mod dataflow;
        mod decode;
        mod flash_interface;
        mod fpu {
            pub mod decode;
            pub mod operands;
        }
        mod lines;
        mod mpu;
        mod op;
        mod operands;
        mod rcc;
    }
    mod hc08 {
        mod decode;
        mod timing;
    }
    mod msp430 {
        mod fram;
    }
    mod r8c {
        mod operation;
        mod timing;
    }
    mod riscv {
        mod timing;
    }
}
mod dataflow;
mod observe;
mod peripherals {
    mod microchip {
        mod samd21 {
            mod outputs {
                mod place;
            }
        }
    }
    mod nordic {
        mod core_clock;
        mod counter;
    }
    mod raspberrypi {
        mod rp2040 {
            mod dma {
                mod sniffer;
            }
            mod interrupts;
            mod register_write;

            use register_write::Write;
        }
    }
    mod register;
    mod st {
        mod gpio {
            mod lock;
        }
        mod route {
            mod place;
        }
        mod rtc {
            mod ticks;
            mod time;
        }
    }
    mod ti {
        mod clocks;
        mod rtc {
            mod calendar;
        }
        mod timer_a {
            mod signals {
                mod names;
            }
        }
    }
}
mod signal;
mod taint;
mod trace;

/// A file with tests that no line above names would not run them.
#[test]
fn units_hold_every_test_of_the_sources() {
    let own = std::env::current_exe().expect("this program");
    let listed =
        Command::new(own).args(["--list", "--format", "terse"]).output().expect("it lists its tests");
    let listed = String::from_utf8(listed.stdout).expect("UTF-8").lines().count();
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../src");
    let found = Command::new("grep").args(["-rhE", r"^ *#\[test\]$", source]).output().expect("grep runs");
    let written = String::from_utf8(found.stdout).expect("UTF-8").lines().count();
    assert_eq!(listed, written, "a module with tests is missing here");
}
