//! A program's UART as a serial port of this machine: a pseudo-terminal, or a TCP connection.

use lab::LabError;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{OptionalActions, tcgetattr, tcsetattr};
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// Time between two looks for a connection and for Ctrl-C.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The longest wait for a peer that does not read.
const LONGEST_REST: Duration = Duration::from_secs(1);

/// Connection of a UART, as the command line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    /// A pseudo-terminal.
    Pty,
    /// A TCP port of this machine.
    Tcp(u16),
}

impl Peer {
    /// Reads `pty` or `tcp:4000`.
    pub(crate) fn read(text: &str) -> Result<Peer, LabError> {
        let port = text.strip_prefix("tcp:").and_then(|port| port.parse().ok());
        match (text, port) {
            ("pty", _) => Ok(Peer::Pty),
            (_, Some(port)) => Ok(Peer::Tcp(port)),
            _ => Err(LabError::Usage(format!(
                "--uart: '{text}' is no connection; write USART0=pty, or USART0=tcp:4000"
            ))),
        }
    }
}

/// A serial port that is open, for what the program sends.
pub(crate) enum SerialPort {
    /// The master, and the slave, which stays open so that the terminal outlives its users.
    Pty(File, OwnedFd),
    /// The present connection, if there is one.
    Tcp(Arc<Mutex<Option<TcpStream>>>),
}

impl SerialPort {
    /// Opens the port of a UART, and says where it is. A TCP port waits for its first connection.
    /// Returns it with the source of its peer's bytes.
    ///
    /// # Errors
    /// A terminal or a port that cannot be had; Ctrl-C.
    pub(crate) fn open(
        uart: &str,
        peer: Peer,
        interrupted: &AtomicBool,
    ) -> Result<(SerialPort, Receiver<Vec<u8>>), LabError> {
        let (sender, input) = mpsc::channel();
        let failed = |what: &str, error: std::io::Error| {
            LabError::Unfinished(format!("--uart {uart}: {what} cannot be opened: {error}"))
        };
        let port = match peer {
            Peer::Pty => {
                let (master, slave, path) =
                    terminal().map_err(|error| failed("a pseudo-terminal", error.into()))?;
                eprintln!("wattseal: {uart} is at {path}");
                let reader = master.try_clone().map_err(|error| failed("a pseudo-terminal", error))?;
                thread::spawn(move || pass(reader, &sender));
                SerialPort::Pty(master, slave)
            }
            Peer::Tcp(port) => {
                let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
                let listener =
                    TcpListener::bind(address).map_err(|error| failed(&address.to_string(), error))?;
                let address = listener.local_addr().unwrap_or(address);
                eprintln!("wattseal: {uart} waits for a connection at {address}");
                let first = accept(&listener, interrupted).map_err(|error| failed("a connection", error))?;
                let connection = Arc::new(Mutex::new(first.try_clone().ok()));
                let shared = Arc::clone(&connection);
                thread::spawn(move || serve(&listener, first, &shared, &sender));
                SerialPort::Tcp(connection)
            }
        };
        Ok((port, input))
    }

    /// Sends bytes to the peer. Without one they are lost, as at a board's open connector.
    pub(crate) fn send(&mut self, bytes: &[u8]) {
        match self {
            SerialPort::Pty(master, _) => {
                let _ = master.write_all(bytes);
            }
            SerialPort::Tcp(connection) => {
                let mut connection = connection.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(stream) = connection.as_mut()
                    && stream.write_all(bytes).is_err()
                {
                    *connection = None;
                }
            }
        }
    }
}

impl Drop for SerialPort {
    /// Waits until the terminal's peer has read what was sent: the rest is lost with the terminal.
    fn drop(&mut self) {
        let SerialPort::Pty(_, slave) = self else { return };
        let until = Instant::now() + LONGEST_REST;
        while has_unread(slave) && Instant::now() < until {
            thread::sleep(LOOK_EVERY);
        }
    }
}

/// A pseudo-terminal that passes on bytes as they are, and the path of its slave.
fn terminal() -> rustix::io::Result<(File, OwnedFd, String)> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    let path = ptsname(&master, Vec::new())?.to_string_lossy().into_owned();
    let slave = rustix::fs::open(&*path, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    let mut settings = tcgetattr(&slave)?;
    settings.make_raw();
    tcsetattr(&slave, OptionalActions::Now, &settings)?;
    Ok((File::from(master), slave, path))
}

/// Returns true if bytes of the master wait in the slave. Linux hands them over on another thread:
/// poll(2) waits for it, FIONREAD does not.
fn has_unread(slave: &OwnedFd) -> bool {
    let mut slave = [PollFd::new(slave, PollFlags::IN)];
    poll(&mut slave, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
}

/// Waits for a connection.
fn accept(listener: &TcpListener, interrupted: &AtomicBool) -> std::io::Result<TcpStream> {
    listener.set_nonblocking(true)?;
    loop {
        match listener.accept() {
            Ok((stream, _)) => {
                listener.set_nonblocking(false)?;
                stream.set_nonblocking(false)?;
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error),
            Err(_) if interrupted.load(Ordering::Relaxed) => return Err(ErrorKind::Interrupted.into()),
            Err(_) => thread::sleep(LOOK_EVERY),
        }
    }
}

/// Passes on what connections send, one after the other.
fn serve(
    listener: &TcpListener,
    mut stream: TcpStream,
    connection: &Mutex<Option<TcpStream>>,
    sender: &Sender<Vec<u8>>,
) {
    loop {
        if !pass(&stream, sender) {
            return;
        }
        *connection.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let Ok((next, _)) = listener.accept() else { return };
        stream = next;
        *connection.lock().unwrap_or_else(PoisonError::into_inner) = stream.try_clone().ok();
    }
}

/// Passes on what comes, until it ends; false where nobody takes it any more.
fn pass(mut from: impl Read, sender: &Sender<Vec<u8>>) -> bool {
    let mut piece = [0; 256];
    while let Ok(length @ 1..) = from.read(&mut piece) {
        if sender.send(piece[..length].to_vec()).is_err() {
            return false;
        }
    }
    true
}
