//! The figures as they come, on a terminal; anywhere else the dashboard's address alone.

use crate::live::{Onlooker, Picture};
use crate::report::costs_table;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::net::SocketAddr;
use std::time::Duration;

/// Standard error, drawn over again and again where it is a terminal.
pub struct Terminal {
    bar: ProgressBar,
    address: Option<SocketAddr>,
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
        Terminal { bar, address: None }
    }

    /// Takes away what was drawn over.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

impl Onlooker for Terminal {
    fn preparing(&mut self, what: &str) {
        self.bar.set_message(format!("{what} ..."));
        self.bar.tick();
    }

    fn show(&mut self, now: &Picture) {
        if self.address != Some(now.address) {
            self.address = Some(now.address);
            self.bar.set_message("");
            let line = format!("wattseal: the dashboard is at http://{}", now.address);
            if self.bar.is_hidden() { eprintln!("{line}") } else { self.bar.println(line) }
        }
        self.bar.set_message(format!("{}\n{}   Ctrl-C ends it", costs_table(&now.rows, true), state(now)));
        self.bar.tick();
    }
}

/// How long it has gone on, what was on the air, and whether the machine is fast enough, in a line.
#[must_use]
pub fn state(now: &Picture) -> String {
    let seconds = now.elapsed.as_secs();
    let traffic = &now.traffic;
    let mut line = format!(
        "{}:{:02}   {} packets on the air: {} lost on the way, {} with wrong bits, {} collided",
        seconds / 60,
        seconds % 60,
        traffic.packets,
        traffic.lost,
        traffic.spoilt,
        traffic.collided
    );
    if now.behind > Duration::ZERO {
        line += &format!(
            "\nThis machine is too slow for five meters in real time: {:.1} s behind",
            now.behind.as_secs_f64()
        );
    }
    line
}
