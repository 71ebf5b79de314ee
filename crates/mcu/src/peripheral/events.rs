//! Messages from peripherals to each other and to the core.

use super::{Dma, FlashSettings, FlashView};
use crate::transfer::Lines;
use crate::{BusAccess, FlashChange, ResetCause};
use std::borrow::Cow;
use std::ops::Range;

/// The most channels that a multiplexer of requests of DMA has.
const CHANNELS: usize = 16;

/// Memory that cannot be written at the moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProtectedMemory {
    /// Protected addresses.
    pub range: Range<u32>,
    /// The protection unit's number for it.
    pub segment: u8,
    /// A write resets the part.
    pub resets: bool,
}

/// Messages from peripherals to each other and to the core, apart from interrupts.
#[derive(Clone, Debug, Default)]
pub struct Events {
    /// Interrupt flags, a bit per vector, that a peripheral subscribes to beside the core: who sets
    /// one of them says so with [`Events::raise`], whether or not its interrupt is enabled.
    pub(super) subscribed: u128,
    /// `subscribed` has changed since the devices were notified.
    pub(super) subscription_changed: bool,
    /// A flag that is set already when it begins to be subscribed to counts as one that rises.
    pub(super) includes_set: bool,
    /// Subscribed flags that rose, and the cycle at which each did.
    pub(super) risen_flags: Vec<(u8, u64)>,
    /// Something resets the part, for this cause.
    pub(super) reset: Option<ResetCause>,
    /// The power reduction registers, the second one above the first: modules without a clock.
    pub(super) reduced: u16,
    /// Settings of the flash controller, for cores that ask their bus and not a memory system of
    /// their own.
    pub flash: FlashSettings,
    /// Powers of two by which the clocks of three peripheral buses are the core's divided (SAM D21:
    /// bridges A to C).
    pub bridge_shifts: [u8; 3],
    /// The frequencies of the modules' clocks, in Hz, by number (SAM D21: GCLK_CLKCTRL.ID; RP2040:
    /// clock generators; STM32: I2C1 to I2C4, 0 for the bus's clock, converters, backup SRAM); none
    /// where the part has no such clocks.
    pub generic_clocks_hz: Vec<u64>,
    /// Accesses to memory that peripherals make before the next instruction, in this order.
    pub(super) dma: Vec<Dma>,
    /// Flash as the core sees it, where it can program it itself (AVR).
    pub flash_view: FlashView,
    /// The blocks that are held in reset, a bit each (RP2040: RESETS.RESET).
    pub held: u32,
    /// An oscillator's fault flag is set (MSP430F5xx: UCSCTL7), which keeps OFIFG set.
    pub(super) oscillator_fault: bool,
    /// Registers in the VBAT domain are writable (STM32: PWR_CR.DBP).
    pub backup_writable: bool,
    /// The addresses of the events that lead to tasks: see [`Events::connect`].
    pub(super) connected: Vec<u32>,
    /// The voltage at which the shared reference is held on, by its number (MSP430FR5xx: REFVSEL
    /// while REFON is set).
    pub reference_level: Option<u8>,
    /// Memory that a protection unit keeps from being written (MSP430FR5xx: MPU).
    pub protected: Vec<ProtectedMemory>,
    /// The segment of which a write was left out, until the unit is told.
    pub(super) violated: Option<u8>,
    /// RAM appears at address 0 (STM32: SYSCFG's MEM_MODE).
    pub ram_at_zero: bool,
    /// The program has let go of the pins, which a reset holds as they are after it (MSP430FR5xx:
    /// PM5CTL0.LOCKLPM5).
    pub pins_released: bool,
    /// One of `held`, `generic_clocks_hz`, `oscillator_fault` and `pins_released` has changed since
    /// the devices were told.
    pub(super) controls_changed: bool,
    /// Goes on where the program does what is a mistake, but of which it is known what the part
    /// makes of it.
    pub(super) lenient: bool,
    /// Tolerated mistakes of the program, with their counts.
    pub(super) tolerated: Vec<(Cow<'static, str>, u64)>,
    /// Mistake that was not tolerated.
    pub(super) refused: Option<&'static str>,
    /// Interrupts that an interrupt controller on the bus lets through to the core, a bit each.
    pub enabled: u128,
    /// The request that a multiplexer gives to each channel of the controllers, from the first
    /// one's first on (STM32L4+: DMAMUX); 0 for none.
    pub(super) selected_requests: [u8; CHANNELS],
    /// Interrupts that several devices have, and who asks for them now.
    pub(super) shared_requests: Vec<(u8, u32)>,
    /// Requests of DMA and triggers.
    pub(super) lines: Lines,
    /// A register started something that happens to the flash.
    pub(super) flash_change: Option<FlashChange>,
    /// The core's event input was pulsed (Cortex-M: RXEV).
    pub(super) core_event: bool,
}

impl Events {
    /// From now on the flags of these vectors are subscribed to, and no others. There is one
    /// subscriber at most. With `to_set`, one that is set already counts as rising now.
    pub fn subscribe(&mut self, vectors: u128, to_set: bool) {
        self.subscription_changed |= vectors != self.subscribed;
        self.includes_set = to_set;
        self.subscribed = vectors;
    }

    /// These blocks are held in reset now, and the modules' clocks have these frequencies; where
    /// that is new, all devices are told.
    pub fn set_controls(&mut self, held: u32, clocks_hz: Vec<u64>) {
        if self.held != held || self.generic_clocks_hz != clocks_hz {
            (self.held, self.generic_clocks_hz, self.controls_changed) = (held, clocks_hz, true);
        }
    }

    /// The pins are held as after a reset, or no longer; where that is new, all devices are told.
    pub fn release_pins(&mut self, released: bool) {
        if self.pins_released != released {
            (self.pins_released, self.controls_changed) = (released, true);
        }
    }

    /// The segment of which a write was left out, once.
    pub fn take_violation(&mut self) -> Option<u8> {
        self.violated.take()
    }

    /// An oscillator's fault flag is set, or none any more; where that is new, all devices are
    /// told.
    pub fn set_oscillator_fault(&mut self, fault: bool) {
        if self.oscillator_fault != fault {
            (self.oscillator_fault, self.controls_changed) = (fault, true);
        }
    }

    /// Returns true if an oscillator's fault flag is set.
    #[must_use]
    pub fn has_oscillator_fault(&self) -> bool {
        self.oscillator_fault
    }

    /// Returns true if an event has not been routed yet.
    pub(super) fn is_pending(&self) -> bool {
        self.subscription_changed
            || !self.risen_flags.is_empty()
            || self.lines.is_pending()
            || self.controls_changed
    }

    /// Requests of DMA on these lines are made from cycle `at` on, or taken back.
    pub fn request_transfer(&mut self, lines: u128, on: bool, at: u64) {
        let requests = self.lines.requests & !lines | if on { lines } else { 0 };
        if requests != self.lines.requests {
            self.lines.requests = requests;
            self.lines.changed = Some(at);
        }
    }

    /// The DMA controller waits for requests on these lines, and no others. Their sources get an
    /// [`Event::DmaRequestsWanted`], so that they need not make requests that nobody waits for
    /// (MSP430).
    ///
    /// [`Event::DmaRequestsWanted`]: super::Event::DmaRequestsWanted
    pub fn want_transfers(&mut self, lines: u128) {
        self.lines.wanted = Some(lines);
    }

    /// A multiplexer gives the request `number` to channel `channel` of the controllers from cycle
    /// `at` on.
    pub fn select_request(&mut self, channel: usize, number: u8, at: u64) {
        if let Some(selected) = self.selected_requests.get_mut(channel) {
            *selected = number;
            self.lines.changed = Some(at);
        }
    }

    /// The request that channel `channel` of the controllers has been given; 0 for none.
    #[must_use]
    pub fn selected_request(&self, channel: usize) -> u8 {
        self.selected_requests.get(channel).copied().unwrap_or(0)
    }

    /// The requests of DMA that there are, a bit for each line.
    #[must_use]
    pub fn transfer_requests(&self) -> u128 {
        self.lines.requests
    }

    /// The trigger of this number (STM32: TRGO of the timer of that number; MSP430: that of a DMA
    /// request's line) came at cycle `at`.
    pub fn trigger(&mut self, number: u8, at: u64) {
        self.lines.triggers.push((number, true, at));
    }

    /// The trigger of this number went back at cycle `at`.
    pub fn end_trigger(&mut self, number: u8, at: u64) {
        self.lines.triggers.push((number, false, at));
    }

    /// Events lead to tasks from now on, named by the addresses of their registers, and no others
    /// (nRF52: PPI). Where that is new, all devices are told that controls have changed: those that
    /// have one of these events say so with [`Events::raise_event`] whenever it comes.
    pub fn connect(&mut self, events: Vec<u32>) {
        if self.connected != events {
            (self.connected, self.controls_changed) = (events, true);
        }
    }

    /// The events that lead to tasks.
    #[must_use]
    pub fn connected(&self) -> &[u32] {
        &self.connected
    }

    /// The connected event with this register came at cycle `at`. Devices with
    /// [`Spec::follows_triggers`] are told.
    ///
    /// [`Spec::follows_triggers`]: crate::Spec::follows_triggers
    pub fn raise_event(&mut self, register: u32, at: u64) {
        self.lines.raised_events.push((register, at));
    }

    /// Triggers the task with this register, as a write of 1 does, in this cycle; for the tick of a
    /// device.
    pub fn trigger_task(&mut self, register: u32) {
        self.lines.triggered_tasks.push(register);
    }

    /// A peripheral with a DMA of its own reads or writes a block of memory before the next
    /// instruction, which takes the core no time (nRF52: EasyDMA).
    pub fn request_dma(&mut self, dma: Dma) {
        self.dma.push(dma);
    }

    /// Takes the requested accesses to memory.
    pub(crate) fn take_dma(&mut self) -> Vec<Dma> {
        std::mem::take(&mut self.dma)
    }

    /// Pulses the core's event input, which ends its wait for an event without an interrupt
    /// (Cortex-M: WFE).
    pub fn signal_core(&mut self) {
        self.core_event = true;
    }

    /// Takes the core's event pulse; true if there was one.
    pub(crate) fn take_core_event(&mut self) -> bool {
        std::mem::take(&mut self.core_event)
    }

    /// A flash controller does this with the memory, as its registers say.
    pub fn change_flash(&mut self, change: FlashChange) {
        self.flash_change = Some(change);
    }

    /// Takes the requested change of the flash.
    pub(crate) fn take_flash_change(&mut self) -> Option<FlashChange> {
        self.flash_change.take()
    }

    /// A DMA controller asks for an access to the bus.
    pub fn access(&mut self, access: BusAccess) {
        self.lines.accesses.push(access);
    }

    /// The next access that was asked for.
    pub(crate) fn take_access(&mut self) -> Option<BusAccess> {
        let accesses = &mut self.lines.accesses;
        (!accesses.is_empty()).then(|| accesses.remove(0))
    }

    /// Returns true if the run goes on after this mistake of the program, as the part does; the
    /// mistake is counted. The kinds are few: their names say what was done.
    #[must_use]
    pub fn tolerate(&mut self, kind: &'static str) -> bool {
        if self.lenient {
            self.pass_over(kind.into());
        } else {
            self.refused = Some(kind);
        }
        self.lenient
    }

    /// Counts a mistake that no run ends with: boards do it, and the part goes on, outside of what
    /// its data sheet promises. The kinds are few: their names say who did what, and what is
    /// allowed.
    pub fn pass_over(&mut self, kind: Cow<'static, str>) {
        match self.tolerated.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, count)) => *count += 1,
            None => self.tolerated.push((kind, 1)),
        }
    }

    /// Begins to go on after such mistakes, or no longer; none is counted yet.
    pub(crate) fn set_lenient(&mut self, lenient: bool) {
        self.lenient = lenient;
        self.tolerated.clear();
        self.refused = None;
    }

    /// Returns the mistake that was not tolerated.
    pub(crate) fn refused(&self) -> Option<&'static str> {
        self.refused
    }

    /// Returns the tolerated mistakes with their counts.
    #[must_use]
    pub fn tolerated(&self) -> Vec<(&str, u64)> {
        self.tolerated.iter().map(|(kind, count)| (&**kind, *count)).collect()
    }

    /// As after a reset, which changes nothing of what is tolerated.
    pub(super) fn reset(&mut self) {
        let (lenient, tolerated) = (self.lenient, std::mem::take(&mut self.tolerated));
        *self = Events { lenient, tolerated, ..Events::default() };
    }

    /// The flag of the interrupt `irq` rose at cycle `at`.
    pub fn raise(&mut self, irq: u8, at: u64) {
        if self.subscribed >> irq & 1 == 1 {
            self.risen_flags.push((irq, at));
        }
    }

    /// The part is to be reset for this cause: by its watchdog, or because the program asks for it.
    pub fn request_reset(&mut self, cause: ResetCause) {
        self.reset.get_or_insert(cause);
    }

    /// A power reduction register (AVR: PRR or PRR0 is number 0, PRR1 is 1) is written: modules of
    /// these bits can no longer be read or written.
    pub fn reduce(&mut self, number: usize, bits: u8) {
        let mut registers = self.reduced.to_le_bytes();
        registers[number] = bits;
        self.reduced = u16::from_le_bytes(registers);
    }

    /// Returns true if a reset was requested.
    pub(crate) fn wants_reset(&self) -> bool {
        self.reset.is_some()
    }

    /// The reset that was requested, once.
    pub(crate) fn take_reset(&mut self) -> Option<ResetCause> {
        self.reset.take()
    }
}
