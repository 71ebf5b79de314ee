//! A meter between its packets. Of a million meters few have something under way at a time: the
//! others are kept in little memory, and are sessions again with their next packet or command.
//!
//! The rest need not survive a restart either: pieces of messages, and the last reports, which the
//! owner has, and compares.

use super::rejection::Counters;
use super::session::Session;
use super::state::MeterState;
use crate::meter::{Address, MeterRecord, Suite};
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// A meter without commands, with one suite and one address. Its keys are wiped when it is dropped.
///
/// Its fields lie in no struct of their own, whose room to align it would come on top.
#[derive(Debug)]
pub(super) struct CompactMeter {
    pub(super) record: MeterRecord,
    // As the state's.
    revision: u64,
    last_n: u32,
    next_m: u32,
    next_ticket: u32,
    /// The state's number; 0 without one.
    settled_n: u32,
    is_settled: bool,
    time_set_n: u32,
    address: Address,
    starts: u16,
    past_suites: SuiteList,
    suite: Suite,
    /// `None` of most.
    rare: Option<Box<Rare>>,
}

/// The state that few meters have.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rare {
    counters: Option<Box<Counters>>,
    /// As the session's.
    unexpected: u8,
    /// As the state's.
    renewed_s: Option<NonZeroU32>,
}

impl Rare {
    fn boxed(self) -> Option<Box<Rare>> {
        (self != Rare::default()).then(|| Box::new(self))
    }
}

impl CompactMeter {
    /// `None`: there is more to keep of it.
    pub(super) fn new(record: &MeterRecord, state: &MeterState) -> Option<CompactMeter> {
        let MeterState {
            meter: _,
            revision,
            last_n,
            next_m,
            next_ticket,
            ref suites,
            earliest_suite,
            ref past_suites,
            settled_n,
            ref addresses,
            time_set_n,
            starts,
            renewing,
            renewed_s,
            ref update,
            ref waiting,
            ref under_way,
        } = *state;
        let ([suite], [address]) = (&suites[..], &addresses[..]) else { return None };
        let is_simple = earliest_suite == 0 && waiting.is_empty() && under_way.is_none() && !renewing;
        if !is_simple || update.is_some() {
            return None;
        }
        Some(CompactMeter {
            record: record.clone(),
            revision,
            last_n,
            next_m,
            next_ticket,
            settled_n: settled_n.unwrap_or(0),
            is_settled: settled_n.is_some(),
            time_set_n,
            address: *address,
            starts,
            past_suites: SuiteList::of(past_suites)?,
            suite: *suite,
            rare: Rare { renewed_s, ..Rare::default() }.boxed(),
        })
    }

    /// Of a session that may rest.
    pub(super) fn of(session: &mut Session) -> Option<CompactMeter> {
        let compact = CompactMeter::new(&session.record, &session.state)?;
        let (counters, unexpected) = (session.counters.take(), session.unexpected);
        let rare = Rare { counters, unexpected, renewed_s: session.state.renewed_s };
        Some(CompactMeter { rare: rare.boxed(), ..compact })
    }

    /// The keys here are wiped when this is dropped, which is not so when they are moved away.
    pub(super) fn session(&mut self) -> Session {
        let mut session = Session::new(self.record.clone(), self.state());
        let rare = self.rare.take().map_or_else(Rare::default, |rare| *rare);
        (session.counters, session.unexpected) = (rare.counters, rare.unexpected);
        // It is found by its name already.
        session.named = vec![self.address.name];
        session.names_changed = false;
        session
    }

    pub(super) fn address(&self) -> Address {
        self.address
    }

    pub(super) fn counters(&self) -> Option<&Counters> {
        self.rare.as_ref()?.counters.as_deref()
    }

    pub(super) fn state(&self) -> MeterState {
        MeterState {
            meter: self.record.setup.meter,
            revision: self.revision,
            last_n: self.last_n,
            next_m: self.next_m,
            next_ticket: self.next_ticket,
            suites: vec![self.suite],
            earliest_suite: 0,
            past_suites: self.past_suites.list(),
            settled_n: self.is_settled.then_some(self.settled_n),
            addresses: vec![self.address],
            time_set_n: self.time_set_n,
            starts: self.starts,
            renewing: false,
            renewed_s: self.rare.as_ref().and_then(|rare| rare.renewed_s),
            update: None,
            waiting: VecDeque::new(),
            under_way: None,
        }
    }
}

/// Suites in their order: of each its code and 1, in three bits, which reach to code 6, the first
/// one lowest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SuiteList(u32);

impl SuiteList {
    /// As many as there are.
    const LEN_MAX: usize = Suite::ALL.len();

    /// `None`: they are more.
    fn of(suites: &[Suite]) -> Option<SuiteList> {
        let coded = suites.iter().rev().fold(0, |coded, suite| coded << 3 | u32::from(suite.code() + 1));
        (suites.len() <= SuiteList::LEN_MAX).then_some(SuiteList(coded))
    }

    fn list(self) -> Vec<Suite> {
        let codes = (0..SuiteList::LEN_MAX).map(|place| (self.0 >> (3 * place) & 7) as u8);
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
    fn compact_meter_fits_192_bytes() {
        assert!(size_of::<CompactMeter>() <= 192, "{} bytes", size_of::<CompactMeter>());
    }

    #[test]
    fn state_survives_compaction() {
        let mut rng = StdRng::seed_from_u64(random::seed());
        let collector = Identity::generate(&mut rng);
        let record = Provision::generate(Setup::usual(258), collector.public(), &mut rng).record();
        let suite = |rng: &mut StdRng| Suite::ALL[rng.random_range(0..Suite::ALL.len())];
        let (mut compact, mut more) = (0, 0);
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
            match CompactMeter::new(&record, &state) {
                Some(at_rest) => {
                    assert!(simple);
                    assert_eq!(at_rest.state(), state);
                    compact += 1;
                }
                None => {
                    assert!(!simple, "{state:?}");
                    more += 1;
                }
            }
        }
        assert!(compact > 1000 && more > 1000, "{compact} {more}");
    }

    #[test]
    fn suite_lists_keep_order_and_length() {
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
