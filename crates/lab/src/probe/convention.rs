//! The C calling conventions: where a caller puts integers and addresses, and where it finds what
//! comes back.
//!
//! AVR: avr-gcc's ABI ("Calling Convention"). ARM: AAPCS32, 6.1.1 and 6.5, without floating point.
//! MSP430: SLAA534, 3.3, small code model. RISC-V: the psABI's integer convention, ILP32E.

use firmware::CType;
use mcu::CoreName;

/// An argument: a number of 1, 2, 4 or 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Value {
    pub bytes: u8,
    /// Its two's complement, extended to all 64 bits by its sign.
    pub bits: u64,
}

impl Value {
    /// As who calls a function makes it an argument of the function's type, of the same width:
    /// extended by that one's sign.
    pub fn converted(self, built: Option<CType>) -> Value {
        match built {
            Some(CType::Integer { bytes, signed }) => {
                Value { bits: number_of(self.bits, bytes, signed) as u64, ..self }
            }
            _ => self,
        }
    }
}

/// Places of a call's arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Placement {
    pub registers: Vec<(&'static str, u32)>,
    /// Contents of the stack when the function begins, from its lowest address on.
    pub stack: Vec<u8>,
}

/// Calling convention of a core's compilers.
pub(super) struct Convention {
    rule: Rule,
    /// Bytes of an address.
    pub pointer: u8,
    /// Alignment of the stack pointer when a function begins.
    pub stack_alignment: u32,
    /// The bits of the status register, by its name, that a function may leave otherwise than it
    /// found them.
    pub status: (&'static str, u32),
    /// Registers that belong to the machine and not to who runs on it.
    pub machine_registers: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Rule {
    Avr,
    Words {
        registers: &'static [&'static str],
        /// Bytes of a register that are used.
        word: u8,
        long: Long,
    },
}

/// A number of several words, where not all of it finds a register.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Long {
    /// AAPCS, C.3 to C.6: eight bytes begin at an even register, or a multiple of 8 on the stack,
    /// behind which no argument has a register.
    Aligned,
    /// It begins in the last register and goes on on the stack.
    Split,
    /// As [`Long::Split`], for two words. Compilers disagree whether smaller arguments behind four
    /// words on the stack still have registers.
    SplitPair,
}

/// r25 down to r8, each argument from an even register on.
static AVR_REGISTERS: [&str; 26] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15",
    "r16", "r17", "r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25",
];

impl Convention {
    /// That of a core; `None` where there is none that is known.
    pub fn of(core: CoreName) -> Option<Convention> {
        let convention = match core {
            CoreName::Avr25 | CoreName::Avr5 | CoreName::Avr51 | CoreName::Avr6 => Convention {
                rule: Rule::Avr,
                pointer: 2,
                stack_alignment: 1,
                // I.
                status: ("sreg", 0x80),
                machine_registers: &[],
            },
            CoreName::CortexM0
            | CoreName::CortexM0Plus
            | CoreName::CortexM3
            | CoreName::CortexM4
            | CoreName::CortexM7 => Convention {
                rule: Rule::Words { registers: &["r0", "r1", "r2", "r3"], word: 4, long: Long::Aligned },
                pointer: 4,
                stack_alignment: 8,
                status: ("xpsr", 0),
                machine_registers: &[],
            },
            CoreName::Msp430x => Convention {
                rule: Rule::Words {
                    registers: &["r12", "r13", "r14", "r15"],
                    word: 2,
                    long: Long::SplitPair,
                },
                pointer: 2,
                stack_alignment: 2,
                // GIE.
                status: ("sr", 0x08),
                machine_registers: &[],
            },
            CoreName::QingkeV2 => Convention {
                rule: Rule::Words {
                    registers: &["a0", "a1", "a2", "a3", "a4", "a5"],
                    word: 4,
                    long: Long::Split,
                },
                pointer: 4,
                stack_alignment: 4,
                status: ("mstatus", u32::MAX),
                machine_registers: &["mtvec", "mscratch", "mepc", "mcause"],
            },
            CoreName::R8c | CoreName::Mcs51 | CoreName::Hc08 => return None,
        };
        Some(convention)
    }

    /// Returns the places of these arguments.
    ///
    /// # Errors
    /// A sentence where compilers disagree.
    pub fn place(&self, arguments: &[Value]) -> Result<Placement, String> {
        match self.rule {
            Rule::Avr => Ok(place_avr(arguments)),
            Rule::Words { registers, word, long } => place_words(arguments, registers, word, long),
        }
    }

    /// Returns the registers of a result of `bytes` bytes, the least significant first, and the
    /// bytes that are used of each.
    pub fn result(&self, bytes: u8) -> (&'static [&'static str], u8) {
        match self.rule {
            Rule::Avr => {
                let first = match bytes {
                    0..=2 => 24,
                    3..=4 => 22,
                    _ => 18,
                };
                (&AVR_RESULTS[first - 18..][..usize::from(bytes)], 1)
            }
            Rule::Words { registers, word, .. } => (&registers[..usize::from(bytes.div_ceil(word))], word),
        }
    }

    /// Returns the pointer to an address; `code` says that a function is there. `None` where no
    /// pointer of this width reaches it.
    pub fn pointer_to(&self, address: u32, code: bool) -> Option<u32> {
        match self.rule {
            // Data are from 0x800000 on, the EEPROM from 0x810000; a function's pointer counts
            // words.
            Rule::Avr if code => u16::try_from(address / 2).ok().map(u32::from),
            Rule::Avr if address < 0x80_0000 => u16::try_from(address).ok().map(u32::from),
            Rule::Avr => Some(address & 0xffff),
            // Thumb.
            Rule::Words { long: Long::Aligned, .. } if code => Some(address | 1),
            Rule::Words { word: 2, .. } => u16::try_from(address).ok().map(u32::from),
            Rule::Words { .. } => Some(address),
        }
    }
}

static AVR_RESULTS: [&str; 8] = ["r18", "r19", "r20", "r21", "r22", "r23", "r24", "r25"];

fn place_avr(arguments: &[Value]) -> Placement {
    let mut placement = Placement::default();
    let mut next = AVR_REGISTERS.len();
    for argument in arguments {
        let bytes = argument.bits.to_le_bytes();
        let bytes = &bytes[..usize::from(argument.bytes)];
        // Behind the first argument on the stack no other has registers.
        let first = next.checked_sub(bytes.len().next_multiple_of(2)).filter(|first| *first >= 8);
        next = first.unwrap_or(0);
        match first {
            Some(first) => {
                let registers = AVR_REGISTERS[first..].iter().copied();
                placement.registers.extend(registers.zip(bytes.iter().copied().map(u32::from)));
            }
            None => placement.stack.extend(bytes),
        }
    }
    placement
}

fn place_words(
    arguments: &[Value],
    registers: &'static [&'static str],
    word: u8,
    long: Long,
) -> Result<Placement, String> {
    let size = usize::from(word);
    let mut placement = Placement::default();
    let mut free = registers.iter().copied();
    for argument in arguments {
        let words = usize::from(argument.bytes).div_ceil(size);
        let left = free.len();
        if long == Long::Aligned && words == 2 {
            if left % 2 == 1 {
                free.next();
            }
            if free.len() < 2 {
                free.by_ref().for_each(drop);
                let aligned = placement.stack.len().next_multiple_of(8);
                placement.stack.resize(aligned, 0);
            }
        }
        if long == Long::SplitPair && words == 4 && left < 4 {
            return Err(
                "an argument of eight bytes that does not begin the others is passed differently by MSP430 compilers; pass it by its address"
                    .into(),
            );
        }
        for bytes in argument.bits.to_le_bytes().chunks_exact(size).take(words) {
            let value = bytes.iter().rev().fold(0, |value, byte| value << 8 | u32::from(*byte));
            match free.next() {
                Some(register) => placement.registers.push((register, value)),
                None => placement.stack.extend(bytes),
            }
        }
    }
    Ok(placement)
}

/// The bits of a number as an argument of a type.
///
/// # Errors
/// It does not fit, as a sentence.
pub(super) fn value_of(number: i128, kind: CType) -> Result<Value, String> {
    let (bytes, signed) = match kind {
        CType::Integer { bytes, signed } => (bytes, signed),
        CType::Pointer { bytes } => (bytes, false),
        CType::Other(what) => {
            return Err(format!("a {what} cannot be passed; pass what it stands in by its address"));
        }
    };
    let bits = 8 * u32::from(bytes);
    let (least, most) =
        if signed { (-(1_i128 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1_i128 << bits) - 1) };
    if number < least || number > most {
        return Err(format!("{number} is no {kind}: that is {least} to {most}"));
    }
    Ok(Value { bytes, bits: number as u64 })
}

/// The number that bits are as a result of a type.
pub(super) fn number_of(bits: u64, bytes: u8, signed: bool) -> i128 {
    let unused = 64 - 8 * u32::from(bytes);
    if signed { i128::from((bits << unused) as i64 >> unused) } else { i128::from(bits << unused >> unused) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_does_not_fit_its_type_is_refused() {
        let i8 = CType::Integer { bytes: 1, signed: true };
        let u64 = CType::Integer { bytes: 8, signed: false };
        assert_eq!(value_of(-1, i8), Ok(Value { bytes: 1, bits: u64::MAX }));
        assert_eq!(value_of(0xffff_ffff_ffff_ffff, u64), Ok(Value { bytes: 8, bits: u64::MAX }));
        assert_eq!(value_of(128, i8).unwrap_err(), "128 is no i8: that is -128 to 127");
        assert!(value_of(-1, u64).is_err());
        assert_eq!(number_of(0xff80, 1, true), -128);
        assert_eq!(number_of(0xff80, 1, false), 128);
        assert_eq!(number_of(u64::MAX, 8, true), -1);
        let given = Value { bytes: 1, bits: 200 };
        assert_eq!(given.converted(Some(i8)), Value { bytes: 1, bits: -56_i64 as u64 });
        assert_eq!(given.converted(None), given);
    }

    #[test]
    fn eight_bytes_behind_others_are_refused_on_the_msp430() {
        let convention = Convention::of(CoreName::Msp430x).expect("SLAA534");
        let number = |bytes| Value { bytes, bits: 1 };
        assert!(convention.place(&[number(8), number(2)]).is_ok());
        let refused = convention.place(&[number(2), number(8)]).unwrap_err();
        assert!(refused.contains("passed differently"), "{refused}");
    }

    /// AAPCS32, stage C: r0, then r2 and r3, then a multiple of 8 on the stack.
    #[test]
    fn eight_bytes_begin_at_an_even_register_of_an_arm() {
        let convention = Convention::of(CoreName::CortexM4).expect("AAPCS");
        let number = |bytes, bits| Value { bytes, bits };
        let placement = convention
            .place(&[number(1, 1), number(8, 0x3_0000_0002), number(4, 4), number(8, 0x6_0000_0005)])
            .expect("placed");
        assert_eq!(placement.registers, [("r0", 1), ("r2", 2), ("r3", 3)]);
        assert_eq!(placement.stack, [4, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 6, 0, 0, 0]);
    }

    #[test]
    fn pointers_are_what_the_core_s_compilers_make_of_addresses() {
        let pointer = |core, address, code| Convention::of(core).expect("one").pointer_to(address, code);
        assert_eq!(pointer(CoreName::Avr5, 0x80_0123, false), Some(0x123));
        assert_eq!(pointer(CoreName::Avr5, 0x1234, false), Some(0x1234));
        assert_eq!(pointer(CoreName::Avr5, 0x1234, true), Some(0x91a));
        assert_eq!(pointer(CoreName::Avr6, 0x3_0000, true), None);
        assert_eq!(pointer(CoreName::CortexM0, 0x0800_0100, true), Some(0x0800_0101));
        assert_eq!(pointer(CoreName::Msp430x, 0x1_2345, false), None);
        assert_eq!(pointer(CoreName::QingkeV2, 0x100, true), Some(0x100));
    }
}
