//! PostgreSQL, Debian's, for tests: a server in a temporary folder that is heard by a socket in it
//! alone, and that goes with this process whatever ends it. The superuser `postgres` needs no
//! password there.

use crate::servers::folder::ServerFolder;
use crate::servers::postgres::{Postgres, give, make_home, program};
use crate::servers::process::children_of;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// A server's files, in its folder.
const DATA: &str = "data";
/// Nothing is durable: for tests in which nothing loses its power.
const QUICK: [&str; 3] = ["fsync=off", "full_page_writes=off", "shared_buffers=64MB"];

/// A server. It is ended, and its folder goes, with this value; of [`shared`] with the process.
pub struct Server {
    // In this order they end.
    postgres: Postgres,
    folder: ServerFolder,
}

/// A folder that belongs to the user whom PostgreSQL lets run it.
fn own_folder() -> ServerFolder {
    let folder = ServerFolder::make("pg").expect("a folder");
    make_home(folder.path()).expect("PostgreSQL");
    folder
}

/// The server that the tests of this process share; its files are not made durable.
///
/// # Panics
/// If it does not start.
pub fn shared() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(|| Server::start(&QUICK))
}

impl Server {
    /// settings: `NAME=VALUE` of postgresql.conf.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn start(settings: &[&str]) -> Server {
        let folder = own_folder();
        // A copy takes a twentieth of the time that initdb takes.
        static EMPTY: OnceLock<ServerFolder> = OnceLock::new();
        let empty = EMPTY.get_or_init(|| {
            let empty = own_folder();
            Postgres::new(empty.path(), DATA, &[]).initialize().expect("files");
            empty
        });
        let postgres = Postgres::new(folder.path(), DATA, settings);
        postgres.copy(&empty.path().join(DATA)).expect("files");
        let mut server = Server { postgres, folder };
        server.run();
        server
    }

    /// Another one that follows it, and gets all that it commits.
    ///
    /// # Panics
    /// If it does not start.
    #[must_use]
    pub fn standby(&self, settings: &[&str]) -> Server {
        let folder = own_folder();
        let postgres = Postgres::new(folder.path(), DATA, settings);
        postgres.follow(&self.postgres).expect("a copy");
        let mut server = Server { postgres, folder };
        server.run();
        server
    }

    /// Makes a standby a primary.
    ///
    /// # Panics
    /// If it is no standby.
    pub fn promote(&self) {
        self.postgres.promote().expect("a standby");
    }

    /// Starts it again, or for the first time.
    ///
    /// # Panics
    /// If it does not start.
    pub fn run(&mut self) {
        self.postgres.run().expect("PostgreSQL");
    }

    /// With settings that it is started with the next time.
    pub fn set(&mut self, settings: &[&str]) {
        self.postgres.set(settings);
    }

    /// SIGKILL to all of its processes, as if its machine lost its power but for what the disk has.
    ///
    /// # Panics
    /// If it does not run.
    pub fn kill(&mut self) {
        self.id();
        self.postgres.kill().expect("killed");
    }

    /// Stops it as its administrator does.
    ///
    /// # Panics
    /// If it does not run.
    pub fn stop(&mut self) {
        self.id();
        self.postgres.stop().expect("over");
    }

    /// Holds all of its processes, as a machine that hangs, or lets them go on.
    ///
    /// # Panics
    /// If it does not run.
    pub fn hold(&self, hold: bool) {
        self.id();
        self.postgres.hold(hold);
    }

    fn id(&self) -> u32 {
        self.postgres.id().expect("it runs")
    }

    /// For how long its processes that there are had a processor, in s.
    ///
    /// # Panics
    /// If it does not run.
    #[must_use]
    pub fn processor_s(&self) -> f64 {
        let of = |process: &u32| {
            let ran = fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
            ran.split_whitespace().next()?.parse::<f64>().ok()
        };
        children_of(self.id()).iter().filter_map(of).sum::<f64>() / 1e9
    }

    /// Takes a change of its files of settings.
    ///
    /// # Panics
    /// If it does not run.
    pub fn reload(&self) {
        self.id();
        self.postgres.reload();
    }

    /// Makes a database that is empty; returns its name.
    ///
    /// # Panics
    /// If the server fails.
    #[must_use]
    pub fn database(&self) -> String {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let name = format!("test_{}", MADE.fetch_add(1, Ordering::Relaxed));
        self.sql("postgres", &format!("CREATE DATABASE {name}"));
        name
    }

    /// The URL of a database, for the superuser.
    #[must_use]
    pub fn url(&self, database: &str) -> String {
        self.url_of("postgres", database)
    }

    /// The URL of a database, for another user.
    #[must_use]
    pub fn url_of(&self, user: &str, database: &str) -> String {
        format!("postgres://{user}@{}/{database}", self.host())
    }

    /// Puts a file among its own, for it alone.
    ///
    /// # Panics
    /// If it cannot be written.
    pub fn put(&self, name: &str, text: &str) {
        let file = self.data().join(name);
        fs::write(&file, text).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("ours");
        give(&file).expect("given");
    }

    /// Its socket's folder, as a URL has it.
    #[must_use]
    pub fn host(&self) -> String {
        self.postgres.host()
    }

    /// The folder that its socket is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its files.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.postgres.data()
    }

    /// Runs statements by `psql`, another client than the one under test. Returns the rows, a line
    /// each.
    ///
    /// # Panics
    /// If the server does not take the statements.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        self.postgres.sql(database, sql).expect("taken")
    }

    /// A database as `pg_dump` writes it.
    ///
    /// # Panics
    /// If the server fails.
    #[must_use]
    pub fn dump(&self, database: &str) -> String {
        let mut command = Command::new(program("pg_dump").expect("PostgreSQL"));
        command.args(["-U", "postgres", "-d", database, "-h"]).arg(self.folder.path());
        let done = command.args(["-p", &self.postgres.port().to_string()]).output().expect("pg_dump");
        assert!(done.status.success(), "{}", text(&done));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Begins a transaction with this statement, whose locks are held until the value is dropped,
    /// which rolls it back.
    ///
    /// # Panics
    /// If the server does not take it.
    #[must_use]
    pub fn transaction(&self, database: &str, sql: &str) -> Transaction {
        let mut command = self.client(database);
        let mut psql =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("psql");
        let mut pipe = psql.stdin.take().expect("a pipe");
        writeln!(pipe, "BEGIN; {sql}; SELECT 'begun';").expect("psql listens");
        let mut lines = BufReader::new(psql.stdout.take().expect("a pipe")).lines();
        let begun = lines.any(|line| line.is_ok_and(|line| line == "begun"));
        assert!(begun, "the server does not take {sql}");
        Transaction { psql, pipe: Some(pipe) }
    }

    fn client(&self, database: &str) -> Command {
        self.postgres.client(database).expect("PostgreSQL")
    }
}

/// A transaction that is not over.
pub struct Transaction {
    psql: Child,
    pipe: Option<ChildStdin>,
}

impl Drop for Transaction {
    fn drop(&mut self) {
        // At the end of its input psql ends, and the server rolls back.
        drop(self.pipe.take());
        let _ = self.psql.wait();
    }
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
