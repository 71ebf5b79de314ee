//! GPIO tasks and events (GPIOTE): eight channels, and the ports' common event. PS, "GPIOTE".

use super::block::Block;
use crate::{Context, Event, Fault, Peripheral, PeripheralSpec, Pin, Spec};

// Tasks, each of eight.
const OUT: u32 = 0x000;
const SET: u32 = 0x030;
const CLR: u32 = 0x060;

/// Events, by their bits: IN[n] from bit 0 on.
const IN: u32 = 0xff;
const PORT: u32 = 1 << 31;

const CONFIG: u32 = 0x510;
const CONFIG_END: u32 = 0x530;

/// CONFIG.
const MODE_EVENT: u32 = 1;
const MODE_TASK: u32 = 3;
const PSEL_SHIFT: u32 = 8;
const POLARITY_SHIFT: u32 = 16;
const LO_TO_HI: u32 = 1;
const HI_TO_LO: u32 = 2;
const OUTINIT_SHIFT: u32 = 20;
const CONFIG_MASK: u32 = 0x0013_3f03;

const CHANNELS: usize = 8;

/// The registers.
#[derive(Clone)]
pub struct Gpiote {
    block: Block,
    flag: u128,
    configuration: [u32; CHANNELS],
    /// The level at each channel's pin: as it was, or as a task has made it.
    levels: [bool; CHANNELS],
}

impl Gpiote {
    /// GPIOTE at `spec.base`; the ports tell it of DETECT by the number `spec.irq`.
    ///
    /// # Errors
    /// It has no interrupt.
    pub fn new(spec: &PeripheralSpec) -> Result<Gpiote, String> {
        let irq = spec.irq.filter(|irq| *irq < 128).ok_or_else(|| format!("{} needs an irq", spec.name))?;
        Ok(Gpiote {
            block: Block::new(spec, IN | PORT, &[]),
            flag: 1 << irq,
            configuration: [0; CHANNELS],
            levels: [false; CHANNELS],
        })
    }

    fn pin(configuration: u32) -> Pin {
        let select = configuration >> PSEL_SHIFT;
        Pin::new(if select >> 5 & 1 == 0 { "P0" } else { "P1" }, (select & 31) as u8)
    }

    fn mode(&self, channel: usize) -> u32 {
        self.configuration[channel] & 3
    }

    fn level(configuration: u32, context: &Context<'_, '_>) -> bool {
        let pin = Gpiote::pin(configuration);
        context.board.pin(&pin.port, pin.bit).unwrap_or(false)
    }

    fn drive(&mut self, channel: usize, high: bool, context: &mut Context<'_, '_>) {
        self.levels[channel] = high;
        let pin = Gpiote::pin(self.configuration[channel]);
        context.module_output(&pin, Some(high), context.now);
    }

    fn configure(
        &mut self,
        channel: usize,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), &'static str> {
        let value = value & CONFIG_MASK;
        if self.mode(channel) == MODE_TASK {
            let pin = Gpiote::pin(self.configuration[channel]);
            context.module_output(&pin, None, context.now);
        }
        let again = self.mode(channel) == MODE_TASK && value & 3 == MODE_TASK;
        self.configuration[channel] = value;
        match value & 3 {
            2 => return Err("a reserved value of CONFIG.MODE"),
            MODE_EVENT => self.levels[channel] = Gpiote::level(value, context),
            MODE_TASK => {
                // OUTINIT counts when the channel becomes a task.
                let high = if again { self.levels[channel] } else { value >> OUTINIT_SHIFT & 1 == 1 };
                self.drive(channel, high, context);
            }
            _ => {}
        }
        Ok(())
    }

    fn task(&mut self, offset: u32, context: &mut Context<'_, '_>) -> Result<(), &'static str> {
        let channel = (offset / 4 % 12) as usize;
        if channel >= CHANNELS || offset >= CLR + 0x20 {
            return Err("this task is not modelled");
        }
        if self.mode(channel) != MODE_TASK {
            return Ok(());
        }
        let high = match offset {
            CLR.. => false,
            SET.. => true,
            OUT.. => match self.configuration[channel] >> POLARITY_SHIFT & 3 {
                LO_TO_HI => true,
                HI_TO_LO => false,
                0 => self.levels[channel],
                _ => !self.levels[channel],
            },
        };
        self.drive(channel, high, context);
        Ok(())
    }

    fn on_inputs_changed(&mut self, context: &mut Context<'_, '_>) {
        for channel in (0..CHANNELS).filter(|channel| self.configuration[*channel] & 3 == MODE_EVENT) {
            let high = Gpiote::level(self.configuration[channel], context);
            let before = std::mem::replace(&mut self.levels[channel], high);
            let edge = if high { LO_TO_HI } else { HI_TO_LO };
            if before != high && self.configuration[channel] >> POLARITY_SHIFT & edge != 0 {
                self.block.raise(1 << channel);
            }
        }
        self.block.signal(context);
    }
}

impl Peripheral for Gpiote {
    fn spec(&self) -> Spec {
        Spec { follows_inputs: true, ..self.block.spec() }
    }

    fn read(&mut self, address: u32, size: u8, context: &mut Context<'_, '_>) -> Result<u32, Fault> {
        let own = match (address - self.block.base) & !3 {
            0..0x100 => Some(0),
            offset @ CONFIG..CONFIG_END => Some(self.configuration[(offset - CONFIG) as usize / 4]),
            _ => None,
        };
        self.block.read(address, size, own, context)
    }

    fn write(
        &mut self,
        address: u32,
        size: u8,
        value: u32,
        context: &mut Context<'_, '_>,
    ) -> Result<(), Fault> {
        // PORT counts from the first use on.
        context.events.subscribe(self.flag, false);
        if self.block.write(address, size, value, context)? {
            return Ok(());
        }
        let written = match address - self.block.base {
            0..0x100 if value & 1 == 0 => Ok(()),
            offset @ 0..0x100 => self.task(offset, context),
            offset @ CONFIG..CONFIG_END => self.configure((offset - CONFIG) as usize / 4, value, context),
            _ => Err("register not modelled"),
        };
        written.map_err(|what| context.fault(&self.block.name, address, what))
    }

    fn on_event(&mut self, event: Event<'_>, context: &mut Context<'_, '_>) {
        match event {
            Event::InputsChanged => self.on_inputs_changed(context),
            Event::ControlsChanged => self.block.connect(context),
            Event::FlagRaised { .. } => {
                self.block.raise(PORT);
                self.block.signal(context);
            }
            _ => {}
        }
    }

    fn reset(&mut self) {
        self.block.reset();
        self.configuration = [0; CHANNELS];
        self.levels = [false; CHANNELS];
    }
}
