//! The keys of a meter, as far as they need not survive the collector.

use crate::meter::MeterKeys;
use crate::meter::renewal::Initiator;

/// One under way.
#[derive(Debug)]
pub(super) struct Renewal {
    /// Of the command that began it.
    pub(super) m: u32,
    /// Made with the first packet.
    pub(super) initiator: Option<Box<Initiator>>,
    pub(super) response: Vec<u8>,
    /// The piece that is sent or asked for.
    pub(super) index: u8,
    pub(super) attempts: u32,
    pub(super) next_ms: u64,
}

/// The state of a meter's keys that need not survive the collector.
#[derive(Debug, Default)]
pub(super) struct Keys {
    /// Those that are durable, where the record has others.
    pub(super) saved: Option<Box<MeterKeys>>,
    pub(super) renewal: Option<Renewal>,
    pub(super) prove_at_ms: u64,
    pub(super) proofs: u32,
}
