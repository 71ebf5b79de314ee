//! Key-encryption keys that are wrapped under the key of a PKCS#11 token, SoftHSM2's: what the
//! binary does, in a process of its own, because a module is there once in a process.

use std::fs::Permissions;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use testkit::postgres::shared;

pub(super) const MODULE: &str = "/usr/lib/softhsm/libsofthsm2.so";
pub(super) const PIN: &str = "rain-47-tin";

/// A folder with tokens, PINs and files of key-encryption keys, and a database.
pub(super) struct Tokens {
    folder: tempfile::TempDir,
    pub(super) db: String,
}

impl Tokens {
    /// With the tokens `one` and `two`.
    pub(super) fn new() -> Tokens {
        let folder = tempfile::tempdir().expect("a folder");
        let tokens = Tokens { db: shared().url(&shared().database()), folder };
        std::fs::create_dir(tokens.path("tokens")).expect("a folder");
        let config = format!(
            "directories.tokendir = {}\nobjectstore.backend = file\nlog.level = ERROR\n",
            tokens.path("tokens").display()
        );
        std::fs::write(tokens.path("softhsm2.conf"), config).expect("written");
        for label in ["one", "two"] {
            let arguments =
                ["--init-token", "--free", "--label", label, "--so-pin", "so-pin-4711", "--pin", PIN];
            let made = tokens.command("softhsm2-util").args(arguments).output().expect("softhsm2-util");
            assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        }
        tokens.pin(PIN);
        tokens
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn pin(&self, pin: &str) {
        std::fs::write(self.path("pin"), format!("{pin}\n")).expect("written");
        std::fs::set_permissions(self.path("pin"), Permissions::from_mode(0o600)).expect("ours");
    }

    pub(super) fn uri(&self, token: &str, key: &str) -> String {
        format!(
            "pkcs11:token={token};object={key}?module-path={MODULE}&pin-source=file:{}",
            self.path("pin").display()
        )
    }

    pub(super) fn command(&self, program: impl AsRef<Path>) -> Command {
        let mut command = Command::new(program.as_ref());
        command.current_dir(self.folder.path()).env("SOFTHSM2_CONF", self.path("softhsm2.conf"));
        command
    }

    fn collector(&self, arguments: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_wattseal-collector")).args(arguments).output().expect("it runs")
    }

    /// Runs the command and returns its output.
    pub(super) fn does(&self, arguments: &[&str]) -> String {
        let output = self.collector(arguments);
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8").trim().to_owned()
    }

    /// Runs the command, which fails, and returns its error. The PIN is nowhere in it.
    fn refuses(&self, arguments: &[&str]) -> String {
        let output = self.collector(arguments);
        let text = String::from_utf8(output.stderr).expect("UTF-8");
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {text}");
        assert!(!text.contains(PIN) && !text.contains("panicked"), "{text}");
        text
    }

    fn meters(&self, words: &[&str]) -> Vec<String> {
        let words = words.iter().map(|word| (*word).to_owned());
        ["meters".to_owned()].into_iter().chain(words).chain(["--db".to_owned(), self.db.clone()]).collect()
    }

    /// A command on the keys in the database.
    pub(super) fn keys(&self, words: &[&str]) -> String {
        self.does(&self.meters(words).iter().map(String::as_str).collect::<Vec<_>>())
    }

    fn refuses_keys(&self, words: &[&str]) -> String {
        self.refuses(&self.meters(words).iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// A service with this file, until it runs, or says why it does not.
    fn service(&self, kek: &str) -> Result<(), String> {
        let mut child = self
            .command(env!("CARGO_BIN_EXE_wattseal-collector"))
            .args(["collect", "--listen", "127.0.0.1:0", "--db", &self.db, "--kek-file", kek])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("it runs");
        let mut said = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut said).expect("text");
        if said.starts_with("dashboard ") {
            assert!(
                Command::new("kill")
                    .args(["-INT", &child.id().to_string()])
                    .status()
                    .expect("kill")
                    .success()
            );
        }
        let output = child.wait_with_output().expect("it ran");
        let log = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!log.contains(PIN), "{log}");
        if said.is_empty() { Err(log) } else { Ok(()) }
    }
}

#[test]
fn token_key_seals_database_keys_and_is_replaced_by_another() {
    let tokens = Tokens::new();
    let plain = tokens.does(&["meters", "new-kek", "plain.kek"]);
    tokens.keys(&["provision", "258", "7-258", "--kek-file", "plain.kek"]);
    let one = tokens.does(&["meters", "new-kek", "one.kek", "--pkcs11", &tokens.uri("one", "kek-1")]);
    let file = std::fs::read_to_string(tokens.path("one.kek")).expect("there");
    assert!(file.starts_with(&tokens.uri("one", "kek-1")) && !file.contains("wsk_"), "{file}");
    let mode = std::fs::metadata(tokens.path("one.kek")).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    // From a file's to a token's, and to another token's.
    tokens.keys(&["rewrap", "--kek-file", "one.kek", "--kek-file", "plain.kek"]);
    let under = |kek: &str| format!("[{{\"kek\":\"{kek}\",\"keys\":4}}]");
    let keks =
        |file: &str| tokens.keys(&["keks", "--format", "json", "--kek-file", file]).replace([' ', '\n'], "");
    assert_eq!(keks("one.kek"), under(&one));
    let error = tokens.refuses_keys(&["list", "--kek-file", "plain.kek"]);
    assert!(error.contains(&one) && error.contains(&plain), "{error}");
    let two = tokens.does(&["meters", "new-kek", "two.kek", "--pkcs11", &tokens.uri("two", "kek-1")]);
    assert!(one != two && two != plain);
    tokens.keys(&["rewrap", "--kek-file", "two.kek", "--kek-file", "one.kek"]);
    assert_eq!(keks("two.kek"), under(&two));
    assert!(tokens.keys(&["list", "--kek-file", "two.kek"]).contains("7-258"));
    tokens.service("two.kek").expect("it runs");

    // A second file under the same key of a token has another key-encryption key.
    let again = tokens.does(&["meters", "new-kek", "again.kek", "--pkcs11", &tokens.uri("two", "kek-1")]);
    assert!(again != two);
    // A key that one token wrapped is not unwrapped by another, nor with a changed bit.
    let swapped = file.replace("token=one", "token=two");
    let (head, tail) = file.trim().split_at(file.trim().len() - 20);
    let changed = format!("{head}{}", tail.chars().rev().collect::<String>());
    for (name, text) in [("swapped", &swapped), ("changed", &changed)] {
        crate::meters::station::put(&tokens.path(name), text);
        let error = tokens.refuses_keys(&["list", "--kek-file", name]);
        assert!(error.contains("was not wrapped under the key kek-1"), "{name}: {error}");
    }
    crate::meters::station::put(
        &tokens.path("short"),
        &format!("{}\nwskw_AAAA\n", tokens.uri("one", "kek-1")),
    );
    assert!(tokens.refuses_keys(&["list", "--kek-file", "short"]).contains("was not wrapped under"));
    crate::meters::station::put(&tokens.path("none"), &format!("{}\nAAAA\n", tokens.uri("one", "kek-1")));
    assert!(tokens.refuses_keys(&["list", "--kek-file", "none"]).contains("no key-encryption key is in it"));
}

#[test]
fn wrong_pin_is_tried_once_even_across_restarts() {
    let tokens = Tokens::new();
    tokens.does(&["meters", "new-kek", "kek", "--pkcs11", &tokens.uri("one", "kek-1")]);
    tokens.keys(&["provision", "258", "--kek-file", "kek"]);
    tokens.pin("rain-47-tim");
    let error = tokens.service("kek").expect_err("another PIN");
    assert!(error.contains("is not that of the token one") && !error.contains("rain"), "{error}");
    // With the right one, too: who starts services again does not look at it.
    for pin in ["rain-47-tim", PIN] {
        tokens.pin(pin);
        let error = tokens.service("kek").expect_err("it was wrong before");
        assert!(error.contains("so a service tries none"), "{error}");
    }
    tokens.pin("rain-47-tim");
    let error = tokens.refuses_keys(&["keks", "--kek-file", "kek"]);
    assert!(error.contains("is not that of the token one"), "{error}");
    tokens.pin(PIN);
    tokens.keys(&["keks", "--kek-file", "kek"]);
    tokens.service("kek").expect("the right one was given");
    // Others may read it.
    std::fs::set_permissions(tokens.path("pin"), Permissions::from_mode(0o644)).expect("ours");
    let output = tokens.collector(&["meters", "keks", "--db", &tokens.db, "--kek-file", "kek"]);
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(1) && error.contains("chmod 600"), "{error}");
}

#[test]
fn missing_token_parts_are_named() {
    let tokens = Tokens::new();
    let kek = |uri: &str| tokens.refuses(&["meters", "new-kek", "kek", "--pkcs11", uri]);
    let error = kek(&tokens.uri("three", "kek-1"));
    assert!(
        error.contains("no token three") && error.contains("'one'") && error.contains("'two'"),
        "{error}"
    );
    let error = kek(&tokens.uri("one", "kek-1").replace(MODULE, "/nowhere/module.so"));
    assert!(error.contains("/nowhere/module.so cannot be loaded"), "{error}");
    let error = kek(&tokens.uri("one", "kek-1").replace(MODULE, "/usr/bin/env"));
    assert!(error.contains("/usr/bin/env cannot be loaded"), "{error}");
    let error = kek(&format!("{}&pin-value={PIN}", tokens.uri("one", "kek-1")));
    assert!(error.contains("pin-source"), "{error}");
    assert!(!tokens.path("kek").exists(), "nothing is left of what did not come to be");

    tokens.does(&["meters", "new-kek", "kek", "--pkcs11", &tokens.uri("one", "kek-1")]);
    let text = std::fs::read_to_string(tokens.path("kek")).expect("there");
    crate::meters::station::put(&tokens.path("other"), &text.replace("kek-1", "kek-2"));
    let error = tokens.refuses_keys(&["list", "--kek-file", "other"]);
    assert!(error.contains("no key kek-2") && error.contains("new-kek"), "{error}");

    // Keys of the wrong kind.
    std::fs::write(tokens.path("16 bytes"), [7; 16]).expect("written");
    for (key, id) in [("short", "01"), ("double", "02"), ("double", "03")] {
        let token = ["--token", "one", "--pin", PIN, "--label", key, "--id", id];
        let made =
            tokens.command("softhsm2-util").args(["--import", "16 bytes", "--aes"]).args(token).output();
        let made = made.expect("softhsm2-util");
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    }
    for (key, why) in [("short", "it does not have 256 bits"), ("double", "several secret keys double")] {
        let error = tokens.refuses(&["meters", "new-kek", "of-them", "--pkcs11", &tokens.uri("one", key)]);
        assert!(error.contains(why), "{error}");
    }
}
