//! One UART of a machine.

use super::Machine;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// UART of a machine, as ``Machine.uart`` gives it.
#[pyclass(frozen, module = "wattseal")]
pub struct Uart {
    machine: Py<Machine>,
    /// Its name in the data sheet.
    #[pyo3(get)]
    name: String,
}

impl Uart {
    pub fn new(machine: Py<Machine>, name: String) -> Uart {
        Uart { machine, name }
    }
}

#[pymethods]
impl Uart {
    /// Bytes begin to arrive, at the UART's own rate, while the program runs on.
    fn send(&self, py: Python<'_>, data: Vec<u8>) -> PyResult<()> {
        self.machine.get().with(py, |probe| probe.send(&self.name, &data))
    }

    /// Returns the bytes that the program has sent since they were last read.
    fn read<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let sent = self.machine.get().with(py, |probe| probe.take_sent_by(&self.name))?;
        Ok(PyBytes::new(py, &sent))
    }

    /// True once the program has switched on the receiver.
    #[getter]
    fn listens(&self, py: Python<'_>) -> PyResult<bool> {
        self.machine.get().with(py, |probe| probe.listens(&self.name))
    }

    fn __repr__(&self) -> String {
        format!("<Uart {}>", self.name)
    }
}
