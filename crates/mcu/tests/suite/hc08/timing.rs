//! The 68HC08's map of cycles against sdcc's assembler.
//!
//! Others wrote the assembler. Its listing has the cycles of each instruction: every form of every
//! instruction is compared.

use mcu::cores::hc08::timing;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::Command;

/// Every instruction in every addressing mode, as `sdas6808` writes them.
fn instructions() -> Vec<String> {
    let mut lines = Vec::new();
    let mut add = |mnemonic: &str, operands: &[&str]| {
        lines.extend(operands.iter().map(|operand| format!("{mnemonic} {operand}")));
    };
    const IMMEDIATE: &[&str] = &["#0x12"];
    const JUMPS: &[&str] = &["*0x12", "0x1234", "0x1234,x", "0x12,x", ",x"];
    const STACK: &[&str] = &["0x1234,s", "0x12,s"];
    for mnemonic in ["sub", "cmp", "sbc", "cpx", "and", "bit", "lda", "eor", "adc", "ora", "add", "ldx"] {
        add(mnemonic, IMMEDIATE);
        add(mnemonic, JUMPS);
        add(mnemonic, STACK);
    }
    for mnemonic in ["sta", "stx"] {
        add(mnemonic, JUMPS);
        add(mnemonic, STACK);
    }
    for mnemonic in ["jmp", "jsr"] {
        add(mnemonic, JUMPS);
    }
    for mnemonic in ["ais", "aix"] {
        add(mnemonic, IMMEDIATE);
    }
    for mnemonic in ["neg", "com", "lsr", "ror", "asr", "lsl", "rol", "dec", "inc", "tst", "clr"] {
        add(mnemonic, &["*0x12", "0x12,x", ",x", "0x12,s"]);
        add(&format!("{mnemonic}a"), &[""]);
        add(&format!("{mnemonic}x"), &[""]);
    }
    for mnemonic in [
        "bra", "brn", "bhi", "bls", "bcc", "bcs", "bne", "beq", "bhcc", "bhcs", "bpl", "bmi", "bmc", "bms",
        "bil", "bih", "bsr", "bge", "blt", "bgt", "ble", "dbnza", "dbnzx",
    ] {
        add(mnemonic, &["."]);
    }
    for bit in 0..8 {
        add("brset", &[&format!("#{bit},*0x12,.")]);
        add("brclr", &[&format!("#{bit},*0x12,.")]);
        add("bset", &[&format!("#{bit},*0x12")]);
        add("bclr", &[&format!("#{bit},*0x12")]);
    }
    add("cbeq", &["*0x12,.", "0x12,x+,.", ",x+,.", "0x12,s,."]);
    add("cbeqa", &["#0x12,."]);
    add("cbeqx", &["#0x12,."]);
    add("dbnz", &["*0x12,.", "0x12,x,.", ",x,.", "0x12,s,."]);
    add("mov", &["*0x12,*0x34", "*0x12,x+", "#0x12,*0x34", ",x+,*0x12"]);
    for mnemonic in ["ldhx", "cphx"] {
        add(mnemonic, &["#0x1234", "*0x12"]);
    }
    add("sthx", &["*0x12"]);
    for mnemonic in [
        "mul", "div", "nsa", "daa", "rti", "rts", "swi", "tap", "tpa", "pula", "psha", "pulx", "pshx",
        "pulh", "pshh", "clrh", "stop", "wait", "txs", "tsx", "tax", "clc", "sec", "cli", "sei", "rsp",
        "nop", "txa",
    ] {
        add(mnemonic, &[""]);
    }
    lines
}

#[test]
fn every_instruction_takes_the_cycles_of_sdccs_assembler() {
    let folder =
        PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("hc08_timing_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("folder");
    let source: String = instructions().iter().map(|line| format!("\t{line}\n")).collect();
    std::fs::write(folder.join("all.asm"), format!("\t.area CODE\n{source}")).expect("source");
    let assembled = Command::new("sdas6808").args(["-los", "all.asm"]).current_dir(&folder).output();
    let assembled = assembled.expect("sdas6808, of the package sdcc");
    assert!(assembled.status.success(), "{}", String::from_utf8_lossy(&assembled.stderr));
    let listing = std::fs::read_to_string(folder.join("all.lst")).expect("listing");
    std::fs::remove_dir_all(&folder).expect("folder");

    let mut seen = BTreeSet::new();
    // `   000D 9E D0 12 34   [ 5]    8 	sub 0x1234,s`
    for line in listing.lines() {
        let Some((bytes, (cycles, text))) =
            line.split_once('[').and_then(|(bytes, rest)| Some((bytes, rest.split_once(']')?)))
        else {
            continue;
        };
        let Ok(cycles) = cycles.trim().parse() else { continue };
        let mut bytes = bytes.split_whitespace().skip(1);
        let mut byte = || u16::from_str_radix(bytes.next().expect("byte"), 16).expect("hexadecimal");
        let mut opcode = byte();
        if opcode == 0x9e {
            opcode = opcode << 8 | byte();
        }
        assert_eq!(timing::cycles(opcode), Some(cycles), "{opcode:04x}: {text}");
        assert!(seen.insert(opcode), "{opcode:04x} twice");
    }
    // The whole map.
    assert_eq!(seen.len(), 290);
}
