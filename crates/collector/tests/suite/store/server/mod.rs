//! PostgreSQL alone: a server that is killed, hangs, or is somebody else's, and connections that
//! are cut.

mod found;
mod lost;
mod proxy;
mod secrets;
mod shared;
mod standby;
mod tls;

use super::place::{NEW_YEAR_S, reading};
use collector::store::{DatabaseUrl, Options, Store, StoreError, Write, Written};
use std::time::{Duration, Instant};

const METERS: u16 = 20;

/// The n-th reading of each meter.
fn batch(n: u32) -> Vec<Write> {
    (1..=METERS).map(|meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 10, n, 5)).collect()
}

fn place(url: &str) -> DatabaseUrl {
    DatabaseUrl::named(url).expect("a URL")
}

fn open(url: &str) -> Store {
    Store::open(place(url), &Options::default()).expect("the store opens")
}

fn refused(url: &str) -> StoreError {
    Store::open(place(url), &Options::default()).err().expect("it is refused")
}

/// Commits until it is taken, as a session does. Returns what it was refused with meanwhile, and
/// what came of it.
fn commit_until_taken(store: &mut Store, n: u32) -> (Vec<StoreError>, Vec<Written>) {
    let (mut errors, until) = (Vec::new(), Instant::now() + Duration::from_secs(120));
    loop {
        match store.commit(batch(n)) {
            Ok(written) => {
                let taken =
                    |written: &Written| matches!(written, Written::Reading { .. } | Written::Repeated);
                assert!(written.iter().all(taken), "{written:?}");
                return (errors, written);
            }
            Err(error) => errors.push(error),
        }
        assert!(Instant::now() < until, "it never came back: {:?}", errors.last());
        std::thread::sleep(Duration::from_millis(20));
    }
}
