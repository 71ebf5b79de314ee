//! Commands for the meters, each one another: so that each is known again, wherever it is done.

use crate::chaos::http::ask;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use wire::meter::{MeterId, Suite};

/// One command after the other.
const EVERY: Duration = Duration::from_millis(1500);
const WITHIN: Duration = Duration::from_secs(3);
/// The first one's seconds between two measurements; each has one more than the last. These meters
/// do not go by it.
const FIRST_S: u16 = 1000;

/// A command: to configure, with an interval that no other one has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    pub meter: MeterId,
    pub interval_s: u16,
    /// True if the API said that it has it; else nobody knows.
    pub taken: bool,
}

/// Gives commands by the API until it is over. to: where there is one.
#[must_use]
pub fn give(
    (to, token): (&[SocketAddr], &str),
    meters: &[(MeterId, Suite)],
    seed: u64,
    over: &AtomicBool,
) -> Vec<Given> {
    let mut rng = StdRng::seed_from_u64(seed);
    let (mut given, mut next) = (Vec::new(), Instant::now() + EVERY);
    while !over.load(Ordering::Relaxed) {
        if Instant::now() < next {
            std::thread::sleep(Duration::from_millis(20));
            continue;
        }
        next = Instant::now() + EVERY;
        let (meter, suite) = meters[rng.random_range(0..meters.len())];
        let Some(interval_s) = u16::try_from(given.len()).ok().and_then(|at| FIRST_S.checked_add(at)) else {
            break;
        };
        let body = format!(
            r#"{{"command":{{"configure":{{"interval_s":{interval_s},"suite":"{}"}}}}}}"#,
            suite.name()
        );
        let path = format!("/api/v1/meters/{meter}/commands");
        for to in to {
            let answered = ask(*to, ("POST", &path), Some(token), &body, WITHIN);
            let taken = match answered.map(|answered| answered.status) {
                Ok(201) => true,
                // Refused, so nobody has it.
                Ok(400..500) => continue,
                // Nobody is there, so nobody has it.
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => continue,
                Ok(_) | Err(_) => false,
            };
            // Where nobody knows whether it was taken it is not given again.
            given.push(Given { meter, interval_s, taken });
            break;
        }
    }
    given
}
