//! Promises of `device/Makefile`: errors that name the existing choices, and a build that does not
//! depend on earlier ones.

use object::{Object, ObjectSymbol};
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
        // Objects of other builds are not compiled here.
        .env_remove("WATTSEAL_OBJECTS")
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
fn unknown_name_is_refused_with_the_known_ones() {
    for (arguments, says) in [
        (["TARGET=pdp11"], "stm32f407"),
        (["OP=rot13"], "aes128-encrypt"),
        (["VARIANT=quick"], "portable"),
        (["APP=nothing"], "bench"),
        (["APP=node"], "no drivers for nonvolatile stored_energy"),
    ] {
        refused(&arguments, says);
    }
    // The 8051's operation is not the AVR's, and the other way round for a variant.
    refused(&["TARGET=atmega328p", "OP=aes128-encrypt-expanded"], "aes128-encrypt");
    build_r8c_tools();
    refused(&["TARGET=r8c", "VARIANT=portable"], "register");
}

fn refused(arguments: &[&str], says: &str) {
    let (_, output) = make("refused", arguments);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && text.contains("is not known"), "{arguments:?}: {text}");
    assert!(text.contains(says), "{arguments:?}: {text}");
}

/// Variables and stack are in the first bank of RAM alone: an access to the second waits.
#[test]
fn the_stm32f407_firmware_leaves_sram2_alone() {
    let bytes = elf("sram1", &[]);
    let file = object::File::parse(&*bytes).expect("an ELF");
    let top = file.symbol_by_name("ws_stack_top").expect("the linker script has it");
    assert_eq!(top.address(), 0x2001_c000);
}

#[test]
fn a_clock_that_the_part_cannot_make_is_refused() {
    let (_, output) = make("refused", &["TARGET=stm32f100", "OP=empty", "CLOCK=30000000"]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("multiples of 4 MHz up to 24 MHz"));
}

/// DS9716, table 41: the VCO of the STM32F401's PLL makes 192 to 432 MHz, that of the STM32F407 100
/// MHz, too. RCC_PLLCFGR has P from bit 16 on, N from bit 6 on, and 16 MHz by 16.
#[test]
fn the_pll_s_oscillator_stays_in_its_range() {
    for (target, mhz, p, n) in [
        ("stm32f401", 24, 8, 192),
        ("stm32f401", 47, 8, 376),
        ("stm32f401", 48, 4, 192),
        ("stm32f401", 84, 4, 336),
        ("stm32f407", 13, 8, 104),
        ("stm32f407", 50, 2, 100),
    ] {
        let clock = format!("CLOCK={mhz}000000");
        let (out, output) = make("pll", &[&format!("TARGET={target}"), "OP=empty", &clock]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = std::fs::read(out.join(target).join("portable/empty.elf")).expect("make has built it");
        let setting: u32 = 2 << 28 | 9 << 24 | (p / 2 - 1) << 16 | n << 6 | 16;
        let is_there = bytes.windows(4).any(|word| word == setting.to_le_bytes());
        assert!(is_there, "{target}: {mhz} MHz: no {setting:#x}");
    }
    let (_, output) = make("refused", &["TARGET=stm32f401", "OP=empty", "CLOCK=23000000"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("whole MHz from 24 to 84"));
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

/// The primitives that a make has compiled.
fn compiled(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let names = text.lines().filter_map(|line| line.split(" -c crypto/").nth(1)?.split(".c ").next());
    names.map(str::to_owned).collect()
}

#[test]
fn object_file_is_compiled_once_for_all_programs() {
    std::fs::remove_dir_all(Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared")).ok();
    let arguments = ["TARGET=stm32f407", "OP=sha1"];
    let (_, first) = make("shared", &arguments);
    let names = compiled(&first);
    assert!(names.contains(&"sha1".into()) && names.contains(&"sha1_blocks".into()), "{names:?}");
    assert!(!names.contains(&"sha256".into()) && !names.contains(&"p256".into()), "{names:?}");
    // Another program, and one whose linker keeps other variables.
    let (_, second) = make("shared", &["TARGET=stm32f407", "OP=hmac-sha256"]);
    let (_, third) = make("shared", &["TARGET=stm32f407", "APP=alignment"]);
    let mut all = [&first, &second, &third].map(compiled).concat();
    let count = all.len();
    all.sort();
    all.dedup();
    assert_eq!(all.len(), count, "one was compiled again");
    assert!(all.contains(&"sha256".into()) && all.contains(&"aes_encrypt".into()), "{all:?}");
    assert_eq!(elf("shared", &[]), elf("shared-elsewhere", &[]));
}

/// Builds the R8C's assembler and linker where they are not there yet. Returns the folder that they
/// are in.
fn build_r8c_tools() -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../device/ports/r8c/build-binutils");
    let output = Command::new(script).output().expect("the script runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    PathBuf::from(String::from_utf8_lossy(&output.stdout).trim())
}

/// Global symbols in the map of sdcc's linker, without the underscore that C names get.
fn map_symbols(map: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(map).expect("make has built it");
    let symbol = |line: &str| {
        let mut words = line.split_whitespace().skip_while(|word| word.ends_with(':'));
        let address = words.next()?;
        let name = words.next()?.strip_prefix('_')?;
        (address.len() == 8 && u32::from_str_radix(address, 16).is_ok()).then(|| name.to_owned())
    };
    text.lines().filter_map(symbol).collect()
}

#[test]
fn sdcc_gives_hex_and_a_map_and_links_only_what_is_used() {
    for target in ["i8051", "mc68hc08"] {
        let operations = "OPS=aes128-encrypt-expanded sha256 empty";
        let (out, output) = make("sdcc", &[&format!("TARGET={target}"), operations]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let folder = out.join(target).join("portable");
        for (operation, has, has_not) in [
            (
                "aes128-encrypt-expanded",
                &["ws_aes_encrypt"][..],
                &["ws_aes_expand", "ws_aes_decrypt", "ws_sha256"][..],
            ),
            ("sha256", &["ws_sha256", "ws_sha256_blocks"], &["ws_aes_encrypt"]),
            ("empty", &[], &["ws_aes_encrypt", "ws_sha256", "ws_wipe"]),
        ] {
            let hex =
                std::fs::read_to_string(folder.join(operation).with_extension("ihx")).expect("is built");
            assert!(hex.starts_with(':') && hex.trim_end().ends_with(":00000001FF"), "{target} {operation}");
            let symbols = map_symbols(&folder.join(operation).with_extension("map"));
            for name in ["ws_bench_ready", "ws_bench_message", "ws_bench_result"].iter().chain(has) {
                assert!(symbols.iter().any(|symbol| symbol == name), "{target} {operation} has no {name}");
            }
            for name in has_not {
                assert!(!symbols.iter().any(|symbol| symbol == name), "{target} {operation} has {name}");
            }
        }
    }
}

#[test]
fn the_r8c_links_only_what_is_used() {
    build_r8c_tools();
    let (out, output) = make("r8c", &["TARGET=r8c", "VARIANT=memory", "OPS=aes128-encrypt empty"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (operation, has) in [("aes128-encrypt", true), ("empty", false)] {
        let bytes =
            std::fs::read(out.join("r8c/memory").join(operation).with_extension("elf")).expect("is built");
        let elf = object::File::parse(&*bytes).expect("an ELF file");
        let symbol = |name: &str| elf.symbols().find(|symbol| symbol.name() == Ok(name));
        assert_eq!(symbol("ws_bench_key").expect("is kept").size(), 240);
        assert_eq!(symbol("ws_aes_encrypt").is_some_and(|symbol| symbol.size() != 0), has, "{operation}");
        assert!(symbol("ws_aes_decrypt").is_none(), "{operation}");
        assert_eq!(Some(elf.entry()), symbol("ws_reset").map(|symbol| symbol.address()));
    }
}
