//! Workers as processes that write one database of PostgreSQL, which has the meters' keys, too:
//! what becomes of it when one is stopped for a while, or killed.

use super::stops::Process;
use super::{Radio, until};
use crate::keys::{kek, ring, store};
use crate::meters::station::SimulatedMeter;
use crate::operations::roles::{API, OWNER, separate_users};
use collector::partition::Slices;
use std::path::Path;
use std::time::{Duration, Instant};
use testkit::nats;
use testkit::postgres::{Server, shared};
use wire::meter::Suite;

/// Another has the partition by then. docs/how-to/cluster.md says how long it takes on a machine that is
/// not busy.
const TAKEN_WITHIN: Duration = Duration::from_secs(30);

/// Two workers that share four slices, a meter in each, and a gateway that hears them.
pub struct Stand {
    pub folder: tempfile::TempDir,
    pub nats: nats::Nats,
    pub url: String,
    server: &'static Server,
    database: String,
    pub meters: Vec<SimulatedMeter>,
    _gateway: Process,
    pub radio: Radio,
}

impl Stand {
    pub fn new() -> Stand {
        let (folder, nats, server) = (tempfile::tempdir().expect("a folder"), nats::Nats::start(), shared());
        let slices: Slices = "4".parse().expect("slices");
        let register = |slice| {
            let name = (258..).find(|name| slices.of(*name) == slice).expect("there is one");
            SimulatedMeter::register(&folder.path().join("files"), name, Suite::Aes128Gcm, 1)
        };
        let meters = (0..4).map(register).collect();
        let (url, database) = (nats.url(), server.database());
        let keys = store(&database, &ring(&[&kek(folder.path(), "kek")])).expect("a database");
        keys.import(&folder.path().join("files")).expect("imported");
        std::fs::remove_dir_all(folder.path().join("files")).expect("there");
        separate_users(server, &database);
        let gateway = Process::gateway(folder.path(), &url, "127.0.0.1:0");
        let radio = Radio::near(gateway.address("udp"));
        Stand { folder, nats, url, server, database, meters, _gateway: gateway, radio }
    }

    /// For workers, and for commands.
    pub fn db(&self) -> String {
        self.server.url_of(OWNER, &self.database)
    }

    pub fn db_of_api(&self) -> String {
        self.server.url_of(API, &self.database)
    }

    fn worker(&self, name: &str) -> Process {
        self.worker_with(name, &[])
    }

    /// more: arguments.
    pub fn worker_with(&self, name: &str, more: &[&str]) -> Process {
        let fixed = ["--slices", "4", "--kek-file", "kek"];
        Process::worker_of(self.folder.path(), &self.url, name, &self.db(), &[&fixed, more].concat())
    }

    fn two_workers(&self) -> [Process; 2] {
        let workers = [self.worker("one"), self.worker("two")];
        until("they share", || workers.iter().all(|worker| held(worker).len() == 2));
        assert!(!self.folder.path().join("keys").exists(), "no folder of keys");
        workers
    }

    pub fn sql(&self, sql: &str) -> String {
        self.server.sql(&self.database, sql)
    }

    pub fn report_all(&mut self) {
        for meter in &mut self.meters {
            self.radio.report(meter);
        }
    }

    pub fn log(&self, worker: &str) -> String {
        let path: &Path = self.folder.path();
        std::fs::read_to_string(path.join(format!("{worker}.log"))).expect("a log")
    }

    /// Each report that was acknowledged is there once.
    fn assert_stored_once(&self) {
        for meter in &self.meters {
            let name = meter.provision.setup().meter;
            let of_meter = format!(
                "SELECT string_agg(energy_dwh::text, ' ' ORDER BY n) FROM readings WHERE meter = {name}"
            );
            let all: Vec<String> = (1..=meter.n).map(|n| n.to_string()).collect();
            assert_eq!(self.sql(&of_meter), all.join(" "), "meter {name}");
            // Each reading counted one more, stored by either.
            let total = self.sql(&format!("SELECT total_dwh FROM latest WHERE meter = {name}"));
            assert_eq!(total, meter.n.to_string(), "meter {name}");
        }
    }
}

/// The slices that a worker has.
pub fn held(worker: &Process) -> Vec<usize> {
    let text = worker.asked("/metrics");
    let lines =
        text.lines().filter_map(|line| line.strip_prefix("wattseal_worker_partition_fence{partition=\"0."));
    lines.map(|line| line.split('"').next().and_then(|slice| slice.parse().ok()).expect("a slice")).collect()
}

pub fn figure(worker: &Process, name: &str) -> u64 {
    let text = worker.asked("/metrics");
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    found.unwrap_or_else(|| panic!("no {name} in {text}")).parse().expect("a number")
}

/// It stands still within a transaction, with locks of its partition and its meter: the other ends
/// that, and goes on.
#[test]
fn worker_stopped_in_a_transaction_stores_nothing_more() {
    let mut stand = Stand::new();
    let [one, two] = stand.two_workers();
    stand.report_all();
    stand.report_all();
    let holders = stand.sql("SELECT count(DISTINCT holder) FROM partitions WHERE fence > 0");
    assert_eq!(holders, "2", "both store at once");
    let slice = held(&one)[0];
    let name = stand.meters[slice].provision.setup().meter;
    let row = format!("SELECT FROM latest WHERE meter = {name} FOR UPDATE");
    let locked = stand.server.transaction(&stand.database, &row);
    let report = stand.meters[slice].report();
    stand.radio.send(&report);
    let waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    until("it waits for its meter's row", || stand.sql(waits) == "1");
    one.pause();
    let begun = Instant::now();
    drop(locked);
    let idle = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'";
    until("its transaction is not over", || stand.sql(idle) == "1");
    stand.radio.deliver(&stand.meters[slice], &report);
    let taken = begun.elapsed();
    println!("stopped within a transaction: its report is acknowledged after {taken:?}");
    assert!(taken < TAKEN_WITHIN, "{taken:?}");
    stand.report_all();
    assert_eq!(held(&two).len(), 4);

    one.signal("-CONT");
    // On a busy machine it may have lost one before.
    until("it knows", || figure(&one, "wattseal_worker_leases_lost_total") >= 2);
    stand.assert_stored_once();
    stand.report_all();
    until("they share again", || held(&one).len() == 2 && held(&two).len() == 2);
    stand.report_all();
    stand.assert_stored_once();
    one.stop();
    two.stop();
}

/// The database refuses what is under a lease that another followed, also where the worker believes
/// that it holds; one that is killed has nothing that the other cannot take.
#[test]
fn refused_report_is_unacknowledged_and_stored_by_next_worker() {
    let mut stand = Stand::new();
    let [one, two] = stand.two_workers();
    stand.report_all();
    let slice = held(&one)[0];
    // As another does that takes it.
    stand.sql(&format!("UPDATE partitions SET fence = fence + 1 WHERE network = 0 AND slice = {slice}"));
    let report = stand.meters[slice].report();
    stand.radio.send(&report);
    until("it is refused", || figure(&one, "wattseal_worker_fenced_transactions_total") > 0);
    assert!(!stand.radio.is_acknowledged(
        &stand.meters[slice],
        stand.meters[slice].n,
        Duration::from_millis(500)
    ));
    let said =
        format!("the database refuses it: another has the partition under a later lease partition=0.{slice}");
    let log = stand.log("one");
    assert!(log.contains(&said), "{log}");
    // Delivered again by JetStream, to who takes the partition next.
    let meter = &stand.meters[slice];
    until("it is stored all the same", || {
        stand.radio.is_acknowledged(meter, meter.n, Duration::from_millis(100))
    });
    stand.report_all();
    until("they share again", || held(&one).len() == 2 && held(&two).len() == 2);

    let slice = held(&one)[0];
    let last = stand.meters[slice].report();
    stand.radio.send(&last);
    let begun = Instant::now();
    one.kill();
    stand.radio.deliver(&stand.meters[slice], &last);
    println!("killed: its report is acknowledged after {:?}", begun.elapsed());
    assert!(begun.elapsed() < TAKEN_WITHIN, "{:?}", begun.elapsed());
    stand.report_all();
    stand.assert_stored_once();
    two.stop();
}
