//! From one engine to the other, while a service writes. docs/how-to/collector.md, "Moving to PostgreSQL
//! and back".
//!
//! At each moment at most one of both is to be used, and a move that ended early goes on where the
//! same is begun again:
//!
//! 1. The target is marked as not whole ([`Relocation::begin`]). From then on it is a copy that
//!    nobody uses.
//! 2. It is made like the source, again and again, while that is written ([`Relocation::copy`]).
//! 3. Nobody writes the source any more ([`Relocation::freeze`]), for as long as this process lives
//!    and goes on.
//! 4. The target is made like it for the last time, and compared with it ([`Relocation::settle`]).
//!    All of it is durable.
//! 5. The source is marked as moved ([`Settled::leave`]): it is never used again.
//! 6. The mark goes from the target ([`Left::open`]).
//!
//! Until the fifth the source is what it was. Between the last two nobody can use either: the same
//! move, begun again, finds two marks with one id, and does the sixth.

mod differences;
mod endpoint;

pub use differences::Progress;

use crate::store::meaning::marker::{Marker, State};
use crate::store::meaning::tables::{self, OF_KEYS, READINGS, TABLES};
use crate::store::sql::SqlError;
use crate::store::{DatabaseUrl, StoreError};
use differences::{Pass, Wrong};
use endpoint::MigrationEndpoint;
use rand::TryRngCore;
use rand::rngs::OsRng;
use std::time::{SystemTime, UNIX_EPOCH};

/// A move whose target is not whole.
pub struct Relocation {
    from: MigrationEndpoint,
    to: MigrationEndpoint,
    mark: Marker,
    is_frozen: bool,
}

/// The state in which a migration begins.
pub enum Begun {
    /// All is to be copied, or the rest.
    Copying(Box<Relocation>),
    /// It had ended just before its end.
    Left(Box<Left>),
}

/// A move whose target is whole, and whose source is frozen.
pub struct Settled {
    relocation: Relocation,
    /// Rows of each table.
    rows: Vec<(&'static str, u64)>,
}

/// A move whose source is left.
pub struct Left {
    to: MigrationEndpoint,
    /// The holder of its locks.
    _from: MigrationEndpoint,
    /// Rows of each table; of a move that ended before they are not counted again.
    rows: Vec<(&'static str, u64)>,
}

impl Relocation {
    /// Looks at both, and marks the target, which has to be empty, or not whole from the same move.
    /// The source is not changed.
    ///
    /// # Errors
    /// [`StoreError`]
    pub fn begin(from: &DatabaseUrl, to: &DatabaseUrl) -> Result<Begun, StoreError> {
        let (source, mark) = MigrationEndpoint::source(from)?;
        if let Some(mark) = mark {
            return go_on(source, mark, to);
        }
        tables::check(source.session(), source.place())?;
        has_no_keys(&source)?;
        let (mut target, found) = MigrationEndpoint::target(to, true)?;
        tables::check(target.session(), target.place())?;
        let (source_name, to) = (name_of(from), to.clone());
        let mark = match found {
            Some(Marker { state: State::Moved, other, .. }) => {
                return Err(StoreError::Moved { place: to, to: other });
            }
            Some(mark) if mark.other == source_name => mark,
            Some(Marker { other, .. }) => return Err(StoreError::Arriving { place: to, from: other }),
            None => {
                is_empty(&target)?;
                let mark =
                    Marker { state: State::Arriving, other: source_name, id: new_id(), at_ms: now_ms() };
                target.mark(&mark).map_err(|error| StoreError::asked(&to, error))?;
                mark
            }
        };
        Ok(Begun::Copying(Box::new(Relocation { from: source, to: target, mark, is_frozen: false })))
    }

    /// Makes the target as the source is, but for what comes meanwhile. Returns how many rows it
    /// changed.
    ///
    /// # Errors
    /// [`StoreError`]: what was copied stays.
    pub fn copy(&mut self, mut report: impl FnMut(Progress)) -> Result<u64, StoreError> {
        let Relocation { from, to, .. } = self;
        Pass::new(from, to, &mut report).run().map_err(|wrong| self.error(wrong))
    }

    /// From now on nobody writes the source.
    ///
    /// # Errors
    /// [`StoreError::InUse`] while somebody does: to be tried again.
    pub fn freeze(&mut self) -> Result<(), StoreError> {
        if !self.is_frozen {
            let tables: Vec<&str> = TABLES
                .iter()
                .chain([&READINGS])
                .map(|table| table.name)
                .chain(OF_KEYS.iter().copied())
                .collect();
            self.from.freeze(&tables)?;
            self.is_frozen = true;
        }
        Ok(())
    }

    /// Copies what came since, and looks that both are the same. The source has to be frozen.
    ///
    /// # Errors
    /// [`StoreError`]; [`StoreError::InUse`] where it is not frozen, and cannot be;
    /// [`StoreError::Different`].
    pub fn settle(mut self, mut report: impl FnMut(Progress)) -> Result<Settled, StoreError> {
        self.freeze()?;
        has_no_keys(&self.from)?;
        let Relocation { from, to, .. } = &mut self;
        let mut pass = Pass::new(from, to, &mut report);
        let settled = pass.run().and_then(|_| pass.verify());
        let rows = settled.map_err(|wrong| self.error(wrong))?;
        for table in TABLES.iter().filter(|table| table.has_ids) {
            let drawn = self.from.drawn(table).map_err(|error| self.error(Wrong::From(error)))?;
            self.to.draw_above(table, drawn).map_err(|error| self.error(Wrong::To(error)))?;
        }
        Ok(Settled { relocation: self, rows })
    }

    fn error(&self, wrong: Wrong) -> StoreError {
        match wrong {
            Wrong::From(error) => StoreError::asked(self.from.place(), error),
            Wrong::To(error) => StoreError::asked(self.to.place(), error),
            Wrong::Different(what) => StoreError::Different { place: self.to.place().clone(), what },
        }
    }
}

impl Settled {
    /// Marks the source as moved: it is not used any more.
    ///
    /// # Errors
    /// [`StoreError`]: whether it was marked is found when the same move is begun again.
    pub fn leave(self) -> Result<Left, StoreError> {
        let Settled { relocation: Relocation { mut from, to, mark, .. }, rows } = self;
        from.is_frozen()?;
        let moved = Marker { state: State::Moved, other: name_of(to.place()), id: mark.id, at_ms: now_ms() };
        from.mark(&moved).map_err(|error| StoreError::asked(from.place(), error))?;
        Ok(Left { to, _from: from, rows })
    }
}

impl Left {
    /// Takes the mark from the target, which is to be used from now on. Returns how many rows each
    /// table has, where they were counted.
    ///
    /// # Errors
    /// [`StoreError`]: the same move, begun again, does this.
    pub fn open(mut self) -> Result<Vec<(&'static str, u64)>, StoreError> {
        self.to.unmark().map_err(|error| StoreError::asked(self.to.place(), error))?;
        Ok(self.rows)
    }
}

/// Finishes a migration whose source is marked.
fn go_on(from: MigrationEndpoint, mark: Marker, to: &DatabaseUrl) -> Result<Begun, StoreError> {
    let place = from.place().clone();
    match mark.state {
        State::Arriving => return Err(StoreError::Arriving { place, from: mark.other }),
        State::Moved if mark.other != name_of(to) => return Err(StoreError::Moved { place, to: mark.other }),
        State::Moved => {}
    }
    match MigrationEndpoint::target(to, false)? {
        (to, Some(Marker { state: State::Arriving, id, .. })) if id == mark.id => {
            Ok(Begun::Left(Box::new(Left { to, _from: from, rows: Vec::new() })))
        }
        _ => Err(StoreError::Moved { place, to: mark.other }),
    }
}

/// Keys that are in a database have no place in a file.
fn has_no_keys(side: &MigrationEndpoint) -> Result<(), StoreError> {
    if let MigrationEndpoint::Postgres(_) = side
        && let Some(table) = first_with_rows(side, OF_KEYS.iter().copied())?
    {
        let what = format!(
            "keys are in it (table {table}), and those of a file are in a folder, into which none come back: leave the data where their keys are"
        );
        return Err(StoreError::Unsuited { place: side.place().clone(), what });
    }
    Ok(())
}

/// A service that was started with it once may have left what it was set to.
fn is_empty(side: &MigrationEndpoint) -> Result<(), StoreError> {
    let place = side.place().clone();
    let landed = if let MigrationEndpoint::Sqlite(_) = side { "landed" } else { READINGS.name };
    let tables = TABLES.iter().chain([&READINGS]).map(|table| table.name).filter(|name| *name != "meta");
    let found = first_with_rows(side, [READINGS.name, landed].into_iter().chain(tables))?;
    if let Some(name) = found {
        let name = if name == "landed" { READINGS.name } else { name };
        return Err(StoreError::Occupied { place, what: name.replace('_', " ") });
    }
    if let MigrationEndpoint::Postgres(_) = side
        && first_with_rows(side, OF_KEYS.iter().copied())?.is_some()
    {
        let what = "keys, which come after a move, with 'wattseal meters import',".to_owned();
        return Err(StoreError::Occupied { place, what });
    }
    Ok(())
}

fn first_with_rows<'n>(
    side: &MigrationEndpoint,
    tables: impl Iterator<Item = &'n str>,
) -> Result<Option<&'n str>, StoreError> {
    for name in tables {
        let some = format!("SELECT 1 FROM {name} LIMIT 1");
        let some = side.session().first(&some, &[], |_| Ok::<(), SqlError>(()));
        if some.map_err(|error| StoreError::asked(side.place(), error))?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// The same however it was written.
fn name_of(place: &DatabaseUrl) -> String {
    match place {
        DatabaseUrl::File(path) => path.canonicalize().unwrap_or_else(|_| path.clone()).display().to_string(),
        DatabaseUrl::Server(server) => server.to_string(),
    }
}

fn new_id() -> String {
    let mut id = [0; 16];
    // Where the system has no randomness the time tells two moves apart.
    if OsRng.try_fill_bytes(&mut id).is_err() {
        id = u128::from(now_ms().unsigned_abs()).to_be_bytes();
    }
    id.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn now_ms() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_millis() as i64)
}
