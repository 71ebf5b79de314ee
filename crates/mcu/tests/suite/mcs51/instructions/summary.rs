//! Bytes and oscillator periods of every opcode.

use super::*;

/// The manual's table "8051 Instruction Set Summary", row by row: opcodes, bytes, oscillator
/// periods.
const SUMMARY: &[(&str, &[std::ops::RangeInclusive<u8>], u32, u64)] = &[
    ("ADD A,Rn", &[0x28..=0x2f], 1, 12),
    ("ADD A,direct", &[0x25..=0x25], 2, 12),
    ("ADD A,@Ri", &[0x26..=0x27], 1, 12),
    ("ADD A,#data", &[0x24..=0x24], 2, 12),
    ("ADDC A,Rn", &[0x38..=0x3f], 1, 12),
    ("ADDC A,direct", &[0x35..=0x35], 2, 12),
    ("ADDC A,@Ri", &[0x36..=0x37], 1, 12),
    ("ADDC A,#data", &[0x34..=0x34], 2, 12),
    ("SUBB A,Rn", &[0x98..=0x9f], 1, 12),
    ("SUBB A,direct", &[0x95..=0x95], 2, 12),
    ("SUBB A,@Ri", &[0x96..=0x97], 1, 12),
    ("SUBB A,#data", &[0x94..=0x94], 2, 12),
    ("INC A", &[0x04..=0x04], 1, 12),
    ("INC Rn", &[0x08..=0x0f], 1, 12),
    ("INC direct", &[0x05..=0x05], 2, 12),
    ("INC @Ri", &[0x06..=0x07], 1, 12),
    ("DEC A", &[0x14..=0x14], 1, 12),
    ("DEC Rn", &[0x18..=0x1f], 1, 12),
    ("DEC direct", &[0x15..=0x15], 2, 12),
    ("DEC @Ri", &[0x16..=0x17], 1, 12),
    ("INC DPTR", &[0xa3..=0xa3], 1, 24),
    ("MUL AB", &[0xa4..=0xa4], 1, 48),
    ("DIV AB", &[0x84..=0x84], 1, 48),
    ("DA A", &[0xd4..=0xd4], 1, 12),
    ("ANL A,Rn", &[0x58..=0x5f], 1, 12),
    ("ANL A,direct", &[0x55..=0x55], 2, 12),
    ("ANL A,@Ri", &[0x56..=0x57], 1, 12),
    ("ANL A,#data", &[0x54..=0x54], 2, 12),
    ("ANL direct,A", &[0x52..=0x52], 2, 12),
    ("ANL direct,#data", &[0x53..=0x53], 3, 24),
    ("ORL A,Rn", &[0x48..=0x4f], 1, 12),
    ("ORL A,direct", &[0x45..=0x45], 2, 12),
    ("ORL A,@Ri", &[0x46..=0x47], 1, 12),
    ("ORL A,#data", &[0x44..=0x44], 2, 12),
    ("ORL direct,A", &[0x42..=0x42], 2, 12),
    ("ORL direct,#data", &[0x43..=0x43], 3, 24),
    ("XRL A,Rn", &[0x68..=0x6f], 1, 12),
    ("XRL A,direct", &[0x65..=0x65], 2, 12),
    ("XRL A,@Ri", &[0x66..=0x67], 1, 12),
    ("XRL A,#data", &[0x64..=0x64], 2, 12),
    ("XRL direct,A", &[0x62..=0x62], 2, 12),
    ("XRL direct,#data", &[0x63..=0x63], 3, 24),
    ("CLR A", &[0xe4..=0xe4], 1, 12),
    ("CPL A", &[0xf4..=0xf4], 1, 12),
    ("RL A", &[0x23..=0x23], 1, 12),
    ("RLC A", &[0x33..=0x33], 1, 12),
    ("RR A", &[0x03..=0x03], 1, 12),
    ("RRC A", &[0x13..=0x13], 1, 12),
    ("SWAP A", &[0xc4..=0xc4], 1, 12),
    ("MOV A,Rn", &[0xe8..=0xef], 1, 12),
    ("MOV A,direct", &[0xe5..=0xe5], 2, 12),
    ("MOV A,@Ri", &[0xe6..=0xe7], 1, 12),
    ("MOV A,#data", &[0x74..=0x74], 2, 12),
    ("MOV Rn,A", &[0xf8..=0xff], 1, 12),
    ("MOV Rn,direct", &[0xa8..=0xaf], 2, 24),
    ("MOV Rn,#data", &[0x78..=0x7f], 2, 12),
    ("MOV direct,A", &[0xf5..=0xf5], 2, 12),
    ("MOV direct,Rn", &[0x88..=0x8f], 2, 24),
    ("MOV direct,direct", &[0x85..=0x85], 3, 24),
    ("MOV direct,@Ri", &[0x86..=0x87], 2, 24),
    ("MOV direct,#data", &[0x75..=0x75], 3, 24),
    ("MOV @Ri,A", &[0xf6..=0xf7], 1, 12),
    ("MOV @Ri,direct", &[0xa6..=0xa7], 2, 24),
    ("MOV @Ri,#data", &[0x76..=0x77], 2, 12),
    ("MOV DPTR,#data16", &[0x90..=0x90], 3, 24),
    ("MOVC A,@A+DPTR", &[0x93..=0x93], 1, 24),
    ("MOVC A,@A+PC", &[0x83..=0x83], 1, 24),
    ("MOVX A,@Ri", &[0xe2..=0xe3], 1, 24),
    ("MOVX A,@DPTR", &[0xe0..=0xe0], 1, 24),
    ("MOVX @Ri,A", &[0xf2..=0xf3], 1, 24),
    ("MOVX @DPTR,A", &[0xf0..=0xf0], 1, 24),
    ("PUSH direct", &[0xc0..=0xc0], 2, 24),
    ("POP direct", &[0xd0..=0xd0], 2, 24),
    ("XCH A,Rn", &[0xc8..=0xcf], 1, 12),
    ("XCH A,direct", &[0xc5..=0xc5], 2, 12),
    ("XCH A,@Ri", &[0xc6..=0xc7], 1, 12),
    ("XCHD A,@Ri", &[0xd6..=0xd7], 1, 12),
    ("CLR C", &[0xc3..=0xc3], 1, 12),
    ("CLR bit", &[0xc2..=0xc2], 2, 12),
    ("SETB C", &[0xd3..=0xd3], 1, 12),
    ("SETB bit", &[0xd2..=0xd2], 2, 12),
    ("CPL C", &[0xb3..=0xb3], 1, 12),
    ("CPL bit", &[0xb2..=0xb2], 2, 12),
    ("ANL C,bit", &[0x82..=0x82], 2, 24),
    ("ANL C,/bit", &[0xb0..=0xb0], 2, 24),
    ("ORL C,bit", &[0x72..=0x72], 2, 24),
    ("ORL C,/bit", &[0xa0..=0xa0], 2, 24),
    ("MOV C,bit", &[0xa2..=0xa2], 2, 12),
    ("MOV bit,C", &[0x92..=0x92], 2, 24),
    ("JC rel", &[0x40..=0x40], 2, 24),
    ("JNC rel", &[0x50..=0x50], 2, 24),
    ("JB bit,rel", &[0x20..=0x20], 3, 24),
    ("JNB bit,rel", &[0x30..=0x30], 3, 24),
    ("JBC bit,rel", &[0x10..=0x10], 3, 24),
    (
        "ACALL addr11",
        &[
            0x11..=0x11,
            0x31..=0x31,
            0x51..=0x51,
            0x71..=0x71,
            0x91..=0x91,
            0xb1..=0xb1,
            0xd1..=0xd1,
            0xf1..=0xf1,
        ],
        2,
        24,
    ),
    ("LCALL addr16", &[0x12..=0x12], 3, 24),
    ("RET", &[0x22..=0x22], 1, 24),
    ("RETI", &[0x32..=0x32], 1, 24),
    (
        "AJMP addr11",
        &[
            0x01..=0x01,
            0x21..=0x21,
            0x41..=0x41,
            0x61..=0x61,
            0x81..=0x81,
            0xa1..=0xa1,
            0xc1..=0xc1,
            0xe1..=0xe1,
        ],
        2,
        24,
    ),
    ("LJMP addr16", &[0x02..=0x02], 3, 24),
    ("SJMP rel", &[0x80..=0x80], 2, 24),
    ("JMP @A+DPTR", &[0x73..=0x73], 1, 24),
    ("JZ rel", &[0x60..=0x60], 2, 24),
    ("JNZ rel", &[0x70..=0x70], 2, 24),
    ("CJNE A,direct,rel", &[0xb5..=0xb5], 3, 24),
    ("CJNE A,#data,rel", &[0xb4..=0xb4], 3, 24),
    ("CJNE Rn,#data,rel", &[0xb8..=0xbf], 3, 24),
    ("CJNE @Ri,#data,rel", &[0xb6..=0xb7], 3, 24),
    ("DJNZ Rn,rel", &[0xd8..=0xdf], 2, 24),
    ("DJNZ direct,rel", &[0xd5..=0xd5], 3, 24),
    ("NOP", &[0x00..=0x00], 1, 12),
];

#[test]
fn every_opcode_has_the_bytes_and_periods_of_the_summary() {
    let opcodes = || SUMMARY.iter().flat_map(|row| row.1.iter().cloned().flatten());
    let mut seen: Vec<u8> = opcodes().collect();
    seen.sort_unstable();
    assert_eq!(seen, (0..=0xff).filter(|opcode| *opcode != 0xa5).collect::<Vec<u8>>());
    let goes_elsewhere = |name: &str| {
        ["ACALL", "LCALL", "RET", "AJMP", "LJMP", "SJMP", "JMP"].iter().any(|jump| name.starts_with(jump))
    };
    for (name, ranges, bytes, periods) in SUMMARY {
        for opcode in ranges.iter().cloned().flatten() {
            // The operands are in the internal RAM, a branch that is taken goes to the next
            // instruction but one.
            for (a, carry, bits) in [(0u32, 0, 0x00u8), (1, CY, 0xff)] {
                let cpu = Cpu::new(&[opcode, 0x40, 0x01]);
                let mut cpu = cpu
                    .set("a", a)
                    .set("b", 3)
                    .set("psw", carry)
                    .set("sp", 0x60)
                    .put(INTERNAL + 0x28, &[bits]);
                for number in 0..8 {
                    cpu = cpu.set(&format!("r{number}"), 0x40);
                }
                let cpu = cpu.run(1);
                assert_eq!(cpu.0.cycles() * 12, *periods, "{name}");
                let length = cpu.get("pc").wrapping_sub(PC);
                let branched = [bytes + 0x40, bytes + 0x01].contains(&length);
                assert!(goes_elsewhere(name) || length == *bytes || branched, "{name}: {length} bytes");
            }
        }
    }
}
