//! Telegrams of other makers' meters for a collector: lines of a receiver by UDP, sealed by OMS's
//! profile D.
//!
//! Nothing acknowledges a telegram. The database says how many are stored, and no more are under
//! way than a sender's share of the collector's queue.

use crate::load::{Child, Latency, LoadError, LoadResult, Options, WorkFolder, drive};
use aes::Aes128;
use ccm::aead::{AeadInPlace, KeyInit};
use ccm::consts::{U8, U13};
use cmac::{Cmac, Mac};
use collector::mbus::QUEUED_OF_SENDER_MAX;
use collector::registry::{KeyStore, MbusKey, MbusMeter};
use rand::Rng;
use rusqlite::{Connection, OpenFlags};
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

/// Telegrams under way at most.
const WINDOW: usize = QUEUED_OF_SENDER_MAX / 2;
/// Interval at which the database is asked.
const ASKED_EVERY: Duration = Duration::from_millis(1);
/// A collector that stores nothing for so long does not hear.
const HEARD_WITHIN: Duration = Duration::from_secs(60);
/// A telegram that is not stored for so long is lost.
const STORED_WITHIN: Duration = Duration::from_secs(10);
/// Letters of the meters' maker, and their code. EN 13757-3, "Manufacturer identification".
const MAKER: (&str, [u8; 2]) = ("WSL", [0x6c, 0x5e]);

/// A meter by its number, from 1.
struct Meter {
    identification: [u8; 4],
    key: [u8; 16],
    /// The last message counter.
    counter: u32,
}

impl Meter {
    fn new(number: u16) -> Meter {
        // The identification number has BCD digits, as a label shows them.
        let digits = u32::from_str_radix(&format!("{number:08}"), 16).unwrap_or(0);
        Meter { identification: digits.to_le_bytes(), key: rand::rng().random(), counter: 0 }
    }

    fn name(&self) -> String {
        format!("{}-{:08x}", MAKER.0, u32::from_le_bytes(self.identification))
    }

    /// Register in Wh that the telegram with a counter reports.
    fn energy_wh(counter: u32) -> u32 {
        counter.wrapping_mul(3)
    }

    /// The next telegram as a line of hexadecimal digits. Profile D: AES-CCM with a key of the
    /// message counter, OMS volume 2, issue 5.0.1, sections 9.3.6 and 9.5.
    fn next_line(&mut self) -> Result<String, LoadError> {
        self.counter += 1;
        let counter = self.counter.to_le_bytes();
        let derived = [&[0][..], &counter, &self.identification, &[7; 7]].concat();
        let key = <Cmac<Aes128> as Mac>::new((&self.key).into()).chain_update(derived).finalize();
        let address = [&MAKER.1[..], &self.identification, &[1, 2]].concat();
        let mut nonce = [0; 13];
        nonce[..8].copy_from_slice(&address);
        nonce[9..].copy_from_slice(&self.counter.to_be_bytes());
        // Short header: access number, status, all bytes encrypted, mode 13 of 8 bytes of MAC.
        let header = [0x7a, self.counter as u8, 0, 0xff, 0x2a, 0x10, 1];
        let energy = Meter::energy_wh(self.counter).to_le_bytes();
        let power = [0x02, 0x2b, 0x10, 0x27];
        let mut sealed = [&[0x2f, 0x2f, 0x04, 0x03][..], &energy, &power].concat();
        let cipher = ccm::Ccm::<Aes128, U8, U13>::new(&key.into_bytes());
        cipher
            .encrypt_in_place((&nonce).into(), &header, &mut sealed)
            .map_err(|error| LoadError::Wrong(format!("a telegram cannot be sealed: {error}")))?;
        let body = [&[0x44][..], &address, &header, &counter, &sealed].concat();
        let mut line = format!("{:02x}", body.len());
        for byte in body {
            let _ = write!(line, "{byte:02x}");
        }
        Ok(line + "\n")
    }
}

/// Telegrams under way, and what became of the others.
struct Flow {
    meters: Vec<Meter>,
    socket: UdpSocket,
    address: SocketAddr,
    stored: Connection,
    /// When each telegram under way was sent, the oldest first.
    under_way: VecDeque<Instant>,
    sent: u64,
    latency_us: Vec<u32>,
    next_at: Instant,
    /// Time between two telegrams, where there is a rate.
    every: Option<Duration>,
}

impl Flow {
    /// Sends the first telegram until it is stored: the collector hears after it has a database.
    fn until_heard(&mut self, child: &mut Child) -> Result<(), LoadError> {
        let (line, begun) = (self.meters[0].next_line()?, Instant::now());
        while self.count_stored()? == 0 {
            child.alive()?;
            if begun.elapsed() > HEARD_WITHIN {
                return Err(LoadError::Silent(self.address, HEARD_WITHIN.as_secs()));
            }
            self.send(&line)?;
            std::thread::sleep(Duration::from_millis(50));
        }
        self.sent = 1;
        Ok(())
    }

    fn send(&self, line: &str) -> Result<(), LoadError> {
        let sent = self.socket.send_to(line.as_bytes(), self.address);
        sent.map(drop).map_err(LoadError::io("sending a telegram"))
    }

    /// Telegrams that the collector has stored.
    fn count_stored(&self) -> Result<u64, LoadError> {
        let all = "SELECT coalesce(max(id), 0) FROM mbus_telegrams";
        Ok(self.stored.query_row(all, [], |row| row.get::<_, i64>(0))? as u64)
    }

    fn hear(&mut self) -> Result<(), LoadError> {
        let waiting = self.sent - self.count_stored()?.min(self.sent);
        while self.under_way.len() as u64 > waiting {
            let Some(at) = self.under_way.pop_front() else { break };
            self.latency_us.push(u32::try_from(at.elapsed().as_micros()).unwrap_or(u32::MAX));
        }
        match self.under_way.front() {
            Some(at) if at.elapsed() > STORED_WITHIN => Err(LoadError::Wrong(format!(
                "{} telegrams were sent, and {} are stored: the others are lost",
                self.sent,
                self.sent - waiting
            ))),
            _ => Ok(()),
        }
    }

    fn send_due(&mut self) -> Result<(), LoadError> {
        while self.under_way.len() < WINDOW && self.next_at <= Instant::now() {
            let meter = (self.sent % self.meters.len() as u64) as usize;
            let line = self.meters[meter].next_line()?;
            self.send(&line)?;
            self.sent += 1;
            self.under_way.push_back(Instant::now());
            if let Some(every) = self.every {
                // Being behind for want of time is not made up for.
                self.next_at = (self.next_at + every).max(Instant::now() - Duration::from_millis(20));
            }
        }
        Ok(())
    }

    fn run(&mut self, time: Duration, child: &mut Child) -> Result<(), LoadError> {
        let end = Instant::now() + time;
        while Instant::now() < end {
            child.alive()?;
            self.send_due()?;
            std::thread::sleep(ASKED_EVERY);
            self.hear()?;
        }
        Ok(())
    }

    /// Waits until all that was sent is stored.
    fn drain(&mut self, child: &mut Child) -> Result<(), LoadError> {
        while !self.under_way.is_empty() {
            child.alive()?;
            std::thread::sleep(ASKED_EVERY);
            self.hear()?;
        }
        Ok(())
    }
}

/// Registers meters in the collector's folder of keys.
fn register(folder: &Path, meters: &[Meter]) -> Result<(), LoadError> {
    let entry = |meter: &Meter| {
        let digits = meter.key.iter().fold(String::new(), |mut digits, byte| {
            let _ = write!(digits, "{byte:02x}");
            digits
        });
        let wrong = || LoadError::Wrong(format!("{} is no meter that can be registered", meter.name()));
        Ok(MbusMeter {
            meter: meter.name().parse().map_err(|_| wrong())?,
            key: Some(MbusKey::from_hex(&digits).ok_or_else(wrong)?),
            version: None,
            device_type: None,
            unauthenticated: false,
        })
    };
    let meters = meters.iter().map(entry).collect::<Result<Vec<_>, LoadError>>()?;
    KeyStore::Folder(folder.join("keys")).put_mbus_meters(&meters)?;
    Ok(())
}

/// Opens the database as soon as it has the table of telegrams.
fn open_database(child: &mut Child) -> Result<Connection, LoadError> {
    let begun = Instant::now();
    loop {
        child.alive()?;
        let opened = Connection::open_with_flags(child.database(), OpenFlags::SQLITE_OPEN_READ_ONLY);
        match opened.and_then(|database| {
            database.busy_timeout(Duration::from_secs(5))?;
            database.query_row("SELECT count(*) FROM mbus_telegrams", [], |_| Ok(()))?;
            Ok(database)
        }) {
            Ok(database) => return Ok(database),
            Err(error) if begun.elapsed() > Duration::from_secs(60) => return Err(error.into()),
            Err(_) => std::thread::sleep(Duration::from_millis(20)),
        }
    }
}

/// Compares each stored telegram with the one that was sent. Returns their number.
fn check(database: &Connection, meters: &[Meter]) -> Result<u64, LoadError> {
    let mut expected: BTreeMap<String, (u32, u32)> =
        meters.iter().map(|meter| (meter.name(), (0, meter.counter))).collect();
    let mut rows = 0;
    let all = "SELECT meter, counter, authenticated, contents FROM mbus_telegrams ORDER BY id";
    let mut statement = database.prepare(all)?;
    let mut found = statement.query([])?;
    while let Some(row) = found.next()? {
        let (meter, counter, authenticated): (String, u32, bool) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let contents: String = row.get(3)?;
        let wrong = |what: &str| LoadError::Wrong(format!("{meter}: telegram {counter} {what}: {contents}"));
        let (last, _) = expected.get_mut(&meter).ok_or_else(|| wrong("is of no meter of this load"))?;
        *last += 1;
        if *last != counter {
            return Err(wrong(&format!("stands where {last} should be")));
        }
        let energy = format!("\"value\":\"{}\"", Meter::energy_wh(counter));
        if !authenticated || !contents.contains(&energy) {
            return Err(wrong("is stored otherwise than it was sent"));
        }
        rows += 1;
    }
    match expected.iter().find(|(_, (stored, sent))| stored != sent) {
        Some((meter, (stored, sent))) => {
            Err(LoadError::Wrong(format!("{meter}: {sent} telegrams were sent, {stored} are stored")))
        }
        None => Ok(rows),
    }
}

/// Loads a collector with telegrams, and reads its database afterwards. say: what is being done,
/// for a person. The suite of the options is not used.
///
/// # Errors
/// [`LoadError`]: of those [`LoadError::Wrong`] where a telegram is lost or stored otherwise.
pub fn run_telegrams(options: &Options, say: &dyn Fn(&str)) -> Result<LoadResult, LoadError> {
    let count = if options.meters == 0 { 2000 } else { options.meters };
    let place = WorkFolder::new(options.folder.clone())?;
    let meters: Vec<Meter> = (1..=count).map(Meter::new).collect();
    register(place.path(), &meters)?;
    let address = drive::free_address()?;
    let mut child = Child::start(&options.program, place.path(), address)?;
    say("waiting for the collector ..");
    let stored = open_database(&mut child)?;
    let socket = UdpSocket::bind("127.0.0.1:0").map_err(LoadError::io("a UDP socket"))?;
    let mut flow = Flow {
        meters,
        socket,
        address,
        stored,
        under_way: VecDeque::new(),
        sent: 0,
        latency_us: Vec::new(),
        next_at: Instant::now(),
        every: options.rate.map(|rate| Duration::from_secs(1) / rate.get()),
    };
    flow.until_heard(&mut child)?;
    say(&format!("{} s of telegrams ..", options.seconds));
    flow.run(Duration::from_secs(1), &mut child)?;
    flow.latency_us.clear();
    let (before, start) = (child.usage()?, Instant::now());
    flow.run(Duration::from_secs(options.seconds), &mut child)?;
    let (after, seconds) = (child.usage()?, start.elapsed().as_secs_f64());
    let stored_in_time = flow.latency_us.len() as u64;
    let latency = Latency::of(&mut flow.latency_us);
    flow.drain(&mut child)?;
    child.stop()?;
    say("comparing what was sent with the database ..");
    Ok(LoadResult {
        suite: "oms-d",
        meters: count,
        seconds,
        acknowledged: stored_in_time,
        readings_per_s: stored_in_time as f64 / seconds,
        latency_p50_ms: latency.p50_ms,
        latency_p99_ms: latency.p99_ms,
        resent: 0,
        collector_cpu: (after.cpu_s - before.cpu_s) / seconds,
        collector_memory_bytes: after.most_memory_bytes,
        bare_per_s: None,
        ratio: None,
        stored: check(&flow.stored, &flow.meters)?,
    })
}
