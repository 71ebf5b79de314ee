//! A batch of writes, in one transaction: all of it, or nothing.

mod report;
mod staging;

use super::interval::Intervals;
use super::latest::{self, Latest};
use super::read::{self, json};
use super::write::{NewOutbox, Provisioned, Write, Written};
use super::{MOST_OUTBOX, MOST_OUTBOX_OF_A_METER};
use crate::event::{self, CommandState};
use crate::network::GlobalMeterId;
use report::Statements;
pub(crate) use report::flags_of;
use rusqlite::{Connection, OptionalExtension, params};
use staging::Staging;
use std::collections::HashMap;
use std::collections::hash_map::Entry;

/// What the writer knows without asking: there is no other writer.
#[derive(Debug)]
pub(super) struct Kept {
    latest: HashMap<GlobalMeterId, Latest>,
    /// What this batch changed, as it was before; `None`: was not there.
    before: HashMap<GlobalMeterId, Option<Latest>>,
    counts: Counts,
    intervals: Intervals,
}

/// What a batch that fails must not change.
#[derive(Clone, Copy, Debug)]
struct Counts {
    staging: Staging,
    /// Messages that wait to be forwarded.
    outbox: i64,
}

impl Kept {
    pub(super) fn load(connection: &Connection, intervals: Intervals) -> rusqlite::Result<Kept> {
        let latest = latest::load(connection)?.into_iter().collect();
        let outbox = connection.query_row("SELECT count(*) FROM outbox", [], |row| row.get(0))?;
        let counts = Counts { staging: Staging::load(connection)?, outbox };
        Ok(Kept { latest, before: HashMap::new(), counts, intervals })
    }

    /// All meters, and when they were heard first, in ms.
    pub(super) fn meters(&self) -> impl Iterator<Item = (GlobalMeterId, Option<i64>)> + '_ {
        self.latest.iter().map(|(meter, latest)| (*meter, latest.first_heard_ms))
    }

    /// Returns when any meter was heard last, in ms.
    pub(super) fn heard_ms(&self) -> Option<i64> {
        self.latest.values().filter_map(|latest| latest.last_heard_ms).max()
    }

    pub(super) fn commit(
        &mut self,
        connection: &Connection,
        batch: Vec<Write>,
    ) -> rusqlite::Result<Vec<Written>> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let counts = self.counts;
        connection.execute_batch("BEGIN IMMEDIATE")?;
        let done = self.write(connection, &batch).and_then(|written| {
            connection.execute_batch("COMMIT")?;
            Ok(written)
        });
        if done.is_ok() {
            self.before.clear();
            return done;
        }
        self.counts = counts;
        for (meter, before) in self.before.drain() {
            match before {
                Some(before) => self.latest.insert(meter, before),
                None => self.latest.remove(&meter),
            };
        }
        // SQLite may have rolled back by itself: https://sqlite.org/lang_transaction.html, section 3.
        if !connection.is_autocommit() {
            connection.execute_batch("ROLLBACK")?;
        }
        done
    }

    fn write(&mut self, connection: &Connection, batch: &[Write]) -> rusqlite::Result<Vec<Written>> {
        let mut written = Vec::with_capacity(batch.len());
        let mut statements = Statements::new(connection, self.counts.staging.table())?;
        for write in batch {
            written.push(match write {
                Write::Report(report) => self.report(&mut statements, report)?,
                other => self.other(connection, other)?,
            });
        }
        statements.changes.write(connection)?;
        let mut changed: Vec<GlobalMeterId> = self.before.keys().copied().collect();
        changed.sort_unstable();
        let mut save = latest::saving(connection)?;
        for meter in changed {
            if let Some(latest) = self.latest.get(&meter) {
                latest::save(&mut save, meter, latest)?;
            }
        }
        self.counts.staging.sort_in(connection)?;
        Ok(written)
    }

    /// A meter's row, to be changed.
    fn changed(&mut self, meter: GlobalMeterId) -> Option<&mut Latest> {
        let latest = self.latest.get_mut(&meter)?;
        self.before.entry(meter).or_insert(Some(*latest));
        Some(latest)
    }

    fn other(&mut self, connection: &Connection, write: &Write) -> rusqlite::Result<Written> {
        let execute = |sql: &str, values: &[&dyn rusqlite::ToSql]| {
            let rows = connection.prepare_cached(sql)?.execute(values)?;
            Ok(if rows == 0 { Written::Unknown } else { Written::Done })
        };
        match write {
            // Told apart before.
            Write::Report(_) => Ok(Written::Unknown),
            Write::State { network, epoch, state } => execute(
                "UPDATE meters SET state = ?3 WHERE meter = ?1 AND epoch = ?2",
                &[&network.meter(state.meter), epoch, &json(&**state)?],
            ),
            Write::Provisioned(provisioned) => self.provision(connection, provisioned),
            Write::Label { meter, label } => {
                execute("UPDATE meters SET label = ?2 WHERE meter = ?1", &[meter, label])
            }
            Write::IntervalOf { meter, interval_s } => {
                execute("UPDATE meters SET interval_s = ?2 WHERE meter = ?1", &[meter, interval_s])
            }
            Write::Counts(counts) => Ok(match self.changed(counts.meter) {
                None => Written::Unknown,
                Some(latest) => {
                    latest.repeats += i64::from(counts.repeats);
                    latest.refused += i64::from(counts.refused);
                    Written::Done
                }
            }),
            Write::Revoked { meter, at_ms } => {
                let Some(latest) = self.changed(*meter) else { return Ok(Written::Unknown) };
                latest.revoked = true;
                execute(
                    "UPDATE meter_keys SET until_ms = ?2 WHERE meter = ?1 AND until_ms IS NULL",
                    &[meter, at_ms],
                )?;
                execute(
                    "UPDATE meters SET revoked_ms = coalesce(revoked_ms, ?2) WHERE meter = ?1",
                    &[meter, at_ms],
                )
            }
            Write::Alert(alert) => {
                let at_s = alert.at_ms.div_euclid(1000);
                let mut insert = connection.prepare_cached(
                    "INSERT INTO alerts (meter, at_s, heard_ms, cause, detail) VALUES (?1, ?2, ?3, ?4, ?5)",
                )?;
                let id = insert.insert(params![alert.meter, at_s, alert.at_ms, alert.cause, alert.detail])?;
                let (cause, detail) = (alert.cause.clone(), alert.detail.clone());
                Ok(Written::Alert {
                    alert: event::Alert { id, meter: alert.meter, at_s, cause, detail },
                    lost: 0,
                })
            }
            Write::Acknowledge { alert, by, at_ms } => {
                execute(
                    "UPDATE alerts SET acknowledged_ms = ?2, acknowledged_by = ?3 WHERE id = ?1 AND acknowledged_ms IS NULL",
                    &[alert, at_ms, by],
                )?;
                Ok(read::alert(connection, *alert)?.map_or(Written::Unknown, Written::Acknowledged))
            }
            Write::Command(command) => {
                let mut insert = connection.prepare_cached(
                    "INSERT INTO commands (meter, ticket, \"order\", \"by\", created_ms, state, attempts) \
                     VALUES (?1, ?2, ?3, ?4, ?5, 'waiting', 0)",
                )?;
                let order = json(&command.order)?;
                let id = insert.insert(params![
                    command.meter,
                    command.ticket,
                    order,
                    command.by,
                    command.created_ms
                ])?;
                told(connection, id)
            }
            Write::CommandProgress(progress) => {
                let over = matches!(
                    progress.state,
                    CommandState::Done | CommandState::Refused | CommandState::Withdrawn
                );
                let sent_ms = (progress.state == CommandState::Sent).then_some(progress.at_ms);
                let answer = progress.answer.as_ref().map(json).transpose()?;
                let done = execute(
                    "UPDATE commands SET state = ?2, attempts = max(attempts, ?3), sent_ms = coalesce(sent_ms, ?4), \
                     ended_ms = ?5, answer = coalesce(?6, answer) WHERE id = ?1 AND ended_ms IS NULL",
                    &[
                        &progress.id,
                        &read::name_of_state(progress.state),
                        &progress.attempts,
                        &sent_ms,
                        &over.then_some(progress.at_ms),
                        &answer,
                    ],
                )?;
                if done == Written::Unknown { Ok(done) } else { told(connection, progress.id) }
            }
            Write::Token(token) => {
                let mut insert = connection.prepare_cached(
                    "INSERT INTO tokens (name, role, hash, created_ms) VALUES (?1, ?2, ?3, ?4)",
                )?;
                let role = read::name_of_role(token.role);
                insert.insert(params![token.name, role, token.hash, token.created_ms]).map(Written::Token)
            }
            Write::TokenRevoked { token, at_ms } => execute(
                "UPDATE tokens SET revoked_ms = coalesce(revoked_ms, ?2) WHERE id = ?1",
                &[token, at_ms],
            ),
            Write::TokenUsed { token, at_ms } => execute(
                "UPDATE tokens SET last_used_ms = max(coalesce(last_used_ms, ?2), ?2) WHERE id = ?1",
                &[token, at_ms],
            ),
            Write::Action(action) => execute(
                "INSERT INTO actions (at_ms, who, what) VALUES (?1, ?2, ?3)",
                &[&action.at_ms, &action.who, &action.what],
            ),
            Write::OutboxPut(message) => self.put(connection, message),
            Write::OutboxRemove { id } => {
                let done = execute("DELETE FROM outbox WHERE id = ?1", &[id])?;
                self.counts.outbox -= i64::from(done == Written::Done);
                Ok(done)
            }
        }
    }

    fn provision(&mut self, connection: &Connection, new: &Provisioned) -> rusqlite::Result<Written> {
        let Provisioned { meter, epoch, suite, interval_s, at_ms, .. } = *new;
        let (public, collector) = (new.public.to_bytes(), new.collector_public.to_bytes());
        let label = new.label.as_deref();
        match self.latest.entry(meter) {
            Entry::Vacant(vacant) => {
                vacant.insert(Latest::new(epoch, suite));
                self.before.insert(meter, None);
                let mut insert = connection.prepare_cached(
                    "INSERT INTO meters (meter, epoch, label, state, interval_s, added_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
                )?;
                let state = json(&new.state)?;
                insert.execute(params![meter, epoch, label.unwrap_or_default(), state, interval_s, at_ms])?;
            }
            Entry::Occupied(mut occupied) => {
                let latest = occupied.get_mut();
                let mut known = connection
                    .prepare_cached("SELECT public_key FROM meter_keys WHERE meter = ?1 AND epoch = ?2")?;
                let known: Option<[u8; 64]> =
                    known.query_row(params![meter, epoch], |row| row.get(0)).optional()?;
                let over = epoch < latest.epoch || epoch == latest.epoch && latest.revoked;
                if over || known.is_some_and(|known| known != public) {
                    return Ok(Written::Unknown);
                }
                if epoch == latest.epoch {
                    let mut update = connection
                        .prepare_cached("UPDATE meters SET label = coalesce(?2, label) WHERE meter = ?1")?;
                    update.execute(params![meter, label])?;
                    return Ok(Written::Done);
                }
                self.before.entry(meter).or_insert(Some(*latest));
                latest.rotate(epoch, suite);
                let mut update = connection.prepare_cached(
                    "UPDATE meters SET epoch = ?2, label = coalesce(?3, label), state = ?4, interval_s = ?5, revoked_ms = NULL \
                     WHERE meter = ?1",
                )?;
                update.execute(params![meter, epoch, label, json(&new.state)?, interval_s])?;
                let mut update = connection.prepare_cached(
                    "UPDATE meter_keys SET until_ms = ?2 WHERE meter = ?1 AND until_ms IS NULL",
                )?;
                update.execute(params![meter, at_ms])?;
            }
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO meter_keys (meter, epoch, public_key, collector_public_key, from_ms) VALUES (?1, ?2, ?3, ?4, ?5)",
        )?;
        insert.execute(params![meter, epoch, public, collector, at_ms])?;
        Ok(Written::Done)
    }

    fn put(&mut self, connection: &Connection, message: &NewOutbox) -> rusqlite::Result<Written> {
        let NewOutbox { address, name, kind, suite, number_lsb, message, heard_ms } = message;
        let (kind, suite) = (kind.code(), suite.code());
        let mut same = connection.prepare_cached(
            "SELECT id FROM outbox WHERE name = ?1 AND kind = ?2 AND suite = ?3 AND low = ?4 AND message = ?5",
        )?;
        let same: Option<i64> =
            same.query_row(params![name, kind, suite, number_lsb, message], |row| row.get(0)).optional()?;
        if same.is_some() {
            return Ok(Written::Outbox(same));
        }
        let mut count = connection.prepare_cached("SELECT count(*) FROM outbox WHERE name = ?1")?;
        let of_a_meter: i64 = count.query_row([name], |row| row.get(0))?;
        if of_a_meter >= MOST_OUTBOX_OF_A_METER as i64 || self.counts.outbox >= MOST_OUTBOX as i64 {
            return Ok(Written::Outbox(None));
        }
        let mut insert = connection.prepare_cached(
            "INSERT INTO outbox (address, name, kind, suite, low, message, heard_ms) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?;
        let id = insert.insert(params![address, name, kind, suite, number_lsb, message, heard_ms])?;
        self.counts.outbox += 1;
        Ok(Written::Outbox(Some(id)))
    }
}

fn told(connection: &Connection, command: i64) -> rusqlite::Result<Written> {
    let record = read::command(connection, command)?;
    Ok(record.map_or(Written::Unknown, |record| Written::Command(Box::new(record))))
}
