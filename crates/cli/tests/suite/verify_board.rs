//! `wattseal verify-board`, with a model in place of the board.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use testkit::documents::home;

/// The program of `device/verify`, and what a model of it says in some rounds.
struct Recording {
    folder: tempfile::TempDir,
    target: &'static str,
    elf: PathBuf,
}

impl Recording {
    fn new(target: &'static str) -> Recording {
        let folder = tempfile::tempdir().expect("a folder");
        let made = Command::new("make")
            .args(["--silent", "-C"])
            .arg(home().join("device"))
            .arg(format!("TARGET={target}"))
            .args(["APP=verify", "VARIANT=fast"])
            .arg(format!("OUT={}", folder.path().display()))
            .output()
            .expect("make runs");
        assert!(made.status.success(), "{target}: {}", String::from_utf8_lossy(&made.stderr));
        let elf = folder.path().join(target).join("fast/verify.elf");
        let recording = Recording { folder, target, elf };
        // It never ends.
        let said = recording.wattseal(&["run", "--max-cycles", "3e7"]);
        assert_eq!(said.status.code(), Some(1), "{}", text(&said.stderr));
        fs::write(recording.board(), said.stdout).expect("written");
        recording
    }

    fn board(&self) -> PathBuf {
        self.folder.path().join("board.txt")
    }

    fn wattseal(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_wattseal"))
            .arg(arguments[0])
            .arg(&self.elf)
            .args(["--target", self.target])
            .args(&arguments[1..])
            .env("WATTSEAL_HOME", home())
            .output()
            .expect("wattseal runs")
    }

    /// Compares with a recording.
    fn verify(&self, board: &Path, arguments: &[&str]) -> Output {
        let board = board.display().to_string();
        self.wattseal(&[&["verify-board", "--board", &board][..], arguments].concat())
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn rows(output: &Output) -> Vec<serde_json::Value> {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", text(&output.stderr)))
}

#[test]
fn a_model_in_place_of_the_board_counts_the_same() {
    for target in ["atmega328p", "stm32f051", "stm32f100", "stm32f103", "stm32f401", "stm32f407", "ch32v003"]
    {
        let recording = Recording::new(target);
        let output = recording.verify(&recording.board(), &["--format", "json"]);
        assert_eq!(output.status.code(), Some(0), "{target}: {}", text(&output.stderr));
        let rows = rows(&output);
        assert_eq!(rows.len(), 8, "{target}");
        for row in &rows {
            assert_eq!(row["difference_percent"], 0.0, "{target}: {row}");
            assert_eq!(row["board_cycles"], row["model_cycles"], "{target}: {row}");
        }
        let cycles = |name: &str| {
            let row = rows.iter().find(|row| row["name"] == name).expect("a row");
            row["board_cycles"].as_u64().expect("cycles")
        };
        let (nothing, encrypt) = (cycles("nothing"), cycles("aes128-encrypt"));
        assert!(0 < nothing && nothing < 100 && encrypt > 500, "{target}: {nothing}, {encrypt}");
    }
}

/// The program's own counter and the tool's agree.
#[test]
fn rows_are_what_measure_counts() {
    let recording = Recording::new("stm32f407");
    let rows = rows(&recording.verify(&recording.board(), &["--format", "json"]));
    let own = |name: &str| {
        rows.iter().find(|row| row["name"] == name).expect("a row")["board_cycles"].as_f64().expect("cycles")
    };
    let arguments = ["measure", "--function", "ws_sha256_blocks", "--max-cycles", "3e7", "--format", "json"];
    let measured = self::rows(&recording.wattseal(&arguments));
    let call = measured.iter().rev().find(|row| row["kind"] == "call" && row["calls"] == 1).expect("a call");
    let measured = call["inclusive_cycles"].as_f64().expect("cycles");
    let ratio = (own("sha256-block") - own("nothing")) / measured;
    assert!((0.97..1.03).contains(&ratio), "{ratio}");
}

#[test]
fn a_board_that_differs_fails_and_its_record_is_cited() {
    let recording = Recording::new("atmega328p");
    let said = fs::read_to_string(recording.board()).expect("a recording");
    let row = said.lines().find(|line| line.starts_with("ws-row sha256-block ")).expect("a row");
    let cycles: u64 = row.rsplit(' ').next().and_then(|cycles| cycles.parse().ok()).expect("cycles");
    let slower = recording.folder.path().join("slower.txt");
    let other = format!("ws-row sha256-block {}", cycles + cycles / 50);
    // The beginning is lost, and lines end as terminals have it.
    let changed = said.replace(row, &other).replace('\n', "\r\n");
    fs::write(&slower, &changed[7..]).expect("written");
    let record = recording.folder.path().join("uno.toml");
    let record_name = record.display().to_string();
    let output = recording.verify(&slower, &["--save", &record_name, "--name", "an Uno at 5 V"]);
    let says = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{says}");
    assert!(says.contains("by 1.96 % at most; the target file of atmega328p says exact"), "{says}");
    assert!(says.contains("cycles = \"2 %\"\nsource = \"an Uno at 5 V at 16 MHz, 8 rows: "), "{says}");
    let kept: toml::Table = toml::from_str(&fs::read_to_string(&record).expect("a record")).expect("TOML");
    assert_eq!(kept["target"].as_str(), Some("atmega328p"));
    assert_eq!(kept["row"].as_array().map(Vec::len), Some(8));
    assert_eq!(kept["firmware_sha256"].as_str().map(str::len), Some(64));
    let table = text(&output.stdout);
    assert!(table.contains("-1.96 %"), "{table}");
    assert_eq!(recording.verify(&slower, &["--fail-over", "2%"]).status.code(), Some(0));
    assert_eq!(recording.verify(&slower, &["--fail-over", "1.9%"]).status.code(), Some(1));
}

#[test]
fn a_board_that_says_nothing_is_told_of() {
    let recording = Recording::new("atmega328p");
    let other = recording.folder.path().join("other.txt");
    for (board, arguments, why) in [
        ("", &[][..], "sent nothing, and nothing more comes: look at its port"),
        ("noise\n", &[], "sent 6 bytes, and nothing more comes, and no line ws-begin"),
        ("ws-begin\nws-row a 1\nws-end 1\n", &[], "1 of 3 rounds came whole"),
        ("ws-begin\nws-end 1\nws-begin\nws-begin\n", &[], "3 others lack rows or have wrong ones"),
        ("ws-begin\nws-row a 1\nws-end 1\n", &["--rounds", "1"], "flash the ELF file"),
    ] {
        fs::write(&other, board).expect("written");
        let output = recording.verify(&other, arguments);
        assert_eq!(output.status.code(), Some(1));
        assert!(text(&output.stderr).contains(why), "{}", text(&output.stderr));
    }
    let output = recording.verify(&recording.board(), &["--max-cycles", "1e4"]);
    assert!(text(&output.stderr).contains("0 of 3 rounds on the model"), "{}", text(&output.stderr));
    assert_eq!(recording.verify(Path::new("/no/such/port"), &[]).status.code(), Some(1));
    assert_eq!(recording.verify(&recording.board(), &["--fail-over", "much"]).status.code(), Some(2));
}
