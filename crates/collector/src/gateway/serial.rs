//! A serial line to an RFM12Pi, RFM69Pi or JeeLink: radio packets as lines of text, as emonHub
//! speaks it ([`text`]).
//!
//! The board's node number has to be that of the meters' collector address (0x4f: node 15, as
//! emonHub sets it), or 31, and its group and band theirs; it keeps both itself.

pub mod text;

use super::{GatewayId, Gateways, HeardPacket, Route, Transmit};
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use text::{Lines, Said};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_serial::{SerialPortBuilderExt, SerialStream};

/// The baud rate of emonHub's boards.
pub const DEFAULT_BAUD: u32 = 38_400;
/// Packets that wait to be sent at most; others are lost, as by radio.
const WAITING_MAX: usize = 64;
/// After a line was lost, or could not be opened.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The board's time to send, and to wait for a free channel, beyond the serial line's time.
const SENT_WITHIN: Duration = Duration::from_millis(250);
/// Attempts while others are on the air, and the time between them.
const ATTEMPTS_MAX: u32 = 5;
const BUSY_FOR: Duration = Duration::from_millis(20);
/// The time after which a line that takes nothing is lost.
const WRITTEN_WITHIN: Duration = Duration::from_secs(5);

/// A serial line: `DEVICE` or `DEVICE:BAUD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SerialLine {
    /// Such as `/dev/ttyAMA0`.
    pub device: PathBuf,
    /// Bits a second.
    pub baud: u32,
}

impl FromStr for SerialLine {
    type Err = String;

    fn from_str(text: &str) -> Result<SerialLine, String> {
        SerialLine::parse(text, DEFAULT_BAUD)
    }
}

impl SerialLine {
    /// Parses a line whose baud rate is this one, where none is written.
    ///
    /// # Errors
    /// A sentence: no device, or a baud rate that no line has.
    pub fn parse(text: &str, default_baud: u32) -> Result<SerialLine, String> {
        let (device, baud) = match text.rsplit_once(':') {
            // A device's own name may have colons: /dev/serial/by-path/platform-xhci:1.0.
            Some((device, baud)) if !baud.is_empty() && baud.bytes().all(|c| c.is_ascii_digit()) => {
                (device, baud.parse().ok().filter(|baud| (300..=4_000_000).contains(baud)))
            }
            _ => (text, Some(default_baud)),
        };
        let baud = baud.ok_or("the baud rate has to be 300 to 4000000, as in /dev/ttyAMA0:38400")?;
        if device.is_empty() {
            return Err("name the device, as in /dev/ttyAMA0:38400".into());
        }
        Ok(SerialLine { device: device.into(), baud })
    }
}

/// A gateway at a serial line, until it is dropped.
#[derive(Debug)]
pub struct SerialGateway {
    id: GatewayId,
    task: JoinHandle<()>,
}

impl SerialGateway {
    /// Opens the line, and does so again whenever it was lost. `hear` takes what is heard, without
    /// waiting. Needs a tokio runtime.
    pub fn start(
        line: SerialLine,
        gateways: &Gateways,
        hear: impl Fn(HeardPacket) + Send + Sync + 'static,
    ) -> SerialGateway {
        let (waiting, to_send) = mpsc::channel(WAITING_MAX);
        let id = gateways.attach(Arc::new(Sender(waiting)));
        let route = Route { gateway: id, peer: None };
        let hear = move |bytes, rssi_dbm| hear(HeardPacket { route, bytes, rssi_dbm });
        SerialGateway { id, task: tokio::spawn(serve(line, to_send, hear)) }
    }

    /// Its name among the gateways.
    #[must_use]
    pub fn id(&self) -> GatewayId {
        self.id
    }
}

impl Drop for SerialGateway {
    fn drop(&mut self) {
        self.task.abort();
    }
}

struct Sender(mpsc::Sender<Vec<u8>>);

impl Transmit for Sender {
    fn transmit(&self, _: Route, packets: &[Vec<u8>]) {
        for packet in packets {
            // No room: lost, as by radio.
            let _ = self.0.try_send(packet.clone());
        }
    }
}

async fn serve(line: SerialLine, mut to_send: mpsc::Receiver<Vec<u8>>, hear: impl Fn(Vec<u8>, Option<i8>)) {
    let device = line.device.display();
    let mut said = false;
    loop {
        match tokio_serial::new(line.device.to_string_lossy(), line.baud).open_native_async() {
            Ok(port) => {
                tracing::info!(%device, baud = line.baud, "serial line open");
                let error = talk(port, line.baud, &mut to_send, &hear).await;
                tracing::warn!(%device, %error, "serial line lost; trying again each second");
                said = true;
            }
            Err(error) if !said => {
                tracing::warn!(%device, %error, "serial line cannot be opened; trying again each second. Is the board \
                    plugged in, is this user in group dialout, is another program at it?");
                said = true;
            }
            Err(_) => {}
        }
        sleep(AGAIN_AFTER).await;
        // Waiting packets are of no use any more: they were sent again, or will be.
        while to_send.try_recv().is_ok() {}
    }
}

/// A packet that the board was given, and did not say to have sent yet.
struct Pending {
    text: String,
    attempts: u32,
    until: Instant,
    busy: bool,
}

/// Until the line is lost.
async fn talk(
    mut port: SerialStream,
    baud: u32,
    to_send: &mut mpsc::Receiver<Vec<u8>>,
    hear: &impl Fn(Vec<u8>, Option<i8>),
) -> std::io::Error {
    let mut lines = Lines::default();
    let mut buffer = [0; 1024];
    let mut pending: Option<Pending> = None;
    if let Err(error) = write(&mut port, text::QUIET).await {
        return error;
    }
    loop {
        let until = pending.as_ref().map(|pending| pending.until);
        tokio::select! {
            read = port.read(&mut buffer) => {
                let bytes = match read {
                    Ok(0) => return std::io::ErrorKind::UnexpectedEof.into(),
                    Ok(count) => &buffer[..count],
                    Err(error) => return error,
                };
                lines.take(bytes, |line| match text::parse(line) {
                    Said::Heard { bytes, rssi_dbm } => hear(bytes, rssi_dbm),
                    Said::Sent => pending = None,
                    Said::Busy => if let Some(pending) = &mut pending {
                        pending.until = Instant::now() + BUSY_FOR;
                        pending.busy = true;
                    },
                    Said::Other => {}
                });
            }
            packet = to_send.recv(), if pending.is_none() => {
                // The other end lives in the gateways' list.
                let Some(packet) = packet else { return std::io::ErrorKind::BrokenPipe.into() };
                let Some(text) = text::sending(&packet) else {
                    tracing::debug!(?packet, "no RFM12B packet: byte 0 has to be 0x40 and a node, 1 to 31");
                    continue;
                };
                pending = Some(match give(&mut port, text, 1, baud).await {
                    Ok(pending) => pending,
                    Err(error) => return error,
                });
            }
            () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {
                // Either the board was busy, or it did not say what became of the packet, as an old
                // one.
                pending = match pending.take() {
                    Some(Pending { text, attempts, busy: true, .. }) if attempts < ATTEMPTS_MAX => {
                        match give(&mut port, text, attempts + 1, baud).await {
                            Ok(pending) => Some(pending),
                            Err(error) => return error,
                        }
                    }
                    _ => None,
                };
            }
        }
    }
}

async fn give(port: &mut SerialStream, text: String, attempts: u32, baud: u32) -> std::io::Result<Pending> {
    write(port, &text).await?;
    // Ten bits a character.
    let line = Duration::from_secs_f64(10.0 * text.len() as f64 / f64::from(baud));
    Ok(Pending { text, attempts, until: Instant::now() + line + SENT_WITHIN, busy: false })
}

async fn write(port: &mut SerialStream, text: &str) -> std::io::Result<()> {
    match timeout(WRITTEN_WITHIN, port.write_all(text.as_bytes())).await {
        Ok(written) => written,
        Err(_) => Err(std::io::ErrorKind::TimedOut.into()),
    }
}
