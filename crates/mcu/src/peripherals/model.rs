//! A peripheral's model, as `targets/*.toml` names it.

use crate::{Part, Peripheral, PeripheralSpec};

/// Makes a peripheral; a sentence where its settings do not allow it.
type New = fn(&Part, &PeripheralSpec) -> Result<Box<dyn Peripheral>, String>;

/// A model with its name.
pub(super) struct Model {
    pub name: &'static str,
    /// The settings that it knows, with `#` for a number.
    pub settings: &'static [&'static str],
    pub new: New,
}

impl Model {
    pub const fn new(name: &'static str, settings: &'static [&'static str], new: New) -> Model {
        Model { name, settings, new }
    }
}

/// Among the settings of a model: it looks at `pins`.
pub(super) const PINS: &str = "pins";
