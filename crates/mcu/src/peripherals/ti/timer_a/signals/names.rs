//! Names of signals and of their places, as a target file has them.

use crate::Pin;

/// Signal of a channel at a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signal {
    /// CCInA (0) or CCInB (1) while the pin is an input, else the output unit.
    Both(usize),
    /// The output unit alone.
    Output,
}

/// `CCI1A`, `CCI1B`, `OUT1`.
pub(super) fn signal(name: &str) -> Option<(usize, Signal)> {
    if let Some(channel) = name.strip_prefix("OUT") {
        return Some((channel.parse().ok()?, Signal::Output));
    }
    let (channel, input) = name.strip_prefix("CCI")?.split_at_checked(1)?;
    let input = ["A", "B"].iter().position(|letter| *letter == input)?;
    Some((channel.parse().ok()?, Signal::Both(input)))
}

/// `P1.2 SEL1`.
pub(super) fn place(text: &str) -> Option<(Pin, u8)> {
    let (pin, selection) = text.split_once(' ')?;
    let (port, bit) = pin.split_once('.')?;
    let bit: u8 = bit.parse().ok().filter(|bit| *bit < 8)?;
    let selection =
        selection.strip_prefix("SEL")?.parse().ok().filter(|selection| (1..=3).contains(selection))?;
    port.strip_prefix('P').filter(|number| !number.is_empty())?;
    Some((Pin::new(port, bit), selection))
}

#[cfg(test)]
mod tests {
    use super::{Signal, place, signal};
    use crate::Pin;

    #[test]
    fn places_are_pins_with_selections() {
        assert_eq!(place("P8.5 SEL3"), Some((Pin::new("P8", 5), 3)));
        for wrong in
            ["P8.5", "P8.8 SEL1", "P85 SEL1", "8.5 SEL1", "P.5 SEL1", "P8.5 SEL0", "P8.5 SEL4", "P8.5 1"]
        {
            assert_eq!(place(wrong), None, "{wrong}");
        }
        assert_eq!(signal("CCI6B"), Some((6, Signal::Both(1))));
        assert_eq!(signal("OUT2"), Some((2, Signal::Output)));
        for wrong in ["CCI1", "CCI1C", "CCIA", "OUT", "TA1", "CCI\u{e9}A"] {
            assert_eq!(signal(wrong), None, "{wrong}");
        }
    }
}
