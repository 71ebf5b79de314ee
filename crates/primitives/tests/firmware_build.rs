//! What `device/Makefile` promises: errors that name what there is, and a build that does not depend on what was built
//! before it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Runs make into an empty folder of this test's own, or into what earlier calls left there.
fn make(folder: &str, arguments: &[&str]) -> (PathBuf, Output) {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join(folder);
    let output = Command::new("make")
        .arg("-C")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device"))
        .args(arguments)
        .arg(format!("OUT={}", out.display()))
        .env_remove("MAKEFLAGS")
        .env_remove("MAKELEVEL")
        // Other build tools export this name; it must not choose the microcontroller.
        .env("TARGET", "x86_64-unknown-linux-gnu")
        .output()
        .expect("make is installed");
    (out, output)
}

fn elf(folder: &str, arguments: &[&str]) -> Vec<u8> {
    let (out, output) = make(folder, &[&["TARGET=stm32f407", "OP=sha1"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    std::fs::read(out.join("stm32f407/portable/sha1.elf")).expect("make has built it")
}

#[test]
fn what_is_not_known_is_refused_with_what_there_is() {
    for (arguments, says) in [
        (["TARGET=pdp11"], "stm32f407"),
        (["OP=rot13"], "aes128-encrypt"),
        (["VARIANT=quick"], "portable"),
        (["APP=nothing"], "bench"),
    ] {
        let (_, output) = make("refused", &arguments);
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && text.contains("is not known"), "{arguments:?}: {text}");
        assert!(text.contains(says), "{arguments:?}: {text}");
    }
}

#[test]
fn a_clock_that_the_part_cannot_make_is_refused() {
    let (_, output) = make("refused", &["TARGET=stm32f100", "OP=empty", "CLOCK=30000000"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("multiples of 4 MHz up to 24 MHz"));
}

#[test]
fn the_result_depends_on_the_settings_alone() {
    std::fs::remove_dir_all(Path::new(env!("CARGO_TARGET_TMPDIR")).join("settings")).ok();
    let default = elf("settings", &[]);
    assert_eq!(elf("settings", &[]), default);
    let slow = elf("settings", &["CLOCK=16000000"]);
    assert_ne!(slow, default);
    assert_ne!(elf("settings", &["CLOCK=16000000", "WAIT_STATES=5"]), slow);
    assert_eq!(elf("settings", &["CLOCK=168000000"]), default);
    assert_eq!(elf("elsewhere", &[]), default);
}
