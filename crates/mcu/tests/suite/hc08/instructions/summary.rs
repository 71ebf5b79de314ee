//! Cycles and bytes of every row of the instruction set summary.

use super::*;

/// A row of the summary: mnemonic, and of each of its forms the opcode, the bytes and the cycles.
type SummaryRow = (&'static str, &'static [(u16, u8, u8)]);

#[rustfmt::skip]
const SUMMARY: &[SummaryRow] = &[
    ("ADC", &[(0xa9, 2, 2), (0xb9, 2, 3), (0xc9, 3, 4), (0xd9, 3, 4), (0xe9, 2, 3), (0xf9, 1, 2), (0x9ee9, 3, 4), (0x9ed9, 4, 5)]),
    ("ADD", &[(0xab, 2, 2), (0xbb, 2, 3), (0xcb, 3, 4), (0xdb, 3, 4), (0xeb, 2, 3), (0xfb, 1, 2), (0x9eeb, 3, 4), (0x9edb, 4, 5)]),
    ("AIS", &[(0xa7, 2, 2)]),
    ("AIX", &[(0xaf, 2, 2)]),
    ("AND", &[(0xa4, 2, 2), (0xb4, 2, 3), (0xc4, 3, 4), (0xd4, 3, 4), (0xe4, 2, 3), (0xf4, 1, 2), (0x9ee4, 3, 4), (0x9ed4, 4, 5)]),
    ("ASL, LSL", &[(0x38, 2, 4), (0x48, 1, 1), (0x58, 1, 1), (0x68, 2, 4), (0x78, 1, 3), (0x9e68, 3, 5)]),
    ("ASR", &[(0x37, 2, 4), (0x47, 1, 1), (0x57, 1, 1), (0x67, 2, 4), (0x77, 1, 3), (0x9e67, 3, 5)]),
    ("BCC, BHS", &[(0x24, 2, 3)]),
    ("BCLR", &[(0x11, 2, 4), (0x13, 2, 4), (0x15, 2, 4), (0x17, 2, 4), (0x19, 2, 4), (0x1b, 2, 4), (0x1d, 2, 4), (0x1f, 2, 4)]),
    ("BCS, BLO", &[(0x25, 2, 3)]),
    ("BEQ", &[(0x27, 2, 3)]),
    ("BGE", &[(0x90, 2, 3)]),
    ("BGT", &[(0x92, 2, 3)]),
    ("BHCC", &[(0x28, 2, 3)]),
    ("BHCS", &[(0x29, 2, 3)]),
    ("BHI", &[(0x22, 2, 3)]),
    ("BIH", &[(0x2f, 2, 3)]),
    ("BIL", &[(0x2e, 2, 3)]),
    ("BIT", &[(0xa5, 2, 2), (0xb5, 2, 3), (0xc5, 3, 4), (0xd5, 3, 4), (0xe5, 2, 3), (0xf5, 1, 2), (0x9ee5, 3, 4), (0x9ed5, 4, 5)]),
    ("BLE", &[(0x93, 2, 3)]),
    ("BLS", &[(0x23, 2, 3)]),
    ("BLT", &[(0x91, 2, 3)]),
    ("BMC", &[(0x2c, 2, 3)]),
    ("BMI", &[(0x2b, 2, 3)]),
    ("BMS", &[(0x2d, 2, 3)]),
    ("BNE", &[(0x26, 2, 3)]),
    ("BPL", &[(0x2a, 2, 3)]),
    ("BRA", &[(0x20, 2, 3)]),
    ("BRCLR", &[(0x01, 3, 5), (0x03, 3, 5), (0x05, 3, 5), (0x07, 3, 5), (0x09, 3, 5), (0x0b, 3, 5), (0x0d, 3, 5), (0x0f, 3, 5)]),
    ("BRN", &[(0x21, 2, 3)]),
    ("BRSET", &[(0x00, 3, 5), (0x02, 3, 5), (0x04, 3, 5), (0x06, 3, 5), (0x08, 3, 5), (0x0a, 3, 5), (0x0c, 3, 5), (0x0e, 3, 5)]),
    ("BSET", &[(0x10, 2, 4), (0x12, 2, 4), (0x14, 2, 4), (0x16, 2, 4), (0x18, 2, 4), (0x1a, 2, 4), (0x1c, 2, 4), (0x1e, 2, 4)]),
    ("BSR", &[(0xad, 2, 4)]),
    ("CBEQ", &[(0x31, 3, 5), (0x41, 3, 4), (0x51, 3, 4), (0x61, 3, 5), (0x71, 2, 4), (0x9e61, 4, 6)]),
    ("CLC", &[(0x98, 1, 1)]),
    ("CLI", &[(0x9a, 1, 2)]),
    ("CLR", &[(0x3f, 2, 3), (0x4f, 1, 1), (0x5f, 1, 1), (0x8c, 1, 1), (0x6f, 2, 3), (0x7f, 1, 2), (0x9e6f, 3, 4)]),
    ("CMP", &[(0xa1, 2, 2), (0xb1, 2, 3), (0xc1, 3, 4), (0xd1, 3, 4), (0xe1, 2, 3), (0xf1, 1, 2), (0x9ee1, 3, 4), (0x9ed1, 4, 5)]),
    ("COM", &[(0x33, 2, 4), (0x43, 1, 1), (0x53, 1, 1), (0x63, 2, 4), (0x73, 1, 3), (0x9e63, 3, 5)]),
    ("CPHX", &[(0x65, 3, 3), (0x75, 2, 4)]),
    ("CPX", &[(0xa3, 2, 2), (0xb3, 2, 3), (0xc3, 3, 4), (0xd3, 3, 4), (0xe3, 2, 3), (0xf3, 1, 2), (0x9ee3, 3, 4), (0x9ed3, 4, 5)]),
    ("DAA", &[(0x72, 1, 2)]),
    ("DBNZ", &[(0x3b, 3, 5), (0x4b, 2, 3), (0x5b, 2, 3), (0x6b, 3, 5), (0x7b, 2, 4), (0x9e6b, 4, 6)]),
    ("DEC", &[(0x3a, 2, 4), (0x4a, 1, 1), (0x5a, 1, 1), (0x6a, 2, 4), (0x7a, 1, 3), (0x9e6a, 3, 5)]),
    ("DIV", &[(0x52, 1, 7)]),
    ("EOR", &[(0xa8, 2, 2), (0xb8, 2, 3), (0xc8, 3, 4), (0xd8, 3, 4), (0xe8, 2, 3), (0xf8, 1, 2), (0x9ee8, 3, 4), (0x9ed8, 4, 5)]),
    ("INC", &[(0x3c, 2, 4), (0x4c, 1, 1), (0x5c, 1, 1), (0x6c, 2, 4), (0x7c, 1, 3), (0x9e6c, 3, 5)]),
    ("JMP", &[(0xbc, 2, 2), (0xcc, 3, 3), (0xdc, 3, 4), (0xec, 2, 3), (0xfc, 1, 2)]),
    ("JSR", &[(0xbd, 2, 4), (0xcd, 3, 5), (0xdd, 3, 6), (0xed, 2, 5), (0xfd, 1, 4)]),
    ("LDA", &[(0xa6, 2, 2), (0xb6, 2, 3), (0xc6, 3, 4), (0xd6, 3, 4), (0xe6, 2, 3), (0xf6, 1, 2), (0x9ee6, 3, 4), (0x9ed6, 4, 5)]),
    ("LDHX", &[(0x45, 3, 3), (0x55, 2, 4)]),
    ("LDX", &[(0xae, 2, 2), (0xbe, 2, 3), (0xce, 3, 4), (0xde, 3, 4), (0xee, 2, 3), (0xfe, 1, 2), (0x9eee, 3, 4), (0x9ede, 4, 5)]),
    ("LSR", &[(0x34, 2, 4), (0x44, 1, 1), (0x54, 1, 1), (0x64, 2, 4), (0x74, 1, 3), (0x9e64, 3, 5)]),
    ("MOV", &[(0x4e, 3, 5), (0x5e, 2, 4), (0x6e, 3, 4), (0x7e, 2, 4)]),
    ("MUL", &[(0x42, 1, 5)]),
    ("NEG", &[(0x30, 2, 4), (0x40, 1, 1), (0x50, 1, 1), (0x60, 2, 4), (0x70, 1, 3), (0x9e60, 3, 5)]),
    ("NOP", &[(0x9d, 1, 1)]),
    ("NSA", &[(0x62, 1, 3)]),
    ("ORA", &[(0xaa, 2, 2), (0xba, 2, 3), (0xca, 3, 4), (0xda, 3, 4), (0xea, 2, 3), (0xfa, 1, 2), (0x9eea, 3, 4), (0x9eda, 4, 5)]),
    ("PSHA", &[(0x87, 1, 2)]),
    ("PSHH", &[(0x8b, 1, 2)]),
    ("PSHX", &[(0x89, 1, 2)]),
    ("PULA", &[(0x86, 1, 2)]),
    ("PULH", &[(0x8a, 1, 2)]),
    ("PULX", &[(0x88, 1, 2)]),
    ("ROL", &[(0x39, 2, 4), (0x49, 1, 1), (0x59, 1, 1), (0x69, 2, 4), (0x79, 1, 3), (0x9e69, 3, 5)]),
    ("ROR", &[(0x36, 2, 4), (0x46, 1, 1), (0x56, 1, 1), (0x66, 2, 4), (0x76, 1, 3), (0x9e66, 3, 5)]),
    ("RSP", &[(0x9c, 1, 1)]),
    ("RTI", &[(0x80, 1, 7)]),
    ("RTS", &[(0x81, 1, 4)]),
    ("SBC", &[(0xa2, 2, 2), (0xb2, 2, 3), (0xc2, 3, 4), (0xd2, 3, 4), (0xe2, 2, 3), (0xf2, 1, 2), (0x9ee2, 3, 4), (0x9ed2, 4, 5)]),
    ("SEC", &[(0x99, 1, 1)]),
    ("SEI", &[(0x9b, 1, 2)]),
    ("STA", &[(0xb7, 2, 3), (0xc7, 3, 4), (0xd7, 3, 4), (0xe7, 2, 3), (0xf7, 1, 2), (0x9ee7, 3, 4), (0x9ed7, 4, 5)]),
    ("STHX", &[(0x35, 2, 4)]),
    ("STOP", &[(0x8e, 1, 1)]),
    ("STX", &[(0xbf, 2, 3), (0xcf, 3, 4), (0xdf, 3, 4), (0xef, 2, 3), (0xff, 1, 2), (0x9eef, 3, 4), (0x9edf, 4, 5)]),
    ("SUB", &[(0xa0, 2, 2), (0xb0, 2, 3), (0xc0, 3, 4), (0xd0, 3, 4), (0xe0, 2, 3), (0xf0, 1, 2), (0x9ee0, 3, 4), (0x9ed0, 4, 5)]),
    ("SWI", &[(0x83, 1, 9)]),
    ("TAP", &[(0x84, 1, 2)]),
    ("TAX", &[(0x97, 1, 1)]),
    ("TPA", &[(0x85, 1, 1)]),
    ("TST", &[(0x3d, 2, 3), (0x4d, 1, 1), (0x5d, 1, 1), (0x6d, 2, 3), (0x7d, 1, 2), (0x9e6d, 3, 4)]),
    ("TSX", &[(0x95, 1, 2)]),
    ("TXA", &[(0x9f, 1, 1)]),
    ("TXS", &[(0x94, 1, 2)]),
    ("WAIT", &[(0x8f, 1, 1)]),
];

#[test]
fn every_row_of_the_summary() {
    let mut seen = std::collections::BTreeSet::new();
    for (mnemonic, forms) in SUMMARY {
        for (opcode, length, cycles) in *forms {
            assert!(seen.insert(*opcode), "{mnemonic}: {opcode:04x} twice");
            let [prefix, opcode] = opcode.to_be_bytes();
            let mut bytes: Vec<u8> = if prefix == 0 { vec![opcode] } else { vec![prefix, opcode] };
            // Direct addresses, offsets and extended addresses in RAM.
            let wide = matches!(opcode >> 4, 0xc | 0xd);
            bytes.extend(if wide { [0x01, 0x20, 0x05] } else { [0x60, 0x61, 0x62] });
            // Taken and not: the time is the same.
            for flags in [0, V | H | I | N | Z | C] {
                let mut bench = Bench::new(&[], &[("h", 1), ("x", 0x20), ("ccr", flags)]);
                bench.poke(PC, &bytes);
                if *mnemonic == "STOP" {
                    // Enabled, which the bench's CONFIG1 is not.
                    let part = Part::from_toml(TARGET).expect("target file");
                    bench.0 = new_machine(&part, 8_000_000).expect("machine");
                    bench.poke(PC, &[0x6e, 0x03, 0x1f, 0x8e]);
                    bench.set("pc", PC);
                    bench.step();
                }
                let (before, pc) = (bench.0.cycles(), bench.0.pc());
                let stop = bench.try_step();
                assert_eq!(stop, Ok(Stop::Cycles), "{mnemonic} {bytes:02x?}");
                assert_eq!(bench.0.cycles() - before, u64::from(*cycles), "{mnemonic} {bytes:02x?}");
                let behind = bench.0.pc().wrapping_sub(pc + u32::from(*length));
                let distance = u32::from(bytes[usize::from(*length) - 1]);
                match *mnemonic {
                    "JMP" | "JSR" | "RTS" | "RTI" | "SWI" => {}
                    "BSR" | "BRA" | "BIH" => assert_eq!(behind, distance, "{bytes:02x?}"),
                    "BSET" | "BCLR" | "BIT" => assert_eq!(behind, 0, "{bytes:02x?}"),
                    "CBEQ" | "DBNZ" => assert!(behind == 0 || behind == distance, "{bytes:02x?}"),
                    branch if branch.starts_with('B') => {
                        assert!(behind == 0 || behind == distance, "{bytes:02x?}");
                    }
                    _ => assert_eq!(behind, 0, "{bytes:02x?}"),
                }
            }
        }
    }
    // The map has 290 instructions.
    assert_eq!(seen.len(), 290);
}
