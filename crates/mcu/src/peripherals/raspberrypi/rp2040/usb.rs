//! The USB controller as a device on a bus without a host: section 4.1. Registers and memory keep
//! what is written, VBUS is as the program says it is, and nothing ever comes: no reset, no packet.
//! The suspension that the part sees on an idle bus after 3 ms is left out. Its interrupt comes
//! where a program forces it (INTF). Refused: the controller as a host. The SDK switches the
//! transceiver off while the block is held in reset: then SIE_CTRL has its reset's value, and
//! writes do nothing.

use super::interrupts::Interrupts;
use super::{BLOCK, Write, register};
use crate::peripherals::register::{Register, Registers, part_of_word};
use crate::{Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};
use std::ops::Range;

const MAIN_CTRL: u32 = 0x40;
const SOF_RD: u32 = 0x48;
const SIE_CTRL: u32 = 0x4c;
const SIE_STATUS: u32 = 0x50;
const BUFF_STATUS: u32 = 0x58;
const BUFF_CPU_SHOULD_HANDLE: u32 = 0x5c;
const EP_ABORT: u32 = 0x60;
const EP_ABORT_DONE: u32 = 0x64;
const EP_STATUS_STALL_NAK: u32 = 0x70;
const USB_PWR: u32 = 0x78;
const INTR: u32 = 0x8c;
const INTE: u32 = 0x90;
const INTS: u32 = 0x98;

/// MAIN_CTRL.HOST_NDEVICE.
const HOST: u32 = 1 << 1;
/// SIE_CTRL.PULLUP_EN; what a host does: START_TRANS to RECEIVE_DATA, PREAMBLE_EN, SOF_SYNC,
/// SOF_EN, KEEP_ALIVE_EN, RESET_BUS.
const PULLUP_EN: u32 = 1 << 16;
const HOST_CONTROL: u32 = 0x275f;
/// SIE_STATUS: VBUS_DETECTED, and the line state of a pulled-up line that nobody drives (J).
const VBUS_DETECTED: u32 = 1 << 0;
const LINE_J: u32 = 1 << 2;
/// USB_PWR: VBUS_DETECT with its override.
const VBUS_OVERRIDE: u32 = 3 << 2;
const EVERY_INTERRUPT: u32 = 0xf_ffff;
const AS_HOST: &str = "the USB controller as a host is not modelled";

/// The registers that keep what is written; ADDR_ENDP1 to 15 are the host's.
const MAP: &[Register] = &[
    Register::new(0x00, 0x000f_007f),
    Register::new(MAIN_CTRL, 0x8000_0003).refusing(HOST, AS_HOST),
    Register::new(0x44, 0x7ff),
    Register::new(SIE_CTRL, 0xff07_bf5f & !HOST_CONTROL).refusing(HOST_CONTROL, AS_HOST),
    Register::new(0x54, 0xfffe),
    Register::new(EP_ABORT, u32::MAX),
    Register::new(0x68, 3),
    Register::new(0x6c, 0x03ff_03ff).with_reset(0x0010_0010),
    Register::new(0x74, 0xf),
    Register::new(USB_PWR, 0x3f),
    Register::new(0x7c, 0x007f_ff77),
    Register::new(0x80, 0x9fff),
    Register::new(0x84, 0x1f1f).with_reset(0x1f1f),
];

/// Its bit in RESETS.RESET.
const RESET: u32 = 1 << 24;
/// Bytes of its memory.
const DPRAM: u32 = 0x1000;

/// The controller.
#[derive(Clone)]
pub struct Usb {
    name: String,
    base: u32,
    irq: u8,
    dpram: u32,
    held: bool,
    registers: Registers,
    interrupts: Interrupts,
    memory: Vec<u8>,
}

impl Usb {
    /// The registers at `spec.base`, interrupting with `spec.irq`; `settings.dpram` is its memory's
    /// place.
    ///
    /// # Errors
    /// One of them that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Usb, String> {
        let needs = |what: &str| format!("{}: {} needs {what}", part.name, spec.name);
        let dpram = spec.settings.get("dpram").and_then(|base| u32::try_from(*base).ok());
        Ok(Usb {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq.ok_or_else(|| needs("irq"))?,
            dpram: dpram.filter(|base| *base < 0xf000_0000).ok_or_else(|| needs("dpram"))?,
            held: true,
            registers: Registers::new(MAP),
            interrupts: Interrupts::new(EVERY_INTERRUPT),
            memory: vec![0; DPRAM as usize],
        })
    }

    /// The bytes of the memory at an address in it.
    fn bytes(&self, address: u32, size: u8) -> Option<Range<usize>> {
        let offset = address.checked_sub(self.dpram)? as usize;
        let range = offset..offset + usize::from(size);
        (range.end <= self.memory.len()).then_some(range)
    }

    fn read_register(&self, offset: u32) -> Option<u32> {
        Some(match offset {
            SIE_STATUS => {
                let powered = self.registers[USB_PWR] & VBUS_OVERRIDE == VBUS_OVERRIDE;
                let pulled = self.registers[SIE_CTRL] & PULLUP_EN != 0;
                u32::from(powered) * VBUS_DETECTED | u32::from(pulled) * LINE_J
            }
            // No buffer is under way.
            EP_ABORT_DONE => self.registers[EP_ABORT],
            SOF_RD | BUFF_STATUS | BUFF_CPU_SHOULD_HANDLE | EP_STATUS_STALL_NAK | INTR | 0x04..=0x3c => 0,
            INTE..=INTS => self.interrupts.read(offset - INTE, 0),
            _ => return self.registers.get(offset),
        })
    }

    fn write_register(&mut self, offset: u32, write: Write) -> Result<(), &'static str> {
        match offset {
            SIE_STATUS
            | EP_ABORT_DONE
            | SOF_RD
            | BUFF_STATUS
            | BUFF_CPU_SHOULD_HANDLE
            | EP_STATUS_STALL_NAK
            | INTR => Ok(()),
            INTE..=INTS => {
                self.interrupts.write(offset - INTE, write);
                Ok(())
            }
            0x04..=0x3c if write.onto(0) == 0 => Ok(()),
            0x04..=0x3c => Err(AS_HOST),
            // Start-up code clears the whole block.
            _ if self.registers.get(offset).is_none() => super::reserved(write),
            _ => self.registers.write(offset, |before| write.onto(before)),
        }
    }

    fn request(&self, context: &mut Context<'_, '_>) {
        if self.interrupts.status(0) != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }
}

impl Peripheral for Usb {
    fn spec(&self) -> Spec {
        Spec::with_ranges(&self.name, [self.base..self.base + BLOCK, self.dpram..self.dpram + DPRAM])
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        if let Some(bytes) = self.bytes(address, size) {
            return Ok(self.memory[bytes].iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)));
        }
        let word = self.read_register(register(address));
        let word = word.ok_or_else(|| context.fault(&self.name, address, "register not modelled"))?;
        Ok(part_of_word(word, address, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        if self.held && register(address) == SIE_CTRL {
            return Ok(());
        }
        if self.held {
            return super::written_in_reset(&self.name, address, context);
        }
        if let Some(bytes) = self.bytes(address, size) {
            let length = bytes.len();
            self.memory[bytes].copy_from_slice(&value.to_le_bytes()[..length]);
            return Ok(());
        }
        let written = self.write_register(register(address), Write::new(address, size, value));
        written.map_err(|what| context.fault(&self.name, address, what))?;
        self.request(context);
        Ok(())
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        if matches!(event, Event::ControlsChanged) {
            self.held = context.events.held & RESET != 0;
            if self.held {
                self.registers.reset();
                self.interrupts.reset();
                self.request(context);
            }
        }
    }

    fn reset(&mut self) {
        self.held = true;
        self.registers.reset();
        self.interrupts.reset();
    }
}
