//! The time of each policy under the same sun.

use super::policy::{Configuration, Configured, Policy, Stored};
use super::scenario::ConfiguredScenario;
use crate::energy_account::EnergyAccount;
use crate::harvest::scenario::{Scenario, SchemeName};
use crate::harvest::setup;
use crate::simulation::Progress;
use crate::supply::{Circuit, Regulator};
use energy::radio::Radio;
use energy::sun::Irradiance;
use lab::LabError;
use lab::cost_table::{self, Wanted};
use lab::target::Target;
use lab::workspace::Workspace;
use serde::Serialize;
use std::collections::VecDeque;
use std::path::Path;
use wire::node::Scheme;

/// Longest step of a sleeping node, in seconds: of the sun's hour a sixtieth.
const STEP_S: f64 = 60.0;
const DAY_S: f64 = 86_400.0;

/// Outcome of a policy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PolicyOutcome {
    /// The policy's name: a fixed configuration, or `configures itself`.
    pub policy: String,
    /// Duration, in days.
    pub days: f64,
    /// Signatures that were due.
    pub due: u64,
    /// Signatures of 128 bits of security that were sent.
    pub signed_128_bits: u64,
    /// Signatures of 80 bits of security that were sent.
    pub signed_80_bits: u64,
    /// Signatures that were left out for lack of stored energy.
    pub refused: u64,
    /// Signatures that were due while the node had no power, or lost it.
    pub without_power: u64,
    /// Time without power, in seconds.
    pub off_s: f64,
    /// From the beginning of a signature to its last packet, in seconds, on average.
    pub mean_latency_s: Option<f64>,
    /// Energy out of the storage for each signature, in joules, on average.
    pub stored_j_per_signature: Option<f64>,
    /// Energy at the rail for each signature, in joules, on average.
    pub rail_j_per_signature: Option<f64>,
    /// Energy that the full storage could not take, in joules at the panel.
    pub curtailed_j: f64,
}

/// Simulates each fixed node and the one that configures itself.
///
/// # Errors
/// [`LabError::UnknownName`] and [`LabError::Usage`] for what the scenario says; what building and
/// running firmware can bring.
pub fn run(
    workspace: &Workspace,
    scenario: &ConfiguredScenario,
    progress: &dyn Progress,
) -> Result<Vec<PolicyOutcome>, LabError> {
    let mut node = Scenario::read(workspace, Path::new(&scenario.node))?;
    node.days = scenario.days;
    node.sun.start_day = scenario.start_day;
    let target = workspace.target(&node.node.target)?;
    let radio = setup::read_radio(workspace, &node.node.radio)?;
    let sun = setup::sun(workspace, &node)?;
    let schemes = configurations(workspace, scenario, &node, &target, &radio)?;
    let fixed = schemes.iter().flatten().copied().map(Policy::Fixed);
    let mut policies: Vec<Policy> = fixed.collect();
    policies.dedup();
    let (horizon_s, full) = (scenario.choice.horizon_s, scenario.choice.full);
    policies.push(Policy::Configured(Configured { schemes, horizon_s, full }));
    let total_s = scenario.days * DAY_S;
    let simulate = |(index, policy): (usize, &Policy)| {
        progress.report(index as f64 * total_s, policies.len() as f64 * total_s);
        Year::begin(&node, &target, &radio, &sun, policy).map(|year| year.run(horizon_s))
    };
    policies.iter().enumerate().map(simulate).collect()
}

/// The frugal and the fastest configuration of each scheme.
fn configurations(
    workspace: &Workspace,
    scenario: &ConfiguredScenario,
    node: &Scenario,
    target: &Target,
    radio: &Radio,
) -> Result<Vec<[Configuration; 2]>, LabError> {
    let of = |scheme: &SchemeName| {
        let clocks = scenario.choice.clocks_hz.iter();
        let all: Vec<Configuration> = clocks
            .map(|&clock_hz| configuration(workspace, scenario, node, (target, radio), *scheme, clock_hz))
            .collect::<Result<_, LabError>>()?;
        let frugal = all.iter().copied().min_by(|a, b| a.charge_c.total_cmp(&b.charge_c));
        let fastest = all.iter().copied().min_by(|a, b| a.time_s.total_cmp(&b.time_s));
        let both = frugal.zip(fastest).map(|(frugal, fastest)| [frugal, fastest]);
        both.ok_or_else(|| LabError::Usage("choice.clocks_hz needs at least one clock".into()))
    };
    scenario.choice.schemes.iter().map(of).collect()
}

fn configuration(
    workspace: &Workspace,
    scenario: &ConfiguredScenario,
    node: &Scenario,
    (target, radio): (&Target, &Radio),
    scheme: SchemeName,
    clock_hz: u64,
) -> Result<Configuration, LabError> {
    let allows = |supply_v: &f64| target.supply.max_clock_hz(*supply_v) >= clock_hz as f64;
    let mut supplies_v = scenario.choice.supplies_v.clone();
    supplies_v.sort_by(f64::total_cmp);
    let supply_v = supplies_v.into_iter().find(allows).ok_or_else(|| {
        LabError::Usage(format!("no voltage of choice.supplies_v allows a clock of {clock_hz} Hz"))
    })?;
    let point = target.operating_point(Some(clock_hz), Some(supply_v))?;
    let bytes = setup::SIGNED_OF_A_READING;
    let wanted = Wanted { target, point, variant: &node.node.variant, op: scheme.signing(), bytes };
    let key = wanted.key();
    let figures = cost_table::get(workspace, &[wanted], &setup::Silent)?;
    let figure = figures.get(&key).ok_or_else(|| LabError::Usage(format!("no cost of {}", key.op)))?;
    let compute_s = figure.cycles * target.seconds_per_cycle(&point);
    let (mut time_s, mut charge_c) = (compute_s, compute_s * point.power_w / point.supply_v);
    for bytes in setup::packets(scheme_of(scheme)) {
        let sent = radio.send(bytes, supply_v).map_err(|error| LabError::Usage(error.to_string()))?;
        time_s += sent.time_s;
        charge_c += sent.energy_j / supply_v;
    }
    Ok(Configuration { scheme, clock_hz, supply_v, time_s, charge_c })
}

fn scheme_of(name: SchemeName) -> Scheme {
    match name {
        SchemeName::Secp160r1 => Scheme::Secp160r1,
        SchemeName::P256 => Scheme::P256,
    }
}

/// A policy under the sun.
struct Year<'a> {
    node: &'a Scenario,
    sun: &'a Irradiance,
    policy: &'a Policy,
    circuit: Circuit,
    account: EnergyAccount,
    asleep_a: f64,
    /// Usable energy at the last intervals, the oldest first.
    before: VecDeque<f64>,
    now_s: f64,
    latency_s: f64,
    stored_j: f64,
    rail_j: f64,
    outcome: PolicyOutcome,
}

impl<'a> Year<'a> {
    fn begin(
        node: &'a Scenario,
        target: &Target,
        radio: &Radio,
        sun: &'a Irradiance,
        policy: &'a Policy,
    ) -> Result<Year<'a>, LabError> {
        let regulator: Regulator = node.regulator;
        let asleep_a = target.waiting_a(node.node.clock_hz as f64, regulator.output_v);
        let asleep_a = asleep_a
            .ok_or_else(|| LabError::Usage(format!("{} has no current of a sleeping node", target.name())))?;
        let radio_a = radio.state_a("sleep").map_err(|error| LabError::Usage(error.to_string()))?;
        let circuit = Circuit::new(node.panel, node.charger, node.capacitor, regulator, node.start_v);
        let outcome = PolicyOutcome {
            policy: policy.name(),
            days: node.days,
            due: 0,
            signed_128_bits: 0,
            signed_80_bits: 0,
            refused: 0,
            without_power: 0,
            off_s: 0.0,
            mean_latency_s: None,
            stored_j_per_signature: None,
            rail_j_per_signature: None,
            curtailed_j: 0.0,
        };
        Ok(Year {
            node,
            sun,
            policy,
            circuit,
            account: EnergyAccount::default(),
            asleep_a: asleep_a + radio_a,
            before: VecDeque::new(),
            now_s: 0.0,
            latency_s: 0.0,
            stored_j: 0.0,
            rail_j: 0.0,
            outcome,
        })
    }

    fn run(mut self, horizon_s: f64) -> PolicyOutcome {
        let interval_s = f64::from(self.node.node.interval_s);
        let kept = (horizon_s / interval_s).ceil() as usize;
        let mut due_s = interval_s;
        while due_s <= self.node.days * DAY_S {
            while self.now_s < due_s {
                let dt_s = STEP_S.min(due_s - self.now_s);
                let load_c = if self.circuit.rail_is_on() { self.asleep_a * dt_s } else { 0.0 };
                self.pass(dt_s, load_c);
            }
            self.sign(interval_s);
            self.before.push_back(self.usable_j());
            if self.before.len() > kept {
                self.before.pop_front();
            }
            due_s += interval_s;
        }
        let signed = (self.outcome.signed_128_bits + self.outcome.signed_80_bits) as f64;
        let mean = |sum: f64| (signed > 0.0).then_some(sum / signed);
        PolicyOutcome {
            mean_latency_s: mean(self.latency_s),
            stored_j_per_signature: mean(self.stored_j),
            rail_j_per_signature: mean(self.rail_j),
            curtailed_j: self.account.curtailed_j,
            ..self.outcome
        }
    }

    /// Lets time pass with a charge drawn from the rail.
    fn pass(&mut self, dt_s: f64, load_c: f64) {
        let sun = self.sun.at(self.now_s + dt_s / 2.0) * self.node.sun.share;
        self.circuit.step(dt_s, sun, load_c, &mut self.account);
        if !self.circuit.rail_is_on() {
            self.outcome.off_s += dt_s;
        }
        self.circuit.switch();
        self.now_s += dt_s;
    }

    /// Energy above the voltage at which the rail is switched off, in joules.
    fn usable_j(&self) -> f64 {
        self.circuit.stored_j() - self.node.capacitor.energy_j(self.node.regulator.turn_off_v)
    }

    /// The signature that is due now.
    fn sign(&mut self, interval_s: f64) {
        self.outcome.due += 1;
        if !self.circuit.rail_is_on() {
            self.outcome.without_power += 1;
            return;
        }
        let usable_j = self.usable_j();
        let oldest_j = self.before.front().map(|&before_j| usable_j - before_j);
        let span_s = self.before.len() as f64 * interval_s;
        let stored = Stored {
            voltage_v: self.circuit.stored_v(),
            usable_j,
            rate_w: oldest_j.map_or(0.0, |change_j| change_j / span_s),
            highest_v: self.node.capacitor.max_v,
            overhead_j: self.node.node.overhead_j,
        };
        let Some(chosen) = self.policy.choose(&stored) else {
            self.outcome.refused += 1;
            return;
        };
        self.pass(chosen.time_s, chosen.charge_c);
        if !self.circuit.rail_is_on() {
            self.outcome.without_power += 1;
            return;
        }
        *match chosen.scheme {
            SchemeName::P256 => &mut self.outcome.signed_128_bits,
            SchemeName::Secp160r1 => &mut self.outcome.signed_80_bits,
        } += 1;
        self.latency_s += chosen.time_s;
        self.stored_j += chosen.charge_c * stored.voltage_v;
        self.rail_j += chosen.charge_c * chosen.supply_v;
    }
}
