//! The search against brute force: random candidates, every definition applied word by word.

use energy::plan::{Candidate, Quantity, Requirement, pareto_front, search};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

const QUANTITIES: [Quantity; 9] = [
    Quantity::Energy,
    Quantity::Latency,
    Quantity::Security,
    Quantity::Flash,
    Quantity::Ram,
    Quantity::Interval,
    Quantity::Life,
    Quantity::Stored,
    Quantity::Harvest,
];

/// Few different values, so that ties are common.
fn candidate(rng: &mut StdRng) -> Candidate {
    let mut step = |scale: f64| scale * f64::from(rng.random_range(1..=6));
    let (compute_j, radio_j, sleep_j) = (step(1e-3), step(1e-4), step(1e-5));
    let (compute_s, radio_s) = (step(0.1), step(0.01));
    let (life_s, stored_v, mean_w) = (step(1e7), step(1.0), step(1e-5));
    Candidate {
        target: format!("t{}", rng.random_range(0..3)).into(),
        scheme: format!("s{}", rng.random_range(0..3)).into(),
        variant: "fast".into(),
        clock_hz: 1_000_000 * rng.random_range(1..=25),
        supply_v: 2.0,
        security_bits: [80, 128, 256][rng.random_range(0..3)],
        cycles: 1e6,
        compute_s,
        compute_j,
        radio_bytes: 64,
        radio_packets: 1,
        radio_s,
        radio_j,
        flash_bytes: 1000 * rng.random_range(1..=6),
        ram_bytes: 100 * rng.random_range(1..=6),
        sleep_w: Some(1e-6),
        sleep_j,
        life_s: rng.random_bool(0.9).then_some(life_s),
        stored_v: rng.random_bool(0.9).then_some(stored_v),
        mean_w: rng.random_bool(0.9).then_some(mean_w),
    }
}

fn requirements(rng: &mut StdRng) -> Vec<Requirement> {
    let limit = |rng: &mut StdRng, quantity| match quantity {
        Quantity::Energy => 1e-3 * rng.random_range(1.0..8.0),
        Quantity::Latency | Quantity::Interval => 0.1 * rng.random_range(1.0..8.0),
        Quantity::Security => [80.0, 128.0, 256.0, 512.0][rng.random_range(0..4)],
        Quantity::Flash => 1000.0 * rng.random_range(1.0..8.0),
        Quantity::Ram => 100.0 * rng.random_range(1.0..8.0),
        Quantity::Life => 1e7 * rng.random_range(1.0..8.0),
        Quantity::Stored => rng.random_range(1.0..8.0),
        Quantity::Harvest => 1e-5 * rng.random_range(1.0..8.0),
    };
    QUANTITIES
        .into_iter()
        .filter(|_| rng.random_bool(0.4))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|quantity| Requirement { quantity, limit: limit(rng, quantity) })
        .collect()
}

fn value(quantity: Quantity, c: &Candidate) -> Option<f64> {
    match quantity {
        Quantity::Energy => Some(c.compute_j + c.radio_j + c.sleep_j),
        Quantity::Latency | Quantity::Interval => Some(c.compute_s + c.radio_s),
        Quantity::Security => Some(f64::from(c.security_bits)),
        Quantity::Flash => Some(c.flash_bytes as f64),
        Quantity::Ram => Some(c.ram_bytes as f64),
        Quantity::Life => c.life_s,
        Quantity::Stored => c.stored_v,
        Quantity::Harvest => c.mean_w,
    }
}

fn meets(requirement: &Requirement, c: &Candidate) -> bool {
    let near = 1.0 + 1e-9;
    match (value(requirement.quantity, c), requirement.quantity) {
        (None, _) => false,
        (Some(v), Quantity::Security | Quantity::Life) => v * near >= requirement.limit,
        (Some(v), _) => v <= requirement.limit * near,
    }
}

fn better_nowhere(a: &Candidate, b: &Candidate) -> bool {
    let cost = |c: &Candidate| {
        [
            c.compute_j + c.radio_j + c.sleep_j,
            c.compute_s + c.radio_s,
            c.flash_bytes as f64,
            c.ram_bytes as f64,
        ]
    };
    let (a, b) = (cost(a), cost(b));
    (0..4).all(|i| b[i] <= a[i]) && (0..4).any(|i| b[i] < a[i])
}

#[test]
fn the_search_finds_what_brute_force_finds() {
    for seed in 0..300 {
        let mut rng = StdRng::seed_from_u64(seed);
        let candidates: Vec<Candidate> = (0..rng.random_range(0..120)).map(|_| candidate(&mut rng)).collect();
        let requirements = requirements(&mut rng);
        let outcome = search(&candidates, &requirements);

        let feasible: Vec<usize> = (0..candidates.len())
            .filter(|&i| requirements.iter().all(|requirement| meets(requirement, &candidates[i])))
            .collect();
        let mut found: Vec<usize> = outcome.points.iter().map(|point| point.index).collect();
        found.sort_unstable();
        assert_eq!(found, feasible, "seed {seed}: the feasible points");

        for point in &outcome.points {
            let one = &candidates[point.index];
            let beaten = feasible.iter().any(|&other| better_nowhere(one, &candidates[other]));
            assert_eq!(point.front, !beaten, "seed {seed}: the front at {}", point.index);
            let slacks = requirements.iter().map(|requirement| -requirement.excess(one));
            let least = slacks.fold(f64::INFINITY, f64::min);
            match point.limiting {
                Some(limiting) => assert_eq!(limiting.slack, least, "seed {seed}"),
                None => assert!(requirements.is_empty(), "seed {seed}"),
            }
        }
        // The front first, each part by rising energy.
        for pair in outcome.points.windows(2) {
            assert!(pair[0].front >= pair[1].front, "seed {seed}");
            if pair[0].front == pair[1].front {
                let (a, b) = (&candidates[pair[0].index], &candidates[pair[1].index]);
                assert!(a.energy_j() <= b.energy_j(), "seed {seed}");
            }
        }

        for (at, exclusion) in outcome.exclusions.iter().enumerate() {
            let requirement = &requirements[at];
            let out: Vec<&Candidate> = candidates.iter().filter(|c| !meets(requirement, c)).collect();
            assert_eq!(exclusion.excluded, out.len(), "seed {seed}");
            let others =
                |c: &Candidate| requirements.iter().enumerate().all(|(other, r)| other == at || meets(r, c));
            let alone: Vec<&Candidate> = out.iter().copied().filter(|c| others(c)).collect();
            assert_eq!(exclusion.alone, alone.len(), "seed {seed}");
            let pool = if alone.is_empty() { out } else { alone };
            let least = pool
                .iter()
                .map(|c| requirement.excess(c))
                .filter(|excess| excess.is_finite())
                .min_by(f64::total_cmp);
            assert_eq!(exclusion.nearest.map(|nearest| nearest.excess), least, "seed {seed}");
        }

        let worst = |c: &Candidate| requirements.iter().map(|r| r.excess(c)).fold(0.0, f64::max);
        let least = candidates.iter().map(worst).filter(|excess| excess.is_finite()).min_by(f64::total_cmp);
        let expected = if feasible.is_empty() { least } else { None };
        assert_eq!(outcome.closest.map(|closest| closest.excess), expected, "seed {seed}");
    }
}

/// By hand: (energy, latency) of (1, 3), (2, 2), (3, 1) are a front; (2, 3) is beaten by the first
/// two; a second (2, 2) is as good as the first.
#[test]
fn a_front_drawn_by_hand() {
    let mut rng = StdRng::seed_from_u64(1);
    let rows: Vec<Candidate> = [(1.0, 3.0), (2.0, 2.0), (3.0, 1.0), (2.0, 3.0), (2.0, 2.0)]
        .into_iter()
        .map(|(compute_j, compute_s)| Candidate {
            compute_j,
            compute_s,
            radio_j: 0.0,
            radio_s: 0.0,
            sleep_j: 0.0,
            flash_bytes: 1,
            ram_bytes: 1,
            ..candidate(&mut rng)
        })
        .collect();
    assert_eq!(pareto_front(&rows.iter().collect::<Vec<_>>()), [true, true, true, false, true]);
}

/// 2.31 mJ where 2 mJ are allowed is 15.5 % too much; 80 bits where 128 are asked for is 37.5 % too
/// little.
#[test]
fn how_far_a_point_is_from_a_limit() {
    let mut rng = StdRng::seed_from_u64(1);
    let one = Candidate {
        compute_j: 2.31e-3,
        radio_j: 0.0,
        sleep_j: 0.0,
        security_bits: 80,
        life_s: None,
        ..candidate(&mut rng)
    };
    let excess = |quantity, limit| Requirement { quantity, limit }.excess(&one);
    assert!((excess(Quantity::Energy, 2e-3) - 0.155).abs() < 1e-12);
    assert!((excess(Quantity::Security, 128.0) - 0.375).abs() < 1e-12);
    assert_eq!(excess(Quantity::Life, 1.0), f64::INFINITY);
    let unknown = Candidate { compute_s: f64::NAN, ..one.clone() };
    let latency = Requirement { quantity: Quantity::Latency, limit: 1.0 };
    assert_eq!(latency.excess(&unknown), f64::INFINITY, "what is no number meets nothing");
    assert_eq!(excess(Quantity::Energy, 2.31e-3), 0.0);
}
