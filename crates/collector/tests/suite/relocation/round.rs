//! There and back: every table is the same.

use super::{HOUR_S, assert_same, begun, contents, fill, moved, open, stands};
use crate::store::place::{Engine, NEW_YEAR_S, TestStore, add, all_readings, reading};
use collector::store::{AlertFilter, NewAlert, NewOutbox, Reader, Store, StoreError, Write, Written};
use wire::meter::{MessageKind, Suite};

#[test]
fn there_and_back_every_table_is_the_same() {
    let (file, server) = stands();
    let back = TestStore::new();
    let before = contents(&file.path());
    for (table, rows) in &before {
        assert!(!rows.is_empty(), "nothing in {table} that could be lost");
    }
    let there = moved(&file.place(), &server.place()).expect("moved");
    let rows_of = |table: &str| there.rows.iter().find(|(name, _)| *name == table).expect("told").1;
    assert_eq!(rows_of("readings"), before["readings"].len() as u64);
    assert_eq!(contents(&file.path()), before, "the source was changed");
    let reader = Reader::open(server.place()).expect("it is to be used");
    assert_eq!(all_readings(&reader, 1).len(), 89 + 2000);
    assert_eq!(reader.kept_meters().expect("meters")[1].state.next_m(), 1_900_000_000);
    drop(reader);
    moved(&server.place(), &back.place()).expect("moved back");
    assert_same(&file.path(), &back.path());
}

/// A store goes on after a move above all earlier numbers, in both directions; also above the ids
/// of deleted rows.
#[test]
fn writer_after_migration_continues() {
    let (file, server) = stands();
    let back = TestStore::new();
    moved(&file.place(), &server.place()).expect("moved");
    let go_on = |store: &mut Store, n: u32, id: i64| {
        let alert = NewAlert { meter: None, at_ms: 0, cause: "store".into(), detail: String::new() };
        let outbox = NewOutbox {
            address: 1,
            name: 7,
            kind: MessageKind::Report,
            suite: Suite::None,
            number_lsb: n as u8,
            message: Vec::new(),
            heard_ms: 0,
        };
        let at_s = NEW_YEAR_S + 110 * 24 * HOUR_S + i64::from(n);
        let batch = vec![
            reading(1, n, at_s, n * 7, 5),
            Write::Alert(alert),
            Write::OutboxPut(outbox),
            reading(1, n - 1, at_s, 0, 0),
        ];
        let written = store.commit(batch).expect("there is room");
        assert!(matches!(written[0], Written::Reading { .. }), "{written:?}");
        let highest =
            store.reader().alerts(&AlertFilter { limit: 2, ..AlertFilter::default() }).expect("alerts");
        assert!(highest[0].id > highest[1].id, "{highest:?}");
        assert_eq!(written[2], Written::Outbox(Some(id)));
        assert_eq!(store.compare(), None);
    };
    go_on(&mut open(&server.place()), 2091, 4);
    moved(&server.place(), &back.place()).expect("moved back");
    go_on(&mut open(&back.place()), 2092, 5);
    let readings = all_readings(&Reader::open(back.place()).expect("a database"), 1);
    assert_eq!(readings, (2..=2092).map(|n| n * 7).collect::<Vec<_>>());
}

/// No row that comes, changes or goes while it is copied is missed, in any table.
#[test]
fn change_during_copy_is_found() {
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let other = if engine == Engine::Sqlite { Engine::Postgres } else { Engine::Sqlite };
        let (from, to) = (engine.place(), other.place());
        let mut store = from.open();
        fill(&mut store);
        let mut relocation = begun(&from.place(), &to.place());
        assert!(relocation.copy(|_| {}).expect("copied") > 2000);
        assert_eq!(relocation.copy(|_| {}).expect("copied"), 0, "what is the same is not written again");
        let late_s = NEW_YEAR_S + 103 * 24 * HOUR_S;
        let batch = (3000..3400).map(|n| reading(1, n, late_s + i64::from(n), n * 7, 5));
        store.commit(batch.collect()).expect("there is room");
        // As retention does; and a row that changes in its bytes alone.
        from.change("DELETE FROM rollups WHERE meter = 2 AND level = 900");
        from.change("UPDATE meters SET state = replace(state, '1900000000', '1900000001') WHERE meter = 2");
        from.change("UPDATE commands SET attempts = attempts + 1");
        from.change(&format!(
            "UPDATE readings SET power_w = power_w + 1 WHERE meter = 3 AND at_s < {}",
            NEW_YEAR_S + 200 * HOUR_S
        ));
        from.change("DELETE FROM outbox WHERE id = 2");
        let error = relocation.freeze().expect_err("a service has it");
        assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
        drop(store);
        // A server notices that its lock is free a moment later.
        while let Err(error) = relocation.freeze() {
            assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        let settled = relocation.settle(|_| {}).expect("compared");
        settled.leave().expect("left").open().expect("opened");
        let (file, back) = (TestStore::new(), TestStore::new());
        match engine {
            Engine::Sqlite => {
                moved(&to.place(), &back.place()).expect("moved back");
                assert_same(&from.path(), &back.path());
            }
            Engine::Postgres => {
                // There is nothing else than this to read it by but the same way: there and back
                // once more.
                let again = Engine::Postgres.place();
                moved(&to.place(), &again.place()).expect("moved");
                moved(&again.place(), &file.place()).expect("moved back");
                assert_same(&to.path(), &file.path());
                assert!(contents(&file.path())["meters"].iter().any(|row| row.contains("1900000001")));
            }
        }
    }
}

/// Of readings that have landed some are sorted in already, meter by meter, and stay where they
/// landed until all are.
#[test]
fn half_sorted_rows_are_migrated_once() {
    const METERS: u16 = 50;
    let (file, server, back) = (TestStore::new(), Engine::Postgres.place(), TestStore::new());
    let mut store = file.open();
    add(&mut store, 1..=METERS);
    let of = |n: u32| (1..=METERS).map(move |meter| reading(meter, n, NEW_YEAR_S + i64::from(n) * 60, n, 5));
    store.commit((1..=650).flat_map(of).collect()).expect("there is room");
    // A small batch sorts in little.
    for n in 651..=660 {
        store.commit(of(n).collect()).expect("there is room");
    }
    drop(store);
    let connection = rusqlite::Connection::open(file.path()).expect("a database");
    let sorted: i64 = connection
        .query_row("SELECT max(from_meter) FROM sorted_in", [], |row| row.get(0))
        .expect("a number");
    assert!((2..i64::from(METERS)).contains(&sorted), "sorted in up to {sorted}");
    drop(connection);
    moved(&file.place(), &server.place()).expect("moved");
    moved(&server.place(), &back.place()).expect("moved back");
    assert_same(&file.path(), &back.path());
    assert_eq!(contents(&back.path())["readings"].len(), usize::from(METERS) * 660);
}
