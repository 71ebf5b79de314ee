//! Places of signals, as a target file has them.

use crate::Pin;

/// `PA8 AF1`, `PA8 REMAP0`.
pub(super) fn place(text: &str) -> Option<(Pin, u8)> {
    let (pin, function) = text.split_once(' ')?;
    let number = function.strip_prefix("AF").or_else(|| function.strip_prefix("REMAP"))?;
    let port = pin.strip_prefix('P')?.get(..1)?;
    let bit: u8 = pin.get(2..)?.parse().ok().filter(|bit| *bit < 16)?;
    let pin = Pin::new(&format!("GPIO{port}"), bit);
    Some((pin, number.parse().ok().filter(|number| *number < 16)?))
}

#[cfg(test)]
mod tests {
    use super::place;
    use crate::Pin;

    #[test]
    fn places_are_pins_with_functions() {
        assert_eq!(place("PB15 AF9"), Some((Pin::new("GPIOB", 15), 9)));
        assert_eq!(place("PA8 REMAP0"), Some((Pin::new("GPIOA", 8), 0)));
        for wrong in ["PA8", "PA16 AF1", "A8 AF1", "PA8 AF16", "PA8 1", "P\u{e9} AF1", "PA AF1"] {
            assert_eq!(place(wrong), None, "{wrong}");
        }
    }
}
