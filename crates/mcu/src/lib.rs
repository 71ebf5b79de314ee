//! Cycle-accurate processor models.
//!
//! A [`Machine`] is one microcontroller: a core of one of the families ([`avr`], [`msp430`], [`r8c`], [`mcs51`],
//! [`hc08`], [`cortex_m`]), its memories with their timing, and its peripherals. What kind of microcontroller it is
//! stands in a [`Part`], read from `targets/*.toml`. [`new_machine`] puts the two together.
//!
//! The crate knows no cryptography, no ELF and no file system: it takes an [`Image`] of bytes at addresses, runs
//! it, and counts. Whoever wants to look on hands in an [`Observer`].

pub mod avr;
mod board;
pub mod chips;
pub mod cortex_m;
mod fault;
pub mod hc08;
mod machine;
pub mod mcs51;
pub mod msp430;
mod observe;
mod part;
mod peripheral;
pub mod peripherals;
pub mod r8c;
mod residency;
mod signal;
mod trace;

pub use board::{Board, Chip, Pin, SpiClock, Wiring};
pub use fault::Fault;
pub use machine::{Image, Machine, ResetCause, Segment, Stop, SupplyLimits, Until, new_machine};
pub use observe::{Access, AccessKind, Flow, NoObserver, Observer, PinEdge, Step};
pub use part::{Core, FlashTiming, Memory, MemoryKind, Part, PartError, PeripheralSpec, WaitStates};
pub use peripheral::{Context, Events, FlashChange, FlashStore, Peripheral, PeripheralBus, Power};
pub use residency::{Asleep, Residency};
pub use signal::{Harmonic, Signal};
pub use trace::{Fingerprint, Tables, Trace};
