//! The space that a plan searches: targets, schemes, variants, clocks and supplies, and what
//! follows for each point.

use super::Request;
use crate::cost_table::{Figure, Key, Wanted};
use crate::energy_accuracy::EnergyAccuracy;
use crate::operations::{Catalogue, Operation, VARIANTS};
use crate::reference::aes_modes::check_length;
use crate::schemes::{self, Scheme};
use crate::target::{OperatingPoint, Target};
use crate::workspace::Workspace;
use crate::{LabError, names};
use energy::plan::Candidate;
use energy::radio::{Radio, Transmission};
use energy::sizing;
use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// The variant that nobody deploys.
const UNOPTIMISED: &str = "O0";

/// Bytes of message where none are asked for.
const MESSAGE_BYTES: u16 = 16;

/// A target with the clocks and supplies that go together on it.
struct TargetChoices {
    target: Target,
    points: Vec<OperatingPoint>,
    /// For each number of wait states a point at which start-up makes the clock.
    measured_at: BTreeMap<u8, OperatingPoint>,
    built: Vec<BuiltScheme>,
}

/// A scheme in a variant.
struct BuiltScheme {
    scheme: Arc<Scheme>,
    variant: &'static str,
    operations: Vec<Operation>,
}

/// All that is to be searched.
pub struct Space {
    target_choices: Vec<TargetChoices>,
    bytes: u16,
    radio: Option<Radio>,
}

impl Space {
    /// Returns the space that the request chooses.
    ///
    /// # Errors
    /// Unknown names; the reason why no target is left.
    pub fn new(workspace: &Workspace, request: &Request) -> Result<Space, LabError> {
        let catalogue = Catalogue::read(workspace)?;
        let schemes = chosen_schemes(workspace, request)?;
        let variants = names::select("variant", &request.variants, &VARIANTS)?;
        let radio = request.radio.as_deref().map(|name| workspace.radio(name)).transpose()?;
        let mut target_choices = Vec::new();
        let mut refused = None;
        let targets = workspace.targets_with_operations(&request.targets)?;
        workspace.calibration_is_of(targets.iter().map(Target::name))?;
        for target in targets {
            let mut built = Vec::new();
            for scheme in &schemes {
                for &variant in &variants {
                    if request.variants.is_empty() && variant == UNOPTIMISED {
                        continue;
                    }
                    built.extend(built_scheme(&catalogue, &target, scheme, variant)?);
                }
            }
            if built.is_empty() {
                continue;
            }
            let points = points(&target, request, radio.as_ref());
            if points.is_empty() {
                refused = refused.or_else(|| why(&target, request, radio.as_ref()));
                continue;
            }
            let measured_at = measured_at(&target, &points);
            target_choices.push(TargetChoices { target, points, measured_at, built });
        }
        if target_choices.is_empty() {
            return Err(refused.unwrap_or_else(|| {
                LabError::Usage(
                    "no chosen target has such a scheme in such a variant; without --target, --scheme or --variant, plan \
                     looks at all there are"
                        .into(),
                )
            }));
        }
        Ok(Space { target_choices, bytes: request.bytes.unwrap_or(MESSAGE_BYTES), radio })
    }

    /// The figures that its points need.
    #[must_use]
    pub fn wanted(&self) -> Vec<Wanted<'_>> {
        let mut wanted = Vec::new();
        for choices in &self.target_choices {
            for &point in choices.measured_at.values() {
                for built in &choices.built {
                    for operation in &built.operations {
                        wanted.push(Wanted {
                            target: &choices.target,
                            point,
                            variant: built.variant,
                            op: &operation.name,
                            bytes: self.bytes_of(operation),
                        });
                    }
                }
            }
        }
        let mut seen = std::collections::HashSet::new();
        wanted.retain(|one| seen.insert(one.key()));
        wanted
    }

    /// Bounds on energies, by target.
    pub fn energy_accuracies(&self) -> BTreeMap<String, Vec<EnergyAccuracy>> {
        let of = |choices: &TargetChoices| {
            let Target { energy_accuracy, .. } = &choices.target;
            (choices.target.name().to_owned(), energy_accuracy.clone())
        };
        self.target_choices.iter().map(of).collect()
    }

    /// Sorts of its schemes, by name.
    pub fn kinds(&self) -> BTreeMap<String, String> {
        let built = self.target_choices.iter().flat_map(|choices| &choices.built);
        built.map(|built| (built.scheme.name.clone(), built.scheme.kind.clone())).collect()
    }

    fn bytes_of(&self, operation: &Operation) -> u16 {
        let takes_it = operation.any_length && check_length(operation, self.bytes.into()).is_ok();
        if takes_it { self.bytes } else { operation.bytes }
    }

    /// All points, with what follows from the figures for each.
    ///
    /// # Errors
    /// A radio that cannot send so much.
    pub fn candidates(
        &self,
        request: &Request,
        figures: &HashMap<Key, Figure>,
    ) -> Result<Vec<Candidate>, LabError> {
        let mut candidates = Vec::new();
        for choices in &self.target_choices {
            let target: Arc<str> = choices.target.name().into();
            let all: Vec<HashMap<u8, Cost>> =
                choices.built.iter().map(|built| self.costs(choices, built, figures)).collect();
            for (at, built) in choices.built.iter().enumerate() {
                // Two variants of one program are one: the MSP430's fast and mpy32, of which the
                // last is kept.
                let costs = &all[at];
                let again =
                    |other: usize| choices.built[other].scheme == built.scheme && all[other] == *costs;
                if (at + 1..choices.built.len()).any(again) {
                    continue;
                }
                let scheme: Arc<str> = built.scheme.name.as_str().into();
                let variant: Arc<str> = built.variant.into();
                // By supply, because it depends on nothing else here.
                let mut sent: HashMap<u64, Option<Transmission>> = HashMap::new();
                for point in &choices.points {
                    let Some(cost) = costs.get(&point.wait_states) else { continue };
                    let sent = match sent.entry(point.supply_v.to_bits()) {
                        Entry::Occupied(known) => known.into_mut(),
                        Entry::Vacant(new) => new.insert(self.send(built, point.supply_v)?),
                    };
                    let sent = sent.as_ref();
                    let mut one = Candidate {
                        target: target.clone(),
                        scheme: scheme.clone(),
                        variant: variant.clone(),
                        clock_hz: point.clock_hz,
                        supply_v: point.supply_v,
                        security_bits: built.scheme.security_bits,
                        cycles: request.cycles.unwrap_or(cost.cycles),
                        compute_s: 0.0,
                        compute_j: 0.0,
                        radio_bytes: sent.map_or(0, |sent| sent.air_bytes),
                        radio_packets: sent.map_or(0, |sent| sent.packets),
                        radio_s: sent.map_or(0.0, |sent| sent.time_s),
                        // The microcontroller is awake while the radio sends: it may have to feed
                        // it byte by byte.
                        radio_j: sent.map_or(0.0, |sent| sent.energy_j + point.power_w * sent.time_s),
                        flash_bytes: cost.flash_bytes,
                        ram_bytes: cost.ram_bytes,
                        sleep_w: None,
                        sleep_j: 0.0,
                        life_s: None,
                        stored_v: None,
                        mean_w: None,
                    };
                    one.compute_s = one.cycles * choices.target.seconds_per_cycle(point);
                    one.compute_j = one.compute_s * point.power_w;
                    self.rest(request, &choices.target, &mut one);
                    candidates.push(one);
                }
            }
        }
        Ok(candidates)
    }

    /// Cost of a scheme in a variant, by wait states.
    fn costs(
        &self,
        choices: &TargetChoices,
        built: &BuiltScheme,
        figures: &HashMap<Key, Figure>,
    ) -> HashMap<u8, Cost> {
        let wait_states = choices.measured_at.keys();
        wait_states.filter_map(|&count| Some((count, self.cost(choices, built, count, figures)?))).collect()
    }

    /// Sum of the costs of a scheme's operations; none where a figure is missing.
    fn cost(
        &self,
        choices: &TargetChoices,
        built: &BuiltScheme,
        wait_states: u8,
        figures: &HashMap<Key, Figure>,
    ) -> Option<Cost> {
        let mut sum = Cost::default();
        let mut stack = 0;
        for operation in &built.operations {
            let key = Key {
                target: choices.target.name().into(),
                wait_states,
                variant: built.variant.into(),
                op: operation.name.clone(),
                bytes: self.bytes_of(operation),
            };
            let figure = figures.get(&key)?;
            sum.cycles += figure.cycles;
            sum.flash_bytes += u64::try_from(figure.flash_bytes).unwrap_or(0);
            sum.ram_bytes += u64::try_from(figure.ram_bytes).unwrap_or(0);
            stack = stack.max(figure.stack_bytes);
        }
        sum.ram_bytes += u64::from(stack);
        Some(sum)
    }

    fn send(&self, built: &BuiltScheme, supply_v: f64) -> Result<Option<Transmission>, LabError> {
        let Some(radio) = &self.radio else { return Ok(None) };
        let message = built.scheme.message_bytes.unwrap_or(self.bytes);
        let bytes = u32::from(message) + built.scheme.bytes;
        radio
            .send(bytes, supply_v)
            .map(Some)
            .map_err(|error| LabError::Usage(format!("{}: {error}", radio.name)))
    }

    /// Computes the effects of a rate of messages, a battery and a capacitor.
    fn rest(&self, request: &Request, target: &Target, one: &mut Candidate) {
        let asleep_a = target.waiting_a(one.clock_hz as f64, one.supply_v);
        // The radio sleeps beside the microcontroller.
        let radio_a = self.radio.as_ref().map_or(0.0, |radio| radio.state_a("sleep").unwrap_or(0.0));
        let active_j = one.compute_j + one.radio_j;
        one.sleep_w = asleep_a.map(|asleep_a| (asleep_a + radio_a) * one.supply_v);
        if let (Some(rate_hz), Some(sleep_w)) = (request.rate_hz, one.sleep_w) {
            one.sleep_j = sleep_w * (1.0 / rate_hz - one.latency_s()).max(0.0);
            let mean_w = sizing::mean_w(sleep_w, active_j, rate_hz);
            one.mean_w = Some(mean_w);
            // A linear regulator in between takes the current that it gives; a lower battery would
            // need a converter, taken as ideal.
            one.life_s = request
                .battery
                .map(|battery| battery.life_s(mean_w * (battery.voltage_v / one.supply_v).max(1.0)));
        }
        // A regulator does not raise what is stored: the supply is the least.
        one.stored_v = request.capacitor.map(|capacitor| {
            sizing::required_v(one.compute_j, one.radio_j, request.overhead_j, capacitor.capacitance_f)
                .max(one.supply_v)
        });
    }
}

/// The schemes that the request names; without a name all whose message can have any length,
/// because only these send the same.
fn chosen_schemes(workspace: &Workspace, request: &Request) -> Result<Vec<Arc<Scheme>>, LabError> {
    let schemes = schemes::read(workspace)?;
    let known: Vec<&str> = schemes.iter().map(|scheme| scheme.name.as_str()).collect();
    let chosen: Vec<String> =
        names::select("scheme", &request.schemes, &known)?.into_iter().map(str::to_owned).collect();
    let is_chosen = |scheme: &Scheme| {
        chosen.contains(&scheme.name) && (scheme.message_bytes.is_none() || !request.schemes.is_empty())
    };
    let schemes: Vec<Scheme> = schemes.into_iter().filter(is_chosen).collect();
    if let Some(asked) = request.bytes
        && let Some(scheme) =
            schemes.iter().find(|scheme| scheme.message_bytes.is_some_and(|bytes| bytes != asked))
    {
        return Err(LabError::Usage(format!(
            "{} has a message of its own, of {} bytes; leave out --bytes",
            scheme.name,
            scheme.message_bytes.unwrap_or_default()
        )));
    }
    Ok(schemes.into_iter().map(Arc::new).collect())
}

#[derive(Default, PartialEq)]
struct Cost {
    cycles: f64,
    flash_bytes: u64,
    ram_bytes: u64,
}

/// A scheme in a variant, where the target has all its operations so.
fn built_scheme(
    catalogue: &Catalogue,
    target: &Target,
    scheme: &Arc<Scheme>,
    variant: &'static str,
) -> Result<Option<BuiltScheme>, LabError> {
    let built = catalogue.built_as(target, variant)?;
    let known = catalogue.names();
    let mut operations = Vec::new();
    for name in &scheme.ops {
        if !known.contains(&name.as_str()) {
            return Err(LabError::BadFile {
                path: "schemes.toml".into(),
                problem: format!(
                    "{}: device/ops.toml has no operation '{name}'{}",
                    scheme.name,
                    names::suggestion(name, known.iter().copied())
                ),
            });
        }
        match built.iter().find(|operation| operation.name == *name) {
            Some(operation) => operations.push(operation.clone()),
            None => return Ok(None),
        }
    }
    Ok(Some(BuiltScheme { scheme: scheme.clone(), variant, operations }))
}

/// Clocks by supplies, as far as the data sheets of the part and of the radio allow them.
fn points(target: &Target, request: &Request, radio: Option<&Radio>) -> Vec<OperatingPoint> {
    let mut points = Vec::new();
    for clock_hz in clocks(target, request) {
        for &supply_v in &supplies(target, request) {
            if radio.is_some_and(|radio| !(radio.min_v..=radio.max_v).contains(&supply_v)) {
                continue;
            }
            points.extend(target.operating_point(Some(clock_hz), Some(supply_v)).ok());
        }
    }
    points
}

fn clocks(target: &Target, request: &Request) -> Vec<u64> {
    if !request.clocks_hz.is_empty() {
        return request.clocks_hz.clone();
    }
    let own = target.part.default_clock_hz;
    let mut clocks: Vec<u64> =
        target.planning.clocks_mhz.iter().map(|mhz| (mhz * 1e6).round() as u64).collect();
    if clocks.is_empty() {
        clocks.push(own);
    }
    clocks
}

fn supplies(target: &Target, request: &Request) -> Vec<f64> {
    if !request.supplies_v.is_empty() {
        return request.supplies_v.clone();
    }
    let supply = &target.supply;
    // In millivolts, so that a step and a limit at the same voltage are one.
    let millivolts = |v: f64| (v * 1e3).round() as u32;
    let (lowest, highest) = (millivolts(supply.min_v()), millivolts(supply.max_v));
    let mut all: Vec<u32> = (lowest.div_ceil(100)..=highest / 100).map(|tenths| tenths * 100).collect();
    all.extend(supply.limits.iter().map(|limit| millivolts(limit.supply_v)));
    all.extend([millivolts(supply.default_v), highest]);
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|millivolts| f64::from(millivolts) / 1e3).collect()
}

/// Why none of the clocks and supplies asked for go together on a target.
fn why(target: &Target, request: &Request, radio: Option<&Radio>) -> Option<LabError> {
    for clock_hz in clocks(target, request) {
        for supply_v in supplies(target, request) {
            if let Err(error) = target.operating_point(Some(clock_hz), Some(supply_v)) {
                return Some(error);
            }
        }
    }
    let radio = radio?;
    Some(LabError::Usage(format!(
        "{}: {} works from {} V to {} V; choose a supply in between",
        target.name(),
        radio.name,
        radio.min_v,
        radio.max_v
    )))
}

/// Returns the point to measure each number of wait states at. That is the target's own clock where
/// it has as many, else the fastest of its clocks that has, else the point itself.
fn measured_at(target: &Target, points: &[OperatingPoint]) -> BTreeMap<u8, OperatingPoint> {
    let everything = Request::default();
    let mut known: Vec<OperatingPoint> = target.operating_point(None, None).into_iter().collect();
    let mut grid = self::points(target, &everything, None);
    grid.sort_by(|a, b| b.clock_hz.cmp(&a.clock_hz).then(b.supply_v.total_cmp(&a.supply_v)));
    known.extend(grid);
    points
        .iter()
        .map(|point| {
            let at = known.iter().find(|one| one.wait_states == point.wait_states).unwrap_or(point);
            (point.wait_states, *at)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The message of a telegram is its own, so it stands beside others by its name alone.
    #[test]
    fn telegrams_are_chosen_by_name() {
        let workspace = Workspace::find().expect("a clone of the project");
        let chosen = |schemes: &[&str], bytes| {
            let schemes = schemes.iter().map(|&name| name.to_owned()).collect();
            let chosen = chosen_schemes(&workspace, &Request { schemes, bytes, ..Request::default() });
            chosen.map(|chosen| chosen.iter().filter(|scheme| scheme.name.starts_with("oms-")).count())
        };
        assert_eq!(chosen(&[], None).expect("schemes"), 0);
        assert_eq!(chosen(&[], Some(64)).expect("schemes"), 0);
        assert_eq!(chosen(&["oms-*", "ecies"], None).expect("schemes"), 3);
        assert_eq!(chosen(&["oms-b"], Some(14)).expect("schemes"), 1);
        assert!(chosen(&["oms-b", "ecies"], Some(16)).is_err());
    }
}
