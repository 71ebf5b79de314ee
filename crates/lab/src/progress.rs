//! How far the work is.

/// Told of the progress of a command: how much there is to do, and how much is done.
pub trait Progress: Sync {
    /// `done` of `total` are done; `what` is being worked on.
    fn report(&self, done: usize, total: usize, what: &str);
}

impl Progress for output::Bar {
    fn report(&self, done: usize, total: usize, what: &str) {
        output::Bar::report(self, done as u64, total as u64, what);
    }
}
