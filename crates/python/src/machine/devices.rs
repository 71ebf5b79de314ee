//! Devices on serial buses that are functions in Python.

use crate::errors::UsageError;
use lab::probe::{I2cScript, SpiScript};
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

thread_local! {
    /// A function of a device is being called on this thread, which has its machine locked.
    static WITHIN: Cell<bool> = const { Cell::new(false) };
}

/// Returns true within a function of a device.
pub fn is_within() -> bool {
    WITHIN.get()
}

/// The functions of a device by their names.
type Functions = BTreeMap<&'static str, Py<PyAny>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The devices of a machine: their functions, and what one has raised.
#[derive(Default)]
pub struct Devices {
    functions: Mutex<Vec<Arc<Mutex<Functions>>>>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Devices {
    /// A script of these functions, those that are given.
    pub fn script(
        &self,
        name: String,
        functions: impl IntoIterator<Item = (&'static str, Option<Py<PyAny>>)>,
    ) -> Script {
        let given = functions.into_iter().filter_map(|(method, act)| Some((method, act?))).collect();
        Script { name, functions: Arc::new(Mutex::new(given)), raised: Arc::clone(&self.raised) }
    }

    /// Keeps the functions of a device that was attached.
    pub fn keep(&self, script: &Script) {
        lock(&self.functions).push(Arc::clone(&script.functions));
    }

    /// The exception that ended a run, once.
    pub fn take_raised(&self) -> Option<PyErr> {
        lock(&self.raised).take()
    }

    /// Forgets all of them.
    pub fn clear(&self) {
        for functions in std::mem::take(&mut *lock(&self.functions)) {
            let before = std::mem::take(&mut *lock(&functions));
            // Its end may run Python code, which may come here.
            drop(before);
        }
    }

    /// Tells Python's garbage collector of them.
    pub fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Ok(devices) = self.functions.try_lock() else { return Ok(()) };
        for functions in devices.iter() {
            if let Ok(functions) = functions.try_lock() {
                functions.values().try_for_each(|act| visit.call(act))?;
            }
        }
        Ok(())
    }
}

/// One device.
#[derive(Clone)]
pub struct Script {
    name: String,
    functions: Arc<Mutex<Functions>>,
    raised: Arc<Mutex<Option<PyErr>>>,
}

impl Script {
    fn has(&self, method: &str) -> bool {
        lock(&self.functions).contains_key(method)
    }

    /// Calls one of the functions, if it was given, and reads what it returns.
    fn call<T>(
        &self,
        method: &'static str,
        arguments: impl for<'py> pyo3::call::PyCallArgs<'py>,
        read: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<Option<T>, String> {
        Python::attach(|py| {
            let Some(act) = lock(&self.functions).get(method).map(|act| act.clone_ref(py)) else {
                return Ok(None);
            };
            let outer = WITHIN.replace(true);
            let answer = act.bind(py).call1(arguments).and_then(|answer| read(&answer));
            WITHIN.set(outer);
            answer.map(Some).map_err(|error| self.keep(py, method, error))
        })
    }

    /// Keeps an exception with a note that names the device. Returns its text.
    fn keep(&self, py: Python<'_>, method: &str, error: PyErr) -> String {
        let note = format!("in {method}() of the device {}", self.name);
        // Before Python 3.11 exceptions have no notes.
        if error.value(py).hasattr("add_note").unwrap_or(false) {
            let added = error.value(py).call_method1("add_note", (note.as_str(),));
            drop(added);
        }
        let said = format!("{note}: {error}");
        lock(&self.raised).get_or_insert(error);
        said
    }
}

/// True or false, and true for `None`.
fn acknowledgement(answer: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(answer.extract::<Option<bool>>()?.unwrap_or(true))
}

fn byte(answer: &Bound<'_, PyAny>) -> PyResult<u8> {
    answer.extract().map_err(|_| {
        let given = answer.repr().map_or_else(|_| "something else".into(), |text| text.to_string());
        PyValueError::new_err(format!("it returned {given}, and a byte is an integer from 0 to 255"))
    })
}

fn nothing(_: &Bound<'_, PyAny>) -> PyResult<()> {
    Ok(())
}

impl I2cScript for Script {
    fn start(&mut self, reads: bool, time_s: f64) -> Result<bool, String> {
        if !self.has(if reads { "read" } else { "write" }) {
            return Ok(false);
        }
        Ok(self.call("start", (reads, time_s), acknowledgement)?.unwrap_or(true))
    }

    fn write(&mut self, byte: u8) -> Result<bool, String> {
        Ok(self.call("write", (byte,), acknowledgement)?.unwrap_or(false))
    }

    fn read(&mut self) -> Result<u8, String> {
        Ok(self.call("read", (), byte)?.unwrap_or(0xFF))
    }

    fn stop(&mut self) -> Result<(), String> {
        self.call("stop", (), nothing).map(|_| ())
    }
}

impl SpiScript for Script {
    fn select(&mut self, selected: bool, time_s: f64) -> Result<(), String> {
        self.call("select", (selected, time_s), nothing).map(|_| ())
    }

    fn transfer(&mut self, byte_out: u8) -> Result<u8, String> {
        Ok(self.call("transfer", (byte_out,), byte)?.unwrap_or(0xFF))
    }
}

/// Refusal of a function of a device that would use the machine while it runs.
pub fn refused() -> PyErr {
    UsageError::new_err("within a function of a device: its machine runs; use what the function is given")
}
