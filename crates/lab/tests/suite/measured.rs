//! `measure` on programs whose cycles are counted by hand: what ends in the midst of a call is
//! reported as far as it came.

use crate::bare::{measure, request, set_up, try_measure};
use lab::accuracy::Bound;
use lab::measure::{MeasureRow, Request};

/// A call and an end behind it, a function that ends in itself, and their cycles by the manuals: of
/// `work` from the call to the return, of `stuck` from the call up to its last instruction, which
/// is not executed.
struct Subject {
    target: &'static str,
    start: &'static str,
    call: &'static str,
    nop: &'static str,
    back: &'static str,
    halt: &'static str,
    work: u64,
    stuck: u64,
}

const SUBJECTS: [Subject; 4] = [
    // RCALL 3, NOP 1, RET 4.
    Subject {
        target: "atmega328p",
        start: "",
        call: "rcall",
        nop: "nop",
        back: "ret",
        halt: "1: rjmp 1b",
        work: 9,
        stuck: 5,
    },
    // CALL #N 4, NOP 1, RET 4.
    Subject {
        target: "msp430f5438a",
        start: "mov #0x5c00, r1\nmov #0x5a80, &0x015c",
        call: "call #",
        nop: "nop",
        back: "ret",
        halt: "1: jmp 1b",
        work: 10,
        stuck: 6,
    },
    // JSR.A 9 and 1 for its word on the stack, NOP 1, RTS 6 and 1.
    Subject {
        target: "r8c",
        start: "ldc #0x800, isp",
        call: "jsr.a",
        nop: "nop",
        back: "rts",
        halt: "1: jmp.b 1b",
        work: 19,
        stuck: 12,
    },
    // BL 4, NOP 1, BX 3; after a reset the flash has no wait state.
    Subject {
        target: "stm32f051",
        start: "",
        call: "bl",
        nop: "nop",
        back: "bx lr",
        halt: "1: b 1b",
        work: 9,
        stuck: 6,
    },
];

impl Subject {
    /// A program that calls `called` and then ends.
    fn program(&self, called: &str) -> String {
        let Subject { target, start, call, nop, back, halt, .. } = self;
        let head = if target.starts_with("stm32") {
            ".syntax unified\n.word 0x20001000, start + 1\n.thumb_func"
        } else {
            ""
        };
        let space = if call.ends_with('#') { "" } else { " " };
        format!(
            "{head}\nfunction start\n{start}\n{call}{space}{called}\n{halt}\nend start\n\
             .balign 2\nfunction work\n{nop}\n{nop}\n{back}\nend work\n\
             .balign 2\nfunction stuck\n{nop}\n{nop}\n{halt}\nend stuck\n"
        )
    }
}

fn one(rows: &[MeasureRow]) -> &MeasureRow {
    assert_eq!(rows.len(), 1, "{rows:?}");
    &rows[0]
}

#[test]
fn call_that_returns_into_the_program_s_end_has_returned() {
    for subject in &SUBJECTS {
        let request = request(subject.target, &subject.program("work"));
        let request = Request { functions: vec!["work".into()], calls: Some(1), ..request };
        let result = measure(&request);
        let row = one(&result.rows);
        let found = (row.calls, row.not_returned, row.inclusive_cycles, row.exclusive_cycles);
        assert_eq!(found, (1, 0, subject.work, Some(subject.work)), "{}", subject.target);
    }
}

#[test]
fn a_call_that_the_program_ends_in_is_reported_as_not_returned() {
    for subject in &SUBJECTS {
        let request = request(subject.target, &subject.program("stuck"));
        let request = Request { functions: vec!["stuck".into()], calls: Some(1), ..request };
        let result = measure(&request);
        let row = one(&result.rows);
        let found = (row.calls, row.not_returned, row.inclusive_cycles, row.exclusive_cycles);
        assert_eq!(found, (0, 1, subject.stuck, Some(subject.stuck)), "{}", subject.target);
        assert!(result.ending.contains("the program ended"), "{}", result.ending);
    }
}

#[test]
fn every_cycle_is_in_some_row() {
    for subject in &SUBJECTS {
        for called in ["work", "stuck"] {
            let result = measure(&request(subject.target, &subject.program(called)));
            let own: u64 = result.rows.iter().filter_map(|row| row.exclusive_cycles).sum();
            assert_eq!(own, result.cycles, "{} {called}: {:?}", subject.target, result.rows);
            let start = result.rows.iter().find(|row| row.name == "start");
            let found = start.map(|start| (start.inclusive_cycles, start.not_returned));
            assert_eq!(found, Some((result.cycles, 1)), "{}: {:?}", subject.target, result.rows);
        }
    }
}

/// Enough calls that the run is looked at in between, where a call or a return is the last
/// instruction before it.
#[test]
fn no_call_is_lost_where_the_run_is_looked_at() {
    const CALLS: usize = 60_000;
    let text = "function start\n1: rcall work\nrjmp 1b\nend start\nfunction work\nret\nend work\n";
    let request = request("atmega328p", text);
    let result = measure(&Request { functions: vec!["work".into()], calls: Some(CALLS as u64), ..request });
    assert_eq!(result.rows.len(), CALLS);
    for (call, row) in result.rows.iter().enumerate() {
        // RCALL 3, RET 4, RJMP 2.
        assert_eq!((row.start_cycle, row.inclusive_cycles), (Some(9 * call as u64), 7));
    }
}

/// A word read at an odd address stops the run; with `lenient` it is passed over and reported, a
/// row for the kind.
#[test]
fn lenient_run_counts_tolerated_mistakes() {
    let text = "function start
mov #0x5c00, r1
mov #0x5a80, &0x015c
mov #0x2001, r5
mov @r5, r6
mov @r5, r6
1: jmp 1b
end start
";
    let request = request("msp430f5438a", text);
    let error = try_measure(&request).expect("what was counted").failure.expect("an odd address").to_string();
    assert!(error.contains("odd address") && error.contains("so does --lenient"), "{error}");
    let result = measure(&set_up(request, |setup| setup.lenient = true));
    let tolerated = result.rows.iter().find(|row| row.kind == "tolerated").expect("a row");
    assert_eq!((tolerated.name.as_str(), tolerated.calls), ("a word access at an odd address", 2));
}

/// `work` is called, and then a register of the STM32F407's random numbers is written and read
/// (RM0090, section 24.4).
const UNMODELLED: &str = ".syntax unified
.word 0x20001000, start + 1
.thumb_func
function start
bl work
ldr r0, =0x50050000
movs r1, #4
str r1, [r0]
ldr r2, [r0]
ldr r3, [r0, #8]
1: b 1b
.ltorg
end start
.thumb_func
function work
nop
nop
bx lr
end work
";

#[test]
fn rows_have_the_counts_before_a_fault() {
    let asked = Request { functions: vec!["work".into()], ..request("stm32f407", UNMODELLED) };
    let result = try_measure(&asked).expect("rows");
    let row = one(&result.rows);
    assert_eq!((row.name.as_str(), row.calls, row.not_returned), ("work", 1, 0));
    let failure = result.failure.expect("a fault").to_string();
    assert!(
        failure.contains("0x50050000") && failure.contains("--stub DCMI gives it registers"),
        "{failure}"
    );
    assert!(result.ending.starts_with("the model stopped"), "{}", result.ending);
}

/// The nRF52840 starts with its instruction cache off (PS, ICACHECNF), where its timing is known
/// less well.
#[test]
fn program_without_the_cache_has_its_own_bound() {
    let text = UNMODELLED.replace("0x50050000", "0x4001e540").replace("ldr r3, [r0, #8]", "nop");
    let of_cache = |value: &str| {
        let text = text.replace("movs r1, #4", &format!("movs r1, #{value}"));
        let asked = Request { functions: vec!["work".into()], ..request("nrf52840", &text) };
        let result = measure(&asked);
        let row = result.rows.iter().find(|row| row.name == "work").expect("a row");
        (row.accuracy.expect("a bound"), result.accuracies[0].source.clone())
    };
    let (on, source) = of_cache("1");
    assert!(matches!(on, Bound::Percent(_)) && source.contains("with the cache on"), "{on} {source}");
    let (off, source) = of_cache("0");
    assert!(off == Bound::Estimate && source.starts_with("without the cache"), "{off} {source}");
}

#[test]
fn a_stub_remembers_what_was_written_and_marks_the_figures() {
    // By its name, by its addresses, and in place of a model.
    for name in ["DCMI", "0x50050000-0x500503ff"] {
        let result =
            measure(&set_up(request("stm32f407", UNMODELLED), |setup| setup.stubs = vec![name.into()]));
        let stub = result.rows.iter().find(|row| row.kind == "stub").expect("a row");
        assert_eq!((stub.name.as_str(), stub.calls), (name, 3));
        let [used] = &result.stubs[..] else { panic!("{:?}", result.stubs) };
        assert_eq!((used.reads, used.writes), (2, 1));
        let work = result.rows.iter().find(|row| row.name == "work").expect("a row");
        assert_eq!(work.accuracy, Some(Bound::Estimate));
        assert!(result.accuracies.iter().all(|accuracy| accuracy.source.contains(name)));
    }
    // RCC_APB1ENR.PWREN comes first.
    let clocked = "bl work\nldr r0, =0x40023840\nldr r1, =0x10000000\nstr r1, [r0]\n";
    let text = UNMODELLED.replace("bl work\n", clocked).replace("0x50050000", "0x40007000");
    let text = text.replace("movs r1, #4", "mvns r1, r0");
    let asked = request("stm32f407", &text);
    let failure = try_measure(&asked).expect("rows").failure.expect("bits that no PWR has").to_string();
    assert!(failure.contains("--stub PWR gives registers"), "{failure}");
    assert_eq!(measure(&set_up(asked, |setup| setup.stubs = vec!["PWR".into()])).stubs[0].name, "PWR");
}

/// Boards have their console at a USB controller, which is not shown: said where the program comes
/// to one, and nowhere else.
#[test]
fn a_console_at_usb_is_said_not_to_be_shown() {
    let said = |registers: &str| {
        let text = UNMODELLED.replace("0x50050000", registers);
        try_measure(&request("stm32f407", &text)).expect("rows").failure.expect("no model").to_string()
    };
    let failure = said("0x50000000");
    assert!(failure.contains("--stub OTG_FS") && failure.contains("its console at a UART"), "{failure}");
    assert!(!said("0x50050000").contains("console"));
}

#[test]
fn an_unused_stub_changes_nothing() {
    let text = UNMODELLED.replace("bl work", "bl work\nb .");
    let asked = request("stm32f407", &text);
    let plain = measure(&asked);
    let stubbed = measure(&set_up(asked, |setup| setup.stubs = vec!["DCMI".into()]));
    assert_eq!((plain.rows, plain.accuracies), (stubbed.rows, stubbed.accuracies));
}

#[test]
fn an_unknown_stub_names_its_neighbour() {
    for (wrong, near) in
        [("DCMI1", "DCMI"), ("0x500503ff-0x50050000", "0x50050000-0x500503ff"), ("0x1-", "addresses")]
    {
        let asked = set_up(request("stm32f407", UNMODELLED), |setup| setup.stubs = vec![wrong.into()]);
        let error = try_measure(&asked).expect_err("no such peripheral");
        assert!(error.is_usage() && error.to_string().contains(near), "{error}");
    }
}

/// Moved behind 64 kB that a bootloader has, it begins all the same, which is said; where it stands
/// it is as any other.
#[test]
fn an_image_behind_a_bootloader_begins_there_and_says_so() {
    let text = ".syntax unified
first: .word 0x20001000, start - first + 0x08010001
.thumb_func
function start
bl work
b .
end start
.thumb_func
function work
bx lr
end work
";
    let here = Request { functions: vec!["work".into()], ..request("stm32f407", text) };
    let moved = here.setup.elf.with_file_name("moved.elf");
    let mut objcopy = std::process::Command::new("arm-none-eabi-objcopy");
    let status = objcopy.args(["--change-addresses", "0x10000"]).arg(&here.setup.elf).arg(&moved).status();
    assert!(status.expect("the toolchain is installed").success());
    let result = measure(&set_up(here, |setup| setup.elf = moved));
    assert_eq!(one(&result.rows).calls, 1);
    let said = result.beginning.expect("a remark");
    assert!(said.contains("bootloader") && said.contains("0x8010000"), "{said}");
    assert_eq!(
        measure(&request("stm32f407", UNMODELLED.replace("ldr r0, =0x50050000", "b .").as_str())).beginning,
        None
    );
}

/// On an AVR addresses are the ELF's.
#[test]
fn a_stub_by_the_addresses_of_a_fault_lets_the_program_go_on() {
    let text = "function start\nldi r16, 72\nsts 0xf0, r16\nlds r17, 0xf0\n1: rjmp 1b\nend start\n";
    let asked = request("atmega328p", text);
    let failure = try_measure(&asked).expect("rows").failure.expect("no model").to_string();
    let stub =
        failure.split("--stub ").nth(1).expect("advice").split(' ').next().expect("a name").to_string();
    let result = measure(&set_up(asked, |setup| setup.stubs = vec![stub]));
    assert_eq!(result.stubs[0].reads + result.stubs[0].writes, 2);
}

#[test]
fn calls_that_did_not_come_about_are_named() {
    let named = |functions: &[&str], calls| {
        let functions = functions.iter().map(|name| (*name).to_string()).collect();
        let text = UNMODELLED.replace("bl work", "bl work\nb .");
        let result = try_measure(&Request { functions, calls, ..request("stm32f407", &text) }).expect("rows");
        (result.rows.len(), result.failure.map(|failure| failure.to_string()).unwrap_or_default())
    };
    let (rows, failure) = named(&["work"], Some(3));
    assert!(rows == 1 && failure.contains("1 of the 3 calls asked for"), "{failure}");
    assert_eq!(named(&["work"], Some(1)), (1, String::new()));
}

#[test]
fn an_interrupted_run_has_what_was_counted_until_then() {
    let text = "function start\n1: rcall work\nrjmp 1b\nend start\nfunction work\nret\nend work\n";
    let asked = Request { max_cycles: u64::MAX, ..request("atmega328p", text) };
    let workspace = lab::workspace::Workspace::find().expect("the project");
    let result = lab::measure::run(&workspace, &asked, &true.into(), None).expect("rows");
    assert!(result.rows.iter().any(|row| row.name == "work" && row.calls > 1_000));
    assert!(result.failure.expect("an interruption").to_string().contains("interrupted"));
}

#[test]
fn unwritable_flame_graph_is_refused_before_the_run() {
    let asked =
        Request { flamegraph: Some("/no-such-folder/graph.svg".into()), ..request("stm32f407", UNMODELLED) };
    let error = try_measure(&asked).expect_err("no such folder").to_string();
    assert!(error.contains("/no-such-folder/graph.svg"), "{error}");
}

#[test]
fn console_shows_the_program_s_output_and_its_exit() {
    // SYS_WRITE0 and SYS_EXIT.
    let text = ".syntax unified\n.word 0x20001000, start + 1\n.thumb_func\nfunction start\nmovs r0, #4\nldr r1, =text\nbkpt 0xab
movs r0, #0x18\nldr r1, =0x20026\nbkpt 0xab\nb .\nend start\n.ltorg\ntext: .asciz \"first\\nsecond\"\n";
    let asked = request("stm32f051", text);
    let workspace = lab::workspace::Workspace::find().expect("the project");
    let mut shown = Vec::new();
    let result = lab::measure::run(&workspace, &asked, &false.into(), Some(&mut shown)).expect("rows");
    assert_eq!(String::from_utf8_lossy(&shown), "semihosting: first\nsemihosting: second\n");
    assert!(result.failure.is_none() && result.ending.contains("exited with 0"), "{}", result.ending);
}

/// Code of two tasks, which give way by an exception.
const TASKS: &str = "
        .thumb_func
        function deep
            push {r4, lr}
            sub sp, #100
            svc 0
            add sp, #100
            pop {r4, pc}
        end deep
        .thumb_func
        function task_b
            bl shallow
            b task_b
        end task_b
        .thumb_func
        function shallow
            push {r4, lr}
            svc 0
            pop {r4, pc}
        end shallow
";

/// Two tasks on stacks of their own, which take turns by an exception: each has its calls, the
/// other's stack is not its own.
#[test]
fn tasks_have_their_own_calls() {
    let text = format!(
        "
        .syntax unified
        .word 0x20000800, start + 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, switch + 1
        .thumb_func
        function start
            ldr r0, =0x20000418
            ldr r1, =task_b
            str r1, [r0]
            ldr r1, =0x1000000
            str r1, [r0, #4]
            ldr r1, =0x20000000
            subs r0, #0x18
            str r0, [r1]
            ldr r0, =0x20000800
            msr psp, r0
            movs r0, #2
            msr control, r0
            isb
            bl deep
            bl deep
            cpsid i
            b .
        end start
        {TASKS}
        .thumb_func
        function switch
            ldr r1, =0x20000000
            mrs r0, psp
            ldr r2, [r1]
            str r0, [r1]
            msr psp, r2
            bx lr
        end switch
        .ltorg
        .end\n"
    );
    let result = measure(&request("stm32f051", &text));
    assert!(result.failure.is_none(), "{:?}", result.failure);
    let row = |name: &str| result.rows.iter().find(|row| row.name == name).expect(name);
    let found = ["deep", "shallow", "switch", "start", "task_b"]
        .map(|name| (row(name).calls, row(name).stack_bytes.unwrap_or(0)));
    assert_eq!(found, [(2, 108), (1, 8), (4, 0), (0, 108), (0, 8)]);
    // A call lasts while another task runs: the second of `deep` has all of the first of `shallow`
    // that `deep` left.
    assert!(row("deep").inclusive_cycles > row("shallow").inclusive_cycles);
}

/// The same on one stack pointer, which the handler itself moves from one task's stack to the
/// other's, 6 kB below.
#[test]
fn a_handler_that_changes_stacks_makes_none_deeper() {
    let text = format!(
        "
        .syntax unified
        .word 0x20001c00, start + 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, switch + 1
        .thumb_func
        function start
            ldr r0, =0x20000418
            ldr r1, =task_b
            str r1, [r0]
            ldr r1, =0x1000000
            str r1, [r0, #4]
            ldr r1, =0x20000000
            subs r0, #0x18
            str r0, [r1]
            bl deep
            bl deep
            cpsid i
            b .
        end start
        {TASKS}
        .thumb_func
        function switch
            push {{r0, lr}}
            ldr r1, =0x20000000
            ldr r2, [r1]
            mov r0, sp
            adds r0, #8
            mov r3, lr
            mov sp, r2
            push {{r4, r5, r6, lr}}
            bl nothing
            pop {{r4, r5, r6, r7}}
            str r0, [r1]
            bx r3
        end switch
        .thumb_func
        function nothing
            bx lr
        end nothing
        .ltorg
        .end\n"
    );
    let result = measure(&request("stm32f051", &text));
    assert!(result.failure.is_none(), "{:?}", result.failure);
    let row = |name: &str| result.rows.iter().find(|row| row.name == name).expect(name);
    let found = ["deep", "shallow", "switch", "start", "task_b"]
        .map(|name| (row(name).calls, row(name).stack_bytes.unwrap_or(0)));
    // 32 bytes are stacked by each exception, 4 below `deep` to align them, and 8 more by the
    // handler before it leaves.
    assert_eq!(found, [(2, 152), (1, 48), (4, 8), (0, 152), (0, 48)]);
}

/// The same move, to come back to where it was: a frame of two kilobytes.
#[test]
fn a_large_frame_of_a_handler_counts() {
    let text = "
        .syntax unified
        .word 0x20001c00, start + 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, handler + 1
        .thumb_func
        function start
            svc 0
            cpsid i
            b .
        end start
        .thumb_func
        function handler
            mov r0, sp
            ldr r1, =2048
            subs r1, r0, r1
            mov sp, r1
            push {r0, r1}
            pop {r0, r1}
            mov sp, r0
            bx lr
        end handler
        .ltorg
        .end\n";
    let result = measure(&request("stm32f051", text));
    assert!(result.failure.is_none(), "{:?}", result.failure);
    let stack = |name: &str| result.rows.iter().find(|row| row.name == name).expect(name).stack_bytes;
    // With what is stacked below `start`.
    assert_eq!([stack("handler"), stack("start")], [Some(2048 + 8), Some(2048 + 8 + 32)]);
}

#[test]
fn a_reset_handler_that_returns_has_ended() {
    let text =
        ".syntax unified\n.word 0x20001000, start + 1\n.thumb_func\nfunction start\nbx lr\nend start\n";
    let result = measure(&request("stm32f407", text));
    assert!(result.failure.is_none(), "{:?}", result.failure);
    assert!(result.ending.contains("the reset handler returned"), "{}", result.ending);
}

#[test]
fn figures_of_floating_point_arithmetic_are_estimates() {
    let of = |instruction: &str| {
        let text = format!(
            ".syntax unified\n.cpu cortex-m4\n.fpu fpv4-sp-d16\n.word 0x20001000, start + 1\n.thumb_func\nfunction start
ldr r0, =0xe000ed88\nldr r1, =0xf00000\nstr r1, [r0]\ndsb\nisb\n{instruction}\nb .\nend start\n.ltorg\n"
        );
        let result = measure(&request("stm32f407", &text));
        (result.accuracies[0].cycles.to_string(), result.accuracies[0].source.clone())
    };
    assert_eq!(of("vmov s0, r0").0, "13.1 %");
    let (bound, source) = of("vadd.f32 s0, s0, s0");
    assert!(bound == "estimate" && source.contains("floating-point"), "{bound}: {source}");
}
