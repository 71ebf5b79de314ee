//! The pins at which a timer's signals are: inputs that are looked at, outputs that drive.

use crate::peripherals::st::route::{Remap, Route};
use crate::{Board, Context, PeripheralSpec, Pin};

/// The inputs: TI1 to TI4 and, at this place, ETR.
pub(super) const ETR: usize = 4;
pub(super) const INPUTS: usize = 5;

/// A pin that an output may drive, and what the timer has made of it.
#[derive(Clone)]
struct Output {
    route: Route,
    connected: bool,
    driven: Option<bool>,
}

/// The pins of a timer.
#[derive(Clone)]
pub(super) struct Pins {
    remap: Option<Remap>,
    inputs: [Vec<Route>; INPUTS],
    /// The pins of the inputs at the moment.
    input_at: [Option<Pin>; INPUTS],
    /// OCx and OCxN of each channel.
    outputs: [[Vec<Output>; 2]; 4],
    /// [`Board::routing`] when the routes were last looked at.
    routing: Option<u32>,
}

impl Pins {
    /// The pins of `spec`: `CH1` to `CH4`, `CH1N` to `CH4N`, `ETR`; with `settings.mapr_shift` or
    /// `mapr2_shift` and `mapr_bits` on the STM32F1.
    ///
    /// # Errors
    /// A name that is no pin, or no signal of a timer.
    pub fn new(spec: &PeripheralSpec) -> Result<Pins, String> {
        let mut pins = Pins {
            remap: Remap::new(spec),
            inputs: Default::default(),
            input_at: Default::default(),
            outputs: Default::default(),
            routing: None,
        };
        for (signal, places) in &spec.pins {
            let routes = Route::all(spec, signal, places)?;
            let outputs = |routes: &[Route]| {
                let output = |route: &Route| Output { route: route.clone(), connected: false, driven: None };
                routes.iter().map(output).collect()
            };
            match signal.as_bytes() {
                b"ETR" => pins.inputs[ETR] = routes,
                [b'C', b'H', channel @ b'1'..=b'4'] => {
                    let channel = usize::from(channel - b'1');
                    pins.outputs[channel][0] = outputs(&routes);
                    pins.inputs[channel] = routes;
                }
                [b'C', b'H', channel @ b'1'..=b'4', b'N'] => {
                    pins.outputs[usize::from(channel - b'1')][1] = outputs(&routes);
                }
                _ => {
                    return Err(format!(
                        "{}: pins: no signal {signal}: CH1 to CH4, CH1N to CH4N, ETR",
                        spec.name
                    ));
                }
            }
        }
        Ok(pins)
    }

    /// Looks where the signals are, if anything has moved; whether it has.
    pub fn look(&mut self, board: &Board) -> bool {
        if self.routing.replace(board.routing()) == Some(board.routing()) {
            return false;
        }
        for index in 0..INPUTS {
            let place = self.inputs[index].iter().find(|route| route.is_used(self.remap, true, board));
            self.input_at[index] = place.map(|route| route.pin.clone());
        }
        for (channel, side) in (0..4).flat_map(|channel| [(channel, 0), (channel, 1)]) {
            for place in 0..self.outputs[channel][side].len() {
                let connected = self.outputs[channel][side][place].route.is_used(self.remap, false, board);
                self.outputs[channel][side][place].connected = connected;
            }
        }
        true
    }

    /// The level of an input; low where it is at no pin.
    pub fn level(&self, input: usize, board: &Board) -> bool {
        let at = self.input_at[input].as_ref();
        at.and_then(|pin| board.pin(&pin.port, pin.bit)).unwrap_or(false)
    }

    /// True where an output of a channel is at a pin.
    pub fn shows(&self, channel: usize) -> bool {
        self.outputs[channel].iter().flatten().any(|output| output.connected)
    }

    /// OCx and OCxN of a channel have these levels from cycle `at` on, or drive nothing.
    pub fn drive(
        &mut self,
        channel: usize,
        levels: [Option<bool>; 2],
        at: u64,
        context: &mut Context<'_, '_>,
    ) {
        for (outputs, level) in self.outputs[channel].iter_mut().zip(levels) {
            for output in outputs {
                let wanted = level.filter(|_| output.connected);
                // A pin with another function has been taken from the timer already, and may be
                // another one's.
                if wanted != output.driven && (output.connected || self.remap.is_some()) {
                    context.module_output(&output.route.pin, wanted, at);
                }
                output.driven = wanted;
            }
        }
    }

    /// As after a reset, in which all pins are let go of.
    pub fn reset(&mut self) {
        self.routing = None;
        self.input_at = Default::default();
        for output in self.outputs.iter_mut().flatten().flatten() {
            (output.connected, output.driven) = (false, None);
        }
    }
}
