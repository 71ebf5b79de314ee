//! Calls, returns and interrupts as observers see them.

use super::*;
use mcu::{Access, AccessKind, Flow, Observer, Step};

#[derive(Default)]
struct Log {
    steps: Vec<Step>,
    accesses: Vec<(u32, u8, AccessKind, u64)>,
}

impl Observer for Log {
    fn step(&mut self, step: &Step) {
        self.steps.push(*step);
    }
    fn access(&mut self, access: &Access) {
        self.accesses.push((access.address, access.size, access.kind, access.value));
    }
}

fn observed(bench: &mut Bench, instructions: usize) -> Log {
    let mut log = Log::default();
    while log.steps.len() < instructions {
        let until = Until { cycles: Some(bench.0.cycles() + 1), addresses: Vec::new() };
        let mut one = Log::default();
        assert_eq!(bench.0.run_observed(&until, &mut one), Ok(Stop::Cycles));
        log.steps.append(&mut one.steps);
        log.accesses.append(&mut one.accesses);
    }
    log
}

#[test]
fn calls_and_returns_are_told() {
    // BSR +2; NOP; BRA *-1; JSR ,X at the target; RTS behind it.
    let mut bench = Bench::new(&[0xad, 0x02, 0x9d, 0x9d, 0xfd, 0x81], &[("h", 0x80), ("x", 0x20)]);
    bench.poke(0x8020, &[0x81]);
    let until = Until { cycles: None, addresses: vec![PC + 3] };
    let mut log = Log::default();
    assert_eq!(bench.0.run_observed(&until, &mut log), Ok(Stop::Address(PC + 3)));
    let flows: Vec<(u32, Flow)> = log.steps.iter().map(|step| (step.pc, step.flow)).collect();
    assert_eq!(
        flows,
        [
            (PC, Flow::Start),
            (PC + 4, Flow::Call { return_to: PC + 2 }),
            (0x8020, Flow::Call { return_to: PC + 5 }),
            (PC + 5, Flow::Return),
            (PC + 2, Flow::Return),
        ]
    );
    assert_eq!(log.steps[1].sp, 0x2fe);
    assert_eq!(
        log.accesses,
        [
            (0x2ff, 2, AccessKind::Write, 0x8002),
            (0x2fd, 2, AccessKind::Write, 0x8005),
            (0x2fd, 2, AccessKind::Read, 0x8005),
            (0x2ff, 2, AccessKind::Read, 0x8002),
        ]
    );
    // Low byte pushed first: high byte first in memory.
    assert_eq!((bench.byte(0x2ff), bench.byte(0x300)), (0x80, 0x02));
}

#[test]
fn a_software_interrupt_stacks_all_but_h() {
    let registers = [("a", 0x11), ("x", 0x22), ("h", 0x33), ("ccr", V | C)];
    let mut bench = Bench::new(&[0x83], &registers);
    bench.poke(0xfffc, &[0x90, 0x00]);
    bench.poke(0x9000, &[0x80]);
    let before = bench.0.cycles();
    let log = observed(&mut bench, 1);
    assert_eq!(log.steps[0].flow, Flow::Start);
    assert_eq!(["pc", "sp", "ccr"].map(|name| bench.get(name)), [0x9000, 0x2fb, ONES | V | I | C]);
    let stacked: Vec<u8> = (0x2fc..0x301).map(|address| bench.byte(address)).collect();
    assert_eq!(stacked, [0xe1, 0x11, 0x22, 0x80, 0x01]);
    for (name, value) in [("a", 0), ("x", 0), ("h", 0x44)] {
        bench.set(name, value);
    }
    assert_eq!(bench.after(["pc", "sp", "a", "x", "h"]), [0x8001, 0x300, 0x11, 0x22, 0x44]);
    assert_eq!(bench.get("ccr"), ONES | V | C);
    assert_eq!(bench.0.cycles() - before, 9 + 7);
    // Both ways are told, within one run.
    let mut bench = Bench::new(&[0x83, 0x9d], &registers);
    bench.poke(0xfffc, &[0x90, 0x00]);
    bench.poke(0x9000, &[0x80]);
    let mut log = Log::default();
    let until = Until { cycles: None, addresses: vec![PC + 2] };
    assert_eq!(bench.0.run_observed(&until, &mut log), Ok(Stop::Address(PC + 2)));
    let flows: Vec<Flow> = log.steps.iter().map(|step| step.flow).collect();
    assert_eq!(flows, [Flow::Start, Flow::Interrupt { return_to: PC + 1 }, Flow::InterruptReturn]);
}
