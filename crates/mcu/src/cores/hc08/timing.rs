//! Bus cycles of instructions: the manual's opcode map, as data.
//!
//! Source: CPU08RM, "Opcode Map"; M68HC08RG, table 3; the data sheets' chapter "Central Processor
//! Unit", table "Opcode Map". A branch takes the same time whether it is taken or not.
//!
//! The reference manual itself could not be had. Most of the map and of the instruction set summary
//! was read in pages of data sheets and in the reference guide; the rest was compared with three
//! transcriptions made by others, which agree with each other and with the pages everywhere but at
//! `JMP ,X`: two of them have the later HCS08's 3 cycles, one has the 2 of the instruction set
//! summary (MC68HC08AZ32A technical data, Rev. 1.0, page 89, which was read). The listings of
//! sdcc's assembler print cycles, too: the same for all 290 instructions
//! (`tests/suite/hc08/timing.rs`).

/// The columns of the map: the opcode's high digit, after the prefix 0x9E where there is one.
///
/// Bit manipulation (0, 1), branches (2), read-modify-write (3 `DIR`, 4 and 5 `INH`, 6 `IX1`, 9E6
/// `SP1`, 7 `IX`), control (8, 9), register and memory (A `IMM`, B `DIR`, C `EXT`, D `IX2`, 9ED
/// `SP2`, E `IX1`, 9EE `SP1`, F `IX`).
const COLUMNS: [u16; 19] = [
    0x00, 0x10, 0x20, 0x30, 0x40, 0x50, 0x60, 0x9e60, 0x70, 0x80, 0x90, 0xa0, 0xb0, 0xc0, 0xd0, 0x9ed0, 0xe0,
    0x9ee0, 0xf0,
];

/// Cycles by the opcode's low digit (rows) and [`COLUMNS`]; 0 where there is no instruction.
#[rustfmt::skip]
const MAP: [[u8; 19]; 16] = [
//   0  1  2   3  4  5  6 9E6 7   8  9   A  B  C  D 9ED E 9EE F
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  7, 3,  2, 3, 4, 4, 5, 3, 4, 2], // 0: NEG; RTI, BGE; SUB
    [5, 4, 3,  5, 4, 4, 5, 6, 4,  4, 3,  2, 3, 4, 4, 5, 3, 4, 2], // 1: CBEQ; RTS, BLT; CMP
    [5, 4, 3,  0, 5, 7, 3, 0, 2,  0, 3,  2, 3, 4, 4, 5, 3, 4, 2], // 2: MUL, DIV, NSA, DAA; BGT; SBC
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  9, 3,  2, 3, 4, 4, 5, 3, 4, 2], // 3: COM; SWI, BLE; CPX
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  2, 2,  2, 3, 4, 4, 5, 3, 4, 2], // 4: LSR; TAP, TXS; AND
    [5, 4, 3,  4, 3, 4, 3, 0, 4,  1, 2,  2, 3, 4, 4, 5, 3, 4, 2], // 5: STHX, LDHX, LDHX, CPHX, CPHX; TPA, TSX; BIT
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  2, 0,  2, 3, 4, 4, 5, 3, 4, 2], // 6: ROR; PULA; LDA
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  2, 1,  2, 3, 4, 4, 5, 3, 4, 2], // 7: ASR; PSHA, TAX; AIS, STA
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  2, 1,  2, 3, 4, 4, 5, 3, 4, 2], // 8: LSL; PULX, CLC; EOR
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  2, 1,  2, 3, 4, 4, 5, 3, 4, 2], // 9: ROL; PSHX, SEC; ADC
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  2, 2,  2, 3, 4, 4, 5, 3, 4, 2], // A: DEC; PULH, CLI; ORA
    [5, 4, 3,  5, 3, 3, 5, 6, 4,  2, 2,  2, 3, 4, 4, 5, 3, 4, 2], // B: DBNZ; PSHH, SEI; ADD
    [5, 4, 3,  4, 1, 1, 4, 5, 3,  1, 1,  0, 2, 3, 4, 0, 3, 0, 2], // C: INC; CLRH, RSP; JMP
    [5, 4, 3,  3, 1, 1, 3, 4, 2,  0, 1,  4, 4, 5, 6, 0, 5, 0, 4], // D: TST; NOP; BSR, JSR
    [5, 4, 3,  0, 5, 4, 4, 0, 4,  1, 0,  2, 3, 4, 4, 5, 3, 4, 2], // E: MOV; STOP; LDX
    [5, 4, 3,  3, 1, 1, 3, 4, 2,  1, 1,  2, 3, 4, 4, 5, 3, 4, 2], // F: CLR; WAIT, TXA; AIX, STX
];

/// Bus cycles of the instruction with this opcode, the prefix 0x9E in the high byte where it has
/// one; `None` where the processor has no such instruction.
#[must_use]
pub fn cycles(opcode: u16) -> Option<u8> {
    let column = COLUMNS.iter().position(|column| *column == opcode & 0xfff0)?;
    Some(MAP[usize::from(opcode & 15)][column]).filter(|cycles| *cycles != 0)
}
