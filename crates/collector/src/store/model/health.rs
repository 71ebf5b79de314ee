//! The health of the store, readable without asking the store.

use crate::store::{Health, StoreError, Written};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The health after each batch.
#[derive(Debug, Default)]
pub(in crate::store) struct Heartbeat {
    health: Mutex<Health>,
    /// Says if files are not in their place.
    astray: AtomicBool,
}

impl Heartbeat {
    pub(in crate::store) fn beat(&self, took: Duration, done: Result<&[Written], &StoreError>) {
        let mut health = self.health.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        health.last_commit_us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let took_us = health.last_commit_us;
        health.commit_times.count(took_us);
        match done {
            Ok(written) => {
                let new =
                    |written: &&Written| matches!(written, Written::Reading { .. } | Written::Alert { .. });
                health.trouble = None;
                health.batches += 1;
                health.reports += written.iter().filter(new).count() as u64;
            }
            Err(error) => {
                health.trouble = Some(error.to_string());
                health.failed += 1;
            }
        }
    }

    /// Records the check of the database's files between batches.
    pub(in crate::store) fn place(&self, found: Result<&(), &StoreError>) {
        let mut health = self.health.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        match found {
            Ok(()) if self.astray.swap(false, Ordering::Relaxed) => health.trouble = None,
            Ok(()) => {}
            Err(error) => {
                self.astray.store(true, Ordering::Relaxed);
                health.trouble = Some(error.to_string());
            }
        }
    }

    /// Records a comparison of readings with their sums. Returns true for the first damage of its
    /// kind.
    pub(in crate::store) fn compared(&self, compared: u64, damage: Option<&str>) -> bool {
        let mut health = self.health.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        health.compared = compared;
        let first = health.damage.is_none() && damage.is_some();
        if first {
            health.damage = damage.map(ToOwned::to_owned);
        }
        first
    }

    /// But for the sizes.
    pub(in crate::store) fn health(&self) -> Health {
        self.health.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}
