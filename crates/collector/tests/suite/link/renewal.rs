//! A key that is renewed is kept before it is used: with the meter's firmware, and a service that begins anew in between.

use super::station::{Gateway, put, start};
use collector::link::{CommandRequest, LinkHandle};
use collector::network::NetworkId;
use collector::registry::{MeterFile, Registry};
use meter::eeprom::Eeprom;
use meter::{Call, Cause, Meter, Reply};
use rand::{SeedableRng, rngs::StdRng};
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::random::{Random, seed};
use wire::meter::{MeterKeys, Provision, Setup, Suite};

const METER: u16 = 7;
/// What a packet takes on the air.
const PACKET_NS: u64 = 4_000_000;
const WITHIN: Duration = Duration::from_secs(60);

/// The firmware, at the clock on the wall while it listens; what it sleeps takes no time.
struct Firmware {
    meter: Meter,
    now_ns: u64,
    reply: Reply,
}

impl Firmware {
    /// A new one, whose keys are the collector's, too.
    fn register(keys: &Path, seed: u64) -> Firmware {
        let registry = Registry::open(keys).expect("keys");
        let setup = Setup { suite: Suite::Aes256GcmRekeyed, interval_s: 1, ..Setup::usual(METER) };
        let provision =
            Provision::generate(setup, registry.identity().public(), &mut StdRng::seed_from_u64(seed));
        let file = MeterFile { network: NetworkId::DEFAULT, epoch: 1, record: provision.record() };
        put(&keys.join(format!("meters/{METER:05}.toml")), &toml::to_string(&file).expect("a file"));
        let eeprom = Eeprom::with_image(&provision.eeprom(), seed);
        let meter = Meter::start(&provision.flash(), eeprom, Cause::PowerOn, seed, 0);
        Firmware { meter, now_ns: 0, reply: Reply::Done }
    }

    fn step(&mut self, link: &LinkHandle, gateway: &Gateway) {
        let call = self.meter.resume(self.now_ns, self.reply);
        self.reply = Reply::Done;
        match call {
            Call::Send(packet) => {
                gateway.hear(link, 1, &[packet.bytes().to_vec()]);
                self.now_ns += PACKET_NS;
            }
            Call::Listen { until_ns } => {
                let began = Instant::now();
                let within = Duration::from_nanos(until_ns.saturating_sub(self.now_ns));
                match gateway.next_packet(within).and_then(|packet| meter::Packet::new(&packet)) {
                    Some(packet) => {
                        self.reply = Reply::Heard(packet);
                        self.now_ns += began.elapsed().as_nanos() as u64;
                        self.now_ns = self.now_ns.min(until_ns);
                    }
                    None => self.now_ns = until_ns,
                }
            }
            Call::Sleep { until_ns } => self.now_ns = until_ns,
            Call::Reset | Call::Stopped => panic!("nobody asks for that"),
        }
    }
}

/// As they are kept.
fn keys(folder: &Path) -> MeterKeys {
    Registry::open(&folder.join("keys")).expect("keys").get(METER).expect("it is there").record.keys
}

#[tokio::test(flavor = "multi_thread")]
async fn a_renewed_key_survives_a_service_that_begins_anew_at_any_moment() {
    let mut random = Random::new(seed());
    let folder = tempfile::tempdir().expect("a folder");
    let mut firmware = Firmware::register(&folder.path().join("keys"), 41);
    let until = Instant::now() + 3 * WITHIN;
    let (mut restarts, mut wanted, mut moments) = (0, 0, [0; 3]);
    while wanted < 3 {
        let running = start(folder.path()).await;
        let (link, gateway) = (running.link(), Gateway::attach(running.link()));
        // At most a renewal's hundred packets, and some more.
        let steps = 20 + random.below(400);
        for _ in 0..steps {
            assert!(
                Instant::now() < until,
                "epoch {} of {wanted} after {restarts} restarts",
                keys(folder.path()).epoch()
            );
            firmware.step(link, &gateway);
            let (kept, status) = (keys(folder.path()), firmware.meter.status());
            // The meter never has a key that is not kept.
            let known = [kept.epoch(), kept.epoch() + u32::from(kept.has_next())];
            assert!(known.contains(&status.epoch.into()), "{status:?}, kept {known:?}");
            if kept.epoch() == wanted && !kept.has_next() && u32::from(status.epoch) == wanted {
                wanted += 1;
                let record = running.reader().open_commands().expect("readable");
                if record.is_empty() {
                    link.command(METER.into(), CommandRequest::RenewKey, "me").await.expect("queued");
                }
            }
        }
        let kept = keys(folder.path());
        moments[usize::from(kept.has_next()) + usize::from(kept.epoch() < wanted)] += 1;
        running.stop().await.expect("it stops well");
        restarts += 1;
    }
    println!("{restarts} restarts, {moments:?}");
    // It goes on with the key that it has now.
    let running = start(folder.path()).await;
    let gateway = Gateway::attach(running.link());
    let before = firmware.meter.status().acknowledged;
    while firmware.meter.status().acknowledged < before + 3 {
        assert!(Instant::now() < until, "{:?}", firmware.meter.status());
        firmware.step(running.link(), &gateway);
    }
    let refused = running.link().snapshot().await.expect("counted").refused;
    assert_eq!(refused.not_authentic, 0, "{refused:?}");
    running.stop().await.expect("it stops well");
}
