//! The launcher installs and builds what a command needs and no more, and chooses the tests of a
//! tier.

use output::commands::ELSEWHERE;
use std::fs;
use std::path::{Path, PathBuf};
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
        programs::copy(&home().join("board-names.toml"), &at("board-names.toml"));
        fs::create_dir_all(at("targets")).expect("a folder");
        for target in ["atmega328p", "r8c", "rp2040", "stm32f407"] {
            let file = format!("targets/{target}.toml");
            programs::copy(&home().join(&file), &at(&file));
        }
        programs::script(
            &at("bin/apt-get"),
            r#"case " $* " in
*" --assume-no "*) echo "Need to get 31.4 MB of archives."; exit 1 ;;
*" update "*) ;;
*) echo "$@" | sed 's/.*-recommends/installs/' >>"$LOG" ;;
esac"#,
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

    fn root(&self) -> &Path {
        self.folder.path()
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
    let firmware = "installs build firmware avr-gcc arm-none-eabi-gcc riscv64-unknown-elf-gcc clang sdcc";
    // Those of the boards of the demonstrations' meters alone.
    let of_demo = "installs build firmware avr-gcc";
    let of_cluster = "installs build firmware avr-gcc clang cluster";
    let command = "build wattseal-cli --bin wattseal";
    let collector = "build wattseal-collector --bin wattseal-collector";
    let demo = "build wattseal-testbed --bin wattseal-demo";
    let load = format!("{collector} --no-default-features --package wattseal-testbed --bin wattseal-load");
    let chaos = format!("{collector} --package wattseal-testbed --bin wattseal-chaos");
    for (line, installs, builds, runs) in [
        ("bench --all", firmware, command, "run wattseal bench --all"),
        ("measure x", "installs build", command, "run wattseal measure x"),
        ("measure --help", "installs build", command, "run wattseal measure --help"),
        ("--help", "installs build", command, "run wattseal --help"),
        ("bench --help", "installs build", command, "run wattseal bench --help"),
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

/// A launcher with the sources that the command's binary is compared with.
fn with_sources() -> Launcher {
    let launcher = Launcher::new();
    launcher.set_cargo(BUILDS);
    fs::create_dir_all(launcher.at("crates/cli")).expect("made");
    for file in ["crates/cli/main.rs", "Cargo.toml", "Cargo.lock", "rust-toolchain.toml"] {
        fs::write(launcher.at(file), "").expect("written");
    }
    // Older than whatever is built now.
    let aged = Command::new("find")
        .arg(launcher.root())
        .args(["-exec", "touch", "-d", "1 minute ago", "{}", "+"])
        .status();
    assert!(aged.expect("find runs").success());
    launcher
}

#[test]
fn fresh_binary_is_run_without_cargo_or_compilers() {
    let launcher = with_sources();
    let builds = |line: &str| {
        let (_, log) = launcher.run(line);
        assert!(log.last().is_some_and(|last| last.starts_with("run wattseal")), "{line}: {log:?}");
        log.iter().filter(|line| line.starts_with("build ")).count()
    };
    assert_eq!(builds("measure x"), 1);
    for line in ["measure x", "--help", "bench --help", "help ct", "man folder", "no-such-command"] {
        let (_, log) = launcher.run(line);
        assert_eq!(log.len(), 1, "{line}: {log:?}");
    }
    // Another set of features has a binary of its own, which is good for both.
    assert_eq!(builds("simulate x"), 1);
    assert_eq!((builds("simulate x"), builds("run x")), (0, 0));
    for features in ["plain", "simulator"] {
        assert!(launcher.at(&format!("target/launcher/{features}/wattseal")).exists());
    }
    fs::write(launcher.at("crates/cli/main.rs"), "changed").expect("written");
    assert_eq!((builds("run x"), builds("run x")), (1, 0));
    fs::remove_file(launcher.at("crates/cli/main.rs")).expect("removed");
    assert_eq!(builds("run x"), 1);
}

/// A newcomer's first lines, and a slip of the fingers, wait for no build.
#[test]
fn launcher_tells_help_without_a_build() {
    let launcher = with_sources();
    fs::create_dir_all(launcher.at("crates/cli/help")).expect("made");
    for name in ["wattseal", "bench", "measure", "verify-board", "firmware", "firmware-sign"] {
        fs::write(launcher.at(&format!("crates/cli/help/{name}.txt")), format!("help of {name}\n"))
            .expect("written");
    }
    for (line, told) in [
        ("--help", "wattseal"),
        ("-h", "wattseal"),
        ("help", "wattseal"),
        ("help bench", "bench"),
        ("bench --target x --help", "bench"),
        ("measure fw.elf --help", "measure"),
        ("verify-board -h", "verify-board"),
        ("firmware sign --help", "firmware-sign"),
        ("help firmware sign", "firmware-sign"),
    ] {
        let (output, log) = launcher.run(line);
        let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
        assert_eq!((text, log.len()), (format!("help of {told}\n"), 0), "{line}: {}", said(&output));
        assert_eq!(output.status.code(), Some(0), "{line}");
    }
    for (line, suggests) in [("mesure x", "did you mean measure?"), ("help benhc", "did you mean bench?")] {
        let (output, log) = launcher.run(line);
        assert_eq!((output.status.code(), log.len()), (Some(2), 0), "{line}: {log:?}");
        assert!(said(&output).contains(suggests), "{line}: {}", said(&output));
    }
    for line in ["measure x", "run fw.elf -- --help"] {
        let (_, log) = launcher.run(line);
        assert!(log.iter().any(|line| line.starts_with("build ")), "{line}: {log:?}");
        fs::remove_dir_all(launcher.at("target/launcher")).expect("removed");
        // It is a command as soon as it has help.
        fs::write(launcher.at("crates/cli/help/run.txt"), "help of run\n").expect("written");
    }
}

/// An installed release of this commit is as good as a build; of another commit it is not.
#[test]
fn release_of_the_same_commit_is_run() {
    let launcher = with_sources();
    let git = |line: &str| {
        let output =
            Command::new("git").args(line.split(' ')).current_dir(launcher.root()).output().expect("git");
        assert!(output.status.success(), "{line}: {}", said(&output));
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    };
    git("init --quiet");
    git("add crates packages.txt Cargo.toml Cargo.lock rust-toolchain.toml");
    git("-c user.name=n -c user.email=e commit --quiet --message m");
    let commit = git("rev-parse --short=12 HEAD");
    let release = |commit: &str| {
        let lines = format!(
            "[ \"$1\" != --version ] || {{ echo 'wattseal 1.2.3 ({commit})'; exit; }}\necho run release >>\"$LOG\""
        );
        programs::script(&launcher.at("bin/wattseal"), &lines);
    };
    release(&commit);
    assert_eq!(launcher.run("measure x").1, ["run release"]);
    fs::write(launcher.at("crates/cli/main.rs"), "changed").expect("written");
    assert!(launcher.run("measure x").1.iter().any(|line| line.starts_with("build ")));
    git("checkout --quiet crates");
    fs::remove_dir_all(launcher.at("target/launcher")).expect("removed");
    release("0123456789ab");
    assert!(launcher.run("measure x").1.iter().any(|line| line.starts_with("build ")));
}

#[test]
fn launcher_says_what_it_waits_for() {
    let launcher = with_sources();
    fs::create_dir_all(launcher.at("target/launcher")).expect("made");
    let lock = launcher.at("target/launcher/lock");
    let mut other = Command::new("flock").arg(&lock).args(["sleep", "1"]).spawn().expect("flock runs");
    while Command::new("flock")
        .arg("--nonblock")
        .arg(&lock)
        .arg("true")
        .status()
        .expect("flock runs")
        .success()
    {}
    let (output, log) = launcher.run("measure x");
    assert!(other.wait().expect("it ends").success());
    assert!(said(&output).contains("waiting for another ./wattseal, which builds"), "{}", said(&output));
    assert!(log.iter().any(|line| line.starts_with("build ")), "{log:?}");
}

#[test]
fn launcher_installs_the_compilers_of_the_chosen_targets_alone() {
    let launcher = Launcher::new();
    launcher.set_cargo(BUILDS);
    let all = "avr-gcc arm-none-eabi-gcc riscv64-unknown-elf-gcc clang sdcc";
    for (line, compilers) in [
        ("bench --target atmega328p", "avr-gcc"),
        ("bench --target=stm32f407 --op sha1", "arm-none-eabi-gcc"),
        ("ct --target atmega* --target rp2040", "avr-gcc arm-none-eabi-gcc"),
        ("plan --target uno", "avr-gcc"),
        ("bench --compare atmega328p pico", "avr-gcc arm-none-eabi-gcc"),
        ("bench --target r8c --compare small fast", ""),
        ("bench --op sha1", all),
        ("bench --target ./own.toml", all),
        ("reproduce all", all),
    ] {
        let (output, log) = launcher.run(line);
        let expected = format!("installs build firmware {compilers}");
        assert_eq!(log.first().map(String::as_str), Some(expected.trim_end()), "{line}: {}", said(&output));
        assert!(said(&output).contains("wattseal: to be fetched: 31.4 MB of archives."), "{line}");
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

/// Each lane is run to its end.
#[test]
fn failure_of_a_lane_of_tests_fails_the_tier() {
    for (lane, other) in
        [("computing", "npm test"), ("commands", "npm test"), ("waiting", "mutations --spread")]
    {
        let launcher = with_tests();
        launcher.set_cargo(&format!(r#"[ "${{WATTSEAL_LANE:-}}" != {lane} ] || exit 1; echo "$@" >>"$LOG""#));
        let (output, log) = launcher.run("test");
        assert_eq!(output.status.code(), Some(1), "{lane}: {}", said(&output));
        assert!(log.contains(&other.to_owned()), "{lane}: {log:?}");
    }
}

/// The launcher waits for all parts, and says why one of them failed.
#[test]
fn failure_of_mutations_or_dashboard_fails_the_tier() {
    for (tool, script, why) in [
        ("bin/npm", "[ $1 != run ]", "dashboard's build failed"),
        ("bin/npm", "[ $1 != test ]", "dashboard's tests failed"),
        ("crates/testkit/mutations/run.py", "exit 1", "no test noticed"),
    ] {
        let launcher = with_tests();
        programs::script(&launcher.at(tool), script);
        let (output, _) = launcher.run("test");
        assert_eq!(output.status.code(), Some(1), "{tool}: {script}");
        assert!(said(&output).contains(why), "{tool}: {script}: {}", said(&output));
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
        "check --locked --release --package wattseal-device".to_owned(),
    ];
    let with_runner = |options: &str, name: &str| {
        let runner = launcher.at(name);
        format!("{every} --tests{options} --config target.'cfg(all())'.runner = '{}'", runner.display())
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
    // A fresh clone has no such folder. Two parts run beside each other, then the build, then
    // lanes.
    fs::remove_dir_all(launcher.at("target")).expect("it was there");
    let full = parts("test");
    let (build, lane) = (lints[1].clone(), with_runner(" --no-fail-fast", "ci/run-lane"));
    let computing = vec![lane.clone(), format!("{every} --doc"), "mutations --spread".to_owned()];
    let is_web = |part: &&String| part.starts_with("npm ");
    let (before, after) = full.split_at(full.iter().position(|part| *part == build).expect("a build"));
    let (web, others): (Vec<_>, Vec<_>) = before.iter().partition(is_web);
    assert_eq!(others, [&lints[0], &lints[2], &lints[3], &lints[4]]);
    assert_eq!(web, [&dashboard[0], &dashboard[1]]);
    let (web, others): (Vec<_>, Vec<_>) = after[1..].iter().partition(is_web);
    assert_eq!(web, dashboard[2..].iter().collect::<Vec<_>>());
    let mut expected = computing;
    expected.extend([lane.clone(), lane]);
    expected.sort();
    let mut others: Vec<_> = others.into_iter().cloned().collect();
    others.sort();
    assert_eq!(others, expected);
    assert_eq!(
        parts("test --quick --since HEAD~3"),
        [
            "affected --since HEAD~3".to_owned(),
            "fmt --all --check".to_owned(),
            with_runner("", "ci/run-affected")
        ]
    );
    let long = parts("test --long --package wattseal-wire");
    assert_eq!(long[0], "test --locked --package wattseal-wire");
    assert!(
        long[1].starts_with(&format!("{} --no-fail-fast -- --ignored --skip=renew", long[0])),
        "{long:?}"
    );
}
