//! `wattseal calibrate`: points of a calibration file out of recordings.

use std::path::{Path, PathBuf};
use std::process::Command;

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The exit code, and what it printed and said.
fn calibrate(folder: &Path, recording: &str, options: &[&str]) -> (Option<i32>, String) {
    std::fs::write(folder.join("recording.csv"), recording).expect("written");
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .current_dir(folder)
        .args(["calibrate", "recording.csv", "--out", "mine.toml"])
        .args(options)
        .output()
        .expect("the binary under test runs");
    let text =
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    (output.status.code(), text)
}

const AT_16: [&str; 6] = ["--target", "atmega328p", "--clock", "16MHz", "--supply", "5V"];
const AT_8: [&str; 6] = ["--target", "atmega328p", "--clock", "8MHz", "--supply", "5V"];

#[test]
fn recordings_become_points_that_bench_takes() {
    let folder = folder("calibrate");
    // The first 2 ms and the last sample are cut off; 10 mA for 1 ms and 13 mA for 2 ms are left.
    let recording = "Timestamp(ms),Current(uA)\n0,1\n2,10000\n3,13000\n4,13000\n5,99999\n";
    let window = ["--from", "2ms", "--until", "5ms"];
    let new = [&AT_16[..], &window, &["--source", "the \"bench\" here"]].concat();
    let (code, said) = calibrate(&folder, recording, &new);
    assert_eq!(code, Some(0), "{said}");
    assert!(
        said.contains("point 1 of mine.toml: 12.00 mA, the mean of 3 samples from 10.00 mA to 13.00 mA"),
        "{said}"
    );
    let (code, said) = calibrate(&folder, "t_s,i_mA\n0,6.5\n1,6.5\n", &AT_8);
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("point 2 of mine.toml: 6.50 mA"), "{said}");
    let file = energy_file(&folder);
    let point = |number: usize| file["point"][number]["current_a"].as_float().expect("a current");
    assert!((point(0) - 0.012).abs() < 1e-12 && (point(1) - 0.0065).abs() < 1e-12, "{file}");
    assert_eq!(file["source"].as_str(), Some("the \"bench\" here"));

    let bench = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .env("WATTSEAL_HOME", Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."))
        .args(["bench", "--target", "atmega328p", "--op", "sha1", "--variant", "small", "--calibration"])
        .arg(folder.join("mine.toml"))
        .output()
        .expect("the binary under test runs");
    let said = String::from_utf8_lossy(&bench.stderr);
    assert!(bench.status.success() && said.contains("atmega328p: calibrated by"), "{said}");
}

fn energy_file(folder: &Path) -> toml::Table {
    let text = std::fs::read_to_string(folder.join("mine.toml")).expect("a file");
    text.parse().expect("TOML")
}

#[test]
fn recording_that_cannot_be_used_leaves_the_file_as_it_was() {
    let folder = folder("calibrate-refused");
    let good = "time_s,current_A\n0,0.012\n1,0.012\n";
    let (code, said) = calibrate(&folder, good, &AT_16);
    assert!(code == Some(2) && said.contains("--source says who measured"), "{said}");
    let new = [&AT_16[..], &["--source", "me"]].concat();
    assert_eq!(calibrate(&folder, good, &new).0, Some(0));
    let before = energy_file(&folder);
    let other = ["--target", "atmega128l", "--clock", "8MHz", "--supply", "5V"];
    let cases: [(&str, &[&str], &str); 6] = [
        (good, &new, "has its source; leave --source out"),
        ("time_s,current_A\n0,0.012\n", &AT_8, "fewer than two samples"),
        ("time_s,current_A\n0,x\n", &AT_8, "line 2: 'x' is no number"),
        ("time_s,current_A\n1,1\n0,1\n", &AT_8, "line 3: the time 0 s is not after"),
        // The current falls where the data sheet's rises.
        ("time_s,current_A\n0,0.9\n1,0.9\n", &AT_8, "contradict the data sheet"),
        (good, &other, "it is of the atmega328p"),
    ];
    for (recording, options, wanted) in cases {
        let (code, said) = calibrate(&folder, recording, options);
        assert!(code.is_some_and(|code| code > 0) && said.contains(wanted), "{wanted}: {said}");
        assert_eq!(energy_file(&folder), before, "{wanted}");
    }
}
