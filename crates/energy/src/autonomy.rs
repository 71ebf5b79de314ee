//! Autonomy of a node under the sun: whether it ever misses a message, and the smallest capacitor
//! and panel with which it does not.
//!
//! The capacitor is charged by the panel and feeds the node through a linear regulator, so that the
//! node's mean current is drawn whatever the stored voltage. A message may be due at any time: the
//! voltage must never be below the regulator's output and the charge of a message above it, nor
//! below what (6.1) asks for. The irradiance goes round, the first time from a full capacitor,
//! until a year is as the one before it: a store that is a little lower each year misses messages
//! in the end.

use crate::storage::Capacitor;
use crate::sun::{Irradiance, Panel};

/// Load that the store must keep up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Node {
    /// Mean current, asleep and at work, in amperes.
    pub mean_a: f64,
    /// Supply of the node, in volts: what must at least be stored.
    pub supply_v: f64,
    /// The energy that must be stored before a message, by (6.1), in joules.
    pub required_j: f64,
    /// Energy of a message beyond sleeping, in joules at the supply.
    pub message_j: f64,
}

impl Node {
    /// The lowest stored voltage at which a message can be sent, in volts: at its end the supply
    /// must still be there, its charge drawn.
    #[must_use]
    pub fn threshold_v(&self, capacitor: &Capacitor) -> f64 {
        let dip_v = self.message_j / self.supply_v / capacitor.capacitance_f;
        (self.supply_v + dip_v).max(capacitor.voltage_v(self.required_j))
    }
}

/// The stretch that decides: from when the store was last full to when it was lowest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Course {
    /// Lowest stored voltage, in volts.
    pub lowest_v: f64,
    /// When, in seconds from the start of the irradiance.
    pub lowest_at_s: f64,
    /// Time for which the store had not been full by then, in seconds.
    pub dark_s: f64,
    /// Share of what the panel gave that the full store refused.
    pub refused: f64,
}

/// A step changes the voltage by this share of its highest at most, where the load alone decides.
const FINE: f64 = 0.02;
/// Steps within a step of the irradiance, at most.
const FINEST: u32 = 64;

/// A round that ends this little below where it began, as a share of the highest voltage, is as the
/// one before it.
const STEADY: f64 = 1e-6;
/// Rounds at most. Stores that are not steady by then hold many times what the node takes in a
/// round.
const MOST_ROUNDS: u32 = 64;

/// Lets the irradiance go round until the course of a round repeats itself; none where a message
/// would have been missed.
#[must_use]
pub fn course(node: &Node, capacitor: &Capacitor, panel: &Panel, sun: &Irradiance) -> Option<Course> {
    let threshold_v = node.threshold_v(capacitor);
    if threshold_v > capacitor.max_v {
        return None;
    }
    // The same power charges most at the lowest voltage: what is too little there drains any store
    // in the end.
    let mean_w = panel.power_w(sun.insolation_j_per_m2() / sun.period_s());
    if mean_w / threshold_v < node.mean_a + capacitor.leakage_at(threshold_v) {
        return None;
    }
    let mut walk = Walk::from_full(*node, *capacitor, threshold_v);
    for round in 1..=MOST_ROUNDS {
        let (start_s, start_v) = (walk.now_s, walk.stored_v);
        walk.round(panel, sun)?;
        // Full after the first round, it is at that hour of each.
        let steady = walk.full_at_s > start_s || start_v - walk.stored_v <= STEADY * capacitor.max_v;
        if round > 1 && steady {
            break;
        }
    }
    let Walk { mut course, offered_j, refused_j, .. } = walk;
    course.lowest_at_s %= sun.period_s();
    course.refused = if offered_j > 0.0 { refused_j / offered_j } else { 0.0 };
    Some(course)
}

/// A store on its way through the rounds.
struct Walk {
    node: Node,
    capacitor: Capacitor,
    threshold_v: f64,
    stored_v: f64,
    now_s: f64,
    /// When it was last full.
    full_at_s: f64,
    course: Course,
    /// Energy of the panel in this round, in joules.
    offered_j: f64,
    /// Part of it that the full store refused, in joules.
    refused_j: f64,
}

impl Walk {
    fn from_full(node: Node, capacitor: Capacitor, threshold_v: f64) -> Walk {
        let stored_v = capacitor.max_v;
        let course = Course { lowest_v: stored_v, lowest_at_s: 0.0, dark_s: 0.0, refused: 0.0 };
        Walk {
            node,
            capacitor,
            threshold_v,
            stored_v,
            now_s: 0.0,
            full_at_s: 0.0,
            course,
            offered_j: 0.0,
            refused_j: 0.0,
        }
    }

    /// Once through the irradiance; none where a message would have been missed.
    fn round(&mut self, panel: &Panel, sun: &Irradiance) -> Option<()> {
        let Walk { node, capacitor, threshold_v, .. } = *self;
        let full_v = capacitor.max_v * (1.0 - 1e-6);
        (self.offered_j, self.refused_j) = (0.0, 0.0);
        for &w_per_m2 in &sun.w_per_m2 {
            let harvest_w = panel.power_w(w_per_m2);
            let charge_a = harvest_w / self.stored_v.max(threshold_v);
            let end_s = self.now_s + sun.step_s;
            // A full store that is fed more than it gives stays full.
            if self.stored_v >= full_v && charge_a >= node.mean_a + capacitor.leakage_a {
                let kept_w = (node.mean_a + capacitor.leakage_a) * capacitor.max_v;
                self.offered_j += harvest_w * sun.step_s;
                self.refused_j += (harvest_w - kept_w) * sun.step_s;
                self.full_at_s = end_s;
                self.now_s = end_s;
                continue;
            }
            let change_v = (charge_a - node.mean_a).abs() * sun.step_s / capacitor.capacitance_f;
            let parts = (change_v / (FINE * capacitor.max_v)).ceil().clamp(1.0, f64::from(FINEST)) as u32;
            let part_s = sun.step_s / f64::from(parts);
            for _ in 0..parts {
                let step = capacitor.step(self.stored_v, harvest_w, node.mean_a, part_s);
                self.stored_v = step.stored_v;
                self.now_s += part_s;
                self.offered_j += harvest_w * part_s;
                self.refused_j += step.refused_j;
                if step.starved || self.stored_v < threshold_v {
                    return None;
                }
                if self.stored_v >= full_v {
                    self.full_at_s = self.now_s;
                } else if self.stored_v < self.course.lowest_v {
                    self.course.lowest_v = self.stored_v;
                    self.course.lowest_at_s = self.now_s;
                    self.course.dark_s = self.now_s - self.full_at_s;
                }
            }
            self.now_s = end_s;
        }
        Some(())
    }
}

/// The part that is just large enough, and the course with it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smallest<T> {
    /// The part.
    pub part: T,
    /// The course that decides.
    pub course: Course,
}

/// The bisection ends where the part is known to this share.
const PRECISION: f64 = 1e-3;

/// The smallest value between two that `survives`, upwards of which all do; on a logarithmic scale.
fn smallest(lowest: f64, highest: f64, survives: impl Fn(f64) -> Option<Course>) -> Option<(f64, Course)> {
    let mut found = (highest, survives(highest)?);
    let mut low = lowest;
    while found.0 / low > 1.0 + PRECISION {
        let middle = (found.0 * low).sqrt();
        match survives(middle) {
            Some(course) => found = (middle, course),
            None => low = middle,
        }
    }
    Some(found)
}

/// The smallest capacitance, with the other properties of `like`, with which no message is ever
/// missed under a panel. None where not even 10,000 F are enough: the panel is too small, or the
/// voltage.
#[must_use]
pub fn smallest_capacitor(
    node: &Node,
    like: &Capacitor,
    panel: &Panel,
    sun: &Irradiance,
) -> Option<Smallest<Capacitor>> {
    let of = |capacitance_f| Capacitor { capacitance_f, ..*like };
    smallest(1e-6, 1e4, |capacitance_f| course(node, &of(capacitance_f), panel, sun))
        .map(|(capacitance_f, course)| Smallest { part: of(capacitance_f), course })
}

/// The smallest panel, with the charger of `like`, with which no message is ever missed on a
/// capacitor. None where not even 1 kW is enough: the capacitor does not last a night.
#[must_use]
pub fn smallest_panel(
    node: &Node,
    capacitor: &Capacitor,
    like: &Panel,
    sun: &Irradiance,
) -> Option<Smallest<Panel>> {
    let of = |rated_w| Panel { rated_w, ..*like };
    smallest(1e-9, 1e3, |rated_w| course(node, capacitor, &of(rated_w), sun))
        .map(|(rated_w, course)| Smallest { part: of(rated_w), course })
}

/// The panel below which the sun does not give what the node takes, however large the capacitor: in
/// watts at 1,000 W/m². The store is taken to be full, where the node takes most.
#[must_use]
pub fn least_panel_w(node: &Node, like: &Capacitor, charger_efficiency: f64, sun: &Irradiance) -> f64 {
    let mean_w_per_m2 = sun.insolation_j_per_m2() / sun.period_s();
    let one = Panel { rated_w: 1.0, charger_efficiency };
    node.mean_a * like.max_v / one.power_w(mean_w_per_m2)
}
