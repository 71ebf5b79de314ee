//! Events that the bus reports to a peripheral.

use crate::{Accessed, BusAccess};

/// Something that comes about outside of a peripheral, of which the bus tells it.
#[derive(Clone, Copy, Debug)]
pub enum Event<'a> {
    /// Levels that the board drives at the input pins may have changed. For devices with
    /// [`Spec::follows_inputs`].
    ///
    /// [`Spec::follows_inputs`]: crate::Spec::follows_inputs
    InputsChanged,
    /// `context.events` has other clocks, holds other blocks in reset or pins, or connects other
    /// events, than it did: see [`Events::set_controls`], [`Events::release_pins`] and
    /// [`Events::connect`].
    ///
    /// [`Events::connect`]: crate::Events::connect
    /// [`Events::set_controls`]: crate::Events::set_controls
    /// [`Events::release_pins`]: crate::Events::release_pins
    ControlsChanged,
    /// The core has taken this interrupt, one of [`Spec::interrupts`].
    ///
    /// [`Spec::interrupts`]: crate::Spec::interrupts
    InterruptAcknowledged(u8),
    /// The flags of these interrupts are subscribed to, and no others: see [`Events::raise`].
    ///
    /// [`Events::raise`]: crate::Events::raise
    FlagsSubscribed {
        /// The interrupts, a bit each.
        vectors: u128,
        /// A flag that is set already counts as one that rises now.
        includes_set: bool,
    },
    /// The flag of an interrupt rose, to which this peripheral subscribes.
    FlagRaised {
        /// The interrupt.
        irq: u8,
        /// The cycle.
        at: u64,
    },
    /// The core goes to sleep, in the mode of this name, or the module alone loses its clock in a
    /// power reduction register (AVR: "power reduction"). One that stops the clock of
    /// [`Peripheral::clock_needed`] was refused before.
    ///
    /// [`Peripheral::clock_needed`]: crate::Peripheral::clock_needed
    Sleep(&'a str),
    /// The core wakes from such a sleep: its clocks run again from `context.now` on.
    Wake,
    /// A DMA controller waits for requests on these lines, and no others: see
    /// [`Events::want_transfers`].
    ///
    /// [`Events::want_transfers`]: crate::Events::want_transfers
    DmaRequestsWanted(u128),
    /// DMA requests were made or taken back: see [`Events::transfer_requests`]. For DMA
    /// controllers.
    ///
    /// [`Events::transfer_requests`]: crate::Events::transfer_requests
    DmaRequestsChanged {
        /// The cycle.
        at: u64,
    },
    /// A DMA controller made an access for the requests on these lines.
    DmaAcknowledged {
        /// The lines, some of [`Spec::dma_lines`] among them.
        ///
        /// [`Spec::dma_lines`]: crate::Spec::dma_lines
        lines: u128,
        /// The access is the last that the controller was set up for.
        last: bool,
    },
    /// The access that a DMA controller asked for was made. For DMA controllers.
    BusAccessed {
        /// The access.
        access: &'a BusAccess,
        /// Its result.
        accessed: Accessed,
    },
    /// A trigger came. For devices with [`Spec::follows_triggers`].
    ///
    /// [`Spec::follows_triggers`]: crate::Spec::follows_triggers
    TriggerRose {
        /// Its number.
        number: u8,
        /// The cycle.
        at: u64,
    },
    /// A connected event came: see [`Events::connect`]. For devices with
    /// [`Spec::follows_triggers`].
    ///
    /// [`Events::connect`]: crate::Events::connect
    /// [`Spec::follows_triggers`]: crate::Spec::follows_triggers
    EventRaised {
        /// The address of its register.
        register: u32,
        /// The cycle.
        at: u64,
    },
    /// A trigger went back.
    TriggerFell {
        /// Its number.
        number: u8,
        /// The cycle.
        at: u64,
    },
    /// Bytes begin to arrive at its UART input, one after the other.
    BytesArrive(&'a [u8]),
    /// The bytes that it asked for with [`Dma::Fetch`].
    ///
    /// [`Dma::Fetch`]: crate::Dma::Fetch
    MemoryFetched(&'a [u8]),
    /// A run begins with this supply, in volts. For the power management.
    SupplyApplied(f64),
}
