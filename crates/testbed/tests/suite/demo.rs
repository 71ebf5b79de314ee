//! The demonstration as somebody runs it: readings of all meters, and nothing left behind.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use testkit::documents::{commands, home, is_demo_s};

/// Runs it with a folder of its own for what it puts beside.
fn demo(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-demo"));
    command.env("WATTSEAL_HOME", home()).env("TMPDIR", folder);
    command.args(["--listen", "127.0.0.1:0", "--format", "json"]).args(arguments);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).expect("the folder is there").next().is_none()
}

#[test]
fn each_suite_s_meter_is_read_and_its_cost_told() {
    let folder = folder("demo-for");
    let output = demo(&["--for", "14"], &folder).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).expect("an array of objects");
    let suites: Vec<&str> = rows.iter().filter_map(|row| row["suite"].as_str()).collect();
    assert_eq!(suites, ["none", "aes128-gcm", "aes256-gcm", "ecies", "ecies-ecdsa", "ascon-aead128"]);
    // docs/reference/meter.md, "On the ATmega328P", in ms; how long the rest takes hangs on the
    // channel and this machine.
    for (row, prepare_ms) in rows.iter().zip([0.02, 6.09, 6.93, 2070.0, 2650.0]) {
        let figure = |name: &str| row[name].as_f64().unwrap_or_else(|| panic!("no {name}: {row}"));
        assert!(figure("readings") >= 1.0, "{row}");
        assert!((figure("prepare_ms") - prepare_ms).abs() < 0.05 * prepare_ms + 0.01, "{row}");
        assert!((figure("prepare_cycles") - 16e3 * figure("prepare_ms")).abs() < 1.0, "{row}");
        assert!(figure("round_trip_ms") > figure("prepare_ms") + 5.0, "{row}");
        // At 3.3 V the radio draws 36 mW and more while it listens or sends; asleep the processor
        // draws 4.5 mW.
        assert!(figure("radio_uj") > 36.0 * 5.0 && figure("processor_uj") > 4.5 * 5.0, "{row}");
        assert!(figure("air_bytes") >= 31.0, "{row}");
    }
    assert!(is_empty(&folder), "something was left");
}

/// The answer to a request, with its head.
fn ask(address: &str, what: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap_or_else(|error| panic!("{address}: {error}"));
    write!(stream, "{what} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{head}\r\n{body}")
        .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn ctrl_c_ends_it_and_leaves_nothing() {
    let folder = folder("demo-stop");
    let mut child = demo(&[], &folder).spawn().expect("it runs");
    let mut said = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut line = String::new();
    said.read_line(&mut line).expect("a line");
    let link = line.trim().rsplit("http://").next().unwrap_or_default();
    let (address, secret) = link.split_once("/#/first/").unwrap_or_else(|| panic!("no link: {line}"));
    // As the dashboard does when the link is opened.
    let body = format!(r#"{{"secret":"{secret}"}}"#);
    let head = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    let answer = ask(address, "POST /api/v1/tokens/first", &head, &body);
    let cookie = answer.split("set-cookie: ").nth(1).unwrap_or_else(|| panic!("{answer}"));
    let cookie = cookie.split(';').next().unwrap_or_default();
    let answer = ask(address, "GET /api/v1/meters", &format!("Cookie: {cookie}\r\n"), "");
    for label in ["Refrigerator", "Kettle", "Oven", "Washing machine", "Whole flat", "Second refrigerator"] {
        assert!(answer.contains(label), "{answer}");
    }
    assert!(!is_empty(&folder));
    let told = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill runs");
    assert!(told.success());
    assert!(child.wait().expect("it ends").success());
    assert!(is_empty(&folder), "something was left");
}

/// A line that does not end by itself is given two seconds.
#[test]
fn every_demonstration_that_is_shown_works() {
    let mut count = 0;
    for document in ["README.md"] {
        for line in commands(document).iter().filter(|line| is_demo_s(line)) {
            let mut run = line.replacen("./wattseal demo", env!("CARGO_BIN_EXE_wattseal-demo"), 1);
            if !line.contains("--for") {
                run.push_str(" --for 2 --listen 127.0.0.1:0");
            }
            let mut shell = Command::new("sh");
            shell.arg("-c").arg(&run).current_dir(home()).env("WATTSEAL_HOME", home());
            let output = shell.output().expect("a shell");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{document}: {line}\n{error}");
            count += 1;
        }
    }
    assert!(count >= 1, "only {count} commands were found");
}
