//! Encodings of the floating-point extension as patterns.
//!
//! They are from the encoding diagrams of DDI 0403E, chapter A7, independently of the decoder.
//! Encodings that the manual calls UNPREDICTABLE are left out.
//!
//! As in `encodings.rs`; `v D`, `w A` and `x B` are Vd, Vn and Vm with their single bits, `z` is
//! double precision.

use super::encodings::{Encoding, Fields, InIt, Since};

/// `z` 1 needs D0 to D15 in each of these registers.
fn registers(f: &Fields, bits: &str) -> bool {
    f.get('z') == 0 || bits.chars().all(|bit| f.get(bit) == 0)
}

fn three(f: &Fields) -> bool {
    registers(f, "DAB")
}

fn two(f: &Fields) -> bool {
    registers(f, "DB")
}

fn only_d(f: &Fields) -> bool {
    registers(f, "D")
}

fn only_m(f: &Fields) -> bool {
    registers(f, "B")
}

fn fixed(f: &Fields) -> bool {
    only_d(f) && (f.get('s') == 1 || f.get('i') * 2 + f.get('k') <= 16)
}

fn half(f: &Fields) -> bool {
    f.get('z') == 0 || f.get(if f.get('o') == 0 { 'D' } else { 'B' }) == 0
}

fn between_precisions(f: &Fields) -> bool {
    f.get(if f.get('z') == 0 { 'D' } else { 'B' }) == 0
}

fn pair(f: &Fields) -> bool {
    only_m(f)
        && (f.get('z') == 1 || f.get('x') * 2 + f.get('B') < 31)
        && (f.get('o') == 0 || f.get('t') != f.get('u'))
}

fn multiple(f: &Fields) -> bool {
    let (count, double) = (f.get('i'), f.get('z') == 1);
    let first = if double { 2 * f.get('v') } else { 2 * f.get('v') + f.get('D') };
    only_d(f) && count > 0 && first + count <= 32 && !(double && count & 1 == 1)
}

/// True if it is of FPv5 even where `z` is 0; position in an IT block, bits, and a test of the
/// allowed operands.
type Row = (bool, InIt, &'static str, fn(&Fields) -> bool);

const TABLE: &[Row] = {
    use InIt::{Anywhere, Never};
    &[
        (false, Anywhere, "11101110 0D00 wwww vvvv 101z AoB0 xxxx", three),
        (false, Anywhere, "11101110 0D01 wwww vvvv 101z AoB0 xxxx", three),
        (false, Anywhere, "11101110 0D10 wwww vvvv 101z AoB0 xxxx", three),
        (false, Anywhere, "11101110 0D11 wwww vvvv 101z AoB0 xxxx", three),
        (false, Anywhere, "11101110 1D00 wwww vvvv 101z A0B0 xxxx", three),
        (false, Anywhere, "11101110 1D01 wwww vvvv 101z AoB0 xxxx", three),
        (false, Anywhere, "11101110 1D10 wwww vvvv 101z AoB0 xxxx", three),
        (false, Anywhere, "11101110 1D11 iiii vvvv 101z 0000 jjjj", only_d),
        (false, Anywhere, "11101110 1D11 000o vvvv 101z p1B0 xxxx", two),
        (false, Anywhere, "11101110 1D11 0001 vvvv 101z 11B0 xxxx", two),
        (false, Anywhere, "11101110 1D11 001o vvvv 101z p1B0 xxxx", half),
        (false, Anywhere, "11101110 1D11 0100 vvvv 101z p1B0 xxxx", two),
        (false, Anywhere, "11101110 1D11 0101 vvvv 101z p100 0000", only_d),
        (true, Anywhere, "11101110 1D11 0110 vvvv 101z p1B0 xxxx", two),
        (true, Anywhere, "11101110 1D11 0111 vvvv 101z 01B0 xxxx", two),
        (true, Anywhere, "11101110 1D11 0111 vvvv 101z 11B0 xxxx", between_precisions),
        (false, Anywhere, "11101110 1D11 1000 vvvv 101z p1B0 xxxx", only_d),
        (false, Anywhere, "11101110 1D11 1o1u vvvv 101z s1k0 iiii", fixed),
        (false, Anywhere, "11101110 1D11 110u vvvv 101z p1B0 xxxx", only_m),
        (true, Never, "11111110 0Dcc wwww vvvv 101z A0B0 xxxx", three),
        (true, Never, "11111110 1D00 wwww vvvv 101z AoB0 xxxx", three),
        (true, Never, "11111110 1D11 10rr vvvv 101z 01B0 xxxx", two),
        (true, Never, "11111110 1D11 11rr vvvv 101z p1B0 xxxx", only_m),
        (false, Anywhere, "11101110 000o wwww tttt 1010 A001 0000", |_| true),
        (false, Anywhere, "11101110 00ko wwww tttt 1011 0001 0000", |_| true),
        (false, Anywhere, "11101110 1111 0001 tttt 1010 0001 0000", |_| true),
        (false, Anywhere, "11101110 1111 0001 1111 1010 0001 0000", |_| true),
        (false, Anywhere, "11101110 1110 0001 tttt 1010 0001 0000", |_| true),
        (false, Anywhere, "11101100 010o uuuu tttt 101z 00B1 xxxx", pair),
        (false, Anywhere, "11101101 UD0L NNNN vvvv 101z iiiiiiii", only_d),
        (false, Anywhere, "11101101 UD01 1111 vvvv 101z iiiiiiii", only_d),
        (false, Anywhere, "11101100 1DWL NNNN vvvv 101z 00iiiiii", multiple),
        (false, Anywhere, "11101101 0D1L NNNN vvvv 101z 00iiiiii", multiple),
    ]
};

/// The encodings of FPv4-SP, or of FPv5 with double precision.
pub fn all(double: bool) -> Vec<Encoding> {
    let rows = TABLE.iter().filter(|row| double || !row.0);
    rows.map(|&(_, in_it, bits, valid)| Encoding { since: Since::V7EM, in_it, bits, valid }).collect()
}

/// Returns true if an instance is data processing in double precision, which FPv4-SP does not have.
pub fn is_double_processing(code: &[u16]) -> bool {
    matches!(code[0] >> 8, 0xee | 0xfe) && code[1] & 0x110 == 0x100
}
