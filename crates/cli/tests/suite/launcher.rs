//! The launcher installs and builds what a command needs and no more, and chooses the tests of a
//! tier.

use output::commands::ELSEWHERE;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};
use testkit::documents::home;
use testkit::programs;

/// The launcher in a folder where Rust, Debian's packages and the binaries are replaced by programs
/// that write down how they were called.
pub struct Launcher {
    folder: tempfile::TempDir,
}

impl Launcher {
    fn new() -> Launcher {
        let launcher = Launcher { folder: tempfile::tempdir().expect("a folder") };
        let at = |name: &str| launcher.at(name);
        for inner in ["bin", "target/release", "web/src", "web/dist"] {
            fs::create_dir_all(at(inner)).expect("a folder");
        }
        for file in ["web/index.html", "web/package-lock.json", "web/vite.config.ts", "web/dist/index.html"] {
            fs::write(at(file), "").expect("written");
        }
        programs::copy(&home().join("wattseal"), &at("wattseal"));
        fs::write(at("packages.txt"), missing_packages()).expect("written");
        programs::script(
            &at("bin/apt-get"),
            r#"[ "$1" = update ] || echo "$@" | sed 's/.*-recommends/installs/' >>"$LOG""#,
        );
        programs::script(&at("bin/sudo"), r#"[ "$1" != -n ] || shift; exec "$@""#);
        for binary in ["wattseal", "wattseal-chaos", "wattseal-collector", "wattseal-load", "wattseal-demo"] {
            programs::script(
                &at("target/release").join(binary),
                &format!("echo run {binary} \"$@\" >>\"$LOG\"; exit 2"),
            );
        }
        launcher
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Replaces cargo by a shell's `lines`.
    fn set_cargo(&self, lines: &str) {
        programs::script(&self.at("bin/cargo"), lines);
    }

    /// Runs the launcher, and returns what it said and the log.
    pub fn run(&self, line: &str) -> (Output, Vec<String>) {
        let log = self.at("log");
        let _ = fs::remove_file(&log);
        let output = Command::new(self.at("wattseal"))
            .args(line.split(' '))
            .env("PATH", format!("{}:/usr/bin:/bin", self.at("bin").display()))
            .env("LOG", &log)
            .output()
            .expect("it runs");
        let log = fs::read_to_string(&log).unwrap_or_default();
        (output, log.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect())
    }
}

/// The list of packages with tools that are nowhere, each of a package with its group's name; of
/// compilers each has its own.
fn missing_packages() -> String {
    let packages = fs::read_to_string(home().join("packages.txt")).expect("the list of packages");
    let mut wanted: Vec<String> = packages
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| {
            let (group, rest) = line.split_once(' ')?;
            let tool = rest.split_whitespace().next()?;
            Some(match group {
                "compilers" => format!("{group} {tool} {tool} /nowhere\n"),
                _ => format!("{group} no-such-tool {group}\n"),
            })
        })
        .collect();
    wanted.dedup();
    wanted.concat()
}

fn said(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).expect("UTF-8")
}

const BUILDS: &str = r#"[ "$1" != --version ] || exit "${NO_RUST:-0}"
echo "$@" | sed 's/.*Cargo.toml//; s/--package/build/; s/.*build/build/' >>"$LOG""#;

#[test]
fn the_launcher_installs_and_builds_what_a_command_needs() {
    let launcher = Launcher::new();
    launcher.set_cargo(BUILDS);
    let launched = |line: &str| {
        let (output, log) = launcher.run(line);
        assert_eq!(output.status.code(), Some(2), "{line}: {}", said(&output));
        log
    };
    let firmware =
        "installs build firmware openssl avr-gcc arm-none-eabi-gcc riscv64-unknown-elf-gcc clang sdcc";
    // Those of the boards of the demonstrations' meters alone.
    let of_demo = "installs build firmware openssl avr-gcc";
    let of_cluster = "installs build firmware openssl avr-gcc clang cluster";
    let command = "build wattseal-cli --bin wattseal";
    let collector = "build wattseal-collector --bin wattseal-collector";
    let demo = "build wattseal-testbed --bin wattseal-demo";
    let load = format!("{collector} --no-default-features --package wattseal-testbed --bin wattseal-load");
    let chaos = format!("{collector} --package wattseal-testbed --bin wattseal-chaos");
    for (line, installs, builds, runs) in [
        ("bench --all", firmware, command, "run wattseal bench --all"),
        ("measure x", "installs build openssl", command, "run wattseal measure x"),
        ("--help", "installs build openssl", command, "run wattseal --help"),
        ("collect --udp x", "installs build", collector, "run wattseal-collector collect --udp x"),
        ("help audit", "installs build", collector, "run wattseal-collector help audit"),
        ("load --kills 2", "installs build", &load, "run wattseal-load --kills 2"),
        ("demo --for 2", of_demo, demo, "run wattseal-demo --for 2"),
        ("demo --cluster --for 2", of_cluster, &chaos, "run wattseal-chaos --cluster --for 2"),
        ("help demo", of_demo, demo, "run wattseal-demo --help"),
    ] {
        assert_eq!(launched(line), [installs, builds, runs], "{line}");
    }
    // The launcher runs the binary that the list names.
    for elsewhere in ELSEWHERE {
        let run = launched(elsewhere.name).pop().expect("a line");
        assert_eq!(run.split(' ').nth(1), Some(elsewhere.binary), "{}", elsewhere.name);
    }
}

#[test]
fn toolchain_that_rustup_lacks_is_one_sentence() {
    let launcher = Launcher::new();
    launcher.set_cargo("exit 1");
    fs::write(launcher.at("rust-toolchain.toml"), "[toolchain]\nchannel = \"1.2.3\"\n").expect("written");
    let (output, _) = launcher.run("bench");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.ends_with("install it with: rustup toolchain install 1.2.3\n"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// A launcher whose cargo knows two options of `cargo test`, and whose tools are there.
pub fn with_tests() -> Launcher {
    let launcher = Launcher::new();
    fs::write(launcher.at("packages.txt"), "").expect("written");
    launcher.set_cargo(
        r#"[ "$1 $2" != "test -h" ] || { echo "-p, --package [<SPEC>] Package"; echo "--lib Library"; }
[ "$1 ${2:--}" = "test -h" ] || [ "$1" = --version ] || echo "$@" >>"$LOG""#,
    );
    for tool in [
        "bin/clippy-driver",
        "device/ports/r8c/build-binutils",
        "crates/testkit/oracles/build-gdb-sim",
        "advisories/age",
    ] {
        fs::create_dir_all(launcher.at(tool).parent().expect("a folder")).expect("made");
        programs::script(&launcher.at(tool), "");
    }
    for (tool, log) in [("crates/testkit/mutations/run.py", "mutations"), ("bin/npm", "npm")] {
        fs::create_dir_all(launcher.at(tool).parent().expect("a folder")).expect("made");
        programs::script(&launcher.at(tool), &format!("echo {log} \"$@\" >>\"$LOG\""));
    }
    fs::create_dir_all(launcher.at("ci")).expect("made");
    programs::script(&launcher.at("ci/affected"), "echo affected \"$@\" >>\"$LOG\"; echo wattseal-wire");
    launcher
}

#[test]
fn tests_by_wrong_options_exit_2_with_an_example() {
    let launcher = with_tests();
    for (line, why) in [
        ("--bogus", "option --bogus"),
        ("--package x --packag", "option --packag"),
        ("--quick --long", "two tiers"),
        ("--since HEAD", "--since belongs to --quick"),
        ("--quick --since", "--since needs a commit"),
        ("--quick --lib", "--quick chooses the tests itself"),
        ("--only everything", "lints, mutations or dashboard"),
        ("--only lints --lib", "no further arguments"),
    ] {
        let (output, log) = launcher.run(&format!("test {line}"));
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(why) && said.contains("example: ./wattseal test -"), "{line}: {said}");
        assert_eq!((said.lines().count(), log.len()), (1, 0), "{line}: {said}{log:?}");
    }
}

/// Beside `--workspace` cargo passes over `--package`.
#[test]
fn tests_of_a_package_are_that_package_s_alone() {
    let launcher = with_tests();
    let every = "test --locked --workspace --exclude wattseal-python";
    for (line, expected) in [
        ("--package wattseal-wire", "test --locked --package wattseal-wire".to_owned()),
        ("-p wattseal-wire --lib", "test --locked -p wattseal-wire --lib".to_owned()),
        ("vectors:: -- --nocapture", format!("{every} vectors:: -- --nocapture")),
    ] {
        let (output, log) = launcher.run(&format!("test {line}"));
        assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
        assert_eq!(log, [expected], "{line}");
    }
}

/// The launcher waits for all parts.
#[test]
fn failure_of_a_lane_of_tests_fails_the_tier() {
    for lane in ["computing", "waiting"] {
        let launcher = with_tests();
        launcher.set_cargo(&format!(r#"[ "${{WATTSEAL_LANE:-}}" != {lane} ] || exit 1; echo "$@" >>"$LOG""#));
        let (output, log) = launcher.run("test");
        assert_eq!(output.status.code(), Some(1), "{lane}: {}", said(&output));
        assert!(log.contains(&"mutations --spread".to_owned()), "{lane}: {log:?}");
    }
}

/// The launcher waits for all parts, and says why one of them failed.
#[test]
fn failure_of_mutations_or_dashboard_fails_the_tier() {
    for (tool, why) in [
        ("bin/npm", "dashboard's build or tests failed"),
        ("crates/testkit/mutations/run.py", "no test noticed"),
    ] {
        let launcher = with_tests();
        programs::script(&launcher.at(tool), "exit 1");
        let (output, _) = launcher.run("test");
        assert_eq!(output.status.code(), Some(1), "{tool}");
        assert!(said(&output).contains(why), "{tool}: {}", said(&output));
    }
}

#[test]
fn tiers_run_their_parts_in_order() {
    let launcher = with_tests();
    let every = "test --locked --workspace --exclude wattseal-python";
    let lints = [
        "fmt --all --check".to_owned(),
        format!("{every} --tests --bench * --example * --no-run"),
        "check --locked --package wattseal-cli --no-default-features".to_owned(),
        "check --locked --package wattseal-python".to_owned(),
    ];
    let with_runner = |name: &str| {
        let runner = launcher.at(name);
        format!("{every} --tests --config target.'cfg(all())'.runner = '{}'", runner.display())
    };
    let parts = |line: &str| {
        let (output, log) = launcher.run(line);
        assert_eq!(output.status.code(), Some(0), "{line}: {}", said(&output));
        log
    };
    let dashboard = parts("test --only dashboard");
    assert!(dashboard.len() > 2 && dashboard.iter().all(|part| part.starts_with("npm ")), "{dashboard:?}");
    assert_eq!(parts("test --only lints"), lints);
    assert_eq!(parts("test --only mutations"), ["mutations --spread"]);
    let full = parts("test");
    assert_eq!(full[..2], lints[..2]);
    // Run beside each other: two lanes of tests, the checks with the mutations, and the dashboard.
    let lane = with_runner("ci/run-lane");
    let mut expected = vec![lane.clone(), lane, format!("{every} --doc"), "mutations --spread".to_owned()];
    expected.extend(lints[2..].iter().chain(&dashboard).cloned());
    let mut beside = full[2..].to_vec();
    beside.sort();
    expected.sort();
    assert_eq!(beside, expected);
    assert_eq!(
        parts("test --quick --since HEAD~3"),
        [
            "affected --since HEAD~3".to_owned(),
            "fmt --all --check".to_owned(),
            with_runner("ci/run-affected")
        ]
    );
    let long = parts("test --long --package wattseal-wire");
    assert_eq!(long[0], "test --locked --package wattseal-wire");
    assert!(
        long[1].starts_with(&format!("{} --no-fail-fast -- --ignored --skip=renew", long[0])),
        "{long:?}"
    );
}
