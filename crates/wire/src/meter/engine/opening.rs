//! Opening, apart from all else: it takes a message and keys, and nothing that the collector has to
//! wait for or to lock.

use super::outcome::UplinkOutcome;
use crate::meter::{
    Address, Channel, Identity, Message, MessageKind, MeterId, MeterRecord, NotAuthentic, Opened, Suite,
};
use std::sync::Arc;

/// The result of a packet, before anything is opened.
#[derive(Debug)]
pub enum ReassemblyOutcome {
    /// All that there is to say of it.
    Done(UplinkOutcome),
    /// A message is whole: open it, here or on another thread, and give it to
    /// [`super::Collector::take`].
    Sealed(SealedMessage),
}

/// A message that is whole, with the keys that it is to be opened with. Nothing of it is true yet.
#[derive(Debug)]
pub struct SealedMessage {
    pub(super) record: Arc<MeterRecord>,
    pub(super) identity: Arc<Identity>,
    pub(super) message: Message,
    /// The addresses that it may have come from: at least one.
    pub(super) addresses: Vec<Address>,
}

impl SealedMessage {
    /// In whose name it came: the meter as it was provisioned.
    #[must_use]
    pub fn meter(&self) -> MeterId {
        self.record.setup.meter
    }

    /// The message as it came.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.message.bytes
    }

    /// Says if opening it takes curves: some hundred times as slow as all else.
    #[must_use]
    pub fn takes_curves(&self) -> bool {
        self.message.kind == MessageKind::Report && self.message.suite.has_curve()
    }

    /// Opens it. It takes its time, and changes nothing.
    #[must_use]
    pub fn open(self) -> OpenedMessage {
        let SealedMessage { record, identity, message, addresses } = self;
        let (meter, keys, peer) = (record.setup.meter, &record.keys, &record.public);
        let open = |keys| {
            let channel = Channel { meter, keys, own: &identity, peer };
            if message.kind != MessageKind::Answer {
                return Some((addresses[0], channel.open(message.kind, message.suite, &message.bytes).ok()?));
            }
            // The address is part of what is authentic.
            addresses.iter().find_map(|address| {
                let opened = channel.open_answer(message.suite, *address, &message.bytes).ok()?;
                Some((*address, opened))
            })
        };
        let mut opened = open(keys);
        let next = if message.suite == Suite::Aes256GcmRekeyed { keys.next_epoch() } else { None };
        let mut with_next = false;
        if opened.is_none()
            && let Some(next) = next
        {
            opened = open(&next);
            with_next = opened.is_some();
        }
        let (address, opened) =
            opened.map_or((addresses[0], Err(NotAuthentic)), |(address, opened)| (address, Ok(opened)));
        OpenedMessage { record, message, address, opened, with_next }
    }
}

/// A message that was opened, or that is not authentic.
#[derive(Debug)]
pub struct OpenedMessage {
    /// The keys that it was opened with: a meter that was removed since, or has others, is not this
    /// one any more.
    pub(super) record: Arc<MeterRecord>,
    pub(super) message: Message,
    pub(super) address: Address,
    pub(super) opened: Result<Opened, NotAuthentic>,
    /// With the key of the next epoch.
    pub(super) with_next: bool,
}

impl OpenedMessage {
    /// In whose name it came: the meter as it was provisioned.
    #[must_use]
    pub fn meter(&self) -> MeterId {
        self.record.setup.meter
    }
}
