//! The RP2040 of Raspberry Pi: RP2040 Datasheet. Masks and reset values of registers are those of
//! its SVD file.

pub mod adc;
mod clocks;
mod divider;
pub mod dma;
pub mod i2c;
mod interrupts;
mod oscillators;
pub mod pins;
pub mod pio;
pub mod pwm;
mod register_write;
mod second_core;
pub mod spi;
pub mod system;
pub mod timer;
pub mod uart;
pub mod usb;
mod watchdog;
pub mod xip;

use crate::{Context, Fault, PeripheralSpec};
use register_write::Write;

/// Bytes of a block's registers with their aliases.
const BLOCK: u32 = 0x4000;

/// SIO, which PSM holds in reset and not RESETS, beside the bits of RESETS.RESET, which end below.
const HELD_SIO: u32 = 1 << 31;
/// The second core, which PSM holds.
const HELD_PROC1: u32 = 1 << 30;

/// The clocks in [`crate::Events::generic_clocks_hz`]: the generators in the order of their
/// registers (section 2.15.7), then the tick.
const CLOCKS: usize = 11;
const CLK_REF: usize = 4;
const CLK_SYS: usize = 5;
const CLK_PERI: usize = 6;
const CLK_ADC: usize = 8;
const TICK: usize = 10;

/// The setting of this name below a bound.
fn number(spec: &PeripheralSpec, name: &str, below: u8) -> Option<u8> {
    let number = spec.settings.get(name).and_then(|number| u8::try_from(*number).ok());
    number.filter(|number| *number < below)
}

/// A block asks for DMA on its line for data to be sent and on that behind it for received ones, or
/// no longer; `before` are its requests so far.
fn request_transfers(dreq: u8, on: [bool; 2], before: &mut u128, context: &mut Context<'_, '_>) {
    let requests = (u128::from(on[0]) | u128::from(on[1]) << 1) << dreq;
    if std::mem::replace(before, requests) != requests {
        context.events.request_transfer(3 << dreq & !requests, false, context.now);
        context.events.request_transfer(requests, true, context.now);
    }
}

/// A write to a block that is held in reset. It takes nothing, and the registers read as after a
/// reset, as those of USB do, which the SDK writes so.
fn written_in_reset(device: &str, address: u32, context: &mut Context<'_, '_>) -> Result<(), Fault> {
    if context.events.tolerate("a write to a block that RESETS holds in reset takes nothing") {
        return Ok(());
    }
    let what = format!("{device} is held in reset (RESETS.RESET), and takes no write");
    Err(Fault::Peripheral { pc: context.pc, address, device: device.into(), what })
}

/// A write where a block has no register: it takes zero.
fn reserved(write: Write) -> Result<(), &'static str> {
    if write.onto(0) == 0 { Ok(()) } else { Err("a reserved place") }
}

/// The offset of the register that an address in a block with aliases belongs to.
fn register(address: u32) -> u32 {
    address & 0xffc
}
