//! Python functions that are called where a program comes by.

use super::Machine;
use crate::errors::UsageError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The functions by the addresses of their instructions.
#[derive(Default)]
pub struct Actions {
    by_address: Mutex<BTreeMap<u32, Py<PyAny>>>,
    /// One of them is being called.
    acting: AtomicBool,
}

impl Actions {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u32, Py<PyAny>>> {
        self.by_address.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets or removes the function of an address. Returns all addresses, as a probe takes them.
    pub fn set(&self, address: u32, act: Option<Py<PyAny>>) -> Vec<String> {
        let mut by_address = self.lock();
        let before = match act {
            Some(act) => by_address.insert(address, act),
            None => by_address.remove(&address),
        };
        let addresses = by_address.keys().map(|address| format!("{address:#x}")).collect();
        drop(by_address);
        // Its end may run Python code, which may come here.
        drop(before);
        addresses
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        let before = std::mem::take(&mut *self.lock());
        drop(before);
    }

    pub fn are_none(&self) -> bool {
        self.lock().is_empty()
    }

    /// Calls the function of an address, if there is one.
    pub fn call(&self, address: u32, machine: &Bound<'_, Machine>) -> PyResult<()> {
        let py = machine.py();
        let Some(act) = self.lock().get(&address).map(|act| act.clone_ref(py)) else { return Ok(()) };
        self.acting.store(true, Ordering::Relaxed);
        let done = act.call1(py, (machine,));
        self.acting.store(false, Ordering::Relaxed);
        done.map(drop)
    }

    /// Refuses what would run the machine while it runs.
    ///
    /// # Errors
    /// `UsageError` within a function that the machine calls.
    pub fn refuse_within(&self, method: &str) -> PyResult<()> {
        if self.acting.load(Ordering::Relaxed) {
            let said = format!(
                "{method} within what on() calls: it may look at the machine and change it, not run it"
            );
            return Err(UsageError::new_err(said));
        }
        Ok(())
    }

    /// Tells Python's garbage collector of them.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self.by_address.try_lock() {
            Ok(by_address) => by_address.values().try_for_each(|act| visit.call(act)),
            Err(_) => Ok(()),
        }
    }
}
