//! The 8051 of Intel.

pub mod port;
pub mod system;

use super::model::Model;

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new("mcs51-port", &["bus", "strobes"], |_, spec| Ok(Box::new(port::Port::new(spec)))),
    Model::new("mcs51-system", &[], |_, spec| Ok(Box::new(system::System::new(spec)))),
];
