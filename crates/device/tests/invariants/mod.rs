//! Invariants of a meter under losses of power, seen from outside: by its packets on the air and
//! the contents of its EEPROM. The firmware's statements on itself are not asked.
//!
//! - No number n serves for two messages, and none goes out before the memory has it reserved.
//! - What goes out is authentic, of the suite, name and address that the memory holds, and the
//!   oldest report first.
//! - A report that the memory held whole is accepted, once and in order (in a torn byte it may come
//!   and go, and so come late); or the count of lost measurements in later reports has it.
//! - Settings and m are those of the last command that was answered, or those of the one under way,
//!   as a whole; no command is carried out twice, and none of the past is.
//! - What is sealed with suite 6 is sealed with the key that the memory holds for certain, which
//!   the collector has as its present or its next one; no key comes back, and when something is on
//!   the air the one before is in the memory no more. A start ends a renewal.
//!
//! An end of a life (a power cut) may tear the one byte that is being written;
//! `device/meter/numbers.h` says what is assumed of it.

mod commanded;
pub mod memory;

use commanded::{commanded, values};
use memory::{BLOCK, BYTES, CELLS, EpochKey, Record, Settings, Values};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use wire::meter::{
    Address, Alert, Cause, Channel, Command, CommandResult, CompletedCommand, Content, Identity, MessageKind,
    MeterKeys, MeterRecord, Packet, Provision, Reassembly, ReceivedReport, RenewalPacket, Report, Status,
    Suite, UpdatePacket,
};

/// From a start of the meter to the next.
struct Life {
    /// Its numbers begin here.
    first_n: u32,
    /// Starts, with its own.
    starts: u32,
    /// True after a loss of power; false if it was told to start.
    powered_up: bool,
    /// Numbers of reports that the memory held whole at its start or since, and whether that is an
    /// alert.
    kept: BTreeMap<u32, bool>,
    /// Those that it still holds at the next start.
    left: BTreeSet<u32>,
    /// Numbers of its answers.
    answers: BTreeSet<u32>,
    /// Suites that its settings had.
    suites: BTreeSet<u8>,
    /// Calibrations that its settings had: voltage and current.
    calibrations: BTreeSet<(u32, u32)>,
    /// True if a command to set the time was under way.
    time_sent: bool,
    /// Reports that were accepted during it.
    accepted: usize,
    /// n of the newest of its own that was accepted (at first the one before all), and what that
    /// says is lost.
    newest: (u32, u8),
    /// The same when all was settled last.
    settled: (u32, u8),
    /// True if there may have been no room for a report.
    crowded: bool,
    /// The m of the renewal that it began last.
    renewal: Option<u32>,
    /// The m of the update that it began last, and the latest state that it replied with.
    update: Option<(u32, u16)>,
}

/// A meter's history.
pub struct Invariants {
    pub what: String,
    record: MeterRecord,
    collector: Identity,
    /// The keys that the collector ever had durable, the latest last.
    keys: Vec<MeterKeys>,
    /// Contents of the memory behind all else: the key of suite 6; empty where it has nothing.
    slots: Vec<u8>,
    /// The epoch of that key, when something was on the air last.
    epoch: u32,
    /// Replies of renewals, by m and index.
    pieces: BTreeMap<(u32, u8), Vec<u8>>,
    lives: Vec<Life>,
    reassembly: Reassembly,
    /// Messages by number.
    messages: BTreeMap<u32, (MessageKind, Suite, Vec<u8>)>,
    /// Reports that were opened, by message.
    opened: HashMap<Vec<u8>, Report>,
    accepted: BTreeSet<u32>,
    last_accepted: u32,
    /// All reports up to here are settled.
    settled_n: u32,
    /// Settings that the meter's memory holds for certain.
    settings: Settings,
    /// The command that is not answered, and the numbers that it had.
    pending: Option<Command>,
    issued: BTreeSet<u32>,
    /// Reports that the memory holds whole.
    held: BTreeSet<u32>,
    /// Reports that a start found whole and the power cut before it did not: in a torn byte they
    /// read as they will.
    doubtful: BTreeSet<u32>,
    /// The highest number of a command.
    highest_m: u32,
    /// Commands to start anew that were sent, and may not be done yet.
    reboots: u32,
    /// Number of accepted reports when all reports of the memory had been accepted.
    quiet_since: Option<u64>,
    /// Measurement in W, for each µV and µA that a step of the converter stands for; none where the
    /// load varies.
    pub power_per_step: Option<f64>,
    /// Counts of all events, to judge whether a trial was worth it.
    pub count: Count,
}

/// Counts of a trial.
#[derive(Clone, Copy, Debug, Default)]
pub struct Count {
    pub starts: u64,
    pub reports: u64,
    pub answers: u64,
    pub lost: u64,
    pub keys: u64,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.starts += other.starts;
        self.reports += other.reports;
        self.answers += other.answers;
        self.lost += other.lost;
        self.keys += other.keys;
    }
}

impl Invariants {
    /// Of a meter that was just provisioned and has not started. `what` names the trial, its seed
    /// included.
    pub fn new(what: String, provision: &Provision, collector: &Identity) -> Invariants {
        let record = provision.record();
        let settings = Settings { m: 0, result: 0, values: values(&record) };
        let mut invariants = Invariants {
            what,
            keys: vec![record.keys.clone()],
            record,
            collector: collector.clone(),
            slots: Vec::new(),
            epoch: 0,
            pieces: BTreeMap::new(),
            lives: Vec::new(),
            reassembly: Reassembly::default(),
            messages: BTreeMap::new(),
            opened: HashMap::new(),
            accepted: BTreeSet::new(),
            last_accepted: 0,
            settled_n: 0,
            settings,
            pending: None,
            issued: BTreeSet::new(),
            held: BTreeSet::new(),
            doubtful: BTreeSet::new(),
            highest_m: 0,
            reboots: 0,
            quiet_since: None,
            power_per_step: None,
            count: Count::default(),
        };
        invariants.begin(&provision.eeprom(), true);
        invariants
    }

    fn life(&mut self) -> &mut Life {
        self.lives.last_mut().expect("begun by new")
    }

    /// The power was cut, and is back: the memory was `before`, and is `image` now.
    pub fn cut(&mut self, before: &[u8; BYTES], image: &[u8; BYTES]) {
        let known = self.held.clone();
        self.observe(before);
        // Its last byte may have been under way, and to be what it was before.
        let new = &self.held - &known;
        // One that was answered was done but for the start itself.
        self.reboots = u32::from(self.pending == Some(Command::Reboot));
        self.begin(image, true);
        self.doubtful.extend(&new - &self.held);
    }

    fn begin(&mut self, image: &[u8; BYTES], powered_up: bool) {
        self.reassembly = Reassembly::default();
        self.quiet_since = None;
        let numbers = memory::numbers(image, false);
        let numbers = numbers.unwrap_or_else(|| panic!("{}: the memory has no numbers", self.what));
        let kept: BTreeMap<u32, bool> =
            memory::journal(image).iter().map(|record| (record.n, record.alert)).collect();
        self.doubtful.extend(kept.keys().filter(|n| !self.held.contains(n)));
        if let Some(before) = self.lives.last_mut() {
            before.left = kept.keys().copied().collect();
        }
        // A reboot is seen after its first records.
        let (first_n, starts) = match powered_up {
            true => (numbers.limit, numbers.starts + 1),
            false => (numbers.limit - BLOCK, numbers.starts),
        };
        self.count.starts += 1;
        self.lives.push(Life {
            first_n,
            starts,
            powered_up,
            kept,
            left: BTreeSet::new(),
            answers: BTreeSet::new(),
            suites: BTreeSet::new(),
            calibrations: BTreeSet::new(),
            time_sent: matches!(self.pending, Some(Command::SetTime { .. })),
            accepted: 0,
            newest: (first_n - 1, 0),
            settled: (first_n - 1, 0),
            crowded: false,
            renewal: None,
            update: None,
        });
        let found = memory::settings(image, false);
        let found = found.unwrap_or_else(|| panic!("{}: the memory has no settings", self.what));
        self.check_settings(found, "at a start");
        self.observe(image);
    }

    /// The memory holds this now.
    pub fn observe(&mut self, image: &[u8; BYTES]) {
        let records = memory::journal(image);
        let settings = memory::settings(image, false).map(|settings| settings.values);
        self.held = records.iter().map(|record| record.n).collect();
        let life = self.life();
        life.kept.extend(records.iter().map(|record| (record.n, record.alert)));
        if let Some(Values { suite, voltage_uv, current_ua, .. }) = settings {
            life.suites.insert(suite);
            life.calibrations.insert((voltage_uv, current_ua));
        }
        let largest = life.suites.iter().map(|&suite| memory::cells(suite)).max().unwrap_or(CELLS);
        let used: usize = records.iter().map(|record| record.cells.len() + largest - 1).sum();
        life.crowded |= used + 2 * largest > CELLS;
    }

    /// The collector has these keys of the meter durable.
    pub fn confirm_keys(&mut self, keys: &MeterKeys) {
        for keys in std::iter::once(keys.clone()).chain(keys.next_epoch()) {
            self.keys.retain(|known| known.expose_epoch_key() != keys.expose_epoch_key());
            self.keys.push(keys);
        }
    }

    /// Something is on the air: the key that the memory holds is the only one, and one of the
    /// collector's.
    fn check_key(&mut self) {
        let what = &self.what;
        let Some(EpochKey { epoch, key }) = memory::epoch_key(&self.slots, true) else {
            assert_eq!(self.epoch, 0, "{what}: on the air, and the key of epoch {} is gone", self.epoch);
            return;
        };
        assert!(epoch >= self.epoch, "{what}: the key of epoch {epoch} after that of {}", self.epoch);
        self.count.keys += u64::from(epoch - self.epoch);
        self.epoch = epoch;
        let known = self.keys.iter().any(|keys| (keys.epoch(), *keys.expose_epoch_key()) == (epoch, key));
        assert!(known, "{what}: the collector does not have the key of epoch {epoch}");
        let stays = |keys: &&MeterKeys| {
            keys.epoch() > 0
                && *keys.expose_epoch_key() != key
                && keys
                    .expose_epoch_key()
                    .chunks(8)
                    .any(|part| self.slots.windows(8).any(|held| held == part))
        };
        let stays = self.keys.iter().find(stays).map(MeterKeys::epoch);
        assert_eq!(stays, None, "{what}: in epoch {epoch} the memory has the key of another one");
    }

    /// The keys that the memory holds.
    fn own_keys(&self) -> &MeterKeys {
        let own = self.keys.iter().rev().find(|keys| match memory::epoch_key(&self.slots, true) {
            Some(own) => *keys.expose_epoch_key() == own.key,
            None => keys.epoch() == 0,
        });
        own.unwrap_or(&self.record.keys)
    }

    /// The collector has this command under way, with this number.
    pub fn commanded(&mut self, m: u32, command: Command) {
        if !self.issued.contains(&m) {
            assert!(m > self.highest_m, "{}: m {m} after {}", self.what, self.highest_m);
            self.highest_m = m;
            if self.pending != Some(command) {
                self.reboots += u32::from(command == Command::Reboot);
                self.issued.clear();
            }
            self.pending = Some(command);
            self.issued.insert(m);
        }
        self.life().time_sent |= matches!(command, Command::SetTime { .. });
    }

    /// The settings that the memory holds are those of the last command that was answered, or of
    /// the one under way.
    fn check_settings(&self, found: Settings, when: &str) {
        let (what, sure) = (&self.what, &self.settings);
        // What changes nothing need not be kept, and may be.
        let same = found.values == sure.values && (sure.m..=self.highest_m).contains(&found.m);
        let pending = self.pending.map(|command| commanded(sure.values, command));
        let next = pending == Some(found.values) && self.issued.contains(&found.m);
        assert!(same || next, "{what}, {when}: {found:?}, but {sure:?} and under way {:?}", self.pending);
    }

    /// A packet of the meter was on the air, while its memory held `image`, and behind that `slots`
    /// of the key of suite 6; none on a part without.
    pub fn sent(&mut self, packet: &[u8], image: &[u8; BYTES], slots: &[u8]) {
        self.slots.clear();
        self.slots.extend_from_slice(slots);
        let what = self.what.clone();
        let numbers =
            memory::numbers(image, true).unwrap_or_else(|| panic!("{what}: on the air without numbers"));
        let starts = self.life().starts;
        assert!(numbers.starts >= starts, "{what}: on the air before the numbers of start {starts} stand");
        if numbers.starts != starts {
            let next = starts + 1;
            let commanded = self.reboots > 0 && numbers.starts == next;
            assert!(commanded, "{what}: start {} without a cause, instead of {next}", numbers.starts);
            self.reboots -= 1;
            self.begin(image, false);
        }
        self.observe(image);
        let settings =
            memory::settings(image, true).unwrap_or_else(|| panic!("{what}: on the air without settings"));
        self.check_settings(settings, "on the air");
        self.settings = settings;
        self.check_key();
        let place = (settings.values.meter, settings.values.collector_address);
        if let Some(piece) = RenewalPacket::parse(packet) {
            assert_eq!((piece.meter, piece.address), place, "{what}: name and address");
            return self.piece(&piece, packet);
        }
        if let Some(reply) = UpdatePacket::parse(packet) {
            assert_eq!((reply.meter, reply.address), place, "{what}: name and address");
            return self.reply(&reply);
        }
        let Ok(packet) = Packet::parse(packet) else {
            panic!("{what}: a packet of no protocol: {packet:02x?}")
        };
        assert_eq!((packet.meter, packet.address), place, "{what}: name and address");
        let Some(message) = self.reassembly.take(&packet) else { return };
        let n = match packet.kind {
            MessageKind::Report => self.report(packet.suite, &message.bytes, image),
            MessageKind::Answer => {
                if packet.suite == Suite::Aes256GcmRekeyed {
                    let Values { meter: name, address: radio, collector_address: collector, .. } =
                        settings.values;
                    let opened = self.channel(self.own_keys()).open_answer(
                        packet.suite,
                        Address { name, radio, collector },
                        &message.bytes,
                    );
                    assert!(opened.is_ok(), "{what}: an answer with another key than that of the memory");
                }
                self.answer(packet.suite, packet.number_lsb, &message.bytes, settings.values.suite)
            }
            kind => panic!("{what}: the meter sends {kind:?}"),
        };
        assert_eq!(n as u8, packet.number_lsb, "{what}: the packet's number");
        let life = self.life();
        let known = life.kept.contains_key(&n) && packet.kind == MessageKind::Report;
        let first_n = life.first_n;
        assert!(
            known || (first_n..numbers.limit).contains(&n),
            "{what}: {:?} {n}, but {first_n} to {} are reserved",
            packet.kind,
            numbers.limit
        );
        let message = (packet.kind, packet.suite, message.bytes);
        let before = self.messages.entry(n).or_insert_with(|| message.clone());
        assert_eq!(*before, message, "{what}: n {n} for two messages");
    }

    fn channel<'a>(&'a self, keys: &'a MeterKeys) -> Channel<'a> {
        Channel { meter: self.record.setup.meter, keys, own: &self.collector, peer: &self.record.public }
    }

    /// A reply of a renewal is on the air.
    fn piece(&mut self, piece: &RenewalPacket<'_>, packet: &[u8]) {
        let (what, m) = (self.what.clone(), self.life().renewal);
        let m = m.unwrap_or_else(|| panic!("{what}: a piece of a renewal that this life has not begun"));
        let opened = self.channel(self.own_keys()).open_renewal_packet(piece, m);
        assert!(opened.is_ok(), "{what}: piece {} of renewal {m} is not sealed with its key", piece.index);
        let sent = self.pieces.entry((m, piece.index)).or_insert_with(|| packet[4..].to_vec());
        assert_eq!(sent, &packet[4..], "{what}: piece {} of renewal {m} with two contents", piece.index);
    }

    /// A reply to a piece of an image is on the air: what is wanted next does not go back.
    fn reply(&mut self, reply: &UpdatePacket<'_>) {
        let (what, update) = (self.what.clone(), self.life().update);
        let (m, state) =
            update.unwrap_or_else(|| panic!("{what}: a reply of an update that this life has not begun"));
        let opened = self.channel(self.own_keys()).open_update_reply(reply, m);
        assert!(opened.is_ok(), "{what}: a reply of update {m} is not sealed with its key");
        assert!(reply.number >= state, "{what}: update {m} wants {} after {state}", reply.number);
        self.life().update = Some((m, reply.number));
    }

    /// A report is on the air, whole. Returns its n.
    fn report(&mut self, suite: Suite, message: &[u8], image: &[u8; BYTES]) -> u32 {
        let report = self.open(suite, message);
        let (what, n) = (self.what.clone(), report.n);
        let oldest = memory::journal(image).into_iter().next();
        if let Some(Record { n: kept, message: bytes, .. }) = oldest {
            assert!(n <= kept, "{what}: {n} is sent, while the memory holds {kept}");
            assert!(n != kept || bytes == message, "{what}: {n} is sent otherwise than it is kept");
        }
        let power_per_step = self.power_per_step;
        let life = self.life();
        if n < life.first_n {
            return n;
        }
        assert!(life.suites.contains(&suite.code()), "{what}: {n} with {suite}, settings {:?}", life.suites);
        assert!(!report.time_set || life.time_sent, "{what}: {n} has a time that nobody has set: {report:?}");
        if let (Content::Measurement(measurement), Some(power)) = (report.content, power_per_step)
            && life.calibrations.len() == 1
        {
            let calibrated =
                life.calibrations.iter().map(|&(voltage, current)| f64::from(voltage) * f64::from(current));
            let expected = power * calibrated.sum::<f64>();
            let off = (f64::from(measurement.power_w) - expected).abs();
            assert!(off < 2.0 + 0.03 * expected, "{what}: {n} says {measurement:?}, not {expected:.0} W");
        }
        if let Content::Alert(Alert { cause, starts, .. }) = report.content {
            let expected = if life.powered_up { Cause::PowerOn } else { Cause::Commanded };
            assert_eq!((cause, starts), (expected, life.starts as u16), "{what}: {n}");
        }
        n
    }

    /// Opens a report on the air.
    fn open(&mut self, suite: Suite, message: &[u8]) -> Report {
        if let Some(report) = self.opened.get(message) {
            return *report;
        }
        let opened = self.channel(self.own_keys()).open(MessageKind::Report, suite, message);
        let opened = opened
            .unwrap_or_else(|_| panic!("{}: a report that is not authentic: {message:02x?}", self.what));
        let report = Report::from_bytes(&opened.plaintext);
        self.opened.insert(message.to_vec(), report);
        report
    }

    /// An answer is on the air. Returns its n.
    fn answer(&mut self, suite: Suite, low: u8, message: &[u8], expected: u8) -> u32 {
        // That to a configure is sealed all the same.
        let sealed_all_the_same = (suite, expected) == (Suite::Aes128Gcm, Suite::None.code());
        assert!(suite.code() == expected || sealed_all_the_same, "{}: an answer with {suite}", self.what);
        let life = self.life();
        // Without a seal it does not say its n.
        let n = match message.first_chunk() {
            Some(n) if suite != Suite::None => u32::from_be_bytes(*n),
            _ => {
                let least = life.answers.last().map_or(life.first_n, |last| last + 1);
                least + u32::from(low.wrapping_sub(least as u8))
            }
        };
        life.answers.insert(n);
        n
    }

    /// The collector has accepted a report.
    pub fn accepted(&mut self, accepted: &ReceivedReport) {
        let Report { n, lost, .. } = accepted.report;
        let what = &self.what;
        // The pieces may have come from both sides of a cut.
        let message = (MessageKind::Report, accepted.suite, accepted.sealed.clone());
        let sent = self.messages.entry(n).or_insert_with(|| message.clone());
        assert_eq!(*sent, message, "{what}: {n} is accepted otherwise than it was sent");
        let late = self.doubtful.contains(&n) && !self.accepted.contains(&n);
        assert!(n > self.last_accepted || late, "{what}: {n} after {}", self.last_accepted);
        self.last_accepted = n.max(self.last_accepted);
        self.accepted.insert(n);
        self.count.reports += 1;
        self.life().accepted += 1;
        let Some(life) = self.lives.iter_mut().rev().find(|life| life.first_n <= n) else { return };
        let (newest, before) = life.newest;
        if n > newest {
            assert!(lost >= before, "{}: {n} says {lost} lost, one before {before}", self.what);
            life.newest = (n, lost);
        }
    }

    /// The collector has an answer, while the meter's memory holds `image`.
    pub fn answered(&mut self, answered: &CompletedCommand, image: &[u8; BYTES]) {
        let CompletedCommand { command, answer, .. } = answered;
        let what = self.what.clone();
        assert!(self.issued.contains(&answer.m), "{what}: an answer to m {}, of {:?}", answer.m, self.issued);
        let found =
            memory::settings(image, true).unwrap_or_else(|| panic!("{what}: an answer without settings"));
        self.check_settings(found, "at an answer");
        if !matches!(command, Command::ReadStatus { .. }) {
            let result = (found.m, found.result);
            assert_eq!(
                result,
                (answer.m, answer.outcome.code()),
                "{what}: {command:?} was answered, and is not kept"
            );
        }
        if answer.outcome == CommandResult::Done {
            let done = commanded(found.values, *command);
            assert_eq!(found.values, done, "{what}: {command:?} was answered, and is not done");
        }
        if let (Command::ReadStatus { page: 0 }, Some(Status::Settings { suite, interval_s, starts, .. })) =
            (command, answer.status(0))
        {
            let told = (suite.map(Suite::code), interval_s, starts);
            let Values { suite, interval_s, .. } = found.values;
            let held = (Some(suite), interval_s, self.life().starts as u16);
            assert_eq!(told, held, "{what}: suite, interval and starts of the status");
        }
        if (*command, answer.outcome) == (Command::RenewKey, CommandResult::Done) {
            self.life().renewal = Some(answer.m);
        }
        if matches!(command, Command::UpdateFirmware { .. }) && answer.outcome == CommandResult::Done {
            self.life().update = Some((answer.m, 0));
        }
        self.settings = found;
        self.pending = None;
        self.issued.clear();
        self.count.answers += 1;
    }

    /// Returns true if all reports of the memory have been accepted, and two more since. The second
    /// shows a report that the first may have pushed out.
    pub fn is_settled(&mut self, image: &[u8; BYTES]) -> bool {
        if memory::journal(image).iter().any(|record| !self.accepted.contains(&record.n)) {
            self.quiet_since = None;
            return false;
        }
        self.count.reports >= self.quiet_since.get_or_insert(self.count.reports).saturating_add(2)
    }

    /// Reports of a life that are neither accepted nor waiting, and are no answers. Alerts may be
    /// pushed out where there is no room.
    fn missing(&self, life: &Life) -> Vec<u32> {
        let made = life.settled.0 + 1..life.newest.0;
        let numbers: BTreeSet<u32> = life.kept.keys().copied().chain(made).collect();
        let gone = |n: &u32| {
            let alert = life.kept.get(n).copied().unwrap_or(*n == life.first_n);
            let found = *n <= self.settled_n
                || self.accepted.contains(n)
                || life.answers.contains(n)
                || life.left.contains(n);
            !(found || self.doubtful.contains(n) || alert && life.crowded)
        };
        numbers.into_iter().filter(gone).collect()
    }

    /// Draws up what was accepted, lost and told to be lost, life by life, once all is settled.
    pub fn settle(&mut self, image: &[u8; BYTES]) {
        self.observe(image);
        let last = self.lives.len() - 1;
        for (index, life) in self.lives.iter().enumerate() {
            let missing = self.missing(life);
            let told = usize::from(life.newest.1 - life.settled.1);
            let what = format!("{}, start {}, numbers from {}", self.what, life.starts, life.first_n);
            // What a life's last report pushes out, and those that were pushed out themselves, is
            // in none that is accepted.
            let largest = life.suites.iter().map(|&suite| memory::cells(suite)).max().unwrap_or(CELLS);
            let newest = life.kept.last_key_value().map_or(0, |(&n, _)| n).max(life.newest.0);
            let pushing = (newest - life.newest.0) as usize + 2;
            let unsaid = if index < last && life.crowded { pushing * (largest / 5 + 2) } else { 0 };
            let most = told + unsaid;
            assert!(missing.len() <= most, "{what}: kept, not accepted, {told} told as lost: {missing:?}");
            // A report may have been accepted, and dropped because no acknowledgement came; a torn
            // byte, or a start that was seen late, brings one back.
            let back = usize::from(index < last) + usize::from(!life.powered_up);
            let least = told.saturating_sub(life.accepted + back);
            assert!(missing.len() >= least, "{what}: {told} told as lost, but gone are {missing:?}");
            self.count.lost += told as u64;
        }
        // What was before this counts no more.
        self.lives.drain(..last);
        self.quiet_since = None;
        let life = self.life();
        life.settled = life.newest;
        life.accepted = 0;
        let newest = life.newest.0;
        self.settled_n = newest;
        self.messages = self.messages.split_off(&newest);
        self.opened.retain(|_, report| report.n >= newest);
        self.accepted = self.accepted.split_off(&newest);
    }
}
