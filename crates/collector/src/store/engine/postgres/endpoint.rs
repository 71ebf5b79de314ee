//! A server's database that is moved from, or to.

use super::schema::{self, Found, Looked};
use super::weeks::Weeks;
use super::writer::commit;
use super::writers::{self, Generation};
use crate::store::meaning::marker::Marker;
use crate::store::meaning::tables::{Columns, READINGS, Table, is_key, key_of};
use crate::store::sql::postgres::Connection;
use crate::store::sql::postgres::Server;
use crate::store::sql::postgres::error::STANDBY;
use crate::store::sql::{Session, SqlError, Value, values};
use crate::store::{DatabaseUrl, StoreError};
use std::sync::Arc;

pub(in crate::store) struct MigrationEndpoint {
    place: DatabaseUrl,
    connection: Connection,
    weeks: Weeks,
    /// A transaction has begun that keeps all others from writing.
    is_frozen: bool,
}

impl MigrationEndpoint {
    /// One that services may write, and what is said of it.
    pub(in crate::store) fn source(
        server: &Arc<Server>,
    ) -> Result<(MigrationEndpoint, Option<Marker>), StoreError> {
        let (mut side, looked) = MigrationEndpoint::connect(server)?;
        let mark = match looked {
            Looked::Marked(mark) => Some(mark),
            Looked::Found(_) => {
                schema::check_readable(&side.connection, &side.place)?;
                None
            }
        };
        side.load()?;
        Ok((side, mark))
    }

    /// One that nobody else writes, and what is said of it.
    pub(in crate::store) fn target(
        server: &Arc<Server>,
        make: bool,
    ) -> Result<(MigrationEndpoint, Option<Marker>), StoreError> {
        let (mut side, _) = MigrationEndpoint::connect(server)?;
        writers::try_alone(&side.connection, &side.place)?;
        let mark = match schema::check_marker(&side.connection, &side.place)? {
            Looked::Marked(mark) => Some(mark),
            Looked::Found(Found::Nothing) if !make => return Err(StoreError::Empty { place: side.place }),
            Looked::Found(found) => {
                let made = side.within(|connection| schema::migrate(connection, found));
                made.map_err(|error| StoreError::asked(&side.place, error))?;
                None
            }
        };
        side.load()?;
        Ok((side, mark))
    }

    fn connect(server: &Arc<Server>) -> Result<(MigrationEndpoint, Looked), StoreError> {
        let place = DatabaseUrl::Server(Arc::clone(server));
        let connection = Connection::connect(server).map_err(|error| error.of(&place))?;
        // Sets the connection: commits are durable whatever the settings of server, database and
        // user, and no query is too long. All reads are ranges of a primary key, whatever the
        // planner believes of tables that have just been filled.
        let settings = "SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') <> 'remote_apply'; \
                        SET statement_timeout = 0; SET lock_timeout = '10s'; SET idle_in_transaction_session_timeout = 0; SET jit = off; \
                        SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan; SET default_transaction_isolation = 'read committed'; SET client_min_messages = warning";
        connection.simple(settings).map_err(|error| error.of(&place))?;
        let looked = schema::check_marker(&connection, &place)?;
        let session = Session::Postgres(&connection);
        let standby: String = session
            .value("SELECT pg_is_in_recovery()::text", &[])
            .map_err(|error| StoreError::asked(&place, error))?;
        if standby == "true" {
            return Err(StoreError::Unreachable { place, what: STANDBY.to_owned() });
        }
        Ok((MigrationEndpoint { place, connection, weeks: Weeks::default(), is_frozen: false }, looked))
    }

    fn load(&mut self) -> Result<(), StoreError> {
        self.weeks = Weeks::load(self.session()).map_err(|error| StoreError::asked(&self.place, error))?;
        // That it cannot be marked in the end is said at the beginning.
        let may = "SELECT has_table_privilege('wattseal_schema', 'UPDATE')::text";
        let may: String =
            self.session().value(may, &[]).map_err(|error| StoreError::asked(&self.place, error))?;
        if may == "true" {
            return Ok(());
        }
        let what = "this user may not change its tables: give the database's owner in the URL".to_owned();
        Err(StoreError::Unsuited { place: self.place.clone(), what })
    }

    pub(in crate::store) fn place(&self) -> &DatabaseUrl {
        &self.place
    }

    pub(in crate::store) fn session(&self) -> Session<'_> {
        Session::Postgres(&self.connection)
    }

    /// Takes the lock of who writes alone, and begins a transaction in which nobody else writes,
    /// until it is marked: also no worker that does not know that its lease is over, and no command
    /// that changes something.
    pub(in crate::store) fn freeze(&mut self, tables: &[&str]) -> Result<(), StoreError> {
        writers::try_alone(&self.connection, &self.place)?;
        let freeze = || -> Result<(), SqlError> {
            let (connection, session) = (&self.connection, self.session());
            // Every writer reads this row first, and so waits here.
            connection.simple("BEGIN; SELECT version FROM wattseal_schema FOR UPDATE")?;
            Generation::begin(session, false)?;
            connection.simple(&format!("LOCK TABLE {} IN SHARE MODE", tables.join(", ")))?;
            Ok(())
        };
        if let Err(error) = freeze() {
            // It is tried again, and others may go on until then.
            let _ = self.connection.simple("ROLLBACK; SELECT pg_advisory_unlock_all()");
            return Err(StoreError::asked(&self.place, error));
        }
        self.is_frozen = true;
        Ok(())
    }

    pub(in crate::store) fn change(
        &mut self,
        table: &Table,
        gone: &[Columns],
        new: &[Columns],
    ) -> Result<(), SqlError> {
        let delete = format!("DELETE FROM {} WHERE {}", table.name, is_key(table));
        let mut weeks = self.weeks.clone();
        self.within(|connection| {
            for row in gone {
                let key: Vec<Value<'_>> = key_of(table, row).iter().map(Value::from).collect();
                connection.execute(&delete, &key)?;
            }
            if table.name == READINGS.name {
                let [at_s, heard_ms] = ["at_s", "heard_ms"].map(|column| table.place_of(column));
                weeks.make_of(connection, new.iter().map(|row| (row[at_s].int(), row[heard_ms].int())))?;
            }
            let rows = new.iter().map(|row| row.iter().map(Value::from).collect());
            connection.copy_in(table.name, &table.list(), rows).map_err(SqlError::from)
        })?;
        self.weeks = weeks;
        Ok(())
    }

    pub(in crate::store) fn drawn(&self, table: &Table) -> Result<i64, SqlError> {
        let drawn = "SELECT coalesce(pg_sequence_last_value(pg_get_serial_sequence($1, 'id')::regclass), 0)";
        self.session().value(drawn, values![table.name])
    }

    pub(in crate::store) fn draw_above(&self, table: &Table, id: i64) -> Result<(), SqlError> {
        if id == 0 {
            return Ok(());
        }
        let above = "SELECT setval(pg_get_serial_sequence($1, 'id')::regclass, $2)";
        self.session().query(above, values![table.name, id], |_| Ok(())).map(drop)
    }

    pub(in crate::store) fn mark(&mut self, mark: Option<&Marker>) -> Result<(), SqlError> {
        if !std::mem::take(&mut self.is_frozen) {
            return self.within(|connection| schema::mark(connection, mark));
        }
        schema::mark(&self.connection, mark)?;
        commit(&self.connection)
    }

    /// In one transaction.
    fn within(&self, does: impl FnOnce(&Connection) -> Result<(), SqlError>) -> Result<(), SqlError> {
        self.connection.simple("BEGIN")?;
        let done = does(&self.connection);
        match done {
            Ok(()) => commit(&self.connection),
            Err(error) => {
                // A lost connection rolls back, too.
                let _ = self.connection.simple("ROLLBACK");
                Err(error)
            }
        }
    }
}
