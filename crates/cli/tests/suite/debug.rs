//! `wattseal run --gdb`: the real gdb of a core, or the remote protocol as its gdb speaks it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

fn home() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// `run/debug.c`, compiled for a family.
fn built(family: &str, compiler: &str, flags: &[&str]) -> PathBuf {
    // Tests run side by side.
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let elf = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("debug-{number}-{family}.elf"));
    let output = Command::new(compiler)
        .args(["-Os", "-g", "-Wall", "-Wextra", "-Werror", "-o"])
        .arg(&elf)
        .args(flags)
        .arg(home().join("crates/cli/tests/suite/run/debug.c"))
        .output()
        .expect("the compiler runs");
    assert!(output.status.success(), "{family}: {}", String::from_utf8_lossy(&output.stderr));
    elf
}

fn avr() -> PathBuf {
    built("avr", "avr-gcc", &["-mmcu=atmega328p"])
}

/// Firmware of the project's own.
fn made(target: &str, operation: &str, variant: &str) -> PathBuf {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debug");
    let status = Command::new("make")
        .args(["--silent", "--directory"])
        .arg(home().join("device"))
        .args([format!("TARGET={target}"), format!("OP={operation}"), format!("VARIANT={variant}")])
        .arg(format!("OUT={}", out.display()))
        .status();
    assert!(status.expect("make runs").success());
    out.join(target).join(variant).join(format!("{operation}.elf"))
}

/// A program that waits for gdb, and where.
struct Waiting {
    child: Child,
    address: String,
    said: BufReader<std::process::ChildStderr>,
}

impl Waiting {
    fn new(elf: &Path, target: &str) -> Waiting {
        let mut child = Command::new(env!("CARGO_BIN_EXE_wattseal"))
            .env("WATTSEAL_HOME", home())
            .arg("run")
            .arg(elf)
            .args(["--target", target, "--gdb", "0", "--max-cycles", "1e8"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary under test runs");
        let mut said = BufReader::new(child.stderr.take().expect("a pipe"));
        let mut line = String::new();
        said.read_line(&mut line).expect("it says where it waits");
        let address = line.split("target remote ").nth(1).unwrap_or_else(|| panic!("{line}"));
        Waiting { child, address: address.trim_end().trim_end_matches('\'').into(), said }
    }

    /// Its exit code, and what it said after its first line.
    fn ended(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("it ends");
        let mut said = String::new();
        self.said.read_to_string(&mut said).expect("text");
        (status.code(), said)
    }
}

/// Returns the output of a gdb with these commands.
fn gdb(program: &str, elf: &Path, waiting: &Waiting, commands: &str) -> String {
    let script = format!(
        "set pagination off\nset confirm off\nset width 0\nset tcp connect-timeout 20\ntarget remote {}\n{commands}",
        waiting.address
    );
    let file = elf.with_extension(format!("{}.gdb", waiting.child.id()));
    std::fs::write(&file, script).expect("written");
    let output: Output = Command::new("timeout")
        .args(["60", program, "-nx", "-batch", "-x"])
        .arg(&file)
        .arg(elf)
        .output()
        .expect("gdb runs");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}

/// The numbers of all lines `N cycles, M instructions`.
fn cycles(printed: &str) -> Vec<u64> {
    printed.lines().filter_map(|line| line.split_once(" cycles, ")?.0.parse().ok()).collect()
}

const TOUR: &str = "break work if n == 3
continue
print/d n
delete
break tick
continue
backtrace
delete
break work
continue
delete
watch sum
continue
monitor cycles
delete
reverse-stepi
monitor cycles
stepi
monitor cycles
break main
reverse-continue
monitor cycles
print sum
delete
reverse-continue
monitor cycles
set var ticks = 19
print ticks
break tick
continue
delete
next
monitor bogus
monitor time
continue
";

/// Breakpoints, also in an interrupt, watchpoints, steps, the way back, and the end, with a real
/// gdb.
fn tour(program: &str, elf: &Path, target: &str, handler: &str) -> String {
    let waiting = Waiting::new(elf, target);
    let printed = gdb(program, elf, &waiting, &TOUR.replace("tick\n", &format!("{handler}\n")));
    let (code, said) = waiting.ended();
    let context = format!("{target}: {printed}\n{said}");
    for text in [
        "= 3\n",
        &format!("Breakpoint 2, {handler} () at"),
        "Hardware watchpoint 4: sum",
        " in work (",
        "Old value = ",
        "New value = ",
        "Breakpoint 5, main () at",
        "No more reverse-execution history",
        "= 19\n",
        &format!("Breakpoint 6, {handler} () at"),
        "there is no 'monitor bogus'",
        " s, at ",
        "exited with code 07]",
    ] {
        assert!(printed.contains(text), "{text:?} is missing: {context}");
    }
    // The end of the write, the instruction that made it, its end again, main, reset.
    let [accessed, before, again, main, reset] = cycles(&printed)[..] else { panic!("{context}") };
    assert!(before < accessed && again == accessed && main < before && reset == 0, "{context}");
    assert_eq!(code, Some(7), "{context}");
    assert!(said.contains("the program exited with 7"), "{context}");
    printed
}

#[test]
fn avr_gdb_runs_a_program_forth_and_back() {
    tour("avr-gdb", &avr(), "atmega328p", "__vector_16");
}

/// For the STM32F407.
fn arm() -> PathBuf {
    built(
        "arm",
        "arm-none-eabi-gcc",
        &[
            "-nostdlib",
            "-ffreestanding",
            "-mcpu=cortex-m4",
            "-mthumb",
            "-Wl,-emain,--section-start=.vectors=0x08000000",
            "-Wl,--section-start=.text=0x08000100,--section-start=.bss=0x20000000",
        ],
    )
}

/// For the CH32V003.
fn riscv() -> PathBuf {
    built(
        "riscv",
        "riscv64-unknown-elf-gcc",
        &[
            "-nostdlib",
            "-ffreestanding",
            "-march=rv32ec",
            "-mabi=ilp32e",
            "-msmall-data-limit=0",
            "-Wl,-ereset,--section-start=.vectors=0",
            "-Wl,--section-start=.text=0x100,--section-start=.bss=0x20000000",
        ],
    )
}

#[test]
fn gdb_multiarch_runs_a_cortex_m_and_a_risc_v() {
    let printed = tour("gdb-multiarch", &arm(), "stm32f407", "tick");
    assert!(printed.contains("<signal handler called>"), "{printed}");
    tour("gdb-multiarch", &riscv(), "ch32v003", "tick");
}

/// Registers with addresses are read as the program would, as often as one likes: what reading does
/// to them is not done.
#[test]
fn registers_of_peripherals_are_read_and_stay_as_they_are() {
    // Each time twice, in the timer's interrupt: what debug.c has written, and a flag that the
    // interrupt has raised. TIFR0.TOV0 is cleared on entry. SysTick's COUNTFLAG is cleared by
    // reading it (DDI 0403, B3.3.3), CNTIF of the CH32V003's is not.
    for (program, elf, target, handler, commands, shown) in [
        (
            "avr-gdb",
            avr(),
            "atmega328p",
            "__vector_16",
            "x/2xb 0x800044\nx/1xb 0x80006e\n",
            &["0x00\t0x01", "0x01"][..],
        ),
        ("gdb-multiarch", arm(), "stm32f407", "tick", "x/2xw 0xe000e010\n", &["0x00010007\t0x000000ff"]),
        ("gdb-multiarch", riscv(), "ch32v003", "tick", "x/2xw 0xe000f000\n", &["0x0000000f\t0x00000001"]),
    ] {
        let waiting = Waiting::new(&elf, target);
        let commands = format!("break {handler}\ncontinue\n{commands}{commands}x/1xw 0x50f00000\n");
        let printed = gdb(program, &elf, &waiting, &commands);
        for values in shown {
            let lines = printed.lines().filter(|line| line.ends_with(&format!(":\t{values}"))).count();
            assert_eq!(lines, 2, "{target}, {values}: {printed}");
        }
        assert!(printed.contains("Cannot access memory at address 0x50f00000"), "{target}: {printed}");
        // gdb leaves a script at an error, and the program to itself.
        assert_eq!(waiting.ended().0, Some(7), "{target}");
    }
}

/// Launch files of debug probes have these commands; a Cortex-M has registers beside its general
/// ones.
#[test]
fn gdb_commands_of_debug_probes_and_system_registers_are_known() {
    let elf = arm();
    let waiting = Waiting::new(&elf, "stm32f407");
    let commands = "break work\ncontinue\nset var $primask = 1\nset var $basepri = 0x35\nstepi\n\
                    info registers msp psp primask basepri faultmask control\nprint $msp == $sp\n\
                    monitor halt\nmonitor arm semihosting enable\nmonitor semihosting enable\nmonitor reset  halt\n\
                    maintenance flush register-cache\ninfo registers primask\nmonitor cycles\nmonitor reset init\nkill\n";
    let printed = gdb("gdb-multiarch", &elf, &waiting, commands);
    waiting.ended();
    let value = |name: &str| {
        let line = printed
            .lines()
            .find(|line| line.starts_with(name))
            .unwrap_or_else(|| panic!("{name}: {printed}"));
        line.split_whitespace().nth(1).expect("a value").to_owned()
    };
    // Of BASEPRI the part has four bits.
    let values = ["psp", "primask", "basepri", "faultmask", "control"].map(value);
    assert_eq!(values, ["0x0", "0x1", "0x30", "0x0", "0x0"], "{printed}");
    for text in ["= 1\n", "stopped", "semihosting is enabled", "reset"] {
        assert!(printed.contains(text), "{text}: {printed}");
    }
    assert!(!printed.contains("there is no"), "{printed}");
    assert_eq!(cycles(&printed), [0], "{printed}");
}

#[test]
fn registers_and_cycles_are_gdb_s_own() {
    let elf = avr();
    let waiting = Waiting::new(&elf, "atmega328p");
    let commands = "break work if n == 3\ncontinue\nset var $r24 = 0x2a\nprint/d n\nstepi\ninfo registers pc SP\nx/2xb $sp+1\n\
                    monitor reset\nmaintenance flush register-cache\nprint $pc\nmonitor cycles\ndetach\n";
    let printed = gdb("avr-gdb", &elf, &waiting, commands);
    let (code, said) = waiting.ended();
    assert!(printed.contains("= 42"), "{printed}");
    // The return address, high byte first, is on the stack below main's own.
    assert!(printed.contains("0x8008f"), "{printed}");
    assert_eq!(cycles(&printed), [0], "{printed}");
    // It runs on to its end without gdb.
    assert!(code == Some(7) && said.contains("exited with 7"), "{said}");
}

/// A gdb's side of the remote protocol (GDB manual, appendix E).
struct Remote(TcpStream);

impl Remote {
    fn ask(&mut self, packet: &str) -> String {
        let sum = packet.bytes().fold(0u8, |sum, byte| sum.wrapping_add(byte));
        write!(self.0, "${packet}#{sum:02x}").expect("sent");
        let mut reply = String::new();
        let mut byte = [0];
        while !reply.ends_with('#') {
            self.0.read_exact(&mut byte).expect("an answer");
            reply.push(char::from(byte[0]));
        }
        let mut sum = [0; 2];
        self.0.read_exact(&mut sum).expect("a sum");
        self.0.write_all(b"+").expect("sent");
        let start = reply.find('$').expect("a packet") + 1;
        written_out(&reply[start..reply.len() - 1])
    }

    /// Some bytes of the registers, as a number.
    fn registers(&mut self, range: std::ops::Range<usize>) -> (usize, u64) {
        let hex = self.ask("g");
        let byte = |at: usize| u64::from_str_radix(&hex[2 * at..2 * at + 2], 16).expect("hex");
        (hex.len() / 2, range.rev().fold(0, |value, at| value << 8 | byte(at)))
    }
}

/// A packet without its run lengths: `0*,` is a 0 and as many more as the character after the star
/// says, less 29.
fn written_out(packet: &str) -> String {
    let mut text = String::new();
    let mut characters = packet.chars();
    while let Some(character) = characters.next() {
        if character != '*' {
            text.push(character);
            continue;
        }
        let more = characters.next().expect("a run's length") as usize - 29;
        let last = text.chars().last().expect("what is repeated");
        text.extend(std::iter::repeat_n(last, more));
    }
    text
}

/// The MSP430's and the R8C's gdb are in no package: their registers are where `msp430-tdep.c` and
/// `m32c-tdep.c` have them, which gdbs built for these two have confirmed.
#[test]
fn the_msp430_and_the_r8c_answer_as_their_gdbs_expect() {
    for (target, operation, variant, bytes, pc) in [
        ("msp430f5438a", "aes128-encrypt", "fast", 64, 0..4),
        ("r8c", "aes128-encrypt", "register", 44, 39..42),
    ] {
        let elf = made(target, operation, variant);
        let main = symbol(&elf, "main");
        let waiting = Waiting::new(&elf, target);
        let mut remote = Remote(TcpStream::connect(&waiting.address).expect("it waits"));
        remote.ask("?");
        assert_eq!(remote.ask(&format!("Z0,{main:x},2")), "OK", "{target}");
        assert!(remote.ask("vCont;c").starts_with("T05"), "{target}");
        assert_eq!(remote.registers(pc.clone()), (bytes, main), "{target}");
        remote.ask("vCont;s");
        let after = remote.registers(pc.clone()).1;
        assert_ne!(after, main, "{target}");
        remote.ask("bs");
        assert_eq!(remote.registers(pc).1, main, "{target}: back");
        write!(remote.0, "$k#6b").expect("sent");
        let (code, said) = waiting.ended();
        assert!(code == Some(0) && said.contains("ended by gdb"), "{target}: {said}");
    }
}

/// A symbol's address, by the compilers' own tool.
fn symbol(elf: &Path, name: &str) -> u64 {
    let output = Command::new("nm").arg(elf).output().expect("nm runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = text.lines().find(|line| line.ends_with(&format!(" {name}"))).expect("the symbol");
    u64::from_str_radix(&line[..8], 16).expect("an address")
}

#[test]
fn gdb_is_refused_on_impossible_requests() {
    let run = |elf: &Path, target: &str, options: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_wattseal"))
            .env("WATTSEAL_HOME", home())
            .arg("run")
            .arg(elf)
            .args(["--target", target])
            .args(options)
            .output()
            .expect("it runs");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let (code, said) = run(&avr(), "atmega328p", &["--gdb", "nowhere"]);
    assert!(code == Some(2) && said.contains("'nowhere' is no address"), "{said}");
    let taken = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = taken.local_addr().expect("its address").to_string();
    let (code, said) = run(&avr(), "atmega328p", &["--gdb", &address]);
    assert!(code == Some(1) && said.contains("--gdb takes another port"), "{said}");
}

/// A fault is said at once, and the program can still be looked at.
#[test]
fn a_fault_leaves_the_program_to_be_looked_at() {
    let elf = avr();
    let waiting = Waiting::new(&elf, "atmega328p");
    let commands = "break work\ncontinue\nset var $pc = 0x7000\ncontinue\nmonitor status\nkill\n";
    let printed = gdb("avr-gdb", &elf, &waiting, commands);
    let (code, said) = waiting.ended();
    assert!(printed.contains("SIGSEGV") && printed.contains("0x00007000 in"), "{printed}");
    assert_eq!(code, Some(1), "{said}");
    assert_eq!(said.matches("0x07000").count(), 1, "{said}");
}
