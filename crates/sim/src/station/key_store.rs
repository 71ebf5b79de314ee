//! The collector's meters with their keys, as they are in its store: what outlives a crash, and
//! what is being written.

use crate::chance::Chance;
use std::collections::BTreeMap;
use wire::meter::{MeterId, MeterRecord};

/// The store.
pub struct KeyStore {
    durable: Vec<MeterRecord>,
    /// By meter, with when it is durable.
    writing: BTreeMap<MeterId, (u64, MeterRecord)>,
    write_ns: u64,
}

impl KeyStore {
    /// A store that takes `write_ns` to make a record durable, with these records in it.
    #[must_use]
    pub fn new(durable: Vec<MeterRecord>, write_ns: u64) -> KeyStore {
        KeyStore { durable, writing: BTreeMap::new(), write_ns }
    }

    /// Returns the durable records.
    #[must_use]
    pub fn durable(&self) -> &[MeterRecord] {
        &self.durable
    }

    /// Returns true while a meter's record is being written.
    #[must_use]
    pub fn is_writing(&self, meter: MeterId) -> bool {
        self.writing.contains_key(&meter)
    }

    /// When a record is durable next.
    #[must_use]
    pub fn next_ns(&self) -> u64 {
        self.writing.values().map(|(due_ns, _)| *due_ns).min().unwrap_or(u64::MAX)
    }

    /// Begins to write a meter's record in the place of the one before.
    pub fn write(&mut self, record: MeterRecord, now_ns: u64) {
        self.writing.insert(record.setup.meter, (now_ns + self.write_ns, record));
    }

    /// A record that is durable by now, and was not when this was asked last.
    pub fn written(&mut self, now_ns: u64) -> Option<MeterRecord> {
        let (&meter, _) = self.writing.iter().find(|(_, (due_ns, _))| *due_ns <= now_ns)?;
        let (_, record) = self.writing.remove(&meter)?;
        self.replace(record.clone());
        Some(record)
    }

    /// The collector crashes: what is being written is durable, and nobody was told, or it is not.
    /// Returns what is.
    pub fn crash(&mut self, chance: &mut Chance) -> Vec<MeterRecord> {
        let writing = std::mem::take(&mut self.writing).into_values().map(|(_, record)| record);
        let written: Vec<MeterRecord> = writing.filter(|_| chance.happens(0.5)).collect();
        written.iter().cloned().for_each(|record| self.replace(record));
        written
    }

    fn replace(&mut self, record: MeterRecord) {
        let before = self.durable.iter_mut().find(|before| before.setup.meter == record.setup.meter);
        if let Some(before) = before {
            *before = record;
        }
    }
}
