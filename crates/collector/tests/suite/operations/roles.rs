//! The users of PostgreSQL: each may do what its role does, and nothing else. The roles themselves
//! run with them in `cluster::api` and `cluster::updates`.

use super::text;
use crate::concentrator::process::wattseal;
use crate::keys::kek;
use collector::store::{DatabaseUrl, Options, Reader, Store};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use testkit::postgres::{Server, shared};

/// The owner of tables: the user of workers, `collect`, and administrators' commands.
pub const OWNER: &str = "wattseal";
/// Of the role api.
pub const API: &str = "wattseal_api";
/// Of Grafana.
const GRAFANA: &str = "wattseal_grafana";

/// A user is all databases', and no two may change one at once.
static CHANGED: Mutex<()> = Mutex::new(());

/// Runs statements that make, or change, users.
pub fn change_users(server: &Server, database: &str, sql: &str) {
    let changed = CHANGED.lock().unwrap_or_else(PoisonError::into_inner);
    server.sql(database, sql);
    drop(changed);
}

/// Gives a database and its tables to their owner, who is no superuser.
pub fn give_to_owner(server: &Server, database: &str) {
    let make = format!(
        "DO $$ BEGIN IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '{OWNER}') THEN CREATE ROLE {OWNER} LOGIN; END IF; END $$"
    );
    change_users(server, database, &make);
    server.sql(database, &format!("ALTER DATABASE {database} OWNER TO {OWNER}"));
    server.sql(
        database,
        &format!(
            "DO $$ DECLARE name text; BEGIN \
             FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') \
             LOOP EXECUTE format('ALTER TABLE %I OWNER TO {OWNER}', name); END LOOP; END $$"
        ),
    );
}

/// The users of docs/how-to/operations.md. The file begins with a command of `psql` that is no statement.
pub fn separate_users(server: &Server, database: &str) {
    give_to_owner(server, database);
    let sql = text("postgres/roles.sql").replace("\\set ON_ERROR_STOP on\n", "");
    change_users(server, database, &sql);
}

/// A database whose tables its owner has made, with all users.
fn filled(server: &Server) -> String {
    let database = server.database();
    give_to_owner(server, &database);
    let place = DatabaseUrl::named(&server.url_of(OWNER, &database)).expect("a URL");
    // Tables of an empty database, as the first worker makes them.
    drop(Store::open(place, &Options::default()).expect("the owner makes the tables"));
    separate_users(server, &database);
    change_users(server, &database, &text("grafana/role.sql"));
    for row in [
        "INSERT INTO key_networks VALUES (0, 1, 1000)",
        "INSERT INTO sealed_keys VALUES (258, 1, 1, 1, 'kek', '\\x00')",
        "INSERT INTO partitions VALUES (0, 1, 0, 5, 'one', 0, '')",
        "INSERT INTO meters VALUES (258, 1, '', '', 60, 0, NULL)",
        "INSERT INTO alerts (meter, at_s, heard_ms, cause, detail) VALUES (258, 1, 1, 'clock', '')",
        "INSERT INTO actions (at_ms, who, what) VALUES (1, 'anna', 'something')",
    ] {
        server.sql(&database, row);
    }
    database
}

/// As a user that has connected.
fn by(user: &str, sql: &str) -> String {
    format!("SET SESSION AUTHORIZATION {user}; BEGIN; {sql}; ROLLBACK")
}

/// It ends in an error unless PostgreSQL refuses the statement for want of a right.
fn refused(user: &str, sql: &str) -> String {
    let quoted = sql.replace('\'', "''");
    format!(
        "SET SESSION AUTHORIZATION {user}; DO $$ BEGIN EXECUTE '{quoted}'; RAISE EXCEPTION '{user} may'; \
         EXCEPTION WHEN insufficient_privilege THEN NULL; END $$"
    )
}

const KEYS: [&str; 6] = ["sealed_keys", "key_networks", "revoked_keys", "meter_keys", "told", "signed"];

#[test]
fn api_role_changes_no_key_lease_or_reading() {
    let server = shared();
    let database = filled(server);
    drop(Reader::open(DatabaseUrl::named(&server.url_of(API, &database)).expect("a URL")).expect("it reads"));
    for sql in [
        "UPDATE meters SET label = 'Flat 3' WHERE meter = 258",
        "UPDATE alerts SET acknowledged_ms = 1, acknowledged_by = 'anna' WHERE acknowledged_ms IS NULL",
        "INSERT INTO tokens (name, role, hash, created_ms) VALUES ('anna', 'viewer', sha256(''), 1) RETURNING id",
        "UPDATE tokens SET revoked_ms = 1",
        "INSERT INTO actions (at_ms, who, what) VALUES (1, 'anna', 'something')",
        "DELETE FROM images",
        "SELECT version FROM wattseal_schema FOR SHARE",
        "SELECT * FROM readings",
    ] {
        server.sql(&database, &by(API, sql));
    }
    let mut never: Vec<String> = [
        "UPDATE partitions SET fence = fence + 1",
        "INSERT INTO partitions VALUES (1, 1, 0, 5, 'one', 0, '')",
        "SELECT FROM partitions FOR UPDATE",
        "UPDATE writer SET generation = generation + 1",
        "UPDATE wattseal_schema SET version = 1000000",
        "DELETE FROM wattseal_schema",
        "UPDATE meta SET value = ''",
        "DELETE FROM readings",
        "INSERT INTO readings VALUES (258, 1, 1, 1, 1, 1, 1, 1, 1)",
        "UPDATE latest SET register_dwh = 0",
        "DELETE FROM meters",
        "UPDATE meters SET revoked_ms = 1",
        "UPDATE alerts SET cause = ''",
        "DELETE FROM alerts",
        "UPDATE actions SET who = 'nobody'",
        "DELETE FROM actions",
        "UPDATE tokens SET hash = sha256('')",
        "DELETE FROM tokens",
        "INSERT INTO commands (meter, ticket, \"order\", \"by\", created_ms, state, attempts) VALUES (258, 1, '', '', 1, '', 1)",
        "UPDATE updates SET state = ''",
        "INSERT INTO outbox (address, name, kind, suite, low, message, heard_ms) VALUES (1, 1, 1, 1, 1, '', 1)",
        "CREATE TABLE more (id INT)",
        "DROP TABLE readings",
        "ALTER TABLE readings ADD more INT",
        "COPY readings TO PROGRAM 'true'",
    ]
    .map(str::to_owned)
    .into();
    for table in KEYS {
        never.extend([
            format!("SELECT FROM {table}"),
            format!("DELETE FROM {table}"),
            format!("TRUNCATE {table}"),
        ]);
    }
    for sql in never {
        server.sql(&database, &refused(API, &sql));
    }
    // Another user's connections are not its to end.
    let other = server.transaction(&database, "SELECT 1");
    server.sql(
        &database,
        &refused(
            API,
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'postgres' AND pid <> pg_backend_pid()",
        ),
    );
    drop(other);
}

/// Exit code, and all that it says.
fn command(folder: &Path, arguments: &[&str]) -> (Option<i32>, String) {
    let ran = wattseal(folder).args(arguments).output().expect("it runs");
    (ran.status.code(), String::from_utf8_lossy(&[ran.stdout, ran.stderr].concat()).into_owned())
}

#[test]
fn administrative_commands_need_the_owner_and_api_user_no_key() {
    let (server, folder) = (shared(), tempfile::tempdir().expect("a folder"));
    let folder = folder.path();
    let [database, source, target] = [server.database(), server.database(), server.database()];
    let [db, source, target] = [&database, &source, &target].map(|database| {
        give_to_owner(server, database);
        server.url_of(OWNER, database)
    });
    kek(folder, "kek");
    let run = |arguments: &[&str]| {
        let (code, said) = command(folder, arguments);
        assert_eq!(code, Some(0), "{arguments:?}: {said}");
    };
    // It makes the tables, too.
    run(&["meters", "provision", "258", "--images", "img", "--db", &db, "--kek-file", "kek"]);
    separate_users(server, &database);
    run(&["tokens", "add", "anna", "--role", "administrator", "--db", &db]);
    run(&["meters", "provision", "259", "--images", "img", "--db", &db, "--kek-file", "kek"]);
    run(&["meters", "list", "--db", &db, "--kek-file", "kek"]);
    let keys = "SELECT string_agg(meter::text, ' ' ORDER BY meter) FROM sealed_keys";
    let before = server.sql(&database, keys);
    let api = server.url_of(API, &database);
    for arguments in [
        &["meters", "provision", "260", "--images", "img", "--db", &api, "--kek-file", "kek"][..],
        &["meters", "revoke", "258", "--db", &api, "--kek-file", "kek"],
        &["migrate", "--from", &api, "--to", "back.db"],
    ] {
        let (code, said) = command(folder, arguments);
        assert!(matches!(code, Some(1 | 2)) && !said.contains("panicked"), "{arguments:?}: {said}");
    }
    assert_eq!(server.sql(&database, keys), before);
    run(&["tokens", "add", "anna", "--role", "administrator", "--db", &source]);
    run(&["migrate", "--from", &source, "--to", "file.db"]);
    run(&["move", "--from", "file.db", "--to", &target]);
}

#[test]
fn grafana_reads_what_its_dashboard_shows_and_writes_nothing() {
    let server = shared();
    let database = filled(server);
    for sql in ["SELECT * FROM readings", "SELECT label FROM meters", "SELECT fence FROM partitions"] {
        server.sql(&database, &by(GRAFANA, sql));
    }
    for table in ["tokens", "actions", "commands", "images"].iter().chain(&KEYS) {
        server.sql(&database, &refused(GRAFANA, &format!("SELECT * FROM {table}")));
    }
    for sql in ["UPDATE meters SET label = ''", "DELETE FROM readings", "CREATE TABLE more (id INT)"] {
        server.sql(&database, &refused(GRAFANA, sql));
    }
}

#[test]
fn owner_is_no_superuser_and_does_what_a_worker_does() {
    let server = shared();
    let database = filled(server);
    for sql in [
        "UPDATE partitions SET fence = fence + 1",
        "DELETE FROM sealed_keys",
        "CREATE TABLE readings_20260105 (LIKE readings INCLUDING ALL); \
         ALTER TABLE readings ATTACH PARTITION readings_20260105 FOR VALUES FROM (1767571200) TO (1768176000); \
         DROP TABLE readings_20260105",
        "UPDATE wattseal_schema SET version = version",
    ] {
        server.sql(&database, &by(OWNER, sql));
    }
    for sql in ["COPY readings TO PROGRAM 'true'", "CREATE ROLE more", "SELECT FROM pg_authid"] {
        server.sql(&database, &refused(OWNER, sql));
    }
}
