//! The answers of both uCsim simulators are read as they print them.

use std::path::PathBuf;
use testkit::oracles::ucsim::{Answer, Script, Simulator};

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}_{}", std::process::id()))
}

#[test]
fn s51_steps_and_tells_registers_memory_and_clocks() {
    let mut script = Script::new(Simulator::S51);
    // MUL AB; MOV R3,A; MOVX @DPTR,A; SJMP $
    let hex = file("s51_hex").with_extension("ihx");
    std::fs::write(&hex, ":05100000A4FBF080FEDE\n:00000001FF\n").expect("hex file");
    script.load(&hex);
    script.write("sfr", 0xe0, &[200]);
    script.write("sfr", 0xf0, &[7]);
    script.write("sfr", 0x82, &[0x34, 0x12]);
    script.fill("iram", 0, 0x7f, 0x5a);
    script.jump(0x1000);
    script.registers();
    (0..4).for_each(|_| script.step());
    script.read("xram", 0x1234, 1);
    script.read("iram", 2, 20);
    let answers = script.run(&file("s51")).expect("s51");
    std::fs::remove_file(hex).expect("hex file");

    let Answer::Registers(before) = &answers[0] else { panic!("{answers:?}") };
    assert_eq!((before.pc, before.get("a"), before.get("dptr")), (0x1000, Some(200), Some(0x1234)));
    let steps: Vec<_> = answers[1..5]
        .iter()
        .map(|answer| match answer {
            Answer::Step { ticks, registers } => {
                (*ticks, registers.pc, registers.get("a"), registers.get("r3"))
            }
            other => panic!("{other:?}"),
        })
        .collect();
    // 1400 = 0x578.
    let expected = [(48, 0x1001, 0x5a), (12, 0x1002, 0x78), (24, 0x1003, 0x78), (24, 0x1003, 0x78)];
    assert_eq!(steps, expected.map(|(ticks, pc, r3)| (ticks, pc, Some(0x78), Some(r3))));
    assert_eq!(answers[5], Answer::Bytes(vec![0x78]));
    let mut memory = vec![0x5a; 20];
    memory[1] = 0x78;
    assert_eq!(answers[6], Answer::Bytes(memory));
}

#[test]
fn shc08_steps_and_tells_registers_memory_and_cycles() {
    let mut script = Script::new(Simulator::Shc08);
    // MUL; STA $80; BRA to itself
    script.write("rom", 0x9000, &[0x42, 0xb7, 0x80, 0x20, 0xfe]);
    script.write("regs8", 0, &[200]);
    script.write("regs8", 3, &[7]);
    script.write_word("regs16", 0, 0x01fe);
    script.jump(0x9000);
    (0..3).for_each(|_| script.step());
    script.read("rom", 0x80, 1);
    let answers = script.run(&file("shc08")).expect("shc08");

    let Answer::Step { ticks, registers } = &answers[0] else { panic!("{answers:?}") };
    assert_eq!((*ticks, registers.pc), (5, 0x9001));
    assert_eq!(["a", "x", "sp"].map(|name| registers.get(name)), [0x78, 0x05, 0x1fe].map(Some));
    assert_eq!(registers.get("ccr").map(|ccr| ccr & 0x11), Some(0));
    let Answer::Step { ticks, registers } = &answers[2] else { panic!("{answers:?}") };
    assert_eq!((*ticks, registers.pc), (3, 0x9003));
    assert_eq!(answers[3], Answer::Bytes(vec![0x78]));
}
