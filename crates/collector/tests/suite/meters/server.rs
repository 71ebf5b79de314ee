//! A service whose database is PostgreSQL's, from the packet to the acknowledgement, while the
//! server comes and goes.

use super::station::{Gateway, SimulatedMeter, WITHIN, start_with};
use collector::service::{Config, Running};
use collector::store::{DatabaseUrl, ReadingsQuery, Rows};
use std::time::Duration;
use testkit::postgres::Server;
use wire::meter::Suite;

fn stored(running: &Running, meter: u16) -> Vec<f64> {
    let query = ReadingsQuery::raw(meter);
    let Rows::Raw { energy_wh, .. } = running.reader().readings(&query).expect("readings").rows else {
        panic!("readings were asked for");
    };
    energy_wh
}

#[tokio::test(flavor = "multi_thread")]
async fn unstored_report_is_acknowledged_once_the_server_returns() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut meter = SimulatedMeter::register(&folder.path().join("keys"), 7, Suite::EciesEcdsa, 1);
    let mut server = Server::start(&["fsync=off"]);
    let place = DatabaseUrl::named(&server.url(&server.database())).expect("a URL");
    let with_server = |config: &mut Config| config.db = place.clone();
    let running = start_with(folder.path(), with_server).await;
    let gateway = Gateway::attach(running.meters());
    let first = meter.report();
    gateway.hear(running.meters(), 1, &first);
    let sent = gateway.next_acknowledgement(WITHIN).expect("an acknowledgement");
    assert_eq!(meter.acknowledged(&sent), 1);

    server.stop();
    let second = meter.report();
    gateway.hear(running.meters(), 1, &second);
    let said = gateway.next_acknowledgement(Duration::from_secs(2));
    assert!(said.is_none(), "it was acknowledged while there was no database");
    assert!(running.reader().health().trouble.is_some());
    server.run();
    // As a meter does that hears nothing.
    let mut acknowledged = None;
    for _ in 0..30 {
        gateway.hear(running.meters(), 1, &second);
        acknowledged = gateway.next_acknowledgement(Duration::from_secs(1));
        if acknowledged.is_some() {
            break;
        }
    }
    assert_eq!(meter.acknowledged(&acknowledged.expect("the server is back")), 2);
    assert_eq!(stored(&running, 7), [0.1, 0.2]);
    running.stop().await.expect("it stops well");

    // Another start goes on where this one ended.
    let running = start_with(folder.path(), with_server).await;
    let gateway = Gateway::attach(running.meters());
    gateway.hear(running.meters(), 1, &second);
    let again = gateway.next_acknowledgement(WITHIN).expect("the same again");
    assert_eq!(meter.acknowledged(&again), 2);
    assert_eq!(stored(&running, 7), [0.1, 0.2]);
    running.stop().await.expect("it stops well");
}
