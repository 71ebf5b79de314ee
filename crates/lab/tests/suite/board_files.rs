//! Firmware and model both follow a board's file: a board that is wired otherwise than its target's
//! first one, in a copy of the project.

use firmware::{Firmware, build_app};
use lab::LabError;
use lab::workspace::Workspace;
use mcu::{Mcu, Stop, Until};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::SystemTime;

/// `device/exchange/main.c`: the call that starts the radio, and where `ws_exchange` has its parts.
const START: u8 = 1;
const RESULT: u32 = 4;
const WHAT: u32 = 7;
const BYTES: u32 = 8;

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder");
    for entry in fs::read_dir(from).expect("a folder") {
        let entry = entry.expect("an entry");
        let (path, to) = (entry.path(), to.join(entry.file_name()));
        if path.ends_with("device/build") {
            continue;
        }
        if path.is_dir() {
            copy(&path, &to);
        } else {
            fs::copy(&path, &to).expect("a copy");
        }
    }
}

/// Result of `ws_radio_start` in firmware for one board on the model of another, or the fault of
/// the model.
fn started(workspace: &Workspace, firmware_for: &str, on: &str) -> Result<i16, mcu::Fault> {
    let wired = workspace.board(firmware_for).expect("a board");
    let target = workspace.target(&wired.target).expect("a target");
    let source = workspace.board_source(&wired, &target, None).expect("its clock");
    let path = build_app(&source, "small", "exchange").expect("it builds");
    let firmware = Firmware::read(&path, target.part.core).expect("an ELF file");
    let mut machine = mcu::new_machine(&target.part, wired.clock_hz).expect("a model");
    machine.load(firmware.image()).expect("it fits");
    workspace.board(on).expect("a board").mount(&mut *machine, None).expect("a board");
    machine.reset();
    let exchange = firmware.symbol("ws_exchange").expect("device/exchange has it").address;
    let run_to = |machine: &mut dyn Mcu, cycles| {
        machine
            .run(&Until { cycles: Some(cycles), ..Until::default() })
            .map(|stop| assert_eq!(stop, Stop::Cycles))
    };
    // Start-up clears what the host writes later.
    run_to(&mut *machine, wired.clock_hz / 1000)?;
    assert!(machine.poke(exchange + BYTES, &[0x41, 0xd4, 0]) && machine.poke(exchange + WHAT, &[START]));
    run_to(&mut *machine, wired.clock_hz)?;
    let (mut result, mut busy) = ([0; 2], [0xff]);
    assert!(machine.peek(exchange + RESULT, &mut result) && machine.peek(exchange + WHAT, &mut busy));
    assert_eq!(busy, [0], "it is done");
    Ok(i16::from_le_bytes(result))
}

fn make(root: &Path, arguments: &[&str]) -> Output {
    let output = Command::new("make").arg("-C").arg(root.join("device")).args(arguments).output();
    output.expect("make")
}

/// Refusal of make.
fn refused(root: &Path, arguments: &[&str]) -> String {
    let output = make(root, arguments);
    assert!(!output.status.success());
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A copy of what firmware is built of.
pub fn project_copy(project: &Workspace, name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&root);
    for folder in ["boards", "device", "targets"] {
        copy(&project.root().expect("a folder").join(folder), &root.join(folder));
    }
    root
}

/// Operations, targets and boards of an older checkout are in the lists of its build.
#[test]
fn make_reads_no_list_that_is_older_than_its_source() {
    let root = project_copy(&Workspace::find().expect("the project's folder"), "stale");
    let build = || {
        let output = make(&root, &["-s", "TARGET=atmega328p", "VARIANT=small", "APP=bench", "OP=sha1"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    build();
    for (list, word) in [("ops.mk", "sha1"), ("target.mk", "avr-gcc"), ("board-emontx.mk", "PORTB")] {
        let path = root.join("device/build/atmega328p/small/obj").join(list);
        let made = fs::read_to_string(&path).expect("made");
        assert!(made.contains(word), "{made}");
        fs::write(&path, made.replace(word, "older")).expect("written");
        let file = fs::File::options().write(true).open(&path).expect("a file");
        file.set_modified(SystemTime::UNIX_EPOCH).expect("its time is set");
        build();
        assert_eq!(fs::read_to_string(&path).expect("made"), made, "{list}");
    }
}

#[test]
fn firmware_and_model_have_the_wiring_of_the_board_s_file() {
    let project = Workspace::find().expect("the project's folder");
    let root = project_copy(&project, "boards");
    let emontx = project.read("boards/emontx.toml").expect("a board's file").1;
    let wired_with = |select: &str, other: &str| {
        let text = emontx.replace(select, other);
        assert_ne!(text, emontx);
        fs::write(root.join("boards/rewired.toml"), text).expect("a file");
    };
    wired_with("select = \"PORTB.2\"", "select = \"PORTB.1\"");
    let workspace = Workspace::at(&root).expect("the copy");

    assert_eq!(started(&workspace, "emontx", "emontx"), Ok(0));
    assert_eq!(started(&workspace, "rewired", "rewired"), Ok(0));
    // The other board's select line is an output at 0 here: the radio takes all bytes for one
    // command.
    for (firmware_for, on) in [("emontx", "rewired"), ("rewired", "emontx")] {
        let fault = started(&workspace, firmware_for, on).expect_err("the wrong wiring").to_string();
        assert!(fault.contains("a byte more than the two of a command"), "{fault}");
    }

    // The drivers refuse wirings that they cannot serve.
    wired_with("nIRQ = \"PORTD.2\"", "nIRQ = \"PORTD.3\"");
    let board = workspace.board("rewired").expect("a board");
    let target = workspace.target(&board.target).expect("a target");
    let source = workspace.board_source(&board, &target, None).expect("its clock");
    let error = LabError::from(build_app(&source, "small", "exchange").expect_err("refused")).to_string();
    assert!(error.contains("nIRQ has to be at PD2, which is INT0"), "{error}");

    let error = refused(&root, &["TARGET=atmega328p", "APP=meter", "BOARD=emontex"]);
    assert!(error.contains("BOARD=emontex is not known; there are: emontx msp430f5438a-cc2500"), "{error}");
    let error = refused(&root, &["TARGET=atmega328p", "APP=meter", "BOARD=stm32f407-cc2500"]);
    assert!(error.contains("is no board of atmega328p; there are: emontx rewired"), "{error}");
    let error = refused(&root, &["TARGET=posix", "APP=meter", "BOARD=emontx"]);
    assert!(error.contains("has no boards"), "{error}");
}
