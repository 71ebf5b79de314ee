//! Bounds on concurrent use: connections, streams of events. There is a bound for all, and one for
//! each holder, so that nobody holds all of it.

use crate::source_prefix::source_prefix;
use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

/// Places by who holds them.
pub(super) struct ConcurrencyLimits<K> {
    most: usize,
    most_each: usize,
    held: Arc<Mutex<Held<K>>>,
}

#[derive(Debug)]
struct Held<K> {
    all: usize,
    /// Of those who hold any.
    by: HashMap<K, usize>,
}

/// One that is held, until it is dropped.
#[derive(Debug)]
pub(super) struct Permit<K: Hash + Eq> {
    by: K,
    held: Arc<Mutex<Held<K>>>,
}

/// Why there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Full {
    /// All are held.
    All,
    /// The caller holds its own share.
    Each,
}

impl<K: Copy + Hash + Eq> ConcurrencyLimits<K> {
    pub(super) fn new(most: usize, most_each: usize) -> ConcurrencyLimits<K> {
        ConcurrencyLimits { most, most_each, held: Arc::new(Mutex::new(Held { all: 0, by: HashMap::new() })) }
    }

    pub(super) fn take(&self, by: K) -> Result<Permit<K>, Full> {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        if held.by.get(&by).is_some_and(|count| *count >= self.most_each) {
            return Err(Full::Each);
        }
        if held.all >= self.most {
            return Err(Full::All);
        }
        held.all += 1;
        *held.by.entry(by).or_default() += 1;
        Ok(Permit { by, held: self.held.clone() })
    }
}

impl ConcurrencyLimits<IpAddr> {
    /// For who has that address.
    pub(super) fn take_from(&self, peer: IpAddr) -> Result<Permit<IpAddr>, Full> {
        self.take(source_prefix(peer))
    }
}

impl<K: Hash + Eq> Drop for Permit<K> {
    fn drop(&mut self) {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        held.all -= 1;
        if let Some(count) = held.by.get_mut(&self.by) {
            *count -= 1;
            if *count == 0 {
                held.by.remove(&self.by);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_are_bounded_per_holder_and_returned_on_drop() {
        let permits = ConcurrencyLimits::new(5, 2);
        let mut held: Vec<_> =
            [1, 1, 2, 2, 3].into_iter().map(|by| permits.take(by).expect("a place")).collect();
        assert_eq!(permits.take(1).expect_err("one's share"), Full::Each);
        assert_eq!(permits.take(4).expect_err("all"), Full::All);
        held.remove(0);
        held.push(permits.take(1).expect("it came back"));
        assert_eq!(permits.take(1).expect_err("one's share"), Full::Each);
        held.clear();
        assert!(permits.held.lock().expect("no panic").by.is_empty(), "who holds nothing is forgotten");
    }

    #[test]
    fn with_ipv6_a_network_of_64_bits_is_one_holder() {
        let permits = ConcurrencyLimits::new(5, 1);
        let take = |address: &str| permits.take_from(address.parse().expect("an address"));
        let one = take("2001:db8::1").expect("a place");
        assert_eq!(take("2001:db8::2").expect_err("the same network"), Full::Each);
        let others = (take("2001:db8:0:1::1").expect("a place"), take("192.0.2.1").expect("a place"));
        assert_eq!(take("::ffff:192.0.2.1").expect_err("the same address"), Full::Each);
        drop((one, others));
    }
}
