//! Cycle-accurate processor models.
//!
//! An [`Mcu`] is one microcontroller: a core of one of the families in [`cores`], its memories with
//! their timing, and its peripherals. What kind of microcontroller it is stands in a [`Part`], read
//! from `targets/*.toml`. [`new_machine`] puts the two together.
//!
//! The crate knows no cryptography, no ELF and no file system: it takes an [`Image`] of bytes at
//! addresses, runs it, and counts. Whoever wants to look on hands in an [`Observer`].

#![warn(missing_docs)]

/// Runs the examples of the package's page as tests.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

mod board;
mod bootloader_vectors;
pub mod chips;
mod clock;
pub mod cores;
mod dataflow;
mod decode_cache;
mod fault;
mod flash;
mod fuses;
mod i2c_bus;
mod machine;
mod memory;
mod microcontroller;
mod observe;
mod part;
mod peripheral;
pub mod peripherals;
mod register_uses;
mod residency;
mod signal;
mod supply;
mod taint;
mod trace;
mod transfer;

pub use board::{
    Board, Chip, FinishedTransfer, Levels, MasterData, MasterTransfer, Pin, SentByte, SpiClock, Wiring,
};
pub use bootloader_vectors::vectors_behind_bootloader;
pub use clock::{ClockChange, ClockSources, ClockUpdate, Frequency, FuseOscillator, SubsystemClocks};
pub use fault::{EnteredFault, Fault, SYSTEM_CONTROL_SPACE};
pub use fuses::{FUSES, FuseField, Fuses, RefusedFuse, Signature};
pub use i2c_bus::TwoWireDevice;
pub use microcontroller::{
    Image, Mcu, Protected, Register, ResetCause, Role, Segment, Stop, SupplyLimits, Until,
    new_clocked_machine, new_machine,
};
pub use observe::{
    Access, AccessKind, ControlTransfers, DacStep, Flow, NoObserver, Observer, PinDirections, PinEdge,
    SleepInterval, Step,
};
pub use part::{
    Bridge, BridgeClock, CoreName, CoreOptions, FlashTiming, Memory, MemoryKind, Part, PartError,
    PeripheralSpec, Unmodelled, WaitStates,
};
pub use peripheral::{
    ClockControl, Context, ControlRegister, Dma, DmaController, Event, Events, FlashChange, FlashController,
    FlashSettings, FlashStore, FlashView, GateRegister, Nonvolatile, Peripheral, PeripheralBus, Power,
    PowerManagement, ProtectedMemory, ReadMode, Roles, SerialPort, Spec, StubUse, WatchdogTimer,
};
pub use register_uses::{RegisterUse, RegisterUses};
pub use residency::{Asleep, Residency, Span};
pub use signal::{Harmonic, Samples, Signal};
pub use taint::{Labels, Leak, LeakKind, SecretReads, Taint};
pub use trace::{Fingerprint, Tables, Trace};
pub use transfer::{Accessed, BusAccess, Contention, TransferRequest};
