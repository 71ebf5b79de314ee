//! Lengths of instructions, by their first bytes.

use mcu::{CoreName, Mcu};

/// Bytes of an 8051's instruction by its opcode: a row for each upper nibble, as
/// `mcu`'s `mcs51::timing` has them from the MCS-51 User's Manual.
const MCS51: [&[u8; 16]; 16] = [
    b"1231121111111111",
    b"3231121111111111",
    b"3211221111111111",
    b"3211221111111111",
    b"2223221111111111",
    b"2223221111111111",
    b"2223221111111111",
    b"2221232222222222",
    b"2221132222222222",
    b"3221221111111111",
    b"2221112222222222",
    b"2221333333333333",
    b"2221121111111111",
    b"2221131122222222",
    b"1211121111111111",
    b"1211121111111111",
];

/// Returns the bytes of the instruction at an address; none where there is no memory, or no
/// instruction of an R8C or HC08.
pub(super) fn length(machine: &dyn Mcu, core: CoreName, pc: u32) -> Option<u32> {
    if matches!(core, CoreName::R8c | CoreName::Hc08) {
        return machine.instruction_length(pc);
    }
    let mut bytes = [0; 4];
    // The last instruction of a memory may be shorter.
    let read = [4, 2, 1].into_iter().find(|size| machine.peek(pc, &mut bytes[..*size]))?;
    let length = of_bytes(core, bytes)?;
    (length <= 4 || read == 4).then_some(length)
}

fn of_bytes(core: CoreName, bytes: [u8; 4]) -> Option<u32> {
    let [first, second] = [[bytes[0], bytes[1]], [bytes[2], bytes[3]]].map(u16::from_le_bytes);
    Some(match core {
        CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6 => avr(first),
        CoreName::CortexM0
        | CoreName::CortexM0Plus
        | CoreName::CortexM3
        | CoreName::CortexM4
        | CoreName::CortexM7 => thumb(first),
        CoreName::QingkeV2 => 2 + 2 * u32::from(first & 3 == 3),
        CoreName::Msp430x if first & 0xf800 == 0x1800 => 2 + msp430(second),
        CoreName::Msp430x => msp430(first),
        CoreName::Mcs51 => u32::from(MCS51[usize::from(bytes[0] >> 4)][usize::from(bytes[0] & 15)] - b'0'),
        // Their operands decide: the model tells.
        CoreName::R8c | CoreName::Hc08 => return None,
    })
}

/// JMP and CALL, LDS and STS have two words: AVR Instruction Set Manual, DS40002198.
fn avr(word: u16) -> u32 {
    if word & 0xfe0c == 0x940c || word & 0xfc0f == 0x9000 { 4 } else { 2 }
}

/// A first halfword from 0xe800 on has a second one: DDI 0403E, section A5.1.
fn thumb(halfword: u16) -> u32 {
    if halfword >= 0xe800 { 4 } else { 2 }
}

/// Bytes without the extension word: SLAU208, chapter CPUX, "MSP430 and MSP430X Instructions".
fn msp430(word: u16) -> u32 {
    let operand = |register: u16, mode: u16| match (register, mode) {
        (3, _) | (2, 2 | 3) | (_, 0 | 2) => 0,
        (0, 3) | (_, 1) => 2,
        _ => 0,
    };
    let identifier = word >> 4 & 15;
    2 + match word >> 12 {
        0 if matches!(identifier, 2 | 3 | 6..=11) => 2,
        1 if (0x1340..0x1400).contains(&word) && matches!(identifier, 5 | 8 | 9 | 11) => 2,
        1 if word < 0x1300 => operand(word & 15, word >> 4 & 3),
        4.. => operand(word >> 8 & 15, word >> 4 & 3) + u32::from(word & 0x80 != 0) * 2,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(core: CoreName, words: [u16; 2]) -> u32 {
        let [first, second] = words.map(u16::to_le_bytes);
        of_bytes(core, [first[0], first[1], second[0], second[1]]).expect("a known core")
    }

    #[test]
    fn length_is_that_of_the_manuals() {
        // LDS, STS, JMP, CALL; LDI, LD, RET.
        let avr = [0x9180, 0x9380, 0x940c, 0x940e, 0xe080, 0x9181, 0x9508];
        assert_eq!(avr.map(|word| length(CoreName::Avr5, [word, 0])), [4, 4, 4, 4, 2, 2, 2]);
        // BL, LDR.W; B, MOVS.
        let thumb = [0xf000, 0xf8d0, 0xe7fe, 0x2001];
        assert_eq!(thumb.map(|word| length(CoreName::CortexM4, [word, 0])), [4, 4, 2, 2]);
        assert_eq!([0x0537, 0x4501].map(|word| length(CoreName::QingkeV2, [word, 0])), [2 + 2, 2]);
        // MOV #imm,&abs; MOV #4,R5; MOV @SP+,PC; CALL #imm; MOVX.A #imm20,&abs; MOVA #imm20,R5;
        // CALLA #imm20; JMP.
        let msp430 = [0x40b2, 0x4225, 0x4130, 0x12b0, 0x0085, 0x13b0, 0x3fff];
        assert_eq!(msp430.map(|word| length(CoreName::Msp430x, [word, 0])), [6, 2, 2, 4, 4, 4, 2]);
        assert_eq!(length(CoreName::Msp430x, [0x1800, 0x40b2]), 8);
        // LJMP, RET, CJNE A,#.
        assert_eq!([0x02, 0x22, 0xb4].map(|word| length(CoreName::Mcs51, [word, 0])), [3, 1, 3]);
    }
}
