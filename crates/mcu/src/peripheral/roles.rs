//! Roles that few peripherals have, each with the questions that the bus asks such a peripheral.

use super::StubUse;
use crate::{Context, Fault, FlashChange, FlashStore, GateRegister, Power, SubsystemClocks};

/// The roles of a peripheral. They never change; the bus notes at the beginning which device has
/// which.
#[derive(Clone, Copy, Default)]
pub struct Roles<'a> {
    /// The part's clock control.
    pub clock_control: Option<&'a dyn ClockControl>,
    /// The part's power management.
    pub power_management: Option<&'a dyn PowerManagement>,
    /// A UART.
    pub serial_port: Option<&'a dyn SerialPort>,
    /// A DMA controller.
    pub dma_controller: Option<&'a dyn DmaController>,
    /// A watchdog.
    pub watchdog: Option<&'a dyn WatchdogTimer>,
    /// A keeper of non-volatile memory; see also [`Peripheral::as_nonvolatile`].
    ///
    /// [`Peripheral::as_nonvolatile`]: crate::Peripheral::as_nonvolatile
    pub nonvolatile: Option<&'a dyn Nonvolatile>,
    /// The use of registers without a model.
    pub stub: Option<&'a StubUse>,
}

/// The clocks that the program sets.
pub trait ClockControl {
    /// The core's clock, in Hz, where the core runs at the clock that the program sets.
    fn core_clock_hz(&self) -> Option<u64> {
        None
    }

    /// The clocks beside the core's that peripherals count (MSP430: SMCLK, ACLK).
    fn subsystem_clocks(&self) -> Option<SubsystemClocks> {
        None
    }

    /// The clocks of [`Events::generic_clocks_hz`] after a reset.
    ///
    /// [`Events::generic_clocks_hz`]: crate::Events::generic_clocks_hz
    fn module_clocks(&self) -> Option<Vec<u64>> {
        None
    }

    /// The registers that let peripherals have their clocks, or reset them.
    fn gates(&self) -> &'static [GateRegister] {
        &[]
    }

    /// One of those registers, by its offset.
    fn gate_register(&self, offset: u32) -> u32 {
        let _ = offset;
        0
    }
}

/// The supply that the part needs.
pub trait PowerManagement {
    /// The settings that the program made.
    fn power(&self) -> Power;
}

/// Serial output and input of a UART.
pub trait SerialPort {
    /// The cycle at which the byte that is being sent is complete; a tick is due then.
    fn transmit_end(&self) -> Option<u64>;

    /// Returns true if the UART receives the bytes that arrive now; `None` where that is not known.
    fn is_receiving(&self) -> Option<bool> {
        None
    }

    /// Returns true if bytes can arrive, by [`Event::BytesArrive`].
    ///
    /// [`Event::BytesArrive`]: crate::Event::BytesArrive
    fn has_receiver(&self) -> bool {
        false
    }
}

/// Transfers without the core.
pub trait DmaController {
    /// Returns true if there are data to move.
    fn has_data(&self) -> bool;
}

/// A timer that resets the part.
pub trait WatchdogTimer {
    /// Returns true if the watchdog will reset the part unless the program acts.
    fn is_running(&self) -> bool;
}

/// Memory that outlasts the supply.
pub trait Nonvolatile {
    /// The memory at its ELF address, for images, debuggers and snapshots.
    fn memory(&self) -> Option<(u32, &[u8])> {
        None
    }

    /// As [`Nonvolatile::memory`], to be written.
    fn memory_mut(&mut self) -> Option<(u32, &mut [u8])> {
        None
    }

    /// Writes of bytes that were begun since the machine was made.
    fn writes(&self) -> u64 {
        0
    }

    /// Message about a setting that the last reset loaded from this memory, and that is not
    /// modelled: the part cannot begin with it.
    fn pending_fault(&self) -> Option<String> {
        None
    }

    /// The supply is cut off: the byte that is being written becomes `torn`. A reset follows.
    fn cut_power(&mut self, torn: u8) {
        let _ = torn;
    }
}

/// Stores into flash.
pub trait FlashController {
    /// Begins a store into flash, and returns the resulting change of the memory.
    ///
    /// # Errors
    /// The controller does not allow it, or it is not modelled.
    fn begin_store(
        &mut self,
        store: &FlashStore,
        context: &mut Context<'_, '_>,
    ) -> Result<FlashChange, Fault>;
}
