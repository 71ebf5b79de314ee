//! Bytes and machine cycles of instructions: the manual's table, as data.
//!
//! Source: Intel, *MCS 51 Microcontroller Family User's Manual* (272383-002), chapter "MCS 51
//! Programmer's Guide and Instruction Set": table "8051 Instruction Set Summary" (bytes and
//! oscillator periods: 12, 24 or 48) and table "Instruction Opcodes in Hexadecimal Order"; compared
//! with the transcription of the former in 8051-timing-db. A machine cycle is twelve oscillator
//! periods. External program and data memory take no time beyond this: the bus has no wait states
//! (chapter "Hardware Description", section "CPU Timing").

/// Bytes of an instruction, by its opcode; 0xA5 is reserved.
#[rustfmt::skip]
pub const BYTES: [u8; 256] = [
//  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f
    1, 2, 3, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0: NOP AJMP LJMP RR INC
    3, 2, 3, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 1: JBC ACALL LCALL RRC DEC
    3, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 2: JB AJMP RET RL ADD
    3, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 3: JNB ACALL RETI RLC ADDC
    2, 2, 2, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 4: JC AJMP ORL
    2, 2, 2, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 5: JNC ACALL ANL
    2, 2, 2, 3, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 6: JZ AJMP XRL
    2, 2, 2, 1, 2, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, // 7: JNZ ACALL ORL-C JMP MOV-#
    2, 2, 2, 1, 1, 3, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, // 8: SJMP AJMP ANL-C MOVC DIV MOV-direct
    3, 2, 2, 1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 9: MOV-DPTR ACALL MOV-bit MOVC SUBB
    2, 2, 2, 1, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, // a: ORL-C/ AJMP MOV-C INC-DPTR MUL - MOV-Rn
    2, 2, 2, 1, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, 3, // b: ANL-C/ ACALL CPL CJNE
    2, 2, 2, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // c: PUSH AJMP CLR SWAP XCH
    2, 2, 2, 1, 1, 3, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, // d: POP ACALL SETB DA DJNZ XCHD
    1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // e: MOVX AJMP CLR MOV-A
    1, 2, 1, 1, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // f: MOVX ACALL CPL MOV-from-A
];

/// Machine cycles of an instruction, by its opcode, whether or not a branch is taken.
#[rustfmt::skip]
pub const CYCLES: [u8; 256] = [
//  0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f
    1, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 0: NOP AJMP LJMP RR INC
    2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 1: JBC ACALL LCALL RRC DEC
    2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 2: JB AJMP RET RL ADD
    2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 3: JNB ACALL RETI RLC ADDC
    2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 4: JC AJMP ORL
    2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 5: JNC ACALL ANL
    2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 6: JZ AJMP XRL
    2, 2, 2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 7: JNZ ACALL ORL-C JMP MOV-#
    2, 2, 2, 2, 4, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, // 8: SJMP AJMP ANL-C MOVC DIV MOV-direct
    2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // 9: MOV-DPTR ACALL MOV-bit MOVC SUBB
    2, 2, 1, 2, 4, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, // a: ORL-C/ AJMP MOV-C INC-DPTR MUL - MOV-Rn
    2, 2, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2, // b: ANL-C/ ACALL CPL CJNE
    2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // c: PUSH AJMP CLR SWAP XCH
    2, 2, 1, 1, 1, 2, 1, 1, 2, 2, 2, 2, 2, 2, 2, 2, // d: POP ACALL SETB DA DJNZ XCHD
    2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // e: MOVX AJMP CLR MOV-A
    2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, // f: MOVX ACALL CPL MOV-from-A
];
