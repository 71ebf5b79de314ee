//! Arguments as people write them in Python, and rows as Python has JSON.

use crate::errors::{Error, UsageError, exception};
use lab::workspace::Workspace;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use serde::Serialize;

/// The project's files: of the clone around here, else of the wheel.
pub fn workspace() -> PyResult<Workspace> {
    cli::project().map_err(|error| exception(&error))
}

/// A quantity, as a number in its unit or as text: `16_000_000`, `"16MHz"`.
pub fn quantity<T>(
    what: &str,
    given: &Bound<'_, PyAny>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> PyResult<T> {
    let text: String = given.str()?.extract()?;
    parse(&text).map_err(|problem| UsageError::new_err(format!("{what}: {problem}")))
}

/// The same, where it may be left out.
pub fn optional<T>(
    what: &str,
    given: Option<&Bound<'_, PyAny>>,
    parse: impl FnOnce(&str) -> Result<T, String>,
) -> PyResult<Option<T>> {
    given.map(|given| quantity(what, given, parse)).transpose()
}

/// A name or several, none where it is left out.
pub fn names(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    match given {
        None => Ok(Vec::new()),
        Some(one) if one.is_instance_of::<PyString>() => Ok(vec![one.extract()?]),
        Some(several) => several.try_iter()?.map(|name| name?.extract()).collect(),
    }
}

/// A place in memory: a symbol, or an address.
pub fn place(given: &Bound<'_, PyAny>) -> PyResult<String> {
    match given.extract::<u32>() {
        Ok(address) => Ok(format!("{address:#x}")),
        Err(_) => given.extract(),
    }
}

/// Places, none where it is left out.
pub fn places(given: Option<&Bound<'_, PyAny>>) -> PyResult<Vec<String>> {
    match given {
        None => Ok(Vec::new()),
        Some(several) if !several.is_instance_of::<PyString>() && several.try_iter().is_ok() => {
            several.try_iter()?.map(|one| place(&one?)).collect()
        }
        Some(one) => Ok(vec![place(one)?]),
    }
}

/// Rows as `--format json` has them, read by Python's own reader.
pub fn records<'py>(py: Python<'py>, rows: &impl Serialize) -> PyResult<Bound<'py, PyList>> {
    let text = serde_json::to_string(rows).map_err(|error| Error::new_err(error.to_string()))?;
    Ok(py.import("json")?.call_method1("loads", (text,))?.cast_into()?)
}

/// The rows, or where the command would exit with 1 the exception with them as its `records`.
pub fn answer<'py>(
    py: Python<'py>,
    rows: &impl Serialize,
    problem: Option<PyErr>,
) -> PyResult<Bound<'py, PyList>> {
    let records = records(py, rows)?;
    match problem {
        None => Ok(records),
        Some(error) => {
            error.value(py).setattr("records", records)?;
            Err(error)
        }
    }
}
