//! PostgreSQL servers that are heard by sockets in their folder alone. The superuser `postgres`
//! needs no password there: who may enter the folder is let in.

use crate::servers::ServerError;
use crate::servers::process::{Process, children_of, output, send, tail};
use rustix::process::Signal;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

const PROGRAMS: &str = "/usr/lib/postgresql/15/bin";
/// Default port.
const PORT: u16 = 5432;
const PACKAGE: &str = "postgresql-15";
const WITHIN: Duration = Duration::from_secs(60);

/// A server, which runs or does not. It ends with this value, without much ado.
pub struct Postgres {
    /// With its sockets, its log and its files.
    home: PathBuf,
    name: String,
    settings: Vec<String>,
    process: Option<Process>,
}

impl Postgres {
    /// A server without files yet. home: of the user whom PostgreSQL lets run it ([`make_home`]);
    /// several may share it. name: of the folder in it that its files are in. settings:
    /// `NAME=VALUE` of postgresql.conf; `port=` names the socket.
    #[must_use]
    pub fn new(home: &Path, name: &str, settings: &[&str]) -> Postgres {
        let mut postgres =
            Postgres { home: home.to_owned(), name: name.to_owned(), settings: vec![], process: None };
        postgres.set(settings);
        postgres
    }

    /// The same server, only for queries.
    #[must_use]
    pub fn address(&self) -> Postgres {
        let settings = self.settings.clone();
        Postgres { home: self.home.clone(), name: self.name.clone(), settings, process: None }
    }

    /// Settings that it is started with the next time.
    pub fn set(&mut self, settings: &[&str]) {
        self.settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
    }

    #[must_use]
    pub fn home(&self) -> &Path {
        &self.home
    }

    #[must_use]
    pub fn port(&self) -> u16 {
        let port = self.settings.iter().find_map(|setting| setting.strip_prefix("port=")?.parse().ok());
        port.unwrap_or(PORT)
    }

    /// Its files.
    #[must_use]
    pub fn data(&self) -> PathBuf {
        self.home.join(&self.name)
    }

    /// The number of its first process, while it runs.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// Makes its files.
    ///
    /// # Errors
    /// If PostgreSQL is not installed, or fails.
    pub fn initialize(&self) -> Result<(), ServerError> {
        let mut initdb = as_owner(&program("initdb")?);
        initdb.args(["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        output(initdb.arg("-D").arg(self.data())).map(drop)
    }

    /// Takes the files of a server that does not run.
    ///
    /// # Errors
    /// If they cannot be copied.
    pub fn copy(&self, data: &Path) -> Result<(), ServerError> {
        output(as_owner(Path::new("cp")).arg("-a").arg(data).arg(self.data())).map(drop)
    }

    /// Takes a copy of the files of a server that runs, to be its standby; what it had itself is
    /// gone.
    ///
    /// # Errors
    /// If that server gives none.
    pub fn follow(&self, primary: &Postgres) -> Result<(), ServerError> {
        if self.data().exists() {
            fs::remove_dir_all(self.data()).map_err(ServerError::io(self.data().display().to_string()))?;
        }
        let mut backup = as_owner(&program("pg_basebackup")?);
        backup.args(["--checkpoint=fast", "--wal-method=stream", "--write-recovery-conf", "--no-sync", "-D"]);
        backup.arg(self.data()).args(["-U", "postgres", "-p", &primary.port().to_string(), "-h"]);
        output(backup.arg(&primary.home)).map(drop)
    }

    /// Starts it, or starts it again; returns once it answers.
    ///
    /// # Errors
    /// If it does not start.
    pub fn run(&mut self) -> Result<(), ServerError> {
        let mut command = as_owner(&program("postgres")?);
        command.arg("-D").arg(self.data()).arg("-k").arg(&self.home);
        command.args(["-c", "listen_addresses=", "-c", "max_connections=200"]);
        for setting in &self.settings {
            command.args(["-c", setting]);
        }
        let log = self.home.join(format!("{}.log", self.name));
        let number = self.data().join("postmaster.pid");
        let process = self.process.insert(Process::start(&mut command, &log, number)?);
        let (begun, mut over) = (Instant::now(), process.is_over());
        while self.sql("postgres", "SELECT 1").is_err() {
            if over || begun.elapsed() > WITHIN {
                self.process = None;
                let what = format!("the PostgreSQL server {}", self.name);
                return Err(ServerError::Silent { what, log: tail(&log) });
            }
            std::thread::sleep(Duration::from_millis(30));
            over = self.process.as_mut().is_none_or(Process::is_over);
        }
        Ok(())
    }

    /// SIGKILL to all of its processes, as if its machine lost its power but for what the disk has.
    ///
    /// # Errors
    /// The system's error.
    pub fn kill(&mut self) -> Result<(), ServerError> {
        let Some(process) = self.process.take() else { return Ok(()) };
        process.tell(Signal::STOP);
        let children = children_of(process.id());
        for child in &children {
            send(*child, Signal::KILL);
        }
        process.kill()?;
        // It does not start while one of them is there.
        while children.iter().any(|child| Path::new(&format!("/proc/{child}")).exists()) {
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }

    /// Stops it as its administrator does.
    ///
    /// # Errors
    /// The system's error.
    pub fn stop(&mut self) -> Result<(), ServerError> {
        let Some(mut process) = self.process.take() else { return Ok(()) };
        process.tell(Signal::INT);
        process.wait()
    }

    /// Holds all of its processes, as a machine that hangs, or lets them go on.
    pub fn hold(&self, hold: bool) {
        let Some(own) = self.id() else { return };
        for process in children_of(own).into_iter().chain([own]) {
            send(process, if hold { Signal::STOP } else { Signal::CONT });
        }
    }

    /// Takes a change of its files of settings.
    pub fn reload(&self) {
        if let Some(process) = &self.process {
            process.tell(Signal::HUP);
        }
    }

    /// Makes a standby a primary; returns once it takes writes.
    ///
    /// # Errors
    /// If it is no standby.
    pub fn promote(&self) -> Result<(), ServerError> {
        self.sql("postgres", "SELECT pg_promote(true, 60)").map(drop)
    }

    /// Runs statements by `psql`. Returns the rows, a line each.
    ///
    /// # Errors
    /// If the server does not take the statements.
    pub fn sql(&self, database: &str, sql: &str) -> Result<String, ServerError> {
        output(self.client(database)?.args(["-c", sql]))
    }

    /// `psql` with a database, as rows without ornament.
    ///
    /// # Errors
    /// If it is not installed.
    pub fn client(&self, database: &str) -> Result<Command, ServerError> {
        let mut command = Command::new(program("psql")?);
        command.args(["-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-U", "postgres", "-d", database]);
        command.arg("-h").arg(&self.home).args(["-p", &self.port().to_string()]);
        Ok(command)
    }

    /// Its socket, as a URL has it.
    #[must_use]
    pub fn host(&self) -> String {
        let home = self.home.display().to_string().replace('/', "%2F");
        if self.port() == PORT { home } else { format!("{home}:{}", self.port()) }
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        if let Some(mut process) = self.process.take() {
            self.process = None;
            process.tell(Signal::CONT);
            for child in children_of(process.id()) {
                send(child, Signal::CONT);
            }
            process.tell(Signal::QUIT);
            let _ = process.wait();
        }
    }
}

/// Makes a folder that servers can have as their home.
///
/// # Errors
/// If it cannot be made, or PostgreSQL is not installed.
pub fn make_home(path: &Path) -> Result<(), ServerError> {
    program("postgres")?;
    if !path.exists() {
        let made = DirBuilder::new().mode(0o700).create(path);
        made.map_err(ServerError::io(path.display().to_string()))?;
    }
    give(path)
}

/// Gives a file to the user whom PostgreSQL lets run it.
///
/// # Errors
/// If the system refuses.
pub fn give(path: &Path) -> Result<(), ServerError> {
    if is_root() {
        output(Command::new("chown").arg("postgres:postgres").arg(path))?;
    }
    Ok(())
}

/// One of PostgreSQL's programs.
///
/// # Errors
/// If it is not installed.
pub fn program(name: &str) -> Result<PathBuf, ServerError> {
    let path = Path::new(PROGRAMS).join(name);
    if !path.exists() {
        return Err(ServerError::Missing { program: path.display().to_string(), package: PACKAGE });
    }
    Ok(path)
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
