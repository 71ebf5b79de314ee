//! The select line NSS: of a master an output that is low while the interface is on, or an input at
//! which a low level is a mode fault; of a slave the input that selects it.
//!
//! RM0008 sections 25.3.1 and 25.3.10, RM0090 sections 28.3.1 and 28.3.10, RM0091 section 28.5.5.
//! With SSOE the interface "cannot work in a multimaster environment": that is taken to say that
//! there is no mode fault then, also where SSM has SSI for the line.

use super::{MODF, MSTR, NSSP, SPE, SSI, SSM, SSOE, Spi};
use crate::peripherals::st::route::{Remap, Route};
use crate::{Board, Context, PeripheralSpec, Pin};

/// The place of the line.
#[derive(Clone)]
pub(super) struct Nss {
    remap: Option<Remap>,
    routes: Vec<Route>,
    /// The pin that it holds low.
    held: Option<Pin>,
}

impl Nss {
    /// The line of `spec.pins`.
    ///
    /// # Errors
    /// A name that is no pin, or another signal.
    pub fn new(spec: &PeripheralSpec) -> Result<Nss, String> {
        let mut routes = Vec::new();
        for (signal, places) in &spec.pins {
            if signal != "NSS" {
                return Err(format!("{}: pins: no signal {signal}: NSS", spec.name));
            }
            routes = Route::all(spec, signal, places)?;
        }
        Ok(Nss { remap: Remap::new(spec), routes, held: None })
    }

    /// True where the target file does not say where it is.
    pub fn is_nowhere(&self) -> bool {
        self.routes.is_empty()
    }

    pub fn at(&self, input: bool, board: &Board) -> Option<Pin> {
        let route = self.routes.iter().find(|route| route.is_used(self.remap, input, board))?;
        Some(route.pin.clone())
    }

    /// Holds the line low, or lets go of it.
    fn hold(&mut self, low: bool, context: &mut Context<'_, '_>) {
        let wanted = self.at(false, context.board).filter(|_| low);
        if wanted != self.held {
            let now = context.now;
            // A pin with another function has been taken from it already, and may be another one's.
            let held = self.held.take();
            if let Some(pin) =
                held.filter(|pin| self.remap.is_some() || self.at(false, context.board).as_ref() == Some(pin))
            {
                context.module_output(&pin, None, now);
            }
            if let Some(pin) = &wanted {
                context.module_output(pin, Some(false), now);
            }
            self.held = wanted;
        }
    }

    /// As after a reset, in which all pins are let go of.
    pub fn reset(&mut self) {
        self.held = None;
    }
}

impl Spi {
    /// CR1 and CR2 can be so.
    pub(super) fn check_select(&self, control: u32, control2: u32) -> Result<(), &'static str> {
        if control & SPE == 0 || control & SSM != 0 {
            return Ok(());
        }
        if self.nss.is_nowhere() {
            return Err("SSM is clear, and where NSS is the target file does not say (pins)");
        }
        if self.has_fifo() && control2 & (SSOE | NSSP) == SSOE | NSSP {
            return Err("pulses of NSS between bytes (NSSP) are not modelled");
        }
        Ok(())
    }

    /// Returns CR1 after a write while MODF is set: after a read of SR it clears the flag, else it
    /// cannot switch on.
    pub(super) fn clear_mode_fault(&mut self, value: u32) -> u32 {
        if self.status & MODF == 0 {
            return value;
        }
        if std::mem::take(&mut self.fault_read) {
            self.status &= !MODF;
            return value;
        }
        value & !(SPE | MSTR)
    }

    /// The line follows the registers, and they the line.
    pub(super) fn follow_select(&mut self, context: &mut Context<'_, '_>) {
        let [control, control2] = self.control;
        let on = control & (SPE | MSTR) == SPE | MSTR;
        let outputs = control2 & SSOE != 0;
        let high = match control & SSM {
            0 => self.nss.at(true, context.board).and_then(|pin| context.board.pin(&pin.port, pin.bit)),
            _ => Some(control & SSI != 0),
        };
        if on && !outputs && high.is_none() {
            self.refused = Some("NSS is its input (SSM and SSOE are clear), and it floats".into());
        }
        if on && !outputs && high == Some(false) {
            self.status |= MODF;
            self.fault_read = false;
            self.control[0] &= !(SPE | MSTR);
            self.shifting = None;
            self.waiting.clear();
        }
        self.nss.hold(on && outputs && control & SSM == 0, context);
    }
}
