//! Work without the interpreter, which Ctrl-C ends.

use crate::errors::exception;
use lab::LabError;
use pyo3::prelude::*;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

/// Between two looks at whether there is a signal.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Does work while others may use the interpreter; a signal, such as Ctrl-C, sets the flag that the
/// work is given, and its exception is raised when the work has ended.
pub fn wait<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> Result<T, LabError> + Send,
) -> PyResult<T> {
    let interrupted = AtomicBool::new(false);
    let (result, signal) = py.detach(|| {
        thread::scope(|scope| {
            let (sender, receiver) = channel();
            let interrupted = &interrupted;
            scope.spawn(move || sender.send(work(interrupted)));
            let mut signal = None;
            loop {
                match receiver.recv_timeout(LOOK_EVERY) {
                    Ok(result) => return (Some(result), signal),
                    // It panicked, and the scope says so.
                    Err(RecvTimeoutError::Disconnected) => return (None, signal),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                if let Err(error) = Python::attach(|py| py.check_signals()) {
                    interrupted.store(true, Ordering::Relaxed);
                    signal = Some(error);
                }
            }
        })
    });
    match (signal, result) {
        (Some(signal), _) => Err(signal),
        (None, Some(result)) => result.map_err(|error| exception(&error)),
        (None, None) => unreachable!("the scope has raised the panic"),
    }
}
