//! Interrupts, timers, serial port and power control of an 8051, at rest.
//!
//! Intel, *MCS 51 Microcontroller Family User's Manual* (272383-002), chapter "Hardware
//! Description", and table "Reset Values of the SFRs". None of these is modelled as working: their
//! registers keep what is written, and a write that would set one going is a fault. So are ones in
//! bits that the manual reserves (these read as zero), and reading SBUF and TCON, whose values come
//! from pins.

use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};

struct Register {
    /// Offset from 0x80.
    offset: u8,
    name: &'static str,
    /// Bits that do not exist.
    reserved: u8,
    /// Bits that would set something going, and what.
    refused: u8,
    what: &'static str,
}

const fn register(offset: u8, name: &'static str, reserved: u8, refused: u8, what: &'static str) -> Register {
    Register { offset, name, reserved, refused, what }
}

const TCON: u8 = 0x08;
const SBUF: u8 = 0x19;
const IE: u8 = 0x28;
/// All interrupts are enabled by their own bits.
const EA: u8 = 0x80;

const REGISTERS: [Register; 11] = [
    // PD, IDL
    register(0x07, "PCON", 0x70, 0x03, "idle and power-down are not modelled: no interrupt would end them"),
    // TR1, TR0; IE1, IE0
    register(TCON, "TCON", 0x00, 0x5a, "timers and external interrupts are not modelled"),
    register(0x09, "TMOD", 0x00, 0x00, ""),
    register(0x0a, "TL0", 0x00, 0x00, ""),
    register(0x0b, "TL1", 0x00, 0x00, ""),
    register(0x0c, "TH0", 0x00, 0x00, ""),
    register(0x0d, "TH1", 0x00, 0x00, ""),
    // REN
    register(0x18, "SCON", 0x00, 0x10, "the serial port is not modelled: it receives nothing"),
    register(SBUF, "SBUF", 0x00, 0xff, "the serial port is not modelled"),
    register(IE, "IE", 0x60, 0x00, "interrupts are not modelled: EA and the enable bit of a source are set"),
    register(0x38, "IP", 0xe0, 0x00, ""),
];

/// The registers.
#[derive(Clone)]
pub struct System {
    name: String,
    base: u32,
    values: [u8; REGISTERS.len()],
}

impl System {
    /// The registers, with 0x80 of the special function registers at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> System {
        System { name: spec.name.clone(), base: spec.base, values: [0; REGISTERS.len()] }
    }

    fn find(&self, address: u32) -> usize {
        let offset = address - self.base;
        // The bus asks for nothing outside the ranges, which are the registers.
        REGISTERS.iter().position(|register| u32::from(register.offset) == offset).unwrap_or(0)
    }
}

fn fault(register: &Register, address: u32, context: &Context<'_, '_>, what: &str) -> Fault {
    Fault::Peripheral { pc: context.pc, address, device: register.name.into(), what: what.into() }
}

impl Peripheral for System {
    fn spec(&self) -> Spec {
        Spec::with_ranges(
            &self.name,
            REGISTERS
                .iter()
                .map(|register| self.base + u32::from(register.offset))
                .map(|address| address..address + 1),
        )
    }

    fn read(&mut self, address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let index = self.find(address);
        let register = &REGISTERS[index];
        if register.offset == SBUF {
            return Err(fault(register, address, context, register.what));
        }
        // JBC and DJNZ decide by the bits that they read, so that no access to TCON is harmless.
        if register.offset == TCON {
            return Err(fault(
                register,
                address,
                context,
                "its IE1 and IE0 show pins, which is not modelled",
            ));
        }
        Ok(self.values[index].into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let index = self.find(address);
        let (register, value) = (&REGISTERS[index], value as u8);
        let enables = register.offset == IE && value & EA != 0 && value & !EA & !register.reserved != 0;
        if value & register.reserved != 0 {
            return Err(fault(register, address, context, "a one in a reserved bit"));
        }
        if value & register.refused != 0 || register.offset == SBUF || enables {
            return Err(fault(register, address, context, register.what));
        }
        self.values[index] = value;
        Ok(())
    }

    fn reset(&mut self) {
        self.values = [0; REGISTERS.len()];
    }
}
