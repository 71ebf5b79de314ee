//! A progress bar on a terminal, silence anywhere else.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A bar on standard error, drawn only where that is a terminal.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar at its beginning.
    #[must_use]
    pub fn new() -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos}/{len} {wide_msg}") {
            bar.set_style(style);
        }
        Bar(bar)
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
