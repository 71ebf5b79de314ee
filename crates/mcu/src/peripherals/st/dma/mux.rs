//! The multiplexer of requests of DMA (DMAMUX) of the STM32L4+: which request each channel of the
//! two controllers serves.
//!
//! RM0432 section 12. Refused with a fault: synchronisation, events of the channels, and the
//! generator of requests.

use crate::peripherals::register::{merged_word, part_of_word};
use crate::{Context, Fault, Peripheral, PeripheralSpec, Spec};
use std::ops::Range;

/// Its channels: seven of DMA1, seven of DMA2.
const CHANNELS: usize = 14;
/// CxCR: the request; what else there is, is refused.
const DMAREQ_ID: u32 = 0x7f;
/// The flags, of which none ever rises, and the registers that clear them.
const FLAGS: [u32; 4] = [0x80, 0x84, 0x140, 0x144];
/// The generator's four channels.
const GENERATOR: Range<u32> = 0x100..0x110;

/// The multiplexer.
#[derive(Clone)]
pub struct Mux {
    name: String,
    base: u32,
    requests: [u32; CHANNELS],
}

impl Mux {
    /// The multiplexer at `spec.base`.
    #[must_use]
    pub fn new(spec: &PeripheralSpec) -> Mux {
        Mux { name: spec.name.clone(), base: spec.base, requests: [0; CHANNELS] }
    }
}

impl Peripheral for Mux {
    fn spec(&self) -> Spec {
        Spec::new(&self.name, self.base..self.base + 0x400)
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let offset = address - self.base;
        let register = offset & !3;
        let word = match self.requests.get(register as usize / 4) {
            Some(request) => *request,
            None if FLAGS.contains(&register) || GENERATOR.contains(&register) => 0,
            None => return context.refuse(&self.name, address, "register not modelled"),
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
        let register = offset & !3;
        let channel = register as usize / 4;
        if let Some(request) = self.requests.get(channel) {
            let word = merged_word(*request, offset, size, value);
            if word & !DMAREQ_ID != 0 {
                let what = "of a channel of DMAMUX only the request (DMAREQ_ID) is modelled";
                return context.refuse(&self.name, address, what);
            }
            self.requests[channel] = word;
            context.events.select_request(channel, word as u8, context.now);
            return Ok(());
        }
        match register {
            _ if FLAGS.contains(&register) => Ok(()),
            _ if GENERATOR.contains(&register) && value == 0 => Ok(()),
            _ => context.refuse(&self.name, address, "the generator of requests is not modelled"),
        }
    }

    fn reset(&mut self) {
        self.requests = [0; CHANNELS];
    }
}
