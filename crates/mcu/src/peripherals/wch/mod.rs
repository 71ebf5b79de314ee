//! The CH32V parts of WCH (Nanjing Qinheng). Their ports and USARTs have the registers of the
//! STM32F1: those are models of `st`.

pub mod debug_data;
pub mod pfic;
pub mod rcc;
pub mod systick;
