//! The MC68HC908 parts of Freescale (Motorola, NXP).

pub mod config;
pub mod port;

use super::model::Model;

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new("hc08-config", &[], |_, spec| Ok(Box::new(config::Config::new(spec)))),
    Model::new("hc08-port", &["direction"], |_, spec| Ok(Box::new(port::Port::new(spec)?))),
];
