//! `wattseal._native`: the lab's machines and commands as Python has them. Conversion alone; what
//! it does is in `lab`, `papers` and `cli`. What users see is described in
//! `python/wattseal/__init__.pyi`.

mod command;
mod convert;
mod errors;
mod machine;
mod number;
mod records;
mod wait;

use pyo3::prelude::*;

#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("Error", py.get_type::<errors::Error>())?;
    module.add("UsageError", py.get_type::<errors::UsageError>())?;
    module.add("FaultError", py.get_type::<errors::FaultError>())?;
    module.add_class::<machine::Machine>()?;
    module.add_class::<machine::RunEnd>()?;
    module.add_class::<machine::CallResult>()?;
    module.add_class::<machine::Snapshot>()?;
    module.add_class::<machine::Uart>()?;
    module.add_class::<number::Number>()?;
    module.add_function(wrap_pyfunction!(number::number, module)?)?;
    module.add_function(wrap_pyfunction!(records::bench, module)?)?;
    module.add_function(wrap_pyfunction!(records::measure, module)?)?;
    module.add_function(wrap_pyfunction!(records::ct, module)?)?;
    module.add_function(wrap_pyfunction!(records::reproduce, module)?)?;
    module.add_function(wrap_pyfunction!(records::targets, module)?)?;
    module.add_function(wrap_pyfunction!(command::command, module)?)
}
