//! A proxy between a collector and its server, which cuts a connection at a given message, or
//! stands still.

use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::thread::sleep;
use std::time::Duration;
use tempfile::TempDir;

/// A server's socket in another folder.
pub struct Proxy {
    folder: TempDir,
    /// The next commit goes through, and its answer does not.
    armed: Arc<AtomicBool>,
    cuts: Arc<AtomicU32>,
    /// The delay in ms of all that follows the next beginning of a transaction.
    late_ms: Arc<AtomicU64>,
}

impl Proxy {
    pub fn of(server: &Path) -> Proxy {
        let folder = tempfile::tempdir().expect("a folder");
        let listener = UnixListener::bind(folder.path().join(".s.PGSQL.5432")).expect("a socket");
        let (armed, cuts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU32::new(0)));
        let late_ms = Arc::<AtomicU64>::default();
        let late_ms_too = Arc::clone(&late_ms);
        let server: PathBuf = server.join(".s.PGSQL.5432");
        let (armed_too, cuts_too) = (Arc::clone(&armed), Arc::clone(&cuts));
        std::thread::spawn(move || {
            for client in listener.incoming() {
                let (Ok(client), Ok(server)) = (client, UnixStream::connect(&server)) else { return };
                carry(client, server, (&armed_too, &cuts_too), &late_ms_too);
            }
        });
        Proxy { folder, armed, cuts, late_ms }
    }

    /// The URL of a database by way of it.
    pub fn url(&self, database: &str) -> String {
        let host = self.folder.path().display().to_string().replace('/', "%2F");
        format!("postgres://postgres@{host}/{database}")
    }

    /// Lets the next commit through, and cuts its connection before the answer.
    pub fn cut_after_commit(&self) {
        self.armed.store(true, Ordering::SeqCst);
    }

    /// Stands still for that time once a transaction is begun the next time: the server hears
    /// nothing more of it.
    pub fn stand_still_after_begin(&self, within: Duration) {
        self.late_ms.store(within.as_millis() as u64, Ordering::SeqCst);
    }

    pub fn cuts(&self) -> u32 {
        self.cuts.load(Ordering::SeqCst)
    }
}

/// It takes no more connections.
impl Drop for Proxy {
    fn drop(&mut self) {
        let _ = fs::remove_file(self.folder.path().join(".s.PGSQL.5432"));
    }
}

fn carry(
    client: UnixStream,
    server: UnixStream,
    (armed, cuts): (&Arc<AtomicBool>, &Arc<AtomicU32>),
    late_ms: &Arc<AtomicU64>,
) {
    let (mut from_client, mut to_server) =
        (client.try_clone().expect("a socket"), server.try_clone().expect("a socket"));
    let (mut from_server, mut to_client) = (server, client);
    let (armed, cuts) = (Arc::clone(armed), Arc::clone(cuts));
    let silent = Arc::new(AtomicBool::new(false));
    let silent_too = Arc::clone(&silent);
    let late_ms = Arc::clone(late_ms);
    std::thread::spawn(move || {
        let (mut bytes, mut late) = ([0; 1 << 16], Duration::ZERO);
        while let Ok(length @ 1..) = from_client.read(&mut bytes) {
            let commit = bytes[..length].windows(6).any(|word| word == b"COMMIT");
            if commit && armed.swap(false, Ordering::SeqCst) {
                silent_too.store(true, Ordering::SeqCst);
                cuts.fetch_add(1, Ordering::SeqCst);
            }
            sleep(std::mem::take(&mut late));
            if bytes[..length].windows(5).any(|word| word == b"BEGIN") {
                late = Duration::from_millis(late_ms.swap(0, Ordering::SeqCst));
            }
            if to_server.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(Shutdown::Both);
    });
    std::thread::spawn(move || {
        let mut bytes = [0; 1 << 16];
        while let Ok(length @ 1..) = from_server.read(&mut bytes) {
            // The answer is there: it was done, and nobody hears of it.
            if silent.load(Ordering::SeqCst) || to_client.write_all(&bytes[..length]).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(Shutdown::Both);
        let _ = from_server.shutdown(Shutdown::Both);
    });
}
