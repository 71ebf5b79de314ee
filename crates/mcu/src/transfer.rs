//! Transfers and triggers between peripherals without the core.
//!
//! Peripherals request direct memory access (DMA), and a controller accesses the bus for them.

use crate::{Context, PeripheralSpec};

/// An access to the bus that a DMA controller asks for; the machine makes it as soon as the
/// instruction under way is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BusAccess {
    /// The controller's number, by which it knows its own.
    pub controller: u8,
    /// First byte.
    pub address: u32,
    /// Bytes: 1, 2 or 4.
    pub size: u8,
    /// Value to be written; `None` for a read.
    pub value: Option<u32>,
    /// The lines of the requests that it serves.
    pub serves: u128,
    /// It is the last one that the controller was set up for.
    pub last: bool,
}

/// Result of an access to the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accessed {
    /// Value that was read or written; `None` where nothing answered.
    pub value: Option<u32>,
    /// Cycles for which the peripheral held the bus up.
    pub waited: u64,
}

/// Cycles that an access to the bus costs the core and the controller because of each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Contention {
    /// For which the core waits.
    pub core: u64,
    /// For which the controller does.
    pub controller: u64,
}

/// Requests, triggers and accesses that have not been passed on yet, and the requests that there
/// are.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lines {
    /// Requests of DMA that wait, a bit for each line.
    pub requests: u128,
    /// The cycle at which one of them changed last, until the controllers have been told.
    pub changed: Option<u64>,
    /// The lines that a controller waits for, until their sources have been told.
    pub wanted: Option<u128>,
    /// Triggers by their numbers, whether each came or went back, and the cycle at which.
    pub triggers: Vec<(u8, bool, u64)>,
    pub accesses: Vec<BusAccess>,
    /// Connected events that came, by the addresses of their registers, and the cycle of each.
    pub raised_events: Vec<(u32, u64)>,
    /// Tasks to be triggered now, by the addresses of their registers.
    pub triggered_tasks: Vec<u32>,
}

impl Lines {
    pub fn is_pending(&self) -> bool {
        self.changed.is_some()
            || self.wanted.is_some()
            || !self.triggers.is_empty()
            || !self.raised_events.is_empty()
    }
}

/// A request of DMA that a peripheral may make.
#[derive(Clone, Copy, Debug, Default)]
pub struct TransferRequest {
    lines: u128,
    on: bool,
}

impl TransferRequest {
    /// The request of this name at `spec`: its settings `NAME_1`, `NAME_2` and so on say where it
    /// leads, as 0xCSN: controller 1 or 2, stream or channel 0 to 7, and where a stream chooses
    /// among requests, its number. 0x3NN is request NN of a multiplexer.
    ///
    /// # Errors
    /// A place that does not exist.
    pub fn new(spec: &PeripheralSpec, name: &str) -> Result<TransferRequest, String> {
        let mut lines = 0;
        for number in 1..=4 {
            let Some(place) = spec.settings.get(&format!("{name}_{number}")) else { break };
            lines |= u32::try_from(*place)
                .ok()
                .and_then(|place| match place >> 8 {
                    3 => multiplexed_line(place & 0xff),
                    controller => line(controller, place >> 4 & 15, place & 15),
                })
                .ok_or_else(|| format!("{}: {name}_{number}: no such DMA request", spec.name))?;
        }
        Ok(TransferRequest { lines, on: false })
    }

    /// Returns the mask of the request's lines; 0 where it leads nowhere.
    #[must_use]
    pub fn lines(&self) -> u128 {
        self.lines
    }

    /// Returns true if the request has been made and not been served.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Makes it from cycle `at` on, or takes it back.
    pub fn set(&mut self, on: bool, at: u64, context: &mut Context<'_, '_>) {
        if on != self.on {
            self.on = on;
            context.events.request_transfer(self.lines, on, at);
        }
    }

    /// As after a reset, in which all requests end.
    pub fn reset(&mut self) {
        self.on = false;
    }
}

/// The line of request `number` of a stream or channel of a controller, if there is one.
#[must_use]
pub fn line(controller: u32, stream: u32, number: u32) -> Option<u128> {
    let exists = matches!(controller, 1 | 2) && stream < 8 && number < 8;
    exists.then(|| 1 << ((controller - 1) * 64 + stream * 8 + number))
}

/// The line of request `number` of a multiplexer, if there is one; a part with a multiplexer has no
/// other lines.
#[must_use]
pub fn multiplexed_line(number: u32) -> Option<u128> {
    matches!(number, 1..=127).then(|| 1 << number)
}
