//! Requests to a link: commands, meters, status.

use super::command::{CommandRequest, LinkError};
use super::handle::{Answer, Inputs, Request, Snapshot};
use super::meter_state::MeterLinkState;
use super::pending::PendingCommit;
use super::state::Link;
use crate::clock;
use crate::event::{CommandState, Event};
use crate::network::NetworkId;
use crate::store::{CommandProgress, NewCommand, Provisioned};
use std::collections::BTreeMap;
use std::sync::atomic::Ordering;
use wire::meter::{CollectorError, Command, MeterId, MeterRecord, MeterState, Policy, QueuedCommand, Suite};

impl CommandRequest {
    /// Returns the command for the meter; `None`: the time of its sending.
    fn command(self) -> Option<Command> {
        Some(match self {
            CommandRequest::Configure { interval_s, suite } => Command::Configure { interval_s, suite },
            CommandRequest::Calibrate { voltage_uv, current_ua, phase } => {
                Command::Calibrate { voltage_uv, current_ua, phase }
            }
            CommandRequest::Register { meter, address, collector_address } => {
                Command::Register { meter, address, collector_address }
            }
            CommandRequest::SetTime => return None,
            CommandRequest::ReadStatus { page } => Command::ReadStatus { page },
            CommandRequest::Reboot => Command::Reboot,
            CommandRequest::RenewKey => Command::RenewKey,
        })
    }
}

impl LinkError {
    /// Translates an error of a network's collector.
    fn of(network: NetworkId, error: CollectorError) -> LinkError {
        match error {
            CollectorError::UnknownMeter(meter) => LinkError::UnknownMeter(network.meter(meter)),
            CollectorError::NameTaken(name) => LinkError::NameTaken(name),
            CollectorError::OtherState(meter) | CollectorError::DamagedState(meter) => {
                LinkError::State(network.meter(meter))
            }
            CollectorError::QueueFull(count) => LinkError::QueueFull(count),
            CollectorError::OutOfRange => LinkError::OutOfRange,
            CollectorError::SealRequired => LinkError::SealRequired,
            // None is asked for that has no image.
            CollectorError::ImageNeeded => LinkError::OutOfRange,
            CollectorError::KeysNotRenewed => LinkError::KeysNotRenewed,
            CollectorError::NoCommand(ticket) => LinkError::NoCommand(ticket.into()),
            CollectorError::NotHandedOut { meter, .. } => LinkError::State(network.meter(meter)),
            CollectorError::NumbersUsedUp(meter) => LinkError::NumbersUsedUp(network.meter(meter)),
        }
    }
}

impl Link {
    /// Returns whether that is the end. An answer that nobody waits for any more is dropped.
    pub(super) fn answer(&mut self, ask: Request, inputs: &Inputs) -> bool {
        match ask {
            Request::Command { meter, request, by, answer } => self.command(meter, request, by, answer),
            Request::Withdraw { meter, id, answer } => self.withdraw(meter, id, answer),
            Request::Update { meter, image, by, answer } => self.update(meter, image, by, answer),
            Request::ForgetUpdate { meter, answer } => self.withdraw_update(meter, Some(answer)),
            Request::SetMeter { epoch, record, answer } => self.set_meter(epoch, record, answer),
            Request::Revoke { meter, answer } => self.revoke(meter, answer),
            Request::Meters { answer } => {
                let now = clock::now();
                let status = |meter: MeterId, known: &MeterLinkState| {
                    known.status(self.global(meter), &self.collector, now)
                };
                let status = self.meters.iter().filter_map(|(meter, known)| status(*meter, known));
                drop(answer.send(status.collect()));
            }
            Request::Meter { meter, answer } => {
                let known = self.meters.get(&meter);
                let now = clock::now();
                let status = known.and_then(|known| known.status(self.global(meter), &self.collector, now));
                drop(answer.send(status));
            }
            Request::Snapshot { answer } => drop(answer.send(self.snapshot(inputs))),
            Request::Stop => return true,
        }
        false
    }

    fn command(
        &mut self,
        meter: MeterId,
        request: CommandRequest,
        by: String,
        answer: Answer<Result<i64, LinkError>>,
    ) {
        match self.queue(meter, request) {
            Ok((ticket, order)) => {
                let (meter_of, created_ms) = (self.global(meter), self.now_ms);
                let command = NewCommand { meter: meter_of, ticket, order, by, created_ms };
                self.store(PendingCommit::Command { command, answer: Some(answer) });
                self.store_state(meter);
            }
            Err(error) => drop(answer.send(Err(error))),
        }
    }

    fn queue(&mut self, meter: MeterId, request: CommandRequest) -> Result<(u32, QueuedCommand), LinkError> {
        if self.store_queue.is_paused() {
            return Err(LinkError::Store("the last transaction failed".into()));
        }
        if let CommandRequest::Register { meter: name, .. } = request
            && self.slices.of(name) != self.slices.of(meter)
        {
            let slice = self.slices.of(name);
            return Err(LinkError::OtherSlice { meter: self.global(meter), name, slice });
        }
        let queued = match request.command() {
            Some(command) => {
                self.collector.command(meter, command).map(|ticket| (ticket, QueuedCommand::Command(command)))
            }
            None if !self.meters.contains_key(&meter) => {
                return Err(LinkError::UnknownMeter(self.global(meter)));
            }
            None if self.clock.is_behind() => return Err(LinkError::ClockBehind),
            None => self.collector.set_time(meter).map(|ticket| (ticket, QueuedCommand::TimeNow)),
        };
        queued.map_err(|error| LinkError::of(self.network(), error))
    }

    fn withdraw(&mut self, meter: MeterId, id: i64, answer: Answer<Result<(), LinkError>>) {
        let Some(known) = self.meters.get_mut(&meter) else {
            drop(answer.send(Err(LinkError::UnknownMeter(self.global(meter)))));
            return;
        };
        let ticket =
            known.activity().commands.iter().find(|(_, named)| named.id == id).map(|(ticket, _)| *ticket);
        let withdrawn = ticket.is_some_and(|ticket| self.collector.withdraw(meter, ticket).is_ok());
        if !withdrawn {
            drop(answer.send(Err(LinkError::NoCommand(id))));
            return;
        }
        self.withdrawn(meter, ticket, Some(answer));
        self.store_state(meter);
    }

    /// Says of a meter's command, or of all of them, that they were withdrawn.
    pub(super) fn withdrawn(
        &mut self,
        meter: MeterId,
        ticket: Option<u32>,
        mut answer: Option<Answer<Result<(), LinkError>>>,
    ) {
        let Some(known) = self.meters.get_mut(&meter) else { return };
        let of_it = |given: &u32| ticket.is_none_or(|ticket| ticket == *given);
        if known.activity().commands.is_empty() {
            return;
        }
        let commands = &mut known.active().commands;
        let (gone, stay) = std::mem::take(commands).into_iter().partition(|(given, _)| of_it(given));
        *commands = stay;
        for named in BTreeMap::into_values(gone) {
            let progress = CommandProgress {
                id: named.id,
                state: CommandState::Withdrawn,
                attempts: named.attempts,
                at_ms: self.now_ms,
                answer: None,
            };
            self.store(PendingCommit::Progress { progress, answer: answer.take() });
        }
    }

    fn set_meter(&mut self, epoch: u32, record: Box<MeterRecord>, answer: Answer<Result<(), LinkError>>) {
        let meter = record.setup.meter;
        let known = self.meters.get(&meter).map(|known| known.epoch);
        if known == Some(epoch) && self.collector.record(meter) == Some(&*record) {
            drop(answer.send(Ok(())));
            return;
        }
        if let Some(known) =
            known.or(self.retired_epochs.get(&meter).copied()).filter(|known| *known >= epoch)
        {
            let meter = self.global(meter);
            drop(answer.send(Err(LinkError::EpochOver { meter, known, given: epoch })));
            return;
        }
        // Nothing of the old keys is taken from here on.
        self.forget(meter);
        let provisioned = Provisioned {
            meter: self.global(meter),
            epoch,
            label: None,
            public: record.public,
            collector_public: *self.collector.identity().public(),
            suite: record.setup.suite,
            interval_s: record.setup.interval_s,
            state: MeterState::new(&record),
            at_ms: self.now_ms,
        };
        if self.store_queue.is_paused() {
            drop(answer.send(Err(LinkError::Store("the last transaction failed".into()))));
            return;
        }
        self.store(PendingCommit::Provisioned { provisioned: Box::new(provisioned), record, answer });
    }

    /// A meter's keys are durable.
    pub(super) fn add(&mut self, provisioned: Provisioned, record: MeterRecord) -> Result<(), LinkError> {
        let Provisioned { epoch, interval_s, state, suite, .. } = provisioned;
        let meter = record.setup.meter;
        self.collector.add(record, state).map_err(|error| LinkError::of(self.network(), error))?;
        if self.auto_require_sealed && suite != Suite::None && !self.policy.require_sealed {
            let network = self.network().named();
            tracing::info!(meter, network, "it seals: from now on nothing is taken that is not sealed");
            self.policy.require_sealed = true;
            self.collector.set_policy(Policy { require_sealed: true, ..*self.collector.policy() });
        }
        self.retired_epochs.remove(&meter);
        self.meters.insert(meter, MeterLinkState::new(epoch, interval_s));
        self.publish(Event::Meter { meter: self.global(meter) });
        Ok(())
    }

    fn revoke(&mut self, meter: MeterId, answer: Answer<Result<(), LinkError>>) {
        if !self.meters.contains_key(&meter) {
            drop(answer.send(Err(LinkError::UnknownMeter(self.global(meter)))));
            return;
        }
        self.forget(meter);
        self.store(PendingCommit::Revoked { meter, at_ms: self.now_ms, answer: Some(answer) });
    }

    /// The keys of a meter that is there are over.
    fn forget(&mut self, meter: MeterId) {
        self.withdrawn(meter, None, None);
        self.withdraw_update(meter, None);
        if let Some(known) = self.meters.remove(&meter) {
            self.retired_epochs.insert(meter, known.epoch);
        }
        self.collector.remove(meter);
    }

    fn snapshot(&self, inputs: &Inputs) -> Snapshot {
        let now = clock::now();
        let counts = self.store_queue.counts();
        Snapshot {
            dropped_packets: inputs.dropped_packets.load(Ordering::Relaxed),
            refused: *self.collector.counters(),
            meters: self.meters.len(),
            online: self.meters.values().filter(|known| known.is_online(now)).count(),
            waiting_commands: self.collector.busy().map(|meter| self.collector.commands(meter).len()).sum(),
            unfinished_bytes: self.collector.held_bytes(),
            queued_packets: inputs.packets.len(),
            opening: self.opening,
            commits: counts.commits.load(Ordering::Relaxed),
            commits_s: counts.commits_us.load(Ordering::Relaxed) as f64 / 1e6,
            failed_commits: counts.failed.load(Ordering::Relaxed),
            clock_behind: self.clock.is_behind(),
            ..self.counted.clone()
        }
    }
}
