//! The CH32V parts of WCH (Nanjing Qinheng). Their ports and USARTs have the registers of the
//! STM32F1: those are models of `st`.

pub mod debug_data;
pub mod pfic;
pub mod rcc;
pub mod systick;

use super::model::Model;

/// The models of the blocks here.
pub(super) const MODELS: &[Model] = &[
    Model::new("ch32-debug-data", &[], |_, spec| Ok(Box::new(debug_data::DebugData::new(spec)))),
    Model::new("ch32-pfic", &[], |_, spec| Ok(Box::new(pfic::Pfic::new(spec)))),
    Model::new("ch32-rcc", &["flash_base"], |part, spec| Ok(Box::new(rcc::Rcc::new(part, spec)?))),
    Model::new("ch32-systick", &["software_irq"], |_, spec| Ok(Box::new(systick::SysTick::new(spec)))),
];
