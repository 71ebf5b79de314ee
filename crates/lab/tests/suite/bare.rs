//! Programs of a few lines of assembly, which `measure` takes as they are.

use lab::LabError;
use lab::measure::{MeasureResult, Request, run};
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// The linked program of an assembler text that begins with the symbol `start`: what the part
/// executes first. `function NAME` and `end NAME` stand around each function.
pub fn program(target: &str, text: &str) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("bare-{}-{target}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    // No assembler puts the prefix of ELF's symbol types otherwise than the Arm's, where @ begins a
    // comment.
    let is_arm = target.starts_with("stm32") || target == "nrf52840";
    let kind = if is_arm { "%function" } else { "@function" };
    let lines: Vec<String> = text
        .lines()
        .map(|line| match line.trim().split_once(' ') {
            Some(("function", name)) => format!(".globl {name}\n.type {name}, {kind}\n{name}:"),
            Some(("end", name)) => format!(".size {name}, .-{name}"),
            _ => line.to_owned(),
        })
        .collect();
    std::fs::write(folder.join("program.s"), format!(".text\n{}\n", lines.join("\n"))).expect("written");
    let layout = |text: u32, vectors: &str| {
        format!("ENTRY(start)\nSECTIONS {{ .text {text:#x} : {{ *(.text*) }} {vectors} }}\n")
    };
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).current_dir(&folder).status();
        assert!(status.expect("the toolchain is installed").success(), "{program} {arguments:?}");
    };
    let written = |text: String| std::fs::write(folder.join("layout.ld"), text).expect("written");
    match target {
        "atmega328p" => {
            let arguments =
                ["-mmcu=atmega328p", "-nostdlib", "-nostartfiles", "program.s", "-o", "program.elf"];
            run("avr-gcc", &arguments);
        }
        "msp430f5438a" => {
            written(layout(0x5c00, ".vectors 0xfffe : { SHORT(0x5c00) }"));
            run("clang", &["--target=msp430", "-c", "program.s", "-o", "program.o"]);
            run("ld.lld", &["-N", "-T", "layout.ld", "program.o", "-o", "program.elf"]);
        }
        "r8c" => {
            let tools = Workspace::find()
                .expect("the project")
                .root()
                .expect("a folder")
                .join("device/ports/r8c/build-binutils");
            let output = Command::new(tools).output().expect("it runs");
            let tools = PathBuf::from(String::from_utf8(output.stdout).expect("a path").trim());
            let tool = |name: &str| tools.join(name).display().to_string();
            written(layout(0xc000, ".vectors 0xfffc : { LONG(start + 0xff000000) }"));
            run(&tool("m32c-elf-as"), &["-m16c", "program.s", "-o", "program.o"]);
            run(&tool("m32c-elf-ld"), &["-T", "layout.ld", "program.o", "-o", "program.elf"]);
        }
        _ => {
            let flash = if target == "nrf52840" { "-Wl,-Ttext=0" } else { "-Wl,-Ttext=0x08000000" };
            let arguments = [
                "-mcpu=cortex-m0",
                "-mthumb",
                "-nostdlib",
                "-nostartfiles",
                flash,
                "-Wl,--entry=start",
                "program.s",
                "-o",
                "program.elf",
            ];
            run("arm-none-eabi-gcc", &arguments);
        }
    }
    folder.join("program.elf")
}

/// Default request for a program.
pub fn request(target: &str, text: &str) -> Request {
    Request {
        setup: Setup::new(program(target, text), target),
        functions: Vec::new(),
        until: None,
        calls: None,
        pin: None,
        marker: None,
        max_cycles: 1_000_000,
        flamegraph: None,
        traces: Default::default(),
        listing: None,
        input: None,
        uart: None,
    }
}

/// The same firmware, set up in another way.
pub fn set_up(request: Request, change: impl FnOnce(&mut Setup)) -> Request {
    let mut request = request;
    change(&mut request.setup);
    request
}

/// Measures; the program runs to an end.
pub fn measure(request: &Request) -> MeasureResult {
    let result = try_measure(request).unwrap_or_else(|error| panic!("{}: {error}", request.setup.target));
    if let Some(failure) = &result.failure {
        panic!("{}: {failure}", request.setup.target);
    }
    result
}

/// Measures, however it ends.
pub fn try_measure(request: &Request) -> Result<MeasureResult, LabError> {
    let workspace = Workspace::find().expect("the tests run inside the project");
    run(&workspace, request, &AtomicBool::new(false), None)
}
