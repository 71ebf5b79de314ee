//! A SERCOM as an asynchronous transmitter of characters (USART with internal clock); its receiver
//! hears nothing, and the other modes are refused. DS40001882F sections 25.6.2.3 (baud rates) and
//! 26.8 (registers).
//!
//! What is written holds at once: SYNCBUSY is never set.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Part, Peripheral, PeripheralSpec, Roles, SerialPort, Spec};

const CTRLA: u32 = 0x00;
const CTRLB: u32 = 0x04;
const BAUD: u32 = 0x0c;
const INTENCLR: u32 = 0x14;
const INTFLAG: u32 = 0x18;
const SYNCBUSY: u32 = 0x1c;
const DATA: u32 = 0x28;
const DBGCTRL: u32 = 0x30;
const SIZE: u32 = 0x40;

/// CTRLA.
const SWRST: u32 = 1 << 0;
const ENABLE: u32 = 1 << 1;
const MODE_SHIFT: u32 = 2;
const MODE_INTERNAL: u32 = 1;
const SAMPR_SHIFT: u32 = 13;
const FORM_SHIFT: u32 = 24;
const FORM_PARITY: u32 = 1;
const CMODE: u32 = 1 << 28;
const CTRLA_MASK: u32 = 0x7ff3_e19f;
/// CTRLB.
const SBMODE: u32 = 1 << 6;
const TXEN: u32 = 1 << 16;
const CTRLB_MASK: u32 = 0x0003_2747;

/// INTFLAG: data register empty, transmit complete.
const DRE: u8 = 1 << 0;
const TXC: u8 = 1 << 1;
const INTFLAG_MASK: u8 = 0xbf;

/// GCLK_CLKCTRL.ID of SERCOM0's core clock (table 15-7); the others follow.
const FIRST_CORE_ID: i64 = 0x14;

/// The transmitter.
#[derive(Clone)]
pub struct Sercom {
    name: String,
    base: u32,
    irq: Option<u8>,
    clock_id: usize,
    control_a: u32,
    control_b: u32,
    baud: u32,
    enables: u8,
    complete: bool,
    debug: u32,
    /// The character that waits for the shift register.
    waiting: Option<u8>,
    /// The character in the shift register, and when it is out.
    shifting: Option<(u8, u64)>,
}

impl Sercom {
    /// The SERCOM at `spec.base`, interrupting with `spec.irq`; `settings.clock` is its core
    /// clock's GCLK_CLKCTRL.ID.
    ///
    /// # Errors
    /// No such clock.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Sercom, String> {
        let clock =
            spec.settings.get("clock").filter(|clock| (FIRST_CORE_ID..FIRST_CORE_ID + 6).contains(clock));
        let clock = clock.ok_or_else(|| format!("{}: {} needs clock, 20 to 25", part.name, spec.name))?;
        Ok(Sercom {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            clock_id: *clock as usize,
            control_a: 0,
            control_b: 0,
            baud: 0,
            enables: 0,
            complete: false,
            debug: 0,
            waiting: None,
            shifting: None,
        })
    }

    fn on(&self) -> bool {
        self.control_a & ENABLE != 0
    }

    /// Bits of a frame: start, data, parity, stop.
    fn frame_bits(&self) -> u64 {
        let data = match self.control_b & 7 {
            0 => 8,
            size => u64::from(size),
        };
        let parity = u64::from(self.control_a >> FORM_SHIFT & 15 == FORM_PARITY);
        1 + data + parity + 1 + u64::from(self.control_b & SBMODE != 0)
    }

    /// Core cycles of a frame; `None` without a clock. Table 25-2: S samples a bit; arithmetic, f =
    /// f_ref / S * (1 - BAUD / 65536); fractional, f = f_ref / (S * (BAUD + FP / 8)).
    fn frame(&self, context: &Context<'_, '_>) -> Option<u64> {
        let reference_hz = context.events.generic_clocks_hz.get(self.clock_id).copied().unwrap_or(0);
        let baud = u128::from(self.baud);
        // A bit takes `numerator / denominator` cycles of the reference.
        let (numerator, denominator) = match self.control_a >> SAMPR_SHIFT & 7 {
            0 => (16 * 65536, 65536 - baud),
            1 => (2 * ((baud & 0x1fff) * 8 + (baud >> 13)), 1),
            2 => (8 * 65536, 65536 - baud),
            3 => ((baud & 0x1fff) * 8 + (baud >> 13), 1),
            _ => (3 * 65536, 65536 - baud),
        };
        let cycles = u128::from(self.frame_bits()) * numerator * u128::from(context.board.clock_hz());
        let cycles = cycles.checked_div(denominator * u128::from(reference_hz))?;
        (cycles != 0).then_some(cycles as u64)
    }

    fn flags(&self) -> u8 {
        let empty = self.on() && self.control_b & TXEN != 0 && self.waiting.is_none();
        (if empty { DRE } else { 0 }) | (if self.complete { TXC } else { 0 })
    }

    fn signal(&self, context: &mut Context<'_, '_>) {
        if let Some(irq) = self.irq {
            if self.flags() & self.enables != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    fn send(&mut self, byte: u8, context: &mut Context<'_, '_>) -> Result<(), Fault> {
        let address = self.base + DATA;
        if !self.on() || self.control_b & TXEN == 0 {
            return context.refuse(&self.name, address, "sending while the transmitter is off");
        }
        let Some(frame) = self.frame(context) else {
            return context.refuse(&self.name, address, "sending without a clock or a baud rate");
        };
        self.complete = false;
        if self.shifting.is_none() {
            self.shifting = Some((byte, context.now + frame));
        } else {
            self.waiting = Some(byte);
        }
        Ok(())
    }

    fn write_control_a(&mut self, value: u32, context: &Context<'_, '_>) -> Result<(), Fault> {
        if value & SWRST != 0 {
            self.reset();
            return Ok(());
        }
        let value = value & CTRLA_MASK;
        let mode = value >> MODE_SHIFT & 7;
        if value & ENABLE != 0 {
            if mode != MODE_INTERNAL || value & CMODE != 0 {
                let what = "of its modes, only the asynchronous USART with internal clock is modelled";
                return context.refuse(&self.name, self.base, what);
            }
            if value >> FORM_SHIFT & 15 > FORM_PARITY || value >> SAMPR_SHIFT & 7 > 4 {
                return context.refuse(&self.name, self.base, "CTRLA.FORM or SAMPR that is not modelled");
            }
        } else {
            self.waiting = None;
            self.shifting = None;
            self.complete = false;
        }
        self.control_a = value;
        Ok(())
    }
}

impl Peripheral for Sercom {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let enables = u32::from(self.enables);
        let word = match offset & !3 {
            CTRLA => self.control_a,
            CTRLB => self.control_b,
            BAUD => self.baud,
            // INTENCLR and INTENSET.
            INTENCLR => enables | enables << 16,
            // INTFLAG, and STATUS: no errors.
            INTFLAG => self.flags().into(),
            // Nothing has been received.
            SYNCBUSY | DATA => 0,
            DBGCTRL => self.debug,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        };
        Ok(part_of_word(word, offset, size))
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let offset = address - self.base;
        let merge = |old: u32| merged_word(old, offset, size, value);
        match offset & !3 {
            CTRLA => self.write_control_a(merge(self.control_a), context)?,
            CTRLB => self.control_b = merge(self.control_b) & CTRLB_MASK,
            BAUD => self.baud = merge(self.baud) & 0xffff,
            INTENCLR => {
                let bits = merge(0);
                self.enables &= !(bits as u8);
                self.enables |= (bits >> 16) as u8 & INTFLAG_MASK;
            }
            INTFLAG => self.complete &= merge(0) as u8 & TXC == 0,
            SYNCBUSY => {}
            DATA => self.send(merge(0) as u8, context)?,
            DBGCTRL => self.debug = merge(0) & 1,
            _ => return context.refuse(&self.name, address, "register not modelled"),
        }
        self.signal(context);
        Ok(())
    }

    fn due(&self) -> Option<u64> {
        self.shifting.map(|(_, done)| done)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        while let Some((byte, done)) = self.shifting
            && done <= context.now
        {
            context.sent(&self.name, byte, done);
            let frame = self.frame(context);
            self.shifting = self.waiting.take().zip(frame).map(|(byte, frame)| (byte, done + frame));
            self.complete |= self.shifting.is_none();
        }
        self.signal(context);
    }

    fn reset(&mut self) {
        self.control_a = 0;
        self.control_b = 0;
        self.baud = 0;
        self.enables = 0;
        self.complete = false;
        self.debug = 0;
        self.waiting = None;
        self.shifting = None;
    }

    fn roles(&self) -> Roles<'_> {
        Roles { serial_port: Some(self), ..Roles::default() }
    }
}

impl SerialPort for Sercom {
    fn transmit_end(&self) -> Option<u64> {
        self.shifting.map(|(_, end)| end)
    }
}
