//! The real-time clocks of the STM32: the counter of the F1, the calendar of the F4.

pub mod calendar;
pub mod counter;
mod ticks;
mod time;
