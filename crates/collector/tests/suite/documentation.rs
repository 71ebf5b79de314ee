//! A command of a collector that the documentation shows is a command that works: every such line
//! of its shell blocks is run as it stands, in order, in a folder of its own; a collector runs
//! until it says that it does, on a free port, and is stopped.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};
use testkit::documents::{commands, home, is_collector_s};
use testkit::postgres;

/// The database of a server that the documentation takes to be there.
const DATABASE: &str = "postgres://wattseal@localhost/wattseal";

/// An empty one, into which is moved.
const EMPTY: &str = "postgres://wattseal@localhost/moved";

/// Pages whose commands follow each other, each list in a folder and databases of its own.
const PAGES: [&[&str]; 3] = [
    &["README.md"],
    &[
        "docs/how-to/collector.md",
        "docs/how-to/collector/files.md",
        "docs/how-to/collector/postgresql.md",
        "docs/how-to/collector/export.md",
        "docs/how-to/collector/mqtt.md",
        "docs/how-to/collector/move.md",
    ],
    &["docs/tutorials/home-assistant.md"],
];

#[test]
fn every_command_of_a_collector_works() {
    let mut count = 0;
    for pages in PAGES {
        let folder = tempfile::tempdir().expect("a folder");
        lay_out(folder.path());
        let [database, empty] = [(); 2].map(|()| postgres::shared().url(&postgres::shared().database()));
        let lines = pages.iter().flat_map(|page| commands(page).into_iter().map(move |line| (page, line)));
        for (page, line) in lines.filter(|(_, line)| is_collector_s(line)) {
            let run =
                line.replacen("./wattseal", concat!("exec ", env!("CARGO_BIN_EXE_wattseal-collector")), 1);
            let run = run.replace("--udp 127.0.0.1:7878", "--udp 127.0.0.1:0");
            let run = run.replace(DATABASE, &database).replace(EMPTY, &empty);
            let mut shell = Command::new("sh");
            shell.current_dir(folder.path());
            if line.starts_with("./wattseal collect") {
                shell.arg("-c").arg(run + " --listen 127.0.0.1:0");
                collect(shell, &line);
            } else {
                let output = shell.arg("-c").arg(run).output().expect("a shell");
                let error = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{page}: {line}\n{error}");
            }
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} commands were found");
}

/// The documented command lines of the binary need servers and secrets; here its options are
/// checked.
#[test]
fn the_binary_takes_the_command_lines_that_name_it() {
    let mut count = 0;
    for document in
        ["docs/how-to/collector/postgresql.md", "docs/how-to/cluster.md", "docs/how-to/operations.md"]
    {
        let text = std::fs::read_to_string(home().join(document)).expect("a document");
        for line in text.lines().filter(|line| line.starts_with("wattseal-collector ")) {
            let run = line.replacen("wattseal-collector", env!("CARGO_BIN_EXE_wattseal-collector"), 1);
            let ran =
                Command::new("sh").arg("-c").arg(format!("exec {run} --help")).output().expect("a shell");
            assert!(ran.status.success(), "{document}: {line}\n{}", String::from_utf8_lossy(&ran.stderr));
            count += 1;
        }
    }
    assert!(count >= 10, "only {count} commands were found");
}

/// The files that the documentation takes to be there: a broker's password, and its authority.
fn lay_out(folder: &Path) {
    let password = folder.join("mqtt.password");
    std::fs::write(&password, "a password\n").expect("a file");
    std::fs::set_permissions(&password, Permissions::from_mode(0o600)).expect("ours");
    let made = rcgen::generate_simple_self_signed(["broker.lan".to_owned()]).expect("a certificate");
    std::fs::write(folder.join("broker-ca.pem"), made.cert.pem()).expect("a file");
}

/// Runs a collector until it says where its dashboard is, and stops it as Ctrl-C does.
fn collect(mut shell: Command, line: &str) {
    let mut child = shell.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("a shell");
    let mut said = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut said).expect("text");
    if said.starts_with("dashboard http") {
        let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill");
        assert!(told.success());
    }
    let output = child.wait_with_output().expect("it ran");
    let log = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{line}\n{log}");
    assert!(said.starts_with("dashboard http"), "{line}\n{said}{log}");
}
