//! PostgreSQL, Debian's, for tests: a server in a temporary folder that is heard by a socket in it alone, and that goes with this process
//! whatever ends it. The superuser `postgres` needs no password there.

use crate::server_folder::ServerFolder;
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
/// A server's files, in its folder.
const DATA: &str = "data";
const INSTALL: &str = "PostgreSQL 15 is missing; install it with: apt-get install postgresql-15";
const WITHIN: Duration = Duration::from_secs(60);
/// Nothing is durable: for tests in which nothing loses its power.
const QUICK: [&str; 3] = ["fsync=off", "full_page_writes=off", "shared_buffers=64MB"];

/// A server. It is ended, and its folder goes, with this value; of [`shared`] with the process.
pub struct Server {
    folder: ServerFolder,
    settings: Vec<String>,
    running: Option<Child>,
}

/// A folder that belongs to the user whom PostgreSQL lets run it.
fn own_folder() -> ServerFolder {
    assert!(program("postgres").exists(), "{INSTALL}");
    let folder = ServerFolder::make("pg");
    if is_root() {
        let given = Command::new("chown").arg("postgres:postgres").arg(folder.path()).status();
        assert!(given.expect("chown").success(), "{INSTALL}");
    }
    folder
}

/// The server that the tests of this process share; its files are not made durable.
///
/// # Panics
/// Where it does not start.
pub fn shared() -> &'static Server {
    static SHARED: OnceLock<Server> = OnceLock::new();
    SHARED.get_or_init(|| Server::start(&QUICK))
}

impl Server {
    /// settings: `NAME=VALUE` of postgresql.conf.
    ///
    /// # Panics
    /// Where it does not start.
    #[must_use]
    pub fn start(settings: &[&str]) -> Server {
        let folder = own_folder();
        // A copy takes a twentieth of the time that initdb takes.
        static EMPTY: OnceLock<ServerFolder> = OnceLock::new();
        let empty = EMPTY.get_or_init(|| {
            let empty = own_folder();
            let mut initdb = as_owner(&program("initdb"));
            initdb.args([
                "--username=postgres",
                "--auth=trust",
                "--encoding=UTF8",
                "--locale=C",
                "--no-sync",
                "-D",
            ]);
            succeeds(initdb.arg(empty.path().join(DATA)));
            empty
        });
        succeeds(
            as_owner(Path::new("cp")).arg("-a").arg(empty.path().join(DATA)).arg(folder.path().join(DATA)),
        );
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let mut server = Server { folder, settings, running: None };
        server.run();
        server
    }

    /// Starts it again, or for the first time.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn run(&mut self) {
        let log =
            File::options().create(true).append(true).open(self.folder.path().join("log")).expect("a log");
        let mut command = as_owner(&program("postgres"));
        command.arg("-D").arg(self.data()).arg("-k").arg(self.folder.path());
        command.args(["-c", "listen_addresses=", "-c", "max_connections=200"]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let log_too = log.try_clone().expect("a log");
        let child = command.stdin(Stdio::null()).stdout(log_too).stderr(log).spawn().expect(INSTALL);
        self.running = Some(child);
        let begun = Instant::now();
        while !self.psql("postgres", "SELECT 1").status.success() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(begun.elapsed() < WITHIN, "PostgreSQL does not start: {log}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// With settings that it is started with the next time.
    pub fn set(&mut self, settings: &[&str]) {
        self.settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
    }

    /// SIGKILL to all of its processes, as if its machine lost its power but for what the disk has.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn kill(&mut self) {
        let mut server = self.running.take().expect("it runs");
        let own = server.id();
        signal("STOP", own);
        let children = children_of(own);
        for child in &children {
            signal("KILL", *child);
        }
        server.kill().expect("killed");
        server.wait().expect("over");
        // It does not start while one of them is there.
        while children.iter().any(|child| Path::new(&format!("/proc/{child}")).exists()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        let _ = fs::remove_file(self.data().join("postmaster.pid"));
    }

    /// Stops it as its administrator does.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn stop(&mut self) {
        let mut server = self.running.take().expect("it runs");
        signal("INT", server.id());
        server.wait().expect("over");
    }

    /// Holds all of its processes, as a machine that hangs, or lets them go on.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn hold(&self, hold: bool) {
        let own = self.running.as_ref().expect("it runs").id();
        for process in children_of(own).into_iter().chain([own]) {
            signal(if hold { "STOP" } else { "CONT" }, process);
        }
    }

    /// For how long its processes that there are had a processor, in s.
    ///
    /// # Panics
    /// Where it does not run.
    #[must_use]
    pub fn processor_s(&self) -> f64 {
        let of = |process: &u32| {
            let ran = fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
            ran.split_whitespace().next()?.parse::<f64>().ok()
        };
        let own = self.running.as_ref().expect("it runs").id();
        children_of(own).iter().filter_map(of).sum::<f64>() / 1e9
    }

    /// Takes a change of its files of settings.
    ///
    /// # Panics
    /// Where it does not run.
    pub fn reload(&self) {
        signal("HUP", self.running.as_ref().expect("it runs").id());
    }

    /// Makes a database that is empty; returns its name.
    ///
    /// # Panics
    /// Where the server does not.
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
        format!("postgres://postgres@{}/{database}", self.host())
    }

    /// Puts a file among its own, for it alone.
    ///
    /// # Panics
    /// Where it cannot be written.
    pub fn put(&self, name: &str, text: &str) {
        let file = self.data().join(name);
        fs::write(&file, text).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).expect("ours");
        if is_root() {
            let given = Command::new("chown").arg("postgres:postgres").arg(&file).status();
            assert!(given.expect("chown").success());
        }
    }

    /// Its socket's folder, as a URL has it.
    #[must_use]
    pub fn host(&self) -> String {
        let folder = self.folder.path().display().to_string().replace('/', "%2F");
        let port = self.port();
        if port == "5432" { folder } else { format!("{folder}:{port}") }
    }

    fn port(&self) -> String {
        let port = self.settings.iter().find_map(|setting| setting.strip_prefix("port="));
        port.unwrap_or("5432").to_owned()
    }

    /// The folder that its socket is in.
    #[must_use]
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Its files.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.folder.path().join(DATA)
    }

    /// Runs statements by `psql`, another client than the one under test. Returns the rows, a line each.
    ///
    /// # Panics
    /// Where the server does not take them.
    pub fn sql(&self, database: &str, sql: &str) -> String {
        let done = self.psql(database, sql);
        assert!(done.status.success(), "{sql}: {}", text(&done));
        String::from_utf8_lossy(&done.stdout).trim_end().to_owned()
    }

    /// A database as `pg_dump` writes it.
    ///
    /// # Panics
    /// Where it does not.
    #[must_use]
    pub fn dump(&self, database: &str) -> String {
        let mut command = Command::new(program("pg_dump"));
        command.args(["-U", "postgres", "-d", database, "-h"]).arg(self.folder.path());
        let done = command.args(["-p", &self.port()]).output().expect(INSTALL);
        assert!(done.status.success(), "{}", text(&done));
        String::from_utf8_lossy(&done.stdout).into_owned()
    }

    /// Begins a transaction with this statement, whose locks are held until the value is dropped, which rolls it back.
    ///
    /// # Panics
    /// Where the server does not take it.
    #[must_use]
    pub fn transaction(&self, database: &str, sql: &str) -> Transaction {
        let mut command = self.client(database);
        let mut psql = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect(INSTALL);
        let mut pipe = psql.stdin.take().expect("a pipe");
        writeln!(pipe, "BEGIN; {sql}; SELECT 'begun';").expect("psql listens");
        let mut lines = BufReader::new(psql.stdout.take().expect("a pipe")).lines();
        let begun = lines.any(|line| line.is_ok_and(|line| line == "begun"));
        assert!(begun, "the server does not take {sql}");
        Transaction { psql, pipe: Some(pipe) }
    }

    fn psql(&self, database: &str, sql: &str) -> Output {
        self.client(database).args(["-c", sql]).output().expect(INSTALL)
    }

    fn client(&self, database: &str) -> Command {
        let mut command = Command::new(program("psql"));
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database]);
        command.arg("-h").arg(self.folder.path()).args(["-p", &self.port()]);
        command
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

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(mut server) = self.running.take() {
            signal("CONT", server.id());
            signal("QUIT", server.id());
            let _ = server.wait();
        }
    }
}

fn program(name: &str) -> PathBuf {
    Path::new(PROGRAMS).join(name)
}

/// A program, by a user that PostgreSQL's let run them: they refuse the superuser.
fn as_owner(program: &Path) -> Command {
    if !is_root() {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command.args(["--reuid=postgres", "--regid=postgres", "--clear-groups"]).arg(program).current_dir("/");
    command
}

fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

fn signal(name: &str, process: u32) {
    let _ =
        Command::new("kill").arg(format!("-{name}")).arg(process.to_string()).stderr(Stdio::null()).status();
}

fn children_of(process: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let parent = |child: &u32| {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        // Behind the name in brackets, which may have spaces: state, parent.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    entries.flatten().filter_map(number).filter(|child| parent(child) == Some(process)).collect()
}

fn succeeds(command: &mut Command) {
    let done = command.output().expect(INSTALL);
    assert!(done.status.success(), "{command:?}: {}", text(&done));
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}
