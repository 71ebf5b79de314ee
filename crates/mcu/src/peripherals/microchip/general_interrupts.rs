//! The external interrupts of an ATtiny85: INT0 by level or edge, and pin changes, behind GIMSK,
//! GIFR, PCMSK and MCUCR.
//!
//! ATtiny25/45/85 data sheet 2586Q, chapters 7 (MCUCR) and 9. As with those of an ATmega, an
//! interrupt sees the level of the pin whoever drives it, a pin that nobody drives reads low, and
//! the few cycles of synchronisation are left out. MCUCR also has the bits of sleep, which the core
//! reads. Not modelled, and faults: PUD.

use super::avr_port;
use crate::{Board, Context, Event, Fault, Part, Peripheral, PeripheralSpec, Spec};

/// GIMSK and GIFR: INT0 and INTF0, PCIE and PCIF.
const INT0: u8 = 0x40;
const PCIE: u8 = 0x20;
/// MCUCR: PUD, ISC01 and ISC00.
const PUD: u8 = 0x40;
const ISC0: u8 = 0x03;

/// The external interrupts.
#[derive(Clone)]
pub struct GeneralInterrupts {
    name: String,
    /// GIFR; GIMSK comes after it.
    base: u32,
    mcucr_address: u32,
    pcmsk_address: u32,
    /// The vector of INT0; the pin changes' is the next.
    irq: u8,
    port: String,
    int0: u8,
    flags: u8,
    mask: u8,
    /// MCUCR.
    control: u8,
    /// PCMSK.
    change_mask: u8,
    /// Level of INT0, and those of the pins that PCMSK lets through, when last looked at.
    seen: bool,
    changing: u8,
    /// A level interrupt was served: it may be requested again.
    served: bool,
}

impl GeneralInterrupts {
    /// GIFR at `spec.base`, GIMSK after it; `spec.irq` is the vector of INT0, followed by that of
    /// pin changes. Settings: `mcucr`, `pcmsk`, addresses; `port`, PINx of its port; `int0`, a bit.
    ///
    /// # Errors
    /// A setting that is missing.
    pub fn new(part: &Part, spec: &PeripheralSpec) -> Result<GeneralInterrupts, String> {
        let setting = |name: &str| {
            let value = spec.settings.get(name).copied();
            value.ok_or_else(|| format!("{}: {} needs {name}", part.name, spec.name))
        };
        Ok(GeneralInterrupts {
            name: spec.name.clone(),
            base: spec.base,
            mcucr_address: setting("mcucr")? as u32,
            pcmsk_address: setting("pcmsk")? as u32,
            irq: spec.irq.ok_or_else(|| format!("{}: {} needs irq", part.name, spec.name))?,
            port: avr_port(part, spec, "port")?,
            int0: setting("int0")? as u8 & 7,
            flags: 0,
            mask: 0,
            control: 0,
            change_mask: 0,
            seen: false,
            changing: 0,
            served: false,
        })
    }

    fn levels(&self, board: &Board) -> u8 {
        let level = |bit: u8| u8::from(board.pin(&self.port, bit) == Some(true)) << bit;
        (0..8).map(level).fold(0, |all, bit| all | bit)
    }

    fn rise(&mut self, flag: u8, irq: u8, context: &mut Context<'_, '_>) {
        if self.flags & flag == 0 {
            context.events.raise(irq, context.now);
        }
        self.flags |= flag;
    }

    /// Requests or withdraws both interrupts.
    fn update(&self, context: &mut Context<'_, '_>) {
        let mut pending = self.flags & self.mask;
        if self.control & ISC0 == 0 {
            // A level has no flag: the interrupt is requested as long as the pin is low.
            pending &= !INT0;
            pending |= if self.seen { 0 } else { self.mask & INT0 };
        }
        for (bit, irq) in [(INT0, self.irq), (PCIE, self.irq + 1)] {
            if pending & bit != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }

    fn on_inputs_changed(&mut self, context: &mut Context<'_, '_>) {
        let levels = self.levels(context.board);
        let high = levels >> self.int0 & 1 == 1;
        let changed = std::mem::replace(&mut self.seen, high) != high;
        let counts = match self.control & ISC0 {
            0 => false,
            1 => true,
            2 => !high,
            _ => high,
        };
        if counts && changed {
            self.rise(INT0, self.irq, context);
        }
        let changing = levels & self.change_mask;
        if changing != std::mem::replace(&mut self.changing, changing) {
            self.rise(PCIE, self.irq + 1, context);
        }
        self.update(context);
    }

    fn on_interrupt_acknowledged(&mut self, irq: u8) {
        if irq == self.irq {
            self.flags &= !INT0;
            self.served |= self.control & ISC0 == 0;
        } else {
            self.flags &= !PCIE;
        }
    }
}

impl Peripheral for GeneralInterrupts {
    fn spec(&self) -> Spec {
        Spec {
            interrupts: 0b11 << self.irq,
            follows_inputs: true,
            ..Spec::with_ranges(
                &self.name,
                [
                    self.base..self.base + 2,
                    self.mcucr_address..self.mcucr_address + 1,
                    self.pcmsk_address..self.pcmsk_address + 1,
                ],
            )
        }
    }

    fn read(&mut self, address: u32, _size: u8, _context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let value = match address {
            _ if address == self.base => self.flags,
            _ if address == self.mcucr_address => self.control,
            _ if address == self.pcmsk_address => self.change_mask,
            _ => self.mask,
        };
        Ok(value.into())
    }

    fn write(
        &mut self,
        address: u32,
        _size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        let value = value as u8;
        if address == self.base {
            self.flags &= !value;
        } else if address == self.mcucr_address {
            if value & PUD != 0 {
                let what = "PUD: pull-ups that are switched off are not modelled";
                return context.refuse(&self.name, address, what);
            }
            self.control = value;
        } else if address == self.pcmsk_address {
            // A pin that begins to count has not changed by that.
            self.change_mask = value & 0x3F;
            self.changing = self.levels(context.board) & self.change_mask;
        } else {
            self.mask = value & (INT0 | PCIE);
        }
        self.update(context);
        Ok(())
    }

    fn clock_needed(&self) -> Option<&'static str> {
        (self.mask & INT0 != 0 && self.control & ISC0 != 0).then_some("clkI/O")
    }

    fn due(&self) -> Option<u64> {
        self.served.then_some(0)
    }

    fn tick(&mut self, context: &mut Context<'_, '_>) {
        self.served = false;
        self.update(context);
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.on_inputs_changed(context),
            Event::InterruptAcknowledged(irq) => self.on_interrupt_acknowledged(irq),
            Event::FlagsSubscribed { vectors, includes_set: true } => {
                for (flag, irq) in [(INT0, self.irq), (PCIE, self.irq + 1)] {
                    if self.flags & flag != 0 && vectors >> irq & 1 == 1 {
                        context.events.raise(irq, context.now);
                    }
                }
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.flags = 0;
        self.mask = 0;
        self.control = 0;
        self.change_mask = 0;
        self.seen = false;
        self.changing = 0;
        self.served = false;
    }
}
