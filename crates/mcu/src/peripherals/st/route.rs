//! Pins of a peripheral's signal: by its alternate function or, on the STM32F1, by a field of AFIO.

mod place;

use crate::{Board, PeripheralSpec, Pin};
use place::place;

/// A pin and the function, or the value of the field of AFIO_MAPR, with which a signal is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Route {
    pub pin: Pin,
    function: u8,
}

/// The STM32F1's field that says where the signals are: which of AFIO_MAPR and AFIO_MAPR2 has it,
/// its lowest bit and its width as a mask.
#[derive(Clone, Copy)]
pub(super) struct Remap {
    word: usize,
    shift: u32,
    mask: u32,
}

impl Remap {
    /// By `settings.mapr_shift` or `mapr2_shift`, and `mapr_bits`; none where the pins' alternate
    /// functions say it.
    pub fn new(spec: &PeripheralSpec) -> Option<Remap> {
        let setting = |name: &str| spec.settings.get(name).and_then(|value| u32::try_from(*value).ok());
        let fields = [setting("mapr_shift"), setting("mapr2_shift")];
        let (word, shift) = fields.iter().enumerate().find_map(|(word, shift)| Some((word, (*shift)?)))?;
        let bits = setting("mapr_bits").unwrap_or(1).min(8);
        Some(Remap { word, shift: shift.min(31), mask: (1 << bits) - 1 })
    }
}

impl Route {
    /// The places of a signal, as a target file has them.
    ///
    /// # Errors
    /// A name that is no such place.
    pub fn all(spec: &PeripheralSpec, signal: &str, places: &[String]) -> Result<Vec<Route>, String> {
        let wrong = |place: &str| {
            format!(
                "{}: pins: {signal} at {place:?}; expected a pin and AFn or REMAPn, as in \"PA8 AF1\"",
                spec.name
            )
        };
        let route = |text| place(text).map(|(pin, function)| Route { pin, function });
        places.iter().map(|place| route(place).ok_or_else(|| wrong(place))).collect()
    }

    /// True where a signal is there: an output needs the pin's alternate function, on the STM32F1
    /// an input does not.
    pub fn is_used(&self, remap: Option<Remap>, input: bool, board: &Board) -> bool {
        let function = board.alternate_function(&self.pin);
        match remap {
            None => function == Some(self.function),
            Some(Remap { word, shift, mask }) => {
                let value = board.remaps()[word] >> shift & mask;
                value == u32::from(self.function) && (input || function.is_some())
            }
        }
    }
}
