//! A meter made of `wire`'s sealing and the image that `meters provision` wrote for its flash: it
//! sends its oldest report until the acknowledgement comes, and does what it is told.

use rand::SeedableRng;
use rand::rngs::StdRng;
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use wire::meter::{
    Address, Answer, Channel, Command, CommandResult, Content, Identity, Measurement, MessageKind, MeterKeys,
    Packet, PublicKey, Reassembly, Report, Suite, packets,
};

/// 2000-01-01 00:00:00 UTC as Unix time.
const EPOCH_S: u64 = 946_684_800;

pub struct Meter {
    pub id: u16,
    /// Its reports that were acknowledged.
    pub acknowledged: AtomicU32,
    /// It says nothing.
    pub silent: AtomicBool,
    suite: Suite,
    keys: MeterKeys,
    own: Identity,
    collector: PublicKey,
    address: Address,
    socket: UdpSocket,
    sealed: Mutex<(u32, Vec<u8>)>,
    allowed: AtomicU32,
}

impl Meter {
    /// By docs/reference/protocol.md, "Provisioning".
    pub fn of_images(folder: &Path, id: u16, suite: Suite, gateway: SocketAddr) -> Meter {
        let flash = std::fs::read(folder.join(format!("{id:05}.flash.bin"))).expect("an image");
        assert_eq!((flash.len(), &flash[2..4]), (176, &id.to_be_bytes()[..]));
        let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        socket.connect(gateway).expect("an address");
        socket.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
        let part = |from: usize, to: usize| &flash[from..to];
        Meter {
            id,
            acknowledged: AtomicU32::new(0),
            silent: AtomicBool::new(false),
            suite,
            keys: MeterKeys::new(part(32, 48).try_into().expect("16"), part(48, 80).try_into().expect("32")),
            own: Identity::from_private_bytes(part(80, 112).try_into().expect("32")).expect("a key"),
            collector: PublicKey::from_bytes(part(112, 176).try_into().expect("64")).expect("a point"),
            address: Address { name: id, radio: flash[4], collector: flash[5] },
            socket,
            sealed: Mutex::default(),
            allowed: AtomicU32::new(0),
        }
    }

    /// Sets the number of reports that it may send in all.
    pub fn may_send(&self, reports: u32) {
        self.allowed.store(reports, Ordering::SeqCst);
    }

    /// Returns the number of its last report, and its message.
    pub fn last_sealed(&self) -> (u32, Vec<u8>) {
        self.sealed.lock().expect("nobody panicked").clone()
    }

    fn channel(&self) -> Channel<'_> {
        Channel { meter: self.id, keys: &self.keys, own: &self.own, peer: &self.collector }
    }

    fn send(&self, packet: &[u8]) {
        let datagram = [b"WS1\xc3", packet].concat();
        // Nobody may be there.
        let _ = self.socket.send(&datagram);
    }

    fn send_all(&self, packets: &[Vec<u8>]) {
        packets.iter().for_each(|packet| self.send(packet));
    }

    /// Goes on until that number of its reports is acknowledged.
    pub fn live(&self, reports: u32) {
        let mut rng = StdRng::seed_from_u64(u64::from(self.id));
        let begun_s = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970").as_secs() - EPOCH_S;
        // Numbers are common to reports and answers.
        let (mut n, mut reassembly) = (0u32, Reassembly::default());
        for report in 1..=reports {
            while self.allowed.load(Ordering::SeqCst) < report {
                self.listen(None, &mut n, &mut reassembly);
            }
            n += 1;
            // Readings are apart by a second, so that their order is that of time, too.
            let time_s = begun_s as u32 - reports + report;
            let content =
                Content::Measurement(Measurement { time_s, energy_dwh: 10 * report, power_w: report as i16 });
            let plaintext = Report { n, time_set: true, lost: 0, content }.to_bytes();
            let sealed = self.channel().seal(MessageKind::Report, self.suite, n, &plaintext, &mut rng);
            let (address, number) = (self.address.collector, n);
            let cut = packets(address, MessageKind::Report, self.suite, self.id, number, &sealed);
            *self.sealed.lock().expect("nobody panicked") = (report, sealed.clone());
            loop {
                if !self.silent.load(Ordering::SeqCst) {
                    self.send_all(&cut);
                }
                if self.listen(Some(number), &mut n, &mut reassembly) {
                    break;
                }
            }
            self.acknowledged.store(report, Ordering::SeqCst);
        }
    }

    /// Hears what comes until nothing more does; whether the acknowledgement was among it.
    fn listen(&self, waits_for: Option<u32>, n: &mut u32, reassembly: &mut Reassembly) -> bool {
        let mut buffer = [0; 100];
        while let Ok(length) = self.socket.recv(&mut buffer) {
            if self.silent.load(Ordering::SeqCst) {
                continue;
            }
            let bytes = buffer[..length].strip_prefix(b"WS1").expect("the magic");
            let packet = Packet::parse(&bytes[1..]).expect("a packet");
            assert_eq!((packet.meter, packet.suite), (self.id, self.suite));
            match packet.kind {
                MessageKind::Acknowledgement => {
                    let of = self.channel().open_acknowledgement(self.suite, packet.body).expect("authentic");
                    if Some(of) == waits_for {
                        return true;
                    }
                }
                MessageKind::Command => {
                    let Some(whole) = reassembly.take(&packet) else { continue };
                    let opened =
                        self.channel().open(whole.kind, whole.suite, &whole.bytes).expect("authentic");
                    let (m, _) = Command::from_bytes(&opened.plaintext).expect("a command");
                    *n += 1;
                    let answer = Answer { m, outcome: CommandResult::Done, body: [0; 11] }.to_bytes();
                    let sealed = self.channel().answer(self.suite, *n, self.address, &answer);
                    let address = self.address.collector;
                    self.send_all(&packets(address, MessageKind::Answer, self.suite, self.id, *n, &sealed));
                }
                kind => panic!("{kind:?} to a meter"),
            }
        }
        false
    }
}
