//! Recordings in the format of Nordic's Power Profiler.

use super::{SUBJECTS, folder, measured, request};
use lab::traces::TraceFiles;
use std::process::Command;

/// A recording of the Power Profiler, read by Python's readers: a line with rate and version, then
/// each current in µA.
const READ_PPK2: &str = r#"
import json, struct, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    told = json.loads(archive.read("metadata.json"))
    overview = json.loads(archive.read("minimap.raw"))
    frames = list(struct.iter_unpack("<fH", archive.read("session.raw")))
assert overview["data"]["length"] == len(overview["data"]["min"]) == len(overview["data"]["max"])
print(told["metadata"]["samplesPerSecond"], told["formatVersion"])
assert abs(overview["data"]["max"][0]["y"] / 1e3 / frames[0][0] - 1) < 1e-6
for current, inputs in frames:
    assert inputs == 0
    print(repr(current))
"#;

#[test]
fn recording_has_the_samples_of_the_csv_file() {
    let subject = &SUBJECTS[0];
    let folder = folder();
    let mut request = request(subject, &folder);
    let csv = measured(&request).map(|_| std::fs::read_to_string(folder.join("out.csv"))).expect("it runs");
    let (recording, again) = (folder.join("out.ppk2"), folder.join("again.PPK2"));
    for path in [&recording, &again] {
        request.traces = TraceFiles { current: Some((path.clone(), 100_000)), ..TraceFiles::default() };
        measured(&request).expect("it runs");
    }
    let bytes = |path| std::fs::read(path).expect("written");
    assert!(bytes(&recording) == bytes(&again), "the same run gives two recordings");

    let read = Command::new("python3").args(["-c", READ_PPK2]).arg(&recording).output().expect("it runs");
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
    let text = String::from_utf8(read.stdout).expect("text");
    let (told, currents) = text.split_once('\n').expect("lines");
    assert_eq!(told, "100000 2");
    let csv = csv.expect("written");
    let samples: Vec<&str> = csv.lines().skip(1).filter_map(|line| Some(line.split_once(',')?.1)).collect();
    assert!(samples.len() > 10 && samples.iter().any(|sample| *sample != samples[0]), "{csv}");
    assert_eq!(samples.len(), currents.lines().count());
    for (one, other) in samples.iter().zip(currents.lines()) {
        let (one, other): (f64, f64) = (one.parse().expect("a number"), other.parse().expect("a number"));
        // Of a CSV file the last digit, of the recording 24 bits.
        assert!((one - other).abs() <= 0.000_501 + one * 2f64.powi(-24), "{one} {other}");
    }
}
