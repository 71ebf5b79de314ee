//! One door to all commands: `wattseal --help` lists them, `wattseal` hands over those of other
//! binaries, and the launcher installs and builds what a command needs and no more.

use output::commands::ELSEWHERE;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
use testkit::documents::home;
use testkit::programs;

fn wattseal(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wattseal")).args(arguments).output().expect("the binary under test runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn help_lists_all_commands_in_one_place() {
    let help = wattseal(&["--help"]);
    let help = text(&help.stdout);
    let listed: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next().filter(|name| !name.is_empty()))
        .collect();
    let commands = [
        "bench",
        "measure",
        "check",
        "run",
        "ct",
        "reproduce",
        "plan",
        "simulate",
        "firmware",
        "completions",
        "man",
        "collect",
        "gateway",
        "worker",
        "api",
        "nkey",
        "load",
        "meters",
        "tokens",
        "audit",
        "export",
        "backup",
        "migrate",
        "demo",
        "help",
    ];
    assert_eq!(listed[..commands.len()], commands, "{help}");
    let wrong = wattseal(&["colect"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(text(&wrong.stderr).contains("'collect'"), "{}", text(&wrong.stderr));
}

#[test]
fn a_command_of_another_binary_is_handed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("wattseal");
    programs::copy(Path::new(env!("CARGO_BIN_EXE_wattseal")), &own);
    let run = |arguments: &[&str]| Command::new(&own).args(arguments).output().expect("it runs");
    // Without the other binary it says how to have it.
    for elsewhere in ELSEWHERE {
        let output = run(&[elsewhere.name]);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        let builds = format!("cargo build --release --package {}", elsewhere.binary);
        assert!(said.starts_with("wattseal: ") && said.contains(&builds), "{said}");
    }
    for binary in ["wattseal-collector", "wattseal-load", "wattseal-demo"] {
        programs::script(&folder.path().join(binary), &format!("echo {binary} \"$@\"; exit 2"));
    }
    for (arguments, handed) in [
        (&["collect", "--help"][..], "wattseal-collector collect --help"),
        (&["meters", "provision", "7"], "wattseal-collector meters provision 7"),
        (&["help", "meters", "add"], "wattseal-collector meters add --help"),
        (&["load", "--kills", "2"], "wattseal-load --kills 2"),
        (&["help", "demo"], "wattseal-demo --help"),
        (&["move", "--from", "a"], "wattseal-collector migrate --from a"),
    ] {
        let output = run(arguments);
        assert_eq!((text(&output.stdout).trim(), output.status.code()), (handed, Some(2)), "{arguments:?}");
    }
}

/// The launcher in a folder where Rust, Debian's packages and the binaries are replaced by programs
/// that say how they were called.
#[test]
fn the_launcher_installs_and_builds_what_a_command_needs() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    for inner in ["bin", "target/release", "web/src", "web/dist"] {
        fs::create_dir_all(at(inner)).expect("a folder");
    }
    for file in ["web/index.html", "web/package-lock.json", "web/vite.config.ts", "web/dist/index.html"] {
        fs::write(at(file), "").expect("written");
    }
    programs::copy(&home().join("wattseal"), &at("wattseal"));
    let packages = fs::read_to_string(home().join("packages.txt")).expect("the list of packages");
    // Each group wants what is nowhere, of a package of the group's name; of compilers each has its
    // own.
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
    fs::write(at("packages.txt"), wanted.concat()).expect("written");
    programs::script(
        &at("bin/apt-get"),
        r#"[ "$1" = update ] || echo "$@" | sed 's/.*-recommends/installs/' >>"$LOG""#,
    );
    programs::script(&at("bin/sudo"), r#"[ "$1" != -n ] || shift; exec "$@""#);
    programs::script(
        &at("bin/cargo"),
        r#"[ "$1" != --version ] || exit "${NO_RUST:-0}"; echo "$@" | sed 's/.*Cargo.toml//; s/--package/build/; s/.*build/build/' >>"$LOG""#,
    );
    for binary in ["wattseal", "wattseal-chaos", "wattseal-collector", "wattseal-load", "wattseal-demo"] {
        programs::script(
            &at("target/release").join(binary),
            &format!("echo run {binary} \"$@\" >>\"$LOG\"; exit 2"),
        );
    }
    let path = format!("{}:/usr/bin:/bin", at("bin").display());
    let launched = |line: &str| {
        let log = at("log");
        let _ = fs::remove_file(&log);
        let mut launcher = Command::new(at("wattseal"));
        let status =
            launcher.args(line.split(' ')).env("PATH", &path).env("LOG", &log).output().expect("it runs");
        assert_eq!(status.status.code(), Some(2), "{line}: {}", text(&status.stderr));
        let log = fs::read_to_string(&log).expect("a log");
        log.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    let firmware =
        "installs build firmware openssl avr-gcc arm-none-eabi-gcc riscv64-unknown-elf-gcc clang sdcc";
    // Those of the boards of the demonstrations' meters alone.
    let of_demo = "installs build firmware openssl avr-gcc";
    let collector = "build wattseal-collector --bin wattseal-collector";
    for (line, expected) in [
        ("bench --all", [firmware, "build wattseal-cli --bin wattseal", "run wattseal bench --all"].to_vec()),
        (
            "measure x",
            ["installs build openssl", "build wattseal-cli --bin wattseal", "run wattseal measure x"]
                .to_vec(),
        ),
        (
            "--help",
            ["installs build openssl", "build wattseal-cli --bin wattseal", "run wattseal --help"].to_vec(),
        ),
        ("collect --udp x", ["installs build", collector, "run wattseal-collector collect --udp x"].to_vec()),
        ("help audit", ["installs build", collector, "run wattseal-collector help audit"].to_vec()),
        (
            "load --kills 2",
            [
                "installs build",
                "build wattseal-collector --bin wattseal-collector --package wattseal-load --bin wattseal-load",
                "run wattseal-load --kills 2",
            ]
            .to_vec(),
        ),
        (
            "demo --for 2",
            [of_demo, "build wattseal-demo --bin wattseal-demo", "run wattseal-demo --for 2"].to_vec(),
        ),
        (
            "demo --cluster --for 2",
            [
                "installs build firmware openssl avr-gcc clang cluster",
                "build wattseal-collector --bin wattseal-collector --package wattseal-chaos --bin wattseal-chaos",
                "run wattseal-chaos --cluster --for 2",
            ]
            .to_vec(),
        ),
        (
            "help demo",
            [of_demo, "build wattseal-demo --bin wattseal-demo", "run wattseal-demo --help"].to_vec(),
        ),
    ] {
        assert_eq!(launched(line), expected, "{line}");
    }
    // The launcher runs the binary that the list names.
    for elsewhere in ELSEWHERE {
        let run = launched(elsewhere.name).pop().expect("a line");
        assert_eq!(run.split(' ').nth(1), Some(elsewhere.binary), "{}", elsewhere.name);
    }
    // A toolchain that rustup cannot install is one sentence.
    fs::write(at("rust-toolchain.toml"), "[toolchain]\nchannel = \"1.2.3\"\n").expect("written");
    let mut launcher = Command::new(at("wattseal"));
    let output = launcher.arg("bench").env("PATH", &path).env("NO_RUST", "1").output().expect("it runs");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.ends_with("install it with: rustup toolchain install 1.2.3\n"), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
}

/// The commands are the same in a project and outside.
#[test]
fn shells_and_man_have_all_commands() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal"));
        let output = command.args(arguments).current_dir(folder.path()).env_remove("WATTSEAL_HOME").output();
        let output = output.expect("the binary under test runs");
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stdout)
    };
    let script = folder.path().join("wattseal.bash");
    fs::write(&script, run(&["completions", "bash"])).expect("written");
    let asked = format!(
        "source {}; COMP_WORDS=(wattseal me); COMP_CWORD=1; _wattseal wattseal me wattseal; echo ${{COMPREPLY[@]}}",
        script.display()
    );
    let completed = Command::new("bash").args(["-c", &asked]).output().expect("bash runs");
    assert_eq!(text(&completed.stdout).trim(), "measure meters");
    run(&["man", "pages"]);
    for page in ["wattseal.1", "wattseal-measure.1", "wattseal-collect.1"] {
        let page = fs::read_to_string(folder.path().join("pages").join(page)).expect("a page");
        assert!(page.starts_with(".ie") && page.contains(".TH wattseal"), "{page}");
    }
}
