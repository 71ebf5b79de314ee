//! The meters: registered with a collector's key files, and their reports.

use crate::load::LoadError;
use collector::gateway::udp::datagram;
use collector::network::NetworkId;
use collector::registry::{MeterFile, Registry};
use rand::SeedableRng;
use rand::rngs::StdRng;
use std::collections::VecDeque;
use std::fs;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use wire::meter::{
    Channel, Content, Identity, Measurement, MessageKind, MeterId, MeterKeys, Packet, Provision, PublicKey,
    Report, Setup, Suite, packets,
};

/// 2000-01-01 00:00:00 UTC in Unix seconds.
const METERS_EPOCH_S: u64 = 946_684_800;
/// The collector's radio address.
const COLLECTOR: u8 = 0x41;

/// A meter. Its nth report says what [`Meter::measurement`] says, so that every row of the database
/// can be compared.
pub struct Meter {
    pub id: MeterId,
    suite: Suite,
    keys: MeterKeys,
    identity: Identity,
    collector: PublicKey,
    /// Its first report's time, in s since 2000.
    begin_s: u32,
    sealed: VecDeque<Vec<Vec<u8>>>,
    /// The last that was sealed.
    sealed_n: u32,
    /// The last that was acknowledged; all before it were, too.
    pub acknowledged: u32,
}

impl Meter {
    /// Returns the measurement of its nth report.
    #[must_use]
    pub fn measurement(&self, n: u32) -> Measurement {
        let power_w = (n.wrapping_mul(2_654_435_761) >> 16) as i16;
        Measurement { time_s: self.begin_s.wrapping_add(n / 16), energy_dwh: n.wrapping_mul(3), power_w }
    }

    fn channel(&self) -> Channel<'_> {
        Channel { meter: self.id, keys: &self.keys, own: &self.identity, peer: &self.collector }
    }

    fn seal_one(&mut self, rng: &mut StdRng) {
        let n = self.sealed_n + 1;
        let report =
            Report { n, time_set: true, lost: 0, content: Content::Measurement(self.measurement(n)) };
        let message = self.channel().seal(MessageKind::Report, self.suite, n, &report.to_bytes(), rng);
        let cut = packets(COLLECTOR, MessageKind::Report, self.suite, self.id, n, &message);
        self.sealed.push_back(cut.iter().filter_map(|packet| datagram(packet, Some(-60))).collect());
        self.sealed_n = n;
    }

    /// The datagrams of the first report that is not acknowledged.
    pub(crate) fn next(&mut self, rng: &mut StdRng) -> &[Vec<u8>] {
        if self.sealed.is_empty() {
            self.seal_one(rng);
        }
        self.sealed.front().map_or(&[], Vec::as_slice)
    }

    /// Takes a packet. Returns whether it is the acknowledgement of the report under way.
    pub(crate) fn hear(&mut self, packet: &Packet<'_>) -> bool {
        let n = self.acknowledged + 1;
        let of_it = packet.kind == MessageKind::Acknowledgement
            && packet.suite == self.suite
            && packet.number_lsb == n as u8;
        // Where nothing was sent yet there is nothing to acknowledge.
        let sent = !self.sealed.is_empty();
        let taken = of_it && sent && self.channel().open_acknowledgement(self.suite, packet.body) == Ok(n);
        if taken {
            self.acknowledged = n;
            self.sealed.pop_front();
        }
        taken
    }
}

/// All meters, by number from 1.
pub struct Fleet {
    pub(crate) meters: Vec<Meter>,
    pub(crate) rng: StdRng,
}

impl Fleet {
    /// Makes meters, and the key files of a collector that knows them, in `keys` in a folder.
    ///
    /// # Errors
    /// [`LoadError`]
    pub fn make(folder: &Path, suite: Suite, count: MeterId) -> Result<Fleet, LoadError> {
        let mut rng = StdRng::from_os_rng();
        let registry = Registry::open(&folder.join("keys"))?;
        let collector = *registry.identity().public();
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |now| now.as_secs());
        let begin_s = now_s.saturating_sub(METERS_EPOCH_S) as u32;
        let mut meters = Vec::new();
        for id in 1..=count {
            let setup = Setup {
                meter: id,
                address: 0x42,
                collector_address: COLLECTOR,
                channel: 210,
                power: 0,
                interval_s: u16::MAX,
                suite,
                voltage_uv: 270_000,
                current_ua: 52_000,
                phase: 0,
            };
            let provision = Provision::generate(setup, &collector, &mut rng);
            let record = provision.record();
            let keys = record.keys.clone();
            let file = MeterFile { network: NetworkId::DEFAULT, epoch: 1, record };
            write(&folder.join(format!("keys/meters/{id:05}.toml")), &file)?;
            meters.push(Meter {
                id,
                suite,
                keys,
                identity: provision.identity().clone(),
                collector,
                begin_s,
                sealed: VecDeque::new(),
                sealed_n: 0,
                acknowledged: 0,
            });
        }
        Ok(Fleet { meters, rng })
    }

    /// Seals `of_each` reports of each meter beforehand, on `threads` threads.
    pub fn seal(&mut self, of_each: usize, threads: usize) {
        let share = self.meters.len().div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for meters in self.meters.chunks_mut(share) {
                let mut rng = StdRng::from_rng(&mut self.rng);
                scope.spawn(move || {
                    for meter in meters {
                        (0..of_each).for_each(|_| meter.seal_one(&mut rng));
                    }
                });
            }
        });
    }

    #[must_use]
    pub fn meters(&self) -> &[Meter] {
        &self.meters
    }
}

/// A key file, for its owner only. It is not made durable: it goes with the run.
fn write(path: &Path, file: &MeterFile) -> Result<(), LoadError> {
    use std::io::Write;
    let text = toml::to_string(file).map_err(|error| LoadError::Usage(format!("a key file: {error}")))?;
    let what = || format!("{}", path.display());
    if let Some(folder) = path.parent() {
        use std::os::unix::fs::DirBuilderExt;
        fs::DirBuilder::new().mode(0o700).recursive(true).create(folder).map_err(LoadError::io(what()))?;
    }
    let mut file = fs::File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
        .map_err(LoadError::io(what()))?;
    file.write_all(text.as_bytes()).map_err(LoadError::io(what()))
}
