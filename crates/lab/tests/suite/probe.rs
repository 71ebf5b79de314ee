//! Functions of a program, called from outside: arguments where the compilers of each core look for
//! them, costs as the manuals have them, and the program as it was afterwards.

use lab::LabError;
use lab::measure;
use lab::probe::{Argument, CallResult, Probe, Reason, Returns};
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use testkit::random::{Random, seed};

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/probe/subject.c");

const TARGETS: [&str; 5] = ["atmega328p", "atmega2560", "stm32f051", "msp430f5438a", "ch32v003"];

/// The program for a target, with functions of its own.
fn program(target: &str, generated: &str, debug: &[&str]) -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("probe-{}-{target}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("generated.h"), generated).expect("written");
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).current_dir(&folder).status();
        assert!(status.expect("the toolchain is installed").success(), "{program} {arguments:?}");
    };
    let common = ["-Os", "-ffreestanding", "-I.", "-DGENERATED=\"generated.h\"", SOURCE, "-o"];
    let places = |places: &[&str]| -> Vec<String> {
        places.iter().map(|place| format!("-Wl,--section-start={place}")).collect()
    };
    let gcc = |compiler: &str, flags: &[&str], places: Vec<String>| {
        let places: Vec<&str> = places.iter().map(String::as_str).collect();
        run(compiler, &[&common[..], &["program.elf"], flags, debug, &places].concat());
    };
    match target {
        "stm32f051" => gcc(
            "arm-none-eabi-gcc",
            &["-mcpu=cortex-m0", "-mthumb", "-nostdlib", "-Wl,--entry=main"],
            places(&[".vectors=0x08000000", ".text=0x08000100", ".bss=0x20000000"]),
        ),
        "ch32v003" => gcc(
            "riscv64-unknown-elf-gcc",
            &[
                "-march=rv32ec",
                "-mabi=ilp32e",
                "-msmall-data-limit=0",
                "-nostdlib",
                "-Wl,--no-relax",
                "-Wl,--entry=start",
            ],
            places(&[".start=0", ".text=0x100", ".bss=0x20000000"]),
        ),
        "msp430f5438a" => {
            let layout = "ENTRY(start)\nSECTIONS {\n.text 0x5c00 : { *(.start) *(.text*) }\n\
                          .bss 0x1c00 (NOLOAD) : { *(.bss*) }\n.reset 0xfffe : { SHORT(start) }\n}\n";
            std::fs::write(folder.join("layout.ld"), layout).expect("written");
            run("clang", &[&["--target=msp430", "-c"], &common[..], &["program.o"], debug].concat());
            run("ld.lld", &["-T", "layout.ld", "program.o", "-o", "program.elf"]);
        }
        avr => gcc("avr-gcc", &[&format!("-mmcu={avr}")], Vec::new()),
    }
    folder.join("program.elf")
}

fn setup(target: &str, elf: &Path) -> Setup {
    Setup::new(elf.into(), target)
}

fn attach(target: &str, elf: &Path) -> Probe {
    let workspace = Workspace::find().expect("the tests run inside the project");
    Probe::attach(&workspace, &setup(target, elf)).unwrap_or_else(|error| panic!("{target}: {error}"))
}

/// The program, come to its `main`.
fn begun(target: &str, elf: &Path) -> Probe {
    let mut probe = attach(target, elf);
    let end = probe.run(&["main".into()], 100_000, &mut || false).expect("it starts");
    assert_eq!(end.reason, Reason::Reached);
    probe
}

fn call(probe: &mut Probe, function: &str, arguments: &[Argument]) -> Result<CallResult, LabError> {
    probe.call(function, arguments, Returns::AsBuilt, 1_000_000, &mut || false)
}

fn number(number: i128) -> Argument {
    Argument::Number { number, kind: None }
}

/// An integer type of C.
#[derive(Clone, Copy)]
struct Integer {
    name: &'static str,
    bytes: u32,
    signed: bool,
}

const INTEGERS: [Integer; 8] = [
    Integer { name: "uint8_t", bytes: 1, signed: false },
    Integer { name: "int8_t", bytes: 1, signed: true },
    Integer { name: "uint16_t", bytes: 2, signed: false },
    Integer { name: "int16_t", bytes: 2, signed: true },
    Integer { name: "uint32_t", bytes: 4, signed: false },
    Integer { name: "int32_t", bytes: 4, signed: true },
    Integer { name: "uint64_t", bytes: 8, signed: false },
    Integer { name: "int64_t", bytes: 8, signed: true },
];

impl Integer {
    /// Value of a number after conversion to it.
    fn of(self, number: i128) -> i128 {
        let (unused, bits) = (128 - 8 * self.bytes, number << (128 - 8 * self.bytes));
        if self.signed { bits >> unused } else { (bits as u128 >> unused) as i128 }
    }
}

/// A function of some arguments, which stores each and gives one back.
struct Generated {
    parameters: Vec<Integer>,
    result: Integer,
    given_back: usize,
}

impl Generated {
    fn random(random: &mut Random, target: &str) -> Generated {
        let mut one_of = |count: usize| (random.word64() % count as u64) as usize;
        let count = 1 + one_of(10);
        // Behind others one of eight bytes is refused on the MSP430.
        let narrow: Vec<Integer> = INTEGERS.into_iter().filter(|kind| kind.bytes < 8).collect();
        let mut kind = |at| match at {
            1.. if target.starts_with("msp430") => narrow[one_of(narrow.len())],
            _ => INTEGERS[one_of(INTEGERS.len())],
        };
        let parameters: Vec<Integer> = (0..count).map(&mut kind).collect();
        let given_back = one_of(count);
        // There is no conversion on the MSP430: clang calls a library that does not exist.
        let result = if target.starts_with("msp430") {
            parameters[given_back]
        } else {
            INTEGERS[one_of(INTEGERS.len())]
        };
        Generated { parameters, result, given_back }
    }

    fn source(&self, name: &str) -> String {
        let named = |(at, parameter): (usize, &Integer)| format!("{} p{at}", parameter.name);
        let parameters: Vec<String> = self.parameters.iter().enumerate().map(named).collect();
        let mut text = format!("AS_WRITTEN {} {name}({}) {{\n", self.result.name, parameters.join(", "));
        for (at, parameter) in self.parameters.iter().enumerate() {
            let _ = writeln!(text, "*(volatile {} *)&seen[{}] = p{at};", parameter.name, 8 * at);
        }
        let _ = writeln!(text, "return p{};\n}}", self.given_back);
        text
    }
}

#[test]
fn arguments_arrive_where_each_compiler_looks_for_them() {
    let mut random = Random::new(seed());
    for target in TARGETS {
        let functions: Vec<Generated> = (0..60).map(|_| Generated::random(&mut random, target)).collect();
        let texts = functions.iter().enumerate().map(|(at, function)| function.source(&format!("f{at}")));
        let elf = program(target, &texts.collect::<String>(), &["-gdwarf-4"]);
        let mut probe = begun(target, &elf);
        let (before, sp) = (probe.machine().registers(), probe.machine().sp());
        for (at, function) in functions.iter().enumerate() {
            let values: Vec<i128> =
                function.parameters.iter().map(|kind| kind.of(i128::from(random.word64()))).collect();
            let arguments: Vec<Argument> = values.iter().copied().map(number).collect();
            let name = format!("f{at}");
            let source = || format!("{target}: {}", function.source(&name));
            let done = call(&mut probe, &name, &arguments);
            let done = done.unwrap_or_else(|error| panic!("{}{error}", source()));
            let seen = probe.read("seen", None).expect("memory");
            for (at, (kind, value)) in function.parameters.iter().zip(&values).enumerate() {
                let stored = &seen[8 * at..][..kind.bytes as usize];
                assert_eq!(stored, &value.to_le_bytes()[..stored.len()], "{}p{at}", source());
            }
            let result = function.result.of(values[function.given_back]);
            assert_eq!(done.result, Some(result), "{}{values:x?}", source());
            assert_eq!(probe.machine().sp(), sp);
        }
        assert_eq!(probe.machine().registers(), before, "{target}");
    }
}

#[test]
fn call_costs_the_manual_s_cycles_and_leaves_no_trace() {
    // NOP 1 and RET 4, with a program counter of 22 bits 5; NOP 1 and BX 3; NOP 1 and RET 4.
    let costs = [("atmega328p", 5, 2), ("atmega2560", 6, 3), ("stm32f051", 4, 0), ("msp430f5438a", 5, 2)];
    for (target, cycles, stack) in costs {
        let elf = program(target, "", &["-gdwarf-4"]);
        let mut probe = begun(target, &elf);
        let before = probe.machine().cycles();
        let done = call(&mut probe, "bare", &[]).expect("it returns");
        assert_eq!((done.result, done.cycles, done.instructions), (None, cycles, 2), "{target}");
        assert_eq!(done.stack_bytes, stack, "{target}");
        assert_eq!(probe.machine().cycles(), before + cycles, "{target}");
        let seconds = cycles as f64 / probe.machine().clock_hz() as f64;
        assert!((done.time_s - seconds).abs() < 1e-15, "{target}");
        let spent = probe.spent().expect("allowed");
        let power = spent.energy_j / spent.time_s;
        assert!((done.energy_j / done.time_s - power).abs() < power * 1e-9, "{target}");
        // Its own calls afterwards cost as much as without it.
        let end = probe.run(&[], 100_000, &mut || false).expect("it ends");
        assert_eq!(end.reason, Reason::Halted, "{target}");
        assert_eq!(probe.read("sum", None).expect("memory"), [3, 0], "{target}");
        let with = probe.profile();
        let request = measure::Request {
            setup: setup(target, &elf),
            functions: Vec::new(),
            until: None,
            calls: None,
            pin: None,
            marker: None,
            max_cycles: 100_000,
            flamegraph: None,
            traces: Default::default(),
            listing: None,
            input: None,
            uart: None,
        };
        let workspace = Workspace::find().expect("the tests run inside the project");
        let without = measure::run(&workspace, &request, &AtomicBool::new(false), None).expect("it runs");
        assert_eq!(probe.machine().cycles(), without.cycles + cycles, "{target}");
        for row in &without.rows {
            let same = with.iter().find(|other| other.name == row.name).expect("it ran here, too");
            if row.name == "main" {
                assert_eq!(same.inclusive_cycles, row.inclusive_cycles + cycles, "{target}");
                assert_eq!(same.exclusive_cycles, row.exclusive_cycles, "{target}");
            } else if row.kind == "function" && row.not_returned == 0 {
                // The probe's program goes on.
                assert_eq!(
                    *same,
                    measure::MeasureRow { ended: None, provenance: None, ..row.clone() },
                    "{target}"
                );
            }
        }
        let bare = with.iter().find(|row| row.name == "bare").expect("it was called");
        assert_eq!((bare.calls, bare.inclusive_cycles), (1, cycles), "{target}");
    }
}

#[test]
fn call_where_the_program_stands_returns_once() {
    for target in TARGETS {
        let elf = program(target, "", &["-gdwarf-4"]);
        let mut probe = begun(target, &elf);
        let counter = match target {
            "stm32f051" => "r0",
            "msp430f5438a" => "r12",
            "ch32v003" => "a0",
            _ => "r24",
        };
        let count_down = |probe: &mut Probe| {
            probe.set_register(counter, 100).expect("a register");
            call(probe, "count_down", &[]).expect("it returns").instructions
        };
        let far = count_down(&mut probe);
        let stand_at = |place: &str, probe: &mut Probe| {
            let end = probe.run(&[place.into()], 100_000, &mut || false).expect("the program comes by");
            assert_eq!(end.reason, Reason::Reached, "{target}");
            probe.machine().registers()
        };
        let before = stand_at("add", &mut probe);
        // Itself, and by a jump of another function.
        assert_eq!(call(&mut probe, "add", &[number(40)]).expect("it returns").result, Some(40), "{target}");
        let add = Argument::Address("add".into());
        let through = call(&mut probe, "apply", &[add, number(2)]).expect("it returns");
        assert_eq!(through.result, Some(42), "{target}");
        assert_eq!(probe.machine().registers(), before, "{target}");
        stand_at("count_down", &mut probe);
        let stood_at = probe.machine().pc();
        assert_eq!(count_down(&mut probe), far, "{target}");
        assert_eq!(probe.machine().pc(), stood_at, "{target}");
        let end = probe.run(&[], 100_000, &mut || false).expect("it ends");
        assert_eq!(end.reason, Reason::Halted, "{target}");
        assert_eq!(probe.read("sum", None).expect("memory"), [45, 0], "{target}");
    }
}

#[test]
fn call_takes_all_kinds_of_arguments_and_returns_numbers() {
    for target in TARGETS {
        let elf = program(target, "", &["-gdwarf-4"]);
        let mut probe = begun(target, &elf);
        let mut result = |function: &str, arguments: &[Argument]| {
            let done = call(&mut probe, function, arguments);
            done.unwrap_or_else(|error| panic!("{target}: {function}: {error}")).result
        };
        let bytes = Argument::Bytes { place: "buffer".into(), bytes: vec![1, 2, 200] };
        assert_eq!(result("last", &[bytes, number(3)]), Some(200));
        let add = Argument::Address("add".into());
        assert_eq!(result("apply", &[add, number(40)]), Some(40));
        assert_eq!(result("add", &[number(2)]), Some(42));
        assert_eq!(result("deep", &[number(10)]), Some(55));
        assert_eq!(result("negative", &[number(-100)]), Some(-100));
        // As C converts it to what the function takes, which relies on its sign.
        let kind = Some(firmware::CType::Integer { bytes: 1, signed: false });
        assert_eq!(result("negative", &[Argument::Number { number: 200, kind }]), Some(-56), "{target}");
        let here = result("here", &[]).expect("a pointer");
        let buffer = probe.firmware().symbol("buffer").expect("it is there").address;
        let mask = if target.starts_with("atmega") { 0xffff } else { u32::MAX };
        assert_eq!(here, i128::from(buffer & mask), "{target}");
        // Of a recursive function the outermost call is what was asked for.
        let one = call(&mut probe, "deep", &[number(1)]).expect("it returns");
        let ten = call(&mut probe, "deep", &[number(10)]).expect("it returns");
        assert!(ten.cycles > 5 * one.cycles && ten.stack_bytes >= 5 * one.stack_bytes, "{target}");
    }
}

#[test]
fn impossible_call_is_refused_with_advice() {
    let target = "stm32f051";
    let elf = program(target, "", &["-gdwarf-4"]);
    let mut early = attach(target, &elf);
    let said = |result: Result<CallResult, LabError>| {
        let error = result.expect_err("refused");
        assert!(error.is_usage(), "{error}");
        error.to_string()
    };
    assert!(said(call(&mut early, "bare", &[])).contains("run it to main first"));
    let mut probe = begun(target, &elf);
    let bytes = Argument::Bytes { place: "buffer".into(), bytes: vec![0; 17] };
    let typed = |name: &str, value| match name {
        "u8" => Argument::Number {
            number: value,
            kind: Some(firmware::CType::Integer { bytes: 1, signed: false }),
        },
        _ => number(value),
    };
    for (function, arguments, wanted) in [
        ("ad", vec![], "there is no function 'ad'; did you mean add"),
        ("add", vec![], "add(u16 n) takes 1 arguments, and 0 were given"),
        ("add", vec![number(65_536)], "add, argument 1 (n): 65536 is no u16: that is 0 to 65535"),
        ("add", vec![number(-1)], "-1 is no u16"),
        ("add", vec![typed("u8", 1)], "it was built with a u16, and given a u8"),
        ("add", vec![Argument::Address("bufer".into())], "there is no symbol 'bufer'; did you mean buffer"),
        ("last", vec![bytes, number(1)], "17 bytes do not fit: buffer has 16"),
        ("of_float", vec![number(1)], "a floating-point number cannot be passed"),
        ("of_pair", vec![number(1)], "a structure cannot be passed"),
        ("of_many", vec![number(1)], "takes any number of arguments"),
    ] {
        let said = said(call(&mut probe, function, &arguments));
        assert!(said.contains(wanted), "{function}: {said}");
    }
    let wide = Returns::Type(firmware::CType::Integer { bytes: 4, signed: false });
    let error = said(probe.call("add", &[number(1)], wide, 1000, &mut || false));
    assert!(error.contains("add returns a u16, and a u32 is asked for"), "{error}");
    let error =
        probe.call("endless", &[], Returns::AsBuilt, 1000, &mut || false).expect_err("it does not return");
    assert!(error.to_string().contains("did not return within 1000 cycles; raise max_cycles"), "{error}");
}

#[test]
fn call_without_debug_information_uses_the_stated_types() {
    for target in ["atmega328p", "msp430f5438a"] {
        let elf = program(target, "", &[]);
        let mut probe = begun(target, &elf);
        let u16 = firmware::CType::Integer { bytes: 2, signed: false };
        let error = call(&mut probe, "bare", &[]).expect_err("refused").to_string();
        assert!(error.contains("what bare returns is not in the file: build with -gdwarf-4"), "{error}");
        let untyped = probe.call("add", &[number(5)], Returns::Type(u16), 1000, &mut || false);
        let error = untyped.expect_err("refused").to_string();
        assert!(error.contains("how wide 5 is passed is not in the file: build with -gdwarf-4"), "{error}");
        let five = Argument::Number { number: 5, kind: Some(u16) };
        let done = probe.call("add", &[five], Returns::Type(u16), 1000, &mut || false).expect("it returns");
        assert_eq!(done.result, Some(5), "{target}");
    }
}

#[test]
fn a_run_ends_where_it_is_to_and_says_why_it_does_not() {
    let target = "atmega328p";
    let elf = program(target, "", &["-gdwarf-4"]);
    let mut probe = begun(target, &elf);
    let error =
        probe.run(&["of_many".into()], 100_000, &mut || false).expect_err("it is not called").to_string();
    assert!(
        error.starts_with("the program ended in main+") && error.ends_with(", before of_many"),
        "{error}"
    );
    probe.reset().expect("allowed");
    assert_eq!(probe.machine().cycles(), 0);
    assert!(probe.profile().iter().all(|row| row.inclusive_cycles == 0));
    let end = probe.run(&[], 10, &mut || false).expect("it runs");
    assert_eq!(end.reason, Reason::Cycles);
    let error = probe.run(&["deep".into()], 3, &mut || false).expect_err("too soon").to_string();
    assert!(error.contains("stopped after 3 cycles") && error.contains("raise max_cycles"), "{error}");
    let error = probe.run(&[], 1_000, &mut || true).expect_err("interrupted").to_string();
    assert!(error.starts_with("interrupted in "), "{error}");
    probe.write("sum", &[7, 1]).expect("memory");
    assert_eq!(probe.read("sum", None).expect("memory"), [7, 1]);
    let error = probe.write("sum", &[0; 3]).expect_err("refused").to_string();
    assert_eq!(error, "3 bytes at sum: it has only 2");
    let error = probe.read("0x900000", Some(4)).expect_err("refused").to_string();
    assert!(error.contains("at 0x900000 are not 4 bytes of memory"), "{error}");
    let error = probe.set_register("r40", 1).expect_err("refused").to_string();
    assert!(error.contains("there is no register 'r40'"), "{error}");
}
