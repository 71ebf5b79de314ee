//! A database that is moved from, or to: whichever engine's.

use crate::store::engine::postgres;
use crate::store::engine::sqlite;
use crate::store::meaning::marker::Marker;
use crate::store::meaning::tables::{Columns, Table};
use crate::store::sql::{Session, SqlError};
use crate::store::{DatabaseUrl, StoreError};

pub(super) enum MigrationEndpoint {
    Sqlite(sqlite::MigrationEndpoint),
    Postgres(postgres::MigrationEndpoint),
}

impl MigrationEndpoint {
    /// A database that a service may have, and what is said of it.
    pub(super) fn source(place: &DatabaseUrl) -> Result<(MigrationEndpoint, Option<Marker>), StoreError> {
        Ok(match place {
            DatabaseUrl::File(path) => {
                let (side, mark) = sqlite::MigrationEndpoint::source(path)?;
                (MigrationEndpoint::Sqlite(side), mark)
            }
            DatabaseUrl::Server(server) => {
                let (side, mark) = postgres::MigrationEndpoint::source(server)?;
                (MigrationEndpoint::Postgres(side), mark)
            }
        })
    }

    /// A database that nobody else writes from now on; made where there is none. With `make: false`
    /// it has to be there.
    pub(super) fn target(
        place: &DatabaseUrl,
        make: bool,
    ) -> Result<(MigrationEndpoint, Option<Marker>), StoreError> {
        Ok(match place {
            DatabaseUrl::File(path) => {
                let (side, mark) = sqlite::MigrationEndpoint::target(path, make)?;
                (MigrationEndpoint::Sqlite(side), mark)
            }
            DatabaseUrl::Server(server) => {
                let (side, mark) = postgres::MigrationEndpoint::target(server, make)?;
                (MigrationEndpoint::Postgres(side), mark)
            }
        })
    }

    pub(super) fn place(&self) -> &DatabaseUrl {
        match self {
            MigrationEndpoint::Sqlite(side) => side.place(),
            MigrationEndpoint::Postgres(side) => side.place(),
        }
    }

    pub(super) fn session(&self) -> Session<'_> {
        match self {
            MigrationEndpoint::Sqlite(side) => side.session(),
            MigrationEndpoint::Postgres(side) => side.session(),
        }
    }

    /// Nobody else writes from now on, also nobody who does not know that yet.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while somebody does.
    pub(super) fn freeze(&mut self, tables: &[&str]) -> Result<(), StoreError> {
        match self {
            MigrationEndpoint::Sqlite(side) => side.freeze(),
            MigrationEndpoint::Postgres(side) => side.freeze(tables),
        }
    }

    /// Looks that nobody else writes still.
    pub(super) fn is_frozen(&self) -> Result<(), StoreError> {
        match self {
            MigrationEndpoint::Sqlite(side) => side.is_frozen(),
            // Its locks are those of the transaction that everything is asked in.
            MigrationEndpoint::Postgres(_) => Ok(()),
        }
    }

    /// Takes rows away and puts rows in, in one transaction, which is durable when this returns.
    pub(super) fn change(
        &mut self,
        table: &Table,
        gone: &[Columns],
        new: &[Columns],
    ) -> Result<(), SqlError> {
        match self {
            MigrationEndpoint::Sqlite(side) => side.change(table, gone, new),
            MigrationEndpoint::Postgres(side) => side.change(table, gone, new),
        }
    }

    /// The highest id that was drawn.
    pub(super) fn drawn(&self, table: &Table) -> Result<i64, SqlError> {
        match self {
            MigrationEndpoint::Sqlite(side) => side.drawn(table),
            MigrationEndpoint::Postgres(side) => side.drawn(table),
        }
    }

    /// Ids are drawn above this from now on.
    pub(super) fn draw_above(&self, table: &Table, id: i64) -> Result<(), SqlError> {
        match self {
            MigrationEndpoint::Sqlite(side) => side.draw_above(table, id),
            MigrationEndpoint::Postgres(side) => side.draw_above(table, id),
        }
    }

    /// Says that it is not to be used; durable when this returns. A source's freeze ends with it.
    pub(super) fn mark(&mut self, mark: &Marker) -> Result<(), SqlError> {
        match self {
            MigrationEndpoint::Sqlite(side) => side.mark(Some(mark)),
            MigrationEndpoint::Postgres(side) => side.mark(Some(mark)),
        }
    }

    /// Lets it be used; durable when this returns.
    pub(super) fn unmark(&mut self) -> Result<(), SqlError> {
        match self {
            MigrationEndpoint::Sqlite(side) => side.mark(None),
            MigrationEndpoint::Postgres(side) => side.mark(None),
        }
    }
}
