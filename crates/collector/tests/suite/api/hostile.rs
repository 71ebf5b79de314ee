//! A short version of the fuzz target `api`: its seeds, as they are and with something of them
//! changed. docs/how-to/fuzzing.md.

#[path = "../../../fuzz/targets/asked.rs"]
mod asked;

use asked::Fixture;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

#[test]
fn whatever_is_asked_the_answer_is_one_of_the_api() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds/api");
    let files = std::fs::read_dir(folder).expect("the seeds").map(|file| file.expect("a file").path());
    let mut seeds: Vec<Vec<u8>> = files.map(|file| std::fs::read(file).expect("a seed")).collect();
    seeds.sort();
    let mut fixture = Fixture::new();
    let done = seeds.iter().filter(|seed| fixture.ask(seed).expect("a request").is_success()).count();
    assert!(done > 20, "{done} of {} were done", seeds.len());
    let seed = rand::random();
    println!("seed {seed}");
    let rng = &mut StdRng::seed_from_u64(seed);
    let mut answered = 0;
    for _ in 0..1000 {
        let mut bytes = seeds[rng.random_range(0..seeds.len())].clone();
        for _ in 0..rng.random_range(1..4) {
            let at = rng.random_range(0..bytes.len());
            let other = &seeds[rng.random_range(0..seeds.len())];
            match rng.random_range(0..4) {
                0 => bytes[at] = rng.random(),
                1 => drop(bytes.remove(at)),
                2 => bytes.insert(at, rng.random()),
                // The end of another one.
                _ => bytes.splice(at.., other[at.min(other.len() - 1)..].iter().copied()).for_each(drop),
            }
        }
        answered += usize::from(fixture.ask(&bytes).is_some());
    }
    assert!(answered > 300, "{answered} were requests");
}
