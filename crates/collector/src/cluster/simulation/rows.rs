//! The contents of the database's tables: partitions, reports, meters' states and commands.

use super::invariants::Invariants;
use super::postgres::{Connection, StoredMeter};
use crate::event::{self, CommandState};
use crate::fence::LeaseNumber;
use crate::network::NetworkId;
use crate::partition::{Partition, Slices};
use crate::store::{CommandRecord, NewReport, Write, Written};
use std::collections::BTreeMap;
use wire::meter::{Content, MeterId, MeterState};

/// A change that a transaction makes.
#[derive(Clone, Debug)]
pub(super) enum Effect {
    Take(LeaseNumber, Connection),
    Connection(Partition, Connection),
    Report {
        meter: MeterId,
        n: u32,
        report: [u8; 16],
        heard_ms: i64,
    },
    State(Box<MeterState>),
    Command(Box<CommandRecord>),
    /// An alert of the collector's own.
    Alert(String),
}

/// A row of `partitions`.
#[derive(Clone, Copy)]
struct Taken {
    fence: u64,
    connection: Connection,
}

pub(super) struct Rows {
    slices: Slices,
    /// As they were provisioned.
    provisioned: Vec<MeterState>,
    partitions: BTreeMap<Partition, Taken>,
    reports: BTreeMap<(MeterId, u32), [u8; 16]>,
    states: BTreeMap<MeterId, MeterState>,
    heard_ms: BTreeMap<MeterId, i64>,
    commands: BTreeMap<i64, CommandRecord>,
    /// Of commands and alerts; a sequence does not go back.
    last_id: i64,
}

fn is_open(command: &CommandRecord) -> bool {
    matches!(command.state, CommandState::Waiting | CommandState::Sent)
}

impl Rows {
    pub(super) fn new(slices: Slices, provisioned: Vec<MeterState>) -> Rows {
        let states = provisioned.iter().map(|state| (state.meter, state.clone())).collect();
        Rows {
            slices,
            provisioned,
            partitions: BTreeMap::new(),
            reports: BTreeMap::new(),
            states,
            heard_ms: BTreeMap::new(),
            commands: BTreeMap::new(),
            last_id: 0,
        }
    }

    /// Those that are not answered.
    pub(super) fn open_commands(&self) -> impl Iterator<Item = &CommandRecord> {
        self.commands.values().filter(|command| is_open(command))
    }

    pub(super) fn fence(&self, partition: Partition) -> Option<u64> {
        self.partitions.get(&partition).map(|taken| taken.fence)
    }

    pub(super) fn is_under(&self, lease: LeaseNumber) -> bool {
        self.fence(lease.partition) == Some(lease.number)
    }

    /// The connection that took a partition under a lower number.
    pub(super) fn holder_below(&self, lease: LeaseNumber) -> Option<Connection> {
        let taken = self.partitions.get(&lease.partition)?;
        (taken.fence < lease.number).then_some(taken.connection)
    }

    /// The last number that is stored of a meter; 0 for none.
    fn last_n(&self, meter: MeterId) -> u32 {
        self.reports.range((meter, 0)..=(meter, u32::MAX)).next_back().map_or(0, |((_, n), _)| *n)
    }

    /// Of a partition's meters.
    pub(super) fn last_numbers(&self, partition: Partition) -> Vec<(MeterId, u32)> {
        let meters = self.states.keys().filter(|meter| self.slices.of(**meter) == partition.slice);
        meters.map(|meter| (*meter, self.last_n(*meter))).collect()
    }

    pub(super) fn of_partition(&self, partition: Partition) -> (Vec<StoredMeter>, Vec<CommandRecord>) {
        let is_of = |meter: MeterId| self.slices.of(meter) == partition.slice;
        let stored = |(meter, state): (&MeterId, &MeterState)| {
            let mut state = state.clone();
            state.last_n = self.last_n(*meter);
            StoredMeter { state, heard_ms: self.heard_ms.get(meter).copied() }
        };
        let commands = self.open_commands().filter(|command| is_of(command.meter.meter)).cloned();
        (self.states.iter().filter(|(meter, _)| is_of(**meter)).map(stored).collect(), commands.collect())
    }

    /// Returns the effects of writes. known: the last numbers of meters that the worker has in
    /// memory.
    pub(super) fn write(
        &mut self,
        writes: &[Write],
        known: &BTreeMap<MeterId, u32>,
    ) -> (Vec<Effect>, Vec<Written>) {
        let (mut effects, mut written) = (Vec::new(), Vec::new());
        let mut known = known.clone();
        let mut commands: BTreeMap<i64, CommandRecord> = BTreeMap::new();
        for write in writes {
            written.push(match write {
                Write::Report(new) => self.write_report(new, &mut known, &mut effects),
                Write::State { state, .. } => {
                    effects.push(Effect::State(state.clone()));
                    Written::Done
                }
                Write::Command(new) => {
                    self.last_id += 1;
                    let record = CommandRecord {
                        id: self.last_id,
                        meter: new.meter,
                        ticket: new.ticket,
                        order: new.order.into(),
                        by: new.by.clone(),
                        created_ms: new.created_ms,
                        state: CommandState::Waiting,
                        attempts: 0,
                        sent_ms: None,
                        ended_ms: None,
                        answer: None,
                    };
                    commands.insert(record.id, record.clone());
                    effects.push(Effect::Command(Box::new(record.clone())));
                    Written::Command(Box::new(record))
                }
                Write::CommandProgress(progress) => {
                    let there = commands.get(&progress.id).or(self.commands.get(&progress.id)).cloned();
                    match there {
                        None => Written::Unknown,
                        Some(mut record) => {
                            (record.state, record.attempts) = (progress.state, progress.attempts);
                            record.answer = progress.answer;
                            commands.insert(record.id, record.clone());
                            effects.push(Effect::Command(Box::new(record.clone())));
                            Written::Command(Box::new(record))
                        }
                    }
                }
                Write::CommandNotGiven { meter, ticket, .. } => {
                    let is_it = |record: &&CommandRecord| {
                        (record.meter, record.ticket) == (*meter, *ticket) && is_open(record)
                    };
                    let mut all = commands.values().chain(self.commands.values());
                    match all.find(is_it).cloned() {
                        None => Written::Unknown,
                        Some(mut record) => {
                            record.state = CommandState::Withdrawn;
                            commands.insert(record.id, record.clone());
                            effects.push(Effect::Command(Box::new(record.clone())));
                            Written::Command(Box::new(record))
                        }
                    }
                }
                Write::Alert(alert) => {
                    self.last_id += 1;
                    effects.push(Effect::Alert(format!("{}: {}", alert.cause, alert.detail)));
                    let (cause, detail) = (alert.cause.clone(), alert.detail.clone());
                    let alert = event::Alert { id: self.last_id, meter: alert.meter, at_s: 0, cause, detail };
                    Written::Alert { alert, lost: 0 }
                }
                _ => Written::Done,
            });
        }
        (effects, written)
    }

    /// `store::meaning::batch::MeterCache::report`: a number that is above the last one that is
    /// known is new, and not looked for.
    fn write_report(
        &mut self,
        new: &NewReport,
        known: &mut BTreeMap<MeterId, u32>,
        effects: &mut Vec<Effect>,
    ) -> Written {
        let (meter, n, report) = (new.meter.meter, new.report.n, new.report.to_bytes());
        let last = known.entry(meter).or_insert(0);
        if n <= *last {
            let of_batch = effects.iter().find_map(|effect| match effect {
                Effect::Report { meter: of, n: is, report, .. } if (*of, *is) == (meter, n) => Some(report),
                _ => None,
            });
            match of_batch.or(self.reports.get(&(meter, n))) {
                Some(there) if *there == report => return Written::Repeated,
                Some(_) => return Written::NumberReused,
                None => {}
            }
        }
        *last = n.max(*last);
        effects.push(Effect::Report { meter, n, report, heard_ms: new.heard_ms });
        let (meter, heard_ms, at_s) = (new.meter, new.heard_ms, new.heard_ms / 1000);
        match new.report.content {
            Content::Measurement(measured) => {
                let (power_w, energy_dwh) = (measured.power_w, measured.energy_dwh);
                let (suite, rssi_dbm) = (new.suite, new.rssi_dbm);
                let reading = event::Reading {
                    meter,
                    n,
                    at_s,
                    heard_ms,
                    power_w,
                    energy_dwh,
                    total_dwh: None,
                    suite,
                    rssi_dbm,
                };
                Written::Reading { reading, lost: 0 }
            }
            _ => {
                self.last_id += 1;
                let (id, meter, cause, detail) = (self.last_id, Some(meter), String::new(), String::new());
                Written::Alert { alert: event::Alert { id, meter, at_s, cause, detail }, lost: 0 }
            }
        }
    }

    pub(super) fn apply(&mut self, effect: &Effect, checks: &mut Invariants) {
        match effect {
            Effect::Report { meter, n, report, .. } => {
                if self.reports.contains_key(&(*meter, *n)) {
                    checks.fail(format!("report {n} of meter {meter} is stored twice"));
                }
                checks.stored(*meter, *n, report);
            }
            Effect::State(state) => {
                let before = self.states.get(&state.meter).map_or(0, MeterState::next_m);
                if state.next_m() < before {
                    checks.fail(format!(
                        "numbers of commands of meter {} go back from {before} to {}",
                        state.meter,
                        state.next_m()
                    ));
                }
            }
            Effect::Alert(alert) => checks.alert(alert),
            _ => {}
        }
        self.put(effect);
    }

    fn put(&mut self, effect: &Effect) {
        match effect {
            Effect::Take(lease, connection) => {
                let taken = Taken { fence: lease.number, connection: *connection };
                self.partitions.insert(lease.partition, taken);
            }
            Effect::Connection(partition, connection) => {
                if let Some(taken) = self.partitions.get_mut(partition) {
                    taken.connection = *connection;
                }
            }
            Effect::Report { meter, n, report, heard_ms } => {
                self.reports.insert((*meter, *n), *report);
                let heard = self.heard_ms.entry(*meter).or_insert(*heard_ms);
                *heard = (*heard_ms).max(*heard);
            }
            Effect::State(state) => drop(self.states.insert(state.meter, (**state).clone())),
            Effect::Command(command) => drop(self.commands.insert(command.id, (**command).clone())),
            Effect::Alert(_) => {}
        }
    }

    /// The standby, which has these transactions, takes the server's place.
    pub(super) fn back_to<'l>(&mut self, log: impl Iterator<Item = &'l [Effect]>) {
        let last_id = self.last_id;
        *self = Rows::new(self.slices, std::mem::take(&mut self.provisioned));
        self.last_id = last_id;
        log.flatten().for_each(|effect| self.put(effect));
    }

    pub(super) fn partition_of(&self, meter: MeterId) -> Partition {
        self.slices.partition_of(NetworkId::DEFAULT.meter(meter))
    }
}
