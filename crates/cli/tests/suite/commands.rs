//! One door to all commands: `wattseal --help` lists them, `wattseal` hands over those of other
//! binaries.

use output::commands::ELSEWHERE;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};
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
        "verify-board",
        "ct",
        "fault",
        "list",
        "reproduce",
        "plan",
        "calibrate",
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
        let (package, binary) = (elsewhere.package, elsewhere.binary);
        let builds = format!("cargo build --release --package {package} --bin {binary}");
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
