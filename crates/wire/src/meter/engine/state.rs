//! The collector's state of one meter: numbers, commands, and what is known of the meter's suite
//! and address.
//!
//! docs/reference/protocol.md, "What the collector knows of suite and address".

use super::queue::{UnderWay, Waiting, read_under_way, read_waiting};
use super::update_state::Update;
use crate::meter::{Address, MessageKind, MeterId, MeterRecord, Suite};
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;
use std::num::NonZeroU32;
use std::ops::Range;

/// Addresses of a meter at most, while registers are under way or were withdrawn.
const ADDRESSES_MAX: usize = 8;
/// While the clock says so, time carries the numbers of commands: from 2026-01-01, before which no
/// collector ran, to 2068-01-19, so that a clock that is far ahead does not use them up.
const TIME_CARRIES_S: Range<u64> = 820_540_800..1 << 31;
/// A number that is further ahead of the time is not waited for: the clock was set back, or the
/// meter knew of higher ones.
const AHEAD_MS_MAX: u64 = 120_000;

/// The state that a collector has to keep of a meter beside its [`MeterRecord`]. There is no secret
/// in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeterState {
    /// The meter, as it was provisioned.
    pub meter: MeterId,
    /// Higher after each change but that of `last_n`.
    pub revision: u64,
    /// The number of the last report that is stored; 0 for none.
    pub last_n: u32,
    /// The number of the next command.
    pub(super) next_m: u32,
    pub(super) next_ticket: u32,
    /// The suite that an authentic message showed last; then those that the meter may have after an
    /// order.
    pub(super) suites: Vec<Suite>,
    /// Of states of before: the first of the suites that the meter might have.
    #[serde(default, skip_serializing)]
    pub(super) earliest_suite: usize,
    /// Suites of earlier authentic messages.
    #[serde(default)]
    pub(super) past_suites: Vec<Suite>,
    /// The number of the message that showed the first of the suites; `None` for none.
    pub(super) settled_n: Option<u32>,
    /// The address that an authentic answer showed last; then those that the meter may have after
    /// an order.
    #[serde(rename = "places")]
    pub(super) addresses: Vec<Address>,
    /// Reports above this were made after the time was set last.
    pub(super) time_set_n: u32,
    /// The meter's count of starts, by its last alert of a start.
    #[serde(default)]
    pub(super) starts: u16,
    /// A renewal of the key was begun, and is not over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) renewing: bool,
    /// When the meter showed a renewed key last, in seconds since 2000-01-01; `None`: never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) renewed_s: Option<NonZeroU32>,
    /// The image for the meter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) update: Option<Update>,
    #[serde(deserialize_with = "read_waiting")]
    pub(super) waiting: VecDeque<Waiting>,
    #[serde(default, deserialize_with = "read_under_way")]
    pub(super) under_way: Option<UnderWay>,
}

impl MeterState {
    /// Makes the state of a meter that was just provisioned.
    #[must_use]
    pub fn new(record: &MeterRecord) -> MeterState {
        MeterState {
            meter: record.setup.meter,
            revision: 0,
            last_n: 0,
            next_m: 1,
            next_ticket: 1,
            suites: vec![record.setup.suite],
            earliest_suite: 0,
            past_suites: Vec::new(),
            settled_n: None,
            addresses: vec![Address::provisioned(&record.setup)],
            time_set_n: 0,
            starts: 0,
            renewing: false,
            renewed_s: None,
            update: None,
            waiting: VecDeque::new(),
            under_way: None,
        }
    }

    /// Returns the suite that an authentic message showed last, and behind it those that the meter
    /// may have after an order that was sent.
    #[must_use]
    pub fn suites(&self) -> &[Suite] {
        &self.suites
    }

    /// Returns the address that an authentic answer showed last, and behind it those that the meter
    /// may have after an order that was sent.
    #[must_use]
    pub fn addresses(&self) -> &[Address] {
        &self.addresses
    }

    /// Returns the image for the meter, until the owner forgets it:
    /// [`super::Collector::forget_update`].
    #[must_use]
    pub fn update(&self) -> Option<&Update> {
        self.update.as_ref()
    }

    /// Numbers of commands below this may have been used.
    #[must_use]
    pub fn next_m(&self) -> u32 {
        self.next_m
    }

    /// When the meter showed a renewed key last, in seconds since 2000-01-01 00:00:00 UTC; `None`:
    /// its key was never renewed.
    #[must_use]
    pub fn renewed_s(&self) -> Option<u32> {
        self.renewed_s.map(NonZeroU32::get)
    }

    /// After it was read from a copy that may not be the last one: numbers of commands go on with
    /// this one at the lowest.
    pub fn number_commands_from(&mut self, m: u32) {
        if self.next_m < m {
            self.next_m = m;
            self.revision += 1;
        }
    }

    /// After it was read from a copy that may not be the last one: the meter may have been told
    /// these since.
    pub fn may_have(&mut self, suites: &[Suite], addresses: &[Address]) {
        for suite in suites {
            self.tell_suite(*suite);
        }
        for address in addresses {
            self.tell_address(*address);
        }
    }

    /// Brings a state of before up to date. Returns whether it is one that a collector keeps.
    pub(super) fn settle_in(&mut self) -> bool {
        let earliest = std::mem::take(&mut self.earliest_suite);
        if earliest >= self.suites.len() || !(1..=ADDRESSES_MAX).contains(&self.addresses.len()) {
            return false;
        }
        for suite in self.suites.drain(..earliest) {
            remember(&mut self.past_suites, suite);
        }
        true
    }

    /// Returns the suite that the meter was last shown to use.
    #[must_use]
    pub fn suite(&self) -> Suite {
        self.suites.first().copied().unwrap_or(Suite::None)
    }

    /// Says if suite and address are known, and no order may have changed them.
    pub(super) fn is_settled(&self) -> bool {
        self.suites.len() == 1 && self.addresses.len() == 1
    }

    /// The number that the next command gets; or when there is one. Numbers do not run ahead of the
    /// time, so that who goes back to an older state of everything is above all that were used: by
    /// the time.
    pub(super) fn take_m(&mut self, now_ms: u64) -> Result<u32, u64> {
        let carried = Some(now_ms / 1000).filter(|now_s| TIME_CARRIES_S.contains(now_s));
        let at_ms = u64::from(self.next_m) * 1000;
        if carried.is_some() && (1..=AHEAD_MS_MAX).contains(&at_ms.saturating_sub(now_ms)) {
            return Err(at_ms);
        }
        let m = self.next_m.max(carried.unwrap_or(0) as u32);
        self.next_m = m.saturating_add(1);
        Ok(m)
    }

    /// The meter is to be told of an address: it may be there from now on. Returns whether that is
    /// new.
    pub(super) fn tell_address(&mut self, address: Address) -> bool {
        let new = !self.addresses.contains(&address);
        if new {
            if self.addresses.len() == ADDRESSES_MAX {
                self.addresses.remove(1);
            }
            self.addresses.push(address);
            self.revision += 1;
        }
        new
    }

    /// The meter is to be told of a suite: it may have it from now on. Returns whether that is new.
    pub(super) fn tell_suite(&mut self, suite: Suite) -> bool {
        let new = !self.suites.contains(&suite);
        if new {
            self.suites.push(suite);
            self.revision += 1;
        }
        new
    }

    /// Takes back what an order brought: it was never on the air.
    pub(super) fn untell(&mut self, suite: Option<Suite>, address: Option<Address>) {
        if let Some(at) = self.suites.iter().skip(1).rposition(|known| Some(*known) == suite) {
            self.suites.remove(1 + at);
        }
        if let Some(at) = self.addresses.iter().skip(1).rposition(|known| Some(*known) == address) {
            self.addresses.remove(1 + at);
        }
    }

    /// Says if a packet's message is worth opening. `None`: only now and then, because it takes
    /// curves and nothing shows that the meter seals so.
    pub(super) fn expects(&self, kind: MessageKind, suite: Suite) -> Option<bool> {
        match suite {
            Suite::None if kind == MessageKind::Answer => Some(self.suite() == Suite::None),
            Suite::None => Some(self.had(suite)),
            Suite::Ecies | Suite::EciesEcdsa
                if kind == MessageKind::Report && !self.suites.contains(&suite) =>
            {
                if self.past_suites.contains(&suite) { Some(true) } else { None }
            }
            _ => Some(true),
        }
    }

    /// Says if a stored report may have come in this suite, in which it is authentic.
    pub(super) fn had(&self, suite: Suite) -> bool {
        suite.rank() > 0 || self.suite() == suite || self.past_suites.contains(&suite)
    }

    /// Says if a new report is taken in this suite, in which it is authentic.
    pub(super) fn takes(&self, suite: Suite, n: u32) -> bool {
        let known = self.suite();
        if self.settled_n.is_some_and(|settled_n| n < settled_n) {
            // The answer that showed it may have been the second one: the meter had the suite
            // before it.
            return self.past_suites.contains(&suite) || suite == known;
        }
        suite == known || suite.rank() >= known.rank().max(1)
    }

    /// A report that was taken is stored.
    pub(super) fn report_stored(&mut self, n: u32, suite: Suite) {
        self.last_n = n;
        if suite != self.suite() && self.settled_n.is_none_or(|settled_n| n > settled_n) {
            self.show_suite(suite, n);
        }
    }

    /// The message with this number showed how the meter seals.
    fn show_suite(&mut self, suite: Suite, n: u32) {
        let known = self.suite();
        self.suites.retain(|other| *other != suite && *other != known);
        self.suites.insert(0, suite);
        remember(&mut self.past_suites, known);
        self.settled_n = Some(n);
        self.revision += 1;
    }

    /// An authentic answer came: the meter has this suite (`None`: the answer does not say) and
    /// this address.
    pub(super) fn answered(&mut self, suite: Option<Suite>, address: Address, n: u32) {
        if let Some(suite) = suite.filter(|suite| *suite != self.suite()) {
            self.show_suite(suite, n);
        }
        self.addresses.retain(|other| *other != address);
        self.addresses.insert(0, address);
    }

    /// The meter has kept a command's number: it cannot carry out any order of before.
    pub(super) fn settle(&mut self) {
        self.suites.truncate(1);
        self.addresses.truncate(1);
    }

    /// An answer to one would be of no use any more.
    pub(super) fn drop_orders_about_images(&mut self) {
        self.under_way.take_if(|under_way| under_way.order.is_about_image());
        self.waiting.retain(|waiting| !waiting.order.is_about_image());
    }
}

fn remember(suites: &mut Vec<Suite>, suite: Suite) {
    if !suites.contains(&suite) {
        suites.push(suite);
    }
}
