//! The figures that alerts and dashboard ask for are those that the roles have.

use super::{dashboard, queries, text};
use crate::cluster::roles::{api, ask, gateway, servers, worker};
use crate::cluster::until;
use crate::concentrator::process::Collector;
use crate::meters::station::SimulatedMeter;
use collector::network::NetworkId;
use collector::store::{DatabaseUrl, Reader};
use std::collections::BTreeSet;
use testkit::{nats, postgres};
use wire::meter::Suite;

/// Returns all words with the prefixes of the roles' metrics.
fn names(text: &str) -> BTreeSet<String> {
    let is_name =
        |character: char| character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_';
    let begun = text.match_indices("wattseal_").map(|(at, _)| &text[at..]);
    begun
        .map(|rest| rest.split(|character| !is_name(character)).next().unwrap_or_default().to_owned())
        .collect()
}

#[test]
fn alerts_and_dashboard_ask_for_what_the_roles_count() {
    let mut asked = BTreeSet::new();
    for line in text("prometheus/alerts.yml").lines() {
        if let Some(expression) = line.trim_start().strip_prefix("expr: ") {
            asked.append(&mut names(expression));
        }
    }
    for (_, _, expression) in queries(&dashboard(), "expr") {
        asked.append(&mut names(&expression));
    }
    assert!(asked.len() > 20, "{asked:?}");

    let (folder, server) = (tempfile::tempdir().expect("a folder"), nats::Nats::start());
    // A concentrator has what `collect` has, and more. A worker has a store once there is a meter.
    let far = "127.0.0.1:9".parse().expect("an address");
    let concentrator = Collector::start(folder.path(), "near", Some(far));
    SimulatedMeter::register(&folder.path().join("keys"), 258, Suite::Aes128Gcm, 1);
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    let gateway = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
    let postgres = postgres::shared();
    let db = DatabaseUrl::named(&postgres.url(&postgres.database())).expect("a URL");
    Reader::open_or_make(&db).expect("tables");
    let api = api(servers(&server.url()), &db);
    let of_worker = || ask(worker.started.health, "/metrics");
    until("the worker has its partition and the store", || {
        let told = of_worker();
        told.contains("wattseal_worker_partition_fence{") && told.contains("\nwattseal_store_up 1\n")
    });
    let of_worker = of_worker();
    let of_gateway = ask(gateway.started.health, "/metrics");
    let of_api = ask(api.started.health, "/metrics");
    let of_concentrator = concentrator.get("/api/v1/metrics");
    // Whose each is.
    for name in &asked {
        let roles: &[&String] = match name.as_str() {
            "wattseal_ready" => &[&of_worker, &of_gateway, &of_api],
            "wattseal_build_info" => &[&of_worker, &of_gateway, &of_api, &of_concentrator],
            name if name.starts_with("wattseal_worker_") => &[&of_worker],
            name if name.starts_with("wattseal_gateway_") => &[&of_gateway],
            name if name.starts_with("wattseal_api_") => &[&of_api],
            name if name.starts_with("wattseal_forward_") => &[&of_concentrator],
            _ => &[&of_worker, &of_concentrator],
        };
        // The series of a histogram.
        let typed = format!("# TYPE {} ", name.strip_suffix("_bucket").unwrap_or(name));
        assert!(roles.iter().all(|told| told.contains(&typed)), "a role that should does not count {name}");
    }
    let told = [of_worker, of_gateway].concat();
    // Values of labels that the alerts choose by.
    for label in [
        "why=\"full\"",
        "why=\"disconnected\"",
        "why=\"not-stored\"",
        "why=\"rate\"",
        "why=\"malformed\"",
        "role=\"worker\"",
    ] {
        assert!(told.contains(label), "no figure has {label}");
    }
    api.stop().expect("it stops well");
    worker.stop().expect("it stops well");
    gateway.stop().expect("it stops well");
}
