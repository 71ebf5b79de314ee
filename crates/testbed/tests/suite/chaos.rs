//! Acknowledged readings exist, whatever part of the cluster is killed, paused or cut off.

mod networks;

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Once;
use std::time::{Duration, Instant};
use testbed::chaos::firmware::FirmwareCounts;
use testbed::chaos::report::report;
use testbed::chaos::run::{ClusterObserver, ClusterRequest, ClusterStatus, run};
use testkit::documents::{commands, home, is_cluster_s};
use testkit::random;

const WITHIN: Duration = Duration::from_secs(120);

/// The collector's program, which tests of all packages together have built; else it is built now.
fn collector() -> PathBuf {
    static BUILT: Once = Once::new();
    // Beside the folder `deps` that tests are built into.
    let own = std::env::current_exe().expect("this program");
    let program = own.ancestors().nth(2).expect("a folder").join("wattseal-collector");
    BUILT.call_once(|| {
        if !program.exists() {
            let arguments =
                ["build", "--locked", "--package", "wattseal-collector", "--bin", "wattseal-collector"];
            let built = Command::new(env!("CARGO")).args(arguments).current_dir(home()).status();
            assert!(built.is_ok_and(|built| built.success()), "the collector is not built");
        }
    });
    program
}

/// As libtest shows it where a test fails.
struct Told;

impl ClusterObserver for Told {
    fn preparing(&mut self, what: &str) {
        println!("{what}");
    }

    fn event(&mut self, at: Duration, what: &str) {
        println!("{:.1} s  {what}", at.as_secs_f64());
    }

    fn show(&mut self, _: &ClusterStatus<'_>) {}
}

fn harmed(kills: usize, meters: u16) {
    let request = ClusterRequest {
        lasts: None,
        kills: Some(kills),
        chaos: true,
        seed: random::seed(),
        meters,
        firmware: FirmwareCounts { emulated: 1, host: 2 },
        collector: collector(),
    };
    let result = run(&request, &|| false, &mut Told).expect("it runs").expect("it began");
    println!("{}", report(&result, output::Format::Table).expect("a table"));
    assert!(result.is_good(), "{:?}", result.wrong);
    assert_eq!(result.harms, kills);
    assert!(
        result.checked.stored >= result.checked.acknowledged
            && result.checked.acknowledged >= u64::from(meters)
    );
    let firmware = &result.checked.firmware_meters;
    assert_eq!(firmware.iter().map(|meter| meter.board).collect::<Vec<_>>(), [Some("emontx"), None, None]);
    for meter in firmware {
        // Whatever it made is acknowledged or counted as lost; what was acknowledged is there.
        assert_eq!(u64::from(meter.measurements), meter.acknowledged + u64::from(meter.lost), "{meter:?}");
        assert!(meter.acknowledged > 0 && meter.stored >= meter.acknowledged, "{meter:?}");
    }
    // Whether commands come through among so few harms is by chance; of none it may be that it was
    // done twice.
    assert!(result.partitions_looked > 0);
}

#[test]
fn acknowledged_readings_survive_a_few_harms() {
    harmed(6, 8);
}

/// docs/how-to/chaos.md.
#[test]
#[ignore = "takes an hour and more"]
fn acknowledged_readings_survive_500_harms() {
    let kills = std::env::var("WATTSEAL_KILLS").map_or(500, |kills| kills.parse().expect("a number"));
    harmed(kills, 16);
}

/// A program with the cluster; a test that fails leaves none.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The program, once its dashboard is there, and what it says.
fn started(folder: &Path) -> (Program, BufReader<ChildStderr>) {
    collector();
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-chaos"));
    command.env("TMPDIR", folder).args(["--cluster", "--emulated", "0", "--format", "json"]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut program = Program(command.spawn().expect("it runs"));
    let mut said = BufReader::new(program.0.stderr.take().expect("it is piped"));
    let mut lines = String::new();
    while !lines.contains("the dashboard: http://") {
        let read = said.read_line(&mut lines);
        assert!(read.is_ok_and(|bytes| bytes > 0), "it does not start: {lines}");
    }
    (program, said)
}

/// Processes that name a folder among their arguments.
fn processes_of(folder: &Path) -> usize {
    let name = folder.display().to_string();
    let own = |entry: std::fs::DirEntry| {
        let arguments = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&arguments).contains(&name)
    };
    std::fs::read_dir("/proc")
        .expect("it is there")
        .flatten()
        .filter_map(|entry| own(entry).then_some(()))
        .count()
}

#[test]
fn every_cluster_that_is_shown_works() {
    const PAGE: &str = "docs/tutorials/cluster-on-one-machine.md";
    collector();
    let lines = commands(PAGE);
    assert!(lines.len() >= 2 && lines.iter().all(|line| is_cluster_s(line)), "{lines:?}");
    for line in lines {
        let run = line.replacen("./wattseal demo", env!("CARGO_BIN_EXE_wattseal-chaos"), 1);
        let output = Command::new("sh").arg("-c").arg(&run).current_dir(home()).output().expect("a shell");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{PAGE}: {line}\n{error}");
    }
}

fn ends_without_a_trace(signal: &str) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("cluster{signal}"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let (mut program, _said) = started(&folder);
    // Three of NATS, two of PostgreSQL, and who clears up. Roles name the folder otherwise.
    assert!(processes_of(&folder) >= 6, "{}", processes_of(&folder));
    let told = Command::new("kill").args([signal, &program.0.id().to_string()]).status().expect("kill runs");
    assert!(told.success());
    let ended = program.0.wait().expect("it ends");
    assert_eq!(ended.success(), signal != "-KILL", "{ended}");
    let begun = Instant::now();
    while std::fs::read_dir(&folder).expect("it is there").next().is_some() || processes_of(&folder) > 0 {
        assert!(begun.elapsed() < WITHIN, "something was left");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn ctrl_c_leaves_no_process_and_no_folder() {
    ends_without_a_trace("-INT");
}

#[test]
fn a_demonstration_that_is_killed_leaves_none_either() {
    ends_without_a_trace("-KILL");
}
