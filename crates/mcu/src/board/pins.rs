//! Pins of a board: their levels, who drives them, and the functions that ports leave them to.

use super::pin_signal::PinSignal;
use super::{Board, Levels, Pin};

/// State that the microcontroller gives to the pins of a port.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Port {
    /// Pins that are driven.
    pub(super) driven: u32,
    /// Those that the port drives itself, whatever modules do.
    direction: u32,
    /// Their levels; of others, whether they are pulled up.
    pub(super) levels: u32,
    /// The levels without what modules make of them.
    latch: u32,
    /// Pins of which a module (a timer's compare output) gives the level while they are driven, and
    /// those levels.
    pub(super) module_pins: u32,
    module_levels: u32,
    /// Pins that the port leaves to modules altogether (STM32: alternate function), which drive
    /// them where they give a level, and the number of each such pin's function, four bits a pin.
    pub(super) alternate: u32,
    functions: u128,
}

impl Port {
    /// The levels of the pins that it drives.
    fn outputs(self) -> u32 {
        self.driven & self.levels
    }

    pub(super) fn combine(&mut self) {
        self.driven = self.direction | self.alternate & self.module_pins;
        let pins = self.module_pins & self.driven;
        self.levels = self.latch & !pins | self.module_levels & pins;
    }
}

impl Board {
    /// Drives a pin from outside, or lets go of it. The machine takes notice at its next run.
    pub fn set_input(&mut self, pin: Pin, level: Option<bool>) {
        match level {
            Some(level) => self.inputs.insert(pin, level),
            None => self.inputs.remove(&pin),
        };
        self.changed = true;
    }

    /// Drives a pin from outside with levels over time: to be done before the run begins. A level
    /// by [`Board::set_input`] has precedence.
    pub fn set_pin_signal(&mut self, pin: Pin, levels: Levels) {
        self.pin_signals.retain(|signal| signal.pin != pin);
        self.pin_signals.push(PinSignal::new(pin, levels));
        self.reschedule();
    }

    /// The level that something outside the microcontroller drives a pin to, if anything does.
    #[must_use]
    pub fn level(&self, port: &str, bit: u8) -> Option<bool> {
        let at = |pin: &Pin| pin.bit == bit && pin.port == port;
        if let Some((_, level)) = self.inputs.iter().find(|(pin, _)| at(pin)) {
            return Some(*level);
        }
        let signal = self.pin_signals.iter().find(|signal| at(&signal.pin));
        if let Some(level) = signal.and_then(PinSignal::level) {
            return Some(level);
        }
        self.chips.iter().find_map(|mounted| {
            let (index, _) = mounted.wiring.outputs.iter().find(|(_, pin)| at(pin))?;
            mounted.chip.output(*index)
        })
    }

    /// The level at a pin, whoever drives it: the microcontroller, something outside, the
    /// microcontroller's pull-up; `None` where nothing does. Ports tell the board of their pull-ups
    /// on AVR and STM32 alone.
    #[must_use]
    pub fn pin(&self, port: &str, bit: u8) -> Option<bool> {
        let own = self.ports.get(port).copied().unwrap_or_default();
        let level = own.levels >> bit & 1 == 1;
        if own.driven >> bit & 1 == 1 {
            return Some(level);
        }
        self.level(port, bit).or(level.then_some(true))
    }

    /// Returns true if the microcontroller drives the pin.
    #[must_use]
    pub fn is_driven(&self, port: &str, bit: u8) -> bool {
        self.ports.get(port).is_some_and(|port| port.driven >> bit & 1 == 1)
    }

    /// Returns the mask of the port's pins that are driven from outside, and their levels.
    #[must_use]
    pub fn outside(&self, port: &str) -> (u32, u32) {
        let (mut driven, mut levels) = (0, 0);
        let mut add = |pin: &Pin, level: bool| {
            if pin.port == port && driven >> pin.bit & 1 == 0 {
                driven |= 1 << pin.bit;
                levels |= u32::from(level) << pin.bit;
            }
        };
        for (pin, level) in &self.inputs {
            add(pin, *level);
        }
        for signal in &self.pin_signals {
            if let Some(level) = signal.level() {
                add(&signal.pin, level);
            }
        }
        for mounted in &self.chips {
            for (index, pin) in &mounted.wiring.outputs {
                if let Some(level) = mounted.chip.output(*index) {
                    add(pin, level);
                }
            }
        }
        (driven, levels)
    }

    /// The microcontroller drives the pins of `driven` of a port to `levels`; chips are selected by
    /// that. Ones in `levels` of pins that are not driven are pull-ups.
    pub fn drive(&mut self, port: &str, driven: u32, levels: u32, cycle: u64) {
        match self.ports.get_mut(port) {
            Some(own) if (own.direction, own.latch) == (driven, levels) => return,
            Some(own) => {
                (own.direction, own.latch) = (driven, levels);
                own.combine();
            }
            None => {
                let own = Port { driven, direction: driven, levels, latch: levels, ..Port::default() };
                self.ports.insert(port.to_string(), own);
            }
        }
        self.select_chips(port, cycle);
    }

    /// A module gives the level of a pin from now on, or no longer: see
    /// [`crate::Context::module_output`]. The levels of the outputs of its port before and after,
    /// if that changes anything.
    pub(crate) fn module_output(&mut self, pin: &Pin, level: Option<bool>, cycle: u64) -> Option<(u32, u32)> {
        let bit = 1 << pin.bit;
        if !self.ports.contains_key(&pin.port) {
            level?;
            self.ports.insert(pin.port.clone(), Port::default());
        }
        let own = self.ports.get_mut(&pin.port)?;
        let (pins, high) = (own.module_pins & bit != 0, own.module_levels & bit != 0);
        if level == pins.then_some(high) {
            return None;
        }
        let (before, driven) = (own.outputs(), own.driven);
        own.module_pins = own.module_pins & !bit | if level.is_some() { bit } else { 0 };
        own.module_levels = own.module_levels & !bit | if level == Some(true) { bit } else { 0 };
        own.combine();
        let after = own.outputs();
        if before != after || driven != own.driven {
            self.select_chips(&pin.port, cycle);
        }
        Some((before, after))
    }

    /// A port leaves these pins to modules, each for the function of its number (four bits a pin);
    /// a module that gave the level of a pin which is new to that, or has another function, does so
    /// no longer.
    pub(crate) fn set_alternates(&mut self, port: &str, alternate: u32, functions: u128, cycle: u64) {
        if !self.ports.contains_key(port) {
            self.ports.insert(port.to_string(), Port::default());
        }
        let Some(own) = self.ports.get_mut(port) else { return };
        let renamed = own.functions ^ functions;
        let moved = (0..32).filter(|bit| renamed >> (4 * bit) & 15 != 0).fold(0, |pins, bit| pins | 1 << bit);
        let changed = own.alternate ^ alternate | moved & alternate;
        if changed == 0 {
            return;
        }
        self.routing += 1;
        own.module_pins &= !changed;
        (own.alternate, own.functions) = (alternate, functions);
        own.combine();
        self.select_chips(port, cycle);
    }

    /// The function that a port leaves a pin to modules for, if it does.
    #[must_use]
    pub(crate) fn alternate_function(&self, pin: &Pin) -> Option<u8> {
        let own = self.ports.get(&pin.port)?;
        (own.alternate >> pin.bit & 1 == 1).then_some((own.functions >> (4 * pin.bit) & 15) as u8)
    }

    /// The registers that say at which pins modules are, whatever the pins' ports have set
    /// (STM32F1: AFIO_MAPR, AFIO_MAPR2).
    pub(crate) fn set_remaps(&mut self, remaps: [u32; 2]) {
        if self.remaps != remaps {
            self.remaps = remaps;
            self.routing += 1;
            self.changed = true;
        }
    }

    /// The comparator stands in for the pin of a timer's capture, with this level, or no longer
    /// (AVR: ACIC).
    pub(crate) fn set_capture_source(&mut self, level: Option<bool>) {
        self.changed |= self.capture_source != level;
        self.capture_source = level;
    }

    /// The level of a timer's capture input, of the comparator if that stands in for the pin.
    pub(crate) fn capture_level(&self, pin: &Pin, by_comparator: bool) -> bool {
        let comparator = self.capture_source.filter(|_| by_comparator);
        comparator.unwrap_or_else(|| self.pin(&pin.port, pin.bit) == Some(true))
    }

    /// A number that changes whenever functions go to other pins.
    pub(crate) fn routing(&self) -> u32 {
        self.routing
    }

    /// Returns the remap registers' values as [`Board::set_remaps`] left them.
    pub(crate) fn remaps(&self) -> [u32; 2] {
        self.remaps
    }

    /// The pins of a port that the microcontroller drives.
    pub(crate) fn driven(&self, port: &str) -> u32 {
        self.ports.get(port).map_or(0, |port| port.driven)
    }

    /// The levels of all pins of a port, as [`Board::pin`] has them; low where nobody drives one.
    pub(crate) fn levels(&self, port: &str) -> u32 {
        let own = self.ports.get(port).copied().unwrap_or_default();
        let (driven, levels) = self.outside(port);
        own.outputs() | !own.driven & (driven & levels | !driven & own.levels)
    }

    /// The levels of the pins that the microcontroller drives.
    pub(crate) fn outputs(&self, port: &str) -> u32 {
        self.ports.get(port).map_or(0, |port| port.outputs())
    }
}
