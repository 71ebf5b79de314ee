//! Encodings of ARMv6-M and ARMv7E-M as patterns.
//!
//! They are from the encoding diagrams of DDI 0403E, chapter A7, and DDI 0419E, chapter A6,
//! independently of the decoder. Encodings that the manuals call UNPREDICTABLE are left out.
//!
//! A pattern is the bits in order. `d n m a t u` are registers, neither SP nor PC where they have
//! four bits; `N` is one that may be SP; other letters are anything, unless the condition says
//! otherwise.

use std::collections::BTreeMap;

/// The values of a pattern's letters.
pub struct Fields(BTreeMap<char, u32>);

impl Fields {
    pub fn get(&self, letter: char) -> u32 {
        self.0[&letter]
    }
}

/// Cores that have the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Since {
    V6M,
    V7M,
    V7EM,
}

/// Position in an IT block at which it may stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InIt {
    Anywhere,
    Last,
    Never,
}

/// One encoding.
pub struct Encoding {
    pub since: Since,
    pub in_it: InIt,
    pub bits: &'static str,
    pub valid: fn(&Fields) -> bool,
}

impl Encoding {
    /// A random instance: its halfwords. `random` gives 32 random bits.
    pub fn instance(&self, random: &mut impl FnMut() -> u32) -> Vec<u16> {
        let letters: Vec<char> = self.bits.chars().filter(|letter| *letter != ' ').collect();
        assert!(matches!(letters.len(), 16 | 32), "{}", self.bits);
        loop {
            let mut widths: BTreeMap<char, u32> = BTreeMap::new();
            for letter in letters.iter().filter(|letter| letter.is_alphabetic()) {
                *widths.entry(*letter).or_default() += 1;
            }
            let fields: BTreeMap<char, u32> = widths
                .iter()
                .map(|(&letter, &width)| {
                    let value = random() & ((1u64 << width) - 1) as u32;
                    // Lists and constants that are often all zeros or ones find more corners.
                    let value = match random() % 16 {
                        0 => 0,
                        1 => ((1u64 << width) - 1) as u32,
                        _ => value,
                    };
                    (letter, value)
                })
                .collect();
            let register = |letter: &char| widths[letter] == 4;
            let plain = "dnmatu".chars().filter(|letter| widths.contains_key(letter)).filter(register);
            let fields = Fields(fields);
            if plain.into_iter().any(|letter| matches!(fields.get(letter), 13 | 15))
                || fields.0.get(&'N').is_some_and(|&base| base == 15)
                || !(self.valid)(&fields)
            {
                continue;
            }
            let mut left = widths.clone();
            let word = letters.iter().fold(0u64, |word, letter| {
                let bit = if letter.is_alphabetic() {
                    let rest = left.get_mut(letter).expect("counted above");
                    *rest -= 1;
                    u64::from(fields.get(*letter) >> *rest & 1)
                } else {
                    u64::from(*letter == '1')
                };
                word << 1 | bit
            });
            return if letters.len() == 32 {
                vec![(word >> 16) as u16, word as u16]
            } else {
                vec![word as u16]
            };
        }
    }
}

fn any(_: &Fields) -> bool {
    true
}

fn data_processing(f: &Fields) -> bool {
    matches!(f.get('o'), 0 | 1 | 2 | 3 | 4 | 8 | 10 | 11 | 13 | 14)
}

fn compares(f: &Fields) -> bool {
    matches!(f.get('o'), 0 | 4 | 8 | 13)
}

fn sums(f: &Fields) -> bool {
    matches!(f.get('o'), 8 | 13)
}

/// ThumbExpandImm of `i` (twelve bits) is not UNPREDICTABLE.
fn expands(f: &Fields) -> bool {
    let i = f.get('i');
    i >> 10 != 0 || i >> 8 == 0 || i & 0xff != 0
}

fn sum_immediate(f: &Fields) -> bool {
    sums(f) && expands(f)
}

/// As above for ADD and SUB of a constant to SP that keep it aligned.
fn sp_immediate(f: &Fields) -> bool {
    sums(f) && expands(f) && (f.get('i') >> 8 == 0 && f.get('i') & 3 == 0)
}

fn multiple(f: &Fields) -> bool {
    let list = f.get('P') << 15 | f.get('M') << 14 | f.get('l');
    let (load, back) = (f.get('L') == 1, f.get('W') == 1);
    matches!(f.get('o'), 1 | 2)
        && list.count_ones() >= 2
        && if load { list >> 14 != 3 } else { list >> 15 == 0 }
        && !(back && list >> f.get('N') & 1 == 1)
}

fn dual(f: &Fields) -> bool {
    let back = f.get('W') == 1;
    (f.get('P') == 1 || back)
        && (f.get('L') == 0 || f.get('t') != f.get('u'))
        && !(back && (f.get('N') == f.get('t') || f.get('N') == f.get('u')))
}

fn load_size(f: &Fields) -> bool {
    f.get('o') < 2 || (f.get('o') == 2 && f.get('S') == 0)
}

fn store_size(f: &Fields) -> bool {
    f.get('o') < 3
}

/// Pre- and post-indexed, negative, unprivileged.
fn indexed(f: &Fields) -> bool {
    let back = f.get('W') == 1;
    (f.get('P') == 1 || back)
        && !(back && f.get('N') == f.get('t'))
        && !(back && f.get('N') == 13 && f.get('i') & 3 != 0)
}

fn load_indexed(f: &Fields) -> bool {
    load_size(f) && indexed(f)
}

fn store_indexed(f: &Fields) -> bool {
    store_size(f) && indexed(f)
}

fn exclusive(f: &Fields) -> bool {
    f.get('d') != f.get('N') && f.get('d') != f.get('t')
}

fn long(f: &Fields) -> bool {
    f.get('t') != f.get('d')
}

/// The data processing operations with a register that is not one of the low eight.
fn high(f: &Fields) -> bool {
    let (first, second) = (f.get('H') << 3 | f.get('h'), f.get('x'));
    first != 15 && second != 15 && (first >= 8 || second >= 8)
}

fn high_add(f: &Fields) -> bool {
    f.get('H') << 3 | f.get('h') != 15
}

fn not_empty(f: &Fields) -> bool {
    f.get('l') != 0
}

/// STM with the base in the list must store it first.
fn store_multiple(f: &Fields) -> bool {
    let (list, base) = (f.get('l'), f.get('n'));
    list != 0 && (list >> base & 1 == 0 || list.trailing_zeros() == base)
}

fn condition(f: &Fields) -> bool {
    f.get('c') < 14
}

fn parallel(f: &Fields) -> bool {
    !matches!(f.get('k'), 3 | 7) && !matches!(f.get('j'), 3 | 7)
}

fn bit_field(f: &Fields) -> bool {
    f.get('i') + f.get('j') < 32
}

fn insertion(f: &Fields) -> bool {
    f.get('j') >= f.get('i')
}

fn saturation(f: &Fields) -> bool {
    f.get('s') == 0 || f.get('i') != 0
}

fn same(f: &Fields) -> bool {
    f.get('n') == f.get('m')
}

/// Cores that have it, position in an IT block, bits, and a test of the allowed operands.
type EncodingRow = (Since, InIt, &'static str, fn(&Fields) -> bool);

/// Encodings of the Cortex-M0, and the narrow ones of the others.
const SINCE_V6M: &[EncodingRow] = &[
    (Since::V6M, InIt::Never, "00000 00000 mmm ddd", any),
    (Since::V6M, InIt::Anywhere, "00000 iiiii mmm ddd", |f| f.get('i') != 0),
    (Since::V6M, InIt::Anywhere, "00001 iiiii mmm ddd", any),
    (Since::V6M, InIt::Anywhere, "00010 iiiii mmm ddd", any),
    (Since::V6M, InIt::Anywhere, "000110 o mmm nnn ddd", any),
    (Since::V6M, InIt::Anywhere, "000111 o iii nnn ddd", any),
    (Since::V6M, InIt::Anywhere, "001 oo ddd iiiiiiii", any),
    (Since::V6M, InIt::Anywhere, "010000 oooo mmm ddd", any),
    (Since::V6M, InIt::Anywhere, "01000100 H xxxx hhh", |f| high_add(f) && f.get('x') != 15),
    (Since::V6M, InIt::Anywhere, "01000100 H 1111 hhh", |f| {
        high_add(f) && f.get('H') << 3 | f.get('h') != 13
    }),
    (Since::V6M, InIt::Anywhere, "01000101 H xxxx hhh", high),
    (Since::V6M, InIt::Anywhere, "01000110 H xxxx hhh", |f| high_add(f) && f.get('x') != 15),
    (Since::V6M, InIt::Last, "01000110 1 mmmm 111", any),
    (Since::V6M, InIt::Last, "01000100 1 mmmm 111", any),
    (Since::V6M, InIt::Last, "010001110 mmmm 000", any),
    (Since::V6M, InIt::Last, "010001111 mmmm 000", any),
    (Since::V6M, InIt::Anywhere, "01001 ttt iiiiiiii", any),
    (Since::V6M, InIt::Anywhere, "0101 ooo mmm nnn ttt", any),
    (Since::V6M, InIt::Anywhere, "011 oo iiiii nnn ttt", any),
    (Since::V6M, InIt::Anywhere, "1000 o iiiii nnn ttt", any),
    (Since::V6M, InIt::Anywhere, "1001 o ttt iiiiiiii", any),
    (Since::V6M, InIt::Anywhere, "1010 o ddd iiiiiiii", any),
    (Since::V6M, InIt::Anywhere, "10110000 o iiiiiii", any),
    (Since::V6M, InIt::Anywhere, "10110010 oo mmm ddd", any),
    (Since::V6M, InIt::Anywhere, "1011010 lllllllll", not_empty),
    (Since::V6M, InIt::Anywhere, "10111100 llllllll", not_empty),
    (Since::V6M, InIt::Last, "10111101 llllllll", any),
    (Since::V6M, InIt::Anywhere, "10111010 oo mmm ddd", |f| f.get('o') != 2),
    (Since::V6M, InIt::Anywhere, "11000 nnn llllllll", store_multiple),
    (Since::V6M, InIt::Anywhere, "11001 nnn llllllll", not_empty),
    (Since::V6M, InIt::Never, "1101 cccc iiiiiiii", condition),
    (Since::V6M, InIt::Last, "11100 iiiiiiiiiii", any),
    (Since::V6M, InIt::Last, "11110 siiiiiiiiii 11 j 1 kiiiiiiiiiii", any),
    (Since::V6M, InIt::Anywhere, "1111001111101111 1000 dddd 00000000", any),
    (Since::V6M, InIt::Anywhere, "111100111000 nnnn 1000 1000 00000000", any),
    (Since::V6M, InIt::Anywhere, "1111001110111111 1000 1111 0101 1111", any),
    (Since::V6M, InIt::Anywhere, "1011111100000000", any),
    (Since::V7M, InIt::Never, "1011 o0i1 iiiii nnn", any),
];

/// Wide encodings of several loads and stores, constants, shifts and branches.
const WIDE_DATA: &[EncodingRow] = &[
    (Since::V7M, InIt::Anywhere, "1110100 oo 0 W L NNNN P M 0 lllllllllllll", |f| {
        multiple(f) && !(f.get('L') == 1 && f.get('P') == 1)
    }),
    (Since::V7M, InIt::Last, "1110100 oo 0 W L NNNN P M 0 lllllllllllll", |f| {
        multiple(f) && f.get('L') == 1 && f.get('P') == 1
    }),
    (Since::V7M, InIt::Anywhere, "1110100 P U 1 W L NNNN tttt uuuu iiiiiiii", dual),
    (Since::V7M, InIt::Anywhere, "11101001 U 101 1111 tttt uuuu iiiiiiii", |f| f.get('t') != f.get('u')),
    (Since::V7M, InIt::Anywhere, "111010000101 NNNN tttt 1111 iiiiiiii", any),
    (Since::V7M, InIt::Anywhere, "111010000100 NNNN tttt dddd iiiiiiii", exclusive),
    (Since::V7M, InIt::Anywhere, "111010001101 NNNN tttt 1111 010o 1111", any),
    (Since::V7M, InIt::Anywhere, "111010001100 NNNN tttt 1111 010o dddd", exclusive),
    (Since::V7M, InIt::Last, "111010001101 nnnn 11110000000 o mmmm", any),
    (Since::V7M, InIt::Last, "1110100011011111 11110000000 o mmmm", any),
    (Since::V7M, InIt::Anywhere, "1110101 oooo s nnnn 0 iii dddd ii kk mmmm", data_processing),
    (Since::V7M, InIt::Anywhere, "1110101 oooo s 1101 0 iii dddd ii kk mmmm", sums),
    (Since::V7M, InIt::Anywhere, "1110101 oooo s 1101 0 000 1101 ii 00 mmmm", sums),
    (Since::V7M, InIt::Anywhere, "1110101 001 o s 1111 0 iii dddd ii kk mmmm", any),
    (Since::V7M, InIt::Anywhere, "1110101 0010 0 1111 0 000 1101 00 00 mmmm", any),
    (Since::V7M, InIt::Anywhere, "1110101 oooo 1 nnnn 0 iii 1111 ii kk mmmm", compares),
    (Since::V7EM, InIt::Anywhere, "1110101 0110 0 nnnn 0 iii dddd ii k0 mmmm", any),
    (Since::V7M, InIt::Anywhere, "11110 i 0 oooo s nnnn 0 iii dddd iiiiiiii", |f| {
        data_processing(f) && expands(f)
    }),
    (Since::V7M, InIt::Anywhere, "11110 i 0 oooo s 1101 0 iii dddd iiiiiiii", sum_immediate),
    (Since::V7M, InIt::Anywhere, "11110 i 0 oooo s 1101 0 iii 1101 iiiiiiii", sp_immediate),
    (Since::V7M, InIt::Anywhere, "11110 i 0 001 o s 1111 0 iii dddd iiiiiiii", expands),
    (Since::V7M, InIt::Anywhere, "11110 i 0 oooo 1 nnnn 0 iii 1111 iiiiiiii", |f| compares(f) && expands(f)),
    (Since::V7M, InIt::Anywhere, "11110 i 100000 NNNN 0 iii dddd iiiiiiii", any),
    (Since::V7M, InIt::Anywhere, "11110 i 101010 NNNN 0 iii dddd iiiiiiii", any),
    (Since::V7M, InIt::Anywhere, "11110 i 100000 1111 0 iii dddd iiiiiiii", any),
    (Since::V7M, InIt::Anywhere, "11110 i 101010 1111 0 iii dddd iiiiiiii", any),
    (Since::V7M, InIt::Anywhere, "11110 i 10 k 100 xxxx 0 iii dddd iiiiiiii", any),
    (Since::V7M, InIt::Anywhere, "11110011 k 0 s 0 nnnn 0 iii dddd ii 0 jjjjj", saturation),
    (Since::V7EM, InIt::Anywhere, "11110011 k 0 1 0 nnnn 0 000 dddd 00 00 jjjj", any),
    (Since::V7M, InIt::Anywhere, "11110011 k 100 nnnn 0 iii dddd ii 0 jjjjj", bit_field),
    (Since::V7M, InIt::Anywhere, "111100110110 nnnn 0 iii dddd ii 0 jjjjj", insertion),
    (Since::V7M, InIt::Anywhere, "111100110110 1111 0 iii dddd ii 0 jjjjj", insertion),
    (Since::V7M, InIt::Never, "11110 s cccc iiiiii 10 j 0 k iiiiiiiiiii", condition),
    (Since::V7M, InIt::Last, "11110 s iiiiiiiiii 10 j 1 k iiiiiiiiiii", any),
    (Since::V7EM, InIt::Anywhere, "111100111000 nnnn 1000 xx 00 00000000", |f| f.get('x') != 0),
    (Since::V7M, InIt::Anywhere, "1111001110101111 1000 0000 00000000", any),
    (Since::V7M, InIt::Anywhere, "1111001110111111 1000 1111 0010 1111", any),
];

/// Wide encodings of single loads and stores, extensions, parallel arithmetic and multiplication.
const WIDE_SINGLE: &[EncodingRow] = &[
    (Since::V7M, InIt::Anywhere, "11111000 1 oo 0 NNNN tttt iiiiiiiiiiii", store_size),
    (Since::V7M, InIt::Anywhere, "11111000 0 oo 0 NNNN tttt 1PUW iiiiiiii", store_indexed),
    (Since::V7M, InIt::Anywhere, "11111000 0 oo 0 NNNN tttt 000000 ii mmmm", store_size),
    (Since::V7M, InIt::Anywhere, "1111100 S 1 oo 1 NNNN tttt iiiiiiiiiiii", load_size),
    (Since::V7M, InIt::Anywhere, "1111100 S 0 oo 1 NNNN tttt 1PUW iiiiiiii", load_indexed),
    (Since::V7M, InIt::Anywhere, "1111100 S 0 oo 1 NNNN tttt 000000 ii mmmm", load_size),
    (Since::V7M, InIt::Anywhere, "1111100 S U oo 1 1111 tttt iiiiiiiiiiii", load_size),
    (Since::V7M, InIt::Anywhere, "11111000 1101 NNNN 1101 iiiiiiiiiiii", any),
    (Since::V7M, InIt::Last, "11111000 1101 NNNN 1111 iiiiiiiiiiii", any),
    (Since::V7M, InIt::Last, "11111000 0101 nnnn 1111 1P1W iiiiiiii", |f| {
        f.get('P') + f.get('W') == 2 || f.get('W') == 1
    }),
    (Since::V7M, InIt::Last, "11111000 0101 NNNN 1111 000000 ii mmmm", any),
    (Since::V7M, InIt::Anywhere, "1111100 S 1001 NNNN 1111 iiiiiiiiiiii", any),
    (Since::V7M, InIt::Anywhere, "111110100 kk s nnnn 1111 dddd 0000 mmmm", any),
    (Since::V7M, InIt::Anywhere, "111110100 k 0 s 1111 1111 dddd 10 ii mmmm", |f| {
        f.get('k') == 0 || f.get('k') == 1
    }),
    (Since::V7EM, InIt::Anywhere, "111110100 kkk nnnn 1111 dddd 10 ii mmmm", |f| f.get('k') < 6),
    (Since::V7EM, InIt::Anywhere, "111110100 01 k 1111 1111 dddd 10 ii mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110101 kkk nnnn 1111 dddd 0 jjj mmmm", parallel),
    (Since::V7EM, InIt::Anywhere, "111110101 000 nnnn 1111 dddd 10 kk mmmm", any),
    (Since::V7M, InIt::Anywhere, "111110101 001 nnnn 1111 dddd 10 kk mmmm", same),
    (Since::V7EM, InIt::Anywhere, "111110101 010 nnnn 1111 dddd 1000 mmmm", any),
    (Since::V7M, InIt::Anywhere, "111110101 011 nnnn 1111 dddd 1000 mmmm", same),
    (Since::V7M, InIt::Anywhere, "111110110 000 nnnn 1111 dddd 0000 mmmm", any),
    (Since::V7M, InIt::Anywhere, "111110110 000 nnnn aaaa dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 001 nnnn 1111 dddd 00kk mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 001 nnnn aaaa dddd 00kk mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 010 nnnn 1111 dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 010 nnnn aaaa dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 011 nnnn 1111 dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 011 nnnn aaaa dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 100 nnnn 1111 dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 100 nnnn aaaa dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 101 nnnn 1111 dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 101 nnnn aaaa dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 110 nnnn aaaa dddd 000k mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 111 nnnn 1111 dddd 0000 mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110110 111 nnnn aaaa dddd 0000 mmmm", any),
    (Since::V7M, InIt::Anywhere, "111110111 kk 0 nnnn tttt dddd 0000 mmmm", long),
    (Since::V7M, InIt::Anywhere, "111110111 0k1 nnnn 1111 dddd 1111 mmmm", any),
    (Since::V7EM, InIt::Anywhere, "111110111 110 nnnn tttt dddd 0110 mmmm", long),
    (Since::V7EM, InIt::Anywhere, "111110111 100 nnnn tttt dddd 10kk mmmm", long),
    (Since::V7EM, InIt::Anywhere, "111110111 10k nnnn tttt dddd 110j mmmm", long),
];

/// All encodings but those of the system (SVC, BKPT, UDF, WFI, WFE, SEV, CPS, special registers).
pub fn all() -> Vec<Encoding> {
    let rows = [SINCE_V6M, WIDE_DATA, WIDE_SINGLE].into_iter().flatten();
    rows.map(|&(since, in_it, bits, valid)| Encoding { since, in_it, bits, valid }).collect()
}
