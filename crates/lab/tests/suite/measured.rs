//! `measure` on programs whose cycles are counted by hand: what ends in the midst of a call is reported as far as it came.

use crate::bare::{measure, request};
use lab::measure::{MeasureRow, Request, run};
use lab::target::Workspace;

/// A call and an end behind it, a function that ends in itself, and their cycles by the manuals: of `work` from the call to the
/// return, of `stuck` from the call up to its last instruction, which is not executed.
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
fn a_call_that_returns_into_the_end_of_the_program_is_a_call_that_returned() {
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

/// Enough calls that the run is looked at in between, where a call or a return is the last instruction before it.
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

/// A word read at an odd address stops the run; with `lenient` it is passed over and reported, a row for the kind.
#[test]
fn mistakes_that_the_part_passes_over_are_counted_where_that_is_asked_for() {
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
    let workspace = Workspace::find().expect("the project");
    let error = run(&workspace, &request).expect_err("an odd address").to_string();
    assert!(error.contains("odd address"), "{error}");
    let result = measure(&Request { lenient: true, ..request });
    let tolerated = result.rows.iter().find(|row| row.kind == "tolerated").expect("a row");
    assert_eq!((tolerated.name.as_str(), tolerated.calls), ("a word access at an odd address", 2));
}
