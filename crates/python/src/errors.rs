//! Errors as exceptions, with the text that the command would print.

use lab::LabError;
use pyo3::exceptions::PyException;
use pyo3::{PyErr, create_exception};

create_exception!(
    wattseal,
    Error,
    PyException,
    "Failure for which the command would end with exit code 1, with the same text.\n\nWhere there are rows all the same (a run that ended early, outputs that are wrong), they are its ``records``."
);
create_exception!(
    wattseal,
    UsageError,
    Error,
    "Something was asked for that cannot be: an unknown name, a clock that the data sheet does not allow."
);
create_exception!(
    wattseal,
    FaultError,
    Error,
    "The model stopped: the program did what the part does not do, or what is not modelled."
);

/// The exception of an error: where the command would exit with 2 a [`UsageError`].
pub fn exception(error: &LabError) -> PyErr {
    let text = error.to_string();
    match error {
        LabError::Fault { .. } => FaultError::new_err(text),
        error if error.is_usage() => UsageError::new_err(text),
        _ => Error::new_err(text),
    }
}
