//! A bootloader at a serial port.

use crate::UpdateError;
use crate::loader::{BAUD, Deframer, Status, Transfer, status_of, status_request};
use rustix::fs::OFlags;
use rustix::termios::{OptionalActions, SpecialCodeIndex, tcgetattr, tcsetattr};
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Interval of status requests while the bootloader does not answer: it listens for 0.2 s.
const ASK: Duration = Duration::from_millis(50);
/// A frame of 256 bytes takes 25 ms each way; three sectors take 6 s to be erased at most, and 400
/// kB 1 s to be verified.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// Number of times that a request is sent before it is given up.
const ATTEMPTS: usize = 3;

/// A bootloader at a port, such as /dev/ttyUSB0.
pub struct Port {
    path: PathBuf,
    file: File,
    deframer: Deframer,
}

/// Opens a serial port: 8 bits, no parity, one stop bit. A read ends after a tenth of a second
/// without a byte.
///
/// # Errors
/// The system's; a file that is no serial port.
pub fn open(path: &Path, baud: u32) -> std::io::Result<File> {
    let flags = OFlags::NOCTTY.bits() as i32;
    let file = OpenOptions::new().read(true).write(true).custom_flags(flags).open(path)?;
    let mut settings =
        tcgetattr(&file).map_err(|error| std::io::Error::other(format!("no serial port: {error}")))?;
    settings.make_raw();
    settings.set_speed(baud)?;
    settings.special_codes[SpecialCodeIndex::VMIN] = 0;
    settings.special_codes[SpecialCodeIndex::VTIME] = 1;
    tcsetattr(&file, OptionalActions::Flush, &settings)?;
    Ok(file)
}

impl Port {
    /// Opens the port at 115,200 baud.
    ///
    /// # Errors
    /// [`UpdateError::File`]
    pub fn open(path: &Path) -> Result<Port, UpdateError> {
        let file = open(path, BAUD).map_err(|error| UpdateError::File { path: path.into(), error })?;
        Ok(Port { path: path.into(), file, deframer: Deframer::default() })
    }

    fn failed(&self, error: std::io::Error) -> UpdateError {
        UpdateError::File { path: self.path.clone(), error }
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), UpdateError> {
        self.file.write_all(bytes).map_err(|error| self.failed(error))
    }

    /// The next frame, where one comes in time.
    fn receive(&mut self, within: Duration) -> Result<Option<Vec<u8>>, UpdateError> {
        let end = Instant::now() + within;
        let mut byte = [0];
        while Instant::now() < end {
            match self.file.read(&mut byte) {
                Ok(0) => {}
                Ok(_) => {
                    if let Some(frame) = self.deframer.take(byte[0]) {
                        return Ok(Some(frame));
                    }
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(self.failed(error)),
            }
        }
        Ok(None)
    }

    /// Waits until the bootloader answers, and says what it is.
    ///
    /// # Errors
    /// [`UpdateError::Silent`], [`UpdateError::File`].
    pub fn status(&mut self, within: Duration) -> Result<Status, UpdateError> {
        let end = Instant::now() + within;
        while Instant::now() < end {
            self.send(&status_request())?;
            if let Some(status) = self.receive(ASK)?.and_then(|frame| status_of(&frame)) {
                return Ok(status);
            }
        }
        Err(UpdateError::Silent)
    }

    /// Sends an image, and has it run on trial. `progress` is told of the bytes that are there, and
    /// of all.
    ///
    /// # Errors
    /// [`UpdateError::Rejected`], [`UpdateError::Silent`], [`UpdateError::File`].
    pub fn transfer(
        &mut self,
        image: &[u8],
        mut progress: impl FnMut(usize, usize),
    ) -> Result<(), UpdateError> {
        let mut transfer = Transfer::of_signed(image)?;
        let mut attempts = 0;
        while let Some(request) = transfer.request() {
            if attempts == ATTEMPTS {
                return Err(UpdateError::Silent);
            }
            attempts += 1;
            self.send(&request)?;
            if let Some(answer) = self.receive(ANSWER_WITHIN)? {
                transfer.answer(&answer)?;
                attempts = if transfer.request().as_ref() == Some(&request) { attempts } else { 0 };
                let (there, all) = transfer.progress();
                progress(there, all);
            }
        }
        Ok(())
    }
}
