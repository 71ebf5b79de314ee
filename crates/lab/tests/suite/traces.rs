//! Waveforms, traces, coverage and listings of one program on each family, read by parsers that
//! others have written.

mod recording;

use crate::bare;
use lab::LabError;
use lab::measure::{self, MeasureResult, Request};
use lab::run::{self, Outside};
use lab::traces::TraceFiles;
use lab::user_firmware::Setup;
use lab::workspace::Workspace;
use lcov::report::section::{function, line};
use lcov::{Reader, Record, Report};
use serde_json::Value;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use wellen::simple::Waveform;

/// The program on a part, and what is known of it there.
struct Subject {
    target: &'static str,
    port: &'static str,
    handler: &'static str,
    sleep: &'static str,
    /// Its current asleep, in µA, where the data sheet has one and the model tells the mode.
    asleep_ua: Option<f64>,
    clocks: [u64; 2],
    /// Cycles between two ticks.
    period: u64,
    /// The mnemonic that ends `work`.
    back: &'static str,
}

const SUBJECTS: [Subject; 4] = [
    Subject {
        target: "atmega328p",
        port: "PORTB",
        handler: "__vector_14",
        sleep: "idle",
        asleep_ua: Some(600.0),
        clocks: [16_000_000, 4_000_000],
        period: 1000,
        back: "ret",
    },
    Subject {
        target: "stm32f051",
        port: "GPIOA",
        handler: "tick",
        sleep: "sleep",
        asleep_ua: None,
        clocks: [8_000_000, 4_000_000],
        period: 1000,
        back: "pop",
    },
    Subject {
        target: "msp430f5438a",
        port: "P1",
        handler: "tick",
        sleep: "LPM0",
        asleep_ua: Some(73.0),
        clocks: [1_048_576, 524_288],
        period: 2000,
        back: "ret",
    },
    Subject {
        target: "ch32v003",
        port: "GPIOD",
        handler: "tick",
        sleep: "sleep",
        asleep_ua: Some(700.0),
        clocks: [8_000_000, 12_000_000],
        period: 1000,
        back: "ret",
    },
];

/// A folder of its own for each use.
fn folder() -> PathBuf {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("traces-{}", NUMBER.fetch_add(1, Ordering::Relaxed));
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/suite/traces/ticks.c");

/// `ticks.c` for a target.
fn program(target: &str, folder: &Path) -> PathBuf {
    let run = |program: &str, arguments: &[&str]| {
        let status = Command::new(program).args(arguments).current_dir(folder).status();
        assert!(status.expect("the toolchain is installed").success(), "{program} {arguments:?}");
    };
    let gcc = |compiler: &str, flags: &[&str]| {
        let common = ["-Os", "-gdwarf-4", "-Wall", "-Wextra", "-Werror", "-o", "ticks.elf", SOURCE];
        run(compiler, &[&common, flags].concat());
    };
    match target {
        "atmega328p" => gcc("avr-gcc", &["-mmcu=atmega328p", "-std=c99"]),
        "stm32f051" => {
            let places = [".vectors=0x08000000", ".text=0x08000100", ".bss=0x20000000"];
            let places = places.map(|place| format!("-Wl,--section-start={place}"));
            let mut flags = vec!["-mcpu=cortex-m0", "-mthumb", "-nostdlib", "-Wl,--entry=main"];
            flags.extend(places.iter().map(String::as_str));
            gcc("arm-none-eabi-gcc", &flags);
        }
        "ch32v003" => {
            let places = [".start=0", ".text=0x100", ".sbss=0x20000000"];
            let places = places.map(|place| format!("-Wl,--section-start={place}"));
            let mut flags = vec!["-march=rv32ec", "-mabi=ilp32e", "-nostdlib", "-Wl,--entry=start"];
            flags.extend(places.iter().map(String::as_str));
            gcc("riscv64-unknown-elf-gcc", &flags);
        }
        _ => {
            let layout = "ENTRY(start)\nSECTIONS {\n.text 0x5c00 : { *(.start) *(.text*) }\n\
                          .bss 0x1c00 (NOLOAD) : { *(.bss*) }\n.tick 0xffec : { SHORT(tick) }\n\
                          .reset 0xfffe : { SHORT(start) }\n}\n";
            std::fs::write(folder.join("layout.ld"), layout).expect("written");
            let debug = ["-gdwarf-4", "-gline-tables-only"];
            let flags = ["--target=msp430", "-Os", "-c", SOURCE, "-o", "ticks.o"];
            run("clang", &[&flags[..], &debug].concat());
            run("ld.lld", &["-T", "layout.ld", "ticks.o", "-o", "ticks.elf"]);
        }
    }
    folder.join("ticks.elf")
}

fn setup(target: &str, elf: PathBuf) -> Setup {
    Setup::new(elf, target)
}

/// All files in a folder.
fn files(folder: &Path) -> TraceFiles {
    let at = |name| Some(folder.join(name));
    let current = Some((folder.join("out.csv"), 100_000));
    TraceFiles { vcd: at("out.vcd"), events: at("out.json"), lcov: at("out.info"), current }
}

fn request(subject: &Subject, folder: &Path) -> Request {
    Request {
        setup: setup(subject.target, program(subject.target, folder)),
        functions: vec!["work".into()],
        until: None,
        calls: None,
        pin: None,
        marker: None,
        max_cycles: 1_000_000,
        flamegraph: None,
        traces: files(folder),
        listing: Some("work".into()),
        input: None,
        uart: None,
    }
}

fn measured(request: &Request) -> Result<MeasureResult, LabError> {
    let workspace = Workspace::find().expect("the tests run inside the project");
    measure::run(&workspace, request, &AtomicBool::new(false), None)
}

/// The values of the signals of a value change dump by scope and name, each with its time in
/// picoseconds.
fn waveform(path: &Path) -> BTreeMap<String, Vec<(u64, String)>> {
    let mut waveform: Waveform = wellen::simple::read(path).unwrap_or_else(|error| panic!("{error}"));
    let scale = waveform.hierarchy().timescale().expect("a timescale");
    assert_eq!((scale.factor, scale.unit.to_exponent()), (1, Some(-12)));
    let signals: Vec<_> = waveform.hierarchy().iter_vars().cloned().collect();
    waveform.load_signals(&signals.iter().map(wellen::Var::signal_ref).collect::<Vec<_>>());
    let changes = |of: &wellen::Var| {
        let signal = waveform.get_signal(of.signal_ref()).expect("it was loaded");
        let times = waveform.time_table();
        signal.iter_changes().map(|(at, value)| (times[at as usize], value.to_string())).collect()
    };
    let name = |of: &wellen::Var| {
        let name = of.full_name(waveform.hierarchy());
        let name = name.split_once('.').expect("a part around all").1.to_owned();
        name + &of.index().map_or(String::new(), |index| format!("[{}]", index.lsb()))
    };
    signals.iter().map(|signal| (name(signal), changes(signal))).collect()
}

/// The intervals in which a signal is 1, in picoseconds.
fn pulses(changes: &[(u64, String)]) -> Vec<(u64, u64)> {
    changes.windows(2).filter(|pair| pair[0].1 == "1").map(|pair| (pair[0].0, pair[1].0)).collect()
}

#[test]
fn the_waveform_shows_pins_interrupts_sleep_clock_and_current() {
    for subject in &SUBJECTS {
        let folder = folder();
        let result = measured(&request(subject, &folder)).expect("it runs");
        assert!(result.failure.is_none(), "{}: {:?}", subject.target, result.failure);
        let signals = waveform(&folder.join("out.vcd"));
        let of = |name: &str| signals.get(name).unwrap_or_else(|| panic!("{name} of {signals:?}"));
        let numbers = |name: &str| -> Vec<f64> {
            of(name).iter().map(|(_, value)| value.parse().expect("a number")).collect()
        };

        assert_eq!(numbers("core.clock_Hz"), subject.clocks.map(|hz| hz as f64), "{}", subject.target);
        let levels: Vec<&str> =
            of(&format!("pins.{}[5]", subject.port)).iter().map(|(_, level)| level.as_str()).collect();
        assert_eq!(levels, ["z", "0", "1", "0", "1"], "{}", subject.target);
        let constant = of(&format!("pins.{}[0]", subject.port));
        assert_eq!((constant.len(), constant[1].1.as_str()), (2, "0"), "driven, but never moved");

        let handled = pulses(of(&format!("interrupts.{}", subject.handler)));
        let slept = pulses(of(&format!("sleep.{}", subject.sleep)));
        assert_eq!((handled.len(), slept.len()), (3, 3), "{}: {signals:?}", subject.target);
        for ((begin, end), (asleep, awake)) in handled.iter().zip(&slept) {
            assert!(asleep < awake && awake <= begin && begin < end, "{}: {signals:?}", subject.target);
        }
        for ((_, end), (asleep, _)) in handled.iter().zip(&slept[1..]) {
            assert!(end <= asleep, "{}: a handler that is done is not active in sleep", subject.target);
        }
        // The pin moves within the handler, a tick's period later each time, at the second clock.
        let edges: Vec<u64> =
            of(&format!("pins.{}[5]", subject.port)).iter().skip(2).map(|(at, _)| *at).collect();
        for (edge, (begin, end)) in edges.iter().zip(&handled) {
            assert!(begin < edge && edge < end, "{}: {edge} {begin} {end}", subject.target);
        }
        let period_ps = subject.period as f64 * 1e12 / subject.clocks[1] as f64;
        for pair in edges.windows(2) {
            let period = (pair[1] - pair[0]) as f64;
            assert!((period - period_ps).abs() < 2.0, "{}: {period} of {period_ps} ps", subject.target);
        }

        let target = Workspace::find().expect("the project").target(subject.target).expect("a target");
        let active = subject.clocks.map(|hz| {
            let current = target.supply.current_a(hz as f64, target.supply.default_v);
            (current.expect("allowed") * 1e9).round() / 1e3
        });
        let mut expected = active.to_vec();
        for asleep in subject.asleep_ua.iter().flat_map(|asleep| [asleep; 3]) {
            expected.extend([*asleep, active[1]]);
        }
        assert_eq!(numbers("core.current_uA"), expected, "{}", subject.target);
    }
}

/// The slices of a trace by track: name, beginning and end in µs. Events must be in the order of
/// time and nested.
fn slices(path: &Path) -> BTreeMap<String, Vec<(String, f64, f64)>> {
    let text = std::fs::read_to_string(path).expect("a trace");
    let trace: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    let mut tracks: BTreeMap<u64, String> = BTreeMap::new();
    let mut open: BTreeMap<u64, Vec<(String, f64)>> = BTreeMap::new();
    let mut slices: BTreeMap<String, Vec<(String, f64, f64)>> = BTreeMap::new();
    let mut last = 0.0;
    for event in trace["traceEvents"].as_array().expect("events") {
        let text = |field: &str| event[field].as_str().expect("a text").to_owned();
        assert_eq!(event["pid"], 1);
        if event["ph"] == "M" {
            let name = event["args"]["name"].as_str().expect("a name").to_owned();
            if event["name"] == "thread_name" {
                assert!(tracks.insert(event["tid"].as_u64().expect("a track"), name).is_none());
            }
            continue;
        }
        let time = event["ts"].as_f64().expect("a time");
        assert!(time >= last, "{event} after {last}");
        last = time;
        if event["ph"] == "C" {
            assert!(event["args"].as_object().expect("values").values().all(Value::is_number));
            slices.entry(text("name")).or_default().push((String::new(), time, time));
            continue;
        }
        let thread = event["tid"].as_u64().expect("a track");
        match text("ph").as_str() {
            "B" => open.entry(thread).or_default().push((text("name"), time)),
            "E" => {
                let (name, begun) = open.get_mut(&thread).and_then(Vec::pop).expect("something is open");
                slices.entry(tracks[&thread].clone()).or_default().push((name, begun, time));
            }
            other => panic!("no event of the format, or of ours: {other}"),
        }
    }
    assert!(open.values().all(Vec::is_empty), "all that began has ended: {open:?}");
    slices
}

#[test]
fn trace_has_separate_tracks_for_calls_interrupts_and_sleep() {
    for subject in &SUBJECTS {
        let folder = folder();
        let result = measured(&request(subject, &folder)).expect("it runs");
        let slices = slices(&folder.join("out.json"));
        let work: Vec<_> = slices["calls"].iter().filter(|(name, ..)| name == "work").collect();
        let (row, [(_, begin, end)]) = (&result.rows[0], work.as_slice()) else { panic!("{work:?}") };
        let wanted = row.inclusive_cycles as f64 * 1e6 / subject.clocks[0] as f64;
        assert!((end - begin - wanted).abs() < 2e-6, "{}: {begin} to {end}", subject.target);
        let main = slices["calls"].iter().find(|(name, ..)| name == "main").expect("main");
        assert!(main.1 <= *begin && *end <= main.2, "{}: {slices:?}", subject.target);

        let names =
            |track: &str| -> Vec<&str> { slices[track].iter().map(|(name, ..)| name.as_str()).collect() };
        assert_eq!(names("interrupts"), [subject.handler; 3], "{}", subject.target);
        assert_eq!(names("sleep"), [subject.sleep; 3], "{}", subject.target);
        assert_eq!(slices["clock"].len(), 2);
        assert_eq!(slices["current"].len(), if subject.asleep_ua.is_some() { 8 } else { 2 });
        let signals = waveform(&folder.join("out.vcd"));
        let handled = pulses(&signals[&format!("interrupts.{}", subject.handler)]);
        for ((begin, end), (_, from, to)) in handled.iter().zip(&slices["interrupts"]) {
            assert!((*begin as f64 / 1e6 - from).abs() < 1e-5 && (*end as f64 / 1e6 - to).abs() < 1e-5);
        }
    }
}

/// The line of `ticks.c` that contains a text.
fn line_of(text: &str) -> u32 {
    let source = std::fs::read_to_string(SOURCE).expect("a source");
    source.lines().position(|line| line.contains(text)).expect("a line") as u32 + 1
}

#[test]
fn the_coverage_counts_lines_and_calls() {
    for subject in &SUBJECTS {
        let folder = folder();
        measured(&request(subject, &folder)).expect("it runs");
        let path = folder.join("out.info");
        let report = Report::from_file(&path).unwrap_or_else(|error| panic!("{error:?}"));
        let (_, section) =
            report.sections.iter().find(|(key, _)| key.source_file == Path::new(SOURCE)).expect("the source");
        let executions = |text: &str| section.lines[&line::Key { line: line_of(text) }].count;
        assert_eq!((executions("never"), executions("each time")), (0, 10), "{}", subject.target);
        let calls = |name: &str| section.functions[&function::Key { name: name.into() }].count;
        assert_eq!((calls("work"), calls("main"), calls(subject.handler)), (1, 1, 3), "{}", subject.target);
        let (mut hit, mut found) = (0, 0);
        for record in Reader::open_file(&path).expect("a file") {
            match record.expect("a record") {
                Record::SourceFile { .. } => (hit, found) = (0, 0),
                Record::LineData { count, .. } => (hit, found) = (hit + u32::from(count > 0), found + 1),
                Record::LinesHit { hit: said } => assert_eq!(said, hit),
                Record::LinesFound { found: said } => assert_eq!(said, found),
                _ => {}
            }
        }
    }
}

#[test]
fn the_listing_has_every_cycle_of_the_function() {
    for subject in &SUBJECTS {
        let result = measured(&request(subject, &folder())).expect("it runs");
        let listing = result.listing.expect("it was asked for");
        assert_eq!(
            (listing.function.as_str(), &listing.without_names),
            ("work", &None),
            "{}",
            subject.target
        );
        // The cycles of the call instruction count for the function called.
        let call = result.rows[0].inclusive_cycles - listing.cycles();
        assert!((1..=5).contains(&call), "{}: {call} of {:?}", subject.target, result.rows);
        let of = |text: &str| {
            let line = line_of(text);
            listing.rows.iter().filter(move |row| row.line == Some(line))
        };
        assert!(of("never").all(|row| row.executions == 0 && row.cycles == 0) && of("never").count() > 0);
        assert!(of("each time").all(|row| row.executions == 10) && of("each time").count() > 0);
        for row in &listing.rows {
            let name = row.instruction.as_deref().unwrap_or_default();
            assert!(!name.is_empty() && !row.opcode.is_empty(), "{}: {row:?}", subject.target);
            assert_eq!(row.file.as_deref(), Some(SOURCE));
            let each = row.cycles_per_execution.map(|each| (each * row.executions as f64).round() as u64);
            assert_eq!(each.unwrap_or(0), row.cycles);
        }
        let back = listing.rows.iter().rfind(|row| row.executions > 0).expect("a return");
        let name = back.instruction.as_deref().unwrap_or_default();
        assert!(back.executions == 1 && name.starts_with(subject.back), "{}: {back:?}", subject.target);
    }
}

const FAULTY: &str =
    "function start\nrcall work\n1: rjmp 1b\nend start\nfunction work\n.word 0xffff\nret\nend work\n";

/// A fault within a call, a limit, Ctrl-C: the files have what came before, and are complete.
#[test]
fn trace_files_are_complete_at_any_end_of_a_run() {
    let workspace = Workspace::find().expect("the project");
    let subject = &SUBJECTS[0];
    let stopped = |how: &dyn Fn(&mut Request), interrupted: bool| {
        let folder = folder();
        let mut request = request(subject, &folder);
        how(&mut request);
        let result = measure::run(&workspace, &request, &AtomicBool::new(interrupted), None);
        (result.expect("it begins"), waveform(&folder.join("out.vcd")), slices(&folder.join("out.json")))
    };
    let (result, signals, slices) = stopped(&|request| request.max_cycles = 1350, false);
    assert!(result.ending.contains("--max-cycles"), "{}", result.ending);
    assert_eq!(pulses(&signals["interrupts.__vector_14"]).len(), 1);
    assert!(slices["calls"].iter().any(|(name, ..)| name == "main"));
    let endless = |request: &mut Request| {
        let text = "function start\nrcall work\n1: rjmp start\nend start\nfunction work\nret\nend work\n";
        request.setup.elf = bare::program("atmega328p", text);
        request.traces.lcov = None;
        request.max_cycles = u64::MAX;
        // It is looked at more often where calls are counted.
        request.calls = Some(u64::MAX);
    };
    let (result, _, slices) = stopped(&endless, true);
    assert!(matches!(result.failure, Some(LabError::Unfinished(_))), "{:?}", result.failure);
    assert!(slices["calls"].iter().filter(|(name, ..)| name == "work").count() > 1000);
    let faulty = |request: &mut Request| {
        request.setup.elf = bare::program("atmega328p", FAULTY);
        request.traces.lcov = None;
    };
    let (result, signals, slices) = stopped(&faulty, false);
    assert!(matches!(result.failure, Some(LabError::Fault { .. })), "{:?}", result.failure);
    assert!(signals.contains_key("core.clock_Hz"));
    let names: Vec<&str> = slices["calls"].iter().map(|(name, ..)| name.as_str()).collect();
    assert_eq!(names, ["work", "start"]);
    let listing = result.listing.expect("a listing");
    assert!(listing.rows.iter().all(|row| row.executions == 0), "the fault was not executed: {listing:?}");
}

/// After a reset no pin is driven, and no call or interrupt is open any more.
#[test]
fn a_reset_within_a_run_ends_what_was_under_way() {
    let text = ".syntax unified
.word 0x20001000, start + 1
.thumb_func
function start
ldr r0, =0x40021014
ldr r1, =0x00020000
str r1, [r0]
ldr r0, =0x48000000
movs r1, #1
str r1, [r0]
str r1, [r0, #0x14]
bl work
end start
.thumb_func
function work
ldr r0, =0xe000ed0c
ldr r1, =0x05fa0004
str r1, [r0]
1: b 1b
end work
";
    let folder = folder();
    let traces = TraceFiles { lcov: None, ..files(&folder) };
    let request = Request { traces, max_cycles: 500, ..bare::request("stm32f051", text) };
    measured(&request).expect("it runs");
    let signals = waveform(&folder.join("out.vcd"));
    let levels: Vec<&str> = signals["pins.GPIOA[0]"].iter().map(|(_, level)| level.as_str()).collect();
    assert!(levels.len() > 9, "{levels:?}");
    for round in levels.chunks_exact(3) {
        assert_eq!(round, ["z", "0", "1"], "{levels:?}");
    }
    let slices = slices(&folder.join("out.json"));
    let starts: Vec<_> = slices["calls"].iter().filter(|(name, ..)| name == "start").collect();
    let rounds = levels.chunks_exact(3).len();
    assert!((rounds..=rounds + 1).contains(&starts.len()), "{levels:?} {starts:?}");
    for pair in starts.windows(2) {
        assert!(pair[0].2 <= pair[1].1, "one after the other: {starts:?}");
    }
}

/// `run` looks at its program at other times than `measure`, and writes the same.
#[test]
fn run_writes_what_measure_writes() {
    let workspace = Workspace::find().expect("the project");
    for subject in &SUBJECTS {
        let (one, other) = (folder(), folder());
        let request = request(subject, &one);
        measured(&request).expect("it runs");
        let ran = run::Request {
            setup: request.setup.clone(),
            ports: Vec::new(),
            uart: None,
            exit: None,
            ends_asleep: true,
            is_paced: false,
            max_cycles: Some(1_000_000),
            max_time_s: None,
            traces: files(&other),
            arguments: Vec::new(),
        };
        let outside = Outside {
            interrupted: &AtomicBool::new(false),
            input: None,
            gdb: None,
            out: &mut |_, _| ControlFlow::Continue(()),
            say: &mut |_| {},
        };
        let result = run::run(&workspace, &ran, outside).expect("it runs");
        assert!(result.failure.is_none(), "{:?}", result.failure);
        for name in ["out.vcd", "out.json", "out.info", "out.csv"] {
            let text = |folder: &Path| std::fs::read_to_string(folder.join(name)).expect("a file");
            assert!(text(&one) == text(&other), "{} {name}", subject.target);
        }
    }
}

/// The samples of the current add up to the charge of the run's states, but for two cycles: one
/// sees a change of the clock where its instruction begins, the other where it ends.
#[test]
fn samples_of_the_current_have_the_charge_of_the_run() {
    for subject in &SUBJECTS {
        let folder = folder();
        let result = measured(&request(subject, &folder)).expect("it runs");
        let text = std::fs::read_to_string(folder.join("out.csv")).expect("a file");
        let (heading, rows) = text.split_once('\n').expect("a heading");
        assert_eq!(heading, "Timestamp(ms),Current(uA)");
        let samples: Vec<(f64, f64)> = rows
            .lines()
            .map(|row| row.split_once(',').expect("two columns"))
            .map(|(at, current)| (at.parse().expect("a time"), current.parse().expect("a current")))
            .collect();
        let end_ms = result.program.time_s * 1e3;
        let ends = samples[1..].iter().map(|(at, _)| *at).chain([end_ms]);
        let charge_c: f64 =
            samples.iter().zip(ends).map(|((at, current), end)| current * 1e-6 * (end - at) * 1e-3).sum();
        let wanted_c: f64 = result.states.iter().map(|state| state.current_a * state.time_s).sum();
        let slowest_hz = subject.clocks[0].min(subject.clocks[1]) as f64;
        let most_a = result.states.iter().map(|state| state.current_a).fold(0.0, f64::max);
        let near = (charge_c - wanted_c).abs() < 2.0 / slowest_hz * most_a + 1e-4 * wanted_c;
        assert!(near, "{}: {charge_c} C, not {wanted_c} C", subject.target);
    }
}

#[test]
fn unwritable_trace_file_is_refused_before_the_run() {
    let folder = folder();
    let request = request(&SUBJECTS[0], &folder);
    let nowhere = Some(folder.join("nowhere/out"));
    let none = TraceFiles::default;
    for traces in [
        TraceFiles { vcd: nowhere.clone(), ..none() },
        TraceFiles { events: nowhere.clone(), ..none() },
        TraceFiles { lcov: nowhere.clone(), ..none() },
        TraceFiles { current: nowhere.clone().map(|path| (path, 1_000)), ..none() },
    ] {
        // It would never end.
        let request =
            Request { traces, max_cycles: u64::MAX, until: Some("_exit".into()), ..request.clone() };
        assert!(matches!(measured(&request), Err(LabError::File { .. })));
    }
    let same = Some(folder.join("same"));
    for (vcd, events) in [(same.clone(), same), (Some(request.setup.elf.clone()), None)] {
        let request = Request { traces: TraceFiles { vcd, events, ..none() }, ..request.clone() };
        assert!(matches!(measured(&request), Err(LabError::Usage(_))));
    }
    let unknown = Request { listing: Some("wrok".into()), ..request.clone() };
    let error = measured(&unknown).expect_err("there is no such function").to_string();
    assert!(error.contains("did you mean work"), "{error}");
    // An assembler's file has no source lines.
    let elf = bare::program("atmega328p", FAULTY);
    let blind = Request { setup: setup("atmega328p", elf), listing: None, functions: Vec::new(), ..request };
    let error = measured(&blind).expect_err("nothing to cover").to_string();
    assert!(error.contains("-gdwarf-4"), "{error}");
}

/// The R8C's objdump is in no distribution: opcodes stand for themselves.
#[test]
fn listing_without_a_disassembler_has_opcodes() {
    let text = "function start\nldc #0x800, isp\njsr.a work\n1: jmp.b 1b\nend start\nfunction work\nnop\nrts\nend work\n";
    let request = Request { listing: Some("work".into()), ..bare::request("r8c", text) };
    let listing = bare::measure(&request).listing.expect("a listing");
    let opcodes: Vec<&str> = listing.rows.iter().map(|row| row.opcode.as_str()).collect();
    assert_eq!(opcodes, ["04", "f3"]);
    if Command::new("m32c-elf-objdump").arg("--version").output().is_err() {
        assert!(listing.without_names.is_some_and(|problem| problem.contains("m32c-elf-objdump")));
    }
}
