//! Permissions of a role's user: what is more than the role needs ends it with what to change, and
//! its readiness says whether the servers were asked.

use super::roles::{Role, api, ask, figure, gateway, loopback, servers, worker};
use super::shipped::Shipped;
use super::until;
use collector::api::Listen;
use collector::cluster::api::ApiServer;
use collector::cluster::gateway::Gateway;
use collector::cluster::worker::Worker;
use collector::cluster::{ClusterError, Nats, NatsUser, accounts};
use collector::network::{NetworkId, OfNetwork};
use collector::service::Config;
use collector::store::DatabaseUrl;
use nkeys::KeyPair;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use testkit::{nats, postgres};

fn hall() -> NatsUser {
    NatsUser::Gateway { name: "hall".parse().expect("a name"), networks: vec![NetworkId(7)] }
}

/// Runs a role with this user until it ends. Returns why.
fn ended(nats: Nats, user: &NatsUser, folder: &Path) -> ClusterError {
    let name = "hall".parse().expect("a name");
    let role: Role<()> = match user {
        NatsUser::Gateway { networks, .. } => {
            let udp = networks.iter().map(|network| OfNetwork { network: *network, what: loopback() });
            let (udp, serial, most_packets) = (udp.collect(), Vec::new(), 100.try_into().expect("not 0"));
            let gateway = Gateway { nats, name, udp, serial, most_packets, health: None };
            Role::run(async |ready, stop| gateway.serve(|_| ready(&()), async { drop(stop.await) }).await)
        }
        NatsUser::Worker => {
            let service = Config::new(folder.join("one.db"), folder.join("keys"));
            let (slices, health, listen) = (None, None, None);
            let worker =
                Worker { nats, name, service, slices, change_slices: false, replicas: 1, health, listen };
            Role::run(async |ready, stop| worker.serve(|_| ready(&()), async { drop(stop.await) }).await)
        }
        NatsUser::Api => {
            let db = DatabaseUrl::named("postgres://nobody@127.0.0.1:1/nothing").expect("a URL");
            let listen = Listen { address: loopback(), tls: None, proxies: Vec::new() };
            let api = ApiServer { nats, name, db, listen, mqtt: None, health: None };
            // It is ready once it has a database.
            Role::run(async |ready, stop| {
                ready(&());
                api.serve(|_| (), async { drop(stop.await) }).await
            })
        }
    };
    until("it ends", || role.has_ended());
    role.ended().expect_err("it may do more")
}

/// Runs a role with the user's permissions changed in the servers' configuration.
fn with_change(user: &NatsUser, from: &str, to: &str) -> String {
    let folder = tempfile::tempdir().expect("a folder");
    let pair = KeyPair::new_user();
    let file = folder.path().join("user.nk");
    fs::write(&file, pair.seed().expect("a seed")).expect("a file");
    fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).expect("ours");
    let mut users = vec![(user.clone(), pair.public_key())];
    // An account has users.
    users.push((NatsUser::Worker, KeyPair::new_user().public_key()));
    let text = accounts(&users);
    let changed = text.replacen(from, to, 1);
    assert_ne!(text, changed, "{from}");
    let server = nats::Nats::start_with(&changed);
    let nats = Nats { credentials: Some(file), ..servers(&server.url()) };
    let error = ended(nats, user, folder.path());
    assert!(matches!(error, ClusterError::WideUser { .. }) && error.is_usage(), "{to}: {error}");
    error.to_string()
}

#[test]
fn overprivileged_user_ends_role_with_permissions_to_give() {
    let publish = "publish: [\"wattseal.7.up.*.*.*.*.hall\"";
    let subscribe = "subscribe: [\"wattseal.7.down.hall\"";
    let of_gateway = [
        (publish, "$JS.API.>", "$JS.API.STREAM.DELETE"),
        (publish, "$JS.API.STREAM.PURGE.*", "$JS.API.STREAM.PURGE"),
        (publish, "$KV.>", "$KV.wattseal-leases"),
        (publish, "$KV.wattseal-settings.*", "$KV.wattseal-settings"),
        (publish, "wattseal.7.up.>", "wattseal.7.up"),
        (publish, "wattseal.*.up.*.*.*.*.hall", "wattseal.4294967295.up"),
        (publish, "wattseal.7.down.*", "wattseal.7.down"),
        (publish, "wattseal.*.ask.>", "wattseal.4294967295.ask"),
        (publish, ">", "$JS.API.STREAM.DELETE"),
        (subscribe, ">", "wattseal.4294967295.up"),
        (subscribe, "wattseal.7.down.*", "wattseal.7.down"),
        (subscribe, "wattseal.events", "wattseal.events"),
        (subscribe, "_INBOX.>", "_INBOX."),
    ];
    std::thread::scope(|scope| {
        for (list, more, named) in of_gateway {
            scope.spawn(move || {
                let error = with_change(&hall(), list, &format!("{list}, \"{more}\""));
                assert!(
                    error.contains(named) && error.contains(&format!("\n  {publish}]")),
                    "{more}: {error}"
                );
            });
        }
        scope.spawn(|| {
            let error = with_change(&NatsUser::Worker, "deny: [", "deny: [\"nothing\"] # [");
            assert!(error.contains("$JS.API.STREAM.DELETE"), "{error}");
        });
        scope.spawn(|| {
            let asked = "publish: [\"wattseal.*.ask.*.*.*.*\"";
            let error = with_change(&NatsUser::Api, asked, &format!("{asked}, \"$KV.>\""));
            assert!(error.contains("$KV.wattseal-leases") && error.contains(asked), "{error}");
        });
    });
}

#[test]
fn readiness_of_roles_says_that_their_users_are_narrow() {
    let folder = tempfile::tempdir().expect("a folder");
    let shipped = Shipped::one(folder.path());
    let server = postgres::shared();
    let db = DatabaseUrl::named(&server.url(&server.database())).expect("a URL");
    let worker = super::roles::worker_of(shipped.user("worker"), folder.path(), "one", &db);
    let hall = gateway(shipped.user("hall"), "hall", &[NetworkId(7)]);
    until("the worker made its tables", || super::roles::is_ready(worker.started.health));
    let api = api(shipped.user("api"), &db);
    for health in [worker.started.health, hall.started.health, api.started.health] {
        until("it was checked", || ask(health, "/health/ready").contains("\"permissions\":\"checked: "));
        assert_eq!(figure(health, "wattseal_nats_permissions_checked"), 1);
    }
    for health in [worker.started.health, hall.started.health] {
        until("it is well", || super::roles::is_ready(health));
    }
    let refused = figure(worker.started.health, "wattseal_worker_malformed_packets_total");
    assert_eq!(refused, 0, "what a role tried came somewhere");
}

/// A server on loopback that everybody may use does for a trial: a role says that, and works.
#[test]
fn readiness_without_users_on_loopback_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let server = nats::Nats::start();
    let worker = worker(servers(&server.url()), folder.path(), "one", None);
    let hall = gateway(servers(&server.url()), "hall", &[NetworkId::DEFAULT]);
    for health in [worker.started.health, hall.started.health] {
        until("it is well", || super::roles::is_ready(health));
        // The server may be reached before it was looked at.
        until("it says so", || ask(health, "/health/ready").contains("not checked: without --nats-creds"));
        assert_eq!(figure(health, "wattseal_nats_permissions_checked"), 0);
    }
}
