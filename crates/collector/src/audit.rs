//! The audit of stored signed messages, years later: says of each if its meter signed it, in order,
//! and if the readings are those of the messages.
//!
//! It takes no secret to verify signatures and order. With the collector's private key each message
//! is opened, and compared with the reading or alert that was stored of it: docs/reference/protocol.md, "With
//! the collector".

mod stored;

use crate::network::GlobalMeterId;
use crate::store::{METERS_EPOCH_S, Reader, Register, StoreError, kept_from_s};
use std::collections::{BTreeMap, HashMap};
use stored::{Key, Keys, Message, Of};
use wire::meter::{Channel, Content, Identity, MessageKind, MeterKeys, Report, Suite, signature_holds};

/// Failures that are told one by one.
const TOLD_MAX: usize = 20;
/// Messages that are verified at a time.
const CHUNK: usize = 2000;

#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Audit {
    /// Signed messages that were gone over.
    pub messages: u64,
    pub meters: usize,
    /// Those whose signature holds.
    pub signatures: u64,
    /// Those whose reading is stored.
    pub readings: u64,
    /// Those whose alert is stored.
    pub alerts: u64,
    /// Those whose reading went because it was older than readings are kept.
    pub gone: u64,
    /// Those that were opened, and say what is stored.
    pub opened: u64,
    /// Those that were not opened: no private key was given, or it is not the one that they were
    /// sealed for.
    pub closed: u64,
    /// Meters whose total was compared with what their opened messages come to.
    pub totals: usize,
    /// Stored telegrams of other makers' meters that a MAC authenticated when they came.
    pub telegrams: u64,
    /// The same that nothing authenticated.
    pub telegrams_unauthenticated: u64,
    /// The number of failures; 0 for none.
    pub failures: u64,
    /// The first of them.
    pub first: Vec<Failure>,
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Failure {
    /// The meter of the message.
    #[serde(flatten)]
    pub meter: GlobalMeterId,
    pub epoch: u32,
    /// Its number; of [`Wrong::Unsigned`] the number up to which was counted.
    pub n: u32,
    pub wrong: Wrong,
}

/// The failure of a message.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum Wrong {
    /// There is no such meter, or it had no keys of that epoch.
    #[error("no public key of that meter and epoch is stored")]
    NoKey,
    /// The meter did not sign these bytes.
    #[error("the signature does not hold")]
    Signature,
    /// A meter's numbers only rise.
    #[error("its number is not above that of the message before, {before}")]
    Order {
        /// The number of the message before.
        before: u32,
    },
    /// Nothing was stored of it, or it was taken away.
    #[error("there is no reading or alert of it")]
    Missing,
    /// It is not what the collector can open.
    #[error("it cannot be opened")]
    NotOpened,
    /// The message and what is stored of it say different things.
    #[error("{what} is stored as {stored}, and the message says {message}")]
    Differs {
        what: String,
        /// In the database.
        stored: String,
        message: String,
    },
    /// Readings without a message may add to a total, and nothing takes from it.
    #[error("its total is stored as {stored} in 0.1 Wh, and its messages come to {messages}")]
    Total {
        /// In the database.
        stored: i64,
        messages: i64,
    },
    /// There are readings that are stored as signed, without a message.
    #[error("{readings} readings are stored as signed, for which there are {messages} messages")]
    Unsigned {
        readings: u64,
        /// Messages of readings.
        messages: u64,
    },
}

/// Goes over all signed messages of a database. A service may go on writing meanwhile. collectors:
/// the private keys, one of each network, to compare what the messages say. progress: hears of how
/// many of how many messages are done.
///
/// # Errors
/// [`StoreError`] where the database cannot be read; what an audit finds is no error.
pub fn audit<'a>(
    reader: &Reader,
    collectors: impl IntoIterator<Item = &'a Identity>,
    mut progress: impl FnMut(u64, u64),
) -> Result<Audit, StoreError> {
    let collectors: Vec<&Identity> = collectors.into_iter().collect();
    let keys = reader.ask(stored::keys)?;
    let kept_from_s = reader.ask(kept_from_s)?;
    let total = reader.ask(stored::count)?;
    let mut audit = Audit::default();
    let mut last_n: HashMap<Key, u32> = HashMap::new();
    let mut of_readings: HashMap<Key, u64> = HashMap::new();
    let mut registers: HashMap<Key, (Register, i64)> = HashMap::new();
    let mut after = 0;
    loop {
        let messages = reader.ask(|session| stored::messages(session, after, CHUNK))?;
        let Some(last) = messages.last() else { break };
        after = last.id;
        let verdicts = verify(&messages, &keys, &collectors);
        for (message, verdict) in messages.iter().zip(verdicts) {
            let key = (message.meter, message.epoch);
            audit.messages += 1;
            let before = last_n.insert(key, message.n);
            if let Some(before) = before.filter(|before| *before >= message.n) {
                audit.fail(message, Wrong::Order { before });
            }
            match &message.of {
                Of::Reading(_) => {
                    audit.readings += 1;
                    *of_readings.entry(key).or_default() += 1;
                }
                Of::Alert(_) => audit.alerts += 1,
                Of::Nothing if kept_from_s.is_some_and(|kept_from_s| message.at_s < kept_from_s) => {
                    audit.gone += 1;
                }
                Of::Nothing => audit.fail(message, Wrong::Missing),
            }
            match verdict {
                Ok(opened) => {
                    audit.signatures += 1;
                    audit.opened += u64::from(opened.is_some());
                    audit.closed += u64::from(opened.is_none());
                    // One that is out of order is a failure by itself.
                    if let Some(report) =
                        opened.filter(|report| before.is_none_or(|before| before < report.n))
                    {
                        let (register, counted_dwh) = registers.entry(key).or_default();
                        *counted_dwh += register.take(&report).unwrap_or_default().counted_dwh;
                    }
                }
                Err(wrong) => audit.fail(message, wrong),
            }
        }
        progress(audit.messages, total.max(audit.messages));
    }
    let signed = reader.ask(|session| stored::readings_as_signed(session, &last_n, after))?;
    for ((meter, epoch), readings) in signed {
        let messages = of_readings.get(&(meter, epoch)).copied().unwrap_or(0);
        if readings > messages {
            let n = last_n.get(&(meter, epoch)).copied().unwrap_or(0);
            audit.note(Failure { meter, epoch, n, wrong: Wrong::Unsigned { readings, messages } });
        }
    }
    audit.compare_totals(&registers, &last_n, &reader.ask(stored::totals)?);
    let mut meters: Vec<GlobalMeterId> = last_n.keys().map(|(meter, _)| *meter).collect();
    meters.sort_unstable();
    meters.dedup();
    audit.meters = meters.len();
    (audit.telegrams, audit.telegrams_unauthenticated) = reader.ask(stored::telegrams)?;
    Ok(audit)
}

impl Audit {
    fn fail(&mut self, message: &Message, wrong: Wrong) {
        self.note(Failure { meter: message.meter, epoch: message.epoch, n: message.n, wrong });
    }

    fn compare_totals(
        &mut self,
        registers: &HashMap<Key, (Register, i64)>,
        last_n: &HashMap<Key, u32>,
        totals: &HashMap<GlobalMeterId, i64>,
    ) {
        let mut messages: BTreeMap<GlobalMeterId, (u32, i64)> = BTreeMap::new();
        for ((meter, epoch), (_, counted_dwh)) in registers {
            let (last_epoch, sum_dwh) = messages.entry(*meter).or_default();
            *last_epoch = (*last_epoch).max(*epoch);
            *sum_dwh += counted_dwh;
        }
        for (meter, (epoch, messages)) in messages {
            let Some(stored) = totals.get(&meter).copied() else { continue };
            self.totals += 1;
            if stored < messages {
                let n = last_n.get(&(meter, epoch)).copied().unwrap_or(0);
                self.note(Failure { meter, epoch, n, wrong: Wrong::Total { stored, messages } });
            }
        }
    }

    fn note(&mut self, failure: Failure) {
        self.failures += 1;
        if self.first.len() < TOLD_MAX {
            self.first.push(failure);
        }
    }
}

/// Verifies each message, and returns the report of those that were opened; on all processors.
fn verify(messages: &[Message], keys: &Keys, collectors: &[&Identity]) -> Vec<Result<Option<Report>, Wrong>> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let share = messages.len().div_ceil(threads).max(1);
    std::thread::scope(|scope| {
        let verify_share = |share: &[Message]| {
            share.iter().map(|message| verify_one(message, keys, collectors)).collect::<Vec<_>>()
        };
        let workers: Vec<_> = messages
            .chunks(share)
            .map(|share| (share.len(), scope.spawn(move || verify_share(share))))
            .collect();
        let verdicts = workers.into_iter().flat_map(|(length, worker)| {
            // A worker that came to nothing verified nothing.
            worker.join().unwrap_or_else(|_| vec![Err(Wrong::Signature); length])
        });
        verdicts.collect()
    })
}

fn verify_one(message: &Message, keys: &Keys, collectors: &[&Identity]) -> Result<Option<Report>, Wrong> {
    let key = keys.get(&(message.meter, message.epoch)).ok_or(Wrong::NoKey)?;
    if !signature_holds(message.meter.meter, &key.meter, &key.collector, &message.sealed) {
        return Err(Wrong::Signature);
    }
    let own = collectors.iter().find(|own| *own.public() == key.collector);
    let Some(own) = own else { return Ok(None) };
    // The keys that both share have no part in this suite.
    let shared = MeterKeys::new([0; 16], [0; 32]);
    let channel = Channel { meter: message.meter.meter, keys: &shared, own, peer: &key.meter };
    let opened = channel
        .open(MessageKind::Report, Suite::EciesEcdsa, &message.sealed)
        .map_err(|_| Wrong::NotOpened)?;
    compare(message, &opened.plaintext).map(Some)
}

/// Checks that a message agrees with its stored row. Returns its report.
fn compare(message: &Message, plaintext: &[u8; 16]) -> Result<Report, Wrong> {
    let number = |what: &str, stored: i64, said: i64| same(what, stored.to_string(), said.to_string());
    let report = Report::from_bytes(plaintext);
    number("its number", i64::from(message.n), i64::from(report.n))?;
    let at_s = match report.time_s().filter(|_| report.time_set) {
        Some(time_s) => METERS_EPOCH_S + i64::from(time_s),
        None => message.heard_ms.div_euclid(1000),
    };
    number("its time", message.at_s, at_s)?;
    match (&message.of, report.content) {
        (Of::Nothing, _) => Ok(()),
        (Of::Reading(reading), Content::Measurement(measurement)) => {
            number("its energy in 0.1 Wh", reading.energy_dwh, i64::from(measurement.energy_dwh))?;
            number("its power in W", reading.power_w, i64::from(measurement.power_w))?;
            number("what else it says", reading.flags, stored::flags(&report))
        }
        (Of::Alert(stored), Content::Alert(_) | Content::Other(..)) => {
            let text = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
            same("the alert", text(stored), text(plaintext))
        }
        (Of::Reading(_), _) => same("it", "a reading".to_owned(), "an alert".to_owned()),
        (Of::Alert(_), _) => same("it", "an alert".to_owned(), "a reading".to_owned()),
    }?;
    Ok(report)
}

fn same(what: &str, stored: String, message: String) -> Result<(), Wrong> {
    if stored == message { Ok(()) } else { Err(Wrong::Differs { what: what.to_owned(), stored, message }) }
}
