//! A peripheral of the nRF52 as far as all are alike: a block of 4 kB with tasks, events, the
//! interrupt that events request, and registers that keep what is written. PS, "Peripheral
//! interface".

use crate::peripherals::register::{Register, Registers, part_of_word};
use crate::{Context, Fault, PeripheralSpec, Spec};

/// The core's clock, as after power-up and ever after.
pub(super) const CORE_HZ: u64 = 64_000_000;

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
        self.registers.reset();
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

    /// Requests the interrupt while an enabled event is there.
    pub fn signal(&self, context: &mut Context<'_, '_>) {
        if let Some(irq) = self.irq {
            if self.events & self.enabled != 0 {
                context.request(irq);
            } else {
                context.withdraw(irq);
            }
        }
    }
}

/// Core cycles of so many microseconds, at least.
pub(super) fn cycles_of_us(us: u64, clock_hz: u64) -> u64 {
    (us * clock_hz).div_ceil(1_000_000)
}
