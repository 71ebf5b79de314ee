//! Places of outputs, as a target file has them.

use crate::Pin;

/// `PA8 E`: the pin, and the value of PMUX for its function E.
pub(super) fn place(text: &str) -> Option<(Pin, u8)> {
    let (pin, function) = text.split_once(' ')?;
    let function = match function.as_bytes() {
        [letter @ b'A'..=b'H'] => letter - b'A',
        _ => return None,
    };
    let port = pin.strip_prefix('P')?.get(..1)?;
    let bit = pin.get(2..)?.parse().ok().filter(|bit: &u8| *bit < 32)?;
    Some((Pin::new(&format!("PORT{port}"), bit), function))
}

#[cfg(test)]
mod tests {
    use super::place;
    use crate::Pin;

    #[test]
    fn places_are_pins_with_letters() {
        assert_eq!(place("PB10 F"), Some((Pin::new("PORTB", 10), 5)));
        for wrong in ["PA8", "PA32 E", "A8 E", "PA8 I", "PA8 EF", "P\u{e9} E"] {
            assert_eq!(place(wrong), None, "{wrong}");
        }
    }
}
