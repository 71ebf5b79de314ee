//! `wattseal firmware`: the commands of docs/how-to/firmware-update.md, and what is said where
//! something is wrong. Sending is `update`'s and the bootloader's:
//! crates/lab/tests/suite/bootloader.

use std::path::Path;
use std::process::{Command, Output};
use testkit::documents::home;

fn wattseal(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wattseal"))
        .args(arguments.split(' '))
        .env("WATTSEAL_HOME", home())
        .current_dir(folder)
        .output()
        .expect("the binary under test runs")
}

/// The lines of the page's block that is marked with `console`, but for those that need a part at a
/// serial port.
fn lines() -> Vec<String> {
    let page = std::fs::read_to_string(home().join("docs/how-to/firmware-update.md")).expect("the page");
    let block = page.split("```console\n").nth(1).expect("a block").split("```").next().expect("its end");
    block.lines().filter(|line| !line.is_empty() && !line.contains("--port")).map(str::to_owned).collect()
}

#[test]
fn the_page_s_commands_work() {
    let folder = tempfile::tempdir().expect("a folder");
    let lines = lines();
    assert!(lines.len() >= 5, "{lines:?}");
    let device = format!(
        "make -s -C {} OUT={}",
        home().join("device").display(),
        folder.path().join("device/build").display()
    );
    for line in lines {
        let run = line
            .replace("./wattseal", env!("CARGO_BIN_EXE_wattseal"))
            .replace("make -C device", &device)
            .replace("$PWD", &folder.path().display().to_string());
        let output = Command::new("sh")
            .args(["-c", &run])
            .env("WATTSEAL_HOME", home())
            .current_dir(folder.path())
            .output()
            .expect("a shell");
        assert!(output.status.success(), "{run}: {}", String::from_utf8_lossy(&output.stderr));
    }
    let told = |arguments: &str, code: i32, says: &str| {
        let output = wattseal(folder.path(), arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {said}");
        assert!(said.contains(says), "{arguments}: {said}");
    };
    told("firmware keygen maker.key", 1, "is there already");
    told("firmware keygen other.key --height 11", 2, "possible values");
    told("firmware keygen other.key --height 5", 0, "signs 32 images");
    told("firmware verify update-7.img --key other.key.pub", 1, "sign it anew");
    told("firmware verify maker.key.pub --key maker.key.pub", 1, "no signed image");
    told("firmware verify none.img --key maker.key.pub", 1, "check the path");
    told("firmware verify update-7.img --key update-7.img", 1, "a public key has 56");
    let elf = "device/build/stm32f407-slot-b/small/update.elf";
    told(
        &format!("firmware sign {elf} --target stm32f408 --version 1 --key maker.key --output x.img"),
        2,
        "stm32f407",
    );
    told(
        &format!("firmware sign {elf} --target atmega328p --version 1 --key maker.key --output x.img"),
        2,
        "--target",
    );
    told(
        "firmware sign update-7.img --target stm32f407 --version 1 --key maker.key --output x.img",
        2,
        "ELF",
    );
    told("firmware send update-7.img --port none", 1, "check the path");
    told("firmware send maker.key --port none", 1, "no signed image");
    told("firmware send update-7.img --port update-7.img", 1, "no serial port");
    assert!(!folder.path().join("x.img").exists());
}
