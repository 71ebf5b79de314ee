//! The state of a machine, as Python keeps it.

use lab::LabError;
use lab::probe::{self, Probe};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// State of a machine, as ``Machine.snapshot`` keeps it.
#[pyclass(frozen, module = "wattseal")]
pub struct Snapshot {
    state: Mutex<probe::Snapshot>,
    /// Cycles since reset when it was made.
    #[pyo3(get)]
    cycles: u64,
}

impl Snapshot {
    pub fn new(state: probe::Snapshot) -> Snapshot {
        Snapshot { cycles: state.cycles(), state: Mutex::new(state) }
    }

    /// Puts a probe back into this state.
    ///
    /// # Errors
    /// [`Probe::restore`]'s.
    pub fn give_back(&self, probe: &mut Probe) -> Result<(), LabError> {
        probe.restore(&self.state.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl Snapshot {
    fn __repr__(&self) -> String {
        format!("<Snapshot at cycle {}>", self.cycles)
    }
}
