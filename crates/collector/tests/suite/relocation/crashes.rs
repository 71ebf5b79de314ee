//! A move that ends early, wherever it does: one of both is used, or the same move goes on.

use super::{HOUR_S, assert_same, begun, contents, moved, open, stands};
use crate::store::place::{Engine, NEW_YEAR_S, TestStore, reading};
use collector::relocation::relocate;
use collector::store::{DatabaseUrl, Options, Reader, Store, StoreError};
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use testkit::alone;

fn refused(place: &DatabaseUrl) -> StoreError {
    let error = Store::open(place, &Options::default()).err().expect("it is refused");
    let read = Reader::open(place).err().expect("it is not read, either");
    assert_eq!(error.to_string(), read.to_string());
    error
}

fn assert_not_whole(place: &DatabaseUrl, from: &DatabaseUrl) {
    let error = refused(place);
    assert!(matches!(error, StoreError::Arriving { .. }), "{error:?}");
    assert!(
        error.to_string().contains(&from.to_string()) && error.to_string().contains("wattseal migrate"),
        "{error}"
    );
}

fn assert_left(place: &DatabaseUrl, to: &DatabaseUrl) {
    let error = refused(place);
    assert!(matches!(error, StoreError::Moved { .. }), "{error:?}");
    assert!(error.to_string().contains(&format!("--db {to}")), "{error}");
}

#[test]
fn wherever_it_ends_one_is_used_and_the_same_move_goes_on() {
    let (file, server) = stands();
    let (from, to) = (file.place(), server.place());
    let mut n = 3000;
    for step in 0..4 {
        // The work until then is lost with the process.
        let mut relocation = begun(&from, &to);
        if step > 0 {
            relocation.copy(|_| {}).expect("copied");
        }
        if step > 1 {
            relocation.freeze().expect("nobody has it");
            let error = Store::open(&from, &Options::default()).err().expect("nobody may");
            assert!(matches!(error, StoreError::InUse { .. }), "{error:?}");
        }
        if step > 2 {
            drop(relocation.settle(|_| {}).expect("compared"));
        } else {
            drop(relocation);
        }
        assert_not_whole(&to, &from);
        n += 1;
        let written =
            file.open().commit(vec![reading(1, n, NEW_YEAR_S + 104 * 24 * HOUR_S + i64::from(n), n, 5)]);
        written.expect("the source is what it was");
    }
    let before = contents(&file.path());
    let settled = begun(&from, &to).settle(|_| {}).expect("compared");
    drop(settled.leave().expect("left"));
    assert_not_whole(&to, &from);
    assert_left(&from, &to);
    assert_eq!(moved(&from, &to).expect("it ends").rows, [], "nothing was copied any more");
    assert_left(&from, &to);
    assert_eq!(contents(&file.path()), before);
    drop(open(&to));
    // And once more is refused, as is any other target.
    for to in [to.clone(), Engine::Postgres.place().place()] {
        let error = moved(&from, &to).expect_err("it was moved").to_string();
        assert!(
            error.contains("was moved to") && error.contains(&format!("--db {}", server.place())),
            "{error}"
        );
    }
    let back = TestStore::new();
    moved(&to, &back.place()).expect("moved back");
    assert_left(&to, &back.place());
    assert_same(&file.path(), &back.path());
}

const MOVER: &str = "relocation::crashes::moves_until_it_is_killed";
const FROM: &str = "WATTSEAL_MOVED_FROM";
const TO: &str = "WATTSEAL_MOVED_TO";

/// The process that is killed; as a test it does nothing.
#[test]
fn moves_until_it_is_killed() {
    let (Ok(from), Ok(to)) = (std::env::var(FROM), std::env::var(TO)) else { return };
    let [from, to] = [from, to].map(|place| DatabaseUrl::named(&place).expect("a place"));
    relocate(&from, &to, Path::new("no keys"), |_| {}).expect("moved");
}

/// SIGKILL at any time, in both directions; `WATTSEAL_KILLS=200` for more.
#[test]
fn a_move_that_is_killed_leaves_one_that_is_used() {
    let kills = std::env::var("WATTSEAL_KILLS").map_or(6, |kills| kills.parse().expect("a number"));
    let mut rng = StdRng::seed_from_u64(testkit::random::seed());
    let (file, server) = stands();
    let before = contents(&file.path());
    // From the last but one to the last.
    let mut stores = vec![file, server];
    let mut moves = 0;
    for _ in 0..kills {
        let [from, to] = [2, 1].map(|back| stores[stores.len() - back].place());
        let mut child = alone::command(MOVER, &[])
            .env(FROM, from.to_string())
            .env(TO, to.to_string())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts");
        std::thread::sleep(Duration::from_millis(rng.random_range(20..1500)));
        child.kill().expect("killed");
        let over = child.wait().expect("over").success();
        assert!(!(is_used(&from) && is_used(&to)), "both are used");
        assert!(!over || is_used(&to), "it was over, and is not");
        if !is_used(&from) {
            if !is_used(&to) {
                moved(&from, &to).expect("it ends");
            }
            moves += 1;
            let next =
                if let DatabaseUrl::File(_) = from { TestStore::new() } else { Engine::Postgres.place() };
            stores.push(next);
        }
    }
    let [from, to] = [2, 1].map(|back| stores[stores.len() - back].place());
    let last = TestStore::new();
    match &to {
        DatabaseUrl::Server(_) => {
            moved(&from, &to).expect("moved");
            moved(&to, &last.place()).expect("moved back");
            assert_eq!(contents(&last.path()), before);
        }
        DatabaseUrl::File(path) => {
            moved(&from, &to).expect("moved back");
            assert_eq!(contents(path), before);
        }
    }
    println!("{kills} kills, {moves} moves were over");
}

/// Says if it is read, and has rows: a target that was not begun has neither.
fn is_used(place: &DatabaseUrl) -> bool {
    match Reader::open_if_any(place) {
        Err(StoreError::Moved { .. } | StoreError::Arriving { .. }) | Ok(None) => false,
        Ok(Some(reader)) => !reader.kept_meters().expect("meters").is_empty(),
        Err(error) => panic!("{error}"),
    }
}
