//! The units of systemd, as they are but for where the binary is and as whom they run, which this
//! machine may not have.

use super::{documented, path, text};
use std::process::Command;

/// A unit, the file's name that it is tried under, its binary's command, and the most exposure that
/// systemd may see, in tenths.
const UNITS: [(&str, &str, &str, &str); 4] = [
    ("wattseal-collector.service", "wattseal-collector.service", "collect", "20"),
    ("wattseal-worker.service", "wattseal-worker.service", "worker", "15"),
    ("wattseal-api.service", "wattseal-api.service", "api", "15"),
    ("wattseal-gateway@.service", "wattseal-gateway@hall.service", "gateway", "20"),
];
const INSTALLED: &str = "/usr/local/bin/wattseal-collector";

#[test]
fn systemd_takes_the_units() {
    if Command::new("systemd-analyze").arg("--version").output().is_err() {
        return;
    }
    for (unit, name, command, most) in UNITS {
        let text = text(&format!("systemd/{unit}"));
        assert!(text.contains(&format!("ExecStart={INSTALLED} {command} ")), "{unit}");
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join(name);
        let is_whose = |line: &str| line.starts_with("User=") || line.starts_with("Group=");
        let lines: Vec<&str> = text.lines().map(|line| if is_whose(line) { "" } else { line }).collect();
        let text = lines.join("\n").replace(INSTALLED, env!("CARGO_BIN_EXE_wattseal-collector"));
        std::fs::write(&path, text.replace("[Service]\n", "[Service]\nUser=root\nGroup=root\n"))
            .expect("written");
        let verified =
            Command::new("systemd-analyze").arg("verify").arg(&path).output().expect("systemd-analyze");
        let said = String::from_utf8_lossy(&verified.stderr);
        assert!(verified.status.success() && said.is_empty(), "{unit}: {said}");
        // With the user that it has: root is a weakness of its own.
        let path = super::path(&format!("systemd/{unit}"));
        let threshold = format!("--threshold={most}");
        let mut judge = Command::new("systemd-analyze");
        let judged = judge.args(["security", "--offline=true", &threshold]).arg(&path).output();
        let judged = judged.expect("systemd-analyze");
        assert!(judged.status.success(), "{unit}: {}", String::from_utf8_lossy(&judged.stdout));
    }
}

/// With the options that the documentation gives each, its command line is one that the binary
/// takes.
#[test]
fn the_binary_takes_the_units_command_lines() {
    for (unit, _, _, _) in UNITS {
        let text = text(&format!("systemd/{unit}"));
        let start = text.lines().find_map(|line| line.strip_prefix("ExecStart=")).expect("a command");
        let (start, variable) = start.rsplit_once(" $").expect("options");
        let given = documented("echo '").into_iter().find_map(|line| {
            let options = line.split_once(&format!("{variable}=\""))?.1;
            Some(options.split('"').next()?.to_owned())
        });
        let given = given.unwrap_or_else(|| panic!("docs/how-to/operations.md gives no {variable}"));
        let line = format!("{start} {given} --help").replace("%i", "hall").replace("%S", "/var/lib");
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"));
        let ran = command.args(line.split(' ').skip(1)).output().expect("it runs");
        assert!(ran.status.success(), "{line}: {}", String::from_utf8_lossy(&ran.stderr));
    }
    // Every file that the documentation installs is there.
    for line in documented("sudo install ") {
        for file in line.split(' ').filter_map(|word| word.strip_prefix("operations/")) {
            assert!(path(file).exists(), "{line}");
        }
    }
}
