//! A cluster whose users had no accounts gets those of today: docs/how-to/operations.md, "Accounts of NATS
//! servers". Packets that wait for a worker are stored without that their meters send them again.

use super::roles::{Role, figure, gateway, is_ready, servers, worker};
use super::{Radio, until};
use crate::meters::station::SimulatedMeter;
use crate::meters::stored;
use collector::cluster::worker::WorkerStarted;
use collector::cluster::{Nats, NatsUser, accounts};
use collector::network::NetworkId;
use nkeys::KeyPair;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use testkit::nats;
use wire::meter::Suite;

/// As `operations/nats/nats-server.conf` had users before there were accounts.
const BEFORE: &str = r#"authorization {
  users: [
    {
      nkey: HALL
      permissions: {
        publish: ["wattseal.7.up.*.*.*.*.hall"]
        subscribe: ["wattseal.7.down.hall", "_INBOX.hall.>"]
      }
    }
    {
      nkey: WORKER
      permissions: {
        publish: {
          allow: [
            "wattseal.*.down.*", "wattseal.events", "wattseal.*.ask.*.*.*.*", "wattseal.answer.*.*"
            "$JS.API.>", "$JS.ACK.>", "$JS.FC.>", "$KV.*.>"
          ]
          deny: ["$JS.API.STREAM.DELETE.>", "$JS.API.STREAM.PURGE.>"]
        }
        subscribe: ["_INBOX.>", "wattseal.events", "wattseal.*.ask.*.*.*.*", "wattseal.answer.*.*"]
      }
    }
  ]
}
"#;
/// A packet that a worker was not done with comes again within 30 s.
const STANDS_STILL_FOR: Duration = Duration::from_secs(35);

/// A user's public key; the seed is in a file.
fn key(folder: &Path, name: &str) -> String {
    let (pair, file) = (KeyPair::new_user(), folder.join(format!("{name}.nk")));
    fs::write(&file, pair.seed().expect("a seed")).expect("a file");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("ours");
    pair.public_key()
}

struct Cluster {
    servers: nats::Nats,
    folder: PathBuf,
}

impl Cluster {
    fn user(&self, name: &str) -> Nats {
        let credentials = Some(self.folder.join(format!("{name}.nk")));
        Nats { credentials, ..servers(&self.servers.url()) }
    }

    fn worker(&self) -> Role<WorkerStarted> {
        worker(self.user("worker"), &self.folder, "one", Some("4"))
    }
}

#[test]
fn upgrade_to_accounts_loses_no_waiting_packet() {
    let folder = tempfile::tempdir().expect("a folder");
    let network = NetworkId(7);
    let (hall, of_worker) = (key(folder.path(), "hall"), key(folder.path(), "worker"));
    let routes: Vec<u16> = (0..3).map(|_| testkit::ports::free_address().port()).collect();
    let with = |users: String| {
        let routes = routes.clone();
        move |own: &Path, number: usize, port: u16| {
            let cluster = nats::cluster_configuration(&routes, number);
            nats::configuration(own, number, port) + &cluster + &users
        }
    };
    let before = BEFORE.replace("HALL", &hall).replace("WORKER", &of_worker);
    let started = nats::Nats::start_from(3, with(before));
    let mut cluster = Cluster { servers: started, folder: folder.path().to_owned() };
    let keys = folder.path().join("keys");
    let mut meters: Vec<SimulatedMeter> = (258..266)
        .map(|meter| SimulatedMeter::register_in(&keys, network.meter(meter), Suite::Aes128Gcm, 1))
        .collect();
    let first = cluster.worker();
    let gateway_of = |cluster: &Cluster| gateway(cluster.user("hall"), "hall", &[network]);
    let of_hall = gateway_of(&cluster);
    let radio = Radio::near(of_hall.started.udp[0].what);
    for meter in &mut meters {
        radio.report(meter);
    }
    first.stop().expect("it stops well");

    // Without a worker packets wait. No meter sends them a second time.
    let stream = "wattseal_gateway_published_packets_total";
    let published = figure(of_hall.started.health, stream);
    for meter in &mut meters {
        radio.send(&meter.report());
    }
    let wait = meters.len() as u64;
    until("they are in the stream", || figure(of_hall.started.health, stream) == published + wait);

    // The steps of the document: gateways stop, workers take what waits, and then stop.
    of_hall.stop().expect("it stops well");
    let last = cluster.worker();
    let packets = || figure(last.started.health, "wattseal_worker_packets_total");
    until("it works", || is_ready(last.started.health));
    let (mut count, mut since) = (packets(), Instant::now());
    while since.elapsed() < STANDS_STILL_FOR {
        std::thread::sleep(Duration::from_millis(200));
        if packets() != count {
            (count, since) = (packets(), Instant::now());
        }
    }
    last.stop().expect("it stops well");
    for meter in &meters {
        let name = network.meter(meter.provision.setup().meter);
        assert_eq!(stored(&folder.path().join("one.db"), name), [1, 2], "{name}");
    }

    // Servers with accounts, and the same keys.
    let name = "hall".parse().expect("a name");
    let users = accounts(&[
        (NatsUser::Worker, of_worker),
        (NatsUser::Gateway { name, networks: vec![network] }, hall),
    ]);
    cluster.servers.restart_from(with(users));
    let (worker, of_hall) = (cluster.worker(), gateway_of(&cluster));
    let radio = Radio::near(of_hall.started.udp[0].what);
    for meter in &mut meters {
        radio.report(meter);
    }
    until("all is well", || is_ready(worker.started.health) && is_ready(of_hall.started.health));
    worker.stop().expect("it stops well");
    for meter in &meters {
        let name = network.meter(meter.provision.setup().meter);
        assert_eq!(stored(&folder.path().join("one.db"), name), [1, 2, 3], "{name}");
    }
}
