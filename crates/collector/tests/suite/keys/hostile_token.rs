//! PKCS#11 tokens that disappear at any call, or lie.
//!
//! `hostile_token.c` stands between the binary and SoftHSM2.

use super::token::{MODULE, PIN, Tokens};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::OnceLock;

/// CKR_DEVICE_REMOVED, CKR_SESSION_HANDLE_INVALID, CKR_GENERAL_ERROR: PKCS #11 2.40, 5.1.
const RESULTS: [&str; 3] = ["0x32", "0xb3", "0x5"];

/// The module, which is built once in a process.
fn module() -> &'static PathBuf {
    static BUILT: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let (_, path) = BUILT.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("hostile.so");
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/keys/hostile_token.c");
        let built = Command::new("cc")
            .args([
                "-std=c99", "-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared", source, "-ldl", "-o",
            ])
            .arg(&path)
            .output()
            .expect("cc");
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        (folder, path)
    });
    path
}

struct Hostile(Tokens);

impl Hostile {
    fn new() -> Hostile {
        Hostile(Tokens::new())
    }

    fn uri(&self, token: &str, key: &str) -> String {
        self.0.uri(token, key).replace(MODULE, module().to_str().expect("UTF-8"))
    }

    /// A file that names this module instead of SoftHSM2's.
    fn kek(&self, name: &str) -> String {
        let (from, to) = (self.0.path(name), format!("{name}-hostile"));
        let text = std::fs::read_to_string(from).expect("there");
        let text = text.replace(MODULE, module().to_str().expect("UTF-8"));
        crate::meters::station::put(&self.0.path(&to), &text);
        to
    }

    fn run(&self, settings: &[(&str, &str)], arguments: &[&str]) -> Output {
        let mut command = self.0.command(env!("CARGO_BIN_EXE_wattseal-collector"));
        command.args(arguments).envs(settings.iter().copied()).output().expect("it runs")
    }

    /// An error, which has neither a PIN nor a key in it; returns it.
    fn refuses(&self, settings: &[(&str, &str)], arguments: &[&str]) -> String {
        let output = self.run(settings, arguments);
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(matches!(output.status.code(), Some(1 | 2)), "{settings:?}: {:?} {text}", output.status);
        assert!(!text.contains(PIN) && !text.contains("wsk_"), "{settings:?}: {text}");
        text
    }
}

#[test]
fn token_lost_at_any_call_is_reported_and_changes_nothing() {
    let stand = Hostile::new();
    stand.0.does(&["meters", "new-kek", "kek", "--pkcs11", &stand.0.uri("one", "kek-1")]);
    stand.0.keys(&["provision", "258", "--kek-file", "kek"]);
    let (database, kek) = (&stand.0.db, stand.kek("kek"));
    let keys = || stand.0.keys(&["list", "--kek-file", "kek"]);
    let before = keys();
    let uri = stand.uri("one", "kek-2");
    let wraps = ["meters", "new-kek", "new", "--pkcs11", &uri];
    let unwraps = ["meters", "list", "--db", database, "--kek-file", &kek];
    for (arguments, makes_file) in [(&wraps[..], true), (&unwraps[..], false)] {
        let mut calls = 0;
        loop {
            calls += 1;
            let (at, result) = (calls.to_string(), RESULTS[calls % RESULTS.len()]);
            let settings = [("WS_TOKEN_AT", at.as_str()), ("WS_TOKEN_RESULT", result)];
            if stand.run(&settings, arguments).status.success() {
                break;
            }
            let error = stand.refuses(&settings, arguments);
            assert!(error.contains("token") || error.contains("module"), "call {calls}: {error}");
            assert!(!makes_file || !stand.0.path("new").exists(), "call {calls}: a file was left");
        }
        assert!((15..60).contains(&calls), "{calls} calls");
        assert!(stand.0.path("new").exists());
    }
    assert!(before.contains("258") && keys() == before, "{before}");
    // Its files are gone, as of a token that was pulled out before.
    std::fs::remove_dir_all(stand.0.path("tokens")).expect("removed");
    std::fs::create_dir(stand.0.path("tokens")).expect("a folder");
    let error = stand.refuses(&[], &unwraps);
    assert!(error.contains("no token one: it has none"), "{error}");
}

#[test]
fn a_token_that_lies_is_not_believed() {
    let stand = Hostile::new();
    stand.0.does(&["meters", "new-kek", "kek", "--pkcs11", &stand.0.uri("one", "kek-1")]);
    stand.0.keys(&["provision", "258", "--kek-file", "kek"]);
    let (kek, uri) = (stand.kek("kek"), stand.uri("one", "kek-1"));
    let unwraps = ["meters", "list", "--db", &stand.0.db, "--kek-file", &kek];
    let wraps = ["meters", "new-kek", "new", "--pkcs11", &uri];
    for (lie, of_unwrap, of_wrap) in [
        ("extractable", "CKA_EXTRACTABLE is true", "CKA_EXTRACTABLE is true"),
        ("not-sensitive", "CKA_SENSITIVE is false", "CKA_SENSITIVE is false"),
        ("short", "another length", "does not encrypt"),
        ("long", "another length", "does not encrypt"),
        ("absurd", "a length that nothing can have", "a length that nothing can have"),
        ("other-key", "sealed under", "does not open what it sealed"),
        ("plain", "", "does not encrypt"),
        ("changed", "sealed under", "does not open what it sealed"),
    ] {
        let settings = [("WS_TOKEN_LIE", lie)];
        if lie != "plain" {
            let error = stand.refuses(&settings, &unwraps);
            assert!(error.contains(of_unwrap), "{lie}: {error}");
        }
        let error = stand.refuses(&settings, &wraps);
        assert!(error.contains(of_wrap) && !stand.0.path("new").exists(), "{lie}: {error}");
    }
    stand.run(&[], &wraps);
    assert!(stand.0.path("new").exists(), "all else is as it should be");
}

#[test]
fn unplugged_token_is_not_missed_when_another_is_asked_for() {
    let stand = Hostile::new();
    let mut found = 0;
    for token in ["one", "two"] {
        let uri = stand.uri(token, "kek-1");
        let wraps = ["meters", "new-kek", token, "--pkcs11", &uri];
        let settings = [("WS_TOKEN_LIE", "first-slot-empty")];
        match stand.run(&settings, &wraps).status.success() {
            true => found += 1,
            false => {
                let error = stand.refuses(&settings, &wraps);
                assert!(error.contains(&format!("no token {token}: it has")), "{error}");
            }
        }
    }
    assert_eq!(found, 1);
}
