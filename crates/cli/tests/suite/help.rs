//! The help that the launcher prints as long as the command is not built is the command's.

use output::commands::ELSEWHERE;
use std::collections::BTreeMap;
use std::fs;
use std::process::{Command, Stdio};
use testkit::documents::home;

const FOLDER: &str = "crates/cli/help";
const RENEW: &str = "cargo test -p wattseal-cli --test suite -- --ignored renew_the_help";

/// Adds the help of a command and of those below it, by their words joined.
fn collect(words: &[&str], texts: &mut BTreeMap<String, String>) {
    let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(words)
        .arg("--help")
        .env("COLUMNS", "80")
        .stdin(Stdio::null())
        .output()
        .expect("the binary under test runs");
    assert!(output.status.success(), "{words:?}");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let list = text.lines().skip_while(|line| *line != "Commands:").skip(1);
    for line in list.take_while(|line| !line.is_empty()) {
        let name = line.split_whitespace().next().expect("a word");
        let is_name = line.strip_prefix("  ").is_some_and(|line| line.starts_with(name));
        if is_name && name != "help" && !ELSEWHERE.iter().any(|elsewhere| elsewhere.name == name) {
            collect(&[words, &[name]].concat(), texts);
        }
    }
    let name = if words.is_empty() { "wattseal".to_owned() } else { words.join("-") };
    texts.insert(format!("{name}.txt"), text);
}

fn helps() -> BTreeMap<String, String> {
    let mut texts = BTreeMap::new();
    collect(&[], &mut texts);
    texts
}

#[test]
fn launcher_s_help_is_the_command_s() {
    let entries = fs::read_dir(home().join(FOLDER)).expect("a folder").map(|entry| entry.expect("an entry"));
    let kept: BTreeMap<String, String> = entries
        .map(|entry| {
            let name = entry.file_name().into_string().expect("UTF-8");
            (name, fs::read_to_string(entry.path()).expect("text"))
        })
        .collect();
    let helps = helps();
    assert!(helps.len() >= 20 && helps.contains_key("firmware-sign.txt"), "{:?}", helps.keys());
    for (name, text) in &helps {
        assert!(kept.get(name) == Some(text), "{FOLDER}/{name} is not the command's; {RENEW}");
        let is_narrow = |line: &str| line.starts_with("Usage:") || line.chars().count() <= 80;
        assert!(text.lines().all(is_narrow), "{name} is wider than 80 columns");
    }
    assert!(kept.keys().eq(helps.keys()), "{FOLDER} has help of no command; {RENEW}");
}

#[test]
#[ignore = "writes the help that the launcher prints"]
fn renew_the_help() {
    let folder = home().join(FOLDER);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("a folder");
    for (name, text) in helps() {
        fs::write(folder.join(name), text).expect("written");
    }
}
