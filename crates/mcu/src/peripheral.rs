//! The bus's plug-in side: registers that do something.

mod bus;
mod context;
mod event;
mod events;
mod gate;
mod roles;
mod spec;

pub use bus::PeripheralBus;
pub(crate) use bus::power::POWER_REDUCTION;
pub use context::Context;
pub use event::Event;
pub use events::{Events, ProtectedMemory};
pub use gate::{ControlRegister, GateRegister};
pub use roles::{
    ClockControl, DmaController, FlashController, Nonvolatile, PowerManagement, Roles, SerialPort,
    WatchdogTimer,
};
pub use spec::Spec;

use crate::{ClockUpdate, Fault, ResetCause};
use std::ops::Range;

/// Wait states of a flash's reads at a hit and at a miss of its cache (SAM D21: CTRLB.READMODE).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadMode {
    /// None for a hit, the wait states for a miss.
    #[default]
    NoMissPenalty,
    /// None for a hit, one beyond the wait states for a miss.
    LowPower,
    /// The wait states for both.
    Deterministic,
}

/// Settings of a flash controller.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlashSettings {
    /// Extra cycles of a read.
    pub wait_states: u8,
    /// True if its cache is on.
    pub cached: bool,
    /// Wait states of its cache.
    pub read_mode: ReadMode,
    /// Number of times that its cache was emptied.
    pub invalidations: u32,
    /// Cycles of the read of a word from a serial flash (RP2040).
    pub word_cycles: u32,
}

/// Memory access that a peripheral makes by itself, between two instructions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dma {
    /// Reads RAM; [`Event::MemoryFetched`] has the bytes.
    Fetch {
        /// One of the addresses of the peripheral that reads.
        device: u32,
        /// First byte.
        address: u32,
        /// Bytes.
        size: u32,
    },
    /// Writes RAM.
    Store {
        /// First byte.
        address: u32,
        /// The bytes to be written.
        bytes: Vec<u8>,
    },
}

/// Settings of the part's power management.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Power {
    /// The level of the core voltage (MSP430: `PMMCOREV`).
    pub core_level: u8,
    /// Cycles from the event that ends a sleep without the main clock to the first cycle of that
    /// clock.
    pub wake_cycles: u64,
    /// Below this supply the part is reset.
    pub falling_v: f64,
    /// After that the reset ends at this supply, if it has not fallen below `brown_out_v`
    /// meanwhile.
    pub rising_v: f64,
    /// Below this supply nothing of what the power management was told is left.
    pub brown_out_v: f64,
    /// The supply at which a reset from below that ends.
    pub cold_v: f64,
    /// Below this supply the part, not being reset, may do anything: the data sheet does not allow
    /// it.
    pub allowed_v: f64,
}

/// Flash as a core that programs it itself sees it at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FlashView {
    /// All of it.
    #[default]
    Whole,
    /// Only from this address on; below it the flash can be neither read nor executed.
    From(u32),
    /// A load gets fuses and lock bits.
    Fuses,
    /// A load gets the signature row.
    SignatureRow,
}

/// A store by the core into the part's flash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FlashStore {
    /// The storing instruction.
    pub pc: u32,
    /// True if that instruction itself stands in flash.
    pub from_flash: bool,
    /// First byte.
    pub address: u32,
    /// Bytes: 1, 2 or 4.
    pub size: u8,
    /// The value to be stored.
    pub value: u32,
    /// The value before the store.
    pub before: u32,
}

/// Change that a flash controller makes to the memory. Except for [`FlashChange::Beside`], the core
/// stands still until it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FlashChange {
    /// Nothing yet: the store is the first half of a long one.
    Kept,
    /// Nothing: the controller takes a write of one of its registers when it is done with what it
    /// is at.
    Wait {
        /// The cycle at which that is.
        until: u64,
    },
    /// Nothing there: the controller erases or programs what it keeps itself (STM32: option bytes).
    Elsewhere {
        /// The cycle at which it is done.
        until: u64,
    },
    /// All bytes of the range become 0xff.
    Erase {
        /// The segment.
        range: Range<u32>,
        /// The cycle at which it is done.
        until: u64,
    },
    /// Bits that are 0 in `bytes` become 0.
    Program {
        /// First byte.
        address: u32,
        /// The bytes to be written.
        bytes: Vec<u8>,
        /// The cycle at which it is done.
        until: u64,
    },
    /// Another change, beside which the core goes on: it stands still only from where it reads or
    /// executes `bank` (STM32L4: two banks, read while write).
    Beside {
        /// The bank at work.
        bank: Range<u32>,
        /// The change in it.
        change: Box<FlashChange>,
    },
}

/// Accesses to a stub since the machine was made. A stub is registers without a model that remember
/// written values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StubUse {
    /// The block's name in the target file.
    pub name: String,
    /// Reads of its registers.
    pub reads: u64,
    /// Writes to its registers.
    pub writes: u64,
}

/// More bytes than the buffers of a UART hold.
const MOST_UNSENT: usize = 64;

/// A peripheral on the bus, which is also [`Clone`]. Registers that a peripheral does not model
/// answer with [`Fault::Peripheral`].
pub trait Peripheral: BoxedClone + Send {
    /// Its constants, which the bus asks for once.
    fn spec(&self) -> Spec;

    /// A read of `size` bytes (1, 2, 4) at `address`.
    ///
    /// # Errors
    /// A register or a size that is not modelled.
    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault>;

    /// A write of `size` bytes (1, 2, 4) at `address`.
    ///
    /// # Errors
    /// A register, a size or a setting that is not modelled.
    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault>;

    /// One bit set or cleared by an instruction for single bits. The default reads the byte and
    /// writes it back; registers with bits that a written one clears or toggles do better.
    ///
    /// # Errors
    /// As [`Peripheral::read`] and [`Peripheral::write`].
    fn write_bit(
        &mut self,
        address: u32,
        bit: u8,
        on: bool,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = self.read(address, 1, context)? & !(1 << bit) | u32::from(on) << bit;
        self.write(address, 1, value, context)
    }

    /// Takes note of other clocks, which run from cycle `now` on.
    fn clocks_changed(&mut self, update: ClockUpdate, now: u64) {
        let _ = (update, now);
    }

    /// The clock by the manual's name (MSP430: `SMCLK`, `ACLK`) that it counts now and so keeps
    /// running, whatever the core's sleep would stop.
    fn clock_needed(&self) -> Option<&'static str> {
        None
    }

    /// The cycle at which [`Peripheral::tick`] must be called next, if it wants to be.
    fn due(&self) -> Option<u64> {
        None
    }

    /// Its time has come: `context.now` is at or past [`Peripheral::due`].
    fn tick(&mut self, context: &mut Context<'_, '_>) {
        let _ = context;
    }

    /// Takes note of something that came about outside of it.
    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        let _ = (event, context);
    }

    /// As after power-up.
    fn reset(&mut self);

    /// A reset of this cause at cycle `now`, of which [`ResetCause::PowerOn`] begins at cycle 0.
    fn reset_by(&mut self, cause: ResetCause, now: u64) {
        let _ = (cause, now);
        self.reset();
    }

    /// The clock control resets it, or the block of it that begins at `base`: see
    /// [`Spec::blocks`].
    fn reset_block(&mut self, base: u32, context: &mut Context<'_, '_>) {
        let _ = base;
        self.reset_by(ResetCause::Software, context.now);
    }

    /// Its clock stood still for these cycles: all that is under way ends so much later.
    fn delay(&mut self, cycles: u64) {
        let _ = cycles;
    }

    /// Its roles in the part.
    fn roles(&self) -> Roles<'_> {
        Roles::default()
    }

    /// Itself, where [`Roles::nonvolatile`] is set.
    fn as_nonvolatile(&mut self) -> Option<&mut dyn Nonvolatile> {
        None
    }

    /// Itself, where it is the part's flash controller.
    fn as_flash_controller(&mut self) -> Option<&mut dyn FlashController> {
        None
    }
}

/// Copies of boxed peripherals, for snapshots.
pub trait BoxedClone {
    /// A copy of itself.
    fn boxed_clone(&self) -> Box<dyn Peripheral>;
}

impl<T: Peripheral + Clone + 'static> BoxedClone for T {
    fn boxed_clone(&self) -> Box<dyn Peripheral> {
        Box::new(self.clone())
    }
}
