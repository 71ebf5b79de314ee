//! A folder for servers: both go with the process that made it, whatever ends that.

use crate::servers::ServerError;
use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads from a pipe that nobody writes to before the end: after it, no process is there whose
/// number is in a file of the folder, and no folder. A server of PostgreSQL ends its own processes
/// at SIGQUIT; what does not end by it is killed.
const KEEPER: &str = r#"read -r _
for file in "$1"/*.pid "$1"/*/*.pid "$1"/*/*/*.pid; do
    pid=$(head -n 1 "$file" 2>/dev/null)
    [ -n "$pid" ] || continue
    kill -CONT "$pid"; kill -QUIT "$pid"
    tries=0
    while kill -0 "$pid"; do
        sleep 0.05
        tries=$((tries + 1))
        [ "$tries" -ne 200 ] || kill -KILL "$pid"
    done
done
rm -rf "$1""#;

/// The folder. With this value it goes, too: by then its owner has ended the processes.
pub struct ServerFolder {
    path: PathBuf,
    keeper: Child,
}

impl ServerFolder {
    /// Makes one for processes of this kind, which write their numbers to `*.pid` in it, or at most
    /// two folders below it. Others on this machine may look for what they know the name of, and
    /// list nothing.
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn make(kind: &str) -> Result<ServerFolder, ServerError> {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wattseal-{kind}-{}-{number}", std::process::id()));
        DirBuilder::new().mode(0o711).create(&path).map_err(ServerError::io(path.display().to_string()))?;
        // In a group of its own, which Ctrl-C does not reach.
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&path)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(ServerError::io("sh"))?;
        Ok(ServerFolder { path, keeper })
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for ServerFolder {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.keeper.stdin.take() {
            let _ = pipe.write_all(b"\n");
        }
        let _ = self.keeper.wait();
    }
}
