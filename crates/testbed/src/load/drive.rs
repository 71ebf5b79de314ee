//! Sends and hears for all meters by one socket.

use crate::load::meters::Fleet;
use crate::load::{Child, LoadError};
use collector::gateway::udp;
use socket2::{Domain, Socket, Type};
use std::collections::VecDeque;
use std::net::{SocketAddr, UdpSocket};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};
use wire::meter::Packet;

/// Without an acknowledgement for so long a report is sent again.
const RESEND_AFTER: Duration = Duration::from_millis(1500);
/// Interval at which the collector's process is checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// An address on this machine that is free.
pub(crate) fn free_address() -> Result<SocketAddr, LoadError> {
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(LoadError::io("a UDP socket"))?;
    socket.local_addr().map_err(LoadError::io("a UDP socket"))
}

/// Waits of reports for their acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub struct Latency {
    /// Half of them shorter, in ms.
    pub p50_ms: f64,
    /// 99 of 100 shorter, in ms.
    pub p99_ms: f64,
}

impl Latency {
    /// Latency of these waits, in µs, which are sorted for it.
    pub(crate) fn of(waits_us: &mut [u32]) -> Latency {
        waits_us.sort_unstable();
        let at = |share: f64| {
            let last = waits_us.len().saturating_sub(1);
            let at = (share * last as f64).round() as usize;
            waits_us.get(at).map_or(0.0, |us| f64::from(*us) / 1000.0)
        };
        Latency { p50_ms: at(0.5), p99_ms: at(0.99) }
    }
}

/// The meters and the socket.
pub struct Drive {
    fleet: Fleet,
    socket: UdpSocket,
    address: SocketAddr,
    /// When each meter sent its report first, and when last.
    sent: Vec<(Instant, Instant)>,
    /// Meters by the time of their last sending, oldest first: one entry a sending.
    waiting: VecDeque<(Instant, usize)>,
    latencies_us: Vec<u32>,
    acknowledged: u64,
    resent: u64,
    pace: Option<Pace>,
}

/// New reports at a rate, and not as fast as they are acknowledged.
struct Pace {
    every: Duration,
    next: Instant,
    /// Meters that have nothing under way, the longest first.
    idle: VecDeque<usize>,
}

impl Drive {
    /// For a collector with a UDP gateway at an address.
    ///
    /// # Errors
    /// The system's error on sockets.
    pub fn new(fleet: Fleet, address: SocketAddr) -> Result<Drive, LoadError> {
        let what = "a UDP socket";
        let socket =
            Socket::new(Domain::for_address(address), Type::DGRAM, None).map_err(LoadError::io(what))?;
        // The system gives as much as it allows.
        let _ = socket.set_recv_buffer_size(8 << 20);
        let any: SocketAddr =
            if address.is_ipv4() { ([127, 0, 0, 1], 0).into() } else { ([0; 16], 0).into() };
        socket.bind(&any.into()).map_err(LoadError::io(what))?;
        let socket = UdpSocket::from(socket);
        socket.set_read_timeout(Some(Duration::from_millis(1))).map_err(LoadError::io(what))?;
        let now = Instant::now();
        let sent = vec![(now, now); fleet.meters.len()];
        let (waiting, latencies_us) = (VecDeque::new(), Vec::new());
        Ok(Drive {
            fleet,
            socket,
            address,
            sent,
            waiting,
            latencies_us,
            acknowledged: 0,
            resent: 0,
            pace: None,
        })
    }

    #[must_use]
    pub fn fleet(&self) -> &Fleet {
        &self.fleet
    }

    /// Reports that were acknowledged since [`Drive::forget`].
    #[must_use]
    pub fn acknowledged(&self) -> u64 {
        self.acknowledged
    }

    /// Reports that were sent again.
    #[must_use]
    pub fn resent(&self) -> u64 {
        self.resent
    }

    /// Returns the waits since [`Drive::forget`].
    #[must_use]
    pub fn latency(&mut self) -> Latency {
        Latency::of(&mut self.latencies_us)
    }

    /// Sets the rate of new reports, which holds as long as there are meters that have none under
    /// way.
    pub fn set_rate(&mut self, per_s: NonZeroU32) {
        let every = Duration::from_secs(1) / per_s.get();
        self.pace = Some(Pace { every, next: Instant::now(), idle: VecDeque::new() });
    }

    /// Forgets the counts.
    pub fn forget(&mut self) {
        self.latencies_us.clear();
        self.acknowledged = 0;
    }

    fn send(&mut self, index: usize) {
        let now = Instant::now();
        let Fleet { meters, rng } = &mut self.fleet;
        for datagram in meters[index].next(rng) {
            // What the system does not take is lost, and is sent again.
            let _ = self.socket.send_to(datagram, self.address);
        }
        self.sent[index].1 = now;
        self.waiting.push_back((now, index));
    }

    /// A meter has nothing under way any more.
    fn send_next(&mut self, index: usize) {
        match &mut self.pace {
            Some(pace) => pace.idle.push_back(index),
            None => self.send_first(index),
        }
    }

    /// Sends what is due by the pace. Where it is behind for want of meters or time, that is not
    /// made up for.
    fn send_due(&mut self) {
        let now = Instant::now();
        while let Some(pace) = self.pace.as_mut().filter(|pace| pace.next <= now) {
            pace.next = (pace.next + pace.every).max(now - Duration::from_millis(20));
            let Some(index) = pace.idle.pop_front() else { continue };
            self.send_first(index);
        }
    }

    fn send_first(&mut self, index: usize) {
        self.sent[index].0 = Instant::now();
        self.send(index);
    }

    /// All meters send what they have, one after the other until something is acknowledged.
    ///
    /// # Errors
    /// [`LoadError::Silent`], [`LoadError::Ended`].
    pub fn until_heard(&mut self, child: &mut Child, within: Duration) -> Result<(), LoadError> {
        let (start, before) = (Instant::now(), self.acknowledged);
        while self.acknowledged == before {
            child.alive()?;
            if start.elapsed() > within {
                return Err(LoadError::Silent(self.address, within.as_secs()));
            }
            self.send(0);
            self.hear(Instant::now() + Duration::from_millis(50));
        }
        for index in 1..self.fleet.meters.len() {
            self.send_first(index);
        }
        Ok(())
    }

    /// Goes on for a time.
    ///
    /// # Errors
    /// [`LoadError::Ended`] where the collector does.
    pub fn run(&mut self, time: Duration, child: &mut Child) -> Result<(), LoadError> {
        let end = Instant::now() + time;
        loop {
            let now = Instant::now();
            if now >= end {
                return Ok(());
            }
            child.alive()?;
            self.hear(end.min(now + LOOK_EVERY));
            self.send_again();
        }
    }

    fn send_again(&mut self) {
        let now = Instant::now();
        while let Some((at, index)) = self.waiting.front().copied() {
            if now.duration_since(at) < RESEND_AFTER {
                return;
            }
            self.waiting.pop_front();
            // Else it was acknowledged since, and the meter has sent another.
            if self.sent[index].1 == at {
                self.resent += 1;
                self.send(index);
            }
        }
    }

    fn hear(&mut self, until: Instant) {
        let mut buffer = [0; udp::DATAGRAM_BYTES_MAX + 1];
        loop {
            self.send_due();
            match self.socket.recv_from(&mut buffer) {
                Ok((length, _)) => self.take(&buffer[..length]),
                // Nothing came, or nobody is there at the moment.
                Err(_) if Instant::now() >= until => return,
                Err(_) => continue,
            }
            if Instant::now() >= until {
                return;
            }
        }
    }

    fn take(&mut self, datagram: &[u8]) {
        let Some((packet, _)) = udp::parse(datagram) else { return };
        let Ok(packet) = Packet::parse(packet) else { return };
        let Some(index) = usize::from(packet.meter).checked_sub(1) else { return };
        if self.fleet.meters.get_mut(index).is_some_and(|meter| meter.hear(&packet)) {
            self.acknowledged += 1;
            let waited = self.sent[index].0.elapsed();
            self.latencies_us.push(u32::try_from(waited.as_micros()).unwrap_or(u32::MAX));
            self.send_next(index);
        }
    }
}
