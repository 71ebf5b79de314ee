//! The R8C/Tiny parts of Renesas.

pub mod ports;
pub mod system;

use super::model::Model;

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new("r8c-ports", &[], |_, spec| Ok(Box::new(ports::Ports::new(spec)))),
    Model::new("r8c-system", &[], |part, spec| Ok(Box::new(system::System::new(part, spec)))),
];
