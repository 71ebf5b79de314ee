//! The differential channels of the ATmega32U4's converter: 7766J, table 24-4; compared with
//! simavr's table.

/// The positive and the negative input and the gain that MUX5 to MUX0 choose, where they choose a
/// differential channel.
pub fn inputs(mux: u8) -> Option<(u8, u8, f64)> {
    Some(match mux {
        9 => (1, 0, 10.0),
        11 => (1, 0, 200.0),
        16 => (0, 1, 1.0),
        20..=23 => (mux - 16, 1, 1.0),
        38 => (1, 0, 40.0),
        40..=63 => (4 + mux % 4, mux / 4 % 2, [10.0, 40.0, 200.0][usize::from(mux - 40) / 8]),
        _ => return None,
    })
}
