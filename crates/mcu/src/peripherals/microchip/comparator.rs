//! The analog comparator of an ATmega: ACSR.
//!
//! ATmega328P data sheet DS40002061, chapter 23. It compares AIN0, or the 1.1 V of the bandgap,
//! with AIN1. A pin that is high has the supply's voltage, any other 0 V; of equal voltages, AIN0
//! is not the higher one. The comparator's delay and the one or two cycles of its synchroniser are
//! left out. With ACIC its output stands in for the pin of timer 1's capture. The converter's
//! multiplexer at its input (ACME) is a fault of the converter.

use super::avr_port;
use crate::{Board, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};

/// ACSR.
const ACD: u8 = 0x80;
const ACBG: u8 = 0x40;
const ACO: u8 = 0x20;
const ACI: u8 = 0x10;
const ACIE: u8 = 0x08;
const ACIC: u8 = 0x04;
const ACIS: u8 = 0x03;

/// The bandgap, typical (8161D, bandgap reference voltage), in volts.
const BANDGAP_V: f64 = 1.1;

/// The comparator.
#[derive(Clone)]
pub struct Comparator {
    name: String,
    address: u32,
    irq: u8,
    port: String,
    /// Bits of AIN0 and AIN1.
    pins: [u8; 2],
    /// A timer can capture by it.
    captures: bool,
    /// ACSR without ACO and ACI.
    control: u8,
    output: bool,
    flag: bool,
    /// The core sleeps without the I/O clock: no edge is seen.
    asleep: bool,
}

impl Comparator {
    /// ACSR at `spec.base`; `spec.irq` is its vector. Settings: `port`, PINx of the port of its
    /// pins, and their bits `ain0` and `ain1`.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<Comparator, String> {
        let missing = |name: &str| format!("{}: {} needs {name}", part.name, spec.name);
        let pin = |name: &str| -> Result<u8, String> {
            Ok(*spec.settings.get(name).ok_or_else(|| missing(name))? as u8 & 7)
        };
        Ok(Comparator {
            name: spec.name.clone(),
            address: spec.base,
            irq: spec.irq.ok_or_else(|| missing("irq"))?,
            port: avr_port(part, spec, "port")?,
            pins: [pin("ain0")?, pin("ain1")?],
            captures: part.peripherals.iter().any(|spec| spec.settings.get("comparator") == Some(&1)),
            control: 0,
            output: false,
            flag: false,
            asleep: false,
        })
    }

    fn compare(&self, board: &Board) -> bool {
        let volts = |pin| if board.pin(&self.port, pin) == Some(true) { board.supply_v } else { 0.0 };
        let positive = if self.control & ACBG != 0 { BANDGAP_V } else { volts(self.pins[0]) };
        self.control & ACD == 0 && positive > volts(self.pins[1])
    }

    /// Takes note of the voltages; sets the flag where ACIS asks for such an edge.
    fn look(&mut self, context: &mut Context<'_, '_>) {
        let output = self.compare(context.board);
        context.board.set_capture_source((self.control & ACIC != 0).then_some(output));
        if output == std::mem::replace(&mut self.output, output) || self.control & ACD != 0 {
            return;
        }
        // Table 23-2: any edge, reserved, falling, rising.
        let counts = match self.control & ACIS {
            0 => true,
            2 => !output,
            3 => output,
            _ => false,
        };
        if counts && !self.flag {
            self.flag = true;
            context.events.raise(self.irq, context.now);
        }
        self.update(context);
    }

    fn update(&self, context: &mut Context<'_, '_>) {
        if self.flag && self.control & ACIE != 0 {
            context.request(self.irq);
        } else {
            context.withdraw(self.irq);
        }
    }
}

impl Peripheral for Comparator {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 1 << self.irq,
            follows_inputs: true,
            ..Spec::new(&self.name, self.address..self.address + 1)
        }
    }

    fn read(&mut self, _address: u32, _size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        self.look(context);
        let output = if self.output { ACO } else { 0 };
        let flag = if self.flag { ACI } else { 0 };
        Ok((self.control | output | flag).into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = value as u8;
        if value & ACIC != 0 && !self.captures {
            let what = "this part's timers have no capture by the comparator (ACIC)";
            return context.refuse(&self.name, address, what);
        }
        if value & ACI != 0 {
            self.flag = false;
        }
        self.control = value & !(ACO | ACI);
        // "When changing the ACD bit, the interrupt must be disabled. Otherwise an interrupt can
        // occur when the bit is changed."
        self.look(context);
        self.update(context);
        Ok(())
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged if !self.asleep => self.look(context),
            Event::InterruptAcknowledged(_) => self.flag = false,
            Event::FlagsSubscribed { vectors, includes_set: true }
                if self.flag && vectors >> self.irq & 1 == 1 =>
            {
                context.events.raise(self.irq, context.now);
            }
            Event::Sleep(_) => self.asleep = true,
            Event::Wake => {
                self.asleep = false;
                self.look(context);
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.control = 0;
        self.output = false;
        self.flag = false;
        self.asleep = false;
    }
}
