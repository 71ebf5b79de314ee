mod core;
mod encodings;
mod firmware;
mod oracle;
mod programs;
mod stm32_peripherals;
mod systick;
mod timing;
