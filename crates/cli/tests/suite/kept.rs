//! Rows of an earlier measurement are taken where all that decides them is the same, and nowhere
//! else.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::mpsc;
use std::time::Duration;

/// A clone of the project with nothing measured yet, as far as a bench looks at one.
struct Clone(tempfile::TempDir);

impl Clone {
    fn new() -> Clone {
        let home =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the project's folder");
        let folder = tempfile::tempdir().expect("a folder");
        for copied in ["targets", "device"] {
            let status = Command::new("cp").arg("-r").arg(home.join(copied)).arg(folder.path()).status();
            assert!(status.expect("cp runs").success());
        }
        symlink(home.join("bench.toml"), folder.path().join("bench.toml")).expect("a link");
        for data in ["calibrations", "boards"] {
            symlink(home.join(data), folder.path().join(data)).expect("a link");
        }
        Clone(folder)
    }

    /// The rows, and whether they are of an earlier measurement.
    fn bench(&self, more: &[&str]) -> (String, bool) {
        let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
            .args([
                "bench",
                "--target",
                "atmega328p",
                "--op",
                "sha1",
                "--variant",
                "small",
                "--format",
                "json",
            ])
            .args(more)
            .env("WATTSEAL_HOME", self.0.path())
            .output()
            .expect("wattseal runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{more:?}: {said}");
        (
            String::from_utf8(output.stdout).expect("UTF-8"),
            said.contains("1 of 1 rows are of an earlier measurement"),
        )
    }

    /// Puts a line behind a file.
    fn append(&self, file: &str, line: &str) {
        let path = self.0.path().join(file);
        let text = std::fs::read_to_string(&path).expect("a text");
        std::fs::write(path, format!("{text}{line}\n")).expect("a file");
    }

    /// The locks of builds, held as another process's build holds them.
    fn lock_builds(&self) -> Vec<std::fs::File> {
        let found = Command::new("find")
            .arg(self.0.path().join("target/firmware"))
            .args(["-name", "*.lock"])
            .output()
            .expect("find runs");
        let lock = |path: &str| {
            let file = std::fs::File::open(path).expect("a lock");
            file.lock().expect("locked");
            file
        };
        str::from_utf8(&found.stdout).expect("UTF-8").lines().map(lock).collect()
    }

    /// All files of kept rows.
    fn kept(&self) -> Vec<PathBuf> {
        let list = |folder: &Path| -> Vec<PathBuf> {
            std::fs::read_dir(folder)
                .expect("a folder")
                .map(|entry| entry.expect("an entry").path())
                .collect()
        };
        list(&self.0.path().join("target/figures/bench")).iter().flat_map(|folder| list(folder)).collect()
    }
}

#[test]
fn a_row_is_taken_for_the_same_question_alone() {
    let clone = Clone::new();
    let (first, earlier) = clone.bench(&[]);
    assert!(!earlier);
    assert_eq!(clone.bench(&[]), (first.clone(), true));
    assert_eq!(clone.bench(&["--fresh"]), (first.clone(), false));
    for other in [
        &["--seed", "2"][..],
        &["--runs", "10"],
        &["--clock", "8M"],
        &["--bytes", "31"],
        &["--max-cycles", "900000000"],
        &["--cold"],
    ] {
        assert!(!clone.bench(other).1, "{other:?}");
        assert!(clone.bench(other).1, "{other:?}");
    }
    // No cycle depends on the supply or on a calibration of the current; power and energy are
    // computed anew.
    let (row, earlier) = clone.bench(&["--clock", "8M", "--supply", "3"]);
    assert!(earlier && row.contains("\"supply_v\": 3.0"), "{row}");
}

#[test]
fn a_row_is_taken_for_the_same_contents_alone() {
    let clone = Clone::new();
    let (first, _) = clone.bench(&[]);
    // A program has in it where it was built, and that is by the content of all sources; so it is
    // measured anew, which is too often and never wrong.
    clone.append("device/crypto/gcm.c", "// a remark");
    assert_eq!(clone.bench(&[]).0, first);
    // A row says which target file it is of.
    clone.append("targets/atmega328p.toml", "# a remark");
    let (other, earlier) = clone.bench(&[]);
    let without = |rows: &str| -> Vec<String> {
        let lines = rows.lines().filter(|line| !line.contains("target_sha256"));
        lines.map(str::to_owned).collect()
    };
    assert!(!earlier && other != first && without(&other) == without(&first), "{other}");
    assert!(clone.bench(&[]).1);
    let first = other;
    // A damaged file is none.
    for path in clone.kept() {
        let text = std::fs::read_to_string(&path).expect("a text");
        std::fs::write(&path, text.replacen("\"cycles\":[", "\"cycles\":[1", 1)).expect("a file");
    }
    assert_eq!(clone.bench(&[]), (first.clone(), false));
    // Another program.
    clone.append("device/crypto/sha1.c", "volatile const char ws_remark __attribute__((used)) = 1;");
    assert!(!clone.bench(&[]).1);
}

#[test]
fn run_waits_for_no_build_of_others_if_its_programs_are_there() {
    let clone = Clone::new();
    let (first, _) = clone.bench(&[]);
    let locks = clone.lock_builds();
    assert!(!locks.is_empty());
    std::thread::scope(|scope| {
        let (done, is_done) = mpsc::channel();
        let clone = &clone;
        scope.spawn(move || done.send(clone.bench(&["--fresh"])));
        let again = is_done.recv_timeout(Duration::from_secs(100));
        // A run that waits goes on now, and the test ends.
        drop(locks);
        assert_eq!(again.ok(), Some((first, false)));
    });
}
