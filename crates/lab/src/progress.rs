//! Progress of the work.

use crate::LabError;

/// Told of the progress of a command: how much there is to do, and how much is done.
pub trait Progress: Sync {
    /// `done` of `total` are done; `what` is being worked on.
    fn report(&self, done: usize, total: usize, what: &str);

    /// Returns true if the work is to end; asked before each piece of it.
    fn is_cancelled(&self) -> bool {
        false
    }
}

impl Progress for output::Bar {
    fn report(&self, done: usize, total: usize, what: &str) {
        output::Bar::report(self, done as u64, total as u64, what);
    }
}

/// Between two pieces of the work.
///
/// # Errors
/// [`LabError::Unfinished`] where somebody wants it to end.
pub fn go_on(progress: &dyn Progress) -> Result<(), LabError> {
    if progress.is_cancelled() { Err(LabError::Unfinished("interrupted".into())) } else { Ok(()) }
}
