//! A peripheral of the nRF52 as far as all are alike: a block of 4 kB with tasks, events, the
//! interrupt that events request, and registers that keep what is written. PS, "Peripheral
//! interface".

use crate::peripherals::register::{Register, Registers, part_of_word};
use crate::{Context, Fault, PeripheralSpec, Spec};

/// Bytes of a block.
const SIZE: u32 = 0x1000;
const EVENTS: u32 = 0x100;
const EVENTS_END: u32 = 0x180;
const INTEN: u32 = 0x300;
const INTENSET: u32 = 0x304;
const INTENCLR: u32 = 0x308;

/// Name, place, events, interrupt, and the registers that keep what is written.
#[derive(Clone)]
pub(super) struct Block {
    pub name: String,
    pub base: u32,
    irq: Option<u8>,
    /// Events that there are: the one at 0x100 + 4 n has bit n, in INTEN, too.
    known: u32,
    /// INTEN itself can be read and written.
    has_inten: bool,
    pub events: u32,
    pub enabled: u32,
    /// Events that a channel of PPI takes, by their bits.
    connected: u32,
    /// Events that came and have not been passed on to PPI.
    pulses: u32,
    pub registers: Registers,
}

impl Block {
    pub fn new(spec: &PeripheralSpec, known: u32, map: &'static [Register]) -> Block {
        Block {
            name: spec.name.clone(),
            base: spec.base,
            irq: spec.irq,
            known,
            has_inten: false,
            events: 0,
            enabled: 0,
            connected: 0,
            pulses: 0,
            registers: Registers::new(map),
        }
    }

    pub fn with_inten(self) -> Block {
        Block { has_inten: true, ..self }
    }

    pub fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + SIZE)
    }

    pub fn reset(&mut self) {
        self.events = 0;
        self.enabled = 0;
        (self.connected, self.pulses) = (0, 0);
        self.registers.reset();
    }

    /// Events come about, by their bits.
    pub fn raise(&mut self, events: u32) {
        self.events |= events;
        self.pulses |= events;
    }

    /// Events whose time somebody waits for: an interrupt that is not requested yet, or PPI, which
    /// takes an event whether or not its register is clear.
    pub fn awaited(&self) -> u32 {
        self.enabled & !self.events | self.connected
    }

    /// Takes note of the events that lead to tasks now; those of before lead nowhere.
    pub fn connect(&mut self, context: &mut Context<'_, '_>) {
        (self.connected, self.pulses) = (0, 0);
        let own = self.base..self.base + SIZE;
        let registers = context.events.connected().iter().filter(|register| own.contains(register));
        for register in registers.copied().collect::<Vec<u32>>() {
            match self.event(register - self.base) {
                Some(bit) => self.connected |= bit,
                None => {
                    let what = format!("PPI is given the event at {register:#x}, which is not modelled");
                    context.stop(&self.name, &what);
                }
            }
        }
    }

    /// The bit of the event whose register is at `offset`.
    fn event(&self, offset: u32) -> Option<u32> {
        let bit = (EVENTS..EVENTS_END).contains(&offset).then(|| 1 << ((offset - EVENTS) / 4))?;
        (self.known & bit != 0).then_some(bit)
    }

    /// True for a register of [`Block::read`] and [`Block::write`].
    pub fn has(&self, offset: u32) -> bool {
        let inten = offset == INTEN && self.has_inten;
        let is_common = inten || offset == INTENSET || offset == INTENCLR || self.event(offset).is_some();
        is_common || self.registers.get(offset).is_some()
    }

    /// A read of what is common or kept, or else of the peripheral's own register, as `own` has it
    /// by its offset; a sentence why there is no answer.
    pub fn read(
        &self,
        address: u32,
        size: u8,
        own: Option<u32>,
        context: &Context<'_, '_>,
    ) -> Result<u32, Fault> {
        let offset = (address - self.base) & !3;
        let word = match (own, self.event(offset)) {
            (Some(word), _) => word,
            (None, Some(bit)) => u32::from(self.events & bit != 0),
            _ if offset == INTENSET || offset == INTENCLR || offset == INTEN && self.has_inten => {
                self.enabled
            }
            _ => match self.registers.get(offset) {
                Some(word) => word,
                None => return context.refuse(&self.name, address, "register not modelled"),
            },
        };
        Ok(part_of_word(word, address, size))
    }

    /// A write; whether it was to what is common or kept. Registers take words alone.
    pub fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<bool, Fault> {
        if size != 4 {
            return context.refuse(&self.name, address, "its registers take whole words");
        }
        let offset = address - self.base;
        if let Some(bit) = self.event(offset) {
            // The other bits are reserved.
            if value & 1 != 0 {
                return context.refuse(
                    &self.name,
                    address,
                    "EVENTS register: an event that the program sets itself is not modelled",
                );
            }
            self.events &= !bit;
        } else if self.registers.get(offset).is_some() {
            let written = self.registers.write(offset, |_| value);
            written.map_err(|what| context.fault(&self.name, address, what))?;
        } else {
            match offset {
                INTEN if self.has_inten => self.enabled = value,
                INTENSET => self.enabled |= value,
                INTENCLR => self.enabled &= !value,
                _ => return Ok(false),
            }
            if self.enabled & !self.known != 0 {
                return context.refuse(
                    &self.name,
                    address,
                    "INTENSET: an interrupt for an event that is not modelled",
                );
            }
        }
        self.signal(context);
        Ok(true)
    }

    /// Passes the events that came on to PPI, and requests the interrupt while an enabled one is
    /// there.
    pub fn signal(&mut self, context: &mut Context<'_, '_>) {
        let pulses = std::mem::take(&mut self.pulses) & self.connected;
        for event in (0..u32::BITS).filter(|event| pulses >> event & 1 == 1) {
            context.events.raise_event(self.base + EVENTS + 4 * event, context.now);
        }
        if let Some(irq) = self.irq {
            if self.events & self.enabled != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }
}

/// A peripheral whose block has registers that do something.
pub(super) trait OwnRegisters {
    fn block(&mut self) -> &mut Block;

    /// Writes a register that is neither common to all blocks nor kept.
    ///
    /// # Errors
    /// There is none, or what is written is not modelled.
    fn write_own(
        &mut self,
        offset: u32,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str>;

    /// Writes a register of the block; whether it was one of [`Block::write`].
    ///
    /// # Errors
    /// As there, and as [`OwnRegisters::write_own`].
    fn write_register(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<bool, Fault> {
        if self.block().write(address, size, value, context)? {
            return Ok(true);
        }
        let offset = address - self.block().base;
        let written = self.write_own(offset, value, context);
        written.map_err(|what| context.fault(&self.block().name, address, what))?;
        self.block().signal(context);
        Ok(false)
    }
}
