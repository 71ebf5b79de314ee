//! The recipes of docs/how-to/runners.md, as far as their tools are here.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Command, Output, Stdio};
use testkit::documents::home;

/// A program whose exit code its compiler is given.
const TESTS: &str = "int main(void) { return CODE; }\n__attribute__((noreturn)) void exit(int);\n";

/// Returns the page's blocks of code in a language, in their order.
fn blocks(language: &str) -> Vec<String> {
    let page = fs::read_to_string(home().join("docs/how-to/runners.md")).expect("the page");
    let fence = format!("```{language}\n");
    let found = page.split(&fence).skip(1).filter_map(|rest| rest.split("```").next());
    found.map(str::to_owned).collect()
}

/// A command whose PATH has the binary under test first.
fn command(program: &str, folder: &Path) -> Command {
    let binaries = Path::new(env!("CARGO_BIN_EXE_wattseal")).parent().expect("a folder");
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").expect("a path"));
    let mut command = Command::new(program);
    command.current_dir(folder).env("PATH", path).env("WATTSEAL_HOME", home());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[test]
fn ctest_runs_a_program_of_cmake() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::write(at.join("CMakeLists.txt"), &blocks("cmake")[0]).expect("written");
    fs::write(at.join("tests.c"), TESTS).expect("written");
    let toolchain = "set(CMAKE_SYSTEM_NAME Generic)\nset(CMAKE_C_COMPILER avr-gcc)\n";
    fs::write(at.join("avr.cmake"), toolchain).expect("written");
    for (code, passes) in [(0, true), (3, false)] {
        let build = format!("build{code}");
        let flags = format!("-DCMAKE_C_FLAGS=-mmcu=atmega328p -DCODE={code}");
        let line = ["-S", ".", "-B", &build, "-DCMAKE_TOOLCHAIN_FILE=avr.cmake", &flags];
        let configured = command("cmake", at).args(line).output().expect("cmake runs");
        assert!(configured.status.success(), "{}", said(&configured));
        let built = command("cmake", at).args(["--build", &build]).output().expect("cmake runs");
        assert!(built.status.success(), "{}", said(&built));
        let tested = command("ctest", at).args(["--test-dir", &build, "--output-on-failure"]).output();
        let tested = tested.expect("ctest runs");
        assert_eq!(tested.status.success(), passes, "{}", said(&tested));
        assert!(passes || said(&tested).contains("the program exited with 3"), "{}", said(&tested));
    }
}

/// A package without dependencies: start-up and semihosting are in it.
const PACKAGE: &str = r#"
#![no_std]
#![no_main]

use core::arch::asm;

#[unsafe(link_section = ".vectors")]
#[used]
static VECTORS: [unsafe extern "C" fn() -> !; 2] = [stack_top, start];

unsafe extern "C" {
    fn stack_top() -> !;
}

fn call(operation: u32, parameter: *const u32) {
    unsafe { asm!("bkpt 0xab", inout("r0") operation => _, in("r1") parameter) }
}

unsafe extern "C" fn start() -> ! {
    let mut line = [0_u8; 100];
    let block = [line.as_mut_ptr() as u32, line.len() as u32];
    call(0x15, block.as_ptr());
    call(0x04, line.as_ptr().cast());
    // ADP_Stopped_ApplicationExit, and the code.
    let exit = [0x20026, CODE];
    call(0x20, exit.as_ptr());
    loop {}
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
"#;

const LAYOUT: &str = "ENTRY(_start)\nPROVIDE(_start = 0x08000000);\nstack_top = 0x20001000;\n\
                      SECTIONS { .text 0x08000000 : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } /DISCARD/ : { *(.ARM.*) } }\n";

#[test]
fn cargo_runs_and_tests_a_package() {
    let installed = Command::new("rustup").args(["target", "list", "--installed"]).output();
    if !installed.is_ok_and(|list| said(&list).contains("thumbv6m-none-eabi")) {
        eprintln!("skipped: rustup target add thumbv6m-none-eabi");
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for inner in [".cargo", "src", "tests"] {
        fs::create_dir_all(at.join(inner)).expect("a folder");
    }
    let manifest = "[package]\nname = \"firmware\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[profile.dev]\npanic = \"abort\"\n\n\
                    [[bin]]\nname = \"firmware\"\ntest = false\n\n[[test]]\nname = \"device\"\nharness = false\n\n[workspace]\n";
    fs::write(at.join("Cargo.toml"), manifest).expect("written");
    fs::write(at.join("link.x"), LAYOUT).expect("written");
    let config = blocks("toml").remove(0).replace("-Tlink.x", &format!("-T{}", at.join("link.x").display()));
    fs::write(at.join(".cargo/config.toml"), config).expect("written");
    fs::write(at.join("src/main.rs"), PACKAGE.replace("CODE", "7")).expect("written");
    fs::write(at.join("tests/device.rs"), PACKAGE.replace("CODE", "0")).expect("written");
    let cargo = |line: &str| {
        let mut command = command("cargo", at);
        for name in ["RUSTC_WORKSPACE_WRAPPER", "CLIPPY_ARGS", "RUSTFLAGS", "CARGO_TARGET_DIR"] {
            command.env_remove(name);
        }
        command.args(line.split(' ')).args(["--offline"]).output().expect("cargo runs")
    };
    let ran = cargo("run");
    assert_eq!(ran.status.code(), Some(7), "{}", said(&ran));
    let tested = cargo("test --test device");
    assert_eq!(tested.status.code(), Some(0), "{}", said(&tested));
    fs::write(at.join("tests/device.rs"), PACKAGE.replace("CODE", "1")).expect("written");
    assert_ne!(cargo("test --test device").status.code(), Some(0));
}

/// Four tests as embedded-test makes them: names as JSON in a section that is not loaded.
const EMBEDDED_TESTS: &str = r#"
    .syntax unified
    .cpu cortex-m0
    .thumb
    .section .vectors, "a"
    .word 0x20001000
    .word start
    .text
    .thumb_func
start:  /* SYS_GET_CMDLINE: "run_addr ADDRESS" */
    ldr r4, =0x20000000
    movs r0, #0
    str r0, [r4, #0]
    adds r0, r4, #0
    adds r0, #16
    str r0, [r4, #0]
    movs r1, #64
    str r1, [r4, #4]
    movs r0, #0x15
    mov r1, r4
    bkpt 0xab
    adds r4, #25
    movs r5, #0
    movs r6, #10
digit:
    ldrb r0, [r4]
    subs r0, #'0'
    bmi go
    muls r5, r6, r5
    adds r5, r5, r0
    adds r4, #1
    b digit
go:
    bx r5
    .thumb_func
passes:
    ldr r1, =0x20026
    movs r0, #0x18
    bkpt 0xab
    .thumb_func
fails:
    ldr r1, =text
    movs r0, #4
    bkpt 0xab
    ldr r1, =0x20023
    movs r0, #0x18
    bkpt 0xab
    .thumb_func
hangs:
    adds r0, #1
    b hangs
    .pool
text:
    .asciz "what it says\n"
module:
    .ascii "firmware::tests"
    .section .embedded_test, "", %progbits
    .global EMBEDDED_TEST_VERSION
EMBEDDED_TEST_VERSION:
    .word VERSION
    .global "{\"disambiguator\":1,\"name\":\"passes\",\"ignored\":false,\"should_panic\":false}"
"{\"disambiguator\":1,\"name\":\"passes\",\"ignored\":false,\"should_panic\":false}":
    .word passes, module, 15
    .global "{\"disambiguator\":2,\"name\":\"fails\",\"ignored\":false,\"should_panic\":false}"
"{\"disambiguator\":2,\"name\":\"fails\",\"ignored\":false,\"should_panic\":false}":
    .word fails, module, 15
    .global "{\"disambiguator\":3,\"name\":\"panics\",\"ignored\":false,\"should_panic\":true}"
"{\"disambiguator\":3,\"name\":\"panics\",\"ignored\":false,\"should_panic\":true}":
    .word fails, module, 15
    .global "{\"disambiguator\":4,\"name\":\"hangs\",\"ignored\":true,\"should_panic\":false,\"timeout\":1}"
"{\"disambiguator\":4,\"name\":\"hangs\",\"ignored\":true,\"should_panic\":false,\"timeout\":1}":
    .word hangs, module, 15
"#;

#[test]
fn tests_within_a_program_are_run_one_by_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    let build = |version: &str, name: &str| {
        fs::write(
            at.join("tests.S"),
            EMBEDDED_TESTS.replace("VERSION\n    .global \"", &format!("{version}\n    .global \"")),
        )
        .expect("written");
        let line = format!(
            "-mcpu=cortex-m0 -mthumb -nostdlib -Wl,--section-start=.vectors=0x08000000,--section-start=.text=0x08000100,--entry=start tests.S -o {name}"
        );
        let built =
            command("arm-none-eabi-gcc", at).args(line.split(' ')).output().expect("the compiler runs");
        assert!(built.status.success(), "{}", said(&built));
    };
    build("1", "tests.elf");
    let run = |line: &str| {
        let output = command("wattseal", at)
            .args(["run", "--target", "stm32f051", "--"])
            .args(line.split(' '))
            .output()
            .expect("wattseal runs");
        (output.status.code(), said(&output))
    };
    let (code, told) = run("tests.elf");
    assert_eq!(code, Some(101), "{told}");
    for line in [
        "running 4 tests",
        "test tests::fails ... FAILED",
        "test tests::hangs ... ignored",
        "test tests::panics - should panic ... ok",
        "test tests::passes ... ok",
        "---- tests::fails ----\nwhat it says\nit ended with 1 in fails",
        "test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out;",
    ] {
        assert!(told.contains(line), "{line}: {told}");
    }
    let (code, told) = run("tests.elf --exact tests::passes");
    assert!(
        code == Some(0) && told.contains("1 passed; 0 failed; 0 ignored; 0 measured; 3 filtered"),
        "{told}"
    );
    let (code, told) = run("tests.elf hangs --ignored");
    assert!(code == Some(101) && told.contains("no end within 1 s of the program's time in hangs"), "{told}");
    let (code, told) = run("tests.elf --list");
    assert_eq!((code, told.lines().next()), (Some(0), Some("tests::fails: test")));
    assert_eq!(run("tests.elf --bogus").0, Some(2));
    build("2", "other.elf");
    let (code, told) = run("other.elf");
    assert!(code == Some(1) && told.contains("embedded-test 0.7"), "{told}");
}

/// cortex-debug attaches gdb at the address at which the task waits for it.
#[test]
fn debugger_attaches_as_the_launch_file_says() {
    let [launch, tasks] = &blocks("json")[..] else { panic!("two files") };
    let parsed = |text: &str| -> serde_json::Value { serde_json::from_str(text).expect("JSON") };
    let (launch, tasks) = (parsed(launch), parsed(tasks));
    let (launch, task) = (&launch["configurations"][0], &tasks["tasks"][0]);
    assert_eq!(launch["preLaunchTask"], task["label"]);
    assert_eq!((&launch["servertype"], &launch["request"]), (&"external".into(), &"attach".into()));
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    fs::create_dir(at.join("build")).expect("a folder");
    let source = home().join("crates/cli/tests/suite/verify_board.rs");
    assert!(source.exists());
    let made = command("make", at)
        .args(["-s", "-C"])
        .arg(home().join("device"))
        .args(["TARGET=stm32f407", "APP=bench", "OP=sha256", "VARIANT=small"])
        .arg(format!("OUT={}", at.join("device").display()))
        .output()
        .expect("make runs");
    assert!(made.status.success(), "{}", said(&made));
    fs::copy(at.join("device/stm32f407/small/sha256.elf"), at.join("build/firmware.elf")).expect("copied");
    let filled = |value: &serde_json::Value| {
        value.as_str().expect("a text").replace("${workspaceFolder}", &at.display().to_string())
    };
    // A port of this test's own.
    let port =
        std::net::TcpListener::bind("127.0.0.1:0").and_then(|free| free.local_addr()).expect("a port").port();
    let moved = |text: String| text.replace("3333", &port.to_string());
    let arguments =
        task["args"].as_array().expect("arguments").iter().map(|argument| moved(filled(argument)));
    let mut server = command(&filled(&task["command"]), at)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .expect("wattseal runs");
    let mut told = BufReader::new(server.stderr.take().expect("piped")).lines();
    let background = &task["problemMatcher"]["background"];
    let (begins, ends) = (&background["beginsPattern"], background["endsPattern"].as_str().expect("a text"));
    assert_eq!(begins, "^wattseal");
    assert!(told.any(|line| line.is_ok_and(|line| line.starts_with("wattseal") && line.contains(ends))));
    let debugger = command("gdb-multiarch", at)
        .args(["--batch", "--nx", &filled(&launch["executable"])])
        .args(["-ex", &moved(format!("target remote {}", filled(&launch["gdbTarget"])))])
        .args(["-ex", "break main", "-ex", "continue", "-ex", "kill"])
        .output()
        .expect("gdb runs");
    drop(told);
    let _ = server.wait();
    assert!(said(&debugger).contains("Breakpoint 1, main"), "{}", said(&debugger));
}

/// The commands of PlatformIO, Arduino CLI and Zephyr, on a program: their own tools are not here.
#[test]
fn other_tools_commands_are_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path();
    for (code, name) in [(0, "zero.elf"), (4, "four.elf")] {
        fs::write(at.join("tests.c"), TESTS.replace("CODE", &code.to_string())).expect("written");
        let built = command("avr-gcc", at).args(["-mmcu=atmega328p", "tests.c", "-o", name]).status();
        assert!(built.expect("the compiler runs").success());
    }
    let ini = blocks("ini").remove(0);
    let testing = ini.split("test_testing_command =").nth(1).expect("a command");
    let platformio: Vec<&str> = testing.split_whitespace().collect();
    let page = fs::read_to_string(home().join("docs/how-to/runners.md")).expect("the page");
    let arduino = page.lines().find(|line| line.starts_with("wattseal run ")).expect("a command");
    for line in [platformio.join(" "), arduino.to_owned()] {
        for (program, code) in [("zero.elf", 0), ("four.elf", 4)] {
            let words: Vec<&str> =
                line.split(' ').map(|word| if word.ends_with(".elf") { program } else { word }).collect();
            let ran = command(words[0], at).args(&words[1..]).output().expect("wattseal runs");
            assert_eq!(ran.status.code(), Some(code), "{line}: {}", said(&ran));
        }
    }
    let zephyr = &blocks("cmake")[1];
    let line = zephyr.lines().find(|line| line.contains("COMMAND")).expect("a command");
    let words: Vec<&str> = line.split_whitespace().collect();
    // A program of another part is refused by name, so the options are known.
    let ran =
        command(words[1], at).args(["run", "zero.elf"]).args(&words[4..]).output().expect("wattseal runs");
    assert!(said(&ran).contains("built for"), "{}", said(&ran));
}
