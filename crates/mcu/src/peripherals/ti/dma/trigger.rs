//! Trigger of a transfer: an interrupt flag of another peripheral.

use crate::{Context, PeripheralSpec};

/// Triggers of a group of three channels, by DMAxTSEL.
pub const GROUP: u32 = 32;
/// Groups: DMA0 to DMA2, DMA3 to DMA5.
pub const GROUPS: u32 = 2;

/// A flag that may start transfers. It costs nothing while no channel waits for it.
#[derive(Clone, Debug, Default)]
pub struct Trigger {
    lines: u128,
    wanted: bool,
    on: bool,
}

impl Trigger {
    /// The trigger of this name at `spec`: its settings `NAME_1` and `NAME_2` are the values of
    /// DMAxTSEL that stand for it, in DMA0 to DMA2 as they are, in DMA3 to DMA5 with 32 more.
    ///
    /// # Errors
    /// One that does not exist.
    pub fn new(spec: &PeripheralSpec, name: &str) -> Result<Trigger, String> {
        let mut lines = 0;
        for key in [format!("{name}_1"), format!("{name}_2")] {
            let Some(&number) = spec.settings.get(&key) else { continue };
            let line = u32::try_from(number).ok().filter(|number| *number < GROUPS * GROUP);
            lines |= 1 << line.ok_or_else(|| format!("{}: {key}: no such DMA trigger", spec.name))?;
        }
        Ok(Trigger { lines, wanted: false, on: false })
    }

    /// Returns the mask of the trigger's lines.
    pub fn lines(&self) -> u128 {
        self.lines
    }

    /// Returns true if a channel waits for the trigger.
    pub fn is_wanted(&self) -> bool {
        self.wanted
    }

    /// The channels wait for these lines, and no others; the flag is set or not. "The trigger must
    /// not have already occurred": a flag that is set already is a level, and no edge.
    pub fn want(&mut self, lines: u128, on: bool, context: &mut Context<'_, '_>) {
        self.wanted = lines & self.lines != 0;
        self.on = on && self.wanted;
        if self.lines != 0 {
            context.events.request_transfer(self.lines, self.on, context.now);
        }
    }

    /// The flag is set or clear now.
    pub fn set(&mut self, on: bool, context: &mut Context<'_, '_>) {
        if !self.wanted || on == self.on {
            return;
        }
        self.on = on;
        context.events.request_transfer(self.lines, on, context.now);
        if on {
            for line in (0..(GROUPS * GROUP) as u8).filter(|line| self.lines >> line & 1 == 1) {
                context.events.trigger(line, context.now);
            }
        }
    }

    /// As after a reset.
    pub fn reset(&mut self) {
        (self.wanted, self.on) = (false, false);
    }
}
