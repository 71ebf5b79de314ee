//! The figures as they come, on a terminal; anywhere else the dashboard's address alone.

use crate::demo::live::{Observer, Status};
use crate::demo::report::costs_table;
use console::Term;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::time::Duration;

/// Standard error, drawn over again and again where it is a terminal.
pub struct Terminal {
    bar: ProgressBar,
    dashboard_url: String,
}

impl Default for Terminal {
    fn default() -> Terminal {
        Terminal::new()
    }
}

impl Terminal {
    /// On which nothing has been drawn.
    #[must_use]
    pub fn new() -> Terminal {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        Terminal { bar, dashboard_url: String::new() }
    }

    /// Takes away what was drawn over.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Observer for Terminal {
    fn preparing(&mut self, what: &str) {
        self.bar.set_message(format!("{what} ..."));
        self.bar.tick();
    }

    fn show(&mut self, now: &Status) {
        if self.dashboard_url != now.dashboard_url {
            self.dashboard_url.clone_from(&now.dashboard_url);
            self.bar.set_message("");
            let line = format!("wattseal: the dashboard, by a link that works once: {}", now.dashboard_url);
            if self.bar.is_hidden() { eprintln!("{line}") } else { self.bar.println(line) }
        }
        let table = costs_table(&now.rows, true, width_of(&Term::stderr()));
        self.bar.set_message(format!("\n{table}\n\n{}\nCtrl-C ends it.", state(now)));
        self.bar.tick();
    }
}

/// The columns of the terminal that standard output is; none where it is something else.
#[must_use]
pub fn stdout_width() -> Option<usize> {
    width_of(&Term::stdout())
}

fn width_of(terminal: &Term) -> Option<usize> {
    terminal.is_term().then(|| terminal.size().1.into())
}

/// Writes time, traffic, and whether the machine is fast enough, in a line.
#[must_use]
pub fn state(now: &Status) -> String {
    let seconds = now.elapsed.as_secs();
    let traffic = &now.traffic;
    let mut line = format!(
        "{}:{:02}  {} packets on the air: {} lost, {} with wrong bits, {} collided",
        seconds / 60,
        seconds % 60,
        traffic.packets,
        traffic.lost,
        traffic.spoilt,
        traffic.collided
    );
    if now.behind > Duration::ZERO {
        line +=
            &format!("\nThis machine is too slow for real time: {:.1} s behind", now.behind.as_secs_f64());
    }
    line
}
