//! A user's own measurements, against the data sheet's typical currents.

/// What a calibration does to a current.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Adjustment {
    pub gain: f64,
    pub offset_a: f64,
}

impl Default for Adjustment {
    fn default() -> Adjustment {
        Adjustment { gain: 1.0, offset_a: 0.0 }
    }
}

impl Adjustment {
    pub fn apply(&self, current_a: f64) -> f64 {
        self.gain * current_a + self.offset_a
    }
}
