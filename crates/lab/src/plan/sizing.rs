//! Battery, capacitor and panel for one point of a plan.

use super::Request;
use crate::LabError;
use crate::units::CAPACITOR_V;
use crate::workspace::Workspace;
use energy::autonomy::{self, Course, Node};
use energy::plan::Candidate;
use energy::sizing;
use energy::storage::Capacitor;
use energy::sun::{Irradiance, Panel};
use output::{duration, scaled};

/// Real irradiance, where none is asked for.
const SUN: &str = "scenarios/sun/greensboro.csv";

/// The irradiance that a plan reckons with.
pub struct Sun {
    irradiance: Irradiance,
    name: String,
}

impl Sun {
    /// That of the request; none where nothing in it needs the sun.
    ///
    /// # Errors
    /// A file that cannot be read or is none of irradiance.
    pub fn of(workspace: &Workspace, request: &Request) -> Result<Option<Sun>, LabError> {
        let stores = request.capacitor.is_some() && request.rate_hz.is_some();
        if !(request.panel.is_some() || request.harvest || stores) {
            return Ok(None);
        }
        let (path, text) = match &request.sun {
            Some(file) => workspace.read_own(file)?,
            None => workspace.read(SUN)?,
        };
        let name = path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        let irradiance = Irradiance::from_csv(&text)
            .map_err(|error| LabError::BadFile { path, problem: error.to_string() })?;
        Ok(Some(Sun { irradiance, name }))
    }

    #[must_use]
    pub fn mean_w_per_m2(&self) -> f64 {
        self.irradiance.insolation_j_per_m2() / self.irradiance.period_s()
    }
}

/// A capacitor and a panel with which no message is missed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    pub capacitor: Capacitor,
    pub panel: Panel,
    pub course: Course,
}

/// Needs of a plan's point besides the microcontroller.
#[derive(Clone, Debug, PartialEq)]
pub struct Sizing {
    /// Label and sentence, in the order of a reader.
    pub lines: Vec<(String, String)>,
    /// Smallest parts for the irradiance asked for; empty where none are.
    pub pairs: Vec<Pair>,
}

/// Panels to pair with capacitors, as multiples of the least that the mean sun asks for.
const MULTIPLES: [f64; 5] = [1.25, 2.0, 4.0, 8.0, 16.0];

impl Sizing {
    /// Of the point `best`; none where nothing is asked that needs it.
    #[must_use]
    pub fn of(request: &Request, best: &Candidate, sun: Option<&Sun>) -> Option<Sizing> {
        let mut sizing = Sizing { lines: Vec::new(), pairs: Vec::new() };
        sizing.battery(request, best);
        sizing.equations(request, best, sun);
        if let (Some(sun), Some(mean_w)) = (sun, best.mean_w) {
            let required_j = sizing::required_j(best.compute_j, best.radio_j, request.overhead_j);
            let message_j = best.compute_j + best.radio_j;
            let node =
                Node { mean_a: mean_w / best.supply_v, supply_v: best.supply_v, required_j, message_j };
            sizing.sun(request, &node, sun);
        }
        let asked = request.battery.is_some() || request.capacitor.is_some() || request.panel.is_some();
        if best.sleep_w.is_none() && (asked || request.rate_hz.is_some()) {
            let text = format!("targets/{}.toml has no current for it, so it is left out", best.target);
            sizing.say("sleep", text);
        }
        (!sizing.lines.is_empty()).then_some(sizing)
    }

    fn say(&mut self, label: &str, text: String) {
        self.lines.push((label.into(), text));
    }

    fn battery(&mut self, request: &Request, best: &Candidate) {
        if let (Some(rate_hz), Some(mean_w)) = (request.rate_hz, best.mean_w) {
            let text = format!(
                "{} at one message in {}, {} of it asleep",
                scaled(mean_w, "W"),
                duration(1.0 / rate_hz),
                scaled(best.sleep_w.unwrap_or(0.0), "W")
            );
            self.say("mean power", text);
        }
        let Some(battery) = request.battery else { return };
        let name = format!("battery {} at {} V", scaled(battery.capacity_ah, "Ah"), battery.voltage_v);
        let text = match best.life_s {
            Some(life_s) => duration(life_s),
            None => {
                let each_j = (best.compute_j + best.radio_j) * (battery.voltage_v / best.supply_v).max(1.0);
                format!("{:.0} messages; --rate gives its life", battery.usable_j() / each_j)
            }
        };
        self.say(&name, text);
    }

    /// (6.1), (6.2) and (6.3).
    fn equations(&mut self, request: &Request, best: &Candidate, sun: Option<&Sun>) {
        let active_j = best.compute_j + best.radio_j;
        if let Some(capacitor) = request.capacitor {
            let required_j = sizing::required_j(best.compute_j, best.radio_j, request.overhead_j);
            let required_v = capacitor.voltage_v(required_j);
            let least = match required_v < best.supply_v {
                true => format!("; the regulator needs the supply, {} V", best.supply_v),
                false => String::new(),
            };
            let text = format!(
                "{required_v:.2} V hold the {} that must be stored before a message, 2 (Ec + Erf) + Eov{least}",
                scaled(required_j, "J")
            );
            self.say(&format!("(6.1) capacitor {}", scaled(capacitor.capacitance_f, "F")), text);
            if let (Some(sleep_w), Some(rate_hz)) = (best.sleep_w, request.rate_hz) {
                let whole_j = sizing::stored_j(capacitor.capacitance_f, capacitor.max_v);
                let mean_w = sizing::mean_w(sleep_w, active_j, rate_hz);
                let (full_v, supply_v) = (capacitor.max_v, best.supply_v);
                let text = format!(
                    "{} without sun on all of the {} at {full_v} V; {} on the charge above {supply_v} V, as behind a regulator",
                    duration(sizing::dark_s(whole_j, sleep_w, active_j, rate_hz)),
                    scaled(whole_j, "J"),
                    duration(sizing::regulated_dark_s(capacitor.capacitance_f, full_v, supply_v, mean_w)),
                );
                self.say("(6.3) full", text);
            }
        }
        if let (Some(panel), Some(sleep_w), Some(sun)) = (request.panel, best.sleep_w, sun) {
            let duty =
                |w_per_m2: f64| match sizing::sustainable_hz(panel.power_w(w_per_m2), sleep_w, active_j) {
                    // It may give more than computing and sending one after the other take.
                    Some(hz) => format!("one message in {}", duration((1.0 / hz).max(best.latency_s()))),
                    None => "not even sleep".into(),
                };
            let mean = sun.mean_w_per_m2();
            let text = format!(
                "{} in full sun (1000 W/m²), {} at {}'s mean of {mean:.0} W/m²",
                duty(1000.0),
                duty(mean),
                sun.name
            );
            self.say(&format!("(6.2) panel {}", scaled(panel.rated_w, "W")), text);
        }
    }

    /// The smallest parts for a year of irradiance.
    fn sun(&mut self, request: &Request, node: &Node, sun: &Sun) {
        let year = &sun.irradiance;
        let ideal = Capacitor { capacitance_f: 1.0, max_v: CAPACITOR_V, esr_ohm: 0.0, leakage_a: 0.0 };
        let like = Panel { rated_w: 1.0, charger_efficiency: 1.0 };
        match (request.capacitor, request.panel) {
            (Some(capacitor), Some(panel)) => {
                let text = match autonomy::course(node, &capacitor, &panel, year) {
                    Some(course) => format!("no message is missed: {}", decides(&course, year)),
                    None => "messages are missed".into(),
                };
                self.say(&format!("{} at {}", year_of(year), sun.name), text);
                self.capacitor(node, &capacitor, &panel, sun);
                self.panel(node, &capacitor, &panel, sun);
            }
            (Some(capacitor), None) => self.panel(node, &capacitor, &like, sun),
            (None, Some(panel)) => self.capacitor(node, &ideal, &panel, sun),
            (None, None) => {
                let least_w = autonomy::least_panel_w(node, &ideal, like.charger_efficiency, year);
                for multiple in MULTIPLES {
                    let panel = Panel { rated_w: least_w * multiple, ..like };
                    self.capacitor(node, &ideal, &panel, sun);
                }
            }
        }
    }

    fn capacitor(&mut self, node: &Node, like: &Capacitor, panel: &Panel, sun: &Sun) {
        let label = format!("smallest capacitor for {}", scaled(panel.rated_w, "W"));
        match autonomy::smallest_capacitor(node, like, panel, &sun.irradiance) {
            Some(found) => {
                let text = format!(
                    "{} at {} V: {}",
                    scaled(found.part.capacitance_f, "F"),
                    like.max_v,
                    decides(&found.course, &sun.irradiance)
                );
                self.say(&label, text);
                self.pairs.push(Pair { capacitor: found.part, panel: *panel, course: found.course });
            }
            None => self.say(&label, "none is large enough: the panel gives less than the node takes".into()),
        }
    }

    fn panel(&mut self, node: &Node, capacitor: &Capacitor, like: &Panel, sun: &Sun) {
        let label = format!("smallest panel for {}", scaled(capacitor.capacitance_f, "F"));
        match autonomy::smallest_panel(node, capacitor, like, &sun.irradiance) {
            Some(found) => {
                let text = format!(
                    "{} at 1000 W/m²: {}",
                    scaled(found.part.rated_w, "W"),
                    decides(&found.course, &sun.irradiance)
                );
                self.say(&label, text);
                self.pairs.push(Pair { capacitor: *capacitor, panel: found.part, course: found.course });
            }
            None => {
                let text = "none is large enough: the capacitor does not last from the last sun to the next";
                self.say(&label, text.into());
            }
        }
    }
}

fn year_of(sun: &Irradiance) -> String {
    let days = sun.period_s() / 86_400.0;
    if (365.0..=366.0).contains(&days) { "a year".into() } else { format!("{days:.0} days") }
}

/// The stretch that decides, in words.
fn decides(course: &Course, sun: &Irradiance) -> String {
    let day = (course.lowest_at_s / 86_400.0).floor();
    let hour = (course.lowest_at_s - day * 86_400.0) / 3600.0;
    format!(
        "lowest {:.2} V, {} after it was last full, on day {:.0} of {:.0} at {:02.0} h",
        course.lowest_v,
        duration(course.dark_s),
        day + 1.0,
        (sun.period_s() / 86_400.0).ceil(),
        hour.floor()
    )
}
