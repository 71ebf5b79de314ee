//! A meter between its packets. Of a million meters few have something under way at a time: the others are kept in little memory,
//! and are sessions again with their next packet or command.
//!
//! What is not kept need not survive a restart either: pieces of messages, and the last reports, which the owner has, and compares.

use super::rejection::Counters;
use super::session::Session;
use super::state::MeterState;
use crate::meter::{Address, MeterRecord, Suite};
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// A meter without commands, with one suite and one address. Its keys are wiped when it is dropped.
#[derive(Debug)]
pub(super) struct Quiet {
    pub(super) record: MeterRecord,
    state: QuietState,
    pub(super) counters: Option<Box<Counters>>,
    /// As the session's.
    unexpected: u8,
}

impl Quiet {
    /// `None`: there is more to keep of it.
    pub(super) fn new(record: &MeterRecord, state: &MeterState) -> Option<Quiet> {
        Some(Quiet { record: record.clone(), state: QuietState::of(state)?, counters: None, unexpected: 0 })
    }

    /// Of a session that may rest.
    pub(super) fn of(session: &mut Session) -> Option<Quiet> {
        let quiet = Quiet::new(&session.record, &session.state)?;
        Some(Quiet { counters: session.counters.take(), unexpected: session.unexpected, ..quiet })
    }

    /// The keys here are wiped when this is dropped, which is not so when they are moved away.
    pub(super) fn session(&mut self) -> Session {
        let mut session = Session::new(self.record.clone(), self.state());
        (session.counters, session.unexpected) = (self.counters.take(), self.unexpected);
        // It is found by its name already.
        session.named = vec![self.state.address.name];
        session.names_changed = false;
        session
    }

    pub(super) fn address(&self) -> Address {
        self.state.address
    }

    pub(super) fn state(&self) -> MeterState {
        let QuietState {
            revision,
            last_n,
            next_m,
            next_ticket,
            settled_n,
            time_set_n,
            starts,
            renewed_s,
            ..
        } = self.state;
        MeterState {
            meter: self.record.setup.meter,
            revision,
            last_n,
            next_m,
            next_ticket,
            suites: vec![self.state.suite],
            earliest_suite: 0,
            past_suites: self.state.past_suites.list(),
            settled_n,
            addresses: vec![self.state.address],
            time_set_n,
            starts,
            renewing: false,
            renewed_s,
            update: None,
            waiting: VecDeque::new(),
            under_way: None,
        }
    }
}

/// A [`MeterState`] of a meter without commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct QuietState {
    revision: u64,
    last_n: u32,
    next_m: u32,
    next_ticket: u32,
    settled_n: Option<u32>,
    time_set_n: u32,
    address: Address,
    starts: u16,
    renewed_s: Option<NonZeroU32>,
    past_suites: SuiteList,
    suite: Suite,
}

impl QuietState {
    fn of(state: &MeterState) -> Option<QuietState> {
        let MeterState {
            meter: _,
            revision,
            last_n,
            next_m,
            next_ticket,
            suites,
            earliest_suite,
            past_suites,
            settled_n,
            addresses,
            time_set_n,
            starts,
            renewing,
            renewed_s,
            update,
            waiting,
            under_way,
        } = state;
        let ([suite], [address]) = (&suites[..], &addresses[..]) else { return None };
        if *earliest_suite != 0 || !waiting.is_empty() || under_way.is_some() || *renewing || update.is_some()
        {
            return None;
        }
        Some(QuietState {
            revision: *revision,
            last_n: *last_n,
            next_m: *next_m,
            next_ticket: *next_ticket,
            settled_n: *settled_n,
            time_set_n: *time_set_n,
            address: *address,
            starts: *starts,
            renewed_s: *renewed_s,
            past_suites: SuiteList::of(past_suites)?,
            suite: *suite,
        })
    }
}

/// Suites in their order: of each its code and 1, in three bits, which reach to code 6, the first one lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SuiteList(u32);

impl SuiteList {
    /// As many as there are.
    const MOST: usize = Suite::ALL.len();

    /// `None`: they are more.
    fn of(suites: &[Suite]) -> Option<SuiteList> {
        let coded = suites.iter().rev().fold(0, |coded, suite| coded << 3 | u32::from(suite.code() + 1));
        (suites.len() <= SuiteList::MOST).then_some(SuiteList(coded))
    }

    fn list(self) -> Vec<Suite> {
        let codes = (0..SuiteList::MOST).map(|place| (self.0 >> (3 * place) & 7) as u8);
        codes.filter_map(|code| Suite::from_code(code.checked_sub(1)?)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::{Identity, Provision, Setup};
    use rand::rngs::StdRng;
    use rand::{Rng, SeedableRng};
    use testkit::random;

    #[test]
    fn a_quiet_meter_takes_no_more_memory_than_was_reckoned_with() {
        assert!(size_of::<Quiet>() <= 208, "{} bytes", size_of::<Quiet>());
    }

    #[test]
    fn a_state_is_the_same_after_a_rest() {
        let mut rng = StdRng::seed_from_u64(random::seed());
        let collector = Identity::generate(&mut rng);
        let record = Provision::generate(Setup::usual(258), collector.public(), &mut rng).record();
        let suite = |rng: &mut StdRng| Suite::ALL[rng.random_range(0..Suite::ALL.len())];
        let (mut quiet, mut more) = (0, 0);
        for _ in 0..10_000 {
            let mut state = MeterState::new(&record);
            for suites in [&mut state.suites, &mut state.past_suites] {
                let count = rng.random_range(0..Suite::ALL.len());
                suites.extend((0..count).map(|_| suite(&mut rng)));
                suites.dedup();
            }
            if rng.random() {
                state.suites.truncate(1);
            }
            if rng.random_bool(0.2) {
                state.addresses.push(Address {
                    name: rng.random(),
                    radio: rng.random(),
                    collector: rng.random(),
                });
            }
            if rng.random_bool(0.8) {
                state.addresses.remove(0);
                state.addresses.push(Address {
                    name: rng.random(),
                    radio: rng.random(),
                    collector: rng.random(),
                });
            }
            state.revision = rng.random();
            (state.last_n, state.next_m, state.next_ticket) = (rng.random(), rng.random(), rng.random());
            (state.time_set_n, state.starts) = (rng.random(), rng.random());
            state.renewed_s = rng.random::<bool>().then(|| rng.random()).and_then(NonZeroU32::new);
            state.renewing = rng.random_bool(0.1);
            state.settled_n = rng.random::<bool>().then(|| rng.random());
            let simple = state.suites.len() == 1 && state.addresses.len() == 1 && !state.renewing;
            match Quiet::new(&record, &state) {
                Some(at_rest) => {
                    assert!(simple);
                    assert_eq!(at_rest.state(), state);
                    quiet += 1;
                }
                None => {
                    assert!(!simple, "{state:?}");
                    more += 1;
                }
            }
        }
        assert!(quiet > 1000 && more > 1000, "{quiet} {more}");
    }

    #[test]
    fn lists_of_suites_keep_their_order_and_their_length() {
        let mut list = Vec::new();
        let [none, aes128, aes256, ecies, ecdsa, ascon, rekeyed] = Suite::ALL;
        for suite in [ecdsa, none, aes256, ascon, rekeyed, ecies, aes128] {
            assert_eq!(SuiteList::of(&list).expect("few").list(), list);
            list.push(suite);
        }
        assert_eq!(SuiteList::of(&list).expect("all of them").list(), list);
        list.push(Suite::None);
        assert_eq!(SuiteList::of(&list), None);
    }
}
