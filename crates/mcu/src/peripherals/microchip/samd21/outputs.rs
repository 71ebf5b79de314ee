//! The pins at which a module's outputs are, as PORT gives them to it (PINCFG.PMUXEN, PMUX).

mod place;

use crate::{Board, Context, PeripheralSpec, Pin};
use place::place;

/// A place of an output: the pin, the value of PMUX that gives it the pin, and what it was last
/// driven to.
#[derive(Clone)]
struct Place {
    pin: Pin,
    function: u8,
    channel: usize,
    driven: Option<bool>,
}

/// The outputs of a timer: WO0 to WO7, of which output n is channel n's modulo the number of
/// channels.
#[derive(Clone)]
pub(super) struct Outputs {
    places: Vec<Place>,
    /// [`Board::routing`] when the places were last looked at.
    routing: Option<u32>,
    seen: bool,
}

impl Outputs {
    /// Those of `spec.pins`: `WO0` to `WO7`, each pins with their function, as in `PA8 E`.
    ///
    /// # Errors
    /// A name that is no pin, or no output.
    pub fn new(spec: &PeripheralSpec, channels: usize) -> Result<Outputs, String> {
        let mut places = Vec::new();
        for (signal, at) in &spec.pins {
            let number = signal.strip_prefix("WO").and_then(|number| number.parse::<usize>().ok());
            let number = number.filter(|number| *number < 8);
            for text in at {
                let wrong = || {
                    format!(
                        "{}: pins: {signal} at {text:?}; expected WO0 to WO7, each as [\"PA8 E\"]",
                        spec.name
                    )
                };
                let (pin, function) = place(text).ok_or_else(wrong)?;
                let channel = number.ok_or_else(wrong)? % channels;
                places.push(Place { pin, function, channel, driven: None });
            }
        }
        Ok(Outputs { places, routing: None, seen: false })
    }

    /// True where one of them is at a pin.
    pub fn are_seen(&self) -> bool {
        self.seen
    }

    /// Looks at which pins they are, if that has changed.
    pub fn look(&mut self, board: &Board) {
        if self.routing.replace(board.routing()) == Some(board.routing()) {
            return;
        }
        self.seen = false;
        for place in &mut self.places {
            if board.alternate_function(&place.pin) == Some(place.function) {
                self.seen = true;
            } else {
                place.driven = None;
            }
        }
    }

    /// Those that are at pins have the levels of their channels from cycle `at` on, or drive
    /// nothing.
    pub fn drive(&mut self, levels: [Option<bool>; 4], at: u64, context: &mut Context<'_, '_>) {
        for place in &mut self.places {
            let level = levels[place.channel];
            if context.board.alternate_function(&place.pin) == Some(place.function)
                && std::mem::replace(&mut place.driven, level) != level
            {
                context.module_output(&place.pin, level, at);
            }
        }
    }

    /// As after a reset, in which all pins are let go of.
    pub fn reset(&mut self) {
        (self.routing, self.seen) = (None, false);
        self.places.iter_mut().for_each(|place| place.driven = None);
    }
}
