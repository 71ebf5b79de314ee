//! A collector as a process of its own: started, measured, stopped, killed.

use crate::load::LoadError;
use rustix::param::clock_ticks_per_second;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Start of a collector: `{folder}` and `{udp}` in the arguments stand for its folder and the
/// address of its UDP gateway.
#[derive(Clone, Debug)]
pub struct Program {
    /// Program that runs.
    pub path: PathBuf,
    pub arguments: Vec<String>,
}

/// Use of time and memory by a process.
#[derive(Clone, Copy, Debug)]
pub struct Usage {
    /// Processor time, in s.
    pub cpu_s: f64,
    /// Most memory that was resident, in bytes.
    pub most_memory_bytes: u64,
}

/// A collector that runs. It is killed where it is dropped.
pub struct Child {
    process: std::process::Child,
    folder: PathBuf,
}

impl Child {
    /// Starts a collector with its files in a folder.
    ///
    /// # Errors
    /// The program cannot be started.
    pub fn start(program: &Program, folder: &Path, udp: SocketAddr) -> Result<Child, LoadError> {
        let fill = |argument: &String| {
            argument.replace("{folder}", &folder.display().to_string()).replace("{udp}", &udp.to_string())
        };
        let process = Command::new(&program.path)
            .args(program.arguments.iter().map(fill))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(LoadError::io(format!("starting {}", program.path.display())))?;
        Ok(Child { process, folder: folder.to_owned() })
    }

    #[must_use]
    pub fn database(&self) -> PathBuf {
        self.folder.join("load.db")
    }

    /// Fails where it has ended by itself.
    pub(crate) fn alive(&mut self) -> Result<(), LoadError> {
        match self.process.try_wait() {
            Ok(None) => Ok(()),
            Ok(Some(status)) => Err(LoadError::Ended(status.to_string())),
            Err(error) => Err(LoadError::io("the collector's process")(error)),
        }
    }

    /// Returns its use since its start: proc(5).
    ///
    /// # Errors
    /// The system does not tell.
    pub fn usage(&self) -> Result<Usage, LoadError> {
        let read = |name: &str| {
            let path = format!("/proc/{}/{name}", self.process.id());
            fs::read_to_string(&path).map_err(LoadError::io(path))
        };
        let stat = read("stat")?;
        // The name may have blanks; utime and stime are the 12th and 13th fields after it.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<u64>().ok()).unwrap_or(0);
        let cpu_s = (ticks(11) + ticks(12)) as f64 / clock_ticks_per_second() as f64;
        let status = read("status")?;
        let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix("kB"));
        let most_memory_bytes = most.and_then(|kb| kb.trim().parse::<u64>().ok()).unwrap_or(0) * 1024;
        Ok(Usage { cpu_s, most_memory_bytes })
    }

    /// As the power that goes: SIGKILL.
    ///
    /// # Errors
    /// The system's error.
    pub fn kill(&mut self) -> Result<(), LoadError> {
        self.process.kill().map_err(LoadError::io("killing the collector"))?;
        self.process.wait().map(drop).map_err(LoadError::io("killing the collector"))
    }

    /// As `systemctl stop` does: SIGTERM, and it has to end well within 30 s.
    ///
    /// # Errors
    /// [`LoadError::Ended`] where it did not.
    pub fn stop(&mut self) -> Result<(), LoadError> {
        if let Some(pid) = i32::try_from(self.process.id()).ok().and_then(Pid::from_raw) {
            kill_process(pid, Signal::TERM)
                .map_err(|error| LoadError::io("stopping the collector")(error.into()))?;
        }
        let until = Instant::now() + Duration::from_secs(30);
        loop {
            match self.process.try_wait().map_err(LoadError::io("the collector's process"))? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(LoadError::Ended(status.to_string())),
                None if Instant::now() > until => {
                    return Err(LoadError::Ended("it did not within 30 s of SIGTERM".into()));
                }
                None => std::thread::sleep(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
