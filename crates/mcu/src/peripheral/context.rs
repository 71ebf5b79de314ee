//! View of a peripheral on the machine.

use super::Events;
use crate::{Board, DacStep, Fault, Observer, Pin, PinDirections, PinEdge};

/// View of a peripheral on the machine, during an access to one of its registers or a tick.
pub struct Context<'a, 'o> {
    /// Cycles since reset, at the start of the accessing instruction (MSP430: at the end of the
    /// access's bus cycle).
    pub now: u64,
    /// The accessing instruction.
    pub pc: u32,
    /// A read is part of an instruction that writes back the value, and gets a port's latch in
    /// place of its pins (8051).
    pub reads_latch: bool,
    /// Requested interrupts, a bit per vector or IRQ number.
    pub requests: &'a mut u128,
    /// Cycles for which the access holds the core up after the instruction; to be added to.
    pub stall: &'a mut u64,
    /// Surroundings of the microcontroller.
    pub board: &'a mut Board,
    /// Messages from peripherals to each other and to the core.
    pub events: &'a mut Events,
    /// Looks on, where someone does.
    pub observer: Option<&'a mut (dyn Observer + 'o)>,
}

impl Context<'_, '_> {
    /// The fault of an access that the device of this name does not model.
    #[must_use]
    pub fn fault(&self, device: &str, address: u32, what: impl Into<String>) -> Fault {
        Fault::Peripheral { pc: self.pc, address, device: device.into(), what: what.into() }
    }

    /// Refuses an access with [`Context::fault`].
    ///
    /// # Errors
    /// That fault, always.
    pub fn refuse<T>(&self, device: &str, address: u32, what: impl Into<String>) -> Result<T, Fault> {
        Err(self.fault(device, address, what))
    }

    /// Stops the run at once because a device refuses what no access of the program was there for.
    pub(crate) fn stop(&mut self, device: &str, what: &str) {
        self.board.failure.get_or_insert_with(|| format!("{device}: {what}"));
        (self.board.due, self.board.changed) = (0, true);
    }

    /// Requests an interrupt.
    pub fn request(&mut self, irq: u8) {
        *self.requests |= 1 << irq;
    }

    /// Takes a request back.
    pub fn withdraw(&mut self, irq: u8) {
        *self.requests &= !(1 << irq);
    }

    /// The device at `base` requests an interrupt that others have, too, or no longer does: it is
    /// requested as long as one of them asks for it.
    pub fn share_request(&mut self, irq: u8, base: u32, on: bool) {
        let sharers = &mut self.events.shared_requests;
        sharers.retain(|sharer| *sharer != (irq, base));
        if on {
            sharers.push((irq, base));
        }
        if sharers.iter().any(|(shared, _)| *shared == irq) { self.request(irq) } else { self.withdraw(irq) }
    }

    /// A port drives the pins of `driven` to `levels` from now on: see [`Board::drive`].
    pub fn drive(&mut self, port: &str, driven: u32, levels: u32) {
        self.board.drive(port, driven, levels, self.now);
        self.directions(port, self.now);
    }

    /// Tells the observer which pins of a port are driven.
    fn directions(&mut self, port: &str, cycles: u64) {
        if let Some(observer) = &mut self.observer {
            observer.directions(&PinDirections { port, driven: self.board.driven(port), cycles });
        }
    }

    /// Tells the observer of each pin that differs between two output levels of a port.
    pub fn pins(&mut self, port: &str, before: u32, after: u32) {
        self.pins_at(port, before, after, self.now);
    }

    /// A module of the part takes a pin over from its port's latch with this level, or lets go of
    /// it: that is seen while the port drives the pin. It came about at cycle `at`, up to the
    /// length of an instruction before now.
    pub fn module_output(&mut self, pin: &Pin, level: Option<bool>, at: u64) {
        let driven = self.board.driven(&pin.port);
        if let Some((before, after)) = self.board.module_output(pin, level, self.now) {
            self.pins_at(&pin.port, before, after, at);
            if driven != self.board.driven(&pin.port) {
                self.directions(&pin.port, at);
            }
        }
    }

    /// A port leaves the pins of `alternate` to modules: see [`Board::set_alternates`].
    pub fn alternates(&mut self, port: &str, alternate: u32, functions: u128) {
        let before = self.board.outputs(port);
        self.board.set_alternates(port, alternate, functions, self.now);
        let after = self.board.outputs(port);
        self.pins_at(port, before, after, self.now);
        self.directions(port, self.now);
    }

    /// A byte has left the UART of this name, complete at `cycles`.
    pub fn sent(&mut self, port: &str, byte: u8, cycles: u64) {
        if let Some(observer) = &mut self.observer {
            observer.uart(port, byte, cycles);
        }
        self.board.keep_sent(port, byte, cycles);
    }

    /// The output of channel `channel`, from 1, of the converter `device` is another one from cycle
    /// `at` on; none where it is off. At the pin is the converter's input `input`.
    pub fn analog_output(&mut self, device: &str, channel: u8, input: u8, code: Option<u32>, at: u64) {
        let volts = code.map(|code| self.board.supply_v * f64::from(code) / 4096.0);
        self.board.set_analog_output(input, volts);
        if let Some(observer) = &mut self.observer {
            observer.analog(&DacStep { device, channel, volts, cycles: at });
        }
    }

    fn pins_at(&mut self, port: &str, before: u32, after: u32, cycles: u64) {
        if let Some(observer) = &mut self.observer {
            let mut changed = before ^ after;
            while changed != 0 {
                let pin = changed.trailing_zeros() as u8;
                changed &= changed - 1;
                observer.pin(&PinEdge { port, pin, high: after >> pin & 1 == 1, cycles });
            }
        }
    }
}
