//! A progress bar on a terminal, silence anywhere else.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

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

    /// Shows how far it has come; the bar goes when all is done.
    pub fn report(&self, done: u64, total: u64, what: &str) {
        self.0.set_length(total);
        self.0.set_position(done);
        self.0.set_message(what.to_owned());
        if done == total {
            self.0.finish_and_clear();
        }
    }
}

impl Default for Bar {
    fn default() -> Self {
        Bar::new()
    }
}
