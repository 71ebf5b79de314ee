//! Invariants of a key that is renewed (docs/reference/protocol.md, "Renewal of the key"), checked
//! against the keys of the collector's store.
//!
//! - Nothing is sealed with a key that was not durable in the collector before, on either side; nor
//!   by a meter with one that it has renewed.
//! - The meter has the key of the collector's epoch, or the next one where the collector has it.
//! - A piece of a renewal, for each m and index, has one content in each direction; the meter sends
//!   none that it was not asked for.

use std::collections::{HashMap, HashSet};
use wire::meter::{
    Address, Channel, Identity, MessageKind, MeterKeys, MeterRecord, Packet, RenewalPacket, Suite,
};

/// The keys of a meter, and what is known of its renewals.
pub(super) struct KeyAudit {
    record: MeterRecord,
    collector: Identity,
    /// All that ever were durable, the latest last.
    keys: Vec<MeterKeys>,
    /// The m of the renewal that was begun last with this as its lowest byte.
    begun: HashMap<u8, u32>,
    /// The pieces that the collector has sent or asked for: m and index.
    asked: HashSet<(u32, u8)>,
    /// The epoch that the meter has sealed with last.
    sealed_in: u32,
    /// Keys that were renewed.
    pub(super) renewed: u64,
}

impl KeyAudit {
    /// Of a meter as it was provisioned.
    pub(super) fn new(record: MeterRecord, collector: Identity) -> KeyAudit {
        let keys = vec![record.keys.clone()];
        let (begun, asked) = (HashMap::new(), HashSet::new());
        KeyAudit { record, collector, keys, begun, asked, sealed_in: 0, renewed: 0 }
    }

    /// The collector's store has this.
    pub(super) fn stored(&mut self, record: &MeterRecord) {
        self.renewed += u64::from(record.keys.epoch() > self.record.keys.epoch());
        let same = |known: &MeterKeys, keys: &MeterKeys| known.expose_epoch_key() == keys.expose_epoch_key();
        for keys in std::iter::once(record.keys.clone()).chain(record.keys.next_epoch()) {
            if !self.keys.iter().any(|known| same(known, &keys)) {
                self.keys.push(keys);
            }
        }
        self.record = record.clone();
    }

    /// The meter has begun a renewal.
    pub(super) fn begun(&mut self, m: u32) {
        self.begun.insert(m as u8, m);
    }

    /// A message of suite 6 is on the air. Returns which of the keys it is sealed with.
    ///
    /// # Errors
    /// A sentence with what must not be.
    pub(super) fn message_sent(&mut self, packet: &Packet<'_>) -> Result<usize, String> {
        let address = Address::provisioned(&self.record.setup);
        let is_with = |keys: &MeterKeys| {
            let channel = self.channel(keys);
            match packet.kind {
                MessageKind::Answer => channel.open_answer(packet.suite, address, packet.body).is_ok(),
                MessageKind::Acknowledgement => {
                    let n = packet.body.first_chunk().map_or(0, |n| u32::from_be_bytes(*n));
                    channel.acknowledge(packet.suite, n) == packet.body
                }
                kind => channel.open(kind, packet.suite, packet.body).is_ok(),
            }
        };
        let Some(key) = self.keys.iter().rposition(is_with) else {
            return Err(format!("{:?} is sealed with no key of the collector's store", packet.kind));
        };
        if matches!(packet.kind, MessageKind::Report | MessageKind::Answer) {
            let before = std::mem::replace(&mut self.sealed_in, self.keys[key].epoch());
            if before > self.sealed_in {
                return Err(format!(
                    "{:?} is sealed with the key of epoch {} after {before}",
                    packet.kind, self.sealed_in
                ));
            }
        }
        Ok(key)
    }

    /// A piece of a renewal is on the air. Returns its m.
    ///
    /// # Errors
    /// A sentence with what must not be.
    pub(super) fn piece_sent(&mut self, piece: &RenewalPacket<'_>) -> Result<u32, String> {
        let index = piece.index;
        let Some(&m) = self.begun.get(&piece.number_lsb) else {
            return Err(format!("piece {index} of a renewal that has not begun"));
        };
        if !self.keys.iter().rev().any(|keys| self.channel(keys).open_renewal_packet(piece, m).is_ok()) {
            return Err(format!(
                "piece {index} of renewal {m} is sealed with no key of the collector's store"
            ));
        }
        if piece.kind == MessageKind::Command {
            self.asked.insert((m, index));
        } else if !self.asked.contains(&(m, index)) {
            return Err(format!(
                "the meter replies with piece {index} of renewal {m}, which nobody asked for"
            ));
        }
        Ok(m)
    }

    /// The meter says what epoch it has.
    ///
    /// # Errors
    /// A sentence where it is none that the collector can have.
    pub(super) fn meter_has(&self, epoch: u8) -> Result<(), String> {
        let keys = &self.record.keys;
        let mut possible = std::iter::once(keys.epoch()).chain(keys.next_epoch().map(|next| next.epoch()));
        if possible.any(|possible| possible as u8 == epoch) {
            return Ok(());
        }
        let next = if keys.has_next() { ", and the next one's" } else { "" };
        Err(format!(
            "it has the key of epoch {epoch}, and the collector's store that of {}{next}",
            keys.epoch()
        ))
    }

    /// Of the key that the collector's store has.
    pub(super) fn epoch(&self) -> usize {
        self.record.keys.epoch() as usize
    }

    /// Returns true if both sides have one key, and the same. The meter says that it has that of
    /// `epoch` and seals with `suite`. A meter that seals otherwise does not show which of two keys
    /// it has.
    pub(super) fn is_settled(&self, epoch: u8, suite: u8) -> bool {
        let keys = &self.record.keys;
        suite != Suite::Aes256GcmRekeyed.code() || !keys.has_next() && keys.epoch() as u8 == epoch
    }

    fn channel<'a>(&'a self, keys: &'a MeterKeys) -> Channel<'a> {
        let (meter, own, peer) = (self.record.setup.meter, &self.collector, &self.record.public);
        Channel { meter, keys, own, peer }
    }
}
