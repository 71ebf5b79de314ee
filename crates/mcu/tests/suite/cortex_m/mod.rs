mod core;
mod encodings;
mod firmware;
mod oracle;
mod pipeline_m3_m4;
mod programs;
mod stm32_peripherals;
mod timing;
