//! The collector's commands as others rely on them: exit codes, streams, errors that say what to do
//! next, the unit of systemd.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn wattseal(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"));
    command.current_dir(folder).args(arguments).output().expect("the binary under test runs")
}

fn error(output: &Output, code: i32) -> String {
    let text = String::from_utf8(output.stderr.clone()).expect("UTF-8");
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(output.stdout.is_empty() && !text.contains("panicked"), "{text}");
    text
}

fn rows(folder: &Path, arguments: &[&str]) -> Value {
    let output = wattseal(folder, &[arguments, &["--format", "json"]].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("an array of objects")
}

/// Runs a collector, calls `meanwhile` with its dashboard's address, stops it with a signal, and
/// returns its log.
fn collect(folder: &Path, arguments: &[&str], signal: &str, meanwhile: impl FnOnce(&str)) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"))
        .current_dir(folder)
        .args(["collect", "--listen", "127.0.0.1:0"])
        .args(arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary under test runs");
    let mut said = String::new();
    BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut said).expect("text");
    match said.trim().strip_prefix("dashboard ") {
        Some(url) => meanwhile(url),
        None => drop(child.kill()),
    }
    let _ = Command::new("kill").args([signal, &child.id().to_string()]).status();
    let output = child.wait_with_output().expect("it ran");
    let log = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(output.status.code(), Some(0), "{said}{log}");
    log
}

/// A password stands in a URL, and in nothing that the program says of it.
#[test]
fn a_database_s_password_is_never_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    for (database, code) in [
        ("postgres://anna:correct-horse@%2Fnowhere/meters", 1),
        ("postgres://anna:correct-horse@localhost:99999/meters", 2),
        ("postgres://anna:correct-horse@localhost/meters?sslmode=perhaps", 2),
    ] {
        for words in [
            &["tokens", "list"] as &[&str],
            &["tokens", "add", "anna", "--role", "administrator"],
            &["meters", "list"],
            &["audit", "--public"],
            &["export", "out.csv"],
            &["collect", "--listen", "127.0.0.1:0"],
        ] {
            let output = wattseal(folder.path(), &[words, &["--db", database]].concat());
            let text = String::from_utf8(output.stderr).expect("UTF-8");
            assert_eq!(output.status.code(), Some(code), "{words:?}: {text}");
            assert!(!text.contains("horse") && !text.contains("panicked"), "{words:?}: {text}");
        }
    }
    let backup = wattseal(
        folder.path(),
        &["backup", "copy", "--db", "postgres://anna:correct-horse@localhost/meters"],
    );
    let text = error(&backup, 1);
    assert!(text.contains("pg_dump") && !text.contains("horse"), "{text}");
    let help = wattseal(folder.path(), &["collect", "--help"]);
    assert!(String::from_utf8_lossy(&help.stdout).contains("postgres://wattseal@localhost"), "an example");
}

/// Meters are registered in an empty database, by a key-encryption key of a file or of the
/// environment.
#[test]
fn meters_are_registered_in_database_without_key_folder() {
    let (folder, server) = (tempfile::tempdir().expect("a folder"), testkit::postgres::shared());
    let (path, db) = (folder.path(), server.url(&server.database()));
    assert!(wattseal(path, &["meters", "new-kek", "kek"]).status.success());
    let provision = ["meters", "provision", "7-258", "--db", &db, "--kek-file", "kek"];
    assert_eq!(rows(path, &provision)[0]["meter"], 258);
    let kek = std::fs::read_to_string(path.join("kek")).expect("there");
    let list = |kek: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"));
        command.current_dir(path).args(["meters", "list", "--format", "json", "--db", &db]);
        command.env("WATTSEAL_KEK", kek).output().expect("it runs")
    };
    let listed: Value = serde_json::from_slice(&list(&kek).stdout).expect("rows");
    assert_eq!((&listed[0]["network"], &listed[0]["state"]), (&7.into(), &"registered".into()));
    assert!(!path.join("wattseal.keys").exists(), "no folder of keys");
    // A text that is no KEK is not shown; none, another, and one for a file are refused.
    let text = error(&list(&kek[..20]), 2);
    assert!(text.contains("WATTSEAL_KEK") && !text.contains(&kek[4..20]), "{text}");
    let text = error(&wattseal(path, &["meters", "list", "--db", &db]), 2);
    assert!(text.contains("none is given") && text.contains("--kek-file"), "{text}");
    assert!(wattseal(path, &["meters", "new-kek", "other"]).status.success());
    let text = error(&wattseal(path, &["meters", "keks", "--db", &db, "--kek-file", "other"]), 2);
    assert!(text.contains("the file of") && text.contains("--kek-file"), "{text}");
    let text = error(&wattseal(path, &["meters", "list", "--kek-file", "kek"]), 2);
    assert!(text.contains("postgres://"), "{text}");
}

/// Builds of the meter's firmware for small parts do not have all suites.
#[test]
fn meter_is_not_provisioned_with_a_suite_its_firmware_lacks() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    // None, aes128-gcm, and suite 5.
    let symbols = ".global ws_meter_suites\n.set ws_meter_suites, 1<<0|1<<1|1<<5\n";
    std::fs::write(path.join("meter.s"), symbols).expect("written");
    let assembled = Command::new("cc").current_dir(path).args(["-c", "meter.s", "-o", "meter.elf"]).status();
    assert!(assembled.expect("cc is there").success());
    let provision = |suite: &str, firmware: &str| {
        wattseal(path, &["meters", "provision", "258", "--suite", suite, "--firmware", firmware])
    };
    let text = error(&provision("ecies", "meter.elf"), 2);
    let says = "meter.elf does not have the suite ecies: it was built with none, aes128-gcm, ascon-aead128; choose one of these";
    assert!(text.contains(says), "{text}");
    for (firmware, says) in
        [("meter.s", "it is no ELF file"), ("/bin/sh", "ws_meter_suites"), ("none.elf", "none.elf: No such")]
    {
        let text = error(&provision("ecies", firmware), 1);
        assert!(text.contains(says), "{text}");
    }
    assert!(!path.join("wattseal.images").exists(), "nothing was drawn");
    let output = provision("ascon-aead128", "meter.elf");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// On a Raspberry Pi there is this binary alone; in a clone it is called by another name.
#[test]
fn help_has_the_name_that_was_typed() {
    let help = |name: &str, arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"));
        String::from_utf8(command.arg0(name).args(arguments).output().expect("it runs").stdout)
            .expect("UTF-8")
    };
    for name in ["wattseal", "wattseal-collector"] {
        let text = help(name, &["meters", "--help"]);
        let says = |what: &str| text.contains(&what.replace("NAME", name));
        assert!(says("Usage: NAME meters [OPTIONS] <COMMAND>\n"), "{text}");
        assert!(says("Example: NAME meters provision 258 --images for-the-maker\n"), "{text}");
        assert!(text.contains("[default: wattseal.db]"), "{text}");
        let text = help(name, &["help", "meters", "revoke"]);
        assert!(text.contains(&format!("Example: {name} meters revoke 258\n")), "{text}");
    }
}

#[test]
fn meters_are_provisioned_listed_and_revoked() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for arguments in [&["meters", "list"][..], &["meters", "revoke", "1"]] {
        let text = error(&wattseal(at, arguments), 2);
        assert!(text.contains("--keys"), "{text}");
    }
    assert_eq!(std::fs::read_dir(at).expect("a folder").count(), 0);
    let made = rows(at, &["meters", "provision", "258", "259", "--suite", "ecies", "--images", "images"]);
    assert_eq!(made[0]["flash"], "images/00258.flash.bin");
    assert_eq!(
        std::fs::metadata(at.join("images/00259.eep")).expect("there").permissions().mode() & 0o777,
        0o600
    );
    let listed = rows(at, &["meters", "list"]);
    let of = |index: usize, key: &str| listed[index][key].clone();
    assert_eq!((of(0, "meter"), of(1, "meter"), of(0, "suite")), (258.into(), 259.into(), "ecies".into()));
    assert_ne!(of(0, "address"), of(1, "address"));

    let text = error(&wattseal(at, &["meters", "provision", "258", "--images", "images"]), 2);
    assert!(text.contains("rotate 258"), "{text}");
    let text = error(&wattseal(at, &["meters", "revoke", "1"]), 2);
    assert!(text.contains("meters list"), "{text}");
    let text = error(&wattseal(at, &["meters", "provision", "7", "--suite", "rot13"]), 2);
    assert!(text.contains("ecies-ecdsa"), "{text}");
    error(&wattseal(at, &["meters", "provision", "0"]), 2);
    assert!(wattseal(at, &["meters", "revoke", "259"]).status.success());
    assert_eq!(rows(at, &["meters", "list"])[1]["state"], "revoked");
    assert_eq!(rows(at, &["meters", "rotate", "258", "--images", "images"])[0]["epoch"], 2);

    // Keys that others could read: with the command that mends it, which does.
    let key = at.join("wattseal.keys/collector.toml");
    std::fs::set_permissions(&key, PermissionsExt::from_mode(0o644)).expect("chmod");
    for arguments in [&["meters", "list"][..], &["collect", "--listen", "127.0.0.1:0"]] {
        let text = error(&wattseal(at, arguments), 1);
        let mend = text.split_once("run: ").expect("what to run").1;
        assert_eq!(mend.trim(), "chmod 600 'wattseal.keys/collector.toml'", "{text}");
    }
}

#[test]
fn a_collector_runs_until_it_is_told_to_stop() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let token = wattseal(at, &["tokens", "add", "hall", "--role", "administrator"]);
    let secret = String::from_utf8(token.stdout).expect("UTF-8");
    assert!(secret.starts_with("wst_"), "{secret}");
    for signal in ["-INT", "-TERM"] {
        let log = collect(at, &["--log", "json", "--udp", "127.0.0.1:0"], signal, |url| {
            assert!(url.starts_with("http://127.0.0.1:"), "{url}");
            // One writer: who would change tokens meanwhile hears where they are changed then.
            let text = error(&wattseal(at, &["tokens", "add", "late"]), 1);
            assert!(text.contains("in use"), "{text}");
            assert_eq!(rows(at, &["tokens", "list"])[0]["name"], "hall");
            // A meter that is provisioned meanwhile.
            let images = format!("images{signal}");
            let meter = if signal == "-INT" { "5" } else { "6" };
            assert!(wattseal(at, &["meters", "provision", meter, "--images", &images]).status.success());
            std::thread::sleep(std::time::Duration::from_millis(4000));
        });
        for line in log.lines() {
            let line: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("JSON: {line}"));
            assert!(line["timestamp"].is_string() && line["level"].is_string(), "{line}");
            assert_ne!(line["level"], "ERROR", "{line}");
        }
        assert!(log.contains("a meter was added"), "{log}");
        assert!(!log.contains(secret.trim()), "a secret in the log");
    }
    let id = rows(at, &["tokens", "list"])[0]["id"].to_string();
    assert!(wattseal(at, &["tokens", "revoke", &id]).status.success());
    assert!(error(&wattseal(at, &["tokens", "revoke", &id]), 2).contains("tokens list"));
    assert!(rows(at, &["tokens", "list"])[0]["revoked_s"].is_number());
}

/// Returns the collector's answer to the link in its file.
fn use_link(folder: &Path, url: &str) -> String {
    let link = std::fs::read_to_string(folder.join("wattseal.db.one-time-link")).expect("a link");
    let secret =
        link.trim().strip_prefix(url).expect("of this dashboard").strip_prefix("#/first/").expect("one");
    let address = url.trim_start_matches("http://").trim_end_matches('/');
    let body = format!(r#"{{"secret":"{secret}"}}"#);
    let mut stream = TcpStream::connect(address).expect("connected");
    write!(
        stream,
        "POST /api/v1/tokens/first HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    answer
}

#[test]
fn first_token_link_is_readable_only_by_its_owner() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let file = at.join("wattseal.db.one-time-link");
    let mut links = Vec::new();
    // Each start has another, while nobody has a token; what was started says where it is, and
    // never what it is.
    for _ in 0..2 {
        let log = collect(at, &["--udp", "127.0.0.1:0", "--log-level", "trace"], "-TERM", |_| {
            let link = std::fs::read_to_string(&file).expect("a link");
            assert_eq!(std::fs::metadata(&file).expect("there").permissions().mode() & 0o777, 0o600);
            links.push(link.trim().rsplit_once('/').expect("a link").1.to_owned());
        });
        assert!(!file.exists(), "a link without a service");
        assert!(!log.contains("wsl_"), "a secret in the log");
    }
    assert!(links[0].starts_with("wsl_") && links[0] != links[1], "{links:?}");

    // On the command line the first one is an administrator's, too.
    let text = error(&wattseal(at, &["tokens", "add", "hall"]), 2);
    assert!(text.contains("--role administrator"), "{text}");
    collect(at, &["--udp", "127.0.0.1:0"], "-TERM", |url| {
        let answer = use_link(at, url);
        assert!(answer.starts_with("HTTP/1.1 201") && answer.contains("\"token\":\"wst_"), "{answer}");
        assert!(!file.exists(), "a link that was used");
    });
    collect(at, &["--udp", "127.0.0.1:0"], "-TERM", |_| assert!(!file.exists(), "there is a token"));
    assert!(wattseal(at, &["tokens", "add", "hall"]).status.success());

    // One that is revoked, with the last administrator's token lost: the owner of the files comes
    // in again.
    let id = rows(at, &["tokens", "list"])[0]["id"].to_string();
    assert!(wattseal(at, &["tokens", "revoke", &id]).status.success());
    collect(at, &["--udp", "127.0.0.1:0"], "-TERM", |url| {
        assert!(use_link(at, url).starts_with("HTTP/1.1 201"));
    });
}

#[test]
fn start_without_a_terminal_does_not_print_the_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut child = Command::new(env!("CARGO_BIN_EXE_wattseal-collector"))
        .current_dir(folder.path())
        .args(["collect", "--listen", "127.0.0.1:0", "--udp", "127.0.0.1:0"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary under test runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let said: Vec<String> = (0..3).map(|_| lines.next().expect("a line").expect("text")).collect();
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().expect("kill").success());
    assert!(child.wait().expect("it ran").success());
    assert!(said[0].starts_with("dashboard http://127.0.0.1:"), "{said:?}");
    assert!(said[1].ends_with("wattseal.db.one-time-link") && !said[1].contains("wsl_"), "{said:?}");
    assert!(said[2].starts_with("udp 127.0.0.1:"), "{said:?}");
}

/// With a terminal of script(1), of Debian's bsdutils.
#[test]
fn on_a_terminal_the_link_is_printed() {
    let folder = tempfile::tempdir().expect("a folder");
    let collect = concat!(
        env!("CARGO_BIN_EXE_wattseal-collector"),
        " collect --listen 127.0.0.1:0 --udp 127.0.0.1:0 --log-level error"
    );
    let mut child = Command::new("script")
        .current_dir(folder.path())
        .args(["--quiet", "--return", "--command", collect, "/dev/null"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script runs");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let said: Vec<String> = (0..2).map(|_| lines.next().expect("a line").expect("text")).collect();
    let link = std::fs::read_to_string(folder.path().join("wattseal.db.one-time-link")).expect("a link");
    // The terminal goes, and what runs on it.
    child.kill().expect("it runs");
    child.wait().expect("it ran");
    assert_eq!(said[1].trim(), format!("first sign-in {}", link.trim()));
}

#[test]
fn invalid_arguments_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (arguments, says) in [
        (&["--listen", "0.0.0.0:0"][..], "--tls-cert"),
        (&["--tls-cert", "cert.pem"], "--tls-key"),
        (&["--mqtt", "mqtt://me:secret@localhost"], "--mqtt-password-file"),
        (&["--mqtt", "mqtts://localhost", "--mqtt-ca", "nowhere"], "nowhere"),
        (&["--mqtt", "mqtt://localhost", "--mqtt-ca", "nowhere"], "mqtts://"),
        (&["--mqtt", "mqtt://me@192.0.2.1", "--mqtt-password-file", "nowhere"], "mqtts://"),
        (&["--mqtt-password-file", "password"], "--mqtt"),
        (&["--mqtt", "mqtt://me@localhost", "--mqtt-password-file", "nowhere"], "nowhere"),
        (&["--zone", "Middle/Earth"], "Europe/Prague"),
        (&["--serial", "/dev/ttyAMA0:1"], "/dev/ttyAMA0:38400"),
        (&["--keep", "0"], "--keep"),
    ] {
        let text = error(&wattseal(at, &[&["collect"], arguments].concat()), 2);
        assert!(text.contains(says), "{arguments:?}: {text}");
    }
    // Nothing was made by any of it.
    assert_eq!(std::fs::read_dir(at).expect("a folder").count(), 0);
    std::fs::write(at.join("wattseal.db"), "no database").expect("written");
    let text = error(&wattseal(at, &["collect", "--listen", "127.0.0.1:0"]), 1);
    assert!(text.contains("wattseal.db") && text.contains("--db"), "{text}");
}

#[test]
fn stored_readings_are_exported_and_audited() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let text = error(&wattseal(at, &["audit"]), 1);
    assert!(text.contains("wattseal.db"), "{text}");
    assert!(wattseal(at, &["meters", "provision", "5", "--images", "images"]).status.success());
    collect(at, &[], "-INT", |_| {});
    let found = rows(at, &["audit"]);
    assert_eq!((&found[0]["messages"], &found[0]["failures"]), (&0.into(), &0.into()));
    assert!(wattseal(at, &["audit", "--public"]).status.success());
    for out in ["all.csv", "some.parquet"] {
        let done = wattseal(
            at,
            &["export", out, "--meter", "5", "--from", "2026-01-01", "--to", "2027-01-01T00:00:00Z"],
        );
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }
    let csv = std::fs::read_to_string(at.join("all.csv")).expect("there");
    assert!(csv.starts_with("meter,time,power_w,energy_wh,"), "{csv}");
    let parquet = std::fs::read(at.join("some.parquet")).expect("there");
    assert!(parquet.starts_with(b"PAR1") && parquet.ends_with(b"PAR1"));
    assert!(error(&wattseal(at, &["export", "all.txt"]), 2).contains("OUT.parquet"));
    assert!(error(&wattseal(at, &["export", "none.csv", "--meter", "6"]), 2).contains("meters list"));
    assert!(error(&wattseal(at, &["export", "none.csv", "--from", "yesterday"]), 2).contains("2026-01-31"));
    assert!(!at.join("none.csv").exists() && !at.join("none.csv.part").exists());
}

/// An installation with one network names none, and sees none: rows, columns, files and folders are
/// those of earlier versions.
#[test]
fn networks_are_named_where_there_are_several() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let text = |arguments: &[&str]| {
        let done = wattseal(at, arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8(done.stdout).expect("UTF-8")
    };
    let header = |text: &str| text.lines().next().expect("a header").to_owned();
    let columns = "meter,epoch,suite,flash,eeprom,eeprom_hex,note";
    let provision = ["meters", "provision", "258", "--images", "images", "--format", "csv"];
    assert_eq!(header(&text(&provision)), columns);
    let columns =
        "meter,label,state,epoch,renewals,suite,interval_s,address,heard_s,power_w,energy_wh,total_wh";
    assert_eq!(header(&text(&["meters", "list", "--format", "csv"])), columns);
    assert!(rows(at, &["meters", "list"])[0].get("network").is_none());
    assert!(!at.join("wattseal.keys/networks").exists());
    collect(at, &["--udp", "127.0.0.1:0"], "-INT", |_| {});
    assert!(!text(&["meters", "list"]).contains("network"));
    text(&["export", "one.csv"]);
    let one = std::fs::read_to_string(at.join("one.csv")).expect("there");
    assert!(header(&one).ends_with(",heard,total_wh"), "{one}");

    let made = rows(at, &["meters", "provision", "7-258", "--images", "images"]);
    assert_eq!((&made[0]["meter"], &made[0]["network"]), (&258.into(), &7.into()));
    assert_eq!(made[0]["flash"], "images/7-00258.flash.bin");
    let note = std::fs::read_to_string(at.join("images/7-00258.txt")).expect("there");
    assert!(note.contains("Meter 7-258") && note.contains("meters rotate 7-258"), "{note}");
    for file in ["collector.toml", "meters/00258.toml"] {
        let path = at.join("wattseal.keys/networks/7").join(file);
        assert_eq!(std::fs::metadata(path).expect("there").permissions().mode() & 0o777, 0o600, "{file}");
    }
    let listed = rows(at, &["meters", "list"]);
    let all = |rows: &Value| rows.as_array().expect("rows").clone();
    let names: Vec<_> =
        all(&listed).iter().map(|row| (row["network"].clone(), row["meter"].clone())).collect();
    assert_eq!(names, [(0.into(), 258.into()), (7.into(), 258.into())]);
    let table = text(&["meters", "list"]);
    assert!(table.contains("│ 7-258 "), "{table}");
    assert!(header(&text(&["meters", "list", "--format", "csv"])).starts_with("meter,network,label,"));

    let log = collect(at, &["--udp", "127.0.0.1:0", "--udp", "127.0.0.1:0@7"], "-INT", |_| {});
    assert!(log.contains("network=7"), "{log}");
    text(&["export", "two.csv"]);
    let two = std::fs::read_to_string(at.join("two.csv")).expect("there");
    assert!(header(&two).ends_with(",heard,total_wh,network"), "{two}");
    text(&["export", "default.csv", "--meter", "258"]);
    assert_eq!(std::fs::read_to_string(at.join("default.csv")).expect("there"), one);
    assert_eq!(rows(at, &["audit"])[0]["failures"], 0);
    text(&["backup", "copy"]);
    assert!(at.join("copy/wattseal.keys/networks/7/meters/00258.toml").exists());
    std::fs::copy(at.join("wattseal.keys/networks/7/meters/00258.toml"), at.join("saved.toml"))
        .expect("copied");
    text(&["meters", "revoke", "7-258"]);
    let states: Vec<_> = all(&rows(at, &["meters", "list"])).iter().map(|row| row["state"].clone()).collect();
    assert_eq!(states, ["registered", "revoked"]);
    // The file says whose it is.
    text(&["meters", "add", "saved.toml"]);
    assert_eq!(rows(at, &["meters", "rotate", "7-258", "--images", "images"])[0]["epoch"], 2);
    for wrong in ["8-258", "7-", "7-0", "7-65536"] {
        let said = error(&wattseal(at, &["meters", "revoke", wrong]), 2);
        assert!(
            said.contains("7-258")
                || said.contains("wattseal meters provision")
                || said.contains("1 to 65535"),
            "{said}"
        );
    }
    let said = error(&wattseal(at, &["collect", "--udp", "127.0.0.1:0@seven", "--listen", "127.0.0.1:0"]), 2);
    assert!(said.contains("a network is a number"), "{said}");
}
