//! The pins at which a timer's signals are: capture inputs, and levels of the output units.

mod names;

use crate::{Board, Context, PeripheralSpec, Pin};
use names::{Signal, place, signal};

/// Of a pin's function beside PxSEL1 and PxSEL0: the pin is an output (PxDIR).
pub(in crate::peripherals::ti) const OUTPUT: u8 = 4;

/// A pin, and the selection with which the timer has it.
#[derive(Clone)]
struct Place {
    channel: usize,
    signal: Signal,
    pin: Pin,
    selection: u8,
    /// The pin is the timer's, as an input or as an output.
    is_input: bool,
    is_output: bool,
    driven: Option<bool>,
}

/// The pins of a timer.
#[derive(Clone)]
pub(in crate::peripherals::ti) struct Signals {
    places: Vec<Place>,
    /// [`Board::routing`] when the places were last looked at.
    routing: Option<u32>,
}

impl Signals {
    /// The pins of `spec`: `CCI0A`, `CCI0B` and so on, where the output unit of the channel is,
    /// too, and `OUT0` and so on, where it is alone.
    ///
    /// # Errors
    /// A pin does not exist, or is no signal of a timer with this number of channels.
    pub fn new(spec: &PeripheralSpec, channels: usize) -> Result<Signals, String> {
        Signals::with(
            spec,
            |name| signal(name).filter(|(channel, _)| *channel < channels),
            &format!("CCI0A, CCI0B, OUT0 and so on, of {channels} channels"),
        )
    }

    /// The pins of `spec` for a block with one output of this name, as channel 0.
    ///
    /// # Errors
    /// As [`Signals::new`].
    pub fn of_output(spec: &PeripheralSpec, output: &str) -> Result<Signals, String> {
        Signals::with(spec, |name| (name == output).then_some((0, Signal::Output)), output)
    }

    fn with(
        spec: &PeripheralSpec,
        signal: impl Fn(&str) -> Option<(usize, Signal)>,
        known: &str,
    ) -> Result<Signals, String> {
        let mut places = Vec::new();
        for (name, pins) in &spec.pins {
            let (channel, signal) =
                signal(name).ok_or_else(|| format!("{}: pins: no signal {name}: {known}", spec.name))?;
            for text in pins {
                let (pin, selection) = place(text).ok_or_else(|| {
                    format!(
                        "{}: pins: {name} at {text:?}; expected a pin and PxSEL1:PxSEL0, as in \"P1.2 SEL1\"",
                        spec.name
                    )
                })?;
                let place = Place {
                    channel,
                    signal,
                    pin,
                    selection,
                    is_input: false,
                    is_output: false,
                    driven: None,
                };
                places.push(place);
            }
        }
        Ok(Signals { places, routing: None })
    }

    /// Looks where the signals are, if anything has moved; whether it has.
    pub fn look(&mut self, board: &Board) -> bool {
        if self.routing.replace(board.routing()) == Some(board.routing()) {
            return false;
        }
        for place in &mut self.places {
            let function = board.alternate_function(&place.pin);
            place.is_input = function == Some(place.selection);
            place.is_output = function == Some(place.selection | OUTPUT);
        }
        true
    }

    /// The output unit of a channel has this level from cycle `at` on.
    pub fn drive(&mut self, channel: usize, level: bool, at: u64, context: &mut Context<'_, '_>) {
        for place in self.places.iter_mut().filter(|place| place.channel == channel) {
            let wanted = place.is_output.then_some(level);
            // A pin with another function has been taken from the timer already, and may be another
            // one's.
            if place.is_output && wanted != place.driven {
                context.module_output(&place.pin, wanted, at);
            }
            place.driven = wanted;
        }
    }

    /// The level of CCInA (0) or CCInB (1), low where the pin is not the timer's; `None` where no
    /// pin is known for it.
    pub fn level(&self, channel: usize, input: usize, board: &Board) -> Option<bool> {
        let mut places = self.places.iter();
        let place = places.find(|place| place.channel == channel && place.signal == Signal::Both(input))?;
        Some(place.is_input && board.level(&place.pin.port, place.pin.bit) == Some(true))
    }

    /// As after a reset, in which all pins are let go of.
    pub fn reset(&mut self) {
        self.routing = None;
        for place in &mut self.places {
            (place.is_input, place.is_output, place.driven) = (false, false, None);
        }
    }
}
