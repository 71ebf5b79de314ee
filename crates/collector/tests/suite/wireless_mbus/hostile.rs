//! Any bytes as a line: nothing panics, and nothing becomes authentic.

use super::fixture::{GATEWAY, NEW_YEAR_MS, receiver, telegrams};
use proptest::prelude::*;

/// The first digit behind the link layer and its extension of the short form (CI 8Ch: CC and ACC),
/// which no MAC covers.
fn authenticated_from(line: &str) -> usize {
    let ci = 20..22;
    if line[ci.clone()].eq_ignore_ascii_case("8c") { ci.end + 4 } else { ci.end }
}

proptest! {
    #[test]
    fn any_line_ends_in_a_telegram_or_a_refusal(line in "\\PC{0,300}") {
        let _ = receiver(&[], true).receive(GATEWAY, &line, NEW_YEAR_MS);
    }

    #[test]
    fn altered_telegram_is_never_authentic(
        which in 0..51usize,
        at in 2..500usize,
        flip in 1..=255u8,
    ) {
        let all = telegrams();
        let published = &all[which % all.len()];
        let mut meters: Vec<_> = all.iter().map(|telegram| telegram.registered(true)).collect();
        meters.push(published.registered(true));
        let mut receiver = receiver(&meters, true);
        let mut digits: Vec<u8> = published.line.bytes().collect();
        let begin = authenticated_from(&published.line);
        let at = begin + at % (digits.len() - begin);
        let digit = char::from(digits[at]).to_digit(16).expect("a digit") as u8;
        let other = (digit ^ flip) & 15;
        prop_assume!(other != digit);
        digits[at] = char::from_digit(other.into(), 16).expect("a digit") as u8;
        let line = String::from_utf8(digits).expect("digits");
        if let Ok(Some(telegram)) = receiver.receive(GATEWAY, &line, NEW_YEAR_MS) {
            prop_assert!(!telegram.authenticated, "{} {}", published.name, line);
        }
    }
}
