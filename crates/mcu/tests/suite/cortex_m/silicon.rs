//! The Cortex-M7 against what others have measured on silicon, fact by fact: `m7.toml`.

use super::programs;
use mcu::{Image, Mcu, Segment, Stop, Until, new_machine};
use serde::Deserialize;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct M7 {
    fact: Vec<PipelineFact>,
    float: Vec<PipelineFact>,
    #[serde(rename = "loop")]
    loops: Vec<PipelineFact>,
    turn: Vec<TurnFact>,
    matrix: Matrix,
}

/// A sequence and its cycles on silicon.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct PipelineFact {
    page: String,
    text: String,
    code: String,
    cycles: u64,
    /// Cycles of the model, where they are others.
    model: Option<u64>,
    /// Reason for the difference.
    gap: Option<String>,
}

impl PipelineFact {
    fn check(&self, measured: u64) -> Option<String> {
        let expected = self.model.unwrap_or(self.cycles);
        assert_eq!(self.gap.is_some(), expected != self.cycles, "{}: a gap says why", self.text);
        let row = format!("{}: {} ({}): {measured}, not {expected}", self.page, self.text, self.code);
        (measured != expected).then_some(row)
    }
}

/// A loop and the half cycles of a turn.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnFact {
    page: String,
    text: String,
    code: String,
    half_cycles: u64,
}

/// Kinds of second operands that pair.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Matrix {
    /// Name, and an instruction with registers `{d}` and `{n}`.
    kinds: Vec<[String; 2]>,
    pairs: Vec<String>,
}

/// Runs to the program's BKPT.
fn finish(machine: &mut dyn Mcu, what: &str) -> u64 {
    let stop = machine.run(&Until { cycles: Some(1_000_000), ..Until::default() });
    assert_eq!(stop, Ok(Stop::Breakpoint), "{what}: {:x?}", machine.registers());
    machine.cycles()
}

fn lines(code: &str) -> String {
    code.replace(';', "\n")
}

/// An STM32F767 with a program in ITCM, about to run it.
fn m7(name: &str, program: &str) -> Box<dyn Mcu> {
    let source = format!(".fpu fpv5-d16\n.balign 8\n{program}\n9: bkpt 0\n.balign 4\n");
    let mut machine = new_machine(&programs::part("stm32f767"), 16_000_000).expect("a machine");
    let vectors = [0x2000_8000u32.to_le_bytes(), 0x0800_0009u32.to_le_bytes()].concat();
    machine
        .load(&Image { segments: vec![Segment { address: 0x0800_0000, bytes: vectors }] })
        .expect("it fits");
    machine.reset();
    assert!(machine.poke(0, &programs::assemble("cortex-m7", name, &source)));
    machine.set_pc(0);
    for (register, value) in [("r10", 0x2000_1000), ("r11", 0x2000_2004), ("r12", 0x2000_3000)] {
        assert!(machine.set_register(register, value));
    }
    machine
}

/// Turns the floating-point unit on in CPACR.
const FLOAT_ON: &str = "movw r0, #0xed88\nmovt r0, #0xe000\nmov.w r1, #0xf00000\nstr r1, [r0]\ndsb\nisb
    movs r0, #0\nmovs r1, #0\n";

/// Cycles of a sequence between two instructions that pair with nothing, after `before`; `apart` of
/// them, so that what is under way is done with before the next copy.
fn sequence(name: &str, before: &str, apart: u64, code: &str) -> u64 {
    let copy = format!("{}\n{}", lines(code), "ldrd r8, r9, [r12]\n".repeat(apart as usize));
    let of = |copies: usize| {
        let program = format!("{before}cmp r0, r0\n{}", copy.repeat(copies));
        finish(m7(&format!("{name}-{copies}"), &program).as_mut(), code)
    };
    let ten = of(14) - of(4);
    assert_eq!(ten % 10, 0, "{code}: the same cycles in each copy, {ten} in ten");
    ten / 10 - apart
}

fn m7_facts() -> M7 {
    toml::from_str(include_str!("m7.toml")).expect("m7.toml")
}

#[test]
fn cortex_m7_sequences() {
    let wrong: Vec<String> = m7_facts()
        .fact
        .iter()
        .enumerate()
        .filter_map(|(index, fact)| fact.check(sequence(&format!("m7-{index}"), "", 1, &fact.code)))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn cortex_m7_floating_point_sequences() {
    let facts = m7_facts().float;
    let checked = facts.iter().enumerate().filter_map(|(index, fact)| {
        fact.check(sequence(&format!("m7-float-{index}"), FLOAT_ON, 8, &fact.code))
    });
    let wrong: Vec<String> = checked.collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn cortex_m7_second_operands() {
    let matrix = m7_facts().matrix;
    assert_eq!(matrix.pairs.len(), matrix.kinds.len());
    for (row, (older, pairs)) in matrix.kinds.iter().zip(&matrix.pairs).enumerate() {
        assert_eq!(pairs.len(), matrix.kinds.len());
        for (column, (younger, pair)) in matrix.kinds.iter().zip(pairs.chars()).enumerate() {
            let instruction = |text: &str, d: &str, n: &str| text.replace("{d}", d).replace("{n}", n) + "\n";
            let code = instruction(&older[1], "r0", "r1") + &instruction(&younger[1], "r2", "r3");
            let cycles = sequence(&format!("m7-operands-{row}-{column}"), "", 1, &code);
            assert_eq!(cycles == 1, pair == '+', "{} before {}: {cycles}", older[0], younger[0]);
        }
    }
}

/// Cycles of a loop of a thousand turns from label 1 on, as the page's template counts them. The
/// model reads CYCCNT before it issues the load: both loads are the older of two here, where the
/// page's second one is the younger, and a cycle more is taken off.
fn thousand_turns(name: &str, code: &str) -> u64 {
    let program = format!(
        "ldr r4, =0xe000edfc\nmov.w r5, #0x01000000\nstr r5, [r4]\nldr r4, =0xe0001000\nmovs r5, #1\nstr r5, [r4]
        movs.w r9, #1000\nb.w 2f\n.ltorg\n.balign 8\n2: dsb\nisb\nnop.w\nnop.w
        ldr.w r10, [r4, #4]\nnop.w\n1: {}\nnop.w\nnop.w\nldr.w r9, [r4, #4]\nsubs r0, r9, r10\nsubs r0, #2",
        lines(code)
    );
    let mut machine = m7(name, &program);
    finish(machine.as_mut(), code);
    machine.registers().into_iter().find(|(name, _)| name == "r0").expect("r0").1.into()
}

#[test]
fn cortex_m7_loops() {
    let facts = m7_facts();
    for (index, fact) in facts.loops.iter().enumerate() {
        assert_eq!(fact.check(thousand_turns(&format!("m7-loop-{index}"), &fact.code)), None);
    }
    for (index, fact) in facts.turn.iter().enumerate() {
        let cycles = thousand_turns(&format!("m7-turn-{index}"), &fact.code);
        assert_eq!((2 * cycles + 500) / 1000, fact.half_cycles, "{}: {} ({cycles})", fact.page, fact.text);
    }
}
