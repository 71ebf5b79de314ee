//! A folder for servers that tests start: both go with the process that made it, whatever ends that.

use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Reads from a pipe that nobody writes to before the end: after it, no server is there whose process number is in a file of the folder, and
/// no folder.
const KEEPER: &str = r#"read -r _
for file in "$1"/*.pid "$1"/*/*.pid; do
    pid=$(head -n 1 "$file" 2>/dev/null)
    [ -n "$pid" ] || continue
    kill -CONT "$pid"; kill -QUIT "$pid"
    while kill -0 "$pid"; do sleep 0.05; done
done
rm -rf "$1""#;

/// The folder. With this value it goes, too: by then its owner has ended the servers.
pub(crate) struct ServerFolder {
    path: PathBuf,
    keeper: Child,
}

impl ServerFolder {
    /// Makes one for servers of this kind, which write the numbers of their processes to `*.pid` in it, or in a folder of it.
    pub(crate) fn make(kind: &str) -> ServerFolder {
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("wattseal-{kind}-{}-{number}", std::process::id()));
        fs::create_dir(&path).expect("a folder");
        // In a group of its own, which Ctrl-C does not reach.
        let keeper = Command::new("sh")
            .args(["-c", KEEPER, "keeper"])
            .arg(&path)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("sh");
        ServerFolder { path, keeper }
    }

    pub(crate) fn path(&self) -> &Path {
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
