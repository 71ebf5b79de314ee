//! One process: its log, the file with its number, its signals.

use crate::servers::ServerError;
use rustix::process::{Pid, Signal, kill_process};
use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Of a log so much is shown.
const TAIL_BYTES: i64 = 2000;

/// A process that runs. It is killed with this value.
pub struct Process {
    child: Child,
    /// With its number; goes with it, because the number may be another's then.
    number: PathBuf,
}

impl Process {
    /// Starts it, its log behind what there is in a file. number: where its number is written to,
    /// or where it writes it itself.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(command: &mut Command, log: &Path, number: PathBuf) -> Result<Process, ServerError> {
        let program = || command_name(command);
        let failed = ServerError::io(program());
        let opened = File::options().create(true).append(true).open(log);
        let file = opened.map_err(ServerError::io(log.display().to_string()))?;
        let same = file.try_clone().map_err(ServerError::io(log.display().to_string()))?;
        // In a group of its own, which Ctrl-C does not reach: who started it ends it.
        command.process_group(0);
        let child = command.stdin(Stdio::null()).stdout(same).stderr(file).spawn().map_err(failed)?;
        Ok(Process { child, number })
    }

    /// The same, for one that does not write its number itself.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start_numbered(
        command: &mut Command,
        log: &Path,
        number: PathBuf,
    ) -> Result<Process, ServerError> {
        let process = Process::start(command, log, number)?;
        let written = fs::write(&process.number, format!("{}\n", process.id()));
        written.map_err(ServerError::io(process.number.display().to_string()))?;
        Ok(process)
    }

    #[must_use]
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Returns true if it has ended.
    pub fn is_over(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Tells it, while it is there.
    pub fn tell(&self, signal: Signal) {
        send(self.child.id(), signal);
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// The system's error.
    pub fn wait(&mut self) -> Result<(), ServerError> {
        let ended = self.child.wait().map(drop).map_err(ServerError::io("waiting for a process"));
        let _ = fs::remove_file(&self.number);
        ended
    }

    /// SIGKILL: as if its power went.
    ///
    /// # Errors
    /// The system's error.
    pub fn kill(mut self) -> Result<(), ServerError> {
        self.tell(Signal::KILL);
        self.wait()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Ok(None) = self.child.try_wait() {
            let _ = self.child.kill();
        }
        let _ = self.wait();
    }
}

/// Sends a signal to a process, if it is there.
pub fn send(process: u32, signal: Signal) {
    if let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) {
        let _ = kill_process(process, signal);
    }
}

/// Processes whose parent it is.
#[must_use]
pub fn children_of(process: u32) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let parent = |child: &u32| {
        let stat = fs::read_to_string(format!("/proc/{child}/stat")).ok()?;
        // Behind the name in brackets, which may have spaces: state, parent.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    entries.flatten().filter_map(number).filter(|child| parent(child) == Some(process)).collect()
}

/// Returns the end of a log.
#[must_use]
pub fn tail(log: &Path) -> String {
    let read = || {
        let mut file = File::open(log)?;
        let length = i64::try_from(file.metadata()?.len()).unwrap_or(TAIL_BYTES);
        file.seek(SeekFrom::End(-length.min(TAIL_BYTES)))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok::<_, std::io::Error>(String::from_utf8_lossy(&bytes).trim().to_owned())
    };
    read().unwrap_or_default()
}

pub(crate) fn command_name(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

/// Runs a program to its end. Returns what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, ServerError> {
    command.process_group(0);
    let done = command.stdin(Stdio::null()).output().map_err(ServerError::io(command_name(command)))?;
    if !done.status.success() {
        let said =
            [done.stderr, done.stdout].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let arguments: Vec<_> = command.get_args().map(|argument| argument.to_string_lossy()).collect();
        let program = format!("{} {}", command_name(command), arguments.join(" "));
        return Err(ServerError::Failed { program, said: said.trim().to_owned() });
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim_end().to_owned())
}
