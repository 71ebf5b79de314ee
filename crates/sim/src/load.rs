//! Load of a site, from a seed: base load, a course over the day, appliances.
//!
//! Power is constant between the moments at which something changes, so that energy is a sum and
//! needs no step of integration.
//!
//! All figures of the appliances and of the course are chosen, so that a site draws about 10 kWh a
//! day (a European one draws about 3,600 kWh a year, from memory) and peaks at some 5 kW, with
//! edges as sharp as a kettle's.

use crate::chance::{Chance, Purpose};
use crate::time::SECOND_NS;

const DAY_NS: u64 = 86_400 * SECOND_NS;
/// The course over the day changes every five minutes.
const COURSE_NS: u64 = 300 * SECOND_NS;

/// Power of an appliance while it runs: watts of each phase, and the phase's duration in seconds.
pub type Run = &'static [(f64, f64)];

/// A kettle.
pub const KETTLE: Run = &[(2000.0, 180.0)];
/// A hob and oven, cycling by its thermostat.
pub const OVEN: Run = &[(2200.0, 600.0), (0.0, 120.0), (2200.0, 180.0), (0.0, 120.0), (2200.0, 180.0)];
/// A washing machine: heating, washing, spinning.
pub const WASHING_MACHINE: Run = &[(2000.0, 900.0), (150.0, 2700.0), (500.0, 600.0)];
/// A refrigerator: on, off, and again.
pub const REFRIGERATOR: Run = &[(90.0, 900.0), (0.0, 2100.0)];

/// Something that is switched on for a while.
struct Appliance {
    run: Run,
    /// Runs a day on average.
    a_day: f64,
    /// The hours within which it is begun, and the share of runs that begin then.
    hours: &'static [(f64, f64, f64)],
}

const APPLIANCES: [Appliance; 6] = [
    Appliance { run: KETTLE, a_day: 5.0, hours: &[(6.0, 9.0, 0.4), (9.0, 23.0, 0.6)] },
    Appliance { run: OVEN, a_day: 1.2, hours: &[(11.5, 13.0, 0.3), (17.0, 20.0, 0.7)] },
    Appliance { run: WASHING_MACHINE, a_day: 0.6, hours: &[(7.0, 21.0, 1.0)] },
    // A television.
    Appliance { run: &[(110.0, 9000.0)], a_day: 1.1, hours: &[(18.0, 21.5, 1.0)] },
    // A vacuum cleaner.
    Appliance { run: &[(800.0, 900.0)], a_day: 0.3, hours: &[(9.0, 18.0, 1.0)] },
    // A microwave oven.
    Appliance { run: &[(1200.0, 240.0)], a_day: 1.5, hours: &[(7.0, 9.0, 0.3), (11.0, 20.0, 0.7)] },
];

/// Load that a meter measures over time.
#[derive(Clone, Debug)]
pub enum Load {
    /// A site's day.
    Profile(Box<LoadProfile>),
    /// The same, faster than the meter's clock by a factor.
    FastProfile(Box<LoadProfile>, u64),
    /// Watts and nanoseconds, again and again.
    Cycle(Vec<(f64, u64)>),
}

impl Load {
    /// The same power for ever, in watts.
    #[must_use]
    pub fn constant(power_w: f64) -> Load {
        Load::Cycle(vec![(power_w, u64::MAX)])
    }

    /// Returns the load at a time in watts, and the time until which it lasts.
    pub fn at(&mut self, now_ns: u64) -> (f64, u64) {
        match self {
            Load::Profile(profile) => profile.at(now_ns),
            Load::FastProfile(profile, speed) => {
                let (power_w, until_ns) = profile.at(now_ns * *speed);
                (power_w, (until_ns / *speed).max(now_ns + 1))
            }
            Load::Cycle(phases) => {
                let cycle_ns = phases.iter().fold(0, |sum: u64, (_, for_ns)| sum.saturating_add(*for_ns));
                let mut until_ns = now_ns - now_ns % cycle_ns.max(1);
                for &(power_w, for_ns) in phases.iter() {
                    until_ns = until_ns.saturating_add(for_ns);
                    if until_ns > now_ns {
                        return (power_w, until_ns);
                    }
                }
                (0.0, u64::MAX)
            }
        }
    }
}

/// Power that stays the same for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Segment {
    /// From here on, in nanoseconds of the simulation.
    pub from_ns: u64,
    /// Power, in watts.
    pub power_w: f64,
}

/// Endless load of a site.
#[derive(Clone, Debug)]
pub struct LoadProfile {
    seed: u64,
    site: u64,
    /// The time of day at which the simulation begins.
    begins_ns: u64,
    base_w: f64,
    people: f64,
    refrigerator_s: f64,
    /// The day that was asked for last.
    day: Day,
}

/// A day's segments, the first at its midnight, with the energy before each in joules.
#[derive(Clone, Debug)]
struct Day {
    number: u64,
    segments: Vec<(Segment, f64)>,
    energy_j: f64,
}

impl LoadProfile {
    /// The profile of one site of a seed; the simulation begins at `begins_h` o'clock.
    #[must_use]
    pub fn new(seed: u64, site: u64, begins_h: f64) -> LoadProfile {
        let mut chance = Chance::new(seed, Purpose::Load, site, u64::MAX);
        LoadProfile {
            seed,
            site,
            begins_ns: (begins_h * 3600.0) as u64 * SECOND_NS,
            base_w: chance.between(60.0, 180.0),
            people: chance.between(0.5, 1.6),
            refrigerator_s: chance.between(0.0, REFRIGERATOR[0].1 + REFRIGERATOR[1].1),
            day: Day { number: u64::MAX, segments: Vec::new(), energy_j: 0.0 },
        }
    }

    /// Returns the load at a time, and the time until which it lasts.
    pub fn at(&mut self, now_ns: u64) -> (f64, u64) {
        let begins_ns = self.begins_ns;
        let clock_ns = now_ns + begins_ns;
        let day = self.day(clock_ns / DAY_NS);
        let next = day.segments.partition_point(|(segment, _)| segment.from_ns <= clock_ns);
        let until_ns =
            day.segments.get(next).map_or((clock_ns / DAY_NS + 1) * DAY_NS, |(next, _)| next.from_ns);
        (day.segments[next - 1].0.power_w, until_ns - begins_ns)
    }

    /// Energy drawn between two times, in joules.
    pub fn energy_j(&mut self, from_ns: u64, until_ns: u64) -> f64 {
        let (from_ns, until_ns) = (from_ns + self.begins_ns, until_ns + self.begins_ns);
        if until_ns <= from_ns {
            return 0.0;
        }
        let (first, last) = (from_ns / DAY_NS, until_ns / DAY_NS);
        let between: f64 = (first..last).map(|number| self.day(number).energy_j).sum();
        between - self.since_midnight_j(from_ns) + self.since_midnight_j(until_ns)
    }

    fn since_midnight_j(&mut self, clock_ns: u64) -> f64 {
        let day = self.day(clock_ns / DAY_NS);
        let next = day.segments.partition_point(|(segment, _)| segment.from_ns <= clock_ns);
        let (segment, before_j) = &day.segments[next - 1];
        before_j + segment.power_w * seconds(clock_ns - segment.from_ns)
    }

    fn day(&mut self, number: u64) -> &Day {
        if self.day.number != number {
            self.day = self.make(number);
        }
        &self.day
    }

    fn make(&self, number: u64) -> Day {
        let mut chance = Chance::new(self.seed, Purpose::Load, self.site, number);
        // Changes of power: when, since midnight, and by how much.
        let mut changes: Vec<(u64, f64)> = Vec::new();
        let mut on = |from_s: f64, until_s: f64, power_w: f64| {
            let (from_s, until_s) = (from_s.max(0.0), until_s.min(86_400.0));
            if from_s < until_s && power_w > 0.0 {
                changes.push((nanoseconds(from_s), power_w));
                changes.push((nanoseconds(until_s), -power_w));
            }
        };
        for step in 0..DAY_NS / COURSE_NS {
            let (from_s, step_s) = (seconds(step * COURSE_NS), seconds(COURSE_NS));
            let power_w = self.base_w + self.people * course_w(from_s / 3600.0) * chance.between(0.7, 1.3);
            // Whole tenths of a watt: sums of them stay exact enough to come back to where they
            // began.
            on(from_s, from_s + step_s, (power_w * 10.0).round() / 10.0);
        }
        let [(power_w, on_s), (_, off_s)] = [REFRIGERATOR[0], REFRIGERATOR[1]];
        let mut from_s = self.refrigerator_s - (on_s + off_s);
        while from_s < 86_400.0 {
            on(from_s, from_s + on_s, power_w);
            from_s += (on_s + off_s) * chance.between(0.9, 1.1);
        }
        for appliance in &APPLIANCES {
            // Bernoulli trials by the hundredth of a day's runs are near enough to runs that come
            // at random.
            let runs = (0..100).filter(|_| chance.happens(appliance.a_day * self.people / 100.0)).count();
            for _ in 0..runs {
                let mut share = chance.unit();
                let within = appliance.hours.iter().find(|(_, _, part)| {
                    share -= part;
                    share < 0.0
                });
                let (from_h, until_h, _) = within.copied().unwrap_or(appliance.hours[0]);
                let mut from_s = chance.between(from_h, until_h) * 3600.0;
                let strength = chance.between(0.8, 1.1);
                for &(power_w, for_s) in appliance.run {
                    on(from_s, from_s + for_s, (power_w * strength).round());
                    from_s += for_s;
                }
            }
        }
        changes.sort_by_key(|&(at_ns, _)| at_ns);
        let midnight_ns = number * DAY_NS;
        let mut segments: Vec<(Segment, f64)> = Vec::new();
        let (mut power_w, mut energy_j, mut since_ns) = (0.0, 0.0, 0);
        for (index, &(at_ns, change_w)) in changes.iter().enumerate() {
            energy_j += power_w * seconds(at_ns - since_ns);
            since_ns = at_ns;
            power_w += change_w;
            let last = changes.get(index + 1).is_none_or(|&(next_ns, _)| next_ns > at_ns);
            if last && at_ns < DAY_NS {
                let power_w = (power_w * 10.0).round() / 10.0;
                segments.push((Segment { from_ns: midnight_ns + at_ns, power_w }, energy_j));
            }
        }
        Day { number, segments, energy_j }
    }
}

/// Light, computers and the like of one person: nearly nothing at night, a hump in the morning, a
/// larger one in the evening.
fn course_w(hour: f64) -> f64 {
    let hump = |at_h: f64, wide_h: f64| (-((hour - at_h) / wide_h).powi(2)).exp();
    10.0 + 120.0 * hump(7.5, 1.2) + 60.0 * hump(13.0, 3.0) + 220.0 * hump(20.0, 2.2)
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / SECOND_NS as f64
}

fn nanoseconds(s: f64) -> u64 {
    // Appliances are switched at whole milliseconds.
    (s * 1e3).round() as u64 * (SECOND_NS / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn energy_is_the_sum_of_its_segments_across_midnight() {
        let mut profile = LoadProfile::new(3, 5, 22.0);
        let (from_ns, until_ns) = (1_234_567_890, 30 * 3600 * SECOND_NS + 77);
        let mut sum_j = 0.0;
        let mut now_ns = from_ns;
        while now_ns < until_ns {
            let (power_w, next_ns) = profile.at(now_ns);
            assert!((0.0..20_000.0).contains(&power_w), "{power_w}");
            assert!(next_ns > now_ns);
            sum_j += power_w * seconds(next_ns.min(until_ns) - now_ns);
            now_ns = next_ns.min(until_ns);
        }
        let energy_j = profile.energy_j(from_ns, until_ns);
        assert!((energy_j - sum_j).abs() < 1e-6 * sum_j, "{energy_j} {sum_j}");
    }

    #[test]
    fn sites_draw_what_european_households_draw() {
        let mut total_kwh = 0.0;
        let mut peak_w: f64 = 0.0;
        for site in 0..50 {
            let mut profile = LoadProfile::new(1, site, 0.0);
            total_kwh += profile.energy_j(0, 7 * DAY_NS) / 3.6e6 / 7.0 / 50.0;
            let mut now_ns = 0;
            while now_ns < DAY_NS {
                let (power_w, next_ns) = profile.at(now_ns);
                peak_w = peak_w.max(power_w);
                now_ns = next_ns;
            }
        }
        assert!((7.0..14.0).contains(&total_kwh), "{total_kwh} kWh a day");
        assert!((3000.0..12_000.0).contains(&peak_w), "{peak_w} W");
    }

    #[test]
    fn one_seed_gives_one_profile() {
        let course = |seed, site| {
            let mut profile = LoadProfile::new(seed, site, 0.0);
            (0..200).map(|step| profile.at(step * COURSE_NS / 2).0).collect::<Vec<_>>()
        };
        assert_eq!(course(1, 2), course(1, 2));
        assert_ne!(course(1, 2), course(1, 3));
        assert_ne!(course(1, 2), course(2, 2));
    }
}
