//! Rules of `fault`, each with a program on which it decides.

use crate::bare::program;
use crate::decisions::Silent;
use lab::LabError;
use lab::fault::{self, Counts, Injected, Marker, Model, Outcome, Request, Window};
use lab::user_firmware::{Loading, Setup};
use lab::workspace::Workspace;
use std::path::PathBuf;

const EVERY_MODEL: [Model; 7] =
    [Model::Skip(1), Model::Skip(2), Model::Register, Model::Zero, Model::Flags, Model::Opcode, Model::Load];

/// A program of a Cortex-M0: its functions, the first of which is `start`, and two ends that they
/// call.
fn elf(functions: &[(&str, &str)]) -> PathBuf {
    let ends = [("accept", "1: b 1b"), ("reject", "1: b 1b")];
    let function = |(name, body)| format!(".thumb_func\nfunction {name}\n{body}\nend {name}\n.pool\n");
    let functions: Vec<String> = functions.iter().copied().chain(ends).map(function).collect();
    program("stm32f051", &format!(".syntax unified\n.word 0x20001000, start + 1\n{}", functions.concat()))
}

/// Skips from reset to the end that refuses.
fn request(setup: Setup) -> Request {
    Request {
        setup,
        window: Window::Between { from: "start".into(), to: "reject".into() },
        models: vec![Model::Skip(1)],
        good: vec![Marker::Reach("reject".into())],
        bad: vec![Marker::Reach("accept".into())],
        exit: None,
        occurrences: None,
        sample: None,
        seed: 1,
        max_cycles: 100_000,
        hang_cycles: Some(5_000),
        prunes: true,
        state: None,
    }
}

fn of(body: &str) -> Request {
    request(Setup::new(elf(&[("start", body)]), "stm32f051"))
}

fn try_run(request: &Request) -> Result<Injected, LabError> {
    let workspace = Workspace::find().expect("the project's folder");
    fault::run(&workspace, request, &Silent, &|_| {})
}

fn run(request: &Request) -> Injected {
    try_run(request).expect("a campaign")
}

/// Compares campaigns with and without pruning; the counts.
fn pruned_as_whole(request: Request) -> Counts {
    let whole = run(&Request { prunes: false, ..request.clone() });
    let pruned = run(&request);
    let text = |injected: &Injected| serde_json::to_string_pretty(&injected.rows).expect("JSON");
    assert_eq!(text(&pruned), text(&whole));
    pruned.counts
}

/// A word of memory and a register that decide long after they were written.
const REMEMBERS: &str = "ldr r0, =0x20000100
movs r1, #1
str r1, [r0]
movs r5, #1
movs r1, #0
.rept 48
nop
.endr
ldr r2, [r0]
ands r2, r5
beq 1f
bl reject
1: bl accept";

#[test]
fn pruning_sees_what_memory_and_registers_remember() {
    let counts = pruned_as_whole(Request { models: EVERY_MODEL.into(), ..of(REMEMBERS) });
    assert!(counts.of(Outcome::Bypassed) > 50, "{counts:?}");
}

/// SysTick counts each cycle; a skipped instruction takes none.
#[test]
fn pruning_ends_where_time_decides() {
    let body = |branch: &str| {
        format!(
            "ldr r0, =0xe000e010
ldr r1, =0xffffff
str r1, [r0, #4]
movs r1, #5
str r1, [r0]
.rept 48
nop
.endr
ldr r3, [r0, #8]
lsls r3, r3, #31
{branch} 1f
bl reject
1: bl accept"
        )
    };
    // One of the two refuses.
    let request = ["beq", "bne"].map(|branch| of(&body(branch))).into_iter().find(|one| try_run(one).is_ok());
    let counts = pruned_as_whole(request.expect("one that refuses"));
    assert!(counts.of(Outcome::Bypassed) > 40, "{counts:?}");
}

#[test]
fn occurrences_take_the_first_and_the_last_times() {
    let request = of("movs r1, #8\n1: subs r1, #1\nnop\nbne 1b\nbl reject");
    // Three instructions eight times, two once.
    for (occurrences, faults) in [(None, 26), (Some(1), 8), (Some(2), 14), (Some(4), 26), (Some(5), 26)] {
        let injected = run(&Request { occurrences, ..request.clone() });
        assert_eq!(injected.counts.total(), faults, "{occurrences:?}");
        assert_eq!(injected.instructions, 26);
    }
}

/// Two functions that call each other: the second call of `check` returns to where the first does.
#[test]
fn window_is_the_first_call_and_no_more() {
    let functions = [
        ("start", "movs r0, #2\nbl outer\nbl reject"),
        ("outer", "push {lr}\nbl check\npop {pc}"),
        ("check", "push {lr}\nsubs r0, #1\nbeq 1f\nbl outer\n1: pop {pc}"),
    ];
    let request = request(Setup::new(elf(&functions), "stm32f051"));
    let of = |window| run(&Request { window, ..request.clone() });
    let between = |from: &str, to: &str| Window::Between { from: from.into(), to: to.into() };
    assert_eq!(of(Window::Function("check".into())).instructions, 12);
    assert_eq!(of(between("check", "outer")).instructions, 4);
    assert_eq!(of(between("check", "reject")).instructions, 14);
    assert_eq!(of(between("start", "reject")).instructions, 18);
    let within = of(Window::Cycles(5..25));
    assert!((20..25).contains(&within.cycles) && within.instructions < 18, "{within:?}");
}

#[test]
fn every_bypass_is_replayed_as_one() {
    let request = Request { models: EVERY_MODEL.into(), ..of(REMEMBERS) };
    let workspace = Workspace::find().expect("the project's folder");
    let injected = run(&request);
    let bypassed: Vec<&str> = injected.rows.iter().filter_map(|row| row.example.as_deref()).collect();
    assert!(bypassed.len() > 5, "{bypassed:?}");
    for id in bypassed {
        let told = fault::replay(&workspace, &request, id).expect("a replay");
        assert!(told.contains("outcome: bypassed") && told.contains("it met reach:accept"), "{id}: {told}");
    }
}

/// Bytes beside the program that are others each time.
#[test]
fn program_that_runs_otherwise_each_time_is_refused() {
    let body = "ldr r0, =0x08004000
movs r1, #32
1: ldrb r2, [r0]
adds r0, #1
2: subs r2, #1
bne 2b
subs r1, #1
bne 1b
bl reject";
    let beside = |path: PathBuf| Request {
        setup: Setup { beside: vec![(path, 0x0800_4000)], ..of(body).setup },
        occurrences: Some(1),
        ..of(body)
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("same");
    std::fs::write(&path, [7; 32]).expect("written");
    assert!(try_run(&beside(path)).is_ok());
    let said =
        try_run(&beside("/proc/sys/kernel/random/uuid".into())).expect_err("two other runs").to_string();
    assert!(said.contains("the program is not deterministic: instruction "), "{said}");
}

/// A raw image with names for its addresses, as a linker's map has them.
fn image(
    target: &str,
    code: &[u8],
    (vector, at): (&[u8], u32),
    names: &[(&str, u32)],
) -> (tempfile::TempDir, Request) {
    let (folder, base) = (tempfile::tempdir().expect("a folder"), 0xe000);
    let [path, map, reset] = ["image.bin", "image.map", "reset.bin"].map(|name| folder.path().join(name));
    let names: Vec<String> =
        names.iter().map(|(name, address)| format!(" {address:#010x} {name}\n")).collect();
    let head = "Linker script and memory map\n\n";
    let text = format!("{head} .text {base:#010x} {:#x} image.o\n{}", code.len(), names.concat());
    for (path, bytes) in [(&path, code), (&map, text.as_bytes()), (&reset, vector)] {
        std::fs::write(path, bytes).expect("written");
    }
    let loading = Loading { base: Some(base), map: Some(map) };
    let setup = Setup { loading, beside: vec![(reset, at)], ..Setup::new(path, target) };
    let window = Window::Between { from: "check".into(), to: "reject".into() };
    (folder, Request { window, ..request(setup) })
}

/// The end of a comparison that is not equal is a call: whoever skips it calls the other one. Each
/// other skip leaves the answer as it was.
fn has_one_bypass(request: &Request, faults: u64) {
    let injected = run(request);
    let of = |outcome| injected.counts.of(outcome);
    let found = [injected.counts.total(), of(Outcome::Bypassed), of(Outcome::NoEffect)];
    assert_eq!(found, [faults, 1, faults - 1], "{:?}", injected.rows);
}

#[test]
fn planted_skip_is_found_on_r8c() {
    let code = [
        0xeb, 0x40, 0x00, 0x06, // ldc #0x600,isp
        0x75, 0xc1, 0x00, 0x01, // check: mov.w #0x100,r1
        0x75, 0xc2, 0x00, 0x02, // mov.w #0x200,r2
        0x77, 0x81, 0x00, 0x03, // cmp.w #0x300,r1
        0x6a, 0x05, // jeq over the call
        0xfd, 0x1a, 0xe0, 0x00, // jsr reject
        0xfd, 0x1c, 0xe0, 0x00, // jsr accept
        0xfe, 0xff, // reject: jmp reject
        0xfe, 0xff, // accept: jmp accept
    ];
    let names = [("start", 0xe000), ("check", 0xe004), ("reject", 0xe01a), ("accept", 0xe01c)];
    let (_folder, request) = image("r8c", &code, (&[0x00, 0xe0, 0x00, 0xff], 0xfffc), &names);
    has_one_bypass(&request, 5);
}

#[test]
fn planted_skip_is_found_on_hc08() {
    let code = [
        0xa6, 0x05, // check: lda #5
        0xa1, 0x06, // cmp #6
        0x27, 0x03, // beq over the call
        0xcd, 0xe0, 0x0c, // jsr reject
        0xcd, 0xe0, 0x0e, // jsr accept
        0x20, 0xfe, // reject: bra reject
        0x20, 0xfe, // accept: bra accept
    ];
    let names = [("check", 0xe000), ("reject", 0xe00c), ("accept", 0xe00e)];
    let (_folder, request) = image("mc68hc08", &code, (&[0xe0, 0x00], 0xfffe), &names);
    has_one_bypass(&request, 4);
}
