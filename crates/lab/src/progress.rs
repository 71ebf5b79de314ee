//! How far the work is: a bar on a terminal, silence anywhere else.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Told of the progress of a command: how much there is to do, and how much is done.
pub trait Progress: Sync {
    /// `done` of `total` are done; `what` is being worked on.
    fn report(&self, done: usize, total: usize, what: &str);
}

/// A bar on standard error, drawn only where that is a terminal.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar at its beginning.
    #[must_use]
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {bar:30} {pos}/{len} {wide_msg}")
        {
            bar.set_style(style);
        }
        // What is said between two drawings is seen at the next, and that something goes on at all.
        bar.enable_steady_tick(Duration::from_millis(100));
        Bar(bar)
    }

    /// Does what writes to the terminal, with the bar out of its way.
    pub fn aside<R>(&self, write: impl FnOnce() -> R) -> R {
        self.0.suspend(write)
    }
}

impl Default for Bar {
    fn default() -> Self {
        Bar::new()
    }
}

impl Progress for Bar {
    fn report(&self, done: usize, total: usize, what: &str) {
        self.0.set_length(total as u64);
        self.0.set_position(done as u64);
        self.0.set_message(what.to_owned());
        if done == total {
            self.0.finish_and_clear();
        }
    }
}
