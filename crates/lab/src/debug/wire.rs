//! The connection to gdb.

use gdbstub::conn::Connection;
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

/// Interval between two checks whether the run is to end.
const PATIENCE: Duration = Duration::from_millis(100);

/// One gdb, whose packets are sent whole: gdbstub writes them byte by byte.
pub(super) struct Wire {
    stream: TcpStream,
    out: Vec<u8>,
}

impl Wire {
    /// Waits for a gdb; `None` where the run is to end before one comes.
    pub fn accept(listener: &TcpListener, interrupted: impl Fn() -> bool) -> Result<Option<Wire>> {
        listener.set_nonblocking(true)?;
        while !interrupted() {
            match listener.accept() {
                Ok((stream, _)) => {
                    stream.set_nonblocking(false)?;
                    stream.set_nodelay(true)?;
                    stream.set_read_timeout(Some(PATIENCE))?;
                    return Ok(Some(Wire { stream, out: Vec::new() }));
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PATIENCE / 10),
                Err(error) => return Err(error),
            }
        }
        Ok(None)
    }

    /// The next byte, for which it waits some time; `None` where none came.
    pub fn read(&mut self) -> Result<Option<u8>> {
        let mut byte = [0];
        match self.stream.read(&mut byte) {
            Ok(0) => Err(Error::from(ErrorKind::UnexpectedEof)),
            Ok(_) => Ok(Some(byte[0])),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Ok(None),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A byte that is there already.
    pub fn read_waiting(&mut self) -> Result<Option<u8>> {
        self.stream.set_nonblocking(true)?;
        let byte = self.read();
        self.stream.set_nonblocking(false)?;
        byte
    }
}

impl Connection for Wire {
    type Error = Error;

    fn write(&mut self, byte: u8) -> Result<()> {
        self.out.push(byte);
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        let sent = Write::write_all(&mut self.stream, &self.out);
        self.out.clear();
        sent
    }
}
