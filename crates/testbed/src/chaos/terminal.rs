//! A run as it goes on: drawn over and over again on a terminal, in lines anywhere else.

use crate::chaos::firmware::live::FirmwareNoticed;
use crate::chaos::parts::{Kind, PartId};
use crate::chaos::run::{ClusterObserver, ClusterStatus};
use crate::chaos::schedule::State;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::Write;
use std::time::{Duration, Instant};

/// Interval of the figures where they come in lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Standard error.
pub struct ClusterTerminal {
    bar: ProgressBar,
    greeted: bool,
    line_at: Duration,
}

impl Default for ClusterTerminal {
    fn default() -> ClusterTerminal {
        ClusterTerminal::new()
    }
}

impl ClusterTerminal {
    #[must_use]
    pub fn new() -> ClusterTerminal {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg}") {
            bar.set_style(style);
        }
        ClusterTerminal { bar, greeted: false, line_at: Duration::ZERO }
    }

    /// Takes away what was drawn over.
    pub fn clear(&self) {
        self.bar.finish_and_clear();
    }

    fn line(&self, line: &str) {
        if self.bar.is_hidden() { tell(line) } else { self.bar.println(line) }
    }
}

impl ClusterObserver for ClusterTerminal {
    fn preparing(&mut self, what: &str) {
        if self.bar.is_hidden() {
            tell(&format!("wattseal: {what}"));
        }
        self.bar.set_message(format!("{what} ..."));
        self.bar.tick();
    }

    fn event(&mut self, at: Duration, what: &str) {
        self.line(&format!("{:>6.1} s  {what}", at.as_secs_f64()));
    }

    fn show(&mut self, now: &ClusterStatus<'_>) {
        if !self.greeted {
            self.greeted = true;
            self.bar.set_message("");
            let line = format!("wattseal: the dashboard: {} with the token {}", now.dashboard_url, now.token);
            self.line(&line);
        }
        let figures = figures(now);
        if self.bar.is_hidden() {
            if now.elapsed >= self.line_at {
                self.line_at = now.elapsed + LINE_EVERY;
                tell(&format!("{:>6.1} s  {figures}", now.elapsed.as_secs_f64()));
            }
            return;
        }
        self.bar.set_message(format!("\n{}\n{figures}\nCtrl-C ends it.", parts(now)));
        self.bar.tick();
    }
}

/// Nobody may be reading.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

fn figures(now: &ClusterStatus<'_>) -> String {
    let mut text = format!(
        "{} readings acknowledged, {} sent again, longest wait {:.1} s, {} harms",
        now.noticed.acknowledged,
        now.noticed.resent,
        now.noticed.longest.as_secs_f64(),
        now.harms
    );
    if let Some(firmware) = now.firmware {
        let FirmwareNoticed { acknowledged, resent, lost, behind, failed, .. } = firmware;
        text += &format!(
            "; of meters with their firmware {acknowledged}, {resent} sent again, {lost} given up for want of room"
        );
        if !behind.is_zero() {
            text += &format!(", {:.1} s behind the clock", behind.as_secs_f64());
        }
        if let Some(failed) = failed {
            text += &format!(", ended: {failed}");
        }
    }
    text
}

/// A line for each part; networks only while something is the matter with them, else there are too
/// many.
fn parts(now: &ClusterStatus<'_>) -> String {
    let of = |(part, state, _): &(PartId, State, Instant)| {
        let state = match state {
            State::Up if *part == now.primary => "up, primary",
            State::Up if part.kind == Kind::HostileGateway => "is quiet",
            State::Up => "up",
            State::Harmed(harm, _) => harm.name(),
            State::Begins => "is made a standby",
        };
        format!("  {part:<28}{state}\n", part = part.to_string())
    };
    let is_shown =
        |(part, state, _): &&(PartId, State, Instant)| !part.kind.is_network() || *state != State::Up;
    now.states.iter().filter(is_shown).map(of).collect()
}
