//! A NATS server that is there, and has lost the others: its clients ask another one.

use super::Radio;
use super::roles::{ask, gateway, servers, worker};
use super::until;
use crate::meters::station::SimulatedMeter;
use collector::network::NetworkId;
use testkit::nats::Nats;
use wire::meter::Suite;

/// Two that know nothing of each other, the second alone with JetStream.
fn apart() -> Nats {
    Nats::start_from(2, |folder, number, port| {
        let store = folder.join("store").display().to_string();
        let jetstream =
            if number == 1 { format!("jetstream {{ store_dir: \"{store}\" }}\n") } else { String::new() };
        format!("server_name: n{number}\nlisten: 127.0.0.1:{port}\n{jetstream}")
    })
}

#[test]
fn client_of_silent_server_asks_another() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut nats = apart();
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    nats.kill(1);
    let worker = worker(servers(&nats.url()), folder.path(), "one", None);
    let gateway = gateway(servers(&nats.url()), "hall", &[NetworkId::DEFAULT]);
    for health in [worker.started.health, gateway.started.health] {
        until("it is connected with the first", || !ask(health, "/health/ready").contains("\"nats\""));
    }
    nats.run(1);
    let radio = Radio::near(gateway.started.udp[0].what);
    let lasted = radio.report(&mut meter);
    println!("the first report is acknowledged after {lasted:?}");
    radio.report(&mut meter);
}
