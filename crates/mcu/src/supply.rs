//! Start and stop of a part by its supply voltage.

use crate::Power;

/// State of the part between power lost and power restored.
#[derive(Clone, Copy, Default)]
pub(crate) struct Supply {
    state: Stage,
    /// The supply at which the reset ends, where a supervisor struck and the part has not browned
    /// out since.
    warm_v: Option<f64>,
}

#[derive(Clone, Copy, Default, PartialEq)]
enum Stage {
    /// Reset, and not yet released.
    #[default]
    Starting,
    Running,
    /// Held in reset until somebody resets the machine.
    Lost,
}

impl Supply {
    /// The machine is reset.
    pub fn reset(&mut self) {
        if self.state == Stage::Running {
            self.warm_v = None;
        }
        self.state = Stage::Starting;
    }

    /// Returns true if the part runs at this supply.
    pub fn suffices(&mut self, power: &Power, supply_v: f64) -> bool {
        if self.state == Stage::Running && supply_v < power.falling_v {
            self.state = Stage::Lost;
            self.warm_v = Some(power.rising_v);
        }
        if supply_v < power.brown_out_v {
            // The release level was set by the program; it is the default again after a brown-out.
            self.warm_v = None;
        }
        if self.state == Stage::Starting && supply_v >= self.warm_v.unwrap_or(power.cold_v) {
            self.state = Stage::Running;
        }
        self.state == Stage::Running
    }

    /// The supplies at which the part is reset and released.
    pub fn limits(&self, power: &Power) -> (f64, f64) {
        let rising_v = match self.state {
            Stage::Running => power.rising_v,
            _ => self.warm_v.unwrap_or(power.cold_v),
        };
        (power.falling_v, rising_v)
    }
}
